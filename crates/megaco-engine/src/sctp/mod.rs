//! SCTP (RFC 9260) over datagrams of UDP (RFC 6951), without input and output.
//!
//! [`Endpoint`] has any number of associations behind one socket of UDP. Each has one address on either side. Messages are
//! ordered, on stream 0. What comes and what goes are datagrams; time is handed in; the secret is given at the beginning, so that
//! the same inputs give the same outputs.
//!
//! Nothing is remembered of a peer before its cookie has come back (5.1.3).

mod association;
mod cookie;
mod keyed;
mod packet;
mod receive;
mod send;
#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::net::SocketAddr;
use std::sync::Arc;

use crate::time::Time;
use association::{Association, Ends, State, is_valid};
use cookie::{Cookie, LONGEST};
use keyed::Secret;
use packet::{Chunk, Chunks, Data, Header, Init, Packet, answer_parameters, cause};

/// The payload protocol identifier of H.248 (the registry of IANA).
pub(crate) const PROTOCOL: u32 = 7;

/// An association: its verification tag, which is never used twice while it lives.
pub(crate) type Id = u32;

/// How long a peer may be silent, in milliseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Silence {
    /// Before its first message.
    pub(crate) first: Option<u32>,
    /// Between two messages.
    pub(crate) idle: Option<u32>,
    /// Within a message.
    pub(crate) frame: Option<u32>,
}

/// What an endpoint does and allows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Config {
    /// The port of SCTP at which associations are accepted.
    pub(crate) port: Option<u16>,
    /// The payload protocol identifier of messages that are sent. That of received ones is not looked at.
    pub(crate) protocol: u32,
    /// The octets of the largest message.
    pub(crate) most_message: usize,
    /// Octets that may wait for what is missing before them.
    pub(crate) window: usize,
    /// Associations at once.
    pub(crate) most: usize,
    /// How long accepted peers may be silent; opened ones only within a message.
    pub(crate) silence: Silence,
}

/// What happens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// An association is established.
    Up { id: Id, is_accepted: bool },
    /// A message came.
    Message { id: Id, octets: Vec<u8> },
    /// Messages have arrived at the peer.
    Sent { id: Id, count: usize },
    /// An association has ended.
    Down { id: Id, reason: String },
}

/// Writes a packet with one piece of a message, as an association would send it.
pub(crate) fn packet_of(
    ports: (u16, u16),
    tsn: u32,
    sequence: u16,
    ends: (bool, bool),
    octets: &[u8],
) -> Vec<u8> {
    let mut packet = Packet::new(Header { source: ports.0, destination: ports.1, tag: 1 });
    let (is_first, is_last) = ends;
    let (stream, protocol, is_urgent) = (0, PROTOCOL, false);
    packet.data(&Data { tsn, stream, sequence, protocol, is_first, is_last, is_urgent, octets });
    packet.finish()
}

/// What is to be sent and reported.
#[derive(Debug, Default)]
struct Output {
    packets: VecDeque<(SocketAddr, Vec<u8>)>,
    events: VecDeque<Event>,
}

/// The address and port of SCTP of a peer.
type Peer = (SocketAddr, u16);

/// Associations behind one socket.
#[derive(Debug)]
pub(crate) struct Endpoint {
    config: Config,
    secret: Secret,
    associations: HashMap<Id, Association>,
    by_peer: HashMap<Peer, Id>,
    due: BTreeSet<(Time, Id)>,
    output: Output,
}

impl Endpoint {
    /// An endpoint without associations. Peers must not know the secret.
    pub(crate) fn new(config: Config, secret: [u64; 2]) -> Self {
        let (associations, by_peer) = (HashMap::new(), HashMap::new());
        let secret = Secret::new(secret);
        Self { config, secret, associations, by_peer, due: BTreeSet::new(), output: Output::default() }
    }

    /// Begins an association with a peer. Returns nothing if there is one with it.
    pub(crate) fn connect(&mut self, now: Time, address: SocketAddr, port: u16) -> Option<Id> {
        if self.by_peer.contains_key(&(address, port)) {
            return None;
        }
        let own_tag = self.new_tag();
        // Of the range for ports of clients (RFC 6335 6).
        let own_port = self.config.port.unwrap_or_else(|| 0xc000 | self.secret.number() as u16 & 0x3fff);
        let ends = Ends { address, own_port, peer_port: port, own_tag, peer_tag: 0 };
        let first = self.secret.number();
        self.add(Association::connect(now, ends, first, &self.config));
        self.touch(now, own_tag);
        Some(own_tag)
    }

    /// Queues a message.
    pub(crate) fn send(&mut self, now: Time, id: Id, octets: Arc<[u8]>) {
        if let Some(association) = self.associations.get_mut(&id) {
            association.send(now, octets);
            self.touch(now, id);
        }
    }

    /// Ends an association when all that is queued has arrived.
    pub(crate) fn shutdown(&mut self, now: Time, id: Id) {
        if let Some(association) = self.associations.get_mut(&id) {
            association.shutdown(now, &mut self.output);
            self.touch(now, id);
        }
    }

    /// Ends an association at once.
    pub(crate) fn abort(&mut self, now: Time, id: Id, reason: &str) {
        if let Some(association) = self.associations.get_mut(&id) {
            association.abort(cause::USER_ABORT, reason, &mut self.output);
            self.touch(now, id);
        }
    }

    /// The address of the peer, and its port of SCTP.
    pub(crate) fn peer(&self, id: Id) -> Option<(SocketAddr, u16)> {
        self.associations.get(&id).map(|association| (association.ends.address, association.ends.peer_port))
    }

    /// The own port of SCTP.
    pub(crate) fn own_port(&self, id: Id) -> Option<u16> {
        self.associations.get(&id).map(|association| association.ends.own_port)
    }

    /// Returns whether there are no associations.
    pub(crate) fn is_empty(&self) -> bool {
        self.associations.is_empty()
    }

    /// The next datagram to send.
    pub(crate) fn poll_transmit(&mut self) -> Option<(SocketAddr, Vec<u8>)> {
        self.output.packets.pop_front()
    }

    /// What happened next.
    pub(crate) fn poll_event(&mut self) -> Option<Event> {
        self.output.events.pop_front()
    }

    /// When [`handle_timeout`](Self::handle_timeout) is to be called.
    pub(crate) fn poll_timeout(&self) -> Option<Time> {
        self.due.first().map(|(due, _)| *due)
    }

    /// Does what is due.
    pub(crate) fn handle_timeout(&mut self, now: Time) {
        while let Some(&(due, id)) = self.due.first()
            && due <= now
        {
            self.due.pop_first();
            if let Some(association) = self.associations.get_mut(&id) {
                association.noted = None;
                association.handle_timeout(now, &mut self.secret, &mut self.output);
                self.touch(now, id);
            }
        }
    }

    /// Processes a datagram.
    pub(crate) fn handle(&mut self, now: Time, from: SocketAddr, datagram: &[u8]) {
        let Some((header, mut chunks)) = packet::read(datagram) else { return };
        match chunks.clone().next() {
            Some(Chunk::Init(init)) => {
                // It is alone in its packet, which has no tag (8.5.1 A).
                if header.tag == 0 && chunks.count() == 1 {
                    self.init(now, from, header, &init);
                }
                return;
            }
            Some(Chunk::CookieEcho(cookie)) => {
                if !self.cookie_echo(now, from, header, cookie) {
                    return;
                }
                _ = chunks.next();
            }
            Some(_) => {}
            None => return,
        }
        match self.find(from, header, &chunks) {
            Some(id) => self.chunks(now, id, chunks),
            None => self.out_of_the_blue(from, header, chunks),
        }
    }

    /// The association that a packet belongs to.
    fn find(&mut self, from: SocketAddr, header: Header, chunks: &Chunks<'_>) -> Option<Id> {
        let is_its = |ends: &Ends| {
            (ends.own_port, ends.peer_port) == (header.destination, header.source)
                && ends.address.ip() == from.ip()
        };
        if let Some(association) = self.associations.get_mut(&header.tag)
            && is_its(&association.ends)
        {
            // A translator of addresses may have changed the port of UDP (RFC 6951 5.4).
            if association.ends.address != from {
                self.by_peer.remove(&(association.ends.address, header.source));
                self.by_peer.insert((from, header.source), header.tag);
                association.ends.address = from;
            }
            return Some(header.tag);
        }
        // Who has no association any more sends the tag of the other side back (8.5.1 B, C).
        let is_reflected = matches!(
            chunks.clone().next(),
            Some(Chunk::Abort { is_reflected: true, .. } | Chunk::ShutdownComplete { is_reflected: true })
        );
        let id = *self.by_peer.get(&(from, header.source))?;
        let ends = &self.associations.get(&id)?.ends;
        (is_reflected && is_its(ends) && ends.peer_tag == header.tag).then_some(id)
    }

    fn chunks(&mut self, now: Time, id: Id, chunks: Chunks<'_>) {
        let Some(association) = self.associations.get_mut(&id) else { return };
        let mut has_data = false;
        for chunk in chunks {
            has_data |= matches!(chunk, Chunk::Data(_));
            if !association.chunk(now, &chunk, &self.config, &mut self.output) {
                break;
            }
        }
        association.end_packet(now, has_data, &mut self.output);
        self.touch(now, id);
    }

    /// Sends what an association has to send, and notes when it is due; forgets it after its end.
    fn touch(&mut self, now: Time, id: Id) {
        let Some(association) = self.associations.get_mut(&id) else { return };
        association.flush(now, &mut self.output);
        let due = association.due(now);
        if due != association.noted || association.state == State::Closed {
            if let Some(noted) = association.noted.take() {
                self.due.remove(&(noted, id));
            }
            association.noted = due;
            self.due.extend(due.map(|due| (due, id)));
        }
        if association.state == State::Closed {
            self.forget(id);
        }
    }

    fn add(&mut self, association: Association) {
        let ends = association.ends;
        self.by_peer.insert((ends.address, ends.peer_port), ends.own_tag);
        self.associations.insert(ends.own_tag, association);
    }

    fn forget(&mut self, id: Id) {
        let Some(association) = self.associations.remove(&id) else { return };
        if let Some(noted) = association.noted {
            self.due.remove(&(noted, id));
        }
        let peer = (association.ends.address, association.ends.peer_port);
        if self.by_peer.get(&peer) == Some(&id) {
            self.by_peer.remove(&peer);
        }
    }

    fn new_tag(&mut self) -> u32 {
        loop {
            let tag = self.secret.tag();
            if !self.associations.contains_key(&tag) {
                return tag;
            }
        }
    }

    fn transmit(&mut self, to: SocketAddr, asked: Header, tag: u32, write: impl FnOnce(&mut Packet)) {
        let mut packet = Packet::new(Header { source: asked.destination, destination: asked.source, tag });
        write(&mut packet);
        self.output.packets.push_back((to, packet.finish()));
    }

    /// Answers INIT with a cookie, which has all that is known about the peer (5.1 B).
    fn init(&mut self, now: Time, from: SocketAddr, header: Header, init: &Init<'_>) {
        let ports = header.source != 0 && self.config.port == Some(header.destination);
        if !ports {
            return self
                .transmit(from, header, init.tag, |packet| packet.abort(false, cause::USER_ABORT, b""));
        }
        if !is_valid(init) {
            let bad = cause::INVALID_PARAMETER;
            return self.transmit(from, header, init.tag, |packet| packet.abort(false, bad, b""));
        }
        // If there is an association with it, the peer may have restarted (5.2.2).
        let known = self.by_peer.get(&(from, header.source)).and_then(|id| self.associations.get(id));
        let tie = known.map_or(0, |known| known.ends.tie(&self.secret));
        let own_tag = self.new_tag();
        let cookie = Cookie {
            created: now.as_micros(),
            own_tag,
            own_first: self.secret.number(),
            peer_tag: init.tag,
            peer_first: init.tsn,
            peer_window: init.window,
            own_port: header.destination,
            peer_port: header.source,
            tie,
        };
        let signed = cookie.sign(&self.secret, from);
        let parameters = answer_parameters(&signed, init.parameters);
        let answer = Init {
            tag: own_tag,
            window: u32::try_from(self.config.window).unwrap_or(u32::MAX),
            outbound: 1,
            inbound: init.outbound,
            tsn: cookie.own_first,
            parameters: &parameters,
        };
        self.transmit(from, header, init.tag, |packet| packet.init_ack(&answer));
    }

    /// Begins the association of a cookie. Returns whether the rest of the packet is to be looked at.
    fn cookie_echo(&mut self, now: Time, from: SocketAddr, header: Header, octets: &[u8]) -> bool {
        let Some(cookie) = Cookie::read(&self.secret, from, octets) else { return false };
        let is_its = (cookie.own_port, cookie.peer_port, cookie.own_tag)
            == (header.destination, header.source, header.tag);
        if !is_its {
            return false;
        }
        if let Some(association) = self.associations.get_mut(&cookie.own_tag) {
            // The acknowledgement was lost (5.2.4 D).
            association.cookie_again();
            return true;
        }
        let age = now.since(Time::from_micros(cookie.created));
        if age > LONGEST {
            let late = u32::try_from((age - LONGEST).as_micros()).unwrap_or(u32::MAX);
            let late = late.to_be_bytes();
            self.transmit(from, header, cookie.peer_tag, |packet| packet.error(cause::STALE_COOKIE, &late));
            return false;
        }
        let known = self.by_peer.get(&(from, header.source)).copied();
        if let Some(id) = known
            && let Some(known) = self.associations.get_mut(&id)
        {
            // The peer has restarted if the cookie is of a time at which there was this association, and its tag is another one
            // (5.2.4 A). Else it is an old one.
            let is_of_now = cookie.tie == known.ends.tie(&self.secret);
            let is_restart = is_of_now && cookie.peer_tag != known.ends.peer_tag;
            if !is_restart {
                return false;
            }
            known.close("the peer has restarted", &mut self.output);
            self.forget(id);
        }
        if self.associations.len() >= self.config.most {
            let full = cause::OUT_OF_RESOURCE;
            self.transmit(from, header, cookie.peer_tag, |packet| packet.abort(false, full, b""));
            return false;
        }
        let ends = Ends {
            address: from,
            own_port: cookie.own_port,
            peer_port: cookie.peer_port,
            own_tag: cookie.own_tag,
            peer_tag: cookie.peer_tag,
        };
        let peer = cookie.init();
        self.add(Association::accept(now, ends, cookie.own_first, &peer, &self.config));
        self.output.events.push_back(Event::Up { id: cookie.own_tag, is_accepted: true });
        true
    }

    /// Answers a packet that belongs to nothing (8.4).
    fn out_of_the_blue(&mut self, from: SocketAddr, header: Header, mut chunks: Chunks<'_>) {
        // A wrong tag for a peer that is known may be forged; an answer would end nothing, but helps nobody either.
        if self.by_peer.contains_key(&(from, header.source)) || header.source == 0 {
            return;
        }
        let is_silent = |chunk: &Chunk<'_>| {
            matches!(
                chunk,
                Chunk::Abort { .. } | Chunk::ShutdownComplete { .. } | Chunk::CookieAck | Chunk::Error(_)
            )
        };
        if chunks.clone().any(|chunk| is_silent(&chunk)) {
            return;
        }
        match chunks.next() {
            Some(Chunk::ShutdownAck) => {
                self.transmit(from, header, header.tag, |packet| packet.shutdown_complete(true));
            }
            Some(_) => {
                self.transmit(from, header, header.tag, |packet| packet.abort(true, cause::USER_ABORT, b""));
            }
            None => {}
        }
    }
}
