//! What reading a capture gives.

use crate::fault::Fault;
use crate::protocol::{Protocol, Variant};
use crate::reassembly::Frames;
use crate::time::Time;
use std::fmt;
use std::net::SocketAddr;
use std::ptr;
use std::sync::Arc;

/// An event of a capture.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// A message of a known protocol.
    Pdu(Pdu<'a>),
    /// A part that cannot be read.
    Fault(Fault),
}

/// A message: octets as a decoder takes them, without headers of what carries them.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Pdu<'a> {
    /// The frame that the last missing octet came in, from 1, as Wireshark counts.
    pub frame: u64,
    /// The time of that frame; `None` in Simple Packet Blocks of pcapng.
    pub time: Option<Time>,
    /// The number of the interface in its section of the file.
    pub interface: u32,
    /// The protocol.
    pub protocol: &'static Protocol,
    /// Which of the types of its messages it is, if what carries it, or a rule, says so.
    pub variant: Option<Arc<Variant>>,
    /// The message.
    pub octets: &'a [u8],
    /// The sender.
    pub source: Endpoint,
    /// The receiver.
    pub destination: Endpoint,
    /// The conversation; `None` where nothing above the link layer says which.
    pub stream: Option<Stream>,
    /// Octets are missing at the end: the capture has only the begin of the packet (snap length).
    pub partial: bool,
    /// It may be a copy of another one: GTP′ sends records once more after a fault.
    pub possible_duplicate: bool,
    /// The addresses of SCCP or SUA, if one of them carries it.
    pub sccp: Option<Arc<Sccp>>,
    pub(crate) names: &'a Names,
    pub(crate) frames: Frames,
}

/// The most names of layers that are kept.
const NAME_LIMIT: usize = 20;

/// Names of layers, the outermost first.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Names {
    names: [&'static str; NAME_LIMIT],
    count: usize,
}

impl Names {
    /// No layers.
    pub(crate) const NONE: Self = Self { names: [""; NAME_LIMIT], count: 0 };

    /// Adds a name, if it is one.
    pub(crate) fn push(&mut self, name: &'static str) {
        if !name.is_empty()
            && let Some(place) = self.names.get_mut(self.count)
        {
            *place = name;
            self.count += 1;
        }
    }
}

impl PartialEq for Names {
    /// Names are mostly the same text in memory: comparing their octets took half of the time of a list.
    fn eq(&self, other: &Self) -> bool {
        let (names, others) = (self.names.iter().take(self.count), other.names.iter().take(other.count));
        self.count == other.count
            && names.zip(others).all(|(one, other)| ptr::eq(*one, *other) || one == other)
    }
}

impl Eq for Names {}

impl Pdu<'_> {
    /// Returns the message with its octets and layers elsewhere.
    pub(crate) fn with<'b>(&self, octets: &'b [u8], names: &'b Names) -> Pdu<'b> {
        let Self { frame, time, interface, protocol, source, destination, stream, partial, .. } = *self;
        Pdu {
            frame,
            time,
            interface,
            protocol,
            variant: self.variant.clone(),
            octets,
            source,
            destination,
            stream,
            partial,
            possible_duplicate: self.possible_duplicate,
            sccp: self.sccp.clone(),
            names,
            frames: self.frames.clone(),
        }
    }

    /// Returns the frames that the message came in, in order; one where it came in a single packet.
    pub fn frames(&self) -> &[u64] {
        self.frames.numbers()
    }

    /// Returns the names of the layers that carry the message, the outermost first; of several frames, those of the last one.
    pub fn layers(&self) -> &[&'static str] {
        &self.names.names[..self.names.count]
    }
}

/// A sender or receiver: the innermost address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Endpoint {
    /// The capture has no addresses: a link of MTP, or an exported message.
    #[default]
    Unknown,
    /// An address of IP, with the port.
    Ip(SocketAddr),
    /// An address of Ethernet.
    Mac([u8; 6]),
}

impl fmt::Display for Endpoint {
    /// Prints `10.0.0.1:36412`, `[2001:db8::1]:38412`, `02:00:00:00:00:01` or `-`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => f.write_str("-"),
            Self::Ip(address) => address.fmt(f),
            Self::Mac([a, b, c, d, e, g]) => write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}"),
        }
    }
}

/// The addresses of SCCP (Q.713) or SUA (RFC 3868).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Sccp {
    /// The sender.
    pub calling: SccpAddress,
    /// The receiver.
    pub called: SccpAddress,
}

/// An address of SCCP; parts that it does not have are absent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct SccpAddress {
    /// The signalling point code; that of MTP if the address itself has none.
    pub point_code: Option<u32>,
    /// The subsystem number.
    pub ssn: Option<u8>,
    /// The digits of the global title.
    pub global_title: Option<String>,
}

/// A conversation, numbered in the order of their first packets, from 0 for each protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Stream {
    /// An association of SCTP, and the stream in it.
    Sctp {
        /// The number of the association.
        association: u64,
        /// The stream identifier.
        stream: u16,
    },
    /// Two sockets of UDP.
    Udp(u64),
    /// A connection of TCP.
    Tcp(u64),
}

impl fmt::Display for Stream {
    /// Prints `sctp:0/3` (association 0, stream 3), `udp:2` or `tcp:7`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sctp { association, stream } => write!(f, "sctp:{association}/{stream}"),
            Self::Udp(number) => write!(f, "udp:{number}"),
            Self::Tcp(number) => write!(f, "tcp:{number}"),
        }
    }
}

/// A transport whose ports signalling announces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Transport {
    /// TCP.
    Tcp,
    /// UDP.
    Udp,
}

/// Why a packet is not looked into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Unread {
    /// An unknown link type.
    LinkType(u32),
    /// An unknown Ethertype.
    EtherType(u16),
    /// An unknown protocol of IP.
    IpProtocol(u8),
    /// An unknown payload protocol identifier, on a port that says nothing.
    SctpPpid(u32),
    /// A port of UDP, the receiver's.
    UdpPort(u16),
    /// A port of TCP, the lower one of both.
    TcpPort(u16),
    /// A service indicator of MTP (Q.704) other than SCCP.
    ServiceIndicator(u8),
    /// A subsystem number of SCCP whose messages are neither TCAP nor RANAP.
    SccpSsn(u8),
    /// A type of GSMTAP.
    GsmtapType(u16),
    /// A port of the Basic Transport Protocol of intelligent transport systems.
    BtpPort(u16),
    /// A dissector that exported messages name, which is unknown here.
    Exported,
    /// A record format of GTP′.
    GtpPrimeFormat(u8),
}

impl Unread {
    /// Returns the begin of the rule that would find messages there: `tcp.port==30000`; `None` if there is no such rule.
    pub fn rule(&self) -> Option<String> {
        Some(match self {
            Self::LinkType(number) => format!("dlt=={number}"),
            Self::EtherType(number) => format!("ethertype=={number}"),
            Self::SctpPpid(number) => format!("sctp.ppid=={number}"),
            Self::UdpPort(number) => format!("udp.port=={number}"),
            Self::TcpPort(number) => format!("tcp.port=={number}"),
            Self::ServiceIndicator(number) => format!("m3ua.si=={number}"),
            Self::SccpSsn(number) => format!("sccp.ssn=={number}"),
            Self::GsmtapType(number) => format!("gsmtap.type=={number}"),
            Self::BtpPort(number) => format!("btp.port=={number}"),
            Self::GtpPrimeFormat(number) => format!("gtpp.format=={number}"),
            Self::IpProtocol(_) | Self::Exported => return None,
        })
    }
}

impl fmt::Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LinkType(number) => write!(f, "link type {number}"),
            Self::EtherType(number) => write!(f, "Ethertype {number:04x}"),
            Self::IpProtocol(number) => write!(f, "IP protocol {number}"),
            Self::SctpPpid(number) => write!(f, "SCTP payload protocol {number}"),
            Self::UdpPort(number) => write!(f, "UDP port {number}"),
            Self::TcpPort(number) => write!(f, "TCP port {number}"),
            Self::ServiceIndicator(number) => write!(f, "MTP service {number}"),
            Self::SccpSsn(number) => write!(f, "SCCP subsystem {number}"),
            Self::GsmtapType(number) => write!(f, "GSMTAP type {number}"),
            Self::BtpPort(number) => write!(f, "BTP port {number}"),
            Self::Exported => f.write_str("exported message of another protocol"),
            Self::GtpPrimeFormat(number) => write!(f, "GTP' record format {number}"),
        }
    }
}
