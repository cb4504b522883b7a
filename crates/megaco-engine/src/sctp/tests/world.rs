//! Two endpoints, the network between them, and the time.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use super::super::{Config, Endpoint, Event, Id, PROTOCOL, Silence};
use crate::seeded::Random;
use crate::time::Time;

/// The port of the controller.
pub(super) const PORT: u16 = 2944;

pub(super) const CONFIG: Config = Config {
    port: None,
    protocol: PROTOCOL,
    most_message: 65_531,
    window: 1 << 18,
    most: 10,
    silence: Silence { first: None, idle: None, frame: None },
};

pub(super) fn address(end: usize) -> SocketAddr {
    ([192, 0, 2, end as u8 + 1], 9899).into()
}

/// What the network does with datagrams, in thousandths.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Network {
    pub(super) loses: u64,
    pub(super) repeats: u64,
    /// Delays of datagrams in milliseconds: they overtake each other.
    pub(super) delay: u64,
}

#[derive(Debug)]
pub(super) struct World {
    pub(super) now: Time,
    /// The gateway, which connects, and the controller, which accepts.
    pub(super) ends: [Endpoint; 2],
    pub(super) network: Network,
    /// An end that neither sends nor receives.
    pub(super) dark: Option<usize>,
    pub(super) events: [Vec<Event>; 2],
    /// All that was sent: by which end, and what.
    pub(super) sent: Vec<(usize, Vec<u8>)>,
    random: Random,
    wire: BTreeMap<(Time, u64), (usize, Vec<u8>)>,
    number: u64,
}

impl World {
    pub(super) fn new(seed: u64, network: Network) -> Self {
        Self::with(seed, network, CONFIG)
    }

    pub(super) fn with(seed: u64, network: Network, config: Config) -> Self {
        let listening = Config { port: Some(PORT), ..config };
        Self {
            now: Time::from_millis(1000),
            ends: [Endpoint::new(config, [seed, 1]), Endpoint::new(listening, [seed, 2])],
            network,
            dark: None,
            events: [Vec::new(), Vec::new()],
            sent: Vec::new(),
            random: Random::new(seed),
            wire: BTreeMap::new(),
            number: 0,
        }
    }

    /// Sets up an association. Returns its names at both ends.
    pub(super) fn connected(&mut self) -> [Id; 2] {
        let id = self.ends[0].connect(self.now, address(1), PORT).unwrap();
        let end = self.now.after(Duration::from_secs(600));
        while self.up(1).is_none() || self.up(0).is_none() {
            assert!(self.step(end), "no association: {:?}", self.events);
        }
        assert_eq!(self.up(0), Some((id, false)));
        [id, self.up(1).unwrap().0]
    }

    fn up(&self, end: usize) -> Option<(Id, bool)> {
        self.events[end].iter().rev().find_map(|event| match event {
            Event::Up { id, is_accepted } => Some((*id, *is_accepted)),
            _ => None,
        })
    }

    pub(super) fn send(&mut self, end: usize, id: Id, octets: &[u8]) {
        self.ends[end].send(self.now, id, Arc::from(octets));
    }

    /// The messages that an end has received.
    pub(super) fn messages(&self, end: usize) -> Vec<&[u8]> {
        let events = self.events[end].iter();
        let messages = events.filter_map(|event| match event {
            Event::Message { octets, .. } => Some(&octets[..]),
            _ => None,
        });
        messages.collect()
    }

    /// Why associations of an end have ended.
    pub(super) fn downs(&self, end: usize) -> Vec<&str> {
        let events = self.events[end].iter();
        let reasons = events.filter_map(|event| match event {
            Event::Down { reason, .. } => Some(reason.as_str()),
            _ => None,
        });
        reasons.collect()
    }

    /// Puts what ends have to send on the wire, and takes what happened.
    pub(super) fn collect(&mut self) {
        for end in 0..2 {
            while let Some((to, octets)) = self.ends[end].poll_transmit() {
                assert!(octets.len() <= super::super::send::PACKET, "{}", octets.len());
                self.sent.push((end, octets.clone()));
                let to = if to == address(1) { 1 } else { 0 };
                if self.dark.is_some() || self.random.permille(self.network.loses) {
                    continue;
                }
                let copies = 1 + u64::from(self.random.permille(self.network.repeats));
                for _ in 0..copies {
                    let delay = 1 + self.random.below(self.network.delay + 1);
                    let due = self.now.after(Duration::from_millis(delay));
                    self.number += 1;
                    self.wire.insert((due, self.number), (to, octets.clone()));
                }
            }
            while let Some(event) = self.ends[end].poll_event() {
                self.events[end].push(event);
            }
        }
    }

    /// Goes on to what is next, not beyond a moment. Returns false if there is nothing.
    pub(super) fn step(&mut self, end: Time) -> bool {
        self.collect();
        let arrives = self.wire.keys().next().map(|(due, _)| *due);
        let timers = self.ends.iter().filter_map(Endpoint::poll_timeout).min();
        let Some(next) = arrives.into_iter().chain(timers).min().filter(|next| *next <= end) else {
            self.now = self.now.max(end);
            return false;
        };
        self.now = self.now.max(next);
        while let Some(entry) = self.wire.first_entry()
            && entry.key().0 <= self.now
        {
            let (to, octets) = entry.remove();
            if self.dark != Some(to) {
                self.ends[to].handle(self.now, address(1 - to), &octets);
            }
        }
        for endpoint in &mut self.ends {
            endpoint.handle_timeout(self.now);
        }
        self.collect();
        true
    }

    /// Lets time pass.
    pub(super) fn run(&mut self, seconds: u64) {
        let end = self.now.after(Duration::from_secs(seconds));
        let mut steps = 0;
        while self.step(end) {
            steps += 1;
            assert!(steps < 1_000_000, "there is no end");
        }
    }
}
