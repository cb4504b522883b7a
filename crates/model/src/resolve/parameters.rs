//! Instances of parameterized definitions (X.683): actual parameters bound, equal instances shared.

use super::Resolver;
use super::definitions::{DefId, Memo};
use super::lookup::{Binding, Bindings, Scope};
use super::types::BuiltIn;
use crate::ir::{self, ClassId, ModuleId, TypeId};
use smol_str::{SmolStr, SmolStrBuilder, format_smolstr};
use std::rc::Rc;
use tercet_syntax::ast::{self, ActualParameter, ElementKind};
use tercet_syntax::{Diagnostic, Span};

/// Instances inside instances go no deeper; definitions that expand for ever do.
const INSTANCE_DEPTH: u32 = 64;

/// What makes two instances the same: the definition and what its parameters stand for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    definition: DefId,
    arguments: Box<[ArgumentKey]>,
}

/// An actual parameter, as far as it tells instances apart.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum ArgumentKey {
    Id(u8, u32),
    Value(SmolStr),
    Missing,
}

/// What a dummy is for; its governor says so (X.683 §8.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Role {
    TypeOrClass,
    Value(TypeId),
    ValueSet(TypeId),
    Object(ClassId),
    ObjectSet(ClassId),
    /// The governor is missing.
    Unknown,
}

impl<'a> Resolver<'a> {
    /// The instance of a definition that a reference with parameters makes.
    pub(super) fn instance(
        &mut self,
        scope: &Scope<'a>,
        definition: DefId,
        reference: &'a ast::Reference,
        actual: &'a [ActualParameter],
    ) -> Option<Binding> {
        let tree = self.definition_tree(definition);
        if actual.len() != tree.parameters.len() {
            let text = format!(
                "`{}` takes {} parameter{}, not {}",
                tree.name.text,
                tree.parameters.len(),
                if tree.parameters.len() == 1 { "" } else { "s" },
                actual.len()
            );
            self.report(
                Diagnostic::error("E0233", reference.span, text).also(tree.name.span, "defined here"),
            );
            return None;
        }
        if scope.depth() >= INSTANCE_DEPTH {
            let text = format!("`{}` expands without end", tree.name.text);
            self.report(
                Diagnostic::error("E0234", tree.name.span, text)
                    .also(reference.span, format!("inside {INSTANCE_DEPTH} other instances here"))
                    .note("each instance makes another one with new parameters (X.683 §9.9 forbids that)"),
            );
            return None;
        }
        let inner = self.bind_parameters(scope, definition, actual)?;
        self.shared_instance(definition, inner, reference.span)
    }

    /// The instance of a definition whose parameters were left out: each is missing.
    pub(super) fn bare_instance(&mut self, definition: DefId) -> Option<Binding> {
        let tree = self.definition_tree(definition);
        let parameters = &tree.parameters;
        let arguments = vec![Binding::Missing; parameters.len()];
        let module = ModuleId(definition.module() as u32);
        let inner = Scope { module, bindings: Some(Rc::new(Bindings { parameters, arguments, depth: 1 })) };
        self.shared_instance(definition, inner, tree.name.span)
    }

    fn shared_instance(&mut self, definition: DefId, inner: Scope<'a>, at: Span) -> Option<Binding> {
        let arguments = inner.bindings.as_ref().map_or(&[][..], |b| &b.arguments);
        let key = Key { definition, arguments: arguments.iter().map(key_of).collect() };
        match self.instances.get(&key) {
            Some(Memo::Done(binding)) => {
                let binding = binding.clone();
                return Some(self.copy(&binding, at));
            }
            Some(_) => {
                self.report_value_cycle(definition, at);
                return None;
            }
            None => {}
        }
        if !self.spend(1, at) {
            return None;
        }
        if self.instances.len() >= self.options.instance_limit as usize {
            if !self.instances_reported {
                self.instances_reported = true;
                let text = format!(
                    "more than {} instances of parameterized definitions",
                    self.options.instance_limit
                );
                self.report(
                    Diagnostic::error("E0235", at, text)
                        .label("this one and those after it are ignored")
                        .help("raise the limit if the specification is meant to be so large"),
                );
            }
            return None;
        }
        let name = self.argument_names(arguments);
        self.instances.insert(key.clone(), Memo::Active);
        let binding = self.define(definition, inner, name);
        self.instances.insert(key, Memo::Done(binding.clone()));
        Some(binding)
    }

    /// Binds dummies to actual parameters: types and classes first, since they may govern the others.
    fn bind_parameters(
        &mut self,
        scope: &Scope<'a>,
        definition: DefId,
        actual: &'a [ActualParameter],
    ) -> Option<Scope<'a>> {
        let tree = self.definition_tree(definition);
        let parameters = &tree.parameters;
        let mut arguments = vec![Binding::Missing; parameters.len()];
        for (index, (parameter, actual)) in parameters.iter().zip(actual).enumerate() {
            if parameter.governor.is_none() {
                arguments[index] = self.argument(scope, actual, Role::TypeOrClass)?;
            }
        }
        let module = ModuleId(definition.module() as u32);
        let depth = scope.depth() + 1;
        let mut inner = Scope { module, bindings: Some(Rc::new(Bindings { parameters, arguments, depth })) };
        for (index, (parameter, actual)) in parameters.iter().zip(actual).enumerate() {
            let Some(governor) = &parameter.governor else { continue };
            let role = self.role(&inner, governor, &parameter.name)?;
            let argument = self.argument(scope, actual, role)?;
            if let Some(bindings) = inner.bindings.as_mut() {
                Rc::make_mut(bindings).arguments[index] = argument;
            }
        }
        Some(inner)
    }

    fn role(&mut self, inner: &Scope<'a>, governor: &'a ast::Type, name: &ast::Ident) -> Option<Role> {
        Some(if self.governor_is_class(inner, governor) {
            let class = self.class_of(inner, governor)?;
            if name.is_upper() { Role::ObjectSet(class) } else { Role::Object(class) }
        } else {
            let ty = match &governor.kind {
                ast::TypeKind::Integer(names) if names.is_empty() && governor.constraints.is_empty() => {
                    self.type_of(BuiltIn::Integer)
                }
                _ => self.ty(inner, governor),
            };
            match () {
                () if self.is_missing(ty) => Role::Unknown,
                () if name.is_upper() => Role::ValueSet(ty),
                () => Role::Value(ty),
            }
        })
    }

    /// What an actual parameter stands for in its role.
    fn argument(&mut self, scope: &Scope<'a>, actual: &'a ActualParameter, role: Role) -> Option<Binding> {
        if role == Role::Unknown {
            return Some(Binding::Missing);
        }
        if let Some(reference) = bare_reference(actual) {
            let names_parameters = reference.parameters.is_some();
            match self.named_argument(scope, reference, role) {
                // A name may also be an enumeration item or a named number of the governor.
                Some(None) if !names_parameters => {}
                Some(None) => return Some(Binding::Missing),
                Some(Some(binding)) => return Some(binding),
                None => return None,
            }
        }
        // Equal notation in the same module means the same, unless it contains dummies: then it is built anew.
        let span = span_of(actual);
        let shared = scope.bindings.is_none().then(|| (scope.module, role, self.map.text(span)));
        if let Some(key) = &shared
            && let Some(known) = self.texts.get(key)
        {
            return Some(known.clone());
        }
        let binding = self.written_argument(scope, actual, role)?;
        if let Some(key) = shared {
            self.texts.insert(key, binding.clone());
        }
        Some(binding)
    }

    /// A bare name as a parameter. `None`: reported. `Some(None)`: not something of that role, look further.
    #[expect(clippy::option_option, reason = "three outcomes, used in one place")]
    fn named_argument(
        &mut self,
        scope: &Scope<'a>,
        reference: &'a ast::Reference,
        role: Role,
    ) -> Option<Option<Binding>> {
        if matches!(role, Role::Value(_)) {
            return Some(None);
        }
        let found = self.lookup(scope, reference)?;
        Some(match (&found, role) {
            (Binding::Type(_) | Binding::ValueSet(_) | Binding::Class(_), Role::TypeOrClass)
            | (Binding::ObjectSet(_), Role::ObjectSet(_))
            | (Binding::Object(_), Role::Object(_))
            | (Binding::Missing, _) => Some(found),
            (Binding::Type(id) | Binding::ValueSet(id), Role::ValueSet(_)) => Some(Binding::ValueSet(*id)),
            // An object where a set is needed: the set of just that object.
            (Binding::Object(_), Role::ObjectSet(_)) => None,
            (other, _) => {
                let wanted = match role {
                    Role::TypeOrClass => "a type or class",
                    Role::Value(_) => "a value",
                    Role::ValueSet(_) => "a value set",
                    Role::Object(_) => "an object",
                    Role::ObjectSet(_) => "an object set",
                    Role::Unknown => return Some(Some(Binding::Missing)),
                };
                self.report_wrong_kind(reference, other, wanted);
                return None;
            }
        })
    }

    fn written_argument(
        &mut self,
        scope: &Scope<'a>,
        actual: &'a ActualParameter,
        role: Role,
    ) -> Option<Binding> {
        match role {
            Role::Unknown => Some(Binding::Missing),
            Role::TypeOrClass => match actual {
                ActualParameter::Type(ty) => Some(Binding::Type(self.ty(scope, ty))),
                _ => {
                    self.report(Diagnostic::error(
                        "E0236",
                        span_of(actual),
                        "a type is needed as this parameter",
                    ));
                    None
                }
            },
            Role::Value(governor) => {
                let value = self.parameter_value(actual)?;
                Some(Binding::Value(governor, self.value(scope, value, governor)))
            }
            Role::Object(class) => {
                let value = self.parameter_value(actual)?;
                Some(Binding::Object(self.new_object(scope, value, class, None)))
            }
            Role::ValueSet(governor) => {
                if let ActualParameter::Type(ty) = actual {
                    return Some(Binding::ValueSet(self.ty(scope, ty)));
                }
                let set = self.parameter_set(scope, actual)?;
                Some(Binding::ValueSet(self.new_value_set(scope, set, governor)))
            }
            Role::ObjectSet(class) => {
                let set = self.parameter_set(scope, actual)?;
                // `{Name}` is the set of that name itself: the usual way to hand one on (X.683 §9.5).
                if let Some(binding) = self.lone_set(scope, set) {
                    return Some(binding);
                }
                Some(Binding::ObjectSet(self.new_object_set(scope, set, class, None)))
            }
        }
    }

    fn lone_set(&mut self, scope: &Scope<'a>, set: &'a ast::ElementSet) -> Option<Binding> {
        let root = set.root.as_ref().filter(|_| !set.extensible && set.additional.is_none())?;
        let ElementKind::Type(ty) = &root.kind else { return None };
        let ast::TypeKind::Reference(reference) = &ty.kind else { return None };
        if !ty.constraints.is_empty() || !ty.tags.is_empty() {
            return None;
        }
        match self.lookup(scope, reference)? {
            found @ Binding::ObjectSet(_) => Some(found),
            _ => None,
        }
    }

    fn parameter_value(&mut self, actual: &'a ActualParameter) -> Option<&'a ast::Value> {
        match actual {
            ActualParameter::Value(value) => Some(value),
            ActualParameter::Braced(braced) => {
                let kind = ast::ValueKind::Braced(*braced);
                Some(self.keep_value(ast::Value { kind, span: braced.span }))
            }
            ActualParameter::Type(ty) => {
                self.report(Diagnostic::error("E0236", ty.span, "a value is needed as this parameter"));
                None
            }
        }
    }

    fn parameter_set(
        &mut self,
        scope: &Scope<'a>,
        actual: &'a ActualParameter,
    ) -> Option<&'a ast::ElementSet> {
        match actual {
            ActualParameter::Braced(braced) => {
                let mut cursor = self.cursor(scope, *braced);
                match cursor.object_set_braced() {
                    Ok(set) => Some(self.keep_set(set)),
                    Err(finding) => {
                        self.report(*finding);
                        None
                    }
                }
            }
            ActualParameter::Value(value) => {
                let kind = ElementKind::Value(value.clone());
                let root = Some(ast::Element { kind, span: value.span });
                Some(self.keep_set(ast::ElementSet {
                    root,
                    extensible: false,
                    additional: None,
                    span: value.span,
                }))
            }
            ActualParameter::Type(ty) => {
                let kind = ElementKind::Type(Box::new(ty.clone()));
                let root = Some(ast::Element { kind, span: ty.span });
                Some(self.keep_set(ast::ElementSet {
                    root,
                    extensible: false,
                    additional: None,
                    span: ty.span,
                }))
            }
        }
    }

    /// What the parameters stand for, in words that tell instances apart.
    fn argument_names(&self, arguments: &[Binding]) -> SmolStr {
        let mut out = SmolStrBuilder::new();
        for (index, argument) in arguments.iter().enumerate() {
            if index > 0 {
                out.push_str(", ");
            }
            match argument {
                Binding::Type(id) | Binding::ValueSet(id) => {
                    let ty = &self.model.types[id.index()];
                    match &ty.name {
                        Some(name) if name.arguments.is_empty() => out.push_str(&name.name),
                        // Names of instances in instances would double at each level: the place tells enough.
                        Some(name) if name.arguments.len() <= 40 => {
                            out.push_str(&format_smolstr!("{} {{{}}}", name.name, name.arguments));
                        }
                        Some(name) => out.push_str(&format_smolstr!("{} {{#{}}}", name.name, id.0)),
                        // The same notation means something else in each instance that it stands in.
                        None if self.types[id.index()].scope.bindings.is_some() => {
                            out.push_str(&format_smolstr!("{} #{}", short(self.map.text(ty.span)), id.0));
                        }
                        None => out.push_str(short(self.map.text(ty.span))),
                    }
                }
                Binding::Value(_, value) => out.push_str(&value_key(value)),
                Binding::Class(id) => out.push_str(&self.model.classes[id.index()].name),
                Binding::Object(id) => {
                    let object = &self.model.objects[id.index()];
                    out.push_str(object.name.as_deref().unwrap_or_else(|| short(self.map.text(object.span))));
                }
                Binding::ObjectSet(id) => {
                    let name = self.model.object_sets[id.index()].name.as_deref();
                    out.push_str(&format_smolstr!("{{{}}}", name.unwrap_or("…")));
                }
                Binding::Macro | Binding::Missing => out.push('?'),
            }
        }
        out.finish()
    }
}

fn bare_reference(actual: &ActualParameter) -> Option<&ast::Reference> {
    match actual {
        ActualParameter::Type(ty) if ty.tags.is_empty() && ty.constraints.is_empty() => match &ty.kind {
            ast::TypeKind::Reference(reference) => Some(reference),
            _ => None,
        },
        ActualParameter::Value(value) => match &value.kind {
            ast::ValueKind::Reference(reference) => Some(reference),
            _ => None,
        },
        _ => None,
    }
}

fn span_of(actual: &ActualParameter) -> Span {
    match actual {
        ActualParameter::Type(ty) => ty.span,
        ActualParameter::Value(value) => value.span,
        ActualParameter::Braced(braced) => braced.span,
    }
}

fn key_of(binding: &Binding) -> ArgumentKey {
    match binding {
        Binding::Type(id) => ArgumentKey::Id(0, id.0),
        Binding::ValueSet(id) => ArgumentKey::Id(1, id.0),
        Binding::Class(id) => ArgumentKey::Id(2, id.0),
        Binding::Object(id) => ArgumentKey::Id(3, id.0),
        Binding::ObjectSet(id) => ArgumentKey::Id(4, id.0),
        Binding::Value(_, value) => ArgumentKey::Value(value_key(value)),
        Binding::Macro | Binding::Missing => ArgumentKey::Missing,
    }
}

fn value_key(value: &ir::Value) -> SmolStr {
    match value {
        ir::Value::Integer(number) => format_smolstr!("{number}"),
        ir::Value::Boolean(true) => SmolStr::new_static("TRUE"),
        ir::Value::Boolean(false) => SmolStr::new_static("FALSE"),
        ir::Value::Enumerated(name, _) => name.clone(),
        other => format_smolstr!("{other:?}"),
    }
}

fn short(text: &str) -> &str {
    match text.char_indices().nth(40) {
        Some((end, _)) => &text[..end],
        None => text,
    }
}
