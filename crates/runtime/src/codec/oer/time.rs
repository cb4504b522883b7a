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
    pub fn point(&mut self, kind: TimeType, steps: &[TimeStep], text: &Text<'_>) -> Result<()> {
        let text = text.unmarked()?;
        kind.encode(text, Rules::Ber)?;
        oer::write_point(&mut self.buffer, steps.iter().copied(), text).map_err(|kind| Error::new(kind, 0))
    }

    /// A duration.
    ///
    /// # Errors
    /// As [`Writer::point`].
    pub fn duration(&mut self, kind: TimeType, text: &Text<'_>) -> Result<()> {
        let text = text.unmarked()?;
        kind.encode(text, Rules::Ber)?;
        oer::write_duration(&mut self.buffer, text).map_err(|kind| Error::new(kind, 0))
    }

    /// A TIME that is written as its text.
    ///
    /// # Errors
    /// As [`decode_time`].
    pub fn time(&mut self, size: usize, kind: TimeType, text: &Text<'_>) -> Result<()> {
        let text = text.unmarked()?;
        let octets = kind.encode(text, Rules::Ber)?;
        decode_time(kind, &octets, 0, self.contents_rules())?;
        self.octet_string(size, &octets)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oer::TimeNumber::{Signed, SignedVariable, Unsigned, UnsignedVariable};
    use crate::types::TimeUnit::{
        Day, Fraction, FractionDigits, Hour, Minute, Month, Second, Year, ZoneHour, ZoneMinute,
    };
    use TimeStep::{Always, Difference, Number, Utc};
    use std::vec::Vec;

    const DATE: &[TimeStep] =
        &[Number(Year, SignedVariable), Number(Month, Unsigned(1)), Number(Day, Unsigned(1))];
    const CLOCK: &[TimeStep] =
        &[Number(Hour, Unsigned(1)), Number(Minute, Unsigned(1)), Number(Second, Unsigned(1))];
    const ZONED: &[TimeStep] = &[Number(Hour, Unsigned(1)), Number(Minute, Unsigned(1)), Difference];
    const EXACT: &[TimeStep] = &[
        Number(Hour, Unsigned(1)),
        Number(Minute, Unsigned(1)),
        Number(Second, Unsigned(1)),
        Always(FractionDigits, 3),
        Number(Fraction, UnsignedVariable),
        Utc,
    ];
    const SHORT: &[TimeStep] = &[Number(Year, Signed(2))];

    fn written(write: impl FnOnce(&mut Writer) -> Result<()>) -> Result<Vec<u8>> {
        let mut w = Writer::new(false);
        write(&mut w).map(|()| w.finish().into())
    }

    #[test]
    fn numbers_are_written_for_the_text_and_read() {
        for (kind, steps, text, octets) in [
            (TimeType::Date, DATE, "2021-02-28", &[2, 0x07, 0xE5, 2, 28][..]),
            (TimeType::Date, DATE, "0001-01-01", &[1, 1, 1, 1]),
            (TimeType::TimeOfDay, CLOCK, "06:30:15", &[6, 30, 15]),
            (TimeType::Time, ZONED, "15:27-05:30", &[15, 27, 0xFE, 0xB6]),
            (TimeType::Time, ZONED, "15:27+05", &[15, 27, 0x01, 0x2C]),
            (TimeType::Time, ZONED, "15:27+15", &[15, 27, 0x03, 0x84]),
            (TimeType::Time, EXACT, "10:15:30.250Z", &[10, 15, 30, 1, 250]),
            (TimeType::Time, SHORT, "1985", &[0x07, 0xC1]),
        ] {
            assert_eq!(written(|w| w.point(kind, steps, &text.into())).as_deref(), Ok(octets), "{text}");
            assert_eq!(Reader::new(octets, true).point(kind, steps), Ok(Text::from(text)));
        }
        for (text, octets) in [
            ("P1Y2DT300H", &[0x98, 1, 1, 1, 2, 2, 1, 0x2C][..]),
            ("PT0.05S", &[0x03, 1, 0, 1, 2, 1, 5]),
            ("P3W", &[0x20, 1, 3]),
            ("P1Y2M3DT4H5M6S", &[0xDE, 1, 1, 1, 2, 1, 3, 1, 4, 1, 5, 1, 6]),
        ] {
            assert_eq!(
                written(|w| w.duration(TimeType::Duration, &text.into())).as_deref(),
                Ok(octets),
                "{text}"
            );
            assert_eq!(Reader::new(octets, true).duration(TimeType::Duration), Ok(Text::from(text)));
        }
        let octets = b"\x07\x31\x39\x38\x35-04";
        assert_eq!(
            written(|w| w.time(super::super::VARIABLE, TimeType::Time, &"1985-04".into())).as_deref(),
            Ok(&octets[..])
        );
        assert_eq!(
            Reader::new(octets, true).time(super::super::VARIABLE, TimeType::Time),
            Ok(Text::from("1985-04"))
        );
    }

    #[test]
    fn what_the_form_does_not_have_is_not_written() {
        let outside = Err(Error::new(ErrorKind::ConstraintViolated, 0));
        for (steps, text) in [
            (ZONED, "15:27"),
            (ZONED, "15:27Z"),
            (ZONED, "15:27+15:30"),
            (ZONED, "15:27:30+05"),
            (EXACT, "10:15:30.25Z"),
            (EXACT, "10:15:30.250"),
            (EXACT, "10:15:30.250+01"),
            (DATE, "2021-02"),
            (DATE, "15:27"),
        ] {
            assert_eq!(written(|w| w.point(TimeType::Time, steps, &text.into())), outside, "{text}");
        }
        let long = "PT0.1234567890123456789S";
        assert_eq!(written(|w| w.duration(TimeType::Duration, &long.into())), outside);
        let syntax = written(|w| w.duration(TimeType::Duration, &"1Y".into())).unwrap_err();
        assert_eq!(syntax.kind(), ErrorKind::TimeSyntax);
    }

    #[test]
    fn a_fault_is_told_where_it_is() {
        for (kind, steps, octets, fault, at) in [
            (TimeType::Date, DATE, &[2, 0x07, 0xE5, 13, 28][..], ErrorKind::TimeSyntax, 0),
            (TimeType::Date, DATE, &[9, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1], ErrorKind::LimitExceeded, 0),
            (TimeType::Date, DATE, &[0, 1, 1], ErrorKind::IntegerEmpty, 0),
            (TimeType::Time, ZONED, &[15, 27, 0x03, 0x85], ErrorKind::ConstraintViolated, 2),
            (TimeType::Time, ZONED, &[15, 27, 0xFC, 0x7B], ErrorKind::ConstraintViolated, 2),
        ] {
            let error = Reader::new(octets, false).point(kind, steps).unwrap_err();
            assert_eq!((error.kind(), error.at()), (fault, at), "{octets:?}");
        }
        for (octets, fault, at) in [
            (&[0x00][..], ErrorKind::TimeSyntax, 0),
            (&[0x21, 1, 3, 1, 1, 1, 10], ErrorKind::ConstraintViolated, 3),
            (&[0x21, 1, 3, 1, 0, 1, 0], ErrorKind::ConstraintViolated, 3),
            (&[0x21, 1, 3, 1, 19, 1, 0], ErrorKind::ConstraintViolated, 3),
            (&[0x20, 9, 1, 0, 0, 0, 0, 0, 0, 0, 0], ErrorKind::LimitExceeded, 1),
        ] {
            let error = Reader::new(octets, false).duration(TimeType::Duration).unwrap_err();
            assert_eq!((error.kind(), error.at()), (fault, at), "{octets:?}");
        }
        // Not the fewest octets, in CANONICAL-OER alone.
        let padded = [3, 0, 0x07, 0xE5, 2, 28];
        assert!(Reader::new(&padded, false).point(TimeType::Date, DATE).is_ok());
        let error = Reader::new(&padded, true).point(TimeType::Date, DATE).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotCanonical);
    }

    #[test]
    fn a_difference_to_utc_has_minutes_if_they_are_not_zero() {
        let numbers = oer::read_point(&mut Reader::new(&[15, 27, 0x00, 0x3C], false), ZONED.iter().copied());
        let numbers = numbers.unwrap();
        assert_eq!((numbers.get(ZoneHour), numbers.get(ZoneMinute)), (Some(1), None));
    }
}
