//! Rows to record batches.

use crate::Provenance;
use crate::layout::{Integers, Keys, Layout, OctetsAs, Options, ROOT, What};
use crate::store::{Store, Texts, Values};
use arrow_schema::SchemaRef;
use tercet_dynamic::json::{self, JsonWriter};
use tercet_dynamic::leaf::{is_ascii_based, scalar, small};
use tercet_dynamic::text::{Octets, push_octets};
use tercet_dynamic::{Error, ErrorKind, Leaf, Sink, View, say_constant};
use tercet_plan::{FieldId, NodeId, Shape};

/// Rows of a batch: more, and it is full.
const ROWS: usize = 1 << 16;
/// Values of a batch, those included that are absent from a column that has others, which take memory too: more, and it
/// is full.
const CELLS: usize = 1 << 23;
/// Rows that a batch may have however many columns there are.
const FEW_ROWS: usize = 1 << 10;
/// Rows of a row group.
#[cfg(feature = "files")]
const GROUP_ROWS: usize = 1 << 20;
/// Octets of a batch: more, and it is full.
const OCTETS: usize = 32 << 20;

/// Why a value does not fit its column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Misfit {
    Number,
    Text,
    List,
}

/// Octets of numbers without a place in their column that are kept until [`Builder::take_nulled`].
const NULLED_OCTETS: usize = 1 << 16;

/// Numbers of one component that have no place in their column, and are null there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nulled {
    /// The path of the component, with `[]` for the elements of lists.
    pub path: String,
    /// How many there are.
    pub count: u64,
    /// The contents octets of the first ones.
    pub octets: Vec<Vec<u8>>,
    place: u32,
}

/// Makes record batches of the values of one type.
#[derive(Debug)]
pub struct Builder<'s> {
    shape: &'s Shape,
    layout: Layout,
    stores: Vec<Store>,
    json: JsonWriter<'s>,
    octets: Octets,
    /// Which types have texts whose octets are ASCII characters most of the time.
    is_ascii: Vec<bool>,
    rows: usize,
    /// Places with a value since the last batch.
    filled: usize,
    size: usize,
    /// Rows whose value failed: they are left out of the batch.
    dropped: Vec<usize>,
    /// What of the row at hand does not fit its column, and the place of that.
    fault: Option<(u32, Misfit)>,
    nulled: Vec<Nulled>,
    /// Octets that these keep.
    nulled_octets: usize,
    /// Places that have begun.
    open: Vec<u32>,
    /// How many values are open in a column with JSON text, and which column that is.
    json_depth: u32,
    json_place: u32,
    from: Vec<(u32, [i64; 3])>,
    /// Of each row, if they are asked for.
    digests: Vec<Option<[u8; 32]>>,
    /// Numbers of elements, those of a row one behind the other.
    elements: Vec<Option<i64>>,
    files: Vec<String>,
}

impl<'s> Builder<'s> {
    /// A builder for the values of a type.
    pub fn new(shape: &'s Shape, root: NodeId, options: &Options) -> Self {
        let layout = Layout::new(shape, root, options);
        let octets = match options.octets {
            OctetsAs::Text(octets) => octets,
            OctetsAs::Binary => Octets::UpperHex,
        };
        let mut json = json::Options::default();
        json.octets = octets;
        json.enumerations_as_numbers = options.numbers;
        json.general_strings = json::GeneralStrings::Characters;
        json.decimals_as_numbers = true;
        let stores = stores(&layout);
        Self {
            shape,
            layout,
            stores,
            json: JsonWriter::new(shape, json),
            octets,
            is_ascii: shape.nodes.iter().map(|node| is_ascii_based(node.kind)).collect(),
            rows: 0,
            filled: 0,
            size: 0,
            dropped: Vec::new(),
            fault: None,
            nulled: Vec::new(),
            nulled_octets: 0,
            open: Vec::new(),
            json_depth: 0,
            json_place: 0,
            from: Vec::new(),
            digests: Vec::new(),
            elements: Vec::new(),
            files: Vec::new(),
        }
    }

    /// The columns.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The Arrow schema of the batches.
    pub fn schema(&self) -> SchemaRef {
        self.layout.schema()
    }

    /// Rows since the last batch.
    pub fn rows(&self) -> usize {
        self.rows - self.dropped.len()
    }

    /// Octets of contents since the last batch, about.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Whether it is time for [`Builder::finish`].
    pub fn is_full(&self) -> bool {
        let columns = if self.layout.options.dense { self.stores.len() } else { self.filled };
        let many_cells = self.rows >= FEW_ROWS && self.rows * columns >= CELLS;
        many_cells || self.rows >= ROWS || self.size >= OCTETS
    }

    /// Whether it is time to write a row group, in which what is absent takes no room.
    #[cfg(feature = "files")]
    pub(crate) fn is_group(&self) -> bool {
        self.rows >= GROUP_ROWS || self.size >= OCTETS
    }

    /// Takes back all rows but so many of the first ones since the last batch, those that failed included.
    pub fn drop_behind(&mut self, rows: usize) {
        self.take_nulled();
        self.dropped.retain(|row| *row < rows);
        self.dropped.extend(rows..self.rows);
    }

    /// Takes the numbers of the latest rows that have no place in their columns: a REAL beyond the range of float64.
    pub fn take_nulled(&mut self) -> Vec<Nulled> {
        self.nulled_octets = 0;
        std::mem::take(&mut self.nulled)
    }

    /// Takes note of a number that has no place in its column.
    #[cold]
    fn null(&mut self, place: u32, contents: &[u8]) {
        let index = self.nulled.iter().position(|nulled| nulled.place == place).unwrap_or_else(|| {
            let path = self.layout.path_of(self.shape, place);
            self.nulled.push(Nulled { path, count: 0, octets: Vec::new(), place });
            self.nulled.len() - 1
        });
        let nulled = &mut self.nulled[index];
        nulled.count += 1;
        if self.nulled_octets + contents.len() <= NULLED_OCTETS {
            self.nulled_octets += contents.len();
            nulled.octets.push(contents.to_vec());
        }
    }

    /// Rows since the last batch, those that failed included.
    pub fn appended(&self) -> usize {
        self.rows
    }

    /// Appends a value on a tape as a row.
    ///
    /// # Errors
    /// When a value does not fit its column; there is no row then.
    pub fn append(&mut self, view: View<'_>, from: Option<&Provenance<'_>>) -> Result<(), Error> {
        let mut row = self.row(from);
        view.replay(&mut row);
        row.end()
    }

    /// A sink for the events of one value: the row is there after [`Row::end`].
    pub fn row(&mut self, from: Option<&Provenance<'_>>) -> Row<'_, 's> {
        self.rows += 1;
        self.fault = None;
        self.open.clear();
        self.json_depth = 0;
        let number = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
        for list in 0..self.layout.options.elements.len() {
            self.elements.push(from.and_then(|from| *from.elements.get(list)?).map(number));
        }
        if self.layout.options.keys != Keys::None {
            let (file, numbers) = match from {
                Some(from) => {
                    if self.files.last().is_none_or(|file| file != from.file) {
                        self.files.push(from.file.to_owned());
                    }
                    (self.files.len() as u32, [number(from.record), number(from.offset), number(from.length)])
                }
                None => (0, [0; 3]),
            };
            self.from.push((file, numbers));
            if self.layout.options.keys == Keys::Digest {
                self.digests.push(from.and_then(|from| from.sha256));
            }
        }
        Row { builder: self, ended: false }
    }

    /// Takes the rows so far; the builder begins anew.
    pub(crate) fn take(&mut self) -> Rows {
        let before = self.provenance();
        let stores = std::mem::replace(&mut self.stores, stores(&self.layout));
        let mut dropped = std::mem::take(&mut self.dropped);
        dropped.sort_unstable();
        dropped.dedup();
        let count = std::mem::take(&mut self.rows);
        (self.filled, self.size) = (0, 0);
        self.files.clear();
        Rows { count, dropped, before, stores }
    }

    /// The name of an alternative, by its number in [`crate::store::Names`].
    pub(crate) fn alternative(&self, field: u32) -> &str {
        self.shape.fields.get(field as usize).map_or("", |field| self.shape.name(field.name))
    }

    /// Ends a list, if there is one at a place.
    fn end_list(&mut self, place: u32) {
        if self.layout.what(place) != What::List {
            return;
        }
        let element = self.layout.parts(place).next();
        let count = element.map_or(0, |element| self.stores[element as usize].len);
        let store = &mut self.stores[place as usize];
        // Elements are two octets of input at least, and a batch has far fewer than 2 GiB.
        if let Values::List(ends) = &mut store.values
            && ends.len() < store.at.len()
        {
            if i32::try_from(count).is_ok() {
                ends.push(count as u32);
            } else {
                ends.push(ends.last().copied().unwrap_or(0));
                self.fault = Some((place, Misfit::List));
            }
        }
    }

    /// The error about a value that does not fit its column: where, and which option makes room.
    #[cold]
    fn misfit(&self, place: u32, misfit: Misfit) -> Error {
        let column = if self.layout.what(place) == What::Decimal { "decimal128(38, 0)" } else { "int64" };
        let detail = match (misfit, self.layout.options.integers) {
            (Misfit::List, _) => "too long a list".to_owned(),
            (Misfit::Text, _) => "too long a text".to_owned(),
            // The constraints promise that numbers are shorter.
            (Misfit::Number, Integers::Text) => {
                format!("too large for {column}, and outside of its constraint")
            }
            (Misfit::Number, _) => format!(
                "too large for {column}; `--integers text` (in Python `integers=\"text\"`) keeps every number"
            ),
        };
        Error::new(ErrorKind::ColumnOverflow, 0)
            .with_path(self.layout.path_of(self.shape, place))
            .with_detail(detail)
    }

    /// The columns in front of those of the type.
    fn provenance(&mut self) -> Vec<Store> {
        let (elements, from) = (std::mem::take(&mut self.elements), std::mem::take(&mut self.from));
        let digests = std::mem::take(&mut self.digests);
        let mut columns = Vec::new();
        let keys = self.layout.options.keys.names().len();
        if keys > 0 {
            let file = |at: u32| self.files.get((at as usize).wrapping_sub(1)).map(String::as_bytes);
            let mut files = Texts::default();
            columns.push(filled(from.iter().map(|from| file(from.0).map(|file| files.push(file)))));
            columns[0].values = Values::Text(files);
        }
        for number in 0..keys.saturating_sub(1).min(3) {
            columns.push(numbers(from.iter().map(|(at, numbers)| (*at > 0).then_some(numbers[number]))));
        }
        if self.layout.options.keys == Keys::Digest {
            let mut texts = Texts::default();
            let mut store = filled(digests.iter().map(|digest| {
                match self.layout.options.octets {
                    OctetsAs::Binary => texts.octets.extend_from_slice(digest.as_ref()?),
                    OctetsAs::Text(form) => push_octets(&mut texts.octets, digest.as_ref()?, form),
                }
                Some(texts.end())
            }));
            store.values = match self.layout.options.octets {
                OctetsAs::Binary => Values::Binary(texts),
                OctetsAs::Text(_) => Values::Text(texts),
            };
            columns.push(store);
        }
        let lists = self.layout.options.elements.len();
        columns.extend((0..lists).map(|list| numbers(elements.iter().skip(list).step_by(lists).copied())));
        columns
    }
}

/// Rows that a builder gives up.
#[derive(Debug)]
pub(crate) struct Rows {
    /// How many there are, those included that are left out.
    pub(crate) count: usize,
    /// The rows that are left out, in ascending order.
    pub(crate) dropped: Vec<usize>,
    /// The columns in front of those of the type.
    pub(crate) before: Vec<Store>,
    /// Those of the places of the layout.
    pub(crate) stores: Vec<Store>,
}

/// A store without values yet, at the indices of those that are there.
fn filled<T>(values: impl Iterator<Item = Option<T>>) -> Store {
    let mut store = Store::of(Values::None);
    for (index, value) in values.enumerate() {
        store.take(index + 1);
        if value.is_some() {
            store.present();
        }
    }
    store
}

fn numbers(values: impl Iterator<Item = Option<i64>>) -> Store {
    let mut numbers = Vec::new();
    let mut store = filled(values.map(|number| number.map(|number| numbers.push(number))));
    store.values = Values::Int64(numbers);
    store
}

fn stores(layout: &Layout) -> Vec<Store> {
    layout.places.iter().map(|place| Store::new(place.what)).collect()
}

/// Hears a value and makes it a row.
#[derive(Debug)]
pub struct Row<'a, 's> {
    builder: &'a mut Builder<'s>,
    ended: bool,
}

impl Row<'_, '_> {
    /// Completes the row. If it is not called, as after a fault of the decoder, there is no row.
    ///
    /// # Errors
    /// When a value does not fit its column; there is no row then.
    pub fn end(mut self) -> Result<(), Error> {
        match self.builder.fault {
            None => {
                self.ended = true;
                Ok(())
            }
            Some((place, misfit)) => Err(self.builder.misfit(place, misfit)),
        }
    }

    /// The place of a part of the value that has begun last.
    fn place(&self, field: FieldId) -> Option<u32> {
        match self.builder.open.last() {
            None => Some(ROOT),
            Some(&place) => self.builder.layout.child(place, field),
        }
    }

    /// The same; a CHOICE around is told which alternative there is. Parts of a value without columns find no place.
    #[inline]
    fn enter(&mut self, field: FieldId) -> u32 {
        let builder = &mut *self.builder;
        let Some(&around) = builder.open.last() else { return ROOT };
        if builder.layout.what(around) == What::Choice(true) {
            let store = &mut builder.stores[around as usize];
            if let Values::Group(Some(names)) = &mut store.values
                && field.index() < builder.shape.fields.len()
            {
                names.push((store.len - 1) as u32, field.0);
            }
        }
        builder.layout.child(around, field).unwrap_or(u32::MAX)
    }

    /// Takes the place of a value; whether there is no other one at it.
    #[inline]
    fn begin(&mut self, place: u32) -> bool {
        let len = match self.builder.open.last() {
            None => self.builder.rows,
            Some(&around) if self.builder.layout.what(around) == What::List => {
                self.builder.stores[place as usize].len + 1
            }
            Some(&around) => self.builder.stores[around as usize].len,
        };
        let store = &mut self.builder.stores[place as usize];
        self.builder.filled += usize::from(store.len == 0);
        store.take(len)
    }

    #[inline]
    fn value(&mut self, place: u32, node: NodeId, leaf: Leaf<'_>) {
        if !self.begin(place) {
            return;
        }
        let builder = &mut *self.builder;
        let store = &mut builder.stores[place as usize];
        builder.size += 8;
        // The octets of most values are what their column takes; those of others are read as values first.
        let contents = leaf.contents().unwrap_or_default();
        let fits = match &mut store.values {
            Values::Timestamp(..) | Values::Date(_) | Values::TimeOfDay(_) | Values::Amount(_) => {
                return store.typed(contents);
            }
            Values::Int64(values) => {
                let number = if let Leaf::Int(number) = leaf { Some(number) } else { small(contents) };
                values.push(number.unwrap_or(0));
                number.is_some()
            }
            Values::Binary(texts) => {
                builder.size += contents.len();
                texts.push(contents)
            }
            Values::Text(texts)
                if builder.is_ascii.get(node.index()) == Some(&true) && is_plain(contents) =>
            {
                builder.size += contents.len();
                texts.push(contents)
            }
            values => {
                let value = scalar(builder.shape, node, leaf);
                builder.size += contents.len();
                values.append(&value, builder.octets)
            }
        };
        if !fits && matches!(store.values, Values::Float64(_)) {
            return builder.null(place, contents);
        }
        store.present();
        if !fits {
            let is_text = matches!(store.values, Values::Text(_) | Values::Binary(_));
            builder.fault = Some((place, if is_text { Misfit::Text } else { Misfit::Number }));
        }
    }

    fn end_json(&mut self) {
        let builder = &mut *self.builder;
        let store = &mut builder.stores[builder.json_place as usize];
        if let Values::Text(texts) = &mut store.values {
            texts.octets.extend_from_slice(builder.json.text());
            builder.size += builder.json.text().len();
            let fits = texts.end();
            store.present();
            if !fits {
                builder.fault = Some((builder.json_place, Misfit::Text));
            }
        }
    }

    fn begin_json(&mut self, place: u32) -> bool {
        self.builder.json.clear();
        self.builder.json_place = place;
        self.begin(place)
    }
}

/// Whether all octets are characters that all kinds of strings have in the same places.
fn is_plain(text: &[u8]) -> bool {
    text.iter().fold(true, |plain, octet| plain & (0x20..0x7F).contains(octet))
}

impl Drop for Row<'_, '_> {
    fn drop(&mut self) {
        if !self.ended {
            // Where a decoder has stopped there may be lists that have not ended.
            while let Some(place) = self.builder.open.pop() {
                self.builder.end_list(place);
            }
            self.builder.dropped.push(self.builder.rows - 1);
        }
    }
}

impl Sink for Row<'_, '_> {
    #[inline]
    fn leaf(&mut self, field: FieldId, node: NodeId, leaf: Leaf<'_>) {
        if self.builder.json_depth > 0 {
            return self.builder.json.leaf(field, node, leaf);
        }
        let place = self.enter(field);
        match self.builder.layout.what(place) {
            What::Json => {
                if self.begin_json(place) {
                    // A value of its own has no name.
                    self.builder.json.leaf(FieldId::ROOT, node, leaf);
                    self.end_json();
                }
            }
            What::Skip | What::Group | What::Choice(_) | What::List => {}
            _ => self.value(place, node, leaf),
        }
    }

    fn open(&mut self, field: FieldId, node: NodeId) {
        if self.builder.json_depth > 0 {
            self.builder.json_depth += 1;
            return self.builder.json.open(field, node);
        }
        let place = self.enter(field);
        match self.builder.layout.what(place) {
            What::Json => {
                self.builder.json_depth = 1;
                // A second value at one place has no column: its text is thrown away.
                if !self.begin_json(place) {
                    self.builder.json_place = u32::MAX;
                }
                return self.builder.json.open(FieldId::ROOT, node);
            }
            What::Group | What::Choice(_) | What::List if self.begin(place) => {
                self.builder.stores[place as usize].present();
                self.builder.size += 4;
            }
            What::Present => {
                self.value(place, node, Leaf::Int(1));
                self.builder.open.push(u32::MAX);
                return;
            }
            What::Skip => {
                self.builder.open.push(u32::MAX);
                return;
            }
            _ => {}
        }
        self.builder.open.push(place);
    }

    fn close(&mut self, field: FieldId, node: NodeId) {
        if self.builder.json_depth > 0 {
            self.builder.json_depth -= 1;
            self.builder.json.close(field, node);
            if self.builder.json_depth == 0 && self.builder.json_place != u32::MAX {
                self.end_json();
            }
            return;
        }
        if let Some(place) = self.builder.open.pop() {
            self.builder.end_list(place);
        }
    }

    fn absent(&mut self, field: FieldId, node: NodeId, constant: u32) {
        if self.builder.json_depth > 0 {
            return self.builder.json.absent(field, node, constant);
        }
        let shape = self.builder.shape;
        say_constant(shape, field, node, constant, self);
    }

    fn unknown(&mut self, addition: u32, leaf: Leaf<'_>) {
        if self.builder.json_depth > 0 {
            self.builder.json.unknown(addition, leaf);
        }
    }

    fn wants(&self, field: FieldId) -> bool {
        self.builder.json_depth > 0
            || self.builder.layout.options.columns.is_empty()
            || self.place(field).is_some_and(|place| self.builder.layout.what(place) != What::Skip)
    }
}
