//! Associations with another implementation: `sctp-proto`, which browsers' data channels are made for.
//!
//! It cannot set the payload protocol identifier of H.248, and its shutdown does not end; both are left out here.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use sctp_proto::{
    Association, AssociationHandle, ClientConfig, DatagramEvent, Endpoint as OtherEndpoint, EndpointConfig,
    Event as OtherEvent, Payload, PayloadProtocolIdentifier, ServerConfig, StreamEvent, TransportConfig,
};

use super::super::{Config, Endpoint, Event, Id};
use super::world::{CONFIG, PORT, address};
use crate::seeded::Random;
use crate::time::Time;

/// An endpoint of the other implementation, with one association.
struct Other {
    endpoint: OtherEndpoint,
    association: Option<(AssociationHandle, Association)>,
    origin: Instant,
    reads: bool,
    received: Vec<Vec<u8>>,
    is_up: bool,
    is_down: bool,
}

impl Other {
    fn new(transport: Arc<TransportConfig>) -> Self {
        let mut server = ServerConfig::new();
        server.transport = transport;
        let endpoint = OtherEndpoint::new(Arc::new(EndpointConfig::new()), Some(Arc::new(server)));
        let (origin, association, received) = (Instant::now(), None, Vec::new());
        Self { endpoint, association, origin, reads: true, received, is_up: false, is_down: false }
    }

    fn at(&self, now: Time) -> Instant {
        self.origin + Duration::from_micros(now.as_micros())
    }

    fn connect(&mut self, to: SocketAddr, transport: TransportConfig) {
        let mut config = ClientConfig::new();
        config.transport = Arc::new(transport.with_local_port(5001).with_remote_port(PORT));
        self.association = Some(self.endpoint.connect(config, to).unwrap());
    }

    fn handle(&mut self, now: Time, from: SocketAddr, packet: &[u8]) {
        let at = self.at(now);
        match self.endpoint.handle(at, from, None, None, Bytes::copy_from_slice(packet)) {
            Some((handle, DatagramEvent::NewAssociation(new))) => self.association = Some((handle, new)),
            Some((_, DatagramEvent::AssociationEvent(event))) => {
                self.association.as_mut().unwrap().1.handle_event(event);
            }
            None => {}
        }
    }

    fn timeout(&mut self, now: Time) {
        let at = self.at(now);
        if let Some((_, association)) = &mut self.association {
            association.handle_timeout(at);
        }
    }

    fn due(&self) -> Option<Time> {
        let due = self.association.as_ref()?.1.poll_timeout()?;
        let micros = due.saturating_duration_since(self.origin).as_micros();
        Some(Time::from_micros(micros as u64 + 1))
    }

    /// What it sends; takes what it has received.
    fn collect(&mut self, now: Time) -> Vec<Vec<u8>> {
        let at = self.at(now);
        let Some((_, association)) = &mut self.association else { return Vec::new() };
        while let Some(event) = association.poll() {
            match event {
                OtherEvent::Connected => self.is_up = true,
                OtherEvent::AssociationLost { .. } => self.is_down = true,
                OtherEvent::Stream(StreamEvent::Readable { id }) if self.reads => {
                    while let Ok(Some(chunks)) = association.stream(id).unwrap().read() {
                        let mut octets = vec![0; chunks.len()];
                        chunks.read(&mut octets).unwrap();
                        self.received.push(octets);
                    }
                }
                _ => {}
            }
        }
        let mut packets = Vec::new();
        while let Some(transmit) = association.poll_transmit(at) {
            if let Payload::RawEncode(raw) = transmit.payload {
                packets.extend(raw.into_iter().map(|packet| packet.to_vec()));
            }
        }
        packets
    }

    fn send(&mut self, octets: &[u8]) {
        let association = &mut self.association.as_mut().unwrap().1;
        _ = association.open_stream(0, PayloadProtocolIdentifier::Unknown);
        let mut stream = association.stream(0).unwrap();
        stream.write_with_ppi(octets, PayloadProtocolIdentifier::Unknown).unwrap();
    }
}

/// An endpoint of each implementation, and a network that loses and delays.
struct Pair {
    own: Endpoint,
    other: Other,
    now: Time,
    random: Random,
    loses: u64,
    wire: Vec<(Time, bool, Vec<u8>)>,
    events: Vec<Event>,
}

impl Pair {
    fn new(seed: u64, loses: u64, port: Option<u16>, transport: TransportConfig) -> Self {
        Self {
            own: Endpoint::new(Config { port, ..CONFIG }, [seed, 9]),
            other: Other::new(Arc::new(transport)),
            now: Time::from_millis(1),
            random: Random::new(seed),
            loses,
            wire: Vec::new(),
            events: Vec::new(),
        }
    }

    fn step(&mut self) {
        let mut packets: Vec<(bool, Vec<u8>)> = Vec::new();
        while let Some((_, packet)) = self.own.poll_transmit() {
            packets.push((true, packet));
        }
        packets.extend(self.other.collect(self.now).into_iter().map(|packet| (false, packet)));
        for (to_other, packet) in packets {
            if !self.random.permille(self.loses) {
                let delay = Duration::from_millis(1 + self.random.below(20));
                self.wire.push((self.now.after(delay), to_other, packet));
            }
        }
        while let Some(event) = self.own.poll_event() {
            self.events.push(event);
        }
        let next =
            self.wire.iter().map(|(due, ..)| *due).chain(self.own.poll_timeout()).chain(self.other.due());
        self.now = next.min().map_or(self.now, |next| next.max(self.now)).max(self.now);
        let (due, later): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.wire).into_iter().partition(|(due, ..)| *due <= self.now);
        self.wire = later;
        for (_, to_other, packet) in due {
            if to_other {
                self.other.handle(self.now, address(0), &packet);
            } else {
                self.own.handle(self.now, address(1), &packet);
            }
        }
        self.own.handle_timeout(self.now);
        self.other.timeout(self.now);
    }

    fn until(&mut self, what: &str, mut holds: impl FnMut(&Self) -> bool) {
        for _ in 0..200_000 {
            if holds(self) {
                return;
            }
            self.step();
        }
        panic!(
            "{what}: {:?}",
            self.events.iter().filter(|event| !matches!(event, Event::Message { .. })).collect::<Vec<_>>()
        );
    }

    fn up(&self) -> Option<Id> {
        self.events.iter().find_map(|event| match event {
            Event::Up { id, .. } => Some(*id),
            _ => None,
        })
    }

    fn messages(&self) -> Vec<Vec<u8>> {
        let message = |event: &Event| match event {
            Event::Message { octets, .. } => Some(octets.clone()),
            _ => None,
        };
        self.events.iter().filter_map(message).collect()
    }

    /// Messages both ways, small ones and some that take many packets.
    fn exchange(&mut self) {
        self.until("up", |pair| pair.up().is_some() && pair.other.is_up);
        let id = self.up().unwrap();
        let messages: Vec<Vec<u8>> =
            (0..20_usize).map(|number| vec![number as u8; [1, 100, 1500, 40_000][number % 4]]).collect();
        for octets in &messages {
            self.own.send(self.now, id, Arc::from(&octets[..]));
            self.other.send(octets);
        }
        self.until("messages", |pair| {
            pair.messages().len() == messages.len() && pair.other.received.len() == messages.len()
        });
        assert!(self.messages() == messages && self.other.received == messages);
        assert!(!self.other.is_down);
    }
}

#[test]
fn it_connects_to_us() {
    for seed in 0..10 {
        let mut pair =
            Pair::new(seed, if seed < 2 { 0 } else { 100 }, Some(PORT), TransportConfig::default());
        pair.other.connect(address(0), TransportConfig::default());
        pair.exchange();
        let id = pair.up().unwrap();
        pair.own.abort(pair.now, id, "over");
        pair.loses = 0;
        pair.until("its end", |pair| pair.other.is_down);
    }
}

#[test]
fn we_connect_to_it() {
    for seed in 0..10 {
        let mut pair = Pair::new(seed, if seed < 2 { 0 } else { 100 }, None, TransportConfig::default());
        pair.own.connect(pair.now, address(1), PORT).unwrap();
        pair.exchange();
    }
}

/// Its window closes when nobody reads there: our side does not fill its memory, asks, and gives up.
#[test]
fn a_peer_that_does_not_read() {
    let transport = TransportConfig::default().with_max_receive_buffer_size(20_000);
    let mut pair = Pair::new(1, 0, None, transport);
    pair.other.reads = false;
    pair.own.connect(pair.now, address(1), PORT).unwrap();
    pair.until("up", |pair| pair.up().is_some() && pair.other.is_up);
    let id = pair.up().unwrap();
    for _ in 0..100 {
        pair.own.send(pair.now, id, Arc::from([1; 1000]));
    }
    pair.until("the end", |pair| pair.events.iter().any(|event| matches!(event, Event::Down { .. })));
    let arrived: usize = pair
        .events
        .iter()
        .map(|event| match event {
            Event::Sent { count, .. } => *count,
            _ => 0,
        })
        .sum();
    assert!((15..30).contains(&arrived), "{arrived}");
    let down = Event::Down { id, reason: "the peer does not read".to_owned() };
    assert!(pair.events.contains(&down), "{:?}", pair.events.last());
}
