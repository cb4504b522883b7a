//! The time types (X.696 clause 29): which type of numbers stands for the property settings of a type.

use crate::settings::settings;
use tercet_model::ir::{Model, TypeId};
use tercet_plan::Kind;
use tercet_plan::oer::{Integer, Time, TimeStep};
use tercet_plan::per::Unit;

/// How the values are written; nothing where they are written as their text, as all settings are that Tables 1 to 3 of
/// §29 do not have.
pub(super) fn of(model: &Model, kind: Kind, ty: Option<TypeId>) -> Option<Time> {
    let mut steps = Vec::new();
    // The useful types by their definitions (X.680 38.4).
    match kind {
        Kind::Date => date("YMD", &mut steps)?,
        Kind::TimeOfDay => clock("HMS", "L", &mut steps)?,
        Kind::DateTime => {
            date("YMD", &mut steps)?;
            clock("HMS", "L", &mut steps)?;
        }
        Kind::Duration => return Some(Time::Duration),
        _ => {
            let settings = settings(model, ty?)?;
            let get = |property: &str| settings.get(property).copied();
            let basic = get("Basic")?;
            if basic == "Interval" && get("Interval-type") == Some("D") {
                return Some(Time::Duration);
            }
            if matches!(basic, "Date" | "Date-Time") {
                date(get("Date")?, &mut steps)?;
            }
            if matches!(basic, "Time" | "Date-Time") {
                clock(get("Time")?, get("Local-or-UTC")?, &mut steps)?;
            }
        }
    }
    (!steps.is_empty()).then_some(Time::Point(steps.into()))
}

/// Table 1: YEAR-ENCODING, YEAR-MONTH-ENCODING, DATE-ENCODING.
fn date(date: &str, steps: &mut Vec<TimeStep>) -> Option<()> {
    let count = ["Y", "YM", "YMD"].iter().position(|known| *known == date)? + 1;
    let units = [(Unit::Year, Integer::SignedVariable), (Unit::Month, OCTET), (Unit::Day, OCTET)];
    steps.extend(units.into_iter().take(count).map(|(unit, integer)| TimeStep::Number(unit, integer)));
    Some(())
}

/// Table 2: HOURS-ENCODING to TIME-OF-DAY-FRACTION-DIFF-ENCODING.
fn clock(time: &str, zone: &str, steps: &mut Vec<TimeStep>) -> Option<()> {
    let (units, digits) = match time.split_once('F') {
        Some((units @ "HMS", digits)) => {
            (units, Some(digits.parse::<u8>().ok().filter(|n| (1..=18).contains(n))?))
        }
        Some(_) => return None,
        None => (time, None),
    };
    let count = ["H", "HM", "HMS"].iter().position(|known| *known == units)? + 1;
    let known = [Unit::Hour, Unit::Minute, Unit::Second];
    steps.extend(known.into_iter().take(count).map(|unit| TimeStep::Number(unit, OCTET)));
    if let Some(digits) = digits {
        steps.push(TimeStep::Always(Unit::FractionDigits, i64::from(digits)));
        steps.push(TimeStep::Number(Unit::Fraction, Integer::UnsignedVariable));
    }
    match zone {
        "L" => {}
        "Z" => steps.push(TimeStep::Utc),
        "LD" => steps.push(TimeStep::Difference),
        _ => return None,
    }
    Some(())
}

/// A bounded number of small size.
const OCTET: Integer = Integer::Unsigned(1);
