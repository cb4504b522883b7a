//! What stands around a record list, put together again without the records: one value of the outer type.

use crate::framing::Item;

/// The outermost value in the making: wrappers get indefinite lengths, members are copied, records left out.
#[derive(Debug, Default)]
pub(crate) struct Envelope {
    octets: Vec<u8>,
    open: usize,
    offset: u64,
}

/// Octets of members that are kept; what goes beyond is left out, so that memory stays bounded.
const LIMIT: usize = 64 << 20;

impl Envelope {
    /// How deep the wrappers are inside one another, one more than the outermost; 0 if there is nothing.
    pub(crate) fn depth(&self) -> usize {
        usize::from(!self.octets.is_empty())
    }

    /// Offset of the outermost value.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// Adds identifier and length octets, or end-of-contents octets.
    pub(crate) fn wrapper(&mut self, item: &Item<'_>) {
        if self.octets.is_empty() {
            self.offset = item.offset;
        }
        self.settle(item.depth);
        if item.octets == [0, 0] {
            return;
        }
        let size = match item.octets {
            [first, rest @ ..] if first & 0x1F == 0x1F => {
                2 + rest.iter().position(|octet| octet & 0x80 == 0).unwrap_or(0)
            }
            _ => 1,
        };
        self.octets.extend_from_slice(item.octets.get(..size).unwrap_or_default());
        self.octets.push(0x80);
        self.open += 1;
    }

    /// Adds an element beside the list.
    pub(crate) fn member(&mut self, item: &Item<'_>) {
        if self.octets.is_empty() {
            self.offset = item.offset;
        }
        self.settle(item.depth);
        if self.octets.len() + item.octets.len() <= LIMIT {
            self.octets.extend_from_slice(item.octets);
        }
    }

    /// Ends wrappers down to a depth.
    fn settle(&mut self, depth: usize) {
        while self.open > depth {
            self.octets.extend_from_slice(&[0, 0]);
            self.open -= 1;
        }
    }

    /// The value as far as it has come, if there is one.
    pub(crate) fn so_far(&self) -> Option<Vec<u8>> {
        let mut octets = self.octets.clone();
        octets.resize(octets.len() + 2 * self.open, 0);
        (!self.octets.is_empty()).then_some(octets)
    }

    /// The value, complete, if there is one.
    pub(crate) fn take(&mut self) -> Option<Vec<u8>> {
        self.settle(0);
        (!self.octets.is_empty()).then(|| std::mem::take(&mut self.octets))
    }
}
