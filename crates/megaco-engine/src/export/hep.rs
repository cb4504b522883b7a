//! HEP version 3, by which Homer takes messages: chunks with a vendor, a type and a length.

use super::{Addresses, Packet};

/// The protocol of the message (chunk 11): Megaco.
const MEGACO: u8 = 7;
/// Families of addresses (chunk 1).
const INET: u8 = 2;
const INET6: u8 = 10;

/// Writes a message as a packet of HEP version 3 to Homer.
///
/// Returns whether there is a packet: its length has 16 bits, so that a message of more than about 65,400 octets has none.
pub fn write_hep(packet: &Packet<'_>, agent: u32, out: &mut Vec<u8>) -> bool {
    let begin = out.len();
    out.extend_from_slice(b"HEP3\0\0");
    let mut fits = true;
    let mut chunk = |kind: u16, octets: &[u8]| {
        let Ok(length) = u16::try_from(octets.len() + 6) else {
            fits = false;
            return;
        };
        // The vendor of the chunks that all have is 0.
        out.extend_from_slice(&[0, 0]);
        out.extend_from_slice(&kind.to_be_bytes());
        out.extend_from_slice(&length.to_be_bytes());
        out.extend_from_slice(octets);
    };
    let addresses = packet.addresses();
    let family = if matches!(addresses, Addresses::V4(..)) { INET } else { INET6 };
    chunk(1, &[family]);
    chunk(2, &[packet.protocol()]);
    match &addresses {
        Addresses::V4(source, destination) => {
            chunk(3, source);
            chunk(4, destination);
        }
        Addresses::V6(source, destination) => {
            chunk(5, source);
            chunk(6, destination);
        }
    }
    chunk(7, &packet.source.port().to_be_bytes());
    chunk(8, &packet.destination.port().to_be_bytes());
    let (seconds, micros) = (packet.micros / 1_000_000, packet.micros % 1_000_000);
    chunk(9, &u32::try_from(seconds).unwrap_or(u32::MAX).to_be_bytes());
    chunk(10, &(micros as u32).to_be_bytes());
    chunk(11, &[MEGACO]);
    chunk(12, &agent.to_be_bytes());
    chunk(15, packet.octets);
    match u16::try_from(out.len() - begin) {
        Ok(length) if fits => {
            out[begin + 4..begin + 6].copy_from_slice(&length.to_be_bytes());
            true
        }
        _ => {
            out.truncate(begin);
            false
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Transport;

    fn packet<'a>(source: &str, destination: &str, octets: &'a [u8]) -> Packet<'a> {
        let (source, destination) = (source.parse().unwrap(), destination.parse().unwrap());
        Packet { micros: 0x0102_0304_0005, transport: Transport::Udp, link: 0, source, destination, octets }
    }

    #[test]
    fn chunks_of_a_message() {
        let mut out = Vec::new();
        assert!(write_hep(&packet("192.0.2.1:2944", "192.0.2.2:2945", b"!/1"), 7, &mut out));
        let seconds = (0x0102_0304_0005_u64 / 1_000_000) as u32;
        let micros = (0x0102_0304_0005_u64 % 1_000_000) as u32;
        let expected = [
            &b"HEP3\x00\x66"[..],
            b"\0\0\0\x01\0\x07\x02",
            b"\0\0\0\x02\0\x07\x11",
            b"\0\0\0\x03\0\x0a\xc0\0\x02\x01",
            b"\0\0\0\x04\0\x0a\xc0\0\x02\x02",
            b"\0\0\0\x07\0\x08\x0b\x80",
            b"\0\0\0\x08\0\x08\x0b\x81",
            b"\0\0\0\x09\0\x0a",
            &seconds.to_be_bytes(),
            b"\0\0\0\x0a\0\x0a",
            &micros.to_be_bytes(),
            b"\0\0\0\x0b\0\x07\x07",
            b"\0\0\0\x0c\0\x0a\0\0\0\x07",
            b"\0\0\0\x0f\0\x09!/1",
        ]
        .concat();
        assert_eq!(out.escape_ascii().to_string(), expected.escape_ascii().to_string());
        out.clear();
        assert!(write_hep(&packet("[2001:db8::1]:1", "192.0.2.2:2", b""), 0, &mut out));
        assert!(out.windows(6).any(|octets| octets == b"\0\x05\0\x16\x20\x01"), "{out:?}");
        assert!(!write_hep(&packet("192.0.2.1:1", "192.0.2.2:2", &[b'a'; 65_500]), 0, &mut out));
    }
}
