//! What is known of how records are framed, before a file is read.

use super::{Framing, RecordFormat};
use crate::SettingError;

/// What is known of how records are framed: nothing, by default.
#[derive(Clone, Debug, Default)]
pub struct GivenFraming {
    /// The framing in words, as [`Framing::with`] takes them; it is found by trial if there are none.
    pub framing: Option<String>,
    /// The encoding rules of records.
    pub rules: Option<RecordFormat>,
    /// Bytes that may be between records.
    pub filler: Option<Vec<u8>>,
    /// Bytes that a record may have.
    pub record_limit: Option<usize>,
}

impl GivenFraming {
    /// Returns the framing with what is known of it.
    ///
    /// # Errors
    /// When there is no such framing, or records in these rules have no end in it.
    pub fn framed(&self, mut framing: Framing) -> Result<Framing, SettingError> {
        if let Some(filler) = &self.filler {
            framing.filler.clone_from(filler);
        }
        if let Some(limit) = self.record_limit {
            framing.record_limit = limit;
        }
        if let Some(given) = &self.framing {
            framing = framing.with(given)?;
        }
        framing.rules = self.rules;
        framing.check(self.framing.is_none())?;
        Ok(framing)
    }
}
