//! Events to JSON text.

use super::instructed::Instructed;
use super::{BitStrings, GeneralStrings, OpenTypes, Options};
use crate::constant::say_constant;
use crate::event::{Leaf, Sink};
use crate::leaf::{Scalar, is_ascii_based, item_index, scalar, small};
use crate::tape::View;
use crate::text::{
    Octets, RealText, push_big_integer, push_integer, push_octets, push_plain, push_quoted_hex, push_real,
    push_real_parts,
};
use std::io::Write;
use tercet_plan::{FieldId, Kind, NameId, NodeId, Shape};
use tercet_runtime::types::{BitStr, Real};

/// Appends a decoded value as JSON text.
pub fn write(shape: &Shape, value: View<'_>, out: &mut Vec<u8>, options: &Options) {
    let mut writer = JsonWriter::new(shape, options.clone());
    std::mem::swap(&mut writer.out, out);
    value.replay(&mut writer);
    std::mem::swap(&mut writer.out, out);
}

/// A sink that writes JSON text. One writer serves any number of values of its shape, and so does not prepare
/// the names again.
#[derive(Debug)]
pub struct JsonWriter<'s> {
    printer: Printer<'s>,
    out: Vec<u8>,
}

impl<'s> JsonWriter<'s> {
    /// A writer with no text yet.
    pub fn new(shape: &'s Shape, options: Options) -> Self {
        Self { printer: Printer::new(shape, options), out: Vec::new() }
    }

    /// The text so far: of all values since the last [`JsonWriter::clear`], with nothing between them.
    pub fn text(&self) -> &[u8] {
        &self.out
    }

    /// The text so far, to append a line feed or to take it away.
    pub fn text_mut(&mut self) -> &mut Vec<u8> {
        &mut self.out
    }

    /// Forgets the text, and whatever a failed decode has left; keeps the memory.
    pub fn clear(&mut self) {
        self.out.clear();
        self.printer.reset();
    }

    /// Forgets what was written behind `length`, for a record that failed after some events.
    pub fn truncate(&mut self, length: usize) {
        self.out.truncate(length);
        self.printer.reset();
    }
}

impl Sink for JsonWriter<'_> {
    #[inline]
    fn leaf(&mut self, field: FieldId, node: NodeId, leaf: Leaf<'_>) {
        if self.printer.instructed.is_some() {
            return self.printer.instructed_leaf(&mut self.out, field, node, leaf);
        }
        self.printer.leaf(&mut self.out, field, node, leaf);
    }

    #[inline]
    fn open(&mut self, field: FieldId, node: NodeId) {
        if self.printer.instructed.is_some() {
            return self.printer.instructed_open(&mut self.out, field, node);
        }
        self.printer.open(&mut self.out, field, node);
    }

    #[inline]
    fn close(&mut self, _: FieldId, node: NodeId) {
        if self.printer.instructed.is_some() {
            return self.printer.instructed_close(&mut self.out, node);
        }
        self.printer.close(&mut self.out, node);
    }

    fn absent(&mut self, field: FieldId, node: NodeId, constant: u32) {
        if self.printer.options.defaults {
            let shape = self.printer.shape;
            say_constant(shape, field, node, constant, self);
        }
    }

    fn unknown(&mut self, addition: u32, leaf: Leaf<'_>) {
        self.printer.unknown(addition, leaf);
    }
}

/// The largest integer up to which all have a value of IEEE 754 binary64 of their own: 2^53.
const EXACT_INTEGERS: u64 = 1 << 53;

/// Checks whether an INTEGER, in its contents octets, is beyond what an IEEE 754 double has exactly.
pub(super) fn is_inexact(contents: &[u8]) -> bool {
    match small(contents) {
        Some(number) => number.unsigned_abs() > EXACT_INTEGERS,
        None => true,
    }
}

/// What a node looks like, decided once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Boolean,
    Integer,
    Enumerated,
    /// Octets in hexadecimal; opened, CONTAINING.
    Hex,
    /// ASCII most of the time.
    Ascii,
    /// Opened, an object: SEQUENCE, SET.
    Object,
    /// Opened, an object that keeps unknown alternatives.
    Choice,
    /// Opened, an array.
    Array,
    /// Opened, nothing or an object that tells the type.
    Open,
    /// Everything else.
    Other,
}

/// The state of writing JSON text into somebody's octets.
#[derive(Debug)]
pub(super) struct Printer<'s> {
    pub(super) shape: &'s Shape,
    pub(super) options: Options,
    /// Of X.697 clause 13, if there are any.
    pub(super) instructed: Option<Instructed<'s>>,
    forms: Vec<Form>,
    /// `,"name":` of each field, or `,` for an element: begin and end in `prepared`.
    keys: Vec<(u32, u32)>,
    /// `"name"` of each enumeration item.
    items: Vec<(u32, u32)>,
    prepared: Vec<u8>,
    /// Whether a comma comes before the next item.
    pub(super) comma: bool,
    /// Whether the next item needs more than comma and key.
    careful: bool,
    /// Whether the content of an open type comes next, and its type is to be told.
    tagging: bool,
    upper: bool,
    pub(super) depth: usize,
    /// Values around that have no lines of their own: open types, strings with content.
    pub(super) inline: usize,
    /// Unknown additions of the values that are open, with their depth.
    pub(super) unknown: Vec<(usize, Vec<u8>)>,
    /// Names of types, by node, if they are to be told.
    types: Vec<Option<NameId>>,
}

impl<'s> Printer<'s> {
    pub(crate) fn new(shape: &'s Shape, options: Options) -> Self {
        let mut prepared = Vec::new();
        let colon: &[u8] = if options.indent.is_some() { b": " } else { b":" };
        let instructed = Instructed::of(shape, &options);
        let mut keys = Vec::with_capacity(shape.fields.len());
        for (index, field) in (0..).zip(&shape.fields) {
            let from = prepared.len() as u32;
            prepared.push(b',');
            if !matches!(shape.node(field.parent).kind, Kind::SequenceOf | Kind::SetOf) {
                let name = instructed.as_ref().and_then(|known| known.name(FieldId(index)));
                push_string(&mut prepared, shape.name(name.unwrap_or(field.name)));
                prepared.extend_from_slice(colon);
            }
            keys.push((from, prepared.len() as u32));
        }
        let mut items = Vec::with_capacity(shape.items.len());
        for item in &shape.items {
            let from = prepared.len() as u32;
            push_string(&mut prepared, shape.name(item.name));
            items.push((from, prepared.len() as u32));
        }
        let forms = shape.nodes.iter().map(|node| form(node.kind, &options)).collect();
        let mut types = Vec::new();
        if options.open_types == OpenTypes::Tagged {
            types.extend(shape.nodes.iter().map(|node| node.name));
            for row in shape.tables.iter().flat_map(|table| &table.rows) {
                if let (Some(entry), Some(name)) = (types.get_mut(row.node.index()), row.type_name) {
                    *entry = Some(name);
                }
            }
        }
        Self {
            shape,
            instructed,
            forms,
            keys,
            items,
            prepared,
            comma: false,
            careful: options.indent.is_some(),
            tagging: false,
            upper: options.octets == Octets::UpperHex,
            depth: 0,
            inline: 0,
            unknown: Vec::new(),
            types,
            options,
        }
    }

    pub(crate) fn reset(&mut self) {
        self.comma = false;
        self.tagging = false;
        self.careful = self.options.indent.is_some();
        self.depth = 0;
        self.inline = 0;
        self.unknown.clear();
        if let Some(instructed) = &mut self.instructed {
            instructed.clear();
        }
    }

    #[inline]
    pub(crate) fn leaf(&mut self, out: &mut Vec<u8>, field: FieldId, node: NodeId, leaf: Leaf<'_>) {
        self.begin(out, field, node);
        self.value(out, node, leaf);
    }

    /// A leaf without comma and key.
    #[inline]
    pub(crate) fn value(&self, out: &mut Vec<u8>, node: NodeId, leaf: Leaf<'_>) {
        let (Leaf::Input { contents, .. } | Leaf::Made(contents)) = leaf else {
            return self.other(out, node, leaf);
        };
        match self.forms.get(node.index()) {
            Some(Form::Hex) => push_quoted_hex(out, contents, self.upper),
            Some(Form::Ascii) => {
                out.push(b'"');
                if push_plain(out, contents, [b'"', b'\\', b'"']) {
                    out.push(b'"');
                } else {
                    out.pop();
                    self.other(out, node, leaf);
                }
            }
            Some(Form::Integer) => match small(contents) {
                Some(number) => push_integer(out, number),
                None => self.other(out, node, leaf),
            },
            Some(Form::Enumerated) => {
                let item = small(contents).and_then(|number| item_index(self.shape, node, number));
                match item.and_then(|at| self.items.get(at)) {
                    Some(&(from, to)) => out.extend_from_slice(&self.prepared[from as usize..to as usize]),
                    None => self.other(out, node, leaf),
                }
            }
            Some(Form::Boolean) if contents.len() == 1 => {
                let value: &[u8] = if contents == [0] { b"false" } else { b"true" };
                out.extend_from_slice(value);
            }
            _ => self.other(out, node, leaf),
        }
    }

    #[inline]
    pub(crate) fn open(&mut self, out: &mut Vec<u8>, field: FieldId, node: NodeId) {
        self.begin(out, field, node);
        self.open_here(out, node);
    }

    /// The begin of a value with parts, without comma and key.
    #[inline]
    pub(super) fn open_here(&mut self, out: &mut Vec<u8>, node: NodeId) {
        self.comma = false;
        self.depth += 1;
        match self.forms.get(node.index()) {
            Some(Form::Object | Form::Choice) => out.push(b'{'),
            Some(Form::Array) => out.push(b'['),
            Some(Form::Open) => {
                self.inline += 1;
                if self.options.open_types == OpenTypes::Tagged {
                    self.tagging = true;
                    self.careful = true;
                }
            }
            // X.697 clauses 24 and 25: a string with a contents constraint.
            _ => {
                self.inline += 1;
                let text: &[u8] =
                    if self.options.indent.is_some() { br#"{"containing": "# } else { br#"{"containing":"# };
                out.extend_from_slice(text);
            }
        }
    }

    #[inline]
    pub(crate) fn close(&mut self, out: &mut Vec<u8>, node: NodeId) {
        let form = self.forms.get(node.index()).copied().unwrap_or(Form::Other);
        if !self.unknown.is_empty() {
            self.flush_unknown(out, form);
        }
        self.depth = self.depth.saturating_sub(1);
        match form {
            Form::Object | Form::Choice | Form::Array => {
                if self.careful && self.comma {
                    self.line(out);
                }
                out.push(if form == Form::Array { b']' } else { b'}' });
            }
            Form::Open => {
                self.inline = self.inline.saturating_sub(1);
                if self.options.open_types == OpenTypes::Tagged {
                    out.push(b'}');
                }
            }
            _ => {
                self.inline = self.inline.saturating_sub(1);
                out.push(b'}');
            }
        }
        self.comma = true;
    }

    pub(crate) fn unknown(&mut self, addition: u32, leaf: Leaf<'_>) {
        let Some(contents) = leaf.contents() else { return };
        if self.unknown.last().is_none_or(|(depth, _)| *depth != self.depth) {
            self.unknown.push((self.depth, Vec::new()));
        }
        let Some((_, text)) = self.unknown.last_mut() else { return };
        if !text.is_empty() {
            text.push(b',');
        }
        if addition == u32::MAX {
            push_quoted_hex(text, contents, self.upper);
        } else {
            let _ = write!(text, "{{\"addition\":{addition},\"value\":");
            push_quoted_hex(text, contents, self.upper);
            text.push(b'}');
        }
    }

    #[inline]
    fn begin(&mut self, out: &mut Vec<u8>, field: FieldId, node: NodeId) {
        if self.careful {
            return self.begin_carefully(out, field, node);
        }
        // The key begins with the comma.
        if let Some(&(from, to)) = self.keys.get(field.index()) {
            let from = from as usize + usize::from(!self.comma);
            out.extend_from_slice(&self.prepared[from..to as usize]);
        }
        self.comma = true;
    }

    #[cold]
    pub(super) fn begin_carefully(&mut self, out: &mut Vec<u8>, field: FieldId, node: NodeId) {
        if let Some(&(from, to)) = self.keys.get(field.index()) {
            if self.comma {
                out.push(b',');
            }
            self.line(out);
            out.extend_from_slice(&self.prepared[from as usize + 1..to as usize]);
        }
        if self.tagging {
            self.tagging = false;
            self.careful = self.options.indent.is_some();
            let space = if self.careful { " " } else { "" };
            let _ = write!(out, "{{\"$type\":{space}");
            let name = self.types.get(node.index()).copied().flatten();
            push_string(out, name.map_or("", |name| self.shape.name(name)));
            let _ = write!(out, ",{space}\"$value\":{space}");
        }
        self.comma = true;
    }

    pub(super) fn line(&self, out: &mut Vec<u8>) {
        if let Some(indent) = self.options.indent {
            out.push(b'\n');
            out.resize(out.len() + usize::from(indent) * self.depth.saturating_sub(self.inline), b' ');
        }
    }

    #[cold]
    pub(super) fn flush_unknown(&mut self, out: &mut Vec<u8>, form: Form) {
        if self.unknown.last().is_none_or(|(depth, _)| *depth != self.depth) {
            return;
        }
        let Some((_, text)) = self.unknown.pop() else { return };
        if !self.options.unknown && form != Form::Choice {
            return;
        }
        if self.comma {
            out.push(b',');
        }
        self.line(out);
        out.extend_from_slice(b"\"...\":[");
        out.extend_from_slice(&text);
        out.push(b']');
        self.comma = true;
    }

    /// Every value in the way of its clause of X.697.
    #[cold]
    fn other(&self, out: &mut Vec<u8>, node: NodeId, leaf: Leaf<'_>) {
        let value = match leaf {
            Leaf::Input { contents, .. } | Leaf::Made(contents)
                if is_octets(self.shape.node(node).kind, &self.options) =>
            {
                Scalar::OctetString(contents)
            }
            _ => scalar(self.shape, node, leaf),
        };
        match value {
            Scalar::Boolean(value) => out.extend_from_slice(if value { b"true" } else { b"false" }),
            Scalar::Integer(number)
                if self.options.large_integers_as_text && number.unsigned_abs() > EXACT_INTEGERS =>
            {
                out.push(b'"');
                push_integer(out, number);
                out.push(b'"');
            }
            Scalar::BigInteger(octets) if self.options.large_integers_as_text => {
                out.push(b'"');
                push_big_integer(out, octets);
                out.push(b'"');
            }
            Scalar::Integer(number) => push_integer(out, number),
            Scalar::BigInteger(octets) => push_big_integer(out, octets),
            Scalar::Enumerated(_, Some(name)) if !self.options.enumerations_as_numbers => {
                push_string(out, name)
            }
            // An item of a later version has no name yet.
            Scalar::Enumerated(number, _) => push_integer(out, number),
            Scalar::Addition(number) => {
                let _ = write!(out, "{{\"addition\":{number}}}");
            }
            Scalar::Real(real @ Real::Decimal(_))
                if !self.options.decimals_as_numbers && only_base(self.shape, node) != Some(10) =>
            {
                out.extend_from_slice(b"{\"base10Value\":");
                push_json_real(out, &real);
                out.push(b'}');
            }
            Scalar::Real(real) => push_json_real(out, &real),
            Scalar::BitString(bits) => self.bits(out, node, bits),
            Scalar::OctetString(octets) | Scalar::Raw(octets) => {
                out.push(b'"');
                push_octets(out, octets, self.options.octets);
                out.push(b'"');
            }
            Scalar::Open(octets) => push_quoted_hex(out, octets, self.upper),
            Scalar::Null => out.extend_from_slice(b"null"),
            Scalar::ObjectIdentifier(oid) => {
                let _ = write!(out, "\"{oid}\"");
            }
            Scalar::RelativeOid(oid) => {
                let _ = write!(out, "\"{oid}\"");
            }
            Scalar::Text(text) | Scalar::Time(text) => push_string(out, &text),
        }
    }

    fn bits(&self, out: &mut Vec<u8>, node: NodeId, bits: BitStr<'_>) {
        let (value, length) = match self.options.bits {
            BitStrings::Standard if one_size(self.shape, node) == Some(bits.len() as u64) => ("\"", None),
            BitStrings::Standard => ("{\"value\":\"", Some("length")),
            BitStrings::BitsAndLen => ("{\"bits\":\"", Some("len")),
        };
        out.extend_from_slice(value.as_bytes());
        if bits.is_padded_with_zeros() {
            push_octets(out, bits.bytes(), self.options.octets);
        } else if let Some((last, front)) = bits.bytes().split_last() {
            // X.697 24: the bits that fill the last octet are zero.
            let octets = [front, &[last >> bits.unused() << bits.unused()]].concat();
            push_octets(out, &octets, self.options.octets);
        }
        out.push(b'"');
        if let Some(name) = length {
            let _ = write!(out, ",\"{name}\":{}}}", bits.len());
        }
    }
}

/// Whether a string is written as its octets (X.697 25, 38.2).
pub(super) fn is_octets(kind: Kind, options: &Options) -> bool {
    match kind {
        Kind::OctetString => true,
        Kind::TeletexString | Kind::VideotexString | Kind::GraphicString | Kind::GeneralString => {
            options.general_strings == GeneralStrings::Octets
        }
        _ => false,
    }
}

fn form(kind: Kind, options: &Options) -> Form {
    match kind {
        Kind::Boolean => Form::Boolean,
        Kind::Integer if !options.large_integers_as_text => Form::Integer,
        Kind::Enumerated if !options.enumerations_as_numbers => Form::Enumerated,
        _ if is_octets(kind, options) && options.octets != Octets::Base64 => Form::Hex,
        _ if is_octets(kind, options) => Form::Other,
        Kind::Sequence | Kind::Set => Form::Object,
        Kind::Choice => Form::Choice,
        Kind::SequenceOf | Kind::SetOf => Form::Array,
        Kind::Open => Form::Open,
        _ if is_ascii_based(kind) => Form::Ascii,
        _ => Form::Other,
    }
}

/// The size of a BIT STRING if all its values have the same (X.697 24.2); one with `...` behind it is not visible
/// (7.2.2 g).
fn one_size(shape: &Shape, node: NodeId) -> Option<u64> {
    let constraint = shape.constraints.get(shape.node(node).constraint? as usize)?;
    fixed_size(shape, node).filter(|_| !constraint.extensible)
}

/// The same, or that of the root: the reader takes octets alone as a value of the root.
pub(super) fn fixed_size(shape: &Shape, node: NodeId) -> Option<u64> {
    let constraint = shape.constraints.get(shape.node(node).constraint? as usize)?;
    match constraint.size {
        Some((least, Some(most))) if least == most => Some(least),
        _ => None,
    }
}

/// The base of a REAL that constraints leave no other (X.697 23.4).
pub(super) fn only_base(shape: &Shape, node: NodeId) -> Option<u8> {
    shape.constraints.get(shape.node(node).constraint? as usize)?.base
}

fn push_json_real(out: &mut Vec<u8>, real: &Real<'_>) {
    match push_real(out, real) {
        RealText::Number => {}
        RealText::Word(word) => push_string(out, word),
        RealText::Parts => push_real_parts(out, real),
    }
}

/// Appends a JSON string (RFC 8259 clause 7).
pub(crate) fn push_string(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    let mut rest = text.as_bytes();
    while !rest.is_empty() {
        let plain = plain_json(rest);
        out.extend_from_slice(&rest[..plain]);
        let Some(octet) = rest.get(plain) else { break };
        match octet {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            octet => {
                let _ = write!(out, "\\u{octet:04x}");
            }
        }
        rest = &rest[plain + 1..];
    }
    out.push(b'"');
}

fn plain_json(text: &[u8]) -> usize {
    text.iter().position(|o| *o < 0x20 || *o == b'"' || *o == b'\\').unwrap_or(text.len())
}
