//! Comparisons bound to the components of a type, and checked against it.

use super::syntax::{Comparison, Condition, Literal, Written};
use super::values::{Given, Operand, Pattern, article, is_number};
use super::{FilterError, Found, Place, Truth, is_choice};
use crate::component::{Component, elements_of, inside, way};
use crate::interpret::Leaves;
use std::cmp::Ordering;
use tercet_dynamic::leaf::Scalar;
use tercet_dynamic::{FieldId, NodeId, Shape};
use tercet_plan::Kind;
use tercet_suggest::with_known;

/// A comparison of a component or an alternative.
#[derive(Clone, Debug)]
pub(super) struct Test {
    pub(super) place: Place,
    comparison: Comparison,
    /// The values for each type that the component has, in the order of the types.
    operands: Vec<(NodeId, Vec<Operand>)>,
    /// The names that an alternative is compared with.
    names: Vec<String>,
    /// The elements of lists that the path names.
    indices: Vec<ElementIndex>,
}

/// One element of a list on the way to a component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ElementIndex {
    /// Steps of the path up to the list.
    steps: usize,
    /// Lists around this one that the same step leads to.
    lists: usize,
    number: u64,
}

impl Test {
    /// Binds a comparison of a condition to a type.
    pub(super) fn new(
        shape: &Shape,
        rendered: Option<Leaves>,
        root: NodeId,
        condition: &Condition,
        written: &Written,
    ) -> Result<Self, FilterError> {
        let Written { path: written_path, comparison, values, .. } = written;
        let at_path = |message: String| FilterError::at(&condition.text, written.path_span.clone(), message);
        let (path, indices) = indices_of(written_path).map_err(at_path)?;
        let path = &path;
        if let Some(text) = no_list(shape, root, path, &indices) {
            return Err(at_path(text));
        }
        let is_presence = matches!(comparison, Comparison::Null | Comparison::NotNull);
        let comparison = *comparison;
        if let Some(way) = choice_way(shape, root, path, is_presence) {
            let names = values.iter().map(|value| value.text.clone()).collect();
            let test = Self { place: Place::Choice(way), comparison, operands: Vec::new(), names, indices };
            return test.check_alternatives(shape, root, condition, written);
        }
        let component = if is_presence {
            Component::of_any_kind(shape, root, path)
        } else {
            Component::new(shape, root, path)
        };
        let component = component.map_err(at_path)?;
        let mut nodes: Vec<NodeId> =
            component.last_fields().map(|field| inside(shape, shape.field(field).node)).collect();
        nodes.sort_unstable();
        nodes.dedup();
        let mut operands = Vec::new();
        let mut refused = None;
        for node in nodes.into_iter().filter(|_| !is_presence) {
            // A name may stand for components of several types; one that takes all values is enough.
            let bound = values.iter().map(|value| {
                operand(shape, rendered, node, written, value)
                    .map_err(|message| FilterError::at(&condition.text, value.span.clone(), message))
            });
            match bound.collect::<Result<Vec<_>, _>>() {
                Ok(bound) => operands.push((node, bound)),
                Err(error) => refused = refused.or(Some(error)),
            }
        }
        match refused {
            Some(error) if operands.is_empty() => Err(error),
            _ => Ok(Self {
                place: Place::Component(component),
                comparison,
                operands,
                names: Vec::new(),
                indices,
            }),
        }
    }

    fn check_alternatives(
        self,
        shape: &Shape,
        root: NodeId,
        condition: &Condition,
        written: &Written,
    ) -> Result<Self, FilterError> {
        let Place::Choice(way) = &self.place else { return Ok(self) };
        let wrong = |span: &std::ops::Range<usize>, message: String| {
            Err(FilterError::at(&condition.text, span.clone(), message))
        };
        match self.comparison {
            Comparison::Is | Comparison::Not => {}
            Comparison::Like | Comparison::NotLike | Comparison::Null | Comparison::NotNull => {
                return Ok(self);
            }
            _ => {
                let message = "the alternatives of a CHOICE have no order".to_owned();
                return wrong(&written.operator_span, message);
            }
        }
        let node = way.last().map_or(root, |field| shape.field(*field).node);
        let known: Vec<&str> =
            shape.fields_of(inside(shape, node)).map(|(_, field)| shape.name(field.name)).collect();
        match written.values.iter().find(|value| !known.contains(&value.text.as_str())) {
            Some(value) => {
                let message = format!("unknown alternative `{}` of `{}`", value.text, written.path);
                wrong(&value.span, with_known(&message, &value.text, known))
            }
            None => Ok(self),
        }
    }

    /// The fields at the end of the ways to the component, and of the elements where those are lists.
    pub(super) fn last_fields(&self, shape: &Shape, root: NodeId) -> Vec<FieldId> {
        match &self.place {
            Place::Component(component) => component.last_and_elements().collect(),
            Place::Choice(way) => {
                let last = way.last().copied();
                let node = last.map_or(root, |field| shape.field(field).node);
                last.into_iter().chain(elements_of(shape, node)).collect()
            }
        }
    }

    /// The fields of the alternatives, where one of them is asked for by its name.
    pub(super) fn alternatives(&self, shape: &Shape, root: NodeId) -> Vec<usize> {
        let Place::Choice(way) = &self.place else { return Vec::new() };
        let node = inside(shape, way.last().map_or(root, |field| shape.field(*field).node));
        shape.fields_of(node).map(|(id, _)| id.index()).collect()
    }

    /// Whether the component has to be absent or present, whatever its value.
    pub(super) fn is_presence(&self) -> bool {
        matches!(self.comparison, Comparison::Null | Comparison::NotNull)
    }

    /// Whether the path names elements of lists.
    pub(super) fn has_indices(&self) -> bool {
        !self.indices.is_empty()
    }

    /// Whether a value is in the elements that the path names: `around` has the number of each open value that is an element of a
    /// list, from the record on, and `number` is its own.
    pub(super) fn is_in_elements(&self, around: &[Option<u64>], number: Option<u64>) -> bool {
        if self.indices.is_empty() {
            return true;
        }
        let (mut steps, mut lists, mut met) = (0, 0, 0);
        for number in around.iter().skip(1).copied().chain(number.map(Some)) {
            let Some(number) = number else {
                (steps, lists) = (steps + 1, 0);
                continue;
            };
            let index = self.indices.iter().find(|index| (index.steps, index.lists) == (steps, lists));
            match index {
                Some(index) if index.number != number => return false,
                Some(_) => met += 1,
                None => {}
            }
            lists += 1;
        }
        met == self.indices.len()
    }

    /// Whether a leaf of a field is the component.
    #[inline]
    pub(super) fn is_at(&self, shape: &Shape, path: &[FieldId], field: FieldId) -> bool {
        matches!(&self.place, Place::Component(component) if component.is_at(shape, path, field))
    }

    /// Whether the component compares with this value of it.
    pub(super) fn compares(&self, node: NodeId, value: &Scalar<'_>) -> bool {
        let operands = match &self.operands[..] {
            // Presence is all that is asked for.
            [] => return true,
            [(_, operands)] => operands,
            several => match several.binary_search_by_key(&node, |(node, _)| *node) {
                Ok(at) => &several[at].1,
                Err(_) => return false,
            },
        };
        let mut orders = operands.iter().map(|operand| operand.order(value));
        match self.comparison {
            Comparison::Is => orders.any(|order| order == Some(Ordering::Equal)),
            Comparison::Not => orders.all(|order| order != Some(Ordering::Equal)),
            Comparison::Less => orders.any(|order| order == Some(Ordering::Less)),
            Comparison::LessOrEqual => orders.any(|order| order.is_some_and(Ordering::is_le)),
            Comparison::More => orders.any(|order| order == Some(Ordering::Greater)),
            Comparison::MoreOrEqual => orders.any(|order| order.is_some_and(Ordering::is_ge)),
            Comparison::Like => operands.iter().any(|operand| operand.is_like(value)),
            Comparison::NotLike => !operands.iter().any(|operand| operand.is_like(value)),
            Comparison::Null | Comparison::NotNull => true,
        }
    }

    /// Whether an alternative compares.
    pub(super) fn alternative(&self, name: &str) -> Found {
        let is = || self.names.iter().any(|it| it == name);
        let is_like = || {
            let text = Scalar::Text(name.into());
            self.names.iter().any(|it| Operand::Pattern(Pattern::new(it, false)).is_like(&text))
        };
        let compares = match self.comparison {
            Comparison::Is => is(),
            Comparison::Not => !is(),
            Comparison::Like => is_like(),
            Comparison::NotLike => !is_like(),
            Comparison::Null | Comparison::NotNull => true,
            _ => false,
        };
        compares.into()
    }

    /// The result of the comparison.
    pub(super) fn truth(&self, found: Found) -> Truth {
        match (self.comparison, found) {
            (Comparison::Null, _) => (found == Found::Absent).into(),
            (Comparison::NotNull, _) => (found != Found::Absent).into(),
            (_, Found::Absent) => Truth::Unknown,
            _ => (found == Found::Compared).into(),
        }
    }
}

/// A path without element numbers, and these: `calls[0].parties[2]`; `[]` is any element.
fn indices_of(written: &str) -> Result<(String, Vec<ElementIndex>), String> {
    let (mut path, mut indices) = (String::new(), Vec::new());
    // Dots in brackets are of no step.
    let mut depth = 0_i32;
    let is_dot = |c: char| {
        depth += i32::from(c == '[') - i32::from(c == ']');
        c == '.' && depth <= 0
    };
    for (number, step) in written.split(is_dot).enumerate() {
        let (name, mut rest) = step.split_at(step.find('[').unwrap_or(step.len()));
        if number > 0 {
            path.push('.');
        }
        path.push_str(name);
        let mut lists = 0;
        while !rest.is_empty() {
            if let Some(after) = rest.strip_prefix("[]") {
                (lists, rest) = (lists + 1, after);
                continue;
            }
            let inside = rest.strip_prefix('[').and_then(|rest| rest.split_once(']'));
            let index = inside.and_then(|(index, rest)| Some((index.parse().ok()?, rest)));
            let Some((index, after)) = index else {
                return Err(format!(
                    "`{rest}` is not the number of an element\nhelp: `LIST[0]` is the first; without a number one element has to meet \
                     the condition"
                ));
            };
            indices.push(ElementIndex { steps: number + 1, lists, number: index });
            (lists, rest) = (lists + 1, after);
        }
    }
    Ok((path, indices))
}

/// The text about an element number where there is no list, if there is one.
fn no_list(shape: &Shape, root: NodeId, path: &str, indices: &[ElementIndex]) -> Option<String> {
    for index in indices {
        let list = path.split('.').take(index.steps).collect::<Vec<_>>().join(".");
        // A path that leads nowhere is an error of its own, unless it is a name that may be anywhere.
        let Some(last) = way(shape, root, &list).and_then(|way| way.last().copied()) else {
            return (!path.contains('.')).then(|| {
                format!("element number without the path of its list\nhelp: `{list}` is not a component of the record itself: write the path from the record")
            });
        };
        if elements_of(shape, shape.field(last).node).len() <= index.lists {
            return Some(format!("element number in `{list}`, which is not a list"));
        }
    }
    None
}

/// A value for the comparison with a type.
fn operand(
    shape: &Shape,
    rendered: Option<Leaves>,
    node: NodeId,
    written: &Written,
    value: &Literal,
) -> Result<Operand, String> {
    let Literal { text, is_quoted, .. } = value;
    let (kind, path) = (shape.node(node).kind, written.path.as_str());
    let is_ordered = !matches!(
        written.comparison,
        Comparison::Is | Comparison::Not | Comparison::Like | Comparison::NotLike
    );
    if matches!(written.comparison, Comparison::Like | Comparison::NotLike) {
        return match kind {
            Kind::Integer | Kind::Real | Kind::Boolean | Kind::Null => {
                Err(format!("`like` compares text: `{path}` is {}", article(kind)))
            }
            _ => {
                let is_octets = matches!(kind, Kind::OctetString | Kind::Open);
                Ok(Operand::Pattern(Pattern::new(text, is_octets)))
            }
        };
    }
    let is_amount = rendered.is_some_and(|leaves| leaves.amount == node);
    if is_amount {
        return match text.parse() {
            Ok(number) => Ok(Operand::Amount(number)),
            Err(_) => Err(format!("`{text}` is not a number: `{path}` is an amount")),
        };
    }
    // Texts that octets are shown as, such as the digits of a telephone number, and times compare as they are shown.
    let is_shown = rendered.is_some_and(|it| [it.text, it.timestamp, it.date, it.time].contains(&node));
    if kind.is_text() && is_ordered && !is_quoted && !is_shown && is_number(text) {
        return Err(format!(
            "number `{text}` compared with a text: `{path}` is {}\nhelp: to compare as text, write '{text}'",
            article(kind)
        ));
    }
    Operand::new(shape, node, Given { text, is_ordered, path })
}

/// The way to the CHOICE whose alternative a path names: with `choice` at its end where no alternative has that name, or
/// itself, as columns of CSV are called; nothing if the path is another component.
fn choice_way(shape: &Shape, root: NodeId, path: &str, is_presence: bool) -> Option<Vec<FieldId>> {
    let choice_at = |path: &str| {
        let way = way(shape, root, path)?;
        let node = inside(shape, way.last().map_or(root, |field| shape.field(*field).node));
        is_choice(shape, node).then_some((way, node))
    };
    let around = path.strip_suffix("choice");
    let around = around.and_then(|rest| if rest.is_empty() { Some(rest) } else { rest.strip_suffix('.') });
    if let Some((way, node)) = around.and_then(choice_at)
        && !shape.fields_of(node).any(|(_, field)| shape.name(field.name) == "choice")
    {
        return Some(way);
    }
    // A CHOICE is there where an alternative is: presence is that of the component.
    choice_at(path).filter(|(way, _)| !way.is_empty() && !is_presence).map(|(way, _)| way)
}
