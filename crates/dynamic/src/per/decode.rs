//! Decoding: an explicit stack of frames over a cursor of bits.
//!
//! Presence bits and bitmaps are not copied: a frame remembers where they stand in the input.

use super::encode::{EncodeState, encode};
use super::frame::{Frame, What};
use super::integer::{self, Number};
use super::keys::{self, Registers};
use super::strings::is_short;
use super::{characters, integer::append};
use crate::event::{Copying, Discard, Leaf, Sink};
use crate::{Error, Options, Tape, Unknown};
use std::fmt::Write;
use tercet_plan::per::{Addition, Code, Member, NO_KEY, Program, Size};
use tercet_plan::shape::{Key, Presence};
use tercet_plan::{FieldId, Kind, NodeId, Shape};
use tercet_runtime::ber::Rules;
use tercet_runtime::per::{BitReader, Taken};
use tercet_runtime::{Error as Fault, ErrorKind};

/// Elements of no bits in one value: they cost nothing to announce, so they are counted.
const EMPTY_ELEMENTS: usize = 65_536;

/// How deep fragmented open types may be inside one another: each is joined and decoded on its own.
const FRAGMENTED_DEPTH: u32 = 4;

/// What a decoder keeps from value to value.
#[derive(Debug, Default)]
pub(crate) struct DecodeState {
    frames: Vec<Frame>,
    registers: Registers,
    made: Vec<u8>,
    /// For reading what is in strings ahead.
    trial: Option<Box<DecodeState>>,
    strict: Option<Box<Strict>>,
}

type Result<T> = std::result::Result<T, Fault>;

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
            Err(Fault::incomplete(0, 1).shifted(options.base_offset).into())
        }
        Ok(bits) => Ok(bits.div_ceil(8).max(1)),
        Err(fault) => {
            let path = engine.path(root);
            Err(Error::from(fault.shifted(options.base_offset)).with_path(path))
        }
    }
}

struct Engine<'a, S> {
    state: &'a mut DecodeState,
    shape: &'a Shape,
    program: &'a Program,
    reader: BitReader<'a>,
    sink: &'a mut S,
    options: &'a Options,
    /// Events of parts that may have no bits, and those among them of elements that had none.
    said: usize,
    empty: usize,
    fragmented: u32,
    /// The register of a CHOICE that is a key, and which alternative was taken.
    pending_key: Option<u16>,
    /// The field being read, for the path of an error.
    at: FieldId,
}

impl<'a, S: Sink> Engine<'a, S> {
    /// Reads what has begun to its end; the answer is the number of bits.
    fn run(&mut self) -> Result<usize> {
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
    fn value(&mut self, field: FieldId, node: NodeId) -> Result<()> {
        let (mut field, mut node) = (field, node);
        loop {
            self.at = field;
            match self.program.nodes[node.index()] {
                Code::Sequence(code) => return self.sequence(field, node, code),
                Code::SequenceOf(size) => return self.begin_list(field, node, size),
                Code::Choice(code) => match self.choice(field, node, code)? {
                    Some(alternative) => {
                        node = self.shape.field(alternative).node;
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
                code => return self.leaf(field, node, code),
            }
        }
    }

    fn push(&mut self, frame: Frame) -> Result<()> {
        let limit = usize::from(self.options.limits.depth.min(1000));
        if self.state.frames.len() >= limit {
            return Err(self.reader.error(ErrorKind::DepthLimit));
        }
        self.state.frames.push(frame);
        Ok(())
    }

    fn fault(&self, kind: ErrorKind) -> Fault {
        self.reader.error(kind)
    }

    // SEQUENCE and SET (§19, §21)

    fn sequence(&mut self, field: FieldId, node: NodeId, code: u32) -> Result<()> {
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
    fn members(&mut self, mut frame: Frame) -> Result<()> {
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
    fn each(&mut self, frame: &mut Frame, members: &[Member]) -> Result<bool> {
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
            let node = self.program.fields[id.index()].node;
            let code = self.program.nodes[node as usize];
            if code.is_framed() {
                self.replace(*frame);
                self.value(id, NodeId(node))?;
                return Ok(true);
            }
            self.leaf(id, NodeId(node), code)?;
        }
        Ok(false)
    }

    fn replace(&mut self, frame: Frame) {
        if let Some(top) = self.state.frames.last_mut() {
            *top = frame;
        }
    }

    fn end(&mut self, frame: &Frame) {
        self.state.frames.pop();
        self.sink.close(frame.field, frame.node);
    }

    /// A bit that has been passed over.
    fn bit_at(&self, at: usize) -> bool {
        self.reader.input().get(at >> 3).is_some_and(|octet| octet << (at & 7) & 0x80 != 0)
    }

    fn absent(&mut self, id: FieldId) {
        if self.options.fill_defaults
            && let field = self.shape.field(id)
            && let Presence::Default(constant) = field.presence
        {
            self.sink.absent(id, field.node, constant);
        }
    }

    // Extension additions (§19.7 to §19.9)

    fn begin_additions(&mut self, frame: &mut Frame) -> Result<()> {
        let count = self.reader.small_length(self.program.aligned)?;
        frame.what = What::Additions;
        frame.cursor = 0;
        frame.count = count as u32;
        frame.bits = self.reader.position();
        self.reader.skip(count)
    }

    fn additions(&mut self, mut frame: Frame) -> Result<()> {
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

    fn absent_additions(&mut self, frame: &Frame, additions: &[Addition], from: u32) {
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

    fn begin_group(&mut self, mut frame: Frame) -> Result<()> {
        frame.bits = self.reader.position();
        self.reader.skip(frame.count as usize)?;
        self.push(frame)
    }

    fn group(&mut self, mut frame: Frame) -> Result<()> {
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
    fn unknown(&mut self, number: u32) -> Result<()> {
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

    fn begin_list(&mut self, field: FieldId, node: NodeId, size: Size) -> Result<()> {
        let mut frame = Frame::new(What::List, field, node, 0);
        (frame.limit, frame.more) = self.size(size)?;
        self.sink.open(field, node);
        self.push(frame)
    }

    fn list(&mut self, mut frame: Frame) -> Result<()> {
        let id = FieldId(self.shape.node(frame.node).first);
        let node = self.shape.field(id).node;
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
                self.leaf(id, node, code)?;
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
    fn count_empty(&mut self, frame: &Frame) -> Result<()> {
        if self.reader.position() == frame.bits {
            self.empty += self.said - frame.outer;
            if self.empty > EMPTY_ELEMENTS {
                return Err(self.fault(ErrorKind::LimitExceeded));
            }
        }
        Ok(())
    }

    /// A size (§11.9.4): the number of units, and whether a fragment follows them.
    fn size(&mut self, size: Size) -> Result<(usize, bool)> {
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
    fn choice(&mut self, field: FieldId, node: NodeId, code: u32) -> Result<Option<FieldId>> {
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

    // Open types (§11.2)

    /// A value in octets of its own.
    fn wrapped(&mut self, field: FieldId, node: NodeId) -> Result<()> {
        if self.begin_wrapper(Inside::Value(field, node))? { self.value(field, node) } else { Ok(()) }
    }

    /// Begins octets that hold one value. `false` when they were in fragments and have been read.
    fn begin_wrapper(&mut self, inside: Inside) -> Result<bool> {
        let start = self.reader;
        let length = self.reader.length(self.program.aligned)?;
        if length.more {
            self.reader = start;
            self.fragments(inside)?;
            return Ok(false);
        }
        let (field, node) = inside.place();
        let mut frame = Frame::new(What::Wrapper, field, node, 0);
        frame.outer = self.reader.end();
        frame.limit = self.reader.position() + length.count * 8;
        if length.count * 8 > self.reader.left() {
            self.reader.skip(length.count * 8)?;
        }
        self.reader.set_end(frame.limit);
        self.push(frame)?;
        Ok(true)
    }

    fn leave_wrapper(&mut self, frame: &Frame) -> Result<()> {
        let left = self.reader.left();
        // One octet for a value of no bits; further octets are from a later version of the type in it.
        self.reader.set_end(frame.outer);
        self.reader.skip(left)
    }

    /// Joins the fragments of an open type and decodes them on their own.
    #[cold]
    fn fragments(&mut self, inside: Inside) -> Result<()> {
        if self.fragmented >= FRAGMENTED_DEPTH {
            return Err(self.fault(ErrorKind::DepthLimit));
        }
        let mut joined = Vec::new();
        loop {
            let length = self.reader.length(self.program.aligned)?;
            append(&mut self.reader, length.count, &mut joined)?;
            if !length.more {
                break;
            }
        }
        let at = self.reader.position() as u64 / 8;
        let mut state =
            DecodeState { registers: std::mem::take(&mut self.state.registers), ..DecodeState::default() };
        let mut options = self.options.clone();
        options.limits.depth =
            options.limits.depth.min(1000).saturating_sub(self.state.frames.len().min(1000) as u16);
        let mut sink = Copying(&mut *self.sink);
        let mut engine = Engine {
            state: &mut state,
            shape: self.shape,
            program: self.program,
            reader: BitReader::new(&joined),
            sink: &mut sink,
            options: &options,
            said: self.said,
            empty: self.empty,
            fragmented: self.fragmented + 1,
            pending_key: self.pending_key.take(),
            at: inside.place().0,
        };
        // Offsets inside of the joined octets mean nothing outside: the error tells where they end.
        let result = match inside {
            Inside::Value(field, node) => engine.value(field, node),
            Inside::Group(group) => engine.begin_group(group),
        };
        let result =
            result.and_then(|()| engine.run()).map(drop).map_err(|fault| Fault::new(fault.kind(), at));
        (self.said, self.empty) = (engine.said, engine.empty);
        self.state.registers = std::mem::take(&mut state.registers);
        result
    }

    /// The octets of an open type: in the input, or joined in `made`.
    fn open_octets(&mut self) -> Result<Octets<'a>> {
        let length = self.reader.length(self.program.aligned)?;
        if !length.more
            && let Taken::Aligned(at, octets) = self.peek_octets(length.count)?
        {
            self.reader.skip(length.count * 8)?;
            return Ok(Octets::Input(at, octets));
        }
        self.state.made.clear();
        append(&mut self.reader, length.count, &mut self.state.made)?;
        self.rest_of_fragments(length.more)?;
        Ok(Octets::Made)
    }

    fn peek_octets(&self, count: usize) -> Result<Taken<'a>> {
        let mut copy = self.reader;
        copy.octets(count)
    }

    fn rest_of_fragments(&mut self, mut more: bool) -> Result<()> {
        while more {
            let length = self.reader.length(self.program.aligned)?;
            append(&mut self.reader, length.count, &mut self.state.made)?;
            more = length.more;
        }
        Ok(())
    }

    /// Begins an open type: the type of its content, unless it has been read.
    fn open_type(&mut self, field: FieldId, node: NodeId) -> Result<Option<NodeId>> {
        if let Some(table) = &self.shape.node(node).table
            && self.options.resolve_tables
        {
            let (row, complete) = keys::row(self.shape, self.program, table, &self.state.registers);
            if let Some(content) = row {
                self.sink.open(field, node);
                self.push(Frame::new(What::Open, field, node, 0))?;
                let inside = Inside::Value(FieldId::ROOT, content);
                return Ok(self.begin_wrapper(inside)?.then_some(content));
            }
            let extensible = self.shape.tables.get(table.table as usize).is_none_or(|table| table.extensible);
            if complete && self.options.strict_tables && !extensible {
                return Err(self.fault(ErrorKind::ConstraintViolated));
            }
        }
        match self.open_octets()? {
            Octets::Input(at, contents) => self.sink.leaf(field, node, Leaf::Input { at, contents }),
            Octets::Made => self.sink.leaf(field, node, Leaf::Made(&self.state.made)),
        }
        Ok(None)
    }

    // Primitives

    #[inline]
    fn leaf(&mut self, field: FieldId, node: NodeId, code: Code) -> Result<()> {
        match code {
            Code::Boolean => {
                let value = self.reader.bit()?;
                if self.is_key(field) {
                    self.remember(field, Key::Octets(vec![if value { 0xff } else { 0 }]));
                }
                self.sink.leaf(field, node, Leaf::Int(i64::from(value)));
            }
            Code::Null => {
                self.sink.leaf(field, node, Leaf::Made(&[]));
            }
            Code::Integer(integer) => {
                match integer::read(&mut self.reader, self.program, integer, &mut self.state.made)? {
                    Number::Small(value) => self.number(field, node, value),
                    Number::Large => {
                        if self.is_key(field) {
                            self.remember(field, Key::Octets(self.state.made.clone()));
                        }
                        self.sink.leaf(field, node, Leaf::Made(&self.state.made));
                    }
                }
            }
            Code::Enumerated(code) => self.enumerated(field, node, code)?,
            Code::OctetString(size) | Code::OctetsContaining(size) => self.octet_string(field, node, size)?,
            Code::BitString(size, _) | Code::BitsContaining(size, _) => self.bit_string(field, node, size)?,
            Code::Characters(size, alphabet) => self.characters(field, node, size, alphabet)?,
            Code::Contents => self.contents(field, node)?,
            Code::Unsupported | Code::Sequence(_) | Code::SequenceOf(_) | Code::Choice(_) | Code::Open => {
                return Err(self.fault(ErrorKind::Unsupported));
            }
        }
        Ok(())
    }

    fn number(&mut self, field: FieldId, node: NodeId, value: i64) {
        if self.is_key(field) {
            self.remember(field, Key::Int(value));
        }
        self.sink.leaf(field, node, Leaf::Int(value));
    }

    #[inline]
    fn is_key(&self, field: FieldId) -> bool {
        self.pending_key.is_some() || self.key_of(field) != NO_KEY
    }

    #[inline]
    fn key_of(&self, field: FieldId) -> u16 {
        self.program.fields.get(field.index()).map_or(NO_KEY, |field| field.key)
    }

    fn remember(&mut self, field: FieldId, key: Key) {
        let (register, alternative) = match self.pending_key.take() {
            Some(register) => (register, Some(field)),
            None => (self.key_of(field), None),
        };
        self.state.registers.set(self.shape, register, key, alternative);
    }

    fn enumerated(&mut self, field: FieldId, node: NodeId, code: u32) -> Result<()> {
        let program = self.program;
        let enumerated = &program.enumerations[code as usize];
        let start = self.reader;
        if enumerated.extensible && self.reader.bit()? {
            let number = self.reader.small_number(program.aligned)?;
            match usize::try_from(number).ok().and_then(|n| enumerated.additions.get(n)) {
                Some(value) => self.number(field, node, *value),
                None => {
                    let Ok(number) = u32::try_from(number) else {
                        return Err(start.error(ErrorKind::LimitExceeded));
                    };
                    if self.options.unknown == Unknown::Error {
                        return Err(start.error(ErrorKind::UnknownEnumeration));
                    }
                    self.sink.leaf(field, node, Leaf::Addition(number));
                }
            }
            return Ok(());
        }
        let number = integer::read_whole(&mut self.reader, enumerated.whole)?;
        match usize::try_from(number).ok().and_then(|n| enumerated.root.get(n)) {
            Some(value) => self.number(field, node, *value),
            None => return Err(start.error(ErrorKind::UnknownEnumeration)),
        }
        Ok(())
    }

    fn octet_string(&mut self, field: FieldId, node: NodeId, size: Size) -> Result<()> {
        let (count, more) = self.size(size)?;
        if self.program.aligned && count > 0 && !is_short(size, count, 2) {
            self.reader.align();
        }
        if !more && self.contained(field, node, self.reader.position(), count)? {
            return Ok(());
        }
        self.take(field, node, count, more)
    }

    /// Octets, in the input or joined.
    fn take(&mut self, field: FieldId, node: NodeId, count: usize, more: bool) -> Result<()> {
        if !more && let Taken::Aligned(at, contents) = self.peek_octets(count)? {
            self.reader.skip(count * 8)?;
            self.text_check(node, contents)?;
            if self.is_key(field) {
                self.remember(field, Key::Octets(contents.to_vec()));
            }
            self.sink.leaf(field, node, Leaf::Input { at, contents });
            return Ok(());
        }
        self.state.made.clear();
        append(&mut self.reader, count, &mut self.state.made)?;
        self.rest_of_fragments(more)?;
        let made = std::mem::take(&mut self.state.made);
        let checked = self.text_check(node, &made);
        if checked.is_ok() {
            if self.is_key(field) {
                self.remember(field, Key::Octets(made.clone()));
            }
            self.sink.leaf(field, node, Leaf::Made(&made));
        }
        self.state.made = made;
        checked
    }

    fn text_check(&self, node: NodeId, contents: &[u8]) -> Result<()> {
        let kind = self.shape.node(node).kind;
        if kind == Kind::OctetString {
            return Ok(());
        }
        let at = (self.reader.position() as u64 / 8).saturating_sub(contents.len() as u64);
        crate::ber::check::check(kind, contents, at, Rules::Ber)
    }

    /// Begins the content of a string with CONTAINING that starts at bit `from` and fills `count` octets, if it decodes.
    fn contained(&mut self, field: FieldId, node: NodeId, from: usize, count: usize) -> Result<bool> {
        let Some(inside) = self.shape.node(node).containing else { return Ok(false) };
        if !self.options.decode_containing || self.program.aligned && from % 8 != 0 {
            return Ok(false);
        }
        let mut reader = self.reader;
        reader.seek(from);
        reader.set_end(from + count * 8);
        if !self.would_decode(inside, reader) {
            return Ok(false);
        }
        self.sink.open(field, node);
        self.push(Frame::new(What::Open, field, node, 0))?;
        let mut frame = Frame::new(What::Wrapper, FieldId::ROOT, inside, 0);
        frame.outer = self.reader.end();
        frame.limit = from + count * 8;
        self.reader = reader;
        self.push(frame)?;
        self.value(FieldId::ROOT, inside)?;
        Ok(true)
    }

    /// A sink cannot take back what it has heard: the content is read once for nobody, without what is in it.
    fn would_decode(&mut self, inside: NodeId, reader: BitReader<'a>) -> bool {
        let mut options = self.options.clone();
        options.decode_containing = false;
        let mut state = std::mem::take(&mut self.state.trial).unwrap_or_default();
        state.frames.clear();
        state.registers.begin(self.shape);
        let mut trial = Engine {
            state: &mut state,
            shape: self.shape,
            program: self.program,
            reader,
            sink: &mut Discard,
            options: &options,
            said: self.said,
            empty: self.empty,
            fragmented: self.fragmented,
            pending_key: None,
            at: FieldId::ROOT,
        };
        let outcome = trial.value(FieldId::ROOT, inside).and_then(|()| trial.run());
        // A value of no bits takes one octet (§11.1.3).
        let left = trial.reader.left();
        let fills = left < 8 || left == 8 && trial.reader.position() == reader.position();
        self.state.trial = Some(state);
        outcome.is_ok() && fills
    }

    fn bit_string(&mut self, field: FieldId, node: NodeId, size: Size) -> Result<()> {
        let (mut count, mut more) = self.size(size)?;
        let aligned = self.program.aligned;
        if aligned && count > 0 && !is_short(size, count, 16) {
            self.reader.align();
        }
        if !more && count % 8 == 0 && self.contained(field, node, self.reader.position(), count / 8)? {
            return Ok(());
        }
        let made = &mut self.state.made;
        made.clear();
        made.push(0);
        let mut bits = 0;
        loop {
            let from = self.reader.position();
            self.reader.skip(count)?;
            // All fragments but the last are whole octets (§11.9.3.8).
            self.reader.copy_bits(from, count, made);
            bits += count;
            if !more {
                break;
            }
            let length = self.reader.length(aligned)?;
            (count, more) = (length.count, length.more);
        }
        made[0] = (8 - bits % 8) as u8 % 8;
        self.sink.leaf(field, node, Leaf::Made(made));
        Ok(())
    }

    fn characters(&mut self, field: FieldId, node: NodeId, size: Size, alphabet: u32) -> Result<()> {
        let program = self.program;
        let alphabet = &program.alphabets[alphabet as usize];
        let outside = size.extensible && self.peek_bit();
        let (mut count, mut more) = self.size(size)?;
        if program.aligned && count > 0 && (outside || !alphabet.unaligned) {
            self.reader.align();
        }
        if alphabet.bits == 8
            && alphabet.octets == 1
            && !alphabet.indexed
            && !more
            && let Taken::Aligned(at, contents) = self.peek_octets(count)?
        {
            let start = self.reader;
            self.reader.skip(count * 8)?;
            if !contents.iter().all(|octet| alphabet.code(u32::from(*octet)).is_some()) {
                return Err(start.error(ErrorKind::CharacterInvalid));
            }
            if alphabet.check {
                self.text_check(node, contents)?;
            }
            self.sink.leaf(field, node, Leaf::Input { at, contents });
            return Ok(());
        }
        let mut made = std::mem::take(&mut self.state.made);
        made.clear();
        let read = loop {
            if let Err(fault) = characters::read(&mut self.reader, alphabet, count, &mut made) {
                break Err(fault);
            }
            if !more {
                break Ok(());
            }
            match self.reader.length(program.aligned) {
                Ok(length) => (count, more) = (length.count, length.more),
                Err(fault) => break Err(fault),
            }
        };
        let read = read.and_then(|()| if alphabet.check { self.text_check(node, &made) } else { Ok(()) });
        if read.is_ok() {
            self.sink.leaf(field, node, Leaf::Made(&made));
        }
        self.state.made = made;
        read
    }

    fn peek_bit(&self) -> bool {
        self.bit_at(self.reader.position())
    }

    fn contents(&mut self, field: FieldId, node: NodeId) -> Result<()> {
        let length = self.reader.length(self.program.aligned)?;
        self.take(field, node, length.count, length.more)
    }

    /// `CallEvent.parties[2].number`: where the decode stopped.
    #[cold]
    fn path(&self, root: NodeId) -> String {
        let mut path = String::new();
        if let Some(name) = self.shape.node(root).name {
            path.push_str(self.shape.name(name));
        }
        let mut list = None;
        let fields = self.state.frames.iter().map(|frame| (frame.field, frame.what, frame.cursor));
        for (field, what, cursor) in fields.chain([(self.at, What::Choice, 0)]) {
            if matches!(what, What::Wrapper | What::Group | What::Open) && field == FieldId::ROOT {
                continue;
            }
            if field != FieldId::ROOT && what != What::Wrapper && what != What::Group {
                match list.take() {
                    Some(index) => {
                        let _ = write!(path, "[{index}]");
                    }
                    None => {
                        let name = self.shape.name(self.shape.field(field).name);
                        if !path.ends_with(&format!(".{name}"))
                            || self.state.frames.last().is_none_or(|f| f.field != field)
                        {
                            let _ = write!(path, ".{name}");
                        }
                    }
                }
            }
            list = (what == What::List).then(|| cursor.saturating_sub(1));
        }
        path
    }
}

/// What is in octets of its own.
#[derive(Clone, Copy)]
enum Inside {
    Value(FieldId, NodeId),
    /// The members of a version bracket.
    Group(Frame),
}

impl Inside {
    fn place(self) -> (FieldId, NodeId) {
        match self {
            Self::Value(field, node) => (field, node),
            Self::Group(frame) => (frame.field, frame.node),
        }
    }
}

/// The octets of an open type.
enum Octets<'a> {
    Input(usize, &'a [u8]),
    Made,
}
