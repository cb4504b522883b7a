//! UTCTime and GeneralizedTime (X.680 clauses 47 and 46).

use core::fmt;

use crate::{Error, ErrorKind, Result};

/// How a time relates to UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Zone {
    /// Nothing is said: local time.  GeneralizedTime only.
    Local,
    /// `Z`.
    Utc,
    /// Minutes that local time is ahead of UTC, under 24 hours either way.
    Offset(i16),
}

impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Local => Ok(()),
            Self::Utc => f.write_str("Z"),
            Self::Offset(minutes) => {
                let sign = if minutes < 0 { '-' } else { '+' };
                let minutes = minutes.unsigned_abs();
                write!(f, "{sign}{:02}{:02}", minutes / 60, minutes % 60)
            }
        }
    }
}

/// A UTCTime: `YYMMDDhhmm[ss](Z|±hhmm)`.
///
/// ```
/// use tercet_runtime::types::UtcTime;
/// let time = UtcTime::parse(b"9205210000Z", 0)?;
/// assert_eq!((time.full_year(), time.month, time.second), (1992, 5, None));
/// assert_eq!(time.to_string(), "9205210000Z");
/// assert!(UtcTime::parse(b"9213210000Z", 0).is_err());
/// # Ok::<(), tercet_runtime::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct UtcTime {
    /// The two digits of the year.
    pub year: u8,
    /// 1 to 12.
    pub month: u8,
    /// 1 to 31, as the month has.
    pub day: u8,
    /// 0 to 23.
    pub hour: u8,
    /// 0 to 59.
    pub minute: u8,
    /// 0 to 59.
    pub second: Option<u8>,
    /// Never [`Zone::Local`].
    pub zone: Zone,
}

impl UtcTime {
    /// Checks the text of a UTCTime.
    ///
    /// # Errors
    /// [`ErrorKind::UtcTimeSyntax`] at the first octet that is wrong.
    pub fn parse(text: &[u8], at: u64) -> Result<Self> {
        if let Some(time) = Self::of_canonical(text) {
            return Ok(time);
        }
        let mut p = Parser::new(text, at, ErrorKind::UtcTimeSyntax);
        let year = p.two(0, 99)?;
        let month = p.two(1, 12)?;
        // A century is not known; 2000 is the one of the two likely ones with a leap day in year 00.
        let day = p.two(1, days_in(2000 + u16::from(year), month))?;
        let hour = p.two(0, 23)?;
        let minute = p.two(0, 59)?;
        let second = if p.peek_digit() { Some(p.two(0, 59)?) } else { None };
        let zone = p.zone(false)?;
        p.finish()?;
        match zone {
            Zone::Local => Err(p.error()),
            zone => Ok(Self { year, month, day, hour, minute, second, zone }),
        }
    }

    /// A time in the form of DER and CER, which nearly all have: a fifth of the instructions of the general way.
    #[inline]
    pub(crate) fn of_canonical(text: &[u8]) -> Option<Self> {
        let (head, tail) = text.split_first_chunk()?;
        let &[n, minute, s, second, b'Z'] = tail else { return None };
        let [year, month, day, hour] = pairs(*head)?;
        let [_, _, minute, second] = pairs([b'0', b'0', b'0', b'0', n, minute, s, second])?;
        let valid =
            (hour < 24) & (minute < 60) & (second < 60) && is_date(2000 + u16::from(year), month, day);
        valid.then_some(Self { year, month, day, hour, minute, second: Some(second), zone: Zone::Utc })
    }

    /// The year with RFC 5280's century: 1950 to 2049.
    #[must_use]
    pub const fn full_year(&self) -> u16 {
        if self.year < 50 { 2000 + self.year as u16 } else { 1900 + self.year as u16 }
    }

    /// The same time in the form of DER and CER (X.690 11.8); seconds that are not told are zero. The century is taken
    /// as in [`Self::full_year`].
    #[must_use]
    pub const fn canonical(self) -> Self {
        let date = (self.full_year(), self.month, self.day);
        let ((year, month, day), hour, minute) = in_utc(date, self.hour, self.minute, self.zone);
        let second = Some(match self.second {
            Some(second) => second,
            None => 0,
        });
        Self { year: (year % 100) as u8, month, day, hour, minute, second, zone: Zone::Utc }
    }

    /// Whether the text is the one of DER and CER: with seconds, and `Z` (X.690 11.8).
    #[must_use]
    pub fn is_canonical(&self) -> bool {
        self.second.is_some() && self.zone == Zone::Utc
    }
}

impl fmt::Display for UtcTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { year, month, day, hour, minute, second, zone } = self;
        write!(f, "{year:02}{month:02}{day:02}{hour:02}{minute:02}")?;
        if let Some(second) = second {
            write!(f, "{second:02}")?;
        }
        write!(f, "{zone}")
    }
}

/// A GeneralizedTime: `YYYYMMDDhh[mm[ss]][.f](|Z|±hh[mm])`.
///
/// The fraction is one of the last unit given, and kept as text, so that no digit is lost.
///
/// ```
/// use tercet_runtime::types::GeneralizedTime;
/// let time = GeneralizedTime::parse(b"19851106210627.3-0500", 0)?;
/// assert_eq!((time.year, time.fraction), (1985, Some("3")));
/// assert!(!time.is_canonical());
/// # Ok::<(), tercet_runtime::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GeneralizedTime<'a> {
    /// 0 to 9999.
    pub year: u16,
    /// 1 to 12.
    pub month: u8,
    /// 1 to 31, as the month has.
    pub day: u8,
    /// 0 to 23, or 24 with nothing but zeros after it.
    pub hour: u8,
    /// 0 to 59.
    pub minute: Option<u8>,
    /// 0 to 60, for a leap second.
    pub second: Option<u8>,
    /// The digits after the decimal mark, one at least.
    pub fraction: Option<&'a str>,
    /// How the time relates to UTC.
    pub zone: Zone,
    comma: bool,
    short_offset: bool,
}

impl<'a> GeneralizedTime<'a> {
    /// Checks the text of a GeneralizedTime.
    ///
    /// # Errors
    /// [`ErrorKind::GeneralizedTimeSyntax`] at the first octet that is wrong.
    pub fn parse(text: &'a [u8], at: u64) -> Result<Self> {
        if let Some(time) = Self::of_canonical(text) {
            return Ok(time);
        }
        let mut p = Parser::new(text, at, ErrorKind::GeneralizedTimeSyntax);
        let year = u16::from(p.two(0, 99)?) * 100 + u16::from(p.two(0, 99)?);
        let month = p.two(1, 12)?;
        let day = p.two(1, days_in(year, month))?;
        let hour_at = p.pos;
        let hour = p.two(0, 24)?;
        let minute = if p.peek_digit() { Some(p.two(0, 59)?) } else { None };
        let second = if minute.is_some() && p.peek_digit() { Some(p.two(0, 60)?) } else { None };
        let mark = p.peek().filter(|b| matches!(b, b'.' | b','));
        let mut fraction = None;
        if mark.is_some() {
            p.pos += 1;
            fraction = Some(p.digits()?);
        }
        let zone_at = p.pos;
        let zone = p.zone(true)?;
        p.finish()?;
        let midnight = minute.unwrap_or(0) == 0
            && second.unwrap_or(0) == 0
            && fraction.is_none_or(|f| f.bytes().all(|b| b == b'0'));
        if hour == 24 && !midnight {
            p.pos = hour_at;
            return Err(p.error());
        }
        let short_offset = matches!(zone, Zone::Offset(_)) && text.len() - zone_at == 3;
        let comma = mark == Some(b',');
        Ok(Self { year, month, day, hour, minute, second, fraction, zone, comma, short_offset })
    }

    /// A time in the form of DER and CER without a fraction, which nearly all have.
    #[inline]
    pub(crate) fn of_canonical(text: &[u8]) -> Option<Self> {
        let (head, tail) = text.split_first_chunk()?;
        let &[h, hour, n, minute, s, second, b'Z'] = tail else { return None };
        let [century, year, month, day] = pairs(*head)?;
        let [_, hour, minute, second] = pairs([b'0', b'0', h, hour, n, minute, s, second])?;
        Self::utc(u16::from(century) * 100 + u16::from(year), month, day, hour, minute, second)
    }

    /// A time to the second in UTC, without a fraction.
    #[inline]
    #[must_use]
    pub fn utc(year: u16, month: u8, day: u8, hour: u8, minute: u8, second: u8) -> Option<Self> {
        let valid = year <= 9999 && is_date(year, month, day) && hour < 24 && minute < 60 && second <= 60;
        valid.then_some(Self {
            year,
            month,
            day,
            hour,
            minute: Some(minute),
            second: Some(second),
            fraction: None,
            zone: Zone::Utc,
            comma: false,
            short_offset: false,
        })
    }

    /// The same time with a full stop as decimal mark and no zeros at the end of the fraction (X.690 11.7).
    #[must_use]
    pub fn with_canonical_fraction(mut self) -> Self {
        self.comma = false;
        self.fraction = self.fraction.map(|f| f.trim_end_matches('0')).filter(|f| !f.is_empty());
        self
    }

    /// The same time in the form of DER and CER (X.690 11.7). Nothing for a local time, for a fraction of an hour or
    /// minute, and for one that UTC has in another millennium than the calendar's ten.
    #[must_use]
    pub fn canonical(self) -> Option<Self> {
        if self.zone == Zone::Local || self.fraction.is_some() && self.second.is_none() {
            return None;
        }
        let mut date = (self.year, self.month, self.day);
        let mut hour = self.hour;
        if hour == 24 {
            date = next_day(date);
            hour = 0;
        }
        let (date, hour, minute) = in_utc(date, hour, self.minute.unwrap_or(0), self.zone);
        let second = Some(self.second.unwrap_or(0));
        let (year, month, day) = date;
        let zone = Zone::Utc;
        let moved = Self { year, month, day, hour, minute: Some(minute), second, zone, ..self };
        (year <= 9999).then(|| moved.with_canonical_fraction())
    }

    /// Whether the text is one of DER and CER (X.690 11.7): seconds, `Z`, a full stop, no zero at the end of
    /// the fraction, midnight as hour zero.
    #[must_use]
    pub fn is_canonical(&self) -> bool {
        self.second.is_some()
            && self.zone == Zone::Utc
            && !self.comma
            && self.hour < 24
            && self.fraction.is_none_or(|f| !f.ends_with('0'))
    }
}

/// The text as it was read.
impl fmt::Display for GeneralizedTime<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}{:02}{:02}{:02}", self.year, self.month, self.day, self.hour)?;
        for unit in [self.minute, self.second].into_iter().flatten() {
            write!(f, "{unit:02}")?;
        }
        if let Some(fraction) = self.fraction {
            write!(f, "{}{fraction}", if self.comma { ',' } else { '.' })?;
        }
        match self.zone {
            Zone::Offset(minutes) if self.short_offset => {
                write!(f, "{}{:02}", if minutes < 0 { '-' } else { '+' }, minutes.unsigned_abs() / 60)
            }
            zone => write!(f, "{zone}"),
        }
    }
}

/// The days of a month in the Gregorian calendar.
pub(crate) const fn days_in(year: u16, month: u8) -> u8 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => 29,
        2 => 28,
        _ => 31,
    }
}

/// Year, month, day.
type Date = (u16, u8, u8);

const fn next_day((year, month, day): Date) -> Date {
    if day < days_in(year, month) {
        (year, month, day + 1)
    } else if month < 12 {
        (year, month + 1, 1)
    } else {
        (year + 1, 1, 1)
    }
}

/// The day before; the one before the first of all is out of range.
const fn day_before((year, month, day): Date) -> Date {
    if day > 1 {
        (year, month, day - 1)
    } else if month > 1 {
        (year, month - 1, days_in(year, month - 1))
    } else {
        (year.wrapping_sub(1), 12, 31)
    }
}

const fn in_utc(mut date: Date, hour: u8, minute: u8, zone: Zone) -> (Date, u8, u8) {
    const DAY: i32 = 24 * 60;
    let ahead = match zone {
        Zone::Offset(minutes) => minutes as i32,
        Zone::Utc | Zone::Local => 0,
    };
    let mut minutes = hour as i32 * 60 + minute as i32 - ahead;
    if minutes < 0 {
        date = day_before(date);
        minutes += DAY;
    } else if minutes >= DAY {
        date = next_day(date);
        minutes -= DAY;
    }
    (date, (minutes / 60 % 24) as u8, (minutes % 60) as u8)
}

/// The numbers of four pairs of digits; nothing if they are none.
#[inline]
const fn pairs(digits: [u8; 8]) -> Option<[u8; 4]> {
    const HIGH: u64 = 0xF0F0_F0F0_F0F0_F0F0;
    const ZEROS: u64 = 0x3030_3030_3030_3030;
    const SIXES: u64 = 0x0606_0606_0606_0606;
    const LOW: u64 = 0x000F_000F_000F_000F;
    let digits = u64::from_be_bytes(digits);
    if digits & HIGH != ZEROS || digits.wrapping_add(SIXES) & HIGH != ZEROS {
        return None;
    }
    let [_, a, _, b, _, c, _, d] = ((digits >> 8 & LOW) * 10 + (digits & LOW)).to_be_bytes();
    Some([a, b, c, d])
}

#[inline]
const fn is_date(year: u16, month: u8, day: u8) -> bool {
    month >= 1 && month <= 12 && day >= 1 && (day <= 28 || day <= days_in(year, month))
}

struct Parser<'a> {
    text: &'a [u8],
    pos: usize,
    at: u64,
    kind: ErrorKind,
}

impl<'a> Parser<'a> {
    const fn new(text: &'a [u8], at: u64, kind: ErrorKind) -> Self {
        Self { text, pos: 0, at, kind }
    }

    fn error(&self) -> Error {
        Error::new(self.kind, self.at.saturating_add(self.pos as u64))
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.pos).copied()
    }

    fn peek_digit(&self) -> bool {
        self.peek().is_some_and(|b| b.is_ascii_digit())
    }

    fn digit(&mut self) -> Result<u8> {
        let digit =
            self.peek().map(|b| b.wrapping_sub(b'0')).filter(|d| *d < 10).ok_or_else(|| self.error())?;
        self.pos += 1;
        Ok(digit)
    }

    /// Two digits whose value is in this range.
    fn two(&mut self, least: u8, most: u8) -> Result<u8> {
        let start = self.pos;
        let value = self.digit()? * 10 + self.digit()?;
        if value < least || value > most {
            self.pos = start;
            return Err(self.error());
        }
        Ok(value)
    }

    /// One digit or more.
    fn digits(&mut self) -> Result<&'a str> {
        let rest = self.text.get(self.pos..).unwrap_or_default();
        let length = rest.iter().take_while(|b| b.is_ascii_digit()).count();
        if length == 0 {
            return Err(self.error());
        }
        self.pos += length;
        let digits = rest.get(..length).unwrap_or_default();
        core::str::from_utf8(digits).map_err(|_| self.error())
    }

    fn zone(&mut self, short: bool) -> Result<Zone> {
        let negative = match self.peek() {
            None => return Ok(Zone::Local),
            Some(b'Z') => {
                self.pos += 1;
                return Ok(Zone::Utc);
            }
            Some(b'+') => false,
            Some(b'-') => true,
            Some(_) => return Err(self.error()),
        };
        self.pos += 1;
        let hours = i16::from(self.two(0, 23)?);
        let minutes = if short && self.peek().is_none() { 0 } else { i16::from(self.two(0, 59)?) };
        let offset = hours * 60 + minutes;
        Ok(Zone::Offset(if negative { -offset } else { offset }))
    }

    fn finish(&self) -> Result<()> {
        if self.pos == self.text.len() { Ok(()) } else { Err(self.error()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn utc_time() {
        for (text, canonical) in [
            ("010203040506Z", true),
            ("9205210000Z", false),
            ("920521000000+0100", false),
            ("9205210000-2359", false),
            ("000229000000Z", true),
        ] {
            let time = UtcTime::parse(text.as_bytes(), 0).unwrap();
            assert_eq!(time.to_string(), text);
            assert_eq!(time.is_canonical(), canonical, "{text}");
        }
        for (text, at) in [
            ("", 0),
            ("0102030405", 10),
            ("010203040506", 12),
            ("010003040506Z", 2),
            ("011303040506Z", 2),
            ("010229040506Z", 4),
            ("010203240506Z", 6),
            ("010203046006Z", 8),
            ("010203040560Z", 10),
            ("010203040506.5Z", 12),
            ("010203040506z", 12),
            ("010203040506+01", 15),
            ("010203040506Z ", 13),
            ("0102030405é", 10),
        ] {
            let error = UtcTime::parse(text.as_bytes(), 100).unwrap_err();
            assert_eq!(error.at(), 100 + at, "{text}");
        }
    }

    /// A text with each octet in each place, beside the same time without `Z`, which is read in the general way.
    #[test]
    fn times_in_the_form_of_der_are_read_as_all_others() {
        for text in ["991231235959Z", "000229000000Z", "010101101010Z", "20241231235960Z", "20240229000000Z"]
        {
            for (place, octet) in
                (0..text.len()).flat_map(|place| (0..=u8::MAX).map(move |octet| (place, octet)))
            {
                let mut text = text.as_bytes().to_vec();
                text[place] = octet;
                let (digits, zone) = text.split_at(text.len() - 1);
                let general = [digits, if zone == b"Z" { b"+0000" } else { zone }].concat();
                if text.len() == 13 {
                    let general = UtcTime::parse(&general, 0).is_ok_and(|time| time.zone == Zone::Offset(0));
                    assert_eq!(UtcTime::of_canonical(&text).is_some(), general, "{text:?}");
                } else {
                    let general = GeneralizedTime::parse(&general, 0);
                    let general = general.is_ok_and(|time| {
                        (time.zone, time.fraction) == (Zone::Offset(0), None) && time.hour < 24
                    });
                    assert_eq!(GeneralizedTime::of_canonical(&text).is_some(), general, "{text:?}");
                }
            }
        }
    }

    #[test]
    fn generalized_time() {
        for (text, canonical) in [
            ("20010203040506.5Z", true),
            ("20010203040506Z", true),
            ("20010203040506.50Z", false),
            ("20010203040506,5Z", false),
            ("20010203040506.5", false),
            ("2001020304", false),
            ("2001020304Z", false),
            ("2001020304.25Z", false),
            ("200102030405.5+01", false),
            ("20010203040506+0130", false),
            ("19851231240000Z", false),
            ("00000101000000Z", true),
            ("20001231235960Z", true),
        ] {
            let time = GeneralizedTime::parse(text.as_bytes(), 0).unwrap();
            assert_eq!(time.to_string(), text);
            assert_eq!(time.is_canonical(), canonical, "{text}");
        }
        for text in [
            "19000229000000Z",
            "20010203046006Z",
            "20010203040561Z",
            "20010203240001Z",
            "20010203040506.Z",
            "20010203040506Z0",
            "200102030405066Z",
            "20010203",
            "2001 203040506Z",
        ] {
            assert!(GeneralizedTime::parse(text.as_bytes(), 0).is_err(), "{text}");
        }
        assert_eq!(GeneralizedTime::utc(2020, 2, 29, 1, 2, 3).unwrap().to_string(), "20200229010203Z");
        assert_eq!(GeneralizedTime::utc(2021, 2, 29, 1, 2, 3), None);
    }
}
