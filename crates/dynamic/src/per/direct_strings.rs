//! Reading strings of a few octets or bits where they stand: what is longer or rare, [`super::leaves`] reads.

use super::decode::{Engine, Result};
use crate::event::{Leaf, Sink};
use tercet_plan::per::{Counted, Step};
use tercet_plan::{FieldId, NodeId};

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

    /// A number of octets or bits; 0 also if it is of another form.
    #[inline(always)]
    fn count(&mut self, counted: Counted) -> usize {
        let Counted { lo, most, width, pad, .. } = counted;
        if width == 0 {
            return usize::from(lo);
        }
        match self.reader.number(u32::from(width), u32::from(pad), u64::from(most)) {
            Some(number) => usize::from(lo) + number as usize,
            None => 0,
        }
    }
}
