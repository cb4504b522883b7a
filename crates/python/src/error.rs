//! Faults as exceptions of the package, with what they tell as attributes.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyType};
use tercet::dynamic::Error;
use tercet::{CodecError, PlanError};

static DECODE: PyOnceLock<Py<PyType>> = PyOnceLock::new();
static ENCODE: PyOnceLock<Py<PyType>> = PyOnceLock::new();
static REJECT: PyOnceLock<Py<PyType>> = PyOnceLock::new();
static SCHEMA: PyOnceLock<Py<PyType>> = PyOnceLock::new();

/// `tercet.DecodeError`.
#[cold]
pub(crate) fn decode(py: Python<'_>, error: &CodecError) -> PyErr {
    raise(py, &DECODE, "DecodeError", &error.to_string(), |with| match error {
        CodecError::Octets(error) => {
            common(with, error)?;
            with.set_item("offset", error.offset())?;
            with.set_item("bit", error.bit())?;
            with.set_item("missing", error.missing())
        }
        CodecError::Text(error) => {
            with.set_item("kind", "text")?;
            with.set_item("detail", error.message())?;
            with.set_item("path", error.path())?;
            with.set_item("offset", error.offset())?;
            with.set_item("line", error.line())?;
            with.set_item("column", error.column())
        }
    })
}

/// `tercet.EncodeError`. An offset would mean nothing.
#[cold]
pub(crate) fn encode(py: Python<'_>, error: &CodecError) -> PyErr {
    let message = match error {
        CodecError::Octets(error) => unfit(error),
        CodecError::Text(error) => error.to_string(),
    };
    raise(py, &ENCODE, "EncodeError", &message, |with| match error {
        CodecError::Octets(error) => common(with, error),
        CodecError::Text(error) => {
            with.set_item("kind", "text")?;
            with.set_item("path", error.path())
        }
    })
}

/// `tercet.SchemaError` of a type that there is no plan for.
#[cold]
pub(crate) fn plan(py: Python<'_>, error: &PlanError) -> PyErr {
    schema(py, &error.to_string(), |_| Ok(()))
}

/// `tercet.SchemaError`.
#[cold]
pub(crate) fn schema(
    py: Python<'_>,
    message: &str,
    fill: impl FnOnce(&Bound<'_, PyDict>) -> PyResult<()>,
) -> PyErr {
    raise(py, &SCHEMA, "SchemaError", message, fill)
}

/// `tercet.RejectError`.
#[cold]
pub(crate) fn rejected(
    py: Python<'_>,
    message: &str,
    fill: impl FnOnce(&Bound<'_, PyDict>) -> PyResult<()>,
) -> PyErr {
    raise(py, &REJECT, "RejectError", message, fill)
}

fn common(with: &Bound<'_, PyDict>, error: &Error) -> PyResult<()> {
    with.set_item("kind", error.kind().name())?;
    with.set_item("path", error.path())?;
    with.set_item("detail", error.detail())?;
    with.set_item("clause", error.clause())
}

fn raise(
    py: Python<'_>,
    class: &'static PyOnceLock<Py<PyType>>,
    name: &str,
    message: &str,
    fill: impl FnOnce(&Bound<'_, PyDict>) -> PyResult<()>,
) -> PyErr {
    let made = || {
        let with = PyDict::new(py);
        fill(&with)?;
        class.import(py, "tercet._errors", name)?.call((message,), Some(&with))
    };
    made().map_or_else(|error| error, PyErr::from_value)
}

/// What is wrong with a value to encode.
fn unfit(error: &Error) -> String {
    let parts = [error.path(), error.kind().message(), error.detail()];
    let text = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(": ");
    match error.clause() {
        Some(clause) => format!("{text} ({clause})"),
        None => text,
    }
}
