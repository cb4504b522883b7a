//! REAL (X.697 clause 23).

use super::leaves::write_digits;
use super::strings::negated;
use super::{As, Form, Jer, Keys, Levels, Mismatch, Plain, Read, Said, Tree};
use crate::types::decimal;
use crate::types::{Base, Binary, ExactReal, Integer, Real};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use serde_core::Serializer;
use serde_core::ser::SerializeMap;

/// A number, or the word of a special value; one of base 10 as an object with it.
impl Jer for ExactReal<'_> {
    fn write_jer<S: Serializer>(&self, s: S, levels: Levels) -> Said<S> {
        if matches!(self.as_real(), Real::Decimal(_)) {
            let mut object = s.serialize_map(Some(1))?;
            object.serialize_entry("base10Value", &As::<_, Base10>::new(self, levels))?;
            return object.end();
        }
        Base10::write(self, s, levels)
    }

    fn read_jer(tree: &Tree<'_>, _: &Keys<'_>) -> Read<Self> {
        match tree {
            Tree::Text(word) => match &**word {
                "INF" => Ok(f64::INFINITY.into()),
                "-INF" => Ok(f64::NEG_INFINITY.into()),
                "NaN" => Ok(f64::NAN.into()),
                "-0" => Ok((-0.0).into()),
                _ => Err(no_real()),
            },
            Tree::Object(_) => of_object(tree).ok_or_else(no_real),
            Tree::Real(number) => Ok(Self::from(*number)),
            _ => tree.digits().and_then(|digits| Self::of_number(&digits).ok()).ok_or_else(no_real),
        }
    }
}

/// REAL that has to be of base 10 (X.697 23.4): its numbers are so.
#[derive(Clone, Copy, Debug)]
pub struct Base10;

impl Form<ExactReal<'_>> for Base10 {
    fn write<S: Serializer>(value: &ExactReal<'_>, s: S, _: Levels) -> Said<S> {
        match value.as_real() {
            Real::Zero => s.serialize_u8(0),
            Real::MinusZero => s.serialize_str("-0"),
            Real::PlusInfinity => s.serialize_str("INF"),
            Real::MinusInfinity => s.serialize_str("-INF"),
            Real::NotANumber => s.serialize_str("NaN"),
            Real::Binary(binary) if binary.is_f64() => s.serialize_f64(binary.to_f64()),
            Real::Binary(binary) => write_binary(&binary, s),
            Real::Decimal(decimal) => match (value.shortest(), decimal::parts(decimal.text)) {
                (Some(number), _) => s.serialize_f64(number),
                (None, Some((negative, digits, exponent))) => {
                    write_scientific(negative, &digits, exponent, s)
                }
                (None, None) => s.serialize_u8(0),
            },
        }
    }

    fn read(tree: &Tree<'_>, keys: &Keys<'_>) -> Read<ExactReal<'static>> {
        let text = match tree {
            Tree::Real(number) if number.is_finite() => format!("{number:e}").into(),
            _ => match tree.digits() {
                Some(digits) => digits,
                None => return ExactReal::read_jer(tree, keys),
            },
        };
        text.parse().map_err(|_| no_real())
    }
}

/// The base of an `f64` is not kept.
impl Form<f64> for Base10 {
    fn write<S: Serializer>(value: &f64, s: S, levels: Levels) -> Said<S> {
        Plain::write(value, s, levels)
    }

    fn read(tree: &Tree<'_>, keys: &Keys<'_>) -> Read<f64> {
        Plain::read(tree, keys)
    }
}

pub(super) fn no_real() -> Mismatch {
    Mismatch::new("a number, INF, -INF, NaN or -0 expected")
}

/// The digits of a number with its power of ten.
fn write_scientific<S: Serializer>(negative: bool, digits: &str, exponent: i64, s: S) -> Said<S> {
    let sign = if negative { "-" } else { "" };
    match exponent {
        0 => write_digits(&format!("{sign}{digits}"), s),
        _ => write_digits(&format!("{sign}{digits}e{exponent}"), s),
    }
}

/// A number of base 2 that is no `f64`: its digits, or the parts of its associated type (X.680 21.5) if these are many.
fn write_binary<S: Serializer>(binary: &Binary<'_>, s: S) -> Said<S> {
    if let Some((digits, exponent)) = decimal::digits(binary) {
        return write_scientific(binary.negative, &digits, exponent, s);
    }
    let mut mantissa = Vec::from([0]);
    mantissa.extend_from_slice(binary.mantissa);
    if binary.negative {
        mantissa = negated(&mantissa);
    }
    let mut object = s.serialize_map(Some(3))?;
    object.serialize_entry("mantissa", &As::<_, Plain>::new(&Integer::copied(&mantissa), Levels::NONE))?;
    object.serialize_entry("base", &2)?;
    object.serialize_entry(
        "exponent",
        &As::<_, Plain>::new(&Integer::from(binary.exponent2()), Levels::NONE),
    )?;
    object.end()
}

/// The objects that numbers of base 10, and those out of proportion, are.
fn of_object(tree: &Tree<'_>) -> Option<ExactReal<'static>> {
    if let Some([number]) = tree.only(["base10Value"]) {
        return match number {
            Tree::Text(digits) => digits.parse().ok(),
            _ => Base10::read(number, &Keys::NONE).ok(),
        };
    }
    let [mantissa, base, exponent] = tree.only(["mantissa", "base", "exponent"])?;
    let exponent = i64::try_from(&Integer::copied(&exponent.whole()?)).ok()?;
    let (mantissa, base) = (mantissa.whole()?, &Integer::copied(&base.whole()?));
    match i64::try_from(base) {
        Ok(2) if exponent.unsigned_abs() <= 1 << 60 => {
            let negative = mantissa.first().is_some_and(|octet| octet & 0x80 != 0);
            let mantissa = if negative { negated(&mantissa) } else { mantissa.into_owned() };
            if mantissa.iter().all(|octet| *octet == 0) {
                return Some(ExactReal::ZERO);
            }
            let binary = Binary { negative, base: Base::Two, scale: 0, exponent, mantissa: &mantissa };
            Some((&Real::Binary(binary)).into())
        }
        Ok(10) => {
            let mut digits = Vec::new();
            decimal::push_integer(&mut digits, &mantissa);
            format!("{}e{exponent}", String::from_utf8_lossy(&digits)).parse().ok()
        }
        _ => None,
    }
}
