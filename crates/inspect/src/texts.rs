//! The texts of the specifications, with colours, and the places in them that parts of a value come from.

use crate::tree::{NONE, Tree};
use serde_json::{Value, json};
use std::sync::OnceLock;
use tercet_ide::{Colour, Coloured, Kind, Snapshot};
use tercet_schema::Schema;
use tercet_schema::model::ir::{TypeId, TypeKind};
use tercet_schema::syntax::{FileId, Span};

/// Values that a line may lead to.
const MOST_FOUND: usize = 1000;

/// The texts, read once more for their names.
#[derive(Debug)]
pub(crate) struct Texts {
    snapshot: Snapshot,
    files: Vec<Text>,
}

/// A text: where its lines begin, and its colours once somebody has looked.
#[derive(Debug)]
struct Text {
    id: FileId,
    lines: Vec<usize>,
    colours: OnceLock<Vec<Coloured>>,
}

/// The place of the definition of a part of a value.
#[derive(Debug)]
pub(crate) struct Location {
    pub(crate) file: usize,
    /// The first line, from 0.
    pub(crate) line: usize,
    /// The number of lines.
    pub(crate) lines: usize,
    /// The definition as it is written.
    pub(crate) definition: String,
    /// Tags, the effective constraint, the module.
    pub(crate) facts: Vec<String>,
}

impl Texts {
    /// Reads the texts of a schema; `None` for a plan file, which has none.
    pub(crate) fn new(schema: &Schema) -> Option<Self> {
        let texts: Vec<(String, String)> =
            schema.sources.files().map(|(_, file)| (file.name.clone(), file.text.to_string())).collect();
        if texts.is_empty() {
            return None;
        }
        let snapshot = Snapshot::new(texts);
        let files = snapshot.sources().files().map(|(id, file)| {
            let mut lines = vec![0];
            lines.extend(file.text.match_indices('\n').map(|(at, _)| at + 1));
            Text { id, lines, colours: OnceLock::new() }
        });
        let files = files.collect();
        Some(Self { snapshot, files })
    }

    /// Returns the names and numbers of lines of all texts.
    pub(crate) fn files(&self) -> Value {
        let of_text = |text: &Text| {
            let name = &self.snapshot.sources().file(text.id).name;
            json!({ "name": name, "lines": text.lines.len() })
        };
        self.files.iter().map(of_text).collect()
    }

    /// Returns lines of a text: each is a list of pieces, and of each the class of its colour and its characters.
    pub(crate) fn lines(&self, file: usize, from: usize, count: usize) -> Option<Value> {
        let Text { id, lines, colours } = self.files.get(file)?;
        let source = self.snapshot.sources().file(*id);
        let text: &str = &source.text;
        let colours = colours.get_or_init(|| self.snapshot.colours(*id));
        let start = |line: usize| lines.get(line).copied().unwrap_or(text.len());
        let of_line = |line: usize| {
            let (begin, end) = (start(line), start(line + 1));
            let end = begin + text.get(begin..end).unwrap_or_default().trim_end_matches(['\n', '\r']).len();
            pieces(text, begin, end, source.start, colours)
        };
        let last = lines.len().min(from.saturating_add(count));
        let shown: Vec<Value> = (from.min(last)..last).map(of_line).collect();
        Some(json!({ "file": file, "name": source.name, "from": from, "total": lines.len(), "lines": shown }))
    }

    /// Returns where a part of a value is defined.
    pub(crate) fn locate(&self, root: &str, tree: &Tree, index: u32) -> Option<Location> {
        let model = self.snapshot.schema().model();
        let mut chain = Vec::new();
        let mut at = index;
        while let Some(node) = tree.nodes.get(at as usize) {
            chain.push(node);
            at = node.parent;
        }
        let mut ty = model.find_type(root)?;
        let mut span = None;
        for node in chain.iter().rev() {
            if node.parent != NONE {
                let (found, inner) = self.component(ty, &node.name)?;
                (span, ty) = (found, inner);
            }
            ty = self.with_parts(ty, &node.type_name);
        }
        let name = match span {
            Some(span) => self.snapshot.definitions().iter().find(|it| it.name.lo == span.lo),
            None => {
                let place = model.ty(ty).span;
                self.snapshot
                    .definitions()
                    .iter()
                    .find(|it| it.kind == Kind::Type && it.whole.lo <= place.lo && place.hi <= it.whole.hi)
            }
        };
        let whole = name.map_or_else(|| span.unwrap_or_else(|| model.ty(ty).span), |it| it.whole);
        let markdown = name.and_then(|it| self.snapshot.hover(it.name.lo)).map(|hover| hover.markdown);
        Some(self.location(whole, &markdown.unwrap_or_default()))
    }

    /// Returns the nodes that a line of a text defines, the first of them.
    pub(crate) fn defined_on(&self, root: &str, tree: &Tree, text: usize, line: usize) -> Vec<u32> {
        let model = self.snapshot.schema().model();
        let sources = self.snapshot.sources();
        let Some(id) = self.files.get(text).map(|text| text.id) else { return Vec::new() };
        let is_there =
            |span: Span| sources.file_of(span.lo) == id && sources.line_column(span.lo).line == line + 1;
        let mut types: Vec<Option<TypeId>> = Vec::with_capacity(tree.nodes.len());
        let mut found = Vec::new();
        for (index, node) in tree.nodes.iter().enumerate() {
            let (span, ty) = match types.get(node.parent as usize) {
                None => (None, model.find_type(root)),
                Some(around) => match around.and_then(|around| self.component(around, &node.name)) {
                    Some((span, ty)) => (span, Some(ty)),
                    None => (None, None),
                },
            };
            let ty = ty.map(|ty| self.with_parts(ty, &node.type_name));
            let of_type = ty.map(|ty| model.ty(model.base(ty))).filter(|ty| ty.name.is_some());
            if span.is_some_and(is_there) || of_type.is_some_and(|ty| is_there(ty.span)) {
                found.push(index as u32);
            }
            types.push(ty);
            if found.len() >= MOST_FOUND {
                break;
            }
        }
        found
    }

    /// Returns the type of what is in an open type or a string; any other as it is.
    fn with_parts(&self, ty: TypeId, content: &str) -> TypeId {
        let model = self.snapshot.schema().model();
        let has_parts = matches!(
            model.ty(model.base(ty)).kind,
            TypeKind::Sequence(_)
                | TypeKind::Set(_)
                | TypeKind::Choice(_)
                | TypeKind::SequenceOf(..)
                | TypeKind::SetOf(..)
        );
        let content = if has_parts { None } else { model.find_type(content) };
        content.unwrap_or(ty)
    }

    /// Returns the component, alternative or element of a type with a name.
    fn component(&self, ty: TypeId, name: &str) -> Option<(Option<Span>, TypeId)> {
        let model = self.snapshot.schema().model();
        match &model.ty(model.base(ty)).kind {
            TypeKind::Sequence(parts) | TypeKind::Set(parts) | TypeKind::Choice(parts) => {
                let found = parts.list.iter().find(|it| it.name == name)?;
                Some((Some(found.span), found.ty))
            }
            TypeKind::SequenceOf(_, element) | TypeKind::SetOf(_, element) => {
                Some((Some(model.ty(*element).span), *element))
            }
            _ => None,
        }
    }

    fn location(&self, whole: Span, markdown: &str) -> Location {
        let sources = self.snapshot.sources();
        let id = sources.file_of(whole.lo);
        let file = self.files.iter().position(|text| text.id == id).unwrap_or(0);
        let line = sources.line_column(whole.lo).line;
        let last = sources.line_column(whole.hi.saturating_sub(1).max(whole.lo)).line;
        let mut definition = String::new();
        let mut facts = Vec::new();
        for (index, part) in markdown.split("```").enumerate() {
            match index % 2 {
                1 => definition.push_str(part.trim_start_matches("asn1").trim_matches('\n')),
                _ => facts.extend(part.lines().map(|line| line.trim().replace('`', ""))),
            }
        }
        facts.retain(|line| !line.is_empty());
        let line = line.saturating_sub(1);
        Location { file, line, lines: last.saturating_sub(line).max(1), definition, facts }
    }
}

/// The pieces of a line with the classes of their colours.
fn pieces(text: &str, begin: usize, end: usize, start: u32, colours: &[Coloured]) -> Value {
    let mut pieces: Vec<Value> = Vec::new();
    let mut at = begin;
    let local = |at: u32| at.saturating_sub(start) as usize;
    let first = colours.partition_point(|it| local(it.span.hi) <= begin);
    for it in colours[first..].iter().take_while(|it| local(it.span.lo) < end) {
        let (lo, hi) = (local(it.span.lo).max(at), local(it.span.hi).min(end));
        if lo > at {
            pieces.push(json!(["", text.get(at..lo).unwrap_or_default()]));
        }
        if hi > lo {
            pieces.push(json!([class(it.colour), text.get(lo..hi).unwrap_or_default()]));
        }
        at = hi.max(at);
    }
    if at < end {
        pieces.push(json!(["", text.get(at..end).unwrap_or_default()]));
    }
    Value::Array(pieces)
}

fn class(colour: Colour) -> &'static str {
    match colour {
        Colour::Keyword => "keyword",
        Colour::Comment => "comment",
        Colour::Number => "number",
        Colour::String => "string",
        Colour::Name(Kind::Type | Kind::Set | Kind::Class) => "type",
        Colour::Name(_) => "name",
    }
}
