//! Where names occur: each use beside the name of what it stands for, for editors (X.680 §12, X.681 §14, X.682 §10.7).

use super::Resolver;
use super::lookup::Scope;
use super::modules::Symbol;
use crate::ir::{ClassId, ModuleId, Occurrence, TypeId, TypeKind};
use tercet_syntax::Span;
use tercet_syntax::ast::{self, Addition, AssignmentKind, Component, ComponentList, ConstraintKind, Ident};

/// Uses that are kept before the first that are alike are taken out: instances say the same again and again.
const FEW: usize = 1 << 12;

/// Types that may name one another on the way to a list of components.
const ALIASES: usize = 100;

impl<'a> Resolver<'a> {
    /// Keeps the use of a name, if they are asked for.
    pub(crate) fn occurs(&mut self, at: Span, definition: Span) {
        // Built-in definitions are written nowhere.
        if !self.options.occurrences || at == definition || definition == Span::default() {
            return;
        }
        self.model.occurrences.push(Occurrence { at, definition });
        if self.model.occurrences.len() >= self.occurrences_until {
            self.sort_occurrences();
        }
    }

    fn sort_occurrences(&mut self) {
        self.model.occurrences.sort_unstable();
        self.model.occurrences.dedup();
        self.occurrences_until = FEW.max(2 * self.model.occurrences.len());
    }

    /// The use of a component or alternative by its name.
    pub(crate) fn component_occurs(&mut self, at: Span, base: TypeId, name: &str) {
        if !self.options.occurrences {
            return;
        }
        let (TypeKind::Sequence(list) | TypeKind::Set(list) | TypeKind::Choice(list)) =
            &self.model.types[base.index()].kind
        else {
            return;
        };
        let Some(component) = list.list.iter().find(|component| component.name == name) else { return };
        // What is written of a component begins with its name, if it has one (X.208 allowed for none).
        let lo = component.span.lo;
        let definition = Span::new(lo, component.span.hi.min(lo + name.len() as u32));
        if self.map.text(definition) == name && self.map.text(at) == name {
            self.occurs(at, definition);
        }
    }

    /// The use of an item of an ENUMERATED, a named number or a named bit.
    pub(crate) fn item_occurs(&mut self, at: Span, base: TypeId, name: &str) {
        if !self.options.occurrences {
            return;
        }
        let Some(tree) = self.types[base.index()].tree else { return };
        let named = |items: &[ast::NamedNumber]| {
            items.iter().find(|item| item.name.text == name).map(|item| item.name.span)
        };
        let found = match &tree.kind {
            ast::TypeKind::Integer(items) | ast::TypeKind::BitString(items) => named(items),
            ast::TypeKind::Enumerated(items) => {
                let items = items.root.iter().chain(items.additional.iter().flatten());
                items.map(|item| &item.name).find(|item| item.text == name).map(|item| item.span)
            }
            _ => None,
        };
        if let Some(definition) = found {
            self.occurs(at, definition);
        }
    }

    /// The use of a field of a class.
    pub(crate) fn field_occurs(&mut self, at: Span, class: ClassId, name: &str) {
        if !self.options.occurrences {
            return;
        }
        let (_, Some(tree)) = self.class_tree(class) else { return };
        if let Some(field) = tree.fields.iter().find(|field| field.name.text == name) {
            self.occurs(at, field.name.span);
        }
    }

    /// Keeps the uses that no other step looks at: EXPORTS, and components behind `@` and `ANY DEFINED BY`.
    pub(super) fn finish_occurrences(&mut self) {
        if !self.options.occurrences {
            return;
        }
        for (index, module) in self.modules.iter().enumerate() {
            if !self.is_current(index) {
                continue;
            }
            let scope = Scope::module(ModuleId(index as u32));
            for name in module.exports.iter().flatten() {
                if let Symbol::Definition(id) = self.symbol(scope.module, &name.text) {
                    let definition = self.definition_tree(id).name.span;
                    self.occurs(name.span, definition);
                }
            }
            for assignment in &module.assignments {
                match &assignment.kind {
                    AssignmentKind::Type(ty) => self.relations(&scope, ty, &mut Vec::new()),
                    AssignmentKind::Value { governor, .. } | AssignmentKind::Set { governor, .. } => {
                        self.relations(&scope, governor, &mut Vec::new());
                    }
                    AssignmentKind::Class(_) | AssignmentKind::Macro => {}
                }
            }
        }
        self.sort_occurrences();
    }

    /// The components that types inside of a type name by `@` and `ANY DEFINED BY`; `around` has the lists it is in.
    fn relations(&mut self, scope: &Scope<'a>, ty: &'a ast::Type, around: &mut Vec<&'a ComponentList>) {
        for constraint in &ty.constraints {
            let ConstraintKind::Table { relations, .. } = &constraint.kind else { continue };
            for at in relations {
                // X.682 §10.8: one dot is the innermost list; none, the outermost.
                let list = match at.level as usize {
                    0 => around.first(),
                    level => around.len().checked_sub(level).and_then(|index| around.get(index)),
                };
                self.path_occurs(scope.module, list.copied(), &at.path);
            }
        }
        match &ty.kind {
            ast::TypeKind::Sequence(list) | ast::TypeKind::Set(list) | ast::TypeKind::Choice(list) => {
                around.push(list);
                for (_, ty) in named(list) {
                    self.relations(scope, ty, around);
                }
                around.pop();
            }
            ast::TypeKind::SequenceOf(_, element) | ast::TypeKind::SetOf(_, element) => {
                self.relations(scope, element, around);
            }
            ast::TypeKind::Any(Some(name)) => {
                self.path_occurs(scope.module, around.last().copied(), std::slice::from_ref(name));
            }
            _ => {}
        }
    }

    fn path_occurs(&mut self, module: ModuleId, list: Option<&'a ComponentList>, path: &[Ident]) {
        let (mut module, mut list) = (module, list);
        for name in path {
            let found = list.and_then(|list| named(list).find(|(known, _)| known.text == name.text));
            let Some((known, ty)) = found else { return };
            self.occurs(name.span, known.span);
            (module, list) = self.list_of(module, ty);
        }
    }

    /// The components of a type, and the module that they are written in.
    fn list_of(&mut self, module: ModuleId, ty: &'a ast::Type) -> (ModuleId, Option<&'a ComponentList>) {
        let (mut module, mut ty) = (module, ty);
        for _ in 0..ALIASES {
            match &ty.kind {
                ast::TypeKind::Sequence(list) | ast::TypeKind::Set(list) | ast::TypeKind::Choice(list) => {
                    return (module, Some(list));
                }
                ast::TypeKind::Reference(reference) => {
                    let symbol = self.symbol_of(&Scope::module(module), reference);
                    let Symbol::Definition(id) = symbol else { break };
                    let AssignmentKind::Type(next) = &self.definition_tree(id).kind else { break };
                    (module, ty) = (ModuleId(id.module() as u32), next);
                }
                _ => break,
            }
        }
        (module, None)
    }
}

/// The components of a list that have a name.
fn named(list: &ComponentList) -> impl Iterator<Item = (&Ident, &ast::Type)> {
    let additions = list.extension.iter().flat_map(|extension| &extension.additions);
    let additions = additions.flat_map(|addition| match addition {
        Addition::Single(component) => std::slice::from_ref(component),
        Addition::Group { components, .. } => components,
    });
    list.root.iter().chain(additions).chain(&list.second_root).filter_map(|component| match component {
        Component::Named { name, ty, .. } if !name.text.is_empty() => Some((name, ty)),
        _ => None,
    })
}
