//! Encoding: the tape is walked from its end to its start, and the writer runs backwards too, so that each length is
//! known when it is written. The close of a value pushes a level, its open pops it.

use super::{canonical, check, rules_of};
use crate::event::Leaf;
use crate::tape::{Token, View};
use crate::{Error, ErrorKind};
use std::fmt::Write;
use tercet_plan::ber::{NONE, NodeCode, Program, Slot, UNTAGGED, flags, node_flags};
use tercet_plan::shape::Presence;
use tercet_plan::{FieldId, Kind, NodeId, Rules, Shape};
use tercet_runtime::Tag;
use tercet_runtime::ber::{Mark, Reader, Rules as BerRules, Writer};

/// What an encoder keeps from value to value.
#[derive(Debug, Default)]
pub(crate) struct EncodeState {
    writer: Writer,
    levels: Vec<Level>,
    /// Ends of the wrapping elements that are open.
    marks: Vec<Mark>,
    /// Components of the open SEQUENCEs: number within the node, octets written when it was done.
    order: Vec<(u32, usize)>,
    /// Words for values of more than 64 components.
    bits: Vec<u64>,
}

/// A value whose close has been seen and whose open has not.
#[derive(Clone, Copy, Debug)]
struct Level {
    slot: u32,
    node: NodeId,
    /// Index of its open.
    open: usize,
    /// Before anything of it was written.
    start: Mark,
    /// The end of its contents.
    contents: Mark,
    /// First of its entries in `marks` and `order`.
    marks: usize,
    order: usize,
    /// Components seen, or the index of the first word.
    seen: u64,
    /// Number of the component written last.
    last: u32,
    /// Values directly inside.
    count: u32,
    /// Whether components came in another order than the type's.
    disordered: bool,
    /// Whether there are leaves, and whether one is from an input rather than made.
    made: bool,
    from_input: bool,
}

/// Encodes the value of a tape and appends it to `out`.
pub(crate) fn encode(
    state: &mut EncodeState,
    shape: &Shape,
    program: &Program,
    rules: Rules,
    value: View<'_>,
    out: &mut Vec<u8>,
) -> Result<(), Error> {
    let rules = rules_of(rules);
    if state.writer.rules() != rules {
        state.writer = Writer::new(rules);
    }
    state.writer.clear();
    state.levels.clear();
    state.marks.clear();
    state.order.clear();
    state.bits.clear();
    let mut encoder = Engine { shape, program, rules, value, state };
    let mut index = value.len();
    let mut roots = 0;
    while let Some(next) = index.checked_sub(1) {
        index = next;
        roots += u32::from(encoder.state.levels.is_empty());
        encoder.token(index).map_err(|e| encoder.explain(e, index))?;
    }
    if roots == 0 || !encoder.state.levels.is_empty() {
        return Err(Error::new(ErrorKind::ValueMismatch, 0).with_detail("the tape does not hold one value"));
    }
    out.extend_from_slice(state.writer.finish());
    Ok(())
}

/// What is wrong, and with which component.
#[derive(Debug)]
struct Fault {
    kind: ErrorKind,
    field: Option<FieldId>,
}

impl From<ErrorKind> for Fault {
    #[cold]
    fn from(kind: ErrorKind) -> Self {
        Self { kind, field: None }
    }
}

impl From<tercet_runtime::Error> for Fault {
    #[cold]
    fn from(error: tercet_runtime::Error) -> Self {
        error.kind().into()
    }
}

struct Engine<'a> {
    shape: &'a Shape,
    program: &'a Program,
    rules: BerRules,
    value: View<'a>,
    state: &'a mut EncodeState,
}

impl<'a> Engine<'a> {
    fn token(&mut self, index: usize) -> Result<(), Fault> {
        match self.value.token(index) {
            Token::Leaf { field, node, leaf } => self.leaf(field, node, leaf),
            Token::Close { field, node, open } => self.close(field, node, open),
            Token::Open { .. } => self.open(),
            Token::Default { .. } => Ok(()),
            Token::Unknown { addition, leaf } => self.unknown(addition, leaf),
        }
    }

    /// The slot of a value, and its number if it is a component of the value around it.
    fn slot(&mut self, field: FieldId, node: NodeId) -> Result<(u32, Slot), Fault> {
        let index = if field == FieldId::ROOT {
            self.program.nodes.get(node.index()).map_or(NONE, |code| code.entry)
        } else {
            field.0
        };
        let mismatch = Fault { kind: ErrorKind::ValueMismatch, field: Some(field) };
        let Some(&slot) = self.program.slots.get(index as usize) else { return Err(mismatch) };
        let Some(level) = self.state.levels.last_mut() else { return Ok((index, slot)) };
        level.count += 1;
        let code = &self.program.nodes[level.node.index()];
        if !code.kind.is_constructed() {
            // What is inside an open type or string.
            return if field == FieldId::ROOT { Ok((index, slot)) } else { Err(mismatch) };
        }
        let number = index.wrapping_sub(code.first);
        if number >= code.count {
            return Err(mismatch);
        }
        if matches!(code.kind, Kind::Sequence | Kind::Set) {
            let bit = 1_u64 << (number & 63);
            let word = if code.count <= 64 {
                &mut level.seen
            } else {
                match self.state.bits.get_mut(level.seen as usize + (number / 64) as usize) {
                    Some(word) => word,
                    None => return Err(mismatch),
                }
            };
            if *word & bit != 0 {
                return Err(Fault { kind: ErrorKind::DuplicateComponent, field: Some(field) });
            }
            *word |= bit;
            level.disordered |= level.last != NONE && number > level.last;
            level.last = number;
        }
        Ok((index, slot))
    }

    /// A component is complete.
    #[inline]
    fn written(&mut self, slot: &Slot, start: Mark, from_input: bool, made: bool) {
        if slot.flags & flags::DEFAULT != 0 && (self.rules != BerRules::Ber || (made && !from_input)) {
            self.drop_default(slot, start);
        }
        if let Some(level) = self.state.levels.last_mut() {
            level.from_input |= from_input;
            level.made |= made;
            self.state.order.push((level.last, self.state.writer.len()));
        }
    }

    /// A component that equals its default is not written (X.690 11.5); what the application made is the same in BER.
    #[cold]
    fn drop_default(&mut self, slot: &Slot, start: Mark) {
        let Presence::Default(constant) = self.shape.field(slot.field).presence else { return };
        let Some(default) = self.program.defaults.get(constant as usize) else { return };
        let written = self.state.writer.finish().get(..self.state.writer.since(start)).unwrap_or_default();
        if !default.is_empty() && canonical::same(default, written) {
            self.state.writer.rewind(start);
        }
    }

    /// Begins the wrapping elements of a value; the answer is the tag of the value itself, if it has one.
    #[inline]
    fn wrap(&mut self, slot: &Slot) -> Option<u32> {
        if slot.tag == UNTAGGED {
            return None;
        }
        let chain = self.program.chain(slot);
        let open_ended = slot.flags & flags::OPEN_ENDED != 0;
        let wraps = chain.len() + usize::from(open_ended);
        for _ in 0..wraps {
            let mark = self.state.writer.open();
            self.state.marks.push(mark);
        }
        if open_ended { None } else { Some(chain.last().copied().unwrap_or(slot.tag)) }
    }

    /// Ends them, from the inside out.
    #[inline]
    fn unwrap(&mut self, slot: &Slot, marks: usize) {
        while self.state.marks.len() > marks {
            let Some(mark) = self.state.marks.pop() else { return };
            let level = self.state.marks.len() - marks;
            let bits = match level.checked_sub(1) {
                None => slot.tag,
                Some(inner) => self.program.chain(slot).get(inner).copied().unwrap_or(slot.tag),
            };
            self.state.writer.close(tag(bits), mark);
        }
    }

    fn leaf(&mut self, field: FieldId, node: NodeId, leaf: Leaf<'a>) -> Result<(), Fault> {
        let (_, slot) = self.slot(field, node)?;
        let start = self.state.writer.mark();
        let marks = self.state.marks.len();
        let own = self.wrap(&slot);
        let writer = &mut self.state.writer;
        match own {
            None => match (slot.kind, leaf.contents()) {
                (Kind::Open, Some(element)) => writer.push(element),
                _ => return Err(ErrorKind::ValueMismatch.into()),
            },
            Some(own) => {
                let own = tag(own);
                match leaf {
                    Leaf::Addition(_) => return Err(ErrorKind::UnknownEnumeration.into()),
                    Leaf::Input { contents, .. } if self.rules == BerRules::Ber => {
                        let end = writer.mark();
                        writer.push(contents);
                        writer.primitive(own, end);
                    }
                    Leaf::Int(number) => {
                        let end = writer.mark();
                        match slot.kind {
                            Kind::Boolean => writer.push_boolean(number != 0),
                            Kind::Integer | Kind::Enumerated => writer.push_i64(number),
                            _ => return Err(ErrorKind::ValueMismatch.into()),
                        }
                        writer.primitive(own, end);
                    }
                    Leaf::Input { contents, .. } | Leaf::Made(contents) => {
                        check::check(slot.kind, contents, 0, BerRules::Ber)?;
                        let code = &self.program.nodes[slot.node.index()];
                        let named = code.flags & node_flags::NAMED_BITS != 0;
                        let least = if named { Some(self.shape.least_size(slot.node)) } else { None };
                        canonical::write(writer, slot.kind, own, contents, least)?;
                    }
                }
            }
        }
        self.unwrap(&slot, marks);
        self.written(&slot, start, matches!(leaf, Leaf::Input { .. }), true);
        Ok(())
    }

    fn unknown(&mut self, addition: u32, leaf: Leaf<'a>) -> Result<(), Fault> {
        // One without octets only tells how long a bitmap was.
        if leaf.contents().is_some_and(<[u8]>::is_empty) {
            return Ok(());
        }
        // What is not known cannot be moved from rules that tell additions by their numbers.
        if addition != u32::MAX {
            return Err(ErrorKind::UnexpectedElement.into());
        }
        let Some(element) = leaf.contents() else { return Err(ErrorKind::ValueMismatch.into()) };
        self.state.writer.push(element);
        if let Some(level) = self.state.levels.last_mut() {
            level.count += 1;
            level.from_input |= matches!(leaf, Leaf::Input { .. });
            self.state.order.push((level.last, self.state.writer.len()));
        }
        Ok(())
    }

    fn close(&mut self, field: FieldId, node: NodeId, open: usize) -> Result<(), Fault> {
        let (index, slot) = self.slot(field, node)?;
        let start = self.state.writer.mark();
        let marks = self.state.marks.len();
        let own = self.wrap(&slot);
        let contents = match own {
            Some(_) if slot.kind.is_constructed() => self.state.writer.open(),
            _ => self.state.writer.mark(),
        };
        let mut level = Level {
            slot: index,
            node: slot.node,
            open,
            start,
            contents,
            marks,
            order: self.state.order.len(),
            seen: 0,
            last: NONE,
            count: 0,
            disordered: false,
            made: false,
            from_input: false,
        };
        let code = &self.program.nodes[slot.node.index()];
        if code.count > 64 {
            level.seen = self.state.bits.len() as u64;
            self.state.bits.resize(self.state.bits.len() + (code.count as usize).div_ceil(64), 0);
        }
        self.state.levels.push(level);
        Ok(())
    }

    fn open(&mut self) -> Result<(), Fault> {
        let Some(level) = self.state.levels.last().copied() else {
            return Err(ErrorKind::ValueMismatch.into());
        };
        let slot = self.program.slots[level.slot as usize];
        let code = &self.program.nodes[level.node.index()];
        match code.kind {
            Kind::Sequence => {
                self.complete(code, &level)?;
                if level.disordered {
                    self.reorder(&level);
                }
            }
            Kind::Set => {
                self.complete(code, &level)?;
                if self.rules == BerRules::Cer
                    && self.program.slots_of(code).iter().any(|s| s.tag == UNTAGGED)
                {
                    self.sort_by_least_tags(code, &level);
                } else {
                    self.state.writer.sort_set(level.contents)?;
                }
            }
            Kind::SetOf => self.state.writer.sort_set_of(level.contents)?,
            Kind::SequenceOf => {}
            // One alternative, one value in an open type or string.
            _ if level.count != 1 => return Err(ErrorKind::ValueMismatch.into()),
            _ => {}
        }
        if slot.tag != UNTAGGED && slot.flags & flags::OPEN_ENDED == 0 {
            let own = tag(self.program.chain(&slot).last().copied().unwrap_or(slot.tag));
            if slot.kind.is_constructed() {
                self.state.writer.close(own, level.contents);
            } else {
                self.string(&slot, own, level.contents);
            }
        }
        self.state.levels.pop();
        self.unwrap(&slot, level.marks);
        self.state.order.truncate(level.order);
        if code.count > 64 {
            self.state.bits.truncate(level.seen as usize);
        }
        self.written(&slot, level.start, level.from_input, level.made);
        Ok(())
    }

    /// A string whose content has been written.
    fn string(&mut self, slot: &Slot, own: Tag, contents: Mark) {
        let writer = &mut self.state.writer;
        if slot.kind == Kind::BitString {
            writer.push_octet(0);
        }
        let length = writer.since(contents);
        if self.rules == BerRules::Cer && length > 1000 {
            let copy = writer.finish().get(..length).unwrap_or_default().to_vec();
            writer.rewind(contents);
            // The value was just written: it cannot be wrong.
            let _ = canonical::write(writer, slot.kind, own, &copy, None);
            return;
        }
        writer.primitive(own, contents);
    }

    /// Whether all that has to be there is.
    fn complete(&self, code: &NodeCode, level: &Level) -> Result<(), Fault> {
        if code.count <= 64 && code.required & !level.seen == 0 {
            return Ok(());
        }
        for (number, slot) in (0_u32..).zip(self.program.slots_of(code)) {
            let word = if code.count <= 64 {
                level.seen
            } else {
                self.state.bits.get(level.seen as usize + (number / 64) as usize).copied().unwrap_or(0)
            };
            if slot.flags & flags::REQUIRED != 0 && word >> (number & 63) & 1 == 0 {
                return Err(Fault { kind: ErrorKind::MissingComponent, field: Some(slot.field) });
            }
        }
        Ok(())
    }

    /// Brings the components of a SEQUENCE into the order of the type.
    #[cold]
    fn reorder(&mut self, level: &Level) {
        self.sort_by(level, |number, _, _| number);
    }

    /// Brings the components of a SET into the order of CER, in which an untagged CHOICE stands where the least of its
    /// tags belongs (X.690 9.3).
    #[cold]
    fn sort_by_least_tags(&mut self, code: &NodeCode, level: &Level) {
        let program = self.program;
        self.sort_by(level, |number, is_known, element| {
            let tag = Reader::new(element, BerRules::Ber).read_header().map_or(0, |header| header.tag.bits());
            if is_known { program.least_tag(code, number, tag) } else { tag }
        });
    }

    /// Sorts what is in a value by keys made from the number of the component, whether it is one that the schema knows
    /// (the number is then its own, not that of the one before which it was found), and its octets.
    fn sort_by(&mut self, level: &Level, key: impl Fn(u32, bool, &[u8]) -> u32) {
        let writer = &mut self.state.writer;
        let total = writer.len();
        let written = writer.finish();
        let mut begun = total - writer.since(level.contents);
        let mut before = NONE;
        let mut parts: Vec<(u32, &[u8])> = Vec::new();
        for &(number, end) in self.state.order.get(level.order..).unwrap_or_default() {
            let octets = written.get(total - end..total - begun).unwrap_or_default();
            if !octets.is_empty() {
                parts.push((key(number, number != before, octets), octets));
            }
            begun = end;
            before = number;
        }
        parts.reverse();
        parts.sort_by_key(|(key, _)| *key);
        let sorted = parts.iter().flat_map(|(_, octets)| octets.iter().copied()).collect::<Vec<_>>();
        writer.rewind(level.contents);
        writer.push(&sorted);
    }

    // Errors

    #[cold]
    fn explain(&self, fault: Fault, index: usize) -> Error {
        let mut path = String::new();
        let mut in_list = None;
        for level in &self.state.levels {
            self.path_step(
                &mut path,
                self.program.slots[level.slot as usize].field,
                level.node,
                in_list.take(),
            );
            if matches!(self.program.nodes[level.node.index()].kind, Kind::SequenceOf | Kind::SetOf) {
                in_list = Some(self.position(level, index));
            }
        }
        let tip = match self.value.token(index) {
            Token::Leaf { field, node, .. } | Token::Close { field, node, .. } => Some((field, node)),
            _ => None,
        };
        if let Some((field, node)) = tip {
            self.path_step(&mut path, field, node, in_list.take());
        }
        let error = Error::new(fault.kind, 0);
        match fault.field {
            Some(field) if field != FieldId::ROOT && field.index() < self.shape.fields.len() => {
                let name = self.shape.name(self.shape.field(field).name);
                if tip.is_none() {
                    let _ = write!(path, ".{name}");
                }
                error.with_path(path).with_detail(format!("`{name}`"))
            }
            _ => error.with_path(path),
        }
    }

    fn position(&self, level: &Level, index: usize) -> usize {
        let (mut at, mut position) = (level.open + 1, 0);
        while self.value.skip(at) <= index {
            at = self.value.skip(at);
            position += 1;
        }
        position
    }

    fn path_step(&self, out: &mut String, field: FieldId, node: NodeId, position: Option<usize>) {
        if let Some(position) = position {
            let _ = write!(out, "[{position}]");
        } else if field == FieldId::ROOT {
            if out.is_empty()
                && let Some(name) = self.shape.nodes.get(node.index()).and_then(|node| node.name)
            {
                out.push_str(self.shape.name(name));
            }
        } else if let Some(field) = self.shape.fields.get(field.index()) {
            if !out.is_empty() {
                out.push('.');
            }
            out.push_str(self.shape.name(field.name));
        }
    }
}

#[inline]
fn tag(bits: u32) -> Tag {
    Tag::from_bits(bits).unwrap_or(Tag::END_OF_CONTENTS)
}
