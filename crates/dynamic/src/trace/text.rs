//! Traces of text: its parts in the order of the text, each of one value.

use super::Step;
use crate::json::{self, JsonWriter};
use crate::source::{Notation, Ranges, TextRange};
use crate::{FieldId, NodeId, Part, Place, Rules, Shape, Sink, Token, View, path};
use std::ops::Range;
use tercet_plan::Kind;

/// No entry.
const NONE: u32 = u32::MAX;

/// A part of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextPart {
    /// The index of the entry of the value that it is a part of.
    pub index: usize,
    /// The place.
    pub place: Place,
}

/// Returns the parts of a text that a value was read from. Together they are the text, each byte once; for a value that
/// breaks off ([`crate::Tape::finish_partial`]) too. Nothing if no value was read.
pub fn parts(value: View<'_>, text: &[u8], ranges: &Ranges) -> Vec<TextPart> {
    let mut found = Vec::new();
    // Values whose parts are to come, with the text that there is for them.
    let mut open = Vec::new();
    if !value.is_empty() && ranges.get(0).is_some() {
        open.push((0, 0..text.len()));
    }
    while let Some((index, room)) = open.pop() {
        let Some(own) = ranges.get(index) else { continue };
        let mut add = |part: Part, range: Range<usize>| {
            let (at, bits) = (range.start as u64 * 8, range.len() as u64 * 8);
            found.push(TextPart { index, place: Place { part, at, bits, number: None } });
        };
        let mut between = |range: Range<usize>| match ranges.notation() {
            Notation::Json => json_parts(text, range, &mut add),
            Notation::Xml => xml_parts(text, range, &mut add),
            Notation::Gser => gser_parts(text, range, &mut add),
        };
        let Token::Open { close, .. } = value.token(index) else {
            let begin = (own.begin as usize).clamp(room.start, room.end);
            let end = (own.end as usize).clamp(begin, room.end);
            between(room.start..begin);
            between(end..room.end);
            if begin < end {
                add(Part::Contents, begin..end);
            }
            continue;
        };
        let mut at = room.start;
        for (child, range) in children(value, ranges, index, close) {
            // A value in the place of the one around it, such as the content of an open type, has no name.
            let is_same = range == own;
            let (from, to) = if is_same { (range.begin, range.end) } else { (range.from, range.to) };
            let from = (from as usize).clamp(at, room.end);
            let to = (to as usize).clamp(from, room.end);
            between(at..from);
            open.push((child, from..to));
            at = to;
        }
        between(at..room.end);
    }
    found.sort_by_key(|part| part.place.at);
    found
}

/// The values inside of a value that have ranges, in the order of the text.
fn children(value: View<'_>, ranges: &Ranges, index: usize, close: usize) -> Vec<(usize, TextRange)> {
    let mut found = Vec::new();
    let mut at = index + 1;
    while at < close.min(value.len()) {
        found.extend(ranges.get(at).map(|range| (at, range)));
        at = value.skip(at);
    }
    // Members of a JSON object come in any order.
    found.sort_by_key(|(_, range)| (range.from, range.to));
    found
}

/// Calls a function for each part of a text, in the order of the text.
pub fn of_text(
    shape: &Shape,
    rules: Rules,
    value: View<'_>,
    text: &[u8],
    ranges: &Ranges,
    mut each: impl FnMut(&Step<'_>),
) {
    let around = Around::of(shape, value);
    let mut values = JsonWriter::new(shape, json::Options::default());
    let mut has_part = vec![false; value.len()];
    let mut path = String::new();
    for TextPart { index, place } in parts(value, text, ranges) {
        let token = value.token(index);
        let is_first = !std::mem::replace(&mut has_part[index], true);
        path.clear();
        around.push_path(&mut path, shape, value, index);
        let (node, is_unknown) = match token {
            Token::Unknown { .. } => (NodeId(NONE), true),
            _ => (of(token).map_or(NodeId(NONE), |(_, node)| node), false),
        };
        let kind = shape.nodes.get(node.index()).map_or(Kind::Open, |node| node.kind);
        let mut has_value = false;
        if let Token::Leaf { node, leaf, .. } = token {
            // The tag of an empty element is all there is.
            let is_empty = ranges.get(index).is_some_and(|range| range.begin == range.end);
            has_value = place.part == Part::Contents || is_empty && is_first;
            values.clear();
            values.leaf(FieldId::ROOT, node, leaf);
        }
        let shown = has_value.then(|| String::from_utf8_lossy(values.text()));
        each(&Step {
            place,
            path: &path,
            type_name: match shape.type_name(node) {
                _ if is_unknown => "(unknown addition)",
                Some(name) => name,
                None => kind.name(),
            },
            is_first,
            meaning: "",
            value: shown.as_deref(),
            clause: place.part.clause(rules, kind),
            marked: None,
        });
    }
}

/// What is around the entries of a tape.
struct Around {
    /// By entry: the entry of the value around it, and the position in it if that is a list.
    entries: Vec<(u32, Option<u32>)>,
}

impl Around {
    fn of(shape: &Shape, value: View<'_>) -> Self {
        let mut entries = Vec::with_capacity(value.len());
        // The values that have begun: the entry, and how many elements there were if it is a list.
        let mut open: Vec<(u32, Option<u32>)> = Vec::new();
        for (index, token) in value.tokens().enumerate() {
            if matches!(token, Token::Close { .. }) {
                open.pop();
                entries.push((NONE, None));
                continue;
            }
            let position = match open.last_mut() {
                Some((_, Some(count))) => {
                    *count += 1;
                    Some(*count - 1)
                }
                _ => None,
            };
            entries.push((open.last().map_or(NONE, |(around, _)| *around), position));
            if let Token::Open { node, .. } = token {
                let kind = shape.nodes.get(node.index()).map(|node| node.kind);
                let is_list = matches!(kind, Some(Kind::SequenceOf | Kind::SetOf));
                open.push((index as u32, is_list.then_some(0)));
            }
        }
        Self { entries }
    }

    /// Appends the path of an entry: the steps from the outermost value.
    fn push_path(&self, out: &mut String, shape: &Shape, value: View<'_>, index: usize) {
        let mut steps = Vec::new();
        let mut at = index;
        while let Some((around, position)) = self.entries.get(at) {
            steps.extend(of(value.token(at)).map(|(field, node)| (field, node, *position)));
            at = *around as usize;
        }
        for (field, node, position) in steps.into_iter().rev() {
            path::step(out, shape, field, node, position.map(|position| position as usize));
        }
    }
}

/// The field and the type of an entry that begins a value.
const fn of(token: Token<'_>) -> Option<(FieldId, NodeId)> {
    match token {
        Token::Open { field, node, .. }
        | Token::Leaf { field, node, .. }
        | Token::Default { field, node, .. } => Some((field, node)),
        _ => None,
    }
}

/// Adds what is around values in JSON: names of members, brackets, and members that nobody knows.
fn json_parts(text: &[u8], range: Range<usize>, add: &mut impl FnMut(Part, Range<usize>)) {
    let is_delimiter = |octet: &u8| b" \t\r\n{}[],:".contains(octet);
    runs(text, range, add, is_delimiter, |rest| {
        if rest.first() != Some(&b'"') {
            return (Part::Contents, rest.iter().take_while(|octet| !is_delimiter(octet)).count());
        }
        let mut end = 1;
        while rest.get(end).is_some_and(|octet| *octet != b'"') {
            end += if rest[end] == b'\\' { 2 } else { 1 };
        }
        let end = (end + 1).min(rest.len());
        let is_name = rest[end..].trim_ascii_start().first() == Some(&b':');
        (if is_name { Part::Name } else { Part::Contents }, end)
    });
}

/// Adds what is around values in GSER: identifiers, braces, and components that nobody knows.
fn gser_parts(text: &[u8], range: Range<usize>, add: &mut impl FnMut(Part, Range<usize>)) {
    let is_delimiter = |octet: &u8| b" \t\r\n{},:".contains(octet);
    runs(text, range, add, is_delimiter, |rest| match rest.first() {
        Some(mark @ (b'"' | b'\'')) => {
            let length = rest.iter().skip(1).position(|octet| octet == mark);
            (Part::Contents, length.map_or(rest.len(), |length| length + 2))
        }
        _ => {
            let is_word = |octet: &&u8| !is_delimiter(octet) && !matches!(octet, b'"' | b'\'');
            (Part::Name, rest.iter().take_while(is_word).count())
        }
    });
}

/// Adds what is around values in XML: tags, white space, comments, and characters of elements that nobody knows.
fn xml_parts(text: &[u8], range: Range<usize>, add: &mut impl FnMut(Part, Range<usize>)) {
    runs(text, range, add, u8::is_ascii_whitespace, |rest| {
        let until = |end: &[u8]| {
            let found = rest.windows(end.len()).position(|window| window == end);
            found.map_or(rest.len(), |at| at + end.len())
        };
        match rest {
            [b'<', b'!', b'-', ..] => (Part::Delimiter, until(b"-->")),
            [b'<', b'!', ..] => (Part::Contents, until(b"]]>")),
            [b'<', b'?', ..] => (Part::Delimiter, until(b"?>")),
            [b'<', b'/', ..] => (Part::EndTag, until(b">")),
            [b'<', ..] => {
                // Values of attributes may have the character that ends a tag.
                let mut quote = None;
                let is_end = |octet: &u8| {
                    match quote {
                        None if matches!(octet, b'"' | b'\'') => quote = Some(*octet),
                        Some(mark) if mark == *octet => quote = None,
                        _ => {}
                    }
                    *octet == b'>' && quote.is_none()
                };
                (Part::StartTag, rest.iter().position(is_end).map_or(rest.len(), |at| at + 1))
            }
            _ => (Part::Contents, rest.iter().take_while(|octet| **octet != b'<').count()),
        }
    });
}

/// Adds a range part by part: delimiters, and what `next` finds at the begin of what is not a delimiter.
fn runs(
    text: &[u8],
    range: Range<usize>,
    add: &mut impl FnMut(Part, Range<usize>),
    is_delimiter: impl Fn(&u8) -> bool,
    next: impl Fn(&[u8]) -> (Part, usize),
) {
    let mut at = range.start;
    // Where the delimiters begin that were not added yet.
    let mut from = at;
    while let Some(rest) = text.get(at..range.end).filter(|rest| !rest.is_empty()) {
        let (part, length) = if is_delimiter(&rest[0]) { (Part::Delimiter, 1) } else { next(rest) };
        let end = (at + length.max(1)).min(range.end);
        if part != Part::Delimiter {
            if from < at {
                add(Part::Delimiter, from..at);
            }
            add(part, at..end);
            from = end;
        }
        at = end;
    }
    if from < at {
        add(Part::Delimiter, from..at);
    }
}
