//! Messages for the tools of others: packets of capture files, and packets of HEP to Homer.

mod hep;
mod pcap;

use std::net::{IpAddr, SocketAddr};

use crate::route::Transport;

pub use hep::write_hep;
pub use pcap::PcapWriter;

/// A message that was received or sent, with what its packet has around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet<'a> {
    /// Microseconds since 1970 in UTC.
    pub micros: u64,
    /// The transport.
    pub transport: Transport,
    /// The socket or stream: those of a stream share the numbers of their octets.
    pub link: u32,
    /// The sender.
    pub source: SocketAddr,
    /// The receiver. Packets have addresses of one family: an address of IP version 4 is mapped where the other has version 6.
    pub destination: SocketAddr,
    /// The message.
    pub octets: &'a [u8],
}

/// Addresses of one family.
enum Addresses {
    V4([u8; 4], [u8; 4]),
    V6([u8; 16], [u8; 16]),
}

impl Packet<'_> {
    fn addresses(&self) -> Addresses {
        match (self.source.ip().to_canonical(), self.destination.ip().to_canonical()) {
            (IpAddr::V4(source), IpAddr::V4(destination)) => {
                Addresses::V4(source.octets(), destination.octets())
            }
            (source, destination) => {
                let mapped = |address| match address {
                    IpAddr::V4(address) => address.to_ipv6_mapped().octets(),
                    IpAddr::V6(address) => address.octets(),
                };
                Addresses::V6(mapped(source), mapped(destination))
            }
        }
    }

    const fn protocol(&self) -> u8 {
        match self.transport {
            Transport::Udp => 17,
            Transport::Tcp | Transport::Tls => 6,
            Transport::Sctp => 132,
        }
    }
}
