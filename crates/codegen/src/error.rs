//! Why nothing is printed.

use std::fmt;

use crate::OverlayError;

/// Why there is no source text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The overlay names what is not there, or chooses what cannot be.
    Overlay(OverlayError),
    /// A type that has nothing but lists around itself: `A ::= SEQUENCE OF A`. An alias cannot say so.
    ListOfItself(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Overlay(error) => error.fmt(f),
            Self::ListOfItself(name) => {
                write!(f, "`{name}` is a list of itself with nothing between: no type is printed for that")
            }
        }
    }
}

impl std::error::Error for Error {}

impl From<OverlayError> for Error {
    fn from(error: OverlayError) -> Self {
        Self::Overlay(error)
    }
}
