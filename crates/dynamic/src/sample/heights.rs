//! How many values have to stand inside one another at least: where recursion can end.

use tercet_plan::shape::{Place, Presence};
use tercet_plan::{Kind, NodeId, Shape};

/// The height of a node that has no finite value.
pub(super) const INFINITE: u32 = u32::MAX;

/// The least height of each node's values, and the number of elements that lists need.
pub(super) fn heights(shape: &Shape) -> Vec<u32> {
    let mut heights = vec![INFINITE; shape.nodes.len()];
    // Each round adds at least one height; inner nodes mostly stand behind their users.
    loop {
        let mut changed = false;
        for index in (0..shape.nodes.len()).rev() {
            let height = height(shape, NodeId(index as u32), &heights);
            if height < heights[index] {
                heights[index] = height;
                changed = true;
            }
        }
        if !changed {
            return heights;
        }
    }
}

fn height(shape: &Shape, id: NodeId, known: &[u32]) -> u32 {
    let of = |node: NodeId| known.get(node.index()).copied().unwrap_or(INFINITE);
    let above = |height: u32| height.saturating_add(1);
    let node = shape.node(id);
    match node.kind {
        Kind::Sequence | Kind::Set => {
            let needed = shape
                .fields_of(id)
                .filter(|(_, field)| field.presence == Presence::Mandatory && field.place == Place::Root);
            above(needed.map(|(_, field)| of(field.node)).max().unwrap_or(0))
        }
        Kind::SequenceOf | Kind::SetOf if shape.least_size(id) == 0 => 1,
        Kind::SequenceOf | Kind::SetOf => {
            above(shape.fields_of(id).map(|(_, field)| of(field.node)).max().unwrap_or(0))
        }
        Kind::Choice => above(shape.fields_of(id).map(|(_, field)| of(field.node)).min().unwrap_or(INFINITE)),
        Kind::Open => {
            let table = node.table.as_ref().and_then(|table| shape.tables.get(table.table as usize));
            let rows = table.map_or(&[][..], |table| &table.rows);
            above(rows.iter().map(|row| of(row.node)).min().unwrap_or(0))
        }
        Kind::OctetString | Kind::BitString => node.containing.map_or(1, |inside| above(of(inside))),
        _ => 1,
    }
}
