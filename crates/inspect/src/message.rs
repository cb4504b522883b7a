//! One value: its bytes, its tree, the parts of its encoding, and what is wrong with it.

use crate::tree::{Builder, Built, NONE, Node, Piece, State, Tree};
use crate::untyped;
use crate::view::View;
use tercet_schema::dynamic::json::{self, JsonWriter};
use tercet_schema::dynamic::source::Ranges;
use tercet_schema::dynamic::trace::{self, Step};
use tercet_schema::dynamic::validate::Validator;
use tercet_schema::dynamic::{Decoder, Discard, Error, FieldId, Place, Sink, Tape, Token, Trailing};
use tercet_schema::records::Scratch;
use tercet_schema::{CodecError, TapeCodec};

/// Bytes of one value that are looked at.
pub(crate) const MOST_OCTETS: usize = 64 << 20;
/// Bytes that may be missing of a value that breaks off, for what there is of it to be read.
const MOST_FILLED: u64 = 16 << 20;
/// Problems of one value that are listed.
const MOST_PROBLEMS: usize = 1000;

/// What is wrong at a place.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    pub(crate) node: u32,
    /// `fault`, `constraint`, `value` or `trailing`.
    pub(crate) kind: &'static str,
    pub(crate) message: String,
    /// The bit where it is, if it is a fault of the encoding.
    pub(crate) at: Option<u64>,
    /// The constraint that is not met, as it is written.
    pub(crate) constraint: String,
    /// Where that is written, as the compiler counts over all its texts.
    pub(crate) span: Option<(u32, u32)>,
}

/// A value and what there is to know about it.
#[derive(Debug)]
pub(crate) struct Message {
    /// Absolute offset of the first byte.
    pub(crate) offset: u64,
    pub(crate) octets: Vec<u8>,
    pub(crate) tree: Tree,
    pub(crate) problems: Vec<Problem>,
    /// How it was read; `None` without a specification.
    pub(crate) view: Option<std::sync::Arc<View>>,
}

impl Message {
    /// Reads a value of a type, or without one the elements of BER.
    pub(crate) fn new(view: Option<std::sync::Arc<View>>, octets: Vec<u8>, offset: u64) -> Self {
        let (mut tree, mut problems) = match view.as_deref() {
            None => untyped::read(&octets, offset),
            Some(view) if view.rules.is_text() => of_text(view, &octets),
            Some(view) => of_octets(view, &octets, offset),
        };
        problems.truncate(MOST_PROBLEMS);
        let has_places = view.as_deref().is_none_or(View::has_places);
        if has_places {
            let fault = problems.iter().find(|problem| problem.kind == "fault");
            cover(&mut tree, octets.len() as u64 * 8, fault.map_or(0, |problem| problem.node));
        }
        for problem in &problems {
            if problem.kind == "fault"
                && let Some(node) = tree.nodes.get_mut(problem.node as usize)
            {
                node.state = State::Broken;
            }
        }
        Self { offset, octets, tree, problems, view }
    }

    /// Calls a function for each part of the encoding with all that there is to know about it, in the order of the bytes.
    /// Returns the fault that the value ends with; `None` as a whole without a specification, and where parts have no
    /// places.
    pub(crate) fn trace(&self, each: impl FnMut(&Step<'_>)) -> Option<Result<(), String>> {
        let view = self.view.as_deref().filter(|view| view.has_places())?;
        let read =
            TapeCodec::new(view.rules, &view.plan).trace(view.root, &self.octets, &view.options(), each);
        Some(read.map(|_| ()).map_err(|error| error.to_string()))
    }
}

/// Reads text onto a tape, with the ranges of its values. After a fault there is what was read before it.
fn read_text(view: &View, text: &[u8], tape: &mut Tape, ranges: &mut Ranges) -> Result<(), CodecError> {
    let (mut codec, options) = (TapeCodec::new(view.rules, &view.plan), view.options());
    let read = codec.read_with_ranges(view.root, text, tape, &options, ranges);
    if let Err(error) = &read {
        codec.finish_partial(view.root, text, tape, &options, error);
    }
    read.map(|_| ())
}

/// Adds parts for the bits that none has: those after a fault or after the value.
fn cover(tree: &mut Tree, bits: u64, node: u32) {
    let mut at = 0;
    let mut missing = Vec::new();
    for piece in &tree.pieces {
        if piece.at > at {
            missing.push(Piece { at, bits: piece.at - at, part: None, node });
        }
        at = at.max(piece.at + piece.bits);
    }
    if at < bits {
        missing.push(Piece { at, bits: bits - at, part: None, node });
    }
    if let (Some(first), Some(last)) = (missing.first(), missing.last())
        && let Some(node) = tree.nodes.get_mut(node as usize).filter(|node| !node.has_bits())
    {
        (node.at, node.end) = (first.at, last.at + last.bits);
    }
    if !missing.is_empty() {
        tree.pieces.extend(missing);
        tree.pieces.sort_by_key(|piece| piece.at);
    }
}

/// Decodes bytes; after a fault there is what was read before it.
fn of_octets(view: &View, octets: &[u8], offset: u64) -> (Tree, Vec<Problem>) {
    let mut options = view.options();
    let mut decoder = Decoder::new();
    let mut builder = Builder::new(&view.plan.shape);
    let read = decoder.decode(&view.plan, view.root, octets, &mut builder, &options);
    let Built { mut tree, marked } = builder.finish();
    options.base_offset = offset;
    let mut problems: Vec<Problem> = marked
        .into_iter()
        .map(|(node, message)| Problem {
            node,
            kind: "value",
            message,
            at: None,
            constraint: String::new(),
            span: None,
        })
        .collect();
    match read {
        Err(error) => {
            tree.events.clear();
            if let Some(partial) = filled(view, octets, &error) {
                tree = partial;
            }
            let at = error.offset() * 8 + u64::from(error.bit().unwrap_or(0));
            let node = broken(&mut tree, error.path()).or_else(|| tree.node_at(at)).unwrap_or(0);
            // With the offset in the file.
            let told = decoder.decode(&view.plan, view.root, octets, &mut Discard, &options).err();
            let message = told.as_ref().unwrap_or(&error).to_string();
            let (kind, constraint) = ("fault", String::new());
            problems.push(Problem { node, kind, message, at: Some(at), constraint, span: None });
        }
        Ok(length) => {
            let rest = &octets[length..];
            let is_padding = Trailing::Zeros.allows(rest) && !view.rules.delimits();
            if !rest.is_empty() && !is_padding {
                let (count, from) = (rest.len(), offset + length as u64);
                let message = format!("{count} bytes after the value, from offset {from:#x} on");
                let (at, constraint) = (Some(length as u64 * 8), String::new());
                problems.push(Problem { node: 0, kind: "trailing", message, at, constraint, span: None });
            }
            let mut tape = Tape::new();
            if decoder.decode(&view.plan, view.root, octets, &mut tape, &options).is_ok() {
                problems.extend(violations(view, &tape, octets, &tree));
                let events = std::mem::take(&mut tree.events);
                render(view, &tape, octets, &events, &mut tree);
                tree.events = events;
            }
        }
    }
    (tree, problems)
}

/// Returns the node with a path; one that the decoder has not come to is added to the one around it.
fn broken(tree: &mut Tree, path: &str) -> Option<u32> {
    let found = tree.find(path)?;
    let rest = path.strip_prefix(&*tree.path(found))?;
    let step = rest.strip_prefix('.').unwrap_or(rest);
    let end = step.char_indices().skip(1).find(|(_, it)| matches!(it, '.' | '['));
    let step = &step[..end.map_or(step.len(), |(at, _)| at)];
    // Steps in the middle of a long path are left out of it.
    if step.is_empty() || step.starts_with('…') {
        return Some(found);
    }
    Some(tree.add(Node {
        parent: found,
        name: step.into(),
        type_name: "not read".into(),
        kind: "not read",
        node: None,
        value: None,
        shown: None,
        children: 0,
        at: 0,
        end: 0,
        state: State::Broken,
    }))
}

/// Reads what there is of an element whose end is missing: zeros stand for the rest.
fn filled(view: &View, octets: &[u8], error: &Error) -> Option<Tree> {
    let missing = error.missing().filter(|missing| view.rules.has_elements() && *missing <= MOST_FILLED)?;
    let mut more = octets.to_vec();
    more.resize(octets.len() + missing as usize, 0);
    let mut builder = Builder::new(&view.plan.shape);
    _ = Decoder::new().decode(&view.plan, view.root, &more, &mut builder, &view.options());
    let tree = builder.finish().tree;
    let end = octets.len() as u64 * 8;
    let mut cut = Tree::default();
    // The new numbers of nodes that are kept.
    let mut kept = vec![None; tree.nodes.len()];
    for (index, mut node) in tree.nodes.into_iter().enumerate() {
        let parent = kept.get(node.parent as usize).copied().flatten();
        let is_beyond = node.has_bits() && node.at >= end || node.state == State::Default;
        if index > 0 && (is_beyond || parent.is_none()) {
            continue;
        }
        if node.end > end && node.value.is_some() {
            (node.value, node.state) = (None, State::Broken);
        }
        node.parent = parent.unwrap_or(NONE);
        (node.children, node.at, node.end) = (0, 0, 0);
        kept[index] = Some(cut.add(node));
    }
    for piece in tree.pieces {
        let bits = piece.bits.min(end.saturating_sub(piece.at));
        if let Some(node) = kept.get(piece.node as usize).copied().flatten().filter(|_| bits > 0) {
            cut.pieces.push(Piece { bits, node, ..piece });
        }
    }
    cut.finish();
    Some(cut)
}

/// Adds what strings of bytes mean, by the profile that fits the type.
fn render(view: &View, tape: &Tape, octets: &[u8], events: &[u32], tree: &mut Tree) {
    let Some(rendering) = &view.rendering else { return };
    let (value, mut shown, mut scratch) = (tape.view(octets), Tape::new(), Scratch::default());
    rendering.show(value, &mut shown, &mut scratch);
    let shape = rendering.shape();
    let shown = shown.view(octets);
    let mut writer = JsonWriter::new(shape, json::Options::default());
    let mut at = 0;
    // Entries are the same, but for leaves that are shown as other ones or as groups of them.
    for (token, node) in value.tokens().zip(events) {
        if at >= shown.len() {
            return;
        }
        let next = shown.skip(at);
        if let Token::Leaf { node: raw, .. } | Token::Default { node: raw, .. } = token {
            let mut texts = Vec::new();
            let is_group = matches!(shown.token(at), Token::Open { .. });
            for index in at..next {
                if let Token::Leaf { field, node, leaf } = shown.token(index)
                    && (is_group || node != raw)
                {
                    writer.clear();
                    writer.leaf(FieldId::ROOT, node, leaf);
                    let text = String::from_utf8_lossy(writer.text()).trim_matches('"').to_owned();
                    let name = shape.fields.get(field.index()).map_or("", |field| shape.name(field.name));
                    texts.push(if is_group { format!("{name} {text}") } else { text });
                }
            }
            if let Some(node) = tree.nodes.get_mut(*node as usize)
                && !texts.is_empty()
            {
                node.shown = Some(texts.join(", ").into());
            }
            at = next;
        } else {
            at += 1;
        }
    }
}

/// Lists the constraints that a value does not meet.
fn violations(view: &View, tape: &Tape, octets: &[u8], tree: &Tree) -> Vec<Problem> {
    let found = Validator::new().check(&view.plan.shape, view.root, tape.view(octets));
    let problem = |violation: tercet_schema::dynamic::validate::Violation| Problem {
        node: tree.find(&violation.path).unwrap_or(0),
        kind: "constraint",
        message: format!("{} {}", violation.value, violation.message).trim().to_owned(),
        at: None,
        constraint: violation.constraint,
        span: violation.span,
    };
    found.into_iter().map(problem).collect()
}

/// Reads text.
fn of_text(view: &View, octets: &[u8]) -> (Tree, Vec<Problem>) {
    let (mut tape, mut ranges) = (Tape::new(), Ranges::new());
    let error = read_text(view, octets, &mut tape, &mut ranges).err();
    let end = error.as_ref().map_or(octets.len() as u64, CodecError::offset) * 8;
    let mut builder = Builder::new(&view.plan.shape);
    tape.view(octets).replay(&mut builder);
    let mut tree = builder.finish().tree;
    for part in trace::parts(tape.view(octets), octets, &ranges) {
        // After the fault nothing was read.
        let Place { part: kind, at, bits, .. } = part.place;
        let node = tree.events.get(part.index).copied().filter(|node| *node != NONE);
        if let Some(node) = node.filter(|_| part.place.end() <= end) {
            tree.pieces.push(Piece { at, bits, part: Some(kind), node });
        }
    }
    tree.finish();
    if error.is_some() {
        tree.events.clear();
    }
    let problems = match error {
        None => violations(view, &tape, octets, &tree),
        Some(error) => {
            let node = tree.find(&error.path()).unwrap_or(0);
            let at = match &error {
                CodecError::Octets(error) => error.offset(),
                CodecError::Text(error) => error.offset() as u64,
            };
            let (kind, message, constraint) = ("fault", error.to_string(), String::new());
            vec![Problem { node, kind, message, at: Some(at * 8), constraint, span: None }]
        }
    };
    (tree, problems)
}
