//! From the octets of a record to its rows.

use crate::children::Children;
use crate::control_totals::{ControlTotals, Totals};
use crate::convert::Settings;
use crate::dedupe::{Dedupe, Digest};
use crate::explode::Explode;
use crate::figures::Figures;
use crate::filter::{Filter, FilterState};
use crate::framing::RecordFormat;
use crate::interpret::{Interpretation, Rendered, Scratch};
use crate::marks::MarkTally;
use crate::other_rules::{OtherRules, plan_for, say_xml};
use crate::writer::{Origin, RowWriter};
use tercet_dynamic::{Decoder, Error, ErrorKind, NodeId, Options, Plan, Shape, Sink, Tape};
use tercet_plan::FieldId;

/// What happens to records on their way to rows: the same on all threads.
#[derive(Clone, Debug)]
pub(crate) struct Steps<'p> {
    pub(crate) plan: &'p Plan,
    /// How records in other rules than BER are decoded, if they are.
    pub(crate) others: Option<&'p OtherRules>,
    record: NodeId,
    pub(crate) options: Options,
    /// For each field of the shape whether it is decoded; all if there is no answer.
    pub(crate) projection: Option<Vec<bool>>,
    pub(crate) rendering: Option<&'p Interpretation>,
    pub(crate) filter: Option<Filter>,
    pub(crate) dedupe: Option<Dedupe>,
    pub(crate) explode: Option<&'p Explode>,
    pub(crate) children: Option<&'p Children>,
    pub(crate) control_totals: Option<ControlTotals>,
    pub(crate) figures: Figures,
}

impl<'p> Steps<'p> {
    /// Returns the steps of records that become rows as they are.
    pub(crate) fn new(plan: &'p Plan, settings: &Settings) -> Self {
        Self {
            plan,
            others: None,
            record: settings.record,
            options: settings.options.clone(),
            projection: settings.projection.clone(),
            rendering: None,
            filter: None,
            dedupe: None,
            explode: None,
            children: None,
            control_totals: None,
            figures: Figures::default(),
        }
    }

    /// Returns the shape of records as they are shown.
    pub(crate) fn shape(&self) -> &'p Shape {
        self.rendering.map_or(&self.plan.shape, |rendering| rendering.shape())
    }

    /// Returns whether a record is one row.
    fn is_row(&self) -> bool {
        self.explode.is_none() && self.children.is_none()
    }

    /// Returns whether the value of a record is looked at before it becomes rows.
    fn is_seen(&self) -> bool {
        self.filter.is_some()
            || self.dedupe.is_some()
            || self.control_totals.is_some()
            || !self.figures.is_empty()
    }
}

/// Decodes records, filters them, and has their rows rendered.
#[derive(Debug)]
pub(crate) struct Rows<'p> {
    pub(crate) steps: Steps<'p>,
    /// Whether the record at hand is in XER.
    is_xml: bool,
    /// Whether the next record is a duplicate, if that is known already.
    pub(crate) repeated: Option<bool>,
    pub(crate) scratch: Scratch,
    pub(crate) decoder: Decoder,
    tape: Tape,
    /// A row of a record that has several.
    row: Tape,
    /// Rows of child tables that this record has.
    of_tables: Vec<u64>,
    filtering: FilterState,
}

/// What becomes of a record, after it is decoded.
enum Fate {
    /// It is kept; a digest is that of a record that has not been seen.
    Kept(Option<Digest>),
    /// The filter does not accept it.
    Dropped,
    /// It is a duplicate.
    Repeated,
}

/// What has come of records.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) left_out: u64,
    /// Records that have been there before.
    pub(crate) repeated: u64,
    pub(crate) rows: u64,
    /// Rows of child tables.
    children: Vec<u64>,
    /// Records by the field that they are counted by: the alternative of the innermost CHOICE.
    by_field: Vec<u64>,
    /// Values that are kept although they break the rules of their type.
    pub(crate) marks: MarkTally,
}

impl Tally {
    pub(crate) fn merge(&mut self, other: &Self) {
        self.left_out += other.left_out;
        self.repeated += other.repeated;
        self.rows += other.rows;
        add(&mut self.children, &other.children);
        add(&mut self.by_field, &other.by_field);
        self.marks.merge(&other.marks);
    }

    #[inline]
    fn count(&mut self, alternative: Option<FieldId>) {
        if let Some(count) = alternative.and_then(|field| self.by_field.get_mut(field.index())) {
            *count += 1;
        }
    }

    pub(crate) fn by_type(&self) -> Vec<(FieldId, u64)> {
        let counts = self.by_field.iter().enumerate().filter(|(_, count)| **count > 0);
        counts.map(|(index, &count)| (FieldId(index as u32), count)).collect()
    }

    /// Rows of child tables by the paths of these.
    pub(crate) fn tables(&self, children: Option<&Children>) -> Vec<(String, u64)> {
        let tables = children.map_or(&[][..], Children::tables);
        tables.iter().zip(&self.children).map(|(table, rows)| (table.path().to_owned(), *rows)).collect()
    }
}

fn add(sums: &mut [u64], others: &[u64]) {
    for (sum, other) in sums.iter_mut().zip(others) {
        *sum += other;
    }
}

impl<'p> Rows<'p> {
    pub(crate) fn new(steps: Steps<'p>) -> Self {
        Self {
            steps,
            is_xml: false,
            repeated: None,
            scratch: Scratch::default(),
            decoder: Decoder::new(),
            tape: Tape::new(),
            row: Tape::new(),
            of_tables: Vec::new(),
            filtering: FilterState::default(),
        }
    }

    /// Returns rows of the same steps for another thread, with the tables that have been read.
    pub(crate) fn fork(&self) -> Self {
        Self { scratch: self.scratch.clone(), ..Self::new(self.steps.clone()) }
    }

    /// Counters at zero.
    pub(crate) fn tally(&self) -> Tally {
        let tables = self.steps.children.map_or(0, |children| children.tables().len());
        let (children, by_field) = (vec![0; tables], vec![0; self.steps.plan.shape.fields.len()]);
        Tally { children, by_field, ..Tally::default() }
    }

    /// Takes what the control totals have come to; they begin anew.
    pub(crate) fn take_totals(&mut self) -> Option<Totals> {
        self.steps.control_totals.as_mut().map(ControlTotals::take)
    }

    /// Counts the marked values of the value decoded last, which is kept.
    pub(crate) fn count_marks(&mut self, origin: &Origin<'_>, tally: &mut Tally) {
        if !self.scratch.marks.is_empty() {
            tally.marks.take(&mut self.scratch.marks, origin);
        }
    }

    /// Decodes a value as it is shown.
    pub(crate) fn value(
        &mut self,
        node: NodeId,
        octets: &[u8],
        tape: &mut Tape,
        options: &Options,
    ) -> Result<(), Error> {
        let Steps { plan, rendering, .. } = &self.steps;
        let mut sink = Rendered::new(&plan.shape, *rendering, None, tape, &mut self.scratch);
        self.decoder.decode(plan, node, octets, &mut sink, options).map(drop)
    }

    /// Keeps the tables of what stands before the records.
    pub(crate) fn tables(&mut self, outer: NodeId, octets: &[u8], options: &Options) {
        let Some(rendering) = self.steps.rendering else { return };
        let mut tape = Tape::new();
        // What is missing may still come; what there is has been said.
        _ = self.value(outer, octets, &mut tape, options);
        rendering.read_tables(tape.view(octets), &mut self.scratch);
    }

    /// Returns the digest of a record that does not become rows yet, or `None` if the filter drops it or it is like no other.
    pub(crate) fn digest(&mut self, octets: &[u8], offset: u64) -> Result<Option<Digest>, Error> {
        if self.steps.filter.is_none() && self.steps.dedupe.as_ref().is_some_and(Dedupe::is_of_octets) {
            return Ok(Some(Dedupe::digest_of_octets(octets)));
        }
        self.decode(octets, offset)?;
        let shape = self.steps.shape();
        let view = self.tape.view(octets);
        if self.steps.filter.as_ref().is_some_and(|filter| !filter.accepts(shape, view, &mut self.filtering))
        {
            return Ok(None);
        }
        Ok(self.steps.dedupe.as_mut().and_then(|dedupe| dedupe.digest(shape, view, octets)))
    }

    /// Does something with records in a format, which are in BER otherwise.
    pub(crate) fn by<T>(
        &mut self,
        format: RecordFormat,
        at: u64,
        work: impl FnOnce(&mut Self) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let ber = self.steps.plan;
        self.steps.plan = plan_for(self.steps.others, format, ber, at)?;
        self.is_xml = format == RecordFormat::Xer;
        let done = work(self);
        (self.steps.plan, self.is_xml) = (ber, false);
        done
    }

    /// Appends the rows of a record, which is counted; nothing of either if it is rejected.
    #[inline]
    pub(crate) fn record(
        &mut self,
        octets: &[u8],
        origin: Origin<'_>,
        render: &mut dyn RowWriter,
        out: &mut Vec<u8>,
        tally: &mut Tally,
    ) -> Result<(), Error> {
        if render.is_direct() && self.steps.is_row() && !self.steps.is_seen() {
            return self.direct(octets, &origin, render, out, tally);
        }
        let alternative = self.decode(octets, origin.offset)?;
        match self.fate(octets) {
            Fate::Dropped => tally.left_out += 1,
            Fate::Repeated => tally.repeated += 1,
            Fate::Kept(digest) => {
                self.render(octets, origin, render, out, tally)?;
                if let (Some(dedupe), Some(digest)) = (&self.steps.dedupe, digest) {
                    dedupe.add(digest);
                }
                self.count(render, &origin, tally);
                self.add_up(octets);
                tally.count(alternative);
            }
        }
        // Totals around the records count those that do not become rows, too.
        let shape = self.steps.shape();
        if let Some(control_totals) = &mut self.steps.control_totals {
            control_totals.record(shape, self.tape.view(octets));
        }
        Ok(())
    }

    /// Appends a record that the renderer decodes itself.
    #[inline]
    fn direct(
        &mut self,
        octets: &[u8],
        origin: &Origin<'_>,
        render: &mut dyn RowWriter,
        out: &mut Vec<u8>,
        tally: &mut Tally,
    ) -> Result<(), Error> {
        let Self { steps, decoder, scratch, .. } = self;
        let mut record = Undecoded::new(steps, self.is_xml, octets, origin.offset, (decoder, scratch));
        render.begin_record(out);
        let mark = out.len();
        if let Err(error) = render.undecoded(&mut record, origin, out) {
            out.truncate(mark);
            render.drop_record();
            return Err(error);
        }
        let alternative = record.alternative;
        tally.rows += 1;
        tally.count(alternative);
        self.count(render, origin, tally);
        Ok(())
    }

    /// Decodes a record onto the tape. Returns the field by which it is counted.
    #[inline]
    fn decode(&mut self, octets: &[u8], offset: u64) -> Result<Option<FieldId>, Error> {
        let Self { steps, decoder, scratch, tape, .. } = self;
        let mut record = Undecoded::new(steps, self.is_xml, octets, offset, (decoder, scratch));
        tape.clear();
        record.say(tape)?;
        Ok(record.alternative)
    }

    /// Decides whether the record on the tape becomes rows.
    fn fate(&mut self, octets: &[u8]) -> Fate {
        let shape = self.steps.shape();
        let view = self.tape.view(octets);
        let Steps { filter, dedupe, .. } = &mut self.steps;
        if filter.as_ref().is_some_and(|filter| !filter.accepts(shape, view, &mut self.filtering)) {
            return Fate::Dropped;
        }
        match (self.repeated, dedupe) {
            (Some(true), _) => Fate::Repeated,
            (None, Some(dedupe)) => {
                let digest = dedupe.digest(shape, view, octets);
                match digest.is_some_and(|digest| dedupe.has(&digest)) {
                    true => Fate::Repeated,
                    false => Fate::Kept(digest),
                }
            }
            _ => Fate::Kept(None),
        }
    }

    /// Appends the rows of the record on the tape; none of them if one cannot be written.
    fn render(
        &mut self,
        octets: &[u8],
        origin: Origin<'_>,
        render: &mut dyn RowWriter,
        out: &mut Vec<u8>,
        tally: &mut Tally,
    ) -> Result<(), Error> {
        let Self { steps, tape, row: memory, of_tables, .. } = self;
        let view = tape.view(octets);
        render.begin_record(out);
        let mark = out.len();
        let mut rows = 0;
        of_tables.clear();
        of_tables.resize(tally.children.len(), 0);
        let done = match (steps.explode, steps.children) {
            (None, None) => {
                rows = 1;
                render.record(view, &origin, out)
            }
            (Some(explode), _) => explode.rows(view, memory, |row, elements| {
                rows += 1;
                render.record(row.view(octets), &Origin { elements, ..origin }, out)
            }),
            (None, Some(children)) => children.rows(view, memory, |table, row, elements| {
                let (row, origin) = (row.view(octets), Origin { elements, ..origin });
                let Some(table) = table else {
                    rows = 1;
                    return render.record(row, &origin, out);
                };
                of_tables[table] += 1;
                render.child(table, row, &origin)
            }),
        };
        if let Err(error) = done {
            out.truncate(mark);
            render.drop_record();
            return Err(error);
        }
        tally.rows += rows;
        add(&mut tally.children, of_tables);
        Ok(())
    }

    /// Counts the marked values of a record that has become rows, and the numbers that are null in them.
    #[inline]
    fn count(&mut self, render: &mut dyn RowWriter, origin: &Origin<'_>, tally: &mut Tally) {
        self.scratch.marks.take_nulled(render, origin.offset);
        self.count_marks(origin, tally);
    }

    /// Adds the record on the tape to the sums, ranges and sequences.
    fn add_up(&mut self, octets: &[u8]) {
        let shape = self.steps.shape();
        let Steps { figures, rendering, .. } = &mut self.steps;
        if !figures.is_empty() {
            let amount = rendering.map(|rendering| rendering.leaves().amount);
            figures.record(shape, amount, self.tape.view(octets));
        }
    }
}

/// A record that a renderer decodes itself, straight into its own form: nobody else has to see its value.
#[derive(Debug)]
pub struct Undecoded<'r> {
    plan: &'r Plan,
    node: NodeId,
    is_xml: bool,
    octets: &'r [u8],
    options: &'r Options,
    projection: Option<&'r [bool]>,
    rendering: Option<&'r Interpretation>,
    decoder: &'r mut Decoder,
    scratch: &'r mut Scratch,
    /// The field by which it is counted, once it is decoded: the alternative of its innermost CHOICE.
    alternative: Option<FieldId>,
}

impl<'r> Undecoded<'r> {
    #[inline]
    fn new(
        steps: &'r mut Steps<'_>,
        is_xml: bool,
        octets: &'r [u8],
        offset: u64,
        (decoder, scratch): (&'r mut Decoder, &'r mut Scratch),
    ) -> Self {
        steps.options.base_offset = offset;
        Self {
            plan: steps.plan,
            node: steps.record,
            is_xml,
            octets,
            options: &steps.options,
            projection: steps.projection.as_deref(),
            rendering: steps.rendering,
            decoder,
            scratch,
            alternative: None,
        }
    }

    /// Decodes the record and says its value, as it is shown and as far as it is projection, to a sink.
    ///
    /// # Errors
    /// When it does not decode; what the sink has heard is then worth nothing.
    pub fn say(&mut self, sink: &mut impl Sink) -> Result<(), Error> {
        let mut sink = Rendered::new(&self.plan.shape, self.rendering, self.projection, sink, self.scratch);
        let length = if self.is_xml {
            say_xml(self.plan, self.node, self.octets, &mut sink, self.options)?;
            self.octets.len()
        } else {
            self.decoder.decode(self.plan, self.node, self.octets, &mut sink, self.options)?
        };
        self.alternative = sink.alternative();
        if length != self.octets.len() {
            return Err(Error::new(ErrorKind::TrailingData, self.options.base_offset + length as u64));
        }
        Ok(())
    }
}
