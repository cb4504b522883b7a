//! Events to GSER text.

use crate::constant::say_constant;
use crate::event::{Leaf, Sink};
use crate::leaf::{Scalar, scalar};
use crate::tape::View;
use crate::text::{
    Octets, RealText, decimal_parts, push_big_integer, push_bits, push_integer, push_mantissa, push_octets,
    push_real,
};
use std::io::Write;
use tercet_plan::{FieldId, Kind, NodeId, Shape};
use tercet_runtime::types::{BitStr, Real};

/// What GSER text looks like. The default is one line; start from it and change what matters:
///
/// ```
/// use tercet_dynamic::gser::Options;
/// let mut options = Options::default();
/// options.indent = Some(2);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// Spaces for each level, every component on its own line; unless told all is on one line. With it the text is for
    /// people: RFC 3641 allows spaces but no line feeds.
    pub indent: Option<u8>,
    /// The names of types that are declared to be a mere choice of strings (3.3), `DirectoryString` among others: their
    /// values are written without the alternative.
    pub choices_of_strings: Vec<String>,
}

/// Appends a decoded value as GSER text.
pub fn write(shape: &Shape, value: View<'_>, out: &mut Vec<u8>, options: &Options) {
    let mut writer = GserWriter::new(shape, options.clone());
    std::mem::swap(&mut writer.out, out);
    value.replay(&mut writer);
    std::mem::swap(&mut writer.out, out);
}

/// A sink that writes GSER text. One writer serves any number of values of its shape.
#[derive(Debug)]
pub struct GserWriter<'s> {
    shape: &'s Shape,
    options: Options,
    out: Vec<u8>,
    frames: Vec<Frame>,
}

#[derive(Clone, Copy, Debug)]
struct Frame {
    kind: What,
    /// Whether nothing is in it yet.
    empty: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    /// SEQUENCE, SET.
    Members,
    /// SEQUENCE OF, SET OF.
    Elements,
    Choice,
    /// A CHOICE whose alternative is not told.
    Strings,
    /// An open type, or a string with its content.
    Content,
}

impl<'s> GserWriter<'s> {
    /// A writer with no text yet.
    pub fn new(shape: &'s Shape, options: Options) -> Self {
        Self { shape, options, out: Vec::new(), frames: Vec::new() }
    }

    /// The text so far: of all values since the last [`GserWriter::clear`], with nothing between them.
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
    }

    fn begin(&mut self, field: FieldId) {
        let Some(frame) = self.frames.last_mut() else { return };
        let (kind, first) = (frame.kind, std::mem::replace(&mut frame.empty, false));
        if matches!(kind, What::Members | What::Elements) {
            if !first {
                self.out.push(b',');
            }
            self.line();
        }
        if matches!(kind, What::Members | What::Choice)
            && let Some(known) = self.shape.fields.get(field.index())
        {
            self.out.extend_from_slice(self.shape.name(known.name).as_bytes());
            self.out.push(if kind == What::Choice { b':' } else { b' ' });
        }
    }

    /// The space before a component or brace, or a line for it.
    fn line(&mut self) {
        let Some(indent) = self.options.indent else { return self.out.push(b' ') };
        self.out.push(b'\n');
        let levels =
            self.frames.iter().filter(|frame| matches!(frame.kind, What::Members | What::Elements)).count();
        self.out.resize(self.out.len() + levels * usize::from(indent), b' ');
    }

    fn value(&mut self, node: NodeId, leaf: Leaf<'_>) {
        let out = &mut self.out;
        match scalar(self.shape, node, leaf) {
            Scalar::Boolean(value) => out.extend_from_slice(if value { b"TRUE" } else { b"FALSE" }),
            Scalar::Enumerated(_, Some(name)) => out.extend_from_slice(name.as_bytes()),
            Scalar::Integer(number) | Scalar::Enumerated(number, None) => push_integer(out, number),
            // Of a later version: neither a name nor a number is known.
            Scalar::Addition(number) => push_integer(out, i64::from(number)),
            Scalar::BigInteger(octets) => push_big_integer(out, octets),
            Scalar::Real(real) => push_number(out, &real),
            Scalar::BitString(bits) => self.bits(node, bits),
            Scalar::OctetString(octets) | Scalar::Open(octets) | Scalar::Raw(octets) => {
                out.push(b'\'');
                push_octets(out, octets, Octets::UpperHex);
                out.extend_from_slice(b"'H");
            }
            Scalar::Null => out.extend_from_slice(b"NULL"),
            Scalar::ObjectIdentifier(oid) => {
                let _ = write!(out, "{oid}");
            }
            Scalar::RelativeOid(oid) => {
                let _ = write!(out, "{oid}");
            }
            Scalar::Text(text) | Scalar::Time(text) => push_quoted(out, &text),
        }
    }

    /// 3.5: the names of the bits that are one, if all have a name.
    fn bits(&mut self, node: NodeId, bits: BitStr<'_>) {
        let shape = self.shape;
        // Where zeros at the end mean something, names do not tell them.
        let named =
            shape.node(node).item_count > 0 && bits.trimmed(shape.least_size(node)).len() == bits.len();
        let ones = bits.iter().enumerate().filter(|(_, bit)| *bit).map(|(at, _)| at as i64);
        let names = ones.map(|at| shape.item_name(node, at)).collect::<Option<Vec<_>>>().filter(|_| named);
        let Some(names) = names else {
            self.out.push(b'\'');
            push_bits(&mut self.out, bits);
            return self.out.extend_from_slice(b"'B");
        };
        self.out.push(b'{');
        for (i, name) in names.iter().enumerate() {
            self.out.extend_from_slice(if i > 0 { b", " } else { b" " });
            self.out.extend_from_slice(name.as_bytes());
        }
        self.out.extend_from_slice(b" }");
    }

    fn is_choice_of_strings(&self, node: NodeId) -> bool {
        let name = self.shape.node(node).name.map(|name| self.shape.name(name));
        name.is_some_and(|name| self.options.choices_of_strings.iter().any(|known| known == name))
            && super::read::may_be_strings(self.shape, node)
    }
}

impl Sink for GserWriter<'_> {
    fn leaf(&mut self, field: FieldId, node: NodeId, leaf: Leaf<'_>) {
        self.begin(field);
        self.value(node, leaf);
    }

    fn open(&mut self, field: FieldId, node: NodeId) {
        self.begin(field);
        let kind = match self.shape.node(node).kind {
            Kind::Sequence | Kind::Set => What::Members,
            Kind::SequenceOf | Kind::SetOf => What::Elements,
            Kind::Choice if self.is_choice_of_strings(node) => What::Strings,
            Kind::Choice => What::Choice,
            Kind::Open => What::Content,
            _ => {
                self.out.extend_from_slice(b"CONTAINING ");
                What::Content
            }
        };
        if matches!(kind, What::Members | What::Elements) {
            self.out.push(b'{');
        }
        self.frames.push(Frame { kind, empty: true });
    }

    fn close(&mut self, _: FieldId, _: NodeId) {
        let Some(frame) = self.frames.pop() else { return };
        match frame.kind {
            What::Members | What::Elements => {
                if frame.empty {
                    self.out.push(b' ');
                } else {
                    self.line();
                }
                self.out.push(b'}');
            }
            // An alternative of a later version.
            What::Choice | What::Strings if frame.empty => self.out.extend_from_slice(b"NULL"),
            _ => {}
        }
    }

    fn absent(&mut self, field: FieldId, node: NodeId, constant: u32) {
        say_constant(self.shape, field, node, constant, self);
    }

    fn unknown(&mut self, _: u32, _: Leaf<'_>) {}
}

/// 3.2: characters in UTF-8, quotation marks doubled.
fn push_quoted(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    for (i, part) in text.split('"').enumerate() {
        if i > 0 {
            out.extend_from_slice(b"\"\"");
        }
        out.extend_from_slice(part.as_bytes());
    }
    out.push(b'"');
}

/// 3.19: digits with an exponent, or mantissa, base and exponent.
fn push_number(out: &mut Vec<u8>, real: &Real<'_>) {
    let mut text = Vec::new();
    match push_real(&mut text, real) {
        RealText::Word("INF") => out.extend_from_slice(b"PLUS-INFINITY"),
        RealText::Word("-INF") => out.extend_from_slice(b"MINUS-INFINITY"),
        RealText::Word("NaN") => out.extend_from_slice(b"NOT-A-NUMBER"),
        RealText::Word(word) => out.extend_from_slice(word.as_bytes()),
        RealText::Number => match str::from_utf8(&text).ok().and_then(decimal_parts) {
            Some((negative, digits, exponent)) => {
                let sign = if negative { "-" } else { "" };
                let _ = write!(out, "{sign}{digits}E{exponent}");
            }
            None => out.push(b'0'),
        },
        RealText::Parts => {
            let Real::Binary(binary) = real else { return };
            out.extend_from_slice(b"{ mantissa ");
            push_mantissa(out, binary);
            let _ = write!(out, ", base 2, exponent {} }}", binary.exponent2());
        }
    }
}
