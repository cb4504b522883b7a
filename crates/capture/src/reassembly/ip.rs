//! Fragments of IP (RFC 791, RFC 8200 §4.5), in any order.

use super::{Budget, Frames};
use crate::time::Time;
use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;

/// The most octets of a packet.
const LENGTH_LIMIT: usize = 65_535;
/// The most fragments of a packet.
const FRAGMENT_LIMIT: usize = 1024;
/// How long fragments wait, in seconds of the capture.
const PATIENCE: i64 = 30;

/// What fragments of a packet have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub(crate) source: IpAddr,
    pub(crate) destination: IpAddr,
    pub(crate) identification: u32,
    pub(crate) protocol: u8,
    pub(crate) vlan: u64,
}

/// A fragment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fragment<'a> {
    pub(crate) begin: usize,
    pub(crate) more: bool,
    pub(crate) octets: &'a [u8],
    pub(crate) frame: u64,
    pub(crate) time: Option<Time>,
}

/// What a fragment brings about.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// The packet lacks others.
    Waiting,
    /// The payload is whole.
    Whole(Vec<u8>, Frames),
    /// The fragment cannot be.
    Bad(&'static str),
}

/// A packet that lacks fragments.
#[derive(Debug)]
struct Datagram {
    /// Octets by where they begin, none twice.
    pieces: BTreeMap<usize, Vec<u8>>,
    octets: usize,
    length: Option<usize>,
    frames: Vec<u64>,
    age: u64,
}

/// Counts of what happened to fragments.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) whole: u64,
    pub(crate) given_up: u64,
    pub(crate) overlapping: u64,
}

/// All packets that lack fragments.
#[derive(Debug, Default)]
pub(crate) struct Fragments {
    waiting: HashMap<Key, Datagram>,
    ages: BTreeMap<u64, (Key, Option<Time>)>,
    pub(crate) counts: Counts,
}

impl Fragments {
    /// Takes a fragment.
    pub(crate) fn take(&mut self, key: Key, fragment: Fragment<'_>, budget: &mut Budget) -> Outcome {
        self.expire(fragment.time, budget);
        let end = fragment.begin + fragment.octets.len();
        if fragment.octets.is_empty() {
            return Outcome::Bad("fragment without bytes");
        }
        if end > LENGTH_LIMIT {
            return Outcome::Bad("fragment ends beyond the longest packet");
        }
        if fragment.more && !fragment.octets.len().is_multiple_of(8) {
            return Outcome::Bad("length of a fragment that is not the last is not a multiple of 8");
        }
        let datagram = self.waiting.entry(key).or_insert_with(|| {
            let age = budget.tick();
            self.ages.insert(age, (key, fragment.time));
            budget.used += Budget::PIECE;
            Datagram { pieces: BTreeMap::new(), octets: 0, length: None, frames: Vec::new(), age }
        });
        if datagram.frames.len() >= FRAGMENT_LIMIT {
            self.drop_one(&key, budget);
            return Outcome::Bad("more than 1024 fragments of a packet");
        }
        if !fragment.more && datagram.length.is_none() {
            datagram.length = Some(end);
        }
        datagram.frames.push(fragment.frame);
        budget.used += Budget::PIECE;
        // The octets that came first are kept where fragments overlap.
        let mut begin = fragment.begin;
        let before = datagram.pieces.range(..=begin).next_back().map(|(&at, piece)| at + piece.len());
        begin = begin.max(before.unwrap_or(0));
        let mut overlapping = begin > fragment.begin;
        while begin < end {
            let next = datagram.pieces.range(begin..end).next().map(|(&at, piece)| (at, at + piece.len()));
            let stop = next.map_or(end, |(at, _)| at);
            if begin < stop {
                let octets = fragment.octets[begin - fragment.begin..stop - fragment.begin].to_vec();
                budget.used += octets.len() + Budget::PIECE;
                datagram.octets += octets.len();
                datagram.pieces.insert(begin, octets);
            }
            overlapping |= next.is_some();
            begin = next.map_or(end, |(_, after)| after);
        }
        self.counts.overlapping += u64::from(overlapping);
        let Some(length) = datagram.length.filter(|&length| datagram.octets >= length) else {
            return Outcome::Waiting;
        };
        let Some(datagram) = self.drop_one(&key, budget) else { return Outcome::Waiting };
        let mut octets = Vec::with_capacity(length);
        for piece in datagram.pieces.values() {
            octets.extend_from_slice(piece);
        }
        // Fragments after the last one do not belong to the packet.
        octets.truncate(length);
        self.counts.whole += 1;
        Outcome::Whole(octets, Frames::of(datagram.frames))
    }

    /// Returns the age of the oldest packet that waits.
    pub(crate) fn oldest(&self) -> Option<u64> {
        self.ages.keys().next().copied()
    }

    /// Gives the oldest packet up.
    pub(crate) fn give_up_oldest(&mut self, budget: &mut Budget) {
        if let Some((&age, &(key, _))) = self.ages.first_key_value() {
            self.ages.remove(&age);
            self.drop_one(&key, budget);
            self.counts.given_up += 1;
        }
    }

    /// Gives up what waits for longer than [`PATIENCE`].
    fn expire(&mut self, now: Option<Time>, budget: &mut Budget) {
        let Some(now) = now else { return };
        while let Some((_, &(_, Some(begin)))) = self.ages.first_key_value()
            && now.seconds_since(begin) > PATIENCE
        {
            self.give_up_oldest(budget);
        }
    }

    /// Returns how many packets wait.
    pub(crate) fn len(&self) -> usize {
        self.waiting.len()
    }

    fn drop_one(&mut self, key: &Key, budget: &mut Budget) -> Option<Datagram> {
        let datagram = self.waiting.remove(key)?;
        self.ages.remove(&datagram.age);
        budget.used -= datagram.octets + Budget::PIECE * (datagram.pieces.len() + datagram.frames.len() + 1);
        Some(datagram)
    }
}
