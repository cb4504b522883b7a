//! Faults of LDAP as exceptions of `tercet.ldap`.

use super::answers;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use tercet_ldap::transaction::Aborted;
use tercet_ldap::{Error, ErrorKind};

static MAKE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// The exception for an error: its class is that of its kind, or of the server's result code.
#[cold]
pub(super) fn raise(py: Python<'_>, error: &Error) -> PyErr {
    let made = || {
        let result = error.result().map(|result| answers::result(py, result)).transpose()?;
        let make = MAKE.import(py, "tercet.ldap._errors", "make")?;
        make.call1((kind(error.kind()), error.to_string(), error.offset(), result))
    };
    made().map_or_else(|error| error, PyErr::from_value)
}

/// The exception for a transaction that was not made.
#[cold]
pub(super) fn aborted(py: Python<'_>, aborted: &Aborted) -> PyErr {
    static CLASS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let made = || {
        let cause = raise(py, &aborted.cause);
        let conflicts: Vec<String> = aborted.conflicts.iter().map(ToString::to_string).collect();
        let journal = aborted.journal.as_ref().map(|path| path.display().to_string());
        let class = CLASS.import(py, "tercet.ldap._errors", "TransactionAborted")?;
        let exception =
            class.call1((aborted.to_string(), cause.value(py), aborted.rolled_back, conflicts, journal))?;
        let exception = PyErr::from_value(exception);
        exception.set_cause(py, Some(cause));
        Ok(exception)
    };
    made().unwrap_or_else(|error: PyErr| error)
}

/// An error of a call that makes no sense.
#[cold]
pub(super) fn usage(py: Python<'_>, message: &str) -> PyErr {
    raise(py, &Error::new(ErrorKind::Usage, message))
}

const fn kind(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::Protocol => "protocol",
        ErrorKind::Limit => "limit",
        ErrorKind::Closed => "closed",
        ErrorKind::Timeout => "timeout",
        ErrorKind::Io => "network",
        ErrorKind::Tls => "tls",
        ErrorKind::Auth => "auth",
        ErrorKind::Result => "result",
        ErrorKind::Syntax => "syntax",
        ErrorKind::Usage => "usage",
        _ => "other",
    }
}
