//! Defined syntax: an object's braces read as its class's WITH SYNTAX says (X.681 §10, §11.4).

use super::definition::Settings;
use crate::ir::{ClassFieldKind, ClassId};
use crate::resolve::{Resolver, Scope};
use tercet_syntax::ast::SyntaxItem;
use tercet_syntax::{Cursor, Diagnostic, TokenKind};

impl<'a> Resolver<'a> {
    pub(super) fn defined_syntax(
        &mut self,
        scope: &Scope<'a>,
        class: ClassId,
        syntax: &'a [SyntaxItem],
        mut cursor: Cursor<'a>,
        settings: &mut Settings,
    ) -> Result<(), Box<Diagnostic>> {
        let reading = Reading { class, syntax };
        self.items(scope, &reading, syntax, &mut cursor, settings)?;
        // Specifications put commas between settings that the syntax does not have.
        if self.options.lenient && !cursor.is_end() && cursor.peek_kind() == TokenKind::Comma {
            return self.items_after_comma(scope, &reading, cursor, settings);
        }
        match cursor.is_end() {
            true => Ok(()),
            false => Err(unexpected(&cursor, "the syntax of the class has ended")),
        }
    }

    fn items_after_comma(
        &mut self,
        scope: &Scope<'a>,
        reading: &Reading<'a>,
        mut cursor: Cursor<'a>,
        settings: &mut Settings,
    ) -> Result<(), Box<Diagnostic>> {
        while cursor.peek_kind() == TokenKind::Comma {
            let span = cursor.span();
            self.report(
                Diagnostic::warning("E0505", span, "the syntax of the class has no comma here")
                    .label("ignored"),
            );
            cursor.eat_comma();
        }
        let before = cursor.position();
        self.items(scope, reading, reading.syntax, &mut cursor, settings)?;
        match cursor.is_end() || cursor.position() == before {
            true if cursor.is_end() => Ok(()),
            _ => Err(unexpected(&cursor, "the syntax of the class has ended")),
        }
    }

    /// Each item in turn; a group is there when its first token is (X.681 §10.12 makes that certain).
    fn items(
        &mut self,
        scope: &Scope<'a>,
        reading: &Reading<'a>,
        items: &'a [SyntaxItem],
        cursor: &mut Cursor<'a>,
        settings: &mut Settings,
    ) -> Result<(), Box<Diagnostic>> {
        for item in items {
            match item {
                SyntaxItem::Literal(word) => {
                    if !cursor.eat_word(word) {
                        return Err(expected(cursor, word));
                    }
                }
                SyntaxItem::Field(name) => {
                    let Some(at) = self.field_index(reading.class, &name.text) else { continue };
                    if cursor.is_end() {
                        return Err(expected(cursor, &name.text));
                    }
                    if let Some(setting) = self.read_setting(scope, reading.class, at, cursor, settings)? {
                        settings.insert(name.text.clone(), setting);
                    }
                }
                SyntaxItem::Optional(group) => {
                    if !self.begins(reading, group, cursor) {
                        continue;
                    }
                    if !self.enter(cursor.span()) {
                        return Ok(());
                    }
                    let read = self.items(scope, reading, group, cursor, settings);
                    self.leave();
                    read?;
                }
            }
        }
        Ok(())
    }

    /// Whether a group begins at the next token.
    fn begins(&self, reading: &Reading<'a>, group: &[SyntaxItem], cursor: &Cursor<'a>) -> bool {
        if cursor.is_end() {
            return false;
        }
        for item in group {
            match item {
                SyntaxItem::Literal(word) => return cursor.text() == word,
                SyntaxItem::Field(name) => {
                    let Some(at) = self.field_index(reading.class, &name.text) else { return false };
                    // X.681 §10.12: a word of the syntax is never taken for a setting.
                    if has_literal(reading.syntax, cursor.text()) {
                        return false;
                    }
                    let kind = &self.model.classes[reading.class.index()].fields[at].kind;
                    return setting_begins(kind, cursor.peek_kind());
                }
                SyntaxItem::Optional(inner) => {
                    if self.begins(reading, inner, cursor) {
                        return true;
                    }
                }
            }
        }
        false
    }
}

/// The class and its whole syntax.
struct Reading<'a> {
    class: ClassId,
    syntax: &'a [SyntaxItem],
}

fn has_literal(items: &[SyntaxItem], text: &str) -> bool {
    items.iter().any(|item| match item {
        SyntaxItem::Literal(word) => word == text,
        SyntaxItem::Field(_) => false,
        SyntaxItem::Optional(group) => has_literal(group, text),
    })
}

/// Whether a setting of a field can begin with a token.
fn setting_begins(kind: &ClassFieldKind, token: TokenKind) -> bool {
    use TokenKind as T;
    match kind {
        ClassFieldKind::Type => matches!(token, T::Upper | T::Lower | T::Word(_) | T::OpenBracket),
        ClassFieldKind::Value(_) | ClassFieldKind::VariableValue(_) => {
            !matches!(token, T::Comma | T::End | T::CloseBrace | T::UpperField | T::LowerField)
        }
        ClassFieldKind::ValueSet(_) | ClassFieldKind::VariableValueSet(_) | ClassFieldKind::ObjectSet(_) => {
            matches!(token, T::OpenBrace | T::Upper)
        }
        ClassFieldKind::Object(_) => matches!(token, T::OpenBrace | T::Lower | T::Upper),
    }
}

fn expected(cursor: &Cursor<'_>, word: &str) -> Box<Diagnostic> {
    let message = match cursor.text() {
        "" => format!("expected `{word}`, found the end of the object"),
        found => format!("expected `{word}`, found `{found}`"),
    };
    Box::new(Diagnostic::error("E0505", cursor.span(), message).note("X.681 §11.4"))
}

fn unexpected(cursor: &Cursor<'_>, why: &str) -> Box<Diagnostic> {
    let message = format!("unexpected `{}` in an object", cursor.text());
    Box::new(Diagnostic::error("E0505", cursor.span(), message).label(why).note("X.681 §11.4"))
}
