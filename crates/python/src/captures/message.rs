//! Messages as objects of Python.

use super::source::Source;
use crate::error;
use crate::files::{Feed, Outlet};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use serde_json::{Map, Value};
use std::sync::{Arc, Mutex, PoisonError};
use tercet::captures::object;

/// Messages that are handed on at once.
const MESSAGES: usize = 256;
/// Octets that are handed on at once, about.
const OCTETS: usize = 1 << 20;

/// A message that has been decoded.
struct Item {
    line: Map<String, Value>,
    octets: Vec<u8>,
    layers: Vec<String>,
    value: Value,
}

/// An iterator of messages of captures.
#[pyclass(module = "tercet")]
pub(crate) struct CaptureMessages {
    feed: Mutex<Feed<Vec<Item>>>,
    chunk: std::vec::IntoIter<Item>,
}

impl CaptureMessages {
    /// Begins to read.
    pub(super) fn new(source: &Arc<Source>) -> PyResult<Self> {
        let source = Arc::clone(source);
        let work = move |outlet: &Outlet<Vec<Item>>| {
            let (mut chunk, mut octets) = (Vec::new(), 0);
            source.run(true, outlet, &mut |pdu, decoded, _, file| {
                octets += pdu.octets.len();
                chunk.push(Item {
                    line: object(pdu, Some(decoded), Some(file)),
                    octets: pdu.octets.to_vec(),
                    layers: pdu.layers().iter().map(ToString::to_string).collect(),
                    value: decoded.value.clone().unwrap_or_default(),
                });
                if chunk.len() >= MESSAGES || octets >= OCTETS {
                    octets = 0;
                    outlet.give(std::mem::take(&mut chunk));
                }
                Ok(())
            })?;
            if !chunk.is_empty() {
                outlet.give(chunk);
            }
            Ok(())
        };
        let feed = Mutex::new(Feed::begin(work).map_err(error::io)?);
        Ok(Self { feed, chunk: Vec::new().into_iter() })
    }
}

#[pymethods]
impl CaptureMessages {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(&mut self, py: Python<'_>) -> PyResult<Option<CaptureMessage>> {
        loop {
            if let Some(item) = self.chunk.next() {
                return CaptureMessage::new(py, item).map(Some);
            }
            let feed = self.feed.get_mut().unwrap_or_else(PoisonError::into_inner);
            let Some(chunk) = Feed::next_released(feed, py)? else { return Ok(None) };
            self.chunk = chunk.into_iter();
        }
    }
}

/// A message of a packet capture.
#[pyclass(frozen, get_all, module = "tercet")]
pub(crate) struct CaptureMessage {
    /// The frame that completes the message, numbered as in Wireshark.
    frame: u64,
    /// All frames that it came in.
    frames: Vec<u64>,
    /// The protocol: `ngap`.
    protocol: String,
    /// The name of the message: `InitialUEMessage`; None if it is not decoded that far.
    message: Option<String>,
    /// The bytes that are decoded, without headers of carriers.
    octets: Py<PyBytes>,
    /// The time of the frame in UTC by RFC 3339, with nine digits; None if the capture has none.
    time: Option<String>,
    /// The sender: `10.0.0.1:36412`.
    src: Option<String>,
    /// The receiver.
    dst: Option<String>,
    /// The association and stream of SCTP, `sctp:0/3`, connection of TCP, `tcp:7`, conversation of UDP, `udp:2`.
    stream: Option<String>,
    /// Identifiers of the conversation: `{"amf": 17, "ran": 5}`.
    ids: Py<PyAny>,
    /// The module that decodes it.
    schema: Option<String>,
    /// The type that decodes it.
    r#type: Option<String>,
    /// The encoding rules.
    rules: Option<String>,
    /// The value: dictionaries, lists, texts, numbers. Constants have the names of the specification.
    value: Py<PyAny>,
    /// Why the message is not decoded as a whole: `stage`, `offset`, `bit`, `path`, `message`; None if it is.
    error: Py<PyAny>,
    /// Deviations from the specification, each with `path`, `code` and `message`.
    warnings: Py<PyAny>,
    /// True if the capture has only the begin of the message.
    partial: bool,
    /// True if GTP' sends a record again after a fault.
    possible_duplicate: bool,
    /// Addresses of SCCP: `calling` and `called`; None for other carriers.
    sccp: Py<PyAny>,
    /// The layers that carry it.
    layers: Vec<String>,
    /// The name of the capture.
    file: String,
    /// The number of the interface in the capture.
    interface: u64,
}

impl CaptureMessage {
    fn new(py: Python<'_>, item: Item) -> PyResult<Self> {
        let Item { mut line, octets, layers, value } = item;
        let frame = line.get("frame").and_then(Value::as_u64).unwrap_or_default();
        let frames = line.get("frames").and_then(Value::as_array);
        let frames = frames.map_or_else(|| vec![frame], |all| all.iter().filter_map(Value::as_u64).collect());
        let mut take = |key: &str| line.remove(key);
        let text = |value: Option<Value>| match value {
            Some(Value::String(text)) => Some(text),
            _ => None,
        };
        let list = |value: Option<Value>| value.unwrap_or_else(|| Value::Array(Vec::new()));
        Ok(Self {
            frame,
            frames,
            protocol: text(take("protocol")).unwrap_or_default(),
            message: text(take("message")),
            octets: PyBytes::new(py, &octets).unbind(),
            time: text(take("time")),
            src: text(take("src")),
            dst: text(take("dst")),
            stream: text(take("stream")),
            ids: python(py, &take("ids").unwrap_or_default())?,
            schema: text(take("schema")),
            r#type: text(take("type")),
            rules: text(take("rules")),
            value: python(py, &value)?,
            error: python(py, &take("error").unwrap_or_default())?,
            warnings: python(py, &list(take("warnings")))?,
            partial: take("partial").is_some(),
            possible_duplicate: take("possible_duplicate").is_some(),
            sccp: python(py, &take("sccp").unwrap_or_default())?,
            layers,
            file: text(take("file")).unwrap_or_default(),
            interface: take("interface").and_then(|it| it.as_u64()).unwrap_or_default(),
        })
    }
}

#[pymethods]
impl CaptureMessage {
    fn __repr__(&self) -> String {
        let Self { frame, protocol, message, .. } = self;
        let message = message.as_deref().unwrap_or("-");
        format!("<tercet.CaptureMessage {protocol} {message} in frame {frame}>")
    }
}

/// Returns JSON as objects of Python. Its depth is that of the reader that has made it, which limits it.
fn python(py: Python<'_>, value: &Value) -> PyResult<Py<PyAny>> {
    Ok(match value {
        Value::Null => py.None(),
        Value::Bool(value) => value.into_pyobject(py)?.to_owned().into_any().unbind(),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(number), _) => number.into_pyobject(py)?.into_any().unbind(),
            (_, Some(number)) => number.into_pyobject(py)?.into_any().unbind(),
            // Numbers of any size keep their digits.
            _ => {
                let text = number.to_string();
                let is_whole = text.bytes().all(|it| it.is_ascii_digit() || it == b'-');
                let class = if is_whole { "int" } else { "float" };
                py.import("builtins")?.getattr(class)?.call1((text,))?.unbind()
            }
        },
        Value::String(text) => text.into_pyobject(py)?.into_any().unbind(),
        Value::Array(elements) => {
            let list = PyList::empty(py);
            for element in elements {
                list.append(python(py, element)?)?;
            }
            list.into_any().unbind()
        }
        Value::Object(members) => {
            let dict = PyDict::new(py);
            for (key, member) in members {
                dict.set_item(key, python(py, member)?)?;
            }
            dict.into_any().unbind()
        }
    })
}
