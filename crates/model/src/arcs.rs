//! The arcs of object identifiers. Specifications name each by the one above it, in long chains.

use std::fmt;
use std::sync::Arc;

/// The arcs of an OBJECT IDENTIFIER or RELATIVE-OID. Those that a definition takes from another one are shared with it, so
/// that a chain of definitions takes room for the arcs that are written only.
#[derive(Clone)]
pub struct Arcs(Arc<Part>);

struct Part {
    before: Option<Arcs>,
    own: Vec<u128>,
    length: usize,
}

impl Arcs {
    /// Arcs behind others.
    pub(crate) fn below(before: Option<Self>, own: Vec<u128>) -> Self {
        let length = before.as_ref().map_or(0, Self::len) + own.len();
        Self(Arc::new(Part { before, own, length }))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.length
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Those that are not shared.
    pub(crate) fn own(&self) -> usize {
        self.0.own.len()
    }

    /// All of them in order.
    pub fn to_vec(&self) -> Vec<u128> {
        let mut out = vec![0; self.len()];
        let mut end = out.len();
        let mut next = Some(self);
        while let Some(Self(part)) = next {
            let begin = end - part.own.len();
            out[begin..end].copy_from_slice(&part.own);
            end = begin;
            next = part.before.as_ref();
        }
        out
    }
}

impl From<Vec<u128>> for Arcs {
    fn from(arcs: Vec<u128>) -> Self {
        Self::below(None, arcs)
    }
}

/// As a list: that of the links would recurse once for each.
impl fmt::Debug for Arcs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_vec().fmt(f)
    }
}

impl PartialEq for Arcs {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && (Arc::ptr_eq(&self.0, &other.0) || self.to_vec() == other.to_vec())
    }
}

impl Drop for Part {
    /// Part by part: the drop that the compiler derives would recurse once for each.
    fn drop(&mut self) {
        let mut next = self.before.take();
        while let Some(Arcs(part)) = next {
            next = Arc::try_unwrap(part).ok().and_then(|mut part| part.before.take());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chains_are_shared_and_end() {
        let mut arcs = Arcs::from(vec![1, 3]);
        for arc in 0..200_000 {
            arcs = Arcs::below(Some(arcs), vec![arc]);
        }
        assert_eq!((arcs.len(), arcs.own()), (200_002, 1));
        assert_eq!(arcs.to_vec()[..4], [1, 3, 0, 1]);
        assert_eq!(Arcs::below(Some(vec![1].into()), vec![2]), vec![1, 2].into());
        assert!(Arcs::from(Vec::new()).is_empty());
    }
}
