//! A message as a line: an object of JSON, or a row of the table.

use super::decoder::Decoded;
use super::identifiers::hexadecimal;
use serde_json::{Map, Value, json};
use std::io::{self, Write};
use tercet_capture::{Endpoint, Pdu, SccpAddress};

/// Returns the object of a message.
pub(super) fn object(pdu: &Pdu<'_>, decoded: Option<&Decoded>, file: Option<&str>) -> Map<String, Value> {
    let mut object = Map::new();
    let mut put = |key: &str, value: Value| object.insert(key.to_owned(), value);
    put("frame", pdu.frame.into());
    put("protocol", pdu.protocol.name.as_str().into());
    put("message", decoded.and_then(|it| it.message.clone()).into());
    put("octets", hexadecimal(pdu.octets).into());
    put("time", pdu.time.map(|time| time.to_string()).into());
    let address = |it: Endpoint| (it != Endpoint::Unknown).then(|| it.to_string());
    put("src", address(pdu.source).into());
    put("dst", address(pdu.destination).into());
    if let Some(stream) = pdu.stream {
        put("stream", stream.to_string().into());
    }
    let identifiers = decoded.map_or(&[][..], |it| &it.identifiers);
    let identifiers: Map<_, _> =
        identifiers.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
    put("ids", identifiers.into());
    if let Some([module, type_name, rules]) = decoded.and_then(|it| it.used.as_ref()) {
        put("schema", module.as_str().into());
        put("type", type_name.as_str().into());
        put("rules", rules.as_str().into());
    }
    if pdu.frames().len() > 1 {
        put("frames", pdu.frames().into());
    }
    if pdu.partial {
        put("partial", true.into());
    }
    if pdu.possible_duplicate {
        put("possible_duplicate", true.into());
    }
    if let Some(sccp) = &pdu.sccp {
        put("sccp", json!({"calling": party(&sccp.calling), "called": party(&sccp.called)}));
    }
    if let Some(fault) = decoded.and_then(|it| it.fault.as_ref()) {
        put(
            "error",
            json!({
                "stage": fault.stage,
                "offset": fault.offset,
                "bit": fault.bit,
                "path": fault.path,
                "message": fault.message,
            }),
        );
    }
    if let Some(file) = file {
        put("file", file.into());
    }
    if pdu.interface > 0 {
        put("interface", pdu.interface.into());
    }
    object
}

/// Writes an object as a line.
pub(super) fn write(object: &Map<String, Value>, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, object)?;
    out.write_all(b"\n")
}

/// Returns the parts that an address of SCCP has.
fn party(address: &SccpAddress) -> Value {
    let mut object = Map::new();
    let mut put = |key: &str, value: Option<Value>| value.map(|value| object.insert(key.to_owned(), value));
    put("point_code", address.point_code.map(Value::from));
    put("ssn", address.ssn.map(Value::from));
    put("global_title", address.global_title.clone().map(Value::from));
    object.into()
}

/// Writes the head of the table.
pub(super) fn head(out: &mut dyn Write) -> io::Result<()> {
    let [frame, time, source, destination, protocol, message] =
        ["frame", "time", "src", "dst", "protocol", "message"];
    writeln!(
        out,
        "{frame:>6}  {time:<30}  {source:<21}  {destination:<21}  {protocol:<9}  {message:<32}  ids"
    )
}

/// Writes a row of the table.
pub(super) fn row(pdu: &Pdu<'_>, decoded: Option<&Decoded>, out: &mut dyn Write) -> io::Result<()> {
    let time = pdu.time.map_or_else(|| "-".to_owned(), |time| time.to_string());
    let message = decoded.and_then(|it| it.message.clone()).unwrap_or_else(|| "-".to_owned());
    let plain = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let identifiers = decoded.map_or(&[][..], |it| &it.identifiers);
    let ids = identifiers.iter().map(|(key, value)| format!("{key}={}", plain(value)));
    let marks = pdu.partial.then(|| "partial".to_owned()).into_iter();
    // A missing specification is reported once, on standard error.
    let fault = decoded.and_then(|it| it.fault.as_ref()).filter(|fault| fault.stage == "decode");
    let fault = fault.map(|fault| format!("error: {} at byte {}", fault.message, fault.offset.unwrap_or(0)));
    let rest = ids.chain(marks).chain(fault).collect::<Vec<_>>().join(" ");
    let (source, destination) = (pdu.source.to_string(), pdu.destination.to_string());
    let (frame, protocol) = (pdu.frame, &pdu.protocol.name);
    let text = format!(
        "{frame:>6}  {time:<30}  {source:<21}  {destination:<21}  {protocol:<9}  {message:<32}  {rest}"
    );
    writeln!(out, "{}", text.trim_end())
}
