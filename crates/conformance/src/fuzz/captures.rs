//! Packet captures: whatever a file or a layer holds, packets are accounted for once.

use std::fmt::Write as _;
use std::io::Read;

use tercet_capture::{Balance, Capture, Event, Options, protocols};

use super::told;

/// Link types that a packet is tried as: Ethernet, null, raw IP, Linux cooked, PPP, MTP 2 and 3, SCCP, exported messages.
const LINKS: [u32; 14] = [0, 1, 9, 12, 101, 113, 139, 140, 141, 142, 228, 229, 252, 276];
/// Octets that may wait for others.
const MEMORY: usize = 16 << 10;

/// Messages, faults and balance do not depend on how a file is read; packets are counted once; the octets of messages come
/// from the file.
pub(super) fn capture(input: &[u8]) {
    let Some((&kind, rest)) = input.split_first() else { return };
    let file = file(kind, rest);
    let (lines, balance, octets) = read(&file[..]);
    assert!(balance.holds(), "{balance:?}");
    // Some messages are inside of others, and reassembled ones are made of octets of several packets.
    assert!(octets <= 64 * file.len(), "{octets} octets of messages in {}", file.len());
    let (slow_lines, slow_balance, _) = read(Slow { rest: &file });
    assert_eq!(lines, slow_lines);
    assert_eq!(format!("{balance:?}"), format!("{slow_balance:?}"));
}

/// Returns what was read: lines, the balance, and the octets of all messages.
fn read(file: impl Read) -> (Vec<String>, Balance, usize) {
    let mut options = Options::default();
    options.memory_limit = MEMORY;
    let mut capture = Capture::new(file, options);
    let (mut lines, mut octets, mut frame) = (Vec::new(), 0, 0);
    let mut sink = |event: Event<'_>| match event {
        Event::Pdu(pdu) => {
            assert!(pdu.frame >= frame, "messages are not in order");
            assert!(pdu.frames().is_sorted() && pdu.frames().iter().all(|it| *it <= pdu.frame));
            frame = pdu.frame;
            octets += pdu.octets.len();
            let mut line = format!("{} {} {} {}", pdu.frame, pdu.protocol.name, pdu.source, pdu.destination);
            pdu.octets.iter().for_each(|octet| _ = write!(line, "{octet:02x}"));
            lines.push(line);
        }
        Event::Fault(fault) => {
            told(&fault);
            lines.push(fault.to_string());
        }
        _ => {}
    };
    while capture.read_packet(&mut sink).expect("a file in memory") {}
    (lines, capture.balance().clone(), octets)
}

/// Gives one octet at a time.
struct Slow<'a> {
    rest: &'a [u8],
}

impl Read for Slow<'_> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let (Some(octet), Some((first, rest))) = (out.first_mut(), self.rest.split_first()) else {
            return Ok(0);
        };
        (*octet, self.rest) = (*first, rest);
        Ok(1)
    }
}

/// The file itself, or a capture whose packets have the input at some layer: the second octet chooses link types, ports and
/// identifiers, the octets after it the lengths of packets.
fn file(kind: u8, rest: &[u8]) -> Vec<u8> {
    let Some((&choice, rest)) = rest.split_first().filter(|_| !kind.is_multiple_of(6)) else {
        return rest.to_vec();
    };
    let ports = || protocols().iter().flat_map(|it| [&it.tcp, &it.udp, &it.sctp]).flatten();
    let port = |choice: u8| {
        let count = ports().count();
        ports().nth(usize::from(choice) % count).copied().unwrap_or(0)
    };
    let ppids =
        || [3, 2, 5, 4, 0].into_iter().chain(protocols().iter().flat_map(|it| it.ppid.iter().copied()));
    let ppid = ppids().nth(usize::from(choice) % ppids().count()).unwrap_or(0);
    let link = if kind % 6 == 1 { LINKS[usize::from(choice) % LINKS.len()] } else { 101 };
    let mut packets = Vec::new();
    let (mut rest, mut sequence) = (rest, 1_u32);
    while let Some((&length, after)) = rest.split_first() {
        let (part, after) = after.split_at(after.len().min(usize::from(length)));
        rest = after;
        packets.push(match kind % 6 {
            1 => part.to_vec(),
            2 => ip(part.first().copied().unwrap_or(0), part),
            3 => ip(17, &[&udp(port(choice), part)[..], part].concat()),
            4 => ip(6, &[&tcp(port(choice), sequence)[..], part].concat()),
            _ => ip(132, &[&sctp(port(choice))[..], &data(sequence, ppid, part)].concat()),
        });
        sequence = sequence.wrapping_add(if kind % 6 == 4 { part.len() as u32 } else { 1 });
    }
    let mut file = vec![0xD4, 0xC3, 0xB2, 0xA1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0];
    file.extend(link.to_le_bytes());
    for (at, packet) in packets.iter().enumerate() {
        let length = packet.len() as u32;
        [at as u32, 0, length, length].iter().for_each(|number| file.extend(number.to_le_bytes()));
        file.extend(packet);
    }
    file
}

fn ip(protocol: u8, payload: &[u8]) -> Vec<u8> {
    let [high, low] = (20 + payload.len() as u16).to_be_bytes();
    let header = [0x45, 0, high, low, 0, 1, 0, 0, 64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
    [&header[..], payload].concat()
}

fn udp(port: u16, payload: &[u8]) -> Vec<u8> {
    [port, port, 8 + payload.len() as u16, 0].iter().flat_map(|it| it.to_be_bytes()).collect()
}

fn tcp(port: u16, sequence: u32) -> Vec<u8> {
    let [high, low] = port.to_be_bytes();
    let mut header = vec![high, low, 0x40, 0];
    header.extend(sequence.to_be_bytes());
    header.extend([0, 0, 0, 1, 0x50, 0x18, 1, 0, 0, 0, 0, 0]);
    header
}

fn sctp(port: u16) -> Vec<u8> {
    let [high, low] = port.to_be_bytes();
    vec![high, low, high, low, 0, 0, 0, 7, 0, 0, 0, 0]
}

fn data(sequence: u32, ppid: u32, part: &[u8]) -> Vec<u8> {
    let mut chunk = vec![0, 3];
    chunk.extend((16 + part.len() as u16).to_be_bytes());
    chunk.extend(sequence.to_be_bytes());
    chunk.extend([0, 1, 0, 0]);
    chunk.extend(ppid.to_be_bytes());
    chunk.extend(part);
    chunk.resize(chunk.len().next_multiple_of(4), 0);
    chunk
}

/// Messages of several protocols at each layer.
pub(super) fn capture_seeds() -> Vec<Vec<u8>> {
    let ldap: &[u8] = &[0x30, 12, 2, 1, 1, 0x60, 7, 2, 1, 3, 4, 0, 0x80, 0];
    let text = b"MEGACO/1 [10.0.0.1] Transaction=1{Context=-{AuditCapability=ROOT{Audit{}}}}";
    // Unit data of SCCP with a begin of TCAP, in MTP 3 user adaptation.
    let tcap: &[u8] = &[0x62, 6, 0x48, 4, 1, 2, 3, 4];
    let sccp = [&[9, 0, 3, 5, 7, 2, 0x42, 6, 2, 0x42, 8, tcap.len() as u8][..], tcap].concat();
    let mut m3ua = vec![1, 0, 1, 1, 0, 0, 0, 24 + sccp.len() as u8, 2, 16, 0, 16 + sccp.len() as u8];
    m3ua.extend([0, 0, 3, 0xE9, 0, 0, 7, 0xD2, 3, 2, 0, 5]);
    m3ua.extend(&sccp);
    let tpkt: &[u8] = &[3, 0, 0, 11, 6, 0xE0, 0, 0, 0, 1, 0];
    let gsmtap: &[u8] = &[2, 4, 0x0D, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0x20, 0x15];
    let tls: &[u8] = &[0x16, 3, 3, 0, 14, 11, 0, 0, 10, 0, 0, 7, 0, 0, 4, 0x30, 2, 5, 0];
    let mut seeds = Vec::new();
    for part in [ldap, &text[..], &m3ua, tpkt, gsmtap, tls, &[0x20, 0x15, 0, 5, 1, 2, 3, 4, 5]] {
        for kind in 1..6 {
            for choice in 0..24 {
                let length = part.len() as u8;
                let (begin, end) = part.split_at(part.len() / 2);
                let halves = [&[begin.len() as u8][..], begin, &[end.len() as u8], end].concat();
                seeds.push([&[kind, choice, length][..], part].concat());
                seeds.push([&[kind, choice][..], &halves].concat());
            }
        }
        seeds.push([&[0][..], &file(3, &[&[5, part.len() as u8][..], part].concat())].concat());
    }
    // Blocks of pcapng: a section, an interface, a packet.
    let mut section = vec![0x0A, 0x0D, 0x0D, 0x0A, 28, 0, 0, 0, 0x4D, 0x3C, 0x2B, 0x1A, 1, 0, 0, 0];
    section.extend([0xFF; 8]);
    section.extend([28, 0, 0, 0, 1, 0, 0, 0, 20, 0, 0, 0, 101, 0, 0, 0, 0, 0, 0, 0, 20, 0, 0, 0]);
    section.extend([6, 0, 0, 0, 36, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 4, 0, 0, 0]);
    section.extend([0x45, 0, 0, 4, 36, 0, 0, 0]);
    seeds.push([&[0][..], &section].concat());
    seeds
}
