//! Which records are wanted: comparisons of components with values.
//!
//! `duration >= 60`, `mtCall.servedIMSI = 262011234567890`, `data.features in (a, b)`, `choice = moCall`. A name alone is a
//! component wherever it is; a path begins at the record. Of a component that is there several times, one has to compare;
//! one that is absent never does. `choice` at the end of a path is the alternative of a CHOICE.

use crate::component::{Component, inside, is_element, steps, way};
use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;
use tercet_dynamic::leaf::{Scalar, scalar};
use tercet_dynamic::text::{Octets, push_octets};
use tercet_dynamic::{FieldId, Leaf, NodeId, Shape, Token, View};
use tercet_plan::Kind;

/// A comparison, not bound to a type yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    path: String,
    comparison: Comparison,
    values: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    /// One of the values.
    Is,
    /// None of them.
    Not,
    Less,
    LessOrEqual,
    More,
    MoreOrEqual,
}

/// Comparisons as they are written; longer ones before those that they begin with.
const COMPARISONS: [(&str, Comparison); 6] = [
    ("!=", Comparison::Not),
    ("<=", Comparison::LessOrEqual),
    (">=", Comparison::MoreOrEqual),
    ("=", Comparison::Is),
    ("<", Comparison::Less),
    (">", Comparison::More),
];

impl FromStr for Condition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is no comparison: say PATH=VALUE, with != < <= > >= or `in (A, B)`");
        let name_end = text.find(['=', '!', '<', '>', ' ']).ok_or_else(wrong)?;
        let (path, rest) = text.split_at(name_end);
        let rest = rest.trim();
        let list = rest.strip_prefix("in").map(str::trim_start).and_then(|rest| rest.strip_prefix('('));
        let (comparison, values) = match list {
            Some(list) => {
                let list = list.strip_suffix(')').ok_or_else(wrong)?;
                (Comparison::Is, list.split(',').map(unquoted).collect())
            }
            None => {
                let found = COMPARISONS.iter().find_map(|(spelt, it)| Some((*it, rest.strip_prefix(spelt)?)));
                let (comparison, value) = found.ok_or_else(wrong)?;
                (comparison, vec![unquoted(value)])
            }
        };
        if path.is_empty() {
            return Err(wrong());
        }
        Ok(Self { path: path.replace("[]", ""), comparison, values })
    }
}

fn unquoted(text: &str) -> String {
    let text = text.trim();
    let inside = |quote| text.strip_prefix(quote).and_then(|text: &str| text.strip_suffix(quote));
    inside('\'').or_else(|| inside('"')).unwrap_or(text).to_owned()
}

/// Conditions on the records of a type, all of which have to be met.
#[derive(Clone, Debug)]
pub struct Filter {
    tests: Vec<Test>,
}

#[derive(Clone, Debug)]
struct Test {
    condition: Condition,
    place: Place,
}

/// What is compared.
#[derive(Clone, Debug)]
enum Place {
    Component(Component),
    /// The alternative of the CHOICE that this way leads to, without elements of lists.
    Choice(Vec<FieldId>),
}

/// A component that there is not, or a condition that no record can be tested by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilterError(String);

impl FilterError {
    pub(crate) fn new(text: String) -> Self {
        Self(text)
    }
}

impl fmt::Display for FilterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for FilterError {}

impl Filter {
    /// Conditions on values of a type.
    ///
    /// # Errors
    /// When the type has no such component, or it is no single value.
    pub fn new(shape: &Shape, root: NodeId, conditions: &[Condition]) -> Result<Self, FilterError> {
        let test = |condition: &Condition| {
            let path = condition.path.as_str();
            let (choice, steps) =
                match path.strip_suffix("choice").map(|rest| rest.strip_suffix('.').unwrap_or(rest)) {
                    Some(around) if choice_at(shape, root, around) => (true, around),
                    _ => (false, path),
                };
            if !choice {
                let component = Component::new(shape, root, path).map_err(FilterError)?;
                return Ok(Test { condition: condition.clone(), place: Place::Component(component) });
            }
            let way = way(shape, root, steps).unwrap_or_default();
            let node = way.last().map_or(root, |field| inside(shape, shape.field(*field).node));
            let names: Vec<&str> = shape.fields_of(node).map(|(_, field)| shape.name(field.name)).collect();
            if let Some(wrong) = condition.values.iter().find(|value| !names.contains(&value.as_str())) {
                return Err(FilterError(format!("`{wrong}` is none of `{}`", names.join("`, `"))));
            }
            Ok(Test { condition: condition.clone(), place: Place::Choice(way) })
        };
        Ok(Self { tests: conditions.iter().map(test).collect::<Result<_, _>>()? })
    }

    /// The fields that have to be decoded for the conditions.
    pub(crate) fn fields(&self) -> impl Iterator<Item = usize> + '_ {
        self.tests.iter().flat_map(|test| {
            let (component, way) = match &test.place {
                Place::Component(component) => (Some(component), &[][..]),
                Place::Choice(way) => (None, &way[..]),
            };
            let component = component.into_iter().flat_map(Component::fields);
            component.chain(way.iter().map(|field| field.index()))
        })
    }

    /// Whether a component is a part of something rendered, wherever that is: no field below this number.
    pub(crate) fn is_of_parts(&self, fields: usize) -> bool {
        self.tests.iter().any(|test| match &test.place {
            Place::Component(component) => component.is_of_parts(fields),
            Place::Choice(way) => way.first().is_some_and(|first| first.index() >= fields),
        })
    }

    /// Alternatives of the record itself that no record may have: they need not be decoded.
    pub(crate) fn excluded(&self, shape: &Shape, root: NodeId) -> Vec<usize> {
        let mut excluded = Vec::new();
        let of_record = |test: &&Test| matches!(&test.place, Place::Choice(way) if way.is_empty());
        for test in self.tests.iter().filter(of_record) {
            for (id, field) in shape.fields_of(root) {
                if !test.condition.meets_name(shape.name(field.name)) {
                    excluded.push(id.index());
                }
            }
        }
        excluded
    }

    /// Whether a record meets all conditions.
    pub(crate) fn accepts(&self, shape: &Shape, view: View<'_>, path: &mut Vec<FieldId>) -> bool {
        self.tests.iter().all(|test| test.is_met(shape, view, path))
    }
}

impl Test {
    fn is_met(&self, shape: &Shape, view: View<'_>, path: &mut Vec<FieldId>) -> bool {
        path.clear();
        for index in 0..view.len() {
            match view.token(index) {
                Token::Open { field, node, .. } => {
                    path.push(if is_element(shape, field) { FieldId::ROOT } else { field });
                    if let Place::Choice(way) = &self.place
                        && is_choice(shape, node)
                        && steps(path).eq(way)
                        && alternative(shape, view, index + 1)
                            .is_some_and(|name| self.condition.meets_name(name))
                    {
                        return true;
                    }
                }
                Token::Close { .. } => _ = path.pop(),
                Token::Leaf { field, node, leaf }
                    if matches!(&self.place, Place::Component(it) if it.is_at(shape, path, field))
                        && self.condition.meets(shape, node, leaf) =>
                {
                    return true;
                }
                _ => {}
            }
        }
        false
    }
}

impl Condition {
    fn meets_name(&self, name: &str) -> bool {
        let is = self.values.iter().any(|value| value == name);
        match self.comparison {
            Comparison::Is => is,
            Comparison::Not => !is,
            _ => false,
        }
    }

    fn meets(&self, shape: &Shape, node: NodeId, leaf: Leaf<'_>) -> bool {
        let scalar = scalar(shape, node, leaf);
        let mut orders = self.values.iter().map(|value| order(&scalar, value));
        match self.comparison {
            Comparison::Is => orders.any(|order| order == Some(Ordering::Equal)),
            Comparison::Not => orders.all(|order| order != Some(Ordering::Equal)),
            Comparison::Less => orders.any(|order| order == Some(Ordering::Less)),
            Comparison::LessOrEqual => orders.any(|order| order.is_some_and(Ordering::is_le)),
            Comparison::More => orders.any(|order| order == Some(Ordering::Greater)),
            Comparison::MoreOrEqual => orders.any(|order| order.is_some_and(Ordering::is_ge)),
        }
    }
}

/// How a value compares with one that was written; nothing if they are of different kinds.
fn order(scalar: &Scalar<'_>, value: &str) -> Option<Ordering> {
    match scalar {
        Scalar::Boolean(it) => Some(it.cmp(&value.parse().ok()?)),
        Scalar::Integer(number) => Some(i128::from(*number).cmp(&value.parse().ok()?)),
        Scalar::Enumerated(_, Some(name)) if *name == value => Some(Ordering::Equal),
        Scalar::Enumerated(number, _) => Some(number.cmp(&value.parse().ok()?)),
        Scalar::Real(real) => real.to_f64().partial_cmp(&value.parse().ok()?),
        Scalar::Text(text) | Scalar::Time(text) => Some(text.as_ref().cmp(value)),
        Scalar::OctetString(octets) | Scalar::Open(octets) => {
            let mut hex = Vec::with_capacity(octets.len() * 2);
            push_octets(&mut hex, octets, Octets::UpperHex);
            Some(hex.as_slice().cmp(value.to_uppercase().as_bytes()))
        }
        _ => None,
    }
}

fn is_choice(shape: &Shape, node: NodeId) -> bool {
    shape.nodes.get(node.index()).is_some_and(|node| node.kind == Kind::Choice)
}

fn alternative<'s>(shape: &'s Shape, view: View<'_>, index: usize) -> Option<&'s str> {
    if index >= view.len() {
        return None;
    }
    match view.token(index) {
        Token::Open { field, .. } | Token::Leaf { field, .. } => {
            Some(shape.name(shape.fields.get(field.index())?.name))
        }
        _ => None,
    }
}

/// Whether a CHOICE without an alternative of that name stands at a path.
fn choice_at(shape: &Shape, root: NodeId, path: &str) -> bool {
    let Some(way) = way(shape, root, path) else { return false };
    let node = way.last().map_or(root, |field| shape.field(*field).node);
    let node = inside(shape, node);
    is_choice(shape, node) && !shape.fields_of(node).any(|(_, field)| shape.name(field.name) == "choice")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_read() {
        let read = |text: &str| text.parse::<Condition>().map(|it| (it.path, it.comparison, it.values));
        let known = |path: &str, comparison, values: &[&str]| {
            Ok((path.to_owned(), comparison, values.iter().map(|value| (*value).to_owned()).collect()))
        };
        assert_eq!(read("a.b=5"), known("a.b", Comparison::Is, &["5"]));
        assert_eq!(read("a >= 5"), known("a", Comparison::MoreOrEqual, &["5"]));
        assert_eq!(read("a != 'x y'"), known("a", Comparison::Not, &["x y"]));
        assert_eq!(read("a[].b in (x, 'y')"), known("a.b", Comparison::Is, &["x", "y"]));
        for text in ["a", "=5", "a ~ 5", "a in 5", "a in (5"] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
