//! Eight characters at a time: the octets of a word are the characters or what is written for them.

use super::Range;

/// One in each octet.
const ONES: u64 = 0x0101_0101_0101_0101;
/// The highest bit of each octet.
const HIGH: u64 = 0x80 * ONES;
/// The most ranges.
const MOST: usize = 4;

/// What turns characters below 128 into what is written for them, and back, without a branch or a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lanes {
    indexed: bool,
    used: usize,
    each: [Lane; MOST],
    /// Added to a number, the highest bit tells that there is no such character.
    beyond: u64,
    /// The first character, in each octet.
    first: u64,
    masks: Masks,
}

/// A range of characters. Added to a character, the highest bit of `from` tells that it is not before the range, that
/// of `behind` that it is behind it; added to a number, that of `number` that it is not before the first one's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Lane {
    from: u64,
    behind: u64,
    number: u64,
    /// Characters between the range before and this one.
    gap: u64,
}

/// Where the bits of a character are while they are moved together or apart: the lowest `bits` of every 16, twice that of
/// every 32, four times that of 64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Masks {
    bits: u32,
    one: u64,
    two: u64,
    four: u64,
}

impl Masks {
    const fn new(bits: u32) -> Self {
        Self {
            bits,
            one: ((1 << bits) - 1) * (1 << 48 | 1 << 32 | 1 << 16 | 1),
            two: ((1 << (2 * bits)) - 1) * (1 << 32 | 1),
            four: u64::MAX >> (64 - 4 * bits),
        }
    }

    /// Eight times so many bits to eight octets.
    #[inline(always)]
    const fn spread(self, word: u64) -> u64 {
        let Self { bits, one, two, four } = self;
        if bits == 8 {
            return word;
        }
        let all = word >> (64 - 8 * bits);
        let halves = all >> (4 * bits) << 32 | all & four;
        let quarters = (halves >> (2 * bits) & two) << 16 | halves & two;
        (quarters >> bits & one) << 8 | quarters & one
    }

    /// The other way.
    #[inline(always)]
    const fn pack(self, octets: u64) -> u64 {
        let Self { bits, one, two, four } = self;
        if bits == 8 {
            return octets;
        }
        let quarters = (octets >> 8 & one) << bits | octets & one;
        let halves = (quarters >> 16 & two) << (2 * bits) | quarters & two;
        halves >> 32 << (4 * bits) | halves & four
    }
}

impl Lanes {
    pub(super) const fn new(bits: u32, indexed: bool, ranges: &[Range]) -> Option<Self> {
        if ranges.is_empty() || ranges.len() > MOST || bits == 0 || bits > 8 || (indexed && bits > 7) {
            return None;
        }
        let mut each = [Lane { from: 0, behind: 0, number: 0, gap: 0 }; MOST];
        let mut i = 0;
        let mut end = ranges[0].lo;
        while i < ranges.len() {
            let Range { lo, hi, number } = ranges[i];
            if hi > 127 || lo < end || number > 127 {
                return None;
            }
            each[i] = Lane {
                from: (0x80 - lo) as u64 * ONES,
                behind: (0x7F - hi) as u64 * ONES,
                number: (0x80 - number) as u64 * ONES,
                gap: (lo - end) as u64,
            };
            end = hi + 1;
            i += 1;
        }
        let last = ranges[ranges.len() - 1];
        let count = last.number + (last.hi - last.lo) + 1;
        if indexed && count > 128 {
            return None;
        }
        Some(Self {
            indexed,
            used: ranges.len(),
            each,
            beyond: 0x80_u64.saturating_sub(count as u64) * ONES,
            first: ranges[0].lo as u64 * ONES,
            masks: Masks::new(bits),
        })
    }

    /// Shifts and masks: literals if `BITS` are the bits of a character, which may be zero for any.
    #[inline(always)]
    const fn masks<const BITS: u32>(&self) -> Masks {
        if BITS == 0 { self.masks } else { const { Masks::new(if BITS == 0 { 1 } else { BITS }) } }
    }

    /// How many characters of a word there are bits for.
    #[inline(always)]
    pub(super) const fn in_word<const BITS: u32>(&self) -> usize {
        if self.masks::<BITS>().bits == 8 { 7 } else { 8 }
    }

    /// The highest bit of each octet that is no permitted character.
    #[inline(always)]
    pub(super) fn wrong(&self, characters: u64) -> u64 {
        let low = characters & !HIGH;
        let [a, b, c, d] = &self.each;
        let within = |lane: &Lane| (low + lane.from) & !(low + lane.behind);
        let within = within(a) | if self.used > 1 { within(b) | within(c) | within(d) } else { 0 };
        (!within | characters) & HIGH
    }

    /// The characters that the highest bits of a word stand for, and the highest bit of each octet that is none.
    #[inline(always)]
    pub(super) fn read<const BITS: u32>(&self, word: u64) -> (u64, u64) {
        let codes = self.masks::<BITS>().spread(word);
        if !self.indexed {
            return (codes, self.wrong(codes));
        }
        let mut characters = codes + self.first;
        if self.used > 1 {
            // A range that is not used has a gap of none.
            let [_, b, c, d] = &self.each;
            let gap = |lane: &Lane| ((codes + lane.number) & HIGH) / 0x80 * lane.gap;
            characters += gap(b) + gap(c) + gap(d);
        }
        (characters, (codes + self.beyond) & HIGH)
    }

    /// The bits for characters that are all permitted, the last the lowest; those in front of fewer than eight have no
    /// meaning.
    #[inline(always)]
    pub(super) fn write<const BITS: u32>(&self, characters: u64) -> u64 {
        let masks = self.masks::<BITS>();
        if !self.indexed {
            return masks.pack(characters);
        }
        let mut codes = characters.wrapping_sub(self.first);
        if self.used > 1 {
            let [_, b, c, d] = &self.each;
            let low = characters & !HIGH;
            let gap = |lane: &Lane| ((low + lane.from) & HIGH) / 0x80 * lane.gap;
            codes = codes.wrapping_sub(gap(b)).wrapping_sub(gap(c)).wrapping_sub(gap(d));
        }
        masks.pack(codes)
    }
}

/// The highest bit of each of the last octets.
#[inline]
pub(super) const fn last(count: usize) -> u64 {
    match count {
        0 => 0,
        1..8 => HIGH >> (64 - 8 * count),
        _ => HIGH,
    }
}

/// The highest bit of each of the first octets.
#[inline]
pub(super) const fn first(count: usize) -> u64 {
    match count {
        0 => 0,
        1..8 => HIGH << (64 - 8 * count),
        _ => HIGH,
    }
}

#[cfg(test)]
mod tests {
    use super::super::Alphabet;
    use super::*;

    #[test]
    fn eight_at_a_time_are_the_same_as_one() {
        static VISIBLE: Alphabet = Alphabet::new(7, false, false, &[Range::new(32, 126, 0)]);
        static DIGITS: Alphabet =
            Alphabet::new(4, false, true, &[Range::new(32, 32, 0), Range::new(48, 57, 1)]);
        static NAMES: Alphabet = Alphabet::new(
            6,
            false,
            true,
            &[Range::new(45, 46, 0), Range::new(65, 90, 2), Range::new(97, 122, 28)],
        );
        static OCTETS: Alphabet =
            Alphabet::new(8, false, false, &[Range::new(45, 46, 0), Range::new(65, 90, 2)]);
        static ONE: Alphabet = Alphabet::new(1, false, true, &[Range::new(48, 49, 0)]);
        for alphabet in [&VISIBLE, &DIGITS, &NAMES, &OCTETS, &ONE] {
            let lanes = alphabet.lanes.unwrap();
            for character in 0..=255_u8 {
                let expected = alphabet.code(character.into());
                for place in 0..8 {
                    let shift = 56 - 8 * place;
                    assert_eq!(
                        lanes.wrong(u64::from(character) << shift) >> shift & 0x80 == 0,
                        expected.is_some()
                    );
                }
                let Some(code) = expected else { continue };
                let bits = alphabet.bits;
                for count in (1..).take(lanes.in_word::<0>()) {
                    let word =
                        (0..count).fold(0, |word, i: u32| word | u64::from(code) << (64 - bits * (i + 1)));
                    let characters =
                        (0..count).fold(0, |word, i| word | u64::from(character) << (56 - 8 * i));
                    let (read, wrong) = lanes.read::<0>(word);
                    assert_eq!((read ^ characters) >> (64 - 8 * count), 0);
                    assert_eq!(wrong & first(count as usize), 0);
                    let low = characters >> (64 - 8 * count);
                    let codes = |written: u64| written & (u64::MAX >> (64 - bits * count));
                    assert_eq!(codes(lanes.write::<0>(low)), word >> (64 - bits * count));
                    let by_literals = match bits {
                        4 => (lanes.read::<4>(word), codes(lanes.write::<4>(low))),
                        6 => (lanes.read::<6>(word), codes(lanes.write::<6>(low))),
                        7 => (lanes.read::<7>(word), codes(lanes.write::<7>(low))),
                        8 => (lanes.read::<8>(word), codes(lanes.write::<8>(low))),
                        _ => continue,
                    };
                    assert_eq!(by_literals, ((read, wrong), codes(lanes.write::<0>(low))));
                }
            }
            for code in 0..1_u32 << alphabet.bits.min(7) {
                let (read, wrong) = lanes.read::<0>(u64::from(code) << (64 - alphabet.bits));
                let expected = alphabet.character(code);
                assert_eq!(wrong & first(1) == 0, expected.is_some());
                assert!(expected.is_none_or(|character| u64::from(character) == read >> 56));
            }
        }
    }
}
