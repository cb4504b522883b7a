//! BIT STRINGs of a fixed number of bits that fit a word.

use core::fmt;

/// A BIT STRING of exactly `N` bits, at most 64: the first bit is the highest of the `N` lowest.
///
/// ```
/// use tercet_runtime::types::FixedBits;
/// let bits = FixedBits::<3>::new(0b101);
/// assert!(bits.bit(0) && !bits.bit(1) && bits.bit(2));
/// assert_eq!(bits.to_string(), "'101'B");
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FixedBits<const N: u32>(u64);

impl<const N: u32> FixedBits<N> {
    /// The bits as the lowest of a word; higher ones are dropped.
    #[inline]
    #[must_use]
    pub const fn new(bits: u64) -> Self {
        Self(if N >= 64 { bits } else { bits & ((1 << N) - 1) })
    }

    /// The bits as the lowest of a word.
    #[inline]
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The word itself, in which nothing but the `N` lowest bits may be set.
    #[inline]
    pub(crate) const fn word(&mut self) -> &mut u64 {
        &mut self.0
    }

    /// Bit `index`, counted from zero at the leading bit; nothing is set behind the last.
    #[inline]
    #[must_use]
    pub const fn bit(self, index: u32) -> bool {
        index < N && self.0 >> (N - 1 - index) & 1 != 0
    }

    /// The bits from the first on as octets, the rest zero, and how many octets they are.
    #[inline]
    #[must_use]
    pub const fn to_octets(self) -> ([u8; 8], usize) {
        let octets = if N == 0 { 0 } else { self.0 << (64 - N) }.to_be_bytes();
        (octets, N.div_ceil(8) as usize)
    }

    /// The same value: it never borrows.
    #[must_use]
    pub const fn into_owned(self) -> Self {
        self
    }
}

impl<const N: u32> fmt::Display for FixedBits<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("'")?;
        for index in 0..N {
            f.write_str(if self.bit(index) { "1" } else { "0" })?;
        }
        f.write_str("'B")
    }
}

impl<const N: u32> fmt::Debug for FixedBits<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
