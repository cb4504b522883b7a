//! SIGTRAN, which carries signalling system 7 over SCTP, and the message transfer part itself.

use super::carried::{Carried, Payload};
use super::{Path, u16_at, u32_at};
use crate::balance::End;
use crate::decode_as::{Field, Lookup};
use crate::event::{Sccp, SccpAddress, Unread};
use std::ops::Range;
use std::sync::Arc;

/// The service indicator of SCCP (Q.704 §14.2.1).
const SCCP: u8 = 3;

/// The common header (RFC 4666 §3.1): version 1, class, type, length.
fn header(octets: &[u8]) -> Option<(u8, u8, usize)> {
    match octets.first_chunk::<8>()? {
        [1, _, class, kind, ..] => Some((*class, *kind, u32_at(octets, 4)? as usize)),
        _ => None,
    }
}

/// Parameters (RFC 4666 §3.2): tag, length with this header, value, padding to four octets.
struct Parameters<'a> {
    octets: &'a [u8],
    at: usize,
}

impl Iterator for Parameters<'_> {
    type Item = (u16, Range<usize>);

    fn next(&mut self) -> Option<Self::Item> {
        let (tag, length) = (u16_at(self.octets, self.at)?, usize::from(u16_at(self.octets, self.at + 2)?));
        if length < 4 {
            return None;
        }
        let value = self.at + 4..(self.at + length).min(self.octets.len());
        self.at += length.next_multiple_of(4);
        (value.start <= value.end).then_some((tag, value))
    }
}

/// Reads a message of M3UA (RFC 4666): the protocol data of DATA.
pub(super) fn m3ua(octets: &[u8], path: &mut Path, lookup: &Lookup) -> Carried {
    match header(octets) {
        Some((1, 1, _)) => {}
        Some(_) => return Carried::End(End::Nothing),
        None => return Carried::bad("m3ua", "header is cut, or not of version 1"),
    }
    let Some((_, data)) = (Parameters { octets, at: 8 }).find(|(tag, _)| *tag == 0x0210) else {
        return Carried::bad("m3ua", "no protocol data");
    };
    let value = &octets[data.clone()];
    let (Some(from), Some(to), Some(&service)) = (u32_at(value, 0), u32_at(value, 4), value.get(8)) else {
        return Carried::bad("m3ua", "protocol data is cut");
    };
    path.points = [Some(from), Some(to)];
    of_service(service, data.start + 12..data.end, lookup)
}

/// Reads a message of M2UA (RFC 3331): the protocol data of Data.
pub(super) fn m2ua(octets: &[u8]) -> Carried {
    match header(octets) {
        Some((6, 1, _)) => {}
        Some(_) => return Carried::End(End::Nothing),
        None => return Carried::bad("m2ua", "header is cut, or not of version 1"),
    }
    match (Parameters { octets, at: 8 }).find(|(tag, _)| matches!(tag, 0x0300 | 0x0301)) {
        Some((tag, data)) => {
            // Data of TTC have an octet more.
            let begin = data.start + usize::from(tag == 0x0301);
            Carried::On(Payload::Mtp3, begin..data.end)
        }
        None => Carried::bad("m2ua", "no protocol data"),
    }
}

/// Reads a message of M2PA (RFC 4165): user data, of the standard and of its drafts, whose sequence numbers are shorter.
pub(super) fn m2pa(octets: &[u8]) -> Carried {
    let Some((class, kind, length)) = header(octets) else {
        return Carried::bad("m2pa", "header is cut, or not of version 1");
    };
    if (class, kind) != (11, 1) {
        return Carried::End(End::Nothing);
    }
    let end = length.min(octets.len());
    // An octet that is not used and three of a number, twice; in drafts two octets of a number, twice.
    let is_standard = octets.get(8) == Some(&0) && octets.get(12) == Some(&0);
    let begin = if is_standard { 16 } else { 12 };
    if end <= begin + 1 {
        return Carried::End(End::Nothing);
    }
    Carried::On(Payload::Mtp3, begin + 1..end)
}

/// Reads a signal unit of MTP level 2 (Q.703 §2.2): sequence numbers, a length indicator.
pub(super) fn mtp2(octets: &[u8]) -> Carried {
    match octets.get(2).map(|indicator| indicator & 0x3F) {
        // Fill-in and link status units.
        Some(0..=2) => Carried::End(End::Nothing),
        // 63 stands for all lengths from there on.
        Some(63) => Carried::On(Payload::Mtp3, 3..octets.len()),
        Some(length) => Carried::On(Payload::Mtp3, 3..3 + usize::from(length)),
        None => Carried::bad("mtp2", "header is cut"),
    }
}

/// Reads the routing label of MTP level 3: of ITU (Q.704 §13.2) or, where that gives no message of SCCP, of ANSI.
pub(super) fn mtp3(octets: &[u8], path: &mut Path, lookup: &Lookup) -> Carried {
    let (Some(&service), Some(label)) = (octets.first(), octets.get(1..5)) else {
        return Carried::bad("mtp3", "routing label is cut");
    };
    let label = u32::from_le_bytes(*label.first_chunk().unwrap_or(&[0; 4]));
    let ansi = octets.get(1..8).filter(|_| !super::sccp::begins(&octets[5..]));
    let begin = match ansi {
        Some(&[a, b, c, d, e, f, _]) if super::sccp::begins(&octets[8..]) => {
            let point = |octets: [u8; 3]| u32::from_le_bytes([octets[0], octets[1], octets[2], 0]);
            path.points = [Some(point([d, e, f])), Some(point([a, b, c]))];
            8
        }
        _ => {
            path.points = [Some(label >> 14 & 0x3FFF), Some(label & 0x3FFF)];
            5
        }
    };
    of_service(service & 15, begin..octets.len(), lookup)
}

/// Returns what a service indicator says.
fn of_service(service: u8, range: Range<usize>, lookup: &Lookup) -> Carried {
    match lookup.rule(Field::ServiceIndicator, service.into()) {
        Some(target) => Carried::On(Payload::Message(target), range),
        None if service == SCCP => Carried::On(Payload::Sccp, range),
        // Management and testing of the network.
        None if service < 3 => Carried::End(End::Nothing),
        None => Carried::Unread(Unread::ServiceIndicator(service)),
    }
}

/// Reads a message of SUA (RFC 3868): connectionless and connection-oriented data.
pub(super) fn sua(octets: &[u8], path: &mut Path, lookup: &Lookup) -> Carried {
    match header(octets) {
        Some((7 | 8, _, _)) => {}
        Some(_) => return Carried::End(End::Nothing),
        None => return Carried::bad("sua", "header is cut, or not of version 1"),
    }
    let (mut sccp, mut data, mut has_address) = (Sccp::default(), None, false);
    for (tag, value) in (Parameters { octets, at: 8 }) {
        match tag {
            0x0102 => (sccp.calling, has_address) = (address(&octets[value]), true),
            0x0103 => (sccp.called, has_address) = (address(&octets[value]), true),
            0x010B => data = Some(value),
            _ => {}
        }
    }
    let Some(data) = data else { return Carried::End(End::Nothing) };
    let ssn = sccp.called.ssn.or(sccp.calling.ssn);
    if has_address {
        path.sccp = Some(Arc::new(sccp));
    }
    super::sccp::user(ssn, &octets[data.clone()], data, lookup)
}

/// Reads an address of SUA (RFC 3868 §3.10.2): routing, indicators, parameters.
fn address(octets: &[u8]) -> SccpAddress {
    let mut address = SccpAddress::default();
    for (tag, value) in (Parameters { octets, at: 4 }) {
        let value = &octets[value];
        match tag {
            0x8001 => address.global_title = title(value),
            0x8002 => address.point_code = u32_at(value, 0),
            0x8003 => address.ssn = value.get(3).copied(),
            _ => {}
        }
    }
    address
}

/// Reads a global title of SUA: three reserved octets, indicator, number of digits, type, plan, nature, digits.
fn title(octets: &[u8]) -> Option<String> {
    let count = usize::from(*octets.get(4)?);
    Some(super::sccp::digits(octets.get(8..)?, count))
}
