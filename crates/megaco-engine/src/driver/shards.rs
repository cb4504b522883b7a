//! Drivers that share their addresses, each in a thread of its own.
//!
//! A remote entity belongs to one of the drivers. The system gives datagrams and streams to any of them; each reads the sender of a
//! message from its header and hands the message to the driver that the sender belongs to. Transactions are known by their sender,
//! not by an address (H.248.1 D.1.1), so that a request that is repeated from another port finds the engine that has executed it.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tercet_megaco::codec::{Codec as _, Encoding};
use tercet_megaco::model::MId;
use tokio::sync::{Semaphore, mpsc};

use super::{Inbound, udp};
use crate::event::UserId;
use crate::route::{Route, Transport};
use crate::wire::mid_key;

/// Remote entities whose drivers are remembered; of further ones their hash decides.
const MOST_OWNERS: usize = 200_000;
/// Senders that the task of a stream remembers. Most streams have one.
const SENDERS_OF_STREAM: usize = 4;

/// What the drivers share.
#[derive(Debug)]
pub(super) struct Shards {
    members: Vec<mpsc::Sender<Inbound>>,
    owners: Mutex<Owners>,
    /// Sockets by their links: those of one address have the same, and each driver sends by its own if it has one.
    sockets: Mutex<HashMap<u32, Arc<udp::Socket>>>,
    /// Addresses at which a driver listens, with the streams that they may have.
    listeners: Mutex<HashMap<(Transport, SocketAddr), Listener>>,
}

/// An address at which a driver listens.
#[derive(Clone, Debug)]
pub(super) struct Listener {
    /// The first driver there.
    first: usize,
    /// The streams that it may have.
    pub(super) room: Arc<Semaphore>,
    /// The link of its datagrams. It is the same for all drivers: routes have it.
    pub(super) link: u32,
}

/// Which driver a remote entity belongs to. That never changes.
#[derive(Debug)]
struct Owners {
    by_mid: HashMap<Box<[u8]>, usize>,
    hashes: RandomState,
    /// The peers to which a driver has opened a way.
    opened: HashMap<SocketAddr, usize>,
    /// How many remote entities each driver has.
    counts: Vec<usize>,
    most: usize,
}

impl Owners {
    fn new(drivers: usize, most: usize) -> Self {
        let (by_mid, opened) = (HashMap::new(), HashMap::new());
        Self { by_mid, hashes: RandomState::new(), opened, counts: vec![0; drivers], most }
    }

    /// Finds the driver of a remote entity, or decides which one it is: the one that received its first message, which is then
    /// not handed over, unless that one has more remote entities than another.
    fn owner(&mut self, key: &[u8], peer: SocketAddr, receiver: usize) -> usize {
        if let Some(&owner) = self.by_mid.get(key) {
            return owner;
        }
        if self.by_mid.len() >= self.most {
            return (self.hashes.hash_one(key) % self.counts.len() as u64) as usize;
        }
        let least = (0..self.counts.len()).min_by_key(|&driver| self.counts[driver]).unwrap_or(receiver);
        let owner = match self.opened.get(&peer) {
            Some(&opener) => opener,
            None if self.counts[receiver] > self.counts[least] => least,
            None => receiver,
        };
        self.by_mid.insert(key.into(), owner);
        self.counts[owner] += 1;
        owner
    }
}

/// A table that a thread may have left in the middle of nothing but an insertion.
fn locked<T>(table: &Mutex<T>) -> MutexGuard<'_, T> {
    table.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shards {
    pub(super) fn new(members: Vec<mpsc::Sender<Inbound>>) -> Self {
        let owners = Mutex::new(Owners::new(members.len(), MOST_OWNERS));
        Self { members, owners, sockets: Mutex::default(), listeners: Mutex::default() }
    }
}

/// A driver among those that share their addresses.
#[derive(Clone, Debug)]
pub(super) struct Shard {
    pub(super) number: usize,
    pub(super) shards: Arc<Shards>,
}

impl Shard {
    /// The driver of a remote entity, if it is decided.
    pub(super) fn owner_of(&self, mid: &MId<'_>) -> Option<usize> {
        let mut key = Vec::new();
        mid_key(mid, &mut key);
        locked(&self.shards.owners).by_mid.get(&*key).copied()
    }

    /// This driver has opened a way to a peer, whose sender is not known yet.
    pub(super) fn opened(&self, peer: SocketAddr) {
        locked(&self.shards.owners).opened.insert(peer, self.number);
    }

    pub(super) fn add_socket(&self, link: u32, socket: &Arc<udp::Socket>) {
        locked(&self.shards.sockets).entry(link).or_insert_with(|| Arc::clone(socket));
    }

    pub(super) fn socket(&self, link: u32) -> Option<Arc<udp::Socket>> {
        locked(&self.shards.sockets).get(&link).cloned()
    }

    /// What another driver that listens at an address has made for all; nothing if there is none.
    pub(super) fn listener(&self, transport: Transport, local: SocketAddr) -> Option<Listener> {
        let listeners = locked(&self.shards.listeners);
        listeners.get(&(transport, local)).filter(|listener| listener.first != self.number).cloned()
    }

    pub(super) fn add_listener(
        &self,
        transport: Transport,
        local: SocketAddr,
        room: Arc<Semaphore>,
        link: u32,
    ) {
        let listener = Listener { first: self.number, room, link };
        locked(&self.shards.listeners).entry((transport, local)).or_insert(listener);
    }
}

/// Where the task of a socket or a stream hands what arrives.
#[derive(Clone, Debug)]
pub(super) struct Inlet {
    pub(super) own: mpsc::Sender<Inbound>,
    pub(super) shard: Option<Shard>,
}

/// Finds the drivers of senders, and remembers them.
#[derive(Debug)]
struct Finder {
    shard: Shard,
    known: HashMap<Box<[u8]>, usize>,
    most: usize,
    key: Vec<u8>,
}

impl Finder {
    fn new(shard: Shard, most: usize) -> Self {
        Self { shard, known: HashMap::new(), most, key: Vec::new() }
    }

    /// The driver of the sender of a message; this one if the sender cannot be read.
    fn owner(&mut self, peer: SocketAddr, octets: &[u8]) -> usize {
        let receiver = self.shard.number;
        let Ok((_, mid)) = Encoding::detect(octets).decode_version_and_mid(octets) else { return receiver };
        self.key.clear();
        mid_key(&mid, &mut self.key);
        if let Some(&owner) = self.known.get(&*self.key) {
            return owner;
        }
        let owner = locked(&self.shard.shards.owners).owner(&self.key, peer, receiver);
        // Whoever sends datagrams can choose any sender: what is remembered here too is bounded.
        if self.known.len() >= self.most {
            self.known.clear();
        }
        self.known.insert(self.key.as_slice().into(), owner);
        owner
    }
}

/// Hands on the datagrams of a socket.
#[derive(Debug)]
pub(super) struct Sorter {
    inlet: Inlet,
    link: u32,
    user: UserId,
    finder: Option<Finder>,
    owners: Vec<usize>,
}

impl Sorter {
    pub(super) fn new(inlet: Inlet, link: u32, user: UserId) -> Self {
        let finder = inlet.shard.clone().map(|shard| Finder::new(shard, MOST_OWNERS));
        Self { inlet, link, user, finder, owners: Vec::new() }
    }

    /// Hands on datagrams; returns false if the driver is gone.
    pub(super) async fn hand_on(&mut self, datagrams: udp::Datagrams) -> bool {
        let (link, user) = (self.link, self.user);
        let Some(finder) = &mut self.finder else {
            return self.inlet.own.send(Inbound::Datagrams { link, user, datagrams }).await.is_ok();
        };
        let own = finder.shard.number;
        self.owners.clear();
        self.owners.extend(datagrams.iter().map(|(peer, octets)| finder.owner(peer, octets)));
        if self.owners.iter().all(|&owner| owner == own) {
            return self.inlet.own.send(Inbound::Datagrams { link, user, datagrams }).await.is_ok();
        }
        let members = &finder.shard.shards.members;
        let mut parts: Vec<udp::Datagrams> = members.iter().map(|_| udp::Datagrams::default()).collect();
        for ((peer, octets), &owner) in datagrams.iter().zip(&self.owners) {
            parts[owner].push(peer, octets);
        }
        for (owner, datagrams) in parts.into_iter().enumerate().filter(|(_, part)| !part.is_empty()) {
            let inbound = Inbound::Datagrams { link, user, datagrams };
            if owner != own {
                // They are lost if that driver is too slow for what it has: this one does not wait for it.
                _ = members[owner].try_send(inbound);
            } else if self.inlet.own.send(inbound).await.is_err() {
                return false;
            }
        }
        true
    }
}

/// Hands on what happens to a stream.
#[derive(Debug)]
pub(super) struct Stream {
    inlet: Inlet,
    route: Route,
    user: UserId,
    local: SocketAddr,
    finder: Option<Finder>,
    /// The queue of what is written, until a driver has it: the stream ends when no driver has.
    writer: Option<mpsc::Sender<Arc<[u8]>>>,
    later: mpsc::WeakSender<Arc<[u8]>>,
    /// The drivers that know the stream.
    knowing: Vec<usize>,
}

impl Stream {
    /// A stream that was accepted: the first driver that gets a message of it learns that.
    pub(super) fn accepted(
        inlet: Inlet,
        route: Route,
        user: UserId,
        local: SocketAddr,
        writer: mpsc::Sender<Arc<[u8]>>,
    ) -> Self {
        let finder = inlet.shard.clone().map(|shard| Finder::new(shard, SENDERS_OF_STREAM));
        let later = writer.downgrade();
        Self { inlet, route, user, local, finder, writer: Some(writer), later, knowing: Vec::new() }
    }

    /// A stream that this driver has opened.
    pub(super) fn opened(
        inlet: Inlet,
        route: Route,
        user: UserId,
        local: SocketAddr,
        writer: &mpsc::Sender<Arc<[u8]>>,
    ) -> Self {
        let mut stream = Self::accepted(inlet, route, user, local, writer.clone());
        stream.writer = None;
        stream.knowing.extend(stream.inlet.shard.as_ref().map(|shard| shard.number));
        stream
    }

    /// Reports the stream before its first message, if there is only one driver. Returns false if that is gone.
    pub(super) async fn begin(&mut self) -> bool {
        if self.finder.is_some() {
            return true;
        }
        let Some(writer) = self.writer.take() else { return true };
        let (route, local) = (self.route, self.local);
        self.inlet.own.send(Inbound::Opened { route, local, writer }).await.is_ok()
    }

    /// Hands on a message. Returns false if the driver is gone, or has closed the stream.
    pub(super) async fn frame(&mut self, octets: Vec<u8>) -> bool {
        let (route, user, local) = (self.route, self.user, self.local);
        let Some(finder) = &mut self.finder else {
            return self.inlet.own.send(Inbound::Frame { route, user, octets }).await.is_ok();
        };
        let owner = finder.owner(route.peer, &octets);
        let member = &finder.shard.shards.members[owner];
        if !self.knowing.contains(&owner) {
            let Some(writer) = self.writer.take().or_else(|| self.later.upgrade()) else { return false };
            if member.send(Inbound::Opened { route, local, writer }).await.is_err() {
                return false;
            }
            self.knowing.push(owner);
        }
        member.send(Inbound::Frame { route, user, octets }).await.is_ok()
    }

    /// Reports the end to all who know the stream.
    pub(super) async fn closed(self, reason: String) {
        let route = self.route;
        if let Some(finder) = &self.finder {
            for &driver in &self.knowing {
                let reason = reason.clone();
                _ = finder.shard.shards.members[driver].send(Inbound::Closed { route, reason }).await;
            }
            if !self.knowing.is_empty() {
                return;
            }
        }
        _ = self.inlet.own.send(Inbound::Closed { route, reason }).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peer(port: u16) -> SocketAddr {
        ([127, 0, 0, 1], port).into()
    }

    #[test]
    fn remote_entities_are_spread_and_stay() {
        let mut owners = Owners::new(2, 100);
        let first: Vec<usize> =
            (0..20).map(|number| owners.owner(&[number], peer(number.into()), 0)).collect();
        assert_eq!(owners.counts, [10, 10]);
        // Those of the receiver stay there as long as the others do not have fewer.
        assert_eq!(first[0], 0);
        for (number, &owner) in first.iter().enumerate() {
            assert_eq!(owners.owner(&[number as u8], peer(7), 1), owner);
        }
    }

    #[test]
    fn who_answers_belongs_to_who_asked() {
        let mut owners = Owners::new(3, 100);
        owners.opened.insert(peer(1), 2);
        assert_eq!(owners.owner(b"a", peer(1), 0), 2);
        assert_eq!(owners.owner(b"a", peer(9), 0), 2);
    }

    #[test]
    fn forged_senders_do_not_fill_the_memory() {
        let mut owners = Owners::new(2, 8);
        let key = |number: u32| number.to_be_bytes();
        let first: Vec<usize> = (0..500).map(|number| owners.owner(&key(number), peer(1), 0)).collect();
        assert_eq!(owners.by_mid.len(), 8);
        let again: Vec<usize> = (0..500).map(|number| owners.owner(&key(number), peer(2), 1)).collect();
        assert_eq!(first, again);
        assert!(again.contains(&0) && again.contains(&1));
    }
}
