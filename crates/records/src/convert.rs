//! The pipeline: framing, decoding, rendering, with counters and rejects; one tape and one buffer for the whole run.

use crate::balance::Balance;
use crate::builder::ConverterBuilder;
use crate::control_totals::{Checked, ControlTotals};
use crate::envelope::Envelope;
use crate::figures::Figures;
use crate::framing::{Carvings, Decodes, Framing, Item, Part, Reason, RecordFormat, RecordReader, detect_in};
use crate::interpret::Interpretation;
use crate::marks::Marks;
use crate::other_rules::Check;
use crate::parallel::Workers;
use crate::reject::{Reject, RejectFile};
use crate::rows::{Rows, Steps};
use crate::run::Run;
use crate::split::Split;
use crate::writer::{MakeWriter, Origin, RowWriter};
use std::io::{self, Read, Write};
use std::ops::{ControlFlow, RangeInclusive};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tercet_dynamic::{Discard, Error, ErrorKind, NodeId, Options, Plan, Tape, Unknown};
use tercet_plan::FieldId;

/// How an input is read: framing, types, limits.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How records are found.
    pub framing: Framing,
    /// The type around the list of records, if the framing has wrappers.
    pub outer: Option<NodeId>,
    /// The type of records.
    pub record: NodeId,
    /// How records are decoded.
    pub options: Options,
    /// Rejects that are allowed: one more ends the input. Any number by default.
    pub max_rejects: Option<u64>,
    /// The share of rejects, of these and the records, that is allowed, from 0 to 1. It is checked after [`SHARE_FROM`] of
    /// them, and at the end of the input.
    pub max_reject_share: Option<f64>,
    /// Bytes after which the input ends if no record has been found among them. A reject counts as [`REJECT_LEAST`] bytes at
    /// least, so that inputs of nothing but short ones do not fill a disk with what is said of each.
    pub give_up_after: u64,
    /// For each field of the shape whether it is decoded; all by default. Writers then see records without the others.
    pub projection: Option<Vec<bool>>,
    /// Whether to try other framings if the first bytes do not fit the one given.
    pub detect: bool,
}

/// Bytes after which an input ends by default if no record has been found among them.
const GIVE_UP_AFTER: u64 = 16 << 20;

/// Bytes that a reject counts as at least, towards [`Settings::give_up_after`]: about those of its line in a reject file.
pub const REJECT_LEAST: u64 = 256;

/// What an input came to.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// Records read, including those that do not become rows.
    pub records: u64,
    /// Records that the filter dropped.
    pub left_out: u64,
    /// Records skipped as duplicates of others in this input or one before it.
    pub repeated: u64,
    /// Rows made of records.
    pub rows: u64,
    /// Rows of child tables, by the paths of these.
    pub tables: Vec<(String, u64)>,
    /// Damaged places.
    pub rejects: u64,
    /// Elements around the records and beside their list.
    pub headers: u64,
    /// The bytes read, by what they are.
    pub balance: Balance,
    /// Bytes written.
    pub written: u64,
    /// Records by alternative: the field of the innermost CHOICE.
    pub by_type: Vec<(FieldId, u64)>,
    /// Why the rest was not read.
    pub stopped: Option<Stopped>,
    /// The first rejects.
    pub samples: Vec<Reject>,
    /// Whether the input ends inside a record, or inside the elements around them: the rest may not have been written yet.
    pub cut: bool,
    /// Whether a record was rejected for a component that its type does not have, and another policy would keep the record.
    pub extensions: bool,
    /// The framing found by trial, if it is not the one given.
    pub framing: Option<Framing>,
    /// Whether that framing skips bytes that only the trial distinguishes from records.
    pub guessed: bool,
    /// What headers of the file framing contain.
    pub carvings: Carvings,
    /// Why the components around the records could not be shown.
    pub header_error: Option<Error>,
    /// Totals around the records, compared with what was read.
    pub control_totals: Vec<Checked>,
    /// The sums, ranges and sequences of components.
    pub figures: Figures,
    /// Values that are kept although they break the rules of their type.
    pub marks: Marks,
}

impl Summary {
    /// Returns the framing found by trial if it skips bytes that nothing confirms, and a warning about it.
    pub fn guessed_framing(&self) -> Option<(&Framing, &'static str)> {
        let framing = self.framing.as_ref().filter(|_| self.guessed)?;
        Some((
            framing,
            "the framing found by trial skips bytes that nothing confirms to be headers or filler",
        ))
    }
}

/// Why an input was not read to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// More rejects than allowed.
    Rejects,
    /// No record in the first bytes.
    NoRecord,
    /// The caller ended it.
    Caller,
    /// The limit of [`ConverterBuilder::limit`] is reached.
    Limit,
}

impl Settings {
    /// Returns the settings for records of a type, without limits, and without trial of other framings.
    pub fn new(framing: Framing, record: NodeId) -> Self {
        Self {
            framing,
            outer: None,
            record,
            options: Options::default(),
            max_rejects: None,
            max_reject_share: None,
            give_up_after: GIVE_UP_AFTER,
            projection: None,
            detect: false,
        }
    }

    /// Returns whether there are more rejects than allowed; the share counts after `from` records and rejects.
    fn are_too_many(&self, summary: &Summary, from: u64) -> bool {
        let Summary { records, rejects, .. } = *summary;
        let seen = records + rejects;
        self.max_rejects.is_some_and(|most| rejects > most)
            || seen >= from && self.max_reject_share.is_some_and(|most| rejects as f64 > most * seen as f64)
    }
}

/// Records and rejects after which [`Settings::max_reject_share`] is checked before the end of the input.
pub const SHARE_FROM: u64 = 1_000;
/// Octets of records without anything else between them, after which several threads begin to work.
const SOUND: usize = 1 << 18;
/// Octets collected before they are written.
const FLUSH: usize = 1 << 18;

/// Converts inputs one after the other.
#[derive(Debug)]
pub struct Converter<'p> {
    pub(crate) rows: Rows<'p>,
    pub(crate) settings: Settings,
    out: Vec<u8>,
    stop: Option<Arc<AtomicBool>>,
    split: Option<Split>,
    /// Records that may still be kept, if there is a limit.
    remaining: Option<u64>,
    pub(crate) workers: Option<Workers<'p>>,
}

/// Where rows, rejects and marked values go.
pub struct Targets<'t> {
    /// Makes rows of records.
    pub render: &'t mut dyn RowWriter,
    /// Gets the rows.
    pub out: &'t mut dyn Write,
    /// Makes a row of the components around the list of records, one for each outermost value.
    pub header: Option<(&'t mut dyn RowWriter, &'t mut dyn Write)>,
    /// Gets rejected bytes.
    pub rejects: Option<&'t mut RejectFile>,
    /// Gets a line of JSON for each value that is kept although it breaks the rules of its type: whole lines, several at a
    /// time.
    pub marks: Option<&'t mut dyn Write>,
}

impl std::fmt::Debug for Targets<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Targets").field("rejects", &self.rejects).finish_non_exhaustive()
    }
}

impl Targets<'_> {
    /// Lends the targets to one input of several.
    pub fn reborrow(&mut self) -> Targets<'_> {
        Targets {
            render: &mut *self.render,
            out: &mut *self.out,
            header: match &mut self.header {
                Some((render, out)) => Some((&mut **render, &mut **out)),
                None => None,
            },
            rejects: self.rejects.as_deref_mut(),
            marks: match &mut self.marks {
                Some(marks) => Some(&mut **marks),
                None => None,
            },
        }
    }
}

impl<'p> Converter<'p> {
    /// Returns what makes a converter for a plan that has the types of the settings as roots.
    pub fn builder(plan: &'p Plan, settings: Settings) -> ConverterBuilder<'p> {
        ConverterBuilder::new(plan, settings)
    }

    /// Makes a converter of steps that know which fields they need.
    pub(crate) fn new(
        steps: Steps<'p>,
        settings: Settings,
        stop: Option<Arc<AtomicBool>>,
        split: Option<Split>,
        limit: Option<u64>,
    ) -> Self {
        let rows = Rows::new(steps);
        Self { rows, settings, out: Vec::new(), stop, split, remaining: limit, workers: None }
    }

    /// Decodes and writes on `count` threads where an input is long enough and undamaged; rows keep the order of the records.
    /// `make` makes the writer of each thread, which gets records of about `batch` octets at a time, more in longer inputs.
    /// The writer appends rows that do not depend on others, or gives them as a [`RowWriter::part`].
    #[must_use]
    pub fn with_workers(mut self, count: usize, batch: RangeInclusive<usize>, make: MakeWriter<'p>) -> Self {
        self.workers = (count > 1).then(|| Workers { count, batch, make });
        self
    }

    /// Sets the limit of [`ConverterBuilder::limit`] for the inputs to come.
    pub fn set_limit(&mut self, limit: Option<u64>) {
        self.remaining = limit;
    }

    /// Returns whether the limit is reached.
    pub fn is_at_limit(&self) -> bool {
        self.remaining == Some(0)
    }

    /// Returns a converter that does the same on another thread.
    #[must_use]
    pub fn fork(&self) -> Self {
        let (rows, settings) = (self.rows.fork(), self.settings.clone());
        let (stop, split) = (self.stop.clone(), self.split.clone());
        Self { rows, settings, out: Vec::new(), stop, split, remaining: self.remaining, workers: None }
    }

    /// Returns whether the flag to stop is set.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed))
    }

    /// Converts one input to its end, or to where a limit or `progress` ends it. `progress` is called about once per MiB.
    ///
    /// # Errors
    /// Those of reading and writing. Faults in records are counted instead.
    pub fn run(
        &mut self,
        name: &str,
        input: impl Read,
        targets: &mut Targets<'_>,
        progress: &mut dyn FnMut(&Summary) -> ControlFlow<()>,
    ) -> io::Result<Summary> {
        let mut run = Run {
            name,
            summary: Summary::default(),
            tally: self.rows.tally(),
            open: None,
            envelope: Envelope::default(),
            tables: false,
            next_progress: 0,
            sound: 0,
        };
        if self.is_at_limit() {
            run.summary.stopped = Some(Stopped::Limit);
            return Ok(run.summary);
        }
        let mut input = input;
        let sample = self.sample(&mut input, &mut run.summary)?;
        let framing = run.summary.framing.as_ref().unwrap_or(&self.settings.framing).clone();
        let ahead = self.workers.is_some() && self.remaining.is_none();
        let mut reader = RecordReader::new(io::Cursor::new(sample).chain(input), framing);
        if let Some(split) = &self.split {
            reader = reader.at(split);
        }
        let mut check = self.check();
        let mut is_record = |octets: &[u8]| check.decodes(RecordFormat::Ber, octets);
        self.out.clear();
        self.rows.scratch.marks.are_listed = targets.marks.is_some();
        self.rows.steps.control_totals.iter_mut().for_each(ControlTotals::reset);
        _ = self.rows.steps.figures.take();
        loop {
            if ahead && run.sound >= SOUND && run.summary.stopped.is_none() {
                run.flush(&mut self.out, targets)?;
                run.sound = 0;
                self.ahead(&mut run, &mut reader, &mut is_record, targets, progress)?;
            }
            if run.summary.stopped.is_some() {
                break;
            }
            let Some(item) = reader.next(&mut is_record)? else { break };
            if self.is_stopped() {
                run.summary.stopped = Some(Stopped::Caller);
                break;
            }
            if !self.step(&mut run, &item, targets)? {
                reader.reject();
                continue;
            }
            if self.out.len() >= FLUSH {
                run.flush(&mut self.out, targets)?;
            }
            if let Some(most) = self.remaining
                && run.kept() >= most
            {
                run.summary.stopped = Some(Stopped::Limit);
            }
            if run.summary.balance.read >= run.next_progress {
                targets.render.check()?;
                run.tally.marks.flush(&mut targets.marks)?;
                run.progress(&self.settings, progress);
            }
            if self.settings.are_too_many(&run.summary, SHARE_FROM) {
                run.summary.stopped = Some(Stopped::Rejects);
            }
        }
        if let Some(remaining) = &mut self.remaining {
            *remaining = remaining.saturating_sub(run.kept());
        }
        if run.summary.stopped.is_none() && self.settings.are_too_many(&run.summary, 1) {
            run.summary.stopped = Some(Stopped::Rejects);
        }
        run.summary.carvings = reader.carvings().clone();
        run.summary.balance.add_carvings(run.summary.carvings.headers, run.summary.carvings.unused);
        run.close_reject(targets)?;
        self.header(&mut run, targets)?;
        run.flush(&mut self.out, targets)?;
        run.summary.figures = self.rows.steps.figures.take();
        run.summary.rows = run.tally.rows;
        run.summary.tables = run.tally.tables(self.rows.steps.children);
        run.summary.left_out = run.tally.left_out;
        run.summary.repeated = run.tally.repeated;
        run.summary.by_type = run.tally.by_type();
        run.summary.marks = std::mem::take(&mut run.tally.marks.marks);
        Ok(run.summary)
    }

    /// Reads the first octets, if the framing is found by trial.
    fn sample(&self, input: &mut impl Read, summary: &mut Summary) -> io::Result<Vec<u8>> {
        if !self.settings.detect || self.split.is_some() {
            return Ok(Vec::new());
        }
        let (sample, found) = detect_in(&self.settings.framing, input, &mut self.check())?;
        summary.guessed =
            found.as_ref().is_some_and(|found| found.passes_over_more_than(&self.settings.framing));
        summary.framing = found;
        Ok(sample)
    }

    fn check(&self) -> Check<'p> {
        Check::new(self.rows.steps.plan, self.rows.steps.others, self.settings.record, &self.settings.options)
    }

    /// Handles an item. Returns false if it is rejected.
    #[inline]
    pub(crate) fn step(
        &mut self,
        run: &mut Run<'_>,
        item: &Item<'_>,
        targets: &mut Targets<'_>,
    ) -> io::Result<bool> {
        let Err(error) = self.item(run, item, targets)? else { return Ok(true) };
        run.close_reject(targets)?;
        let offset = item.offset;
        let extension =
            error.kind() == ErrorKind::UnexpectedElement && self.settings.options.unknown != Unknown::Keep;
        run.summary.extensions |= extension;
        let (reason, error) = (Reason::Undecodable, Some(error));
        run.open = Some(Reject { offset, reason, error, length: 0, extension });
        run.sound = 0;
        Ok(false)
    }

    /// Handles an item. The inner error rejects it.
    #[inline]
    fn item(
        &mut self,
        run: &mut Run<'_>,
        item: &Item<'_>,
        targets: &mut Targets<'_>,
    ) -> io::Result<Result<(), Error>> {
        if item.depth < run.envelope.depth() {
            self.header(run, targets)?;
        }
        match item.part {
            Part::Record => {
                if !std::mem::replace(&mut run.tables, true) {
                    self.tables(run);
                }
                let error = self.record(run, item, targets.render);
                if let Err(error) = error {
                    return Ok(Err(error));
                }
                if run.open.is_some() {
                    run.close_reject(targets)?;
                }
                run.summary.records += 1;
            }
            Part::RecordIn(format) => {
                if let Err(error) = self.record_in(format, run, item, targets.render) {
                    return Ok(Err(error));
                }
                run.close_reject(targets)?;
                run.summary.records += 1;
            }
            Part::Wrapper => {
                run.sound = 0;
                run.envelope.wrapper(item);
            }
            Part::Header | Part::Trailer => {
                // Outside of all wrappers only the type itself may stand.
                if item.depth == 0
                    && let Err(error) = self.outer(item)
                {
                    return Ok(Err(error));
                }
                run.envelope.member(item);
                run.summary.headers += 1;
            }
            Part::Filler | Part::Opaque => {}
            Part::Rejected { reason, continued } => run.rejected(item, reason, continued, targets)?,
        }
        run.summary.balance.add(item.part, item.octets.len());
        Ok(Ok(()))
    }

    #[inline]
    fn record(
        &mut self,
        run: &mut Run<'_>,
        item: &Item<'_>,
        render: &mut dyn RowWriter,
    ) -> Result<(), Error> {
        let (index, offset, octets) = (self.index(run.summary.records), item.offset, item.octets);
        let origin = Origin { input: run.name, index, offset, octets, elements: &[] };
        self.rows.record(octets, origin, render, &mut self.out, &mut run.tally)?;
        run.sound += octets.len();
        Ok(())
    }

    #[cold]
    fn record_in(
        &mut self,
        format: RecordFormat,
        run: &mut Run<'_>,
        item: &Item<'_>,
        render: &mut dyn RowWriter,
    ) -> Result<(), Error> {
        let (index, offset, octets) = (self.index(run.summary.records), item.offset, item.octets);
        let origin = Origin { input: run.name, index, offset, octets, elements: &[] };
        let Self { rows, out, .. } = self;
        let tally = &mut run.tally;
        rows.by(format, offset, |rows| rows.record(octets, origin, render, out, tally))?;
        run.sound += octets.len();
        Ok(())
    }

    /// Returns the number in the file of a record that has this number in the input, which may be a split.
    pub(crate) fn index(&self, record: u64) -> u64 {
        self.split.as_ref().map_or(0, |split| split.first) + record
    }

    /// Reads the components before the records, which a rendering may use to show them.
    fn tables(&mut self, run: &Run<'_>) {
        if let Some(outer) = self.settings.outer
            && self.rows.steps.rendering.is_some_and(Interpretation::has_tables)
            && let Some(octets) = run.envelope.so_far()
        {
            self.rows.tables(outer, &octets, &self.settings.options);
        }
    }

    /// Checks a value of the outer type that has no list of records.
    fn outer(&mut self, item: &Item<'_>) -> Result<(), Error> {
        let Some(outer) = self.settings.outer else { return Ok(()) };
        let Rows { decoder, steps: Steps { plan, options, .. }, .. } = &mut self.rows;
        options.base_offset = item.offset;
        decoder.decode(plan, outer, item.octets, &mut Discard, options).map(|_| ())
    }

    /// Writes the row of the components around the records, once they are complete.
    fn header(&mut self, run: &mut Run<'_>, targets: &mut Targets<'_>) -> io::Result<()> {
        let Some(octets) = run.envelope.take() else { return Ok(()) };
        run.tables = false;
        let Some(outer) = self
            .settings
            .outer
            .filter(|_| targets.header.is_some() || self.rows.steps.control_totals.is_some())
        else {
            return Ok(());
        };
        let mut options = self.settings.options.clone();
        options.base_offset = 0;
        let mut tape = Tape::new();
        // The records have been taken out: what is left may break a size constraint, not the syntax.
        let mut row = Vec::new();
        let origin = Origin {
            input: run.name,
            index: 0,
            offset: run.envelope.offset(),
            octets: &octets,
            elements: &[],
        };
        let done = self.rows.value(outer, &octets, &mut tape, &options);
        if done.is_ok() {
            self.rows.count_marks(&origin, &mut run.tally);
        }
        let shape = self.rows.steps.shape();
        // A split has not seen all, nor has a run that was stopped.
        let all = self.split.is_none() && run.summary.stopped.is_none();
        if let (Ok(()), Some(control_totals), true) = (&done, &mut self.rows.steps.control_totals, all) {
            run.summary.control_totals.extend(control_totals.header(shape, tape.view(&octets)));
        }
        let Some((render, out)) = &mut targets.header else { return Ok(()) };
        match done.and_then(|()| render.record(tape.view(&octets), &origin, &mut row)) {
            Ok(()) => out.write_all(&row),
            Err(error) => {
                run.summary.header_error = Some(error);
                Ok(())
            }
        }
    }
}
