//! What the modules of a run leave open: names that lead to nothing, and modules given twice. In lenient mode types stand
//! in the model for both; those that rely on such a model ask here whether their types are whole.

use crate::ir::{
    Constraint, ConstraintKind, Element, ElementSet, Model, ObjectId, ObjectSetId, Setting, TypeId, TypeKind,
};
use rustc_hash::FxHashSet;
use smol_str::SmolStr;
use tercet_syntax::Span;

/// A reference that leads to nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unresolved {
    /// The name.
    pub name: SmolStr,
    /// Why it leads to nothing.
    pub cause: Cause,
    /// The reference.
    pub span: Span,
}

/// Why a name leads to nothing.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Cause {
    /// No module that could define it is known.
    Unknown,
    /// It comes from a module that was not given.
    NoModule(SmolStr),
    /// The module that it comes from does not define it.
    NotDefined(SmolStr),
    /// A parameterized definition is used without parameters.
    NoParameters,
}

/// A module that was given more than once, with different texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Twice {
    /// The name.
    pub name: SmolStr,
    /// The names in the headers of the modules; the first is the one in use.
    pub places: Vec<Span>,
}

/// What some types lack.
#[derive(Clone, Debug, Default)]
pub struct Gaps<'m> {
    /// References that lead to nothing, in the order of the text.
    pub names: Vec<&'m Unresolved>,
    /// Modules that were given more than once and define a type in use.
    pub twice: Vec<&'m Twice>,
}

impl Gaps<'_> {
    /// Whether nothing is lacking.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty() && self.twice.is_empty()
    }
}

impl Model {
    /// Returns the names that lead to nothing in some types and all that they reach, and the modules given twice that
    /// define one of them.
    pub fn gaps(&self, roots: &[TypeId]) -> Gaps<'_> {
        if self.unresolved.is_empty() && self.twice.is_empty() {
            return Gaps::default();
        }
        let mut walk = Walk::new(self);
        walk.pending.extend(roots.iter().map(|id| Part::Type(*id)));
        walk.run();
        walk.found.names.sort_by_key(|it| it.span);
        walk.found
    }
}

/// A part of the model that is still to be looked at.
enum Part<'m> {
    Type(TypeId),
    Set(ObjectSetId),
    Object(ObjectId),
    Constraint(&'m Constraint),
    Elements(&'m ElementSet),
    Element(&'m Element),
}

struct Walk<'m> {
    model: &'m Model,
    pending: Vec<Part<'m>>,
    types: Vec<bool>,
    sets: Vec<bool>,
    objects: Vec<bool>,
    modules: FxHashSet<u32>,
    names: FxHashSet<Span>,
    found: Gaps<'m>,
}

impl<'m> Walk<'m> {
    fn new(model: &'m Model) -> Self {
        Self {
            model,
            pending: Vec::new(),
            types: vec![false; model.types.len()],
            sets: vec![false; model.object_sets.len()],
            objects: vec![false; model.objects.len()],
            modules: FxHashSet::default(),
            names: FxHashSet::default(),
            found: Gaps::default(),
        }
    }

    fn run(&mut self) {
        while let Some(part) = self.pending.pop() {
            match part {
                Part::Type(id) => self.ty(id),
                Part::Set(id) => self.set(id),
                Part::Object(id) => self.object(id),
                Part::Constraint(constraint) => self.constraint(constraint),
                Part::Elements(set) => {
                    self.pending.push(Part::Element(&set.root));
                    self.pending.extend(set.additional.as_deref().map(Part::Element));
                }
                Part::Element(element) => self.element(element),
            }
        }
    }

    /// Takes the references that are written within a place.
    fn place(&mut self, span: Span) {
        let all = &self.model.unresolved;
        let first = all.partition_point(|it| it.span.lo < span.lo);
        for it in all[first..].iter().take_while(|it| it.span.lo < span.hi) {
            if it.span.hi <= span.hi && self.names.insert(it.span) {
                self.found.names.push(it);
            }
        }
    }

    fn ty(&mut self, id: TypeId) {
        if std::mem::replace(&mut self.types[id.index()], true) {
            return;
        }
        let model = self.model;
        let ty = model.ty(id);
        self.place(ty.span);
        // Built-in types of our own belong to no text.
        if ty.span != Span::default() && self.modules.insert(ty.module.0) {
            let name = model.modules.get(ty.module.index()).map(|module| &module.name);
            let twice = model.twice.iter().find(|twice| Some(&twice.name) == name);
            if let Some(twice) = twice.filter(|twice| !self.found.twice.contains(twice)) {
                self.found.twice.push(twice);
            }
        }
        match &ty.kind {
            TypeKind::Reference(next) | TypeKind::SequenceOf(_, next) | TypeKind::SetOf(_, next) => {
                self.pending.push(Part::Type(*next));
            }
            TypeKind::Sequence(parts) | TypeKind::Set(parts) | TypeKind::Choice(parts) => {
                for part in &parts.list {
                    // COMPONENTS OF brings in what is written elsewhere.
                    self.place(part.span);
                    self.pending.push(Part::Type(part.ty));
                }
            }
            _ => {}
        }
        self.pending.extend(ty.constraints.iter().map(Part::Constraint));
    }

    fn constraint(&mut self, constraint: &'m Constraint) {
        match &constraint.kind {
            ConstraintKind::Subtype(set) => self.pending.push(Part::Elements(set)),
            ConstraintKind::Contents { containing, .. } => {
                self.pending.extend(containing.map(Part::Type));
            }
            ConstraintKind::Table { set, .. } => self.pending.push(Part::Set(*set)),
            ConstraintKind::UserDefined => {}
        }
    }

    fn element(&mut self, element: &'m Element) {
        match element {
            Element::Union(parts) | Element::Intersection(parts) => {
                self.pending.extend(parts.iter().map(Part::Element));
            }
            Element::Except(from, what) => {
                self.pending.extend([Part::Element(from), Part::Element(what)]);
            }
            Element::Type(id) => self.pending.push(Part::Type(*id)),
            Element::Size(set) | Element::Alphabet(set) => self.pending.push(Part::Elements(set)),
            Element::WithComponent(inner) => self.pending.push(Part::Constraint(inner)),
            Element::WithComponents { components, .. } => {
                let inner = components.iter().filter_map(|component| component.constraint.as_deref());
                self.pending.extend(inner.map(Part::Constraint));
            }
            _ => {}
        }
    }

    fn set(&mut self, id: ObjectSetId) {
        if !std::mem::replace(&mut self.sets[id.index()], true) {
            let set = &self.model.object_sets[id.index()];
            self.place(set.span);
            self.pending.extend(set.objects.iter().map(|object| Part::Object(*object)));
        }
    }

    fn object(&mut self, id: ObjectId) {
        if std::mem::replace(&mut self.objects[id.index()], true) {
            return;
        }
        let object = &self.model.objects[id.index()];
        self.place(object.span);
        for setting in object.settings.values() {
            self.pending.push(match setting {
                Setting::Type(ty) | Setting::ValueSet(ty) | Setting::Value(ty, _) => Part::Type(*ty),
                Setting::Object(object) => Part::Object(*object),
                Setting::ObjectSet(set) => Part::Set(*set),
            });
        }
    }
}
