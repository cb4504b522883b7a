//! What answers requests.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use super::request::{Add, Bind, Compare, Delete, Extended, Modify, Rename, Request, Search};
use super::{Answer, Context, Entries};

/// Answers requests. Each method has a default: anonymous binds succeed, and all else is `unwillingToPerform` (53).
///
/// Methods may be written as `async fn`. Requests of one connection run at the same time, except binds, which end those before them;
/// a slow method holds up nobody else. Methods are dropped at an `.await` if the client abandons or cancels the request or goes away,
/// and if the time of a search is over.
pub trait Handler: Send + Sync + 'static {
    /// Answers a bind. After `success` the connection has the name of the request, or that of [`Answer::with_identity`].
    ///
    /// Binds with a name and an empty password never come here: the server refuses them (RFC 4513 5.1.2).
    fn bind(&self, cx: &Context, request: Bind<'_>) -> impl Future<Output = Answer> + Send {
        _ = cx;
        let is_anonymous = request.is_anonymous();
        async move { if is_anonymous { Answer::success() } else { Answer::unwilling() } }
    }

    /// Answers a search; entries go to `out`.
    fn search(
        &self,
        cx: &Context,
        request: Search<'_>,
        out: &mut Entries,
    ) -> impl Future<Output = Answer> + Send {
        _ = (cx, request, out);
        async { Answer::unwilling() }
    }

    /// Answers an addition.
    fn add(&self, cx: &Context, request: Add<'_>) -> impl Future<Output = Answer> + Send {
        _ = (cx, request);
        async { Answer::unwilling() }
    }

    /// Answers a modification.
    fn modify(&self, cx: &Context, request: Modify<'_>) -> impl Future<Output = Answer> + Send {
        _ = (cx, request);
        async { Answer::unwilling() }
    }

    /// Answers a deletion.
    fn delete(&self, cx: &Context, request: Delete<'_>) -> impl Future<Output = Answer> + Send {
        _ = (cx, request);
        async { Answer::unwilling() }
    }

    /// Answers a request for another name or place.
    fn rename(&self, cx: &Context, request: Rename<'_>) -> impl Future<Output = Answer> + Send {
        _ = (cx, request);
        async { Answer::unwilling() }
    }

    /// Answers a comparison.
    fn compare(&self, cx: &Context, request: Compare<'_>) -> impl Future<Output = Answer> + Send {
        _ = (cx, request);
        async { Answer::unwilling() }
    }

    /// Answers an extended operation. StartTLS, Cancel and Who am I? never come here.
    fn extended(&self, cx: &Context, request: Extended<'_>) -> impl Future<Output = Answer> + Send {
        _ = (cx, request);
        async { Answer::unwilling() }
    }

    /// Answers any request: by default, the method of its operation does. Layers override this method.
    fn handle(
        &self,
        cx: &Context,
        request: Request<'_>,
        out: &mut Entries,
    ) -> impl Future<Output = Answer> + Send {
        async move {
            match request {
                Request::Bind(request) => self.bind(cx, request).await,
                Request::Search(request) => self.search(cx, request, out).await,
                Request::Add(request) => self.add(cx, request).await,
                Request::Modify(request) => self.modify(cx, request).await,
                Request::Delete(request) => self.delete(cx, request).await,
                Request::Rename(request) => self.rename(cx, request).await,
                Request::Compare(request) => self.compare(cx, request).await,
                Request::Extended(request) => self.extended(cx, request).await,
            }
        }
    }

    /// Hears of a new connection.
    fn connected(&self, cx: &Context) -> impl Future<Output = ()> + Send {
        _ = cx;
        async {}
    }

    /// Hears of the end of a connection.
    fn closed(&self, cx: &Context) -> impl Future<Output = ()> + Send {
        _ = cx;
        async {}
    }

    /// Returns the object identifiers of the controls that the handler knows. A request with another critical control is answered by
    /// `unavailableCriticalExtension` (12).
    fn supported_controls(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns attributes of the root DSE (RFC 4512 5.1), such as `namingContexts`, besides those of the server.
    fn root_dse(&self) -> Vec<(String, Vec<String>)> {
        Vec::new()
    }
}

type Pending<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A handler without its type.
trait Erased: Send + Sync {
    fn handle<'a>(
        &'a self,
        cx: &'a Context,
        request: Request<'a>,
        out: &'a mut Entries,
    ) -> Pending<'a, Answer>;
    fn connected<'a>(&'a self, cx: &'a Context) -> Pending<'a, ()>;
    fn closed<'a>(&'a self, cx: &'a Context) -> Pending<'a, ()>;
    fn supported_controls(&self) -> Vec<String>;
    fn root_dse(&self) -> Vec<(String, Vec<String>)>;
}

impl<H: Handler> Erased for H {
    fn handle<'a>(
        &'a self,
        cx: &'a Context,
        request: Request<'a>,
        out: &'a mut Entries,
    ) -> Pending<'a, Answer> {
        Box::pin(Handler::handle(self, cx, request, out))
    }

    fn connected<'a>(&'a self, cx: &'a Context) -> Pending<'a, ()> {
        Box::pin(Handler::connected(self, cx))
    }

    fn closed<'a>(&'a self, cx: &'a Context) -> Pending<'a, ()> {
        Box::pin(Handler::closed(self, cx))
    }

    fn supported_controls(&self) -> Vec<String> {
        Handler::supported_controls(self)
    }

    fn root_dse(&self) -> Vec<(String, Vec<String>)> {
        Handler::root_dse(self)
    }
}

/// Any handler. Clones share it.
#[derive(Clone)]
pub struct AnyHandler(Arc<dyn Erased>);

impl std::fmt::Debug for AnyHandler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("AnyHandler")
    }
}

impl AnyHandler {
    /// Returns a handler without its type.
    pub fn new(handler: impl Handler) -> Self {
        Self(Arc::new(handler))
    }
}

impl Handler for AnyHandler {
    async fn handle(&self, cx: &Context, request: Request<'_>, out: &mut Entries) -> Answer {
        self.0.handle(cx, request, out).await
    }

    async fn connected(&self, cx: &Context) {
        self.0.connected(cx).await;
    }

    async fn closed(&self, cx: &Context) {
        self.0.closed(cx).await;
    }

    fn supported_controls(&self) -> Vec<String> {
        self.0.supported_controls()
    }

    fn root_dse(&self) -> Vec<(String, Vec<String>)> {
        self.0.root_dse()
    }
}

/// Puts something around a handler.
pub trait Layer: Send + 'static {
    /// Returns the handler with this layer around it.
    fn layer(self: Box<Self>, inner: AnyHandler) -> AnyHandler;
}

impl<F: FnOnce(AnyHandler) -> AnyHandler + Send + 'static> Layer for F {
    fn layer(self: Box<Self>, inner: AnyHandler) -> AnyHandler {
        self(inner)
    }
}
