//! Decoding: what a component holds, for all that is not a plain primitive.

use super::check;
use super::decode::{DecodeState, Detail, Engine, Result};
use super::frame::{FrameKind, Pending, Register};
use super::head::Head;
use super::{constraints, keys, rules_of};
use crate::Options;
use crate::event::{Copying, Discard, Leaf, Marked, Sink};
use tercet_plan::ber::{NONE, Slot, UNTAGGED, flags, node_flags};
use tercet_plan::{Kind, NodeId, Rules};
use tercet_runtime::ber::{StringForm, check_named_bits, decode_bit_string};
use tercet_runtime::{Error as Fault, ErrorKind, Tag};

impl<S: Sink> Engine<'_, S> {
    /// Reads or begins the value in a slot. Its header is at the current position and has the slot's tag number
    /// `level`, or is that of an alternative or open type's content if all tags are read.
    pub(super) fn value(&mut self, index: u32, head: Head, level: usize) -> Result<()> {
        let (mut index, mut level) = (index, level);
        loop {
            let slot = self.program.slots[index as usize];
            self.at_slot = index;
            if slot.tag != UNTAGGED {
                // Tags still to be read, this one not among them; all wrap an open-ended type.
                let more = self.program.chain(&slot).len() + usize::from(slot.flags & flags::OPEN_ENDED != 0);
                if level < more {
                    if level == 0 && !self.sink.wants(slot.field) {
                        return self.skip(&slot);
                    }
                    if self.wrapped_plain(&slot, &head, level) {
                        self.at_slot = NONE;
                        return Ok(());
                    }
                    let frame = self.cur().inside(FrameKind::Wrap, index, slot.node.0, level as u32 + 1);
                    let at = self.pos;
                    self.enter(&head, frame)?;
                    if self.sink.wants_places() {
                        self.place_header(&slot, at, &head);
                    }
                    return Ok(());
                }
            }
            if !self.sink.wants(slot.field) {
                return self.skip(&slot);
            }
            match slot.kind {
                Kind::Sequence | Kind::Set | Kind::SequenceOf | Kind::SetOf => {
                    return self.open(index, &slot, &head);
                }
                Kind::Choice => match self.choice(index, &slot, &head)? {
                    Some(alternative) => (index, level) = (alternative, 0),
                    None => return Ok(()),
                },
                Kind::Open => return self.open_type(index, &slot, &head),
                _ => return self.leaf(index, &slot, &head),
            }
        }
    }

    fn skip(&mut self, slot: &Slot) -> Result<()> {
        self.pending_key = None;
        self.at_slot = NONE;
        let start = self.pos;
        self.element()?;
        if self.sink.wants_places() {
            self.place_unread((slot.field, slot.node), start);
        }
        Ok(())
    }

    /// An explicit tag around a plain primitive, both in the common form.
    #[inline]
    fn wrapped_plain(&mut self, slot: &Slot, head: &Head, level: usize) -> bool {
        let &[inner] = self.program.chain(slot) else { return false };
        if self.is_strict() || slot.kind >= Kind::Sequence || head.indefinite || !head.constructed {
            return false;
        }
        if level != 0 || slot.flags & (flags::KEY | flags::CONTENTS) != 0 || self.pending_key.is_some() {
            return false;
        }
        let start = self.pos + head.size;
        let Some(inside) = super::head::head(self.input, start, start + head.length) else { return false };
        let at = start + inside.size;
        let contents = self.input.get(at..at + inside.length).unwrap_or_default();
        let fits = inside.tag == inner && !inside.constructed && inside.size + inside.length == head.length;
        if !fits || !check::is_plainly_good(slot.kind, contents) {
            return false;
        }
        if self.sink.wants_places() {
            self.place_header(slot, self.pos, head);
            self.place_primitive(slot, start, &inside);
        }
        self.sink.leaf(slot.field, slot.node, Leaf::Input { at, contents });
        self.pos = start + head.length;
        true
    }

    /// Begins a CHOICE; the answer is the slot of the alternative, unless that is read already.
    fn choice(&mut self, index: u32, slot: &Slot, head: &Head) -> Result<Option<u32>> {
        let code = &self.program.nodes[slot.node.index()];
        if slot.flags & flags::KEY != 0 {
            let key = self.shape.field(slot.field).key;
            self.pending_key = key.map(|register| Pending { register, alternatives: Default::default() });
        }
        let found = self.program.find(code, head.tag, 0).or_else(|| {
            let wild = |slot: &Slot| slot.flags & flags::WILD != 0;
            let slots = self.program.slots_of(code);
            (code.flags & node_flags::WILD != 0).then(|| slots.iter().position(wild).map(|n| n as u32))?
        });
        let Some(number) = found else {
            self.pending_key = None;
            if !self.keeps_unknown(code.flags & node_flags::EXTENSIBLE != 0) {
                self.detail = Some(Detail::Tag(head.tag));
                return Err(self.fault(ErrorKind::UnknownAlternative));
            }
            self.sink.open(slot.field, slot.node);
            self.keep_unknown()?;
            self.sink.close(slot.field, slot.node);
            self.at_slot = NONE;
            return Ok(None);
        };
        self.deeper()?;
        self.sink.open(slot.field, slot.node);
        let mut frame = self.cur().inside(FrameKind::Choice, index, slot.node.0, 0);
        frame.done = true;
        // The parent's `indefinite` ends the parent, not the choice.
        self.push(frame);
        if let Some(pending) = &mut self.pending_key {
            let alternative = self.program.slots[(code.first + number) as usize].field;
            if !pending.alternatives.push(alternative) {
                self.pending_key = None;
            }
        }
        Ok(Some(code.first + number))
    }

    /// An open type: what a table says is inside, or its octets.
    fn open_type(&mut self, index: u32, slot: &Slot, head: &Head) -> Result<()> {
        self.pending_key = None;
        let node = self.shape.node(slot.node);
        if let Some(table) = &node.table
            && self.options.resolve_tables
        {
            let (row, complete) = keys::row(self.shape, table, &self.state.registers, self.input);
            let entry =
                row.and_then(|row| self.program.nodes.get(row.node.index())).map_or(NONE, |code| code.entry);
            if entry != NONE {
                let inside = self.program.slots[entry as usize];
                if inside.tag != UNTAGGED && inside.tag != head.tag {
                    self.detail = Some(Detail::Expected(inside.tag, head.tag));
                    return Err(self.fault(ErrorKind::TagMismatch));
                }
                self.deeper()?;
                self.sink.open(slot.field, slot.node);
                let frame = self.cur().inside(FrameKind::Open, index, slot.node.0, entry);
                self.push(frame);
                return self.value(entry, *head, 0);
            }
            let extensible = self.shape.tables.get(table.table as usize).is_none_or(|table| table.extensible);
            if complete && self.options.strict_tables && !extensible {
                return Err(self.fault(ErrorKind::ConstraintViolated));
            }
        }
        let start = self.pos;
        let element = self.element()?;
        if self.sink.wants_places() {
            self.place_unread((slot.field, slot.node), start);
        }
        self.sink.leaf(slot.field, slot.node, Leaf::Input { at: start, contents: element });
        self.at_slot = NONE;
        Ok(())
    }

    /// A primitive value, or a string in segments.
    fn leaf(&mut self, index: u32, slot: &Slot, head: &Head) -> Result<()> {
        if head.constructed {
            return self.segmented(slot);
        }
        let at = self.pos + head.size;
        let contents = self.input.get(at..at + head.length).unwrap_or_default();
        let rules = rules_of(self.options.rules);
        if self.options.rules == Rules::Cer && head.length > 1000 && slot.kind.may_be_segmented() {
            return Err(self.fault(ErrorKind::SegmentSize));
        }
        if let Err(fault) = check::check(slot.kind, contents, self.offset(at), rules) {
            return self.imperfect(slot, head, contents, fault);
        }
        if slot.kind == Kind::BitString
            && self.program.nodes[slot.node.index()].flags & node_flags::NAMED_BITS != 0
        {
            return self.named_bits(slot, head, contents);
        }
        if self.is_strict() {
            self.check_strictly(slot, contents, at)?;
        }
        if slot.flags & flags::KEY != 0 || self.pending_key.is_some() {
            self.remember(slot, at, head.length);
        }
        if slot.flags & flags::CONTENTS != 0
            && self.options.decode_containing
            && let Some(entry) = self.content(slot, contents)?
        {
            let skipped = usize::from(slot.kind == Kind::BitString);
            let mut frame = self.cur().inside(FrameKind::Content, index, slot.node.0, entry);
            frame.end = at + head.length;
            frame.bounded = true;
            self.deeper()?;
            if self.sink.wants_places() {
                self.place_header(slot, self.pos, head);
                self.place_contents(slot, at, skipped);
            }
            self.pos = at + skipped;
            self.sink.open(slot.field, slot.node);
            self.push(frame);
            return Ok(());
        }
        if self.sink.wants_places() {
            self.place_primitive(slot, self.pos, head);
        }
        self.sink.leaf(slot.field, slot.node, Leaf::Input { at, contents });
        self.pos = at + head.length;
        self.at_slot = NONE;
        Ok(())
    }

    /// A leaf whose contents octets are not of its type: kept and marked, or an error.
    #[cold]
    #[inline(never)]
    fn imperfect(&mut self, slot: &Slot, head: &Head, contents: &[u8], fault: Fault) -> Result<()> {
        let at = self.pos + head.size;
        let marked = self.mark(slot, self.offset(at), fault)?;
        if slot.flags & flags::KEY != 0 || self.pending_key.is_some() {
            self.remember(slot, at, contents.len());
        }
        if self.sink.wants_places() {
            self.place_primitive(slot, self.pos, head);
        }
        self.sink.marked(slot.field, slot.node, Leaf::Input { at, contents }, &marked);
        self.pos = at + contents.len();
        self.at_slot = NONE;
        Ok(())
    }

    /// A primitive BIT STRING with named bits: in DER and CER without zero bits at its end (X.690 11.2.2). The sink gets it
    /// in the size that is asked for (11.2.2 NOTE 1).
    fn named_bits(&mut self, slot: &Slot, head: &Head, contents: &[u8]) -> Result<()> {
        let at = self.pos + head.size;
        let mut resized = std::mem::take(&mut self.state.joined);
        let is_resized = self.resized(slot, contents, self.offset(at), &mut resized)?;
        let delivered = if is_resized { &resized[..] } else { contents };
        if self.is_strict() {
            self.check_strictly(slot, delivered, at)?;
        }
        if self.sink.wants_places() {
            self.place_primitive(slot, self.pos, head);
        }
        if is_resized {
            self.sink.leaf(slot.field, slot.node, Leaf::Made(&resized));
        } else {
            self.sink.leaf(slot.field, slot.node, Leaf::Input { at, contents });
        }
        self.state.joined = resized;
        self.pos = at + contents.len();
        self.at_slot = NONE;
        Ok(())
    }

    /// Why a value is marked whose octets begin at an offset.
    ///
    /// # Errors
    /// The fault itself if it is one of structure, or if such values are errors.
    fn mark(&mut self, slot: &Slot, offset: u64, fault: Fault) -> Result<Marked> {
        if !check::has_characters(slot.kind) || !self.options.keeps_marked() {
            return Err(fault);
        }
        self.state.marked += 1;
        Ok(Marked { error: self.explain(fault), offset })
    }

    /// Makes named bits of the size that is asked for; `false` if they have it.
    fn resized(&self, slot: &Slot, contents: &[u8], offset: u64, resized: &mut Vec<u8>) -> Result<bool> {
        let bits = decode_bit_string(contents, offset, rules_of(self.options.rules))?;
        if self.options.rules != Rules::Ber {
            check_named_bits(bits, 0, offset)?;
        }
        let (least, most) = self.shape.sizes(slot.node);
        let Some(bits) = bits.resized(least, most) else { return Ok(false) };
        resized.clear();
        resized.push(bits.as_bits().unused());
        resized.extend_from_slice(bits.as_bits().bytes());
        Ok(true)
    }

    /// A string whose encoding is constructed: its segments joined.
    #[cold]
    fn segmented(&mut self, slot: &Slot) -> Result<()> {
        if !slot.kind.may_be_segmented() {
            return Err(self.fault(ErrorKind::PrimitiveExpected));
        }
        let mut joined = std::mem::take(&mut self.state.joined);
        joined.clear();
        let mut reader = self.reader();
        let start = self.offset(self.pos);
        let read = reader.read_header().and_then(|header| {
            if slot.kind == Kind::BitString {
                let bits = reader.bit_string(&header)?;
                joined.push(bits.as_bits().unused());
                joined.extend_from_slice(bits.as_bits().bytes());
                return Ok(());
            }
            reader.string_into(&header, segment_form(slot.kind), &mut joined)
        });
        let length = reader.position();
        let result = read.map_err(|e| self.bounded(e)).and_then(|()| {
            if self.sink.wants_places() {
                self.place_segments(slot, self.pos..self.pos + length);
            }
            if let Err(fault) = check::check(slot.kind, &joined, start, rules_of(self.options.rules)) {
                let marked = self.mark(slot, start, fault)?;
                self.sink.marked(slot.field, slot.node, Leaf::Made(&joined), &marked);
                return Ok(());
            }
            if self.program.nodes[slot.node.index()].flags & node_flags::NAMED_BITS != 0 {
                let mut resized = Vec::new();
                if self.resized(slot, &joined, start, &mut resized)? {
                    joined = resized;
                }
            }
            if self.options.check_constraints
                && !constraints::is_allowed(self.shape, self.shape.node(slot.node), &joined)
            {
                return Err(self.fault(ErrorKind::ConstraintViolated));
            }
            if !self.joined_content(slot, &joined)? {
                self.sink.leaf(slot.field, slot.node, Leaf::Made(&joined));
            }
            Ok(())
        });
        self.state.joined = joined;
        result?;
        self.pos += length;
        self.at_slot = NONE;
        self.pending_key = None;
        Ok(())
    }

    /// Says what is in joined segments, if the string is of a type with CONTAINING and the content decodes.
    fn joined_content(&mut self, slot: &Slot, joined: &[u8]) -> Result<bool> {
        if slot.flags & flags::CONTENTS == 0 || !self.options.decode_containing {
            return Ok(false);
        }
        let Some(entry) = self.content(slot, joined)? else { return Ok(false) };
        self.deeper()?;
        self.depth += 1;
        let inside = joined.get(usize::from(slot.kind == Kind::BitString)..).unwrap_or_default();
        // The trial has shown that this decodes within the depth that is left. Each level of it is copied and tried
        // again, so that content stays octets behind a few of them.
        let mut options = self.options.clone();
        options.decode_containing = self.state.joins < MOST_JOINS;
        options.limits.depth = self.depth.saturating_sub(1);
        self.sink.open(slot.field, slot.node);
        let mut state: Box<DecodeState> = self.state.trial.take().unwrap_or_default();
        state.marked = 0;
        state.joins = self.state.joins + 1;
        state.around = self.path();
        let mut sink = Copying(&mut *self.sink);
        let mut engine =
            Engine::new(&mut state, self.shape, self.program, entry, inside, &mut sink, &options);
        let read = engine.run();
        engine.finish();
        self.state.marked += state.marked;
        state.around.clear();
        self.state.trial = Some(state);
        self.sink.close(slot.field, slot.node);
        self.is_within(&read)?;
        Ok(read.is_ok())
    }

    /// The value of a key goes to its register.
    fn remember(&mut self, slot: &Slot, start: usize, length: usize) {
        let number = matches!(slot.kind, Kind::Integer | Kind::Enumerated);
        let (key, alternatives) = match self.pending_key.take() {
            Some(pending) => (Some(pending.register), pending.alternatives),
            None => (self.shape.field(slot.field).key, Default::default()),
        };
        if let Some(key) = key
            && let Some(register) = self.state.registers.get_mut(usize::from(key))
        {
            *register = Some(Register { start, length, alternatives, number });
        }
    }

    /// The slot of what is in a string, if that decodes and fills the string.
    ///
    /// A sink cannot take back what it has heard, so the content is read once for nobody. What is inside the content is
    /// not tried, so that each octet is read at most once more for each level around it that is tried, which is one.
    ///
    /// # Errors
    /// It does not, and values must meet their constraints: a contents constraint is one (X.682 11). It is too deep.
    fn content(&mut self, slot: &Slot, contents: &[u8]) -> Result<Option<u32>> {
        let Some(inside) = self.shape.node(slot.node).containing else { return Ok(None) };
        // An open type is tried as what the keys around the string say that it is; there may be no type for them.
        let table = self.shape.node(inside).table.as_ref().filter(|_| self.options.resolve_tables);
        let row = table.and_then(|table| keys::row(self.shape, table, &self.state.registers, self.input).0);
        let tried = row.map_or(inside, |row| row.node);
        let fits = self.would_decode(tried, slot, contents)?;
        if !fits && self.options.check_constraints && (row.is_some() || table.is_none()) {
            return Err(self.fault(ErrorKind::ConstraintViolated));
        }
        Ok(self.entry(inside).filter(|_| fits))
    }

    /// Where reading a value of a type without a field begins.
    fn entry(&self, node: NodeId) -> Option<u32> {
        self.program.nodes.get(node.index()).map(|code| code.entry).filter(|entry| *entry != NONE)
    }

    fn would_decode(&mut self, tried: NodeId, slot: &Slot, contents: &[u8]) -> Result<bool> {
        let Some(entry) = self.entry(tried) else { return Ok(false) };
        let contents = if slot.kind == Kind::BitString {
            let Some((0, bytes)) = contents.split_first() else { return Ok(false) };
            bytes
        } else {
            contents
        };
        let mut options: Options = self.options.clone();
        options.decode_containing = false;
        options.limits.depth = self.depth.saturating_sub(1);
        let mut state: Box<DecodeState> = self.state.trial.take().unwrap_or_default();
        let mut sink = Discard;
        let mut engine =
            Engine::new(&mut state, self.shape, self.program, entry, contents, &mut sink, &options);
        let read = engine.run();
        engine.finish();
        self.state.trial = Some(state);
        self.is_within(&read)?;
        Ok(read == Ok(contents.len()))
    }

    /// Content that is too deep is an error rather than octets, as a value is within the limit in all rules or in none.
    fn is_within(&self, read: &Result<usize>) -> Result<()> {
        match read {
            Err(fault) if fault.kind() == ErrorKind::DepthLimit => Err(self.fault(ErrorKind::DepthLimit)),
            _ => Ok(()),
        }
    }
}

/// Strings in segments within one another whose content is read: one such call is made for each.
const MOST_JOINS: u8 = 8;

/// Which tags the segments of a string may have.
fn segment_form(kind: Kind) -> StringForm {
    match kind {
        Kind::UtcTime => StringForm::Text(Tag::UTC_TIME),
        Kind::GeneralizedTime => StringForm::Text(Tag::GENERALIZED_TIME),
        _ => kind.string_kind().map_or(StringForm::Octets, |string| StringForm::Text(string.tag())),
    }
}
