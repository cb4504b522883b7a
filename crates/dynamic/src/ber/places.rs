//! Decoding: the places of identifier, length, contents and end-of-contents octets, for sinks that want them.

use super::decode::Engine;
use super::head::Head;
use crate::event::Sink;
use crate::place::{Part, Place};
use std::ops::Range;
use tercet_plan::ber::Slot;
use tercet_plan::{FieldId, NodeId};
use tercet_runtime::ber::{Header, Reader, Rules};

/// The value that a place is a part of.
type Owner = (FieldId, NodeId);

impl<S: Sink> Engine<'_, S> {
    /// Reports a primitive element.
    #[inline(never)]
    pub(super) fn place_primitive(&mut self, slot: &Slot, at: usize, head: &Head) {
        self.place_header(slot, at, head);
        self.place_contents(slot, at + head.size, head.length);
    }

    /// Reports identifier and length octets.
    #[inline(never)]
    pub(super) fn place_header(&mut self, slot: &Slot, at: usize, head: &Head) {
        self.place_head((slot.field, slot.node), at, head.size);
    }

    /// Reports contents octets that no event has a place of its own for.
    #[inline(never)]
    pub(super) fn place_contents(&mut self, slot: &Slot, at: usize, octets: usize) {
        self.place((slot.field, slot.node), Part::Contents, at, octets);
    }

    /// Reports the end-of-contents octets at the current position.
    #[inline(never)]
    pub(super) fn place_end(&mut self) {
        let Some(slot) = self.program.slots.get(self.cur().slot as usize) else { return };
        self.place((slot.field, slot.node), Part::EndOfContents, self.pos, 2);
    }

    /// Reports an element that ends at the current position and that is not looked into.
    #[inline(never)]
    pub(super) fn place_unread(&mut self, owner: Owner, at: usize) {
        let element = self.input.get(at..self.pos).unwrap_or_default();
        let Some(header) = header_of(element) else { return };
        let (size, ended) = (usize::from(header.size), if header.indefinite { 2 } else { 0 });
        self.place_head(owner, at, size);
        self.place(owner, Part::Contents, at + size, element.len() - size - ended);
        if ended > 0 {
            self.place(owner, Part::EndOfContents, at + element.len() - ended, ended);
        }
    }

    /// Reports the elements of a string in segments.
    #[inline(never)]
    pub(super) fn place_segments(&mut self, slot: &Slot, all: Range<usize>) {
        let owner = (slot.field, slot.node);
        let mut at = all.start;
        while at < all.end {
            let rest = self.input.get(at..all.end).unwrap_or_default();
            if rest.starts_with(&[0, 0]) {
                self.place(owner, Part::EndOfContents, at, 2);
                at += 2;
                continue;
            }
            let Some(header) = header_of(rest) else { return };
            self.place_head(owner, at, usize::from(header.size));
            at += usize::from(header.size);
            if !header.constructed {
                self.place(owner, Part::Contents, at, header.length);
                at += header.length;
            }
        }
    }

    fn place_head(&mut self, owner: Owner, at: usize, size: usize) {
        let header = self.input.get(at..at + size).unwrap_or_default();
        let identifier = match header {
            [first, rest @ ..] if first & 0x1F == 0x1F => {
                1 + rest.iter().position(|octet| *octet < 0x80).map_or(rest.len(), |last| last + 1)
            }
            _ => 1,
        };
        self.place(owner, Part::Identifier, at, identifier);
        let number = length_in(header.get(identifier..).unwrap_or_default());
        self.place_number(owner, Part::Length, at + identifier, size - identifier, number);
    }

    fn place(&mut self, owner: Owner, part: Part, at: usize, octets: usize) {
        self.place_number(owner, part, at, octets, None);
    }

    fn place_number(&mut self, owner: Owner, part: Part, at: usize, octets: usize, number: Option<u64>) {
        let place = Place { part, at: self.offset(at).saturating_mul(8), bits: 8 * octets as u64, number };
        self.sink.place(owner.0, owner.1, place);
    }
}

/// Returns the number in length octets, unless they are indefinite.
fn length_in(octets: &[u8]) -> Option<u64> {
    match octets {
        [] | [0x80, ..] => None,
        [short @ 0..0x80, ..] => Some(u64::from(*short)),
        [_, octets @ ..] => Some(octets.iter().fold(0, |length, octet| length << 8 | u64::from(*octet))),
    }
}

/// Returns the header that octets begin with; they have been read before.
fn header_of(octets: &[u8]) -> Option<Header> {
    Reader::new(octets, Rules::Ber).read_header().ok()
}
