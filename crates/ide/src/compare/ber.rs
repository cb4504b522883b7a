//! Pairs in BER, DER and CER: elements are found by their tags.

use super::reading::{Pair, Sides, Step};
use std::collections::BTreeSet;
use tercet_schema::plan::ber::{NodeCode, Program, Slot, UNTAGGED, flags, node_flags};
use tercet_schema::plan::shape::{Place, Presence};
use tercet_schema::plan::{Kind, Shape};

/// The tags of a slot from the outside in, as text.
pub(super) fn tags(program: &Program, slot: &Slot) -> Vec<u32> {
    let all = [slot.tag].into_iter().chain(program.chain(slot).iter().copied());
    all.filter(|tag| *tag != UNTAGGED).collect()
}

/// A tag in the notation of the standard.
pub(super) fn tag_text(tag: u32) -> String {
    let number = tag & 0x1FFF_FFFF;
    match tag >> 30 {
        0 => format!("[UNIVERSAL {number}]"),
        1 => format!("[APPLICATION {number}]"),
        2 => format!("[{number}]"),
        _ => format!("[PRIVATE {number}]"),
    }
}

pub(super) fn tags_text(tags: &[u32]) -> String {
    match tags {
        [] => "no tag".to_owned(),
        tags => tags.iter().map(|tag| tag_text(*tag)).collect::<Vec<_>>().join(" "),
    }
}

/// The slot of a node where no component leads to it.
pub(super) fn entry(program: &Program, node: tercet_schema::plan::NodeId) -> Option<&Slot> {
    let entry = program.nodes.get(node.index())?.entry;
    program.slots.get(entry as usize)
}

pub(super) fn outermost(writer: &Program, reader: &Program, (w, r): Pair) -> Option<String> {
    let (before, after) = (entry(writer, w)?, entry(reader, r)?);
    if after.flags & flags::WILD != 0 {
        return None;
    }
    let (before, after) = (tags(writer, before), tags(reader, after));
    (before != after).then(|| format!("tags {} are not {}", tags_text(&before), tags_text(&after)))
}

pub(super) fn step(sides: &Sides<'_>, writer: &Program, reader: &Program, pair: Pair) -> Step {
    let mut step = Step::default();
    let (w, r) = pair;
    let (from, to) = sides.shapes();
    // An open type of which nothing is known takes every element.
    if to.node(r).kind == Kind::Open && from.node(w).kind != Kind::Open && to.node(r).table.is_none() {
        return step;
    }
    if !sides.kinds(pair, &mut step) {
        return step;
    }
    let (Some(before), Some(after)) = (writer.nodes.get(w.index()), reader.nodes.get(r.index())) else {
        return step;
    };
    match from.node(w).kind {
        Kind::Sequence | Kind::Set | Kind::Choice => {
            Members { sides, writer, reader, pair, before, after, step: &mut step }.compare();
        }
        Kind::SequenceOf | Kind::SetOf => {
            if let (Some(one), Some(other)) =
                (writer.slots.get(before.first as usize), reader.slots.get(after.first as usize))
            {
                slots(writer, reader, one, other, "[]", &mut step);
            }
        }
        Kind::Enumerated => items(sides, pair, &mut step),
        Kind::BitString if sides.rules.is_canonical() => {
            // Bits with names have no zero at their end (X.690 11.2.2).
            let has_names = |code: &NodeCode| code.flags & node_flags::NAMED_BITS != 0;
            if has_names(after) && !has_names(before) {
                step.fault("", "zero bits at the end are not allowed for named bits");
            }
        }
        _ => {}
    }
    sides.contents(pair, &mut step);
    step
}

/// Compares items that are written by number, in BER and OER.
pub(super) fn items(sides: &Sides<'_>, pair: Pair, step: &mut Step) {
    let (from, to) = sides.shapes();
    for item in from.items_of(pair.0) {
        let name = from.name(item.name);
        match to.item_name(pair.1, item.value) {
            Some(other) if sides.is_same_item(pair, (name, other)) => {}
            Some(other) => step.fault(name, format!("the number {} is that of `{other}`", item.value)),
            None if Sides::has_item(to, pair.1, name) => {
                step.fault(name, format!("the number {} is unknown", item.value));
            }
            None if to.node(pair.1).extensible => {}
            None => step.fault(name, format!("the number {} is unknown, and there is no `...`", item.value)),
        }
    }
}

/// Compares the tags of two slots, and adds the pair of their nodes.
fn slots(writer: &Program, reader: &Program, one: &Slot, other: &Slot, name: &str, step: &mut Step) {
    let (before, after) = (tags(writer, one), tags(reader, other));
    let takes_any = other.flags & flags::WILD != 0 && other.kind == Kind::Open;
    if before != after && !takes_any {
        step.fault(name, format!("tags {} are not {}", tags_text(&before), tags_text(&after)));
        return;
    }
    step.part(name, (one.node, other.node));
}

/// The members of a SEQUENCE or SET, or the alternatives of a CHOICE.
struct Members<'a, 's> {
    sides: &'a Sides<'s>,
    writer: &'a Program,
    reader: &'a Program,
    pair: Pair,
    before: &'a NodeCode,
    after: &'a NodeCode,
    step: &'a mut Step,
}

/// Where an element goes.
enum Target {
    Slot(u32),
    /// It is skipped, as one of a later version.
    Unknown,
    Nowhere(String),
}

impl Members<'_, '_> {
    fn compare(&mut self) {
        let (from, to) = self.sides.shapes();
        let kind = from.node(self.pair.0).kind;
        // The places in the reader where it may be after the members so far: one component that is OPTIONAL makes two. After an
        // extension addition that is absent and not OPTIONAL no later one comes (X.680 25.13 and NOTE): `true`.
        let mut cursors = BTreeSet::from([(0, false)]);
        let mut met = BTreeSet::new();
        for (number, slot) in self.writer.slots_of(self.before).iter().enumerate() {
            let name = from.name(from.field(slot.field).name).to_owned();
            let is_required = slot.flags & flags::REQUIRED != 0 && kind != Kind::Choice;
            if is_required {
                met.insert(name.clone());
            }
            let is_addition = slot.flags & flags::ADDITION != 0;
            let field = from.field(slot.field);
            let ends = is_addition
                && field.presence == Presence::Mandatory
                && matches!(field.place, Place::Addition(_));
            let absent = |(cursor, ended): &(u32, bool)| (*cursor, *ended || ends);
            let mut next: BTreeSet<(u32, bool)> = match is_required || kind == Kind::Choice {
                true => BTreeSet::new(),
                false => cursors.iter().map(absent).collect(),
            };
            for tag in self.element_tags(number as u32, slot) {
                for (cursor, ended) in cursors.clone() {
                    if is_addition && ended && kind == Kind::Sequence {
                        continue;
                    }
                    let from_here = if kind == Kind::Sequence { cursor } else { 0 };
                    match self.target(tag, from_here) {
                        Target::Slot(found) => {
                            self.member(slot, found, &name, tag);
                            next.insert((if kind == Kind::Sequence { found + 1 } else { 0 }, ended));
                        }
                        Target::Unknown => {
                            let behind = cursor.max(self.after.second_root);
                            next.insert((if kind == Kind::Sequence { behind } else { 0 }, ended));
                        }
                        Target::Nowhere(text) => {
                            self.step.fault(&name, text);
                            next.insert((cursor, ended));
                        }
                    }
                }
            }
            cursors = if kind == Kind::Choice { BTreeSet::from([(0, false)]) } else { next };
        }
        if kind == Kind::Choice {
            return;
        }
        // What must be there and may not come.
        for slot in self.reader.slots_of(self.after) {
            let name = to.name(to.field(slot.field).name);
            if slot.flags & flags::REQUIRED != 0
                && !self.step.faults.iter().any(|fault| fault.component == name)
            {
                self.required(slot, name);
            }
        }
    }

    /// Reports a component that the reader requires and the writer need not write.
    fn required(&mut self, slot: &Slot, name: &str) {
        let wanted: Vec<u32> = tags(self.reader, slot);
        let writes = |one: &Slot| {
            one.flags & flags::REQUIRED != 0
                && (tags(self.writer, one) == wanted || slot.flags & flags::WILD != 0)
        };
        let slots = self.writer.slots_of(self.before);
        if slots.iter().any(writes) {
            return;
        }
        let shape = &self.sides.writer.shape;
        let is_known = slots.iter().any(|one| shape.name(shape.field(one.field).name) == name);
        let text =
            if is_known { "must be there, and may be absent" } else { "must be there, and is not known" };
        self.step.fault(name, text);
    }

    /// The tags that an element of a slot may have; of a slot that takes any, none.
    fn element_tags(&self, number: u32, slot: &Slot) -> Vec<Option<u32>> {
        if slot.tag != UNTAGGED {
            return vec![Some(slot.tag)];
        }
        let mut all: Vec<Option<u32>> = Vec::new();
        let first = self.before.dense as usize;
        let dense = self.writer.dense.get(first..first + self.before.dense_len as usize).unwrap_or_default();
        for (index, entry) in (0..).zip(dense) {
            if u32::from(*entry) == number + 1 {
                all.push(Some(self.before.dense_tag + index));
            }
        }
        let first = self.before.sparse as usize;
        let sparse =
            self.writer.sparse.get(first..first + self.before.sparse_len as usize).unwrap_or_default();
        all.extend(sparse.iter().filter(|entry| entry.1 == number).map(|entry| Some(entry.0)));
        if slot.kind == Kind::Open {
            all.push(None);
        }
        all
    }

    /// Where the reader takes an element with a tag to, or one with any tag.
    fn target(&self, tag: Option<u32>, cursor: u32) -> Target {
        let wild = || {
            let slots = (0..).zip(self.reader.slots_of(self.after));
            let mut wild = slots.filter(|(at, slot)| *at >= cursor && slot.flags & flags::WILD != 0);
            wild.next().map(|(at, _)| at)
        };
        let Some(tag) = tag else {
            return wild().map_or_else(
                || Target::Nowhere("an element with any tag is not expected".into()),
                Target::Slot,
            );
        };
        if let Some(found) = self.reader.find(self.after, tag, cursor).or_else(wild) {
            return Target::Slot(found);
        }
        let text = tag_text(tag);
        let is_extensible = self.after.flags & node_flags::EXTENSIBLE != 0;
        if self.reader.find(self.after, tag, 0).is_some() && !(is_extensible && tag >> 30 == 0) {
            return Target::Nowhere(format!("{text} is expected earlier"));
        }
        if !is_extensible {
            return Target::Nowhere(format!("{text} is unknown, and there is no `...`"));
        }
        if self.after.kind == Kind::Sequence && cursor > self.after.second_root {
            return Target::Nowhere(format!("{text} is unknown after the extension additions"));
        }
        Target::Unknown
    }

    /// Compares an element with the component that the reader takes it for.
    fn member(&mut self, slot: &Slot, found: u32, name: &str, tag: Option<u32>) {
        let Some(other) = self.reader.slots_of(self.after).get(found as usize) else { return };
        let (from, to) = self.sides.shapes();
        let read_as = to.name(to.field(other.field).name);
        if !self.sides.is_same_field(self.pair, (name, read_as)) {
            let text = tag.map_or_else(|| "any tag".to_owned(), tag_text);
            self.step.fault(name, format!("{text} is read as `{read_as}`"));
            return;
        }
        slots(self.writer, self.reader, slot, other, name, self.step);
        if self.before.kind != Kind::Choice {
            let presence = |shape: &Shape, slot: &Slot| shape.field(slot.field).presence;
            self.sides.absence(presence(from, slot), presence(to, other), name, self.step);
        }
    }
}
