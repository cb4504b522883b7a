//! Events to XML text.

use super::canonical::{self, Canonical};
use super::names::{CONTROLS, content_name, element_name, is_value_list, item_name, outermost_name};
use super::variant::Variant;
use crate::constant::say_constant;
use crate::event::{Leaf, Sink};
use crate::leaf::{Scalar, is_ascii_based, scalar};
use crate::tape::View;
use crate::text::{
    Octets, RealText, plain_ascii, push_big_integer, push_bits, push_integer, push_octets, push_real,
};
use crate::words;
use std::borrow::Cow;
use tercet_plan::{FieldId, Kind, NodeId, Shape};
use tercet_runtime::types::Real;

/// What XML text looks like. The default is one line; start from it and change what matters:
///
/// ```
/// use tercet_dynamic::xml::Options;
/// let mut options = Options::default();
/// options.indent = Some(2);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// Which of the rules; basic XER unless told.
    pub variant: Variant,
    /// Spaces for each level, every element on its own line; unless told all is on one line. The canonical form has no
    /// white space.
    pub indent: Option<u8>,
    /// The name of the outermost element; unless told that of the root, if just one root has the type, or the type's.
    pub root: Option<String>,
}

/// Appends a decoded value as XML text.
pub fn write(shape: &Shape, value: View<'_>, out: &mut Vec<u8>, options: &Options) {
    let mut writer = XmlWriter::new(shape, options.clone());
    std::mem::swap(&mut writer.out, out);
    value.replay(&mut writer);
    std::mem::swap(&mut writer.out, out);
}

/// A sink that writes XML text. One writer serves any number of values of its shape.
#[derive(Debug)]
pub struct XmlWriter<'s> {
    shape: &'s Shape,
    options: Options,
    out: Vec<u8>,
    frames: Vec<Frame>,
    /// The names of the elements that are open, one after the other.
    names: Vec<u8>,
    pub(super) canonical: Option<Canonical>,
}

#[derive(Clone, Copy, Debug)]
struct Frame {
    what: What,
    node: NodeId,
    /// Where the name of the element around it begins in `names`.
    name: usize,
    /// Length of the text before the element.
    begin: usize,
    /// Length of the text behind the element's start tag.
    start: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Structure,
    List,
    /// A list whose values have no element around them.
    Values,
    /// A CHOICE in such a list.
    BareChoice,
    /// An open type or a string with its content decoded.
    Content,
}

impl<'s> XmlWriter<'s> {
    /// A writer with no text yet.
    pub fn new(shape: &'s Shape, mut options: Options) -> Self {
        let canonical = (options.variant == Variant::Canonical).then(Canonical::default);
        if canonical.is_some() {
            options.indent = None;
        }
        Self { shape, options, out: Vec::new(), frames: Vec::new(), names: Vec::new(), canonical }
    }

    /// A writer of one component alone.
    pub(super) fn of_component(shape: &'s Shape, options: Options, parent: NodeId) -> Self {
        let mut writer = Self::new(shape, options);
        writer.frames.push(Frame { what: What::Structure, node: parent, name: 0, begin: 0, start: 0 });
        writer
    }

    /// The text so far: of all values since the last [`XmlWriter::clear`], with nothing between them.
    pub fn text(&self) -> &[u8] {
        &self.out
    }

    /// The text so far, to append a line feed or to take it away.
    pub fn text_mut(&mut self) -> &mut Vec<u8> {
        &mut self.out
    }

    /// Forgets the text, and whatever a failed decode has left; keeps the memory.
    pub fn clear(&mut self) {
        self.truncate(0);
    }

    /// Forgets what was written behind `length`, for a record that failed after some events.
    pub fn truncate(&mut self, length: usize) {
        self.out.truncate(length);
        self.frames.clear();
        self.names.clear();
        if let Some(canonical) = &mut self.canonical {
            canonical.clear();
        }
    }

    /// The name of the element around a value, if there is one.
    fn name(&self, field: FieldId, node: NodeId) -> Option<Cow<'_, str>> {
        let shape = self.shape;
        let Some(frame) = self.frames.last() else {
            return Some(match &self.options.root {
                Some(name) => element_name(name),
                None => outermost_name(shape, node),
            });
        };
        let known = shape.fields.get(field.index());
        match frame.what {
            What::Values => None,
            What::List => Some(known.map_or(Cow::Borrowed("item"), |field| item_name(shape, field))),
            What::Structure | What::BareChoice => known.map(|field| Cow::Borrowed(shape.name(field.name))),
            What::Content => Some(content_name(shape, frame.node, node)),
        }
    }

    /// Writes `<name`; the answer is where the name begins in `names`, nothing if there is no element.
    fn begin(&mut self, field: FieldId, node: NodeId) -> Option<usize> {
        if let Some(frame) = self.frames.last()
            && self.options.indent.is_some()
            && !(frame.what == What::Values && self.shape.node(node).kind == Kind::Choice)
        {
            self.line();
        }
        let start = self.names.len();
        let mut names = std::mem::take(&mut self.names);
        let named = self.name(field, node).map(|name| words::copy(&mut names, name.as_bytes()));
        self.names = names;
        named?;
        self.out.push(b'<');
        words::copy(&mut self.out, self.names.get(start..).unwrap_or_default());
        Some(start)
    }

    /// Writes `</name>`, or makes the element an empty one.
    fn end(&mut self, name: usize, start: usize) {
        if self.out.len() == start {
            self.out.pop();
            self.out.extend_from_slice(b"/>");
        } else {
            self.out.extend_from_slice(b"</");
            words::copy(&mut self.out, self.names.get(name..).unwrap_or_default());
            self.out.push(b'>');
        }
        self.names.truncate(name);
    }

    fn line(&mut self) {
        self.out.push(b'\n');
        let width = usize::from(self.options.indent.unwrap_or(0));
        let levels = self.frames.iter().filter(|frame| frame.what != What::BareChoice).count();
        self.out.resize(self.out.len() + levels * width, b' ');
    }

    fn empty(&mut self, name: &str) {
        self.out.push(b'<');
        self.out.extend_from_slice(name.as_bytes());
        self.out.extend_from_slice(b"/>");
    }

    pub(super) fn value(&mut self, node: NodeId, leaf: Leaf<'_>) {
        let shape = self.shape;
        match scalar(shape, node, leaf) {
            Scalar::Boolean(value) => self.empty(if value { "true" } else { "false" }),
            Scalar::Enumerated(_, Some(name)) => self.empty(name),
            Scalar::Integer(number) | Scalar::Enumerated(number, None) => push_integer(&mut self.out, number),
            Scalar::BigInteger(octets) => push_big_integer(&mut self.out, octets),
            // Of a later version: there is no name for it.
            Scalar::Addition(_) | Scalar::Null => {}
            Scalar::Real(real)
                if self.canonical.is_some() && canonical::push_number(&mut self.out, &real) => {}
            Scalar::Real(real) => match push_real(&mut self.out, &real) {
                RealText::Number => {}
                RealText::Word("INF") => self.empty("PLUS-INFINITY"),
                RealText::Word("-INF") => self.empty("MINUS-INFINITY"),
                RealText::Word("NaN") => self.empty("NOT-A-NUMBER"),
                RealText::Word(word) => self.out.extend_from_slice(word.as_bytes()),
                RealText::Parts => self.real_parts(&real),
            },
            // X.693 9.3: without the zeros that mean nothing.
            Scalar::BitString(bits) if self.canonical.is_some() && shape.node(node).item_count > 0 => {
                push_bits(&mut self.out, bits.trimmed(shape.least_size(node)));
            }
            Scalar::BitString(bits) => push_bits(&mut self.out, bits),
            Scalar::OctetString(octets) | Scalar::Open(octets) | Scalar::Raw(octets) => {
                push_octets(&mut self.out, octets, Octets::UpperHex);
            }
            Scalar::ObjectIdentifier(oid) => self.out.extend_from_slice(oid.to_string().as_bytes()),
            Scalar::RelativeOid(oid) => self.out.extend_from_slice(oid.to_string().as_bytes()),
            Scalar::Time(text) if self.canonical.is_some() => {
                push_text(&mut self.out, &canonical::time(shape.node(node).kind, &text));
            }
            Scalar::Text(text) | Scalar::Time(text) => push_text(&mut self.out, &text),
        }
    }

    /// Does not leave out the DEFAULT of a field.
    pub(super) fn keep_defaults(&mut self, field: FieldId) {
        if let Some(canonical) = &mut self.canonical {
            canonical.keep(field);
        }
    }

    /// Behind a part of a value in the canonical form: a DEFAULT is taken away again, a part of a SET is noted.
    fn settle(&mut self, field: FieldId, begin: usize) {
        let Some(canonical) = &mut self.canonical else { return };
        let written = self.out.get(begin..).unwrap_or_default();
        if canonical.is_default(self.shape, &self.options, field, written) {
            self.out.truncate(begin);
        } else {
            canonical.part(field, begin);
        }
    }

    /// A REAL whose digits are out of proportion, as the value of its associated type (X.680 21.5).
    fn real_parts(&mut self, real: &Real<'_>) {
        let Real::Binary(binary) = real else { return };
        self.out.extend_from_slice(b"<mantissa>");
        if binary.negative {
            self.out.push(b'-');
        }
        let mut octets = vec![0];
        octets.extend_from_slice(binary.mantissa);
        push_big_integer(&mut self.out, &octets);
        self.out.extend_from_slice(b"</mantissa><base>2</base><exponent>");
        self.out.extend_from_slice(binary.exponent2().to_string().as_bytes());
        self.out.extend_from_slice(b"</exponent>");
    }
}

impl Sink for XmlWriter<'_> {
    fn leaf(&mut self, field: FieldId, node: NodeId, leaf: Leaf<'_>) {
        let begin = self.out.len();
        let name = self.begin(field, node);
        if name.is_some() {
            self.out.push(b'>');
        }
        let start = self.out.len();
        let kind = self.shape.node(node).kind;
        match leaf.contents() {
            Some(contents)
                if is_ascii_based(kind)
                    && plain_ascii(contents, *b"<&>") == contents.len()
                    && !(self.canonical.is_some() && canonical::has_forms(kind)) =>
            {
                self.out.extend_from_slice(contents);
            }
            _ => self.value(node, leaf),
        }
        if let Some(name) = name {
            self.end(name, start);
        }
        if self.canonical.is_some() {
            self.settle(field, begin);
        }
    }

    fn open(&mut self, field: FieldId, node: NodeId) {
        let begin = self.out.len();
        let name = self.begin(field, node);
        let shape = self.shape;
        let what = match shape.node(node).kind {
            Kind::Choice if name.is_none() => What::BareChoice,
            Kind::Sequence | Kind::Set | Kind::Choice => What::Structure,
            Kind::SequenceOf | Kind::SetOf => {
                let element = shape.fields_of(node).next();
                let values = element.is_some_and(|(_, element)| is_value_list(shape, element));
                if values { What::Values } else { What::List }
            }
            _ => What::Content,
        };
        if name.is_some() {
            self.out.push(b'>');
        }
        let start = self.out.len();
        self.frames.push(Frame { what, node, name: name.unwrap_or(self.names.len()), begin, start });
        if let Some(canonical) = &mut self.canonical {
            canonical.open();
        }
    }

    fn close(&mut self, field: FieldId, node: NodeId) {
        let Some(frame) = self.frames.pop() else { return };
        if let Some(canonical) = &mut self.canonical {
            canonical.close(self.shape, node, &mut self.out);
        }
        if frame.what != What::BareChoice {
            if self.options.indent.is_some() && self.out.len() != frame.start {
                self.line();
            }
            self.end(frame.name, frame.start);
        }
        if self.canonical.is_some() {
            self.settle(field, frame.begin);
        }
    }

    fn absent(&mut self, field: FieldId, node: NodeId, constant: u32) {
        if self.canonical.is_none() {
            say_constant(self.shape, field, node, constant, self);
        }
    }

    fn unknown(&mut self, _: u32, _: Leaf<'_>) {}
}

/// Appends characters (X.680 12.15): those of mark-up as references, those that XML cannot have as elements.
pub(super) fn push_text(out: &mut Vec<u8>, text: &str) {
    for letter in text.chars() {
        match letter {
            '<' => out.extend_from_slice(b"&lt;"),
            '>' => out.extend_from_slice(b"&gt;"),
            '&' => out.extend_from_slice(b"&amp;"),
            '\t' | '\n' => out.push(letter as u8),
            // An XML parser makes a line feed of it.
            '\r' => out.extend_from_slice(b"&#xD;"),
            '\0'..='\u{1F}' => {
                out.push(b'<');
                out.extend_from_slice(CONTROLS.get(letter as usize).unwrap_or(&"nul").as_bytes());
                out.extend_from_slice(b"/>");
            }
            _ => out.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
}
