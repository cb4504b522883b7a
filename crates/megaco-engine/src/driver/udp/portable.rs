//! Datagrams one by one.

use std::io;

use tokio::net::UdpSocket;

use super::{BATCH, Datagrams, LARGEST};
use crate::event::Transmit;

/// What a system can do beside the calls for one datagram: nothing.
#[derive(Debug)]
pub(super) struct Abilities;

impl Abilities {
    #[cfg_attr(target_os = "linux", expect(dead_code, reason = "Linux has abilities; tests have this one"))]
    pub(super) const fn of(_: &UdpSocket) -> Self {
        Self
    }
}

#[derive(Debug)]
pub(super) struct Receiver {
    buffer: Vec<u8>,
}

impl Default for Receiver {
    fn default() -> Self {
        Self { buffer: vec![0; LARGEST] }
    }
}

impl Receiver {
    /// Takes what has arrived.
    pub(super) fn receive(&mut self, socket: &UdpSocket, into: &mut Datagrams) -> io::Result<()> {
        while into.ends.len() < BATCH {
            match socket.try_recv_from(&mut self.buffer) {
                Ok((length, peer)) => into.push(peer, &self.buffer[..length]),
                // What was taken before comes first.
                Err(_) if !into.ends.is_empty() => break,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// Sends the first datagram.
pub(super) fn send(socket: &UdpSocket, _: &Abilities, transmits: &[Transmit]) -> io::Result<usize> {
    let Some(first) = transmits.first() else { return Ok(0) };
    socket.try_send_to(&first.octets, first.route.peer).map(|_| 1)
}
