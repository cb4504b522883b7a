//! Extended XER: text to a tape.
//!
//! A value takes what is its own from the attributes and elements of the element around it: an element of its own, or if
//! it is untagged as many as belong to it.

use super::super::document::{Attribute, Content, Document, Element};
use super::super::names::{element_name, outermost_name};
use super::super::read::{ReadOptions, Text, content_type};
use super::characters::is_white;
use super::{CONTROL, Instructed, MOST_DEPTH};
use crate::contents;
use crate::contents::ContentsError;
use crate::event::{Leaf, Sink};
use crate::read_error::{ReadError, check_depth, cut};
use crate::source::{Fault, InPath, Memory, is_missing};
use crate::tape::Tape;
use crate::text::integer_octets;
use std::borrow::Cow;
use tercet_plan::instructions::Xml;
use tercet_plan::shape::Presence;
use tercet_plan::{FieldId, Kind, NodeId, Shape};

type Result<T> = std::result::Result<T, ReadError>;

/// Reads extended XER as a value of type `root` onto a tape, which is cleared first. Constraints are not checked.
///
/// # Errors
/// The first fault, with path, line and column; the shape has an instruction that is not supported. The tape is then
/// worth nothing.
pub fn read(shape: &Shape, root: NodeId, text: &[u8], tape: &mut Tape, options: &ReadOptions) -> Result<()> {
    tape.clear();
    let places = Instructed::new(shape).map_err(|message| ReadError::new(text, 0, message))?;
    let document = Document::parse_extended(text, options.depth)?;
    let Some(element) = document.root() else { return Err(document.error(0, "there is no element")) };
    let xml = places.of(FieldId::ROOT, root);
    let name = match (&options.root, xml.name) {
        (Some(name), _) => element_name(name),
        (None, Some(name)) => element_name(shape.name(name)),
        (None, None) => outermost_name(shape, root),
    };
    let mut memory = Memory::new(shape);
    memory.begin();
    let basic = Text { shape, options, text: &document, extents: None };
    let mut reader = Reader { places, basic, memory, text: &document, level: 0 };
    if !reader.is_named(&element, &name, xml) {
        let message = format!("the outermost element is `{}`, not `{name}`", cut(element.name));
        return Err(document.error(element.content.at, message));
    }
    reader.element(&element, FieldId::ROOT, root, tape).map_err(|error| error.inside(element.name))?;
    check_depth(text, tape, options.depth)
}

struct Reader<'s, 'd> {
    places: Instructed<'s>,
    basic: Text<'d>,
    memory: Memory<'s>,
    text: &'d Document<'d>,
    level: u16,
}

/// What is left of an element.
struct Rest<'d> {
    content: Content,
    elements: Vec<Element<'d>>,
    /// The first element that is not taken.
    next: usize,
    attributes: Vec<Attribute<'d>>,
    /// Whether the characters were taken.
    read: bool,
}

impl<'d> Rest<'d> {
    fn peek(&self) -> Option<&Element<'d>> {
        self.elements.get(self.next)
    }

    /// Takes an attribute of the control namespace.
    fn control(&mut self, name: &str) -> Option<Attribute<'d>> {
        let at = self.attributes.iter().position(|it| it.uri == CONTROL && it.name == name)?;
        Some(self.attributes.remove(at))
    }
}

impl<'s, 'd> Reader<'s, 'd> {
    fn is_named(&self, element: &Element<'_>, name: &str, xml: &Xml) -> bool {
        let (uri, local) = self.text.qualified(element);
        local == name && (xml.namespace.is_none() || uri == self.places.uri(xml))
    }

    /// A value in an element of its own.
    fn element(
        &mut self,
        element: &Element<'d>,
        field: FieldId,
        node: NodeId,
        tape: &mut Tape,
    ) -> Result<()> {
        let content = element.content;
        let mut rest = Rest {
            content,
            elements: self.text.elements(content).collect(),
            next: 0,
            attributes: self.text.attributes(element),
            read: false,
        };
        self.content(&mut rest, field, node, tape)?;
        if let Some(more) = rest.peek() {
            let message = format!("no place for an element `{}` here", cut(more.name));
            return Err(self.text.error(more.content.at, message));
        }
        if !rest.read && self.text.has_text(content) {
            return Err(self.text.error(content.at, "no place for characters here"));
        }
        let unknown = rest.attributes.iter().find(|attribute| attribute.uri != CONTROL);
        match unknown {
            Some(attribute)
                if !self.basic.options.ignore_unknown && !self.places.shape.node(node).extensible =>
            {
                let message = format!("no attribute `{}` in this type", cut(attribute.name));
                Err(self.text.error(content.at, message))
            }
            _ => Ok(()),
        }
    }

    /// What a value has between the tags around it, and of their attributes.
    fn content(&mut self, rest: &mut Rest<'d>, field: FieldId, node: NodeId, tape: &mut Tape) -> Result<()> {
        if self.level >= MOST_DEPTH {
            let message = format!("more than {MOST_DEPTH} values inside one another");
            return Err(self.text.error(rest.content.at, message));
        }
        self.level += 1;
        let shape = self.places.shape;
        let xml = self.places.of(field, node);
        let outcome = match shape.node(node).kind {
            Kind::Sequence | Kind::Set => self.components(rest, xml, field, node, tape),
            Kind::SequenceOf | Kind::SetOf if xml.list => {
                let text = self.characters(rest, xml)?;
                self.of_text(rest.content.at, field, node, &text, tape)
            }
            Kind::SequenceOf | Kind::SetOf => self.elements(rest, xml, field, node, tape),
            Kind::Choice => self.choice(rest, xml, field, node, tape),
            Kind::Open => self.open_type(rest, xml, field, node, tape),
            Kind::OctetString | Kind::BitString
                if shape.node(node).containing.is_some() && !rest.elements.is_empty() =>
            {
                self.open_type(rest, xml, field, node, tape)
            }
            _ => self.leaf(rest, xml, field, node, tape),
        };
        self.level -= 1;
        outcome
    }

    /// The characters of an element, those of DEFAULT-FOR-EMPTY if there are none.
    fn characters(&mut self, rest: &mut Rest<'d>, xml: &Xml) -> Result<Cow<'d, str>> {
        rest.read = true;
        let text =
            self.text.string(rest.content).map_err(|message| self.text.error(rest.content.at, message))?;
        // Control characters are elements among them.
        rest.next = rest.elements.len();
        Ok(match xml.default_for_empty {
            Some(default) if text.is_empty() => Cow::Owned(self.places.shape.name(default).to_owned()),
            _ => text,
        })
    }

    fn leaf(
        &mut self,
        rest: &mut Rest<'d>,
        xml: &Xml,
        field: FieldId,
        node: NodeId,
        tape: &mut Tape,
    ) -> Result<()> {
        let fail = |message: ContentsError| self.text.error(rest.content.at, message);
        let kind = self.places.shape.node(node).kind;
        let words =
            matches!(kind, Kind::Boolean | Kind::Integer | Kind::Enumerated | Kind::Real | Kind::BitString);
        if words && !rest.elements.is_empty() {
            // The forms of basic XER: `<true/>`.
            let only = rest.elements.first().filter(|_| rest.elements.len() == 1);
            let renamed = only.and_then(|element| {
                let text = xml.texts.iter().find(|text| self.places.shape.name(text.1) == element.name)?;
                Some(text.0)
            });
            let made = match renamed {
                Some(number) if kind == Kind::Boolean => contents::of_boolean(number != 0).to_vec(),
                Some(number) => integer_octets(number),
                None => self.basic.contents(rest.content, node).map_err(fail)?,
            };
            rest.next = rest.elements.len();
            rest.read = true;
            self.put(field, node, &made, tape);
            return Ok(());
        }
        let text = self.characters(rest, xml)?;
        self.of_text(rest.content.at, field, node, &text, tape)
    }

    fn put(&mut self, field: FieldId, node: NodeId, contents: &[u8], tape: &mut Tape) {
        let shape = self.places.shape;
        if let Some(register) = shape.fields.get(field.index()).and_then(|it| it.key) {
            self.memory.set_key(register, contents::key_of(shape.node(node).kind, contents));
        }
        tape.leaf(field, node, Leaf::Made(contents));
    }

    /// A value in characters alone: of an element, an attribute, an item of a list.
    fn of_text(
        &mut self,
        at: usize,
        field: FieldId,
        node: NodeId,
        text: &str,
        tape: &mut Tape,
    ) -> Result<()> {
        let shape = self.places.shape;
        let xml = self.places.of(field, node);
        match shape.node(node).kind {
            Kind::SequenceOf | Kind::SetOf if xml.list => {
                let Some((element, it)) = shape.fields_of(node).next() else {
                    return Err(self.text.error(at, Fault::NoElement.to_string()));
                };
                tape.open(field, node);
                for (index, word) in text.split(is_white).filter(|word| !word.is_empty()).enumerate() {
                    self.of_text(at, element, it.node, word, tape)
                        .map_err(|error| error.inside_element(index))?;
                }
                tape.close(field, node);
                Ok(())
            }
            Kind::Choice if xml.use_union => self.union(at, None, field, node, text, tape),
            kind if kind.is_constructed() => {
                Err(self.text.error(at, "this type has no values of characters alone"))
            }
            _ => {
                let made = self.places.contents(xml, node, text).map_err(|m| self.text.error(at, m))?;
                self.put(field, node, &made, tape);
                Ok(())
            }
        }
    }

    /// USE-UNION: the named alternative, or the first that has these characters for a value.
    fn union(
        &mut self,
        at: usize,
        named: Option<FieldId>,
        field: FieldId,
        node: NodeId,
        text: &str,
        tape: &mut Tape,
    ) -> Result<()> {
        let shape = self.places.shape;
        for (id, alternative) in shape.fields_of(node) {
            if named.is_some_and(|named| named != id) {
                continue;
            }
            let mut trial = Tape::new();
            let outcome = self.of_text(at, id, alternative.node, text, &mut trial);
            if outcome.is_ok() {
                tape.open(field, node);
                trial.view(&[]).replay(tape);
                tape.close(field, node);
                return Ok(());
            }
            if named.is_some() {
                return outcome;
            }
        }
        Err(self.text.error(at, "these characters are a value of no alternative"))
    }

    fn components(
        &mut self,
        rest: &mut Rest<'d>,
        xml: &Xml,
        field: FieldId,
        node: NodeId,
        tape: &mut Tape,
    ) -> Result<()> {
        let shape = self.places.shape;
        let it = shape.node(node);
        let fields: Vec<FieldId> = shape.fields_of(node).map(|(id, _)| id).collect();
        // Components in any order are put in that of the type at the end.
        let mut parts: Vec<Option<Tape>> = fields.iter().map(|_| None).collect();
        let mut order = Vec::new();
        for (slot, id) in parts.iter_mut().zip(&fields) {
            let component = shape.field(*id);
            let place = self.places.of(*id, component.node);
            if place.attribute {
                *slot = self.attribute(rest, *id, place)?;
            }
        }
        let nil =
            xml.use_nil && rest.control("nil").is_some_and(|nil| matches!(nil.value.trim(), "true" | "1"));
        let (first, last) = (fields.first().copied(), fields.last().copied());
        let mut pending: Vec<usize> = (0..fields.len())
            .filter(|index| parts.get(*index).is_some_and(Option::is_none))
            .filter(|index| {
                let id = fields[*index];
                !(self.places.of(id, shape.field(id).node).attribute || xml.use_order && Some(id) == first)
            })
            .collect();
        let free = it.kind == Kind::Set || xml.use_order;
        let mut at = 0;
        while at < pending.len() {
            let index = match free {
                true => pending.iter().position(|index| self.begins(rest, fields[*index], 0)),
                false => Some(at),
            };
            let Some(index) = index else { break };
            let number = pending[index];
            let id = fields[number];
            let component = shape.field(id);
            let name = shape.name(component.name);
            let mut part = Tape::new();
            let found = if xml.use_nil && Some(id) == last {
                if nil {
                    false
                } else {
                    self.content(rest, id, component.node, &mut part).map_err(|error| error.inside(name))?;
                    true
                }
            } else {
                self.skip_unknown(rest, it.extensible, &pending, at, &fields);
                self.component(rest, id, &mut part)?
            };
            if found {
                order.push(name);
                parts[number] = Some(part);
            }
            if free {
                pending.remove(index);
            } else {
                at += 1;
            }
        }
        if it.extensible || self.basic.options.ignore_unknown {
            rest.next = if xml.untagged { rest.next } else { rest.elements.len() };
        }
        if xml.use_order
            && let Some(id) = first
        {
            parts[0] = Some(self.order(rest.content.at, id, &order)?);
        }
        for (id, part) in fields.iter().zip(&parts) {
            let found = || fields.iter().zip(&parts);
            let is_present =
                |place| found().any(|(id, part)| shape.field(*id).place == place && part.is_some());
            if part.is_none() && is_missing(shape.field(*id), is_present) {
                let error = self.text.error(rest.content.at, Fault::Missing.to_string());
                return Err(error.inside(shape.name(shape.field(*id).name)));
            }
        }
        tape.open(field, node);
        for part in parts.into_iter().flatten() {
            part.view(&[]).replay(tape);
        }
        tape.close(field, node);
        Ok(())
    }

    /// Passes over elements that no component has, if the type is extensible.
    fn skip_unknown(
        &self,
        rest: &mut Rest<'d>,
        extensible: bool,
        pending: &[usize],
        at: usize,
        fields: &[FieldId],
    ) {
        if !extensible && !self.basic.options.ignore_unknown {
            return;
        }
        let later = pending.get(at..).unwrap_or_default();
        while rest.peek().is_some() && !later.iter().any(|index| self.begins(rest, fields[*index], 0)) {
            rest.next += 1;
        }
    }

    /// Reads a component if it is there.
    fn component(&mut self, rest: &mut Rest<'d>, id: FieldId, tape: &mut Tape) -> Result<bool> {
        let shape = self.places.shape;
        let component = shape.field(id);
        let xml = self.places.of(id, component.node);
        let name = shape.name(component.name);
        if xml.untagged {
            // One that may be there with nothing is there unless it may be absent.
            let there = self.begins(rest, id, 0) || component.presence == Presence::Mandatory;
            if there {
                self.content(rest, id, component.node, tape).map_err(|error| error.inside(name))?;
            }
            return Ok(there);
        }
        let tag = self.places.name(id, xml);
        match rest.peek().copied() {
            Some(element) if self.is_named(&element, &tag, xml) => {
                rest.next += 1;
                self.element(&element, id, component.node, tape).map_err(|error| error.inside(name))?;
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    fn attribute(&mut self, rest: &mut Rest<'d>, id: FieldId, xml: &Xml) -> Result<Option<Tape>> {
        let shape = self.places.shape;
        let component = shape.field(id);
        let name = self.places.name(id, xml);
        let uri = self.places.uri(xml);
        let found =
            rest.attributes.iter().position(|attribute| *attribute.name == *name && attribute.uri == uri);
        let Some(found) = found else { return Ok(None) };
        let attribute = rest.attributes.remove(found);
        let default = xml.default_for_empty.map(|name| shape.name(name));
        let text = default.filter(|_| attribute.value.is_empty()).unwrap_or(attribute.value);
        let mut part = Tape::new();
        self.of_text(rest.content.at, id, component.node, text, &mut part)
            .map_err(|error| error.inside(shape.name(component.name)))?;
        Ok(Some(part))
    }

    /// The list of names that USE-ORDER fills from what was found (X.693 clause 35).
    fn order(&self, at: usize, id: FieldId, names: &[&str]) -> Result<Tape> {
        let shape = self.places.shape;
        let list = shape.field(id).node;
        let fail = |message: &str| Err(self.text.error(at, message).inside(shape.name(shape.field(id).name)));
        let Some((element, it)) = shape
            .fields_of(list)
            .next()
            .filter(|_| matches!(shape.node(list).kind, Kind::SequenceOf | Kind::SetOf))
        else {
            return fail("USE-ORDER requires a list of names as the first component");
        };
        let mut part = Tape::new();
        part.open(id, list);
        for name in names {
            match contents::of_item(shape, it.node, name) {
                Some(made) => part.leaf(element, it.node, Leaf::Made(&made)),
                None => return fail(&format!("the order has no name `{name}`")),
            }
        }
        part.close(id, list);
        Ok(part)
    }

    fn elements(
        &mut self,
        rest: &mut Rest<'d>,
        xml: &Xml,
        field: FieldId,
        node: NodeId,
        tape: &mut Tape,
    ) -> Result<()> {
        let shape = self.places.shape;
        let Some((id, it)) = shape.fields_of(node).next() else {
            return Err(self.text.error(rest.content.at, Fault::NoElement.to_string()));
        };
        let element = self.places.of(id, it.node);
        let name = self.places.name(id, element);
        // The values alone (X.680 Table 5), which MODIFIED-ENCODINGS does not have.
        let bare = !xml.modified && super::super::names::is_value_list(shape, it);
        tape.open(field, node);
        for index in 0.. {
            let Some(next) = rest.peek().copied() else { break };
            let before = rest.next;
            let outcome = if !element.untagged && self.is_named(&next, &name, element) {
                rest.next += 1;
                self.element(&next, id, it.node, tape)
            } else if bare && shape.node(it.node).kind == Kind::Choice || element.untagged {
                if !self.node_begins(rest, id, it.node, 0) {
                    break;
                }
                self.content(rest, id, it.node, tape)
            } else if bare {
                rest.next += 1;
                let made = self.basic.contents(next.itself, it.node);
                made.map(|made| self.put(id, it.node, &made, tape))
                    .map_err(|message| self.text.error(next.content.at, message))
            } else {
                break;
            };
            outcome.map_err(|error| error.inside_element(index))?;
            if rest.next == before {
                break;
            }
        }
        tape.close(field, node);
        Ok(())
    }

    fn choice(
        &mut self,
        rest: &mut Rest<'d>,
        xml: &Xml,
        field: FieldId,
        node: NodeId,
        tape: &mut Tape,
    ) -> Result<()> {
        let shape = self.places.shape;
        let named = if xml.use_union || xml.use_type { rest.control("type") } else { None };
        let mut chosen = None;
        if let Some(named) = named {
            let local = named.value.rsplit(':').next().unwrap_or_default();
            chosen = shape
                .fields_of(node)
                .find(|(id, it)| self.places.name(*id, self.places.of(*id, it.node)) == local)
                .map(|(id, _)| id);
            if chosen.is_none() {
                return Err(self.text.error(rest.content.at, Fault::NoAlternative(local).to_string()));
            }
        }
        if xml.use_union {
            let text = self.characters(rest, xml)?;
            return self.union(rest.content.at, chosen, field, node, &text, tape);
        }
        if xml.use_type {
            chosen = chosen.or_else(|| shape.fields_of(node).next().map(|(id, _)| id));
            let Some(id) = chosen else {
                return Err(self.text.error(rest.content.at, "a CHOICE of nothing"));
            };
            tape.open(field, node);
            self.content(rest, id, shape.field(id).node, tape)
                .map_err(|error| error.inside(shape.name(shape.field(id).name)))?;
            tape.close(field, node);
            return Ok(());
        }
        let found = shape.fields_of(node).find(|(id, _)| self.begins(rest, *id, 0)).map(|(id, _)| id);
        let Some(id) = found else {
            let found = rest.peek().map_or("nothing", |element| element.name);
            let message = format!("an alternative expected, `{}` found", cut(found));
            return Err(self.text.error(rest.content.at, message));
        };
        tape.open(field, node);
        self.component(rest, id, tape)?;
        tape.close(field, node);
        Ok(())
    }

    /// A value in an element of its type's name, or the octets of an encoding.
    fn open_type(
        &mut self,
        rest: &mut Rest<'d>,
        xml: &Xml,
        field: FieldId,
        node: NodeId,
        tape: &mut Tape,
    ) -> Result<()> {
        let Some(element) = rest.peek().copied() else { return self.leaf(rest, xml, field, node, tape) };
        let (_, local) = self.text.qualified(&element);
        let shape = self.places.shape;
        let contained = shape.node(node).containing;
        let selected = self.memory.selected(node);
        let by_name = |inner: &NodeId| {
            let name = self.places.of(FieldId::ROOT, *inner).name;
            name.is_some_and(|name| element_name(shape.name(name)) == local)
        };
        let rows = shape.node(node).table.as_ref().and_then(|table| shape.tables.get(table.table as usize));
        let rows = rows.map_or(&[][..], |table| &table.rows);
        let inner = contained
            .or_else(|| selected.filter(by_name))
            .or_else(|| rows.iter().map(|row| row.node).find(by_name))
            .or_else(|| content_type(shape, node, local, selected));
        let Some(inner) = inner else {
            return Err(self.text.error(element.content.at, Fault::NoType(element.name).to_string()));
        };
        rest.next += 1;
        tape.open(field, node);
        self.element(&element, FieldId::ROOT, inner, tape).map_err(|error| error.inside(local))?;
        tape.close(field, node);
        Ok(())
    }

    /// Whether what is left begins with a component.
    fn begins(&self, rest: &Rest<'d>, id: FieldId, depth: u16) -> bool {
        let node = self.places.shape.field(id).node;
        let xml = self.places.of(id, node);
        if xml.attribute {
            return false;
        }
        if xml.untagged {
            return self.node_begins(rest, id, node, depth);
        }
        rest.peek().is_some_and(|element| self.is_named(element, &self.places.name(id, xml), xml))
    }

    /// Whether what is left begins with the content of a value.
    fn node_begins(&self, rest: &Rest<'d>, field: FieldId, node: NodeId, depth: u16) -> bool {
        let shape = self.places.shape;
        if depth > MOST_UNTAGGED {
            return false;
        }
        match shape.node(node).kind {
            Kind::Sequence | Kind::Set => {
                for (id, it) in shape.fields_of(node) {
                    if self.begins(rest, id, depth + 1) {
                        return true;
                    }
                    let xml = self.places.of(id, it.node);
                    let set = shape.node(node).kind == Kind::Set;
                    if it.presence == Presence::Mandatory && !xml.attribute && !xml.untagged && !set {
                        return false;
                    }
                }
                false
            }
            Kind::Choice if self.places.of(field, node).use_union => self.text.has_text(rest.content),
            Kind::Choice => shape.fields_of(node).any(|(id, _)| self.begins(rest, id, depth + 1)),
            Kind::SequenceOf | Kind::SetOf if !self.places.of(field, node).list => {
                shape.fields_of(node).any(|(id, _)| self.begins(rest, id, depth + 1))
            }
            Kind::Open => rest.peek().is_some(),
            _ => rest.elements.is_empty() && self.text.has_text(rest.content),
        }
    }
}

/// Untagged values inside one another that are looked into.
const MOST_UNTAGGED: u16 = 16;
