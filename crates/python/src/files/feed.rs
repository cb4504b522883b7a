//! A thread that reads, and what it hands on: through a channel with few places, so that it runs ahead by little.

use super::failure::Failure;
use pyo3::prelude::*;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

/// Things that wait to be taken.
const AHEAD: usize = 2;
/// How long an interrupt by the user may wait.
const PATIENCE: Duration = Duration::from_millis(100);

enum Message<T> {
    Thing(T),
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

    /// Waits for the next thing; nothing at the end.
    pub(crate) fn next(&mut self) -> Result<Option<T>, Failure> {
        if self.over {
            return Ok(None);
        }
        let message = self.messages.recv();
        self.take(message.unwrap_or(Message::Failed(Failure::Lost)))
    }

    /// The same without the interpreter, which is asked now and then whether the user has interrupted.
    pub(crate) fn next_released(feed: &mut Self, py: Python<'_>) -> PyResult<Option<T>> {
        while !feed.over {
            let messages = &mut feed.messages;
            let message = py.detach(move || messages.recv_timeout(PATIENCE));
            let message = match message {
                Ok(message) => message,
                Err(RecvTimeoutError::Disconnected) => Message::Failed(Failure::Lost),
                Err(RecvTimeoutError::Timeout) => {
                    py.check_signals()?;
                    continue;
                }
            };
            return feed.take(message).map_err(|failure| failure.raise(py));
        }
        Ok(None)
    }

    fn take(&mut self, message: Message<T>) -> Result<Option<T>, Failure> {
        match message {
            Message::Thing(thing) => Ok(Some(thing)),
            Message::End => {
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

impl<T> Drop for Feed<T> {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}
