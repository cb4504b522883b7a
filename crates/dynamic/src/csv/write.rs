//! Values as rows.

use super::columns::{Child, Columns, Place, ROOT, What};
use crate::event::{Leaf, Sink};
use crate::json::{self, JsonWriter};
use crate::leaf::{Scalar, is_ascii_based, item_name, scalar, small};
use crate::tape::{Tag, View};
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
    /// What the values of each node look like.
    forms: Vec<Form>,
    json: JsonWriter<'s>,
    row: Row,
}

/// What a value looks like, decided once for each node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Octets,
    /// ASCII most of the time.
    Ascii,
    Integer,
    Enumerated,
    Other,
}

/// The row being made; kept for its memory.
///
/// Cells go to the output as they come, with the delimiters in front of them, as long as their columns are in order. Once
/// one is not, as in a SET, cells follow on each other without delimiters, and the row is put in order at its end.
#[derive(Debug, Default)]
struct Row {
    /// Where the row begins in the output.
    start: usize,
    /// The column behind the last one, if all so far have come in order.
    next: Option<u32>,
    /// Where each column's text is, from the begin of the row.
    slots: Vec<(u32, u32)>,
    /// Which columns have one, a bit each.
    filled: Vec<u64>,
    /// The octets of a row that is put in order, and some more.
    cells: Vec<u8>,
    /// Places that have begun.
    places: Vec<u32>,
    /// How many values are open in a column with JSON text, and which column that is.
    json_depth: u32,
    json_column: u32,
}

/// A cell of so many octets is copied with one move, and what is too much taken away.
const SHORT: usize = 16;

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
        let forms = shape.nodes.iter().map(|node| form(node.kind, &options)).collect();
        Self { shape, options, columns, forms, json: JsonWriter::new(shape, json), row }
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

    /// A sink that appends one row to `out`; it is complete when the outermost value has ended, and what there is of one
    /// that does not end is for the caller to take away.
    pub fn sink<'a>(&'a mut self, out: &'a mut Vec<u8>) -> RowSink<'a, 's> {
        self.row.begin(out.len());
        RowSink { writer: self, out }
    }

    /// Appends a value on a tape to `out`.
    pub fn write(&mut self, view: View<'_>, out: &mut Vec<u8>) {
        let mut sink = self.sink(out);
        let mut index = 0;
        while index < view.len() {
            if let Some(behind) = sink.columns_of(view, index) {
                index = behind;
            } else {
                view.replay_part(index, &mut sink);
                index = view.skip(index);
            }
        }
    }

    fn line_end(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(if self.options.crlf { b"\r\n" } else { b"\n" });
    }

    /// Completes the row.
    fn finish(&mut self, out: &mut Vec<u8>) {
        let delimiter = self.options.delimiter;
        let next = match self.row.next {
            Some(next) => next as usize,
            None => self.row.put_in_order(out, delimiter),
        };
        push_delimiters(out, delimiter, self.row.slots.len().saturating_sub(next.max(1)));
        self.line_end(out);
    }
}

fn form(kind: Kind, options: &Options) -> Form {
    match kind {
        Kind::OctetString => Form::Octets,
        Kind::Integer => Form::Integer,
        Kind::Enumerated if !options.numbers => Form::Enumerated,
        kind if is_ascii_based(kind) => Form::Ascii,
        _ => Form::Other,
    }
}

impl Row {
    fn begin(&mut self, start: usize) {
        self.start = start;
        self.next = Some(0);
        self.filled.fill(0);
        self.places.clear();
        self.json_depth = 0;
    }

    /// Begins a cell; gives where.
    #[inline]
    fn begin_cell(&mut self, column: u32, out: &mut Vec<u8>, delimiter: u8) -> usize {
        match self.next {
            // The first column has no delimiter in front of it.
            Some(next) if column >= next => {
                push_delimiters(out, delimiter, (column + 1 - next.max(1)) as usize);
                self.next = Some(column + 1);
            }
            _ => self.next = None,
        }
        out.len()
    }

    /// Ends a cell.
    #[inline]
    fn end_cell(&mut self, column: u32, begin: usize, end: usize) {
        let cell = ((begin - self.start) as u32, (end - self.start) as u32);
        if let (Some(slot), Some(filled)) =
            (self.slots.get_mut(column as usize), self.filled.get_mut(column as usize / 64))
        {
            *slot = cell;
            *filled |= 1 << (column % 64);
        }
    }

    /// Writes the cells again, by their columns; gives the column behind the last one.
    fn put_in_order(&mut self, out: &mut Vec<u8>, delimiter: u8) -> usize {
        self.cells.clear();
        self.cells.extend_from_slice(&out[self.start..]);
        self.cells.extend_from_slice(&[0; SHORT]);
        out.truncate(self.start);
        let mut next = 0;
        for (word, bits) in self.filled.iter().enumerate() {
            let mut bits = *bits;
            while bits != 0 {
                let column = word * 64 + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                push_delimiters(out, delimiter, column + 1 - next.max(1));
                next = column + 1;
                let (start, end) = self.slots[column];
                let (start, length) = (start as usize, (end - start) as usize);
                match self.cells[start..].first_chunk::<SHORT>() {
                    Some(cell) if length <= SHORT => {
                        out.extend_from_slice(cell);
                        out.truncate(out.len() - SHORT + length);
                    }
                    _ => out.extend_from_slice(&self.cells[start..start + length]),
                }
            }
        }
        next
    }
}

#[inline]
fn push_delimiters(out: &mut Vec<u8>, delimiter: u8, count: usize) {
    if count == 1 {
        out.push(delimiter);
    } else if count <= SHORT {
        out.extend_from_slice(&[delimiter; SHORT]);
        out.truncate(out.len() - SHORT + count);
    } else {
        out.resize(out.len() + count, delimiter);
    }
}

/// Hears a value and writes it as a row.
#[derive(Debug)]
pub struct RowSink<'a, 's> {
    writer: &'a mut Writer<'s>,
    out: &'a mut Vec<u8>,
}

impl RowSink<'_, '_> {
    /// Writes what stands on a tape from an index on, as far as it has columns of its own; gives the index behind. Nothing
    /// if there is none: most of a record is written here, the rest as the events of a sink.
    #[inline]
    fn columns_of(&mut self, view: View<'_>, begin: usize) -> Option<usize> {
        let mut around = self.around();
        let mut index = begin;
        while let Some(entry) = view.entries().get(index) {
            let field = entry.field();
            if entry.tag() == Tag::Close {
                self.close(field, entry.node());
                around = self.around();
                index += 1;
                continue;
            }
            let child = match &around {
                Some(around) => self.writer.columns.child(around, field),
                None => Some(Child { place: ROOT, what: self.writer.columns.what(ROOT) }),
            };
            let Some(Child { place, what }) = child else { break };
            match (what, entry.tag()) {
                (What::Value(column), Tag::Input | Tag::Made | Tag::Int) if around.is_some() => {
                    let Some(leaf) = view.leaf(index) else { break };
                    self.alternative(around.as_ref(), field);
                    self.value(column, entry.node(), leaf);
                }
                (What::Group | What::Choice(_), Tag::Open) => {
                    self.alternative(around.as_ref(), field);
                    self.writer.row.places.push(place);
                    around = self.around();
                }
                _ => break,
            }
            index += 1;
        }
        (index > begin).then_some(index)
    }

    /// The place of the value that has begun last.
    #[inline]
    fn around(&self) -> Option<Place> {
        self.writer.row.places.last().map(|&place| self.writer.columns.place(place).unwrap_or(Place::NONE))
    }

    /// Tells a CHOICE its alternative.
    #[inline]
    fn alternative(&mut self, around: Option<&Place>, field: FieldId) {
        if let Some(Place { what: What::Choice(column), .. }) = around
            && field != FieldId::ROOT
        {
            let begin = self.begin_cell(*column);
            let name = self.writer.shape.name(self.writer.shape.field(field).name);
            self.out.extend_from_slice(name.as_bytes());
            self.end_cell(*column, begin);
        }
    }

    /// The place of a part of the value that has begun last, which is told to a CHOICE.
    #[inline]
    fn enter(&mut self, field: FieldId) -> u32 {
        let around = self.around();
        self.alternative(around.as_ref(), field);
        // Parts of a value without columns find no place.
        self.place(field).unwrap_or(u32::MAX)
    }

    /// The place of a part of the value that has begun last.
    fn place(&self, field: FieldId) -> Option<u32> {
        match self.around() {
            None => Some(ROOT),
            Some(around) => self.writer.columns.child(&around, field).map(|child| child.place),
        }
    }

    #[inline]
    fn begin_cell(&mut self, column: u32) -> usize {
        self.writer.row.begin_cell(column, self.out, self.writer.options.delimiter)
    }

    #[inline]
    fn end_cell(&mut self, column: u32, begin: usize) {
        self.writer.row.end_cell(column, begin, self.out.len());
    }

    /// Appends a text, quoted where it must be.
    fn text(&mut self, text: &[u8]) {
        let delimiter = self.writer.options.delimiter;
        let formula = self.writer.options.guard_formulas
            && text.first().is_some_and(|first| matches!(first, b'=' | b'+' | b'-' | b'@' | b'\t' | b'\r'));
        if formula {
            let mut guarded = Vec::with_capacity(text.len() + 1);
            guarded.push(b'\'');
            guarded.extend_from_slice(text);
            push_field(self.out, &guarded, delimiter);
        } else {
            push_field(self.out, text, delimiter);
        }
    }

    #[inline]
    fn value(&mut self, column: u32, node: NodeId, leaf: Leaf<'_>) {
        let begin = self.begin_cell(column);
        match (self.writer.forms.get(node.index()), leaf) {
            (Some(Form::Octets), Leaf::Input { contents, .. } | Leaf::Made(contents)) => {
                push_octets(self.out, contents, self.writer.options.octets);
            }
            (Some(Form::Ascii), Leaf::Input { contents, .. } | Leaf::Made(contents)) => {
                self.ascii(node, leaf, contents);
            }
            (Some(Form::Integer), Leaf::Int(number)) => push_integer(self.out, number),
            (Some(Form::Integer), Leaf::Input { contents, .. } | Leaf::Made(contents)) => {
                match small(contents) {
                    Some(number) => push_integer(self.out, number),
                    None => self.other(node, leaf),
                }
            }
            (Some(Form::Enumerated), Leaf::Input { contents, .. } | Leaf::Made(contents)) => {
                match small(contents).and_then(|number| item_name(self.writer.shape, node, number)) {
                    Some(name) => self.out.extend_from_slice(name.as_bytes()),
                    None => self.other(node, leaf),
                }
            }
            _ => self.other(node, leaf),
        }
        self.end_cell(column, begin);
    }

    #[inline]
    fn ascii(&mut self, node: NodeId, leaf: Leaf<'_>, contents: &[u8]) {
        let options = &self.writer.options;
        if plain_ascii(contents, [b'"', options.delimiter, b'"']) != contents.len() {
            self.other(node, leaf);
        } else if contents.is_empty() || options.guard_formulas {
            self.text(contents);
        } else {
            self.out.extend_from_slice(contents);
        }
    }

    #[inline(never)]
    fn other(&mut self, node: NodeId, leaf: Leaf<'_>) {
        let options = &self.writer.options;
        match scalar(self.writer.shape, node, leaf) {
            Scalar::Text(text) | Scalar::Time(text) => self.text(text.as_bytes()),
            Scalar::Enumerated(number, _) if options.numbers => push_integer(self.out, number),
            // One without a short decimal form is told by its parts.
            real @ Scalar::Real(_) => {
                let mut text = Vec::new();
                push_scalar(&mut text, &real, options.octets);
                push_field(self.out, &text, options.delimiter);
            }
            value => push_scalar(self.out, &value, options.octets),
        }
    }

    fn begin_json(&mut self, column: u32) {
        self.writer.json.clear();
        self.writer.row.json_column = column;
    }

    /// The value of a column with JSON text has ended. Its first character is a bracket or a quote: never a formula.
    fn end_json(&mut self) {
        let column = self.writer.row.json_column;
        let begin = self.begin_cell(column);
        push_field(self.out, self.writer.json.text(), self.writer.options.delimiter);
        self.end_cell(column, begin);
    }

    fn end_value(&mut self) {
        if self.writer.row.places.is_empty() {
            self.writer.finish(self.out);
        }
    }
}

impl Sink for RowSink<'_, '_> {
    #[inline]
    fn leaf(&mut self, field: FieldId, node: NodeId, leaf: Leaf<'_>) {
        if self.writer.row.json_depth > 0 {
            return self.writer.json.leaf(field, node, leaf);
        }
        let place = self.enter(field);
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
        if place == ROOT {
            self.writer.finish(self.out);
        }
    }

    fn open(&mut self, field: FieldId, node: NodeId) {
        if self.writer.row.json_depth > 0 {
            self.writer.row.json_depth += 1;
            return self.writer.json.open(field, node);
        }
        let place = self.enter(field);
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
