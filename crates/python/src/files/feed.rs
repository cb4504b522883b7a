//! A thread that reads, and what it hands on: through a channel with few places, so that it runs ahead by little.

use super::failure::Failure;
use crate::interrupt::PATIENCE;
use pyo3::prelude::*;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;

/// Things that wait to be taken.
const AHEAD: usize = 2;

enum Message<T> {
    Thing(T),
    Warning(String),
    Failed(Failure),
    End,
}

/// The end of the channel in the thread.
pub(crate) struct Outlet<T> {
    messages: SyncSender<Message<T>>,
    stop: Arc<AtomicBool>,
}

impl<T> Outlet<T> {
    /// Hands something on; if nobody wants it the work is to stop.
    pub(crate) fn give(&self, thing: T) {
        if self.messages.send(Message::Thing(thing)).is_err() {
            self.stop.store(true, Ordering::Relaxed);
        }
    }

    /// Gives a warning, in the thread that takes.
    pub(crate) fn warn(&self, text: String) {
        if self.messages.send(Message::Warning(text)).is_err() {
            self.stop.store(true, Ordering::Relaxed);
        }
    }

    /// Set when nobody wants any more.
    pub(crate) fn stop(&self) -> &Arc<AtomicBool> {
        &self.stop
    }
}

/// The end of the channel that takes. The thread stops when this is dropped; nobody waits for it.
pub(crate) struct Feed<T> {
    messages: Receiver<Message<T>>,
    stop: Arc<AtomicBool>,
    over: bool,
}

impl<T: Send + 'static> Feed<T> {
    /// Begins to work.
    pub(crate) fn begin(
        work: impl FnOnce(&Outlet<T>) -> Result<(), Failure> + Send + 'static,
    ) -> io::Result<Self> {
        let (sender, messages) = sync_channel(AHEAD);
        let stop = Arc::new(AtomicBool::new(false));
        let outlet = Outlet { messages: sender, stop: Arc::clone(&stop) };
        thread::Builder::new().name("tercet".to_owned()).spawn(move || {
            let last = match work(&outlet) {
                Ok(()) => Message::End,
                Err(failure) => Message::Failed(failure),
            };
            // If nobody listens there is nobody to tell.
            drop(outlet.messages.send(last));
        })?;
        Ok(Self { messages, stop, over: false })
    }

    /// Waits for the next thing, nothing at the end, without the interpreter. That is asked now and then whether the user
    /// has interrupted.
    pub(crate) fn next_released(feed: &mut Self, py: Python<'_>) -> PyResult<Option<T>> {
        loop {
            return match feed.wait(py)? {
                None => Ok(None),
                Some(Message::Warning(text)) => {
                    warn(py, text).inspect_err(|_| feed.end())?;
                    continue;
                }
                Some(message) => feed.take(message).map_err(|failure| failure.raise(py)),
            };
        }
    }

    /// The same for those that call by the interfaces of Arrow, which know no exceptions: after an interrupt the reading
    /// has failed, and the interpreter is told once more, so that it raises `KeyboardInterrupt` where it goes on.
    pub(crate) fn next_of_arrow(feed: &mut Self, py: Python<'_>) -> Result<Option<T>, Failure> {
        loop {
            return match feed.wait(py) {
                Ok(None) => Ok(None),
                Ok(Some(Message::Warning(text))) => match warn(py, text) {
                    Ok(()) => continue,
                    // A filter has made an error of the warning.
                    Err(error) => {
                        feed.end();
                        Err(Failure::Io(io::Error::other(error.to_string())))
                    }
                },
                Ok(Some(message)) => feed.take(message),
                Err(_) => {
                    feed.end();
                    // Without it the caller still hears of the failure.
                    _ = py.import("_thread").and_then(|thread| thread.call_method0("interrupt_main"));
                    Err(Failure::Interrupted)
                }
            };
        }
    }

    /// Stops the work: nothing follows.
    fn end(&mut self) {
        self.over = true;
        self.stop.store(true, Ordering::Relaxed);
    }

    fn wait(&mut self, py: Python<'_>) -> PyResult<Option<Message<T>>> {
        while !self.over {
            let messages = &mut self.messages;
            match py.detach(move || messages.recv_timeout(PATIENCE)) {
                Ok(message) => return Ok(Some(message)),
                Err(RecvTimeoutError::Disconnected) => return Ok(Some(Message::Failed(Failure::Lost))),
                Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            }
        }
        Ok(None)
    }

    fn take(&mut self, message: Message<T>) -> Result<Option<T>, Failure> {
        match message {
            Message::Thing(thing) => Ok(Some(thing)),
            Message::End | Message::Warning(_) => {
                self.over = true;
                Ok(None)
            }
            Message::Failed(failure) => {
                self.over = true;
                Err(failure)
            }
        }
    }
}

fn warn(py: Python<'_>, text: String) -> PyResult<()> {
    py.import("warnings")?.call_method1("warn", (text,)).map(drop)
}

impl<T> Drop for Feed<T> {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}
