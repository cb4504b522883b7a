//! The rows of tables by their keys.

/// The rows of a table that have one whole number as key each, or two: a hash table of half as many rows as places.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lookup {
    /// Keys and nodes, or [`NO_NODE`]; none if the keys are of another form.
    pub(crate) places: Box<[(i64, u32)]>,
    /// Second keys are from 0 to below this; 0 where there are none.
    pub(crate) seconds: i64,
}

/// No node.
const NO_NODE: u32 = u32::MAX;

impl Lookup {
    /// From the rows, each with its key and its node.
    pub fn new(rows: &[(i64, u32)]) -> Self {
        if rows.is_empty() {
            return Self::default();
        }
        let places = vec![(0, NO_NODE); (rows.len() * 2).next_power_of_two()];
        let mut lookup = Self { places: places.into(), seconds: 0 };
        for (key, node) in rows {
            let mut at = lookup.first(*key);
            while lookup.places[at].1 != NO_NODE {
                at = (at + 1) & (lookup.places.len() - 1);
            }
            lookup.places[at] = (*key, *node);
        }
        lookup
    }

    /// From the rows of a table with two keys: they are one where the second ones are few (NBAP: a row is found by the
    /// order of its keys in 780 instructions).
    pub fn of_pairs(rows: &[(i64, i64, u32)]) -> Self {
        let seconds = rows.iter().map(|(_, second, _)| *second).max().unwrap_or_default().saturating_add(1);
        let joined = rows.iter().map(|(key, second, node)| Some((join(*key, *second, seconds)?, *node)));
        match joined.collect::<Option<Vec<_>>>() {
            Some(rows) if !rows.is_empty() => Self { seconds, ..Self::new(&rows) },
            _ => Self::default(),
        }
    }

    /// Whether rows are found here by the keys in these registers.
    #[inline]
    pub const fn serves(&self, keys: &[u16]) -> bool {
        !self.places.is_empty() && keys.len() == if self.seconds > 0 { 2 } else { 1 }
    }

    /// The type in the row with this key.
    #[inline(always)]
    pub fn find(&self, key: i64) -> Option<u32> {
        let mut at = self.first(key);
        // There is always a free place.
        while let Some((known, node)) = self.places.get(at)
            && *node != NO_NODE
        {
            if *known == key {
                return Some(*node);
            }
            at = (at + 1) & (self.places.len() - 1);
        }
        None
    }

    /// The type in the row with these keys.
    #[inline]
    pub fn find_pair(&self, key: i64, second: i64) -> Option<u32> {
        self.find(join(key, second, self.seconds)?)
    }

    /// Keys are numbers given one after the other.
    #[inline(always)]
    fn first(&self, key: i64) -> usize {
        key.cast_unsigned() as usize & self.places.len().wrapping_sub(1)
    }
}

/// One number for two keys.
#[inline]
fn join(key: i64, second: i64, seconds: i64) -> Option<i64> {
    if !(0..seconds).contains(&second) {
        return None;
    }
    key.checked_mul(seconds)?.checked_add(second)
}

#[cfg(test)]
mod tests {
    use super::Lookup;

    #[test]
    fn finds_the_rows_of_tables() {
        let rows: Vec<(i64, u32)> = [-8, -1, 0, 1, 8, 9, 16, 24, i64::MAX].into_iter().zip(10..).collect();
        let lookup = Lookup::new(&rows);
        for (key, node) in &rows {
            assert_eq!(lookup.find(*key), Some(*node));
        }
        for key in [2, -16, 32, i64::MIN] {
            assert_eq!(lookup.find(key), None);
        }
        assert!(rows.iter().all(|(key, _)| lookup.find_pair(*key, 0).is_none()));
        assert!(lookup.serves(&[7]) && !lookup.serves(&[7, 8]));
        assert!(!Lookup::new(&[]).serves(&[7]));
        assert_eq!(Lookup::default().find(0), None);
    }

    #[test]
    fn finds_the_rows_of_tables_with_two_keys() {
        let keys = [(0, 0), (0, 2), (1, 1), (-7, 2), (i64::from(i32::MAX), 1)];
        let rows: Vec<_> = keys.iter().zip(10..).map(|((key, second), node)| (*key, *second, node)).collect();
        let lookup = Lookup::of_pairs(&rows);
        assert!(lookup.serves(&[7, 8]) && !lookup.serves(&[7]));
        for (key, second, node) in &rows {
            assert_eq!(lookup.find_pair(*key, *second), Some(*node));
        }
        for (key, second) in [(0, 1), (1, 0), (0, 3), (0, -1), (1, -1), (i64::MAX, 2), (i64::MIN, 2)] {
            assert_eq!(lookup.find_pair(key, second), None);
        }
        // Nothing for keys that are not so: they are found by their order.
        for rows in [&[(1, -1, 10), (1, 2, 11)][..], &[(i64::MAX, 2, 10)], &[]] {
            assert!(!Lookup::of_pairs(rows).serves(&[7, 8]));
        }
    }
}
