//! Looking at record files without converting them: what `cat`, `head` and `stat` share.

#[cfg(feature = "capture")]
use crate::args::CaptureArgs;
use crate::args::writes_stdout;
#[cfg(feature = "capture")]
use crate::cmd::capture::{Source, not_applied, refuse_others};
use crate::exit::{Exit, Failure, Outcome};
use crate::inputs::Input;
use crate::job::{Job, RecordArgs};
use crate::rendering::profile;
use crate::report::{describe, marks_lines, say_help, verdict, warn_of_guess};
use crate::term;
use clap::Args;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
#[cfg(feature = "capture")]
use tercet::records::conversion::InputOptions;
use tercet::records::conversion::RenderingOptions;
use tercet::records::{Converter, Guard, Output, RowWriter, Stopped, Summary, Targets};

/// What records are, and how they are shown.
#[derive(Args, Clone, Debug)]
pub struct InspectArgs {
    #[command(flatten)]
    pub source: RecordArgs,

    #[command(flatten)]
    pub rendering: RenderingOptions,

    #[cfg(feature = "capture")]
    #[command(flatten)]
    capture: CaptureArgs,

    /// Write a line of JSON to this file for each marked value: a text or time that is kept although it breaks the rules of
    /// its type
    #[arg(long, value_name = "FILE")]
    marks: Option<PathBuf>,
}

impl InspectArgs {
    /// What is read beside the inputs, and what is written.
    pub fn guard(&self) -> Outcome<Guard> {
        let mut guard = self.source.schema.guard()?;
        writes_stdout(&mut guard)?;
        if let Some(path) = &self.marks {
            guard.writes("`--marks`", path)?;
        }
        Ok(guard)
    }

    /// Returns the captures that are read, with the options that apply to them; others are refused.
    #[cfg(feature = "capture")]
    pub fn captures(&self, input: &InputOptions) -> Outcome<Source> {
        refuse_others(&self.source.records, &["framing", "type"])?;
        refuse_others(&self.rendering, &[])?;
        if self.marks.is_some() {
            return Err(not_applied("marks"));
        }
        Ok(Source {
            input: input.clone(),
            schema: self.source.schema.clone(),
            capture: self.capture.clone(),
            type_name: self.source.records.type_name.clone(),
            conditions: Vec::new(),
            form: Default::default(),
        })
    }

    /// What to read and how; values are shown by a profile if they are to be `rendered` or the command line says so.
    pub fn job(&self, inputs: &[Input], rendered: bool) -> Outcome<Job> {
        let mut job = self.source.job(inputs, &self.source.records.options())?;
        if rendered || !self.rendering.is_default() {
            let profile = profile(&self.rendering, &job.plan.shape)?;
            job.prepared.rendering = self.rendering.rendering(&profile, &job.plan.shape, job.record)?;
        }
        Ok(job)
    }

    /// Reads inputs for a renderer, which may set the flag of the job to end an input. Damaged input is reported.
    pub fn read(
        &self,
        job: &Job,
        inputs: &[Input],
        render: &mut dyn RowWriter,
        out: &mut dyn Write,
        tell: &mut dyn FnMut(&str, &Summary),
    ) -> Outcome {
        let mut marks = self.marks.as_ref().map(Output::create).transpose()?;
        let mut converter = Converter::builder(&job.plan, job.settings(self.source.records.options()))
            .other_rules(&job.others)
            .prepared(&job.prepared)
            .stop(Arc::clone(&job.stop))
            .build();
        let mut exit = Exit::Good;
        for input in inputs {
            input.each(false, &mut |name, reader| {
                job.stop.store(false, Ordering::SeqCst);
                let mut targets = Targets {
                    render: &mut *render,
                    out: &mut *out,
                    header: None,
                    rejects: None,
                    marks: marks.as_mut().map(|marks| marks as &mut dyn Write),
                };
                let summary = converter
                    .run(name, reader, &mut targets, &mut |_| ControlFlow::Continue(()))
                    .map_err(|error| Failure::io(name, &error))?;
                for line in marks_lines(&summary.marks) {
                    term::warning(format_args!("{name}: {line}"));
                }
                warn_of_guess(name, &summary);
                for reject in &summary.samples {
                    term::warning(format_args!("{name}: {}", describe(reject)));
                }
                say_help(&summary);
                let ended = summary.stopped == Some(Stopped::Caller);
                exit = exit.max(match verdict(&summary) {
                    Exit::Interrupted if ended => Exit::Good,
                    verdict => verdict,
                });
                tell(name, &summary);
                Ok(true)
            })?;
        }
        marks.map_or(Ok(()), Output::commit)?;
        Ok(exit)
    }
}
