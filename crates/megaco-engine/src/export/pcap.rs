//! Capture files (pcap): each message in a packet of IP with UDP, in segments of TCP with its TPKT header, or in pieces of SCTP.

use std::collections::HashMap;
use std::io::{self, Write};
use std::net::SocketAddr;

use super::{Addresses, Packet};
use crate::route::Transport;

/// Writes messages as packets of a capture file, which Wireshark and tcpdump read.
///
/// A message of TLS is written as one of TCP, without its encryption, and one of SCTP without UDP around it. Streams begin where
/// their first message does.
#[derive(Debug)]
pub struct PcapWriter<W> {
    out: W,
    /// Octets sent so far, by stream and sender.
    sent: HashMap<(u32, SocketAddr), u32>,
    /// Messages and pieces sent so far, by association and sender.
    pieces: HashMap<(u32, SocketAddr), (u16, u32)>,
    packet: Vec<u8>,
}

/// Packets begin with the header of IP.
const LINK_RAW: u32 = 101;
/// The longest packet.
const LONGEST: u32 = 65_535;
/// Octets of a message in one segment of TCP, or one piece of SCTP.
const SEGMENT: usize = 65_000;
const TTL: u8 = 64;

impl<W: Write> PcapWriter<W> {
    /// Begins a capture file.
    ///
    /// # Errors
    /// Those of writing.
    pub fn new(mut out: W) -> io::Result<Self> {
        let mut header = Vec::with_capacity(24);
        header.extend_from_slice(&0xa1b2_c3d4_u32.to_le_bytes());
        header.extend_from_slice(&2_u16.to_le_bytes());
        header.extend_from_slice(&4_u16.to_le_bytes());
        header.extend_from_slice(&[0; 8]);
        header.extend_from_slice(&LONGEST.to_le_bytes());
        header.extend_from_slice(&LINK_RAW.to_le_bytes());
        out.write_all(&header)?;
        Ok(Self { out, sent: HashMap::new(), pieces: HashMap::new(), packet: Vec::new() })
    }

    /// Writes a message.
    ///
    /// # Errors
    /// Those of writing.
    pub fn write(&mut self, packet: &Packet<'_>) -> io::Result<()> {
        if packet.transport == Transport::Udp {
            let room = usize::from(u16::MAX) - 8 - 20;
            // No transport hands over a larger one.
            return self.datagram(packet, &packet.octets[..packet.octets.len().min(room)]);
        }
        if packet.transport == Transport::Sctp {
            return self.pieces(packet);
        }
        let mut frame = Vec::with_capacity(packet.octets.len() + 4);
        if tercet_megaco::tpkt::write_frame(packet.octets, &mut frame).is_err() {
            return Ok(());
        }
        let back = self.sent.get(&(packet.link, packet.destination)).copied().unwrap_or(0);
        let sent = self.sent.entry((packet.link, packet.source)).or_default();
        let mut sequence = *sent;
        *sent = sent.wrapping_add(frame.len() as u32);
        for part in frame.chunks(SEGMENT) {
            let mut header = Vec::with_capacity(20 + part.len());
            header.extend_from_slice(&packet.source.port().to_be_bytes());
            header.extend_from_slice(&packet.destination.port().to_be_bytes());
            // The first octet of a stream has number 1, as if a SYN had been before it.
            header.extend_from_slice(&sequence.wrapping_add(1).to_be_bytes());
            header.extend_from_slice(&back.wrapping_add(1).to_be_bytes());
            // A header of 20 octets; PSH and ACK; window, checksum, no urgent data.
            header.extend_from_slice(&[0x50, 0x18, 0xff, 0xff, 0, 0, 0, 0]);
            header.extend_from_slice(part);
            sequence = sequence.wrapping_add(part.len() as u32);
            self.ip(packet, header, Some(16))?;
        }
        Ok(())
    }

    /// Hands everything to the file.
    ///
    /// # Errors
    /// Those of writing.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    fn datagram(&mut self, packet: &Packet<'_>, octets: &[u8]) -> io::Result<()> {
        let mut header = Vec::with_capacity(8 + octets.len());
        header.extend_from_slice(&packet.source.port().to_be_bytes());
        header.extend_from_slice(&packet.destination.port().to_be_bytes());
        header.extend_from_slice(&((octets.len() + 8) as u16).to_be_bytes());
        header.extend_from_slice(&[0, 0]);
        header.extend_from_slice(octets);
        self.ip(packet, header, Some(6))
    }

    fn pieces(&mut self, packet: &Packet<'_>) -> io::Result<()> {
        let (message, mut piece) = *self.pieces.entry((packet.link, packet.source)).or_default();
        let ports = (packet.source.port(), packet.destination.port());
        let mut rest = packet.octets;
        while let Some((octets, after)) = rest.split_at_checked(rest.len().min(SEGMENT))
            && !octets.is_empty()
        {
            let ends = (rest.len() == packet.octets.len(), after.is_empty());
            let written = crate::sctp::packet_of(ports, piece.wrapping_add(1), message, ends, octets);
            self.ip(packet, written, None)?;
            piece = piece.wrapping_add(1);
            rest = after;
        }
        self.pieces.insert((packet.link, packet.source), (message.wrapping_add(1), piece));
        Ok(())
    }

    /// Writes a packet of IP around what the transport has. The checksum of UDP and TCP is at a place of their headers.
    fn ip(
        &mut self,
        packet: &Packet<'_>,
        mut payload: Vec<u8>,
        checksum_at: Option<usize>,
    ) -> io::Result<()> {
        let protocol = packet.protocol();
        let addresses = packet.addresses();
        let length = payload.len();
        let mut pseudo = u32::from(protocol) + length as u32;
        match &addresses {
            Addresses::V4(source, destination) => pseudo += sum(source) + sum(destination),
            Addresses::V6(source, destination) => pseudo += sum(source) + sum(destination),
        }
        let checksum = match fold(pseudo + sum(&payload)) {
            // Zero is no checksum for UDP.
            0 => 0xffff,
            checksum => checksum,
        };
        if let Some(at) = checksum_at {
            payload[at..at + 2].copy_from_slice(&checksum.to_be_bytes());
        }
        let out = &mut self.packet;
        out.clear();
        match &addresses {
            Addresses::V4(source, destination) => {
                out.extend_from_slice(&[0x45, 0]);
                out.extend_from_slice(&((length + 20) as u16).to_be_bytes());
                out.extend_from_slice(&[0, 0, 0x40, 0, TTL, protocol, 0, 0]);
                out.extend_from_slice(source);
                out.extend_from_slice(destination);
                let header = fold(sum(out));
                out[10..12].copy_from_slice(&header.to_be_bytes());
            }
            Addresses::V6(source, destination) => {
                out.extend_from_slice(&[0x60, 0, 0, 0]);
                out.extend_from_slice(&(length as u16).to_be_bytes());
                out.extend_from_slice(&[protocol, TTL]);
                out.extend_from_slice(source);
                out.extend_from_slice(destination);
            }
        }
        out.extend_from_slice(&payload);
        let (seconds, micros) = (packet.micros / 1_000_000, packet.micros % 1_000_000);
        let mut record = Vec::with_capacity(16);
        record.extend_from_slice(&(seconds as u32).to_le_bytes());
        record.extend_from_slice(&(micros as u32).to_le_bytes());
        record.extend_from_slice(&(out.len() as u32).to_le_bytes());
        record.extend_from_slice(&(out.len() as u32).to_le_bytes());
        self.out.write_all(&record)?;
        self.out.write_all(out)
    }
}

/// The sum of words of 16 bits.
fn sum(octets: &[u8]) -> u32 {
    let words =
        octets.chunks(2).map(|word| u32::from(word[0]) << 8 | u32::from(word.get(1).copied().unwrap_or(0)));
    words.sum()
}

/// The checksum of the Internet: the complement of a sum whose carries were added.
const fn fold(mut sum: u32) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(transport: Transport, source: &str, destination: &str, messages: &[&[u8]]) -> Vec<u8> {
        let mut writer = PcapWriter::new(Vec::new()).unwrap();
        for octets in messages {
            let (source, destination) = (source.parse().unwrap(), destination.parse().unwrap());
            let packet = Packet { micros: 1_500_000, transport, link: 3, source, destination, octets };
            writer.write(&packet).unwrap();
        }
        writer.out
    }

    /// What the checksum of a packet of version 4 is over sums up to nothing.
    fn check(packet: &[u8]) {
        assert_eq!(fold(sum(&packet[..20])), 0, "header");
        let pseudo = sum(&packet[12..20]) + u32::from(packet[9]) + (packet.len() - 20) as u32;
        assert_eq!(fold(pseudo + sum(&packet[20..])), 0, "payload");
    }

    #[test]
    fn datagrams() {
        let file = file(Transport::Udp, "192.0.2.1:2944", "192.0.2.2:2945", &[b"!/1 a"]);
        assert_eq!(file[20..24], [101, 0, 0, 0]);
        assert_eq!(file[24..40], [1, 0, 0, 0, 0x20, 0xa1, 7, 0, 33, 0, 0, 0, 33, 0, 0, 0]);
        check(&file[40..]);
        assert_eq!(file[60..64], [0x0b, 0x80, 0x0b, 0x81]);
        assert!(file.ends_with(b"!/1 a"));
    }

    #[test]
    fn pieces_number_themselves_and_their_messages() {
        let large = vec![b'a'; 65_531];
        let file = file(Transport::Sctp, "192.0.2.1:2944", "192.0.2.2:2945", &[&large, b"!/1 b"]);
        let second = 40 + 48 + 65_000 + 16;
        let third = second + 48 + 532 + 16;
        let seen = [40, second, third].map(|at| {
            let packet = &file[at..];
            assert_eq!((packet[9], fold(sum(&packet[..20]))), (132, 0));
            // Flags, number, stream, number of the message, identifier.
            (packet[33], packet[39], packet[43], packet[47])
        });
        assert_eq!(seen, [(2, 1, 0, 7), (1, 2, 0, 7), (3, 3, 1, 7)]);
        assert!(file.ends_with(b"!/1 b\0\0\0"));
    }

    #[test]
    fn streams_number_their_octets() {
        let file = file(Transport::Tcp, "192.0.2.1:1", "192.0.2.2:2", &[b"!/1 a", b"!/1 b"]);
        let (first, second) = (&file[40..89], &file[105..154]);
        check(first);
        check(second);
        assert_eq!((&first[24..28], &second[24..28]), (&[0, 0, 0, 1][..], &[0, 0, 0, 10][..]));
        assert!(first.ends_with(b"\x03\0\0\x09!/1 a"));
        // A message that no packet has room for.
        let large = vec![b'a'; 65_531];
        let file = self::file(Transport::Tcp, "[::1]:1", "[::1]:2", &[&large]);
        assert_eq!(file.len(), 24 + 2 * (16 + 40 + 20) + 65_535);
    }
}
