//! Modules (X.680 §13): header, exports, imports and the run of assignments.

use crate::ast::{Ident, Import, Module, Selection, TagDefault};
use crate::diagnostic::{Diagnostic, Severity};
use crate::lexer::{CLOSES, Lexed};
use crate::parser::{ParseOptions, Parsed, Parser};
use crate::source::Span;
use crate::token::{Keyword as K, TokenKind as T};
use smol_str::SmolStr;
use std::ops::Range;

/// Reserved words that came with later editions; older specifications define types of these names.
const LATER_WORDS: [K; 14] = [
    K::Date,
    K::DateTime,
    K::Time,
    K::TimeOfDay,
    K::Duration,
    K::Settings,
    K::Pattern,
    K::Instructions,
    K::Pdv,
    K::Class,
    K::Instance,
    K::Component,
    K::Unique,
    K::Character,
];

/// Makes a name of each later reserved word that the file itself defines as a type.
pub(crate) fn demote_redefined(source: &str, start: u32, options: &ParseOptions, lexed: &mut Lexed) {
    let mut found = Vec::new();
    for (index, pair) in lexed.tokens.windows(2).enumerate() {
        let (T::Word(word), T::Assign) = (pair[0].kind, pair[1].kind) else { continue };
        let line_starts = index == 0 || {
            let between = lexed.tokens[index - 1].span.hi..lexed.tokens[index].span.lo;
            let between = (between.start - start) as usize..(between.end - start) as usize;
            lexed.tokens[index - 1].kind != T::Lower
                && source.get(between).is_some_and(|s| s.contains(['\n', '\r']))
        };
        if LATER_WORDS.contains(&word) && line_starts && !found.contains(&word) {
            let message = format!("`{}` is a reserved word", word.text());
            let mut diagnostic = Diagnostic::warning("L0303", pair[0].span, message)
                .label("taken as the name of a type in this file");
            if !options.lenient {
                diagnostic.severity = Severity::Error;
            }
            lexed.diagnostics.push(diagnostic);
            found.push(word);
        }
    }
    if !found.is_empty() && options.lenient {
        for token in &mut lexed.tokens {
            if matches!(token.kind, T::Word(word) if found.contains(&word)) {
                token.kind = T::Upper;
            }
        }
    }
}

impl Parser<'_> {
    /// Every module of the file, with the range of its tokens.
    pub(crate) fn modules(&mut self, file_name: &str) -> Vec<(Module, Range<usize>)> {
        let mut modules = Vec::new();
        while self.peek() != T::End {
            match self.find_header() {
                Some(header) => {
                    if header > self.pos {
                        let span = self.span();
                        self.lenient(
                            "L0304",
                            span,
                            "text before the module",
                            "ignored up to the module's name",
                        );
                        self.pos = header;
                    }
                    let first = self.pos;
                    modules.push((self.module_definition(), first..self.pos));
                }
                None if modules.is_empty() => {
                    let first = self.pos;
                    let module = self.module_without_header(file_name);
                    modules.extend(module.map(|module| (module, first..self.pos)));
                }
                None => {
                    let span = self.span();
                    if self.at_word(K::End) && self.peek_at(1) == T::End {
                        self.lenient("L0305", span, "`END` is given twice", "ignored");
                    } else {
                        self.lenient(
                            "L0305",
                            span,
                            "text follows the module's `END`",
                            "ignored to the end of the file",
                        );
                    }
                    self.pos = self.end;
                }
            }
        }
        modules
    }

    /// The index of the next module's name: before DEFINITIONS, an IRI and a definitive identifier.
    fn find_header(&self) -> Option<usize> {
        let mut at = self.pos;
        loop {
            match self.kind_at(at) {
                T::Word(K::Definitions) => break,
                T::Assign | T::End => return None,
                _ => at += 1,
            }
        }
        let mut name = at;
        if name > self.pos && self.kind_at(name - 1) == T::CString {
            name -= 1;
        }
        if name > self.pos && self.kind_at(name - 1) == T::CloseBrace {
            let mut depth = 0usize;
            while name > self.pos {
                name -= 1;
                match self.kind_at(name) {
                    T::CloseBrace => depth += 1,
                    T::OpenBrace => depth -= 1,
                    _ => {}
                }
                if depth == 0 {
                    break;
                }
            }
        }
        Some(if name > self.pos { name - 1 } else { name })
    }

    /// ModuleDefinition (§13.1).
    fn module_definition(&mut self) -> Module {
        self.base = self.pos;
        let from = self.span();
        let mut module = Module {
            name: Ident { text: SmolStr::default(), span: from },
            oid: None,
            tags: TagDefault::Explicit,
            extensibility_implied: false,
            encoding_reference: None,
            exports: None,
            imports: Vec::new(),
            assignments: Vec::new(),
            encoding_control: Vec::new(),
            tokens: Vec::new(),
            span: from,
        };
        if let Err(error) = self.module_header(&mut module) {
            self.diagnostics.push(*error);
            self.skip_to_body();
        }
        self.encoding_default = module.encoding_reference.as_ref().is_some_and(|r| r.text != "TAG");
        self.module_body(&mut module);
        if !self.eat_word(K::End) {
            let span = self.span();
            self.lenient(
                "L0302",
                span,
                format!("`END` of module `{}` is missing", module.name.text),
                "assumed here",
            );
        }
        module.span = self.since(from);
        module
    }

    /// ModuleIdentifier DEFINITIONS … `::=` BEGIN.
    fn module_header(&mut self, module: &mut Module) -> Parsed<()> {
        match self.peek() {
            T::Upper => module.name = self.take_ident(),
            T::Lower | T::Word(_) if !self.at_word(K::Definitions) => {
                module.name = self.take_ident();
                self.lenient(
                    "L0306",
                    module.name.span,
                    "a module's name begins with a capital letter",
                    "accepted",
                );
            }
            _ => return Err(self.expected("the module's name")),
        }
        if self.peek() == T::OpenBrace {
            module.oid = Some(self.braced()?);
        }
        self.eat(T::CString);
        self.expect_word(K::Definitions)?;
        loop {
            match self.peek() {
                T::Upper if self.peek_at(1) == T::Word(K::Instructions) => {
                    module.encoding_reference = Some(self.take_ident());
                    self.bump();
                }
                T::Word(word @ (K::Explicit | K::Implicit | K::Automatic)) => {
                    module.tags = match word {
                        K::Implicit => TagDefault::Implicit,
                        K::Automatic => TagDefault::Automatic,
                        _ => TagDefault::Explicit,
                    };
                    self.bump();
                    if self.text() == "TAG" {
                        let span = self.span();
                        self.lenient("L0204", span, "`TAG` is written for `TAGS`", "read as `TAGS`");
                        self.bump();
                    } else {
                        self.expect_word(K::Tags)?;
                    }
                }
                T::Word(K::Extensibility) => {
                    self.bump();
                    self.expect_word(K::Implied)?;
                    module.extensibility_implied = true;
                }
                _ => break,
            }
        }
        let span = self.span();
        if !self.eat(T::Assign) {
            if !self.at_word(K::Begin) {
                return Err(self.expected("`::=`"));
            }
            self.lenient("L0307", span, "`::=` is missing before `BEGIN`", "assumed here");
        }
        let span = self.span();
        if !self.eat_word(K::Begin) {
            self.lenient("L0307", span, "`BEGIN` is missing", "assumed here");
        }
        Ok(())
    }

    fn skip_to_body(&mut self) {
        while !matches!(self.peek(), T::End | T::Word(K::Begin | K::End)) {
            self.bump();
        }
        self.eat_word(K::Begin);
    }

    /// A vendor's list of assignments with neither header nor END.
    fn module_without_header(&mut self, file_name: &str) -> Option<Module> {
        let from = self.span();
        let first = self.pos;
        if !(first..self.end).any(|i| self.kind_at(i) == T::Assign) {
            let message = "no module and no assignment is found in this text";
            self.diagnostics.push(Diagnostic::error("E0104", from, message));
            self.pos = self.end;
            return None;
        }
        let name = name_of_file(file_name);
        let mut module = Module {
            name: Ident { text: name.clone(), span: Span::new(from.lo, from.lo) },
            oid: None,
            tags: TagDefault::Explicit,
            extensibility_implied: false,
            encoding_reference: None,
            exports: None,
            imports: Vec::new(),
            assignments: Vec::new(),
            encoding_control: Vec::new(),
            tokens: Vec::new(),
            span: from,
        };
        self.base = first;
        self.lenient(
            "L0301",
            from,
            "the assignments have no module header",
            &format!("taken as module `{name}`"),
        );
        self.eat_word(K::Begin);
        self.module_body(&mut module);
        self.eat_word(K::End);
        module.span = self.since(from);
        Some(module)
    }

    /// ModuleBody (§13.1).
    fn module_body(&mut self, module: &mut Module) {
        loop {
            let at = self.pos;
            let result = match self.peek() {
                T::End | T::Word(K::End) => break,
                T::Word(K::Exports) => self.exports().map(|symbols| module.exports = symbols),
                T::Word(K::Imports) => self.imports(&mut module.imports),
                T::Word(K::EncodingControl) => {
                    self.encoding_control(module);
                    Ok(())
                }
                T::Semicolon => {
                    let span = self.span();
                    self.bump();
                    self.lenient("L0308", span, "a semicolon between assignments", "ignored");
                    Ok(())
                }
                T::Comma => {
                    let span = self.span();
                    self.bump();
                    self.lenient("L0308", span, "a comma between assignments", "ignored");
                    Ok(())
                }
                _ if self.at_module_header() => break,
                _ => self.assignment().map(|assignment| module.assignments.extend(assignment)),
            };
            if let Err(error) = result {
                let mut error = *error;
                if error.note.is_none() && self.follows_comment(at) {
                    error = error.also(self.span_at(at), "not part of the comment").note(CLOSES);
                }
                self.diagnostics.push(error);
                self.depth = 0;
                self.pos = self.pos.max(at);
                self.recover(at);
            }
        }
    }

    fn at_module_header(&self) -> bool {
        if !matches!(self.peek(), T::Upper | T::Lower) {
            return false;
        }
        match self.peek_at(1) {
            T::Word(K::Definitions) => true,
            T::OpenBrace if self.starts_line(self.pos) => {
                // A definitive identifier has few components.
                let close =
                    (self.pos + 1..self.end.min(self.pos + 80)).find(|&i| self.kind_at(i) == T::CloseBrace);
                close.is_some_and(|i| {
                    let next = if self.kind_at(i + 1) == T::CString { i + 2 } else { i + 1 };
                    self.kind_at(next) == T::Word(K::Definitions)
                })
            }
            _ => false,
        }
    }

    /// Exports (§13.1): `None` for ALL.
    fn exports(&mut self) -> Parsed<Option<Vec<Ident>>> {
        self.bump();
        if self.eat_word(K::All) {
            self.end_of_list();
            return Ok(None);
        }
        let mut symbols = Vec::new();
        while let T::Upper | T::Lower | T::Word(_) = self.peek() {
            if self.at_word(K::Imports) || self.at_word(K::End) || self.kind_at(self.pos + 1) == T::Assign {
                break;
            }
            symbols.push(self.symbol()?);
            let span = self.span();
            if self.eat(T::Comma) {
                if self.peek() == T::Semicolon {
                    self.lenient("L0203", span, "a comma before the end of the list", "ignored");
                }
            } else {
                break;
            }
        }
        self.end_of_list();
        Ok(Some(symbols))
    }

    fn end_of_list(&mut self) {
        let span = self.span();
        if !self.eat(T::Semicolon) {
            self.lenient("L0309", span, "`;` is missing after the list of symbols", "assumed here");
        }
    }

    /// Symbol (§13.1): a reference, with `{}` when parameterized. Names of macros may be reserved words today.
    fn symbol(&mut self) -> Parsed<Ident> {
        let ident = match self.peek() {
            T::Upper | T::Lower | T::Word(_) => self.take_ident(),
            _ => return Err(self.expected("a symbol")),
        };
        if self.peek() == T::OpenBrace {
            self.bump();
            self.expect(T::CloseBrace)?;
        }
        Ok(ident)
    }

    /// Imports (§13.1).
    fn imports(&mut self, imports: &mut Vec<Import>) -> Parsed<()> {
        self.bump();
        loop {
            let from = self.span();
            match self.peek() {
                T::Semicolon => {
                    self.bump();
                    return Ok(());
                }
                T::Upper | T::Lower | T::Word(_)
                    if !self.at_word(K::End) && !self.assignment_head(self.pos) => {}
                _ => {
                    self.end_of_list();
                    return Ok(());
                }
            }
            let mut symbols = Vec::new();
            loop {
                if self.at_from() {
                    break;
                }
                symbols.push(self.symbol()?);
                let span = self.span();
                if self.eat(T::Comma) {
                    if self.at_from() || self.peek() == T::Comma {
                        while self.eat(T::Comma) {}
                        self.lenient("L0203", span, "a comma before the end of the list", "ignored");
                    }
                } else if !self.at_from() {
                    if self.options.lenient && matches!(self.peek(), T::Upper | T::Lower) {
                        self.lenient("L0201", span, "a comma is missing", "assumed before this symbol");
                    } else {
                        return Err(self.expected("`,` or `FROM`"));
                    }
                }
            }
            imports.push(self.import_source(symbols, from)?);
            let span = self.span();
            if self.eat(T::Comma) {
                self.lenient("L0308", span, "a comma after the module's name", "ignored");
            }
        }
    }

    fn at_from(&self) -> bool {
        self.at_word(K::From) || (self.options.lenient && self.peek() == T::Upper && self.text() == "From")
    }

    /// `FROM` GlobalModuleReference SelectionOption.
    fn import_source(&mut self, symbols: Vec<Ident>, from: Span) -> Parsed<Import> {
        self.word_any_case(K::From)?;
        let module = match self.peek() {
            T::Upper => self.take_ident(),
            T::Lower | T::Word(_) if self.options.lenient && !self.at_word(K::From) => {
                let module = self.take_ident();
                self.lenient(
                    "L0306",
                    module.span,
                    "a module's name begins with a capital letter",
                    "accepted",
                );
                module
            }
            _ => return Err(self.expected("the module's name")),
        };
        let first = self.pos;
        let oid = match self.peek() {
            T::OpenBrace => Some(self.braced()?),
            // A value reference is followed by neither what continues a list of symbols nor what begins an assignment.
            T::Lower
                if !matches!(self.peek_at(1), T::Comma | T::Word(K::From) | T::OpenBrace)
                    && !self.assignment_head(self.pos) =>
            {
                self.bump();
                Some(self.taken_since(first))
            }
            T::Upper if self.peek_at(1) == T::Dot && self.peek_at(2) == T::Lower => {
                self.pos += 3;
                Some(self.taken_since(first))
            }
            _ => None,
        };
        let selection = match self.text_at(self.pos + 1) {
            "SUCCESSORS" if self.at_word(K::With) => Some(Selection::Successors),
            "DESCENDANTS" if self.at_word(K::With) => Some(Selection::Descendants),
            _ => None,
        };
        if selection.is_some() {
            self.pos += 2;
        }
        Ok(Import { symbols, module, oid, selection, span: self.since(from) })
    }

    /// EncodingControlSections (X.680 §54): kept unread for X.693 and its like.
    fn encoding_control(&mut self, module: &mut Module) {
        let from = self.span();
        let first = self.pos;
        self.bump();
        let reference = self.take_ident();
        while !matches!(self.peek(), T::End | T::Word(K::End | K::EncodingControl)) {
            self.bump();
        }
        let body = self.taken_since(first);
        let message =
            format!("the encoding instructions of `ENCODING-CONTROL {}` are kept unread", reference.text);
        if !matches!(reference.text.as_str(), "XER" | "JER") {
            self.diagnostics.push(Diagnostic::warning("W0107", from.to(reference.span), message));
        }
        module.encoding_control.push(crate::ast::EncodingControl { reference, body });
    }
}

/// A module reference from a file's name.
fn name_of_file(file: &str) -> SmolStr {
    let stem = file.rsplit(['/', '\\']).next().unwrap_or(file);
    let stem = stem.rsplit_once('.').map_or(stem, |(stem, _)| stem);
    let mut name = String::new();
    for c in stem.chars() {
        match c {
            c if c.is_ascii_alphanumeric() && name.is_empty() => {
                if c.is_ascii_digit() {
                    name.push_str("Module-");
                }
                name.push(c.to_ascii_uppercase());
            }
            c if c.is_ascii_alphanumeric() => name.push(c),
            _ if !name.is_empty() && !name.ends_with('-') => name.push('-'),
            _ => {}
        }
    }
    let name = name.trim_end_matches('-');
    SmolStr::new(if name.is_empty() { "Module" } else { name })
}
