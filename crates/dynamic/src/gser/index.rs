//! The words of a GSER text: one flat array of tokens in which braces know where they end.

use crate::read_error::{ReadError, TOO_DEEP, levels};
use std::borrow::Cow;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    Open,
    Close,
    Comma,
    Colon,
    /// An identifier, keyword, number or object identifier.
    Word,
    /// Characters between quotation marks.
    Text,
    /// `'…'H`.
    Hex,
    /// `'…'B`.
    Bits,
    /// Behind the last one.
    End,
}

#[derive(Clone, Copy, Debug)]
struct Token {
    what: Type,
    /// Of a string, of what is between the marks.
    begin: u32,
    end: u32,
    /// Of a brace: the index of the closing one.
    close: u32,
}

/// A text whose braces match.
#[derive(Debug)]
pub(super) struct Document<'t> {
    text: &'t str,
    tokens: Vec<Token>,
}

impl<'t> Document<'t> {
    pub(super) fn parse(octets: &'t [u8], depth: u16) -> Result<Self, ReadError> {
        let text = str::from_utf8(octets)
            .map_err(|error| ReadError::new(octets, error.valid_up_to(), "the text is not UTF-8"))?;
        if u32::try_from(octets.len()).is_err() {
            return Err(ReadError::new(octets, 0, "the text has 4 GiB or more"));
        }
        let mut document = Self { text, tokens: Vec::new() };
        document.scan(depth)?;
        Ok(document)
    }

    fn scan(&mut self, depth: u16) -> Result<(), ReadError> {
        let octets = self.text.as_bytes();
        let mut open: Vec<usize> = Vec::new();
        let mut at = 0;
        while let Some(octet) = octets.get(at) {
            let fail = |at: usize, message: &str| Err(ReadError::new(octets, at, message));
            let index = self.tokens.len();
            match octet {
                b' ' | b'\t' | b'\n' | b'\r' => at += 1,
                b'{' => {
                    if open.len() >= usize::from(levels(depth)) {
                        return fail(at, TOO_DEEP);
                    }
                    open.push(index);
                    at = self.push(Type::Open, at, at + 1);
                }
                b'}' => {
                    let Some(brace) = open.pop() else { return fail(at, "a brace that was not opened") };
                    if let Some(token) = self.tokens.get_mut(brace) {
                        token.close = index as u32;
                    }
                    at = self.push(Type::Close, at, at + 1);
                }
                b',' => at = self.push(Type::Comma, at, at + 1),
                b':' => at = self.push(Type::Colon, at, at + 1),
                b'"' => {
                    let mut end = at + 1;
                    loop {
                        let rest = octets.get(end..).unwrap_or_default();
                        let Some(mark) = memchr::memchr(b'"', rest) else {
                            return fail(at, "a string without end");
                        };
                        end += mark;
                        if octets.get(end + 1) != Some(&b'"') {
                            break;
                        }
                        end += 2;
                    }
                    at = self.push(Type::Text, at + 1, end) + 1;
                }
                b'\'' => {
                    let rest = octets.get(at + 1..).unwrap_or_default();
                    let Some(length) = memchr::memchr(b'\'', rest) else {
                        return fail(at, "a string without end");
                    };
                    let end = at + 1 + length;
                    let what = match octets.get(end + 1) {
                        Some(b'H') => Type::Hex,
                        Some(b'B') => Type::Bits,
                        _ => return fail(end, "`H` or `B` expected"),
                    };
                    at = self.push(what, at + 1, end) + 2;
                }
                octet if is_word(*octet) => {
                    let rest = octets.get(at..).unwrap_or_default();
                    let length = rest.iter().take_while(|octet| is_word(**octet)).count();
                    at = self.push(Type::Word, at, at + length);
                }
                _ => return fail(at, "a character that begins no value"),
            }
        }
        match open.last().and_then(|brace| self.tokens.get(*brace)) {
            Some(brace) => Err(ReadError::new(octets, brace.begin as usize, "a brace that is not closed")),
            None => Ok(()),
        }
    }

    fn push(&mut self, what: Type, begin: usize, end: usize) -> usize {
        self.tokens.push(Token { what, begin: begin as u32, end: end as u32, close: 0 });
        end
    }

    pub(super) fn what(&self, at: usize) -> Type {
        self.tokens.get(at).map_or(Type::End, |token| token.what)
    }

    /// The characters of a word, or between the marks of a string.
    pub(super) fn raw(&self, at: usize) -> &'t str {
        let range = self.tokens.get(at).map(|token| token.begin as usize..token.end as usize);
        range.and_then(|range| self.text.get(range)).unwrap_or_default()
    }

    /// The characters of a string.
    pub(super) fn string(&self, at: usize) -> Cow<'t, str> {
        let raw = self.raw(at);
        if raw.contains('"') { Cow::Owned(raw.replace("\"\"", "\"")) } else { Cow::Borrowed(raw) }
    }

    /// The closing brace of an opening one.
    pub(super) fn close(&self, at: usize) -> usize {
        self.tokens.get(at).map_or(at, |token| token.close as usize)
    }

    /// The comma or closing brace behind what begins here.
    pub(super) fn end_of_item(&self, at: usize) -> usize {
        let mut at = at;
        loop {
            match self.what(at) {
                Type::Comma | Type::Close | Type::End => return at,
                Type::Open => at = self.close(at) + 1,
                _ => at += 1,
            }
        }
    }

    /// The offset of the first octet of a token.
    pub(super) fn offset(&self, at: usize) -> usize {
        self.tokens.get(at).map_or(self.text.len(), |token| {
            let marks = matches!(token.what, Type::Text | Type::Hex | Type::Bits);
            token.begin as usize - usize::from(marks)
        })
    }

    /// The offset after the last octet of a token.
    pub(super) fn end(&self, at: usize) -> usize {
        self.tokens.get(at).map_or(self.text.len(), |token| {
            token.end as usize
                + match token.what {
                    Type::Text => 1,
                    Type::Hex | Type::Bits => 2,
                    _ => 0,
                }
        })
    }

    pub(super) fn error(&self, at: usize, message: impl Into<String>) -> ReadError {
        ReadError::new(self.text.as_bytes(), self.offset(at), message)
    }
}

const fn is_word(octet: u8) -> bool {
    octet.is_ascii_alphanumeric() || matches!(octet, b'-' | b'.' | b'+')
}
