//! Decoding: the places of the parts of values, for sinks that want them. A value is read first and its parts are found in
//! the bits that it took: what reads values does not do a step more for sinks that want none.

use super::decode::Engine;
use super::integer::octets_width;
use crate::event::Sink;
use crate::place::{Part, Place};
use tercet_plan::per::{Integer, IntegerForm, Size, Step, Whole};
use tercet_plan::{FieldId, NodeId};
use tercet_runtime::per::Length;

/// The value that a place is a part of.
pub(super) type Owner = (FieldId, NodeId);

/// Returns the value that a step reads.
pub(super) const fn owner(step: &Step) -> Owner {
    (FieldId(step.field), NodeId(step.node))
}

impl<S: Sink> Engine<'_, S> {
    /// Returns the value that has begun last.
    pub(super) fn begun(&mut self) -> Owner {
        (FieldId::BEGUN, self.top().node)
    }

    /// Reports the bits between two positions; contents also if they are none.
    #[inline(never)]
    pub(super) fn place(&mut self, owner: Owner, part: Part, from: usize, to: usize, number: Option<u64>) {
        if to > from || part == Part::Contents {
            let at = self.options.base_offset.saturating_mul(8).saturating_add(from as u64);
            self.sink.place(
                owner.0,
                owner.1,
                Place { part, at, bits: to.saturating_sub(from) as u64, number },
            );
        }
    }

    /// Reports contents from a position to the current one.
    pub(super) fn place_contents(&mut self, owner: Owner, from: usize) {
        self.place(owner, Part::Contents, from, self.reader.position(), None);
    }

    /// Reports the bits in front of a field that begins at an octet if it is `aligned`; returns where it begins.
    fn place_padding(&mut self, owner: Owner, from: usize, aligned: bool) -> usize {
        let at = if aligned { from.next_multiple_of(8).min(self.reader.end()) } else { from };
        self.place(owner, Part::Padding, from, at, None);
        at
    }

    /// Reports a field up to the current position, and the padding in front of it.
    pub(super) fn place_field(
        &mut self,
        owner: Owner,
        part: Part,
        from: usize,
        aligned: bool,
        number: Option<u64>,
    ) {
        let at = self.place_padding(owner, from, aligned);
        self.place(owner, part, at, self.reader.position(), number);
    }

    /// Reports a constrained whole number (§11.5) up to the current position.
    pub(super) fn place_whole(
        &mut self,
        owner: Owner,
        part: Part,
        whole: Whole,
        from: usize,
        number: Option<u64>,
    ) {
        match whole.field() {
            Some((_, pad)) => self.place_field(owner, part, from, pad > 0, number),
            None => {
                let Whole::Octets(width, _) = whole else { return };
                self.place_octets(owner, part, from, u32::from(width), number);
            }
        }
    }

    /// Reports octets up to the current position, and their number in a field of bits (§11.5.7.4).
    fn place_octets(&mut self, owner: Owner, part: Part, from: usize, width: u32, number: Option<u64>) {
        let at = from + width as usize;
        let octets = self.reader.position().saturating_sub(at) / 8;
        self.place(owner, Part::Length, from, at, Some(octets as u64));
        self.place_field(owner, part, at, true, number);
    }

    /// Reports a size (§11.9.4) up to the current position.
    pub(super) fn place_size(&mut self, owner: Owner, size: &Size, from: usize, count: usize) {
        let (mut at, mut outside) = (from, false);
        if size.extensible {
            outside = self.bit_at(at);
            self.place(owner, Part::ExtensionBit, at, at + 1, None);
            at += 1;
        }
        let aligned = match size.whole {
            Some(whole) if !outside => whole.field().is_some_and(|(_, pad)| pad > 0),
            _ => self.program.aligned,
        };
        self.place_field(owner, Part::Length, at, aligned, Some(count as u64));
    }

    /// Reports the size of a string between two positions, and the padding from there to the current position.
    pub(super) fn place_size_until(
        &mut self,
        owner: Owner,
        size: &Size,
        (from, to): (usize, usize),
        count: usize,
    ) {
        let next = self.reader.position();
        self.reader.seek(to);
        self.place_size(owner, size, from, count);
        self.reader.seek(next);
        self.place(owner, Part::Padding, to, next, None);
    }

    /// Reports a general length determinant (§11.9.3.5) up to the current position.
    pub(super) fn place_length(&mut self, owner: Owner, from: usize, count: usize) {
        self.place_field(owner, Part::Length, from, self.program.aligned, Some(count as u64));
    }

    /// Reports units of so many bits from a position on, in fragments with lengths between them (§11.9.3.8).
    pub(super) fn place_units(&mut self, owner: Owner, unit: usize, from: usize, first: Length) {
        let (mut reader, mut length) = (self.reader, first);
        reader.seek(from);
        loop {
            let at = reader.position();
            if reader.skip(length.count * unit).is_err() {
                return;
            }
            self.place(owner, Part::Contents, at, reader.position(), None);
            if !length.more {
                return;
            }
            let at = self.place_padding(owner, reader.position(), self.program.aligned);
            let Ok(next) = reader.length(self.program.aligned) else { return };
            self.place(owner, Part::Length, at, reader.position(), Some(next.count as u64));
            length = next;
        }
    }

    /// Reports a general length determinant and the octets that it counts.
    pub(super) fn place_counted(&mut self, owner: Owner, from: usize) {
        let at = self.place_padding(owner, from, self.program.aligned);
        let mut reader = self.reader;
        reader.seek(at);
        let Ok(length) = reader.length(self.program.aligned) else { return };
        self.place(owner, Part::Length, at, reader.position(), Some(length.count as u64));
        self.place_units(owner, 8, reader.position(), length);
    }

    /// Reports a normally small number (§11.6) or length (§11.9.3.4) up to the current position: its first bit shows whether
    /// there is a length determinant in it.
    pub(super) fn place_small(&mut self, owner: Owner, part: Part, from: usize, number: Option<u64>) {
        if !self.bit_at(from) {
            return self.place(owner, part, from, self.reader.position(), number);
        }
        self.place(owner, part, from, from + 1, None);
        let at = self.place_padding(owner, from + 1, self.program.aligned);
        if part == Part::Length {
            return self.place(owner, part, at, self.reader.position(), number);
        }
        let mut reader = self.reader;
        reader.seek(at);
        let Ok(length) = reader.length(self.program.aligned) else { return };
        self.place(owner, Part::Length, at, reader.position(), Some(length.count as u64));
        self.place(owner, part, reader.position(), self.reader.position(), number);
    }

    /// Reports an INTEGER (§13) that ends at the current position.
    #[inline(never)]
    pub(super) fn place_integer(&mut self, step: &Step, integer: &Integer, from: usize) {
        let (owner, program) = (owner(step), self.program);
        let (mut at, mut form) = (from, integer.form);
        if integer.extensible {
            if self.bit_at(at) {
                form = IntegerForm::Unconstrained;
            }
            self.place(owner, Part::ExtensionBit, at, at + 1, None);
            at += 1;
        }
        match form {
            IntegerForm::Constrained { whole, .. } => {
                self.place_whole(owner, Part::Contents, whole, at, None);
            }
            IntegerForm::SemiConstrained(_) | IntegerForm::Unconstrained => self.place_counted(owner, at),
            IntegerForm::Large(large) => match &program.large[large as usize].span {
                None => self.place_counted(owner, at),
                Some(span) if program.aligned => {
                    self.place_octets(owner, Part::Contents, at, octets_width(span), None);
                }
                Some(_) => self.place_contents(owner, at),
            },
        }
    }

    /// Reports what is left in the octets of a value behind its end.
    pub(super) fn place_rest(&mut self, owner: Owner) {
        let (from, to) = (self.reader.position(), self.reader.end());
        self.place(owner, Part::EndPadding, from, to, None);
    }
}
