//! Contents octets of the primitive types (X.690 8.2 to 8.26), read without a copy.
//!
//! Each function takes the contents octets, the absolute offset at which they start, and where it matters
//! the rules.

use alloc::borrow::Cow;

use super::Rules;
use crate::text::StringKind;
use crate::types::{
    Base, Binary, BitStr, Decimal, GeneralizedTime, OidRef, Real, RelativeOidRef, TimeType, UtcTime,
};
use crate::{Error, ErrorKind, Result};

/// BOOLEAN (8.2): one octet, in DER and CER `00` or `FF` (11.1).
///
/// # Errors
/// [`ErrorKind::BooleanLength`], [`ErrorKind::BooleanNotCanonical`].
///
/// ```
/// use tercet_runtime::ber::{decode_boolean, Rules};
/// assert_eq!(decode_boolean(&[0x01], 0, Rules::Ber), Ok(true));
/// assert!(decode_boolean(&[0x01], 0, Rules::Der).is_err());
/// ```
#[inline]
pub fn decode_boolean(contents: &[u8], at: u64, rules: Rules) -> Result<bool> {
    match contents {
        [0x00] => Ok(false),
        [0xFF] => Ok(true),
        [_] if rules == Rules::Ber => Ok(true),
        [_] => Err(Error::new(ErrorKind::BooleanNotCanonical, at)),
        _ => Err(Error::new(ErrorKind::BooleanLength, at)),
    }
}

/// NULL (8.8): no octets.
///
/// # Errors
/// [`ErrorKind::NullNotEmpty`].
#[inline]
pub fn decode_null(contents: &[u8], at: u64) -> Result<()> {
    if contents.is_empty() { Ok(()) } else { Err(Error::new(ErrorKind::NullNotEmpty, at)) }
}

/// Whether the first octet of an INTEGER says nothing that the second does not (8.3.2).
#[inline]
const fn is_padded(contents: &[u8]) -> bool {
    matches!(contents, [0x00, 0x00..=0x7F, ..] | [0xFF, 0x80..=0xFF, ..])
}

/// Checks the octets of an INTEGER as X.690 8.3.2 asks of all three rules: one at least, none superfluous.
///
/// # Errors
/// [`ErrorKind::IntegerEmpty`], [`ErrorKind::IntegerNotMinimal`].
#[inline]
pub fn check_integer_minimal(contents: &[u8], at: u64) -> Result<()> {
    if contents.is_empty() {
        return Err(Error::new(ErrorKind::IntegerEmpty, at));
    }
    if is_padded(contents) {
        return Err(Error::new(ErrorKind::IntegerNotMinimal, at));
    }
    Ok(())
}

/// An INTEGER or ENUMERATED of any size as two's complement, in the fewest octets.
///
/// BER forbids superfluous octets (8.3.2), but equipment sends them: under [`Rules::Ber`] they are removed
/// here, under the others they are an error.  [`check_integer_minimal`] serves the strict.
///
/// # Errors
/// [`ErrorKind::IntegerEmpty`], [`ErrorKind::IntegerNotMinimal`].
#[inline]
pub fn decode_integer(contents: &[u8], at: u64, rules: Rules) -> Result<&[u8]> {
    if rules != Rules::Ber || contents.is_empty() {
        check_integer_minimal(contents, at)?;
        return Ok(contents);
    }
    let mut rest = contents;
    while is_padded(rest) {
        rest = rest.get(1..).unwrap_or_default();
    }
    Ok(rest)
}

macro_rules! fixed {
    ($($(#[$doc:meta])* $name:ident -> $t:ty, $octets:literal;)*) => {$(
        $(#[$doc])*
        ///
        /// # Errors
        /// As [`decode_integer`]; [`ErrorKind::IntegerRange`] when it does not fit.
        #[inline]
        pub fn $name(contents: &[u8], at: u64, rules: Rules) -> Result<$t> {
            let contents = decode_integer(contents, at, rules)?;
            let Some((&first, rest)) = contents.split_first() else {
                return Err(Error::new(ErrorKind::IntegerEmpty, at));
            };
            if contents.len() > $octets {
                return Err(Error::new(ErrorKind::IntegerRange, at));
            }
            let sign = <$t>::from(first.cast_signed());
            if let [second] = rest {
                return Ok(sign << 8 | <$t>::from(*second));
            }
            Ok(rest.iter().fold(sign, |value, octet| value << 8 | <$t>::from(*octet)))
        }
    )*};
}

fixed! {
    /// An INTEGER or ENUMERATED in 64 bits.
    decode_i64 -> i64, 8;
    /// An INTEGER or ENUMERATED in 128 bits.
    decode_i128 -> i128, 16;
}

macro_rules! unsigned {
    ($($(#[$doc:meta])* $name:ident -> $t:ty, $octets:literal;)*) => {$(
        $(#[$doc])*
        ///
        /// # Errors
        /// As [`decode_integer`]; [`ErrorKind::IntegerRange`] when it is negative or does not fit.
        #[inline]
        pub fn $name(contents: &[u8], at: u64, rules: Rules) -> Result<$t> {
            let contents = decode_integer(contents, at, rules)?;
            let digits = match contents {
                [0x80..=0xFF, ..] => return Err(Error::new(ErrorKind::IntegerRange, at)),
                [0x00, rest @ ..] => rest,
                all => all,
            };
            if digits.len() > $octets {
                return Err(Error::new(ErrorKind::IntegerRange, at));
            }
            Ok(digits.iter().fold(0, |value, octet| value << 8 | <$t>::from(*octet)))
        }
    )*};
}

unsigned! {
    /// A non-negative INTEGER in 64 bits.
    decode_u64 -> u64, 8;
    /// A non-negative INTEGER in 128 bits.
    decode_u128 -> u128, 16;
}

/// BIT STRING, primitive (8.6): an octet that counts the unused bits, then the bits.
///
/// # Errors
/// [`ErrorKind::BitStringEmpty`], [`ErrorKind::BitStringUnused`], [`ErrorKind::BitStringUnusedEmpty`]; in DER
/// and CER [`ErrorKind::BitStringPadding`].
#[inline]
pub fn decode_bit_string(contents: &[u8], at: u64, rules: Rules) -> Result<BitStr<'_>> {
    let Some((&unused, bytes)) = contents.split_first() else {
        return Err(Error::new(ErrorKind::BitStringEmpty, at));
    };
    let Some(bits) = BitStr::new(bytes, unused) else {
        let kind = if unused > 7 { ErrorKind::BitStringUnused } else { ErrorKind::BitStringUnusedEmpty };
        return Err(Error::new(kind, at));
    };
    if rules != Rules::Ber && !bits.is_padded_with_zeros() {
        return Err(Error::new(ErrorKind::BitStringPadding, at.saturating_add(bytes.len() as u64)));
    }
    Ok(bits)
}

/// Checks that a BIT STRING with named bits has no zero bit at its end beyond `least` bits, and as many bits at least:
/// none in DER and CER, whatever its size (11.2.2); those that the size asks for in canonical PER (X.691 16.2, 16.3) and
/// canonical OER.
///
/// # Errors
/// [`ErrorKind::BitStringTrailingZero`]; [`ErrorKind::ConstraintViolated`] for fewer bits.
pub fn check_named_bits(bits: BitStr<'_>, least: usize, at: u64) -> Result<()> {
    if bits.len() < least {
        return Err(Error::new(ErrorKind::ConstraintViolated, at));
    }
    if bits.trimmed(least).len() == bits.len() {
        Ok(())
    } else {
        Err(Error::new(ErrorKind::BitStringTrailingZero, at))
    }
}

/// OBJECT IDENTIFIER (8.19).
///
/// # Errors
/// As [`OidRef::new`].
#[inline]
pub fn decode_oid(contents: &[u8], at: u64) -> Result<OidRef<'_>> {
    OidRef::new(contents, at)
}

/// RELATIVE-OID (8.20).
///
/// # Errors
/// As [`RelativeOidRef::new`].
#[inline]
pub fn decode_relative_oid(contents: &[u8], at: u64) -> Result<RelativeOidRef<'_>> {
    RelativeOidRef::new(contents, at)
}

/// REAL (8.5): bases 2, 8, 16 and 10, the special values; in DER and CER the normal form (11.3).
///
/// A mantissa of zero is refused: plus zero has no contents octets (8.5.2), minus zero has its own octet.
///
/// # Errors
/// [`ErrorKind::RealEncoding`], [`ErrorKind::RealDecimal`], [`ErrorKind::RealZero`],
/// [`ErrorKind::RealNotCanonical`]; [`ErrorKind::LimitExceeded`] for an exponent beyond 2^60.
pub fn decode_real(contents: &[u8], at: u64, rules: Rules) -> Result<Real<'_>> {
    let fault = |kind| Err(Error::new(kind, at));
    let Some((&first, rest)) = contents.split_first() else { return Ok(Real::Zero) };
    match first {
        0x80.. => decode_binary(first, rest, at, rules).map(Real::Binary),
        0x40..=0x43 if rest.is_empty() => Ok(match first {
            0x40 => Real::PlusInfinity,
            0x41 => Real::MinusInfinity,
            0x42 => Real::NotANumber,
            _ => Real::MinusZero,
        }),
        0x01..=0x03 => decode_decimal(first, rest, at, rules).map(Real::Decimal),
        _ => fault(ErrorKind::RealEncoding),
    }
}

fn decode_binary(first: u8, rest: &[u8], at: u64, rules: Rules) -> Result<Binary<'_>> {
    let fault = |kind| Error::new(kind, at);
    let base = match first >> 4 & 3 {
        0 => Base::Two,
        1 => Base::Eight,
        2 => Base::Sixteen,
        _ => return Err(fault(ErrorKind::RealEncoding)),
    };
    let scale = first >> 2 & 3;
    // 8.5.7.4: one to three octets, or as many as an octet says.
    let (length, rest, long) = match first & 3 {
        3 => {
            let Some((&length, rest)) = rest.split_first() else {
                return Err(fault(ErrorKind::RealEncoding));
            };
            (usize::from(length), rest, true)
        }
        n => (usize::from(n) + 1, rest, false),
    };
    let Some((exponent, mantissa)) = rest.split_at_checked(length) else {
        return Err(fault(ErrorKind::RealEncoding));
    };
    // 8.5.7.4 d: the first nine bits of the longest form shall not all be alike.
    if exponent.is_empty() || mantissa.is_empty() || (long && is_padded(exponent)) {
        return Err(fault(ErrorKind::RealEncoding));
    }
    if mantissa.iter().all(|octet| *octet == 0) {
        return Err(fault(ErrorKind::RealZero));
    }
    let canonical = base == Base::Two
        && scale == 0
        && !is_padded(exponent)
        && (!long || exponent.len() > 3)
        && mantissa.first().is_some_and(|octet| *octet != 0)
        && mantissa.last().is_some_and(|octet| octet & 1 == 1);
    if rules != Rules::Ber && !canonical {
        return Err(fault(ErrorKind::RealNotCanonical));
    }
    let exponent = decode_i64(exponent, at, Rules::Ber)
        .ok()
        .filter(|e| e.unsigned_abs() <= 1 << 60)
        .ok_or_else(|| fault(ErrorKind::LimitExceeded))?;
    Ok(Binary { negative: first & 0x40 != 0, base, scale, exponent, mantissa })
}

fn decode_decimal(form: u8, octets: &[u8], at: u64, rules: Rules) -> Result<Decimal<'_>> {
    let fault = |kind| Error::new(kind, at);
    let text = core::str::from_utf8(octets).map_err(|_| fault(ErrorKind::RealDecimal))?;
    let decimal = Decimal { form, text };
    let (negative, whole, fraction, exponent) = decimal.parts();
    let digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
    let has_mark = text.contains(['.', ',']);
    let has_exponent = text.contains(['E', 'e']);
    let exponent_digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    let valid = digits(whole)
        && digits(fraction)
        && digits(exponent_digits)
        && whole.len() + fraction.len() > 0
        && match form {
            1 => !has_mark && !has_exponent,
            2 => has_mark && !has_exponent,
            // ISO 6093 wants the mark, and senders leave it out.
            _ => has_exponent && !exponent_digits.is_empty(),
        };
    if !valid {
        return Err(fault(ErrorKind::RealDecimal));
    }
    if whole.bytes().chain(fraction.bytes()).all(|b| b == b'0') {
        return Err(fault(ErrorKind::RealZero));
    }
    if rules != Rules::Ber {
        // 11.3.2: `-15.E-1`, the exponent of zero is `+0`.
        let canonical = form == 3
            && !whole.starts_with('0')
            && !whole.ends_with('0')
            && fraction.is_empty()
            && text.contains(".E")
            && !text.starts_with(' ')
            && negative == text.starts_with(['-', '+'])
            && (exponent == "+0" || (!exponent.starts_with('+') && !exponent_digits.starts_with('0')));
        if !canonical {
            return Err(fault(ErrorKind::RealNotCanonical));
        }
    }
    let is_near = |exponent: i64| exponent.unsigned_abs() <= 1 << 60;
    if !exponent.is_empty() && !exponent.parse().is_ok_and(is_near) {
        return Err(fault(ErrorKind::LimitExceeded));
    }
    Ok(decimal)
}

/// The characters of a string type as UTF-8 (8.23); see [`crate::text`].
///
/// # Errors
/// [`ErrorKind::CharacterInvalid`], [`ErrorKind::CharacterTruncated`], [`ErrorKind::Utf8Invalid`],
/// [`ErrorKind::OidIriSyntax`].
#[inline]
pub fn decode_text(kind: StringKind, contents: &[u8], at: u64) -> Result<Cow<'_, str>> {
    crate::text::to_utf8(kind, contents, at)
}

/// UTCTime (8.25, 11.8).
///
/// # Errors
/// [`ErrorKind::UtcTimeSyntax`]; in DER and CER [`ErrorKind::UtcTimeNotCanonical`].
pub fn decode_utc_time(contents: &[u8], at: u64, rules: Rules) -> Result<UtcTime> {
    let time = UtcTime::parse(contents, at)?;
    if rules != Rules::Ber && !time.is_canonical() {
        return Err(Error::new(ErrorKind::UtcTimeNotCanonical, at));
    }
    Ok(time)
}

/// GeneralizedTime (8.25, 11.7).
///
/// # Errors
/// [`ErrorKind::GeneralizedTimeSyntax`]; in DER and CER [`ErrorKind::GeneralizedTimeNotCanonical`].
pub fn decode_generalized_time(contents: &[u8], at: u64, rules: Rules) -> Result<GeneralizedTime<'_>> {
    let time = GeneralizedTime::parse(contents, at)?;
    if rules != Rules::Ber && !time.is_canonical() {
        return Err(Error::new(ErrorKind::GeneralizedTimeNotCanonical, at));
    }
    Ok(time)
}

/// TIME and the useful time types (8.26) as the text of their value notation: `2021-02-28` for the octets
/// `20210228` of a DATE.
///
/// # Errors
/// [`ErrorKind::TimeSyntax`]; in DER and CER [`ErrorKind::TimeNotCanonical`].
pub fn decode_time(kind: TimeType, contents: &[u8], at: u64, rules: Rules) -> Result<Cow<'_, str>> {
    kind.decode(contents, at, rules != Rules::Ber)
}
