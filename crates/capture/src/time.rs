//! Time stamps of packets.

use std::fmt;

/// The time of a packet, as the capture file gives it, in UTC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time {
    /// Seconds since 1970.
    pub seconds: i64,
    /// Nanoseconds after that second, below 1,000,000,000.
    pub nanoseconds: u32,
}

/// Nanoseconds in a second.
const SECOND: u128 = 1_000_000_000;
/// Seconds in a day.
const DAY: i64 = 86_400;
/// The first second of the year 10000: RFC 3339 has four digits for the year.
const END: i64 = 253_402_300_800;

impl Time {
    /// Returns the time of seconds and a fraction that may exceed a second, or `None` after the year 9999.
    pub(crate) fn new(seconds: i64, nanoseconds: u64) -> Option<Self> {
        let seconds = seconds.checked_add(i64::try_from(nanoseconds / SECOND as u64).ok()?)?;
        let nanoseconds = (nanoseconds % SECOND as u64) as u32;
        (-62_167_219_200..END).contains(&seconds).then_some(Self { seconds, nanoseconds })
    }

    /// Returns the time of a count of units since 1970 (pcapng, `if_tsresol` and `if_tsoffset`).
    pub(crate) fn of_ticks(ticks: u64, resolution: u8, offset: i64) -> Option<Self> {
        let (ticks, exponent) = (u128::from(ticks), u32::from(resolution & 0x7F));
        let (seconds, nanoseconds) = if resolution & 0x80 != 0 {
            let seconds = ticks >> exponent;
            let fraction = ticks - (seconds << exponent);
            (seconds, (fraction * SECOND) >> exponent)
        } else {
            // Units below 10^-38 s: a 64-bit count of them is less than a nanosecond.
            let Some(unit) = 10u128.checked_pow(exponent) else { return Self::new(offset, 0) };
            (ticks / unit, (ticks % unit) * SECOND / unit)
        };
        let seconds = i64::try_from(seconds).ok()?.checked_add(offset)?;
        Self::new(seconds, nanoseconds as u64)
    }

    /// Returns the seconds from an earlier time to this one; negative if the other one is later.
    pub fn seconds_since(self, earlier: Self) -> i64 {
        self.seconds.saturating_sub(earlier.seconds)
    }
}

impl std::str::FromStr for Time {
    type Err = String;

    /// Reads `2023-11-14T22:13:20.5Z`, the same without `Z` or a fraction, or a day alone; all in UTC.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not a time such as `2023-11-14T22:13:20Z`");
        let whole = text.strip_suffix('Z').unwrap_or(text);
        let (day, clock) = whole.split_once(['T', ' ']).unwrap_or((whole, "0:0:0"));
        let (clock, fraction) = clock.split_once('.').unwrap_or((clock, "0"));
        let numbers = |text: &str, separator: char| -> Option<[i64; 3]> {
            let parts: Vec<i64> = text.split(separator).map(|it| it.parse().ok()).collect::<Option<_>>()?;
            parts.try_into().ok()
        };
        let [year, month, day] = numbers(day, '-').ok_or_else(wrong)?;
        let [hour, minute, second] = numbers(clock, ':').ok_or_else(wrong)?;
        let is_day = (0..=9999).contains(&year) && (1..=12).contains(&month) && (1..=31).contains(&day);
        if !is_day || hour > 23 || minute > 59 || second > 60 || fraction.len() > 9 {
            return Err(wrong());
        }
        let nanoseconds: u64 = format!("{fraction:0<9}").parse().map_err(|_| wrong())?;
        // As when printing: years begin in March.
        let year = if month <= 2 { year - 1 } else { year };
        let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
        let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
        let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
        let days = era * 146_097 + day_of_era - 719_468;
        Self::new(days * DAY + hour * 3600 + minute * 60 + second, nanoseconds).ok_or_else(wrong)
    }
}

impl Time {
    /// Returns the text of the time by RFC 3339, in UTC with nine digits of the second: `2023-11-14T22:13:20.000000001Z`.
    pub fn text(&self) -> [u8; 30] {
        let (days, second) = (self.seconds.div_euclid(DAY), self.seconds.rem_euclid(DAY));
        // Years begin in March, so that the day that leap years add is the last one of a year; eras have 400 years.
        let shifted = days + 719_468;
        let (era, day_of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
        let year_of_era =
            (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let shifted_month = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
        let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
        let year = era * 400 + year_of_era + i64::from(month <= 2);
        let mut text = *b"0000-00-00T00:00:00.000000000Z";
        let mut put = |from: usize, to: usize, number: u64| {
            let mut rest = number;
            for digit in text[from..to].iter_mut().rev() {
                *digit = b'0' + (rest % 10) as u8;
                rest /= 10;
            }
        };
        let small = i64::unsigned_abs;
        put(0, 4, small(year));
        put(5, 7, small(month));
        put(8, 10, small(day));
        put(11, 13, small(second / 3600));
        put(14, 16, small(second / 60 % 60));
        put(17, 19, small(second % 60));
        put(20, 29, self.nanoseconds.into());
        text
    }
}

impl fmt::Display for Time {
    /// Prints the time by RFC 3339, in UTC with nine digits of the second.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(std::str::from_utf8(&self.text()).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(seconds: i64, nanoseconds: u32) -> String {
        Time { seconds, nanoseconds }.to_string()
    }

    #[test]
    fn times_print_as_rfc_3339() {
        assert_eq!(text(0, 0), "1970-01-01T00:00:00.000000000Z");
        assert_eq!(text(1_700_000_000, 1), "2023-11-14T22:13:20.000000001Z");
        assert_eq!(text(951_782_400, 0), "2000-02-29T00:00:00.000000000Z");
        assert_eq!(text(END - 1, 999_999_999), "9999-12-31T23:59:59.999999999Z");
        assert_eq!(text(-1, 0), "1969-12-31T23:59:59.000000000Z");
    }

    #[test]
    fn times_are_read_as_they_are_printed() {
        for text in [
            "1970-01-01T00:00:00.000000000Z",
            "2023-11-14T22:13:20.000000001Z",
            "2000-02-29T23:59:59.120000000Z",
        ] {
            assert_eq!(text.parse::<Time>().unwrap().to_string(), text);
        }
        assert_eq!("2023-11-14".parse(), "2023-11-14T00:00:00.0Z".parse::<Time>());
        for text in [
            "",
            "2023",
            "2023-13-01",
            "2023-01-01T24:00:00",
            "2023-01-01T0:0:0.1234567890",
            "2023-1-1T1:1:1.-5",
        ] {
            assert!(text.parse::<Time>().is_err(), "{text}");
        }
    }

    #[test]
    fn ticks_have_decimal_and_binary_units() {
        assert_eq!(Time::of_ticks(1_500_000, 6, 0), Time::new(1, 500_000_000));
        assert_eq!(Time::of_ticks(3 << 19, 0x80 | 20, 5), Time::new(6, 500_000_000));
        assert_eq!(Time::of_ticks(u64::MAX, 127, 7), Time::new(7, 0));
        assert_eq!(Time::of_ticks(u64::MAX, 0xFF, 7), Time::new(7, 0));
        assert_eq!(Time::of_ticks(u64::MAX, 0, 0), None, "after the year 9999");
    }
}
