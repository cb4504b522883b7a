//! IP of both versions.

use super::{Layers, Next, Path, Step, tunnel};
use crate::balance::End;
use crate::event::Unread;
use crate::reassembly::ip::{Fragment, Key, Outcome};
use etherparse::{
    IpAuthHeaderSlice, Ipv4HeaderSlice, Ipv6FragmentHeaderSlice, Ipv6HeaderSlice, Ipv6RawExtHeaderSlice,
};

/// Chooses by the version.
pub(super) fn either(octets: &[u8]) -> Step {
    match octets.first().map(|first| first >> 4) {
        Some(4) => Step::on(Next::Ipv4, 0),
        Some(6) => Step::on(Next::Ipv6, 0),
        Some(_) => Step::End(End::Nothing),
        None => Step::bad("ip", "no bytes"),
    }
}

/// Reads the header of IPv6 (RFC 8200 §3).
pub(super) fn ipv6(octets: &[u8], path: &mut Path) -> Step {
    let header = match Ipv6HeaderSlice::from_slice(octets) {
        Ok(header) => header,
        Err(error) => return Step::bad("ipv6", error.to_string()),
    };
    (path.source, path.destination) = (header.source_addr().into(), header.destination_addr().into());
    let (begin, length) = (header.slice().len(), usize::from(header.payload_length()));
    // Length 0: the sending machine has captured the packet before its network interface divided it.
    let length = if length == 0 { usize::MAX } else { length };
    path.cut &= length > octets.len() - begin;
    Step::On { next: Next::Protocol(header.next_header().0), header: begin, length }
}

/// Reads headers that are between IP and what it carries, and packets in packets.
pub(super) fn protocol(protocol: u8, octets: &[u8]) -> Step {
    match protocol {
        // Hop-by-hop options, routing, destination options.
        0 | 43 | 60 => match Ipv6RawExtHeaderSlice::from_slice(octets) {
            Ok(header) => Step::on(Next::Protocol(header.next_header().0), header.slice().len()),
            Err(error) => Step::bad("ipv6", error.to_string()),
        },
        // Authentication Header.
        51 => match IpAuthHeaderSlice::from_slice(octets) {
            Ok(header) => Step::on(Next::Protocol(header.next_header().0), header.slice().len()),
            Err(error) => Step::bad("ah", error.to_string()),
        },
        4 => Step::on(Next::Ipv4, 0),
        41 => Step::on(Next::Ipv6, 0),
        47 => tunnel::gre(octets),
        // ICMP, IGMP, ICMPv6, no next header.
        1 | 2 | 58 | 59 => Step::End(End::Nothing),
        _ => Step::Unread(Unread::IpProtocol(protocol)),
    }
}

impl Layers {
    /// Reads the header of IPv4 (RFC 791 §3.1).
    pub(super) fn ipv4(&mut self, octets: &[u8], path: &mut Path) -> Step {
        let header = match Ipv4HeaderSlice::from_slice(octets) {
            Ok(header) => header,
            Err(error) => return Step::bad("ipv4", error.to_string()),
        };
        (path.source, path.destination) = (header.source_addr().into(), header.destination_addr().into());
        let (begin, total) = (header.slice().len(), usize::from(header.total_len()));
        // Length 0: the sending machine has captured the packet before its network interface divided it.
        let length = if total == 0 { usize::MAX } else { total.wrapping_sub(begin) };
        if total != 0 && total < begin {
            return Step::bad("ipv4", format!("total length {total} is below the header of {begin} bytes"));
        }
        path.cut &= length > octets.len() - begin;
        let next = Next::Protocol(header.protocol().0);
        if !header.is_fragmenting_payload() {
            return Step::On { next, header: begin, length };
        }
        let key = self.key(path, header.identification().into(), header.protocol().0);
        let payload = &octets[begin..];
        if payload.len() < length {
            return Step::bad("ipv4", "fragment is cut");
        }
        let place = usize::from(header.fragments_offset().value()) * 8;
        self.fragment(key, place, header.more_fragments(), &payload[..length], path, "ipv4")
    }

    /// Reads the fragment header of IPv6 (RFC 8200 §4.5).
    pub(super) fn ipv6_fragment(&mut self, octets: &[u8], path: &Path) -> Step {
        let header = match Ipv6FragmentHeaderSlice::from_slice(octets) {
            Ok(header) => header,
            Err(error) => return Step::bad("ipv6", error.to_string()),
        };
        let (begin, next) = (header.slice().len(), header.next_header().0);
        // A packet that is its only fragment.
        if !header.is_fragmenting_payload() {
            return Step::on(Next::Protocol(next), begin);
        }
        if path.cut {
            return Step::bad("ipv6", "fragment is cut");
        }
        let key = self.key(path, header.identification(), next);
        let place = usize::from(header.fragment_offset().value()) * 8;
        self.fragment(key, place, header.more_fragments(), &octets[begin..], path, "ipv6")
    }

    fn key(&self, path: &Path, identification: u32, protocol: u8) -> Key {
        let Path { source, destination, vlan, .. } = *path;
        Key { source, destination, identification, protocol, vlan }
    }

    fn fragment(
        &mut self,
        key: Key,
        begin: usize,
        more: bool,
        octets: &[u8],
        path: &Path,
        layer: &'static str,
    ) -> Step {
        let fragment = Fragment { begin, more, octets, frame: path.frame, time: path.time };
        match self.ip_fragments.take(key, fragment, &mut self.budget) {
            Outcome::Waiting => Step::End(End::Waiting),
            Outcome::Whole(octets, frames) => Step::Whole(Next::Protocol(key.protocol), octets, frames),
            Outcome::Bad(reason) => Step::bad(layer, reason),
        }
    }
}
