//! Arithmetic of sets of integers, sizes and characters: sorted closed ranges, never their members one by one.

use num_bigint::BigInt;

/// What a [`RangeSet`] holds: an order in which most members have a next and a previous one.
pub trait Step: Ord + Clone {
    /// The member after this one.
    fn next(&self) -> Option<Self>;
    /// The member before this one.
    fn previous(&self) -> Option<Self>;
}

impl Step for BigInt {
    fn next(&self) -> Option<Self> {
        Some(self + 1)
    }
    fn previous(&self) -> Option<Self> {
        Some(self - 1)
    }
}

impl Step for u64 {
    fn next(&self) -> Option<Self> {
        self.checked_add(1)
    }
    fn previous(&self) -> Option<Self> {
        self.checked_sub(1)
    }
}

impl Step for u32 {
    fn next(&self) -> Option<Self> {
        self.checked_add(1)
    }
    fn previous(&self) -> Option<Self> {
        self.checked_sub(1)
    }
}

/// An end of a range; the order is that of the number line.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Edge<T> {
    /// No lower end.
    Below,
    /// A member.
    At(T),
    /// No upper end.
    Above,
}

impl<T: Step> Edge<T> {
    /// The member, where there is one.
    pub fn at(&self) -> Option<&T> {
        match self {
            Self::At(value) => Some(value),
            Self::Below | Self::Above => None,
        }
    }

    fn next(&self) -> Self {
        match self {
            Self::At(value) => value.next().map_or(Self::Above, Self::At),
            other => other.clone(),
        }
    }

    fn previous(&self) -> Self {
        match self {
            Self::At(value) => value.previous().map_or(Self::Below, Self::At),
            other => other.clone(),
        }
    }
}

/// A set as disjoint closed ranges in ascending order, neighbours joined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RangeSet<T> {
    ranges: Vec<(Edge<T>, Edge<T>)>,
}

/// A set of integers.
pub type IntegerSet = RangeSet<BigInt>;
/// A set of sizes; an unbounded one ends in [`Edge::Above`].
pub type SizeSet = RangeSet<u64>;
/// A set of characters by their code.
pub type CharSet = RangeSet<u32>;

impl<T: Step> RangeSet<T> {
    /// The set of nothing.
    pub fn empty() -> Self {
        Self { ranges: Vec::new() }
    }

    /// The set of everything.
    pub fn all() -> Self {
        Self { ranges: vec![(Edge::Below, Edge::Above)] }
    }

    /// One range; empty when the ends are in the wrong order.
    pub fn range(lo: Edge<T>, hi: Edge<T>) -> Self {
        let inside = lo <= hi && lo != Edge::Above && hi != Edge::Below;
        Self { ranges: if inside { vec![(lo, hi)] } else { Vec::new() } }
    }

    /// The range between two members, both included.
    pub fn between(lo: T, hi: T) -> Self {
        Self::range(Edge::At(lo), Edge::At(hi))
    }

    /// The set of one member.
    pub fn one(value: T) -> Self {
        Self { ranges: vec![(Edge::At(value.clone()), Edge::At(value))] }
    }

    /// The set of these ranges, which may overlap and stand in any order.
    pub fn of(ranges: impl IntoIterator<Item = (Edge<T>, Edge<T>)>) -> Self {
        let mut ranges: Vec<_> = ranges
            .into_iter()
            .filter(|(lo, hi)| lo <= hi && *lo != Edge::Above && *hi != Edge::Below)
            .collect();
        ranges.sort();
        let mut joined: Vec<(Edge<T>, Edge<T>)> = Vec::with_capacity(ranges.len());
        for (lo, hi) in ranges {
            match joined.last_mut() {
                Some((_, end)) if lo <= end.next() => {
                    if hi > *end {
                        *end = hi;
                    }
                }
                _ => joined.push((lo, hi)),
            }
        }
        Self { ranges: joined }
    }

    /// The ranges in ascending order.
    pub fn ranges(&self) -> &[(Edge<T>, Edge<T>)] {
        &self.ranges
    }

    /// Whether there is no member.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// The smallest range that holds all members.
    pub fn hull(&self) -> Option<(Edge<T>, Edge<T>)> {
        Some((self.ranges.first()?.0.clone(), self.ranges.last()?.1.clone()))
    }

    /// Whether a value is a member.
    pub fn contains(&self, value: &T) -> bool {
        let value = Edge::At(value.clone());
        let at = self.ranges.partition_point(|(_, hi)| *hi < value);
        self.ranges.get(at).is_some_and(|(lo, _)| *lo <= value)
    }

    /// Whether every member is in `other`.
    pub fn is_within(&self, other: &Self) -> bool {
        self.except(other).is_empty()
    }

    /// Members of either.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        Self::of(self.ranges.iter().chain(&other.ranges).cloned())
    }

    /// Members of both.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        let (mut a, mut b) = (self.ranges.iter().peekable(), other.ranges.iter().peekable());
        let mut ranges = Vec::new();
        while let (Some(x), Some(y)) = (a.peek(), b.peek()) {
            let lo = (&x.0).max(&y.0);
            let hi = (&x.1).min(&y.1);
            if lo <= hi {
                ranges.push((lo.clone(), hi.clone()));
            }
            if x.1 <= y.1 {
                a.next();
            } else {
                b.next();
            }
        }
        Self { ranges }
    }

    /// Members of this set that `other` lacks.
    #[must_use]
    pub fn except(&self, other: &Self) -> Self {
        self.intersection(&other.complement())
    }

    fn complement(&self) -> Self {
        let mut ranges = Vec::with_capacity(self.ranges.len() + 1);
        let mut lo = Edge::Below;
        for (from, to) in &self.ranges {
            if *from != Edge::Below {
                ranges.push((lo, from.previous()));
            }
            if *to == Edge::Above {
                return Self::of(ranges);
            }
            lo = to.next();
        }
        ranges.push((lo, Edge::Above));
        Self::of(ranges)
    }
}

impl CharSet {
    /// The characters of a text.
    pub fn of_text(text: &str) -> Self {
        Self::of(text.chars().map(|c| (Edge::At(u32::from(c)), Edge::At(u32::from(c)))))
    }

    /// How many characters there are; `None` when the set has no end.
    pub fn count(&self) -> Option<u64> {
        self.ranges
            .iter()
            .map(|(lo, hi)| Some(u64::from(*hi.at()?) - lo.at().map_or(0, |&lo| u64::from(lo)) + 1))
            .sum()
    }

    /// The characters as closed ranges of codes.
    pub fn codes(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.ranges
            .iter()
            .map(|(lo, hi)| (lo.at().copied().unwrap_or(0), hi.at().copied().unwrap_or(u32::MAX)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(ranges: &[(u32, u32)]) -> CharSet {
        CharSet::of(ranges.iter().map(|&(lo, hi)| (Edge::At(lo), Edge::At(hi))))
    }

    #[test]
    fn neighbours_join() {
        assert_eq!(set(&[(5, 6), (1, 2), (3, 4), (9, 9)]), set(&[(1, 6), (9, 9)]));
        assert_eq!(set(&[(3, 1)]), CharSet::empty());
    }

    #[test]
    fn union_intersection_except() {
        let a = set(&[(1, 10), (20, 30)]);
        let b = set(&[(5, 25), (40, 41)]);
        assert_eq!(a.union(&b), set(&[(1, 30), (40, 41)]));
        assert_eq!(a.intersection(&b), set(&[(5, 10), (20, 25)]));
        assert_eq!(a.except(&b), set(&[(1, 4), (26, 30)]));
        assert_eq!(a.except(&CharSet::all()), CharSet::empty());
        assert_eq!(CharSet::all().except(&a).except(&CharSet::all()), CharSet::empty());
        assert!(set(&[(2, 3)]).is_within(&a) && !b.is_within(&a));
        assert!(a.contains(&20) && !a.contains(&19) && !a.contains(&31));
    }

    #[test]
    fn open_ends() {
        let upward = IntegerSet::range(Edge::At(3.into()), Edge::Above);
        let downward = IntegerSet::range(Edge::Below, Edge::At(2.into()));
        assert_eq!(upward.union(&downward), IntegerSet::all());
        assert!(upward.intersection(&downward).is_empty());
        assert_eq!(IntegerSet::all().except(&upward), downward);
    }

    #[test]
    fn counts() {
        assert_eq!(CharSet::of_text("banana").count(), Some(3));
        assert_eq!(CharSet::all().count(), None);
    }
}
