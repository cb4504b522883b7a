//! Paths, for errors.

use crate::tape::{Token, View};
use std::fmt::Write;
use tercet_plan::{FieldId, Kind, NodeId, Shape};

/// Octets of a path behind which nothing more is told.
const LONGEST: usize = 400;

/// `CallEvent.parties[2].number`: the value at an index, or the one that ends there.
#[cold]
pub(crate) fn of_tape(shape: &Shape, value: View<'_>, target: usize) -> String {
    let mut path = String::new();
    let mut index = 0;
    let mut position = None;
    while index < value.len() {
        let (field, node, close) = match value.token(index) {
            Token::Open { field, node, close } => (field, node, close),
            Token::Leaf { field, node, .. } | Token::Default { field, node, .. } => (field, node, index),
            _ => break,
        };
        step(&mut path, shape, field, node, position);
        if close == index || target <= index || target >= close {
            break;
        }
        // Down to the part that the target is in.
        let is_list = shape
            .nodes
            .get(node.index())
            .is_some_and(|node| matches!(node.kind, Kind::SequenceOf | Kind::SetOf));
        let mut number = 0;
        index += 1;
        while value.skip(index) <= target {
            index = value.skip(index);
            number += 1;
        }
        position = is_list.then_some(number);
    }
    path
}

/// A value that has begun: its field and node, and for a list how many of its elements have begun.
pub(crate) type Begun = (FieldId, NodeId, Option<usize>);

/// The same for the value that a decode has stopped in: the values that have begun, the outermost first, and the last
/// field.
#[cold]
pub(crate) fn of_begun(
    shape: &Shape,
    values: impl Iterator<Item = Begun>,
    at: FieldId,
    root: NodeId,
) -> String {
    let mut path = String::new();
    step(&mut path, shape, FieldId::ROOT, root, None);
    let mut position = None;
    let mut last = None;
    for (field, node, elements) in values {
        step(&mut path, shape, field, node, position);
        position = elements.map(|count| count.saturating_sub(1));
        last = Some((field, node, elements));
    }
    // The last field may be that of the value begun last, unless that is a list whose elements are such lists.
    let is_that = last.is_some_and(|(field, node, elements)| {
        let inside = shape.fields.get(at.index()).is_some_and(|field| field.parent == node);
        field == at && !(inside && elements.is_some_and(|count| count > 0))
    });
    if !is_that {
        step(&mut path, shape, at, root, position);
    }
    path
}

/// What people call the type of the outermost value: the root that has it, if there is just one, or else its own name.
pub(crate) fn outermost(shape: &Shape, node: NodeId) -> Option<&str> {
    let mut roots = shape.roots.iter().filter(|root| root.node == node);
    if let (Some(root), None) = (roots.next(), roots.next()) {
        return Some(last(shape.name(root.name)));
    }
    shape.nodes.get(node.index()).and_then(|node| node.name).map(|name| shape.name(name))
}

/// `Type` of `Module.Type`.
pub(crate) fn last(name: &str) -> &str {
    name.split_once('.').map_or(name, |(_, name)| name)
}

fn step(out: &mut String, shape: &Shape, field: FieldId, node: NodeId, position: Option<usize>) {
    if out.len() > LONGEST {
        return;
    }
    if let Some(position) = position {
        let _ = write!(out, "[{position}]");
    } else if field == FieldId::ROOT {
        if out.is_empty()
            && let Some(name) = outermost(shape, node)
        {
            out.push_str(name);
        }
    } else if let Some(field) = shape.fields.get(field.index()) {
        if !out.is_empty() {
            out.push('.');
        }
        out.push_str(shape.name(field.name));
    }
}
