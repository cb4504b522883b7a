//! Link layers, and what is between them and IP.

use super::carried::Payload;
use super::{Field, Layers, Next, Path, Step, u16_at, u32_at};
use crate::balance::End;
use crate::event::{Endpoint, Unread};

impl Layers {
    /// Reads the header of a link layer.
    pub(super) fn link(&self, link_type: u32, octets: &[u8], path: &mut Path) -> Step {
        match link(link_type, octets, path) {
            Step::Unread(reason) => match self.lookup.rule(Field::LinkType, link_type) {
                Some(target) => Step::on(Next::Payload(Payload::Message(target)), 0),
                None => Step::Unread(reason),
            },
            step => step,
        }
    }

    /// Reads what an Ethertype announces.
    pub(super) fn ether_type(&self, number: u16, octets: &[u8], path: &mut Path) -> Step {
        match ether_type(number, octets, path) {
            Step::Unread(reason) => match self.lookup.ether_type(number) {
                // An application identifier, the length with this header, and eight octets in all (IEC 61850-8-1 C.2).
                Some(target) if matches!(number, 0x88B8 | 0x88BA) => match u16_at(octets, 2) {
                    Some(length) if length >= 8 => {
                        path.partial = path.cut && usize::from(length) > octets.len();
                        let next = Next::Payload(Payload::Message(target));
                        Step::On { next, header: 8, length: usize::from(length) - 8 }
                    }
                    _ => Step::bad("goose", "header is cut"),
                },
                Some(target) => Step::on(Next::Payload(Payload::Message(target)), 0),
                None => Step::Unread(reason),
            },
            step => step,
        }
    }
}

/// Reads the header of a link layer (numbers of the registry of tcpdump.org).
fn link(link_type: u32, octets: &[u8], path: &mut Path) -> Step {
    let cut = |layer: &'static str| Step::bad(layer, format!("header is cut after {} bytes", octets.len()));
    match link_type {
        // Ethernet.
        1 => match u16_at(octets, 12).inspect(|_| addresses(octets, path)) {
            // Lengths of IEEE 802.3: LLC, perhaps with SNAP.
            Some(length) if length <= 1500 => match octets.get(14..22) {
                Some(&[0xAA, 0xAA, 3, 0, 0, 0, high, low]) => {
                    Step::on(Next::EtherType(u16::from_be_bytes([high, low])), 22)
                }
                _ => Step::End(End::Nothing),
            },
            Some(ether_type) => Step::on(Next::EtherType(ether_type), 14),
            None => cut("ethernet"),
        },
        // Loopback: the family of addresses, in the order of the machine or (108) of the network.
        0 | 108 => match u32_at(octets, 0).map(|family| family.min(family.swap_bytes())) {
            Some(2) => Step::on(Next::Ipv4, 4),
            // IPv6 has another number in each system.
            Some(10 | 24 | 28 | 30) => Step::on(Next::Ipv6, 4),
            Some(_) => Step::End(End::Nothing),
            None => cut("loopback"),
        },
        // Linux cooked, versions 1 and 2.
        113 => match u16_at(octets, 14) {
            Some(ether_type) => Step::on(Next::EtherType(ether_type), 16),
            None => cut("linux cooked"),
        },
        276 => match u16_at(octets, 0).filter(|_| octets.len() >= 20) {
            Some(ether_type) => Step::on(Next::EtherType(ether_type), 20),
            None => cut("linux cooked"),
        },
        12 | 14 | 101 => Step::on(Next::Ip, 0),
        228 => Step::on(Next::Ipv4, 0),
        229 => Step::on(Next::Ipv6, 0),
        9 | 50 => Step::on(Next::Ppp, 0),
        // Cisco HDLC: an address, a control octet, an Ethertype.
        104 => match u16_at(octets, 2) {
            Some(ether_type) => Step::on(Next::EtherType(ether_type), 4),
            None => cut("hdlc"),
        },
        // Frame relay with an address of two octets, and IP by its identifier (RFC 2427), or SNAP.
        107 => match octets.get(2..) {
            Some([3, 0xCC, ..]) => Step::on(Next::Ipv4, 4),
            Some([3, 0x8E, ..]) => Step::on(Next::Ipv6, 4),
            Some([3, 0, 0x80, 0, 0, 0, high, low, ..]) => {
                Step::on(Next::EtherType(u16::from_be_bytes([*high, *low])), 10)
            }
            Some(_) => Step::End(End::Nothing),
            None => cut("frame relay"),
        },
        // PPP after an octet with the direction.
        204 => Step::on(Next::Ppp, 1),
        // IEEE 802.15.4 with and without checksum carries nothing of ours; IEEE 802.11 with LLC and SNAP may.
        105 => wireless(octets),
        // A header of radiotap has its length in the order of Intel.
        127 => match octets.get(2..4) {
            Some(&[low, high]) => Step::on(Next::Link(105), u16::from_le_bytes([low, high]).into()),
            _ => cut("radiotap"),
        },
        139 => Step::on(Next::Payload(Payload::Mtp2), 4),
        140 => Step::on(Next::Payload(Payload::Mtp2), 0),
        141 => Step::on(Next::Payload(Payload::Mtp3), 0),
        142 => Step::on(Next::Payload(Payload::Sccp), 0),
        252 => Step::on(Next::Payload(Payload::Exported), 0),
        _ => Step::Unread(Unread::LinkType(link_type)),
    }
}

/// Notes the addresses of Ethernet.
fn addresses(octets: &[u8], path: &mut Path) {
    if let (Some(to), Some(from)) = (octets.first_chunk(), octets.get(6..).and_then(<[u8]>::first_chunk)) {
        (path.to, path.from) = (Endpoint::Mac(*to), Endpoint::Mac(*from));
    }
}

/// Reads a frame of IEEE 802.11 with data (§9.3.2): LLC and SNAP after the header.
fn wireless(octets: &[u8]) -> Step {
    let Some(&[control, flags]) = octets.first_chunk() else { return Step::bad("802.11", "header is cut") };
    // Data that is not encrypted, and has a body.
    if control & 0x0C != 8 || control & 0x40 != 0 || flags & 0x40 != 0 {
        return Step::End(End::Nothing);
    }
    let fourth = if flags & 3 == 3 { 6 } else { 0 };
    let quality = if control & 0x80 != 0 { 2 } else { 0 };
    let header = 24 + fourth + quality;
    match octets.get(header..header + 8) {
        Some(&[0xAA, 0xAA, 3, 0, 0, 0, high, low]) => {
            Step::on(Next::EtherType(u16::from_be_bytes([high, low])), header + 8)
        }
        _ => Step::End(End::Nothing),
    }
}

/// Reads what an Ethertype announces.
fn ether_type(ether_type: u16, octets: &[u8], path: &mut Path) -> Step {
    match ether_type {
        0x0800 => Step::on(Next::Ipv4, 0),
        0x86DD => Step::on(Next::Ipv6, 0),
        // Tags of IEEE 802.1Q and 802.1ad, and one older than these.
        0x8100 | 0x88A8 | 0x9100 => match (u16_at(octets, 0), u16_at(octets, 2)) {
            (Some(tag), Some(after)) => {
                path.vlan = path.vlan << 12 | u64::from(tag & 0xFFF);
                Step::on(Next::EtherType(after), 4)
            }
            _ => Step::bad("vlan", "tag is cut"),
        },
        0x8847 | 0x8848 => Step::on(Next::Mpls, 0),
        // Sessions of PPP over Ethernet: the payload has a length of its own.
        0x8864 => match u16_at(octets, 4) {
            Some(length) => Step::On { next: Next::Ppp, header: 6, length: length.into() },
            None => Step::bad("pppoe", "header is cut"),
        },
        0x8947 => Step::on(Next::Payload(Payload::GeoNetworking), 0),
        // ARP, and the discovery of PPP over Ethernet.
        0x0806 | 0x8863 => Step::End(End::Nothing),
        _ => Step::Unread(Unread::EtherType(ether_type)),
    }
}

/// Reads the header of PPP, whose address and control may be left out, and whose protocol may have one octet.
pub(super) fn ppp(octets: &[u8]) -> Step {
    let header = if octets.starts_with(&[0xFF, 3]) { 2 } else { 0 };
    let (protocol, length) = match octets.get(header..) {
        Some(&[low, ..]) if low & 1 != 0 => (u16::from(low), 1),
        Some(&[high, low, ..]) => (u16::from_be_bytes([high, low]), 2),
        _ => return Step::bad("ppp", "header is cut"),
    };
    match protocol {
        0x0021 => Step::on(Next::Ipv4, header + length),
        0x0057 => Step::on(Next::Ipv6, header + length),
        0x0281 => Step::on(Next::Mpls, header + length),
        _ => Step::End(End::Nothing),
    }
}
