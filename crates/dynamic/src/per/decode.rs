//! Decoding: an explicit stack of frames over a cursor of bits.
//!
//! Presence bits and bitmaps are not copied: a frame remembers where they stand in the input.

use super::encode::{EncodeState, encode};
use super::frame::{Frame, What};
use super::integer;
use super::open::{Inside, Octets};
use crate::event::{Leaf, Sink};
use crate::keys::Registers;
use crate::{Error, Options, Tape, Unknown, path};
use tercet_plan::per::{Addition, Code, Member, NO_KEY, Program, Size};
use tercet_plan::shape::Presence;
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
        strict.tape.view(input).replay(sink);
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
        said: 0,
        empty: 0,
        fragmented: 0,
        pending_key: None,
        at: FieldId::ROOT,
    };
    match engine.value(FieldId::ROOT, root).and_then(|()| engine.run()) {
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
    /// Events of parts that may have no bits, and those among them of elements that had none.
    pub(super) said: usize,
    pub(super) empty: usize,
    pub(super) fragmented: u32,
    /// The register of a CHOICE that is a key, and which alternative was taken.
    pub(super) pending_key: Option<u16>,
    /// The field being read, for the path of an error.
    pub(super) at: FieldId,
}

impl<'a, S: Sink> Engine<'a, S> {
    /// Reads what has begun to its end; the answer is the number of bits.
    pub(super) fn run(&mut self) -> Result<usize> {
        while let Some(frame) = self.state.frames.last().copied() {
            match frame.what {
                What::Members => self.members(frame)?,
                What::Additions => self.additions(frame)?,
                What::Group => self.group(frame)?,
                What::List => self.list(frame)?,
                What::Choice | What::Open => {
                    self.state.frames.pop();
                    self.sink.close(frame.field, frame.node);
                }
                What::Wrapper => {
                    self.state.frames.pop();
                    self.leave_wrapper(&frame)?;
                }
            }
        }
        Ok(self.reader.position())
    }

    /// Reads or begins a value.
    pub(super) fn value(&mut self, field: FieldId, node: NodeId) -> Result<()> {
        let (mut field, mut node) = (field, node);
        loop {
            self.at = field;
            match self.program.nodes[node.index()] {
                Code::Sequence(code) => return self.sequence(field, node, code),
                Code::SequenceOf(size) => return self.begin_list(field, node, size),
                Code::Choice(code) => match self.choice(field, node, code)? {
                    Some(alternative) => {
                        node = NodeId(self.program.fields[alternative.index()].node);
                        field = alternative;
                    }
                    None => return Ok(()),
                },
                Code::Open => match self.open_type(field, node)? {
                    Some(content) => {
                        node = content;
                        field = FieldId::ROOT;
                    }
                    None => return Ok(()),
                },
                ref code => return self.leaf(field, node, code),
            }
        }
    }

    pub(super) fn push(&mut self, frame: Frame) -> Result<()> {
        let limit = usize::from(self.options.limits.depth.min(1000));
        if self.state.frames.len() >= limit {
            return Err(self.reader.error(ErrorKind::DepthLimit));
        }
        self.state.frames.push(frame);
        Ok(())
    }

    pub(super) fn fault(&self, kind: ErrorKind) -> Fault {
        self.reader.error(kind)
    }

    // SEQUENCE and SET (§19, §21)

    pub(super) fn sequence(&mut self, field: FieldId, node: NodeId, code: u32) -> Result<()> {
        let sequence = &self.program.sequences[code as usize];
        for key in &sequence.keys {
            self.state.registers.forget(*key);
        }
        self.pending_key = None;
        self.said += sequence.root.len();
        let mut frame = Frame::new(What::Members, field, node, code);
        frame.more = sequence.extensible && self.reader.bit()?;
        frame.bits = self.reader.position();
        self.reader.skip(sequence.optional as usize)?;
        self.sink.open(field, node);
        self.push(frame)
    }

    /// Goes on with the root members.
    pub(super) fn members(&mut self, mut frame: Frame) -> Result<()> {
        let program = self.program;
        let sequence = &program.sequences[frame.code as usize];
        if self.each(&mut frame, &sequence.root)? {
            return Ok(());
        }
        if frame.more {
            self.begin_additions(&mut frame)?;
        } else {
            self.absent_additions(&frame, &sequence.additions, 0);
            self.end(&frame);
            return Ok(());
        }
        self.replace(frame);
        Ok(())
    }

    /// Reads members until one has begun that needs a frame of its own (`true`) or all are read.
    pub(super) fn each(&mut self, frame: &mut Frame, members: &[Member]) -> Result<bool> {
        let program = self.program;
        let first = self.shape.node(frame.node).first;
        while let Some(member) = members.get(frame.cursor as usize) {
            frame.cursor += 1;
            let id = FieldId(first + member.field);
            if member.optional {
                let there = self.bit_at(frame.bits);
                frame.bits += 1;
                if !there {
                    self.absent(id);
                    continue;
                }
            }
            self.at = id;
            let node = program.fields[id.index()].node;
            let code = &program.nodes[node as usize];
            if code.is_framed() {
                if let Some(top) = self.state.frames.last_mut() {
                    (top.cursor, top.bits) = (frame.cursor, frame.bits);
                }
                self.value(id, NodeId(node))?;
                return Ok(true);
            }
            self.leaf(id, NodeId(node), code)?;
        }
        Ok(false)
    }

    pub(super) fn replace(&mut self, frame: Frame) {
        if let Some(top) = self.state.frames.last_mut() {
            *top = frame;
        }
    }

    pub(super) fn end(&mut self, frame: &Frame) {
        self.state.frames.pop();
        self.sink.close(frame.field, frame.node);
    }

    /// A bit that has been passed over.
    pub(super) fn bit_at(&self, at: usize) -> bool {
        self.reader.input().get(at >> 3).is_some_and(|octet| octet << (at & 7) & 0x80 != 0)
    }

    pub(super) fn absent(&mut self, id: FieldId) {
        if self.options.fill_defaults
            && let field = self.shape.field(id)
            && let Presence::Default(constant) = field.presence
        {
            self.sink.absent(id, field.node, constant);
        }
    }

    // Extension additions (§19.7 to §19.9)

    pub(super) fn begin_additions(&mut self, frame: &mut Frame) -> Result<()> {
        let count = self.reader.small_length(self.program.aligned)?;
        frame.what = What::Additions;
        frame.cursor = 0;
        frame.count = count as u32;
        frame.bits = self.reader.position();
        self.reader.skip(count)
    }

    pub(super) fn additions(&mut self, mut frame: Frame) -> Result<()> {
        let program = self.program;
        let additions = &program.sequences[frame.code as usize].additions;
        while frame.cursor < frame.count {
            let number = frame.cursor;
            frame.cursor += 1;
            let there = self.bit_at(frame.bits + number as usize);
            let known = additions.get(number as usize);
            if !there {
                self.absent_additions(
                    &frame,
                    additions.get(number as usize..=number as usize).unwrap_or_default(),
                    0,
                );
                continue;
            }
            self.at = frame.field;
            match known {
                None => self.unknown(number)?,
                Some(Addition::Single(field)) => {
                    let id = FieldId(self.shape.node(frame.node).first + field);
                    self.replace(frame);
                    self.at = id;
                    self.wrapped(id, self.shape.field(id).node)?;
                    return Ok(());
                }
                Some(Addition::Group { optional, .. }) => {
                    self.replace(frame);
                    let mut group = Frame::new(What::Group, frame.field, frame.node, frame.code);
                    group.addition = number;
                    group.count = *optional;
                    return if self.begin_wrapper(Inside::Group(group))? {
                        self.begin_group(group)
                    } else {
                        Ok(())
                    };
                }
            }
        }
        if frame.count as usize > additions.len()
            && !self.bit_at(frame.bits + frame.count as usize - 1)
            && self.options.unknown != Unknown::Error
        {
            // Nothing but the length of the bitmap, so that it can be written again.
            self.sink.unknown(frame.count - 1, Leaf::Made(&[]));
        }
        self.absent_additions(&frame, additions, frame.count);
        self.end(&frame);
        Ok(())
    }

    pub(super) fn absent_additions(&mut self, frame: &Frame, additions: &[Addition], from: u32) {
        if !self.options.fill_defaults {
            return;
        }
        let first = self.shape.node(frame.node).first;
        for addition in additions.iter().skip(from as usize) {
            if let Addition::Single(field) = addition {
                self.absent(FieldId(first + field));
            }
        }
    }

    pub(super) fn begin_group(&mut self, mut frame: Frame) -> Result<()> {
        frame.bits = self.reader.position();
        self.reader.skip(frame.count as usize)?;
        self.push(frame)
    }

    pub(super) fn group(&mut self, mut frame: Frame) -> Result<()> {
        let program = self.program;
        let additions = &program.sequences[frame.code as usize].additions;
        if let Some(Addition::Group { members, .. }) = additions.get(frame.addition as usize)
            && self.each(&mut frame, members)?
        {
            return Ok(());
        }
        self.state.frames.pop();
        Ok(())
    }

    /// An addition that the schema does not know.
    pub(super) fn unknown(&mut self, number: u32) -> Result<()> {
        if self.options.unknown == Unknown::Error {
            return Err(self.fault(ErrorKind::UnexpectedElement));
        }
        match self.open_octets()? {
            Octets::Input(at, contents) => self.sink.unknown(number, Leaf::Input { at, contents }),
            Octets::Made => self.sink.unknown(number, Leaf::Made(&self.state.made)),
        }
        Ok(())
    }

    // Lists (§20, §22)

    pub(super) fn begin_list(&mut self, field: FieldId, node: NodeId, size: Size) -> Result<()> {
        let mut frame = Frame::new(What::List, field, node, 0);
        (frame.limit, frame.more) = self.size(size)?;
        self.sink.open(field, node);
        self.push(frame)
    }

    pub(super) fn list(&mut self, mut frame: Frame) -> Result<()> {
        let id = FieldId(self.shape.node(frame.node).first);
        let node = NodeId(self.program.fields[id.index()].node);
        let code = self.program.nodes[node.index()];
        let framed = code.is_framed();
        if framed && frame.cursor > 0 {
            self.count_empty(&frame)?;
        }
        loop {
            while frame.limit > 0 {
                frame.limit -= 1;
                frame.cursor += 1;
                frame.bits = self.reader.position();
                frame.outer = self.said;
                self.said += 1;
                if framed {
                    self.replace(frame);
                    return self.value(id, node);
                }
                self.at = id;
                self.leaf(id, node, &code)?;
                self.count_empty(&frame)?;
            }
            if !frame.more {
                self.end(&frame);
                return Ok(());
            }
            let length = self.reader.length(self.program.aligned)?;
            (frame.limit, frame.more) = (length.count, length.more);
        }
    }

    /// Counts the last element if it took no bits.
    #[inline]
    pub(super) fn count_empty(&mut self, frame: &Frame) -> Result<()> {
        if self.reader.position() == frame.bits {
            self.empty += self.said - frame.outer;
            if self.empty > EMPTY_ELEMENTS {
                return Err(self.fault(ErrorKind::LimitExceeded));
            }
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

    /// Begins a CHOICE: the alternative that follows, unless it has been read.
    pub(super) fn choice(&mut self, field: FieldId, node: NodeId, code: u32) -> Result<Option<FieldId>> {
        let program = self.program;
        let choice = &program.choices[code as usize];
        let first = self.shape.node(node).first;
        let key = self.key_of(field);
        if key != NO_KEY {
            self.pending_key = Some(key);
        }
        let start = self.reader;
        if choice.extensible && self.reader.bit()? {
            let number = self.reader.small_number(program.aligned)?;
            self.sink.open(field, node);
            self.push(Frame::new(What::Choice, field, node, code))?;
            let Some(alternative) = usize::try_from(number).ok().and_then(|n| choice.additions.get(n)) else {
                let Ok(number) = u32::try_from(number) else {
                    return Err(start.error(ErrorKind::LimitExceeded));
                };
                self.unknown(number)?;
                return Ok(None);
            };
            let id = FieldId(first + alternative);
            self.wrapped(id, self.shape.field(id).node)?;
            return Ok(None);
        }
        let number = integer::read_whole(&mut self.reader, choice.whole)?;
        let Some(alternative) = usize::try_from(number).ok().and_then(|n| choice.root.get(n)) else {
            return Err(start.error(ErrorKind::UnknownAlternative));
        };
        self.sink.open(field, node);
        self.push(Frame::new(What::Choice, field, node, code))?;
        Ok(Some(FieldId(first + alternative)))
    }
}
