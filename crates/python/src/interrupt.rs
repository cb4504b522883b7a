//! Long work that the user can interrupt.

use crate::error;
use pyo3::prelude::*;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

/// How long an interrupt by the user may wait.
pub(crate) const PATIENCE: Duration = Duration::from_millis(50);
/// Stack of the thread, as the main thread of a process has it. Pages that are not used are not there.
const STACK: usize = 8 << 20;

/// Works on a thread with the interpreter released, and looks for signals meanwhile. After Ctrl-C nobody waits for the
/// thread: it ends by itself, and what it has made is dropped.
pub(crate) fn interruptible<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    let (sender, mut receiver) = sync_channel(1);
    let worker = thread::Builder::new().name("tercet".to_owned()).stack_size(STACK);
    // If nobody waits any more, nobody wants the outcome.
    worker.spawn(move || drop(sender.send(work()))).map_err(error::io)?;
    loop {
        let waiting = &mut receiver;
        match py.detach(move || waiting.recv_timeout(PATIENCE)) {
            Ok(done) => return Ok(done),
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(error::internal("the thread that works has ended without an outcome"));
            }
        }
    }
}
