//! XML text to a tape, guided by the schema.

use super::canonical;
use super::document::{Content, Document, Element, Item, is_white_octet};
use super::names::{content_name, control, element_name, is_value_list, item_name, root_name};
use super::variant::Variant;
use crate::contents;
use crate::event::{Leaf, Sink};
use crate::path::last;
use crate::read_error::{ReadError, check_depth, cut};
use crate::source::InPath;
use crate::tape::Tape;
use crate::text::parse_hex;
use std::borrow::Cow;
use std::collections::HashMap;
use tercet_plan::shape::{Key, Place, Presence};
use tercet_plan::{FieldId, Kind, NodeId, Shape};

type Result<T> = std::result::Result<T, ReadError>;

/// What XML text is accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadOptions {
    /// Which of the rules; basic XER unless told. Of canonical XER nothing but the one text of the value is accepted.
    pub variant: Variant,
    /// Whether elements that the schema does not know are passed over in every type, not only in extensible ones.
    pub ignore_unknown: bool,
    /// Elements inside one another; 128 unless told, no more than 1,000 count.
    pub depth: u16,
    /// The name of the outermost element; unless told, any that the type has.
    pub root: Option<String>,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self { variant: Variant::Basic, ignore_unknown: false, depth: 64, root: None }
    }
}

/// Reads an XML text as a value of type `root` onto a tape, which is cleared first.
///
/// Components of a SEQUENCE come in the order of the type, those of a SET in any; white space between elements does not
/// count. Constraints are not checked.
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
    /// Fields by name, of nodes with many, once they were met.
    names: HashMap<NodeId, HashMap<&'s str, usize>>,
    /// What the tables of open types are looked up with.
    registers: Vec<Option<Key>>,
}

/// From so many fields on names are looked up by hashing.
const MANY_FIELDS: u32 = 12;

/// Bits that names of bits may make: what is made from a few letters stays small.
const MAX_NAMED_BITS: i64 = 1 << 20;

impl<'s> Reader<'s> {
    /// A reader of values of a shape.
    pub fn new(shape: &'s Shape, options: ReadOptions) -> Self {
        Self { shape, options, names: HashMap::new(), registers: vec![None; usize::from(shape.registers)] }
    }

    /// See [`read`].
    ///
    /// # Errors
    /// See [`read`].
    pub fn read(&mut self, root: NodeId, text: &[u8], tape: &mut Tape) -> Result<()> {
        tape.clear();
        self.registers.fill(None);
        let document = Document::parse(text, self.options.depth)?;
        let Some(element) = document.root() else { return Err(document.error(0, "there is no element")) };
        if !self.is_root(root, element.name) {
            let own = root_name(self.shape, root);
            let name = self.options.root.as_deref().unwrap_or(&own);
            let message = format!("the outermost element is `{}`, not `{name}`", cut(element.name));
            return Err(document.error(element.content.at, message));
        }
        self.value(&document, element.content, FieldId::ROOT, root, tape)
            .map_err(|e| e.inside(element.name))?;
        check_depth(text, tape, self.options.depth)?;
        if self.options.variant == Variant::Canonical {
            canonical::check(self.shape, text, tape.view(&[]), element.name)?;
        }
        Ok(())
    }

    fn is_root(&self, root: NodeId, name: &str) -> bool {
        let shape = self.shape;
        if let Some(wanted) = &self.options.root {
            return element_name(wanted) == name;
        }
        let of_node = shape.roots.iter().filter(|it| it.node == root);
        root_name(shape, root) == name
            || of_node.map(|it| last(shape.name(it.name))).any(|it| element_name(it) == name)
    }

    fn value(
        &mut self,
        text: &Document<'_>,
        at: Content,
        field: FieldId,
        node: NodeId,
        tape: &mut Tape,
    ) -> Result<()> {
        let it = self.shape.node(node);
        match it.kind {
            Kind::Sequence | Kind::Set => self.members(text, at, field, node, tape),
            Kind::SequenceOf | Kind::SetOf => self.elements(text, at, field, node, tape),
            Kind::Choice => self.alternative(text, at, field, node, tape),
            Kind::Open => self.open_type(text, at, field, node, tape),
            Kind::OctetString | Kind::BitString => {
                let inner = it.containing.and_then(|inner| Some((inner, single(text, at)?)));
                match inner.filter(|(inner, element)| content_name(self.shape, node, *inner) == element.name)
                {
                    Some((inner, element)) => {
                        tape.open(field, node);
                        self.value(text, element.content, FieldId::ROOT, inner, tape)
                            .map_err(|error| error.inside(element.name))?;
                        tape.close(field, node);
                        Ok(())
                    }
                    None => self.primitive(text, at, field, node, tape),
                }
            }
            _ => self.primitive(text, at, field, node, tape),
        }
    }

    fn primitive(
        &self,
        text: &Document<'_>,
        at: Content,
        field: FieldId,
        node: NodeId,
        tape: &mut Tape,
    ) -> Result<()> {
        let contents = self.leaf(text, at, node).map_err(|message| text.error(at.at, message))?;
        if self.options.variant == Variant::Canonical
            && (text.elements(at).next().is_none() || self.shape.node(node).kind == Kind::BitString)
        {
            let characters = characters(text, at).unwrap_or_default();
            canonical::check_leaf(self.shape, node, &contents, &characters)
                .map_err(|message| text.error(at.at, message))?;
        }
        tape.leaf(field, node, Leaf::Made(&contents));
        Ok(())
    }

    /// Contents octets of a primitive value.
    pub(super) fn leaf(
        &self,
        text: &Document<'_>,
        at: Content,
        node: NodeId,
    ) -> std::result::Result<Vec<u8>, String> {
        let shape = self.shape;
        let kind = shape.node(node).kind;
        let expected = |what: &str| Err(format!("{what} expected"));
        // Values of these have an empty element or characters.
        let word = match kind {
            Kind::Boolean | Kind::Integer | Kind::Enumerated | Kind::Real => empty_element(text, at)?,
            _ => None,
        };
        match kind {
            Kind::Boolean => match &*word.map_or_else(|| plain(text, at), |name| Ok(Cow::Borrowed(name)))? {
                "true" => Ok(contents::of_boolean(true).to_vec()),
                "false" => Ok(contents::of_boolean(false).to_vec()),
                _ => expected("<true/> or <false/>"),
            },
            Kind::Integer => match word {
                Some(name) => contents::of_item(shape, node, name)
                    .ok_or_else(|| format!("no number `{}` in this INTEGER", cut(name))),
                None => contents::of_integer(&plain(text, at)?),
            },
            Kind::Enumerated => {
                let name = word.map_or_else(|| plain(text, at), |name| Ok(Cow::Borrowed(name)))?;
                match contents::of_item(shape, node, &name) {
                    Some(contents) => Ok(contents),
                    None if word.is_none()
                        && name.starts_with(|first: char| first == '-' || first.is_ascii_digit()) =>
                    {
                        contents::of_integer(&name)
                    }
                    None => Err(format!("no item `{}` in this ENUMERATED", cut(&name))),
                }
            }
            Kind::Real => match word {
                Some("PLUS-INFINITY") => contents::of_real("INF"),
                Some("MINUS-INFINITY") => contents::of_real("-INF"),
                Some("NOT-A-NUMBER") => contents::of_real("NaN"),
                Some(_) => expected("a number"),
                None if text.elements(at).next().is_some() => real_parts(text, at),
                // The notation has a full stop (X.680 12.9), where ISO 6093 has a comma as well.
                None => match plain(text, at)? {
                    number if number.contains(',') => expected("a number with a full stop"),
                    number => contents::of_real(&number),
                },
            },
            Kind::BitString if text.elements(at).next().is_some() => self.named_bits(text, at, node),
            Kind::BitString => {
                let digits = characters(text, at)?;
                let digits = digits.bytes().filter(|octet| !is_white_octet(*octet));
                contents::of_bit_digits(digits).ok_or_else(|| "the digits 0 and 1 expected".to_owned())
            }
            Kind::OctetString => hexadecimal(text, at),
            Kind::Null => match text.items(at).next() {
                None => Ok(Vec::new()),
                Some(_) if plain(text, at)?.is_empty() => Ok(Vec::new()),
                Some(_) => expected("nothing"),
            },
            Kind::ObjectIdentifier | Kind::RelativeOid => {
                let text = numbers(plain(text, at)?);
                contents::of_text(kind, &text)
                    .map_or_else(|| expected("another value"), |made| Ok(made?.into_owned()))
            }
            _ => {
                let text = if kind.is_text() { string(text, at)? } else { plain(text, at)? };
                match contents::of_text(kind, &text) {
                    Some(made) => made.map(Cow::into_owned),
                    None => expected("another value"),
                }
            }
        }
    }

    fn named_bits(
        &self,
        text: &Document<'_>,
        at: Content,
        node: NodeId,
    ) -> std::result::Result<Vec<u8>, String> {
        let items = self.shape.items_of(node);
        let mut positions = Vec::new();
        for element in text.elements(at) {
            let item = items.iter().find(|item| self.shape.name(item.name) == element.name);
            let position = item.map(|item| item.value).filter(|value| *value < MAX_NAMED_BITS);
            let position = position.and_then(|value| u64::try_from(value).ok());
            positions
                .push(position.ok_or_else(|| format!("no bit `{}` in this BIT STRING", cut(element.name)))?);
            if element.content.begin != element.content.end {
                return Err(format!("<{}/> expected", cut(element.name)));
            }
        }
        if text.has_text(at) {
            return Err("bits and names of bits together".to_owned());
        }
        Ok(contents::of_named_bits(&positions, self.shape.least_size(node).min(MAX_NAMED_BITS as usize)))
    }

    /// X.680 clauses 25 and 27.
    fn members(
        &mut self,
        text: &Document<'_>,
        at: Content,
        field: FieldId,
        node: NodeId,
        tape: &mut Tape,
    ) -> Result<()> {
        if text.has_text(at) {
            return Err(text.error(at.at, "characters between the components"));
        }
        let shape = self.shape;
        let it = shape.node(node);
        let mut values: Vec<Option<Content>> = vec![None; it.count as usize];
        let mut next = 0;
        for element in text.elements(at) {
            match self.field_index(node, element.name, next) {
                Some(index) => {
                    if values.get_mut(index).and_then(|slot| slot.replace(element.content)).is_some() {
                        return Err(
                            text.error(element.content.at, format!("`{}` is there twice", cut(element.name)))
                        );
                    }
                    if index < next && it.kind == Kind::Sequence {
                        let message = format!("`{}` is not at its place in the SEQUENCE", cut(element.name));
                        return Err(text.error(element.content.at, message));
                    }
                    next = index + 1;
                }
                None if it.extensible || self.options.ignore_unknown => {}
                None => {
                    let message = format!("no component `{}` in this type", cut(element.name));
                    return Err(text.error(element.content.at, message));
                }
            }
        }
        tape.open(field, node);
        let fields = || shape.fields_of(node).zip(&values);
        let keyed = fields().filter_map(|((_, field), value)| Some((field.key?, field.node, *value)));
        let keys: Vec<(u16, Option<Key>)> = keyed
            .map(|(register, node, value)| (register, value.and_then(|at| self.key(text, at, node))))
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
                    self.value(text, *value, id, component.node, tape)
                        .map_err(|error| error.inside(shape.name(component.name)))?;
                }
                None if component.presence == Presence::Mandatory && component.place == Place::Root => {
                    let error = text.error(at.at, "this mandatory component is missing");
                    return Err(error.inside(shape.name(component.name)));
                }
                None => {}
            }
        }
        tape.close(field, node);
        Ok(())
    }

    /// Whether unknown elements are passed over everywhere.
    pub(super) fn ignores_unknown(&self) -> bool {
        self.options.ignore_unknown
    }

    /// Keeps a key for the open types that it decides about.
    pub(super) fn set_key(&mut self, register: u16, key: Option<Key>) {
        if let Some(slot) = self.registers.get_mut(usize::from(register)) {
            *slot = key;
        }
    }

    /// The type in an open type that the keys select.
    pub(super) fn selected(&self, node: NodeId) -> Option<NodeId> {
        self.shape.selected(node, &self.registers)
    }

    /// The number of a field by its name, which is probably the given one.
    fn field_index(&mut self, node: NodeId, name: &str, probably: usize) -> Option<usize> {
        let shape = self.shape;
        let it = shape.node(node);
        let field = shape.fields.get(it.first as usize + probably).filter(|_| probably < it.count as usize);
        if field.is_some_and(|field| shape.name(field.name) == name) {
            return Some(probably);
        }
        if it.count < MANY_FIELDS {
            return shape.fields_of(node).position(|(_, field)| shape.name(field.name) == name);
        }
        let names = self.names.entry(node).or_insert_with(|| {
            shape.fields_of(node).enumerate().map(|(i, (_, field))| (shape.name(field.name), i)).collect()
        });
        names.get(name).copied()
    }

    fn key(&mut self, text: &Document<'_>, at: Content, node: NodeId) -> Option<Key> {
        let shape = self.shape;
        match shape.node(node).kind {
            Kind::Choice => {
                let element = single(text, at)?;
                let index = self.field_index(node, element.name, 0)?;
                let field = shape.field(FieldId(shape.node(node).first + index as u32));
                let contents = self.leaf_of(text, element.content, field.node)?;
                let inner = contents::key_of(shape.node(field.node).kind, &contents)?;
                Some(Key::Alternative(field.name, Box::new(inner)))
            }
            kind => contents::key_of(kind, &self.leaf_of(text, at, node)?),
        }
    }

    fn leaf_of(&self, text: &Document<'_>, at: Content, node: NodeId) -> Option<Vec<u8>> {
        let kind = self.shape.node(node).kind;
        if kind.is_constructed() || kind == Kind::Open { None } else { self.leaf(text, at, node).ok() }
    }

    /// X.680 clauses 26 and 28 with Table 5.
    fn elements(
        &mut self,
        text: &Document<'_>,
        at: Content,
        field: FieldId,
        node: NodeId,
        tape: &mut Tape,
    ) -> Result<()> {
        let shape = self.shape;
        let Some((id, element)) = shape.fields_of(node).next() else {
            return Err(text.error(at.at, "the type of the elements is not known"));
        };
        if text.has_text(at) {
            return Err(text.error(at.at, "characters between the elements"));
        }
        let name = item_name(shape, element);
        // Some software puts an element around these values nevertheless.
        let bare = is_value_list(shape, element);
        let is_alternative = bare
            && shape.fields_of(element.node).any(|(_, alternative)| shape.name(alternative.name) == name);
        tape.open(field, node);
        for (index, item) in text.elements(at).enumerate() {
            let around = item.name == name && !is_alternative;
            if !around && !bare {
                let message = format!("`{name}` expected, `{}` found", cut(item.name));
                return Err(text.error(item.content.at, message).inside_element(index));
            }
            let content = if around { item.content } else { item.itself };
            self.value(text, content, id, element.node, tape).map_err(|error| error.inside_element(index))?;
        }
        tape.close(field, node);
        Ok(())
    }

    /// X.680 clause 29.
    fn alternative(
        &mut self,
        text: &Document<'_>,
        at: Content,
        field: FieldId,
        node: NodeId,
        tape: &mut Tape,
    ) -> Result<()> {
        let shape = self.shape;
        let Some(element) = single(text, at) else {
            return Err(text.error(at.at, "one element, the chosen alternative, expected"));
        };
        let Some(index) = self.field_index(node, element.name, 0) else {
            let message = format!("no alternative `{}` in this CHOICE", cut(element.name));
            return Err(text.error(element.content.at, message));
        };
        let id = FieldId(shape.node(node).first + index as u32);
        let it = shape.field(id);
        if let Some(register) = it.key {
            let key = self.key(text, element.content, it.node);
            if let Some(slot) = self.registers.get_mut(usize::from(register)) {
                *slot = key;
            }
        }
        tape.open(field, node);
        self.value(text, element.content, id, it.node, tape)
            .map_err(|error| error.inside(shape.name(it.name)))?;
        tape.close(field, node);
        Ok(())
    }

    /// The content in an element with the name of its type, or the octets of a complete encoding (X.680 14.6).
    fn open_type(
        &mut self,
        text: &Document<'_>,
        at: Content,
        field: FieldId,
        node: NodeId,
        tape: &mut Tape,
    ) -> Result<()> {
        let Some(element) = single(text, at) else {
            let octets = hexadecimal(text, at).map_err(|_| {
                text.error(
                    at.at,
                    "a value in an element of its type's name, or bytes in hexadecimal expected",
                )
            })?;
            tape.leaf(field, node, Leaf::Made(&octets));
            return Ok(());
        };
        let Some(inner) = self.content_type(node, element.name) else {
            let message = format!("no type `{}` is known here", cut(element.name));
            return Err(text.error(element.content.at, message));
        };
        tape.open(field, node);
        self.value(text, element.content, FieldId::ROOT, inner, tape)
            .map_err(|error| error.inside(element.name))?;
        tape.close(field, node);
        Ok(())
    }

    /// The type in an open type: the one that the keys select, if the name is its; else any of the table.
    pub(super) fn content_type(&self, node: NodeId, name: &str) -> Option<NodeId> {
        let shape = self.shape;
        if let Some(table) = &shape.node(node).table {
            let keys: Option<Vec<Key>> = table
                .keys
                .iter()
                .map(|register| self.registers.get(usize::from(*register))?.clone())
                .collect();
            let row = keys.filter(|keys| !keys.is_empty()).and_then(|keys| shape.row(table.table, &keys));
            if let Some(row) = row
                && (content_name(shape, node, row.node) == name || root_name(shape, row.node) == name)
            {
                return Some(row.node);
            }
            let rows = shape.tables.get(table.table as usize).map_or(&[][..], |table| &table.rows);
            let is_it = |row: &&tercet_plan::shape::Row| match row.type_name {
                Some(known) => element_name(last(shape.name(known))) == name,
                None => root_name(shape, row.node) == name,
            };
            if let Some(row) = rows.iter().find(is_it) {
                return Some(row.node);
            }
        }
        shape.root(name)
    }
}

/// The only element of a range without characters beside it.
fn single<'d>(text: &'d Document<'_>, at: Content) -> Option<Element<'d>> {
    let mut elements = text.elements(at);
    let element = elements.next()?;
    (elements.next().is_none() && !text.has_text(at)).then_some(element)
}

/// The name of the empty element that is all there is.
fn empty_element<'d>(text: &'d Document<'_>, at: Content) -> std::result::Result<Option<&'d str>, String> {
    match single(text, at) {
        Some(element) if element.content.begin == element.content.end => Ok(Some(element.name)),
        Some(element) => Err(format!("<{}/> expected", cut(element.name))),
        None => Ok(None),
    }
}

/// The characters where no elements may be.
fn characters<'d>(text: &'d Document<'_>, at: Content) -> std::result::Result<Cow<'d, str>, String> {
    let mut items = text.items(at);
    match (items.next(), items.next()) {
        (None, _) => Ok(Cow::Borrowed("")),
        (Some(Item::Text(text)), None) => Ok(Cow::Borrowed(text)),
        _ => Err("characters expected, elements found".to_owned()),
    }
}

/// The same without white space at the ends.
/// `iso(1).member-body(2).840` without the names (X.680 §32.3, §33.3).
fn numbers(text: Cow<'_, str>) -> Cow<'_, str> {
    if !text.contains('(') {
        return text;
    }
    let number = |part: &str| match part.split_once('(') {
        Some((name, number)) if !name.is_empty() && number.ends_with(')') => {
            number.trim_end_matches(')').to_owned()
        }
        _ => part.to_owned(),
    };
    text.split('.').map(number).collect::<Vec<_>>().join(".").into()
}

fn plain<'d>(text: &'d Document<'_>, at: Content) -> std::result::Result<Cow<'d, str>, String> {
    let white = |letter: char| matches!(letter, ' ' | '\t' | '\n' | '\r');
    Ok(match characters(text, at)? {
        Cow::Borrowed(text) => Cow::Borrowed(text.trim_matches(white)),
        Cow::Owned(text) => Cow::Owned(text.trim_matches(white).to_owned()),
    })
}

/// The value of a character string type: control characters are elements (X.680 12.15.5).
pub(super) fn string<'d>(text: &'d Document<'_>, at: Content) -> std::result::Result<Cow<'d, str>, String> {
    if let Ok(characters) = characters(text, at) {
        return Ok(characters);
    }
    let mut out = String::new();
    for item in text.items(at) {
        match item {
            Item::Text(text) => out.push_str(text),
            Item::Element(element) => {
                let letter = control(element.name).filter(|_| element.content.begin == element.content.end);
                out.push(
                    letter.ok_or_else(|| format!("`{}` is not a control character", cut(element.name)))?,
                );
            }
        }
    }
    Ok(Cow::Owned(out))
}

/// Octets in hexadecimal, white space anywhere (X.680 12.14).
fn hexadecimal(text: &Document<'_>, at: Content) -> std::result::Result<Vec<u8>, String> {
    let characters = characters(text, at)?;
    let octets = match parse_hex(characters.as_bytes()) {
        Some(octets) => Some(octets),
        None => {
            let digits: Vec<u8> = characters.bytes().filter(|octet| !is_white_octet(*octet)).collect();
            parse_hex(&digits)
        }
    };
    octets.ok_or_else(|| "pairs of hexadecimal digits expected".to_owned())
}

/// A REAL as the value of its associated type (X.680 21.5).
fn real_parts(text: &Document<'_>, at: Content) -> std::result::Result<Vec<u8>, String> {
    let mut parts = text.elements(at);
    let mut part = |name: &str| match parts.next() {
        Some(element) if element.name == name => plain(text, element.content),
        _ => Err("a number, or mantissa, base and exponent expected".to_owned()),
    };
    contents::of_real_parts(&part("mantissa")?, &part("base")?, &part("exponent")?)
}
