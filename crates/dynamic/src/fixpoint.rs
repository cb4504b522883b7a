//! What follows from the parts of types, for all nodes of a shape: also where types contain themselves.

use tercet_plan::{NodeId, Shape};

/// Measures every node from what is known of its parts, round by round, until nothing changes.
///
/// Values may change in one direction only. Parts come before what they are part of, so that a shape without recursion takes
/// two rounds.
pub(crate) fn fixpoint<T: Clone + PartialEq>(
    shape: &Shape,
    start: T,
    measure: impl Fn(NodeId, &[T]) -> T,
) -> Vec<T> {
    let order = parts_first(shape);
    let mut known = vec![start; shape.nodes.len()];
    loop {
        let mut changed = false;
        for &id in &order {
            let measured = measure(id, &known);
            changed |= measured != known[id.index()];
            known[id.index()] = measured;
        }
        if !changed {
            return known;
        }
    }
}

/// Lists the types of the values that a node's values contain: components, alternatives, elements, contents of strings, and
/// the rows of the table of an open type.
pub(crate) fn parts(shape: &Shape, id: NodeId) -> impl Iterator<Item = NodeId> {
    let fields = shape.fields_of(id).map(|(_, field)| field.node);
    fields.chain(shape.node(id).containing).chain(rows(shape, id))
}

/// Lists the types in the table of an open type.
pub(crate) fn rows(shape: &Shape, id: NodeId) -> impl Iterator<Item = NodeId> {
    let table = shape.node(id).table.as_ref().and_then(|table| shape.tables.get(table.table as usize));
    table.into_iter().flat_map(|table| table.rows.iter().map(|row| row.node))
}

/// Lists all nodes, each after its parts as far as recursion allows.
fn parts_first(shape: &Shape) -> Vec<NodeId> {
    let mut order = Vec::with_capacity(shape.nodes.len());
    let mut seen = vec![false; shape.nodes.len()];
    // The stack is data, since types of a specification may be thousands deep.
    let mut stack = Vec::new();
    for root in 0..shape.nodes.len() as u32 {
        if !std::mem::replace(&mut seen[root as usize], true) {
            stack.push((NodeId(root), parts(shape, NodeId(root))));
        }
        while let Some((id, rest)) = stack.last_mut() {
            match rest.find(|part| seen.get(part.index()) == Some(&false)) {
                Some(part) => {
                    seen[part.index()] = true;
                    stack.push((part, parts(shape, part)));
                }
                None => {
                    order.push(*id);
                    stack.pop();
                }
            }
        }
    }
    order
}
