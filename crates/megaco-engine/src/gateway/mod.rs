//! A media gateway without media: contexts, terminations and what happens at them, for simulators and tests.
//!
//! [`VirtualGateway`] executes commands in their order (H.248.1 8): it stops at the first one that fails unless that is optional, and a
//! command that fails changes nothing. Like the engine it knows no clock: times are given.

mod audit;
mod command;
mod context;
mod descriptors;
mod events;
mod failure;
mod service;
mod signals;
mod termination;

use std::collections::{BTreeMap, VecDeque};

use tercet_megaco::List;
use tercet_megaco::model::{
    ActionReply, ActionRequest, CONTEXT_NULL, Command, CommandRequest, DigitMapValue, TransactionResult,
};
use tercet_megaco::packages::Packages;

use crate::time::Time;
use context::Context;
pub use failure::Failure;
use termination::Termination;

/// What a gateway is made of.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct GatewayOptions {
    /// The highest version that it speaks.
    pub max_version: u8,
    /// Physical terminations, `line1` and so on.
    pub terminations: u32,
    /// Contexts that it has at once.
    pub max_contexts: u32,
    /// Terminations in a context.
    pub max_in_context: u32,
    /// Ephemeral terminations that it has at once.
    pub max_ephemerals: u32,
    /// The address of its media, of IP version 4 or 6, where a session description leaves it to the gateway.
    pub address: std::net::IpAddr,
    /// Milliseconds from 1970 to the origin of [`Time`]: the times of events are told by it.
    pub epoch_millis: u64,
}

impl Default for GatewayOptions {
    fn default() -> Self {
        Self {
            max_version: 3,
            terminations: 4,
            max_contexts: 10_000,
            max_in_context: 64,
            max_ephemerals: 100_000,
            address: std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST),
            epoch_millis: 0,
        }
    }
}

/// A name of a termination in lower case.
type Key = Vec<u8>;

/// The name of the gateway as a whole.
const ROOT: &[u8] = b"root";

/// A media gateway: what it has, and what its controller has asked of it.
///
/// ```
/// use tercet_megaco::model::{MessageBody, Transaction};
/// use tercet_megaco::text::read_message;
/// use tercet_megaco_engine::{GatewayOptions, Time, VirtualGateway};
///
/// let mut gateway = VirtualGateway::new(GatewayOptions::default());
/// let message = read_message(b"!/1 mgc T=1{C=-{MF=line1{E=7{al/of}}}}")?;
/// let MessageBody::Transactions(transactions) = &message.mess.message_body else { unreachable!() };
/// let Transaction::TransactionRequest(request) = &transactions[0] else { unreachable!() };
/// let reply = gateway.execute(Time::default(), &request.actions);
///
/// // Somebody lifts the receiver: the controller is to be notified.
/// gateway.event(Time::from_millis(10), "line1", "al/of", &[])?;
/// let notify = gateway.poll_request().unwrap();
/// # _ = (reply, notify);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct VirtualGateway {
    options: GatewayOptions,
    packages: Packages,
    now: Time,
    root: Termination,
    terminations: BTreeMap<Key, Termination>,
    contexts: BTreeMap<u32, Context>,
    last_context: u32,
    last_ephemeral: u32,
    ephemerals: u32,
    next_port: u16,
    /// Digit maps by their names in lower case.
    digit_maps: BTreeMap<Key, DigitMapValue<'static>>,
    /// Terminations at which something is due, and when.
    due: BTreeMap<Key, Time>,
    requests: VecDeque<ActionRequest<'static>>,
    is_configured: bool,
    /// Whether the controller has ever asked for its silence to be reported.
    has_inactivity: bool,
}

/// Requests that wait to be sent; further ones are dropped like the events that they tell of.
const MOST_REQUESTS: usize = 10_000;

impl VirtualGateway {
    /// Makes a gateway whose terminations are idle.
    pub fn new(options: GatewayOptions) -> Self {
        let mut terminations = BTreeMap::new();
        for number in 1..=options.terminations {
            let name = format!("line{number}").into_bytes();
            terminations.insert(name.clone(), Termination::new(name, false));
        }
        let mut gateway = Self {
            options,
            packages: Packages::default(),
            now: Time::default(),
            root: Termination::new(ROOT.to_vec(), false),
            terminations,
            contexts: BTreeMap::new(),
            last_context: 0,
            last_ephemeral: 0,
            ephemerals: 0,
            next_port: 30_000,
            digit_maps: BTreeMap::new(),
            due: BTreeMap::new(),
            requests: VecDeque::new(),
            is_configured: false,
            has_inactivity: false,
        };
        gateway.set_root_limits();
        gateway
    }

    /// Executes the actions of a request, and returns the reply.
    pub fn execute(&mut self, now: Time, actions: &[ActionRequest<'_>]) -> TransactionResult<'static> {
        self.handle_timeout(now);
        let mut replies: Vec<ActionReply<'static>> = Vec::new();
        for action in actions {
            let (mut some, has_failed) = self.action(action);
            replies.append(&mut some);
            if has_failed {
                break;
            }
        }
        TransactionResult::ActionReplies(replies.into())
    }

    /// Takes the next request to send to the controller: a Notify or a ServiceChange.
    pub fn poll_request(&mut self) -> Option<List<ActionRequest<'static>>> {
        self.requests.pop_front().map(List::One)
    }

    /// Returns when [`handle_timeout`](Self::handle_timeout) has something to do.
    pub fn poll_timeout(&self) -> Option<Time> {
        self.due.values().min().copied()
    }

    /// Does what is due: signals end, digits are complete, terminations go out of service.
    pub fn handle_timeout(&mut self, now: Time) {
        self.now = self.now.max(now);
        loop {
            let due = self.due.iter().find(|(_, at)| **at <= self.now).map(|(key, _)| key.clone());
            let Some(key) = due else { return };
            self.due.remove(&key);
            self.signals_due(&key);
            self.digits_due(&key);
            self.service_due(&key);
            self.note_due(&key);
        }
    }

    /// Returns the numbers of the contexts.
    pub fn contexts(&self) -> impl Iterator<Item = u32> + '_ {
        self.contexts.keys().copied()
    }

    /// Returns the names of the terminations of a context, of the NULL context if it is 0.
    pub fn terminations(&self, context: u32) -> impl Iterator<Item = &str> {
        let of_context = self.terminations.values().filter(move |termination| termination.context == context);
        of_context.filter_map(|termination| std::str::from_utf8(&termination.name).ok())
    }

    fn termination(&self, key: &[u8]) -> Option<&Termination> {
        if key == ROOT { Some(&self.root) } else { self.terminations.get(key) }
    }

    fn termination_mut(&mut self, key: &[u8]) -> Option<&mut Termination> {
        if key == ROOT { Some(&mut self.root) } else { self.terminations.get_mut(key) }
    }

    /// Notes when something is due at a termination.
    fn note_due(&mut self, key: &[u8]) {
        match self.termination(key).and_then(Termination::due) {
            // What comes of what is due at once comes in the next turn.
            Some(at) => _ = self.due.insert(key.to_vec(), at),
            None => _ = self.due.remove(key),
        }
    }

    /// Puts a request to the controller into the queue.
    fn ask(&mut self, context_id: u32, command: Command<'static>) {
        if self.requests.len() < MOST_REQUESTS {
            let request = CommandRequest { command, optional: None, wildcard_return: None };
            self.requests.push_back(ActionRequest {
                context_id,
                context_request: None,
                context_attr_audit_req: None,
                command_requests: List::One(request),
            });
        }
    }

    fn context_of(&self, key: &[u8]) -> u32 {
        self.termination(key).map_or(CONTEXT_NULL, |termination| termination.context)
    }
}

#[cfg(test)]
mod tests;
