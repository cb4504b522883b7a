//! Value assignments of the modules that a shape comes from.

use crate::NamedValue;
use crate::constants::constant;
use crate::shape::Lowered;
use std::collections::BTreeSet;
use tercet_model::Model;
use tercet_model::ir::{TypeKind, Value};

/// The named values of all modules that have a type in the shape, or a value of such a type: those of types in the
/// shape, and those of simple types.
pub(crate) fn named(model: &Model, lowered: &mut Lowered<'_>) -> Vec<NamedValue> {
    let reached: BTreeSet<usize> =
        lowered.types.iter().flatten().map(|ty| model.ty(*ty).module.index()).collect();
    let mut out = Vec::new();
    for (index, module) in model.modules.iter().enumerate() {
        let nodes: Vec<_> = module.values.iter().map(|(_, ty, _)| lowered.known(*ty)).collect();
        if !reached.contains(&index) && nodes.iter().all(Option::is_none) {
            continue;
        }
        for ((name, ty, value), node) in module.values.iter().zip(nodes) {
            if node.is_none() && !is_simple(&model.ty(model.base(*ty)).kind) || brings_types(value) {
                continue;
            }
            if let Some(constant) = constant(lowered, model, *ty, value) {
                let (module, name) = (module.name.to_string(), name.to_string());
                out.push(NamedValue { module, name, ty: *ty, node, constant });
            }
        }
    }
    out
}

const fn is_simple(kind: &TypeKind) -> bool {
    matches!(
        kind,
        TypeKind::Boolean
            | TypeKind::Integer(_)
            | TypeKind::Real
            | TypeKind::OctetString
            | TypeKind::ObjectIdentifier
            | TypeKind::RelativeOid
            | TypeKind::CharacterString(_)
    )
}

/// Whether a value has others inside whose types the shape may not have.
fn brings_types(value: &Value) -> bool {
    match value {
        Value::Open(..) | Value::Containing(_) => true,
        Value::List(list) => list.iter().any(brings_types),
        Value::Struct(members) => members.iter().any(|(_, value)| brings_types(value)),
        Value::Choice(_, value) => brings_types(value),
        _ => false,
    }
}
