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
    pub fn time(&mut self, form: &TimeForm, text: &Text<'_>) -> Result<()> {
        let text = text.unmarked()?;
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

#[cfg(test)]
mod tests {
    use super::TimeNumber::{Any, Range};
    use super::*;
    use crate::types::TimeUnit::{
        Century, Day, DayOfYear, Fraction, FractionDigits, Hour, Minute, Month, Second, Week, Year, ZoneHour,
        ZoneMinute, ZoneSign,
    };
    use per::TimePart::{Duration, Point, Recurrence};
    use per::TimeStep::{Always, Number, Presence, Ranges, Utc};
    use std::string::String;
    use std::vec::Vec;

    const YEAR: TimeStep = Ranges(
        Year,
        [
            Range(Whole::Bits(4), 2005, 15, false),
            Range(Whole::Bits(8), 2021, 255, false),
            Range(Whole::Bits(8), 1749, 255, false),
            Any,
        ],
    );
    const MONTH: TimeStep = Number(Month, Range(Whole::Bits(4), 1, 11, false));
    const DAY: TimeStep = Number(Day, Range(Whole::Bits(5), 1, 30, false));
    const HOUR: TimeStep = Number(Hour, Range(Whole::Bits(5), 0, 24, false));
    const MINUTE: TimeStep = Number(Minute, Range(Whole::Bits(6), 0, 59, false));
    const SECOND: TimeStep = Number(Second, Range(Whole::Bits(6), 0, 60, false));
    const LASTS: &[TimeStep] = &[
        Presence(Year),
        Presence(Month),
        Presence(Week),
        Presence(Day),
        Presence(Hour),
        Presence(Minute),
        Presence(Second),
        Presence(Fraction),
        Number(Year, Range(Whole::Bits(5), 0, 31, true)),
        Number(Month, Range(Whole::Bits(4), 0, 15, true)),
        Number(Week, Range(Whole::Bits(6), 0, 63, true)),
        Number(Day, Range(Whole::Bits(5), 0, 31, true)),
        Number(Hour, Range(Whole::Bits(5), 0, 31, true)),
        Number(Minute, Range(Whole::Bits(6), 0, 63, true)),
        Number(Second, Range(Whole::Bits(6), 0, 63, true)),
        Number(FractionDigits, Range(Whole::Bits(2), 1, 2, true)),
        Number(Fraction, Range(Whole::Bits(10), 0, 999, true)),
    ];
    const DATE: TimeForm = TimeForm { kind: TimeType::Date, parts: &[Point(&[YEAR, MONTH, DAY])] };
    const CLOCK: TimeForm = TimeForm { kind: TimeType::TimeOfDay, parts: &[Point(&[HOUR, MINUTE, SECOND])] };
    const DURATION: TimeForm = TimeForm { kind: TimeType::Duration, parts: &[Duration(LASTS)] };
    const CENTURY: TimeForm = time(&[Point(&[Number(Century, Range(Whole::Bits(7), 0, 99, false))])]);
    const OF_YEAR: TimeForm =
        time(&[Point(&[YEAR, Number(DayOfYear, Range(Whole::Bits(9), 1, 365, false))])]);
    const ZONED: TimeForm = time(&[Point(&[
        HOUR,
        MINUTE,
        Presence(ZoneMinute),
        Number(ZoneSign, Range(Whole::Bits(1), 0, 1, false)),
        Number(ZoneHour, Range(Whole::Bits(4), 0, 15, false)),
        Number(ZoneMinute, Range(Whole::Bits(6), 1, 58, false)),
    ])]);
    const EXACT: TimeForm = time(&[Point(&[
        HOUR,
        MINUTE,
        SECOND,
        Always(FractionDigits, 3),
        Number(Fraction, Range(Whole::Bits(10), 0, 999, true)),
        Utc,
    ])]);
    const INTERVAL: TimeForm = time(&[Point(&[HOUR, MINUTE]), Duration(LASTS)]);
    const AGAIN: TimeForm = time(&[Recurrence(Any, 2), Duration(LASTS)]);

    const fn time(parts: &'static [TimePart]) -> TimeForm {
        TimeForm { kind: TimeType::Time, parts }
    }

    /// Bits in groups, filled up to whole octets.
    fn octets(bits: &str) -> Vec<u8> {
        let bits: Vec<u8> = bits.bytes().filter(|bit| *bit != b' ').map(|bit| bit - b'0').collect();
        let octet = |bits: &[u8]| (0..8).fold(0, |octet, at| octet << 1 | bits.get(at).copied().unwrap_or(0));
        bits.chunks(8).map(octet).collect()
    }

    fn written(form: &TimeForm, text: &str) -> Result<Vec<u8>> {
        let mut w = Writer::<false>::default();
        w.time(form, &text.into()).map(|()| w.finish(true))
    }

    fn read(form: &TimeForm, octets: &[u8]) -> Result<String> {
        Reader::<false>::new(octets).time(form).map(|text| String::from(text.as_str()))
    }

    #[test]
    fn numbers_are_written_for_the_text_and_read() {
        for (form, text, bits) in [
            (&DATE, "2005-01-01", "00 0000 0000 00000"),
            (&DATE, "2015-12-31", "00 1010 1011 11110"),
            (&DATE, "2021-02-28", "01 00000000 0001 11011"),
            (&DATE, "2276-02-28", "01 11111111 0001 11011"),
            (&DATE, "1951-10-14", "10 11001010 1001 01101"),
            (&DATE, "1582-10-15", "11 00000010 00000110 00101110 1001 01110"),
            (&DATE, "2277-01-01", "11 00000010 00001000 11100101 0000 00000"),
            (&CLOCK, "06:30:15", "00110 011110 001111"),
            (&CLOCK, "24:00:00", "11000 000000 000000"),
            (&DURATION, "P3W", "00100000 0 000011"),
            (&DURATION, "P1Y2DT300H", "10011000 0 00001 0 00010 1 00000010 00000001 00101100"),
            (&DURATION, "PT0.05S", "00000011 0 000000 0 01 0 0000000101"),
            (&DURATION, "P1Y15M31DT31H63M63S", "11011110 0 00001 0 1111 0 11111 0 11111 0 111111 0 111111"),
            (&DURATION, "P0Y", "10000000 0 00000"),
            (&CENTURY, "19C", "0010011"),
            (&OF_YEAR, "2015-365", "00 1010 101101100"),
            (&ZONED, "15:27-05:30", "01111 011011 1 1 0101 011101"),
            (&ZONED, "15:27+05", "01111 011011 0 0 0101"),
            (&EXACT, "10:15:30.250Z", "01010 001111 011110 0 0011111010"),
            (&INTERVAL, "15:27/PT1H", "01111 011011 00001000 0 00001"),
            (&AGAIN, "R12/P1Y", "1 00000001 00001100 10000000 0 00001"),
            (&AGAIN, "R03/P1Y", "1 00000001 00000011 10000000 0 00001"),
            (&AGAIN, "R/P1M", "0 01000000 0 0001"),
        ] {
            assert_eq!(written(form, text), Ok(octets(bits)), "{text}");
            assert_eq!(read(form, &octets(bits)).as_deref(), Ok(text), "{bits}");
        }
    }

    #[test]
    fn zeros_in_front_of_the_last_part_of_a_duration_are_left_out() {
        for (text, bits, again) in [
            ("P1Y0M3D", "10010000 0 00001 0 00011", "P1Y3D"),
            ("P0Y0M0D", "00010000 0 00000", "P0D"),
            ("P0DT0S", "00000010 0 000000", "PT0S"),
        ] {
            assert_eq!(written(&DURATION, text), Ok(octets(bits)), "{text}");
            assert_eq!(read(&DURATION, &octets(bits)).as_deref(), Ok(again));
        }
        assert_eq!(read(&DURATION, &octets("10000010 0 00000 0 000001")).as_deref(), Ok("PT1S"));
    }

    #[test]
    fn what_the_form_does_not_have_is_not_written() {
        let outside = Err(Error::new(ErrorKind::ConstraintViolated, 0));
        for (form, text) in [
            (&CENTURY, "1985"),
            (&CENTURY, "-19C"),
            (&OF_YEAR, "2015"),
            (&OF_YEAR, "2015-12-31"),
            (&ZONED, "15:27"),
            (&ZONED, "15:27Z"),
            (&ZONED, "15:27:30+05"),
            (&EXACT, "10:15:30.25Z"),
            (&EXACT, "10:15:30.250"),
            (&EXACT, "10:15:30Z"),
            (&INTERVAL, "15:27"),
            (&INTERVAL, "15:27/16:00"),
            (&AGAIN, "P1Y"),
            (&AGAIN, "R012/P1Y"),
            (&AGAIN, "R5/15:27/P1Y"),
        ] {
            assert_eq!(written(form, text), outside, "{text}");
        }
        for (form, text) in [(&DATE, "2021-02-29"), (&DATE, "20210228"), (&CENTURY, "x"), (&DURATION, "1Y")] {
            assert_eq!(written(form, text), Err(Error::new(ErrorKind::TimeSyntax, 0)), "{text}");
        }
    }

    #[test]
    fn a_fault_is_told_where_it_is() {
        let cut = octets("01 00000000 0001 1");
        assert_eq!(read(&DATE, cut.get(..1).unwrap()).unwrap_err().kind(), ErrorKind::Incomplete);
        for (form, bits, kind, at) in [
            // The month; what is no day of it, told at the begin; a number of more than 64 bits.
            (&DATE, "01 00000000 1100 00000", ErrorKind::ConstraintViolated, 10),
            (&DATE, "01 00000000 0001 11101", ErrorKind::TimeSyntax, 0),
            (&AGAIN, "1 00000001 11111111 10000000 0 00001", ErrorKind::TimeSyntax, 0),
            (
                &AGAIN,
                "1 00001001 00000001 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000",
                ErrorKind::LimitExceeded,
                1,
            ),
        ] {
            let error = read(form, &octets(bits)).unwrap_err();
            assert_eq!(
                (error.kind(), error.at() * 8 + u64::from(error.bit().unwrap_or(0))),
                (kind, at),
                "{bits}"
            );
        }
    }
}
