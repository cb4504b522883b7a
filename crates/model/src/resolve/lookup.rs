//! What a name means: dummy parameters first, then the module, its imports, and `Module.Name`.

use super::Resolver;
use super::definitions::DefId;
use super::modules::Symbol;
use crate::ir::{ClassId, ModuleId, ObjectId, ObjectSetId, TypeId, Value};
use crate::unresolved::{Cause, Unresolved};
use std::rc::Rc;
use tercet_syntax::ast;
use tercet_syntax::{Diagnostic, Fix, Keyword, Span, Token, TokenKind};

/// Where a tree was written, and what its dummy references stand for.
#[derive(Clone, Debug)]
pub(crate) struct Scope<'a> {
    /// The module.
    pub(crate) module: ModuleId,
    /// The actual parameters, inside a parameterized definition (X.683 §8.3).
    pub(crate) bindings: Option<Rc<Bindings<'a>>>,
}

impl<'a> Scope<'a> {
    /// A module's own scope.
    pub(crate) fn module(module: ModuleId) -> Self {
        Self { module, bindings: None }
    }

    /// What a dummy reference stands for.
    pub(crate) fn dummy(&self, name: &str) -> Option<&Binding> {
        self.dummy_and_name(name).map(|(_, binding)| binding)
    }

    /// What a dummy reference stands for, with its name in the list of parameters.
    fn dummy_and_name(&self, name: &str) -> Option<(&'a ast::Ident, &Binding)> {
        let bindings = self.bindings.as_deref()?;
        let at = bindings.parameters.iter().position(|p| p.name.text == name)?;
        Some((&bindings.parameters[at].name, bindings.arguments.get(at)?))
    }

    /// How many instances this one is inside of.
    pub(super) fn depth(&self) -> u32 {
        self.bindings.as_ref().map_or(0, |b| b.depth)
    }
}

/// The actual parameters of an instance.
#[derive(Clone, Debug)]
pub(crate) struct Bindings<'a> {
    /// The dummies.
    pub(crate) parameters: &'a [ast::Parameter],
    /// What each stands for; shorter than `parameters` while they are being bound.
    pub(crate) arguments: Vec<Binding>,
    pub(super) depth: u32,
}

/// What a name stands for.
#[derive(Clone, Debug)]
pub(crate) enum Binding {
    /// A type.
    Type(TypeId),
    /// A value with its governor.
    Value(TypeId, Value),
    /// A value set: a type that holds just its values.
    ValueSet(TypeId),
    /// A class.
    Class(ClassId),
    /// An object.
    Object(ObjectId),
    /// An object set.
    ObjectSet(ObjectSetId),
    /// A MACRO of the 1988 notation.
    Macro,
    /// Something missing that has been reported: stay silent, assume as little as possible.
    Missing,
}

impl Binding {
    /// What it is, for messages.
    pub(crate) fn noun(&self) -> &'static str {
        match self {
            Self::Type(_) => "a type",
            Self::Value(..) => "a value",
            Self::ValueSet(_) => "a value set",
            Self::Class(_) => "a class",
            Self::Object(_) => "an object",
            Self::ObjectSet(_) => "an object set",
            Self::Macro => "a macro",
            Self::Missing => "missing",
        }
    }
}

impl<'a> Resolver<'a> {
    /// What a reference stands for; `None` when that has been reported.
    pub(crate) fn lookup(&mut self, scope: &Scope<'a>, reference: &'a ast::Reference) -> Option<Binding> {
        if reference.module.is_none()
            && let Some((dummy, binding)) = scope.dummy_and_name(&reference.name.text)
        {
            self.occurs(reference.name.span, dummy.span);
            return Some(self.copy(binding, reference.span));
        }
        match self.known_symbol(scope, reference) {
            Symbol::Definition(id) => {
                let found = self.defined(scope, reference, id);
                if matches!(found, Some(Binding::Missing | Binding::Value(_, Value::Error))) {
                    self.pass_on_unresolved(reference, id);
                }
                found
            }
            Symbol::BuiltInClass(class) => Some(Binding::Class(self.built_in_class(class))),
            Symbol::Missing | Symbol::Unknown => Some(Binding::Missing),
        }
    }

    /// What a definition gives for a reference to it.
    fn defined(&mut self, scope: &Scope<'a>, reference: &'a ast::Reference, id: DefId) -> Option<Binding> {
        match &reference.parameters {
            Some(actual) if self.is_parameterized(id) => self.instance(scope, id, reference, actual),
            Some(_) => {
                let name = &reference.name.text;
                let finding = self
                    .slip("E0231", reference.span, format!("`{name}` takes no parameters"))
                    .label("parameters are ignored");
                self.report(finding);
                self.bind(id, reference.span)
            }
            None if self.is_parameterized(id) => {
                let name = &reference.name.text;
                let definition = self.definition_tree(id);
                let finding = self
                    .slip("E0232", reference.span, format!("`{name}` needs parameters"))
                    .also(definition.name.span, "defined with parameters here")
                    .label(if self.options.lenient {
                        "taken without knowing them"
                    } else {
                        "none are given"
                    });
                self.report(finding);
                self.note_unresolved(reference, Cause::NoParameters);
                if self.options.lenient { self.bare_instance(id) } else { None }
            }
            None => self.bind(id, reference.span),
        }
    }

    /// The symbol a reference leads to; one that is unknown is reported.
    pub(super) fn known_symbol(&mut self, scope: &Scope<'a>, reference: &'a ast::Reference) -> Symbol {
        let mut symbol = self.symbol_of(scope, reference);
        if let Symbol::Definition(id) = symbol {
            let definition = self.definition_tree(id).name.span;
            self.occurs(reference.name.span, definition);
        }
        if symbol == Symbol::Unknown {
            self.report_unknown(scope.module, reference);
            symbol = self.symbol_of(scope, reference);
        }
        if matches!(symbol, Symbol::Missing | Symbol::Unknown) {
            let cause = self.cause(scope.module, reference);
            self.note_unresolved(reference, cause);
        }
        symbol
    }

    /// Keeps a reference that leads to nothing, for [`crate::Model::gaps`].
    fn note_unresolved(&mut self, reference: &ast::Reference, cause: Cause) {
        let (span, name) = (reference.span, reference.name.text.clone());
        self.unresolved.entry((span.lo, span.hi)).or_insert(Unresolved { name, cause, span });
    }

    /// A reference to a definition that says nothing because of what it refers to itself.
    fn pass_on_unresolved(&mut self, reference: &ast::Reference, id: DefId) {
        let span = self.definition_tree(id).span;
        let within = self.unresolved.range((span.lo, 0)..(span.hi, 0)).next();
        if let Some(cause) = within.map(|(_, it)| it.cause.clone()) {
            self.note_unresolved(reference, cause);
        }
    }

    /// Why a reference leads to nothing: where it would have to come from.
    fn cause(&self, module: ModuleId, reference: &ast::Reference) -> Cause {
        let from = match &reference.module {
            Some(module) => Some(&**module),
            None => self.import_of(module, &reference.name.text),
        };
        match from {
            None => Cause::Unknown,
            Some(from) if self.module_named(&from.text).is_some() => Cause::NotDefined(from.text.clone()),
            Some(from) => Cause::NoModule(from.text.clone()),
        }
    }

    /// What a name without parameters stands for, if anything; never reports that it is unknown.
    pub(crate) fn peek(&mut self, scope: &Scope<'a>, name: &str) -> Option<Binding> {
        if let Some(binding) = scope.dummy(name) {
            return Some(binding.clone());
        }
        match self.symbol(scope.module, name) {
            Symbol::Definition(id) if !self.is_parameterized(id) => {
                let span = self.definition_tree(id).name.span;
                self.bind(id, span)
            }
            Symbol::BuiltInClass(class) => Some(Binding::Class(self.built_in_class(class))),
            Symbol::Missing => Some(Binding::Missing),
            Symbol::Definition(_) | Symbol::Unknown => None,
        }
    }

    /// Says that a reference stands for something else than is needed here.
    pub(crate) fn report_wrong_kind(&mut self, reference: &ast::Reference, found: &Binding, wanted: &str) {
        let name = &reference.name.text;
        self.report(
            Diagnostic::error("E0203", reference.span, format!("`{name}` is {}, not {wanted}", found.noun()))
                .label(format!("{wanted} is needed here")),
        );
    }

    /// Says once for a module that a name is unknown, with what may have been meant. In lenient mode a name that
    /// just one other module defines is taken from there.
    fn report_unknown(&mut self, module: ModuleId, reference: &'a ast::Reference) {
        let name = &reference.name.text;
        let what = if reference.name.is_upper() { "type or set" } else { "value" };
        let mut finding = self.slip("E0201", reference.name.span, format!("unknown {what} `{name}`"));
        let mut assumed = Symbol::Missing;
        if let Some((id, alone)) = self.definition_elsewhere(name) {
            let owner = &self.modules[id.module()].name.text;
            if self.options.lenient && alone {
                assumed = Symbol::Definition(id);
                finding = finding.label(format!("taken from `{owner}`"));
            }
            let fix = import_fix(&self.modules[module.index()], name, owner);
            finding = finding
                .help(format!("defined in module `{owner}`: add `IMPORTS {name} FROM {owner};`"))
                .fix(if alone { fix.certain() } else { fix });
        } else {
            let within = reference.module.as_ref().and_then(|m| self.module_named(&m.text)).unwrap_or(module);
            if let Some(near) = self.nearest_name(within, name) {
                finding = finding
                    .help(format!("a name much like it is known: `{near}`"))
                    .fix(Fix::replace(reference.name.span, near));
            }
        }
        if assumed == Symbol::Missing {
            finding = finding.label(match self.options.lenient {
                true => "taken as an open type, or ignored",
                false => "neither defined here nor imported",
            });
        }
        self.report(finding);
        if reference.module.is_none() {
            self.assume(module, name, assumed);
        }
    }

    /// The symbol a reference leads to, through its module when one is written.
    pub(super) fn symbol_of(&mut self, scope: &Scope<'a>, reference: &ast::Reference) -> Symbol {
        let Some(module) = &reference.module else {
            return self.symbol(scope.module, &reference.name.text);
        };
        // X.680 §14.1: Module.Name means the module's own definition, even when a local one has the same name.
        match self.module_named(&module.text) {
            Some(id) => {
                let definition = self.modules[id.index()].name.span;
                self.occurs(module.span, definition);
                self.symbol(id, &reference.name.text)
            }
            None => {
                self.report_missing_module(module);
                Symbol::Missing
            }
        }
    }
}

/// Returns the edit that imports a name from a module (X.680 §13.1).
pub fn import_fix(module: &ast::Module, name: &str, owner: &str) -> Fix {
    let at = |span: Span| Span::new(span.hi, span.hi);
    let from_owner = module.imports.iter().find(|import| import.module.text == owner);
    if let Some(symbol) = from_owner.and_then(|import| import.symbols.last()) {
        return Fix::replace(at(symbol.span), format!(", {name}"));
    }
    if let Some(last) = module.imports.last() {
        return Fix::replace(at(last.span), format!("\n    {name} FROM {owner}"));
    }
    // Behind BEGIN, and behind EXPORTS.
    let is = |kind: TokenKind| move |token: &Token| token.kind == kind;
    let begin = module.tokens.iter().position(is(TokenKind::Word(Keyword::Begin))).unwrap_or(0);
    let has_exports = module.tokens.get(begin + 1).is_some_and(is(TokenKind::Word(Keyword::Exports)));
    let rest = module.tokens.get(begin..).unwrap_or_default();
    let end = if has_exports { rest.iter().position(is(TokenKind::Semicolon)) } else { Some(0) };
    let place = end.and_then(|end| rest.get(end)).map_or(module.name.span, |token| token.span);
    Fix::replace(at(place), format!("\nIMPORTS {name} FROM {owner};\n"))
}
