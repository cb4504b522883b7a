//! One connection: messages in, requests to the handler, answers out.

use std::collections::HashMap;
use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::{Buf as _, Bytes, BytesMut};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, WriteHalf, split};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::task::{AbortHandle, Id, JoinSet};
use tokio::time::{Instant, sleep_until, timeout};

use super::context::{self, Context};
use super::entries::{Entries, Progress, Sink, Watched};
use super::request::{Request, Search};
use super::{Answer, AnyHandler, Authentication, Handler as _, tag};
use crate::client::Io;
use crate::directory::{ServerTls, notice};
use crate::entry::Draft;
use crate::error::{Error, ErrorKind, Result};
use crate::extended;
use crate::generated::ProtocolOp;
use crate::proto::{self, Control, Framer, Incoming, Limits, ResultCode};
use crate::url::Scope;

/// What a server is set to.
#[derive(Debug)]
pub(super) struct Settings {
    pub(super) limits: Limits,
    pub(super) operations: usize,
    pub(super) connections: Option<usize>,
    pub(super) idle: Option<Duration>,
    pub(super) stall: Duration,
    pub(super) time_limit: Option<Duration>,
    pub(super) answers_root: bool,
    pub(super) tls: Option<ServerTls>,
    pub(super) watcher: Option<super::Watcher>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            operations: 100,
            connections: None,
            idle: None,
            stall: Duration::from_secs(60),
            time_limit: None,
            answers_root: true,
            tls: None,
            watcher: None,
        }
    }
}

/// What all connections of a server share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) handler: AnyHandler,
    pub(super) settings: Settings,
    pub(super) stopped: watch::Receiver<bool>,
    pub(super) open: AtomicUsize,
}

impl Shared {
    pub(super) fn is_full(&self) -> bool {
        self.settings.connections.is_some_and(|limit| self.open.load(Ordering::Relaxed) >= limit)
    }
}

/// Counts a connection while it lasts.
struct Counted(Arc<Shared>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Time for the handshake of TLS.
const HANDSHAKE: Duration = Duration::from_secs(30);
/// Bytes that are read at a time.
const READ: usize = 4 << 10;
/// Bytes of requests that may wait while none can begin.
const WAITING: usize = 64 << 10;

/// Serves a connection until its end.
pub(super) async fn serve(
    shared: Arc<Shared>,
    state: Arc<context::Connection>,
    stream: TcpStream,
    tls: bool,
) {
    shared.open.fetch_add(1, Ordering::Relaxed);
    let _counted = Counted(Arc::clone(&shared));
    let mut io: Box<dyn Io> = Box::new(stream);
    if tls {
        match handshake(&shared, io).await {
            Ok(encrypted) => io = encrypted,
            Err(_) => return,
        }
    }
    let context = state.context();
    shared.handler.connected(&context).await;
    // An error has been reported to the client where that was possible.
    while let Ok(Ended::Upgrade(plain)) = run(&shared, &state, io).await {
        match handshake(&shared, plain).await {
            Ok(encrypted) => io = encrypted,
            Err(_) => break,
        }
        state.is_tls.store(true, Ordering::Relaxed);
    }
    shared.handler.closed(&context).await;
}

async fn handshake(shared: &Shared, io: Box<dyn Io>) -> Result<Box<dyn Io>> {
    let tls = shared.settings.tls.as_ref();
    let tls = tls.ok_or_else(|| Error::new(ErrorKind::Tls, "no certificate"))?;
    let late = |_| Error::new(ErrorKind::Timeout, "no handshake in time");
    timeout(HANDSHAKE, tls.accept(io)).await.map_err(late)?
}

/// Why a connection does not go on as it is.
enum Ended {
    Closed,
    /// The handshake of TLS comes next.
    Upgrade(Box<dyn Io>),
}

/// The requests that run.
#[derive(Default)]
struct Running {
    tasks: JoinSet<Result<()>>,
    by_id: HashMap<u32, (AbortHandle, Arc<Progress>)>,
    /// Message ID and operation by task.
    ids: HashMap<Id, (u32, u8)>,
    /// Whether a bind runs: it runs alone.
    is_binding: bool,
}

impl Running {
    /// Ends a request; returns whether it was running.
    fn end(&mut self, id: u32) -> bool {
        let Some((task, progress)) = self.by_id.get(&id) else { return false };
        let was_running = progress.end();
        task.abort();
        was_running
    }

    fn end_all(&mut self) {
        for (task, progress) in self.by_id.values() {
            progress.end();
            task.abort();
        }
    }
}

/// What a message leads to.
#[derive(PartialEq, Eq)]
enum Next {
    Go,
    End,
    Upgrade,
}

struct Session<'s> {
    shared: &'s Arc<Shared>,
    state: &'s Arc<context::Connection>,
    sink: Arc<Sink>,
    running: Running,
}

async fn run(shared: &Arc<Shared>, state: &Arc<context::Connection>, io: Box<dyn Io>) -> Result<Ended> {
    let settings = &shared.settings;
    let framer = Framer::new(settings.limits);
    let (mut from, mut to) = split(io);
    let watched = settings.watcher.clone().map(|watcher| Watched { watcher, cx: state.context() });
    let sink = Arc::new(Sink::new(watched));
    let mut session = Session { shared, state, sink, running: Running::default() };
    let mut stopped = shared.stopped.clone();
    let (mut input, mut output) = (BytesMut::new(), BytesMut::new());
    let (mut is_ending, mut is_stopping, mut upgrades) = (false, false, false);
    let mut is_flushed = true;
    let mut last_request = Instant::now();
    let mut last_written = Instant::now();
    loop {
        while !is_ending && !session.running.is_binding {
            let next = match framer.next(&mut input) {
                Ok(None) => break,
                Ok(Some(incoming)) => {
                    last_request = Instant::now();
                    if let Some(watcher) = &settings.watcher {
                        watcher.0.received(&state.context(), &incoming.octets);
                    }
                    session.take(incoming)
                }
                Err(error) => Err(error),
            };
            match next {
                Ok(Next::Go) => {}
                Ok(next) => {
                    is_ending = true;
                    upgrades = next == Next::Upgrade;
                    if upgrades && !input.is_empty() {
                        let message = "requests between StartTLS and the handshake";
                        return Err(Error::new(ErrorKind::Protocol, message));
                    }
                }
                Err(error) => {
                    session.notify(&error, ResultCode::PROTOCOL_ERROR);
                    is_ending = true;
                }
            }
        }
        if input.is_empty() && input.capacity() > READ {
            // What a long request needed is not kept for an idle connection.
            input = BytesMut::new();
        }
        if is_stopping && session.running.tasks.is_empty() {
            is_stopping = false;
            session.notify(&Error::new(ErrorKind::Closed, "the server stops"), ResultCode::UNAVAILABLE);
        }
        if output.is_empty() {
            output = session.sink.take();
            if !output.is_empty() {
                last_written = Instant::now();
                is_flushed = false;
            }
        }
        let is_idle = session.running.tasks.is_empty();
        if is_ending && is_idle && output.is_empty() && is_flushed {
            if upgrades {
                return Ok(Ended::Upgrade(from.unsplit(to)));
            }
            _ = to.shutdown().await;
            return Ok(Ended::Closed);
        }
        let reads = !is_ending && (!session.running.is_binding || input.len() < WAITING);
        if reads {
            input.reserve(READ);
        }
        let idle = settings.idle.filter(|_| is_idle && output.is_empty() && !is_ending);
        tokio::select! {
            count = from.read_buf(&mut input), if reads => if count? == 0 {
                return Ok(Ended::Closed);
            },
            written = write(&mut to, &output), if !is_flushed => {
                match written? {
                    Some(count) => output.advance(count),
                    None => is_flushed = true,
                }
                last_written = Instant::now();
                if output.is_empty() {
                    output = BytesMut::new();
                }
            },
            () = session.sink.filled.notified(), if output.is_empty() => {},
            Some(done) = session.running.tasks.join_next_with_id(), if !is_idle => {
                if let Err(error) = session.ended(done) {
                    session.notify(&error, ResultCode::PROTOCOL_ERROR);
                    session.running.end_all();
                    is_ending = true;
                }
            },
            () = at(idle.map(|idle| last_request + idle)) => {
                let error = Error::new(ErrorKind::Timeout, "no request in time");
                session.notify(&error, ResultCode::UNAVAILABLE);
                is_ending = true;
            },
            () = sleep_until(last_written + settings.stall), if !is_flushed => {
                return Err(Error::new(ErrorKind::Timeout, "the client does not read"));
            },
            () = state.closing.notified() => {
                session.running.end_all();
                return Ok(Ended::Closed);
            },
            () = stopping(&mut stopped), if !is_ending => {
                is_ending = true;
                is_stopping = true;
            },
        }
    }
}

/// Waits until the server stops.
pub(super) async fn stopping(stopped: &mut watch::Receiver<bool>) {
    // An error means that the server is gone.
    _ = stopped.wait_for(|stopped| *stopped).await;
}

/// Writes some bytes and returns their number; without any, flushes and returns nothing.
async fn write(to: &mut WriteHalf<Box<dyn Io>>, octets: &[u8]) -> std::io::Result<Option<usize>> {
    if octets.is_empty() {
        to.flush().await?;
        return Ok(None);
    }
    to.write(octets).await.map(Some)
}

/// Waits until a time; for ever if there is none.
async fn at(time: Option<Instant>) {
    match time {
        Some(time) => sleep_until(time).await,
        None => pending().await,
    }
}

impl Session<'_> {
    /// Sends a notice of disconnection (RFC 4511 4.4.1).
    fn notify(&self, error: &Error, code: ResultCode) {
        if let Ok(octets) = notice(error, code) {
            self.sink.put(&octets);
        }
    }

    /// Answers a request that does not go to the handler.
    fn answer(&self, id: u32, operation: u8, answer: &Answer) -> Result<()> {
        if let Some(response) = answer.operation(operation) {
            let mut octets = Vec::new();
            proto::encode(id, response, answer.controls(), &mut octets)?;
            self.sink.put(&octets);
        }
        Ok(())
    }

    /// Takes a message.
    fn take(&mut self, incoming: Incoming) -> Result<Next> {
        let Incoming { octets, id, operation, .. } = incoming;
        match operation {
            tag::UNBIND => {
                self.running.end_all();
                return Ok(Next::End);
            }
            tag::ABANDON => {
                let message = proto::decode(&octets, &self.shared.settings.limits)?;
                if let ProtocolOp::AbandonRequest(id) = message.protocol_op {
                    self.running.end(id);
                }
                return Ok(Next::Go);
            }
            tag::BIND | tag::SEARCH | tag::MODIFY | tag::ADD | tag::DELETE | tag::RENAME | tag::COMPARE => {}
            tag::EXTENDED => {
                if let Some(next) = self.extended(id, &octets)? {
                    return Ok(next);
                }
            }
            _ => {
                let message = format!("operation {operation:02X} is not a request");
                return Err(Error::new(ErrorKind::Protocol, message));
            }
        }
        if self.running.by_id.contains_key(&id) {
            return Err(Error::new(ErrorKind::Protocol, format!("message ID {id} is in use")));
        }
        if operation == tag::BIND {
            // A bind ends the requests before it (RFC 4511 4.2.1), and the connection is anonymous until it succeeds.
            self.running.end_all();
            self.running.is_binding = true;
            self.state.set_identity("");
        } else if self.running.tasks.len() >= self.shared.settings.operations {
            let answer = Answer::new(ResultCode::BUSY).with_message("too many requests at one time");
            self.answer(id, operation, &answer)?;
            return Ok(Next::Go);
        }
        let progress = Arc::<Progress>::default();
        let work = operate(
            Arc::clone(self.shared),
            Arc::clone(self.state),
            (octets, id, operation),
            Entries::new(Arc::clone(&self.sink), Arc::clone(&progress), id),
            Arc::clone(&progress),
            Arc::clone(&self.sink),
        );
        let task = self.running.tasks.spawn(work);
        self.running.ids.insert(task.id(), (id, operation));
        self.running.by_id.insert(id, (task, progress));
        Ok(Next::Go)
    }

    /// Answers the extended operations of the server; returns nothing for others.
    fn extended(&mut self, id: u32, octets: &Bytes) -> Result<Option<Next>> {
        let message = proto::decode(octets, &self.shared.settings.limits)?;
        let ProtocolOp::ExtendedReq(request) = &message.protocol_op else { return Ok(None) };
        let (answer, next) = match &*request.request_name {
            name if name == extended::WHO_AM_I.as_bytes() => {
                let identity = self.state.context().identity();
                let value = if identity.is_empty() { String::new() } else { format!("dn:{identity}") };
                (Answer::success().with_value(value), Next::Go)
            }
            name if name == extended::CANCEL.as_bytes() => {
                let answer = match extended::read_cancel(request.request_value.as_deref().unwrap_or_default())
                {
                    Err(error) => Answer::new(ResultCode::PROTOCOL_ERROR).with_message(error.to_string()),
                    Ok(other) => self.cancel(other)?,
                };
                (answer, Next::Go)
            }
            name if name == extended::START_TLS.as_bytes() => {
                let answer = if self.shared.settings.tls.is_none() {
                    Answer::new(ResultCode::UNAVAILABLE).with_message("no certificate")
                } else if self.state.context().is_tls() {
                    Answer::new(ResultCode::OPERATIONS_ERROR).with_message("TLS is there already")
                } else if !self.running.tasks.is_empty() {
                    Answer::new(ResultCode::OPERATIONS_ERROR).with_message("other requests run")
                } else {
                    Answer::success()
                };
                let next = if answer.code() == ResultCode::SUCCESS { Next::Upgrade } else { Next::Go };
                (Answer { name: Some(extended::START_TLS.to_owned()), ..answer }, next)
            }
            _ => return Ok(None),
        };
        self.answer(id, tag::EXTENDED, &answer)?;
        Ok(Some(next))
    }

    /// Ends a request by Cancel (RFC 3909), with an answer to it.
    fn cancel(&mut self, id: u32) -> Result<Answer> {
        let operation = self.running.by_id.get(&id).and_then(|(task, _)| self.running.ids.get(&task.id()));
        let operation = operation.map(|(_, operation)| *operation);
        if !self.running.end(id) {
            return Ok(Answer::new(ResultCode::NO_SUCH_OPERATION));
        }
        if let Some(operation) = operation {
            self.answer(id, operation, &Answer::new(ResultCode::CANCELED))?;
        }
        Ok(Answer::success())
    }

    /// Takes note of a request that has ended.
    fn ended(&mut self, done: Result<(Id, Result<()>), tokio::task::JoinError>) -> Result<()> {
        let (task, outcome) = match done {
            Ok((task, outcome)) => (task, outcome),
            Err(error) => {
                let ended = self.running.ids.get(&error.id()).copied();
                if error.is_panic()
                    && let Some((id, operation)) = ended
                    && self.running.end(id)
                {
                    self.answer(
                        id,
                        operation,
                        &Answer::new(ResultCode::OTHER).with_message("internal error"),
                    )?;
                }
                (error.id(), Ok(()))
            }
        };
        if let Some((id, operation)) = self.running.ids.remove(&task) {
            self.running.by_id.remove(&id);
            if operation == tag::BIND {
                self.running.is_binding = false;
            }
        }
        outcome
    }
}

/// Answers one request.
///
/// # Errors
/// The message is malformed, so that the connection has to end.
async fn operate(
    shared: Arc<Shared>,
    state: Arc<context::Connection>,
    (octets, id, operation): (Bytes, u32, u8),
    mut out: Entries,
    progress: Arc<Progress>,
    sink: Arc<Sink>,
) -> Result<()> {
    let message = proto::decode(&octets, &shared.settings.limits)?;
    let controls: Vec<Control> = message
        .controls
        .unwrap_or_default()
        .into_iter()
        .map(proto::control::from_asn1)
        .collect::<Result<_>>()?;
    let context = Context {
        connection: Arc::clone(&state),
        message_id: id,
        controls: controls.into(),
        message: octets.clone(),
    };
    let answer = match Request::of(&message.protocol_op) {
        Ok(request) => {
            let answer = judged(&shared, &context, request, &mut out).await;
            out.judged(answer)
        }
        Err(error) => error.into(),
    };
    let Some(response) = answer.operation(operation) else { return Ok(()) };
    let mut encoded = Vec::new();
    proto::encode(id, response, answer.controls(), &mut encoded)?;
    if progress.end() {
        sink.put(&encoded);
    }
    Ok(())
}

/// Answers a request, if the server need not refuse it.
async fn judged(shared: &Shared, context: &Context, request: Request<'_>, out: &mut Entries) -> Answer {
    let handler = &shared.handler;
    if context.controls.iter().any(|control| control.critical) {
        let supported = handler.supported_controls();
        let is_unknown = |control: &&Control| control.critical && !supported.contains(&control.oid);
        if let Some(control) = context.controls.iter().find(is_unknown) {
            return Answer::new(ResultCode::UNAVAILABLE_CRITICAL_EXTENSION)
                .with_message(format!("control {} is not known", control.oid));
        }
    }
    match request {
        Request::Bind(request) => {
            let dn = request.dn;
            if matches!(request.authentication, Authentication::Simple([])) && !dn.is_empty() {
                return Answer::unwilling().with_message("a name without a password");
            }
            let answer = handler.handle(context, Request::Bind(request), out).await;
            if answer.code() == ResultCode::SUCCESS {
                context.connection.set_identity(answer.identity.as_deref().unwrap_or(dn));
            }
            answer
        }
        Request::Search(request) => {
            out.limit(&request);
            if shared.settings.answers_root && request.base.is_empty() && request.scope == Scope::Base {
                return root(shared, context, &request, out).await;
            }
            let asked = (request.time_limit > 0).then(|| Duration::from_secs(request.time_limit.into()));
            let limit = [asked, shared.settings.time_limit].into_iter().flatten().min();
            let search = handler.handle(context, Request::Search(request), out);
            match limit {
                None => search.await,
                Some(limit) => timeout(limit, search)
                    .await
                    .unwrap_or_else(|_| Answer::new(ResultCode::TIME_LIMIT_EXCEEDED)),
            }
        }
        request => handler.handle(context, request, out).await,
    }
}

/// Answers a search of the root DSE.
async fn root(shared: &Shared, context: &Context, request: &Search<'_>, out: &mut Entries) -> Answer {
    let mut extensions = vec![extended::WHO_AM_I.to_owned(), extended::CANCEL.to_owned()];
    if shared.settings.tls.is_some() && !context.is_tls() {
        extensions.push(extended::START_TLS.to_owned());
    }
    let mut attributes = vec![
        ("objectClass".to_owned(), vec!["top".to_owned()]),
        ("supportedLDAPVersion".to_owned(), vec!["3".to_owned()]),
        ("supportedExtension".to_owned(), extensions),
    ];
    let controls = shared.handler.supported_controls();
    if !controls.is_empty() {
        attributes.push(("supportedControl".to_owned(), controls));
    }
    for (name, values) in shared.handler.root_dse() {
        match attributes.iter_mut().find(|(known, _)| known.eq_ignore_ascii_case(&name)) {
            Some((_, known)) => {
                for value in values {
                    if !known.contains(&value) {
                        known.push(value);
                    }
                }
            }
            None => attributes.push((name, values)),
        }
    }
    let entry = Draft::new("", attributes);
    if request.matches(&entry) {
        _ = out.entry(&entry).await;
    }
    Answer::success()
}
