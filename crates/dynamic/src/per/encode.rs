//! Encoding: the tape is walked forwards with an explicit stack. The components of a SEQUENCE are found first, since
//! their presence bits come before them; open types are written apart and put in place when their length is known.

use super::integer::write_octets;
use super::order;
use crate::event::Leaf;
use crate::fault::Fault;
use crate::leaf::number;
use crate::same::predefined;
use crate::tape::{Token, View};
use crate::{Error, ErrorKind};
use tercet_plan::per::{ADDITION, Code, Program, Size};
use tercet_plan::{FieldId, NodeId, Shape};
use tercet_runtime::ber;
use tercet_runtime::per::{BitWriter, Length};

/// What an encoder keeps from value to value.
#[derive(Debug, Default)]
pub(crate) struct EncodeState {
    pub(super) writer: BitWriter,
    /// The writers around it, the outermost first.
    outer: Vec<BitWriter>,
    spare: Vec<BitWriter>,
    pub(super) frames: Vec<Frame>,
    /// The open types that have begun ([`super::direct_encode`]): index of the close on the tape, and where their octets
    /// begin.
    pub(super) opens: Vec<(usize, usize)>,
    /// By number of the field, for each SEQUENCE that has begun: index of the component on the tape plus one, or 0.
    pub(super) slots: Vec<u32>,
    /// Canonical order of the elements of each SET OF.
    pub(super) orders: order::Orders,
    /// For values in the forms of X.690 clause 11.
    pub(super) normal: ber::Writer,
    pub(super) scratch: Vec<u8>,
}

/// Encodes the value of a tape and appends it to `out`.
pub(crate) fn encode(
    state: &mut EncodeState,
    shape: &Shape,
    program: &Program,
    value: View<'_>,
    out: &mut Vec<u8>,
) -> Result<(), Error> {
    let mut engine = Engine { shape, program, value, state, calls: 0, at: 0 };
    engine.reset();
    engine.state.orders.clear();
    if value.is_empty() || value.skip(0) != value.len() {
        return Err(Error::new(ErrorKind::ValueMismatch, 0).with_detail("the tape does not hold one value"));
    }
    let (Token::Open { node, .. } | Token::Leaf { node, .. }) = value.token(0) else {
        return Err(Error::new(ErrorKind::ValueMismatch, 0).with_detail("the tape does not hold one value"));
    };
    let done = match program.canonical {
        true => order::sort(&mut engine).and_then(|()| engine.complete(0, node)),
        false => engine.complete(0, node),
    };
    match done {
        Ok(()) => {
            match engine.state.writer.as_slice() {
                [] => out.push(0),
                octets => out.extend_from_slice(octets),
            }
            Ok(())
        }
        Err(fault) => Err(fault.explain(shape, value, engine.at)),
    }
}

pub(super) type Result<T, E = Fault> = std::result::Result<T, E>;

/// What a frame is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FrameKind {
    /// The root members of a SEQUENCE or SET.
    Members,
    /// Its extension additions.
    Additions,
    /// The members of a version bracket.
    Group,
    /// The elements of a SEQUENCE OF or SET OF.
    List,
    /// Octets of an open type, written apart.
    Open,
    /// Octets of an OCTET STRING with CONTAINING.
    Octets(Size),
    /// Octets of a BIT STRING with CONTAINING.
    Bits(Size),
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub(super) kind: FrameKind,
    /// SEQUENCE: additions follow. List: another length follows the fragment.
    pub(super) more: bool,
    pub(super) node: NodeId,
    /// Index into the side table of the program.
    pub(super) code: u32,
    /// Index of the close on the tape.
    pub(super) close: u32,
    /// SEQUENCE: its first slot.
    pub(super) base: u32,
    /// SEQUENCE: the next member or addition. List: index of the next element on the tape, or into the canonical order.
    pub(super) cursor: u32,
    /// SEQUENCE: bits in the bitmap of additions. List: elements left behind the fragment.
    pub(super) count: u32,
    /// SEQUENCE: index of the first unknown addition on the tape, or 0. Group: which addition. List: elements left in
    /// the fragment.
    pub(super) remaining: u32,
    /// List: whether it is written in canonical order.
    pub(super) sorted: bool,
}

pub(super) struct Engine<'a> {
    pub(super) shape: &'a Shape,
    pub(super) program: &'a Program,
    pub(super) value: View<'a>,
    pub(super) state: &'a mut EncodeState,
    /// Calls inside one another.
    pub(super) calls: u32,
    /// Index on the tape of the value being written, for the path of an error.
    pub(super) at: usize,
}

impl<'a> Engine<'a> {
    /// Forgets what a failed encode has left.
    fn reset(&mut self) {
        self.calls = 0;
        self.state.writer.clear();
        self.state.frames.clear();
        self.state.opens.clear();
        self.state.slots.clear();
        while let Some(mut writer) = self.state.outer.pop() {
            writer.clear();
            self.state.spare.push(writer);
        }
    }

    /// Writes one value from its begin to its end, and nothing else.
    pub(super) fn complete(&mut self, index: usize, node: NodeId) -> Result<()> {
        self.reset();
        let Some(step) = self.program.values.get(node.index()) else {
            return Err(ErrorKind::ValueMismatch.into());
        };
        self.value(index, step)
    }

    /// Goes on with what has begun, until there are only so many frames left.
    pub(super) fn run(&mut self, base: usize) -> Result<()> {
        while self.state.frames.len() > base
            && let Some(frame) = self.state.frames.last().copied()
        {
            match frame.kind {
                FrameKind::Members | FrameKind::Group => self.members(frame)?,
                FrameKind::Additions => self.additions(frame)?,
                FrameKind::List => self.list(frame)?,
                FrameKind::Open | FrameKind::Octets(_) | FrameKind::Bits(_) => {
                    self.state.frames.pop();
                    self.end_apart(frame.kind)?;
                }
            }
        }
        Ok(())
    }

    /// Writes or begins a value.
    pub(super) fn write(&mut self, index: usize, node: NodeId) -> Result<()> {
        let (mut index, mut node) = (index, node);
        loop {
            self.at = index;
            let Some(&code) = self.program.nodes.get(node.index()) else {
                return Err(ErrorKind::ValueMismatch.into());
            };
            let close = match self.value.token(index) {
                Token::Leaf { leaf, .. } => return self.leaf(node, &code, leaf),
                Token::Open { close, .. } => close,
                _ => return Err(ErrorKind::ValueMismatch.into()),
            };
            match code {
                Code::Sequence(code) => return self.sequence(index, close, node, code),
                Code::SequenceOf(size, _) => return self.begin_list(index, close, node, size),
                Code::Choice(code) => match self.choice(index, close, node, code)? {
                    Some(alternative) => node = NodeId(self.program.steps[alternative.index()].node),
                    None => return Ok(()),
                },
                Code::Open => {
                    node = self.only_content(index, close)?;
                    self.begin_apart(FrameKind::Open);
                }
                Code::OctetsContaining(size) => {
                    node = self.only_content(index, close)?;
                    self.begin_apart(FrameKind::Octets(size));
                }
                Code::BitsContaining(size, _) => {
                    node = self.only_content(index, close)?;
                    self.begin_apart(FrameKind::Bits(size));
                }
                Code::Predefined(constant) => {
                    let at = (index, node);
                    let octets = predefined(self.shape, self.value, &mut self.state.normal, at, constant)?;
                    return self.octet_string(Size::ANY, octets);
                }
                _ => return Err(ErrorKind::ValueMismatch.into()),
            }
            index += 1;
        }
    }

    /// The type of the one value that is in an open type or string.
    pub(super) fn only_content(&self, index: usize, close: usize) -> Result<NodeId> {
        let entry = self.value.entry(index + 1);
        if entry.field() == FieldId::ROOT && self.is_alone(index + 1, close) {
            Ok(entry.node())
        } else {
            Err(ErrorKind::ValueMismatch.into())
        }
    }

    pub(super) fn replace(&mut self, frame: Frame) {
        if let Some(top) = self.state.frames.last_mut() {
            *top = frame;
        }
    }

    // Lists (§20, §22)

    fn begin_list(&mut self, open: usize, close: usize, node: NodeId, size: Size) -> Result<()> {
        let mut count = 0;
        let mut index = open + 1;
        while index < close {
            index = self.value.skip(index);
            count += 1;
        }
        let length = self.size(&size, count)?;
        let first = self.state.orders.find(open);
        self.state.frames.push(Frame {
            kind: FrameKind::List,
            more: length.more,
            node,
            code: 0,
            close: close as u32,
            base: 0,
            cursor: first.unwrap_or(open as u32 + 1),
            count: (count - length.count) as u32,
            remaining: length.count as u32,
            sorted: first.is_some(),
        });
        Ok(())
    }

    fn list(&mut self, mut frame: Frame) -> Result<()> {
        let element = FieldId(self.shape.node(frame.node).first);
        let node = NodeId(self.program.steps[element.index()].node);
        let code = self.program.nodes[node.index()];
        loop {
            while frame.remaining > 0 {
                frame.remaining -= 1;
                let index = match frame.sorted {
                    true => self.state.orders.element(frame.cursor),
                    false => frame.cursor as usize,
                };
                let token = self.value.token(index);
                let (Token::Open { field, .. } | Token::Leaf { field, .. }) = token else {
                    self.at = index;
                    return Err(ErrorKind::ValueMismatch.into());
                };
                if field != element {
                    self.at = index;
                    return Err(ErrorKind::ValueMismatch.into());
                }
                frame.cursor = if frame.sorted { frame.cursor + 1 } else { self.value.skip(index) as u32 };
                if let Token::Leaf { leaf, .. } = token {
                    self.at = index;
                    self.leaf(node, &code, leaf)?;
                    continue;
                }
                let depth = self.state.frames.len();
                self.replace(frame);
                self.value(index, &self.program.steps[element.index()])?;
                if self.state.frames.len() > depth {
                    return Ok(());
                }
            }
            if !frame.more {
                self.state.frames.pop();
                return Ok(());
            }
            let length = self.state.writer.length(frame.count as usize, self.program.aligned);
            frame.remaining = length.count as u32;
            frame.count -= frame.remaining;
            frame.more = length.more;
        }
    }

    /// Writes a size (§11.9.4): how many units are to follow now, and whether another length follows them.
    #[inline]
    pub(super) fn size(&mut self, size: &Size, count: usize) -> Result<Length> {
        if let Some(field) = size.field
            && let Some(number) = count.checked_sub(field.lo as usize)
            && number <= field.most as usize
        {
            self.state.writer.number(number as u64, u32::from(field.width), u32::from(field.pad));
            return Ok(Length { count, more: false });
        }
        self.any_size(*size, count)
    }

    #[inline(never)]
    fn any_size(&mut self, size: Size, count: usize) -> Result<Length> {
        let inside = size.holds(count);
        if size.extensible {
            self.state.writer.bit(!inside);
        } else if !inside {
            return Err(ErrorKind::ConstraintViolated.into());
        }
        match size.whole {
            Some(whole) if inside => {
                super::integer::write_whole(&mut self.state.writer, whole, (count - size.lo as usize) as u64);
                Ok(Length { count, more: false })
            }
            _ => Ok(self.state.writer.length(count, self.program.aligned)),
        }
    }

    // CHOICE (§23)

    /// Writes the index: the alternative that follows on the tape, unless it has been written.
    fn choice(&mut self, open: usize, close: usize, node: NodeId, code: u32) -> Result<Option<FieldId>> {
        let program = self.program;
        let choice = &program.choices[code as usize];
        if self.value.skip(open + 1) != close {
            return Err(ErrorKind::ValueMismatch.into());
        }
        let field = match self.value.token(open + 1) {
            Token::Open { field, .. } | Token::Leaf { field, .. } => field,
            Token::Unknown { addition, leaf } => {
                let known = (addition as usize) < choice.additions.len() || addition == u32::MAX;
                let Some(octets) = leaf.contents().filter(|_| choice.extensible && !known) else {
                    return Err(ErrorKind::UnexpectedElement.into());
                };
                self.state.writer.bit(true);
                self.state.writer.small_number(u64::from(addition), program.aligned);
                write_octets(&mut self.state.writer, octets, program.aligned);
                return Ok(None);
            }
            _ => return Err(ErrorKind::ValueMismatch.into()),
        };
        let number = field.0.wrapping_sub(self.shape.node(node).first);
        let Some(&index) = choice.indices.get(number as usize) else {
            return Err(ErrorKind::ValueMismatch.into());
        };
        if choice.extensible {
            self.state.writer.bit(index & ADDITION != 0);
        }
        if index & ADDITION == 0 {
            super::integer::write_whole(&mut self.state.writer, choice.whole, u64::from(index));
        } else {
            self.state.writer.small_number(u64::from(index & !ADDITION), program.aligned);
            self.begin_apart(FrameKind::Open);
        }
        Ok(Some(field))
    }

    // Values in octets of their own (§11.2)

    pub(super) fn begin_apart(&mut self, kind: FrameKind) {
        let writer = self.state.spare.pop().unwrap_or_default();
        self.state.outer.push(std::mem::replace(&mut self.state.writer, writer));
        self.state.frames.push(Frame {
            kind,
            more: false,
            node: NodeId(0),
            code: 0,
            close: 0,
            base: 0,
            cursor: 0,
            count: 0,
            remaining: 0,
            sorted: false,
        });
    }

    fn end_apart(&mut self, kind: FrameKind) -> Result<()> {
        let around = self.state.outer.pop().unwrap_or_default();
        let mut inside = std::mem::replace(&mut self.state.writer, around);
        // The complete encoding of a value has at least one octet (§11.1.3).
        let octets = if inside.as_slice().is_empty() { &[0][..] } else { inside.as_slice() };
        let written = match kind {
            FrameKind::Octets(size) => self.octet_string(size, octets),
            FrameKind::Bits(size) => self.bits(size, octets, octets.len() * 8),
            _ => {
                write_octets(&mut self.state.writer, octets, self.program.aligned);
                Ok(())
            }
        };
        inside.clear();
        self.state.spare.push(inside);
        written
    }

    // Primitives

    #[inline]
    pub(super) fn leaf(&mut self, node: NodeId, code: &Code, leaf: Leaf<'a>) -> Result<()> {
        match (code, leaf) {
            (Code::Boolean, Leaf::Int(value)) => self.state.writer.bit(value != 0),
            (Code::Null, _) => {}
            (Code::Integer(integer), _) => self.integer(*integer, leaf)?,
            (Code::Enumerated(code), Leaf::Addition(addition)) => {
                let enumerated = &self.program.enumerations[*code as usize];
                if !enumerated.extensible || (addition as usize) < enumerated.additions.len() {
                    return Err(ErrorKind::UnknownEnumeration.into());
                }
                self.state.writer.bit(true);
                self.state.writer.small_number(u64::from(addition), self.program.aligned);
            }
            (Code::Enumerated(code), _) => {
                let number = number(leaf).ok_or(ErrorKind::UnknownEnumeration)?;
                self.enumerated(*code, number)?;
            }
            (_, Leaf::Input { contents, .. } | Leaf::Made(contents)) => self.string(node, code, contents)?,
            _ => return Err(ErrorKind::ValueMismatch.into()),
        }
        Ok(())
    }

    fn enumerated(&mut self, code: u32, number: i64) -> Result<()> {
        let program = self.program;
        let enumerated = &program.enumerations[code as usize];
        if let Ok(index) = enumerated.root.binary_search(&number) {
            if enumerated.extensible {
                self.state.writer.bit(false);
            }
            super::integer::write_whole(&mut self.state.writer, enumerated.whole, index as u64);
        } else if let Ok(index) = enumerated.additions.binary_search(&number) {
            self.state.writer.bit(true);
            self.state.writer.small_number(index as u64, program.aligned);
        } else {
            return Err(ErrorKind::UnknownEnumeration.into());
        }
        Ok(())
    }
}
