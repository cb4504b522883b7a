//! What the records of files are and how they are found: options, trial, the plan.

use crate::args::{SchemaArgs, TagMode};
use crate::discover::{Trial, discover};
use crate::exit::{Exit, Failure, Outcome};
use crate::inputs::Input;
use crate::term;
use clap::Args;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tercet::dynamic::{NodeId, Options, Plan};
use tercet::records::conversion::RecordOptions;
use tercet::records::{Fit, Framing, OtherRules, Prepared, Settings, Shown};
use tercet::{PlanError, RecordPlan, Schema};

/// What records are and where they are.
#[derive(Args, Clone, Debug)]
pub struct RecordArgs {
    #[command(flatten)]
    pub schema: SchemaArgs,

    #[command(flatten)]
    pub records: RecordOptions,
}

/// How records are found and what they are.
pub struct Job {
    pub plan: Plan,
    /// Plans for records in other rules.
    pub others: OtherRules,
    pub framing: Framing,
    pub outer: Option<NodeId>,
    pub record: NodeId,
    /// What becomes of records.
    pub prepared: Prepared,
    /// Whether other framings are tried.
    pub detect: bool,
    /// Set when a signal says to stop.
    pub stop: Arc<AtomicBool>,
}

impl Job {
    /// Returns the values that are read, as they are shown.
    pub fn shown(&self) -> Shown<'_> {
        self.prepared.shown()
    }

    /// Whether a signal has said to stop.
    pub fn stopped(&self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }

    /// How a converter reads the records.
    pub fn settings(&self, options: Options) -> Settings {
        Settings {
            outer: self.outer,
            options,
            detect: self.detect,
            ..Settings::new(self.framing.clone(), self.record)
        }
    }

    /// The job for records of a type, or for the elements of a list inside of it.
    pub fn new(schema: &Arc<Schema>, type_name: &str, records: Option<&str>) -> Outcome<Self> {
        let found = RecordPlan::new(schema, type_name, records).map_err(Failure::usage)?;
        let RecordPlan { plan, others, framing, outer, record } = found;
        let prepared = Prepared::new(&plan.shape, record);
        Ok(Self { plan, others, framing, outer, record, prepared, detect: true, stop: Arc::default() })
    }
}

impl RecordArgs {
    /// The words of the command line that say the same again, but for type, list, tags, framing and unknown components.
    pub fn words(&self) -> Vec<String> {
        let mut words = Vec::new();
        for path in &self.schema.schema {
            words.extend(["-s".to_owned(), path.display().to_string()]);
        }
        if let Some(path) = &self.schema.plan {
            words.extend(["--plan".to_owned(), path.display().to_string()]);
        }
        words.extend(self.schema.reading.strict.then(|| "--strict".to_owned()));
        words.extend(self.schema.allow_errors.then(|| "--allow-errors".to_owned()));
        for alias in &self.schema.reading.alias {
            words.extend(["--alias".to_owned(), alias.clone().into()]);
        }
        words.extend(self.records.limit_words());
        words
    }

    /// What to do, with the tags as the text has them or as trial shows that they are meant.
    pub fn job(&self, inputs: &[Input], options: &Options) -> Outcome<Job> {
        let mode = self.schema.tags();
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
        let job = Job::new(&schema, &type_name, self.records.records.as_deref())?;
        self.framed(job)
    }

    /// A job with the framing of the command line.
    pub fn framed(&self, mut job: Job) -> Outcome<Job> {
        let given = self.records.given_framing()?;
        job.detect = given.framing.is_none();
        job.framing = given.framed(job.framing).map_err(Failure::usage)?;
        Ok(job)
    }

    /// The type asked for, that of the path's first step, or what trial finds.
    fn type_name(&self, schema: &Arc<Schema>, inputs: &[Input], options: &Options) -> Outcome<String> {
        if let Some(name) = &self.records.type_name {
            return Ok(name.clone());
        }
        if let Some(path) = &self.records.records {
            let first = path.split('.').next().unwrap_or_default();
            return match schema.check_type(first) {
                Ok(()) => Ok(first.to_owned()),
                Err(PlanError::Unknown { .. }) => Err(Failure::usage(format_args!(
                    "unknown type `{first}`; `--type` names the type that contains `{path}`"
                ))),
                Err(error) => Err(Failure::usage(error)),
            };
        }
        match inputs.first() {
            Some(input) => discover(schema, &self.records.given_framing()?, input, options),
            None => Err(Failure::usage("there is no input")),
        }
    }
}
