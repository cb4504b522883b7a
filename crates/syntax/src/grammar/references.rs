//! References (X.680 §14) and lists separated by commas.

use crate::ast::{Ident, Reference};
use crate::parser::{Parsed, Parser};
use crate::source::Span;
use crate::token::{Keyword as K, TokenKind as T};

impl Parser<'_> {
    /// DefinedType, DefinedValue, DefinedObject …: `Module.name{parameters}` of either case.
    #[inline(never)]
    pub(crate) fn any_reference(&mut self) -> Parsed<Reference> {
        let from = self.span();
        let mut module = None;
        if self.peek() == T::Upper
            && self.peek_at(1) == T::Dot
            && matches!(self.peek_at(2), T::Upper | T::Lower)
        {
            module = Some(Box::new(self.take_ident()));
            self.bump();
        }
        let name = match self.peek() {
            T::Upper | T::Lower | T::Word(K::TypeIdentifier | K::AbstractSyntax) => self.take_ident(),
            _ => return Err(self.expected("a reference")),
        };
        let parameters = if self.peek() == T::OpenBrace { Some(self.actual_parameter_list()?) } else { None };
        Ok(Reference { module, name, parameters, span: self.since(from) })
    }

    /// A reference without reading a brace behind it as parameters.
    pub(crate) fn plain_reference(&mut self) -> Reference {
        let name = self.take_ident();
        Reference { module: None, span: name.span, name, parameters: None }
    }

    /// FieldName (X.681 §9.14): `&a.&b`, with the dot in front when `dotted`.
    pub(crate) fn field_path(&mut self, dotted: bool) -> Parsed<Vec<Ident>> {
        let mut path = Vec::new();
        if !dotted {
            path.push(self.field_name()?);
        }
        while self.peek() == T::Dot && matches!(self.peek_at(1), T::UpperField | T::LowerField) {
            self.bump();
            path.push(self.field_name()?);
        }
        Ok(path)
    }

    pub(crate) fn field_name(&mut self) -> Parsed<Ident> {
        match self.peek() {
            T::UpperField | T::LowerField => Ok(self.take_ident()),
            _ => Err(self.expected("a field name")),
        }
    }

    /// Commas in front of the first item of a list.
    pub(crate) fn leading_commas(&mut self) {
        let span = self.span();
        if self.eat(T::Comma) {
            while self.eat(T::Comma) {}
            self.lenient("L0203", span, "a list begins with a comma", "ignored");
        }
    }

    /// What stands between two items of a list: true when another item follows, false before `close`.
    #[inline(never)]
    pub(crate) fn separator(&mut self, close: T) -> Parsed<bool> {
        let span = self.span();
        if self.eat(T::Comma) {
            let second = self.span();
            if self.eat(T::Comma) {
                while self.eat(T::Comma) {}
                self.lenient("L0202", second, "a comma is doubled", "ignored");
            }
            if self.peek() == close {
                self.lenient("L0203", span, "a comma before the end of the list", "ignored");
                return Ok(false);
            }
            return Ok(true);
        }
        if self.peek() == close {
            return Ok(false);
        }
        let begins_item = matches!(self.peek(), T::Lower | T::Upper | T::Ellipsis | T::OpenVersion)
            || (self.starts_line(self.pos) && matches!(self.peek(), T::Word(K::Components) | T::OpenBracket));
        if self.options.lenient && (begins_item || self.peek() == T::Semicolon) {
            self.eat(T::Semicolon);
            let at = self.since(span).lo.min(span.lo);
            let end = self.pos.checked_sub(1).and_then(|i| self.tokens.get(i)).map_or(at, |t| t.span.hi);
            if self.peek() != close {
                self.lenient(
                    "L0201",
                    Span::new(end.min(span.lo), span.lo.max(end)),
                    "a comma is missing",
                    "assumed here",
                );
                return Ok(true);
            }
            self.lenient("L0203", span, "a semicolon before the end of the list", "ignored");
            return Ok(false);
        }
        Err(self.expected(&format!("`,` or {}", close.describe())))
    }
}
