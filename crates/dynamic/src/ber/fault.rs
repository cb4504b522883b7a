//! Errors of a decode with path and detail; nothing here runs while all is well.

use super::decode::{Detail, Engine};
use super::frame::What;
use crate::Error;
use crate::event::Sink;
use crate::path::outermost;
use std::fmt::Write;
use tercet_plan::FieldId;
use tercet_plan::ber::NONE;
use tercet_runtime::Error as Fault;

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

    fn path(&self) -> String {
        let mut out = String::new();
        let mut list = None;
        // The slot of a frame whose value has a frame of its own.
        let mut outer = None;
        let tip = (self.at_slot != NONE).then_some((self.at_slot, None, false));
        let frames = self.frames.iter().map(|frame| {
            let index = (frame.what == What::List).then(|| frame.cursor.saturating_sub(1));
            (frame.slot, index, matches!(frame.what, What::Wrap | What::Root))
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

    fn path_step(&self, out: &mut String, slot: u32) {
        let Some(slot) = self.program.slots.get(slot as usize) else { return };
        if slot.field == FieldId::ROOT {
            if out.is_empty()
                && let Some(name) = outermost(self.shape, slot.node)
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
