//! Values of options that are written as one text.

use super::rendering::RenderRule;
use crate::SettingError;
use crate::filter::Condition;
use crate::formats::Format;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

/// Returns names as a sentence lists them.
#[cfg(feature = "clap")]
pub(super) fn listed<'a>(names: impl Iterator<Item = &'a str>, last: &str) -> String {
    let mut names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    let end = names.pop().unwrap_or_default();
    if names.is_empty() { end } else { format!("{} {last} {end}", names.join(", ")) }
}

/// Writes and reads a type by its text.
macro_rules! as_text {
    ($($name:ty),+) => {$(
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
            }
        }
    )+};
}

as_text!(Condition, Format, NumberRange, RenderRule, Renaming);

/// Another name for the column of a component: `PATH=NAME`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Renaming {
    /// The path of the component.
    pub path: String,
    /// The name of its column.
    pub name: String,
}

impl FromStr for Renaming {
    type Err = SettingError;

    fn from_str(text: &str) -> Result<Self, SettingError> {
        match text.split_once('=') {
            Some((path, name)) if !path.is_empty() && !name.is_empty() => {
                Ok(Self { path: path.to_owned(), name: name.to_owned() })
            }
            _ => Err("`PATH=NAME` expected".into()),
        }
    }
}

impl fmt::Display for Renaming {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.path, self.name)
    }
}

/// Numbers that follow on each other: `FIRST..LAST`, with the last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NumberRange(pub RangeInclusive<i64>);

impl FromStr for NumberRange {
    type Err = SettingError;

    fn from_str(text: &str) -> Result<Self, SettingError> {
        crate::figures::circle_of(text).map(Self)
    }
}

impl fmt::Display for NumberRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.0.start(), self.0.end())
    }
}

/// Rejects that are allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RejectLimit {
    /// Any number.
    None,
    /// At most this number.
    Most(u64),
}

impl RejectLimit {
    /// Returns the number, or `None` without a limit.
    pub fn most(self) -> Option<u64> {
        match self {
            Self::None => None,
            Self::Most(most) => Some(most),
        }
    }
}

/// The word for no limit.
const NONE: &str = "none";
/// What a limit may be.
const LIMIT: &str = "a number or `none`";

impl FromStr for RejectLimit {
    type Err = SettingError;

    fn from_str(text: &str) -> Result<Self, SettingError> {
        match text.parse() {
            _ if text == NONE => Ok(Self::None),
            Ok(most) => Ok(Self::Most(most)),
            Err(_) => Err(format!("{LIMIT} expected").into()),
        }
    }
}

impl Serialize for RejectLimit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::None => serializer.serialize_str(NONE),
            Self::Most(most) => serializer.serialize_u64(*most),
        }
    }
}

impl<'de> Deserialize<'de> for RejectLimit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(LimitVisitor)
    }
}

struct LimitVisitor;

impl serde::de::Visitor<'_> for LimitVisitor {
    type Value = RejectLimit;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(LIMIT)
    }

    fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<RejectLimit, E> {
        let wrong = |_| E::invalid_value(serde::de::Unexpected::Signed(number), &self);
        u64::try_from(number).map(RejectLimit::Most).map_err(wrong)
    }

    fn visit_u64<E>(self, number: u64) -> Result<RejectLimit, E> {
        Ok(RejectLimit::Most(number))
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<RejectLimit, E> {
        match text {
            NONE => Ok(RejectLimit::None),
            other => Err(E::invalid_type(serde::de::Unexpected::Str(other), &self)),
        }
    }
}

/// A part of a whole, from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "f64")]
pub struct Ratio(f64);

impl Ratio {
    /// Returns the number.
    pub fn get(self) -> f64 {
        self.0
    }
}

impl TryFrom<f64> for Ratio {
    type Error = SettingError;

    fn try_from(number: f64) -> Result<Self, SettingError> {
        match number {
            0.0..=1.0 => Ok(Self(number)),
            _ => Err("a number from 0 to 1 expected".into()),
        }
    }
}

impl FromStr for Ratio {
    type Err = SettingError;

    fn from_str(text: &str) -> Result<Self, SettingError> {
        Self::try_from(text.parse().unwrap_or(f64::NAN))
    }
}
