//! `tercet.read`: files as Arrow record batches, by the C interfaces of Arrow.

use super::collect::{Collect, Looks, layout};
use super::failure::Failure;
use super::feed::{Feed, Outlet};
use super::held::{HeldTable, SHOWN, escaped, frame, html, names};
use super::made::Made;
use super::report::Totals;
use super::source::Source;
use crate::error::{self, Argument};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyCapsule, PyDict};
use std::sync::{Arc, Mutex, PoisonError};
use tercet::columns::{
    ArrowError, Builder, FFI_ArrowArrayStream, FFI_ArrowSchema, Keys, Options, RecordBatch,
    RecordBatchReader, SchemaRef, expand, export, type_name,
};

/// Totals of the reading that has begun last.
pub(crate) type Latest = Arc<Mutex<Arc<Mutex<Totals>>>>;

/// Record files as Arrow record batches: `pyarrow.table(it)`, `polars.DataFrame(it)`, `duckdb.sql("FROM it")`.
///
/// The files are read again each time that the batches are asked for, by a thread.
#[pyclass(frozen, module = "tercet")]
pub(crate) struct Table {
    plan: Arc<BatchPlan>,
    latest: Latest,
    made: Made,
}

/// What batches are made of.
struct BatchPlan {
    source: Source,
    options: Options,
    schema: SchemaRef,
    rows: usize,
}

/// The records of BER files as a table for PyArrow, DuckDB, Polars, pandas.
///
/// `columns` picks components by their paths; nothing else is decoded. `rename` gives the columns of components other
/// names, by their paths. `provenance` adds the columns `_file`, `_record`, `_offset` and `_length`, and as `sha256`
/// one with the hash of the record's bytes, `explode` one with the number of the element, called `_` and the list's
/// name; `child` adds `_file`, `_record` and such a column for each list, and `columns` are then those of the elements.
/// `integers` is the form of an INTEGER that nothing bounds to 64 bits, `octets` that of OCTET STRING; with `numbers`
/// an ENUMERATED is one; `item` is what the elements of lists are called. `reals` is the form of REAL: `float64`, with
/// null and a mark in the report for a number beyond its range, or `text`. With `flat`, there are no structs and
/// lists: each component has a column named by its path, and a list is JSON text.
///
/// Raises SchemaError, OSError.
#[pyfunction]
#[pyo3(
    signature = (paths, schema, r#type, *, columns = Argument(None), rename = Argument(None), provenance = Keys::None,
        batch_rows = Argument(65_536), integers = Argument("text".to_owned()), octets = Argument("binary".to_owned()),
        numbers = Argument(false), item = Argument("item".to_owned()),
        reals = Argument("float64".to_owned()), flat = Argument(false), **options),
    text_signature = "(paths, schema, type, *, columns=None, rename=None, provenance=False, batch_rows=65536, \
        integers='text', octets='binary', numbers=False, item='item', reals='float64', flat=False, **options)"
)]
#[expect(clippy::too_many_arguments, reason = "keyword arguments")]
pub(crate) fn read(
    paths: &Bound<'_, PyAny>,
    schema: &Bound<'_, PyAny>,
    r#type: Argument<String>,
    columns: Argument<Option<Vec<String>>>,
    rename: Argument<Option<Bound<'_, PyDict>>>,
    #[pyo3(from_py_with = provenance_of)] provenance: Keys,
    batch_rows: Argument<usize>,
    integers: Argument<String>,
    octets: Argument<String>,
    numbers: Argument<bool>,
    item: Argument<String>,
    reals: Argument<String>,
    flat: Argument<bool>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Table> {
    let keywords = options.map_or_else(|| Ok(PyDict::new(paths.py())), |options| options.copy())?;
    let mut source = Source::new(paths, schema, &r#type.0, Some(&keywords))?;
    let looks = Looks {
        integers: &integers.0,
        octets: &octets.0,
        numbers: numbers.0,
        item: &item.0,
        reals: &reals.0,
        flat: flat.0,
    };
    looks.keep(&keywords, provenance, batch_rows.0)?;
    keywords.set_item("columns", &columns.0)?;
    keywords.set_item("rename", &rename.0)?;
    let made = Made::new("read", (paths, schema), &r#type.0, &keywords);
    let keys = match (provenance, &source.prepared.children) {
        (Keys::None, Some(_)) => Keys::Record,
        (provenance, _) => provenance,
    };
    let (shown, root) = source.rows();
    let shape = shown.shape();
    let columns = expand(shape, root, &columns.0.unwrap_or_default()).map_err(error::argument)?;
    let names =
        rename.0.map_or(Ok(Vec::new()), |rename| rename.iter().map(renaming).collect::<PyResult<_>>())?;
    let options = Options { names, ..looks.options(shown, columns, keys)? };
    let layout = layout(shape, root, &options)?;
    if let Some(name) = layout.double_name() {
        return Err(error::argument(format!("two columns are called `{name}`")));
    }
    let wanted = if options.columns.is_empty() { None } else { layout.wanted_fields(shape) };
    source.settings.projection = wanted.map(|wanted| source.wanted(wanted));
    let (schema, rows) = (layout.schema(), batch_rows.0.max(1));
    let plan = Arc::new(BatchPlan { source, options, schema, rows });
    Ok(Table { plan, latest: Latest::default(), made })
}

/// A path and its new name.
fn renaming((path, name): (Bound<'_, PyAny>, Bound<'_, PyAny>)) -> PyResult<(String, String)> {
    Ok((error::option("rename", &path)?, error::option("rename", &name)?))
}

/// What rows tell of where they came from: nothing or `False`, `True`, or `"sha256"`.
pub(super) fn provenance_of(told: &Bound<'_, PyAny>) -> PyResult<Keys> {
    if let Ok(told) = told.cast::<PyBool>() {
        return Ok(if told.is_true() { Keys::Place } else { Keys::None });
    }
    match told.extract::<&str>() {
        Ok("sha256") => Ok(Keys::Digest),
        _ => Err(error::argument("provenance: a bool or `sha256` expected")),
    }
}

#[pymethods]
impl Table {
    /// The columns: `pyarrow.schema(table.schema)`.
    #[getter]
    fn schema(&self) -> ArrowSchema {
        ArrowSchema { schema: Arc::clone(&self.plan.schema) }
    }

    /// The report of the latest reading, so far.
    #[getter]
    fn report<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let latest = Arc::clone(&self.latest.lock().unwrap_or_else(PoisonError::into_inner));
        let totals = latest.lock().unwrap_or_else(PoisonError::into_inner).clone();
        totals.to_python(py, &self.plan.source.plan)
    }

    /// Returns the batches, one after the other.
    ///
    /// Raises RejectError, OSError.
    fn batches(&self) -> Batches {
        Batches { reading: Mutex::new(self.reading(self.plan.rows)) }
    }

    /// The names of the columns.
    #[getter]
    fn columns(&self) -> Vec<&str> {
        names(&self.plan.schema)
    }

    /// Reads the first rows, and no more of the files than they take.
    ///
    /// Raises RejectError, OSError.
    #[pyo3(signature = (count = Argument(5)), text_signature = "($self, count=5)")]
    fn head(&self, py: Python<'_>, count: Argument<usize>) -> PyResult<HeldTable> {
        self.held(py, Some(count.0))
    }

    /// Reads all rows into memory.
    ///
    /// Raises RejectError, OSError.
    fn read(&self, py: Python<'_>) -> PyResult<HeldTable> {
        self.held(py, None)
    }

    /// Reads all rows as a table of PyArrow.
    ///
    /// Raises RejectError, OSError; PackageError without PyArrow.
    fn to_arrow<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        frame(this.as_any(), "to_arrow")
    }

    /// Reads all rows as a data frame of pandas.
    ///
    /// Raises RejectError, OSError; PackageError without pandas and PyArrow.
    fn to_pandas<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        frame(this.as_any(), "to_pandas")
    }

    /// Reads all rows as a data frame of Polars.
    ///
    /// Raises RejectError, OSError; PackageError without Polars.
    fn to_polars<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        frame(this.as_any(), "to_polars")
    }

    /// The number of rows, for which all files are read.
    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        let mut reading = self.reading(self.plan.rows);
        let feed = reading.feed().map_err(|failure| failure.raise(py))?;
        let mut rows = 0;
        while let Some(batch) = Feed::next_released(feed, py)? {
            rows += batch.num_rows();
        }
        Ok(rows)
    }

    /// That it is a table is no question of its rows.
    fn __bool__(&self) -> bool {
        true
    }

    /// Reads the first rows and returns them as HTML, for notebooks.
    fn _repr_html_(&self, py: Python<'_>) -> PyResult<String> {
        match self.held(py, Some(SHOWN)) {
            Ok(held) => {
                let inputs = self.inputs();
                Ok(html(&held, &format!("the first rows of {inputs}")))
            }
            Err(fault) if error::is_ours(py, &fault) => Ok(format!(
                "<pre>{}\n{}</pre>",
                escaped(&self.__repr__()),
                escaped(&fault.value(py).to_string())
            )),
            Err(fault) => Err(fault),
        }
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        self.made.reduced(py)
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
        let stream = FFI_ArrowArrayStream::new(Box::new(self.reading(self.plan.rows)));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    fn __repr__(&self) -> String {
        format!("<tercet.Table of {}: {}>", self.inputs(), self.columns().join(", "))
    }
}

impl Table {
    /// One way through the files, with so many rows in a batch at most.
    fn reading(&self, rows: usize) -> Reading {
        Reading { plan: Arc::clone(&self.plan), rows, latest: Arc::clone(&self.latest), feed: None }
    }

    /// The rows in memory, all or the first.
    fn held(&self, py: Python<'_>, count: Option<usize>) -> PyResult<HeldTable> {
        let mut left = count.unwrap_or(usize::MAX);
        let mut reading = self.reading(self.plan.rows.min(left.max(1)));
        let feed = reading.feed().map_err(|failure| failure.raise(py))?;
        let mut batches = Vec::new();
        while left > 0
            && let Some(batch) = Feed::next_released(feed, py)?
        {
            let taken = batch.slice(0, batch.num_rows().min(left));
            left -= taken.num_rows();
            batches.push(taken);
        }
        Ok(HeldTable::new(&self.plan.schema, batches))
    }

    fn inputs(&self) -> String {
        let count = self.plan.source.inputs.len();
        format!("{count} input{}", if count == 1 { "" } else { "s" })
    }
}

pub(crate) fn schema_capsule<'py>(py: Python<'py>, schema: &SchemaRef) -> PyResult<Bound<'py, PyCapsule>> {
    let schema = FFI_ArrowSchema::try_from(&**schema).map_err(|error| Failure::Arrow(error).raise(py))?;
    PyCapsule::new_with_value(py, schema, c"arrow_schema")
}

/// One way through the files; the thread begins with the first batch that is asked for.
struct Reading {
    plan: Arc<BatchPlan>,
    rows: usize,
    latest: Latest,
    feed: Option<Feed<RecordBatch>>,
}

impl Reading {
    fn feed(&mut self) -> Result<&mut Feed<RecordBatch>, Failure> {
        if self.feed.is_none() {
            let totals: Arc<Mutex<Totals>> = Arc::default();
            *self.latest.lock().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&totals);
            let (plan, rows) = (Arc::clone(&self.plan), self.rows);
            self.feed = Some(Feed::begin(move |outlet| plan.run(outlet, rows, &totals))?);
        }
        self.feed.as_mut().ok_or(Failure::Lost)
    }
}

impl Iterator for Reading {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        // Who pulls may hold the interpreter, which the thread that reads needs for file objects; and the user may want to
        // interrupt.
        let next = Python::try_attach(|py| self.feed().and_then(|feed| Feed::next_of_arrow(feed, py)));
        next.unwrap_or(Err(Failure::Lost)).map_err(ArrowError::from).transpose()
    }
}

impl RecordBatchReader for Reading {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.plan.schema)
    }
}

impl BatchPlan {
    fn run(&self, outlet: &Outlet<RecordBatch>, rows: usize, totals: &Mutex<Totals>) -> Result<(), Failure> {
        let (shown, root) = self.source.rows();
        let builder = Builder::new(shown.shape(), root, &self.options);
        let mut collect = Collect::new(builder, rows, Box::new(|batch| outlet.give(batch)));
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

/// A record batch, by Arrow's C data interface: `pyarrow.record_batch(batch)`, `polars.DataFrame(batch)`.
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

/// The columns of a table, by Arrow's C schema interface.
#[pyclass(frozen, module = "tercet")]
pub(crate) struct ArrowSchema {
    pub(crate) schema: SchemaRef,
}

#[pymethods]
impl ArrowSchema {
    /// The names of the outermost columns.
    #[getter]
    fn names(&self) -> Vec<&str> {
        names(&self.schema)
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        schema_capsule(py, &self.schema)
    }

    fn __repr__(&self) -> String {
        let columns =
            self.schema.fields().iter().map(|it| format!("{}: {}", it.name(), type_name(it.data_type())));
        columns.collect::<Vec<_>>().join("\n")
    }
}
