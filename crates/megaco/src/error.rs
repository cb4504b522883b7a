//! What is wrong with a message, and where.

use std::fmt;

/// Decoding or encoding failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Error {
    /// Octet at which it is wrong, from the begin of the input; of an encoder the octets written so far.
    pub at: usize,
    /// What was expected, or cannot be written.
    pub what: &'static str,
}

/// A result whose error is [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    #[cold]
    pub(crate) const fn new(at: usize, what: &'static str) -> Self {
        Self { at, what }
    }

    /// Line and column of the place in a text, both from 1. CR LF, LF and CR each end a line.
    pub fn line_and_column(&self, text: &[u8]) -> (usize, usize) {
        let before = &text[..self.at.min(text.len())];
        let mut line = 1;
        let mut start = 0;
        for (index, &octet) in before.iter().enumerate() {
            if octet == b'\n' || (octet == b'\r' && text.get(index + 1) != Some(&b'\n')) {
                line += 1;
                start = index + 1;
            }
        }
        (line, before.len() - start + 1)
    }

    /// The line in which the place is.
    pub fn source_line<'t>(&self, text: &'t [u8]) -> &'t [u8] {
        let at = self.at.min(text.len());
        let is_end = |octet: &u8| matches!(octet, b'\r' | b'\n');
        let start = text[..at].iter().rposition(is_end).map_or(0, |end| end + 1);
        let end = text[at..].iter().position(is_end).map_or(text.len(), |end| at + end);
        &text[start..end]
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (at byte {})", self.what, self.at)
    }
}

impl std::error::Error for Error {}
