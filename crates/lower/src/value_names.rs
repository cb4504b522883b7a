//! Names that the specifications give to values: those of keys of information objects, and of OBJECT IDENTIFIERs. They are for
//! people; no encoding depends on them.

use crate::constants;
use crate::shape::Lowered;
use rustc_hash::FxHashMap;
use smol_str::SmolStr;
use tercet_model::ir::{ClassFieldKind, ClassId, Model, TypeId, TypeKind, Value};
use tercet_plan::FieldId;
use tercet_plan::shape::{Constant, Key};

/// References by their governor and value; nothing where several have the same.
pub(crate) type References<'m> = FxHashMap<(TypeId, i64), Option<&'m SmolStr>>;

/// The type that a value reference and a field of a class have in common: the first of its references that has a name.
fn governor(model: &Model, ty: TypeId) -> Option<TypeId> {
    model.alias_chain(ty).find(|at| model.ty(*at).name.is_some())
}

/// The references to integers of a named type, in all modules.
fn references(model: &Model) -> References<'_> {
    let mut found = References::default();
    for (name, ty, value) in model.modules.iter().flat_map(|module| &module.values) {
        let Value::Integer(number) = value else { continue };
        let (Some(governor), Ok(number)) = (governor(model, *ty), i64::try_from(number.clone())) else {
            continue;
        };
        found
            .entry((governor, number))
            .and_modify(|known| *known = known.filter(|known| *known == name))
            .or_insert(Some(name));
    }
    found
}

/// Notes the names of the keys of a table, for the components that hold them.
pub(crate) fn of_keys<'m>(
    lowered: &mut Lowered<'m>,
    model: &'m Model,
    class: ClassId,
    table: u32,
    components: &[(FieldId, SmolStr)],
) {
    for (at, (component, key)) in components.iter().enumerate() {
        if lowered.shape.value_names.iter().any(|(known, _)| known == component) {
            continue;
        }
        let fields = model.classes.get(class.index()).map_or(&[][..], |class| &class.fields);
        let kind = fields.iter().find(|field| field.name == *key).map(|field| &field.kind);
        let Some(ClassFieldKind::Value(ty)) = kind else { continue };
        let Some(governor) = governor(model, *ty) else { continue };
        let references = lowered.references.get_or_insert_with(|| references(model));
        let rows = &lowered.shape.tables[table as usize].rows;
        let named = rows.iter().filter_map(|row| match row.keys.get(at) {
            Some(Key::Int(number)) => Some((*number, (*references.get(&(governor, *number))?)?.clone())),
            _ => None,
        });
        let mut named: Vec<(i64, SmolStr)> = named.collect();
        named.sort();
        named.dedup();
        if !named.is_empty() {
            let names = named.into_iter().map(|(number, name)| (number, lowered.name(&name))).collect();
            lowered.shape.value_names.push((*component, names));
        }
    }
}

/// Notes the names of OBJECT IDENTIFIER values; of several the first.
pub(crate) fn of_oids(lowered: &mut Lowered<'_>, model: &Model) {
    let mut found = Vec::new();
    for (name, ty, value) in model.modules.iter().flat_map(|module| &module.values) {
        let kind = &model.ty(model.base(*ty)).kind;
        if matches!(kind, TypeKind::ObjectIdentifier)
            && let Some(Constant::Contents(contents)) = constants::leaf(kind, value)
        {
            found.push((contents, name));
        }
    }
    found.sort_by(|(a, _), (b, _)| a.cmp(b));
    found.dedup_by(|(later, _), (first, _)| later == first);
    lowered.shape.oid_names =
        found.into_iter().map(|(contents, name)| (contents, lowered.name(name))).collect();
}
