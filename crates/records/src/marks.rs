//! Values that are kept although their contents octets break the rules of their type: counted by path, listed in a file.

use crate::writer::{Origin, RowWriter};
use serde_json::json;
use std::collections::BTreeMap;
use std::io::{self, Write};
use tercet_dynamic::text::{Octets, push_octets};
use tercet_dynamic::{ErrorKind, Leaf, Marked};

/// Marked values that are kept of one record, with their octets: memory does not follow what an input repeats.
const MOST: usize = 4096;
/// Octets of a marked value that a line of the list shows.
const SHOWN: usize = 4096;

/// Marked values by the path of their component.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    by_path: BTreeMap<String, Marking>,
}

/// Marked values of one component.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marking {
    /// How many there are.
    pub count: u64,
    /// What is wrong with the first.
    pub kind: ErrorKind,
    /// Absolute offset of the first.
    pub offset: u64,
}

impl Marks {
    /// Returns the number of marked values.
    pub fn total(&self) -> u64 {
        self.by_path.values().map(|marking| marking.count).sum()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.by_path.is_empty()
    }

    /// Returns the marked values by path, in the order of the paths; an element of a list is `[]` there.
    pub fn by_path(&self) -> impl Iterator<Item = (&str, &Marking)> {
        self.by_path.iter().map(|(path, marking)| (path.as_str(), marking))
    }

    /// Adds the marked values of what follows in the input, or of another input.
    pub fn merge(&mut self, other: &Self) {
        for (path, marking) in &other.by_path {
            self.add(path, marking);
        }
    }

    fn add(&mut self, path: &str, marking: &Marking) {
        match self.by_path.get_mut(path) {
            Some(known) => known.count += marking.count,
            None => _ = self.by_path.insert(path.to_owned(), marking.clone()),
        }
    }
}

/// The marked values of the record that is being decoded.
#[derive(Clone, Debug, Default)]
pub(crate) struct RecordMarks {
    /// Whether there is a list of them.
    pub(crate) are_listed: bool,
    marks: Marks,
    values: Vec<Value>,
}

#[derive(Clone, Debug)]
struct Value {
    path: String,
    kind: ErrorKind,
    /// Absolute offset of the fault, and of the value.
    at: u64,
    offset: u64,
    octets: Vec<u8>,
    length: usize,
}

impl RecordMarks {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.marks.is_empty()
    }

    #[inline]
    pub(crate) fn clear(&mut self) {
        if !self.is_empty() {
            self.marks.by_path.clear();
            self.values.clear();
        }
    }

    /// Takes the numbers of a record that its renderer has no place for.
    #[inline]
    pub(crate) fn take_nulled(&mut self, render: &mut dyn RowWriter, offset: u64) {
        render.take_nulled(&mut |path, count, octets| self.push_nulled(path, count, octets, offset));
    }

    /// Adds numbers that are null in their column; what is known of their place is that of the record.
    #[cold]
    pub(crate) fn push_nulled(&mut self, path: &str, count: u64, octets: &[Vec<u8>], offset: u64) {
        let kind = ErrorKind::ColumnOverflow;
        self.marks.add(path, &Marking { count, kind, offset });
        if self.are_listed {
            let room = MOST.saturating_sub(self.values.len());
            for contents in octets.iter().take(room) {
                let octets = contents.get(..SHOWN).unwrap_or(contents).to_vec();
                let (path, length) = (path.to_owned(), contents.len());
                self.values.push(Value { path, kind, at: offset, offset, octets, length });
            }
        }
    }

    #[cold]
    pub(crate) fn push(&mut self, leaf: Leaf<'_>, marked: &Marked) {
        let Marked { error, offset } = marked;
        let (kind, path) = (error.kind(), error.path());
        self.marks.add(&without_numbers(path), &Marking { count: 1, kind, offset: *offset });
        if self.are_listed && self.values.len() < MOST {
            let contents = leaf.contents().unwrap_or_default();
            let octets = contents.get(..SHOWN).unwrap_or(contents).to_vec();
            let (path, at) = (path.to_owned(), error.offset());
            self.values.push(Value { path, kind, at, offset: *offset, octets, length: contents.len() });
        }
    }
}

/// Marked values of records, with the lines of their list if there is one.
#[derive(Clone, Debug, Default)]
pub(crate) struct MarkTally {
    pub(crate) marks: Marks,
    /// Whole lines that are not written yet.
    lines: Vec<u8>,
}

impl MarkTally {
    /// Takes the marked values of a record that is kept.
    #[cold]
    pub(crate) fn take(&mut self, record: &mut RecordMarks, origin: &Origin<'_>) {
        self.marks.merge(&record.marks);
        for value in &record.values {
            let mut octets = Vec::new();
            push_octets(&mut octets, &value.octets, Octets::UpperHex);
            let reason = match value.kind.clause() {
                Some(clause) => format!("{} ({clause})", value.kind.message()),
                None => value.kind.message().to_owned(),
            };
            self.line(&json!({
                "input": origin.input,
                "record": origin.index,
                "path": value.path,
                "offset": value.offset,
                "octets": String::from_utf8_lossy(&octets),
                "length": value.length,
                "reason": reason,
                "code": value.kind.name(),
                "at": value.at,
            }));
        }
        let more = record.marks.total() - record.values.len() as u64;
        if record.are_listed && more > 0 {
            self.line(&json!({ "input": origin.input, "record": origin.index, "more": more }));
        }
        record.clear();
    }

    fn line(&mut self, line: &serde_json::Value) {
        self.lines.extend_from_slice(line.to_string().as_bytes());
        self.lines.push(b'\n');
    }

    /// Adds what follows.
    #[inline]
    pub(crate) fn merge(&mut self, other: &Self) {
        if !other.marks.is_empty() {
            self.marks.merge(&other.marks);
            self.lines.extend_from_slice(&other.lines);
        }
    }

    /// Writes the lines that there are, or forgets them if there is no list.
    #[inline]
    pub(crate) fn flush(&mut self, out: &mut Option<&mut dyn Write>) -> io::Result<()> {
        if !self.lines.is_empty() {
            if let Some(out) = out {
                out.write_all(&self.lines)?;
            }
            self.lines.clear();
        }
        Ok(())
    }
}

/// The path of a component: numbers of elements are left out of that of a value.
fn without_numbers(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for piece in path.split_inclusive('[') {
        match piece.split_once(']') {
            Some((number, rest)) if number.bytes().all(|digit| digit.is_ascii_digit()) => {
                out.push(']');
                out.push_str(rest);
            }
            _ => out.push_str(piece),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_components_have_no_numbers() {
        for (path, component) in [
            ("Rec.call.node", "Rec.call.node"),
            ("Rec.calls[17].parties[2]", "Rec.calls[].parties[]"),
            ("L[0][1].a", "L[][].a"),
            ("", ""),
        ] {
            assert_eq!(without_numbers(path), component);
        }
    }
}
