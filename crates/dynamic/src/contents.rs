//! Text to contents octets (X.690 clause 8): the way back from [`crate::leaf`], for all that make values.
//!
//! The errors say what the text should have been.

use crate::ErrorKind;
use crate::ber::check::check;
use crate::text::{decimal_parts, integer_octets, parse_integer};
use std::borrow::Cow;
use std::fmt;
use tercet_plan::shape::Key;
use tercet_plan::{Kind, NodeId, Shape};
use tercet_runtime::ber::{Rules, Writer, decode_real};
use tercet_runtime::text::from_utf8;
use tercet_runtime::types::{Base, Binary, BitStr, GeneralizedTime, Oid, Real, RelativeOid, UtcTime};

/// Why a text is no value of a type: what it should have been.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContentsError(Cow<'static, str>);

impl fmt::Display for ContentsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ContentsError {}

impl From<String> for ContentsError {
    fn from(text: String) -> Self {
        Self(text.into())
    }
}

impl From<&'static str> for ContentsError {
    fn from(text: &'static str) -> Self {
        Self(text.into())
    }
}

impl From<ContentsError> for String {
    fn from(error: ContentsError) -> Self {
        error.0.into_owned()
    }
}

/// Contents octets, or why there are none.
pub type Made<'a> = Result<Cow<'a, [u8]>, ContentsError>;

/// Contents of the types whose values are strings in every notation: character strings, times, object identifiers.
/// Nothing for other types.
pub fn of_text(kind: Kind, text: &str) -> Option<Made<'_>> {
    let fail = |error: tercet_runtime::Error| ContentsError::from(error.kind().message());
    let verbatim = || Cow::Borrowed(text.as_bytes());
    if let Some(string) = kind.string_kind() {
        return Some(from_utf8(string, text).map_err(fail));
    }
    if let Some(time) = kind.time_type() {
        return Some(time.encode(text, Rules::Ber).map_err(fail));
    }
    Some(match kind {
        Kind::UtcTime => UtcTime::parse(text.as_bytes(), 0).map(|_| verbatim()).map_err(fail),
        Kind::GeneralizedTime => GeneralizedTime::parse(text.as_bytes(), 0).map(|_| verbatim()).map_err(fail),
        Kind::ObjectIdentifier => {
            text.parse::<Oid>().map(|oid| Cow::Owned(oid.as_bytes().to_vec())).map_err(fail)
        }
        Kind::RelativeOid => {
            text.parse::<RelativeOid>().map(|oid| Cow::Owned(oid.as_bytes().to_vec())).map_err(fail)
        }
        _ => return None,
    })
}

/// Returns what is wrong with contents octets of a type in BER.
pub fn fault_of(kind: Kind, contents: &[u8]) -> Option<ErrorKind> {
    check(kind, contents, 0, Rules::Ber).err().map(|fault| fault.kind())
}

/// Contents of BOOLEAN.
pub const fn of_boolean(value: bool) -> &'static [u8] {
    if value { &[0xFF] } else { &[0] }
}

/// Contents of an INTEGER in decimal.
pub fn of_integer(text: &str) -> Result<Vec<u8>, ContentsError> {
    parse_integer(text).ok_or_else(|| "a decimal integer expected".into())
}

/// Contents of an ENUMERATED by the name of an item, or of an INTEGER by the name of a number.
pub fn of_item(shape: &Shape, node: NodeId, name: &str) -> Option<Vec<u8>> {
    let item = shape.items_of(node).iter().find(|item| shape.name(item.name) == name)?;
    Some(integer_octets(item.value))
}

/// Contents of a BIT STRING: octets of which `length` bits count; those behind have to be zero.
pub fn of_bits(octets: &[u8], length: u64) -> Result<Vec<u8>, ContentsError> {
    if length.div_ceil(8) != octets.len() as u64 {
        return Err(format!("{} bytes for {length} bits", octets.len()).into());
    }
    let unused = (octets.len() as u64 * 8 - length) as u8;
    match BitStr::new(octets, unused) {
        Some(bits) if bits.is_padded_with_zeros() => {}
        _ => return Err(format!("the {unused} bits after the last are not all zero").into()),
    }
    let mut contents = Vec::with_capacity(1 + octets.len());
    contents.push(unused);
    contents.extend_from_slice(octets);
    Ok(contents)
}

/// Contents of a BIT STRING in the digits 0 and 1.
pub fn of_bit_digits(digits: impl Iterator<Item = u8>) -> Option<Vec<u8>> {
    let mut contents = vec![0];
    let mut length = 0usize;
    for digit in digits {
        if !matches!(digit, b'0' | b'1') {
            return None;
        }
        if length.is_multiple_of(8) {
            contents.push(0);
        }
        if let Some(last) = contents.last_mut() {
            *last |= (digit - b'0') << (7 - length % 8);
        }
        length += 1;
    }
    contents[0] = (length.wrapping_neg() % 8) as u8;
    Some(contents)
}

/// Contents of a BIT STRING by the positions of the bits that are one, with `least` bits at least.
pub fn of_named_bits(positions: &[u64], least: usize) -> Vec<u8> {
    let length = positions.iter().max().map_or(0, |most| *most as usize + 1).max(least);
    let mut contents = vec![0; 1 + length.div_ceil(8)];
    contents[0] = (length.wrapping_neg() % 8) as u8;
    for position in positions {
        if let Some(octet) = contents.get_mut(1 + *position as usize / 8) {
            *octet |= 0x80 >> (position % 8);
        }
    }
    contents
}

/// Bits that names of bits may make: what is made from a few letters stays small.
const MAX_NAMED_BITS: u64 = 1 << 20;

/// Contents of a BIT STRING by the names of the bits that are one, with as many bits as the type requires at least.
pub fn of_bit_names<N: AsRef<str>>(
    shape: &Shape,
    node: NodeId,
    names: impl Iterator<Item = N>,
) -> Result<Vec<u8>, ContentsError> {
    let position = |name: N| {
        let name = name.as_ref();
        let item = shape.items_of(node).iter().find(|item| shape.name(item.name) == name);
        let position = item.and_then(|item| u64::try_from(item.value).ok());
        let position = position.filter(|position| *position < MAX_NAMED_BITS);
        position.ok_or_else(|| format!("no bit `{}` in this BIT STRING", crate::read_error::cut(name)))
    };
    let positions = names.map(position).collect::<Result<Vec<_>, _>>()?;
    Ok(of_named_bits(&positions, shape.least_size(node).min(MAX_NAMED_BITS as usize)))
}

/// Contents of a REAL: a decimal number or one of the special values `INF`, `-INF`, `NaN`, `-0`.
///
/// A number that a binary floating-point number prints is taken for that; others are kept exactly, in base 10.
pub fn of_real(text: &str) -> Result<Vec<u8>, ContentsError> {
    let mut writer = Writer::new(Rules::Der);
    match text {
        "INF" => writer.push_real(&Real::PlusInfinity),
        "-INF" => writer.push_real(&Real::MinusInfinity),
        "NaN" => writer.push_real(&Real::NotANumber),
        _ => {
            let mantissa = text.split(['e', 'E']).next().unwrap_or_default();
            let near = text.parse::<f64>().ok().filter(|near| near.is_finite() && *near != 0.0);
            let shortest = near.and_then(|near| decimal_parts(zmij::Buffer::new().format_finite(near)));
            if !mantissa.bytes().any(|o| matches!(o, b'1'..=b'9')) {
                let negative = text.starts_with('-');
                writer.push_real(if negative { &Real::MinusZero } else { &Real::Zero });
            } else if let Some(near) = near.filter(|_| shortest.is_some() && shortest == decimal_parts(text))
            {
                writer.push_f64(near);
            } else if decimal_parts(text).is_some() {
                writer
                    .push_decimal_text(text)
                    .map_err(|error| ContentsError::from(error.kind().message()))?;
            } else {
                return Err("a number, or an exponent of less than 64 bits, expected".into());
            }
        }
    }
    Ok(writer.finish().to_vec())
}

/// Contents of a REAL of base 10.
pub fn of_decimal_real(text: &str) -> Result<Vec<u8>, ContentsError> {
    let mut writer = Writer::new(Rules::Der);
    writer.push_decimal_text(text).map_err(|error| ContentsError::from(error.kind().message()))?;
    Ok(writer.finish().to_vec())
}

/// Contents of a REAL from the parts of its associated type (X.680 21.5): the mantissa in decimal.
pub fn of_real_parts(mantissa: &str, base: &str, exponent: &str) -> Result<Vec<u8>, ContentsError> {
    let exponent: i64 =
        exponent.parse().map_err(|_| "an exponent of less than 64 bits expected".to_owned())?;
    match base {
        "10" => of_decimal_real(&format!("{mantissa}e{exponent}")),
        "2" if exponent.unsigned_abs() <= 1 << 60 => {
            let negative = mantissa.starts_with('-');
            let octets = of_integer(mantissa.trim_start_matches('-'))?;
            let mut writer = Writer::new(Rules::Der);
            if octets.iter().any(|o| *o != 0) {
                let binary = Binary { negative, base: Base::Two, scale: 0, exponent, mantissa: &octets };
                writer.push_real(&Real::Binary(binary));
            }
            Ok(writer.finish().to_vec())
        }
        _ => Err("base 2 or 10 expected".into()),
    }
}

/// A REAL in the form of X.690 11.3, which PER and OER ask for (X.691 §15.2, X.696 §12.4).
pub fn normal_real<'w>(writer: &'w mut Writer, contents: &[u8]) -> Result<&'w [u8], tercet_runtime::Error> {
    if writer.rules() != Rules::Der {
        *writer = Writer::new(Rules::Der);
    }
    writer.clear();
    writer.push_real(&decode_real(contents, 0, Rules::Ber)?);
    Ok(writer.finish())
}

/// The key that contents octets are, for a table's rows.
pub fn key_of(kind: Kind, contents: &[u8]) -> Option<Key> {
    match kind {
        Kind::Integer | Kind::Enumerated => crate::leaf::small(contents).map(Key::Int),
        // Rows have the octet that DER has.
        Kind::Boolean => {
            Some(Key::Octets(contents.iter().map(|octet| if *octet == 0 { 0 } else { 0xFF }).collect()))
        }
        _ => Some(Key::Octets(contents.to_vec())),
    }
}
