//! Which values stand in an arena: lists, and what would be in a box, if nothing in them has to be freed.

use super::{Edge, Repr, Types};
use tercet_plan::NodeId;

impl Types<'_> {
    /// Finds the types whose values may be in the arena, and those that borrow from it.
    pub(super) fn arena(&mut self) {
        if !self.choices.arena {
            return;
        }
        let nodes: Vec<NodeId> = self.nodes().collect();
        let drops = |repr| matches!(repr, Repr::Real | Repr::Contained(_));
        self.drops = (0..self.shape.nodes.len() as u32).map(|id| drops(self.repr(NodeId(id)))).collect();
        self.spread(&nodes, |types| &mut types.drops);
        for &id in &nodes {
            let in_arena =
                |(edge, _): &(Option<Edge>, NodeId)| edge.is_some_and(|edge| self.is_in_arena(edge));
            let later =
                self.keeps_additions(id) || self.repr(id) == Repr::Choice && self.shape.node(id).extensible;
            if later || self.is_list_in_arena(id) || self.parts(id).iter().any(in_arena) {
                self.borrows[id.index()] = true;
                self.has_slice[id.index()] = true;
            }
        }
        self.spread(&nodes, |types| &mut types.borrows);
        self.spread(&nodes, |types| &mut types.has_slice);
    }

    /// Gives what holds for a type to all that it is part of.
    fn spread(&mut self, nodes: &[NodeId], of: impl Fn(&mut Self) -> &mut Vec<bool>) {
        loop {
            let mut changed = false;
            for &id in nodes.iter().rev() {
                let parts: Vec<usize> =
                    self.parts(id).into_iter().map(|(_, part)| self.same(part).index()).collect();
                let holds = of(self);
                if !holds[id.index()] && parts.iter().any(|part| holds[*part]) {
                    holds[id.index()] = true;
                    changed = true;
                }
            }
            if !changed {
                return;
            }
        }
    }

    /// Returns whether a list is in the arena.
    pub(crate) fn is_list_in_arena(&self, node: NodeId) -> bool {
        self.repr(node) == Repr::List && self.may_be_in_arena(node)
    }

    /// Returns whether what would be in a box is in the arena.
    pub(crate) fn is_in_arena(&self, edge: Edge) -> bool {
        self.is_boxed(edge) && self.may_be_in_arena(self.part(edge))
    }

    /// Returns whether values are in the arena where they are not in place.
    pub(crate) fn may_be_in_arena(&self, node: NodeId) -> bool {
        self.choices.arena && !self.drops[self.same(node).index()]
    }

    /// The type of the value at a place.
    fn part(&self, edge: Edge) -> NodeId {
        match edge {
            Edge::Field(field) => self.shape.field(field).node,
            Edge::Row(node, number) => match self.repr(node) {
                Repr::Table(table) => self.shape.tables[table as usize].rows[number as usize].node,
                _ => node,
            },
            Edge::Content(node) => match self.repr(node) {
                Repr::Contained(inside) => inside,
                _ => node,
            },
        }
    }
}
