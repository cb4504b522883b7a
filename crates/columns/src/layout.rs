//! Which columns the values of a type have, and how events find them.

use arrow_schema::{DataType, Field, Fields, Schema, SchemaRef, TimeUnit};
use std::collections::HashSet;
use std::sync::Arc;
use tercet_dynamic::text::{Octets, join_path};
use tercet_plan::{FieldId, Kind, NodeId, Shape};

/// What columns look like.
#[derive(Clone, Debug)]
pub struct Options {
    /// Paths of the columns that are wanted: a component, or what is inside of it; all when there are none.
    pub columns: Vec<String>,
    /// What an INTEGER is whose constraints do not bound it to 64 bits: text by default, which every number fits.
    pub integers: Integers,
    /// What a REAL is.
    pub reals: Reals,
    /// What an OCTET STRING is.
    pub octets: OctetsAs,
    /// Whether ENUMERATED gives numbers.
    pub numbers: bool,
    /// What the first columns tell of where the row came from.
    pub keys: Keys,
    /// Columns with the index of the element of a list that the row is of, by the names of the lists.
    pub elements: Vec<String>,
    /// What the elements of lists are called: `item`, as in Arrow, or what a reader wants.
    pub item: String,
    /// Other names for the components of paths.
    pub names: Vec<(String, String)>,
    /// Types whose texts are points in time: they have columns of Arrow's types for these.
    pub texts: Vec<(NodeId, TextAs)>,
    /// Whether there are no structs and lists: each component has a column of its own, named by its path as in CSV, and a list
    /// is JSON text.
    pub flat: bool,
    /// Whether absent values will take memory as others do, as they do in Arrow files and not in Parquet: batches of many
    /// columns have fewer rows then.
    pub dense: bool,
}

/// What a text stands for; one that is none of these is null.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextAs {
    /// `2026-11-01T08:00:17+01:00`: timestamp in microseconds of UTC, and a column `NAME_offset` of the minutes that local
    /// time is ahead of UTC (elements of lists have none).
    Timestamp,
    /// `2026-11-01`: date32.
    Date,
    /// `0.12345`: decimal128(38, 6).
    Amount,
    /// `08:00:17`, with a fraction or without: time64 in microseconds.
    TimeOfDay,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            columns: Vec::new(),
            integers: Integers::Text,
            reals: Reals::Float64,
            octets: OctetsAs::Binary,
            numbers: false,
            keys: Keys::None,
            elements: Vec::new(),
            item: "item".to_owned(),
            names: Vec::new(),
            texts: Vec::new(),
            flat: false,
            dense: false,
        }
    }
}

/// The columns that tell which record a row is of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keys {
    /// None.
    #[default]
    None,
    /// `_file` and `_record`.
    Record,
    /// Those and `_offset` and `_length`.
    Place,
    /// Those and `_sha256`, of the octets of the record: octets as [`Options::octets`] has them.
    Digest,
}

impl Keys {
    /// The names of the columns: a text, then numbers, then octets.
    pub const fn names(self) -> &'static [&'static str] {
        const NAMES: [&str; 5] = ["_file", "_record", "_offset", "_length", "_sha256"];
        match self {
            Self::None => &[],
            Self::Record => NAMES.split_at(2).0,
            Self::Place => NAMES.split_at(4).0,
            Self::Digest => &NAMES,
        }
    }
}

/// What an INTEGER without bounds is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Integers {
    /// int64; a value that does not fit is an error.
    Int64,
    /// decimal128(38, 0); a value that does not fit is an error.
    Decimal,
    /// Decimal digits as text.
    Text,
}

/// What a REAL is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reals {
    /// float64; a number beyond its range, or so small that it would be zero, is null ([`crate::Builder::take_nulled`]).
    Float64,
    /// Decimal text as in CSV: every number fits.
    Text,
}

/// What an OCTET STRING is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OctetsAs {
    /// binary.
    Binary,
    /// Text in this form.
    Text(Octets),
}

/// The columns of a type.
#[derive(Clone, Debug)]
pub struct Layout {
    root: NodeId,
    pub(crate) places: Vec<Place>,
    /// Children of the places, as indices of places plus one.
    children: Vec<u32>,
    schema: SchemaRef,
    /// The schema with structs, where [`Options::flat`] has dissolved them; the same otherwise.
    nested: SchemaRef,
    /// Paths that were asked for and have no column.
    unknown: Vec<String>,
    /// Those that could have been asked for, if some have no column.
    known: Vec<String>,
    pub(crate) options: Options,
}

/// A component at one place in the value; a node that is used twice has two places.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) what: What,
    /// First field of the node.
    first: u32,
    /// Number of fields.
    count: u32,
    /// Where its children begin.
    children: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// No column is wanted.
    Skip,
    /// A struct.
    Group,
    /// A struct; whether the name of the alternative is wanted.
    Choice(bool),
    /// A list.
    List,
    /// JSON text.
    Json,
    /// `true` wherever it is present.
    Present,
    Boolean,
    Int64,
    Decimal,
    Float64,
    Binary,
    Text,
    /// Whether there is a column with the offset.
    Timestamp(bool),
    Date,
    TimeOfDay,
    Amount,
}

/// Decimal places of amounts.
pub(crate) const PLACES: i8 = 6;

/// The place of the outermost value.
pub(crate) const ROOT: u32 = 0;
/// More places than this, and what is left becomes JSON text.
const PLACE_LIMIT: usize = 20_000;
/// Structs and lists inside one another; deeper ones become JSON text.
const DEPTH_LIMIT: usize = 48;
/// Digits that a 128-bit decimal has.
pub(crate) const DIGITS: u8 = 38;

impl Layout {
    /// The columns of a type's values.
    pub fn new(shape: &Shape, root: NodeId, options: &Options) -> Self {
        let mut layout = Self {
            root,
            places: Vec::new(),
            children: Vec::new(),
            schema: Arc::new(Schema::empty()),
            nested: Arc::new(Schema::empty()),
            unknown: Vec::new(),
            known: Vec::new(),
            options: options.clone(),
        };
        let wanted: Vec<String> = options.columns.iter().map(|path| without_indices(path)).collect();
        let mut maker = Maker { shape, wanted, inside: Vec::new(), layout: &mut layout };
        let (_, data_type) = maker.place(root, "");
        let columns = match data_type {
            Some(DataType::Struct(fields)) => fields,
            Some(other) => Fields::from(vec![Field::new("value", other, true)]),
            None => Fields::empty(),
        };
        let from = options.keys.names().iter().enumerate().map(|(index, name)| {
            let data_type = match (index, options.octets) {
                (0, _) | (4, OctetsAs::Text(_)) => DataType::Utf8,
                (4, OctetsAs::Binary) => DataType::Binary,
                _ => DataType::Int64,
            };
            Field::new(*name, data_type, true)
        });
        let elements =
            options.elements.iter().map(|name| Field::new(format!("_{name}"), DataType::Int64, true));
        let from = from.chain(elements).map(Arc::new);
        layout.schema = Arc::new(Schema::new(from.chain(columns.iter().cloned()).collect::<Fields>()));
        layout.unknown = layout.without_column(&options.columns);
        layout.unknown.extend(layout.without_column(options.names.iter().map(|(path, _)| path)));
        if !layout.unknown.is_empty() {
            let all = Self::new(
                shape,
                root,
                &Options { columns: Vec::new(), names: Vec::new(), ..options.clone() },
            );
            layout.known = all.paths();
        }
        layout.nested = Arc::new(Schema::new(renamed(layout.schema.fields(), "", &options.names)));
        layout.schema =
            if options.flat { layout.flattened(&layout.schema) } else { Arc::clone(&layout.nested) };
        layout
    }

    /// The Arrow schema of batches.
    pub fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    /// The schema with structs.
    pub(crate) fn nested(&self) -> &SchemaRef {
        &self.nested
    }

    /// What the first columns tell of where the row came from.
    pub fn keys(&self) -> Keys {
        self.options.keys
    }

    /// Paths of [`Options::columns`] and [`Options::names`] that have no column: they are none of the type's, or misspelt.
    pub fn unknown_columns(&self) -> &[String] {
        &self.unknown
    }

    /// The text about the first path that has no column: the nearest one, and a line of help.
    pub fn unknown_column(&self) -> Option<String> {
        let path = self.unknown.first()?;
        Some(tercet_suggest::unknown("column", path, self.known.iter().map(String::as_str)))
    }

    /// A name that [`Options::names`] gives to two columns of one parent.
    pub fn double_name(&self) -> Option<&str> {
        double(self.schema.fields()).filter(|_| !self.options.names.is_empty())
    }

    fn without_column<'p>(&self, paths: impl IntoIterator<Item = &'p String>) -> Vec<String> {
        let known = |path: &str| {
            let clean = path.replace("[]", "");
            let mut steps = clean.split('.');
            let first = steps.next().unwrap_or_default();
            let Ok(field) = self.schema.field_with_name(first) else { return false };
            let mut data_type = field.data_type();
            for step in steps {
                while let DataType::List(element) = data_type {
                    data_type = element.data_type();
                }
                let DataType::Struct(fields) = data_type else { return false };
                let Some((_, field)) = fields.find(step) else { return false };
                data_type = field.data_type();
            }
            true
        };
        paths.into_iter().filter(|path| !known(path)).cloned().collect()
    }

    /// For each field of the shape whether a decoder has to read it for these columns ([`tercet_dynamic::Sink::wants`]).
    /// Nothing if it has to read all, as an open type may hold anything.
    pub fn wanted_fields(&self, shape: &Shape) -> Option<Vec<bool>> {
        let mut wanted = vec![false; shape.fields.len()];
        let mut json = Vec::new();
        json.extend((self.what(ROOT) == What::Json).then_some(self.root));
        for place in &self.places {
            for index in 0..place.count {
                let child =
                    self.children.get((place.children + index) as usize).and_then(|c| c.checked_sub(1));
                let Some(child) = child else { continue };
                let what = self.places.get(child as usize).map_or(What::Skip, |place| place.what);
                let field = FieldId(place.first + index);
                if what != What::Skip {
                    wanted[field.index()] = true;
                }
                if what == What::Json {
                    json.push(shape.field(field).node);
                }
            }
        }
        // All that is inside of what becomes JSON text; open types may hold anything.
        let mut seen = vec![false; shape.nodes.len()];
        while let Some(node) = json.pop() {
            if std::mem::replace(&mut seen[node.index()], true) {
                continue;
            }
            if shape.node(node).kind == Kind::Open {
                return None;
            }
            json.extend(shape.node(node).containing);
            for (id, field) in shape.fields_of(node) {
                wanted[id.index()] = true;
                json.push(field.node);
            }
        }
        Some(wanted)
    }

    /// What to do with the value at a place.
    #[inline]
    pub(crate) fn what(&self, place: u32) -> What {
        self.places.get(place as usize).map_or(What::Skip, |place| place.what)
    }

    /// The place of a part.
    #[inline]
    pub(crate) fn child(&self, place: u32, field: FieldId) -> Option<u32> {
        let place = self.places.get(place as usize)?;
        let index = field.0.wrapping_sub(place.first);
        if index >= place.count {
            return None;
        }
        self.children.get((place.children + index) as usize)?.checked_sub(1)
    }

    /// The type of the values.
    pub(crate) fn root(&self) -> NodeId {
        self.root
    }

    /// The place that a place is a part of, and the field of the part.
    #[cold]
    pub(crate) fn parent_of(&self, place: u32) -> Option<(u32, FieldId)> {
        self.places.iter().enumerate().find_map(|(parent, it)| {
            let children = self.children.get(it.children as usize..(it.children + it.count) as usize)?;
            let number = children.iter().position(|child| *child == place + 1)?;
            Some((parent as u32, FieldId(it.first + number as u32)))
        })
    }

    /// The places of all parts that have a column.
    pub(crate) fn parts(&self, place: u32) -> impl Iterator<Item = u32> {
        let place = &self.places[place as usize];
        let range = place.children as usize..(place.children + place.count) as usize;
        self.children[range]
            .iter()
            .filter_map(|child| child.checked_sub(1))
            .filter(|&child| self.what(child) != What::Skip)
    }
}

/// A path without the indices of elements, which columns of their own have in CSV alone.
fn without_indices(path: &str) -> String {
    let mut parts = path.split('[');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |path, part| path + part.split_once(']').map_or("", |(_, rest)| rest))
}

fn double(fields: &Fields) -> Option<&str> {
    let mut names = HashSet::new();
    fields.iter().find_map(|field| {
        let mut data_type = field.data_type();
        while let DataType::List(item) = data_type {
            data_type = item.data_type();
        }
        match data_type {
            _ if !names.insert(field.name()) => Some(field.name().as_str()),
            DataType::Struct(fields) => double(fields),
            _ => None,
        }
    })
}

/// Fields of which some have other names.
fn renamed(fields: &Fields, path: &str, names: &[(String, String)]) -> Fields {
    if names.is_empty() {
        return fields.clone();
    }
    let rename = |field: &Arc<Field>| {
        let path = join_path(path, field.name());
        let name =
            names.iter().find(|(other, _)| *other == path).map_or_else(|| field.name(), |(_, name)| name);
        let data_type = renamed_type(field.data_type(), &path, names);
        Arc::new(Field::new(name, data_type, field.is_nullable()))
    };
    fields.iter().map(rename).collect()
}

fn renamed_type(data_type: &DataType, path: &str, names: &[(String, String)]) -> DataType {
    match data_type {
        DataType::Struct(fields) => DataType::Struct(renamed(fields, path, names)),
        DataType::List(item) => {
            let inside = renamed_type(item.data_type(), path, names);
            DataType::List(Arc::new(Field::new(item.name(), inside, item.is_nullable())))
        }
        other => other.clone(),
    }
}

struct Maker<'a> {
    shape: &'a Shape,
    wanted: Vec<String>,
    /// Nodes around this place.
    inside: Vec<NodeId>,
    layout: &'a mut Layout,
}

impl Maker<'_> {
    /// Makes the place of a value and those of its parts.
    fn place(&mut self, node: NodeId, name: &str) -> (u32, Option<DataType>) {
        let index = self.layout.places.len() as u32;
        let (kind, first) = (self.shape.node(node).kind, self.shape.node(node).first);
        self.layout.places.push(Place { what: What::Skip, first, count: 0, children: 0 });
        let full = self.layout.places.len() >= PLACE_LIMIT
            || self.inside.len() >= DEPTH_LIMIT
            || self.inside.contains(&node);
        let (what, data_type) = match kind {
            Kind::Sequence | Kind::Set if self.shape.node(node).count == 0 && !self.inside.is_empty() => {
                self.column(name, What::Present)
            }
            Kind::Sequence | Kind::Set | Kind::Choice if !full => self.group(index, node, name),
            Kind::SequenceOf | Kind::SetOf if !full && !self.layout.options.flat => {
                self.list(index, node, name)
            }
            Kind::Sequence | Kind::Set | Kind::SequenceOf | Kind::SetOf | Kind::Choice | Kind::Open => {
                self.column(name, What::Json)
            }
            _ if self.shape.node(node).containing.is_some() => self.column(name, What::Json),
            _ => {
                let what = self.leaf(node, kind);
                self.column(name, what)
            }
        };
        self.layout.places[index as usize].what = what;
        (index, data_type)
    }

    fn parts(&mut self, index: u32, node: NodeId, name: &str) -> Vec<Arc<Field>> {
        let count = self.shape.node(node).count;
        let children = self.layout.children.len() as u32;
        self.layout.children.resize((children + count) as usize, 0);
        let place = &mut self.layout.places[index as usize];
        (place.children, place.count) = (children, count);
        self.inside.push(node);
        let mut fields = Vec::new();
        let shape = self.shape;
        let of = matches!(shape.node(node).kind, Kind::SequenceOf | Kind::SetOf);
        for (number, (_, part)) in shape.fields_of(node).enumerate() {
            let part_name = if of { name.to_owned() } else { join_path(name, shape.name(part.name)) };
            let (child, data_type) = self.place(part.node, &part_name);
            self.layout.children[children as usize + number] = child + 1;
            let name = if of { &self.layout.options.item } else { shape.name(part.name) };
            fields.extend(data_type.map(|data_type| Arc::new(Field::new(name, data_type, true))));
            if let What::Timestamp(offset) = &mut self.layout.places[child as usize].what {
                let name = format!("{name}_offset");
                *offset = !of && !shape.fields_of(node).any(|(_, field)| shape.name(field.name) == name);
                if *offset {
                    fields.push(Arc::new(Field::new(name, DataType::Int16, true)));
                }
            }
        }
        self.inside.pop();
        fields
    }

    fn group(&mut self, index: u32, node: NodeId, name: &str) -> (What, Option<DataType>) {
        let mut fields = self.parts(index, node, name);
        if self.shape.node(node).kind != Kind::Choice {
            let what = if fields.is_empty() { What::Skip } else { What::Group };
            return (what, (!fields.is_empty()).then(|| DataType::Struct(fields.into())));
        }
        let taken = self.shape.fields_of(node).any(|(_, field)| self.shape.name(field.name) == "choice");
        let discriminator = if taken { "_choice" } else { "choice" };
        let wanted = self.is_wanted(&join_path(name, discriminator));
        if wanted {
            fields.insert(0, Arc::new(Field::new(discriminator, DataType::Utf8, true)));
        }
        if fields.is_empty() {
            return (What::Skip, None);
        }
        (What::Choice(wanted), Some(DataType::Struct(fields.into())))
    }

    fn list(&mut self, index: u32, node: NodeId, name: &str) -> (What, Option<DataType>) {
        match self.parts(index, node, name).pop() {
            Some(element) => (What::List, Some(DataType::List(element))),
            None => (What::Skip, None),
        }
    }

    fn column(&self, name: &str, what: What) -> (What, Option<DataType>) {
        if !self.is_wanted(name) {
            return (What::Skip, None);
        }
        let data_type = match what {
            What::Present | What::Boolean => DataType::Boolean,
            What::Int64 => DataType::Int64,
            What::Decimal => DataType::Decimal128(DIGITS, 0),
            What::Float64 => DataType::Float64,
            What::Binary => DataType::Binary,
            What::Timestamp(_) => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
            What::Date => DataType::Date32,
            What::Amount => DataType::Decimal128(DIGITS, PLACES),
            What::TimeOfDay => DataType::Time64(TimeUnit::Microsecond),
            _ => DataType::Utf8,
        };
        (what, Some(data_type))
    }

    fn is_wanted(&self, name: &str) -> bool {
        let wanted = |path: &String| {
            name == path || name.strip_prefix(path.as_str()).is_some_and(|rest| rest.starts_with('.'))
        };
        self.wanted.is_empty() || name.is_empty() || self.wanted.iter().any(wanted)
    }

    fn leaf(&self, node: NodeId, kind: Kind) -> What {
        match kind {
            Kind::Boolean => What::Boolean,
            Kind::Null => What::Present,
            Kind::Integer => self.integer(node),
            Kind::Enumerated if self.layout.options.numbers => What::Int64,
            Kind::Real if self.layout.options.reals == Reals::Float64 => What::Float64,
            Kind::OctetString if self.layout.options.octets == OctetsAs::Binary => What::Binary,
            _ => match self.layout.options.texts.iter().find(|(text, _)| *text == node) {
                Some((_, TextAs::Timestamp)) => What::Timestamp(false),
                Some((_, TextAs::Date)) => What::Date,
                Some((_, TextAs::Amount)) => What::Amount,
                Some((_, TextAs::TimeOfDay)) => What::TimeOfDay,
                None => What::Text,
            },
        }
    }

    fn integer(&self, node: NodeId) -> What {
        let constraint =
            self.shape.node(node).constraint.and_then(|c| self.shape.constraints.get(c as usize));
        let bounds = constraint.filter(|c| !c.extensible).and_then(|c| c.integer);
        let long = |bound: i128| i64::try_from(bound).is_ok();
        let short = |bound: i128| bound.unsigned_abs() < 10u128.pow(DIGITS.into());
        match bounds {
            Some((Some(low), Some(high))) if long(low) && long(high) => What::Int64,
            Some((Some(low), Some(high))) if short(low) && short(high) => What::Decimal,
            Some((Some(_), Some(_))) => What::Text,
            _ => match self.layout.options.integers {
                Integers::Int64 => What::Int64,
                Integers::Decimal => What::Decimal,
                Integers::Text => What::Text,
            },
        }
    }
}
