//! What is to be read, and the reading of it.

use super::failure::Failure;
use super::feed::Outlet;
use super::given;
use super::input::{Content, Input, inputs_of};
use super::plan::Plans;
use super::report::Totals;
use crate::objects::Looks;
use crate::schema::Schema;
use crate::{error, options, rendering};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::fs;
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tercet::dynamic::{Error, NodeId, View};
use tercet::records::conversion::{OptionFault, Ratio, RejectLimit};
use tercet::records::{
    ChildTable, Converter, EachNulled, Framing, Guard, Interpretation, Origin, Overwrite, Prepared,
    RejectFile, RowWriter, Settings, Shown, Split, Stopped, Summary, Targets, inputs,
};
use tercet::{RecordPlan, Rules};

/// Files, the type of their records, and how to read them.
pub(crate) struct Source {
    pub(crate) plan: RecordPlan,
    pub(crate) settings: Settings,
    pub(crate) inputs: Vec<Input>,
    /// What becomes of records.
    pub(crate) prepared: Prepared,
    /// Which of the tables rows are of.
    table: Picked,
    rejects: Option<PathBuf>,
    /// What values look like in Python.
    pub(crate) looks: Looks,
    /// Whether there may be nothing to read.
    allow_empty: bool,
}

/// Which tables rows are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Picked {
    /// All, that of the records included.
    All,
    /// That of the records.
    Records,
    /// A child, by its number.
    Child(usize),
}

impl Source {
    /// From arguments; those of `keywords` that are not about files say how to decode.
    pub(crate) fn new(
        paths: &Bound<'_, PyAny>,
        schema: &Bound<'_, PyAny>,
        type_name: &str,
        keywords: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let py = paths.py();
        let keywords = keywords.map_or_else(|| Ok(PyDict::new(py)), |keywords| keywords.copy())?;
        let (conversion, asked) = given::conversion(&keywords)?;
        let looks = options::looks(&keywords)?;
        let options = options::read(Rules::default(), &keywords, &given::names())?;
        let fault = |fault: OptionFault| error::fault(&fault);
        let schema = Schema::of(schema)?;
        let (type_name, list) = (type_name.to_owned(), conversion.records.records.clone());
        let plans = Plans { type_name, list, given: conversion.records.given_framing().map_err(fault)? };
        let plan = plans.plan(py, schema.get().shared())?;
        let allow_empty = conversion.input.allow_empty;
        let inputs = inputs_of(paths, Some(&plan.framing), allow_empty)?;
        let plan = plans.meant(py, schema.get(), plan, &inputs, &options)?;
        schema.get().warn(py)?;
        let profile = rendering::profile(&conversion.rendering, &plan.plan.shape)?;
        let prepared = conversion.prepare(&profile, &plan.plan.shape, plan.record).map_err(fault)?;
        let part = |input: &Input| input.split.as_ref().is_some_and(|(split, _)| split.start > 0);
        if prepared.rendering.as_ref().is_some_and(Interpretation::has_tables) && inputs.iter().any(part) {
            let text = "this rendering requires the header of the file, which a split does not have";
            return Err(error::argument(text));
        }
        let settings = Settings {
            outer: plan.outer,
            options,
            // Rows go to a program, which would not learn of rejects otherwise.
            max_rejects: conversion.limits.most_rejects(RejectLimit::Most(0)),
            max_reject_share: conversion.limits.max_reject_ratio.map(Ratio::get),
            detect: plans.given.framing.is_none(),
            ..Settings::new(plan.framing.clone(), plan.record)
        };
        let rejects = conversion.output.rejects;
        if let Some(path) = &rejects {
            guard(&inputs, path).map_err(|refused| error::argument(refused.to_string()))?;
        }
        let table = asked.table(prepared.children.as_ref())?;
        Ok(Self { plan, settings, inputs, prepared, table, rejects, looks, allow_empty })
    }

    /// Makes rows of all tables.
    pub(crate) fn with_all_tables(self) -> Self {
        Self { table: Picked::All, ..self }
    }

    /// The table that rows are of, if it is that of a child.
    fn child(&self) -> Option<&ChildTable> {
        match (self.table, &self.prepared.children) {
            (Picked::Child(table), Some(children)) => children.tables().get(table),
            _ => None,
        }
    }

    /// What rows look like, and their type: records, unless rows are those of lists.
    pub(crate) fn rows(&self) -> (Shown<'_>, NodeId) {
        match (self.child(), &self.prepared.children) {
            (Some(table), Some(children)) => (self.prepared.shown().child(children, table), table.root()),
            _ => self.prepared.rows(),
        }
    }

    /// The rows that have come of an input.
    fn rows_of(&self, summary: &Summary) -> u64 {
        match self.table {
            Picked::Child(table) => summary.tables.get(table).map_or(0, |table| table.1),
            _ => summary.rows,
        }
    }

    /// Which fields of records have to be decoded, if these fields of rows have to be.
    pub(crate) fn wanted(&self, rows: Vec<bool>) -> Vec<bool> {
        match (&self.prepared.explode, &self.prepared.children) {
            (Some(explode), _) => explode.wanted(&rows),
            (None, Some(children)) => children.wanted(&rows),
            (None, None) => rows,
        }
    }

    /// Reads everything, as far as the outlet wants it, and counts.
    pub(crate) fn run<T>(
        &self,
        render: &mut dyn RowWriter,
        outlet: &Outlet<T>,
        totals: &Mutex<Totals>,
    ) -> Result<(), Failure> {
        let picked = self.table;
        let mut one = OneTable { picked, render: &mut *render };
        let render = if picked == Picked::All { &mut *one.render } else { &mut one };
        let mut rejects = self.rejects.as_ref().map(RejectFile::new).transpose()?;
        let (stop, warn) = (outlet.stop(), |text| outlet.warn(text));
        let mut run = Run { source: self, render, stop, warn: &warn, totals, rejects: rejects.as_mut() };
        let done = self.inputs.iter().try_for_each(|input| run.input(input));
        let stopped = outlet.stop().load(Ordering::Relaxed);
        if let Some(rejects) = rejects.filter(|_| !stopped) {
            rejects.commit()?;
        }
        done?;
        if !stopped {
            self.check_empty(totals)?;
            render.end(&mut Vec::new())?;
            totals.lock().unwrap_or_else(PoisonError::into_inner).complete = true;
        }
        Ok(())
    }
}

impl Source {
    /// Inputs without any octets are an error, unless they are allowed or splits of others.
    fn check_empty(&self, totals: &Mutex<Totals>) -> Result<(), Failure> {
        let read = totals.lock().unwrap_or_else(PoisonError::into_inner).read();
        let all = |input: &Input| input.split.is_none();
        if self.allow_empty || read > 0 || self.inputs.is_empty() || !self.inputs.iter().all(all) {
            return Ok(());
        }
        let name = self.inputs.first().map(Input::name).unwrap_or_default();
        let others = self.inputs.len() - 1;
        let more = if others == 0 { String::new() } else { format!(" and {others} more") };
        let text = format!("{name}{more}: no records: 0 bytes (`allow_empty=True` allows that)");
        Err(Failure::Rejected(text, Vec::new()))
    }
}

/// Has the rows of one table rendered, and those of no other.
struct OneTable<'a> {
    picked: Picked,
    render: &'a mut dyn RowWriter,
}

impl RowWriter for OneTable<'_> {
    fn record(&mut self, value: View<'_>, origin: &Origin<'_>, out: &mut Vec<u8>) -> Result<(), Error> {
        if self.picked == Picked::Records { self.render.record(value, origin, out) } else { Ok(()) }
    }

    fn child(&mut self, table: usize, value: View<'_>, origin: &Origin<'_>) -> Result<(), Error> {
        if self.picked == Picked::Child(table) {
            return self.render.record(value, origin, &mut Vec::new());
        }
        Ok(())
    }

    fn begin_record(&mut self, out: &mut Vec<u8>) {
        self.render.begin_record(out);
    }

    fn take_nulled(&mut self, each: &mut EachNulled<'_>) {
        self.render.take_nulled(each);
    }

    fn drop_record(&mut self) {
        self.render.drop_record();
    }

    fn end(&mut self, out: &mut Vec<u8>) -> io::Result<()> {
        self.render.end(out)
    }
}

struct Run<'a> {
    source: &'a Source,
    render: &'a mut dyn RowWriter,
    stop: &'a Arc<AtomicBool>,
    warn: &'a dyn Fn(String),
    totals: &'a Mutex<Totals>,
    rejects: Option<&'a mut RejectFile>,
}

impl Run<'_> {
    fn input(&mut self, input: &Input) -> Result<(), Failure> {
        let name = input.name();
        let named = |error: io::Error| Failure::io(name, &error);
        if let Some((split, framing)) = &input.split {
            if let Content::File(path) = &input.content {
                let (size, end) =
                    (fs::metadata(path).map_err(named)?.len(), split.end.unwrap_or(split.start));
                if end > size {
                    let text = format!("{name}: the file ends at byte {size}, the split at {end}");
                    return Err(Failure::Rejected(text, Vec::new()));
                }
            }
            let mut stream = input.open_at(split).map_err(named)?;
            return self.stream(name, &mut stream, Some((split, framing.as_ref())));
        }
        let stream = inputs::unpack(input.open().map_err(named)?).map_err(named)?;
        inputs::each(name, stream, &mut |_, _| {}, &mut |member, stream| {
            self.stream(member, stream, None)?;
            Ok(!self.stop.load(Ordering::Relaxed))
        })
    }

    fn stream(
        &mut self,
        name: &str,
        stream: &mut dyn Read,
        split: Option<(&Split, Option<&Framing>)>,
    ) -> Result<(), Failure> {
        if self.stop.load(Ordering::Relaxed) {
            return Ok(());
        }
        let mut settings = self.source.settings.clone();
        let before = self.totals.lock().unwrap_or_else(PoisonError::into_inner).rejects;
        let most = settings.max_rejects;
        settings.max_rejects = most.map(|most| most.saturating_sub(before));
        if let Some((_, framing)) = split {
            // That there are records in the file is known.
            settings.give_up_after = u64::MAX;
            settings.framing = framing.unwrap_or(&settings.framing).clone();
        }
        let converter = Converter::builder(&self.source.plan.plan, settings)
            .other_rules(&self.source.plan.others)
            .prepared(&self.source.prepared)
            .stop(Arc::clone(self.stop));
        let mut converter = match split {
            Some((split, _)) => converter.split(split.clone()).build(),
            None => converter.build(),
        };
        let mut marked = self.totals.lock().unwrap_or_else(PoisonError::into_inner).marked_lines();
        let mut targets = Targets {
            render: &mut *self.render,
            out: &mut io::sink(),
            header: None,
            rejects: self.rejects.as_deref_mut(),
            marks: Some(&mut marked),
        };
        let summary = converter
            .run(name, stream, &mut targets, &mut |_| ControlFlow::Continue(()))
            .map_err(|error| Failure::io(name, &error))?;
        if let Some((framing, warning)) = summary.guessed_framing() {
            let filler: String = framing.filler.iter().map(|octet| format!("{octet:02X}")).collect();
            let filler = match framing.filler[..] {
                [0x00, 0xFF] => String::new(),
                _ => format!(", filler=bytes.fromhex(\"{filler}\")"),
            };
            (self.warn)(format!(
                "{name}: {warning}; compare them with `tercet dump`, then give `framing=\"{framing}\"{filler}`"
            ));
        }
        let mut totals = self.totals.lock().unwrap_or_else(PoisonError::into_inner);
        totals.add(name, &summary);
        totals.add_marked(&marked);
        totals.rows += self.source.rows_of(&summary);
        let most = (most, self.source.settings.max_reject_share);
        match verdict(&summary, split.is_some(), most, totals.rejects) {
            None => Ok(()),
            Some(what) => {
                let first = totals.found.first().map(|found| format!("; the first at {}", found.text()));
                let text = format!("{name}: {what}{}", first.unwrap_or_default());
                Err(Failure::Rejected(text, totals.found.clone()))
            }
        }
    }
}

/// What is wrong with an input altogether.
fn verdict(
    summary: &Summary,
    split: bool,
    (most, share): (Option<u64>, Option<f64>),
    rejects: u64,
) -> Option<String> {
    let read = summary.balance.read;
    match summary.stopped {
        Some(Stopped::Rejects) => {
            let places = if rejects == 1 { "place" } else { "places" };
            let limit = match (most.filter(|most| rejects > *most), share) {
                (None, Some(share)) => format!("max_reject_ratio={share}"),
                (most, _) => format!("max_rejects={}", most.unwrap_or_default()),
            };
            Some(format!("{rejects} damaged or undecodable {places}, more than {limit} allows"))
        }
        Some(Stopped::NoRecord) => Some(format!(
            "no records in the first {read} bytes: wrong type, tags or framing? `tercet.doctor` finds them out"
        )),
        Some(Stopped::Caller | Stopped::Limit) => None,
        None if summary.records == 0 && read > 0 && !split => {
            Some(format!("no records found in {read} bytes; `tercet.doctor` finds type, tags and framing"))
        }
        None => None,
    }
}

/// Refuses a reject file that would overwrite an input, or a file that no earlier run has written.
fn guard(inputs: &[Input], rejects: &Path) -> Result<(), Overwrite> {
    let mut guard = Guard::default();
    for input in inputs {
        if let Content::File(path) = &input.content {
            guard.reads("input", path)?;
        }
    }
    RejectFile::guard(&mut guard, "`rejects`", rejects)
}
