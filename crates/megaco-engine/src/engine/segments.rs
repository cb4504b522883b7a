//! Replies in segments (H.248.1 8.2.3, from version 3): those that we receive and those that we send.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use tercet_megaco::List;
use tercet_megaco::model::{
    ActionReply, Lenient, SegmentReply, Transaction, TransactionReply, TransactionResult,
};

use super::requester::Phase;
use super::response::State;
use super::{Due, Engine};
use crate::event::{Event, Origin, Outcome, Reply, Unexpected};
use crate::items::Window;
use crate::route::Route;
use crate::time::Timer;
use crate::wheel::TimerId;
use crate::wire::{self, Dialect};

/// Segments of a reply that have come.
#[derive(Debug, Default)]
pub(super) struct Segments {
    received: BTreeMap<u16, Reply>,
    last: Option<u16>,
    octets: usize,
}

impl Segments {
    /// Numbers below that of the last segment which have not come; all that are known to exist, if the last has not come.
    fn missing(&self) -> Vec<u16> {
        let end = self.last.or_else(|| self.received.keys().next_back().copied()).unwrap_or(0);
        let mut missing: Vec<u16> = (1..=end).filter(|number| !self.received.contains_key(number)).collect();
        if self.last.is_none() {
            missing.extend(end.checked_add(1));
        }
        missing
    }
}

/// Segments of a reply that we send.
#[derive(Debug)]
pub(super) struct Sending {
    pub(super) route: Route,
    /// Numbers and messages of those that are on their way.
    unacknowledged: Vec<(u16, Arc<[u8]>)>,
    /// Those that wait for their turn.
    waiting: VecDeque<(u16, Arc<[u8]>)>,
    pub(super) timer: TimerId,
}

impl Sending {
    pub(super) fn octets(&self) -> usize {
        let all = self.unacknowledged.iter().chain(&self.waiting);
        all.map(|(_, octets)| octets.len()).sum()
    }
}

/// The error that a segment holds in place of action replies.
fn error_of(reply: &Reply) -> Option<Outcome> {
    let transactions = reply.message.transactions();
    let Some(Transaction::TransactionReply(reply)) = transactions.get(reply.index) else { return None };
    let TransactionResult::TransactionError(error) = &reply.transaction_result else { return None };
    let (code, text) = wire::code_and_text(error);
    Some(Outcome::Error { code, text })
}

impl Engine {
    pub(super) fn acknowledge_segment(
        &mut self,
        conn: u32,
        route: Route,
        id: u32,
        segment: u16,
        complete: bool,
    ) {
        let dialect = Dialect { version: 3, ..self.dialect(conn) };
        let reply = SegmentReply {
            transaction_id: id,
            segment_number: segment,
            segmentation_complete: complete.then_some(()),
        };
        self.send_at_once(conn, route, dialect, Transaction::SegmentReply(reply), None);
    }

    pub(super) fn segment_received(
        &mut self,
        conn: u32,
        route: Route,
        slot: u32,
        number: u16,
        complete: bool,
        reply: Reply,
    ) {
        let id = self.request_transaction(slot);
        self.acknowledge_segment(conn, route, id, number, complete);
        let Some(items) = self.conns.get(conn).map(|conn| Arc::clone(&conn.items)) else { return };
        let Some(request) = self.requests.get_mut(slot) else { return };
        if matches!(request.phase, Phase::KeepAlive(_)) {
            return self.unexpected(Some(conn), Unexpected::Segment, id);
        }
        let is_first = !matches!(request.phase, Phase::Segments(_));
        if is_first {
            request.phase = Phase::Segments(Box::default());
        }
        let Phase::Segments(segments) = &mut request.phase else { return };
        let is_new = !segments.received.contains_key(&number);
        let had_last = segments.last.is_some();
        if is_new {
            segments.octets += reply.message.octets().len();
            segments.received.insert(number, reply);
        }
        if complete {
            segments.last.get_or_insert(number);
        }
        let is_too_large = segments.received.len() > items.max_segments as usize
            || segments.octets > items.max_segment_octets as usize
            || segments.last.is_some_and(|last| u32::from(last) > items.max_segments);
        let is_complete =
            segments.last.is_some_and(|last| segments.received.range(1..=last).count() == usize::from(last));
        let has_last = segments.last.is_some();
        if is_new {
            self.count(Some(conn), |counters| counters.segments_received += 1);
        }
        if is_too_large {
            return self.finish(slot, Outcome::SegmentLimit);
        }
        if is_complete {
            let Some(request) = self.requests.get_mut(slot) else { return };
            let Phase::Segments(segments) = &mut request.phase else { return };
            let replies: Vec<Reply> = std::mem::take(&mut segments.received).into_values().collect();
            // Each segment has been acknowledged; this acknowledges the reply.
            self.acknowledge(conn, route, id, true);
            let error = replies.iter().find_map(error_of);
            return self.deliver_reply(conn, slot, error.unwrap_or(Outcome::Reply(replies)));
        }
        if has_last && !had_last {
            self.restart_timer(slot, items.segment_recv_timer.start());
        } else if is_first {
            // The last segment may never come.
            let millis = items.long_request_timer.total_millis().unwrap_or(60_000);
            let millis = u32::try_from(millis).unwrap_or(u32::MAX);
            self.restart_timer(slot, Timer::millis(millis).start());
        }
    }

    /// The time for missing segments is over: the peer is told which (error 459).
    pub(super) fn segments_missing(&mut self, slot: u32) {
        let Some(request) = self.requests.get_mut(slot) else { return };
        let conn = request.conn;
        let Phase::Segments(segments) = &mut request.phase else { return };
        let missing = segments.missing();
        let received: Vec<Reply> = std::mem::take(&mut segments.received).into_values().collect();
        let numbers: Vec<String> = missing.iter().map(u16::to_string).collect();
        if let Some(found) = self.conns.get(conn)
            && let Some(route) = found.route
        {
            let (user, dialect) = (found.user, self.dialect(conn));
            self.message_error(user, route, dialect, 459, &numbers.join(","));
        }
        self.finish(slot, Outcome::SegmentTimeout { missing, received });
    }

    /// Encodes a reply in segments of at most so many octets; `None` if it has a single action or cannot be encoded.
    pub(super) fn segment(
        &self,
        user: u32,
        dialect: Dialect,
        id: u32,
        imm_ack_required: Option<()>,
        actions: &[ActionReply<'_>],
        max: usize,
    ) -> Option<Vec<(u16, Arc<[u8]>)>> {
        let mid = &self.users.get(user as usize)?.mid;
        let mut scratch = Vec::new();
        let mut encode = |actions: &[ActionReply<'_>], number: u16, is_last: bool| {
            let reply = TransactionReply {
                transaction_id: Lenient(Some(id)),
                imm_ack_required,
                transaction_result: TransactionResult::ActionReplies(actions.iter().cloned().collect()),
                segment_number: Some(number),
                segmentation_complete: is_last.then_some(()),
            };
            let reply = List::One(Transaction::TransactionReply(reply));
            dialect.message(&self.registry, mid, reply, &mut scratch).ok()
        };
        let mut fits = |actions: &[ActionReply<'_>]| {
            encode(actions, u16::MAX, true).is_some_and(|octets| octets.len() <= max)
        };
        let mut segments: Vec<&[ActionReply<'_>]> = Vec::new();
        let mut rest = actions;
        while !rest.is_empty() {
            // As many actions as fit, by halving: an action that is too large alone is a segment nevertheless.
            let (mut good, mut bad) = (1, rest.len() + 1);
            while bad - good > 1 {
                let middle = good + (bad - good) / 2;
                if fits(&rest[..middle]) { good = middle } else { bad = middle }
            }
            let (segment, others) = rest.split_at(good);
            segments.push(segment);
            rest = others;
        }
        let last = u16::try_from(segments.len()).ok().filter(|&last| last > 1)?;
        let numbered = (1..).zip(segments);
        numbered.map(|(number, actions)| Some((number, encode(actions, number, number == last)?))).collect()
    }

    /// Begins to send segments.
    pub(super) fn send_segments(
        &mut self,
        slot: u32,
        conn: u32,
        route: Route,
        segments: Vec<(u16, Arc<[u8]>)>,
    ) -> Box<Sending> {
        let timer = self.start_resend(slot, conn);
        let mut sending =
            Box::new(Sending { route, unacknowledged: Vec::new(), waiting: segments.into(), timer });
        self.fill_window(slot, conn, &mut sending);
        sending
    }

    fn start_resend(&mut self, slot: u32, conn: u32) -> TimerId {
        let wait = self.conns.get(conn).and_then(|conn| conn.items.segment_send_timer.as_millis());
        wait.map_or(TimerId::NONE, |wait| self.wheel.start(self.now, wait.into(), Due::Resend(slot)))
    }

    fn fill_window(&mut self, slot: u32, conn: u32, sending: &mut Sending) {
        let window = match self.conns.get(conn).map(|conn| conn.items.segment_send) {
            Some(Window::Segments(count)) => count as usize,
            Some(Window::All) => usize::MAX,
            // It was changed while segments are on their way.
            Some(Window::None) | None => 1,
        };
        while sending.unacknowledged.len() < window
            && let Some((number, octets)) = sending.waiting.pop_front()
        {
            sending.unacknowledged.push((number, Arc::clone(&octets)));
            self.count(Some(conn), |counters| counters.segments_sent += 1);
            let origins = List::One(Origin::Reply(self.token(slot)));
            self.transmit(Some(conn), sending.route, octets, origins, false);
        }
    }

    /// Sends the segments again that are on their way.
    pub(super) fn send_again(&mut self, slot: u32, conn: u32, route: Option<Route>) {
        let Some(sending) = self.responses.get(slot).and_then(|response| response.sending()) else { return };
        let route = route.unwrap_or(sending.route);
        let all: Vec<Arc<[u8]>> =
            sending.unacknowledged.iter().map(|(_, octets)| Arc::clone(octets)).collect();
        for octets in all {
            self.transmit(Some(conn), route, octets, List::One(Origin::Reply(self.token(slot))), true);
        }
    }

    pub(super) fn resend_segments(&mut self, slot: u32) {
        let Some(conn) = self.responses.get(slot).map(|response| response.conn) else { return };
        self.count(Some(conn), |counters| counters.timer_recovery += 1);
        self.send_again(slot, conn, None);
        let timer = self.start_resend(slot, conn);
        match self.responses.get_mut(slot).and_then(|response| response.sending_mut()) {
            Some(sending) => sending.timer = timer,
            None => {
                let mut timer = timer;
                self.wheel.stop(&mut timer);
            }
        }
    }

    pub(super) fn segment_acked(&mut self, conn: u32, segment: &SegmentReply) {
        let (id, number) = (segment.transaction_id, segment.segment_number);
        let slot = self.response_ids.get(&(conn, id)).copied();
        let taken = slot.and_then(|slot| self.responses.get_mut(slot)?.take_sending());
        let (Some(slot), Some(mut sending)) = (slot, taken) else {
            return self.unexpected(Some(conn), Unexpected::Segment, id);
        };
        let Some(place) = sending.unacknowledged.iter().position(|(known, _)| *known == number) else {
            if let Some(response) = self.responses.get_mut(slot) {
                response.set_sending(sending);
            }
            return self.unexpected(Some(conn), Unexpected::Segment, id);
        };
        let (_, octets) = sending.unacknowledged.remove(place);
        self.reply_octets = self.reply_octets.saturating_sub(octets.len());
        let complete = sending.unacknowledged.is_empty() && sending.waiting.is_empty();
        if self.conns.get(conn).is_some_and(|conn| conn.items.segment_reply_ind) {
            let complete = segment.segmentation_complete.is_some();
            let conn = self.conn_id(conn);
            self.events.push_back(Event::Segment { conn, transaction: id, segment: number, complete });
        }
        self.wheel.stop(&mut sending.timer);
        if complete {
            self.reply_acked(slot);
            if let Some(response) = self.responses.get_mut(slot) {
                response.state = State::Done { expects_ack: true };
            }
            return;
        }
        sending.timer = self.start_resend(slot, conn);
        self.fill_window(slot, conn, &mut sending);
        if let Some(response) = self.responses.get_mut(slot) {
            response.set_sending(sending);
        }
    }
}
