//! Values as rows.

use super::cells::Cells;
use super::columns::{Child, Columns, Place, ROOT, What, renamed};
use crate::event::{Leaf, Sink};
use crate::json::{self, JsonWriter};
use crate::leaf::{Scalar, is_ascii_based, item_name, number, scalar};
use crate::tape::View;
use crate::text::{
    Octets, first_of, push_integer, push_octets, push_plain, push_scalar, short_hex, short_integer,
    short_plain,
};
use crate::words::{self, Short};
use std::borrow::Cow;
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
    /// tab, CR, LF). Numbers stay numbers.
    pub guard_formulas: bool,
    /// Paths of the columns that are wanted, see [`Columns::new`]; all unless told.
    pub columns: Vec<String>,
    /// Other names for the columns of paths, and for those within them.
    pub names: Vec<(String, String)>,
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
            names: Vec::new(),
        }
    }
}

/// Writes the values of a type as rows; an absent value is an empty field, an empty text is `""`.
#[derive(Debug)]
pub struct Writer<'s> {
    shape: &'s Shape,
    options: Options,
    columns: Columns,
    /// What becomes of a part that is a leaf, by its place among the children of all places.
    leaves: Vec<(Form, u32)>,
    json: JsonWriter<'s>,
    row: Row,
}

/// The form of the cells of a column, decided once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// Octets in hexadecimal.
    Hex,
    /// ASCII most of the time.
    Ascii,
    Integer,
    Enumerated,
    /// All others, and parts that have no column or are not the only thing that has one.
    Other,
}

/// The row being made; kept for its memory.
#[derive(Debug, Default)]
struct Row {
    cells: Cells,
    /// The place of the value that has begun last; one without parts outside of all, and in a column with JSON text.
    around: Place,
    /// Those of the values around it, with the outside.
    places: Vec<Place>,
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
        let row = Row { cells: Cells::new(columns.columns().len(), options.delimiter), ..Row::default() };
        let leaf = |part: Option<u32>| match part.and_then(|column| columns.columns().get(column as usize)) {
            Some(column) => form(shape.node(column.node).kind, &options),
            None => Form::Other,
        };
        let leaves = columns.only_parts().map(|part| (leaf(part), part.unwrap_or(0))).collect();
        Self { shape, options, leaves, columns, json: JsonWriter::new(shape, json), row }
    }

    /// The columns in order.
    pub fn columns(&self) -> &Columns {
        &self.columns
    }

    /// The columns' names.
    pub fn names(&self) -> impl Iterator<Item = Cow<'_, str>> {
        self.columns.columns().iter().map(|column| renamed(&column.name, &self.options.names))
    }

    /// Appends the line with the columns' names.
    pub fn header(&self, out: &mut Vec<u8>) {
        for (index, name) in self.names().enumerate() {
            if index > 0 {
                out.push(self.options.delimiter);
            }
            push_field(out, name.as_bytes(), self.options.delimiter);
        }
        self.line_end(out);
    }

    /// A sink that appends one row to `out`; it is complete when the outermost value has ended, and what there is of one
    /// that does not end is for the caller to take away.
    pub fn sink<'a>(&'a mut self, out: &'a mut Vec<u8>) -> RowSink<'a, 's> {
        self.row.begin(out);
        RowSink { writer: self, out }
    }

    /// Appends a value on a tape to `out`.
    pub fn write(&mut self, view: View<'_>, out: &mut Vec<u8>) {
        view.replay(&mut self.sink(out));
    }

    fn line_end(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(if self.options.crlf { b"\r\n" } else { b"\n" });
    }

    /// Completes the row.
    fn finish(&mut self, out: &mut Vec<u8>) {
        self.row.cells.end(out);
        self.line_end(out);
    }
}

fn form(kind: Kind, options: &Options) -> Form {
    match kind {
        Kind::OctetString if !options.guard_formulas && options.octets != Octets::Base64 => Form::Hex,
        Kind::Integer => Form::Integer,
        Kind::Enumerated if !options.numbers => Form::Enumerated,
        kind if is_ascii_based(kind) && !options.guard_formulas => Form::Ascii,
        _ => Form::Other,
    }
}

impl Row {
    fn begin(&mut self, out: &mut Vec<u8>) {
        self.cells.begin(out);
        self.around = Place::NONE;
        self.places.clear();
        self.json_depth = 0;
    }
}

/// Hears a value and writes it as a row.
#[derive(Debug)]
pub struct RowSink<'a, 's> {
    writer: &'a mut Writer<'s>,
    out: &'a mut Vec<u8>,
}

impl RowSink<'_, '_> {
    /// Tells a CHOICE its alternative, and a list that one more of its elements has been there.
    #[inline]
    fn part(&mut self, field: FieldId) {
        let row = &mut self.writer.row;
        match row.around.what {
            What::Choice(column) if field != FieldId::ROOT => {
                let name = self.writer.shape.name(self.writer.shape.field(field).name).as_bytes();
                if let Some(name) = words::short(name) {
                    return row.cells.put(self.out, column, name.words(), name.length);
                }
                let begin = row.cells.text().len();
                row.cells.text().extend_from_slice(name);
                row.cells.end_cell(self.out, column, begin);
            }
            What::Elements => row.around.next_element(),
            _ => {}
        }
    }

    /// A part of the value that has begun last. Parts of a value without columns find no place.
    #[inline]
    fn child(&self, field: FieldId) -> Option<Child> {
        let Writer { columns, row, .. } = &*self.writer;
        if row.places.is_empty() {
            return Some(Child { place: ROOT, what: columns.what(ROOT) });
        }
        columns.child(&row.around, field)
    }

    /// Adds the cell of a leaf that is a part of a SEQUENCE or SET, if the cell is short.
    #[inline]
    fn short_leaf(&mut self, field: FieldId, node: NodeId, leaf: Leaf<'_>) -> Option<()> {
        let Writer { shape, options, columns, leaves, row, .. } = &mut *self.writer;
        let &(form, column) = leaves.get(columns.part(&row.around, field)?)?;
        let mut put = |text: Short| row.cells.put(self.out, column, text.words(), text.length);
        match (form, leaf) {
            (Form::Hex, Leaf::Input { contents, .. } | Leaf::Made(contents)) => {
                put(short_hex(contents, options.octets == Octets::UpperHex)?);
            }
            (Form::Ascii, Leaf::Input { contents, .. } | Leaf::Made(contents)) if !contents.is_empty() => {
                put(short_plain(contents, [b'"', options.delimiter, b'"'])?);
            }
            (Form::Integer, leaf) => put(short_integer(number(leaf)?)?),
            (Form::Enumerated, leaf) => put(words::short(item_name(shape, node, number(leaf)?)?.as_bytes())?),
            _ => return None,
        }
        Some(())
    }

    /// A leaf whose cell is not short, or that is not part of a value whose parts have columns, or has none itself.
    #[inline(never)]
    fn other_leaf(&mut self, field: FieldId, node: NodeId, leaf: Leaf<'_>) {
        if self.writer.row.json_depth > 0 {
            return self.writer.json.leaf(field, node, leaf);
        }
        let child = self.child(field);
        self.part(field);
        match child.map(|child| child.what) {
            Some(What::Value(column)) => self.value(column, node, leaf),
            Some(What::Json(column)) if !self.writer.shape.node(node).kind.is_constructed() => {
                self.value(column, node, leaf);
            }
            _ => {}
        }
        if self.writer.row.places.is_empty() {
            self.writer.finish(self.out);
        }
    }

    fn value(&mut self, column: u32, node: NodeId, leaf: Leaf<'_>) {
        let Writer { shape, options, row, .. } = &mut *self.writer;
        let text = row.cells.text();
        let begin = text.len();
        match (form(shape.node(node).kind, options), leaf) {
            (Form::Hex, Leaf::Input { contents, .. } | Leaf::Made(contents)) => {
                push_octets(text, contents, options.octets);
            }
            (Form::Ascii, Leaf::Input { contents, .. } | Leaf::Made(contents))
                if !contents.is_empty() && push_plain(text, contents, [b'"', options.delimiter, b'"']) => {}
            _ => self.other(node, leaf),
        }
        self.writer.row.cells.end_cell(self.out, column, begin);
    }

    /// Appends a text, quoted where it must be.
    fn text(&mut self, text: &[u8]) {
        let Writer { options, row, .. } = &mut *self.writer;
        let push = if options.guard_formulas { push_guarded } else { push_field };
        push(row.cells.text(), text, options.delimiter);
    }

    /// Appends any value.
    fn other(&mut self, node: NodeId, leaf: Leaf<'_>) {
        let Writer { shape, options, row, .. } = &mut *self.writer;
        let out = row.cells.text();
        match scalar(shape, node, leaf) {
            Scalar::Text(text) | Scalar::Time(text) => self.text(text.as_bytes()),
            Scalar::Enumerated(number, _) if options.numbers => push_integer(out, number),
            // One without a short decimal form is told by its parts.
            real @ Scalar::Real(_) => {
                let mut text = Vec::new();
                push_scalar(&mut text, &real, options.octets);
                push_field(out, &text, options.delimiter);
            }
            // In base64 they may begin with a sign.
            octets @ (Scalar::OctetString(_) | Scalar::Open(_) | Scalar::Raw(_))
                if options.guard_formulas =>
            {
                let mut text = Vec::new();
                push_scalar(&mut text, &octets, options.octets);
                self.text(&text);
            }
            value => push_scalar(out, &value, options.octets),
        }
    }

    fn begin_json(&mut self, column: u32) {
        self.writer.json.clear();
        self.writer.row.json_column = column;
    }

    /// The value of a column with JSON text has ended. Its first character is a bracket or a quote: never a formula.
    fn end_json(&mut self) {
        let Writer { row, json, options, .. } = &mut *self.writer;
        let begin = row.cells.text().len();
        push_field(row.cells.text(), json.text(), options.delimiter);
        row.cells.end_cell(self.out, row.json_column, begin);
    }
}

impl Sink for RowSink<'_, '_> {
    #[inline]
    fn leaf(&mut self, field: FieldId, node: NodeId, leaf: Leaf<'_>) {
        if self.short_leaf(field, node, leaf).is_none() {
            self.other_leaf(field, node, leaf);
        }
    }

    fn open(&mut self, field: FieldId, node: NodeId) {
        if self.writer.row.json_depth > 0 {
            self.writer.row.json_depth += 1;
            return self.writer.json.open(field, node);
        }
        let child = self.child(field);
        self.part(field);
        let Writer { columns, row, .. } = &mut *self.writer;
        let inside = child.and_then(|child| columns.place(child.place)).unwrap_or(Place::NONE);
        row.places.push(std::mem::replace(&mut row.around, inside));
        if let What::Json(column) = inside.what {
            row.around = Place::NONE;
            row.json_depth = 1;
            self.begin_json(column);
            // A value of its own has no name.
            self.writer.json.open(FieldId::ROOT, node);
        }
    }

    fn close(&mut self, field: FieldId, node: NodeId) {
        let Writer { row, json, .. } = &mut *self.writer;
        if row.json_depth > 0 {
            row.json_depth -= 1;
            json.close(field, node);
            if row.json_depth > 0 {
                return;
            }
            self.end_json();
        }
        let Writer { row, .. } = &mut *self.writer;
        row.around = row.places.pop().unwrap_or(Place::NONE);
        if row.places.is_empty() {
            self.writer.finish(self.out);
        }
    }

    fn absent(&mut self, field: FieldId, node: NodeId, constant: u32) {
        if self.writer.row.json_depth > 0 {
            return self.writer.json.absent(field, node, constant);
        }
        let Some(child) = self.child(field) else { return };
        let shape = self.writer.shape;
        match (child.what, shape.defaults.get(constant as usize)) {
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
            || self.writer.row.around.what == What::Elements
            || self.child(field).is_some_and(|child| child.what != What::Skip)
    }
}

/// Whether a spreadsheet would take a text for a formula.
pub fn is_formula(text: &[u8]) -> bool {
    text.first().is_some_and(|first| matches!(first, b'=' | b'+' | b'-' | b'@' | b'\t' | b'\r' | b'\n'))
}

/// Appends a field as [`push_field`] does, with an apostrophe in front of a text that a spreadsheet would take for a formula.
pub fn push_guarded(out: &mut Vec<u8>, text: &[u8], delimiter: u8) {
    if is_formula(text) {
        push_field(out, &[b"'", text].concat(), delimiter);
    } else {
        push_field(out, text, delimiter);
    }
}

/// Appends a field, in quotes where RFC 4180 wants them and where it is an empty text.
pub fn push_field(out: &mut Vec<u8>, text: &[u8], delimiter: u8) {
    let special = |octet: &u8| matches!(octet, b'"' | b'\r' | b'\n') || *octet == delimiter;
    let edge = |octet: Option<&u8>| octet == Some(&b' ');
    if !text.is_empty() && !edge(text.first()) && !edge(text.last()) {
        if push_plain(out, text, [b'"', delimiter, b'"']) {
            return;
        }
        if !text.iter().any(special) {
            return out.extend_from_slice(text);
        }
    }
    out.push(b'"');
    let (eights, rest) = text.as_chunks::<8>();
    eights.iter().for_each(|eight| push_doubled(out, u64::from_le_bytes(*eight), 8));
    push_doubled(out, words::word(rest, 0).unwrap_or(0), rest.len());
    out.push(b'"');
}

/// Appends the first octets of a word, each quotation mark twice. JSON text has one every few octets: what ends with one is
/// copied as a word.
fn push_doubled(out: &mut Vec<u8>, mut word: u64, mut length: usize) {
    loop {
        let quote = first_of(word, b'"');
        if quote >= length {
            return words::push(out, [word, 0], length);
        }
        words::push(out, [word, 0], quote + 1);
        out.push(b'"');
        word = word >> (8 * quote) >> 8;
        length -= quote + 1;
    }
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
            ("\tand more than a word", "\tand more than a word"),
            ("{\"a\":1,\"longer\":[\"\",\"\"]}", "\"{\"\"a\"\":1,\"\"longer\"\":[\"\"\"\",\"\"\"\"]}\""),
            ("seven..\"\"nine", "\"seven..\"\"\"\"nine\""),
            ("\"\"\"\"\"\"\"\"", "\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\""),
        ] {
            let mut out = Vec::new();
            push_field(&mut out, text.as_bytes(), b',');
            assert_eq!(String::from_utf8(out).as_deref(), Ok(expected));
        }
    }
}
