//! UDP: tunnels and datagrams that are messages.

use super::carried::Payload;
use super::{Layers, Next, Path, Step, tunnel};
use crate::balance::End;
use crate::event::{Stream, Unread};
use etherparse::UdpHeaderSlice;
use std::net::SocketAddr;

impl Layers {
    /// Reads the header of UDP (RFC 768).
    pub(super) fn udp(&mut self, octets: &[u8], path: &mut Path) -> Step {
        let header = match UdpHeaderSlice::from_slice(octets) {
            Ok(header) => header,
            Err(error) => return Step::bad("udp", error.to_string()),
        };
        let (source, destination, length) =
            (header.source_port(), header.destination_port(), header.length());
        // Length 0: the rest of the packet.
        let length = if length == 0 { octets.len() } else { length.into() };
        if length < 8 {
            return Step::bad("udp", format!("length {length} is below the header of 8 bytes"));
        }
        if length > octets.len() && !path.cut {
            return Step::bad(
                "udp",
                format!("length {length} exceeds the {} bytes of the packet", octets.len()),
            );
        }
        let payload = &octets[8..length.min(octets.len())];
        let found = self
            .lookup
            .udp(source, destination)
            .map(|target| Payload::of_datagram(target, source, destination));
        let found = found.or_else(|| [source, destination].contains(&4729).then_some(Payload::Gsmtap));
        if let Some(found) = found {
            if payload.is_empty() {
                return Step::End(End::Nothing);
            }
            path.set_ports(source, destination);
            path.stream = Some(Stream::Udp(self.conversation(path, source, destination)));
            path.partial = length > octets.len();
            return Step::On { next: Next::Payload(found), header: 8, length: payload.len() };
        }
        match (source, destination) {
            (2152, _) | (_, 2152) => Step::On { next: Next::GtpU, header: 8, length: length - 8 },
            (_, 4789) => match tunnel::vxlan(payload) {
                Step::On { next, header, length } => Step::On { next, header: header + 8, length },
                other => other,
            },
            _ => Step::Unread(Unread::UdpPort(destination)),
        }
    }

    /// Returns the number of the conversation of two sockets.
    fn conversation(&mut self, path: &Path, source: u16, destination: u16) -> u64 {
        let (one, other) =
            (SocketAddr::new(path.source, source), SocketAddr::new(path.destination, destination));
        let key = if one <= other { (one, other) } else { (other, one) };
        if let Some(number) = self.conversations.get(key) {
            return *number;
        }
        let number = self.next_conversation;
        self.next_conversation += 1;
        self.conversations.insert(key, number);
        number
    }
}
