//! A cursor over bits (X.691 §11.1): what the decoder of aligned and unaligned PER reads with.

use crate::{Error, ErrorKind, Result};

/// Reads bits from a slice, first bit first. Cheap to copy; positions are counted in bits from the begin of the slice.
///
/// ```
/// use tercet_runtime::per::BitReader;
/// let mut reader = BitReader::new(&[0b1010_0000, 0xff]);
/// assert!(reader.bit()?);
/// assert_eq!(reader.bits(3)?, 0b010);
/// reader.align();
/// assert_eq!(reader.bits(8)?, 0xff);
/// # Ok::<(), tercet_runtime::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct BitReader<'a> {
    input: &'a [u8],
    at: usize,
    end: usize,
}

/// Octets taken from a reader: a slice of the input where they lie on an octet boundary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken<'a> {
    /// They begin at an octet boundary: offset in the input, octets.
    Aligned(usize, &'a [u8]),
    /// They begin at this bit; copy them with [`BitReader::copy_bits`].
    Shifted(usize),
}

impl<'a> BitReader<'a> {
    /// A reader over a whole slice.
    #[inline]
    #[must_use]
    pub const fn new(input: &'a [u8]) -> Self {
        // Bits that a `usize` of 32 bits cannot count are not there.
        Self { input, at: 0, end: input.len().saturating_mul(8) }
    }

    /// The slice it reads from.
    #[inline]
    #[must_use]
    pub const fn input(&self) -> &'a [u8] {
        self.input
    }

    /// The position in bits.
    #[inline]
    #[must_use]
    pub const fn position(&self) -> usize {
        self.at
    }

    /// Where reading ends, in bits.
    #[inline]
    #[must_use]
    pub const fn end(&self) -> usize {
        self.end
    }

    /// Lets reading end at another bit, no later than the slice does.
    #[inline]
    pub fn set_end(&mut self, end: usize) {
        self.end = end.clamp(self.at, self.input.len().saturating_mul(8));
    }

    /// Moves to a bit, no later than the end.
    #[inline]
    pub fn seek(&mut self, at: usize) {
        self.at = at.min(self.end);
    }

    /// The bits that are left.
    #[inline]
    #[must_use]
    pub const fn left(&self) -> usize {
        self.end - self.at
    }

    /// A fault of this kind at the position.
    #[inline(always)]
    #[must_use]
    pub const fn error(&self, kind: ErrorKind) -> Error {
        error_at(kind, self.at)
    }

    #[inline(always)]
    const fn incomplete(&self, bits: usize) -> Error {
        incomplete_at(self.at, self.end, bits)
    }

    #[inline]
    const fn need(&self, bits: usize) -> Result<()> {
        if bits > self.end - self.at { Err(self.incomplete(bits)) } else { Ok(()) }
    }

    /// The next bit.
    ///
    /// # Errors
    /// [`ErrorKind::Incomplete`].
    #[inline]
    pub fn bit(&mut self) -> Result<bool> {
        self.need(1)?;
        let octet = self.input.get(self.at >> 3).copied().unwrap_or_default();
        let bit = octet << (self.at & 7) & 0x80 != 0;
        self.at += 1;
        Ok(bit)
    }

    /// The next `count` bits, at most 64, as a number.
    ///
    /// # Errors
    /// [`ErrorKind::Incomplete`].
    #[inline]
    pub fn bits(&mut self, count: u32) -> Result<u64> {
        debug_assert!(count <= 64);
        self.need(count as usize)?;
        if count == 0 {
            return Ok(0);
        }
        let octet = self.at >> 3;
        #[allow(clippy::cast_possible_truncation)] // below eight
        let shift = (self.at & 7) as u32;
        self.at += count as usize;
        if shift + count <= 64 {
            return Ok(top(window(self.input, octet) << shift, count));
        }
        Ok(slow_bits(self.input, octet, shift, count))
    }

    /// The next `width` bits, at most 56, as a number, from the next octet on if `pad` is seven and not zero. Nothing,
    /// and no step, if they are not there or the number is greater than `most`. Some twenty instructions.
    #[inline(always)]
    pub fn number(&mut self, width: u32, pad: u32, most: u64) -> Option<u64> {
        debug_assert!(width <= 56);
        let pad = pad as usize;
        let at = (self.at + pad) & !pad;
        let next = at + width as usize;
        if next > self.end {
            return None;
        }
        // In two shifts, since there may be no bits.
        let number = (window(self.input, at >> 3) << (at & 7)) >> 1 >> (63 - width);
        if number > most {
            return None;
        }
        self.at = next;
        Some(number)
    }

    /// The next `count` octets, from the next octet on if `pad` is seven and not zero, with their offset in the input.
    /// Nothing, and no step, if there is none, they are not there or do not begin at an octet.
    #[inline(always)]
    pub fn octets_at(&mut self, count: usize, pad: u8) -> Option<(usize, &'a [u8])> {
        let pad = usize::from(pad);
        let at = (self.at + pad) & !pad;
        let next = at + count * 8;
        if next > self.end || at & 7 != 0 || count == 0 {
            return None;
        }
        let first = at >> 3;
        let octets = self.input.get(first..first + count)?;
        self.at = next;
        Some((first, octets))
    }

    /// The next `width` bits, at most 56, the first the highest, with what follows them, and where they end. Nothing if they
    /// are not there or the input ends soon.
    #[inline(always)]
    pub(crate) fn word_of(&self, width: usize) -> Option<(u64, usize)> {
        let (octet, next) = (self.at >> 3, self.at + width);
        if next > self.end {
            return None;
        }
        let window = self.input.get(octet..octet + 8)?.first_chunk()?;
        Some((u64::from_be_bytes(*window) << (self.at & 7), next))
    }

    /// The next eight octets as a number, and all that are left of the input. Nothing if `count` are not there, do not begin
    /// at an octet, or the input ends soon.
    #[inline(always)]
    pub(crate) fn octets_from(&self, count: usize) -> Option<(u64, &'a [u8])> {
        if self.at & 7 != 0 || self.at + count * 8 > self.end {
            return None;
        }
        let rest = self.input.get(self.at >> 3..)?;
        Some((u64::from_be_bytes(*rest.first_chunk()?), rest))
    }

    /// Up to 56 bits from a bit of the input on, the first the highest; what follows them is of no meaning.
    #[inline(always)]
    pub(crate) fn word_at(&self, at: usize) -> u64 {
        window(self.input, at >> 3) << (at & 7)
    }

    /// The next `count` bits without moving.
    ///
    /// # Errors
    /// [`ErrorKind::Incomplete`].
    pub fn peek_bits(&self, count: u32) -> Result<u64> {
        let mut copy = *self;
        copy.bits(count)
    }

    /// Passes over `count` bits.
    ///
    /// # Errors
    /// [`ErrorKind::Incomplete`].
    #[inline]
    pub fn skip(&mut self, count: usize) -> Result<()> {
        self.need(count)?;
        self.at += count;
        Ok(())
    }

    /// Moves to the next octet boundary (aligned variant); the padding bits are not looked at.
    #[inline]
    pub fn align(&mut self) {
        self.at = ((self.at + 7) & !7).min(self.end);
    }

    /// The next `count` octets.
    ///
    /// # Errors
    /// [`ErrorKind::Incomplete`].
    #[inline]
    pub fn octets(&mut self, count: usize) -> Result<Taken<'a>> {
        if count > self.left() / 8 {
            return Err(self.incomplete(count.saturating_mul(8)));
        }
        let at = self.at;
        self.at += count * 8;
        Ok(if at & 7 == 0 {
            let first = at >> 3;
            Taken::Aligned(first, self.input.get(first..first + count).unwrap_or_default())
        } else {
            Taken::Shifted(at)
        })
    }

    /// Appends `count` bits that begin at bit `from` of the input; the last octet is filled with zero bits.
    pub fn copy_bits(&self, from: usize, count: usize, out: &mut alloc::vec::Vec<u8>) {
        let mut reader = Self { input: self.input, at: from.min(self.end), end: self.end };
        let mut left = count.min(reader.left());
        out.reserve(left.div_ceil(8));
        if let Some((_, octets)) = reader.octets_at(left / 8, 0) {
            out.extend_from_slice(octets);
            left %= 8;
        }
        while left >= 64 {
            out.extend_from_slice(&reader.bits(64).unwrap_or_default().to_be_bytes());
            left -= 64;
        }
        while left > 0 {
            let take = left.min(8);
            #[allow(clippy::cast_possible_truncation)] // at most eight bits
            out.push((reader.bits(take as u32).unwrap_or_default() << (8 - take)) as u8);
            left -= take;
        }
    }
}

// What happens rarely takes the reader apart, so that the compiler can keep it in registers.

#[cold]
#[inline(never)]
const fn error_at(kind: ErrorKind, at: usize) -> Error {
    Error::at_bit(kind, at as u64)
}

#[cold]
#[inline(never)]
const fn incomplete_at(at: usize, end: usize, bits: usize) -> Error {
    let missing = bits.saturating_sub(end - at).div_ceil(8);
    Error::incomplete_at_bit(end as u64, missing as u64)
}

/// The eight octets from one on, zero behind the input.
#[inline(always)]
fn window(input: &[u8], octet: usize) -> u64 {
    match input.get(octet..octet + 8).and_then(<[u8]>::first_chunk::<8>) {
        Some(window) => u64::from_be_bytes(*window),
        None => last_window(input, octet),
    }
}

/// The same near the end.
#[inline(never)]
fn last_window(input: &[u8], octet: usize) -> u64 {
    match input.last_chunk::<8>() {
        #[allow(clippy::cast_possible_truncation)] // at most eight
        Some(last) => {
            let gone = (octet + 8).saturating_sub(input.len()).min(8);
            u64::from_be_bytes(*last).checked_shl(gone as u32 * 8).unwrap_or(0)
        }
        None => {
            let rest = input.get(octet..).unwrap_or_default();
            rest.iter().fold(0, |word, octet| word << 8 | u64::from(*octet)) << (64 - rest.len().max(1) * 8)
        }
    }
}

/// Across nine octets.
#[inline(never)]
fn slow_bits(input: &[u8], octet: usize, shift: u32, count: u32) -> u64 {
    let mut window = [0u8; 16];
    let rest = input.get(octet..).unwrap_or_default();
    let take = rest.len().min(9);
    window[..take].copy_from_slice(&rest[..take]);
    let window = u128::from_be_bytes(window) << shift;
    #[allow(clippy::cast_possible_truncation)] // the top half of 128 bits
    top((window >> 64) as u64, count)
}

/// The `count` highest bits as a number.
#[inline]
const fn top(word: u64, count: u32) -> u64 {
    if count == 0 { 0 } else { word >> (64 - count) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn every_width_at_every_shift() {
        let input: Vec<u8> = (0..32u8).map(|i| i.wrapping_mul(37).wrapping_add(11)).collect();
        let bit = |at: usize| u64::from(input[at >> 3] >> (7 - (at & 7)) & 1);
        for length in [1, 2, 8, 9, 16, 32] {
            for start in 0..24.min(length * 8) {
                for count in 0..=64u32 {
                    let mut reader = BitReader::new(&input[..length]);
                    reader.skip(start).unwrap();
                    assert_eq!(reader.left(), length * 8 - start);
                    let expected = (count as usize <= length * 8 - start)
                        .then(|| (start..start + count as usize).fold(0u64, |n, at| n << 1 | bit(at)));
                    assert_eq!(reader.bits(count).ok(), expected, "{length} {start} {count}");
                }
            }
        }
    }

    #[test]
    fn copies_across_octets() {
        let reader = BitReader::new(&[0b0001_1111, 0b1110_0000, 0xff]);
        let mut out = Vec::new();
        reader.copy_bits(3, 8, &mut out);
        assert_eq!(out, [0xff]);
        out.clear();
        reader.copy_bits(3, 11, &mut out);
        assert_eq!(out, [0xff, 0b0000_0000]);
    }

    #[test]
    fn missing_octets_are_counted() {
        let mut reader = BitReader::new(&[0; 4]);
        reader.skip(3).unwrap();
        assert_eq!(reader.bits(40).unwrap_err().needed(), Some(2));
        assert!(reader.octets(usize::MAX).is_err());
    }
}
