//! ASN.1 value notation (X.680 clauses 18 to 46) of values.

use super::{Content, Value};
use crate::text::{Octets, RealText, push_big_integer, push_octets, push_real};
use std::fmt::{self, Display, Formatter};
use tercet_runtime::ber::{Rules, decode_real};
use tercet_runtime::types::Real;

/// One line; with `{:#}` a line for each component and element.
///
/// The notation of a value does not tell its type. Two things have none: an open type whose content is not known, and
/// an extension addition that the schema does not know; their octets are shown behind a comment.
impl Display for Value {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let spread = f.alternate();
        Printer { f, spread, level: 0 }.value(self)
    }
}

struct Printer<'a, 'b> {
    f: &'a mut Formatter<'b>,
    spread: bool,
    level: usize,
}

impl Printer<'_, '_> {
    fn value(&mut self, value: &Value) -> fmt::Result {
        match value {
            Value::Boolean(true) => self.f.write_str("TRUE"),
            Value::Boolean(false) => self.f.write_str("FALSE"),
            Value::Integer(number) | Value::Enumerated(number, None) => write!(self.f, "{number}"),
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
                self.quoted(&digits, "H")
            }
            Value::BitString(bits) => {
                let digits: Vec<u8> =
                    (0..bits.len()).map(|i| b'0' + u8::from(bits.get(i) == Some(true))).collect();
                self.quoted(&digits, "B")
            }
            Value::OctetString(octets) => self.hex(octets),
            Value::Encoding(octets) => {
                self.f.write_str("/* encoding */ ")?;
                self.hex(octets)
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
                self.value(value)
            }
            Value::Null => self.f.write_str("NULL"),
            Value::ObjectIdentifier(oid) => write!(self.f, "{{{}}}", oid.to_string().replace('.', " ")),
            Value::RelativeOid(oid) => write!(self.f, "{{{}}}", oid.to_string().replace('.', " ")),
            Value::Text(text) | Value::Time(text) => write!(self.f, "\"{}\"", text.replace('"', "\"\"")),
            Value::Sequence(members) | Value::Set(members) => {
                self.braces(members.iter(), |printer, (name, value)| {
                    if name != "..." {
                        write!(printer.f, "{name} ")?;
                    }
                    printer.value(value)
                })
            }
            Value::SequenceOf(elements) | Value::SetOf(elements) => {
                self.braces(elements.iter(), |printer, value| printer.value(value))
            }
            Value::Choice(name, value) => {
                if name != "..." {
                    write!(self.f, "{name} : ")?;
                }
                self.value(value)
            }
            // X.681 14.6: the type without its module.
            Value::Open(Content { type_name, value, .. }) => {
                if let Some(name) = type_name.rsplit('.').next().filter(|name| !name.is_empty()) {
                    write!(self.f, "{name} : ")?;
                }
                self.value(value)
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
                let mut mantissa = vec![0];
                mantissa.extend_from_slice(binary.mantissa);
                push_big_integer(&mut text, &mantissa);
                let sign = if binary.negative { "-" } else { "" };
                write!(self.f, "{{mantissa {sign}")?;
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
