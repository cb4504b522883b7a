//! Answers to questions, in JSON.

use crate::captured::Shown;
use crate::describe::{Describer, SUMMARY, can_describe};
use crate::matches::Needle;
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
use tercet_schema::dynamic::Rules;
use tercet_schema::plan::Kind;

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
/// Types that are listed.
const MOST_TYPES: usize = 5000;
/// Alternatives of a record that are listed.
const MOST_ALTERNATIVES: usize = 500;
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
            "position" => self.position(&query),
            "compare" => self.compare(&query),
            "fields" => self.fields(&query),
            "sample" => self.sample(&query),
            _ => return None,
        })
    }

    /// Does what a request with a body asks for. `None` for one that is not known.
    ///
    /// # Errors
    /// What is wrong with the request, or with the input.
    pub fn act(&self, question: &str, parameters: &str, body: &[u8]) -> Option<Result<Value, String>> {
        let query = Query::new(parameters);
        Some(match question {
            "paste" => self.paste(body),
            "edit" => self.edit(&query, body),
            "save" => self.save(&query),
            _ => return None,
        })
    }

    fn state(&self) -> Value {
        let sources = self.sources();
        let files = sources.iter().map(|source| {
            json!({
                "name": source.name(), "length": source.length(), "note": source.note(),
                "protocols": source.captured().map(|messages| &messages.protocols),
            })
        });
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
            "editable": self.is_editable,
            "schema": self.schema_hash(),
            "alternatives": self.alternatives(),
        })
    }

    /// The alternatives of the type of records, if it is a CHOICE.
    fn alternatives(&self) -> Vec<String> {
        let Ok(Some(view)) = self.view(self.initial.as_ref()) else { return Vec::new() };
        let shape = &view.plan.shape;
        if shape.node(view.root).kind != Kind::Choice {
            return Vec::new();
        }
        shape
            .fields_of(view.root)
            .take(MOST_ALTERNATIVES)
            .map(|(_, field)| shape.name(field.name).to_owned())
            .collect()
    }

    fn records(&self, query: &Query) -> Result<Value, String> {
        let (rows, view) = self.rows(query)?;
        let (file, source) = self.source(query)?;
        let matches = self.matches(query)?;
        let count = query.number("count", 200)?.min(MOST_ROWS) as usize;
        let from = match (query.text("record"), &matches) {
            (Some(_), None) => self.row(query, &rows)?.number,
            (Some(_), Some(matches)) => matches.position(self.row(query, &rows)?.number, WAIT),
            (None, _) => query.number("from", 0)?,
        };
        if from == 0 {
            // The first rows are waited for, and the last of a small input.
            match &matches {
                None => drop(rows.range(0, 1, WAIT)),
                Some(matches) => drop(matches.range(0, 1, WAIT)),
            }
            rows.settle(SHORT);
            matches.iter().for_each(|matches| matches.settle(SHORT));
        }
        // What is said to be complete is that before its rows are read.
        let progress = rows.progress(Duration::ZERO);
        let searched = matches.as_ref().map(|matches| matches.progress());
        let total = searched.as_ref().map_or(progress.rows, |searched| searched.matches);
        let count = count.min(usize::try_from(total.saturating_sub(from)).unwrap_or(usize::MAX));
        let found = match &matches {
            None => rows.range(from, count, Duration::ZERO),
            Some(matches) => {
                let numbers = matches.range(from, count, Duration::ZERO).into_iter();
                let row = |number| rows.range(number, 1, Duration::ZERO).first().copied();
                numbers.filter_map(row).collect()
            }
        };
        let mut describers = Describers::new(self, query, &source, view);
        let listed: Vec<Value> = found
            .iter()
            .map(|row| Value::Object(self.line(row, (file, &source), &rows, describers.of(&source, row))))
            .collect();
        let mut answer = json!({
            "from": from,
            "total": total,
            "records": progress.records,
            "complete": progress.complete,
            "read": progress.offset,
            "problem": progress.problem,
            "framing": progress.framing,
            "rows": listed,
        });
        if let Some(searched) = searched {
            answer["searched"] = searched.rows.into();
            answer["complete"] = searched.complete.into();
            answer["problem"] = searched.problem.or(progress.problem).into();
        }
        Ok(answer)
    }

    /// The row of the list for a record, or for what is beside records.
    fn line(
        &self,
        row: &Row,
        (file, source): (usize, &Arc<Source>),
        rows: &Rows,
        describer: Option<&mut Describer>,
    ) -> Map<String, Value> {
        let mut line = of_row(row, rows);
        if let Some(message) = source.captured().and_then(|messages| messages.message(row.number)) {
            line.insert("label".to_owned(), message.protocol.into());
            line.extend(of_message(&message));
        }
        let edited = self.edits.octets(file, row.offset);
        if let Some(octets) = &edited {
            line.insert("edited".to_owned(), true.into());
            line.insert("length".to_owned(), octets.len().into());
        }
        let Some(describer) = describer.filter(|_| can_describe(row)) else { return line };
        match edited.map_or_else(|| rows.octets_of(source, row, SUMMARY), |octets| Ok(octets.to_vec())) {
            Ok(octets) => {
                let protocol = line.get("protocol").and_then(Value::as_str).map(str::to_owned);
                describer.describe(&octets, &mut line);
                // A message is known by its protocol first.
                if let Some(protocol) = protocol {
                    let label = line.get("label").and_then(Value::as_str).unwrap_or_default();
                    line.insert("label".to_owned(), format!("{protocol} {label}").trim().into());
                }
            }
            Err(error) => {
                line.insert("problem".to_owned(), "unreadable".into());
                line.insert("summary".to_owned(), error.to_string().into());
            }
        }
        line
    }

    /// The position of a record in the list that a filter keeps.
    fn position(&self, query: &Query) -> Result<Value, String> {
        let (rows, _) = self.rows(query)?;
        let row = self.row(query, &rows)?;
        let position = self.matches(query)?.map_or(row.number, |matches| matches.position(row.number, WAIT));
        Ok(json!({ "position": position, "row": row.number }))
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
        let (file, source) = self.source(query)?;
        let steps = self.edits.steps(file, row.offset);
        let mut answer = of_row(&row, &rows);
        if let Some(it) = source.captured().and_then(|messages| messages.message(row.number)) {
            answer.extend(of_message(&it));
        }
        answer.extend([
            ("undo".to_owned(), steps.undo.into()),
            ("redo".to_owned(), steps.redo.into()),
            ("edited".to_owned(), self.edits.count(file).into()),
            ("type".to_owned(), way.map(|view| view.type_name.as_str()).into()),
            ("rules".to_owned(), way.map(|view| view.rules.name()).into()),
            ("hasBits".to_owned(), way.is_some_and(has_bits).into()),
            ("isText".to_owned(), way.is_some_and(|view| view.rules.is_text()).into()),
            ("hasPlaces".to_owned(), way.is_none_or(View::has_places).into()),
            ("length".to_owned(), message.octets.len().into()),
            ("count".to_owned(), nodes.len().into()),
            ("all".to_owned(), all.into()),
            ("nodes".to_owned(), shown.into()),
            ("problems".to_owned(), self.problems(&message)),
        ]);
        Ok(Value::Object(answer))
    }

    pub(crate) fn problems(&self, message: &Message) -> Value {
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
        let needle = Needle::new(&text);
        if found.is_none() && !text.is_empty() {
            let base = message.offset;
            // After the byte that was found last.
            let from = match query.text("after-offset") {
                Some(_) => query.number("after-offset", 0)?.saturating_sub(base).saturating_add(1),
                None => 0,
            };
            let from = usize::try_from(from).unwrap_or(usize::MAX);
            let next = needle.find(&message.octets, from);
            let place = next.or_else(|| needle.find(&message.octets, 0));
            let node = place.and_then(|(at, _)| message.tree.node_at(at as u64 * 8));
            return Ok(json!({
                "node": node, "wrapped": next.is_none() && place.is_some(),
                "offset": place.map(|(at, _)| at as u64 + base), "length": place.map(|(_, length)| length),
            }));
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
        let (file, source) = self.source(query)?;
        let back = query.text("direction") == Some("back");
        let mut number = query.number("row", 0)?;
        let started = Instant::now();
        let mut describers = Describers::new(self, query, &source, view);
        while started.elapsed() < SEARCH {
            let Some(next) = (if back { number.checked_sub(1) } else { number.checked_add(1) }) else {
                break;
            };
            number = next;
            let Some(row) = rows.range(number, 1, Duration::ZERO).first().copied() else { break };
            let line = self.line(&row, (file, &source), &rows, describers.of(&source, &row));
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

/// What makes the rows of records: of a capture, one for each type.
struct Describers {
    list: Vec<Option<Describer>>,
    is_capture: bool,
}

impl Describers {
    fn new(bench: &Workbench, query: &Query, source: &Source, view: Option<Arc<View>>) -> Self {
        let views = bench.views_of(query, source);
        let is_capture = views.is_some();
        let list =
            views.unwrap_or_else(|| vec![view]).into_iter().map(|view| view.map(Describer::new)).collect();
        Self { list, is_capture }
    }

    fn of(&mut self, source: &Source, row: &Row) -> Option<&mut Describer> {
        let way = match self.is_capture {
            true => source.captured()?.message(row.number)?.way?,
            false => 0,
        };
        self.list.get_mut(way)?.as_mut()
    }
}

/// Where a message of a capture comes from.
fn of_message(message: &Shown<'_>) -> [(String, Value); 5] {
    [
        ("protocol", message.protocol.into()),
        ("frame", message.frame.into()),
        ("time", message.time.into()),
        ("from", message.source.into()),
        ("to", message.destination.into()),
    ]
    .map(|(name, value): (&str, Value)| (name.to_owned(), value))
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
