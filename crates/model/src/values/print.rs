//! Values written as ASN.1 value notation (X.680 §17.7), on one line.

use crate::ir::{Model, Real, TypeId, TypeKind, Value};
use std::fmt::{self, Formatter, Write as _};

/// A value that displays as ASN.1 value notation; made by [`Model::notation`].
#[derive(Clone, Copy, Debug)]
pub struct Notation<'m> {
    model: &'m Model,
    value: &'m Value,
}

impl Model {
    /// The value as text that ASN.1 reads back.
    pub fn notation<'m>(&'m self, value: &'m Value) -> Notation<'m> {
        Notation { model: self, value }
    }
}

impl fmt::Display for Notation<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.value {
            Value::Boolean(value) => f.write_str(if *value { "TRUE" } else { "FALSE" }),
            Value::Integer(value) => write!(f, "{value}"),
            Value::Enumerated(name, _) => f.write_str(name),
            Value::Real(real) => write_real(f, real),
            Value::BitString(octets, bits) => write_bits(f, octets, *bits),
            Value::OctetString(octets) => write_hex(f, octets),
            Value::Null => f.write_str("NULL"),
            Value::Oid(arcs) => write_list(f, &arcs.to_vec(), " ", |f, arc| write!(f, "{arc}")),
            Value::Text(text) => write_text(f, text),
            Value::List(values) => write_list(f, values, ", ", |f, value| self.of(value).fmt(f)),
            Value::Struct(fields) => {
                write_list(f, fields, ", ", |f, (name, value)| write!(f, "{name} {}", self.of(value)))
            }
            Value::Choice(name, value) => write!(f, "{name} : {}", self.of(value)),
            Value::Open(ty, value) => write!(f, "{} : {}", type_name(self.model, *ty), self.of(value)),
            Value::Containing(value) => write!(f, "CONTAINING {}", self.of(value)),
            Value::Error => f.write_str("<not understood>"),
        }
    }
}

impl<'m> Notation<'m> {
    fn of(&self, value: &'m Value) -> Self {
        Notation { model: self.model, value }
    }
}

fn write_list<T>(
    f: &mut Formatter<'_>,
    items: &[T],
    separator: &str,
    write: impl Fn(&mut Formatter<'_>, &T) -> fmt::Result,
) -> fmt::Result {
    f.write_str("{")?;
    for (n, item) in items.iter().enumerate() {
        f.write_str(if n == 0 { "" } else { separator })?;
        write(f, item)?;
    }
    f.write_str("}")
}

fn write_real(f: &mut Formatter<'_>, real: &Real) -> fmt::Result {
    match real {
        Real::Finite { mantissa, base: 10, exponent: 0 } => write!(f, "{mantissa}"),
        Real::Finite { mantissa, base: 10, exponent } => write!(f, "{mantissa}.0E{exponent}"),
        Real::Finite { mantissa, base, exponent } => {
            write!(f, "{{mantissa {mantissa}, base {base}, exponent {exponent}}}")
        }
        Real::MinusZero => f.write_str("-0"),
        Real::PlusInfinity => f.write_str("PLUS-INFINITY"),
        Real::MinusInfinity => f.write_str("MINUS-INFINITY"),
        Real::NotANumber => f.write_str("NOT-A-NUMBER"),
    }
}

fn write_bits(f: &mut Formatter<'_>, octets: &[u8], bits: u64) -> fmt::Result {
    if bits.is_multiple_of(8) {
        return write_hex(f, octets);
    }
    f.write_char('\'')?;
    for n in 0..bits {
        let octet = octets.get((n / 8) as usize).copied().unwrap_or(0);
        f.write_char(if octet >> (7 - n % 8) & 1 == 1 { '1' } else { '0' })?;
    }
    f.write_str("'B")
}

fn write_hex(f: &mut Formatter<'_>, octets: &[u8]) -> fmt::Result {
    f.write_char('\'')?;
    for octet in octets {
        write!(f, "{octet:02X}")?;
    }
    f.write_str("'H")
}

/// A cstring, or a list of cstrings and quadruples when control characters are within (X.680 §41.8).
fn write_text(f: &mut Formatter<'_>, text: &str) -> fmt::Result {
    if !text.chars().any(char::is_control) {
        return write_cstring(f, text);
    }
    let mut parts = Vec::new();
    for c in text.chars() {
        match parts.last_mut() {
            Some(Ok(run)) if !c.is_control() => String::push(run, c),
            _ if c.is_control() => parts.push(Err(c)),
            _ => parts.push(Ok(String::from(c))),
        }
    }
    write_list(f, &parts, ", ", |f, part| match part {
        Ok(run) => write_cstring(f, run),
        Err(c) => {
            let [a, b, c, d] = u32::from(*c).to_be_bytes();
            write!(f, "{{{a}, {b}, {c}, {d}}}")
        }
    })
}

fn write_cstring(f: &mut Formatter<'_>, text: &str) -> fmt::Result {
    f.write_char('"')?;
    for c in text.chars() {
        f.write_str(if c == '"' { "\"" } else { "" })?;
        f.write_char(c)?;
    }
    f.write_char('"')
}

/// The name of a type, or the keyword of its kind.
fn type_name(model: &Model, ty: TypeId) -> String {
    let mut at = ty;
    for _ in 0..64 {
        let here = &model.types[at.index()];
        if let Some(name) = &here.name {
            return format!("{}{}", name.name, name.arguments);
        }
        match here.kind {
            TypeKind::Reference(next) => at = next,
            ref kind => return super::kind_name(kind).into(),
        }
    }
    "Type".into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notation() {
        let model = Model::default();
        let cases = [
            (Value::Integer((-5).into()), "-5"),
            (Value::BitString(vec![0xa0], 3), "'101'B"),
            (Value::BitString(vec![0xa0], 8), "'A0'H"),
            (Value::Oid(vec![1, 3, 6].into()), "{1 3 6}"),
            (Value::Text("a\"b".into()), "\"a\"\"b\""),
            (Value::Text("a\nb".into()), "{\"a\", {0, 0, 0, 10}, \"b\"}"),
            (Value::Choice("c".into(), Box::new(Value::Null)), "c : NULL"),
            (
                Value::Struct(vec![("a".into(), Value::Boolean(true)), ("b".into(), Value::List(vec![]))]),
                "{a TRUE, b {}}",
            ),
            (Value::Real(Real::Finite { mantissa: 15.into(), base: 10, exponent: -1 }), "15.0E-1"),
            (
                Value::Real(Real::Finite { mantissa: 3.into(), base: 2, exponent: 4 }),
                "{mantissa 3, base 2, exponent 4}",
            ),
        ];
        for (value, text) in cases {
            assert_eq!(model.notation(&value).to_string(), text);
        }
    }
}
