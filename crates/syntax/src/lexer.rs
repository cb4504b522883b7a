//! Text to lexical items (X.680 §12).
//!
//! The lexer never fails: characters that begin no item become one [`TokenKind::Unknown`] for a whole run of them.
//! Comments are kept apart, each with the token it stands before, so that the formatter can put them back.

use crate::diagnostic::{Diagnostic, Severity};
use crate::fix;
use crate::parser::ParseOptions;
use crate::source::{FileId, SourceMap, Span};
use crate::token::{Keyword, Token, TokenKind};

/// A comment with its place (X.680 §12.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comment {
    /// From its first hyphen or slash to its last character, line end excluded.
    pub span: Span,
    /// Index of the token that follows.
    pub before: u32,
}

/// What the lexer made of a text.
#[derive(Clone, Debug, Default)]
pub struct Lexed {
    /// The lexical items in order, without an end marker.
    pub tokens: Vec<Token>,
    /// The comments in order.
    pub comments: Vec<Comment>,
    /// Findings; leniencies are warnings or errors as the options say.
    pub diagnostics: Vec<Diagnostic>,
}

/// Splits a text into lexical items.
pub fn lex(map: &SourceMap, file: FileId, options: &ParseOptions) -> Lexed {
    let file = map.file(file);
    let mut lexer = Lexer {
        text: &file.text,
        bytes: file.text.as_bytes(),
        at: 0,
        start: file.start,
        lenient: options.lenient,
        unclosed_xml: 0,
        asn1_until: 0,
        out: Lexed::default(),
    };
    lexer.prose_at_begin();
    // Real specifications have an item in about every eight octets.
    lexer.out.tokens.reserve(file.text.len() / 8);
    lexer.run();
    lexer.out
}

/// No text needs more findings than this to be known as broken.
const MOST_DIAGNOSTICS: usize = 200;

struct Lexer<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    start: u32,
    lenient: bool,
    unclosed_xml: u32,
    /// Up to where text behind `ASN1STOP` has been looked at and found to be no prose.
    asn1_until: usize,
    out: Lexed,
}

impl Lexer<'_> {
    fn run(&mut self) {
        while let Some(&first) = self.bytes.get(self.at) {
            let from = self.at;
            match first {
                b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c => self.white_space(),
                b'a'..=b'z' => self.name(TokenKind::Lower),
                b'A'..=b'Z' => self.name(TokenKind::Upper),
                b'0'..=b'9' => self.number(),
                b'-' if self.byte(1) == b'-' => self.line_comment(),
                b'/' if self.byte(1) == b'*' => self.block_comment(),
                b'/' if self.byte(1) == b'/' && self.lenient => self.slash_comment(),
                b'"' => self.string(),
                b'\'' => self.bits(),
                b'&' => self.field(),
                b':' if self.byte(1) == b':' && self.byte(2) == b'=' => {
                    self.push(TokenKind::Assign, 3);
                    self.xml();
                }
                b':' if self.lenient
                    && self.byte(1) == b':'
                    && matches!(self.byte(2), b' ' | b'\t')
                    && self.byte(3) == b'=' =>
                {
                    self.lenient("L0105", from, from + 4, "`:: =` is written with a space", "read as `::=`");
                    self.push(TokenKind::Assign, 4);
                }
                b':' if self.lenient && self.byte(1) == b'=' => {
                    self.lenient("L0105", from, from + 2, "`:=` is not an ASN.1 symbol", "read as `::=`");
                    self.push(TokenKind::Assign, 2);
                }
                b'.' if self.byte(1) == b'.' && self.byte(2) == b'.' => self.push(TokenKind::Ellipsis, 3),
                b'.' if self.byte(1) == b'.' => self.push(TokenKind::Range, 2),
                b'[' if self.byte(1) == b'[' => self.push(TokenKind::OpenVersion, 2),
                b']' if self.byte(1) == b']' => self.push(TokenKind::CloseVersion, 2),
                _ => match single(first) {
                    Some(kind) => self.push(kind, 1),
                    None => self.odd(),
                },
            }
        }
        if self.out.diagnostics.len() > MOST_DIAGNOSTICS {
            self.out.diagnostics.truncate(MOST_DIAGNOSTICS);
        }
    }

    /// Specifications are laid out in columns, so that half of their bytes are spaces: eight of them are taken at once.
    fn white_space(&mut self) {
        self.at += 1;
        while let Some(next) = self.bytes[self.at..].first_chunk() {
            let other = u64::from_le_bytes(*next) ^ u64::from_le_bytes([b' '; 8]);
            let spaces = other.trailing_zeros() as usize / 8;
            self.at += spaces;
            if spaces < 8 {
                break;
            }
        }
    }

    fn byte(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn span(&self, from: usize, to: usize) -> Span {
        Span::new(self.start + from as u32, self.start + to as u32)
    }

    fn push(&mut self, kind: TokenKind, length: usize) {
        let span = self.span(self.at, self.at + length);
        self.out.tokens.push(Token { kind, span });
        self.at += length;
    }

    fn lenient(&mut self, code: &'static str, from: usize, to: usize, message: &str, label: &str) {
        if self.out.diagnostics.len() > MOST_DIAGNOSTICS {
            return;
        }
        let span = self.span(from, to);
        let mut diagnostic = Diagnostic::warning(code, span, message).label(label);
        diagnostic.fixes.extend(fix::of_leniency(
            code,
            span,
            self.text.get(from..to).unwrap_or_default(),
            span.lo,
        ));
        if !self.lenient {
            diagnostic.severity = Severity::Error;
        }
        self.out.diagnostics.push(diagnostic);
    }

    fn error(&mut self, code: &'static str, from: usize, to: usize, message: &str) {
        if self.out.diagnostics.len() <= MOST_DIAGNOSTICS {
            self.out.diagnostics.push(Diagnostic::error(code, self.span(from, to), message));
        }
    }

    /// §12.2, §12.3: letters, digits and hyphens; a hyphen is neither last nor doubled.
    fn name(&mut self, kind: TokenKind) {
        let from = self.at;
        let odd = self.skip_name();
        let text = &self.bytes[from..self.at];
        let kind = match kind {
            TokenKind::Upper => Keyword::lookup(text).map_or(TokenKind::Upper, TokenKind::Word),
            other => other,
        };
        self.out.tokens.push(Token { kind, span: self.span(from, self.at) });
        match odd {
            OddName::None => {}
            OddName::Underscore => self.lenient(
                "L0101",
                from,
                self.at,
                "`_` is not allowed in names",
                "taken as part of the name",
            ),
            OddName::Hyphen => self.lenient(
                "L0102",
                from,
                self.at,
                "a soft or typographic hyphen in a name",
                "taken as a hyphen",
            ),
            OddName::Last => {
                self.lenient(
                    "L0103",
                    from,
                    self.at,
                    "a name may not end with a hyphen",
                    "taken as part of the name",
                );
            }
        }
    }

    fn skip_name(&mut self) -> OddName {
        let mut odd = OddName::None;
        loop {
            let rest = &self.bytes[self.at..];
            self.at += rest.iter().position(|&b| !ALPHANUMERIC[b as usize]).unwrap_or(rest.len());
            match self.byte(0) {
                b'-' => match self.byte(1) {
                    b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => self.at += 2,
                    b'_' if self.lenient => self.at += 1,
                    b'-' => break,
                    // `name-` before white space, `(` or `,`.
                    b' ' | b'\t' | b',' | b'\n' | b'\r' | b'(' | b'}' if self.lenient => {
                        self.at += 1;
                        odd = OddName::Last;
                        break;
                    }
                    _ => break,
                },
                b'_' => {
                    self.at += 1;
                    odd = OddName::Underscore;
                }
                0x80.. => match hyphen(self.bytes.get(self.at..).unwrap_or_default()) {
                    Some(length)
                        if self.bytes.get(self.at + length).is_some_and(u8::is_ascii_alphanumeric) =>
                    {
                        self.at += length;
                        odd = OddName::Hyphen;
                    }
                    _ => break,
                },
                _ => break,
            }
        }
        odd
    }

    /// §12.8, §12.9. `1..5` holds no real number; `1.` followed by something else does.
    fn number(&mut self) {
        let from = self.at;
        let mut real = false;
        self.skip_digits();
        if self.byte(0) == b'.' && self.byte(1) != b'.' {
            real = true;
            self.at += 1;
            self.skip_digits();
        }
        if matches!(self.byte(0), b'e' | b'E') {
            let sign = usize::from(matches!(self.byte(1), b'-' | b'+'));
            if self.byte(1 + sign).is_ascii_digit() {
                real = true;
                self.at += 1 + sign;
                self.skip_digits();
            }
        }
        let glued = self.out.tokens.last().is_some_and(|t| t.kind == TokenKind::Assign);
        if self.byte(0).is_ascii_alphabetic() && self.lenient && !real && !glued {
            // `3gpp-thing`: a name that begins with a digit.
            self.skip_name();
            self.out.tokens.push(Token { kind: TokenKind::Lower, span: self.span(from, self.at) });
            self.lenient(
                "L0104",
                from,
                self.at,
                "a name may not begin with a digit",
                "taken as an identifier",
            );
            return;
        }
        let kind = if real { TokenKind::Real } else { TokenKind::Number };
        self.out.tokens.push(Token { kind, span: self.span(from, self.at) });
    }

    fn skip_digits(&mut self) {
        while self.byte(0).is_ascii_digit() {
            self.at += 1;
        }
    }

    /// §12.6.3: up to the next pair of hyphens or the end of the line.
    ///
    /// A row of hyphens is taken at once, four of them being a comment without text. Where one would be left over,
    /// people mean a comment.
    fn line_comment(&mut self) {
        let from = self.at;
        let run = self.bytes[from..].iter().take_while(|&&b| b == b'-').count();
        let mut to = match run % 4 {
            0 if self.lenient && prose_follows(&self.text[from + run..]) => {
                // By the letter the row is a whole comment. Words behind it, as in `---- Section ----`, are no ASN.1.
                let line = line_end(self.bytes, from);
                self.lenient_note(
                    "L0113",
                    from,
                    from + run,
                    "text follows a row of hyphens that closes itself",
                    "taken as part of the comment",
                );
                line
            }
            1 if self.lenient => {
                self.lenient(
                    "L0106",
                    from,
                    from + run,
                    "a row of hyphens leaves one over",
                    "taken as a comment",
                );
                close_comment(self.bytes, from + run)
            }
            0 | 1 => from + run - run % 4,
            left => close_comment(self.bytes, from + run - left + 2),
        };
        if self.stops(from, to) {
            return self.prose(from, to);
        }
        if self.lenient
            && run % 4 != 0
            && self.bytes.get(to) == Some(&b'-')
            && self.bytes.get(to + 1) != Some(&b'-')
        {
            let next = self.bytes.get(to + 1).copied().unwrap_or(b'\n');
            if !next.is_ascii_digit() {
                self.lenient(
                    "L0106",
                    to,
                    to + 1,
                    "a hyphen is left over after a comment",
                    "taken as part of it",
                );
                to += 1;
            }
        }
        self.comment(from, to);
    }

    /// Whether a comment says `ASN1STOP`, as those in documents of 3GPP do behind each part of a module.
    fn stops(&self, from: usize, to: usize) -> bool {
        marker(&self.text[from..to]) == Some("ASN1STOP")
    }

    /// What stands between `-- ASN1STOP` and the next `-- ASN1START` is prose, and belongs to the comment. Text that
    /// assigns something is ASN.1 whatever the marks say.
    fn prose(&mut self, from: usize, to: usize) {
        if to < self.asn1_until {
            return self.comment(from, to);
        }
        let end = start_mark(&self.text[to..]).map_or(self.bytes.len(), |n| to + n);
        let gap = &self.text[to..end];
        if is_prose(gap) {
            let first = to + gap.len() - gap.trim_start().len();
            self.lenient(
                "L0114",
                first,
                line_end(self.bytes, first),
                "text between `-- ASN1STOP` and `-- ASN1START`",
                "ignored",
            );
            return self.comment(from, end);
        }
        self.asn1_until = end;
        self.comment(from, to);
    }

    /// Prose in front of the first `-- ASN1START`.
    fn prose_at_begin(&mut self) {
        let Some(end) = start_mark(self.text) else { return };
        let before = &self.text[..end];
        if !is_prose(before) || before.contains("ASN1STOP") {
            return;
        }
        let first = before.len() - before.trim_start().len();
        let message = "text before the first `-- ASN1START`";
        self.lenient("L0114", first, line_end(self.bytes, first), message, "ignored");
        self.comment(0, end);
    }

    /// A dash that a word processor made of `--`, up to the next one or the end of the line.
    fn dash_comment(&mut self, code: &'static str, from: usize, mark: usize) {
        let end = line_end(self.bytes, from);
        let line = &self.text[from + mark..end];
        let mut to = end;
        for (at, c) in line.char_indices() {
            let rest = &line[at..];
            let dash = is_dash(c) && line[..at].ends_with([' ', '\t']);
            if dash || rest.starts_with("--") {
                let length = if dash { rest.find(|c| !is_dash(c)).unwrap_or(rest.len()) } else { 2 };
                to = from + mark + at + length;
                break;
            }
        }
        self.lenient(code, from, from + mark, "a typographic dash begins a comment", "taken as `--`");
        self.comment(from, to);
    }

    /// Whether a typographic dash is a minus sign: right before a digit, where a value may begin.
    fn is_minus(&self, behind: usize) -> bool {
        use TokenKind::{Assign, Bar, Colon, Comma, Less, OpenBrace, OpenParen, Range, Word};
        self.bytes.get(behind).is_some_and(u8::is_ascii_digit)
            && self.out.tokens.last().is_some_and(|token| {
                matches!(
                    token.kind,
                    OpenParen
                        | OpenBrace
                        | Comma
                        | Range
                        | Less
                        | Bar
                        | Assign
                        | Colon
                        | Word(Keyword::Default)
                )
            })
    }

    /// As `lenient`, with the clause that explains it.
    fn lenient_note(&mut self, code: &'static str, from: usize, to: usize, message: &str, label: &str) {
        let count = self.out.diagnostics.len();
        self.lenient(code, from, to, message, label);
        if let Some(finding) = self.out.diagnostics.get_mut(count) {
            finding.note = Some(CLOSES.into());
        }
    }

    /// §12.6.4: may span lines, and nests.
    fn block_comment(&mut self) {
        let from = self.at;
        let mut depth = 0u32;
        let mut at = from;
        while let Some(n) = memchr::memchr2(b'/', b'*', &self.bytes[at..]) {
            at += n;
            match (self.bytes[at], self.bytes.get(at + 1)) {
                (b'/', Some(b'*')) => {
                    depth += 1;
                    at += 2;
                }
                (b'*', Some(b'/')) => {
                    depth -= 1;
                    at += 2;
                    if depth == 0 {
                        return self.comment(from, at);
                    }
                }
                _ => at += 1,
            }
        }
        self.error("E0001", from, from + 2, "this comment is not closed by `*/`");
        self.comment(from, self.bytes.len());
    }

    fn slash_comment(&mut self) {
        let from = self.at;
        let to = memchr::memchr2(b'\n', b'\r', &self.bytes[from..]).map_or(self.bytes.len(), |n| from + n);
        self.lenient("L0107", from, to, "`//` does not begin a comment in ASN.1", "taken as a comment");
        self.comment(from, to);
    }

    fn comment(&mut self, from: usize, to: usize) {
        self.out.comments.push(Comment { span: self.span(from, to), before: self.out.tokens.len() as u32 });
        self.at = to;
    }

    /// §12.14: a doubled quote stands for one.
    fn string(&mut self) {
        let from = self.at;
        let mut at = from + 1;
        loop {
            match memchr::memchr(b'"', &self.bytes[at..]) {
                Some(n) if self.bytes.get(at + n + 1) == Some(&b'"') => at += n + 2,
                Some(n) => {
                    at += n + 1;
                    break;
                }
                None => {
                    self.error("E0002", from, from + 1, "this character string is not closed");
                    at = self.bytes.len();
                    break;
                }
            }
        }
        self.push(TokenKind::CString, at - from);
    }

    /// §12.10, §12.12. White space is allowed between the digits.
    fn bits(&mut self) {
        let from = self.at;
        if self.lenient && self.doubled_apostrophes() {
            return;
        }
        let body = self.bytes[from + 1..]
            .iter()
            .take_while(|b| b.is_ascii_hexdigit() || b.is_ascii_whitespace())
            .count();
        let close = from + 1 + body;
        let binary =
            self.bytes[from + 1..close].iter().all(|b| matches!(b, b'0' | b'1') || b.is_ascii_whitespace());
        if self.bytes.get(close) != Some(&b'\'') {
            // Up to the apostrophe that people meant, if the line has one.
            let line = self.bytes[from..].iter().take(200).take_while(|b| !matches!(b, b'\n' | b'\r'));
            let length = match line.clone().skip(1).position(|&b| b == b'\'') {
                Some(n) => n + 2 + usize::from(matches!(self.bytes.get(from + n + 2), Some(b'B' | b'H'))),
                None => 1,
            };
            let message = "a binary or hexadecimal string holds digits and is closed by `'B` or `'H`";
            self.error("E0003", from, from + length, message);
            return self.push(TokenKind::Unknown, length);
        }
        let suffix = self.bytes.get(close + 1).copied().unwrap_or(0);
        match suffix {
            b'H' => return self.push(TokenKind::HString, close + 2 - from),
            b'B' if binary => return self.push(TokenKind::BString, close + 2 - from),
            b'h' if self.lenient => {
                self.lenient(
                    "L0108",
                    from,
                    close + 2,
                    "`h` is written for `H`",
                    "taken as a hexadecimal string",
                );
                return self.push(TokenKind::HString, close + 2 - from);
            }
            b'b' if binary && self.lenient => {
                self.lenient("L0108", from, close + 2, "`b` is written for `B`", "taken as a binary string");
                return self.push(TokenKind::BString, close + 2 - from);
            }
            b'B' => self.error("E0004", from, close + 2, "a binary string holds only the digits 0 and 1"),
            _ => self.error("E0003", from, close + 1, "`B` or `H` must follow the closing apostrophe"),
        }
        self.push(TokenKind::Unknown, close + 1 + usize::from(suffix == b'B') - from);
    }

    /// `''0110''B`, which a text program made of quotation marks.
    fn doubled_apostrophes(&mut self) -> bool {
        let from = self.at;
        if self.byte(1) != b'\'' {
            return false;
        }
        let body = self.bytes[from + 2..].iter().take_while(|b| b.is_ascii_hexdigit()).count();
        let close = from + 2 + body;
        let kind = match self.bytes.get(close..close + 3) {
            Some(b"''H") if body > 0 => TokenKind::HString,
            Some(b"''B") if body > 0 => TokenKind::BString,
            _ => return false,
        };
        self.lenient("L0108", from, close + 3, "apostrophes are doubled", "read as one");
        self.push(kind, close + 3 - from);
        true
    }

    /// X.681 §7.1–7.6.
    fn field(&mut self) {
        let from = self.at;
        self.at += 1;
        let kind = match self.byte(0) {
            b'A'..=b'Z' => TokenKind::UpperField,
            b'a'..=b'z' => TokenKind::LowerField,
            _ => {
                self.at = from;
                self.error("E0005", from, from + 1, "`&` must be followed by a name");
                return self.push(TokenKind::Unknown, 1);
            }
        };
        if self.skip_name() == OddName::Underscore {
            self.lenient("L0101", from, self.at, "`_` is not allowed in names", "taken as part of the name");
        }
        self.out.tokens.push(Token { kind, span: self.span(from, self.at) });
    }

    /// XMLValueAssignment (X.680 §16.3): nothing else begins with `<` behind `::=`, so the element is one item.
    fn xml(&mut self) {
        // A text in which this often nothing closes holds no XML.
        if self.unclosed_xml > 8 {
            return;
        }
        let mut at = self.at;
        while self.bytes.get(at).is_some_and(u8::is_ascii_whitespace) {
            at += 1;
        }
        if self.bytes.get(at) != Some(&b'<')
            || !self
                .bytes
                .get(at + 1)
                .is_some_and(|b| b.is_ascii_alphabetic() || matches!(b, b'_' | b'&' | b'!' | b'?'))
        {
            return;
        }
        let from = at;
        let mut depth = 0usize;
        while let Some(n) = memchr::memchr(b'<', &self.bytes[at..]) {
            at += n;
            let Some(length) = memchr::memchr(b'>', &self.bytes[at..]) else { break };
            let tag = &self.bytes[at..=at + length];
            at += length + 1;
            match tag {
                [b'<', b'!' | b'?', ..] | [.., b'/', b'>'] => {}
                [b'<', b'/', ..] => depth = depth.saturating_sub(1),
                _ => depth += 1,
            }
            if depth == 0 {
                self.at = from;
                return self.push(TokenKind::Xml, at - from);
            }
        }
        self.unclosed_xml += 1;
        self.error("E0006", from, from + 1, "this XML value is not closed");
    }

    /// Characters that begin no item. Typography that a word processor put in is understood.
    fn odd(&mut self) {
        let from = self.at;
        let Some(first) = self.text.get(from..).and_then(|rest| rest.chars().next()) else {
            self.at += 1;
            return;
        };
        let length = first.len_utf8();
        match first {
            '\u{a0}'
            | '\u{ad}'
            | '\u{2000}'..='\u{200f}'
            | '\u{2028}'
            | '\u{2029}'
            | '\u{202f}'
            | '\u{3000}'
            | '\u{feff}'
            | '\u{1a}'
            | '\0'
            | '\u{85}' => {
                self.lenient(
                    "L0109",
                    from,
                    from + length,
                    "an unusual space or control character",
                    "taken as a space",
                );
                self.at += length;
            }
            '\u{2026}' => {
                self.lenient(
                    "L0110",
                    from,
                    from + length,
                    "`…` is written for `...`",
                    "taken as an ellipsis",
                );
                self.push(TokenKind::Ellipsis, length);
            }
            '\u{2010}'..='\u{2014}' if hyphen(&self.bytes[from + length..]).is_some() => {
                let run = self.text[from..].find(|c| !is_dash(c) && c != '\u{ad}');
                self.dash_comment("L0102", from, run.unwrap_or(length));
            }
            '\u{2013}'..='\u{2015}' if self.lenient && !self.is_minus(from + length) => {
                self.dash_comment("L0112", from, length);
            }
            '\u{2010}'..='\u{2015}' | '\u{2212}' => {
                self.lenient("L0102", from, from + length, "a typographic hyphen", "taken as a hyphen");
                self.push(TokenKind::Minus, length);
            }
            '\u{201c}' | '\u{201d}' if self.lenient => {
                let rest = &self.text[from + length..];
                // Strings are short; a line of nothing but quotes must not be searched for each.
                let mut near = rest.char_indices().take(400);
                let close =
                    near.find(|(_, c)| matches!(c, '\u{201d}' | '"' | '\n')).map(|(n, _)| from + length + n);
                let close_char = close.and_then(|at| self.text[at..].chars().next());
                match (close, close_char) {
                    (Some(at), Some(c)) if c != '\n' => {
                        let to = at + c.len_utf8();
                        self.lenient("L0111", from, to, "typographic quotes", "taken as a character string");
                        self.push(TokenKind::CString, to - from);
                    }
                    _ => self.unknown(from),
                }
            }
            _ => self.unknown(from),
        }
    }

    /// One item for a whole run, so that binary data gives one finding a line rather than one an octet.
    fn unknown(&mut self, from: usize) {
        let mut to = from;
        for c in self.text[from..].chars() {
            if to > from && (c.is_ascii() && !c.is_ascii_control() || c.is_whitespace()) {
                break;
            }
            to += c.len_utf8();
        }
        self.error("E0007", from, to, "ASN.1 has no use for these characters here");
        self.push(TokenKind::Unknown, to - from);
    }
}

/// Why text behind a pair of hyphens is not part of the comment.
pub(crate) const CLOSES: &str = "X.680 §12.6.3: `--` ends a comment too, not only the end of the line";

fn line_end(bytes: &[u8], from: usize) -> usize {
    memchr::memchr2(b'\n', b'\r', &bytes[from..]).map_or(bytes.len(), |n| from + n)
}

const fn is_dash(c: char) -> bool {
    matches!(c, '\u{2010}'..='\u{2015}')
}

/// Whether words follow on the line, and nothing that looks like ASN.1.
fn prose_follows(text: &str) -> bool {
    let line = text.lines().next().unwrap_or("").trim();
    if text.starts_with(['\n', '\r']) || !line.starts_with(|c: char| c.is_alphabetic() || c == '*') {
        return false;
    }
    // A row at the end closes a heading, whatever it says.
    line.ends_with("--")
        || !(line.contains(['{', '}', ',', '[', ']', '|', ';'])
            || line.contains("::=")
            || line.split(' ').any(|word| Keyword::lookup(word.as_bytes()).is_some()))
}

/// The word of a comment that marks a part of a document as ASN.1, or the end of such a part.
fn marker(comment: &str) -> Option<&str> {
    let word = comment.trim_start_matches('-').trim_start();
    if !word.starts_with("ASN1") {
        return None;
    }
    let word = word.trim_end_matches('-').trim_end();
    matches!(word, "ASN1START" | "ASN1STOP").then_some(word)
}

/// Where the line of the next `-- ASN1START` begins.
fn start_mark(text: &str) -> Option<usize> {
    let mut from = 0;
    while let Some(n) = memchr::memmem::find(&text.as_bytes()[from..], b"ASN1START") {
        let at = from + n;
        let line = text[..at].rfind(['\n', '\r']).map_or(0, |end| end + 1);
        let end = line_end(text.as_bytes(), at);
        if text[line..].trim_start().starts_with("--") && marker(text[line..end].trim()) == Some("ASN1START")
        {
            return Some(line);
        }
        from = at + 1;
    }
    None
}

/// Whether text between parts of a module is for people: there is some, and it assigns and ends nothing.
fn is_prose(text: &str) -> bool {
    if text.contains("::=") {
        return false;
    }
    let mut words = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("--"));
    words.clone().next().is_some() && !words.any(|line| line == "END" || line.starts_with("END "))
}

/// The letters and digits: 1.6 MB of specification take 6 million instructions less than by comparisons.
static ALPHANUMERIC: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = (byte as u8).is_ascii_alphanumeric();
        byte += 1;
    }
    table
};

#[derive(PartialEq, Eq)]
enum OddName {
    None,
    Underscore,
    Hyphen,
    Last,
}

/// The end of a comment whose text begins at `from`: behind `--`, or before what ends the line (§12.1.6).
fn close_comment(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    let end = loop {
        match memchr::memchr3(b'-', b'\n', b'\r', &bytes[at..]) {
            None => break bytes.len(),
            Some(n) if bytes[at + n] != b'-' => break at + n,
            Some(n) if bytes.get(at + n + 1) == Some(&b'-') => break at + n + 2,
            Some(n) => at += n + 1,
        }
    };
    memchr::memchr2(0x0b, 0x0c, &bytes[from..end]).map_or(end, |n| from + n)
}

/// The length of a soft hyphen or dash at the start, whose UTF-8 forms are C2 AD and E2 80 90 to 94.
fn hyphen(bytes: &[u8]) -> Option<usize> {
    match bytes {
        [0xc2, 0xad, ..] => Some(2),
        [0xe2, 0x80, 0x90..=0x94, ..] => Some(3),
        _ => None,
    }
}

fn single(byte: u8) -> Option<TokenKind> {
    Some(match byte {
        b'{' => TokenKind::OpenBrace,
        b'}' => TokenKind::CloseBrace,
        b'(' => TokenKind::OpenParen,
        b')' => TokenKind::CloseParen,
        b'[' => TokenKind::OpenBracket,
        b']' => TokenKind::CloseBracket,
        b'<' => TokenKind::Less,
        b'>' => TokenKind::Greater,
        b',' => TokenKind::Comma,
        b'.' => TokenKind::Dot,
        b'-' => TokenKind::Minus,
        b':' => TokenKind::Colon,
        b'=' => TokenKind::Equal,
        b';' => TokenKind::Semicolon,
        b'@' => TokenKind::At,
        b'|' => TokenKind::Bar,
        b'!' => TokenKind::Bang,
        b'^' => TokenKind::Caret,
        b'*' => TokenKind::Star,
        b'/' => TokenKind::Slash,
        _ => return None,
    })
}
