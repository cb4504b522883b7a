//! Lays a text out in one canonical way. Every item and every comment stays, in order; only white space changes.
//!
//! Bodies of SEQUENCE, SET, CHOICE and CLASS take a line for each item; other braces do so when they are too long for
//! a line or hold a comment. Braces without commas (objects in defined syntax) and uses of macros keep their own line
//! breaks. At most one blank line in a row is kept.

use crate::ast::{AssignmentKind, Module, TypeKind};
use crate::diagnostic::Diagnostic;
use crate::lexer::{Comment, Lexed, lex};
use crate::parser::{ParseOptions, parse};
use crate::source::{FileId, SourceMap, Span};
use crate::token::{Keyword as K, Token, TokenKind as T};

/// Lines are broken before this column where the text allows it.
const WIDTH: usize = 100;
const INDENT: usize = 4;

/// The text of a file in canonical layout. Formatting the result again changes nothing.
///
/// # Errors
/// The errors of [`parse`] when the text has any; warnings do not hinder.
pub fn format(map: &SourceMap, file: FileId) -> Result<String, Vec<Diagnostic>> {
    let options = ParseOptions::default();
    let (modules, diagnostics) = parse(map, file, &options);
    let errors: Vec<_> = diagnostics.into_iter().filter(Diagnostic::is_error).collect();
    if !errors.is_empty() {
        return Err(errors);
    }
    let lexed = lex(map, file, &options);
    let text = Formatter::new(map, &lexed, &modules).run();
    // The promise that nothing but white space changes is checked, not hoped for.
    let mut again = SourceMap::new();
    let id = again.add(map.file(file).name.clone(), text.clone());
    let relexed = lex(&again, id, &options);
    let same = |a: &Token, b: &Token| a.kind == b.kind && map.text(a.span) == again.text(b.span);
    match lexed.tokens.iter().zip(&relexed.tokens).find(|(a, b)| !same(a, b)) {
        None if lexed.tokens.len() == relexed.tokens.len() && reads_alike(&again, id, &options, &modules) => {
            Ok(text)
        }
        found => {
            let span = found.map_or_else(Span::default, |(a, _)| a.span);
            Err(vec![Diagnostic::error("E0106", span, "the layout of this text cannot be changed safely")])
        }
    }
}

/// Whether the text has the same modules and assignments as before: leniencies may look at line ends.
fn reads_alike(map: &SourceMap, file: FileId, options: &ParseOptions, modules: &[Module]) -> bool {
    let (again, diagnostics) = parse(map, file, options);
    let size = |m: &Module| (m.name.text.clone(), m.tokens.len(), m.imports.len(), m.assignments.len());
    !diagnostics.iter().any(Diagnostic::is_error) && again.iter().map(size).eq(modules.iter().map(size))
}

/// What begins at a token.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Start {
    Nothing,
    /// An assignment, END, IMPORTS …: a line of its own at the margin.
    Line,
    /// A list of symbols in IMPORTS.
    Import,
}

struct Group {
    close: usize,
    indent: usize,
    broken: bool,
    brace: bool,
    /// Whether its own line breaks are kept, since no comma tells where items end.
    free: bool,
}

struct Formatter<'a> {
    map: &'a SourceMap,
    tokens: &'a [Token],
    comments: &'a [Comment],
    next_comment: usize,
    out: String,
    column: usize,
    groups: Vec<Group>,
    closing: Vec<u32>,
    widths: Vec<u32>,
    starts: Vec<Start>,
    /// Tokens whose line breaks are kept as they are.
    kept: Vec<bool>,
    /// The end of the last item written.
    last: Option<u32>,
    must_break: bool,
}

impl<'a> Formatter<'a> {
    fn new(map: &'a SourceMap, lexed: &'a Lexed, modules: &[Module]) -> Self {
        let tokens = &lexed.tokens[..];
        let mut formatter = Formatter {
            map,
            tokens,
            comments: &lexed.comments,
            next_comment: 0,
            out: String::new(),
            column: 0,
            groups: Vec::new(),
            closing: closing(tokens),
            widths: Vec::with_capacity(tokens.len() + 1),
            starts: vec![Start::Nothing; tokens.len()],
            kept: vec![false; tokens.len()],
            last: None,
            must_break: false,
        };
        let mut sum = 0u32;
        formatter.widths.push(0);
        for token in tokens {
            let long = map.text(token.span).contains('\n');
            sum = sum.saturating_add(if long { 1000 } else { token.span.hi - token.span.lo + 1 });
            formatter.widths.push(sum);
        }
        for module in modules {
            formatter.mark(module);
        }
        formatter
    }

    fn index_of(&self, at: u32) -> usize {
        self.tokens.partition_point(|t| t.span.lo < at)
    }

    fn set_start(&mut self, at: usize, start: Start) {
        if let Some(slot) = self.starts.get_mut(at) {
            *slot = start;
        }
    }

    fn mark(&mut self, module: &Module) {
        let first = self.index_of(module.span.lo);
        let end = self.index_of(module.span.hi);
        self.set_start(first, Start::Line);
        for import in &module.imports {
            let at = self.index_of(import.span.lo);
            self.set_start(at, Start::Import);
        }
        let body = module.assignments.first().map_or(end, |a| self.index_of(a.span.lo));
        let mut header = true;
        for index in first..end {
            let kind = self.tokens[index].kind;
            let own_line = match kind {
                T::Word(K::Exports | K::Imports) => index < body,
                T::Word(K::End) => index + 1 == end,
                T::Word(K::Begin) => std::mem::take(&mut header) && index < body,
                T::Word(K::EncodingControl) => true,
                _ => false,
            };
            if own_line {
                self.set_start(index, Start::Line);
            }
        }
        for assignment in &module.assignments {
            let from = self.index_of(assignment.span.lo);
            let to = self.index_of(assignment.span.hi);
            self.set_start(from, Start::Line);
            let governor = match &assignment.kind {
                AssignmentKind::Type(ty) => Some(ty),
                AssignmentKind::Value { governor, .. } => Some(governor),
                _ => None,
            };
            let is_macro = matches!(assignment.kind, AssignmentKind::Macro)
                || governor.is_some_and(|ty| matches!(ty.kind, TypeKind::MacroUse(..)));
            if is_macro {
                self.kept[from + 1..to.max(from + 1)].fill(true);
            }
        }
        for section in &module.encoding_control {
            let from = self.index_of(section.body.span.lo);
            let to = self.index_of(section.body.span.hi);
            self.kept[(from + 1).min(to)..to].fill(true);
        }
    }

    fn run(mut self) -> String {
        for index in 0..self.tokens.len() {
            self.comments_before(index);
            self.separate(index);
            self.token(index);
        }
        self.comments_before(self.tokens.len());
        if !self.out.is_empty() && !self.out.ends_with('\n') {
            self.out.push('\n');
        }
        self.out
    }

    /// How many line ends the source has between the last item and `at`.
    fn breaks_before(&self, at: u32) -> usize {
        let Some(last) = self.last else { return 0 };
        let text = self.map.text(Span::new(last, at));
        let feeds = text.bytes().filter(|&b| b == b'\n').count();
        if feeds == 0 { text.bytes().filter(|&b| b == b'\r').count() } else { feeds }
    }

    fn comments_before(&mut self, index: usize) {
        while let Some(&comment) = self.comments.get(self.next_comment).filter(|c| c.before as usize <= index)
        {
            self.next_comment += 1;
            let breaks = self.breaks_before(comment.span.lo);
            let text = self.map.text(comment.span);
            let text = if text.starts_with("/*") { text } else { text.trim_end() };
            if breaks == 0 && self.last.is_some() && !self.must_break {
                if self.column > 0 {
                    self.space(if self.ends_line(comment.span.hi) { 2 } else { 1 });
                }
            } else if self.last.is_some() {
                let indent = self.indent_of(index, true);
                self.new_line(indent, breaks > 1 && !self.after_opening(index));
            }
            self.raw(text);
            self.last = Some(comment.span.hi);
            self.must_break = self.ends_line(comment.span.hi);
        }
    }

    /// Whether a line ends in the source before anything else stands.
    fn ends_line(&self, at: u32) -> bool {
        let file = self.map.file(self.map.file_of(at.saturating_sub(1)));
        let rest = file.text.get((at - file.start) as usize..).unwrap_or("");
        let rest = rest.trim_start_matches([' ', '\t', '\x0b', '\x0c']);
        rest.is_empty() || rest.starts_with(['\n', '\r'])
    }

    fn after_opening(&self, index: usize) -> bool {
        index > 0 && self.groups.last().is_some_and(|g| g.brace) && self.is_opening(index - 1)
    }

    fn is_opening(&self, index: usize) -> bool {
        self.closing[index] as usize > index
    }

    /// Whether an item of the innermost group begins at a token.
    fn item_starts(&self, index: usize) -> bool {
        let Some(before) = index.checked_sub(1).and_then(|i| self.tokens.get(i)) else { return true };
        match self.groups.last() {
            Some(group) => {
                index == group.close || self.is_opening(index - 1) || matches!(before.kind, T::Comma | T::Bar)
            }
            None => self.starts.get(index).is_none_or(|&start| start != Start::Nothing),
        }
    }

    /// The indentation of a line that begins with a token, or with a comment in front of it.
    fn indent_of(&self, index: usize, comment: bool) -> usize {
        match self.groups.last() {
            Some(group) if index == group.close && !comment => group.indent.saturating_sub(INDENT),
            Some(group) if !group.broken => group.indent + INDENT,
            Some(group) if self.item_starts(index) || group.free => group.indent,
            Some(group) => group.indent + INDENT,
            None => match self.starts.get(index) {
                None | Some(Start::Line) => 0,
                Some(Start::Import) => INDENT,
                Some(Start::Nothing) => match self.tokens.get(index).map(|t| t.kind) {
                    Some(T::Word(K::From)) => 2 * INDENT,
                    _ => INDENT,
                },
            },
        }
    }

    /// Puts the white space in front of a token.
    fn separate(&mut self, index: usize) {
        let token = self.tokens[index];
        let breaks = self.breaks_before(token.span.lo);
        let after_comment = index > 0 && self.last.is_some_and(|last| last != self.tokens[index - 1].span.hi);
        if self.last.is_none() {
            return;
        }
        let start = self.starts[index];
        let line = self.must_break
            || start != Start::Nothing
            || (self.kept[index] && breaks > 0)
            || self.group_breaks(index, breaks)
            || self.too_long(index);
        let inline_comment = after_comment && breaks == 0 && !self.must_break;
        if line && !inline_comment {
            let listed = index > 0 && self.tokens[index - 1].kind == T::Word(K::Imports);
            let blank = breaks > 1 && !self.after_opening(index) && !self.closes(index) && !listed
                || start == Start::Line && breaks <= 1 && !after_comment && self.wants_blank(index);
            let indent = self.indent_of(index, false);
            self.new_line(indent, blank);
        } else if after_comment || self.wants_space(index) {
            self.space(1);
        }
        self.must_break = false;
    }

    fn closes(&self, index: usize) -> bool {
        self.groups.last().is_some_and(|g| g.close == index)
    }

    /// A blank line parts an assignment of several lines from the next, and the header from the body.
    fn wants_blank(&self, index: usize) -> bool {
        let Some(before) = index.checked_sub(1).map(|i| self.tokens[i].kind) else { return false };
        let last_line = self.out.rsplit('\n').next().unwrap_or("");
        last_line.trim_start().starts_with('}')
            || matches!(self.tokens[index].kind, T::Word(K::End | K::Imports | K::Exports))
            || before == T::Word(K::Begin)
            || before == T::Semicolon
    }

    fn group_breaks(&self, index: usize, breaks: usize) -> bool {
        let Some(group) = self.groups.last().filter(|g| g.broken) else {
            // In IMPORTS, FROM stands on a line of its own.
            return self.groups.is_empty()
                && self.tokens[index].kind == T::Word(K::From)
                && self.in_imports(index);
        };
        self.item_starts(index) || (group.free && breaks > 0)
    }

    fn in_imports(&self, index: usize) -> bool {
        let line = self.starts[..index].iter().rposition(|&s| s != Start::Nothing);
        line.is_some_and(|at| self.starts[at] == Start::Import)
    }

    /// Whether a list must go on in the next line.
    fn too_long(&self, index: usize) -> bool {
        let breakable = index > 0
            && matches!(self.tokens[index - 1].kind, T::Comma | T::Bar)
            && self.groups.last().is_none_or(|g| !g.broken);
        let width = (self.tokens[index].span.hi - self.tokens[index].span.lo) as usize;
        breakable && self.column + 2 + width > WIDTH
    }

    fn wants_space(&self, index: usize) -> bool {
        let Some(before) = index.checked_sub(1).map(|i| self.tokens[i]) else { return false };
        let token = self.tokens[index];
        let adjacent = before.span.hi == token.span.lo;
        let clash = {
            let a = self.map.text(before.span).chars().next_back().unwrap_or(' ');
            let b = self.map.text(token.span).chars().next().unwrap_or(' ');
            let word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '\u{ad}');
            (word(a) && word(b))
                || matches!((a, b), ('.', '.') | ('[', '[') | (']', ']') | (':', _) | ('/', _) | ('\'', _))
        };
        if clash {
            return !(adjacent || (before.kind == T::Minus && matches!(token.kind, T::Number | T::Real)));
        }
        match (before.kind, token.kind) {
            (_, T::Comma | T::Semicolon | T::CloseParen | T::CloseBracket | T::Dot | T::Range)
            | (T::OpenParen | T::OpenBracket | T::Dot | T::Range | T::At | T::Bang, _) => false,
            (T::Less, _) if adjacent => false,
            (_, T::Less) if self.tokens.get(index + 1).is_some_and(|t| t.kind == T::Range) => false,
            (T::Lower, T::OpenParen) => false,
            (T::CloseParen, T::OpenParen) => false,
            (T::Upper | T::Lower, T::OpenBrace) => !adjacent,
            (T::OpenBrace, T::CloseBrace) => false,
            (T::OpenBrace, T::OpenBrace) | (T::CloseBrace, T::CloseBrace) => !adjacent,
            (T::OpenBrace, _) => self.padded(index - 1),
            (_, T::CloseBrace) => self.closing.get(index).is_none_or(|&open| self.padded(open as usize)),
            (T::CloseBracket, T::OpenBracket) => !adjacent,
            (_, T::Colon) if before.kind == T::Number => !adjacent,
            _ => true,
        }
    }

    /// Whether braces have spaces inside: those of parameters, written close to the name, have none.
    fn padded(&self, open: usize) -> bool {
        let Some(before) = open.checked_sub(1).and_then(|i| self.tokens.get(i)) else { return true };
        !(matches!(before.kind, T::Upper | T::Lower) && before.span.hi == self.tokens[open].span.lo)
    }

    fn token(&mut self, index: usize) {
        let token = self.tokens[index];
        while self.groups.last().is_some_and(|g| g.close == index) {
            self.groups.pop();
        }
        if self.is_opening(index) {
            let group = self.open(index);
            self.groups.push(group);
        }
        let text = self.map.text(token.span);
        self.raw(text);
        self.last = Some(token.span.hi);
    }

    fn open(&self, index: usize) -> Group {
        let close = self.closing[index] as usize;
        let kind = self.tokens[index].kind;
        let brace = kind != T::OpenParen;
        let outer = match self.groups.last() {
            Some(group) if !group.broken => group.indent,
            _ => self.line_indent(),
        };
        let commented = {
            let from = self.comments.partition_point(|c| c.before as usize <= index);
            self.comments.get(from).is_some_and(|c| (c.before as usize) <= close)
        };
        let body = index > 0
            && close > index + 1
            && kind == T::OpenBrace
            && matches!(self.tokens[index - 1].kind, T::Word(K::Sequence | K::Set | K::Choice | K::Class));
        let width = (self.widths[close] - self.widths[index]) as usize;
        let broken = brace && (body || commented || self.column + width > WIDTH);
        let free = broken && kind == T::OpenBrace && !self.has_commas(index, close);
        Group { close, indent: if brace && broken { outer + INDENT } else { outer }, broken, brace, free }
    }

    /// How far the line being written is indented.
    fn line_indent(&self) -> usize {
        let line = self.out.rsplit('\n').next().unwrap_or("");
        line.len() - line.trim_start_matches(' ').len()
    }

    fn has_commas(&self, open: usize, close: usize) -> bool {
        let mut index = open + 1;
        while index < close {
            match self.tokens[index].kind {
                T::Comma | T::Bar => return true,
                _ if self.is_opening(index) => index = self.closing[index] as usize,
                _ => {}
            }
            index += 1;
        }
        false
    }

    // ---- writing ----

    fn raw(&mut self, text: &str) {
        self.out.push_str(text);
        self.column = match text.rfind('\n') {
            Some(at) => text[at + 1..].chars().count(),
            None => self.column + text.chars().count(),
        };
    }

    fn space(&mut self, count: usize) {
        for _ in 0..count {
            self.out.push(' ');
        }
        self.column += count;
    }

    fn new_line(&mut self, indent: usize, blank: bool) {
        while self.out.ends_with(' ') {
            self.out.pop();
        }
        self.out.push('\n');
        if blank {
            self.out.push('\n');
        }
        self.column = 0;
        self.space(indent);
    }
}

/// For each opening bracket the index of its close, for each closing one its opening; zero for the rest.
fn closing(tokens: &[Token]) -> Vec<u32> {
    let mut pairs = vec![0u32; tokens.len()];
    let mut open: Vec<(usize, T)> = Vec::new();
    for (index, token) in tokens.iter().enumerate() {
        let close = match token.kind {
            T::OpenBrace => {
                open.push((index, T::CloseBrace));
                continue;
            }
            T::OpenParen => {
                open.push((index, T::CloseParen));
                continue;
            }
            T::OpenVersion => {
                open.push((index, T::CloseVersion));
                continue;
            }
            T::CloseBrace | T::CloseParen | T::CloseVersion => token.kind,
            _ => continue,
        };
        // Brackets that stand doubled in WITH SYNTAX need not be paired.
        let Some(at) = open.iter().rposition(|&(_, kind)| kind == close) else { continue };
        if close == T::CloseVersion && at + 1 != open.len() {
            continue;
        }
        let first = open[at].0;
        open.truncate(at);
        pairs[first] = index as u32;
        pairs[index] = first as u32;
    }
    pairs
}
