//! `tercet.read`: files as Arrow record batches, by the C interfaces of Arrow.

use super::collect::{Collect, Looks, layout};
use super::failure::Failure;
use super::feed::{Feed, Outlet};
use super::report::Totals;
use super::source::Source;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyCapsule, PyDict};
use std::sync::{Arc, Mutex, PoisonError};
use tercet::columns::{
    ArrowError, Builder, FFI_ArrowArrayStream, FFI_ArrowSchema, Keys, Options, RecordBatch,
    RecordBatchReader, SchemaRef, expand, export,
};

/// Totals of the reading that has begun last.
pub(crate) type Latest = Arc<Mutex<Arc<Mutex<Totals>>>>;

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
#[pyo3(signature = (paths, schema, r#type, *, columns = None, rename = None, provenance = Keys::None, batch_rows = 65_536,
    integers = "int64", octets = "binary", numbers = false, item = "item", **options))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments")]
pub(crate) fn read(
    paths: &Bound<'_, PyAny>,
    schema: &Bound<'_, PyAny>,
    r#type: &str,
    columns: Option<Vec<String>>,
    rename: Option<&Bound<'_, PyDict>>,
    #[pyo3(from_py_with = provenance_of)] provenance: Keys,
    batch_rows: usize,
    integers: &str,
    octets: &str,
    numbers: bool,
    item: &str,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Table> {
    let mut source = Source::new(paths, schema, r#type, options)?;
    let keys = match (provenance, &source.child) {
        (Keys::None, Some(_)) => Keys::Record,
        (provenance, _) => provenance,
    };
    let (shape, root) = source.rows();
    let columns = expand(shape, root, &columns.unwrap_or_default()).map_err(PyValueError::new_err)?;
    let looks = Looks { integers, octets, numbers, item };
    let names =
        rename.map_or(Ok(Vec::new()), |rename| rename.iter().map(renaming).collect::<PyResult<_>>())?;
    let options = Options { names, ..looks.options(&source, columns, keys, source.lists())? };
    let layout = layout(shape, root, &options)?;
    if let Some(name) = layout.double_name() {
        return Err(PyValueError::new_err(format!("two columns are called `{name}`")));
    }
    let wanted = if options.columns.is_empty() { None } else { layout.wanted_fields(shape) };
    source.settings.wanted = wanted.map(|wanted| source.wanted(wanted));
    let (schema, rows) = (layout.schema(), batch_rows.max(1));
    Ok(Table { plan: Arc::new(BatchPlan { source, options, schema, rows }), latest: Latest::default() })
}

/// A path and its new name.
fn renaming((path, name): (Bound<'_, PyAny>, Bound<'_, PyAny>)) -> PyResult<(String, String)> {
    Ok((path.extract()?, name.extract()?))
}

/// What rows tell of where they came from: nothing or `False`, `True`, or `"sha256"`.
pub(super) fn provenance_of(told: &Bound<'_, PyAny>) -> PyResult<Keys> {
    if let Ok(told) = told.cast::<PyBool>() {
        return Ok(if told.is_true() { Keys::Place } else { Keys::None });
    }
    match told.extract::<&str>() {
        Ok("sha256") => Ok(Keys::Digest),
        _ => Err(PyValueError::new_err("provenance: a bool or `sha256` expected")),
    }
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

pub(crate) fn schema_capsule<'py>(py: Python<'py>, schema: &SchemaRef) -> PyResult<Bound<'py, PyCapsule>> {
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
        let mut collect = Collect::new(builder, self.rows, Box::new(|batch| outlet.give(batch)));
        self.source.run(&mut collect, outlet, totals)?;
        collect.done()
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
    pub(crate) batch: RecordBatch,
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
    pub(crate) schema: SchemaRef,
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
