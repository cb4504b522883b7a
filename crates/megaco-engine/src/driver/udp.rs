//! Datagrams.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use tokio::net::UdpSocket;
use tokio::sync::mpsc;

use super::Inbound;
use crate::event::UserId;

/// Datagrams that are handed on together.
const BATCH: usize = 64;
/// The octets of the largest datagram.
const LARGEST: usize = 65_535;

/// Reads datagrams until the driver is gone.
pub(super) async fn receive(socket: Arc<UdpSocket>, link: u32, user: UserId, sender: mpsc::Sender<Inbound>) {
    let mut buffer = vec![0; LARGEST];
    loop {
        let Ok((length, peer)) = socket.recv_from(&mut buffer).await else {
            // Some systems report here that an earlier datagram did not arrive.
            tokio::task::yield_now().await;
            continue;
        };
        let mut octets = buffer[..length].to_vec();
        let mut ends = vec![(peer, octets.len())];
        while ends.len() < BATCH
            && let Ok((length, peer)) = socket.try_recv_from(&mut buffer)
        {
            octets.extend_from_slice(&buffer[..length]);
            ends.push((peer, octets.len()));
        }
        if sender.send(Inbound::Datagrams { link, user, octets, ends }).await.is_err() {
            return;
        }
    }
}

/// Sends a datagram.
pub(super) async fn send(socket: &UdpSocket, peer: SocketAddr, octets: &[u8]) -> io::Result<()> {
    let sent = match socket.try_send_to(octets, peer) {
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => socket.send_to(octets, peer).await,
        sent => sent,
    };
    match sent {
        // An earlier datagram did not arrive; this one may.
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => Ok(()),
        sent => sent.map(drop),
    }
}
