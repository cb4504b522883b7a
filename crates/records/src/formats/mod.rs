//! Output formats: what makes rows of records in each of them.
//!
//! A format is a type with [`OutputFormat`] and an entry of [`FORMATS`]. Names, suffixes, the options that it has a place for
//! and the messages about them follow from these two.

#[cfg(feature = "files")]
mod columns;
mod csv;
mod json;
mod notation;
mod prefix;
mod shown;
mod tables;
mod xml;

pub use shown::{Shown, TableRole};
pub(crate) use tables::{fields, part_writer, paths, tables, writer};

use crate::SettingError;
use crate::conversion::{FormOptions, OptionFault};
use crate::writer::RowWriter;
use std::fmt;
use std::ops::RangeInclusive;
use std::path::Path;
use std::str::FromStr;
use tercet_columns::Layout;
use tercet_dynamic::NodeId;
use tercet_suggest::{with_known, with_list};

/// Octets of records that a thread gets at a time: enough that handing over costs nothing, few enough that their rows, which
/// may have ten times as many, stay in a cache (MSC records to CSV on two threads: 924 ns a record with 256 KiB, 853 with 64).
const TEXT_BATCH: RangeInclusive<usize> = 1 << 16..=1 << 16;

/// Octets of records that a thread gets at a time of files with columns, which is a row group of a Parquet file, in short inputs
/// and in long ones. 20 MB of MSC records, whose values repeat, make a file of 10.6 MB on two threads, of 16.5 with 4 MiB. With
/// 32 MiB long files are a tenth shorter, and two threads take 302 MB, not 211.
const COLUMNS_BATCH: RangeInclusive<usize> = 8 << 20..=10 << 20;

/// What rows of a format are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowKind {
    /// Values, as they are nested.
    Values,
    /// A line of text with a cell for each column.
    Cells,
    /// A row of a binary file with columns.
    Columns,
}

/// What is fixed for an output format.
#[derive(Debug)]
pub struct FormatInfo {
    /// Its name in options.
    pub name: &'static str,
    /// What it is, in a few words.
    pub help: &'static str,
    /// The suffixes of its files; the first is the one that they get.
    pub suffixes: &'static [&'static str],
    /// The name of the format whose suffixes its files may have, too: its own, or another.
    pub family: &'static str,
    /// What its rows are.
    pub rows: RowKind,
    /// Whether ends of lines stand within quotes in its files.
    pub quotes_text: bool,
    /// The keys of the options that it has a place for, of those that not every format has one for. `integers=text` stands
    /// for this value alone.
    pub options: &'static [&'static str],
}

/// An output format.
pub trait OutputFormat: fmt::Debug + Sync {
    /// Returns what is fixed for it.
    fn info(&self) -> &FormatInfo;

    /// Makes what writes values of a type.
    fn writer<'p>(
        &self,
        form: &FormOptions,
        shown: Shown<'p>,
        node: NodeId,
    ) -> Box<dyn RowWriter + Send + 'p>;

    /// Makes what writes values on another thread: a writer of [`OutputFormat::writer`] takes their rows over.
    fn part_writer<'p>(
        &self,
        form: &FormOptions,
        shown: Shown<'p>,
        node: NodeId,
    ) -> Box<dyn RowWriter + Send + 'p> {
        self.writer(form, shown, node)
    }

    /// Checks that values of a type have the columns given, and that no two have one name.
    ///
    /// # Errors
    /// When one is unknown, or there are two of one name.
    fn check_columns(&self, form: &FormOptions, shown: Shown<'_>, node: NodeId) -> Result<(), OptionFault> {
        let layout = Layout::new(shown.shape(), node, &form.columns_of(shown));
        match (layout.unknown_column(), layout.double_name()) {
            (Some(text), _) => Err(OptionFault::new(text)),
            (None, Some(name)) => Err(OptionFault::new(format!("two columns are named `{name}`"))),
            (None, None) => Ok(()),
        }
    }
}

/// One of the output formats.
#[derive(Clone, Copy)]
pub struct Format(&'static dyn OutputFormat);

/// The formats that this build writes, in the order in which help lists them.
pub static FORMATS: &[Format] = &[
    Format::JSON,
    Format::JSONL,
    Format::XML,
    Format::VALUE,
    Format(&csv::Csv),
    #[cfg(feature = "files")]
    Format(&columns::PARQUET),
    #[cfg(feature = "files")]
    Format(&columns::ARROW),
    #[cfg(feature = "files")]
    Format(&columns::ARROW_STREAM),
];

/// Suffixes of files that other builds write.
#[cfg(not(feature = "files"))]
const OTHER_SUFFIXES: &[&str] = &["parquet", "arrow", "feather", "arrows"];
#[cfg(feature = "files")]
const OTHER_SUFFIXES: &[&str] = &[];

impl Format {
    /// JSON, indented.
    pub const JSON: Self = Self(&json::INDENTED);
    /// JSON, one value a line.
    pub const JSONL: Self = Self(&json::LINES);
    /// XML.
    pub const XML: Self = Self(&xml::Xml);
    /// ASN.1 value notation.
    pub const VALUE: Self = Self(&notation::Notation);
    /// CSV.
    pub const CSV: Self = Self(&csv::Csv);

    /// Returns the formats that this build writes.
    pub fn all() -> impl Iterator<Item = Self> {
        FORMATS.iter().copied()
    }

    /// Returns the format that the suffix of a file stands for.
    pub fn of_path(path: &Path) -> Option<Self> {
        let suffix = path.extension()?.to_str()?;
        Self::all()
            .find(|format| format.info().suffixes.iter().any(|known| known.eq_ignore_ascii_case(suffix)))
    }

    /// Returns whether a suffix is that of a format, which this build may not write.
    pub(crate) fn is_suffix(suffix: &str) -> bool {
        let own = Self::all().flat_map(|format| format.info().suffixes.iter().copied());
        own.chain(OTHER_SUFFIXES.iter().copied()).any(|known| known == suffix)
    }

    /// Checks that the suffix of a file stands for a format. What is not a file, such as a pipe, needs none.
    ///
    /// # Errors
    /// When there is no suffix, or it is unknown.
    pub fn check_suffix(path: &Path) -> Result<(), OptionFault> {
        let is_file = std::fs::metadata(path).map_or(true, |found| found.is_file());
        if !is_file || Self::of_path(path).is_some() {
            return Ok(());
        }
        let known = Self::all().flat_map(|format| format.info().suffixes.iter().copied());
        let shown = tercet_printable::path(path);
        let text = match path.extension() {
            Some(suffix) => {
                let suffix = tercet_printable::printable(&suffix.to_string_lossy()).into_owned();
                with_known(&format!("unknown suffix `{suffix}` of the output `{shown}`"), &suffix, known)
            }
            None => with_list(&format!("the output `{shown}` has no suffix to choose a format by"), known),
        };
        Err(OptionFault::new(text + "; or name the format with `--format`"))
    }

    /// Returns the suffix of its files.
    pub fn suffix(self) -> &'static str {
        self.info().suffixes.first().copied().unwrap_or_default()
    }

    /// Returns whether it has a place for an option.
    pub(crate) fn takes(self, key: &str) -> bool {
        let of_all_values = key.split('=').next().unwrap_or(key);
        self.info().options.iter().any(|known| *known == key || *known == of_all_values)
    }

    /// Returns whether files of two formats may have the same suffixes: JSON and its lines, Arrow's files and streams.
    pub fn is_like(self, other: Self) -> bool {
        self.info().family == other.info().family
    }

    /// Returns its name in options.
    pub fn name(self) -> &'static str {
        self.0.info().name
    }

    /// Returns whether its files have columns and are not text.
    pub fn is_columnar(self) -> bool {
        self.info().rows == RowKind::Columns
    }

    /// Returns whether its rows have columns, in text or not: other fields need not be decoded.
    pub fn has_columns(self) -> bool {
        !self.is_for_values()
    }

    /// Returns whether it has a form for single values.
    pub fn is_for_values(self) -> bool {
        self.info().rows == RowKind::Values
    }

    /// Returns the octets of records that a thread gets at a time, of short inputs and of long ones.
    pub fn batch(self) -> RangeInclusive<usize> {
        if self.is_columnar() { COLUMNS_BATCH } else { TEXT_BATCH }
    }
}

impl std::ops::Deref for Format {
    type Target = dyn OutputFormat;

    fn deref(&self) -> &Self::Target {
        self.0
    }
}

impl PartialEq for Format {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Format {}

impl fmt::Debug for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Format {
    type Err = SettingError;

    fn from_str(text: &str) -> Result<Self, SettingError> {
        let found = Self::all().find(|format| format.name() == text);
        found.ok_or_else(|| tercet_suggest::unknown("format", text, Self::all().map(Self::name)).into())
    }
}

#[cfg(feature = "clap")]
impl clap::ValueEnum for Format {
    fn value_variants<'a>() -> &'a [Self] {
        FORMATS
    }

    fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
        Some(clap::builder::PossibleValue::new(self.name()).help(self.info().help))
    }
}
