//! Texts that are points in time, or amounts, as numbers.

use crate::layout::{DIGITS, PLACES};
use crate::store::{Store, Values};

const MICROS: i64 = 1_000_000;

impl Store {
    /// Appends the number of a text at the index that was taken last; null if it is none.
    pub(crate) fn typed(&mut self, text: &[u8]) {
        let done = match &mut self.values {
            Values::Timestamp(values, offsets) => timestamp(text).map(|(micros, offset)| {
                values.push(micros);
                if let Some(offsets) = offsets {
                    offsets.push(offset);
                }
            }),
            Values::Date(values) => days(text).map(|days| values.push(days)),
            Values::Amount(values) => amount(text).map(|amount| values.push(amount)),
            Values::TimeOfDay(values) => time_of_day(text).map(|micros| values.push(micros)),
            _ => None,
        };
        if done.is_some() {
            self.present();
        }
    }
}

/// `YYYY-MM-DDThh:mm:ss` with a fraction or without, and `Z` or the offset: microseconds of UTC, minutes of the offset.
fn timestamp(text: &[u8]) -> Option<(i64, i16)> {
    let (date, rest) = text.split_at_checked(10)?;
    let rest = rest.strip_prefix(b"T")?;
    let zone = rest.iter().position(|octet| matches!(octet, b'+' | b'-' | b'Z'))?;
    let (time, zone) = rest.split_at(zone);
    let offset = match zone {
        b"Z" => 0,
        &[sign, a, b, b':', c, d] => {
            let minutes = digits(&[a, b])? * 60 + digits(&[c, d])?;
            if sign == b'-' { -minutes } else { minutes }
        }
        _ => return None,
    };
    let micros = i64::from(days(date)?) * 86_400 * MICROS + time_of_day(time)?;
    Some((micros - i64::from(offset) * 60 * MICROS, i16::try_from(offset).ok()?))
}

/// `YYYY-MM-DD` as days from 1970-01-01.
fn days(text: &[u8]) -> Option<i32> {
    let &[a, b, c, d, b'-', e, f, b'-', g, h] = text else { return None };
    let (year, month, day) = (digits(&[a, b, c, d])?, digits(&[e, f])?, digits(&[g, h])?);
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let length = match month {
        2 => 28 + i32::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if !(1..=length).contains(&day) {
        return None;
    }
    // Years begin in March here, so that the day that comes and goes is the last of them.
    let (years, months) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leap_days = years.div_euclid(4) - years.div_euclid(100) + years.div_euclid(400);
    Some(years * 365 + leap_days + (months * 153 + 2) / 5 + day - 1 - 719_468)
}

/// `hh:mm:ss` with a fraction or without, as microseconds.
fn time_of_day(text: &[u8]) -> Option<i64> {
    let (whole, fraction) = text.split_at_checked(8)?;
    let &[a, b, b':', c, d, b':', e, f] = whole else { return None };
    let (hours, minutes, seconds) = (digits(&[a, b])?, digits(&[c, d])?, digits(&[e, f])?);
    if hours > 23 || minutes > 59 || seconds > 59 {
        return None;
    }
    let micros = match fraction {
        [] => 0,
        [b'.', rest @ ..] if (1..=6).contains(&rest.len()) => {
            digits(rest)? * 10_i32.pow(6 - rest.len() as u32)
        }
        _ => return None,
    };
    Some(i64::from((hours * 60 + minutes) * 60 + seconds) * MICROS + i64::from(micros))
}

/// A decimal number in units of the last of [`PLACES`].
fn amount(text: &[u8]) -> Option<i128> {
    let text = str::from_utf8(text).ok()?;
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let missing = (PLACES as usize).checked_sub(fraction.len())?;
    let number: i128 = format!("{whole}{fraction}").parse().ok()?;
    number
        .checked_mul(10_i128.pow(missing as u32))
        .filter(|it| it.unsigned_abs() < 10_u128.pow(DIGITS.into()))
}

fn digits(text: &[u8]) -> Option<i32> {
    text.iter().try_fold(0_i32, |number, digit| {
        digit.is_ascii_digit().then(|| number * 10 + i32::from(digit - b'0'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_times() {
        for (text, days_known) in [
            ("1970-01-01", Some(0)),
            ("1969-12-31", Some(-1)),
            ("2000-02-29", Some(11_016)),
            ("2024-03-01", Some(19_783)),
            ("0000-03-01", Some(-719_468)),
            ("2023-02-29", None),
            ("2023-13-01", None),
        ] {
            assert_eq!(days(text.as_bytes()), days_known, "{text}");
        }
        assert_eq!(time_of_day(b"23:59:59.25"), Some(86_399_250_000));
        assert_eq!(time_of_day(b"24:00:00"), None);
        let known = Some((1_699_153_240 * MICROS, 180));
        assert_eq!(timestamp(b"2023-11-05T06:00:40+03:00"), known);
        assert_eq!(timestamp(b"1970-01-01T00:00:00Z"), Some((0, 0)));
        assert_eq!(timestamp(b"1970-01-01T00:00:00"), None);
        assert_eq!(timestamp(b"231105060040"), None);
        assert_eq!((amount(b"-0.05"), amount(b"7")), (Some(-50_000), Some(7_000_000)));
        assert_eq!((amount(b"0.1234567"), amount(b"")), (None, None));
    }
}
