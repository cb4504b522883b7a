//! The encoding rules of records, as far as files tell them.

use crate::SettingError;
use std::fmt;
use std::str::FromStr;
use tercet_plan::Rules;

/// The encoding rules of a record: the data record format of 3GPP TS 32.297, clause 6.1.2.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum RecordFormat {
    /// BER, which tells by itself where a record ends.
    #[default]
    Ber,
    /// BASIC-PER, UNALIGNED variant.
    Uper,
    /// BASIC-PER, ALIGNED variant.
    Aper,
    /// BASIC-XER.
    Xer,
}

impl RecordFormat {
    /// All of them, in the order of their numbers, which begin with 1.
    pub const ALL: [Self; 4] = [Self::Ber, Self::Uper, Self::Aper, Self::Xer];

    /// The format with a number of TS 32.297; 0, which it does not define, is met in files with BER.
    pub(super) fn of_number(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number.saturating_sub(1))).copied()
    }

    /// Its name: `UPER`.
    pub fn name(self) -> &'static str {
        ["BER", "UPER", "APER", "XER"][self as usize]
    }

    /// The rules of a plan for it; XER needs none but that for BER, whose shape it is read by.
    pub(crate) fn plan_rules(self) -> Option<Rules> {
        match self {
            Self::Uper => Some(Rules::Uper),
            Self::Aper => Some(Rules::Aper),
            Self::Ber | Self::Xer => None,
        }
    }
}

impl fmt::Display for RecordFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for RecordFormat {
    type Err = SettingError;

    fn from_str(text: &str) -> Result<Self, SettingError> {
        let found = Self::ALL.into_iter().find(|format| format.name().eq_ignore_ascii_case(text));
        found.ok_or_else(|| format!("`{text}` is none of `ber`, `uper`, `aper`, `xer`").into())
    }
}

/// A stretch that a header says to be one record in other rules than BER.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Told {
    pub(super) format: RecordFormat,
    /// Offset of its first octet.
    pub(super) start: u64,
    /// Offset of the octet behind it; `u64::MAX` if nothing tells it.
    pub(super) end: u64,
}
