//! Where messages come from and go to.

use std::fmt;
use std::net::SocketAddr;

/// A transport of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Transport {
    /// Datagrams of UDP (H.248.1 D.1).
    Udp,
    /// A stream of TCP with TPKT headers (H.248.1 D.2).
    Tcp,
    /// Such a stream over TLS.
    Tls,
    /// An association of SCTP over UDP: each message is one of SCTP.
    Sctp,
}

impl Transport {
    /// The octets of the largest message.
    pub const fn max_message(self) -> usize {
        match self {
            // A datagram of IP has 65,535 octets with the headers of IP and UDP.
            Self::Udp => 65_507,
            // The length of TPKT counts its header of 4 octets. SCTP has no limit; what comes by it may go on by TCP.
            Self::Tcp | Self::Tls | Self::Sctp => 65_531,
        }
    }

    /// Returns whether the sender of a message can be anybody: streams and associations have been set up by both sides.
    pub(crate) const fn may_be_spoofed(self) -> bool {
        matches!(self, Self::Udp)
    }

    /// The name in URLs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Udp => "udp",
            Self::Tcp => "tcp",
            Self::Tls => "tls",
            Self::Sctp => "sctp",
        }
    }
}

/// A way to a peer: the engine compares routes and hands them back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Route {
    /// The transport.
    pub transport: Transport,
    /// The socket or stream of the driver.
    pub link: u32,
    /// The address of the peer; of SCTP its port there, not that of UDP.
    pub peer: SocketAddr,
}

impl fmt::Display for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.transport.name(), self.peer)
    }
}
