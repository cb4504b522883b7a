//! Information object classes (X.681 §9, §10).

use crate::ast::{ActualParameter, ClassField, FieldKind, FieldPresence, ObjectClass, SyntaxItem};
use crate::parser::{Parsed, Parser};
use crate::token::{Keyword as K, TokenKind as T};
use smol_str::SmolStr;

impl Parser<'_> {
    /// ObjectClassDefn (X.681 §9.3).
    pub(crate) fn object_class(&mut self) -> Parsed<ObjectClass> {
        self.expect_word(K::Class)?;
        self.expect(T::OpenBrace)?;
        let mut fields = Vec::new();
        while self.peek() != T::CloseBrace {
            fields.push(self.class_field()?);
            if !self.separator(T::CloseBrace)? {
                break;
            }
        }
        self.expect(T::CloseBrace)?;
        let syntax = if self.at_word(K::With) && self.peek_at(1) == T::Word(K::Syntax) {
            self.pos += 2;
            self.expect(T::OpenBrace)?;
            // `[[` and `]]` are two brackets each here (X.681 §10.5 has no version brackets).
            let mut halves = 0;
            let items = self.syntax_items(&mut halves, T::CloseBrace)?;
            self.expect(T::CloseBrace)?;
            Some(items)
        } else {
            None
        };
        Ok(ObjectClass { fields, syntax })
    }

    /// FieldSpec (X.681 §9.4): the case of the field's name and what follows tell the seven kinds apart.
    fn class_field(&mut self) -> Parsed<ClassField> {
        let from = self.span();
        let upper = self.peek() == T::UpperField;
        let name = self.field_name()?;
        let ends = matches!(self.peek(), T::Comma | T::CloseBrace | T::Word(K::Optional | K::Default));
        let kind = match self.peek() {
            T::UpperField if upper => FieldKind::VariableSet(self.field_path(false)?),
            T::UpperField | T::LowerField => FieldKind::VariableValue(self.field_path(false)?),
            _ if upper && ends => FieldKind::Type,
            _ if upper => FieldKind::FixedSet(self.ty()?),
            _ => FieldKind::FixedValue(self.ty()?),
        };
        let unique = self.eat_word(K::Unique);
        let presence = if self.eat_word(K::Optional) {
            FieldPresence::Optional
        } else if self.eat_word(K::Default) {
            FieldPresence::Default(match kind {
                FieldKind::Type => ActualParameter::Type(self.ty()?),
                _ if self.peek() == T::OpenBrace => ActualParameter::Braced(self.braced()?),
                _ => ActualParameter::Value(self.value()?),
            })
        } else {
            FieldPresence::Mandatory
        };
        // Some specifications put UNIQUE last.
        let span = self.span();
        let late = !unique && self.eat_word(K::Unique);
        if late {
            self.lenient("L0214", span, "`UNIQUE` is written before `OPTIONAL`", "accepted");
        }
        Ok(ClassField { name, kind, unique: unique || late, presence, span: self.since(from) })
    }

    /// SyntaxList (X.681 §10.5) up to `close`. `halves` counts brackets of a doubled one not yet used: positive for
    /// `[`, negative for `]`.
    fn syntax_items(&mut self, halves: &mut i32, close: T) -> Parsed<Vec<SyntaxItem>> {
        self.nested(|p| {
            let mut items = Vec::new();
            loop {
                let open = *halves > 0 || matches!(p.peek(), T::OpenBracket | T::OpenVersion);
                if open {
                    if *halves > 0 {
                        *halves -= 1;
                        p.bump();
                    } else if p.peek() == T::OpenVersion {
                        *halves = 1;
                    } else {
                        p.bump();
                    }
                    let group = p.syntax_items(halves, T::CloseBracket)?;
                    items.push(SyntaxItem::Optional(group));
                    continue;
                }
                match p.peek() {
                    T::UpperField | T::LowerField => items.push(SyntaxItem::Field(p.take_ident())),
                    T::Comma => {
                        p.bump();
                        items.push(SyntaxItem::Literal(SmolStr::new_static(",")));
                    }
                    T::Upper | T::Word(_) => items.push(SyntaxItem::Literal(p.take_ident().text)),
                    T::CloseVersion if close == T::CloseBracket => {
                        if *halves < 0 {
                            *halves = 0;
                            p.bump();
                        } else {
                            *halves = -1;
                        }
                        return Ok(items);
                    }
                    T::CloseBracket if close == T::CloseBracket => {
                        p.bump();
                        return Ok(items);
                    }
                    kind if kind == close => return Ok(items),
                    _ => return Err(p.expected("a word in capitals, a field name or a bracket")),
                }
            }
        })
    }
}
