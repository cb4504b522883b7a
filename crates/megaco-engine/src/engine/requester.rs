//! Requests of ours, from the first sending to their one result.
//!
//! A request waits for its reply by `request_timer`. The first Pending replaces that by `long_request_timer`; further ones start
//! the next period of it, but not beyond the last one, so that a request ends whatever its peer sends.

use std::sync::Arc;

use tercet_megaco::List;
use tercet_megaco::codec::Encoding;
use tercet_megaco::model::{
    ActionRequest, Lenient, Transaction, TransactionReply, TransactionRequest, TransactionResult,
};

use super::input::Input;
use super::segments::Segments;
use super::{Due, Engine, Error};
use crate::event::{ConnId, Event, Origin, Outcome, Reply, RequestId, SendFault, Unexpected, UserId};
use crate::items::WrongMid;
use crate::slab::{Chain, Linked, Links};
use crate::time::{Period, Running, Time, Timer};
use crate::wheel::TimerId;
use crate::wire::{self, Dialect};

/// What differs from the items of the connection for some requests.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct RequestOptions {
    /// Instead of `request_timer`.
    pub request_timer: Option<Timer>,
    /// Instead of `long_request_timer`.
    pub long_request_timer: Option<Timer>,
    /// Instead of `request_keep_alive`.
    pub keep_alive: Option<Period>,
    /// Instead of the version of the connection.
    pub version: Option<u8>,
    /// Instead of the route of the connection, for the first sending.
    pub route: Option<crate::route::Route>,
    /// Whether the requests are sent at once although others are gathered.
    pub at_once: bool,
}

/// What is kept to send a request again.
#[derive(Debug)]
enum Kept {
    /// A message.
    Message(Arc<[u8]>),
    /// A transaction of a message with others.
    Piece(Box<[u8]>),
    /// Nothing: it is not sent again.
    Nothing,
}

#[derive(Debug)]
pub(super) enum Phase {
    /// No answer yet.
    Short,
    /// A Pending came.
    Long,
    /// Some segments came.
    Segments(Box<Segments>),
    /// The reply came; further ones are numbered.
    KeepAlive(u32),
}

/// A request that waits.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) conn: u32,
    id: u32,
    links: Links,
    timer: TimerId,
    running: Running,
    pub(super) phase: Phase,
    kept: Kept,
    version: u8,
    encoding: Encoding,
    pub(super) is_gathered: bool,
    pendings: u32,
    since: Time,
    options: Option<Box<RequestOptions>>,
}

impl Linked for Request {
    fn links(&mut self) -> &mut Links {
        &mut self.links
    }

    fn next(&self) -> u32 {
        self.links.next()
    }
}

impl Request {
    pub(super) fn piece(&self) -> Option<&[u8]> {
        match &self.kept {
            Kept::Piece(piece) => Some(piece),
            Kept::Message(_) | Kept::Nothing => None,
        }
    }

    pub(super) fn piece_length(&self) -> Option<usize> {
        self.piece().map(<[u8]>::len)
    }
}

impl Engine {
    /// Sends requests, each a list of actions: a transaction. They share a message if it has room for them.
    ///
    /// Each request gets exactly one [`Event::Result`]. Returned are their names and transaction ids, in their order.
    ///
    /// # Errors
    /// No such connection, too many requests that wait, or one that cannot be encoded or is too large. Nothing is sent then.
    pub fn request<'a>(
        &mut self,
        now: Time,
        conn: ConnId,
        transactions: impl IntoIterator<Item = List<ActionRequest<'a>>>,
        options: &RequestOptions,
    ) -> Result<List<(RequestId, u32)>, Error> {
        self.request_all(now, conn, transactions.into_iter().collect(), options)
    }

    fn request_all(
        &mut self,
        now: Time,
        conn: ConnId,
        transactions: List<List<ActionRequest<'_>>>,
        options: &RequestOptions,
    ) -> Result<List<(RequestId, u32)>, Error> {
        self.advance(now);
        let index = self.live(conn)?;
        let Some(found) = self.conns.get(index) else { return Err(Error::NoSuchConnection) };
        let (user, items) = (found.user, Arc::clone(&found.items));
        if found.requests.len() + transactions.len() > items.max_requests as usize {
            return Err(Error::LimitReached("max_requests"));
        }
        let version = options.version.unwrap_or(found.version);
        let dialect = Dialect { encoding: found.encoding, version };
        let route = options.route.or(found.route);
        let max = self.max_message(index, route);
        let ids = self.next_ids(user, transactions.len())?;
        let count = transactions.len();
        let gathers = items.trans_req && items.gathers() && !options.at_once && version == found.version;
        let Some(mid) = self.users.get(user as usize).map(|user| &user.mid) else {
            return Err(Error::NoSuchUser);
        };
        let mut kept = List::new();
        for (actions, &id) in transactions.into_iter().zip(&ids) {
            let request = TransactionRequest { transaction_id: Lenient(Some(id)), actions };
            let transaction = Transaction::TransactionRequest(request);
            let is_piece = gathers || count > 1;
            let (request, length) = if is_piece {
                let piece = dialect.piece(&self.registry, mid, transaction)?;
                let length = piece.len() + dialect.overhead(mid);
                (Kept::Piece(piece.into()), length)
            } else {
                let transaction = List::One(transaction);
                let octets = dialect.message(&self.registry, mid, transaction, &mut self.scratch)?;
                let length = octets.len();
                (Kept::Message(octets), length)
            };
            if length > max {
                return Err(Error::TooLarge(length));
            }
            kept.push(request);
        }
        // From here on nothing fails.
        if let Some(user) = self.users.get_mut(user as usize) {
            user.last_id = ids.last().copied().or(user.last_id);
        }
        let timer = options.request_timer.unwrap_or(items.request_timer);
        let differs = options.long_request_timer.is_some() || options.keep_alive.is_some();
        let mut requests = List::new();
        for (kept, &id) in kept.into_iter().zip(&ids) {
            let slot = self.requests.insert(Request {
                conn: index,
                id,
                links: Links::NONE,
                timer: TimerId::NONE,
                running: timer.start(),
                phase: Phase::Short,
                kept,
                version,
                encoding: dialect.encoding,
                is_gathered: false,
                pendings: 0,
                since: self.now,
                options: differs.then(|| Box::new(*options)),
            });
            self.request_ids.insert((user, id), slot);
            if let Some(found) = self.conns.get_mut(index) {
                self.requests.push(&mut found.requests, slot);
            }
            self.start_timer(slot);
            requests.push((self.request_id(slot), id));
        }
        self.count(Some(index), |counters| counters.requests_sent += count as u64);
        let slots: List<u32> = requests.iter().map(|(request, _)| request.index).collect();
        if gathers {
            slots.iter().for_each(|&slot| self.gather_request(index, slot));
        } else if let [slot] = *slots {
            self.send_first(slot, route);
        } else {
            self.send_together(index, &slots, route, dialect, max);
        }
        Ok(requests)
    }

    /// Returns the transaction id of the user's next request.
    pub fn next_transaction(&self, user: UserId) -> Option<u32> {
        let user = self.users.get(user.0 as usize)?;
        Some(following(user.last_id, user.items.min_trans_id, user.items.max_trans_id))
    }

    /// Returns the transaction ids of requests that wait on a connection.
    pub fn waiting_requests(&self, conn: ConnId) -> Vec<u32> {
        let Ok(found) = self.conn(conn) else { return Vec::new() };
        let mut ids: Vec<u32> = self
            .requests
            .iter(found.requests)
            .filter_map(|index| Some(self.requests.get(index)?.id))
            .collect();
        ids.sort_unstable();
        ids
    }

    /// Ids that no request of the user has, each behind the one before it.
    fn next_ids(&self, user: u32, count: usize) -> Result<List<u32>, Error> {
        let Some(found) = self.users.get(user as usize) else { return Err(Error::NoSuchUser) };
        let (min, max) = (found.items.min_trans_id, found.items.max_trans_id);
        let room = (max - min) as usize + 1;
        let mut last = found.last_id;
        let mut ids = List::new();
        // All ids are tried once.
        for _ in 0..room {
            if ids.len() == count {
                break;
            }
            let id = following(last, min, max);
            last = Some(id);
            if !self.request_ids.contains_key(&(user, id)) {
                ids.push(id);
            }
        }
        if ids.len() == count { Ok(ids) } else { Err(Error::LimitReached("max_trans_id")) }
    }

    fn send_first(&mut self, slot: u32, route: Option<crate::route::Route>) {
        let Some(request) = self.requests.get(slot) else { return };
        let conn = request.conn;
        let Kept::Message(octets) = &request.kept else { return };
        let Some(route) = route else { return };
        let octets = Arc::clone(octets);
        // What is gathered was asked for before.
        self.flush(conn);
        self.transmit(Some(conn), route, octets, List::One(Origin::Request(self.request_id(slot))), false);
    }

    /// Sends several requests in as few messages as have room for them.
    fn send_together(
        &mut self,
        conn: u32,
        slots: &[u32],
        route: Option<crate::route::Route>,
        dialect: Dialect,
        max: usize,
    ) {
        self.flush(conn);
        let Some(route) = route else { return };
        let overhead = self.overhead(conn);
        let mut rest = slots;
        while !rest.is_empty() {
            let Some(mid) =
                self.conns.get(conn).and_then(|c| self.users.get(c.user as usize)).map(|u| &u.mid)
            else {
                return;
            };
            let mut size = overhead;
            let pieces: Vec<&[u8]> = rest
                .iter()
                .map_while(|&slot| self.requests.get(slot)?.piece())
                .take_while(|piece| {
                    size += piece.len();
                    size <= max
                })
                .collect();
            let taken = pieces.len().max(1);
            if let Ok(octets) = dialect.join(&self.registry, mid, &pieces) {
                let origins =
                    rest[..taken].iter().map(|&slot| Origin::Request(self.request_id(slot))).collect();
                self.transmit(Some(conn), route, octets.into(), origins, false);
            }
            rest = &rest[taken..];
        }
    }

    /// Sends a request alone.
    pub(super) fn send_request(&mut self, slot: u32, is_resend: bool) {
        let Some(request) = self.requests.get(slot) else { return };
        let conn = request.conn;
        let Some(found) = self.conns.get(conn) else { return };
        let Some(route) = found.route else { return };
        let dialect = Dialect { encoding: request.encoding, version: request.version };
        let octets = match &request.kept {
            Kept::Message(octets) => Arc::clone(octets),
            Kept::Piece(piece) => {
                let Some(user) = self.users.get(found.user as usize) else { return };
                let Ok(octets) = dialect.join(&self.registry, &user.mid, &[piece]) else { return };
                octets.into()
            }
            Kept::Nothing => return,
        };
        self.transmit(
            Some(conn),
            route,
            octets,
            List::One(Origin::Request(self.request_id(slot))),
            is_resend,
        );
    }

    fn start_timer(&mut self, slot: u32) {
        let Some(request) = self.requests.get_mut(slot) else { return };
        self.wheel.stop(&mut request.timer);
        if let Some(wait) = request.running.wait {
            request.timer = self.wheel.start(self.now, wait.into(), Due::Request(slot));
        }
    }

    /// Starts another timer of a request.
    pub(super) fn restart_timer(&mut self, slot: u32, running: Running) {
        if let Some(request) = self.requests.get_mut(slot) {
            request.running = running;
        }
        self.start_timer(slot);
    }

    pub(super) fn request_expired(&mut self, slot: u32) {
        let Some(request) = self.requests.get_mut(slot) else { return };
        request.timer = TimerId::NONE;
        let conn = request.conn;
        let next = request.running.expire();
        match (&request.phase, next) {
            (Phase::Short, Some(running)) => {
                self.restart_timer(slot, running);
                self.resend(conn, slot);
            }
            (Phase::Long, Some(running)) => {
                self.restart_timer(slot, running);
                if self.conns.get(conn).is_some_and(|conn| conn.items.long_request_resend) {
                    self.resend(conn, slot);
                }
            }
            (Phase::Segments(_), Some(running)) => self.restart_timer(slot, running),
            (Phase::Short | Phase::Long, None) => self.finish(slot, Outcome::Timeout),
            (Phase::Segments(_), None) => self.segments_missing(slot),
            (Phase::KeepAlive(_), _) => {
                self.remove_request(slot);
            }
        }
    }

    fn resend(&mut self, conn: u32, slot: u32) {
        self.count(Some(conn), |counters| counters.timer_recovery += 1);
        if self.requests.get(slot).is_some_and(|request| request.is_gathered) {
            // It has not left yet.
            self.flush(conn);
        } else {
            self.send_request(slot, true);
        }
    }

    /// Ends a request with its result.
    pub(super) fn finish(&mut self, slot: u32, outcome: Outcome) {
        let Some(request) = self.requests.get(slot) else { return };
        // The result of this one has been delivered.
        let is_delivered = matches!(request.phase, Phase::KeepAlive(_));
        let conn = request.conn;
        let event = Event::Result {
            conn: self.conn_id(conn),
            request: self.request_id(slot),
            transaction: request.id,
            outcome,
        };
        if !is_delivered {
            self.count_result(conn, matches!(&event, Event::Result { outcome: Outcome::Reply(_), .. }));
            self.events.push_back(event);
        }
        self.remove_request(slot);
    }

    fn count_result(&mut self, conn: u32, is_ok: bool) {
        self.count(Some(conn), |counters| {
            counters.results_ok += u64::from(is_ok);
            counters.results_failed += u64::from(!is_ok);
        });
    }

    fn remove_request(&mut self, slot: u32) {
        let Some(request) = self.requests.get(slot) else { return };
        let (conn, id) = (request.conn, request.id);
        if request.is_gathered {
            let length = request.piece_length().unwrap_or(0);
            self.forget_gathered(conn, slot, length);
        }
        if let Some(found) = self.conns.get_mut(conn) {
            self.requests.unlink(&mut found.requests, slot);
            self.request_ids.remove(&(found.user, id));
        }
        if let Some(mut request) = self.requests.remove(slot) {
            self.wheel.stop(&mut request.timer);
        }
        self.free_if_unused(conn);
    }

    /// The request of a user with an id, if the connection is that which it was sent by.
    fn request_of(&mut self, conn: u32, id: u32) -> Result<u32, Option<u32>> {
        let Some(user) = self.conns.get(conn).map(|conn| conn.user) else { return Err(None) };
        let Some(&slot) = self.request_ids.get(&(user, id)) else { return Err(None) };
        match self.requests.get(slot) {
            Some(request) if request.conn == conn => Ok(slot),
            _ => Err(Some(slot)),
        }
    }

    pub(super) fn pending_received(&mut self, conn: u32, id: u32) {
        let Ok(slot) = self.request_of(conn, id) else {
            return self.unexpected(Some(conn), Unexpected::Pending, id);
        };
        self.count(Some(conn), |counters| counters.pendings_received += 1);
        self.proven(conn);
        let Some(found) = self.conns.get(conn) else { return };
        let items = Arc::clone(&found.items);
        let Some(request) = self.requests.get_mut(slot) else { return };
        if !matches!(request.phase, Phase::Short | Phase::Long) {
            return;
        }
        request.pendings += 1;
        if items.recv_pending_limit.is_passed_by(request.pendings) {
            return self.finish(slot, Outcome::PendingLimit);
        }
        let running = if matches!(request.phase, Phase::Short) {
            request.phase = Phase::Long;
            if !items.long_request_resend && !request.is_gathered {
                request.kept = Kept::Nothing;
            }
            let own = request.options.as_ref().and_then(|options| options.long_request_timer);
            Some(own.unwrap_or(items.long_request_timer).start())
        } else {
            request.running.restart()
        };
        let event = Event::PendingReceived { conn: self.conn_id(conn), transaction: id };
        self.events.push_back(event);
        if let Some(running) = running {
            self.restart_timer(slot, running);
        }
    }

    pub(super) fn reply_received(
        &mut self,
        conn: u32,
        input: &mut Input<'_>,
        id: u32,
        index: usize,
        reply: &TransactionReply<'_>,
    ) {
        let route = input.route;
        let wants_ack = reply.imm_ack_required.is_some();
        let slot = match self.request_of(conn, id) {
            Ok(slot) => {
                self.proven(conn);
                slot
            }
            Err(other) => {
                // The peer sends this until it is acknowledged, whatever became of the request here.
                if let Some(segment) = reply.segment_number {
                    let complete = reply.segmentation_complete.is_some();
                    self.acknowledge_segment(conn, route, id, segment, complete);
                } else if wants_ack || self.conns.get(conn).is_some_and(|conn| conn.items.auto_ack) {
                    self.acknowledge(conn, route, id, wants_ack);
                }
                let kind =
                    if reply.segment_number.is_some() { Unexpected::Segment } else { Unexpected::Reply };
                self.unexpected(Some(conn), kind, id);
                if let Some(other) = other
                    && self.conns.get(conn).is_some_and(|conn| conn.items.wrong_mid == WrongMid::End)
                {
                    let mid = self.conns.get(conn).map_or_else(String::new, |conn| conn.mid_text.to_string());
                    self.finish(other, Outcome::WrongMid(mid));
                }
                return;
            }
        };
        if let Some(segment) = reply.segment_number {
            let complete = reply.segmentation_complete.is_some();
            let received = Reply { message: input.received(), index, segment: Some(segment) };
            self.segment_received(conn, route, slot, segment, complete, received);
            return;
        }
        let acknowledges = self.conns.get(conn).is_some_and(|conn| conn.items.auto_ack);
        if wants_ack || acknowledges {
            self.acknowledge(conn, route, id, wants_ack);
        }
        if let Some(Request { phase: Phase::KeepAlive(number), .. }) = self.requests.get_mut(slot) {
            *number += 1;
            let received = Reply { message: input.received(), index, segment: None };
            let outcome = Outcome::Further(*number, received);
            let request = self.request_id(slot);
            let conn = self.conn_id(conn);
            return self.events.push_back(Event::Result { conn, request, transaction: id, outcome });
        }
        let outcome = match &reply.transaction_result {
            TransactionResult::TransactionError(error) => {
                let (code, text) = wire::code_and_text(error);
                Outcome::Error { code, text }
            }
            TransactionResult::ActionReplies(_) if input.has_handler => {
                input.replied.push((self.request_id(slot), id, index));
                return self.settle(conn, slot, true);
            }
            TransactionResult::ActionReplies(_) => {
                Outcome::Reply(vec![Reply { message: input.received(), index, segment: None }])
            }
        };
        self.deliver_reply(conn, slot, outcome);
    }

    /// Delivers a reply.
    pub(super) fn deliver_reply(&mut self, conn: u32, slot: u32, outcome: Outcome) {
        let is_ok = matches!(outcome, Outcome::Reply(_));
        let event = Event::Result {
            conn: self.conn_id(conn),
            request: self.request_id(slot),
            transaction: self.request_transaction(slot),
            outcome,
        };
        self.events.push_back(event);
        self.settle(conn, slot, is_ok);
    }

    /// Ends a request whose reply is delivered; it stays for a while if further ones are to be numbered.
    fn settle(&mut self, conn: u32, slot: u32, is_ok: bool) {
        self.count_result(conn, is_ok);
        let Some(request) = self.requests.get_mut(slot) else { return };
        if is_ok {
            self.latencies.add(self.now.since(request.since));
        }
        let own = request.options.as_ref().and_then(|options| options.keep_alive);
        let keep = own.or_else(|| self.conns.get(conn).map(|conn| conn.items.request_keep_alive));
        if keep.is_none_or(|keep| keep == Period::millis(0)) || request.is_gathered {
            return self.remove_request(slot);
        }
        request.phase = Phase::KeepAlive(1);
        request.kept = Kept::Nothing;
        let timer = Timer::Plain(keep.unwrap_or(Period::INFINITE));
        self.restart_timer(slot, timer.start());
    }

    pub(super) fn request_not_sent(&mut self, request: RequestId, fault: &SendFault) {
        if self.requests.is_current(request.index, request.generation) {
            let outcome = match fault {
                SendFault::Cancelled(reason) => Outcome::SendCancelled(reason.clone()),
                SendFault::Failed(reason) => Outcome::SendFailed(reason.clone()),
            };
            self.finish(request.index, outcome);
        }
    }

    pub(super) fn cancel_requests(&mut self, conn: u32) {
        let chain = self.conns.get(conn).map_or(Chain::EMPTY, |conn| conn.requests);
        let mut slots: Vec<u32> = self.requests.iter(chain).collect();
        // In the order in which they were made.
        slots.reverse();
        for slot in slots {
            self.finish(slot, Outcome::Cancelled);
        }
    }

    /// Gives the requests of a connection to another one of the same user.
    pub(super) fn absorb_requests(&mut self, old: u32, new: u32) {
        let chain = self.conns.get(old).map_or(Chain::EMPTY, |conn| conn.requests);
        let mut slots: Vec<u32> = self.requests.iter(chain).collect();
        slots.reverse();
        for slot in slots {
            if let Some(conn) = self.conns.get_mut(old) {
                self.requests.unlink(&mut conn.requests, slot);
            }
            if let Some(conn) = self.conns.get_mut(new) {
                self.requests.push(&mut conn.requests, slot);
            }
            if let Some(request) = self.requests.get_mut(slot) {
                request.conn = new;
            }
        }
    }

    pub(super) fn request_transaction(&self, slot: u32) -> u32 {
        self.requests.get(slot).map_or(0, |request| request.id)
    }
}

/// The id behind another one.
const fn following(last: Option<u32>, min: u32, max: u32) -> u32 {
    match last {
        Some(last) if last >= min && last < max => last + 1,
        _ => min,
    }
}
