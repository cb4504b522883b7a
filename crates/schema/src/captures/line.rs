//! A message as a line of JSON.

use super::decoder::{Decoded, Fault};
use super::inner::Inner;
use serde_json::{Map, Value};
use std::io::{self, Write};
use std::net::SocketAddr;
use tercet_capture::{Endpoint, Pdu, SccpAddress, Stream};
use tercet_dynamic::text::{Octets, push_integer, push_octets};

/// Returns the object of a message: the keys of `tercet capture list --json`, and `value` of messages inside if it was asked
/// for.
///
/// `file` is the name of its capture, if there are several.
pub fn object(pdu: &Pdu<'_>, decoded: Option<&Decoded>, file: Option<&str>) -> Map<String, Value> {
    let mut line = Vec::new();
    push_line(pdu, decoded, file, false, &mut line);
    // The line has few levels: the reader takes what the writer has written.
    let mut object = serde_json::from_slice(&line).unwrap_or_default();
    add_values(&mut object, decoded.map_or(&[], |it| &it.inner));
    object
}

/// Adds the values of messages inside, which may be nested deeper than a reader of JSON goes.
fn add_values(object: &mut Map<String, Value>, inner: &[Inner]) {
    let objects = object.get_mut("inner").and_then(Value::as_array_mut).into_iter().flatten();
    for (object, inner) in objects.filter_map(Value::as_object_mut).zip(inner) {
        add_values(object, &inner.decoded.inner);
        if let Some(value) = &inner.decoded.value {
            object.insert("value".to_owned(), value.clone());
        }
    }
}

/// Appends the line of a message: the keys of `tercet capture list --json`, with those of `--layers` if `layers` asks for
/// them. There is no line feed at the end.
///
/// Nothing is allocated but what `out` grows by.
pub fn push_line(
    pdu: &Pdu<'_>,
    decoded: Option<&Decoded>,
    file: Option<&str>,
    layers: bool,
    out: &mut Vec<u8>,
) {
    let mut line = Members::open(out);
    line.number("frame", pdu.frame);
    line.text("protocol", &pdu.protocol.name);
    line.optional_text("message", decoded.and_then(|it| it.message.as_deref()));
    line.octets("octets", pdu.octets);
    match pdu.time {
        Some(time) => line.ascii("time", &time.text()),
        None => line.null("time"),
    }
    line.endpoint("src", pdu.source);
    line.endpoint("dst", pdu.destination);
    if let Some(stream) = pdu.stream {
        line.stream("stream", stream);
    }
    match decoded {
        Some(decoded) => decoded_members(decoded, &mut line),
        None => line.object("ids", |_| {}),
    }
    if pdu.frames().len() > 1 {
        line.list("frames", pdu.frames(), |frame, out| push_number(out, *frame));
    }
    if pdu.partial {
        line.true_("partial");
    }
    if pdu.possible_duplicate {
        line.true_("possible_duplicate");
    }
    if let Some(sccp) = &pdu.sccp {
        line.object("sccp", |line| {
            line.object("calling", |line| party(&sccp.calling, line));
            line.object("called", |line| party(&sccp.called, line));
        });
    }
    if let Some(file) = file {
        line.text("file", file);
    }
    if pdu.interface > 0 {
        line.number("interface", pdu.interface.into());
    }
    if layers {
        line.list("layers", pdu.layers(), |name, out| push_text(out, name));
    }
    line.close();
}

/// Adds what is decoded of a message: identifiers, the specification, the fault, deviations, messages inside.
fn decoded_members(decoded: &Decoded, line: &mut Members<'_>) {
    line.object("ids", |line| {
        for (key, value) in &decoded.identifiers {
            line.value(key, value);
        }
    });
    if let Some([module, type_name, rules]) = decoded.used.as_deref() {
        line.text("schema", module);
        line.text("type", type_name);
        line.text("rules", rules);
    }
    if let Some(Fault { stage, offset, bit, path, message }) = &decoded.fault {
        line.object("error", |line| {
            line.text("stage", stage);
            line.optional_number("offset", *offset);
            line.optional_number("bit", bit.map(u64::from));
            line.text("path", path);
            line.text("message", message);
        });
    }
    if !decoded.warnings.is_empty() {
        line.list("warnings", &decoded.warnings, |warning, out| {
            let mut line = Members::open(out);
            line.text("path", &warning.path);
            line.text("code", warning.code);
            line.text("message", &warning.message);
            line.close();
        });
    }
    if !decoded.inner.is_empty() {
        line.list("inner", &decoded.inner, |inner, out| {
            let mut line = Members::open(out);
            line.text("protocol", &inner.protocol.name);
            line.optional_text("message", inner.decoded.message.as_deref());
            line.octets("octets", &inner.octets);
            decoded_members(&inner.decoded, &mut line);
            line.close();
        });
    }
}

/// Adds the parts that an address of SCCP has.
fn party(address: &SccpAddress, line: &mut Members<'_>) {
    let SccpAddress { point_code, ssn, global_title, .. } = address;
    if let Some(point_code) = point_code {
        line.number("point_code", (*point_code).into());
    }
    if let Some(ssn) = ssn {
        line.number("ssn", (*ssn).into());
    }
    if let Some(title) = global_title {
        line.text("global_title", title);
    }
}

/// Writes an object as a line.
///
/// # Errors
/// When it cannot be written.
pub fn write(object: &Map<String, Value>, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, object)?;
    out.write_all(b"\n")
}

/// The members of an object of JSON, one after the other.
struct Members<'o> {
    out: &'o mut Vec<u8>,
    is_first: bool,
}

impl<'o> Members<'o> {
    fn open(out: &'o mut Vec<u8>) -> Self {
        out.push(b'{');
        Self { out, is_first: true }
    }

    fn close(self) {
        self.out.push(b'}');
    }

    /// Appends a key, which has nothing that JSON escapes, and returns the place of its value.
    fn key(&mut self, key: &str) -> &mut Vec<u8> {
        let comma: &[u8] = if self.is_first { b"\"" } else { b",\"" };
        self.is_first = false;
        self.out.extend_from_slice(comma);
        self.out.extend_from_slice(key.as_bytes());
        self.out.extend_from_slice(b"\":");
        self.out
    }

    fn null(&mut self, key: &str) {
        self.key(key).extend_from_slice(b"null");
    }

    fn true_(&mut self, key: &str) {
        self.key(key).extend_from_slice(b"true");
    }

    fn number(&mut self, key: &str, number: u64) {
        push_number(self.key(key), number);
    }

    fn optional_number(&mut self, key: &str, number: Option<u64>) {
        match number {
            Some(number) => self.number(key, number),
            None => self.null(key),
        }
    }

    fn text(&mut self, key: &str, text: &str) {
        push_text(self.key(key), text);
    }

    fn optional_text(&mut self, key: &str, text: Option<&str>) {
        match text {
            Some(text) => self.text(key, text),
            None => self.null(key),
        }
    }

    /// Adds a text that has nothing that JSON escapes.
    fn ascii(&mut self, key: &str, text: &[u8]) {
        let out = self.key(key);
        out.push(b'"');
        out.extend_from_slice(text);
        out.push(b'"');
    }

    fn octets(&mut self, key: &str, octets: &[u8]) {
        let out = self.key(key);
        out.reserve(2 * octets.len() + 2);
        out.push(b'"');
        push_octets(out, octets, Octets::LowerHex);
        out.push(b'"');
    }

    fn endpoint(&mut self, key: &str, endpoint: Endpoint) {
        let out = self.key(key);
        match endpoint {
            Endpoint::Unknown => out.extend_from_slice(b"null"),
            // Most addresses: the formatting of the library takes ten times as long.
            Endpoint::Ip(SocketAddr::V4(socket)) => {
                let mut mark = b'"';
                for octet in socket.ip().octets() {
                    out.push(mark);
                    push_integer(out, octet.into());
                    mark = b'.';
                }
                out.push(b':');
                push_integer(out, socket.port().into());
                out.push(b'"');
            }
            // Writing to memory does not fail.
            other => _ = write!(out, "\"{other}\""),
        }
    }

    fn stream(&mut self, key: &str, stream: Stream) {
        let out = self.key(key);
        match stream {
            Stream::Sctp { association, stream } => {
                out.extend_from_slice(b"\"sctp:");
                push_number(out, association);
                out.push(b'/');
                push_number(out, stream.into());
                out.push(b'"');
            }
            other => _ = write!(out, "\"{other}\""),
        }
    }

    fn value(&mut self, key: &str, value: &Value) {
        let out = self.key(key);
        match value.as_u64() {
            Some(number) => push_number(out, number),
            None => _ = serde_json::to_writer(out, value),
        }
    }

    fn object(&mut self, key: &str, members: impl FnOnce(&mut Members<'_>)) {
        let mut inside = Members::open(self.key(key));
        members(&mut inside);
        inside.close();
    }

    fn list<T>(&mut self, key: &str, elements: &[T], mut push: impl FnMut(&T, &mut Vec<u8>)) {
        let out = self.key(key);
        out.push(b'[');
        for (at, element) in elements.iter().enumerate() {
            if at > 0 {
                out.push(b',');
            }
            push(element, out);
        }
        out.push(b']');
    }
}

fn push_number(out: &mut Vec<u8>, number: u64) {
    match i64::try_from(number) {
        Ok(number) => push_integer(out, number),
        Err(_) => _ = write!(out, "{number}"),
    }
}

/// Appends a text with quotation marks; writing to memory does not fail.
fn push_text(out: &mut Vec<u8>, text: &str) {
    _ = serde_json::to_writer(out, text);
}
