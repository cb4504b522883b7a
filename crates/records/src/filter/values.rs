//! The values that components are compared with, in the form of their types.

use std::cmp::Ordering;
use tercet_dynamic::leaf::Scalar;
use tercet_dynamic::text::{Octets, parse_hex, parse_integer, push_scalar};
use tercet_plan::constraint::Number;
use tercet_plan::{Kind, NodeId, Shape};
use tercet_suggest::with_known;

/// A value in the form of a type.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Operand {
    Boolean(bool),
    /// An integer, of 64 bits if that is enough.
    Small(i64),
    Large(Number),
    Float(f64),
    Octets(Vec<u8>),
    /// The text that a value is shown as.
    Text(String),
    /// A number that a text is compared with as a number.
    Amount(f64),
    Pattern(Pattern),
}

/// How a value is written in a condition, and what for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Given<'a> {
    pub(super) text: &'a str,
    /// Whether less and more are asked for.
    pub(super) is_ordered: bool,
    /// The component.
    pub(super) path: &'a str,
}

impl Operand {
    /// The value for comparisons with those of a type.
    ///
    /// # Errors
    /// When it cannot be one of them: the text says so, and may have a line of help.
    pub(super) fn new(shape: &Shape, node: NodeId, given: Given<'_>) -> Result<Self, String> {
        let Given { text, path, .. } = given;
        let kind = shape.node(node).kind;
        let is = |noun: &str| Err(format!("`{text}` is not {noun}: `{path}` is {}", article(kind)));
        let item = || shape.items_of(node).iter().find(|item| shape.name(item.name) == text);
        let names = || shape.items_of(node).iter().map(|item| shape.name(item.name));
        match kind {
            Kind::Boolean => match text {
                _ if text.eq_ignore_ascii_case("true") => Ok(Self::Boolean(true)),
                _ if text.eq_ignore_ascii_case("false") => Ok(Self::Boolean(false)),
                _ => Err(format!("`{text}` is not `true` or `false`: `{path}` is a BOOLEAN")),
            },
            Kind::Integer | Kind::Enumerated => match (item(), integer(text)) {
                (Some(item), _) => Ok(Self::Small(item.value)),
                (None, Some(number)) => Ok(number),
                (None, None) if kind == Kind::Enumerated || shape.node(node).item_count > 0 => {
                    Err(with_known(&format!("unknown name `{text}` of `{path}`"), text, names()))
                }
                (None, None) => float(text).map_or_else(|| is("a number"), |number| Ok(Self::Float(number))),
            },
            Kind::Real => float(text).map_or_else(|| is("a number"), |number| Ok(Self::Float(number))),
            Kind::OctetString | Kind::Open => match parse_hex(text.as_bytes()) {
                Some(octets) => Ok(Self::Octets(octets)),
                None => is("hexadecimal"),
            },
            Kind::BitString if text.bytes().all(|bit| matches!(bit, b'0' | b'1')) => {
                Ok(Self::Text(text.into()))
            }
            Kind::BitString => is("bits (0 and 1)"),
            Kind::ObjectIdentifier | Kind::RelativeOid if given.is_ordered => {
                Err(format!("`{path}` is {}, which has no order", article(kind)))
            }
            Kind::ObjectIdentifier | Kind::RelativeOid => {
                let is_arc = |arc: &str| !arc.is_empty() && arc.bytes().all(|digit| digit.is_ascii_digit());
                if text.split('.').all(is_arc) {
                    Ok(Self::Text(text.into()))
                } else {
                    is("numbers with dots")
                }
            }
            Kind::Null => Err(format!(
                "`{path}` is a NULL, which has no value\nhelp: use `is null` or `is not null` to test whether it is there"
            )),
            _ => Ok(Self::Text(text.to_owned())),
        }
    }

    /// How a value stands to this one; nothing if they cannot be compared.
    pub(super) fn order(&self, value: &Scalar<'_>) -> Option<Ordering> {
        match (value, self) {
            (Scalar::Integer(number) | Scalar::Enumerated(number, _), Self::Small(it)) => {
                Some(number.cmp(it))
            }
            (Scalar::Integer(number) | Scalar::Enumerated(number, _), Self::Large(it)) => {
                Some(it.compare(&number.to_be_bytes()).reverse())
            }
            (Scalar::BigInteger(octets), Self::Small(it)) => {
                Some(Number::of(&it.to_be_bytes()).compare(octets).reverse())
            }
            (Scalar::BigInteger(octets), Self::Large(it)) => Some(it.compare(octets).reverse()),
            // Only a number with a fraction comes here: next to it, how a large integer is rounded does not count.
            (Scalar::Integer(number) | Scalar::Enumerated(number, _), Self::Float(it)) => {
                (*number as f64).partial_cmp(it)
            }
            (Scalar::BigInteger(octets), Self::Float(_)) => Some(Number::of(&[0]).compare(octets).reverse()),
            (Scalar::Real(real), Self::Float(it)) => real.to_f64().partial_cmp(it),
            (Scalar::Boolean(value), Self::Boolean(it)) => Some(value.cmp(it)),
            (Scalar::Text(text) | Scalar::Time(text), Self::Text(it)) => Some(text.as_ref().cmp(it.as_str())),
            (Scalar::Text(text), Self::Amount(it)) => {
                text.parse().ok().and_then(|number: f64| number.partial_cmp(it))
            }
            (Scalar::OctetString(octets) | Scalar::Open(octets) | Scalar::Raw(octets), Self::Octets(it)) => {
                Some((*octets).cmp(it.as_slice()))
            }
            (_, Self::Text(it)) => Some(shown(value).as_str().cmp(it)),
            _ => None,
        }
    }

    /// Whether a value is shown as a text of this pattern.
    pub(super) fn is_like(&self, value: &Scalar<'_>) -> bool {
        match (self, value) {
            (Self::Pattern(pattern), Scalar::Text(text) | Scalar::Time(text)) => pattern.matches(text),
            (Self::Pattern(pattern), _) => pattern.matches(&shown(value)),
            _ => false,
        }
    }
}

/// The text that a value is shown as in a table.
fn shown(value: &Scalar<'_>) -> String {
    let mut text = Vec::new();
    push_scalar(&mut text, value, Octets::UpperHex);
    String::from_utf8(text).unwrap_or_default()
}

fn integer(text: &str) -> Option<Operand> {
    if let Ok(number) = text.parse() {
        return Some(Operand::Small(number));
    }
    parse_integer(text).map(|octets| Operand::Large(Number::of(&octets)))
}

fn float(text: &str) -> Option<f64> {
    text.parse().ok()
}

/// Whether a text is a decimal number.
pub(super) fn is_number(text: &str) -> bool {
    float(text).is_some_and(f64::is_finite)
}

/// The name of a kind of type with its article.
pub(super) fn article(kind: Kind) -> String {
    let name = kind.name();
    let vowel = name.starts_with(['A', 'E', 'I', 'O']);
    format!("{} {name}", if vowel { "an" } else { "a" })
}

/// A pattern of `like`: `%` is any characters, `_` is one, and a backslash takes either as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pattern(Vec<Part>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Any,
    One,
    Char(char),
}

impl Pattern {
    /// Reads a pattern; hexadecimal digits of octets are capital letters.
    pub(super) fn new(text: &str, is_octets: bool) -> Self {
        let mut parts: Vec<Part> = Vec::new();
        let mut chars = text.chars();
        while let Some(c) = chars.next() {
            parts.push(match c {
                // Several of them are one: each would be tried at every place.
                '%' if parts.last() == Some(&Part::Any) => continue,
                '%' => Part::Any,
                '_' => Part::One,
                '\\' => Part::Char(chars.next().unwrap_or('\\')),
                c if is_octets => Part::Char(c.to_ascii_uppercase()),
                c => Part::Char(c),
            });
        }
        Self(parts)
    }

    /// Whether a text is of this pattern, in time of the product of both lengths at most.
    fn matches(&self, text: &str) -> bool {
        let parts = &self.0;
        let (mut part, mut rest) = (0, text.chars());
        // The part behind the last `%`, and where the text goes on if that one takes a character more.
        let mut again: Option<(usize, std::str::Chars<'_>)> = None;
        loop {
            let mut next = rest.clone();
            match (parts.get(part), next.next()) {
                (Some(Part::Any), _) => {
                    part += 1;
                    again = Some((part, rest.clone()));
                }
                (Some(Part::One), Some(_)) => (part, rest) = (part + 1, next),
                (Some(Part::Char(it)), Some(c)) if *it == c => (part, rest) = (part + 1, next),
                (None, None) => return true,
                _ => {
                    let Some((behind, from)) = &mut again else { return false };
                    if from.next().is_none() {
                        return false;
                    }
                    (part, rest) = (*behind, from.clone());
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_those_of_sql() {
        for (pattern, text, is) in [
            ("internet%", "internet.example", true),
            ("%example", "internet.example", true),
            ("%net%", "internet.example", true),
            ("i%t_e%", "internet.example", true),
            ("i%t__e%", "internet.example", false),
            ("_b_", "abc", true),
            ("_b_", "abcd", false),
            ("%", "", true),
            ("_", "", false),
            ("", "", true),
            ("100\\%", "100%", true),
            ("100\\%", "1000", false),
            ("a%a", "a", false),
            ("%ab%ab", "abab", true),
            ("é_", "éü", true),
        ] {
            assert_eq!(Pattern::new(pattern, false).matches(text), is, "{pattern} {text}");
        }
        // A pattern that backtracks at every place.
        let (pattern, text) = ("%a".repeat(200) + "b", "a".repeat(10_000));
        assert!(!Pattern::new(&pattern, false).matches(&text));
    }

    #[test]
    fn integers_of_any_length_compare() {
        for (value, given, expected) in [
            (&[5_u8][..], "5", Ordering::Equal),
            (
                &[0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
                "9223372036854775807",
                Ordering::Greater,
            ),
            (&[0x80, 0, 0, 0, 0, 0, 0, 0, 0], "-9223372036854775808", Ordering::Less),
            (&[1, 0, 0, 0, 0, 0, 0, 0, 0], "18446744073709551616", Ordering::Equal),
            (&[1, 0, 0, 0, 0, 0, 0, 0, 0], "18446744073709551617", Ordering::Less),
        ] {
            assert_eq!(integer(given).unwrap().order(&Scalar::BigInteger(value)), Some(expected), "{given}");
        }
        assert_eq!(integer("18446744073709551616").unwrap().order(&Scalar::Integer(7)), Some(Ordering::Less));
        assert_eq!(integer("007"), Some(Operand::Small(7)));
    }
}
