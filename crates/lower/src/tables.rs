//! Object sets → tables: the rows that an open type chooses from, and the registers of the keys (X.682 §10).

use crate::shape::{Lowered, OpenType, Source};
use crate::{constants, value_names};
use rustc_hash::FxHashMap;
use smol_str::SmolStr;
use tercet_model::ir::{
    ClassFieldKind, ClassId, ConstraintKind, Element, ElementSet, Model, ObjectId, ObjectSetId, Relation,
    Setting, TypeId, TypeKind, Value,
};
use tercet_plan::shape::{Constant, Key, Row, Table, TableRef};
use tercet_plan::{FieldId, Kind, NameId};

/// Tables made already: by set, type field and key fields.
pub(crate) type Cache = FxHashMap<(ObjectSetId, SmolStr, Vec<KeyField>), u32>;

/// A value field of a class as a key; where its values are SEQUENCEs, one of their components.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct KeyField {
    name: SmolStr,
    component: Option<SmolStr>,
}

/// Gives an open type its table. Without component relations there is nothing to choose by, and it stays as it is.
pub(crate) fn resolve<'m>(lowered: &mut Lowered<'m>, model: &'m Model, open: OpenType) {
    if let Some(content) = named_content(model, open.ty) {
        let table = lowered.shape.tables.len() as u32;
        lowered.shape.tables.push(Table { name: None, extensible: false, rows: Vec::new() });
        let row = Row {
            keys: Vec::new(),
            node: lowered.bare(content),
            type_name: type_name(lowered, model, content),
        };
        lowered.shape.tables[table as usize].rows.push(row);
        lowered.row_types.push(vec![content]);
        lowered.shape.nodes[open.node.index()].table = Some(TableRef { table, keys: Vec::new() });
        return;
    }
    let base = model.base(open.ty);
    let TypeKind::Open(Some((class, type_field))) = &model.ty(base).kind else { return };
    let Some((set, relations)) = model.table_constraint(open.ty) else { return };
    let mut registers = Vec::with_capacity(relations.len());
    let mut fields: Vec<KeyField> = Vec::with_capacity(relations.len());
    let mut components = Vec::new();
    for relation in relations {
        let Some((scope, field)) = follow(lowered, open.around, relation) else { return };
        let Some(name) = key_field(lowered, model, *class, field, &fields) else { return };
        for (id, key) in key_parts(lowered, field, &name) {
            if key.component.is_none() {
                components.push((id, key.name.clone()));
            }
            fields.push(key);
            registers.push(register(lowered, id, scope));
        }
    }
    if registers.is_empty() {
        return;
    }
    let cached = (set, type_field.clone(), fields);
    let index = match lowered.tables.get(&cached) {
        Some(&index) => index,
        None => {
            let index = lowered.shape.tables.len() as u32;
            let name = model.object_sets[set.index()].name.clone().map(|name| lowered.name(&name));
            let extensible = model.object_sets[set.index()].extensible;
            lowered.shape.tables.push(Table { name, extensible, rows: Vec::new() });
            lowered.tables.insert(cached.clone(), index);
            lowered.row_types.push(Vec::new());
            let (rows, types) = rows(lowered, model, set, type_field, &cached.2).into_iter().unzip();
            lowered.shape.tables[index as usize].rows = rows;
            lowered.row_types[index as usize] = types;
            index
        }
    };
    lowered.shape.nodes[open.node.index()].table = Some(TableRef { table: index, keys: registers });
    // Where a key is a SEQUENCE, its components have no names of their own.
    if components.len() == cached.2.len() {
        value_names::of_keys(lowered, model, *class, index, &components);
    }
}

/// A key component with its field of the class. The components of a SEQUENCE are keys of their own:
/// `ProcedureID ::= SEQUENCE {procedureCode, ddMode}`.
pub(crate) fn key_parts(lowered: &Lowered<'_>, field: FieldId, name: &SmolStr) -> Vec<(FieldId, KeyField)> {
    let node = lowered.shape.field(field).node;
    if !matches!(lowered.shape.node(node).kind, Kind::Sequence | Kind::Set) {
        return vec![(field, KeyField { name: name.clone(), component: None })];
    }
    let parts = lowered.shape.fields_of(node).map(|(id, part)| {
        let component = Some(SmolStr::from(lowered.shape.name(part.name)));
        (id, KeyField { name: name.clone(), component })
    });
    parts.collect()
}

/// The one type that an open type's values are of, by a type constraint (X.681 §14.6, X.680 §51.6.2 b).
fn named_content(model: &Model, ty: TypeId) -> Option<TypeId> {
    model.alias_chain(ty).flat_map(|at| &model.ty(at).constraints).find_map(|constraint| {
        match &constraint.kind {
            ConstraintKind::Subtype(ElementSet {
                root: Element::Type(content), extensible: false, ..
            }) => Some(*content),
            _ => None,
        }
    })
}

/// The component that an AtNotation means, and the surroundings that it is found from.
pub(crate) fn follow(
    lowered: &Lowered<'_>,
    around: Option<usize>,
    relation: &Relation,
) -> Option<(usize, FieldId)> {
    let mut at = around?;
    let mut level = 1;
    while relation.level == 0 || level < relation.level {
        match lowered.around.get(at)?.0 {
            Some(outer) => at = outer,
            None if relation.level == 0 => break,
            None => return None,
        }
        level += 1;
    }
    let mut node = lowered.around.get(at)?.1;
    let mut field = None;
    for name in &relation.path {
        let found = lowered.component(node, name)?;
        node = lowered.shape.field(found).node;
        field = Some(found);
    }
    Some((at, field?))
}

/// The register of a key component.
fn register(lowered: &mut Lowered<'_>, field: FieldId, scope: usize) -> u16 {
    let next = lowered.shape.registers;
    let key = &mut lowered.shape.fields[field.index()].key;
    if let Some(key) = *key {
        // What is further out was met before.
        if let Some(outermost) = lowered.scopes.get_mut(usize::from(key)) {
            *outermost = scope.min(*outermost);
        }
        return key;
    }
    *key = Some(next);
    lowered.scopes.push(scope);
    lowered.shape.registers = next.saturating_add(1);
    next
}

/// The value field of the class that a component holds: the one of its type that is UNIQUE, else the first of its type,
/// else the first UNIQUE one.
pub(crate) fn key_field(
    lowered: &Lowered<'_>,
    model: &Model,
    class: ClassId,
    component: FieldId,
    taken: &[KeyField],
) -> Option<SmolStr> {
    let Source::Type(ty) = lowered.sources.get(component.index())? else { return None };
    let base = model.base(*ty);
    let mut best: Option<(u32, &SmolStr)> = None;
    for field in &model.classes.get(class.index())?.fields {
        let ClassFieldKind::Value(governor) = field.kind else { continue };
        if taken.iter().any(|key| key.name == field.name) {
            continue;
        }
        let same = model.base(governor) == base;
        let alike = core::mem::discriminant(&model.ty(model.base(governor)).kind)
            == core::mem::discriminant(&model.ty(base).kind);
        let rank = u32::from(same) * 4 + u32::from(alike) * 2 + u32::from(field.unique);
        if best.is_none_or(|(before, _)| rank > before) {
            best = Some((rank, &field.name));
        }
    }
    best.map(|(_, name)| name.clone())
}

fn rows(
    lowered: &mut Lowered<'_>,
    model: &Model,
    set: ObjectSetId,
    type_field: &SmolStr,
    key_fields: &[KeyField],
) -> Vec<(Row, TypeId)> {
    let mut rows = Vec::new();
    for object in &model.object_sets[set.index()].objects {
        let settings = &model.objects[object.index()].settings;
        let Some(Setting::Type(ty)) = settings.get(type_field) else { continue };
        let Some(keys) = keys_of(lowered, model, *object, key_fields) else { continue };
        let node = lowered.bare(*ty);
        let type_name = type_name(lowered, model, *ty);
        rows.push((Row { keys, node, type_name }, *ty));
    }
    rows.sort_by(|(a, _), (b, _)| a.keys.cmp(&b.keys));
    rows.dedup_by(|(later, _), (first, _)| later.keys == first.keys);
    rows
}

/// The keys of an object, if it has them all.
pub(crate) fn keys_of(
    lowered: &mut Lowered<'_>,
    model: &Model,
    object: ObjectId,
    fields: &[KeyField],
) -> Option<Vec<Key>> {
    let settings = &model.objects.get(object.index())?.settings;
    let key_of = |field: &KeyField| match settings.get(&field.name) {
        Some(Setting::Value(governor, value)) => match &field.component {
            None => key(lowered, model, *governor, value),
            Some(component) => component_key(lowered, model, *governor, value, component),
        },
        _ => None,
    };
    fields.iter().map(key_of).collect()
}

fn type_name(lowered: &mut Lowered<'_>, model: &Model, ty: TypeId) -> Option<NameId> {
    let named = model.alias_chain(ty).find(|at| model.ty(*at).name.is_some())?;
    let module = model.modules.get(model.ty(named).module.index())?;
    let name = format!("{}.{}", module.name, model.type_name(named));
    Some(lowered.name(&name))
}

fn component_key(
    lowered: &mut Lowered<'_>,
    model: &Model,
    governor: TypeId,
    value: &Value,
    component: &SmolStr,
) -> Option<Key> {
    let (TypeKind::Sequence(parts) | TypeKind::Set(parts)) = &model.ty(model.base(governor)).kind else {
        return None;
    };
    let part = parts.list.iter().find(|part| part.name == *component)?;
    let Value::Struct(values) = value else { return None };
    let value = values.iter().find(|(name, _)| name == component).map(|(_, value)| value)?;
    key(lowered, model, part.ty, value)
}

fn key(lowered: &mut Lowered<'_>, model: &Model, ty: TypeId, value: &Value) -> Option<Key> {
    if let Value::Choice(alternative, inner) = value {
        let TypeKind::Choice(parts) = &model.ty(model.base(ty)).kind else { return None };
        let part = parts.list.iter().find(|part| part.name == *alternative)?;
        let name = lowered.name(alternative);
        return Some(Key::Alternative(name, Box::new(key(lowered, model, part.ty, inner)?)));
    }
    match constants::leaf(&model.ty(model.base(ty)).kind, value)? {
        Constant::Int(number) => Some(Key::Int(number)),
        Constant::Boolean(value) => Some(Key::Octets(vec![if value { 0xFF } else { 0 }])),
        Constant::Contents(octets) => Some(Key::Octets(octets)),
        _ => None,
    }
}
