//! Time types (§32), whose forms are tables in generated code.

use super::{Reader, Whole, Writer};
use crate::ber::Rules;
use crate::per;
use crate::types::{Integer, Text, TimeType};
use crate::{Error, ErrorKind, Result};

/// How a number of a time is written (§13).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeNumber {
    /// Without bounds.
    Any,
    /// The form, the least, what it may be above that, whether it is extensible.
    Range(Whole, i64, u64, bool),
}

/// A step in writing a time.
pub type TimeStep = per::TimeStep<TimeNumber>;

/// A part of a time, between slashes in its text.
pub type TimePart = per::TimePart<&'static [TimeStep], TimeNumber>;

/// How a time is written.
#[derive(Clone, Copy, Debug)]
pub struct TimeForm {
    /// Its type.
    pub kind: TimeType,
    /// One part, or those of an interval.
    pub parts: &'static [TimePart],
}

impl TimeForm {
    fn parts(
        &self,
    ) -> impl Iterator<Item = per::TimePart<impl Iterator<Item = TimeStep> + use<>, TimeNumber>> + use<> {
        self.parts.iter().map(|part| match *part {
            TimePart::Point(steps) => per::TimePart::Point(steps.iter().copied()),
            TimePart::Duration(steps) => per::TimePart::Duration(steps.iter().copied()),
            TimePart::Recurrence(number, digits) => per::TimePart::Recurrence(number, digits),
        })
    }
}

impl<'a, const ALIGNED: bool> Reader<'a, ALIGNED> {
    /// TIME and the useful time types (§32) as the text of the value notation.
    ///
    /// # Errors
    /// Those of the numbers; [`ErrorKind::TimeSyntax`] where they are no time.
    pub fn time(&mut self, form: &TimeForm) -> Result<Text<'a>> {
        let start = self.bits;
        let text = per::read_time(self, form.parts())?;
        form.kind.encode(&text, Rules::Ber).map_err(|error| start.error(error.kind()))?;
        Ok(text.into())
    }
}

impl<const ALIGNED: bool> per::TimeReader<TimeNumber> for Reader<'_, ALIGNED> {
    fn bits(&mut self, count: u32) -> Result<u64> {
        self.bits.bits(count)
    }

    fn number(&mut self, form: TimeNumber) -> Result<i64> {
        let start = self.bits;
        match form {
            TimeNumber::Range(whole, lo, span, extensible) if !extensible || !self.bit()? => {
                self.whole(whole, span).map(|above| lo.wrapping_add_unsigned(above))
            }
            TimeNumber::Range(..) | TimeNumber::Any => {
                i64::try_from(&self.unconstrained()?).map_err(|_| start.error(ErrorKind::LimitExceeded))
            }
        }
    }
}

impl<const ALIGNED: bool> Writer<ALIGNED> {
    /// TIME and the useful time types (§32) from the text of the value notation.
    ///
    /// # Errors
    /// [`ErrorKind::TimeSyntax`]; [`ErrorKind::ConstraintViolated`] for a value outside of the type's settings.
    pub fn time(&mut self, form: &TimeForm, text: &str) -> Result<()> {
        let failed = |kind| Error::new(kind, 0);
        form.kind.encode(text, Rules::Ber).map_err(|error| failed(error.kind()))?;
        per::write_time(self, form.parts(), text).map_err(failed)
    }
}

impl<const ALIGNED: bool> per::TimeWriter<TimeNumber> for Writer<ALIGNED> {
    fn bits(&mut self, number: u64, count: u32) {
        Self::bits(self, number, count);
    }

    fn has(&self, form: &TimeNumber, number: i64) -> bool {
        match *form {
            TimeNumber::Any => true,
            TimeNumber::Range(_, lo, span, _) => number >= lo && number.abs_diff(lo) <= span,
        }
    }

    fn number(&mut self, form: TimeNumber, number: i64) -> Option<()> {
        let written = match form {
            TimeNumber::Any => {
                self.unconstrained(&Integer::from(number));
                return Some(());
            }
            TimeNumber::Range(whole, lo, span, true) => self.extensible_integer(whole, number, lo, span),
            TimeNumber::Range(whole, lo, span, false) => self.integer(whole, number, lo, span),
        };
        written.ok()
    }
}
