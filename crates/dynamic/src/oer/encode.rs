//! Encoding: the output grows from its end to its start, so that each length is known when it is written, with an
//! explicit stack over the tape. The components of a SEQUENCE are found first, since they stand in the order of the
//! type and the preamble tells which are there; they are then written from the last to the first.

use super::canonical;
use crate::event::Leaf;
use crate::fault::Fault;
use crate::same::{Comparison, predefined};
use crate::tape::{Token, View};
use crate::{Error, ErrorKind};
use tercet_plan::oer::{Addition, Code, Member, Program, Sequence, Size, UNTAGGED, VARIABLE};
use tercet_plan::shape::Presence;
use tercet_plan::{FieldId, Kind, NodeId, Shape};
use tercet_runtime::oer::{Mark, Reader, Writer};
use tercet_runtime::{Tag, ber};

/// What an encoder keeps from value to value.
#[derive(Debug, Default)]
pub(crate) struct EncodeState {
    pub(super) writer: Writer,
    frames: Vec<Frame>,
    /// By number of the field, for each SEQUENCE that has begun: index of the component on the tape plus one, or 0.
    slots: Vec<u32>,
    /// Octets of the elements of the SETs OF that have begun.
    elements: Vec<usize>,
    /// For values in the forms of X.690 clause 11.
    pub(super) normal: ber::Writer,
}

/// Encodes the value of a tape and appends it to `out`.
pub(crate) fn encode(
    state: &mut EncodeState,
    shape: &Shape,
    program: &Program,
    value: View<'_>,
    out: &mut Vec<u8>,
) -> Result<(), Error> {
    let none = || Error::new(ErrorKind::ValueMismatch, 0).with_detail("the tape does not hold one value");
    if value.is_empty() || value.skip(0) != value.len() {
        return Err(none());
    }
    let (Token::Open { node, .. } | Token::Leaf { node, .. }) = value.token(0) else { return Err(none()) };
    state.writer.clear();
    state.frames.clear();
    state.slots.clear();
    state.elements.clear();
    let mut engine = Engine { shape, program, value, state, at: 0 };
    match engine.complete(node) {
        Ok(()) => {
            out.extend_from_slice(engine.state.writer.finish());
            Ok(())
        }
        Err(fault) => Err(fault.explain(shape, value, engine.at)),
    }
}

pub(super) type Result<T, E = Fault> = std::result::Result<T, E>;

/// What a frame is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    /// The extension additions of a SEQUENCE or SET.
    Additions,
    /// The members of a version bracket.
    Group,
    /// The root members.
    Members,
    /// The elements of a SEQUENCE OF or SET OF.
    List,
    /// A CHOICE: its tag comes when the alternative has been written.
    Choice(u32),
    /// Octets of an open type.
    Open,
    /// Octets of an OCTET STRING with CONTAINING.
    Octets(Size),
    /// Octets of a BIT STRING with CONTAINING.
    Bits(Size),
}

#[derive(Clone, Copy, Debug)]
struct Frame {
    what: What,
    node: NodeId,
    /// Index into the side table of the program; for a group also which addition it is.
    code: u32,
    addition: u32,
    /// Index of the open and of the close on the tape.
    open: u32,
    close: u32,
    /// SEQUENCE: its first slot. SET OF: its first element.
    base: u32,
    /// SEQUENCE: members or additions left. List: index behind the next element on the tape.
    cursor: u32,
    /// SEQUENCE: bits in the bitmap of additions, 0 without any. List: elements written.
    count: u32,
    /// Where its octets end.
    end: Mark,
}

pub(super) struct Engine<'a> {
    pub(super) shape: &'a Shape,
    pub(super) program: &'a Program,
    pub(super) value: View<'a>,
    pub(super) state: &'a mut EncodeState,
    /// Index on the tape of the value being written, for the path of an error.
    at: usize,
}

impl Engine<'_> {
    /// Writes the value from its end to its begin.
    fn complete(&mut self, node: NodeId) -> Result<()> {
        self.write(0, node)?;
        while let Some(frame) = self.state.frames.last().copied() {
            match frame.what {
                What::Members | What::Group => self.members(frame)?,
                What::Additions => self.additions(frame)?,
                What::List => self.list(frame)?,
                What::Choice(tag) => {
                    self.state.frames.pop();
                    if let Some(tag) = Tag::from_bits(tag) {
                        self.state.writer.push_tag(tag);
                    }
                }
                What::Open | What::Octets(_) | What::Bits(_) => {
                    self.state.frames.pop();
                    self.end_apart(&frame)?;
                }
            }
        }
        Ok(())
    }

    /// Writes or begins a value.
    fn write(&mut self, index: usize, node: NodeId) -> Result<()> {
        let (mut index, mut node) = (index, node);
        loop {
            self.at = index;
            let Some(&code) = self.program.nodes.get(node.index()) else {
                return Err(ErrorKind::ValueMismatch.into());
            };
            let close = match self.value.token(index) {
                Token::Leaf { leaf, .. } => return self.leaf(node, code, leaf),
                Token::Open { close, .. } => close,
                _ => return Err(ErrorKind::ValueMismatch.into()),
            };
            node = match code {
                Code::Sequence(code) => return self.sequence(index, close, node, code),
                Code::SequenceOf => return self.begin_list(index, close, node),
                Code::Choice(code) => match self.choice(index, close, node, code)? {
                    Some(alternative) => alternative,
                    None => return Ok(()),
                },
                Code::Open => self.begin_apart(index, close, What::Open)?,
                Code::OctetsContaining(size) => self.begin_apart(index, close, What::Octets(size))?,
                Code::BitsContaining(size, _) => self.begin_apart(index, close, What::Bits(size))?,
                Code::Predefined(constant) => {
                    let at = (index, node);
                    let octets = predefined(self.shape, self.value, &mut self.state.normal, at, constant)?;
                    self.state.writer.push_sized(octets);
                    return Ok(());
                }
                _ => return Err(ErrorKind::ValueMismatch.into()),
            };
            index += 1;
        }
    }

    fn push(&mut self, what: What, node: NodeId, open: usize, close: usize) {
        let end = self.state.writer.mark();
        self.state.frames.push(Frame {
            what,
            node,
            code: 0,
            addition: 0,
            open: open as u32,
            close: close as u32,
            base: 0,
            cursor: 0,
            count: 0,
            end,
        });
    }

    fn replace(&mut self, frame: Frame) {
        if let Some(top) = self.state.frames.last_mut() {
            *top = frame;
        }
    }

    // SEQUENCE and SET (§16, §18)

    fn sequence(&mut self, open: usize, close: usize, node: NodeId, code: u32) -> Result<()> {
        let program = self.program;
        let sequence = &program.sequences[code as usize];
        let base = self.state.slots.len();
        self.push(What::Additions, node, open, close);
        let count = self.gather(open, close, node, sequence)?;
        if let Some(frame) = self.state.frames.last_mut() {
            (frame.code, frame.base, frame.count) = (code, base as u32, count);
            frame.cursor = sequence.additions.len() as u32;
            if count > 0 {
                for (_, octets) in unknown(self.value, open, close) {
                    self.state.writer.push_sized(octets);
                }
            }
        }
        Ok(())
    }

    /// Finds the components that are to be written; the answer is the number of additions that the bitmap has to tell,
    /// 0 when none is there.
    fn gather(&mut self, open: usize, close: usize, node: NodeId, sequence: &Sequence) -> Result<u32> {
        let (first, total) = (self.shape.node(node).first, self.shape.node(node).count);
        let base = self.state.slots.len();
        self.state.slots.resize(base + total as usize, 0);
        let known = sequence.additions.len() as u32;
        // What the schema does not know comes behind what it knows, each once.
        let mut count = known;
        let mut index = open + 1;
        while index < close {
            self.at = index;
            let next = self.value.skip(index);
            match self.value.token(index) {
                Token::Open { field, node, .. } | Token::Leaf { field, node, .. } => {
                    let number = field.0.wrapping_sub(first);
                    if number >= total {
                        return Err(ErrorKind::ValueMismatch.into());
                    }
                    let slot = base + number as usize;
                    if self.state.slots[slot] != 0 {
                        return Err(ErrorKind::DuplicateComponent.into());
                    }
                    if !self.is_default(field, node, index) {
                        self.state.slots[slot] = index as u32 + 1;
                    }
                }
                Token::Default { .. } => {}
                Token::Unknown { addition, .. } => {
                    if !sequence.extensible || addition < count || addition == u32::MAX {
                        return Err(ErrorKind::UnexpectedElement.into());
                    }
                    count = addition + 1;
                }
                Token::Close { .. } => return Err(ErrorKind::ValueMismatch.into()),
            }
            index = next;
        }
        let is_there = |addition| self.has_addition(base, addition);
        let present = sequence.additions.iter().rposition(is_there).map_or(0, |last| last as u32 + 1);
        // A sender of an earlier version has fewer.
        Ok(match self.value.earlier(open) {
            _ if count > known => count,
            _ if present == 0 => 0,
            Some(fewer) => fewer.clamp(present, known),
            None => known,
        })
    }

    /// Whether a component equals its DEFAULT and so is not written: in BASIC-OER, which leaves that to the sender, one
    /// of a simple type, in CANONICAL-OER any (§31.9).
    fn is_default(&mut self, field: FieldId, node: NodeId, index: usize) -> bool {
        let Presence::Default(constant) = self.shape.field(field).presence else { return false };
        let program = self.program;
        let code = program.nodes.get(node.index());
        let framed =
            matches!(code, Some(Code::Sequence(_) | Code::SequenceOf | Code::Choice(_) | Code::Open));
        let is_named = |node: NodeId| {
            let code = program.nodes.get(node.index());
            matches!(code, Some(Code::BitString(_, true) | Code::BitsContaining(_, true)))
        };
        let (shape, value, normal) = (self.shape, self.value, &mut self.state.normal);
        let mut comparison = Comparison { shape, value, is_named: &is_named, normal };
        (!framed || program.canonical) && comparison.is_constant(index, node, constant)
    }

    fn has_addition(&self, base: usize, addition: &Addition) -> bool {
        addition.fields().any(|field| self.state.slots[base + field as usize] != 0)
    }

    /// Goes on with the additions, the last first (§16.4, §16.5).
    fn additions(&mut self, mut frame: Frame) -> Result<()> {
        let program = self.program;
        let sequence = &program.sequences[frame.code as usize];
        let (base, first) = (frame.base as usize, self.shape.node(frame.node).first);
        while let Some(number) = frame.cursor.checked_sub(1).filter(|_| frame.count > 0) {
            frame.cursor = number;
            let addition = &sequence.additions[number as usize];
            if !self.has_addition(base, addition) {
                continue;
            }
            self.replace(frame);
            let (open, close) = (frame.open as usize, frame.close as usize);
            self.push(What::Open, frame.node, open, close);
            match addition {
                Addition::Single(field) => {
                    let index = self.state.slots[base + *field as usize] - 1;
                    let node = self.shape.field(FieldId(first + field)).node;
                    return self.write(index as usize, node);
                }
                Addition::Group { members, .. } => {
                    let cursor = members.len() as u32;
                    let end = self.state.writer.mark();
                    let group = Frame { what: What::Group, addition: number, cursor, end, ..frame };
                    self.state.frames.push(group);
                    return Ok(());
                }
            }
        }
        if frame.count > 0 {
            self.bitmap(&frame, sequence);
        }
        frame.what = What::Members;
        frame.cursor = sequence.root.len() as u32;
        self.replace(frame);
        Ok(())
    }

    /// A BIT STRING with a bit for each addition (§16.4).
    fn bitmap(&mut self, frame: &Frame, sequence: &Sequence) {
        let mut bits = vec![0_u8; (frame.count as usize).div_ceil(8)];
        let mut set = |number: u32| {
            if let Some(octet) = bits.get_mut(number as usize / 8) {
                *octet |= 0x80 >> (number % 8);
            }
        };
        for (number, addition) in (0..).zip(&sequence.additions) {
            if self.has_addition(frame.base as usize, addition) {
                set(number);
            }
        }
        for (number, _) in unknown(self.value, frame.open as usize, frame.close as usize) {
            set(number);
        }
        let writer = &mut self.state.writer;
        writer.push(&bits);
        writer.push_octet((8 - frame.count % 8) as u8 % 8);
        writer.push_length(bits.len() + 1);
    }

    /// Goes on with the members of the root or of a version bracket, the last first.
    fn members(&mut self, mut frame: Frame) -> Result<()> {
        let program = self.program;
        let sequence = &program.sequences[frame.code as usize];
        let (members, optional) = match (frame.what, sequence.additions.get(frame.addition as usize)) {
            (What::Group, Some(Addition::Group { optional, members })) => (members, *optional),
            _ => (&sequence.root, sequence.optional),
        };
        let (base, first) = (frame.base as usize, self.shape.node(frame.node).first);
        while let Some(at) = frame.cursor.checked_sub(1) {
            frame.cursor = at;
            let member = members[at as usize];
            let field = FieldId(first + member.field);
            let Some(index) = self.state.slots[base + member.field as usize].checked_sub(1) else {
                if member.optional {
                    continue;
                }
                self.at = frame.close as usize;
                return Err(Fault { kind: ErrorKind::MissingComponent, field: Some(field) });
            };
            let depth = self.state.frames.len();
            self.replace(frame);
            self.write(index as usize, self.shape.field(field).node)?;
            if self.state.frames.len() > depth {
                return Ok(());
            }
        }
        self.state.frames.pop();
        if frame.what == What::Group {
            self.preamble(base, None, members, optional);
        } else {
            let extended = sequence.extensible.then_some(frame.count > 0);
            self.preamble(base, extended, members, optional);
            self.state.slots.truncate(base);
        }
        Ok(())
    }

    /// The extension bit and the presence bits, filled up to whole octets (§16.2).
    fn preamble(&mut self, base: usize, extended: Option<bool>, members: &[Member], optional: u32) {
        let total = optional as usize + usize::from(extended.is_some());
        let bits = members.iter().rev().filter(|member| member.optional);
        let bits = bits.map(|member| self.state.slots[base + member.field as usize] != 0).chain(extended);
        // From the last bit to the first.
        let (mut octet, mut at) = (0_u8, total);
        let writer = &mut self.state.writer;
        for bit in bits {
            at -= 1;
            octet |= u8::from(bit) << (7 - at % 8);
            if at % 8 == 0 {
                writer.push_octet(octet);
                octet = 0;
            }
        }
    }

    // Lists (§17, §19)

    fn begin_list(&mut self, open: usize, close: usize, node: NodeId) -> Result<()> {
        self.push(What::List, node, open, close);
        let base = self.state.elements.len() as u32;
        if let Some(frame) = self.state.frames.last_mut() {
            (frame.cursor, frame.base) = (close as u32, base);
        }
        Ok(())
    }

    fn list(&mut self, mut frame: Frame) -> Result<()> {
        let element = FieldId(self.shape.node(frame.node).first);
        let node = self.shape.field(element).node;
        let sorted = self.program.canonical && self.shape.node(frame.node).kind == Kind::SetOf;
        loop {
            if sorted && frame.count > 0 && self.state.elements.len() < (frame.base + frame.count) as usize {
                let written = self.state.writer.since(frame.end);
                self.state.elements.push(written);
            }
            if frame.cursor == frame.open + 1 {
                break;
            }
            let index = match self.value.token(frame.cursor as usize - 1) {
                Token::Close { open, .. } => open,
                _ => frame.cursor as usize - 1,
            };
            self.at = index;
            match self.value.token(index) {
                Token::Open { field, .. } | Token::Leaf { field, .. } if field == element => {}
                _ => return Err(ErrorKind::ValueMismatch.into()),
            }
            frame.cursor = index as u32;
            frame.count += 1;
            let depth = self.state.frames.len();
            self.replace(frame);
            self.write(index, node)?;
            if self.state.frames.len() > depth {
                return Ok(());
            }
        }
        self.state.frames.pop();
        if sorted {
            self.sort(&frame);
        }
        self.state.writer.push_unsigned(u128::from(frame.count));
        Ok(())
    }

    /// Brings the elements of a SET OF into ascending order (§31.8).
    fn sort(&mut self, frame: &Frame) {
        let octets = self.state.writer.finish();
        let octets = octets.get(..self.state.writer.since(frame.end)).unwrap_or_default();
        let ends = self.state.elements.get(frame.base as usize..).unwrap_or_default();
        let mut begun = 0;
        let mut elements: Vec<&[u8]> = Vec::with_capacity(ends.len());
        for end in ends {
            let (from, to) = (octets.len() - end, octets.len() - begun);
            elements.push(octets.get(from..to).unwrap_or_default());
            begun = *end;
        }
        elements.reverse();
        if !elements.is_sorted_by(|a, b| canonical::order(a, b).is_le()) {
            elements.sort_by(|a, b| canonical::order(a, b));
            let sorted = elements.concat();
            self.state.writer.rewind(frame.end);
            self.state.writer.push(&sorted);
        }
        self.state.elements.truncate(frame.base as usize);
    }

    // CHOICE (§20)

    /// Begins a CHOICE: the type of its alternative, unless it has been written.
    fn choice(&mut self, open: usize, close: usize, node: NodeId, code: u32) -> Result<Option<NodeId>> {
        let program = self.program;
        let choice = &program.choices[code as usize];
        if self.value.skip(open + 1) != close {
            return Err(ErrorKind::ValueMismatch.into());
        }
        let field = match self.value.token(open + 1) {
            Token::Open { field, .. } | Token::Leaf { field, .. } => field,
            Token::Unknown { addition: u32::MAX, leaf } if choice.extensible => {
                self.at = open + 1;
                // What does not come from OER has another form.
                let octets = leaf.contents().filter(|octets| is_unknown_alternative(octets));
                self.state.writer.push(octets.ok_or(ErrorKind::UnexpectedElement)?);
                return Ok(None);
            }
            Token::Unknown { .. } => {
                self.at = open + 1;
                return Err(ErrorKind::UnexpectedElement.into());
            }
            _ => return Err(ErrorKind::ValueMismatch.into()),
        };
        let number = field.0.wrapping_sub(self.shape.node(node).first);
        let Some(alternative) = choice.alternatives.get(number as usize) else {
            return Err(ErrorKind::ValueMismatch.into());
        };
        let inner = self.shape.field(field).node;
        let tag = match alternative.tag {
            // An addition says the tag twice: before its length and as the value of the CHOICE inside.
            UNTAGGED if alternative.addition => self.tag_of(open + 1, inner)?,
            tag => tag,
        };
        self.push(What::Choice(tag), node, open, close);
        if alternative.addition {
            self.push(What::Open, node, open, close);
        }
        Ok(Some(inner))
    }

    /// The tag that the value of an untagged CHOICE begins with.
    fn tag_of(&self, index: usize, node: NodeId) -> Result<u32> {
        let (mut index, mut node) = (index, node);
        loop {
            let (Some(Code::Choice(code)), Token::Open { .. }) =
                (self.program.nodes.get(node.index()), self.value.token(index))
            else {
                return Err(ErrorKind::Unsupported.into());
            };
            index += 1;
            let (Token::Open { field, .. } | Token::Leaf { field, .. }) = self.value.token(index) else {
                return Err(ErrorKind::UnexpectedElement.into());
            };
            let number = field.0.wrapping_sub(self.shape.node(node).first);
            match self.program.choices[*code as usize].alternatives.get(number as usize) {
                Some(alternative) if alternative.tag != UNTAGGED => return Ok(alternative.tag),
                Some(_) => node = self.shape.field(field).node,
                None => return Err(ErrorKind::ValueMismatch.into()),
            }
        }
    }

    // Values in octets of their own (§30)

    /// Begins an open type or a string: the type of the one value that is in it.
    fn begin_apart(&mut self, open: usize, close: usize, what: What) -> Result<NodeId> {
        self.push(what, NodeId(0), open, close);
        match self.value.token(open + 1) {
            Token::Open { field: FieldId::ROOT, node, close: end } if end + 1 == close => Ok(node),
            Token::Leaf { field: FieldId::ROOT, node, .. } if open + 2 == close => Ok(node),
            _ => Err(ErrorKind::ValueMismatch.into()),
        }
    }

    fn end_apart(&mut self, frame: &Frame) -> Result<()> {
        let writer = &mut self.state.writer;
        let length = writer.since(frame.end);
        self.at = frame.open as usize;
        match frame.what {
            What::Octets(size) if size != VARIABLE => {
                if length != size as usize {
                    return Err(ErrorKind::ConstraintViolated.into());
                }
            }
            What::Bits(size) if size != VARIABLE => {
                if length * 8 != size as usize {
                    return Err(ErrorKind::ConstraintViolated.into());
                }
            }
            What::Bits(_) => {
                writer.push_octet(0);
                writer.push_length(length + 1);
            }
            _ => writer.push_length(length),
        }
        Ok(())
    }
}

/// Whether octets are a tag, a length and as many octets.
fn is_unknown_alternative(octets: &[u8]) -> bool {
    let mut reader = Reader::new(octets);
    reader.tag().and_then(|_| reader.length()).is_ok_and(|length| length == reader.left())
}

/// The unknown additions of a SEQUENCE with their numbers, the last first. One that was made, without octets, only tells
/// how far the bitmap went; one that was read may have none, as a NULL has.
fn unknown<'a>(
    value: View<'a>,
    open: usize,
    close: usize,
) -> impl Iterator<Item = (u32, &'a [u8])> + use<'a> {
    let mut index = close;
    std::iter::from_fn(move || {
        while index > open + 1 {
            let at = match value.token(index - 1) {
                Token::Close { open, .. } => open,
                _ => index - 1,
            };
            index = at;
            if let Token::Unknown { addition, leaf } = value.token(at)
                && !matches!(leaf, Leaf::Made([]))
                && let Some(octets) = leaf.contents()
            {
                return Some((addition, octets));
            }
        }
        None
    })
}
