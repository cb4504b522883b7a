//! Value assignments as constants, or as functions where Rust has no constant for them.

use super::Printer;
use super::imports::{EXACT_REAL, OBJECT_IDENTIFIER, OCTETS, RELATIVE_OBJECT_IDENTIFIER, TEXT};
use super::names::snake;
use super::values::{float, text};
use crate::names::Scope;
use crate::types::Repr;
use std::collections::HashSet;
use tercet_lower::{Lowering, NamedValue, kind_of};
use tercet_model::Model;
use tercet_model::ir::TypeKind;
use tercet_plan::shape::Constant;

pub(super) fn print(p: &mut Printer<'_>, model: &Model, lowering: &Lowering) {
    // Roots that are tuple structs are names of values too.
    let mut scope = Scope::default();
    for root in p.roots.iter().filter(|root| root.wraps) {
        scope.unique(root.name.clone());
    }
    let mut printed = HashSet::new();
    for value in &lowering.values {
        let Some((ty, expression, constant)) = spelled(p, model, value) else { continue };
        let plain = snake(&value.name);
        let plain = plain.trim_start_matches("r#");
        if printed.is_empty() {
            p.text.line("");
        }
        // Modules often say again what another says.
        if !printed.insert((&value.name, ty.clone(), expression.clone())) {
            continue;
        }
        p.text.doc(&format!("`{}.{}`", value.module, value.name));
        if constant {
            let name = scope.unique(plain.to_uppercase());
            p.text.line(format!("pub const {name}: {ty} = {expression};"));
        } else {
            // Functions of ours begin so.
            let apart = if plain.starts_with("read_") || plain.starts_with("write_") { "value_" } else { "" };
            let name = scope.unique(format!("{apart}{}", snake(&value.name)));
            p.text.line(format!("pub fn {name}() -> {ty} {{ {expression} }}"));
        }
    }
}

/// Type and expression, and whether the expression is constant.
fn spelled(p: &Printer<'_>, model: &Model, value: &NamedValue) -> Option<(String, String, bool)> {
    let Some(node) = value.node.map(|node| p.types.same(node)) else {
        let kind = &model.ty(model.base(value.ty)).kind;
        let (ty, expression) = simple(kind, &value.constant, p.types.choices.floats)?;
        return Some((ty, expression, true));
    };
    if let (Repr::Big, Constant::Int(number)) = (p.types.repr(node), &value.constant) {
        return Some(("i64".into(), number.to_string(), true));
    }
    let constant = matches!(
        p.types.repr(node),
        Repr::Boolean
            | Repr::Null
            | Repr::Integer { .. }
            | Repr::Real
            | Repr::Float
            | Repr::FixedBits(_)
            | Repr::FixedOctets(_)
            | Repr::Octets
            | Repr::Text
            | Repr::Enumerated
            | Repr::Oid
            | Repr::RelativeOid
    );
    let expression = p.constant(node, &value.constant, 0)?;
    Some((p.ty(node, "'static"), expression, constant))
}

/// The same for a value of a simple type that the roots do not reach.
fn simple(kind: &TypeKind, constant: &Constant, floats: bool) -> Option<(String, String)> {
    Some(match (kind, constant) {
        (_, Constant::Int(number)) => ("i64".into(), number.to_string()),
        (_, Constant::Boolean(value)) => ("bool".into(), value.to_string()),
        (TypeKind::Real, Constant::Contents(octets)) if floats => ("f64".into(), float(octets)?),
        (TypeKind::Real, Constant::Contents(octets)) => {
            (format!("{EXACT_REAL}<'static>"), format!("{EXACT_REAL}::constant(&{octets:?})"))
        }
        (TypeKind::OctetString, Constant::Contents(octets)) => {
            (format!("{OCTETS}<'static>"), format!("{OCTETS}::borrowed(&{octets:?})"))
        }
        (TypeKind::ObjectIdentifier, Constant::Contents(octets)) => {
            (format!("{OBJECT_IDENTIFIER}<'static>"), format!("{OBJECT_IDENTIFIER}::constant(&{octets:?})"))
        }
        (TypeKind::RelativeOid, Constant::Contents(octets)) => (
            format!("{RELATIVE_OBJECT_IDENTIFIER}<'static>"),
            format!("{RELATIVE_OBJECT_IDENTIFIER}::constant(&{octets:?})"),
        ),
        (
            TypeKind::CharacterString(_) | TypeKind::OidIri | TypeKind::RelativeOidIri,
            Constant::Contents(octets),
        ) => (format!("{TEXT}<'static>"), text(kind_of(kind), octets)?),
        _ => return None,
    })
}
