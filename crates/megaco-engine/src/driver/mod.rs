//! Sockets for an engine, over tokio: UDP, TCP with TPKT headers, TLS, SCTP over UDP.
//!
//! One task owns the engine. Sockets are read by tasks, which hand on what arrives; a stream has a task that writes too, with
//! a bounded queue, so that a peer that does not read cannot fill the memory.
//!
//! For several processors there are several engines with their drivers, which share addresses ([`Driver::shards`]).

mod bind;
mod handle;
mod sctp;
mod shards;
mod stream;
mod tls;
mod udp;
mod url;

use std::collections::{HashMap, VecDeque};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use tercet_megaco::model::MId;
use tokio::net::{TcpStream, UdpSocket};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;

use crate::engine::{Engine, Handler};
use crate::event::{ConnId, SendFault, Transmit, UserId};
use crate::route::{Route, Transport};
use crate::time::Time;
pub use handle::Handle;
use shards::{Inlet, Shard, Shards, Sorter};
use stream::Silence;
pub use stream::StreamLimits;
pub use tls::{Tls, TlsError};
pub use url::Url;

/// How long a peer may take for each step to a stream: the way to its address, the connection, the handshake of TLS.
const SETUP: Duration = Duration::from_secs(10);

/// How long peers may take to confirm the end of their associations.
const ASSOCIATIONS_END: Duration = Duration::from_millis(500);

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
    shard: Option<Shard>,
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
    is_association: bool,
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
            shard: None,
            next_link: Arc::new(AtomicU32::new(0)),
            tasks: JoinSet::new(),
            limits: StreamLimits::default(),
            notes: Vec::new(),
            traces: false,
        }
    }

    /// Gives sockets to several engines that are one entity, so that several processors have work. Each driver is for a thread and a
    /// runtime of its own. The first one [listens](Self::listen), then the others listen at the address that it has returned.
    ///
    /// A remote entity belongs to one of the engines, wherever its messages come from and whichever driver receives them: a
    /// request that is repeated from another port is not executed again. Their clocks have one beginning, and the errors that they
    /// send one limit.
    ///
    /// ```
    /// # use tercet_megaco_engine::{Engine, Limits, driver::Driver};
    /// let drivers = Driver::shards((1..=2).map(|seed| Engine::new(seed, Limits::default())));
    /// assert_eq!(drivers.len(), 2);
    /// ```
    pub fn shards(engines: impl IntoIterator<Item = Engine>) -> Vec<Self> {
        let mut drivers: Vec<Self> = engines.into_iter().map(Self::new).collect();
        if let Some((first, others)) = drivers.split_first_mut() {
            others.iter_mut().for_each(|driver| driver.engine.share_error_limits(&first.engine));
        }
        let members = drivers.iter().map(|driver| driver.sender.clone()).collect();
        let shards = Arc::new(Shards::new(members));
        let next_link = Arc::new(AtomicU32::new(0));
        let origin = Instant::now();
        for (number, driver) in drivers.iter_mut().enumerate() {
            driver.shard = Some(Shard { number, shards: Arc::clone(&shards) });
            driver.next_link = Arc::clone(&next_link);
            driver.origin = origin;
        }
        drivers
    }

    /// Returns which of the drivers that share addresses a remote entity belongs to: its place in [`shards`](Self::shards). `None` if
    /// it has sent nothing yet, or this driver does not share.
    pub fn owner(&self, mid: &MId<'_>) -> Option<usize> {
        self.shard.as_ref()?.owner_of(mid)
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
        self.listen_at(user, url, tls).await.map(|(address, _)| address)
    }

    /// Listens for a user. Returns the URL for peers: its ports are those that were taken, also that of UDP which SCTP goes over.
    /// If SCTP may have any port and UDP any, they are the same.
    ///
    /// # Errors
    /// Those of [`listen`](Self::listen).
    pub async fn listen_url(&mut self, user: UserId, url: &Url, tls: &Tls) -> io::Result<Url> {
        let (address, udp) = self.listen_at(user, url, tls).await?;
        Ok(Url::of(url.transport, address, udp))
    }

    async fn listen_at(&mut self, user: UserId, url: &Url, tls: &Tls) -> io::Result<(SocketAddr, u16)> {
        let address = url.resolve().await?;
        let transport = url.transport;
        let beside = self.shard.as_ref().and_then(|shard| shard.listener(transport, address));
        if beside.is_some() && !bind::SPREADS {
            // The driver that listens there hands over what is for this one.
            return Ok((address, url.udp));
        }
        let place = match (&self.shard, &beside) {
            (None, _) => bind::Place::Alone,
            (Some(_), None) => bind::Place::First,
            (Some(_), Some(_)) => bind::Place::Beside,
        };
        let (room, link) = match beside {
            Some(listener) => (listener.room, listener.link),
            None => {
                let room = Semaphore::new(self.limits.streams.min(Semaphore::MAX_PERMITS));
                (Arc::new(room), self.next_link.fetch_add(1, Ordering::Relaxed))
            }
        };
        let mut udp = url.udp;
        let local = match transport {
            Transport::Sctp => {
                let socket = bind::datagrams(SocketAddr::new(address.ip(), udp), place)?;
                let bound = socket.local_addr()?;
                udp = bound.port();
                let local =
                    SocketAddr::new(bound.ip(), if address.port() == 0 { udp } else { address.port() });
                let (inlet, next_link) = (self.inlet(), Arc::clone(&self.next_link));
                let limits = (self.limits, Arc::clone(&room));
                self.tasks.spawn(sctp::Task::accepts(socket, user, inlet, next_link, limits, local).run());
                local
            }
            Transport::Udp => {
                let socket = bind::datagrams(address, place)?;
                let local = socket.local_addr()?;
                self.add_socket(user, socket, link);
                local
            }
            Transport::Tcp | Transport::Tls => {
                let acceptor = match transport {
                    Transport::Tls => Some(tls.acceptor().map_err(io::Error::other)?),
                    _ => None,
                };
                let listener = bind::streams(address, place)?;
                let local = listener.local_addr()?;
                let (inlet, next_link) = (self.inlet(), Arc::clone(&self.next_link));
                let limits = (self.limits, Arc::clone(&room));
                self.tasks.spawn(stream::accept(listener, acceptor, user, inlet, next_link, limits));
                local
            }
        };
        if let Some(shard) = &self.shard {
            shard.add_listener(transport, local, room, link);
        }
        Ok((local, udp))
    }

    fn inlet(&self) -> Inlet {
        Inlet { own: self.sender.clone(), shard: self.shard.clone() }
    }

    /// Opens a way to a peer for a user: binds a socket or connects a stream.
    ///
    /// # Errors
    /// The peer cannot be reached or resolved, also not in 10 seconds, or TLS does not trust it.
    pub async fn open(&mut self, user: UserId, url: &Url, tls: &Tls) -> io::Result<Route> {
        let peer = in_time(url.resolve()).await?;
        if let Some(shard) = &self.shard {
            shard.opened(peer);
        }
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
                    let link = self.next_link.fetch_add(1, Ordering::Relaxed);
                    self.add_socket(user, socket, link);
                    link
                }
            };
            return Ok(Route { transport: Transport::Udp, link, peer });
        }
        if url.transport == Transport::Sctp {
            return self.open_association(user, peer, url.udp).await;
        }
        let stream = in_time(TcpStream::connect(peer)).await?;
        stream.set_nodelay(true)?;
        let local = stream.local_addr()?;
        let link = self.next_link.fetch_add(1, Ordering::Relaxed);
        let route = Route { transport: url.transport, link, peer };
        let (writer, queue) = mpsc::channel(STREAM_QUEUE);
        let inbound = shards::Stream::opened(self.inlet(), route, user, local, &writer);
        // The other side may be silent as long as it wants: the stream was opened for what is sent.
        let silence = Silence { first: None, idle: None, frame: self.limits.frame.as_millis() };
        if url.transport == Transport::Tls {
            let connector = tls.connector().map_err(io::Error::other)?;
            let name = tls.server_name(&url.host).map_err(io::Error::other)?;
            let stream = in_time(connector.connect(name, stream)).await?;
            self.tasks.spawn(stream::serve(stream, inbound, queue, silence));
        } else {
            self.tasks.spawn(stream::serve(stream, inbound, queue, silence));
        }
        self.links.streams.insert(link, Stream { local, writer, is_association: false });
        Ok(route)
    }

    fn add_socket(&mut self, user: UserId, socket: UdpSocket, link: u32) {
        let socket = Arc::new(udp::Socket::new(socket));
        let sorter = Sorter::new(self.inlet(), link, user);
        self.tasks.spawn(udp::receive(Arc::clone(&socket), sorter));
        if let Some(shard) = &self.shard {
            shard.add_socket(link, &socket);
        }
        self.links.sockets.push((link, socket));
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
                self.know_socket(link);
                for (peer, octets) in datagrams.iter() {
                    let route = Route { transport: Transport::Udp, link, peer };
                    self.input(now, user, route, octets, handler);
                }
            }
            Inbound::Frame { route, user, octets } => self.input(now, user, route, &octets, handler),
            Inbound::Opened { route, local, writer } => {
                let is_association = route.transport == Transport::Sctp;
                self.links.streams.insert(route.link, Stream { local, writer, is_association });
                self.notes.push(Note::Opened { route });
            }
            Inbound::Closed { route, reason } => {
                self.links.streams.remove(&route.link);
                let conns = self.engine.handle_closed(now, route);
                self.notes.push(Note::Closed { route, conns, reason });
            }
        }
    }

    /// Takes the socket of another driver, to which datagrams came that this one answers.
    fn know_socket(&mut self, link: u32) {
        if let Some(shard) = &self.shard
            && self.links.sockets.iter().all(|(known, _)| *known != link)
            && let Some(socket) = shard.socket(link)
        {
            self.links.sockets.push((link, socket));
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
                    Transport::Tcp | Transport::Tls | Transport::Sctp => {
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
                        match socket.writable().await {
                            Ok(()) => return,
                            // The runtime of the driver that has the socket has ended.
                            Err(error) => Err(error.to_string()),
                        }
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

    /// Returns whether there is something for [`take_notes`](Self::take_notes).
    pub fn has_notes(&self) -> bool {
        !self.notes.is_empty()
    }

    /// Lets streams send what is queued for them, and closes all sockets.
    pub async fn shutdown(mut self) {
        self.flush().await;
        // An association ends when all has arrived: a peer may confirm that as late as after 200 ms.
        let mut associations = self.links.streams.values().filter(|stream| stream.is_association).count();
        self.links.streams.clear();
        // A stream ends when its queue is closed and empty.
        tokio::task::yield_now().await;
        let longest = if associations > 0 { ASSOCIATIONS_END } else { Duration::from_millis(200) };
        let end = tokio::time::Instant::now() + longest;
        while tokio::time::Instant::now() < end {
            match tokio::time::timeout(Duration::from_millis(20), self.inbound.recv()).await {
                Ok(Some(Inbound::Closed { route, .. })) => {
                    associations -= usize::from(route.transport == Transport::Sctp && associations > 0);
                }
                Ok(Some(_)) => {}
                Err(_) if associations > 0 => {}
                Ok(None) | Err(_) => break,
            }
        }
        self.tasks.abort_all();
    }
}
