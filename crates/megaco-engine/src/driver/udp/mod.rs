//! Datagrams, as many with each system call as there are.
//!
//! On Linux several are taken and sent at once ([`linux`]), elsewhere one after the other ([`portable`]).

#[cfg(target_os = "linux")]
mod linux;
#[cfg(any(not(target_os = "linux"), test))]
mod portable;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use tokio::net::UdpSocket;

use super::shards::Sorter;
use crate::event::Transmit;
#[cfg(target_os = "linux")]
use linux as system;
#[cfg(not(target_os = "linux"))]
use portable as system;

/// Datagrams that are taken or sent with one system call.
pub(super) const BATCH: usize = 64;
/// The octets of the largest datagram.
const LARGEST: usize = 65_535;

/// A socket, and what its system can do.
#[derive(Debug)]
pub(super) struct Socket {
    io: UdpSocket,
    abilities: system::Abilities,
}

/// Datagrams that arrived together.
#[derive(Debug, Default)]
pub(super) struct Datagrams {
    octets: Vec<u8>,
    /// Who sent them, and where each ends.
    ends: Vec<(SocketAddr, usize)>,
}

impl Datagrams {
    pub(super) fn push(&mut self, peer: SocketAddr, octets: &[u8]) {
        self.octets.extend_from_slice(octets);
        self.ends.push((peer, self.octets.len()));
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The datagrams with their senders, in their order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (SocketAddr, &[u8])> {
        let mut start = 0;
        self.ends
            .iter()
            .map(move |&(peer, end)| (peer, &self.octets[std::mem::replace(&mut start, end)..end]))
    }
}

impl Socket {
    pub(super) fn new(io: UdpSocket) -> Self {
        let abilities = system::Abilities::of(&io);
        Self { io, abilities }
    }

    pub(super) fn local_addr(&self) -> io::Result<SocketAddr> {
        self.io.local_addr()
    }

    /// Sends the first of some datagrams, as many as go with one system call. Returns how many these were.
    pub(super) fn send(&self, transmits: &[Transmit]) -> io::Result<usize> {
        match system::send(&self.io, &self.abilities, transmits) {
            // An earlier datagram did not arrive; this one may.
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => Ok(1),
            sent => sent,
        }
    }

    /// Waits until datagrams can be sent.
    pub(super) async fn writable(&self) -> io::Result<()> {
        self.io.writable().await
    }
}

/// Reads datagrams until the driver is gone.
pub(super) async fn receive(socket: Arc<Socket>, mut sorter: Sorter) {
    let mut receiver = system::Receiver::default();
    loop {
        let mut datagrams = Datagrams::default();
        let received = match socket.io.readable().await {
            Ok(()) => receiver.receive(&socket.io, &mut datagrams),
            Err(error) => Err(error),
        };
        match received {
            Ok(()) if datagrams.is_empty() => {}
            Ok(()) => {
                if !sorter.hand_on(datagrams).await {
                    return;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            // Some systems report here that an earlier datagram did not arrive.
            Err(_) => tokio::task::yield_now().await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Inbound;
    use super::super::shards::Inlet;
    use super::*;
    use crate::event::UserId;
    use crate::route::{Route, Transport};
    use tercet_megaco::List;
    use tokio::sync::mpsc;

    fn transmit(peer: SocketAddr, octets: Vec<u8>) -> Transmit {
        let route = Route { transport: Transport::Udp, link: 0, peer };
        Transmit { route, octets: octets.into(), is_resend: false, origins: List::new(), conn: None }
    }

    async fn bound() -> (Socket, SocketAddr) {
        let io = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let address = io.local_addr().unwrap();
        (Socket::new(io), address)
    }

    /// The sizes of datagrams and the receivers that they go to, sent by one socket and received by two.
    async fn exchange(plan: &[(usize, usize)], by: fn(&Socket, &[Transmit]) -> io::Result<usize>) {
        let (sender, from) = bound().await;
        let receivers = [bound().await, bound().await];
        let transmits: Vec<Transmit> = plan
            .iter()
            .enumerate()
            .map(|(number, &(receiver, size))| transmit(receivers[receiver].1, vec![number as u8; size]))
            .collect();
        let mut rest = &transmits[..];
        while !rest.is_empty() {
            sender.writable().await.unwrap();
            match by(&sender, rest) {
                Ok(sent) => rest = &rest[sent..],
                Err(error) => assert_eq!(error.kind(), io::ErrorKind::WouldBlock),
            }
        }
        for (place, (socket, _)) in receivers.into_iter().enumerate() {
            let expected: Vec<Vec<u8>> =
                (0..).zip(plan).filter(|(_, to)| to.0 == place).map(|(n, to)| vec![n as u8; to.1]).collect();
            let (own, mut inbound) = mpsc::channel(16);
            let sorter = Sorter::new(Inlet { own, shard: None }, 7, UserId(0));
            let task = tokio::spawn(receive(Arc::new(socket), sorter));
            let mut received: Vec<Vec<u8>> = Vec::new();
            while received.len() < expected.len() {
                let Some(Inbound::Datagrams { link: 7, datagrams, .. }) = inbound.recv().await else {
                    panic!("no datagrams")
                };
                for (peer, octets) in datagrams.iter() {
                    assert_eq!(peer, from);
                    received.push(octets.to_vec());
                }
            }
            assert_eq!(received, expected);
            task.abort();
        }
    }

    const PLANS: [&[(usize, usize)]; 6] = [
        &[(0, 1)],
        // Runs of one size, the last shorter; one that is larger begins another run.
        &[(0, 9), (0, 9), (0, 9), (0, 4), (0, 4), (0, 9), (1, 9), (1, 9), (0, 5)],
        // Each to another receiver than the one before.
        &[(0, 10), (1, 20), (0, 30), (1, 20), (0, 10)],
        // Empty ones, which belong to no run.
        &[(0, 3), (0, 0), (0, 0), (0, 3), (1, 0)],
        // More than fit into one packet of IP.
        &[(0, 40_000), (0, 40_000), (0, 40_000), (1, 65_507), (1, 65_507)],
        &[(1, 100); 100],
    ];

    #[tokio::test]
    async fn datagrams_arrive_as_they_were_sent() {
        for plan in PLANS {
            exchange(plan, Socket::send).await;
        }
    }

    #[tokio::test]
    async fn also_one_by_one() {
        for plan in PLANS {
            exchange(plan, |socket, transmits| portable::send(&socket.io, &portable::Abilities, transmits))
                .await;
        }
        let (sender, from) = bound().await;
        let (receiver, to) = bound().await;
        for size in [3, 0, 5] {
            sender.io.send_to(&vec![1; size], to).await.unwrap();
        }
        let mut sizes = Vec::new();
        while sizes.len() < 3 {
            receiver.io.readable().await.unwrap();
            let mut datagrams = Datagrams::default();
            _ = portable::Receiver::default().receive(&receiver.io, &mut datagrams);
            sizes.extend(datagrams.iter().map(|(peer, octets)| {
                assert_eq!(peer, from);
                octets.len()
            }));
        }
        assert_eq!(sizes, [3, 0, 5]);
    }
}
