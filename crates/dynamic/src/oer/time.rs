//! Time types (X.696 §29): the numbers in the text of a value.

use super::decode::{Engine, Result};
use super::encode;
use crate::event::Sink;
use crate::leaf::time_type;
use crate::per::time::runtime;
use tercet_plan::Kind;
use tercet_plan::oer::{Integer, Time, TimeStep};
use tercet_runtime::ErrorKind;
use tercet_runtime::ber::{Rules, decode_time};
use tercet_runtime::oer::Writer;
use tercet_runtime::types::{TimeNumbers, TimeUnit};

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

/// Reads a time: its contents octets (X.690 8.26).
pub(super) fn read<S: Sink>(engine: &mut Engine<'_, S>, form: u32, kind: Kind) -> Result<Vec<u8>> {
    let start = engine.reader;
    let mut numbers = TimeNumbers::default();
    let program = engine.program;
    let text = match program.times.get(form as usize) {
        Some(Time::Point(steps)) => {
            point(engine, steps, &mut numbers)?;
            numbers.point()
        }
        Some(Time::Duration) => {
            duration(engine, &mut numbers)?;
            numbers.duration()
        }
        None => return Err(start.error(ErrorKind::Unsupported)),
    };
    let Some(kind) = time_type(kind) else { return Err(start.error(ErrorKind::ValueMismatch)) };
    match kind.encode(&text, Rules::Ber) {
        Ok(contents) => Ok(contents.into_owned()),
        Err(error) => Err(start.error(error.kind())),
    }
}

fn point<S: Sink>(engine: &mut Engine<'_, S>, steps: &[TimeStep], numbers: &mut TimeNumbers) -> Result<()> {
    for step in steps {
        match *step {
            TimeStep::Always(unit, number) => numbers.set(runtime(unit), Some(number)),
            TimeStep::Utc => numbers.utc = true,
            TimeStep::Number(unit, integer) => {
                let number = match integer {
                    Integer::Unsigned(octets) => engine.reader.unsigned(octets)?.cast_signed(),
                    Integer::Signed(octets) => engine.reader.signed(octets)?,
                    Integer::UnsignedVariable => unsigned(engine)?,
                    Integer::SignedVariable => {
                        let start = engine.reader;
                        let octets = engine.number_octets(true)?;
                        crate::leaf::small(octets).ok_or_else(|| start.error(ErrorKind::LimitExceeded))?
                    }
                };
                numbers.set(runtime(unit), Some(number));
            }
            TimeStep::Difference => {
                let start = engine.reader;
                let minutes = engine.reader.signed(2)?;
                if !(-900..=900).contains(&minutes) {
                    return Err(start.error(ErrorKind::ConstraintViolated));
                }
                numbers.set(TimeUnit::ZoneSign, Some(i64::from(minutes < 0)));
                numbers.set(TimeUnit::ZoneHour, Some(minutes.abs() / 60));
                numbers.set(TimeUnit::ZoneMinute, Some(minutes.abs() % 60).filter(|minutes| *minutes != 0));
            }
        }
    }
    Ok(())
}

/// A SEQUENCE of an optional `INTEGER (0..MAX)` for each unit, and of an optional fraction of the last one: the number
/// of its digits and the number that they are.
fn duration<S: Sink>(engine: &mut Engine<'_, S>, numbers: &mut TimeNumbers) -> Result<()> {
    let preamble = engine.reader.octet()?;
    for (bit, unit) in UNITS.into_iter().enumerate() {
        if preamble << bit & 0x80 != 0 {
            let number = unsigned(engine)?;
            numbers.set(unit, Some(number));
        }
    }
    if preamble & 1 != 0 {
        let start = engine.reader;
        let digits = unsigned(engine)?;
        let fraction = unsigned(engine)?;
        if !(1..=18).contains(&digits) || fraction >= 10_i64.pow(digits as u32) {
            return Err(start.error(ErrorKind::ConstraintViolated));
        }
        numbers.set(TimeUnit::FractionDigits, Some(digits));
        numbers.set(TimeUnit::Fraction, Some(fraction));
    }
    Ok(())
}

/// An `INTEGER (0..MAX)` of at most 63 bits.
fn unsigned<S: Sink>(engine: &mut Engine<'_, S>) -> Result<i64> {
    let start = engine.reader;
    let octets = engine.number_octets(false)?;
    let number = octets.iter().try_fold(0_i64, |number, octet| {
        number.checked_mul(256).and_then(|number| number.checked_add(i64::from(*octet)))
    });
    number.ok_or_else(|| start.error(ErrorKind::LimitExceeded))
}

/// Writes a time from its contents octets.
pub(super) fn write(writer: &mut Writer, form: &Time, kind: Kind, contents: &[u8]) -> encode::Result<()> {
    let kind = time_type(kind).ok_or(ErrorKind::ValueMismatch)?;
    let text = decode_time(kind, contents, 0, Rules::Ber)?;
    let numbers = match form {
        Time::Point(_) => TimeNumbers::of_point(&text),
        Time::Duration => TimeNumbers::of_duration(&text),
    };
    let mut left = numbers.ok_or(ErrorKind::ConstraintViolated)?;
    match form {
        Time::Point(steps) => {
            push_point(writer, steps, &mut left)?;
            // A number that the form does not have: a value outside of the type's settings.
            if left == TimeNumbers::default() { Ok(()) } else { Err(ErrorKind::ConstraintViolated.into()) }
        }
        Time::Duration => push_duration(writer, &left),
    }
}

/// Takes the numbers that are written.
fn push_point(writer: &mut Writer, steps: &[TimeStep], left: &mut TimeNumbers) -> encode::Result<()> {
    let take = |left: &mut TimeNumbers, unit| {
        let number = left.get(unit);
        left.set(unit, None);
        number.ok_or(ErrorKind::ConstraintViolated)
    };
    for step in steps.iter().rev() {
        match *step {
            TimeStep::Utc if left.utc => left.utc = false,
            TimeStep::Utc => return Err(ErrorKind::ConstraintViolated.into()),
            TimeStep::Always(unit, number) => {
                if take(left, runtime(unit))? != number {
                    return Err(ErrorKind::ConstraintViolated.into());
                }
            }
            TimeStep::Number(unit, integer) => {
                let number = take(left, runtime(unit))?;
                match integer {
                    Integer::Unsigned(octets) | Integer::Signed(octets) => {
                        writer.push_fixed(number.cast_unsigned(), octets);
                    }
                    Integer::UnsignedVariable => writer.push_unsigned(u128::from(number.unsigned_abs())),
                    Integer::SignedVariable => writer.push_signed(number),
                }
            }
            TimeStep::Difference => {
                let minutes = left.get(TimeUnit::ZoneMinute).unwrap_or_default();
                left.set(TimeUnit::ZoneMinute, None);
                let minutes = minutes + 60 * take(left, TimeUnit::ZoneHour)?;
                let minutes = if take(left, TimeUnit::ZoneSign)? == 0 { minutes } else { -minutes };
                if !(-900..=900).contains(&minutes) {
                    return Err(ErrorKind::ConstraintViolated.into());
                }
                writer.push_fixed(minutes.cast_unsigned(), 2);
            }
        }
    }
    Ok(())
}

fn push_duration(writer: &mut Writer, numbers: &TimeNumbers) -> encode::Result<()> {
    let mut preamble = 0_u8;
    let push = |writer: &mut Writer, number: i64| writer.push_unsigned(u128::from(number.unsigned_abs()));
    if let (Some(digits), Some(fraction)) =
        (numbers.get(TimeUnit::FractionDigits), numbers.get(TimeUnit::Fraction))
    {
        push(writer, fraction);
        push(writer, digits);
        preamble |= 1;
    }
    for (bit, unit) in UNITS.into_iter().enumerate().rev() {
        if let Some(number) = numbers.get(unit) {
            push(writer, number);
            preamble |= 0x80 >> bit;
        }
    }
    writer.push_octet(preamble);
    Ok(())
}
