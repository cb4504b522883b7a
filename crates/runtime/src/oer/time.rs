//! Time types (X.696 clause 29): the numbers in the text of a value.

use super::{Reader, Writer};
use crate::types::{TimeNumbers, TimeUnit};
use crate::{ErrorKind, Result};

/// How a number of a time is written (§10).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeNumber {
    /// Without a sign, in so many octets.
    Unsigned(u8),
    /// With a sign, in so many octets.
    Signed(u8),
    /// Without a sign, behind a length.
    UnsignedVariable,
    /// With a sign, behind a length.
    SignedVariable,
}

/// A step in writing a point in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeStep {
    /// The number of a unit.
    Number(TimeUnit, TimeNumber),
    /// The difference to UTC in minutes, an `INTEGER (-900..900)`.
    Difference,
    /// Nothing is written: the number is always this one.
    Always(TimeUnit, i64),
    /// Nothing is written: the time is UTC.
    Utc,
}

/// What reads numbers behind lengths, as strictly as its rules are.
pub trait TimeReader<'a> {
    /// The octets.
    fn cursor(&mut self) -> &mut Reader<'a>;

    /// A number behind its length.
    ///
    /// # Errors
    /// Those of an INTEGER; [`ErrorKind::LimitExceeded`] for one of more than 64 bits.
    fn variable(&mut self, signed: bool) -> Result<i64>;
}

/// The units of a DURATION in the order of their presence bits.
const UNITS: [TimeUnit; 7] = [
    TimeUnit::Year,
    TimeUnit::Month,
    TimeUnit::Week,
    TimeUnit::Day,
    TimeUnit::Hour,
    TimeUnit::Minute,
    TimeUnit::Second,
];

/// Minutes that a local time may be from UTC.
const MOST_DIFFERENCE: i64 = 900;

/// Reads a date, a time of day, or both: the numbers in order.
///
/// # Errors
/// Those of the reader; [`ErrorKind::ConstraintViolated`] for a difference to UTC of more than fifteen hours.
pub fn read_point<'a>(
    r: &mut impl TimeReader<'a>,
    steps: impl IntoIterator<Item = TimeStep>,
) -> Result<TimeNumbers> {
    let mut numbers = TimeNumbers::default();
    for step in steps {
        match step {
            TimeStep::Always(unit, number) => numbers.set(unit, Some(number)),
            TimeStep::Utc => numbers.utc = true,
            TimeStep::Number(unit, form) => {
                let number = match form {
                    TimeNumber::Unsigned(octets) => r.cursor().unsigned(octets)?.cast_signed(),
                    TimeNumber::Signed(octets) => r.cursor().signed(octets)?,
                    TimeNumber::UnsignedVariable => r.variable(false)?,
                    TimeNumber::SignedVariable => r.variable(true)?,
                };
                numbers.set(unit, Some(number));
            }
            TimeStep::Difference => {
                let start = *r.cursor();
                let minutes = r.cursor().signed(2)?;
                if !(-MOST_DIFFERENCE..=MOST_DIFFERENCE).contains(&minutes) {
                    return Err(start.error(ErrorKind::ConstraintViolated));
                }
                numbers.set(TimeUnit::ZoneSign, Some(i64::from(minutes < 0)));
                numbers.set(TimeUnit::ZoneHour, Some(minutes.abs() / 60));
                numbers.set(TimeUnit::ZoneMinute, Some(minutes.abs() % 60).filter(|minutes| *minutes != 0));
            }
        }
    }
    Ok(numbers)
}

/// Reads a duration, a SEQUENCE of an optional `INTEGER (0..MAX)` for each unit, and of an optional fraction of the last one:
/// the number of its digits and the number that they are.
///
/// # Errors
/// Those of the reader; [`ErrorKind::ConstraintViolated`] for a fraction of another number of digits than it tells.
pub fn read_duration<'a>(r: &mut impl TimeReader<'a>) -> Result<TimeNumbers> {
    let mut numbers = TimeNumbers::default();
    let preamble = r.cursor().octet()?;
    for (bit, unit) in UNITS.into_iter().enumerate() {
        if preamble << bit & 0x80 != 0 {
            numbers.set(unit, Some(r.variable(false)?));
        }
    }
    if preamble & 1 != 0 {
        let start = *r.cursor();
        let digits = r.variable(false)?;
        let fraction = r.variable(false)?;
        let most = u32::try_from(digits).ok().filter(|digits| (1..=18).contains(digits));
        if most.is_none_or(|digits| fraction >= 10_i64.pow(digits)) {
            return Err(start.error(ErrorKind::ConstraintViolated));
        }
        numbers.set(TimeUnit::FractionDigits, Some(digits));
        numbers.set(TimeUnit::Fraction, Some(fraction));
    }
    Ok(numbers)
}

/// Writes a date, a time of day, or both from the text: from the last step, as the writer does.
///
/// # Errors
/// [`ErrorKind::ConstraintViolated`] for a value outside of the type's settings.
pub fn write_point<I>(w: &mut Writer, steps: I, text: &str) -> core::result::Result<(), ErrorKind>
where
    I: IntoIterator<Item = TimeStep, IntoIter: DoubleEndedIterator>,
{
    let mut left = TimeNumbers::of_point(text).ok_or(ErrorKind::ConstraintViolated)?;
    let take = |left: &mut TimeNumbers, unit| {
        let number = left.get(unit);
        left.set(unit, None);
        number.ok_or(ErrorKind::ConstraintViolated)
    };
    for step in steps.into_iter().rev() {
        match step {
            TimeStep::Utc if left.utc => left.utc = false,
            TimeStep::Utc => return Err(ErrorKind::ConstraintViolated),
            TimeStep::Always(unit, number) => {
                if take(&mut left, unit)? != number {
                    return Err(ErrorKind::ConstraintViolated);
                }
            }
            TimeStep::Number(unit, form) => {
                let number = take(&mut left, unit)?;
                match form {
                    TimeNumber::Unsigned(octets) | TimeNumber::Signed(octets) => {
                        w.push_fixed(number.cast_unsigned(), octets);
                    }
                    TimeNumber::UnsignedVariable => w.push_unsigned(u128::from(number.unsigned_abs())),
                    TimeNumber::SignedVariable => w.push_signed(number),
                }
            }
            TimeStep::Difference => {
                let minutes = left.get(TimeUnit::ZoneMinute).unwrap_or_default();
                left.set(TimeUnit::ZoneMinute, None);
                let minutes = minutes + 60 * take(&mut left, TimeUnit::ZoneHour)?;
                let minutes = if take(&mut left, TimeUnit::ZoneSign)? == 0 { minutes } else { -minutes };
                if !(-MOST_DIFFERENCE..=MOST_DIFFERENCE).contains(&minutes) {
                    return Err(ErrorKind::ConstraintViolated);
                }
                w.push_fixed(minutes.cast_unsigned(), 2);
            }
        }
    }
    // A number that the form does not have: a value outside of the type's settings.
    if left == TimeNumbers::default() { Ok(()) } else { Err(ErrorKind::ConstraintViolated) }
}

/// Writes a duration from its text.
///
/// # Errors
/// [`ErrorKind::ConstraintViolated`] for numbers of more than 63 bits, and a fraction of more than 18 digits.
pub fn write_duration(w: &mut Writer, text: &str) -> core::result::Result<(), ErrorKind> {
    let numbers = TimeNumbers::of_duration(text).ok_or(ErrorKind::ConstraintViolated)?;
    let mut preamble = 0_u8;
    let push = |w: &mut Writer, number: i64| w.push_unsigned(u128::from(number.unsigned_abs()));
    if let (Some(digits), Some(fraction)) =
        (numbers.get(TimeUnit::FractionDigits), numbers.get(TimeUnit::Fraction))
    {
        push(w, fraction);
        push(w, digits);
        preamble |= 1;
    }
    for (bit, unit) in UNITS.into_iter().enumerate().rev() {
        if let Some(number) = numbers.get(unit) {
            push(w, number);
            preamble |= 0x80 >> bit;
        }
    }
    w.push_octet(preamble);
    Ok(())
}
