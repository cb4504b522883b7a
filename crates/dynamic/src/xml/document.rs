//! The structure of an XML text: one flat array of elements and texts that know where they end.
//!
//! What XML allows and values never need is refused: DOCTYPE, and with it all entities but the five of XML itself;
//! attributes other than those of namespaces and schema instances, and more than [`MAX_ATTRIBUTES`] of these. Comments
//! and processing instructions are passed over. Nothing here is recursive, and depth is limited.

use crate::contents::ContentsError;
use crate::read_error::{ReadError, TOO_DEEP, cut, levels};
use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::{Reader, XmlVersion};
use std::ops::Range;

type Result<T> = std::result::Result<T, ReadError>;

/// Attributes of one element.
const MAX_ATTRIBUTES: usize = 100;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    /// `begin..end` is the name in the text.
    Element,
    /// `begin..end` are the characters in `texts`.
    Text,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    what: What,
    begin: u32,
    end: u32,
    /// Offset in the text.
    at: u32,
    /// Index behind it and what is in it.
    next: u32,
}

/// A checked XML text.
#[derive(Debug)]
pub(super) struct Document<'t> {
    text: &'t str,
    /// All characters between the tags, references resolved; and those of attributes.
    texts: String,
    nodes: Vec<Node>,
    /// Attributes by the index of their element; only with namespaces.
    attributes: Vec<(u32, AttributeRanges)>,
    /// The namespace of each element that has one, by its index.
    uris: Vec<(u32, Range<u32>)>,
}

/// Where the parts of an attribute stand in `texts`.
#[derive(Clone, Debug)]
struct AttributeRanges {
    uri: Range<u32>,
    name: Range<u32>,
    value: Range<u32>,
}

/// An attribute that is no declaration of a namespace.
#[derive(Clone, Copy, Debug)]
pub(super) struct Attribute<'d> {
    /// Its namespace, empty without.
    pub(super) uri: &'d str,
    /// Its name without a prefix.
    pub(super) name: &'d str,
    pub(super) value: &'d str,
}

/// A range of nodes side by side: what an element contains, or one element alone.
#[derive(Clone, Copy, Debug)]
pub(super) struct Content {
    pub(super) begin: usize,
    pub(super) end: usize,
    /// Offset in the text of the element around it.
    pub(super) at: usize,
}

/// An element or characters.
#[derive(Clone, Copy, Debug)]
pub(super) enum Item<'d> {
    Element(Element<'d>),
    Text(&'d str),
}

/// An element.
#[derive(Clone, Copy, Debug)]
pub(super) struct Element<'d> {
    pub(super) name: &'d str,
    /// What is in it.
    pub(super) content: Content,
    /// The element itself.
    pub(super) itself: Content,
}

impl<'t> Document<'t> {
    /// Checks a text of one element.
    pub(super) fn parse(octets: &'t [u8], depth: u16) -> Result<Self> {
        Self::parse_with(octets, depth, false)
    }

    /// The same, with attributes and namespaces.
    pub(super) fn parse_extended(octets: &'t [u8], depth: u16) -> Result<Self> {
        Self::parse_with(octets, depth, true)
    }

    fn parse_with(octets: &'t [u8], depth: u16, extended: bool) -> Result<Self> {
        let stripped = octets.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(octets);
        let text = match str::from_utf8(stripped) {
            Ok(text) => text,
            Err(error) => return Err(ReadError::new(octets, error.valid_up_to(), "the text is not UTF-8")),
        };
        if u32::try_from(octets.len()).is_err() {
            return Err(ReadError::new(octets, 0, "the text has 4 GiB or more"));
        }
        let document =
            Self { text, texts: String::new(), nodes: Vec::new(), attributes: Vec::new(), uris: Vec::new() };
        let scopes = Vec::new();
        let mut builder =
            Builder { document, open: Vec::new(), depth, at: 0, in_text: false, extended, scopes };
        builder.run()?;
        Ok(builder.document)
    }

    /// The text, without a byte order mark.
    pub(super) fn text(&self) -> &'t str {
        self.text
    }

    /// Returns whether a range is one element with its tags, not what an element contains.
    pub(super) fn is_itself(&self, content: Content) -> bool {
        let first = self.nodes.get(content.begin).filter(|_| content.begin < content.end);
        first.is_some_and(|node| node.what == What::Element && node.at as usize == content.at)
    }

    /// The outermost element.
    pub(super) fn root(&self) -> Option<Element<'_>> {
        self.elements(Content { begin: 0, end: self.nodes.len(), at: 0 }).next()
    }

    /// The namespace of an element, empty without, and its name without a prefix.
    pub(super) fn qualified<'d>(&'d self, element: &Element<'d>) -> (&'d str, &'d str) {
        let local = element.name.rsplit(':').next().unwrap_or_default();
        let at = self.uris.binary_search_by_key(&(element.itself.begin as u32), |(node, _)| *node);
        (at.map_or("", |at| self.of(&self.uris[at].1)), local)
    }

    /// The attributes of an element.
    pub(super) fn attributes<'d>(&'d self, element: &Element<'d>) -> Vec<Attribute<'d>> {
        let index = element.itself.begin as u32;
        let from = self.attributes.partition_point(|(node, _)| *node < index);
        let own = self.attributes.iter().skip(from).take_while(|(node, _)| *node == index);
        own.map(|(_, it)| Attribute {
            uri: self.of(&it.uri),
            name: self.of(&it.name),
            value: self.of(&it.value),
        })
        .collect()
    }

    /// The characters of a string type: control characters are elements (X.680 12.15.5).
    pub(super) fn string(
        &self,
        at: Content,
    ) -> std::result::Result<std::borrow::Cow<'_, str>, ContentsError> {
        super::read::string(self, at)
    }

    fn of(&self, range: &Range<u32>) -> &str {
        self.texts.get(range.start as usize..range.end as usize).unwrap_or_default()
    }

    /// What stands in a range.
    pub(super) fn items(&self, content: Content) -> impl Iterator<Item = Item<'_>> {
        let mut at = content.begin;
        std::iter::from_fn(move || {
            let node = self.nodes.get(at).filter(|_| at < content.end)?;
            let range = node.begin as usize..node.end as usize;
            let (begin, next) = (at, node.next as usize);
            at = next;
            Some(match node.what {
                What::Text => Item::Text(self.texts.get(range).unwrap_or_default()),
                What::Element => Item::Element(Element {
                    name: self.text.get(range).unwrap_or_default(),
                    content: Content { begin: begin + 1, end: next, at: node.at as usize },
                    itself: Content { begin, end: next, at: node.at as usize },
                }),
            })
        })
    }

    /// The elements of a range, whatever stands between.
    pub(super) fn elements(&self, content: Content) -> impl Iterator<Item = Element<'_>> {
        self.items(content).filter_map(|item| match item {
            Item::Element(element) => Some(element),
            Item::Text(_) => None,
        })
    }

    /// Whether there are characters other than white space between the elements of a range.
    pub(super) fn has_text(&self, content: Content) -> bool {
        self.items(content).any(|item| matches!(item, Item::Text(text) if !is_white(text)))
    }

    pub(super) fn error(&self, at: usize, message: impl Into<String>) -> ReadError {
        ReadError::new(self.text.as_bytes(), at, message)
    }
}

/// Control characters that XML does not have.
fn is_forbidden(letter: char) -> bool {
    letter < ' ' && !matches!(letter, '\t' | '\n' | '\r')
}

/// White space of XML.
pub(super) fn is_white(text: &str) -> bool {
    text.bytes().all(is_white_octet)
}

pub(super) const fn is_white_octet(octet: u8) -> bool {
    matches!(octet, b' ' | b'\t' | b'\n' | b'\r')
}

struct Builder<'t> {
    document: Document<'t>,
    /// The elements that are open.
    open: Vec<u32>,
    depth: u16,
    /// Where the current event begins.
    at: usize,
    /// Whether the last node is a text with no tag behind it.
    in_text: bool,
    /// Whether attributes and namespaces are kept.
    extended: bool,
    /// Namespaces that are declared: the number of elements around, the prefix, the URI in `texts`.
    scopes: Vec<(usize, String, Range<u32>)>,
}

impl Builder<'_> {
    fn run(&mut self) -> Result<()> {
        let mut reader = Reader::from_str(self.document.text);
        reader.config_mut().check_comments = true;
        loop {
            self.at = usize::try_from(reader.buffer_position()).unwrap_or(usize::MAX);
            let event = match reader.read_event() {
                Ok(event) => event,
                Err(error) => {
                    let at = usize::try_from(reader.error_position()).unwrap_or(usize::MAX);
                    return Err(self.document.error(at, malformed(&error)));
                }
            };
            match event {
                Event::Start(start) => self.start(&start)?,
                Event::Empty(start) => {
                    self.start(&start)?;
                    self.end();
                }
                Event::End(_) => self.end(),
                Event::Text(text) => self.text(&text.xml10_content())?,
                Event::CData(text) => {
                    if self.open.is_empty() {
                        return Err(self.fail("characters outside of the element"));
                    }
                    self.text(&text.xml10_content())?;
                }
                Event::GeneralRef(reference) => self.reference(&reference)?,
                Event::DocType(_) => return Err(self.fail("a DOCTYPE is not allowed")),
                Event::Decl(declaration) => {
                    let encoding = declaration.encoding().transpose().ok().flatten();
                    let known = |name: &str| {
                        ["utf-8", "us-ascii"].iter().any(|known| name.eq_ignore_ascii_case(known))
                    };
                    if encoding.is_some_and(|name| !known(&name)) {
                        return Err(self.fail("an encoding other than UTF-8"));
                    }
                }
                Event::Comment(_) | Event::PI(_) => {}
                Event::Eof => break,
            }
        }
        if !self.open.is_empty() {
            self.at = self.document.text.len();
            return Err(self.fail("the text ends inside an element"));
        }
        if self.document.nodes.is_empty() {
            return Err(self.fail("there is no element"));
        }
        Ok(())
    }

    #[cold]
    fn fail(&self, message: impl Into<String>) -> ReadError {
        self.document.error(self.at, message)
    }

    fn start(&mut self, start: &BytesStart<'_>) -> Result<()> {
        if self.open.is_empty() && !self.document.nodes.is_empty() {
            return Err(self.fail("a second outermost element"));
        }
        if self.open.len() >= usize::from(levels(self.depth)) {
            return Err(self.fail(TOO_DEEP));
        }
        if self.extended {
            self.namespaces(start)?;
        } else if !is_white(start.attributes_raw()) {
            self.attributes(start)?;
        }
        self.in_text = false;
        let name = start.name();
        // The name stands behind the `<`.
        let begin = self.at + 1;
        let range = begin..begin + name.as_ref().len();
        self.open.push(self.document.nodes.len() as u32);
        self.push(What::Element, range);
        Ok(())
    }

    fn attributes(&self, start: &BytesStart<'_>) -> Result<()> {
        for (number, attribute) in start.attributes().with_checks(false).enumerate() {
            let attribute = attribute.map_err(|error| self.fail(malformed(&error)))?;
            let name: &str = attribute.key.as_ref();
            if name != "xmlns" && !name.starts_with("xmlns:") && !name.starts_with("xsi:") {
                return Err(self.fail(format!("an attribute `{}`: values have none", cut(name))));
            }
            if number >= MAX_ATTRIBUTES {
                return Err(self.fail(format!("more than {MAX_ATTRIBUTES} attributes")));
            }
        }
        Ok(())
    }

    /// Keeps the attributes of an element, and finds the namespaces of all names.
    fn namespaces(&mut self, start: &BytesStart<'_>) -> Result<()> {
        let index = self.document.nodes.len() as u32;
        let mut found: Vec<(String, Range<u32>)> = Vec::new();
        for (number, attribute) in start.attributes().with_checks(false).enumerate() {
            if number >= MAX_ATTRIBUTES {
                return Err(self.fail(format!("more than {MAX_ATTRIBUTES} attributes")));
            }
            let attribute = attribute.map_err(|error| self.fail(malformed(&error)))?;
            let value = attribute.normalized_value(XmlVersion::Implicit1_0);
            let value = value.map_err(|error| self.fail(malformed(&error)))?;
            if value.contains(is_forbidden) {
                return Err(self.fail("a control character, which XML does not have"));
            }
            let value = self.keep(&value);
            let name: &str = attribute.key.as_ref();
            match name.strip_prefix("xmlns") {
                Some("") => self.scopes.push((self.open.len(), String::new(), value)),
                Some(prefix) if prefix.starts_with(':') => {
                    self.scopes.push((self.open.len(), prefix[1..].to_owned(), value));
                }
                _ if found.iter().any(|(known, _)| known == name) => {
                    return Err(self.fail(format!("an attribute `{}` twice", cut(name))));
                }
                _ => found.push((name.to_owned(), value)),
            }
        }
        let name = start.name();
        let name: &str = name.as_ref();
        let prefix = name.split_once(':').map_or("", |(prefix, _)| prefix);
        if let Some(uri) = self.uri(prefix)? {
            self.document.uris.push((index, uri));
        }
        for (name, value) in found {
            // A name without a prefix has no namespace.
            let (uri, local) = match name.split_once(':') {
                Some((prefix, local)) => (self.uri(prefix)?, local),
                None => (None, name.as_str()),
            };
            let uri = uri.unwrap_or(0..0);
            let name = self.keep(local);
            self.document.attributes.push((index, AttributeRanges { uri, name, value }));
        }
        Ok(())
    }

    fn keep(&mut self, text: &str) -> Range<u32> {
        let begin = self.document.texts.len() as u32;
        self.document.texts.push_str(text);
        begin..self.document.texts.len() as u32
    }

    fn uri(&mut self, prefix: &str) -> Result<Option<Range<u32>>> {
        match self.scopes.iter().rev().find(|(_, known, _)| known == prefix) {
            Some((_, _, uri)) => Ok(Some(uri.clone())),
            None if prefix.is_empty() => Ok(None),
            None if prefix == "xml" => Ok(Some(self.keep("http://www.w3.org/XML/1998/namespace"))),
            None => Err(self.fail(format!("a prefix `{}`, which is not declared", cut(prefix)))),
        }
    }

    fn end(&mut self) {
        let around = self.open.len().saturating_sub(1);
        while self.scopes.last().is_some_and(|(level, ..)| *level >= around) {
            self.scopes.pop();
        }
        self.in_text = false;
        let next = self.document.nodes.len() as u32;
        if let Some(node) = self.open.pop().and_then(|at| self.document.nodes.get_mut(at as usize)) {
            node.next = next;
        }
    }

    fn push(&mut self, what: What, range: Range<usize>) {
        let next = self.document.nodes.len() as u32 + 1;
        let (begin, end) = (range.start as u32, range.end as u32);
        self.document.nodes.push(Node { what, begin, end, at: self.at as u32, next });
    }

    fn text(&mut self, text: &str) -> Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        if self.open.is_empty() {
            return if is_white(text) { Ok(()) } else { Err(self.fail("characters outside of the element")) };
        }
        if text.contains(is_forbidden) {
            return Err(self.fail("a control character, which XML does not have"));
        }
        let begin = self.document.texts.len();
        self.document.texts.push_str(text);
        let end = self.document.texts.len();
        // Behind a reference, CDATA section or comment it goes on.
        let last = self.document.nodes.last_mut().filter(|_| self.in_text);
        match last {
            Some(last) => last.end = end as u32,
            None => self.push(What::Text, begin..end),
        }
        self.in_text = true;
        Ok(())
    }

    fn reference(&mut self, reference: &BytesRef<'_>) -> Result<()> {
        let letter = if reference.is_char_ref() {
            reference.resolve_char_ref().ok().flatten()
        } else {
            match &**reference {
                "amp" => Some('&'),
                "lt" => Some('<'),
                "gt" => Some('>'),
                "quot" => Some('"'),
                "apos" => Some('\''),
                name => return Err(self.fail(format!("an entity `{}`, which is not defined", cut(name)))),
            }
        };
        if self.open.is_empty() {
            return Err(self.fail("characters outside of the element"));
        }
        let letter = letter.ok_or_else(|| self.fail("a reference to no character"))?;
        self.text(letter.encode_utf8(&mut [0; 4]))
    }
}
/// What the parser says, shortened: it repeats names of the input.
fn malformed(error: &dyn std::fmt::Display) -> String {
    let said = error.to_string();
    let end = said.char_indices().nth(160).map_or(said.len(), |(at, _)| at);
    format!("no well-formed XML: {}", &said[..end])
}
