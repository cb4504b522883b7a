//! Between tokio and asyncio: a future in the background whose outcome a future of the event loop gets.

use super::runtime;
use pyo3::exceptions::PyStopIteration;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use std::future::Future;
use std::sync::{Mutex, PoisonError};
use tokio::task::AbortHandle;

static COROUTINE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
static RUNNING_LOOP: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
static SETTLE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// A coroutine that begins a future when it is awaited first, and gives what `finish` makes of its outcome.
pub(super) fn coroutine<'py, F, C>(py: Python<'py>, future: F, finish: C) -> PyResult<Bound<'py, PyAny>>
where
    F: Future<Output: Send> + Send + 'static,
    C: for<'p> FnOnce(Python<'p>, F::Output) -> PyResult<Bound<'p, PyAny>> + Send + 'static,
{
    let begin = Begin(Mutex::new(Some(Box::new(|py| begin(py, future, finish)))));
    COROUTINE.import(py, "tercet.ldap._coroutine", "coroutine")?.call1((begin,))
}

type Work = dyn for<'p> FnOnce(Python<'p>) -> PyResult<Bound<'p, PyAny>> + Send;

/// Called when a coroutine is awaited first.
#[pyclass(frozen)]
struct Begin(Mutex<Option<Box<Work>>>);

#[pymethods]
impl Begin {
    fn __call__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let work = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        work.ok_or_else(|| crate::error::internal("begun already"))?(py)
    }
}

/// Starts a future, and gives one of the running event loop. To cancel that one drops the other, which abandons its
/// operation.
pub(super) fn begin<'py, F, C>(py: Python<'py>, future: F, finish: C) -> PyResult<Bound<'py, PyAny>>
where
    F: Future<Output: Send> + Send + 'static,
    C: for<'p> FnOnce(Python<'p>, F::Output) -> PyResult<Bound<'p, PyAny>> + Send + 'static,
{
    let event_loop = RUNNING_LOOP.import(py, "asyncio", "get_running_loop")?.call0()?;
    let awaited = event_loop.call_method0(intern!(py, "create_future"))?;
    let (to_loop, to_settle) = (event_loop.unbind(), awaited.clone().unbind());
    let task = runtime::background()?.spawn(async move {
        let output = future.await;
        // Without an interpreter, nobody waits any more.
        _ = Python::try_attach(move |py| {
            let (failed, value) = match finish(py, output) {
                Ok(value) => (false, value),
                Err(error) => (true, error.into_value(py).into_bound(py).into_any()),
            };
            let settle = SETTLE.get_or_try_init(py, || {
                Ok::<_, PyErr>(pyo3::wrap_pyfunction!(settle, py)?.into_any().unbind())
            })?;
            // An event loop that is closed has nobody that waits either.
            to_loop.call_method1(py, intern!(py, "call_soon_threadsafe"), (settle, to_settle, failed, value))
        });
    });
    awaited.call_method1(intern!(py, "add_done_callback"), (Cancel(task.abort_handle()),))?;
    Ok(awaited)
}

/// Gives a future its outcome, on the thread of its event loop, unless it was cancelled meanwhile.
#[pyfunction]
fn settle(awaited: &Bound<'_, PyAny>, failed: bool, value: &Bound<'_, PyAny>) -> PyResult<()> {
    let py = awaited.py();
    if !awaited.call_method0(intern!(py, "done"))?.is_truthy()? {
        let name = if failed { intern!(py, "set_exception") } else { intern!(py, "set_result") };
        awaited.call_method1(name, (value,))?;
    }
    Ok(())
}

/// Called when a future of the event loop is done: if by its being cancelled, the work ends.
#[pyclass(frozen)]
struct Cancel(AbortHandle);

#[pymethods]
impl Cancel {
    fn __call__(&self, _awaited: &Bound<'_, PyAny>) {
        self.0.abort();
    }
}

/// Something to await that is there already, so that the event loop need not turn for it.
#[pyclass]
pub(super) struct Ready(Option<Py<PyAny>>);

impl Ready {
    pub(super) const fn new(value: Py<PyAny>) -> Self {
        Self(Some(value))
    }
}

#[pymethods]
impl Ready {
    fn __await__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(&mut self) -> PyResult<()> {
        Err(PyStopIteration::new_err((self.0.take(),)))
    }
}
