//! Types that come from somewhere else: class fields, objects, alternatives (X.680 §30, X.681 §14, §15).

use super::lookup::{Binding, Scope};
use super::{Resolver, deferred};
use crate::ir::{ClassFieldKind, ClassId, Setting, TypeId, TypeKind};
use tercet_syntax::ast::{self, Ident};
use tercet_syntax::{Diagnostic, Fix};

impl<'a> Resolver<'a> {
    /// `CLASS.&field`, `object.&Field` or `Set.&field` as a type. What stands before the dot decides, since grammar
    /// cannot tell a class from a set in capitals.
    pub(super) fn field_type(
        &mut self,
        scope: &Scope<'a>,
        id: TypeId,
        base: &'a ast::Reference,
        path: &'a [Ident],
    ) -> TypeKind {
        match self.lookup(scope, base) {
            Some(Binding::Class(class)) => self.class_field_type(class, path),
            Some(Binding::Object(object)) => {
                if !self.ensure_object(object, base.span) {
                    return TypeKind::Error;
                }
                match self.field_of_object(object, path) {
                    Some(Setting::Type(ty) | Setting::ValueSet(ty)) => TypeKind::Reference(ty),
                    Some(_) => self.wrong_field(path, "a type"),
                    None => self.absent_field(base, path),
                }
            }
            Some(Binding::ObjectSet(set)) => {
                let class = self.object_set_class(set);
                let kind = self.class_field_type(class, path);
                if let TypeKind::Reference(_) = kind {
                    // X.681 §15.2: the values that the objects of the set have in that field.
                    self.defer_constraints(id, deferred::Constraints::FromObjects(set, path));
                }
                kind
            }
            Some(Binding::Missing) if self.options.lenient => TypeKind::Open(None),
            Some(Binding::Missing) | None => TypeKind::Error,
            Some(other) => {
                self.report_wrong_kind(base, &other, "a class, object or object set");
                TypeKind::Error
            }
        }
    }

    /// The type of a class field (X.681 §14.2): an open type for a type field and for values of a variable type, the
    /// type itself for those of a fixed type.
    fn class_field_type(&mut self, class: ClassId, path: &'a [Ident]) -> TypeKind {
        let Some((class, kind)) = self.field_kind(class, path) else { return TypeKind::Error };
        let Some(last) = path.last() else { return TypeKind::Error };
        match kind {
            ClassFieldKind::Type | ClassFieldKind::VariableValue(_) | ClassFieldKind::VariableValueSet(_) => {
                TypeKind::Open(Some((class, last.text.clone())))
            }
            ClassFieldKind::Value(ty) | ClassFieldKind::ValueSet(ty) => TypeKind::Reference(ty),
            ClassFieldKind::Object(_) | ClassFieldKind::ObjectSet(_) => self.wrong_field(path, "a type"),
        }
    }

    /// The kind of the field at the end of a path, and the class that has it; all but the last field lead to another
    /// class. `None` when that has been reported.
    pub(crate) fn field_kind(&mut self, class: ClassId, path: &[Ident]) -> Option<(ClassId, ClassFieldKind)> {
        let mut class = class;
        let (last, before) = path.split_last()?;
        for name in before {
            match self.field_named(class, name)? {
                ClassFieldKind::Object(next) | ClassFieldKind::ObjectSet(next) => class = next,
                ClassFieldKind::Value(ty) | ClassFieldKind::ValueSet(ty) if self.is_missing(ty) => {
                    return None;
                }
                _ => {
                    let text = format!("`{}` has no fields", name.text);
                    self.report(Diagnostic::error("E0271", name.span, text));
                    return None;
                }
            }
        }
        Some((class, self.field_named(class, last)?))
    }

    fn field_named(&mut self, id: ClassId, name: &Ident) -> Option<ClassFieldKind> {
        self.ensure_class(id);
        self.field_occurs(name.span, id, &name.text);
        let class = &self.model.classes[id.index()];
        if let Some(field) = class.fields.iter().find(|f| f.name == name.text) {
            return Some(field.kind.clone());
        }
        if let Some(kind) = self.field_in_the_making(id, name) {
            return Some(kind);
        }
        let class = &self.model.classes[id.index()];
        let mut finding = Diagnostic::error(
            "E0272",
            name.span,
            format!("class `{}` has no field `{}`", class.name, name.text),
        );
        if let Some(near) = tercet_suggest::nearest(&name.text, class.fields.iter().map(|f| f.name.as_str()))
        {
            finding =
                finding.help(format!("a field much like it: `{near}`")).fix(Fix::replace(name.span, near));
        }
        self.report(finding);
        None
    }

    /// A field of a class whose own fields need it: `A ::= CLASS { &Others A.&id OPTIONAL, &id INTEGER }`.
    fn field_in_the_making(&mut self, id: ClassId, name: &Ident) -> Option<ClassFieldKind> {
        let (scope, tree) = self.class_tree(id);
        let field = tree?.fields.iter().find(|f| f.name.text == name.text)?;
        match &field.kind {
            ast::FieldKind::Type => Some(ClassFieldKind::Type),
            ast::FieldKind::FixedValue(ty) if !self.governor_is_class(&scope, ty) => {
                // `&id A.&id` would lead here for ever.
                if !self.enter(name.span) {
                    return None;
                }
                let ty = self.ty(&scope, ty);
                self.leave();
                Some(ClassFieldKind::Value(ty))
            }
            _ => None,
        }
    }

    fn wrong_field(&mut self, path: &[Ident], wanted: &str) -> TypeKind {
        if let Some(last) = path.last() {
            let text = format!("`{}` does not hold {wanted}", last.text);
            self.report(Diagnostic::error("E0273", last.span, text));
        }
        TypeKind::Error
    }

    fn absent_field(&mut self, base: &ast::Reference, path: &[Ident]) -> TypeKind {
        if let Some(last) = path.last() {
            let text = format!("object `{}` has no `{}`", base.name.text, last.text);
            self.report(Diagnostic::error("E0274", last.span, text));
        }
        TypeKind::Error
    }

    /// What a field of an object is set to, or what it is in all the objects of a set; `None` for anything else, or
    /// when the field is not set.
    pub(crate) fn setting_of(
        &mut self,
        scope: &Scope<'a>,
        object: &'a ast::Reference,
        path: &'a [Ident],
    ) -> Option<Setting> {
        match self.lookup(scope, object)? {
            Binding::Object(id) if self.ensure_object(id, object.span) => self.field_of_object(id, path),
            Binding::ObjectSet(id) => self.field_of_object_set(id, path, object.span),
            _ => None,
        }
    }

    /// A selection type (X.680 §30): the type of one alternative, its tags included.
    pub(super) fn selection(
        &mut self,
        scope: &Scope<'a>,
        name: &'a Ident,
        choice: &'a ast::Type,
    ) -> TypeKind {
        let id = self.ty(scope, choice);
        let base = self.base(id);
        match &self.model.types[base.index()].kind {
            TypeKind::Choice(components) => {
                if let Some(alternative) = components.list.iter().find(|c| c.name == name.text) {
                    let ty = alternative.ty;
                    self.component_occurs(name.span, base, &name.text);
                    return TypeKind::Reference(ty);
                }
                let mut finding = Diagnostic::error(
                    "E0275",
                    name.span,
                    format!("the CHOICE has no alternative `{}`", name.text),
                )
                .also(self.model.types[base.index()].span, "the CHOICE");
                let names = components.list.iter().map(|c| c.name.as_str());
                if let Some(near) = tercet_suggest::nearest(&name.text, names) {
                    finding = finding
                        .help(format!("an alternative much like it: `{near}`"))
                        .fix(Fix::replace(name.span, near));
                }
                self.report(finding);
            }
            // Its own body is what is being built: `F ::= x < F`.
            TypeKind::Error if self.is_being_built(base) => {
                let text = "a selection type selects from itself";
                self.report(Diagnostic::error("E0222", choice.span, text).note("X.680 §30.2"));
            }
            TypeKind::Error | TypeKind::Open(None) => {}
            _ => self.report(Diagnostic::error("E0276", choice.span, "a selection needs a CHOICE type")),
        }
        TypeKind::Error
    }
}
