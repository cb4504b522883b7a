//! Reading strings of a few octets or bits where they stand: what is longer or rare, [`super::leaves`] reads.

use super::characters;
use super::decode::{Engine, Result};
use crate::event::{Leaf, Sink};
use tercet_plan::per::{Counted, NOT_PERMITTED, Step};
use tercet_plan::{FieldId, NodeId};

/// Characters that are read without memory of their own.
const SHORT: usize = 32;

impl<S: Sink> Engine<'_, S> {
    /// An OCTET STRING: in the input, or seven octets at most off the boundary (NGAP InitialContextSetup, 13 of them:
    /// 200 instructions each by way of [`Self::leaf`]).
    #[inline(never)]
    pub(super) fn read_octets(&mut self, step: &Step, counted: Counted) -> Result<()> {
        let (field, node) = (FieldId(step.field), NodeId(step.node));
        let start = self.reader.position();
        let count = self.count(counted);
        if let Some((at, contents)) = self.reader.octets_at(count, counted.align) {
            self.sink.leaf(field, node, Leaf::Input { at, contents });
            return Ok(());
        }
        if (1..=7).contains(&count)
            && let Some(word) = self.reader.number(count as u32 * 8, u32::from(counted.align), u64::MAX)
        {
            let octets = (word << (64 - count * 8)).to_be_bytes();
            self.sink.leaf(field, node, Leaf::Made(&octets[..count]));
            return Ok(());
        }
        self.reader.seek(start);
        self.leaf(step)
    }

    /// A BIT STRING of up to 56 bits (in the same messages, ten of them: 240 instructions each).
    #[inline(never)]
    pub(super) fn read_bits(&mut self, step: &Step, counted: Counted) -> Result<()> {
        let start = self.reader.position();
        let count = self.count(counted);
        if (1..=56).contains(&count)
            && let Some(bits) = self.reader.number(count as u32, u32::from(counted.align), u64::MAX)
        {
            let unused = count.wrapping_neg() & 7;
            // The number of unused bits, in one octet, and the bits.
            let octets = ((unused as u64) << 56 | bits << (56 - count)).to_be_bytes();
            let length = 1 + count.div_ceil(8);
            self.sink.leaf(FieldId(step.field), NodeId(step.node), Leaf::Made(&octets[..length]));
            return Ok(());
        }
        self.reader.seek(start);
        self.leaf(step)
    }

    /// A string of characters of eight bits that are themselves, in the input.
    #[inline(never)]
    pub(super) fn read_text(&mut self, step: &Step, counted: Counted, alphabet: u16) -> Result<()> {
        let start = self.reader.position();
        let count = self.count(counted);
        let table = self.program.alphabets[usize::from(alphabet)].table.as_deref();
        if let Some((at, contents)) = self.reader.octets_at(count, counted.align)
            && table.is_some_and(|table| are_permitted(table, contents))
        {
            self.sink.leaf(FieldId(step.field), NodeId(step.node), Leaf::Input { at, contents });
            return Ok(());
        }
        self.reader.seek(start);
        self.read_characters(step, counted, alphabet)
    }

    /// Up to [`SHORT`] characters of one octet that are not in the input.
    #[inline(never)]
    pub(super) fn read_characters(&mut self, step: &Step, counted: Counted, alphabet: u16) -> Result<()> {
        let start = self.reader.position();
        let count = self.count(counted);
        let alphabet = &self.program.alphabets[usize::from(alphabet)];
        if let Some(table) = alphabet.table.as_deref()
            && let Some(short) = [0; SHORT].get_mut(..count)
            && characters::fill_at(&mut self.reader, table, alphabet.bits, counted.align, short)
        {
            self.sink.leaf(FieldId(step.field), NodeId(step.node), Leaf::Made(short));
            return Ok(());
        }
        self.reader.seek(start);
        self.leaf(step)
    }

    /// A number of octets, bits or characters; 0 also if it is of another form.
    #[inline(always)]
    fn count(&mut self, counted: Counted) -> usize {
        let Counted { lo, most, width, pad, .. } = counted;
        if width == 0 {
            return usize::from(lo);
        }
        if (width, pad) == (8, 7) {
            // Most have an octet in front of them.
            return match self.reader.octets_at(1, pad) {
                Some((_, [number])) if u16::from(*number) <= most => usize::from(lo) + usize::from(*number),
                _ => 0,
            };
        }
        match self.reader.number(u32::from(width), u32::from(pad), u64::from(most)) {
            Some(number) => usize::from(lo) + number as usize,
            None => 0,
        }
    }
}

/// Whether all these octets are characters of an alphabet.
#[inline(always)]
fn are_permitted(table: &[u8; 256], octets: &[u8]) -> bool {
    octets.iter().fold(0, |all, octet| all | table[usize::from(*octet)]) & NOT_PERMITTED == 0
}
