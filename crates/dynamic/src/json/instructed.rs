//! Encoding instructions (X.697 clause 13): ARRAY, BASE64, NAME, OBJECT, TEXT, UNWRAPPED.
//!
//! Writing goes this way only for a shape that has instructions; reading too.

use super::Options;
use super::index::{Document, Type};
use super::read::{Reader, Result};
use super::write::{Form, Printer, push_string};
use crate::event::{Leaf, Sink};
use crate::leaf::{Scalar, scalar};
use crate::read_error::cut;
use crate::tape::Tape;
use crate::text::{Octets, integer_octets, parse_octets, push_octets};
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
fn is_pairs(shape: &Shape, list: NodeId) -> Option<NodeId> {
    let (_, element) = shape.fields_of(list).next()?;
    let pair = shape.node(element.node);
    let mut parts = shape.fields_of(element.node);
    let first = parts.next()?.1;
    let fits = matches!(pair.kind, Kind::Sequence)
        && pair.count == 2
        && !pair.extensible
        && shape.node(first.node).kind.is_text()
        && shape.fields_of(element.node).all(|(_, field)| field.presence == Presence::Mandatory);
    fits.then_some(element.node)
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
            Kind::SequenceOf | Kind::SetOf if json.object && is_pairs(shape, node).is_some() => Frame::Pairs,
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

impl Reader<'_> {
    /// Reads a value that instructions say something of; nothing if it is read as without.
    pub(super) fn instructed(
        &mut self,
        text: &Document<'_>,
        at: usize,
        field: FieldId,
        node: NodeId,
        tape: &mut Tape,
    ) -> Option<Result<()>> {
        let shape = self.shape;
        let json = self.places?.of(field, node);
        match shape.node(node).kind {
            Kind::Sequence if json.array => Some(self.array(text, at, field, node, tape)),
            Kind::SequenceOf | Kind::SetOf if json.object => {
                let pair = is_pairs(shape, node)?;
                Some(self.pairs(text, at, field, node, pair, tape))
            }
            Kind::Choice if json.unwrapped => Some(self.unwrapped(text, at, field, node, tape)),
            Kind::OctetString if json.base64 && text.what(at) == Type::String => {
                let octets = parse_octets(&text.string(at), Octets::Base64);
                Some(match octets {
                    Some(octets) => {
                        tape.leaf(field, node, Leaf::Made(&octets));
                        Ok(())
                    }
                    None => Err(text.error(at, "base64 expected")),
                })
            }
            Kind::Enumerated if !json.texts.is_empty() && text.what(at) == Type::String => {
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
                Some(match found {
                    Some(number) => {
                        tape.leaf(field, node, Leaf::Made(&integer_octets(number)));
                        Ok(())
                    }
                    None => Err(text.error(at, format!("no item `{}` in this ENUMERATED", cut(&spelled)))),
                })
            }
            _ => None,
        }
    }

    /// ARRAY: the components in their order, null for one that is absent; those at the end may be left out.
    fn array(
        &mut self,
        text: &Document<'_>,
        at: usize,
        field: FieldId,
        node: NodeId,
        tape: &mut Tape,
    ) -> Result<()> {
        if text.what(at) != Type::Array {
            return Err(text.error(at, "an array of the components expected"));
        }
        let shape = self.shape;
        let mut values: Vec<Option<usize>> = Vec::new();
        for (value, (_, component)) in text.elements(at).zip(shape.fields_of(node)) {
            let absent = text.what(value) == Type::Null && component.presence != Presence::Mandatory;
            values.push(Some(value).filter(|_| !absent));
        }
        let count = shape.node(node).count as usize;
        if let Some(more) = text.elements(at).nth(count).filter(|_| !shape.node(node).extensible) {
            return Err(text.error(more, "more values than the type has components"));
        }
        values.resize(count, None);
        self.components(text, at, field, node, values, None, tape)
    }

    /// OBJECT: each member is an element of two components, its name the first.
    fn pairs(
        &mut self,
        text: &Document<'_>,
        at: usize,
        field: FieldId,
        node: NodeId,
        pair: NodeId,
        tape: &mut Tape,
    ) -> Result<()> {
        if text.what(at) != Type::Object {
            return Err(text.error(at, "an object expected"));
        }
        let shape = self.shape;
        let element = FieldId(shape.node(node).first);
        let key = FieldId(shape.node(pair).first);
        let value_field = FieldId(key.0 + 1);
        tape.open(field, node);
        for (name, value) in text.members(at) {
            tape.open(element, pair);
            let contents =
                self.leaf(text, name, shape.field(key).node).map_err(|message| text.error(name, message))?;
            tape.leaf(key, shape.field(key).node, Leaf::Made(&contents));
            self.value(text, value, value_field, shape.field(value_field).node, tape)
                .map_err(|error| error.inside(&text.string(name)))?;
            tape.close(element, pair);
        }
        tape.close(field, node);
        Ok(())
    }

    /// UNWRAPPED: the first alternative that the text is a value of.
    fn unwrapped(
        &mut self,
        text: &Document<'_>,
        at: usize,
        field: FieldId,
        node: NodeId,
        tape: &mut Tape,
    ) -> Result<()> {
        let shape = self.shape;
        let mut only = None;
        let mut count = 0;
        for (id, alternative) in shape.fields_of(node) {
            if !self.may_be(text.what(at), id, alternative.node, 0) {
                continue;
            }
            // CHOICEs in CHOICEs must not multiply.
            self.trials += text.next(at).saturating_sub(at);
            if self.trials > MOST_TRIALS * text.len() + 1000 {
                return Err(text.error(at, "which alternative this is takes too long to find out"));
            }
            let mut trial = Tape::new();
            match self.value(text, at, id, alternative.node, &mut trial) {
                Ok(()) => {
                    tape.open(field, node);
                    trial.view(&[]).replay(tape);
                    tape.close(field, node);
                    return Ok(());
                }
                Err(error) => {
                    count += 1;
                    only = Some(error.inside(shape.name(alternative.name)));
                }
            }
        }
        Err(only
            .filter(|_| count == 1)
            .unwrap_or_else(|| text.error(at, "this is a value of no alternative")))
    }

    /// Whether a value of a node may be a JSON value of this type.
    fn may_be(&self, what: Type, field: FieldId, node: NodeId, depth: u32) -> bool {
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
                .any(|(id, alternative)| self.may_be(what, id, alternative.node, depth + 1)),
            Kind::Choice => json.unwrapped || what == Type::Object,
            Kind::OctetString | Kind::BitString => matches!(what, Type::String | Type::Object),
            Kind::Open => true,
            _ => what == Type::String,
        }
    }
}

/// Times that a text may be tried.
const MOST_TRIALS: usize = 64;
