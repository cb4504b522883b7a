//! Which columns the values of a type have: from the schema alone, so that two files always have the same.
//!
//! Each SEQUENCE, SET and CHOICE is opened up into the columns of its parts, named by their path. A CHOICE has one column
//! more, in front of its alternatives, with the name of the alternative taken. Lists, open types and types inside
//! themselves are one column with JSON text; but the elements of a list of which some are asked for by their indices
//! (`volumes[0..2]`, `volumes[0].uplink`) have columns like components.

use std::borrow::Cow;
use std::ops::Range;
use tercet_plan::{FieldId, Kind, NodeId, Shape};

/// A column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// The names of the components from the outermost value to this one, with dots between them.
    pub name: String,
    /// Its type.
    pub node: NodeId,
    /// The way to it.
    pub path: Vec<FieldId>,
}

/// The columns of a type, and how events find them.
#[derive(Clone, Debug, Default)]
pub struct Columns {
    columns: Vec<Column>,
    places: Vec<Place>,
    /// Children of the places.
    children: Vec<Child>,
}

/// A part of a place: its own place, and what is there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Child {
    pub(super) place: u32,
    pub(super) what: What,
}

/// A component at one place in the value; a node that is used twice has two places.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Place {
    /// What to do with a value here.
    pub(super) what: What,
    /// First field of the node.
    first: u32,
    /// Number of fields.
    count: u32,
    /// Where its children begin.
    children: u32,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum What {
    /// Its parts have columns.
    Group,
    /// Its parts have columns, and this one takes the alternative's name.
    Choice(u32),
    /// Its elements have columns, some of them.
    Elements,
    /// The value is a column.
    Value(u32),
    /// The value is a column with JSON text.
    Json(u32),
    /// No column is wanted.
    #[default]
    Skip,
}

/// The place of the outermost value.
pub(super) const ROOT: u32 = 0;

/// More columns than this, and what is left becomes JSON text.
const COLUMN_LIMIT: usize = 20_000;

impl Place {
    /// One without parts.
    pub(super) const NONE: Self = Self { what: What::Skip, first: 0, count: 0, children: 0 };

    /// Of a list: the next event of its only field is the next element.
    #[inline]
    pub(super) fn next_element(&mut self) {
        self.first = self.first.wrapping_sub(1);
    }
}

impl Columns {
    /// The columns of a type's values.
    ///
    /// `wanted` says which paths are kept: a path itself, or what begins with it and a dot; all when there are none. In a
    /// path, `[2]` is one element of a list and `[0..2]` its first two.
    pub fn new(shape: &Shape, root: NodeId, wanted: &[String]) -> Self {
        let mut columns = Self::default();
        let wanted: Vec<String> = wanted.iter().flat_map(|path| each_element(path)).collect();
        Builder { shape, wanted: &wanted, inside: Vec::new(), path: Vec::new(), columns: &mut columns }
            .place(root, "");
        columns
    }

    /// The columns in order.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Whether there are columns of a path.
    pub fn has(&self, path: &str) -> bool {
        let has = |path: &String| self.columns.iter().any(|column| within(&column.name, path).is_some());
        each_element(path).iter().all(has)
    }

    /// What to do with the value at a place.
    #[inline]
    pub(super) fn what(&self, place: u32) -> What {
        self.places.get(place as usize).map_or(What::Skip, |place| place.what)
    }

    /// A place.
    #[inline]
    pub(super) fn place(&self, place: u32) -> Option<Place> {
        self.places.get(place as usize).copied()
    }

    /// A part of a place.
    #[inline]
    pub(super) fn child(&self, place: &Place, field: FieldId) -> Option<Child> {
        self.children.get(self.part(place, field)?).copied()
    }

    /// Returns the index of a part of a place among those of all places.
    #[inline]
    pub(super) fn part(&self, place: &Place, field: FieldId) -> Option<usize> {
        let index = field.0.wrapping_sub(place.first);
        (index < place.count).then(|| (place.children + index) as usize)
    }

    /// Returns for each part of all places the column that its value is, if the value around it has nothing to note.
    pub(super) fn only_parts(&self) -> impl Iterator<Item = Option<u32>> {
        let mut columns = vec![None; self.children.len()];
        for place in self.places.iter().filter(|place| place.what == What::Group) {
            for part in place.children..place.children + place.count {
                if let What::Value(column) = self.children[part as usize].what {
                    columns[part as usize] = Some(column);
                }
            }
        }
        columns.into_iter()
    }
}

struct Builder<'a> {
    shape: &'a Shape,
    wanted: &'a [String],
    /// Nodes around this place.
    inside: Vec<NodeId>,
    path: Vec<FieldId>,
    columns: &'a mut Columns,
}

impl Builder<'_> {
    /// Makes the place of a value and those of its parts.
    fn place(&mut self, node: NodeId, name: &str) -> u32 {
        let index = self.columns.places.len() as u32;
        let shape = self.shape;
        let kind = shape.node(node).kind;
        let (first, count) = (shape.node(node).first, shape.node(node).count);
        self.columns.places.push(Place { what: What::Skip, first, count: 0, children: 0 });
        let full = self.columns.columns.len() >= COLUMN_LIMIT || self.inside.contains(&node);
        let what = match kind {
            Kind::Sequence | Kind::Set | Kind::Choice if !full => {
                let what = match kind {
                    Kind::Choice => {
                        self.column(if name.is_empty() { "choice" } else { name }, node).map(What::Choice)
                    }
                    _ => None,
                };
                let children = self.columns.children.len() as u32;
                let none = Child { place: u32::MAX, what: What::Skip };
                self.columns.children.resize((children + count) as usize, none);
                let place = &mut self.columns.places[index as usize];
                (place.children, place.count) = (children, count);
                self.inside.push(node);
                for (number, (field, part)) in shape.fields_of(node).enumerate() {
                    self.path.push(field);
                    let part_name = crate::text::join_path(name, shape.name(part.name));
                    let place = self.place(part.node, &part_name);
                    let what = self.columns.what(place);
                    self.columns.children[children as usize + number] = Child { place, what };
                    self.path.pop();
                }
                self.inside.pop();
                what.unwrap_or(What::Group)
            }
            Kind::SequenceOf | Kind::SetOf if !full && !self.indices(name).is_empty() => {
                self.elements(index, node, name)
            }
            Kind::Sequence | Kind::Set | Kind::SequenceOf | Kind::SetOf | Kind::Choice | Kind::Open => {
                self.column(if name.is_empty() { "value" } else { name }, node).map_or(What::Skip, What::Json)
            }
            _ => {
                let json = shape.node(node).containing.is_some();
                let what = if json { What::Json } else { What::Value };
                self.column(if name.is_empty() { "value" } else { name }, node).map_or(What::Skip, what)
            }
        };
        self.columns.places[index as usize].what = what;
        index
    }

    /// Which elements of a list are asked for, from the first to behind the last; none if those are too many.
    fn indices(&self, name: &str) -> Range<u32> {
        let index =
            |path: &String| path.strip_prefix(name)?.strip_prefix('[')?.split_once(']')?.0.parse().ok();
        let found = || self.wanted.iter().filter_map(index);
        match (found().min(), found().max()) {
            (Some(first), Some(last)) if last - first < COLUMN_LIMIT as u32 => first..last.saturating_add(1),
            _ => 0..0,
        }
    }

    /// Makes the places of some elements of a list. Each event of an element takes the field's number down by one.
    fn elements(&mut self, index: u32, node: NodeId, name: &str) -> What {
        let Some((field, part)) = self.shape.fields_of(node).next() else { return What::Skip };
        let indices = self.indices(name);
        let begin = self.columns.children.len();
        let place = &mut self.columns.places[index as usize];
        place.first = field.0.wrapping_add(indices.start);
        (place.children, place.count) = (begin as u32, indices.len() as u32);
        self.columns.children.resize(begin + indices.len(), Child { place: u32::MAX, what: What::Skip });
        self.inside.push(node);
        self.path.push(field);
        for (number, element) in indices.enumerate() {
            let place = self.place(part.node, &format!("{name}[{element}]"));
            self.columns.children[begin + number] = Child { place, what: self.columns.what(place) };
        }
        self.path.pop();
        self.inside.pop();
        What::Elements
    }

    fn column(&mut self, name: &str, node: NodeId) -> Option<u32> {
        let wanted = |path: &String| within(name, path).is_some();
        if !self.wanted.is_empty() && !self.wanted.iter().any(wanted) {
            return None;
        }
        self.columns.columns.push(Column { name: name.to_owned(), node, path: self.path.clone() });
        Some(self.columns.columns.len() as u32 - 1)
    }
}

/// What a name has behind that of a path which it is within; nothing if it is that path.
fn within<'n>(name: &'n str, path: &str) -> Option<&'n str> {
    name.strip_prefix(path).filter(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

/// The name of a column where some paths have other names: that of the longest path that it is at or within.
pub fn renamed<'n>(name: &'n str, names: &'n [(String, String)]) -> Cow<'n, str> {
    let within = names.iter().filter_map(|(path, other)| Some((path.len(), other, within(name, path)?)));
    match within.max_by_key(|(length, ..)| *length) {
        Some((_, other, rest)) => Cow::Owned(format!("{other}{rest}")),
        None => Cow::Borrowed(name),
    }
}

/// A path with `[0..2]` in it, for each of the elements.
fn each_element(path: &str) -> Vec<String> {
    let range = |from: usize| {
        let begin = from + path[from..].find('[')?;
        let end = begin + path[begin..].find(']')?;
        let (first, last) = path[begin + 1..end].split_once("..")?;
        Some((begin, end, first.parse().ok()?..last.parse().ok()?))
    };
    let starts = path.match_indices('[').map(|(at, _)| at);
    let Some((begin, end, indices)) = starts.filter_map(range).next() else { return vec![path.to_owned()] };
    let indices: Range<u32> = indices;
    let paths =
        indices.flat_map(|index| each_element(&format!("{}[{index}{}", &path[..begin], &path[end..])));
    let paths: Vec<String> = paths.take(COLUMN_LIMIT + 1).collect();
    // None or too many, and there is no column of the path as it is.
    if (1..=COLUMN_LIMIT).contains(&paths.len()) { paths } else { vec![path.to_owned()] }
}

#[cfg(test)]
mod tests {
    use super::each_element;

    #[test]
    fn paths_of_elements() {
        assert_eq!(each_element("a.b"), ["a.b"]);
        assert_eq!(each_element("a[2].b"), ["a[2].b"]);
        assert_eq!(each_element("a[1..3].b"), ["a[1].b", "a[2].b"]);
        assert_eq!(each_element("a[0..2][3..5]"), ["a[0][3]", "a[0][4]", "a[1][3]", "a[1][4]"]);
        for path in ["a[", "a]", "a[..]", "a[1..]", "a[2..2]", "a[0..99999]", "a[0..999][0..999]", "a[x..y"] {
            assert_eq!(each_element(path), [path]);
        }
    }
}
