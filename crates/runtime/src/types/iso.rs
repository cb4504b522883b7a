//! TIME, DATE, TIME-OF-DAY, DATE-TIME and DURATION (X.680 clause 38).

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;

use super::time::days_in;
use crate::{Error, ErrorKind, Result, Tag};

/// TIME or one of the useful time types: what value notation and contents octets look like.
///
/// The contents octets of a TIME are the text of its value (X.690 8.26); those of the useful types leave
/// out what never varies: the hyphens, `T` and colons, the `P` of a DURATION.
///
/// ```
/// use tercet_runtime::ber::{decode_time, Rules};
/// use tercet_runtime::types::TimeType;
/// let octets = TimeType::DateTime.encode("1951-10-14T15:30:00", Rules::Der)?;
/// assert_eq!(*octets, *b"19511014153000");
/// assert_eq!(decode_time(TimeType::DateTime, &octets, 0, Rules::Der)?, "1951-10-14T15:30:00");
/// assert!(decode_time(TimeType::Date, b"1951-10-14", 0, Rules::Ber).is_err());
/// # Ok::<(), tercet_runtime::Error>(())
/// ```
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
    /// The universal tag of the type.
    #[must_use]
    pub const fn tag(self) -> Tag {
        match self {
            Self::Time => Tag::TIME,
            Self::Date => Tag::DATE,
            Self::TimeOfDay => Tag::TIME_OF_DAY,
            Self::DateTime => Tag::DATE_TIME,
            Self::Duration => Tag::DURATION,
        }
    }

    /// The value notation of the types that have one form, `0` for a digit.
    const fn pattern(self) -> Option<&'static [u8]> {
        match self {
            Self::Date => Some(b"0000-00-00"),
            Self::TimeOfDay => Some(b"00:00:00"),
            Self::DateTime => Some(b"0000-00-00T00:00:00"),
            Self::Time | Self::Duration => None,
        }
    }

    /// The value notation for contents octets that start at the absolute offset `at`.
    pub(crate) fn decode(self, contents: &[u8], at: u64, canonical: bool) -> Result<Cow<'_, str>> {
        let fault = |index: usize| Error::new(ErrorKind::TimeSyntax, at.saturating_add(index as u64));
        let text = core::str::from_utf8(contents).map_err(|e| fault(e.valid_up_to()))?;
        let Some(pattern) = self.pattern() else {
            let (text, check) = match self {
                Self::Time => (Cow::Borrowed(text), check_time as fn(&str, u64) -> Result<Form>),
                _ => (Cow::Owned(alloc::format!("P{text}")), check_duration as _),
            };
            // The `P` is not in the octets.
            let start = if self == Self::Time { at } else { at.saturating_sub(1) };
            if !check(&text, start)?.is_canonical() && canonical {
                return Err(Error::new(ErrorKind::TimeNotCanonical, at));
            }
            return Ok(text);
        };
        let mut digits = text.chars();
        let mut out = String::with_capacity(pattern.len());
        for place in pattern {
            out.push(if *place == b'0' {
                digits.next().ok_or_else(|| fault(contents.len()))?
            } else {
                char::from(*place)
            });
        }
        if !digits.as_str().is_empty() {
            return Err(fault(contents.len() - digits.as_str().len()));
        }
        check_time(&out, at).map_err(|_| fault(0))?;
        Ok(Cow::Owned(out))
    }

    /// The contents octets for the text of a value; in DER and CER in the form of X.690 11.9.
    ///
    /// # Errors
    /// [`ErrorKind::TimeSyntax`] with the octet offset in `text`.
    pub fn encode(self, text: &str, rules: crate::ber::Rules) -> Result<Cow<'_, [u8]>> {
        let octets = text.as_bytes();
        if let Some(pattern) = self.pattern() {
            let place =
                |(have, want): (&u8, &u8)| if *want == b'0' { have.is_ascii_digit() } else { have == want };
            if octets.len() != pattern.len() || !octets.iter().zip(pattern).all(place) {
                return Err(Error::new(ErrorKind::TimeSyntax, 0));
            }
            check_time(text, 0)?;
            return Ok(Cow::Owned(octets.iter().copied().filter(u8::is_ascii_digit).collect()));
        }
        let form = if self == Self::Time { check_time(text, 0)? } else { check_duration(text, 0)? };
        let skip = usize::from(self == Self::Duration);
        if !rules.is_canonical() || form.is_canonical() {
            return Ok(Cow::Borrowed(octets.get(skip..).unwrap_or_default()));
        }
        let keep = |i: usize| !form.zero_minutes.iter().flatten().any(|at| (*at..*at + 3).contains(&i));
        let dotted = octets.iter().map(|octet| if *octet == b',' { b'.' } else { *octet });
        let kept: Vec<u8> = dotted.enumerate().skip(skip).filter(|(i, _)| keep(*i)).map(|(_, b)| b).collect();
        Ok(Cow::Owned(kept))
    }
}

/// What DER and CER write differently in the text of a TIME (X.690 11.9).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Form {
    comma: bool,
    zero_minutes: [Option<usize>; 2],
}

impl Form {
    /// Whether the decimal mark is a full stop, and a difference to UTC of whole hours has no minutes.
    #[must_use]
    pub const fn is_canonical(&self) -> bool {
        !self.comma && self.zero_minutes[0].is_none()
    }
}

/// Checks the text of a TIME value: a date, a time of day, both, an interval, or a recurring interval, in
/// the extended format of ISO 8601.
///
/// # Errors
/// [`ErrorKind::TimeSyntax`] near the first octet that is wrong, counted from `at`.
///
/// ```
/// use tercet_runtime::types::check_time;
/// for text in ["1985-W15-5", "-0002-04-12", "15:27:35,5", "15:27:46+01:00", "R12/1985-04-12T23:20:30/P1M"] {
///     assert!(check_time(text, 0).is_ok());
/// }
/// assert!(check_time("1985-13-01", 0).is_err());
/// ```
pub fn check_time(text: &str, at: u64) -> Result<Form> {
    let mut p = Parser::new(text, at);
    let recurring = p.eat(b'R');
    if recurring {
        p.run();
        p.expect(b'/')?;
    }
    let first_is_duration = p.interval_part()?;
    if p.eat(b'/') {
        let second_is_duration = p.interval_part()?;
        if first_is_duration && second_is_duration {
            return Err(p.error());
        }
    } else if recurring && !first_is_duration {
        return Err(p.error());
    }
    p.finish()
}

/// Checks the text of a DURATION value: `P3W`, `P1Y2M10DT2H30M`, `PT0.5S`.
///
/// # Errors
/// [`ErrorKind::TimeSyntax`] near the first octet that is wrong, counted from `at`.
pub fn check_duration(text: &str, at: u64) -> Result<Form> {
    let mut p = Parser::new(text, at);
    p.duration()?;
    p.finish()
}

struct Parser<'a> {
    text: &'a [u8],
    pos: usize,
    at: u64,
    form: Form,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str, at: u64) -> Self {
        Self { text: text.as_bytes(), pos: 0, at, form: Form::default() }
    }

    fn error(&self) -> Error {
        Error::new(ErrorKind::TimeSyntax, self.at.saturating_add(self.pos as u64))
    }

    fn require(&self, condition: bool) -> Result<()> {
        if condition { Ok(()) } else { Err(self.error()) }
    }

    fn rest(&self) -> &'a [u8] {
        self.text.get(self.pos..).unwrap_or_default()
    }

    fn peek(&self) -> Option<u8> {
        self.rest().first().copied()
    }

    fn eat(&mut self, octet: u8) -> bool {
        let there = self.peek() == Some(octet);
        self.pos += usize::from(there);
        there
    }

    fn expect(&mut self, octet: u8) -> Result<()> {
        if self.eat(octet) { Ok(()) } else { Err(self.error()) }
    }

    fn finish(self) -> Result<Form> {
        self.require(self.rest().is_empty())?;
        Ok(self.form)
    }

    /// The digits at the cursor, without moving.
    fn digits(&self) -> &'a [u8] {
        let rest = self.rest();
        let length = rest.iter().take_while(|b| b.is_ascii_digit()).count();
        rest.get(..length).unwrap_or_default()
    }

    /// Steps over digits and says how many.
    fn run(&mut self) -> usize {
        let length = self.digits().len();
        self.pos += length;
        length
    }

    /// A number of exactly `length` digits in a range.
    fn number(&mut self, length: usize, least: u16, most: u16) -> Result<u16> {
        let digits = self.rest().get(..length).filter(|d| d.iter().all(u8::is_ascii_digit));
        let digits = digits.ok_or_else(|| self.error())?;
        let value = digits.iter().fold(0_u16, |n, b| n * 10 + u16::from(b - b'0'));
        self.require((least..=most).contains(&value))?;
        self.pos += length;
        Ok(value)
    }

    /// A decimal mark and digits, if there is a mark.
    fn fraction(&mut self) -> Result<bool> {
        let comma = self.peek() == Some(b',');
        if !comma && self.peek() != Some(b'.') {
            return Ok(false);
        }
        self.form.comma |= comma;
        self.pos += 1;
        let some = self.run() > 0;
        self.require(some)?;
        Ok(true)
    }

    /// A point in time or a duration; says whether it was a duration.
    fn interval_part(&mut self) -> Result<bool> {
        if self.peek() == Some(b'P') {
            self.duration()?;
            return Ok(true);
        }
        let signed = matches!(self.peek(), Some(b'+' | b'-'));
        let two = self.digits().len() == 2;
        if !signed && two && self.rest().get(2) != Some(&b'C') {
            self.time()?;
        } else {
            self.date()?;
            if self.eat(b'T') {
                self.time()?;
            }
        }
        Ok(false)
    }

    /// `YYYY`, `YYYY-MM`, `YYYY-MM-DD`, `YYYY-DDD`, `YYYY-Www`, `YYYY-Www-D`, `YYC`; more digits after a sign.
    fn date(&mut self) -> Result<()> {
        let signed = self.eat(b'+') || self.eat(b'-');
        let digits = self.digits();
        let century = self.rest().get(digits.len()) == Some(&b'C');
        let least = if century { 2 } else { 4 };
        self.require(digits.len() == least || (signed && digits.len() > least))?;
        self.pos += digits.len() + usize::from(century);
        if century {
            return Ok(());
        }
        // The calendar repeats after 400 years, so that four digits tell the leap years.
        let low = digits.get(digits.len() - 4..).unwrap_or_default();
        let year = low.iter().fold(0_u16, |n, b| n * 10 + u16::from(b - b'0'));
        if !self.eat(b'-') {
            return Ok(());
        }
        if self.eat(b'W') {
            self.number(2, 1, 53)?;
            if self.eat(b'-') {
                self.number(1, 1, 7)?;
            }
        } else if self.digits().len() == 3 {
            self.number(3, 1, if days_in(year, 2) == 29 { 366 } else { 365 })?;
        } else {
            let [_, month] = self.number(2, 1, 12)?.to_be_bytes();
            if self.eat(b'-') {
                self.number(2, 1, u16::from(days_in(year, month)))?;
            }
        }
        Ok(())
    }

    /// `hh[:mm[:ss]][.f](|Z|±hh[:mm])`.
    fn time(&mut self) -> Result<()> {
        let start = self.pos;
        let hour = self.number(2, 0, 24)?;
        if self.eat(b':') {
            self.number(2, 0, 59)?;
            if self.eat(b':') {
                self.number(2, 0, 60)?;
            }
        }
        self.fraction()?;
        if hour == 24 {
            let after = self.text.get(start + 2..self.pos).unwrap_or_default();
            self.require(after.iter().all(|b| matches!(b, b'0' | b':' | b'.' | b',')))?;
        }
        if !self.eat(b'Z') && (self.eat(b'+') || self.eat(b'-')) {
            self.number(2, 0, 23)?;
            let colon = self.pos;
            if self.eat(b':') && self.number(2, 0, 59)? == 0 {
                let [first, second] = &mut self.form.zero_minutes;
                *(if first.is_none() { first } else { second }) = Some(colon);
            }
        }
        Ok(())
    }

    /// Units in order, each at most once, one at least; a fraction in the last only.
    fn duration(&mut self) -> Result<()> {
        self.expect(b'P')?;
        let mut units: &[u8] = b"YMWDTHMS";
        let mut some = false;
        let mut in_time = false;
        let mut weeks = false;
        loop {
            if self.peek() == Some(b'T') && !in_time {
                self.pos += 1;
                in_time = true;
                units = b"HMS";
                let digit = self.peek().is_some_and(|b| b.is_ascii_digit());
                self.require(digit)?;
            }
            if self.digits().is_empty() {
                break;
            }
            self.require(!weeks)?;
            self.run();
            let fraction = self.fraction()?;
            let Some(unit) = self.peek() else { return Err(self.error()) };
            let allowed =
                if in_time { units } else { units.split(|b| *b == b'T').next().unwrap_or_default() };
            let Some(place) = allowed.iter().position(|b| *b == unit) else { return Err(self.error()) };
            weeks = unit == b'W';
            self.require(!weeks || !some)?;
            units = units.get(place + 1..).unwrap_or_default();
            self.pos += 1;
            some = true;
            if fraction {
                break;
            }
        }
        self.require(some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ber::Rules;

    #[test]
    fn accepts() {
        for text in [
            "1985",
            "19C",
            "-19C",
            "+12345",
            "1985-04",
            "1985-04-12",
            "1985-102",
            "1985-W15",
            "1985-W15-5",
            "2000-02-29",
            "2000-366",
            "15",
            "15:27",
            "15:27:46",
            "15.5",
            "15:27,25",
            "23:59:60",
            "24:00:00",
            "15:27:46Z",
            "15:27+01",
            "15:27:46-05:30",
            "1985-04-12T10:15:30+04:00",
            "1985-04-12/1985-06-25",
            "P1Y2M10DT2H30M",
            "P3W",
            "PT0.5S",
            "P0Y",
            "1985-04-12T23:20:50/P1Y2M15DT12H30M0S",
            "P1M/1985-04-12",
            "R/P1D",
            "R12/1985-04-12/P1M",
        ] {
            assert!(check_time(text, 0).is_ok(), "{text}");
        }
    }

    #[test]
    fn refuses() {
        for text in [
            "",
            "T",
            "198",
            "19855",
            "1985-",
            "1985-13",
            "1985-02-29",
            "1985-366",
            "1985-W54",
            "1985-W01-8",
            "1985-4-1",
            "25",
            "15:60",
            "15:27:61",
            "24:00:01",
            "15:27:46.",
            "15:27:46z",
            "15:27:46+24",
            "P",
            "PT",
            "P1",
            "P1D2Y",
            "P1H",
            "PT1D",
            "P1W2D",
            "P1DT",
            "P1.5Y2M",
            "P1Y/P1M",
            "R1",
            "R/1985",
            "1985/",
            "/1985",
            "1985-04-12T",
            "1985-04-12 10:00",
            "1/2/3",
            "é",
            "P1Y1W",
        ] {
            assert!(check_time(text, 0).is_err(), "{text}");
        }
    }

    #[test]
    fn contents() {
        for (kind, text, octets) in [
            (TimeType::Date, "2021-02-28", "20210228"),
            (TimeType::TimeOfDay, "06:30:00", "063000"),
            (TimeType::DateTime, "1951-10-14T15:30:00", "19511014153000"),
            (TimeType::Duration, "P1Y2DT3H", "1Y2DT3H"),
            (TimeType::Time, "1985-W15-5", "1985-W15-5"),
            (TimeType::Time, "15:27:46+01", "15:27:46+01"),
        ] {
            for rules in [Rules::Ber, Rules::Der] {
                assert_eq!(*kind.encode(text, rules).unwrap(), *octets.as_bytes(), "{text}");
            }
            assert_eq!(kind.decode(octets.as_bytes(), 0, true).unwrap(), text);
        }
        for (text, octets) in [
            ("15:27:35,5", "15:27:35.5"),
            ("15:27:46+01:00", "15:27:46+01"),
            ("10:00-01:00/11:00,5+00:00", "10:00-01/11:00.5+00"),
        ] {
            assert_eq!(*TimeType::Time.encode(text, Rules::Der).unwrap(), *octets.as_bytes());
            assert_eq!(*TimeType::Time.encode(text, Rules::Ber).unwrap(), *text.as_bytes());
            assert!(TimeType::Time.decode(text.as_bytes(), 0, false).is_ok());
            let error = TimeType::Time.decode(text.as_bytes(), 0, true).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::TimeNotCanonical);
        }
        for (kind, octets) in [
            (TimeType::Date, "2021022"),
            (TimeType::Date, "202102288"),
            (TimeType::Date, "20210229"),
            (TimeType::Date, "+2021028"),
            (TimeType::TimeOfDay, "063060é"),
            (TimeType::TimeOfDay, "0630é"),
            (TimeType::Duration, "P1Y"),
            (TimeType::Duration, ""),
            (TimeType::DateTime, "19511014T53000"),
        ] {
            assert!(kind.decode(octets.as_bytes(), 0, false).is_err(), "{kind:?} {octets}");
        }
        assert!(TimeType::Date.encode("20210228", Rules::Ber).is_err());
        assert!(TimeType::Date.encode("2021-02", Rules::Ber).is_err());
    }
}
