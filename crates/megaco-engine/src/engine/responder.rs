//! Requests of peers: executed once each, and answered by the same octets as long as the reply is remembered.
//!
//! A request is known by the remote mid and its id, whatever address it comes from. While it is executed, Pendings are sent;
//! the answer is remembered for `reply_timer` (LONG-TIMER of D.1.1), without its octets from when it is acknowledged.

use std::sync::Arc;

use tercet_megaco::List;
use tercet_megaco::model::{
    Lenient, ServiceChangeMethod, Transaction, TransactionPending, TransactionReply, TransactionResult,
};

use super::input::{Input, error_reply};
use super::response::{Awaiting, Executing, Response, State, Wait};
use super::segments::Sending;
use super::{Due, Engine, Error};
use crate::event::{AckStatus, ConnId, Event, Incoming, Origin, Token};
use crate::items::Window;
use crate::route::Route;
use crate::slab::{Chain, Links};
use crate::time::{Running, Time, Timer};
use crate::wheel::TimerId;
use crate::wire::Dialect;

/// Whether a reply is to be acknowledged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AckMode {
    /// The user does not care; the peer is asked only if a Pending has been sent (D.1.4).
    #[default]
    Discard,
    /// The peer is asked for it, and the user is told.
    Handle,
    /// The user is told, if a Pending has been sent and the peer was asked because of that.
    Pending,
    /// The user is told; the peer is asked only if a Pending has been sent.
    Sloppy,
}

/// How a reply is sent.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct ReplyOptions {
    /// Whether it is to be acknowledged.
    pub ack: AckMode,
    /// Instead of `reply_timer`.
    pub reply_timer: Option<Timer>,
    /// Instead of the version of the request.
    pub version: Option<u8>,
    /// Instead of the route of the request.
    pub route: Option<Route>,
}

/// The error that a gateway answers with before its controller has accepted its registration: code and text (H.248.8).
pub const BEFORE_REGISTRATION: (u16, &str) =
    (505, "Transaction request received before a ServiceChange reply");

/// Pendings for repeated requests are at least so far apart.
const PENDING_GAP_MILLIS: u64 = 50;

/// A Pending for a repeated request that comes together with the first one waits so long: most users answer at once, and a
/// Pending before the answer would keep the peer from asking again if the answer is lost.
const TOGETHER_MILLIS: u64 = 5;

/// A registration by Restart from another address whose copy arrived at least so long before is that of a gateway that has started
/// again; sooner, it is a copy that took another way.
const RESTART_MILLIS: u32 = 1000;

/// How long the id of an acknowledged request is remembered if its timer has no end, in milliseconds.
pub(super) const LONG_TIMER_MILLIS: u64 = 30_000;

impl Engine {
    /// Answers a request.
    ///
    /// # Errors
    /// The request has been answered, aborted or forgotten ([`Event::Swallowed`] is reported), or the reply cannot be encoded; it
    /// can be answered again then.
    pub fn reply(
        &mut self,
        now: Time,
        token: Token,
        result: TransactionResult<'_>,
        options: &ReplyOptions,
    ) -> Result<(), Error> {
        self.advance(now);
        let slot = self.executing(token)?;
        let Some(response) = self.responses.get(slot) else { return Err(Error::NoSuchRequest) };
        let State::Executing(executing) = &response.state else { return Err(Error::NoSuchRequest) };
        let (conn, id) = (response.conn, response.id);
        let route = options.route.unwrap_or(executing.route);
        let mut dialect = executing.dialect;
        dialect.version = options.version.unwrap_or(dialect.version);
        let has_pendings = executing.pendings > 0;
        let Some(found) = self.conns.get(conn) else { return Err(Error::NoSuchConnection) };
        let (user, window) = (found.user, found.items.segment_send);
        let running = options.reply_timer.unwrap_or(found.items.reply_timer).start();
        let Some(mid) = self.users.get(user as usize).map(|user| &user.mid) else {
            return Err(Error::NoSuchUser);
        };
        let imm_ack_required = (has_pendings || options.ack == AckMode::Handle).then_some(());
        let is_wanted = match options.ack {
            AckMode::Discard => false,
            AckMode::Handle | AckMode::Sloppy => true,
            AckMode::Pending => has_pendings,
        };

        let max = self.max_message(conn, Some(route));
        let may_segment = dialect.version >= 3 && window != Window::None;
        // The whole is encoded first: most replies fit.
        let copy = match &result {
            TransactionResult::ActionReplies(actions) if may_segment && actions.len() > 1 => {
                Some(actions.clone())
            }
            _ => None,
        };
        let reply = |transaction_result| {
            Transaction::TransactionReply(TransactionReply {
                transaction_id: Lenient(Some(id)),
                imm_ack_required,
                transaction_result,
                segment_number: None,
                segmentation_complete: None,
            })
        };
        let whole = List::One(reply(result));
        let mut octets = dialect.message(&self.registry, mid, whole, &mut self.scratch)?;
        let segments = match &copy {
            Some(actions) if octets.len() > max => {
                self.segment(user, dialect, id, imm_ack_required, actions, max)
            }
            _ => None,
        };
        if octets.len() > max && segments.is_none() {
            let error = error_reply(id, 533, "Response exceeds maximum transport PDU size");
            octets = dialect.message(&self.registry, mid, List::One(error), &mut self.scratch)?;
        }

        self.stop_execution(slot);
        self.count(Some(conn), |counters| counters.replies_sent += 1);
        let sending = match segments {
            Some(segments) => {
                // What is sent again are the segments.
                octets = Arc::from([]);
                Some(self.send_segments(slot, conn, route, segments))
            }
            None => {
                self.send_reply(slot, conn, route, dialect, &octets);
                None
            }
        };
        let ack = Wait { is_wanted, is_asked: imm_ack_required.is_some() };
        self.remember(slot, octets, route, running, ack, sending);
        Ok(())
    }

    /// Leaves a request without an answer: repeated ones are dropped until it is forgotten.
    ///
    /// # Errors
    /// The request has been answered, aborted or forgotten.
    pub fn ignore(&mut self, now: Time, token: Token) -> Result<(), Error> {
        self.advance(now);
        let slot = self.executing(token)?;
        self.stop_execution(slot);
        let millis = self.long_timer(slot);
        if let Some(response) = self.responses.get_mut(slot) {
            response.state = State::Done { expects_ack: false };
            response.timer = self.wheel.start(self.now, millis, Due::Response(slot));
        }
        Ok(())
    }

    /// Sends a Pending for a request now, whatever its timer.
    ///
    /// # Errors
    /// The request has been answered, aborted or forgotten.
    pub fn pending(&mut self, now: Time, token: Token) -> Result<(), Error> {
        self.advance(now);
        let slot = self.executing(token)?;
        self.send_pending(slot);
        Ok(())
    }

    /// Returns the transaction ids of requests of the peer that are executed.
    pub fn executing_requests(&self, conn: ConnId) -> Vec<u32> {
        let Ok(found) = self.conn(conn) else { return Vec::new() };
        let executing = |index| {
            let response = self.responses.get(index)?;
            matches!(response.state, State::Executing(_)).then_some(response.id)
        };
        let mut ids: Vec<u32> = self.responses.iter(found.responses).filter_map(executing).collect();
        ids.sort_unstable();
        ids
    }

    /// The slot of a request that has no answer yet; reports an answer that comes too late.
    fn executing(&mut self, token: Token) -> Result<u32, Error> {
        let is_executing = self.responses.is_current(token.index, token.generation)
            && self.responses.get(token.index).is_some_and(|r| matches!(r.state, State::Executing(_)));
        if is_executing {
            return Ok(token.index);
        }
        self.events.push_back(Event::Swallowed { token });
        Err(Error::NoSuchRequest)
    }

    pub(super) fn request_received(
        &mut self,
        conn: u32,
        input: &mut Input<'_>,
        id: u32,
        index: usize,
        registers: Option<ServiceChangeMethod>,
        fresh: &mut List<Incoming>,
    ) {
        let route = input.route;
        // A gateway that has started again, at another address, begins with the ids of before: they are not those requests.
        let restarts = registers == Some(ServiceChangeMethod::Restart);
        if let Some(&slot) = self.response_ids.get(&(conn, id)) {
            let is_elsewhere = self.conns.get(conn).is_some_and(|conn| conn.route != Some(route));
            if !(restarts && is_elsewhere && self.is_remembered(slot) && self.is_old(slot)) {
                self.count(Some(conn), |counters| counters.duplicates += 1);
                return self.repeated(slot, conn, route);
            }
            self.forget_answers(conn);
        }
        let Some(found) = self.conns.get_mut(conn) else { return };
        let limit = if found.responses.len() >= found.items.max_replies as usize {
            Some("max_replies")
        } else if self.responses.len() >= self.limits.replies {
            Some("replies")
        } else if self.reply_octets >= self.limits.reply_octets {
            Some("reply_octets")
        } else {
            None
        };
        let was_full = std::mem::replace(&mut found.is_full, limit.is_some());
        if let Some(limit) = limit {
            self.count(Some(conn), |counters| counters.dropped += 1);
            if !was_full {
                let conn = self.conn_id(conn);
                self.events.push_back(Event::LimitReached { conn, limit });
            }
            return;
        }
        let is_registering = found.is_registering;
        let (pending, execution) = (found.items.pending_timer, found.items.execution_timer);
        let slot = self.responses.insert(Response {
            conn,
            id,
            links: Links::NONE,
            timer: TimerId::NONE,
            arrived: self.now.as_millis() as u32,
            state: State::Done { expects_ack: false },
        });
        self.response_ids.insert((conn, id), slot);
        if let Some(found) = self.conns.get_mut(conn) {
            self.responses.push(&mut found.responses, slot);
        }
        self.count(Some(conn), |counters| counters.requests_received += 1);
        if is_registering && registers.is_none() {
            let (code, text) = BEFORE_REGISTRATION;
            return self.answer_by_error(slot, conn, route, input.dialect, code, text);
        }
        let running = pending.start();
        let limit = match execution.as_millis() {
            Some(millis) => self.wheel.start(self.now, millis.into(), Due::Execution(slot)),
            None => TimerId::NONE,
        };
        let timer = match running.wait {
            Some(wait) => self.wheel.start(self.now, wait.into(), Due::Response(slot)),
            None => TimerId::NONE,
        };
        let dialect = input.dialect;
        if let Some(response) = self.responses.get_mut(slot) {
            response.timer = timer;
            response.state = State::Executing(Box::new(Executing {
                route,
                dialect,
                running,
                limit,
                arrived: self.now,
                together: TimerId::NONE,
                pendings: 0,
                last_pending: None,
            }));
        }
        fresh.push(Incoming::new(self.token(slot), id, index));
    }

    /// Whether a request has been answered and is remembered.
    fn is_remembered(&self, slot: u32) -> bool {
        let response = self.responses.get(slot);
        response.is_some_and(|response| !matches!(response.state, State::Executing(_)))
    }

    /// Whether a request arrived longer ago than its copies take.
    fn is_old(&self, slot: u32) -> bool {
        let now = self.now.as_millis() as u32;
        self.responses.get(slot).is_some_and(|response| now.wrapping_sub(response.arrived) >= RESTART_MILLIS)
    }

    /// Forgets what was answered to a peer; what is executed stays.
    fn forget_answers(&mut self, conn: u32) {
        let chain = self.conns.get(conn).map_or(Chain::EMPTY, |conn| conn.responses);
        let slots: Vec<u32> = self.responses.iter(chain).collect();
        for slot in slots {
            if self.is_remembered(slot) {
                self.ack_ended(slot, AckStatus::Cancelled);
                self.forget(slot);
            }
        }
    }

    /// A request that was received before.
    fn repeated(&mut self, slot: u32, conn: u32, route: Route) {
        let Some(response) = self.responses.get_mut(slot) else { return };
        match &mut response.state {
            State::Executing(executing) => {
                // The reply goes to where the request came from last: the address of before may be gone.
                executing.route = route;
                let since = |time| self.now.since(time).as_millis();
                let is_due =
                    executing.last_pending.is_none_or(|last| since(last) >= u128::from(PENDING_GAP_MILLIS));
                if is_due && since(executing.arrived) >= u128::from(TOGETHER_MILLIS) {
                    self.send_pending(slot);
                } else if is_due && !executing.together.is_some() {
                    executing.together = self.wheel.start(self.now, TOGETHER_MILLIS, Due::Together(slot));
                }
            }
            State::Answered(_, Some(awaiting)) if awaiting.sending.is_some() => {
                // What is still to be sent goes there too.
                awaiting.go_to(route);
                self.count(Some(conn), |counters| counters.replies_resent += 1);
                self.send_again(slot, conn, Some(route));
            }
            State::Answered(octets, awaiting) => {
                if let Some(awaiting) = awaiting {
                    awaiting.go_to(route);
                }
                let octets = Arc::clone(octets);
                self.reply_again(slot, conn, route, octets);
            }
            State::Aborted(octets) => {
                let octets = Arc::clone(octets);
                self.reply_again(slot, conn, route, octets);
            }
            State::Done { .. } => {}
        }
    }

    /// Sends a reply again that was asked for again.
    fn reply_again(&mut self, slot: u32, conn: u32, route: Route, octets: Arc<[u8]>) {
        self.count(Some(conn), |counters| counters.replies_resent += 1);
        let origins = List::One(Origin::Reply(self.token(slot)));
        self.transmit(Some(conn), route, octets, origins, true);
    }

    /// Sends a Pending, or aborts the request if that were one too many.
    fn send_pending(&mut self, slot: u32) {
        let Some(response) = self.responses.get_mut(slot) else { return };
        let (conn, id) = (response.conn, response.id);
        let State::Executing(executing) = &mut response.state else { return };
        let limit = self.conns.get(conn).map_or(crate::Limit::INFINITE, |conn| conn.items.sent_pending_limit);
        if limit.is_passed_by(executing.pendings + 1) {
            return self.abort(slot, 506, "Number of TransactionPendings exceeded");
        }
        executing.pendings += 1;
        executing.last_pending = Some(self.now);
        let (route, dialect) = (executing.route, executing.dialect);
        self.count(Some(conn), |counters| counters.pendings_sent += 1);
        let event = Event::PendingSent { conn: self.conn_id(conn), transaction: id };
        self.events.push_back(event);
        let pending = Transaction::TransactionPending(TransactionPending { transaction_id: id });
        self.send_at_once(conn, route, dialect, pending, None);
    }

    /// Ends a request by an error of its transaction; an answer of the user is swallowed.
    fn abort(&mut self, slot: u32, code: u16, text: &str) {
        let Some(response) = self.responses.get(slot) else { return };
        let (conn, transaction) = (response.conn, response.id);
        let State::Executing(executing) = &response.state else { return };
        let (route, dialect) = (executing.route, executing.dialect);
        self.count(Some(conn), |counters| counters.aborted += 1);
        let event = Event::Abort { conn: self.conn_id(conn), token: self.token(slot), transaction, code };
        self.events.push_back(event);
        self.stop_execution(slot);
        self.answer_by_error(slot, conn, route, dialect, code, text);
        if let Some(response) = self.responses.get_mut(slot)
            && let State::Answered(octets, _) = &response.state
        {
            response.state = State::Aborted(Arc::clone(octets));
        }
    }

    /// Answers a request by an error that the user has no part in.
    fn answer_by_error(
        &mut self,
        slot: u32,
        conn: u32,
        route: Route,
        dialect: Dialect,
        code: u16,
        text: &str,
    ) {
        let Some(found) = self.conns.get(conn) else { return };
        let user = found.user;
        // Nobody waits for an acknowledgement, so that an incremental timer is one of its whole length here.
        let timer = Timer::millis(u32::try_from(self.long_timer(slot)).unwrap_or(u32::MAX));
        let id = self.responses.get(slot).map_or(0, |response| response.id);
        let Some(mid) = self.users.get(user as usize).map(|user| &user.mid) else { return };
        let error = List::One(error_reply(id, code, text));
        let octets = match dialect.message(&self.registry, mid, error, &mut self.scratch) {
            Ok(octets) => octets,
            Err(_) => Arc::from([]),
        };
        self.count(Some(conn), |counters| counters.replies_sent += 1);
        self.send_reply(slot, conn, route, dialect, &octets);
        self.remember(slot, octets, route, timer.start(), Wait::default(), None);
    }

    /// Sends a reply, with what is gathered.
    fn send_reply(&mut self, slot: u32, conn: u32, route: Route, dialect: Dialect, octets: &Arc<[u8]>) {
        let origin = Origin::Reply(self.token(slot));
        let is_gathering = self.conns.get(conn).is_some_and(|conn| conn.gather.is_some());
        if is_gathering
            && let registry = self.registry.clone()
            && let Ok(message) = dialect.encoding.decode_with(&registry, octets)
            && let tercet_megaco::model::MessageBody::Transactions(List::One(reply)) =
                message.mess.message_body
            && self.send_at_once(conn, route, dialect, reply, Some(origin)).is_some()
        {
            return;
        }
        self.transmit(Some(conn), route, Arc::clone(octets), List::One(origin), false);
    }

    /// Keeps a reply that has been sent.
    fn remember(
        &mut self,
        slot: u32,
        octets: Arc<[u8]>,
        route: Route,
        running: Running,
        ack: Wait,
        sending: Option<Box<Sending>>,
    ) {
        self.reply_octets += octets.len() + sending.as_ref().map_or(0, |sending| sending.octets());
        let timer = match running.wait {
            Some(wait) => self.wheel.start(self.now, wait.into(), Due::Response(slot)),
            None => TimerId::NONE,
        };
        let has_more = ack.is_wanted || sending.is_some() || running.expire().is_some();
        let awaiting = has_more.then(|| Box::new(Awaiting { route, running, ack, sending }));
        if let Some(response) = self.responses.get_mut(slot) {
            response.timer = timer;
            response.state = State::Answered(octets, awaiting);
        }
    }

    /// Stops the timers of an execution.
    pub(super) fn stop_execution(&mut self, slot: u32) {
        let Some(response) = self.responses.get_mut(slot) else { return };
        self.wheel.stop(&mut response.timer);
        if let State::Executing(executing) = &mut response.state {
            self.wheel.stop(&mut executing.limit);
            self.wheel.stop(&mut executing.together);
        }
    }

    /// A repeated request came together with the first one, and the user has not answered since.
    pub(super) fn together_expired(&mut self, slot: u32) {
        if let Some(response) = self.responses.get_mut(slot)
            && let State::Executing(executing) = &mut response.state
        {
            executing.together = TimerId::NONE;
            if executing.last_pending.is_none() {
                self.send_pending(slot);
            }
        }
    }

    /// How long an id is remembered whose reply has no octets any more.
    fn long_timer(&self, slot: u32) -> u64 {
        let conn = self.responses.get(slot).and_then(|response| self.conns.get(response.conn));
        conn.and_then(|conn| conn.items.reply_timer.total_millis()).unwrap_or(LONG_TIMER_MILLIS)
    }

    pub(super) fn response_expired(&mut self, slot: u32) {
        let Some(response) = self.responses.get_mut(slot) else { return };
        response.timer = TimerId::NONE;
        let conn = response.conn;
        match &mut response.state {
            State::Executing(executing) => {
                let next = executing.running.expire();
                if let Some(running) = next {
                    executing.running = running;
                    if let Some(wait) = running.wait {
                        response.timer = self.wheel.start(self.now, wait.into(), Due::Response(slot));
                    }
                }
                self.send_pending(slot);
            }
            State::Answered(octets, Some(awaiting)) => match awaiting.running.expire() {
                Some(running) => {
                    awaiting.running = running;
                    if let Some(wait) = running.wait {
                        response.timer = self.wheel.start(self.now, wait.into(), Due::Response(slot));
                    }
                    let (octets, route) = (Arc::clone(octets), awaiting.route);
                    if awaiting.sending.is_some() {
                        self.count(Some(conn), |counters| counters.timer_recovery += 1);
                        self.send_again(slot, conn, None);
                    } else if awaiting.ack.resends() {
                        self.count(Some(conn), |counters| counters.timer_recovery += 1);
                        let origins = List::One(Origin::Reply(self.token(slot)));
                        self.transmit(Some(conn), route, octets, origins, true);
                    }
                }
                None => {
                    self.ack_ended(slot, AckStatus::Timeout);
                    self.forget(slot);
                }
            },
            State::Answered(_, None) | State::Done { .. } | State::Aborted(_) => self.forget(slot),
        }
    }

    pub(super) fn execution_expired(&mut self, slot: u32) {
        if let Some(response) = self.responses.get_mut(slot)
            && let State::Executing(executing) = &mut response.state
        {
            executing.limit = TimerId::NONE;
            self.abort(slot, 510, "Not executed in time");
        }
    }
}
