//! SCTP: associations over a socket of UDP, and the queues between them and the driver.
//!
//! The kernel's SCTP is not used: a message requires its payload protocol identifier, and that takes options of sockets that
//! no safe interface has. An association is the same for the rest of the driver as a stream of TCP.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use tokio::net::UdpSocket;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};

use super::shards::{self, Inlet};
use super::{Driver, STREAM_QUEUE, Stream, StreamLimits, in_time};
use crate::event::UserId;
use crate::route::{Route, Transport};
use crate::sctp::{Config, Endpoint, Event, Id, PROTOCOL, Silence};
use crate::time::Time;

/// Messages that an association has taken and that have not arrived at the peer; further ones wait in their queue.
const UNDER_WAY: usize = 64;
/// Octets that may wait for what is missing before them: several of the largest messages.
const WINDOW: usize = 256 * 1024;
/// Messages of all associations that wait for their socket.
const COMMANDS: usize = 256;
/// Datagrams that are taken before something is sent.
const BATCH: usize = 64;

/// What is asked of an association.
#[derive(Debug)]
enum Command {
    Send { id: Id, octets: Arc<[u8]> },
    Close { id: Id },
}

/// An association that the driver knows.
#[derive(Debug)]
struct Link {
    inbound: shards::Stream,
    /// What may be under way.
    room: Arc<Semaphore>,
    _permit: Option<OwnedSemaphorePermit>,
}

/// How associations come to be known.
#[derive(Debug)]
enum Role {
    Accepts {
        user: UserId,
        inlet: Inlet,
        next_link: Arc<AtomicU32>,
        room: Arc<Semaphore>,
        local: SocketAddr,
    },
    /// The one association is not established yet.
    Opens(Box<Opening>),
    Opened,
}

#[derive(Debug)]
struct Opening {
    inbound: shards::Stream,
    queue: mpsc::Receiver<Arc<[u8]>>,
    answer: oneshot::Sender<io::Result<()>>,
}

/// The queue of what is sent.
type Writer = mpsc::Sender<Arc<[u8]>>;
/// Tells whether an association is established.
type Established = oneshot::Receiver<io::Result<()>>;

/// The task of a socket.
#[derive(Debug)]
pub(super) struct Task {
    socket: UdpSocket,
    endpoint: Endpoint,
    origin: Instant,
    role: Role,
    links: HashMap<Id, Link>,
    commands: mpsc::Receiver<Command>,
    sender: mpsc::Sender<Command>,
}

impl Task {
    fn new(socket: UdpSocket, config: Config, role: Role) -> Self {
        let (sender, commands) = mpsc::channel(COMMANDS);
        // Each state is made of random numbers of the system.
        let secret = [0, 1].map(|word| RandomState::new().hash_one(word));
        let endpoint = Endpoint::new(config, secret);
        Self { socket, endpoint, origin: Instant::now(), role, links: HashMap::new(), commands, sender }
    }

    /// Accepts associations at a port of SCTP.
    pub(super) fn accepts(
        socket: UdpSocket,
        user: UserId,
        inlet: Inlet,
        next_link: Arc<AtomicU32>,
        (limits, room): (StreamLimits, Arc<Semaphore>),
        local: SocketAddr,
    ) -> Self {
        let (first, idle) = (limits.first.as_millis(), limits.idle.as_millis());
        let silence = Silence { first, idle, frame: limits.frame.as_millis() };
        // One more than there is room for, so that it hears why it is refused.
        let most = limits.streams.saturating_add(1);
        let config = Config { port: Some(local.port()), most, silence, ..config() };
        Self::new(socket, config, Role::Accepts { user, inlet, next_link, room, local })
    }

    /// Opens an association with a peer at its address of UDP and its port of SCTP. What it is for the driver is made of the own
    /// port. Returns what tells whether it is established.
    pub(super) fn opens(
        socket: UdpSocket,
        (address, port): (SocketAddr, u16),
        limits: StreamLimits,
        inbound: impl FnOnce(u16, &Writer) -> shards::Stream,
    ) -> io::Result<(Self, Writer, Established)> {
        // The other side may be silent as long as it wants: the association was opened for what is sent.
        let silence = Silence { frame: limits.frame.as_millis(), ..Silence::default() };
        let mut task = Self::new(socket, Config { silence, ..config() }, Role::Opened);
        let opened = task.endpoint.connect(Time::default(), address, port);
        let own_port = opened.and_then(|id| task.endpoint.own_port(id));
        let own_port = own_port.ok_or_else(|| io::Error::other("there is such an association"))?;
        let (writer, queue) = mpsc::channel(STREAM_QUEUE);
        let (answer, established) = oneshot::channel();
        let inbound = inbound(own_port, &writer);
        task.role = Role::Opens(Box::new(Opening { inbound, queue, answer }));
        Ok((task, writer, established))
    }

    fn now(&self) -> Time {
        Time::from_micros(u64::try_from(self.origin.elapsed().as_micros()).unwrap_or(u64::MAX))
    }

    /// Serves the socket until the driver is gone, or until the association that was opened has ended.
    pub(super) async fn run(mut self) {
        let mut buffer = vec![0; usize::from(u16::MAX)];
        loop {
            if !self.take_events().await {
                return;
            }
            self.transmit().await;
            if self.endpoint.is_empty() && !matches!(self.role, Role::Accepts { .. }) {
                return;
            }
            let due = self.endpoint.poll_timeout();
            let due = due.map(|due| self.origin + Duration::from_micros(due.as_micros()));
            let gone = async {
                match &mut self.role {
                    Role::Opens(opening) => opening.answer.closed().await,
                    _ => std::future::pending().await,
                }
            };
            let waits = async {
                match due {
                    Some(due) => tokio::time::sleep_until(due.into()).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                received = self.socket.recv_from(&mut buffer) => match received {
                    Ok((length, from)) => self.received(from, length, &mut buffer),
                    // Some systems report here that an earlier datagram did not arrive.
                    Err(_) => tokio::task::yield_now().await,
                },
                command = self.commands.recv() => self.command(command),
                () = waits => {}
                // Nobody waits any more for the association that is being opened.
                () = gone => return,
            }
            let now = self.now();
            self.endpoint.handle_timeout(now);
        }
    }

    fn received(&mut self, from: SocketAddr, length: usize, buffer: &mut [u8]) {
        let now = self.now();
        self.endpoint.handle(now, from, &buffer[..length]);
        for _ in 1..BATCH {
            let Ok((length, from)) = self.socket.try_recv_from(buffer) else { break };
            self.endpoint.handle(now, from, &buffer[..length]);
        }
    }

    fn command(&mut self, first: Option<Command>) {
        let now = self.now();
        let mut next = first;
        while let Some(command) = next {
            match command {
                Command::Send { id, octets } => self.endpoint.send(now, id, octets),
                Command::Close { id } => self.endpoint.shutdown(now, id),
            }
            next = self.commands.try_recv().ok();
        }
    }

    async fn transmit(&mut self) {
        while let Some((to, packet)) = self.endpoint.poll_transmit() {
            // What cannot be sent is lost, and sent again by its timer.
            _ = self.socket.send_to(&packet, to).await;
        }
    }

    /// Hands on what happened. Returns false if the driver is gone.
    async fn take_events(&mut self) -> bool {
        while let Some(event) = self.endpoint.poll_event() {
            match event {
                Event::Up { id, .. } => {
                    if !self.up(id).await {
                        return false;
                    }
                }
                Event::Message { id, octets } => {
                    if let Some(link) = self.links.get_mut(&id)
                        && !link.inbound.frame(octets).await
                    {
                        let now = self.now();
                        self.endpoint.abort(now, id, "the end of the program");
                    }
                }
                Event::Sent { id, count } => {
                    if let Some(link) = self.links.get(&id) {
                        link.room.add_permits(count);
                    }
                }
                Event::Down { id, reason } => self.down(id, reason).await,
            }
        }
        true
    }

    async fn up(&mut self, id: Id) -> bool {
        let (inbound, queue, permit) = match &mut self.role {
            Role::Accepts { user, inlet, next_link, room, local } => {
                let Some((peer, port)) = self.endpoint.peer(id) else { return true };
                let Ok(permit) = Arc::clone(room).try_acquire_owned() else {
                    let now = self.now();
                    self.endpoint.abort(now, id, "there is no room for more associations");
                    return true;
                };
                let link = next_link.fetch_add(1, Ordering::Relaxed);
                let peer = SocketAddr::new(peer.ip(), port);
                let route = Route { transport: Transport::Sctp, link, peer };
                let (writer, queue) = mpsc::channel(STREAM_QUEUE);
                let mut inbound = shards::Stream::accepted(inlet.clone(), route, *user, *local, writer);
                if !inbound.begin().await {
                    return false;
                }
                (inbound, queue, Some(permit))
            }
            role => match std::mem::replace(role, Role::Opened) {
                Role::Opens(opening) => {
                    let Opening { inbound, queue, answer } = *opening;
                    if answer.send(Ok(())).is_err() {
                        return false;
                    }
                    (inbound, queue, None)
                }
                _ => return true,
            },
        };
        let room = Arc::new(Semaphore::new(UNDER_WAY));
        tokio::spawn(forward(id, queue, Arc::clone(&room), self.sender.clone()));
        self.links.insert(id, Link { inbound, room, _permit: permit });
        true
    }

    async fn down(&mut self, id: Id, reason: String) {
        if let Some(link) = self.links.remove(&id) {
            link.room.close();
            link.inbound.closed(reason).await;
        } else if let Role::Opens(_) = &self.role
            && let Role::Opens(opening) = std::mem::replace(&mut self.role, Role::Opened)
        {
            // Whoever has opened it may not wait any more.
            _ = opening.answer.send(Err(io::Error::new(io::ErrorKind::ConnectionRefused, reason)));
        }
    }
}

impl Driver {
    /// Opens an association with a peer at its port of SCTP, over a port of UDP.
    pub(super) async fn open_association(
        &mut self,
        user: UserId,
        peer: SocketAddr,
        udp: u16,
    ) -> io::Result<Route> {
        let any: SocketAddr = match peer {
            SocketAddr::V4(_) => ([0, 0, 0, 0], 0).into(),
            SocketAddr::V6(_) => ([0_u16; 8], 0).into(),
        };
        let socket = UdpSocket::bind(any).await?;
        let link = self.next_link.fetch_add(1, Ordering::Relaxed);
        let route = Route { transport: Transport::Sctp, link, peer };
        let mut local = any;
        let inlet = self.inlet();
        let to = (SocketAddr::new(peer.ip(), udp), peer.port());
        let (task, writer, established) = Task::opens(socket, to, self.limits, |port, writer| {
            local.set_port(port);
            shards::Stream::opened(inlet, route, user, local, writer)
        })?;
        self.tasks.spawn(task.run());
        let ended = |_| Err(io::Error::other("the task of the association has ended"));
        in_time(async { established.await.unwrap_or_else(ended) }).await?;
        self.links.streams.insert(link, Stream { local, writer, is_association: true });
        Ok(route)
    }
}

impl Drop for Task {
    /// Tells peers of the end: they would find out only by their timers.
    fn drop(&mut self) {
        let now = self.now();
        let ids: Vec<Id> = self.links.keys().copied().collect();
        for id in ids {
            self.endpoint.abort(now, id, "the end of the program");
        }
        while let Some((to, packet)) = self.endpoint.poll_transmit() {
            _ = self.socket.try_send_to(&packet, to);
        }
    }
}

fn config() -> Config {
    Config {
        port: None,
        protocol: PROTOCOL,
        most_message: Transport::Sctp.max_message(),
        window: WINDOW,
        most: 1,
        silence: Silence::default(),
    }
}

/// Hands messages of an association to its socket, as many as may be under way; then its end.
async fn forward(
    id: Id,
    mut queue: mpsc::Receiver<Arc<[u8]>>,
    room: Arc<Semaphore>,
    socket: mpsc::Sender<Command>,
) {
    while let Some(octets) = queue.recv().await {
        // The association has ended.
        let Ok(permit) = room.acquire().await else { return };
        permit.forget();
        if socket.send(Command::Send { id, octets }).await.is_err() {
            return;
        }
    }
    _ = socket.send(Command::Close { id }).await;
}
