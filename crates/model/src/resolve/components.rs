//! Component lists: COMPONENTS OF, automatic tagging, extension additions (X.680 §25, §27, §29).

use super::Resolver;
use super::lookup::Scope;
use crate::ir::{self, Components, Place, Presence, TypeId, TypeKind, Value};
use smol_str::{SmolStr, format_smolstr};
use tercet_syntax::ast::{self, Addition, ComponentList, TagDefault};
use tercet_syntax::{Diagnostic, Span};

/// The type a list belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    Sequence,
    Set,
    Choice,
}

/// More components than this, taken by COMPONENTS OF in all lists together, come from doubling at every step.
const COMPONENT_LIMIT: usize = 200_000;

/// A component, found directly or by COMPONENTS OF, with the scope it is written in.
struct Item<'a> {
    scope: Scope<'a>,
    name: &'a ast::Ident,
    ty: &'a ast::Type,
    presence: &'a ast::Presence,
    place: Place,
}

impl<'a> Resolver<'a> {
    /// The components of a list, in the order of the text.
    pub(super) fn build_components(
        &mut self,
        owner: TypeId,
        scope: &Scope<'a>,
        list: &'a ComponentList,
        sort: Sort,
    ) -> Components {
        let (items, second_root) = self.flatten(scope, list, sort);
        if !self.spend(items.len() as u64, self.model.types[owner.index()].span) {
            return Components::default();
        }
        let automatic = self.is_automatic(scope, list);
        let numbers = if automatic { automatic_numbers(&items) } else { Vec::new() };
        let mut out = Vec::with_capacity(items.len());
        for (index, item) in items.into_iter().enumerate() {
            let ty = match numbers.get(index) {
                Some(&number) => self.type_with_tag(&item.scope, item.ty, Some(number)),
                None => self.ty(&item.scope, item.ty),
            };
            let presence = match item.presence {
                ast::Presence::Mandatory => Presence::Mandatory,
                ast::Presence::Optional => Presence::Optional,
                ast::Presence::Default(value) => {
                    self.defer_default(owner, index, ty, item.scope.clone(), value);
                    Presence::Default(Value::Error)
                }
            };
            let (name, span) = match item.name.text.is_empty() {
                false => (item.name.text.clone(), item.name.span.to(item.ty.span)),
                true => (name_of_unnamed(item.ty, &out), item.ty.span),
            };
            out.push(ir::Component { name, ty, presence, place: item.place, span });
        }
        // X.680 §13.4: EXTENSIBILITY IMPLIED puts `...` at the end of the lists that have none.
        let extensible = list.extension.is_some() || self.extensibility_implied(scope);
        Components { list: out, extensible, second_root }
    }

    /// X.680 §25.7, §25.8, §29.2: in a module with AUTOMATIC TAGS a list is tagged unless one of its components is
    /// written with a tag. COMPONENTS OF has no say in it: the decision is taken before it is expanded.
    fn is_automatic(&self, scope: &Scope<'a>, list: &ComponentList) -> bool {
        let module = self.modules.get(scope.module.index());
        module.is_some_and(|m| m.tags == TagDefault::Automatic)
            && !all(list).any(|c| matches!(c, ast::Component::Named { ty, .. } if !ty.tags.is_empty()))
    }

    /// All components, and how many stand before the second part of the root.
    fn flatten(&mut self, scope: &Scope<'a>, list: &'a ComponentList, sort: Sort) -> (Vec<Item<'a>>, usize) {
        let mut items = Vec::with_capacity(list.root.len() + list.second_root.len());
        self.flatten_into(scope, &list.root, Place::Root, sort, &mut items);
        if let Some(extension) = &list.extension {
            for (index, addition) in extension.additions.iter().enumerate() {
                let index = index as u32;
                match addition {
                    Addition::Single(component) => {
                        let place = Place::Addition(index);
                        self.flatten_into(scope, std::slice::from_ref(component), place, sort, &mut items);
                    }
                    Addition::Group { components, .. } => {
                        self.flatten_into(scope, components, Place::Group(index), sort, &mut items);
                    }
                }
            }
        }
        let second_root = items.len();
        self.flatten_into(scope, &list.second_root, Place::Root, sort, &mut items);
        (items, second_root)
    }

    fn flatten_into(
        &mut self,
        scope: &Scope<'a>,
        components: &'a [ast::Component],
        place: Place,
        sort: Sort,
        items: &mut Vec<Item<'a>>,
    ) {
        for component in components {
            match component {
                ast::Component::Named { name, ty, presence } => {
                    items.push(Item { scope: scope.clone(), name, ty, presence, place });
                }
                ast::Component::ComponentsOf(ty) => self.components_of(scope, ty, place, sort, items),
            }
        }
    }

    /// COMPONENTS OF (X.680 §25.5): the root components of the type, without its extension marker and additions.
    fn components_of(
        &mut self,
        scope: &Scope<'a>,
        ty: &'a ast::Type,
        place: Place,
        sort: Sort,
        items: &mut Vec<Item<'a>>,
    ) {
        if self.components_taken > COMPONENT_LIMIT {
            return;
        }
        let Some((inner, list)) = self.component_list(scope, ty, sort) else { return };
        let address: *const ComponentList = list;
        if let Some(&(_, first)) = self.components_of.iter().find(|(on_the_way, _)| *on_the_way == address) {
            self.report(
                Diagnostic::error("E0223", ty.span, "COMPONENTS OF leads back to the type it is in")
                    .also(first, "entered here"),
            );
            return;
        }
        if !self.enter(ty.span) {
            return;
        }
        self.components_of.push((address, ty.span));
        self.flatten_into(&inner, &list.root, place, sort, items);
        self.flatten_into(&inner, &list.second_root, place, sort, items);
        self.components_taken += list.root.len() + list.second_root.len() + 1;
        if self.components_taken > COMPONENT_LIMIT && !self.components_reported {
            self.components_reported = true;
            let text = format!("COMPONENTS OF gives more than {COMPONENT_LIMIT} components");
            self.report(Diagnostic::error("E0262", ty.span, text).label("those from here on are ignored"));
        }
        self.components_of.pop();
        self.leave();
    }

    /// The component list that a SEQUENCE or SET type was written with, behind references, with its scope.
    fn component_list(
        &mut self,
        scope: &Scope<'a>,
        ty: &'a ast::Type,
        sort: Sort,
    ) -> Option<(Scope<'a>, &'a ComponentList)> {
        let (mut scope, mut tree) = (scope.clone(), ty);
        for _ in 0..super::ALIAS_LIMIT {
            match (&tree.kind, sort) {
                (ast::TypeKind::Sequence(list), Sort::Sequence) | (ast::TypeKind::Set(list), Sort::Set) => {
                    return Some((scope, list));
                }
                (ast::TypeKind::Reference(reference), _) => {
                    let id = self.reference_type(&scope, reference);
                    match self.types[id.index()].tree {
                        Some(next) => {
                            scope = self.types[id.index()].scope.clone();
                            tree = next;
                        }
                        None => return self.not_a_list(ty, id, sort),
                    }
                }
                (
                    ast::TypeKind::Selection(..)
                    | ast::TypeKind::FromObject { .. }
                    | ast::TypeKind::ClassField { .. },
                    _,
                ) => {
                    let id = self.ty(&scope, tree);
                    let TypeKind::Reference(id) = self.model.types[id.index()].kind else {
                        return self.not_a_list(ty, id, sort);
                    };
                    let next = self.types[id.index()].tree?;
                    scope = self.types[id.index()].scope.clone();
                    tree = next;
                }
                _ => {
                    let error = self.error_type();
                    self.report_not_a_list(ty.span, sort);
                    return self.not_a_list(ty, error, sort);
                }
            }
        }
        None
    }

    fn not_a_list<T>(&mut self, ty: &ast::Type, id: TypeId, sort: Sort) -> Option<T> {
        if !matches!(self.model.types[id.index()].kind, TypeKind::Error | TypeKind::Open(None)) {
            self.report_not_a_list(ty.span, sort);
        }
        None
    }

    fn report_not_a_list(&mut self, span: Span, sort: Sort) {
        let wanted = if sort == Sort::Set { "SET" } else { "SEQUENCE" };
        self.report(
            Diagnostic::error("E0261", span, format!("COMPONENTS OF needs a {wanted} type here"))
                .note("X.680 §25.5, §27.2: a SEQUENCE takes from a SEQUENCE, a SET from a SET"),
        );
    }
}

fn all(list: &ComponentList) -> impl Iterator<Item = &ast::Component> {
    let additions = list.extension.iter().flat_map(|e| &e.additions).flat_map(|a| match a {
        Addition::Single(component) => std::slice::from_ref(component),
        Addition::Group { components, .. } => components.as_slice(),
    });
    list.root.iter().chain(additions).chain(&list.second_root)
}

/// X.680 §25.10: the components of the root are counted first, those of both parts, then the additions.
fn automatic_numbers(items: &[Item<'_>]) -> Vec<u32> {
    let roots = items.iter().filter(|i| i.place == Place::Root).count() as u32;
    let (mut root, mut addition) = (0, roots);
    items
        .iter()
        .map(|item| {
            let counter = if item.place == Place::Root { &mut root } else { &mut addition };
            *counter += 1;
            *counter - 1
        })
        .collect()
}

/// The 1988 notation let components go without a name: that of the type then, with a small letter.
fn name_of_unnamed(ty: &ast::Type, before: &[ir::Component]) -> SmolStr {
    let name: SmolStr = match &ty.kind {
        ast::TypeKind::Reference(reference) => {
            let text = reference.name.text.as_str();
            let mut letters = text.chars();
            letters.next().map_or_else(SmolStr::default, |first| {
                format_smolstr!("{}{}", first.to_ascii_lowercase(), letters.as_str())
            })
        }
        _ => format_smolstr!("component{}", before.len()),
    };
    if before.iter().any(|c| c.name == name) { format_smolstr!("{name}-{}", before.len()) } else { name }
}
