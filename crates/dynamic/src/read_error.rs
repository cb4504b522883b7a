//! The error of reading text: what, on which path, at which line and column.

use crate::event::Sink;
use crate::source::InPath;
use crate::{ErrorKind, Tape};
use std::fmt;

/// Why text is not a value of its type. One word wide; built only on failure.
#[derive(Clone, PartialEq, Eq)]
pub struct ReadError(Box<Inner>);

#[derive(Clone, PartialEq, Eq)]
struct Inner {
    message: String,
    /// Innermost first.
    path: Vec<Step>,
    offset: usize,
    line: usize,
    column: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Name(String),
    Index(usize),
}

/// Names in messages and paths are cut behind so many characters: they may come from the text.
const MAX_NAME: usize = 60;
/// Steps of a path that are shown, at either end.
const MAX_STEPS: usize = 4;

/// Refuses a value on a tape with more than `limit` values inside one another, as the decoders of octets do.
pub(crate) fn check_depth(text: &[u8], tape: &mut Tape, limit: u16) -> Result<(), ReadError> {
    if tape.deeper_than(limit.min(1000)).is_some() {
        return Err(ReadError::new(text, 0, TOO_DEEP));
    }
    tape.within(limit);
    Ok(())
}

/// What is wrong with a value deeper than the limit, as all decoders say it.
pub(crate) const TOO_DEEP: &str = ErrorKind::DepthLimit.message();

/// Levels of a text for so many values inside one another: strings with CONTAINING and open types may have two.
pub(crate) const fn levels(depth: u16) -> u16 {
    let depth = if depth > 500 { 500 } else { depth };
    2 * depth + 8
}

impl ReadError {
    /// A fault at an octet offset of a text.
    #[cold]
    #[inline(never)]
    pub(crate) fn new(text: &[u8], offset: usize, message: impl Into<String>) -> Self {
        let offset = offset.min(text.len());
        let before = &text[..offset];
        let line = 1 + memchr::memchr_iter(b'\n', before).count();
        let start = memchr::memrchr(b'\n', before).map_or(0, |at| at + 1);
        // Octets that continue a character of UTF-8 are no column.
        let column = 1 + before[start..].iter().filter(|o| **o & 0xC0 != 0x80).count();
        Self(Box::new(Inner { message: message.into(), path: Vec::new(), offset, line, column }))
    }

    /// What is wrong, in words.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The way from the outermost value to the faulty one: `CallEvent[17].party.number`; the middle of a long one is
    /// left out.
    pub fn path(&self) -> String {
        let steps = self.0.path.len();
        let mut text = String::new();
        for (i, step) in self.0.path.iter().rev().enumerate() {
            if steps > 2 * MAX_STEPS && (MAX_STEPS..steps - MAX_STEPS).contains(&i) {
                if i == MAX_STEPS {
                    text.push_str(" … ");
                }
                continue;
            }
            match step {
                Step::Index(index) => text.push_str(&format!("[{index}]")),
                Step::Name(name) => {
                    if !text.is_empty() && !text.ends_with(' ') {
                        text.push('.');
                    }
                    text.push_str(name);
                }
            }
        }
        text
    }

    /// Octets before the fault.
    pub fn offset(&self) -> usize {
        self.0.offset
    }

    /// The line, from 1.
    pub fn line(&self) -> usize {
        self.0.line
    }

    /// The column in characters, from 1.
    pub fn column(&self) -> usize {
        self.0.column
    }
}

impl InPath for ReadError {
    #[cold]
    fn inside(mut self, name: &str) -> Self {
        self.0.path.push(Step::Name(cut(name)));
        self
    }

    #[cold]
    fn inside_element(mut self, index: usize) -> Self {
        self.0.path.push(Step::Index(index));
        self
    }
}

/// A name for a message, cut if it is long.
pub(crate) fn cut(name: &str) -> String {
    match name.char_indices().nth(MAX_NAME) {
        Some((at, _)) => format!("{}…", &name[..at]),
        None => name.to_owned(),
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path();
        if !path.is_empty() {
            write!(f, "{path}: ")?;
        }
        write!(f, "{} (line {}, column {})", self.0.message, self.0.line, self.0.column)
    }
}

impl fmt::Debug for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ReadError({self})")
    }
}

impl std::error::Error for ReadError {}
