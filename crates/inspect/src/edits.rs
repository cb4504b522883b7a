//! Changes to records, in memory until somebody saves them.

use crate::answers::named;
use crate::message::Message;
use crate::query::Query;
use crate::tree::{State, Tree};
use crate::workbench::Workbench;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tercet_schema::dynamic::json::JsonWriter;
use tercet_schema::dynamic::sample::{self, Sampler};
use tercet_schema::dynamic::{FieldId, Leaf, Marked, NodeId, Sink, Tape, View as TapeView};
use tercet_schema::edit::{Change, change_octets};
use tercet_schema::plan::Kind;
use tercet_schema::plan::shape::Presence;
use tercet_schema::records::inputs::from_hex;
use tercet_schema::records::{Framing, Identifiers, Output, Replacement, replace_records};
use tercet_schema::suggest;

/// Bytes of all versions of all records: 256 MiB.
const MOST_OCTETS: usize = 256 << 20;
/// Components that can be added, in one answer.
const MOST_PARTS: usize = 2000;

/// The versions of the records that have been changed, by input and offset.
#[derive(Debug, Default)]
pub(crate) struct Edits {
    records: Mutex<HashMap<(usize, u64), History>>,
}

/// The versions of a record; the first is that of the file.
#[derive(Debug)]
struct History {
    /// Bytes of the record in the file.
    length: u64,
    versions: Vec<Arc<[u8]>>,
    at: usize,
}

/// How far changes of a record can be undone and done again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Steps {
    pub(crate) undo: usize,
    pub(crate) redo: usize,
}

impl Edits {
    fn lock(&self) -> MutexGuard<'_, HashMap<(usize, u64), History>> {
        self.records.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the bytes of a record that has been changed.
    pub(crate) fn octets(&self, file: usize, offset: u64) -> Option<Arc<[u8]>> {
        let records = self.lock();
        let history = records.get(&(file, offset)).filter(|history| history.at > 0)?;
        history.versions.get(history.at).cloned()
    }

    pub(crate) fn steps(&self, file: usize, offset: u64) -> Steps {
        let records = self.lock();
        let of_history =
            |history: &History| Steps { undo: history.at, redo: history.versions.len() - history.at - 1 };
        records.get(&(file, offset)).map(of_history).unwrap_or_default()
    }

    /// Returns the number of records of an input that differ from the file.
    pub(crate) fn count(&self, file: usize) -> usize {
        self.lock().iter().filter(|((known, _), history)| *known == file && history.at > 0).count()
    }

    /// Adds a version of a record; what had been undone is forgotten.
    fn push(&self, file: usize, offset: u64, length: u64, old: &[u8], new: Vec<u8>) -> Result<(), String> {
        let mut records = self.lock();
        let size = |history: &History| history.versions.iter().map(|version| version.len()).sum::<usize>();
        let held: usize = records.values().map(size).sum();
        if held + old.len() + new.len() > MOST_OCTETS {
            return Err("too many changes are held in memory; save them, and start again".to_owned());
        }
        let first = || History { length, versions: vec![Arc::from(old)], at: 0 };
        let history = records.entry((file, offset)).or_insert_with(first);
        history.versions.truncate(history.at + 1);
        history.versions.push(new.into());
        history.at += 1;
        Ok(())
    }

    /// Goes to another version of a record.
    fn go(&self, file: usize, offset: u64, to: impl FnOnce(usize) -> Option<usize>) -> bool {
        let mut records = self.lock();
        let Some(history) = records.get_mut(&(file, offset)) else { return false };
        let Some(at) = to(history.at).filter(|at| *at < history.versions.len()) else { return false };
        history.at = at;
        true
    }

    fn replacements(&self, file: usize) -> BTreeMap<u64, Replacement> {
        let records = self.lock();
        let changed = records.iter().filter(|((known, _), history)| *known == file && history.at > 0);
        changed
            .map(|((_, offset), history)| {
                let octets = history.versions[history.at].to_vec();
                (*offset, Replacement { length: history.length, octets })
            })
            .collect()
    }
}

impl Workbench {
    /// Changes the record that a question names: `op` is `set`, `remove`, `octets`, `undo`, `redo` or `revert`; `text` is the
    /// new value in JSON, or bytes in hexadecimal. With `try`, only reports what the change would do.
    pub(crate) fn edit(&self, query: &Query, text: &[u8]) -> Result<Value, String> {
        if !self.is_editable {
            return Err("this page only shows files; start `tercet inspect` with `--edit`".to_owned());
        }
        let (row, message) = self.message(query)?;
        if !row.kind.is_record() {
            return Err("only records can be changed".to_owned());
        }
        let (file, _) = self.source(query)?;
        let op = query.text("op").unwrap_or_default();
        let text = std::str::from_utf8(text).map_err(|_| "the text is not UTF-8".to_owned())?;
        let mut notes = Vec::new();
        let new = match op {
            "set" | "remove" => Some(changed(&message, query, op, text, &mut notes)?),
            "octets" => Some(spliced(&message, query, text)?),
            "undo" | "redo" | "revert" => None,
            _ => {
                return Err(suggest::unknown(
                    "change",
                    op,
                    ["set", "remove", "octets", "undo", "redo", "revert"],
                ));
            }
        };
        if let Some(new) = new {
            if query.text("try").is_some() {
                let tried = Message::new(message.view.clone(), new, message.offset);
                return Ok(
                    json!({ "length": tried.octets.len(), "problems": self.problems(&tried), "notes": notes }),
                );
            }
            if new != message.octets {
                self.edits.push(file, row.offset, row.length, &message.octets, new)?;
            }
        } else {
            let moved = self.edits.go(file, row.offset, |at| match op {
                "undo" => at.checked_sub(1),
                "redo" => Some(at + 1),
                _ => Some(0),
            });
            if !moved {
                return Err(format!("nothing to {op}"));
            }
        }
        self.forget(file, row.number);
        let Steps { undo, redo } = self.edits.steps(file, row.offset);
        Ok(json!({ "undo": undo, "redo": redo, "edited": self.edits.count(file), "notes": notes }))
    }

    /// Writes an input with its changed records to a new file.
    pub(crate) fn save(&self, query: &Query) -> Result<Value, String> {
        if !self.is_editable {
            return Err("this page only shows files; start `tercet inspect` with `--edit`".to_owned());
        }
        let (file, source) = self.source(query)?;
        if source.captured().is_some() {
            return Err("messages cannot be put back into a capture; copy their bytes instead".to_owned());
        }
        let to = query.text("to").ok_or("the name of the new file is missing")?;
        let records = self.edits.replacements(file);
        let count = records.len();
        if count == 0 {
            return Err("no record of this input has been changed".to_owned());
        }
        let path = Path::new(to);
        if path.exists() {
            return Err(format!("`{to}` exists; choose a new name"));
        }
        let (rows, view) = self.rows(query)?;
        let framing = match (rows.framing(), &view) {
            (Some(framing), _) => framing,
            // Values that are not elements follow on one another.
            (None, Some(view)) if !view.rules.has_elements() => Framing::concatenated(Identifiers::any()),
            _ => return Err("the framing of the input is not known yet".to_owned()),
        };
        let named = |error: std::io::Error| format!("{to}: {error}");
        let mut output = Output::create(path).map_err(named)?;
        replace_records(&mut source.reader(), &framing, &records, &mut output)
            .map_err(|error| error.to_string())?;
        output.commit().map_err(named)?;
        Ok(json!({ "path": to, "records": count }))
    }

    /// Returns what can be changed in the part of a value that a question names: its value in JSON, what it can be, what can
    /// be added to it.
    pub(crate) fn fields(&self, query: &Query) -> Result<Value, String> {
        let (row, message) = self.message(query)?;
        let (file, _) = self.source(query)?;
        let index = named(query, &message)?;
        let Steps { undo, redo } = self.edits.steps(file, row.offset);
        let mut answer = json!({
            "path": message.tree.path(index), "undo": undo, "redo": redo, "edited": self.edits.count(file),
            "editable": self.is_editable && row.kind.is_record(),
        });
        let (Some(view), Some(node)) = (message.view.as_deref(), message.tree.nodes.get(index as usize))
        else {
            return Ok(answer);
        };
        let shape = &view.plan.shape;
        answer["json"] = part_of(&message, index).map_or(Value::Null, Value::from);
        let Some(id) = node.node.filter(|id| id.index() < shape.nodes.len()) else { return Ok(answer) };
        let kind = shape.node(id).kind;
        let items: Vec<Value> = match kind {
            Kind::Boolean => vec!["true".into(), "false".into()],
            Kind::Enumerated => shape
                .items_of(id)
                .iter()
                .map(|item| format!("\"{}\"", shape.name(item.name)).into())
                .collect(),
            _ => Vec::new(),
        };
        answer["choices"] = items.into();
        answer["canRemove"] = can_remove(&message, index).into();
        answer["add"] = additions(&message, index).into();
        Ok(answer)
    }

    /// Returns a value that the component at a path could have.
    pub(crate) fn sample(&self, query: &Query) -> Result<Value, String> {
        let (_, message) = self.message(query)?;
        let path = query.text("path").ok_or("the path is missing")?;
        let view = message.view.as_deref().ok_or("there is no specification")?;
        let shape = &view.plan.shape;
        let (around, step) = match path.rfind(['.', '[']) {
            Some(at) => (&path[..at], path[at..].trim_start_matches('.')),
            None => return Err("the path is that of the whole value".to_owned()),
        };
        let parent = message.tree.find(around).and_then(|at| message.tree.nodes.get(at as usize)?.node);
        let parent = parent.filter(|id| id.index() < shape.nodes.len()).ok_or("no such component")?;
        let is_step = |name: &str| step.starts_with('[') || name == step;
        let found = shape.fields_of(parent).find(|(_, field)| is_step(shape.name(field.name)));
        let (_, field) = found.ok_or_else(|| format!("no component `{step}`"))?;
        let mut options = sample::Options::default();
        (options.depth, options.elements) = (1, 1);
        let mut tape = Tape::new();
        Sampler::new(shape, options).sample(field.node, &mut tape).map_err(|error| error.to_string())?;
        Ok(json!({ "path": path, "json": json_of(shape, tape.view(&[]), 0) }))
    }
}

/// The encoding of a record after a change of its value.
fn changed(
    message: &Message,
    query: &Query,
    op: &str,
    text: &str,
    notes: &mut Vec<String>,
) -> Result<Vec<u8>, String> {
    let view = message
        .view
        .as_deref()
        .ok_or("a change of a value requires a specification; change bytes instead")?;
    let path = query.text("path").ok_or("the path of the component is missing")?;
    // The root may have no name of its own that the engine knows.
    let root = message.tree.nodes.first().map_or("", |root| &*root.name);
    let rest = path.strip_prefix(root).filter(|rest| rest.is_empty() || rest.starts_with(['.', '[']));
    let path = rest.map_or(path, |rest| rest.trim_start_matches('.'));
    let change = if op == "set" { Change::set(path, text) } else { Change::remove(path) };
    let is_whole = path.is_empty();
    let change = match (is_whole, view.plan.shape.type_name(view.root)) {
        (true, Some(name)) if op == "set" => Change::set(name, text),
        _ => change,
    };
    let found = change_octets(&view.plan, view.root, view.rules, &message.octets, &[change]);
    let found = found.map_err(|error| match &error {
        tercet_schema::edit::ChangeError::Change(edit) => match edit.unknown() {
            Some((kind, name, known)) => suggest::unknown(kind, name, known.iter().map(String::as_str)),
            None => edit.to_string(),
        },
        _ => error.to_string(),
    })?;
    if found.is_rewritten {
        notes.push("the value was not in the form that Tercet writes; all of it is written anew".to_owned());
    }
    Ok(found.octets)
}

/// The encoding of a record after a change of its bytes: `from` and `count` are what is replaced, counted from the start of the
/// record.
fn spliced(message: &Message, query: &Query, text: &str) -> Result<Vec<u8>, String> {
    let length = message.octets.len() as u64;
    let from = query.number("from", 0)?.min(length);
    let count = query.number("count", length - from)?.min(length - from);
    let new = from_hex(text).map_err(|error| error.to_string())?;
    let (from, to) = (from as usize, (from + count) as usize);
    let octets = [&message.octets[..from], &new, &message.octets[to..]].concat();
    if octets.is_empty() {
        return Err("a record cannot be empty".to_owned());
    }
    Ok(octets)
}

/// Reports whether a part of a value may be absent.
fn can_remove(message: &Message, index: u32) -> bool {
    let Tree { nodes, .. } = &message.tree;
    let Some(view) = message.view.as_deref() else { return false };
    let shape = &view.plan.shape;
    let Some(node) = nodes.get(index as usize).filter(|node| node.state == State::Plain) else {
        return false;
    };
    let Some(around) = nodes.get(node.parent as usize).and_then(|around| around.node) else { return false };
    if around.index() >= shape.nodes.len() {
        return false;
    }
    match shape.node(around).kind {
        Kind::SequenceOf | Kind::SetOf => true,
        Kind::Sequence | Kind::Set => shape
            .fields_of(around)
            .any(|(_, field)| shape.name(field.name) == &*node.name && field.presence != Presence::Mandatory),
        _ => false,
    }
}

/// The components, alternatives or elements that a value can be given.
fn additions(message: &Message, index: u32) -> Vec<Value> {
    let Some(view) = message.view.as_deref() else { return Vec::new() };
    let shape = &view.plan.shape;
    let tree = &message.tree;
    let Some(node) = tree.nodes.get(index as usize) else { return Vec::new() };
    let Some(id) = node.node.filter(|id| id.index() < shape.nodes.len()) else { return Vec::new() };
    let path = tree.path(index);
    let type_of = |node: NodeId| shape.type_name(node).unwrap_or_else(|| shape.node(node).kind.name());
    let kind = shape.node(id).kind;
    if matches!(kind, Kind::SequenceOf | Kind::SetOf) {
        let element = shape.fields_of(id).next();
        let add = |(_, field): (FieldId, &tercet_schema::plan::shape::Field)| {
            let name = format!("[{}]", node.children);
            json!({ "path": format!("{path}{name}"), "name": name, "type": type_of(field.node), "kind": "element" })
        };
        return element.map(add).into_iter().collect();
    }
    let word = if kind == Kind::Choice { "alternative" } else { "component" };
    let there: Vec<&str> = tree
        .children(index)
        .filter(|(_, child)| child.state != State::Default)
        .map(|(_, child)| &*child.name)
        .collect();
    let absent = shape.fields_of(id).filter(|(_, field)| !there.contains(&shape.name(field.name)));
    absent
        .take(MOST_PARTS)
        .map(|(_, field)| {
            let name = shape.name(field.name);
            json!({ "path": format!("{path}.{name}"), "name": name, "type": type_of(field.node), "kind": word })
        })
        .collect()
}

/// A part of a value in JSON.
pub(crate) fn part_of(message: &Message, index: u32) -> Option<String> {
    let view = message.view.as_deref()?;
    let token = message.tree.events.iter().position(|node| *node == index)?;
    let mut tape = Tape::new();
    let mut codec = tercet_schema::TapeCodec::new(view.rules, &view.plan);
    let options = view.options();
    if let Err(error) = codec.read(view.root, &message.octets, &mut tape, &options) {
        codec.finish_partial(view.root, &message.octets, &mut tape, &options, &error);
    }
    (token < tape.view(&message.octets).len())
        .then(|| json_of(&view.plan.shape, tape.view(&message.octets), token))
}

/// The value at an entry of a tape, in JSON on several lines.
fn json_of(shape: &tercet_schema::dynamic::Shape, value: TapeView<'_>, at: usize) -> String {
    let mut options = tercet_schema::dynamic::json::Options::default();
    (options.indent, options.defaults) = (Some(2), false);
    let mut writer = Outermost { sink: JsonWriter::new(shape, options), depth: 0 };
    value.replay_part(at, &mut writer);
    String::from_utf8_lossy(writer.sink.text()).into_owned()
}

/// Hands on a part of a value as a value of its own: what begins outermost is of no field.
struct Outermost<S> {
    sink: S,
    depth: usize,
}

impl<S> Outermost<S> {
    fn field(&self, field: FieldId) -> FieldId {
        if self.depth == 0 { FieldId::ROOT } else { field }
    }
}

impl<S: Sink> Sink for Outermost<S> {
    fn leaf(&mut self, field: FieldId, node: NodeId, leaf: Leaf<'_>) {
        self.sink.leaf(self.field(field), node, leaf);
    }

    fn marked(&mut self, field: FieldId, node: NodeId, leaf: Leaf<'_>, marked: &Marked) {
        self.sink.marked(self.field(field), node, leaf, marked);
    }

    fn open(&mut self, field: FieldId, node: NodeId) {
        self.sink.open(self.field(field), node);
        self.depth += 1;
    }

    fn close(&mut self, field: FieldId, node: NodeId) {
        self.depth = self.depth.saturating_sub(1);
        self.sink.close(self.field(field), node);
    }

    fn absent(&mut self, field: FieldId, node: NodeId, constant: u32) {
        self.sink.absent(self.field(field), node, constant);
    }

    fn unknown(&mut self, addition: u32, leaf: Leaf<'_>) {
        self.sink.unknown(addition, leaf);
    }
}
