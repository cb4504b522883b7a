//! Options of what records are and how they are found.

use super::given::OptionFault;
#[cfg(feature = "clap")]
use super::words::listed;
#[cfg(feature = "clap")]
use crate::framing::FRAMINGS;
use crate::framing::{CAPTURE, DEFAULT_RECORD_LIMIT, GivenFraming, RecordFormat};
use crate::inputs::from_hex;
use serde::{Deserialize, Serialize};
use tercet_dynamic::{Options, Unknown};

/// The default of `max-depth`.
const DEPTH: u16 = 64;
/// The default of `filler`.
const FILLER: &str = "00FF";
/// The framing that is found by trial.
const AUTO: &str = "auto";

/// Returns the help of `--framing`, with the framings that there are.
#[cfg(feature = "clap")]
fn framing_help() -> String {
    format!(
        "How records are framed, such as `plain` or `u16be`\n\n`auto` tries all on the first bytes of each input; others are like {}.",
        listed(FRAMINGS.iter().map(|(name, _)| *name), "or")
    )
}

/// What records are and where they are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct RecordOptions {
    /// Type of a record, or of the value around the list; found by trial by default
    #[cfg_attr(feature = "clap", arg(short, long = "type", id = "type_name", value_name = "TYPE"))]
    #[serde(rename = "type")]
    pub type_name: Option<String>,

    /// List whose elements are the records
    ///
    /// Such as `TransferBatch.callEventDetails`.
    #[cfg_attr(feature = "clap", arg(short, long, value_name = "PATH"))]
    pub records: Option<String>,

    /// How records are framed, such as `plain` or `u16be`
    #[cfg_attr(
        feature = "clap",
        arg(long, value_name = "FRAMING", default_value = AUTO, long_help = framing_help())
    )]
    pub framing: String,

    /// Encoding rules of records
    ///
    /// `auto` goes by the headers of TS 32.297, and takes BER without them. Rules other than BER require a framing with lengths,
    /// such as `ts32297`.
    #[cfg_attr(feature = "clap", arg(long, value_enum, default_value_t = RecordRules::Auto, value_name = "RULES"))]
    pub rules: RecordRules,

    /// Bytes that may be between records, in hexadecimal
    #[cfg_attr(feature = "clap", arg(long, value_name = "HEX", default_value = FILLER))]
    pub filler: String,

    /// Bytes that a record may have
    #[cfg_attr(feature = "clap", arg(long, value_name = "COUNT", default_value_t = DEFAULT_RECORD_LIMIT))]
    pub record_limit: usize,

    /// Elements inside one another that a record may have
    #[cfg_attr(feature = "clap", arg(long, value_name = "COUNT", default_value_t = DEPTH, alias = "depth"))]
    pub max_depth: u16,

    /// Handling of components that the specification does not define
    #[cfg_attr(
        feature = "clap",
        arg(long, value_enum, default_value_t = UnknownPolicy::Extensible, value_name = "POLICY")
    )]
    pub unknown: UnknownPolicy,

    /// Handling of texts and times that break the rules of their type in BER
    #[cfg_attr(
        feature = "clap",
        arg(long, value_enum, default_value_t = ValuesPolicy::Keep, value_name = "POLICY")
    )]
    pub values: ValuesPolicy,

    /// Show components that are absent and have a DEFAULT
    #[cfg_attr(feature = "clap", arg(long))]
    pub defaults: bool,
}

impl Default for RecordOptions {
    fn default() -> Self {
        Self {
            type_name: None,
            records: None,
            framing: AUTO.to_owned(),
            rules: RecordRules::default(),
            filler: FILLER.to_owned(),
            record_limit: DEFAULT_RECORD_LIMIT,
            max_depth: DEPTH,
            unknown: UnknownPolicy::default(),
            values: ValuesPolicy::default(),
            defaults: false,
        }
    }
}

/// The encoding rules of records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum RecordRules {
    /// By the headers of records, or BER
    #[default]
    Auto,
    /// Basic encoding rules
    Ber,
    /// Packed encoding rules, UNALIGNED
    Uper,
    /// Packed encoding rules, ALIGNED
    Aper,
    /// XML encoding rules
    Xer,
}

impl RecordRules {
    /// Returns the rules if they are given.
    pub fn given(self) -> Option<RecordFormat> {
        Some(match self {
            Self::Auto => return None,
            Self::Ber => RecordFormat::Ber,
            Self::Uper => RecordFormat::Uper,
            Self::Aper => RecordFormat::Aper,
            Self::Xer => RecordFormat::Xer,
        })
    }
}

/// The handling of components that the schema does not define.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum UnknownPolicy {
    /// Reject the record
    Error,
    /// Skip them where the type has `...`, in a SEQUENCE at the place of its additions, else reject the record
    #[default]
    Extensible,
    /// Skip them everywhere
    Keep,
}

impl UnknownPolicy {
    /// Returns the policy of decoders.
    pub fn policy(self) -> Unknown {
        match self {
            Self::Error => Unknown::Error,
            Self::Extensible => Unknown::Extensible,
            Self::Keep => Unknown::Keep,
        }
    }
}

/// The handling of texts and times that break the rules of their type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum ValuesPolicy {
    /// Keep and report them: `*` in a PrintableString, bytes that are not UTF-8, the time `0000000000Z`
    #[default]
    Keep,
    /// Reject the record
    Strict,
}

impl ValuesPolicy {
    /// Returns whether they reject the record.
    pub fn is_strict(self) -> bool {
        self == Self::Strict
    }
}

impl RecordOptions {
    /// Returns how records are decoded.
    pub fn options(&self) -> Options {
        let mut options = Options::default();
        options.unknown = self.unknown.policy();
        options.limits.depth = self.max_depth;
        options.fill_defaults = self.defaults;
        options.strict_values = self.values.is_strict();
        options
    }

    /// Returns whether records are text.
    pub fn is_text(&self) -> bool {
        self.rules == RecordRules::Xer
    }

    /// Returns whether the framing is that of packet captures, which are read as messages; `None` if it is found by trial.
    pub fn is_capture(&self) -> Option<bool> {
        (self.framing != AUTO).then(|| self.framing == CAPTURE)
    }

    /// Returns what is given of the framing.
    ///
    /// # Errors
    /// When the filler is not hexadecimal.
    pub fn given_framing(&self) -> Result<GivenFraming, OptionFault> {
        Ok(GivenFraming {
            framing: Some(self.framing.clone()).filter(|framing| framing != AUTO),
            rules: self.rules.given(),
            filler: Some(from_hex(&self.filler).map_err(|text| OptionFault::new(text).at("filler"))?),
            record_limit: Some(self.record_limit),
        })
    }

    /// Returns the words of a command line that give the limits again where they do not have their defaults.
    pub fn limit_words(&self) -> Vec<String> {
        let mut words = Vec::new();
        if self.record_limit != DEFAULT_RECORD_LIMIT {
            words.extend(["--record-limit".to_owned(), self.record_limit.to_string()]);
        }
        if self.max_depth != DEPTH {
            words.extend(["--max-depth".to_owned(), self.max_depth.to_string()]);
        }
        words
    }
}
