//! What is sent: messages in pieces, again if they are lost, no faster than network and peer take them (RFC 9260 clauses 6.1,
//! 6.3, 7.2).

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use super::packet::{DATA_HEADER, Data, HEADER, Packet, Sack};
use crate::time::Time;

/// The octets of a packet, with its common header: with those of IP version 6 and UDP it fits into any path (RFC 8200 5).
pub(super) const PACKET: usize = 1_200;
/// The octets of a piece.
const PIECE: usize = PACKET - HEADER - DATA_HEADER;
/// The largest congestion window.
const MOST_WINDOW: usize = 1 << 20;
/// How many acknowledgements miss a piece before it is lost.
const MOST_MISSED: u8 = 3;

const FIRST_TIMEOUT: Duration = Duration::from_secs(1);
const LEAST_TIMEOUT: Duration = Duration::from_secs(1);
/// A signalling network has no use for the minute of RFC 9260: a gateway looks for another controller before.
pub(super) const LONGEST_TIMEOUT: Duration = Duration::from_secs(5);

/// A message that is not sent whole.
#[derive(Debug)]
struct Waiting {
    octets: Arc<[u8]>,
    start: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// In the network, as far as is known.
    Sent,
    /// To be sent again.
    Lost,
    /// Arrived beyond something that is missing.
    Arrived,
}

/// A piece that is not acknowledged for good.
#[derive(Debug)]
struct Piece {
    octets: Arc<[u8]>,
    start: usize,
    end: usize,
    sequence: u16,
    state: State,
    missed: u8,
    is_repeated: bool,
    sent: Time,
}

impl Piece {
    const fn len(&self) -> usize {
        self.end - self.start
    }

    fn is_last(&self) -> bool {
        self.end == self.octets.len()
    }
}

/// The sending half of an association.
#[derive(Debug)]
pub(super) struct Sender {
    protocol: u32,
    waiting: VecDeque<Waiting>,
    /// The number before that of the first piece.
    cumulative: u32,
    pieces: VecDeque<Piece>,
    sequence: u16,
    /// Octets of the pieces in the state of being sent.
    flight: usize,
    lost: usize,
    /// What the peer can take beside what is in flight.
    room: usize,
    congestion_window: usize,
    threshold: usize,
    /// Octets acknowledged since the congestion window grew.
    acknowledged: usize,
    /// The number whose acknowledgement ends a fast recovery.
    recovery: Option<u32>,
    /// The first piece of a fast retransmission does not wait for the congestion window.
    at_once: bool,
    round_trip: Option<(Duration, Duration)>,
    timeout: Duration,
    due: Option<Time>,
    /// Since when nothing was acknowledged of what is to be sent.
    stalled: Option<Time>,
    /// Expiries without an answer.
    errors: u32,
    /// Messages that have arrived since the last look.
    finished: usize,
}

impl Sender {
    pub(super) fn new(first: u32, room: u32, protocol: u32) -> Self {
        Self {
            protocol,
            waiting: VecDeque::new(),
            cumulative: first.wrapping_sub(1),
            pieces: VecDeque::new(),
            sequence: 0,
            flight: 0,
            lost: 0,
            room: room as usize,
            congestion_window: (4 * PACKET).min((2 * PACKET).max(4404)),
            threshold: room as usize,
            acknowledged: 0,
            recovery: None,
            at_once: false,
            round_trip: None,
            timeout: FIRST_TIMEOUT,
            due: None,
            stalled: None,
            errors: 0,
            finished: 0,
        }
    }

    /// Queues a message; an empty one is nothing.
    pub(super) fn push(&mut self, now: Time, octets: Arc<[u8]>) {
        if octets.is_empty() {
            self.finished += 1;
            return;
        }
        self.stalled.get_or_insert(now);
        self.waiting.push_back(Waiting { octets, start: 0 });
    }

    /// Takes the messages that wait in another half, which has sent nothing.
    pub(super) fn take_waiting(&mut self, now: Time, other: Self) {
        for waiting in other.waiting {
            self.push(now, waiting.octets);
        }
    }

    /// Returns whether all has arrived.
    pub(super) fn is_done(&self) -> bool {
        self.waiting.is_empty() && self.pieces.is_empty()
    }

    /// Returns how many messages have arrived since the last call.
    pub(super) const fn take_finished(&mut self) -> usize {
        std::mem::replace(&mut self.finished, 0)
    }

    pub(super) const fn due(&self) -> Option<Time> {
        self.due
    }

    pub(super) const fn stalled(&self) -> Option<Time> {
        self.stalled
    }

    pub(super) const fn errors(&self) -> u32 {
        self.errors
    }

    /// Returns whether it is the peer that takes nothing more.
    pub(super) const fn is_refused(&self) -> bool {
        self.room == 0
    }

    /// Returns whether there is something that may be sent.
    pub(super) fn has_data(&self) -> bool {
        if self.lost > 0 {
            return self.at_once || self.flight < self.congestion_window;
        }
        let Some(waiting) = self.waiting.front() else { return false };
        let length = (waiting.octets.len() - waiting.start).min(PIECE);
        // One piece asks a peer that has no room whether it has some again (6.1 A).
        self.pieces.is_empty() || self.flight < self.congestion_window && length <= self.room
    }

    /// Writes pieces as long as there is room in the packet and the network.
    pub(super) fn write(&mut self, now: Time, packet: &mut Packet) {
        if self.lost > 0 {
            self.write_lost(now, packet);
        }
        while self.lost == 0
            && self.has_data()
            && let Some(waiting) = self.waiting.front_mut()
        {
            let start = waiting.start;
            let end = waiting.octets.len().min(start + PIECE);
            if packet.len() + DATA_HEADER + end - start > PACKET {
                break;
            }
            let octets = Arc::clone(&waiting.octets);
            let sequence = self.sequence;
            waiting.start = end;
            if end == octets.len() {
                self.waiting.pop_front();
                self.sequence = self.sequence.wrapping_add(1);
            }
            let (state, missed, is_repeated) = (State::Sent, 0, false);
            let piece = Piece { octets, start, end, sequence, state, missed, is_repeated, sent: now };
            self.flight += piece.len();
            self.room = self.room.saturating_sub(piece.len());
            self.pieces.push_back(piece);
            self.write_piece(self.pieces.len() - 1, packet);
            self.due.get_or_insert_with(|| now.after(self.timeout));
        }
    }

    fn write_lost(&mut self, now: Time, packet: &mut Packet) {
        let is_at_once = self.at_once;
        for index in 0..self.pieces.len() {
            let piece = &mut self.pieces[index];
            if piece.state != State::Lost {
                continue;
            }
            if packet.len() + DATA_HEADER + piece.len() > PACKET {
                return;
            }
            if !is_at_once && self.flight >= self.congestion_window {
                return;
            }
            self.at_once = false;
            piece.state = State::Sent;
            piece.missed = 0;
            piece.is_repeated = true;
            piece.sent = now;
            self.flight += piece.len();
            self.lost -= 1;
            // It is the earliest piece that the timer is for (6.3.2 R1).
            if index == 0 || self.due.is_none() {
                self.due = Some(now.after(self.timeout));
            }
            self.write_piece(index, packet);
            if self.lost == 0 {
                return;
            }
        }
    }

    fn write_piece(&self, index: usize, packet: &mut Packet) {
        let piece = &self.pieces[index];
        packet.data(&Data {
            tsn: self.cumulative.wrapping_add(index as u32 + 1),
            stream: 0,
            sequence: piece.sequence,
            protocol: self.protocol,
            is_first: piece.start == 0,
            is_last: piece.is_last(),
            is_urgent: false,
            octets: &piece.octets[piece.start..piece.end],
        });
    }

    /// Takes the cumulative number of a SHUTDOWN.
    pub(super) fn cumulative_ack(&mut self, now: Time, cumulative: u32) {
        self.arrived(now, cumulative);
    }

    /// Takes an acknowledgement.
    pub(super) fn ack(&mut self, now: Time, sack: &Sack<'_>) {
        let was_full = self.flight + PIECE > self.congestion_window;
        let Some(octets) = self.arrived(now, sack.cumulative) else { return };
        // The peer is there, even if it takes nothing.
        self.errors = 0;
        self.gaps(sack);
        if octets > 0 && self.recovery.is_none() {
            self.grow(octets, was_full);
        }
        self.room = (sack.window as usize).saturating_sub(self.flight);
    }

    /// Forgets pieces up to a number. Returns their octets, or nothing if the number is old or was never sent.
    fn arrived(&mut self, now: Time, cumulative: u32) -> Option<usize> {
        let count = cumulative.wrapping_sub(self.cumulative) as usize;
        if count > self.pieces.len() {
            return None;
        }
        let mut octets = 0;
        for piece in self.pieces.drain(..count) {
            octets += piece.len();
            match piece.state {
                State::Sent => self.flight -= piece.len(),
                State::Lost => self.lost -= 1,
                State::Arrived => {}
            }
            self.finished += usize::from(piece.is_last());
            // What was sent twice does not tell which of both was acknowledged (6.3.1 C5).
            if !piece.is_repeated && piece.state == State::Sent {
                let measured = now.since(piece.sent);
                let (smoothed, variation) = match self.round_trip {
                    None => (measured, measured / 2),
                    Some((smoothed, variation)) => {
                        ((smoothed * 7 + measured) / 8, (variation * 3 + smoothed.abs_diff(measured)) / 4)
                    }
                };
                self.round_trip = Some((smoothed, variation));
                self.timeout = (smoothed + variation * 4).clamp(LEAST_TIMEOUT, LONGEST_TIMEOUT);
            }
        }
        self.cumulative = cumulative;
        if count > 0 {
            self.errors = 0;
            self.due = (!self.pieces.is_empty()).then(|| now.after(self.timeout));
            self.stalled = (!self.is_done()).then_some(now);
            if self.recovery.is_some_and(|last| cumulative.wrapping_sub(last) as i32 >= 0) {
                self.recovery = None;
            }
        }
        Some(octets)
    }

    /// Marks what has arrived beyond the cumulative number, and what is missing before that (7.2.4).
    fn gaps(&mut self, sack: &Sack<'_>) {
        let (mut newest, mut before) = (None, 0);
        for (first, last) in sack.gaps() {
            let (first, last) = (usize::from(first), usize::from(last).min(self.pieces.len()));
            // Runs are in order and apart; whatever else is here is not looked at.
            if first <= before || last < first {
                break;
            }
            before = last;
            for (index, piece) in self.pieces.range_mut(first - 1..last).enumerate() {
                match piece.state {
                    State::Sent => self.flight -= piece.len(),
                    State::Lost => self.lost -= 1,
                    State::Arrived => continue,
                }
                piece.state = State::Arrived;
                newest = Some(first - 1 + index);
            }
        }
        let Some(newest) = newest else { return };
        let mut is_lost = false;
        for piece in self.pieces.range_mut(..newest).filter(|piece| piece.state == State::Sent) {
            piece.missed += 1;
            if piece.missed >= MOST_MISSED {
                piece.state = State::Lost;
                self.flight -= piece.len();
                self.lost += 1;
                is_lost = true;
            }
        }
        if is_lost && self.recovery.is_none() {
            self.threshold = (self.congestion_window / 2).max(4 * PACKET);
            self.congestion_window = self.threshold;
            self.acknowledged = 0;
            self.recovery = Some(self.cumulative.wrapping_add(self.pieces.len() as u32));
            self.at_once = true;
        }
    }

    /// Lets the congestion window grow (7.2.1, 7.2.2).
    fn grow(&mut self, octets: usize, was_full: bool) {
        if self.congestion_window <= self.threshold {
            if was_full {
                self.congestion_window += octets.min(PACKET);
            }
        } else {
            self.acknowledged += octets;
            if self.acknowledged >= self.congestion_window {
                self.acknowledged -= self.congestion_window;
                self.congestion_window += if was_full { PACKET } else { 0 };
            }
        }
        self.congestion_window = self.congestion_window.min(MOST_WINDOW);
    }

    /// Counts as lost what was not acknowledged in time (6.3.3).
    pub(super) fn handle_timeout(&mut self, now: Time) {
        if self.due.is_none_or(|due| due > now) {
            return;
        }
        self.due = None;
        if self.pieces.is_empty() {
            return;
        }
        self.threshold = (self.congestion_window / 2).max(4 * PACKET);
        self.congestion_window = PACKET;
        self.acknowledged = 0;
        self.recovery = None;
        self.errors += 1;
        self.timeout = (self.timeout * 2).min(LONGEST_TIMEOUT);
        // What has arrived beyond a gap may have been thrown away since (6.2).
        for piece in &mut self.pieces {
            piece.state = State::Lost;
        }
        (self.lost, self.flight) = (self.pieces.len(), 0);
    }
}
