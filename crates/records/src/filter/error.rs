//! What is wrong with a condition, and where in its text.

use std::fmt;
use std::ops::Range;

/// A condition that cannot be used, or a component that does not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilterError {
    message: String,
    /// What to do about it.
    help: Option<String>,
    /// The text of the condition, and the place in it; empty if the component stands alone.
    text: String,
    span: Range<usize>,
}

/// Characters of a long condition that a message shows around the place.
const SHOWN: usize = 90;
/// Those of them before the place.
const BEFORE: usize = 40;

impl FilterError {
    /// An error about a component that stands alone; the text may end with a line of help.
    pub(crate) fn new(text: String) -> Self {
        Self::at("", 0..0, text)
    }

    /// An error about a part of a condition; the message may end with a line of help.
    pub(super) fn at(text: &str, span: Range<usize>, message: impl Into<String>) -> Self {
        let message = message.into();
        let (message, help) = match message.split_once("\nhelp: ") {
            Some((message, help)) => (message.to_owned(), Some(help.to_owned())),
            None => (message, None),
        };
        Self { message, help, text: text.to_owned(), span }
    }

    /// The same with what to do about it.
    pub(super) fn with_help(self, help: impl Into<String>) -> Self {
        Self { help: Some(help.into()), ..self }
    }

    /// The condition and a line of carets under the place.
    fn excerpt(&self) -> (String, String) {
        let Range { start, end } = self.span;
        let before = self.text.get(..start).unwrap_or_default();
        let skipped = before.chars().count().saturating_sub(BEFORE);
        let shown = |c: char| if c.is_control() { ' ' } else { c };
        let mut line: String = self.text.chars().skip(skipped).take(SHOWN).map(shown).collect();
        let mut column = before.chars().count() - skipped;
        if skipped > 0 {
            line.insert(0, '…');
            column += 1;
        }
        if self.text.chars().count() > skipped + SHOWN {
            line.push('…');
        }
        let length = self.text.get(start..end).unwrap_or_default().chars().count();
        let length = length.clamp(1, line.chars().count().saturating_sub(column).max(1));
        (line, " ".repeat(column) + &"^".repeat(length))
    }
}

impl fmt::Display for FilterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        if !self.text.is_empty() || self.span != (0..0) {
            let (line, carets) = self.excerpt();
            write!(f, "\n  {line}\n  {carets}")?;
        }
        match &self.help {
            Some(help) => write!(f, "\nhelp: {help}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for FilterError {}
