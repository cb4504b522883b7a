//! Where records begin again behind a damaged place.
//!
//! Element streams have no sync marks. A place counts as a record's begin when the full root identifier octets stand
//! there, a chain of three complete elements with such identifiers follows (or the list or input ends first), and the
//! first of them decodes: an inner element at the end of a record shares the record's end, so that a chain alone could
//! begin one element too deep. The search has a budget in proportion to the octets that it has passed, so that no
//! input makes it slower than linear.

use super::extent::{Extent, Step};
use super::reader::{Frame, RecordReader};
use super::{Part, Reason};
use std::io::{Read, Result};

/// Complete elements that have to follow on each other.
const CHAIN: usize = 3;
/// Octets looked at from a candidate on: a chain does not reach further.
const AHEAD: usize = 1 << 20;
/// Octets rejected in one piece.
const PIECE: usize = 1 << 20;
/// Budget gained by an octet passed: one head read costs one, one octet decoded costs a quarter.
pub(super) const GAIN: i64 = 32;
/// The largest budget, and the one to begin with.
pub(super) const MOST: i64 = 1 << 22;

/// A damaged place at the reader's position.
#[derive(Clone, Copy, Debug)]
pub(super) struct Damage {
    reason: Reason,
    /// Whether the damaged element has a length that is not its own, and ends there.
    whole: bool,
    /// Length that the damaged element claims, if it is there.
    length: Option<usize>,
    /// Whether a piece has been given out.
    continued: bool,
}

impl Damage {
    pub(super) fn new(reason: Reason, length: Option<usize>) -> Self {
        Self { reason, length, whole: false, continued: false }
    }

    /// The same where the length is that of a header, which is believed.
    pub(super) fn up_to_there(self, whole: bool) -> Self {
        Self { whole, ..self }
    }
}

impl<R: Read> RecordReader<R> {
    /// The next piece of the damaged place.
    pub(super) fn resync(&mut self, is_record: &mut dyn FnMut(&[u8]) -> bool) -> Result<(Part, usize)> {
        let Some(damage) = self.damage else { return Ok((Part::Filler, 0)) };
        let part = Part::Rejected { reason: damage.reason, continued: damage.continued };
        if let Some(length) = damage.length.filter(|_| damage.whole) {
            self.damage = None;
            return Ok((part, length));
        }
        self.window.ensure(PIECE + AHEAD)?;
        // Outside of the list nothing is searched for.
        let inside = self.frames.len() == self.framing.wrappers.len();
        if !damage.continued
            && let Some(length) = self.claimed(&damage)
            && (!inside || self.chain(length, true).is_some())
        {
            self.damage = None;
            return Ok((part, length));
        }
        let available = self.bounded();
        let last =
            if self.window.ended() || available < PIECE + AHEAD { available } else { available - AHEAD };
        let mut at = if inside { usize::from(!damage.continued) } else { last };
        while at < last {
            let octets = self.window.octets();
            let Some(next) = octets[at..last].iter().position(|&octet| self.framing.records.begins(octet))
            else {
                self.credit = (self.credit + GAIN * (last - at) as i64).min(MOST);
                break;
            };
            self.credit = (self.credit + GAIN * (next as i64 + 1)).min(MOST);
            at += next;
            if self.credit > 0
                && let Some(length) = self.chain(at, false)
            {
                self.credit -= length as i64 / 4;
                if is_record(&self.window.octets()[at..at + length]) {
                    self.damage = None;
                    return Ok((part, at));
                }
            }
            at += 1;
        }
        // Nothing found in what may be looked at.
        if self.window.ended() || last == available {
            self.damage = None;
            return Ok((part, last));
        }
        self.damage = Some(Damage { continued: true, ..damage });
        Ok((part, last))
    }

    /// Octets up to the end of the input or of the innermost list, or to a record in other rules, as far as they are there.
    fn bounded(&self) -> usize {
        let available = self.window.octets().len();
        let end = match self.frames.last() {
            Some(frame) => frame.end,
            None => self.told().map(|told| told.start),
        };
        let left = end.map(|end| end.saturating_sub(self.window.offset()));
        left.and_then(|left| usize::try_from(left).ok()).map_or(available, |left| left.min(available))
    }

    /// The length of the element at the position, if the octets ahead tell it.
    fn claimed(&mut self, damage: &Damage) -> Option<usize> {
        if damage.length.is_some() {
            return damage.length;
        }
        if damage.reason != Reason::Identifier {
            return None;
        }
        let octets = &self.window.octets()[..self.bounded()];
        match Extent::default().advance(octets, AHEAD) {
            Step::Complete(length) => Some(length),
            _ => None,
        }
    }

    /// Follows a chain from `at`; gives the length of its first element, zero if the list ends there. `end_is_enough`
    /// tells whether the end of the list will do in place of a first element.
    pub(super) fn chain(&mut self, at: usize, end_is_enough: bool) -> Option<usize> {
        let bounded = self.bounded();
        let (mut pos, mut first) = (at, None);
        let mut count = 0;
        while count < CHAIN {
            let octets = &self.window.octets()[..bounded];
            if first.is_some() || end_is_enough {
                let begin = pos;
                while octets.get(pos).is_some_and(|&octet| self.is_filler(octet)) {
                    pos += 1;
                }
                // What stands between records outside of all elements is passed over here too.
                if self.frames.is_empty() && !self.ends(octets, pos) {
                    pos += self.framing.record_header;
                    if self.is_control(pos) {
                        return Some(first.unwrap_or(0));
                    }
                }
                let passed = (pos - begin) as i64 / 8;
                let ends = self.ends(octets, pos);
                self.credit -= passed;
                if ends {
                    return Some(first.unwrap_or(0));
                }
            }
            let rest = self.window.octets()[..bounded].get(pos..)?;
            let rest = &rest[..rest.len().min(AHEAD)];
            if !self.framing.records.matches(rest) {
                return None;
            }
            let mut extent = Extent::default();
            let step = extent.advance(rest, AHEAD);
            self.credit -= i64::from(extent.heads);
            let Step::Complete(length) = step else { return None };
            first = first.or(Some(length));
            pos += length;
            count += 1;
        }
        first
    }

    /// Whether the list of records, or the input, ends at this place.
    fn ends(&self, octets: &[u8], at: usize) -> bool {
        if self.cut && self.window.ended() && at == self.window.octets().len() {
            return true;
        }
        match self.frames.last() {
            Some(Frame { end: Some(end) }) => self.window.offset() + at as u64 == *end,
            Some(Frame { end: None }) => octets.get(at..).is_some_and(|rest| rest.starts_with(&[0, 0])),
            None if self.told().is_some_and(|told| self.window.offset() + at as u64 == told.start) => true,
            None => octets.len().saturating_sub(at) <= self.framing.trailer && self.window.ended(),
        }
    }
}
