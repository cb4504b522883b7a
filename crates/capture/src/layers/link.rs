//! Link layers, and what is between them and IP.

use super::{Next, Path, Step, u16_at, u32_at};
use crate::balance::End;
use crate::event::Unread;

/// Reads the header of a link layer (numbers of the registry of tcpdump.org).
pub(super) fn link(link_type: u32, octets: &[u8]) -> Step {
    let cut = |layer: &'static str| Step::bad(layer, format!("header is cut after {} bytes", octets.len()));
    match link_type {
        // Ethernet.
        1 => match u16_at(octets, 12) {
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
        // PPP after an octet with the direction.
        204 => Step::on(Next::Ppp, 1),
        _ => Step::Unread(Unread::LinkType(link_type)),
    }
}

/// Reads what an Ethertype announces.
pub(super) fn ether_type(ether_type: u16, octets: &[u8], path: &mut Path) -> Step {
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
