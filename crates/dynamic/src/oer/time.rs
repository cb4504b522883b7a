//! Time types (X.696 §29): between the forms of the program and the primitives of the runtime.

use super::decode::{Engine, Result};
use super::encode;
use crate::event::Sink;
use crate::per::time::runtime;
use tercet_plan::Kind;
use tercet_plan::oer::{Integer, Time, TimeStep};
use tercet_runtime::ErrorKind;
use tercet_runtime::ber::{Rules, decode_time};
use tercet_runtime::oer::{
    self, Reader, TimeNumber, TimeReader, Writer, read_duration, read_point, write_duration, write_point,
};

/// Reads a time: its contents octets (X.690 8.26).
pub(super) fn read<S: Sink>(engine: &mut Engine<'_, S>, form: u32, kind: Kind) -> Result<Vec<u8>> {
    let start = engine.reader;
    let program = engine.program;
    let text = match program.times.get(form as usize) {
        Some(Time::Point(steps)) => read_point(engine, steps.iter().map(step))?.point(),
        Some(Time::Duration) => read_duration(engine)?.duration(),
        None => return Err(start.error(ErrorKind::Unsupported)),
    };
    let Some(kind) = kind.time_type() else { return Err(start.error(ErrorKind::ValueMismatch)) };
    match kind.encode(&text, Rules::Ber) {
        Ok(contents) => Ok(contents.into_owned()),
        Err(error) => Err(start.error(error.kind())),
    }
}

impl<'a, S: Sink> TimeReader<'a> for Engine<'a, S> {
    fn cursor(&mut self) -> &mut Reader<'a> {
        &mut self.reader
    }

    fn variable(&mut self, signed: bool) -> Result<i64> {
        let start = self.reader;
        let octets = self.number_octets(signed)?;
        let number = if signed {
            crate::leaf::small(octets)
        } else {
            octets.iter().try_fold(0_i64, |number, octet| {
                number.checked_mul(256).and_then(|number| number.checked_add(i64::from(*octet)))
            })
        };
        number.ok_or_else(|| start.error(ErrorKind::LimitExceeded))
    }
}

/// Writes a time from its contents octets.
pub(super) fn write(writer: &mut Writer, form: &Time, kind: Kind, contents: &[u8]) -> encode::Result<()> {
    let kind = kind.time_type().ok_or(ErrorKind::ValueMismatch)?;
    let text = decode_time(kind, contents, 0, Rules::Ber)?;
    match form {
        Time::Point(steps) => write_point(writer, steps.iter().map(step), &text)?,
        Time::Duration => write_duration(writer, &text)?,
    }
    Ok(())
}

/// A step as the runtime names it.
fn step(step: &TimeStep) -> oer::TimeStep {
    match *step {
        TimeStep::Number(unit, integer) => oer::TimeStep::Number(runtime(unit), number(integer)),
        TimeStep::Difference => oer::TimeStep::Difference,
        TimeStep::Always(unit, number) => oer::TimeStep::Always(runtime(unit), number),
        TimeStep::Utc => oer::TimeStep::Utc,
    }
}

const fn number(integer: Integer) -> TimeNumber {
    match integer {
        Integer::Unsigned(octets) => TimeNumber::Unsigned(octets),
        Integer::Signed(octets) => TimeNumber::Signed(octets),
        Integer::UnsignedVariable => TimeNumber::UnsignedVariable,
        Integer::SignedVariable => TimeNumber::SignedVariable,
    }
}
