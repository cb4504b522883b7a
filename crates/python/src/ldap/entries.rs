//! Searches as iterators of entries.

use super::awaitable::{self, Ready};
use super::entry::Entry;
use super::runtime::Engine;
use super::{answers, error};
use pyo3::exceptions::PyStopAsyncIteration;
use pyo3::prelude::*;
use pyo3::types::PyType;
use std::sync::Arc;
use tercet_ldap::proto::Reference;
use tercet_ldap::{Item, LdapResult, Result};
use tokio::sync::Mutex;

/// References of a search that are kept.
const REFERENCES: usize = 1000;

/// A search, and what of it is not handed out as it comes.
pub(super) struct Stream {
    entries: Option<tercet_ldap::Entries>,
    /// Whether references and intermediate responses are handed out too.
    everything: bool,
    references: Vec<Reference>,
    result: Option<LdapResult>,
}

impl Stream {
    pub(super) const fn new(entries: tercet_ldap::Entries, everything: bool) -> Self {
        Self { entries: Some(entries), everything, references: Vec::new(), result: None }
    }

    /// An entry that has already come.
    #[inline]
    fn ready(&mut self) -> Option<Result<tercet_ldap::Entry>> {
        self.entries.as_mut()?.ready()
    }

    async fn next(&mut self) -> Result<Option<Item>> {
        let Some(entries) = &mut self.entries else { return Ok(None) };
        loop {
            let Some(item) = entries.next_item().await? else {
                self.result = entries.result().cloned();
                return Ok(None);
            };
            match item {
                Item::Entry(_) => return Ok(Some(item)),
                _ if self.everything => return Ok(Some(item)),
                Item::Reference(reference) if self.references.len() < REFERENCES => {
                    self.references.push(reference);
                }
                _ => {}
            }
        }
    }

    /// The next entry.
    pub(super) async fn entry(&mut self) -> Result<Option<tercet_ldap::Entry>> {
        if let Some(entry) = self.ready() {
            return entry.map(Some);
        }
        loop {
            match self.next().await? {
                Some(Item::Entry(entry)) => return Ok(Some(entry)),
                Some(_) => {}
                None => return Ok(None),
            }
        }
    }

    fn references<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        self.references.iter().map(|reference| answers::reference(py, reference)).collect()
    }

    fn result<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.result.as_ref().map(|result| answers::result(py, result)).transpose()
    }

    /// Gives the search up.
    fn close(&mut self) {
        self.entries = None;
    }
}

fn object<'py>(py: Python<'py>, item: Item) -> PyResult<Bound<'py, PyAny>> {
    match item {
        Item::Entry(entry) => Ok(Bound::new(py, Entry(entry))?.into_any()),
        Item::Reference(reference) => answers::reference(py, &reference),
        Item::Intermediate(response) => answers::intermediate(py, &response),
        _ => Ok(py.None().into_bound(py)),
    }
}

fn generic<'py>(class: &Bound<'py, PyType>, item: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    class.py().import("types")?.getattr("GenericAlias")?.call1((class, item))
}

/// The answers to a search, as they come. Memory stays bounded however many they are; who drops it before its end
/// abandons the search.
#[pyclass(module = "tercet.ldap")]
pub(crate) struct Entries {
    // Dropped before what it runs on.
    pub(super) stream: Stream,
    pub(super) engine: Arc<Engine>,
}

#[pymethods]
impl Entries {
    /// `Entries[Entry]`, for annotations.
    #[classmethod]
    fn __class_getitem__<'py>(
        class: &Bound<'py, PyType>,
        item: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        generic(class, item)
    }

    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let outcome = match self.stream.ready() {
            Some(entry) => entry.map(|entry| Some(Item::Entry(entry))),
            None => self.engine.wait(py, self.stream.next())?,
        };
        let item = outcome.map_err(|fault| error::raise(py, &fault))?;
        item.map(|item| object(py, item)).transpose()
    }

    /// References to other servers that were not followed, a thousand at most.
    #[getter]
    fn references<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        self.stream.references(py)
    }

    /// The server's result, once the search has ended well.
    #[getter]
    fn result<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.stream.result(py)
    }

    /// Abandons the search.
    fn close(&mut self) {
        self.stream.close();
        self.engine.linger();
    }
}

/// The answers to a search, as they come.
#[pyclass(frozen, module = "tercet.ldap")]
pub(crate) struct AsyncEntries {
    pub(super) stream: Arc<Mutex<Stream>>,
}

#[pymethods]
impl AsyncEntries {
    /// `AsyncEntries[Entry]`, for annotations.
    #[classmethod]
    fn __class_getitem__<'py>(
        class: &Bound<'py, PyType>,
        item: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        generic(class, item)
    }

    fn __aiter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __anext__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let ready = self.stream.try_lock().ok().and_then(|mut stream| stream.ready());
        if let Some(entry) = ready {
            let entry = entry.map_err(|fault| error::raise(py, &fault))?;
            let value = Py::new(py, Entry(entry))?.into_any();
            return Ok(Bound::new(py, Ready::new(value))?.into_any());
        }
        let stream = Arc::clone(&self.stream);
        awaitable::begin(py, async move { stream.lock().await.next().await }, |py, outcome| {
            match outcome.map_err(|fault| error::raise(py, &fault))? {
                Some(item) => object(py, item),
                None => Err(PyStopAsyncIteration::new_err(())),
            }
        })
    }

    /// References to other servers that were not followed, a thousand at most.
    #[getter]
    fn references<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        // Who holds the lock waits for what comes next, and nobody else may ask meanwhile.
        self.stream.try_lock().map_or_else(|_| Ok(Vec::new()), |stream| stream.references(py))
    }

    /// The server's result, once the search has ended well.
    #[getter]
    fn result<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.stream.try_lock().map_or_else(|_| Ok(None), |stream| stream.result(py))
    }

    /// Abandons the search.
    fn aclose<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let stream = Arc::clone(&self.stream);
        awaitable::coroutine(py, async move { stream.lock().await.close() }, |py, ()| {
            Ok(py.None().into_bound(py))
        })
    }
}
