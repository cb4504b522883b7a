//! `tercet.iter_records`: the records of files as Python values.

use super::failure::Failure;
use super::feed::{Feed, Outlet};
use super::report::Totals;
use super::source::Source;
use crate::error::{self, Argument};
use crate::lazy::Kept;
use crate::objects::{self, Names};
use crate::octets::Held;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use tercet::dynamic::{Error, Tape, View};
use tercet::records::{Origin, RowWriter};

/// Records that are handed on at once.
const RECORDS: usize = 256;
/// Octets that are handed on at once, about.
const OCTETS: usize = 1 << 20;

/// Reads the records of files as Python values, with their places.
///
/// Paths are files, directories, globs and splits; compressed files and archives are read through.
///
/// Raises RejectError, SchemaError, OSError.
#[pyfunction]
#[pyo3(signature = (paths, schema, r#type, **options))]
pub(crate) fn iter_records(
    paths: &Bound<'_, PyAny>,
    schema: &Bound<'_, PyAny>,
    r#type: Argument<String>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Records> {
    let py = paths.py();
    let source = Arc::new(Source::new(paths, schema, &r#type.0, options)?);
    let names = Arc::new(Names::shown(py, source.rows().0.shape(), source.prepared.rendering.as_ref()));
    let totals: Arc<Mutex<Totals>> = Arc::default();
    let (reader, counts) = (Arc::clone(&source), Arc::clone(&totals));
    let work = move |outlet: &Outlet<Chunk>| {
        reader.run(&mut Collect { chunk: Chunk::default(), outlet }, outlet, &counts)
    };
    let feed = Feed::begin(work).map_err(error::io)?;
    let file = PyString::new(py, "").unbind();
    Ok(Records { source, names, totals, feed: Mutex::new(feed), chunk: Chunk::default(), next: 0, file })
}

/// Records that have been decoded.
#[derive(Default)]
struct Chunk {
    file: String,
    octets: Vec<u8>,
    records: Vec<Decoded>,
}

struct Decoded {
    tape: Tape,
    begin: usize,
    end: usize,
    index: u64,
    offset: u64,
    elements: Vec<Option<u64>>,
}

/// Collects records and hands them on.
struct Collect<'a> {
    chunk: Chunk,
    outlet: &'a Outlet<Chunk>,
}

impl Collect<'_> {
    fn give(&mut self) {
        if !self.chunk.records.is_empty() {
            self.outlet.give(std::mem::take(&mut self.chunk));
        }
    }
}

impl RowWriter for Collect<'_> {
    fn record(&mut self, value: View<'_>, origin: &Origin<'_>, _: &mut Vec<u8>) -> Result<(), Error> {
        if self.chunk.file != origin.input {
            self.give();
            origin.input.clone_into(&mut self.chunk.file);
        }
        let begin = self.chunk.octets.len();
        self.chunk.octets.extend_from_slice(value.octets());
        self.chunk.records.push(Decoded {
            tape: value.to_tape(),
            begin,
            end: self.chunk.octets.len(),
            index: origin.index,
            offset: origin.offset,
            elements: origin.elements.to_vec(),
        });
        if self.chunk.records.len() >= RECORDS || self.chunk.octets.len() >= OCTETS {
            self.give();
        }
        Ok(())
    }

    fn end(&mut self, _: &mut Vec<u8>) -> io::Result<()> {
        self.give();
        Ok(())
    }
}

/// An iterator of records.
#[pyclass(module = "tercet")]
pub(crate) struct Records {
    source: Arc<Source>,
    names: Arc<Names>,
    totals: Arc<Mutex<Totals>>,
    feed: Mutex<Feed<Chunk>>,
    chunk: Chunk,
    next: usize,
    file: Py<PyString>,
}

#[pymethods]
impl Records {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(&mut self, py: Python<'_>) -> PyResult<Option<Record>> {
        if self.next >= self.chunk.records.len() {
            let feed = self.feed.get_mut().unwrap_or_else(PoisonError::into_inner);
            self.chunk = Chunk::default();
            let Some(chunk) = Feed::next_released(feed, py)? else { return Ok(None) };
            if self.file.bind(py).to_cow()? != chunk.file {
                self.file = PyString::new(py, &chunk.file).unbind();
            }
            (self.chunk, self.next) = (chunk, 0);
        }
        let Some(record) = self.chunk.records.get_mut(self.next) else { return Ok(None) };
        self.next += 1;
        let octets = self.chunk.octets.get(record.begin..record.end).unwrap_or_default();
        let (shape, looks) = (self.source.rows().0.shape(), self.source.looks);
        let value = if looks.lazy {
            let (tape, octets) = (std::mem::take(&mut record.tape), Held::Copy(octets.to_vec()));
            Kept::new((&self.names, shape), tape, (octets, 0), looks).value(py)?
        } else {
            objects::build(py, &self.names, shape, record.tape.view(octets), looks)?
        };
        Ok(Some(Record {
            value: value.unbind(),
            file: self.file.clone_ref(py),
            index: record.index,
            offset: record.offset,
            length: octets.len() as u64,
            elements: PyTuple::new(py, &record.elements)?.unbind(),
        }))
    }

    /// The report of the files that have been read to their end.
    #[getter]
    fn report<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let totals = self.totals.lock().unwrap_or_else(PoisonError::into_inner).clone();
        totals.to_python(py, &self.source.plan)
    }
}

/// A record and its place. It can be pickled.
#[pyclass(frozen, get_all, module = "tercet")]
pub(crate) struct Record {
    /// The value.
    value: Py<PyAny>,
    /// The name of its file; of a file in an archive, that of the archive, `!`, and the name in the archive.
    file: Py<PyString>,
    /// Its number in the file, from 0.
    index: u64,
    /// The offset of its first byte in the file.
    offset: u64,
    /// Its number of bytes.
    length: u64,
    /// With `explode` and `child`, the index of the element in each list on the way; None where a list is empty or
    /// absent.
    elements: Py<PyTuple>,
}

#[pymethods]
impl Record {
    #[new]
    #[pyo3(
        signature = (value, file, index, offset, length, elements = None),
        text_signature = "(value, file, index, offset, length, elements=())"
    )]
    fn new<'py>(
        py: Python<'py>,
        value: Py<PyAny>,
        file: Argument<Bound<'py, PyString>>,
        index: Argument<u64>,
        offset: Argument<u64>,
        length: Argument<u64>,
        elements: Option<Bound<'py, PyTuple>>,
    ) -> Self {
        let elements = elements.unwrap_or_else(|| PyTuple::empty(py)).unbind();
        Self { value, file: file.0.unbind(), index: index.0, offset: offset.0, length: length.0, elements }
    }

    fn __reduce__<'py>(this: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let Self { value, file, index, offset, length, elements } = this.get();
        let parts = (value, file, index, offset, length, elements).into_pyobject(this.py())?;
        Ok((this.get_type().into_any(), parts.into_any()))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let Self { value, file, index, offset, length, elements } = self;
        let (value, file) = (value.bind(py).repr()?, file.bind(py).repr()?);
        let elements = elements.bind(py);
        let elements =
            if elements.is_empty() { String::new() } else { format!(", elements={}", elements.repr()?) };
        Ok(format!(
            "Record(value={value}, file={file}, index={index}, offset={offset}, length={length}{elements})"
        ))
    }
}

impl From<Failure> for io::Error {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Io(error) => error,
            other => Self::other(other),
        }
    }
}
