//! Layers around a handler.

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
use crate::proto::{self, Limits, ResultCode};
use crate::proxy::{Flow, MapNames};

/// Forwards all but requests to the handler inside.
macro_rules! forward {
    () => {
        fn connected(&self, cx: &Context) -> impl Future<Output = ()> + Send {
            self.inner.connected(cx)
        }

        fn closed(&self, cx: &Context) -> impl Future<Output = ()> + Send {
            self.inner.closed(cx)
        }

        fn supported_controls(&self) -> Vec<String> {
            self.inner.supported_controls()
        }

        fn root_dse(&self) -> Vec<(String, Vec<String>)> {
            self.inner.root_dse()
        }
    };
}

/// A layer and what is inside it.
struct Around<L> {
    layer: L,
    inner: AnyHandler,
}

/// Makes a type a layer whose requests go through its method `around`.
macro_rules! layer {
    ($name:ident) => {
        impl Layer for $name {
            fn layer(self: Box<Self>, inner: AnyHandler) -> AnyHandler {
                AnyHandler::new(Around { layer: *self, inner })
            }
        }

        impl Handler for Around<$name> {
            async fn handle(&self, cx: &Context, request: Request<'_>, out: &mut Entries) -> Answer {
                self.layer.around(&self.inner, cx, request, out).await
            }

            forward!();
        }
    };
}

/// Refuses all changes (unwillingToPerform): additions, modifications, deletions, renamings and new passwords.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReadOnly;

impl ReadOnly {
    async fn around(
        &self,
        inner: &AnyHandler,
        cx: &Context,
        request: Request<'_>,
        out: &mut Entries,
    ) -> Answer {
        if request.is_change() {
            return Answer::unwilling().with_message("read-only");
        }
        inner.handle(cx, request, out).await
    }
}

layer!(ReadOnly);

/// Refuses requests on connections that are not encrypted (confidentialityRequired), binds too.
#[derive(Clone, Copy, Debug, Default)]
pub struct RequireTls;

impl RequireTls {
    async fn around(
        &self,
        inner: &AnyHandler,
        cx: &Context,
        request: Request<'_>,
        out: &mut Entries,
    ) -> Answer {
        if !cx.is_tls() {
            return Answer::new(ResultCode::CONFIDENTIALITY_REQUIRED).with_message("TLS is required");
        }
        inner.handle(cx, request, out).await
    }
}

layer!(RequireTls);

/// Refuses all requests but binds on anonymous connections (insufficientAccessRights).
#[derive(Clone, Copy, Debug, Default)]
pub struct RequireBind;

impl RequireBind {
    async fn around(
        &self,
        inner: &AnyHandler,
        cx: &Context,
        request: Request<'_>,
        out: &mut Entries,
    ) -> Answer {
        if !matches!(request, Request::Bind(_)) && cx.identity().is_empty() {
            return Answer::new(ResultCode::INSUFFICIENT_ACCESS_RIGHTS).with_message("a bind is required");
        }
        inner.handle(cx, request, out).await
    }
}

layer!(RequireBind);

/// Ends requests that take too long (timeLimitExceeded).
#[derive(Clone, Copy, Debug)]
pub struct Timeout(pub Duration);

impl Timeout {
    async fn around(
        &self,
        inner: &AnyHandler,
        cx: &Context,
        request: Request<'_>,
        out: &mut Entries,
    ) -> Answer {
        tokio::time::timeout(self.0, inner.handle(cx, request, out))
            .await
            .unwrap_or_else(|_| Answer::new(ResultCode::TIME_LIMIT_EXCEEDED))
    }
}

layer!(Timeout);

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

    async fn around(
        &self,
        inner: &AnyHandler,
        cx: &Context,
        request: Request<'_>,
        out: &mut Entries,
    ) -> Answer {
        let until = {
            let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
            let until = (*next).max(Instant::now());
            *next = until + self.between;
            until
        };
        tokio::time::sleep_until(until.into()).await;
        inner.handle(cx, request, out).await
    }
}

layer!(RateLimit);

/// Limits the requests that run at one time, of all connections together; others wait.
#[derive(Debug)]
pub struct ConcurrencyLimit(Semaphore);

impl ConcurrencyLimit {
    /// Allows so many requests at one time.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self(Semaphore::new(limit.max(1)))
    }

    async fn around(
        &self,
        inner: &AnyHandler,
        cx: &Context,
        request: Request<'_>,
        out: &mut Entries,
    ) -> Answer {
        // The semaphore is never closed.
        let _permit = self.0.acquire().await;
        inner.handle(cx, request, out).await
    }
}

layer!(ConcurrencyLimit);

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

    async fn around(
        &self,
        inner: &AnyHandler,
        cx: &Context,
        request: Request<'_>,
        out: &mut Entries,
    ) -> Answer {
        out.changes.push(Arc::clone(&self.0));
        let answer = inner.handle(cx, request, out).await;
        out.changes.pop();
        answer
    }
}

layer!(Transform);

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

    async fn around(
        &self,
        inner: &AnyHandler,
        cx: &Context,
        request: Request<'_>,
        out: &mut Entries,
    ) -> Answer {
        let attributes = self.clone();
        out.changes.push(Arc::new(move |entry| Some(attributes.change(&entry))));
        let answer = inner.handle(cx, request, out).await;
        out.changes.pop();
        answer
    }
}

layer!(Attributes);

/// Shows names below one entry as names below another one: clients see `from` where the handler has `to`.
#[derive(Clone, Debug)]
pub struct MapDn(MapNames);

impl MapDn {
    /// Replaces `from`, as clients know it, by `to`, as the handler knows it.
    #[must_use]
    pub const fn new(from: Dn, to: Dn) -> Self {
        Self(MapNames::new(from, to))
    }

    async fn around(&self, inner: &AnyHandler, cx: &Context, _: Request<'_>, out: &mut Entries) -> Answer {
        let message = match self.0.request_message(cx.message()) {
            Flow::Replace(octets) => octets.into(),
            _ => cx.message().clone(),
        };
        let names = self.0.clone();
        let change = move |entry: Draft| Some(names.shown(&entry));
        let mapped = Context { message: message.clone(), ..cx.clone() };
        let limits = Limits { message: usize::MAX, ..Limits::default() };
        let decoded = match proto::decode(&message, &limits) {
            Ok(decoded) => decoded,
            Err(error) => return error.into(),
        };
        let request = match Request::of(&decoded.protocol_op) {
            Ok(request) => request,
            Err(error) => return error.into(),
        };
        let bound = if let Request::Bind(bind) = &request { Some(bind.dn.to_owned()) } else { None };
        out.changes.push(Arc::new(change));
        let mut answer = inner.handle(&mapped, request, out).await;
        out.changes.pop();
        answer.result.matched_dn = self.0.shown_name(&answer.result.matched_dn);
        if bound.is_some() && answer.code() == ResultCode::SUCCESS {
            // The handler knows the connection by another name.
            answer.identity = answer.identity.or(bound).map(|dn| self.0.shown_name(&dn));
        }
        answer
    }
}

layer!(MapDn);

/// Disturbs requests, for tests of clients.
#[derive(Clone, Debug, Default)]
pub struct Fault {
    delay: Option<Duration>,
    code: Option<ResultCode>,
    only: Option<String>,
    hangs: bool,
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

    /// Disturbs only one operation, by the name that [`Request::name`] gives it.
    #[must_use]
    pub fn only(mut self, operation: impl Into<String>) -> Self {
        self.only = Some(operation.into());
        self
    }

    async fn around(
        &self,
        inner: &AnyHandler,
        cx: &Context,
        request: Request<'_>,
        out: &mut Entries,
    ) -> Answer {
        if self.only.as_deref().is_some_and(|only| only != request.name()) {
            return inner.handle(cx, request, out).await;
        }
        if let Some(delay) = self.delay {
            tokio::time::sleep(delay).await;
        }
        if self.hangs {
            std::future::pending::<()>().await;
        }
        match self.code {
            Some(code) => code.into(),
            None => inner.handle(cx, request, out).await,
        }
    }
}

layer!(Fault);

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

    async fn around(
        &self,
        inner: &AnyHandler,
        cx: &Context,
        request: Request<'_>,
        out: &mut Entries,
    ) -> Answer {
        self.0.around(inner, cx, request, out).await
    }
}

layer!(AccessLog);

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

    async fn around(
        &self,
        inner: &AnyHandler,
        cx: &Context,
        request: Request<'_>,
        out: &mut Entries,
    ) -> Answer {
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

layer!(Metrics);

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
