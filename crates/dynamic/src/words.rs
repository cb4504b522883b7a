//! A few octets at once, in a word: what is done with each of them is done with all, without a loop whose end a processor
//! has to guess.

/// A word of octets that are one.
pub const ONES: u64 = 0x0101_0101_0101_0101;

const LOW_NIBBLES: u64 = ONES * 0x0F;

/// Up to eight octets as a word, the first one lowest; those that are not there are `fill`. Nothing if there are more.
#[inline(always)]
pub fn word(octets: &[u8], fill: u8) -> Option<u64> {
    let length = octets.len();
    if let Some(all) = octets.first_chunk::<8>() {
        return (length == 8).then_some(u64::from_le_bytes(*all));
    }
    let known = if let (Some(first), Some(last)) = (octets.first_chunk::<4>(), octets.last_chunk::<4>()) {
        // Where they overlap they are the same.
        u64::from(u32::from_le_bytes(*first)) | u64::from(u32::from_le_bytes(*last)) << (8 * (length - 4))
    } else if let [first, .., last] = octets {
        let middle = length / 2;
        u64::from(*first) | u64::from(octets[middle]) << (8 * middle) | u64::from(*last) << (8 * (length - 1))
    } else {
        octets.first().copied().map_or(0, u64::from)
    };
    let missing = u64::MAX << (8 * length);
    Some(known | (ONES * u64::from(fill)) & missing)
}

/// The nibbles of four octets, each in an octet of its own: of each octet the low one first.
#[inline]
const fn spread(octets: u32) -> u64 {
    let word = octets as u64;
    let word = (word | word << 16) & 0x0000_FFFF_0000_FFFF;
    let word = (word | word << 8) & 0x00FF_00FF_00FF_00FF;
    (word | word << 4) & LOW_NIBBLES
}

/// The nibbles of the octets of a word, each in an octet of its own: of each octet the low one first.
#[inline]
pub const fn nibbles(word: u64) -> [u64; 2] {
    [spread(word as u32), spread((word >> 32) as u32)]
}

/// The same octets with their nibbles exchanged.
#[inline]
pub const fn exchanged(word: u64) -> u64 {
    word >> 4 & LOW_NIBBLES | (word & LOW_NIBBLES) << 4
}

/// Of octets below 80 the high bit where they are not less than a bound of at most 80.
#[inline]
pub const fn not_less(word: u64, bound: u8) -> u64 {
    (word + ONES * (0x80 - bound) as u64) & ONES << 7
}

/// Appends the first octets of two words.
#[inline]
pub fn push(out: &mut Vec<u8>, words: [u64; 2], length: usize) {
    let [first, second] = words.map(u64::to_le_bytes);
    let mut octets = [0; 16];
    octets[..8].copy_from_slice(&first);
    octets[8..].copy_from_slice(&second);
    let end = out.len() + length.min(16);
    out.extend_from_slice(&octets);
    out.truncate(end);
}

/// A text of up to 16 octets, in two words; what is in these beyond its length is of no meaning.
#[derive(Clone, Copy, Debug)]
pub struct Short {
    words: [u64; 2],
    /// Number of octets.
    pub length: usize,
}

impl Short {
    /// Makes a text of the first octets of two words.
    #[inline]
    pub const fn new(words: [u64; 2], length: usize) -> Self {
        Self { words, length }
    }

    /// Returns the octets as words, and others behind them.
    #[inline]
    pub const fn words(self) -> [u64; 2] {
        self.words
    }

    /// Appends the text.
    #[inline]
    pub fn push(self, out: &mut Vec<u8>) {
        push(out, self.words, self.length);
    }
}

/// Returns a text of up to 16 octets in words. Always in line, as those of it are: what a call returns is in memory, which
/// takes longer to read than the call itself.
#[inline(always)]
pub fn short(text: &[u8]) -> Option<Short> {
    let length = text.len();
    match (text.first_chunk::<8>(), text.last_chunk::<8>()) {
        (Some(first), Some(last)) if length <= 16 => Some(ends(*first, *last, length)),
        (None, _) => Some(Short::new([word(text, 0)?, 0], length)),
        _ => None,
    }
}

/// Returns a text of 8 to 16 octets by its first and its last eight.
#[inline(always)]
pub fn ends(first: [u8; 8], last: [u8; 8], length: usize) -> Short {
    let [first, last] = [first, last].map(u64::from_le_bytes);
    // The last eight octets without those that are among the first.
    Short::new([first, last.checked_shr(8 * (16 - length as u32)).unwrap_or(0)], length)
}

/// Appends a text, in two words if it is short: the library's copy is a call that looks at the length again.
#[inline]
pub fn copy(out: &mut Vec<u8>, text: &[u8]) {
    match short(text) {
        Some(text) => text.push(out),
        None => out.extend_from_slice(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_octets_are_a_word() {
        let octets = [1, 2, 3, 4, 5, 6, 7, 8, 9];
        for length in 0..=8 {
            let mut padded = [0xFF; 8];
            padded[..length].copy_from_slice(&octets[..length]);
            assert_eq!(word(&octets[..length], 0xFF), Some(u64::from_le_bytes(padded)), "{length}");
        }
        assert_eq!(word(&octets, 0), None);
        let text = b"abcdefghijklmnopqrst";
        for length in 0..=text.len() {
            let mut out = b"x".to_vec();
            copy(&mut out, &text[..length]);
            assert_eq!(out, [&b"x"[..], &text[..length]].concat());
        }
    }

    #[test]
    fn nibbles_stand_alone() {
        let word = u64::from_le_bytes([0x10, 0x32, 0x54, 0x76, 0x98, 0xBA, 0xDC, 0xFE]);
        let [low, high] = nibbles(word);
        assert_eq!(low.to_le_bytes(), [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(high.to_le_bytes(), [8, 9, 10, 11, 12, 13, 14, 15]);
        assert_eq!(nibbles(exchanged(word))[0].to_le_bytes(), [1, 0, 3, 2, 5, 4, 7, 6]);
        assert_eq!(not_less(high, 10), 0x8080_8080_8080_0000);
        let mut out = b"x".to_vec();
        push(&mut out, [0x3131_3131_3131_3131, 0x3232_3232_3232_3232], 9);
        assert_eq!(out, b"x111111112");
    }
}
