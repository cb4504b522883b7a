//! Layers around a handler.

pub(crate) mod inside;

use std::future::Future;
use std::io::Write;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Semaphore;

use super::{Answer, AnyHandler, Context, Entries, Handler, Layer, Request};
use crate::directory::{Observed, Observer};
use crate::dn::Dn;
use crate::entry::Draft;
use crate::proto::ResultCode;
use crate::proxy::{Flow, MapNames};

/// A request on its way through a layer to the handler inside.
pub(crate) struct Call<'c> {
    pub(crate) inner: &'c AnyHandler,
    pub(crate) cx: &'c Context,
    pub(crate) request: Request<'c>,
    pub(crate) out: &'c mut Entries,
}

impl Call<'_> {
    /// Hands the request on as it is.
    pub(crate) async fn pass(self) -> Answer {
        self.inner.handle(self.cx, self.request, self.out).await
    }
}

/// What a layer does with requests. All else goes to the handler inside.
pub(crate) trait Surround: Send + Sync + 'static {
    fn around(&self, call: Call<'_>) -> impl Future<Output = Answer> + Send;

    /// Returns the controls that the layer and the handler inside know together.
    fn controls(&self, inner: Vec<String>) -> Vec<String> {
        inner
    }
}

/// A layer and what is inside it.
pub(crate) struct Around<L> {
    layer: L,
    inner: AnyHandler,
}

impl<L: Surround> Around<L> {
    pub(crate) fn handler(layer: L, inner: AnyHandler) -> AnyHandler {
        AnyHandler::new(Self { layer, inner })
    }
}

impl<L: Surround> Handler for Around<L> {
    async fn handle(&self, cx: &Context, request: Request<'_>, out: &mut Entries) -> Answer {
        self.layer.around(Call { inner: &self.inner, cx, request, out }).await
    }

    fn connected(&self, cx: &Context) -> impl Future<Output = ()> + Send {
        self.inner.connected(cx)
    }

    fn closed(&self, cx: &Context) -> impl Future<Output = ()> + Send {
        self.inner.closed(cx)
    }

    fn supported_controls(&self) -> Vec<String> {
        self.layer.controls(self.inner.supported_controls())
    }

    fn root_dse(&self) -> Vec<(String, Vec<String>)> {
        self.inner.root_dse()
    }
}

/// Makes types that surround handlers layers. (An `impl` for all of them would overlap with the one for functions.)
macro_rules! layers {
    ($($name:ident),+) => {$(
        impl Layer for $name {
            fn layer(self: Box<Self>, inner: AnyHandler) -> AnyHandler {
                Around::handler(*self, inner)
            }
        }
    )+};
}

layers!(
    AccessLog,
    Attributes,
    ConcurrencyLimit,
    Fault,
    MapDn,
    Metrics,
    RateLimit,
    ReadOnly,
    RequireBind,
    RequireTls,
    Timeout,
    Transform
);

/// Refuses all changes (unwillingToPerform): additions, modifications, deletions, renamings and new passwords.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReadOnly;

impl Surround for ReadOnly {
    async fn around(&self, call: Call<'_>) -> Answer {
        if call.request.is_change() {
            return Answer::unwilling().with_message("read-only");
        }
        call.pass().await
    }
}

/// Refuses requests on connections that are not encrypted (confidentialityRequired), binds too.
#[derive(Clone, Copy, Debug, Default)]
pub struct RequireTls;

impl Surround for RequireTls {
    async fn around(&self, call: Call<'_>) -> Answer {
        if !call.cx.is_tls() {
            return Answer::new(ResultCode::CONFIDENTIALITY_REQUIRED).with_message("TLS is required");
        }
        call.pass().await
    }
}

/// Refuses all requests but binds on anonymous connections (insufficientAccessRights).
#[derive(Clone, Copy, Debug, Default)]
pub struct RequireBind;

impl Surround for RequireBind {
    async fn around(&self, call: Call<'_>) -> Answer {
        if !matches!(call.request, Request::Bind(_)) && call.cx.identity().is_empty() {
            return Answer::new(ResultCode::INSUFFICIENT_ACCESS_RIGHTS).with_message("a bind is required");
        }
        call.pass().await
    }
}

/// Ends requests that take too long (timeLimitExceeded).
#[derive(Clone, Copy, Debug)]
pub struct Timeout(pub Duration);

impl Surround for Timeout {
    async fn around(&self, call: Call<'_>) -> Answer {
        tokio::time::timeout(self.0, call.pass())
            .await
            .unwrap_or_else(|_| Answer::new(ResultCode::TIME_LIMIT_EXCEEDED))
    }
}

/// Lets requests wait so that no more than some a second begin, of all connections together.
#[derive(Debug)]
pub struct RateLimit {
    between: Duration,
    next: Mutex<Instant>,
}

impl RateLimit {
    /// Allows so many requests a second.
    #[must_use]
    pub fn new(rate: NonZeroU32) -> Self {
        Self { between: Duration::from_secs(1) / rate.get(), next: Mutex::new(Instant::now()) }
    }
}

impl Surround for RateLimit {
    async fn around(&self, call: Call<'_>) -> Answer {
        let until = {
            let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
            let until = (*next).max(Instant::now());
            *next = until + self.between;
            until
        };
        tokio::time::sleep_until(until.into()).await;
        call.pass().await
    }
}

/// Limits the requests that run at one time, of all connections together; others wait.
#[derive(Debug)]
pub struct ConcurrencyLimit(Semaphore);

impl ConcurrencyLimit {
    /// Allows so many requests at one time.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self(Semaphore::new(limit.max(1)))
    }
}

impl Surround for ConcurrencyLimit {
    async fn around(&self, call: Call<'_>) -> Answer {
        // The semaphore is never closed.
        let _permit = self.0.acquire().await;
        call.pass().await
    }
}

/// Changes entries on their way to clients, or holds them back.
#[derive(Clone)]
pub struct Transform(super::entries::Change);

impl std::fmt::Debug for Transform {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Transform")
    }
}

impl Transform {
    /// Sends what the function makes of each entry; nothing where it returns nothing.
    pub fn new(change: impl Fn(Draft) -> Option<Draft> + Send + Sync + 'static) -> Self {
        Self(Arc::new(change))
    }
}

impl Surround for Transform {
    async fn around(&self, call: Call<'_>) -> Answer {
        call.changing(Arc::clone(&self.0)).await
    }
}

/// Hides attributes of entries, or shows them by other names. Requests are not changed: a filter can find hidden values.
#[derive(Clone, Debug, Default)]
pub struct Attributes {
    hidden: Vec<String>,
    renamed: Vec<(String, String)>,
}

impl Attributes {
    /// Returns a layer that changes nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Hides an attribute, with all its options.
    #[must_use]
    pub fn hide(mut self, name: impl Into<String>) -> Self {
        self.hidden.push(name.into());
        self
    }

    /// Shows an attribute by another name.
    #[must_use]
    pub fn rename(mut self, from: impl Into<String>, to: impl Into<String>) -> Self {
        self.renamed.push((from.into(), to.into()));
        self
    }

    fn change(&self, entry: &Draft) -> Draft {
        let shown = entry.attributes().filter_map(|(name, values)| {
            let (base, options) =
                name.split_once(';').map_or((name, None), |(base, rest)| (base, Some(rest)));
            if self.hidden.iter().any(|hidden| hidden.eq_ignore_ascii_case(base)) {
                return None;
            }
            let other = self.renamed.iter().find(|(from, _)| from.eq_ignore_ascii_case(base));
            let base = other.map_or(base, |(_, to)| to);
            Some((options.map_or_else(|| base.to_owned(), |rest| format!("{base};{rest}")), values))
        });
        Draft::new(entry.dn(), shown)
    }
}

impl Surround for Attributes {
    async fn around(&self, call: Call<'_>) -> Answer {
        let attributes = self.clone();
        call.changing(Arc::new(move |entry| Some(attributes.change(&entry)))).await
    }
}

/// Shows names below one entry as names below another one: clients see `from` where the handler has `to`.
#[derive(Clone, Debug)]
pub struct MapDn(MapNames);

impl MapDn {
    /// Replaces `from`, as clients know it, by `to`, as the handler knows it.
    #[must_use]
    pub const fn new(from: Dn, to: Dn) -> Self {
        Self(MapNames::new(from, to))
    }
}

impl Surround for MapDn {
    async fn around(&self, call: Call<'_>) -> Answer {
        let Call { inner, cx, request, out } = call;
        let message = match self.0.request_message(cx.message()) {
            Flow::Replace(octets) => octets.into(),
            _ => cx.message().clone(),
        };
        let names = self.0.clone();
        let change = move |entry: Draft| Some(names.shown(&entry));
        let mapped = Context { message: message.clone(), ..cx.clone() };
        // The name that the handler knows the connection by, unless it answers with another one.
        let bound = match &request {
            Request::Bind(bind) => Some(self.0.inside_name(bind.dn)),
            _ => None,
        };
        let mut answer = inside::handle_changing(inner, &mapped, out, Arc::new(change)).await;
        answer.result.matched_dn = self.0.shown_name(&answer.result.matched_dn);
        if bound.is_some() && answer.code() == ResultCode::SUCCESS {
            // The handler knows the connection by another name.
            answer.identity = answer.identity.or(bound).map(|dn| self.0.shown_name(&dn));
        }
        answer
    }
}

/// Disturbs requests, for tests of clients.
#[derive(Clone, Debug, Default)]
pub struct Fault {
    delay: Option<Duration>,
    code: Option<ResultCode>,
    only: Option<String>,
    hangs: bool,
    closes: bool,
}

impl Fault {
    /// Returns a layer that disturbs nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Delays each request.
    #[must_use]
    pub const fn delay(mut self, delay: Duration) -> Self {
        self.delay = Some(delay);
        self
    }

    /// Answers with this result code instead of asking the handler.
    #[must_use]
    pub const fn code(mut self, code: ResultCode) -> Self {
        self.code = Some(code);
        self
    }

    /// Never answers.
    #[must_use]
    pub const fn hang(mut self) -> Self {
        self.hangs = true;
        self
    }

    /// Ends the connection instead of answering.
    #[must_use]
    pub const fn close(mut self) -> Self {
        self.closes = true;
        self
    }

    /// Disturbs only one operation, by the name that [`Request::name`] gives it.
    #[must_use]
    pub fn only(mut self, operation: impl Into<String>) -> Self {
        self.only = Some(operation.into());
        self
    }
}

impl Surround for Fault {
    async fn around(&self, call: Call<'_>) -> Answer {
        if self.only.as_deref().is_some_and(|only| only != call.request.name()) {
            return call.pass().await;
        }
        if let Some(delay) = self.delay {
            tokio::time::sleep(delay).await;
        }
        if self.closes {
            call.cx.close();
        }
        if self.hangs || self.closes {
            std::future::pending::<()>().await;
        }
        match self.code {
            Some(code) => code.into(),
            None => call.pass().await,
        }
    }
}

/// Writes a line of JSON for each request, without values and passwords.
#[derive(Debug)]
pub struct AccessLog(Metrics);

impl AccessLog {
    /// Writes to a file, or to whatever else takes bytes.
    pub fn new(log: impl Write + Send + 'static) -> Self {
        let metrics = Metrics::new();
        metrics.0.log_to(Box::new(log));
        Self(metrics)
    }
}

impl Surround for AccessLog {
    async fn around(&self, call: Call<'_>) -> Answer {
        self.0.around(call).await
    }
}

/// Counts requests by operation and result code, and their time. Clones share the figures.
#[derive(Clone, Debug, Default)]
pub struct Metrics(Arc<Observer>);

impl Metrics {
    /// Returns a layer that has counted nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the figures in the text format of Prometheus.
    #[must_use]
    pub fn text(&self) -> String {
        self.0.requests()
    }
}

impl Surround for Metrics {
    async fn around(&self, call: Call<'_>) -> Answer {
        let Call { inner, cx, request, out } = call;
        let (user, sent) = (cx.identity(), out.sent());
        // A request that is abandoned is reported too, without a result code.
        let mut report =
            Report { observer: &self.0, cx, user: &user, begin: Instant::now(), code: None, entries: 0 };
        let answer = inner.handle(cx, request, out).await;
        let answer = out.judged(answer);
        report.code = Some(answer.code().0);
        report.entries = u64::from(out.sent() - sent);
        answer
    }
}

/// Reports a request when it is dropped.
struct Report<'r> {
    observer: &'r Observer,
    cx: &'r Context,
    user: &'r str,
    begin: Instant,
    code: Option<u32>,
    entries: u64,
}

impl Drop for Report<'_> {
    fn drop(&mut self) {
        self.observer.operation(&Observed {
            connection: self.cx.connection(),
            peer: self.cx.peer(),
            user: self.user,
            time: self.begin.elapsed(),
            request: self.cx.message(),
            code: self.code,
            entries: self.entries,
            scanned: 0,
            bytes: 0,
        });
    }
}
