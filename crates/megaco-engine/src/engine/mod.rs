//! The engine: its tables, its users and connections, and the calls of drivers.
//!
//! The two sides of a transaction are in [`requester`] and [`responder`], segments in [`segments`], what happens to a message in
//! [`input`], and gathering and sending in [`sender`].

mod acks;
mod conns;
mod error;
mod gate;
mod gauges;
mod handler;
mod input;
mod requester;
mod responder;
mod response;
mod segments;
mod sender;

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::Arc;

use tercet_megaco::binary::Binary;
use tercet_megaco::codec::Encoding;
use tercet_megaco::model::{MId, ServiceChangeAddress};

use crate::counters::Counters;
use crate::event::{ConnId, Event, RequestId, SendFault, Token, Transmit, UserId};
use crate::items::{Encode, Items};
use crate::route::{Route, Transport};
use crate::seeded::{Random, Seeded};
use crate::slab::{Chain, Slab};
use crate::time::Time;
use crate::wheel::{TimerId, Wheel};
use crate::wire::{self, Registry};
pub use error::Error;
use gate::ErrorGate;
pub use gauges::{Gauges, Latencies};
use handler::Taker;
pub use handler::{Asked, Handler, Replied};
pub use input::registration;
use requester::Request;
pub use requester::RequestOptions;
pub use responder::{AckMode, BEFORE_REGISTRATION, ReplyOptions};
use response::Response;
use sender::Gather;

/// Limits of the engine, over all its connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Connections, with those that are remembered because of their transactions.
    pub connections: usize,
    /// Requests of peers that are executed or remembered.
    pub replies: usize,
    /// Octets of the replies that are remembered.
    pub reply_octets: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { connections: 200_000, replies: 4_000_000, reply_octets: 1 << 30 }
    }
}

/// What a timer is for.
#[derive(Clone, Copy, Debug)]
enum Due {
    Request(u32),
    Response(u32),
    Execution(u32),
    Together(u32),
    Resend(u32),
    Flush(u32),
    Idle(u32),
}

#[derive(Debug)]
struct User {
    mid: MId<'static>,
    items: Arc<Items>,
    last_id: Option<u32>,
    /// Connections that have not ended.
    active: u32,
    is_stopped: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The user has not accepted the connection yet.
    Connecting,
    Connected,
    /// Ended; something is still remembered.
    Disconnected,
}

/// A connection: what is known of a remote entity.
#[derive(Debug)]
struct Conn {
    user: u32,
    /// `None` as long as the connection is preliminary.
    mid: Option<MId<'static>>,
    mid_text: Arc<str>,
    state: State,
    /// Where requests go; `None` if the stream is closed.
    route: Option<Route>,
    items: Arc<Items>,
    version: u8,
    encoding: Encoding,
    /// Whether a ServiceChange of ours has no reply yet: requests are answered with error 505.
    is_registering: bool,
    is_full: bool,
    /// The first message, until the user has accepted the connection.
    held: Option<Box<(Route, Box<[u8]>)>>,
    requests: Chain,
    responses: Chain,
    gather: Option<Box<Gather>>,
    idle: TimerId,
    /// Whether the peer may be forged: it began with a datagram, and nothing shows that it receives what it is sent.
    is_unproven: bool,
    is_registered: bool,
    last_input: Time,
    counters: Counters,
}

/// The protocol engine: any number of local entities and connections, without input, output, clock or threads.
///
/// A driver hands in what arrives ([`handle_input`](Self::handle_input)) and the time ([`handle_timeout`](Self::handle_timeout)), and takes what is to be
/// sent ([`poll_transmit`](Self::poll_transmit)), what happened ([`poll_event`](Self::poll_event)) and when to come again
/// ([`poll_timeout`](Self::poll_timeout)). The same inputs with the same seed give the same outputs.
///
/// ```
/// use tercet_megaco_engine::{Engine, Event, Items, Limits, ReplyOptions, Route, Time, Transport};
/// use tercet_megaco::model::TransactionResult;
/// use tercet_megaco::text::read_mid;
///
/// let mut engine = Engine::new(1, Limits::default());
/// let user = engine.add_user(read_mid(b"<mgc>")?, Items::default())?;
/// let peer = Route { transport: Transport::Udp, link: 0, peer: "192.0.2.1:2944".parse()? };
///
/// let now = Time::from_millis(5);
/// engine.handle_input(now, user, peer, b"!/1 <mg> T=7{C=-{S=a}}");
/// assert!(matches!(engine.poll_event(), Some(Event::Connect { .. })));
/// let Some(Event::Requests { requests, .. }) = engine.poll_event() else { panic!() };
///
/// let error = tercet_megaco::model::ErrorDescriptor { error_code: 430, error_text: None };
/// engine.reply(now, requests[0].token, TransactionResult::TransactionError(error), &ReplyOptions::default())?;
/// let reply = engine.poll_transmit().unwrap();
/// assert!(reply.octets.starts_with(b"MEGACO/1 <mgc>\nReply = 7"));
///
/// // The same request again is not executed again.
/// engine.handle_input(now, user, peer, b"!/1 <mg> T=7{C=-{S=a}}");
/// assert_eq!(engine.poll_event(), None);
/// assert_eq!(engine.poll_transmit().unwrap().octets, reply.octets);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Engine {
    now: Time,
    limits: Limits,
    users: Vec<User>,
    conns: Slab<Conn>,
    /// Connections by user and remote mid.
    by_mid: HashMap<Box<[u8]>, u32, Seeded>,
    /// Preliminary connections by user and route.
    preliminary: HashMap<(u32, Route), u32, Seeded>,
    /// Connections by the stream that they send by.
    by_stream: HashMap<(Transport, u32), BTreeSet<u32>, Seeded>,
    requests: Slab<Request>,
    /// Connections whose peers may be forged, the oldest first, with some that are gone.
    unproven: VecDeque<ConnId>,
    /// When they are looked at next.
    next_sweep: Time,
    /// Requests by user and transaction id.
    request_ids: HashMap<(u32, u32), u32, Seeded>,
    responses: Slab<Response>,
    /// Responses by connection and transaction id.
    response_ids: HashMap<(u32, u32), u32, Seeded>,
    reply_octets: usize,
    wheel: Wheel<Due>,
    transmits: VecDeque<Transmit>,
    events: VecDeque<Event>,
    counters: Counters,
    latencies: Latencies,
    gate: ErrorGate,
    key: Vec<u8>,
    registry: Registry,
    /// What messages are written into.
    scratch: Vec<u8>,
}

impl Engine {
    /// Makes an engine without users. The seed keeps peers from choosing transaction ids that collide in its tables.
    pub fn new(seed: u64, limits: Limits) -> Self {
        let seeded = Seeded::new(&mut Random::new(seed));
        Self {
            now: Time::default(),
            limits,
            users: Vec::new(),
            conns: Slab::new(),
            by_mid: HashMap::with_hasher(seeded.clone()),
            preliminary: HashMap::with_hasher(seeded.clone()),
            by_stream: HashMap::with_hasher(seeded.clone()),
            unproven: VecDeque::new(),
            next_sweep: Time::default(),
            requests: Slab::new(),
            request_ids: HashMap::with_hasher(seeded.clone()),
            responses: Slab::new(),
            response_ids: HashMap::with_hasher(seeded.clone()),
            reply_octets: 0,
            wheel: Wheel::new(),
            transmits: VecDeque::new(),
            events: VecDeque::new(),
            counters: Counters::default(),
            latencies: Latencies::default(),
            gate: ErrorGate::new(seeded),
            key: Vec::new(),
            registry: Registry::default(),
            scratch: Vec::new(),
        }
    }

    /// Sets what the binary encodings know beside the modules, for all users: packages, and the octets of terminations. The
    /// standard packages are known without it.
    pub fn set_registry(&mut self, binary: Binary) {
        self.registry = Registry::new(binary);
    }

    /// Returns what the binary encodings know beside the modules.
    pub fn registry(&self) -> &Binary {
        &self.registry
    }

    /// Adds a local entity with the configuration of its connections.
    ///
    /// # Errors
    /// Items that contradict each other; there is no such user then.
    pub fn add_user(&mut self, mid: MId<'_>, items: Items) -> Result<UserId, Error> {
        items.check()?;
        let items = Arc::new(items);
        let mid = wire::into_owned(mid);
        self.users.push(User { mid, items, last_id: None, active: 0, is_stopped: false });
        Ok(UserId((self.users.len() - 1) as u32))
    }

    /// Removes a local entity.
    ///
    /// # Errors
    /// There is no such user, or it has connections.
    pub fn remove_user(&mut self, user: UserId) -> Result<(), Error> {
        let found = self.user_mut(user)?;
        if found.active > 0 {
            return Err(Error::ActiveConnections);
        }
        found.is_stopped = true;
        Ok(())
    }

    /// Returns the configuration of a user.
    pub fn items(&self, user: UserId) -> Option<&Items> {
        self.users.get(user.0 as usize).filter(|user| !user.is_stopped).map(|user| &*user.items)
    }

    /// Changes the configuration of a user, which is that of its further connections.
    ///
    /// # Errors
    /// There is no such user, or the items contradict each other.
    pub fn set_items(&mut self, user: UserId, items: Items) -> Result<(), Error> {
        items.check()?;
        self.user_mut(user)?.items = Arc::new(items);
        Ok(())
    }

    /// Returns the configuration of a connection.
    pub fn conn_items(&self, conn: ConnId) -> Option<&Items> {
        self.conn(conn).ok().map(|conn| &*conn.items)
    }

    /// Changes the configuration of a connection. Transactions that have begun keep the timers that run.
    ///
    /// # Errors
    /// There is no such connection, or the items contradict each other.
    pub fn set_conn_items(&mut self, conn: ConnId, items: Items) -> Result<(), Error> {
        items.check()?;
        let index = self.live(conn)?;
        if let Some(conn) = self.conns.get_mut(index) {
            if let Encode::As(encoding) = items.encoding {
                conn.encoding = encoding;
            }
            conn.items = Arc::new(items);
        }
        self.start_idle(index);
        Ok(())
    }

    /// Returns the version of a connection.
    pub fn version(&self, conn: ConnId) -> Option<u8> {
        self.conn(conn).ok().map(|conn| conn.version)
    }

    /// Sets the version of further messages of a connection, after it has been negotiated.
    ///
    /// # Errors
    /// There is no such connection, or no such version.
    pub fn set_version(&mut self, conn: ConnId, version: u8) -> Result<(), Error> {
        let index = self.live(conn)?;
        match self.conns.get_mut(index) {
            Some(conn) if (1..=conn.items.max_version).contains(&version) => conn.version = version,
            _ => return Err(Error::LimitReached("max_version")),
        }
        Ok(())
    }

    /// Returns where the requests of a connection go.
    pub fn route(&self, conn: ConnId) -> Option<Route> {
        self.conn(conn).ok().and_then(|conn| conn.route)
    }

    /// Sets where the requests of a connection go.
    ///
    /// # Errors
    /// There is no such connection.
    pub fn set_route(&mut self, conn: ConnId, route: Route) -> Result<(), Error> {
        let index = self.live(conn)?;
        self.move_to(index, Some(route));
        Ok(())
    }

    /// Sets that the peer is at a ServiceChangeAddress that it has answered with (H.248.1 11.2); that of a stream stays where it is.
    ///
    /// # Errors
    /// There is no such connection.
    pub fn set_address(&mut self, conn: ConnId, address: &ServiceChangeAddress<'_>) -> Result<(), Error> {
        let index = self.live(conn)?;
        if let Some(route) = self.conns.get(index).and_then(|conn| conn.route) {
            self.move_to(index, Some(input::at_address(route, address)));
        }
        Ok(())
    }

    /// Sets whether a ServiceChange of ours waits for its reply: requests that come meanwhile are answered with error 505.
    ///
    /// # Errors
    /// There is no such connection.
    pub fn set_registering(&mut self, conn: ConnId, is_registering: bool) -> Result<(), Error> {
        let index = self.live(conn)?;
        if let Some(conn) = self.conns.get_mut(index) {
            conn.is_registering = is_registering;
        }
        Ok(())
    }

    /// Returns the remote mid of a connection as text; `preliminary` as long as it is not known.
    pub fn remote_mid(&self, conn: ConnId) -> Option<Arc<str>> {
        self.conn(conn).ok().map(|conn| Arc::clone(&conn.mid_text))
    }

    /// Returns the connections that have not ended.
    pub fn connections(&self) -> impl Iterator<Item = ConnId> + '_ {
        let is_live = |index: &u32| self.conns.get(*index).is_some_and(|c| c.state != State::Disconnected);
        self.conns.indices().filter(is_live).map(|index| self.conn_id(index))
    }

    /// Returns the counters of the engine.
    pub const fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Returns the counters of a connection.
    pub fn conn_counters(&self, conn: ConnId) -> Option<&Counters> {
        self.conn(conn).ok().map(|conn| &conn.counters)
    }

    /// Returns how long replies to requests took.
    pub const fn latencies(&self) -> &Latencies {
        &self.latencies
    }

    /// Sets all counters to zero.
    pub fn reset_counters(&mut self) {
        self.counters = Counters::default();
        self.latencies = Latencies::default();
        let indices: Vec<u32> = self.conns.indices().collect();
        for index in indices {
            if let Some(conn) = self.conns.get_mut(index) {
                conn.counters = Counters::default();
            }
        }
    }

    /// Returns how much the engine remembers.
    pub fn gauges(&self) -> Gauges {
        Gauges {
            connections: self.conns.len(),
            requests: self.requests.len(),
            replies: self.responses.len(),
            reply_octets: self.reply_octets,
            timers: self.wheel.len(),
        }
    }

    /// Connects to a peer, whose mid need not be known: a preliminary connection becomes the real one at the first message
    /// from its route.
    ///
    /// # Errors
    /// No such user, the connection exists already, or there are too many.
    pub fn connect(
        &mut self,
        now: Time,
        user: UserId,
        mid: Option<MId<'_>>,
        route: Route,
    ) -> Result<ConnId, Error> {
        self.advance(now);
        self.user_mut(user)?;
        let Some(mid) = mid else {
            if self.preliminary.contains_key(&(user.0, route)) {
                return Err(Error::AlreadyConnected);
            }
            let index = self.add_conn(user.0, None, Some(route), State::Connected)?;
            self.preliminary.insert((user.0, route), index);
            return Ok(self.conn_id(index));
        };
        match self.find_mid(user.0, &mid) {
            None => {
                let index = self.add_conn(user.0, Some(mid), Some(route), State::Connected)?;
                Ok(self.conn_id(index))
            }
            Some(index) if self.conns.get(index).is_some_and(|c| c.state == State::Disconnected) => {
                self.reconnect(index, Some(route));
                Ok(self.conn_id(index))
            }
            Some(_) => Err(Error::AlreadyConnected),
        }
    }

    /// Accepts a new connection (`confirm_connect`); its first message is then processed.
    ///
    /// # Errors
    /// There is no such connection.
    pub fn accept(&mut self, now: Time, conn: ConnId) -> Result<(), Error> {
        self.accepted(now, conn, None)
    }

    fn accepted(&mut self, now: Time, conn: ConnId, taker: Option<Taker<'_>>) -> Result<(), Error> {
        self.advance(now);
        let index = self.live(conn)?;
        let Some(found) = self.conns.get_mut(index) else { return Err(Error::NoSuchConnection) };
        let user = UserId(found.user);
        if found.state == State::Connecting {
            found.state = State::Connected;
        }
        if let Some((route, octets)) = found.held.take().map(|held| *held) {
            self.process(user, route, &octets, taker);
        }
        Ok(())
    }

    /// Refuses a new connection: the peer is sent an error of its message, by default 402 "Connection refused by user".
    ///
    /// # Errors
    /// There is no such connection.
    pub fn refuse(&mut self, now: Time, conn: ConnId, error: Option<(u16, &str)>) -> Result<(), Error> {
        self.advance(now);
        let index = self.live(conn)?;
        let (code, text) = error.unwrap_or((402, "Connection refused by user"));
        if let Some((route, _)) = self.conns.get_mut(index).and_then(|conn| conn.held.take()).map(|h| *h) {
            let dialect = self.dialect(index);
            let user = self.conns.get(index).map_or(0, |conn| conn.user);
            self.message_error(user, route, dialect, code, text);
        }
        self.end_conn(index, "refused");
        Ok(())
    }

    /// Ends a connection. Its requests go on, and are sent to the address of the next connection with the same peer.
    ///
    /// # Errors
    /// There is no such connection.
    pub fn disconnect(&mut self, now: Time, conn: ConnId, reason: &str) -> Result<(), Error> {
        self.advance(now);
        let index = self.live(conn)?;
        self.flush(index);
        self.end_conn(index, reason);
        Ok(())
    }

    /// Sends what is gathered for all connections: before the end.
    pub fn flush_gathered(&mut self, now: Time) {
        self.advance(now);
        let all: Vec<u32> = self.conns.indices().collect();
        all.into_iter().for_each(|index| self.flush(index));
    }

    /// Ends all requests of a connection and all waits for acknowledgements; works also after the connection has ended.
    ///
    /// # Errors
    /// There is no such connection.
    pub fn cancel(&mut self, now: Time, conn: ConnId) -> Result<(), Error> {
        self.advance(now);
        self.conn(conn)?;
        self.cancel_requests(conn.index);
        self.cancel_acks(conn.index);
        self.free_if_unused(conn.index);
        Ok(())
    }

    /// Takes away a stream that is closed. Returns the connections that used it: they send nothing until a message of their peer
    /// arrives by another one, or a route is set.
    pub fn handle_closed(&mut self, now: Time, route: Route) -> Vec<ConnId> {
        self.advance(now);
        let indices = self.by_stream.remove(&(route.transport, route.link)).unwrap_or_default();
        for &index in &indices {
            self.move_to(index, None);
        }
        indices.into_iter().map(|index| self.conn_id(index)).collect()
    }

    /// Tells that a message was not sent. Its requests end.
    pub fn handle_send_fault(&mut self, now: Time, transmit: &Transmit, fault: &SendFault) {
        self.advance(now);
        if let SendFault::Failed(_) = fault {
            self.count(transmit.conn.map(|conn| conn.index), |c| c.send_failures += 1);
        }
        for origin in &transmit.origins {
            match *origin {
                crate::event::Origin::Request(request) => self.request_not_sent(request, fault),
                crate::event::Origin::Reply(token) => self.reply_not_sent(token, fault),
            }
        }
    }

    /// Does what is due by now.
    pub fn handle_timeout(&mut self, now: Time) {
        self.advance(now);
        self.sweep_unproven();
        while let Some(due) = self.wheel.expired(self.now) {
            match due {
                Due::Request(index) => self.request_expired(index),
                Due::Response(index) => self.response_expired(index),
                Due::Execution(index) => self.execution_expired(index),
                Due::Together(index) => self.together_expired(index),
                Due::Resend(index) => self.resend_segments(index),
                Due::Flush(index) => self.flush(index),
                Due::Idle(index) => self.idle_expired(index),
            }
        }
    }

    /// Returns the time of the engine: the latest one that it was given.
    pub const fn now(&self) -> Time {
        self.now
    }

    /// Takes the next message to send.
    pub fn poll_transmit(&mut self) -> Option<Transmit> {
        self.transmits.pop_front()
    }

    /// Takes the next event.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// Returns whether something has happened that is not taken yet.
    pub fn has_events(&self) -> bool {
        !self.events.is_empty()
    }

    /// Returns when [`handle_timeout`](Self::handle_timeout) has something to do; it may be called at any time.
    pub fn poll_timeout(&self) -> Option<Time> {
        self.wheel.next_deadline()
    }

    /// The engine's clock never goes back: a driver's may.
    fn advance(&mut self, now: Time) {
        self.now = self.now.max(now);
    }

    fn user_mut(&mut self, user: UserId) -> Result<&mut User, Error> {
        self.users.get_mut(user.0 as usize).filter(|user| !user.is_stopped).ok_or(Error::NoSuchUser)
    }

    fn conn(&self, conn: ConnId) -> Result<&Conn, Error> {
        if !self.conns.is_current(conn.index, conn.generation) {
            return Err(Error::NoSuchConnection);
        }
        self.conns.get(conn.index).ok_or(Error::NoSuchConnection)
    }

    /// The index of a connection that has not ended.
    fn live(&self, conn: ConnId) -> Result<u32, Error> {
        match self.conn(conn)?.state {
            State::Disconnected => Err(Error::NoSuchConnection),
            State::Connecting | State::Connected => Ok(conn.index),
        }
    }

    fn conn_id(&self, index: u32) -> ConnId {
        ConnId { index, generation: self.conns.generation(index) }
    }

    fn request_id(&self, index: u32) -> RequestId {
        RequestId { index, generation: self.requests.generation(index) }
    }

    fn token(&self, index: u32) -> Token {
        Token { index, generation: self.responses.generation(index) }
    }

    /// Counts for a connection and for the engine.
    fn count(&mut self, conn: Option<u32>, add: impl Fn(&mut Counters)) {
        add(&mut self.counters);
        if let Some(conn) = conn.and_then(|index| self.conns.get_mut(index)) {
            add(&mut conn.counters);
        }
    }
}
