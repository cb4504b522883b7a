//! A value or its bytes as text for other programs.

use crate::answers::{hex, named};
use crate::explain::{characters, notation as bits_of, place};
use crate::html;
use crate::message::Message;
use crate::query::Query;
use crate::workbench::Workbench;
use serde_json::{Value, json};
use std::fmt::Write as _;
use tercet_schema::dynamic::Tape;
use tercet_schema::dynamic::json as json_text;
use tercet_schema::suggest;
use tercet_schema::{Rules, TapeCodec};

/// Characters of a text that is handed over.
const MOST: usize = 8 << 20;
/// Bytes in a line of an array.
const IN_LINE: usize = 12;

/// The forms of a value, of its bytes, of both.
const FORMS: [&str; 12] =
    ["json", "xml", "gser", "value", "hex", "base64", "c", "rust", "python", "trace", "markdown", "html"];

impl Workbench {
    /// Writes the value in another notation, or the bytes of a part of it as an array.
    pub(crate) fn export(&self, query: &Query) -> Result<Value, String> {
        let (row, message) = self.message(query)?;
        let form = query.text("as").unwrap_or("json");
        let text = match form {
            "json" | "xml" | "gser" | "value" => notation(&message, form)?,
            "hex" | "base64" | "c" | "rust" | "python" => array(&octets(&message, query)?, form),
            "trace" | "markdown" => traced(&message, form == "markdown")?,
            "html" => html::page(&message, &self.source(query)?.1, &row),
            _ => return Err(suggest::unknown("form", form, FORMS)),
        };
        if text.len() > MOST {
            return Err(format!(
                "{} characters: at most {MOST} are handed over; use `tercet cat`",
                text.len()
            ));
        }
        Ok(json!({ "as": form, "record": row.record, "text": text }))
    }
}

/// The value as a whole, in a notation.
fn notation(message: &Message, form: &str) -> Result<String, String> {
    let Some(view) = message.view.as_deref() else {
        return Err("there is no specification to read the value by".to_owned());
    };
    let (plan, octets) = (&view.plan, &message.octets);
    let mut tape = Tape::new();
    let mut codec = TapeCodec::new(view.rules, plan);
    let options = view.options();
    if let Err(error) = codec.read(view.root, octets, &mut tape, &options) {
        codec.finish_partial(view.root, octets, &mut tape, &options, &error);
    }
    let value = tape.view(octets);
    let mut text = Vec::new();
    match form {
        "json" => {
            let mut writing = json_text::Options::default();
            (writing.indent, writing.defaults) = (Some(2), false);
            json_text::write(&plan.shape, value, &mut text, &writing);
        }
        "value" => {
            let value = tercet_schema::dynamic::Value::from_view(&plan.shape, value);
            return Ok(value.map_or_else(String::new, |value| value.to_string()));
        }
        other => {
            let rules = if other == "xml" { Rules::Xer } else { Rules::Gser };
            TapeCodec::new(rules, plan).write(value, &mut text).map_err(|error| error.to_string())?;
        }
    }
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// The bytes that a part of the value has bits in; all of them without one.
fn octets(message: &Message, query: &Query) -> Result<Vec<u8>, String> {
    let has_part = ["node", "path", "bit"].iter().any(|name| query.text(name).is_some());
    let index = if has_part { named(query, message)? } else { 0 };
    let node = message.tree.nodes.get(index as usize).filter(|node| has_part && node.has_bits());
    let range = node.map_or(0..message.octets.len(), |node| {
        (node.at / 8) as usize..(node.end.div_ceil(8) as usize).min(message.octets.len())
    });
    Ok(message.octets.get(range).unwrap_or_default().to_vec())
}

/// Bytes in the notation of a language.
fn array(octets: &[u8], form: &str) -> String {
    let lines = |text: &mut String| {
        for line in octets.chunks(IN_LINE) {
            let numbers: Vec<String> = line.iter().map(|octet| format!("0x{octet:02X}")).collect();
            // Writing to memory does not fail.
            _ = writeln!(text, "    {},", numbers.join(", "));
        }
    };
    let mut text = String::new();
    match form {
        "c" => {
            _ = writeln!(text, "static const unsigned char message[{}] = {{", octets.len());
            lines(&mut text);
            text.push_str("};\n");
        }
        "rust" => {
            _ = writeln!(text, "const MESSAGE: [u8; {}] = [", octets.len());
            lines(&mut text);
            text.push_str("];\n");
        }
        "python" => {
            text.push_str("message = bytes.fromhex(\n");
            for line in octets.chunks(2 * IN_LINE) {
                _ = writeln!(text, "    \"{}\"", hex(line));
            }
            text.push_str(")\n");
        }
        "base64" => {
            for line in octets.chunks(48) {
                text.push_str(&base64(line));
                text.push('\n');
            }
        }
        _ => text = hex(octets),
    }
    text
}

/// Base64 (RFC 4648) of one line.
fn base64(octets: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for group in octets.chunks(3) {
        let bits =
            group.iter().fold(0_u32, |bits, octet| bits << 8 | u32::from(*octet)) << (8 * (3 - group.len()));
        for index in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * index) & 63) as usize];
            text.push(if index > group.len() { '=' } else { char::from(digit) });
        }
    }
    text
}

/// The parts of the encoding one by one, in columns or as a table of Markdown.
fn traced(message: &Message, is_table: bool) -> Result<String, String> {
    let none = || "a trace requires a specification, and rules other than extended XER".to_owned();
    let view = message.view.as_deref().ok_or_else(none)?;
    let has_bits = crate::answers::has_bits(view);
    let unit = if has_bits { "bits" } else { "bytes" };
    let mut text = String::new();
    if is_table {
        _ = writeln!(
            text,
            "| offset | {unit} | encoding | part | path | value | clause |\n|---|---|---|---|---|---|---|"
        );
    }
    let cell = |text: &str| text.replace('|', "\\|").replace(['\n', '\r'], " ");
    let read = message.trace(|step| {
        if text.len() > MOST {
            return;
        }
        let at = place(step.place.at + message.offset * 8, has_bits);
        let count = if has_bits { step.place.bits } else { step.place.bits / 8 };
        let encoding = match view.rules.is_text() {
            true => characters(&message.octets, step.place.at, step.place.bits).replace(['\n', '\r'], " "),
            false => bits_of(&message.octets, step.place.at, step.place.bits),
        };
        let part = [step.place.part.name(), step.meaning].join(" ");
        let (path, value) = (step.path, step.value.unwrap_or_default());
        // Writing to memory does not fail.
        _ = match is_table {
            true => writeln!(
                text,
                "| {at} | {count} | `{encoding}` | {} | {} | {} | {} |",
                cell(part.trim_end()),
                cell(path),
                cell(value),
                step.clause
            ),
            false => {
                let value = if value.is_empty() { String::new() } else { format!(" = {value}") };
                writeln!(
                    text,
                    "{at:>10} {count:>6} {encoding:<24} {:<14} {:<24} {path}{value}",
                    step.clause,
                    part.trim_end()
                )
            }
        };
    });
    if let Err(error) = read.ok_or_else(none)? {
        _ = writeln!(text, "{}{error}", if is_table { "\n" } else { "! " });
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_in_three_languages() {
        assert_eq!(array(&[1, 0xAB], "hex"), "01AB");
        let base64 = |octets: &[u8]| array(octets, "base64");
        assert_eq!(
            (base64(b"Ma").as_str(), base64(b"M").as_str(), base64(b"Man").as_str()),
            ("TWE=\n", "TQ==\n", "TWFu\n")
        );
        assert_eq!(array(&[1], "c"), "static const unsigned char message[1] = {\n    0x01,\n};\n");
        assert_eq!(array(&[1], "rust"), "const MESSAGE: [u8; 1] = [\n    0x01,\n];\n");
        assert_eq!(array(&[1, 2], "python"), "message = bytes.fromhex(\n    \"0102\"\n)\n");
    }
}
