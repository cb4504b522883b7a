//! What arrives: numbers are acknowledged, pieces become messages (RFC 9260 clauses 6.2, 6.6, 6.9).
//!
//! Messages are delivered in the order of their numbers over all streams. A sender that uses several streams keeps the order
//! within each; a message that is lost then delays those of other streams too.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use super::packet::{Data, Packet};
use crate::time::Time;

/// How long an acknowledgement may wait for a second packet.
const DELAY: Duration = Duration::from_millis(200);
/// How far a number may be beyond those that have all arrived.
const MOST_AHEAD: u32 = 4096;
/// What a piece that waits costs beside its octets.
const OVERHEAD: usize = 64;
/// Runs, and repeated numbers, that an acknowledgement lists.
const MOST_GAPS: usize = 64;
const MOST_DUPLICATES: usize = 16;
/// The octets of the largest acknowledgement.
pub(super) const MOST_ACK: usize = 16 + MOST_GAPS * 4 + MOST_DUPLICATES * 4;

/// A peer that does not keep to the protocol: why the association ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Violation(pub(super) &'static str);

/// A piece of a message.
#[derive(Debug)]
struct Piece {
    stream: u16,
    sequence: u16,
    is_first: bool,
    is_last: bool,
    octets: Vec<u8>,
}

/// A message whose last piece is missing.
#[derive(Debug)]
struct Partial {
    stream: u16,
    sequence: u16,
    octets: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owed {
    Nothing,
    Until(Time),
    Now,
}

/// The receiving half of an association.
#[derive(Debug)]
pub(super) struct Receiver {
    /// The last number before which all have arrived.
    cumulative: u32,
    /// Pieces beyond it, by their distance from the first number of all.
    beyond: BTreeMap<u64, Piece>,
    /// The distance of the cumulative number.
    position: u64,
    partial: Option<Partial>,
    messages: VecDeque<Vec<u8>>,
    /// Octets of pieces that wait, with their overhead.
    buffered: usize,
    window: usize,
    most: usize,
    owed: Owed,
    packets: u8,
    duplicates: Vec<u32>,
}

impl Receiver {
    /// Expects numbers from the first one on; takes messages up to a size, and so many octets that wait.
    pub(super) const fn new(first: u32, window: usize, most: usize) -> Self {
        Self {
            cumulative: first.wrapping_sub(1),
            beyond: BTreeMap::new(),
            position: 0,
            partial: None,
            messages: VecDeque::new(),
            buffered: 0,
            window,
            most,
            owed: Owed::Nothing,
            packets: 0,
            duplicates: Vec::new(),
        }
    }

    pub(super) const fn cumulative(&self) -> u32 {
        self.cumulative
    }

    pub(super) fn take_message(&mut self) -> Option<Vec<u8>> {
        self.messages.pop_front()
    }

    /// Returns whether a message has begun whose end is missing.
    pub(super) fn is_within(&self) -> bool {
        self.partial.is_some() || !self.beyond.is_empty()
    }

    /// When an acknowledgement is due.
    pub(super) const fn due(&self) -> Option<Time> {
        match self.owed {
            Owed::Until(due) => Some(due),
            Owed::Nothing | Owed::Now => None,
        }
    }

    pub(super) fn handle_timeout(&mut self, now: Time) {
        if self.due().is_some_and(|due| due <= now) {
            self.owed = Owed::Now;
        }
    }

    /// Acknowledges what has arrived with the next packet.
    pub(super) const fn acknowledge(&mut self) {
        self.owed = Owed::Now;
    }

    /// A packet with data has been processed: every second one is acknowledged at once.
    pub(super) fn end_packet(&mut self, now: Time) {
        self.packets += 1;
        if self.packets >= 2 || !self.beyond.is_empty() {
            self.owed = Owed::Now;
        } else if self.owed == Owed::Nothing {
            self.owed = Owed::Until(now.after(DELAY));
        }
    }

    /// Takes a piece.
    pub(super) fn data(&mut self, data: &Data<'_>) -> Result<(), Violation> {
        if data.octets.is_empty() {
            return Err(Violation("a piece without data"));
        }
        if data.is_urgent {
            self.owed = Owed::Now;
        }
        let ahead = data.tsn.wrapping_sub(self.cumulative);
        let is_old = ahead == 0 || ahead > u32::MAX / 2;
        let position = self.position + u64::from(ahead);
        if is_old || self.beyond.contains_key(&position) {
            self.owed = Owed::Now;
            if self.duplicates.len() < MOST_DUPLICATES {
                self.duplicates.push(data.tsn);
            }
            return Ok(());
        }
        let cost = data.octets.len() + OVERHEAD;
        // The next one is always taken: it is what the others wait for. A message has its own limit.
        if ahead > MOST_AHEAD || ahead > 1 && self.buffered + cost > self.window {
            self.owed = Owed::Now;
            return Ok(());
        }
        self.buffered += cost;
        let piece = Piece {
            stream: data.stream,
            sequence: data.sequence,
            is_first: data.is_first,
            is_last: data.is_last,
            octets: data.octets.to_vec(),
        };
        self.beyond.insert(position, piece);
        while let Some(entry) = self.beyond.first_entry()
            && *entry.key() == self.position + 1
        {
            let piece = entry.remove();
            self.position += 1;
            self.cumulative = self.cumulative.wrapping_add(1);
            self.buffered = self.buffered.saturating_sub(piece.octets.len() + OVERHEAD);
            self.join(piece)?;
        }
        Ok(())
    }

    /// Adds the next piece to its message.
    fn join(&mut self, piece: Piece) -> Result<(), Violation> {
        let mut message = match (self.partial.take(), piece.is_first) {
            (None, true) => Partial { stream: piece.stream, sequence: piece.sequence, octets: Vec::new() },
            (Some(partial), false)
                if (partial.stream, partial.sequence) == (piece.stream, piece.sequence) =>
            {
                partial
            }
            (None, false) => return Err(Violation("a message without a beginning")),
            (Some(_), _) => return Err(Violation("a message without an end")),
        };
        if message.octets.len() + piece.octets.len() > self.most {
            return Err(Violation("a message too large"));
        }
        if message.octets.is_empty() {
            message.octets = piece.octets;
        } else {
            message.octets.extend_from_slice(&piece.octets);
        }
        if piece.is_last {
            self.messages.push_back(message.octets);
        } else {
            self.partial = Some(message);
        }
        Ok(())
    }

    /// The octets that the peer may send.
    pub(super) fn room(&self) -> u32 {
        let partial = self.partial.as_ref().map_or(0, |partial| partial.octets.len());
        u32::try_from(self.window.saturating_sub(self.buffered + partial)).unwrap_or(u32::MAX)
    }

    /// Writes an acknowledgement if one is owed, or may share a packet with data.
    pub(super) fn write_ack(&mut self, packet: &mut Packet, has_data: bool) {
        match self.owed {
            Owed::Now => {}
            Owed::Until(_) if has_data => {}
            Owed::Until(_) | Owed::Nothing => return,
        }
        let mut gaps: Vec<(u16, u16)> = Vec::new();
        for &position in self.beyond.keys() {
            let distance = u16::try_from(position - self.position).unwrap_or(u16::MAX);
            let count = gaps.len();
            match gaps.last_mut() {
                Some((_, last)) if *last + 1 == distance => *last = distance,
                _ if count == MOST_GAPS => break,
                _ => gaps.push((distance, distance)),
            }
        }
        packet.sack(self.cumulative, self.room(), &gaps, &self.duplicates);
        self.duplicates.clear();
        self.owed = Owed::Nothing;
        self.packets = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(tsn: u32, flags: &str, octets: &'static [u8]) -> Data<'static> {
        let (is_first, is_last) = (flags.contains('B'), flags.contains('E'));
        Data { tsn, stream: 0, sequence: 0, protocol: 7, is_first, is_last, is_urgent: false, octets }
    }

    /// Numbers wrap; the order in which pieces arrive does not matter.
    #[test]
    fn pieces_in_any_order_give_the_messages() {
        let first = u32::MAX - 1;
        let pieces: [Data<'_>; 4] = [
            piece(first, "B", b"ab"),
            piece(first.wrapping_add(1), "", b"cd"),
            piece(first.wrapping_add(2), "E", b"e"),
            piece(first.wrapping_add(3), "BE", b"xyz"),
        ];
        for order in 0..24 {
            let mut rest: Vec<_> = pieces.to_vec();
            let mut receiver = Receiver::new(first, 1000, 100);
            for choices in [4, 3, 2, 1] {
                let chosen = rest.remove(order % choices);
                receiver.data(&chosen).unwrap();
                receiver.data(&chosen).unwrap();
            }
            let messages: Vec<Vec<u8>> = std::iter::from_fn(|| receiver.take_message()).collect();
            assert_eq!(messages, [&b"abcde"[..], b"xyz"], "{order}");
            assert_eq!(receiver.cumulative(), first.wrapping_add(3));
            assert_eq!(receiver.buffered, 0);
        }
    }

    #[test]
    fn what_waits_is_bounded() {
        let mut receiver = Receiver::new(1, 1000, 100);
        for tsn in 2..10_000 {
            receiver.data(&piece(tsn, "BE", b"0123456789")).unwrap();
        }
        assert_eq!(receiver.beyond.len(), 13);
        assert_eq!(receiver.room(), 38);
        receiver.data(&piece(1, "BE", b"first")).unwrap();
        assert_eq!(receiver.messages.len(), 14);
    }

    #[test]
    fn violations_are_found() {
        let check = |pieces: &[Data<'_>]| {
            let mut receiver = Receiver::new(1, 1000, 5);
            pieces.iter().try_for_each(|piece| receiver.data(piece)).map_err(|violation| violation.0)
        };
        assert_eq!(check(&[piece(1, "BE", b"")]), Err("a piece without data"));
        assert_eq!(check(&[piece(1, "E", b"a")]), Err("a message without a beginning"));
        assert_eq!(check(&[piece(1, "B", b"a"), piece(2, "B", b"b")]), Err("a message without an end"));
        assert_eq!(check(&[piece(1, "B", b"abc"), piece(2, "E", b"def")]), Err("a message too large"));
        assert_eq!(check(&[piece(1, "B", b"abc"), piece(2, "E", b"de")]), Ok(()));
    }
}
