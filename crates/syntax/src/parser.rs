//! The state of the recursive descent and its small helpers; the productions are in `grammar`.
//!
//! The parser decides by looking ahead, never by reading a production twice, so its time is linear in the text even
//! for nested input. Recursion is counted: see [`ParseOptions::depth_limit`].

use crate::ast::{self, Braced, Ident};
use crate::diagnostic::{Diagnostic, Severity};
use crate::fix;
use crate::lexer::{self, Lexed};
use crate::source::{FileId, SourceMap, Span};
use crate::token::{Keyword, Token, TokenKind};
use smol_str::SmolStr;
use std::ops::Range;
use std::sync::OnceLock;

/// How to read a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseOptions {
    /// Whether the deviations found in vendors' and operators' specifications are warnings rather than errors.
    pub lenient: bool,
    /// How deep types, values and constraints may nest, at most 256.
    pub depth_limit: u32,
}

impl Default for ParseOptions {
    /// Lenient, 256 levels.
    fn default() -> Self {
        Self { lenient: true, depth_limit: 256 }
    }
}

/// What a production gives: its tree, or the finding that stopped it. The box keeps the good path small.
pub type Parsed<T> = Result<T, Box<Diagnostic>>;

/// Levels that fit on any thread's stack, of a debug build too; real specifications stay below.
const SHALLOW: u32 = 32;
/// Levels that a [`crate::Cursor`] may go down, since it runs on its caller's stack.
pub(crate) const CURSOR_LEVELS: u32 = 48;
/// Enough for the default limit in a debug build, at some 40 KB a level; untouched pages cost nothing.
const DEEP_STACK: usize = 48 << 20;

/// Reads the modules of a file.
///
/// What could not be understood is left out of the tree and told in the diagnostics; reading goes on at the next
/// assignment. A text nested deeper than 32 levels is read again on a thread with a large stack.
pub fn parse(map: &SourceMap, file: FileId, options: &ParseOptions) -> (Vec<ast::Module>, Vec<Diagnostic>) {
    let mut lexed = lexer::lex(map, file, options);
    let source = map.file(file);
    crate::grammar::demote_redefined(&source.text, source.start, options, &mut lexed);
    let Lexed { mut tokens, diagnostics: findings, .. } = lexed;
    let pairs = OnceLock::new();
    let read = |depth_limit: u32| {
        let options = ParseOptions { depth_limit, ..*options };
        let mut parser = Parser::new(&source.text, source.start, &tokens, options);
        parser.pairs = Some(&pairs);
        let modules = parser.modules(&source.name);
        (modules, parser.diagnostics)
    };
    let mut result = read(options.depth_limit.min(SHALLOW));
    if options.depth_limit > SHALLOW && result.1.iter().any(|d| d.code == TOO_DEEP) {
        let deep = std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().stack_size(DEEP_STACK);
            let thread = thread.spawn_scoped(scope, || read(options.depth_limit.min(256)));
            thread.ok().and_then(|thread| thread.join().ok())
        });
        // Where there are no threads, the shallow reading stands, with its finding.
        result = deep.unwrap_or(result);
    }
    let (mut modules, mut diagnostics) = result;
    share_out(&mut tokens, &mut modules);
    let modules = modules.into_iter().map(|(module, _)| module).collect();
    // What the lexer already refused needs no second word from the parser.
    diagnostics.retain(|d| {
        d.code != "E0101" || !findings.iter().any(|f| f.is_error() && f.primary.span == d.primary.span)
    });
    diagnostics.extend(findings);
    diagnostics.sort_by_key(|d| d.primary.span.lo);
    (modules, diagnostics)
}

const TOO_DEEP: &str = "E0103";

/// Gives each module its tokens. Those of the first one stay where they are: most files hold one module.
fn share_out(tokens: &mut Vec<Token>, modules: &mut [(ast::Module, Range<usize>)]) {
    for (module, range) in modules.iter_mut().rev() {
        tokens.truncate(range.end);
        module.tokens = match range.start {
            0 => std::mem::take(tokens),
            start => tokens.split_off(start),
        };
    }
    if let Some((module, _)) = modules.first_mut() {
        module.tokens.shrink_to_fit();
    }
}

/// The partner of each opening brace and parenthesis, so that a text full of unclosed ones is read in linear time.
fn pairs(tokens: &[Token]) -> Vec<u32> {
    let mut pairs = vec![0; tokens.len()];
    let (mut braces, mut parens) = (Vec::new(), Vec::new());
    for (index, token) in tokens.iter().enumerate() {
        let partner = match token.kind {
            TokenKind::OpenBrace => {
                braces.push(index);
                None
            }
            TokenKind::OpenParen => {
                parens.push(index);
                None
            }
            TokenKind::CloseBrace => braces.pop(),
            TokenKind::CloseParen => parens.pop(),
            _ => None,
        };
        if let Some(open) = partner {
            pairs[open] = index as u32;
        }
    }
    pairs
}

/// A place in a run of tokens. Cheap to clone while it holds no diagnostics.
#[derive(Clone, Debug)]
pub(crate) struct Parser<'a> {
    pub(crate) source: &'a str,
    pub(crate) start: u32,
    pub(crate) tokens: &'a [Token],
    pub(crate) pos: usize,
    pub(crate) end: usize,
    /// The first token of the module: what [`Braced`] counts from.
    pub(crate) base: usize,
    /// For each `{` and `(` the index of its partner or zero, made when first needed; a cursor has none and searches.
    pub(crate) pairs: Option<&'a OnceLock<Vec<u32>>>,
    pub(crate) depth: u32,
    pub(crate) options: ParseOptions,
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// Names that the file defines or imports, sorted; made when a leniency first needs them.
    pub(crate) known: Option<Vec<&'a str>>,
    /// Whether the module has an encoding reference default other than TAG.
    pub(crate) encoding_default: bool,
}

impl<'a> Parser<'a> {
    pub(crate) fn new(source: &'a str, start: u32, tokens: &'a [Token], options: ParseOptions) -> Self {
        Self {
            source,
            start,
            tokens,
            pos: 0,
            end: tokens.len(),
            base: 0,
            pairs: None,
            depth: 0,
            options,
            diagnostics: Vec::new(),
            known: None,
            encoding_default: false,
        }
    }

    /// The same text read between two tokens.
    pub(crate) fn within(&self, first: usize, end: usize) -> Self {
        let end = end.min(self.tokens.len());
        Self { pos: first.min(end), end, diagnostics: Vec::new(), known: None, depth: 0, ..*self }
    }

    pub(crate) fn strip_braces(&mut self) {
        // `{1} | {2}` begins and ends with a brace, but not with the two of one group.
        let whole = self.peek() == TokenKind::OpenBrace && self.skip_group(self.pos) == self.end;
        if whole && self.end > self.pos + 1 && self.tokens[self.end - 1].kind == TokenKind::CloseBrace {
            self.pos += 1;
            self.end -= 1;
        }
    }

    // ---- looking ----

    pub(crate) fn peek(&self) -> TokenKind {
        self.kind_at(self.pos)
    }

    pub(crate) fn peek_at(&self, ahead: usize) -> TokenKind {
        self.kind_at(self.pos + ahead)
    }

    pub(crate) fn kind_at(&self, index: usize) -> TokenKind {
        if index < self.end { self.tokens[index].kind } else { TokenKind::End }
    }

    pub(crate) fn at_word(&self, word: Keyword) -> bool {
        self.peek() == TokenKind::Word(word)
    }

    /// The place of the next token; behind the last one at the end.
    pub(crate) fn span(&self) -> Span {
        self.span_at(self.pos)
    }

    pub(crate) fn span_at(&self, index: usize) -> Span {
        match self.tokens.get(index) {
            Some(token) if index < self.end => token.span,
            // In a slice, the token that closes it is the place where something is missing.
            Some(token) => token.span,
            None => {
                let at = self.start + self.source.trim_end().len() as u32;
                Span::new(at, at)
            }
        }
    }

    pub(crate) fn text(&self) -> &'a str {
        self.text_at(self.pos)
    }

    pub(crate) fn text_at(&self, index: usize) -> &'a str {
        if index < self.end { self.slice(self.tokens[index].span) } else { "" }
    }

    pub(crate) fn slice(&self, span: Span) -> &'a str {
        let lo = span.lo.wrapping_sub(self.start) as usize;
        let hi = span.hi.wrapping_sub(self.start) as usize;
        self.source.get(lo..hi).unwrap_or("")
    }

    /// Whether a line ends between the token before `index` and the token there.
    pub(crate) fn starts_line(&self, index: usize) -> bool {
        let Some(token) = self.tokens.get(index) else { return true };
        let from = match index.checked_sub(1).and_then(|i| self.tokens.get(i)) {
            Some(before) => before.span.hi,
            None => return true,
        };
        self.slice(Span::new(from, token.span.lo)).as_bytes().iter().any(|b| matches!(b, b'\n' | b'\r'))
    }

    /// The index behind the bracket that closes the one at `open`, or the end when there is none.
    pub(crate) fn skip_group(&self, open: usize) -> usize {
        let closing = match self.kind_at(open) {
            TokenKind::OpenBrace => TokenKind::CloseBrace,
            TokenKind::OpenParen => TokenKind::CloseParen,
            _ => return open + 1,
        };
        if let Some(pairs) = self.pairs {
            let close = pairs.get_or_init(|| self::pairs(self.tokens))[open];
            return if close == 0 { self.end } else { (close as usize + 1).min(self.end) };
        }
        let opening = self.kind_at(open);
        let mut depth = 0usize;
        for index in open..self.end {
            let kind = self.tokens[index].kind;
            if kind == opening {
                depth += 1;
            } else if kind == closing {
                depth -= 1;
                if depth == 0 {
                    return index + 1;
                }
            }
        }
        self.end
    }

    pub(crate) fn position(&self) -> usize {
        self.pos
    }

    pub(crate) fn rewind(&mut self, position: usize) {
        self.pos = position.min(self.end);
    }

    // ---- taking ----

    pub(crate) fn bump(&mut self) -> Option<Token> {
        let token = *self.tokens.get(self.pos).filter(|_| self.pos < self.end)?;
        self.pos += 1;
        Some(token)
    }

    pub(crate) fn eat(&mut self, kind: TokenKind) -> bool {
        let found = self.peek() == kind && kind != TokenKind::End;
        self.pos += usize::from(found);
        found
    }

    pub(crate) fn eat_word(&mut self, word: Keyword) -> bool {
        self.eat(TokenKind::Word(word))
    }

    pub(crate) fn expect(&mut self, kind: TokenKind) -> Parsed<Span> {
        let span = self.span();
        if self.eat(kind) { Ok(span) } else { Err(self.expected(kind.describe())) }
    }

    pub(crate) fn expect_word(&mut self, word: Keyword) -> Parsed<Span> {
        let span = self.span();
        if self.eat_word(word) { Ok(span) } else { Err(self.expected(&format!("`{}`", word.text()))) }
    }

    /// The end of the last token taken, with `from` as start.
    pub(crate) fn since(&self, from: Span) -> Span {
        match self.pos.checked_sub(1).and_then(|i| self.tokens.get(i)) {
            Some(token) if token.span.hi >= from.lo => from.to(token.span),
            _ => from,
        }
    }

    /// The tokens taken since index `first`.
    pub(crate) fn taken_since(&self, first: usize) -> Braced {
        let span = match self.tokens.get(first) {
            Some(token) if first < self.pos => self.since(token.span),
            _ => {
                let at = self.span_at(first).lo;
                Span::new(at, at)
            }
        };
        Braced { first: self.relative(first), end: self.relative(self.pos), span }
    }

    fn relative(&self, index: usize) -> u32 {
        (index - self.base.min(index)) as u32
    }

    /// Takes a slice from brace to brace without reading it.
    pub(crate) fn braced(&mut self) -> Parsed<Braced> {
        let first = self.pos;
        let open = self.span();
        if self.peek() != TokenKind::OpenBrace {
            return Err(self.expected("`{`"));
        }
        let end = self.skip_group(first);
        if self.kind_at(end - 1) != TokenKind::CloseBrace || end - 1 == first {
            return Err(Box::new(Diagnostic::error("E0102", open, "this `{` is not closed")));
        }
        self.pos = end;
        Ok(self.taken_since(first))
    }

    /// The identifier at the current token, whatever its kind.
    pub(crate) fn take_ident(&mut self) -> Ident {
        let ident = self.ident_at(self.pos);
        self.bump();
        ident
    }

    pub(crate) fn ident_at(&self, index: usize) -> Ident {
        let text = self.text_at(index);
        let text = if text.is_ascii() {
            SmolStr::new(text)
        } else {
            text.chars().map(|c| if c.is_ascii() { c } else { '-' }).collect()
        };
        Ident { text, span: self.span_at(index) }
    }

    pub(crate) fn any_name(&mut self, what: &str) -> Parsed<Ident> {
        match self.peek() {
            TokenKind::Upper | TokenKind::Lower => Ok(self.take_ident()),
            _ => Err(self.expected(what)),
        }
    }

    // ---- findings ----

    pub(crate) fn expected(&self, what: &str) -> Box<Diagnostic> {
        let found = match self.peek() {
            TokenKind::End if self.end < self.tokens.len() => {
                self.tokens[self.end].kind.describe().to_owned()
            }
            TokenKind::Upper | TokenKind::Lower | TokenKind::Word(_) | TokenKind::Number => {
                format!("`{}`", self.text())
            }
            other => other.describe().to_owned(),
        };
        let mut finding = Diagnostic::error("E0101", self.span(), format!("expected {what}, found {found}"))
            .label(format!("expected {what}"));
        if self.follows_comment(self.pos) {
            finding = finding.note(lexer::CLOSES);
        }
        Box::new(finding)
    }

    /// Whether a comment that a pair of hyphens closes stands on the line in front of a token.
    pub(crate) fn follows_comment(&self, index: usize) -> bool {
        let at = (self.span_at(index).lo - self.start) as usize;
        // White space only is skipped, so that no line is read for each of its errors.
        self.source.get(..at).is_some_and(|before| before.trim_end_matches([' ', '\t']).ends_with("--"))
    }

    /// Tells of a deviation: a warning where the options allow it, an error otherwise.
    pub(crate) fn lenient(
        &mut self,
        code: &'static str,
        span: Span,
        message: impl Into<String>,
        assumed: &str,
    ) {
        let mut diagnostic = Diagnostic::warning(code, span, message).label(assumed);
        if !self.options.lenient {
            diagnostic.severity = Severity::Error;
        }
        // Behind the word, not behind a comment that follows it.
        let next = self.tokens.partition_point(|token| token.span.lo < span.lo);
        let previous_end = next.checked_sub(1).map_or(span.lo, |at| self.tokens[at].span.hi);
        diagnostic.fixes.extend(fix::of_leniency(code, span, self.slice(span), previous_end));
        self.diagnostics.push(diagnostic);
    }

    /// Runs a production one level deeper.
    pub(crate) fn nested<T>(&mut self, production: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= self.options.depth_limit {
            let message =
                format!("types, values and constraints may nest {} deep here", self.options.depth_limit);
            return Err(Box::new(Diagnostic::error(TOO_DEEP, self.span(), message)));
        }
        self.depth += 1;
        let result = production(self);
        self.depth -= 1;
        result
    }

    /// Whether the file defines or imports a type of this name.
    pub(crate) fn knows(&mut self, name: &str) -> bool {
        let known = self.known.get_or_insert_with(|| {
            let text = |token: &Token| {
                let (lo, hi) = ((token.span.lo - self.start) as usize, (token.span.hi - self.start) as usize);
                self.source.get(lo..hi).unwrap_or("")
            };
            let mut names = Vec::new();
            let mut imports = false;
            for pair in self.tokens.windows(2) {
                match (pair[0].kind, pair[1].kind) {
                    (TokenKind::Word(Keyword::Imports), _) => imports = true,
                    (TokenKind::Semicolon, _) => imports = false,
                    (TokenKind::Upper | TokenKind::Lower, next) if imports || next == TokenKind::Assign => {
                        names.push(text(&pair[0]));
                    }
                    _ => {}
                }
            }
            names.sort_unstable();
            names.dedup();
            names
        });
        known.binary_search(&name).is_ok()
    }
}
