//! What carries messages above a transport: a loop over carriers, each a function from octets to the octets in them.

use super::{Layers, Path, Sink, exported, gsmtap, its, sigtran};
use crate::balance::End;
use crate::event::Unread;
use crate::protocol::Target;
use crate::reassembly::Frames;
use std::borrow::Cow;
use std::ops::Range;

/// The most carriers between a transport and a message.
const DEPTH_LIMIT: u8 = 8;

/// What the payload of a transport is.
#[derive(Clone, Debug)]
pub(super) enum Payload {
    /// A message.
    Message(Target),
    M2ua,
    M2pa,
    M3ua,
    Sua,
    Mtp2,
    Mtp3,
    Sccp,
    GtpPrime,
    Gsmtap,
    Exported,
    GeoNetworking,
}

impl From<Target> for Payload {
    fn from(target: Target) -> Self {
        if target.protocol.name == "gtpp" { Self::GtpPrime } else { Self::Message(target) }
    }
}

impl Payload {
    /// Returns the name of a carrier.
    fn name(&self) -> &'static str {
        match self {
            Self::Message(_) => "",
            Self::M2ua => "m2ua",
            Self::M2pa => "m2pa",
            Self::M3ua => "m3ua",
            Self::Sua => "sua",
            Self::Mtp2 => "mtp2",
            Self::Mtp3 => "mtp3",
            Self::Sccp => "sccp",
            Self::GtpPrime => "gtp'",
            Self::Gsmtap => "gsmtap",
            Self::Exported => "exported pdu",
            Self::GeoNetworking => "geonetworking",
        }
    }

    /// Returns what a message of SCTP carries, by its payload protocol identifier, or by the ports of SIGTRAN.
    pub(super) fn of_sctp(ppid: u32, ports: (u16, u16)) -> Option<Self> {
        let is = |port| ports.0 == port || ports.1 == port;
        Some(match ppid {
            2 => Self::M2ua,
            3 => Self::M3ua,
            4 => Self::Sua,
            5 => Self::M2pa,
            0 if is(2904) => Self::M2ua,
            0 if is(2905) => Self::M3ua,
            0 if is(14001) => Self::Sua,
            0 if is(3565) => Self::M2pa,
            _ => return None,
        })
    }

    /// Returns what a datagram of UDP carries: registration of H.225.0 has another type than calls.
    pub(super) fn of_datagram(target: Target, source: u16, destination: u16) -> Self {
        if target.protocol.name == "h225" && target.variant.is_none() && [source, destination].contains(&1719)
        {
            return Target::of("h225", "ras").map_or(Self::Message(target), Self::Message);
        }
        target.into()
    }
}

/// What a carrier finds.
#[derive(Debug)]
pub(super) enum Carried {
    /// A payload, and where it is.
    On(Payload, Range<usize>),
    /// A payload that segments have made whole.
    Whole(Payload, Vec<u8>, Frames),
    End(End),
    Unread(Unread),
    Bad(&'static str, Cow<'static, str>),
}

impl Carried {
    pub(super) fn bad(layer: &'static str, reason: impl Into<Cow<'static, str>>) -> Self {
        Self::Bad(layer, reason.into())
    }
}

impl Layers {
    /// Follows carriers to the messages.
    pub(super) fn payload(&mut self, first: Payload, octets: &[u8], path: &mut Path, sink: Sink<'_>) -> End {
        let (mut payload, mut octets) = (first, Cow::Borrowed(octets));
        let mut range = 0..octets.len();
        for _ in 0..DEPTH_LIMIT {
            let at_hand = octets.get(range.clone()).unwrap_or_default();
            path.names.push(payload.name());
            let carried = match payload {
                Payload::Message(target) => {
                    if at_hand.is_empty() {
                        return End::Nothing;
                    }
                    self.pdu(path, target, at_hand, false, sink);
                    return End::Pdu;
                }
                Payload::GtpPrime => return self.gtp_prime(at_hand, path, sink),
                Payload::M2ua => sigtran::m2ua(at_hand),
                Payload::M2pa => sigtran::m2pa(at_hand),
                Payload::M3ua => sigtran::m3ua(at_hand, path, &self.lookup),
                Payload::Sua => sigtran::sua(at_hand, path, &self.lookup),
                Payload::Mtp2 => sigtran::mtp2(at_hand),
                Payload::Mtp3 => sigtran::mtp3(at_hand, path, &self.lookup),
                Payload::Sccp => self.sccp(at_hand, path),
                Payload::Gsmtap => gsmtap::gsmtap(at_hand, &self.lookup),
                Payload::Exported => exported::exported(at_hand, path),
                Payload::GeoNetworking => its::geo_networking(at_hand, &self.lookup),
            };
            match carried {
                Carried::On(next, inside) => {
                    payload = next;
                    let end = (range.start + inside.end).min(range.end);
                    range = (range.start + inside.start).min(end)..end;
                }
                Carried::Whole(next, whole, frames) => {
                    payload = next;
                    range = 0..whole.len();
                    octets = Cow::Owned(whole);
                    path.frames = frames;
                }
                Carried::End(end) => return end,
                Carried::Unread(reason) => {
                    self.balance.count_unread(reason);
                    return End::Unread;
                }
                Carried::Bad(layer, reason) => {
                    self.fault(path, layer, reason, sink);
                    return End::Bad;
                }
            }
        }
        self.fault(path, "packet", format!("more than {DEPTH_LIMIT} carriers").into(), sink);
        End::Bad
    }
}
