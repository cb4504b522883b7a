//! Time types (X.691 clause 32): the numbers in the text of a value.

use super::integer::{self, Number, Source};
use crate::leaf::time_type;
use tercet_plan::Kind;
use tercet_plan::per::{Integer, Program, Time, TimePart, TimeStep, Unit};
use tercet_runtime::ber::{Rules, decode_time};
use tercet_runtime::per::{BitReader, BitWriter};
use tercet_runtime::types::{TimeNumbers, TimeUnit};
use tercet_runtime::{Error, ErrorKind};

/// Reads a time; its contents octets (X.690 8.26) go to `made`.
pub(super) fn read(
    reader: &mut BitReader<'_>,
    program: &Program,
    time: &Time,
    kind: Kind,
    made: &mut Vec<u8>,
) -> Result<(), Error> {
    let start = *reader;
    let mut text = String::new();
    for (place, part) in time.parts.iter().enumerate() {
        if place != 0 {
            text.push('/');
        }
        match part {
            TimePart::Point(steps) => text += &read_numbers(reader, program, steps, made)?.point(),
            TimePart::Duration(steps) => {
                let mut numbers = read_numbers(reader, program, steps, made)?;
                leave_out_zeros(&mut numbers);
                text += &numbers.duration();
            }
            TimePart::Recurrence(integer, digits) => {
                let times =
                    if reader.bit()? { Some(read_number(reader, program, integer, made)?) } else { None };
                text += &recurrence(times, *digits);
            }
        }
    }
    let contents = time_type(kind).map(|kind| kind.encode(&text, Rules::Ber));
    let contents =
        contents.ok_or(ErrorKind::ValueMismatch).and_then(|made| made.map_err(|error| error.kind()));
    let contents = contents.map_err(|kind| start.error(kind))?;
    made.clear();
    made.extend_from_slice(&contents);
    Ok(())
}

fn read_numbers(
    reader: &mut BitReader<'_>,
    program: &Program,
    steps: &[TimeStep],
    made: &mut Vec<u8>,
) -> Result<TimeNumbers, Error> {
    let mut numbers = TimeNumbers::default();
    let mut absent = 0_u32;
    for step in steps {
        let (unit, integer) = match step {
            TimeStep::Presence(unit) => {
                absent |= u32::from(!reader.bit()?) << *unit as u32;
                continue;
            }
            TimeStep::Always(unit, number) => {
                numbers.set(runtime(*unit), Some(*number));
                continue;
            }
            TimeStep::Utc => {
                numbers.utc = true;
                continue;
            }
            TimeStep::Number(unit, integer) => (*unit, *integer),
            TimeStep::Ranges(unit, ranges) => (*unit, ranges[reader.bits(2)? as usize & 3]),
        };
        if !is_absent(absent, unit) {
            numbers.set(runtime(unit), Some(read_number(reader, program, &integer, made)?));
        }
    }
    Ok(numbers)
}

fn read_number(
    reader: &mut BitReader<'_>,
    program: &Program,
    integer: &Integer,
    made: &mut Vec<u8>,
) -> Result<i64, Error> {
    let start = *reader;
    match integer::read(reader, program, *integer, made)? {
        Number::Small(number) => Ok(number),
        Number::Large => Err(start.error(ErrorKind::LimitExceeded)),
    }
}

/// Writes a time from its contents octets.
pub(super) fn write(
    writer: &mut BitWriter,
    program: &Program,
    time: &Time,
    kind: Kind,
    contents: &[u8],
) -> Result<(), ErrorKind> {
    let kind = time_type(kind).ok_or(ErrorKind::ValueMismatch)?;
    let text = decode_time(kind, contents, 0, Rules::Ber).map_err(|error| error.kind())?;
    let mut texts = text.split('/');
    for part in &time.parts {
        let written = texts.next().and_then(|text| write_part(writer, program, part, text));
        written.ok_or(ErrorKind::ConstraintViolated)?;
    }
    if texts.next().is_none() { Ok(()) } else { Err(ErrorKind::ConstraintViolated) }
}

/// Writes a part from its text; nothing for one outside of the type's settings.
fn write_part(writer: &mut BitWriter, program: &Program, part: &TimePart, text: &str) -> Option<()> {
    match part {
        TimePart::Point(steps) => write_numbers(writer, program, steps, TimeNumbers::of_point(text)?),
        TimePart::Duration(steps) => {
            let mut numbers = TimeNumbers::of_duration(text)?;
            leave_out_zeros(&mut numbers);
            write_numbers(writer, program, steps, numbers)
        }
        TimePart::Recurrence(integer, digits) => {
            let times = match text.strip_prefix('R')? {
                "" => None,
                number => Some(number.parse().ok()?),
            };
            // Zeros in front would be lost.
            (recurrence(times, *digits) == text).then_some(())?;
            writer.bit(times.is_some());
            times.map_or(Some(()), |times| integer::write(writer, program, *integer, Source::Small(times)))
        }
    }
}

fn recurrence(times: Option<i64>, digits: u8) -> String {
    times.map_or_else(|| "R".to_owned(), |times| format!("R{times:0width$}", width = usize::from(digits)))
}

fn write_numbers(
    writer: &mut BitWriter,
    program: &Program,
    steps: &[TimeStep],
    numbers: TimeNumbers,
) -> Option<()> {
    let mut left = numbers;
    let mut absent = 0_u32;
    for step in steps {
        match step {
            TimeStep::Presence(unit) => {
                let there = numbers.get(runtime(*unit)).is_some();
                writer.bit(there);
                absent |= u32::from(!there) << *unit as u32;
            }
            TimeStep::Always(unit, number) => {
                (numbers.get(runtime(*unit)) == Some(*number)).then_some(())?;
                left.set(runtime(*unit), None);
            }
            TimeStep::Utc => {
                numbers.utc.then_some(())?;
                left.utc = false;
            }
            TimeStep::Number(unit, _) | TimeStep::Ranges(unit, _) if is_absent(absent, *unit) => {}
            TimeStep::Number(unit, integer) => {
                let number = numbers.get(runtime(*unit))?;
                integer::write(writer, program, *integer, Source::Small(number))?;
                left.set(runtime(*unit), None);
            }
            TimeStep::Ranges(unit, ranges) => {
                let number = numbers.get(runtime(*unit))?;
                let index = ranges.iter().position(|range| integer::has(range, number))?;
                writer.bits(index as u64, 2);
                integer::write(writer, program, ranges[index], Source::Small(number))?;
                left.set(runtime(*unit), None);
            }
        }
    }
    // A number that the form does not have: a value outside of the type's settings.
    (left == TimeNumbers::default()).then_some(())
}

/// The digits of a fraction are there when it is.
fn is_absent(absent: u32, unit: Unit) -> bool {
    let unit = if matches!(unit, Unit::FractionDigits) { Unit::Fraction } else { unit };
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
    let parts = units.into_iter().filter(|unit| numbers.get(*unit).is_some());
    for unit in parts.skip(1).collect::<Vec<_>>() {
        if numbers.get(unit) == Some(0) {
            numbers.set(unit, None);
        }
    }
}

/// A unit as the runtime names it.
pub(crate) const fn runtime(unit: Unit) -> TimeUnit {
    match unit {
        Unit::Century => TimeUnit::Century,
        Unit::Year => TimeUnit::Year,
        Unit::Month => TimeUnit::Month,
        Unit::Week => TimeUnit::Week,
        Unit::Day => TimeUnit::Day,
        Unit::DayOfYear => TimeUnit::DayOfYear,
        Unit::DayOfWeek => TimeUnit::DayOfWeek,
        Unit::Hour => TimeUnit::Hour,
        Unit::Minute => TimeUnit::Minute,
        Unit::Second => TimeUnit::Second,
        Unit::Fraction => TimeUnit::Fraction,
        Unit::FractionDigits => TimeUnit::FractionDigits,
        Unit::ZoneSign => TimeUnit::ZoneSign,
        Unit::ZoneHour => TimeUnit::ZoneHour,
        Unit::ZoneMinute => TimeUnit::ZoneMinute,
    }
}
