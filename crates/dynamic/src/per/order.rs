//! Canonical PER: the elements of a SET OF in the order of their encodings (X.691 §22.1).
//!
//! The innermost SETs OF are put in order first, so that each element is encoded once for each SET OF around it.

use super::encode::{Engine, Result};
use crate::tape::Token;
use tercet_plan::Kind;

/// The order of the elements of each SET OF on a tape.
#[derive(Debug, Default)]
pub(super) struct Orders {
    /// Index of the open on the tape, in descending order, and where its elements begin below.
    lists: Vec<(u32, u32)>,
    /// Indices of elements on the tape.
    elements: Vec<u32>,
    octets: Vec<u8>,
}

impl Orders {
    pub(super) fn clear(&mut self) {
        self.lists.clear();
        self.elements.clear();
    }

    /// Where the elements of a list begin, if it has been put in order.
    pub(super) fn find(&self, open: usize) -> Option<u32> {
        let at = self.lists.binary_search_by(|(list, _)| open.cmp(&(*list as usize))).ok()?;
        Some(self.lists[at].1)
    }

    pub(super) fn element(&self, at: u32) -> usize {
        self.elements.get(at as usize).map_or(0, |index| *index as usize)
    }
}

/// Puts the elements of all SETs OF in order.
pub(super) fn sort(engine: &mut Engine<'_>) -> Result<()> {
    let value = engine.value;
    for open in (0..value.len()).rev() {
        let Token::Open { node, close, .. } = value.token(open) else { continue };
        if engine.shape.nodes.get(node.index()).is_none_or(|node| node.kind != Kind::SetOf) {
            continue;
        }
        let mut octets = std::mem::take(&mut engine.state.orders.octets);
        octets.clear();
        let element = engine.shape.fields_of(node).next().map(|(_, field)| field.node);
        let mut parts: Vec<(usize, usize, u32)> = Vec::new();
        let mut index = open + 1;
        while let Some(element) = element.filter(|_| index < close) {
            engine.complete(index, element)?;
            let start = octets.len();
            octets.extend_from_slice(engine.state.writer.as_slice());
            parts.push((start, octets.len(), index as u32));
            index = value.skip(index);
        }
        // A shorter one comes as if zero octets followed; where only those differ, the order does not matter.
        parts.sort_by(|a, b| {
            let (a, b) = (&octets[a.0..a.1], &octets[b.0..b.1]);
            let common = a.len().min(b.len());
            let rest = |octets: &[u8]| octets[common..].iter().any(|octet| *octet != 0);
            a[..common].cmp(&b[..common]).then_with(|| rest(a).cmp(&rest(b)))
        });
        let orders = &mut engine.state.orders;
        orders.octets = octets;
        orders.lists.push((open as u32, orders.elements.len() as u32));
        orders.elements.extend(parts.iter().map(|part| part.2));
    }
    Ok(())
}
