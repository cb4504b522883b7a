//! The state of one connection: message IDs, operations in flight, and what answers may come for each.

use std::collections::HashMap;

use bytes::BytesMut;

use super::control::Control;
use super::element::tag;
use super::frame::{Framer, Incoming, Limits};
use super::message::{self, Extended, Reply};
use super::result::ResultCode;
use crate::error::{Error, ErrorKind, Result};
use crate::extended::START_TLS;
use crate::generated::ProtocolOp;

/// One connection as its client sees it: requests become octets, octets become events.
#[derive(Debug, Default)]
pub struct Connection {
    framer: Framer,
    limits: Limits,
    last: u32,
    in_flight: HashMap<u32, Kind>,
    outgoing: Vec<u8>,
    ignored: u64,
}

/// What was asked, as far as answers differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Bind: nothing else may be in flight.
    Bind,
    /// StartTLS: nothing else may be in flight either.
    StartTls,
    /// Search: entries, references, intermediate responses, and a last answer.
    Search,
    /// Extended: intermediate responses and a last answer.
    Extended,
    /// Anything else; the identifier octet of the one answer.
    Other(u8),
}

/// What came.
#[derive(Debug)]
pub enum Event {
    /// Entries of a search that stood one after another.
    Entries(Incoming),
    /// An answer that is no entry, of the operation with this message ID; the operation has ended unless the answer is
    /// a reference or an intermediate response.
    Reply(u32, Reply),
    /// The server grants StartTLS, asked for with this message ID: all octets either way are those of TLS from now on,
    /// beginning with the handshake.
    StartTls(u32, Extended),
    /// A message that no operation asked for. With [`Extended::name`] `1.3.6.1.4.1.1466.20036` it is the notice of
    /// disconnection, which is an error of [`Connection::receive`] instead.
    Unsolicited(Extended),
}

/// The notice of disconnection (RFC 4511 4.4.1).
const NOTICE_OF_DISCONNECTION: &str = "1.3.6.1.4.1.1466.20036";

impl Connection {
    /// A fresh connection.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        Self { framer: Framer::new(limits), limits, ..Self::default() }
    }

    /// Starts an operation: its message stands in [`Connection::outgoing`] then. Gives its message ID.
    ///
    /// # Errors
    /// A bind or StartTLS while operations are in flight (RFC 4511 4.2.1, 4.14.1); what [`message::encode`] refuses.
    pub fn start(&mut self, operation: ProtocolOp<'_>, controls: &[Control]) -> Result<u32> {
        let kind = Kind::of(&operation)?;
        if kind.is_alone() && !self.in_flight.is_empty() {
            let message = format!("{} while other operations are in flight", kind.name());
            return Err(Error::new(ErrorKind::Usage, message));
        }
        if let Some(alone) = self.in_flight.values().find(|kind| kind.is_alone()) {
            let message = format!("an operation while {} is in flight", alone.name());
            return Err(Error::new(ErrorKind::Usage, message));
        }
        let id = self.next_id();
        message::encode(id, operation, controls, &mut self.outgoing)?;
        self.in_flight.insert(id, kind);
        Ok(id)
    }

    /// Gives up an operation: its answers are ignored from now on.
    ///
    /// # Errors
    /// None that can be met; encoding could fail.
    pub fn abandon(&mut self, id: u32) -> Result<()> {
        match self.in_flight.remove(&id) {
            // Bind and StartTLS cannot be abandoned (4.11), and an ended operation need not be.
            None | Some(Kind::Bind | Kind::StartTls) => Ok(()),
            Some(_) => {
                let own = self.next_id();
                message::encode(own, ProtocolOp::AbandonRequest(id), &[], &mut self.outgoing)
            }
        }
    }

    /// Says goodbye; the connection is to be closed when that is sent.
    ///
    /// # Errors
    /// None that can be met; encoding could fail.
    pub fn unbind(&mut self) -> Result<()> {
        let id = self.next_id();
        message::encode(id, ProtocolOp::UnbindRequest(()), &[], &mut self.outgoing)
    }

    /// Octets to send; who sends them takes them out.
    pub const fn outgoing(&mut self) -> &mut Vec<u8> {
        &mut self.outgoing
    }

    /// Number of operations in flight.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.in_flight.len()
    }

    /// Number of messages with an ID that no operation in flight has: late answers of abandoned ones, mostly.
    #[must_use]
    pub const fn ignored(&self) -> u64 {
        self.ignored
    }

    /// How many octets the message at the begin of the buffer needs at least.
    ///
    /// # Errors
    /// As [`Connection::receive`].
    pub fn needed(&self, buffer: &[u8]) -> Result<usize> {
        self.framer.needed(buffer)
    }

    /// Takes the next event from the begin of what was received; nothing until more is received.
    ///
    /// # Errors
    /// What was received is no LDAP, or the server ends the connection. The connection is unusable then.
    pub fn receive(&mut self, buffer: &mut BytesMut) -> Result<Option<Event>> {
        while let Some(incoming) = self.framer.next(buffer)? {
            if let Some(event) = self.event(incoming)? {
                // What comes behind the answer and before the handshake was not protected: somebody may want it to be
                // read as an answer of later.
                if matches!(event, Event::StartTls(..)) && !buffer.is_empty() {
                    let message =
                        format!("{} bytes between the answer to StartTLS and the handshake", buffer.len());
                    return Err(Error::new(ErrorKind::Protocol, message));
                }
                return Ok(Some(event));
            }
        }
        Ok(None)
    }

    fn event(&mut self, incoming: Incoming) -> Result<Option<Event>> {
        let id = incoming.id;
        if id == 0 {
            return self.unsolicited(&incoming);
        }
        let Some(&kind) = self.in_flight.get(&id) else {
            self.ignored += u64::from(incoming.count);
            return Ok(None);
        };
        if !kind.takes(incoming.operation) {
            let message =
                format!("an operation {:02X} answers {kind:?}, message ID {id}", incoming.operation);
            return Err(Error::new(ErrorKind::Protocol, message));
        }
        if incoming.operation == tag::SEARCH_ENTRY {
            return Ok(Some(Event::Entries(incoming)));
        }
        let mut reply = Reply::read(&incoming, &self.limits)?;
        if incoming.operation == tag::EXTENDED_RESPONSE && !matches!(kind, Kind::Extended | Kind::StartTls) {
            reply = refusal(kind, reply)?;
        }
        if message::is_last(incoming.operation) {
            self.in_flight.remove(&id);
        }
        if kind == Kind::StartTls
            && let Reply::Extended(extended) = &reply
            && extended.result.code == ResultCode::SUCCESS
        {
            return Ok(Some(Event::StartTls(id, extended.clone())));
        }
        Ok(Some(Event::Reply(id, reply)))
    }

    fn unsolicited(&mut self, incoming: &Incoming) -> Result<Option<Event>> {
        // RFC 4511 4.4: an unsolicited notification is an ExtendedResponse.
        if incoming.operation != tag::EXTENDED_RESPONSE {
            let message = format!("an operation {:02X} with message ID 0", incoming.operation);
            return Err(Error::new(ErrorKind::Protocol, message));
        }
        let Reply::Extended(extended) = Reply::read(incoming, &self.limits)? else {
            return Ok(None);
        };
        // Active Directory puts the name behind the operation, where it is not seen: such a notice has an error code.
        let notice = extended
            .name
            .as_deref()
            .map_or(extended.result.code.0 != 0, |name| name == NOTICE_OF_DISCONNECTION);
        if notice {
            let said = Error::from_result(extended.result);
            return Err(Error::new(ErrorKind::Closed, format!("the server disconnects: {said}")));
        }
        Ok(Some(Event::Unsolicited(extended)))
    }

    /// The next message ID that is not in use; 0 is never.
    fn next_id(&mut self) -> u32 {
        loop {
            self.last = if self.last >= i32::MAX as u32 { 1 } else { self.last + 1 };
            if !self.in_flight.contains_key(&self.last) {
                return self.last;
            }
        }
    }
}

/// Returns the answer to an operation that a server refuses by an ExtendedResponse: Samba does so for all operations with
/// an unknown critical control.
///
/// # Errors
/// The response has the code of success, which no server can mean for another operation.
fn refusal(kind: Kind, reply: Reply) -> Result<Reply> {
    match reply {
        Reply::Extended(Extended { result, .. }) if result.code != ResultCode::SUCCESS => match kind {
            Kind::Bind => Ok(Reply::Bind(result, None)),
            _ => Ok(Reply::Done(result)),
        },
        _ => {
            let message = format!("an ExtendedResponse with the code of success answers {kind:?}");
            Err(Error::new(ErrorKind::Protocol, message))
        }
    }
}

impl Kind {
    fn of(operation: &ProtocolOp<'_>) -> Result<Self> {
        Ok(match operation {
            ProtocolOp::BindRequest(_) => Self::Bind,
            ProtocolOp::SearchRequest(_) => Self::Search,
            ProtocolOp::ExtendedReq(request) if *request.request_name == *START_TLS.as_bytes() => {
                Self::StartTls
            }
            ProtocolOp::ExtendedReq(_) => Self::Extended,
            ProtocolOp::ModifyRequest(_) => Self::Other(0x67),
            ProtocolOp::AddRequest(_) => Self::Other(0x69),
            ProtocolOp::DelRequest(_) => Self::Other(0x6B),
            ProtocolOp::ModDnRequest(_) => Self::Other(0x6D),
            ProtocolOp::CompareRequest(_) => Self::Other(0x6F),
            _ => return Err(Error::new(ErrorKind::Usage, "not a request that is answered")),
        })
    }

    /// Whether nothing else may be in flight with it.
    const fn is_alone(self) -> bool {
        matches!(self, Self::Bind | Self::StartTls)
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Bind => "a bind",
            Self::StartTls => "StartTLS",
            Self::Search | Self::Extended | Self::Other(_) => "another operation",
        }
    }

    /// Whether an answer with this identifier octet may come. Intermediate responses may come for any (4.13).
    const fn takes(self, operation: u8) -> bool {
        match (self, operation) {
            (_, tag::INTERMEDIATE)
            | (Self::Search, tag::SEARCH_ENTRY | tag::SEARCH_DONE | tag::SEARCH_REFERENCE)
            | (Self::Bind, tag::BIND_RESPONSE)
            | (Self::Extended | Self::StartTls, tag::EXTENDED_RESPONSE) => true,
            // A refusal: `refusal` checks that it is one.
            (_, tag::EXTENDED_RESPONSE) => true,
            (Self::Other(expected), found) => expected == found,
            _ => false,
        }
    }
}
