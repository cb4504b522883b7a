//! Values (X.680 §17.7), and the readers of what stands in their braces.

use crate::ast::{AtNotation, Braced, Ident, Value, ValueKind};
use crate::cursor::{FieldSetting, OidComponent};
use crate::parser::{Parsed, Parser};
use crate::source::Span;
use crate::token::{Keyword as K, TokenKind as T};
use smol_str::SmolStr;
use std::borrow::Cow;

impl Parser<'_> {
    /// Whether a value begins at a token; references in capitals are types until proved otherwise.
    pub(crate) fn value_start(&self, index: usize) -> bool {
        matches!(
            self.kind_at(index),
            T::Number
                | T::Real
                | T::Minus
                | T::CString
                | T::BString
                | T::HString
                | T::Lower
                | T::OpenBrace
                | T::Xml
        ) || matches!(
            self.kind_at(index),
            T::Word(
                K::True
                    | K::False
                    | K::PlusInfinity
                    | K::MinusInfinity
                    | K::NotANumber
                    | K::Null
                    | K::Containing
            )
        )
    }

    /// Value (§17.7).
    pub(crate) fn value(&mut self) -> Parsed<Value> {
        self.nested(Self::value_here)
    }

    #[inline(never)]
    fn value_here(&mut self) -> Parsed<Value> {
        let from = self.span();
        let kind = match self.peek() {
            T::Number => ValueKind::Integer(SmolStr::new(self.take_text())),
            T::Real => ValueKind::Real(SmolStr::new(self.take_text())),
            T::Minus => {
                self.bump();
                match self.peek() {
                    T::Number => ValueKind::Integer(self.negative()),
                    T::Real => ValueKind::Real(self.negative()),
                    _ => return Err(self.expected("a number")),
                }
            }
            T::CString => ValueKind::String(unquote(self.take_text()).into()),
            T::BString => ValueKind::Binary(digits(self.take_text()).into()),
            T::HString => ValueKind::Hex(digits(self.take_text()).into()),
            T::Xml => ValueKind::Xml(self.take_text().into()),
            T::OpenBrace => ValueKind::Braced(self.braced()?),
            T::Word(word) => return self.word_value(word, from),
            T::Lower if self.peek_at(1) == T::Colon => {
                let name = self.take_ident();
                self.bump();
                ValueKind::Choice(name, Box::new(self.value()?))
            }
            T::Lower => self.reference_value()?,
            T::Upper if self.peek_at(1) == T::Dot && self.peek_at(2) == T::Lower => self.reference_value()?,
            T::Upper | T::OpenBracket => return self.typed_value(from),
            _ => return Err(self.expected("a value")),
        };
        Ok(Value { kind, span: self.since(from) })
    }

    fn take_text(&mut self) -> &str {
        let at = self.pos;
        self.bump();
        self.text_at(at)
    }

    fn negative(&mut self) -> SmolStr {
        let text = self.text();
        self.bump();
        smol_str::format_smolstr!("-{text}")
    }

    #[inline(never)]
    fn word_value(&mut self, word: K, from: Span) -> Parsed<Value> {
        let kind = match word {
            K::True => ValueKind::Boolean(true),
            K::False => ValueKind::Boolean(false),
            K::Null if self.peek_at(1) != T::Colon => ValueKind::Null,
            K::PlusInfinity => ValueKind::PlusInfinity,
            K::MinusInfinity => ValueKind::MinusInfinity,
            K::NotANumber => ValueKind::NotANumber,
            K::Containing => {
                self.bump();
                let value = Box::new(self.value()?);
                return Ok(Value { kind: ValueKind::Containing(value), span: self.since(from) });
            }
            word if self.type_word(word) => return self.typed_value(from),
            _ => return Err(self.expected("a value")),
        };
        self.bump();
        Ok(Value { kind, span: self.since(from) })
    }

    /// `Type : value` (X.681 §14.8), or `Set.&field`, `Module.object.&field` (X.681 §15).
    #[inline(never)]
    fn typed_value(&mut self, from: Span) -> Parsed<Value> {
        let ty = self.ty()?;
        if self.eat(T::Colon) {
            let value = self.value()?;
            let kind = ValueKind::Typed(Box::new(ty), Box::new(value));
            return Ok(Value { kind, span: self.since(from) });
        }
        self.type_as_value(ty)
    }

    /// A value that was read as a type: a field of an object set, or a name in capitals where a value must stand.
    #[inline(never)]
    pub(crate) fn type_as_value(&mut self, ty: crate::ast::Type) -> Parsed<Value> {
        use crate::ast::TypeKind;
        let span = ty.span;
        let plain = ty.tags.is_empty() && ty.constraints.is_empty() && ty.encoding.is_empty();
        match ty.kind {
            TypeKind::FromObject { base, path } | TypeKind::ClassField { class: base, path } if plain => {
                Ok(Value { kind: ValueKind::FromObject { base, path }, span })
            }
            TypeKind::Reference(reference) if plain && self.options.lenient => {
                self.lenient("L0210", span, "a value's name begins with a small letter", "taken as a value");
                Ok(Value { kind: ValueKind::Reference(Box::new(reference)), span })
            }
            _ => Err(self.expected("`:` and a value")),
        }
    }

    /// DefinedValue (§14.1), ValueFromObject (X.681 §15).
    #[inline(never)]
    fn reference_value(&mut self) -> Parsed<ValueKind> {
        let base = self.any_reference()?;
        if self.peek() == T::Dot && matches!(self.peek_at(1), T::UpperField | T::LowerField) {
            return Ok(ValueKind::FromObject { base: Box::new(base), path: self.field_path(true)? });
        }
        Ok(ValueKind::Reference(Box::new(base)))
    }

    // ---- what stands in braces, once the governor is known ----

    /// ObjIdComponentsList (§32.3).
    pub(crate) fn oid_components(&mut self) -> Parsed<Vec<OidComponent>> {
        let mut components = Vec::new();
        while self.peek() != T::End {
            let from = self.span();
            let component = match self.peek() {
                T::Number => OidComponent { name: None, number: Some(self.value()?), span: from },
                T::Lower | T::Upper => {
                    let mut name = self.plain_reference();
                    if self.peek() == T::Dot && matches!(self.peek_at(1), T::Lower | T::Upper) {
                        self.bump();
                        let module = std::mem::replace(&mut name.name, self.take_ident());
                        name.module = Some(Box::new(module));
                        name.span = self.since(from);
                    }
                    let number = if self.eat(T::OpenParen) {
                        let number = self.value()?;
                        self.expect(T::CloseParen)?;
                        Some(number)
                    } else {
                        None
                    };
                    OidComponent { name: Some(name), number, span: self.since(from) }
                }
                T::Comma if self.options.lenient => {
                    self.bump();
                    self.lenient(
                        "L0202",
                        from,
                        "no comma belongs between the components of an OID",
                        "ignored",
                    );
                    continue;
                }
                _ => return Err(self.expected("a component of an OBJECT IDENTIFIER")),
            };
            components.push(component);
        }
        Ok(components)
    }

    /// ComponentValueList (§25.18).
    pub(crate) fn named_values(&mut self) -> Parsed<Vec<(Ident, Value)>> {
        self.list_to_end(|p| Ok((p.item_name("an identifier")?, p.value()?)))
    }

    /// ValueList (§26.3), CharSyms (§41.8).
    pub(crate) fn list_values(&mut self) -> Parsed<Vec<Value>> {
        self.list_to_end(Self::value)
    }

    /// IdentifierList (§22.9).
    pub(crate) fn named_bits(&mut self) -> Parsed<Vec<Ident>> {
        self.list_to_end(|p| p.item_name("an identifier"))
    }

    /// Quadruple, Tuple (§41.8), SequenceRealValue (§21.6).
    pub(crate) fn number_list(&mut self) -> Parsed<Vec<(Option<Ident>, Value)>> {
        self.list_to_end(|p| {
            let named = p.peek() == T::Lower && matches!(p.peek_at(1), T::Number | T::Minus | T::Lower);
            let name = if named { Some(p.take_ident()) } else { None };
            Ok((name, p.value()?))
        })
    }

    /// `@a.b, @.c` (X.682 §10.7).
    pub(crate) fn at_notations(&mut self) -> Parsed<Vec<AtNotation>> {
        self.list_to_end(Self::at_notation)
    }

    pub(crate) fn at_notation(&mut self) -> Parsed<AtNotation> {
        let from = self.expect(T::At)?;
        let mut level = 0;
        loop {
            level += match self.peek() {
                T::Dot => 1,
                T::Range => 2,
                T::Ellipsis => 3,
                _ => break,
            };
            self.bump();
        }
        let mut path = vec![self.item_name("an identifier")?];
        while self.eat(T::Dot) {
            path.push(self.item_name("an identifier")?);
        }
        Ok(AtNotation { level, path, span: self.since(from) })
    }

    /// FieldSettings of DefaultSyntax (X.681 §11.5), the settings unread.
    pub(crate) fn field_settings(&mut self) -> Parsed<Vec<FieldSetting>> {
        let mut settings = Vec::new();
        while self.peek() != T::End {
            let name = self.field_name()?;
            let first = self.pos;
            while !matches!(self.peek(), T::End | T::Comma) {
                match self.peek() {
                    T::OpenBrace | T::OpenParen => self.pos = self.skip_group(self.pos),
                    _ => self.pos += 1,
                }
            }
            let setting: Braced = self.taken_since(first);
            if setting.first == setting.end {
                return Err(self.expected("a setting"));
            }
            settings.push(FieldSetting { name, setting });
            if !self.eat(T::Comma) {
                break;
            }
        }
        Ok(settings)
    }

    fn list_to_end<I>(&mut self, mut item: impl FnMut(&mut Self) -> Parsed<I>) -> Parsed<Vec<I>> {
        let mut items = Vec::new();
        self.leading_commas();
        while self.peek() != T::End {
            items.push(item(self)?);
            if !self.separator(T::End)? {
                break;
            }
        }
        Ok(items)
    }
}

/// The characters of a cstring (§12.14.1): quotes undone, and white space around line ends without meaning.
fn unquote(text: &str) -> String {
    let inner = text.strip_prefix(['"', '\u{201c}', '\u{201d}']).unwrap_or(text);
    let inner = inner.strip_suffix(['"', '\u{201d}']).unwrap_or(inner);
    let mut inner = Cow::Borrowed(inner);
    if inner.contains(['\n', '\r']) {
        let lines: Vec<_> = inner.split(['\n', '\r']).collect();
        let last = lines.len() - 1;
        let joined = lines.iter().enumerate().map(|(i, line)| {
            let line = if i > 0 { line.trim_start() } else { line };
            if i < last { line.trim_end() } else { line }
        });
        inner = Cow::Owned(joined.collect());
    }
    inner.replace("\"\"", "\"")
}

fn digits(text: &str) -> String {
    text.chars().filter(char::is_ascii_hexdigit).take(digit_count(text)).collect()
}

/// The suffix `B` of a bstring would pass as a hexadecimal digit.
fn digit_count(text: &str) -> usize {
    let close = text.rfind('\'').unwrap_or(text.len());
    text[..close].bytes().filter(u8::is_ascii_hexdigit).count()
}
