//! A value or its bytes as text for other programs.

use crate::answers::{hex, named};
use crate::message::Message;
use crate::query::Query;
use crate::workbench::Workbench;
use serde_json::{Value, json};
use std::fmt::Write as _;
use tercet_schema::dynamic::Tape;
use tercet_schema::dynamic::json as json_text;
use tercet_schema::{Rules, TapeCodec};

/// Characters of a text that is handed over.
const MOST: usize = 8 << 20;
/// Bytes in a line of an array.
const IN_LINE: usize = 12;

impl Workbench {
    /// Writes the value in another notation, or the bytes of a part of it as an array.
    pub(crate) fn export(&self, query: &Query) -> Result<Value, String> {
        let (row, message) = self.message(query)?;
        let form = query.text("as").unwrap_or("json");
        let text = match form {
            "json" | "xml" | "gser" | "value" => notation(&message, form)?,
            "hex" | "c" | "rust" | "python" => array(&octets(&message, query)?, form),
            _ => {
                let known = "json, xml, gser, value, hex, c, rust, python";
                return Err(format!("unknown form `{form}`; known: {known}"));
            }
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
        _ => text = hex(octets),
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_in_three_languages() {
        assert_eq!(array(&[1, 0xAB], "hex"), "01AB");
        assert_eq!(array(&[1], "c"), "static const unsigned char message[1] = {\n    0x01,\n};\n");
        assert_eq!(array(&[1], "rust"), "const MESSAGE: [u8; 1] = [\n    0x01,\n];\n");
        assert_eq!(array(&[1, 2], "python"), "message = bytes.fromhex(\n    \"0102\"\n)\n");
    }
}
