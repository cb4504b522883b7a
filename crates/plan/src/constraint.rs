//! Constraints as a specification states them (X.680 §49–51, X.682): what values are checked against.
//!
//! The encoding rules see bounds only ([`crate::shape::Constraint`]); here is everything, as trees over the elements of
//! X.680 §51, with the place in the specification that each was read from.
//!
//! A value has to meet the restrictions of its node, and those of the edge that leads to it: the field, the root, the
//! row of a table, or the CONTAINING that it is inside of.

use crate::shape::{Constant, Key};
use crate::{FieldId, NameId, NodeId, Rules};

/// A restriction of [`Constraints::list`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RestrictionId(pub u32);

/// One constraint: parentheses after a type.
#[derive(Clone, Debug, PartialEq)]
pub struct Restriction {
    /// The values that its root allows.
    pub root: Element,
    /// `true` if `...` follows: then values outside of the root are valid too (X.680 §50.8).
    pub extensible: bool,
    /// The additional values, after `...`.
    pub additions: Option<Element>,
    /// Where it is written: begin and end in octets, as the compiler counts over all its texts.
    pub span: (u32, u32),
}

/// An element of X.680 §51, or a constraint of X.682.
#[derive(Clone, Debug, PartialEq)]
pub enum Element {
    /// Every value (`ALL`, and what says nothing about values).
    All,
    /// `a | b`.
    Union(Vec<Self>),
    /// `a ^ b`.
    Intersection(Vec<Self>),
    /// `a EXCEPT b`.
    Except(Box<Self>, Box<Self>),
    /// A single value (§51.2).
    Value(Constant),
    /// INTEGER values (§51.4): disjoint ranges in ascending order, whose ends are contents octets (X.690 8.3).
    Integers(Vec<(Option<Number>, Option<Number>)>),
    /// REAL values (§51.4): the ends, and whether each belongs to the range; contents octets (X.690 8.5).
    Reals(Option<(Box<[u8]>, bool)>, Option<(Box<[u8]>, bool)>),
    /// Sizes (§51.5): disjoint ranges in ascending order.
    Sizes(Vec<(u64, Option<u64>)>),
    /// Permitted characters (§51.7) by their codes: disjoint ranges in ascending order.
    Alphabet(Vec<(u32, u32)>),
    /// PATTERN (§51.9).
    Pattern(Box<str>),
    /// SETTINGS (§51.10).
    Settings(Box<str>),
    /// A contained subtype (§51.3): all restrictions of a type, in the order of application.
    Subtype(Option<NameId>, Box<[RestrictionId]>),
    /// WITH COMPONENT (§51.8.2).
    Component(Box<Restriction>),
    /// WITH COMPONENTS (§51.8.5).
    Components(Components),
    /// The value of an object in a set, as far as the object is found by keys (X.682 §10): an index into
    /// [`Constraints::sets`], and the registers of the keys.
    Object(u32, Box<[u16]>),
    /// CONTAINING and ENCODED BY (X.682 §11), the latter as contents octets.
    Contents(Option<NodeId>, Option<Box<[u8]>>),
    /// CONSTRAINED BY (X.682 §9): for people.
    UserDefined,
}

/// An INTEGER: its contents octets (X.690 8.3), the fewest.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Number(pub Box<[u8]>);

impl Number {
    /// The number with the same value as contents octets that may be more than needed.
    pub fn of(contents: &[u8]) -> Self {
        Self(fewest(contents).into())
    }

    /// Compares the number with one in contents octets.
    pub fn compare(&self, contents: &[u8]) -> std::cmp::Ordering {
        let (a, b) = (&*self.0, fewest(contents));
        let negative = |octets: &[u8]| octets.first().is_some_and(|first| *first >= 0x80);
        match (negative(a), negative(b)) {
            (true, false) => std::cmp::Ordering::Less,
            (false, true) => std::cmp::Ordering::Greater,
            // Of two negative numbers the longer is less; octets of one length are in order of their own.
            (true, true) => b.len().cmp(&a.len()).then_with(|| a.cmp(b)),
            (false, false) => a.len().cmp(&b.len()).then_with(|| a.cmp(b)),
        }
    }
}

/// Without leading octets that only repeat the sign.
fn fewest(mut contents: &[u8]) -> &[u8] {
    while let [first, second, ..] = contents
        && (*first == 0 && *second < 0x80 || *first == 0xFF && *second >= 0x80)
    {
        contents = &contents[1..];
    }
    contents
}

/// WITH COMPONENTS.
#[derive(Clone, Debug, PartialEq)]
pub struct Components {
    /// `true` if `...` stands first: components that are not named are then free.
    pub partial: bool,
    /// The named ones.
    pub list: Vec<Component>,
}

/// A component in WITH COMPONENTS.
#[derive(Clone, Debug, PartialEq)]
pub struct Component {
    /// Its identifier.
    pub name: NameId,
    /// The constraint on its value.
    pub value: Option<Restriction>,
    /// PRESENT, ABSENT, OPTIONAL.
    pub presence: Option<Presence>,
}

/// A presence constraint (X.680 §51.8.9).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the standard's own names")]
pub enum Presence {
    Present,
    Absent,
    Optional,
}

/// An information object set reduced to keys and one field that holds a value.
#[derive(Clone, Debug, PartialEq)]
pub struct ValueTable {
    /// The object set's name.
    pub name: Option<NameId>,
    /// `true` if the set is extensible: any other value is then valid too.
    pub extensible: bool,
    /// Keys and the value, once for each object that has them.
    pub rows: Vec<(Vec<Key>, Constant)>,
}

impl Restriction {
    fn encoded_by(&self) -> Option<(NodeId, Rules)> {
        match &self.root {
            Element::Contents(Some(inside), Some(oid)) => Some((*inside, Rules::of_oid(oid)?)),
            _ => None,
        }
    }
}

/// All restrictions of a shape, by what they restrict.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Constraints {
    /// The restrictions.
    pub list: Vec<Restriction>,
    /// Object sets that values are taken from.
    pub sets: Vec<ValueTable>,
    /// Of each node, in the order of application.
    pub nodes: Vec<Box<[RestrictionId]>>,
    /// Of each field, beside those of its node.
    pub fields: Vec<Box<[RestrictionId]>>,
    /// Of each root, beside those of its node.
    pub roots: Vec<Box<[RestrictionId]>>,
    /// Of the rows of each table, beside those of their nodes.
    pub rows: Vec<Vec<Box<[RestrictionId]>>>,
    /// Of what is inside of nodes with CONTAINING, beside those of the node inside.
    pub contents: Vec<(NodeId, Box<[RestrictionId]>)>,
    /// The node within which each key register holds: sorted pairs.
    pub scopes: Vec<(NodeId, u16)>,
}

impl Constraints {
    /// A restriction by its id.
    pub fn get(&self, id: RestrictionId) -> &Restriction {
        &self.list[id.0 as usize]
    }

    /// The restrictions of a node.
    pub fn of_node(&self, node: NodeId) -> &[RestrictionId] {
        self.nodes.get(node.index()).map_or(&[], |ids| ids)
    }

    /// The restrictions of a field.
    pub fn of_field(&self, field: FieldId) -> &[RestrictionId] {
        self.fields.get(field.index()).map_or(&[], |ids| ids)
    }

    /// The restrictions of a row of a table.
    pub fn of_row(&self, table: u32, row: usize) -> &[RestrictionId] {
        self.rows.get(table as usize).and_then(|rows| rows.get(row)).map_or(&[], |ids| ids)
    }

    /// The key registers that hold within a value of a node.
    pub fn scopes_of(&self, node: NodeId) -> &[(NodeId, u16)] {
        let begin = self.scopes.partition_point(|(scope, _)| *scope < node);
        let end = begin + self.scopes[begin..].partition_point(|(scope, _)| *scope == node);
        &self.scopes[begin..end]
    }

    /// Returns what a string contains that other rules encode (CONTAINING … ENCODED BY, X.682 §11), and these rules.
    pub fn encoded_by(&self, field: FieldId, node: NodeId) -> Option<(NodeId, Rules)> {
        let all = self.of_node(node).iter().chain(self.of_field(field));
        all.map(|id| self.get(*id)).find_map(Restriction::encoded_by)
    }

    /// Lists the encoding rules that [`Constraints::encoded_by`] returns anywhere, each once.
    pub fn rules_of_contents(&self) -> Vec<Rules> {
        let mut all = Vec::new();
        for (_, rules) in self.list.iter().filter_map(Restriction::encoded_by) {
            if !all.contains(&rules) {
                all.push(rules);
            }
        }
        all
    }

    /// The restrictions of what is inside a node with CONTAINING.
    pub fn of_contents(&self, outer: NodeId) -> &[RestrictionId] {
        let at = self.contents.binary_search_by_key(&outer, |(node, _)| *node);
        at.map_or(&[], |at| &self.contents[at].1)
    }
}

#[cfg(test)]
mod tests {
    use super::Number;
    use std::cmp::Ordering;

    #[test]
    fn numbers_of_any_length_are_in_order() {
        let ordered: [&[u8]; 8] =
            [&[0x80, 0], &[0xFF, 0x7F], &[0x80], &[0xFF], &[0], &[0x7F], &[0, 0x80], &[1, 0, 0]];
        for (i, a) in ordered.iter().enumerate() {
            for (j, b) in ordered.iter().enumerate() {
                assert_eq!(Number::of(a).compare(b), i.cmp(&j), "{a:?} {b:?}");
            }
        }
        assert_eq!(Number::of(&[0, 0, 5]).compare(&[5]), Ordering::Equal);
        assert_eq!(Number::of(&[0xFF, 0xFF]), Number::of(&[0xFF]));
    }
}
