//! Numbers that should follow on each other: which are missing, which are there more than once.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

/// Runs of numbers that are kept; with more, the numbers are no sequence.
const MOST_RUNS: usize = 1 << 16;
/// Gaps and duplicates of which a [`Sequence`] tells the numbers.
pub const SAMPLES: usize = 10;

/// Numbers as runs without gaps, in whatever order they come.
///
/// They may begin again behind a last one, as those of counters with a fixed number of digits do: then what lies outside of them
/// is the largest gap.
///
/// ```
/// let mut sequence = tercet_records::Sequence::default();
/// for number in [1, 2, 5, 4, 9, 5] {
///     sequence.add(number);
/// }
/// assert_eq!(sequence.gaps().collect::<Vec<_>>(), [3..=3, 6..=8]);
/// assert_eq!((sequence.missing(), sequence.duplicates(), sequence.range()), (4, 1, Some(1..=9)));
///
/// let mut sequence = tercet_records::Sequence::around(0..=99);
/// for number in [98, 99, 0, 2] {
///     sequence.add(number);
/// }
/// assert_eq!(sequence.gaps().collect::<Vec<_>>(), [1..=1]);
/// assert_eq!(sequence.range(), Some(98..=2));
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
    /// The numbers that there may be, if behind the last of them the first follows.
    circle: Option<(i64, i64)>,
}

impl Sequence {
    /// No numbers yet, of those that begin again with the first behind the last of a range.
    pub fn around(circle: RangeInclusive<i64>) -> Self {
        Self { circle: Some((*circle.start(), *circle.end())), ..Self::default() }
    }

    /// No numbers yet, of the same ones.
    pub(crate) fn emptied(&self) -> Self {
        Self { circle: self.circle, ..Self::default() }
    }

    /// Adds a number; one that there may not be is passed over.
    pub fn add(&mut self, number: i64) {
        if self.circle.is_some_and(|(first, last)| !(first..=last).contains(&number)) {
            return self.pass_over();
        }
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

    /// The least and the greatest number; if the numbers have begun again, the first is greater than the last.
    pub fn range(&self) -> Option<RangeInclusive<i64>> {
        let (first, last) = (self.runs.first_key_value()?, self.runs.last_key_value()?);
        match self.between().nth(self.outside().unwrap_or(usize::MAX)) {
            Some(gap) => Some(gap.end() + 1..=gap.start() - 1),
            None => Some(*first.0..=*last.1),
        }
    }

    /// The numbers that are missing between the first and the last.
    pub fn gaps(&self) -> impl Iterator<Item = RangeInclusive<i64>> + '_ {
        let outside = self.outside();
        let before = outside.unwrap_or(0);
        let around = outside.and(self.circle).into_iter().flat_map(|circle| self.around_the_end(circle));
        let behind = outside.map_or(0, |outside| outside + 1);
        self.between().skip(behind).chain(around).chain(self.between().take(before))
    }

    /// The numbers that are missing between the least and the greatest.
    fn between(&self) -> impl Iterator<Item = RangeInclusive<i64>> + '_ {
        self.runs.values().zip(self.runs.keys().skip(1)).map(|(before, behind)| before + 1..=behind - 1)
    }

    /// Those above the greatest and below the least of a circle.
    fn around_the_end(&self, circle: (i64, i64)) -> impl Iterator<Item = RangeInclusive<i64>> + use<> {
        let least = self.runs.first_key_value().map_or(circle.0, |run| *run.0);
        let greatest = self.runs.last_key_value().map_or(circle.1, |run| *run.1);
        let above = (greatest < circle.1).then(|| greatest + 1..=circle.1);
        let below = (least > circle.0).then(|| circle.0..=least - 1);
        above.into_iter().chain(below)
    }

    /// Which of the gaps between the least and the greatest is larger than any other and the one around the end of the circle.
    fn outside(&self) -> Option<usize> {
        let around: u128 = self.around_the_end(self.circle?).map(|gap| size(&gap)).sum();
        let largest = self.between().enumerate().max_by_key(|(_, gap)| size(gap))?;
        (size(&largest.1) > around).then_some(largest.0)
    }

    /// How many numbers are missing.
    pub fn missing(&self) -> u128 {
        self.gaps().map(|gap| size(&gap)).sum()
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

/// How many numbers there are in a gap.
fn size(gap: &RangeInclusive<i64>) -> u128 {
    (i128::from(*gap.end()) - i128::from(*gap.start())).unsigned_abs() + 1
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

    fn check(circle: RangeInclusive<i64>, numbers: &[i64], range: (i64, i64), gaps: &[(i64, i64)]) {
        for middle in 0..=numbers.len() {
            let mut sequence = Sequence::around(circle.clone());
            let mut later = sequence.emptied();
            numbers[..middle].iter().for_each(|number| sequence.add(*number));
            numbers[middle..].iter().for_each(|number| later.add(*number));
            sequence.merge(&later);
            let found: Vec<(i64, i64)> = sequence.gaps().map(|gap| (*gap.start(), *gap.end())).collect();
            assert_eq!(found, gaps, "{numbers:?} in two parts at {middle}");
            let ends = sequence.range().map(|range| (*range.start(), *range.end()));
            assert_eq!(ends, Some(range), "{numbers:?}");
            let missing: i64 = gaps.iter().map(|(first, last)| last - first + 1).sum();
            assert_eq!(sequence.missing(), missing as u128);
        }
    }

    #[test]
    fn numbers_that_begin_again() {
        check(0..=9999, &[9998, 9999, 0, 1, 3], (9998, 3), &[(2, 2)]);
        check(0..=9999, &[9997, 1], (9997, 1), &[(9998, 9999), (0, 0)]);
        check(1..=9999, &[9999, 1], (9999, 1), &[]);
        check(1..=9999, &[9998, 2], (9998, 2), &[(9999, 9999), (1, 1)]);
        check(0..=9999, &[5, 7, 8], (5, 8), &[(6, 6)]);
        check(0..=9999, &[17], (17, 17), &[]);
        check(0..=9, &[8, 1, 3, 9], (8, 3), &[(0, 0), (2, 2)]);
        check(i64::MIN..=i64::MAX, &[i64::MAX, i64::MIN], (i64::MAX, i64::MIN), &[]);
        let mut sequence = Sequence::around(0..=9);
        [3, 10, -1, 3].into_iter().for_each(|number| sequence.add(number));
        assert_eq!((sequence.others(), sequence.duplicates(), sequence.range()), (2, 1, Some(3..=3)));
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
