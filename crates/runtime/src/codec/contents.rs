//! Values from the contents of primitive elements that stand in one piece, as most do.
//!
//! Each function gives a value only if the contents are legal in BER, DER and CER and need no copy; what it leaves is read by
//! the function of the same name in [`super::ber`], which knows all forms and says what is wrong.

use crate::text::StringKind;
use crate::types::{
    BitStr, BitString, GeneralizedTime, Integer, IntegerRef, ObjectIdentifier, Octets, OidRef, Text, TextRef,
    UtcTime,
};

/// BOOLEAN (8.2).
#[inline]
#[must_use]
pub const fn boolean(contents: &[u8]) -> Option<bool> {
    match contents {
        [0] => Some(false),
        [0xFF] => Some(true),
        _ => None,
    }
}

/// NULL (8.8).
#[inline]
#[must_use]
pub const fn null(contents: &[u8]) -> Option<()> {
    if contents.is_empty() { Some(()) } else { None }
}

/// INTEGER or ENUMERATED in 64 bits and the fewest octets (8.3, 8.4).
#[inline]
#[must_use]
pub fn integer(contents: &[u8]) -> Option<i64> {
    match contents {
        [] | [0, 0..=0x7F, ..] | [0xFF, 0x80..=0xFF, ..] => None,
        [first, rest @ ..] if rest.len() < 8 => {
            let first = i64::from(first.cast_signed());
            Some(rest.iter().fold(first, |number, octet| number << 8 | i64::from(*octet)))
        }
        _ => None,
    }
}

/// A non-negative INTEGER in 64 bits (8.3).
#[inline]
#[must_use]
pub fn unsigned(contents: &[u8]) -> Option<u64> {
    u64::try_from(integer(contents)?).ok()
}

/// INTEGER in a type that it may be too large for.
#[inline]
#[must_use]
pub fn narrow<T: TryFrom<i64>>(contents: &[u8]) -> Option<T> {
    T::try_from(integer(contents)?).ok()
}

/// ENUMERATED: the item that `item` gives for a number of one octet.
#[inline]
#[must_use]
pub fn enumerated<T>(contents: &[u8], item: impl Fn(i64) -> Option<T>) -> Option<T> {
    match contents {
        [octet] => item(i64::from(octet.cast_signed())),
        _ => None,
    }
}

/// INTEGER of any size in the fewest octets (8.3).
#[inline]
#[must_use]
pub fn big_integer(contents: &[u8]) -> Option<Integer<'_>> {
    big_integer_slice(contents).map(Integer::from)
}

/// The same as a slice.
#[inline]
#[must_use]
pub const fn big_integer_slice(contents: &[u8]) -> Option<IntegerRef<'_>> {
    IntegerRef::of_fewest(contents)
}

/// OCTET STRING (8.7).
#[inline]
#[must_use]
pub const fn octets(contents: &[u8]) -> Option<Octets<'_>> {
    Some(Octets::borrowed(contents))
}

/// The same as a slice.
#[inline]
#[must_use]
pub const fn octets_slice(contents: &[u8]) -> Option<&[u8]> {
    Some(contents)
}

/// OCTET STRING of a fixed size.
#[inline]
#[must_use]
pub fn fixed_octets<const N: usize>(contents: &[u8]) -> Option<[u8; N]> {
    contents.try_into().ok()
}

/// BIT STRING of whole octets (8.6).
#[inline]
#[must_use]
pub fn bits(contents: &[u8]) -> Option<BitString<'_>> {
    bits_slice(contents).map(BitString::from)
}

/// The same as a slice.
#[inline]
#[must_use]
pub const fn bits_slice(contents: &[u8]) -> Option<BitStr<'_>> {
    match contents {
        [0, octets @ ..] => BitStr::new(octets, 0),
        _ => None,
    }
}

/// OBJECT IDENTIFIER (8.19).
#[inline]
#[must_use]
pub fn oid(contents: &[u8]) -> Option<ObjectIdentifier<'_>> {
    oid_slice(contents).map(ObjectIdentifier::from)
}

/// The same as a slice.
#[inline]
#[must_use]
pub fn oid_slice(contents: &[u8]) -> Option<OidRef<'_>> {
    OidRef::new(contents, 0).ok()
}

/// A character string whose characters are the same in UTF-8 (8.23).
#[inline]
#[must_use]
pub fn text(contents: &[u8], kind: StringKind) -> Option<Text<'_>> {
    kind.is_plain(contents).then(|| Text::ascii(contents))
}

/// The same as a slice.
#[inline]
#[must_use]
pub fn text_slice(contents: &[u8], kind: StringKind) -> Option<TextRef<'_>> {
    kind.is_plain(contents).then(|| TextRef::ascii(contents))
}

/// UTCTime in the form of DER and CER (8.25, 11.8).
#[inline]
#[must_use]
pub fn utc_time(contents: &[u8]) -> Option<Text<'_>> {
    UtcTime::of_canonical(contents).map(|_| Text::ascii(contents))
}

/// The same as a slice.
#[inline]
#[must_use]
pub fn utc_time_slice(contents: &[u8]) -> Option<TextRef<'_>> {
    UtcTime::of_canonical(contents).map(|_| TextRef::ascii(contents))
}

/// GeneralizedTime in the form of DER and CER, without a fraction (8.25, 11.7).
#[inline]
#[must_use]
pub fn generalized_time(contents: &[u8]) -> Option<Text<'_>> {
    GeneralizedTime::of_canonical(contents).map(|_| Text::ascii(contents))
}

/// The same as a slice.
#[inline]
#[must_use]
pub fn generalized_time_slice(contents: &[u8]) -> Option<TextRef<'_>> {
    GeneralizedTime::of_canonical(contents).map(|_| TextRef::ascii(contents))
}
