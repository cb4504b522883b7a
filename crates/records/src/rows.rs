//! From the octets of a record to its rows.

use crate::audit::{Audit, Totals};
use crate::children::Children;
use crate::convert::Settings;
use crate::dedupe::{Dedupe, Digest};
use crate::explode::Explode;
use crate::figures::Figures;
use crate::filter::{Filter, FilterState};
use crate::framing::RecordFormat;
use crate::marks::MarkTally;
use crate::other_rules::{OtherRules, plan_for, say_xml};
use crate::render::{Origin, Render};
use crate::rendering::{Rendered, Rendering, Scratch};
use tercet_dynamic::{Decoder, Error, ErrorKind, NodeId, Options, Plan, Shape, Sink, Tape};
use tercet_plan::FieldId;

/// Decodes records, shows them otherwise, leaves some out, and has rows rendered.
#[derive(Debug)]
pub(crate) struct Rows<'p> {
    pub(crate) plan: &'p Plan,
    /// How records in other rules than BER are decoded, if they are.
    pub(crate) others: Option<&'p OtherRules>,
    /// Whether the record at hand is in XER.
    is_xml: bool,
    record: NodeId,
    pub(crate) wanted: Option<Vec<bool>>,
    pub(crate) options: Options,
    pub(crate) rendering: Option<&'p Rendering>,
    pub(crate) audit: Option<Audit>,
    pub(crate) figures: Figures,
    pub(crate) dedupe: Option<Dedupe>,
    /// Whether the next record has been there before, if that is known already.
    pub(crate) repeated: Option<bool>,
    pub(crate) filter: Option<Filter>,
    pub(crate) explode: Option<&'p Explode>,
    pub(crate) children: Option<&'p Children>,
    pub(crate) decoder: Decoder,
    tape: Tape,
    /// A row of a record that has several.
    row: Tape,
    /// Rows of child tables that this record has.
    of_tables: Vec<u64>,
    filtering: FilterState,
    pub(crate) scratch: Scratch,
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
    pub(crate) fn new(plan: &'p Plan, settings: &Settings) -> Self {
        Self {
            plan,
            others: None,
            is_xml: false,
            record: settings.record,
            wanted: settings.wanted.clone(),
            options: settings.options.clone(),
            rendering: None,
            audit: None,
            figures: Figures::default(),
            dedupe: None,
            repeated: None,
            filter: None,
            explode: None,
            children: None,
            decoder: Decoder::new(),
            tape: Tape::new(),
            row: Tape::new(),
            of_tables: Vec::new(),
            filtering: FilterState::default(),
            scratch: Scratch::default(),
        }
    }

    /// One that does the same, for another thread.
    pub(crate) fn fork(&self) -> Self {
        Self {
            plan: self.plan,
            others: self.others,
            is_xml: false,
            record: self.record,
            wanted: self.wanted.clone(),
            options: self.options.clone(),
            rendering: self.rendering,
            audit: self.audit.clone(),
            figures: self.figures.clone(),
            dedupe: self.dedupe.clone(),
            repeated: None,
            filter: self.filter.clone(),
            explode: self.explode,
            children: self.children,
            decoder: Decoder::new(),
            tape: Tape::new(),
            row: Tape::new(),
            of_tables: Vec::new(),
            filtering: FilterState::default(),
            scratch: self.scratch.clone(),
        }
    }

    /// Counters at zero.
    pub(crate) fn tally(&self) -> Tally {
        let tables = self.children.map_or(0, |children| children.tables().len());
        let (children, by_field) = (vec![0; tables], vec![0; self.plan.shape.fields.len()]);
        Tally { children, by_field, ..Tally::default() }
    }

    /// The shape of records.
    pub(crate) fn shape(&self) -> &'p Shape {
        self.rendering.map_or(&self.plan.shape, |rendering| rendering.shape())
    }

    /// What the audit has added up; it begins anew.
    pub(crate) fn take_totals(&mut self) -> Option<Totals> {
        self.audit.as_mut().map(Audit::take)
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
        let mut sink = Rendered::new(&self.plan.shape, self.rendering, None, tape, &mut self.scratch);
        self.decoder.decode(self.plan, node, octets, &mut sink, options).map(drop)
    }

    /// Keeps the tables of what stands before the records.
    pub(crate) fn tables(&mut self, outer: NodeId, octets: &[u8], options: &Options) {
        let Some(rendering) = self.rendering else { return };
        let mut tape = Tape::new();
        // What is missing may still come; what there is has been said.
        _ = self.value(outer, octets, &mut tape, options);
        rendering.read_tables(tape.view(octets), &mut self.scratch);
    }

    /// What a record is known by that does not become rows yet; nothing if it is left out, or is like no other.
    pub(crate) fn digest(&mut self, octets: &[u8], offset: u64) -> Result<Option<Digest>, Error> {
        if self.filter.is_none() && self.dedupe.as_ref().is_some_and(Dedupe::is_of_octets) {
            return Ok(Some(Dedupe::digest_of_octets(octets)));
        }
        self.options.base_offset = offset;
        let shape = self.shape();
        let mut record = Undecoded {
            plan: self.plan,
            node: self.record,
            is_xml: self.is_xml,
            octets,
            options: &self.options,
            wanted: self.wanted.as_deref(),
            rendering: self.rendering,
            decoder: &mut self.decoder,
            scratch: &mut self.scratch,
            alternative: None,
        };
        self.tape.clear();
        record.say(&mut self.tape)?;
        let view = self.tape.view(octets);
        if self.filter.as_ref().is_some_and(|filter| !filter.accepts(shape, view, &mut self.filtering)) {
            return Ok(None);
        }
        Ok(self.dedupe.as_mut().and_then(|dedupe| dedupe.digest(shape, view, octets)))
    }

    /// Does something with records in a format, which are in BER otherwise.
    pub(crate) fn by<T>(
        &mut self,
        format: RecordFormat,
        at: u64,
        work: impl FnOnce(&mut Self) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let ber = self.plan;
        self.plan = plan_for(self.others, format, ber, at)?;
        self.is_xml = format == RecordFormat::Xer;
        let done = work(self);
        (self.plan, self.is_xml) = (ber, false);
        done
    }

    /// Appends the rows of a record, which is counted; nothing of either if it is rejected.
    #[inline]
    pub(crate) fn record(
        &mut self,
        octets: &[u8],
        origin: Origin<'_>,
        render: &mut dyn Render,
        out: &mut Vec<u8>,
        tally: &mut Tally,
    ) -> Result<(), Error> {
        self.options.base_offset = origin.offset;
        let shape = self.shape();
        let mut record = Undecoded {
            plan: self.plan,
            node: self.record,
            is_xml: self.is_xml,
            octets,
            options: &self.options,
            wanted: self.wanted.as_deref(),
            rendering: self.rendering,
            decoder: &mut self.decoder,
            scratch: &mut self.scratch,
            alternative: None,
        };
        let is_row = self.explode.is_none() && self.children.is_none();
        let is_compared = self.filter.is_some() || self.dedupe.is_some();
        let is_seen = is_compared || self.audit.is_some() || !self.figures.is_empty();
        if render.is_direct() && !is_seen && is_row {
            render.begin_record(out);
            let mark = out.len();
            if let Err(error) = render.undecoded(&mut record, &origin, out) {
                out.truncate(mark);
                render.drop_record();
                return Err(error);
            }
            tally.rows += 1;
            tally.count(record.alternative);
            self.scratch.marks.take_nulled(render, origin.offset);
            if !self.scratch.marks.is_empty() {
                tally.marks.take(&mut self.scratch.marks, &origin);
            }
            return Ok(());
        }
        self.tape.clear();
        record.say(&mut self.tape)?;
        let alternative = record.alternative;
        let view = self.tape.view(octets);
        if let Some(filter) = &self.filter
            && !filter.accepts(shape, view, &mut self.filtering)
        {
            if let Some(audit) = &mut self.audit {
                audit.record(shape, view);
            }
            tally.left_out += 1;
            return Ok(());
        }
        let (mut repeated, mut digest) = (self.repeated.unwrap_or(false), None);
        if let (Some(dedupe), None) = (&mut self.dedupe, self.repeated) {
            digest = dedupe.digest(shape, view, octets);
            repeated = digest.is_some_and(|digest| dedupe.has(&digest));
        }
        if repeated {
            if let Some(audit) = &mut self.audit {
                audit.record(shape, view);
            }
            tally.repeated += 1;
            return Ok(());
        }
        render.begin_record(out);
        let mark = out.len();
        let mut rows = 0;
        self.of_tables.clear();
        self.of_tables.resize(tally.children.len(), 0);
        let done = match (self.explode, self.children) {
            (None, None) => {
                rows = 1;
                render.record(view, &origin, out)
            }
            (Some(explode), _) => explode.rows(view, &mut self.row, |row, elements| {
                rows += 1;
                render.record(row.view(octets), &Origin { elements, ..origin }, out)
            }),
            (None, Some(children)) => children.rows(view, &mut self.row, |table, row, elements| {
                let (row, origin) = (row.view(octets), Origin { elements, ..origin });
                let Some(table) = table else {
                    rows = 1;
                    return render.record(row, &origin, out);
                };
                self.of_tables[table] += 1;
                render.child(table, row, &origin)
            }),
        };
        if let Err(error) = done {
            out.truncate(mark);
            render.drop_record();
            return Err(error);
        }
        if let (Some(dedupe), Some(digest)) = (&self.dedupe, digest) {
            dedupe.add(digest);
        }
        tally.rows += rows;
        self.scratch.marks.take_nulled(render, origin.offset);
        if !self.scratch.marks.is_empty() {
            tally.marks.take(&mut self.scratch.marks, &origin);
        }
        add(&mut tally.children, &self.of_tables);
        if let Some(audit) = &mut self.audit {
            audit.record(shape, view);
        }
        if !self.figures.is_empty() {
            let amount = self.rendering.map(|rendering| rendering.leaves().amount);
            self.figures.record(shape, amount, view);
        }
        tally.count(alternative);
        Ok(())
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
    wanted: Option<&'r [bool]>,
    rendering: Option<&'r Rendering>,
    decoder: &'r mut Decoder,
    scratch: &'r mut Scratch,
    /// The field by which it is counted, once it is decoded: the alternative of its innermost CHOICE.
    alternative: Option<FieldId>,
}

impl Undecoded<'_> {
    /// Decodes the record and says its value, as it is shown and as far as it is wanted, to a sink.
    ///
    /// # Errors
    /// When it does not decode; what the sink has heard is then worth nothing.
    pub fn say(&mut self, sink: &mut impl Sink) -> Result<(), Error> {
        let mut sink = Rendered::new(&self.plan.shape, self.rendering, self.wanted, sink, self.scratch);
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
