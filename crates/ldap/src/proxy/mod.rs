//! A proxy: messages of clients go to servers and back, through layers that look at them, change them or answer.
//!
//! Messages that no layer changes are passed on as they came. Each connection of a client has one of its own to a server.
//!
//! ```
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
//! use tercet_ldap::directory::Directory;
//! use tercet_ldap::proxy::{Proxy, ReadOnly};
//! use tercet_ldap::{Client, Config, ResultCode, Search};
//!
//! let directory = Directory::new();
//! directory.load("dn: o=test\nobjectClass: organization\no: test\n".as_bytes())?;
//! let server = directory.listen("127.0.0.1:0").await?;
//!
//! let proxy = Proxy::new(Config::new(&server.url())?).layer(ReadOnly).listen("127.0.0.1:0").await?;
//! let client = Client::connect(&proxy.url()).await?;
//! assert_eq!(client.search_all(Search::new("o=test")).await?.0.len(), 1);
//! let error = client.delete("o=test").await.unwrap_err();
//! assert_eq!(error.result().unwrap().code, ResultCode::UNWILLING_TO_PERFORM);
//! # Ok::<(), tercet_ldap::Error>(())
//! # }).unwrap();
//! ```

mod layers;
mod names;
mod relay;

use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::str::FromStr;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::net::TcpListener;
use tokio::task::JoinSet;

use crate::client::{Config, Io, open};
use crate::directory::{Server, accepted};
use crate::error::{Error, ErrorKind, Result};
use crate::generated::LdapMessage;
use crate::proto::{self, LdapResult};
pub use layers::ReadOnly;
pub use names::MapNames;

/// A connection of a client.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Context {
    /// The number of the connection, from 1.
    pub connection: u64,
    /// The address of the client.
    pub peer: SocketAddr,
}

/// What becomes of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Flow {
    /// It goes on.
    Pass,
    /// These octets, a whole message, go on instead.
    Replace(Vec<u8>),
    /// A request goes no further: these octets, whole messages, are the answer. For an answer, the same as [`Flow::Replace`].
    Answer(Vec<u8>),
    /// Both connections end.
    Close,
}

/// Something that sees the messages of all connections.
pub trait Layer: Send + Sync + 'static {
    /// Looks at a message of a client.
    fn request(&self, context: &Context, message: &[u8]) -> Flow {
        _ = (context, message);
        Flow::Pass
    }

    /// Looks at a message of a server, or of a layer behind this one.
    fn response(&self, context: &Context, message: &[u8]) -> Flow {
        _ = (context, message);
        Flow::Pass
    }
}

/// Which of several servers a client gets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Balance {
    /// The first one that can be reached.
    #[default]
    First,
    /// One after another.
    RoundRobin,
    /// The one with the fewest connections of this proxy.
    Fewest,
    /// The one that answers first.
    Fastest,
}

impl FromStr for Balance {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "first" => Ok(Self::First),
            "round-robin" => Ok(Self::RoundRobin),
            "fewest" => Ok(Self::Fewest),
            "fastest" => Ok(Self::Fastest),
            _ => {
                let message =
                    format!("balance `{text:.100}`: first, round-robin, fewest or fastest expected");
                Err(Error::new(ErrorKind::Usage, message))
            }
        }
    }
}

/// A proxy for servers.
pub struct Proxy {
    config: Config,
    balance: Balance,
    layers: Vec<Box<dyn Layer>>,
    account: Option<(String, String)>,
    /// Time between two requests, and when the next one may go out.
    pace: Option<(Duration, Mutex<Instant>)>,
    next: AtomicUsize,
    /// Open connections to each server.
    open: Vec<Arc<AtomicUsize>>,
    accepted: AtomicU64,
    failed: Option<Failed>,
}

/// Is called when no server can be used.
type Failed = Box<dyn Fn(&Error) + Send + Sync>;

impl std::fmt::Debug for Proxy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Proxy")
            .field("urls", &self.config.urls)
            .field("balance", &self.balance)
            .finish_non_exhaustive()
    }
}

/// A connection to a server, counted while it lasts.
struct Upstream {
    io: Box<dyn Io>,
    count: Counted,
}

struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Proxy {
    /// A proxy for the servers of a configuration: its URLs, trusted certificates, limits and time for a connection.
    #[must_use]
    pub fn new(config: Config) -> Self {
        let open = config.urls.iter().map(|_| Arc::default()).collect();
        Self {
            config,
            balance: Balance::First,
            layers: Vec::new(),
            account: None,
            pace: None,
            next: AtomicUsize::new(0),
            open,
            accepted: AtomicU64::new(0),
            failed: None,
        }
    }

    /// Sets which server a client gets.
    #[must_use]
    pub const fn balance(mut self, balance: Balance) -> Self {
        self.balance = balance;
        self
    }

    /// Adds a layer between those before it and the servers: requests reach it after them, answers before them.
    #[must_use]
    pub fn layer(mut self, layer: impl Layer) -> Self {
        self.layers.push(Box::new(layer));
        self
    }

    /// Sends all requests with the rights of this account. Binds of clients are checked on separate connections, so that wrong
    /// passwords are refused; a client that does not bind has the rights of the account too.
    #[must_use]
    pub fn account(mut self, dn: impl Into<String>, password: impl Into<String>) -> Self {
        self.account = Some((dn.into(), password.into()));
        self
    }

    /// Calls a function each time a client cannot be given a server, or the server refuses the account of the proxy. The client gets
    /// `unavailable` (52), without the details of the error.
    #[must_use]
    pub fn on_failure(mut self, failed: impl Fn(&Error) + Send + Sync + 'static) -> Self {
        self.failed = Some(Box::new(failed));
        self
    }

    /// Lets requests wait so that no more than this many a second go out, of all clients together.
    #[must_use]
    pub fn rate(mut self, rate: Option<NonZeroU32>) -> Self {
        self.pace = rate.map(|rate| (Duration::from_secs(1) / rate.get(), Mutex::new(Instant::now())));
        self
    }

    /// Listens on an address, `host:port`; port 0 takes any.
    ///
    /// # Errors
    /// The address cannot be had, or there is no server.
    pub async fn listen(self, address: &str) -> Result<Server> {
        if self.config.urls.is_empty() {
            return Err(Error::new(ErrorKind::Usage, "a proxy without a server"));
        }
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        let proxy = Arc::new(self);
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut connections = JoinSet::new();
            loop {
                let Some((stream, peer)) = accepted(listener.accept().await).await else { continue };
                while connections.try_join_next().is_some() {}
                _ = stream.set_nodelay(true);
                let connection = proxy.accepted.fetch_add(1, Ordering::Relaxed) + 1;
                let proxy = Arc::clone(&proxy);
                // A fault of one connection ends it alone.
                connections.spawn(async move {
                    relay::relay(&proxy, Context { connection, peer }, Box::new(stream)).await;
                });
            }
        });
        Ok(Server::new(address, format!("ldap://{address}"), tasks))
    }

    /// Connects to a server; if it cannot be reached, to another one.
    async fn upstream(&self) -> Result<Upstream> {
        let count = self.config.urls.len();
        let mut order: Vec<usize> = (0..count).collect();
        match self.balance {
            Balance::First => {}
            Balance::RoundRobin => {
                order.rotate_left(self.next.fetch_add(1, Ordering::Relaxed) % count.max(1))
            }
            Balance::Fewest => {
                order.sort_by_key(|at| self.open.get(*at).map(|open| open.load(Ordering::Relaxed)));
            }
            Balance::Fastest => return self.fastest().await,
        }
        let mut last = Error::new(ErrorKind::Usage, "a proxy without a server");
        for at in order {
            match one(&self.config, at).await {
                Ok(io) => return Ok(self.counted(io, at)),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    async fn fastest(&self) -> Result<Upstream> {
        let mut tries = JoinSet::new();
        for at in 0..self.config.urls.len() {
            let config = self.config.clone();
            tries.spawn(async move { one(&config, at).await.map(|io| (io, at)) });
        }
        let mut last = Error::new(ErrorKind::Usage, "a proxy without a server");
        while let Some(tried) = tries.join_next().await {
            match tried {
                Ok(Ok((io, at))) => return Ok(self.counted(io, at)),
                Ok(Err(error)) => last = error,
                Err(error) => last = Error::new(ErrorKind::Io, error.to_string()),
            }
        }
        Err(last)
    }

    fn counted(&self, io: Box<dyn Io>, at: usize) -> Upstream {
        let open = self.open.get(at).cloned().unwrap_or_default();
        open.fetch_add(1, Ordering::Relaxed);
        Upstream { io, count: Counted(open) }
    }

    /// Waits until the next request may go out.
    async fn wait(&self) {
        let Some((between, next)) = &self.pace else { return };
        let until = {
            let mut next = next.lock().unwrap_or_else(PoisonError::into_inner);
            let until = (*next).max(Instant::now());
            *next = until + *between;
            until
        };
        tokio::time::sleep_until(until.into()).await;
    }
}

/// Connects to the server with this number.
async fn one(config: &Config, at: usize) -> Result<Box<dyn Io>> {
    let url = config.urls.get(at).ok_or_else(|| Error::new(ErrorKind::Usage, "a proxy without a server"))?;
    match tokio::time::timeout(config.connect_timeout, open(url, config)).await {
        Ok(Ok((io, _))) => Ok(io),
        Ok(Err(error)) => Err(error.about(url.server())),
        Err(_) => Err(Error::new(ErrorKind::Timeout, format!("{}: no connection in time", url.server()))),
    }
}

/// Returns the message that answers a request with a result; nothing if the message is not a request, or one without an answer.
///
/// # Errors
/// The result cannot be written.
pub fn answer(request: &LdapMessage<'_>, result: &LdapResult) -> Result<Option<Vec<u8>>> {
    let Some(operation) = proto::answer(&request.protocol_op, result) else { return Ok(None) };
    let mut out = Vec::new();
    proto::encode(request.message_id, operation, &result.controls, &mut out)?;
    Ok(Some(out))
}
