//! A server to build on: a [`Handler`] answers requests, the server does all else.
//!
//! The server reads and writes messages, checks limits, and answers StartTLS, Abandon, Cancel, Who am I?, unknown critical controls
//! and searches of the root DSE. It keeps size and time limits of searches, and ends connections in good order. [`Layer`]s go around a
//! handler; [`Directory`](crate::directory::Directory), [`Proxy`], [`Router`], [`Canned`] and [`Accumulate`] are handlers.
//!
//! ```
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
//! use tercet_ldap::server::{Answer, Context, Entries, Handler, Search, Server};
//! use tercet_ldap::{Client, Draft};
//!
//! struct Users;
//!
//! impl Handler for Users {
//!     async fn search(&self, _: &Context, request: Search<'_>, out: &mut Entries) -> Answer {
//!         for user in ["ada", "bob"] {
//!             let entry = Draft::new(format!("uid={user},o=users"), [("uid", [user])]);
//!             if request.matches(&entry) && out.entry(&entry).await.is_err() {
//!                 break;
//!             }
//!         }
//!         Answer::success()
//!     }
//! }
//!
//! let server = Server::new(Users).listen("127.0.0.1:0").await?;
//! let client = Client::connect(&server.url()).await?;
//! let (found, _) = client.search_all(tercet_ldap::Search::new("o=users").filter("(uid=a*)")?).await?;
//! assert_eq!(found[0].dn(), "uid=ada,o=users");
//! # Ok::<(), tercet_ldap::Error>(())
//! # }).unwrap();
//! ```

mod answer;
mod connection;
mod context;
mod directory;
mod entries;
mod handler;
mod handlers;
mod layers;
mod proxy;
mod request;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;

pub use crate::directory::{Acl, PasswordPolicy};
use crate::directory::{ServerTls, accepted};
use crate::error::{Error, ErrorKind, Result};
use crate::proto::Limits;
pub use answer::Answer;
use connection::Settings;
pub use context::Context;
pub(crate) use directory::{last, send};
pub use entries::{Entries, Stopped};
pub use handler::{AnyHandler, Handler, Layer};
pub use handlers::{Accumulate, Canned, Recorded, Router};
pub use layers::{
    AccessLog, Attributes, ConcurrencyLimit, Fault, MapDn, Metrics, RateLimit, ReadOnly, RequireBind,
    RequireTls, Timeout, Transform,
};
pub(crate) use layers::{Around, Call, Surround, inside};
pub use proxy::{Identity, Proxy};
pub use request::{Add, Authentication, Bind, Compare, Delete, Extended, Modify, Rename, Request, Search};

/// The identifier octets of requests.
pub(crate) mod tag {
    pub(crate) const BIND: u8 = 0x60;
    pub(crate) const UNBIND: u8 = 0x42;
    pub(crate) const SEARCH: u8 = 0x63;
    pub(crate) const MODIFY: u8 = 0x66;
    pub(crate) const ADD: u8 = 0x68;
    pub(crate) const DELETE: u8 = 0x4A;
    pub(crate) const RENAME: u8 = 0x6C;
    pub(crate) const COMPARE: u8 = 0x6E;
    pub(crate) const ABANDON: u8 = 0x50;
    pub(crate) const EXTENDED: u8 = 0x77;
}

/// Sees the messages of all connections, with those that the server answers itself, as for a log.
pub trait Watch: Send + Sync + 'static {
    /// Sees a message of a client.
    fn received(&self, cx: &Context, message: &[u8]);

    /// Sees a message to a client, in the order in which they go out.
    fn sent(&self, cx: &Context, message: &[u8]);
}

#[derive(Clone)]
pub(crate) struct Watcher(Arc<dyn Watch>);

impl std::fmt::Debug for Watcher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Watcher")
    }
}

/// A server before it listens.
#[derive(Debug)]
pub struct Server {
    handler: AnyHandler,
    layers: Vec<Layered>,
    settings: Settings,
}

struct Layered(Box<dyn Layer>);

impl std::fmt::Debug for Layered {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Layer")
    }
}

impl Server {
    /// Returns a server whose requests this handler answers.
    pub fn new(handler: impl Handler) -> Self {
        Self { handler: AnyHandler::new(handler), layers: Vec::new(), settings: Settings::default() }
    }

    /// Adds a layer: requests reach it after those before it.
    #[must_use]
    pub fn layer(mut self, layer: impl Layer) -> Self {
        self.layers.push(Layered(Box::new(layer)));
        self
    }

    /// Sets what sees all messages.
    #[must_use]
    pub fn watch(mut self, watch: impl Watch) -> Self {
        self.settings.watcher = Some(Watcher(Arc::new(watch)));
        self
    }

    /// Sets what clients may send; messages of 16 MiB and 100 nested elements by default.
    #[must_use]
    pub const fn limits(mut self, limits: Limits) -> Self {
        self.settings.limits = limits;
        self
    }

    /// Limits the requests of a connection at one time; others are answered by `busy` (51). 100 by default.
    #[must_use]
    pub const fn max_operations(mut self, limit: usize) -> Self {
        self.settings.operations = limit;
        self
    }

    /// Limits the connections at one time; others are closed at once. No limit by default.
    #[must_use]
    pub const fn max_connections(mut self, limit: usize) -> Self {
        self.settings.connections = Some(limit);
        self
    }

    /// Closes connections without a request for so long. Never by default.
    #[must_use]
    pub const fn idle(mut self, limit: Duration) -> Self {
        self.settings.idle = Some(limit);
        self
    }

    /// Closes connections of clients that read nothing for so long while answers wait; a minute by default.
    #[must_use]
    pub const fn stall(mut self, limit: Duration) -> Self {
        self.settings.stall = limit;
        self
    }

    /// Limits the time of searches, as their own limit does. No limit by default.
    #[must_use]
    pub const fn time_limit(mut self, limit: Duration) -> Self {
        self.settings.time_limit = Some(limit);
        self
    }

    /// Sets whether the server answers searches of the root DSE (RFC 4512 5.1), as it does by default; otherwise the handler does.
    #[must_use]
    pub const fn root_dse(mut self, answers: bool) -> Self {
        self.settings.answers_root = answers;
        self
    }

    /// Sets certificates and key (PEM) for StartTLS and [`Server::listen_tls`].
    ///
    /// # Errors
    /// They are malformed, or do not belong together.
    pub fn tls(mut self, certificates: &[u8], key: &[u8]) -> Result<Self> {
        self.settings.tls = Some(ServerTls::new(certificates, key)?);
        Ok(self)
    }

    /// Listens on an address, `host:port`; port 0 takes any.
    ///
    /// # Errors
    /// The address cannot be had.
    pub async fn listen(self, address: &str) -> Result<Listening> {
        self.listen_on(address, false).await
    }

    /// Listens on an address with TLS from the first byte (`ldaps`).
    ///
    /// # Errors
    /// The address cannot be had, or there is no certificate.
    pub async fn listen_tls(self, address: &str) -> Result<Listening> {
        if self.settings.tls.is_none() {
            return Err(Error::new(ErrorKind::Usage, "ldaps needs a certificate"));
        }
        self.listen_on(address, true).await
    }

    async fn listen_on(self, address: &str, tls: bool) -> Result<Listening> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        let around = |inner, Layered(layer): Layered| layer.layer(inner);
        let handler = self.layers.into_iter().rev().fold(self.handler, around);
        let (stop, stopped) = watch::channel(false);
        let shared = Arc::new(connection::Shared {
            handler,
            settings: self.settings,
            stopped,
            open: AtomicUsize::new(0),
        });
        let mut tasks = JoinSet::new();
        tasks.spawn(accept(listener, shared, tls));
        let scheme = if tls { "ldaps" } else { "ldap" };
        Ok(Listening { address, url: format!("{scheme}://{address}"), stop, tasks })
    }
}

/// Takes connections until the server stops, then waits for their end.
async fn accept(listener: TcpListener, shared: Arc<connection::Shared>, tls: bool) {
    let mut stopped = shared.stopped.clone();
    let mut connections = JoinSet::new();
    let count = AtomicU64::new(0);
    loop {
        let (stream, peer) = tokio::select! {
            connection = listener.accept() => match accepted(connection).await {
                Some(connection) => connection,
                None => continue,
            },
            () = connection::stopping(&mut stopped) => break,
        };
        while connections.try_join_next().is_some() {}
        if shared.is_full() {
            continue;
        }
        _ = stream.set_nodelay(true);
        let number = count.fetch_add(1, Ordering::Relaxed) + 1;
        let state = context::Connection::new(number, peer.to_string(), tls);
        // An error of one connection ends it alone.
        connections.spawn(connection::serve(Arc::clone(&shared), state, stream, tls));
    }
    drop(listener);
    while connections.join_next().await.is_some() {}
}

/// A server that listens; it stops when this is dropped.
#[derive(Debug)]
pub struct Listening {
    address: SocketAddr,
    url: String,
    stop: watch::Sender<bool>,
    tasks: JoinSet<()>,
}

impl Listening {
    /// Returns the URL to connect to.
    #[must_use]
    pub fn url(&self) -> String {
        self.url.clone()
    }

    /// Returns the address.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until the future is dropped.
    pub async fn wait(mut self) {
        while self.tasks.join_next().await.is_some() {}
    }

    /// Stops: no connection and no request is taken any more, requests that run have this long to end, and clients get a notice of
    /// disconnection. Returns whether all ended in time.
    pub async fn shutdown(mut self, limit: Duration) -> bool {
        self.stop.send_replace(true);
        let ended = async { while self.tasks.join_next().await.is_some() {} };
        tokio::time::timeout(limit, ended).await.is_ok()
    }
}
