//! Types of values in packages (H.248.1 12.2), and which values are of them.

use std::fmt;

/// A type of H.248.1 12.2.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    /// `on` or `off`; `true` and `false`, as annex E.9 calls them, are taken too.
    Boolean,
    /// Any text.
    String,
    /// Octets: two hexadecimal digits each in text (annex B.3).
    OctetString,
    /// A number of 4 octets, signed or, as `0xffffffff`, not.
    Integer,
    /// A number of 8 octets, signed or not.
    Double,
    /// One character of UTF-8.
    Character,
    /// One of these names, with their numbers in binary.
    Enumeration(Vec<(String, u32)>),
    /// A list of values of one type.
    SubList(Box<Self>),
    /// A value of one of these types.
    OneOf(Vec<Self>),
}

impl Type {
    /// An enumeration.
    pub fn enumeration(values: &[(&str, u32)]) -> Self {
        Self::Enumeration(values.iter().map(|&(name, number)| (name.to_owned(), number)).collect())
    }

    /// A list of values of a type.
    pub fn list_of(element: Self) -> Self {
        Self::SubList(Box::new(element))
    }

    /// Whether a value is of this type: written as annex B.2 has it, or encoded in BER as annex A has it. Of a list, a
    /// value is one element.
    ///
    /// ```
    /// use tercet_megaco::packages::Type;
    ///
    /// assert!(Type::Integer.takes(b"-40") && Type::Integer.takes(b"0x28"));
    /// assert!(!Type::Integer.takes(b"4.0") && !Type::Integer.takes(b"4294967296"));
    /// assert!(Type::Boolean.takes(b"ON") && !Type::Boolean.takes(b"g165"));
    /// ```
    pub fn takes(&self, value: &[u8]) -> bool {
        match self {
            Self::SubList(element) => element.takes(value),
            Self::OneOf(types) => types.iter().any(|one| one.takes(value)),
            _ => self.takes_text(value) || self.takes_ber(value),
        }
    }

    /// Whether several values can make one of this type.
    pub fn is_list(&self) -> bool {
        match self {
            Self::SubList(_) => true,
            Self::OneOf(types) => types.iter().any(Self::is_list),
            _ => false,
        }
    }

    fn takes_text(&self, value: &[u8]) -> bool {
        match self {
            Self::Boolean => {
                [&b"on"[..], b"off", b"true", b"false"].iter().any(|word| value.eq_ignore_ascii_case(word))
            }
            Self::String => true,
            Self::OctetString => value.len().is_multiple_of(2) && value.iter().all(u8::is_ascii_hexdigit),
            Self::Integer => number(value).is_some_and(|number| is_within(number, u32::BITS)),
            Self::Double => number(value).is_some_and(|number| is_within(number, u64::BITS)),
            Self::Character => std::str::from_utf8(value).is_ok_and(|text| text.chars().take(2).count() == 1),
            Self::Enumeration(values) => {
                values.iter().any(|(name, _)| name.as_bytes().eq_ignore_ascii_case(value))
            }
            Self::SubList(_) | Self::OneOf(_) => false,
        }
    }

    fn takes_ber(&self, value: &[u8]) -> bool {
        let [tag, length @ 0..=0x7f, contents @ ..] = value else { return false };
        if usize::from(*length) != contents.len() {
            return false;
        }
        match (self, tag) {
            (Self::Boolean, 0x01) => contents.len() == 1,
            (Self::Integer, 0x02) => signed(contents).is_some_and(|number| is_within(number, u32::BITS)),
            (Self::Double, 0x02) => signed(contents).is_some_and(|number| is_within(number, u64::BITS)),
            (Self::OctetString, 0x04) => true,
            (Self::Character, 0x0c | 0x16) => Self::Character.takes_text(contents),
            (Self::Enumeration(values), 0x0a | 0x02) => signed(contents)
                .is_some_and(|number| values.iter().any(|value| i128::from(value.1) == number)),
            _ => false,
        }
    }
}

/// A decimal number, or a hexadecimal one behind `0x` (annex B.2).
fn number(value: &[u8]) -> Option<i128> {
    let text = std::str::from_utf8(value).ok()?;
    let (sign, digits, radix) = match (text.strip_prefix('-'), text.get(..2)) {
        (Some(digits), _) => (-1, digits, 10),
        (None, Some("0x" | "0X")) => (1, &text[2..], 16),
        (None, _) => (1, text, 10),
    };
    let is_digits = digits.bytes().all(|digit| char::from(digit).is_digit(radix));
    let number = if is_digits { i128::from_str_radix(digits, radix).ok()? } else { return None };
    Some(sign * number)
}

/// The contents octets of an INTEGER.
fn signed(contents: &[u8]) -> Option<i128> {
    let first = *contents.first()?;
    let start = if first < 0x80 { 0 } else { -1 };
    (contents.len() <= 9)
        .then(|| contents.iter().fold(start, |number, &octet| number << 8 | i128::from(octet)))
}

/// Whether a number has so many bits, signed or not.
const fn is_within(number: i128, bits: u32) -> bool {
    number >= -(1 << (bits - 1)) && number < 1 << bits
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Boolean => f.write_str("Boolean, `on` or `off`"),
            Self::String => f.write_str("String"),
            Self::OctetString => f.write_str("Octet String, two hexadecimal digits for each byte"),
            Self::Integer => f.write_str("Integer of 4 bytes"),
            Self::Double => f.write_str("Double, an integer of 8 bytes"),
            Self::Character => f.write_str("Character"),
            Self::Enumeration(values) => {
                f.write_str("Enumeration")?;
                let join = |index| if index == 0 { " of" } else { "," };
                values
                    .iter()
                    .enumerate()
                    .try_for_each(|(index, (name, _))| write!(f, "{} `{name}`", join(index)))
            }
            Self::SubList(element) => write!(f, "Sub-list of {element}"),
            Self::OneOf(types) => types.iter().enumerate().try_for_each(|(index, one)| {
                f.write_str(if index == 0 { "" } else { ", or " })?;
                one.fmt(f)
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Type;

    fn check(of: &Type, good: &[&[u8]], bad: &[&[u8]]) {
        for value in good {
            assert!(of.takes(value), "{} is {of}", value.escape_ascii());
        }
        for value in bad {
            assert!(!of.takes(value), "{} is no {of}", value.escape_ascii());
        }
    }

    #[test]
    fn values_of_each_type() {
        check(
            &Type::Boolean,
            &[b"on", b"OFF", b"True", b"false", b"\x01\x01\xff"],
            &[b"", b"1", b"yes", b"\x01\x00"],
        );
        check(&Type::String, &[b"", b"any text", b"\x16\x01a"], &[]);
        check(&Type::OctetString, &[b"", b"0aF3", b"\x04\x01\x80"], &[b"0", b"0g", b"\x04\x02\x80"]);
        check(&Type::Character, &[b"a", "ä".as_bytes(), b"\x0c\x01a"], &[b"", b"ab", b"\xff", b"\x0c\x02ab"]);
        let of = Type::enumeration(&[("exact", 0), ("state", 1), ("failWrong", 200)]);
        let good: &[&[u8]] =
            &[b"exact", b"STATE", b"failwrong", b"\x0a\x01\x01", b"\x0a\x02\x00\xc8", b"\x02\x01\x00"];
        check(&of, good, &[b"", b"0", b"exactly", b"\x0a\x01\x02", b"\x0a\x00", b"\x0a\x01\xc8"]);
    }

    #[test]
    fn numbers_and_their_limits() {
        let good: &[&[u8]] = &[
            b"0",
            b"-2147483648",
            b"4294967295",
            b"0xFFFFFFFF",
            b"\x02\x01\x80",
            b"\x02\x05\x00\xff\xff\xff\xff",
        ];
        let bad: &[&[u8]] = &[
            b"",
            b"-",
            b"+1",
            b"-0x1",
            b"0x",
            b"1.5",
            b"--1",
            b"-2147483649",
            b"0x100000000",
            b"\x02\x00",
            b"\x02\x05\x01\0\0\0\0",
        ];
        check(&Type::Integer, good, bad);
        let good: &[&[u8]] = &[
            b"-9223372036854775808",
            b"18446744073709551615",
            b"0xffffffffffffffff",
            b"\x02\x09\0\xff\xff\xff\xff\xff\xff\xff\xff",
        ];
        let nines = [b'9'; 60];
        let bad: &[&[u8]] = &[b"18446744073709551616", b"0.2", &nines, b"\x02\x0a\0\0\0\0\0\0\0\0\0\0"];
        check(&Type::Double, good, bad);
    }

    #[test]
    fn a_value_of_a_list_is_an_element() {
        let of = Type::OneOf(vec![Type::list_of(Type::Integer), Type::enumeration(&[("automatic", 1)])]);
        check(&of, &[b"1", b"automatic"], &[b"a", b""]);
        assert!(of.is_list() && !Type::OneOf(vec![Type::String]).is_list());
        assert_eq!(of.to_string(), "Sub-list of Integer of 4 bytes, or Enumeration of `automatic`");
    }
}
