//! Numbers that should follow on each other: which are missing, which are there more than once.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

/// Runs of numbers that are kept; with more, the numbers are no sequence.
const MOST_RUNS: usize = 1 << 16;
/// Gaps and duplicates of which a [`Sequence`] tells the numbers.
pub const SAMPLES: usize = 10;

/// Numbers as runs without gaps, in whatever order they come.
///
/// ```
/// let mut sequence = tercet_records::Sequence::default();
/// for number in [1, 2, 5, 4, 9, 5] {
///     sequence.add(number);
/// }
/// assert_eq!(sequence.gaps().collect::<Vec<_>>(), [3..=3, 6..=8]);
/// assert_eq!((sequence.missing(), sequence.duplicates(), sequence.range()), (4, 1, Some(1..=9)));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Sequence {
    /// First and last of each run.
    runs: BTreeMap<i64, i64>,
    duplicates: u128,
    /// The least numbers that were there already.
    samples: BTreeSet<i64>,
    others: u64,
    is_none: bool,
}

impl Sequence {
    /// Adds a number.
    pub fn add(&mut self, number: i64) {
        self.add_run(number, number);
    }

    /// Takes note of a value that is no number of 64 bits.
    pub(crate) fn pass_over(&mut self) {
        self.others += 1;
    }

    /// Adds the numbers of another one, which come later.
    pub fn merge(&mut self, other: &Self) {
        for (&first, &last) in &other.runs {
            self.add_run(first, last);
        }
        self.duplicates += other.duplicates;
        for &sample in &other.samples {
            self.sample(sample);
        }
        self.others += other.others;
        self.is_none |= other.is_none;
    }

    fn sample(&mut self, number: i64) {
        self.samples.insert(number);
        if self.samples.len() > SAMPLES {
            self.samples.pop_last();
        }
    }

    fn add_run(&mut self, first: i64, last: i64) {
        if self.is_none {
            return;
        }
        let (mut begin, mut end) = (first, last);
        // Runs that it touches become one with it.
        loop {
            let touching = self.runs.range(..=end.saturating_add(1)).next_back();
            let Some((&known, &until)) = touching else { break };
            if until < begin.saturating_sub(1) {
                break;
            }
            let (from, to) = (known.max(first), until.min(last));
            if from <= to {
                self.duplicates += (i128::from(to) - i128::from(from)).unsigned_abs() + 1;
                for number in from..=to.min(from.saturating_add(SAMPLES as i64 - 1)) {
                    self.sample(number);
                }
            }
            self.runs.remove(&known);
            (begin, end) = (begin.min(known), end.max(until));
        }
        self.runs.insert(begin, end);
        if self.runs.len() > MOST_RUNS {
            self.is_none = true;
            self.runs.clear();
        }
    }

    /// Whether there are so many gaps that it is no sequence: nothing else is known then.
    pub fn is_none(&self) -> bool {
        self.is_none
    }

    /// The least and the greatest number.
    pub fn range(&self) -> Option<RangeInclusive<i64>> {
        let (first, last) = (self.runs.first_key_value()?, self.runs.last_key_value()?);
        Some(*first.0..=*last.1)
    }

    /// The numbers that are missing between the least and the greatest.
    pub fn gaps(&self) -> impl Iterator<Item = RangeInclusive<i64>> + '_ {
        self.runs.values().zip(self.runs.keys().skip(1)).map(|(before, behind)| before + 1..=behind - 1)
    }

    /// How many numbers are missing.
    pub fn missing(&self) -> u128 {
        let size =
            |gap: RangeInclusive<i64>| (i128::from(*gap.end()) - i128::from(*gap.start())).unsigned_abs() + 1;
        self.gaps().map(size).sum()
    }

    /// How many numbers were there already when they came.
    pub fn duplicates(&self) -> u128 {
        self.duplicates
    }

    /// The least of these, each once.
    pub fn repeated(&self) -> impl Iterator<Item = i64> + '_ {
        self.samples.iter().copied()
    }

    /// Values that are no numbers.
    pub fn others(&self) -> u64 {
        self.others
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(numbers: &[i64]) -> Sequence {
        let mut sequence = Sequence::default();
        numbers.iter().for_each(|number| sequence.add(*number));
        sequence
    }

    #[test]
    fn what_a_set_says() {
        let mut state = 5u64;
        for round in 0..200 {
            let mut numbers = Vec::new();
            for _ in 0..round % 40 {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                numbers.push((state % 50) as i64 - 25);
            }
            let set: BTreeSet<i64> = numbers.iter().copied().collect();
            let twice = |number: &&i64| numbers.iter().filter(|other| other == number).count() > 1;
            let repeated: Vec<i64> = set.iter().filter(twice).take(SAMPLES).copied().collect();
            let range = set.first().zip(set.last()).map(|(first, last)| *first..=*last);
            let missing = range.clone().into_iter().flatten().filter(|number| !set.contains(number));
            let missing: Vec<i64> = missing.collect();
            for middle in [0, numbers.len() / 2, numbers.len()] {
                let mut sequence = of(&numbers[..middle]);
                sequence.merge(&of(&numbers[middle..]));
                assert_eq!(sequence.range(), range);
                assert_eq!(sequence.gaps().flatten().collect::<Vec<_>>(), missing, "{numbers:?}");
                assert_eq!(sequence.missing(), missing.len() as u128);
                assert_eq!(sequence.repeated().collect::<Vec<_>>(), repeated);
                assert_eq!(sequence.duplicates(), (numbers.len() - set.len()) as u128, "{numbers:?}");
            }
        }
    }

    #[test]
    fn the_ends_of_64_bits() {
        let sequence = of(&[i64::MIN, i64::MAX, i64::MAX, i64::MIN + 1]);
        assert_eq!((sequence.missing(), sequence.duplicates()), (u64::MAX as u128 - 2, 1));
        assert_eq!(sequence.repeated().collect::<Vec<_>>(), [i64::MAX]);
    }

    #[test]
    fn numbers_that_are_no_sequence_take_no_memory() {
        let sequence = of(&(0..=MOST_RUNS as i64 + 5).map(|number| number * 2).collect::<Vec<_>>());
        assert!(sequence.is_none() && sequence.runs.is_empty());
    }
}
