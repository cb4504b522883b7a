//! Values that the specification gives: DEFAULTs and keys of tables.

use super::Printer;
use super::imports::{
    BIT_STRING, EXACT_REAL, FIXED_BITS, INTEGER, KEY, OBJECT_IDENTIFIER, OCTETS, RELATIVE_OBJECT_IDENTIFIER,
    SEQUENCE_OF, TEXT, TYPES, VEC,
};
use crate::defaults::Depths;
use crate::types::{Edge, Repr, Types};
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;
use tercet_plan::shape::{Constant, Key};
use tercet_plan::{FieldId, Kind, NodeId};
use tercet_runtime::ber::{Rules, decode_real, decode_time};
use tercet_runtime::text::{StringKind, to_utf8};

/// A list without elements.
pub(super) fn empty_list(types: &Types<'_>, node: NodeId) -> String {
    if types.is_lazy(node) {
        return format!("{SEQUENCE_OF}::default()");
    }
    if types.is_list_in_arena(node) {
        format!("{TYPES}::ListRef::EMPTY")
    } else if types.is_inline(node) {
        format!("{TYPES}::List::new()")
    } else {
        format!("{VEC}::new()")
    }
}

/// What has been found out about DEFAULTs.
#[derive(Debug, Default)]
pub(super) struct Defaults {
    expressions: RefCell<HashMap<FieldId, Option<String>>>,
    depths: Depths,
}

/// Characters of an expression; a component whose DEFAULT takes more is an option.
const LONGEST: usize = 1 << 16;

/// A key as the pattern that it is matched by.
pub(super) fn key_pattern(key: &Key) -> Option<String> {
    match key {
        Key::Int(number) => Some(format!("{KEY}::Int({number})")),
        Key::Octets(octets) => Some(format!(
            "{KEY}::Octets(&[{}])",
            octets.iter().map(u8::to_string).collect::<Vec<_>>().join(", ")
        )),
        Key::Alternative(..) => None,
    }
}

/// One thing as it is, several as a tuple.
pub(super) fn tuple(parts: &[String]) -> String {
    match parts {
        [one] => one.clone(),
        _ => format!("({})", parts.join(", ")),
    }
}

/// A key for people.
pub(super) fn key_text(key: &Key) -> String {
    match key {
        Key::Int(number) => number.to_string(),
        Key::Octets(octets) => match tercet_runtime::types::OidRef::new(octets, 0) {
            Ok(oid) => oid.to_string(),
            Err(_) => format!("{octets:02X?}"),
        },
        Key::Alternative(_, inside) => key_text(inside),
    }
}

impl Printer<'_> {
    /// The expression of a component's DEFAULT; nothing if it has none, or one that has no short expression: such a
    /// component is an option.
    pub(super) fn default_value(&self, field: FieldId) -> Option<String> {
        let constant = self.types.default(field)?;
        if let Some(known) = self.defaults.expressions.borrow().get(&field) {
            return known.clone();
        }
        let node = self.types.shape.field(field).node;
        let value = if self.defaults.depths.is_shallow(&self.types, field) {
            self.constant(node, constant, 0)
        } else {
            None
        };
        let value = value.map(|value| self.boxed_constant(Edge::Field(field), value));
        self.defaults.expressions.borrow_mut().insert(field, value.clone());
        value
    }

    /// The condition that a component with a DEFAULT has it: `place` is an expression of its value.
    pub(super) fn is_default(&self, field: FieldId, place: &str) -> Option<String> {
        let value = self.default_value(field)?;
        let node = self.types.same(self.types.shape.field(field).node);
        Some(if value == empty_list(&self.types, node) {
            format!("{place}.is_empty()")
        } else if self.types.shape.has_named_bits(node) && matches!(self.types.repr(node), Repr::Bits) {
            // Zero bits at the end mean nothing (X.680 22.7).
            let reference = if self.types.is_in_arena(Edge::Field(field)) { "" } else { "&" };
            format!("{place}.is_same_set({reference}{value})")
        } else {
            format!("{place} == {value}")
        })
    }

    pub(super) fn constant(&self, node: NodeId, constant: &Constant, depth: u32) -> Option<String> {
        let node = self.types.same(node);
        if depth > 8 {
            return None;
        }
        if self.types.is_slice(node) {
            return self.constant_slice(node, constant);
        }
        Some(match (self.types.repr(node), constant) {
            (Repr::Boolean, Constant::Boolean(value)) => value.to_string(),
            (Repr::Boolean, Constant::Contents(octets)) => (octets.first()? != &0).to_string(),
            (Repr::Null, _) => "()".into(),
            (Repr::Integer { signed, bits }, Constant::Int(value)) => {
                let fits = match (signed, bits) {
                    (false, 64) => *value >= 0,
                    (false, _) => *value >= 0 && *value < 1 << bits,
                    (true, 64) => true,
                    (true, _) => (-(1_i64 << (bits - 1))..1 << (bits - 1)).contains(value),
                };
                return fits.then(|| value.to_string());
            }
            (Repr::Big, Constant::Int(value)) => {
                let octets = tercet_runtime::types::Integer::from(*value);
                format!("{INTEGER}::constant(&{:?})", octets.as_octets())
            }
            (Repr::Big, Constant::Contents(octets)) => {
                let octets = tercet_runtime::types::Integer::copied(octets);
                format!("{INTEGER}::constant(&{:?})", octets.as_octets())
            }
            (Repr::Enumerated, Constant::Int(value)) => {
                let item = self.names.item(node, *value);
                return (!item.is_empty()).then(|| format!("{}::{item}", self.names.ty(node)));
            }
            (Repr::Octets, Constant::Contents(octets)) => format!("{OCTETS}::borrowed(&{octets:?})"),
            (Repr::FixedOctets(size), Constant::Contents(octets)) => {
                return (octets.len() == size as usize).then(|| format!("{octets:?}"));
            }
            (Repr::Bits, Constant::Contents(contents)) => {
                let (unused, octets) = contents.split_first()?;
                format!("{BIT_STRING}::new(&{octets:?}[..], {unused}).unwrap_or_default()")
            }
            (Repr::FixedBits(size), Constant::Contents(contents)) => {
                let (unused, octets) = contents.split_first()?;
                if octets.len() * 8 - usize::from(*unused) != size as usize {
                    return None;
                }
                let word = octets.iter().fold(0_u64, |word, octet| word << 8 | u64::from(*octet));
                format!("{FIXED_BITS}::new({})", word >> unused)
            }
            (Repr::Oid, Constant::Contents(octets)) => {
                format!("{OBJECT_IDENTIFIER}::constant(&{octets:?})")
            }
            (Repr::RelativeOid, Constant::Contents(octets)) => {
                format!("{RELATIVE_OBJECT_IDENTIFIER}::constant(&{octets:?})")
            }
            (Repr::Real, Constant::Contents(octets)) => format!("{EXACT_REAL}::constant(&{octets:?})"),
            (Repr::Float, Constant::Contents(octets)) => float(octets)?,
            (Repr::Text, Constant::Contents(octets)) => text(self.types.shape.node(node).kind, octets)?,
            (Repr::List, Constant::List(values)) => {
                let element = self.types.element(node);
                let values = values.iter().map(|value| self.constant(element, value, depth + 1));
                let values = values.collect::<Option<Vec<_>>>()?;
                let vec = format!("alloc::vec![{}]", values.join(", "));
                let list = if values.is_empty() {
                    empty_list(&self.types, node)
                } else if self.types.is_list_in_arena(node) {
                    format!("{TYPES}::ListRef::new(const {{ &[{}] }})", values.join(", "))
                } else if self.types.is_lazy(node) {
                    format!("{SEQUENCE_OF}::from({vec})")
                } else if self.types.is_inline(node) {
                    format!("{TYPES}::List::from({vec})")
                } else {
                    vec
                };
                if self.types.is_newtype(node) { format!("{}({list})", self.names.ty(node)) } else { list }
            }
            (Repr::Choice, Constant::Choice(field, value)) => {
                let field = self.types.same_field(node, *field)?;
                let value = self.constant(self.types.shape.field(field).node, value, depth + 1)?;
                let value = self.boxed_constant(Edge::Field(field), value);
                format!("{}::{}({value})", self.names.ty(node), self.names.field(field))
            }
            (Repr::Struct, Constant::Struct(given)) => {
                let (mut parts, mut length) = (Vec::new(), 0);
                for (id, field) in self.types.shape.fields_of(node) {
                    let value = given.iter().find(|(at, _)| self.types.same_field(node, *at) == Some(id));
                    let value = match value {
                        Some((_, value)) => {
                            let value = self.boxed_constant(
                                Edge::Field(id),
                                self.constant(field.node, value, depth + 1)?,
                            );
                            if self.is_option(id) { format!("Some({value})") } else { value }
                        }
                        None if self.is_option(id) => "None".into(),
                        None => self.default_value(id)?,
                    };
                    // DEFAULTs in DEFAULTs multiply: what is this long has no short expression.
                    length += super::imports::length(&value);
                    if length > LONGEST {
                        return None;
                    }
                    parts.push(format!("{}: {value}", self.names.field(id)));
                }
                let additions = self.names.additions(node);
                parts.extend(additions.map(|name| format!("{name}: {}::NONE", self.additions_type())));
                format!("{} {{ {} }}", self.names.ty(node), parts.join(", "))
            }
            _ => return None,
        })
    }
}

/// Returns the expression of a text for the contents octets of a string or time type.
pub(super) fn text(kind: Kind, octets: &[u8]) -> Option<String> {
    let text = text_of(kind, octets)?;
    Some(format!("{TEXT}::borrowed({text:?})"))
}

/// The text itself.
pub(super) fn text_of(kind: Kind, octets: &[u8]) -> Option<Cow<'_, str>> {
    Some(match (kind.string_kind(), kind.time_type()) {
        (Some(string), _) => to_utf8(string, octets, 0).ok()?,
        (_, Some(time)) => decode_time(time, octets, 0, Rules::Ber).ok()?,
        // UTCTime and GeneralizedTime.
        (None, None) => to_utf8(StringKind::Visible, octets, 0).ok()?,
    })
}

/// The number of contents octets.
pub(super) fn float(octets: &[u8]) -> Option<String> {
    let number = decode_real(octets, 0, Rules::Ber).ok()?.to_f64();
    Some(match number {
        _ if number.is_nan() => "f64::NAN".into(),
        f64::INFINITY => "f64::INFINITY".into(),
        f64::NEG_INFINITY => "f64::NEG_INFINITY".into(),
        _ => format!("{number:?}"),
    })
}
