//! The time types (X.691 clause 32): which type of numbers stands for the property settings of a type.

use crate::settings::{Settings, is_short, settings};
use tercet_model::ir::{Model, TypeId};
use tercet_plan::Kind;
use tercet_plan::per::{Integer, IntegerForm, Time, TimeStep, Unit, Whole};

/// How the values are written; nothing for intervals, and where the settings leave the form open.
pub(super) fn of(model: &Model, kind: Kind, ty: Option<TypeId>, aligned: bool) -> Option<Time> {
    let numbers = Numbers { aligned };
    // The useful types by their definitions (X.680 38.4).
    let (date, clock) = match kind {
        Kind::Date => ("YMD", ""),
        Kind::TimeOfDay => ("", "HMS"),
        Kind::DateTime => ("YMD", "HMS"),
        Kind::Duration => return Some(numbers.duration()),
        _ => return numbers.of_settings(&settings(model, ty?)?),
    };
    let mut steps = Vec::new();
    if !date.is_empty() {
        numbers.date(date, false, &mut steps)?;
    }
    if !clock.is_empty() {
        numbers.clock(clock, "L", &mut steps)?;
    }
    Some(Time { duration: false, steps: steps.into() })
}

/// The forms of numbers in one of the variants.
struct Numbers {
    aligned: bool,
}

impl Numbers {
    fn of_settings(&self, settings: &Settings<'_>) -> Option<Time> {
        let get = |property: &str| settings.get(property).copied();
        let mut steps = Vec::new();
        let basic = get("Basic")?;
        if basic == "Interval" && get("Interval-type") == Some("D") {
            return Some(self.duration());
        }
        if matches!(basic, "Date" | "Date-Time") {
            self.date(get("Date")?, !is_short(get("Year")?), &mut steps)?;
        }
        if matches!(basic, "Time" | "Date-Time") {
            self.clock(get("Time")?, get("Local-or-UTC")?, &mut steps)?;
        }
        (!steps.is_empty()).then_some(Time { duration: false, steps: steps.into() })
    }

    /// §32.2: with a year of any length, or with the ranges of YEAR-ENCODING.
    fn date(&self, date: &str, any: bool, steps: &mut Vec<TimeStep>) -> Option<()> {
        if date == "C" {
            let century = if any { ANY } else { self.range(0, 99) };
            steps.push(TimeStep::Number(Unit::Century, century));
            return Some(());
        }
        steps.push(if any {
            TimeStep::Number(Unit::Year, ANY)
        } else {
            let ranges = [self.range(2005, 2020), self.range(2021, 2276), self.range(1749, 2004), ANY];
            TimeStep::Ranges(Unit::Year, ranges)
        });
        let rest: &[(Unit, i64, i64)] = match date {
            "Y" => &[],
            "YM" => &[(Unit::Month, 1, 12)],
            "YMD" => &[(Unit::Month, 1, 12), (Unit::Day, 1, 31)],
            "YD" => &[(Unit::DayOfYear, 1, 366)],
            "YW" => &[(Unit::Week, 1, 53)],
            "YWD" => &[(Unit::Week, 1, 53), (Unit::DayOfWeek, 1, 7)],
            _ => return None,
        };
        steps.extend(rest.iter().map(|(unit, lo, hi)| TimeStep::Number(*unit, self.range(*lo, *hi))));
        Some(())
    }

    /// §32.3: `H`, `HM`, `HMS`, each perhaps with a fraction of so many digits.
    fn clock(&self, time: &str, zone: &str, steps: &mut Vec<TimeStep>) -> Option<()> {
        let (units, digits) = match time.split_once('F') {
            Some((units, digits)) => {
                (units, Some(digits.parse::<u8>().ok().filter(|n| (1..=18).contains(n))?))
            }
            None => (time, None),
        };
        let count = ["H", "HM", "HMS"].iter().position(|known| *known == units)? + 1;
        let known = [(Unit::Hour, 24), (Unit::Minute, 59), (Unit::Second, 60)];
        steps.extend(known[..count].iter().map(|(unit, hi)| TimeStep::Number(*unit, self.range(0, *hi))));
        if let Some(digits) = digits {
            steps.push(TimeStep::Always(Unit::FractionDigits, i64::from(digits)));
            steps.push(TimeStep::Number(Unit::Fraction, self.extensible(0, 999)));
        }
        match zone {
            "L" => {}
            "Z" => steps.push(TimeStep::Utc),
            "LD" => steps.extend([
                TimeStep::Presence(Unit::ZoneMinute),
                TimeStep::Number(Unit::ZoneSign, self.range(0, 1)),
                TimeStep::Number(Unit::ZoneHour, self.range(0, 15)),
                TimeStep::Number(Unit::ZoneMinute, self.range(1, 59)),
            ]),
            _ => return None,
        }
        Some(())
    }

    /// DURATION-INTERVAL-ENCODING (§32.6).
    fn duration(&self) -> Time {
        let units = [
            (Unit::Year, 31),
            (Unit::Month, 15),
            (Unit::Week, 63),
            (Unit::Day, 31),
            (Unit::Hour, 31),
            (Unit::Minute, 63),
            (Unit::Second, 63),
        ];
        let mut steps: Vec<_> = units.iter().map(|(unit, _)| TimeStep::Presence(*unit)).collect();
        steps.push(TimeStep::Presence(Unit::Fraction));
        steps.extend(units.map(|(unit, hi)| TimeStep::Number(unit, self.extensible(0, hi))));
        steps.push(TimeStep::Number(Unit::FractionDigits, self.extensible(1, 3)));
        steps.push(TimeStep::Number(Unit::Fraction, self.extensible(0, 999)));
        Time { duration: true, steps: steps.into() }
    }

    const fn range(&self, lo: i64, hi: i64) -> Integer {
        let span = hi.abs_diff(lo);
        let form = IntegerForm::Constrained { lo, span, whole: Whole::of(span, self.aligned) };
        Integer { extensible: false, form }
    }

    const fn extensible(&self, lo: i64, hi: i64) -> Integer {
        Integer { extensible: true, ..self.range(lo, hi) }
    }
}

const ANY: Integer = Integer { extensible: false, form: IntegerForm::Unconstrained };
