//! Whether contents octets are of their type (X.690 8.2 to 8.26).

use tercet_plan::Kind;
use tercet_runtime::ber::{
    self, Rules, decode_boolean, decode_generalized_time, decode_integer, decode_null, decode_oid,
    decode_real, decode_relative_oid, decode_time, decode_utc_time,
};
use tercet_runtime::text::{self, StringKind};
use tercet_runtime::{Error, ErrorKind};

/// The quick test: `false` is for the slow path, which knows whether it is an error.
#[inline(always)]
pub(super) fn is_plainly_good(kind: Kind, contents: &[u8]) -> bool {
    match kind {
        Kind::OctetString => true,
        Kind::Integer | Kind::Enumerated => !contents.is_empty(),
        Kind::Ia5String => contents.is_ascii(),
        Kind::Boolean => contents.len() == 1,
        Kind::Null => contents.is_empty(),
        Kind::BitString => match contents {
            [0] => true,
            [unused, _, ..] => *unused < 8,
            _ => false,
        },
        Kind::NumericString => contents.iter().all(|octet| StringKind::Numeric.allows(*octet)),
        Kind::VisibleString => contents.iter().all(|octet| StringKind::Visible.allows(*octet)),
        Kind::Utf8String => contents.is_ascii(),
        _ => false,
    }
}

/// Whether what is plainly good is so by DER too (X.690 10, 11); `false` is for the slow path.
#[inline(always)]
pub(super) fn is_canonical(kind: Kind, contents: &[u8]) -> bool {
    match kind {
        Kind::Boolean => matches!(contents, [0 | 0xFF]),
        Kind::Integer | Kind::Enumerated => !matches!(contents, [0, 0..=0x7F, ..] | [0xFF, 0x80..=0xFF, ..]),
        Kind::BitString => false,
        _ => true,
    }
}

/// The whole test.
pub(crate) fn check(kind: Kind, contents: &[u8], at: u64, rules: Rules) -> Result<(), Error> {
    match kind {
        Kind::OctetString => Ok(()),
        Kind::Boolean => decode_boolean(contents, at, rules).map(drop),
        Kind::Integer | Kind::Enumerated => decode_integer(contents, at, rules).map(drop),
        Kind::Real => decode_real(contents, at, rules).map(drop),
        Kind::BitString => ber::decode_bit_string(contents, at, rules).map(drop),
        Kind::Null => decode_null(contents, at),
        Kind::ObjectIdentifier => decode_oid(contents, at).map(drop),
        Kind::RelativeOid => decode_relative_oid(contents, at).map(drop),
        Kind::UtcTime => decode_utc_time(contents, at, rules).map(drop),
        Kind::GeneralizedTime => decode_generalized_time(contents, at, rules).map(drop),
        _ => match (kind.string_kind(), kind.time_type()) {
            (Some(string), _) => text::check(string, contents, at),
            (None, Some(time)) => decode_time(time, contents, at, rules).map(drop),
            (None, None) => Err(Error::new(ErrorKind::ValueMismatch, at)),
        },
    }
}

/// Reports whether the contents octets of a type are characters, so that they can be shown if they are not of the type.
pub(super) fn has_characters(kind: Kind) -> bool {
    kind.string_kind().is_some()
        || kind.time_type().is_some()
        || matches!(kind, Kind::UtcTime | Kind::GeneralizedTime)
}
