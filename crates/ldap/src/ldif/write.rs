//! LDIF as OpenLDAP's tools write it, octet for octet.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::record::{Change, Record};
use crate::proto::Entry;

/// How lines look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Columns after which lines are folded; `None` never.
    pub wrap: Option<usize>,
}

impl Default for Style {
    /// Lines of 78 columns, as OpenLDAP's tools have.
    fn default() -> Self {
        Self { wrap: Some(78) }
    }
}

impl Style {
    /// Writes an entry and the empty line behind it.
    pub fn entry(self, out: &mut Vec<u8>, entry: &Entry) {
        self.value(out, b"dn", entry.dn_octets());
        for attribute in entry.attributes() {
            let description = attribute.description();
            let encode = is_encoded_always(description);
            let mut values = attribute.values().peekable();
            if values.peek().is_none() {
                // The server was asked for types only.
                out.extend_from_slice(description);
                out.extend_from_slice(b":\n");
            }
            for value in values {
                self.line(out, description, value, encode);
            }
        }
        out.push(b'\n');
    }

    /// Writes a record and the empty line behind it.
    pub fn record(self, out: &mut Vec<u8>, record: &Record) {
        self.value(out, b"dn", record.dn.as_bytes());
        for control in &record.controls {
            let mut line = control.oid.clone();
            line.push_str(if control.critical { " true" } else { " false" });
            // A value in base64 that is no line of its own: the whole line has to stay readable.
            if let Some(value) = &control.value {
                line.push_str(":: ");
                STANDARD.encode_string(value, &mut line);
            }
            self.folded(out, b"control: ", line.as_bytes());
        }
        if record.is_change {
            let kind = match record.change {
                Change::Add(_) => "add",
                Change::Delete => "delete",
                Change::Modify(_) => "modify",
                Change::ModifyDn { .. } => "modrdn",
            };
            self.value(out, b"changetype", kind.as_bytes());
        }
        match &record.change {
            Change::Add(attributes) => {
                for (description, values) in attributes {
                    values.iter().for_each(|value| self.value(out, description.as_bytes(), value));
                }
            }
            Change::Delete => {}
            Change::Modify(modifications) => {
                for modification in modifications {
                    let attribute = modification.attribute.as_bytes();
                    self.value(out, modification.kind.word().as_bytes(), attribute);
                    modification.values.iter().for_each(|value| self.value(out, attribute, value));
                    out.extend_from_slice(b"-\n");
                }
            }
            Change::ModifyDn { new_rdn, delete_old_rdn, new_superior } => {
                self.value(out, b"newrdn", new_rdn.as_bytes());
                self.value(out, b"deleteoldrdn", if *delete_old_rdn { b"1" } else { b"0" });
                if let Some(superior) = new_superior {
                    self.value(out, b"newsuperior", superior.as_bytes());
                }
            }
        }
        out.push(b'\n');
    }

    /// Writes a line with a name and a value, in base64 if the value needs it.
    #[inline]
    pub fn value(self, out: &mut Vec<u8>, name: &[u8], value: &[u8]) {
        self.line(out, name, value, is_encoded_always(name));
    }

    /// Writes a comment. The folding counts one column less than there is, as OpenLDAP's does.
    pub fn comment(self, out: &mut Vec<u8>, text: &[u8]) {
        Self { wrap: self.wrap.map(|wrap| wrap + 1) }.folded(out, b"# ", text);
    }

    #[inline]
    fn line(self, out: &mut Vec<u8>, name: &[u8], value: &[u8], encode: bool) {
        if value.is_empty() {
            out.extend_from_slice(name);
            return out.extend_from_slice(b":\n");
        }
        if !encode && is_safe(value) {
            let length = name.len() + 2 + value.len();
            if self.wrap.is_none_or(|wrap| length <= wrap) {
                out.reserve(length + 1);
                out.extend_from_slice(name);
                out.extend_from_slice(b": ");
                out.extend_from_slice(value);
                out.push(b'\n');
                return;
            }
            return self.folded_after(out, name, b": ", value);
        }
        self.encoded(out, name, value);
    }

    fn encoded(self, out: &mut Vec<u8>, name: &[u8], value: &[u8]) {
        out.extend_from_slice(name);
        out.extend_from_slice(b":: ");
        let begin = out.len();
        let length = base64::encoded_len(value.len(), true).unwrap_or_default();
        let Some(wrap) = self.wrap else {
            append_encoded(out, value, length);
            out.push(b'\n');
            return;
        };
        let used = name.len() + 3;
        if used + length <= wrap {
            append_encoded(out, value, length);
            out.push(b'\n');
            return;
        }
        // Behind the place of the lines there is room for the text; it is folded into place from its begin, which
        // never overtakes what is still to be read.
        let first = wrap.saturating_sub(used).min(length);
        let each = wrap.saturating_sub(1).max(1);
        let folds = (length - first).div_ceil(each);
        out.resize(begin + folds * 2, 0);
        append_encoded(out, value, length);
        let (mut from, mut to, mut count) = (begin + folds * 2, begin, first);
        let end = out.len();
        loop {
            out.copy_within(from..from + count, to);
            (from, to) = (from + count, to + count);
            if from == end {
                break;
            }
            if let Some(fold) = out.get_mut(to..to + 2) {
                fold.copy_from_slice(b"\n ");
            }
            to += 2;
            count = each.min(end - from);
        }
        out.truncate(to);
        out.push(b'\n');
    }

    fn folded_after(self, out: &mut Vec<u8>, name: &[u8], separator: &[u8], text: &[u8]) {
        out.extend_from_slice(name);
        self.fold(out, name.len() + separator.len(), separator, text);
    }

    fn folded(self, out: &mut Vec<u8>, head: &[u8], text: &[u8]) {
        self.fold(out, head.len(), head, text);
    }

    fn fold(self, out: &mut Vec<u8>, used: usize, head: &[u8], text: &[u8]) {
        out.extend_from_slice(head);
        let first = self.wrap.map_or(text.len(), |wrap| wrap.saturating_sub(used)).min(text.len());
        let (line, text) = text.split_at(first);
        out.extend_from_slice(line);
        for line in text.chunks(self.wrap.map_or(usize::MAX, |wrap| wrap.saturating_sub(1).max(1))) {
            out.extend_from_slice(b"\n ");
            out.extend_from_slice(line);
        }
        out.push(b'\n');
    }
}

fn append_encoded(out: &mut Vec<u8>, value: &[u8], length: usize) {
    let begin = out.len();
    out.resize(begin + length, 0);
    if let Some(room) = out.get_mut(begin..) {
        // The room is as large as the text will be.
        _ = STANDARD.encode_slice(value, room);
    }
}

/// Whether values of an attribute are written in base64 whatever they are: passwords, so that nobody reads them by
/// chance, and what is transferred as `;binary`.
#[inline]
fn is_encoded_always(name: &[u8]) -> bool {
    match name.len() {
        8 if name == b"2.5.4.35" => true,
        12 if name.eq_ignore_ascii_case(b"userPassword") => true,
        _ => memchr::memchr(b';', name).is_some_and(|at| name.get(at..at + 7) == Some(b";binary")),
    }
}

/// Whether a value is written as it is: graphic characters of ASCII, and spaces inside.
#[inline]
fn is_safe(value: &[u8]) -> bool {
    match value {
        [] => true,
        [b' ' | b':' | b'<', ..] | [.., b' '] => false,
        // Without a branch in it, the loop becomes vector instructions.
        _ => value.iter().fold(true, |safe, octet| safe & (octet.wrapping_sub(0x20) < 0x5F)),
    }
}
