//! The one error of this crate: what, where, and, if a server said it, its result.

use std::fmt;
use std::io;
use std::sync::Arc;

use crate::proto::LdapResult;

/// A result whose error is [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong. One word wide and cheap to clone, as one fault of a connection ends all its operations.
#[derive(Clone)]
pub struct Error(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    kind: ErrorKind,
    message: String,
    at: Option<u64>,
    result: Option<LdapResult>,
}

/// Kinds of errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// What was received is no LDAP; the connection cannot be used any more.
    Protocol,
    /// A limit was exceeded: the size of a message, hops of referrals, rounds of SASL.
    Limit,
    /// The connection has ended.
    Closed,
    /// A time limit of the client's own has passed.
    Timeout,
    /// The operating system reports a fault.
    Io,
    /// TLS could not be established, or the server's certificate is not trusted.
    Tls,
    /// Authentication failed before or after the server's answer: a wrong server signature, a mechanism not at hand.
    Auth,
    /// The server answered with a result code that is no success: [`Error::result`] has it.
    Result,
    /// A text (filter, DN, URL, LDIF, schema) is not of its grammar.
    Syntax,
    /// The call makes no sense: an unknown scheme, a password on a connection without encryption.
    Usage,
}

impl Error {
    /// An error of this kind.
    #[cold]
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self(Arc::new(Inner { kind, message: message.into(), at: None, result: None }))
    }

    /// An error at an offset: of a received octet from the begin of its message, of a text from its begin.
    #[cold]
    pub fn at(kind: ErrorKind, message: impl Into<String>, at: u64) -> Self {
        Self(Arc::new(Inner { kind, message: message.into(), at: Some(at), result: None }))
    }

    /// What a server answered, as an error.
    #[cold]
    pub fn from_result(result: LdapResult) -> Self {
        let mut message = format!("{} ({})", result.code.text(), result.code.0);
        if !result.message.is_empty() {
            message.push_str(": ");
            message.push_str(&result.message);
        }
        Self(Arc::new(Inner { kind: ErrorKind::Result, message, at: None, result: Some(result) }))
    }

    /// The same error with the name of what it is about in front of its message.
    #[cfg(feature = "client")]
    #[cold]
    pub(crate) fn about(&self, what: impl fmt::Display) -> Self {
        let Inner { kind, message, at, result } = &*self.0;
        let message = format!("{what}: {message}");
        Self(Arc::new(Inner { kind: *kind, message, at: *at, result: result.clone() }))
    }

    /// The kind.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Where, as far as there is a place.
    #[must_use]
    pub fn offset(&self) -> Option<u64> {
        self.0.at
    }

    /// The server's answer, for [`ErrorKind::Result`].
    #[must_use]
    pub fn result(&self) -> Option<&LdapResult> {
        self.0.result.as_ref()
    }

    /// The message without its place.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.message
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)?;
        match self.0.at {
            Some(at) => write!(f, " (at offset {at})"),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {self}", self.0.kind)
    }
}

impl std::error::Error for Error {}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        // Streams of our own put their errors into those of the system.
        error.downcast().unwrap_or_else(|error| Self::new(ErrorKind::Io, error.to_string()))
    }
}

impl From<tercet_runtime::Error> for Error {
    fn from(error: tercet_runtime::Error) -> Self {
        Self::at(ErrorKind::Protocol, error.kind().message(), error.at())
    }
}
