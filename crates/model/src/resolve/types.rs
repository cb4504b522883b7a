//! Types: from the notation at one place to its place in the model.

use super::definitions::{Body, Job, State};
use super::lookup::{Binding, Scope};
use super::{Resolver, deferred};
use crate::instructions::Prefix;
use crate::ir::{self, ModuleId, Tag, TagMode, TypeId, TypeKind, Value};
use crate::options::Tagging;
use tercet_syntax::ast::{self, TagDefault};
use tercet_syntax::{Diagnostic, Span, TokenKind};

/// Types that need no definition, for values whose governor is not written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BuiltIn {
    Error,
    Open,
    Boolean,
    Integer,
    BitString,
    OctetString,
    Null,
    ObjectIdentifier,
    ObjectDescriptor,
    /// Parts of the types that EMBEDDED PDV and CHARACTER STRING are associated with (X.680 §36.5, §44.5).
    Identification,
    Syntaxes,
    Negotiation,
}

/// Those made so far, each in its own place.
pub(super) type BuiltIns = [Option<TypeId>; BuiltIn::Negotiation as usize + 1];

/// A type whose innermost tag may have to become EXPLICIT, once it is known what it is applied to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Undecided {
    ty: TypeId,
    /// Whether IMPLICIT was written out.
    keyword: bool,
}

impl<'a> Resolver<'a> {
    /// The type written at a place. A bare name gives the id of its definition; anything else a type of its own.
    /// Constraints and DEFAULT values follow later ([`Self::ensure_constraints`]).
    pub(crate) fn ty(&mut self, scope: &Scope<'a>, tree: &'a ast::Type) -> TypeId {
        if let ast::TypeKind::Reference(reference) = &tree.kind
            && tree.tags.is_empty()
            && tree.encoding.is_empty()
            && tree.constraints.is_empty()
        {
            return self.reference_type(scope, reference);
        }
        self.type_with_tag(scope, tree, None)
    }

    /// The type of a component, with the tag that automatic tagging gives it.
    pub(super) fn type_with_tag(
        &mut self,
        scope: &Scope<'a>,
        tree: &'a ast::Type,
        automatic: Option<u32>,
    ) -> TypeId {
        let id = self.push_type(scope, tree.span, Some(tree));
        self.types[id.index()].state = State::Active;
        self.build(id, scope, tree, automatic);
        self.types[id.index()].state = State::Done;
        id
    }

    /// Reserves the id of a named type and queues its body.
    pub(super) fn reserve_type(
        &mut self,
        scope: Scope<'a>,
        tree: &'a ast::Type,
        name: Option<ir::TypeName>,
    ) -> TypeId {
        let id = self.push_type(&scope, tree.span, Some(tree));
        self.model.types[id.index()].name = name;
        self.queue.push_back(Job::Type(id));
        id
    }

    /// A type that is written nowhere as such.
    pub(crate) fn new_type(&mut self, scope: &Scope<'a>, kind: TypeKind, span: Span) -> TypeId {
        let id = self.push_type(scope, span, None);
        self.model.types[id.index()].kind = kind;
        id
    }

    fn push_type(&mut self, scope: &Scope<'a>, span: Span, tree: Option<&'a ast::Type>) -> TypeId {
        let id = TypeId(self.model.types.len() as u32);
        self.model.types.push(ir::Type {
            kind: TypeKind::Error,
            tags: Vec::new(),
            constraints: Vec::new(),
            name: None,
            module: scope.module,
            span,
        });
        let state = if tree.is_some() { State::Pending } else { State::Done };
        self.types.push(Body { state, scope: scope.clone(), tree });
        id
    }

    /// The plain built-in type.
    pub(crate) fn type_of(&mut self, built_in: BuiltIn) -> TypeId {
        if let Some(id) = self.built_in[built_in as usize] {
            return id;
        }
        let kind = match built_in {
            BuiltIn::Error => TypeKind::Error,
            BuiltIn::Open => TypeKind::Open(None),
            BuiltIn::Boolean => TypeKind::Boolean,
            BuiltIn::Integer => TypeKind::Integer(Vec::new()),
            BuiltIn::BitString => TypeKind::BitString(Vec::new()),
            BuiltIn::OctetString => TypeKind::OctetString,
            BuiltIn::Null => TypeKind::Null,
            BuiltIn::ObjectIdentifier => TypeKind::ObjectIdentifier,
            BuiltIn::ObjectDescriptor => TypeKind::ObjectDescriptor,
            BuiltIn::Identification | BuiltIn::Syntaxes | BuiltIn::Negotiation => self.parts_of(built_in),
        };
        let id = self.new_type(&Scope::module(ModuleId(0)), kind, Span::default());
        self.built_in[built_in as usize] = Some(id);
        match built_in {
            BuiltIn::Identification => self.model.associated.identification = Some(id),
            BuiltIn::Syntaxes => self.model.associated.syntaxes = Some(id),
            BuiltIn::Negotiation => self.model.associated.negotiation = Some(id),
            _ => {}
        }
        id
    }

    /// The components of a part of an associated type, tagged automatically as X.680 §36.5 has them.
    fn parts_of(&mut self, built_in: BuiltIn) -> TypeKind {
        use BuiltIn::{Integer, Negotiation, Null, ObjectIdentifier as Oid, Syntaxes};
        let parts: &[(&str, BuiltIn)] = match built_in {
            Syntaxes => &[("abstract", Oid), ("transfer", Oid)],
            Negotiation => &[("presentation-context-id", Integer), ("transfer-syntax", Oid)],
            _ => &[
                ("syntaxes", Syntaxes),
                ("syntax", Oid),
                ("presentation-context-id", Integer),
                ("context-negotiation", Negotiation),
                ("transfer-syntax", Oid),
                ("fixed", Null),
            ],
        };
        let mut list = Vec::with_capacity(parts.len());
        for (number, (name, built_in)) in (0..).zip(parts) {
            let inside = self.type_of(*built_in);
            let scope = Scope::module(ModuleId(0));
            let ty = self.new_type(&scope, TypeKind::Reference(inside), Span::default());
            let tag = Tag { class: ir::TagClass::Context, number, mode: TagMode::Implicit };
            self.model.types[ty.index()].tags.push(tag);
            let (presence, place) = (ir::Presence::Mandatory, ir::Place::Root);
            list.push(ir::Component { name: (*name).into(), ty, presence, place, span: Span::default() });
        }
        let parts = ir::Components { second_root: list.len(), list, extensible: false };
        if built_in == BuiltIn::Identification { TypeKind::Choice(parts) } else { TypeKind::Sequence(parts) }
    }

    /// The type of what could not be understood.
    pub(crate) fn error_type(&mut self) -> TypeId {
        self.type_of(BuiltIn::Error)
    }

    /// The type of what is missing.
    pub(crate) fn open_type(&mut self) -> TypeId {
        self.type_of(BuiltIn::Open)
    }

    /// Builds a type now, if it is not being built already: kind, tags and components are there afterwards.
    pub(crate) fn ensure(&mut self, id: TypeId) {
        let body = &mut self.types[id.index()];
        let (State::Pending, Some(tree)) = (body.state, body.tree) else { return };
        body.state = State::Active;
        let scope = body.scope.clone();
        self.build(id, &scope, tree, None);
        self.types[id.index()].state = State::Done;
    }

    /// Whether a type is being built, so that nothing is known of it yet.
    pub(super) fn is_being_built(&self, id: TypeId) -> bool {
        self.types[id.index()].state == State::Active
    }

    /// The type behind references, ensured. An error type for references that never end (reported elsewhere).
    pub(crate) fn base(&mut self, id: TypeId) -> TypeId {
        let mut at = id;
        for _ in 0..super::ALIAS_LIMIT {
            self.ensure(at);
            match self.model.types[at.index()].kind {
                TypeKind::Reference(next) => at = next,
                _ => return at,
            }
        }
        self.error_type()
    }

    fn build(&mut self, id: TypeId, scope: &Scope<'a>, tree: &'a ast::Type, automatic: Option<u32>) {
        if !self.spend(1, tree.span) || !self.enter(tree.span) {
            return;
        }
        for prefix in &tree.encoding {
            self.check_prefix(scope, prefix);
            self.prefixes.push(Prefix { ty: id, module: scope.module, tree: prefix });
        }
        if !tree.tags.is_empty() || automatic.is_some() {
            self.build_tags(id, scope, tree, automatic);
        }
        self.build_kind(id, scope, tree);
        if !tree.constraints.is_empty() {
            self.defer_constraints(id, deferred::Constraints::Written(scope.clone(), &tree.constraints));
        }
        self.leave();
    }

    fn build_kind(&mut self, id: TypeId, scope: &Scope<'a>, tree: &'a ast::Type) {
        let kind = match &tree.kind {
            ast::TypeKind::Boolean => TypeKind::Boolean,
            ast::TypeKind::Integer(names) => {
                self.model.types[id.index()].kind = TypeKind::Integer(Vec::new());
                TypeKind::Integer(self.named_numbers(scope, names, false))
            }
            ast::TypeKind::Enumerated(items) => {
                self.model.types[id.index()].kind = TypeKind::Enumerated(ir::Enumeration::default());
                TypeKind::Enumerated(self.enumeration(scope, items))
            }
            ast::TypeKind::Real => TypeKind::Real,
            ast::TypeKind::BitString(names) => {
                self.model.types[id.index()].kind = TypeKind::BitString(Vec::new());
                TypeKind::BitString(self.named_numbers(scope, names, true))
            }
            ast::TypeKind::OctetString => TypeKind::OctetString,
            ast::TypeKind::Null => TypeKind::Null,
            ast::TypeKind::Sequence(list) => {
                self.model.types[id.index()].kind = TypeKind::Sequence(ir::Components::default());
                TypeKind::Sequence(self.build_components(id, scope, list, super::components::Sort::Sequence))
            }
            ast::TypeKind::Set(list) => {
                self.model.types[id.index()].kind = TypeKind::Set(ir::Components::default());
                TypeKind::Set(self.build_components(id, scope, list, super::components::Sort::Set))
            }
            ast::TypeKind::Choice(list) => {
                self.model.types[id.index()].kind = TypeKind::Choice(ir::Components::default());
                TypeKind::Choice(self.build_components(id, scope, list, super::components::Sort::Choice))
            }
            ast::TypeKind::SequenceOf(name, element) => {
                TypeKind::SequenceOf(name.as_ref().map(|n| n.text.clone()), self.ty(scope, element))
            }
            ast::TypeKind::SetOf(name, element) => {
                TypeKind::SetOf(name.as_ref().map(|n| n.text.clone()), self.ty(scope, element))
            }
            ast::TypeKind::Selection(name, choice) => self.selection(scope, name, choice),
            ast::TypeKind::ObjectIdentifier => TypeKind::ObjectIdentifier,
            ast::TypeKind::RelativeOid => TypeKind::RelativeOid,
            ast::TypeKind::OidIri => TypeKind::OidIri,
            ast::TypeKind::RelativeOidIri => TypeKind::RelativeOidIri,
            ast::TypeKind::EmbeddedPdv => TypeKind::EmbeddedPdv,
            ast::TypeKind::External => TypeKind::External,
            ast::TypeKind::Time => TypeKind::Time,
            ast::TypeKind::UsefulTime(time) => TypeKind::UsefulTime(*time),
            ast::TypeKind::CharacterString(kind) => TypeKind::CharacterString(*kind),
            ast::TypeKind::UnrestrictedCharacterString => TypeKind::UnrestrictedCharacterString,
            ast::TypeKind::GeneralizedTime => TypeKind::GeneralizedTime,
            ast::TypeKind::UtcTime => TypeKind::UtcTime,
            ast::TypeKind::ObjectDescriptor => TypeKind::ObjectDescriptor,
            ast::TypeKind::Reference(reference) => TypeKind::Reference(self.reference_type(scope, reference)),
            ast::TypeKind::ClassField { class, path } => self.field_type(scope, id, class, path),
            ast::TypeKind::FromObject { base, path } => self.field_type(scope, id, base, path),
            ast::TypeKind::InstanceOf(class) => {
                self.class_named(scope, class).map_or(TypeKind::Open(None), TypeKind::InstanceOf)
            }
            ast::TypeKind::Any(None) => TypeKind::Open(None),
            ast::TypeKind::Any(Some(name)) => TypeKind::AnyDefinedBy(name.text.clone()),
            ast::TypeKind::MacroUse(name, _) => {
                self.report_macro(name);
                TypeKind::Open(None)
            }
        };
        self.model.types[id.index()].kind = kind;
    }

    fn report_macro(&mut self, name: &ast::Ident) {
        let text = format!("the macro `{}` is not expanded", name.text);
        self.report(
            Diagnostic::warning("W0241", name.span, text)
                .label("the types inside are taken as open types")
                .note("MACRO (X.208 Annex A) left the standard in 1997; information objects replaced it"),
        );
    }

    /// The type a reference stands for.
    pub(super) fn reference_type(&mut self, scope: &Scope<'a>, reference: &'a ast::Reference) -> TypeId {
        match self.lookup(scope, reference) {
            Some(Binding::Type(id) | Binding::ValueSet(id)) => id,
            Some(Binding::Missing) if self.options.lenient => self.open_type(),
            Some(Binding::Missing) | None => self.error_type(),
            Some(Binding::Macro) => {
                self.report_macro(&reference.name);
                self.open_type()
            }
            Some(other) => {
                self.report_wrong_kind(reference, &other, "a type");
                self.error_type()
            }
        }
    }

    fn build_tags(&mut self, id: TypeId, scope: &Scope<'a>, tree: &'a ast::Type, automatic: Option<u32>) {
        let environment = match self.modules.get(scope.module.index()).map(|m| m.tags) {
            Some(TagDefault::Implicit | TagDefault::Automatic) => TagMode::Implicit,
            Some(TagDefault::Explicit) | None => TagMode::Explicit,
        };
        let mut tags = Vec::with_capacity(tree.tags.len() + usize::from(automatic.is_some()));
        // X.680 §25.10: automatic tagging gives context-specific tags in the IMPLICIT environment.
        if let Some(number) = automatic {
            tags.push(Tag { class: ast::TagClass::Context, number, mode: TagMode::Implicit });
        }
        for prefix in &tree.tags {
            let number = self.tag_number(scope, &prefix.number);
            tags.push(Tag { class: prefix.class, number, mode: prefix.mode.unwrap_or(environment) });
        }
        match self.options.tagging {
            Tagging::AsWritten => {}
            Tagging::ImplicitExceptChoice => tags.iter_mut().for_each(|t| t.mode = TagMode::Implicit),
            Tagging::Explicit => tags.iter_mut().for_each(|t| t.mode = TagMode::Explicit),
        }
        let keyword = tree.tags.last().is_some_and(|t| t.mode == Some(TagMode::Implicit));
        if let Some(last) = tags.last_mut()
            && last.mode == TagMode::Implicit
        {
            let explicit_dummies =
                self.options.tagging == Tagging::AsWritten && !self.options.dummies_tagged_as_actual;
            if explicit_dummies && !keyword && is_dummy(scope, tree) {
                // X.680 §31.2.7 c: an untagged dummy reference is tagged explicitly whatever it stands for.
                last.mode = TagMode::Explicit;
            } else {
                self.undecided.push(Undecided { ty: id, keyword });
            }
        }
        self.model.types[id.index()].tags = tags;
    }

    /// What stands in brackets and is no tag is an encoding instruction (X.680 §31.3), but `[-1]` is neither.
    fn check_prefix(&mut self, scope: &Scope<'a>, prefix: &'a ast::EncodingPrefix) {
        let first = self.tokens(scope).get(prefix.text.first as usize + 1).map(|t| t.kind);
        if matches!(first, Some(TokenKind::Minus | TokenKind::Number | TokenKind::CloseBracket)) {
            self.report(
                Diagnostic::error("E0251", prefix.text.span, "this is not a tag")
                    .note("X.680 §31.2.2: the number of a tag is not negative"),
            );
        }
    }

    fn tag_number(&mut self, scope: &Scope<'a>, value: &'a ast::Value) -> u32 {
        let number = match &value.kind {
            ast::ValueKind::Integer(digits) => digits.parse().ok(),
            _ => {
                let governor = self.type_of(BuiltIn::Integer);
                match self.value(scope, value, governor) {
                    Value::Integer(number) => u32::try_from(&number).ok(),
                    Value::Error => return 0,
                    _ => None,
                }
            }
        };
        number.unwrap_or_else(|| {
            self.report(
                Diagnostic::error("E0251", value.span, "a tag number lies from 0 to 4294967295")
                    .label("not such a number")
                    .note("X.680 §31.2.2: the number is not negative; larger ones are not supported"),
            );
            0
        })
    }

    /// Makes implicit tags on untagged CHOICE and open types explicit (X.680 §31.2.7 c), now that all kinds are known.
    pub(super) fn decide_tag_modes(&mut self) {
        for Undecided { ty, keyword } in std::mem::take(&mut self.undecided) {
            if !self.is_untagged(ty) {
                continue;
            }
            let ir = &mut self.model.types[ty.index()];
            if let Some(tag) = ir.tags.last_mut() {
                tag.mode = TagMode::Explicit;
            }
            let span = ir.span;
            if keyword {
                // §31.2.9: IMPLICIT shall not be written there.
                let finding = self
                    .slip("E0252", span, "`IMPLICIT` cannot be applied to a CHOICE or an open type")
                    .label("taken as `EXPLICIT`");
                self.report(finding);
            }
        }
    }

    /// Whether what a type's own tags are applied to is a CHOICE or open type without a tag.
    fn is_untagged(&self, id: TypeId) -> bool {
        let types = &self.model.types;
        let mut at = id;
        for _ in 0..super::ALIAS_LIMIT {
            match &types[at.index()].kind {
                TypeKind::Reference(next) => at = *next,
                TypeKind::Choice(_) | TypeKind::Open(_) | TypeKind::AnyDefinedBy(_) => return true,
                _ => return false,
            }
            if !types[at.index()].tags.is_empty() {
                return false;
            }
        }
        false
    }

    /// Finds references that lead to themselves (`A ::= B`, `B ::= A`), reports each circle once and breaks it.
    pub(super) fn break_reference_cycles(&mut self) {
        let count = self.model.types.len();
        // 0: not seen; n: seen in the n-th walk; u32::MAX: leads to an end.
        let mut seen = vec![0u32; count];
        for start in 0..count {
            let walk = start as u32 + 1;
            let mut at = start;
            while seen[at] == 0 {
                seen[at] = walk;
                let TypeKind::Reference(next) = self.model.types[at].kind else { break };
                at = next.index();
            }
            if seen[at] == walk && matches!(self.model.types[at].kind, TypeKind::Reference(_)) {
                self.break_cycle(at);
            }
        }
    }

    fn break_cycle(&mut self, start: usize) {
        let mut members = vec![start];
        while let TypeKind::Reference(next) = self.model.types[members[members.len() - 1]].kind {
            if next.index() == start {
                break;
            }
            members.push(next.index());
        }
        // The finding stands at the first named member in the text, so that it does not depend on who asked first.
        let first = members.iter().copied().min_by_key(|&m| {
            let ty = &self.model.types[m];
            (ty.name.is_none(), ty.span)
        });
        let Some(first) = first else { return };
        let ty = &self.model.types[first];
        let name = ty.name.as_ref().map_or_else(|| "this type".into(), |n| format!("`{}`", n.name));
        let mut finding = Diagnostic::error("E0222", ty.span, format!("{name} is defined by itself"))
            .label("leads back to itself without a component in between");
        for &member in members.iter().filter(|&&m| m != first).take(5) {
            finding = finding.also(self.model.types[member].span, "by way of this");
        }
        self.report(finding);
        for member in members {
            self.model.types[member].kind = TypeKind::Error;
        }
    }
}

/// Whether a type is a dummy reference, without tags of its own between.
fn is_dummy(scope: &Scope<'_>, tree: &ast::Type) -> bool {
    match &tree.kind {
        ast::TypeKind::Reference(r) => r.module.is_none() && scope.dummy(&r.name.text).is_some(),
        _ => false,
    }
}
