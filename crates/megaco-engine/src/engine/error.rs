//! Calls that cannot be done.

use std::fmt;

use crate::items::BadItem;

/// A call that cannot be done. Nothing has been changed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// There is no such user.
    NoSuchUser,
    /// There is no such connection, or it has ended.
    NoSuchConnection,
    /// The connection exists already.
    AlreadyConnected,
    /// The user has connections.
    ActiveConnections,
    /// The request is answered, aborted or forgotten.
    NoSuchRequest,
    /// A limit has been reached.
    LimitReached(&'static str),
    /// The message is larger than the transport or `max_pdu_size` allows.
    TooLarge(usize),
    /// The encoding, or the version, cannot express the message.
    Encode(tercet_megaco::Error),
    /// The engine has stopped.
    Stopped,
    /// An item has a bad value.
    Item(BadItem),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSuchUser => f.write_str("unknown user"),
            Self::NoSuchConnection => f.write_str("unknown connection"),
            Self::AlreadyConnected => f.write_str("the connection exists already"),
            Self::ActiveConnections => f.write_str("the user has connections"),
            Self::NoSuchRequest => f.write_str("the request is answered, aborted or forgotten"),
            Self::LimitReached(limit) => write!(f, "limit `{limit}` reached"),
            Self::TooLarge(octets) => write!(f, "a message of {octets} bytes is larger than allowed"),
            Self::Encode(error) => write!(f, "the message cannot be encoded: it requires {}", error.what),
            Self::Stopped => f.write_str("the engine has stopped"),
            Self::Item(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Error {}

impl From<tercet_megaco::Error> for Error {
    fn from(error: tercet_megaco::Error) -> Self {
        Self::Encode(error)
    }
}

impl From<BadItem> for Error {
    fn from(error: BadItem) -> Self {
        Self::Item(error)
    }
}
