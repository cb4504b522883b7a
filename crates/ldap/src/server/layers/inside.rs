//! What layers ask the handler inside of their own accord.

use std::sync::{Arc, Mutex, PoisonError};

use tercet_runtime::types::Octets;

use super::super::entries::{Change, Progress, Sink};
use super::super::request::{Bind, Search};
use super::super::{Answer, AnyHandler, Authentication, Context, Entries, Handler as _, Request};
use super::Call;
use crate::entry::Draft;
use crate::error::Result;
use crate::generated::{self as asn1, ProtocolOp};
use crate::proto::{self, Control, Limits, ResultCode};

/// Returns the limits of messages that were within those of the server already.
fn any_size() -> Limits {
    Limits { message: usize::MAX, ..Limits::default() }
}

impl Context {
    /// Returns the context of another message, with controls.
    ///
    /// # Errors
    /// The message cannot be written.
    pub(crate) fn with_message(&self, operation: ProtocolOp<'_>, controls: &[Control]) -> Result<Self> {
        let mut octets = Vec::new();
        proto::encode(self.message_id, operation, controls, &mut octets)?;
        Ok(Self { controls: controls.into(), message: octets.into(), ..self.clone() })
    }

    /// Returns the context of the message with some of its controls.
    ///
    /// # Errors
    /// The message cannot be written.
    pub(crate) fn with_controls(&self, keeps: impl Fn(&Control) -> bool) -> Result<Self> {
        if self.controls.iter().all(&keeps) {
            return Ok(self.clone());
        }
        let controls: Vec<Control> = self.controls.iter().filter(|control| keeps(control)).cloned().collect();
        let message = proto::decode(&self.message, &any_size())?;
        self.with_message(message.protocol_op, &controls)
    }

    /// Returns the context of a search that asks for other attributes, with some of its controls. It has no size limit: entries are
    /// counted when they go out.
    ///
    /// # Errors
    /// The message cannot be written.
    pub(crate) fn with_search(
        &self,
        search: &Search<'_>,
        attributes: &[&str],
        keeps: impl Fn(&Control) -> bool,
    ) -> Result<Self> {
        let request = asn1::SearchRequest {
            size_limit: 0,
            types_only: false,
            attributes: attributes.iter().map(|name| Octets::borrowed(name.as_bytes())).collect(),
            ..search.as_asn1()
        };
        let controls: Vec<Control> = self.controls.iter().filter(|control| keeps(control)).cloned().collect();
        self.with_message(ProtocolOp::SearchRequest(request), &controls)
    }
}

impl Call<'_> {
    /// Hands the request on with a function that changes entries on their way out.
    pub(crate) async fn changing(self, change: Change) -> Answer {
        let Call { inner, cx, request, out } = self;
        out.changes.push(change);
        let answer = inner.handle(cx, request, out).await;
        out.changes.pop();
        answer
    }
}

/// Hands the message of a context to a handler.
pub(crate) async fn handle(inner: &AnyHandler, cx: &Context, out: &mut Entries) -> Answer {
    let decoded = match proto::decode(&cx.message, &any_size()) {
        Ok(decoded) => decoded,
        Err(error) => return error.into(),
    };
    match Request::of(&decoded.protocol_op) {
        Ok(request) => inner.handle(cx, request, out).await,
        Err(error) => error.into(),
    }
}

/// Hands the message of a context to a handler, with a function that changes entries on their way out.
pub(crate) async fn handle_changing(
    inner: &AnyHandler,
    cx: &Context,
    out: &mut Entries,
    change: Change,
) -> Answer {
    out.changes.push(change);
    let answer = handle(inner, cx, out).await;
    out.changes.pop();
    answer
}

/// Reads an entry by a handler, with all its attributes; nothing if the handler does not show it.
pub(crate) async fn read_entry(inner: &AnyHandler, cx: &Context, dn: &str) -> Option<Draft> {
    let request = asn1::SearchRequest {
        base_object: Octets::borrowed(dn.as_bytes()),
        scope: asn1::SearchRequestScope::BaseObject,
        deref_aliases: asn1::SearchRequestDerefAliases::NeverDerefAliases,
        size_limit: 0,
        time_limit: 0,
        types_only: false,
        filter: asn1::Filter::Present(Octets::borrowed(b"objectClass")),
        attributes: [&b"*"[..], b"+"].map(Octets::borrowed).into(),
    };
    let cx = cx.with_message(ProtocolOp::SearchRequest(request), &[]).ok()?;
    let found: Arc<Mutex<Option<Draft>>> = Arc::default();
    let mut out = Entries::new(Arc::<Sink>::default(), Arc::<Progress>::default(), cx.message_id);
    let kept = Arc::clone(&found);
    let keep = move |entry: Draft| {
        kept.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(entry);
        None
    };
    let answer = handle_changing(inner, &cx, &mut out, Arc::new(keep)).await;
    let found = found.lock().unwrap_or_else(PoisonError::into_inner).take();
    found.filter(|_| answer.code() == ResultCode::SUCCESS)
}

/// Makes the connection anonymous for a handler, after a bind that the handler has accepted and a layer has not.
pub(crate) async fn unbind(inner: &AnyHandler, cx: &Context, out: &mut Entries) {
    let request = asn1::BindRequest {
        version: 3,
        name: Octets::borrowed(b""),
        authentication: asn1::AuthenticationChoice::Simple(Octets::borrowed(b"")),
    };
    if let Ok(cx) = cx.with_message(ProtocolOp::BindRequest(request), &[]) {
        let bind = Bind { dn: "", authentication: Authentication::Simple(b"") };
        inner.handle(&cx, Request::Bind(bind), out).await;
    }
}
