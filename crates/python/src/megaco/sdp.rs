//! Session descriptions.

use crate::error;
use crate::octets;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString};
use tercet_megaco::sdp::{Attribute, Fault, Field, Lines, Sdp, Wild};

/// A line: its name, its value, what it says, and what is wrong with it.
type Line<'py> =
    (Bound<'py, PyString>, Bound<'py, PyString>, Bound<'py, PyAny>, Option<(usize, &'static str)>);

/// Text that may have octets of no character: these become lone surrogates, as in file names.
fn text<'py>(py: Python<'py>, octets: &[u8]) -> PyResult<Bound<'py, PyString>> {
    match std::str::from_utf8(octets) {
        Ok(text) => Ok(PyString::new(py, text)),
        Err(_) => {
            let octets = PyBytes::new(py, octets);
            PyString::from_encoded_object(octets.as_any(), Some(c"utf-8"), Some(c"surrogateescape"))
        }
    }
}

fn wild<'py, T: Into<u64>>(py: Python<'py>, number: Wild<T>) -> PyResult<Bound<'py, PyAny>> {
    match number {
        Wild::Is(number) => Ok(number.into().into_pyobject(py)?.into_any()),
        Wild::Choose => Ok(PyString::new(py, "$").into_any()),
    }
}

/// Returns the sessions of a text, each a list of lines: name, value, parsed value, and the fault with its byte in
/// the value.
#[pyfunction]
pub(crate) fn sdp_lines<'py>(description: &Bound<'py, PyAny>) -> PyResult<Vec<Vec<Line<'py>>>> {
    let py = description.py();
    let octets = octets::of(description)?;
    let mut values = Lines::new(&octets);
    let mut sessions = Vec::new();
    for session in Sdp::read(&octets).sessions {
        let mut lines = Vec::with_capacity(session.entries.len());
        for field in session.fields() {
            let value = values.next().map_or(&b""[..], |line| line.value);
            let fault = match field {
                Field::Other { fault, .. } => fault.map(|Fault { at, what }| (at, what)),
                _ => None,
            };
            lines.push((text(py, field.name())?, text(py, value)?, said(py, field)?, fault));
        }
        sessions.push(lines);
    }
    Ok(sessions)
}

/// What a line says, in Python's words.
fn said<'py>(py: Python<'py>, field: &Field<'_>) -> PyResult<Bound<'py, PyAny>> {
    let parts = PyDict::new(py);
    match field {
        Field::Version(number) => return wild(py, *number),
        Field::Name(it) | Field::Information(it) | Field::Uri(it) | Field::Email(it) | Field::Phone(it) => {
            return Ok(text(py, it)?.into_any());
        }
        Field::Origin(origin) => {
            parts.set_item("username", text(py, &origin.username)?)?;
            parts.set_item("session_id", text(py, &origin.session_id)?)?;
            parts.set_item("session_version", text(py, &origin.session_version)?)?;
            parts.set_item("network", text(py, &origin.network)?)?;
            parts.set_item("family", text(py, &origin.family)?)?;
            parts.set_item("address", text(py, &origin.address)?)?;
        }
        Field::Connection(connection) => {
            parts.set_item("network", text(py, &connection.network)?)?;
            parts.set_item("family", text(py, &connection.family)?)?;
            parts.set_item("address", text(py, &connection.address)?)?;
            parts.set_item("scope", &connection.scope)?;
        }
        Field::Bandwidth(bandwidth) => {
            parts.set_item("kind", text(py, &bandwidth.kind)?)?;
            parts.set_item("value", wild(py, bandwidth.value)?)?;
        }
        Field::Time(time) => {
            parts.set_item("start", wild(py, time.start)?)?;
            parts.set_item("stop", wild(py, time.stop)?)?;
        }
        Field::Repeat(repeat) => {
            parts.set_item("interval", repeat.interval.seconds())?;
            parts.set_item("duration", repeat.duration.seconds())?;
            parts
                .set_item("offsets", repeat.offsets.iter().map(|span| span.seconds()).collect::<Vec<_>>())?;
        }
        Field::Zones(zones) => {
            let zones = zones.iter().map(|(time, span)| (*time, span.seconds()));
            return Ok(PyList::new(py, zones.collect::<Vec<_>>())?.into_any());
        }
        Field::Key(key) => {
            parts.set_item("method", text(py, &key.method)?)?;
            parts.set_item("key", key.key.as_ref().map(|key| text(py, key)).transpose()?)?;
        }
        Field::Media(media) => {
            parts.set_item("kind", text(py, &media.kind)?)?;
            parts.set_item("port", wild(py, media.port)?)?;
            parts.set_item("ports", media.ports)?;
            parts.set_item("protocol", text(py, &media.protocol)?)?;
            let formats = media.formats.iter().map(|format| text(py, format));
            parts.set_item("formats", formats.collect::<PyResult<Vec<_>>>()?)?;
        }
        Field::Attribute(attribute) => said_of_attribute(py, attribute, &parts)?,
        Field::Other { .. } => return Ok(py.None().into_bound(py)),
    }
    Ok(parts.into_any())
}

fn said_of_attribute(py: Python<'_>, attribute: &Attribute<'_>, parts: &Bound<'_, PyDict>) -> PyResult<()> {
    let set = |name: &str, value: Bound<'_, PyAny>| {
        parts.set_item("name", name)?;
        parts.set_item("value", value)
    };
    match attribute {
        Attribute::RtpMap { payload, encoding, clock, parameters } => {
            parts.set_item("name", "rtpmap")?;
            parts.set_item("payload", wild(py, *payload)?)?;
            parts.set_item("encoding", text(py, encoding)?)?;
            parts.set_item("clock", wild(py, *clock)?)?;
            parts.set_item("parameters", parameters.as_ref().map(|it| text(py, it)).transpose()?)
        }
        Attribute::Fmtp { format, parameters } => {
            parts.set_item("name", "fmtp")?;
            parts.set_item("format", text(py, format)?)?;
            parts.set_item("parameters", text(py, parameters)?)
        }
        Attribute::Ptime(number) => set("ptime", wild(py, *number)?),
        Attribute::MaxPtime(number) => set("maxptime", wild(py, *number)?),
        Attribute::Quality(number) => set("quality", wild(py, *number)?),
        Attribute::Direction(direction) => set(direction.name(), py.None().into_bound(py)),
        Attribute::Value { name, value } => {
            parts.set_item("name", text(py, name)?)?;
            parts.set_item("value", text(py, value)?)
        }
        Attribute::Flag(name) => {
            parts.set_item("name", text(py, name)?)?;
            parts.set_item("value", py.None())
        }
    }
}

/// Returns the text of lines of a name and a value each.
///
/// Raises EncodeError for a line of a known name that differs from RFC 8866 and H.248.1.
#[pyfunction]
pub(crate) fn sdp_text<'py>(
    py: Python<'py>,
    lines: Vec<(Vec<u8>, Vec<u8>)>,
) -> PyResult<Bound<'py, PyBytes>> {
    let fields = lines.iter().map(|(name, value)| Field::read(name, value));
    let written: Sdp<'_> = fields.collect();
    written
        .check()
        .and_then(|()| written.to_text())
        .map_or_else(|error| Err(error::megaco_value(py, &error)), |octets| Ok(PyBytes::new(py, &octets)))
}
