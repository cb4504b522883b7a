//! Packet captures: from the files of Wireshark and tcpdump to the ASN.1 messages in them.
//!
//! [`Capture`] reads pcap and pcapng files, follows the layers of each packet, puts fragments of IP and SCTP together, and
//! hands out whole messages: [`Event::Pdu`]. It decodes none of them; octets are exactly what a decoder takes. What cannot
//! be read is an [`Event::Fault`] that says where and why. [`Balance`] accounts for every packet. Memory does not grow with
//! the file.
//!
//! | layer | read |
//! |---|---|
//! | files | pcap (µs, ns), pcapng, both byte orders |
//! | links | Ethernet, Linux cooked 1 and 2, loopback, raw IP, PPP, Cisco HDLC, frame relay, IEEE 802.11; VLAN, MPLS, PPPoE |
//! | networks | IPv4 and IPv6 with extension headers and fragments; IP in IP, GRE, ERSPAN, GTP-U, VXLAN, GENEVE |
//! | transport | SCTP (DATA, I-DATA), also in UDP, UDP, TCP |
//! | carriers | TPKT and COTP, M2UA, M2PA, M3UA, SUA, MTP, SCCP, GTP′, GSMTAP, GeoNetworking, exported PDUs of Wireshark |
//!
//! ```
//! use tercet_capture::{Capture, Event, Options};
//!
//! // The header of a pcap file of Ethernet frames, without any.
//! let file = [0xD4, 0xC3, 0xB2, 0xA1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 1, 0, 0, 0];
//! let mut capture = Capture::new(&file[..], Options::default());
//! while capture.read_packet(&mut |event| match event {
//!     Event::Pdu(pdu) => println!("{} {} {}", pdu.frame, pdu.protocol.name, pdu.octets.len()),
//!     Event::Fault(fault) => eprintln!("{fault}"),
//!     _ => {}
//! })? {}
//! assert_eq!(capture.balance().packets, 0);
//! # Ok::<(), std::io::Error>(())
//! ```

mod balance;
mod batch;
mod ber;
mod capture;
mod decode_as;
mod event;
mod fault;
pub mod file;
mod layers;
mod protocol;
mod reassembly;
mod time;

pub use balance::Balance;
pub use batch::Batch;
pub use capture::{Capture, Options};
pub use decode_as::{DecodeAs, Field};
pub use event::{Endpoint, Event, Pdu, Sccp, SccpAddress, Stream, Transport, Unread};
pub use fault::Fault;
pub use protocol::{Protocol, Variant, protocol, protocol_and_type, protocols};
pub use time::Time;
