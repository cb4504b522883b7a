//! A handler that asks other servers.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use super::{Answer, Authentication, Bind, Context, Entries, Handler, Request, Search};
use crate::client::{self, Client, Config, Item};
use crate::controls::ProxiedAuthorization;
use crate::error::{Error, ErrorKind, Result};
use crate::proto::{Extended, Limits, Reply, RequestControl, ResultCode, decode};
use crate::proxy::Balance;
use crate::url::{Scope, Url};

/// With whose rights a [`Proxy`] asks its servers.
#[derive(Clone, Default)]
#[non_exhaustive]
pub enum Identity {
    /// Those of the client: one connection for each name that is bound. A client that does not bind is anonymous.
    #[default]
    Client,
    /// Those of one account, whoever the client is. Binds of clients are checked by separate connections.
    Account {
        /// The name of the account.
        dn: String,
        /// Its password.
        password: String,
    },
    /// Those of the client, by the connections of one account that may act for others (RFC 4370). Requests of clients that do not
    /// bind go out as anonymous. Binds of clients are checked by separate connections.
    Proxied {
        /// The name of the account.
        dn: String,
        /// Its password.
        password: String,
    },
}

/// Passwords are not shown.
impl std::fmt::Debug for Identity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Client => f.write_str("Client"),
            Self::Account { dn, .. } => f.debug_struct("Account").field("dn", dn).finish_non_exhaustive(),
            Self::Proxied { dn, .. } => f.debug_struct("Proxied").field("dn", dn).finish_non_exhaustive(),
        }
    }
}

/// How long a server that could not be reached is not tried while there are others.
const DOWN: Duration = Duration::from_secs(10);
/// How long a connection may be without a request before it is checked.
const UNCHECKED: Duration = Duration::from_secs(30);
/// Time for the check.
const CHECK: Duration = Duration::from_secs(5);

type Rewrite = Arc<dyn Fn(&str) -> String + Send + Sync>;

/// Asks other servers: requests share connections, which are made again when they break.
///
/// A search without an entry so far and a comparison are asked once more if their connection breaks, of another server if there is
/// one. Changes are not: they may have been made, and the answer `unavailable` says so. Entries are passed on as they came.
///
/// SASL binds are refused, as their credentials are for the server itself. [`crate::proxy::Proxy`] relays whole connections instead.
pub struct Proxy {
    servers: Vec<Server>,
    balance: Balance,
    identity: Identity,
    /// Connections by the name that is bound.
    connections: Mutex<HashMap<String, Pooled>>,
    next: AtomicUsize,
    rewrite: Option<Rewrite>,
    controls: Vec<String>,
}

impl std::fmt::Debug for Proxy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Proxy")
            .field("servers", &self.servers)
            .field("balance", &self.balance)
            .field("identity", &self.identity)
            .finish_non_exhaustive()
    }
}

#[derive(Debug)]
struct Server {
    config: Config,
    /// Connections to the server.
    open: Arc<()>,
    down: Mutex<Option<Instant>>,
}

/// A connection, and the server that it is to.
#[derive(Clone)]
struct Pooled {
    client: Client,
    /// Counts the connection.
    _open: Arc<()>,
    used: Arc<Mutex<Instant>>,
    /// The password of the name, for the next connection.
    password: Arc<str>,
}

/// What a connection of a client is bound with.
#[derive(Default)]
struct Bound(Mutex<Option<(String, Arc<str>)>>);

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Proxy {
    /// Returns a proxy for the servers of a configuration.
    #[must_use]
    pub fn new(config: &Config) -> Self {
        let server = |url: &Url| {
            let mut config = config.clone();
            config.urls = vec![url.clone()];
            // The client decides about references.
            config.referrals = None;
            Server { config, open: Arc::new(()), down: Mutex::default() }
        };
        Self {
            servers: config.urls.iter().map(server).collect(),
            balance: Balance::First,
            identity: Identity::Client,
            connections: Mutex::default(),
            next: AtomicUsize::new(0),
            rewrite: None,
            controls: [
                "2.16.840.1.113730.3.4.2",
                "1.2.840.113556.1.4.319",
                "1.3.6.1.1.12",
                "1.3.6.1.1.13.1",
                "1.3.6.1.1.13.2",
            ]
            .map(str::to_owned)
            .to_vec(),
        }
    }

    /// Sets which server a new connection goes to.
    #[must_use]
    pub const fn balance(mut self, balance: Balance) -> Self {
        self.balance = balance;
        self
    }

    /// Sets with whose rights the servers are asked.
    #[must_use]
    pub fn identity(mut self, identity: Identity) -> Self {
        self.identity = identity;
        self
    }

    /// Sets the controls that clients may mark as critical: manageDsaIT, paged results, assertion, pre-read and post-read by default.
    /// Connections are shared, so that cookies of pages are for servers that keep no state of the connection in them.
    #[must_use]
    pub fn controls(mut self, oids: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.controls = oids.into_iter().map(Into::into).collect();
        self
    }

    /// Changes the URLs of referrals and search references, which are passed on as they are by default.
    #[must_use]
    pub fn rewrite(mut self, rewrite: impl Fn(&str) -> String + Send + Sync + 'static) -> Self {
        self.rewrite = Some(Arc::new(rewrite));
        self
    }

    /// Connects to a server that can be reached.
    async fn connect(&self) -> Result<(Client, Arc<()>)> {
        let count = self.servers.len();
        let mut order: Vec<&Server> = self.servers.iter().collect();
        match self.balance {
            Balance::RoundRobin if count > 0 => {
                order.rotate_left(self.next.fetch_add(1, Ordering::Relaxed) % count);
            }
            Balance::Fewest => order.sort_by_key(|server| Arc::strong_count(&server.open)),
            _ => {}
        }
        // Those that could not be reached a moment ago come last.
        order.sort_by_key(|server| locked(&server.down).is_some_and(|since| since.elapsed() < DOWN));
        if self.balance == Balance::Fastest {
            return fastest(&order).await;
        }
        let mut last = Error::new(ErrorKind::Usage, "a proxy without a server");
        for server in order {
            match Client::connect_with(&server.config).await {
                Ok(client) => {
                    *locked(&server.down) = None;
                    return Ok((client, Arc::clone(&server.open)));
                }
                Err(error) => {
                    *locked(&server.down) = Some(Instant::now());
                    last = error;
                }
            }
        }
        Err(last)
    }

    /// Returns a connection that is bound by a name; one that exists if it works.
    async fn get(&self, dn: &str, password: &Arc<str>) -> Result<Client> {
        let kept = locked(&self.connections).get(dn).cloned();
        if let Some(kept) = kept
            && kept.password == *password
            && !kept.client.is_closed()
        {
            let is_recent = locked(&kept.used).elapsed() < UNCHECKED;
            if is_recent || is_alive(&kept.client).await {
                *locked(&kept.used) = Instant::now();
                return Ok(kept.client);
            }
        }
        self.fresh(dn, password).await
    }

    /// Makes a connection that is bound by a name, and keeps it for others.
    async fn fresh(&self, dn: &str, password: &Arc<str>) -> Result<Client> {
        let (client, open) = self.connect().await?;
        if !dn.is_empty() {
            client.bind(dn, password).await?;
        }
        let used = Arc::new(Mutex::new(Instant::now()));
        let pooled = Pooled { client: client.clone(), _open: open, used, password: Arc::clone(password) };
        let mut connections = locked(&self.connections);
        connections.retain(|_, pooled| !pooled.client.is_closed());
        connections.insert(dn.to_owned(), pooled);
        Ok(client)
    }

    /// Returns the connection for a request.
    async fn client(&self, cx: &Context, is_again: bool) -> Result<Client> {
        let (dn, password) = match &self.identity {
            Identity::Client => {
                let bound = cx.extension(Bound::default);
                let bound = locked(&bound.0).clone();
                bound.unwrap_or_else(|| (String::new(), "".into()))
            }
            Identity::Account { dn, password } | Identity::Proxied { dn, password } => {
                (dn.clone(), password.as_str().into())
            }
        };
        let client =
            if is_again { self.fresh(&dn, &password).await? } else { self.get(&dn, &password).await? };
        let controls: Vec<&dyn RequestControl> =
            cx.controls().iter().map(|control| control as &dyn RequestControl).collect();
        let client = client.with(&controls);
        if let Identity::Proxied { .. } = self.identity {
            let identity = cx.identity();
            let name = if identity.is_empty() { String::new() } else { format!("dn:{identity}") };
            return Ok(client.with(&[&ProxiedAuthorization(name)]));
        }
        Ok(client)
    }

    async fn bind(&self, cx: &Context, request: &Bind<'_>) -> Answer {
        let Authentication::Simple(password) = request.authentication else {
            return Answer::new(ResultCode::AUTH_METHOD_NOT_SUPPORTED);
        };
        let Ok(password) = std::str::from_utf8(password) else {
            return Answer::new(ResultCode::INVALID_CREDENTIALS);
        };
        let bound = cx.extension(Bound::default);
        *locked(&bound.0) = None;
        if request.is_anonymous() {
            return Answer::success();
        }
        // The server checks the password each time, on a connection that nobody else uses.
        let checked = async {
            let (client, open) = self.connect().await?;
            client.bind(request.dn, password).await.map(|result| (client, open, result))
        };
        let (client, open, result) = match checked.await {
            Ok(checked) => checked,
            Err(error) => return error.into(),
        };
        if matches!(self.identity, Identity::Client) {
            let password: Arc<str> = password.into();
            *locked(&bound.0) = Some((request.dn.to_owned(), Arc::clone(&password)));
            let used = Arc::new(Mutex::new(Instant::now()));
            locked(&self.connections)
                .insert(request.dn.to_owned(), Pooled { client, _open: open, used, password });
        }
        result.into()
    }

    async fn search(
        &self,
        cx: &Context,
        request: &Search<'_>,
        out: &mut Entries,
        is_again: bool,
    ) -> Result<Answer> {
        let client = self.client(cx, is_again).await?;
        let mut entries =
            client.search(client::Search::of_request(request.request, request.base, request.scope)).await?;
        while let Some(item) = entries.next_item().await? {
            let sent = match item {
                Item::Entry(entry) => out.forward(&entry).await,
                Item::Reference(reference) => out.reference(&self.rewritten(reference.urls)).await,
                Item::Intermediate(response) => {
                    out.intermediate(response.name.as_deref(), response.value.as_deref()).await
                }
            };
            if sent.is_err() {
                return Ok(Answer::success());
            }
        }
        Ok(entries.result().cloned().unwrap_or_default().into())
    }

    fn rewritten(&self, urls: Vec<String>) -> Vec<String> {
        match &self.rewrite {
            Some(rewrite) => urls.iter().map(|url| rewrite(url)).collect(),
            None => urls,
        }
    }

    /// Sends a request as it came.
    async fn pass(&self, cx: &Context, is_again: bool) -> Result<Answer> {
        let limits = Limits { message: usize::MAX, ..Limits::default() };
        let message = decode(cx.message(), &limits)?;
        let client = self.client(cx, is_again).await?;
        Ok(match client.call(message.protocol_op).await? {
            Reply::Extended(Extended { result, name, value }) => Answer { name, value, ..result.into() },
            Reply::Done(result) => result.into(),
            _ => Answer::new(ResultCode::OTHER).with_message("an answer of another kind"),
        })
    }
}

/// Connects to all servers, and keeps the connection that is there first.
async fn fastest(servers: &[&Server]) -> Result<(Client, Arc<()>)> {
    let mut tries = JoinSet::new();
    for server in servers {
        let (config, open) = (server.config.clone(), Arc::clone(&server.open));
        tries.spawn(async move { Client::connect_with(&config).await.map(|client| (client, open)) });
    }
    let mut last = Error::new(ErrorKind::Usage, "a proxy without a server");
    while let Some(tried) = tries.join_next().await {
        match tried {
            Ok(Ok(connected)) => return Ok(connected),
            Ok(Err(error)) => last = error,
            Err(error) => last = Error::new(ErrorKind::Io, error.to_string()),
        }
    }
    Err(last)
}

/// Returns whether a server answers a search of its root DSE.
async fn is_alive(client: &Client) -> bool {
    let search = client::Search::new("").scope(Scope::Base).attributes(&["1.1"]);
    matches!(tokio::time::timeout(CHECK, client.search_all(search)).await, Ok(Ok(_)))
}

/// Returns whether an error is that of a connection which has ended.
fn is_broken(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Closed | ErrorKind::Io)
}

impl Handler for Proxy {
    async fn handle(&self, cx: &Context, request: Request<'_>, out: &mut Entries) -> Answer {
        let is_change = request.is_change() || matches!(request, Request::Extended(_));
        let mut done = match &request {
            Request::Bind(request) => return self.bind(cx, request).await,
            Request::Search(search) => self.search(cx, search, out, false).await,
            _ => self.pass(cx, false).await,
        };
        if let Err(error) = &done
            && is_broken(error)
        {
            if is_change {
                return Answer::new(ResultCode::UNAVAILABLE)
                    .with_message("the connection to the server has ended: the change may have been made");
            }
            match &request {
                Request::Search(search) if out.sent() == 0 => done = self.search(cx, search, out, true).await,
                Request::Compare(_) => done = self.pass(cx, true).await,
                _ => {}
            }
        }
        let mut answer = done.unwrap_or_else(Answer::from);
        answer.result.referrals = self.rewritten(answer.result.referrals);
        answer
    }

    fn supported_controls(&self) -> Vec<String> {
        self.controls.clone()
    }
}
