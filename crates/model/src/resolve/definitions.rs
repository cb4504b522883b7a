//! Assignments: what each one defines, ids for it when it is first mentioned, and its body when its turn comes.

use super::arena::Kept;
use super::lookup::{Binding, Scope};
use super::modules::{BuiltInClass, Symbol};
use super::types::BuiltIn;
use super::{Resolver, deferred};
use crate::ir::{self, ClassId, ModuleId, ObjectId, ObjectSetId, TypeId};
use smol_str::SmolStr;
use tercet_syntax::ast::{self, AssignmentKind};
use tercet_syntax::{Diagnostic, Span};

/// An assignment, by module and place in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct DefId {
    module: u32,
    assignment: u32,
}

impl DefId {
    pub(super) fn new(module: usize, assignment: usize) -> Self {
        Self { module: module as u32, assignment: assignment as u32 }
    }
    pub(super) fn module(self) -> usize {
        self.module as usize
    }
    pub(super) fn assignment(self) -> usize {
        self.assignment as usize
    }
}

/// What an assignment defines; its governor decides (X.681 §11.1, §12.1; X.683 §8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Type,
    Value,
    ValueSet,
    Class,
    Object,
    ObjectSet,
    Macro,
    /// A value whose governor is a MACRO.
    MacroValue,
    /// Its governor is missing.
    Missing,
}

/// Whether something has been built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Pending,
    Active,
    Done,
}

/// What a definition or an instance stands for, once known.
#[derive(Clone, Debug, Default)]
pub(super) enum Memo {
    #[default]
    Unknown,
    Active,
    Done(Binding),
}

/// What is known about an assignment.
#[derive(Clone, Debug, Default)]
pub(super) struct Definition {
    kind: Option<Kind>,
    memo: Memo,
}

/// A body yet to be built, or built: its scope and tree.
#[derive(Clone, Debug)]
pub(super) struct Body<'a, T> {
    pub(super) state: State,
    pub(super) scope: Scope<'a>,
    pub(super) tree: Option<T>,
}

/// A body to be built when its turn comes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Job {
    Type(TypeId),
    Class(ClassId),
    Object(ObjectId),
    ObjectSet(ObjectSetId),
}

impl<'a> Resolver<'a> {
    /// The tree of an assignment.
    pub(super) fn definition_tree(&self, id: DefId) -> &'a ast::Assignment {
        &self.modules[id.module()].assignments[id.assignment()]
    }

    pub(super) fn is_parameterized(&self, id: DefId) -> bool {
        !self.definition_tree(id).parameters.is_empty()
    }

    /// What an assignment without parameters stands for.
    pub(super) fn bind(&mut self, id: DefId, at: Span) -> Option<Binding> {
        match &mut self.definitions[id.module()][id.assignment()].memo {
            // Taken out while it is copied.
            Memo::Done(binding) => {
                let known = std::mem::replace(binding, Binding::Missing);
                let copy = self.copy(&known, at);
                self.definitions[id.module()][id.assignment()].memo = Memo::Done(known);
                return Some(copy);
            }
            Memo::Active => {
                self.report_value_cycle(id, at);
                return None;
            }
            memo @ Memo::Unknown => *memo = Memo::Active,
        }
        let binding = self.define_in_module(id);
        let copy = self.copy(&binding, at);
        self.definitions[id.module()][id.assignment()].memo = Memo::Done(binding);
        Some(copy)
    }

    /// Makes what an assignment without parameters stands for, if that has not been done.
    pub(super) fn ensure_definition(&mut self, id: DefId) {
        let memo = &mut self.definitions[id.module()][id.assignment()].memo;
        if let Memo::Unknown = memo {
            *memo = Memo::Active;
            let binding = self.define_in_module(id);
            self.definitions[id.module()][id.assignment()].memo = Memo::Done(binding);
        }
    }

    fn define_in_module(&mut self, id: DefId) -> Binding {
        let scope = Scope::module(ModuleId(id.module() as u32));
        self.define(id, scope, SmolStr::default())
    }

    /// What an assignment stands for, at the end of the run.
    pub(super) fn take_binding(&mut self, id: DefId) -> Option<Binding> {
        match std::mem::take(&mut self.definitions[id.module()][id.assignment()].memo) {
            Memo::Done(binding) => Some(binding),
            Memo::Unknown | Memo::Active => None,
        }
    }

    pub(super) fn report_value_cycle(&mut self, id: DefId, at: Span) {
        let name = &self.definition_tree(id).name;
        let text = format!("`{}` is defined by itself", name.text);
        self.report(Diagnostic::error("E0221", name.span, text).also(at, "needed again here"));
    }

    /// Makes what an assignment defines, in its own scope or that of an instance.
    pub(super) fn define(&mut self, id: DefId, scope: Scope<'a>, arguments: SmolStr) -> Binding {
        let tree = self.definition_tree(id);
        let name = &tree.name.text;
        let name_span = tree.name.span;
        let kind = self.kind_of(id);
        match (kind, &tree.kind) {
            (Kind::Type, AssignmentKind::Type(ty)) => {
                let type_name = ir::TypeName { name: name.clone(), arguments };
                Binding::Type(self.reserve_type(scope, ty, Some(type_name)))
            }
            (Kind::Class, AssignmentKind::Type(ty)) => match &ty.kind {
                ast::TypeKind::Reference(reference) => {
                    self.lookup(&scope, reference).unwrap_or(Binding::Missing)
                }
                _ => Binding::Missing,
            },
            (_, AssignmentKind::Class(class)) => Binding::Class(self.new_class(&scope, class, name.clone())),
            (Kind::Value, AssignmentKind::Value { governor, value }) => {
                let governor = self.ty(&scope, governor);
                if self.is_macro_use(governor) {
                    return self.macro_value(&scope, value);
                }
                if self.is_missing(governor) || !self.enter(name_span) {
                    return Binding::Value(governor, ir::Value::Error);
                }
                let value = self.value(&scope, value, governor);
                self.leave();
                Binding::Value(governor, self.within_depth(value, name_span))
            }
            (Kind::Object, AssignmentKind::Value { governor, value }) => {
                match self.class_of(&scope, governor) {
                    Some(class) => Binding::Object(self.new_object(&scope, value, class, Some(name.clone()))),
                    None => Binding::Missing,
                }
            }
            (Kind::ObjectSet, AssignmentKind::Set { governor, set }) => match self.class_of(&scope, governor)
            {
                Some(class) => {
                    Binding::ObjectSet(self.new_object_set(&scope, set, class, Some(name.clone())))
                }
                None => Binding::Missing,
            },
            (Kind::ValueSet, AssignmentKind::Set { governor, set }) => {
                let governor = self.ty(&scope, governor);
                let id = self.new_type(&scope, ir::TypeKind::Reference(governor), tree.span);
                self.model.types[id.index()].name = Some(ir::TypeName { name: name.clone(), arguments });
                self.defer_constraints(id, deferred::Constraints::Set(scope, set));
                Binding::ValueSet(id)
            }
            (Kind::MacroValue, AssignmentKind::Value { value, .. }) => self.macro_value(&scope, value),
            (Kind::Macro, _) => Binding::Macro,
            _ => Binding::Missing,
        }
    }

    /// Whether a type is the use of a 1988 macro: `Error ::= ERROR PARAMETER …`, `overload Error ::= 5`.
    fn is_macro_use(&mut self, ty: TypeId) -> bool {
        let base = self.base(ty);
        self.types[base.index()].tree.is_some_and(|t| matches!(t.kind, ast::TypeKind::MacroUse(..)))
    }

    /// The value of an instance of a 1988 macro, where it is a number or an object identifier: what OPERATION, ERROR
    /// and their like give their instances (X.219, X.880 Annex C).
    fn macro_value(&mut self, scope: &Scope<'a>, value: &'a ast::Value) -> Binding {
        match &value.kind {
            ast::ValueKind::Integer(_) => {
                let governor = self.type_of(BuiltIn::Integer);
                Binding::Value(governor, self.value(scope, value, governor))
            }
            ast::ValueKind::Braced(braced) => match self.plain_oid(scope.module.index(), *braced) {
                Some(numbers) => {
                    Binding::Value(self.type_of(BuiltIn::ObjectIdentifier), ir::Value::Oid(numbers.into()))
                }
                None => Binding::Missing,
            },
            ast::ValueKind::Choice(_, inner) => self.macro_value(scope, inner),
            _ => Binding::Missing,
        }
    }

    /// What an assignment defines. Looks through governors and right sides without recursion.
    pub(super) fn kind_of(&mut self, id: DefId) -> Kind {
        if let Some(kind) = self.definitions[id.module()][id.assignment()].kind {
            return kind;
        }
        let tree = self.definition_tree(id);
        let kind = match &tree.kind {
            AssignmentKind::Type(ty) => match self.sort_of_name(id, ty) {
                Some(Kind::Class) => Kind::Class,
                // All capitals, and leading to nothing: a type or a class, nobody knows.
                Some(Kind::Missing) => Kind::Missing,
                _ => Kind::Type,
            },
            AssignmentKind::Value { governor, .. } => match self.sort_of_name(id, governor) {
                Some(Kind::Class) => Kind::Object,
                Some(Kind::Macro) => Kind::MacroValue,
                // The instance of a macro or the object of a class that is missing.
                Some(Kind::Missing) => Kind::MacroValue,
                _ if matches!(governor.kind, ast::TypeKind::MacroUse(..)) => Kind::MacroValue,
                _ => Kind::Value,
            },
            AssignmentKind::Set { governor, .. } => match self.sort_of_name(id, governor) {
                Some(Kind::Class) => Kind::ObjectSet,
                Some(Kind::Missing | Kind::Macro) => Kind::Missing,
                _ => Kind::ValueSet,
            },
            AssignmentKind::Class(_) => Kind::Class,
            AssignmentKind::Macro => Kind::Macro,
        };
        self.definitions[id.module()][id.assignment()].kind = Some(kind);
        kind
    }

    /// Whether a bare reference in capitals leads to a class, a macro, or nothing. `None` for anything else.
    fn sort_of_name(&mut self, id: DefId, ty: &'a ast::Type) -> Option<Kind> {
        // The aliases on the way have the same answer: each is followed once, however long the chains are.
        let mut aliases = Vec::new();
        let sort = self.follow_aliases(id, ty, &mut aliases);
        for alias in aliases {
            let kind = sort.filter(|k| matches!(k, Kind::Class | Kind::Missing)).unwrap_or(Kind::Type);
            self.definitions[alias.module()][alias.assignment()].kind = Some(kind);
        }
        sort
    }

    fn follow_aliases(&mut self, id: DefId, ty: &'a ast::Type, aliases: &mut Vec<DefId>) -> Option<Kind> {
        let mut module = id.module();
        let mut parameters = &self.definition_tree(id).parameters;
        let mut ty = ty;
        loop {
            let ast::TypeKind::Reference(reference) = &ty.kind else { return None };
            let name = reference.name.text.as_str();
            // X.681 §7.1: class references have no small letters. Vendors' macros and classes follow that.
            if !is_bare(ty) || name.bytes().any(|b| b.is_ascii_lowercase()) {
                return None;
            }
            if reference.module.is_none() && parameters.iter().any(|p| p.name.text == name) {
                return None;
            }
            let scope = Scope::module(ModuleId(module as u32));
            let next = match self.known_symbol(&scope, reference) {
                Symbol::BuiltInClass(_) => return Some(Kind::Class),
                Symbol::Missing | Symbol::Unknown => return Some(Kind::Missing),
                Symbol::Definition(next) => next,
            };
            match self.definitions[next.module()][next.assignment()].kind {
                Some(kind @ (Kind::Class | Kind::Missing | Kind::Macro)) => return Some(kind),
                Some(_) => return None,
                None => {}
            }
            let tree = self.definition_tree(next);
            match &tree.kind {
                AssignmentKind::Class(_) => return Some(Kind::Class),
                AssignmentKind::Macro => return Some(Kind::Macro),
                AssignmentKind::Type(inner) => {
                    // Known for now, so that a circle ends here.
                    self.definitions[next.module()][next.assignment()].kind = Some(Kind::Type);
                    aliases.push(next);
                    module = next.module();
                    parameters = &tree.parameters;
                    ty = inner;
                }
                _ => return None,
            }
        }
    }

    /// Whether a type stands for something that is missing, so that nothing can be said of its values.
    pub(crate) fn is_missing(&mut self, ty: TypeId) -> bool {
        let base = self.base(ty);
        base == self.open_type() || base == self.error_type()
    }

    /// Whether a governor is a class: of a parameter, or of a field.
    pub(crate) fn governor_is_class(&mut self, scope: &Scope<'a>, governor: &'a ast::Type) -> bool {
        let ast::TypeKind::Reference(reference) = &governor.kind else { return false };
        if !is_bare(governor) {
            return false;
        }
        if reference.module.is_none()
            && let Some(dummy) = scope.dummy(&reference.name.text)
        {
            return matches!(dummy, Binding::Class(_));
        }
        match self.symbol_of(scope, reference) {
            Symbol::BuiltInClass(_) => true,
            Symbol::Definition(id) => self.kind_of(id) == Kind::Class,
            Symbol::Missing | Symbol::Unknown => false,
        }
    }

    /// The class that a governor names; `None` when something else has been found and reported.
    pub(crate) fn class_of(&mut self, scope: &Scope<'a>, governor: &'a ast::Type) -> Option<ClassId> {
        match &governor.kind {
            ast::TypeKind::Reference(reference) => self.class_named(scope, reference),
            _ => {
                self.report(Diagnostic::error("E0203", governor.span, "a class is needed here"));
                None
            }
        }
    }

    /// The class that a reference names; `None` when something else has been found and reported.
    pub(crate) fn class_named(
        &mut self,
        scope: &Scope<'a>,
        reference: &'a ast::Reference,
    ) -> Option<ClassId> {
        match self.lookup(scope, reference)? {
            Binding::Class(class) => Some(class),
            Binding::Missing => None,
            other => {
                self.report_wrong_kind(reference, &other, "a class");
                None
            }
        }
    }

    /// Reserves a class and queues its body.
    pub(crate) fn new_class(
        &mut self,
        scope: &Scope<'a>,
        tree: &'a ast::ObjectClass,
        name: SmolStr,
    ) -> ClassId {
        let id = ClassId(self.model.classes.len() as u32);
        let span = tree.fields.first().map(|f| f.span).unwrap_or_default();
        self.model.classes.push(ir::Class { name, fields: Vec::new(), span });
        self.classes.push(Body { state: State::Pending, scope: scope.clone(), tree: Some(tree) });
        self.queue.push_back(Job::Class(id));
        id
    }

    /// Reserves an object and queues its body.
    pub(crate) fn new_object(
        &mut self,
        scope: &Scope<'a>,
        tree: &'a ast::Value,
        class: ClassId,
        name: Option<SmolStr>,
    ) -> ObjectId {
        let id = ObjectId(self.model.objects.len() as u32);
        self.model.objects.push(ir::Object { name, class, settings: Default::default(), span: tree.span });
        self.objects.push(Body { state: State::Pending, scope: scope.clone(), tree: Some(tree) });
        self.queue.push_back(Job::Object(id));
        id
    }

    /// Reserves an object set and queues its body.
    pub(crate) fn new_object_set(
        &mut self,
        scope: &Scope<'a>,
        tree: &'a ast::ElementSet,
        class: ClassId,
        name: Option<SmolStr>,
    ) -> ObjectSetId {
        let id = ObjectSetId(self.model.object_sets.len() as u32);
        let (objects, extensible, span) = (Vec::new(), tree.extensible, tree.span);
        self.model.object_sets.push(ir::ObjectSet { name, objects, extensible, span });
        self.object_sets.push(Body { state: State::Pending, scope: scope.clone(), tree: Some(tree) });
        self.object_set_classes.push(class);
        self.queue.push_back(Job::ObjectSet(id));
        id
    }

    /// An object set that is known already.
    pub(crate) fn new_built_object_set(&mut self, set: ir::ObjectSet, class: ClassId) -> ObjectSetId {
        let id = ObjectSetId(self.model.object_sets.len() as u32);
        self.model.object_sets.push(set);
        self.object_sets.push(Body { state: State::Done, scope: Scope::module(ModuleId(0)), tree: None });
        self.object_set_classes.push(class);
        id
    }

    /// The class that governs an object set.
    pub(crate) fn object_set_class(&self, id: ObjectSetId) -> ClassId {
        self.object_set_classes[id.index()]
    }

    /// The definition of a class, for its WITH SYNTAX.
    pub(crate) fn class_tree(&self, id: ClassId) -> (Scope<'a>, Option<&'a ast::ObjectClass>) {
        let body = &self.classes[id.index()];
        (body.scope.clone(), body.tree)
    }

    /// Builds a class now, if it is not being built already.
    pub(crate) fn ensure_class(&mut self, id: ClassId) {
        let body = &mut self.classes[id.index()];
        let (State::Pending, Some(tree)) = (body.state, body.tree) else { return };
        body.state = State::Active;
        let scope = body.scope.clone();
        let span = self.model.classes[id.index()].span;
        if self.spend(tree.fields.len() as u64, span) && self.enter(span) {
            self.define_class(id, &scope, tree);
            self.leave();
        }
        self.classes[id.index()].state = State::Done;
    }

    /// Builds an object now; `false` when it is being built already, so that it would be defined by itself. That is
    /// reported.
    pub(crate) fn ensure_object(&mut self, id: ObjectId, at: Span) -> bool {
        let body = &mut self.objects[id.index()];
        let tree = match (body.state, body.tree) {
            (State::Pending, Some(tree)) => tree,
            (State::Active, _) => {
                let span = self.model.objects[id.index()].span;
                let text = "an object is defined by itself";
                self.report(Diagnostic::error("E0221", span, text).also(at, "needed again here"));
                return false;
            }
            _ => return true,
        };
        body.state = State::Active;
        let scope = body.scope.clone();
        if self.spend(1, at) && self.enter(at) {
            self.define_object(id, &scope, tree);
            self.leave();
        }
        self.objects[id.index()].state = State::Done;
        true
    }

    /// Builds an object set now; `false` when it is being built already, so that it would contain itself. That is
    /// reported.
    pub(crate) fn ensure_object_set(&mut self, id: ObjectSetId, at: Span) -> bool {
        let body = &mut self.object_sets[id.index()];
        let tree = match (body.state, body.tree) {
            (State::Pending, Some(tree)) => tree,
            (State::Active, Some(tree)) => {
                let text = "an object set contains itself";
                self.report(Diagnostic::error("E0221", tree.span, text).also(at, "needed again here"));
                return false;
            }
            _ => return true,
        };
        body.state = State::Active;
        let scope = body.scope.clone();
        let class = self.object_set_classes[id.index()];
        if self.enter(at) {
            self.define_object_set(id, &scope, tree, class);
            self.leave();
        }
        self.object_sets[id.index()].state = State::Done;
        true
    }

    /// TYPE-IDENTIFIER or ABSTRACT-SYNTAX, made when first used.
    pub(super) fn built_in_class(&mut self, class: BuiltInClass) -> ClassId {
        let name = match class {
            BuiltInClass::TypeIdentifier => "TYPE-IDENTIFIER",
            BuiltInClass::AbstractSyntax => "ABSTRACT-SYNTAX",
        };
        let known = self.model.classes.iter().position(|c| c.name == name && c.span == Span::default());
        if let Some(index) = known {
            return ClassId(index as u32);
        }
        let Kept::Class(tree) = self.arena.keep(Kept::Class(built_in_class_tree(class))) else {
            unreachable!("kept as a class")
        };
        self.new_class(&Scope::module(ModuleId(0)), tree, name.into())
    }

    /// Works off the queue.
    pub(super) fn run_queue(&mut self) {
        while let Some(job) = self.queue.pop_front() {
            match job {
                Job::Type(id) => self.ensure(id),
                Job::Class(id) => self.ensure_class(id),
                Job::Object(id) => {
                    let span = self.model.objects[id.index()].span;
                    self.ensure_object(id, span);
                }
                Job::ObjectSet(id) => {
                    let span = self.object_sets[id.index()].tree.map(|t| t.span).unwrap_or_default();
                    self.ensure_object_set(id, span);
                }
            }
        }
    }
}

/// Whether nothing but the kind of type is written.
pub(super) fn is_bare(ty: &ast::Type) -> bool {
    ty.tags.is_empty() && ty.constraints.is_empty()
}

/// X.681 Annex A.2 and B.3, but for the DEFAULT of `&property`, which nobody reads: OPTIONAL here.
fn built_in_class_tree(class: BuiltInClass) -> ast::ObjectClass {
    use ast::SyntaxItem::{Field, Literal, Optional};
    let ident = |text: &str| ast::Ident { text: text.into(), span: Span::default() };
    let ty = |kind| ast::Type {
        tags: Vec::new(),
        encoding: Vec::new(),
        kind,
        constraints: Vec::new(),
        span: Span::default(),
    };
    let field = |name, kind, unique, presence| ast::ClassField {
        name: ident(name),
        kind,
        unique,
        presence,
        span: Span::default(),
    };
    let identifier = ast::FieldKind::FixedValue(ty(ast::TypeKind::ObjectIdentifier));
    let mut fields = vec![
        field("&id", identifier, class == BuiltInClass::TypeIdentifier, ast::FieldPresence::Mandatory),
        field("&Type", ast::FieldKind::Type, false, ast::FieldPresence::Mandatory),
    ];
    let mut syntax =
        vec![Field(ident("&Type")), Literal("IDENTIFIED".into()), Literal("BY".into()), Field(ident("&id"))];
    if class == BuiltInClass::AbstractSyntax {
        let bits = ast::FieldKind::FixedValue(ty(ast::TypeKind::BitString(vec![ast::NamedNumber {
            name: ident("handles-invalid-encodings"),
            value: ast::Value { kind: ast::ValueKind::Integer("0".into()), span: Span::default() },
        }])));
        fields.push(field("&property", bits, false, ast::FieldPresence::Optional));
        syntax.push(Optional(vec![
            Literal("HAS".into()),
            Literal("PROPERTY".into()),
            Field(ident("&property")),
        ]));
    }
    ast::ObjectClass { fields, syntax: Some(syntax) }
}
