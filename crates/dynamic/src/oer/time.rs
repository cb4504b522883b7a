//! DATE, TIME-OF-DAY, DATE-TIME and DURATION as numbers (X.696 §29), from and to their X.690 contents octets.

use super::decode::{Engine, Result};
use super::encode;
use crate::event::Sink;
use std::io::Write;
use tercet_plan::oer::Time;
use tercet_runtime::ErrorKind;
use tercet_runtime::oer::Writer;

/// The units of a DURATION in the order of their components; those behind `T` are of the time of day.
const UNITS: &[u8; 7] = b"YMWDHMS";
const TIME_UNITS: usize = 4;

/// Digits of a fraction; more are refused.
const DIGITS: u128 = 38;

/// Reads a time and makes its contents octets, which are still to be checked.
pub(super) fn read<S: Sink>(engine: &mut Engine<'_, S>, form: Time, made: &mut Vec<u8>) -> Result<()> {
    made.clear();
    match form {
        Time::Date => date(engine, made),
        Time::TimeOfDay => fields(engine, made, 3),
        Time::DateTime => {
            date(engine, made)?;
            fields(engine, made, 3)
        }
        Time::Duration => duration(engine, made),
    }
}

/// `year INTEGER, month INTEGER (1..12), day INTEGER (1..31)`.
fn date<S: Sink>(engine: &mut Engine<'_, S>, made: &mut Vec<u8>) -> Result<()> {
    let start = engine.reader;
    let octets = engine.number_octets(true)?;
    match crate::leaf::small(octets) {
        Some(year @ 0..=9999) => {
            let _ = write!(made, "{year:04}");
            fields(engine, made, 2)
        }
        _ => Err(start.error(ErrorKind::TimeSyntax)),
    }
}

/// Numbers of one octet and two digits.
fn fields<S: Sink>(engine: &mut Engine<'_, S>, made: &mut Vec<u8>, count: usize) -> Result<()> {
    for _ in 0..count {
        let start = engine.reader;
        let number = engine.reader.octet()?;
        if number > 99 {
            return Err(start.error(ErrorKind::TimeSyntax));
        }
        let _ = write!(made, "{number:02}");
    }
    Ok(())
}

/// A SEQUENCE of an optional `INTEGER (0..MAX)` for each unit, and of an optional fraction of the last one: the number
/// of its digits and the number that they are.
fn duration<S: Sink>(engine: &mut Engine<'_, S>, made: &mut Vec<u8>) -> Result<()> {
    let start = engine.reader;
    let preamble = engine.reader.octet()?;
    let mut numbers = [None; 7];
    for (bit, number) in numbers.iter_mut().enumerate() {
        if preamble << bit & 0x80 != 0 {
            *number = Some(unsigned(engine)?);
        }
    }
    let fraction = if preamble & 1 != 0 { Some((unsigned(engine)?, unsigned(engine)?)) } else { None };
    let last = numbers.iter().rposition(Option::is_some);
    for (unit, number) in numbers.iter().enumerate() {
        let Some(number) = number else { continue };
        if unit >= TIME_UNITS && !made.contains(&b'T') {
            made.push(b'T');
        }
        let _ = write!(made, "{number}");
        if Some(unit) == last
            && let Some((digits, value)) = fraction
        {
            if digits > DIGITS {
                return Err(start.error(ErrorKind::LimitExceeded));
            }
            let _ = write!(made, ".{value:0digits$}", digits = digits as usize);
        }
        made.push(UNITS[unit]);
    }
    if last.is_some() { Ok(()) } else { Err(start.error(ErrorKind::TimeSyntax)) }
}

fn unsigned<S: Sink>(engine: &mut Engine<'_, S>) -> Result<u128> {
    let start = engine.reader;
    let octets = engine.number_octets(false)?;
    let zeros = octets.iter().take_while(|octet| **octet == 0).count();
    if octets.len() - zeros > 16 {
        return Err(start.error(ErrorKind::LimitExceeded));
    }
    Ok(octets.iter().fold(0, |number, octet| number << 8 | u128::from(*octet)))
}

/// Writes a time from contents octets that have been checked.
pub(super) fn write(writer: &mut Writer, form: Time, contents: &[u8]) -> encode::Result<()> {
    match form {
        Time::Date => push_date(writer, contents),
        Time::TimeOfDay => push_fields(writer, contents),
        Time::DateTime => {
            let (date, time) = contents.split_at_checked(8).ok_or(ErrorKind::ValueMismatch)?;
            push_fields(writer, time);
            push_date(writer, date);
        }
        Time::Duration => return push_duration(writer, contents),
    }
    Ok(())
}

fn push_date(writer: &mut Writer, digits: &[u8]) {
    let (year, rest) = digits.split_at_checked(4).unwrap_or_default();
    push_fields(writer, rest);
    writer.push_signed(number(year).unwrap_or_default() as i64);
}

fn push_fields(writer: &mut Writer, digits: &[u8]) {
    for pair in digits.chunks(2).rev() {
        writer.push_octet(number(pair).unwrap_or_default() as u8);
    }
}

fn number(digits: &[u8]) -> Option<u128> {
    digits.iter().try_fold(0_u128, |number, digit| {
        number.checked_mul(10)?.checked_add(u128::from(digit.wrapping_sub(b'0')))
    })
}

fn push_duration(writer: &mut Writer, contents: &[u8]) -> encode::Result<()> {
    let mut numbers = [None; 7];
    let mut fraction = None;
    let (mut unit, mut begin) = (0, 0);
    for (at, octet) in contents.iter().enumerate() {
        let part = contents.get(begin..at).unwrap_or_default();
        match octet {
            b'0'..=b'9' => continue,
            b'T' => unit = TIME_UNITS,
            b'.' | b',' => numbers[6.min(unit)] = Some(number(part).ok_or(ErrorKind::LimitExceeded)?),
            letter => {
                let found = UNITS.iter().skip(unit).position(|known| known == letter);
                let place = unit + found.ok_or(ErrorKind::ValueMismatch)?;
                let value = number(part).ok_or(ErrorKind::LimitExceeded)?;
                if matches!(begin.checked_sub(1).and_then(|mark| contents.get(mark)), Some(b'.' | b',')) {
                    fraction = Some((part.len(), value));
                    let whole = numbers[6.min(unit)].take();
                    numbers[place] = whole;
                } else {
                    numbers[place] = Some(value);
                }
                unit = place + 1;
            }
        }
        begin = at + 1;
    }
    if let Some((digits, value)) = fraction {
        if digits as u128 > DIGITS {
            return Err(ErrorKind::LimitExceeded.into());
        }
        writer.push_unsigned(value);
        writer.push_unsigned(digits as u128);
    }
    let mut preamble = u8::from(fraction.is_some());
    for (place, number) in numbers.iter().enumerate().rev() {
        if let Some(number) = number {
            writer.push_unsigned(*number);
            preamble |= 0x80 >> place;
        }
    }
    writer.push_octet(preamble);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_become_numbers() {
        for (contents, octets) in [
            ("1Y2M3W", &[0xE0, 1, 1, 1, 2, 1, 3][..]),
            ("2M", &[0x40, 1, 2]),
            ("T2M", &[0x04, 1, 2]),
            ("1DT300H", &[0x18, 1, 1, 2, 1, 44]),
            ("T0.05S", &[0x03, 1, 0, 1, 2, 1, 5]),
            ("0,5M", &[0x41, 1, 0, 1, 1, 1, 5]),
        ] {
            let mut writer = Writer::new();
            write(&mut writer, Time::Duration, contents.as_bytes()).unwrap();
            assert_eq!(writer.finish(), octets, "{contents}");
        }
    }
}
