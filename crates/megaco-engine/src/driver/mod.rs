//! Sockets for an engine, over tokio: UDP, TCP with TPKT headers, TLS.
//!
//! One task owns the engine. Sockets are read by tasks, which hand on what arrives; a stream has a task that writes too, with
//! a bounded queue, so that a peer that does not read cannot fill the memory.

mod handle;
mod stream;
mod tls;
mod udp;

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use tokio::net::{TcpListener, TcpStream, UdpSocket};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::engine::{Engine, Handler};
use crate::event::{ConnId, SendFault, Transmit, UserId};
use crate::route::{Route, Transport};
use crate::time::Time;
pub use handle::Handle;
use stream::Silence;
pub use stream::StreamLimits;
pub use tls::{Tls, TlsError};

/// Where to listen, or whom to connect to: `udp://HOST:PORT`, `tcp://HOST:PORT` or `tls://HOST:PORT`. Without a port it is 2944.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Url {
    /// The transport.
    pub transport: Transport,
    /// A name or an address; one of IP version 6 is between brackets.
    pub host: String,
    /// The port.
    pub port: u16,
}

/// The port of text encodings (H.248.1 D.1.1, D.2).
const TEXT_PORT: u16 = 2944;

impl FromStr for Url {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const EXPECTED: &str = "expected udp://HOST:PORT, tcp://HOST:PORT or tls://HOST:PORT";
        let (scheme, rest) = text.split_once("://").ok_or(EXPECTED)?;
        let transport = match scheme {
            "udp" => Transport::Udp,
            "tcp" => Transport::Tcp,
            "tls" => Transport::Tls,
            // Its sockets are not reached without unsafe code, and few kernels have them.
            "sctp" => return Err("SCTP is not supported; use udp://, tcp:// or tls://"),
            _ => return Err(EXPECTED),
        };
        let rest = rest.strip_suffix('/').unwrap_or(rest);
        let (host, port) = match rest.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => (host, port.parse().map_err(|_| EXPECTED)?),
            _ => (rest, TEXT_PORT),
        };
        let is_plain = |host: &str| !host.is_empty() && !host.contains(['/', '[', ']', ':']);
        let inner = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        match inner {
            Some(inner) if inner.parse::<std::net::Ipv6Addr>().is_ok() => {}
            None if is_plain(host) => {}
            _ => return Err(EXPECTED),
        }
        Ok(Self { transport, host: host.to_owned(), port })
    }
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}:{}", self.transport.name(), self.host, self.port)
    }
}

impl Url {
    async fn resolve(&self) -> io::Result<SocketAddr> {
        let mut found = tokio::net::lookup_host((self.host.trim_matches(['[', ']']), self.port)).await?;
        found.next().ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "the name has no address"))
    }
}

/// How long a peer may take for each step to a stream: the way to its address, the connection, the handshake of TLS.
const SETUP: Duration = Duration::from_secs(10);

/// Waits no longer than [`SETUP`].
async fn in_time<T>(step: impl Future<Output = io::Result<T>>) -> io::Result<T> {
    match tokio::time::timeout(SETUP, step).await {
        Ok(done) => done,
        Err(_) => Err(io::Error::new(io::ErrorKind::TimedOut, "no answer in 10 seconds")),
    }
}

/// What sockets report to the task of the engine.
#[derive(Debug)]
enum Inbound {
    /// Datagrams that arrived together.
    Datagrams { link: u32, user: UserId, datagrams: udp::Datagrams },
    /// A message of a stream.
    Frame { route: Route, user: UserId, octets: Vec<u8> },
    /// A stream was accepted.
    Opened { route: Route, local: SocketAddr, writer: mpsc::Sender<Arc<[u8]>> },
    /// A stream ended.
    Closed { route: Route, reason: String },
}

/// What a driver reports beside the events of the engine.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Note {
    /// A stream was accepted.
    Opened {
        /// Its route.
        route: Route,
    },
    /// A stream ended.
    Closed {
        /// Its route.
        route: Route,
        /// The connections that used it.
        conns: Vec<ConnId>,
        /// Why.
        reason: String,
    },
    /// A message arrived.
    Received {
        /// Where from.
        route: Route,
        /// The address that it was sent to.
        local: SocketAddr,
        /// Its octets.
        octets: Vec<u8>,
    },
    /// A message was handed to its socket.
    Sent {
        /// The message.
        transmit: Transmit,
        /// The address that it was sent from.
        local: SocketAddr,
    },
}

/// Messages that a stream holds for a peer that does not read.
const STREAM_QUEUE: usize = 1024;
/// What has arrived and waits for the engine, in batches of sockets.
const INBOUND_QUEUE: usize = 256;

/// An engine with sockets.
#[derive(Debug)]
pub struct Driver {
    /// The engine. After calls of it, [`flush`](Self::flush) sends what it has to send.
    pub engine: Engine,
    origin: Instant,
    links: Links,
    inbound: mpsc::Receiver<Inbound>,
    /// Datagrams that are to be sent.
    outgoing: VecDeque<Transmit>,
    sender: mpsc::Sender<Inbound>,
    next_link: Arc<AtomicU32>,
    tasks: JoinSet<()>,
    limits: StreamLimits,
    notes: Vec<Note>,
    traces: bool,
}

#[derive(Debug, Default)]
struct Links {
    sockets: Vec<(u32, Arc<udp::Socket>)>,
    streams: HashMap<u32, Stream>,
}

#[derive(Debug)]
struct Stream {
    local: SocketAddr,
    writer: mpsc::Sender<Arc<[u8]>>,
}

impl Links {
    /// The own address of a way. A socket that takes datagrams for all addresses has none; it is that of the peer then if both
    /// are of one machine.
    fn local(&self, route: Route) -> SocketAddr {
        let known = match self.streams.get(&route.link) {
            Some(stream) => Some(stream.local),
            None => {
                let socket = self.sockets.iter().find(|(link, _)| *link == route.link);
                socket.and_then(|(_, socket)| socket.local_addr().ok())
            }
        };
        let any: SocketAddr = ([0, 0, 0, 0], 0).into();
        let mut local = known.unwrap_or(any);
        if local.ip().is_unspecified() && route.peer.ip().is_loopback() {
            local.set_ip(route.peer.ip());
        }
        local
    }
}

impl Driver {
    /// Gives sockets to an engine.
    pub fn new(engine: Engine) -> Self {
        let (sender, inbound) = mpsc::channel(INBOUND_QUEUE);
        Self {
            engine,
            origin: Instant::now(),
            links: Links::default(),
            inbound,
            outgoing: VecDeque::new(),
            sender,
            next_link: Arc::new(AtomicU32::new(0)),
            tasks: JoinSet::new(),
            limits: StreamLimits::default(),
            notes: Vec::new(),
            traces: false,
        }
    }

    /// Sets how many streams further listeners accept, and how long streams may be silent.
    pub const fn set_stream_limits(&mut self, limits: StreamLimits) {
        self.limits = limits;
    }

    /// Sets whether messages are noted too ([`Note::Received`], [`Note::Sent`]).
    pub fn set_traces(&mut self, traces: bool) {
        self.traces = traces;
    }

    /// The time of the engine.
    pub fn now(&self) -> Time {
        Time::from_micros(u64::try_from(self.origin.elapsed().as_micros()).unwrap_or(u64::MAX))
    }

    /// Listens for a user. Returns the address; of port 0 any is taken.
    ///
    /// # Errors
    /// The address is in use or cannot be resolved, or TLS has no certificate.
    pub async fn listen(&mut self, user: UserId, url: &Url, tls: &Tls) -> io::Result<SocketAddr> {
        let address = url.resolve().await?;
        match url.transport {
            Transport::Udp => {
                let socket = UdpSocket::bind(address).await?;
                let local = socket.local_addr()?;
                self.add_socket(user, socket);
                Ok(local)
            }
            Transport::Tcp | Transport::Tls => {
                let acceptor = match url.transport {
                    Transport::Tls => Some(tls.acceptor().map_err(io::Error::other)?),
                    _ => None,
                };
                let listener = TcpListener::bind(address).await?;
                let local = listener.local_addr()?;
                let (sender, next_link) = (self.sender.clone(), Arc::clone(&self.next_link));
                let limits = self.limits;
                self.tasks.spawn(stream::accept(listener, acceptor, user, sender, next_link, limits));
                Ok(local)
            }
        }
    }

    /// Opens a way to a peer for a user: binds a socket or connects a stream.
    ///
    /// # Errors
    /// The peer cannot be reached or resolved, also not in 10 seconds, or TLS does not trust it.
    pub async fn open(&mut self, user: UserId, url: &Url, tls: &Tls) -> io::Result<Route> {
        let peer = in_time(url.resolve()).await?;
        if url.transport == Transport::Udp {
            // One socket serves all peers of an address family.
            let family =
                |socket: &udp::Socket| socket.local_addr().is_ok_and(|a| a.is_ipv4() == peer.is_ipv4());
            let link = match self.links.sockets.iter().find(|(_, socket)| family(socket)) {
                Some((link, _)) => *link,
                None => {
                    let any: SocketAddr = match peer {
                        SocketAddr::V4(_) => ([0, 0, 0, 0], 0).into(),
                        SocketAddr::V6(_) => ([0_u16; 8], 0).into(),
                    };
                    let socket = UdpSocket::bind(any).await?;
                    self.add_socket(user, socket)
                }
            };
            return Ok(Route { transport: Transport::Udp, link, peer });
        }
        let stream = in_time(TcpStream::connect(peer)).await?;
        stream.set_nodelay(true)?;
        let local = stream.local_addr()?;
        let link = self.next_link.fetch_add(1, Ordering::Relaxed);
        let route = Route { transport: url.transport, link, peer };
        let (writer, queue) = mpsc::channel(STREAM_QUEUE);
        let sender = self.sender.clone();
        // The other side may be silent as long as it wants: the stream was opened for what is sent.
        let silence = Silence { first: None, idle: None, frame: self.limits.frame.as_millis() };
        if url.transport == Transport::Tls {
            let connector = tls.connector().map_err(io::Error::other)?;
            let name = tls.server_name(&url.host).map_err(io::Error::other)?;
            let stream = in_time(connector.connect(name, stream)).await?;
            self.tasks.spawn(stream::serve(stream, route, user, sender, queue, silence));
        } else {
            self.tasks.spawn(stream::serve(stream, route, user, sender, queue, silence));
        }
        self.links.streams.insert(link, Stream { local, writer });
        Ok(route)
    }

    fn add_socket(&mut self, user: UserId, socket: UdpSocket) -> u32 {
        let link = self.next_link.fetch_add(1, Ordering::Relaxed);
        let socket = Arc::new(udp::Socket::new(socket));
        self.tasks.spawn(udp::receive(Arc::clone(&socket), link, user, self.sender.clone()));
        self.links.sockets.push((link, socket));
        link
    }

    /// Closes a stream. What is queued for it is sent before.
    pub fn close(&mut self, route: Route) {
        self.links.streams.remove(&route.link);
    }

    /// Waits until something has arrived, a timer of the engine is due, or a moment of the caller's has come; hands it to the
    /// engine, and sends what that has to send. Events are then to be taken. May be dropped at any time.
    pub async fn wait(&mut self, until: Option<Time>) {
        let first = self.arrived(until).await;
        self.take(first, None);
        self.flush().await;
    }

    /// Waits like [`wait`](Self::wait); a handler takes requests and replies while their messages are decoded. What the engine has
    /// to send, and other events, are left to the caller: [`Engine::deliver`], [`flush`](Self::flush).
    pub async fn wait_with(&mut self, until: Option<Time>, handler: &mut impl Handler) {
        let first = self.arrived(until).await;
        self.take(first, Some(handler));
    }

    /// Waits until something has arrived or is due.
    async fn arrived(&mut self, until: Option<Time>) -> Option<Inbound> {
        let due = match (self.engine.poll_timeout(), until) {
            (Some(due), Some(until)) => Some(due.min(until)),
            (due, until) => due.or(until),
        };
        match due {
            None => self.inbound.recv().await,
            Some(due) => {
                let due = self.origin + Duration::from_micros(due.as_micros());
                tokio::time::timeout_at(due.into(), self.inbound.recv()).await.ok().flatten()
            }
        }
    }

    /// Hands the engine what has arrived, and what is due.
    fn take(&mut self, first: Option<Inbound>, mut handler: Option<&mut dyn Handler>) {
        let now = self.now();
        if let Some(first) = first {
            self.handle(now, first, &mut handler);
            // What else is there shares the wait, but timers have their turn too.
            for _ in 0..INBOUND_QUEUE {
                match self.inbound.try_recv() {
                    Ok(next) => self.handle(now, next, &mut handler),
                    Err(_) => break,
                }
            }
        }
        self.engine.handle_timeout(self.now());
    }

    fn handle(&mut self, now: Time, inbound: Inbound, handler: &mut Option<&mut dyn Handler>) {
        match inbound {
            Inbound::Datagrams { link, user, datagrams } => {
                for (peer, octets) in datagrams.iter() {
                    let route = Route { transport: Transport::Udp, link, peer };
                    self.input(now, user, route, octets, handler);
                }
            }
            Inbound::Frame { route, user, octets } => self.input(now, user, route, &octets, handler),
            Inbound::Opened { route, local, writer } => {
                self.links.streams.insert(route.link, Stream { local, writer });
                self.notes.push(Note::Opened { route });
            }
            Inbound::Closed { route, reason } => {
                self.links.streams.remove(&route.link);
                let conns = self.engine.handle_closed(now, route);
                self.notes.push(Note::Closed { route, conns, reason });
            }
        }
    }

    fn input(
        &mut self,
        now: Time,
        user: UserId,
        route: Route,
        octets: &[u8],
        handler: &mut Option<&mut dyn Handler>,
    ) {
        if self.traces {
            let local = self.links.local(route);
            self.notes.push(Note::Received { route, local, octets: octets.to_vec() });
        }
        match handler {
            Some(handler) => self.engine.handle_input_by(now, user, route, octets, *handler),
            None => self.engine.handle_input(now, user, route, octets),
        }
    }

    /// Sends what the engine has to send.
    pub async fn flush(&mut self) {
        loop {
            while let Some(transmit) = self.engine.poll_transmit() {
                match transmit.route.transport {
                    Transport::Udp => self.outgoing.push_back(transmit),
                    Transport::Tcp | Transport::Tls => {
                        let sent = self.send_frame(&transmit);
                        self.sent(transmit, sent);
                    }
                }
            }
            // What could not be sent may make the engine send something else.
            match self.outgoing.front() {
                Some(first) => self.send_datagrams(first.route.link).await,
                None => return,
            }
        }
    }

    /// Notes what has become of a message.
    fn sent(&mut self, transmit: Transmit, sent: Result<(), SendFault>) {
        match sent {
            Ok(()) if self.traces => {
                let local = self.links.local(transmit.route);
                self.notes.push(Note::Sent { transmit, local });
            }
            Ok(()) => {}
            Err(fault) => {
                let now = self.now();
                self.engine.handle_send_fault(now, &transmit, &fault);
            }
        }
    }

    /// Sends the first datagrams, which go by one socket. Those that have not been sent stay if this is dropped.
    async fn send_datagrams(&mut self, link: u32) {
        let sent = match self.links.sockets.iter().find(|(known, _)| *known == link) {
            None => Err("the socket is closed".to_owned()),
            Some((_, socket)) => {
                let first = self.outgoing.iter().take(udp::BATCH);
                let count = first.take_while(|transmit| transmit.route.link == link).count();
                match socket.send(&self.outgoing.make_contiguous()[..count]) {
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                        // It fails only at the end of the runtime.
                        _ = socket.writable().await;
                        return;
                    }
                    sent => sent.map_err(|error| error.to_string()),
                }
            }
        };
        match sent {
            Ok(count) => {
                for _ in 0..count {
                    if let Some(transmit) = self.outgoing.pop_front() {
                        self.sent(transmit, Ok(()));
                    }
                }
            }
            Err(reason) => {
                if let Some(transmit) = self.outgoing.pop_front() {
                    self.sent(transmit, Err(SendFault::Failed(reason)));
                }
            }
        }
    }

    /// Queues a message of a stream. On a stream that is closed or full it is lost like a datagram: requests are sent again
    /// by their timers, maybe on the next stream.
    fn send_frame(&self, transmit: &Transmit) -> Result<(), SendFault> {
        let Some(stream) = self.links.streams.get(&transmit.route.link) else { return Ok(()) };
        _ = stream.writer.try_send(Arc::clone(&transmit.octets));
        Ok(())
    }

    /// Takes what happened to sockets, and messages if they are noted, in their order.
    pub fn take_notes(&mut self) -> Vec<Note> {
        std::mem::take(&mut self.notes)
    }

    /// Lets streams send what is queued for them, and closes all sockets.
    pub async fn shutdown(mut self) {
        self.flush().await;
        self.links.streams.clear();
        // A stream ends when its queue is closed and empty.
        tokio::task::yield_now().await;
        let end = tokio::time::Instant::now() + Duration::from_millis(200);
        while tokio::time::Instant::now() < end {
            match tokio::time::timeout(Duration::from_millis(20), self.inbound.recv()).await {
                Ok(Some(Inbound::Closed { .. })) => {}
                Ok(Some(_)) => {}
                Ok(None) | Err(_) => break,
            }
        }
        self.tasks.abort_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls() {
        for (text, expected) in [
            ("udp://127.0.0.1:0", "udp://127.0.0.1:0"),
            ("tcp://[::1]:2945", "tcp://[::1]:2945"),
            ("tls://mgc.example", "tls://mgc.example:2944"),
            ("udp://[::1]", "udp://[::1]:2944"),
        ] {
            assert_eq!(text.parse::<Url>().map(|url| url.to_string()).as_deref(), Ok(expected));
        }
        for text in [
            "",
            "udp:127.0.0.1:1",
            "http://a:1",
            "sctp://127.0.0.1:2944",
            "udp://",
            "udp://:1",
            "udp://a:b",
            "udp://a:1:2",
            "udp://[a]:1",
        ] {
            assert!(text.parse::<Url>().is_err(), "{text}");
        }
    }
}
