//! The reader: one element after the other, with the wrappers around the record list open on a short stack.

use super::carve::{Carved, Carvings, FileFraming};
use super::extent::{self, Extent, Step, Stop};
use super::format::{RecordFormat, Told};
use super::resync::Damage;
use super::window::Window;
use super::{Decodes, Identifiers, Item, Part, Reason};
use crate::split::Split;
use std::io::{Read, Result};
use tercet_runtime::ErrorKind;

/// Octets that one record may have unless told: 64 MiB.
pub const DEFAULT_RECORD_LIMIT: usize = 64 << 20;

/// Octets that a control record has at most.
const CONTROL: usize = 4096;

/// How the records of a stream are to be found.
#[derive(Clone, Debug)]
pub struct Framing {
    /// The elements around the record list, from the outside in; none for concatenated records.
    pub wrappers: Vec<Identifiers>,
    /// What records begin with.
    pub records: Identifiers,
    /// Octets that may stand between records, outside of all elements.
    pub filler: Vec<u8>,
    /// Octets that one record may have.
    pub record_limit: usize,
    /// What stands around and between records, other than elements and filler.
    pub file: FileFraming,
    /// The encoding rules of all records. Unless told, they are those that the headers of TS 32.297 say, and BER where
    /// there are none.
    pub rules: Option<RecordFormat>,
    /// Octets in front of all records that are passed over.
    pub skip: u64,
    /// Octets in front of each record that are passed over.
    pub record_header: usize,
    /// Octets at the end that are passed over.
    pub trailer: usize,
    /// What control records begin with: octets between records that are no elements. Each reaches to the next, or to
    /// where records follow.
    pub controls: Vec<Vec<u8>>,
}

impl Framing {
    /// Concatenated records with these identifiers; filler 00 and FF; records up to 64 MiB.
    pub fn concatenated(records: Identifiers) -> Self {
        Self {
            wrappers: Vec::new(),
            records,
            filler: vec![0x00, 0xFF],
            record_limit: DEFAULT_RECORD_LIMIT,
            file: FileFraming::Plain,
            rules: None,
            skip: 0,
            record_header: 0,
            trailer: 0,
            controls: Vec::new(),
        }
    }
}

/// A place between two items, to come back to.
#[derive(Clone, Debug)]
pub(crate) struct Mark {
    /// Of what is left without file framing.
    offset: u64,
    frames: Vec<Frame>,
    left: bool,
    list_seen: bool,
    skip: u64,
    credit: i64,
}

/// Reads the parts of a record file.
///
/// ```
/// use tercet_records::{Framing, Identifiers, Part, RecordReader};
/// let file = [0x30, 0x03, 0x02, 0x01, 0x05, 0x00, 0x00, 0xFF, 0x30, 0x00];
/// let mut reader = RecordReader::new(&file[..], Framing::concatenated(Identifiers::any()));
/// let mut seen = Vec::new();
/// while let Some(item) = reader.next(&mut |_: &[u8]| true)? {
///     seen.push((item.part, item.offset, item.octets.len()));
/// }
/// assert_eq!(seen, [(Part::Record, 0, 5), (Part::Filler, 5, 3), (Part::Record, 8, 2)]);
/// # std::io::Result::Ok(())
/// ```
#[derive(Debug)]
pub struct RecordReader<R> {
    pub(super) window: Window<Carved<R>>,
    pub(super) framing: Framing,
    filler: Box<[bool; 256]>,
    pub(super) frames: Vec<Frame>,
    /// Octets of the item given last.
    pending: usize,
    may_reject: bool,
    list_seen: bool,
    /// Whether the wrapper octets given last end a wrapper.
    left: bool,
    pub(super) damage: Option<Damage>,
    /// Octets to pass over.
    pub(super) skip: u64,
    /// Whether outside of all elements more may stand than elements and filler.
    opaque: bool,
    /// Whether records may be in other rules than BER.
    coded: bool,
    /// What the search for records after damage may still spend; see `resync`.
    pub(super) credit: i64,
    /// Whether the file goes on where the input ends.
    pub(super) cut: bool,
    /// Whether the input is the first octets of a file that goes on.
    pub(super) sample: bool,
    /// Whether the last octets of a sample begin a record that decodes as far as they go.
    pub(super) begun: bool,
    /// Whether the octets given last are of an element that is larger than a record may be.
    pub(super) large: bool,
    /// Whether the framing tells where records end.
    pub(super) bordered: bool,
}

/// An element around the records whose end has not been met.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    /// Absolute offset of its end, nothing for an indefinite length.
    pub(super) end: Option<u64>,
}

impl<R: Read> RecordReader<R> {
    /// A reader at the begin of a stream.
    pub fn new(input: R, framing: Framing) -> Self {
        let mut filler = Box::new([false; 256]);
        for &octet in &framing.filler {
            filler[usize::from(octet)] = true;
        }
        let skip = framing.skip + framing.record_header as u64;
        let coded = framing.file == FileFraming::Ts32297 || framing.rules.is_some();
        let opaque = skip > 0 || framing.trailer > 0 || !framing.controls.is_empty();
        Self {
            window: Window::new(Carved::new(input, framing.file.clone(), framing.rules)),
            skip,
            opaque: opaque || coded,
            coded,
            filler,
            frames: Vec::new(),
            pending: 0,
            may_reject: false,
            list_seen: false,
            left: false,
            damage: None,
            credit: super::resync::MOST,
            cut: false,
            sample: false,
            begun: false,
            large: false,
            bordered: framing.file.has_lengths(),
            framing,
        }
    }

    /// The same for an input that is a split of a file.
    #[must_use]
    pub fn at(mut self, split: &Split) -> Self {
        self.window.begins_at(split.start);
        self.frames = split.around.iter().map(|&end| Frame { end }).collect();
        self.list_seen = self.frames.len() == self.framing.wrappers.len();
        if split.start > 0 {
            self.skip = if self.frames.is_empty() { self.framing.record_header as u64 } else { 0 };
        }
        self.cut = split.end.is_some();
        if self.cut {
            self.framing.trailer = 0;
        }
        self
    }

    /// The same for the first octets of a file that goes on.
    #[must_use]
    pub(super) fn of_sample(mut self) -> Self {
        self.sample = true;
        self.framing.trailer = 0;
        self
    }

    /// The ends of the elements around the position, from the outside in; nothing for an indefinite length.
    pub(crate) fn around(&self) -> Vec<Option<u64>> {
        self.frames.iter().map(|frame| frame.end).collect()
    }

    /// Octets given out so far, the last item included.
    pub fn position(&self) -> u64 {
        self.window.offset() + self.pending as u64
    }

    /// The place behind the last item, none of damage.
    pub(crate) fn mark(&self) -> Mark {
        let Self { left, list_seen, skip, credit, .. } = *self;
        Mark { offset: self.position(), frames: self.frames.clone(), left, list_seen, skip, credit }
    }

    /// Keeps from now on what it takes to go back to marks; up to the next call with false.
    pub(crate) fn hold(&mut self, held: bool) {
        self.window.input_mut().hold(held);
    }

    /// Says that no mark before this one is gone back to.
    pub(crate) fn release(&mut self, mark: &Mark) {
        self.window.input_mut().forget(mark.offset);
    }

    /// Goes back to a place that only records, filler and what is passed over have followed on: `octets`, all of them. The
    /// item given last is among them, or is `behind` them and comes again.
    pub(crate) fn go_back(&mut self, mark: Mark, octets: &[u8], behind: bool) {
        if !behind {
            self.window.consume(self.pending);
        }
        self.pending = 0;
        self.may_reject = false;
        self.damage = None;
        self.window.prepend(octets);
        let Mark { frames, left, list_seen, skip, credit, .. } = mark;
        (self.frames, self.left, self.list_seen) = (frames, left, list_seen);
        (self.skip, self.credit) = (skip, credit);
    }

    /// What has been taken out around and between records: complete when there is no next part.
    pub fn carvings(&self) -> &Carvings {
        &self.window.input().carvings
    }

    /// Octets of memory held.
    pub fn memory(&self) -> usize {
        self.window.memory()
    }

    /// The next part of the stream, or nothing at its end.
    ///
    /// `is_record` tells whether octets decode as a record; it is asked about candidates behind a damaged place and
    /// nowhere else.
    ///
    /// # Errors
    /// Those of the input.
    #[inline]
    pub fn next(&mut self, is_record: &mut dyn FnMut(&[u8]) -> bool) -> Result<Option<Item<'_>>> {
        self.next_by(&mut |_: RecordFormat, octets: &[u8]| is_record(octets))
    }

    /// The same where more can be asked of octets than whether they are a record.
    pub(super) fn next_by(&mut self, decodes: &mut dyn Decodes) -> Result<Option<Item<'_>>> {
        self.window.consume(self.pending);
        self.pending = 0;
        self.may_reject = false;
        let Some((part, length)) = self.advance(decodes)? else { return Ok(None) };
        self.pending = length;
        self.may_reject = matches!(part, Part::Record | Part::RecordIn(_) | Part::Header | Part::Trailer);
        // A wrapper's own octets stand outside of it: its head has pushed its frame, its end has popped it.
        let depth = self.frames.len() - usize::from(part == Part::Wrapper && !self.left);
        if depth == 0 && matches!(part, Part::Record | Part::RecordIn(_)) {
            self.skip = self.framing.record_header as u64;
        }
        let offset = self.window.offset();
        let offset = self.window.input_mut().original(offset);
        Ok(Some(Item { part, offset, depth, octets: &self.window.octets()[..length] }))
    }

    /// Says that the record, header or trailer given last does not decode: its octets come again as [`Part::Rejected`], as far as the
    /// place where records begin again. Its length is believed if records follow there.
    pub fn reject(&mut self) {
        if self.may_reject {
            let offset = self.window.offset();
            // What a header tells where it ends is rejected up to there.
            let whole = self.coded && self.told().is_some_and(|told| told.start <= offset);
            self.damage = Some(Damage::new(Reason::Undecodable, Some(self.pending)).up_to_there(whole));
            self.pending = 0;
            self.may_reject = false;
        }
    }

    fn advance(&mut self, decodes: &mut dyn Decodes) -> Result<Option<(Part, usize)>> {
        if self.damage.is_none() {
            (self.begun, self.large) = (false, false);
            match self.step()? {
                Found::Part(part, length) => return Ok(Some((part, length))),
                Found::End => return Ok(None),
                Found::Open => {
                    let part = Part::Rejected { reason: Reason::WrapperOpen, continued: false };
                    return Ok(Some((part, 0)));
                }
                Found::Damage(damage) => self.damage = Some(damage),
            }
        }
        self.resync(decodes).map(Some)
    }

    #[inline]
    fn step(&mut self) -> Result<Found> {
        while let Some(Frame { end: Some(end) }) = self.frames.last()
            && *end <= self.window.offset()
        {
            self.frames.pop();
        }
        let depth = self.frames.len();
        if !self.window.ensure(2)? && self.window.octets().is_empty() {
            self.frames.clear();
            return Ok(if depth == 0 || self.cut { Found::End } else { Found::Open });
        }
        if depth == 0
            && self.opaque
            && let Some(found) = self.beside_elements()?
        {
            return Ok(found);
        }
        let octets = self.window.octets();
        let first = octets[0];
        if depth == 0 && self.filler[usize::from(first)] {
            let length = octets.iter().position(|&o| !self.filler[usize::from(o)]).unwrap_or(octets.len());
            return Ok(Found::Part(Part::Filler, length));
        }
        if let Some(Frame { end: None }) = self.frames.last()
            && octets.starts_with(&[0, 0])
        {
            self.frames.pop();
            self.left = true;
            return Ok(Found::Part(Part::Wrapper, 2));
        }
        match self.framing.wrappers.get(depth) {
            // One call, so that it stands in line here.
            None => match self.record()? {
                found if self.coded || self.bordered => self.before_next(found),
                found => Ok(found),
            },
            Some(wrapper) if self.fits(wrapper)? => self.wrapper(),
            Some(_) => self.beside(),
        }
    }

    /// What is no element at the position, outside of all elements.
    fn beside_elements(&mut self) -> Result<Option<Found>> {
        if let Some(length) = self.opaque()? {
            return Ok(Some(Found::Part(Part::Opaque, length)));
        }
        let offset = self.window.offset();
        match self.told().filter(|told| self.coded && told.start <= offset) {
            Some(told) => self.coded_record(told).map(Some),
            None => Ok(None),
        }
    }

    /// The record in other rules than BER at the position, or the next one behind it.
    pub(super) fn told(&self) -> Option<Told> {
        self.window.input().told(self.window.offset())
    }

    /// A record in other rules than BER: as many octets as its header says.
    fn coded_record(&mut self, Told { format, start, end }: Told) -> Result<Found> {
        let offset = self.window.offset();
        let (limit, header) = (self.framing.record_limit as u64, self.framing.record_header as u64);
        let reason = match end - start {
            u64::MAX => Some(Reason::NoLength),
            _ if !self.framing.wrappers.is_empty() => Some(Reason::NoList),
            length if length > limit => Some(Reason::Malformed(ErrorKind::LengthLimit)),
            _ => None,
        };
        let left = usize::try_from(end - offset).unwrap_or(usize::MAX);
        if let Some(reason) = reason {
            let length = self.window.octets().len().min(left);
            let continued = offset > start + header;
            return Ok(Found::Part(Part::Rejected { reason, continued }, length));
        }
        if self.window.ensure(left)? {
            return Ok(Found::Part(Part::RecordIn(format), left));
        }
        let damage = Damage::new(Reason::Truncated, Some(self.window.octets().len()));
        Ok(Found::Damage(damage.up_to_there(true)))
    }

    /// A record in BER, which has to end where its header says, and before one in other rules.
    #[cold]
    fn before_next(&mut self, found: Found) -> Result<Found> {
        let Found::Part(_, length) = &found else { return Ok(found) };
        let told = self.told().is_some_and(|told| self.window.offset() + *length as u64 > told.start);
        if told || self.border()?.is_some_and(|border| *length > border) {
            return Ok(Found::Damage(Damage::new(Reason::BeyondRecord, None)));
        }
        Ok(found)
    }

    /// The length of what is to be passed over at the position, outside of all elements.
    #[inline]
    fn opaque(&mut self) -> Result<Option<usize>> {
        if self.skip > 0 {
            let there = self.window.octets().len();
            let count = usize::try_from(self.skip).map_or(there, |skip| skip.min(there));
            self.skip -= count as u64;
            return Ok(Some(count));
        }
        if self.framing.trailer > 0 && !self.window.ensure(self.framing.trailer + 1)? {
            return Ok(Some(self.window.octets().len()));
        }
        if !self.framing.controls.is_empty() {
            return self.control();
        }
        Ok(None)
    }

    /// The length of the control record at the position.
    fn control(&mut self) -> Result<Option<usize>> {
        self.window.ensure(2 * CONTROL)?;
        if !self.is_control(0) {
            return Ok(None);
        }
        let most = self.window.octets().len().min(CONTROL);
        for at in 1..most {
            // The search has the budget that resynchronisation has.
            self.credit = (self.credit + super::resync::GAIN).min(super::resync::MOST);
            if self.is_control(at) || self.credit > 0 && self.begins_records(at) {
                return Ok(Some(at));
            }
        }
        Ok(Some(most))
    }

    /// Whether a control record begins so far behind the position.
    pub(super) fn is_control(&self, at: usize) -> bool {
        let rest = self.window.octets().get(at..).unwrap_or_default();
        self.framing.controls.iter().any(|signature| rest.starts_with(signature))
    }

    /// Whether the identifier octets at the position, however long, are among these.
    fn fits(&self, ids: &Identifiers) -> Result<bool> {
        Ok(ids.matches(self.window.octets()))
    }

    #[inline]
    fn record(&mut self) -> Result<Found> {
        // The longest identifier has six octets.
        self.window.ensure(6)?;
        if !self.framing.records.matches(self.window.octets()) {
            return Ok(Found::Damage(Damage::new(Reason::Identifier, None)));
        }
        self.element(Part::Record)
    }

    fn beside(&mut self) -> Result<Found> {
        let part = if self.list_seen { Part::Trailer } else { Part::Header };
        self.element(part)
    }

    #[inline]
    fn element(&mut self, part: Part) -> Result<Found> {
        let mut extent = Extent::default();
        let length = loop {
            match extent.advance(self.window.octets(), self.framing.record_limit) {
                Step::Complete(length) => break length,
                Step::Need(count) => {
                    if !self.window.ensure(count)? {
                        return Ok(Found::Damage(Damage::new(Reason::Truncated, None)));
                    }
                }
                Step::Fault(kind) => {
                    let large = (kind == ErrorKind::LengthLimit).then(|| extent::head(self.window.octets()));
                    let large = large
                        .and_then(|head| head.ok())
                        .and_then(|head| head.length.map(|length| length.saturating_add(head.size as u64)));
                    let damage = Damage::new(Reason::Malformed(kind), None).of_large(large);
                    return Ok(Found::Damage(damage));
                }
            }
        };
        if let Some(Frame { end: Some(end) }) = self.frames.last()
            && self.window.offset() + length as u64 > *end
        {
            return Ok(Found::Damage(Damage::new(Reason::BeyondParent, None)));
        }
        Ok(Found::Part(part, length))
    }

    fn wrapper(&mut self) -> Result<Found> {
        let mut count = 2;
        let head = loop {
            match extent::head(self.window.octets()) {
                Ok(head) if head.constructed => break head,
                Ok(_) => {
                    let reason = Reason::Malformed(ErrorKind::ConstructedExpected);
                    return Ok(Found::Damage(Damage::new(reason, None)));
                }
                Err(Stop::Fault(kind)) => {
                    return Ok(Found::Damage(Damage::new(Reason::Malformed(kind), None)));
                }
                Err(Stop::Short) => {
                    count = self.window.octets().len().max(count) + 1;
                    if !self.window.ensure(count)? {
                        return Ok(Found::Damage(Damage::new(Reason::Truncated, None)));
                    }
                }
            }
        };
        let begin = self.window.offset() + head.size as u64;
        let around = self.frames.iter().rev().find_map(|frame| frame.end);
        let end = head.length.map(|length| begin.saturating_add(length));
        let end = end.map(|end| around.map_or(end, |around| around.min(end)));
        self.frames.push(Frame { end });
        self.left = false;
        self.list_seen = self.frames.len() == self.framing.wrappers.len();
        Ok(Found::Part(Part::Wrapper, head.size))
    }

    /// Whether the octet is filler where the reader stands.
    pub(super) fn is_filler(&self, octet: u8) -> bool {
        self.frames.is_empty() && self.filler[usize::from(octet)]
    }
}

enum Found {
    Part(Part, usize),
    Damage(Damage),
    /// The end of the input.
    End,
    /// The end of the input with wrappers open.
    Open,
}
