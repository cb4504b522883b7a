//! BIT STRING (X.680 clause 22).

use super::Octets;
use core::fmt;

/// A borrowed BIT STRING: octets, most significant bit first, and the unused bits of the last one.
///
/// ```
/// use tercet_runtime::types::BitStr;
/// let bits = BitStr::new(&[0b1010_0000], 5).unwrap();
/// assert_eq!(bits.len(), 3);
/// assert_eq!(bits.iter().collect::<Vec<_>>(), [true, false, true]);
/// assert_eq!(bits.to_string(), "'101'B");
/// assert_eq!(BitStr::new(&[], 1), None);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct BitStr<'a> {
    bytes: &'a [u8],
    unused: u8,
}

impl<'a> BitStr<'a> {
    /// No bits.
    pub const EMPTY: Self = Self { bytes: &[], unused: 0 };

    /// A view of `bytes` without its last `unused` bits; nothing if there are not as many or more than 7.
    #[inline]
    #[must_use]
    pub const fn new(bytes: &'a [u8], unused: u8) -> Option<Self> {
        if unused > 7 || (bytes.is_empty() && unused > 0) { None } else { Some(Self { bytes, unused }) }
    }

    /// The same of a constant: no bits where there are not as many.
    #[must_use]
    pub const fn constant(bytes: &'a [u8], unused: u8) -> Self {
        match Self::new(bytes, unused) {
            Some(bits) => bits,
            None => Self::EMPTY,
        }
    }

    /// The octets, the unused bits as they were encoded.
    #[inline]
    #[must_use]
    pub const fn bytes(self) -> &'a [u8] {
        self.bytes
    }

    /// How many bits of the last octet are not part of the value: 0 to 7.
    #[inline]
    #[must_use]
    pub const fn unused(self) -> u8 {
        self.unused
    }

    /// The number of bits.
    #[inline]
    #[must_use]
    pub const fn len(self) -> usize {
        self.bytes.len().saturating_mul(8).saturating_sub(self.unused as usize)
    }

    /// Whether there are no bits.
    #[inline]
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Bit `index`, counted from zero at the leading bit.
    #[inline]
    #[must_use]
    pub fn bit(self, index: usize) -> Option<bool> {
        if index >= self.len() {
            return None;
        }
        self.bytes.get(index / 8).map(|octet| octet & (0x80 >> (index % 8)) != 0)
    }

    /// The bits in order.
    pub fn iter(self) -> impl Iterator<Item = bool> + 'a {
        self.bytes.iter().flat_map(|octet| (0..8).map(move |i| octet & (0x80_u8 >> i) != 0)).take(self.len())
    }

    /// Whether two values with named bits are the same: zero bits at the end mean nothing (X.680 22.7).
    #[must_use]
    pub fn is_same_set(self, other: &BitStr<'_>) -> bool {
        self.trimmed(0) == other.trimmed(0)
    }

    /// Whether all unused bits are zero (X.690 11.2.1).
    #[inline]
    #[must_use]
    pub fn is_padded_with_zeros(self) -> bool {
        self.bytes.last().is_none_or(|last| last & self.padding() == 0)
    }

    /// The value without its trailing zero bits, as a BIT STRING with named bits is encoded (X.690 11.2.2),
    /// but not shorter than `least` bits, the lower bound of its size.
    #[must_use]
    pub fn trimmed(self, least: usize) -> Self {
        let bytes = self.bytes;
        let kept = bytes.iter().rposition(|octet| *octet != 0).map_or(0, |i| i + 1);
        // An unused bit that is set must not count.
        let mut length = kept.saturating_mul(8).min(self.len());
        while length > 0 && self.bit(length - 1) == Some(false) {
            length -= 1;
        }
        let length = length.max(least.min(self.len()));
        let octets = length.div_ceil(8);
        Self { bytes: bytes.get(..octets).unwrap_or(bytes), unused: unused(length) }
    }

    /// Returns named bits as a size constraint asks for them (X.690 11.2.2 NOTE 1, X.680 22.7): with zero bits added up
    /// to `least`, or without those behind `most`. Nothing if they stay as they are.
    ///
    /// A one bit behind `most` stays, and a `least` above 1024 adds nothing.
    #[must_use]
    pub fn resized(self, least: usize, most: usize) -> Option<BitString<'a>> {
        let length = self.len();
        if length < least && least <= MOST_ADDED_BITS {
            let (front, last) = self.parts();
            let mut octets = [0; MOST_ADDED_BITS / 8];
            // Shorter than `least`, so that it has room.
            octets.get_mut(..front.len())?.copy_from_slice(front);
            if let Some(last) = last {
                *octets.get_mut(front.len())? = last;
            }
            let octets = octets.get(..least.div_ceil(8))?;
            return BitString::new(Octets::copied(octets), unused(least));
        }
        let trimmed = if length > most { self.trimmed(most) } else { return None };
        (trimmed.len() < length).then(|| trimmed.into())
    }

    const fn padding(self) -> u8 {
        ((1_u16 << self.unused) - 1).to_be_bytes()[1]
    }

    /// All octets but the last, and the last with its unused bits zero.
    fn parts(self) -> (&'a [u8], Option<u8>) {
        match self.bytes.split_last() {
            Some((last, front)) => (front, Some(last & !self.padding())),
            None => (&[], None),
        }
    }
}

/// The largest size that [`BitStr::resized`] adds zero bits for: a value must not take much more than its encoding.
pub(crate) const MOST_ADDED_BITS: usize = 1024;

/// The unused bits of the last octet of so many bits.
fn unused(length: usize) -> u8 {
    u8::try_from(length.wrapping_neg() % 8).unwrap_or(0)
}

/// Unused bits are not part of the value.
impl PartialEq for BitStr<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.unused == other.unused && self.parts() == other.parts()
    }
}

impl Eq for BitStr<'_> {}

impl core::hash::Hash for BitStr<'_> {
    fn hash<H: core::hash::Hasher>(&self, state: &mut H) {
        self.unused.hash(state);
        self.parts().hash(state);
    }
}

/// The value notation: `'101'B`, or `'A0'H` for whole octets.
impl fmt::Display for BitStr<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("'")?;
        if self.unused == 0 && !self.bytes.is_empty() {
            for octet in self.bytes {
                write!(f, "{octet:02X}")?;
            }
            return f.write_str("'H");
        }
        for bit in self.iter() {
            f.write_str(if bit { "1" } else { "0" })?;
        }
        f.write_str("'B")
    }
}

/// A BIT STRING that borrows its octets where the encoding has them in one piece, and keeps few others in place.
#[derive(Clone, Debug, Default)]
pub struct BitString<'a> {
    bytes: Octets<'a>,
    unused: u8,
}

impl<'a> BitString<'a> {
    /// No bits.
    pub const EMPTY: Self = Self { bytes: Octets::borrowed(&[]), unused: 0 };

    /// A value from octets and the number of unused bits; see [`BitStr::new`].
    #[must_use]
    pub fn new(bytes: impl Into<Octets<'a>>, unused: u8) -> Option<Self> {
        let bytes = bytes.into();
        BitStr::new(&bytes, unused)?;
        Some(Self { bytes, unused })
    }

    /// The same of what is known to be right.
    #[inline(always)]
    pub(crate) const fn known(bytes: Octets<'a>, unused: u8) -> Self {
        Self { bytes, unused }
    }

    /// A value from bits in order.
    #[must_use]
    pub fn from_bits(bits: impl IntoIterator<Item = bool>) -> BitString<'static> {
        let mut bytes = alloc::vec::Vec::new();
        let mut unused = 0_u8;
        for bit in bits {
            if unused == 0 {
                bytes.push(0);
                unused = 8;
            }
            unused -= 1;
            if let Some(last) = bytes.last_mut() {
                *last |= u8::from(bit) << unused;
            }
        }
        BitString { bytes: bytes.into(), unused }
    }

    /// The view that has the methods.
    #[inline]
    #[must_use]
    pub fn as_bits(&self) -> BitStr<'_> {
        BitStr { bytes: &self.bytes, unused: self.unused }
    }

    /// Returns named bits as a size constraint asks for them; see [`BitStr::resized`].
    #[must_use]
    pub fn resized(self, least: usize, most: usize) -> Self {
        match self.as_bits().resized(least, most) {
            Some(resized) => resized.into_owned(),
            None => self,
        }
    }

    /// Whether two values with named bits are the same: zero bits at the end mean nothing (X.680 22.7).
    #[must_use]
    pub fn is_same_set(&self, other: &BitString<'_>) -> bool {
        self.as_bits().is_same_set(&other.as_bits())
    }

    /// The octets, borrowed from the input where it has them in one piece.
    #[must_use]
    pub fn into_bytes(self) -> Octets<'a> {
        self.bytes
    }

    /// The same value without a borrow.
    #[must_use]
    pub fn into_owned(self) -> BitString<'static> {
        BitString { bytes: self.bytes.into_owned(), unused: self.unused }
    }
}

impl<'a> From<BitStr<'a>> for BitString<'a> {
    fn from(bits: BitStr<'a>) -> Self {
        Self { bytes: Octets::borrowed(bits.bytes), unused: bits.unused }
    }
}

impl PartialEq for BitString<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.as_bits() == other.as_bits()
    }
}

impl Eq for BitString<'_> {}

impl core::hash::Hash for BitString<'_> {
    fn hash<H: core::hash::Hasher>(&self, state: &mut H) {
        self.as_bits().hash(state);
    }
}

impl fmt::Display for BitString<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_bits().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn trims_named_bits() {
        for (bytes, unused, least, want) in [
            (&[0x40][..], 0, 0, (&[0x40][..], 6)),
            (&[0x40, 0x00], 3, 0, (&[0x40], 6)),
            (&[0x00, 0x00], 0, 0, (&[], 0)),
            (&[0x00, 0x00], 0, 9, (&[0x00, 0x00], 7)),
            (&[0xFF], 0, 0, (&[0xFF], 0)),
            (&[0x80, 0x0F], 4, 0, (&[0x80], 7)),
            (&[], 0, 5, (&[], 0)),
        ] {
            let trimmed = BitStr::new(bytes, unused).unwrap().trimmed(least);
            assert_eq!((trimmed.bytes(), trimmed.unused()), want, "{bytes:02x?} {unused} {least}");
        }
    }

    #[test]
    fn named_bits_get_the_size_that_is_asked_for() {
        for (bytes, unused, (least, most), want) in [
            (&[0x80][..], 7, (4, 8), Some((&[0x80][..], 4))),
            // What is in the unused bits does not become part of the value.
            (&[0xFF], 7, (4, 8), Some((&[0x80], 4))),
            (&[0x80], 4, (4, 8), None),
            (&[0x80], 0, (4, 8), None),
            (&[0x80, 0x00], 0, (4, 8), Some((&[0x80], 0))),
            (&[0x80, 0x40], 0, (4, 8), Some((&[0x80, 0x40], 6))),
            (&[], 0, (10, 10), Some((&[0, 0], 6))),
            (&[0xC0, 0x01], 0, (0, 3), None),
            (&[0x80], 7, (MOST_ADDED_BITS + 1, usize::MAX), None),
        ] {
            let resized = BitStr::new(bytes, unused).unwrap().resized(least, most);
            let resized = resized.as_ref().map(|bits| (bits.as_bits().bytes(), bits.as_bits().unused()));
            assert_eq!(resized, want, "{bytes:02x?} {unused} {least}..{most}");
        }
        let most = BitStr::default().resized(MOST_ADDED_BITS, usize::MAX);
        assert_eq!(most.unwrap().as_bits().len(), MOST_ADDED_BITS);
    }

    #[test]
    fn unused_bits_do_not_count() {
        let a = BitStr::new(&[0xA0], 5).unwrap();
        let b = BitStr::new(&[0xBF], 5).unwrap();
        assert_eq!(a, b);
        assert!(a.is_padded_with_zeros() && !b.is_padded_with_zeros());
        assert_eq!(b.to_string(), "'101'B");
        assert_eq!(BitString::from_bits(b.iter()).as_bits(), a);
        assert_eq!(BitStr::new(&[0xA5], 0).unwrap().to_string(), "'A5'H");
        assert_eq!(BitStr::default().to_string(), "''B");
        assert_eq!(b.bit(2), Some(true));
        assert_eq!(b.bit(3), None);
    }
}
