//! Time types (X.691 clause 32): between the forms of the program and the primitives of the runtime.

use super::integer::{self, Number, Source};
use std::iter::Map;
use std::slice::Iter;
use tercet_plan::Kind;
use tercet_plan::per::{Integer, Program, Time, TimePart, TimeStep, Unit};
use tercet_runtime::ber::{Rules, decode_time};
use tercet_runtime::per::{self, BitReader, BitWriter, TimeReader, TimeWriter, read_time, write_time};
use tercet_runtime::types::TimeUnit;
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
    let text = read_time(&mut Reading { reader, program, made }, time.parts.iter().map(part))?;
    let contents = kind.time_type().map(|kind| kind.encode(&text, Rules::Ber));
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
    let kind = kind.time_type().ok_or(ErrorKind::ValueMismatch)?;
    let text = decode_time(kind, contents, 0, Rules::Ber).map_err(|error| error.kind())?;
    write_time(&mut Writing { writer, program }, time.parts.iter().map(part), &text)
}

struct Reading<'r, 'a> {
    reader: &'r mut BitReader<'a>,
    program: &'r Program,
    made: &'r mut Vec<u8>,
}

impl TimeReader<Integer> for Reading<'_, '_> {
    fn bits(&mut self, count: u32) -> Result<u64, Error> {
        self.reader.bits(count)
    }

    fn number(&mut self, form: Integer) -> Result<i64, Error> {
        let start = *self.reader;
        match integer::read(self.reader, self.program, form, self.made)? {
            Number::Small(number) => Ok(number),
            Number::Large => Err(start.error(ErrorKind::LimitExceeded)),
        }
    }
}

struct Writing<'w> {
    writer: &'w mut BitWriter,
    program: &'w Program,
}

impl TimeWriter<Integer> for Writing<'_> {
    fn bits(&mut self, number: u64, count: u32) {
        self.writer.bits(number, count);
    }

    fn has(&self, form: &Integer, number: i64) -> bool {
        integer::has(form, number)
    }

    fn number(&mut self, form: Integer, number: i64) -> Option<()> {
        integer::write(self.writer, self.program, form, Source::Small(number))
    }
}

/// The steps of a part as the runtime names them.
type Steps<'p> = Map<Iter<'p, TimeStep>, fn(&TimeStep) -> per::TimeStep<Integer>>;

fn part(part: &TimePart) -> per::TimePart<Steps<'_>, Integer> {
    match part {
        TimePart::Point(steps) => per::TimePart::Point(steps.iter().map(step)),
        TimePart::Duration(steps) => per::TimePart::Duration(steps.iter().map(step)),
        TimePart::Recurrence(integer, digits) => per::TimePart::Recurrence(*integer, *digits),
    }
}

fn step(step: &TimeStep) -> per::TimeStep<Integer> {
    match step {
        TimeStep::Presence(unit) => per::TimeStep::Presence(runtime(*unit)),
        TimeStep::Number(unit, integer) => per::TimeStep::Number(runtime(*unit), *integer),
        TimeStep::Ranges(unit, ranges) => per::TimeStep::Ranges(runtime(*unit), *ranges),
        TimeStep::Always(unit, number) => per::TimeStep::Always(runtime(*unit), *number),
        TimeStep::Utc => per::TimeStep::Utc,
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
