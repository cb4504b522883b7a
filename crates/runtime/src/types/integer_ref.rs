//! INTEGER of any size (X.680 clause 19) that stands in other memory.

use super::Octets;
use crate::{Error, ErrorKind, Result};
use core::cmp::Ordering;
use core::fmt;

/// A borrowed INTEGER without bounds: its two's complement in the fewest octets, most significant first.
///
/// ```
/// use tercet_runtime::types::IntegerRef;
/// let serial = IntegerRef::from_octets(&[0, 0x80]);
/// assert_eq!(i64::try_from(serial), Ok(128));
/// assert!(serial > IntegerRef::from_octets(&[0x80]));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct IntegerRef<'a>(&'a [u8]);

impl<'a> IntegerRef<'a> {
    /// Zero.
    pub const ZERO: Self = Self(&[0]);

    /// An integer from two's complement octets; superfluous ones are left out, no octets are zero.
    #[inline]
    #[must_use]
    pub fn from_octets(mut octets: &'a [u8]) -> Self {
        while let [0x00, 0x00..=0x7F, ..] | [0xFF, 0x80..=0xFF, ..] = octets {
            octets = octets.get(1..).unwrap_or_default();
        }
        Self(if octets.is_empty() { &[0] } else { octets })
    }

    /// An integer from two's complement in the fewest octets; nothing for other octets.
    #[inline]
    pub(crate) const fn of_fewest(octets: &'a [u8]) -> Option<Self> {
        match octets {
            [] | [0, 0..=0x7F, ..] | [0xFF, 0x80..=0xFF, ..] => None,
            _ => Some(Self(octets)),
        }
    }

    /// The same of octets that are known to be the fewest.
    #[inline]
    pub(crate) const fn known(octets: &'a [u8]) -> Self {
        Self(octets)
    }

    /// An integer of a specification, whose octets are the fewest.
    #[doc(hidden)]
    #[must_use]
    pub const fn constant(octets: &'static [u8]) -> Self {
        Self(octets)
    }

    /// Two's complement in the fewest octets.
    #[inline]
    #[must_use]
    pub const fn as_octets(self) -> &'a [u8] {
        self.0
    }

    /// Whether it is below zero.
    #[must_use]
    pub fn is_negative(self) -> bool {
        self.0.first().is_some_and(|octet| octet & 0x80 != 0)
    }
}

impl Default for IntegerRef<'_> {
    fn default() -> Self {
        Self::ZERO
    }
}

macro_rules! numbers {
    ($($wide:ty: $($t:ty)*;)*) => {$($(
        impl TryFrom<IntegerRef<'_>> for $t {
            type Error = Error;
            /// The number, if it fits.
            fn try_from(value: IntegerRef<'_>) -> Result<Self> {
                let mut wide = [if value.is_negative() { 0xFF } else { 0 }; size_of::<$wide>()];
                let range = Error::new(ErrorKind::IntegerRange, 0);
                let start = wide.len().checked_sub(value.0.len()).ok_or(range)?;
                wide.get_mut(start..).ok_or(range)?.copy_from_slice(value.0);
                Self::try_from(<$wide>::from_be_bytes(wide)).map_err(|_| range)
            }
        }

        impl TryFrom<&IntegerRef<'_>> for $t {
            type Error = Error;
            fn try_from(value: &IntegerRef<'_>) -> Result<Self> {
                Self::try_from(*value)
            }
        }
    )*)*};
}

numbers! {
    i64: i8 i16 i32 i64 u8 u16 u32;
    i128: u64 i128;
}

impl PartialOrd for IntegerRef<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for IntegerRef<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        let (a, b) = (self.0, other.0);
        match (self.is_negative(), other.is_negative()) {
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
            (false, false) => a.len().cmp(&b.len()).then_with(|| a.cmp(b)),
            (true, true) => b.len().cmp(&a.len()).then_with(|| a.cmp(b)),
        }
    }
}

/// Decimal digits, or octets beyond 128 bits.
impl fmt::Display for IntegerRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match i128::try_from(*self) {
            Ok(number) => fmt::Display::fmt(&number, f),
            Err(_) => fmt::Display::fmt(&Octets::borrowed(self.0), f),
        }
    }
}

impl fmt::Debug for IntegerRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
