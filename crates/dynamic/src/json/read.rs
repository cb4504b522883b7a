//! JSON text to a tape, guided by the schema.

use super::Options;
use super::index::{Document, Type};
use super::instructed::places;
use super::write::{fixed_size, is_inexact, is_octets, only_base};
use crate::contents::ContentsError;
use crate::contents::{self, Made};
use crate::event::{Leaf, Sink};
use crate::read_error::{ReadError, cut};
use crate::source::{
    Alternative, Content, Driver, Fault, Found, InPath, Memory, Notation, Notes, Primitive, Ranges, Source,
    TextRange,
};
use crate::tape::Tape;
use crate::text::{Octets, parse_hex, parse_integer, parse_octets};
use std::borrow::Cow;
use std::cell::Cell;
use std::collections::HashSet;
use tercet_plan::instructions::{Json, Places};
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
    options: Options,
    memory: Memory<'s>,
}

impl<'s> Reader<'s> {
    /// Makes a reader of values of a shape.
    pub fn new(shape: &'s Shape, options: Options) -> Self {
        Self { options, memory: Memory::new(shape) }
    }

    /// See [`read`].
    ///
    /// # Errors
    /// See [`read`].
    pub fn read(&mut self, root: NodeId, text: &[u8], tape: &mut Tape) -> Result<()> {
        self.read_noted(root, text, tape, ())
    }

    /// Reads a text as [`Reader::read`] does, and tells where the values on the tape are in it.
    ///
    /// # Errors
    /// See [`read`]. The ranges are then those of the entries that the tape has.
    pub fn read_with_ranges(
        &mut self,
        root: NodeId,
        text: &[u8],
        tape: &mut Tape,
        ranges: &mut Ranges,
    ) -> Result<()> {
        ranges.begin(Notation::Json);
        self.read_noted(root, text, tape, ranges)
    }

    fn read_noted(&mut self, root: NodeId, text: &[u8], tape: &mut Tape, notes: impl Notes) -> Result<()> {
        let document = Document::parse(text, self.options.depth)?;
        let (shape, options) = (self.memory.shape(), &self.options);
        let json =
            Text { shape, options, places: places(shape, options), text: &document, trials: Cell::new(0) };
        let name = shape.node(root).name.map_or("", |name| shape.name(name));
        Driver::read_noted(&json, &mut self.memory, root, 0, tape, options.depth, notes)
            .map_err(|error| if name.is_empty() { error } else { error.inside(name) })?;
        tape.within(options.depth);
        Ok(())
    }
}

/// A JSON text as a source of values.
#[derive(Debug)]
pub(super) struct Text<'a> {
    pub(super) shape: &'a Shape,
    options: &'a Options,
    /// Encoding instructions, if there are any.
    pub(super) places: Option<&'a Places<Json>>,
    pub(super) text: &'a Document<'a>,
    /// Tokens that were read to find out what they are.
    pub(super) trials: Cell<usize>,
}

/// In the place of a value: it is an element of OBJECT, whose member's name is there.
pub(super) const PAIR: usize = 1 << (usize::BITS - 1);

/// The elements of an array or, for OBJECT, of an object that are not read yet.
#[derive(Debug)]
pub(super) struct Elements {
    next: usize,
    end: usize,
    pairs: bool,
}

impl<'a> Source for Text<'a> {
    /// A token.
    type At = usize;
    type Elements = Elements;
    type Name = Cow<'a, str>;
    type Error = ReadError;

    fn fault(&self, at: &usize, fault: Fault<'_>) -> ReadError {
        self.text.error(*at & !PAIR, fault.to_string())
    }

    /// The name of a member: that of NAME, or the identifier.
    fn name_of<'s>(&self, shape: &'s Shape, field: FieldId) -> &'s str {
        let name = self.places.and_then(|places| places.fields.get(field.index())?.name);
        shape.name(name.unwrap_or_else(|| shape.field(field).name))
    }

    fn ignores_unknown(&self) -> bool {
        self.options.ignore_unknown_members
    }

    fn fills_defaults(&self) -> bool {
        self.options.fill_defaults
    }

    /// X.697 clauses 27 and 29: members in any order, each once.
    fn components(&self, at: &usize, found: &mut Found<'_, '_, Self>) -> Result<()> {
        let (text, at) = (self.text, *at);
        if self.places.is_some() && self.instructed_components(at, found)? {
            return Ok(());
        }
        if text.what(at) != Type::Object {
            return Err(text.error(at, "an object expected"));
        }
        let mut unknown: Option<HashSet<String>> = None;
        for (name, value) in text.members(at) {
            let spelled = text.string(name);
            let twice = if spelled == "..." {
                found.set_additions(value).is_some()
            } else {
                !found.put(&spelled, &name, value)?
                    && !unknown.get_or_insert_default().insert(spelled.clone().into_owned())
            };
            if twice {
                return Err(self.fault(&name, Fault::Twice(&spelled)));
            }
        }
        Ok(())
    }

    /// X.697 clauses 28 and 30.
    fn elements(&self, at: &usize, field: FieldId, node: NodeId) -> Result<Elements> {
        let pairs = self.is_object(field, node);
        match (self.text.what(*at), pairs) {
            (Type::Array, false) | (Type::Object, true) => {}
            (_, false) => return Err(self.text.error(*at, "an array expected")),
            (_, true) => return Err(self.text.error(*at, "an object expected")),
        }
        Ok(Elements { next: *at + 1, end: self.text.next(*at), pairs })
    }

    fn next_element(&self, elements: &mut Elements) -> Result<Option<usize>> {
        let Elements { next: at, end, pairs } = *elements;
        if at >= end {
            return Ok(None);
        }
        let value = if pairs { at + 1 } else { at };
        elements.next = self.text.next(value);
        Ok(Some(if pairs { at | PAIR } else { at }))
    }

    /// X.697 clause 31: an object with one member.
    fn alternative(&self, at: &usize, field: FieldId, node: NodeId) -> Result<Alternative<Self>> {
        let (text, at) = (self.text, *at);
        if self.places.is_some_and(|places| places.of(field, node).unwrapped) {
            return Ok(Alternative::Any(at));
        }
        let mut members = Some(text.members(at)).into_iter().flatten().take(2);
        let first = if text.what(at) == Type::Object { members.next() } else { None };
        let Some((name, value)) = first else {
            return Err(text.error(at, "an object with one member, the chosen alternative, expected"));
        };
        if let Some((second, _)) = members.next() {
            return Err(text.error(second, "a CHOICE has one alternative, a second is here"));
        }
        let spelled = text.string(name);
        Ok(match &*spelled {
            "..." => Alternative::Unknown(value),
            _ => Alternative::Named(spelled, name, value),
        })
    }

    /// The content by `$type`, or by the table; else the octets of a complete encoding.
    fn content(&self, at: &usize, open: NodeId, selected: Option<NodeId>) -> Result<Content<Self>> {
        let text = self.text;
        let mut value = *at;
        let mut inner = selected;
        if text.what(value) == Type::Object
            && let (Some(name), Some(content)) = (member(text, value, "$type"), member(text, value, "$value"))
        {
            self.only_members(value, &["$type", "$value"])?;
            let spelled = if text.what(name) == Type::String { text.string(name) } else { Cow::Borrowed("") };
            // Types without a name are known by their key alone.
            let named = self.shape.content_named(open, &spelled, selected);
            if named.is_none() && !spelled.is_empty() {
                return Err(self.fault(&name, Fault::NoType(&spelled)).inside("$type"));
            }
            inner = named.or(selected);
            value = content;
        }
        Ok(match inner {
            Some(inner) if text.what(value) != Type::String => Content::Value(inner, value, None),
            // Content that did not decode was written as octets: this may be the one or the other.
            Some(inner) => Content::Either(inner, value),
            None => Content::Encoding(value),
        })
    }

    fn contained(&self, at: &usize, _: NodeId, inner: NodeId) -> Result<Content<Self>> {
        let is_object = self.text.what(*at) == Type::Object;
        match member(self.text, *at, "containing").filter(|_| is_object) {
            Some(value) => {
                self.only_members(*at, &["containing"])?;
                Ok(Content::Value(inner, value, Some("containing".into())))
            }
            None => Ok(Content::Encoding(*at)),
        }
    }

    fn leaf<'v>(&'v self, at: &'v usize, field: FieldId, node: NodeId) -> Result<Primitive<'v>> {
        let (text, at) = (self.text, *at);
        if self.places.is_some()
            && let Some(outcome) = self.instructed_leaf(at, field, node)
        {
            return outcome;
        }
        match (self.shape.node(node).kind, text.what(at)) {
            (kind @ (Kind::OctetString | Kind::BitString), Type::Object) => self.bits(at, kind),
            (Kind::Enumerated, Type::Object) => {
                let number = member(text, at, "addition").filter(|at| text.what(*at) == Type::Number);
                let number = number.and_then(|at| text.raw(at).parse().ok());
                number.map(Primitive::Addition).ok_or_else(|| text.error(at, "the name of an item expected"))
            }
            (Kind::Open, what) => {
                let octets = if what == Type::String { parse_hex(text.string(at).as_bytes()) } else { None };
                let message =
                    "the type of this value is not known: a complete encoding in hexadecimal expected";
                octets.map(Primitive::from).ok_or_else(|| text.error(at, message))
            }
            _ => self.contents(at, node).map(Primitive::Contents).map_err(|message| text.error(at, message)),
        }
    }

    /// The list of encodings that stands in `"..."`.
    fn unknown(&self, at: &usize, tape: &mut Tape) -> Result<()> {
        let (text, at) = (self.text, *at);
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

    fn range(&self, at: &usize) -> Option<TextRange> {
        let (at, is_pair) = (*at & !PAIR, *at & PAIR != 0);
        // The value of a pair is behind its name.
        let value = if is_pair { at..at + 2 } else { at..at + 1 };
        let (begin, end) = (self.text.offset(value.start), self.text.end(value.end - 1));
        let from = at.checked_sub(1).filter(|name| !is_pair && self.text.is_name(*name));
        Some(TextRange::new(from.map_or(begin, |name| self.text.offset(name))..end, begin..end))
    }

    fn may_be(&self, at: &usize, alternative: FieldId) -> Result<bool> {
        self.is_worth_a_trial(*at, alternative)
    }
}

impl<'a> Text<'a> {
    /// Contents octets of a primitive value.
    fn contents(&self, at: usize, node: NodeId) -> Made<'a> {
        let text = self.text;
        let kind = self.shape.node(node).kind;
        let expected = |what: &str| Err(format!("{what} expected").into());
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
                    None => Err(format!("no item `{}` in this ENUMERATED", cut(&name)).into()),
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
            (_, Type::String) if is_octets(kind, self.options) => {
                let octets = self.octets(at)?;
                if let Some(string) = kind.string_kind() {
                    to_utf8(string, &octets, 0).map_err(|error| error.kind().message().to_owned())?;
                }
                Ok(Cow::Owned(octets))
            }
            (Kind::BitString, Type::String) => {
                let octets = self.octets(at)?;
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

    fn octets(&self, at: usize) -> std::result::Result<Vec<u8>, ContentsError> {
        let form = self.options.octets;
        parse_octets(&self.text.string(at), form).ok_or_else(|| match form {
            Octets::Base64 => "base64 expected".into(),
            _ => "pairs of hexadecimal digits expected".into(),
        })
    }

    /// A bit string with its length: `value` and `length`, or `bits` and `len`.
    fn bits(&self, at: usize, kind: Kind) -> Result<Primitive<'a>> {
        let text = self.text;
        let form = [("value", "length"), ("bits", "len")].into_iter().find_map(|(value, length)| {
            Some((value, length, member(text, at, value)?, member(text, at, length)?))
        });
        let Some((value, length, octets, bits)) = form.filter(|_| kind == Kind::BitString) else {
            return Err(text.error(at, "a string expected"));
        };
        self.only_members(at, &[value, length])?;
        if text.what(octets) != Type::String {
            return Err(text.error(octets, "a string expected").inside(value));
        }
        let octets = self.octets(octets).map_err(|message| text.error(octets, message).inside(value))?;
        let count = Some(bits).filter(|at| text.what(*at) == Type::Number);
        let count = count.and_then(|at| text.raw(at).parse().ok());
        let count = count.ok_or_else(|| text.error(bits, "a number of bits expected").inside(length))?;
        contents::of_bits(&octets, count).map(Primitive::from).map_err(|message| text.error(at, message))
    }

    fn only_members(&self, at: usize, known: &[&str]) -> Result<()> {
        let text = self.text;
        let mut seen = 0usize;
        for (name, _) in text.members(at) {
            let spelled = text.string(name);
            let Some(index) = known.iter().position(|k| *k == spelled) else {
                return Err(text.error(name, format!("an unexpected member `{}`", cut(&spelled))));
            };
            if seen >> index & 1 == 1 {
                return Err(self.fault(&name, Fault::Twice(&spelled)));
            }
            seen |= 1 << index;
        }
        Ok(())
    }
}

/// The value of a member.
fn member(text: &Document<'_>, object: usize, name: &str) -> Option<usize> {
    text.members(object).find(|(at, _)| text.string(*at) == name).map(|(_, value)| value)
}

/// An integer as a JSON number.
fn integer(text: &str) -> std::result::Result<Vec<u8>, ContentsError> {
    match contents::of_integer(text) {
        Ok(contents) => Ok(contents),
        Err(_) => parse_whole(text).ok_or_else(|| "an integer of reasonable size expected".into()),
    }
}
