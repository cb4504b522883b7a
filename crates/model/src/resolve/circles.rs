//! Circles that only the whole shows, broken so that no later stage goes round in them: types whose constraints lead back
//! to themselves, and DEFAULT values that need themselves.

use super::Resolver;
use crate::graph::circular;
use crate::ir::{Constraint, ConstraintKind, Element, ElementSet, Presence, TypeId, TypeKind, Value};
use rustc_hash::FxHashMap;
use tercet_syntax::{Diagnostic, Span};

impl Resolver<'_> {
    /// `K ::= INTEGER (K)`: the values of a type cannot be told from its own values (X.680 §3.8.20 and §51.3.2 want the
    /// contained subtype defined elsewhere). Such elements say nothing afterwards.
    pub(super) fn break_constraint_circles(&mut self) {
        let types = &self.model.types;
        // Circles of references alone have been broken, so that one of constraints leads through a contained subtype.
        let mut is_any = false;
        types.iter().for_each(|ty| contained(&ty.constraints, |_, _| is_any = true));
        if !is_any {
            return;
        }
        let edges = |from: usize, out: &mut Vec<usize>| {
            let ty = &types[from];
            if let TypeKind::Reference(next) = ty.kind {
                out.push(next.index());
            }
            contained(&ty.constraints, |id, _| out.push(id.index()));
        };
        let circles = circular(types.len(), edges);
        let mut found: Vec<(TypeId, Span)> = Vec::new();
        for (index, ty) in types.iter().enumerate().filter(|(index, _)| circles[*index]) {
            contained(&ty.constraints, |id, span| {
                if circles[id.index()] {
                    found.push((TypeId(index as u32), span));
                }
            });
        }
        for &(id, span) in &found {
            let ty = &self.model.types[id.index()];
            let name = ty.name.as_ref().map_or_else(|| "this type".into(), |name| format!("`{}`", name.name));
            let finding = Diagnostic::error("E0224", span, format!("{name} is constrained by itself"))
                .label("leads back to the type that it constrains")
                .note("X.680 §51.3: a contained subtype is another type, defined without this one");
            self.report(finding);
        }
        for (id, _) in found {
            for constraint in &mut self.model.types[id.index()].constraints {
                if let ConstraintKind::Subtype(set) = &mut constraint.kind {
                    cut(set, &circles);
                }
            }
        }
    }

    /// `B ::= SEQUENCE { a B DEFAULT {} }`: the value that stands for an absent `a` lacks its own `a`, and so on without
    /// end. Nobody can hold such a value: the component is taken as OPTIONAL.
    pub(super) fn break_default_circles(&mut self) {
        let mut defaults: Vec<(TypeId, usize)> = Vec::new();
        let mut numbers: FxHashMap<(TypeId, usize), usize> = FxHashMap::default();
        for (index, ty) in self.model.types.iter().enumerate() {
            let (TypeKind::Sequence(parts) | TypeKind::Set(parts)) = &ty.kind else { continue };
            for (at, part) in parts.list.iter().enumerate() {
                // Only values with components of their own can need others.
                if let Presence::Default(Value::Struct(_) | Value::List(_) | Value::Choice(..)) =
                    part.presence
                {
                    let key = (TypeId(index as u32), at);
                    numbers.insert(key, defaults.len());
                    defaults.push(key);
                }
            }
        }
        if defaults.is_empty() {
            return;
        }
        let model = &self.model;
        let part_of = |(owner, at): (TypeId, usize)| match &model.types[owner.index()].kind {
            TypeKind::Sequence(parts) | TypeKind::Set(parts) => parts.list.get(at),
            _ => None,
        };
        let edges = |from: usize, out: &mut Vec<usize>| {
            let Some(part) = part_of(defaults[from]) else { return };
            let Presence::Default(value) = &part.presence else { return };
            let mut pending = vec![(part.ty, value)];
            while let Some((ty, value)) = pending.pop() {
                let base = model.underlying(ty);
                match (&model.types[base.index()].kind, value) {
                    (TypeKind::Sequence(parts) | TypeKind::Set(parts), Value::Struct(_) | Value::List(_)) => {
                        let given = if let Value::Struct(given) = value { given.as_slice() } else { &[] };
                        let mut given: FxHashMap<&str, &Value> =
                            given.iter().map(|(name, value)| (name.as_str(), value)).collect();
                        for (at, part) in parts.list.iter().enumerate() {
                            match given.remove(part.name.as_str()) {
                                Some(value) => pending.push((part.ty, value)),
                                None => out.extend(numbers.get(&(base, at))),
                            }
                        }
                    }
                    (TypeKind::SequenceOf(_, item) | TypeKind::SetOf(_, item), Value::List(list)) => {
                        pending.extend(list.iter().map(|value| (*item, value)));
                    }
                    (TypeKind::Choice(parts), Value::Choice(name, inner)) => {
                        let part = parts.list.iter().find(|part| part.name == *name);
                        pending.extend(part.map(|part| (part.ty, &**inner)));
                    }
                    (_, Value::Open(ty, inner)) => pending.push((*ty, inner)),
                    _ => {}
                }
            }
        };
        let circles = circular(defaults.len(), edges);
        for ((owner, at), _) in defaults.into_iter().zip(circles).filter(|(_, is_circle)| *is_circle) {
            let (TypeKind::Sequence(parts) | TypeKind::Set(parts)) =
                &mut self.model.types[owner.index()].kind
            else {
                continue;
            };
            let Some(part) = parts.list.get_mut(at) else { continue };
            part.presence = Presence::Optional;
            let (name, span) = (part.name.clone(), part.span);
            let finding = self
                .slip("E0225", span, format!("the DEFAULT of `{name}` contains itself without end"))
                .label("the component is taken as OPTIONAL")
                .help(format!("give `{name}` itself in the value, or make the component OPTIONAL"));
            self.report(finding);
        }
    }
}

/// Calls back with the types whose values a type's constraints are made of, as a whole: not those of components.
fn contained(constraints: &[Constraint], mut each: impl FnMut(TypeId, Span)) {
    let mut pending: Vec<(&Element, Span)> = Vec::new();
    for constraint in constraints {
        if let ConstraintKind::Subtype(set) = &constraint.kind {
            // Most sets are a range, and need no list.
            let elements = elements(set).filter(|element| !matches!(element, Element::Range(..)));
            pending.extend(elements.map(|element| (element, constraint.span)));
        }
    }
    while let Some((element, span)) = pending.pop() {
        match element {
            Element::Union(parts) | Element::Intersection(parts) => {
                pending.extend(parts.iter().map(|part| (part, span)));
            }
            Element::Except(from, what) => pending.extend([(&**from, span), (&**what, span)]),
            Element::Size(set) | Element::Alphabet(set) => {
                pending.extend(elements(set).map(|element| (element, span)));
            }
            Element::Type(id) => each(*id, span),
            _ => {}
        }
    }
}

fn elements(set: &ElementSet) -> impl Iterator<Item = &Element> {
    std::iter::once(&set.root).chain(set.additional.as_deref())
}

/// Lets elements that are part of a circle say nothing.
fn cut(set: &mut ElementSet, circles: &[bool]) {
    let mut pending: Vec<&mut Element> = vec![&mut set.root];
    pending.extend(set.additional.as_deref_mut());
    while let Some(element) = pending.pop() {
        match element {
            Element::Union(parts) | Element::Intersection(parts) => pending.extend(parts),
            Element::Except(from, what) => pending.extend([&mut **from, &mut **what]),
            Element::Size(set) | Element::Alphabet(set) => {
                pending.push(&mut set.root);
                pending.extend(set.additional.as_deref_mut());
            }
            Element::Type(id) if circles[id.index()] => *element = Element::All,
            _ => {}
        }
    }
}
