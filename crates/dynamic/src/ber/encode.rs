//! Encoding: the tape is walked from its end to its start, and the output grows backwards too, so that each length is
//! known when it is written. The close of a value pushes a level, its open pops it.

use super::output::Output;
use super::{canonical, check, rules_of};
use crate::event::Leaf;
use crate::fault::Fault;
use crate::tape::{Common, Token, View};
use crate::{Error, ErrorKind};
use tercet_plan::ber::{NONE, NodeCode, Program, Slot, UNTAGGED, flags, identifier, node_flags};
use tercet_plan::shape::Presence;
use tercet_plan::{FieldId, Kind, NodeId, Rules, Shape};
use tercet_runtime::Tag;
use tercet_runtime::ber::{Rules as BerRules, Writer};

/// What an encoder keeps from value to value.
#[derive(Debug, Default)]
pub(crate) struct EncodeState {
    room: Vec<u8>,
    /// For values that are brought into a canonical form.
    pub(super) writer: Writer,
    levels: Vec<Level>,
    /// Components of the open SEQUENCEs and SETs: number within the node, octets written when it was done.
    order: Vec<(u32, usize)>,
    /// Words for values of more than 64 components.
    bits: Vec<u64>,
}

/// What may be directly inside a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// Nothing is around the value.
    Outside,
    /// Components, each once.
    Components,
    /// The same with more than 64 of them.
    ManyComponents,
    /// Elements, or an alternative.
    Parts,
    /// What is in an open type or a string.
    Content,
}

/// A value whose close has been seen and whose open has not.
#[derive(Clone, Copy, Debug)]
pub(super) struct Level {
    form: Form,
    /// Whether components came in another order than the type's.
    disordered: bool,
    /// Whether there are leaves, and whether one is from an input rather than made.
    made: bool,
    from_input: bool,
    pub(super) slot: u32,
    pub(super) node: NodeId,
    /// The slots of its parts.
    first: u32,
    parts: u32,
    /// Number of the component written last.
    last: u32,
    /// Values directly inside.
    count: u32,
    /// Components seen, or the index of the first word.
    seen: u64,
    /// Index of its open.
    pub(super) open: u32,
    /// Octets written before anything of it was.
    start: usize,
    /// Octets written at the end of its contents.
    pub(super) contents: usize,
    /// First of its entries in `order`.
    pub(super) order: usize,
}

impl Level {
    const OUTSIDE: Self = Self {
        form: Form::Outside,
        disordered: false,
        made: false,
        from_input: false,
        slot: NONE,
        node: NodeId(NONE),
        first: 0,
        parts: 0,
        last: NONE,
        count: 0,
        seen: 0,
        open: 0,
        start: 0,
        contents: 0,
        order: 0,
    };
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
    state.levels.clear();
    state.order.clear();
    state.bits.clear();
    let mut engine = Engine {
        shape,
        program,
        rules,
        value,
        out: Output::new(std::mem::take(&mut state.room), value.octets()),
        level: Level::OUTSIDE,
        levels: std::mem::take(&mut state.levels),
        order: std::mem::take(&mut state.order),
        state,
    };
    let result = engine.run();
    if result.is_ok() {
        out.extend_from_slice(engine.out.since(0));
    }
    let Engine { levels, order, out: output, .. } = engine;
    (state.levels, state.order, state.room) = (levels, order, output.into_room());
    result
}

pub(super) struct Engine<'a> {
    pub(super) shape: &'a Shape,
    pub(super) program: &'a Program,
    pub(super) rules: BerRules,
    pub(super) value: View<'a>,
    pub(super) out: Output<'a>,
    /// The innermost level; those around it are in `levels`, the outside first.
    pub(super) level: Level,
    pub(super) levels: Vec<Level>,
    pub(super) order: Vec<(u32, usize)>,
    pub(super) state: &'a mut EncodeState,
}

impl<'a> Engine<'a> {
    fn run(&mut self) -> Result<(), Error> {
        for index in (0..self.value.len()).rev() {
            let done = match self.value.common(index) {
                Common::Input { field, at, length } => {
                    if self.input_leaf(field, at, length) {
                        continue;
                    }
                    self.token(index)
                }
                Common::Close { field, node, open } => self.close(field, node, open),
                Common::Open => self.open(),
                Common::Other => self.token(index),
            };
            done.map_err(|e| self.explain(e, index))?;
        }
        if self.level.count == 0 || !self.levels.is_empty() {
            return Err(
                Error::new(ErrorKind::ValueMismatch, 0).with_detail("the tape does not hold one value")
            );
        }
        Ok(())
    }

    /// Writes a primitive value with one tag that stands in the input, under BER; `false` leaves it to the slow path.
    #[inline(always)]
    fn input_leaf(&mut self, field: FieldId, at: usize, length: usize) -> bool {
        let Some(slot) = self.program.slots.get(field.index()) else { return false };
        let Some(identifier) = self.program.identifiers.get(field.index()) else { return false };
        let level = &mut self.level;
        let number = field.0.wrapping_sub(level.first);
        if self.rules != BerRules::Ber
            || slot.chain != 0
            || slot.kind >= Kind::Sequence
            || number >= level.parts
        {
            return false;
        }
        let word = match level.form {
            Form::Components => &mut level.seen,
            Form::ManyComponents => {
                match self.state.bits.get_mut(level.seen as usize + (number / 64) as usize) {
                    Some(word) => word,
                    None => return false,
                }
            }
            // Elements are not counted by number.
            Form::Parts => &mut 0,
            Form::Outside | Form::Content => return false,
        };
        let bit = 1_u64 << (number & 63);
        if *word & bit != 0 {
            return false;
        }
        *word |= bit;
        level.disordered |= number > level.last;
        level.last = number;
        level.count += 1;
        level.from_input = true;
        level.made = true;
        self.out.push_input(at, length);
        self.out.push_header(*identifier, length);
        if level.form != Form::Parts {
            self.order.push((number, self.out.len()));
        }
        true
    }

    fn token(&mut self, index: usize) -> Result<(), Fault> {
        match self.value.token(index) {
            Token::Leaf { field, node, leaf } => self.leaf(field, node, leaf, index),
            Token::Close { field, node, open } => self.close(field, node, open as u32),
            Token::Open { .. } => self.open(),
            Token::Default { .. } => Ok(()),
            Token::Unknown { addition, leaf } => self.unknown(addition, leaf),
        }
    }

    /// The slot of a value, which is entered as a part of the value around it.
    #[inline]
    fn slot(&mut self, field: FieldId, node: NodeId) -> Result<(u32, Slot), Fault> {
        let index = if field == FieldId::ROOT {
            self.program.nodes.get(node.index()).map_or(NONE, |code| code.entry)
        } else {
            field.0
        };
        let Some(&slot) = self.program.slots.get(index as usize) else { return Err(mismatch(field)) };
        let level = &mut self.level;
        level.count += 1;
        let number = index.wrapping_sub(level.first);
        match level.form {
            Form::Outside => return Ok((index, slot)),
            Form::Content if field == FieldId::ROOT => return Ok((index, slot)),
            Form::Content => return Err(mismatch(field)),
            _ if number >= level.parts => return Err(mismatch(field)),
            Form::Parts => return Ok((index, slot)),
            Form::Components | Form::ManyComponents => {}
        }
        let bit = 1_u64 << (number & 63);
        let word = if level.form == Form::Components {
            &mut level.seen
        } else {
            match self.state.bits.get_mut(level.seen as usize + (number / 64) as usize) {
                Some(word) => word,
                None => return Err(mismatch(field)),
            }
        };
        if *word & bit != 0 {
            return Err(Fault { kind: ErrorKind::DuplicateComponent, field: Some(field) });
        }
        *word |= bit;
        // The last is none, the greatest number, at first.
        level.disordered |= number > level.last;
        level.last = number;
        Ok((index, slot))
    }

    /// A component is complete.
    #[inline]
    fn written(&mut self, slot: &Slot, start: usize, from_input: bool, made: bool) {
        if slot.flags & flags::DEFAULT != 0 && (self.rules != BerRules::Ber || (made && !from_input)) {
            self.drop_default(slot, start);
        }
        self.level.from_input |= from_input;
        self.level.made |= made;
        if matches!(self.level.form, Form::Components | Form::ManyComponents) {
            self.order.push((self.level.last, self.out.len()));
        }
    }

    /// A component that equals its default is not written (X.690 11.5); what the application made is the same in BER.
    #[cold]
    fn drop_default(&mut self, slot: &Slot, start: usize) {
        let Presence::Default(constant) = self.shape.field(slot.field).presence else { return };
        let Some(default) = self.program.defaults.get(constant as usize) else { return };
        if !default.is_empty() && canonical::same(default, self.out.since(start), self.rules) {
            self.out.rewind(start);
        }
    }

    /// Ends the contents of a wrapping element or constructed value, which in CER have end-of-contents octets (9.1).
    #[inline]
    fn begin(&mut self, elements: usize) {
        if self.rules == BerRules::Cer {
            for _ in 0..elements {
                self.out.push(&[0, 0]);
            }
        }
    }

    /// Puts the header of a constructed element before its contents.
    #[inline]
    fn end(&mut self, identifier: u64, from: usize) {
        if self.rules == BerRules::Cer {
            self.out.push(&[0x80]);
            self.out.push_identifier(identifier);
        } else {
            self.out.push_header(identifier, self.out.len() - from);
        }
    }

    /// The tags of the elements that wrap a value, but for the outermost.
    #[inline]
    fn wraps(&self, slot: &Slot) -> Option<&'a [u32]> {
        let program: &'a Program = self.program;
        if slot.flags & flags::OPEN_ENDED != 0 {
            return (slot.tag != UNTAGGED).then(|| program.chain(slot));
        }
        program.chain(slot).split_last().map(|(_, wraps)| wraps)
    }

    #[inline]
    fn begin_wraps(&mut self, slot: &Slot) {
        if self.rules == BerRules::Cer
            && let Some(wraps) = self.wraps(slot)
        {
            self.begin(wraps.len() + 1);
        }
    }

    #[inline]
    fn end_wraps(&mut self, slot: &Slot, from: usize) {
        if let Some(wraps) = self.wraps(slot) {
            for tag in wraps.iter().rev().chain([&slot.tag]) {
                self.end(identifier(*tag, true), from);
            }
        }
    }

    fn leaf(&mut self, field: FieldId, node: NodeId, leaf: Leaf<'a>, token: usize) -> Result<(), Fault> {
        let (index, slot) = self.slot(field, node)?;
        let start = self.out.len();
        self.begin_wraps(&slot);
        if slot.flags & flags::OPEN_ENDED != 0 {
            match (slot.kind, leaf) {
                (Kind::Open, Leaf::Input { at, contents }) => self.out.push_input(at, contents.len()),
                (Kind::Open, Leaf::Made(element)) => self.out.push(element),
                _ => return Err(ErrorKind::ValueMismatch.into()),
            }
        } else {
            self.primitive(index, &slot, leaf, token)?;
        }
        self.end_wraps(&slot, start);
        self.written(&slot, start, matches!(leaf, Leaf::Input { .. }), true);
        Ok(())
    }

    #[inline]
    fn primitive(&mut self, index: u32, slot: &Slot, leaf: Leaf<'a>, token: usize) -> Result<(), Fault> {
        let identifier = self.program.identifiers.get(index as usize).copied().unwrap_or_default();
        let end = self.out.len();
        match leaf {
            Leaf::Addition(_) => return Err(ErrorKind::UnknownEnumeration.into()),
            Leaf::Int(number) => match slot.kind {
                Kind::Boolean => self.out.push(if number == 0 { &[0] } else { &[0xFF] }),
                Kind::Integer | Kind::Enumerated => self.out.push_integer(number),
                _ => return Err(ErrorKind::ValueMismatch.into()),
            },
            Leaf::Input { at, contents } => {
                if self.rules != BerRules::Ber {
                    check::check(slot.kind, contents, 0, BerRules::Ber)?;
                    if !canonical::is_as_it_is(slot.kind, self.rules, contents) {
                        return self.canonical(slot, contents);
                    }
                }
                self.out.push_input(at, contents.len());
            }
            Leaf::Made(contents) => {
                if let Err(fault) = check::check(slot.kind, contents, 0, BerRules::Ber) {
                    self.marked(fault, token)?;
                }
                if self.rules != BerRules::Ber && !canonical::is_as_it_is(slot.kind, self.rules, contents) {
                    return self.canonical(slot, contents);
                }
                self.out.push(contents);
            }
        }
        self.out.push_header(identifier, self.out.len() - end);
        Ok(())
    }

    /// A leaf that is marked is written as it came, in the rules that keep such leaves.
    #[cold]
    fn marked(&self, fault: tercet_runtime::Error, token: usize) -> Result<(), Fault> {
        match self.value.marked(token) {
            Some(_) if self.rules == BerRules::Ber => Ok(()),
            _ => Err(fault.into()),
        }
    }

    /// Writes a value in its canonical form.
    fn canonical(&mut self, slot: &Slot, contents: &[u8]) -> Result<(), Fault> {
        let code = &self.program.nodes[slot.node.index()];
        let named = code.flags & node_flags::NAMED_BITS != 0;
        let own = self.program.chain(slot).last().copied().unwrap_or(slot.tag);
        let own = Tag::from_bits(own).unwrap_or(Tag::END_OF_CONTENTS);
        let writer = &mut self.state.writer;
        writer.clear();
        canonical::write(writer, slot.kind, own, contents, named)?;
        self.out.push(writer.finish());
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
        match leaf {
            Leaf::Input { at, contents } => self.out.push_input(at, contents.len()),
            Leaf::Made(contents) => self.out.push(contents),
            _ => return Err(ErrorKind::ValueMismatch.into()),
        }
        if self.level.form != Form::Outside {
            self.level.count += 1;
            self.level.from_input |= matches!(leaf, Leaf::Input { .. });
            self.order.push((self.level.last, self.out.len()));
        }
        Ok(())
    }

    fn close(&mut self, field: FieldId, node: NodeId, open: u32) -> Result<(), Fault> {
        let (index, slot) = self.slot(field, node)?;
        let start = self.out.len();
        self.begin_wraps(&slot);
        let code = &self.program.nodes[slot.node.index()];
        let form = match slot.kind {
            Kind::Sequence | Kind::Set if code.count > 64 => Form::ManyComponents,
            Kind::Sequence | Kind::Set => Form::Components,
            Kind::SequenceOf | Kind::SetOf | Kind::Choice => Form::Parts,
            _ => Form::Content,
        };
        if slot.kind.is_constructed() && slot.kind != Kind::Choice {
            self.begin(1);
        }
        let mut seen = 0;
        if form == Form::ManyComponents {
            seen = self.state.bits.len() as u64;
            self.state.bits.resize(self.state.bits.len() + (code.count as usize).div_ceil(64), 0);
        }
        let level = Level {
            form,
            slot: index,
            node: slot.node,
            first: code.first,
            parts: code.count,
            seen,
            open,
            start,
            contents: self.out.len(),
            order: self.order.len(),
            ..Level::OUTSIDE
        };
        self.levels.push(std::mem::replace(&mut self.level, level));
        Ok(())
    }

    fn open(&mut self) -> Result<(), Fault> {
        if self.level.form == Form::Outside {
            return Err(ErrorKind::ValueMismatch.into());
        }
        let slot = self.program.slots[self.level.slot as usize];
        let code = &self.program.nodes[self.level.node.index()];
        match code.kind {
            Kind::Sequence | Kind::Set => {
                if self.level.form != Form::Components || code.required & !self.level.seen != 0 {
                    self.complete(code)?;
                }
                if code.kind == Kind::Set {
                    self.sort_set(code);
                } else if self.level.disordered {
                    self.reorder();
                }
            }
            Kind::SetOf => self.sort_set_of()?,
            Kind::SequenceOf => {}
            // One alternative, one value in an open type or string.
            _ if self.level.count != 1 => return Err(ErrorKind::ValueMismatch.into()),
            _ => {}
        }
        if slot.flags & flags::OPEN_ENDED == 0 {
            if slot.kind.is_constructed() {
                let identifier = self.program.identifiers.get(self.level.slot as usize).copied();
                self.end(identifier.unwrap_or_default(), self.level.contents);
            } else {
                self.string(&slot)?;
            }
        }
        let outer = self.levels.pop().unwrap_or(Level::OUTSIDE);
        let level = std::mem::replace(&mut self.level, outer);
        self.end_wraps(&slot, level.start);
        self.order.truncate(level.order);
        if level.form == Form::ManyComponents {
            self.state.bits.truncate(level.seen as usize);
        }
        self.written(&slot, level.start, level.from_input, level.made);
        Ok(())
    }

    /// A string whose content has been written.
    fn string(&mut self, slot: &Slot) -> Result<(), Fault> {
        if slot.kind == Kind::BitString {
            self.out.push(&[0]);
        }
        let (from, index) = (self.level.contents, self.level.slot);
        let length = self.out.len() - from;
        if self.rules == BerRules::Cer && length > 1000 {
            let copy = self.out.since(from).to_vec();
            self.out.rewind(from);
            return self.canonical(slot, &copy);
        }
        let identifier = self.program.identifiers.get(index as usize).copied().unwrap_or_default();
        self.out.push_header(identifier, length);
        Ok(())
    }

    /// Whether all that has to be there is.
    #[cold]
    fn complete(&self, code: &NodeCode) -> Result<(), Fault> {
        for (number, slot) in (0_u32..).zip(self.program.slots_of(code)) {
            let word = if self.level.form == Form::Components {
                self.level.seen
            } else {
                let index = self.level.seen as usize + (number / 64) as usize;
                self.state.bits.get(index).copied().unwrap_or(0)
            };
            if slot.flags & flags::REQUIRED != 0 && word >> (number & 63) & 1 == 0 {
                return Err(Fault { kind: ErrorKind::MissingComponent, field: Some(slot.field) });
            }
        }
        Ok(())
    }
}

#[cold]
fn mismatch(field: FieldId) -> Fault {
    Fault { kind: ErrorKind::ValueMismatch, field: Some(field) }
}
