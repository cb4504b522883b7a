//! GSER text to a tape, guided by the schema.

use super::index::{Document, Type};
use crate::contents::ContentsError;
use crate::contents::{self, Made};
use crate::event::Sink;
use crate::read_error::{ReadError, cut};
use crate::source::{
    Alternative, Content, Driver, Fault, Found, InPath, Memory, Notation, Notes, Primitive, Ranges, Source,
    TextRange,
};
use crate::tape::Tape;
use crate::text::parse_hex;
use std::borrow::Cow;
use tercet_plan::{FieldId, Kind, NodeId, Shape};

type Result<T> = std::result::Result<T, ReadError>;

/// What GSER text is accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadOptions {
    /// Whether components that the schema does not know are passed over in every type, not only in extensible ones.
    pub ignore_unknown: bool,
    /// Values with parts inside one another, as [`crate::Limits::depth`]: 64 unless specified.
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
    options: ReadOptions,
    memory: Memory<'s>,
}

/// Types whose values have a string of their own (3.20). It does not tell which string types a name is made of, so values
/// are written as their types say, and the string is refused.
const VARIANTS: [&str; 3] = ["RDNSequence", "RelativeDistinguishedName", "ORAddress"];

/// What is wrong with more than one value.
const AFTER_VALUE: &str = "text after the value";

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
        ranges.begin(Notation::Gser);
        self.read_noted(root, text, tape, ranges)
    }

    fn read_noted(&mut self, root: NodeId, text: &[u8], tape: &mut Tape, notes: impl Notes) -> Result<()> {
        let document = Document::parse(text, self.options.depth)?;
        let (shape, options) = (self.memory.shape(), &self.options);
        let gser = Text { shape, options, text: &document };
        let name = shape.node(root).name.map_or("", |name| shape.name(name));
        Driver::read_noted(&gser, &mut self.memory, root, 0, tape, options.depth, notes)
            .map_err(|error| if name.is_empty() { error } else { error.inside(name) })?;
        tape.within(options.depth);
        let end = document.end_of_item(0);
        if document.what(end) == Type::End { Ok(()) } else { Err(document.error(end, AFTER_VALUE)) }
    }
}

/// A GSER text as a source of values.
#[derive(Debug)]
struct Text<'a> {
    shape: &'a Shape,
    options: &'a ReadOptions,
    text: &'a Document<'a>,
}

/// The items between braces that are not read yet, and the closing brace.
#[derive(Debug)]
struct Items {
    next: usize,
    close: usize,
}

impl Items {
    /// Goes to the next item. The error is the place of a comma at the end.
    fn next(&mut self, text: &Document<'_>) -> std::result::Result<Option<usize>, usize> {
        let at = self.next;
        if at >= self.close {
            return Ok(None);
        }
        let end = text.end_of_item(at);
        self.next = end + 1;
        if self.next == self.close { Err(end) } else { Ok(Some(at)) }
    }
}

/// What is wrong with a comma before a closing brace.
const AFTER_COMMA: &str = "a comma without an item after it";

impl<'a> Source for Text<'a> {
    /// A token.
    type At = usize;
    type Elements = Items;
    type Name = &'a str;
    type Error = ReadError;

    fn fault(&self, at: &usize, fault: Fault<'_>) -> ReadError {
        self.text.error(*at, fault.to_string())
    }

    fn ignores_unknown(&self) -> bool {
        self.options.ignore_unknown
    }

    fn is_ordered(&self) -> bool {
        true
    }

    /// RFC 3641 3.13: the components of a SEQUENCE in the order of the type, those of a SET in any.
    fn components(&self, at: &usize, found: &mut Found<'_, '_, Self>) -> Result<()> {
        let text = self.text;
        let mut items = self.items(*at, found.node)?;
        while let Some(at) = self.next_element(&mut items)? {
            if text.what(at) != Type::Word {
                return Err(text.error(at, "the name of a component expected"));
            }
            found.put(text.raw(at), &at, at + 1)?;
        }
        Ok(())
    }

    /// 3.14.
    fn elements(&self, at: &usize, _: FieldId, node: NodeId) -> Result<Items> {
        self.items(*at, node)
    }

    fn next_element(&self, items: &mut Items) -> Result<Option<usize>> {
        items.next(self.text).map_err(|at| self.text.error(at, AFTER_COMMA))
    }

    /// 3.12, and 3.3: a string alone stands for the first alternative that can hold it.
    fn alternative(&self, at: &usize, _: FieldId, node: NodeId) -> Result<Alternative<Self>> {
        let (shape, text, at) = (self.shape, self.text, *at);
        if text.what(at) == Type::Text && may_be_strings(shape, node) {
            let string = text.string(at);
            let holds = |kind| matches!(contents::of_text(kind, &string), Some(Ok(_)));
            let found = shape.fields_of(node).find(|(_, it)| holds(shape.node(it.node).kind));
            let known = found.map(|(id, _)| Alternative::Known(id, at));
            return known.ok_or_else(|| text.error(at, "no alternative has all these characters"));
        }
        if text.what(at) != Type::Word || text.what(at + 1) != Type::Colon {
            return Err(text.error(at, "the chosen alternative and `:` expected"));
        }
        Ok(Alternative::Named(text.raw(at), at, at + 2))
    }

    /// The value if its type is known; else, and if it is none, the octets of a complete encoding.
    fn content(&self, at: &usize, _: NodeId, selected: Option<NodeId>) -> Result<Content<Self>> {
        let holds_hex = |inner| matches!(self.shape.node(inner).kind, Kind::OctetString | Kind::BitString);
        Ok(match selected {
            Some(inner) if self.text.what(*at) != Type::Hex || holds_hex(inner) => {
                Content::Value(inner, *at, None)
            }
            _ => Content::Encoding(*at),
        })
    }

    fn contained(&self, at: &usize, _: NodeId, inner: NodeId) -> Result<Content<Self>> {
        const WORD: &str = "CONTAINING";
        Ok(match is_word(self.text, *at, WORD) {
            true => Content::Value(inner, *at + 1, Some(WORD)),
            false => Content::Encoding(*at),
        })
    }

    fn range(&self, at: &usize) -> Option<TextRange> {
        let (text, at) = (self.text, *at);
        let is = |at: Option<usize>, what| at.is_some_and(|at| text.what(at) == what);
        let before = at.checked_sub(1);
        // A word is the name of a component; a colon stands behind that of an alternative.
        let name = match before {
            Some(_) if is(before, Type::Word) => before,
            Some(_) if is(before, Type::Colon) => at.checked_sub(2),
            _ => None,
        };
        let value = text.offset(at)..text.end(text.end_of_item(at).saturating_sub(1));
        Some(TextRange::new(name.map_or(value.start, |name| text.offset(name))..value.end, value))
    }

    fn leaf<'v>(&'v self, at: &'v usize, _: FieldId, node: NodeId) -> Result<Primitive<'v>> {
        let (text, at) = (self.text, *at);
        let made = self.contents(at, node).map_err(|message| match self.shape.node(node).kind {
            Kind::Open => {
                text.error(at, "the type of this value is not known: an encoding in hexadecimal expected")
            }
            _ => text.error(at, message),
        })?;
        self.check_end(at)?;
        Ok(made.into())
    }
}

impl<'a> Text<'a> {
    /// Finds the items between the braces that are here.
    fn items(&self, at: usize, node: NodeId) -> Result<Items> {
        let what = self.text.what(at);
        let name = self.shape.node(node).name.map_or("", |name| self.shape.name(name));
        if what == Type::Text && VARIANTS.contains(&name) {
            let message = format!("the string of {name} (RFC 3641 3.20) is not read: braces expected");
            return Err(self.text.error(at, message));
        }
        if what != Type::Open {
            return Err(self.text.error(at, "`{` expected"));
        }
        self.check_end(at)?;
        Ok(Items { next: at + 1, close: self.text.close(at) })
    }

    /// Checks that no more than one value is here: what comes after a word, a string or braces.
    fn check_end(&self, at: usize) -> Result<()> {
        let end = if self.text.what(at) == Type::Open { self.text.close(at) } else { at } + 1;
        if matches!(self.text.what(end), Type::Comma | Type::Close | Type::End) {
            return Ok(());
        }
        let is_outermost = self.text.what(self.text.end_of_item(end)) == Type::End;
        Err(self.text.error(end, if is_outermost { AFTER_VALUE } else { "`,` or `}` expected" }))
    }

    /// Contents octets of a primitive value.
    fn contents(&self, at: usize, node: NodeId) -> Made<'a> {
        let (shape, text) = (self.shape, self.text);
        let kind = shape.node(node).kind;
        let word = text.raw(at);
        match (kind, text.what(at)) {
            (Kind::Boolean, Type::Word) if matches!(word, "TRUE" | "FALSE") => {
                Ok(contents::of_boolean(word == "TRUE").into())
            }
            (Kind::Boolean, _) => Err("TRUE or FALSE expected".into()),
            (Kind::Null, Type::Word) if word == "NULL" => Ok(Cow::Borrowed(&[])),
            (Kind::Null, _) => Err("NULL expected".into()),
            (Kind::Integer | Kind::Enumerated, Type::Word) => match contents::of_item(shape, node, word) {
                Some(contents) => Ok(contents.into()),
                None if word.starts_with(|first: char| first.is_ascii_alphabetic()) => {
                    Err(format!("no item `{}` in this {}", cut(word), kind.name()).into())
                }
                None => contents::of_integer(word).map(Cow::Owned),
            },
            (Kind::Real, Type::Word) => match word {
                "PLUS-INFINITY" => contents::of_real("INF").map(Cow::Owned),
                "MINUS-INFINITY" => contents::of_real("-INF").map(Cow::Owned),
                "NOT-A-NUMBER" => contents::of_real("NaN").map(Cow::Owned),
                "INF" | "-INF" | "NaN" => Err("a number expected".into()),
                _ => contents::of_real(word).map(Cow::Owned),
            },
            (Kind::Real, Type::Open) => real_parts(text, at),
            (Kind::BitString, Type::Open) => {
                let items = items_of(text, at)?;
                if items.iter().any(|at| text.end_of_item(*at) != at + 1) {
                    return Err("the name of a bit expected".into());
                }
                contents::of_bit_names(shape, node, items.into_iter().map(|at| text.raw(at))).map(Cow::Owned)
            }
            (Kind::BitString, Type::Bits) => contents::of_bit_digits(word.bytes())
                .map(Cow::Owned)
                .ok_or_else(|| "the digits 0 and 1 expected".into()),
            (Kind::BitString, Type::Hex) => of_hex_digits(word).map(Cow::Owned),
            (Kind::OctetString | Kind::Open, Type::Hex) => parse_hex(word.as_bytes())
                .map(Cow::Owned)
                .ok_or_else(|| "pairs of hexadecimal digits expected".into()),
            (Kind::ObjectIdentifier | Kind::RelativeOid, Type::Word) => {
                contents::of_text(kind, word).unwrap_or_else(|| Err("another value expected".into()))
            }
            (_, Type::Text) if !matches!(kind, Kind::ObjectIdentifier | Kind::RelativeOid) => {
                let made = match text.string(at) {
                    Cow::Borrowed(string) => contents::of_text(kind, string),
                    Cow::Owned(string) => contents::of_text(kind, &string)
                        .map(|made| made.map(|contents| contents.into_owned().into())),
                };
                made.unwrap_or_else(|| Err(format!("a value of {} expected", kind.name()).into()))
            }
            _ => Err(format!("a value of {} expected", kind.name()).into()),
        }
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
fn items_of(text: &Document<'_>, at: usize) -> std::result::Result<Vec<usize>, ContentsError> {
    let mut items = Items { next: at + 1, close: text.close(at) };
    let mut found = Vec::new();
    while let Some(item) = items.next(text).map_err(|_| AFTER_COMMA.to_owned())? {
        found.push(item);
    }
    Ok(found)
}

/// A BIT STRING in hexadecimal, four bits a digit.
fn of_hex_digits(digits: &str) -> std::result::Result<Vec<u8>, ContentsError> {
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
