//! Which records are kept: comparisons of components with values, joined with `and`, `or` and `not`.
//!
//! `duration >= 60 and choice in (moCall, mtCall)`, `data.accessPoint like 'internet%'`, `not (answerTime is null)`. A name
//! alone is a component wherever it is; a path begins at the record. Of a component that is there several times, one has
//! to compare: `volumes.uplink > 5` holds if one element of the list `volumes` meets it, `volumes[0].uplink > 5` if the first does. `choice` at the end of a path is the alternative of a CHOICE.
//!
//! A comparison with an absent component is neither true nor false, as in SQL, so that `not` does not make it true: only
//! `is null` keeps such a record.
//!
//! Conditions are checked against the schema before a record is read: a component or a name that does not exist, and a number
//! compared with a text, are errors.

mod bind;
mod error;
mod syntax;
mod values;

pub use error::FilterError;
pub use syntax::Condition;

use crate::component::{Component, is_element, steps};
use crate::interpret::Leaves;
use bind::Test;
use syntax::Step;
use tercet_dynamic::leaf::scalar;
use tercet_dynamic::{FieldId, NodeId, Shape, Token, View};
use tercet_plan::Kind;

/// Conditions on the records of a type, all of which have to be met.
#[derive(Clone, Debug)]
pub struct Filter {
    tests: Vec<Test>,
    steps: Vec<Step>,
    /// For each field of the shape whether a test looks at it.
    is_tested: Vec<bool>,
    /// The fields whose presence tells the alternative of a CHOICE that a test looks at.
    alternatives: Vec<usize>,
    /// Whether some tests are of one element of a list.
    has_indices: bool,
}

/// The memory of a [`Filter`] from one record to the next.
#[derive(Clone, Debug, Default)]
pub struct FilterState {
    path: Vec<FieldId>,
    elements: Elements,
    /// Of each test, what has been found.
    found: Vec<Found>,
    stack: Vec<Truth>,
}

/// Where the values that are open are in their lists.
#[derive(Clone, Debug, Default)]
struct Elements {
    /// Of each open value its number in the list around it, if it is an element.
    numbers: Vec<Option<u64>>,
    /// Of each open value how many parts have begun.
    parts: Vec<u64>,
}

impl Elements {
    fn clear(&mut self) {
        self.numbers.clear();
        self.parts.clear();
    }

    /// Counts a part of the value that has begun last; its number, if it is an element.
    fn part(&mut self, is_element: bool) -> Option<u64> {
        let parts = self.parts.last_mut()?;
        *parts += 1;
        is_element.then_some(*parts - 1)
    }

    fn open(&mut self, is_element: bool) {
        let number = self.part(is_element);
        self.numbers.push(number);
        self.parts.push(0);
    }

    fn close(&mut self) {
        self.numbers.pop();
        self.parts.pop();
    }
}

/// What is known of a test, in a record as far as it has been read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    /// The component has not been there.
    Absent,
    /// It has been there, and has not compared.
    Different,
    Compared,
}

impl From<bool> for Found {
    fn from(compares: bool) -> Self {
        if compares { Self::Compared } else { Self::Different }
    }
}

/// A truth value; that of a comparison with an absent component is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Truth {
    False,
    Unknown,
    True,
}

impl From<bool> for Truth {
    fn from(is: bool) -> Self {
        if is { Self::True } else { Self::False }
    }
}

/// What is compared.
#[derive(Clone, Debug)]
enum Place {
    Component(Component),
    /// The alternative of the CHOICE that this way leads to, without elements of lists.
    Choice(Vec<FieldId>),
}

impl Filter {
    /// Conditions on values of a type; `rendered` are the types of the shape that a rendering has made.
    ///
    /// # Errors
    /// When the type has no such component, or a value cannot be compared with it.
    pub fn new(
        shape: &Shape,
        rendered: Option<Leaves>,
        root: NodeId,
        conditions: &[Condition],
    ) -> Result<Self, FilterError> {
        let mut tests = Vec::new();
        for condition in conditions {
            for written in &condition.tests {
                tests.push(Test::new(shape, rendered, root, condition, written)?);
            }
        }
        let mut is_tested = vec![false; shape.fields.len()];
        for field in tests.iter().flat_map(|test| test.last_fields(shape, root)) {
            is_tested[field.index()] = true;
        }
        let has_indices = tests.iter().any(Test::has_indices);
        let alternatives = tests.iter().flat_map(|test| test.alternatives(shape, root)).collect();
        Ok(Self { tests, steps: Condition::joined_steps(conditions), is_tested, has_indices, alternatives })
    }

    /// The fields that have to be decoded for the conditions.
    pub(crate) fn fields(&self) -> impl Iterator<Item = usize> + '_ {
        let tested = self.is_tested.iter().enumerate().filter(|(_, is_tested)| **is_tested);
        let ways = self.tests.iter().flat_map(|test| {
            let (component, way) = match &test.place {
                Place::Component(component) => (Some(component), &[][..]),
                Place::Choice(way) => (None, &way[..]),
            };
            let component = component.into_iter().flat_map(Component::fields);
            component.chain(way.iter().map(|field| field.index()))
        });
        ways.chain(tested.map(|(index, _)| index)).chain(self.alternatives.iter().copied())
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
        let mut stack = Vec::new();
        let mut may_meet = |name: &str| {
            // Of the other tests nothing is known: what is false all the same is false for every record.
            let truth = |test: &Test| match &test.place {
                Place::Choice(way) if way.is_empty() => test.truth(test.alternative(name)),
                _ => Truth::Unknown,
            };
            evaluated(&self.steps, &mut stack, |number| self.tests.get(number).map_or(Truth::Unknown, truth))
                != Truth::False
        };
        let alternatives = shape.fields_of(root);
        let of_record = |test: &Test| matches!(&test.place, Place::Choice(way) if way.is_empty());
        if !self.tests.iter().any(of_record) {
            return Vec::new();
        }
        alternatives
            .filter(|(_, field)| !may_meet(shape.name(field.name)))
            .map(|(id, _)| id.index())
            .collect()
    }

    /// Reports whether a record meets all conditions; `view` is the value as it is shown, of the shape that the filter was
    /// made for.
    pub fn accepts(&self, shape: &Shape, view: View<'_>, state: &mut FilterState) -> bool {
        let FilterState { path, elements, found, stack } = state;
        path.clear();
        elements.clear();
        found.clear();
        found.resize(self.tests.len(), Found::Absent);
        self.find(shape, view, (path, elements), found);
        evaluated(&self.steps, stack, |number| match (self.tests.get(number), found.get(number)) {
            (Some(test), Some(found)) => test.truth(*found),
            _ => Truth::Unknown,
        }) == Truth::True
    }

    /// Looks for the components of all tests, in one pass over the record.
    fn find(
        &self,
        shape: &Shape,
        view: View<'_>,
        (path, elements): (&mut Vec<FieldId>, &mut Elements),
        found: &mut [Found],
    ) {
        let mut missing = found.len();
        for index in 0..view.len() {
            match view.token(index) {
                Token::Open { field, node, .. } => {
                    let is_element = is_element(shape, field);
                    path.push(if is_element { FieldId::ROOT } else { field });
                    if self.has_indices {
                        elements.open(is_element);
                    }
                    // The record itself has no field; it may be the CHOICE of a test.
                    if self.is_tested.get(field.index()).copied().unwrap_or(true) {
                        missing -= self.opened(shape, view, (index, node), (path, elements), found);
                    }
                }
                Token::Close { .. } => {
                    path.pop();
                    elements.close();
                }
                Token::Leaf { field, node, leaf } => {
                    let number =
                        if self.has_indices { elements.part(is_element(shape, field)) } else { None };
                    if !self.is_tested.get(field.index()).copied().unwrap_or_default() {
                        continue;
                    }
                    for (test, found) in self.tests.iter().zip(&mut *found) {
                        let is_at = || {
                            test.is_at(shape, path, field) && test.is_in_elements(&elements.numbers, number)
                        };
                        if *found != Found::Compared && is_at() {
                            *found = test.compares(node, &scalar(shape, node, leaf)).into();
                            missing -= usize::from(*found == Found::Compared);
                        }
                    }
                }
                _ => {}
            }
            if missing == 0 {
                return;
            }
        }
    }

    /// Looks at a value with parts that has begun; how many tests compare now that did not before.
    fn opened(
        &self,
        shape: &Shape,
        view: View<'_>,
        (index, node): (usize, NodeId),
        (path, elements): (&[FieldId], &Elements),
        found: &mut [Found],
    ) -> usize {
        let mut compared = 0;
        for (test, found) in self.tests.iter().zip(found) {
            if *found == Found::Compared || !test.is_in_elements(&elements.numbers, None) {
                continue;
            }
            match &test.place {
                Place::Choice(way) if is_choice(shape, node) && steps(path).eq(way) => {
                    let Some(name) = alternative(shape, view, index + 1) else { continue };
                    *found = test.alternative(name);
                }
                // What an OCTET STRING contains may have parts, which no value compares with.
                Place::Component(component) if component.is_open(path) => {
                    *found = if test.is_presence() { Found::Compared } else { Found::Different };
                }
                _ => continue,
            }
            compared += usize::from(*found == Found::Compared);
        }
        compared
    }
}

/// The result of an expression in postfix order; false if there is nothing in it.
fn evaluated(steps: &[Step], stack: &mut Vec<Truth>, truth: impl Fn(usize) -> Truth) -> Truth {
    stack.clear();
    for step in steps {
        let result = match step {
            Step::Test(number) => truth(*number),
            Step::Not => match stack.pop() {
                Some(Truth::True) => Truth::False,
                Some(Truth::False) => Truth::True,
                _ => Truth::Unknown,
            },
            // Of an unknown value and another, `and` is the lesser and `or` the greater.
            Step::And | Step::Or => match (stack.pop(), stack.pop()) {
                (Some(a), Some(b)) if *step == Step::And => a.min(b),
                (Some(a), Some(b)) => a.max(b),
                _ => Truth::Unknown,
            },
        };
        stack.push(result);
    }
    stack.pop().unwrap_or(Truth::False)
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
