//! Segments of SCCP: numbered ones of extended unit data (Q.714 §4.1.1), and data of connections (Q.714 §3.5).

use super::{Budget, Frames};
use crate::event::Sccp;
use crate::layers::Node;
use std::collections::{BTreeMap, HashMap};

/// The most octets of a message.
const MESSAGE_LIMIT: usize = 64 << 10;

/// What segments of a message have in common.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Key {
    /// The local reference, and the addresses.
    Segments(u32, Sccp),
    /// The receiver's reference, sender and receiver.
    Connection(u32, Node, Node),
}

/// Which segment it is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Segment {
    Numbered { is_first: bool, remaining: u8 },
    Ordered { more: bool },
}

/// What a segment brings about.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// The segment is the whole message.
    Single,
    Waiting,
    Whole(Vec<u8>, Frames),
    Bad(&'static str),
}

/// Segments of a message, by how many follow each.
#[derive(Debug, Default)]
struct Pieces {
    octets: BTreeMap<u32, Vec<u8>>,
    count: usize,
    first: Option<u32>,
    frames: Vec<u64>,
    age: u64,
}

/// Counts of what happened to messages of several segments.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) whole: u64,
    pub(crate) given_up: u64,
}

/// All messages that lack segments.
#[derive(Debug, Default)]
pub(crate) struct Segments {
    waiting: HashMap<Key, Pieces>,
    ages: BTreeMap<u64, Key>,
    pub(crate) counts: Counts,
}

impl Segments {
    /// Takes a segment.
    pub(crate) fn take(
        &mut self,
        key: Key,
        segment: Segment,
        octets: &[u8],
        frames: Frames,
        budget: &mut Budget,
    ) -> Outcome {
        let number = match segment {
            Segment::Ordered { more: false } if !self.waiting.contains_key(&key) => return Outcome::Single,
            // Numbers of ordered segments fall, so that those of both kinds are in order from the highest on.
            Segment::Ordered { .. } => {
                u32::MAX - self.waiting.get(&key).map_or(0, |it| it.octets.len() as u32)
            }
            Segment::Numbered { remaining, .. } => remaining.into(),
        };
        let age = self.waiting.get(&key).map_or_else(|| budget.tick(), |it| it.age);
        self.ages.entry(age).or_insert_with(|| key.clone());
        let pieces = self.waiting.entry(key).or_insert_with(|| {
            budget.used += Budget::PIECE;
            Pieces { age, ..Pieces::default() }
        });
        if pieces.octets.contains_key(&number) {
            return Outcome::Waiting;
        }
        if pieces.count + octets.len() > MESSAGE_LIMIT {
            self.give_up(age, budget);
            return Outcome::Bad("message of more than 64 KiB");
        }
        budget.used += octets.len() + Budget::PIECE;
        pieces.count += octets.len();
        pieces.octets.insert(number, octets.to_vec());
        pieces.frames.extend_from_slice(frames.numbers());
        let is_whole = match segment {
            Segment::Ordered { more } => !more,
            Segment::Numbered { is_first, .. } => {
                pieces.first = if is_first { Some(number) } else { pieces.first };
                pieces.first.is_some_and(|first| pieces.octets.len() as u32 == first + 1)
            }
        };
        if !is_whole {
            return Outcome::Waiting;
        }
        let Some(pieces) = self.remove(age, budget) else { return Outcome::Waiting };
        self.counts.whole += 1;
        let mut whole = Vec::with_capacity(pieces.count);
        for piece in pieces.octets.values().rev() {
            whole.extend_from_slice(piece);
        }
        Outcome::Whole(whole, Frames::of(pieces.frames))
    }

    /// Returns the age of the oldest message that waits.
    pub(crate) fn oldest(&self) -> Option<u64> {
        self.ages.keys().next().copied()
    }

    /// Gives the oldest message up.
    pub(crate) fn give_up_oldest(&mut self, budget: &mut Budget) {
        if let Some(age) = self.oldest() {
            self.give_up(age, budget);
        }
    }

    /// Returns how many messages wait.
    pub(crate) fn len(&self) -> usize {
        self.waiting.len()
    }

    fn give_up(&mut self, age: u64, budget: &mut Budget) {
        self.remove(age, budget);
        self.counts.given_up += 1;
    }

    fn remove(&mut self, age: u64, budget: &mut Budget) -> Option<Pieces> {
        let key = self.ages.remove(&age)?;
        let pieces = self.waiting.remove(&key)?;
        budget.used -= pieces.count + Budget::PIECE * (pieces.octets.len() + 1);
        Some(pieces)
    }
}
