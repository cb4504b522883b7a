//! PER: fields of bits, eight characters at once.

/// A cursor over bits.
#[derive(Clone, Debug)]
pub(crate) struct Bits<'a> {
    octets: &'a [u8],
    at: usize,
}

impl<'a> Bits<'a> {
    #[inline(always)]
    pub(crate) const fn new(octets: &'a [u8]) -> Self {
        Self { octets, at: 0 }
    }

    /// Takes up to 57 bits.
    #[inline(always)]
    pub(crate) fn take(&mut self, bits: usize) -> Option<u64> {
        if bits == 0 {
            return Some(0);
        }
        let from = self.octets.get(self.at / 8..)?;
        let word = match from.first_chunk::<8>() {
            Some(word) => u64::from_be_bytes(*word),
            None => tail(from, self.at % 8 + bits)?,
        };
        let taken = word << (self.at % 8) >> (64 - bits);
        self.at += bits;
        Some(taken)
    }

    /// Moves to the next octet.
    #[inline(always)]
    pub(crate) fn align(&mut self) {
        self.at = self.at.next_multiple_of(8);
    }

    /// Takes octets, from where an octet begins.
    #[inline(always)]
    pub(crate) fn octets(&mut self, count: usize) -> Option<&'a [u8]> {
        let from = self.at / 8;
        let octets = self.octets.get(from..from + count)?;
        self.at += 8 * count;
        Some(octets)
    }

    /// Whether the bits that are left are the padding of the last octet, all zero.
    #[inline(always)]
    pub(crate) fn is_done(&mut self) -> bool {
        let left = (8 * self.octets.len()).wrapping_sub(self.at);
        // A value has an octet at least.
        (left < 8 || self.at == 0 && left == 8) && self.take(left) == Some(0)
    }

    /// Takes a length of up to 16,383 in the unaligned form, or in the aligned one where an octet begins.
    #[inline(always)]
    pub(crate) fn length(&mut self) -> Option<usize> {
        let length = self.take(8)?;
        match length {
            0..0x80 => Some(length as usize),
            0x80..0xC0 => {
                let length = (length & 0x3F) << 8 | self.take(8)?;
                (length >= 0x80).then_some(length as usize)
            }
            _ => None,
        }
    }
}

/// The last octets, filled with zeros, if they have so many bits.
#[cold]
#[inline(never)]
fn tail(from: &[u8], bits: usize) -> Option<u64> {
    let mut word = [0; 8];
    word.get_mut(..from.len())?.copy_from_slice(from);
    (bits <= 8 * from.len()).then_some(u64::from_be_bytes(word))
}

/// Bits on their way into octets.
#[derive(Debug)]
pub struct Packer {
    octets: Vec<u8>,
    at: usize,
    /// The last bits are those that are not in `octets` yet, fewer than eight.
    pending: u64,
    count: usize,
}

impl Default for Packer {
    fn default() -> Self {
        Self { octets: vec![0; 1 << 16], at: 0, pending: 0, count: 0 }
    }
}

impl Packer {
    /// Appends 1 to 56 bits.
    #[inline(always)]
    pub(crate) fn put(&mut self, bits: usize, value: u64) {
        self.pending = self.pending << bits | value;
        self.count += bits;
        if self.at + 8 > self.octets.len() {
            self.grow();
        }
        if let Some(room) = self.octets.get_mut(self.at..).and_then(<[u8]>::first_chunk_mut::<8>) {
            *room = (self.pending << (64 - self.count)).to_be_bytes();
        }
        self.at += self.count / 8;
        self.count %= 8;
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        self.octets.resize(2 * self.octets.len(), 0);
    }

    /// Fills the last octet with zeros.
    #[inline(always)]
    pub(crate) fn align(&mut self) {
        if self.count > 0 {
            self.put(8 - self.count, 0);
        }
    }

    /// Appends octets where an octet begins.
    #[inline(always)]
    pub(crate) fn octets(&mut self, octets: &[u8]) {
        let end = self.at + octets.len();
        while end + 8 > self.octets.len() {
            self.grow();
        }
        if let Some(room) = self.octets.get_mut(self.at..end) {
            room.copy_from_slice(octets);
        }
        self.at = end;
        self.pending = 0;
    }

    /// A length of up to 16,383.
    #[inline(always)]
    pub(crate) fn length(&mut self, length: usize) {
        if length < 0x80 { self.put(8, length as u64) } else { self.put(16, 0x8000 | length as u64) }
    }

    /// Begins an open type, or a string with a value inside, where an octet begins.
    #[inline(always)]
    pub(crate) fn open(&mut self) -> usize {
        self.align();
        self.put(8, 0);
        self.at
    }

    /// Ends it: puts its length in front, which takes a second octet beyond 127.
    #[inline(always)]
    pub(crate) fn close(&mut self, start: usize) {
        self.align();
        if self.at == start {
            self.put(8, 0);
        }
        let length = self.at - start;
        if length < 0x80 {
            if let Some(octet) = self.octets.get_mut(start - 1) {
                *octet = (length as u64).to_be_bytes()[7];
            }
            return;
        }
        while self.at + 16 > self.octets.len() {
            self.grow();
        }
        self.octets.copy_within(start..self.at, start + 1);
        self.at += 1;
        let [.., high, low] = (0x8000 | length).to_be_bytes();
        if let Some(room) = self.octets.get_mut(start - 1..=start) {
            room.copy_from_slice(&[high, low]);
        }
    }

    /// Appends what is written to `out`, and forgets it.
    #[inline(always)]
    pub(crate) fn flush(&mut self, out: &mut Vec<u8>) {
        self.align();
        out.extend_from_slice(self.octets.get(..self.at.max(1)).unwrap_or_default());
        *self = Self { octets: core::mem::take(&mut self.octets), at: 0, pending: 0, count: 0 };
    }
}

/// Characters of seven bits: up to 23 in place.
#[derive(Clone, Debug)]
pub(crate) enum Text {
    Short(u8, [u8; 23]),
    Long(Box<[u8]>),
}

impl Default for Text {
    fn default() -> Self {
        Self::Short(0, [0; 23])
    }
}

impl Text {
    #[inline(always)]
    pub(crate) fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Short(length, octets) => octets.get(..usize::from(*length)).unwrap_or_default(),
            Self::Long(octets) => octets,
        }
    }
}

const LANES: u64 = 0x0101_0101_0101_0101;

/// Spreads eight groups of seven bits over octets.
#[inline(always)]
const fn spread(groups: u64) -> u64 {
    let x = (groups & 0x00FF_FFFF_F000_0000) << 4 | groups & 0x0FFF_FFFF;
    let x = (x & 0x0FFF_C000_0FFF_C000) << 2 | x & 0x0000_3FFF_0000_3FFF;
    (x & 0x3F80_3F80_3F80_3F80) << 1 | x & 0x007F_007F_007F_007F
}

/// Gathers eight octets of seven bits.
#[inline(always)]
const fn gather(octets: u64) -> u64 {
    let x = (octets & 0x7F00_7F00_7F00_7F00) >> 1 | octets & 0x007F_007F_007F_007F;
    let x = (x & 0x3FFF_0000_3FFF_0000) >> 2 | x & 0x0000_3FFF_0000_3FFF;
    (x & 0x0FFF_FFFF_0000_0000) >> 4 | x & 0x0FFF_FFFF
}

/// Takes a VisibleString of any size into a place: eight characters from one word; each is from 20 to 7E (hexadecimal).
#[inline(always)]
pub(crate) fn visible(bits: &mut Bits<'_>, place: &mut Text) -> Option<()> {
    let length = bits.length()?;
    if length > 23 {
        *place = long_visible(bits, length)?;
        return Some(());
    }
    if let Text::Long(_) = place {
        *place = Text::default();
    }
    let Text::Short(count, octets) = place else { return None };
    *count = (length as u64).to_be_bytes()[7];
    if length <= 8 {
        *octets.first_chunk_mut()? = eight(bits, length)?.to_be_bytes();
        return Some(());
    }
    *octets.first_chunk_mut()? = eight(bits, 8)?.to_be_bytes();
    let more = (length - 8).min(8);
    *octets.get_mut(8..)?.first_chunk_mut()? = eight(bits, more)?.to_be_bytes();
    if length > 16 {
        let last = eight(bits, length - 16)?.to_be_bytes();
        octets.get_mut(16..)?.copy_from_slice(last.first_chunk::<7>()?);
    }
    Some(())
}

/// Takes up to eight characters, the first in the highest octet.
#[inline(always)]
fn eight(bits: &mut Bits<'_>, count: usize) -> Option<u64> {
    let groups = bits.take(7 * count)? << (56 - 7 * count);
    let octets = spread(groups);
    // Lanes without a character are set to a space, and to zero again.
    let absent = if count == 8 { 0 } else { u64::MAX >> (8 * count) };
    let checked = octets | absent & (0x20 * LANES);
    let good = (checked + 0x60 * LANES) & !(checked + LANES) & (0x80 * LANES);
    (good == 0x80 * LANES).then_some(octets)
}

#[cold]
#[inline(never)]
fn long_visible(bits: &mut Bits<'_>, length: usize) -> Option<Text> {
    let mut octets = Vec::with_capacity(length + 8);
    while octets.len() < length {
        let count = (length - octets.len()).min(8);
        octets.extend_from_slice(eight(bits, count)?.to_be_bytes().get(..count)?);
    }
    Some(Text::Long(octets.into_boxed_slice()))
}

/// Appends characters with their number.
#[inline(always)]
pub(crate) fn put_visible(text: &[u8], out: &mut Packer) {
    out.length(text.len());
    let (words, rest) = text.as_chunks::<8>();
    for word in words {
        out.put(56, gather(u64::from_be_bytes(*word)));
    }
    if !rest.is_empty() {
        let mut word = [0; 8];
        if let Some(room) = word.get_mut(..rest.len()) {
            room.copy_from_slice(rest);
        }
        out.put(7 * rest.len(), gather(u64::from_be_bytes(word)) >> (56 - 7 * rest.len()));
    }
}
