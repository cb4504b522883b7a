//! INTEGER of any size (X.680 clause 19).

use super::{IntegerRef, Octets};
use crate::{Error, Result};
use core::cmp::Ordering;
use core::fmt;

/// An INTEGER without bounds: its two's complement in the fewest octets, most significant first.
///
/// ```
/// use tercet_runtime::types::Integer;
/// let serial = Integer::from(-5);
/// assert_eq!(i64::try_from(&serial), Ok(-5));
/// assert!(serial < Integer::from(u64::MAX));
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Integer<'a>(Octets<'a>);

impl<'a> Integer<'a> {
    /// Zero.
    pub const ZERO: Self = Self(Octets::borrowed(&[0]));

    /// An integer from two's complement octets; superfluous ones are left out, no octets are zero.
    #[inline]
    #[must_use]
    pub fn from_octets(octets: &'a [u8]) -> Self {
        IntegerRef::from_octets(octets).into()
    }

    /// An integer of a specification, whose octets are the fewest.
    #[doc(hidden)]
    #[must_use]
    pub const fn constant(octets: &'static [u8]) -> Integer<'static> {
        Integer(Octets::borrowed(octets))
    }

    /// The same from octets that it does not borrow.
    #[must_use]
    pub fn copied(octets: &[u8]) -> Integer<'static> {
        Integer(Octets::copied(IntegerRef::from_octets(octets).as_octets()))
    }

    /// The view that has the methods.
    #[inline]
    #[must_use]
    pub fn as_integer(&self) -> IntegerRef<'_> {
        IntegerRef::known(self.0.as_slice())
    }

    /// Two's complement in the fewest octets.
    #[inline]
    #[must_use]
    pub fn as_octets(&self) -> &[u8] {
        self.0.as_slice()
    }

    /// The same value without a borrow.
    #[must_use]
    pub fn into_owned(self) -> Integer<'static> {
        Integer(self.0.into_owned())
    }

    /// Whether it is below zero.
    #[must_use]
    pub fn is_negative(&self) -> bool {
        self.as_integer().is_negative()
    }
}

impl<'a> From<IntegerRef<'a>> for Integer<'a> {
    #[inline]
    fn from(integer: IntegerRef<'a>) -> Self {
        Self(Octets::borrowed(integer.as_octets()))
    }
}

impl Default for Integer<'_> {
    fn default() -> Self {
        Self::from(0)
    }
}

macro_rules! from {
    ($($wide:ty: $($t:ty)*;)*) => {$($(
        impl From<$t> for Integer<'_> {
            fn from(value: $t) -> Self {
                Integer::copied(&<$wide>::from(value).to_be_bytes())
            }
        }

        impl TryFrom<&Integer<'_>> for $t {
            type Error = Error;
            /// The number, if it fits.
            fn try_from(value: &Integer<'_>) -> Result<Self> {
                Self::try_from(value.as_integer())
            }
        }
    )*)*};
}

from! {
    i64: i8 i16 i32 i64 u8 u16 u32;
    i128: u64 i128;
}

impl PartialOrd for Integer<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Integer<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_integer().cmp(&other.as_integer())
    }
}

impl fmt::Display for Integer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.as_integer(), f)
    }
}

impl fmt::Debug for Integer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_and_conversion() {
        let numbers =
            [i128::from(i64::MIN) - 1, -256, -129, -128, -1, 0, 1, 127, 128, 255, 256, u64::MAX.into()];
        for a in numbers {
            let x = Integer::from(a);
            assert_eq!(i128::try_from(&x), Ok(a));
            assert_eq!(i64::try_from(&x).ok(), i64::try_from(a).ok());
            assert_eq!(u8::try_from(&x).ok(), u8::try_from(a).ok());
            for b in numbers {
                assert_eq!(x.cmp(&Integer::from(b)), a.cmp(&b), "{a} {b}");
            }
        }
        assert_eq!(Integer::from_octets(&[0, 0, 0x80]), Integer::from(128));
        assert_eq!(Integer::from_octets(&[]), Integer::from(0));
    }
}
