//! UDP: tunnels and datagrams that are messages.

use super::carried::Payload;
use super::{Layers, Next, Path, Step, tunnel};
use crate::balance::End;
use crate::event::{Stream, Transport, Unread};
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
        let found = found.or_else(|| {
            let sockets = [(path.destination, destination), (path.source, source)];
            let expected = self.expected(Transport::Udp, sockets.map(SocketAddr::from))?;
            // Speech in RTP comes from the same socket before and after facsimile.
            let is_speech = expected.protocol.name == "t38" && payload.first().is_some_and(|it| it >> 6 == 2);
            (!is_speech).then(|| expected.into())
        });
        if let Some(found) = found {
            if payload.is_empty() {
                return Step::End(End::Nothing);
            }
            path.set_ports(source, destination);
            path.stream = Some(Stream::Udp(self.conversation(path, source, destination)));
            path.partial = length > octets.len();
            return Step::On { next: Next::Payload(found), header: 8, length: payload.len() };
        }
        let inside = match (source, destination) {
            (2152, _) | (_, 2152) => Step::on(Next::GtpU, 0),
            (_, 4789 | 8472) => tunnel::vxlan(payload),
            (_, 6081) => tunnel::geneve(payload),
            // SCTP in UDP (RFC 6951).
            (9899, _) | (_, 9899) => Step::on(Next::Protocol(132), 0),
            _ => return Step::Unread(Unread::UdpPort(destination)),
        };
        match inside {
            Step::On { next, header, length: most } => {
                Step::On { next, header: header + 8, length: most.min(payload.len().saturating_sub(header)) }
            }
            other => other,
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
