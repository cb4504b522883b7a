//! Whether contents octets are of their type (X.690 8.2 to 8.26).

use tercet_plan::Kind;
use tercet_runtime::ber::{
    self, Rules, decode_boolean, decode_generalized_time, decode_integer, decode_null, decode_oid,
    decode_real, decode_relative_oid, decode_time, decode_utc_time,
};
use tercet_runtime::text::{self, StringKind};
use tercet_runtime::types::TimeType;
use tercet_runtime::{Error, ErrorKind, Tag};

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
        Kind::NumericString => contents.iter().all(|b| b.is_ascii_digit() || *b == b' '),
        Kind::VisibleString => contents.iter().all(|b| (b' '..=b'~').contains(b)),
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
        Kind::OidIri => text::check(StringKind::OidIri, contents, at),
        Kind::RelativeOidIri => text::check(StringKind::RelativeOidIri, contents, at),
        _ => match (string_kind(kind), time_type(kind)) {
            (Some(string), _) => text::check(string, contents, at),
            (None, Some(time)) => decode_time(time, contents, at, rules).map(drop),
            (None, None) => Err(Error::new(ErrorKind::ValueMismatch, at)),
        },
    }
}

/// The character string types as the runtime names them.
pub(super) fn string_kind(kind: Kind) -> Option<StringKind> {
    let tag = match kind {
        Kind::Utf8String => Tag::UTF8_STRING,
        Kind::NumericString => Tag::NUMERIC_STRING,
        Kind::PrintableString => Tag::PRINTABLE_STRING,
        Kind::TeletexString => Tag::TELETEX_STRING,
        Kind::VideotexString => Tag::VIDEOTEX_STRING,
        Kind::Ia5String => Tag::IA5_STRING,
        Kind::GraphicString => Tag::GRAPHIC_STRING,
        Kind::VisibleString => Tag::VISIBLE_STRING,
        Kind::GeneralString => Tag::GENERAL_STRING,
        Kind::UniversalString => Tag::UNIVERSAL_STRING,
        Kind::BmpString => Tag::BMP_STRING,
        Kind::ObjectDescriptor => Tag::OBJECT_DESCRIPTOR,
        _ => return None,
    };
    StringKind::from_tag(tag)
}

fn time_type(kind: Kind) -> Option<TimeType> {
    Some(match kind {
        Kind::Time => TimeType::Time,
        Kind::Date => TimeType::Date,
        Kind::TimeOfDay => TimeType::TimeOfDay,
        Kind::DateTime => TimeType::DateTime,
        Kind::Duration => TimeType::Duration,
        _ => return None,
    })
}

/// Whether the type's encoding may be constructed: strings, and the times that are VisibleStrings (X.690 8.25, 8.26).
/// The later time types are primitive (8.26).
pub(super) fn may_be_segmented(kind: Kind) -> bool {
    kind.is_text()
        || matches!(kind, Kind::OctetString | Kind::BitString | Kind::UtcTime | Kind::GeneralizedTime)
}
