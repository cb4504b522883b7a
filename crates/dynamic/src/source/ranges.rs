//! Ranges: where the values of a tape are in the text that they were read from.

use super::Source;
use std::ops::Range;

/// No range.
const NONE: u32 = u32::MAX;

/// The range of a value in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextRange {
    /// Offset of the first byte: of the name of a component or alternative, or of its start tag.
    pub from: u32,
    /// Offset of the first byte of the value itself, after its name.
    pub begin: u32,
    /// Offset after the last byte of the value itself.
    pub end: u32,
    /// Offset after the last byte: after the end tag.
    pub to: u32,
}

impl TextRange {
    /// The range of an entry without one.
    const MISSING: Self = Self { from: NONE, begin: NONE, end: NONE, to: NONE };

    /// Makes the range of a value in a text of less than 4 GiB: `whole` with the name, `value` without.
    pub(crate) const fn new(whole: Range<usize>, value: Range<usize>) -> Self {
        Self {
            from: whole.start as u32,
            begin: value.start as u32,
            end: value.end as u32,
            to: whole.end as u32,
        }
    }
}

/// A text notation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Notation {
    #[default]
    Json,
    Xml,
    Gser,
}

/// The ranges of the values of a tape, by the index of their entry: 16 bytes an entry. Readers of text fill it when asked,
/// as [`crate::json::Reader::read_with_ranges`] does; [`crate::trace::of_text`] makes parts of it.
#[derive(Clone, Debug, Default)]
pub struct Ranges {
    entries: Vec<TextRange>,
    notation: Notation,
}

impl Ranges {
    /// Makes an empty list.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the range of the value whose entry has an index. `None` if it has none: the end of a value, a component
    /// that is absent and has a DEFAULT.
    pub fn get(&self, index: usize) -> Option<TextRange> {
        self.entries.get(index).copied().filter(|range| range.from != NONE)
    }

    pub(crate) const fn notation(&self) -> Notation {
        self.notation
    }

    /// Forgets all ranges; those that come are of a text in a notation.
    pub(crate) fn begin(&mut self, notation: Notation) {
        self.entries.clear();
        self.notation = notation;
    }

    /// Moves all ranges: the text has `offset` more bytes in front.
    pub(crate) fn shift(&mut self, offset: u32) {
        for range in self.entries.iter_mut().filter(|range| range.from != NONE && offset > 0) {
            for place in [&mut range.from, &mut range.begin, &mut range.end, &mut range.to] {
                *place += offset;
            }
        }
    }
}

/// Receives the places of values before they are put onto the tape. `()` receives nothing and costs nothing: the driver is
/// compiled without it.
pub trait Notes {
    /// Receives the place of the value that the next `count` entries of a tape of `index` entries are of.
    fn note<S: Source>(&mut self, source: &S, at: &S::At, index: usize, count: usize);
}

impl Notes for () {
    #[inline(always)]
    fn note<S: Source>(&mut self, _: &S, _: &S::At, _: usize, _: usize) {}
}

impl Notes for &mut Ranges {
    fn note<S: Source>(&mut self, source: &S, at: &S::At, index: usize, count: usize) {
        // After an alternative that was only tried, entries are made anew.
        self.entries.truncate(index);
        self.entries.resize(index, TextRange::MISSING);
        let range = source.range(at).unwrap_or(TextRange::MISSING);
        self.entries.resize(index + count, range);
    }
}
