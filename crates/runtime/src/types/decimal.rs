//! Numbers of any size as decimal digits (feature `decimal`), which every notation in text has for INTEGER.
//!
//! Both ways split numbers by powers of ten, so that a megabyte, which is a valid INTEGER, takes no quadratic time.

use super::Binary;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use num_bigint::{BigInt, BigUint, Sign};

/// Appends an integer given as two's complement octets in decimal.
pub fn push_integer(out: &mut Vec<u8>, octets: &[u8]) {
    let number = BigInt::from_signed_bytes_be(octets);
    if number.sign() == Sign::Minus {
        out.push(b'-');
    }
    let number = number.magnitude();
    if number.bits() < DIRECT_BITS {
        out.extend_from_slice(number.to_string().as_bytes());
        return;
    }
    // powers[i] = 10^(DIRECT_DIGITS * 2^i)
    let mut powers = vec![BigUint::from(10_u8).pow(DIRECT_DIGITS)];
    while let Some(last) = powers.last() {
        if last.bits() * 2 > number.bits() + 1 {
            break;
        }
        powers.push(last * last);
    }
    push_halves(out, number.clone(), &powers, false);
}

/// Reads a decimal integer into two's complement octets, the fewest.
///
/// Gives nothing for text that is no integer, has superfluous zeros, or is longer than a million digits.
#[must_use]
pub fn parse_integer(text: &str) -> Option<Vec<u8>> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (Sign::Minus, digits),
        None => (Sign::Plus, text),
    };
    let superfluous = digits.len() > 1 && digits.starts_with('0');
    let valid = !digits.is_empty()
        && digits.len() <= MAX_DIGITS
        && !superfluous
        && digits.bytes().all(|digit| digit.is_ascii_digit());
    valid.then(|| BigInt::from_biguint(sign, number_of(digits)).to_signed_bytes_be())
}

/// Reads an integer as a JSON number into two's complement octets: `1.0` and `1e2` are integers too, 1.5 is none.
///
/// Gives nothing for anything else, and for powers of ten above 1000.
#[must_use]
pub fn parse_whole(text: &str) -> Option<Vec<u8>> {
    if let Some(octets) = parse_integer(text) {
        return Some(octets);
    }
    let mantissa = text.split(['e', 'E']).next().unwrap_or_default();
    if !mantissa.bytes().any(|octet| matches!(octet, b'1'..=b'9')) {
        return Some(vec![0]);
    }
    let (negative, digits, exponent) = parts(text)?;
    let zeros = usize::try_from(exponent).ok().filter(|zeros| *zeros <= 1000)?;
    let sign = if negative { "-" } else { "" };
    parse_integer(&format!("{sign}{digits}{}", "0".repeat(zeros)))
}

/// The digits of a binary number and their power of ten, without zeros at their end; nothing if there are too many.
#[must_use]
pub fn digits(binary: &Binary<'_>) -> Option<(String, i64)> {
    let exponent = binary.exponent2();
    let power = u32::try_from(exponent.unsigned_abs()).ok().filter(|power| *power <= MAX_REAL_BITS)?;
    let mantissa = BigUint::from_bytes_be(binary.mantissa);
    if mantissa.bits() > u64::from(MAX_REAL_BITS) {
        return None;
    }
    // n × 2^-e = n × 5^e × 10^-e
    let (number, power) = match exponent {
        0.. => (mantissa << power, 0),
        _ => (mantissa * BigUint::from(5_u8).pow(power), -i64::from(power)),
    };
    let digits = number.to_string();
    let significant = digits.trim_end_matches('0');
    let zeros = i64::try_from(digits.len() - significant.len()).ok()?;
    Some((significant.into(), power + zeros))
}

/// Bits that a binary number with a decimal form may have.
const MAX_REAL_BITS: u32 = 20_000;

/// A decimal number as sign, digits without zeros at either end, and power of ten; nothing for zero and for text that
/// is no number. Takes ISO 6093 (spaces before, comma) and JSON alike.
#[must_use]
pub fn parts(text: &str) -> Option<(bool, String, i64)> {
    let text = text.trim_start_matches(' ');
    let (negative, text) = match text.strip_prefix('-') {
        Some(text) => (true, text),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i64>().ok()?),
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once(['.', ',']).unwrap_or((mantissa, ""));
    let mut digits = String::with_capacity(whole.len() + fraction.len());
    digits.push_str(whole);
    digits.push_str(fraction);
    if digits.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let exponent = exponent.checked_sub(i64::try_from(fraction.len()).ok()?)?;
    let trimmed = digits.trim_end_matches('0');
    let exponent = exponent.checked_add(i64::try_from(digits.len() - trimmed.len()).ok()?)?;
    let significant = trimmed.trim_start_matches('0');
    (!significant.is_empty()).then(|| (negative, significant.to_string(), exponent))
}

/// What a decimal integer may have for digits: 415 KB of contents octets.
const MAX_DIGITS: usize = 1_000_000;

/// Numbers below are converted by the library, whose own conversion takes quadratic time.
const DIRECT_BITS: u64 = 4096;
const DIRECT_DIGITS: u32 = 1024;

fn push_halves(out: &mut Vec<u8>, number: BigUint, powers: &[BigUint], pad: bool) {
    let Some((power, lower)) = powers.split_last() else {
        let digits = number.to_string();
        if pad {
            out.resize(out.len() + (DIRECT_DIGITS as usize).saturating_sub(digits.len()), b'0');
        }
        out.extend_from_slice(digits.as_bytes());
        return;
    };
    if !pad && number < *power {
        return push_halves(out, number, lower, false);
    }
    let low = &number % power;
    push_halves(out, number / power, lower, pad);
    push_halves(out, low, lower, true);
}

fn number_of(digits: &str) -> BigUint {
    let mut chunk = DIRECT_DIGITS;
    if digits.len() <= chunk as usize {
        return digits.parse().unwrap_or_default();
    }
    // The low part has 1024 * 2^i digits, the same power of ten for both halves of a level below.
    while (chunk as usize) * 2 < digits.len() {
        chunk *= 2;
    }
    let (high, low) = digits.split_at(digits.len() - chunk as usize);
    number_of(high) * BigUint::from(10_u8).pow(chunk) + number_of(low)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways() {
        for digits in [1, 19, 20, 1024, 1025, 5000, 20_000] {
            let text = format!("-9{}", &"9876543210".repeat(digits / 10 + 1)[..digits]);
            let octets = parse_integer(&text).unwrap();
            let mut again = Vec::new();
            push_integer(&mut again, &octets);
            assert_eq!(String::from_utf8(again).unwrap(), text);
        }
        for text in ["", "-", "+1", "01", "1.5", "0x1", " 1"] {
            assert_eq!(parse_integer(text), None, "{text}");
        }
    }

    #[test]
    fn whole_numbers() {
        for (text, octets) in [
            ("1.0", Some(&[1][..])),
            ("1e2", Some(&[100])),
            ("-2.50e1", Some(&[0xE7])),
            ("-0", Some(&[0])),
            ("0.0e9999999999999", Some(&[0])),
            ("1.5", None),
            ("1e1001", None),
        ] {
            assert_eq!(parse_whole(text).as_deref(), octets, "{text}");
        }
    }
}
