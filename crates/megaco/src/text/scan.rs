//! The scanner: words of safe characters, quoted strings, punctuation, and what stands between them.

use super::token::Token;
use crate::{Error, Result};

/// Reads a text from its begin to its end. Between two calls it stands at the begin of a word, or at punctuation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scanner<'a> {
    pub(crate) text: &'a [u8],
    pub(crate) at: usize,
    pub(crate) version: u8,
}

const SAFE: u8 = 1;
const REST: u8 = 2;
const SPACE: u8 = 4;

const fn classes() -> [u8; 256] {
    let mut classes = [0; 256];
    let mut octet = 0;
    while octet < 256 {
        classes[octet] = match octet as u8 {
            b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => SAFE,
            b'+' | b'-' | b'&' | b'!' | b'_' | b'/' | b'\'' | b'?' | b'@' | b'^' | b'`' | b'~' | b'*'
            | b'$' | b'\\' | b'(' | b')' | b'%' | b'|' | b'.' => SAFE,
            b';' | b'[' | b']' | b'{' | b'}' | b':' | b',' | b'#' | b'<' | b'>' | b'=' => REST,
            b' ' | b'\t' | b'\r' | b'\n' => SPACE,
            _ => 0,
        };
        octet += 1;
    }
    classes
}

static CLASSES: [u8; 256] = classes();

/// Whether an octet is a `SafeChar`.
pub(crate) const fn is_safe(octet: u8) -> bool {
    CLASSES[octet as usize] & SAFE != 0
}

/// Whether an octet may stand in a quoted string: a safe character, `RestChar` or white space.
pub(crate) const fn is_quotable(octet: u8) -> bool {
    CLASSES[octet as usize] & (SAFE | REST) != 0 || matches!(octet, b' ' | b'\t')
}

/// How many octets of a class the text begins with: four at a time, since this is half of what a scanner does.
#[inline]
fn run(text: &[u8], class: u8) -> usize {
    let is = |octet: u8| CLASSES[usize::from(octet)] & class != 0;
    let mut rest = text;
    while let [a, b, c, d, after @ ..] = rest {
        let length = text.len() - rest.len();
        if !is(*a) {
            return length;
        }
        if !is(*b) {
            return length + 1;
        }
        if !is(*c) {
            return length + 2;
        }
        if !is(*d) {
            return length + 3;
        }
        rest = after;
    }
    let length = text.len() - rest.len();
    length + rest.iter().position(|&octet| !is(octet)).unwrap_or(rest.len())
}

/// What a parameter is made equal to.
pub(crate) enum Mark {
    Equal,
    Unequal,
    Less,
    Greater,
}

impl<'a> Scanner<'a> {
    pub(crate) const fn new(text: &'a [u8]) -> Self {
        Self { text, at: 0, version: 1 }
    }

    #[cold]
    pub(crate) const fn error(&self, what: &'static str) -> Error {
        Error::new(self.at, what)
    }

    /// The next octet, 0 at the end.
    #[inline]
    pub(crate) fn peek(&self) -> u8 {
        self.text.get(self.at).copied().unwrap_or(0)
    }

    pub(crate) const fn at_end(&self) -> bool {
        self.at >= self.text.len()
    }

    /// Reads over white space and comments (`LWSP`). A comment goes from `;` to the end of its line.
    #[inline]
    pub(crate) fn skip(&mut self) {
        if matches!(self.peek(), b' ' | b'\t' | b'\r' | b'\n' | b';') {
            self.skip_all();
        }
    }

    #[inline(never)]
    fn skip_all(&mut self) {
        let mut rest = &self.text[self.at..];
        loop {
            rest = &rest[run(rest, SPACE)..];
            if rest.first() != Some(&b';') {
                break;
            }
            rest = &rest[memchr::memchr2(b'\r', b'\n', rest).unwrap_or(rest.len())..];
        }
        self.at = self.text.len() - rest.len();
    }

    /// A word of safe characters, and the white space behind it.
    #[inline]
    pub(crate) fn word(&mut self, what: &'static str) -> Result<&'a [u8]> {
        let word = self.next_word();
        if word.is_empty() { Err(self.error(what)) } else { Ok(word) }
    }

    /// A word and the white space behind it; nothing, and it stands where it stood, if there is no word.
    #[inline(never)]
    fn next_word(&mut self) -> &'a [u8] {
        let rest = &self.text[self.at..];
        let word = &rest[..run(rest, SAFE)];
        self.at += word.len();
        if !word.is_empty() {
            self.skip();
        }
        word
    }

    /// A word without the white space behind it.
    pub(crate) fn bare_word(&mut self, what: &'static str) -> Result<&'a [u8]> {
        let rest = &self.text[self.at..];
        let word = &rest[..run(rest, SAFE)];
        if word.is_empty() {
            return Err(self.error(what));
        }
        self.at += word.len();
        Ok(word)
    }

    /// Reads over punctuation if it stands here.
    #[inline]
    pub(crate) fn accept(&mut self, octet: u8) -> bool {
        let here = self.text.get(self.at) == Some(&octet);
        if here {
            self.at += 1;
            self.skip();
        }
        here
    }

    /// Reads over punctuation that has to stand here.
    #[inline]
    pub(crate) fn expect(&mut self, octet: u8, what: &'static str) -> Result<()> {
        if self.accept(octet) { Ok(()) } else { Err(self.error(what)) }
    }

    /// The token that a word is in this version.
    #[inline]
    pub(crate) fn token_of(&self, word: &[u8]) -> Option<Token> {
        Token::of(word).filter(|token| token.since() <= self.version)
    }

    /// A word that is a token, or what was expected.
    #[inline]
    pub(crate) fn token(&mut self, what: &'static str) -> Result<Token> {
        let start = self.at;
        let word = self.next_word();
        self.token_of(word).ok_or_else(|| Error::new(start, what))
    }

    pub(crate) fn equal(&mut self) -> Result<()> {
        self.expect(b'=', "`=`")
    }

    pub(crate) fn open(&mut self) -> Result<()> {
        self.expect(b'{', "`{`")
    }

    pub(crate) fn close(&mut self) -> Result<()> {
        self.expect(b'}', "`,` or `}`")
    }

    /// After an item: whether another follows, or the list ends.
    #[inline]
    pub(crate) fn more(&mut self) -> Result<bool> {
        if self.accept(b',') {
            return Ok(true);
        }
        self.close()?;
        Ok(false)
    }

    /// `=`, `#`, `<` or `>`.
    pub(crate) fn mark(&mut self) -> Result<Mark> {
        let mark = match self.peek() {
            b'=' => Mark::Equal,
            b'#' => Mark::Unequal,
            b'<' => Mark::Less,
            b'>' => Mark::Greater,
            _ => return Err(self.error("`=`, `#`, `<` or `>` (parmValue)")),
        };
        self.at += 1;
        self.skip();
        Ok(mark)
    }

    /// `VALUE`: a quoted string or a word.
    pub(crate) fn value(&mut self) -> Result<&'a [u8]> {
        if self.peek() == b'"' {
            self.quoted()
        } else {
            self.word("a value: safe characters, or a quoted string")
        }
    }

    /// `quotedString`, without its quotes.
    pub(crate) fn quoted(&mut self) -> Result<&'a [u8]> {
        if self.peek() != b'"' {
            return Err(self.error("a quoted string"));
        }
        let start = self.at + 1;
        let rest = &self.text[start..];
        let length = rest.iter().position(|&octet| !is_quotable(octet)).unwrap_or(rest.len());
        self.at = start + length;
        if self.peek() != b'"' {
            return Err(self.error("a character of quotedString, or its end"));
        }
        self.at += 1;
        self.skip();
        Ok(&rest[..length])
    }

    /// `octetString` between braces, the first of which has been read: up to the closing one, in which `\}` stands for a
    /// brace that does not close. White space at both ends is left out.
    pub(crate) fn octet_string(&mut self) -> Result<&'a [u8]> {
        let start = self.at;
        let mut from = start;
        loop {
            let rest = &self.text[from..];
            match memchr::memchr2(b'}', 0, rest) {
                Some(end) if rest[end] == b'}' && end > 0 && rest[end - 1] == b'\\' => from += end + 1,
                Some(end) if rest[end] == b'}' => {
                    let octets = &self.text[start..from + end];
                    self.at = from + end + 1;
                    self.skip();
                    return Ok(octets.trim_ascii());
                }
                found => {
                    self.at = from + found.unwrap_or(rest.len());
                    return Err(self.error("`}` at the end of an octet string"));
                }
            }
        }
    }
}

/// `extensionParameter`: the name of what a vendor adds.
pub(crate) const fn is_vendor_name(word: &[u8]) -> bool {
    matches!(word, [b'x' | b'X', b'-' | b'+', _, ..])
}

/// A decimal number of a range.
pub(crate) fn number(word: &[u8], max: u32) -> Option<u32> {
    if word.is_empty() {
        return None;
    }
    let mut number: u32 = 0;
    for &octet in word {
        if !octet.is_ascii_digit() {
            return None;
        }
        number = number.checked_mul(10)?.checked_add(u32::from(octet - b'0'))?;
    }
    (number <= max).then_some(number)
}
