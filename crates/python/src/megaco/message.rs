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
pub(crate) fn detect(octets: &Bound<'_, PyAny>) -> PyResult<&'static str> {
    Ok(Encoding::detect(&octets::of(octets)?).name())
}

/// Returns a message in another encoding.
///
/// `encoding` names that of `octets`; by default their first bytes tell it.
///
/// Raises DecodeError for what is no message, EncodeError for what the other encoding cannot say.
#[pyfunction]
#[pyo3(signature = (octets, to, *, encoding = None))]
pub(crate) fn transcode<'py>(
    py: Python<'py>,
    octets: &Bound<'py, PyAny>,
    to: &str,
    encoding: Option<&str>,
) -> PyResult<Bound<'py, PyBytes>> {
    let octets = octets::of(octets)?;
    let (from, to) = (self::encoding(&octets, encoding)?, named(to)?);
    let mut out = Vec::with_capacity(2 * octets.len());
    let message = from.decode(&octets).map_err(|error| fault(py, &octets, from, error))?;
    to.encode(&message, &mut out).map_err(|error| error::megaco_value(py, &error))?;
    Ok(PyBytes::new(py, &out))
}

/// Returns what is not as the public packages have it, each with its path in the message, its text, and whether it
/// is only information: about a package that is not known, or known in part.
///
/// Raises DecodeError for what is no message.
#[pyfunction]
#[pyo3(signature = (octets, *, encoding = None))]
pub(crate) fn check<'py>(
    octets: &Bound<'py, PyAny>,
    encoding: Option<&str>,
) -> PyResult<Vec<(String, Bound<'py, PyString>, bool)>> {
    let py = octets.py();
    let octets = octets::of(octets)?;
    let from = self::encoding(&octets, encoding)?;
    let message = from.decode(&octets).map_err(|error| fault(py, &octets, from, error))?;
    let findings = Binary::standard().packages.check(&message).into_iter().map(|finding| {
        let is_information = finding.is_information();
        (finding.path, PyString::new(py, &finding.fault.to_string()), is_information)
    });
    Ok(findings.collect())
}
