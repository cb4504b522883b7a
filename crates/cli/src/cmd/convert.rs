//! `tercet convert`.

use crate::args::{SchemaArgs, TagMode};
use crate::discover::{Trial, discover};
use crate::exit::{Exit, Failure, Outcome};
use crate::inputs::{Input, InputArgs};
use crate::interrupt::{self, OnInterrupt};
use crate::render::{Format, RenderArgs, Shown};
use crate::rendering::RenderingArgs;
use crate::report::Report;
use crate::rows::RowsArgs;
use crate::term;
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{self, IsTerminal, Write};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use tercet::dynamic::{NodeId, Options, Plan, Unknown};
use tercet::records::{
    Converter, DEFAULT_RECORD_LIMIT, Explode, Framing, Output, RejectFile, Render, Rendering, Settings,
    Summary, Targets,
};
use tercet::{PlanError, RecordPlan, Schema};

/// Convert record files to Parquet, Arrow, CSV, JSON or XML
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Files may be of any size: memory holds one record at a time. Filler octets between records are passed over. A record
that does not decode goes to the reject file, with a line about where and why in REJECTS.jsonl, and the run goes on.

Examples:
  tercet convert -s schemas/demo -t CallRecord calls.ber -o calls.csv
  tercet convert -s TAP-0312.asn1 -t DataInterChange --records TransferBatch.callEventDetails CD*.dat -o out/ -f jsonl
  zcat calls.ber.gz | tercet convert -s schemas/demo -t CallRecord | head")]
pub struct Convert {
    #[command(flatten)]
    input: InputArgs,

    #[command(flatten)]
    schema: SchemaArgs,

    /// The type of a record or, with `--records`, of the value around the list; found by trial if not given
    #[arg(short, long = "type", id = "type_name", value_name = "TYPE")]
    type_name: Option<String>,

    /// The list whose elements are the records, such as `TransferBatch.callEventDetails`
    #[arg(short, long, value_name = "PATH")]
    records: Option<String>,

    /// Output format; by the suffix of the output file, or jsonl
    #[arg(short, long, value_enum)]
    format: Option<Format>,

    #[command(flatten)]
    render: RenderArgs,

    #[command(flatten)]
    rendering: RenderingArgs,

    #[command(flatten)]
    rows: RowsArgs,

    /// Output file; a directory gets a file for each input; standard output if not given
    #[arg(short, long, value_name = "FILE|DIR")]
    output: Option<PathBuf>,

    /// Where what stands around the record list goes; beside the output file, named `.header`, if not given
    #[arg(long, value_name = "FILE", requires = "records")]
    header: Option<PathBuf>,

    /// Where rejected octets go; beside the output file, named `.rejects`, if not given
    #[arg(long, value_name = "FILE")]
    rejects: Option<PathBuf>,

    /// Rejects after which an input is given up
    #[arg(long, value_name = "COUNT")]
    max_errors: Option<u64>,

    /// How records are framed: `auto` tries what there is on the first octets of each input; else `plain`, `block:SIZE`
    /// (`block:SIZE:HEADER`, `block:SIZE:HEADER:used`), `u16be`, `u32le`, `u32be-incl` and the like, `rdw`, `bdw`, `ts32297`,
    /// `skip:FILE:RECORD:TRAILER`, `controls:FD,LD,LT,FT`, `inside:30,A1`
    #[arg(long, value_name = "FRAMING", default_value = "auto")]
    framing: String,

    /// Octets that may stand between records, in hexadecimal
    #[arg(long, value_name = "HEX", default_value = "00FF")]
    filler: String,

    /// Octets that one record may have
    #[arg(long, value_name = "COUNT", default_value_t = DEFAULT_RECORD_LIMIT)]
    record_limit: usize,

    /// Elements inside one another that a record may have
    #[arg(long, value_name = "COUNT", default_value_t = 64)]
    depth: u16,

    /// What to do with components that the schema does not know
    #[arg(long, value_enum, default_value_t = UnknownArg::Extensible, value_name = "POLICY")]
    unknown: UnknownArg,

    /// Show components that are absent and have a DEFAULT
    #[arg(long)]
    defaults: bool,

    /// What to do with outputs that are not complete when a signal such as Ctrl-C stops the run
    #[arg(long, value_enum, default_value_t = OnInterrupt::Remove, value_name = "POLICY")]
    on_interrupt: OnInterrupt,

    /// Write the totals to this file as JSON
    #[arg(long, value_name = "FILE")]
    summary: Option<PathBuf>,

    /// Threads that decode; as many as there are processors if not given
    #[arg(short, long, value_name = "COUNT")]
    jobs: Option<NonZeroUsize>,

    /// With an output directory: pass over inputs that an earlier run with the same options has done, by the manifest
    /// `tercet-run.jsonl` there
    #[arg(long)]
    resume: bool,

    /// With an output directory: pass over inputs whose output is there
    #[arg(long)]
    skip_existing: bool,

    /// Say errors only
    #[arg(short, long)]
    quiet: bool,
}

/// What to do with components that the schema does not know.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub enum UnknownArg {
    /// Reject the record
    Error,
    /// Pass over them where the type has `...`, else reject the record
    Extensible,
    /// Pass over them
    Keep,
}

impl UnknownArg {
    pub fn policy(self) -> Unknown {
        match self {
            Self::Error => Unknown::Error,
            Self::Extensible => Unknown::Extensible,
            Self::Keep => Unknown::Keep,
        }
    }
}

/// How records are found and what they are.
pub struct Job {
    pub plan: Plan,
    pub framing: Framing,
    pub outer: Option<NodeId>,
    pub record: NodeId,
    /// How octets are shown, if otherwise than they are.
    pub rendering: Option<Rendering>,
    /// How records become rows, if they are several each.
    pub explode: Option<Explode>,
    /// Whether other framings are tried.
    pub detect: bool,
    /// Set when a signal says to stop.
    pub stop: Arc<AtomicBool>,
}

impl Job {
    /// The values that are read, as they are shown.
    fn shown(&self) -> Shown<'_> {
        self.rendering.as_ref().map_or_else(|| Shown::from(&self.plan), Shown::from)
    }

    /// The rows that are written, and their type.
    fn rows(&self) -> (Shown<'_>, NodeId) {
        match &self.explode {
            Some(explode) => (self.shown().exploded(explode), explode.root()),
            None => (self.shown(), self.record),
        }
    }

    /// Whether a signal has said to stop.
    fn stopped(&self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }

    /// The job for records of a type, or for the elements of a list inside of it.
    pub fn new(schema: &Schema, type_name: &str, records: Option<&str>) -> Outcome<Self> {
        let found = RecordPlan::new(schema, type_name, records).map_err(Failure::usage)?;
        let RecordPlan { plan, framing, outer, record } = found;
        let (rendering, explode) = (None, None);
        Ok(Self { plan, framing, outer, record, rendering, explode, detect: true, stop: Arc::default() })
    }
}

impl Convert {
    pub fn run(&self) -> Outcome {
        let inputs = self.input.expand()?;
        let mut options = Options::default();
        options.unknown = self.unknown.policy();
        options.limits.depth = self.depth;
        options.fill_defaults = self.defaults;
        let mut job = self.job(&inputs, &options)?;
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
        let settings = Settings {
            framing: job.framing.clone(),
            outer: job.outer,
            record: job.record,
            options,
            max_rejects: self.max_errors,
            give_up_after: 16 << 20,
            detect: job.detect,
            wanted,
        };
        let mut converter = Converter::new(&job.plan, settings)
            .with_rendering(job.rendering.as_ref())
            .with_audit(&profile.audit)
            .with_explode(job.explode.as_ref())
            .with_stop(Arc::clone(&job.stop));
        if let Some(filter) = self.rows.filter(job.shown().shape(), job.record)? {
            converter = converter.with_filter(filter);
        }
        let mut converter = self.workers(&job, converter);
        let bar = self.bar(&inputs);
        let mut report = Report::new(&job.plan, !self.quiet);
        let outcome = if self.one_for_each() {
            self.each(&job, &mut converter, &inputs, &bar, &mut report)
        } else {
            self.together(&job, &mut converter, &inputs, &bar, &mut report)
        };
        bar.finish_and_clear();
        outcome?;
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
    fn workers<'p>(&'p self, job: &'p Job, converter: Converter<'p>) -> Converter<'p> {
        if self.format().is_columnar() {
            return converter;
        }
        let make = || self.render.renderer(self.format(), job.shown(), job.record);
        converter.with_workers(self.jobs(), Box::new(make))
    }

    fn jobs(&self) -> usize {
        self.jobs.or_else(|| thread::available_parallelism().ok()).map_or(1, NonZeroUsize::get)
    }

    /// What to do, with the tags as the text has them or as trial shows that they are meant.
    fn job(&self, inputs: &[Input], options: &Options) -> Outcome<Job> {
        let mode = self.schema.reading.tags;
        let sample = inputs.iter().find_map(Trial::new).filter(|_| mode == TagMode::Auto);
        let Some(sample) = sample else { return self.job_with(mode, inputs, options) };
        let as_written = self.job_with(TagMode::AsWritten, inputs, options);
        let (mut best, mut most) = match as_written {
            Ok(job) => {
                let fits = sample.fits(&job, options);
                if fits.are_all() {
                    return Ok(job);
                }
                (Ok(job), fits.good)
            }
            // What is wrong with the specifications or the command line is so with any tags.
            Err(failure) if failure.exit == Exit::Usage => return Err(failure),
            Err(failure) => (Err(failure), 0),
        };
        for (mode, name) in [(TagMode::Implicit, "implicit"), (TagMode::Explicit, "explicit")] {
            if let Ok(job) = self.job_with(mode, inputs, options) {
                let fits = sample.fits(&job, options);
                if fits.good > most {
                    most = fits.good;
                    term::say(format_args!(
                        "tags: {most} of the first {} records decode with `--tags {name}`, which is taken",
                        fits.seen
                    ));
                    best = Ok(job);
                }
            }
        }
        best
    }

    fn job_with(&self, mode: TagMode, inputs: &[Input], options: &Options) -> Outcome<Job> {
        let mut schema = self.schema.clone();
        schema.reading.tags = mode;
        let schema = schema.load()?;
        let type_name = self.type_name(&schema, inputs, options)?;
        let mut job = Job::new(&schema, &type_name, self.records.as_deref())?;
        job.framing.filler = crate::inputs::from_hex(&self.filler).map_err(Failure::usage)?;
        job.framing.record_limit = self.record_limit;
        if self.framing != "auto" {
            job.detect = false;
            job.framing = job.framing.with(&self.framing).map_err(Failure::usage)?;
        }
        Ok(job)
    }

    /// The type asked for, that of the path's first step, or what trial finds.
    fn type_name(&self, schema: &Schema, inputs: &[Input], options: &Options) -> Outcome<String> {
        if let Some(name) = &self.type_name {
            return Ok(name.clone());
        }
        if let Some(path) = &self.records {
            let first = path.split('.').next().unwrap_or_default();
            return match schema.find(first) {
                Ok(_) => Ok(first.to_owned()),
                Err(PlanError::Unknown { .. }) => Err(Failure::usage(format_args!(
                    "`{first}` is no type; say with `--type` where `{path}` begins"
                ))),
                Err(error) => Err(Failure::usage(error)),
            };
        }
        match inputs.first() {
            Some(input) => discover(schema, input, options),
            None => Err(Failure::usage("there is no input")),
        }
    }

    fn one_for_each(&self) -> bool {
        self.output
            .as_ref()
            .is_some_and(|path| path.is_dir() || path.as_os_str().to_string_lossy().ends_with('/'))
    }

    fn format(&self) -> Format {
        let suffix =
            self.output.as_ref().and_then(|path| path.extension()).and_then(|suffix| suffix.to_str());
        self.format.or_else(|| suffix.and_then(Format::of_suffix)).unwrap_or(Format::Jsonl)
    }

    /// A file for each input in the output directory.
    fn each(
        &self,
        job: &Job,
        converter: &mut Converter<'_>,
        inputs: &[Input],
        bar: &ProgressBar,
        report: &mut Report<'_>,
    ) -> Outcome<()> {
        let dir = self.output.as_deref().unwrap_or_else(|| Path::new("."));
        std::fs::create_dir_all(dir).map_err(|error| Failure::io(dir.display(), &error))?;
        for input in inputs {
            let stem = match input {
                Input::Stdin | Input::Octets(..) => "stdin".into(),
                Input::File(path) => path.file_name().unwrap_or_default().to_os_string(),
            };
            let mut name = stem;
            name.push(format!(".{}", self.format().suffix()));
            self.to_file(job, converter, std::slice::from_ref(input), &dir.join(name), bar, report)?;
            if job.stopped() {
                break;
            }
        }
        Ok(())
    }

    /// One output for all inputs.
    fn together(
        &self,
        job: &Job,
        converter: &mut Converter<'_>,
        inputs: &[Input],
        bar: &ProgressBar,
        report: &mut Report<'_>,
    ) -> Outcome<()> {
        if let Some(path) = &self.output {
            return self.to_file(job, converter, inputs, path, bar, report);
        }
        let mut rejects = self.rejects.as_ref().map(RejectFile::new);
        let mut header = self.header.as_ref().map(Output::create).transpose()?;
        let mut out = io::stdout().lock();
        self.inputs(job, converter, inputs, &mut out, header.as_mut(), rejects.as_mut(), bar, report)?;
        out.flush()?;
        commit(header, rejects)
    }

    fn to_file(
        &self,
        job: &Job,
        converter: &mut Converter<'_>,
        inputs: &[Input],
        path: &Path,
        bar: &ProgressBar,
        report: &mut Report<'_>,
    ) -> Outcome<()> {
        let beside = |suffix: &str| {
            let mut name = path.as_os_str().to_owned();
            name.push(suffix);
            PathBuf::from(name)
        };
        let named = |error| Failure::io(path.display(), &error);
        let mut rejects = RejectFile::new(self.rejects.clone().unwrap_or_else(|| beside(".rejects")));
        let header_path = self.header.clone().unwrap_or_else(|| beside(".header"));
        let mut header = self.records.as_ref().map(|_| Output::create(header_path)).transpose()?;
        let mut output = Output::create(path).map_err(named)?;
        self.inputs(job, converter, inputs, &mut output, header.as_mut(), Some(&mut rejects), bar, report)?;
        output.commit().map_err(named)?;
        commit(header, Some(rejects))
    }

    #[expect(clippy::too_many_arguments, reason = "the inner end of the chain")]
    fn inputs(
        &self,
        job: &Job,
        converter: &mut Converter<'_>,
        inputs: &[Input],
        out: &mut dyn Write,
        mut header: Option<&mut Output>,
        mut rejects: Option<&mut RejectFile>,
        bar: &ProgressBar,
        report: &mut Report<'_>,
    ) -> Outcome<()> {
        let (rows, node) = job.rows();
        let mut render = self.render.renderer(self.format(), rows, node);
        let mut header_render =
            self.render.renderer(Format::Jsonl, job.shown(), job.outer.unwrap_or(job.record));
        let mut text = Vec::new();
        render.begin(&mut text);
        out.write_all(&text)?;
        for input in inputs {
            input.each(&mut |name, reader| {
                let begin = Instant::now();
                let reader = bar.wrap_read(reader);
                let summary = {
                    let header = header.as_deref_mut();
                    let mut targets = Targets {
                        render: &mut *render,
                        out,
                        header: header
                            .map(|out| (&mut *header_render as &mut dyn Render, out as &mut dyn Write)),
                        rejects: rejects.as_deref_mut(),
                    };
                    let mut progress = |summary: &Summary| {
                        bar.set_message(term::count(summary.records, "record"));
                        ControlFlow::Continue(())
                    };
                    converter.run(name, reader, &mut targets, &mut progress)
                };
                let summary = summary.map_err(|error| Failure::io(name, &error))?;
                let path = rejects.as_deref().map(RejectFile::path);
                bar.suspend(|| report.input(name, summary, begin.elapsed(), path));
                Ok(!job.stopped())
            })?;
            if job.stopped() {
                report.exit = Exit::Interrupted;
                if self.on_interrupt == OnInterrupt::Remove {
                    let removed = if self.output.is_some() { "; the output is removed" } else { "" };
                    bar.finish_and_clear();
                    return Err(Failure::interrupted(format_args!("interrupted{removed}")));
                }
                break;
            }
        }
        let mut text = Vec::new();
        render.end(&mut text).map_err(|error| Failure { exit: Exit::Io, message: error.to_string() })?;
        out.write_all(&text)?;
        Ok(())
    }

    /// A progress bar, hidden if nobody watches.
    fn bar(&self, inputs: &[Input]) -> ProgressBar {
        if self.quiet || !io::stderr().is_terminal() {
            return ProgressBar::hidden();
        }
        let size = inputs.iter().map(Input::size).sum::<Option<u64>>();
        let bar = size.map_or_else(ProgressBar::new_spinner, ProgressBar::new);
        let template = if size.is_some() {
            "{bar:30} {bytes}/{total_bytes} {bytes_per_sec} eta {eta}  {msg}"
        } else {
            "{spinner} {bytes} {bytes_per_sec}  {msg}"
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(200));
        bar
    }
}

fn commit(header: Option<Output>, rejects: Option<RejectFile>) -> Outcome<()> {
    if let Some(header) = header {
        header.commit()?;
    }
    rejects.map_or(Ok(()), RejectFile::commit)?;
    Ok(())
}
