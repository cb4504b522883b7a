//! SCCP (Q.713): connectionless messages with segments, connections, addresses.

use super::carried::{Carried, Payload};
use super::{Layers, Path};
use crate::balance::End;
use crate::decode_as::Lookup;
use crate::event::{Endpoint, Sccp, SccpAddress, Unread};
use crate::protocol::{Target, protocol};
use crate::reassembly::sccp::{Key, Outcome, Segment};
use std::ops::Range;
use std::sync::Arc;

/// A node of the network: its point code, or its address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Node {
    Point(u32),
    Address(Endpoint),
}

/// A message, as far as it matters here.
#[derive(Debug, Default, PartialEq)]
struct Message {
    called: Option<Range<usize>>,
    calling: Option<Range<usize>>,
    data: Option<Range<usize>>,
    /// Whether it is the first segment, how many follow, the local reference.
    segmentation: Option<(bool, u8, u32)>,
    /// The reference that the receiver has given out, and the sender's.
    receiver: Option<u32>,
    sender: Option<u32>,
    /// More data of a connection follow.
    more: bool,
}

/// Which parts a type of message has (Q.713 §4): octets before the pointers, mandatory variable parts, length of pointers.
fn form(kind: u8) -> Option<(usize, &'static [Part], usize, bool)> {
    use Part::{Called, Calling, Data};
    Some(match kind {
        1 => (5, &[Called], 1, true),
        2 => (8, &[], 1, true),
        3 => (5, &[], 1, true),
        4 => (8, &[], 1, true),
        6 => (5, &[Data], 1, false),
        7 => (6, &[Data], 1, false),
        9 | 10 => (2, &[Called, Calling, Data], 1, false),
        17 | 18 => (3, &[Called, Calling, Data], 1, true),
        19 | 20 => (3, &[Called, Calling, Data], 2, true),
        _ => return None,
    })
}

/// A mandatory part of variable length.
#[derive(Clone, Copy, Debug)]
enum Part {
    Called,
    Calling,
    Data,
}

/// Reads a message; nothing of a type that has no data.
fn read(octets: &[u8]) -> Result<Option<Message>, &'static str> {
    let kind = *octets.first().ok_or("no bytes")?;
    let Some((fixed, parts, size, has_optional)) = form(kind) else {
        // Acknowledgements, resets, errors and tests of connections.
        return if (1..=20).contains(&kind) { Ok(None) } else { Err("unknown type of message") };
    };
    let reference = |at: usize| {
        let [a, b, c] = *octets.get(at..)?.first_chunk()?;
        Some(u32::from_be_bytes([0, a, b, c]))
    };
    let mut message = Message::default();
    match kind {
        1 => message.sender = reference(1),
        2 | 4 => (message.receiver, message.sender) = (reference(1), reference(4)),
        3 | 6 | 7 => message.receiver = reference(1),
        _ => {}
    }
    message.more = match kind {
        6 => octets.get(4).is_some_and(|it| it & 1 != 0),
        7 => octets.get(5).is_some_and(|it| it & 1 != 0),
        _ => false,
    };
    let pointer = |at: usize| {
        let offset = match size {
            1 => usize::from(*octets.get(at)?),
            // Those of long messages are in the order of Intel (Q.713 §2.3), and count from their second octet.
            _ => usize::from(u16::from_le_bytes(*octets.get(at..)?.first_chunk()?)),
        };
        Some((offset != 0).then_some(at + offset + usize::from(size == 2)))
    };
    let cut = "pointer or part beyond the message";
    for (number, part) in parts.iter().enumerate() {
        let at = pointer(fixed + number * size).ok_or(cut)?.ok_or(cut)?;
        // Data of long messages have a length of two octets.
        let is_long = size == 2 && matches!(part, Part::Data);
        let (header, length) = if is_long {
            let length = octets.get(at..).and_then(<[u8]>::first_chunk).ok_or(cut)?;
            (2, usize::from(u16::from_le_bytes(*length)))
        } else {
            (1, usize::from(*octets.get(at).ok_or(cut)?))
        };
        let range = at + header..at + header + length;
        octets.get(range.clone()).ok_or(cut)?;
        *match part {
            Part::Called => &mut message.called,
            Part::Calling => &mut message.calling,
            Part::Data => &mut message.data,
        } = Some(range);
    }
    if has_optional && let Some(Some(mut at)) = pointer(fixed + parts.len() * size) {
        // Name, length, contents; a zero ends them.
        while let (Some(&name), Some(&length)) = (octets.get(at), octets.get(at + 1)) {
            if name == 0 {
                break;
            }
            let range = at + 2..at + 2 + usize::from(length);
            let value = octets.get(range.clone()).ok_or(cut)?;
            match (name, value) {
                (4, _) => message.calling = Some(range.clone()),
                (0x0F, _) => message.data = Some(range.clone()),
                (0x10, &[first, a, b, c]) => {
                    let reference = u32::from_be_bytes([0, a, b, c]);
                    message.segmentation = Some((first & 0x80 != 0, first & 15, reference));
                }
                _ => {}
            }
            at = range.end;
        }
    }
    Ok(Some(message))
}

/// Returns whether octets can be a message of SCCP: they tell the routing label of ITU from that of ANSI.
pub(super) fn begins(octets: &[u8]) -> bool {
    matches!(read(octets), Ok(Some(_))) || octets.first().is_some_and(|kind| matches!(kind, 5 | 8 | 11..=16))
}

/// Reads an address (Q.713 §3.4). That of ANSI (T1.112) has the bit for national use, and its parts in another order.
fn address(octets: &[u8]) -> SccpAddress {
    let mut address = SccpAddress::default();
    let Some((&indicator, mut rest)) = octets.split_first() else { return address };
    let is_ansi = indicator & 0x80 != 0;
    let (has_point, has_ssn) = if is_ansi { (2, 1) } else { (1, 2) };
    if is_ansi
        && indicator & has_ssn != 0
        && let Some((&ssn, after)) = rest.split_first()
    {
        (address.ssn, rest) = (Some(ssn), after);
    }
    if indicator & has_point != 0 {
        let length = if is_ansi { 3 } else { 2 };
        let Some((point, after)) = rest.split_at_checked(length) else { return address };
        address.point_code =
            Some(point.iter().rev().fold(0, |number, &octet| number << 8 | u32::from(octet)));
        rest = after;
    }
    if !is_ansi
        && indicator & has_ssn != 0
        && let Some((&ssn, after)) = rest.split_first()
    {
        (address.ssn, rest) = (Some(ssn), after);
    }
    // The global title begins with nature, translation type, plan and scheme, as its indicator says.
    let (header, odd) = match (indicator >> 2 & 15, rest) {
        (1, [nature, ..]) => (1, nature & 0x80 != 0),
        (2, [_, ..]) => (1, false),
        (3, [_, scheme, ..]) => (2, scheme & 15 == 1),
        (4, [_, scheme, _, ..]) => (3, scheme & 15 == 1),
        _ => return address,
    };
    let packed = &rest[header..];
    address.global_title = Some(digits(packed, 2 * packed.len() - usize::from(odd && !packed.is_empty())));
    address
}

/// Returns digits, the lower half of an octet first.
pub(super) fn digits(packed: &[u8], count: usize) -> String {
    let halves = packed.iter().flat_map(|octet| [octet & 15, octet >> 4]);
    halves.take(count).map(|digit| char::from_digit(digit.into(), 16).unwrap_or('?')).collect()
}

/// Returns what is above SCCP: by the subsystem number, else by the first octets.
pub(super) fn user(ssn: Option<u8>, data: &[u8], range: Range<usize>, lookup: &Lookup) -> Carried {
    // Subsystem numbers of TCAP are used by others too, who do not have its tags.
    let is_other = |target: &Target| target.protocol.name == "tcap" && !matches!(data, [0x61..=0x67, ..]);
    if let Some(target) = ssn.and_then(|ssn| lookup.ssn(ssn)).filter(|target| !is_other(target)) {
        return Carried::On(Payload::Message(target), range);
    }
    let found = match data {
        // Tags of TCAP (Q.773 §3.1), and of its ANSI counterpart, which is another protocol.
        [0x61 | 0x62 | 0x64 | 0x65 | 0x67, ..] => protocol("tcap"),
        // BSSAP has its own length second.
        [0, length, rest @ ..] if usize::from(*length) == rest.len() => return Carried::End(End::Nothing),
        // A message of RANAP: alternative, procedure, criticality, the length of the open type.
        [0 | 0x20 | 0x40 | 0x60, _, 0 | 0x40 | 0x80, ..] => protocol("ranap"),
        _ => None,
    };
    match found {
        Some(protocol) => Carried::On(Payload::Message(protocol.into()), range),
        None => ssn.map_or(Carried::End(End::Nothing), |ssn| Carried::Unread(Unread::SccpSsn(ssn))),
    }
}

impl Layers {
    /// Reads a message of SCCP.
    pub(super) fn sccp(&mut self, octets: &[u8], path: &mut Path) -> Carried {
        let message = match read(octets) {
            Ok(Some(message)) => message,
            Ok(None) => return Carried::End(End::Nothing),
            Err(_) if path.partial => return Carried::bad("sccp", "message is cut"),
            Err(reason) => return Carried::bad("sccp", reason),
        };
        let [from, to] = path.points;
        let party = |range: &Option<Range<usize>>, point: Option<u32>| {
            let mut address = range.clone().map(|range| address(&octets[range])).unwrap_or_default();
            address.point_code = address.point_code.or(point);
            address
        };
        let sccp = Sccp { calling: party(&message.calling, from), called: party(&message.called, to) };
        let ssn = sccp.called.ssn.or(sccp.calling.ssn);
        path.sccp = Some(Arc::new(sccp.clone()));
        let (sender, receiver) = (node(from, path.from), node(to, path.to));
        let connection = message.receiver.and_then(|it| self.sccp_connections.get((it, receiver)).cloned());
        // A connection carries what its request has said, both ways.
        let known = ssn.and_then(|ssn| self.lookup.ssn(ssn)).or(connection);
        let is_connection = message.sender.is_some() || message.receiver.is_some();
        // TCAP has no connections.
        let known = known.filter(|target| is_connection && target.protocol.name != "tcap");
        if let (Some(reference), Some(target)) = (message.sender, &known) {
            self.sccp_connections.insert((reference, sender), target.clone());
        }
        let Some(data) = message.data.filter(|range| !range.is_empty()) else {
            return Carried::End(End::Nothing);
        };
        let segment = match (message.segmentation, message.receiver) {
            // The only segment of a message.
            (Some((true, 0, _)), _) => None,
            (Some((is_first, remaining, reference)), _) => {
                let key = Key::Segments(reference, sccp);
                Some((key, Segment::Numbered { is_first, remaining }))
            }
            (None, Some(reference)) => {
                let key = Key::Connection(reference, sender, receiver);
                Some((key, Segment::Ordered { more: message.more }))
            }
            (None, None) => None,
        };
        if let Some((key, segment)) = segment {
            let outcome = self.sccp_segments.take(
                key,
                segment,
                &octets[data.clone()],
                path.frames.clone(),
                &mut self.budget,
            );
            return match outcome {
                Outcome::Single => self.above(known, ssn, octets, data),
                Outcome::Waiting => Carried::End(End::Waiting),
                Outcome::Whole(whole, frames) => match self.above(known, ssn, &whole, 0..whole.len()) {
                    Carried::On(payload, _) => Carried::Whole(payload, whole, frames),
                    other => other,
                },
                Outcome::Bad(reason) => Carried::bad("sccp", reason),
            };
        }
        self.above(known, ssn, octets, data)
    }

    fn above(&self, known: Option<Target>, ssn: Option<u8>, octets: &[u8], data: Range<usize>) -> Carried {
        match known {
            Some(target) => Carried::On(Payload::Message(target), data),
            None => user(ssn, octets.get(data.clone()).unwrap_or_default(), data, &self.lookup),
        }
    }
}

fn node(point: Option<u32>, address: Endpoint) -> Node {
    point.map_or(Node::Address(address), Node::Point)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_point_code_subsystem_and_digits() {
        let of_itu = address(&[0x13, 0xD2, 0x07, 6, 0, 0x12, 4, 0x94, 0x71]);
        assert_eq!(of_itu.point_code, Some(2002));
        assert_eq!((of_itu.ssn, of_itu.global_title.as_deref()), (Some(6), Some("4917")));
        let odd = address(&[0x12, 8, 0, 0x11, 4, 0x94, 0x01]);
        assert_eq!(odd.global_title.as_deref(), Some("491"));
        let of_ansi = address(&[0x83, 6, 1, 2, 3]);
        assert_eq!((of_ansi.ssn, of_ansi.point_code), (Some(6), Some(0x03_0201)));
        assert_eq!(address(&[]), SccpAddress::default());
    }

    #[test]
    fn messages_with_pointers_beyond_them_are_refused() {
        let message = [9, 0, 3, 5, 7, 2, 0x42, 6, 2, 0x42, 8, 1, 0x62];
        assert_eq!(read(&message).unwrap().unwrap().data, Some(12..13));
        for cut in 0..message.len() {
            assert!(read(&message[..cut]).is_err(), "{cut}");
        }
        assert!(read(&[9, 0, 200, 200, 200]).is_err());
        assert!(read(&[99]).is_err());
        assert_eq!(read(&[5, 0, 0, 1]), Ok(None));
    }
}
