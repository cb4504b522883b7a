//! The checks of rules that give text.

use serde_json::Value;

use tercet_plan::Rules;

use crate::engine::Type;
use crate::{hex, same};

/// A text is read as the value.
///
/// # Errors
/// What the reader says, or the first difference.
pub fn reads(of: &mut Type, rules: Rules, text: &str, value: &Value) -> Result<(), String> {
    let got = of.read_text(rules, text).map_err(|e| format!("{rules:?} {}: {e}", brief(text)))?;
    same::compare(of.shape(), of.node(), value, &got).map_err(|d| format!("{rules:?} {}: {d}", brief(text)))
}

/// The value is written as the text.
///
/// # Errors
/// What the writer says, or both texts.
pub fn writes(of: &mut Type, rules: Rules, value: &Value, text: &str) -> Result<(), String> {
    let made = of.write_text(rules, value).map_err(|e| format!("{rules:?} write: {e}"))?;
    let same = match rules {
        // A lone space may be lost on either side; that the text is read as the value is another check.
        Rules::Xer => without_space(text) == without_space(&made),
        Rules::Jer => json(text)? == json(&made)?,
        _ => text == made,
    };
    if same { Ok(()) } else { Err(format!("{rules:?}: expected {}, got {}", brief(text), brief(&made))) }
}

/// A text, perhaps with ` ;; ` and a part of the message behind it, is refused.
///
/// # Errors
/// It is accepted, or the message is another.
pub fn refused(of: &mut Type, rules: Rules, line: &str) -> Result<(), String> {
    let (text, message) = line.split_once(" ;; ").unwrap_or((line, ""));
    match of.read_text(rules, text) {
        Ok(value) => Err(format!("{rules:?} {} is accepted: {}", brief(text), same::brief(&value))),
        Err(error) if error.contains(message.trim()) => Ok(()),
        Err(error) => Err(format!("{rules:?} {}: expected {message}, got {error}", brief(text))),
    }
}

/// The checks of a vector: the text reads as the value, the value is written as the text, and the text means the octets
/// of DER.
pub fn vector(
    of: &mut Type,
    rules: Rules,
    text: &str,
    value: &Value,
    der: Option<&[u8]>,
) -> Vec<(&'static str, Result<(), String>)> {
    let mut outcomes =
        vec![("read", reads(of, rules, text, value)), ("write", writes(of, rules, value, text))];
    if let Some(der) = der {
        let made = of.read_text(rules, text).and_then(|value| of.encode(Rules::Der, &value));
        let outcome = made.and_then(|made| match made == der {
            true => Ok(()),
            false => Err(format!("expected {}, got {}", hex::brief(der), hex::brief(&made))),
        });
        outcomes.push(("to der", outcome));
    }
    outcomes
}

/// XML without white space beside tags: what is left is the same for texts that differ in layout alone.
pub fn without_space(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (i, part) in text.split('<').enumerate() {
        if i > 0 {
            out.push('<');
        }
        match part.split_once('>') {
            Some((tag, rest)) => {
                out.push_str(&tag.replace(" /", "/"));
                out.push('>');
                out.push_str(if rest.trim().is_empty() { "" } else { rest });
            }
            None => out.push_str(part.trim()),
        }
    }
    out
}

fn json(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| format!("{}: {error}", brief(text)))
}

fn brief(text: &str) -> String {
    text.chars().take(400).collect()
}
