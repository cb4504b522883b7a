//! The client: the sans-IO connection, a task that drives it, and handles to it.

mod cldap;
mod config;
mod connect;
mod driver;
mod keep_alive;
mod layered;
mod operations;
mod pool;
mod ranges;
pub(crate) mod root;
mod schema;
mod search;
#[cfg(feature = "srv")]
mod srv;
mod subtree;
mod tls;

use std::sync::Arc;
use std::time::Duration;

pub use cldap::{Answer, Cldap};
pub use config::{Config, Referrals, StartTls};
#[cfg(feature = "directory")]
pub(crate) use connect::open;
#[cfg(feature = "directory")]
pub(crate) use driver::Io;
pub use keep_alive::KeepAlive;
pub use pool::{Pool, PooledClient};
pub use search::{Deref, Entries, Item, Search};
#[cfg(feature = "srv")]
pub use srv::Locator;
pub use tls::{Tls, TrustedRoots};

use crate::error::Result;
use crate::proto::{Control, RequestControl};
use driver::Handle;

/// A handle to a connection; clones share it. The connection ends with its last handle.
#[derive(Clone, Debug)]
pub struct Client {
    handle: Arc<Handle>,
    config: Arc<Config>,
    controls: Arc<[Control]>,
    timeout: Option<Duration>,
}

impl Client {
    /// Connects to a server: `ldap://`, `ldaps://` or `ldapi://`.
    ///
    /// # Errors
    /// As [`Client::connect_with`].
    pub async fn connect(url: &str) -> Result<Self> {
        Self::connect_with(&Config::new(url)?).await
    }

    /// Connects to the first server of a list that can be reached.
    ///
    /// # Errors
    /// No server can be reached in time, or TLS with it cannot be established; the fault of the last one is told.
    pub async fn connect_with(config: &Config) -> Result<Self> {
        let handle = connect::connect(config).await?;
        let timeout = config.operation_timeout;
        Ok(Self {
            handle: Arc::new(handle),
            config: Arc::new(config.clone()),
            controls: Arc::new([]),
            timeout,
        })
    }

    /// A handle whose operations go with these controls too.
    #[must_use]
    pub fn with(&self, controls: &[&dyn RequestControl]) -> Self {
        let all = self.controls.iter().cloned().chain(controls.iter().map(|control| control.control()));
        Self { controls: all.collect(), ..self.clone() }
    }

    /// A handle whose operations have this long for their answer.
    #[must_use]
    pub fn with_timeout(&self, timeout: Option<Duration>) -> Self {
        Self { timeout, ..self.clone() }
    }

    /// Ends the connection, for all handles to it: what is on its way fails, and nothing can be started.
    pub fn close(&self) {
        self.handle.close();
    }

    /// True after the connection has ended.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.handle.closed().is_some()
    }

    /// What the connection was made with.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Number of messages that came for no operation in flight.
    #[must_use]
    pub fn ignored(&self) -> u64 {
        self.handle.ignored()
    }
}
