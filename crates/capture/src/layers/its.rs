//! GeoNetworking (ETSI EN 302 636-4-1) and the Basic Transport Protocol (EN 302 636-5-1).

use super::carried::{Carried, Payload};
use super::u16_at;
use crate::balance::End;
use crate::decode_as::Lookup;
use crate::event::Unread;
use std::ops::Range;

/// Reads the basic header, a secured packet if there is one, the common header, that of its type, and the ports.
pub(super) fn geo_networking(octets: &[u8], lookup: &Lookup) -> Carried {
    let cut = || Carried::bad("geonetworking", "header is cut");
    let Some(&basic) = octets.first() else { return cut() };
    let mut range = match basic & 15 {
        1 => 4..octets.len(),
        2 => match octets.get(4..).and_then(unsecured) {
            Some(inside) => 4 + inside.start..4 + inside.end,
            // Encrypted.
            None => return Carried::End(End::Nothing),
        },
        _ => return Carried::End(End::Nothing),
    };
    let Some(common) = octets.get(range.clone()) else { return cut() };
    let (Some(&next), Some(&kind), Some(length)) = (common.first(), common.get(1), u16_at(common, 4)) else {
        return cut();
    };
    // Octets of the header of each type (EN 302 636-4-1 §9.8).
    let extended = match kind {
        0x20 => 48,
        0x30..=0x32 | 0x40..=0x42 => 44,
        0x50 | 0x51 => 28,
        // Beacons and the location service.
        _ => return Carried::End(End::Nothing),
    };
    range.start += 8 + extended;
    if range.start > range.end {
        return cut();
    }
    range.end = range.end.min(range.start + usize::from(length));
    // Both transports have the receiver's port first.
    if !matches!(next >> 4, 1 | 2) {
        return Carried::End(End::Nothing);
    }
    let Some(port) = u16_at(&octets[range.clone()], 0).filter(|_| range.len() > 4) else { return cut() };
    match lookup.btp(port) {
        Some(target) => Carried::On(Payload::Message(target), range.start + 4..range.end),
        None => Carried::Unread(Unread::BtpPort(port)),
    }
}

/// Opens data of IEEE 1609.2 that are signed or in clear, in COER: returns where the payload is.
fn unsecured(octets: &[u8]) -> Option<Range<usize>> {
    // Version 3, then the alternative of the contents; those of signed data begin with the hash algorithm, to-be-signed
    // data with presence bits and, inside, version 3 and the data in clear.
    let begin = match octets {
        [3, 0x80, ..] => 2,
        [3, 0x81, _, presence, 3, 0x80, ..] if presence & 0x40 != 0 => 6,
        _ => return None,
    };
    let first = usize::from(*octets.get(begin)?);
    let (header, length) = if first < 0x80 {
        (1, first)
    } else {
        let count = first & 0x7F;
        let digits = octets.get(begin + 1..begin + 1 + count).filter(|_| (1..=4).contains(&count))?;
        (1 + count, digits.iter().fold(0, |number, &digit| number << 8 | usize::from(digit)))
    };
    let range = begin + header..begin + header + length;
    octets.get(range.clone()).map(|_| range)
}
