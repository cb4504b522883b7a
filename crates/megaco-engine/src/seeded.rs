//! What is random, and what is hashed: both depend on the seed of the engine and on nothing else.

use std::hash::{BuildHasher, Hasher};

/// Numbers that look random (SplitMix64). The same seed gives the same ones.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The numbers of a seed.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    pub const fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `limit`, or 0 if that is 0.
    pub const fn below(&mut self, limit: u64) -> u64 {
        ((self.next_u64() as u128 * limit as u128) >> 64) as u64
    }

    /// Returns true so many times in a thousand.
    pub const fn permille(&mut self, share: u64) -> bool {
        self.below(1000) < share
    }
}

/// Hashes ids and names with secrets from the seed: peers choose ids, and must not be able to choose colliding ones.
#[derive(Clone, Debug)]
pub(crate) struct Seeded {
    secrets: [u64; 2],
}

impl Seeded {
    pub(crate) const fn new(random: &mut Random) -> Self {
        Self { secrets: [random.next_u64(), random.next_u64() | 1] }
    }
}

impl BuildHasher for Seeded {
    type Hasher = Folded;

    fn build_hasher(&self) -> Folded {
        Folded { state: self.secrets[0], factor: self.secrets[1] }
    }
}

/// Multiplies to 128 bits and folds the halves.
#[derive(Clone, Debug)]
pub(crate) struct Folded {
    state: u64,
    factor: u64,
}

impl Folded {
    const fn add(&mut self, word: u64) {
        let product = (self.state ^ word) as u128 * self.factor as u128;
        self.state = product as u64 ^ (product >> 64) as u64 ^ self.factor.rotate_left(23);
    }
}

impl Hasher for Folded {
    fn write(&mut self, octets: &[u8]) {
        let mut words = octets.chunks_exact(8);
        for word in words.by_ref() {
            self.add(word.iter().fold(0, |word, &octet| word << 8 | u64::from(octet)));
        }
        let rest = words.remainder().iter().fold(0, |word, &octet| word << 8 | u64::from(octet));
        self.add(rest ^ (octets.len() as u64) << 56);
    }

    fn write_u32(&mut self, word: u32) {
        self.add(word.into());
    }

    fn write_u64(&mut self, word: u64) {
        self.add(word);
    }

    fn write_u8(&mut self, octet: u8) {
        self.add(octet.into());
    }

    fn write_usize(&mut self, word: usize) {
        self.add(word as u64);
    }

    fn finish(&self) -> u64 {
        let product = self.state as u128 * (self.factor ^ 0x9e37_79b9_7f4a_7c15) as u128;
        product as u64 ^ (product >> 64) as u64
    }
}
