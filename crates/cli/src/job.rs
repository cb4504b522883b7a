//! What the records of files are and how they are found: options, trial, the plan.

use crate::args::{SchemaArgs, TagMode};
use crate::discover::{Trial, discover};
use crate::exit::{Exit, Failure, Outcome};
use crate::inputs::{Input, from_hex};
use crate::render::Shown;
use crate::rendering::listed;
use crate::term;
use clap::Args;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tercet::dynamic::{NodeId, Options, Plan, Unknown};
use tercet::records::{
    Children, DEFAULT_RECORD_LIMIT, Explode, FRAMINGS, Fit, Framing, OtherRules, RecordFormat, Rendering,
    Settings,
};
use tercet::{GivenFraming, PlanError, RecordPlan, Schema};

/// Returns the help of `--framing`, with the framings that there are.
fn framing_help() -> String {
    format!(
        "How records are framed, such as `plain` or `u16be`\n\n`auto` tries all on the first bytes of each input; others are like {}.",
        listed(FRAMINGS.iter().map(|(name, _)| *name), "or")
    )
}

/// The default of `--depth`.
const DEPTH: u16 = 64;

/// What records are and where they stand.
#[derive(Args, Clone, Debug)]
pub struct RecordArgs {
    #[command(flatten)]
    pub schema: SchemaArgs,

    /// Type of a record, or of the value around the list; found by trial by default
    #[arg(short, long = "type", id = "type_name", value_name = "TYPE")]
    pub type_name: Option<String>,

    /// List whose elements are the records
    ///
    /// Such as `TransferBatch.callEventDetails`.
    #[arg(short, long, value_name = "PATH")]
    pub records: Option<String>,

    /// How records are framed, such as `plain` or `u16be`
    #[arg(long, value_name = "FRAMING", default_value = "auto", long_help = framing_help())]
    framing: String,

    /// Encoding rules of records
    ///
    /// `auto` goes by the headers of TS 32.297, and takes BER without them. Rules other than BER require a framing with lengths,
    /// such as `ts32297`.
    #[arg(long, value_enum, default_value_t = RulesArg::Auto, value_name = "RULES")]
    rules: RulesArg,

    /// Bytes that may be between records, in hexadecimal
    #[arg(long, value_name = "HEX", default_value = "00FF")]
    filler: String,

    /// Bytes that a record may have
    #[arg(long, value_name = "COUNT", default_value_t = DEFAULT_RECORD_LIMIT)]
    record_limit: usize,

    /// Elements inside one another that a record may have
    #[arg(long, value_name = "COUNT", default_value_t = DEPTH)]
    depth: u16,

    /// Handling of components that the specification does not define
    #[arg(long, value_enum, default_value_t = UnknownArg::Extensible, value_name = "POLICY")]
    unknown: UnknownArg,

    /// Handling of texts and times that break the rules of their type in BER
    #[arg(long, value_enum, default_value_t = ValuesArg::Keep, value_name = "POLICY")]
    values: ValuesArg,

    /// Show components that are absent and have a DEFAULT
    #[arg(long)]
    defaults: bool,
}

/// The encoding rules of records.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub enum RulesArg {
    /// By the headers of records, or BER
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

impl RulesArg {
    fn told(self) -> Option<RecordFormat> {
        Some(match self {
            Self::Auto => return None,
            Self::Ber => RecordFormat::Ber,
            Self::Uper => RecordFormat::Uper,
            Self::Aper => RecordFormat::Aper,
            Self::Xer => RecordFormat::Xer,
        })
    }
}

/// What to do with components that the schema does not know.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub enum UnknownArg {
    /// Reject the record
    Error,
    /// Skip them where the type has `...`, in a SEQUENCE at the place of its additions, else reject the record
    Extensible,
    /// Skip them everywhere
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

/// What to do with texts and times that break the rules of their type.
#[derive(Clone, Copy, Debug, Default, clap::ValueEnum)]
pub enum ValuesArg {
    /// Keep and report them: `*` in a PrintableString, bytes that are not UTF-8, the time `0000000000Z`
    #[default]
    Keep,
    /// Reject the record
    Strict,
}

impl ValuesArg {
    pub fn is_strict(self) -> bool {
        matches!(self, Self::Strict)
    }
}

/// How records are found and what they are.
pub struct Job {
    pub plan: Plan,
    /// Plans for records in other rules.
    pub others: OtherRules,
    pub framing: Framing,
    pub outer: Option<NodeId>,
    pub record: NodeId,
    /// How octets are shown, if otherwise than they are.
    pub rendering: Option<Rendering>,
    /// How records become rows, if they are several each.
    pub explode: Option<Explode>,
    /// How records become rows of several tables, if they do.
    pub children: Option<Children>,
    /// The columns wanted; all if there are none.
    pub columns: Vec<String>,
    /// Whether other framings are tried.
    pub detect: bool,
    /// Set when a signal says to stop.
    pub stop: Arc<AtomicBool>,
}

impl Job {
    /// The values that are read, as they are shown.
    pub fn shown(&self) -> Shown<'_> {
        self.rendering.as_ref().map_or_else(|| Shown::from(&self.plan), Shown::from)
    }

    /// The rows of records that are written, and their type.
    pub fn rows(&self) -> (Shown<'_>, NodeId) {
        match (&self.explode, &self.children) {
            (Some(explode), _) => (self.shown().exploded(explode), explode.root()),
            (None, Some(children)) => (self.shown().with_children(children), children.root()),
            (None, None) => (self.shown(), self.record),
        }
    }

    /// Whether a signal has said to stop.
    pub fn stopped(&self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }

    /// How a converter reads the records.
    pub fn settings(&self, options: Options) -> Settings {
        Settings {
            framing: self.framing.clone(),
            outer: self.outer,
            record: self.record,
            options,
            max_rejects: None,
            max_reject_share: None,
            give_up_after: 16 << 20,
            detect: self.detect,
            wanted: None,
        }
    }

    /// The job for records of a type, or for the elements of a list inside of it.
    pub fn new(schema: &Arc<Schema>, type_name: &str, records: Option<&str>) -> Outcome<Self> {
        let found = RecordPlan::new(schema, type_name, records).map_err(Failure::usage)?;
        let RecordPlan { plan, others, framing, outer, record } = found;
        let (rendering, explode, children) = (None, None, None);
        let (columns, detect, stop) = (Vec::new(), true, Arc::default());
        Ok(Self { plan, others, framing, outer, record, rendering, explode, children, columns, detect, stop })
    }
}

impl RecordArgs {
    /// Whether records are text.
    pub fn is_text(&self) -> bool {
        matches!(self.rules, RulesArg::Xer)
    }

    /// How records are decoded.
    pub fn options(&self) -> Options {
        let mut options = Options::default();
        options.unknown = self.unknown.policy();
        options.limits.depth = self.depth;
        options.fill_defaults = self.defaults;
        options.strict_values = self.values.is_strict();
        options
    }

    /// The words of the command line that say the same again, but for type, list, tags, framing and unknown components.
    pub fn words(&self) -> Vec<String> {
        let mut words = Vec::new();
        for path in &self.schema.schema {
            words.extend(["-s".to_owned(), path.display().to_string()]);
        }
        words.extend(self.schema.reading.strict.then(|| "--strict".to_owned()));
        words.extend(self.schema.allow_errors.then(|| "--allow-errors".to_owned()));
        for (name, other) in &self.schema.reading.alias {
            words.extend(["--alias".to_owned(), format!("{name}={other}")]);
        }
        if self.record_limit != DEFAULT_RECORD_LIMIT {
            words.extend(["--record-limit".to_owned(), self.record_limit.to_string()]);
        }
        if self.depth != DEPTH {
            words.extend(["--depth".to_owned(), self.depth.to_string()]);
        }
        words
    }

    /// What to do, with the tags as the text has them or as trial shows that they are meant.
    pub fn job(&self, inputs: &[Input], options: &Options) -> Outcome<Job> {
        let mode = self.schema.reading.tags;
        let as_written = self.job_with(mode, inputs, options);
        if mode != TagMode::Auto {
            return as_written;
        }
        if let Ok(job) = &as_written
            && let Some(sample) = inputs.iter().find_map(Trial::short)
            && sample.fit(job, options).is_some_and(|fit| fit.is_perfect())
        {
            return as_written;
        }
        let Some(sample) = inputs.iter().find_map(Trial::new) else { return as_written };
        let (mut best, mut most) = match as_written {
            Ok(job) => {
                let fit = sample.fit(&job, options);
                if fit.as_ref().is_some_and(Fit::is_perfect) {
                    return Ok(job);
                }
                (Ok(job), fit.map_or(0, |fit| fit.weight()))
            }
            // What is wrong with the specifications or the command line is so with any tags.
            Err(failure) if failure.exit == Exit::Usage => return Err(failure),
            Err(failure) => (Err(failure), 0),
        };
        for (mode, name) in [(TagMode::Implicit, "implicit"), (TagMode::Explicit, "explicit")] {
            if let Ok(job) = self.job_with(mode, inputs, options)
                && let Some(fit) = sample.fit(&job, options)
                && fit.weight() > most
            {
                most = fit.weight();
                term::say(format_args!(
                    "tags: {} of the first {} records decode with `--tags {name}`, which is taken",
                    fit.records, fit.tried
                ));
                best = Ok(job);
            }
        }
        best
    }

    fn job_with(&self, mode: TagMode, inputs: &[Input], options: &Options) -> Outcome<Job> {
        let mut schema = self.schema.clone();
        schema.reading.tags = mode;
        let schema = Arc::new(schema.load()?);
        let type_name = self.type_name(&schema, inputs, options)?;
        let job = Job::new(&schema, &type_name, self.records.as_deref())?;
        self.framed(job)
    }

    /// A job with the framing of the command line.
    pub fn framed(&self, mut job: Job) -> Outcome<Job> {
        let given = self.given()?;
        job.detect = given.framing.is_none();
        job.framing = given.framed(job.framing).map_err(Failure::usage)?;
        Ok(job)
    }

    /// What the command line says of the framing.
    pub fn given(&self) -> Outcome<GivenFraming> {
        Ok(GivenFraming {
            framing: Some(self.framing.clone()).filter(|framing| framing != "auto"),
            rules: self.rules.told(),
            filler: Some(from_hex(&self.filler).map_err(Failure::usage)?),
            record_limit: Some(self.record_limit),
        })
    }

    /// The type asked for, that of the path's first step, or what trial finds.
    fn type_name(&self, schema: &Arc<Schema>, inputs: &[Input], options: &Options) -> Outcome<String> {
        if let Some(name) = &self.type_name {
            return Ok(name.clone());
        }
        if let Some(path) = &self.records {
            let first = path.split('.').next().unwrap_or_default();
            return match schema.find(first) {
                Ok(_) => Ok(first.to_owned()),
                Err(PlanError::Unknown { .. }) => Err(Failure::usage(format_args!(
                    "unknown type `{first}`; `--type` names the type that contains `{path}`"
                ))),
                Err(error) => Err(Failure::usage(error)),
            };
        }
        match inputs.first() {
            Some(input) => discover(schema, input, options),
            None => Err(Failure::usage("there is no input")),
        }
    }
}
