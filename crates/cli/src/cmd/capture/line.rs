//! A message as a row of a table.

use serde_json::Value;
use std::io::{self, Write};
use tercet::captures::Decoded;
use tercet_capture::Pdu;

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
    let fault = decoded.and_then(|it| it.fault.as_ref()).filter(|fault| fault.stage != "schema");
    let fault = fault.map(|fault| match fault.offset {
        Some(offset) => format!("error: {} at byte {offset}", fault.message),
        None => format!("error: {}: {}", fault.path, fault.message),
    });
    let warnings = decoded.map_or(&[][..], |it| &it.warnings);
    let warning = warnings.first().map(|it| format!("warning: {}: {}", it.path, it.message));
    let more = (warnings.len() > 1).then(|| format!("and {} more", warnings.len() - 1));
    let rest = ids.chain(marks).chain(fault).chain(warning).chain(more).collect::<Vec<_>>().join(" ");
    let (source, destination) = (pdu.source.to_string(), pdu.destination.to_string());
    let (frame, protocol) = (pdu.frame, &pdu.protocol.name);
    let text = format!(
        "{frame:>6}  {time:<30}  {source:<21}  {destination:<21}  {protocol:<9}  {message:<32}  {rest}"
    );
    writeln!(out, "{}", text.trim_end())
}
