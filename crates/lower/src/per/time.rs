//! The time types (X.691 clause 32): which type of numbers stands for the property settings of a type.

use crate::settings::{Settings, is_short, settings};
use tercet_model::ir::{Model, TypeId};
use tercet_plan::Kind;
use tercet_plan::per::{Integer, IntegerForm, Time, TimePart, TimeStep, Unit, Whole};

/// How the values are written; nothing where the settings leave the form open (MIXED-ENCODING).
pub(super) fn of(model: &Model, kind: Kind, ty: Option<TypeId>, aligned: bool) -> Option<Time> {
    let numbers = Numbers { aligned };
    // The useful types by their definitions (X.680 38.4).
    let parts = match kind {
        Kind::Date => vec![numbers.point(Some(("YMD", false)), None)?],
        Kind::TimeOfDay => vec![numbers.point(None, Some(("HMS", "L")))?],
        Kind::DateTime => vec![numbers.point(Some(("YMD", false)), Some(("HMS", "L")))?],
        Kind::Duration => vec![numbers.duration()],
        _ => numbers.of_settings(&settings(model, ty?)?)?,
    };
    Some(Time { parts: parts.into() })
}

/// The forms of numbers in one of the variants.
struct Numbers {
    aligned: bool,
}

impl Numbers {
    fn of_settings(&self, settings: &Settings<'_>) -> Option<Vec<TimePart>> {
        let basic = *settings.get("Basic")?;
        if !matches!(basic, "Interval" | "Rec-Interval") {
            return Some(vec![self.point_of(basic, settings)?]);
        }
        let point = || self.point_of(settings.get("SE-point")?, settings);
        let interval = match *settings.get("Interval-type")? {
            "D" => vec![self.duration()],
            "SE" => vec![point()?, point()?],
            "SD" => vec![point()?, self.duration()],
            "DE" => vec![self.duration(), point()?],
            _ => return None,
        };
        let digits = settings.get("Recurrence").and_then(|times| times.strip_prefix('R')?.parse().ok());
        let recurrence =
            (basic == "Rec-Interval").then_some(TimePart::Recurrence(ANY, digits.unwrap_or_default()));
        Some(recurrence.into_iter().chain(interval).collect())
    }

    fn point_of(&self, basic: &str, settings: &Settings<'_>) -> Option<TimePart> {
        let get = |property: &str| settings.get(property).copied();
        let (has_date, has_clock) =
            (matches!(basic, "Date" | "Date-Time"), matches!(basic, "Time" | "Date-Time"));
        let date = if has_date { Some((get("Date")?, !is_short(get("Year")?))) } else { None };
        let clock = if has_clock { Some((get("Time")?, get("Local-or-UTC")?)) } else { None };
        self.point(date, clock)
    }

    fn point(&self, date: Option<(&str, bool)>, clock: Option<(&str, &str)>) -> Option<TimePart> {
        let mut steps = Vec::new();
        if let Some((date, any)) = date {
            self.date(date, any, &mut steps)?;
        }
        if let Some((clock, zone)) = clock {
            self.clock(clock, zone, &mut steps)?;
        }
        (!steps.is_empty()).then_some(TimePart::Point(steps.into()))
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
    fn duration(&self) -> TimePart {
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
        TimePart::Duration(steps.into())
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
