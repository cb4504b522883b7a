//! Acknowledgements of replies, and what is forgotten.

use tercet_megaco::model::TransactionAck;

use super::responder::LONG_TIMER_MILLIS;
use super::response::State;
use super::{Due, Engine};
use crate::event::{AckStatus, Event, SendFault, Token, Unexpected};
use crate::slab::Chain;

impl Engine {
    pub(super) fn acks_received(&mut self, conn: u32, acks: &[TransactionAck]) {
        // The cost is that of the ranges and of what is remembered, whatever the width of a range.
        let mut ranges: Vec<(u32, u32)> = acks
            .iter()
            .map(|ack| (ack.first_ack, ack.last_ack.unwrap_or(ack.first_ack)))
            .filter(|(first, last)| first <= last)
            .collect();
        ranges.sort_unstable();
        ranges.dedup_by(|next, range| {
            let meets = next.0 <= range.1.saturating_add(1);
            if meets {
                range.1 = range.1.max(next.1);
            }
            meets
        });
        let chain = self.conns.get(conn).map_or(Chain::EMPTY, |conn| conn.responses);
        let width: u64 = ranges.iter().map(|(first, last)| u64::from(last - first) + 1).sum();
        let mut slots: Vec<u32> = if width <= chain.len() as u64 {
            let ids = ranges.iter().flat_map(|&(first, last)| first..=last);
            ids.filter_map(|id| self.response_ids.get(&(conn, id)).copied()).collect()
        } else {
            let in_range = |id: u32| {
                let place = ranges.partition_point(|range| range.1 < id);
                ranges.get(place).is_some_and(|range| range.0 <= id)
            };
            let all = self.responses.iter(chain);
            all.filter(|&slot| self.responses.get(slot).is_some_and(|response| in_range(response.id)))
                .collect()
        };
        slots.sort_unstable_by_key(|&slot| self.responses.get(slot).map_or(0, |response| response.id));
        let mut is_known = false;
        for slot in slots {
            match self.responses.get(slot).map(|response| &response.state) {
                Some(State::Answered(..) | State::Aborted(_)) => {
                    is_known = true;
                    self.proven(conn);
                    self.reply_acked(slot);
                }
                Some(State::Done { expects_ack: true }) => {
                    is_known = true;
                    if let Some(response) = self.responses.get_mut(slot) {
                        response.state = State::Done { expects_ack: false };
                    }
                }
                // A copy of the acknowledgement.
                Some(State::Done { expects_ack: false }) => is_known = true,
                Some(State::Executing(_)) | None => {}
            }
        }
        if !is_known && let Some(range) = ranges.first() {
            self.unexpected(Some(conn), Unexpected::Ack, range.0);
        }
    }

    /// A reply has arrived: its octets are freed, its id is remembered.
    pub(super) fn reply_acked(&mut self, slot: u32) {
        let Some(conn) = self.responses.get(slot).map(|response| response.conn) else { return };
        self.count(Some(conn), |counters| counters.acks_received += 1);
        self.ack_ended(slot, AckStatus::Acknowledged);
        let Some(response) = self.responses.get_mut(slot) else { return };
        self.reply_octets = self.reply_octets.saturating_sub(response.octets());
        let old = std::mem::replace(&mut response.state, State::Done { expects_ack: false });
        if let State::Answered(_, Some(mut awaiting)) = old {
            if let Some(sending) = &mut awaiting.sending {
                self.wheel.stop(&mut sending.timer);
            }
            self.wheel.stop(&mut response.timer);
            let millis = awaiting.running.remaining_millis().unwrap_or(LONG_TIMER_MILLIS);
            response.timer = self.wheel.start(self.now, millis, Due::Response(slot));
        } else if !response.timer.is_some() {
            // A reply that was never to be forgotten.
            response.timer = self.wheel.start(self.now, LONG_TIMER_MILLIS, Due::Response(slot));
        }
    }

    /// Tells the user about the end of the wait for an acknowledgement, once.
    pub(super) fn ack_ended(&mut self, slot: u32, status: AckStatus) {
        let Some(response) = self.responses.get_mut(slot) else { return };
        let (conn, transaction) = (response.conn, response.id);
        if let State::Answered(_, Some(awaiting)) = &mut response.state
            && std::mem::take(&mut awaiting.ack.is_wanted)
        {
            let conn = self.conn_id(conn);
            self.events.push_back(Event::Ack { conn, transaction, status });
        }
    }

    pub(super) fn reply_not_sent(&mut self, token: Token, fault: &SendFault) {
        if self.responses.is_current(token.index, token.generation) {
            let (SendFault::Cancelled(reason) | SendFault::Failed(reason)) = fault;
            self.ack_ended(token.index, AckStatus::SendFailed(reason.clone()));
        }
    }

    /// Ends the waits for acknowledgements of a connection. What was answered stays remembered.
    pub(super) fn cancel_acks(&mut self, conn: u32) {
        let chain = self.conns.get(conn).map_or(Chain::EMPTY, |conn| conn.responses);
        let mut slots: Vec<u32> = self.responses.iter(chain).collect();
        slots.reverse();
        for slot in slots {
            self.ack_ended(slot, AckStatus::Cancelled);
        }
    }

    /// Forgets all requests of a peer, also those that are executed.
    pub(super) fn forget_all(&mut self, conn: u32) {
        let chain = self.conns.get(conn).map_or(Chain::EMPTY, |conn| conn.responses);
        let slots: Vec<u32> = self.responses.iter(chain).collect();
        for slot in slots {
            self.stop_execution(slot);
            self.ack_ended(slot, AckStatus::Cancelled);
            self.forget(slot);
        }
    }

    pub(super) fn forget(&mut self, slot: u32) {
        let Some(response) = self.responses.get_mut(slot) else { return };
        let (conn, id, octets) = (response.conn, response.id, response.octets());
        let mut timer = response.timer;
        let sending = response.take_sending();
        self.wheel.stop(&mut timer);
        if let Some(mut sending) = sending {
            self.wheel.stop(&mut sending.timer);
        }
        self.reply_octets = self.reply_octets.saturating_sub(octets);
        self.response_ids.remove(&(conn, id));
        if let Some(found) = self.conns.get_mut(conn) {
            self.responses.unlink(&mut found.responses, slot);
        }
        self.responses.remove(slot);
        self.free_if_unused(conn);
    }

    /// Gives what is remembered of a peer to another connection with it.
    pub(super) fn absorb_responses(&mut self, old: u32, new: u32) {
        let chain = self.conns.get(old).map_or(Chain::EMPTY, |conn| conn.responses);
        let mut slots: Vec<u32> = self.responses.iter(chain).collect();
        slots.reverse();
        for slot in slots {
            if let Some(conn) = self.conns.get_mut(old) {
                self.responses.unlink(&mut conn.responses, slot);
            }
            if let Some(conn) = self.conns.get_mut(new) {
                self.responses.push(&mut conn.responses, slot);
            }
            let Some(response) = self.responses.get_mut(slot) else { continue };
            response.conn = new;
            let id = response.id;
            self.response_ids.remove(&(old, id));
            self.response_ids.insert((new, id), slot);
        }
    }
}
