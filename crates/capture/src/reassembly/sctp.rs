//! Fragments of messages of SCTP: by TSN (RFC 9260 §6.9) or by message and fragment number (RFC 8260).

use super::{Budget, Frames};
use std::collections::{BTreeMap, VecDeque};

/// The most octets of a message.
const MESSAGE_LIMIT: usize = 1 << 20;

/// Fragments whose numbers follow each other: the direction of an association, and in I-DATA the message.
pub(crate) type Lane = (u64, u64);

/// A fragment.
#[derive(Debug)]
pub(crate) struct Fragment {
    pub(crate) position: u64,
    pub(crate) stream: u16,
    pub(crate) first: bool,
    pub(crate) last: bool,
    pub(crate) protocol: u32,
    pub(crate) octets: Vec<u8>,
    pub(crate) frames: Frames,
}

/// A message that is whole.
#[derive(Debug)]
pub(crate) struct Message {
    pub(crate) protocol: u32,
    pub(crate) octets: Vec<u8>,
    pub(crate) frames: Frames,
}

/// What a fragment brings about.
#[derive(Debug)]
pub(crate) enum Outcome {
    Waiting,
    Whole(Message),
    Bad(&'static str),
}

/// Fragments one after another.
#[derive(Debug)]
struct Run {
    /// The number after the last one.
    end: u64,
    first: bool,
    last: bool,
    stream: u16,
    pieces: VecDeque<Fragment>,
    octets: usize,
    age: u64,
}

/// Counts of what happened to messages of several fragments.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) whole: u64,
    pub(crate) given_up: u64,
}

/// All messages that lack fragments. A fragment costs a look into a tree; runs that meet are joined, the shorter one moved.
#[derive(Debug, Default)]
pub(crate) struct Fragments {
    runs: BTreeMap<(Lane, u64), Run>,
    ages: BTreeMap<u64, (Lane, u64)>,
    pub(crate) counts: Counts,
}

impl Fragments {
    /// Takes a fragment.
    pub(crate) fn take(&mut self, lane: Lane, fragment: Fragment, budget: &mut Budget) -> Outcome {
        let (mut begin, stream, first, last) =
            (fragment.position, fragment.stream, fragment.first, fragment.last);
        let before = self.runs.range(..=(lane, begin)).next_back();
        let before = before.filter(|((other, _), _)| *other == lane).map(|(&(_, at), run)| (at, run));
        if before.as_ref().is_some_and(|(_, run)| run.end > begin) {
            return Outcome::Waiting;
        }
        let joins_before =
            before.filter(|(_, run)| !first && run.end == begin && !run.last && run.stream == stream);
        let joins_before = joins_before.map(|(at, _)| at);
        let mut run = Run {
            end: begin + 1,
            first,
            last,
            stream,
            octets: fragment.octets.len(),
            age: budget.tick(),
            pieces: VecDeque::from([fragment]),
        };
        budget.used += run.octets + Budget::PIECE;
        if let Some(at) = joins_before
            && let Some(earlier) = self.detach(lane, at)
        {
            run = join(earlier, run);
            begin = at;
        }
        let joins_after = self.runs.get(&(lane, run.end));
        let joins_after =
            joins_after.is_some_and(|after| !run.last && !after.first && after.stream == stream);
        if joins_after && let Some(later) = self.detach(lane, run.end) {
            run = join(run, later);
        }
        if run.octets > MESSAGE_LIMIT {
            budget.used -= run.octets + Budget::PIECE * run.pieces.len();
            self.counts.given_up += 1;
            return Outcome::Bad("message of more than 1 MiB");
        }
        if !(run.first && run.last) {
            self.ages.insert(run.age, (lane, begin));
            self.runs.insert((lane, begin), run);
            return Outcome::Waiting;
        }
        budget.used -= run.octets + Budget::PIECE * run.pieces.len();
        self.counts.whole += 1;
        let mut octets = Vec::with_capacity(run.octets);
        let mut frames = Vec::with_capacity(run.pieces.len());
        for piece in &run.pieces {
            octets.extend_from_slice(&piece.octets);
            frames.extend_from_slice(piece.frames.numbers());
        }
        let protocol = run.pieces.front().map_or(0, |piece| piece.protocol);
        Outcome::Whole(Message { protocol, octets, frames: Frames::of(frames) })
    }

    /// Gives up what a direction of an association has: it begins anew, or ends.
    pub(crate) fn give_up_direction(&mut self, direction: u64, budget: &mut Budget) {
        while let Some((&(lane, at), _)) = self.runs.range(((direction, 0), 0)..).next()
            && lane.0 == direction
        {
            self.give_up(lane, at, budget);
        }
    }

    /// Returns the age of the oldest run of fragments.
    pub(crate) fn oldest(&self) -> Option<u64> {
        self.ages.keys().next().copied()
    }

    /// Gives the oldest run of fragments up.
    pub(crate) fn give_up_oldest(&mut self, budget: &mut Budget) {
        if let Some((_, &(lane, at))) = self.ages.first_key_value() {
            self.give_up(lane, at, budget);
        }
    }

    /// Returns how many runs of fragments wait.
    pub(crate) fn len(&self) -> usize {
        self.runs.len()
    }

    fn give_up(&mut self, lane: Lane, at: u64, budget: &mut Budget) {
        if let Some(run) = self.detach(lane, at) {
            budget.used -= run.octets + Budget::PIECE * run.pieces.len();
            self.counts.given_up += 1;
        }
    }

    fn detach(&mut self, lane: Lane, at: u64) -> Option<Run> {
        let run = self.runs.remove(&(lane, at))?;
        self.ages.remove(&run.age);
        Some(run)
    }
}

/// Joins two runs; the pieces of the shorter one move, so that each moves seldom.
fn join(mut earlier: Run, mut later: Run) -> Run {
    if earlier.pieces.len() >= later.pieces.len() {
        earlier.pieces.append(&mut later.pieces);
    } else {
        while let Some(piece) = earlier.pieces.pop_back() {
            later.pieces.push_front(piece);
        }
        std::mem::swap(&mut earlier.pieces, &mut later.pieces);
    }
    Run {
        end: later.end,
        last: later.last,
        octets: earlier.octets + later.octets,
        age: earlier.age.min(later.age),
        ..earlier
    }
}
