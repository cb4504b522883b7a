//! Why a setting cannot be used.

use std::fmt;

/// Why a setting cannot be used: a word, a framing, a path to lists, a profile. The text says what was given and what may
/// stand there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingError(String);

impl fmt::Display for SettingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SettingError {}

impl From<String> for SettingError {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl From<&str> for SettingError {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl From<SettingError> for String {
    fn from(error: SettingError) -> Self {
        error.0
    }
}
