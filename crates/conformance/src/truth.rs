//! `cargo conformance truth`: a record file against what it is known to contain.
//!
//! A line of truth is `{"i", "offset", "length", "value"}`; a line `{"header": …}` is about what stands around the
//! records. Truth may cover some records only. For each line: the record with that number starts and ends where it
//! should, decodes to the value, and encodes to the same octets where it was in definite lengths of fewest octets, or
//! else to octets of the same value.

use std::collections::HashMap;
use std::io::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tercet_dynamic::{Leaf, Sink, Tape};
use tercet_plan::{Code, FieldId, Kind, NodeId, Plan, Rules};

use crate::engine::{Specification, Type};
use crate::{Tally, corpora, hex, same};

/// A record file, and what it is known to contain.
#[derive(clap::Args, Clone, Debug)]
pub struct Arguments {
    /// Specification, or a folder of them
    #[arg(long, value_name = "PATH", required = true, num_args = 1..)]
    pub schema: Vec<PathBuf>,
    /// The type of the values in the file
    #[arg(long = "type", value_name = "TYPE")]
    pub of_type: String,
    /// Path from the type to the records
    #[arg(long, value_name = "PATH")]
    pub records: Option<String>,
    /// The file, which may be compressed by zstd
    #[arg(value_name = "FILE[.zst]")]
    pub file: PathBuf,
    /// What it contains, one record a line
    #[arg(value_name = "TRUTH.jsonl[.zst]")]
    pub truth: PathBuf,
}

/// Compares a record file with what it is known to contain; each failure is one line of `out`.
///
/// # Errors
/// A file cannot be read, or the records cannot be found.
pub fn run(options: &Arguments, out: &mut impl Write) -> Result<Tally, String> {
    let Arguments { schema, of_type: name, records, file, truth } = options;
    let specification = Specification::load(&modules(schema)?)?;
    let mut of_type = specification.root(name)?;
    let data = corpora::read(file)?;
    if let Some(path) = records {
        let (node, _) = locate(of_type.plan(), of_type.node(), path, &data)?;
        let shape = of_type.shape();
        let record = shape.node(node).name.map(|n| shape.name(n).to_owned());
        let record = record.ok_or("the type of the records has no name")?;
        of_type = specification.roots(name, &[&record])?;
    }
    let mut check = Check { of_type, tally: Tally::default(), out };
    let (node, found) = check.records(&data, records.as_deref())?;
    check.lines(node, &data, &found, &corpora::read_text(truth)?)?;
    Ok(check.tally)
}

/// Returns whether a path has the name of a specification.
fn is_schema(path: &Path) -> bool {
    path.is_dir()
        || path.extension().is_some_and(|e| e.eq_ignore_ascii_case("asn") || e.eq_ignore_ascii_case("asn1"))
}

/// A folder stands for all modules in it.
fn modules(paths: &[PathBuf]) -> Result<Vec<PathBuf>, String> {
    let mut files = Vec::new();
    for path in paths {
        if !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        let entries = std::fs::read_dir(path).map_err(|e| format!("{}: {e}", path.display()))?;
        let mut inside: Vec<PathBuf> = entries.flatten().map(|e| e.path()).collect();
        inside.retain(|p| is_schema(p));
        inside.sort();
        files.extend(inside);
    }
    Ok(files)
}

struct Check<'a, W> {
    of_type: Type,
    tally: Tally,
    out: &'a mut W,
}

impl<W: Write> Check<'_, W> {
    /// The type of the records and where they are.
    fn records(&mut self, data: &[u8], path: Option<&str>) -> Result<(NodeId, Vec<Range<usize>>), String> {
        let root = self.of_type.node();
        let (node, mut at, end) = match path {
            None => (root, 0, data.len()),
            Some(path) => {
                let place = locate(self.of_type.plan(), root, path, data)?;
                (place.0, place.1.start, place.1.end)
            }
        };
        let mut found = Vec::new();
        while at < end && data[at..].iter().take(2).any(|&octet| octet != 0) {
            let element = element(data, at).ok_or_else(|| format!("no element at octet {at}"))?;
            found.push(at..element.end);
            at = element.end;
        }
        Ok((node, found))
    }

    fn lines(
        &mut self,
        node: NodeId,
        data: &[u8],
        found: &[Range<usize>],
        truth: &str,
    ) -> Result<(), String> {
        for (number, line) in truth.lines().enumerate() {
            let line: Value =
                serde_json::from_str(line).map_err(|e| format!("truth, line {}: {e}", number + 1))?;
            if let Some(header) = line.get("header") {
                let outcome = self.header(data, header);
                self.check("header", outcome);
                continue;
            }
            let i = line["i"].as_u64().unwrap_or(u64::MAX) as usize;
            let outcome = self.record(node, data, found.get(i), &line);
            self.check(&format!("record {i}"), outcome);
        }
        Ok(())
    }

    fn record(
        &mut self,
        node: NodeId,
        data: &[u8],
        range: Option<&Range<usize>>,
        truth: &Value,
    ) -> Result<(), String> {
        let range = range.ok_or("there is no such record")?.clone();
        let place = (truth["offset"].as_u64(), truth["length"].as_u64());
        if place != (Some(range.start as u64), Some(range.len() as u64)) {
            return Err(format!("expected at {place:?}, found at {:?}", (range.start, range.len())));
        }
        let record = &data[range];
        let value = self.of_type.decode_as(node, Rules::Ber, record)?;
        same::compare(self.of_type.shape(), node, &truth["value"], &value).map_err(|d| d.to_string())?;
        let again = self.of_type.reencode(node, Rules::Ber, record)?;
        if again == record {
            return Ok(());
        }
        if is_plain(record) {
            let at = again.iter().zip(record).take_while(|(a, b)| a == b).count();
            return Err(format!(
                "encoding differs from octet {at} on: {} for {}",
                hex::brief(&again),
                hex::brief(record)
            ));
        }
        let again = self.of_type.decode_as(node, Rules::Ber, &again)?;
        same::compare(self.of_type.shape(), node, &truth["value"], &again)
            .map_err(|d| format!("after encoding: {d}"))
    }

    /// The header is an object with some of the components that stand beside the list of records.
    fn header(&mut self, data: &[u8], header: &Value) -> Result<(), String> {
        let root = self.of_type.node();
        let mut sink = WithoutLists { tape: Tape::new(), lists: long_lists(self.of_type.plan()) };
        self.of_type.decode_into(root, Rules::Ber, data, &mut sink).map_err(|e| e.to_string())?;
        let value = self.of_type.json(&sink.tape, data)?;
        // A CHOICE around the file is not part of the header.
        let inner = value.as_object().and_then(|o| o.values().next()).unwrap_or(&value);
        let wanted = header.as_object().ok_or("the header is not an object")?;
        for (name, want) in wanted {
            let got = inner.get(name).or_else(|| value.get(name)).ok_or_else(|| format!("no {name}"))?;
            let shape = self.of_type.shape();
            let field = shape.fields.iter().filter(|f| shape.name(f.name) == name);
            let outcomes: Vec<_> = field.map(|f| same::compare(shape, f.node, want, got)).collect();
            if !outcomes.iter().any(Result::is_ok) {
                let first = outcomes.into_iter().find_map(Result::err);
                return Err(first.map_or_else(|| format!("no type for {name}"), |d| format!("{name}: {d}")));
            }
        }
        Ok(())
    }

    fn check(&mut self, what: &str, outcome: Result<(), String>) {
        match outcome {
            Ok(()) => self.tally.passed += 1,
            Err(message) => {
                self.tally.failed += 1;
                let _ = writeln!(self.out, "FAIL {what}: {message}");
            }
        }
    }
}

/// Leaves out the lists that may be the records.
struct WithoutLists {
    tape: Tape,
    lists: HashMap<FieldId, ()>,
}

impl Sink for WithoutLists {
    fn leaf(&mut self, field: FieldId, node: NodeId, leaf: Leaf<'_>) {
        self.tape.leaf(field, node, leaf);
    }
    fn open(&mut self, field: FieldId, node: NodeId) {
        self.tape.open(field, node);
    }
    fn close(&mut self, field: FieldId, node: NodeId) {
        self.tape.close(field, node);
    }
    fn absent(&mut self, field: FieldId, node: NodeId, constant: u32) {
        self.tape.absent(field, node, constant);
    }
    fn unknown(&mut self, addition: u32, leaf: Leaf<'_>) {
        self.tape.unknown(addition, leaf);
    }
    fn wants(&self, field: FieldId) -> bool {
        !self.lists.contains_key(&field)
    }
}

/// Components that are lists of CHOICEs of many alternatives: call events, not header components.
fn long_lists(plan: &Plan) -> HashMap<FieldId, ()> {
    let shape = &plan.shape;
    let is_long = |node: NodeId| {
        shape.node(node).kind == Kind::SequenceOf
            && shape.fields_of(node).next().is_some_and(|(_, element)| {
                let element = shape.node(element.node);
                element.kind == Kind::Choice && element.count > 4
            })
    };
    let fields = shape.fields.iter().enumerate().filter(|(_, field)| is_long(field.node));
    fields.map(|(i, _)| (FieldId(i as u32), ())).collect()
}

/// Follows a path of identifiers through the encoding to a list: the type of its elements and where they are.
fn locate(plan: &Plan, root: NodeId, path: &str, data: &[u8]) -> Result<(NodeId, Range<usize>), String> {
    let Code::Ber(program) = &plan.code else { return Err("not a plan for BER".into()) };
    let shape = &plan.shape;
    // A CHOICE has no header of its own: its alternative stands where it stands itself.
    let (mut node, mut inside) = (root, 0..data.len());
    if shape.node(root).kind != Kind::Choice {
        let entry = program.nodes.get(root.index()).and_then(|code| program.slots.get(code.entry as usize));
        for _ in 0..=entry.map_or(0, |slot| program.chain(slot).len()) {
            inside = element(data, inside.start).ok_or("no element around the file")?.contents;
        }
    }
    for step in path.split('.') {
        let field = shape
            .fields_of(node)
            .find(|(_, f)| shape.name(f.name).eq_ignore_ascii_case(step))
            .ok_or_else(|| format!("no component {step}"))?;
        let slot = program.slots.get(field.0.index()).ok_or("no slot")?;
        let mut at = inside.start;
        let mut found = loop {
            let element = element(data, at).filter(|_| at < inside.end);
            let element = element.ok_or_else(|| format!("no element for {step}"))?;
            if element.tag == slot.tag {
                break element;
            }
            at = element.end;
        };
        for &tag in program.chain(slot) {
            let inner = element(data, found.contents.start).filter(|e| e.tag == tag);
            found = inner.ok_or_else(|| format!("no explicit tag of {step}"))?;
        }
        (node, inside) = (field.1.node, found.contents);
    }
    let element = shape.fields_of(node).next().filter(|_| shape.node(node).kind == Kind::SequenceOf);
    Ok((element.ok_or("the path does not lead to a SEQUENCE OF")?.1.node, inside))
}

/// Identifier and extent of an element.
struct Element {
    /// Class in the top two bits, number below.
    tag: u32,
    contents: Range<usize>,
    end: usize,
    plain: bool,
    constructed: bool,
}

/// Reads an element at an offset, on its own and not with the code under test.
fn element(data: &[u8], start: usize) -> Option<Element> {
    let first = *data.get(start)?;
    let mut at = start + 1;
    let mut number = u32::from(first & 0x1F);
    if number == 31 {
        number = 0;
        loop {
            let octet = *data.get(at)?;
            at += 1;
            number = number << 7 | u32::from(octet & 0x7F);
            if octet & 0x80 == 0 {
                break;
            }
        }
    }
    let tag = u32::from(first >> 6) << 30 | number;
    let constructed = first & 0x20 != 0;
    let length = *data.get(at)?;
    at += 1;
    if length == 0x80 {
        let contents = at;
        while data.get(at..at + 2)? != [0, 0] {
            at = element(data, at)?.end;
        }
        return Some(Element { tag, contents: contents..at, end: at + 2, plain: false, constructed });
    }
    let mut octets = usize::from(length);
    let mut plain = true;
    if length > 0x80 {
        let count = usize::from(length & 0x7F);
        let digits = data.get(at..at + count)?;
        octets = digits.iter().fold(0usize, |n, &d| n.wrapping_shl(8) | usize::from(d));
        plain = digits[0] != 0 && octets >= 0x80;
        at += count;
    }
    data.get(at..at.checked_add(octets)?)?;
    Some(Element { tag, contents: at..at + octets, end: at + octets, plain, constructed })
}

/// Whether all lengths are definite and in the fewest octets, and no string is in segments.
fn is_plain(data: &[u8]) -> bool {
    let mut pending = vec![(0, data.len())];
    while let Some((start, end)) = pending.pop() {
        let mut at = start;
        while at < end {
            let Some(element) = element(data, at) else { return false };
            if !element.plain {
                return false;
            }
            let universal_string = matches!(element.tag, 3 | 4 | 12 | 18..=30);
            if element.constructed && universal_string {
                return false;
            }
            if element.constructed {
                pending.push((element.contents.start, element.contents.end));
            }
            at = element.end;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_and_plainness() {
        let check = |text: &str, end: usize, plain: bool| {
            let octets = hex::parse(text).unwrap_or_default();
            assert_eq!(element(&octets, 0).map(|e| e.end), Some(end), "{text}");
            assert_eq!(is_plain(&octets[..end]), plain, "{text}");
        };
        check("0201050000", 3, true);
        check("3080 020105 0000", 7, false);
        check("30 81 03 020105", 6, false);
        check("3f81 00 03 020105", 7, true);
        check("2403 040105", 5, false);
    }
}
