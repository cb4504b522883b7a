//! Decoding: an explicit stack of frames over a cursor of bits.
//!
//! Each loop over components reads those without parts where they stand, by [`Step`]s that have all it takes in one
//! place and with a copy of the reader that stays in registers; whatever else there is leaves the loop.

use super::encode::{EncodeState, encode};
use super::frame::{Frame, What};
use super::integer;
use crate::event::{Discard, Sink};
use crate::keys::{Pending, Registers};
use crate::{Error, Options, Tape, path};
use tercet_plan::per::{Choice, Code, NO_DEFAULT, NO_KEY, Op, Program, Size, Step};
use tercet_plan::{FieldId, NodeId, Shape};
use tercet_runtime::per::BitReader;
use tercet_runtime::{Error as Fault, ErrorKind};

/// Elements of no bits in one value: they cost nothing to announce, so they are counted.
const EMPTY_ELEMENTS: usize = 65_536;

/// What a decoder keeps from value to value.
#[derive(Debug, Default)]
pub(crate) struct DecodeState {
    pub(super) frames: Vec<Frame>,
    pub(super) registers: Registers,
    pub(super) made: Vec<u8>,
    /// For reading what is in strings ahead.
    pub(super) trial: Option<Box<Self>>,
    strict: Option<Box<Strict>>,
}

pub(super) type Result<T> = std::result::Result<T, Fault>;

/// Decodes one value of `root` from the front of the input: the octets taken, at least one (X.691 §11.1).
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
    let mut strict = std::mem::take(&mut state.strict).unwrap_or_default();
    strict.tape.clear();
    strict.again.clear();
    let taken = read(state, shape, program, root, input, &mut strict.tape, options);
    let checked = taken.and_then(|taken| {
        encode(&mut strict.encoder, shape, program, strict.tape.view(input), &mut strict.again)?;
        let differ =
            |(at, (a, b)): (usize, (&u8, &u8))| (a != b).then(|| at * 8 + (a ^ b).leading_zeros() as usize);
        let common = input.iter().zip(&strict.again).enumerate().find_map(differ);
        match common.filter(|bit| bit / 8 < taken) {
            None if strict.again.len() == taken => Ok(taken),
            bit => {
                let bit = bit.unwrap_or_else(|| strict.again.len().min(taken) * 8);
                let fault = Fault::at_bit(ErrorKind::NotCanonical, bit as u64).shifted(options.base_offset);
                let name = shape.node(root).name.map_or("", |name| shape.name(name));
                Err(Error::from(fault).with_path(name))
            }
        }
    });
    if checked.is_ok() {
        strict.tape.view(input).replay_wanted(sink);
    }
    state.strict = Some(strict);
    checked
}

/// Canonical encodings are told by writing the value again: there is only one for it.
#[derive(Debug, Default)]
struct Strict {
    tape: Tape,
    encoder: EncodeState,
    again: Vec<u8>,
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
    state.registers.begin(shape);
    let mut engine = Engine {
        state,
        shape,
        program,
        reader: BitReader::new(input),
        sink,
        options,
        limit: usize::from(options.limits.depth.min(1000)),
        said: 0,
        empty: 0,
        nested: 0,
        base: 0,
        pending: None,
        at: FieldId::ROOT,
    };
    match engine.value(&program.step_of(root.0)).and_then(|()| engine.run()) {
        Ok(bits) if bits == 0 && input.is_empty() => {
            let fault = Fault::incomplete_at_bit(0, 1).shifted(options.base_offset);
            Err(Error::from(fault).with_path(path::of_begun(shape, std::iter::empty(), FieldId::ROOT, root)))
        }
        Ok(bits) => Ok(bits.div_ceil(8).max(1)),
        Err(fault) => {
            let path =
                path::of_begun(shape, engine.state.frames.iter().filter_map(Frame::begun), engine.at, root);
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
    /// Frames that there may be.
    pub(super) limit: usize,
    /// Events of parts that may have no bits, and those among them of elements that had none.
    pub(super) said: usize,
    pub(super) empty: usize,
    /// Strings and fragmented open types around that are read by a call of their own.
    pub(super) nested: u32,
    /// Frames that belong to the values around this call.
    pub(super) base: usize,
    /// The key that the CHOICE being read is.
    pub(super) pending: Option<Pending>,
    /// The field being read, for the path of an error.
    pub(super) at: FieldId,
}

impl<'a, S: Sink> Engine<'a, S> {
    /// Reads what has begun to its end; the answer is the number of bits.
    pub(super) fn run(&mut self) -> Result<usize> {
        while self.state.frames.len() > self.base {
            match self.top().what {
                What::Additions => self.additions()?,
                _ => self.walk()?,
            }
        }
        Ok(self.reader.position())
    }

    /// Reads a value without parts, or begins one that has some.
    pub(super) fn value(&mut self, step: &Step) -> Result<()> {
        self.at = FieldId(step.field);
        match step.op {
            Op::Null | Op::Number { .. } | Op::Leaf => self.leaf(step),
            _ => self.begin(step).map(drop),
        }
    }

    /// The same for an addition, which the sink may not want.
    pub(super) fn value_wanted(&mut self, step: &Step) -> Result<()> {
        if self.sink.wants(FieldId(step.field)) { self.value(step) } else { self.unwanted(step) }
    }

    /// Begins a value with parts; `false` when it has been read, and no frame was left.
    pub(super) fn begin(&mut self, step: &Step) -> Result<bool> {
        let frames = self.state.frames.len();
        let mut step = step;
        let mut content;
        loop {
            let (field, node) = (FieldId(step.field), NodeId(step.node));
            self.at = field;
            match step.op {
                Op::Sequence(code) => {
                    let frame = self.sequence(field, node, code)?;
                    self.push(frame)?;
                }
                Op::List => {
                    let frame = self.begin_list(field, node)?;
                    self.push(frame)?;
                }
                Op::Choice(code) => {
                    let Some(alternative) = self.choice(step, code)? else { return Ok(true) };
                    self.at = FieldId(alternative.field);
                    let choice = Frame::new(What::Choice, field, node);
                    if !matches!(alternative.op, Op::Null | Op::Number { .. } | Op::Leaf) {
                        self.push(choice)?;
                        step = alternative;
                        continue;
                    }
                    // Only an error needs the frame.
                    if let Err(fault) = self.leaf(alternative) {
                        self.state.frames.push(choice);
                        return Err(fault);
                    }
                    self.sink.close(field, node);
                }
                Op::Open => {
                    if let Some(inside) = self.open_type(field, node)? {
                        content = self.program.step_of(inside);
                        step = &content;
                        continue;
                    }
                }
                _ => self.leaf(step)?,
            }
            return Ok(self.state.frames.len() > frames);
        }
    }

    /// Reads a value that the sink does not want.
    #[cold]
    pub(super) fn unwanted(&mut self, step: &Step) -> Result<()> {
        let (base, mut nobody) = (self.state.frames.len(), Discard);
        let mut engine = Engine {
            state: &mut *self.state,
            shape: self.shape,
            program: self.program,
            reader: self.reader,
            sink: &mut nobody,
            options: self.options,
            limit: self.limit,
            said: self.said,
            empty: self.empty,
            nested: self.nested,
            base,
            pending: None,
            at: self.at,
        };
        let read = engine.value(step).and_then(|()| engine.run());
        let position = engine.reader.position();
        (self.said, self.empty, self.at) = (engine.said, engine.empty, engine.at);
        self.reader.seek(position);
        read.map(drop)
    }

    #[inline(always)]
    pub(super) fn push(&mut self, frame: Frame) -> Result<()> {
        if self.state.frames.len() >= self.limit {
            return Err(self.reader.error(ErrorKind::DepthLimit));
        }
        self.state.frames.push(frame);
        Ok(())
    }

    /// The frame of the value being read; there is one while [`Self::run`] runs.
    #[inline(always)]
    pub(super) fn top(&mut self) -> &mut Frame {
        let top = self.state.frames.len() - 1;
        &mut self.state.frames[top]
    }

    /// Takes the frame away and says that its value ends.
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

    #[inline(always)]
    pub(super) fn sequence(&mut self, field: FieldId, node: NodeId, code: u32) -> Result<Frame> {
        let sequence = &self.program.sequences[code as usize];
        let mut frame = Frame::new(What::Members, field, node);
        if sequence.keyed {
            frame.scoped = !sequence.scopes.is_empty();
            self.state.registers.enter(&sequence.scopes, &sequence.keys);
        }
        self.pending = None;
        let count = sequence.root.len() as u32;
        self.said += count as usize;
        frame.code = code;
        (frame.cursor, frame.end) = (sequence.first, sequence.first + count);
        let optional = sequence.optional;
        if optional < 56 && !self.options.fill_defaults {
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
        self.sink.open(field, node);
        Ok(frame)
    }

    /// A SEQUENCE or SET ends, and with it its keys.
    #[inline(always)]
    pub(super) fn end_sequence(&mut self, frame: &Frame) {
        if frame.scoped {
            let scopes = self.program.sequences.get(frame.code as usize).map_or(0, |code| code.scopes.len());
            self.state.registers.leave(scopes);
        }
        self.sink.close(frame.field, frame.node);
    }

    /// A bit that has been passed over.
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

    pub(super) fn begin_list(&mut self, field: FieldId, node: NodeId) -> Result<Frame> {
        let Some(Code::SequenceOf(size, element)) = self.program.nodes.get(node.index()).copied() else {
            return Err(self.fault(ErrorKind::Unsupported));
        };
        self.pending = None;
        let mut frame = Frame::new(What::List, field, node);
        let (count, more) = self.size(size)?;
        (frame.bits, frame.more, frame.code) = (count as u64, more, element);
        self.sink.open(field, node);
        Ok(frame)
    }

    /// An element without bits costs nothing to announce.
    #[cold]
    pub(super) fn count_empty(&mut self, said: usize) -> Result<()> {
        self.empty += self.said - said;
        if self.empty > EMPTY_ELEMENTS {
            return Err(self.fault(ErrorKind::LimitExceeded));
        }
        Ok(())
    }

    /// A size (§11.9.4): the number of units, and whether a fragment follows them.
    pub(super) fn size(&mut self, size: Size) -> Result<(usize, bool)> {
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

    /// Begins a CHOICE: the alternative that follows, unless it has begun already with frames around it.
    #[inline(always)]
    fn choice(&mut self, step: &Step, code: u32) -> Result<Option<&'a Step>> {
        let program = self.program;
        let choice = &program.choices[code as usize];
        let (field, node) = (FieldId(step.field), NodeId(step.node));
        if step.key != NO_KEY {
            self.pending = Some(Pending::new(step.key));
        }
        let Some(alternative) = alternative(program, choice, &mut self.reader) else {
            return self.rare_alternative(field, node, choice);
        };
        if let Some(pending) = &mut self.pending {
            pending.push(FieldId(alternative.field));
        }
        self.sink.open(field, node);
        Ok(Some(alternative))
    }

    /// An alternative behind the extension marker, one of more than 64K, and what is none.
    #[inline(never)]
    fn rare_alternative(
        &mut self,
        field: FieldId,
        node: NodeId,
        choice: &'a Choice,
    ) -> Result<Option<&'a Step>> {
        let start = self.reader;
        if choice.extensible && self.reader.bit()? {
            self.added_alternative(field, node, choice, &start)?;
            return Ok(None);
        }
        let number = integer::read_whole(&mut self.reader, choice.whole)?;
        let alternative = self.program.steps.get(choice.first as usize + number as usize);
        let Some(alternative) = alternative.filter(|_| number < choice.root.len() as u64) else {
            return Err(start.error(ErrorKind::UnknownAlternative));
        };
        if let Some(pending) = &mut self.pending {
            pending.push(FieldId(alternative.field));
        }
        self.sink.open(field, node);
        Ok(Some(alternative))
    }
}

/// The alternative of the root that is next; nothing, and no step, if it is of another form.
#[inline(always)]
pub(super) fn alternative<'a>(
    program: &'a Program,
    choice: &Choice,
    reader: &mut BitReader<'_>,
) -> Option<&'a Step> {
    let (width, pad) = choice.field?;
    let most = (choice.root.len() as u64).checked_sub(1)?;
    let number = reader.number(u32::from(width), u32::from(pad), most)?;
    program.steps.get(choice.first as usize + number as usize)
}

#[cold]
#[inline(never)]
fn too_short(mut reader: BitReader<'_>, width: u32) -> Fault {
    reader.skip(width as usize).err().unwrap_or_else(|| reader.error(ErrorKind::Incomplete))
}
