//! Contexts and actions.

use std::collections::{BTreeMap, BTreeSet};

use tercet_megaco::List;
use tercet_megaco::model::{
    ActionReply, ActionRequest, CONTEXT_ALL, CONTEXT_CHOOSE, CONTEXT_NULL, Command, ContextAttrAuditRequest,
    ContextRequest, IntoOwned, SelectLogic, TerminationId, TopologyRequest,
};

use super::command::failed;
use super::termination::{fits, key};
use super::{Failure, Key, VirtualGateway};

/// Terminations that hear each other.
#[derive(Clone, Debug, Default)]
pub(super) struct Context {
    /// The names of its terminations.
    pub(super) members: BTreeSet<Key>,
    pub(super) priority: Option<u16>,
    pub(super) emergency: Option<bool>,
    pub(super) ieps: Option<bool>,
    pub(super) properties: Vec<tercet_megaco::model::PropertyParm<'static>>,
    pub(super) topology: Vec<TopologyRequest<'static>>,
}

impl Context {
    fn attributes(&self, asked: &ContextAttrAuditRequest<'_>) -> Option<Box<ContextRequest<'static>>> {
        let mut found = ContextRequest::default();
        if asked.priority.is_some() {
            found.priority = Some(self.priority.unwrap_or(0));
        }
        if asked.emergency.is_some() {
            found.emergency = Some(self.emergency.unwrap_or(false));
        }
        if asked.iepscallind.is_some() {
            found.iepscallind = Some(self.ieps.unwrap_or(false));
        }
        if asked.topology.is_some() && !self.topology.is_empty() {
            found.topology_req = Some(self.topology.clone());
        }
        if let Some(names) = &asked.context_prop_aud {
            let is_asked = |known: &&tercet_megaco::model::PropertyParm<'_>| {
                names.iter().any(|asked| fits(&asked.name, &known.name))
            };
            found.context_prop = Some(self.properties.iter().filter(is_asked).cloned().collect());
        }
        (found != ContextRequest::default()).then(|| Box::new(found))
    }

    /// Whether an audit selects the context (from version 3).
    fn is_selected(&self, asked: Option<&ContextAttrAuditRequest<'_>>) -> bool {
        let Some(asked) = asked else { return true };
        let conditions = [
            asked.selectpriority.map(|priority| priority == self.priority.unwrap_or(0)),
            asked.selectemergency.map(|emergency| emergency == self.emergency.unwrap_or(false)),
            asked.selectiepscallind.map(|ieps| ieps == self.ieps.unwrap_or(false)),
        ];
        let mut conditions = conditions.into_iter().flatten().peekable();
        match asked.select_logic {
            Some(SelectLogic::OrAuditSelect(())) => {
                conditions.peek().is_none() || conditions.any(|holds| holds)
            }
            _ => conditions.all(|holds| holds),
        }
    }
}

impl VirtualGateway {
    /// Executes an action. Returns its replies, and whether what follows is not to be executed.
    pub(super) fn action(&mut self, action: &ActionRequest<'_>) -> (Vec<ActionReply<'static>>, bool) {
        match action.context_id {
            CONTEXT_ALL => self.on_all(action),
            CONTEXT_CHOOSE => {
                if self.contexts.len() >= self.options.max_contexts as usize {
                    return (vec![error(CONTEXT_CHOOSE, Failure(412))], true);
                }
                let context = self.free_context();
                self.contexts.insert(context, Context::default());
                let (mut reply, has_failed) = self.on_one(context, action);
                let is_left = self.contexts.contains_key(&context);
                if is_left && self.is_empty(context) {
                    // Nothing came into it.
                    self.contexts.remove(&context);
                    self.last_context = context - 1;
                    reply.context_id = CONTEXT_CHOOSE;
                }
                (vec![reply], has_failed)
            }
            CONTEXT_NULL => {
                let (reply, has_failed) = self.on_one(CONTEXT_NULL, action);
                (vec![reply], has_failed)
            }
            context if self.contexts.contains_key(&context) => {
                let (reply, has_failed) = self.on_one(context, action);
                (vec![reply], has_failed)
            }
            context => (vec![error(context, Failure(411))], true),
        }
    }

    /// Executes an action on one context.
    fn on_one(&mut self, context: u32, action: &ActionRequest<'_>) -> (ActionReply<'static>, bool) {
        let mut reply = empty(context);
        let mut has_failed = false;
        for request in &action.command_requests {
            let (replies, failed) = self.command(context, request);
            replies.into_iter().for_each(|one| reply.command_reply.push(one));
            if failed && request.optional.is_none() {
                has_failed = true;
                break;
            }
        }
        if has_failed {
            return (reply, true);
        }
        // What the commands have added can be named by the topology.
        if let Some(asked) = &action.context_request
            && let Err(failure) = self.set_context(context, asked)
        {
            reply.error_descriptor = Some(Box::new(failure.descriptor()));
            return (reply, true);
        }
        if let Some(asked) = &action.context_attr_audit_req {
            reply.context_reply = self.contexts.get(&context).and_then(|context| context.attributes(asked));
        }
        (reply, false)
    }

    /// Executes an action on all contexts: one reply for each in which something was done (table of 7.2.5).
    fn on_all(&mut self, action: &ActionRequest<'_>) -> (Vec<ActionReply<'static>>, bool) {
        let mut replies: BTreeMap<u32, ActionReply<'static>> = BTreeMap::new();
        let asked = action.context_attr_audit_req.as_deref();
        let selected: Vec<u32> = self
            .contexts
            .iter()
            .filter(|(_, context)| context.is_selected(asked))
            .map(|(&number, _)| number)
            .collect();
        for request in &action.command_requests {
            let (ids, is_audit) = match &request.command {
                Command::AuditValueRequest(audit) | Command::AuditCapRequest(audit) => {
                    (vec![audit.termination_id.clone()], true)
                }
                Command::ModReq(modify) => (modify.termination_id.to_vec(), false),
                Command::SubtractReq(subtract) => (subtract.termination_id.to_vec(), false),
                Command::ServiceChangeReq(change) => (change.termination_id.to_vec(), false),
                Command::AddReq(_) | Command::MoveReq(_) | Command::NotifyReq(_) => {
                    return (vec![error(CONTEXT_ALL, Failure(421))], true);
                }
            };
            let is_root = ids.iter().any(|id| id.0 == "root");
            let contexts: Vec<u32> = if is_root && is_audit {
                // The numbers of all contexts.
                let all = selected.iter().map(|&number| (number, empty(number)));
                replies.extend(all);
                continue;
            } else if is_root {
                vec![CONTEXT_NULL]
            } else {
                let has_match = |context: u32| ids.iter().any(|id| self.has_match(context, id));
                let takes_null = asked.is_none() && !matches!(request.command, Command::SubtractReq(_));
                let null = takes_null.then_some(CONTEXT_NULL).into_iter();
                null.chain(selected.iter().copied()).filter(|&context| has_match(context)).collect()
            };
            if contexts.is_empty() {
                let is_pattern = ids.iter().any(TerminationId::has_wildcards);
                let mut reply = empty(CONTEXT_ALL);
                let failure = Failure(if is_pattern { 431 } else { 430 });
                reply.command_reply.push(failed(&request.command, ids, failure));
                replies.insert(CONTEXT_ALL, reply);
                if request.optional.is_none() {
                    return (replies.into_values().collect(), true);
                }
            }
            for context in contexts {
                let (some, has_failed) = self.command(context, request);
                let reply = replies.entry(context).or_insert_with(|| empty(context));
                some.into_iter().for_each(|one| reply.command_reply.push(one));
                if has_failed && request.optional.is_none() {
                    return (replies.into_values().collect(), true);
                }
            }
        }
        if let Some(asked) = asked {
            for context in &selected {
                let found = self.contexts.get(context).and_then(|context| context.attributes(asked));
                replies.entry(*context).or_insert_with(|| empty(*context)).context_reply = found;
            }
        }
        if let Some(request) = &action.context_request {
            for context in selected {
                if let Err(failure) = self.set_context(context, request) {
                    return (vec![error(CONTEXT_ALL, failure)], true);
                }
                replies.entry(context).or_insert_with(|| empty(context));
            }
        }
        if replies.is_empty() {
            // There are no contexts.
            return (vec![empty(CONTEXT_NULL)], false);
        }
        (replies.into_values().collect(), false)
    }

    fn has_match(&self, context: u32, id: &TerminationId<'_>) -> bool {
        if !id.has_wildcards() {
            return self.terminations.get(&key(&id.0)).is_some_and(|one| one.context == context);
        }
        match self.contexts.get(&context) {
            Some(found) => found.members.iter().any(|name| fits(&id.0, name)),
            None => {
                let mut idle = self.terminations.values().filter(|one| one.context == CONTEXT_NULL);
                idle.any(|one| fits(&id.0, &one.name))
            }
        }
    }

    /// Sets what is said of a context.
    fn set_context(&mut self, number: u32, asked: &ContextRequest<'_>) -> Result<(), Failure> {
        if number == CONTEXT_NULL {
            return Err(Failure(421));
        }
        let mut topology = Vec::new();
        for triple in asked.topology_req.iter().flatten() {
            for id in [&triple.termination_from, &triple.termination_to] {
                if !self.has_match(number, id) {
                    let is_known = self.terminations.contains_key(&key(&id.0));
                    let code = if id.has_wildcards() {
                        431
                    } else if is_known {
                        435
                    } else {
                        430
                    };
                    return Err(Failure(code));
                }
            }
            topology.push(triple.clone().into_owned());
        }
        let Some(context) = self.contexts.get_mut(&number) else { return Err(Failure(411)) };
        context.priority = asked.priority.or(context.priority);
        context.emergency = asked.emergency.or(context.emergency);
        context.ieps = asked.iepscallind.or(context.ieps);
        for property in asked.context_prop.iter().flatten() {
            context.properties.retain(|known| known.name != property.name);
            context.properties.push(property.clone().into_owned());
        }
        for triple in topology {
            context.topology.retain(|known| {
                let ends = |triple: &TopologyRequest<'_>| {
                    (key(&triple.termination_from.0), key(&triple.termination_to.0), triple.stream_id)
                };
                ends(known) != ends(&triple)
            });
            context.topology.push(triple);
        }
        Ok(())
    }

    /// A number that no context has.
    fn free_context(&mut self) -> u32 {
        loop {
            self.last_context =
                if self.last_context >= CONTEXT_CHOOSE - 1 { 1 } else { self.last_context + 1 };
            if !self.contexts.contains_key(&self.last_context) {
                return self.last_context;
            }
        }
    }

    pub(super) fn is_empty(&self, context: u32) -> bool {
        self.contexts.get(&context).is_none_or(|context| context.members.is_empty())
    }

    /// A termination has left a context, which ends with its last one.
    pub(super) fn left(&mut self, context: u32, name: &Key) {
        let Some(found) = self.contexts.get_mut(&context) else { return };
        found.members.remove(name);
        found.topology.retain(|triple| {
            key(&triple.termination_from.0) != *name && key(&triple.termination_to.0) != *name
        });
        if found.members.is_empty() {
            self.contexts.remove(&context);
        }
    }
}

pub(super) const fn empty(context_id: u32) -> ActionReply<'static> {
    ActionReply { context_id, error_descriptor: None, context_reply: None, command_reply: List::new() }
}

fn error(context: u32, failure: Failure) -> ActionReply<'static> {
    ActionReply { error_descriptor: Some(Box::new(failure.descriptor())), ..empty(context) }
}
