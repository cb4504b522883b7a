//! Types whose values look the same everywhere.

use super::reals::no_real;
use super::tree::DIGITS;
use super::{Jer, Keys, Levels, Mismatch, Read, Said, Tree, strings};
use crate::types::decimal;
use crate::types::{ExactReal, FixedBits, Integer, ObjectIdentifier, Octets, RelativeObjectIdentifier};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde_core::Serializer;
use serde_core::ser::SerializeStruct;

impl Jer for bool {
    fn write_jer<S: Serializer>(&self, s: S, _: Levels) -> Said<S> {
        s.serialize_bool(*self)
    }

    fn read_jer(tree: &Tree<'_>, _: &Keys<'_>) -> Read<Self> {
        match tree {
            Tree::Boolean(value) => Ok(*value),
            _ => Err(Mismatch::new("true or false expected")),
        }
    }
}

impl Jer for () {
    fn write_jer<S: Serializer>(&self, s: S, _: Levels) -> Said<S> {
        s.serialize_unit()
    }

    fn read_jer(tree: &Tree<'_>, _: &Keys<'_>) -> Read<Self> {
        match tree {
            Tree::Null => Ok(()),
            _ => Err(Mismatch::new("null expected")),
        }
    }
}

macro_rules! integers {
    ($($ty:ident $serialize:ident)*) => {$(
        impl Jer for $ty {
            fn write_jer<S: Serializer>(&self, s: S, _: Levels) -> Said<S> {
                s.$serialize(*self)
            }

            fn read_jer(tree: &Tree<'_>, keys: &Keys<'_>) -> Read<Self> {
                let fits = match tree {
                    Tree::Integer(number) => Self::try_from(*number).ok(),
                    _ => Self::try_from(&Integer::read_jer(tree, keys)?).ok(),
                };
                fits.ok_or_else(|| Mismatch::new("the number is too large for the type"))
            }
        }
    )*};
}

integers! {
    u8 serialize_u8 u16 serialize_u16 u32 serialize_u32 u64 serialize_u64
    i8 serialize_i8 i16 serialize_i16 i32 serialize_i32 i64 serialize_i64
}

/// INTEGER of any size. Formats have no numbers beyond 64 bits but for the digits of `serde_json`, which it takes and gives
/// with its feature `arbitrary_precision`; without, and in other formats, they are an object with one member.
impl Jer for Integer<'_> {
    fn write_jer<S: Serializer>(&self, s: S, _: Levels) -> Said<S> {
        if let Ok(number) = i64::try_from(self) {
            return s.serialize_i64(number);
        }
        if let Ok(number) = u64::try_from(self) {
            return s.serialize_u64(number);
        }
        let mut digits = Vec::new();
        decimal::push_integer(&mut digits, self.as_octets());
        write_digits(&String::from_utf8_lossy(&digits), s)
    }

    fn read_jer(tree: &Tree<'_>, _: &Keys<'_>) -> Read<Self> {
        let octets = tree.whole().ok_or_else(|| Mismatch::new("an integer expected"))?;
        Ok(Integer::copied(&octets))
    }
}

/// A number by its digits.
pub(super) fn write_digits<S: Serializer>(digits: &str, s: S) -> Said<S> {
    let mut number = s.serialize_struct(DIGITS, 1)?;
    number.serialize_field(DIGITS, digits)?;
    number.end()
}

/// REAL as the nearest `f64`: a number, or the word of a special value. The base of a number is not kept.
impl Jer for f64 {
    fn write_jer<S: Serializer>(&self, s: S, levels: Levels) -> Said<S> {
        ExactReal::from(*self).write_jer(s, levels)
    }

    fn read_jer(tree: &Tree<'_>, keys: &Keys<'_>) -> Read<Self> {
        let exact = ExactReal::read_jer(tree, keys)?;
        let (near, infinite) = (exact.to_f64(), matches!(exact.as_bytes(), [0x40 | 0x41]));
        if near.is_infinite() && !infinite { Err(no_real()) } else { Ok(near) }
    }
}

/// OCTET STRING (X.697 clause 25), and the encoding of an open type.
impl Jer for Octets<'_> {
    fn write_jer<S: Serializer>(&self, s: S, _: Levels) -> Said<S> {
        strings::write_hex(self, s)
    }

    fn read_jer(tree: &Tree<'_>, _: &Keys<'_>) -> Read<Self> {
        strings::read_hex(tree).map(Octets::from)
    }
}

impl<const N: usize> Jer for [u8; N] {
    fn write_jer<S: Serializer>(&self, s: S, _: Levels) -> Said<S> {
        strings::write_hex(self, s)
    }

    fn read_jer(tree: &Tree<'_>, _: &Keys<'_>) -> Read<Self> {
        let octets = strings::read_hex(tree)?;
        Self::try_from(&octets[..]).map_err(|_| Mismatch::new(format!("{N} bytes expected")))
    }
}

/// BIT STRING of a fixed size (X.697 24.2).
impl<const N: u32> Jer for FixedBits<N> {
    fn write_jer<S: Serializer>(&self, s: S, _: Levels) -> Said<S> {
        let (octets, count) = self.to_octets();
        strings::write_hex(octets.get(..count).unwrap_or_default(), s)
    }

    fn read_jer(tree: &Tree<'_>, _: &Keys<'_>) -> Read<Self> {
        let bits = strings::read_bits(tree, Some(N.into()))?;
        if bits.as_bits().len() as u64 != u64::from(N) {
            return Err(Mismatch::new(format!("{N} bits expected")));
        }
        Ok(Self::new(bits.as_bits().iter().fold(0, |word, bit| word << 1 | u64::from(bit))))
    }
}

macro_rules! identifiers {
    ($($ty:ident)*) => {$(
        impl Jer for $ty<'_> {
            fn write_jer<S: Serializer>(&self, s: S, _: Levels) -> Said<S> {
                s.serialize_str(&self.to_string())
            }

            fn read_jer(tree: &Tree<'_>, _: &Keys<'_>) -> Read<Self> {
                tree.text("an object identifier expected")?.parse().map_err(Mismatch::of)
            }
        }
    )*};
}

identifiers!(ObjectIdentifier RelativeObjectIdentifier);
