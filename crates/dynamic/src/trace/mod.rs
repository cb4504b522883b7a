//! Traces: the parts of an encoding one by one, each with its place, path, type, value and clause.

mod text;

pub use text::{TextPart, of_text, parts};

use crate::json::{self, JsonWriter};
use crate::{FieldId, Leaf, Marked, NodeId, Part, Place, Rules, Shape, Sink, path};
use tercet_plan::Kind;
use tercet_runtime::{ber, oer};

/// A part of an encoding, with what there is to know about it.
#[derive(Clone, Copy, Debug)]
pub struct Step<'t> {
    /// The place.
    pub place: Place,
    /// The path of the value that it is a part of: `CallEvent.parties[2].number`.
    pub path: &'t str,
    /// The name of the type of the value, or of its kind; `(unknown addition)` for what the schema does not know.
    pub type_name: &'t str,
    /// Whether this is the first part of its value.
    pub is_first: bool,
    /// The meaning of the bits, if they are not those of the value: the tag, the length, the number of the alternative.
    pub meaning: &'t str,
    /// The value as JSON, if this is the last part of its contents.
    pub value: Option<&'t str>,
    /// The clause of the standard that defines the part.
    pub clause: &'static str,
    /// The reason why the value is marked, if it breaks the rules of its type and is kept.
    pub marked: Option<&'t Marked>,
}

/// A sink that calls a function for each part of an encoding, in the order of the input. The parts are all bits of the
/// encoding, each once.
///
/// After an error, the steps are those of the parts before it; [`Trace::finish`] hands over the last of them.
#[derive(Debug)]
pub struct Trace<'a, F> {
    shape: &'a Shape,
    rules: Rules,
    /// The input, from the offset 0 on.
    input: &'a [u8],
    each: F,
    values: JsonWriter<'a>,
    /// The path of the value that has begun last.
    path: String,
    /// The values that have begun, the outermost first.
    begun: Vec<Begun>,
    /// The last part, which the event of its value may follow.
    pending: Option<Pending>,
    /// Whether there has been a part since the last event.
    has_part: bool,
}

/// A part whose value is not known yet.
#[derive(Clone, Copy, Debug)]
struct Pending {
    /// The field and the type of the value.
    field: FieldId,
    node: NodeId,
    place: Place,
    is_first: bool,
    /// The length of the path of the value around.
    around: usize,
}

#[derive(Clone, Copy, Debug)]
struct Begun {
    field: FieldId,
    node: NodeId,
    /// The length of the path of the value around.
    around: usize,
    /// The number of elements that have ended, if this is a list.
    elements: Option<usize>,
}

impl<'a, F: FnMut(&Step<'_>)> Trace<'a, F> {
    /// Returns a trace of the values in an input; their offsets count from its start.
    pub fn new(shape: &'a Shape, input: &'a [u8], each: F) -> Self {
        Self {
            shape,
            rules: Rules::Ber,
            input,
            each,
            values: JsonWriter::new(shape, json::Options::default()),
            path: String::new(),
            begun: Vec::new(),
            pending: None,
            has_part: false,
        }
    }

    /// Hands over the last part, and forgets a value that breaks off.
    pub fn finish(&mut self) {
        self.flush(false, None);
        self.begun.clear();
        self.path.clear();
        self.has_part = false;
    }

    /// Appends the step to a value in the one that has begun last; returns the length of the path before.
    fn step_in(&mut self, field: FieldId, node: NodeId, ended: bool) -> usize {
        let around = self.path.len();
        let last = self.begun.last().and_then(|begun| begun.elements);
        let position = last.map(|elements| elements.saturating_sub(usize::from(ended)));
        path::step(&mut self.path, self.shape, field, node, position);
        around
    }

    /// Hands over a part.
    fn say(&mut self, part: Pending, has_value: bool, marked: Option<&Marked>) {
        let Pending { field, node, place, is_first, .. } = part;
        let kind = self.shape.nodes.get(node.index()).map_or(Kind::Open, |node| node.kind);
        let from = usize::try_from(place.at / 8).unwrap_or(usize::MAX);
        let octets = self.input.get(from..).unwrap_or_default();
        let meaning = match place.part {
            Part::Identifier => {
                let tag = ber::Reader::new(octets, ber::Rules::Ber).identifier();
                tag.map_or_else(String::new, |tag| tag.to_string())
            }
            Part::Tag => {
                let tag = oer::Reader::new(octets).tag();
                tag.map_or_else(|_| String::new(), |tag| tag.to_string())
            }
            Part::Length if place.number.is_none() && self.rules.has_elements() => "indefinite".to_owned(),
            _ => place.number.map_or_else(String::new, |number| number.to_string()),
        };
        let is_unknown = field == FieldId::ROOT && self.begun.last().is_some_and(|begun| begun.node == node);
        let value = has_value.then(|| String::from_utf8_lossy(self.values.text()));
        (self.each)(&Step {
            place,
            path: &self.path,
            type_name: match self.shape.type_name(node) {
                _ if is_unknown => "(unknown addition)",
                Some(name) => name,
                None => kind.name(),
            },
            is_first,
            meaning: &meaning,
            value: value.as_deref(),
            clause: if is_unknown {
                place.part.clause_of_unknown(self.rules)
            } else {
                place.part.clause(self.rules, kind)
            },
            marked,
        });
    }

    /// Hands over the part that waits for its value.
    fn flush(&mut self, has_value: bool, marked: Option<&Marked>) {
        if let Some(part) = self.pending.take() {
            self.say(part, has_value, marked);
            self.path.truncate(part.around);
        }
    }

    /// Hands over the part that waits for a value, which is this one.
    fn valued(&mut self, field: FieldId, node: NodeId, leaf: Leaf<'_>, marked: Option<&Marked>) {
        self.values.clear();
        self.values.leaf(FieldId::ROOT, node, leaf);
        // The content of a string in pieces, and a constant, have no places.
        let is_placed = self.pending.is_some_and(|part| (part.field, part.node) == (field, node));
        self.flush(is_placed, marked);
        self.has_part = false;
        self.ended();
    }

    /// Counts a value that ends, if it is an element.
    fn ended(&mut self) {
        if let Some(Begun { elements: Some(elements), .. }) = self.begun.last_mut() {
            *elements += 1;
        }
    }
}

impl<F: FnMut(&Step<'_>)> Sink for Trace<'_, F> {
    fn begin(&mut self, rules: Rules) {
        self.finish();
        self.rules = rules;
    }

    fn leaf(&mut self, field: FieldId, node: NodeId, leaf: Leaf<'_>) {
        self.valued(field, node, leaf, None);
    }

    fn marked(&mut self, field: FieldId, node: NodeId, leaf: Leaf<'_>, marked: &Marked) {
        self.valued(field, node, leaf, Some(marked));
    }

    fn open(&mut self, field: FieldId, node: NodeId) {
        self.flush(false, None);
        self.has_part = false;
        let around = self.step_in(field, node, false);
        let kind = self.shape.nodes.get(node.index()).map(|node| node.kind);
        let elements = matches!(kind, Some(Kind::SequenceOf | Kind::SetOf)).then_some(0);
        self.begun.push(Begun { field, node, around, elements });
    }

    fn close(&mut self, _: FieldId, _: NodeId) {
        self.flush(false, None);
        self.has_part = false;
        if let Some(begun) = self.begun.pop() {
            self.path.truncate(begun.around);
        }
        self.ended();
    }

    fn absent(&mut self, _: FieldId, _: NodeId, _: u32) {}

    fn unknown(&mut self, _: u32, _: Leaf<'_>) {
        self.flush(false, None);
        self.has_part = false;
    }

    fn wants_places(&self) -> bool {
        true
    }

    fn place(&mut self, field: FieldId, node: NodeId, place: Place) {
        let has_more = self.pending.is_some_and(|part| (part.field, part.node) == (field, node));
        self.flush(false, None);
        // A part without others before it ends a value that has had its events: the open one, or a tag around the last.
        let is_end = match place.part {
            Part::EndOfContents => !self.has_part,
            part => part == Part::EndPadding,
        };
        let is_first = !has_more && !is_end && field != FieldId::BEGUN;
        self.has_part = true;
        let around = match self.begun.last() {
            Some(_) if field == FieldId::BEGUN => self.path.len(),
            Some(begun) if place.part == Part::EndOfContents && is_end && begun.field == field => {
                self.path.len()
            }
            _ => self.step_in(field, node, is_end),
        };
        self.pending = Some(Pending { field, node, place, is_first, around });
    }
}
