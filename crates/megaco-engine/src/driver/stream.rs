//! Streams: TPKT frames of TCP and TLS.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use tercet_megaco::tpkt::{take_frame, write_frame};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_rustls::TlsAcceptor;

use super::{Inbound, SETUP, STREAM_QUEUE};
use crate::event::UserId;
use crate::route::{Route, Transport};
use crate::time::Period;

/// How long a peer may take none of what is written.
const WRITE: Duration = Duration::from_secs(30);
/// How long a stream is written after the peer has ended its side.
const LINGER: Duration = Duration::from_millis(500);
/// Octets that are read at once, and written at once.
const CHUNK: usize = 64 * 1024;

/// Accepts streams until the driver is gone.
pub(super) async fn accept(
    listener: TcpListener,
    acceptor: Option<TlsAcceptor>,
    user: UserId,
    sender: mpsc::Sender<Inbound>,
    next_link: Arc<AtomicU32>,
    frame_timeout: Period,
) {
    loop {
        let Ok((stream, peer)) = listener.accept().await else {
            // Too many open files: it may be better soon.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        if sender.is_closed() {
            return;
        }
        _ = stream.set_nodelay(true);
        let transport = if acceptor.is_some() { Transport::Tls } else { Transport::Tcp };
        let route = Route { transport, link: next_link.fetch_add(1, Ordering::Relaxed), peer };
        let (sender, acceptor) = (sender.clone(), acceptor.clone());
        tokio::spawn(async move {
            let (writer, queue) = mpsc::channel(STREAM_QUEUE);
            match acceptor {
                None => {
                    if sender.send(Inbound::Opened { route, writer }).await.is_ok() {
                        serve(stream, route, user, sender, queue, frame_timeout).await;
                    }
                }
                Some(acceptor) => match timeout(SETUP, acceptor.accept(stream)).await {
                    Ok(Ok(stream)) => {
                        if sender.send(Inbound::Opened { route, writer }).await.is_ok() {
                            serve(stream, route, user, sender, queue, frame_timeout).await;
                        }
                    }
                    Ok(Err(error)) => {
                        let reason = format!("TLS: {error}");
                        _ = sender.send(Inbound::Closed { route, reason }).await;
                    }
                    Err(_) => {
                        let reason = "TLS: no handshake in time".to_owned();
                        _ = sender.send(Inbound::Closed { route, reason }).await;
                    }
                },
            }
        });
    }
}

/// Reads and writes a stream until one side ends it.
pub(super) async fn serve<S: AsyncRead + AsyncWrite>(
    stream: S,
    route: Route,
    user: UserId,
    sender: mpsc::Sender<Inbound>,
    queue: mpsc::Receiver<Arc<[u8]>>,
    frame_timeout: Period,
) {
    let (reader, writer) = tokio::io::split(stream);
    let mut writing = std::pin::pin!(write(writer, queue));
    let reason = tokio::select! {
        reason = read(reader, route, user, &sender, frame_timeout) => match reason {
            // A peer that has nothing more to say may still read the answers to what it said.
            End::OfInput => match timeout(LINGER, &mut writing).await {
                Ok(reason) => reason,
                Err(_) => "closed by the peer".to_owned(),
            },
            End::Because(reason) => reason,
        },
        reason = &mut writing => reason,
    };
    _ = sender.send(Inbound::Closed { route, reason }).await;
}

/// Why a stream has no more frames.
enum End {
    /// The peer ended its side between two frames.
    OfInput,
    Because(String),
}

/// Reads frames. Returns why there are no more.
async fn read(
    mut reader: impl AsyncRead + Unpin,
    route: Route,
    user: UserId,
    sender: &mpsc::Sender<Inbound>,
    frame_timeout: Period,
) -> End {
    let because = |reason: &str| End::Because(reason.to_owned());
    let mut buffer: Vec<u8> = Vec::with_capacity(4096);
    let mut deadline: Option<Instant> = None;
    loop {
        let mut start = 0;
        loop {
            match &buffer[start..] {
                // A header without a message means nothing.
                [3, _, 0, 4, ..] => start += 4,
                rest => match take_frame(rest) {
                    Ok(Some((octets, length))) => {
                        let octets = octets.to_vec();
                        if sender.send(Inbound::Frame { route, user, octets }).await.is_err() {
                            return because("the end of the program");
                        }
                        start += length;
                    }
                    Ok(None) => break,
                    Err(error) => return End::Because(format!("bad TPKT header: expected {}", error.what)),
                },
            }
        }
        if start > 0 {
            buffer.drain(..start);
            deadline = None;
        }
        if buffer.is_empty() {
            deadline = None;
        } else if deadline.is_none() {
            let wait = frame_timeout.as_millis();
            deadline = wait.map(|wait| Instant::now() + Duration::from_millis(wait.into()));
        }
        // A frame has at most 64 KiB, so that the buffer is bounded.
        buffer.reserve(4096);
        let room = &mut (&mut reader).take(CHUNK as u64);
        let taken = room.read_buf(&mut buffer);
        let taken = match deadline {
            None => taken.await,
            Some(deadline) => match timeout_at(deadline, taken).await {
                Ok(taken) => taken,
                Err(_) => return because("a message was begun and not ended in time"),
            },
        };
        match taken {
            Ok(0) if buffer.is_empty() => return End::OfInput,
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
