//! Streams: TPKT frames of TCP and TLS.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use tercet_megaco::tpkt::{take_frame, write_frame};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, mpsc};
use tokio::time::{Instant, timeout, timeout_at};
use tokio_rustls::TlsAcceptor;

use super::shards::{self, Inlet};
use super::{SETUP, STREAM_QUEUE};
use crate::event::UserId;
use crate::route::{Route, Transport};
use crate::time::Period;

/// How long a peer may take none of what is written.
const WRITE: Duration = Duration::from_secs(30);
/// How long a stream is written after the peer has ended its side.
const LINGER: Duration = Duration::from_millis(500);
/// Octets that are read at once, and written at once.
const CHUNK: usize = 64 * 1024;

/// How many streams are accepted, and how long they may be silent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamLimits {
    /// Streams that a listener has at once; further ones are closed.
    pub streams: usize,
    /// How long a message may take from its first octet to its last.
    pub frame: Period,
    /// How long a peer that has been accepted may take to its first message.
    pub first: Period,
    /// How long a stream that was accepted may be silent between two messages. Transactions outlive their stream.
    pub idle: Period,
}

impl Default for StreamLimits {
    fn default() -> Self {
        Self {
            streams: 16_384,
            frame: Period::millis(10_000),
            first: Period::millis(60_000),
            idle: Period::millis(3_600_000),
        }
    }
}

/// How long a stream may be silent, in milliseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Silence {
    /// Before its first message.
    pub(super) first: Option<u32>,
    /// Between two messages.
    pub(super) idle: Option<u32>,
    /// Within a message.
    pub(super) frame: Option<u32>,
}

/// Accepts streams until the driver is gone.
pub(super) async fn accept(
    listener: TcpListener,
    acceptor: Option<TlsAcceptor>,
    user: UserId,
    inlet: Inlet,
    next_link: Arc<AtomicU32>,
    (limits, room): (StreamLimits, Arc<Semaphore>),
) {
    loop {
        let Ok((stream, peer)) = listener.accept().await else {
            // Too many open files: it may be better soon.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        if inlet.own.is_closed() {
            return;
        }
        let Ok(permit) = Arc::clone(&room).try_acquire_owned() else {
            // Closed by its drop: a peer that comes again later may find room.
            continue;
        };
        let Ok(local) = stream.local_addr() else { continue };
        _ = stream.set_nodelay(true);
        let (first, idle) = (limits.first.as_millis(), limits.idle.as_millis());
        let silence = Silence { first, idle, frame: limits.frame.as_millis() };
        let transport = if acceptor.is_some() { Transport::Tls } else { Transport::Tcp };
        let route = Route { transport, link: next_link.fetch_add(1, Ordering::Relaxed), peer };
        let (inlet, acceptor) = (inlet.clone(), acceptor.clone());
        tokio::spawn(async move {
            let _permit = permit;
            let (writer, queue) = mpsc::channel(STREAM_QUEUE);
            let mut inbound = shards::Stream::accepted(inlet, route, user, local, writer);
            match acceptor {
                None => {
                    if inbound.begin().await {
                        serve(stream, inbound, queue, silence).await;
                    }
                }
                Some(acceptor) => match timeout(SETUP, acceptor.accept(stream)).await {
                    Ok(Ok(stream)) => {
                        if inbound.begin().await {
                            serve(stream, inbound, queue, silence).await;
                        }
                    }
                    Ok(Err(error)) => inbound.closed(format!("TLS: {error}")).await,
                    Err(_) => inbound.closed("TLS: no handshake in time".to_owned()).await,
                },
            }
        });
    }
}

/// Reads and writes a stream until one side ends it.
pub(super) async fn serve<S: AsyncRead + AsyncWrite>(
    stream: S,
    mut inbound: shards::Stream,
    queue: mpsc::Receiver<Arc<[u8]>>,
    silence: Silence,
) {
    let (reader, writer) = tokio::io::split(stream);
    let mut writing = std::pin::pin!(write(writer, queue));
    let reason = tokio::select! {
        reason = read(reader, &mut inbound, silence) => match reason {
            // A peer that has nothing more to say, or nothing that can be read, may still read the answers to what it said.
            End::Answered(reason) => timeout(LINGER, &mut writing).await.unwrap_or(reason),
            End::Because(reason) => reason,
        },
        reason = &mut writing => reason,
    };
    inbound.closed(reason).await;
}

/// Why a stream has no more frames.
enum End {
    /// Answers to the frames before are still written: the peer ended its side between two frames, or sent none behind them.
    Answered(String),
    Because(String),
}

/// Reads frames. Returns why there are no more.
async fn read(mut reader: impl AsyncRead + Unpin, inbound: &mut shards::Stream, silence: Silence) -> End {
    let because = |reason: &str| End::Because(reason.to_owned());
    let mut buffer: Vec<u8> = Vec::with_capacity(4096);
    let after = |millis: Option<u32>| Some(Instant::now() + Duration::from_millis(millis?.into()));
    let mut deadline = after(silence.first);
    let mut too_late = "no message in time";
    let mut is_within = false;
    loop {
        let mut start = 0;
        loop {
            match &buffer[start..] {
                // A header without a message means nothing.
                [3, _, 0, 4, ..] => start += 4,
                rest => match take_frame(rest) {
                    Ok(Some((octets, length))) => {
                        if !inbound.frame(octets.to_vec()).await {
                            return because("the end of the program");
                        }
                        start += length;
                    }
                    Ok(None) => break,
                    Err(error) => {
                        let reason = format!("bad TPKT header: expected {}", error.what);
                        return if start > 0 { End::Answered(reason) } else { End::Because(reason) };
                    }
                },
            }
        }
        if start > 0 {
            buffer.drain(..start);
            (deadline, too_late) = (after(silence.idle), "nothing was received for long");
            is_within = false;
        }
        if !buffer.is_empty() && !is_within {
            (deadline, too_late) = (after(silence.frame), "a message was begun and not ended in time");
            is_within = true;
        }
        // A frame has at most 64 KiB, so that the buffer is bounded.
        buffer.reserve(4096);
        let room = &mut (&mut reader).take(CHUNK as u64);
        let taken = room.read_buf(&mut buffer);
        let taken = match deadline {
            None => taken.await,
            Some(deadline) => match timeout_at(deadline, taken).await {
                Ok(taken) => taken,
                Err(_) => return because(too_late),
            },
        };
        match taken {
            Ok(0) if buffer.is_empty() => return End::Answered("closed by the peer".to_owned()),
            Ok(0) => return because("closed by the peer within a message"),
            Ok(_) => {}
            Err(error) => return End::Because(error.to_string()),
        }
    }
}

/// Writes frames. Returns why there are no more.
async fn write(mut writer: impl AsyncWrite + Unpin, mut queue: mpsc::Receiver<Arc<[u8]>>) -> String {
    let mut out = Vec::new();
    while let Some(octets) = queue.recv().await {
        out.clear();
        // The engine does not make larger messages than a frame holds.
        _ = write_frame(&octets, &mut out);
        while out.len() < CHUNK
            && let Ok(octets) = queue.try_recv()
        {
            _ = write_frame(&octets, &mut out);
        }
        let written = async {
            writer.write_all(&out).await?;
            writer.flush().await
        };
        match timeout(WRITE, written).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => return error.to_string(),
            Err(_) => return "the peer does not read".to_owned(),
        }
    }
    _ = writer.shutdown().await;
    "closed".to_owned()
}
