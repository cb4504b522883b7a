//! Definition and repetition levels: how a Parquet file says which structs, lists and values of a row are there
//! (Apache Parquet, nested encoding).
//!
//! They are runs, made from those of what is around, so that a column costs a step for each value that is there and for
//! each run around it, and not for each row.

use super::runs::Runs;
use std::cell::OnceCell;
use std::rc::Rc;

/// The levels of one place for all rows of a row group.
#[derive(Clone, Debug)]
pub(crate) struct Levels {
    /// A level for each row, or for each element and each list without elements.
    pub(crate) definition: Rc<Runs>,
    /// As many, if there is a list around.
    pub(crate) repetition: Option<Rc<Runs>>,
    /// Where in the above the rows or elements are, by their indices, or [`NOWHERE`]; each at its own index without it.
    slots: Option<Rc<[u32]>>,
    /// Whether every row and every element has a slot.
    is_complete: bool,
    full: Rc<Full>,
    /// The level of definition of what is there.
    pub(crate) whole: u32,
    /// How many lists are around.
    pub(crate) lists: u32,
}

/// The slot of rows that are left out and of elements that no row has.
const NOWHERE: u32 = u32::MAX;

/// Which values of a store are rows' or elements'.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Kept {
    All,
    /// Their numbers.
    Some(Vec<u32>),
}

/// The levels of what is there wherever it can be, and how often that is, once they are asked for.
#[derive(Debug, Default)]
struct Full {
    count: OnceCell<usize>,
    definition: OnceCell<Rc<Runs>>,
}

impl Levels {
    /// The levels of rows, of which some are left out; their numbers ascend.
    pub(crate) fn rows(count: usize, dropped: &[usize]) -> Self {
        let slots = (!dropped.is_empty()).then(|| {
            let mut slots = vec![0; count];
            dropped.iter().for_each(|row| slots[*row] = NOWHERE);
            let mut next = 0..;
            slots
                .iter_mut()
                .filter(|slot| **slot != NOWHERE)
                .zip(&mut next)
                .for_each(|(slot, at)| *slot = at);
            slots.into()
        });
        let definition = Rc::new(Runs::same(count - dropped.len(), 0));
        let is_complete = slots.is_none();
        Self { definition, repetition: None, slots, is_complete, full: Rc::default(), whole: 0, lists: 0 }
    }

    /// The slot of a row or an element that is there.
    #[inline]
    fn slot(&self, index: u32) -> Option<usize> {
        let slot = match &self.slots {
            None => index,
            Some(slots) => slots.get(index as usize).copied().unwrap_or(NOWHERE),
        };
        (slot != NOWHERE).then_some(slot as usize)
    }

    /// The levels of a struct or a leaf at this place that is there at some indices, and which of these count.
    pub(crate) fn optional(&self, at: &[u32]) -> (Self, Kept) {
        let all = || *self.full.count.get_or_init(|| self.definition.count(self.whole));
        let (definition, kept) = if at.is_empty() {
            (Rc::clone(&self.definition), Kept::All)
        } else if self.is_complete && at.len() == all() {
            let full = || Rc::new(self.definition.replaced(self.whole, self.whole + 1));
            (Rc::clone(self.full.definition.get_or_init(full)), Kept::All)
        } else {
            self.some(at)
        };
        (Self { definition, full: Rc::default(), whole: self.whole + 1, ..self.clone() }, kept)
    }

    /// The levels of what is there at some indices, and which of these count.
    fn some(&self, at: &[u32]) -> (Rc<Runs>, Kept) {
        let (mut made, mut numbers) = (Runs::default(), Vec::with_capacity(at.len()));
        let slots =
            at.iter().enumerate().filter_map(|(number, index)| Some((number as u32, self.slot(*index)?)));
        let mut slots = slots.peekable();
        let mut position = 0;
        for (count, level) in self.definition.iter() {
            let end = position + count;
            while let Some((number, slot)) = slots.next_if(|(_, slot)| *slot < end) {
                // What is told of parts of something absent is nothing.
                if level == self.whole {
                    made.push(slot - position, level);
                    made.push(1, level + 1);
                    position = slot + 1;
                    numbers.push(number);
                }
            }
            made.push(end - position, level);
            position = end;
        }
        (Rc::new(made), if numbers.len() < at.len() { Kept::Some(numbers) } else { Kept::All })
    }

    /// The levels of the elements of lists at this place: where the lists are, and where each ends among all elements.
    pub(crate) fn elements(&self, at: &[u32], ends: &[u32]) -> Self {
        let lists = self.lists + 1;
        if at.is_empty() {
            let none = || Rc::new(Runs::same(self.definition.len(), 0));
            let repetition = Some(self.repetition.clone().unwrap_or_else(none));
            return Self {
                repetition,
                slots: Some(Rc::new([])),
                whole: self.whole + 2,
                lists,
                ..self.clone()
            };
        }
        let (mut definition, mut repetition) = (Runs::default(), Runs::default());
        let mut slots = Vec::new();
        let mut is_complete = self.is_complete;
        let around = Runs::same(self.definition.len(), 0);
        let mut cursors = (self.definition.cursor(), self.repetition.as_deref().unwrap_or(&around).cursor());
        let mut start = 0;
        for (index, &end) in at.iter().zip(ends) {
            let first = std::mem::replace(&mut start, end);
            let Some(slot) = self.slot(*index) else {
                is_complete = false;
                continue;
            };
            cursors.0.advance(slot, |count, level| definition.push(count, level));
            if cursors.0.number() != Some(self.whole) {
                is_complete = false;
                continue;
            }
            cursors.0.advance(slot + 1, |_, _| {});
            cursors.1.advance(slot + 1, |count, level| repetition.push(count, level));
            if first == end {
                definition.push(1, self.whole + 1);
                continue;
            }
            let count = (end - first) as usize;
            slots.resize(first as usize, NOWHERE);
            slots.extend((definition.len() as u32..).take(count));
            definition.push(count, self.whole + 2);
            repetition.push(count - 1, lists);
        }
        let all = self.definition.len();
        cursors.0.advance(all, |count, level| definition.push(count, level));
        cursors.1.advance(all, |count, level| repetition.push(count, level));
        Self {
            definition: Rc::new(definition),
            repetition: Some(Rc::new(repetition)),
            slots: Some(slots.into()),
            is_complete,
            full: Rc::default(),
            whole: self.whole + 2,
            lists,
        }
    }

    /// Whether columns of these levels and of others have the same pages if they have no values; sometimes it is not found.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let repetition = match (&self.repetition, &other.repetition) {
            (None, None) => true,
            (Some(one), Some(other)) => one.is_same(other),
            _ => false,
        };
        repetition
            && self.definition.is_same(&other.definition)
            && (self.whole, self.lists) == (other.whole, other.lists)
    }

    /// Slots at which rows begin: the first ones of so many stretches of about the same number of rows, and the end.
    pub(crate) fn cuts(&self, stretches: usize) -> Vec<usize> {
        let len = self.definition.len();
        let Some(repetition) = &self.repetition else {
            return (0..=stretches).map(|at| len * at / stretches).collect();
        };
        let rows = repetition.count(0);
        let (mut cuts, mut row, mut slot) = (Vec::with_capacity(stretches + 1), 0, 0);
        for (count, level) in repetition.iter() {
            if level == 0 {
                while cuts.len() < stretches && rows * cuts.len() / stretches < row + count {
                    cuts.push(slot + rows * cuts.len() / stretches - row);
                }
                row += count;
            }
            slot += count;
        }
        cuts.push(len);
        cuts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(runs: &Runs) -> Vec<u32> {
        runs.iter().flat_map(|(count, level)| std::iter::repeat_n(level, count)).collect()
    }

    #[test]
    fn levels_tell_what_is_there() {
        // Rows 0 to 4, of which 3 is left out; the struct is in 0, 2, 3; the leaf in 0, 1, 3 (1 has no struct around).
        let rows = Levels::rows(5, &[3]);
        let (inner, kept) = rows.optional(&[0, 2, 3]);
        assert_eq!((all(&inner.definition), kept), (vec![1, 0, 1, 0], Kept::Some(vec![0, 1])));
        let (leaf, kept) = inner.optional(&[0, 1, 3]);
        assert_eq!((all(&leaf.definition), kept), (vec![2, 0, 1, 0], Kept::Some(vec![0])));
        // Lists in 0 (two elements), 2 (none), 3 (one, left out), 4 (three).
        let list = rows.elements(&[0, 2, 3, 4], &[2, 2, 3, 6]);
        assert_eq!(all(&list.definition), [2, 2, 0, 1, 2, 2, 2]);
        assert_eq!(all(list.repetition.as_ref().unwrap()), [0, 1, 0, 0, 0, 1, 1]);
        let (elements, kept) = list.optional(&[1, 2, 3, 5]);
        assert_eq!(all(&elements.definition), [2, 3, 0, 1, 3, 2, 3]);
        assert_eq!(kept, Kept::Some(vec![0, 2, 3]));
        // Lists in these.
        let inside = list.elements(&[0, 5], &[1, 3]);
        assert_eq!(all(&inside.definition), [4, 2, 0, 1, 2, 2, 4, 4]);
        assert_eq!(all(inside.repetition.as_ref().unwrap()), [0, 1, 0, 0, 0, 1, 1, 2]);
        assert_eq!(inside.cuts(2), [0, 3, 8]);
        assert_eq!(inside.cuts(4), [0, 2, 3, 4, 8]);
        assert_eq!(rows.cuts(2), [0, 2, 4]);
    }
}
