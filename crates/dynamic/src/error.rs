//! The error of decoding and encoding: what, where, and on which path.

use crate::source::InPath;
use std::fmt;
pub use tercet_runtime::ErrorKind;

/// Why a value could not be decoded or encoded. One word wide; built only on failure.
#[derive(Clone, PartialEq, Eq)]
pub struct Error(Box<Inner>);

#[derive(Clone, PartialEq, Eq)]
struct Inner {
    kind: ErrorKind,
    at: u64,
    bit: Option<u8>,
    missing: Option<u64>,
    path: String,
    detail: String,
}

const _: () = assert!(size_of::<Error>() == size_of::<usize>());

impl Error {
    /// An error of this kind at an absolute offset (0 for a value to encode).
    #[cold]
    #[inline(never)]
    pub fn new(kind: ErrorKind, at: u64) -> Self {
        Self(Box::new(Inner {
            kind,
            at,
            bit: None,
            missing: None,
            path: String::new(),
            detail: String::new(),
        }))
    }

    /// The same error with a path; of a long one the first and the last twelve steps.
    #[must_use]
    pub fn with_path(mut self, path: impl Into<String>) -> Self {
        self.0.path = crate::path::shortened(path.into());
        self
    }

    /// The same error with its path, from steps that were added one by one ([`InPath`]), shortened as by
    /// [`Error::with_path`].
    #[must_use]
    pub fn shortened(self) -> Self {
        let path = self.0.path.clone();
        self.with_path(path)
    }

    /// The same error with a step in front of the path.
    fn with_step(mut self, step: &str) -> Self {
        let dot = if self.0.path.is_empty() || self.0.path.starts_with('[') { "" } else { "." };
        self.0.path = [step, dot, &self.0.path].concat();
        self
    }

    /// The same error with a word on what it was: the tag found, the component missing.
    #[must_use]
    pub fn with_detail(mut self, detail: impl Into<String>) -> Self {
        self.0.detail = detail.into();
        self
    }

    /// What is wrong.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The absolute offset in octets; 0 for a value to encode.
    pub fn offset(&self) -> u64 {
        self.0.at
    }

    /// The bit in the octet at the offset, 0 the first (highest), in rules whose fields are not octets.
    pub fn bit(&self) -> Option<u8> {
        self.0.bit
    }

    /// The way from the outermost value to the faulty one: `CallEvent[17].party.number`. Empty if unknown.
    pub fn path(&self) -> &str {
        &self.0.path
    }

    /// The tag found, the component missing, or nothing.
    pub fn detail(&self) -> &str {
        &self.0.detail
    }

    /// If the input ends too early: the least number of octets missing.
    pub fn missing(&self) -> Option<u64> {
        self.0.missing
    }

    /// The clause of the standard that is broken: `X.690 11.1`.
    pub fn clause(&self) -> Option<&'static str> {
        self.0.kind.clause()
    }
}

impl InPath for Error {
    #[cold]
    fn inside(self, name: &str) -> Self {
        self.with_step(name)
    }

    #[cold]
    fn inside_element(self, index: usize) -> Self {
        self.with_step(&format!("[{index}]"))
    }
}

impl From<tercet_runtime::Error> for Error {
    #[cold]
    fn from(error: tercet_runtime::Error) -> Self {
        let mut new = Self::new(error.kind(), error.at());
        new.0.bit = error.bit();
        new.0.missing = error.needed().map(u64::from);
        new
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = &*self.0;
        match elided(&inner.path) {
            ("", _) => {}
            (path, "") => write!(f, "{path}: ")?,
            (begin, end) => write!(f, "{begin}…{end}: ")?,
        }
        f.write_str(inner.kind.message())?;
        if !inner.detail.is_empty() {
            write!(f, ": {}", inner.detail)?;
        }
        if let Some(missing) = inner.missing {
            let (s, are) = if missing == 1 { ("", "is") } else { ("s", "are") };
            write!(f, ", {missing} byte{s} {are} missing")?;
        }
        if let Some(clause) = inner.kind.clause() {
            write!(f, " ({clause})")?;
        }
        match inner.bit {
            Some(bit) => write!(f, " (at offset {:#x}, bit {bit})", inner.at),
            None => write!(f, " (at offset {:#x})", inner.at),
        }
    }
}

/// Octets of a path that are shown at each end of a long one: an error's text stays below 512.
const SHOWN: usize = 120;

/// A path, or the two ends of a long one.
fn elided(path: &str) -> (&str, &str) {
    if path.len() <= 2 * SHOWN {
        return (path, "");
    }
    // Names of components are ASCII, but a path may also be that of a JSON text.
    let boundary = |at: usize| (at..path.len()).find(|at| path.is_char_boundary(*at)).unwrap_or(path.len());
    (&path[..boundary(SHOWN)], &path[boundary(path.len() - SHOWN)..])
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} ({self})", self.0.kind)
    }
}

impl std::error::Error for Error {}
