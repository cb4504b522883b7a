//! What the engine reports to its users.

use std::fmt;
use std::sync::Arc;

use tercet_megaco::codec::Encoding;
use tercet_megaco::model::{MegacoMessage, MessageBody, Transaction};
use tercet_megaco::{List, Result};

use crate::route::Route;
use crate::wire::Registry;

/// A local entity: a message identifier and its configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct UserId(pub(crate) u32);

/// A connection of a user with one remote entity. It lives as long as something is remembered of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConnId {
    pub(crate) index: u32,
    pub(crate) generation: u32,
}

/// A request of ours, until it has its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RequestId {
    pub(crate) index: u32,
    pub(crate) generation: u32,
}

/// A request of a peer, until it is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Token {
    pub(crate) index: u32,
    pub(crate) generation: u32,
}

/// A message as it was received. It is decoded when its user asks for it.
#[derive(Clone)]
pub struct Received {
    octets: Arc<[u8]>,
    encoding: Encoding,
    registry: Registry,
}

impl PartialEq for Received {
    fn eq(&self, other: &Self) -> bool {
        self.octets == other.octets && self.encoding == other.encoding
    }
}

impl Eq for Received {}

impl Received {
    pub(crate) const fn new(octets: Arc<[u8]>, encoding: Encoding, registry: Registry) -> Self {
        Self { octets, encoding, registry }
    }

    /// The octets.
    pub fn octets(&self) -> &[u8] {
        &self.octets
    }

    /// The encoding.
    pub const fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// Decodes the message.
    ///
    /// # Errors
    /// None that the engine has not found before.
    pub fn decode(&self) -> Result<MegacoMessage<'_>> {
        self.encoding.decode_with(&self.registry, &self.octets)
    }

    /// Decodes the message, and returns its transactions. There are none in an error message.
    pub fn transactions(&self) -> List<Transaction<'_>> {
        match self.decode().map(|message| message.mess.message_body) {
            Ok(MessageBody::Transactions(transactions)) => transactions,
            _ => List::new(),
        }
    }
}

impl fmt::Debug for Received {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: \"{}\"", self.encoding.name(), self.octets.escape_ascii())
    }
}

/// A request of a message that has just arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Incoming {
    /// By which the request is answered.
    pub token: Token,
    /// The transaction id.
    pub transaction: u32,
    /// The place of the request among the transactions of its message.
    pub index: usize,
}

/// A segment of a reply, or a reply in one piece.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The message that the reply came in.
    pub message: Received,
    /// The place of the reply among the transactions of its message.
    pub index: usize,
    /// The number of the segment, if the reply is segmented.
    pub segment: Option<u16>,
}

/// The end of a request. There is exactly one for each.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// The reply, or its segments in the order of their numbers.
    Reply(Vec<Reply>),
    /// A further reply within `request_keep_alive`, with its number.
    Further(u32, Reply),
    /// The reply is an error of the transaction.
    Error {
        /// The code (H.248.8).
        code: u16,
        /// The text, if there is one.
        text: Option<String>,
    },
    /// No reply came in time.
    Timeout,
    /// Too many Pendings came.
    PendingLimit,
    /// Segments are missing.
    SegmentTimeout {
        /// Numbers of the missing segments below that of the last one.
        missing: Vec<u16>,
        /// The segments that came.
        received: Vec<Reply>,
    },
    /// A reply came in more segments or octets than allowed.
    SegmentLimit,
    /// The user cancelled it.
    Cancelled,
    /// The transport did not send it.
    SendFailed(String),
    /// The transport was told not to send it.
    SendCancelled(String),
    /// The reply came from another sender, and `wrong_mid` is `end`.
    WrongMid(String),
}

/// What became of a reply of ours whose acknowledgement was expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AckStatus {
    /// It was acknowledged.
    Acknowledged,
    /// No acknowledgement came in time.
    Timeout,
    /// The user cancelled it.
    Cancelled,
    /// The transport did not send it.
    SendFailed(String),
}

/// What came for nothing that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unexpected {
    /// A reply: late, repeated, or of another sender.
    Reply,
    /// A Pending.
    Pending,
    /// An acknowledgement.
    Ack,
    /// An acknowledgement of a segment.
    Segment,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// A peer sent its first message, or a preliminary connection got the name of its peer.
    Connect {
        /// The connection.
        conn: ConnId,
        /// The version of the message.
        version: u8,
        /// Where the message came from.
        route: Route,
        /// Whether the user has to accept it (`confirm_connect`).
        must_accept: bool,
    },
    /// A connection ended.
    Disconnect {
        /// The connection.
        conn: ConnId,
        /// The remote mid, which may be forgotten already.
        remote_mid: Arc<str>,
        /// Why.
        reason: String,
    },
    /// New requests of one message, in their order.
    Requests {
        /// The connection.
        conn: ConnId,
        /// The version of the message.
        version: u8,
        /// Where the message came from.
        route: Route,
        /// The message.
        message: Received,
        /// The requests.
        requests: List<Incoming>,
    },
    /// A request of ours ended.
    Result {
        /// The connection.
        conn: ConnId,
        /// The request.
        request: RequestId,
        /// Its transaction id.
        transaction: u32,
        /// How.
        outcome: Outcome,
    },
    /// A Pending was sent.
    PendingSent {
        /// The connection.
        conn: ConnId,
        /// The transaction id.
        transaction: u32,
    },
    /// A Pending came for a request of ours.
    PendingReceived {
        /// The connection.
        conn: ConnId,
        /// The transaction id.
        transaction: u32,
    },
    /// The end of the wait for an acknowledgement.
    Ack {
        /// The connection.
        conn: ConnId,
        /// The transaction id.
        transaction: u32,
        /// How it ended.
        status: AckStatus,
    },
    /// A request of the peer was aborted; an answer of the user is not sent any more.
    Abort {
        /// The connection.
        conn: ConnId,
        /// The request.
        token: Token,
        /// The transaction id.
        transaction: u32,
        /// The error that the peer was sent.
        code: u16,
    },
    /// An answer came after its request had been aborted or cancelled; it was not sent.
    Swallowed {
        /// The request.
        token: Token,
    },
    /// Something came for nothing that is known.
    Unexpected {
        /// The connection, if there is one.
        conn: Option<ConnId>,
        /// What.
        kind: Unexpected,
        /// The transaction id.
        transaction: u32,
    },
    /// A peer reported an error of a whole message. It is never answered.
    MessageError {
        /// The connection, if there is one.
        conn: Option<ConnId>,
        /// Where it came from.
        route: Route,
        /// The remote mid.
        remote_mid: String,
        /// The code (H.248.8).
        code: u16,
        /// The text, if there is one.
        text: Option<String>,
    },
    /// A message could not be decoded or was refused as a whole.
    SyntaxError {
        /// Where it came from.
        route: Route,
        /// The code that the sender was told, if it was.
        code: u16,
        /// What is wrong.
        text: String,
    },
    /// A segment of a reply of ours was acknowledged (`segment_reply_ind`).
    Segment {
        /// The connection.
        conn: ConnId,
        /// The transaction id.
        transaction: u32,
        /// The number of the segment.
        segment: u16,
        /// Whether it is the last one.
        complete: bool,
    },
    /// Nothing has come from a peer for `idle_timer`.
    Idle {
        /// The connection.
        conn: ConnId,
    },
    /// A limit was reached; what came was dropped. Reported once until there is room again.
    LimitReached {
        /// The connection.
        conn: ConnId,
        /// The item, or the limit of the engine.
        limit: &'static str,
    },
}

/// Something to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transmit {
    /// Where to.
    pub route: Route,
    /// The message.
    pub octets: Arc<[u8]>,
    /// Whether its transactions have been sent before.
    pub is_resend: bool,
    /// What the message is for, if sending it fails.
    pub(crate) origins: List<Origin>,
    /// The connection, if there is one.
    pub(crate) conn: Option<ConnId>,
}

/// What a transaction of a message is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    Request(RequestId),
    Reply(Token),
}

/// Why a message was not sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SendFault {
    /// The transport did not want to; this is not counted as an error.
    Cancelled(String),
    /// The transport failed.
    Failed(String),
}
