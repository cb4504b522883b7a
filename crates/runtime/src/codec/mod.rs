//! What generated code is made of: the traits that users see, and readers and writers whose methods are one type each.
//!
//! Generated types implement [`BerType`], [`AperType`], [`UperType`] and [`OerType`] as far as their rules were asked for; from
//! these follow [`Decode`] and [`Encode`] for each of the rules.

mod additions;
pub mod ber;
pub mod contents;
mod fault;
#[cfg(feature = "serde")]
pub mod jer;
mod notation;
pub mod oer;
pub mod parts;
pub mod per;
mod sequence_of;
mod traits;
#[cfg(feature = "arena")]
mod unknown_elements;

pub use crate::__at as at;
pub use additions::{Family, UnknownAddition, UnknownAdditions};
pub use fault::{Fault, Path};
pub use notation::{Notation, Printer, debug};
pub use sequence_of::{Elements, SequenceOf};
#[cfg(feature = "arena")]
pub use traits::DecodeIn;
pub use traits::{
    Aper, AperType, Ber, BerType, CanonicalAper, CanonicalUper, Cer, Coer, Decode, Der, Encode, Oer, OerType,
    StrictBer, Uper, UperType,
};
#[cfg(feature = "arena")]
pub use unknown_elements::UnknownElements;

use crate::types::{BitStr, BitString, Octets};
use alloc::boxed::Box;

/// A string with CONTAINING (X.682 clause 11): the value inside, or the octets where they are no value of the type or do
/// not stand in one piece.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Contained<'a, T> {
    /// The value inside.
    Value(T),
    /// What was in the string.
    Octets(Octets<'a>),
    /// What was in a BIT STRING whose bits are no whole number of octets.
    Bits(Box<BitString<'static>>),
}

impl<T> Contained<'_, T> {
    /// The value inside, if it was decoded.
    pub const fn value(&self) -> Option<&T> {
        match self {
            Self::Value(value) => Some(value),
            Self::Octets(_) | Self::Bits(_) => None,
        }
    }

    /// What was in an OCTET STRING that is not decoded.
    pub fn octets(&self) -> &[u8] {
        self.bits().bytes()
    }

    /// What was in a BIT STRING that is not decoded.
    pub fn bits(&self) -> BitStr<'_> {
        match self {
            Self::Value(_) => BitStr::default(),
            Self::Octets(octets) => BitStr::new(octets, 0).unwrap_or_default(),
            Self::Bits(bits) => bits.as_bits(),
        }
    }

    /// The same without a borrow; `owned` makes the value inside so.
    pub fn map_owned<U>(self, owned: impl FnOnce(T) -> U) -> Contained<'static, U> {
        match self {
            Self::Value(value) => Contained::Value(owned(value)),
            Self::Octets(octets) => Contained::Octets(octets.into_owned()),
            Self::Bits(bits) => Contained::Bits(bits),
        }
    }
}

impl<'a, T> From<BitString<'a>> for Contained<'a, T> {
    fn from(bits: BitString<'a>) -> Self {
        match bits.as_bits().unused() {
            0 => Self::Octets(bits.into_bytes()),
            _ => Self::Bits(Box::new(bits.into_owned())),
        }
    }
}

/// An alternative of a later version of a CHOICE: its complete encoding, and in PER its number among the additions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct UnknownAlternative<'a> {
    /// Number among the additions, from 0; `None` in rules that tell alternatives by their tags.
    pub addition: Option<u32>,
    /// The complete encoding in the rule at hand.
    pub octets: Octets<'a>,
}

impl UnknownAlternative<'_> {
    /// The same value without a borrow.
    #[must_use]
    pub fn into_owned(self) -> UnknownAlternative<'static> {
        UnknownAlternative { addition: self.addition, octets: self.octets.into_owned() }
    }
}

/// A value that selects the row of a table, as the component relation constraint (X.682 clause 10) takes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key<'k> {
    /// The component is absent.
    None,
    /// INTEGER, ENUMERATED.
    Int(i64),
    /// Contents octets (X.690) of any other type.
    Octets(&'k [u8]),
}
