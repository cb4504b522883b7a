//! How values look as text: hexadecimal, base64, bits, integers and reals, the same in JSON, XML and CSV.

use crate::leaf::Scalar;
use crate::words::{self, Short};
pub use tercet_runtime::types::decimal::parts as decimal_parts;
use tercet_runtime::types::{Binary, BitStr, Decimal, Real, decimal};

/// How octets are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Octets {
    /// Hexadecimal with A to F, the standard's form (X.697 clause 25, X.680 12.14).
    #[default]
    UpperHex,
    /// Hexadecimal with a to f.
    LowerHex,
    /// Base64 with padding (RFC 4648 clause 4).
    Base64,
}

/// Appends octets in the given form.
#[inline]
pub fn push_octets(out: &mut Vec<u8>, octets: &[u8], form: Octets) {
    match form {
        Octets::UpperHex => push_hex(out, octets, true),
        Octets::LowerHex => push_hex(out, octets, false),
        Octets::Base64 => push_base64(out, octets),
    }
}

#[inline]
fn push_hex(out: &mut Vec<u8>, octets: &[u8], upper: bool) {
    for octets in octets.chunks(8) {
        if let Some(digits) = short_hex(octets, upper) {
            digits.push(out);
        }
    }
}

/// Returns up to eight octets in hexadecimal.
#[inline(always)]
pub(crate) fn short_hex(octets: &[u8], upper: bool) -> Option<Short> {
    let digits = &DIGITS[usize::from(upper)];
    let of_four = |octets: u32| {
        let [a, b, c, d] = octets.to_le_bytes().map(|octet| u64::from(digits[usize::from(octet)]));
        a | b << 16 | c << 32 | d << 48
    };
    let word = words::word(octets, 0)?;
    // Dates, times, codes: half of the work.
    let high = if octets.len() <= 4 { 0 } else { of_four((word >> 32) as u32) };
    Some(Short::new([of_four(word as u32), high], 2 * octets.len()))
}

/// The two hexadecimal digits of each octet, the first one in the low octet: lower and upper case.
static DIGITS: [[u16; 256]; 2] = [digits(b"0123456789abcdef"), digits(b"0123456789ABCDEF")];

const fn digits(digits: &[u8; 16]) -> [u16; 256] {
    let mut pairs = [0; 256];
    let mut octet = 0;
    while octet < 256 {
        pairs[octet] = u16::from_le_bytes([digits[octet >> 4], digits[octet & 0xF]]);
        octet += 1;
    }
    pairs
}

/// Appends octets in hexadecimal between quotation marks.
#[inline]
pub(crate) fn push_quoted_hex(out: &mut Vec<u8>, octets: &[u8], upper: bool) {
    out.push(b'"');
    push_hex(out, octets, upper);
    out.push(b'"');
}

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

fn push_base64(out: &mut Vec<u8>, octets: &[u8]) {
    for chunk in octets.chunks(3) {
        let at = |i: usize| u32::from(chunk.get(i).copied().unwrap_or(0));
        let word = at(0) << 16 | at(1) << 8 | at(2);
        for i in 0..4 {
            let digit = BASE64[(word >> (18 - 6 * i) & 63) as usize];
            out.push(if i > chunk.len() { b'=' } else { digit });
        }
    }
}

/// Reads octets in the given form; hexadecimal digits of either case, white space in between is not allowed.
pub fn parse_octets(text: &str, form: Octets) -> Option<Vec<u8>> {
    match form {
        Octets::Base64 => parse_base64(text.as_bytes()),
        Octets::UpperHex | Octets::LowerHex => parse_hex(text.as_bytes()),
    }
}

/// Reads pairs of hexadecimal digits.
pub fn parse_hex(digits: &[u8]) -> Option<Vec<u8>> {
    let (pairs, rest) = digits.as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    pairs.iter().map(|&[high, low]| Some(hex_digit(high)? << 4 | hex_digit(low)?)).collect()
}

pub(crate) const fn hex_digit(digit: u8) -> Option<u8> {
    Some(match digit {
        b'0'..=b'9' => digit - b'0',
        b'a'..=b'f' => digit - b'a' + 10,
        b'A'..=b'F' => digit - b'A' + 10,
        _ => return None,
    })
}

fn parse_base64(text: &[u8]) -> Option<Vec<u8>> {
    let (chunks, rest) = text.as_chunks::<4>();
    if !rest.is_empty() {
        return None;
    }
    let mut out = Vec::with_capacity(chunks.len() * 3);
    for (i, chunk) in chunks.iter().enumerate() {
        let last = i + 1 == chunks.len();
        let length = match chunk {
            [_, _, b'=', b'='] if last => 1,
            [_, _, _, b'='] if last => 2,
            _ => 3,
        };
        let mut word = 0;
        for (at, letter) in chunk.iter().enumerate() {
            let digit = if at > length { 0 } else { BASE64.iter().position(|l| l == letter)? as u32 };
            word = word << 6 | digit;
        }
        let octets = word.to_be_bytes();
        if octets[1 + length..].iter().any(|o| *o != 0) {
            return None;
        }
        out.extend_from_slice(&octets[1..=length]);
    }
    Some(out)
}

/// The path of a part: names with dots between them.
pub fn join_path(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { [path, ".", name].concat() }
}

/// Appends bits as 0 and 1 (X.680 12.10 without the quotes).
pub fn push_bits(out: &mut Vec<u8>, bits: BitStr<'_>) {
    out.extend(bits.iter().map(|bit| b'0' + u8::from(bit)));
}

/// Appends a value as one text, with nothing around it: what a column of a table shows.
pub fn push_scalar(out: &mut Vec<u8>, value: &Scalar<'_>, form: Octets) {
    match value {
        Scalar::Boolean(value) => out.extend_from_slice(if *value { b"true" } else { b"false" }),
        // Present: all that there is to say of a NULL.
        Scalar::Null => out.extend_from_slice(b"true"),
        Scalar::Integer(number) | Scalar::Enumerated(number, None) => push_integer(out, *number),
        Scalar::BigInteger(octets) => push_big_integer(out, octets),
        Scalar::Enumerated(_, Some(name)) => out.extend_from_slice(name.as_bytes()),
        Scalar::Addition(number) => out.extend_from_slice(format!("addition {number}").as_bytes()),
        Scalar::Real(real) => match push_real(out, real) {
            RealText::Number => {}
            RealText::Word(word) => out.extend_from_slice(word.as_bytes()),
            RealText::Parts => push_real_parts(out, real),
        },
        Scalar::BitString(bits) => push_bits(out, *bits),
        Scalar::OctetString(octets) | Scalar::Open(octets) | Scalar::Raw(octets) => {
            push_octets(out, octets, form)
        }
        Scalar::ObjectIdentifier(oid) => out.extend_from_slice(oid.to_string().as_bytes()),
        Scalar::RelativeOid(oid) => out.extend_from_slice(oid.to_string().as_bytes()),
        Scalar::Text(text) | Scalar::Time(text) => out.extend_from_slice(text.as_bytes()),
    }
}

/// Appends an integer in decimal.
#[inline]
pub fn push_integer(out: &mut Vec<u8>, number: i64) {
    match short_integer(number) {
        Some(digits) => digits.push(out),
        None => out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes()),
    }
}

/// Returns an integer in decimal, if it has up to 16 digits.
#[inline(always)]
pub(crate) fn short_integer(number: i64) -> Option<Short> {
    match number {
        0..=9 => Some(Short::new([u64::from(b'0') + number as u64, 0], 1)),
        _ => words::short(itoa::Buffer::new().format(number).as_bytes()),
    }
}

/// Appends an integer given as two's complement octets in decimal.
pub fn push_big_integer(out: &mut Vec<u8>, octets: &[u8]) {
    if octets.len() <= 16 {
        let sign = if octets.first().is_some_and(|o| *o > 0x7F) { -1 } else { 0 };
        let number = octets.iter().fold(sign, |value: i128, octet| value << 8 | i128::from(*octet));
        out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
    } else {
        decimal::push_integer(out, octets);
    }
}

/// Reads a decimal integer into two's complement octets, the fewest.
///
/// Gives nothing for text that is no integer, has superfluous zeros, or is longer than a million digits.
pub fn parse_integer(text: &str) -> Option<Vec<u8>> {
    if let Ok(number) = text.parse::<i64>() {
        let digits = text.strip_prefix('-').unwrap_or(text);
        let superfluous = digits.len() > 1 && digits.starts_with('0') || text.starts_with('+');
        return (!superfluous).then(|| integer_octets(number));
    }
    decimal::parse_integer(text)
}

/// The contents octets of an INTEGER (X.690 8.3).
pub(crate) fn integer_octets(number: i64) -> Vec<u8> {
    let octets = number.to_be_bytes();
    octets[octets.len() - integer_length(number)..].to_vec()
}

fn integer_length(number: i64) -> usize {
    // The sign bit and the bits that differ from it.
    let bits = 65 - if number < 0 { (!number).leading_zeros() } else { number.leading_zeros() };
    bits.div_ceil(8) as usize
}

/// Appends a finite REAL as a JSON number (RFC 8259 clause 6), the shortest that reads back as the same value; gives the
/// word of a special value instead (X.697 clause 23): `-0`, `INF`, `-INF`, `NaN`. A binary number whose exact
/// decimal form is out of proportion gives [`RealText::Parts`] and appends nothing.
pub(crate) fn push_real(out: &mut Vec<u8>, real: &Real<'_>) -> RealText {
    match real {
        Real::Zero => out.push(b'0'),
        Real::MinusZero => return RealText::Word("-0"),
        Real::PlusInfinity => return RealText::Word("INF"),
        Real::MinusInfinity => return RealText::Word("-INF"),
        Real::NotANumber => return RealText::Word("NaN"),
        Real::Binary(binary) => return push_binary(out, binary),
        Real::Decimal(decimal) => push_decimal_real(out, decimal),
    }
    RealText::Number
}

/// What [`push_real`] did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RealText {
    /// Appended a number.
    Number,
    /// A special value; nothing was appended.
    Word(&'static str),
    /// Too large for positional decimal digits; nothing was appended.
    Parts,
}

/// Appends a binary REAL too large for positional digits as JSON of its associated type (X.680 21.5).
pub(crate) fn push_real_parts(out: &mut Vec<u8>, real: &Real<'_>) {
    let Real::Binary(binary) = real else { return };
    out.extend_from_slice(b"{\"mantissa\":");
    push_mantissa(out, binary);
    out.extend_from_slice(format!(",\"base\":2,\"exponent\":{}}}", binary.exponent2()).as_bytes());
}

/// Appends the mantissa of a binary REAL as a decimal number.
pub(crate) fn push_mantissa(out: &mut Vec<u8>, binary: &Binary<'_>) {
    if binary.negative {
        out.push(b'-');
    }
    // A zero octet before it, as the mantissa has no sign.
    let mut mantissa = vec![0];
    mantissa.extend_from_slice(binary.mantissa);
    push_big_integer(out, &mantissa);
}

fn push_binary(out: &mut Vec<u8>, binary: &Binary<'_>) -> RealText {
    if binary.is_f64() {
        push_f64(out, binary.to_f64());
        return RealText::Number;
    }
    let Some((digits, exponent)) = decimal::digits(binary) else { return RealText::Parts };
    push_scientific(out, binary.negative, &digits, exponent);
    RealText::Number
}

/// Whether an `f64` has the value of a binary REAL exactly.
pub fn is_exact_f64(binary: &Binary<'_>) -> bool {
    binary.is_f64()
}

/// Appends a finite number in the fewest digits that read back as the same.
pub fn push_f64(out: &mut Vec<u8>, number: f64) {
    out.extend_from_slice(zmij::Buffer::new().format_finite(number).as_bytes());
}

fn push_decimal_real(out: &mut Vec<u8>, decimal: &Decimal<'_>) {
    let Some((negative, digits, exponent)) = decimal_parts(decimal.text) else { return out.push(b'0') };
    // Those that are what the nearest f64 prints look like it, so that bases need not show in the text.
    let near = decimal.to_f64();
    if digits.len() <= 17 && near.is_finite() && near != 0.0 {
        let mut buffer = zmij::Buffer::new();
        let text = buffer.format_finite(near);
        if decimal_parts(text).is_some_and(|parts| parts == (negative, digits.clone(), exponent)) {
            return out.extend_from_slice(text.as_bytes());
        }
    }
    push_scientific(out, negative, &digits, exponent);
}

fn push_scientific(out: &mut Vec<u8>, negative: bool, digits: &str, exponent: i64) {
    let significant = digits.trim_end_matches('0');
    let exponent = exponent.saturating_add((digits.len() - significant.len()) as i64);
    if negative {
        out.push(b'-');
    }
    out.extend_from_slice(significant.as_bytes());
    if exponent != 0 {
        out.push(b'e');
        push_integer(out, exponent);
    }
}

/// The octets before the first that JSON, XML or a plain copy must look at: a control character, one beyond ASCII, or
/// one of the given three. Eight bytes at a time.
#[inline]
pub(crate) fn plain_ascii(text: &[u8], stops: [u8; 3]) -> usize {
    let (words, tail) = text.as_chunks::<8>();
    for (i, word) in words.iter().enumerate() {
        if let Some(at) = stop_in(*word, stops) {
            return i * 8 + at;
        }
    }
    // The tail again in words that overlap, so that it takes one step too.
    let (begin, word) = match (text.last_chunk::<8>(), tail) {
        (_, []) => return text.len(),
        (Some(word), _) => (text.len() - 8, *word),
        (None, [a, b, c, d, ..]) => {
            let [.., w, x, y, z] = *tail else { return 0 };
            return match stop_in([*a, *b, *c, *d, w, x, y, z], stops) {
                None => text.len(),
                Some(at @ 0..4) => at,
                Some(at) => text.len() + at - 8,
            };
        }
        (None, [a, more @ ..]) => {
            let (b, c) = (more.first().unwrap_or(a), more.get(1).unwrap_or(a));
            (0, [*a, *b, *c, *a, *a, *a, *a, *a])
        }
    };
    stop_in(word, stops).map_or(text.len(), |at| begin + at)
}

/// Appends a text, if it has nothing that [`plain_ascii`] stops at; whether it has been appended.
#[inline]
pub(crate) fn push_plain(out: &mut Vec<u8>, text: &[u8], stops: [u8; 3]) -> bool {
    if let Some(short) = short_plain(text, stops) {
        short.push(out);
        return true;
    }
    let plain = text.len() > 16 && plain_ascii(text, stops) == text.len();
    if plain {
        out.extend_from_slice(text);
    }
    plain
}

/// Returns a text of up to 16 octets, if it has nothing that [`plain_ascii`] stops at.
#[inline(always)]
pub(crate) fn short_plain(text: &[u8], stops: [u8; 3]) -> Option<Short> {
    let is_plain = |octets: &[u8; 8]| stop_in(*octets, stops).is_none();
    match (text.first_chunk::<8>(), text.last_chunk::<8>()) {
        (Some(first), Some(last)) if text.len() <= 16 => {
            (is_plain(first) && is_plain(last)).then(|| words::ends(*first, *last, text.len()))
        }
        (None, _) => {
            let word = words::word(text, b'a')?;
            is_plain(&word.to_le_bytes()).then(|| Short::new([word, 0], text.len()))
        }
        _ => None,
    }
}

/// The first octet of a word that [`plain_ascii`] stops at.
#[inline(always)]
fn stop_in(word: [u8; 8], stops: [u8; 3]) -> Option<usize> {
    let word = u64::from_le_bytes(word);
    let hits =
        word | less(word, 0x20) | equal(word, stops[0]) | equal(word, stops[1]) | equal(word, stops[2]);
    let hits = hits & HIGH;
    (hits != 0).then(|| (hits.trailing_zeros() / 8) as usize)
}

/// The place of the first octet of a word that is this one; 8 if there is none.
#[inline]
pub(crate) const fn first_of(word: u64, octet: u8) -> usize {
    ((equal(word, octet) & HIGH).trailing_zeros() / 8) as usize
}

const LOW: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = LOW << 7;

/// High bits where an octet is less than a bound of at most 80; false alarms only behind a true one.
#[inline]
const fn less(word: u64, bound: u8) -> u64 {
    word.wrapping_sub(LOW.wrapping_mul(bound as u64)) & !word
}

#[inline]
const fn equal(word: u64, octet: u8) -> u64 {
    let difference = word ^ LOW.wrapping_mul(octet as u64);
    difference.wrapping_sub(LOW) & !difference
}
