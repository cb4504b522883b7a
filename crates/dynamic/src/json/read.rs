//! JSON text to a tape, guided by the schema.

use super::Options;
use super::index::{Document, Type};
use super::instructed::places;
use super::write::{fixed_size, is_inexact, is_octets, only_base};
use crate::contents::{self, Made};
use crate::event::{Leaf, Sink};
use crate::read_error::{ReadError, check_depth, cut};
use crate::tape::Tape;
use crate::text::{Octets, parse_hex, parse_integer, parse_octets};
use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::HashSet;
use tercet_plan::instructions::{Json, Places};
use tercet_plan::shape::{Key, Place, Presence};
use tercet_plan::{FieldId, Kind, NodeId, Shape};
use tercet_runtime::text::to_utf8;
use tercet_runtime::types::decimal::parse_whole;

pub(super) type Result<T> = std::result::Result<T, ReadError>;

/// Reads a JSON text as a value of type `root` onto a tape, which is cleared first.
///
/// All forms of [`super::JsonWriter`] are understood. Members may come in any order; the tape has them in the
/// order of the type. Constraints are not checked.
///
/// # Errors
/// The first fault, with path, line and column. The tape is then worth nothing.
pub fn read(shape: &Shape, root: NodeId, text: &[u8], tape: &mut Tape, options: &Options) -> Result<()> {
    Reader::new(shape, options.clone()).read(root, text, tape)
}

/// As [`read`], for a value that is parsed already; offsets are those in its text without white space.
///
/// # Errors
/// See [`read`].
pub fn read_value(
    shape: &Shape,
    root: NodeId,
    value: &serde_json::Value,
    tape: &mut Tape,
    options: &Options,
) -> Result<()> {
    read(shape, root, value.to_string().as_bytes(), tape, options)
}

/// Reads many texts of one shape.
#[derive(Debug)]
pub struct Reader<'s> {
    pub(super) shape: &'s Shape,
    options: Options,
    /// Encoding instructions, if there are any.
    pub(super) places: Option<&'s Places<Json>>,
    /// Tokens that were read to find out what they are.
    pub(super) trials: usize,
    /// Fields by name, of nodes with many, once they were met.
    names: HashMap<NodeId, HashMap<&'s str, usize>>,
    /// What the tables of open types are looked up with.
    registers: Vec<Option<Key>>,
}

/// From so many fields on names are looked up by hashing.
const MANY_FIELDS: u32 = 12;

impl<'s> Reader<'s> {
    /// A reader of values of a shape.
    pub fn new(shape: &'s Shape, options: Options) -> Self {
        let places = places(shape, &options);
        Self {
            shape,
            options,
            places,
            trials: 0,
            names: HashMap::new(),
            registers: vec![None; usize::from(shape.registers)],
        }
    }

    /// See [`read`].
    ///
    /// # Errors
    /// See [`read`].
    pub fn read(&mut self, root: NodeId, text: &[u8], tape: &mut Tape) -> Result<()> {
        tape.clear();
        self.registers.fill(None);
        self.trials = 0;
        let document = Document::parse(text, self.options.depth)?;
        let name = self.shape.node(root).name.map_or("", |name| self.shape.name(name));
        self.value(&document, 0, FieldId::ROOT, root, tape)
            .map_err(|e| if name.is_empty() { e } else { e.inside(name) })?;
        // A value with parts has a level of its own, unless encoding instructions take it away.
        if 2 * document.deepest() > usize::from(self.options.depth) {
            check_depth(text, tape, self.options.depth)?;
        }
        tape.within(self.options.depth);
        Ok(())
    }

    pub(super) fn value(
        &mut self,
        text: &Document<'_>,
        at: usize,
        field: FieldId,
        node: NodeId,
        tape: &mut Tape,
    ) -> Result<()> {
        if self.places.is_some()
            && let Some(outcome) = self.instructed(text, at, field, node, tape)
        {
            return outcome;
        }
        match self.shape.node(node).kind {
            Kind::Sequence | Kind::Set => self.members(text, at, field, node, tape),
            Kind::SequenceOf | Kind::SetOf => self.elements(text, at, field, node, tape),
            Kind::Choice => self.alternative(text, at, field, node, tape),
            Kind::Open => self.open_type(text, at, field, node, tape),
            Kind::OctetString | Kind::BitString if text.what(at) == Type::Object => {
                self.string_object(text, at, field, node, tape)
            }
            Kind::Enumerated if text.what(at) == Type::Object => {
                let number = member(text, at, "addition").filter(|at| text.what(*at) == Type::Number);
                let number = number.and_then(|at| text.raw(at).parse().ok());
                let number = number.ok_or_else(|| text.error(at, "the name of an item expected"))?;
                tape.leaf(field, node, Leaf::Addition(number));
                Ok(())
            }
            _ => {
                let contents = self.leaf(text, at, node).map_err(|message| text.error(at, message))?;
                tape.leaf(field, node, Leaf::Made(&contents));
                Ok(())
            }
        }
    }

    /// Contents octets of a primitive value.
    pub(super) fn leaf<'t>(&self, text: &Document<'t>, at: usize, node: NodeId) -> Made<'t> {
        let kind = self.shape.node(node).kind;
        let expected = |what: &str| Err(format!("{what} expected"));
        match (kind, text.what(at)) {
            (Kind::Boolean, Type::True) => Ok(contents::of_boolean(true).into()),
            (Kind::Boolean, Type::False) => Ok(contents::of_boolean(false).into()),
            (Kind::Boolean, _) => expected("true or false"),
            (Kind::Null, Type::Null) => Ok(Cow::Borrowed(&[])),
            (Kind::Null, _) => expected("null"),
            (Kind::Integer | Kind::Enumerated, Type::Number) => integer(text.raw(at)).map(Cow::Owned),
            (Kind::Integer | Kind::Enumerated, Type::String) => {
                let name = text.string(at);
                match contents::of_item(self.shape, node, &name) {
                    Some(contents) => Ok(contents.into()),
                    // Numbers that JSON's own readers would round may be texts (`--integers text`); X.697 has numbers alone.
                    None if kind == Kind::Integer => {
                        match parse_integer(&name).filter(|octets| is_inexact(octets)) {
                            Some(octets) => Ok(octets.into()),
                            None => expected("an integer"),
                        }
                    }
                    None => Err(format!("no item `{}` in this ENUMERATED", cut(&name))),
                }
            }
            (Kind::Integer, _) => expected("an integer"),
            (Kind::Enumerated, _) => expected("the name of an item"),
            (Kind::Real, Type::Number) if only_base(self.shape, node) == Some(10) => {
                contents::of_decimal_real(text.raw(at)).map(Cow::Owned)
            }
            (Kind::Real, Type::Number) => contents::of_real(text.raw(at)).map(Cow::Owned),
            (Kind::Real, Type::String) => match &*text.string(at) {
                word @ ("INF" | "-INF" | "NaN" | "-0") => contents::of_real(word).map(Cow::Owned),
                _ => expected("a number, INF, -INF, NaN or -0"),
            },
            (Kind::Real, Type::Object) => {
                // X.697 §23: a value of base 10 says so.
                if let Some(at) = member(text, at, "base10Value") {
                    return match text.what(at) {
                        Type::Number => contents::of_decimal_real(text.raw(at)).map(Cow::Owned),
                        Type::String => contents::of_decimal_real(&text.string(at)).map(Cow::Owned),
                        _ => expected("a number `base10Value`"),
                    };
                }
                let part = |name| {
                    let at = member(text, at, name).filter(|at| text.what(*at) == Type::Number);
                    at.map(|at| text.raw(at)).ok_or_else(|| format!("a number `{name}` expected"))
                };
                contents::of_real_parts(part("mantissa")?, part("base")?, part("exponent")?).map(Cow::Owned)
            }
            (Kind::Real, _) => expected("a number"),
            (_, Type::String) if is_octets(kind, &self.options) => {
                let octets = self.octets(text, at)?;
                if let Some(string) = kind.string_kind() {
                    to_utf8(string, &octets, 0).map_err(|error| error.kind().message().to_owned())?;
                }
                Ok(Cow::Owned(octets))
            }
            (Kind::BitString, Type::String) => {
                let octets = self.octets(text, at)?;
                let length = fixed_size(self.shape, node).unwrap_or(octets.len() as u64 * 8);
                contents::of_bits(&octets, length).map(Cow::Owned)
            }
            (_, Type::String) => {
                let made = match text.string(at) {
                    Cow::Borrowed(text) => contents::of_text(kind, text),
                    Cow::Owned(text) => contents::of_text(kind, &text)
                        .map(|made| made.map(|contents| contents.into_owned().into())),
                };
                made.unwrap_or_else(|| expected("another value"))
            }
            _ => expected("a string"),
        }
    }

    fn octets(&self, text: &Document<'_>, at: usize) -> std::result::Result<Vec<u8>, String> {
        let form = self.options.octets;
        parse_octets(&text.string(at), form).ok_or_else(|| match form {
            Octets::Base64 => "base64 expected".to_owned(),
            _ => "pairs of hexadecimal digits expected".to_owned(),
        })
    }

    /// The forms of octet and bit strings that are objects: with CONTAINING, with length.
    fn string_object(
        &mut self,
        text: &Document<'_>,
        at: usize,
        field: FieldId,
        node: NodeId,
        tape: &mut Tape,
    ) -> Result<()> {
        let it = self.shape.node(node);
        if let Some(inner) = it.containing
            && let Some(value) = member(text, at, "containing")
        {
            self.only_members(text, at, &["containing"])?;
            tape.open(field, node);
            self.value(text, value, FieldId::ROOT, inner, tape).map_err(|e| e.inside("containing"))?;
            tape.close(field, node);
            return Ok(());
        }
        let form = [("value", "length"), ("bits", "len")].into_iter().find_map(|(value, length)| {
            Some((value, length, member(text, at, value)?, member(text, at, length)?))
        });
        let Some((value, length, octets, bits)) = form.filter(|_| it.kind == Kind::BitString) else {
            return Err(text.error(at, "a string expected"));
        };
        self.only_members(text, at, &[value, length])?;
        if text.what(octets) != Type::String {
            return Err(text.error(octets, "a string expected").inside(value));
        }
        let octets =
            self.octets(text, octets).map_err(|message| text.error(octets, message).inside(value))?;
        let count = Some(bits).filter(|at| text.what(*at) == Type::Number);
        let count = count.and_then(|at| text.raw(at).parse().ok());
        let count = count.ok_or_else(|| text.error(bits, "a number of bits expected").inside(length))?;
        let contents = contents::of_bits(&octets, count).map_err(|message| text.error(at, message))?;
        tape.leaf(field, node, Leaf::Made(&contents));
        Ok(())
    }

    /// X.697 clauses 27 and 29: members in any order, each once.
    fn members(
        &mut self,
        text: &Document<'_>,
        at: usize,
        field: FieldId,
        node: NodeId,
        tape: &mut Tape,
    ) -> Result<()> {
        if text.what(at) != Type::Object {
            return Err(text.error(at, "an object expected"));
        }
        let it = self.shape.node(node);
        let mut values: Vec<Option<usize>> = vec![None; it.count as usize];
        let mut unknown: Option<HashSet<String>> = None;
        let mut additions = None;
        for (name, value) in text.members(at) {
            let spelled = text.string(name);
            let twice = match self.field_index(node, &spelled) {
                Some(index) => values.get_mut(index).and_then(|slot| slot.replace(value)).is_some(),
                None if spelled == "..." => additions.replace(value).is_some(),
                None if it.extensible || self.options.ignore_unknown_members => {
                    !unknown.get_or_insert_default().insert(spelled.clone().into_owned())
                }
                None => {
                    return Err(text.error(name, format!("no component `{}` in this type", cut(&spelled))));
                }
            };
            if twice {
                return Err(text.error(name, format!("`{}` is there twice", cut(&spelled))));
            }
        }
        self.components(text, at, field, node, values, additions, tape)
    }

    /// The components of a SEQUENCE or SET, found already.
    #[expect(clippy::too_many_arguments, reason = "what a value is and where it goes")]
    pub(super) fn components(
        &mut self,
        text: &Document<'_>,
        at: usize,
        field: FieldId,
        node: NodeId,
        values: Vec<Option<usize>>,
        additions: Option<usize>,
        tape: &mut Tape,
    ) -> Result<()> {
        self.check_presence(text, at, node, &values)?;
        tape.open(field, node);
        let shape = self.shape;
        let keys = self.keys(text, node, &values);
        for ((id, component), value) in shape.fields_of(node).zip(values) {
            for (register, key) in &keys {
                if let Some(slot) = self.registers.get_mut(usize::from(*register)) {
                    slot.clone_from(key);
                }
            }
            match value {
                Some(value) => self
                    .value(text, value, id, component.node, tape)
                    .map_err(|error| error.inside(shape.name(component.name)))?,
                None => {
                    if let Presence::Default(constant) = component.presence
                        && self.options.fill_defaults
                    {
                        tape.absent(id, component.node, constant);
                    }
                }
            }
        }
        if let Some(additions) = additions {
            self.unknown(text, additions, tape)?;
        }
        tape.close(field, node);
        Ok(())
    }

    /// Components of the root have to be there; those of a version bracket if any other of it is (X.680 25.13).
    fn check_presence(
        &self,
        text: &Document<'_>,
        at: usize,
        node: NodeId,
        values: &[Option<usize>],
    ) -> Result<()> {
        let fields = || self.shape.fields_of(node).zip(values);
        for ((_, field), value) in fields() {
            let needed = field.presence == Presence::Mandatory
                && match field.place {
                    Place::Root => true,
                    Place::Addition(_) => false,
                    place @ Place::Group(_) => {
                        fields().any(|((_, f), value)| f.place == place && value.is_some())
                    }
                };
            if needed && value.is_none() {
                return Err(text
                    .error(at, "this mandatory component is missing")
                    .inside(self.shape.name(field.name)));
            }
        }
        Ok(())
    }

    fn field_index(&mut self, node: NodeId, name: &str) -> Option<usize> {
        let shape = self.shape;
        if shape.node(node).count < MANY_FIELDS {
            return shape.fields_of(node).position(|(id, _)| self.name_of(id) == name);
        }
        let places = self.places;
        let names = self.names.entry(node).or_insert_with(|| {
            shape.fields_of(node).enumerate().map(|(i, (id, _))| (name_of(shape, places, id), i)).collect()
        });
        names.get(name).copied()
    }

    fn name_of(&self, field: FieldId) -> &'s str {
        name_of(self.shape, self.places, field)
    }

    /// The keys among the members, read before the members that they decide about.
    fn keys(&self, text: &Document<'_>, node: NodeId, values: &[Option<usize>]) -> Vec<(u16, Option<Key>)> {
        let fields = self.shape.fields_of(node).zip(values);
        let keys = fields.filter_map(|((_, field), value)| Some((field.key?, field.node, *value)));
        keys.map(|(register, node, value)| (register, value.and_then(|at| self.key(text, at, node))))
            .collect()
    }

    fn key(&self, text: &Document<'_>, at: usize, node: NodeId) -> Option<Key> {
        let kind = self.shape.node(node).kind;
        if kind == Kind::Choice {
            let (name, value) = text.members(at).next().filter(|_| text.what(at) == Type::Object)?;
            let name = text.string(name);
            let (_, field) = self.shape.fields_of(node).find(|(id, _)| self.name_of(*id) == name)?;
            let inner = self.key(text, value, field.node)?;
            return Some(Key::Alternative(field.name, Box::new(inner)));
        }
        contents::key_of(kind, &self.leaf(text, at, node).ok()?)
    }

    /// X.697 clauses 28 and 30.
    fn elements(
        &mut self,
        text: &Document<'_>,
        at: usize,
        field: FieldId,
        node: NodeId,
        tape: &mut Tape,
    ) -> Result<()> {
        let element = self.shape.fields_of(node).next().map(|(id, element)| (id, element.node));
        let (Type::Array, Some((id, element))) = (text.what(at), element) else {
            return Err(text.error(at, "an array expected"));
        };
        tape.open(field, node);
        for (index, value) in text.elements(at).enumerate() {
            self.value(text, value, id, element, tape).map_err(|error| error.inside_element(index))?;
        }
        tape.close(field, node);
        Ok(())
    }

    /// X.697 clause 31: an object with one member.
    fn alternative(
        &mut self,
        text: &Document<'_>,
        at: usize,
        field: FieldId,
        node: NodeId,
        tape: &mut Tape,
    ) -> Result<()> {
        let mut members = Some(text.members(at)).into_iter().flatten().take(2);
        let first = if text.what(at) == Type::Object { members.next() } else { None };
        let Some((name, value)) = first else {
            return Err(text.error(at, "an object with one member, the chosen alternative, expected"));
        };
        if let Some((second, _)) = members.next() {
            return Err(text.error(second, "a CHOICE has one alternative, a second is here"));
        }
        let spelled = text.string(name);
        let fields = self.shape.node(node).first;
        tape.open(field, node);
        match self.field_index(node, &spelled) {
            Some(index) => {
                let id = FieldId(fields + index as u32);
                let it = self.shape.field(id);
                let key = it.key.map(|register| (register, self.key(text, value, it.node)));
                if let Some((register, key)) = key
                    && let Some(slot) = self.registers.get_mut(usize::from(register))
                {
                    *slot = key;
                }
                self.value(text, value, id, it.node, tape)
                    .map_err(|error| error.inside(self.shape.name(it.name)))?;
            }
            None if spelled == "..." => self.unknown(text, value, tape)?,
            None => {
                return Err(text.error(name, format!("no alternative `{}` in this CHOICE", cut(&spelled))));
            }
        }
        tape.close(field, node);
        Ok(())
    }

    /// The content by `$type`, or by the table; else the octets of a complete encoding.
    fn open_type(
        &mut self,
        text: &Document<'_>,
        at: usize,
        field: FieldId,
        node: NodeId,
        tape: &mut Tape,
    ) -> Result<()> {
        let mut value = at;
        let mut inner = None;
        if text.what(at) == Type::Object
            && let (Some(name), Some(content)) = (member(text, at, "$type"), member(text, at, "$value"))
        {
            self.only_members(text, at, &["$type", "$value"])?;
            let spelled = if text.what(name) == Type::String { text.string(name) } else { Cow::Borrowed("") };
            // Types without a name are known by their key alone.
            inner = self.type_named(node, &spelled);
            if inner.is_none() && !spelled.is_empty() {
                return Err(text
                    .error(name, format!("no type `{}` is known here", cut(&spelled)))
                    .inside("$type"));
            }
            value = content;
        }
        let inner = inner.or_else(|| self.selected(node));
        match inner {
            Some(inner) if text.what(value) != Type::String => {
                tape.open(field, node);
                self.value(text, value, FieldId::ROOT, inner, tape)?;
                tape.close(field, node);
                return Ok(());
            }
            // Content that did not decode was written as octets: this may be the one or the other.
            Some(inner) => {
                let mut trial = Tape::new();
                if self.value(text, value, FieldId::ROOT, inner, &mut trial).is_ok() {
                    tape.open(field, node);
                    trial.view(&[]).replay(tape);
                    tape.close(field, node);
                    return Ok(());
                }
            }
            None => {}
        }
        let octets = Some(value).filter(|at| text.what(*at) == Type::String);
        let octets = octets.and_then(|at| parse_hex(text.string(at).as_bytes()));
        let Some(octets) = octets else {
            let message = "the type of this value is not known: a complete encoding in hexadecimal expected";
            return Err(text.error(value, message));
        };
        tape.leaf(field, node, Leaf::Made(&octets));
        Ok(())
    }

    fn selected(&self, node: NodeId) -> Option<NodeId> {
        self.shape.selected(node, &self.registers)
    }

    /// A type by its name: of the table, a root, any node.
    fn type_named(&self, node: NodeId, name: &str) -> Option<NodeId> {
        self.shape.content_named(node, name, self.selected(node))
    }

    /// The list of encodings that stands in `"..."`.
    fn unknown(&self, text: &Document<'_>, at: usize, tape: &mut Tape) -> Result<()> {
        let fail = |at| text.error(at, "complete encodings in hexadecimal expected").inside("...");
        if text.what(at) != Type::Array {
            return Err(fail(at));
        }
        for item in text.elements(at) {
            let (addition, value) = match text.what(item) {
                Type::Object => {
                    let octets = member(text, item, "value").or_else(|| member(text, item, "octets"));
                    (member(text, item, "addition"), octets)
                }
                _ => (None, Some(item)),
            };
            let addition = addition.map(|at| text.raw(at).parse().map_err(|_| fail(at))).transpose()?;
            let octets = value.filter(|at| text.what(*at) == Type::String);
            let octets =
                octets.and_then(|at| parse_hex(text.string(at).as_bytes())).ok_or_else(|| fail(item))?;
            tape.unknown(addition.unwrap_or(u32::MAX), Leaf::Made(&octets));
        }
        Ok(())
    }

    fn only_members(&self, text: &Document<'_>, at: usize, known: &[&str]) -> Result<()> {
        let mut seen = 0usize;
        for (name, _) in text.members(at) {
            let spelled = text.string(name);
            let Some(index) = known.iter().position(|k| *k == spelled) else {
                return Err(text.error(name, format!("an unexpected member `{}`", cut(&spelled))));
            };
            if seen >> index & 1 == 1 {
                return Err(text.error(name, format!("`{}` is there twice", cut(&spelled))));
            }
            seen |= 1 << index;
        }
        Ok(())
    }
}

/// The name of a member: that of NAME, or the identifier.
fn name_of<'s>(shape: &'s Shape, places: Option<&Places<Json>>, field: FieldId) -> &'s str {
    let name = places.and_then(|places| places.fields.get(field.index())?.name);
    shape.name(name.unwrap_or_else(|| shape.field(field).name))
}

/// The value of a member.
fn member(text: &Document<'_>, object: usize, name: &str) -> Option<usize> {
    text.members(object).find(|(at, _)| text.string(*at) == name).map(|(_, value)| value)
}

/// An integer as a JSON number.
fn integer(text: &str) -> std::result::Result<Vec<u8>, String> {
    match contents::of_integer(text) {
        Ok(contents) => Ok(contents),
        Err(_) => parse_whole(text).ok_or_else(|| "an integer of reasonable size expected".to_owned()),
    }
}
