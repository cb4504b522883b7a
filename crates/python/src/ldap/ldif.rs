//! `tercet.ldap.ldif`, and searches that become LDIF without Python objects.

use super::entries::Stream;
use super::entry::Entry;
use super::{answers, arguments, error};
use crate::error::ours;
use crate::interrupt::interruptible;
use crate::octets;
use pyo3::exceptions::PyException;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use std::cell::RefCell;
use std::fs::File;
use std::io::{self, BufReader, Cursor, Read, Write as _};
use std::path::PathBuf;
use tercet::records::Output;
use tercet_ldap::ldif::{Reader, ReaderOptions, Record, Style, difference};
use tercet_ldap::{ErrorKind, Result};
use tokio::runtime::{Handle, RuntimeFlavor};

/// Octets of LDIF that are written at once.
const CHUNK: usize = 256 << 10;

/// Records after which it is asked whether the user has interrupted.
const SIGNALS: usize = 1 << 12;

type Source = Box<dyn Read + Send + Sync>;

/// LDIF: `str` and `bytes` are it, a `Path` is that of a file with it, anything else is a file that is open.
pub(super) fn source(ldif: &Bound<'_, PyAny>) -> PyResult<Source> {
    if let Ok(text) = ldif.cast::<PyString>() {
        return Ok(Box::new(Cursor::new(text.to_cow()?.into_owned())));
    }
    if ldif.hasattr(intern!(ldif.py(), "__fspath__"))? {
        let path: PathBuf = ldif.extract()?;
        let named = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
        return Ok(Box::new(File::open(&path).map_err(named)?));
    }
    if ldif.hasattr(intern!(ldif.py(), "read"))? {
        return Ok(Box::new(OpenFile(ldif.clone().unbind())));
    }
    Ok(Box::new(Cursor::new(octets::of(ldif)?.into_owned())))
}

/// A file that Python has opened.
struct OpenFile(Py<PyAny>);

impl OpenFile {
    fn write_all(&self, mut octets: &[u8]) -> PyResult<()> {
        let write = |py: Python<'_>| {
            while !octets.is_empty() {
                let written = self.0.call_method1(py, intern!(py, "write"), (PyBytes::new(py, octets),))?;
                // A file without a buffer may take a part of it.
                let count = written.extract::<Option<usize>>(py)?.unwrap_or(octets.len());
                octets = octets.get(count..).unwrap_or_default();
            }
            Ok(())
        };
        Python::try_attach(write).unwrap_or_else(|| Err(crate::error::internal("the interpreter has ended")))
    }
}

thread_local! {
    /// What a file that is read has raised and no error of ours stands for: `KeyboardInterrupt`.
    static RAISED: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

impl Read for OpenFile {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        Python::attach(|py| {
            let read = self.0.call_method1(py, intern!(py, "read"), (room.len(),));
            let read = read.inspect_err(|error| {
                if !error.is_instance_of::<PyException>(py) {
                    RAISED.set(Some(error.clone_ref(py)));
                }
            })?;
            let read = octets::of(read.bind(py))?.into_owned();
            let filled =
                room.get_mut(..read.len()).ok_or_else(|| io::Error::other("more than was asked for"))?;
            filled.copy_from_slice(&read);
            Ok(read.len())
        })
    }
}

/// The records of LDIF.
#[pyclass(module = "tercet.ldap")]
pub(crate) struct LdifReader(Reader<BufReader<Source>>);

#[pymethods]
impl LdifReader {
    #[new]
    #[pyo3(signature = (source, *, max_line = 67_108_864, read_files = false))]
    fn new(source: &Bound<'_, PyAny>, max_line: usize, read_files: bool) -> PyResult<Self> {
        let options = ReaderOptions { line: max_line, read_files };
        Ok(Self(Reader::with_options(BufReader::with_capacity(CHUNK, ours(self::source(source))?), options)))
    }

    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        match py.detach(|| self.0.next()) {
            None => Ok(None),
            Some(Ok(record)) => answers::record(py, &record).map(Some),
            // The file was read on this thread.
            Some(Err(_)) if RAISED.with_borrow(Option::is_some) => RAISED.take().map_or(Ok(None), Err),
            Some(Err(fault)) if fault.kind() == ErrorKind::Io => {
                Err(crate::error::io(io::Error::other(fault.to_string())))
            }
            Some(Err(fault)) => Err(error::raise(py, &fault)),
        }
    }
}

/// An entry or a record as LDIF.
#[pyfunction]
pub(crate) fn ldif_text<'py>(
    record: &Bound<'py, PyAny>,
    wrap: Option<usize>,
) -> PyResult<Bound<'py, PyBytes>> {
    let (style, mut out) = (Style { wrap }, Vec::new());
    match record.cast::<Entry>() {
        Ok(entry) => style.entry(&mut out, &entry.get().0),
        Err(_) => style.record(&mut out, &ours(arguments::record(record))?),
    }
    Ok(PyBytes::new(record.py(), &out))
}

/// Changes that make entries of others.
#[pyfunction]
pub(crate) fn ldif_difference<'py>(
    before: &Bound<'py, PyAny>,
    after: &Bound<'py, PyAny>,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let py = before.py();
    let all = |records: &Bound<'py, PyAny>| -> PyResult<Vec<Result<Record>>> {
        let records = ours(records.try_iter())?.enumerate().map(|(at, record)| {
            if at % SIGNALS == SIGNALS - 1 {
                py.check_signals()?;
            }
            Ok(Ok(ours(arguments::record(&record?))?))
        });
        records.collect()
    };
    let (before, after) = (all(before)?, all(after)?);
    let changes =
        interruptible(py, move || difference(before, after))?.map_err(|fault| error::raise(py, &fault))?;
    changes.iter().map(|change| answers::record(py, change)).collect()
}

/// Where LDIF goes.
pub(super) enum Sink {
    /// A file that is there once it is complete.
    Path(Output),
    Open(Py<PyAny>),
}

impl Sink {
    /// A path, or a binary file that is open.
    pub(super) fn new(target: &Bound<'_, PyAny>) -> PyResult<Self> {
        if target.hasattr(intern!(target.py(), "write"))? {
            return Ok(Self::Open(target.clone().unbind()));
        }
        let path = ours(target.extract::<PathBuf>())?;
        Ok(Self::Path(Output::create(path).map_err(crate::error::io)?))
    }

    fn write(&mut self, octets: &[u8]) -> PyResult<()> {
        beside(|| match self {
            Self::Path(file) => file.write_all(octets).map_err(crate::error::io),
            Self::Open(file) => Python::attach(|py| OpenFile(file.clone_ref(py))).write_all(octets),
        })
    }

    /// Gives a file its name.
    fn commit(self) -> PyResult<()> {
        match self {
            Self::Path(file) => beside(|| file.commit().map_err(crate::error::io)),
            Self::Open(_) => Ok(()),
        }
    }
}

/// Does what may take its time. In the background, others wait for what this thread does beside.
fn beside<T>(work: impl FnOnce() -> T) -> T {
    match Handle::current().runtime_flavor() {
        RuntimeFlavor::MultiThread => tokio::task::block_in_place(work),
        _ => work(),
    }
}

/// Writes all entries of a search; gives their number. What came before a fault is in an open file, and no file is made
/// of a path.
pub(super) async fn copy(mut stream: Stream, mut sink: Sink, style: Style) -> Result<PyResult<u64>> {
    let (mut out, mut count) = (Vec::with_capacity(CHUNK * 2), 0);
    loop {
        let entry = stream.entry().await;
        if let Ok(Some(entry)) = &entry {
            style.entry(&mut out, entry);
            count += 1;
        }
        let is_over = !matches!(entry, Ok(Some(_)));
        if is_over || out.len() >= CHUNK {
            if let Err(fault) = sink.write(&out) {
                return Ok(Err(fault));
            }
            out.clear();
        }
        if is_over {
            return entry.map(|_| sink.commit().map(|()| count));
        }
    }
}
