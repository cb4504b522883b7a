//! Values that the specification gives: DEFAULTs and keys of tables.

use super::text::literal;
use super::{Number, Printer};
use crate::types::Repr;
use tercet_plan::shape::{Constant, Key};
use tercet_plan::{FieldId, Kind, NodeId};
use tercet_runtime::ber::{Rules, decode_real, decode_time};
use tercet_runtime::text::{StringKind, to_utf8};

/// Characters of an expression; a component whose DEFAULT takes more is an option.
const LONGEST: usize = 1 << 14;

/// A list without elements.
const EMPTY: &str = "List.of()";

impl Printer<'_> {
    /// The expression of a component's DEFAULT; nothing if it has none, or one that has no short expression: such a
    /// component is an option.
    pub(super) fn default_value(&self, field: FieldId) -> Option<String> {
        let constant = self.types.default(field)?;
        if let Some(known) = self.defaults.borrow().get(&field) {
            return known.clone();
        }
        let node = self.types.shape.field(field).node;
        let is_shallow = self.depths.is_shallow(&self.types, field);
        let value = if is_shallow { self.constant(node, constant, 0) } else { None };
        self.defaults.borrow_mut().insert(field, value.clone());
        value
    }

    /// Whether a DEFAULT is made once and kept in a constant: all but numbers and truth values.
    pub(super) fn is_kept(&self, field: FieldId) -> bool {
        let node = self.types.shape.field(field).node;
        !self.is_primitive(node) && self.default_value(field).is_some_and(|value| value != EMPTY)
    }

    /// The name of the constant, or the expression itself.
    pub(super) fn default_name(&self, field: FieldId) -> Option<String> {
        let value = self.default_value(field)?;
        let constant = || format!("DEFAULT_{}", self.names.field(field).to_uppercase());
        Some(if self.is_kept(field) { constant() } else { value })
    }

    /// The condition that a component with a DEFAULT has it: `place` is an expression of its value.
    pub(super) fn is_default(&self, field: FieldId, place: &str) -> Option<String> {
        let value = self.default_name(field)?;
        let node = self.types.same(self.types.shape.field(field).node);
        Some(match self.types.repr(node) {
            Repr::List if value == EMPTY => format!("{place}.isEmpty()"),
            Repr::Bits if self.types.shape.has_named_bits(node) => {
                // Zero bits at the end mean nothing (X.680 22.7).
                format!("{value}.isSameSet({place})")
            }
            Repr::Boolean if value == "true" => place.to_owned(),
            Repr::Boolean => format!("!{place}"),
            Repr::Float => format!("Double.compare({place}, {value}) == 0"),
            _ if self.is_primitive(node) => format!("{place} == {value}"),
            _ => format!("{value}.equals({place})"),
        })
    }

    fn constant(&self, node: NodeId, constant: &Constant, depth: u32) -> Option<String> {
        let node = self.types.same(node);
        if depth > 8 {
            return None;
        }
        Some(match (self.types.repr(node), constant) {
            (Repr::Boolean, Constant::Boolean(value)) => value.to_string(),
            (Repr::Boolean, Constant::Contents(octets)) => (octets.first()? != &0).to_string(),
            (Repr::Null, _) => "Null.NULL".into(),
            (Repr::Integer { .. } | Repr::Big, Constant::Int(value)) => match self.number(node) {
                Number::Int(least, most) => {
                    return (least..=most).contains(value).then(|| int(*value));
                }
                Number::Long(least, most) => {
                    return (least..=most).contains(value).then(|| long(*value));
                }
                Number::Unsigned if *value < 0 => return None,
                Number::Unsigned | Number::Big => format!("BigInteger.valueOf({})", long(*value)),
            },
            (Repr::Big, Constant::Contents(octets)) => format!("new BigInteger({})", array(octets)),
            (Repr::Enumerated, Constant::Int(value)) => {
                let item = self.names.item(node, *value);
                return (!item.is_empty()).then(|| format!("{}.{item}", self.names.ty(node)));
            }
            (Repr::Octets, Constant::Contents(octets)) => octets_of(octets),
            (Repr::FixedOctets(size), Constant::Contents(octets)) => {
                return (octets.len() == size as usize).then(|| octets_of(octets));
            }
            (Repr::Bits, Constant::Contents(contents)) => bits(contents)?,
            (Repr::FixedBits(size), Constant::Contents(contents)) => {
                let (unused, octets) = contents.split_first()?;
                if octets.len() * 8 - usize::from(*unused) != size as usize {
                    return None;
                }
                bits(contents)?
            }
            (Repr::Oid, Constant::Contents(octets)) => {
                let oid = tercet_runtime::types::OidRef::new(octets, 0).ok()?;
                format!("ObjectIdentifier.of({})", literal(&oid.to_string()))
            }
            (Repr::RelativeOid, Constant::Contents(octets)) => {
                let oid = tercet_runtime::types::RelativeOidRef::new(octets, 0).ok()?;
                format!("RelativeObjectIdentifier.of({})", literal(&oid.to_string()))
            }
            (Repr::Real, Constant::Contents(octets)) => {
                decode_real(octets, 0, Rules::Ber).ok()?;
                format!("Asn1Real.constant({})", octets_of(octets))
            }
            (Repr::Float, Constant::Contents(octets)) => float(octets)?,
            (Repr::Text, Constant::Contents(octets)) => text(self.types.shape.node(node).kind, octets)?,
            (Repr::List, Constant::List(values)) => {
                let element = self.types.element(node);
                let values = values.iter().map(|value| self.constant(element, value, depth + 1));
                let values = values.collect::<Option<Vec<_>>>()?;
                let list = match values.is_empty() {
                    true => EMPTY.into(),
                    false => format!("List.of({})", values.join(", ")),
                };
                if self.types.is_newtype(node) {
                    format!("new {}({list})", self.names.ty(node))
                } else {
                    list
                }
            }
            (Repr::Choice, Constant::Choice(field, value)) => {
                let field = self.types.same_field(node, *field)?;
                let value = self.constant(self.types.shape.field(field).node, value, depth + 1)?;
                format!("new {}.{}({value})", self.names.ty(node), self.names.field(field))
            }
            (Repr::Struct, Constant::Struct(given)) => self.structure(node, given, depth)?,
            _ => return None,
        })
    }

    fn structure(&self, node: NodeId, given: &[(FieldId, Constant)], depth: u32) -> Option<String> {
        let is_record = self.is_record(node);
        let (mut parts, mut length) = (Vec::new(), 0);
        for (id, field) in self.types.shape.fields_of(node) {
            let value = given.iter().find(|(at, _)| self.types.same_field(node, *at) == Some(id));
            let value = match value {
                Some((_, value)) => self.constant(field.node, value, depth + 1)?,
                None if self.is_option(id) => "null".into(),
                None => self.default_value(id)?,
            };
            length += value.len();
            if length > LONGEST {
                return None;
            }
            parts.push(if is_record { value } else { format!(".{}({value})", self.names.field(id)) });
        }
        let name = self.names.ty(node);
        Some(if is_record {
            parts.extend(self.names.additions(node).map(|_| "UnknownAdditions.NONE".into()));
            format!("new {name}({})", parts.join(", "))
        } else {
            format!("{name}.builder(){}.build()", parts.concat())
        })
    }

    /// A key as an expression.
    pub(super) fn key(key: &Key) -> Option<String> {
        match key {
            Key::Int(number) => Some(format!("TableKey.of({})", long(*number))),
            Key::Octets(octets) => Some(format!("TableKey.of({})", octets_of(octets))),
            Key::Alternative(..) => None,
        }
    }
}

/// A literal of `int`.
pub(super) fn int(value: i64) -> String {
    value.to_string()
}

/// A literal of `long`.
pub(super) fn long(value: i64) -> String {
    match value {
        i64::MIN => "Long.MIN_VALUE".into(),
        i64::MAX => "Long.MAX_VALUE".into(),
        _ => format!("{value}L"),
    }
}

/// The expression of a `BigInteger`.
pub(super) fn big_of(value: i64) -> String {
    format!("BigInteger.valueOf({})", long(value))
}

/// The expression of a `BigInteger` from its bytes, with or without a sign.
pub(super) fn big(octets: &[u8], unsigned: bool) -> String {
    format!("new BigInteger({}{})", if unsigned { "1, " } else { "" }, array(octets))
}

fn array(octets: &[u8]) -> String {
    let octets: Vec<String> = octets.iter().map(|octet| octet.cast_signed().to_string()).collect();
    format!("new byte[] {{{}}}", octets.join(", "))
}

fn octets_of(octets: &[u8]) -> String {
    let digits: String = octets.iter().map(|octet| format!("{octet:02x}")).collect();
    format!("Octets.ofHex(\"{digits}\")")
}

fn bits(contents: &[u8]) -> Option<String> {
    let (unused, octets) = contents.split_first()?;
    Some(format!("BitString.of({}, {unused})", octets_of(octets)))
}

/// The expression of a text for the contents octets of a string or time type.
fn text(kind: Kind, octets: &[u8]) -> Option<String> {
    let text = match (kind.string_kind(), kind.time_type()) {
        (Some(string), _) => to_utf8(string, octets, 0).ok()?,
        (_, Some(time)) => decode_time(time, octets, 0, Rules::Ber).ok()?,
        // UTCTime and GeneralizedTime.
        (None, None) => to_utf8(StringKind::Visible, octets, 0).ok()?,
    };
    Some(literal(&text))
}

/// The number of contents octets.
fn float(octets: &[u8]) -> Option<String> {
    let number = decode_real(octets, 0, Rules::Ber).ok()?.to_f64();
    Some(match number {
        _ if number.is_nan() => "Double.NaN".into(),
        f64::INFINITY => "Double.POSITIVE_INFINITY".into(),
        f64::NEG_INFINITY => "Double.NEGATIVE_INFINITY".into(),
        _ => format!("{number:?}"),
    })
}
