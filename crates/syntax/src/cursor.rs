//! Reads a [`Braced`] slice once its governor is known (X.680 §17.7 leaves the meaning of braces to the governor).
//!
//! A cursor stands on the tokens of one module. `new` places it on the opening brace; [`Cursor::inner`] moves it
//! between the braces, where the readers below take the forms that each governor allows.

use crate::ast::{self, AtNotation, Braced, ElementSet, Ident, Reference, Type, Value};
use crate::diagnostic::Diagnostic;
use crate::parser::{CURSOR_LEVELS, ParseOptions, Parsed, Parser};
use crate::source::{SourceMap, Span};
use crate::token::{Token, TokenKind};

/// A place in the tokens of a module, from which the grammar can be read on.
#[derive(Clone, Debug)]
pub struct Cursor<'a> {
    parser: Parser<'a>,
}

/// One component of an OBJECT IDENTIFIER or RELATIVE-OID value (X.680 §32.3).
#[derive(Clone, Debug)]
pub struct OidComponent {
    /// NameForm, or the reference that stands alone: a name of X.660's arcs, or a value to be put here.
    pub name: Option<Reference>,
    /// NumberForm: a number, or a reference to an INTEGER value.
    pub number: Option<Value>,
    /// The whole of it.
    pub span: Span,
}

/// What stands behind a field name in the default syntax of an object (X.681 §11.5), not yet read.
#[derive(Clone, Debug)]
pub struct FieldSetting {
    /// The field name with its `&`.
    pub name: Ident,
    /// The tokens of the setting; there are no braces around them, so read with [`Cursor::slice`].
    pub setting: Braced,
}

impl<'a> Cursor<'a> {
    /// A cursor on the opening brace of a slice of a module's tokens, with the leniencies allowed.
    pub fn new(map: &'a SourceMap, tokens: &'a [Token], braced: Braced) -> Self {
        Self::slice(map, tokens, braced)
    }

    /// A cursor on the first token of a slice that need not have braces, such as a [`FieldSetting`].
    pub fn slice(map: &'a SourceMap, tokens: &'a [Token], slice: Braced) -> Self {
        let at = tokens.get(slice.first as usize).map_or(slice.span, |t| t.span);
        let file = map.file(map.file_of(at.lo));
        let options = ParseOptions { depth_limit: CURSOR_LEVELS, ..ParseOptions::default() };
        let parser = Parser::new(&file.text, file.start, tokens, options);
        Self { parser: parser.within(slice.first as usize, slice.end as usize) }
    }

    /// The same cursor, with or without the leniencies; a new one has them.
    #[must_use]
    pub fn lenient(mut self, lenient: bool) -> Self {
        self.parser.options.lenient = lenient;
        self
    }

    /// The cursor between the outer braces; the same cursor when there are none.
    #[must_use]
    pub fn inner(mut self) -> Self {
        self.parser.strip_braces();
        self
    }

    /// A cursor for another slice of the same tokens, for example one met while reading.
    #[must_use]
    pub fn at(&self, slice: Braced) -> Self {
        Self { parser: self.parser.within(slice.first as usize, slice.end as usize) }
    }

    /// Whether nothing is left.
    pub fn is_end(&self) -> bool {
        self.parser.peek() == TokenKind::End
    }

    /// The place of the next token, or of the end.
    pub fn span(&self) -> Span {
        self.parser.span()
    }

    /// The characters of the next token, empty at the end.
    pub fn text(&self) -> &'a str {
        self.parser.text()
    }

    /// The kind of the next token, [`TokenKind::End`] at the end.
    pub fn peek_kind(&self) -> TokenKind {
        self.parser.peek()
    }

    /// The kind of the token `ahead` places after the next one.
    pub fn peek_kind_at(&self, ahead: usize) -> TokenKind {
        self.parser.peek_at(ahead)
    }

    /// Takes any token.
    pub fn bump(&mut self) -> Option<Token> {
        self.parser.bump()
    }

    /// Takes the next token when it has exactly these characters.
    pub fn eat_word(&mut self, word: &str) -> bool {
        let found = !word.is_empty() && self.parser.text() == word;
        if found {
            self.parser.bump();
        }
        found
    }

    /// Takes the next token when it is of this kind.
    pub fn eat(&mut self, kind: TokenKind) -> bool {
        self.parser.eat(kind)
    }

    /// Takes a comma.
    pub fn eat_comma(&mut self) -> bool {
        self.parser.eat(TokenKind::Comma)
    }

    /// The place reached, to return to with [`Cursor::rewind`].
    pub fn position(&self) -> usize {
        self.parser.position()
    }

    /// Returns to a place.
    pub fn rewind(&mut self, position: usize) {
        self.parser.rewind(position);
    }

    /// The leniencies met so far; they are forgotten here.
    pub fn take_warnings(&mut self) -> Vec<Diagnostic> {
        std::mem::take(&mut self.parser.diagnostics)
    }

    /// An error that says what was expected at the next token.
    pub fn expected(&self, what: &str) -> Box<Diagnostic> {
        self.parser.expected(what)
    }

    /// An error unless everything has been read.
    pub fn finish(&self) -> Parsed<()> {
        if self.is_end() { Ok(()) } else { Err(self.parser.expected("nothing more")) }
    }

    /// Type (X.680 §17.1).
    pub fn ty(&mut self) -> Parsed<Type> {
        self.parser.ty()
    }

    /// Value (X.680 §17.7).
    pub fn value(&mut self) -> Parsed<Value> {
        self.parser.value()
    }

    /// What stands between the braces of a value set or object set (X.680 §50.1, X.681 §12.3).
    pub fn element_set(&mut self) -> Parsed<ElementSet> {
        self.parser.element_set()
    }

    /// A set with its braces.
    pub fn object_set_braced(&mut self) -> Parsed<ElementSet> {
        self.parser.braced_element_set()
    }

    /// A constraint with its parentheses (X.680 §49.6).
    pub fn constraint(&mut self) -> Parsed<ast::Constraint> {
        self.parser.constraint()
    }

    /// A reference of either case, with its module and parameters where written.
    pub fn reference(&mut self) -> Parsed<Reference> {
        self.parser.any_reference()
    }

    /// A name of either case.
    pub fn ident(&mut self) -> Parsed<Ident> {
        self.parser.any_name("a name")
    }

    /// A field name `&x`.
    pub fn field_name(&mut self) -> Parsed<Ident> {
        self.parser.field_name()
    }

    /// A slice from brace to brace.
    pub fn braced(&mut self) -> Parsed<Braced> {
        self.parser.braced()
    }

    /// An actual parameter (X.683 §9.5): a type, value or braces, told apart by its first tokens.
    pub fn actual_parameter(&mut self) -> Parsed<ast::ActualParameter> {
        self.parser.actual_parameter()
    }

    /// The components of an OBJECT IDENTIFIER value between its braces (X.680 §32.3), to the end.
    pub fn oid_components(&mut self) -> Parsed<Vec<OidComponent>> {
        self.parser.oid_components()
    }

    /// `name value, name value …`: a SEQUENCE or SET value between its braces (X.680 §25.18), to the end.
    pub fn named_values(&mut self) -> Parsed<Vec<(Ident, Value)>> {
        self.parser.named_values()
    }

    /// `value, value …`: a SEQUENCE OF or SET OF value between its braces (X.680 §26.3), to the end. Also reads the
    /// quadruples, tuples and character string lists of §41.8, where each value is a string, a reference or braces.
    pub fn list_values(&mut self) -> Parsed<Vec<Value>> {
        self.parser.list_values()
    }

    /// `name, name …`: a BIT STRING value between its braces (X.680 §22.9), to the end.
    pub fn named_bits(&mut self) -> Parsed<Vec<Ident>> {
        self.parser.named_bits()
    }

    /// `{0, 0, 0, 1}`, `{1, 2}` (X.680 §41.8) and REAL's `{mantissa 1, base 2, exponent 3}` (§21.6) or `{1, 2, 3}`,
    /// between the braces, to the end; names are given back where written.
    pub fn number_list(&mut self) -> Parsed<Vec<(Option<Ident>, Value)>> {
        self.parser.number_list()
    }

    /// CharSyms (X.680 §41.8): strings, references, quadruples and tuples, to the end.
    pub fn char_strings(&mut self) -> Parsed<Vec<Value>> {
        self.parser.list_values()
    }

    /// `@a.b, @.c` between the braces of a component relation constraint (X.682 §10.7), to the end.
    pub fn at_notations(&mut self) -> Parsed<Vec<AtNotation>> {
        self.parser.at_notations()
    }

    /// `&id 5, &Type Foo` between the braces of an object in default syntax (X.681 §11.5), to the end. Each setting
    /// is left unread, since its field decides its kind.
    pub fn field_settings(&mut self) -> Parsed<Vec<FieldSetting>> {
        self.parser.field_settings()
    }
}
