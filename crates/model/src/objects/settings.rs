//! What a field of an object is set to (X.681 §11.7): read by the field's kind.

use super::definition::Settings;
use crate::ir::{ClassFieldKind, ClassId, ObjectId, ObjectSetId, Setting, TypeId};
use crate::resolve::{Binding, Resolver, Scope};
use smol_str::SmolStr;
use tercet_syntax::ast::{self, ActualParameter, ValueKind};
use tercet_syntax::{Cursor, Diagnostic, Span, TokenKind};

impl<'a> Resolver<'a> {
    /// Reads the setting of a field at the cursor. `Ok(None)`: read, but not understood, which has been reported.
    pub(super) fn read_setting(
        &mut self,
        scope: &Scope<'a>,
        class: ClassId,
        field: usize,
        cursor: &mut Cursor<'a>,
        settings: &Settings,
    ) -> Result<Option<Setting>, Box<Diagnostic>> {
        let kind = self.model.classes[class.index()].fields[field].kind.clone();
        Ok(match kind {
            ClassFieldKind::Type => {
                let tree = self.keep_type(cursor.ty()?);
                Some(Setting::Type(self.ty(scope, tree)))
            }
            ClassFieldKind::Value(governor) => {
                let tree = self.keep_value(cursor.value()?);
                Some(Setting::Value(governor, self.value(scope, tree, governor)))
            }
            ClassFieldKind::VariableValue(path) => {
                let tree = self.keep_value(cursor.value()?);
                let governor = self.variable_type(class, &path, settings);
                Some(Setting::Value(governor, self.value(scope, tree, governor)))
            }
            ClassFieldKind::ValueSet(governor) => self.read_value_set(scope, cursor, governor)?,
            ClassFieldKind::VariableValueSet(path) => {
                let governor = self.variable_type(class, &path, settings);
                self.read_value_set(scope, cursor, governor)?
            }
            ClassFieldKind::Object(class) => {
                let tree = self.keep_value(cursor.value()?);
                self.object_in_place(scope, tree, class).map(Setting::Object)
            }
            ClassFieldKind::ObjectSet(class) => {
                if cursor.peek_kind() == TokenKind::OpenBrace {
                    let tree = self.keep_set(cursor.object_set_braced()?);
                    Some(Setting::ObjectSet(self.set_in_place(scope, tree, class)))
                } else {
                    let tree = self.keep_type(cursor.ty()?);
                    self.object_set_named(scope, tree, class).map(Setting::ObjectSet)
                }
            }
        })
    }

    /// A setting that was read already: the default of a class field.
    pub(super) fn setting_from_parameter(
        &mut self,
        scope: &Scope<'a>,
        parameter: &'a ActualParameter,
        kind: &ClassFieldKind,
        span: Span,
    ) -> Option<Setting> {
        match (kind, parameter) {
            (ClassFieldKind::Type, ActualParameter::Type(tree)) => Some(Setting::Type(self.ty(scope, tree))),
            (ClassFieldKind::Value(governor), parameter) => {
                let tree = self.parameter_as_value(parameter, span)?;
                Some(Setting::Value(*governor, self.value(scope, tree, *governor)))
            }
            (ClassFieldKind::ValueSet(governor), ActualParameter::Braced(braced)) => {
                let mut cursor = self.cursor(scope, *braced);
                match self.read_value_set(scope, &mut cursor, *governor) {
                    Ok(setting) => setting,
                    Err(finding) => {
                        self.report_unread(*finding);
                        None
                    }
                }
            }
            (ClassFieldKind::ValueSet(_), ActualParameter::Type(tree)) => {
                Some(Setting::ValueSet(self.ty(scope, tree)))
            }
            (ClassFieldKind::Object(class), parameter) => {
                let tree = self.parameter_as_value(parameter, span)?;
                self.object_in_place(scope, tree, *class).map(Setting::Object)
            }
            (ClassFieldKind::ObjectSet(class), ActualParameter::Braced(braced)) => {
                match self.cursor(scope, *braced).object_set_braced() {
                    Ok(tree) => {
                        let tree = self.keep_set(tree);
                        Some(Setting::ObjectSet(self.set_in_place(scope, tree, *class)))
                    }
                    Err(finding) => {
                        self.report_unread(*finding);
                        None
                    }
                }
            }
            (ClassFieldKind::ObjectSet(class), ActualParameter::Type(tree)) => {
                self.object_set_named(scope, tree, *class).map(Setting::ObjectSet)
            }
            // The type of the value is in another field that has no default.
            (ClassFieldKind::VariableValue(_) | ClassFieldKind::VariableValueSet(_), _) => None,
            _ => {
                let finding = self
                    .slip("E0506", span, "the default is of another kind than the field")
                    .label("ignored");
                self.report(finding);
                None
            }
        }
    }

    fn parameter_as_value(&mut self, parameter: &'a ActualParameter, span: Span) -> Option<&'a ast::Value> {
        match parameter {
            ActualParameter::Value(value) => Some(value),
            ActualParameter::Braced(braced) => {
                Some(self.keep_value(ast::Value { kind: ValueKind::Braced(*braced), span: braced.span }))
            }
            ActualParameter::Type(ty) if matches!(ty.kind, ast::TypeKind::Null) => {
                Some(self.keep_value(ast::Value { kind: ValueKind::Null, span: ty.span }))
            }
            ActualParameter::Type(ty) => match &ty.kind {
                ast::TypeKind::FromObject { base, path }
                | ast::TypeKind::ClassField { class: base, path } => {
                    let kind = ValueKind::FromObject { base: base.clone(), path: path.clone() };
                    Some(self.keep_value(ast::Value { kind, span: ty.span }))
                }
                _ => {
                    self.report(Diagnostic::error("E0506", span, "a value or object is needed here"));
                    None
                }
            },
        }
    }

    /// The type that governs a field of variable type: what the other field is set to (X.681 §9.9).
    fn variable_type(&mut self, class: ClassId, path: &[SmolStr], settings: &Settings) -> TypeId {
        let Some((first, rest)) = path.split_first() else { return self.open_type() };
        let default = || {
            let at = self.field_index(class, first)?;
            self.model.classes[class.index()].fields[at].default.clone()
        };
        let mut setting = settings.get(first).cloned().or_else(default);
        for name in rest {
            setting = match setting {
                Some(Setting::Object(id)) => {
                    let span = self.model.objects[id.index()].span;
                    if !self.ensure_object(id, span) {
                        return self.error_type();
                    }
                    self.model.objects[id.index()].settings.get(name).cloned()
                }
                _ => None,
            };
        }
        match setting {
            Some(Setting::Type(ty) | Setting::ValueSet(ty)) => ty,
            _ => self.open_type(),
        }
    }

    /// `{ … }` as the type of the governor constrained to those values, or a name.
    fn read_value_set(
        &mut self,
        scope: &Scope<'a>,
        cursor: &mut Cursor<'a>,
        governor: TypeId,
    ) -> Result<Option<Setting>, Box<Diagnostic>> {
        if cursor.peek_kind() != TokenKind::OpenBrace {
            let tree = self.keep_type(cursor.ty()?);
            return Ok(Some(Setting::ValueSet(self.ty(scope, tree))));
        }
        let tree = self.keep_set(cursor.object_set_braced()?);
        Ok(Some(Setting::ValueSet(self.new_value_set(scope, tree, governor))))
    }

    /// An object where one is needed: by name, as a field of another one, or written in place.
    pub(super) fn object_in_place(
        &mut self,
        scope: &Scope<'a>,
        tree: &'a ast::Value,
        class: ClassId,
    ) -> Option<ObjectId> {
        match &tree.kind {
            ValueKind::Reference(reference) => match self.lookup(scope, reference)? {
                Binding::Object(id) => Some(id),
                Binding::Missing => None,
                other => {
                    self.report_wrong_kind(reference, &other, "an object");
                    None
                }
            },
            ValueKind::FromObject { base, path } => match self.setting_of(scope, base, path)? {
                Setting::Object(id) => Some(id),
                _ => None,
            },
            ValueKind::Braced(_) => Some(self.new_object(scope, tree, class, None)),
            _ => {
                self.report(
                    Diagnostic::error("E0503", tree.span, "this is not an object").note("X.681 §11.3"),
                );
                None
            }
        }
    }

    /// A set in braces. Just one name in them is that set itself.
    fn set_in_place(&mut self, scope: &Scope<'a>, tree: &'a ast::ElementSet, class: ClassId) -> ObjectSetId {
        if let Some(ast::Element { kind: ast::ElementKind::Type(ty), .. }) = &tree.root
            && !tree.extensible
            && let ast::TypeKind::Reference(reference) = &ty.kind
            && reference.parameters.is_none()
            && reference.module.is_none()
            && let Some(Binding::ObjectSet(set)) = self.peek(scope, &reference.name.text)
        {
            self.lookup(scope, reference);
            return set;
        }
        self.new_object_set(scope, tree, class, None)
    }

    /// An object set by name, or as a field of objects.
    fn object_set_named(
        &mut self,
        scope: &Scope<'a>,
        tree: &'a ast::Type,
        class: ClassId,
    ) -> Option<ObjectSetId> {
        if let ast::TypeKind::Reference(reference) = &tree.kind {
            return match self.lookup(scope, reference)? {
                Binding::ObjectSet(id) => Some(id),
                Binding::Missing => None,
                other => {
                    self.report_wrong_kind(reference, &other, "an object set");
                    None
                }
            };
        }
        let element = ast::Element { kind: ast::ElementKind::Type(Box::new(tree.clone())), span: tree.span };
        let set =
            ast::ElementSet { root: Some(element), extensible: false, additional: None, span: tree.span };
        let set = self.keep_set(set);
        Some(self.new_object_set(scope, set, class, None))
    }
}
