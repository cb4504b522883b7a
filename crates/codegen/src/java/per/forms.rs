//! Expressions of widths, sizes, characters and times.

use super::Per;
use crate::code::per::TimeForm;
use crate::java::ber::time_number;
use crate::java::values::long;
use tercet_plan::per::{Alphabet, Integer, IntegerForm, Size, TimePart, TimeStep, UNBOUNDED, Unit, Whole};

impl Per<'_, '_, '_> {
    /// The constant of a width.
    pub(super) fn whole(&mut self, form: Whole) -> String {
        match form {
            Whole::Nothing | Whole::Octet | Whole::TwoOctets => whole(form),
            _ => self.constant("PerWhole", whole(form)),
        }
    }

    /// The constant of a size.
    pub(super) fn size(&mut self, size: Size) -> String {
        if size == Size::ANY {
            return "PerSize.ANY".into();
        }
        let whole = size.whole.map_or_else(|| "null".into(), whole);
        let most = if size.hi == UNBOUNDED { "-1".into() } else { format!("{}L", size.hi) };
        self.constant("PerSize", format!("new PerSize({}, {}L, {most}, {whole})", size.extensible, size.lo))
    }

    pub(super) fn alphabet(&mut self, number: u32) -> String {
        let known = &self.alphabets[number as usize];
        self.constant("PerAlphabet", alphabet(known))
    }
}

fn alphabet(known: &Alphabet) -> String {
    let ranges: String = known
        .ranges
        .iter()
        .map(|range| format!(", {}L, {}L, {}L", range.lo, range.hi, range.number))
        .collect();
    format!("new PerAlphabet({}, {}, {}{ranges})", known.bits, known.unaligned, known.indexed)
}

fn whole(form: Whole) -> String {
    match form {
        Whole::Nothing => "PerWhole.NOTHING".into(),
        Whole::Bits(width) => format!("PerWhole.bits({width})"),
        Whole::Octet => "PerWhole.OCTET".into(),
        Whole::TwoOctets => "PerWhole.TWO_OCTETS".into(),
        Whole::Octets(width, most) => format!("PerWhole.octets({width}, {most})"),
    }
}

/// The expression of the form of a time.
pub(super) fn time(form: &TimeForm) -> String {
    let parts: Vec<String> = form.parts.iter().map(part).collect();
    format!("new PerTime({}, {})", time_number(form.kind), parts.join(", "))
}

fn part(part: &TimePart) -> String {
    let (name, steps) = match part {
        TimePart::Point(steps) => ("point", steps),
        TimePart::Duration(steps) => ("duration", steps),
        TimePart::Recurrence(integer, digits) => {
            return format!("PerTime.recurrence({}, {digits})", range(*integer));
        }
    };
    let steps: Vec<String> = steps.iter().map(step).collect();
    format!("PerTime.{name}({})", steps.join(", "))
}

fn step(step: &TimeStep) -> String {
    match step {
        TimeStep::Presence(unit) => format!("PerTime.presence({})", name(*unit)),
        TimeStep::Number(unit, integer) => format!("PerTime.number({}, {})", name(*unit), range(*integer)),
        TimeStep::Ranges(unit, ranges) => {
            format!("PerTime.ranges({}, {})", name(*unit), ranges.map(range).join(", "))
        }
        TimeStep::Always(unit, number) => format!("PerTime.always({}, {})", name(*unit), long(*number)),
        TimeStep::Utc => "PerTime.utc()".into(),
    }
}

fn range(integer: Integer) -> String {
    match integer.form {
        IntegerForm::Constrained { lo, span, whole: form } => format!(
            "new PerTime.Range({}, {}, {}, {})",
            whole(form),
            long(lo),
            long(span.cast_signed()),
            integer.extensible
        ),
        _ => "null".into(),
    }
}

/// The name of a unit as a literal.
pub(in crate::java) fn name(unit: Unit) -> String {
    let words: Vec<String> = crate::names::words(&format!("{unit:?}")).map(str::to_uppercase).collect();
    format!("\"{}\"", words.join("_"))
}
