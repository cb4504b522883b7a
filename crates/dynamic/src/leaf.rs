//! What contents octets mean: the one place where a [`Leaf`] and its type become a value that can be shown.

use crate::event::Leaf;
use crate::words::word;
use std::borrow::Cow;
use tercet_plan::{Kind, NodeId, Shape};
use tercet_runtime::ber::{
    Rules, decode_bit_string, decode_boolean, decode_i64, decode_integer, decode_oid, decode_real,
    decode_relative_oid, decode_time,
};
use tercet_runtime::text::{latin1, to_utf8_lossy};
use tercet_runtime::types::{BitStr, OidRef, Real, RelativeOidRef};

/// A primitive value, borrowed.
#[derive(Clone, Debug, PartialEq)]
pub enum Scalar<'a> {
    /// BOOLEAN.
    Boolean(bool),
    /// INTEGER that fits.
    Integer(i64),
    /// INTEGER or ENUMERATED beyond 64 bits: two's complement, in the fewest octets.
    BigInteger(&'a [u8]),
    /// ENUMERATED; items that the schema does not know have no name.
    Enumerated(i64, Option<&'a str>),
    /// ENUMERATED: an item of a later version, by its number among the additions.
    Addition(u32),
    /// REAL.
    Real(Real<'a>),
    /// BIT STRING.
    BitString(BitStr<'a>),
    /// OCTET STRING.
    OctetString(&'a [u8]),
    /// NULL.
    Null,
    /// OBJECT IDENTIFIER.
    ObjectIdentifier(OidRef<'a>),
    /// RELATIVE-OID.
    RelativeOid(RelativeOidRef<'a>),
    /// A character string, OID-IRI or RELATIVE-OID-IRI.
    Text(Cow<'a, str>),
    /// Any of the time types, as in its value notation.
    Time(Cow<'a, str>),
    /// An open type whose content is not known: the complete encoding.
    Open(&'a [u8]),
    /// Octets that are no value of their type; decoders that check their input never give any.
    Raw(&'a [u8]),
}

/// Interprets a leaf as a value of its node.
///
/// BER is the most lenient of the rules for contents octets, so that it serves all: what DER forbids was
/// refused by the decoder. Characters and times that break their type, which BER keeps ([`crate::Sink::marked`]), are shown
/// as far as they have characters: see [`to_utf8_lossy`].
pub fn scalar<'a>(shape: &'a Shape, node: NodeId, leaf: Leaf<'a>) -> Scalar<'a> {
    let kind = shape.node(node).kind;
    match leaf {
        Leaf::Int(number) => match kind {
            Kind::Boolean => Scalar::Boolean(number != 0),
            Kind::Enumerated => Scalar::Enumerated(number, item_name(shape, node, number)),
            _ => Scalar::Integer(number),
        },
        Leaf::Addition(number) => Scalar::Addition(number),
        Leaf::Input { contents, .. } | Leaf::Made(contents) => {
            interpret(shape, node, kind, contents).unwrap_or(Scalar::Raw(contents))
        }
    }
}

fn interpret<'a>(shape: &'a Shape, node: NodeId, kind: Kind, contents: &'a [u8]) -> Option<Scalar<'a>> {
    Some(match kind {
        Kind::Boolean => Scalar::Boolean(decode_boolean(contents, 0, Rules::Ber).ok()?),
        Kind::Integer => match small(contents) {
            Some(number) => Scalar::Integer(number),
            None => Scalar::BigInteger(decode_integer(contents, 0, Rules::Ber).ok()?),
        },
        Kind::Enumerated => match small(contents) {
            Some(number) => Scalar::Enumerated(number, item_name(shape, node, number)),
            None => Scalar::BigInteger(decode_integer(contents, 0, Rules::Ber).ok()?),
        },
        Kind::Real => Scalar::Real(decode_real(contents, 0, Rules::Ber).ok()?),
        Kind::BitString => Scalar::BitString(decode_bit_string(contents, 0, Rules::Ber).ok()?),
        Kind::OctetString => Scalar::OctetString(contents),
        Kind::Null => Scalar::Null,
        Kind::ObjectIdentifier => Scalar::ObjectIdentifier(decode_oid(contents, 0).ok()?),
        Kind::RelativeOid => Scalar::RelativeOid(decode_relative_oid(contents, 0).ok()?),
        Kind::UtcTime | Kind::GeneralizedTime => Scalar::Time(latin1(contents)),
        Kind::Open => Scalar::Open(contents),
        Kind::Sequence | Kind::Set | Kind::SequenceOf | Kind::SetOf | Kind::Choice => return None,
        _ => match (kind.string_kind(), kind.time_type()) {
            (Some(string), _) => Scalar::Text(to_utf8_lossy(string, contents)),
            (_, Some(time)) => {
                let text = decode_time(time, contents, 0, Rules::Ber);
                Scalar::Time(text.unwrap_or_else(|_| latin1(contents)))
            }
            _ => return None,
        },
    })
}

/// An INTEGER or ENUMERATED that fits 64 bits.
#[inline]
pub fn small(contents: &[u8]) -> Option<i64> {
    match word(contents, 0) {
        Some(_) if contents.is_empty() => None,
        Some(word) => Some(word.swap_bytes().cast_signed() >> (64 - 8 * contents.len())),
        None => decode_i64(contents, 0, Rules::Ber).ok(),
    }
}

/// The number of a BOOLEAN, INTEGER or ENUMERATED that fits 64 bits.
#[inline]
pub(crate) fn number(leaf: Leaf<'_>) -> Option<i64> {
    match leaf {
        Leaf::Int(number) => Some(number),
        Leaf::Input { contents, .. } | Leaf::Made(contents) => small(contents),
        Leaf::Addition(_) => None,
    }
}

/// The name of an enumeration item or a named number. Most enumerations are dense, so that the place is tried first
/// where the number would then stand.
#[inline]
pub(crate) fn item_name(shape: &Shape, node: NodeId, number: i64) -> Option<&str> {
    let at = item_index(shape, node, number)?;
    Some(shape.name(shape.items.get(at)?.name))
}

/// The index into `Shape::items` of an item's number.
#[inline]
pub fn item_index(shape: &Shape, node: NodeId, number: i64) -> Option<usize> {
    let items = shape.items_of(node);
    let first = items.first()?;
    let guess = usize::try_from(number.wrapping_sub(first.value)).unwrap_or(usize::MAX);
    let at = match items.get(guess) {
        Some(item) if item.value == number => guess,
        _ => items.binary_search_by_key(&number, |item| item.value).ok()?,
    };
    Some(shape.node(node).item_first as usize + at)
}

/// Whether contents octets 20 to 7E of the kind are the ASCII characters.
pub const fn is_ascii_based(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Utf8String
            | Kind::NumericString
            | Kind::PrintableString
            | Kind::Ia5String
            | Kind::VisibleString
            | Kind::ObjectDescriptor
            | Kind::GraphicString
            | Kind::GeneralString
            | Kind::UtcTime
            | Kind::GeneralizedTime
    )
}
