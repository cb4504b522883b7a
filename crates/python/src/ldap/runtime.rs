//! What futures run on: beside a call that waits for them, or in the background.

use super::{awaitable, error};
use pyo3::prelude::*;
use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tercet_ldap::Result;
use tokio::runtime::{Builder, Handle, Runtime};

/// How long a wait goes on before signals are looked at: Ctrl-C is answered in this time.
const TURN: Duration = crate::interrupt::PATIENCE;

/// The runtime of one connection without asyncio. It has no thread of its own, so that a process may fork between calls.
pub(super) struct Engine(Option<Runtime>);

impl Engine {
    pub(super) fn new() -> PyResult<Self> {
        Ok(Self(Some(Builder::new_current_thread().enable_all().build().map_err(crate::error::io)?)))
    }

    fn runtime(&self) -> PyResult<&Runtime> {
        // Finalizers may run on any thread that the interpreter is attached to, those of the background included.
        let usable = self.0.as_ref().filter(|_| Handle::try_current().is_err());
        usable.ok_or_else(|| crate::error::internal("a call that waits, on a thread that must not"))
    }

    /// Waits for a future with the interpreter released. Ctrl-C drops it, which abandons its operation.
    pub(super) fn wait<F>(&self, py: Python<'_>, future: F) -> PyResult<F::Output>
    where
        F: Future<Output: Send> + Send,
    {
        let runtime = self.runtime()?;
        let mut future = pin!(future);
        loop {
            let turn =
                py.detach(|| runtime.block_on(async { tokio::time::timeout(TURN, future.as_mut()).await }));
            match turn {
                Ok(output) => return Ok(output),
                Err(_) => py.check_signals()?,
            }
        }
    }

    /// Lets connections that are to end say so to their servers, as far as that needs no waiting.
    pub(super) fn linger(&self) {
        if let Ok(runtime) = self.runtime() {
            runtime.block_on(async {
                for _ in 0..8 {
                    tokio::task::yield_now().await;
                }
            });
        }
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.linger();
        if let Some(runtime) = self.0.take() {
            // Names may still be looked up on a thread that cannot be interrupted: nobody waits for it.
            runtime.shutdown_background();
        }
    }
}

/// The runtime in the background, for asyncio and for directories. A process that was forked has one of its own.
pub(super) fn background() -> PyResult<&'static Runtime> {
    static RUNTIME: Mutex<Option<(u32, &'static Runtime)>> = Mutex::new(None);
    let mut known = RUNTIME.lock().unwrap_or_else(PoisonError::into_inner);
    let process = std::process::id();
    if let Some((owner, runtime)) = *known
        && owner == process
    {
        return Ok(runtime);
    }
    let runtime =
        Builder::new_multi_thread().worker_threads(2).thread_name("tercet-ldap").enable_all().build();
    let runtime = runtime.map_err(crate::error::io)?;
    // It lives as long as the process: threads that end with the interpreter could not be joined safely.
    let runtime: &'static Runtime = Box::leak(Box::new(runtime));
    *known = Some((process, runtime));
    Ok(runtime)
}

/// How a connection answers: when it is done, or at once with a coroutine.
#[derive(Clone)]
pub(super) enum Mode {
    Waiting(Arc<Engine>),
    Awaited,
}

impl Mode {
    /// Runs a future; `finish` makes the Python object of what comes of it.
    pub(super) fn run<'py, F, T, C>(
        &self,
        py: Python<'py>,
        future: F,
        finish: C,
    ) -> PyResult<Bound<'py, PyAny>>
    where
        F: Future<Output = Result<T>> + Send + 'static,
        T: Send + 'static,
        C: for<'p> FnOnce(Python<'p>, T) -> PyResult<Bound<'p, PyAny>> + Send + 'static,
    {
        match self {
            Self::Waiting(engine) => {
                let output = engine.wait(py, future)?.map_err(|error| error::raise(py, &error))?;
                finish(py, output)
            }
            Self::Awaited => awaitable::coroutine(py, future, move |py, output| {
                finish(py, output.map_err(|error| error::raise(py, &error))?)
            }),
        }
    }
}
