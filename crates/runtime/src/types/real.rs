//! REAL (X.680 clause 21), kept exactly as the encoding has it.

/// The base of a binary REAL (X.690 8.5.7.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Base {
    /// 2.
    Two,
    /// 8.
    Eight,
    /// 16.
    Sixteen,
}

impl Base {
    /// The power of two that the base is.
    #[must_use]
    pub const fn log2(self) -> u8 {
        match self {
            Self::Two => 1,
            Self::Eight => 3,
            Self::Sixteen => 4,
        }
    }
}

/// A binary REAL: ± mantissa × 2^scale × base^exponent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Binary<'a> {
    /// The sign.
    pub negative: bool,
    /// The base.
    pub base: Base,
    /// The binary scaling factor F, 0 to 3.
    pub scale: u8,
    /// The exponent, at most 2^60 either way.
    pub exponent: i64,
    /// The mantissa N, most significant octet first, not zero.
    pub mantissa: &'a [u8],
}

impl Binary<'_> {
    /// The power of two by which the mantissa is multiplied.
    #[must_use]
    pub fn exponent2(&self) -> i128 {
        i128::from(self.exponent) * i128::from(self.base.log2()) + i128::from(self.scale)
    }

    /// Whether an `f64` has the value exactly.
    #[must_use]
    pub fn is_f64(&self) -> bool {
        let mantissa = self.mantissa;
        let first = mantissa.iter().position(|octet| *octet != 0).unwrap_or(0);
        let last = mantissa.iter().rposition(|octet| *octet != 0).unwrap_or(0);
        if last.saturating_sub(first) > 7 {
            return false;
        }
        let word = mantissa.iter().take(last + 1).skip(first);
        let word = word.fold(0_u64, |word, octet| word << 8 | u64::from(*octet));
        let exponent = self.exponent2() + 8 * mantissa.len().saturating_sub(1 + last) as i128;
        let low = exponent + i128::from(word.trailing_zeros());
        let high = exponent + 64 - i128::from(word.leading_zeros());
        word != 0 && high - low <= 53 && low >= -1074 && high <= 1024
    }

    /// The nearest `f64`, ties to even.
    #[must_use]
    pub fn to_f64(&self) -> f64 {
        let zeros = self.mantissa.iter().take_while(|octet| **octet == 0).count();
        let digits = self.mantissa.get(zeros..).unwrap_or_default();
        let (top, rest) = digits.split_at_checked(16).unwrap_or((digits, &[]));
        let mantissa = top.iter().fold(0_u128, |m, octet| m << 8 | u128::from(*octet));
        let exponent = self.exponent2() + 8 * rest.len() as i128;
        let magnitude = nearest(mantissa, exponent, rest.iter().any(|octet| *octet != 0));
        if self.negative { -magnitude } else { magnitude }
    }
}

/// The `f64` nearest to `mantissa` × 2^`exponent`, where `sticky` says that a little more is to be added.
fn nearest(mantissa: u128, exponent: i128, sticky: bool) -> f64 {
    if mantissa == 0 {
        return 0.0;
    }
    let bits = 128 - i128::from(mantissa.leading_zeros());
    // The value is in [2^top, 2^(top + 1)).
    let top = bits - 1 + exponent;
    if top > 1023 {
        return f64::INFINITY;
    }
    if top < -1075 {
        return 0.0;
    }
    // Bits that the result has: 53, fewer below the normal range.
    let precision = if top >= -1022 { 53 } else { 53 - (-1022 - top) };
    let drop = bits - precision;
    let rounded = match u32::try_from(drop) {
        Err(_) => mantissa << drop.unsigned_abs(),
        Ok(0) => mantissa,
        Ok(drop) => {
            let kept = mantissa.checked_shr(drop).unwrap_or(0);
            let rest = mantissa - kept.checked_shl(drop).unwrap_or(0);
            let half = 1_u128 << (drop - 1);
            let up = rest > half || (rest == half && (sticky || kept & 1 == 1));
            kept + u128::from(up)
        }
    };
    let rounded = u64::try_from(rounded).unwrap_or(u64::MAX);
    // The implicit bit of a normal number carries into the exponent, as does a rounding overflow.
    let exponent = u64::try_from(top + 1022).unwrap_or(0);
    f64::from_bits((exponent << 52).saturating_add(rounded))
}

/// A decimal REAL: the text of ISO 6093 as it was encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Decimal<'a> {
    /// The form: 1, 2 or 3, for NR1 (`-3`), NR2 (`3.14`), NR3 (`3.14E2`).
    pub form: u8,
    /// The number, checked; the decimal mark is a comma or a full stop.
    pub text: &'a str,
}

impl<'a> Decimal<'a> {
    /// The nearest `f64`, ties to even.
    #[must_use]
    pub fn to_f64(&self) -> f64 {
        let text = self.text.trim_start_matches(' ');
        if text.contains(',') {
            text.replace(',', ".").parse().unwrap_or(f64::NAN)
        } else {
            text.parse().unwrap_or(f64::NAN)
        }
    }

    /// Sign, the digits before and after the decimal mark, and the digits of the exponent with its sign.
    pub(crate) fn parts(&self) -> (bool, &'a str, &'a str, &'a str) {
        let text = self.text.trim_start_matches(' ');
        let negative = text.starts_with('-');
        let text = text.strip_prefix(['+', '-']).unwrap_or(text);
        let (mantissa, exponent) = text.split_once(['E', 'e']).unwrap_or((text, ""));
        let (whole, fraction) = mantissa.split_once(['.', ',']).unwrap_or((mantissa, ""));
        (negative, whole, fraction, exponent)
    }
}

/// A REAL as its encoding has it, so that nothing is rounded before somebody asks.
///
/// ```
/// use tercet_runtime::ber::{decode_real, Rules};
/// let real = decode_real(&[0x80, 0xFF, 0x01], 0, Rules::Der)?;
/// assert_eq!(real.to_f64(), 0.5);
/// let real = decode_real(b"\x03314.E-2", 0, Rules::Der)?;
/// assert_eq!(real.to_f64(), 3.14);
/// # Ok::<(), tercet_runtime::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Real<'a> {
    /// Plus zero: no contents octets.
    Zero,
    /// Minus zero: `43`.
    MinusZero,
    /// PLUS-INFINITY: `40`.
    PlusInfinity,
    /// MINUS-INFINITY: `41`.
    MinusInfinity,
    /// NOT-A-NUMBER: `42`.
    NotANumber,
    /// A value of base 2, whatever base its encoding has.
    Binary(Binary<'a>),
    /// A value of base 10.
    Decimal(Decimal<'a>),
}

impl Real<'_> {
    /// The nearest `f64`, ties to even; infinities beyond its range.
    #[must_use]
    pub fn to_f64(&self) -> f64 {
        match self {
            Self::Zero => 0.0,
            Self::MinusZero => -0.0,
            Self::PlusInfinity => f64::INFINITY,
            Self::MinusInfinity => f64::NEG_INFINITY,
            Self::NotANumber => f64::NAN,
            Self::Binary(binary) => binary.to_f64(),
            Self::Decimal(decimal) => decimal.to_f64(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_to_nearest_even() {
        for (mantissa, exponent, sticky, want) in [
            (1_u128, 0, false, 1.0),
            (5, 1, false, 10.0),
            ((1 << 53) + 1, 0, false, 9_007_199_254_740_992.0),
            ((1 << 53) + 1, 0, true, 9_007_199_254_740_994.0),
            ((1 << 53) + 3, 0, false, 9_007_199_254_740_996.0),
            (u128::MAX, 0, true, 3.402823669209385e38),
            (1, -1074, false, 5e-324),
            (1, -1075, false, 0.0),
            (1, -1075, true, 5e-324),
            (3, -1075, false, 1e-323),
            (1, -1076, true, 0.0),
            ((1 << 53) - 1, -1074, false, f64::MIN_POSITIVE * 2.0 - 5e-324),
            ((1 << 54) - 1, -1076, false, f64::MIN_POSITIVE),
            ((1 << 53) - 1, 971, false, f64::MAX),
            ((1 << 54) - 1, 970, false, f64::INFINITY),
            (1, 1024, false, f64::INFINITY),
            (1, i128::from(i64::MAX), false, f64::INFINITY),
            (1 << 127, -127 - 1074, false, 5e-324),
        ] {
            let got = nearest(mantissa, exponent, sticky);
            assert_eq!(got.to_bits(), want.to_bits(), "{mantissa} × 2^{exponent} {sticky}: {got} {want}");
        }
    }

    #[test]
    fn agrees_with_every_exponent_of_f64() {
        for e in 0_u64..2047 {
            for m in [0, 1, 0x8_0000_0000_0000, 0xF_FFFF_FFFF_FFFF] {
                let v = f64::from_bits(e << 52 | m);
                let (mantissa, exponent) = if e == 0 { (m, -1074) } else { (m | 1 << 52, e as i128 - 1075) };
                assert_eq!(nearest(u128::from(mantissa), exponent, false).to_bits(), v.to_bits());
            }
        }
    }
}
