//! Encoding instructions (X.697 clause 13): ARRAY, BASE64, NAME, OBJECT, TEXT, UNWRAPPED.
//!
//! Writing goes this way only for a shape that has instructions; reading too.

use super::Options;
use super::index::Type;
use super::read::{PAIR, Result, Text};
use super::write::{Form, Printer, push_string};
use crate::event::Leaf;
use crate::leaf::{Scalar, scalar};
use crate::read_error::cut;
use crate::source::{Found, Primitive};
use crate::text::{Octets, parse_octets, push_octets};
use tercet_plan::instructions::{Json, Places};
use tercet_plan::shape::Presence;
use tercet_plan::{FieldId, Kind, NameId, NodeId, Shape};

/// What the writer needs to follow instructions.
#[derive(Debug)]
pub(super) struct Instructed<'s> {
    places: &'s Places<Json>,
    frames: Vec<Frame>,
}

/// A value that is open.
#[derive(Clone, Copy, Debug)]
enum Frame {
    /// As without instructions.
    Plain,
    /// ARRAY: the field that comes next.
    Array(u32),
    /// OBJECT: a list of pairs.
    Pairs,
    /// One of them; whether the name is written.
    Pair(bool),
    /// UNWRAPPED.
    Unwrapped,
}

impl<'s> Instructed<'s> {
    pub(super) fn of(shape: &'s Shape, options: &Options) -> Option<Self> {
        let places = places(shape, options)?;
        Some(Self { places, frames: Vec::new() })
    }

    pub(super) fn clear(&mut self) {
        self.frames.clear();
    }

    pub(super) fn name(&self, field: FieldId) -> Option<NameId> {
        self.places.fields.get(field.index())?.name
    }
}

pub(super) fn places<'s>(shape: &'s Shape, options: &Options) -> Option<&'s Places<Json>> {
    shape.instructions.as_ref()?.json.as_ref().filter(|_| options.instructions)
}

/// Whether the elements of a list can be members of an object: SEQUENCEs of a string and one more component, both
/// mandatory.
fn is_pairs(shape: &Shape, list: NodeId) -> bool {
    let Some((_, element)) = shape.fields_of(list).next() else { return false };
    let pair = shape.node(element.node);
    let first = shape.fields_of(element.node).next();
    matches!(pair.kind, Kind::Sequence)
        && pair.count == 2
        && !pair.extensible
        && first.is_some_and(|(_, first)| shape.node(first.node).kind.is_text())
        && shape.fields_of(element.node).all(|(_, field)| field.presence == Presence::Mandatory)
}

impl Printer<'_> {
    pub(super) fn instructed_leaf(
        &mut self,
        out: &mut Vec<u8>,
        field: FieldId,
        node: NodeId,
        leaf: Leaf<'_>,
    ) {
        if let Some(Frame::Pair(named @ false)) = self.frame() {
            *named = true;
            if self.comma {
                out.push(b',');
            }
            self.line(out);
            self.value(out, node, leaf);
            out.push(b':');
            return;
        }
        self.instructed_begin(out, field, node);
        let Some(places) = self.instructed.as_ref().map(|known| known.places) else { return };
        let json = places.of(field, node);
        match scalar(self.shape, node, leaf) {
            Scalar::OctetString(octets) if json.base64 => {
                out.push(b'"');
                push_octets(out, octets, Octets::Base64);
                out.push(b'"');
            }
            Scalar::Enumerated(number, _) if !self.options.enumerations_as_numbers => {
                match json.texts.iter().find(|text| text.0 == number) {
                    Some(text) => push_string(out, self.shape.name(text.1)),
                    None => self.value(out, node, leaf),
                }
            }
            _ => self.value(out, node, leaf),
        }
    }

    pub(super) fn instructed_open(&mut self, out: &mut Vec<u8>, field: FieldId, node: NodeId) {
        let inside = self.frame().copied();
        self.instructed_begin(out, field, node);
        let shape = self.shape;
        let Some(known) = self.instructed.as_mut() else { return };
        let json = known.places.of(field, node);
        let it = shape.node(node);
        let frame = match it.kind {
            Kind::Sequence if matches!(inside, Some(Frame::Pairs)) => Frame::Pair(false),
            Kind::Sequence if json.array => Frame::Array(it.first),
            Kind::SequenceOf | Kind::SetOf if json.object && is_pairs(shape, node) => Frame::Pairs,
            Kind::Choice if json.unwrapped => Frame::Unwrapped,
            _ => Frame::Plain,
        };
        known.frames.push(frame);
        match frame {
            Frame::Plain => return self.open_here(out, node),
            Frame::Array(_) => out.push(b'['),
            Frame::Pairs => out.push(b'{'),
            Frame::Pair(_) => return,
            Frame::Unwrapped => {}
        }
        self.comma = false;
        self.depth += 1;
    }

    pub(super) fn instructed_close(&mut self, out: &mut Vec<u8>, node: NodeId) {
        let Some(frame) = self.instructed.as_mut().and_then(|known| known.frames.pop()) else { return };
        match frame {
            Frame::Plain => return self.close(out, node),
            Frame::Pair(_) => return self.comma = true,
            Frame::Array(_) | Frame::Pairs | Frame::Unwrapped => {}
        }
        // An alternative of a later version has no other form.
        let unknown = self.unknown.last().is_some_and(|(depth, _)| *depth == self.depth);
        if unknown && matches!(frame, Frame::Unwrapped) {
            out.push(b'{');
            self.comma = false;
            self.flush_unknown(out, Form::Choice);
            out.push(b'}');
        } else if unknown {
            self.unknown.pop();
        }
        self.depth = self.depth.saturating_sub(1);
        if !matches!(frame, Frame::Unwrapped) {
            if self.comma {
                self.line(out);
            }
            out.push(if matches!(frame, Frame::Pairs) { b'}' } else { b']' });
        }
        self.comma = true;
    }

    fn frame(&mut self) -> Option<&mut Frame> {
        self.instructed.as_mut()?.frames.last_mut()
    }

    fn instructed_begin(&mut self, out: &mut Vec<u8>, field: FieldId, node: NodeId) {
        let Some(Frame::Array(next)) = self.frame() else {
            match self.frame() {
                // A pair begins with its name; behind that, and unwrapped, stands the value alone.
                Some(Frame::Pairs | Frame::Pair(_) | Frame::Unwrapped) => {}
                _ => self.begin_carefully(out, field, node),
            }
            return;
        };
        let missing = field.0.saturating_sub(*next);
        *next = field.0.saturating_add(1);
        for item in 0..=missing {
            if self.comma {
                out.push(b',');
            }
            self.line(out);
            self.comma = true;
            if item < missing {
                out.extend_from_slice(b"null");
            }
        }
    }
}

impl<'a> Text<'a> {
    /// Returns whether the elements of a list are the members of an object.
    pub(super) fn is_object(&self, field: FieldId, node: NodeId) -> bool {
        let json = self.places.map(|places| places.of(field, node));
        json.is_some_and(|json| json.object) && is_pairs(self.shape, node)
    }

    /// Finds the components of a SEQUENCE that is no object, and returns whether it is none.
    pub(super) fn instructed_components(&self, at: usize, found: &mut Found<'_, '_, Self>) -> Result<bool> {
        let (field, node) = (found.field, found.node);
        let (shape, text) = (self.shape, self.text);
        if at & PAIR != 0 {
            // OBJECT: a member is an element of two components, its name the first.
            let name = at & !PAIR;
            found.set(0, name);
            found.set(1, name + 1);
            return Ok(true);
        }
        let it = shape.node(node);
        let is_array =
            it.kind == Kind::Sequence && self.places.is_some_and(|places| places.of(field, node).array);
        if !is_array {
            return Ok(false);
        }
        // ARRAY: the components in their order, null for one that is absent; those at the end may be left out.
        if text.what(at) != Type::Array {
            return Err(text.error(at, "an array of the components expected"));
        }
        for (index, (value, (_, component))) in text.elements(at).zip(shape.fields_of(node)).enumerate() {
            if text.what(value) != Type::Null || component.presence == Presence::Mandatory {
                found.set(index, value);
            }
        }
        match text.elements(at).nth(it.count as usize).filter(|_| !it.extensible) {
            Some(more) => Err(text.error(more, "more values than the type has components")),
            None => Ok(true),
        }
    }

    /// Reads a primitive value that instructions say something of; `None` if it is read as without.
    pub(super) fn instructed_leaf(
        &self,
        at: usize,
        field: FieldId,
        node: NodeId,
    ) -> Option<Result<Primitive<'a>>> {
        let (shape, text) = (self.shape, self.text);
        let json = self.places?.of(field, node);
        if text.what(at) != Type::String {
            return None;
        }
        match shape.node(node).kind {
            Kind::OctetString if json.base64 => {
                let octets = parse_octets(&text.string(at), Octets::Base64);
                Some(octets.map(Primitive::from).ok_or_else(|| text.error(at, "base64 expected")))
            }
            Kind::Enumerated if !json.texts.is_empty() => {
                let spelled = text.string(at);
                let renamed = |value: i64| json.texts.iter().find(|text| text.0 == value);
                let found = match json.texts.iter().find(|text| shape.name(text.1) == spelled) {
                    Some(text) => Some(text.0),
                    // Those without a new name keep the old one.
                    None => shape
                        .items_of(node)
                        .iter()
                        .find(|item| shape.name(item.name) == spelled && renamed(item.value).is_none())
                        .map(|item| item.value),
                };
                let message = || format!("no item `{}` in this ENUMERATED", cut(&spelled));
                Some(found.map(Primitive::Int).ok_or_else(|| text.error(at, message())))
            }
            _ => None,
        }
    }

    /// UNWRAPPED: whether a value may be one of an alternative.
    pub(super) fn is_worth_a_trial(&self, at: usize, alternative: FieldId) -> Result<bool> {
        let text = self.text;
        if !self.is_possible(text.what(at), alternative, self.shape.field(alternative).node, 0) {
            return Ok(false);
        }
        // CHOICEs in CHOICEs must not multiply.
        self.trials.set(self.trials.get() + text.next(at).saturating_sub(at));
        match self.trials.get() > MOST_TRIALS * text.len() + 1000 {
            true => Err(text.error(at, "which alternative this is takes too long to find out")),
            false => Ok(true),
        }
    }

    /// Whether a value of a node may be a JSON value of this type.
    fn is_possible(&self, what: Type, field: FieldId, node: NodeId, depth: u32) -> bool {
        let Some(json) = self.places.map(|places| places.of(field, node)) else { return true };
        match self.shape.node(node).kind {
            Kind::Boolean => matches!(what, Type::True | Type::False),
            Kind::Integer => matches!(what, Type::Number | Type::String),
            Kind::Enumerated => matches!(what, Type::String | Type::Number | Type::Object),
            Kind::Real => matches!(what, Type::Number | Type::String | Type::Object),
            Kind::Null => what == Type::Null,
            Kind::Sequence | Kind::Set => what == if json.array { Type::Array } else { Type::Object },
            Kind::SequenceOf | Kind::SetOf => what == if json.object { Type::Object } else { Type::Array },
            Kind::Choice if json.unwrapped && depth < 8 => self
                .shape
                .fields_of(node)
                .any(|(id, alternative)| self.is_possible(what, id, alternative.node, depth + 1)),
            Kind::Choice => json.unwrapped || what == Type::Object,
            Kind::OctetString | Kind::BitString => matches!(what, Type::String | Type::Object),
            Kind::Open => true,
            _ => what == Type::String,
        }
    }
}

/// Times that a text may be tried.
const MOST_TRIALS: usize = 64;
