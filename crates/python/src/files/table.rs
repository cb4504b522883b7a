//! `tercet.read`: files as Arrow record batches, by the C interfaces of Arrow.

use super::failure::Failure;
use super::feed::{Feed, Outlet};
use super::report::Totals;
use super::source::Source;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use tercet::columns::{
    ArrowError, Builder, FFI_ArrowArrayStream, FFI_ArrowSchema, Integers, Keys, Layout, OctetsAs, Options,
    Provenance, RecordBatch, RecordBatchReader, SchemaRef, TextAs, expand, export,
};
use tercet::dynamic::text::Octets;
use tercet::dynamic::{Error, View};
use tercet::records::{Origin, Render, Undecoded};

/// Totals of the reading that has begun last.
type Latest = Arc<Mutex<Arc<Mutex<Totals>>>>;

/// Record files as a table: each time it is asked for its batches the files are read anew.
#[pyclass(frozen, module = "tercet")]
pub(crate) struct Table {
    plan: Arc<BatchPlan>,
    latest: Latest,
}

/// What batches are made of.
struct BatchPlan {
    source: Source,
    options: Options,
    schema: SchemaRef,
    rows: usize,
}

/// Files as Arrow record batches.
#[pyfunction]
#[pyo3(signature = (paths, schema, r#type, *, columns = None, provenance = false, batch_rows = 65_536,
    integers = "int64", octets = "binary", numbers = false, item = "item", **options))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments")]
pub(crate) fn read(
    paths: &Bound<'_, PyAny>,
    schema: &Bound<'_, PyAny>,
    r#type: &str,
    columns: Option<Vec<String>>,
    provenance: bool,
    batch_rows: usize,
    integers: &str,
    octets: &str,
    numbers: bool,
    item: &str,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Table> {
    let mut source = Source::new(paths, schema, r#type, options)?;
    let texts = source.rendering.as_ref().map(|rendering| {
        let leaves = rendering.leaves();
        [
            (leaves.timestamp, TextAs::Timestamp),
            (leaves.date, TextAs::Date),
            (leaves.time, TextAs::TimeOfDay),
            (leaves.amount, TextAs::Amount),
        ]
    });
    let texts = texts.into_iter().flatten().collect();
    let keys = match (provenance, &source.child) {
        (true, _) => Keys::Place,
        (false, Some(_)) => Keys::Record,
        (false, None) => Keys::None,
    };
    let (shape, root) = source.rows();
    let columns = expand(shape, root, &columns.unwrap_or_default()).map_err(PyValueError::new_err)?;
    let options = Options {
        columns,
        integers: match integers {
            "int64" => Integers::Int64,
            "decimal" => Integers::Decimal,
            "text" => Integers::Text,
            _ => return Err(PyValueError::new_err("integers: `int64`, `decimal` or `text` expected")),
        },
        octets: match octets {
            "binary" => OctetsAs::Binary,
            "hex" => OctetsAs::Text(Octets::LowerHex),
            "HEX" => OctetsAs::Text(Octets::UpperHex),
            "base64" => OctetsAs::Text(Octets::Base64),
            _ => return Err(PyValueError::new_err("octets: `binary`, `hex`, `HEX` or `base64` expected")),
        },
        numbers,
        keys,
        elements: source.lists().to_vec(),
        item: item.to_owned(),
        names: Vec::new(),
        texts,
        dense: false,
    };
    let layout = Layout::new(shape, root, &options);
    if let Some(first) = layout.unknown_columns().first() {
        return Err(PyValueError::new_err(format!("there is no column `{first}`")));
    }
    let wanted = if options.columns.is_empty() { None } else { layout.wanted_fields(shape) };
    source.settings.wanted = wanted.map(|wanted| source.wanted(wanted));
    let (schema, rows) = (layout.schema(), batch_rows.max(1));
    Ok(Table { plan: Arc::new(BatchPlan { source, options, schema, rows }), latest: Latest::default() })
}

#[pymethods]
impl Table {
    /// The columns.
    #[getter]
    fn schema(&self) -> ArrowSchema {
        ArrowSchema { schema: Arc::clone(&self.plan.schema) }
    }

    /// What came of the reading that has begun last.
    #[getter]
    fn report<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let latest = Arc::clone(&self.latest.lock().unwrap_or_else(PoisonError::into_inner));
        let totals = latest.lock().unwrap_or_else(PoisonError::into_inner).clone();
        totals.to_python(py, &self.plan.source.plan)
    }

    /// The batches, one after the other.
    fn batches(&self) -> Batches {
        Batches { reading: Mutex::new(self.reading()) }
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        schema_capsule(py, &self.plan.schema)
    }

    /// The batches by Arrow's C stream interface. The schema is the one that there is, whatever is asked for.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        _ = requested_schema;
        let stream = FFI_ArrowArrayStream::new(Box::new(self.reading()));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    fn __repr__(&self) -> String {
        let names: Vec<&str> = self.plan.schema.fields().iter().map(|field| field.name().as_str()).collect();
        let inputs = self.plan.source.inputs.len();
        let s = if inputs == 1 { "" } else { "s" };
        format!("<tercet.Table of {inputs} input{s}: {}>", names.join(", "))
    }
}

impl Table {
    fn reading(&self) -> Reading {
        Reading { plan: Arc::clone(&self.plan), latest: Arc::clone(&self.latest), feed: None }
    }
}

fn schema_capsule<'py>(py: Python<'py>, schema: &SchemaRef) -> PyResult<Bound<'py, PyCapsule>> {
    let schema = FFI_ArrowSchema::try_from(&**schema).map_err(|error| Failure::Arrow(error).raise(py))?;
    PyCapsule::new_with_value(py, schema, c"arrow_schema")
}

/// One way through the files; the thread begins with the first batch that is asked for.
struct Reading {
    plan: Arc<BatchPlan>,
    latest: Latest,
    feed: Option<Feed<RecordBatch>>,
}

impl Reading {
    fn feed(&mut self) -> Result<&mut Feed<RecordBatch>, Failure> {
        if self.feed.is_none() {
            let totals: Arc<Mutex<Totals>> = Arc::default();
            *self.latest.lock().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&totals);
            let plan = Arc::clone(&self.plan);
            self.feed = Some(Feed::begin(move |outlet| plan.run(outlet, &totals))?);
        }
        self.feed.as_mut().ok_or(Failure::Lost)
    }
}

impl Iterator for Reading {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.feed().and_then(Feed::next).map_err(ArrowError::from).transpose()
    }
}

impl RecordBatchReader for Reading {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.plan.schema)
    }
}

impl BatchPlan {
    fn run(&self, outlet: &Outlet<RecordBatch>, totals: &Mutex<Totals>) -> Result<(), Failure> {
        let (shape, root) = self.source.rows();
        let builder = Builder::new(shape, root, &self.options);
        let mut collect = Collect { builder, before: 0, rows: self.rows, outlet, failed: None };
        self.source.run(&mut collect, outlet, totals)?;
        collect.failed.map_or(Ok(()), |error| Err(Failure::Arrow(error)))
    }
}

/// Collects rows and hands batches on.
struct Collect<'a> {
    builder: Builder<'a>,
    /// Rows of the builder before those of the record at hand.
    before: usize,
    rows: usize,
    outlet: &'a Outlet<RecordBatch>,
    failed: Option<ArrowError>,
}

fn provenance<'o>(origin: &Origin<'o>) -> Provenance<'o> {
    let Origin { input: file, index: record, offset, length, elements } = *origin;
    Provenance { file, record, offset, length: length as u64, elements }
}

impl Collect<'_> {
    fn batch(&mut self) {
        if self.builder.rows() == 0 {
            return;
        }
        match self.builder.finish() {
            Ok(batch) => self.outlet.give(batch),
            Err(error) => self.failed = self.failed.take().or(Some(error)),
        }
    }
}

impl Render for Collect<'_> {
    fn record(&mut self, value: View<'_>, origin: &Origin<'_>, _: &mut Vec<u8>) -> Result<(), Error> {
        self.builder.append(value, Some(&provenance(origin)))
    }

    fn begin_record(&mut self, _: &mut Vec<u8>) {
        if self.builder.rows() >= self.rows || self.builder.is_full() {
            self.batch();
        }
        self.before = self.builder.appended();
    }

    fn drop_record(&mut self) {
        self.builder.drop_behind(self.before);
    }

    fn is_direct(&self) -> bool {
        true
    }

    fn undecoded(
        &mut self,
        record: &mut Undecoded<'_>,
        origin: &Origin<'_>,
        _: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let mut row = self.builder.row(Some(&provenance(origin)));
        record.say(&mut row)?;
        row.end()
    }

    fn end(&mut self, _: &mut Vec<u8>) -> io::Result<()> {
        self.batch();
        Ok(())
    }
}

/// `Table.batches()`.
#[pyclass(module = "tercet")]
pub(crate) struct Batches {
    reading: Mutex<Reading>,
}

#[pymethods]
impl Batches {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(&mut self, py: Python<'_>) -> PyResult<Option<Batch>> {
        let reading = self.reading.get_mut().unwrap_or_else(PoisonError::into_inner);
        let feed = reading.feed().map_err(|failure| failure.raise(py))?;
        Ok(Feed::next_released(feed, py)?.map(|batch| Batch { batch }))
    }
}

/// One record batch.
#[pyclass(frozen, module = "tercet")]
pub(crate) struct Batch {
    batch: RecordBatch,
}

#[pymethods]
impl Batch {
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        _ = requested_schema;
        let (array, schema) = export(&self.batch).map_err(|error| Failure::Arrow(error).raise(py))?;
        let schema = PyCapsule::new_with_value(py, schema, c"arrow_schema")?;
        Ok((schema, PyCapsule::new_with_value(py, array, c"arrow_array")?))
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        schema_capsule(py, &self.batch.schema())
    }

    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }
}

/// The columns of a table.
#[pyclass(frozen, module = "tercet")]
pub(crate) struct ArrowSchema {
    schema: SchemaRef,
}

#[pymethods]
impl ArrowSchema {
    /// The names of the outermost columns.
    #[getter]
    fn names(&self) -> Vec<&str> {
        self.schema.fields().iter().map(|field| field.name().as_str()).collect()
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        schema_capsule(py, &self.schema)
    }

    fn __repr__(&self) -> String {
        let columns = self.schema.fields().iter().map(|it| format!("{}: {}", it.name(), it.data_type()));
        columns.collect::<Vec<_>>().join("\n")
    }
}
