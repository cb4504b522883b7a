//! `tercet.HeldTable`: the rows of a table in memory, and how tables are shown.

use super::table::{ArrowSchema, Batch, schema_capsule};
use crate::error::Argument;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyList};
use std::fmt::Write as _;
use std::sync::Arc;
use tercet::columns::{ArrowError, FFI_ArrowArrayStream, RecordBatch, RecordBatchReader, SchemaRef, cell};

/// Rows that a table shows of itself.
pub(super) const SHOWN: usize = 10;

/// The rows of a table, held in memory: `pyarrow.table(it)`, `polars.DataFrame(it)`, `duckdb.sql("FROM it")`.
#[pyclass(frozen, module = "tercet")]
pub(crate) struct HeldTable {
    schema: SchemaRef,
    batches: Arc<[RecordBatch]>,
}

impl HeldTable {
    pub(crate) fn new(schema: &SchemaRef, batches: Vec<RecordBatch>) -> Self {
        Self { schema: Arc::clone(schema), batches: batches.into() }
    }

    fn cut(&self, rows: usize) -> Self {
        let mut left = rows;
        let first = self.batches.iter().map_while(|batch| {
            let taken = batch.slice(0, batch.num_rows().min(left));
            left -= taken.num_rows();
            (taken.num_rows() > 0).then_some(taken)
        });
        Self { schema: Arc::clone(&self.schema), batches: first.collect() }
    }
}

#[pymethods]
impl HeldTable {
    /// The columns: `pyarrow.schema(table.schema)`.
    #[getter]
    fn schema(&self) -> ArrowSchema {
        ArrowSchema { schema: Arc::clone(&self.schema) }
    }

    /// The names of the columns.
    #[getter]
    fn columns(&self) -> Vec<&str> {
        names(&self.schema)
    }

    /// Returns the first rows.
    #[pyo3(signature = (count = Argument(5)), text_signature = "($self, count=5)")]
    fn head(&self, count: Argument<usize>) -> Self {
        self.cut(count.0)
    }

    /// Returns the batches.
    fn batches<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, self.batches.iter().cloned().map(|batch| Batch { batch }))
    }

    /// Returns the rows as a table of PyArrow.
    ///
    /// Raises PackageError without PyArrow.
    fn to_arrow<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        frame(this.as_any(), "to_arrow")
    }

    /// Returns the rows as a data frame of pandas.
    ///
    /// Raises PackageError without pandas and PyArrow.
    fn to_pandas<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        frame(this.as_any(), "to_pandas")
    }

    /// Returns the rows as a data frame of Polars.
    ///
    /// Raises PackageError without Polars.
    fn to_polars<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        frame(this.as_any(), "to_polars")
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
        format!("<tercet.HeldTable of {} rows: {}>", self.__len__(), self.columns().join(", "))
    }

    /// Returns the first rows as HTML, for notebooks.
    fn _repr_html_(&self) -> String {
        let rows = self.__len__();
        let caption = if rows > SHOWN {
            format!("the first {SHOWN} of {rows} rows")
        } else {
            format!("{rows} row{}", if rows == 1 { "" } else { "s" })
        };
        html(&self.cut(SHOWN), &caption)
    }
}

/// The names of the columns of a schema.
pub(crate) fn names(schema: &SchemaRef) -> Vec<&str> {
    schema.fields().iter().map(|field| field.name().as_str()).collect()
}

/// A table as what another library has for tables.
pub(crate) fn frame<'py>(table: &Bound<'py, PyAny>, function: &str) -> PyResult<Bound<'py, PyAny>> {
    table.py().import("tercet._frames")?.getattr(function)?.call1((table,))
}

/// Rows as a table of HTML.
pub(super) fn html(table: &HeldTable, caption: &str) -> String {
    let mut out = String::from("<table class=\"dataframe\">\n<thead><tr>");
    for name in names(&table.schema) {
        _ = write!(out, "<th>{}</th>", escaped(name));
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for batch in &*table.batches {
        for row in 0..batch.num_rows() {
            out.push_str("<tr>");
            for column in 0..batch.num_columns() {
                _ = write!(out, "<td>{}</td>", escaped(&cell(batch, column, row).unwrap_or_default()));
            }
            out.push_str("</tr>\n");
        }
    }
    _ = write!(out, "</tbody>\n</table>\n<p>{}</p>", escaped(caption));
    out
}

/// Text for HTML.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
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
