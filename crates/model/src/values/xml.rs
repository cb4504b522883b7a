//! XML value notation (X.680 §16.3, §17.9): the XMLTypedValue of an assignment.

use crate::ir::{Real, TypeId, TypeKind, Value};
use crate::resolve::Resolver;
use num_bigint::BigInt;
use smol_str::SmolStr;
use std::iter::Peekable;
use std::str::CharIndices;
use tercet_syntax::{Diagnostic, Span};

/// How deep elements may nest.
const DEPTH_LIMIT: usize = 100;

/// An element with what stands in it; text between child elements has no meaning in ASN.1.
#[derive(Debug, Default)]
struct Element<'t> {
    name: &'t str,
    text: String,
    children: Vec<Self>,
}

impl Resolver<'_> {
    pub(super) fn xml_value(&mut self, text: &str, span: Span, base: TypeId) -> Value {
        if !self.spend_octets(text.len() * 8, span) {
            return Value::Error;
        }
        let mut reader = Reader { text, chars: text.char_indices().peekable() };
        let Some(root) = reader.element(0) else {
            self.report(
                Diagnostic::error("E0309", span, "this XML value cannot be read").note("X.680 §16.3"),
            );
            return Value::Error;
        };
        match self.xml(&root, base) {
            Some(value) => value,
            None => {
                let kind = super::kind_name(&self.model.types[base.index()].kind);
                let text = format!("this is not understood as a value of {kind} in XML");
                let finding = self.slip("E0309", span, text).label("the value is ignored");
                self.report(finding);
                Value::Error
            }
        }
    }

    /// The value in an element; `None` when it is none of the type, or of a type that is not read here.
    fn xml(&mut self, element: &Element<'_>, ty: TypeId) -> Option<Value> {
        let base = self.base(ty);
        let text = element.text.trim();
        let only = match element.children.as_slice() {
            [child] => Some(child),
            _ => None,
        };
        // `<true/>`, `<red/>` or, as text, `true`, `red` (X.680 §18.3, §19.7, §20.8).
        let word = only.map_or(text, |child| child.name);
        Some(match &self.model.types[base.index()].kind {
            TypeKind::Boolean => Value::Boolean(match word {
                "true" | "1" => true,
                "false" | "0" => false,
                _ => return None,
            }),
            TypeKind::Null => Value::Null,
            TypeKind::Integer(_) | TypeKind::Enumerated(_) => match self.own_name(base, word) {
                Some(named) => named,
                None if matches!(self.model.types[base.index()].kind, TypeKind::Enumerated(_)) => {
                    return None;
                }
                None => Value::Integer(number(text)?),
            },
            TypeKind::Real => Value::Real(match word {
                "PLUS-INFINITY" | "INF" => Real::PlusInfinity,
                "MINUS-INFINITY" | "-INF" => Real::MinusInfinity,
                "NOT-A-NUMBER" | "NaN" => Real::NotANumber,
                _ => self.decimal(text, Span::default())?,
            }),
            TypeKind::OctetString => {
                let digits = without_space(text);
                if !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
                    return None;
                }
                Value::OctetString(super::strings::pack_hex(&digits))
            }
            TypeKind::BitString(_) if only.is_none() => {
                let digits = without_space(text);
                if !digits.bytes().all(|b| matches!(b, b'0' | b'1')) {
                    return None;
                }
                Value::BitString(super::strings::pack_bits(&digits), digits.len() as u64)
            }
            TypeKind::ObjectIdentifier | TypeKind::RelativeOid => {
                let arcs: Option<Vec<u128>> = text.split('.').map(|arc| arc.trim().parse().ok()).collect();
                Value::Oid(arcs?.into())
            }
            TypeKind::CharacterString(_)
            | TypeKind::OidIri
            | TypeKind::RelativeOidIri
            | TypeKind::Time
            | TypeKind::UsefulTime(_)
            | TypeKind::GeneralizedTime
            | TypeKind::UtcTime
            | TypeKind::ObjectDescriptor => Value::Text(element.text.clone()),
            TypeKind::Sequence(_) | TypeKind::Set(_) => {
                let mut fields: Vec<(SmolStr, Value)> = Vec::with_capacity(element.children.len());
                for child in &element.children {
                    let (name, ty) = self.component_type(base, child.name)?;
                    fields.push((name, self.xml(child, ty)?));
                }
                Value::Struct(fields)
            }
            TypeKind::Choice(_) => {
                let child = only?;
                let (name, ty) = self.component_type(base, child.name)?;
                Value::Choice(name, Box::new(self.xml(child, ty)?))
            }
            TypeKind::SequenceOf(_, item) | TypeKind::SetOf(_, item) => {
                let item = *item;
                let item_base = self.base(item);
                // Values of these types stand in the list without an element around them (X.680 §26.3, Table 5).
                let bare = matches!(
                    self.model.types[item_base.index()].kind,
                    TypeKind::Boolean | TypeKind::Enumerated(_) | TypeKind::Choice(_)
                );
                let mut list = Vec::with_capacity(element.children.len());
                for child in &element.children {
                    let value = match bare {
                        true => self.xml_bare(child, item_base)?,
                        false => self.xml(child, item)?,
                    };
                    list.push(value);
                }
                Value::List(list)
            }
            _ => return None,
        })
    }

    fn xml_bare(&mut self, element: &Element<'_>, base: TypeId) -> Option<Value> {
        match &self.model.types[base.index()].kind {
            TypeKind::Boolean => match element.name {
                "true" => Some(Value::Boolean(true)),
                "false" => Some(Value::Boolean(false)),
                _ => self.xml(element, base),
            },
            TypeKind::Enumerated(_) => match self.own_name(base, element.name) {
                Some(value) => Some(value),
                None => self.xml(element, base),
            },
            _ => match self.component_type(base, element.name) {
                Some((name, ty)) => Some(Value::Choice(name, Box::new(self.xml(element, ty)?))),
                None => self.xml(element, base),
            },
        }
    }
}

fn without_space(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

fn number(text: &str) -> Option<BigInt> {
    if text.len() > super::numbers::DIGIT_LIMIT { None } else { text.parse().ok() }
}

struct Reader<'t> {
    text: &'t str,
    chars: Peekable<CharIndices<'t>>,
}

impl<'t> Reader<'t> {
    /// `<name>…</name>` or `<name/>`; attributes and comments are not part of the notation.
    fn element(&mut self, depth: usize) -> Option<Element<'t>> {
        if depth > DEPTH_LIMIT || !self.eat('<') {
            return None;
        }
        let mut element = Element { name: self.name(), ..Element::default() };
        self.space();
        if self.eat('/') {
            return self.eat('>').then_some(element);
        }
        if !self.eat('>') {
            return None;
        }
        loop {
            let &(at, c) = self.chars.peek()?;
            match c {
                '<' if self.text[at..].starts_with("</") => {
                    self.chars.next();
                    self.chars.next();
                    let closes = self.name() == element.name;
                    self.space();
                    return (self.eat('>') && closes).then_some(element);
                }
                '<' => {
                    let child = self.element(depth + 1)?;
                    // Control characters are elements within text (X.680 §12.15.5).
                    match super::strings::control_character(child.name) {
                        Some(control)
                            if child.children.is_empty()
                                && child.text.is_empty()
                                && !element.text.trim().is_empty() =>
                        {
                            element.text.push(control);
                        }
                        _ => element.children.push(child),
                    }
                }
                '&' => element.text.push(self.reference(at)?),
                c => {
                    element.text.push(c);
                    self.chars.next();
                }
            }
        }
    }

    fn reference(&mut self, at: usize) -> Option<char> {
        let rest = &self.text[at + 1..];
        let end = rest.bytes().take(12).position(|b| b == b';')?;
        let name = &rest[..end];
        for _ in 0..name.chars().count() + 2 {
            self.chars.next();
        }
        match name {
            "amp" => Some('&'),
            "lt" => Some('<'),
            "gt" => Some('>'),
            _ => match name.strip_prefix("#x") {
                Some(digits) => char::from_u32(u32::from_str_radix(digits, 16).ok()?),
                None => char::from_u32(name.strip_prefix('#')?.parse().ok()?),
            },
        }
    }

    fn name(&mut self) -> &'t str {
        let from = self.at();
        while self.chars.next_if(|(_, c)| c.is_alphanumeric() || matches!(c, '-' | '_' | '.')).is_some() {}
        &self.text[from..self.at()]
    }

    fn space(&mut self) {
        while self.chars.next_if(|(_, c)| c.is_whitespace()).is_some() {}
    }

    fn at(&mut self) -> usize {
        self.chars.peek().map_or(self.text.len(), |&(at, _)| at)
    }

    fn eat(&mut self, wanted: char) -> bool {
        self.chars.next_if(|&(_, c)| c == wanted).is_some()
    }
}
