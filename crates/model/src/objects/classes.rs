//! Classes (X.681 §9).

use crate::ir::{ClassField, ClassFieldKind, ClassId};
use crate::resolve::{Resolver, Scope};
use tercet_syntax::ast::{self, FieldKind, FieldPresence};
use tercet_syntax::{Diagnostic, Span};

impl<'a> Resolver<'a> {
    /// Fills the class: its fields first, then their defaults, which may be of the class itself.
    pub(crate) fn define_class(&mut self, id: ClassId, scope: &Scope<'a>, class: &'a ast::ObjectClass) {
        let mut fields: Vec<ClassField> = Vec::with_capacity(class.fields.len());
        for field in &class.fields {
            if fields.iter().any(|known| known.name == field.name.text) {
                let message = format!("field `{}` is defined twice", field.name.text);
                self.report(Diagnostic::error("E0501", field.name.span, message).note("X.681 §9.3"));
                continue;
            }
            fields.push(ClassField {
                name: field.name.text.clone(),
                kind: self.class_field_kind(scope, &field.kind),
                unique: field.unique,
                optional: !matches!(field.presence, FieldPresence::Mandatory),
                default: None,
            });
        }
        self.model.classes[id.index()].fields = fields;
        for field in &class.fields {
            if let FieldKind::VariableValue(path) | FieldKind::VariableSet(path) = &field.kind
                && let Some(first) = path.first()
            {
                self.field_occurs(first.span, id, &first.text);
            }
            let FieldPresence::Default(parameter) = &field.presence else { continue };
            let Some(at) = self.field_index(id, &field.name.text) else { continue };
            let kind = self.model.classes[id.index()].fields[at].kind.clone();
            // A value of a type that another field gives: by that field's own default (X.681 §9.10).
            let kind = match kind {
                ClassFieldKind::VariableValue(path) => {
                    let ty = self.default_type(id, &path);
                    ty.map_or(ClassFieldKind::VariableValue(path), ClassFieldKind::Value)
                }
                ClassFieldKind::VariableValueSet(path) => {
                    let ty = self.default_type(id, &path);
                    ty.map_or(ClassFieldKind::VariableValueSet(path), ClassFieldKind::ValueSet)
                }
                other => other,
            };
            let default = self.setting_from_parameter(scope, parameter, &kind, field.span);
            self.model.classes[id.index()].fields[at].default = default;
        }
        if let Some(syntax) = &class.syntax {
            self.check_syntax(id, syntax, class.fields.first().map_or_else(Span::default, |f| f.span));
        }
    }

    pub(super) fn field_index(&self, class: ClassId, name: &str) -> Option<usize> {
        self.model.classes[class.index()].fields.iter().position(|field| field.name == name)
    }

    fn class_field_kind(&mut self, scope: &Scope<'a>, kind: &'a FieldKind) -> ClassFieldKind {
        let names = |path: &[ast::Ident]| path.iter().map(|name| name.text.clone()).collect();
        match kind {
            FieldKind::Type => ClassFieldKind::Type,
            // A class as governor makes it an object field or object set field; grammar cannot tell.
            FieldKind::FixedValue(ty) if self.governor_is_class(scope, ty) => {
                match self.class_of(scope, ty) {
                    Some(class) => ClassFieldKind::Object(class),
                    None => ClassFieldKind::Value(self.error_type()),
                }
            }
            FieldKind::FixedSet(ty) if self.governor_is_class(scope, ty) => match self.class_of(scope, ty) {
                Some(class) => ClassFieldKind::ObjectSet(class),
                None => ClassFieldKind::ValueSet(self.error_type()),
            },
            FieldKind::FixedValue(ty) => ClassFieldKind::Value(self.ty(scope, ty)),
            FieldKind::FixedSet(ty) => ClassFieldKind::ValueSet(self.ty(scope, ty)),
            FieldKind::VariableValue(path) => ClassFieldKind::VariableValue(names(path)),
            FieldKind::VariableSet(path) => ClassFieldKind::VariableValueSet(names(path)),
        }
    }

    fn default_type(&self, class: ClassId, path: &[smol_str::SmolStr]) -> Option<crate::ir::TypeId> {
        let [name] = path else { return None };
        let at = self.field_index(class, name)?;
        match self.model.classes[class.index()].fields[at].default {
            Some(crate::ir::Setting::Type(ty)) => Some(ty),
            _ => None,
        }
    }

    /// Reports fields in WITH SYNTAX that the class does not have (X.681 §10.6).
    fn check_syntax(&mut self, class: ClassId, items: &'a [ast::SyntaxItem], at: Span) {
        for item in items {
            match item {
                ast::SyntaxItem::Literal(_) => {}
                ast::SyntaxItem::Field(name) => {
                    self.field_occurs(name.span, class, &name.text);
                    if self.field_index(class, &name.text).is_none() {
                        let message = format!("the class has no field `{}`", name.text);
                        let finding = self.slip("E0502", name.span, message).note("X.681 §10.6");
                        self.report(finding);
                    }
                }
                ast::SyntaxItem::Optional(group) => {
                    if self.enter(at) {
                        self.check_syntax(class, group, at);
                        self.leave();
                    }
                }
            }
        }
    }
}
