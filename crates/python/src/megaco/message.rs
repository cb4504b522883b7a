//! Messages from one encoding to another, and what packages say of them.

use crate::error;
use crate::octets;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use tercet_megaco::Error;
use tercet_megaco::binary::Binary;
use tercet_megaco::codec::{Codec, Encoding};

/// Returns the names of all encodings.
#[pyfunction]
pub(crate) fn encodings() -> Vec<&'static str> {
    Encoding::ALL.iter().map(|(name, _)| *name).collect()
}

fn named(name: &str) -> PyResult<Encoding> {
    Encoding::named(name).ok_or_else(|| {
        let names = Encoding::ALL.iter().map(|(name, _)| *name);
        error::argument(tercet::suggest::unknown("encoding", name, names))
    })
}

/// The encoding that is named, or that octets look like.
fn encoding(octets: &[u8], name: Option<&str>) -> PyResult<Encoding> {
    name.map_or_else(|| Ok(Encoding::detect(octets)), named)
}

/// The exception for octets that are no message.
fn fault(py: Python<'_>, octets: &[u8], encoding: Encoding, error: Error) -> PyErr {
    let is_text = matches!(encoding, Encoding::Pretty | Encoding::Compact | Encoding::Json);
    error::megaco(py, &error, is_text.then_some(octets))
}

/// Returns the encoding that the first bytes of a message look like.
#[pyfunction]
pub(crate) fn detect(data: &Bound<'_, PyAny>) -> PyResult<&'static str> {
    Ok(Encoding::detect(&octets::of(data)?).name())
}

/// Returns a message in another encoding.
///
/// `encoding` names that of `data`; by default it is found by their first bytes.
///
/// Raises DecodeError for data that is not a message, EncodeError for a value that the other encoding does not have.
#[pyfunction]
#[pyo3(signature = (data, to, *, encoding = None))]
pub(crate) fn transcode<'py>(
    py: Python<'py>,
    data: &Bound<'py, PyAny>,
    to: &str,
    encoding: Option<&str>,
) -> PyResult<Bound<'py, PyBytes>> {
    let octets = octets::of(data)?;
    let (from, to) = (self::encoding(&octets, encoding)?, named(to)?);
    let mut out = Vec::with_capacity(2 * octets.len());
    let message = from.decode(&octets).map_err(|error| fault(py, &octets, from, error))?;
    to.encode(&message, &mut out).map_err(|error| error::megaco_value(py, &error))?;
    Ok(PyBytes::new(py, &out))
}

/// Returns the differences from the public packages, each with its path in the message, its text, and whether it is
/// only information: about a package that is not known, or known in part.
///
/// Raises DecodeError for data that is not a message.
#[pyfunction]
#[pyo3(signature = (data, *, encoding = None))]
pub(crate) fn check<'py>(
    data: &Bound<'py, PyAny>,
    encoding: Option<&str>,
) -> PyResult<Vec<(String, Bound<'py, PyString>, bool)>> {
    let py = data.py();
    let octets = octets::of(data)?;
    let from = self::encoding(&octets, encoding)?;
    let message = from.decode(&octets).map_err(|error| fault(py, &octets, from, error))?;
    let findings = Binary::standard().packages.check(&message).into_iter().map(|finding| {
        let is_information = finding.is_information();
        (finding.path, PyString::new(py, &finding.fault.to_string()), is_information)
    });
    Ok(findings.collect())
}
