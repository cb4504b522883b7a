//! What is to be read, and the reading of it.

use super::failure::Failure;
use super::feed::Outlet;
use super::input::{Content, Input, inputs_of};
use super::plan::{Plans, given, option};
use super::report::Totals;
use super::tables::{RECORDS, wanted as wanted_tables};
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
use tercet::dynamic::{Error, NodeId, Shape, View};
use tercet::records::{
    AuditRules, ChildTable, Children, Condition, Converter, EachNulled, Explode, Filter, FilterError,
    Framing, Guard, Origin, Overwrite, RejectFile, Render, Rendering, Settings, Split, Stopped, Summary,
    Targets, inputs,
};
use tercet::{RecordPlan, TransferSyntax};

/// Octets after which an input is given up if there is no record among them.
const GIVE_UP: u64 = 16 << 20;

/// Files, the type of their records, and how to read them.
pub(crate) struct Source {
    pub(crate) plan: RecordPlan,
    pub(crate) settings: Settings,
    pub(crate) inputs: Vec<Input>,
    pub(crate) rendering: Option<Rendering>,
    pub(crate) explode: Option<Explode>,
    pub(crate) child: Option<Child>,
    filter: Option<Filter>,
    audit: AuditRules,
    rejects: Option<PathBuf>,
    /// What values look like in Python.
    pub(crate) looks: Looks,
    /// Whether there may be nothing to read.
    allow_empty: bool,
}

/// Keyword arguments of all that reads files, besides those that say how to decode.
const OPTIONS: [&str; 20] = [
    "records",
    "framing",
    "rules",
    "filler",
    "record_limit",
    "render",
    "profile",
    "where",
    "explode",
    "child",
    "children",
    "by_type",
    "table",
    "max_rejects",
    "max_reject_ratio",
    "rejects",
    "allow_empty",
    "times",
    "oids",
    "columns",
];

/// The rows of one of the lists of records, or of all that have a table.
pub(crate) struct Child {
    pub(crate) children: Children,
    /// Which of the tables rows are of.
    table: Picked,
}

/// Which tables rows are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Picked {
    /// All, that of the records included.
    All,
    /// That of the records.
    Records,
    /// A child, by its number.
    Child(usize),
}

impl Child {
    fn new(shape: &Arc<Shape>, record: NodeId, path: String) -> PyResult<Self> {
        let path = path.replace("[]", "");
        let children = Children::new(shape, record, std::slice::from_ref(&path));
        let children = children.map_err(error::argument)?;
        // The lists on the way to it have tables too, before its own.
        let table = Picked::Child(children.tables().len() - 1);
        Ok(Self { children, table })
    }

    fn table(&self) -> Option<&ChildTable> {
        match self.table {
            Picked::Child(table) => self.children.tables().get(table),
            Picked::All | Picked::Records => None,
        }
    }
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
        let keywords = match keywords {
            Some(keywords) => keywords.copy()?,
            None => PyDict::new(py),
        };
        let list = option::<Option<String>>(&keywords, "records")?.flatten();
        let max_rejects: Option<Option<u64>> = option(&keywords, "max_rejects")?;
        let render = options::take(&keywords, "render")?;
        let profile: Option<PathBuf> = option(&keywords, "profile")?.flatten();
        let conditions = options::take(&keywords, "where")?.map_or(Ok(Vec::new()), |it| conditions(&it))?;
        let explode = option::<Option<String>>(&keywords, "explode")?.flatten();
        let child = option::<Option<String>>(&keywords, "child")?.flatten();
        let by_type = option(&keywords, "by_type")?.unwrap_or(false);
        let children = options::take(&keywords, "children")?.filter(|it| !it.is_none());
        let table = option::<Option<String>>(&keywords, "table")?.flatten();
        let allow_empty = option(&keywords, "allow_empty")?.unwrap_or(false);
        let is_one_of_several = children.is_some() || by_type;
        if table.is_some() && !is_one_of_several {
            return Err(error::argument(
                "`table` requires `children` or `by_type`, which make several tables",
            ));
        }
        let several = is_one_of_several.then(|| wanted_tables(children.as_ref(), by_type)).transpose()?;
        let max_reject_share = option::<Option<f64>>(&keywords, "max_reject_ratio")?.flatten();
        if max_reject_share.is_some_and(|share: f64| !(0.0..=1.0).contains(&share)) {
            return Err(error::argument("max_reject_ratio: a number from 0 to 1 expected"));
        }
        if explode.is_some() && child.is_some() {
            return Err(error::argument(
                "`explode` and `child` are two ways to make rows of a list: give one",
            ));
        }
        let rejects: Option<PathBuf> = option(&keywords, "rejects")?.flatten();
        let given = given(&keywords)?;
        let looks = options::looks(&keywords)?;
        let options = options::read(TransferSyntax::default(), &keywords, &OPTIONS)?;
        let schema = Schema::of(schema)?;
        let type_name = type_name.to_owned();
        let plans = Plans { type_name, list, given };
        let plan = plans.plan(py, schema.get().shared())?;
        let inputs = inputs_of(paths, Some(&plan.framing), allow_empty)?;
        let plan = plans.meant(py, schema.get(), plan, &inputs, &options)?;
        schema.get().warn(py)?;
        let (rendering, audit) =
            rendering::of(render.as_ref(), profile.as_deref(), &plan.plan.shape, plan.record)?;
        let shown = rendering.as_ref().map_or(&plan.plan.shape, Rendering::shape);
        let explode = explode.map(|path| Explode::new(shown, plan.record, &path)).transpose();
        let explode = explode.map_err(error::argument)?;
        let child = child.map(|path| Child::new(shown, plan.record, path)).transpose()?;
        let leaves = rendering.as_ref().map(Rendering::leaves);
        let filter = (!conditions.is_empty())
            .then(|| Filter::new(shown, leaves, plan.record, &conditions))
            .transpose();
        let filter = filter.map_err(|error| error::argument(error.to_string()))?;
        let part = |input: &Input| input.split.as_ref().is_some_and(|(split, _)| split.start > 0);
        if rendering.as_ref().is_some_and(Rendering::has_tables) && inputs.iter().any(part) {
            let text = "this rendering requires the header of the file, which a split does not have";
            return Err(error::argument(text));
        }
        // A share is asked for where some rejects are allowed.
        let usual = max_reject_share.is_none().then_some(0);
        let settings = Settings {
            framing: plan.framing.clone(),
            outer: plan.outer,
            record: plan.record,
            options,
            max_rejects: max_rejects.unwrap_or(usual),
            max_reject_share,
            give_up_after: GIVE_UP,
            wanted: None,
            detect: plans.given.framing.is_none(),
        };
        if let Some(path) = &rejects {
            guard(&inputs, path).map_err(|refused| error::argument(refused.to_string()))?;
        }
        let source = Self {
            plan,
            settings,
            inputs,
            rendering,
            explode,
            child,
            filter,
            audit,
            rejects,
            looks,
            allow_empty,
        };
        let Some((named, all)) = several else { return Ok(source) };
        source.with_tables(named, all, by_type)?.of_table(table.as_deref().unwrap_or(RECORDS))
    }

    /// The rows of one of its tables alone.
    fn of_table(mut self, name: &str) -> PyResult<Self> {
        let Some(child) = &mut self.child else { return Ok(self) };
        let known: Vec<&str> = child.children.tables().iter().map(ChildTable::path).collect();
        child.table = match known.iter().position(|path| *path == name) {
            Some(table) => Picked::Child(table),
            None if name == RECORDS => Picked::Records,
            None => {
                let known = known.join("`, `");
                let text = format!("there is no table `{name}`; there is `{RECORDS}`, `{known}`");
                return Err(error::argument(text));
            }
        };
        Ok(self)
    }

    /// Makes rows of all tables of records: of the lists and components at these paths, of all lists that are not inside of
    /// others, of each alternative.
    pub(crate) fn with_tables(mut self, mut paths: Vec<String>, all: bool, by_type: bool) -> PyResult<Self> {
        if self.explode.is_some() || self.child.is_some() {
            return Err(error::argument("`explode` and `child` are for one table"));
        }
        let record = self.plan.record;
        if all {
            paths.extend(Children::lists_of(self.shown(), record).map_err(error::argument)?);
        }
        if by_type {
            paths.extend(Children::alternatives_of(self.shown(), record).map_err(error::argument)?);
        }
        let children = Children::new(self.shown(), record, &paths).map_err(error::argument)?;
        self.child = Some(Child { children, table: Picked::All });
        Ok(self)
    }

    /// What records look like.
    pub(crate) fn shown(&self) -> &Arc<Shape> {
        self.rendering.as_ref().map_or(&self.plan.plan.shape, Rendering::shape)
    }

    /// What rows look like, and their type: records, unless rows are those of lists.
    pub(crate) fn rows(&self) -> (&Shape, NodeId) {
        if let Some(child) = &self.child {
            let root = child.table().map_or_else(|| child.children.root(), ChildTable::root);
            return (child.children.shape(), root);
        }
        match (&self.explode, &self.rendering) {
            (Some(explode), _) => (explode.shape(), explode.root()),
            (None, Some(rendering)) => (rendering.shape(), self.plan.record),
            (None, None) => (&self.plan.plan.shape, self.plan.record),
        }
    }

    /// The rows that have come of an input.
    fn rows_of(&self, summary: &Summary) -> u64 {
        match self.child.as_ref().map(|child| child.table) {
            Some(Picked::Child(table)) => summary.tables.get(table).map_or(0, |table| table.1),
            _ => summary.rows,
        }
    }

    /// The lists that rows tell an index of each.
    pub(crate) fn lists(&self) -> &[String] {
        match (&self.explode, &self.child) {
            (Some(explode), _) => explode.lists(),
            (None, Some(child)) => child.table().map_or(&[], ChildTable::lists),
            (None, None) => &[],
        }
    }

    /// Which fields of records have to be decoded, if these fields of rows have to be.
    pub(crate) fn wanted(&self, rows: Vec<bool>) -> Vec<bool> {
        match (&self.explode, &self.child) {
            (Some(explode), _) => explode.wanted(&rows),
            (None, Some(child)) => child.children.wanted(&rows),
            (None, None) => rows,
        }
    }

    /// Reads everything, as far as the outlet wants it, and counts.
    pub(crate) fn run<T>(
        &self,
        render: &mut dyn Render,
        outlet: &Outlet<T>,
        totals: &Mutex<Totals>,
    ) -> Result<(), Failure> {
        let picked = self.child.as_ref().map_or(Picked::All, |child| child.table);
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
    render: &'a mut dyn Render,
}

impl Render for OneTable<'_> {
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
    render: &'a mut dyn Render,
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
        let mut converter = Converter::new(&self.source.plan.plan, settings)
            .with_other_rules(&self.source.plan.others)
            .with_rendering(self.source.rendering.as_ref())
            .with_audit(&self.source.audit)
            .with_explode(self.source.explode.as_ref())
            .with_children(self.source.child.as_ref().map(|child| &child.children))
            .with_stop(Arc::clone(self.stop));
        if let Some(filter) = &self.source.filter {
            converter = converter.with_filter(filter.clone());
        }
        if let Some((split, _)) = split {
            converter = converter.with_split(split.clone());
        }
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

/// One condition, or a list of them.
fn conditions(given: &Bound<'_, PyAny>) -> PyResult<Vec<Condition>> {
    let parse = |text: String| text.parse().map_err(|error: FilterError| error::argument(error.to_string()));
    if given.is_none() {
        return Ok(Vec::new());
    }
    match given.extract::<String>() {
        Ok(text) => Ok(vec![parse(text)?]),
        Err(_) => error::option::<Vec<String>>("where", given)?.into_iter().map(parse).collect(),
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
