//! Names that are given twice, in one list after the other.

use rustc_hash::FxHashMap;
use tercet_syntax::Span;

/// The names of a list. The next list uses the memory of the one before: most are short, and there are thousands.
#[derive(Debug, Default)]
pub(crate) struct Names<'a>(FxHashMap<&'a str, Span>);

/// Clearing a map takes time by its size, not by what is in it: one that holds more is dropped.
const MOST_KEPT: usize = 256;

impl<'a> Names<'a> {
    /// Begins another list.
    pub(crate) fn begin(&mut self) {
        if self.0.capacity() > MOST_KEPT {
            self.0 = FxHashMap::default();
        } else {
            self.0.clear();
        }
    }

    /// Takes a name, and returns the place where the list had it last.
    pub(crate) fn meet(&mut self, name: &'a str, at: Span) -> Option<Span> {
        self.0.insert(name, at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_share_no_names() {
        let mut names = Names::default();
        let at = |lo| Span::new(lo, lo + 1);
        for round in 0..2 {
            names.begin();
            assert_eq!(names.meet("a", at(round)), None);
            assert_eq!(names.meet("a", at(7)), Some(at(round)));
            assert_eq!(names.meet("a", at(9)), Some(at(7)));
        }
        let many: Vec<String> = (0..2 * MOST_KEPT).map(|n| n.to_string()).collect();
        names.begin();
        assert!(many.iter().all(|name| names.meet(name, at(0)).is_none()));
        names.begin();
        assert!(names.0.capacity() <= MOST_KEPT);
        assert_eq!(names.meet("1", at(0)), None);
    }
}
