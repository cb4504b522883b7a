//! Which types have codecs that follow tables, where small ones are chosen (`codecs = "small"`), and what a value of a type
//! is before it is read.

use crate::types::{Repr, Types};
use tercet_plan::NodeId;
use tercet_plan::shape::{Field, Place, Presence};

impl Types<'_> {
    /// Whether a type's codecs follow tables. Those of open types with tables, and of what tells the types in them, are
    /// printed; so are those of types that borrow in part only, and of lazy lists.
    pub(crate) fn is_tabled(&self, node: NodeId) -> bool {
        let is_part = |part: NodeId| self.keys(part).is_empty() && self.is_part(part, 0);
        match self.repr(node) {
            Repr::Enumerated => self.choices.small,
            Repr::Struct | Repr::Choice => {
                let unknown = self.repr(node) == Repr::Choice
                    && self.shape.node(self.same(node)).extensible
                    && self.is_owned(node);
                let parts = || self.parts(self.same(node)).into_iter().all(|(_, part)| is_part(part));
                self.choices.small && !unknown && is_part(node) && parts()
            }
            Repr::List => self.choices.small && is_part(node),
            _ => false,
        }
    }

    /// Whether a type can be part of one whose codecs follow tables.
    fn is_part(&self, node: NodeId, depth: u32) -> bool {
        match self.repr(node) {
            Repr::Boolean | Repr::Null | Repr::Integer { .. } | Repr::Float => true,
            Repr::FixedBits(_) | Repr::FixedOctets(_) | Repr::Enumerated => true,
            Repr::Big
            | Repr::Real
            | Repr::Bits
            | Repr::Octets
            | Repr::Oid
            | Repr::RelativeOid
            | Repr::Text
            | Repr::Any => !self.is_owned(node),
            Repr::Struct | Repr::Choice | Repr::Table(_) => self.keys(node).is_empty(),
            Repr::Contained(inside) => {
                !self.is_owned(node) && self.keys(node).is_empty() && self.is_part(inside, depth)
            }
            // A list of itself is all that it can be a list of.
            Repr::List if depth > DEPTH => true,
            Repr::List => {
                !self.is_lazy(node)
                    && self.keys(node).is_empty()
                    && self.is_part(self.element(self.same(node)), depth + 1)
            }
        }
    }

    /// Which types are shown, compared and copied part by part: nothing in them has codecs of its own.
    pub(crate) fn taken_apart(&self) -> Vec<bool> {
        let nodes: Vec<NodeId> = self.nodes().collect();
        let mut all = vec![false; self.shape.nodes.len()];
        for &node in &nodes {
            all[node.index()] = match self.repr(node) {
                Repr::Table(_) => false,
                Repr::Struct | Repr::Choice | Repr::List => self.is_tabled(node),
                _ => self.choices.small && self.is_part(node, 0),
            } && self.keys(node).is_empty();
        }
        loop {
            let is_whole =
                |node: NodeId| self.parts(node).iter().all(|(_, part)| all[self.same(*part).index()]);
            let broken: Vec<NodeId> =
                nodes.iter().copied().filter(|node| all[node.index()] && !is_whole(*node)).collect();
            if broken.is_empty() {
                return all;
            }
            for node in broken {
                all[node.index()] = false;
            }
        }
    }

    /// For each node how many values are inside one another in the least value of its type: what a CHOICE has before it is
    /// read is the alternative with the fewest.
    pub(crate) fn depths(&self) -> Vec<Option<u32>> {
        let mut depths = vec![None; self.shape.nodes.len()];
        let nodes: Vec<NodeId> = self.nodes().collect();
        loop {
            let mut changed = false;
            for &node in nodes.iter().rev() {
                let depth = self.depth(node, &depths);
                changed |= depth != depths[node.index()];
                depths[node.index()] = depth;
            }
            if !changed {
                return depths;
            }
        }
    }

    fn depth(&self, node: NodeId, depths: &[Option<u32>]) -> Option<u32> {
        let inside = |part: NodeId| depths[self.same(part).index()];
        let most = match self.repr(node) {
            Repr::Struct => {
                let is_there =
                    |field: &Field| field.presence == Presence::Mandatory && field.place == Place::Root;
                let mut there = self.shape.fields_of(node).filter(|(_, field)| is_there(field));
                there.try_fold(0, |most, (_, field)| Some(inside(field.node)?.max(most)))
            }
            Repr::Choice => self.parts(node).iter().filter_map(|(_, part)| inside(*part)).min(),
            _ => return Some(0),
        };
        most.map(|depth| depth + 1)
    }
}

/// Lists inside one another that are looked at.
const DEPTH: u32 = 12;
