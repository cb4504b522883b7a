//! The task that moves octets between a socket and the sans-IO connection, and the handle that others have of it.

use std::collections::HashMap;
use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use bytes::BytesMut;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::{Notify, mpsc};

use super::connect::{Channel, Upgrade};
use super::layered::Layered;
use crate::error::{Error, ErrorKind, Result};
use crate::generated::ProtocolOp;
use crate::proto::{Connection, Control, Event, Extended, Incoming, LdapResult, Reply, ResultCode};
use crate::sasl::Layer;

/// What a connection goes over.
pub(crate) trait Io: AsyncRead + AsyncWrite + Unpin + Send + Sync {}
impl<T: AsyncRead + AsyncWrite + Unpin + Send + Sync> Io for T {}

/// Octets that one read may bring.
const READ: usize = 256 << 10;
/// Octets that wait for whoever asked for them before reading stops.
const QUEUED: usize = 1 << 20;
/// Octets that wait to be sent before requests are refused.
const UNSENT: usize = 64 << 20;

/// What comes for an operation.
#[derive(Debug)]
pub(super) enum Delivery {
    Entries(Incoming),
    Reply(Reply),
}

pub(super) type Deliveries = mpsc::UnboundedReceiver<Result<Delivery>>;

/// The end of a connection that users hold; the connection ends with it.
#[derive(Debug)]
pub(super) struct Handle {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    wake: Notify,
    queued: AtomicUsize,
}

#[derive(Debug)]
struct State {
    connection: Connection,
    waiters: HashMap<u32, mpsc::UnboundedSender<Result<Delivery>>>,
    channel: Channel,
    /// What becomes of the channel if the server agrees to the operation in flight.
    change: Option<ChannelChange>,
    closed: Option<Error>,
    closing: bool,
}

/// What an operation makes of the channel, once the server agrees and before its answer is delivered.
#[derive(Debug)]
pub(super) enum ChannelChange {
    /// StartTLS: TLS begins.
    Tls(Upgrade),
    /// The last step of a SASL bind: a security layer is in force.
    Layer(Box<dyn Layer>),
}

impl State {
    /// Why nothing can be started any more.
    fn ended(&self) -> Option<Error> {
        self.closed.clone().or_else(|| self.closing.then(closed))
    }
}

#[cold]
fn closed() -> Error {
    Error::new(ErrorKind::Closed, "the connection is closed")
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing panics while it holds the lock, and the state is whole between any two statements.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Handle {
    pub(super) fn spawn(io: Box<dyn Io>, connection: Connection, channel: Channel) -> Self {
        let waiters = HashMap::new();
        let state = State { connection, waiters, channel, change: None, closed: None, closing: false };
        let shared =
            Arc::new(Shared { state: Mutex::new(state), wake: Notify::new(), queued: AtomicUsize::new(0) });
        let driver = Arc::clone(&shared);
        tokio::spawn(async move {
            let error = match drive(io, &driver).await {
                Ok(()) => closed(),
                Err(error) => error,
            };
            let mut state = driver.lock();
            state.closed = Some(error.clone());
            for (_, waiter) in state.waiters.drain() {
                _ = waiter.send(Err(error.clone()));
            }
        });
        Self { shared }
    }

    /// What is known of the connection now.
    pub(super) fn channel(&self) -> Channel {
        self.shared.lock().channel.clone()
    }

    /// Sends a request and gives what its answers come through.
    pub(super) fn start(&self, operation: ProtocolOp<'_>, controls: &[Control]) -> Result<(u32, Deliveries)> {
        self.start_with(operation, controls, None)
    }

    /// The same of an operation that changes the channel.
    pub(super) fn start_with(
        &self,
        operation: ProtocolOp<'_>,
        controls: &[Control],
        change: Option<ChannelChange>,
    ) -> Result<(u32, Deliveries)> {
        let mut state = self.shared.lock();
        if let Some(error) = state.ended() {
            return Err(error);
        }
        if state.connection.outgoing().len() > UNSENT {
            return Err(Error::new(ErrorKind::Limit, "the server does not take what is sent"));
        }
        let id = state.connection.start(operation, controls)?;
        let (sender, receiver) = mpsc::unbounded_channel();
        state.waiters.insert(id, sender);
        if change.is_some() {
            state.change = change;
        }
        drop(state);
        self.shared.wake.notify_one();
        Ok((id, receiver))
    }

    pub(super) fn abandon(&self, id: u32) {
        let mut state = self.shared.lock();
        state.waiters.remove(&id);
        // An abandon is a few octets of fixed form.
        _ = state.connection.abandon(id);
        drop(state);
        self.shared.wake.notify_one();
    }

    /// Says that octets were taken from a queue.
    pub(super) fn taken(&self, octets: usize) {
        let before = self.shared.queued.fetch_sub(octets, Ordering::AcqRel);
        if before >= QUEUED && before - octets < QUEUED {
            self.shared.wake.notify_one();
        }
    }

    pub(super) fn closed(&self) -> Option<Error> {
        self.shared.lock().ended()
    }

    pub(super) fn ignored(&self) -> u64 {
        self.shared.lock().connection.ignored()
    }

    /// Lets the driver say goodbye and end.
    pub(super) fn close(&self) {
        self.shared.lock().closing = true;
        self.shared.wake.notify_one();
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.close();
    }
}

/// Runs until the connection ends.
async fn drive(mut io: Box<dyn Io>, shared: &Shared) -> Result<()> {
    let mut input = BytesMut::new();
    let mut output = Output::default();
    loop {
        let closing = {
            let mut state = shared.lock();
            if state.closing {
                state.connection.unbind()?;
            }
            output.refill(state.connection.outgoing());
            state.closing
        };
        if closing {
            _ = io.write_all(output.left()).await;
            _ = io.shutdown().await;
            return Ok(());
        }
        let reads = shared.queued.load(Ordering::Acquire) < QUEUED;
        if reads && input.capacity() - input.len() < READ / 4 {
            // A message larger than a read gets room as it comes, never as it announces.
            input.reserve(READ.max(input.len()));
        }
        let moved = tokio::select! {
            moved = poll_fn(|cx| transfer(&mut *io, &mut input, &mut output, reads, cx)) => moved?,
            () = shared.wake.notified() => continue,
        };
        match moved {
            Moved::Out => {}
            Moved::End if input.is_empty() => {
                return Err(Error::new(ErrorKind::Closed, "the server has closed the connection"));
            }
            Moved::End => {
                let message =
                    format!("the connection ends inside a message, {} bytes of it are there", input.len());
                return Err(Error::new(ErrorKind::Closed, message));
            }
            Moved::In => {
                if let Some((id, granted)) = deliver(shared, &mut input)? {
                    let answer = match granted {
                        Granted::Tls(answer) => {
                            io = begin_tls(io, shared).await?;
                            Reply::Extended(answer)
                        }
                        Granted::Layer(layer, result, last) => {
                            shared.lock().channel.put_on(&*layer);
                            io = Box::new(Layered::new(io, layer, input.split()));
                            Reply::Bind(result, last)
                        }
                    };
                    hand_out(shared, &mut shared.lock(), id, Delivery::Reply(answer), true);
                }
                // Let those who wait have what came while it is warm: its memory is free again before the next read.
                tokio::task::yield_now().await;
            }
        }
    }
}

/// What the server has agreed to, and its answer.
enum Granted {
    Tls(Extended),
    Layer(Box<dyn Layer>, LdapResult, Option<Vec<u8>>),
}

/// Hands out all that is complete, up to the answer that changes the channel, which is given back: what is behind it is for the
/// changed one. Behind that of StartTLS is nothing.
fn deliver(shared: &Shared, input: &mut BytesMut) -> Result<Option<(u32, Granted)>> {
    let mut state = shared.lock();
    while let Some(event) = state.connection.receive(input)? {
        let (id, delivery, last) = match event {
            Event::Entries(incoming) => (incoming.id, Delivery::Entries(incoming), false),
            Event::Reply(id, Reply::Bind(result, last)) => {
                if let Some(ChannelChange::Layer(layer)) = state.change.take()
                    && result.code == ResultCode::SUCCESS
                {
                    return Ok(Some((id, Granted::Layer(layer, result, last))));
                }
                (id, Delivery::Reply(Reply::Bind(result, last)), true)
            }
            Event::Reply(id, reply) => {
                let last = reply.result().is_some();
                (id, Delivery::Reply(reply), last)
            }
            Event::StartTls(id, answer) => return Ok(Some((id, Granted::Tls(answer)))),
            Event::Unsolicited(_) => continue,
        };
        hand_out(shared, &mut state, id, delivery, last);
    }
    Ok(None)
}

/// Hands out an answer, the last of its operation or not.
fn hand_out(shared: &Shared, state: &mut State, id: u32, delivery: Delivery, last: bool) {
    let octets = delivery.octets();
    shared.queued.fetch_add(octets, Ordering::AcqRel);
    let waiter = state.waiters.get(&id);
    if waiter.is_none_or(|waiter| waiter.send(Ok(delivery)).is_err()) {
        shared.queued.fetch_sub(octets, Ordering::AcqRel);
    }
    if last {
        state.waiters.remove(&id);
    }
}

/// TLS on a connection that was open until now (RFC 4511 4.14.1). Whoever closes it ends the handshake too.
async fn begin_tls(io: Box<dyn Io>, shared: &Shared) -> Result<Box<dyn Io>> {
    let Some(ChannelChange::Tls(upgrade)) = shared.lock().change.take() else {
        return Err(Error::new(ErrorKind::Usage, "TLS was not requested"));
    };
    let mut handshake = pin!(upgrade.handshake(io));
    let (io, end_point) = loop {
        tokio::select! {
            done = &mut handshake => break done?,
            () = shared.wake.notified() => if shared.lock().closing { return Err(closed()) },
        }
    };
    let mut state = shared.lock();
    state.channel.is_private = true;
    state.channel.is_tls = true;
    state.channel.end_point = end_point;
    Ok(io)
}

/// What an answer that is no entry counts for in the queue: references and intermediate responses without end have to stop
/// somewhere as well.
const REPLY: usize = 256;

impl Delivery {
    pub(super) fn octets(&self) -> usize {
        match self {
            Self::Entries(incoming) => incoming.octets.len(),
            Self::Reply(_) => REPLY,
        }
    }
}

#[derive(Default)]
struct Output {
    octets: Vec<u8>,
    sent: usize,
}

impl Output {
    fn left(&self) -> &[u8] {
        self.octets.get(self.sent..).unwrap_or_default()
    }

    fn refill(&mut self, from: &mut Vec<u8>) {
        if self.left().is_empty() {
            self.octets.clear();
            self.sent = 0;
            std::mem::swap(&mut self.octets, from);
        }
    }
}

enum Moved {
    In,
    Out,
    End,
}

/// Moves octets either way, whichever goes first.
fn transfer(
    io: &mut dyn Io,
    input: &mut BytesMut,
    output: &mut Output,
    reads: bool,
    cx: &mut Context<'_>,
) -> Poll<io::Result<Moved>> {
    if !output.left().is_empty()
        && let Poll::Ready(written) = Pin::new(&mut *io).poll_write(cx, output.left())
    {
        let written = written?;
        if written == 0 {
            return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
        }
        output.sent += written;
        if output.left().is_empty() {
            // TLS keeps what it has encrypted until it is told to send.
            _ = Pin::new(&mut *io).poll_flush(cx)?;
        }
        return Poll::Ready(Ok(Moved::Out));
    }
    if reads {
        if output.left().is_empty() {
            _ = Pin::new(&mut *io).poll_flush(cx)?;
        }
        // `read_buf` reads into the free room and keeps no state between polls.
        let read = std::task::ready!(pin!(io.read_buf(input)).poll(cx))?;
        return Poll::Ready(Ok(if read == 0 { Moved::End } else { Moved::In }));
    }
    Poll::Pending
}
