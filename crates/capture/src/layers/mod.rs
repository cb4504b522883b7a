//! From a packet to the messages in it: a loop over layers, none of which calls another.

mod carried;
mod exported;
mod framing;
mod gsmtap;
mod gtp_prime;
mod ip;
mod its;
mod link;
mod sccp;
mod sctp;
mod sigtran;
mod tcp;
mod tunnel;
mod udp;

use crate::balance::{Balance, End};
use crate::decode_as::{Field, Lookup};
use crate::event::{Endpoint, Event, Names, Pdu, Sccp, Stream, Transport, Unread};
use crate::fault::Fault;
use crate::file::Packet;
use crate::protocol::{Protocol, Target, by_contents};
use crate::reassembly::recent::Recent;
use crate::reassembly::{Budget, Frames};
use crate::reassembly::{
    ip as ip_fragments, sccp as sccp_segments, sctp as sctp_fragments, tcp as tcp_streams,
};
use crate::time::Time;
use carried::Payload;
pub(crate) use sccp::Node;
use std::borrow::Cow;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

/// The most layers of a packet, extension headers of IPv6 and tags of VLANs with them.
const DEPTH_LIMIT: u8 = 16;
/// The most directions of associations, and conversations of UDP, that are remembered.
const CONVERSATION_LIMIT: usize = 1 << 14;

/// Takes an event.
pub(crate) type Sink<'s> = &'s mut dyn FnMut(Event<'_>);

/// What the octets after a header are.
#[derive(Clone, Debug)]
enum Next {
    Link(u32),
    EtherType(u16),
    Mpls,
    Ppp,
    /// IP of either version, as the first four bits tell.
    Ip,
    Ipv4,
    Ipv6,
    /// A protocol number of IP.
    Protocol(u8),
    GtpU,
    /// Messages, and what carries them above a transport.
    Payload(Payload),
}

impl Next {
    /// Returns the name of the layer; nothing for one that only chooses another.
    fn name(&self) -> &'static str {
        match self {
            Self::Link(1) => "ethernet",
            Self::Link(113 | 276) => "linux cooked",
            Self::Link(0 | 108) => "loopback",
            Self::Link(105 | 127) => "802.11",
            Self::EtherType(0x8100 | 0x88A8 | 0x9100) => "vlan",
            Self::EtherType(0x8864) => "pppoe",
            Self::EtherType(0x88B8 | 0x88BA) => "iec 61850",
            Self::Mpls => "mpls",
            Self::Ppp => "ppp",
            Self::Ipv4 => "ipv4",
            Self::Ipv6 => "ipv6",
            Self::Protocol(6) => "tcp",
            Self::Protocol(17) => "udp",
            Self::Protocol(136) => "udp-lite",
            Self::Protocol(132) => "sctp",
            Self::Protocol(44) => "fragment",
            Self::Protocol(47) => "gre",
            Self::Protocol(51) => "ah",
            Self::GtpU => "gtp-u",
            Self::Link(_) | Self::EtherType(_) | Self::Ip | Self::Protocol(_) | Self::Payload(_) => "",
        }
    }
}

/// What a layer finds.
#[derive(Debug)]
enum Step {
    /// Another layer, after a header of `header` octets, of `length` octets at most.
    On {
        next: Next,
        header: usize,
        length: usize,
    },
    /// The payload of fragments, which are whole now.
    Whole(Next, Vec<u8>, Frames),
    End(End),
    Unread(Unread),
    Bad(&'static str, Cow<'static, str>),
}

impl Step {
    fn on(next: Next, header: usize) -> Self {
        Self::On { next, header, length: usize::MAX }
    }

    fn bad(layer: &'static str, reason: impl Into<Cow<'static, str>>) -> Self {
        Self::Bad(layer, reason.into())
    }
}

/// Where a packet is, and what its headers so far have said.
#[derive(Debug)]
struct Path {
    frame: u64,
    frames: Frames,
    time: Option<Time>,
    interface: u32,
    /// Offset in the file of the layer at hand.
    offset: u64,
    /// The capture lacks the end of the packet.
    cut: bool,
    vlan: u64,
    depth: u8,
    source: IpAddr,
    destination: IpAddr,
    /// The addresses of the innermost layer that has some.
    from: Endpoint,
    to: Endpoint,
    stream: Option<Stream>,
    /// The payload of the transport is cut.
    partial: bool,
    /// Point codes of MTP: the sender's and the receiver's.
    points: [Option<u32>; 2],
    sccp: Option<Arc<Sccp>>,
    /// The names of the layers so far.
    names: Names,
}

impl Path {
    /// Notes the sockets of a transport.
    fn set_ports(&mut self, source: u16, destination: u16) {
        self.from = Endpoint::Ip(SocketAddr::new(self.source, source));
        self.to = Endpoint::Ip(SocketAddr::new(self.destination, destination));
    }
}

/// All that is remembered from packet to packet.
#[derive(Debug)]
pub(crate) struct Layers {
    pub(crate) lookup: Lookup,
    pub(crate) balance: Balance,
    budget: Budget,
    ip_fragments: ip_fragments::Fragments,
    sctp_fragments: sctp_fragments::Fragments,
    sccp_segments: sccp_segments::Segments,
    tcp_streams: tcp_streams::Streams<tcp::Conversation>,
    /// What references of SCCP connections carry, by the node that gave them out.
    sccp_connections: Recent<(u32, Node), Target>,
    directions: Recent<sctp::DirectionKey, sctp::Direction>,
    /// Associations of which one direction is known, by the addresses of the other one.
    mates: Recent<(SocketAddr, SocketAddr), u64>,
    conversations: Recent<(SocketAddr, SocketAddr), u64>,
    /// Sockets that signalling has announced, and what they carry.
    expected: Recent<(Transport, SocketAddr), &'static Protocol>,
    expects_any: bool,
    next_association: u64,
    next_direction: u64,
    next_conversation: u64,
    next_connection: u64,
}

impl Layers {
    pub(crate) fn new(lookup: Lookup, memory_limit: usize) -> Self {
        Self {
            lookup,
            balance: Balance::default(),
            budget: Budget::new(memory_limit),
            ip_fragments: ip_fragments::Fragments::default(),
            sctp_fragments: sctp_fragments::Fragments::default(),
            sccp_segments: sccp_segments::Segments::default(),
            tcp_streams: tcp_streams::Streams::default(),
            sccp_connections: Recent::new(CONVERSATION_LIMIT),
            directions: Recent::new(CONVERSATION_LIMIT),
            mates: Recent::new(CONVERSATION_LIMIT),
            conversations: Recent::new(CONVERSATION_LIMIT),
            expected: Recent::new(CONVERSATION_LIMIT),
            expects_any: false,
            next_association: 0,
            next_direction: 0,
            next_conversation: 0,
            next_connection: 0,
        }
    }

    /// Expects messages of a protocol at a socket.
    pub(crate) fn expect_messages(
        &mut self,
        transport: Transport,
        socket: SocketAddr,
        protocol: &'static Protocol,
    ) {
        self.expected.insert((transport, socket), protocol);
        self.expects_any = true;
    }

    /// Returns the protocol that is expected at one of two sockets.
    fn expected(&mut self, transport: Transport, sockets: [SocketAddr; 2]) -> Option<Target> {
        if !self.expects_any {
            return None;
        }
        sockets.into_iter().find_map(|socket| {
            let protocol: &'static Protocol = self.expected.get((transport, socket))?;
            Some(Target::from(protocol))
        })
    }

    /// Takes a packet apart and reports what is in it.
    pub(crate) fn packet(&mut self, packet: &Packet<'_>, sink: Sink<'_>) {
        let mut path = Path {
            frame: packet.frame,
            time: packet.time,
            interface: packet.interface,
            offset: packet.offset,
            cut: (packet.octets.len() as u64) < u64::from(packet.original_length),
            ..Path::of_frame(packet.frame)
        };
        self.balance.octets += u64::from(packet.original_length);
        *self.balance.link_types.entry(packet.link_type).or_default() += 1;
        self.balance.first = self.balance.first.into_iter().chain(packet.time).min();
        self.balance.last = self.balance.last.into_iter().chain(packet.time).max();
        let mut walked = self.walk(&mut path, Next::Link(packet.link_type), packet.octets, sink);
        let end = loop {
            walked = match walked {
                Ok(end) => break end,
                Err((next, octets)) => self.walk(&mut path, next, &octets, sink),
            };
        };
        self.balance.count(end);
        self.make_room();
        self.count();
    }

    /// Hands out what waits for octets that will not come any more: the capture is at its end.
    pub(crate) fn finish(&mut self, sink: Sink<'_>) {
        self.finish_tcp(sink);
        self.count();
    }

    /// Takes over what reassembly has counted.
    fn count(&mut self) {
        let (ip, sctp) = (self.ip_fragments.counts, self.sctp_fragments.counts);
        let (sccp, tcp) = (self.sccp_segments.counts, self.tcp_streams.counts);
        self.balance.overlapping = ip.overlapping + tcp.overlapping;
        self.balance.reassembled = ip.whole + sctp.whole + sccp.whole;
        self.balance.given_up = ip.given_up + sctp.given_up + sccp.given_up + tcp.given_up;
        self.balance.incomplete =
            (self.ip_fragments.len() + self.sctp_fragments.len() + self.sccp_segments.len()) as u64;
    }

    /// Follows layers to the end, or to a payload that fragments have made whole.
    fn walk(
        &mut self,
        path: &mut Path,
        mut next: Next,
        mut octets: &[u8],
        sink: Sink<'_>,
    ) -> Result<End, (Next, Vec<u8>)> {
        loop {
            path.depth += 1;
            path.names.push(next.name());
            let step = if path.depth > DEPTH_LIMIT {
                Step::bad("packet", format!("more than {DEPTH_LIMIT} layers"))
            } else {
                match next {
                    Next::Link(link_type) => self.link(link_type, octets, path),
                    Next::EtherType(ether_type) => self.ether_type(ether_type, octets, path),
                    Next::Mpls => tunnel::mpls(octets),
                    Next::Ppp => link::ppp(octets),
                    Next::Ip => ip::either(octets),
                    Next::Ipv4 => self.ipv4(octets, path),
                    Next::Ipv6 => ip::ipv6(octets, path),
                    Next::Protocol(6) => self.tcp(octets, path, sink),
                    Next::Protocol(17 | 136) => self.udp(octets, path),
                    Next::Protocol(132) => self.sctp(octets, path, sink),
                    Next::Protocol(44) => self.ipv6_fragment(octets, path),
                    Next::Protocol(protocol) => ip::protocol(protocol, octets),
                    Next::GtpU => tunnel::gtp_u(octets),
                    Next::Payload(payload) => Step::End(self.payload(payload, octets, path, sink)),
                }
            };
            match step {
                Step::On { next: after, header, length } => {
                    next = after;
                    octets = octets.get(header..).unwrap_or_default();
                    octets = &octets[..octets.len().min(length)];
                    path.offset += header as u64;
                }
                Step::Whole(next, octets, frames) => {
                    path.frames = frames;
                    path.cut = false;
                    return Err((next, octets));
                }
                Step::End(end) => return Ok(end),
                Step::Unread(reason) => {
                    self.balance.count_unread(reason);
                    return Ok(End::Unread);
                }
                Step::Bad(layer, reason) => {
                    self.fault(path, layer, reason, sink);
                    return Ok(End::Bad);
                }
            }
        }
    }

    /// Reports a fault of the layer at hand.
    fn fault(&mut self, path: &Path, layer: &'static str, reason: Cow<'static, str>, sink: Sink<'_>) {
        self.balance.faults += 1;
        sink(Event::Fault(Fault { frame: Some(path.frame), layer, offset: path.offset, reason }));
    }

    /// Reports a message.
    fn pdu(&mut self, path: &Path, target: Target, octets: &[u8], possible_duplicate: bool, sink: Sink<'_>) {
        self.balance.pdus += 1;
        let Target { protocol, variant } = by_contents(target, octets);
        sink(Event::Pdu(Pdu {
            frame: path.frame,
            time: path.time,
            interface: path.interface,
            protocol,
            variant,
            octets,
            source: path.from,
            destination: path.to,
            stream: path.stream,
            partial: path.partial,
            possible_duplicate,
            sccp: path.sccp.clone(),
            names: &path.names,
            frames: path.frames.clone(),
        }));
    }

    /// Gives up what waits for longest until the rest fits into the limit of memory.
    fn make_room(&mut self) {
        while self.budget.used > self.budget.limit {
            let ages = [
                self.ip_fragments.oldest(),
                self.sctp_fragments.oldest(),
                self.sccp_segments.oldest(),
                self.tcp_streams.oldest(),
            ];
            let oldest = ages.iter().enumerate().filter_map(|(at, age)| age.map(|age| (age, at))).min();
            match oldest {
                Some((_, 0)) => self.ip_fragments.give_up_oldest(&mut self.budget),
                Some((_, 1)) => self.sctp_fragments.give_up_oldest(&mut self.budget),
                Some((_, 2)) => self.sccp_segments.give_up_oldest(&mut self.budget),
                Some(_) => self.tcp_streams.give_up_oldest(&mut self.budget),
                None => break,
            }
        }
    }
}

impl Path {
    /// Returns the path of a frame of which nothing else is known.
    fn of_frame(frame: u64) -> Self {
        Self {
            frame,
            frames: Frames::One(frame),
            time: None,
            interface: 0,
            offset: 0,
            cut: false,
            vlan: 0,
            depth: 0,
            source: Ipv4Addr::UNSPECIFIED.into(),
            destination: Ipv4Addr::UNSPECIFIED.into(),
            from: Endpoint::Unknown,
            to: Endpoint::Unknown,
            stream: None,
            partial: false,
            points: [None; 2],
            sccp: None,
            names: Names::default(),
        }
    }
}

/// Reads two octets, in network order.
fn u16_at(octets: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(*octets.get(at..)?.first_chunk()?))
}

/// Reads four octets, in network order.
fn u32_at(octets: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(*octets.get(at..)?.first_chunk()?))
}
