//! The structure of a JSON text (RFC 8259): one flat array of tokens that know where their value ends.
//!
//! The whole text is checked here, without recursion, so that the reader by schema meets well-formed values only and
//! can look at the members of an object in any order. Numbers and strings stay text, hence exact.

use crate::read_error::{ReadError, TOO_DEEP, levels};
use std::borrow::Cow;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    Null,
    False,
    True,
    Number,
    String,
    Array,
    Object,
}

/// A value, or the name of a member, whose value is the next token.
#[derive(Clone, Copy, Debug)]
struct Token {
    what: Type,
    /// Whether a string has escapes.
    escaped: bool,
    /// Where it begins; behind the quotation mark of a string.
    begin: u32,
    /// Where it ends; before the quotation mark of a string.
    end: u32,
    /// Index of the token behind this value.
    next: u32,
}

/// A checked JSON text.
#[derive(Debug)]
pub(super) struct Document<'t> {
    pub(super) text: &'t [u8],
    tokens: Vec<Token>,
}

impl<'t> Document<'t> {
    pub(super) fn parse(text: &'t [u8], depth: u16) -> Result<Self, ReadError> {
        if let Err(error) = str::from_utf8(text) {
            return Err(ReadError::new(text, error.valid_up_to(), "the text is not UTF-8"));
        }
        if u32::try_from(text.len()).is_err() {
            return Err(ReadError::new(text, 0, "the text has 4 GiB or more"));
        }
        let mut scanner = Scanner { text, at: 0, tokens: Vec::new() };
        scanner.document(depth)?;
        Ok(Self { text, tokens: scanner.tokens })
    }

    /// The number of tokens.
    pub(super) fn len(&self) -> usize {
        self.tokens.len()
    }

    pub(super) fn what(&self, at: usize) -> Type {
        self.tokens.get(at).map_or(Type::Null, |t| t.what)
    }

    /// The token behind the value at `at`.
    pub(super) fn next(&self, at: usize) -> usize {
        self.tokens.get(at).map_or(at + 1, |t| t.next as usize)
    }

    /// The offset of a token's first octet.
    pub(super) fn offset(&self, at: usize) -> usize {
        self.tokens
            .get(at)
            .map_or(self.text.len(), |t| t.begin as usize - usize::from(t.what == Type::String))
    }

    /// The offset after the last octet of a value.
    pub(super) fn end(&self, at: usize) -> usize {
        self.tokens.get(at).map_or(self.text.len(), |t| t.end as usize + usize::from(t.what == Type::String))
    }

    /// Returns whether a token is the name of a member, which a colon follows.
    pub(super) fn is_name(&self, at: usize) -> bool {
        let behind = self.text.get(self.end(at)..).unwrap_or_default();
        self.what(at) == Type::String && behind.trim_ascii_start().first() == Some(&b':')
    }

    /// The characters of a number as they stand there.
    pub(super) fn raw(&self, at: usize) -> &'t str {
        let octets = self.tokens.get(at).and_then(|t| self.text.get(t.begin as usize..t.end as usize));
        str::from_utf8(octets.unwrap_or_default()).unwrap_or_default()
    }

    /// The characters of a string.
    pub(super) fn string(&self, at: usize) -> Cow<'t, str> {
        let raw = self.raw(at);
        if self.tokens.get(at).is_some_and(|t| t.escaped) {
            Cow::Owned(unescape(raw))
        } else {
            Cow::Borrowed(raw)
        }
    }

    /// The elements of an array.
    pub(super) fn elements(&self, at: usize) -> impl Iterator<Item = usize> + '_ {
        let end = self.next(at);
        std::iter::successors(Some(at + 1), move |at| Some(self.next(*at))).take_while(move |at| *at < end)
    }

    /// The members of an object: tokens of name and value.
    pub(super) fn members(&self, at: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
        let end = self.next(at);
        std::iter::successors(Some(at + 1), move |at| Some(self.next(*at + 1)))
            .take_while(move |at| *at < end)
            .map(|at| (at, at + 1))
    }

    pub(super) fn error(&self, at: usize, message: impl Into<String>) -> ReadError {
        ReadError::new(self.text, self.offset(at), message)
    }
}

struct Scanner<'t> {
    text: &'t [u8],
    at: usize,
    tokens: Vec<Token>,
}

impl Scanner<'_> {
    fn document(&mut self, depth: u16) -> Result<(), ReadError> {
        // The tokens of the arrays and objects that are open.
        let mut open: Vec<usize> = Vec::new();
        loop {
            let container = self.value()?;
            if let Some(container) = container {
                if open.len() >= usize::from(levels(depth)) {
                    return Err(ReadError::new(self.text, self.at - 1, TOO_DEEP));
                }
                open.push(container);
                if !self.first_of(container)? {
                    continue;
                }
                open.pop();
            }
            // Behind a value: close what ends here, or go on to the next item.
            loop {
                let Some(&container) = open.last() else {
                    return if self.peek().is_some() {
                        Err(self.fail("text after the value"))
                    } else {
                        Ok(())
                    };
                };
                if !self.next_of(container)? {
                    break;
                }
                open.pop();
            }
        }
    }

    /// Goes to the first item; whether there is none.
    fn first_of(&mut self, container: usize) -> Result<bool, ReadError> {
        let object = self.is_object(container);
        match self.peek() {
            Some(b'}') if object => Ok(self.end(container)),
            Some(b']') if !object => Ok(self.end(container)),
            _ => self.key(object).map(|()| false),
        }
    }

    /// Goes to the next item; whether there is none.
    fn next_of(&mut self, container: usize) -> Result<bool, ReadError> {
        let object = self.is_object(container);
        match self.peek() {
            Some(b',') => {
                self.at += 1;
                self.key(object).map(|()| false)
            }
            Some(b'}') if object => Ok(self.end(container)),
            Some(b']') if !object => Ok(self.end(container)),
            _ => Err(self.fail(if object { "`,` or `}` expected" } else { "`,` or `]` expected" })),
        }
    }

    fn is_object(&self, container: usize) -> bool {
        self.tokens.get(container).is_some_and(|t| t.what == Type::Object)
    }

    fn end(&mut self, container: usize) -> bool {
        self.at += 1;
        let next = self.tokens.len() as u32;
        if let Some(token) = self.tokens.get_mut(container) {
            token.end = self.at as u32;
            token.next = next;
        }
        true
    }

    fn key(&mut self, object: bool) -> Result<(), ReadError> {
        if !object {
            return Ok(());
        }
        if self.peek() != Some(b'"') {
            return Err(self.fail("the name of a member expected, in double quotation marks"));
        }
        self.string()?;
        if self.peek() != Some(b':') {
            return Err(self.fail("`:` expected"));
        }
        self.at += 1;
        Ok(())
    }

    /// The next octet that is no white space.
    fn peek(&mut self) -> Option<u8> {
        while let Some(octet) = self.text.get(self.at) {
            if !matches!(octet, b' ' | b'\t' | b'\n' | b'\r') {
                return Some(*octet);
            }
            self.at += 1;
        }
        None
    }

    /// Reads a scalar, or the first character of a container and gives its token.
    fn value(&mut self) -> Result<Option<usize>, ReadError> {
        let first = self.peek();
        match first {
            Some(b'{' | b'[') => {
                let what = if first == Some(b'{') { Type::Object } else { Type::Array };
                self.push(what, self.at, self.at + 1, false);
                self.at += 1;
                return Ok(Some(self.tokens.len() - 1));
            }
            Some(b'"') => self.string()?,
            Some(b'-' | b'0'..=b'9') => self.number()?,
            Some(b't') => self.word("true", Type::True)?,
            Some(b'f') => self.word("false", Type::False)?,
            Some(b'n') => self.word("null", Type::Null)?,
            Some(_) => return Err(self.fail("a value expected")),
            None => return Err(self.fail("a value expected, but the text ends")),
        }
        Ok(None)
    }

    fn push(&mut self, what: Type, begin: usize, end: usize, escaped: bool) {
        let next = self.tokens.len() as u32 + 1;
        self.tokens.push(Token { what, escaped, begin: begin as u32, end: end as u32, next });
    }

    fn word(&mut self, word: &str, what: Type) -> Result<(), ReadError> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        if !rest.starts_with(word.as_bytes()) {
            return Err(self.fail("a value expected"));
        }
        self.push(what, self.at, self.at + word.len(), false);
        self.at += word.len();
        Ok(())
    }

    fn digits(&mut self) -> usize {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let count = rest.iter().take_while(|o| o.is_ascii_digit()).count();
        self.at += count;
        count
    }

    fn number(&mut self) -> Result<(), ReadError> {
        let begin = self.at;
        let current = |s: &Self| s.text.get(s.at).copied();
        self.at += usize::from(current(self) == Some(b'-'));
        let zero = current(self) == Some(b'0');
        match self.digits() {
            0 => return Err(self.fail("a digit expected")),
            1 => {}
            _ if zero => {
                return Err(ReadError::new(self.text, begin, "a number with superfluous zeros before it"));
            }
            _ => {}
        }
        if current(self) == Some(b'.') {
            self.at += 1;
            if self.digits() == 0 {
                return Err(self.fail("a digit expected"));
            }
        }
        if matches!(current(self), Some(b'e' | b'E')) {
            self.at += 1;
            self.at += usize::from(matches!(current(self), Some(b'+' | b'-')));
            if self.digits() == 0 {
                return Err(self.fail("a digit expected"));
            }
        }
        self.push(Type::Number, begin, self.at, false);
        Ok(())
    }

    fn string(&mut self) -> Result<(), ReadError> {
        let begin = self.at + 1;
        self.at = begin;
        let mut escaped = false;
        loop {
            let rest = self.text.get(self.at..).unwrap_or_default();
            let plain =
                rest.iter().position(|o| *o < 0x20 || *o == b'"' || *o == b'\\').unwrap_or(rest.len());
            self.at += plain;
            match rest.get(plain) {
                Some(b'"') => break,
                Some(b'\\') => {
                    escaped = true;
                    self.escape(rest.get(plain..).unwrap_or_default())?;
                }
                Some(_) => return Err(self.fail("a control character in a string")),
                None => return Err(ReadError::new(self.text, begin - 1, "a string without end")),
            }
        }
        self.push(Type::String, begin, self.at, escaped);
        self.at += 1;
        Ok(())
    }

    /// Passes an escape; a high surrogate has to be followed by a low one.
    fn escape(&mut self, rest: &[u8]) -> Result<(), ReadError> {
        match rest.get(1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 2,
            Some(b'u') => match code_unit(rest) {
                Some(0xD800..0xDC00) => match rest.get(6..).and_then(code_unit) {
                    Some(0xDC00..0xE000) => self.at += 12,
                    _ => return Err(self.fail("half a surrogate pair")),
                },
                Some(0xDC00..0xE000) => return Err(self.fail("half a surrogate pair")),
                Some(_) => self.at += 6,
                None => return Err(self.fail("four hexadecimal digits expected")),
            },
            _ => return Err(self.fail("an unknown escape")),
        }
        Ok(())
    }

    fn fail(&self, message: impl Into<String>) -> ReadError {
        ReadError::new(self.text, self.at, message)
    }
}

/// The number of `\uXXXX` at the begin.
fn code_unit(text: &[u8]) -> Option<u32> {
    let digits = text.strip_prefix(b"\\u")?.get(..4)?;
    digits.iter().try_fold(0, |unit, digit| Some(unit << 4 | u32::from(crate::text::hex_digit(*digit)?)))
}

/// The characters of a checked string with escapes.
fn unescape(raw: &str) -> String {
    let mut out = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        let escape = &rest.as_bytes()[at..];
        let (character, length) = match escape.get(1) {
            Some(b'b') => ('\u{8}', 2),
            Some(b'f') => ('\u{c}', 2),
            Some(b'n') => ('\n', 2),
            Some(b'r') => ('\r', 2),
            Some(b't') => ('\t', 2),
            Some(b'u') => match (code_unit(escape), escape.get(6..).and_then(code_unit)) {
                (Some(high @ 0xD800..0xDC00), Some(low @ 0xDC00..0xE000)) => {
                    let point = 0x10000 + ((high - 0xD800) << 10 | (low - 0xDC00));
                    (char::from_u32(point).unwrap_or('\u{FFFD}'), 12)
                }
                (Some(point), _) => (char::from_u32(point).unwrap_or('\u{FFFD}'), 6),
                (None, _) => ('\u{FFFD}', 2),
            },
            Some(octet) => (char::from(*octet), 2),
            None => break,
        };
        out.push(character);
        rest = rest.get(at + length..).unwrap_or_default();
    }
    out.push_str(rest);
    out
}
