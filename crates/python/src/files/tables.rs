//! `tercet.read_tables`: the records of files and the lists inside of them as tables, in one reading.

use super::collect::{Collect, Looks, layout};
use super::failure::Failure;
use super::feed::{Feed, Outlet};
use super::report::Totals;
use super::source::Source;
use super::table::{ArrowSchema, Batch, Latest, provenance_of, schema_capsule};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyCapsule, PyDict};
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use tercet::columns::{
    ArrowError, Builder, FFI_ArrowArrayStream, Keys, Options, RecordBatch, RecordBatchReader, SchemaRef,
    expand,
};
use tercet::dynamic::{Error, NodeId, View};
use tercet::records::{ChildTable, Origin, Render};

/// The name of the table of the records.
pub(super) const RECORDS: &str = "records";
/// Octets of contents of rows that wait for their batch, of all tables together: beyond, the largest is handed on.
const WAITING: usize = 32 << 20;

/// Record files as several tables: each time they are asked for their batches the files are read anew.
#[pyclass(frozen, module = "tercet")]
pub(crate) struct Tables {
    plan: Arc<TablesPlan>,
    latest: Latest,
}

/// What the batches of all tables are made of.
struct TablesPlan {
    source: Source,
    /// That of the records first.
    tables: Vec<TablePlan>,
    rows: usize,
}

struct TablePlan {
    name: String,
    root: NodeId,
    options: Options,
    schema: SchemaRef,
}

/// Files as the record batches of several tables.
#[pyfunction]
#[pyo3(signature = (paths, schema, r#type, *, children = None, by_type = false, columns = None, provenance = Keys::None,
    batch_rows = 65_536, integers = "int64", octets = "binary", numbers = false, item = "item", **options))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments")]
pub(crate) fn read_tables(
    paths: &Bound<'_, PyAny>,
    schema: &Bound<'_, PyAny>,
    r#type: &str,
    children: Option<&Bound<'_, PyAny>>,
    by_type: bool,
    columns: Option<Vec<String>>,
    #[pyo3(from_py_with = provenance_of)] provenance: Keys,
    batch_rows: usize,
    integers: &str,
    octets: &str,
    numbers: bool,
    item: &str,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Tables> {
    let (named, all) = wanted(children, by_type)?;
    let mut source = Source::new(paths, schema, r#type, options)?.with_tables(named, all, by_type)?;
    let looks = Looks { integers, octets, numbers, item };
    let columns = expand(source.shown(), source.plan.record, &columns.unwrap_or_default());
    let tables = tables(&source, &looks, &columns.map_err(PyValueError::new_err)?, provenance)?;
    source.settings.wanted = fields(&source, &tables);
    let plan = TablesPlan { source, tables, rows: batch_rows.max(1) };
    Ok(Tables { plan: Arc::new(plan), latest: Latest::default() })
}

/// The paths of `children`, and whether all outermost lists are wanted: so they are if nothing is said.
pub(super) fn wanted(children: Option<&Bound<'_, PyAny>>, by_type: bool) -> PyResult<(Vec<String>, bool)> {
    let Some(children) = children.filter(|children| !children.is_none()) else {
        return Ok((Vec::new(), !by_type));
    };
    if let Ok(all) = children.cast::<PyBool>() {
        return match (all.is_true(), by_type) {
            (false, false) => {
                Err(PyValueError::new_err("no children: `tercet.read` reads the records alone"))
            }
            (all, _) => Ok((Vec::new(), all)),
        };
    }
    let paths = children.extract().map(|path: String| vec![path]).or_else(|_| children.extract());
    let paths: Vec<String> =
        paths.map_err(|_| PyTypeError::new_err("children: a path, paths or a bool expected"))?;
    if paths.is_empty() && !by_type {
        return Err(PyValueError::new_err("no children: `tercet.read` reads the records alone"));
    }
    Ok((paths, false))
}

/// The tables with the columns of these paths, which begin at the record.
fn tables(
    source: &Source,
    looks: &Looks<'_>,
    columns: &[String],
    provenance: Keys,
) -> PyResult<Vec<TablePlan>> {
    let Some(child) = &source.child else { return Ok(Vec::new()) };
    let children = &child.children;
    let keys = if provenance == Keys::None { Keys::Record } else { provenance };
    let records = (RECORDS, children.root(), keys, &[][..]);
    let of_child = |table| (ChildTable::path(table), table.root(), Keys::Record, table.lists());
    let all = std::iter::once(records).chain(children.tables().iter().map(of_child));
    let table = |((name, root, keys, lists), columns)| {
        let options = looks.options(source, columns, keys, lists)?;
        let schema = layout(children.shape(), root, &options)?.schema();
        Ok(TablePlan { name: String::from(name), root, options, schema })
    };
    if children.tables().iter().any(|table| table.path() == RECORDS) {
        let text = "`records` is the name of the table of the records: read this list with `child`";
        return Err(PyValueError::new_err(text));
    }
    all.zip(children.columns(columns)).map(table).collect()
}

/// Which fields of records have to be decoded for the columns of all tables; all if there is no answer.
fn fields(source: &Source, tables: &[TablePlan]) -> Option<Vec<bool>> {
    let (shape, _) = source.rows();
    if tables.iter().all(|table| table.options.columns.is_empty()) {
        return None;
    }
    let mut all = vec![false; shape.fields.len()];
    for table in tables {
        let wanted = tercet::columns::Layout::new(shape, table.root, &table.options).wanted_fields(shape)?;
        all.iter_mut().zip(wanted).for_each(|(all, wanted)| *all |= wanted);
    }
    Some(source.wanted(all))
}

#[pymethods]
impl Tables {
    /// The names of the tables: `records`, and the paths of lists and components.
    #[getter]
    fn names(&self) -> Vec<&str> {
        self.plan.tables.iter().map(|table| table.name.as_str()).collect()
    }

    /// The columns of each table.
    #[getter]
    fn schemas<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let schemas = PyDict::new(py);
        for TablePlan { name, schema, .. } in &self.plan.tables {
            schemas.set_item(name, ArrowSchema { schema: Arc::clone(schema) })?;
        }
        Ok(schemas)
    }

    /// What came of the reading that has begun last.
    #[getter]
    fn report<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let latest = Arc::clone(&self.latest.lock().unwrap_or_else(PoisonError::into_inner));
        let totals = latest.lock().unwrap_or_else(PoisonError::into_inner).clone();
        totals.to_python(py, &self.plan.source.plan)
    }

    /// The batches of all tables as they become complete, each with the name of its table.
    fn batches(&self) -> TableBatches {
        TableBatches {
            plan: Arc::clone(&self.plan),
            latest: Arc::clone(&self.latest),
            feed: Mutex::new(None),
        }
    }

    /// All rows of all tables, held in memory.
    fn read<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let mut feed = begin(&self.plan, &self.latest).map_err(|failure| failure.raise(py))?;
        let mut held: Vec<Vec<RecordBatch>> = vec![Vec::new(); self.plan.tables.len()];
        while let Some((table, batch)) = Feed::next_released(&mut feed, py)? {
            held[table].push(batch);
        }
        let tables = PyDict::new(py);
        for (TablePlan { name, schema, .. }, batches) in self.plan.tables.iter().zip(held) {
            tables.set_item(name, HeldTable { schema: Arc::clone(schema), batches: batches.into() })?;
        }
        Ok(tables)
    }

    fn __repr__(&self) -> String {
        let inputs = self.plan.source.inputs.len();
        let s = if inputs == 1 { "" } else { "s" };
        format!("<tercet.Tables of {inputs} input{s}: {}>", self.names().join(", "))
    }
}

/// Begins to read.
fn begin(plan: &Arc<TablesPlan>, latest: &Latest) -> Result<Feed<(usize, RecordBatch)>, Failure> {
    let totals: Arc<Mutex<Totals>> = Arc::default();
    *latest.lock().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&totals);
    let plan = Arc::clone(plan);
    Ok(Feed::begin(move |outlet| plan.run(outlet, &totals))?)
}

impl TablesPlan {
    fn run(&self, outlet: &Outlet<(usize, RecordBatch)>, totals: &Mutex<Totals>) -> Result<(), Failure> {
        let (shape, _) = self.source.rows();
        let collect = |(index, table): (usize, &TablePlan)| {
            let builder = Builder::new(shape, table.root, &table.options);
            Collect::new(builder, self.rows, Box::new(move |batch| outlet.give((index, batch))))
        };
        let mut all = CollectAll { tables: self.tables.iter().enumerate().map(collect).collect() };
        self.source.run(&mut all, outlet, totals)?;
        all.tables.into_iter().try_for_each(Collect::done)
    }
}

/// Collects the rows of several tables and hands batches on.
struct CollectAll<'a> {
    tables: Vec<Collect<'a>>,
}

impl Render for CollectAll<'_> {
    fn record(&mut self, value: View<'_>, origin: &Origin<'_>, out: &mut Vec<u8>) -> Result<(), Error> {
        self.tables[0].record(value, origin, out)
    }

    fn child(&mut self, table: usize, value: View<'_>, origin: &Origin<'_>) -> Result<(), Error> {
        self.tables[table + 1].record(value, origin, &mut Vec::new())
    }

    fn begin_record(&mut self, out: &mut Vec<u8>) {
        if self.tables.iter().map(Collect::size).sum::<usize>() >= WAITING
            && let Some(largest) = self.tables.iter_mut().max_by_key(|table| table.size())
        {
            largest.batch();
        }
        self.tables.iter_mut().for_each(|table| table.begin_record(out));
    }

    fn drop_record(&mut self) {
        self.tables.iter_mut().for_each(Render::drop_record);
    }

    fn end(&mut self, out: &mut Vec<u8>) -> io::Result<()> {
        self.tables.iter_mut().try_for_each(|table| table.end(out))
    }
}

/// `Tables.batches()`.
#[pyclass(module = "tercet")]
pub(crate) struct TableBatches {
    plan: Arc<TablesPlan>,
    latest: Latest,
    /// The thread begins with the first batch that is asked for.
    feed: Mutex<Option<Feed<(usize, RecordBatch)>>>,
}

#[pymethods]
impl TableBatches {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(&mut self, py: Python<'_>) -> PyResult<Option<(&str, Batch)>> {
        let feed = self.feed.get_mut().unwrap_or_else(PoisonError::into_inner);
        let feed = match feed {
            Some(feed) => feed,
            none => none.insert(begin(&self.plan, &self.latest).map_err(|failure| failure.raise(py))?),
        };
        let next = Feed::next_released(feed, py)?;
        Ok(next.map(|(table, batch)| (self.plan.tables[table].name.as_str(), Batch { batch })))
    }
}

/// The rows of a table, held in memory.
#[pyclass(frozen, module = "tercet")]
pub(crate) struct HeldTable {
    schema: SchemaRef,
    batches: Arc<[RecordBatch]>,
}

#[pymethods]
impl HeldTable {
    /// The columns.
    #[getter]
    fn schema(&self) -> ArrowSchema {
        ArrowSchema { schema: Arc::clone(&self.schema) }
    }

    fn __len__(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        schema_capsule(py, &self.schema)
    }

    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        _ = requested_schema;
        let held = Held { schema: Arc::clone(&self.schema), batches: Arc::clone(&self.batches), next: 0 };
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(held)), c"arrow_array_stream")
    }

    fn __repr__(&self) -> String {
        format!("<tercet.HeldTable of {} rows>", self.__len__())
    }
}

/// One way through batches that are held.
struct Held {
    schema: SchemaRef,
    batches: Arc<[RecordBatch]>,
    next: usize,
}

impl Iterator for Held {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = self.batches.get(self.next).cloned().map(Ok);
        self.next += 1;
        batch
    }
}

impl RecordBatchReader for Held {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}
