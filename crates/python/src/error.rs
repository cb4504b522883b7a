//! Faults as exceptions of the package, with what they tell as attributes.

use pyo3::exceptions::PyOverflowError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyType};
use std::io;
use tercet::dynamic::Error;
use tercet::records::conversion::{Names, OptionFault, OptionFaultKind};
use tercet::{CodecError, PlanError};

static ARGUMENT: PyOnceLock<Py<PyType>> = PyOnceLock::new();
static INTERNAL: PyOnceLock<Py<PyType>> = PyOnceLock::new();
static OURS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
static OF_PYTHON: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
static DECODE: PyOnceLock<Py<PyType>> = PyOnceLock::new();
static ENCODE: PyOnceLock<Py<PyType>> = PyOnceLock::new();
static REJECT: PyOnceLock<Py<PyType>> = PyOnceLock::new();
static SCHEMA: PyOnceLock<Py<PyType>> = PyOnceLock::new();

/// `tercet.ArgumentError`.
#[cold]
pub(crate) fn argument(message: impl std::fmt::Display) -> PyErr {
    Python::attach(|py| raise(py, &ARGUMENT, "ArgumentError", &message.to_string(), |_| Ok(())))
}

/// `tercet.InternalError`.
#[cold]
pub(crate) fn internal(message: impl AsRef<str>) -> PyErr {
    Python::attach(|py| raise(py, &INTERNAL, "InternalError", message.as_ref(), |_| Ok(())))
}

/// `tercet.FileError`, or the one of its subclasses that fits.
#[cold]
pub(crate) fn io(error: io::Error) -> PyErr {
    of_python(error.into())
}

/// The exception of the package for one that Python has raised for a wrong argument or a file.
#[cold]
pub(crate) fn of_python(error: PyErr) -> PyErr {
    Python::attach(|py| {
        let made = OF_PYTHON.import(py, "tercet._errors", "of_python");
        made.and_then(|made| made.call1((error.value(py),))).map_or_else(|fault| fault, PyErr::from_value)
    })
}

/// A result with exceptions of the package, for arguments and files.
pub(crate) fn ours<T>(done: PyResult<T>) -> PyResult<T> {
    done.map_err(of_python)
}

/// What an argument is, with our exception if it has a wrong type.
pub(crate) struct Argument<T>(pub(crate) T);

impl<'a, 'py, T: FromPyObject<'a, 'py>> FromPyObject<'a, 'py> for Argument<T> {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        T::extract(object).map(Self).map_err(|fault| of_python(fault.into()))
    }
}

/// The value of a keyword argument, with our exception, which names it, if it has a wrong type.
pub(crate) fn option<'a, 'py, T: FromPyObject<'a, 'py>>(
    name: &str,
    value: &'a Bound<'py, PyAny>,
) -> PyResult<T> {
    T::extract(value.as_borrowed()).map_err(|fault| {
        let (fault, py) = (of_python(fault.into()), value.py());
        let text = format!("{name}: {}", fault.value(py));
        fault.get_type(py).call1((text,)).map_or_else(|fault| fault, PyErr::from_value)
    })
}

/// `tercet.ArgumentError` for an option that cannot be used, or `tercet.RangeError` for a number.
#[cold]
pub(crate) fn fault(fault: &OptionFault) -> PyErr {
    let fault = fault.clone().spelled(Names::Keyword);
    match fault.kind() {
        OptionFaultKind::Range => of_python(PyOverflowError::new_err(fault.to_string())),
        OptionFaultKind::Type | OptionFaultKind::Value => argument(fault.to_string()),
    }
}

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

/// Whether it is a `tercet.DecodeError`.
#[cold]
pub(crate) fn is_decode(py: Python<'_>, error: &PyErr) -> bool {
    DECODE.import(py, "tercet._errors", "DecodeError").is_ok_and(|class| error.is_instance(py, class))
}

/// Whether it is a `tercet.Error`.
pub(crate) fn is_ours(py: Python<'_>, error: &PyErr) -> bool {
    OURS.import(py, "tercet._errors", "Error").is_ok_and(|class| error.is_instance(py, class))
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

/// `tercet.DecodeError` of `tercet.megaco`; with line and column in a text.
#[cold]
pub(crate) fn megaco(py: Python<'_>, error: &tercet_megaco::Error, text: Option<&[u8]>) -> PyErr {
    let place = text.map(|text| error.line_and_column(text));
    let message = match place {
        Some((line, column)) => format!("expected {} at line {line}, column {column}", error.what),
        None => format!("expected {} at byte {}", error.what, error.at),
    };
    raise(py, &DECODE, "DecodeError", &message, |with| {
        with.set_item("kind", if text.is_some() { "text" } else { "" })?;
        with.set_item("detail", error.what)?;
        with.set_item("offset", error.at)?;
        with.set_item("line", place.map(|place| place.0))?;
        with.set_item("column", place.map(|place| place.1))
    })
}

/// `tercet.EncodeError` of `tercet.megaco`.
#[cold]
pub(crate) fn megaco_value(py: Python<'_>, error: &tercet_megaco::Error) -> PyErr {
    let message = format!("cannot be written: {}", error.what);
    raise(py, &ENCODE, "EncodeError", &message, |with| with.set_item("detail", error.what))
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
