//! All about one part of a value: "what are these bits".

use crate::answers::{has_bits, hex, named, of_node};
use crate::message::Message;
use crate::query::Query;
use crate::untyped::meaning;
use crate::view::View;
use crate::workbench::Workbench;
use serde_json::{Map, Value, json};
use std::collections::HashSet;
use tercet_schema::dynamic::Part;
use tercet_schema::dynamic::sizes::sizes;
use tercet_schema::plan::Kind;
use tercet_schema::runtime::dump::dump;
use tercet_schema::runtime::{Tag, ber};

/// Bytes of contents that are shown raw.
const RAW: usize = 1024;
/// Parts of one node that are listed.
const MOST_PARTS: usize = 64;
/// Characters of a value.
const CHARACTERS: usize = 20_000;
/// Meanings of bytes that no type tells.
const MEANINGS: usize = 3;

impl Workbench {
    /// Tells about the node that a question names: its bits by the clauses of the standard, type, constraint, sizes, definition.
    pub(crate) fn explain(&self, query: &Query) -> Result<Value, String> {
        let (_, message) = self.message(query)?;
        let index = named(query, &message)?;
        let Some(node) = message.tree.nodes.get(index as usize) else {
            return Err("there is no value".to_owned());
        };
        let mut answer = match of_node(&message, index) {
            Value::Object(answer) => answer,
            _ => Map::new(),
        };
        answer.insert("path".to_owned(), message.tree.path(index).into());
        if let Some(value) = &node.value {
            answer.insert("value".to_owned(), crate::answers::cut(value, CHARACTERS).into());
        }
        answer.insert("parts".to_owned(), steps(&message, index));
        if let Some(view) = message.view.as_deref() {
            answer.extend(size(view, &message, index));
            if let Some(texts) = self.texts()
                && let Some(found) = texts.locate(&view.type_name, &message.tree, index)
            {
                answer.insert("definition".to_owned(), found.definition.into());
                answer.insert("facts".to_owned(), found.facts.into());
                answer.insert(
                    "location".to_owned(),
                    json!({ "text": found.file, "line": found.line, "lines": found.lines }),
                );
            }
        }
        // Characters of text are not the bytes of a value.
        let is_text = message.view.as_deref().is_some_and(|view| view.rules.is_text());
        let contents = if is_text { Vec::new() } else { contents(&message, index) };
        if !contents.is_empty() {
            answer.insert("raw".to_owned(), hex(&contents[..contents.len().min(RAW)]).into());
            answer.insert("rawLength".to_owned(), contents.len().into());
        }
        answer.insert("meanings".to_owned(), meanings(&message, index, &contents).into());
        Ok(Value::Object(answer))
    }
}

/// The parts of the encoding that are of a node itself, as lines of a trace.
fn steps(message: &Message, index: u32) -> Value {
    let base = message.offset * 8;
    let own = message.tree.pieces.iter().filter(|piece| piece.node == index);
    let own: Vec<_> = own.take(MOST_PARTS).collect();
    let raw = |at: u64, bits: u64| notation(&message.octets, at, bits);
    if message.view.is_none() {
        let of_element = |piece: &&crate::tree::Piece| {
            let part = piece.part.map_or("unread", Part::name);
            let clause = piece.part.map_or("", |part| match part {
                Part::Identifier => "X.690 8.1.2",
                Part::Length => "X.690 8.1.3",
                Part::EndOfContents => "X.690 8.1.5",
                _ => "X.690 8.1.4",
            });
            let meaning = match piece.part {
                Some(Part::Identifier) => {
                    let from = (piece.at / 8) as usize;
                    let rest = message.octets.get(from..).unwrap_or_default();
                    ber::Reader::new(rest, ber::Rules::Ber)
                        .identifier()
                        .map_or_else(String::new, |it| it.to_string())
                }
                _ => String::new(),
            };
            json!({
                "bit": piece.at + base, "bits": piece.bits, "part": part, "clause": clause, "meaning": meaning,
                "encoding": raw(piece.at, piece.bits),
            })
        };
        return own.iter().map(of_element).collect();
    }
    let is_text = message.view.as_deref().is_some_and(|view| view.rules.is_text());
    let shown =
        |at: u64, bits: u64| if is_text { characters(&message.octets, at, bits) } else { raw(at, bits) };
    let wanted: HashSet<(u64, u64)> = own.iter().map(|piece| (piece.at, piece.bits)).collect();
    let mut lines = Vec::new();
    message.trace(|step| {
        let place = step.place;
        if wanted.contains(&(place.at, place.bits)) && lines.len() < MOST_PARTS {
            lines.push(json!({
                "bit": place.at + base,
                "bits": place.bits,
                "part": place.part.name(),
                "clause": step.clause,
                "meaning": step.meaning,
                "encoding": shown(place.at, place.bits),
            }));
        }
    });
    let unread = own.iter().filter(|piece| piece.part.is_none());
    lines.extend(unread.map(|piece| {
        json!({
            "bit": piece.at + base, "bits": piece.bits, "part": "unread", "clause": "", "meaning": "",
            "encoding": shown(piece.at, piece.bits),
        })
    }));
    Value::Array(lines)
}

/// The place of a bit: `12` where fields are whole bytes, else `12.3`.
pub(crate) fn place(bit: u64, has_bits: bool) -> String {
    if has_bits { format!("{}.{}", bit / 8, bit % 8) } else { (bit / 8).to_string() }
}

/// Bits of an input: whole bytes in hexadecimal, others as bits.
pub(crate) fn notation(octets: &[u8], at: u64, bits: u64) -> String {
    let (from, to) = ((at / 8) as usize, ((at + bits).div_ceil(8)) as usize);
    let found = octets.get(from..to.min(octets.len())).unwrap_or_default();
    if at.is_multiple_of(8) && bits.is_multiple_of(8) {
        let cut = if found.len() > 32 { "…" } else { "" };
        return hex(&found[..found.len().min(32)]) + cut;
    }
    let bit = |at: u64| {
        let octet = octets.get((at / 8) as usize).copied().unwrap_or(0);
        char::from(b'0' + (octet >> (7 - at % 8) & 1))
    };
    let shown: String = (at..at + bits.min(64)).map(bit).collect();
    if bits > 64 { shown + "…" } else { shown }
}

/// The characters of a part of a text, cut if they are many.
pub(crate) fn characters(octets: &[u8], at: u64, bits: u64) -> String {
    const MOST: usize = 64;
    let range = (at / 8) as usize..((at + bits) / 8) as usize;
    let text = String::from_utf8_lossy(octets.get(range).unwrap_or_default()).into_owned();
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// The least and greatest size of the type.
fn size(view: &View, message: &Message, index: u32) -> Option<(String, Value)> {
    let node = message.tree.nodes.get(index as usize)?.node?;
    let sizes = sizes(&view.plan, view.rules.binary()?, node)?;
    let unit = if has_bits(view) { "bits" } else { "bytes" };
    let shown = |bits: u64| if has_bits(view) { bits } else { bits / 8 };
    Some((
        "size".to_owned(),
        json!({ "least": shown(sizes.least), "most": sizes.most.map(shown), "unit": unit }),
    ))
}

/// The contents octets of a value that has no components, if they are whole bytes.
fn contents(message: &Message, index: u32) -> Vec<u8> {
    let mut found = Vec::new();
    for piece in message.tree.pieces.iter().filter(|piece| piece.node == index) {
        if piece.part == Some(Part::Contents) {
            let (from, to) = ((piece.at / 8) as usize, ((piece.at + piece.bits) / 8) as usize);
            if !piece.at.is_multiple_of(8) || !piece.bits.is_multiple_of(8) {
                return Vec::new();
            }
            found.extend_from_slice(message.octets.get(from..to).unwrap_or_default());
        }
    }
    found
}

/// What the bytes of a string may mean: text, digits, a time.
fn meanings(message: &Message, index: u32, contents: &[u8]) -> Vec<String> {
    let kind = message.view.as_deref().and_then(|view| {
        let node = message.tree.nodes.get(index as usize)?.node?;
        Some(view.plan.shape.nodes.get(node.index())?.kind)
    });
    let is_string = matches!(kind, Some(Kind::OctetString | Kind::Open));
    if !is_string || contents.is_empty() || contents.len() > RAW {
        return Vec::new();
    }
    // As an element with a tag that says nothing.
    let mut octets = vec![Tag::context(0).number() as u8 | 0x80];
    match contents.len() {
        short @ ..=127 => octets.push(short as u8),
        long => octets.extend([0x82, (long >> 8) as u8, long as u8]),
    }
    octets.extend_from_slice(contents);
    let line = dump(&octets).find_map(Result::ok);
    line.map(|line| line.guesses().take(MEANINGS).map(|guess| meaning(&guess)).collect()).unwrap_or_default()
}
