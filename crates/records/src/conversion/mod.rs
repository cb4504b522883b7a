//! A conversion as one value: what is read, which rows records become, how these look and where they go.
//!
//! The command, a configuration file and Python fill it. Options have the same keys, checks and messages everywhere; a
//! field is an option of `tercet convert`, a key of the file, and a keyword argument. [`Conversion::prepare`] binds it to a
//! type.

mod fingerprint;
mod form;
mod given;
mod prepared;
mod records;
mod rendering;
mod rows;
mod words;

pub use fingerprint::{FINGERPRINT_VERSION, Fingerprint};
pub(crate) use form::check_option;
pub use form::{FileOptions, FormOptions, IntegerForm, JsonStyle, OctetsForm, PageCompression, RealForm};
pub use given::{Given, Names, OptionFault, OptionFaultKind, OptionSet, changed};
pub use prepared::Prepared;
pub use records::{RecordOptions, RecordRules, UnknownPolicy, ValuesPolicy};
pub use rendering::{RenderRule, RenderingOptions};
pub use rows::RowOptions;
pub use words::{NumberRange, Ratio, RejectLimit, Renaming};

use crate::dedupe::Dedupe;
use crate::formats::Format;
use crate::interpret::Profile;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tercet_dynamic::{NodeId, Shape};

/// A conversion of record files.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct Conversion {
    /// What is read.
    #[cfg_attr(feature = "clap", command(flatten))]
    pub input: InputOptions,
    /// What records are and where they are.
    #[cfg_attr(feature = "clap", command(flatten))]
    pub records: RecordOptions,
    /// How values are shown.
    #[cfg_attr(feature = "clap", command(flatten))]
    pub form: FormOptions,
    /// The look of files with columns.
    #[cfg_attr(feature = "clap", command(flatten))]
    pub files: FileOptions,
    /// What is rendered how.
    #[cfg_attr(feature = "clap", command(flatten))]
    pub rendering: RenderingOptions,
    /// Which records become rows.
    #[cfg_attr(feature = "clap", command(flatten))]
    pub rows: RowOptions,
    /// Which duplicates are skipped.
    #[cfg_attr(feature = "clap", command(flatten))]
    pub dedupe: DedupeOptions,
    /// Where rows and rejects go.
    #[cfg_attr(feature = "clap", command(flatten))]
    pub output: OutputOptions,
    /// When it ends early.
    #[cfg_attr(feature = "clap", command(flatten))]
    pub limits: LimitOptions,
}

/// What is read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct InputOptions {
    /// Files, directories (all files in them) or globs; `-` or nothing is standard input
    #[cfg_attr(feature = "clap", arg(value_name = "INPUT"))]
    pub inputs: Vec<PathBuf>,

    /// Accept directories and globs without files
    #[cfg_attr(feature = "clap", arg(long))]
    pub allow_empty: bool,
}

/// Which duplicates are skipped.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct DedupeOptions {
    /// Skip duplicate records within this run
    ///
    /// Duplicates have the same values of these components, or without a value the same bytes. Each record takes 16 to 40 bytes of
    /// memory, and inputs are read one after the other.
    #[cfg_attr(
        feature = "clap",
        arg(long, value_name = "PATH", value_delimiter = ',', num_args = 0.., require_equals = true)
    )]
    pub dedupe: Option<Vec<String>>,

    /// With `--dedupe`: skip the records of earlier runs with this file, too
    ///
    /// The file takes 24 bytes for each record. Memory holds those of the output under way, and of others a million, or a sixteenth
    /// if that is more.
    #[cfg_attr(feature = "clap", arg(long, value_name = "FILE"))]
    pub dedupe_file: Option<PathBuf>,
}

/// Where rows and rejects go.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct OutputOptions {
    /// Output format; by the suffix of the output file, or jsonl
    #[cfg_attr(feature = "clap", arg(short, long, value_enum))]
    pub format: Option<Format>,

    /// Output file, or a directory for a file of each input
    ///
    /// Standard output if not given, or `-`.
    #[cfg_attr(feature = "clap", arg(short, long, value_name = "FILE|DIR"))]
    pub output: Option<PathBuf>,

    /// File for the components around the record list; `.header` beside the output by default
    #[cfg_attr(feature = "clap", arg(long, value_name = "FILE"))]
    pub header: Option<PathBuf>,

    /// File for rejected bytes; `.rejects` beside the output by default
    #[cfg_attr(feature = "clap", arg(long, value_name = "FILE"))]
    pub rejects: Option<PathBuf>,

    /// Write no rejects file; count rejects and print the first reasons
    #[cfg_attr(feature = "clap", arg(long))]
    pub skip_rejects: bool,

    /// Write a line of JSON to this file for each marked value: a text or time that is kept although it breaks the rules of
    /// its type, with its path, offset and bytes
    #[cfg_attr(feature = "clap", arg(long, value_name = "FILE"))]
    pub marks: Option<PathBuf>,
}

/// When a conversion ends early.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct LimitOptions {
    /// Stop reading an input after COUNT rejected records; `none` sets no limit
    #[cfg_attr(feature = "clap", arg(long, value_name = "COUNT|none", alias = "max-errors"))]
    pub max_rejects: Option<RejectLimit>,

    /// Stop reading an input if more than this share of its records is rejected
    ///
    /// Such as 0.01. It is checked after the first thousand records, and at the end of the input.
    #[cfg_attr(feature = "clap", arg(long, value_name = "SHARE", alias = "max-error-ratio"))]
    pub max_reject_ratio: Option<Ratio>,

    /// Stop after COUNT records of each output
    ///
    /// Records that `--where` or `--dedupe` drops do not count.
    #[cfg_attr(feature = "clap", arg(short = 'n', long, value_name = "COUNT"))]
    pub limit: Option<std::num::NonZeroU64>,
}

impl LimitOptions {
    /// Returns the rejects that are allowed, or `None` for any number; `usual` are those without an option. A share alone
    /// sets no number.
    pub fn most_rejects(&self, usual: RejectLimit) -> Option<u64> {
        match (self.max_rejects, self.max_reject_ratio) {
            (Some(limit), _) => limit.most(),
            (None, Some(_)) => None,
            (None, None) => usual.most(),
        }
    }
}

impl DedupeOptions {
    /// Returns what detects duplicates, if it is asked for. A file for the records of earlier runs is opened.
    ///
    /// # Errors
    /// When there is no such component; those of the file.
    pub fn dedupe(
        &self,
        shape: &Shape,
        record: NodeId,
        rendering: &RenderingOptions,
        profile: &Profile,
    ) -> io::Result<Option<Dedupe>> {
        let Some(paths) = &self.dedupe else { return Ok(None) };
        let fault = |text: String| io::Error::new(io::ErrorKind::InvalidInput, text);
        let dedupe = Dedupe::new(shape, record, paths).map_err(|error| fault(error.to_string()))?;
        let Some(file) = &self.dedupe_file else { return Ok(Some(dedupe)) };
        let mut meaning = Fingerprint::default();
        meaning.add("dedupe", &paths.join("\n"));
        // Bytes are what they are, however they are shown.
        if !paths.is_empty() {
            meaning.add("profile", &profile.text());
            meaning.add_changed(rendering).map_err(|error| fault(error.to_string()))?;
        }
        let earlier = paths.is_empty().then_some("[] None");
        dedupe.with_file(file, &meaning.finish(), earlier).map(Some)
    }
}

impl OutputOptions {
    /// Returns the output file or directory, unless it is standard output.
    pub fn path(&self) -> Option<&Path> {
        self.output.as_deref().filter(|path| *path != Path::new("-"))
    }

    /// Returns the format that is given, that of the output's suffix, or JSON lines.
    pub fn format(&self) -> Format {
        let named = || Format::of_path(self.path()?);
        self.format.or_else(named).unwrap_or(Format::JSONL)
    }
}

impl Serialize for Conversion {
    /// Writes the options that do not have their defaults.
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let groups = self.changed().map_err(serde::ser::Error::custom)?;
        serializer.collect_map(groups.into_iter().flatten())
    }
}

impl<'de> Deserialize<'de> for Conversion {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut set = OptionSet::of_table(toml::Table::deserialize(deserializer)?);
        let read = set.as_mut().map_err(|fault| fault.clone()).and_then(Self::take);
        let conversion = read.map_err(serde::de::Error::custom)?;
        set.and_then(|set| set.finish(&[])).map_err(serde::de::Error::custom)?;
        Ok(conversion)
    }
}

impl Conversion {
    /// Takes the options of a conversion out of a set, and checks that they go together.
    ///
    /// # Errors
    /// When one of them is wrong.
    pub fn take(set: &mut OptionSet) -> Result<Self, OptionFault> {
        let conversion = Self {
            input: set.take()?,
            records: set.take()?,
            form: set.take()?,
            files: set.take()?,
            rendering: set.take()?,
            rows: set.take()?,
            dedupe: set.take()?,
            output: set.take()?,
            limits: set.take()?,
        };
        conversion.check().map_err(|fault| fault.spelled(set.names()))?;
        Ok(conversion)
    }

    /// Checks that the options go together.
    ///
    /// # Errors
    /// When one requires another, or excludes it.
    pub fn check(&self) -> Result<(), OptionFault> {
        let Self { records, dedupe, output, .. } = self;
        let fault = match () {
            () if dedupe.dedupe_file.is_some() && dedupe.dedupe.is_none() => {
                "`{dedupe-file}` requires `{dedupe}`"
            }
            () if output.header.is_some() && records.records.is_none() => "`{header}` requires `{records}`",
            () if output.rejects.is_some() && output.skip_rejects => {
                "`{rejects}` cannot be used with `{skip-rejects}`"
            }
            () => return self.rows.check(),
        };
        Err(OptionFault::about(fault))
    }

    /// Adds the options to a set, in place of those that were given before: only those whose key `is_given`.
    ///
    /// # Errors
    /// When a path is not UTF-8.
    pub fn overlay(&self, set: &mut OptionSet, is_given: &dyn Fn(&str) -> bool) -> Result<(), OptionFault> {
        set.overlay(&self.input, is_given)?;
        set.overlay(&self.records, is_given)?;
        set.overlay(&self.form, is_given)?;
        set.overlay(&self.files, is_given)?;
        set.overlay(&self.rendering, is_given)?;
        set.overlay(&self.rows, is_given)?;
        set.overlay(&self.dedupe, is_given)?;
        set.overlay(&self.output, is_given)?;
        set.overlay(&self.limits, is_given)
    }

    /// Returns the options that do not have their defaults, in groups of keys and values.
    ///
    /// # Errors
    /// When a path is not UTF-8.
    pub fn changed(&self) -> Result<Vec<toml::Table>, OptionFault> {
        Ok(vec![
            changed(&self.input)?,
            changed(&self.records)?,
            changed(&self.rendering)?,
            changed(&self.rows)?,
            changed(&self.dedupe)?,
            changed(&self.form)?,
            changed(&self.files)?,
            changed(&self.output)?,
            changed(&self.limits)?,
        ])
    }

    /// Returns the options of how values are shown, those of files with columns included.
    pub fn form(&self) -> FormOptions {
        FormOptions { files: self.files.clone(), ..self.form.clone() }
    }

    /// Binds the conversion to the type of records: everything that depends on its shape.
    ///
    /// # Errors
    /// When a path, a condition or a rule does not fit the type.
    pub fn prepare(
        &self,
        profile: &Profile,
        shape: &Arc<Shape>,
        record: NodeId,
    ) -> Result<Prepared, OptionFault> {
        let mut prepared = Prepared::new(shape, record);
        prepared.control_totals = profile.control_totals.clone();
        // Value notation is that of the type itself, unless something else is asked for.
        if self.output.format() != Format::VALUE || !self.rendering.is_default() {
            prepared.rendering = self.rendering.rendering(profile, shape, record)?;
        }
        let shown = Arc::clone(prepared.shown().shape());
        prepared.explode = self.rows.explode(&shown, record)?;
        prepared.children = self.rows.children(&shown, record)?;
        prepared.figures = self.rows.figures(&shown, record)?;
        prepared.filter = self.rows.filter(prepared.shown(), record)?;
        Ok(prepared)
    }

    /// Checks that the output has a place for child tables, if they are asked for.
    ///
    /// # Errors
    /// When the format has none, or rows go to standard output.
    pub fn check_tables(&self) -> Result<(), OptionFault> {
        if !self.rows.has_children() {
            return Ok(());
        }
        check_option(self.rows.key_of_children(), Some(self.output.format()))?;
        match self.output.path() {
            Some(_) => Ok(()),
            None => Err(OptionFault::new("child tables are separate files: use `-o FILE`")),
        }
    }

    /// Adds what the rows depend on to a fingerprint: all options but the inputs, and the names of the files that are written
    /// beside the rows.
    ///
    /// # Errors
    /// When a path is not UTF-8.
    pub fn add_to(&self, fingerprint: &mut Fingerprint) -> Result<(), OptionFault> {
        fingerprint.add("format", self.output.format().name());
        fingerprint.add_changed(&self.records)?;
        fingerprint.add_changed(&self.form)?;
        fingerprint.add_changed(&self.files)?;
        fingerprint.add_changed(&self.rendering)?;
        fingerprint.add_changed(&self.rows)?;
        fingerprint.add_changed(&self.dedupe)?;
        fingerprint.add_changed(&self.limits)?;
        let OutputOptions { header, rejects, skip_rejects, .. } = self.output.clone();
        fingerprint.add_changed(&OutputOptions { header, rejects, skip_rejects, ..OutputOptions::default() })
    }
}
