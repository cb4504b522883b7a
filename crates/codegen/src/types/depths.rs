//! Which types may contain themselves, and which values count against the limit of values inside one another.

use super::{Repr, Types};
use std::collections::HashMap;
use tercet_plan::NodeId;
use tercet_runtime::Limits;

impl Types<'_> {
    /// The types whose values count: those that may contain themselves, those around and those inside of them. Of values
    /// with no such part the specification tells how many may be inside one another; where these are too many, all count.
    pub(super) fn counts(
        &self,
        order: &[NodeId],
        mut above: Vec<bool>,
        parts: &HashMap<NodeId, Vec<NodeId>>,
    ) -> Vec<bool> {
        let mut below = above.clone();
        let mut heights = vec![0_u16; self.shape.nodes.len()];
        // Parts come before what they are part of.
        for &node in order {
            let is_value = u16::from(self.has_parts(node));
            let inside = parts[&node].iter().map(|part| part.index());
            above[node.index()] |= inside.clone().any(|part| above[part]);
            heights[node.index()] =
                inside.map(|part| heights[part]).max().unwrap_or(0).saturating_add(is_value);
        }
        for &node in order.iter().rev() {
            if below[node.index()] {
                parts[&node].iter().for_each(|part| below[part.index()] = true);
            }
        }
        let is_bounded = heights.iter().all(|height| *height <= Limits::DEFAULT.depth);
        let counts = |node: NodeId| !is_bounded || above[node.index()] || below[node.index()];
        (0..self.shape.nodes.len() as u32)
            .map(NodeId)
            .map(|node| self.has_parts(node) && counts(node))
            .collect()
    }

    /// Returns whether a value of a type is a level: it has parts, or a value in its octets.
    fn has_parts(&self, node: NodeId) -> bool {
        matches!(
            self.repr(node),
            Repr::Struct | Repr::Choice | Repr::List | Repr::Table(_) | Repr::Contained(_)
        )
    }

    /// All types, parts before what they are part of, and which are part of themselves: those in a strongly connected
    /// component (Tarjan, without recursion).
    pub(super) fn recursion(
        &self,
        nodes: &[NodeId],
        parts: &HashMap<NodeId, Vec<NodeId>>,
    ) -> (Vec<NodeId>, Vec<bool>) {
        const NEW: u32 = u32::MAX;
        let count = self.shape.nodes.len();
        let (mut number, mut low) = (vec![NEW; count], vec![0_u32; count]);
        let mut on_stack = vec![false; count];
        let (mut stack, mut next) = (Vec::new(), 0);
        let (mut order, mut recursive) = (Vec::new(), vec![false; count]);
        for &start in nodes {
            if number[start.index()] != NEW {
                continue;
            }
            let mut work = vec![(start, 0_usize)];
            while let Some((node, at)) = work.pop() {
                let index = node.index();
                if at == 0 {
                    number[index] = next;
                    low[index] = next;
                    next += 1;
                    stack.push(node);
                    on_stack[index] = true;
                }
                if let Some(&part) = parts[&node].get(at) {
                    work.push((node, at + 1));
                    if number[part.index()] == NEW {
                        work.push((part, 0));
                    } else if on_stack[part.index()] {
                        low[index] = low[index].min(number[part.index()]);
                        if part == node {
                            recursive[index] = true;
                        }
                    }
                    continue;
                }
                if let Some(&(parent, _)) = work.last() {
                    low[parent.index()] = low[parent.index()].min(low[index]);
                }
                if low[index] == number[index] {
                    let from = stack.iter().rposition(|n| *n == node).unwrap_or(0);
                    let component = stack.split_off(from);
                    for member in &component {
                        on_stack[member.index()] = false;
                        if component.len() > 1 {
                            recursive[member.index()] = true;
                        }
                    }
                    order.extend(component);
                }
            }
        }
        (order, recursive)
    }
}
