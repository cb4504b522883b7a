//! What waits until all types stand: constraints and DEFAULT values.

use super::lookup::Scope;
use super::{Extent, Resolver};
use crate::ir::{self, Element, ObjectSetId, Presence, Setting, TypeId, TypeKind, Value};
use tercet_syntax::ast::{self, Ident};

/// The constraints of a type, as written.
#[derive(Clone, Debug)]
pub(super) enum Constraints<'a> {
    /// Behind a type.
    Written(Scope<'a>, &'a [ast::Constraint]),
    /// The elements of a value set assignment.
    Set(Scope<'a>, &'a ast::ElementSet),
    /// The values that objects have in a field.
    FromObjects(ObjectSetId, &'a [Ident]),
}

/// Something to be done once all types stand.
#[derive(Debug)]
pub(super) enum Deferred<'a> {
    Constraints(TypeId),
    Default { owner: TypeId, index: usize, ty: TypeId, scope: Scope<'a>, value: &'a ast::Value },
}

impl<'a> Resolver<'a> {
    pub(super) fn defer_constraints(&mut self, id: TypeId, constraints: Constraints<'a>) {
        self.constraints.entry(id).or_insert_with(|| Vec::with_capacity(1)).push(constraints);
        self.deferred.push_back(Deferred::Constraints(id));
    }

    /// A value set: a type of its own, whose elements are resolved later.
    pub(crate) fn new_value_set(
        &mut self,
        scope: &Scope<'a>,
        set: &'a ast::ElementSet,
        governor: TypeId,
    ) -> TypeId {
        let id = self.new_type(scope, TypeKind::Reference(governor), set.span);
        self.defer_value_set(id, scope, set);
        id
    }

    /// Leaves the elements of a value set for later.
    pub(crate) fn defer_value_set(&mut self, id: TypeId, scope: &Scope<'a>, set: &'a ast::ElementSet) {
        self.defer_constraints(id, Constraints::Set(scope.clone(), set));
    }

    pub(super) fn defer_default(
        &mut self,
        owner: TypeId,
        index: usize,
        ty: TypeId,
        scope: Scope<'a>,
        value: &'a ast::Value,
    ) {
        self.deferred.push_back(Deferred::Default { owner, index, ty, scope, value });
    }

    /// Resolves the constraints of a type now, if that is not being done already.
    pub(crate) fn ensure_constraints(&mut self, id: TypeId) {
        self.ensure(id);
        let Some(written) = self.constraints.remove(&id) else { return };
        let span = self.model.types[id.index()].span;
        if !self.enter(span) {
            return;
        }
        for constraints in written {
            match constraints {
                Constraints::Written(scope, list) => {
                    for tree in list {
                        // One after the other: each sees those before it (serial application, X.680 §49.8).
                        let found = self.constraint(&scope, tree, id);
                        let constraints = &mut self.model.types[id.index()].constraints;
                        // Most types have one: room for four, which `push` makes, would stay unused.
                        constraints.reserve_exact(1);
                        constraints.extend(found);
                    }
                }
                Constraints::Set(scope, set) => {
                    let found = self.element_set(&scope, set, id);
                    self.add_subtype(id, found, set.span);
                }
                Constraints::FromObjects(set, path) => {
                    let values = self.values_of_objects(set, path);
                    let extensible = self.model.object_sets[set.index()].extensible;
                    let root = Element::Union(values);
                    self.add_subtype(id, ir::ElementSet { root, extensible, additional: None }, span);
                }
            }
        }
        self.leave();
    }

    fn add_subtype(&mut self, id: TypeId, set: ir::ElementSet, span: tercet_syntax::Span) {
        let kind = ir::ConstraintKind::Subtype(set);
        self.model.types[id.index()].constraints.push(ir::Constraint { kind, variable: false, span });
    }

    /// The values that the objects of a set have in a field (X.681 §15.2).
    fn values_of_objects(&mut self, set: ObjectSetId, path: &'a [Ident]) -> Vec<Element> {
        let span = path.last().map_or_else(Default::default, |p| p.span);
        if !self.ensure_object_set(set, span) {
            return Vec::new();
        }
        let mut out = Vec::new();
        for object in self.model.object_sets[set.index()].objects.clone() {
            if !self.ensure_object(object, span) {
                continue;
            }
            match self.field_of_object(object, path) {
                Some(Setting::Value(_, value)) if !self.spend(Extent::of(&value).nodes, span) => return out,
                Some(Setting::Value(_, value)) => out.push(Element::Value(value)),
                Some(Setting::ValueSet(ty)) => out.push(Element::Type(ty)),
                _ => {}
            }
        }
        out
    }

    /// Works off what waits, and what comes up meanwhile.
    pub(super) fn run_deferred(&mut self) {
        while let Some(next) = self.deferred.pop_front() {
            match next {
                Deferred::Constraints(id) => self.ensure_constraints(id),
                Deferred::Default { owner, index, ty, scope, value } => {
                    if self.is_missing(ty) {
                        continue;
                    }
                    if self.is_string_for_list(value, ty) {
                        self.set_default(owner, index, Value::Error);
                        continue;
                    }
                    let value = self.value(&scope, value, ty);
                    self.set_default(owner, index, value);
                }
            }
            self.run_queue();
        }
    }

    /// `SEQUENCE OF OCTET STRING DEFAULT '00'H`: a slip of published specifications.
    fn is_string_for_list(&mut self, value: &ast::Value, ty: TypeId) -> bool {
        let base = self.base(ty);
        let is_list =
            matches!(self.model.types[base.index()].kind, TypeKind::SequenceOf(..) | TypeKind::SetOf(..));
        if !is_list || !matches!(value.kind, ast::ValueKind::Hex(_) | ast::ValueKind::Binary(_)) {
            return false;
        }
        let kind = crate::values::kind_name(&self.model.types[base.index()].kind);
        let finding = self
            .slip("L0401", value.span, format!("the DEFAULT of a {kind} is a string"))
            .label("the component is taken as OPTIONAL")
            .help("a list of values in braces is needed: `{'00'H, '01'H}`");
        self.report(finding);
        true
    }

    fn set_default(&mut self, owner: TypeId, index: usize, value: Value) {
        let (TypeKind::Sequence(components) | TypeKind::Set(components) | TypeKind::Choice(components)) =
            &mut self.model.types[owner.index()].kind
        else {
            return;
        };
        if let Some(component) = components.list.get_mut(index) {
            component.presence = Presence::Default(value);
        }
    }
}
