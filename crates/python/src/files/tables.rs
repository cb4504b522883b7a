//! `tercet.read_tables`: the records of files and the lists inside of them as tables, in one reading.

use super::collect::{Collect, Looks, layout};
use super::failure::Failure;
use super::feed::{Feed, Outlet};
use super::held::HeldTable;
use super::made::Made;
use super::report::Totals;
use super::source::Source;
use super::table::{ArrowSchema, Batch, Latest, provenance_of};
use crate::error::{self, Argument};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use tercet::columns::{Builder, Keys, Options, RecordBatch, SchemaRef, expand};
use tercet::dynamic::{Error, NodeId, View};
use tercet::records::{EachNulled, Origin, RowWriter};

/// The name of the table of the records.
pub(super) const RECORDS: &str = "records";
/// Octets of contents of rows that wait for their batch, of all tables together: beyond, the largest is handed on.
const WAITING: usize = 32 << 20;

/// Record files as several tables that join: that of the records, and those of lists or components inside of them.
///
/// The files are read again each time that the batches are asked for, once for all tables, by a thread.
#[pyclass(frozen, module = "tercet")]
pub(crate) struct Tables {
    plan: Arc<TablesPlan>,
    latest: Latest,
    made: Made,
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

/// The records of BER files and the lists inside of them as tables, in one reading.
///
/// `children` are the paths of lists, or of components such as types of records, that get separate tables, as do
/// the lists on the way to them; by default, those are all lists that are not inside of other lists. `by_type` gives
/// a table to each alternative, where the records are a CHOICE. Rows begin with `_file` and `_record`, and those of
/// lists have their index in each list, `_` and its name: tables join by these. Where a list was, the record has the
/// number of its elements. `columns` begin at the record and belong to the table that they go into. The other
/// arguments are those of `read`.
///
/// Raises SchemaError, OSError.
#[pyfunction]
#[pyo3(
    signature = (paths, schema, r#type, *, children = None, by_type = Argument(false), columns = Argument(None),
        provenance = Keys::None, batch_rows = Argument(65_536), integers = Argument("text".to_owned()),
        octets = Argument("binary".to_owned()), numbers = Argument(false), item = Argument("item".to_owned()),
        reals = Argument("float64".to_owned()), flat = Argument(false), **options),
    text_signature = "(paths, schema, type, *, children=None, by_type=False, columns=None, provenance=False, \
        batch_rows=65536, integers='text', octets='binary', numbers=False, item='item', reals='float64', flat=False, **options)"
)]
#[expect(clippy::too_many_arguments, reason = "keyword arguments")]
pub(crate) fn read_tables(
    paths: &Bound<'_, PyAny>,
    schema: &Bound<'_, PyAny>,
    r#type: Argument<String>,
    children: Option<&Bound<'_, PyAny>>,
    by_type: Argument<bool>,
    columns: Argument<Option<Vec<String>>>,
    #[pyo3(from_py_with = provenance_of)] provenance: Keys,
    batch_rows: Argument<usize>,
    integers: Argument<String>,
    octets: Argument<String>,
    numbers: Argument<bool>,
    item: Argument<String>,
    reals: Argument<String>,
    flat: Argument<bool>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Tables> {
    let keywords = options.map_or_else(|| Ok(PyDict::new(paths.py())), |options| options.copy())?;
    keywords.set_item("by_type", by_type.0)?;
    match children.filter(|children| !children.is_none()) {
        Some(children) => keywords.set_item("children", children)?,
        None => keywords.set_item("children", !by_type.0)?,
    }
    let mut source = Source::new(paths, schema, &r#type.0, Some(&keywords))?.with_all_tables();
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
    let made = Made::new("read_tables", (paths, schema), &r#type.0, &keywords);
    let columns = expand(source.prepared.shown().shape(), source.plan.record, &columns.0.unwrap_or_default());
    let tables = tables(&source, &looks, &columns.map_err(error::argument)?, provenance)?;
    source.settings.projection = fields(&source, &tables);
    let plan = TablesPlan { source, tables, rows: batch_rows.0.max(1) };
    Ok(Tables { plan: Arc::new(plan), latest: Latest::default(), made })
}

/// The tables with the columns of these paths, which begin at the record.
fn tables(
    source: &Source,
    looks: &Looks<'_>,
    columns: &[String],
    provenance: Keys,
) -> PyResult<Vec<TablePlan>> {
    let Some(children) = &source.prepared.children else { return Ok(Vec::new()) };
    let keys = if provenance == Keys::None { Keys::Record } else { provenance };
    let shown = source.prepared.shown();
    let records = (RECORDS.to_owned(), children.root(), keys, shown.with_children(children));
    let of_children = children.tables().iter().map(|table| {
        let shown = shown.child(children, table);
        (table.path().to_owned(), table.root(), Keys::Record, shown)
    });
    let all = std::iter::once(records).chain(of_children);
    let table = |((name, root, keys, shown), columns)| {
        let options = looks.options(shown, columns, keys)?;
        let schema = layout(children.shape(), root, &options)?.schema();
        Ok(TablePlan { name, root, options, schema })
    };
    if children.tables().iter().any(|table| table.path() == RECORDS) {
        let text = "`records` is the name of the table of the records: read this list with `child`";
        return Err(error::argument(text));
    }
    all.zip(children.columns(columns)).map(table).collect()
}

/// Which fields of records have to be decoded for the columns of all tables; all if there is no answer.
fn fields(source: &Source, tables: &[TablePlan]) -> Option<Vec<bool>> {
    let (shown, _) = source.rows();
    let shape = shown.shape();
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
    /// `records`, and the paths of lists and components.
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

    /// The report of the latest reading, so far.
    #[getter]
    fn report<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let latest = Arc::clone(&self.latest.lock().unwrap_or_else(PoisonError::into_inner));
        let totals = latest.lock().unwrap_or_else(PoisonError::into_inner).clone();
        totals.to_python(py, &self.plan.source.plan)
    }

    /// Returns the batches of all tables as they become complete, each with the name of its table.
    ///
    /// Raises RejectError, OSError.
    fn batches(&self) -> TableBatches {
        TableBatches {
            plan: Arc::clone(&self.plan),
            latest: Arc::clone(&self.latest),
            feed: Mutex::new(None),
        }
    }

    /// Reads all rows of all tables into memory.
    ///
    /// Raises RejectError, OSError.
    fn read<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let mut feed = begin(&self.plan, &self.latest).map_err(|failure| failure.raise(py))?;
        let mut held: Vec<Vec<RecordBatch>> = vec![Vec::new(); self.plan.tables.len()];
        while let Some((table, batch)) = Feed::next_released(&mut feed, py)? {
            held[table].push(batch);
        }
        let tables = PyDict::new(py);
        for (TablePlan { name, schema, .. }, batches) in self.plan.tables.iter().zip(held) {
            tables.set_item(name, HeldTable::new(schema, batches))?;
        }
        Ok(tables)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        self.made.reduced(py)
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
    Feed::begin(move |outlet| plan.run(outlet, &totals)).map_err(Failure::Io)
}

impl TablesPlan {
    fn run(&self, outlet: &Outlet<(usize, RecordBatch)>, totals: &Mutex<Totals>) -> Result<(), Failure> {
        let (shown, _) = self.source.rows();
        let shape = shown.shape();
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

impl RowWriter for CollectAll<'_> {
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

    fn take_nulled(&mut self, each: &mut EachNulled<'_>) {
        self.tables.iter_mut().for_each(|table| table.take_nulled(each));
    }

    fn drop_record(&mut self) {
        self.tables.iter_mut().for_each(RowWriter::drop_record);
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
