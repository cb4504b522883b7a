//! REAL as a component of generated types.

use super::real::{Base, Binary, Real};
use super::{INLINE, Octets};
use crate::ber::{Rules, Writer, decode_real};
use crate::{Error, Result};
use alloc::borrow::Cow;
use alloc::format;
use core::fmt;
use core::hash::{Hash, Hasher};
use core::str::FromStr;

/// A REAL (X.680 clause 21) as it was encoded, so that it is written again by the same octets: 24 octets of memory.
///
/// Values of base 10 and of base 2 are not the same, whatever number they are; the way that either was encoded does
/// not matter. NOT-A-NUMBER is equal to itself, minus zero is not zero.
///
/// ```
/// use tercet_runtime::types::ExactReal;
/// let half = ExactReal::from(0.5);
/// assert_eq!(f64::from(&half), 0.5);
/// let tenth: ExactReal<'_> = "0.1".parse()?;
/// assert_eq!(tenth.as_bytes(), b"\x031.E-1");
/// assert_ne!(tenth, ExactReal::from(0.1));
/// assert_eq!(tenth.to_f64(), 0.1);
/// # Ok::<(), tercet_runtime::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct ExactReal<'a>(Octets<'a>);

impl<'a> ExactReal<'a> {
    /// Zero.
    pub const ZERO: Self = Self(Octets::borrowed(&[]));

    /// Checks contents octets (X.690 8.5) that start at the absolute offset `at`.
    ///
    /// # Errors
    /// As [`decode_real`].
    pub fn new(contents: impl Into<Octets<'a>>, at: u64, rules: Rules) -> Result<Self> {
        let contents = contents.into();
        decode_real(&contents, at, rules)?;
        Ok(Self(contents))
    }

    /// Contents octets that are known: one that is made when the program is compiled. Those of no REAL are NOT-A-NUMBER.
    #[must_use]
    pub const fn constant(contents: &'a [u8]) -> Self {
        Self(Octets::borrowed(contents))
    }

    /// A number in decimal: of base 2 if a binary floating-point number prints it, else of base 10.
    #[cfg(feature = "serde")]
    pub(crate) fn of_number(text: &str) -> Result<Self> {
        let exact: Self = text.parse()?;
        Ok(exact.shortest().map_or(exact, Self::from))
    }

    /// The contents octets (X.690 8.5).
    #[inline]
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_slice()
    }

    /// The parts of the value.
    #[must_use]
    pub fn as_real(&self) -> Real<'_> {
        decode_real(&self.0, 0, Rules::Ber).unwrap_or(Real::NotANumber)
    }

    /// The nearest `f64`, ties to even; infinities beyond its range.
    #[must_use]
    pub fn to_f64(&self) -> f64 {
        self.as_real().to_f64()
    }

    /// The contents octets in the normal form (X.690 11.3), which DER, PER and OER have.
    #[must_use]
    pub fn normal(&self) -> Cow<'_, [u8]> {
        if decode_real(&self.0, 0, Rules::Der).is_ok() {
            return Cow::Borrowed(&self.0);
        }
        let mut w = Writer::new(Rules::Der);
        w.push_real(&self.as_real());
        Cow::Owned(w.into_vec())
    }

    /// The same value without a borrow.
    #[must_use]
    pub fn into_owned(self) -> ExactReal<'static> {
        ExactReal(self.0.into_owned())
    }

    /// The finite `f64` that prints a value of base 10 as it is, if there is one.
    pub(crate) fn shortest(&self) -> Option<f64> {
        let near = match self.as_real() {
            Real::Decimal(decimal) => decimal.to_f64(),
            _ => return None,
        };
        let is_shown =
            || format!("{near:e}").parse::<Self>().is_ok_and(|shown| shown.as_bytes() == &*self.normal());
        (near.is_finite() && is_shown()).then_some(near)
    }
}

/// The value of base 2, exactly.
impl From<f64> for ExactReal<'_> {
    fn from(value: f64) -> Self {
        let mut kept = [0; INLINE];
        let special = match value {
            _ if value.is_nan() => Some(0x42),
            f64::INFINITY => Some(0x40),
            f64::NEG_INFINITY => Some(0x41),
            0.0 if value.is_sign_negative() => Some(0x43),
            0.0 => return Self::ZERO,
            _ => None,
        };
        if let Some(octet) = special {
            kept[0] = octet;
            return Self(Octets::inline(1, kept));
        }
        let bits = value.to_bits();
        let (fraction, biased) = (bits & ((1 << 52) - 1), bits >> 52 & 0x7FF);
        let (mantissa, exponent) =
            if biased == 0 { (fraction, -1074) } else { (fraction | 1 << 52, biased.cast_signed() - 1075) };
        // 11.3.1: an odd mantissa, and both numbers in the fewest octets.
        let zeros = mantissa.trailing_zeros();
        let (mantissa, exponent) = (mantissa >> zeros, exponent + i64::from(zeros));
        let long = i8::try_from(exponent).is_err();
        let [.., high, low] = exponent.to_be_bytes();
        let head = [0x80 | if value < 0.0 { 0x40 } else { 0 } | u8::from(long)];
        let exponent: &[u8] = if long { &[high, low] } else { &[low] };
        let octets = mantissa.to_be_bytes();
        let octets = octets.get((mantissa.leading_zeros() / 8) as usize..).unwrap_or_default();
        let mut length = 0;
        for (place, octet) in kept.iter_mut().zip(head.iter().chain(exponent).chain(octets)) {
            *place = *octet;
            length += 1;
        }
        Self(Octets::inline(length, kept))
    }
}

impl From<f32> for ExactReal<'_> {
    fn from(value: f32) -> Self {
        f64::from(value).into()
    }
}

/// As [`ExactReal::to_f64`].
impl From<&ExactReal<'_>> for f64 {
    fn from(value: &ExactReal<'_>) -> Self {
        value.to_f64()
    }
}

/// The parts in the normal form.
impl From<&Real<'_>> for ExactReal<'_> {
    fn from(value: &Real<'_>) -> Self {
        let mut w = Writer::new(Rules::Der);
        w.push_real(value);
        Self(w.into_vec().into())
    }
}

/// Reads a number of base 10, as `-3.14` or `314e-2`; zero, which has no base, too.
impl FromStr for ExactReal<'_> {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let mut w = Writer::new(Rules::Der);
        w.push_decimal_text(text)?;
        Ok(Self(w.into_vec().into()))
    }
}

impl PartialEq for ExactReal<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0 || self.normal() == other.normal()
    }
}

impl Eq for ExactReal<'_> {}

impl Hash for ExactReal<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.normal().hash(state);
    }
}

/// In value notation (X.680 21.6).
impl fmt::Display for ExactReal<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.as_real() {
            Real::Zero => f.write_str("0"),
            Real::MinusZero => f.write_str("-0"),
            Real::PlusInfinity => f.write_str("PLUS-INFINITY"),
            Real::MinusInfinity => f.write_str("MINUS-INFINITY"),
            Real::NotANumber => f.write_str("NOT-A-NUMBER"),
            Real::Binary(binary) if binary.is_f64() => write!(f, "{:?}", binary.to_f64()),
            Real::Binary(_) => match decode_real(&self.normal(), 0, Rules::Der) {
                Ok(Real::Binary(binary)) => parts(&binary, f),
                _ => fmt::Display::fmt(&self.0, f),
            },
            Real::Decimal(_) => match (self.shortest(), core::str::from_utf8(&self.normal())) {
                (Some(number), _) => write!(f, "{number:?}"),
                (None, Ok(normal)) => match normal.trim_start_matches('\u{3}').split_once(".E") {
                    Some((digits, "+0")) => f.write_str(digits),
                    Some((digits, exponent)) => write!(f, "{digits}e{exponent}"),
                    None => fmt::Display::fmt(&self.0, f),
                },
                (None, Err(_)) => fmt::Display::fmt(&self.0, f),
            },
        }
    }
}

/// A number with more bits than an `f64` has as a value of the associated type (X.680 21.5).
fn parts(binary: &Binary<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    debug_assert!(binary.base == Base::Two);
    let sign = if binary.negative { "-" } else { "" };
    f.write_str("{mantissa ")?;
    match binary.mantissa {
        digits if digits.len() <= 16 => {
            let number = digits.iter().fold(0_u128, |number, octet| number << 8 | u128::from(*octet));
            write!(f, "{sign}{number}")?;
        }
        digits => write!(f, "{sign}{}", Octets::borrowed(digits))?,
    }
    write!(f, ", base 2, exponent {}}}", binary.exponent2())
}

impl fmt::Debug for ExactReal<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    fn real(contents: &[u8]) -> ExactReal<'_> {
        ExactReal::new(contents, 0, Rules::Ber).unwrap()
    }

    #[test]
    fn numbers_of_the_machine_are_in_the_normal_form() {
        let mut numbers = std::vec![0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, f64::MAX, 5e-324];
        for exponent in 0..2047_u64 {
            for fraction in [0, 1, 0x8_0000_0000_0000, 0xF_FFFF_FFFF_FFFF, 0x1_2340_0000_0000] {
                numbers.push(f64::from_bits(exponent << 52 | fraction));
                numbers.push(-f64::from_bits(exponent << 52 | fraction));
            }
        }
        for number in numbers {
            let mut w = Writer::new(Rules::Der);
            w.push_f64(number);
            let exact = ExactReal::from(number);
            assert_eq!(exact.as_bytes(), w.finish(), "{number:e}");
            assert!(exact.to_f64().to_bits() == number.to_bits() || number.is_nan());
            assert_eq!(exact.normal(), exact.as_bytes());
        }
    }

    #[test]
    fn one_value_has_one_normal_form() {
        // 8.5.7: ten as 5 × 2^1, as 10 × 2^0, in base 8 as 10 × 8^0, in base 16 as 5 × 2^1 × 16^0, a long exponent.
        let ten: [&[u8]; 6] = [
            &[0x80, 0x01, 0x05],
            &[0x80, 0x00, 0x0A],
            &[0x90, 0x00, 0x0A],
            &[0xA4, 0x00, 0x05],
            &[0x83, 0x01, 0x00, 0x0A],
            &[0x81, 0x00, 0x00, 0x00, 0x0A],
        ];
        for a in ten {
            assert_eq!(real(a).normal(), &[0x80, 0x01, 0x05][..]);
            assert_eq!(real(a), ExactReal::from(10.0));
            assert_eq!(real(a).as_bytes(), a, "and is kept as it came");
        }
        let decimal: [&[u8]; 7] =
            [b"\x0110", b"\x01 +10", b"\x0210.", b"\x0210,0", b"\x031.E1", b"\x030.1E+2", b"\x03100E-1"];
        for a in decimal {
            assert_eq!(&*real(a).normal(), b"\x031.E1");
            assert_eq!(real(a), real(b"\x031.E1"));
            assert_eq!(f64::from(&real(a)), 10.0);
            assert_ne!(real(a), ExactReal::from(10.0), "another base is another value");
        }
        assert_eq!(&*real(b"\x01-7").normal(), b"\x03-7.E+0");
        assert_eq!(ExactReal::from(f64::NAN), ExactReal::from(-f64::NAN));
        assert_ne!(ExactReal::from(0.0), ExactReal::from(-0.0));
    }

    #[test]
    fn shown_in_value_notation() {
        let more_bits = [0x80, 0x00, 0x80, 0, 0, 0, 0, 0, 0, 1];
        let longer = [&[0x80_u8, 0x01][..], &[0xFF; 20]].concat();
        for (contents, shown) in [
            (&[][..], "0"),
            (&[0x40], "PLUS-INFINITY"),
            (&[0x41], "MINUS-INFINITY"),
            (&[0x42], "NOT-A-NUMBER"),
            (&[0x43], "-0"),
            (&[0xC0, 0xFF, 0x03], "-1.5"),
            (&more_bits, "{mantissa 9223372036854775809, base 2, exponent 0}"),
            (&longer, "{mantissa 'FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF'H, base 2, exponent 1}"),
            (b"\x0210,50", "10.5"),
            (b"\x031.E400", "1e400"),
            (b"\x03-12345678901234567890.E+0", "-1234567890123456789e1"),
            (b"\x0112345678901234567891", "12345678901234567891"),
        ] {
            assert_eq!(real(contents).to_string(), shown, "{contents:02X?}");
        }
    }
}
