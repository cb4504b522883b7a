//! Time types (§29).

use super::{Reader, Writer};
use crate::ber::{Rules, decode_time};
use crate::oer::{self, Reader as Cursor, TimeStep};
use crate::types::{Text, TimeNumbers, TimeType};
use crate::{Error, ErrorKind, Result};
use alloc::string::String;

impl<'a> Reader<'a> {
    /// A date, a time of day, or both, as the text of the value notation.
    ///
    /// # Errors
    /// Those of the numbers; [`ErrorKind::TimeSyntax`] where they are no time.
    pub fn point(&mut self, kind: TimeType, steps: &[TimeStep]) -> Result<Text<'a>> {
        let start = self.cursor;
        let numbers = oer::read_point(self, steps.iter().copied())?;
        checked(kind, numbers.point(), &start)
    }

    /// A duration.
    ///
    /// # Errors
    /// As [`Reader::point`].
    pub fn duration(&mut self, kind: TimeType) -> Result<Text<'a>> {
        let start = self.cursor;
        let numbers: TimeNumbers = oer::read_duration(self)?;
        checked(kind, numbers.duration(), &start)
    }

    /// A TIME that is written as its text.
    ///
    /// # Errors
    /// As [`decode_time`].
    pub fn time(&mut self, size: usize, kind: TimeType) -> Result<Text<'a>> {
        let octets = self.take(size)?;
        let at = (self.position() - octets.len()) as u64;
        decode_time(kind, octets, at, self.contents_rules()).map(Text::from)
    }
}

fn checked(kind: TimeType, text: String, start: &Cursor<'_>) -> Result<Text<'static>> {
    kind.encode(&text, Rules::Ber).map_err(|error| start.error(error.kind()))?;
    Ok(text.into())
}

impl<'a> oer::TimeReader<'a> for Reader<'a> {
    fn cursor(&mut self) -> &mut Cursor<'a> {
        &mut self.cursor
    }

    fn variable(&mut self, signed: bool) -> Result<i64> {
        let start = self.cursor;
        let number = Reader::variable(self, signed)?;
        i64::try_from(&number).map_err(|_| start.error(ErrorKind::LimitExceeded))
    }
}

impl Writer {
    /// A date, a time of day, or both, from the text of the value notation.
    ///
    /// # Errors
    /// [`ErrorKind::TimeSyntax`]; [`ErrorKind::ConstraintViolated`] for a value outside of the type's settings.
    pub fn point(&mut self, kind: TimeType, steps: &[TimeStep], text: &str) -> Result<()> {
        kind.encode(text, Rules::Ber)?;
        oer::write_point(&mut self.buffer, steps.iter().copied(), text).map_err(|kind| Error::new(kind, 0))
    }

    /// A duration.
    ///
    /// # Errors
    /// As [`Writer::point`].
    pub fn duration(&mut self, kind: TimeType, text: &str) -> Result<()> {
        kind.encode(text, Rules::Ber)?;
        oer::write_duration(&mut self.buffer, text).map_err(|kind| Error::new(kind, 0))
    }

    /// A TIME that is written as its text.
    ///
    /// # Errors
    /// As [`decode_time`].
    pub fn time(&mut self, size: usize, kind: TimeType, text: &str) -> Result<()> {
        let octets = kind.encode(text, Rules::Ber)?;
        decode_time(kind, &octets, 0, self.contents_rules())?;
        self.octet_string(size, &octets)
    }
}
