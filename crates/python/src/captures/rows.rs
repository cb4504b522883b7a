//! Messages of one type as record batches of Arrow.

use super::source::Source;
use crate::error;
use crate::files::{Collect, Failure, Feed, HeldTable, Looks, Outlet, layout};
use crate::interrupt::interruptible;
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::Arc;
use tercet::captures::capture::protocol_and_type;
use tercet::captures::{Envelope, missing};
use tercet::columns::{
    ArrowError, Builder, Keys, Options, RecordBatch, RecordBatchReader, SchemaRef, expand,
};
use tercet::dynamic::Tape;
use tercet::records::{Origin, Prepared, RowWriter as _};

/// What rows are made of.
pub(super) struct RowPlan {
    envelope: Envelope,
    place: PathBuf,
    type_name: String,
    options: Options,
    pub(super) schema: SchemaRef,
}

impl RowPlan {
    /// Finds the specification of the one protocol, and lays out the columns.
    pub(super) fn new(py: Python<'_>, source: &Source) -> PyResult<Self> {
        let [name] = &source.protocols[..] else {
            return Err(error::argument("a table has the messages of one protocol: `protocol=\"ngap\"`"));
        };
        let (protocol, variant) = protocol_and_type(name).map_err(error::argument)?;
        let (specifications, of) = (source.specifications.clone(), variant.clone());
        let (found, refused) = interruptible(py, move || specifications.of(protocol, of.as_deref()))?;
        let Some(specification) = found.into_iter().next() else {
            let text = refused.into_iter().next().unwrap_or_else(|| missing(protocol, variant.as_deref()));
            return Err(error::schema(py, &text, |_| Ok(())));
        };
        let envelope = Envelope::new(&specification.plan.shape, specification.root, protocol, source.form);
        let prepared = Prepared::new(&envelope.shape, envelope.root);
        let looks = Looks {
            integers: "text",
            octets: "binary",
            numbers: false,
            item: "item",
            reals: "float64",
            flat: source.flat,
        };
        let columns = expand(&envelope.shape, envelope.root, &source.columns).map_err(error::argument)?;
        let options = looks.options(prepared.shown(), columns, Keys::None)?;
        let schema = layout(&envelope.shape, envelope.root, &options)?.schema();
        drop(prepared);
        Ok(Self { place: specification.place, type_name: specification.type_name, envelope, options, schema })
    }

    /// Reads the messages and hands batches on.
    fn run(&self, source: &Source, outlet: &Outlet<RecordBatch>) -> Result<(), Failure> {
        let builder = Builder::new(&self.envelope.shape, self.envelope.root, &self.options);
        let mut collect = Collect::new(builder, source.batch_rows, Box::new(|batch| outlet.give(batch)));
        let (mut row, mut index, mut out) = (Tape::new(), 0, Vec::new());
        source.run(false, outlet, &mut |pdu, decoded, value, file| {
            // Another specification of the protocol has other columns.
            let value = value.filter(|(by, _)| by.place == self.place && by.type_name == self.type_name);
            self.envelope.row(pdu, decoded, value.map(|(_, view)| view), &mut row);
            collect.begin_record(&mut out);
            let origin = Origin { input: file, index, offset: 0, octets: pdu.octets, elements: &[] };
            index += 1;
            if let Err(fault) = collect.record(row.view(pdu.octets), &origin, &mut out) {
                collect.drop_record();
                outlet.warn(format!("{file}: frame {}: {fault}", pdu.frame));
            }
            Ok(())
        })?;
        collect.end(&mut out)?;
        collect.done()
    }
}

/// One way through the captures; the thread begins with the first batch that is asked for.
pub(super) struct Reading {
    source: Arc<Source>,
    plan: Arc<RowPlan>,
    feed: Option<Feed<RecordBatch>>,
}

impl Reading {
    pub(super) fn new(source: &Arc<Source>, plan: Arc<RowPlan>) -> Self {
        Self { source: Arc::clone(source), plan, feed: None }
    }

    /// Reads all rows into memory.
    pub(super) fn held(mut self, py: Python<'_>) -> PyResult<HeldTable> {
        let schema = Arc::clone(&self.plan.schema);
        let feed = self.feed().map_err(|failure| failure.raise(py))?;
        let mut batches = Vec::new();
        while let Some(batch) = Feed::next_released(feed, py)? {
            batches.push(batch);
        }
        Ok(HeldTable::new(&schema, batches))
    }

    fn feed(&mut self) -> Result<&mut Feed<RecordBatch>, Failure> {
        if self.feed.is_none() {
            let (source, plan) = (Arc::clone(&self.source), Arc::clone(&self.plan));
            self.feed = Some(Feed::begin(move |outlet| plan.run(&source, outlet))?);
        }
        self.feed.as_mut().ok_or(Failure::Lost)
    }
}

impl Iterator for Reading {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = Python::try_attach(|py| self.feed().and_then(|feed| Feed::next_of_arrow(feed, py)));
        next.unwrap_or(Err(Failure::Lost)).map_err(ArrowError::from).transpose()
    }
}

impl RecordBatchReader for Reading {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.plan.schema)
    }
}
