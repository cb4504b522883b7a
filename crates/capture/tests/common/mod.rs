//! Captures that tests write themselves, and what is read of them.
#![allow(dead_code, reason = "each test uses a part")]

use std::fmt::Write as _;
use std::io::Read;
use tercet_capture::{Balance, Capture, Event, Options};

/// Messages and faults, a line each, and the balance.
pub(crate) fn read(file: impl Read) -> (Vec<String>, Vec<String>, Balance) {
    read_with(file, Options::default())
}

pub(crate) fn read_with(file: impl Read, options: Options) -> (Vec<String>, Vec<String>, Balance) {
    let mut capture = Capture::new(file, options);
    let (mut pdus, mut faults) = (Vec::new(), Vec::new());
    let mut sink = |event: Event<'_>| match event {
        Event::Pdu(pdu) => {
            let partial = if pdu.partial { " partial" } else { "" };
            pdus.push(format!("{} {} {}{partial}", pdu.frame, pdu.protocol.name, hex(pdu.octets)));
        }
        Event::Fault(fault) => faults.push(fault.to_string()),
        _ => {}
    };
    while capture.read_packet(&mut sink).expect("a file in memory") {}
    let balance = capture.balance().clone();
    assert!(balance.holds(), "{balance:?}");
    (pdus, faults, balance)
}

pub(crate) fn hex(octets: &[u8]) -> String {
    octets.iter().fold(String::new(), |mut text, octet| {
        let _ = write!(text, "{octet:02x}");
        text
    })
}

/// A pcap file of Ethernet frames.
pub(crate) fn pcap(frames: &[Vec<u8>]) -> Vec<u8> {
    let mut file = vec![0xD4, 0xC3, 0xB2, 0xA1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 1, 0, 0, 0];
    for (at, frame) in frames.iter().enumerate() {
        let length = frame.len() as u32;
        for number in [1_700_000_000 + at as u32, 0, length, length] {
            file.extend(number.to_le_bytes());
        }
        file.extend(frame);
    }
    file
}

pub(crate) fn ethernet(ether_type: u16, payload: &[u8]) -> Vec<u8> {
    [&[2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1][..], &ether_type.to_be_bytes(), payload].concat()
}

pub(crate) fn ipv4_fragment(identification: u16, begin: usize, more: bool, payload: &[u8]) -> Vec<u8> {
    let place = (begin as u16 / 8) | u16::from(more) << 13;
    let mut packet = vec![0x45, 0];
    packet.extend((20 + payload.len() as u16).to_be_bytes());
    packet.extend(identification.to_be_bytes());
    packet.extend(place.to_be_bytes());
    packet.extend([64, 132, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
    packet.extend(payload);
    ethernet(0x0800, &packet)
}

pub(crate) fn ipv4(payload: &[u8]) -> Vec<u8> {
    ipv4_fragment(1, 0, false, payload)
}

pub(crate) fn sctp(port: u16, tag: u32, chunks: &[Vec<u8>]) -> Vec<u8> {
    let mut packet = [port.to_be_bytes(), port.to_be_bytes()].concat();
    packet.extend(tag.to_be_bytes());
    packet.extend([0; 4]);
    packet.extend(chunks.concat());
    packet
}

/// A chunk of data; `flags`: 2 the first fragment, 1 the last one.
pub(crate) fn data(tsn: u32, stream: u16, ppid: u32, flags: u8, octets: &[u8]) -> Vec<u8> {
    let mut chunk = vec![0, flags];
    chunk.extend((16 + octets.len() as u16).to_be_bytes());
    chunk.extend(tsn.to_be_bytes());
    chunk.extend(stream.to_be_bytes());
    chunk.extend([0, 0]);
    chunk.extend(ppid.to_be_bytes());
    chunk.extend(octets);
    chunk.resize(chunk.len().next_multiple_of(4), 0);
    chunk
}

/// A segment of TCP to port 389.
pub(crate) fn tcp(sequence: u32, flags: u8, octets: &[u8]) -> Vec<u8> {
    let mut packet = [40_000_u16.to_be_bytes(), 389_u16.to_be_bytes()].concat();
    packet.extend(sequence.to_be_bytes());
    packet.extend([0, 0, 0, 1, 0x50, flags, 1, 0, 0, 0, 0, 0]);
    packet.extend(octets);
    let mut header = vec![0x45, 0];
    header.extend((20 + packet.len() as u16).to_be_bytes());
    header.extend([0, 1, 0, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
    ethernet(0x0800, &[header, packet].concat())
}

/// A segment of a message of SCCP, with how many follow, in M3UA.
pub(crate) fn segment(is_first: bool, remaining: u8, octets: &[u8]) -> Vec<u8> {
    let (called, calling) = ([0x42, 6], [0x42, 8]);
    let length = octets.len() as u8;
    // Extended unit data: class, hop counter, pointers to the addresses, the data and the optional part.
    let mut sccp = vec![0x11, 0x80, 15, 4, 6, 8, 9 + length - 1];
    sccp.extend([&[2][..], &called, &[2], &calling, &[length], octets].concat());
    sccp.extend([0x10, 4, u8::from(is_first) << 7 | remaining, 1, 2, 3, 0]);
    let mut data = vec![2, 16];
    data.extend((16 + sccp.len() as u16).to_be_bytes());
    data.extend([0, 0, 3, 0xE9, 0, 0, 7, 0xD2, 3, 2, 0, 5]);
    data.extend(sccp);
    data.resize(data.len().next_multiple_of(4), 0);
    let mut message = vec![1, 0, 1, 1];
    message.extend((8 + data.len() as u32).to_be_bytes());
    message.extend(data);
    message
}

/// All orders of the numbers below `count`.
pub(crate) fn orders(count: usize) -> Vec<Vec<usize>> {
    if count == 0 {
        return vec![vec![]];
    }
    let shorter = orders(count - 1);
    let longer = shorter.iter().flat_map(|order| {
        (0..count).map(move |at| {
            let mut order = order.clone();
            order.insert(at, count - 1);
            order
        })
    });
    longer.collect()
}
