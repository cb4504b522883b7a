//! ASN.1 value notation (X.680 clauses 18 to 46) of values.

use super::opened::opened;
use super::{Builder, Content, Value};
use crate::oids::oid_name;
use crate::text::{Octets, RealText, push_big_integer, push_mantissa, push_octets, push_real};
use crate::{Decoder, Options, Plan};
use std::fmt::{self, Display, Formatter};
use tercet_plan::{FieldId, NodeId, Rules as Encoding, Shape};
use tercet_runtime::ber::{Rules, decode_oid, decode_real};
use tercet_runtime::types::Real;

/// One line; with `{:#}` a line for each component and element.
///
/// The notation of a value does not tell its type. Two things have none: an open type whose content is not known, and
/// an extension addition that the schema does not know; their octets are shown behind a comment.
impl Display for Value {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let spread = f.alternate();
        Printer { f, shape: None, plans: &[], spread, level: 0 }.value(self, None)
    }
}

/// A value as [`Value`] is displayed, with comments for people: names of identifiers and of the keys of information objects, the
/// contents of strings that hold DER.
#[derive(Clone, Copy, Debug)]
pub struct Annotated<'v> {
    value: &'v Value,
    shape: &'v Shape,
    node: NodeId,
    plans: &'v [(Encoding, Plan)],
}

impl Value {
    /// The value, which is one of a type of this shape, with comments.
    pub fn annotated<'v>(&'v self, shape: &'v Shape, node: NodeId) -> Annotated<'v> {
        Annotated { value: self, shape, node, plans: &[] }
    }
}

impl<'v> Annotated<'v> {
    /// Shows what strings contain under ENCODED BY (X.682 §11), decoded by these plans, which have the shape of the value.
    #[must_use]
    pub const fn with_contents(self, plans: &'v [(Encoding, Plan)]) -> Self {
        Self { plans, ..self }
    }
}

impl Display for Annotated<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let spread = f.alternate();
        let at = Some((FieldId::ROOT, self.node));
        Printer { f, shape: Some(self.shape), plans: self.plans, spread, level: 0 }.value(self.value, at)
    }
}

/// The component that a value is, and its type.
type At = Option<(FieldId, NodeId)>;

struct Printer<'a, 'b> {
    f: &'a mut Formatter<'b>,
    /// With a shape there are comments.
    shape: Option<&'a Shape>,
    /// By which contents under ENCODED BY are decoded.
    plans: &'a [(Encoding, Plan)],
    spread: bool,
    level: usize,
}

impl Printer<'_, '_> {
    fn comment(&mut self, text: &str) -> fmt::Result {
        write!(self.f, " /* {text} */")
    }

    /// A component, alternative or element of the type of a value.
    fn part(&self, at: At, name: Option<&str>) -> At {
        let (shape, (_, node)) = (self.shape?, at?);
        let mut fields = shape.fields_of(node);
        let found = match name {
            Some(name) => fields.find(|(_, field)| shape.name(field.name) == name),
            None => fields.next(),
        };
        found.map(|(id, field)| (id, field.node))
    }

    fn containing(&self, at: At) -> At {
        let (shape, (_, node)) = (self.shape?, at?);
        shape.node(node).containing.map(|inside| (FieldId::ROOT, inside))
    }

    /// Says in a comment what is in a string: a value that other rules encode, or DER.
    fn opened(&mut self, octets: &[u8], at: At) -> fmt::Result {
        if let Some(text) = self.encoded(octets, at) {
            return self.comment(&text.replace("*/", "* /").replace("/*", "/ *"));
        }
        match self.shape.and_then(|shape| opened(Some(shape), octets)) {
            Some(text) => self.comment(&text),
            None => Ok(()),
        }
    }

    /// The value that a string contains under ENCODED BY, in one line and without comments; `None` if the string does not decode.
    fn encoded(&self, octets: &[u8], at: At) -> Option<String> {
        let (shape, (field, node)) = (self.shape?, at?);
        let (inside, rules) = shape.restrictions.encoded_by(field, node)?;
        let (_, plan) = self.plans.iter().find(|(of, _)| *of == rules)?;
        let options = Options { rules, ..Options::default() };
        let mut builder = Builder::new(shape);
        let length = Decoder::new().decode(plan, inside, octets, &mut builder, &options).ok()?;
        if length != octets.len() {
            return None;
        }
        Some(format!("CONTAINING {}", builder.take()?))
    }

    fn value(&mut self, value: &Value, at: At) -> fmt::Result {
        match value {
            Value::Boolean(true) => self.f.write_str("TRUE"),
            Value::Boolean(false) => self.f.write_str("FALSE"),
            Value::Integer(number) | Value::Enumerated(number, None) => {
                write!(self.f, "{number}")?;
                let name =
                    self.shape.zip(at).and_then(|(shape, (field, _))| shape.value_name(field, *number));
                name.map_or(Ok(()), |name| self.comment(name))
            }
            Value::BigInteger(number) => {
                let mut digits = Vec::new();
                push_big_integer(&mut digits, &number.to_signed_bytes_be());
                self.octets(&digits)
            }
            Value::Enumerated(_, Some(name)) => self.f.write_str(name),
            Value::Addition(number) => write!(self.f, "/* addition {number} */"),
            Value::Real(real) => self.float(*real),
            Value::ExactReal(contents) => self.exact_real(contents),
            Value::BitString(bits) if bits.is_empty() => self.f.write_str("''B"),
            Value::BitString(bits) if bits.len().is_multiple_of(4) => {
                let mut digits = Vec::new();
                push_octets(&mut digits, bits.octets(), Octets::UpperHex);
                digits.truncate(bits.len() / 4);
                self.quoted(&digits, "H")?;
                if bits.len().is_multiple_of(8) { self.opened(bits.octets(), at) } else { Ok(()) }
            }
            Value::BitString(bits) => {
                let digits: Vec<u8> =
                    (0..bits.len()).map(|i| b'0' + u8::from(bits.get(i) == Some(true))).collect();
                self.quoted(&digits, "B")
            }
            Value::OctetString(octets) => {
                self.hex(octets)?;
                self.opened(octets, at)
            }
            Value::Encoding(octets) => {
                self.f.write_str("/* encoding */ ")?;
                self.hex(octets)?;
                self.opened(octets, None)
            }
            Value::Unknown { encoding, .. } => {
                self.f.write_str("/* unknown */ ")?;
                self.hex(encoding)
            }
            Value::Raw(octets) => {
                self.f.write_str("/* not a value */ ")?;
                self.hex(octets)
            }
            Value::Containing(value) => {
                self.f.write_str("CONTAINING ")?;
                self.value(value, self.containing(at))
            }
            Value::Null => self.f.write_str("NULL"),
            Value::ObjectIdentifier(oid) => {
                write!(self.f, "{{{}}}", oid.to_string().replace('.', " "))?;
                let name =
                    self.shape.and_then(|shape| oid_name(Some(shape), decode_oid(oid.as_bytes(), 0).ok()?));
                name.map_or(Ok(()), |name| self.comment(name))
            }
            Value::RelativeOid(oid) => write!(self.f, "{{{}}}", oid.to_string().replace('.', " ")),
            Value::Text(text) | Value::Time(text) => write!(self.f, "\"{}\"", text.replace('"', "\"\"")),
            Value::Sequence(members) | Value::Set(members) => {
                self.braces(members.iter(), |printer, (name, value)| {
                    if name != "..." {
                        write!(printer.f, "{name} ")?;
                    }
                    let at = printer.part(at, Some(name));
                    printer.value(value, at)
                })
            }
            Value::SequenceOf(elements) | Value::SetOf(elements) => {
                let at = self.part(at, None);
                self.braces(elements.iter(), |printer, value| printer.value(value, at))
            }
            Value::Choice(name, value) => {
                if name != "..." {
                    write!(self.f, "{name} : ")?;
                }
                self.value(value, self.part(at, Some(name)))
            }
            // X.681 14.6: the type without its module.
            Value::Open(Content { type_name, value, node }) => {
                if let Some(name) = type_name.rsplit('.').next().filter(|name| !name.is_empty()) {
                    write!(self.f, "{name} : ")?;
                }
                self.value(value, node.map(|node| (FieldId::ROOT, node)))
            }
        }
    }

    fn braces<T>(
        &mut self,
        parts: impl ExactSizeIterator<Item = T>,
        print: impl Fn(&mut Self, T) -> fmt::Result,
    ) -> fmt::Result {
        self.f.write_str("{")?;
        let empty = parts.len() == 0;
        self.level += 1;
        for (i, part) in parts.enumerate() {
            if i > 0 {
                self.f.write_str(if self.spread { "," } else { ", " })?;
            }
            self.line()?;
            print(self, part)?;
        }
        self.level -= 1;
        if !empty {
            self.line()?;
        }
        self.f.write_str("}")
    }

    fn line(&mut self) -> fmt::Result {
        if self.spread { write!(self.f, "\n{:1$}", "", self.level * 2) } else { Ok(()) }
    }

    fn float(&mut self, real: f64) -> fmt::Result {
        if real.is_nan() {
            self.f.write_str("NOT-A-NUMBER")
        } else if real.is_infinite() {
            self.f.write_str(if real > 0.0 { "PLUS-INFINITY" } else { "MINUS-INFINITY" })
        } else if real == 0.0 {
            self.f.write_str(if real.is_sign_negative() { "-0" } else { "0" })
        } else {
            self.f.write_str(zmij::Buffer::new().format_finite(real))
        }
    }

    fn exact_real(&mut self, contents: &[u8]) -> fmt::Result {
        let Ok(real) = decode_real(contents, 0, Rules::Ber) else { return self.hex(contents) };
        let mut text = Vec::new();
        match (push_real(&mut text, &real), &real) {
            (RealText::Parts, Real::Binary(binary)) => {
                push_mantissa(&mut text, binary);
                write!(self.f, "{{mantissa ")?;
                self.octets(&text)?;
                write!(self.f, ", base 2, exponent {}}}", binary.exponent2())
            }
            (RealText::Word(word), _) => self.f.write_str(word),
            _ => self.octets(&text),
        }
    }

    fn hex(&mut self, octets: &[u8]) -> fmt::Result {
        let mut digits = Vec::new();
        push_octets(&mut digits, octets, Octets::UpperHex);
        self.quoted(&digits, "H")
    }

    fn quoted(&mut self, digits: &[u8], suffix: &str) -> fmt::Result {
        self.f.write_str("'")?;
        self.octets(digits)?;
        write!(self.f, "'{suffix}")
    }

    fn octets(&mut self, text: &[u8]) -> fmt::Result {
        self.f.write_str(str::from_utf8(text).unwrap_or_default())
    }
}
