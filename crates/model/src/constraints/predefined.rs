//! The predefined case of EMBEDDED PDV and CHARACTER STRING: constraints that leave one `identification` only.

use super::evaluate::REFERENCE_LIMIT;
use crate::ir::{ComponentConstraint, Constraint, ConstraintKind, Element, Model, TypeId, TypeKind, Value};
use smol_str::SmolStr;
use tercet_syntax::ast::PresenceConstraint;

impl Model {
    /// The one `identification` that a constrained EMBEDDED PDV or CHARACTER STRING has: `fixed`, or `syntaxes` with one
    /// pair (X.691 §28.1, §31.1; X.696 §8.2.1 f). Nothing in the general case.
    pub fn predefined(&self, ty: TypeId) -> Option<Value> {
        let base = self.underlying(ty);
        if !matches!(
            self.types[base.index()].kind,
            TypeKind::EmbeddedPdv | TypeKind::UnrestrictedCharacterString
        ) {
            return None;
        }
        let mut known = Known::default();
        for constraint in self.each_constraint(ty) {
            known = known.and(self.of_constraint(constraint, Part::Whole, 0));
        }
        match known.alternative?.as_str() {
            "fixed" => Some(Value::Choice("fixed".into(), Box::new(Value::Null))),
            "syntaxes" => {
                let pair = vec![
                    ("abstract".into(), Value::Oid(known.abstract_syntax?.into())),
                    ("transfer".into(), Value::Oid(known.transfer_syntax?.into())),
                ];
                Some(Value::Choice("syntaxes".into(), Box::new(Value::Struct(pair))))
            }
            _ => None,
        }
    }

    fn of_constraint(&self, constraint: &Constraint, part: Part, depth: usize) -> Known {
        match &constraint.kind {
            ConstraintKind::Subtype(set) if !set.extensible => self.of_element(&set.root, part, depth),
            _ => Known::default(),
        }
    }

    fn of_element(&self, element: &Element, part: Part, depth: usize) -> Known {
        if depth > REFERENCE_LIMIT {
            return Known::default();
        }
        let depth = depth + 1;
        match element {
            Element::Value(value) => of_value(value, part),
            Element::Intersection(parts) => {
                let parts = parts.iter().map(|it| self.of_element(it, part, depth));
                parts.fold(Known::default(), Known::and)
            }
            Element::Union(parts) => {
                let mut parts = parts.iter().map(|it| self.of_element(it, part, depth));
                let first = parts.next().unwrap_or_default();
                parts.fold(first, Known::or)
            }
            // EXCEPT and what follows is ignored (X.691 §10.3.20).
            Element::Except(from, _) => self.of_element(from, part, depth),
            Element::Type(ty) => {
                let constraints = self.each_constraint(*ty);
                constraints.fold(Known::default(), |known, it| known.and(self.of_constraint(it, part, depth)))
            }
            Element::WithComponents { partial, components } => {
                let inner = components.iter().map(|component| {
                    let inside = part.inside(&component.name);
                    let constraint = component.constraint.as_deref();
                    inside.zip(constraint).map_or_else(Known::default, |(inside, constraint)| {
                        self.of_constraint(constraint, inside, depth)
                    })
                });
                let mut known = inner.fold(Known::default(), Known::and);
                if part == Part::Identification {
                    known.alternative = known.alternative.or_else(|| only_alternative(*partial, components));
                }
                known
            }
            _ => Known::default(),
        }
    }
}

/// What a constraint is of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Whole,
    Identification,
    Syntaxes,
    Abstract,
    Transfer,
}

impl Part {
    fn inside(self, component: &str) -> Option<Self> {
        match (self, component) {
            (Self::Whole, "identification") => Some(Self::Identification),
            (Self::Identification, "syntaxes") => Some(Self::Syntaxes),
            (Self::Syntaxes, "abstract") => Some(Self::Abstract),
            (Self::Syntaxes, "transfer") => Some(Self::Transfer),
            _ => None,
        }
    }
}

/// What constraints leave one value of.
#[derive(Clone, Debug, Default)]
struct Known {
    alternative: Option<SmolStr>,
    abstract_syntax: Option<Vec<u128>>,
    transfer_syntax: Option<Vec<u128>>,
}

impl Known {
    fn and(self, other: Self) -> Self {
        Self {
            alternative: self.alternative.or(other.alternative),
            abstract_syntax: self.abstract_syntax.or(other.abstract_syntax),
            transfer_syntax: self.transfer_syntax.or(other.transfer_syntax),
        }
    }

    fn or(self, other: Self) -> Self {
        fn same<T: PartialEq>(a: Option<T>, b: Option<T>) -> Option<T> {
            if a == b { a } else { None }
        }
        Self {
            alternative: same(self.alternative, other.alternative),
            abstract_syntax: same(self.abstract_syntax, other.abstract_syntax),
            transfer_syntax: same(self.transfer_syntax, other.transfer_syntax),
        }
    }
}

fn of_value(value: &Value, part: Part) -> Known {
    let mut known = Known::default();
    match (part, value) {
        (Part::Identification, Value::Choice(name, inner)) => {
            known = of_value(inner, part.inside(name).unwrap_or(Part::Identification));
            known.alternative = Some(name.clone());
        }
        (Part::Whole | Part::Syntaxes, Value::Struct(components)) => {
            for (name, value) in components {
                if let Some(inside) = part.inside(name) {
                    known = known.and(of_value(value, inside));
                }
            }
        }
        (Part::Abstract, Value::Oid(arcs)) => known.abstract_syntax = Some(arcs.to_vec()),
        (Part::Transfer, Value::Oid(arcs)) => known.transfer_syntax = Some(arcs.to_vec()),
        _ => {}
    }
    known
}

/// The alternative of a CHOICE that is left: the one that is PRESENT, or the only one that is named and not ABSENT
/// where no `...` stands first (X.680 §51.8).
fn only_alternative(partial: bool, components: &[ComponentConstraint]) -> Option<SmolStr> {
    let present = |it: &&ComponentConstraint| it.presence == Some(PresenceConstraint::Present);
    if let Some(it) = components.iter().find(present) {
        return Some(it.name.clone());
    }
    let mut left = components.iter().filter(|it| it.presence != Some(PresenceConstraint::Absent));
    let only = left.next().filter(|_| !partial && left.next().is_none());
    only.map(|it| it.name.clone())
}
