//! GSER text to a tape, guided by the schema.

use super::index::{Document, Type};
use crate::contents::{self, Made};
use crate::event::{Leaf, Sink};
use crate::read_error::{ReadError, TOO_DEEP, check_depth, cut};
use crate::source::InPath;
use crate::tape::Tape;
use crate::text::parse_hex;
use std::borrow::Cow;
use tercet_plan::shape::{Key, Place, Presence};
use tercet_plan::{FieldId, Kind, NodeId, Shape};

type Result<T> = std::result::Result<T, ReadError>;

/// What GSER text is accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadOptions {
    /// Whether components that the schema does not know are passed over in every type, not only in extensible ones.
    pub ignore_unknown: bool,
    /// Values inside one another; 128 unless told, no more than 1,000 count.
    pub depth: u16,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self { ignore_unknown: false, depth: 64 }
    }
}

/// Reads a GSER text as a value of type `root` onto a tape, which is cleared first. Constraints are not checked.
///
/// # Errors
/// The first fault, with path, line and column. The tape is then worth nothing.
pub fn read(shape: &Shape, root: NodeId, text: &[u8], tape: &mut Tape, options: &ReadOptions) -> Result<()> {
    Reader::new(shape, options.clone()).read(root, text, tape)
}

/// Reads many texts of one shape.
#[derive(Debug)]
pub struct Reader<'s> {
    shape: &'s Shape,
    options: ReadOptions,
    /// What the tables of open types are looked up with.
    registers: Vec<Option<Key>>,
    /// Values that the current one is in.
    level: u16,
}

/// Bits that names of bits may make: what is made from a few letters stays small.
const MAX_NAMED_BITS: i64 = 1 << 20;

/// Types whose values have a string of their own (3.20). It does not tell which string types a name is made of, so values
/// are written as their types say, and the string is refused.
const VARIANTS: [&str; 3] = ["RDNSequence", "RelativeDistinguishedName", "ORAddress"];

impl<'s> Reader<'s> {
    /// A reader of values of a shape.
    pub fn new(shape: &'s Shape, options: ReadOptions) -> Self {
        Self { shape, options, registers: vec![None; usize::from(shape.registers)], level: 0 }
    }

    /// See [`read`].
    ///
    /// # Errors
    /// See [`read`].
    pub fn read(&mut self, root: NodeId, text: &[u8], tape: &mut Tape) -> Result<()> {
        tape.clear();
        self.registers.fill(None);
        self.level = 0;
        let document = Document::parse(text, self.options.depth)?;
        let name = self.shape.node(root).name.map_or("", |name| self.shape.name(name));
        let end = self
            .value(&document, 0, FieldId::ROOT, root, tape)
            .map_err(|error| if name.is_empty() { error } else { error.inside(name) })?;
        check_depth(text, tape, self.options.depth)?;
        match document.what(end) {
            Type::End => Ok(()),
            _ => Err(document.error(end, "text after the value")),
        }
    }

    /// Reads a value; the answer is the token behind it.
    fn value(
        &mut self,
        text: &Document<'_>,
        at: usize,
        field: FieldId,
        node: NodeId,
        tape: &mut Tape,
    ) -> Result<usize> {
        if self.level > self.options.depth.min(1000) {
            return Err(text.error(at, TOO_DEEP));
        }
        self.level += 1;
        let it = self.shape.node(node);
        let name = it.name.map_or("", |name| self.shape.name(name));
        if text.what(at) == Type::Text && VARIANTS.contains(&name) {
            return Err(
                text.error(at, format!("the string of {name} (RFC 3641 3.20) is not read: braces expected"))
            );
        }
        let end = match it.kind {
            Kind::Sequence | Kind::Set => self.members(text, at, field, node, tape),
            Kind::SequenceOf | Kind::SetOf => self.elements(text, at, field, node, tape),
            Kind::Choice => self.alternative(text, at, field, node, tape),
            Kind::Open => self.open_type(text, at, field, node, tape),
            _ => match it.containing.filter(|_| is_word(text, at, "CONTAINING")) {
                Some(inner) => {
                    tape.open(field, node);
                    let end = self.value(text, at + 1, FieldId::ROOT, inner, tape);
                    tape.close(field, node);
                    end.map_err(|error| error.inside("CONTAINING"))
                }
                None => {
                    let (contents, end) = self.leaf(text, at, node).map_err(|m| text.error(at, m))?;
                    tape.leaf(field, node, Leaf::Made(&contents));
                    Ok(end)
                }
            },
        };
        self.level -= 1;
        end
    }

    /// Contents octets of a primitive value, and the token behind it.
    fn leaf<'t>(
        &self,
        text: &Document<'t>,
        at: usize,
        node: NodeId,
    ) -> std::result::Result<(Cow<'t, [u8]>, usize), String> {
        let shape = self.shape;
        let kind = shape.node(node).kind;
        let word = text.raw(at);
        let made: Made<'t> = match (kind, text.what(at)) {
            (Kind::Boolean, Type::Word) if matches!(word, "TRUE" | "FALSE") => {
                Ok(contents::of_boolean(word == "TRUE").into())
            }
            (Kind::Boolean, _) => Err("TRUE or FALSE expected".to_owned()),
            (Kind::Null, Type::Word) if word == "NULL" => Ok(Cow::Borrowed(&[])),
            (Kind::Null, _) => Err("NULL expected".to_owned()),
            (Kind::Integer | Kind::Enumerated, Type::Word) => match contents::of_item(shape, node, word) {
                Some(contents) => Ok(contents.into()),
                None if word.starts_with(|first: char| first.is_ascii_alphabetic()) => {
                    Err(format!("no item `{}` in this {}", cut(word), kind.name()))
                }
                None => contents::of_integer(word).map(Cow::Owned),
            },
            (Kind::Real, Type::Word) => match word {
                "PLUS-INFINITY" => contents::of_real("INF").map(Cow::Owned),
                "MINUS-INFINITY" => contents::of_real("-INF").map(Cow::Owned),
                "NOT-A-NUMBER" => contents::of_real("NaN").map(Cow::Owned),
                "INF" | "-INF" | "NaN" => Err("a number expected".to_owned()),
                _ => contents::of_real(word).map(Cow::Owned),
            },
            (Kind::Real, Type::Open) => {
                let made = real_parts(text, at)?;
                return Ok((made, text.close(at) + 1));
            }
            (Kind::BitString, Type::Open) => {
                let made = self.named_bits(text, at, node)?;
                return Ok((made.into(), text.close(at) + 1));
            }
            (Kind::BitString, Type::Bits) => contents::of_bit_digits(word.bytes())
                .map(Cow::Owned)
                .ok_or_else(|| "the digits 0 and 1 expected".to_owned()),
            (Kind::BitString, Type::Hex) => of_hex_digits(word).map(Cow::Owned),
            (Kind::OctetString | Kind::Open, Type::Hex) => parse_hex(word.as_bytes())
                .map(Cow::Owned)
                .ok_or_else(|| "pairs of hexadecimal digits expected".to_owned()),
            (Kind::ObjectIdentifier | Kind::RelativeOid, Type::Word) => {
                contents::of_text(kind, word).unwrap_or_else(|| Err("another value expected".to_owned()))
            }
            (_, Type::Text) if !matches!(kind, Kind::ObjectIdentifier | Kind::RelativeOid) => {
                let made = match text.string(at) {
                    Cow::Borrowed(string) => contents::of_text(kind, string),
                    Cow::Owned(string) => contents::of_text(kind, &string)
                        .map(|made| made.map(|contents| contents.into_owned().into())),
                };
                made.unwrap_or_else(|| Err(format!("a value of {} expected", kind.name())))
            }
            _ => Err(format!("a value of {} expected", kind.name())),
        };
        made.map(|contents| (contents, at + 1))
    }

    fn named_bits(
        &self,
        text: &Document<'_>,
        at: usize,
        node: NodeId,
    ) -> std::result::Result<Vec<u8>, String> {
        let items = self.shape.items_of(node);
        let mut positions = Vec::new();
        for at in items_of(text, at)? {
            let name = text.raw(at);
            let known = items.iter().find(|item| self.shape.name(item.name) == name);
            let position = known.map(|item| item.value).filter(|value| *value < MAX_NAMED_BITS);
            let position = position.and_then(|value| u64::try_from(value).ok());
            let position = position.filter(|_| text.end_of_item(at) == at + 1);
            positions.push(position.ok_or_else(|| format!("no bit `{}` in this BIT STRING", cut(name)))?);
        }
        Ok(contents::of_named_bits(&positions, self.shape.least_size(node).min(MAX_NAMED_BITS as usize)))
    }

    /// RFC 3641 3.13: the components of a SEQUENCE in the order of the type, those of a SET in any.
    fn members(
        &mut self,
        text: &Document<'_>,
        at: usize,
        field: FieldId,
        node: NodeId,
        tape: &mut Tape,
    ) -> Result<usize> {
        let shape = self.shape;
        let it = shape.node(node);
        let mut values: Vec<Option<usize>> = vec![None; it.count as usize];
        let mut next = 0;
        for at in items_of(text, at).map_err(|message| text.error(at, message))? {
            let name = text.raw(at);
            if text.what(at) != Type::Word {
                return Err(text.error(at, "the name of a component expected"));
            }
            let field = shape.fields.get(it.first as usize + next).filter(|_| next < values.len());
            let index = match field {
                Some(field) if shape.name(field.name) == name => Some(next),
                _ => shape.fields_of(node).position(|(_, field)| shape.name(field.name) == name),
            };
            match index {
                Some(index) => {
                    if values.get_mut(index).and_then(|slot| slot.replace(at + 1)).is_some() {
                        return Err(text.error(at, format!("`{}` is there twice", cut(name))));
                    }
                    if index < next && it.kind == Kind::Sequence {
                        let message = format!("`{}` is not at its place in the SEQUENCE", cut(name));
                        return Err(text.error(at, message));
                    }
                    next = index + 1;
                }
                None if it.extensible || self.options.ignore_unknown => {}
                None => {
                    return Err(text.error(at, format!("no component `{}` in this type", cut(name))));
                }
            }
        }
        tape.open(field, node);
        let fields = || shape.fields_of(node).zip(&values);
        let keyed = fields().filter_map(|((_, field), value)| Some((field.key?, field.node, *value)));
        let keys: Vec<(u16, Option<Key>)> = keyed
            .map(|(register, node, value)| (register, value.and_then(|at| self.key(text, at, node, 0))))
            .collect();
        for ((id, component), value) in fields() {
            match value {
                Some(value) => {
                    // Values inside one of the same type have changed them.
                    for (register, key) in &keys {
                        if let Some(slot) = self.registers.get_mut(usize::from(*register)) {
                            slot.clone_from(key);
                        }
                    }
                    let end = self
                        .value(text, *value, id, component.node, tape)
                        .map_err(|error| error.inside(shape.name(component.name)))?;
                    if !matches!(text.what(end), Type::Comma | Type::Close) {
                        let error = text.error(end, "`,` or `}` expected");
                        return Err(error.inside(shape.name(component.name)));
                    }
                }
                None if component.presence == Presence::Mandatory && component.place == Place::Root => {
                    let error = text.error(at, "this mandatory component is missing");
                    return Err(error.inside(shape.name(component.name)));
                }
                None => {}
            }
        }
        tape.close(field, node);
        Ok(text.close(at) + 1)
    }

    fn key(&self, text: &Document<'_>, at: usize, node: NodeId, depth: u16) -> Option<Key> {
        let shape = self.shape;
        match shape.node(node).kind {
            Kind::Choice if depth < 8 => {
                let field = self.named(node, text.raw(at)).filter(|_| text.what(at + 1) == Type::Colon)?;
                let field = shape.field(field);
                let inner = self.key(text, at + 2, field.node, depth + 1)?;
                Some(Key::Alternative(field.name, Box::new(inner)))
            }
            kind if kind.is_constructed() || kind == Kind::Open => None,
            kind => contents::key_of(kind, &self.leaf(text, at, node).ok()?.0),
        }
    }

    fn named(&self, node: NodeId, name: &str) -> Option<FieldId> {
        let shape = self.shape;
        shape.fields_of(node).find(|(_, field)| shape.name(field.name) == name).map(|(id, _)| id)
    }

    /// 3.14.
    fn elements(
        &mut self,
        text: &Document<'_>,
        at: usize,
        field: FieldId,
        node: NodeId,
        tape: &mut Tape,
    ) -> Result<usize> {
        let Some((id, element)) = self.shape.fields_of(node).next() else {
            return Err(text.error(at, "the type of the elements is not known"));
        };
        let element = element.node;
        if text.what(at) != Type::Open {
            return Err(text.error(at, "`{` expected"));
        }
        tape.open(field, node);
        let close = text.close(at);
        let mut next = at + 1;
        let mut index = 0;
        while next < close {
            next = self.value(text, next, id, element, tape).map_err(|error| error.inside_element(index))?;
            match text.what(next) {
                Type::Comma if next + 1 < close => next += 1,
                Type::Close if next == close => {}
                _ => return Err(text.error(next, "`,` or `}` expected").inside_element(index)),
            }
            index += 1;
        }
        tape.close(field, node);
        Ok(close + 1)
    }

    /// 3.12, and 3.3: a string alone stands for the first alternative that can hold it.
    fn alternative(
        &mut self,
        text: &Document<'_>,
        at: usize,
        field: FieldId,
        node: NodeId,
        tape: &mut Tape,
    ) -> Result<usize> {
        let shape = self.shape;
        if text.what(at) == Type::Text && may_be_strings(shape, node) {
            let string = text.string(at);
            for (id, it) in shape.fields_of(node) {
                if let Some(Ok(contents)) = contents::of_text(shape.node(it.node).kind, &string) {
                    tape.open(field, node);
                    tape.leaf(id, it.node, Leaf::Made(&contents));
                    tape.close(field, node);
                    return Ok(at + 1);
                }
            }
            return Err(text.error(at, "no alternative has all these characters"));
        }
        if text.what(at) != Type::Word || text.what(at + 1) != Type::Colon {
            return Err(text.error(at, "the chosen alternative and `:` expected"));
        }
        let name = text.raw(at);
        let Some(id) = self.named(node, name) else {
            return Err(text.error(at, format!("no alternative `{}` in this CHOICE", cut(name))));
        };
        let it = shape.field(id);
        if let Some(register) = it.key {
            let key = self.key(text, at + 2, it.node, 0);
            if let Some(slot) = self.registers.get_mut(usize::from(register)) {
                *slot = key;
            }
        }
        tape.open(field, node);
        let end = self.value(text, at + 2, id, it.node, tape).map_err(|error| error.inside(name))?;
        tape.close(field, node);
        Ok(end)
    }

    /// The value if its type is known; else, and if it is none, the octets of a complete encoding.
    fn open_type(
        &mut self,
        text: &Document<'_>,
        at: usize,
        field: FieldId,
        node: NodeId,
        tape: &mut Tape,
    ) -> Result<usize> {
        if let Some(inner) = self.shape.selected(node, &self.registers) {
            let octets = matches!(self.shape.node(inner).kind, Kind::OctetString | Kind::BitString);
            if text.what(at) != Type::Hex || octets {
                tape.open(field, node);
                let end = self.value(text, at, FieldId::ROOT, inner, tape)?;
                tape.close(field, node);
                return Ok(end);
            }
        }
        let (contents, end) = self.leaf(text, at, node).map_err(|_| {
            text.error(at, "the type of this value is not known: an encoding in hexadecimal expected")
        })?;
        tape.leaf(field, node, Leaf::Made(&contents));
        Ok(end)
    }
}

/// Whether a CHOICE has string types only, each once (3.3).
pub(super) fn may_be_strings(shape: &Shape, node: NodeId) -> bool {
    let mut kinds: Vec<Kind> = shape.fields_of(node).map(|(_, field)| shape.node(field.node).kind).collect();
    let count = kinds.len();
    let strings = kinds.iter().all(|kind| kind.is_text() && kind.string_kind().is_some());
    kinds.sort();
    kinds.dedup();
    strings && kinds.len() == count
}

fn is_word(text: &Document<'_>, at: usize, word: &str) -> bool {
    text.what(at) == Type::Word && text.raw(at) == word
}

/// Where the items between braces begin.
fn items_of(text: &Document<'_>, at: usize) -> std::result::Result<Vec<usize>, String> {
    if text.what(at) != Type::Open {
        return Err("`{` expected".to_owned());
    }
    let close = text.close(at);
    let mut items = Vec::new();
    let mut next = at + 1;
    while next < close {
        items.push(next);
        next = text.end_of_item(next);
        if text.what(next) == Type::Comma {
            next += 1;
            if next == close {
                return Err("a comma without an item after it".to_owned());
            }
        }
    }
    Ok(items)
}

/// A BIT STRING in hexadecimal, four bits a digit.
fn of_hex_digits(digits: &str) -> std::result::Result<Vec<u8>, String> {
    let expected = || "hexadecimal digits expected".to_owned();
    let odd = digits.len() % 2 == 1;
    let padded = if odd { Cow::Owned(format!("{digits}0")) } else { Cow::Borrowed(digits) };
    let octets = parse_hex(padded.as_bytes()).ok_or_else(expected)?;
    contents::of_bits(&octets, digits.len() as u64 * 4)
}

/// `{ mantissa 1, base 2, exponent 3 }` (3.19).
fn real_parts(text: &Document<'_>, at: usize) -> Made<'static> {
    let mut parts = ["", "", ""];
    let items = items_of(text, at)?;
    for (i, name) in ["mantissa", "base", "exponent"].into_iter().enumerate() {
        let item = items.get(i).copied().filter(|at| is_word(text, *at, name) && items.len() == 3);
        let value = item.map(|at| at + 1).filter(|at| text.what(*at) == Type::Word);
        let value = value.filter(|at| text.end_of_item(*at) == at + 1);
        parts[i] = value.map(|at| text.raw(at)).ok_or("mantissa, base and exponent expected")?;
    }
    let [mantissa, base, exponent] = parts;
    contents::of_real_parts(mantissa, base, exponent).map(Cow::Owned)
}
