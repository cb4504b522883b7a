//! Writes bits (X.691 §11.1), first bit first.

use alloc::vec::Vec;

/// Appends bits to octets, by way of a word that goes out whole.
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
    /// Bits behind those, the first the highest; zero behind the last.
    word: u64,
    /// How many there are, below 64.
    used: u32,
    /// Octets that have to be moved.
    moved: Vec<u8>,
}

impl BitWriter {
    /// An empty writer.
    #[must_use]
    pub const fn new() -> Self {
        Self { out: Vec::new(), word: 0, used: 0, moved: Vec::new() }
    }

    /// Number of bits written.
    #[inline]
    #[must_use]
    pub const fn position(&self) -> usize {
        self.out.len() * 8 + self.used as usize
    }

    /// Forgets what was written and keeps the memory.
    pub fn clear(&mut self) {
        self.out.clear();
        (self.word, self.used) = (0, 0);
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
        let used = self.used + count;
        if used < 64 {
            // In two shifts, since there may be no bits.
            self.word |= number << (63 - used) << 1;
            self.used = used;
        } else {
            self.spill(number, used - 64);
        }
    }

    /// Appends a field of `width` bits, at most 56, at an octet boundary if `pad` is seven and not zero; higher bits of the number
    /// must be zero.
    #[inline(always)]
    pub fn number(&mut self, number: u64, width: u32, pad: u32) {
        // What is above the number are the zero bits in front of it.
        self.bits(number, width + (self.used.wrapping_neg() & pad));
    }

    /// Begins octets of their own behind a length determinant (X.691 §11.2): the place for [`Self::end_octets`].
    #[inline]
    pub fn begin_octets(&mut self, aligned: bool) -> usize {
        if aligned {
            self.align();
        }
        let start = self.position();
        self.bits(0, 8);
        start
    }

    /// Ends octets of their own: their length goes in front of them. There is at least one (§11.1.3). Nothing is written
    /// twice unless there are 128 or more.
    pub fn end_octets(&mut self, start: usize, aligned: bool) {
        let bits = self.position() - start - 8;
        let fill = if bits == 0 { 8 } else { bits.wrapping_neg() & 7 };
        #[allow(clippy::cast_possible_truncation)] // at most eight
        self.bits(0, fill as u32);
        self.whole_octets_out();
        let count = (bits + fill) / 8;
        let (first, shift) = (start / 8, start % 8);
        #[allow(clippy::cast_possible_truncation)] // compared just before
        match (count, self.out.get_mut(first..first + 2)) {
            (0..=0x7f, Some([here, behind])) => {
                let length = ((count as u16) << 8) >> shift;
                *here |= (length >> 8) as u8;
                *behind |= length as u8;
            }
            _ => self.end_long_octets(start, count, aligned),
        }
    }

    /// The same behind a longer length.
    #[cold]
    fn end_long_octets(&mut self, start: usize, count: usize, aligned: bool) {
        let (first, shift) = (start / 8, start % 8);
        #[allow(clippy::cast_possible_truncation)] // compared just before
        if shift == 0 && (0x80..super::length::FRAGMENT).contains(&count) && first < self.out.len() {
            // A length of two octets, and all behind it is moved as it is (NGAP InitialContextSetup, two of them: 1,000
            // instructions each in a copy).
            let [high, low] = (0x8000 | count as u16).to_be_bytes();
            self.out[first] = high;
            self.out.insert(first + 1, low);
            return;
        }
        let mut moved = core::mem::take(&mut self.moved);
        moved.clear();
        let end = self.out_with_rest().len() * 8;
        super::BitReader::new(&self.out).copy_bits(start + 8, (count * 8).min(end), &mut moved);
        self.out.truncate(first + 1);
        let before = self.out.pop().unwrap_or_default();
        #[allow(clippy::cast_possible_truncation)] // below eight
        if shift > 0 {
            self.bits(u64::from(before >> (8 - shift)), shift as u32);
        }
        let mut octets = moved.as_slice();
        loop {
            let length = self.length(octets.len(), aligned);
            let (now, rest) = octets.split_at(length.count);
            self.octets(now);
            octets = rest;
            if !length.more {
                break;
            }
        }
        self.moved = moved;
    }

    /// Leaves fewer than eight bits in the word.
    fn whole_octets_out(&mut self) {
        let octets = self.used / 8;
        self.out.extend_from_slice(&self.word.to_be_bytes()[..octets as usize]);
        self.word <<= octets * 8;
        self.used %= 8;
    }

    /// The word is full; so many bits are left for the next one.
    #[inline(never)]
    fn spill(&mut self, number: u64, left: u32) {
        let word = self.word | number >> left;
        self.out.extend_from_slice(&word.to_be_bytes());
        self.word = number << (63 - left) << 1;
        if left == 0 {
            self.word = 0;
        }
        self.used = left;
    }

    /// Fills up to the next octet boundary with zero bits (aligned variant).
    #[inline]
    pub fn align(&mut self) {
        let fill = self.used.wrapping_neg() & 7;
        self.bits(0, fill);
    }

    /// Appends octets.
    pub fn octets(&mut self, octets: &[u8]) {
        if octets.len() > 16 && self.used.is_multiple_of(8) {
            self.out_with_rest();
            self.out.extend_from_slice(octets);
            return;
        }
        let (chunks, rest) = octets.as_chunks::<8>();
        for chunk in chunks {
            self.bits(u64::from_be_bytes(*chunk), 64);
        }
        if !rest.is_empty() {
            let number = rest.iter().fold(0, |number, octet| number << 8 | u64::from(*octet));
            #[allow(clippy::cast_possible_truncation)] // below eight
            self.bits(number, rest.len() as u32 * 8);
        }
    }

    /// All octets, the last one filled with zero bits.
    fn out_with_rest(&mut self) -> &mut Vec<u8> {
        let octets = self.used.div_ceil(8) as usize;
        self.out.extend_from_slice(&self.word.to_be_bytes()[..octets]);
        (self.word, self.used) = (0, 0);
        &mut self.out
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

    /// The octets written so far; the last one is filled with zero bits, so that what follows begins at an octet.
    #[must_use]
    pub fn as_slice(&mut self) -> &[u8] {
        self.out_with_rest()
    }

    /// The octets, the last one filled with zero bits.
    #[must_use]
    pub fn finish(mut self) -> Vec<u8> {
        self.out_with_rest();
        self.out
    }
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
                writer.bits(0x55 & ((1 << shift) - 1), shift);
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
    fn fields_of_numbers_begin_at_octets_where_they_are_padded() {
        for before in 0..16_u32 {
            for (width, pad) in (0..=56).flat_map(|width| [(width, 0), (width, 7)]) {
                let number = (0x9e_3779_b97f_4a7c_u64 >> 8) & ((1 << width) - 1);
                let mut writer = BitWriter::new();
                writer.bits((1 << before) - 1, before);
                writer.number(number, width, pad);
                writer.bits(1, 1);
                let begin = if pad == 7 { before.next_multiple_of(8) } else { before };
                assert_eq!(writer.position(), (begin + width + 1) as usize, "{before} {width} {pad}");
                let octets = writer.finish();
                let mut reader = BitReader::new(&octets);
                reader.skip(before as usize).unwrap();
                if let Some(less) = number.checked_sub(1) {
                    assert_eq!(reader.number(width, pad, less), None);
                }
                assert_eq!(reader.number(width, pad, number), Some(number), "{before} {width} {pad}");
                assert!(reader.bit().unwrap());
                let rest = u32::try_from(octets.len()).unwrap() * 8 - (begin + width + 1);
                assert_eq!(reader.number(rest + 1, 0, 0), None);
                assert_eq!(reader.number(rest, 0, 0), Some(0));
            }
        }
    }

    #[test]
    fn octets_of_their_own_have_their_length_in_front() {
        for count in [0_usize, 1, 7, 8, 9, 100, 127 * 8, 127 * 8 + 1, 16383 * 8, 16384 * 8, 20000 * 8 + 3] {
            for (shift, aligned) in (0..8).map(|shift| (shift, false)).chain([(0, true), (3, true)]) {
                let mut writer = BitWriter::new();
                writer.bits(0x7f >> (7 - shift), shift);
                let start = writer.begin_octets(aligned);
                for bit in 0..count {
                    writer.bit(bit % 3 == 0);
                }
                writer.end_octets(start, aligned);
                writer.bits(0b101, 3);
                let octets = writer.finish();
                let mut reader = BitReader::new(&octets);
                assert_eq!(reader.bits(shift).unwrap(), 0x7f >> (7 - shift));
                let mut inside = Vec::new();
                loop {
                    let length = reader.length(aligned).unwrap();
                    reader.copy_bits(reader.position(), length.count * 8, &mut inside);
                    reader.skip(length.count * 8).unwrap();
                    if !length.more {
                        break;
                    }
                }
                assert_eq!(reader.bits(3).unwrap(), 0b101);
                assert_eq!(inside.len(), count.div_ceil(8).max(1), "{count} {shift}");
                let bit = |at: usize| inside[at / 8] >> (7 - at % 8) & 1 == 1;
                assert!((0..inside.len() * 8).all(|at| bit(at) == (at < count && at % 3 == 0)));
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
