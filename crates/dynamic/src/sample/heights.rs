//! How many values have to stand inside one another at least: where recursion can end.

use crate::fixpoint::{fixpoint, rows};
use tercet_plan::shape::{Place, Presence};
use tercet_plan::{Kind, NodeId, Shape};

/// The height of a node that has no finite value.
pub(super) const INFINITE: u32 = u32::MAX;

/// The least height of each node's values, and the number of elements that lists need.
pub(super) fn heights(shape: &Shape) -> Vec<u32> {
    fixpoint(shape, INFINITE, |id, known| height(shape, id, known))
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
        Kind::Open => above(rows(shape, id).map(of).min().unwrap_or(0)),
        Kind::OctetString | Kind::BitString => node.containing.map_or(1, |inside| above(of(inside))),
        _ => 1,
    }
}

/// Octets and elements that a sample holds at most.
pub(super) const MOST: u64 = 1 << 24;

/// The octets and elements that the values of each node hold at least; those above [`MOST`] are not told apart.
pub(super) fn weights(shape: &Shape) -> Vec<u64> {
    fixpoint(shape, MOST + 1, |id, known| weight(shape, id, known).min(MOST + 1))
}

fn weight(shape: &Shape, id: NodeId, known: &[u64]) -> u64 {
    let of = |node: NodeId| known.get(node.index()).copied().unwrap_or(MOST + 1);
    let node = shape.node(id);
    let least = shape.least_size(id) as u64;
    let inside = match node.kind {
        Kind::Sequence | Kind::Set => {
            let needed = shape
                .fields_of(id)
                .filter(|(_, field)| field.presence == Presence::Mandatory && field.place == Place::Root);
            needed.map(|(_, field)| of(field.node)).fold(0, u64::saturating_add)
        }
        Kind::SequenceOf | Kind::SetOf => {
            let element = shape.fields_of(id).map(|(_, field)| of(field.node)).next().unwrap_or(1);
            if least == 0 { 0 } else { least.saturating_mul(element) }
        }
        Kind::Choice => shape.fields_of(id).map(|(_, field)| of(field.node)).min().unwrap_or(0),
        Kind::Open => rows(shape, id).map(of).min().unwrap_or(0),
        Kind::OctetString | Kind::BitString if node.containing.is_some() => node.containing.map_or(0, of),
        Kind::BitString => least / 8,
        _ => least,
    };
    inside.saturating_add(1)
}
