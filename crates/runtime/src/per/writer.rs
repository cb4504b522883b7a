//! Writes bits (X.691 §11.1), first bit first.

use alloc::vec::Vec;

/// Appends bits to octets. The last octet is filled with zero bits as it goes.
///
/// ```
/// use tercet_runtime::per::BitWriter;
/// let mut writer = BitWriter::new();
/// writer.bit(true);
/// writer.bits(0b010, 3);
/// writer.align();
/// writer.octets(&[0xff]);
/// assert_eq!(writer.finish(), [0b1010_0000, 0xff]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct BitWriter {
    out: Vec<u8>,
    /// Bits of the last octet that are free, 0 to 7.
    free: u32,
}

impl BitWriter {
    /// An empty writer.
    #[must_use]
    pub const fn new() -> Self {
        Self { out: Vec::new(), free: 0 }
    }

    /// Number of bits written.
    #[inline]
    #[must_use]
    pub const fn position(&self) -> usize {
        self.out.len() * 8 - self.free as usize
    }

    /// Forgets what was written and keeps the memory.
    pub fn clear(&mut self) {
        self.out.clear();
        self.free = 0;
    }

    /// Appends one bit.
    #[inline]
    pub fn bit(&mut self, bit: bool) {
        self.bits(u64::from(bit), 1);
    }

    /// Appends the `count` lowest bits of a number, at most 64; higher bits of the number must be zero.
    #[inline]
    pub fn bits(&mut self, number: u64, count: u32) {
        debug_assert!(count == 64 || count < 64 && number >> count == 0);
        let mut left = count;
        if self.free > 0 && left > 0 {
            let take = left.min(self.free);
            let part = low(number >> (left - take), take);
            if let Some(last) = self.out.last_mut() {
                *last |= part << (self.free - take);
            }
            self.free -= take;
            left -= take;
        }
        if left > 0 {
            let octets = left.div_ceil(8) as usize;
            let window = number << (64 - left);
            self.out.extend_from_slice(&window.to_be_bytes()[..octets]);
            self.free = (8 - left % 8) % 8;
        }
    }

    /// Fills up to the next octet boundary with zero bits (aligned variant).
    #[inline]
    pub const fn align(&mut self) {
        self.free = 0;
    }

    /// Appends octets.
    #[inline]
    pub fn octets(&mut self, octets: &[u8]) {
        if self.free == 0 {
            self.out.extend_from_slice(octets);
        } else {
            let (chunks, rest) = octets.as_chunks::<8>();
            for chunk in chunks {
                self.bits(u64::from_be_bytes(*chunk), 64);
            }
            for &octet in rest {
                self.bits(u64::from(octet), 8);
            }
        }
    }

    /// Appends the first `count` bits of some octets.
    pub fn bit_string(&mut self, octets: &[u8], count: usize) {
        let whole = (count / 8).min(octets.len());
        self.octets(&octets[..whole]);
        #[allow(clippy::cast_possible_truncation)] // below eight
        let rest = (count % 8) as u32;
        if let (Some(&last), 1..) = (octets.get(whole), rest) {
            self.bits(u64::from(last >> (8 - rest)), rest);
        }
    }

    /// The octets written so far.
    #[must_use]
    pub fn as_slice(&self) -> &[u8] {
        &self.out
    }

    /// The octets, the last one filled with zero bits.
    #[must_use]
    pub fn finish(self) -> Vec<u8> {
        self.out
    }
}

/// The `count` lowest bits, at most eight.
#[inline]
#[allow(clippy::cast_possible_truncation)] // masked to eight bits
const fn low(number: u64, count: u32) -> u8 {
    (number & ((1 << count) - 1)) as u8
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::per::BitReader;

    #[test]
    fn reads_back_every_width_at_every_shift() {
        for shift in 0..8u32 {
            for count in 0..=64u32 {
                let number = if count == 0 { 0 } else { 0x9e37_79b9_7f4a_7c15u64 >> (64 - count) };
                let mut writer = BitWriter::new();
                writer.bits(low(0x55, shift).into(), shift);
                writer.bits(number, count);
                writer.bits(1, 1);
                assert_eq!(writer.position(), (shift + count + 1) as usize);
                let octets = writer.finish();
                let mut reader = BitReader::new(&octets);
                reader.skip(shift as usize).unwrap();
                assert_eq!(reader.bits(count).unwrap(), number, "{shift} {count}");
                assert!(reader.bit().unwrap());
            }
        }
    }

    #[test]
    fn octets_and_bit_strings_off_the_boundary() {
        let mut writer = BitWriter::new();
        writer.bits(0b101, 3);
        writer.octets(&[0xff, 0x00, 1, 2, 3, 4, 5, 6, 7]);
        writer.bit_string(&[0b1100_0000], 2);
        let octets = writer.finish();
        let mut reader = BitReader::new(&octets);
        assert_eq!(reader.bits(3).unwrap(), 0b101);
        let mut out = Vec::new();
        reader.copy_bits(3, 72, &mut out);
        assert_eq!(out, [0xff, 0x00, 1, 2, 3, 4, 5, 6, 7]);
        reader.skip(72).unwrap();
        assert_eq!(reader.bits(2).unwrap(), 0b11);
    }
}
