//! Entries as JSON lines and CSV.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};
use tercet::dynamic::csv::is_formula;
use tercet_ldap::Entry;
use tercet_ldap::ldif::{Change, Record};

/// An entry as one line of JSON: `dn`, and each attribute as a list of strings. A value that is not UTF-8 is
/// `{"base64": …}`.
pub fn json(out: &mut Vec<u8>, entry: &Entry) {
    let attributes = entry.attributes();
    object(out, entry.dn(), attributes.map(|one| (one.name().into_owned(), one.values())));
}

/// A name and attributes as one line of JSON.
pub fn object<'v, V: Iterator<Item = &'v [u8]>>(
    out: &mut Vec<u8>,
    dn: &str,
    attributes: impl Iterator<Item = (String, V)>,
) {
    let mut object = Map::new();
    object.insert("dn".to_owned(), Value::from(dn));
    for (name, values) in attributes {
        object.insert(name, values.map(json_value).collect());
    }
    out.extend_from_slice(Value::Object(object).to_string().as_bytes());
    out.push(b'\n');
}

/// Each value of an entry as one line of JSON: `dn`, `attribute` and `value`.
pub fn json_values(out: &mut Vec<u8>, entry: &Entry) {
    for attribute in entry.attributes() {
        for value in attribute.values() {
            let line = json!({ "dn": entry.dn(), "attribute": attribute.name(), "value": json_value(value) });
            out.extend_from_slice(line.to_string().as_bytes());
            out.push(b'\n');
        }
    }
}

/// A value: a text, or `{"base64": …}`.
pub fn json_value(value: &[u8]) -> Value {
    match std::str::from_utf8(value) {
        Ok(text) => Value::from(text),
        Err(_) => json!({ "base64": STANDARD.encode(value) }),
    }
}

/// The head of a table.
pub fn csv_head(out: &mut Vec<u8>, attributes: &[String]) {
    out.extend_from_slice(b"dn");
    for name in attributes {
        out.push(b',');
        cell(out, name, false);
    }
    out.push(b'\n');
}

/// An entry as a row: several values of an attribute have a line each within their cell. With `guard`, an apostrophe
/// stands in front of what a spreadsheet would take for a formula.
pub fn csv(out: &mut Vec<u8>, entry: &Entry, attributes: &[String], guard: bool) {
    cell(out, entry.dn(), guard);
    for name in attributes {
        out.push(b',');
        let values: Vec<String> = entry
            .values(name)
            .map(|value| std::str::from_utf8(value).map_or_else(|_| STANDARD.encode(value), str::to_owned))
            .collect();
        cell(out, &values.join("\n"), guard);
    }
    out.push(b'\n');
}

/// A cell by RFC 4180.
pub fn cell(out: &mut Vec<u8>, text: &str, guard: bool) {
    if guard && is_formula(text.as_bytes()) {
        return cell(out, &format!("'{text}"), false);
    }
    if text.contains([',', '"', '\n', '\r']) {
        out.push(b'"');
        out.extend_from_slice(text.replace('"', "\"\"").as_bytes());
        out.push(b'"');
    } else {
        out.extend_from_slice(text.as_bytes());
    }
}

/// An entry as a record of content.
pub fn record(entry: &Entry) -> Record {
    let attributes = entry.attributes();
    let owned = attributes.map(|one| (one.name().into_owned(), one.values().map(<[u8]>::to_vec).collect()));
    let change = Change::Add(owned.collect());
    Record { dn: entry.dn().to_owned(), controls: Vec::new(), change, is_change: false }
}
