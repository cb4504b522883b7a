//! What a handler knows of the connection and the message of a request.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use tokio::sync::Notify;

use crate::error::Result;
use crate::proto::{Control, ResponseControl, control};

/// The connection and the message of a request. Clones are cheap.
#[derive(Clone, Debug)]
pub struct Context {
    pub(super) connection: Arc<Connection>,
    pub(super) message_id: u32,
    pub(super) controls: Arc<[Control]>,
    pub(super) message: Bytes,
}

/// A connection.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) number: u64,
    pub(super) peer: String,
    pub(super) is_tls: AtomicBool,
    identity: Mutex<Arc<str>>,
    extensions: Mutex<Extensions>,
    /// A handler ends the connection.
    pub(super) closing: Notify,
}

#[derive(Default)]
struct Extensions(HashMap<TypeId, Arc<dyn Any + Send + Sync>>);

impl std::fmt::Debug for Extensions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Extensions").field("count", &self.0.len()).finish()
    }
}

impl Connection {
    pub(super) fn new(number: u64, peer: String, is_tls: bool) -> Arc<Self> {
        Arc::new(Self {
            number,
            peer,
            is_tls: AtomicBool::new(is_tls),
            identity: Mutex::new("".into()),
            extensions: Mutex::default(),
            closing: Notify::new(),
        })
    }

    pub(super) fn set_identity(&self, dn: &str) {
        *self.identity.lock().unwrap_or_else(PoisonError::into_inner) = dn.into();
    }

    /// Returns the context of a connection without a message.
    pub(super) fn context(self: &Arc<Self>) -> Context {
        Context { connection: Arc::clone(self), message_id: 0, controls: Arc::new([]), message: Bytes::new() }
    }
}

impl Context {
    /// Returns the number of the connection, from 1.
    #[must_use]
    pub fn connection(&self) -> u64 {
        self.connection.number
    }

    /// Returns the address of the client, `host:port`; `local` for a socket of Unix.
    #[must_use]
    pub fn peer(&self) -> &str {
        &self.connection.peer
    }

    /// Returns whether the connection is encrypted.
    #[must_use]
    pub fn is_tls(&self) -> bool {
        self.connection.is_tls.load(Ordering::Relaxed)
    }

    /// Returns the name that is bound; empty for anonymous.
    #[must_use]
    pub fn identity(&self) -> Arc<str> {
        Arc::clone(&self.connection.identity.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns the message ID; 0 where there is no message.
    #[must_use]
    pub const fn message_id(&self) -> u32 {
        self.message_id
    }

    /// Returns the controls of the request. Critical ones are among [`super::Handler::supported_controls`].
    #[must_use]
    pub fn controls(&self) -> &[Control] {
        &self.controls
    }

    /// Returns the value of a control, if it came.
    ///
    /// # Errors
    /// The value is malformed.
    pub fn control<C: ResponseControl>(&self) -> Result<Option<C>> {
        control::find(&self.controls)
    }

    /// Returns the whole message as it was received.
    #[must_use]
    pub const fn message(&self) -> &Bytes {
        &self.message
    }

    /// Ends the connection: requests that run are dropped, and nothing more is sent.
    pub fn close(&self) {
        self.connection.closing.notify_one();
    }

    /// Returns a value of the connection by its type. It is made by `make` if there is none yet, and dropped with the connection.
    pub fn extension<T: Any + Send + Sync>(&self, make: impl FnOnce() -> T) -> Arc<T> {
        let mut extensions = self.connection.extensions.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = extensions.0.get(&TypeId::of::<T>()).cloned().and_then(|kept| kept.downcast().ok());
        kept.unwrap_or_else(|| {
            let made = Arc::new(make());
            extensions.0.insert(TypeId::of::<T>(), Arc::clone(&made) as _);
            made
        })
    }
}
