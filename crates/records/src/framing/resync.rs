//! Finds where records begin again after a damaged place.
//!
//! Element streams have no sync marks. A damaged element is believed to be as long as it says if records follow it, or
//! if the list or input ends there, and if no record that decodes crosses its end. Elsewhere a place counts as the
//! begin of a record when the full root identifier octets stand there, a chain of complete elements follows (or the list
//! or input ends first), and the first of them decodes: an inner element at the end of a record shares the record's end,
//! so that a chain alone could begin one element too deep. The search has a budget in proportion to the octets that it
//! has passed, so that no input makes it slower than linear.

use super::extent::{self, Extent, Step, Stop};
use super::reader::{Frame, RecordReader};
use super::{Decodes, Part, Reason, RecordFormat};
use std::io::{Read, Result};

/// Complete records that have to follow on each other.
const CHAIN: usize = 3;
/// Elements of any kind among which so many records have to be.
const WALK: usize = 16;
/// Octets looked at from a candidate on: a chain does not reach further.
const AHEAD: usize = 1 << 20;
/// Octets behind damage in which records of a kind that is not known are looked for.
const NEAR: usize = 1 << 14;
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
    /// Octets still to come of an element that is larger than a record may be.
    large: Option<u64>,
    /// Whether a piece has been given out.
    continued: bool,
}

impl Damage {
    pub(super) fn new(reason: Reason, length: Option<usize>) -> Self {
        Self { reason, length, whole: false, large: None, continued: false }
    }

    /// The same where the length is that of a header, which is believed.
    pub(super) fn up_to_there(self, whole: bool) -> Self {
        Self { whole, ..self }
    }

    /// The same for an element of so many octets, more than a record may have.
    pub(super) fn of_large(self, large: Option<u64>) -> Self {
        Self { large, ..self }
    }
}

/// The octets at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seen {
    /// A complete element that begins as records do.
    Record(usize),
    /// A complete element that does not.
    Other(usize),
    /// An element that begins as records do and goes on behind what is looked at.
    Large,
    /// No element.
    Nothing,
}

/// What stands behind an element.
enum Behind {
    /// The end of the list, of the input, or a control record.
    End,
    /// Something else, at this place.
    At(usize),
}

/// Elements that follow on each other.
#[derive(Clone, Copy, Debug)]
struct Chain {
    /// The length of the first.
    first: usize,
    /// Place and length of a second record that has to decode too, as elements that are no records stand between.
    second: Option<(usize, usize)>,
}

impl<R: Read> RecordReader<R> {
    /// The next piece of the damaged place.
    pub(super) fn resync(&mut self, decodes: &mut dyn Decodes) -> Result<(Part, usize)> {
        let Some(damage) = self.damage else { return Ok((Part::Filler, 0)) };
        let part = Part::Rejected { reason: damage.reason, continued: damage.continued };
        if let Some(length) = damage.length.filter(|_| damage.whole) {
            self.end_damage();
            return Ok((part, length));
        }
        if let Some(left) = damage.large {
            if damage.continued || self.is_whole_large(left, decodes)? {
                return self.pass_large(damage, left).map(|length| (part, length));
            }
            self.damage = Some(Damage { large: None, ..damage });
        }
        self.window.ensure(PIECE + AHEAD)?;
        if self.sample && damage.reason == Reason::Truncated && !damage.continued {
            let octets = &self.window.octets()[..self.bounded()];
            if decodes.begins(RecordFormat::Ber, octets) {
                let length = octets.len();
                self.begun = true;
                self.end_damage();
                return Ok((part, length));
            }
        }
        // Outside of the list nothing is searched for.
        let inside = self.frames.len() == self.framing.wrappers.len();
        let claimed = if damage.continued { None } else { self.claimed(&damage)? };
        if let Some(length) = claimed
            && (!inside || self.is_believed(length, decodes)?)
        {
            self.end_damage();
            return Ok((part, length));
        }
        // The framing says where the damaged record ends: what follows is not searched for.
        if let Some(border) = self.border()? {
            self.end_damage();
            return Ok((part, border));
        }
        let available = self.bounded();
        let last =
            if self.window.ended() || available < PIECE + AHEAD { available } else { available - AHEAD };
        let mut at = if inside { usize::from(!damage.continued) } else { last };
        while at < last {
            let octets = self.window.octets();
            let records = &self.framing.records;
            // Records of a kind that is not known are looked for near the damage: what looks like them is frequent in text.
            let is_near = !damage.continued && at < NEAR;
            let next = octets[at..last]
                .iter()
                .position(|&octet| records.begins(octet) || is_near && records.is_kin(octet));
            let Some(next) = next else {
                self.credit = (self.credit + GAIN * (last - at) as i64).min(MOST);
                break;
            };
            self.credit = (self.credit + GAIN * (next as i64 + 1)).min(MOST);
            at += next;
            if self.credit > 0 && self.is_begin(at, decodes)? {
                self.end_damage();
                // The header of the record is no part of the damage.
                let header = if self.frames.is_empty() { self.framing.record_header } else { 0 };
                self.skip = if at > header { header as u64 } else { 0 };
                return Ok((part, at - self.skip as usize));
            }
            // Records inside of a record of a kind that is not known are parts of it.
            at += if is_near && self.credit > 0 { self.other(at, last, decodes) } else { 1 };
        }
        // Nothing found in what may be looked at.
        if self.window.ended() || last == available {
            self.damage = None;
            return Ok((part, last));
        }
        self.damage = Some(Damage { continued: true, ..damage });
        Ok((part, last))
    }

    /// Notes that records may follow; outside of all elements each has its header.
    fn end_damage(&mut self) {
        self.damage = None;
        self.skip = if self.frames.is_empty() { self.framing.record_header as u64 } else { 0 };
    }

    /// The length of the element at a place that is searched, if it looks like a record of a kind that is not known; else
    /// that of an octet.
    fn other(&mut self, at: usize, last: usize, decodes: &mut dyn Decodes) -> usize {
        let octets = &self.window.octets()[at..];
        if octets[0] & 0x20 == 0 || self.framing.records.matches(octets) {
            return 1;
        }
        let Seen::Other(length) = self.element_at(at, self.bounded()) else { return 1 };
        let end = at + length;
        let is_other = end <= last
            && match self.is_sound(at, length) {
                true => !self.is_crossed(at, end, end, decodes) && !self.hides_record(at, end, decodes),
                false => self.is_followed(end, decodes) && !self.is_crossed(at, end, at, decodes),
            };
        if is_other { length } else { 1 }
    }

    /// Checks whether a record begins at a place that is searched.
    fn is_begin(&mut self, at: usize, decodes: &mut dyn Decodes) -> Result<bool> {
        if let Some(Chain { first, second }) = self.chain(at) {
            return Ok(self.decodes_at(at, first, decodes)
                && second.is_none_or(|(at, length)| self.decodes_at(at, length, decodes)));
        }
        if self.element_at(at, self.bounded()) != Seen::Large {
            return Ok(false);
        }
        // A record longer than what is looked at has to be there as a whole.
        let Some(length) = self.definite(at) else { return Ok(false) };
        self.credit -= length as i64 / 4;
        if !self.window.ensure(at + length + 2 * AHEAD)? && self.bounded() < at + length {
            return Ok(false);
        }
        if !decodes.decodes(RecordFormat::Ber, &self.window.octets()[at..at + length]) {
            return Ok(false);
        }
        Ok(match self.behind(at + length) {
            Behind::End => true,
            Behind::At(next) => self.element_at(next, self.bounded()) != Seen::Nothing,
        })
    }

    /// The length of the element at a place if it is definite and a record may have it.
    fn definite(&self, at: usize) -> Option<usize> {
        let head = extent::head(self.window.octets().get(at..)?).ok()?;
        let length = usize::try_from(head.length?).ok()?.checked_add(head.size)?;
        let bound = self.bound().is_none_or(|bound| at.saturating_add(length) as u64 <= bound);
        (length <= self.framing.record_limit && bound && self.window.octets()[at] != 0).then_some(length)
    }

    /// Decodes a record for as long as there is budget.
    fn decodes_at(&mut self, at: usize, length: usize, decodes: &mut dyn Decodes) -> bool {
        if self.credit <= 0 {
            return false;
        }
        self.credit -= length as i64 / 4;
        let octets = self.window.octets().get(at..at + length);
        octets.is_some_and(|octets| decodes.decodes(RecordFormat::Ber, octets))
    }

    /// Octets up to the end of the innermost list, or to a record in other rules, if that is known.
    fn bound(&self) -> Option<u64> {
        let end = match self.frames.last() {
            Some(frame) => frame.end,
            None => self.told().map(|told| told.start),
        };
        end.map(|end| end.saturating_sub(self.window.offset()))
    }

    /// The same or those up to the end of the input, as far as they are there.
    fn bounded(&self) -> usize {
        let available = self.window.octets().len();
        let left = self.bound().and_then(|left| usize::try_from(left).ok());
        left.map_or(available, |left| left.min(available))
    }

    /// The length of the element at the position, if the octets ahead tell it.
    fn claimed(&mut self, damage: &Damage) -> Result<Option<usize>> {
        if damage.length.is_some() {
            return Ok(damage.length);
        }
        if damage.reason != Reason::Identifier {
            return Ok(None);
        }
        let octets = &self.window.octets()[..self.bounded()];
        if let Step::Complete(length) = Extent::default().advance(octets, AHEAD) {
            return Ok(Some(length));
        }
        let Some(length) = self.definite(0) else { return Ok(None) };
        // Much is read ahead only for what looks like an element inside too.
        let there = length > AHEAD && self.holds_elements(length as u64) && self.window.ensure(length)?;
        Ok(there.then_some(length).filter(|length| *length <= self.bounded()))
    }

    /// Whether the element at the position, which is no record, is as long as it says.
    fn is_believed(&mut self, length: usize, decodes: &mut dyn Decodes) -> Result<bool> {
        self.window.ensure(length.saturating_add(AHEAD))?;
        let octets = self.window.octets();
        let is_like = self.framing.records.is_kin(octets[0]);
        let is_record = self.framing.records.matches(octets);
        let sound = self.is_sound(0, length);
        // Octets that are no record by their kind and hold one are a part of something else.
        let within = if sound || is_record { length } else { 0 };
        let is_cut = !(is_record || sound && is_like) && self.cuts_other(length);
        let is_followed = sound && is_like || !is_cut && self.is_followed(length, decodes);
        Ok(is_followed && !self.is_crossed(0, length, within, decodes))
    }

    /// Whether what looks like a record of a kind that is not known, and holds elements, begins inside of the element at the
    /// position and ends behind it.
    fn cuts_other(&mut self, length: usize) -> bool {
        let mut at = 1;
        while at < length && self.credit > 0 {
            let octets = &self.window.octets()[at..length];
            let Some(next) = octets.iter().position(|octet| self.framing.records.is_kin(*octet)) else {
                break;
            };
            at += next;
            self.credit -= 1 + next as i64 / 8;
            if let Seen::Other(other) | Seen::Record(other) = self.element_at(at, self.bounded())
                && at + other > length
                && self.is_sound(at, other)
            {
                return true;
            }
            at += 1;
        }
        false
    }

    /// Whether the element at a place is a constructed one, and elements are all that it holds.
    fn is_sound(&mut self, at: usize, length: usize) -> bool {
        let octets = self.window.octets().get(at..at + length).unwrap_or_default();
        let Ok(head) = extent::head(octets) else { return false };
        if !head.constructed || self.credit <= 0 {
            return false;
        }
        if head.length.is_none() {
            // The search for its end has been through its elements. A record that has lost its end goes on up to that of another.
            return !self.framing.records.matches(octets);
        }
        let (sound, heads) = extent::elements(&octets[head.size..]);
        self.credit -= i64::from(heads);
        sound
    }

    /// Whether a record begins in the contents of a primitive element that the one at a place holds: octets that are searched
    /// look like elements by chance.
    fn hides_record(&mut self, at: usize, end: usize, decodes: &mut dyn Decodes) -> bool {
        let head = self.window.octets().get(at..end).and_then(|octets| extent::head(octets).ok());
        // End-of-contents octets are no element.
        let end = if head.is_some_and(|head| head.length.is_none()) { end - 2 } else { end };
        let mut at = at + head.map_or(end - at, |head| head.size);
        while at < end {
            let rest = &self.window.octets()[at..end];
            let Step::Complete(length) = Extent::default().advance(rest, usize::MAX) else { return true };
            if rest[0] & 0x20 == 0 && self.is_crossed(at, at + length, at, decodes) {
                return true;
            }
            at += length;
        }
        false
    }

    /// Whether elements stand behind an element, and a record among them, or the list ends.
    fn is_followed(&mut self, at: usize, decodes: &mut dyn Decodes) -> bool {
        let (mut pos, mut records) = (at, 0);
        for _ in 0..WALK {
            match self.behind(pos) {
                Behind::End => return true,
                Behind::At(next) => pos = next,
            }
            match self.element_at(pos, self.bounded()) {
                Seen::Record(length) => {
                    records += 1;
                    if records == CHAIN || self.decodes_at(pos, length, decodes) {
                        return true;
                    }
                    pos += length;
                }
                Seen::Other(length) => pos += length,
                Seen::Large => return true,
                Seen::Nothing => return false,
            }
        }
        false
    }

    /// Whether a record begins between two places and ends behind the place `within`, which is the second or before it.
    fn is_crossed(&mut self, begin: usize, end: usize, within: usize, decodes: &mut dyn Decodes) -> bool {
        let mut at = begin + 1;
        while at < end {
            let octets = self.window.octets();
            let Some(next) = octets[at..end].iter().position(|&octet| self.framing.records.begins(octet))
            else {
                return false;
            };
            self.credit -= 1 + next as i64 / 8;
            // Who has used up the budget is not believed.
            if self.credit <= 0 {
                return true;
            }
            at += next;
            if let Seen::Record(length) = self.element_at(at, self.bounded())
                && at + length > within
                && self.decodes_at(at, length, decodes)
            {
                return true;
            }
            at += 1;
        }
        false
    }

    /// Whether the element at the position, larger than a record may be, is as long as it says.
    fn is_whole_large(&mut self, length: u64, decodes: &mut dyn Decodes) -> Result<bool> {
        self.window.ensure(PIECE + AHEAD)?;
        let fits = self.bound().is_none_or(|bound| length <= bound);
        let border = self.border()?.is_none_or(|border| length == border as u64);
        Ok(fits && border && self.holds_elements(length) && !self.holds_record(length, decodes))
    }

    /// Whether what there is of the element at the position, which has this length, is elements.
    fn holds_elements(&mut self, length: u64) -> bool {
        self.children(length, &mut |_| true)
    }

    /// Whether one of the elements inside of the one at the position is a record: then its length is that of several.
    fn holds_record(&mut self, length: u64, decodes: &mut dyn Decodes) -> bool {
        let records = self.framing.records.clone();
        !self.children(length, &mut |octets| {
            !(records.matches(octets) && decodes.decodes(RecordFormat::Ber, octets))
        })
    }

    /// Asks about the elements inside of the one at the position, as far as they are there; false if one is no element, or
    /// if it is said of one.
    fn children(&mut self, length: u64, ask: &mut dyn FnMut(&[u8]) -> bool) -> bool {
        let octets = self.window.octets();
        let octets =
            &octets[..usize::try_from(length).map_or(octets.len(), |length| length.min(octets.len()))];
        let Ok(head) = extent::head(octets) else { return false };
        let (mut at, mut cost) = (head.size, 0);
        let all = loop {
            if !head.constructed || cost > self.credit {
                break false;
            }
            let Some(rest) = octets.get(at..).filter(|rest| !rest.is_empty()) else { break true };
            let mut extent = Extent::default();
            let step = extent.advance(rest, usize::MAX);
            cost += 1 + i64::from(extent.heads);
            match step {
                Step::Complete(count) if ask(&rest[..count]) => at += count,
                // The last of them may go on behind what is there, but not behind the element.
                Step::Need(count) => {
                    let known = !matches!(extent::head(rest), Err(Stop::Fault(_)));
                    break known && (at as u64).saturating_add(count as u64) <= length;
                }
                _ => break false,
            }
        };
        self.credit -= cost;
        all
    }

    /// Passes over a piece of an element that is larger than a record may be.
    fn pass_large(&mut self, damage: Damage, left: u64) -> Result<usize> {
        self.large = true;
        self.window.ensure(1)?;
        let there = self.window.octets().len().min(PIECE);
        let count = usize::try_from(left).map_or(there, |left| left.min(there));
        if count as u64 == left || count == 0 {
            self.end_damage();
        } else {
            self.damage = Some(Damage { large: Some(left - count as u64), continued: true, ..damage });
        }
        Ok(count)
    }

    /// Whether records follow on each other from a place on, the first of which may be of kinds that are not known.
    pub(super) fn begins_records(&mut self, at: usize) -> bool {
        let mut pos = at;
        for _ in 0..WALK {
            if self.chain(pos).is_some() {
                return true;
            }
            if !self.window.octets().get(pos).is_some_and(|octet| self.framing.records.is_kin(*octet)) {
                return false;
            }
            let Seen::Other(length) = self.element_at(pos, self.bounded()) else { return false };
            // One by itself may be anything, more are those of a kind that is not known.
            let is_sound = self.is_sound(pos, length);
            match self.behind(pos + length) {
                Behind::End => return is_sound,
                Behind::At(next) if is_sound || pos == at => pos = next,
                Behind::At(_) => return false,
            }
        }
        true
    }

    /// Follows a chain of elements that begins with a record.
    fn chain(&mut self, at: usize) -> Option<Chain> {
        let bounded = self.bounded();
        let (mut pos, mut first, mut second) = (at, None, None);
        let (mut records, mut others) = (0, 0);
        for _ in 0..WALK {
            if let Some(first) = first {
                match self.behind(pos) {
                    Behind::End => return Some(Chain { first, second: None }),
                    Behind::At(next) => pos = next,
                }
            }
            match (self.element_at(pos, bounded), first) {
                (Seen::Record(length), _) => {
                    records += 1;
                    first = first.or(Some(length));
                    if records == 2 {
                        second = Some((pos, length)).filter(|_| others > 0);
                    }
                    if records == CHAIN
                        && let Some(first) = first
                    {
                        return Some(Chain { first, second });
                    }
                    pos += length;
                }
                // Records of a kind that is not known begin like the others, but for the number.
                (Seen::Other(length), Some(_)) if self.framing.records.is_kin(self.window.octets()[pos]) => {
                    others += usize::from(!self.is_sound(pos, length));
                    pos += length;
                }
                (Seen::Large, Some(first)) => return Some(Chain { first, second }),
                _ => return None,
            }
        }
        None
    }

    /// The element at a place before another one.
    fn element_at(&mut self, at: usize, bounded: usize) -> Seen {
        let rest = self.window.octets()[..bounded].get(at..).unwrap_or_default();
        let rest = &rest[..rest.len().min(AHEAD)];
        let is_record = self.framing.records.matches(rest);
        let mut extent = Extent::default();
        let step = extent.advance(rest, self.framing.record_limit.max(AHEAD));
        self.credit -= i64::from(extent.heads);
        match step {
            Step::Complete(length) if is_record => Seen::Record(length),
            Step::Complete(length) => Seen::Other(length),
            Step::Need(_) if is_record => Seen::Large,
            _ => Seen::Nothing,
        }
    }

    /// Passes over what stands between records.
    fn behind(&mut self, mut pos: usize) -> Behind {
        let bounded = self.bounded();
        let begin = pos;
        let octets = &self.window.octets()[..bounded];
        while octets.get(pos).is_some_and(|&octet| self.is_filler(octet)) {
            pos += 1;
        }
        // What stands between records outside of all elements is passed over here too.
        if self.frames.is_empty() && !self.ends(octets, pos) {
            pos += self.framing.record_header;
            if self.is_control(pos) {
                return Behind::End;
            }
        }
        let ends = self.ends(octets, pos);
        self.credit -= (pos - begin) as i64 / 8;
        if ends { Behind::End } else { Behind::At(pos) }
    }

    /// Whether the list of records, or the input, ends at this place.
    fn ends(&self, octets: &[u8], at: usize) -> bool {
        if (self.cut || self.sample) && self.window.ended() && at == self.window.octets().len() {
            return true;
        }
        match self.frames.last() {
            Some(Frame { end: Some(end) }) => self.window.offset() + at as u64 == *end,
            Some(Frame { end: None }) => octets.get(at..).is_some_and(|rest| rest.starts_with(&[0, 0])),
            None if self.told().is_some_and(|told| self.window.offset() + at as u64 == told.start) => true,
            None => octets.len().saturating_sub(at) <= self.framing.trailer && self.window.ended(),
        }
    }

    /// Octets up to the end of the record that a length in front of it tells, if another record or the end of the input
    /// follows there.
    pub(super) fn border(&mut self) -> Result<Option<usize>> {
        if !self.bordered || !self.frames.is_empty() {
            return Ok(None);
        }
        let Some(border) = self.window.input().border(self.window.offset()) else { return Ok(None) };
        let Ok(border) = usize::try_from(border - self.window.offset()) else { return Ok(None) };
        if border > self.framing.record_limit {
            return Ok(None);
        }
        if !self.window.ensure(border + 6)? && self.window.octets().len() <= border {
            return Ok(Some(border.min(self.window.octets().len())));
        }
        let next = &self.window.octets()[border..];
        let is_next = self.framing.records.is_kin(next[0]) || self.is_filler(next[0]);
        Ok((is_next || self.framing.records.matches(next)).then_some(border))
    }
}
