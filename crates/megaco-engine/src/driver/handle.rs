//! Handles of a running engine: requests to be awaited, and answers by token from anywhere.

use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;

use tercet_megaco::List;
use tercet_megaco::model::{ActionRequest, TransactionResult};
use tokio::sync::{mpsc, oneshot};

use super::{Driver, Note, Tls, Url};
use crate::engine::{Asked, Engine, Error, Handler, Replied, ReplyOptions, RequestOptions};
use crate::event::{ConnId, Event, Outcome, RequestId, Token, UserId};
use crate::route::Route;
use crate::time::Time;

/// A call of a handle.
enum Call {
    Listen {
        url: Url,
        answer: oneshot::Sender<io::Result<SocketAddr>>,
    },
    Connect {
        url: Url,
        answer: oneshot::Sender<io::Result<ConnId>>,
    },
    Request {
        conn: ConnId,
        actions: List<ActionRequest<'static>>,
        options: Box<RequestOptions>,
        answer: oneshot::Sender<Result<Outcome, Error>>,
    },
    With(Task),
}

/// What is done with an engine in its task.
type Task = Box<dyn FnOnce(&mut Engine, Time) + Send>;

/// Calls that wait for the task of the engine; a caller waits beyond that.
const CALLS: usize = 1024;

/// A handle of an engine that runs in a task of its own. It can be cloned and sent; the engine stops, after it has sent what is
/// queued, when its last handle is gone.
#[derive(Clone, Debug)]
pub struct Handle {
    calls: mpsc::Sender<Call>,
}

impl std::fmt::Debug for Call {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Call")
    }
}

impl Driver {
    /// Runs the engine in a task of its own, for one user. Returns a handle and what happens, but for the results of requests that
    /// are awaited.
    ///
    /// What happens is queued without a limit of its own, so that a task may await a request while it handles events. Requests of
    /// peers are bounded by `max_replies` and [`Limits`](crate::Limits).
    ///
    /// # Panics
    /// Outside of a runtime of tokio.
    pub fn spawn(self, user: UserId, tls: Tls) -> (Handle, mpsc::UnboundedReceiver<Event>) {
        let (events, happened) = mpsc::unbounded_channel();
        (self.start(user, tls, Output::Events(events)), happened)
    }

    /// Runs the engine in a task of its own, for one user. The handler takes what happens in that task, but for the results of
    /// requests that are awaited; it must not block.
    ///
    /// # Panics
    /// Outside of a runtime of tokio.
    pub fn spawn_with(self, user: UserId, tls: Tls, handler: impl Handler + Send + 'static) -> Handle {
        self.start(user, tls, Output::Handler(Box::new(handler)))
    }

    fn start(self, user: UserId, tls: Tls, output: Output) -> Handle {
        let (calls, receiver) = mpsc::channel(CALLS);
        tokio::spawn(Running { driver: self, user, tls, output, waiting: HashMap::new() }.run(receiver));
        Handle { calls }
    }
}

impl Handle {
    /// Listens. Returns the address; of port 0 any is taken.
    ///
    /// # Errors
    /// The address is in use or cannot be resolved, TLS has no certificate, or the engine has stopped.
    pub async fn listen(&self, url: Url) -> io::Result<SocketAddr> {
        let (answer, done) = oneshot::channel();
        _ = self.calls.send(Call::Listen { url, answer }).await;
        done.await.unwrap_or_else(|_| Err(stopped()))
    }

    /// Opens a way to a peer. The connection is preliminary until the peer has sent its first message.
    ///
    /// # Errors
    /// The peer cannot be reached or resolved, there is such a connection, or the engine has stopped.
    pub async fn connect(&self, url: Url) -> io::Result<ConnId> {
        let (answer, done) = oneshot::channel();
        _ = self.calls.send(Call::Connect { url, answer }).await;
        done.await.unwrap_or_else(|_| Err(stopped()))
    }

    /// Sends a request, and returns how it ended: by its reply, an error, the end of its timer. Whoever stops waiting does not end
    /// the request.
    ///
    /// # Errors
    /// The request cannot be sent, or the engine has stopped.
    pub async fn request(
        &self,
        conn: ConnId,
        actions: List<ActionRequest<'static>>,
        options: RequestOptions,
    ) -> Result<Outcome, Error> {
        let (answer, done) = oneshot::channel();
        let options = Box::new(options);
        _ = self.calls.send(Call::Request { conn, actions, options, answer }).await;
        done.await.unwrap_or(Err(Error::Stopped))
    }

    /// Answers a request of a peer by its token, at any time and from any task.
    ///
    /// # Errors
    /// The request is answered, aborted or forgotten, the reply cannot be encoded, or the engine has stopped.
    pub async fn reply(
        &self,
        token: Token,
        result: TransactionResult<'static>,
        options: ReplyOptions,
    ) -> Result<(), Error> {
        self.with(move |engine, now| engine.reply(now, token, result, &options))
            .await
            .unwrap_or(Err(Error::Stopped))
    }

    /// Calls the engine: what there is no method for here. Returns `None` if it has stopped.
    pub async fn with<R: Send + 'static>(
        &self,
        call: impl FnOnce(&mut Engine, Time) -> R + Send + 'static,
    ) -> Option<R> {
        let (answer, done) = oneshot::channel();
        let call = Box::new(move |engine: &mut Engine, now: Time| {
            // Whoever does not wait any more needs no answer.
            _ = answer.send(call(engine, now));
        });
        self.calls.send(Call::With(call)).await.ok()?;
        done.await.ok()
    }
}

fn stopped() -> io::Error {
    io::Error::new(io::ErrorKind::BrokenPipe, "the engine has stopped")
}

/// Requests that are awaited.
type Waiting = HashMap<RequestId, oneshot::Sender<Result<Outcome, Error>>>;

/// Who takes what happens.
enum Output {
    Events(mpsc::UnboundedSender<Event>),
    Handler(Box<dyn Handler + Send>),
}

/// The task of an engine.
struct Running {
    driver: Driver,
    user: UserId,
    tls: Tls,
    output: Output,
    waiting: Waiting,
}

/// The handler of a task. Results that are awaited are not its own.
struct Others<'h> {
    handler: &'h mut (dyn Handler + Send),
    waiting: &'h mut Waiting,
}

impl Handler for Others<'_> {
    fn request(&mut self, engine: &mut Engine, asked: Asked<'_, '_>) {
        self.handler.request(engine, asked);
    }

    fn reply(&mut self, engine: &mut Engine, replied: Replied<'_, '_>) -> bool {
        !self.waiting.contains_key(&replied.request) && self.handler.reply(engine, replied)
    }

    fn connect(
        &mut self,
        engine: &mut Engine,
        conn: ConnId,
        version: u8,
        route: Route,
    ) -> Result<(), (u16, String)> {
        self.handler.connect(engine, conn, version, route)
    }

    fn event(&mut self, engine: &mut Engine, event: Event) {
        if let Some(event) = awaited(self.waiting, event) {
            self.handler.event(engine, event);
        }
    }
}

/// Takes the result of a request that is awaited; returns any other event.
fn awaited(waiting: &mut Waiting, event: Event) -> Option<Event> {
    match event {
        Event::Result { conn, request, transaction, outcome } => match waiting.remove(&request) {
            Some(answer) => {
                // Whoever does not wait any more needs no answer.
                _ = answer.send(Ok(outcome));
                None
            }
            None => Some(Event::Result { conn, request, transaction, outcome }),
        },
        event => Some(event),
    }
}

impl Running {
    async fn run(mut self, mut calls: mpsc::Receiver<Call>) {
        loop {
            self.deliver();
            self.driver.flush().await;
            // Sending can fail, which ends requests.
            self.deliver();
            let Self { driver, output, waiting, .. } = &mut self;
            let happens = async {
                match output {
                    Output::Events(_) => driver.wait(None).await,
                    Output::Handler(handler) => {
                        driver.wait_with(None, &mut Others { handler: &mut **handler, waiting }).await;
                    }
                }
            };
            let call = tokio::select! {
                () = happens => continue,
                call = calls.recv() => call,
            };
            match call {
                Some(call) => self.call(call).await,
                None => break,
            }
        }
        self.driver.shutdown().await;
    }

    /// Hands on what has happened.
    fn deliver(&mut self) {
        for note in self.driver.take_notes() {
            if let Note::Closed { conns, reason, .. } = note {
                // The association ends for now; requests and answers stay for the next stream.
                let now = self.driver.now();
                for conn in conns {
                    _ = self.driver.engine.disconnect(now, conn, &reason);
                }
            }
        }
        let events = match &mut self.output {
            Output::Events(events) => events,
            Output::Handler(handler) => {
                let now = self.driver.now();
                let mut handler = Others { handler: &mut **handler, waiting: &mut self.waiting };
                return self.driver.engine.deliver(now, &mut handler);
            }
        };
        while let Some(event) = self.driver.engine.poll_event() {
            if let Some(event) = awaited(&mut self.waiting, event) {
                // Whoever is not interested in events has dropped their end.
                _ = events.send(event);
            }
        }
    }

    async fn call(&mut self, call: Call) {
        match call {
            Call::Listen { url, answer } => {
                _ = answer.send(self.driver.listen(self.user, &url, &self.tls).await);
            }
            Call::Connect { url, answer } => {
                let opened = self.driver.open(self.user, &url, &self.tls).await;
                let now = self.driver.now();
                let conn = opened.and_then(|route| {
                    self.driver.engine.connect(now, self.user, None, route).map_err(io::Error::other)
                });
                _ = answer.send(conn);
            }
            Call::Request { conn, actions, options, answer } => {
                let now = self.driver.now();
                match self.driver.engine.request(now, conn, [actions], &options) {
                    Ok(requests) => {
                        if let Some((request, _)) = requests.first() {
                            self.waiting.insert(*request, answer);
                        }
                    }
                    Err(error) => _ = answer.send(Err(error)),
                }
            }
            Call::With(call) => {
                let now = self.driver.now();
                call(&mut self.driver.engine, now);
            }
        }
    }
}
