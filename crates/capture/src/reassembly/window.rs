//! Which transmission sequence numbers of SCTP have been seen.

/// Numbers behind the highest one that are remembered.
const SPAN: u64 = 4096;
const WORDS: usize = (SPAN / 64) as usize;

/// The recent numbers of one direction, unwrapped to 64 bits.
#[derive(Debug)]
pub(crate) struct SeenNumbers {
    highest: u64,
    seen: Box<[u64; WORDS]>,
}

/// What a number is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    /// Not seen before; its number unwrapped.
    New(u64),
    /// Sent once more.
    Again,
}

impl SeenNumbers {
    /// Returns a window at the first number that is seen.
    pub(crate) fn new(first: u32) -> Self {
        // Numbers below the first one need room.
        Self { highest: (1 << 32) | u64::from(first), seen: Box::new([0; WORDS]) }
    }

    /// Notes a number; serial numbers as RFC 1982 compares them.
    pub(crate) fn note(&mut self, number: u32) -> Seen {
        let distance = i64::from(number.wrapping_sub(self.highest as u32) as i32);
        let unwrapped = self.highest.wrapping_add_signed(distance);
        if distance.unsigned_abs() >= SPAN {
            // So far away that it is another run of numbers: what was seen says nothing about it.
            self.seen.fill(0);
            self.highest = unwrapped;
        } else if distance > 0 {
            for gone in self.highest + 1..=unwrapped {
                *self.word(gone) &= !(1 << (gone % 64));
            }
            self.highest = unwrapped;
        }
        let bit = 1 << (unwrapped % 64);
        let word = self.word(unwrapped);
        if *word & bit != 0 {
            return Seen::Again;
        }
        *word |= bit;
        Seen::New(unwrapped)
    }

    fn word(&mut self, number: u64) -> &mut u64 {
        &mut self.seen[(number % SPAN / 64) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_seen_once_in_any_order_and_over_the_wrap() {
        let mut numbers = SeenNumbers::new(u32::MAX);
        let mut fresh = Vec::new();
        for number in [u32::MAX, 1, 0, u32::MAX - 3, u32::MAX, 1, 4000, 0, 5000, 4000] {
            if let Seen::New(unwrapped) = numbers.note(number) {
                fresh.push((number, unwrapped - (1 << 32)));
            }
        }
        let wrap = 1u64 << 32;
        let max = u32::MAX;
        assert_eq!(
            fresh,
            [
                (max, wrap - 1),
                (1, wrap + 1),
                (0, wrap),
                (max - 3, wrap - 4),
                (4000, wrap + 4000),
                (5000, wrap + 5000)
            ]
        );
        assert_eq!(numbers.note(0), Seen::New(1 << 33), "too far behind to be remembered");
    }
}
