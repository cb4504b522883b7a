//! Errors of a decode with path and detail; nothing here runs while all is well.

use super::decode::{Detail, Engine};
use super::frame::{Frame, FrameKind};
use super::keys;
use crate::Error;
use crate::event::Sink;
use std::fmt::Write;
use tercet_plan::ber::{NONE, Slot, UNTAGGED};
use tercet_plan::{FieldId, Kind};
use tercet_runtime::Error as Fault;

/// CHOICEs without tags inside one another that are told.
const DEEPEST: usize = 100;

impl<S: Sink> Engine<'_, S> {
    #[cold]
    pub(super) fn explain(&self, fault: Fault) -> Error {
        let error = Error::from(fault).with_path(self.path());
        match self.detail {
            Some(Detail::Tag(tag)) => error.with_detail(tag_text(tag)),
            Some(Detail::Expected(expected, found)) => {
                error.with_detail(format!("{} instead of {}", tag_text(found), tag_text(expected)))
            }
            Some(Detail::Field(field)) if field != FieldId::ROOT => {
                error.with_detail(format!("`{}`", self.shape.name(self.shape.field(field).name)))
            }
            _ => error,
        }
    }

    /// The path of what is being read.
    pub(super) fn path(&self) -> String {
        let mut out = self.state.around.clone();
        let mut list = None;
        // The slot of a frame whose value has a frame of its own.
        let mut outer = None;
        let headed = if matches!(self.detail, Some(Detail::Header)) { self.headed() } else { Vec::new() };
        let at = Some(self.at_slot).filter(|slot| *slot != NONE && headed.first() != Some(slot));
        let tip = at.into_iter().chain(headed.iter().copied()).map(|slot| (slot, None, false));
        let last = self.frames.len().saturating_sub(1);
        let frames = self.frames.iter().enumerate().map(|(number, frame)| {
            // An element has begun, unless it is one that the header is in.
            let begun = u32::from(number != last || headed.is_empty());
            let index = (frame.kind == FrameKind::List).then(|| frame.cursor.saturating_sub(begun));
            (frame.slot, index, matches!(frame.kind, FrameKind::Wrap | FrameKind::Root))
        });
        for (slot, index, is_outer) in frames.chain(tip) {
            if outer != Some(slot) {
                if let Some(index) = list.take() {
                    let _ = write!(out, "[{index}]");
                } else {
                    self.path_step(&mut out, slot);
                }
            }
            outer = is_outer.then_some(slot);
            list = index;
        }
        if let Some(Detail::Field(field)) = self.detail
            && field != FieldId::ROOT
        {
            let _ = write!(out, ".{}", self.shape.name(self.shape.field(field).name));
        }
        out
    }

    /// The slots of the values that the element at the current position begins, the outermost first, as far as its tag can
    /// be read.
    fn headed(&self) -> Vec<u32> {
        let frame = self.cur();
        let tag = self.reader().identifier().map(|tag| tag.bits());
        let code = self.code();
        let slot = match frame.kind {
            FrameKind::List => self.input.get(self.pos).filter(|octet| **octet != 0).map(|_| code.first),
            FrameKind::Sequence => {
                tag.and_then(|tag| Some(code.first + self.find_wild(code, tag, frame.cursor)?))
            }
            FrameKind::Set => {
                let number =
                    tag.and_then(|tag| self.program.find(code, tag, 0).or_else(|| self.wild_slot(code)));
                if let (Some(tag), Some(number)) = (tag, number)
                    && (self.is_seen(number) || self.key(code, number, tag) < self.checks.tag)
                {
                    // It comes twice or late: what is in it does not matter.
                    return vec![code.first + number];
                }
                number.map(|number| code.first + number)
            }
            _ => Some(self.at_slot).filter(|slot| *slot != NONE),
        };
        let mut slots: Vec<u32> = slot.into_iter().collect();
        // Alternatives without a tag of their own around them.
        let mut is_inside = frame.kind != FrameKind::Wrap || self.is_last_tag(frame);
        while let (Some(tag), Some(slot)) =
            (tag, slots.last().and_then(|slot| self.program.slots.get(*slot as usize)))
            && (slot.tag == UNTAGGED || frame.kind == FrameKind::Wrap && slots.len() == 1)
            && std::mem::replace(&mut is_inside, true)
            && let Some(inner) = self.begun_by(slot, tag)
            && slots.len() < DEEPEST
        {
            slots.push(inner);
        }
        slots
    }

    /// The slot inside of an untagged CHOICE or open type that an element begins.
    fn begun_by(&self, slot: &Slot, tag: u32) -> Option<u32> {
        let node = self.shape.node(slot.node);
        match slot.kind {
            Kind::Choice => {
                let code = self.program.nodes.get(slot.node.index())?;
                Some(code.first + self.program.find(code, tag, 0)?)
            }
            Kind::Open if self.options.resolve_tables => {
                let (row, _) = keys::row(self.shape, node.table.as_ref()?, &self.state.registers, self.input);
                let entry = self.program.nodes.get(row?.node.index())?.entry;
                (entry != NONE).then_some(entry)
            }
            _ => None,
        }
    }

    /// Whether all tags of the value that a frame is around have been read.
    fn is_last_tag(&self, frame: &Frame) -> bool {
        let slot = self.program.slots.get(frame.slot as usize);
        slot.is_some_and(|slot| frame.cursor as usize > self.program.chain(slot).len())
    }

    fn path_step(&self, out: &mut String, slot: u32) {
        let Some(slot) = self.program.slots.get(slot as usize) else { return };
        if slot.field == FieldId::ROOT {
            if out.is_empty()
                && let Some(name) = self.shape.type_name(slot.node)
            {
                out.push_str(name);
            }
            return;
        }
        if !out.is_empty() {
            out.push('.');
        }
        out.push_str(self.shape.name(self.shape.field(slot.field).name));
    }
}

fn tag_text(bits: u32) -> String {
    tercet_runtime::Tag::from_bits(bits).map_or_else(String::new, |tag| tag.to_string())
}
