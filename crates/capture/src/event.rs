//! What reading a capture gives.

use crate::fault::Fault;
use crate::protocol::Protocol;
use crate::reassembly::Frames;
use crate::time::Time;
use std::fmt;
use std::net::SocketAddr;

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
    /// The message.
    pub octets: &'a [u8],
    /// The sender.
    pub source: SocketAddr,
    /// The receiver.
    pub destination: SocketAddr,
    /// The conversation.
    pub stream: Stream,
    /// Octets are missing at the end: the capture has only the begin of the packet (snap length).
    pub partial: bool,
    pub(crate) frames: Frames,
}

impl Pdu<'_> {
    /// Returns the frames that the message came in, in order; one where it came in a single packet.
    pub fn frames(&self) -> &[u64] {
        self.frames.numbers()
    }
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
}

impl fmt::Display for Stream {
    /// Prints `sctp:0/3` (association 0, stream 3) or `udp:2`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sctp { association, stream } => write!(f, "sctp:{association}/{stream}"),
            Self::Udp(number) => write!(f, "udp:{number}"),
        }
    }
}

/// Why a packet is not looked into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Unread {
    /// An unknown link type.
    LinkType(u32),
    /// An unknown Ethertype.
    EtherType(u16),
    /// An unknown protocol of IP; TCP is 6.
    IpProtocol(u8),
    /// An unknown payload protocol identifier, on a port that says nothing.
    SctpPpid(u32),
    /// A port of UDP, the receiver's.
    UdpPort(u16),
}

impl fmt::Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LinkType(number) => write!(f, "link type {number}"),
            Self::EtherType(number) => write!(f, "Ethertype {number:04x}"),
            Self::IpProtocol(6) => f.write_str("TCP"),
            Self::IpProtocol(number) => write!(f, "IP protocol {number}"),
            Self::SctpPpid(number) => write!(f, "SCTP payload protocol {number}"),
            Self::UdpPort(number) => write!(f, "UDP port {number}"),
        }
    }
}
