//! Options of how rows and their values are written.

use super::given::OptionFault;
use super::words::Renaming;
use crate::formats::{Format, Shown, TableRole};
use serde::{Deserialize, Serialize};
use tercet_columns::{Integers, Keys, Layout, OctetsAs, Options, Reals, TextAs, expand};
use tercet_dynamic::NodeId;
use tercet_dynamic::text::Octets;

/// How values are shown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct FormOptions {
    /// How bytes and BIT STRINGs are shown in JSON and CSV
    ///
    /// By default `jer`.
    #[cfg_attr(feature = "clap", arg(long, value_enum, value_name = "STYLE"))]
    pub json_style: Option<JsonStyle>,

    /// How bytes are written: hexadecimal or base64
    ///
    /// In all formats but XML and value notation, where no rendering applies; BIT STRINGs too where they are written as bytes.
    #[cfg_attr(feature = "clap", arg(long, value_enum, value_name = "FORM"))]
    pub octets: Option<OctetsForm>,

    /// Columns to write, or components in JSON and XML; all by default
    ///
    /// `tercet show columns` lists them. Other components are not decoded. In a name, `*` is any characters, `**` any number of
    /// names; in CSV, `LIST[0..3]` is the first three elements of a list.
    #[cfg_attr(feature = "clap", arg(long, value_name = "PATH", value_delimiter = ','))]
    pub columns: Vec<String>,

    /// The columns as written, where `columns` are those that patterns match.
    #[cfg_attr(feature = "clap", arg(skip))]
    #[serde(skip)]
    pub(crate) asked: Vec<String>,

    /// CSV, Parquet, Arrow: name of the column of a component
    ///
    /// In CSV, the names of the columns within it begin with NAME too.
    #[cfg_attr(feature = "clap", arg(long, value_name = "PATH=NAME", value_delimiter = ','))]
    pub rename: Vec<Renaming>,

    /// CSV: put an apostrophe before texts that a spreadsheet would run as formulas
    #[cfg_attr(feature = "clap", arg(long))]
    pub guard_formulas: bool,

    /// Parquet, Arrow: column type of INTEGERs without bounds; `text` by default
    ///
    /// In JSON, `text` writes numbers beyond 2^53 as strings, which `tercet encode` reads too.
    #[cfg_attr(feature = "clap", arg(long, value_enum, value_name = "TYPE"))]
    pub integers: Option<IntegerForm>,

    /// Parquet, Arrow: column type of REALs; `float64` by default
    ///
    /// A number beyond the range of float64 is null, and counted as a marked value; `text` keeps every number.
    #[cfg_attr(feature = "clap", arg(long, value_enum, value_name = "TYPE"))]
    pub reals: Option<RealForm>,

    /// Begin each row with `_file`, `_record`, `_offset`, `_length`
    ///
    /// XML and value notation have no place for them.
    #[cfg_attr(feature = "clap", arg(long))]
    pub provenance: bool,

    /// With `--provenance`: add `_sha256`, the SHA-256 of the record's bytes
    #[cfg_attr(feature = "clap", arg(long))]
    pub record_hash: bool,

    /// The look of files with columns.
    #[cfg_attr(feature = "clap", arg(skip))]
    #[serde(skip)]
    pub files: FileOptions,
}

/// The look of files with columns.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct FileOptions {
    /// Parquet, Arrow: the columns of CSV instead of structs; lists as JSON text
    #[cfg_attr(all(feature = "clap", feature = "files"), arg(long))]
    #[cfg_attr(all(feature = "clap", not(feature = "files")), arg(skip))]
    pub flat: bool,

    /// Parquet, Arrow: bytes as hexadecimal text instead of binary
    #[cfg_attr(all(feature = "clap", feature = "files"), arg(long))]
    #[cfg_attr(all(feature = "clap", not(feature = "files")), arg(skip))]
    pub hex_octets: bool,

    /// Parquet: how pages are compressed
    ///
    /// By default `zstd`.
    #[cfg_attr(all(feature = "clap", feature = "files"), arg(long, value_enum, value_name = "CODEC"))]
    #[cfg_attr(all(feature = "clap", not(feature = "files")), arg(skip))]
    pub compression: Option<PageCompression>,
}

/// The form in JSON of what JSON has no form for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum JsonStyle {
    /// As in X.697, which `tercet encode` reads
    #[default]
    Jer,
    /// Bytes in small letters; BIT STRINGs as {"bits":"a0","len":3}
    Plain,
}

/// The form of bytes in text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum OctetsForm {
    /// Hexadecimal with a to f
    #[cfg_attr(feature = "clap", value(name = "hex"))]
    #[serde(rename = "hex")]
    Hex,
    /// Hexadecimal with A to F
    #[cfg_attr(feature = "clap", value(name = "HEX"))]
    #[serde(rename = "HEX")]
    UpperHex,
    /// Base64 with padding
    #[serde(rename = "base64")]
    Base64,
}

/// The column type of an INTEGER without bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum IntegerForm {
    /// Decimal digits as text: every number fits
    Text,
    /// int64; a record with a larger number is rejected
    Int64,
    /// decimal128(38, 0); a record with a larger number is rejected
    Decimal,
}

/// The column type of a REAL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum RealForm {
    /// float64; a number beyond its range is null
    Float64,
    /// Decimal text: every number fits
    Text,
}

/// The compression of pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum PageCompression {
    /// Zstandard
    #[default]
    Zstd,
    /// Snappy
    Snappy,
    /// Not at all
    None,
}

impl FormOptions {
    /// Returns the keys of the options given that not every format has a place for.
    fn given(&self) -> impl Iterator<Item = &'static str> {
        let integers = match self.integers {
            Some(IntegerForm::Text) => "integers=text",
            _ => "integers",
        };
        [
            ("json-style", self.json_style.is_some()),
            ("octets", self.octets.is_some()),
            ("columns", !self.columns.is_empty()),
            ("rename", !self.rename.is_empty()),
            ("guard-formulas", self.guard_formulas),
            (integers, self.integers.is_some()),
            ("reals", self.reals.is_some()),
            ("provenance", self.provenance),
            ("flat", self.files.flat),
            ("hex-octets", self.files.hex_octets),
            ("compression", self.files.compression.is_some()),
        ]
        .into_iter()
        .filter_map(|(key, is_given)| is_given.then_some(key))
    }

    /// Checks that options go together, and that a format has a place for those given; `None` is the format of encoded values.
    ///
    /// # Errors
    /// When it does not have one, or an option requires another.
    pub fn check_format(&self, format: Option<Format>) -> Result<(), OptionFault> {
        if self.record_hash && !self.provenance {
            return Err(OptionFault::about("`{record-hash}` requires `{provenance}`"));
        }
        self.given().try_for_each(|key| check_option(key, format))
    }

    /// Returns the fields that a decoder has to read for the columns of a format, or `None` for all.
    pub fn fields<'p>(&self, format: Format, shown: impl Into<Shown<'p>>, node: NodeId) -> Option<Vec<bool>> {
        if !format.has_columns() {
            return None;
        }
        let shown = shown.into();
        Layout::new(shown.shape(), node, &self.columns_of(shown)).wanted_fields(shown.shape())
    }

    /// Returns the options with the columns that patterns match, of values of a type.
    ///
    /// # Errors
    /// When a pattern matches nothing.
    pub fn expanded<'p>(&self, shown: impl Into<Shown<'p>>, node: NodeId) -> Result<Self, OptionFault> {
        Ok(self.with_columns(
            expand(shown.into().shape(), node, &self.columns)
                .map_err(|error| OptionFault::new(error.to_string()))?,
        ))
    }

    /// Returns the options with other columns.
    pub fn with_columns(&self, columns: Vec<String>) -> Self {
        Self { columns, asked: self.columns.clone(), ..self.clone() }
    }

    /// Checks that the rows have the columns, and that no two have one name.
    ///
    /// # Errors
    /// When one is unknown, or there are two of one name.
    pub fn check_columns<'p>(
        &self,
        format: Format,
        shown: impl Into<Shown<'p>>,
        node: NodeId,
    ) -> Result<(), OptionFault> {
        // Of columns that nobody has named there are none too many.
        let unnamed = self.columns.is_empty() && self.rename.is_empty();
        if !format.is_columnar() && unnamed {
            return Ok(());
        }
        format.check_columns(self, shown.into(), node)
    }

    /// Returns whether some columns are those that patterns match.
    pub(crate) fn is_pattern(&self) -> bool {
        self.asked.iter().any(|path| path.contains('*'))
    }

    /// Returns the new names of components, by their paths.
    pub(crate) fn names(&self) -> Vec<(String, String)> {
        self.rename.iter().map(|it| (it.path.clone(), it.name.clone())).collect()
    }

    /// Returns the form of bytes in text.
    pub fn octets(&self) -> Octets {
        match (self.octets, self.json_style.unwrap_or_default()) {
            (Some(OctetsForm::UpperHex), _) | (None, JsonStyle::Jer) => Octets::UpperHex,
            (Some(OctetsForm::Hex), _) | (None, JsonStyle::Plain) => Octets::LowerHex,
            (Some(OctetsForm::Base64), _) => Octets::Base64,
        }
    }

    /// Returns the columns that tell where a row came from.
    pub fn keys(&self, shown: Shown<'_>) -> Keys {
        match (shown.table, self.provenance) {
            (TableRole::Only, false) => Keys::None,
            (TableRole::Records, false) | (TableRole::Child, _) => Keys::Record,
            (TableRole::Only | TableRole::Records, true) if self.record_hash => Keys::Digest,
            (TableRole::Only | TableRole::Records, true) => Keys::Place,
        }
    }

    /// Returns the options of columns for values as they are shown.
    pub fn columns_of(&self, shown: Shown<'_>) -> Options {
        let texts = shown.leaves.map(|leaves| {
            [
                (leaves.timestamp, TextAs::Timestamp),
                (leaves.date, TextAs::Date),
                (leaves.time, TextAs::TimeOfDay),
                (leaves.amount, TextAs::Amount),
            ]
        });
        Options {
            columns: self.columns.clone(),
            integers: match self.integers {
                Some(IntegerForm::Int64) => Integers::Int64,
                Some(IntegerForm::Decimal) => Integers::Decimal,
                Some(IntegerForm::Text) | None => Integers::Text,
            },
            reals: match self.reals {
                Some(RealForm::Text) => Reals::Text,
                Some(RealForm::Float64) | None => Reals::Float64,
            },
            flat: self.files.flat,
            octets: match self.files.hex_octets || self.octets.is_some() {
                true => OctetsAs::Text(self.octets()),
                false => OctetsAs::Binary,
            },
            keys: self.keys(shown),
            elements: shown.lists.to_vec(),
            names: self.names(),
            texts: texts.into_iter().flatten().collect(),
            ..Options::default()
        }
    }
}

/// Checks that a format has a place for an option that is given; `None` is the format of encoded values.
pub(crate) fn check_option(key: &'static str, format: Option<Format>) -> Result<(), OptionFault> {
    if format.is_some_and(|format| format.takes(key)) {
        return Ok(());
    }
    let formats: Vec<_> = Format::all().filter(|format| format.takes(key)).map(Format::name).collect();
    let output = match format {
        Some(format) => format!("the format `{}`", format.name()),
        None => "encoded values".to_owned(),
    };
    let key = key.split('=').next().unwrap_or(key);
    let help = match formats.is_empty() {
        true => "this build has no format that it is for; build with `--features parquet`".to_owned(),
        false => format!("it is for {}", formats.join(", ")),
    };
    Err(OptionFault::about(format!("`{{{key}}}` does not apply to {output}\nhelp: {help}")))
}
