//! What ends the reading of files.

use super::report::{self, Found};
use crate::error;
use pyo3::prelude::*;
use std::fmt;
use std::io;
use tercet::columns::ArrowError;

/// Why reading has ended early.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Reading or writing a file; the text names it.
    Io(io::Error),
    /// Too much is no record: the words, and the first places.
    Rejected(String, Vec<Found>),
    /// A batch that could not be made.
    Arrow(ArrowError),
    /// The thread has ended without a word.
    Lost,
    /// By the user.
    Interrupted,
}

impl Failure {
    /// Of a file.
    pub(crate) fn io(name: &str, error: &io::Error) -> Self {
        Self::Io(io::Error::new(error.kind(), format!("{name}: {error}")))
    }

    /// As an exception.
    pub(crate) fn raise(self, py: Python<'_>) -> PyErr {
        match self {
            Self::Io(error) => error::io(error),
            Self::Rejected(text, found) => {
                error::rejected(py, &text, |with| with.set_item("rejects", report::rejects(py, &found)?))
            }
            other => error::internal(other.to_string()),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            Self::Rejected(text, _) => f.write_str(text),
            Self::Arrow(error) => error.fmt(f),
            Self::Interrupted => f.write_str("interrupted"),
            Self::Lost => f.write_str("the thread that reads has ended without a word"),
        }
    }
}

impl std::error::Error for Failure {}

/// Errors of unpacking: their text names the file.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<Failure> for ArrowError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Io(error) => Self::IoError(error.to_string(), error),
            Failure::Arrow(error) => error,
            other => Self::ExternalError(Box::new(other)),
        }
    }
}
