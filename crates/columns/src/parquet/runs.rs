//! Small numbers in runs, and the encoding of them in Parquet (hybrid of run lengths and packed bits).

use std::cell::OnceCell;
use std::ops::Range;

/// Numbers, most of which are as the one before.
#[derive(Clone, Debug, Default)]
pub(crate) struct Runs {
    /// How many there are of which number; neighbours differ.
    runs: Vec<(u32, u32)>,
    len: usize,
    /// The encoding that was made first, and its width: columns beside one another have the same levels.
    encoded: OnceCell<(u32, Vec<u8>)>,
}

impl Runs {
    /// So many times the same number.
    pub(crate) fn same(count: usize, number: u32) -> Self {
        let mut runs = Self::default();
        runs.push(count, number);
        runs
    }

    #[inline]
    pub(crate) fn push(&mut self, count: usize, number: u32) {
        self.len += count;
        match self.runs.last_mut() {
            Some((before, last)) if *last == number => *before += count as u32,
            _ if count > 0 => self.runs.push((count as u32, number)),
            _ => {}
        }
    }

    /// How many numbers there are.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// How many there are of which number, one after the other.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (usize, u32)> {
        self.runs.iter().map(|&(count, number)| (count as usize, number))
    }

    /// How many of the numbers are this one.
    pub(crate) fn count(&self, number: u32) -> usize {
        self.iter().filter(|run| run.1 == number).map(|run| run.0).sum()
    }

    /// The numbers at some places.
    pub(crate) fn part(&self, range: Range<usize>) -> Self {
        let (mut cursor, mut part) = (self.cursor(), Self::default());
        cursor.advance(range.start, |_, _| {});
        cursor.advance(range.end, |count, number| part.push(count, number));
        part
    }

    /// A cursor at the first number.
    pub(crate) fn cursor(&self) -> Cursor<'_> {
        Cursor { runs: &self.runs, used: 0, position: 0 }
    }

    /// Appends the encoding of numbers below two to the power of `width`.
    pub(crate) fn encode(&self, width: u32, out: &mut Vec<u8>) {
        let mut encoder = Hybrid::new(width);
        for (count, number) in self.iter() {
            encoder.push(count, number, out);
        }
        encoder.end(out);
    }

    /// The same for numbers that will be asked for again.
    pub(crate) fn encode_once(&self, width: u32, out: &mut Vec<u8>) {
        let (known, octets) = self.encoded.get_or_init(|| {
            let mut octets = Vec::new();
            self.encode(width, &mut octets);
            (width, octets)
        });
        if *known == width {
            out.extend_from_slice(octets);
        } else {
            self.encode(width, out);
        }
    }

    /// These numbers with another one in place of one of them, which none of the others is.
    pub(crate) fn replaced(&self, number: u32, by: u32) -> Self {
        let runs = self.runs.iter().map(|run| if run.1 == number { (run.0, by) } else { *run }).collect();
        Self { runs, len: self.len, encoded: OnceCell::new() }
    }

    /// Whether these are the same numbers, as far as that is found out at once.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        std::ptr::eq(self, other) || self.runs.len() <= 1 && self.runs == other.runs
    }
}

/// Bits that numbers up to this one take.
pub(crate) fn width(largest: u32) -> u32 {
    u32::BITS - largest.leading_zeros()
}

/// A place among numbers.
pub(crate) struct Cursor<'r> {
    /// The runs from this place on.
    runs: &'r [(u32, u32)],
    /// How many of the first one are before it.
    used: u32,
    pub(crate) position: usize,
}

impl Cursor<'_> {
    /// Goes ahead to a position and tells runs that it passes; there may be several of one number.
    #[inline]
    pub(crate) fn advance(&mut self, position: usize, mut passed: impl FnMut(usize, u32)) {
        while self.position < position {
            let Some(&(count, number)) = self.runs.first() else { return };
            let step = (count - self.used).min((position - self.position) as u32);
            passed(step as usize, number);
            self.position += step as usize;
            self.used += step;
            if self.used == count {
                self.runs = &self.runs[1..];
                self.used = 0;
            }
        }
    }

    /// The number at this place.
    #[inline]
    pub(crate) fn number(&self) -> Option<u32> {
        self.runs.first().map(|run| run.1)
    }
}

/// Eight repetitions at the begin of a group, or more, become a run; everything else groups of eight in packed bits.
struct Hybrid {
    width: u32,
    /// The numbers of a group: their bits if they are octets at most.
    group: [u32; 8],
    bits: u64,
    /// A one in the first bit of each of eight numbers.
    places: u64,
    filled: u32,
    /// Groups of packed bits since their header, and where that is.
    packed: usize,
    header: usize,
}

/// Groups that the one octet of a header counts.
const GROUPS: usize = 63;

impl Hybrid {
    fn new(width: u32) -> Self {
        let places = if width <= 8 { (0..8).fold(0, |places, at| places | 1 << (at * width)) } else { 0 };
        Self { width, group: [0; 8], bits: 0, places, filled: 0, packed: 0, header: 0 }
    }

    #[inline]
    fn push(&mut self, mut count: usize, number: u32, out: &mut Vec<u8>) {
        while count > 0 && (self.filled > 0 || count < 8) {
            let some = (8 - self.filled).min(count as u32);
            self.some(some, number, out);
            count -= some as usize;
        }
        if count > 0 {
            self.packed = 0;
            push_varint((count as u64) << 1, out);
            out.extend_from_slice(&number.to_le_bytes()[..self.width.div_ceil(8) as usize]);
        }
    }

    /// Adds a number to the group so many times, which there is room for.
    #[inline]
    fn some(&mut self, count: u32, number: u32, out: &mut Vec<u8>) {
        if self.width <= 8 {
            // A one at the place of each number.
            let places = self.places & u64::MAX >> (u64::BITS - count * self.width);
            self.bits |= (places * u64::from(number)) << (self.filled * self.width);
        } else {
            self.group[self.filled as usize..(self.filled + count) as usize].fill(number);
        }
        self.filled += count;
        if self.filled == 8 {
            self.end_group(out);
        }
    }

    fn end_group(&mut self, out: &mut Vec<u8>) {
        self.filled = 0;
        if self.packed == 0 || self.packed == GROUPS {
            self.header = out.len();
            self.packed = 0;
            out.push(0);
        }
        self.packed += 1;
        out[self.header] = (self.packed << 1 | 1) as u8;
        if self.width <= 8 {
            out.extend_from_slice(&std::mem::take(&mut self.bits).to_le_bytes()[..self.width as usize]);
            return;
        }
        let (mut bits, mut held) = (0_u64, 0);
        for number in self.group {
            bits |= u64::from(number) << held;
            held += self.width;
            while held >= 8 {
                out.push(bits as u8);
                bits >>= 8;
                held -= 8;
            }
        }
    }

    fn end(&mut self, out: &mut Vec<u8>) {
        if self.filled > 0 {
            self.some(8 - self.filled, 0, out);
        }
    }
}

/// Appends a number in groups of seven bits, the least first.
pub(crate) fn push_varint(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads the hybrid encoding.
    fn decode(mut octets: &[u8], width: u32, len: usize) -> Vec<u32> {
        let mut numbers = Vec::new();
        let mut octet = || {
            let (first, rest) = octets.split_first()?;
            octets = rest;
            Some(*first)
        };
        while numbers.len() < len {
            let (mut header, mut shift) = (0_u64, 0);
            while let Some(part) = octet() {
                header |= u64::from(part & 0x7F) << shift;
                shift += 7;
                if part < 0x80 {
                    break;
                }
            }
            if header & 1 == 0 {
                let number =
                    (0..width.div_ceil(8)).fold(0, |n, at| n | u32::from(octet().unwrap()) << (8 * at));
                numbers.extend(std::iter::repeat_n(number, (header >> 1) as usize));
                continue;
            }
            let bits: Vec<bool> = (0..(header >> 1) * u64::from(width))
                .flat_map(|_| octet().map(|octet| (0..8).map(move |bit| octet >> bit & 1 > 0)).unwrap())
                .collect();
            let number = |bits: &[bool]| bits.iter().rev().fold(0, |n, bit| n << 1 | u32::from(*bit));
            numbers.extend(bits.chunks(width as usize).map(number));
        }
        assert!(octets.is_empty());
        numbers.truncate(len);
        numbers
    }

    #[test]
    fn numbers_come_back_from_runs_and_bits() {
        let mut state = 7_u32;
        let mut next = |below: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) % below
        };
        for largest in [1, 2, 5, 255, 256, 70_000] {
            for longest in [1, 3, 9, 40, 2000] {
                let (mut runs, mut wanted) = (Runs::default(), Vec::new());
                while wanted.len() < 3000 {
                    let (count, number) = (next(longest) as usize + 1, next(largest + 1));
                    runs.push(count, number);
                    wanted.extend(std::iter::repeat_n(number, count));
                }
                let mut octets = Vec::new();
                runs.encode(width(largest), &mut octets);
                assert_eq!(runs.len(), wanted.len());
                assert_eq!(decode(&octets, width(largest), wanted.len()), wanted, "{largest} {longest}");
            }
        }
    }
}
