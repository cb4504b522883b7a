//! Commands: which terminations they are about, and what becomes of these.

use tercet_megaco::List;
use tercet_megaco::model::{
    AmmRequest, AmmsReply, AuditReply, AuditRequest, AuditResult, AuditReturnParameter, CONTEXT_NULL,
    Command, CommandReply, CommandRequest, IntoOwned, NotifyReply, ServiceChangeReply, ServiceChangeResult,
    ServiceState, SubtractRequest, TerminationAudit, TerminationId,
};

use super::descriptors::Applied;
use super::termination::{Termination, fits, key};
use super::{Failure, Key, ROOT, VirtualGateway};

/// Which of the commands of a termination's descriptors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verb {
    Add,
    Move,
    Modify,
}

impl VirtualGateway {
    /// Executes a command. Returns its replies, and whether it has failed; it has changed nothing then.
    pub(super) fn command(
        &mut self,
        context: u32,
        request: &CommandRequest<'_>,
    ) -> (Vec<CommandReply<'static>>, bool) {
        let one = request.wildcard_return.is_some();
        let (ids, done) = match &request.command {
            Command::AddReq(add) => (&add.termination_id[..], self.amm(Verb::Add, context, add, one)),
            Command::MoveReq(moved) => (&moved.termination_id[..], self.amm(Verb::Move, context, moved, one)),
            Command::ModReq(modify) => {
                (&modify.termination_id[..], self.amm(Verb::Modify, context, modify, one))
            }
            Command::SubtractReq(subtract) => {
                (&subtract.termination_id[..], self.subtract(context, subtract, one))
            }
            Command::AuditValueRequest(audit) => {
                let done = self.audit_command(context, audit, one);
                let reply = |replies: Vec<AuditReply<'static>>| {
                    replies.into_iter().map(CommandReply::AuditValueReply).collect()
                };
                (std::slice::from_ref(&audit.termination_id), done.map(reply))
            }
            Command::AuditCapRequest(audit) => {
                let done = self.audit_command(context, audit, one);
                let reply = |replies: Vec<AuditReply<'static>>| {
                    replies.into_iter().map(CommandReply::AuditCapReply).collect()
                };
                (std::slice::from_ref(&audit.termination_id), done.map(reply))
            }
            // Gateways notify their controllers, never the other way round (7.2.7).
            Command::NotifyReq(notify) => (&notify.termination_id[..], Err(Failure(443))),
            Command::ServiceChangeReq(change) => {
                (&change.termination_id[..], self.service_change_command(context, change))
            }
        };
        match done {
            Ok(replies) => (replies, false),
            Err(failure) => (vec![failed(&request.command, ids.to_vec(), failure)], true),
        }
    }

    /// The terminations of a context that a command is about.
    pub(super) fn matches(&self, context: u32, ids: &[TerminationId<'_>]) -> Result<Vec<Key>, Failure> {
        let mut all = Vec::new();
        for id in ids {
            let name = key(&id.0);
            if name == ROOT {
                if context != CONTEXT_NULL {
                    return Err(Failure(435));
                }
                all.push(name);
            } else if id.has_wildcards() {
                let before = all.len();
                match self.contexts.get(&context) {
                    Some(found) => {
                        all.extend(found.members.iter().filter(|known| fits(&name, known)).cloned());
                    }
                    None => {
                        let idle = self.terminations.values().filter(|one| one.context == CONTEXT_NULL);
                        all.extend(idle.filter(|one| fits(&name, &one.name)).map(|one| one.name.clone()));
                    }
                }
                if all.len() == before {
                    return Err(Failure(431));
                }
            } else {
                match self.terminations.get(&name) {
                    None => return Err(Failure(430)),
                    Some(known) if known.context != context => return Err(Failure(435)),
                    Some(_) => all.push(name),
                }
            }
        }
        Ok(all)
    }

    /// The terminations that Add brings into a context; those that are new are made.
    fn added(&mut self, context: u32, ids: &[TerminationId<'_>]) -> Result<Vec<Termination>, Failure> {
        let mut all: Vec<Termination> = Vec::new();
        for id in ids {
            let name = key(&id.0);
            let is_free = |one: &&Termination| {
                one.context == CONTEXT_NULL
                    && one.service_state == ServiceState::InSvc
                    && fits(&name, &one.name)
                    && !all.iter().any(|taken| taken.name == one.name)
            };
            if name == ROOT {
                return Err(Failure(430));
            } else if name == b"$" || name.starts_with(b"rtp") && name.contains(&b'$') {
                let made = self.new_ephemeral(all.iter().filter(|one| one.is_ephemeral).count())?;
                all.push(made);
            } else if name.contains(&b'$') {
                let free = self.terminations.values().find(is_free).cloned();
                all.push(free.ok_or(Failure(432))?);
            } else if name.contains(&b'*') {
                let free: Vec<Termination> = self.terminations.values().filter(is_free).cloned().collect();
                if free.is_empty() {
                    return Err(Failure(431));
                }
                all.extend(free);
            } else {
                let known = self.terminations.get(&name).ok_or(Failure(430))?;
                if known.context != CONTEXT_NULL || all.iter().any(|taken| taken.name == name) {
                    return Err(Failure(433));
                }
                if known.service_state != ServiceState::InSvc {
                    return Err(Failure(503));
                }
                all.push(known.clone());
            }
        }
        let present = self.contexts.get(&context).map_or(0, |context| context.members.len());
        if present + all.len() > self.options.max_in_context as usize {
            return Err(Failure(434));
        }
        for one in &mut all {
            one.context = context;
            one.since = self.now;
        }
        Ok(all)
    }

    fn new_ephemeral(&mut self, more: usize) -> Result<Termination, Failure> {
        if self.ephemerals as usize + more >= self.options.max_ephemerals as usize {
            return Err(Failure(432));
        }
        loop {
            self.last_ephemeral = self.last_ephemeral.wrapping_add(1);
            let name = format!("rtp{}", self.last_ephemeral).into_bytes();
            if !self.terminations.contains_key(&name) {
                return Ok(Termination::new(name, true));
            }
        }
    }

    /// Add, Move or Modify: all that is asked for is done at copies, which are kept if nothing fails.
    fn amm(
        &mut self,
        verb: Verb,
        context: u32,
        request: &AmmRequest<'_>,
        is_one: bool,
    ) -> Result<Vec<CommandReply<'static>>, Failure> {
        if context == CONTEXT_NULL && verb != Verb::Modify {
            return Err(Failure(421));
        }
        let ids = &request.termination_id;
        let copies = match verb {
            Verb::Add => self.added(context, ids)?,
            Verb::Move => self.moved(context, ids)?,
            Verb::Modify => {
                let names = self.matches(context, ids)?;
                names.iter().filter_map(|name| self.termination(name).cloned()).collect()
            }
        };
        let mut applied = Vec::with_capacity(copies.len());
        let mut maps = Vec::new();
        for mut copy in copies {
            let Applied { audit, digit_maps } = self.apply(&mut copy, &request.descriptors)?;
            maps.extend(digit_maps);
            applied.push((copy, audit));
        }
        for (name, value) in maps {
            match value {
                Some(value) => _ = self.digit_maps.insert(name, value),
                None => _ = self.digit_maps.remove(&name),
            }
        }
        let mut found = Vec::with_capacity(applied.len());
        for (copy, audit) in applied {
            found.push((copy.id(), audit));
            self.put(copy);
        }
        let reply = |reply| match verb {
            Verb::Add => CommandReply::AddReply(reply),
            Verb::Move => CommandReply::MoveReply(reply),
            Verb::Modify => CommandReply::ModReply(reply),
        };
        Ok(answers(ids, found, is_one).into_iter().map(reply).collect())
    }

    /// Puts a termination where a command has left it, with what follows from its events and signals.
    fn put(&mut self, termination: Termination) {
        let (name, context) = (termination.name.clone(), termination.context);
        if name == ROOT {
            self.root = termination;
            self.root_changed();
        } else {
            let before = self.terminations.get(&name).map(|before| before.context);
            let is_new = before.is_none();
            if is_new && termination.is_ephemeral {
                self.ephemerals += 1;
            }
            self.terminations.insert(name.clone(), termination);
            if before != Some(context) {
                if let Some(found) = self.contexts.get_mut(&context) {
                    found.members.insert(name.clone());
                }
                if let Some(before) = before.filter(|&before| before != CONTEXT_NULL) {
                    self.left(before, &name);
                }
            }
        }
        self.note_due(&name);
        self.take_buffered(&name);
    }

    /// The terminations that Move brings into a context from others.
    fn moved(&self, context: u32, ids: &[TerminationId<'_>]) -> Result<Vec<Termination>, Failure> {
        let mut all = Vec::new();
        for id in ids {
            let name = key(&id.0);
            let elsewhere = |one: &&Termination| one.context != CONTEXT_NULL;
            if id.has_wildcards() {
                let found = self.terminations.values().filter(elsewhere);
                let before = all.len();
                all.extend(found.filter(|one| fits(&name, &one.name)).cloned());
                if all.len() == before {
                    return Err(Failure(431));
                }
            } else {
                let known = self.terminations.get(&name).ok_or(Failure(430))?;
                all.push(Some(known).filter(elsewhere).ok_or(Failure(435))?.clone());
            }
        }
        let present = self.contexts.get(&context).map_or(0, |context| context.members.len());
        let new = all.iter().filter(|one| one.context != context).count();
        if present + new > self.options.max_in_context as usize {
            return Err(Failure(434));
        }
        for one in &mut all {
            one.context = context;
        }
        Ok(all)
    }

    fn subtract(
        &mut self,
        context: u32,
        request: &SubtractRequest<'_>,
        is_one: bool,
    ) -> Result<Vec<CommandReply<'static>>, Failure> {
        if context == CONTEXT_NULL {
            return Err(Failure(421));
        }
        let names = self.matches(context, &request.termination_id)?;
        let mut found = Vec::with_capacity(names.len());
        for name in &names {
            let Some(termination) = self.terminations.get(name) else { continue };
            let audit = match &request.audit_descriptor {
                Some(audit) => self.audit(termination, audit)?,
                // The statistics, unless something else is asked for (7.2.3).
                None => vec![AuditReturnParameter::StatisticsDescriptor(termination.statistics(self.now))],
            };
            found.push((termination.id(), audit));
        }
        for name in names {
            let Some(termination) = self.terminations.get_mut(&name) else { continue };
            if termination.is_ephemeral {
                self.terminations.remove(&name);
                self.ephemerals -= 1;
            } else {
                *termination = termination.idle();
            }
            self.left(context, &name);
            self.note_due(&name);
        }
        let answers = answers(&request.termination_id, found, is_one);
        Ok(answers.into_iter().map(CommandReply::SubtractReply).collect())
    }

    fn audit_command(
        &self,
        context: u32,
        request: &AuditRequest<'_>,
        is_one: bool,
    ) -> Result<Vec<AuditReply<'static>>, Failure> {
        let ids = match &request.termination_id_list {
            Some(list) => &list[..],
            None => std::slice::from_ref(&request.termination_id),
        };
        let names = self.matches(context, ids)?;
        let nothing = tercet_megaco::model::AuditDescriptor::default();
        let asked = request.audit_descriptor.as_ref().unwrap_or(&nothing);
        let asks_nothing = asked.audit_token.is_none_or(|tokens| tokens.is_empty())
            && asked.audit_property_token.as_ref().is_none_or(Vec::is_empty);
        // The names alone, as a list.
        if asks_nothing && ids.iter().any(TerminationId::has_wildcards) {
            let names = names.into_iter().map(|name| TerminationId(name.into()));
            return Ok(vec![AuditReply::ContextAuditResult(names.collect())]);
        }
        let mut found = Vec::with_capacity(names.len());
        for name in &names {
            let Some(termination) = self.termination(name) else { continue };
            found.push((termination.id(), self.audit(termination, asked)?));
        }
        let ids = ids.to_vec().into();
        let answers = answers(&ids, found, is_one).into_iter().map(|reply| {
            AuditReply::AuditResult(AuditResult {
                termination_id: reply.termination_id.first().cloned().unwrap_or_default(),
                termination_audit_result: reply.termination_audit.unwrap_or_default(),
            })
        });
        Ok(answers.collect())
    }
}

/// Replies: one for each termination, or one for all that names them as they were asked for (`W-`).
fn answers(
    ids: &List<TerminationId<'_>>,
    found: Vec<(TerminationId<'static>, TerminationAudit<'static>)>,
    is_one: bool,
) -> Vec<AmmsReply<'static>> {
    let some = |audit: TerminationAudit<'static>| (!audit.is_empty()).then_some(audit);
    if is_one {
        let mut union: TerminationAudit<'static> = Vec::new();
        for (_, audit) in found {
            for one in audit {
                if !union.contains(&one) {
                    union.push(one);
                }
            }
        }
        let termination_id = ids.clone().into_owned();
        return vec![AmmsReply { termination_id, termination_audit: some(union) }];
    }
    let reply = |(id, audit)| AmmsReply { termination_id: List::One(id), termination_audit: some(audit) };
    found.into_iter().map(reply).collect()
}

/// The reply to a command that has failed.
pub(super) fn failed(
    command: &Command<'_>,
    ids: Vec<TerminationId<'_>>,
    failure: Failure,
) -> CommandReply<'static> {
    let termination_id = List::from(ids).into_owned();
    let error = failure.descriptor();
    let audit = || vec![AuditReturnParameter::ErrorDescriptor(error.clone())];
    let amms = |termination_id| AmmsReply { termination_id, termination_audit: Some(audit()) };
    let result = |ids: List<TerminationId<'static>>| {
        let termination_id = ids.first().cloned().unwrap_or_default();
        AuditReply::AuditResult(AuditResult { termination_id, termination_audit_result: audit() })
    };
    match command {
        Command::AddReq(_) => CommandReply::AddReply(amms(termination_id)),
        Command::MoveReq(_) => CommandReply::MoveReply(amms(termination_id)),
        Command::ModReq(_) => CommandReply::ModReply(amms(termination_id)),
        Command::SubtractReq(_) => CommandReply::SubtractReply(amms(termination_id)),
        Command::AuditCapRequest(_) => CommandReply::AuditCapReply(result(termination_id)),
        Command::AuditValueRequest(_) => CommandReply::AuditValueReply(result(termination_id)),
        Command::NotifyReq(_) => {
            CommandReply::NotifyReply(NotifyReply { termination_id, error_descriptor: Some(Box::new(error)) })
        }
        Command::ServiceChangeReq(_) => CommandReply::ServiceChangeReply(ServiceChangeReply {
            termination_id,
            service_change_result: ServiceChangeResult::ErrorDescriptor(error),
        }),
    }
}
