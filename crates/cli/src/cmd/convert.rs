//! `tercet convert`.

use crate::args::{Elements, SchemaArgs, writes_stdout};
use crate::cmd::transcode::To;
use crate::exit::{Exit, Failure, Outcome};
use crate::inputs::{Input, InputArgs};
use crate::interrupt::{self, OnInterrupt};
use crate::job::{Job, RecordArgs};
use crate::manifest;
use crate::prometheus;
use crate::rendering;
use crate::report::Report;
use crate::run::Run;
use crate::watch::{Interval, Watch};
use clap::{ArgMatches, Args};
use serde::{Deserialize, Serialize};
use std::io::{self, IsTerminal, Write};
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;
use tercet::records::conversion::{Fingerprint, RejectLimit};
use tercet::records::{
    Conversion, Converter, Dedupe, Format, Guard, Output, Profile, RejectFile, Settings, reject_path,
};

/// Convert record files to Parquet, Arrow, CSV, JSON or XML
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Files may be of any size: memory holds some MiB of them at a time. Filler bytes between records are skipped. A record that does
not decode goes to the rejects file, with a line about where and why in REJECTS.jsonl, and the run goes on.

Examples:
  tercet convert -s schemas/demo -t CallRecord calls.ber -o calls.csv
  tercet convert -s TAP-0312.asn1 -t DataInterChange --records TransferBatch.callEventDetails CD*.dat -o out/ -f jsonl
  zcat calls.ber.gz | tercet convert -s schemas/demo -t CallRecord | head")]
// A file may name it.
#[command(mut_arg("schema", |schema| schema.required_unless_present("config")))]
pub struct Convert {
    #[command(flatten)]
    pub schema: SchemaArgs,

    #[command(flatten)]
    pub conversion: Conversion,

    #[command(flatten)]
    pub run: RunArgs,

    /// Read options from a TOML file, whose keys are their long names; options of the command line come first
    ///
    /// `--print-config` writes such a file.
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,

    /// Print the options as a file for `--config`, and convert nothing
    #[arg(long)]
    pub print_config: bool,
}

/// How a run goes: what the rows do not depend on.
#[derive(Args, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct RunArgs {
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

    /// Threads that decode; one for each processor by default
    #[arg(short, long, value_name = "COUNT")]
    pub jobs: Option<NonZeroUsize>,

    /// With an output directory: skip inputs that an earlier run has converted
    ///
    /// The manifest `tercet-run.jsonl` there lists what runs with the same options have done.
    #[arg(long)]
    pub resume: bool,

    /// With an output directory: skip inputs whose output exists
    #[arg(long)]
    pub skip_existing: bool,

    /// Watch directories and convert new files once they are complete
    ///
    /// It goes on until a signal such as Ctrl-C. As with `--resume`, files that an earlier run has converted are skipped.
    #[arg(long)]
    pub watch: bool,

    /// With `--watch`: seconds between two looks; a file that has not changed is complete
    #[arg(long, value_name = "SECONDS", default_value_t = Interval::default())]
    pub interval: Interval,

    /// Write the totals to this file for Prometheus (textfile collector of the node exporter)
    #[arg(long, value_name = "FILE")]
    pub prometheus: Option<PathBuf>,

    /// Of packet captures: convert the messages of these protocols, into a file for each in an output directory
    ///
    /// By default those that the specifications decode. `tercet capture protocols` lists all. A protocol of several types takes one:
    /// `lte-rrc.dl-dcch`. Rows have columns for frame, time, addresses, name and identifiers before those of the value.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub protocol: Vec<String>,

    /// Of packet captures: rule for messages that the table of protocols does not find, as in `tercet capture list`
    #[arg(long, value_name = "RULE")]
    pub decode_as: Vec<String>,

    /// Of packet captures: lists of information elements in rows; with `list`, constants are numbers too
    #[arg(long, value_enum, default_value_t = Elements::Map, value_name = "FORM")]
    pub ies: Elements,

    /// Print only errors
    #[arg(short, long)]
    pub quiet: bool,
}

impl RunArgs {
    /// Refuses options that do not go together.
    fn check(&self) -> Outcome<()> {
        let fault = match () {
            () if self.interval != Interval::default() && !self.watch => "`--interval` requires `--watch`",
            () if self.watch && !self.protocol.is_empty() => "`--watch` does not apply to packet captures",
            () if self.watch && (self.summary.is_some() || self.skip_existing) => {
                "`--watch` goes on until a signal: it takes neither `--summary` nor `--skip-existing`"
            }
            () => return Ok(()),
        };
        Err(Failure::usage(fault))
    }
}

impl Convert {
    pub fn run(&self, matches: &ArgMatches) -> Outcome {
        let config = self.config.clone();
        let whole = self.clone().with_config(matches)?;
        if whole.print_config {
            io::stdout().write_all(whole.config_text()?.as_bytes())?;
            return Ok(Exit::Good);
        }
        whole.run_whole(config.as_deref())
    }

    /// Runs the command with all its options.
    fn run_whole(&self, config: Option<&Path>) -> Outcome {
        let run = &self.run;
        self.conversion.check()?;
        run.check()?;
        if (run.resume || run.skip_existing || run.watch) && !self.one_for_each() {
            return Err(Failure::usage(
                "`--resume`, `--skip-existing` and `--watch` require an output directory (`-o DIR/`)",
            ));
        }
        let dedupe = &self.conversion.dedupe;
        if (run.resume || run.skip_existing || run.watch)
            && dedupe.dedupe.is_some()
            && dedupe.dedupe_file.is_none()
        {
            return Err(Failure::usage(
                "with `--resume`, `--skip-existing` and `--watch`, `--dedupe` requires a file for the records seen: \
                 `--dedupe-file FILE`",
            ));
        }
        let mut guard = self.guard()?;
        if let Some(path) = config {
            guard.reads("configuration file", path)?;
        }
        self.conversion.form().check_format(Some(self.format()))?;
        let input = InputArgs { options: self.conversion.input.clone() };
        if !run.watch {
            let stop = || interrupt::listen(run.on_interrupt);
            let inputs = input.expand_beside(&mut guard, run.quiet)?;
            self.check_suffix()?;
            #[cfg(feature = "capture")]
            if crate::cmd::capture::are_captures(&inputs, self.is_capture())? {
                return crate::cmd::capture::convert(self, &inputs);
            }
            return self.convert(&inputs, guard, stop, None);
        }
        let output = self.output().unwrap_or_else(|| Path::new("."));
        let mut watch = Watch::new(&input.options.inputs, output, run.interval.0, &guard)?;
        let stop = interrupt::listen(run.on_interrupt)?;
        let inputs = watch.wait(&stop)?;
        match inputs.is_empty() {
            true => Ok(Exit::Good),
            false => self.convert(&inputs, guard, || Ok(stop), Some(&mut watch)),
        }
    }

    /// Returns whether the framing that is given is that of captures.
    #[cfg(feature = "capture")]
    fn is_capture(&self) -> Option<bool> {
        let given = self.conversion.records.is_capture();
        given.or_else(|| (!self.run.protocol.is_empty()).then_some(true))
    }

    /// What is read beside the inputs, and what is written under names that are known before the inputs are.
    fn guard(&self) -> Outcome<Guard> {
        let (conversion, run) = (&self.conversion, &self.run);
        let out = &conversion.output;
        let mut guard = self.schema.guard()?;
        // Records in XER may be such files as are written.
        if !conversion.records.is_text() {
            guard.skip_outputs();
        }
        if let Some(path) = conversion.rendering.profile_file() {
            guard.reads("profile", path)?;
        }
        match self.output() {
            Some(dir) if self.one_for_each() => {
                if run.resume || run.watch {
                    guard.writes("the manifest", &dir.join(manifest::NAME))?;
                }
            }
            Some(path) => {
                guard.writes("`-o`", path)?;
                if conversion.rows.has_children() {
                    guard.writes_tables_of(path);
                }
                if self.has_header() && out.header.is_none() {
                    guard.writes("the header file", &header_path(path))?;
                }
                if out.rejects.is_none() && !out.skip_rejects {
                    RejectFile::guard(&mut guard, "the reject file", &reject_path(path))?;
                }
            }
            None => writes_stdout(&mut guard)?,
        }
        if let Some(path) = &out.rejects {
            RejectFile::guard(&mut guard, "`--rejects`", path)?;
        }
        let files = [
            ("`--header`", &out.header),
            ("`--summary`", &run.summary),
            ("`--marks`", &out.marks),
            ("`--prometheus`", &run.prometheus),
        ];
        for (option, path) in files {
            if let Some(path) = path {
                guard.writes(option, path)?;
            }
        }
        if let Some(path) = &run.prometheus {
            prometheus::earlier(path)?;
        }
        if let Some(path) = &conversion.dedupe.dedupe_file {
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
        let conversion = &self.conversion;
        let out = &conversion.output;
        if inputs.is_empty() && self.one_for_each() {
            return Ok(Exit::Good);
        }
        if self.one_for_each()
            && (out.rejects.is_some() || out.header.is_some())
            && (self.run.watch || inputs.len() != 1)
        {
            return Err(Failure::usage(
                "`--rejects` and `--header` name one file, and each output in a directory has its own\n\
                 help: leave the option out, or name a file with `-o`",
            ));
        }
        let options = conversion.records.options();
        let source = RecordArgs { schema: self.schema.clone(), records: conversion.records.clone() };
        let mut job = source.job(inputs, &options)?;
        let profile = rendering::profile(&conversion.rendering, &job.plan.shape)?;
        let (form, format) = (conversion.form(), self.format());
        job.prepared = conversion.prepare(&profile, &job.plan.shape, job.record)?;
        job.prepared.expand_columns(&form)?;
        conversion.check_tables()?;
        if let Some(path) = self.output().filter(|_| !self.one_for_each()) {
            for path in job.prepared.table_paths(path) {
                guard.writes("a child table", &path)?;
            }
        }
        job.prepared.check_columns(&form, format)?;
        if format.is_columnar() && self.output().is_none() && io::stdout().is_terminal() {
            return Err(Failure::usage("refusing to write binary output to a terminal; use `-o FILE`"));
        }
        job.stop = stop()?;
        let settings = Settings {
            // A run goes on, however much it rejects: the report and the reject file say so.
            max_rejects: conversion.limits.most_rejects(RejectLimit::None),
            max_reject_share: conversion.limits.max_reject_ratio.map(|ratio| ratio.get()),
            projection: job.prepared.fields(&form, format),
            ..job.settings(options)
        };
        let dedupe = self.dedupe(&job, &profile)?;
        let converter = Converter::builder(&job.plan, settings)
            .other_rules(&job.others)
            .prepared(&job.prepared)
            .dedupe(dedupe.clone())
            .stop(Arc::clone(&job.stop))
            .build();
        let mut report = Report::new(&job.plan, !self.run.quiet, self.run.summary.is_some());
        report.totals.file_numbers = conversion.rows.file_numbers();
        let run = Run::new(self, &job, inputs, dedupe, guard)?;
        let done = match watch {
            Some(watch) => self.keep_on(&run, converter, inputs, watch, &mut report),
            None if self.one_for_each() => {
                let manifest = run.manifest()?;
                run.each(converter, inputs, manifest.as_ref(), &mut report).map(drop)
            }
            None => run.together(&mut self.workers(&job, converter), inputs, &mut report),
        };
        if let Some(path) = &self.run.prometheus {
            prometheus::write(path, &report.totals)?;
        }
        done?;
        run.commit_marks()?;
        if job.stopped() && !self.run.watch {
            report.exit = Exit::Interrupted;
        }
        report.finish();
        if let Some(path) = &self.run.summary {
            let mut output = Output::create(path)?;
            serde_json::to_writer_pretty(&mut output, &report.json()).map_err(io::Error::from)?;
            output.write_all(b"\n")?;
            output.commit()?;
        }
        Ok(report.exit)
    }

    /// Returns what detects duplicates, if it is asked for.
    fn dedupe(&self, job: &Job, profile: &Profile) -> Outcome<Option<Dedupe>> {
        let Conversion { dedupe, rendering, .. } = &self.conversion;
        dedupe.dedupe(job.shown().shape(), job.record, rendering, profile).map_err(|error| {
            match error.kind() {
                io::ErrorKind::InvalidInput => Failure::usage(error),
                _ => Failure::from(error),
            }
        })
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
            if let Some(path) = &self.run.prometheus {
                prometheus::write(path, &report.totals)?;
            }
            inputs = watch.wait(run.stop())?;
        }
        Ok(())
    }

    /// Lets a converter use all threads.
    pub fn workers<'p>(&self, job: &'p Job, converter: Converter<'p>) -> Converter<'p> {
        let (form, format) = (self.conversion.form(), self.format());
        let make = move || job.prepared.part_writer(&form, format);
        converter.with_workers(self.jobs(), format.batch(), Box::new(make))
    }

    /// Returns what the outputs depend on besides the inputs, for the manifest.
    pub fn fingerprint(&self) -> Outcome<String> {
        let mut fingerprint = Fingerprint::default();
        self.conversion.add_to(&mut fingerprint)?;
        fingerprint.add_changed(&SchemaArgs { schema: Vec::new(), plan: None, ..self.schema.clone() })?;
        fingerprint.add_changed(&self.schema.reading)?;
        for path in self.schema.files()? {
            fingerprint.add_file(&path)?;
        }
        if let Some(path) = self.conversion.rendering.profile_file() {
            fingerprint.add_file(path)?;
        }
        Ok(fingerprint.finish())
    }

    /// Returns the records that an output may have.
    pub fn limit(&self) -> Option<u64> {
        self.conversion.limits.limit.map(NonZeroU64::get)
    }

    /// Returns the threads that may be used.
    pub fn jobs(&self) -> usize {
        self.run.jobs.or_else(|| thread::available_parallelism().ok()).map_or(1, NonZeroUsize::get)
    }

    /// Returns the output file or directory, unless it is standard output.
    pub fn output(&self) -> Option<&Path> {
        self.conversion.output.path()
    }

    /// Returns whether each input has an output in a directory.
    pub fn one_for_each(&self) -> bool {
        self.output().is_some_and(|path| path.is_dir() || path.as_os_str().to_string_lossy().ends_with('/'))
    }

    /// Returns whether components around the records are written.
    pub fn has_header(&self) -> bool {
        self.conversion.records.records.is_some()
    }

    /// Returns the output format.
    pub fn format(&self) -> Format {
        self.conversion.output.format()
    }

    /// Refuses an output file whose suffix stands for no format, if nothing else names one, or for another one.
    fn check_suffix(&self) -> Outcome<()> {
        match self.output() {
            Some(path) if !self.one_for_each() => {
                let given = self.conversion.output.format.map(To::Text);
                To::of_output(path, given, Some("--format"), To::Text(Format::JSONL)).map(drop)
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
