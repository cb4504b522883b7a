//! `tercet convert`.

use crate::exit::{Exit, Failure, Outcome};
use crate::inputs::InputArgs;
use crate::interrupt::{self, OnInterrupt};
use crate::job::{Job, RecordArgs};
use crate::manifest;
use crate::render::{Format, RenderArgs};
use crate::rendering::RenderingArgs;
use crate::report::Report;
use crate::rows::RowsArgs;
use crate::run::Run;
use clap::Args;
use std::io::{self, IsTerminal, Write};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use tercet::records::{Converter, Output, Settings};

/// Convert record files to Parquet, Arrow, CSV, JSON or XML
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Files may be of any size: memory holds some MiB of them at a time. Filler octets between records are passed over. A record
that does not decode goes to the reject file, with a line about where and why in REJECTS.jsonl, and the run goes on.

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
    rendering: RenderingArgs,

    #[command(flatten)]
    rows: RowsArgs,

    /// Output file; a directory gets a file for each input; standard output if not given
    #[arg(short, long, value_name = "FILE|DIR")]
    pub output: Option<PathBuf>,

    /// Where what stands around the record list goes; beside the output file, named `.header`, if not given
    #[arg(long, value_name = "FILE", requires = "records")]
    pub header: Option<PathBuf>,

    /// Where rejected octets go; beside the output file, named `.rejects`, if not given
    #[arg(long, value_name = "FILE")]
    pub rejects: Option<PathBuf>,

    /// Rejects after which an input is given up
    #[arg(long, value_name = "COUNT")]
    max_errors: Option<u64>,

    /// What to do with outputs that are not complete when a signal such as Ctrl-C stops the run
    #[arg(long, value_enum, default_value_t = OnInterrupt::Remove, value_name = "POLICY")]
    pub on_interrupt: OnInterrupt,

    /// Write the totals to this file as JSON
    #[arg(long, value_name = "FILE")]
    pub summary: Option<PathBuf>,

    /// Threads that decode; as many as there are processors if not given
    #[arg(short, long, value_name = "COUNT")]
    pub jobs: Option<NonZeroUsize>,

    /// With an output directory: pass over inputs that an earlier run with the same options has done, by the manifest
    /// `tercet-run.jsonl` there
    #[arg(long, requires = "output")]
    pub resume: bool,

    /// With an output directory: pass over inputs whose output is there
    #[arg(long, requires = "output")]
    pub skip_existing: bool,

    /// Say errors only
    #[arg(short, long)]
    pub quiet: bool,
}

impl Convert {
    pub fn run(&self) -> Outcome {
        let inputs = self.input.expand()?;
        if (self.resume || self.skip_existing) && !self.one_for_each() {
            return Err(Failure::usage(
                "`--resume` and `--skip-existing` want an output directory: `--output DIR/`",
            ));
        }
        let options = self.source.options();
        let mut job = self.source.job(&inputs, &options)?;
        let profile = self.rendering.profile(&job.plan.shape)?;
        // Value notation is that of the type itself, unless told.
        if self.format() != Format::Value || !self.rendering.is_default() {
            job.rendering = self.rendering.rendering(&profile, &job.plan.shape, job.record)?;
        }
        job.explode = self.rows.explode(job.shown().shape(), job.record)?;
        if self.format().is_columnar() {
            let (rows, node) = job.rows();
            self.render.check_columns(rows, node)?;
            if self.output.is_none() && io::stdout().is_terminal() {
                return Err(Failure::usage("this format is no text; say with `--output` where it goes"));
            }
        }
        job.stop = interrupt::listen(self.on_interrupt)?;
        let (rows, node) = job.rows();
        let wanted = self.render.wanted(self.format(), rows, node);
        let wanted = match (wanted, &job.explode) {
            (Some(wanted), Some(explode)) => Some(explode.wanted(&wanted)),
            (wanted, _) => wanted,
        };
        let settings = Settings { max_rejects: self.max_errors, wanted, ..job.settings(options) };
        let mut converter = Converter::new(&job.plan, settings)
            .with_rendering(job.rendering.as_ref())
            .with_audit(&profile.audit)
            .with_explode(job.explode.as_ref())
            .with_stop(Arc::clone(&job.stop));
        if let Some(filter) = self.rows.filter(job.shown().shape(), job.record)? {
            converter = converter.with_filter(filter);
        }
        let mut report = Report::new(&job.plan, !self.quiet);
        let run = Run::new(self, &job, &inputs);
        if self.one_for_each() {
            run.each(converter, &inputs, &mut report)?;
        } else {
            run.together(&mut self.workers(&job, converter), &inputs, &mut report)?;
        }
        if job.stopped() {
            report.exit = Exit::Interrupted;
        }
        report.finish();
        if let Some(path) = &self.summary {
            let mut output = Output::create(path).map_err(|error| Failure::io(path.display(), &error))?;
            serde_json::to_writer_pretty(&mut output, &report.json()).map_err(io::Error::from)?;
            output.write_all(b"\n")?;
            output.commit().map_err(|error| Failure::io(path.display(), &error))?;
        }
        Ok(report.exit)
    }

    /// Lets a converter use all threads, for formats whose rows stand for themselves.
    pub fn workers<'p>(&'p self, job: &'p Job, converter: Converter<'p>) -> Converter<'p> {
        if self.format().is_columnar() {
            return converter;
        }
        let (rows, node) = job.rows();
        converter.with_workers(self.jobs(), Box::new(move || self.render.renderer(self.format(), rows, node)))
    }

    /// What the outputs depend on besides the inputs, for the manifest.
    pub fn fingerprint(&self) -> Outcome<String> {
        let mut options = self.clone();
        options.input = InputArgs { inputs: Vec::new() };
        (options.output, options.summary, options.jobs) = (None, None, None);
        (options.resume, options.skip_existing, options.quiet) = (false, false, false);
        let mut files = tercet::files::specifications(&self.source.schema.schema)?;
        files.extend(self.rendering.profile.iter().map(PathBuf::from).filter(|path| path.is_file()));
        Ok(manifest::fingerprint(&format!("{:?} {options:?}", self.format()), &files)?)
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
        let suffix =
            self.output.as_ref().and_then(|path| path.extension()).and_then(|suffix| suffix.to_str());
        self.format.or_else(|| suffix.and_then(Format::of_suffix)).unwrap_or(Format::Jsonl)
    }
}
