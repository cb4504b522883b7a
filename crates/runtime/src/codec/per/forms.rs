//! How numbers, sizes and characters are written, as literals in generated code.

use super::lanes::Lanes;

/// How a constrained whole number is written (§11.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whole {
    /// One value: nothing is written.
    Nothing,
    /// A bit-field of this width (§11.5.6, §11.5.7.1).
    Bits(u8),
    /// One octet, aligned (§11.5.7.2).
    Octet,
    /// Two octets, aligned (§11.5.7.3).
    TwoOctets,
    /// The number of octets as a bit-field of the first width, then that many octets, aligned (§11.5.7.4); at most the
    /// second number.
    Octets(u8, u8),
}

impl Whole {
    /// Whether it is at most 56 bits that always stand there, so that a number is there or an error.
    #[inline]
    pub(super) const fn is_short(self) -> bool {
        !matches!(self, Self::Bits(57..) | Self::Octets(..))
    }
}

/// How a number of octets, bits, characters or elements is written (§11.9.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Whether a bit in front says that the size is outside of the root.
    pub extensible: bool,
    /// The least size.
    pub lo: u32,
    /// The greatest size, or `u32::MAX`.
    pub hi: u32,
    /// How the difference to `lo` is written; `None` for a general length determinant.
    pub whole: Option<Whole>,
}

impl Size {
    /// Two words, as they are handed to what is called rarely: others would be put together in memory before.
    #[inline(always)]
    pub(super) const fn packed(self) -> (u64, u64) {
        let [a, b, c] = match self.whole {
            None => [0, 0, 0],
            Some(Whole::Nothing) => [1, 0, 0],
            Some(Whole::Bits(width)) => [2, width, 0],
            Some(Whole::Octet) => [3, 0, 0],
            Some(Whole::TwoOctets) => [4, 0, 0],
            Some(Whole::Octets(width, most)) => [5, width, most],
        };
        let form = u32::from_be_bytes([self.extensible as u8, a, b, c]);
        ((self.lo as u64) << 32 | self.hi as u64, form as u64)
    }

    /// The size of two words.
    pub(super) const fn of_packed((bounds, form): (u64, u64)) -> Self {
        let [.., extensible, a, b, c] = form.to_be_bytes();
        let whole = match a {
            1 => Some(Whole::Nothing),
            2 => Some(Whole::Bits(b)),
            3 => Some(Whole::Octet),
            4 => Some(Whole::TwoOctets),
            5 => Some(Whole::Octets(b, c)),
            _ => None,
        };
        let [a, b, c, d, e, f, g, h] = bounds.to_be_bytes();
        Self::new(extensible != 0, u32::from_be_bytes([a, b, c, d]), u32::from_be_bytes([e, f, g, h]), whole)
    }

    /// Any size.
    pub const ANY: Self = Self::new(false, 0, u32::MAX, None);

    /// A size.
    #[must_use]
    pub const fn new(extensible: bool, lo: u32, hi: u32, whole: Option<Whole>) -> Self {
        Self { extensible, lo, hi, whole }
    }

    /// Whether all sizes of the root are the same, so that nothing is written.
    #[inline]
    #[must_use]
    pub const fn is_fixed(&self) -> bool {
        self.lo == self.hi && self.whole.is_some()
    }

    /// Whether a size is one of the root.
    #[inline]
    #[must_use]
    pub const fn holds(&self, size: usize) -> bool {
        self.lo as usize <= size && (self.hi == u32::MAX || size <= self.hi as usize)
    }

    /// Whether a string of this size is of so few units that it is not aligned (§16.9, §17.6).
    #[inline]
    #[must_use]
    pub const fn is_short(&self, count: usize, most: u32) -> bool {
        self.is_fixed() && self.hi <= most && count == self.lo as usize
    }
}

/// The characters of a known-multiplier string (§30.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alphabet {
    /// Bits of one character.
    pub(super) bits: u32,
    /// Whether strings of the root's size are not aligned (§30.5.6, §30.5.7).
    pub(super) unaligned: bool,
    /// Whether characters are written as their number among the permitted ones (§30.5.4).
    indexed: bool,
    ranges: &'static [Range],
    /// The same for eight characters at a time, if all are below 128 and in few ranges.
    pub(super) lanes: Option<Lanes>,
}

impl Alphabet {
    /// Whether characters have 16 bits at most, so that one beyond them is a pair of surrogates, as in a BMPString in BER.
    pub(super) fn has_pairs(&self) -> bool {
        self.ranges.last().is_some_and(|range| range.hi <= 0xFFFF)
    }
}

/// A range of permitted characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// The first.
    pub lo: u32,
    /// The last.
    pub hi: u32,
    /// The number of the first among all permitted ones.
    pub number: u32,
}

impl Range {
    /// A range: first, last, number of the first.
    #[must_use]
    pub const fn new(lo: u32, hi: u32, number: u32) -> Self {
        Self { lo, hi, number }
    }
}

/// A type for an alphabet, so that what reads and writes its characters is made for it alone.
pub trait Letters {
    /// The alphabet.
    const ALPHABET: Alphabet;
}

impl Alphabet {
    /// An alphabet, with its tables for characters below 128.
    #[must_use]
    pub const fn new(bits: u32, unaligned: bool, indexed: bool, ranges: &'static [Range]) -> Self {
        Self { bits, unaligned, indexed, ranges, lanes: Lanes::new(bits, indexed, ranges) }
    }

    /// The bits to write for a character, if it is permitted.
    #[inline]
    #[must_use]
    pub fn code(&self, character: u32) -> Option<u32> {
        let at = self.ranges.partition_point(|range| range.hi < character);
        let range = self.ranges.get(at).filter(|range| range.lo <= character)?;
        Some(if self.indexed { range.number + (character - range.lo) } else { character })
    }

    /// The character that was written so, if it is permitted.
    #[inline]
    #[must_use]
    pub fn character(&self, code: u32) -> Option<u32> {
        if !self.indexed {
            return self.code(code);
        }
        let at = self.ranges.partition_point(|range| range.number <= code).checked_sub(1)?;
        let range = self.ranges.get(at)?;
        let character = range.lo.checked_add(code - range.number)?;
        (character <= range.hi).then_some(character)
    }
}
