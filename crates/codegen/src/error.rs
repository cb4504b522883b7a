//! Why nothing is printed.

use std::fmt;

use crate::OverlayError;

/// Why there is no source text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The overlay names what is not there, or chooses what cannot be.
    Overlay(OverlayError),
    /// A string that contains itself and nothing else: `A ::= OCTET STRING (CONTAINING A)`. It has no value.
    InItself(String),
    /// There are no codecs in the language for the rules.
    Rules,
    /// The specification has encoding instructions for JER (X.697 clause 13), which codecs of the language do not follow.
    Instructions,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Overlay(error) => error.fmt(f),
            Self::Rules => f.write_str("no codecs are printed for these rules in this language"),
            Self::Instructions => f.write_str(
                "the specification has encoding instructions for JER, which codecs in this language do not follow",
            ),
            Self::InItself(name) => {
                write!(f, "`{name}` contains itself and nothing else: no type is printed for that")
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
