//! Times as objects of Python's `datetime`, both ways.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDelta, PyType, PyTzInfo};
use tercet::plan::Kind;
use tercet::runtime::types::{GeneralizedTime, UtcTime, Zone};

static DATETIME: PyOnceLock<Py<PyType>> = PyOnceLock::new();
static DATE: PyOnceLock<Py<PyType>> = PyOnceLock::new();
static TIME: PyOnceLock<Py<PyType>> = PyOnceLock::new();

/// Microseconds of an hour.
const HOUR: u128 = 3_600_000_000;

/// What a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    UtcTime,
    GeneralizedTime,
    /// `2026-11-01T08:00:17+01:00`, and without an offset.
    DateTime,
    Date,
    TimeOfDay,
}

impl Form {
    /// That of a type whose values are times that Python has objects for.
    pub(crate) const fn of(kind: Kind) -> Option<Self> {
        Some(match kind {
            Kind::UtcTime => Self::UtcTime,
            Kind::GeneralizedTime => Self::GeneralizedTime,
            Kind::DateTime => Self::DateTime,
            Kind::Date => Self::Date,
            Kind::TimeOfDay => Self::TimeOfDay,
            _ => return None,
        })
    }
}

/// Year, month and day.
type Day = (u16, u8, u8);

/// A time of day to the microsecond.
#[derive(Clone, Copy, Debug, Default)]
struct Clock {
    hour: u8,
    minute: u8,
    second: u8,
    micros: u32,
}

/// The object that a text is. Nothing if Python has none that is exactly that: the year 0, a leap second, the end of a
/// day as hour 24, parts of a microsecond; and for text that is no time.
pub(crate) fn object<'py>(py: Python<'py>, form: Form, text: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
    let made = match form {
        Form::UtcTime => utc_time(text).map(|(day, clock, zone)| datetime(py, day, clock, zone)),
        Form::GeneralizedTime => general(text).map(|(day, clock, zone)| datetime(py, day, clock, zone)),
        Form::DateTime => iso(text).map(|(day, clock, zone)| datetime(py, day, clock, zone)),
        Form::Date => date(text).map(|day| DATE.import(py, "datetime", "date")?.call1(day)),
        Form::TimeOfDay => clock(text)
            .map(|it| TIME.import(py, "datetime", "time")?.call1((it.hour, it.minute, it.second, it.micros))),
    };
    made.transpose()
}

fn datetime<'py>(py: Python<'py>, day: Day, clock: Clock, zone: Zone) -> PyResult<Bound<'py, PyAny>> {
    let zone = match zone {
        Zone::Local => None,
        Zone::Utc => Some(PyTzInfo::utc(py)?.to_owned()),
        Zone::Offset(minutes) => {
            Some(PyTzInfo::fixed_offset(py, PyDelta::new(py, 0, i32::from(minutes) * 60, 0, true)?)?)
        }
    };
    let ((year, month, day), Clock { hour, minute, second, micros }) = (day, clock);
    DATETIME.import(py, "datetime", "datetime")?.call1((year, month, day, hour, minute, second, micros, zone))
}

fn utc_time(text: &str) -> Option<(Day, Clock, Zone)> {
    let time = UtcTime::parse(text.as_bytes(), 0).ok()?;
    let clock =
        Clock { hour: time.hour, minute: time.minute, second: time.second.unwrap_or_default(), micros: 0 };
    Some(((time.full_year(), time.month, time.day), clock, time.zone))
}

fn general(text: &str) -> Option<(Day, Clock, Zone)> {
    let time = GeneralizedTime::parse(text.as_bytes(), 0).ok()?;
    if time.year == 0 || time.hour == 24 || time.second == Some(60) {
        return None;
    }
    // The fraction is one of the last unit that is given.
    let unit = match (time.minute, time.second) {
        (None, _) => HOUR,
        (Some(_), None) => HOUR / 60,
        (Some(_), Some(_)) => HOUR / 3600,
    };
    let whole = u128::from(time.hour) * HOUR
        + u128::from(time.minute.unwrap_or_default()) * (HOUR / 60)
        + u128::from(time.second.unwrap_or_default()) * (HOUR / 3600);
    let micros = whole + fraction(time.fraction.unwrap_or_default(), unit)?;
    let clock = Clock {
        hour: (micros / HOUR) as u8,
        minute: (micros / (HOUR / 60) % 60) as u8,
        second: (micros / (HOUR / 3600) % 60) as u8,
        micros: (micros % 1_000_000) as u32,
    };
    Some(((time.year, time.month, time.day), clock, time.zone))
}

/// The microseconds of a fraction of a unit, if they are whole ones.
fn fraction(digits: &str, unit: u128) -> Option<u128> {
    let digits = digits.trim_end_matches('0');
    // Of an hour, 3.6e9 microseconds, more digits never make whole ones.
    if digits.len() > 18 {
        return None;
    }
    let scale = 10u128.pow(digits.len() as u32);
    let number = if digits.is_empty() { 0 } else { digits.parse::<u128>().ok()? };
    (number * unit).is_multiple_of(scale).then(|| number * unit / scale)
}

fn iso(text: &str) -> Option<(Day, Clock, Zone)> {
    let (day, rest) = text.split_once('T')?;
    let at = rest.find(['Z', '+', '-']).unwrap_or(rest.len());
    let (time, offset) = rest.split_at(at);
    let zone = match offset.as_bytes() {
        [] => Zone::Local,
        b"Z" => Zone::Utc,
        [sign, ..] => {
            let (hours, minutes) = offset.get(1..)?.split_once(':')?;
            let minutes = i16::from(two(hours)?) * 60 + i16::from(two(minutes)?);
            // No time zone of Python's is a day away.
            let minutes = Some(minutes).filter(|minutes| *minutes < 24 * 60)?;
            Zone::Offset(if *sign == b'-' { -minutes } else { minutes })
        }
    };
    Some((date(day)?, clock(time)?, zone))
}

fn date(text: &str) -> Option<Day> {
    let mut parts = text.split('-');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    let is_date = parts.next().is_none() && year.len() == 4 && year.bytes().all(|it| it.is_ascii_digit());
    let year = year.parse().ok().filter(|year| is_date && *year > 0)?;
    // The day is checked as one of its month.
    let (month, day) = (two(month)?, two(day)?);
    GeneralizedTime::utc(year, month, day, 0, 0, 0)?;
    Some((year, month, day))
}

fn clock(text: &str) -> Option<Clock> {
    let (text, digits) = text.split_once('.').unwrap_or((text, ""));
    let mut parts = text.split(':');
    let (hour, minute, second) = (two(parts.next()?)?, two(parts.next()?)?, two(parts.next()?)?);
    let micros = fraction(digits, HOUR / 3600)? as u32;
    let fits = parts.next().is_none() && hour < 24 && minute < 60 && second < 60;
    fits.then_some(Clock { hour, minute, second, micros })
}

fn two(text: &str) -> Option<u8> {
    let is_two = text.len() == 2 && text.bytes().all(|it| it.is_ascii_digit());
    text.parse().ok().filter(|_| is_two)
}

/// The text of an object of `datetime` as a value of a type; words on what it should have been if it is none.
pub(crate) fn text(form: Form, value: &Bound<'_, PyAny>) -> PyResult<Result<String, String>> {
    let py = value.py();
    let (moment, day, time) = (
        DATETIME.import(py, "datetime", "datetime")?,
        DATE.import(py, "datetime", "date")?,
        TIME.import(py, "datetime", "time")?,
    );
    let part = |name: &str| value.getattr(name)?.extract::<u32>();
    let date = || PyResult::Ok((part("year")?, part("month")?, part("day")?));
    let clock = || PyResult::Ok((part("hour")?, part("minute")?, part("second")?, part("microsecond")?));
    let is_moment = value.is_instance(moment)?;
    match form {
        Form::Date if value.is_instance(day)? && !is_moment => {
            let (year, month, day) = date()?;
            return Ok(Ok(format!("{year:04}-{month:02}-{day:02}")));
        }
        Form::TimeOfDay if value.is_instance(time)? => {
            let (hour, minute, second, micros) = clock()?;
            if micros != 0 || !value.getattr("tzinfo")?.is_none() {
                return Ok(Err("a time of day to the second, without time zone, expected".to_owned()));
            }
            return Ok(Ok(format!("{hour:02}:{minute:02}:{second:02}")));
        }
        Form::Date => return Ok(Err("str or datetime.date expected".to_owned())),
        Form::TimeOfDay => return Ok(Err("str or datetime.time expected".to_owned())),
        _ if !is_moment => return Ok(Err("str or datetime.datetime expected".to_owned())),
        _ => {}
    }
    let ((year, month, day), (hour, minute, second, micros)) = (date()?, clock()?);
    let offset = value.call_method0("utcoffset")?;
    let offset = if offset.is_none() {
        None
    } else {
        let seconds: f64 = offset.call_method0("total_seconds")?.extract()?;
        if seconds % 60.0 != 0.0 {
            return Ok(Err("a time zone of whole minutes expected".to_owned()));
        }
        Some((seconds / 60.0) as i16)
    };
    let zone = match offset {
        None => Zone::Local,
        Some(0) => Zone::Utc,
        Some(minutes) => Zone::Offset(minutes),
    };
    Ok(match form {
        Form::UtcTime if zone == Zone::Local => {
            Err("a datetime with a time zone expected for UTCTime".to_owned())
        }
        Form::UtcTime if micros != 0 => Err("UTCTime has no fractions of a second".to_owned()),
        Form::UtcTime if !(1950..2050).contains(&year) => {
            Err("UTCTime has the years 1950 to 2049".to_owned())
        }
        Form::UtcTime => {
            let year = year % 100;
            Ok(format!("{year:02}{month:02}{day:02}{hour:02}{minute:02}{second:02}{zone}"))
        }
        Form::GeneralizedTime => {
            let mut text = format!("{year:04}{month:02}{day:02}{hour:02}{minute:02}{second:02}");
            if micros != 0 {
                text += format!(".{micros:06}").trim_end_matches('0');
            }
            Ok(format!("{text}{zone}"))
        }
        _ if micros != 0 || zone != Zone::Local => {
            Err("a datetime to the second, without time zone, expected".to_owned())
        }
        _ => Ok(format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}")),
    })
}
