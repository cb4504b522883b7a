//! The first columns of rows: where a row came from, and which element of its lists it is.

use super::Shown;
use crate::conversion::FormOptions;
use crate::writer::Origin;
use std::io::Write;
use std::iter::zip;
use tercet_dynamic::csv::{push_field, push_guarded};
use tercet_dynamic::text::{Octets, push_octets};

/// Columns or members in front of each row.
#[derive(Clone, Debug)]
pub(super) struct Prefix {
    keys: &'static [&'static str],
    lists: Vec<String>,
    /// Whether names of files that a spreadsheet would take for formulas get an apostrophe in CSV.
    guard_formulas: bool,
}

impl Prefix {
    /// Columns that tell where rows came from, and which elements of lists they are.
    pub(super) fn new(form: &FormOptions, shown: Shown<'_>) -> Self {
        let (keys, lists) = (form.keys(shown).names(), shown.lists.to_vec());
        Self { keys, lists, guard_formulas: form.guard_formulas }
    }

    /// Appends the names of the columns, with a comma after each.
    pub(super) fn csv_header(&self, out: &mut Vec<u8>) {
        for key in self.keys {
            out.extend_from_slice(key.as_bytes());
            out.push(b',');
        }
        for list in &self.lists {
            push_field(out, format!("_{list}").as_bytes(), b',');
            out.push(b',');
        }
    }

    /// Appends the fields, with a comma after each.
    pub(super) fn csv(&self, origin: &Origin<'_>, out: &mut Vec<u8>) {
        if let [_, more @ ..] = self.keys {
            let push = if self.guard_formulas { push_guarded } else { push_field };
            push(out, origin.input.as_bytes(), b',');
            out.push(b',');
            for (_, number) in zip(more, numbers_of(origin)) {
                push_number(out, number);
                out.push(b',');
            }
            if let [_, _, _, _] = more {
                push_octets(out, &origin.sha256(), Octets::LowerHex);
                out.push(b',');
            }
        }
        for list in 0..self.lists.len() {
            if let Some(Some(element)) = origin.elements.get(list) {
                push_number(out, *element);
            }
            out.push(b',');
        }
    }

    /// Appends a JSON value with members in front; what is not an object becomes the member `value`.
    pub(super) fn json(&self, origin: &Origin<'_>, value: &[u8], indent: Option<u8>, out: &mut Vec<u8>) {
        let mut members = Vec::new();
        if let [file, more @ ..] = self.keys {
            members.push(((*file).to_owned(), serde_json::Value::from(origin.input)));
            for (name, number) in zip(more, numbers_of(origin)) {
                members.push(((*name).to_owned(), number.into()));
            }
            if let [_, _, _, name] = more {
                let mut text = Vec::new();
                push_octets(&mut text, &origin.sha256(), Octets::LowerHex);
                members.push(((*name).to_owned(), String::from_utf8_lossy(&text).into()));
            }
        }
        for (list, name) in self.lists.iter().enumerate() {
            if let Some(Some(element)) = origin.elements.get(list) {
                members.push((format!("_{name}"), (*element).into()));
            }
        }
        if members.is_empty() {
            return out.extend_from_slice(value);
        }
        let (space, gap) = if indent.is_some() { ("\n  ", " ") } else { ("", "") };
        let text = members
            .iter()
            .map(|(name, value)| format!("{space}{}:{gap}{value}", serde_json::Value::from(name.as_str())));
        out.push(b'{');
        out.extend_from_slice(text.collect::<Vec<_>>().join(",").as_bytes());
        match value.strip_prefix(b"{") {
            Some(b"}") => out.extend_from_slice(if indent.is_some() { b"\n}" } else { b"}" }),
            Some(rest) => {
                out.push(b',');
                out.extend_from_slice(rest);
            }
            None => {
                out.extend_from_slice(format!(",{space}\"value\":{gap}").as_bytes());
                out.extend_from_slice(value);
                out.extend_from_slice(if indent.is_some() { b"\n}" } else { b"}" });
            }
        }
    }
}

/// Returns the numbers in the columns after that of the file.
fn numbers_of(origin: &Origin<'_>) -> [u64; 3] {
    [origin.index, origin.offset, origin.octets.len() as u64]
}

fn push_number(out: &mut Vec<u8>, number: u64) {
    // Writing to memory does not fail.
    _ = write!(out, "{number}");
}
