//! The states of a request of a peer.

use std::sync::Arc;

use super::segments::Sending;
use crate::route::Route;
use crate::slab::{Linked, Links};
use crate::time::{Running, Time};
use crate::wheel::TimerId;
use crate::wire::Dialect;

#[derive(Debug)]
pub(super) enum State {
    Executing(Box<Executing>),
    /// The reply is remembered. Rarely there is more: an acknowledgement is expected, or the reply is in segments.
    Answered(Arc<[u8]>, Option<Box<Awaiting>>),
    /// Acknowledged, or answered by nothing: only the id is remembered.
    Done {
        /// All segments of the reply have been acknowledged; then the reply is.
        expects_ack: bool,
    },
    /// Aborted; the user has not answered yet. With the error that the peer was sent.
    Aborted(Arc<[u8]>),
}

#[derive(Debug)]
pub(super) struct Executing {
    pub(super) route: Route,
    pub(super) dialect: Dialect,
    pub(super) running: Running,
    pub(super) limit: TimerId,
    pub(super) arrived: Time,
    /// The timer of a Pending that waits.
    pub(super) together: TimerId,
    pub(super) pendings: u32,
    pub(super) last_pending: Option<Time>,
}

#[derive(Debug)]
pub(super) struct Awaiting {
    pub(super) route: Route,
    pub(super) running: Running,
    pub(super) ack: Wait,
    pub(super) sending: Option<Box<Sending>>,
}

impl Awaiting {
    /// The peer has asked again by another way.
    pub(super) fn go_to(&mut self, route: Route) {
        self.route = route;
        if let Some(sending) = &mut self.sending {
            sending.route = route;
        }
    }
}

/// The wait for an acknowledgement.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Wait {
    /// Whether the user is told.
    pub(super) is_wanted: bool,
    /// Whether the peer has been asked for it.
    pub(super) is_asked: bool,
}

impl Wait {
    /// Whether expiries of the reply's timer send it again.
    pub(super) const fn resends(self) -> bool {
        self.is_wanted || self.is_asked
    }
}

/// A request of a peer.
#[derive(Debug)]
pub(super) struct Response {
    pub(super) conn: u32,
    pub(super) id: u32,
    pub(super) links: Links,
    pub(super) timer: TimerId,
    /// When it arrived, in milliseconds as far as they fit.
    pub(super) arrived: u32,
    pub(super) state: State,
}

impl Linked for Response {
    fn links(&mut self) -> &mut Links {
        &mut self.links
    }

    fn next(&self) -> u32 {
        self.links.next()
    }
}

impl Response {
    pub(super) fn sending(&self) -> Option<&Sending> {
        match &self.state {
            State::Answered(_, Some(awaiting)) => awaiting.sending.as_deref(),
            _ => None,
        }
    }

    pub(super) fn sending_mut(&mut self) -> Option<&mut Sending> {
        match &mut self.state {
            State::Answered(_, Some(awaiting)) => awaiting.sending.as_deref_mut(),
            _ => None,
        }
    }

    pub(super) fn take_sending(&mut self) -> Option<Box<Sending>> {
        match &mut self.state {
            State::Answered(_, Some(awaiting)) => awaiting.sending.take(),
            _ => None,
        }
    }

    pub(super) fn set_sending(&mut self, sending: Box<Sending>) {
        if let State::Answered(_, Some(awaiting)) = &mut self.state {
            awaiting.sending = Some(sending);
        }
    }

    /// Octets that are remembered.
    pub(super) fn octets(&self) -> usize {
        match &self.state {
            State::Executing(_) | State::Done { .. } => 0,
            State::Answered(octets, awaiting) => {
                let sending = awaiting.as_ref().and_then(|awaiting| awaiting.sending.as_ref());
                octets.len() + sending.map_or(0, |sending| sending.octets())
            }
            State::Aborted(octets) => octets.len(),
        }
    }
}
