//! Lines of session descriptions: name and value, with no look at what they say.

use crate::text::scan::is_safe;

/// A line `name=value`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// What stands before the first `=`.
    pub name: &'a [u8],
    /// What stands behind it; empty if there is none.
    pub value: &'a [u8],
}

impl<'a> Line<'a> {
    /// The parts of a line.
    pub(super) fn of(line: &'a [u8]) -> Self {
        match memchr::memchr(b'=', line) {
            Some(equal) => Self { name: &line[..equal], value: &line[equal + 1..] },
            None => Self { name: line, value: &line[line.len()..] },
        }
    }

    /// Whether the line begins a description of its own.
    pub fn begins_group(&self) -> bool {
        self.name == b"v"
    }
}

/// The lines of a text. Lines end with CR, LF or both; empty ones are passed over.
#[derive(Clone, Debug)]
pub struct Lines<'a> {
    rest: &'a [u8],
}

impl<'a> Lines<'a> {
    /// The lines of a text.
    pub const fn new(text: &'a [u8]) -> Self {
        Self { rest: text }
    }

    /// Where a line has no name of safe characters, from the begin of the text; `None` if all lines do.
    pub(crate) fn fault(self) -> Option<usize> {
        let length = self.rest.len();
        let mut lines = self;
        loop {
            let before = lines.rest;
            let line = lines.next()?;
            if line.name.is_empty() || !line.name.iter().all(|&octet| is_safe(octet)) {
                return Some(length - before.trim_ascii_start().len());
            }
        }
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = Line<'a>;

    fn next(&mut self) -> Option<Line<'a>> {
        let text = self.rest.trim_ascii_start();
        if text.is_empty() {
            self.rest = text;
            return None;
        }
        let end = memchr::memchr2(b'\r', b'\n', text).unwrap_or(text.len());
        let line = &text[..end];
        self.rest = &text[end..];
        Some(Line::of(line))
    }
}
