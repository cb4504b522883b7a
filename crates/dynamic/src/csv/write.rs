//! Values as rows.

use super::columns::{Columns, ROOT, What};
use crate::event::{Leaf, Sink};
use crate::json::{self, JsonWriter};
use crate::leaf::{Scalar, is_ascii_based, scalar};
use crate::tape::View;
use crate::text::{Octets, plain_ascii, push_integer, push_octets, push_scalar};
use tercet_plan::shape::Constant;
use tercet_plan::{FieldId, Kind, NodeId, Shape};

/// How rows are written.
#[derive(Clone, Debug)]
pub struct Options {
    /// Between fields; a comma unless told.
    pub delimiter: u8,
    /// Whether lines end with CR LF, as RFC 4180 has it, or with LF, as unless told.
    pub crlf: bool,
    /// How octets are written, here and in JSON text.
    pub octets: Octets,
    /// Whether ENUMERATED gives numbers.
    pub numbers: bool,
    /// Whether an apostrophe is put in front of texts that a spreadsheet would take for a formula (`=`, `+`, `-`, `@`,
    /// tab, CR).
    pub guard_formulas: bool,
    /// Paths of the columns that are wanted, see [`Columns::new`]; all unless told.
    pub columns: Vec<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            delimiter: b',',
            crlf: false,
            octets: Octets::UpperHex,
            numbers: false,
            guard_formulas: false,
            columns: Vec::new(),
        }
    }
}

/// Writes the values of a type as rows; an absent value is an empty field, an empty text is `""`.
#[derive(Debug)]
pub struct Writer<'s> {
    shape: &'s Shape,
    options: Options,
    columns: Columns,
    json: JsonWriter<'s>,
    row: Row,
}

/// The row being made; kept for its memory.
#[derive(Debug, Default)]
struct Row {
    /// The fields' texts in the order they came.
    texts: Vec<u8>,
    /// Where each column's text is.
    slots: Vec<(u32, u32)>,
    /// Which columns have one, a bit each.
    filled: Vec<u64>,
    /// Places that have begun.
    places: Vec<u32>,
    /// How many values are open in a column with JSON text, and which column that is.
    json_depth: u32,
    json_column: u32,
}

impl<'s> Writer<'s> {
    /// A writer for values of one type.
    pub fn new(shape: &'s Shape, root: NodeId, options: Options) -> Self {
        let columns = Columns::new(shape, root, &options.columns);
        let json = json::Options {
            octets: options.octets,
            enumerations_as_numbers: options.numbers,
            general_strings: json::GeneralStrings::Characters,
            decimals_as_numbers: true,
            ..json::Options::default()
        };
        let count = columns.columns().len();
        let row = Row { slots: vec![(0, 0); count], filled: vec![0; count.div_ceil(64)], ..Row::default() };
        Self { shape, options, columns, json: JsonWriter::new(shape, json), row }
    }

    /// The columns in order.
    pub fn columns(&self) -> &Columns {
        &self.columns
    }

    /// Appends the line with the columns' names.
    pub fn header(&self, out: &mut Vec<u8>) {
        for (index, column) in self.columns.columns().iter().enumerate() {
            if index > 0 {
                out.push(self.options.delimiter);
            }
            push_field(out, column.name.as_bytes(), self.options.delimiter);
        }
        self.line_end(out);
    }

    /// A sink that appends one row to `out` when the outermost value has ended.
    pub fn sink<'a>(&'a mut self, out: &'a mut Vec<u8>) -> RowSink<'a, 's> {
        self.row.texts.clear();
        self.row.places.clear();
        self.row.filled.fill(0);
        self.row.json_depth = 0;
        RowSink { writer: self, out }
    }

    /// Appends a value on a tape to `out`.
    pub fn write(&mut self, view: View<'_>, out: &mut Vec<u8>) {
        view.replay(&mut self.sink(out));
    }

    fn line_end(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(if self.options.crlf { b"\r\n" } else { b"\n" });
    }

    /// Appends the row.
    fn finish(&mut self, out: &mut Vec<u8>) {
        let delimiter = self.options.delimiter;
        let mut next = 0;
        for (word, bits) in self.row.filled.iter().enumerate() {
            let mut bits = *bits;
            while bits != 0 {
                let column = word * 64 + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                out.resize(out.len() + column - next, delimiter);
                next = column;
                let (start, end) = self.row.slots[column];
                out.extend_from_slice(&self.row.texts[start as usize..end as usize]);
            }
        }
        out.resize(out.len() + self.row.slots.len().saturating_sub(next + 1), delimiter);
        self.line_end(out);
    }
}

/// Hears a value and writes it as a row.
#[derive(Debug)]
pub struct RowSink<'a, 's> {
    writer: &'a mut Writer<'s>,
    out: &'a mut Vec<u8>,
}

impl RowSink<'_, '_> {
    /// The place of a part of the value that has begun last.
    #[inline]
    fn place(&self, field: FieldId) -> Option<u32> {
        match self.writer.row.places.last() {
            None => Some(ROOT),
            Some(&place) => self.writer.columns.child(place, field),
        }
    }

    /// Puts what has been appended to the texts since `start` into a column.
    #[inline]
    fn fill(&mut self, column: u32, start: usize) {
        let row = &mut self.writer.row;
        row.slots[column as usize] = (start as u32, row.texts.len() as u32);
        row.filled[column as usize / 64] |= 1 << (column % 64);
    }

    /// Puts a text into a column, quoted where it must be.
    fn text(&mut self, column: u32, text: &[u8]) {
        let start = self.writer.row.texts.len();
        let delimiter = self.writer.options.delimiter;
        let formula = self.writer.options.guard_formulas
            && text.first().is_some_and(|first| matches!(first, b'=' | b'+' | b'-' | b'@' | b'\t' | b'\r'));
        if formula {
            let mut guarded = Vec::with_capacity(text.len() + 1);
            guarded.push(b'\'');
            guarded.extend_from_slice(text);
            push_field(&mut self.writer.row.texts, &guarded, delimiter);
        } else {
            push_field(&mut self.writer.row.texts, text, delimiter);
        }
        self.fill(column, start);
    }

    fn value(&mut self, column: u32, node: NodeId, leaf: Leaf<'_>) {
        let start = self.writer.row.texts.len();
        let shape = self.writer.shape;
        let kind = shape.node(node).kind;
        let options = &self.writer.options;
        let texts = &mut self.writer.row.texts;
        if let Some(contents) = leaf.contents() {
            if kind == Kind::OctetString {
                push_octets(texts, contents, options.octets);
                return self.fill(column, start);
            }
            let stops = [b'"', options.delimiter, b'"'];
            if is_ascii_based(kind) && plain_ascii(contents, stops) == contents.len() {
                if contents.is_empty() || options.guard_formulas {
                    return self.text(column, contents);
                }
                texts.extend_from_slice(contents);
                return self.fill(column, start);
            }
        }
        match scalar(shape, node, leaf) {
            Scalar::Text(text) | Scalar::Time(text) => return self.text(column, text.as_bytes()),
            Scalar::Enumerated(number, _) if options.numbers => push_integer(texts, number),
            // One without a short decimal form is told by its parts.
            real @ Scalar::Real(_) => {
                let mut text = Vec::new();
                push_scalar(&mut text, &real, options.octets);
                push_field(texts, &text, options.delimiter);
            }
            value => push_scalar(texts, &value, options.octets),
        }
        self.fill(column, start);
    }

    fn begin_json(&mut self, column: u32) {
        self.writer.json.clear();
        self.writer.row.json_column = column;
    }

    /// The value of a column with JSON text has ended. Its first character is a bracket or a quote: never a formula.
    fn end_json(&mut self) {
        let Writer { row, json, options, .. } = &mut *self.writer;
        let start = row.texts.len();
        push_field(&mut row.texts, json.text(), options.delimiter);
        let column = row.json_column;
        self.fill(column, start);
    }

    fn end_value(&mut self) {
        if self.writer.row.places.is_empty() {
            self.writer.finish(self.out);
        }
    }

    /// The alternative of a CHOICE that has begun last.
    #[inline]
    fn alternative(&mut self, field: FieldId) {
        if let Some(&place) = self.writer.row.places.last()
            && let What::Choice(column) = self.writer.columns.what(place)
            && field != FieldId::ROOT
        {
            let start = self.writer.row.texts.len();
            let name = self.writer.shape.name(self.writer.shape.field(field).name);
            self.writer.row.texts.extend_from_slice(name.as_bytes());
            self.fill(column, start);
        }
    }
}

impl Sink for RowSink<'_, '_> {
    fn leaf(&mut self, field: FieldId, node: NodeId, leaf: Leaf<'_>) {
        if self.writer.row.json_depth > 0 {
            return self.writer.json.leaf(field, node, leaf);
        }
        self.alternative(field);
        let Some(place) = self.place(field) else { return };
        match self.writer.columns.what(place) {
            What::Value(column) => self.value(column, node, leaf),
            What::Json(column) => {
                if self.writer.shape.node(node).kind.is_constructed() {
                    return;
                }
                self.value(column, node, leaf);
            }
            What::Group | What::Choice(_) | What::Skip => {}
        }
        self.end_value();
    }

    fn open(&mut self, field: FieldId, node: NodeId) {
        if self.writer.row.json_depth > 0 {
            self.writer.row.json_depth += 1;
            return self.writer.json.open(field, node);
        }
        self.alternative(field);
        // Parts of a value without columns find no place.
        let place = self.place(field).unwrap_or(u32::MAX);
        if let What::Json(column) = self.writer.columns.what(place) {
            self.begin_json(column);
            self.writer.row.json_depth = 1;
            // A value of its own has no name.
            return self.writer.json.open(FieldId::ROOT, node);
        }
        self.writer.row.places.push(place);
    }

    fn close(&mut self, field: FieldId, node: NodeId) {
        if self.writer.row.json_depth > 0 {
            self.writer.row.json_depth -= 1;
            self.writer.json.close(field, node);
            if self.writer.row.json_depth == 0 {
                self.end_json();
                self.end_value();
            }
            return;
        }
        self.writer.row.places.pop();
        self.end_value();
    }

    fn absent(&mut self, field: FieldId, node: NodeId, constant: u32) {
        if self.writer.row.json_depth > 0 {
            return self.writer.json.absent(field, node, constant);
        }
        let Some(place) = self.place(field) else { return };
        let shape = self.writer.shape;
        match (self.writer.columns.what(place), shape.defaults.get(constant as usize)) {
            (What::Value(column), Some(Constant::Boolean(value))) => {
                self.value(column, node, Leaf::Int(i64::from(*value)));
            }
            (What::Value(column), Some(Constant::Int(number))) => {
                self.value(column, node, Leaf::Int(*number))
            }
            (What::Value(column), Some(Constant::Contents(contents))) => {
                self.value(column, node, Leaf::Made(contents))
            }
            (What::Json(column), Some(_)) => {
                self.begin_json(column);
                self.writer.json.absent(FieldId::ROOT, node, constant);
                self.end_json();
            }
            // A structured default in columns of its own: what is absent stays empty.
            _ => {}
        }
    }

    fn unknown(&mut self, addition: u32, leaf: Leaf<'_>) {
        if self.writer.row.json_depth > 0 {
            self.writer.json.unknown(addition, leaf);
        }
    }

    fn wants(&self, field: FieldId) -> bool {
        self.writer.options.columns.is_empty()
            || self.writer.row.json_depth > 0
            || self.place(field).is_some_and(|place| self.writer.columns.what(place) != What::Skip)
    }
}

/// Appends a field, in quotes where RFC 4180 wants them and where it is an empty text.
pub fn push_field(out: &mut Vec<u8>, text: &[u8], delimiter: u8) {
    let special = |octet: &u8| matches!(octet, b'"' | b'\r' | b'\n') || *octet == delimiter;
    let edge = |octet: Option<&u8>| octet == Some(&b' ');
    if !text.is_empty() && !text.iter().any(special) && !edge(text.first()) && !edge(text.last()) {
        return out.extend_from_slice(text);
    }
    out.push(b'"');
    for part in text.split_inclusive(|octet| *octet == b'"') {
        out.extend_from_slice(part);
        if part.last() == Some(&b'"') {
            out.push(b'"');
        }
    }
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::push_field;

    #[test]
    fn fields_are_quoted_where_they_must_be() {
        for (text, expected) in [
            ("plain", "plain"),
            ("", "\"\""),
            ("a,b", "\"a,b\""),
            ("say \"x\"", "\"say \"\"x\"\"\""),
            ("\"", "\"\"\"\""),
            ("a\nb", "\"a\nb\""),
            ("a\rb", "\"a\rb\""),
            (" a", "\" a\""),
            ("ä\0", "ä\0"),
        ] {
            let mut out = Vec::new();
            push_field(&mut out, text.as_bytes(), b',');
            assert_eq!(String::from_utf8(out).as_deref(), Ok(expected));
        }
    }
}
