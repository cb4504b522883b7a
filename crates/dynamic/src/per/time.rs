//! Time types (X.691 clause 32): the numbers in the text of a value.

use super::integer::{self, Number, Source};
use crate::leaf::time_type;
use tercet_plan::Kind;
use tercet_plan::per::{Program, Time, TimeStep, Unit};
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
    let mut numbers = TimeNumbers::default();
    let mut absent = 0_u32;
    for step in &time.steps {
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
        if is_absent(absent, unit) {
            continue;
        }
        match integer::read(reader, program, integer, made)? {
            Number::Small(number) => numbers.set(runtime(unit), Some(number)),
            Number::Large => return Err(start.error(ErrorKind::LimitExceeded)),
        }
    }
    if time.duration {
        leave_out_zeros(&mut numbers);
    }
    let text = if time.duration { numbers.duration() } else { numbers.point() };
    let contents = time_type(kind).map(|kind| kind.encode(&text, Rules::Ber));
    let contents =
        contents.ok_or(ErrorKind::ValueMismatch).and_then(|made| made.map_err(|error| error.kind()));
    let contents = contents.map_err(|kind| start.error(kind))?;
    made.clear();
    made.extend_from_slice(&contents);
    Ok(())
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
    let numbers = if time.duration { TimeNumbers::of_duration(&text) } else { TimeNumbers::of_point(&text) };
    let mut numbers = numbers.ok_or(ErrorKind::ConstraintViolated)?;
    if time.duration {
        leave_out_zeros(&mut numbers);
    }
    let mut left = numbers;
    let mut absent = 0_u32;
    for step in &time.steps {
        match step {
            TimeStep::Presence(unit) => {
                let there = numbers.get(runtime(*unit)).is_some();
                writer.bit(there);
                absent |= u32::from(!there) << *unit as u32;
            }
            TimeStep::Always(unit, number) => {
                if numbers.get(runtime(*unit)) != Some(*number) {
                    return Err(ErrorKind::ConstraintViolated);
                }
                left.set(runtime(*unit), None);
            }
            TimeStep::Utc => {
                if !numbers.utc {
                    return Err(ErrorKind::ConstraintViolated);
                }
                left.utc = false;
            }
            TimeStep::Number(unit, _) | TimeStep::Ranges(unit, _) if is_absent(absent, *unit) => {}
            TimeStep::Number(unit, integer) => {
                let number = numbers.get(runtime(*unit)).ok_or(ErrorKind::ConstraintViolated)?;
                integer::write(writer, program, *integer, Source::Small(number))
                    .ok_or(ErrorKind::ConstraintViolated)?;
                left.set(runtime(*unit), None);
            }
            TimeStep::Ranges(unit, ranges) => {
                let number = numbers.get(runtime(*unit)).ok_or(ErrorKind::ConstraintViolated)?;
                let index = ranges.iter().position(|range| integer::has(range, number));
                let index = index.ok_or(ErrorKind::ConstraintViolated)?;
                writer.bits(index as u64, 2);
                integer::write(writer, program, ranges[index], Source::Small(number))
                    .ok_or(ErrorKind::ConstraintViolated)?;
                left.set(runtime(*unit), None);
            }
        }
    }
    // A number that the form does not have: a value outside of the type's settings.
    if left == TimeNumbers::default() { Ok(()) } else { Err(ErrorKind::ConstraintViolated) }
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
