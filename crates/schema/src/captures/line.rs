//! A message as a line of JSON.

use super::decoder::{Decoded, Warning};
use super::identifiers::hexadecimal;
use super::inner::Inner;
use serde_json::{Map, Value, json};
use std::io::{self, Write};
use tercet_capture::{Endpoint, Pdu, SccpAddress};

/// Returns the object of a message: the keys of `tercet capture list --json`.
///
/// `file` is the name of its capture, if there are several.
pub fn object(pdu: &Pdu<'_>, decoded: Option<&Decoded>, file: Option<&str>) -> Map<String, Value> {
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
    let none = Decoded::default();
    decoded_members(decoded.unwrap_or(&none), &mut object);
    let mut put = |key: &str, value: Value| object.insert(key.to_owned(), value);
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
    if let Some(file) = file {
        put("file", file.into());
    }
    if pdu.interface > 0 {
        put("interface", pdu.interface.into());
    }
    object
}

/// Adds what is decoded of a message: identifiers, the specification, the fault, deviations, messages inside.
pub(super) fn decoded_members(decoded: &Decoded, object: &mut Map<String, Value>) {
    let mut put = |key: &str, value: Value| object.insert(key.to_owned(), value);
    let identifiers = decoded.identifiers.iter().map(|(key, value)| ((*key).to_owned(), value.clone()));
    put("ids", identifiers.collect::<Map<_, _>>().into());
    if let Some([module, type_name, rules]) = decoded.used.as_deref() {
        put("schema", module.as_str().into());
        put("type", type_name.as_str().into());
        put("rules", rules.as_str().into());
    }
    if let Some(fault) = &decoded.fault {
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
    if !decoded.warnings.is_empty() {
        let object = |it: &Warning| json!({"path": it.path, "code": it.code, "message": it.message});
        put("warnings", decoded.warnings.iter().map(object).collect());
    }
    if !decoded.inner.is_empty() {
        put("inner", decoded.inner.iter().map(Inner::object).collect());
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

/// Returns the parts that an address of SCCP has.
fn party(address: &SccpAddress) -> Value {
    let mut object = Map::new();
    let mut put = |key: &str, value: Option<Value>| value.map(|value| object.insert(key.to_owned(), value));
    put("point_code", address.point_code.map(Value::from));
    put("ssn", address.ssn.map(Value::from));
    put("global_title", address.global_title.clone().map(Value::from));
    object.into()
}
