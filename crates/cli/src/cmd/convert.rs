//! `tercet convert`.

use crate::args::writes_stdout;
use crate::children::{self, Table};
use crate::cmd::transcode::To;
use crate::columnar::FileArgs;
use crate::exit::{Exit, Failure, Outcome};
use crate::inputs::{Input, InputArgs};
use crate::interrupt::{self, OnInterrupt};
use crate::job::{Job, RecordArgs};
use crate::manifest;
use crate::prometheus;
use crate::render::{Format, RenderArgs};
use crate::rendering::RenderingArgs;
use crate::report::Report;
use crate::rows::RowsArgs;
use crate::run::Run;
use crate::watch::{self, Watch};
use clap::Args;
use std::io::{self, IsTerminal, Write};
use std::num::{NonZeroU64, NonZeroUsize};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Duration;
use tercet::records::{Converter, Dedupe, Guard, Output, Profile, RejectFile, Settings, reject_path};

/// Convert record files to Parquet, Arrow, CSV, JSON or XML
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Files may be of any size: memory holds some MiB of them at a time. Filler bytes between records are skipped. A record that does
not decode goes to the rejects file, with a line about where and why in REJECTS.jsonl, and the run goes on.

Examples:
  tercet convert -s schemas/demo -t CallRecord calls.ber -o calls.csv
  tercet convert -s TAP-0312.asn1 -t DataInterChange --records TransferBatch.callEventDetails CD*.dat -o out/ -f jsonl
  zcat calls.ber.gz | tercet convert -s schemas/demo -t CallRecord | head")]
pub struct Convert {
    #[command(flatten)]
    pub input: InputArgs,

    #[command(flatten)]
    pub source: RecordArgs,

    /// Output format; by the suffix of the output file, or jsonl
    #[arg(short, long, value_enum)]
    format: Option<Format>,

    #[command(flatten)]
    pub render: RenderArgs,

    #[command(flatten)]
    files: FileArgs,

    #[command(flatten)]
    rendering: RenderingArgs,

    #[command(flatten)]
    rows: RowsArgs,

    /// Output file, or a directory for a file of each input
    ///
    /// Standard output if not given, or `-`.
    #[arg(short, long, value_name = "FILE|DIR")]
    pub output: Option<PathBuf>,

    /// Skip duplicate records within this run
    ///
    /// Duplicates have the same values of these components, or without a value the same bytes. Each record takes 16 to 40 bytes of
    /// memory, and inputs are read one after the other.
    #[arg(long, value_name = "PATH", value_delimiter = ',', num_args = 0.., require_equals = true)]
    dedupe: Option<Vec<String>>,

    /// With `--dedupe`: skip the records of earlier runs with this file, too
    ///
    /// The file takes 24 bytes for each record. Memory holds those of the output under way, and of others a million, or a sixteenth
    /// if that is more.
    #[arg(long, value_name = "FILE", requires = "dedupe")]
    dedupe_file: Option<PathBuf>,

    /// File for the components around the record list; `.header` beside the output by default
    #[arg(long, value_name = "FILE", requires = "records")]
    pub header: Option<PathBuf>,

    /// File for rejected bytes; `.rejects` beside the output by default
    #[arg(long, value_name = "FILE")]
    pub rejects: Option<PathBuf>,

    /// Write no rejects file; count rejects and print the first reasons
    #[arg(long, conflicts_with = "rejects")]
    pub skip_rejects: bool,

    /// Write a line of JSON to this file for each marked value: a text or time that is kept although it breaks the rules of
    /// its type, with its path, offset and bytes
    #[arg(long, value_name = "FILE")]
    pub marks: Option<PathBuf>,

    /// Stop reading an input after COUNT rejected records
    #[arg(long, value_name = "COUNT")]
    max_errors: Option<u64>,

    /// Stop reading an input if more than this share of its records is rejected
    ///
    /// Such as 0.01. It is checked after the first thousand records, and at the end of the input.
    #[arg(long, value_name = "SHARE", value_parser = share)]
    max_error_ratio: Option<f64>,

    /// Handling of incomplete outputs when a signal such as Ctrl-C stops the run
    #[arg(long, value_enum, default_value_t = OnInterrupt::Remove, value_name = "POLICY")]
    pub on_interrupt: OnInterrupt,

    /// Write the totals to this file as JSON
    #[arg(long, value_name = "FILE")]
    pub summary: Option<PathBuf>,

    /// Add the SHA-256 of each input file to the summary and the manifest
    ///
    /// Each file is read once more for that.
    #[arg(long)]
    pub hash_inputs: bool,

    /// Stop after COUNT records of each output
    ///
    /// Records that `--where` or `--dedupe` drops do not count.
    #[arg(short = 'n', long, value_name = "COUNT")]
    limit: Option<NonZeroU64>,

    /// Threads that decode; one for each processor by default
    #[arg(short, long, value_name = "COUNT")]
    pub jobs: Option<NonZeroUsize>,

    /// With an output directory: skip inputs that an earlier run has converted
    ///
    /// The manifest `tercet-run.jsonl` there lists what runs with the same options have done.
    #[arg(long, requires = "output")]
    pub resume: bool,

    /// With an output directory: skip inputs whose output exists
    #[arg(long, requires = "output")]
    pub skip_existing: bool,

    /// Watch directories and convert new files once they are complete
    ///
    /// It goes on until a signal such as Ctrl-C. As with `--resume`, files that an earlier run has converted are skipped.
    #[arg(long, requires = "output", conflicts_with_all = ["summary", "skip_existing"])]
    pub watch: bool,

    /// With `--watch`: seconds between two looks; a file that has not changed is complete
    #[arg(long, value_name = "SECONDS", value_parser = watch::seconds, default_value = "2", requires = "watch")]
    pub interval: Duration,

    /// Write the totals to this file for Prometheus (textfile collector of the node exporter)
    #[arg(long, value_name = "FILE")]
    prometheus: Option<PathBuf>,

    /// Print only errors
    #[arg(short, long)]
    pub quiet: bool,
}

/// Octets of records that a thread gets at a time: enough that handing over costs nothing, few enough that their rows, which
/// may have ten times as many, stay in a cache (MSC records to CSV on two threads: 924 ns a record with 256 KiB, 853 with 64).
const TEXT_BATCH: usize = 1 << 16;
/// The same for formats with columns, where it is a row group of a Parquet file, in short inputs and in long ones: what there is
/// to say of row groups is held up to the end of the file.
const COLUMNS_BATCH: RangeInclusive<usize> = 4 << 20..=32 << 20;

impl Convert {
    pub fn run(&self) -> Outcome {
        let mut whole = self.clone();
        whole.output = whole.output.filter(|path| path != Path::new("-"));
        whole.render.columnar.files = self.files.clone();
        whole.run_whole()
    }

    /// Runs the command, whose rendering knows how files with columns look.
    fn run_whole(&self) -> Outcome {
        if (self.resume || self.skip_existing || self.watch) && !self.one_for_each() {
            return Err(Failure::usage(
                "`--resume`, `--skip-existing` and `--watch` require an output directory (`-o DIR/`)",
            ));
        }
        if (self.resume || self.skip_existing || self.watch)
            && self.dedupe.is_some()
            && self.dedupe_file.is_none()
        {
            return Err(Failure::usage(
                "with `--resume`, `--skip-existing` and `--watch`, `--dedupe` requires a file for the records seen: \
                 `--dedupe-file FILE`",
            ));
        }
        let mut guard = self.guard()?;
        self.render.check_format(Some(self.format()))?;
        if !self.watch {
            let stop = || interrupt::listen(self.on_interrupt);
            let inputs = self.input.expand_beside(&mut guard, self.quiet)?;
            self.check_suffix()?;
            return self.convert(&inputs, guard, stop, None);
        }
        let output = self.output.as_deref().unwrap_or_else(|| Path::new("."));
        let mut watch = Watch::new(&self.input.inputs, output, self.interval, &guard)?;
        let stop = interrupt::listen(self.on_interrupt)?;
        let inputs = watch.wait(&stop)?;
        match inputs.is_empty() {
            true => Ok(Exit::Good),
            false => self.convert(&inputs, guard, || Ok(stop), Some(&mut watch)),
        }
    }

    /// What is read beside the inputs, and what is written under names that are known before the inputs are.
    fn guard(&self) -> Outcome<Guard> {
        let mut guard = self.source.schema.guard()?;
        // Records in XER may be such files as are written.
        if !self.source.is_text() {
            guard.skip_outputs();
        }
        if let Some(path) = self.rendering.profile.as_ref().map(Path::new).filter(|path| path.is_file()) {
            guard.reads("profile", path)?;
        }
        match &self.output {
            Some(dir) if self.one_for_each() => {
                if self.resume || self.watch {
                    guard.writes("the manifest", &dir.join(manifest::NAME))?;
                }
            }
            Some(path) => {
                guard.writes("`-o`", path)?;
                if self.rows.has_children() {
                    guard.writes_tables_of(path);
                }
                if self.source.records.is_some() && self.header.is_none() {
                    guard.writes("the header file", &header_path(path))?;
                }
                if self.rejects.is_none() && !self.skip_rejects {
                    RejectFile::guard(&mut guard, "the reject file", &reject_path(path))?;
                }
            }
            None => writes_stdout(&mut guard)?,
        }
        if let Some(path) = &self.rejects {
            RejectFile::guard(&mut guard, "`--rejects`", path)?;
        }
        let files = [
            ("`--header`", &self.header),
            ("`--summary`", &self.summary),
            ("`--marks`", &self.marks),
            ("`--prometheus`", &self.prometheus),
        ];
        for (option, path) in files {
            if let Some(path) = path {
                guard.writes(option, path)?;
            }
        }
        if let Some(path) = &self.prometheus {
            prometheus::earlier(path)?;
        }
        if let Some(path) = &self.dedupe_file {
            guard.writes("`--dedupe-file`", path)?;
            guard.writes("the file beside `--dedupe-file`", &Dedupe::sorted_path(path))?;
        }
        Ok(guard)
    }

    fn convert(
        &self,
        inputs: &[Input],
        mut guard: Guard,
        stop: impl FnOnce() -> Outcome<Arc<AtomicBool>>,
        watch: Option<&mut Watch>,
    ) -> Outcome {
        if inputs.is_empty() && self.one_for_each() {
            return Ok(Exit::Good);
        }
        if self.one_for_each()
            && (self.rejects.is_some() || self.header.is_some())
            && (self.watch || inputs.len() != 1)
        {
            return Err(Failure::usage(
                "`--rejects` and `--header` name one file, and each output in a directory has its own\n\
                 help: leave the option out, or name a file with `-o`",
            ));
        }
        let options = self.source.options();
        let mut job = self.source.job(inputs, &options)?;
        let profile = self.rendering.profile(&job.plan.shape)?;
        // Value notation is that of the type itself, unless told.
        if self.format() != Format::Value || !self.rendering.is_default() {
            job.rendering = self.rendering.rendering(&profile, &job.plan.shape, job.record)?;
        }
        job.explode = self.rows.explode(job.shown().shape(), job.record)?;
        job.children = self.rows.children(job.shown().shape(), job.record)?;
        job.columns = self.render.expanded(job.shown(), job.record)?.columns;
        if job.children.is_some() {
            children::check(self.rows.option_of_children(), self.format(), self.output.as_ref())?;
        }
        if let Some(path) = self.output.as_ref().filter(|_| !self.one_for_each()) {
            for path in children::paths(job.children.as_ref(), path) {
                guard.writes("a child table", &path)?;
            }
        }
        for table in Table::all(&job, &self.render) {
            table.check_columns(self.format())?;
        }
        if self.format().is_columnar() && self.output.is_none() && io::stdout().is_terminal() {
            return Err(Failure::usage("refusing to write binary output to a terminal; use `-o FILE`"));
        }
        job.stop = stop()?;
        let wanted = children::wanted(&job, &self.render, self.format());
        let (max_rejects, max_reject_share) = (self.max_errors, self.max_error_ratio);
        let settings = Settings { max_rejects, max_reject_share, wanted, ..job.settings(options) };
        let mut converter = Converter::new(&job.plan, settings)
            .with_other_rules(&job.others)
            .with_rendering(job.rendering.as_ref())
            .with_audit(&profile.audit)
            .with_figures(self.rows.figures(job.shown().shape(), job.record)?)
            .with_explode(job.explode.as_ref())
            .with_children(job.children.as_ref())
            .with_stop(Arc::clone(&job.stop));
        let dedupe = self.dedupe(&job, &profile)?;
        if let Some(dedupe) = &dedupe {
            converter = converter.with_dedupe(dedupe.clone());
        }
        if let Some(filter) = self.rows.filter(job.shown(), job.record)? {
            converter = converter.with_filter(filter);
        }
        let mut report = Report::new(&job.plan, !self.quiet, self.summary.is_some());
        report.totals.file_numbers = self.rows.file_numbers();
        let run = Run::new(self, &job, inputs, dedupe, guard)?;
        let done = match watch {
            Some(watch) => self.keep_on(&run, converter, inputs, watch, &mut report),
            None if self.one_for_each() => {
                let manifest = run.manifest()?;
                run.each(converter, inputs, manifest.as_ref(), &mut report).map(drop)
            }
            None => run.together(&mut self.workers(&job, converter), inputs, &mut report),
        };
        if let Some(path) = &self.prometheus {
            prometheus::write(path, &report.totals)?;
        }
        done?;
        run.commit_marks()?;
        if job.stopped() && !self.watch {
            report.exit = Exit::Interrupted;
        }
        report.finish();
        if let Some(path) = &self.summary {
            let mut output = Output::create(path)?;
            serde_json::to_writer_pretty(&mut output, &report.json()).map_err(io::Error::from)?;
            output.write_all(b"\n")?;
            output.commit()?;
        }
        Ok(report.exit)
    }

    /// What tells records that have been there before, if it is asked for.
    fn dedupe(&self, job: &Job, profile: &Profile) -> Outcome<Option<Dedupe>> {
        let Some(paths) = &self.dedupe else { return Ok(None) };
        let dedupe = Dedupe::new(job.shown().shape(), job.record, paths).map_err(Failure::usage)?;
        let Some(file) = &self.dedupe_file else { return Ok(Some(dedupe)) };
        // Octets are what they are, however they are shown.
        let shown = (!paths.is_empty()).then_some((profile, &self.rendering.render));
        Ok(Some(dedupe.with_file(file, &format!("{paths:?} {shown:?}"))?))
    }

    /// Converts files as they become complete, until a signal says to stop.
    fn keep_on<'p>(
        &'p self,
        run: &Run<'p>,
        converter: Converter<'p>,
        first: &[Input],
        watch: &mut Watch,
        report: &mut Report<'_>,
    ) -> Outcome<()> {
        let manifest = run.manifest()?;
        let mut inputs = first.to_vec();
        while !inputs.is_empty() {
            for failed in run.each(converter.fork(), &inputs, manifest.as_ref(), report)? {
                watch.failed(&failed);
            }
            if let Some(path) = &self.prometheus {
                prometheus::write(path, &report.totals)?;
            }
            inputs = watch.wait(run.stop())?;
        }
        Ok(())
    }

    /// Lets a converter use all threads.
    pub fn workers<'p>(&'p self, job: &'p Job, converter: Converter<'p>) -> Converter<'p> {
        let make = move || children::part_renderer(job, &self.render, self.format());
        converter.with_workers(self.jobs(), self.batch(), Box::new(make))
    }

    /// Octets that a thread gets at a time, of short inputs and of long ones.
    pub fn batch(&self) -> RangeInclusive<usize> {
        if self.format().is_columnar() { COLUMNS_BATCH } else { TEXT_BATCH..=TEXT_BATCH }
    }

    /// What the outputs depend on besides the inputs, for the manifest.
    pub fn fingerprint(&self) -> Outcome<String> {
        let mut options = self.clone();
        options.input = InputArgs { inputs: Vec::new(), allow_empty: false };
        (options.output, options.summary, options.marks, options.jobs) = (None, None, None, None);
        (options.resume, options.skip_existing, options.quiet) = (false, false, false);
        (options.watch, options.prometheus, options.interval) = (false, None, Duration::ZERO);
        options.hash_inputs = false;
        let mut files = tercet::files::specifications(&self.source.schema.schema)?;
        files.extend(self.rendering.profile.iter().map(PathBuf::from).filter(|path| path.is_file()));
        Ok(manifest::fingerprint(&format!("{:?} {options:?}", self.format()), &files)?)
    }

    /// Records that an output may have.
    pub fn limit(&self) -> Option<u64> {
        self.limit.map(NonZeroU64::get)
    }

    pub fn jobs(&self) -> usize {
        self.jobs.or_else(|| thread::available_parallelism().ok()).map_or(1, NonZeroUsize::get)
    }

    pub fn one_for_each(&self) -> bool {
        self.output
            .as_ref()
            .is_some_and(|path| path.is_dir() || path.as_os_str().to_string_lossy().ends_with('/'))
    }

    pub fn format(&self) -> Format {
        let named = || Format::of_path(self.output.as_deref()?);
        self.format.or_else(named).unwrap_or(Format::Jsonl)
    }

    /// Refuses an output file whose suffix tells no format, if nothing else does, or another one.
    fn check_suffix(&self) -> Outcome<()> {
        match &self.output {
            Some(path) if !self.one_for_each() => {
                To::of_output(path, self.format.map(To::Text), Some("--format"), To::Text(Format::Jsonl))
                    .map(drop)
            }
            _ => Ok(()),
        }
    }
}

/// Returns the default header file of an output.
pub fn header_path(output: &Path) -> PathBuf {
    let mut name = output.as_os_str().to_owned();
    name.push(".header");
    name.into()
}

/// A number from 0 to 1.
fn share(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(share),
        _ => Err("a number from 0 to 1 expected".to_owned()),
    }
}
