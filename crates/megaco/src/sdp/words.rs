//! Words of a line, and where one is wrong.

use std::fmt;

/// What is wrong with the value of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Octet of the value at which it is wrong.
    pub at: usize,
    /// What was expected there.
    pub what: &'static str,
}

/// A number, or `$`: the gateway chooses one (H.248.1 7.1.8).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Wild<T> {
    /// A number.
    Is(T),
    /// One that the gateway chooses.
    Choose,
}

impl<T> Wild<T> {
    /// The number, if it is one.
    pub fn number(self) -> Option<T> {
        match self {
            Self::Is(number) => Some(number),
            Self::Choose => None,
        }
    }
}

impl<T> From<T> for Wild<T> {
    fn from(number: T) -> Self {
        Self::Is(number)
    }
}

impl<T: fmt::Display> fmt::Display for Wild<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Is(number) => number.fmt(f),
            Self::Choose => f.write_str("$"),
        }
    }
}

/// Reads a value from word to word.
pub(super) struct Words<'a> {
    text: &'a [u8],
    at: usize,
    /// Where the last word began.
    start: usize,
}

const fn is_space(octet: &u8) -> bool {
    matches!(octet, b' ' | b'\t')
}

impl<'a> Words<'a> {
    pub(super) const fn new(text: &'a [u8]) -> Self {
        Self { text, at: 0, start: 0 }
    }

    /// What follows the white space here.
    fn skip(&mut self) -> &'a [u8] {
        let rest = &self.text[self.at..];
        self.at += rest.iter().take_while(|octet| is_space(octet)).count();
        self.start = self.at;
        &self.text[self.at..]
    }

    /// The next word, if there is one.
    pub(super) fn next(&mut self) -> Option<&'a [u8]> {
        let rest = self.skip();
        let length = rest.iter().position(is_space).unwrap_or(rest.len());
        self.at += length;
        (length > 0).then_some(&rest[..length])
    }

    pub(super) fn word(&mut self, what: &'static str) -> Result<&'a [u8], Fault> {
        self.next().ok_or_else(|| self.fault(what))
    }

    /// A word, up to and without an octet; then the word goes on behind it.
    pub(super) fn until(&mut self, octet: u8, what: &'static str) -> Result<&'a [u8], Fault> {
        let rest = self.skip();
        let length = rest.iter().position(|&here| here == octet || is_space(&here));
        match length {
            Some(length @ 1..) if rest[length] == octet => {
                self.at += length + 1;
                Ok(&rest[..length])
            }
            _ => Err(self.fault(what)),
        }
    }

    pub(super) fn number<T: std::str::FromStr>(&mut self, what: &'static str) -> Result<Wild<T>, Fault> {
        let word = self.word(what)?;
        wild(word).ok_or_else(|| self.wrong(what))
    }

    /// Whether another word follows.
    pub(super) fn more(&mut self) -> bool {
        !self.skip().is_empty()
    }

    /// All that follows.
    pub(super) fn rest(&mut self, what: &'static str) -> Result<&'a [u8], Fault> {
        let rest = self.skip();
        if rest.is_empty() { Err(self.fault(what)) } else { Ok(rest) }
    }

    pub(super) fn end<T>(mut self, value: T) -> Result<T, Fault> {
        if self.skip().is_empty() { Ok(value) } else { Err(self.fault("the end of the line")) }
    }

    /// What stands here is wrong.
    const fn fault(&self, what: &'static str) -> Fault {
        Fault { at: self.at, what }
    }

    /// The last word is wrong.
    pub(super) const fn wrong(&self, what: &'static str) -> Fault {
        Fault { at: self.start, what }
    }
}

/// Digits as a number, or `$`.
pub(super) fn wild<T: std::str::FromStr>(word: &[u8]) -> Option<Wild<T>> {
    if word == b"$" {
        return Some(Wild::Choose);
    }
    digits(word).map(Wild::Is)
}

pub(super) fn digits<T: std::str::FromStr>(word: &[u8]) -> Option<T> {
    let is_number = !word.is_empty() && word.iter().all(u8::is_ascii_digit);
    std::str::from_utf8(word).ok().filter(|_| is_number)?.parse().ok()
}
