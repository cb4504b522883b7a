//! Options of rows and columns.

use crate::render::{RenderArgs, Shown, Tables};
use clap::{Args, ValueEnum};
use tercet::columns::{Integers, Keys, OctetsAs, Options, Reals, TextAs};

/// How rows and their numbers look, in text and in columns.
#[derive(Args, Clone, Debug, Default)]
pub struct ColumnarArgs {
    /// Parquet, Arrow: column type of INTEGERs without bounds; `text` by default
    ///
    /// In JSON, `text` writes numbers beyond 2^53 as strings, which `tercet encode` reads too.
    #[arg(long, value_enum, value_name = "TYPE")]
    pub integers: Option<IntegersArg>,

    /// Parquet, Arrow: column type of REALs; `float64` by default
    ///
    /// A number beyond the range of float64 is null, and counted as a marked value; `text` keeps every number.
    #[arg(long, value_enum, value_name = "TYPE")]
    pub reals: Option<RealsArg>,

    /// Begin each row with `_file`, `_record`, `_offset`, `_length`
    ///
    /// XML and value notation have no place for them.
    #[arg(long)]
    pub provenance: bool,

    /// With `--provenance`: add `_sha256`, the SHA-256 of the record's bytes
    #[arg(long, requires = "provenance")]
    pub record_hash: bool,

    /// How files with columns look.
    #[arg(skip)]
    pub files: FileArgs,
}

/// How files with columns look: options of the commands that write them.
#[derive(Args, Clone, Debug, Default)]
pub struct FileArgs {
    /// Parquet, Arrow: the columns of CSV instead of structs; lists as JSON text
    #[cfg_attr(feature = "parquet", arg(long))]
    #[cfg_attr(not(feature = "parquet"), arg(skip))]
    pub flat: bool,

    /// Parquet, Arrow: bytes as hexadecimal text instead of binary
    #[cfg_attr(feature = "parquet", arg(long))]
    #[cfg_attr(not(feature = "parquet"), arg(skip))]
    pub hex_octets: bool,

    /// Parquet: how pages are compressed
    ///
    /// By default `zstd`.
    #[cfg(feature = "parquet")]
    #[arg(long, value_enum, value_name = "CODEC")]
    pub compression: Option<CompressionArg>,
}

/// What an INTEGER without bounds is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum IntegersArg {
    /// Decimal digits as text: every number fits
    Text,
    /// int64; a record with a larger number is rejected
    Int64,
    /// decimal128(38, 0); a record with a larger number is rejected
    Decimal,
}

/// What a REAL is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RealsArg {
    /// float64; a number beyond its range is null
    Float64,
    /// Decimal text: every number fits
    Text,
}

/// How pages are compressed.
#[cfg(feature = "parquet")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum CompressionArg {
    /// Zstandard
    #[default]
    Zstd,
    /// Snappy
    Snappy,
    /// Not at all
    None,
}

impl ColumnarArgs {
    /// What rows tell of where they came from.
    pub fn keys(&self, shown: Shown<'_>) -> Keys {
        match (shown.tables, self.provenance) {
            (Tables::One, false) => Keys::None,
            (Tables::Records, false) | (Tables::Child, _) => Keys::Record,
            (Tables::One | Tables::Records, true) if self.record_hash => Keys::Digest,
            (Tables::One | Tables::Records, true) => Keys::Place,
        }
    }

    /// The same for the library.
    pub fn options(&self, render: &RenderArgs, shown: Shown<'_>) -> Options {
        let texts = shown.leaves.map(|leaves| {
            [
                (leaves.timestamp, TextAs::Timestamp),
                (leaves.date, TextAs::Date),
                (leaves.time, TextAs::TimeOfDay),
                (leaves.amount, TextAs::Amount),
            ]
        });
        Options {
            columns: render.columns.clone(),
            integers: match self.integers {
                Some(IntegersArg::Int64) => Integers::Int64,
                Some(IntegersArg::Decimal) => Integers::Decimal,
                Some(IntegersArg::Text) | None => Integers::Text,
            },
            reals: match self.reals {
                Some(RealsArg::Text) => Reals::Text,
                Some(RealsArg::Float64) | None => Reals::Float64,
            },
            flat: self.files.flat,
            octets: match self.files.hex_octets || render.octets.is_some() {
                true => OctetsAs::Text(render.octets()),
                false => OctetsAs::Binary,
            },
            keys: self.keys(shown),
            elements: shown.lists.to_vec(),
            names: render.rename.clone(),
            texts: texts.into_iter().flatten().collect(),
            ..Options::default()
        }
    }
}
