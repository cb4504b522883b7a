//! Value notation: from a tree and its governor to an [`ir::Value`](crate::ir::Value).
//!
//! One file a family of types. Work is bounded by the text: a bit number or an exponent costs nothing by its size.

mod numbers;
mod oid;
mod print;
mod strings;
mod structured;
#[cfg(test)]
mod tests;
mod xml;

pub use print::Notation;

use crate::ir::{TypeId, TypeKind, Value};
use crate::resolve::{Binding, Extent, Resolver, Scope};
use tercet_syntax::ast::{self, ValueKind};
use tercet_syntax::{Diagnostic, Span};

impl<'a> Resolver<'a> {
    /// A value of the governor's type (X.680 §17.7); [`Value::Error`] when it is none, which has been reported.
    pub(crate) fn value(&mut self, scope: &Scope<'a>, value: &'a ast::Value, governor: TypeId) -> Value {
        let octets = match &value.kind {
            ValueKind::String(text) | ValueKind::Binary(text) | ValueKind::Hex(text) => text.len(),
            _ => 0,
        };
        if !self.spend(1, value.span) || !self.spend_octets(octets, value.span) || !self.enter(value.span) {
            return Value::Error;
        }
        if self.is_missing(governor) && !matches!(value.kind, ValueKind::Typed(..)) {
            self.leave();
            return Value::Error;
        }
        let base = self.base(governor);
        let result = self.value_of_base(scope, value, governor, base);
        self.leave();
        result
    }

    fn value_of_base(
        &mut self,
        scope: &Scope<'a>,
        value: &'a ast::Value,
        governor: TypeId,
        base: TypeId,
    ) -> Value {
        match &value.kind {
            ValueKind::Reference(reference) => {
                if reference.module.is_none()
                    && reference.parameters.is_none()
                    && let Some(own) = self.own_name(base, &reference.name.text)
                {
                    self.item_occurs(reference.name.span, base, &reference.name.text);
                    return own;
                }
                return self.referenced(scope, reference, value.span, base);
            }
            ValueKind::FromObject { base: object, path } => {
                return self.value_of_object(scope, object, path, value.span, base);
            }
            ValueKind::Xml(text) => return self.xml_value(text, value.span, base),
            ValueKind::Macro(_) => return Value::Error,
            _ => {}
        }
        match &self.model.types[base.index()].kind {
            TypeKind::Error | TypeKind::Reference(_) => Value::Error,
            TypeKind::Boolean => match value.kind {
                ValueKind::Boolean(value) => Value::Boolean(value),
                _ => self.mismatch(value, base),
            },
            TypeKind::Null => match value.kind {
                ValueKind::Null => Value::Null,
                _ => self.mismatch(value, base),
            },
            TypeKind::Integer(_) => self.integer_value(value, base),
            TypeKind::Enumerated(_) => self.enumerated_value(value, base),
            TypeKind::Real => self.real_value(scope, value, base),
            TypeKind::BitString(_) => self.bit_string_value(scope, value, governor, base),
            TypeKind::OctetString => self.octet_string_value(scope, value, governor, base),
            TypeKind::ObjectIdentifier => self.oid_value(scope, value, base, false),
            TypeKind::RelativeOid => self.oid_value(scope, value, base, true),
            TypeKind::CharacterString(_)
            | TypeKind::OidIri
            | TypeKind::RelativeOidIri
            | TypeKind::Time
            | TypeKind::UsefulTime(_)
            | TypeKind::GeneralizedTime
            | TypeKind::UtcTime
            | TypeKind::ObjectDescriptor => self.text_value(scope, value, base),
            TypeKind::Sequence(_) | TypeKind::Set(_) => self.struct_value(scope, value, base),
            TypeKind::SequenceOf(..) | TypeKind::SetOf(..) => self.list_value(scope, value, base),
            TypeKind::Choice(_) => self.choice_value(scope, value, base),
            TypeKind::EmbeddedPdv
            | TypeKind::External
            | TypeKind::UnrestrictedCharacterString
            | TypeKind::InstanceOf(_) => self.associated_value(scope, value, base),
            TypeKind::Open(_) | TypeKind::AnyDefinedBy(_) => self.open_value(scope, value),
        }
    }

    /// A name that the governor itself gives: a named number or an enumeration item (X.680 §19.5, §20.8). It hides
    /// value references of the same name.
    fn own_name(&self, base: TypeId, name: &str) -> Option<Value> {
        match &self.model.types[base.index()].kind {
            TypeKind::Integer(names) => {
                names.iter().find(|n| n.name == name).map(|n| Value::Integer(n.value.clone()))
            }
            TypeKind::Enumerated(items) => items
                .root
                .iter()
                .chain(&items.additions)
                .find(|(item, _)| item == name)
                .map(|(item, number)| Value::Enumerated(item.clone(), *number)),
            _ => None,
        }
    }

    /// A value reference, checked against the governor.
    fn referenced(
        &mut self,
        scope: &Scope<'a>,
        reference: &'a ast::Reference,
        span: Span,
        base: TypeId,
    ) -> Value {
        let name = &reference.name.text;
        if let TypeKind::Enumerated(items) = &self.model.types[base.index()].kind
            && self.options.lenient
            && reference.module.is_none()
            && !items.extensible
            && self.peek(scope, name).is_none()
        {
            let finding = self
                .slip("E0304", span, format!("`{name}` is not an item of this ENUMERATED"))
                .label("the value is ignored");
            self.report(finding);
            return Value::Error;
        }
        let Some(binding) = self.lookup(scope, reference) else { return Value::Error };
        match binding {
            Binding::Value(ty, value) => {
                if self.is_open(base) {
                    return wrap_open(ty, value);
                }
                self.fit(value, span, base, Some(name.as_str()))
            }
            Binding::Missing => Value::Error,
            other => {
                self.report_wrong_kind(reference, &other, "a value");
                Value::Error
            }
        }
    }

    /// `object.&field` and `Set.&field` (X.681 §15).
    fn value_of_object(
        &mut self,
        scope: &Scope<'a>,
        object: &'a ast::Reference,
        path: &'a [ast::Ident],
        span: Span,
        base: TypeId,
    ) -> Value {
        match self.setting_of(scope, object, path) {
            Some(crate::ir::Setting::Value(_, value)) if !self.spend(Extent::of(&value).nodes, span) => {
                Value::Error
            }
            Some(crate::ir::Setting::Value(ty, value)) => {
                if self.is_open(base) {
                    return wrap_open(ty, value);
                }
                self.fit(value, span, base, None)
            }
            Some(_) => {
                self.report(
                    Diagnostic::error("E0306", span, "this field does not hold a value")
                        .label("a value is needed here"),
                );
                Value::Error
            }
            None => Value::Error,
        }
    }

    fn is_open(&self, base: TypeId) -> bool {
        matches!(self.model.types[base.index()].kind, TypeKind::Open(_) | TypeKind::AnyDefinedBy(_))
    }

    /// A value taken from elsewhere, if its form is one that the governor has (X.680 Annex F: value mappings).
    fn fit(&mut self, value: Value, span: Span, base: TypeId, name: Option<&str>) -> Value {
        let kind = &self.model.types[base.index()].kind;
        let fits = match (&value, kind) {
            (Value::Error, _) => return Value::Error,
            (_, TypeKind::Error | TypeKind::Reference(_) | TypeKind::InstanceOf(_)) => true,
            (Value::Boolean(_), TypeKind::Boolean)
            | (Value::Integer(_), TypeKind::Integer(_))
            | (Value::Real(_), TypeKind::Real)
            | (Value::BitString(..) | Value::Containing(_), TypeKind::BitString(_))
            | (Value::OctetString(_) | Value::Containing(_), TypeKind::OctetString)
            | (Value::Null, TypeKind::Null)
            | (Value::Oid(_), TypeKind::ObjectIdentifier | TypeKind::RelativeOid)
            | (Value::List(_), TypeKind::SequenceOf(..) | TypeKind::SetOf(..))
            | (Value::Choice(..), TypeKind::Choice(_)) => true,
            (
                Value::Struct(_),
                TypeKind::Sequence(_)
                | TypeKind::Set(_)
                | TypeKind::External
                | TypeKind::EmbeddedPdv
                | TypeKind::UnrestrictedCharacterString,
            ) => true,
            (Value::Enumerated(name, _), TypeKind::Enumerated(_)) => {
                let name = name.clone();
                return self.own_name(base, &name).unwrap_or(value);
            }
            (
                Value::Text(_),
                TypeKind::CharacterString(_)
                | TypeKind::OidIri
                | TypeKind::RelativeOidIri
                | TypeKind::Time
                | TypeKind::UsefulTime(_)
                | TypeKind::GeneralizedTime
                | TypeKind::UtcTime
                | TypeKind::ObjectDescriptor,
            ) => true,
            (_, TypeKind::Open(_) | TypeKind::AnyDefinedBy(_)) => true,
            // Vendors let an INTEGER stand for a REAL, and a BIT STRING for an OCTET STRING.
            (Value::Integer(number), TypeKind::Real) => {
                return Value::Real(crate::ir::Real::Finite {
                    mantissa: number.clone(),
                    base: 10,
                    exponent: 0,
                });
            }
            (Value::BitString(octets, bits), TypeKind::OctetString) if bits % 8 == 0 => {
                return Value::OctetString(octets.clone());
            }
            (Value::OctetString(octets), TypeKind::BitString(_)) => {
                return Value::BitString(octets.clone(), octets.len() as u64 * 8);
            }
            _ => false,
        };
        if fits {
            return value;
        }
        let wanted = kind_name(kind);
        let found = value_name(&value);
        let subject = name.map_or_else(|| "the value".to_owned(), |name| format!("`{name}`"));
        let finding = self
            .slip("E0301", span, format!("{subject} is {found}, not a value of {wanted}"))
            .label(format!("a value of {wanted} is needed here"));
        self.report(finding);
        Value::Error
    }

    /// Says that the notation is none that the governor has.
    fn mismatch(&mut self, value: &ast::Value, base: TypeId) -> Value {
        let wanted = kind_name(&self.model.types[base.index()].kind);
        let finding = self
            .slip("E0301", value.span, format!("{} is not a value of {wanted}", notation_name(&value.kind)))
            .label(format!("a value of {wanted} is needed here"));
        self.report(finding);
        Value::Error
    }

    /// Reports what a cursor could not read.
    fn unread(&mut self, finding: Diagnostic) -> Value {
        self.report_unread(finding);
        Value::Error
    }

    /// Reports what a cursor could not read inside braces: a slip, since the rest of the module is understood.
    pub(crate) fn report_unread(&mut self, mut finding: Diagnostic) {
        if self.options.lenient {
            finding.severity = tercet_syntax::Severity::Warning;
        }
        self.report(finding);
    }

    /// An open type's value (X.681 §14.6): `Type : value`. The value of ANY in the 1988 notation need not say its
    /// type; then what it looks like decides.
    fn open_value(&mut self, scope: &Scope<'a>, value: &'a ast::Value) -> Value {
        use crate::resolve::BuiltIn;
        let looks = match &value.kind {
            ValueKind::Typed(ty, value) => {
                let ty = self.ty(scope, ty);
                return wrap_open(ty, self.value(scope, value, ty));
            }
            ValueKind::Null => BuiltIn::Null,
            ValueKind::Boolean(_) => BuiltIn::Boolean,
            ValueKind::Integer(_) => BuiltIn::Integer,
            ValueKind::Hex(_) | ValueKind::Binary(_) => BuiltIn::OctetString,
            _ => {
                let finding = self
                    .slip("E0301", value.span, "the value of an open type needs its type in front")
                    .label("write `Type : value`");
                self.report(finding);
                return Value::Error;
            }
        };
        let ty = self.type_of(looks);
        wrap_open(ty, self.value(scope, value, ty))
    }
}

fn wrap_open(ty: TypeId, value: Value) -> Value {
    match value {
        Value::Error => Value::Error,
        open @ Value::Open(..) => open,
        value => Value::Open(ty, Box::new(value)),
    }
}

/// A kind of type for a message: its keyword, or words for what has none.
pub(crate) fn kind_name(kind: &TypeKind) -> &'static str {
    match kind {
        TypeKind::Reference(_) | TypeKind::Error => "a type",
        TypeKind::Open(_) | TypeKind::AnyDefinedBy(_) => "an open type",
        kind => crate::tags::keyword(kind),
    }
}

fn notation_name(kind: &ValueKind) -> &'static str {
    match kind {
        ValueKind::Boolean(_) => "a truth value",
        ValueKind::Integer(_) => "a number",
        ValueKind::Real(_) | ValueKind::PlusInfinity | ValueKind::MinusInfinity | ValueKind::NotANumber => {
            "a real number"
        }
        ValueKind::Null => "NULL",
        ValueKind::String(_) => "a character string",
        ValueKind::Binary(_) => "a binary string",
        ValueKind::Hex(_) => "a hexadecimal string",
        ValueKind::Reference(_) | ValueKind::FromObject { .. } => "this reference",
        ValueKind::Braced(_) => "`{ … }`",
        ValueKind::Choice(..) => "`identifier : value`",
        ValueKind::Typed(..) => "`Type : value`",
        ValueKind::Containing(_) => "`CONTAINING value`",
        ValueKind::Xml(_) => "an XML value",
        ValueKind::Macro(_) => "a macro's value",
    }
}

fn value_name(value: &Value) -> &'static str {
    match value {
        Value::Boolean(_) => "a BOOLEAN",
        Value::Integer(_) => "an INTEGER",
        Value::Enumerated(..) => "an ENUMERATED item",
        Value::Real(_) => "a REAL",
        Value::BitString(..) => "a BIT STRING",
        Value::OctetString(_) => "an OCTET STRING",
        Value::Null => "NULL",
        Value::Oid(_) => "an OBJECT IDENTIFIER",
        Value::Text(_) => "a character string",
        Value::List(_) => "a list",
        Value::Struct(_) => "a SEQUENCE or SET",
        Value::Choice(..) => "a CHOICE",
        Value::Open(..) => "an open type's value",
        Value::Containing(_) => "a contained value",
        Value::Error => "not understood",
    }
}
