//! Damage: random, and all of a kind.

use crate::generate::Random;

/// Octets that stand at borders: lengths, signs, tags.
const BORDERS: [u8; 10] = [0x00, 0x01, 0x1F, 0x20, 0x7F, 0x80, 0x81, 0x84, 0xA0, 0xFF];

/// One of the seeds with one to six faults.
pub(super) fn damaged(random: &mut Random, seeds: &[Vec<u8>], longest: usize) -> Vec<u8> {
    let mut octets = if seeds.is_empty() { Vec::new() } else { random.pick(seeds).clone() };
    for _ in 0..random.between(1, 6) {
        let at = random.below(octets.len() as u64 + 1) as usize;
        let run = (random.below(8) as usize).min(octets.len() - at);
        match random.below(8) {
            0 => octets.truncate(at),
            1 if at < octets.len() => octets[at] ^= 1 << random.below(8),
            2 if at < octets.len() => octets[at] = *random.pick(&BORDERS),
            3 if at < octets.len() => octets[at] = octets[at].wrapping_add(random.between(1, 255) as u8),
            4 => octets.insert(at, random.bits() as u8),
            5 => drop(octets.drain(at..at + run)),
            // A part once more, or a part of another seed.
            6 => {
                let part = octets[at..at + run].to_vec();
                octets.splice(at..at, part);
            }
            7 => {
                let other = random.pick(seeds);
                let from = random.below(other.len() as u64 + 1) as usize;
                let until = other.len().min(from + random.below(32) as usize);
                octets.splice(at..at + run, other[from..until].iter().copied());
            }
            _ => {}
        }
    }
    octets.truncate(longest);
    octets
}

/// Every prefix, every flipped bit, every octet as 00, 7F, 80 and FF.
pub fn each_damage(seed: &[u8], try_it: &mut impl FnMut(&[u8])) {
    (0..seed.len()).for_each(|end| try_it(&seed[..end]));
    let mut octets = seed.to_vec();
    for at in 0..seed.len() {
        let flipped = (0..8).map(|bit| seed[at] ^ 1 << bit);
        for octet in flipped.chain([0x00, 0x7F, 0x80, 0xFF]) {
            octets[at] = octet;
            try_it(&octets);
        }
        octets[at] = seed[at];
    }
}

/// Every string of up to so many bits, the last octet filled with zeros, for each first octet below 16 that a target
/// selects its type by.
pub(super) fn all(bits: u32, try_it: &mut impl FnMut(&[u8])) {
    for kind in 0..16 {
        for bits in (0..=bits).filter(|length| length % 8 == 0 || *length == bits) {
            let length = bits.div_ceil(8) as usize;
            for value in 0..1_u64 << bits {
                let octets = (value << (64 - bits.max(1))).to_be_bytes();
                let mut input = [kind; 9];
                input[1..].copy_from_slice(&octets);
                try_it(&input[..=length]);
            }
        }
    }
}
