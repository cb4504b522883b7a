//! The numbers in the text of a time of X.680 clause 38: what PER (X.691 clause 32) and OER (X.696 clause 29) write.

use alloc::string::String;
use core::fmt::Write;

/// What a number in a time counts. The parts of a duration have the units of a point in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // the names say it
pub enum TimeUnit {
    Century,
    Year,
    Month,
    Week,
    Day,
    DayOfYear,
    DayOfWeek,
    Hour,
    Minute,
    Second,
    /// The digits behind the decimal mark as a number.
    Fraction,
    /// How many digits these are.
    FractionDigits,
    /// 0 for a local time ahead of UTC, 1 for one behind it.
    ZoneSign,
    ZoneHour,
    /// Not there when zero.
    ZoneMinute,
}

use TimeUnit as U;

/// The numbers of a point in time or of a duration, by their units.
///
/// ```
/// use tercet_runtime::types::{TimeNumbers, TimeUnit};
/// let numbers = TimeNumbers::of_point("1985-04-12T10:15:30.25+04:30").unwrap();
/// assert_eq!(numbers.get(TimeUnit::Fraction), Some(25));
/// assert_eq!(numbers.point(), "1985-04-12T10:15:30.25+04:30");
/// assert_eq!(TimeNumbers::of_duration("P1Y2DT0.5S").unwrap().duration(), "P1Y2DT0.5S");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimeNumbers {
    numbers: [Option<i64>; 15],
    /// Whether the time is UTC (`Z`).
    pub utc: bool,
}

/// Digits in a number; longer ones do not fit.
const DIGITS: usize = 18;

impl TimeNumbers {
    /// The number of a unit, if there is one.
    #[must_use]
    pub const fn get(&self, unit: TimeUnit) -> Option<i64> {
        self.numbers[unit as usize]
    }

    /// Sets or takes away the number of a unit.
    pub const fn set(&mut self, unit: TimeUnit, number: Option<i64>) {
        self.numbers[unit as usize] = number;
    }

    /// The numbers in the text of a date, a time of day, or both, that [`super::check_time`] accepts. Nothing for an
    /// interval, or where a number is above 2^63 - 1 or a fraction has more than 18 digits.
    #[must_use]
    pub fn of_point(text: &str) -> Option<Self> {
        let mut numbers = Self::default();
        let (date, clock) = match text.split_once('T') {
            Some((date, clock)) => (Some(date), Some(clock)),
            None if text
                .get(2..)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with([':', '.', ',', 'Z', '+', '-']))
                && text.starts_with(|first: char| first.is_ascii_digit()) =>
            {
                (None, Some(text))
            }
            None => (Some(text), None),
        };
        if let Some(date) = date {
            numbers.date(date)?;
        }
        if let Some(clock) = clock {
            numbers.clock(clock)?;
        }
        Some(numbers)
    }

    fn date(&mut self, text: &str) -> Option<()> {
        let (sign, rest) = match text.strip_prefix('-') {
            Some(rest) => (-1, rest),
            None => (1, text.strip_prefix('+').unwrap_or(text)),
        };
        let mut parts = rest.split('-');
        let year = parts.next()?;
        match year.strip_suffix('C') {
            Some(century) => self.set(U::Century, Some(sign * number(century)?)),
            None => self.set(U::Year, Some(sign * number(year)?)),
        }
        let Some(second) = parts.next() else { return Some(()) };
        let unit = if let Some(week) = second.strip_prefix('W') {
            self.set(U::Week, Some(number(week)?));
            U::DayOfWeek
        } else {
            self.set(if second.len() == 3 { U::DayOfYear } else { U::Month }, Some(number(second)?));
            U::Day
        };
        if let Some(third) = parts.next() {
            self.set(unit, Some(number(third)?));
        }
        parts.next().is_none().then_some(())
    }

    fn clock(&mut self, text: &str) -> Option<()> {
        let (local, zone) = match text.find(['Z', '+', '-']) {
            Some(at) => (text.get(..at)?, text.get(at..)?),
            None => (text, ""),
        };
        let (whole, fraction) = match local.split_once(['.', ',']) {
            Some((whole, fraction)) => (whole, Some(fraction)),
            None => (local, None),
        };
        let mut units = [U::Hour, U::Minute, U::Second].into_iter();
        for part in whole.split(':') {
            self.set(units.next()?, Some(number(part)?));
        }
        self.fraction(fraction)?;
        self.utc = zone == "Z";
        if let Some(difference) = zone.strip_prefix(['+', '-']) {
            let (hours, minutes) = difference.split_once(':').unwrap_or((difference, "0"));
            self.set(U::ZoneSign, Some(i64::from(zone.starts_with('-'))));
            self.set(U::ZoneHour, Some(number(hours)?));
            self.set(U::ZoneMinute, Some(number(minutes)?).filter(|minutes| *minutes != 0));
        }
        Some(())
    }

    fn fraction(&mut self, digits: Option<&str>) -> Option<()> {
        if let Some(digits) = digits {
            self.set(U::Fraction, Some(number(digits).filter(|_| digits.len() <= DIGITS)?));
            self.set(U::FractionDigits, i64::try_from(digits.len()).ok());
        }
        Some(())
    }

    /// The numbers in the text of a duration that [`super::check_duration`] accepts; nothing where one is
    /// above 2^63 - 1, or a fraction has more than 18 digits.
    #[must_use]
    pub fn of_duration(text: &str) -> Option<Self> {
        let mut numbers = Self::default();
        let mut rest = text.strip_prefix('P')?;
        let mut clock = false;
        while !rest.is_empty() {
            if let Some(behind) = rest.strip_prefix('T') {
                (clock, rest) = (true, behind);
            }
            let end = rest.find(|c: char| c.is_ascii_uppercase())?;
            let (digits, behind) = (rest.get(..end)?, rest.get(end + 1..)?);
            let unit = match (rest.as_bytes().get(end)?, clock) {
                (b'Y', false) => U::Year,
                (b'M', false) => U::Month,
                (b'W', false) => U::Week,
                (b'D', false) => U::Day,
                (b'H', true) => U::Hour,
                (b'M', true) => U::Minute,
                (b'S', true) => U::Second,
                _ => return None,
            };
            let (whole, fraction) = match digits.split_once(['.', ',']) {
                Some((whole, fraction)) => (whole, Some(fraction)),
                None => (digits, None),
            };
            numbers.set(unit, Some(number(whole)?));
            numbers.fraction(fraction)?;
            rest = behind;
        }
        Some(numbers)
    }

    /// The text of a point in time.
    #[must_use]
    pub fn point(&self) -> String {
        let mut out = String::new();
        for (unit, width, behind) in [(U::Century, 2, "C"), (U::Year, 4, "")] {
            let Some(number) = self.get(unit) else { continue };
            let digits = alloc::format!("{:0width$}", number.unsigned_abs());
            let sign = if number < 0 {
                "-"
            } else if digits.len() > width {
                "+"
            } else {
                ""
            };
            let _ = write!(out, "{sign}{digits}{behind}");
        }
        for (unit, before, width) in [
            (U::Month, "-", 2),
            (U::DayOfYear, "-", 3),
            (U::Week, "-W", 2),
            (U::Day, "-", 2),
            (U::DayOfWeek, "-", 1),
        ] {
            if let Some(number) = self.get(unit) {
                let _ = write!(out, "{before}{number:0width$}");
            }
        }
        if let Some(hour) = self.get(U::Hour) {
            let _ = write!(out, "{}{hour:02}", if out.is_empty() { "" } else { "T" });
        }
        for unit in [U::Minute, U::Second] {
            if let Some(number) = self.get(unit) {
                let _ = write!(out, ":{number:02}");
            }
        }
        self.write_fraction(&mut out);
        if self.utc {
            out.push('Z');
        }
        if let Some(hour) = self.get(U::ZoneHour) {
            let sign = if self.get(U::ZoneSign) == Some(1) { '-' } else { '+' };
            let _ = write!(out, "{sign}{hour:02}");
            if let Some(minute) = self.get(U::ZoneMinute) {
                let _ = write!(out, ":{minute:02}");
            }
        }
        out
    }

    /// The text of a duration.
    #[must_use]
    pub fn duration(&self) -> String {
        let mut out = String::from("P");
        let units = [
            (U::Year, 'Y'),
            (U::Month, 'M'),
            (U::Week, 'W'),
            (U::Day, 'D'),
            (U::Hour, 'H'),
            (U::Minute, 'M'),
            (U::Second, 'S'),
        ];
        let last = units.iter().rposition(|(unit, _)| self.get(*unit).is_some());
        for (place, (unit, letter)) in units.into_iter().enumerate() {
            let Some(number) = self.get(unit) else { continue };
            if place >= 4 && !out.contains('T') {
                out.push('T');
            }
            let _ = write!(out, "{number}");
            if last == Some(place) {
                self.write_fraction(&mut out);
            }
            out.push(letter);
        }
        out
    }

    fn write_fraction(&self, out: &mut String) {
        if let (Some(fraction), Some(digits)) = (self.get(U::Fraction), self.get(U::FractionDigits)) {
            let width = usize::try_from(digits).unwrap_or_default().min(DIGITS);
            let _ = write!(out, ".{fraction:0width$}");
        }
    }
}

fn number(digits: &str) -> Option<i64> {
    let all = digits.bytes().all(|octet| octet.is_ascii_digit());
    if all { digits.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back() {
        for text in [
            "1985",
            "19C",
            "-0002-04-12",
            "+12345-W15-5",
            "1985-04",
            "1985-102",
            "15",
            "15:27",
            "15:27:46.005Z",
            "15.5",
            "15:27+01",
            "15:27:46-05:30",
            "1985-04-12T23:20:50",
            "2000-02-29T00Z",
        ] {
            assert_eq!(TimeNumbers::of_point(text).unwrap().point(), text);
        }
        for text in ["P1Y2M10DT2H30M", "P3W", "PT0.5S", "P0Y", "P1.250Y", "PT1M"] {
            assert_eq!(TimeNumbers::of_duration(text).unwrap().duration(), text);
        }
        assert!(TimeNumbers::of_point("1985-04-12/1985-06-25").is_none());
        let greatest = "P9223372036854775807Y";
        assert_eq!(TimeNumbers::of_duration(greatest).unwrap().duration(), greatest);
        assert!(TimeNumbers::of_duration("P9223372036854775808Y").is_none());
        assert!(TimeNumbers::of_duration("PT0.1234567890123456789S").is_none());
    }
}
