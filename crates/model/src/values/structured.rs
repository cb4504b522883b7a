//! Values of SEQUENCE, SET (X.680 §25.18), SEQUENCE OF, SET OF (§26.3), CHOICE (§29.11) and of the types that have an
//! associated SEQUENCE (§36, §37, §44).

use crate::ir::{Components, Place, Presence, TypeId, TypeKind, Value};
use crate::resolve::{BuiltIn, Resolver, Scope};
use smol_str::SmolStr;
use tercet_syntax::ast::{self, ValueKind};
use tercet_syntax::{Cursor, Diagnostic, Span};

impl<'a> Resolver<'a> {
    fn components(&self, base: TypeId) -> Option<&Components> {
        match &self.model.types[base.index()].kind {
            TypeKind::Sequence(components) | TypeKind::Set(components) | TypeKind::Choice(components) => {
                Some(components)
            }
            _ => None,
        }
    }

    pub(super) fn component_type(&self, base: TypeId, name: &str) -> Option<(SmolStr, TypeId)> {
        let component = self.components(base)?.list.iter().find(|c| c.name == name)?;
        Some((component.name.clone(), component.ty))
    }

    pub(super) fn struct_value(&mut self, scope: &Scope<'a>, value: &'a ast::Value, base: TypeId) -> Value {
        let ValueKind::Braced(braced) = value.kind else { return self.mismatch(value, base) };
        let cursor = self.cursor(scope, braced).inner();
        let named = match cursor.clone().named_values() {
            Ok(named) => named,
            Err(finding) => match self.values_without_names(cursor, value.span, base) {
                Some(named) => named,
                None => return self.unread(*finding),
            },
        };
        let mut fields: Vec<(SmolStr, Value)> = Vec::with_capacity(named.len());
        let mut whole = true;
        for (name, value) in named {
            let Some((field, ty)) = self.component_type(base, &name.text) else {
                let kind = super::kind_name(&self.model.types[base.index()].kind);
                self.report(Diagnostic::error(
                    "E0304",
                    name.span,
                    format!("this {kind} has no component `{}`", name.text),
                ));
                whole = false;
                continue;
            };
            if fields.iter().any(|(known, _)| *known == field) {
                self.report(Diagnostic::error(
                    "E0304",
                    name.span,
                    format!("component `{field}` is given twice"),
                ));
                continue;
            }
            self.component_occurs(name.span, base, &name.text);
            let value = self.keep_value(value);
            match self.value(scope, value, ty) {
                Value::Error => whole = false,
                value => fields.push((field, value)),
            }
        }
        if !whole {
            return Value::Error;
        }
        self.check_complete(&fields, value.span, base);
        Value::Struct(fields)
    }

    /// `{TRUE, 5}`: values in the order of the components, as X.208 allowed where components had no names.
    fn values_without_names(
        &mut self,
        mut cursor: Cursor<'a>,
        span: Span,
        base: TypeId,
    ) -> Option<Vec<(ast::Ident, ast::Value)>> {
        if !self.options.lenient {
            return None;
        }
        let values = cursor.list_values().ok()?;
        let components = &self.components(base)?.list;
        if values.len() > components.len() {
            return None;
        }
        let named = components
            .iter()
            .zip(values)
            .map(|(component, value)| (ast::Ident { text: component.name.clone(), span: value.span }, value))
            .collect();
        let finding = self
            .slip("E0303", span, "the values have no identifiers")
            .label("taken in the order of the components");
        self.report(finding);
        Some(named)
    }

    /// Reports components that must be there and are not.
    fn check_complete(&mut self, fields: &[(SmolStr, Value)], span: Span, base: TypeId) {
        let missing = self.components(base).and_then(|components| {
            components.list.iter().find(|component| {
                matches!(component.presence, Presence::Mandatory)
                    && component.place == Place::Root
                    && !fields.iter().any(|(name, _)| *name == component.name)
            })
        });
        if let Some(component) = missing {
            let message = format!("component `{}` is missing", component.name);
            let defined = component.span;
            let finding =
                self.slip("E0304", span, message).also(defined, "neither OPTIONAL nor with a DEFAULT");
            self.report(finding);
        }
    }

    pub(super) fn list_value(&mut self, scope: &Scope<'a>, value: &'a ast::Value, base: TypeId) -> Value {
        let (name, element) = match &self.model.types[base.index()].kind {
            TypeKind::SequenceOf(name, element) | TypeKind::SetOf(name, element) => (name.clone(), *element),
            _ => return Value::Error,
        };
        let ValueKind::Braced(braced) = value.kind else { return self.mismatch(value, base) };
        let cursor = self.cursor(scope, braced).inner();
        // X.680 §26.3: when the element has an identifier, each value is led by it.
        let named = name.and_then(|name| {
            let values = cursor.clone().named_values().ok()?;
            values.iter().all(|(given, _)| given.text == name).then_some(values)
        });
        let values = match named {
            Some(values) => values.into_iter().map(|(_, value)| value).collect(),
            None => match cursor.clone().list_values() {
                Ok(values) => values,
                Err(finding) => return self.unread(*finding),
            },
        };
        let mut list = Vec::with_capacity(values.len());
        for value in values {
            let value = self.keep_value(value);
            match self.value(scope, value, element) {
                Value::Error => return Value::Error,
                value => list.push(value),
            }
        }
        Value::List(list)
    }

    pub(super) fn choice_value(&mut self, scope: &Scope<'a>, value: &'a ast::Value, base: TypeId) -> Value {
        let ValueKind::Choice(name, inner) = &value.kind else { return self.mismatch(value, base) };
        let Some((alternative, ty)) = self.component_type(base, &name.text) else {
            self.report(Diagnostic::error(
                "E0304",
                name.span,
                format!("this CHOICE has no alternative `{}`", name.text),
            ));
            return Value::Error;
        };
        self.component_occurs(name.span, base, &name.text);
        match self.value(scope, inner, ty) {
            Value::Error => Value::Error,
            inner => Value::Choice(alternative, Box::new(inner)),
        }
    }

    /// EXTERNAL, EMBEDDED PDV, CHARACTER STRING and INSTANCE OF: the components of their associated types, each
    /// governed by its name.
    pub(super) fn associated_value(
        &mut self,
        scope: &Scope<'a>,
        value: &'a ast::Value,
        base: TypeId,
    ) -> Value {
        let ValueKind::Braced(braced) = value.kind else { return self.mismatch(value, base) };
        let named = match self.cursor(scope, braced).inner().named_values() {
            Ok(named) => named,
            Err(finding) => return self.unread(*finding),
        };
        let mut fields = Vec::with_capacity(named.len());
        for (name, value) in named {
            let value = self.keep_value(value);
            match self.associated_part(scope, &name, value, base) {
                Value::Error => return Value::Error,
                value => fields.push((name.text.clone(), value)),
            }
        }
        Value::Struct(fields)
    }

    fn associated_part(
        &mut self,
        scope: &Scope<'a>,
        name: &ast::Ident,
        value: &'a ast::Value,
        base: TypeId,
    ) -> Value {
        let built_in = match name.text.as_str() {
            "direct-reference" | "transfer-syntax" | "abstract" | "transfer" | "syntax" | "type-id" => {
                BuiltIn::ObjectIdentifier
            }
            "indirect-reference" | "presentation-context-id" => BuiltIn::Integer,
            "data-value-descriptor" => BuiltIn::ObjectDescriptor,
            "data-value" | "string-value" | "octet-aligned" => BuiltIn::OctetString,
            "arbitrary" => BuiltIn::BitString,
            "fixed" => BuiltIn::Null,
            "single-ASN1-type" | "value" => return self.open_value(scope, value),
            "syntaxes" | "context-negotiation" => return self.associated_value(scope, value, base),
            "identification" | "encoding" => {
                let ValueKind::Choice(name, inner) = &value.kind else { return self.mismatch(value, base) };
                return match self.associated_part(scope, name, inner, base) {
                    Value::Error => Value::Error,
                    inner => Value::Choice(name.text.clone(), Box::new(inner)),
                };
            }
            other => {
                let kind = super::kind_name(&self.model.types[base.index()].kind);
                self.report(Diagnostic::error(
                    "E0304",
                    name.span,
                    format!("{kind} has no component `{other}`"),
                ));
                return Value::Error;
            }
        };
        let ty = self.type_of(built_in);
        self.value(scope, value, ty)
    }
}
