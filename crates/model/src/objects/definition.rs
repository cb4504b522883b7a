//! Objects (X.681 §11): defined syntax, default syntax, or another object.

use crate::ir::{ClassId, ObjectId, Setting};
use crate::resolve::{Binding, Extent, Resolver, Scope};
use rustc_hash::FxHashMap;
use smol_str::SmolStr;
use tercet_syntax::ast::{self, ValueKind};
use tercet_syntax::{Diagnostic, Span, TokenKind};

/// What the fields of an object are set to.
pub(super) type Settings = FxHashMap<SmolStr, Setting>;

impl<'a> Resolver<'a> {
    /// Fills the object, whose class is set.
    pub(crate) fn define_object(&mut self, id: ObjectId, scope: &Scope<'a>, value: &'a ast::Value) {
        let class = self.model.objects[id.index()].class;
        self.ensure_class(class);
        let other = match &value.kind {
            ValueKind::Braced(braced) => {
                if let Some(settings) = self.object_settings(scope, class, *braced, value.span) {
                    self.model.objects[id.index()].settings = settings;
                }
                return;
            }
            ValueKind::Reference(reference) => match self.lookup(scope, reference) {
                Some(Binding::Object(other)) => Some(other),
                Some(Binding::Missing) | None => None,
                Some(other) => {
                    self.report_wrong_kind(reference, &other, "an object");
                    None
                }
            },
            ValueKind::FromObject { base, path } => match self.setting_of(scope, base, path) {
                Some(Setting::Object(other)) => Some(other),
                _ => None,
            },
            _ => {
                self.report(
                    Diagnostic::error("E0503", value.span, "this is not an object")
                        .label("an object is needed here")
                        .note("X.681 §11.3"),
                );
                None
            }
        };
        if let Some(other) = other
            && self.ensure_object(other, value.span)
        {
            let settings = &self.model.objects[other.index()].settings;
            let nodes = settings.values().map(nodes).sum();
            if self.spend(nodes, value.span) {
                let settings = self.model.objects[other.index()].settings.clone();
                self.model.objects[id.index()].settings = settings;
            }
        }
    }

    fn object_settings(
        &mut self,
        scope: &Scope<'a>,
        class: ClassId,
        braced: ast::Braced,
        span: Span,
    ) -> Option<Settings> {
        let mut settings = Settings::default();
        let cursor = self.cursor(scope, braced).inner();
        let (_, tree) = self.class_tree(class);
        let syntax = tree.and_then(|tree| tree.syntax.as_ref());
        let by_field = matches!(cursor.peek_kind(), TokenKind::LowerField | TokenKind::UpperField);
        let read = match syntax {
            Some(syntax) if !by_field => self.defined_syntax(scope, class, syntax, cursor, &mut settings),
            _ => self.default_syntax(scope, class, cursor, &mut settings),
        };
        if let Err(finding) = read {
            let name = self.model.classes[class.index()].name.clone();
            let finding = match self.model.classes[class.index()].span {
                defined if defined != Span::default() => {
                    Box::new(finding.also(defined, format!("class `{name}` is defined here")))
                }
                _ => finding,
            };
            self.report_unread(*finding);
            return None;
        }
        self.complete(class, &mut settings, span);
        Some(settings)
    }

    /// `&id 5, &Type Foo` (X.681 §11.5).
    fn default_syntax(
        &mut self,
        scope: &Scope<'a>,
        class: ClassId,
        mut cursor: tercet_syntax::Cursor<'a>,
        settings: &mut Settings,
    ) -> Result<(), Box<Diagnostic>> {
        for given in cursor.field_settings()? {
            let Some(at) = self.field_index(class, &given.name.text) else {
                let message = format!("the class has no field `{}`", given.name.text);
                return Err(Box::new(Diagnostic::error("E0502", given.name.span, message)));
            };
            self.field_occurs(given.name.span, class, &given.name.text);
            let mut inner = cursor.at(given.setting);
            if let Some(setting) = self.read_setting(scope, class, at, &mut inner, settings)? {
                settings.insert(given.name.text.clone(), setting);
            }
            inner.finish()?;
        }
        Ok(())
    }

    /// Fills in defaults and reports what is missing (X.681 §11.6).
    fn complete(&mut self, class: ClassId, settings: &mut Settings, span: Span) {
        let defaults =
            self.model.classes[class.index()].fields.iter().filter_map(|field| field.default.as_ref());
        let nodes = defaults.map(nodes).sum();
        if !self.spend(nodes, span) {
            return;
        }
        let mut missing = None;
        for field in &self.model.classes[class.index()].fields {
            if settings.contains_key(&field.name) {
                continue;
            }
            match &field.default {
                Some(default) => {
                    settings.insert(field.name.clone(), default.clone());
                }
                None if !field.optional && missing.is_none() => missing = Some(field.name.clone()),
                None => {}
            }
        }
        if let Some(name) = missing {
            let finding = self.slip("E0504", span, format!("field `{name}` is not set")).note("X.681 §11.6");
            self.report(finding);
        }
    }
}

/// What a copy of a setting counts for.
fn nodes(setting: &Setting) -> u64 {
    match setting {
        Setting::Value(_, value) => Extent::of(value).nodes,
        _ => 1,
    }
}
