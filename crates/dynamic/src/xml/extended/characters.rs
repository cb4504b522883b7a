//! Primitive values as characters, both ways, as the instructions of a place ask for.

use super::Instructed;
use crate::contents;
use crate::contents::ContentsError;
use crate::event::Leaf;
use crate::leaf::{Scalar, scalar};
use crate::text::{
    Octets, RealText, decimal_parts, integer_octets, parse_octets, push_big_integer, push_bits, push_octets,
    push_real,
};
use std::borrow::Cow;
use tercet_plan::instructions::{Whitespace, Xml};
use tercet_plan::{Kind, NodeId};
use tercet_runtime::types::Real;

/// A primitive value as it stands in an element.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Form<'a> {
    /// Characters; those of mark-up are still to be escaped.
    Text(Cow<'a, str>),
    /// An empty element of this name.
    Empty(&'a str),
}

/// Zeros that DECIMAL may add to the digits of a number.
const MOST_ZEROS: i64 = 20_000;

type Made<T> = Result<T, ContentsError>;

impl<'s> Instructed<'s> {
    /// The form of a primitive value.
    pub(super) fn form<'a>(self, xml: &Xml, node: NodeId, leaf: Leaf<'a>) -> Made<Form<'a>>
    where
        's: 'a,
    {
        let shape = self.shape;
        let renamed = |number: i64| {
            let text = xml.texts.iter().find(|text| text.0 == number);
            text.map(|text| shape.name(text.1))
        };
        let text = |octets: Vec<u8>| Form::Text(Cow::Owned(String::from_utf8_lossy(&octets).into_owned()));
        let word = |word: &'a str| match xml.text {
            true => Form::Text(Cow::Borrowed(word)),
            false => Form::Empty(word),
        };
        let mut out = Vec::new();
        Ok(match scalar(shape, node, leaf) {
            Scalar::Boolean(value) => {
                word(renamed(i64::from(value)).unwrap_or(if value { "true" } else { "false" }))
            }
            Scalar::Enumerated(number, _) if xml.use_number => Form::Text(number.to_string().into()),
            Scalar::Enumerated(number, Some(name)) => word(renamed(number).unwrap_or(name)),
            Scalar::Integer(number) => match renamed(number) {
                Some(name) => word(name),
                None => Form::Text(number.to_string().into()),
            },
            Scalar::Enumerated(number, None) => Form::Text(number.to_string().into()),
            Scalar::BigInteger(octets) => {
                push_big_integer(&mut out, octets);
                text(out)
            }
            Scalar::Real(real) if xml.decimal => Form::Text(decimal(&real)?.into()),
            Scalar::Real(real) => match push_real(&mut out, &real) {
                RealText::Number => text(out),
                RealText::Word("-0") => Form::Text("-0".into()),
                RealText::Word(special) if xml.modified || xml.text => Form::Text(special.into()),
                RealText::Word("INF") => Form::Empty("PLUS-INFINITY"),
                RealText::Word("-INF") => Form::Empty("MINUS-INFINITY"),
                RealText::Word(_) => Form::Empty("NOT-A-NUMBER"),
                RealText::Parts => return Err("a REAL whose digits are out of proportion".into()),
            },
            Scalar::BitString(bits) => {
                push_bits(&mut out, bits);
                text(out)
            }
            Scalar::OctetString(octets) | Scalar::Open(octets) | Scalar::Raw(octets) => {
                push_octets(&mut out, octets, if xml.base64 { Octets::Base64 } else { Octets::UpperHex });
                text(out)
            }
            Scalar::Text(characters) if xml.base64 => {
                push_octets(&mut out, characters.as_bytes(), Octets::Base64);
                text(out)
            }
            Scalar::Null => Form::Text(Cow::Borrowed("")),
            Scalar::Addition(_) => {
                return Err("an item of a later version, whose name is not known".into());
            }
            Scalar::ObjectIdentifier(oid) => Form::Text(oid.to_string().into()),
            Scalar::RelativeOid(oid) => Form::Text(oid.to_string().into()),
            Scalar::Text(characters) | Scalar::Time(characters) => Form::Text(characters),
        })
    }

    /// Contents octets of a primitive value from its characters.
    pub(super) fn contents(self, xml: &Xml, node: NodeId, text: &str) -> Made<Vec<u8>> {
        let kind = self.shape.node(node).kind;
        let text = match xml.whitespace {
            Whitespace::Preserve if kind.is_text() => Cow::Borrowed(text),
            Whitespace::Preserve => Cow::Borrowed(text.trim_matches(is_white)),
            Whitespace::Replace => Cow::Owned(text.replace(is_white, " ")),
            Whitespace::Collapse => {
                Cow::Owned(text.split(is_white).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" "))
            }
        };
        let expected = |what: &str| ContentsError::from(format!("{what} expected"));
        match kind {
            Kind::Boolean | Kind::Enumerated | Kind::Integer => self.item(xml, node, &text),
            Kind::Real => contents::of_real(&text),
            Kind::BitString => {
                let digits = text.bytes().filter(|octet| !is_white(char::from(*octet)));
                contents::of_bit_digits(digits).ok_or_else(|| expected("the digits 0 and 1"))
            }
            Kind::OctetString | Kind::Open => {
                let digits: String = text.chars().filter(|letter| !is_white(*letter)).collect();
                let form = if xml.base64 { Octets::Base64 } else { Octets::UpperHex };
                parse_octets(&digits, form).ok_or_else(|| {
                    expected(if xml.base64 { "base64" } else { "pairs of hexadecimal digits" })
                })
            }
            Kind::Null if text.is_empty() => Ok(Vec::new()),
            Kind::Null => Err(expected("nothing")),
            _ if xml.base64 && kind.is_text() => {
                let octets = parse_octets(text.trim_matches(is_white), Octets::Base64);
                let text = octets.and_then(|octets| String::from_utf8(octets).ok());
                let text = text.ok_or_else(|| expected("base64"))?;
                contents::of_text(kind, &text)
                    .map_or_else(|| Err(expected("text")), |made| made.map(Cow::into_owned))
            }
            _ => contents::of_text(kind, &text)
                .map_or_else(|| Err(expected("another value")), |made| made.map(Cow::into_owned)),
        }
    }

    /// BOOLEAN, INTEGER and ENUMERATED.
    fn item(self, xml: &Xml, node: NodeId, word: &str) -> Made<Vec<u8>> {
        let shape = self.shape;
        let kind = shape.node(node).kind;
        let renamed = xml.texts.iter().find(|text| shape.name(text.1) == word).map(|text| text.0);
        if let Some(number) = renamed {
            return Ok(match kind {
                Kind::Boolean => contents::of_boolean(number != 0).to_vec(),
                _ => integer_octets(number),
            });
        }
        let is_number = word.starts_with(|first: char| first == '-' || first.is_ascii_digit());
        match kind {
            Kind::Boolean => match word {
                "true" | "1" => Ok(contents::of_boolean(true).to_vec()),
                "false" | "0" => Ok(contents::of_boolean(false).to_vec()),
                _ => Err("true or false expected".into()),
            },
            Kind::Integer if is_number => contents::of_integer(word),
            Kind::Enumerated if xml.use_number || is_number => {
                contents::of_integer(word).map_err(|_| "the number of an item expected".into())
            }
            _ => {
                let found = shape.items_of(node).iter().find(|item| shape.name(item.name) == word);
                // Those with a new name have no other.
                let found = found.filter(|item| xml.texts.iter().all(|text| text.0 != item.value));
                let found = found.map(|item| integer_octets(item.value));
                found.ok_or_else(|| {
                    format!("no item `{}` in this {}", crate::read_error::cut(word), kind.name()).into()
                })
            }
        }
    }
}

pub(super) const fn is_white(letter: char) -> bool {
    matches!(letter, ' ' | '\t' | '\n' | '\r')
}

/// A number without an exponent (X.693 clause 22).
fn decimal(real: &Real<'_>) -> Made<String> {
    let mut text = Vec::new();
    if push_real(&mut text, real) != RealText::Number {
        return Err("DECIMAL has no form for this value of REAL".into());
    }
    let Some((negative, digits, exponent)) = str::from_utf8(&text).ok().and_then(decimal_parts) else {
        return Ok("0".to_owned());
    };
    if exponent.abs() > MOST_ZEROS {
        return Err("a REAL whose digits are out of proportion".into());
    }
    let zeros = |count: usize| "0".repeat(count);
    let point = exponent.unsigned_abs() as usize;
    let number = if exponent >= 0 {
        format!("{digits}{}", zeros(point))
    } else if digits.len() > point {
        let (whole, fraction) = digits.split_at(digits.len() - point);
        format!("{whole}.{fraction}")
    } else {
        format!("0.{}{digits}", zeros(point - digits.len()))
    };
    Ok(if negative { format!("-{number}") } else { number })
}
