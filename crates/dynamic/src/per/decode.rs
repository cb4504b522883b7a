//! Decoding: a cursor of bits, and a stack of frames for what [`super::direct`] does not read by calls. This file reads
//! values of any form.

use super::encode::{EncodeState, encode};
use super::frame::{Frame, FrameKind};
use super::integer;
use super::places::owner;
use crate::event::{Discard, Sink};
use crate::keys::{Pending, Registers};
use crate::path::Begun;
use crate::{Error, Options, Part, Tape, path};
use tercet_plan::per::{Code, MANY, NO_DEFAULT, NO_KEY, Program, Sequence, Size, Step};
use tercet_plan::{FieldId, NodeId, Shape};
use tercet_runtime::per::BitReader;
use tercet_runtime::{Error as Fault, ErrorKind};

/// Elements of no bits in one value: they cost nothing to announce, so they are counted.
const EMPTY_ELEMENTS: usize = 65_536;

/// Memory that a decoder keeps from value to value.
#[derive(Debug, Default)]
pub(crate) struct DecodeState {
    pub(super) frames: Vec<Frame>,
    pub(super) registers: Registers,
    pub(super) made: Vec<u8>,
    /// The values that have begun inside of those with frames, the innermost first, once there is a fault.
    pub(super) trail: Vec<Begun>,
    /// Decodes the contents of a string for a trial, before the sink hears of them.
    pub(super) trial: Option<Box<Self>>,
    strict: Option<Box<Strict>>,
}

pub(super) type Result<T> = std::result::Result<T, Fault>;

/// Decodes one value of `root` from the front of the input, and returns the number of octets taken, at least one
/// (X.691 §11.1).
pub(crate) fn decode(
    state: &mut DecodeState,
    shape: &Shape,
    program: &Program,
    root: NodeId,
    input: &[u8],
    sink: &mut impl Sink,
    options: &Options,
) -> std::result::Result<usize, Error> {
    if !program.canonical {
        return read(state, shape, program, root, input, sink, options);
    }
    if sink.wants_places() {
        // The tape has no places: a sink that wants them hears the value as it is read.
        read(state, shape, program, root, input, sink, options)?;
    }
    let mut strict = std::mem::take(&mut state.strict).unwrap_or_default();
    strict.tape.clear();
    strict.reencoded.clear();
    let taken = read(state, shape, program, root, input, &mut strict.tape, options);
    let checked = taken.and_then(|taken| {
        encode(&mut strict.encoder, shape, program, strict.tape.view(input), &mut strict.reencoded)?;
        let differ =
            |(at, (a, b)): (usize, (&u8, &u8))| (a != b).then(|| at * 8 + (a ^ b).leading_zeros() as usize);
        let common = input.iter().zip(&strict.reencoded).enumerate().find_map(differ);
        match common.filter(|bit| bit / 8 < taken) {
            None if strict.reencoded.len() == taken => Ok(taken),
            bit => {
                let bit = bit.unwrap_or_else(|| strict.reencoded.len().min(taken) * 8);
                let fault = Fault::at_bit(ErrorKind::NotCanonical, bit as u64).shifted(options.base_offset);
                let name = shape.type_name(root).unwrap_or_default();
                Err(Error::from(fault).with_path(name))
            }
        }
    });
    if checked.is_ok() && !sink.wants_places() {
        strict.tape.view(input).replay_wanted(sink);
    }
    state.strict = Some(strict);
    checked
}

/// Checks canonical encodings by encoding the value again: there is only one encoding for it.
#[derive(Debug, Default)]
struct Strict {
    tape: Tape,
    encoder: EncodeState,
    reencoded: Vec<u8>,
}

fn read(
    state: &mut DecodeState,
    shape: &Shape,
    program: &Program,
    root: NodeId,
    input: &[u8],
    sink: &mut impl Sink,
    options: &Options,
) -> std::result::Result<usize, Error> {
    state.frames.clear();
    state.trail.clear();
    state.registers.begin(shape);
    let mut engine = Engine {
        state,
        shape,
        program,
        reader: BitReader::new(input),
        sink,
        options,
        limit: usize::from(options.limits.depth.min(1000)),
        events: 0,
        empty: 0,
        nested: 0,
        calls: 0,
        room: 0,
        remaining_calls: 0,
        base: 0,
        pending: None,
        at: FieldId::ROOT,
    };
    match engine.value(&program.values[root.index()]).and_then(|()| engine.run()) {
        Ok(bits) if bits == 0 && input.is_empty() => {
            let fault = Fault::incomplete_at_bit(0, 1).shifted(options.base_offset);
            Err(Error::from(fault).with_path(path::of_begun(shape, std::iter::empty(), FieldId::ROOT, root)))
        }
        Ok(bits) => {
            let octets = bits.div_ceil(8).max(1);
            if engine.sink.wants_places() {
                engine.place((FieldId::ROOT, root), Part::EndPadding, bits, octets * 8, None);
            }
            Ok(octets)
        }
        Err(fault) => {
            let begun = engine.state.frames.iter().filter_map(Frame::begun);
            let begun = begun.chain(engine.state.trail.iter().rev().copied());
            let path = path::of_begun(shape, begun, engine.at, root);
            Err(Error::from(fault.shifted(options.base_offset)).with_path(path))
        }
    }
}

pub(super) struct Engine<'a, S> {
    pub(super) state: &'a mut DecodeState,
    pub(super) shape: &'a Shape,
    pub(super) program: &'a Program,
    pub(super) reader: BitReader<'a>,
    pub(super) sink: &'a mut S,
    pub(super) options: &'a Options,
    /// Greatest number of frames, without the calls around.
    pub(super) limit: usize,
    /// Number of events of parts that may have no bits, and of those among them that belong to elements without bits.
    pub(super) events: usize,
    pub(super) empty: usize,
    /// Number of strings and fragmented open types around that are read by separate calls.
    pub(super) nested: u32,
    /// Number of calls around the running loop over frames, the greatest number of calls in it, and how many remain.
    pub(super) calls: u32,
    pub(super) room: u32,
    pub(super) remaining_calls: u32,
    /// Number of frames that belong to the values around this call.
    pub(super) base: usize,
    /// The key that the CHOICE being read is.
    pub(super) pending: Option<Pending>,
    /// The field being read, for the path of an error.
    pub(super) at: FieldId,
}

impl<'a, S: Sink> Engine<'a, S> {
    /// Reads or begins a component, element or addition, which the sink may not want.
    pub(super) fn value_wanted(&mut self, step: &Step) -> Result<()> {
        if self.sink.wants(FieldId(step.field)) { self.value(step) } else { self.unwanted(step) }
    }

    /// Reads or begins a value of any form. Returns the step of the value that follows at once: an alternative, or the
    /// content of an open type.
    #[inline(never)]
    pub(super) fn begin_any(&mut self, step: &Step) -> Result<Option<Step>> {
        let (field, node) = (FieldId(step.field), NodeId(step.node));
        self.at = field;
        match self.program.nodes[node.index()] {
            Code::Sequence(code) => self.sequence(field, node, code)?,
            Code::SequenceOf(size, element) => self.begin_list(field, node, size, element)?,
            Code::Choice(code) => return self.choice(step, code),
            Code::Open => {
                let inside = self.open_type(field, node)?;
                return Ok(inside.map(|inside| self.program.values[inside.index()]));
            }
            _ => self.leaf(step)?,
        }
        Ok(None)
    }

    /// Reads a value that the sink does not want.
    #[cold]
    pub(super) fn unwanted(&mut self, step: &Step) -> Result<()> {
        let mut nobody = Discard;
        let around = self.enter();
        let mut engine = Engine {
            state: &mut *self.state,
            shape: self.shape,
            program: self.program,
            reader: self.reader,
            sink: &mut nobody,
            options: self.options,
            limit: self.limit,
            events: self.events,
            empty: self.empty,
            nested: self.nested,
            calls: self.calls,
            room: 0,
            remaining_calls: 0,
            base: self.base,
            pending: None,
            at: self.at,
        };
        let read = engine.value(step).and_then(|()| engine.run());
        if read.is_err() {
            engine.gather_trail();
        }
        let (start, position) = (self.reader.position(), engine.reader.position());
        (self.events, self.empty, self.at) = (engine.events, engine.empty, engine.at);
        self.leave(around);
        self.reader.seek(position);
        read?;
        if self.sink.wants_places() {
            self.place_contents(owner(step), start);
        }
        Ok(())
    }

    /// Checks that the depth limit allows one more frame.
    #[inline(always)]
    pub(super) fn deeper(&self) -> Result<()> {
        if self.state.frames.len() >= self.limit { self.deepest() } else { Ok(()) }
    }

    /// Counts the values among the frames: those of extensions are no level of their own.
    #[cold]
    #[inline(never)]
    fn deepest(&self) -> Result<()> {
        if self.values() >= self.limit { Err(self.fault(ErrorKind::DepthLimit)) } else { Ok(()) }
    }

    /// Returns the number of values that have frames.
    pub(super) fn values(&self) -> usize {
        self.state.frames.iter().filter(|frame| frame.is_value()).count()
    }

    #[inline(always)]
    pub(super) fn push(&mut self, frame: Frame) -> Result<()> {
        if self.state.frames.len() >= self.limit && frame.is_value() {
            self.deepest()?;
        }
        self.state.frames.push(frame);
        Ok(())
    }

    /// Returns the frame of the value being read; there is one while [`Self::run`] runs.
    #[inline(always)]
    pub(super) fn top(&mut self) -> &mut Frame {
        let top = self.state.frames.len() - 1;
        &mut self.state.frames[top]
    }

    /// Removes the current frame, and reports the end of its value to the sink.
    #[inline(always)]
    pub(super) fn close(&mut self) {
        if let Some(frame) = self.state.frames.pop() {
            self.sink.close(frame.field, frame.node);
        }
    }

    pub(super) fn fault(&self, kind: ErrorKind) -> Fault {
        self.reader.error(kind)
    }

    // SEQUENCE and SET (§19, §21)

    /// Begins a SEQUENCE or SET that has keys, or whose presence bits are read one by one: they are many, or absent
    /// components are reported.
    fn sequence(&mut self, field: FieldId, node: NodeId, code: u32) -> Result<()> {
        let sequence = &self.program.sequences[code as usize];
        self.deeper()?;
        let start = self.reader.position();
        let mut frame = Frame::new(FrameKind::Members, field, node);
        frame.scoped = !sequence.scopes.is_empty();
        self.state.registers.enter(&sequence.scopes, &sequence.keys);
        self.pending = None;
        let count = sequence.root.len() as u32;
        self.events += count as usize;
        (frame.cursor, frame.end) = (sequence.first, sequence.first + count);
        let optional = sequence.optional;
        if self.is_narrow(optional) {
            // The extension bit and the presence bits at once.
            let width = optional + u32::from(sequence.extensible);
            let Some(bits) = self.reader.number(width, 0, u64::MAX) else {
                return Err(too_short(self.reader, width));
            };
            frame.bits = bits << (63 - optional) << 1;
            frame.more = bits >> optional != 0;
        } else {
            frame.more = sequence.extensible && self.reader.bit()?;
            frame.wide = true;
            frame.bits = self.reader.position() as u64;
            self.reader.skip(optional as usize)?;
        }
        if self.sink.wants_places() {
            let at = start + usize::from(sequence.extensible);
            self.place((field, node), Part::ExtensionBit, start, at, None);
            self.place_field((field, node), Part::Preamble, at, false, None);
        }
        self.sink.open(field, node);
        self.state.frames.push(frame);
        Ok(())
    }

    /// Returns whether a word holds so many presence bits.
    pub(super) fn is_narrow(&self, optional: u32) -> bool {
        optional < u32::from(MANY) && !self.options.fill_defaults
    }

    /// Returns the code of a SEQUENCE or SET.
    pub(super) fn sequence_of(&self, node: NodeId) -> Option<&'a Sequence> {
        let program = self.program;
        match program.nodes.get(node.index()) {
            Some(Code::Sequence(code)) => program.sequences.get(*code as usize),
            _ => None,
        }
    }

    /// Ends a SEQUENCE or SET and the scope of its keys.
    pub(super) fn end_sequence(&mut self, frame: &Frame) {
        if frame.scoped {
            let scopes = self.sequence_of(frame.node).map_or(0, |sequence| sequence.scopes.len());
            self.state.registers.leave(scopes);
        }
        self.sink.close(frame.field, frame.node);
    }

    /// Returns a bit that has been passed over.
    #[inline]
    pub(super) fn bit_at(&self, at: usize) -> bool {
        self.reader.input().get(at >> 3).is_some_and(|octet| octet << (at & 7) & 0x80 != 0)
    }

    #[inline(always)]
    pub(super) fn absent(&mut self, step: &Step) {
        if step.constant != NO_DEFAULT && self.options.fill_defaults {
            self.sink.absent(FieldId(step.field), NodeId(step.node), step.constant);
        }
    }

    // Lists (§20, §22)

    fn begin_list(&mut self, field: FieldId, node: NodeId, size: Size, element: u32) -> Result<()> {
        self.deeper()?;
        self.pending = None;
        let mut frame = Frame::new(FrameKind::List, field, node);
        let start = self.reader.position();
        let (count, more) = self.size(&size)?;
        if self.sink.wants_places() {
            self.place_size((field, node), &size, start, count);
        }
        (frame.bits, frame.more, frame.code) = (count as u64, more, element);
        self.sink.open(field, node);
        self.state.frames.push(frame);
        Ok(())
    }

    /// Counts elements without bits, which cost nothing to announce.
    #[cold]
    pub(super) fn count_empty(&mut self, events: u32) -> Result<()> {
        self.empty += (self.events as u32).wrapping_sub(events) as usize;
        if self.empty > EMPTY_ELEMENTS {
            return Err(self.fault(ErrorKind::LimitExceeded));
        }
        Ok(())
    }

    /// Reads a size (§11.9.4): the number of units, and whether a fragment follows them.
    #[inline(always)]
    pub(super) fn size(&mut self, size: &Size) -> Result<(usize, bool)> {
        let (lo, number) = match size.field {
            Some(field) => {
                let (width, pad) = (u32::from(field.width), u32::from(field.pad));
                (field.lo, self.reader.number(width, pad, u64::from(field.most)))
            }
            None if size.whole.is_none() && !size.extensible => (0, self.short_length()),
            None => (0, None),
        };
        match number {
            Some(number) => Ok((lo as usize + number as usize, false)),
            None => self.any_size(*size),
        }
    }

    /// Reads a general length determinant below 128 (§11.9.3.6); `None`, without a step, if it is of another form.
    #[inline(always)]
    pub(super) fn short_length(&mut self) -> Option<u64> {
        self.reader.number(8, if self.program.aligned { 7 } else { 0 }, 127)
    }

    /// Reads a general length determinant from 128 to below 16K; `None`, without a step, if it is of another form.
    #[inline(never)]
    pub(super) fn longer_length(&mut self) -> Option<u64> {
        let length = self.reader.number(16, if self.program.aligned { 7 } else { 0 }, 0xbfff)?;
        Some(length & 0x3fff)
    }

    #[inline(never)]
    fn any_size(&mut self, size: Size) -> Result<(usize, bool)> {
        let outside = size.extensible && self.reader.bit()?;
        match size.whole {
            Some(whole) if !outside => {
                let start = self.reader;
                let count = u64::from(size.lo) + integer::read_whole(&mut self.reader, whole)?;
                if count > u64::from(size.hi) {
                    return Err(start.error(ErrorKind::ConstraintViolated));
                }
                Ok((count as usize, false))
            }
            _ => {
                let length = self.reader.length(self.program.aligned)?;
                Ok((length.count, length.more))
            }
        }
    }

    // CHOICE (§23)

    /// Begins a CHOICE of any form. Returns the step of the alternative that follows, unless it has been read.
    fn choice(&mut self, step: &Step, code: u32) -> Result<Option<Step>> {
        let program = self.program;
        let choice = &program.choices[code as usize];
        let (field, node) = (FieldId(step.field), NodeId(step.node));
        self.deeper()?;
        if step.key != NO_KEY {
            self.pending = Some(Pending::new(step.key));
        }
        let start = self.reader;
        if choice.extensible && self.reader.bit()? {
            return self.added_alternative(field, node, choice);
        }
        let number = integer::read_whole(&mut self.reader, choice.whole)?;
        let alternative = program.steps.get(choice.first as usize + number as usize);
        let Some(alternative) = alternative.filter(|_| number < choice.root.len() as u64) else {
            return Err(start.error(ErrorKind::UnknownAlternative));
        };
        if let Some(pending) = &mut self.pending {
            pending.push(FieldId(alternative.field));
        }
        if self.sink.wants_places() {
            let at = start.position() + usize::from(choice.extensible);
            self.place((field, node), Part::ExtensionBit, start.position(), at, None);
            self.place_whole((field, node), Part::Index, choice.whole, at, Some(number));
        }
        self.sink.open(field, node);
        self.state.frames.push(Frame::new(FrameKind::Choice, field, node));
        Ok(Some(*alternative))
    }
}

#[cold]
#[inline(never)]
pub(super) fn too_short(mut reader: BitReader<'_>, width: u32) -> Fault {
    reader.skip(width as usize).err().unwrap_or_else(|| reader.error(ErrorKind::Incomplete))
}
