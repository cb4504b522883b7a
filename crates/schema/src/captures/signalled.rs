//! Sockets that signalling announces: H.245 at addresses of H.225.0, T.38 at those of H.245.

use std::net::{IpAddr, SocketAddr};
use tercet_capture::{Protocol, Stream, Transport, protocol};
use tercet_dynamic::{FieldId, Leaf, Token, View};
use tercet_plan::Shape;

/// A socket where messages of a protocol are expected.
pub type Signalled = (Transport, SocketAddr, &'static Protocol);

/// The most logical channels of facsimile that wait for their address.
const CHANNEL_LIMIT: usize = 1 << 10;

/// Follows signalling from message to message.
#[derive(Debug, Default)]
pub struct Signalling {
    /// Logical channels of facsimile whose receiver has not said its address yet: the acknowledgement only has the number.
    channels: Vec<(Option<Stream>, i64)>,
}

/// An address in a message: what announces it, and its parts as far as they came.
#[derive(Debug, Default)]
struct Address {
    /// Values around that are open.
    depth: usize,
    name: String,
    ip: Option<IpAddr>,
    port: Option<u16>,
}

/// Components whose address receives messages, and what they carry.
const ANNOUNCED: [(&str, &str, Transport, &str); 5] = [
    ("h225", "h245Address", Transport::Tcp, "h245"),
    ("h225", "callSignalAddress", Transport::Tcp, "h225"),
    ("h225", "destCallSignalAddress", Transport::Tcp, "h225"),
    ("h245", "mediaChannel", Transport::Udp, "t38"),
    ("h245", "networkAddress", Transport::Udp, "t38"),
];

impl Signalling {
    /// Returns whether messages of a protocol announce sockets.
    pub fn is_of(protocol: &Protocol) -> bool {
        matches!(&*protocol.name, "h225" | "h245")
    }

    /// Returns the sockets that a message of H.225.0 or H.245 announces.
    pub(super) fn sockets(
        &mut self,
        of: &Protocol,
        stream: Option<Stream>,
        shape: &Shape,
        view: View<'_>,
    ) -> Vec<Signalled> {
        let mut found = Vec::new();
        if !Self::is_of(of) {
            return found;
        }
        let (mut is_facsimile, mut is_answer, mut channel) = (false, false, None);
        let mut address: Option<Address> = None;
        for token in view.tokens() {
            let name = |field: FieldId| match field {
                FieldId::ROOT => "",
                field => shape.name(shape.field(field).name),
            };
            match token {
                Token::Open { field, .. } => {
                    let name = name(field);
                    is_facsimile |= name == "t38fax";
                    is_answer |= name == "openLogicalChannelAck";
                    match &mut address {
                        Some(address) => address.depth += 1,
                        None if ANNOUNCED.iter().any(|(by, known, ..)| *by == of.name && *known == name) => {
                            address = Some(Address { name: name.to_owned(), ..Address::default() });
                        }
                        None => {}
                    }
                }
                Token::Close { .. } => match &mut address {
                    Some(address) if address.depth > 0 => address.depth -= 1,
                    _ => found.extend(address.take().and_then(Address::socket)),
                },
                Token::Leaf { field, leaf, .. } => {
                    let name = name(field);
                    is_facsimile |= name == "t38fax";
                    match (name, leaf) {
                        ("forwardLogicalChannelNumber", Leaf::Int(number)) => {
                            channel = channel.or(Some(number));
                        }
                        ("port" | "tsapIdentifier", Leaf::Int(number)) => {
                            if let Some(address) = &mut address {
                                address.port = u16::try_from(number).ok();
                            }
                        }
                        ("ip" | "network", leaf) => {
                            if let (Some(address), Some(octets)) = (&mut address, leaf.contents()) {
                                let four = <[u8; 4]>::try_from(octets).map(IpAddr::from);
                                address.ip =
                                    four.or_else(|_| <[u8; 16]>::try_from(octets).map(IpAddr::from)).ok();
                            }
                        }
                        _ => {}
                    }
                }
                _ => {}
            }
        }
        if of.name == "h245" {
            let key = channel.map(|number| (stream, number));
            if is_facsimile {
                if self.channels.len() >= CHANNEL_LIMIT {
                    self.channels.remove(0);
                }
                self.channels.extend(key);
            }
            let at = self.channels.iter().position(|known| is_answer && Some(*known) == key);
            if let Some(at) = at {
                self.channels.remove(at);
            }
            // Other channels have speech.
            if !is_facsimile && at.is_none() {
                found.clear();
            }
        }
        found
    }
}

impl Address {
    /// Returns the socket, if the message has both of its parts.
    fn socket(self) -> Option<Signalled> {
        let (_, _, transport, name) = ANNOUNCED.iter().find(|(_, known, ..)| *known == self.name)?;
        let socket = SocketAddr::new(self.ip?, self.port.filter(|port| *port > 0)?);
        Some((*transport, socket, protocol(name)?))
    }
}
