//! Where messages begin and end in a stream of TCP.

use super::{u16_at, u32_at};
use crate::ber;
use crate::protocol::{Target, protocol};
use std::ops::Range;

/// The most octets of a message.
pub(super) const MESSAGE_LIMIT: usize = 1 << 20;

/// How messages follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Framing {
    /// Elements of BER: LDAP, SNMP. After a bind, LDAP may have buffers of SASL with four octets of length.
    Ldap,
    Snmp,
    /// Four octets of length before each message: Kerberos (RFC 4120 §7.2.2).
    Marked,
    /// Two octets of length that the message begins with: ULP.
    Prefixed,
    /// Packets of RFC 1006: H.248, H.245, calls of H.225.0 in Q.931, MMS over COTP.
    Tpkt(Inside),
    /// Messages of GTP′.
    GtpPrime,
    /// Records of TLS, in which certificates are.
    Tls,
}

/// What packets of RFC 1006 have in them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Inside {
    Message,
    Q931,
    Cotp,
}

/// What a stream has next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// More octets are needed.
    More,
    /// A message, or what carries it, of so many octets; the message is in the range.
    Unit { total: usize, message: Range<usize> },
    /// Octets to pass over.
    Skip(usize),
    /// The stream is another one from here on.
    Other(Framing),
    /// No message begins here.
    Lost,
}

impl Framing {
    /// Returns how messages of a protocol follow each other.
    pub(super) fn of(target: &Target) -> Option<Self> {
        Some(match &*target.protocol.name {
            "ldap" => Self::Ldap,
            "snmp" => Self::Snmp,
            "kerberos" => Self::Marked,
            "ulp" => Self::Prefixed,
            "h248" | "h248-text" | "h245" | "t38" => Self::Tpkt(Inside::Message),
            "h225" => Self::Tpkt(Inside::Q931),
            "mms" => Self::Tpkt(Inside::Cotp),
            "gtpp" => Self::GtpPrime,
            "x509" => Self::Tls,
            _ => return None,
        })
    }

    /// Returns the name of the layer between TCP and messages.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Ldap | Self::Snmp | Self::Marked | Self::Prefixed => "",
            Self::Tpkt(Inside::Message) => "tpkt",
            Self::Tpkt(Inside::Q931) => "tpkt, q.931",
            Self::Tpkt(Inside::Cotp) => "tpkt, cotp",
            Self::GtpPrime => "gtp'",
            Self::Tls => "tls",
        }
    }

    /// Looks at the begin of what has not been read.
    pub(super) fn next(self, octets: &[u8]) -> Found {
        match self {
            Self::Ldap => ldap(octets),
            Self::Snmp => snmp(octets),
            Self::Marked => match u32_at(octets, 0) {
                None => {
                    if octets.first().is_some_and(|&first| first != 0) {
                        Found::Lost
                    } else {
                        Found::More
                    }
                }
                // The first bit is reserved for extensions.
                Some(length) if length == 0 || length as usize > MESSAGE_LIMIT => Found::Lost,
                Some(length) => match octets.get(4) {
                    // Tags of applications are those of messages.
                    Some(tag) if tag & 0xE0 == 0x60 => unit(octets, 4, length as usize),
                    Some(_) => Found::Lost,
                    None => Found::More,
                },
            },
            Self::Prefixed => match u16_at(octets, 0) {
                None => Found::More,
                Some(length) if length < 8 => Found::Lost,
                Some(length) => unit(octets, 0, length.into()),
            },
            Self::Tpkt(_) => match octets {
                [3, 0, high, low, ..] => match usize::from(u16::from_be_bytes([*high, *low])) {
                    0..=3 => Found::Lost,
                    4 => Found::Skip(4),
                    length => unit(octets, 4, length - 4),
                },
                [] | [3] | [3, 0] | [3, 0, _] => Found::More,
                _ => Found::Lost,
            },
            Self::GtpPrime => match octets {
                [flags, _, high, low, ..] if flags & 0x10 == 0 && flags >> 5 <= 2 => {
                    let header = if flags >> 5 == 0 && flags & 1 == 0 { 20 } else { 6 };
                    unit(octets, 0, header + usize::from(u16::from_be_bytes([*high, *low])))
                }
                [_, _, _, _, ..] => Found::Lost,
                _ => Found::More,
            },
            Self::Tls => match octets {
                [20..=23, 3, 0..=4, high, low, ..] => {
                    unit(octets, 5, usize::from(u16::from_be_bytes([*high, *low])))
                }
                [20..=23, 3] | [20..=23, 3, 0..=4] | [20..=23, 3, 0..=4, _] | [20..=23] | [] => Found::More,
                _ => Found::Lost,
            },
        }
    }
}

/// Returns a message of `length` octets after a header.
fn unit(octets: &[u8], header: usize, length: usize) -> Found {
    if octets.len() < header + length {
        return Found::More;
    }
    Found::Unit { total: header + length, message: header..header + length }
}

/// Looks for a message of LDAP (RFC 4511 §5.1), a buffer of SASL (RFC 4422 §3.7) or a record of TLS.
fn ldap(octets: &[u8]) -> Found {
    match octets {
        [0x30, ..] => match operation(octets) {
            Plausible::Yes(total) => unit(octets, 0, total),
            Plausible::Unknown => Found::More,
            Plausible::No => Found::Lost,
        },
        // StartTLS has begun a handshake, or the capture begins after it.
        octets if is_handshake(octets) => Found::Other(Framing::Tls),
        [23, 3, 0..=4, ..] => Found::Other(Framing::Tls),
        [22, 3] | [22, 3, 0..=4] | [22, 3, 0..=4, _] | [22, 3, 0..=4, _, _] => Found::More,
        [0, _, _, _, rest @ ..] => {
            let length = u32_at(octets, 0).map_or(0, |it| it as usize);
            match sasl(rest) {
                _ if !(8..=MESSAGE_LIMIT).contains(&length) => Found::Lost,
                None => Found::More,
                Some(false) => Found::Lost,
                Some(true) if rest.len() < length => Found::More,
                Some(true) => match opened(&rest[..length]) {
                    Some(message) => {
                        Found::Unit { total: 4 + length, message: 4 + message.start..4 + message.end }
                    }
                    None => Found::Skip(4 + length),
                },
            }
        }
        [] | [0] | [0, _] | [0, _, _] | [22] => Found::More,
        _ => Found::Lost,
    }
}

/// Returns whether a buffer has a token of Kerberos (RFC 4121), of GSS-API (RFC 2743), or of NTLM; nothing if it is cut.
/// Other mechanisms have no mark of their own.
fn sasl(octets: &[u8]) -> Option<bool> {
    match octets {
        [5, 4, ..] | [0x60, ..] | [1, 0, 0, 0, ..] => Some(true),
        [] | [5] | [1] | [1, 0] | [1, 0, 0] => None,
        _ => Some(octets.len() >= 8),
    }
}

/// Returns where the message is in a buffer that is signed but not encrypted.
fn opened(buffer: &[u8]) -> Option<Range<usize>> {
    // A token of Kerberos: flags, with 2 for encrypted; the message begins after 16 octets, where nothing is rotated.
    let begin = match buffer {
        [5, 4, flags, 0xFF, _, _, 0, 0, ..] if flags & 2 == 0 => 16,
        // A signature of NTLM has 16 octets.
        [1, 0, 0, 0, ..] => 16,
        _ => return None,
    };
    let inside = buffer.get(begin..)?;
    match operation(inside) {
        Plausible::Yes(total) if total <= inside.len() => Some(begin..begin + total),
        _ => None,
    }
}

/// Whether octets can be the begin of a message.
enum Plausible {
    /// They can, and it has so many octets.
    Yes(usize),
    No,
    /// There are too few.
    Unknown,
}

/// Checks the begin of a message of LDAP: a SEQUENCE, the number of the message, an operation that fits into it.
fn operation(octets: &[u8]) -> Plausible {
    let Some(outer) = ber::header(octets) else {
        return if octets.len() < 6 { Plausible::Unknown } else { Plausible::No };
    };
    if outer.tag != 0x30 || outer.contents > MESSAGE_LIMIT {
        return Plausible::No;
    }
    let inside = &octets[outer.length..];
    let (Some(&tag), Some(&length)) = (inside.first(), inside.get(1)) else { return Plausible::Unknown };
    if tag != 2 || !(1..=5).contains(&length) {
        return Plausible::No;
    }
    let Some(rest) = inside.get(2 + usize::from(length)..).filter(|rest| !rest.is_empty()) else {
        return Plausible::Unknown;
    };
    if !matches!(rest[0], 0x60 | 0x61 | 0x42 | 0x63..=0x69 | 0x4A | 0x6B..=0x6F | 0x50 | 0x73 | 0x77..=0x79) {
        return Plausible::No;
    }
    match ber::header(rest) {
        Some(header) if 2 + usize::from(length) + header.total() > outer.contents => Plausible::No,
        Some(_) => Plausible::Yes(outer.total()),
        None if rest.len() < 6 => Plausible::Unknown,
        None => Plausible::No,
    }
}

/// Checks the begin of a message of SNMP: a SEQUENCE, and the version.
fn snmp(octets: &[u8]) -> Found {
    let Some(outer) = ber::header(octets) else {
        return if octets.len() < 6 && octets.first().is_none_or(|&tag| tag == 0x30) {
            Found::More
        } else {
            Found::Lost
        };
    };
    if outer.tag != 0x30 || outer.contents > MESSAGE_LIMIT {
        return Found::Lost;
    }
    match octets[outer.length..] {
        [2, 1, 0 | 1 | 3, ..] => unit(octets, 0, outer.total()),
        [] | [2] | [2, 1] => Found::More,
        _ => Found::Lost,
    }
}

/// Returns where the user-user information element of a message of Q.931 has the message of H.225.0 (§7.2.2.31).
pub(super) fn q931(octets: &[u8]) -> Option<Range<usize>> {
    // Protocol discriminator, call reference, message type.
    let reference = usize::from(*octets.get(1)? & 15);
    if *octets.first()? != 8 {
        return None;
    }
    let mut at = 2 + reference + 1;
    while let Some(&element) = octets.get(at) {
        // Elements of one octet have the first bit.
        if element & 0x80 != 0 {
            at += 1;
            continue;
        }
        if element == 0x7E {
            let length = usize::from(u16_at(octets, at + 1)?);
            let range = at + 4..(at + 3 + length).min(octets.len());
            // The discriminator of the contents: X.208 and X.209.
            return (octets.get(at + 3) == Some(&5) && !range.is_empty()).then_some(range);
        }
        at += 2 + usize::from(*octets.get(at + 1)?);
    }
    None
}

/// Returns which data a transport data unit of COTP (RFC 905 §13) has, and whether it is the last one; `None` for other units.
pub(super) fn cotp(octets: &[u8]) -> Option<(Range<usize>, bool)> {
    match octets {
        [length, 0xF0..=0xFF, flags, ..] if *length >= 2 => {
            let begin = 1 + usize::from(*length);
            (begin <= octets.len()).then_some((begin..octets.len(), flags & 0x80 != 0))
        }
        _ => None,
    }
}

/// Returns the message of MMS in a session protocol data unit (X.225): presentation data, or user information of ACSE.
/// Some stacks leave both layers out.
pub(super) fn mms(octets: &[u8]) -> Option<&[u8]> {
    let user_data = match octets {
        [0x80..=0xBF, ..] => {
            return ber::element(octets).filter(|(_, _, rest)| rest.is_empty()).map(|_| octets);
        }
        // Give tokens and data transfer.
        [1, 0, 1, 0, rest @ ..] => rest,
        // Connect, accept, and what ends a connection: parameters, of which one is the user data.
        [0x0D | 0x0E | 0x09 | 0x0A | 0x19, ..] => {
            let (header, length) = session_length(octets.get(1..)?)?;
            parameters(octets.get(1 + header..)?.get(..length).or_else(|| octets.get(1 + header..))?)?
        }
        _ => return None,
    };
    presentation(user_data)
}

/// Reads a length of the session layer: an octet, or FF and two octets.
fn session_length(octets: &[u8]) -> Option<(usize, usize)> {
    match octets {
        [0xFF, high, low, ..] => Some((3, usize::from(u16::from_be_bytes([*high, *low])))),
        [length, ..] => Some((1, usize::from(*length))),
        [] => None,
    }
}

/// Finds the user data among parameters of the session layer.
fn parameters(mut octets: &[u8]) -> Option<&[u8]> {
    while let Some((&code, rest)) = octets.split_first() {
        let (header, length) = session_length(rest)?;
        let value = rest.get(header..header + length)?;
        if matches!(code, 0xC1 | 0xC2) {
            return Some(value);
        }
        octets = &rest[header + length..];
    }
    None
}

/// Finds the message in user data of the presentation layer (X.226), or in CP and CPA.
fn presentation(octets: &[u8]) -> Option<&[u8]> {
    let (header, contents, _) = ber::element(octets)?;
    let list = match header.tag {
        0x61 => contents,
        // The normal mode parameters of CP and CPA, and in them the user data.
        0x31 => ber::find(ber::find(contents, 0xA2)?, 0x61)?,
        // Abort and release have them in an alternative.
        0xA0 => ber::find(contents, 0x61)?,
        _ => return None,
    };
    let mut list = list;
    while let Some((_, item, rest)) = ber::element(list) {
        if let Some(value) = ber::find(item, 0xA0)
            && let Some(message) = application(value)
        {
            return Some(message);
        }
        list = rest;
    }
    None
}

/// Returns a message of MMS, or the one in the user information of ACSE (X.227).
fn application(octets: &[u8]) -> Option<&[u8]> {
    match *octets.first()? {
        // Association request and response.
        0x60 | 0x61 => {
            let contents = ber::element(octets)?.1;
            // EXTERNAL, with a single ASN.1 type.
            ber::find(ber::find(ber::find(contents, 0xBE)?, 0x28)?, 0xA0)
        }
        // Release and abort have none.
        0x62..=0x64 => None,
        _ => Some(octets),
    }
}

/// Returns the certificates in a message of the handshake of TLS up to 1.2 (RFC 5246 §7.4.2).
pub(super) fn certificates(message: &[u8]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    if message.first() != Some(&11) {
        return found;
    }
    // The type and its length, then the length of the list.
    let length = |at: usize| u32_at(message, at).map(|number| (number >> 8) as usize);
    let mut at = 7;
    while let Some(length) = length(at).filter(|&it| it > 0 && at + 3 + it <= message.len()) {
        found.push(at + 3..at + 3 + length);
        at += 3 + length;
    }
    found
}

/// Returns whether octets begin with a handshake of TLS: the record, and a greeting of the client or the server.
pub(super) fn is_handshake(octets: &[u8]) -> bool {
    matches!(octets, [22, 3, 0..=4, _, _, 1 | 2, ..])
}

/// Returns the protocol of certificates.
pub(super) fn x509() -> Option<Target> {
    protocol("x509").map(Target::from)
}
