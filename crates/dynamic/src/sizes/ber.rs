//! Sizes by BER, DER and CER in octets.

use super::contents::{contents, units};
use super::{Span, rows, solve};
use tercet_plan::ber::{NONE, Program, Slot, UNTAGGED, identifier};
use tercet_plan::shape::{Field, Place, Presence};
use tercet_plan::{FieldId, Kind, NodeId, Rules, Shape};

pub(super) struct Measure<'a> {
    pub(super) shape: &'a Shape,
    pub(super) program: &'a Program,
    pub(super) rules: Rules,
}

/// The octets of a string in a segment of CER (X.690 9.2).
const SEGMENT: u64 = 1000;

impl Measure<'_> {
    /// The octets of elements that no component leads to, of each node.
    pub(super) fn elements(&self) -> Vec<Span> {
        let known = solve(self.shape, Span::NONE, Span::endless, |id, known| self.contents(id, known));
        let element = |id| self.entry(id).map_or(Span::NONE, |slot| self.tagged(slot, &known));
        (0..self.shape.nodes.len()).map(|index| element(NodeId(index as u32))).collect()
    }

    /// How a node is tagged where no component leads to it.
    fn entry(&self, id: NodeId) -> Option<&Slot> {
        let entry = self.program.nodes.get(id.index())?.entry;
        if entry == NONE { None } else { self.program.slots.get(entry as usize) }
    }

    fn component(&self, id: FieldId, field: &Field, known: &[Span]) -> Span {
        let slot = self.program.slots.get(id.index()).map_or(Span::NONE, |slot| self.tagged(slot, known));
        let is_mandatory = field.presence == Presence::Mandatory && field.place == Place::Root;
        if is_mandatory { slot } else { slot.or(Span::ZERO) }
    }

    /// The contents octets of a node's values; of a CHOICE or an open type, the elements.
    fn contents(&self, id: NodeId, known: &[Span]) -> Span {
        let node = self.shape.node(id);
        let element = |node| self.entry(node).map_or(Span::NONE, |slot| self.tagged(slot, known));
        let fields = || self.shape.fields_of(id);
        match node.kind {
            Kind::Sequence | Kind::Set => {
                fields().fold(Span::ZERO, |sum, (id, field)| sum.then(self.component(id, field, known)))
            }
            Kind::SequenceOf | Kind::SetOf => {
                let slot = self.program.slots.get(node.first as usize);
                slot.map_or(Span::NONE, |slot| self.tagged(slot, known)).repeated(units(self.shape, id))
            }
            Kind::Choice => {
                let slots = fields().filter_map(|(id, _)| self.program.slots.get(id.index()));
                slots.fold(Span::NONE, |all, slot| all.or(self.tagged(slot, known)))
            }
            Kind::Open => {
                let mut rows = rows(self.shape, id).map(element).peekable();
                // Of other content nothing is known: it is an element.
                if rows.peek().is_none() {
                    Span::exactly(2).endless()
                } else {
                    rows.fold(Span::NONE, Span::or)
                }
            }
            Kind::OctetString | Kind::BitString if node.containing.is_some() => {
                let unused = Span::exactly(u64::from(node.kind == Kind::BitString));
                unused.then(node.containing.map_or(Span::NONE, element))
            }
            _ => contents(self.shape, id, self.rules),
        }
    }

    /// A value with its tags.
    fn tagged(&self, slot: &Slot, known: &[Span]) -> Span {
        let mut octets = known.get(slot.node.index()).copied().unwrap_or(Span::NONE);
        let tags = [slot.tag].into_iter().chain(self.program.chain(slot).iter().copied());
        let tags: Vec<_> = tags.filter(|tag| *tag != UNTAGGED).collect();
        let is_wrapped = matches!(slot.kind, Kind::Choice | Kind::Open);
        for (depth, tag) in tags.iter().rev().enumerate() {
            let is_type = depth == 0 && !is_wrapped;
            let header = u64::from(u64::BITS - identifier(*tag, true).leading_zeros()).div_ceil(8);
            octets = octets.map(|count| header + self.length(count, slot.kind, is_type));
        }
        octets
    }

    /// The octets of a length and of what it is for.
    fn length(&self, count: u64, kind: Kind, is_type: bool) -> u64 {
        if self.rules != Rules::Cer || (is_type && !kind.is_constructed() && !is_segmented(kind, count)) {
            return definite(count);
        }
        // An indefinite length, and end-of-contents octets.
        let inside = if is_type && !kind.is_constructed() {
            // Each segment of a BIT STRING has an octet that counts unused bits.
            let unused = u64::from(kind == Kind::BitString);
            let (data, room) = (count - unused, SEGMENT - unused);
            let last = data % room;
            let last = if last == 0 { 0 } else { 1 + definite(last + unused) };
            data / room * (1 + definite(SEGMENT)) + last
        } else {
            count
        };
        inside + 3
    }
}

fn is_segmented(kind: Kind, count: u64) -> bool {
    kind.may_be_segmented() && count > SEGMENT
}

/// The octets of a definite length and of what it is for.
pub(super) fn definite(count: u64) -> u64 {
    let more = if count < 128 { 0 } else { u64::from(u64::BITS - count.leading_zeros()).div_ceil(8) };
    count + 1 + more
}
