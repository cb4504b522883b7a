//! How times are written (X.691 clause 32).

use super::Integer;

/// A number in a time, as the engine's word for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Unit {
    Century,
    Year,
    Month,
    Week,
    Day,
    DayOfYear,
    DayOfWeek,
    Hour,
    Minute,
    Second,
    Fraction,
    FractionDigits,
    ZoneSign,
    ZoneHour,
    ZoneMinute,
}

/// A step in writing a time (§32).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TimeStep {
    /// A presence bit for the number of a unit.
    Presence(Unit),
    /// A number, unless it is absent by its presence bit.
    Number(Unit, Integer),
    /// A CHOICE of four ranges, the first that has the number: YEAR-ENCODING (§32.2.3).
    Ranges(Unit, [Integer; 4]),
    /// Nothing is written: the number is always this one.
    Always(Unit, i64),
    /// Nothing is written: the time is UTC.
    Utc,
}

/// A part of a time, between slashes in its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TimePart {
    /// A date, a time of day or both: the numbers in order.
    Point(Box<[TimeStep]>),
    /// A duration: the numbers in order.
    Duration(Box<[TimeStep]>),
    /// A presence bit, and how often the interval behind it recurs, if that is bounded; in the text it has at least
    /// so many digits.
    Recurrence(Integer, u8),
}

/// How a time type is written: as the type that §32 gives for its property settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Time {
    /// One, or those of an interval.
    pub parts: Box<[TimePart]>,
}
