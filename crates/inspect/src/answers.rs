//! Answers to questions, in JSON.

use crate::message::{Message, Problem};
use crate::query::Query;
use crate::rows::{Row, RowKind, Rows};
use crate::source::Source;
use crate::tree::{NONE, Node, Piece};
use crate::view::View;
use crate::workbench::{WAIT, Workbench};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tercet_schema::dynamic::json::{self as json_text, JsonWriter};
use tercet_schema::dynamic::validate::Validator;
use tercet_schema::dynamic::{Decoder, FieldId, Leaf, NodeId, Rules, Shape, Sink, Tape};
use tercet_schema::plan::Kind;
use tercet_schema::records::Scratch;

/// Rows of one answer.
const MOST_ROWS: u64 = 1000;
/// Nodes that come with a value; of larger ones the parts are asked for.
const MOST_NODES: usize = 2000;
/// Components of one answer.
const MOST_CHILDREN: u64 = 2000;
/// Bytes of one answer.
const MOST_OCTETS: u64 = 1 << 16;
/// Lines of one answer.
const MOST_LINES: u64 = 2000;
/// Characters of a value in a list.
const CHARACTERS: usize = 300;
/// Bytes of a record that its row is made of.
const SUMMARY: usize = 1 << 16;
/// Values in the row of a record, and characters of each.
const LEAVES: usize = 3;
const LEAF: usize = 40;
/// Types that are listed.
const MOST_TYPES: usize = 5000;
/// How long a search for problems may take.
const SEARCH: Duration = Duration::from_millis(400);
/// How long the first rows wait for the last: small inputs are complete at once.
const SHORT: Duration = Duration::from_millis(50);
/// Candidates that are listed.
const MOST_CANDIDATES: usize = 20;

impl Workbench {
    /// Answers a question: the name after `api/`, and the parameters after `?`. `None` for a question that is not known.
    ///
    /// # Errors
    /// What is wrong with the question, or with the input.
    pub fn answer(&self, question: &str, parameters: &str) -> Option<Result<Value, String>> {
        let query = Query::new(parameters);
        Some(match question {
            "state" => Ok(self.state()),
            "records" => self.records(&query),
            "message" => self.whole(&query),
            "nodes" => self.nodes(&query),
            "node" => self.chain(&query),
            "octets" => self.octets(&query),
            "explain" => self.explain(&query),
            "schema" => self.schema_lines(&query),
            "export" => self.export(&query),
            "line" => self.defined_on(&query),
            "find" => self.found(&query),
            "candidates" => self.tried(&query),
            "problem" => self.next_problem(&query),
            _ => return None,
        })
    }

    fn state(&self) -> Value {
        let sources = self.sources();
        let files = sources
            .iter()
            .map(|source| json!({ "name": source.name(), "length": source.length(), "note": source.note() }));
        let files: Vec<Value> = files.collect();
        let outermost = self.schema.as_ref().map(|schema| schema.outermost_names()).unwrap_or_default();
        let mut types = outermost.clone();
        if let Some(schema) = &self.schema {
            types.extend(schema.names().map(|(name, _)| name).filter(|name| !outermost.contains(name)));
        }
        types.truncate(MOST_TYPES);
        let rules = Rules::ALL.iter().map(|rules| rules.name());
        json!({
            "files": files,
            "type": self.initial.as_ref().map(|(type_name, _)| type_name),
            "rules": self.initial.as_ref().map(|(_, rules)| rules.name()),
            "types": types,
            "allRules": rules.collect::<Vec<_>>(),
            "specifications": self.texts().map(|texts| texts.files()),
            "version": env!("CARGO_PKG_VERSION"),
        })
    }

    fn records(&self, query: &Query) -> Result<Value, String> {
        let (rows, view) = self.rows(query)?;
        let (_, source) = self.source(query)?;
        let count = query.number("count", 200)?.min(MOST_ROWS) as usize;
        let from = match query.text("record") {
            Some(_) => self.row(query, &rows)?.number,
            None => query.number("from", 0)?,
        };
        let found = rows.range(from, count, if from == 0 { WAIT } else { Duration::ZERO });
        if from == 0 {
            rows.settle(SHORT);
        }
        let mut describer = view.as_deref().map(Describer::new);
        let listed: Vec<Value> = found
            .iter()
            .map(|row| {
                let mut line = of_row(row, &rows);
                if row.kind.is_record()
                    && let Some(describer) = &mut describer
                {
                    describer.describe(&source, &rows, row, &mut line);
                }
                Value::Object(line)
            })
            .collect();
        let progress = rows.progress(Duration::ZERO);
        Ok(json!({
            "from": from,
            "total": progress.rows,
            "records": progress.records,
            "complete": progress.complete,
            "read": progress.offset,
            "problem": progress.problem,
            "framing": progress.framing,
            "rows": listed,
        }))
    }

    fn whole(&self, query: &Query) -> Result<Value, String> {
        let (row, message) = self.message(query)?;
        let (rows, _) = self.rows(query)?;
        let nodes = &message.tree.nodes;
        let all = nodes.len() <= MOST_NODES;
        let shown: Vec<Value> = match all {
            true => (0..nodes.len() as u32).map(|index| of_node(&message, index)).collect(),
            false => (0..1).map(|index| of_node(&message, index)).collect(),
        };
        let way = message.view.as_deref();
        let mut answer = of_row(&row, &rows);
        answer.extend([
            ("type".to_owned(), way.map(|view| view.type_name.as_str()).into()),
            ("rules".to_owned(), way.map(|view| view.rules.name()).into()),
            ("hasBits".to_owned(), way.is_some_and(has_bits).into()),
            ("hasPlaces".to_owned(), way.is_none_or(|view| !view.rules.is_text()).into()),
            ("length".to_owned(), message.octets.len().into()),
            ("count".to_owned(), nodes.len().into()),
            ("all".to_owned(), all.into()),
            ("nodes".to_owned(), shown.into()),
            ("problems".to_owned(), self.problems(&message)),
        ]);
        Ok(Value::Object(answer))
    }

    fn problems(&self, message: &Message) -> Value {
        let of_problem = |problem: &Problem| {
            let place = problem.span.and_then(|span| self.schema.as_ref()?.place(span));
            json!({
                "node": problem.node,
                "path": message.tree.path(problem.node),
                "kind": problem.kind,
                "message": problem.message,
                "bit": problem.at.map(|at| at + message.offset * 8),
                "constraint": place.as_ref().map_or(&problem.constraint, |place| &place.text),
                "place": place.as_ref().map(|place| format!("{}:{}", place.file, place.line)),
            })
        };
        message.problems.iter().map(of_problem).collect()
    }

    fn nodes(&self, query: &Query) -> Result<Value, String> {
        let (_, message) = self.message(query)?;
        let parent = query.number("node", 0)? as u32;
        let from = query.number("from", 0)? as usize;
        let count = query.number("count", MOST_CHILDREN)?.min(MOST_CHILDREN) as usize;
        let found = message.tree.children(parent).skip(from).take(count);
        let nodes: Vec<Value> = found.map(|(index, _)| of_node(&message, index)).collect();
        let total = message.tree.nodes.get(parent as usize).map_or(0, |node| node.children);
        Ok(json!({ "parent": parent, "from": from, "total": total, "nodes": nodes }))
    }

    /// The node that a question names, by `path`, `bit` or `node`, after those around it.
    fn chain(&self, query: &Query) -> Result<Value, String> {
        let (_, message) = self.message(query)?;
        let mut chain = Vec::new();
        let mut at = named(query, &message)?;
        while let Some(node) = message.tree.nodes.get(at as usize) {
            chain.push(of_node(&message, at));
            at = node.parent;
        }
        chain.reverse();
        Ok(json!({ "chain": chain }))
    }

    fn octets(&self, query: &Query) -> Result<Value, String> {
        let (_, message) = self.message(query)?;
        let length = message.octets.len() as u64;
        let from = query.number("from", 0)?.min(length);
        let count = query.number("count", 4096)?.min(MOST_OCTETS).min(length - from);
        let (first, last) = (from * 8, (from + count) * 8);
        let octets = &message.octets[from as usize..(from + count) as usize];
        let pieces = &message.tree.pieces;
        // Parts do not overlap, so that their ends are in order too.
        let begin = pieces.partition_point(|piece| piece.at + piece.bits <= first);
        let found = pieces[begin..].iter().take_while(|piece| piece.at < last);
        let base = message.offset * 8;
        let of_piece = |piece: &Piece| {
            let part = piece.part.map_or("unread", |part| part.name());
            json!([piece.at + base, piece.bits, part, piece.node])
        };
        Ok(json!({
            "offset": message.offset,
            "length": length,
            "from": from,
            "hex": hex(octets),
            "parts": found.map(of_piece).collect::<Vec<_>>(),
        }))
    }

    fn schema_lines(&self, query: &Query) -> Result<Value, String> {
        let Some(texts) = self.texts() else { return Err("there is no specification text".to_owned()) };
        let file = query.number("text", 0)? as usize;
        let from = query.number("from", 0)? as usize;
        let count = query.number("count", 200)?.min(MOST_LINES) as usize;
        texts.lines(file, from, count).ok_or_else(|| format!("no specification {file}"))
    }

    /// The nodes of a value that a line of a specification defines.
    fn defined_on(&self, query: &Query) -> Result<Value, String> {
        let (_, message) = self.message(query)?;
        let (Some(texts), Some(view)) = (self.texts(), message.view.as_deref()) else {
            return Ok(json!({ "nodes": [] }));
        };
        let (text, line) = (query.number("text", 0)? as usize, query.number("line", 0)? as usize);
        Ok(json!({ "nodes": texts.defined_on(&view.type_name, &message.tree, text, line) }))
    }

    /// The next node with a text in its name or value, or with bytes.
    fn found(&self, query: &Query) -> Result<Value, String> {
        let (_, message) = self.message(query)?;
        let text = query.text("text").unwrap_or_default().to_lowercase();
        let after = query.number("after", 0)? as usize;
        let nodes = &message.tree.nodes;
        let has = |index: &usize| {
            let node = &nodes[*index];
            let value = node.value.as_deref().unwrap_or_default();
            node.name.to_lowercase().contains(&text) || value.to_lowercase().contains(&text)
        };
        let start = after.saturating_add(1).min(nodes.len());
        let next = (start..nodes.len()).find(has);
        let found = next.or_else(|| (0..start).find(has));
        let octets = found.is_none().then(|| tercet_schema::records::inputs::from_hex(&text).ok()).flatten();
        if let Some(octets) = octets.filter(|octets| !octets.is_empty()) {
            let at = message.octets.windows(octets.len()).position(|found| found == octets);
            let node = at.and_then(|at| message.tree.node_at(at as u64 * 8));
            return Ok(
                json!({ "node": node, "wrapped": false, "offset": at.map(|at| at as u64 + message.offset) }),
            );
        }
        Ok(json!({ "node": found, "wrapped": next.is_none() && found.is_some() }))
    }

    fn tried(&self, query: &Query) -> Result<Value, String> {
        let candidates = self.candidates(query)?;
        let of_candidate = |candidate: &tercet_schema::Candidate| {
            json!({
                "type": candidate.type_name,
                "rules": candidate.syntax.name(),
                "fits": candidate.fits(),
                "octets": candidate.octets,
                "values": candidate.values,
                "elements": candidate.elements,
                "violations": candidate.violations,
                "again": candidate.again,
                "unknown": candidate.unknown,
                "error": candidate.error,
            })
        };
        let listed: Vec<Value> = candidates.iter().take(MOST_CANDIDATES).map(of_candidate).collect();
        Ok(json!({ "candidates": listed }))
    }

    /// The next record, or the one before, that has a problem.
    fn next_problem(&self, query: &Query) -> Result<Value, String> {
        let (rows, view) = self.rows(query)?;
        let (_, source) = self.source(query)?;
        let back = query.text("direction") == Some("back");
        let mut number = query.number("row", 0)?;
        let started = Instant::now();
        let mut describer = view.as_deref().map(Describer::new);
        while started.elapsed() < SEARCH {
            let Some(next) = (if back { number.checked_sub(1) } else { number.checked_add(1) }) else {
                break;
            };
            number = next;
            let Some(row) = rows.range(number, 1, Duration::ZERO).first().copied() else { break };
            let mut line = of_row(&row, &rows);
            if row.kind.is_record()
                && let Some(describer) = &mut describer
            {
                describer.describe(&source, &rows, &row, &mut line);
            }
            if line.contains_key("problem") {
                return Ok(json!({ "row": Value::Object(line) }));
            }
        }
        Ok(json!({ "row": null, "searched": number }))
    }
}

/// Returns the node that a question names.
pub(crate) fn named(query: &Query, message: &Message) -> Result<u32, String> {
    let none = || "no such component in this value".to_owned();
    if let Some(path) = query.text("path") {
        return message.tree.find(path).ok_or_else(none);
    }
    if query.text("bit").is_some() {
        let bit = query.number("bit", 0)?;
        let at = bit.checked_sub(message.offset * 8).ok_or_else(none)?;
        return message.tree.node_at(at).ok_or_else(none);
    }
    let node = query.number("node", 0)?;
    if node < message.tree.nodes.len() as u64 { Ok(node as u32) } else { Err(none()) }
}

/// Reports whether fields need not be whole bytes.
pub(crate) fn has_bits(view: &View) -> bool {
    matches!(view.rules.basic(), Rules::Aper | Rules::Uper)
}

fn of_row(row: &Row, rows: &Rows) -> Map<String, Value> {
    let mut line = Map::new();
    line.insert("row".to_owned(), row.number.into());
    line.insert("kind".to_owned(), row.kind.name().into());
    line.insert("record".to_owned(), if row.kind.is_record() { row.record.into() } else { Value::Null });
    line.insert("offset".to_owned(), row.offset.into());
    line.insert("length".to_owned(), row.length.into());
    if row.kind == RowKind::Rejected {
        line.insert("problem".to_owned(), "rejected".into());
        line.extend(rows.reason(row.number).map(|reason| ("summary".to_owned(), reason.into())));
    }
    line
}

/// A node for the page; its path is that of its parent and its name.
pub(crate) fn of_node(message: &Message, index: u32) -> Value {
    let Some(node) = message.tree.nodes.get(index as usize) else { return Value::Null };
    let Node { parent, name, type_name, kind, value, shown, children, at, end, state, .. } = node;
    let mut line = Map::new();
    line.insert("id".to_owned(), index.into());
    line.insert("parent".to_owned(), if *parent == NONE { Value::Null } else { (*parent).into() });
    line.insert("name".to_owned(), (**name).into());
    line.insert("type".to_owned(), (**type_name).into());
    line.insert("kind".to_owned(), (*kind).into());
    if let Some(value) = value {
        line.insert("value".to_owned(), cut(value, CHARACTERS).into());
    }
    if let Some(shown) = shown {
        line.insert("shown".to_owned(), cut(shown, CHARACTERS).into());
    }
    line.insert("children".to_owned(), (*children).into());
    if node.has_bits() {
        line.insert("bit".to_owned(), (at + message.offset * 8).into());
        line.insert("bits".to_owned(), (end - at).into());
    }
    if !state.name().is_empty() {
        line.insert("state".to_owned(), state.name().into());
    }
    Value::Object(line)
}

pub(crate) fn cut(text: &str, characters: usize) -> String {
    match text.char_indices().nth(characters) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

pub(crate) fn hex(octets: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    let digits = octets.iter().flat_map(|octet| [octet >> 4, octet & 15]);
    digits.map(|digit| char::from(DIGITS[usize::from(digit)])).collect()
}

/// Makes the rows of records: what they are, their first values, whether something is wrong.
struct Describer<'v> {
    view: &'v View,
    decoder: Decoder,
    tape: Tape,
    shown: Tape,
    scratch: Scratch,
    validator: Validator,
}

impl<'v> Describer<'v> {
    fn new(view: &'v View) -> Self {
        Self {
            view,
            decoder: Decoder::new(),
            tape: Tape::new(),
            shown: Tape::new(),
            scratch: Scratch::default(),
            validator: Validator::new(),
        }
    }

    fn describe(&mut self, source: &Arc<Source>, rows: &Rows, row: &Row, line: &mut Map<String, Value>) {
        let Self { view, decoder, tape, shown, scratch, validator } = self;
        // Other rules have plans of their own; a long record is looked at when it is opened.
        if row.kind.rules().is_some() || row.length > SUMMARY as u64 {
            return;
        }
        let octets = match rows.octets_of(source, row, SUMMARY) {
            Ok(octets) => octets,
            Err(error) => {
                line.insert("problem".to_owned(), "unreadable".into());
                line.insert("summary".to_owned(), error.to_string().into());
                return;
            }
        };
        let options = view.options();
        tape.clear();
        let mut problem = None;
        if view.rules.is_text() {
            let mut codec = tercet_schema::TapeCodec::new(view.rules, &view.plan);
            problem = codec.read(view.root, &octets, tape, &options).err().map(|_| "fault");
        } else {
            match decoder.decode(&view.plan, view.root, &octets, tape, &options) {
                Ok(_) if decoder.marked() > 0 && view.rules.has_elements() => problem = Some("value"),
                Ok(_) => {}
                Err(_) => {
                    tape.finish_partial();
                    problem = Some("fault");
                }
            }
        }
        if problem.is_none() && !validator.check(&view.plan.shape, view.root, tape.view(&octets)).is_empty() {
            problem = Some("constraint");
        }
        let shape = view.rendering.as_ref().map_or(&view.plan.shape, |rendering| rendering.shape());
        let values = JsonWriter::new(shape, json_text::Options::default());
        let mut summary = Summary { shape, values, label: String::new(), text: String::new(), leaves: 0 };
        match &view.rendering {
            Some(rendering) => {
                rendering.show(tape.view(&octets), shown, scratch);
                shown.view(&octets).replay(&mut summary);
            }
            None => tape.view(&octets).replay(&mut summary),
        }
        line.insert("label".to_owned(), summary.label.into());
        line.insert("summary".to_owned(), summary.text.into());
        line.extend(problem.map(|problem| ("problem".to_owned(), problem.into())));
    }
}

/// The alternative and the first values of a record, as text.
struct Summary<'v> {
    shape: &'v Shape,
    values: JsonWriter<'v>,
    /// The alternative.
    label: String,
    text: String,
    leaves: usize,
}

impl Summary<'_> {
    fn name(&self, field: FieldId) -> &str {
        let shape = self.shape;
        shape.fields.get(field.index()).map_or("", |field| shape.name(field.name))
    }
}

impl Sink for Summary<'_> {
    fn leaf(&mut self, field: FieldId, node: NodeId, leaf: Leaf<'_>) {
        if self.leaves >= LEAVES {
            return;
        }
        self.leaves += 1;
        self.values.clear();
        self.values.leaf(FieldId::ROOT, node, leaf);
        let value = cut(&String::from_utf8_lossy(self.values.text()), LEAF);
        if !self.text.is_empty() {
            self.text.push_str(", ");
        }
        let name = self.name(field).to_owned();
        if !name.is_empty() {
            self.text.push_str(&name);
            self.text.push(' ');
        }
        self.text.push_str(value.trim_matches('"'));
    }

    fn open(&mut self, field: FieldId, _: NodeId) {
        let shape = self.shape;
        // The alternative says what the record is.
        let of_choice = shape
            .fields
            .get(field.index())
            .filter(|field| shape.nodes.get(field.parent.index()).is_some_and(|it| it.kind == Kind::Choice));
        if let Some(field) = of_choice.filter(|_| self.leaves == 0) {
            if !self.label.is_empty() {
                self.label.push('.');
            }
            self.label.push_str(shape.name(field.name));
        }
    }

    fn close(&mut self, _: FieldId, _: NodeId) {}

    fn absent(&mut self, _: FieldId, _: NodeId, _: u32) {}

    fn unknown(&mut self, _: u32, _: Leaf<'_>) {}
}
