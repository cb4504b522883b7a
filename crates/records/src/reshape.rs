//! What [`Explode`](crate::Explode) and [`Children`](crate::Children) share: a shape of rows beside that of records, and parts
//! of values said as parts of others.
//!
//! Types on the way to a list are copied, as others may use them too; the rest of the shape stays as it is.

use tercet_dynamic::{FieldId, NodeId, Shape, Sink, Tape, Token, View};
use tercet_plan::Kind;

/// Names of columns that tell where a row came from, which the column of a list's index may not have.
const TAKEN: [&str; 4] = ["file", "record", "offset", "length"];

/// A shape of rows in the making.
#[derive(Clone, Debug)]
pub(crate) struct Reshape {
    pub(crate) shape: Shape,
    copies: Copies,
}

/// Which fields of the shape of rows are copies, and of which.
#[derive(Clone, Debug)]
pub(crate) struct Copies {
    /// Number of fields of the shape of records: the copies stand behind.
    fields: usize,
    originals: Vec<FieldId>,
}

impl Reshape {
    pub(crate) fn new(records: &Shape) -> Self {
        let copies = Copies { fields: records.fields.len(), originals: Vec::new() };
        Self { shape: records.clone(), copies }
    }

    /// Copies a type; gives the copy and what its fields are moved by.
    pub(crate) fn copy(&mut self, node: NodeId) -> (NodeId, u32) {
        let shape = &mut self.shape;
        let new = NodeId(shape.nodes.len() as u32);
        let mut it = shape.node(node).clone();
        let first = shape.fields.len() as u32;
        let shift = first.wrapping_sub(it.first);
        for at in it.first..it.first + it.count {
            let mut field = shape.fields[at as usize].clone();
            field.parent = new;
            shape.fields.push(field);
            self.copies.originals.push(FieldId(at));
        }
        it.first = first;
        shape.nodes.push(it);
        (new, shift)
    }

    pub(crate) fn finish(self) -> (Shape, Copies) {
        (self.shape, self.copies)
    }
}

impl Copies {
    /// Which fields of records are wanted, if these fields of rows are.
    pub(crate) fn wanted(&self, rows: &[bool]) -> Vec<bool> {
        let mut wanted = rows[..self.fields].to_vec();
        for (copy, field) in self.originals.iter().enumerate() {
            wanted[field.index()] |= rows[self.fields + copy];
        }
        wanted
    }
}

/// The name of the next list on a way: its own, with a number behind it if that is taken.
pub(crate) fn list_name(lists: &[String], name: &str) -> String {
    let is_free = |name: &str| !TAKEN.contains(&name) && !lists.iter().any(|list| list == name);
    let mut free = name.to_owned();
    let mut number = 2;
    while !is_free(&free) {
        free = format!("{name}{number}");
        number += 1;
    }
    free
}

/// The component of the name that is the next step of a path; else the text about it.
pub(crate) fn component(
    shape: &Shape,
    node: NodeId,
    name: &str,
    path: &str,
) -> Result<(FieldId, NodeId), String> {
    let found = shape.fields_of(node).find(|(_, field)| shape.name(field.name) == name);
    match found.filter(|_| !is_list(shape, node)) {
        Some((id, field)) => Ok((id, field.node)),
        None => {
            let known = shape.fields_of(node).map(|(_, field)| shape.name(field.name));
            let text = match name == path {
                true => format!("no component `{name}`"),
                false => format!("no component `{name}` in `{path}`"),
            };
            Err(tercet_suggest::with_known(&text, name, known))
        }
    }
}

pub(crate) fn is_list(shape: &Shape, node: NodeId) -> bool {
    matches!(shape.node(node).kind, Kind::SequenceOf | Kind::SetOf)
}

/// The indices of the parts of a value.
pub(crate) fn parts(view: View<'_>, value: usize) -> impl Iterator<Item = usize> {
    let close = if value < view.len() { view.skip(value) - 1 } else { value };
    let mut at = value + 1;
    std::iter::from_fn(move || {
        let part = (at < close).then_some(at)?;
        at = view.skip(at);
        Some(part)
    })
}

/// Says a value as another field and type.
pub(crate) fn say_part(view: View<'_>, value: usize, field: FieldId, node: NodeId, tape: &mut Tape) {
    match view.token(value) {
        Token::Open { .. } => {
            tape.open(field, node);
            for part in parts(view, value) {
                view.replay_part(part, tape);
            }
            tape.close(field, node);
        }
        Token::Leaf { leaf, .. } => tape.leaf(field, node, leaf),
        _ => {}
    }
}

/// Says a part of a value whose fields are moved.
pub(crate) fn say_moved(view: View<'_>, part: usize, shift: u32, tape: &mut Tape) {
    let moved =
        |field: FieldId| if field == FieldId::ROOT { field } else { FieldId(field.0.wrapping_add(shift)) };
    match view.token(part) {
        Token::Open { field, node, .. } | Token::Leaf { field, node, .. } => {
            say_part(view, part, moved(field), node, tape);
        }
        Token::Default { field, node, constant } => tape.absent(moved(field), node, constant),
        Token::Unknown { addition, leaf } => tape.unknown(addition, leaf),
        Token::Close { .. } => {}
    }
}
