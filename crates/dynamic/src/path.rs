//! Paths, for errors.

use crate::tape::{Token, View};
use std::fmt::Write;
use tercet_plan::{FieldId, Kind, NodeId, Shape};

/// Steps that are told at each end of a long path, as [`tercet_runtime::codec::Path`] does.
const SHOWN: usize = 12;

/// A path with `…` for the steps in the middle, if there are many.
pub(crate) fn shortened(path: String) -> String {
    let mut starts = path.match_indices(['.', '[']).map(|(at, _)| at);
    let first = usize::from(!path.starts_with(['.', '[']));
    let count = starts.clone().count() + first;
    if count <= 2 * SHOWN {
        return path;
    }
    let (Some(from), Some(to)) = (starts.nth(SHOWN - first), starts.nth(count - 2 * SHOWN - 1)) else {
        return path;
    };
    format!("{}…{}", &path[..from], &path[to..])
}

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
/// field, which may be [`FieldId::BEGUN`].
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
    // The last field may be that of the value begun last, unless its parts are such values too.
    let is_that = last.is_some_and(|(field, node, elements)| {
        let inside = shape.fields.get(at.index()).is_some_and(|field| field.parent == node);
        at == FieldId::BEGUN || field == at && !(inside && elements != Some(0))
    });
    if !is_that {
        step(&mut path, shape, at, root, position);
    }
    path
}

/// `Type` of `Module.Type`.
pub(crate) fn last(name: &str) -> &str {
    name.split_once('.').map_or(name, |(_, name)| name)
}

/// Appends the step to a value: its name, or its position in a list.
pub(crate) fn step(out: &mut String, shape: &Shape, field: FieldId, node: NodeId, position: Option<usize>) {
    if let Some(position) = position {
        let _ = write!(out, "[{position}]");
    } else if field == FieldId::ROOT {
        if out.is_empty()
            && let Some(name) = shape.type_name(node)
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
