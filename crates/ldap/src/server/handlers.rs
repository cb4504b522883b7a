//! Handlers that are ready to use.

use std::collections::HashSet;
use std::io::BufRead;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Map, Value};

use super::{Answer, AnyHandler, Context, Entries, Handler, Request};
use crate::dn::Dn;
use crate::entry::Draft;
use crate::error::{Error, ErrorKind, Result};
use crate::proto::ResultCode;
use crate::url::Scope;

/// Gives requests to handlers by their names: the longest base decides.
///
/// A search whose scope reaches the bases of other handlers is answered by each of them, one after another. Extended operations, and
/// requests for a name below none of the bases, go to the fallback; without one the answer is `noSuchObject`. A bind goes to the
/// handler of its name; an anonymous one succeeds.
#[derive(Debug, Default)]
pub struct Router {
    routes: Vec<(Dn, AnyHandler)>,
    fallback: Option<AnyHandler>,
}

impl Router {
    /// Returns a router without routes.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a handler for a base and all below it.
    ///
    /// # Errors
    /// The base is not a name.
    pub fn route(mut self, base: &str, handler: impl Handler) -> Result<Self> {
        self.routes.push((base.parse()?, AnyHandler::new(handler)));
        // Longest first.
        self.routes.sort_by_key(|(base, _)| std::cmp::Reverse(base.rdns().len()));
        Ok(self)
    }

    /// Sets the handler of all other requests.
    #[must_use]
    pub fn fallback(mut self, handler: impl Handler) -> Self {
        self.fallback = Some(AnyHandler::new(handler));
        self
    }

    fn of(&self, dn: &Dn) -> Option<&AnyHandler> {
        let found = self.routes.iter().find(|(base, _)| dn.is_within(base)).map(|(_, handler)| handler);
        found.or(self.fallback.as_ref())
    }
}

impl Handler for Router {
    async fn handle(&self, cx: &Context, request: Request<'_>, out: &mut Entries) -> Answer {
        let Some(name) = request.dn() else {
            return match &self.fallback {
                Some(handler) => handler.handle(cx, request, out).await,
                None => Answer::unwilling(),
            };
        };
        if let Request::Bind(bind) = &request
            && bind.is_anonymous()
        {
            return Answer::success();
        }
        let Ok(dn) = name.parse::<Dn>() else {
            return Answer::new(ResultCode::INVALID_DN_SYNTAX);
        };
        let found = self.of(&dn);
        let Request::Search(search) = &request else {
            return match found {
                Some(handler) => handler.handle(cx, request, out).await,
                None => Answer::new(ResultCode::NO_SUCH_OBJECT),
            };
        };
        let reached: Vec<_> = self
            .routes
            .iter()
            .rev()
            .filter(|(base, _)| {
                let levels = base.rdns().len().saturating_sub(dn.rdns().len());
                levels > 0
                    && base.is_within(&dn)
                    && match search.scope {
                        Scope::Base => false,
                        Scope::One => levels == 1,
                        Scope::Sub | Scope::Children => true,
                    }
            })
            .collect();
        let mut answer = match found {
            Some(handler) => handler.handle(cx, request.clone(), out).await,
            None if reached.is_empty() => return Answer::new(ResultCode::NO_SUCH_OBJECT),
            None => Answer::success(),
        };
        for (base, handler) in reached {
            if answer.code() != ResultCode::SUCCESS {
                break;
            }
            let base = base.to_string();
            let mut below = search.clone();
            below.base = &base;
            if below.scope == Scope::One {
                below.scope = Scope::Base;
            } else {
                below.scope = Scope::Sub;
            }
            let message = below.message(cx);
            let mapped = Context { message, ..cx.clone() };
            answer = handler.handle(&mapped, Request::Search(below), out).await;
        }
        answer
    }

    fn supported_controls(&self) -> Vec<String> {
        // A control that one handler does not know must not reach it.
        let mut handlers = self.routes.iter().map(|(_, handler)| handler).chain(&self.fallback);
        let Some(first) = handlers.next() else { return Vec::new() };
        let mut common = first.supported_controls();
        for handler in handlers {
            let known: HashSet<String> = handler.supported_controls().into_iter().collect();
            common.retain(|oid| known.contains(oid));
        }
        common
    }

    fn root_dse(&self) -> Vec<(String, Vec<String>)> {
        vec![("namingContexts".to_owned(), self.routes.iter().map(|(base, _)| base.to_string()).collect())]
    }

    async fn connected(&self, cx: &Context) {
        for handler in self.routes.iter().map(|(_, handler)| handler).chain(&self.fallback) {
            handler.connected(cx).await;
        }
    }

    async fn closed(&self, cx: &Context) {
        for handler in self.routes.iter().map(|(_, handler)| handler).chain(&self.fallback) {
            handler.closed(cx).await;
        }
    }
}

/// Answers by a list of rules, for tests of clients.
///
/// Rules are JSON objects, one a line: `{"op":"search","dn":"o=test","entries":[{"dn":"o=test","o":["test"]}]}`. `op` is the name of
/// an operation ([`Request::name`]) and `dn` a name; a rule without them matches all. The first rule that matches decides: `entries`
/// are sent by a search, `code` and `message` are the result, `success` by default. Without a matching rule the answer is
/// `unwillingToPerform`.
#[derive(Clone, Debug, Default)]
pub struct Canned(Arc<Vec<Rule>>);

#[derive(Clone, Debug)]
struct Rule {
    operation: Option<String>,
    dn: Option<Dn>,
    answer: Answer,
    entries: Vec<Draft>,
}

impl Canned {
    /// Reads rules.
    ///
    /// # Errors
    /// A line is not a rule; the error has its number.
    pub fn read(input: impl BufRead) -> Result<Self> {
        let mut rules = Vec::new();
        for (number, line) in input.lines().enumerate() {
            let line = line?;
            if !line.trim().is_empty() {
                rules.push(rule(&line).map_err(|error| error.about(format_args!("line {}", number + 1)))?);
            }
        }
        Ok(Self(Arc::new(rules)))
    }
}

fn wrong(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Syntax, message)
}

fn rule(line: &str) -> Result<Rule> {
    let fields: Map<String, Value> = serde_json::from_str(line).map_err(|error| wrong(error.to_string()))?;
    let mut rule = Rule { operation: None, dn: None, answer: Answer::success(), entries: Vec::new() };
    for (name, value) in fields {
        match (name.as_str(), value) {
            ("op", Value::String(operation)) => rule.operation = Some(operation),
            ("dn", Value::String(dn)) => rule.dn = Some(dn.parse()?),
            ("code", Value::Number(number)) => {
                let code = number.as_u64().and_then(|number| u32::try_from(number).ok());
                rule.answer.result.code =
                    ResultCode(code.ok_or_else(|| wrong("`code` is not a result code"))?);
            }
            ("message", Value::String(message)) => rule.answer.result.message = message,
            ("entries", Value::Array(entries)) => {
                rule.entries = entries.into_iter().map(entry).collect::<Result<_>>()?;
            }
            _ => return Err(wrong(format!("unknown or wrong member `{name}`"))),
        }
    }
    Ok(rule)
}

fn entry(value: Value) -> Result<Draft> {
    let Value::Object(mut fields) = value else { return Err(wrong("an entry is an object")) };
    let Some(Value::String(dn)) = fields.remove("dn") else { return Err(wrong("an entry without `dn`")) };
    let text = |value: Value| match value {
        Value::String(text) => Ok(text),
        _ => Err(wrong("values are texts")),
    };
    let mut attributes = Vec::new();
    for (name, values) in fields {
        let values = match values {
            Value::Array(values) => values.into_iter().map(text).collect::<Result<Vec<_>>>()?,
            value => vec![text(value)?],
        };
        attributes.push((name, values));
    }
    Ok(Draft::new(dn, attributes))
}

impl Handler for Canned {
    async fn handle(&self, _: &Context, request: Request<'_>, out: &mut Entries) -> Answer {
        let dn = request.dn().and_then(|dn| dn.parse::<Dn>().ok());
        let matches = |rule: &&Rule| {
            rule.operation.as_deref().is_none_or(|operation| operation == request.name())
                && rule.dn.as_ref().is_none_or(|asked| dn.as_ref() == Some(asked))
        };
        let Some(rule) = self.0.iter().find(matches) else { return Answer::unwilling() };
        if let Request::Search(_) = request {
            for entry in &rule.entries {
                if out.entry(entry).await.is_err() {
                    break;
                }
            }
        }
        rule.answer.clone()
    }
}

/// Records requests, for tests. Clones share the records.
#[derive(Clone, Debug)]
pub struct Accumulate {
    inner: AnyHandler,
    recorded: Arc<Mutex<Vec<Recorded>>>,
}

/// A request that [`Accumulate`] has seen, and its result.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Recorded {
    /// The number of the connection.
    pub connection: u64,
    /// The name of the operation.
    pub operation: &'static str,
    /// The name of the entry.
    pub dn: Option<String>,
    /// The whole message.
    pub message: Vec<u8>,
    /// The result code.
    pub code: ResultCode,
}

impl Accumulate {
    /// Records the requests that a handler answers.
    pub fn new(inner: impl Handler) -> Self {
        Self { inner: AnyHandler::new(inner), recorded: Arc::default() }
    }

    /// Returns what was recorded, and forgets it.
    #[must_use]
    pub fn take(&self) -> Vec<Recorded> {
        std::mem::take(&mut *self.recorded.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Handler for Accumulate {
    async fn handle(&self, cx: &Context, request: Request<'_>, out: &mut Entries) -> Answer {
        let (operation, dn) = (request.name(), request.dn().map(str::to_owned));
        let answer = self.inner.handle(cx, request, out).await;
        self.recorded.lock().unwrap_or_else(PoisonError::into_inner).push(Recorded {
            connection: cx.connection(),
            operation,
            dn,
            message: cx.message().to_vec(),
            code: answer.code(),
        });
        answer
    }

    async fn connected(&self, cx: &Context) {
        self.inner.connected(cx).await;
    }

    async fn closed(&self, cx: &Context) {
        self.inner.closed(cx).await;
    }

    fn supported_controls(&self) -> Vec<String> {
        self.inner.supported_controls()
    }

    fn root_dse(&self) -> Vec<(String, Vec<String>)> {
        self.inner.root_dse()
    }
}
