//! A small generator of numbers.

/// SplitMix64: the same numbers for the same seed, everywhere.
#[derive(Clone, Debug)]
pub(super) struct Random(u64);

impl Random {
    /// Starts from a seed.
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub(super) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `limit`, or 0.
    pub(super) fn below(&mut self, limit: u64) -> u64 {
        if limit == 0 { 0 } else { self.bits() % limit }
    }

    /// A number from `low` to `high`.
    pub(super) fn between(&mut self, low: u64, high: u64) -> u64 {
        match high.checked_sub(low).and_then(|width| width.checked_add(1)) {
            Some(width) => low + self.below(width),
            None => self.bits(),
        }
    }

    /// The same for numbers of 128 bits.
    pub(super) fn wide(&mut self, low: i128, high: i128) -> i128 {
        let bits = u128::from(self.bits()) << 64 | u128::from(self.bits());
        match high.wrapping_sub(low).cast_unsigned().checked_add(1) {
            Some(width) if high >= low => low.wrapping_add((bits % width).cast_signed()),
            _ => bits.cast_signed(),
        }
    }

    /// True once in `n` times.
    pub(super) fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    /// One of some things.
    pub(super) fn pick<'a, T>(&mut self, things: &'a [T]) -> Option<&'a T> {
        things.get(self.below(things.len() as u64) as usize)
    }
}
