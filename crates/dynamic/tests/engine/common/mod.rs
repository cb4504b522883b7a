//! Schemas from text, values as hex, events as text.

use serde_json::Value;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use tercet_dynamic::{Decoder, Error, FieldId, Leaf, NodeId, Options, Plan, Rules, Shape, Sink, Tape};
use tercet_plan::Kind;

/// The plan of a module body: type assignments without a module header.
pub(crate) fn plan(body: &str) -> Plan {
    plan_of(&format!("M DEFINITIONS AUTOMATIC TAGS ::= BEGIN\n{body}\nEND"))
}

/// The same for other rules.
pub(crate) fn plan_for(rules: Rules, body: &str) -> Plan {
    plan_of_rules(rules, &format!("M DEFINITIONS AUTOMATIC TAGS ::= BEGIN\n{body}\nEND"))
}

/// The plan of whole modules.
pub(crate) fn plan_of(text: &str) -> Plan {
    plan_of_rules(Rules::Ber, text)
}

fn plan_of_rules(rules: Rules, text: &str) -> Plan {
    let mut plans = plans_of(&[rules], text);
    plans.remove(0)
}

/// Plans over one shape.
pub(crate) fn plans_of(rules: &[Rules], text: &str) -> Vec<Plan> {
    let mut map = tercet_syntax::SourceMap::new();
    let file = map.add("test.asn", text);
    let (modules, found) = tercet_syntax::parse(&map, file, &tercet_syntax::ParseOptions::default());
    assert!(found.iter().all(|d| d.severity != tercet_syntax::Severity::Error), "{found:?}\n{text}");
    let (model, found) = tercet_model::resolve(&map, &modules, &tercet_model::Options::default());
    assert!(found.iter().all(|d| d.severity != tercet_syntax::Severity::Error), "{found:?}\n{text}");
    tercet_lower::plans(&model, rules, &tercet_lower::all_roots(&model)).0
}

/// The plan of files, whose slips are passed over; nothing if one cannot be read.
pub(crate) fn compile(files: &[PathBuf]) -> Option<Plan> {
    let mut map = tercet_syntax::SourceMap::new();
    let mut modules = Vec::new();
    for path in files {
        let (file, _) = map.add_bytes(path.display().to_string(), std::fs::read(path).ok()?);
        modules.extend(tercet_syntax::parse(&map, file, &tercet_syntax::ParseOptions::default()).0);
    }
    let options = tercet_model::Options { lenient: true, ..Default::default() };
    let (model, _) = tercet_model::resolve(&map, &modules, &options);
    Some(tercet_lower::plan(&model, Rules::Ber, &tercet_lower::all_roots(&model)).0)
}

/// The rows of a file, a value of JSON each.
pub(crate) fn lines(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

pub(crate) fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u32> = text.chars().filter_map(|c| c.to_digit(16)).collect();
    digits.chunks(2).map(|pair| (pair[0] * 16 + pair[1]) as u8).collect()
}

pub(crate) fn to_hex(octets: &[u8]) -> String {
    octets.iter().fold(String::new(), |mut out, octet| {
        let _ = write!(out, "{octet:02X}");
        out
    })
}

/// Events as `name=contents name{ … }`, `name=default`, `?element`.
#[derive(Debug)]
pub(crate) struct Printer<'a> {
    shape: &'a Shape,
    pub text: String,
}

impl Printer<'_> {
    fn name(&mut self, field: FieldId) {
        if !self.text.is_empty() && !self.text.ends_with('{') {
            self.text.push(' ');
        }
        let is_element = |parent| matches!(self.shape.node(parent).kind, Kind::SequenceOf | Kind::SetOf);
        if field != FieldId::ROOT && !is_element(self.shape.field(field).parent) {
            self.text.push_str(self.shape.name(self.shape.field(field).name));
        }
    }
}

impl Sink for Printer<'_> {
    fn leaf(&mut self, field: FieldId, _: NodeId, leaf: Leaf<'_>) {
        self.name(field);
        let made = if matches!(leaf, Leaf::Made(_)) { "+" } else { "" };
        let _ = write!(self.text, "={made}{}", to_hex(leaf.contents().unwrap_or_default()));
    }

    fn open(&mut self, field: FieldId, _: NodeId) {
        self.name(field);
        self.text.push('{');
    }

    fn close(&mut self, _: FieldId, _: NodeId) {
        self.text.push('}');
    }

    fn absent(&mut self, field: FieldId, _: NodeId, constant: u32) {
        self.name(field);
        let _ = write!(self.text, "={:?}", self.shape.defaults[constant as usize]);
    }

    fn unknown(&mut self, _: u32, leaf: Leaf<'_>) {
        self.name(FieldId::ROOT);
        let _ = write!(self.text, "?{}", to_hex(leaf.contents().unwrap_or_default()));
    }
}

/// The events of an input, or the error.
pub(crate) fn events(
    plan: &Plan,
    root: &str,
    input: &[u8],
    options: &Options,
) -> Result<(String, usize), Error> {
    let root = plan.root(root).unwrap_or_else(|| panic!("no root {root}"));
    let mut printer = Printer { shape: &plan.shape, text: String::new() };
    let used = Decoder::new().decode(plan, root, input, &mut printer, options)?;
    Ok((printer.text, used))
}

/// Decodes and encodes again.
pub(crate) fn again(plan: &Plan, root: &str, input: &[u8], rules: Rules) -> Result<Vec<u8>, Error> {
    let root = plan.root(root).unwrap_or_else(|| panic!("no root {root}"));
    let mut tape = Tape::new();
    tercet_dynamic::decode(plan, root, input, &mut tape, &Options::default())?;
    let mut out = Vec::new();
    tercet_dynamic::encode(plan, rules, tape.view(input), &mut out)?;
    Ok(out)
}
