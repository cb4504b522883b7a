//! XML text to a tape, guided by the schema.

use super::canonical;
use super::document::{Content, Document, Element, Item, is_white_octet};
use super::extents::Extents;
use super::names::{content_name, control, element_name, is_value_list, item_name, root_name};
use super::variant::Variant;
use crate::contents;
use crate::contents::ContentsError;
use crate::event::Sink;
use crate::path::last;
use crate::read_error::{ReadError, cut};
use crate::source::{
    Alternative, Content as Inside, Driver, Fault, Found, InPath, Memory, Notation, Notes, Primitive, Ranges,
    Source, TextRange,
};
use crate::tape::Tape;
use crate::text::parse_hex;
use std::borrow::Cow;
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
    /// Values with parts inside one another, as [`crate::Limits::depth`]: 64 unless specified.
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
    options: ReadOptions,
    memory: Memory<'s>,
}

impl<'s> Reader<'s> {
    /// Makes a reader of values of a shape.
    pub fn new(shape: &'s Shape, options: ReadOptions) -> Self {
        Self { options, memory: Memory::new(shape) }
    }

    /// See [`read`].
    ///
    /// # Errors
    /// See [`read`].
    pub fn read(&mut self, root: NodeId, text: &[u8], tape: &mut Tape) -> Result<()> {
        let document = Document::parse(text, self.options.depth)?;
        self.read_noted(root, (text, &document, None), tape, ())
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
        ranges.begin(Notation::Xml);
        let document = Document::parse(text, self.options.depth)?;
        let extents = Extents::of(document.text());
        let outcome = self.read_noted(root, (text, &document, Some(&extents)), tape, &mut *ranges);
        // A byte order mark is in front.
        ranges.shift((text.len() - document.text().len()) as u32);
        outcome
    }

    fn read_noted(
        &mut self,
        root: NodeId,
        (text, document, extents): (&[u8], &Document<'_>, Option<&Extents>),
        tape: &mut Tape,
        notes: impl Notes,
    ) -> Result<()> {
        let (shape, options) = (self.memory.shape(), &self.options);
        let Some(element) = document.root() else { return Err(document.error(0, "there is no element")) };
        if !is_root(shape, options, root, element.name) {
            let own = root_name(shape, root);
            let name = options.root.as_deref().unwrap_or(&own);
            let message = format!("the outermost element is `{}`, not `{name}`", cut(element.name));
            return Err(document.error(element.content.at, message));
        }
        let xml = Text { shape, options, text: document, extents };
        Driver::read_noted(&xml, &mut self.memory, root, element.content, tape, options.depth, notes)
            .map_err(|error| error.inside(element.name))?;
        tape.within(options.depth);
        if options.variant == Variant::Canonical {
            canonical::check(shape, text, tape.view(&[]), element.name)?;
        }
        Ok(())
    }
}

/// An XML text as a source of values.
#[derive(Debug)]
pub(super) struct Text<'a> {
    pub(super) shape: &'a Shape,
    pub(super) options: &'a ReadOptions,
    pub(super) text: &'a Document<'a>,
    /// Where elements end, if ranges are asked for.
    pub(super) extents: Option<&'a Extents>,
}

/// The elements of a list that are not read yet.
#[derive(Debug)]
pub(super) struct Elements<'a> {
    rest: Content,
    /// The name of an element.
    name: Cow<'a, str>,
    /// Whether values may be there without an element around each.
    is_bare: bool,
    /// Whether an element of that name is an alternative of the value.
    is_alternative: bool,
}

impl<'a> Source for Text<'a> {
    /// What is in an element.
    type At = Content;
    type Elements = Elements<'a>;
    type Name = &'a str;
    type Error = ReadError;

    fn fault(&self, at: &Content, fault: Fault<'_>) -> ReadError {
        self.text.error(at.at, fault.to_string())
    }

    fn ignores_unknown(&self) -> bool {
        self.options.ignore_unknown
    }

    fn is_ordered(&self) -> bool {
        true
    }

    /// X.680 clauses 25 and 27.
    fn components(&self, at: &Content, found: &mut Found<'_, '_, Self>) -> Result<()> {
        if self.text.has_text(*at) {
            return Err(self.text.error(at.at, "characters between the components"));
        }
        for element in self.text.elements(*at) {
            found.put(element.name, &element.content, element.content)?;
        }
        Ok(())
    }

    /// X.680 clauses 26 and 28 with Table 5.
    fn elements(&self, at: &Content, _: FieldId, node: NodeId) -> Result<Elements<'a>> {
        let shape = self.shape;
        if self.text.has_text(*at) {
            return Err(self.text.error(at.at, "characters between the elements"));
        }
        let Some((_, element)) = shape.fields_of(node).next() else {
            return Err(self.fault(at, Fault::NoElement));
        };
        let name = item_name(shape, element);
        // Some software puts an element around these values nevertheless.
        let is_bare = is_value_list(shape, element);
        let is_alternative = is_bare
            && shape.fields_of(element.node).any(|(_, alternative)| shape.name(alternative.name) == name);
        Ok(Elements { rest: *at, name, is_bare, is_alternative })
    }

    fn next_element(&self, elements: &mut Elements<'a>) -> Result<Option<Content>> {
        let Some(item) = self.text.elements(elements.rest).next() else { return Ok(None) };
        elements.rest.begin = item.itself.end;
        let name = &*elements.name;
        if item.name == name && !elements.is_alternative {
            Ok(Some(item.content))
        } else if elements.is_bare {
            Ok(Some(item.itself))
        } else {
            let message = format!("`{name}` expected, `{}` found", cut(item.name));
            Err(self.text.error(item.content.at, message))
        }
    }

    /// X.680 clause 29.
    fn alternative(&self, at: &Content, _: FieldId, _: NodeId) -> Result<Alternative<Self>> {
        match single(self.text, *at) {
            Some(element) => Ok(Alternative::Named(element.name, element.content, element.content)),
            None => Err(self.text.error(at.at, "one element, the chosen alternative, expected")),
        }
    }

    /// The content in an element with the name of its type, or the octets of a complete encoding (X.680 14.6).
    fn content(&self, at: &Content, open: NodeId, selected: Option<NodeId>) -> Result<Inside<Self>> {
        let Some(element) = single(self.text, *at) else { return Ok(Inside::Encoding(*at)) };
        match content_type(self.shape, open, element.name, selected) {
            Some(inner) => Ok(Inside::Value(inner, element.content, Some(element.name))),
            None => Err(self.fault(&element.content, Fault::NoType(element.name))),
        }
    }

    fn contained(&self, at: &Content, node: NodeId, inner: NodeId) -> Result<Inside<Self>> {
        Ok(match single(self.text, *at) {
            Some(element) if content_name(self.shape, node, inner) == element.name => {
                Inside::Value(inner, element.content, Some(element.name))
            }
            _ => Inside::Encoding(*at),
        })
    }

    fn range(&self, at: &Content) -> Option<TextRange> {
        let element = self.extents?.element(at.at)?;
        // An element that is the value itself has no name.
        let value = if self.text.is_itself(*at) { element.whole.clone() } else { element.content };
        Some(TextRange::new(element.whole, value))
    }

    fn leaf<'v>(&'v self, at: &'v Content, _: FieldId, node: NodeId) -> Result<Primitive<'v>> {
        let (text, at) = (self.text, *at);
        let kind = self.shape.node(node).kind;
        if kind == Kind::Open {
            let message = "a value in an element of its type's name, or bytes in hexadecimal expected";
            return hexadecimal(text, at).map(Primitive::from).map_err(|_| text.error(at.at, message));
        }
        let contents = self.contents(at, node).map_err(|message| text.error(at.at, message))?;
        if self.options.variant == Variant::Canonical
            && (text.elements(at).next().is_none() || kind == Kind::BitString)
        {
            let characters = characters(text, at).unwrap_or_default();
            canonical::check_leaf(self.shape, node, &contents, &characters)
                .map_err(|message| text.error(at.at, message))?;
        }
        Ok(contents.into())
    }
}

impl Text<'_> {
    /// Contents octets of a primitive value.
    pub(super) fn contents(&self, at: Content, node: NodeId) -> std::result::Result<Vec<u8>, ContentsError> {
        let (shape, text) = (self.shape, self.text);
        let kind = shape.node(node).kind;
        let expected = |what: &str| Err(format!("{what} expected").into());
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
                    .ok_or_else(|| format!("no number `{}` in this INTEGER", cut(name)).into()),
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
                    None => Err(format!("no item `{}` in this ENUMERATED", cut(&name)).into()),
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
            Kind::BitString if text.elements(at).next().is_some() => self.named_bits(at, node),
            Kind::BitString => {
                let digits = characters(text, at)?;
                let digits = digits.bytes().filter(|octet| !is_white_octet(*octet));
                contents::of_bit_digits(digits).ok_or_else(|| "the digits 0 and 1 expected".into())
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

    fn named_bits(&self, at: Content, node: NodeId) -> std::result::Result<Vec<u8>, ContentsError> {
        let text = self.text;
        let made = contents::of_bit_names(self.shape, node, text.elements(at).map(|element| element.name))?;
        if let Some(element) = text.elements(at).find(|it| it.content.begin != it.content.end) {
            return Err(format!("<{}/> expected", cut(element.name)).into());
        }
        if text.has_text(at) {
            return Err("bits and names of bits together".into());
        }
        Ok(made)
    }
}

/// Returns whether the outermost element may have this name.
fn is_root(shape: &Shape, options: &ReadOptions, root: NodeId, name: &str) -> bool {
    if let Some(root) = &options.root {
        return element_name(root) == name;
    }
    let of_node = shape.roots.iter().filter(|it| it.node == root);
    root_name(shape, root) == name
        || of_node.map(|it| last(shape.name(it.name))).any(|it| element_name(it) == name)
}

/// Returns the type in an open type: the one that the keys select, if the name is its; else any of the table.
pub(super) fn content_type(
    shape: &Shape,
    open: NodeId,
    name: &str,
    selected: Option<NodeId>,
) -> Option<NodeId> {
    let has_name =
        |node: &NodeId| content_name(shape, open, *node) == name || root_name(shape, *node) == name;
    let table = shape.node(open).table.as_ref().and_then(|table| shape.tables.get(table.table as usize));
    let is_it = |row: &&tercet_plan::shape::Row| match row.type_name {
        Some(known) => element_name(last(shape.name(known))) == name,
        None => root_name(shape, row.node) == name,
    };
    selected
        .filter(has_name)
        .or_else(|| table?.rows.iter().find(is_it).map(|row| row.node))
        .or_else(|| shape.root(name))
}

/// The only element of a range without characters beside it.
fn single<'d>(text: &'d Document<'_>, at: Content) -> Option<Element<'d>> {
    let mut elements = text.elements(at);
    let element = elements.next()?;
    (elements.next().is_none() && !text.has_text(at)).then_some(element)
}

/// The name of the empty element that is all there is.
fn empty_element<'d>(
    text: &'d Document<'_>,
    at: Content,
) -> std::result::Result<Option<&'d str>, ContentsError> {
    match single(text, at) {
        Some(element) if element.content.begin == element.content.end => Ok(Some(element.name)),
        Some(element) => Err(format!("<{}/> expected", cut(element.name)).into()),
        None => Ok(None),
    }
}

/// The characters where no elements may be.
fn characters<'d>(text: &'d Document<'_>, at: Content) -> std::result::Result<Cow<'d, str>, ContentsError> {
    let mut items = text.items(at);
    match (items.next(), items.next()) {
        (None, _) => Ok(Cow::Borrowed("")),
        (Some(Item::Text(text)), None) => Ok(Cow::Borrowed(text)),
        _ => Err("characters expected, elements found".into()),
    }
}

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

/// The characters without white space at the ends.
fn plain<'d>(text: &'d Document<'_>, at: Content) -> std::result::Result<Cow<'d, str>, ContentsError> {
    let white = |letter: char| matches!(letter, ' ' | '\t' | '\n' | '\r');
    Ok(match characters(text, at)? {
        Cow::Borrowed(text) => Cow::Borrowed(text.trim_matches(white)),
        Cow::Owned(text) => Cow::Owned(text.trim_matches(white).to_owned()),
    })
}

/// The value of a character string type: control characters are elements (X.680 12.15.5).
pub(super) fn string<'d>(
    text: &'d Document<'_>,
    at: Content,
) -> std::result::Result<Cow<'d, str>, ContentsError> {
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
fn hexadecimal(text: &Document<'_>, at: Content) -> std::result::Result<Vec<u8>, ContentsError> {
    let characters = characters(text, at)?;
    let octets = match parse_hex(characters.as_bytes()) {
        Some(octets) => Some(octets),
        None => {
            let digits: Vec<u8> = characters.bytes().filter(|octet| !is_white_octet(*octet)).collect();
            parse_hex(&digits)
        }
    };
    octets.ok_or_else(|| "pairs of hexadecimal digits expected".into())
}

/// A REAL as the value of its associated type (X.680 21.5).
fn real_parts(text: &Document<'_>, at: Content) -> std::result::Result<Vec<u8>, ContentsError> {
    let mut parts = text.elements(at);
    let mut part = |name: &str| match parts.next() {
        Some(element) if element.name == name => plain(text, element.content),
        _ => Err("a number, or mantissa, base and exponent expected".into()),
    };
    contents::of_real_parts(&part("mantissa")?, &part("base")?, &part("exponent")?)
}
