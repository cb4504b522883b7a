//! What a compiler stage has to say about a text: data only; `render` turns it into words for a person or JSON.

use crate::fix::Fix;
use crate::source::Span;
use std::borrow::Cow;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// The text cannot be used.
    Error,
    /// The text can be used; the message says what was assumed.
    Warning,
}

/// A place that a diagnostic points at, with a few words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The place.
    pub span: Span,
    /// A few words, or none.
    pub text: String,
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Error or warning.
    pub severity: Severity,
    /// A stable code such as `E0104`; `docs/reference/diagnostics.md` explains each.
    pub code: &'static str,
    /// One sentence without a trailing period; literals in backticks.
    pub message: String,
    /// The place it is about.
    pub primary: Label,
    /// Other places that matter.
    pub secondary: Vec<Label>,
    /// What to do about it.
    pub help: Option<String>,
    /// Why, usually the clause of the standard.
    pub note: Option<String>,
    /// Changes of the text that mend it.
    pub fixes: Vec<Fix>,
}

impl Diagnostic {
    /// An error at a place.
    pub fn error(code: &'static str, span: Span, message: impl Into<String>) -> Self {
        Self::new(Severity::Error, code, span, message)
    }

    /// A warning at a place.
    pub fn warning(code: &'static str, span: Span, message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, code, span, message)
    }

    fn new(severity: Severity, code: &'static str, span: Span, message: impl Into<String>) -> Self {
        Self {
            severity,
            code,
            message: message.into(),
            primary: Label { span, text: String::new() },
            secondary: Vec::new(),
            help: None,
            note: None,
            fixes: Vec::new(),
        }
    }

    /// Says a few words at the primary place.
    #[must_use]
    pub fn label(mut self, text: impl Into<String>) -> Self {
        self.primary.text = text.into();
        self
    }

    /// Points at another place.
    #[must_use]
    pub fn also(mut self, span: Span, text: impl Into<String>) -> Self {
        self.secondary.push(Label { span, text: text.into() });
        self
    }

    /// Says what to do.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help = Some(text.into());
        self
    }

    /// Says why.
    #[must_use]
    pub fn note(mut self, text: impl Into<String>) -> Self {
        self.note = Some(text.into());
        self
    }

    /// Proposes a change of the text.
    #[must_use]
    pub fn fix(mut self, fix: Fix) -> Self {
        self.fixes.push(fix);
        self
    }

    /// Returns the code as it is shown. An `E` code that is only a warning begins with `W`: lenient reading works around
    /// the fault, and no warning carries the letter of an error.
    pub fn shown_code(&self) -> Cow<'static, str> {
        match self.code.strip_prefix('E') {
            Some(number) if self.severity == Severity::Warning => Cow::Owned(format!("W{number}")),
            _ => Cow::Borrowed(self.code),
        }
    }

    /// Whether this stops the use of the text.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}
