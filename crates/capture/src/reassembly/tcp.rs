//! Connections of TCP (RFC 9293): segments in order, in both directions.

use super::Budget;
use super::recent::Recent;
use crate::time::Time;
use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;

/// The most octets of a direction that wait behind a hole.
const WAITING_LIMIT: usize = 1 << 20;
/// How long octets wait behind a hole, in seconds of the capture.
const PATIENCE: i64 = 30;
/// Sequence numbers further from what is expected belong to another connection.
const DISTANCE_LIMIT: i64 = 1 << 28;
/// The most connections that are remembered.
const CONNECTION_LIMIT: usize = 1 << 14;

/// Two sockets, the lower one first.
pub(crate) type Key = (SocketAddr, SocketAddr);

/// A segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment<'a> {
    pub(crate) number: u32,
    pub(crate) octets: &'a [u8],
    pub(crate) frame: u64,
    pub(crate) time: Option<Time>,
}

/// What a segment brings about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    /// It has nothing new.
    Again,
    /// It waits behind a hole.
    Waiting,
    /// There is more to read. Whether it overlaps what came before.
    Advanced { overlaps: bool },
    /// It belongs to another connection of the same sockets.
    Foreign,
}

/// Where octets came from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source {
    pub(crate) begin: u64,
    end: u64,
    pub(crate) frame: u64,
    pub(crate) time: Option<Time>,
}

/// A segment that waits behind a hole.
#[derive(Debug)]
struct Piece {
    octets: Vec<u8>,
    frame: u64,
    time: Option<Time>,
}

/// A direction of a connection. Positions are sequence numbers that do not wrap.
#[derive(Debug, Default)]
pub(crate) struct Direction {
    /// The position after the last octet in order.
    next: Option<u64>,
    /// Octets in order that have not been read: from `begin` on.
    buffer: Vec<u8>,
    begin: usize,
    sources: VecDeque<Source>,
    waiting: BTreeMap<u64, Piece>,
    waiting_octets: usize,
    since: Option<Time>,
}

impl Direction {
    /// Begins at a number, after SYN.
    pub(crate) fn start(&mut self, number: u32) {
        self.next = Some(1 << 32 | u64::from(number));
    }

    /// Returns whether the direction begins at a number: the same SYN again.
    pub(crate) fn is_at(&self, number: u32) -> bool {
        self.next
            .is_none_or(|next| self.sources.is_empty() && self.waiting.is_empty() && next as u32 == number)
    }

    /// Takes a segment that is not empty.
    pub(crate) fn take(&mut self, segment: Segment<'_>) -> Taken {
        let Segment { number, octets, frame, time } = segment;
        let next = *self.next.get_or_insert_with(|| 1 << 32 | u64::from(number));
        let distance = i64::from(number.wrapping_sub(next as u32) as i32);
        if distance.abs() > DISTANCE_LIMIT {
            return Taken::Foreign;
        }
        let begin = next.wrapping_add_signed(distance);
        let end = begin + octets.len() as u64;
        if end <= next {
            return Taken::Again;
        }
        if begin > next {
            if self.waiting.get(&begin).is_some_and(|piece| piece.octets.len() >= octets.len()) {
                return Taken::Again;
            }
            if self.waiting.is_empty() {
                self.since = time;
            }
            self.waiting_octets += octets.len();
            let piece = Piece { octets: octets.to_vec(), frame, time };
            if let Some(earlier) = self.waiting.insert(begin, piece) {
                self.waiting_octets -= earlier.octets.len();
            }
            return Taken::Waiting;
        }
        self.append(&octets[(next - begin) as usize..], frame, time);
        self.join();
        Taken::Advanced { overlaps: begin < next }
    }

    /// Returns the octets that have not been read.
    pub(crate) fn unread(&self) -> &[u8] {
        &self.buffer[self.begin..]
    }

    /// Returns where the segments of what has not been read begin in it.
    pub(crate) fn begins(&self) -> impl Iterator<Item = usize> {
        let position = self.position();
        self.sources.iter().filter_map(move |source| source.begin.checked_sub(position)).map(|at| at as usize)
    }

    /// Returns where octets of what has not been read came from.
    pub(crate) fn sources(&self, length: usize) -> impl Iterator<Item = Source> {
        let end = self.position() + length as u64;
        self.sources.iter().copied().take_while(move |source| source.begin < end)
    }

    /// Moves over octets that have been read.
    pub(crate) fn consume(&mut self, count: usize) {
        self.begin = (self.begin + count).min(self.buffer.len());
        let position = self.position();
        while self.sources.front().is_some_and(|source| source.end <= position) {
            self.sources.pop_front();
        }
        // What is moved was read: each octet moves once, on average.
        if self.begin * 2 >= self.buffer.len() {
            self.buffer.drain(..self.begin);
            self.begin = 0;
        }
    }

    /// Returns whether a hole has lasted for too long, or too much waits behind it.
    pub(crate) fn is_hole_old(&self, now: Option<Time>) -> bool {
        let is_late = self.since.zip(now).is_some_and(|(since, now)| now.seconds_since(since) > PATIENCE);
        !self.waiting.is_empty() && (is_late || self.waiting_octets > WAITING_LIMIT)
    }

    /// Returns whether octets wait behind a hole.
    pub(crate) fn has_hole(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Gives up a hole: returns how many octets it has, and the source of what is behind it.
    pub(crate) fn give_up_hole(&mut self) -> Option<(u64, Source)> {
        let (&begin, piece) = self.waiting.first_key_value()?;
        let source = Source { begin, end: begin, frame: piece.frame, time: piece.time };
        let missing = begin - self.next.unwrap_or(begin);
        self.buffer.clear();
        self.sources.clear();
        self.begin = 0;
        self.next = Some(begin);
        self.join();
        Some((missing, source))
    }

    /// Drops everything that is kept.
    pub(crate) fn clear(&mut self) {
        *self = Self { next: self.next, ..Self::default() };
    }

    /// Returns what keeping the octets takes.
    fn used(&self) -> usize {
        self.buffer.capacity()
            + self.waiting_octets
            + Budget::PIECE * self.waiting.len()
            + 40 * self.sources.len()
    }

    fn position(&self) -> u64 {
        self.next.unwrap_or(0) - self.unread().len() as u64
    }

    fn append(&mut self, octets: &[u8], frame: u64, time: Option<Time>) {
        let begin = self.next.unwrap_or(0);
        let end = begin + octets.len() as u64;
        self.buffer.extend_from_slice(octets);
        self.next = Some(end);
        match self.sources.back_mut() {
            Some(last) if last.frame == frame => last.end = end,
            _ => self.sources.push_back(Source { begin, end, frame, time }),
        }
    }

    /// Takes what waits and is in order now.
    fn join(&mut self) {
        while let Some(entry) = self.waiting.first_entry()
            && *entry.key() <= self.next.unwrap_or(0)
        {
            let (begin, piece) = entry.remove_entry();
            self.waiting_octets -= piece.octets.len();
            let known = (self.next.unwrap_or(0) - begin) as usize;
            if let Some(new) = piece.octets.get(known..).filter(|new| !new.is_empty()) {
                self.append(new, piece.frame, piece.time);
            }
        }
        // The next hole begins to age when it is seen.
        self.since = self.waiting.first_key_value().and_then(|(_, piece)| piece.time);
    }
}

/// A connection: its number, and of each side the octets that it sends and what they are.
#[derive(Debug)]
pub(crate) struct Connection<S> {
    pub(crate) number: u64,
    pub(crate) directions: [Direction; 2],
    pub(crate) states: [S; 2],
    age: Option<u64>,
    charged: usize,
}

impl<S> Connection<S> {
    pub(crate) fn new(number: u64, states: [S; 2]) -> Self {
        Self { number, directions: Default::default(), states, age: None, charged: 0 }
    }
}

/// Counts of what happened to segments.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) overlapping: u64,
    pub(crate) given_up: u64,
}

/// All connections.
#[derive(Debug)]
pub(crate) struct Streams<S> {
    connections: Recent<Key, Box<Connection<S>>>,
    /// Connections that keep octets.
    ages: BTreeMap<u64, Key>,
    pub(crate) counts: Counts,
}

impl<S> Default for Streams<S> {
    fn default() -> Self {
        Self { connections: Recent::new(CONNECTION_LIMIT), ages: BTreeMap::new(), counts: Counts::default() }
    }
}

impl<S> Streams<S> {
    /// Takes a connection out, to be worked on.
    pub(crate) fn remove(&mut self, key: Key) -> Option<Box<Connection<S>>> {
        self.connections.remove(key)
    }

    /// Puts a connection in, and charges what it keeps.
    pub(crate) fn insert(&mut self, key: Key, mut connection: Box<Connection<S>>, budget: &mut Budget) {
        let keeps = |it: &Direction| !it.buffer.is_empty() || !it.waiting.is_empty();
        let used = connection.directions.iter().filter(|it| keeps(it)).map(Direction::used).sum();
        budget.used = budget.used - connection.charged + used;
        connection.charged = used;
        match connection.age {
            None if used > 0 => {
                let age = budget.tick();
                connection.age = Some(age);
                self.ages.insert(age, key);
            }
            Some(age) if used == 0 => {
                self.ages.remove(&age);
                connection.age = None;
            }
            _ => {}
        }
        for evicted in self.connections.insert(key, connection) {
            self.counts.given_up += u64::from(evicted.charged > 0);
            budget.used -= evicted.charged;
            evicted.age.map(|age| self.ages.remove(&age));
        }
    }

    /// Returns the connections that keep octets, the oldest first.
    pub(crate) fn keys(&self) -> Vec<Key> {
        self.ages.values().copied().collect()
    }

    /// Returns the age of the oldest connection that keeps octets.
    pub(crate) fn oldest(&self) -> Option<u64> {
        self.ages.keys().next().copied()
    }

    /// Drops what the oldest connection keeps.
    pub(crate) fn give_up_oldest(&mut self, budget: &mut Budget) {
        let Some((_, key)) = self.ages.pop_first() else { return };
        self.counts.given_up += 1;
        if let Some(mut connection) = self.connections.remove(key) {
            connection.directions.iter_mut().for_each(Direction::clear);
            connection.age = None;
            self.insert(key, connection, budget);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(number: u32, octets: &[u8]) -> Segment<'_> {
        Segment { number, octets, frame: u64::from(number), time: None }
    }

    #[test]
    fn segments_in_any_order_overlapping_and_again_are_put_in_order() {
        let mut direction = Direction::default();
        direction.start(u32::MAX - 1);
        assert_eq!(direction.take(segment(2, b"Ye")), Taken::Waiting);
        assert_eq!(direction.take(segment(2, b"Ye")), Taken::Again);
        assert_eq!(direction.take(segment(u32::MAX - 1, b"ab")), Taken::Advanced { overlaps: false });
        assert_eq!(direction.unread(), b"ab");
        assert_eq!(direction.take(segment(u32::MAX, b"XcdX")), Taken::Advanced { overlaps: true });
        assert_eq!(direction.unread(), b"abcdXe");
        assert_eq!(direction.sources(3).map(|it| it.frame).collect::<Vec<_>>(), [0xFFFF_FFFE, 0xFFFF_FFFF]);
        direction.consume(3);
        assert_eq!(direction.unread(), b"dXe");
        assert_eq!(direction.take(segment(0, b"c")), Taken::Again);
        assert_eq!(direction.take(segment(1 << 30, b"c")), Taken::Foreign);
    }

    #[test]
    fn holes_are_given_up() {
        let mut direction = Direction::default();
        direction.take(segment(10, b"ab"));
        direction.take(segment(15, b"fg"));
        direction.take(segment(17, b"h"));
        let (missing, source) = direction.give_up_hole().unwrap();
        assert_eq!((missing, source.frame, direction.unread()), (3, 15, &b"fgh"[..]));
        assert!(direction.give_up_hole().is_none());
    }
}
