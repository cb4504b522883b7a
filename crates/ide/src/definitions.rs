//! Definitions: every name that a text gives to something, in the order of the text.

use tercet_syntax::Span;
use tercet_syntax::ast::{
    Addition, Assignment, AssignmentKind, Component, ComponentList, Ident, Module, Type, TypeKind,
};

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// A module.
    Module,
    /// A type.
    Type,
    /// A value or an object.
    Value,
    /// A value set or an object set.
    Set,
    /// An information object class.
    Class,
    /// A MACRO of the 1988 notation.
    Macro,
    /// A dummy parameter.
    Parameter,
    /// A component of a SEQUENCE or SET.
    Component,
    /// An alternative of a CHOICE.
    Alternative,
    /// An item of an ENUMERATED, a named number or a named bit.
    Item,
    /// A field of a class.
    Field,
}

impl Kind {
    /// What the name of an assignment stands for.
    pub(crate) fn of(assignment: &AssignmentKind) -> Self {
        match assignment {
            AssignmentKind::Type(_) => Self::Type,
            AssignmentKind::Value { .. } => Self::Value,
            AssignmentKind::Set { .. } => Self::Set,
            AssignmentKind::Class(_) => Self::Class,
            AssignmentKind::Macro => Self::Macro,
        }
    }
}

/// A definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Definition {
    /// The name.
    pub name: Span,
    /// What it stands for.
    pub kind: Kind,
    /// All of it: the assignment, or the component with its type.
    pub whole: Span,
    /// The module, by its place among those of the snapshot.
    pub module: usize,
    /// The assignment that it is in or that it is, by its place in the module.
    pub assignment: Option<usize>,
    /// How many definitions it is inside of.
    pub depth: usize,
}

/// Returns the definitions of modules, in the order of the text of each.
pub(crate) fn of(modules: &[Module]) -> Vec<Definition> {
    let mut finder = Finder { found: Vec::new(), module: 0, assignment: None, depth: 0 };
    for (index, module) in modules.iter().enumerate() {
        (finder.module, finder.assignment, finder.depth) = (index, None, 0);
        finder.add(&module.name, Kind::Module, module.span);
        for (at, assignment) in module.assignments.iter().enumerate() {
            (finder.assignment, finder.depth) = (Some(at), 1);
            finder.assignment(assignment);
        }
    }
    finder.found.sort_by_key(|definition| (definition.name, definition.depth));
    finder.found
}

struct Finder {
    found: Vec<Definition>,
    module: usize,
    assignment: Option<usize>,
    depth: usize,
}

impl Finder {
    fn add(&mut self, name: &Ident, kind: Kind, whole: Span) {
        if !name.text.is_empty() {
            let Self { module, assignment, depth, .. } = *self;
            self.found.push(Definition { name: name.span, kind, whole, module, assignment, depth });
        }
    }

    fn assignment(&mut self, it: &Assignment) {
        self.add(&it.name, Kind::of(&it.kind), it.span);
        self.depth += 1;
        for parameter in &it.parameters {
            self.add(&parameter.name, Kind::Parameter, parameter.name.span);
        }
        match &it.kind {
            AssignmentKind::Type(ty) => self.ty(ty),
            AssignmentKind::Value { governor, .. } | AssignmentKind::Set { governor, .. } => {
                self.ty(governor)
            }
            AssignmentKind::Class(class) => {
                class.fields.iter().for_each(|field| self.add(&field.name, Kind::Field, field.span));
            }
            AssignmentKind::Macro => {}
        }
    }

    fn ty(&mut self, ty: &Type) {
        match &ty.kind {
            TypeKind::Sequence(list) | TypeKind::Set(list) => self.list(list, Kind::Component),
            TypeKind::Choice(list) => self.list(list, Kind::Alternative),
            TypeKind::SequenceOf(name, element) | TypeKind::SetOf(name, element) => {
                if let Some(name) = name {
                    self.add(name, Kind::Component, name.span.to(element.span));
                }
                self.ty(element);
            }
            TypeKind::Integer(items) | TypeKind::BitString(items) => {
                items
                    .iter()
                    .for_each(|item| self.add(&item.name, Kind::Item, item.name.span.to(item.value.span)));
            }
            TypeKind::Enumerated(items) => {
                for item in items.root.iter().chain(items.additional.iter().flatten()) {
                    self.add(&item.name, Kind::Item, item.name.span);
                }
            }
            _ => {}
        }
    }

    fn list(&mut self, list: &ComponentList, kind: Kind) {
        let additions = list.extension.iter().flat_map(|extension| &extension.additions);
        let additions = additions.flat_map(|addition| match addition {
            Addition::Single(component) => std::slice::from_ref(component),
            Addition::Group { components, .. } => components,
        });
        for component in list.root.iter().chain(additions).chain(&list.second_root) {
            let Component::Named { name, ty, .. } = component else { continue };
            self.add(name, kind, name.span.to(ty.span));
            self.depth += 1;
            self.ty(ty);
            self.depth -= 1;
        }
    }
}
