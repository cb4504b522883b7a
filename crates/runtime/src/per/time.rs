//! Time types (X.691 clause 32): the numbers in the text of a value.

use crate::types::{TimeNumbers, TimeUnit};
use crate::{ErrorKind, Result};
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;

/// A step in writing a time; `I` is how a number is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeStep<I> {
    /// A presence bit for the number of a unit.
    Presence(TimeUnit),
    /// A number, unless it is absent by its presence bit.
    Number(TimeUnit, I),
    /// A CHOICE of four ranges, the first that has the number: YEAR-ENCODING (§32.2.3).
    Ranges(TimeUnit, [I; 4]),
    /// Nothing is written: the number is always this one.
    Always(TimeUnit, i64),
    /// Nothing is written: the time is UTC.
    Utc,
}

/// A part of a time, between slashes in its text; `S` are its steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimePart<S, I> {
    /// A date, a time of day or both.
    Point(S),
    /// A duration.
    Duration(S),
    /// A presence bit, and how often the interval behind it recurs, if that is bounded; in the text it has at least so many
    /// digits.
    Recurrence(I, u8),
}

/// What reads the bits of a time and its numbers.
pub trait TimeReader<I> {
    /// Reads bits.
    ///
    /// # Errors
    /// [`ErrorKind::Incomplete`].
    fn bits(&mut self, count: u32) -> Result<u64>;

    /// Reads a number.
    ///
    /// # Errors
    /// Those of an INTEGER; [`ErrorKind::LimitExceeded`] for one of more than 64 bits.
    fn number(&mut self, form: I) -> Result<i64>;
}

/// What writes them.
pub trait TimeWriter<I> {
    /// Writes bits.
    fn bits(&mut self, number: u64, count: u32);

    /// Whether a number is one of the root.
    fn has(&self, form: &I, number: i64) -> bool;

    /// Writes a number; nothing for one outside of a root that is not extensible.
    fn number(&mut self, form: I, number: i64) -> Option<()>;
}

/// Reads a time as its text, which is not checked.
///
/// # Errors
/// Those of the reader.
pub fn read_time<I, S>(
    r: &mut impl TimeReader<I>,
    parts: impl IntoIterator<Item = TimePart<S, I>>,
) -> Result<String>
where
    S: IntoIterator<Item = TimeStep<I>>,
{
    let mut text = String::new();
    for (place, part) in parts.into_iter().enumerate() {
        if place != 0 {
            text.push('/');
        }
        match part {
            TimePart::Point(steps) => text += &read_numbers(r, steps)?.point(),
            TimePart::Duration(steps) => {
                let mut numbers = read_numbers(r, steps)?;
                leave_out_zeros(&mut numbers);
                text += &numbers.duration();
            }
            TimePart::Recurrence(form, digits) => {
                let times = if r.bits(1)? == 1 { Some(r.number(form)?) } else { None };
                text += &recurrence(times, digits);
            }
        }
    }
    Ok(text)
}

fn read_numbers<I>(
    r: &mut impl TimeReader<I>,
    steps: impl IntoIterator<Item = TimeStep<I>>,
) -> Result<TimeNumbers> {
    let mut numbers = TimeNumbers::default();
    let mut absent = 0_u32;
    for step in steps {
        let (unit, form) = match step {
            TimeStep::Presence(unit) => {
                absent |= u32::from(r.bits(1)? == 0) << unit as u32;
                continue;
            }
            TimeStep::Always(unit, number) => {
                numbers.set(unit, Some(number));
                continue;
            }
            TimeStep::Utc => {
                numbers.utc = true;
                continue;
            }
            TimeStep::Number(unit, form) => (unit, form),
            TimeStep::Ranges(unit, [first, second, third, fourth]) => {
                let form = match r.bits(2)? {
                    0 => first,
                    1 => second,
                    2 => third,
                    _ => fourth,
                };
                (unit, form)
            }
        };
        if !is_absent(absent, unit) {
            numbers.set(unit, Some(r.number(form)?));
        }
    }
    Ok(numbers)
}

/// Writes a time from its text.
///
/// # Errors
/// [`ErrorKind::ConstraintViolated`] for a value outside of the type's settings.
pub fn write_time<I, S>(
    w: &mut impl TimeWriter<I>,
    parts: impl IntoIterator<Item = TimePart<S, I>>,
    text: &str,
) -> core::result::Result<(), ErrorKind>
where
    S: IntoIterator<Item = TimeStep<I>>,
{
    let mut texts = text.split('/');
    for part in parts {
        let written = texts.next().and_then(|text| write_part(w, part, text));
        written.ok_or(ErrorKind::ConstraintViolated)?;
    }
    if texts.next().is_none() { Ok(()) } else { Err(ErrorKind::ConstraintViolated) }
}

/// Writes a part from its text; nothing for one outside of the type's settings.
fn write_part<I, S>(w: &mut impl TimeWriter<I>, part: TimePart<S, I>, text: &str) -> Option<()>
where
    S: IntoIterator<Item = TimeStep<I>>,
{
    match part {
        TimePart::Point(steps) => write_numbers(w, steps, TimeNumbers::of_point(text)?),
        TimePart::Duration(steps) => {
            let mut numbers = TimeNumbers::of_duration(text)?;
            leave_out_zeros(&mut numbers);
            write_numbers(w, steps, numbers)
        }
        TimePart::Recurrence(form, digits) => {
            let times = match text.strip_prefix('R')? {
                "" => None,
                number => Some(number.parse().ok()?),
            };
            // Zeros in front would be lost.
            (recurrence(times, digits) == text).then_some(())?;
            w.bits(u64::from(times.is_some()), 1);
            times.map_or(Some(()), |times| w.number(form, times))
        }
    }
}

fn recurrence(times: Option<i64>, digits: u8) -> String {
    times.map_or_else(|| "R".to_owned(), |times| format!("R{times:0width$}", width = usize::from(digits)))
}

fn write_numbers<I>(
    w: &mut impl TimeWriter<I>,
    steps: impl IntoIterator<Item = TimeStep<I>>,
    numbers: TimeNumbers,
) -> Option<()> {
    let mut left = numbers;
    let mut absent = 0_u32;
    for step in steps {
        match step {
            TimeStep::Presence(unit) => {
                let there = numbers.get(unit).is_some();
                w.bits(u64::from(there), 1);
                absent |= u32::from(!there) << unit as u32;
            }
            TimeStep::Always(unit, number) => {
                (numbers.get(unit) == Some(number)).then_some(())?;
                left.set(unit, None);
            }
            TimeStep::Utc => {
                numbers.utc.then_some(())?;
                left.utc = false;
            }
            TimeStep::Number(unit, _) | TimeStep::Ranges(unit, _) if is_absent(absent, unit) => {}
            TimeStep::Number(unit, form) => {
                w.number(form, numbers.get(unit)?)?;
                left.set(unit, None);
            }
            TimeStep::Ranges(unit, forms) => {
                let number = numbers.get(unit)?;
                let (index, form) = (0..).zip(forms).find(|(_, form)| w.has(form, number))?;
                w.bits(index, 2);
                w.number(form, number)?;
                left.set(unit, None);
            }
        }
    }
    // A number that the form does not have: a value outside of the type's settings.
    (left == TimeNumbers::default()).then_some(())
}

/// The digits of a fraction are there when it is.
fn is_absent(absent: u32, unit: TimeUnit) -> bool {
    let unit = if unit == TimeUnit::FractionDigits { TimeUnit::Fraction } else { unit };
    absent >> unit as u32 & 1 != 0
}

/// Only the last part of a duration may be zero (§32.6).
fn leave_out_zeros(numbers: &mut TimeNumbers) {
    let units = [
        TimeUnit::Second,
        TimeUnit::Minute,
        TimeUnit::Hour,
        TimeUnit::Day,
        TimeUnit::Week,
        TimeUnit::Month,
        TimeUnit::Year,
    ];
    let mut last = true;
    for unit in units {
        let Some(number) = numbers.get(unit) else { continue };
        if number == 0 && !last {
            numbers.set(unit, None);
        }
        last = false;
    }
}
