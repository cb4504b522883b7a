//! Decoding: the places of the parts of values, for sinks that want them.

use super::decode::Engine;
use crate::event::Sink;
use crate::place::{Part, Place};
use tercet_plan::{FieldId, NodeId};

/// The value that a place is a part of.
pub(super) type Owner = (FieldId, NodeId);

impl<S: Sink> Engine<'_, S> {
    /// Reports the octets between two positions; contents also if they are none.
    #[inline(never)]
    pub(super) fn place(&mut self, owner: Owner, part: Part, from: usize, to: usize, number: Option<u64>) {
        if to > from || part == Part::Contents {
            let at = self.options.base_offset.saturating_add(from as u64).saturating_mul(8);
            let bits = 8 * to.saturating_sub(from) as u64;
            self.sink.place(owner.0, owner.1, Place { part, at, bits, number });
        }
    }

    /// Reports octets from a position to the current one.
    #[inline(always)]
    pub(super) fn place_from(&mut self, owner: Owner, part: Part, from: usize) {
        if self.sink.wants_places() {
            self.place(owner, part, from, self.reader.position(), None);
        }
    }

    /// Reports a field that stands for a number, from a position to the current one.
    #[inline(always)]
    pub(super) fn place_number(&mut self, owner: Owner, part: Part, from: usize, number: usize) {
        if self.sink.wants_places() {
            self.place(owner, part, from, self.reader.position(), Some(number as u64));
        }
    }
}
