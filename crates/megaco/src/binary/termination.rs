//! Names of terminations in binary (H.248.1 A.1): levels of bits, with octets that say where wildcards begin.

use std::borrow::Cow;

use crate::octets::Name;

/// How many bits each level of a termination's name has, from the highest; three levels of 8 bits unless a profile says
/// otherwise. Text writes a bit as `0` or `1`: `11111111/00000000/1*`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Levels(pub Vec<u8>);

impl Default for Levels {
    fn default() -> Self {
        Self(vec![8, 8, 8])
    }
}

/// The id of the root termination.
const ROOT: [u8; 8] = [0xff; 8];
const LONGEST: usize = 8;
const ALL: u8 = 0x80;
const RECURSIVE: u8 = 0x40;

impl Levels {
    fn bits(&self) -> usize {
        self.0.iter().map(|&bits| usize::from(bits)).sum()
    }

    /// Wildcards and id of a name. One that is not made of such bits is its own characters, if these are at most 8.
    pub(super) fn encode(&self, name: &Name<'_>) -> Option<(Vec<[u8; 1]>, Id)> {
        if name.len() == 4 && *name == "root" {
            return Some((Vec::new(), Id { octets: ROOT, length: ROOT.len() }));
        }
        if let Some(id) = self.encode_octets(name) {
            return Some((Vec::new(), id));
        }
        self.encode_bits(name).or_else(|| self.encode_characters(name))
    }

    /// Whether every level has eight bits, and an id so many octets.
    fn are_octets(&self, length: usize) -> bool {
        self.0.len() == length && self.0.iter().all(|&bits| bits == 8)
    }

    /// The common form, `10110100/00000000/00000001`: an octet for each level.
    fn encode_octets(&self, name: &[u8]) -> Option<Id> {
        let length = name.len().div_ceil(9);
        if length > LONGEST || name.len() % 9 != 8 || !self.are_octets(length) {
            return None;
        }
        let mut octets = [0; LONGEST];
        for (octet, level) in octets.iter_mut().zip(name.chunks(9)) {
            let (digits, slash) = level.split_first_chunk::<8>()?;
            if !matches!(slash, [] | [b'/']) {
                return None;
            }
            *octet = octet_of(*digits)?;
        }
        Some(Id { octets, length })
    }

    fn encode_bits(&self, name: &Name<'_>) -> Option<(Vec<[u8; 1]>, Id)> {
        let mut below = self.bits();
        let length = below.div_ceil(8);
        if length > LONGEST {
            return None;
        }
        let mut id = 0u64;
        let mut wildcards = Vec::new();
        let mut sizes = self.0.iter();
        let mut rest = Some(&name[..]);
        while let Some(text) = rest {
            let size = usize::from(*sizes.next()?);
            below -= size;
            let slash = memchr::memchr(b'/', text);
            let level = &text[..slash.unwrap_or(text.len())];
            rest = slash.map(|slash| &text[slash + 1..]);
            let mut left = size;
            for (index, &character) in level.iter().enumerate() {
                let bit = match character {
                    b'0' => 0,
                    b'1' => 1,
                    // The wildcard ends its level.
                    b'*' | b'$' if left > 0 && index + 1 == level.len() => {
                        let recursive = if rest.is_none() && below > 0 { RECURSIVE } else { 0 };
                        let kind = if character == b'*' { ALL } else { 0 };
                        let position =
                            u8::try_from(left - 1 + below).ok().filter(|position| *position < 64)?;
                        wildcards.push([kind | recursive | position]);
                        id = shifted(id, left);
                        left = 0;
                        break;
                    }
                    _ => return None,
                };
                left = left.checked_sub(1)?;
                id = id << 1 | bit;
            }
            if left != 0 {
                return None;
            }
        }
        let is_open = wildcards.last().is_some_and(|wildcard| wildcard[0] & RECURSIVE != 0);
        if below != 0 && !is_open {
            return None;
        }
        let id = shifted(shifted(id, below), LONGEST * 8 - self.bits());
        Some((wildcards, Id { octets: id.to_be_bytes(), length }))
    }

    /// A name that is not made of bits: its characters, an octet each. A wildcard is an octet 0, and its field has the place
    /// of that octet. Longer names are [`packed`].
    fn encode_characters(&self, name: &Name<'_>) -> Option<(Vec<[u8; 1]>, Id)> {
        let mut id: Vec<u8> = name.iter().take(PACKED + 1).map(u8::to_ascii_lowercase).collect();
        let (characters, octets_of_bits) = (id.len(), self.bits().div_ceil(8));
        if characters == octets_of_bits {
            // An octet more tells it from a name of bits.
            id.push(0);
        }
        if id.len() > LONGEST {
            return packed(&id[..characters]).filter(|_| octets_of_bits != LONGEST);
        }
        let (length, mut wildcards) = (id.len(), Vec::new());
        for (index, octet) in id.iter_mut().enumerate() {
            let Some(kind) = wildcard_kind(*octet) else { continue };
            *octet = 0;
            // The one at the end stands for what follows, too.
            let is_last = index + 1 == characters;
            let field = if is_last { RECURSIVE | 7 } else { (8 * (length - index) - 1) as u8 };
            wildcards.push([kind | field]);
        }
        let mut octets = [0; LONGEST];
        octets.get_mut(..length)?.copy_from_slice(&id);
        (characters > 0).then_some((wildcards, Id { octets, length }))
    }

    /// The name of wildcards and an id.
    pub(super) fn decode(&self, wildcards: &[[u8; 1]], id: &[u8]) -> Option<Cow<'static, [u8]>> {
        if wildcards.is_empty() && id == ROOT {
            return Some(Cow::Borrowed(b"root"));
        }
        if wildcards.is_empty() && (1..=LONGEST).contains(&id.len()) && self.are_octets(id.len()) {
            return Some(Cow::Owned(decode_octets(id)));
        }
        self.decode_bits(wildcards, id).map(Cow::Owned)
    }

    fn decode_bits(&self, wildcards: &[[u8; 1]], id: &[u8]) -> Option<Vec<u8>> {
        if id.len() != self.bits().div_ceil(8) {
            return decode_characters(wildcards, id);
        }
        let mut sorted = Vec::new();
        let wildcards = match wildcards {
            [] | [_] => wildcards,
            _ => {
                sorted.extend_from_slice(wildcards);
                sorted.sort_by_key(|[wildcard]| std::cmp::Reverse(wildcard & 0x3f));
                &sorted
            }
        };
        let mut wildcards = wildcards.iter().map(|wildcard| wildcard[0]).peekable();
        let mut name = Vec::with_capacity(self.bits() + self.0.len());
        let mut place = 0;
        for (index, &size) in self.0.iter().enumerate() {
            if index > 0 {
                name.push(b'/');
            }
            let end = place + usize::from(size);
            // The next wildcard is behind this level.
            let is_plain = wildcards.peek().is_none_or(|next| usize::from(next & 0x3f) < self.bits() - end);
            if is_plain && size == 8 && place % 8 == 0 {
                name.extend_from_slice(&LEVELS[usize::from(id[place / 8])][..8]);
                place = end;
            }
            while place < end {
                let position = self.bits() - 1 - place;
                if let Some(wildcard) = wildcards.next_if(|wildcard| usize::from(wildcard & 0x3f) == position)
                {
                    name.push(if wildcard & ALL != 0 { b'*' } else { b'$' });
                    if wildcard & RECURSIVE != 0 {
                        return Some(name);
                    }
                    place = end;
                    break;
                }
                let bit = id[place / 8] >> (7 - place % 8) & 1;
                name.push(b'0' + bit);
                place += 1;
            }
        }
        wildcards.next().is_none().then_some(name)
    }
}

/// The octets of an id.
pub(super) struct Id {
    octets: [u8; LONGEST],
    length: usize,
}

impl Id {
    /// An id of up to 8 octets.
    pub(super) fn of(id: &[u8]) -> Option<Self> {
        let mut octets = [0; LONGEST];
        octets.get_mut(..id.len())?.copy_from_slice(id);
        Some(Self { octets, length: id.len() })
    }

    pub(super) fn octets(&self) -> &[u8] {
        &self.octets[..self.length]
    }
}

/// Eight digits `0` and `1` as an octet.
fn octet_of(digits: [u8; 8]) -> Option<u8> {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let bits = u64::from_be_bytes(digits) ^ (ONES * b'0' as u64);
    // The product has the last bit of the octet with number i, from the highest, at bit 63 - i.
    (bits & !ONES == 0).then_some((bits.wrapping_mul(0x0102_0408_1020_4080) >> 56) as u8)
}

/// The level of every octet, and a slash.
static LEVELS: [[u8; 9]; 256] = {
    let mut all = [*b"00000000/"; 256];
    let mut octet = 0;
    while octet < 256 {
        let mut bit = 0;
        while bit < 8 {
            all[octet][bit] += (octet >> (7 - bit) & 1) as u8;
            bit += 1;
        }
        octet += 1;
    }
    all
};

/// The common form: a level of eight bits for each octet.
fn decode_octets(id: &[u8]) -> Vec<u8> {
    let mut levels = [[0; 9]; LONGEST];
    for (level, octet) in levels.iter_mut().zip(id) {
        *level = LEVELS[usize::from(*octet)];
    }
    let levels = levels.as_flattened();
    levels[..(9 * id.len() - 1).min(levels.len())].to_vec()
}

/// Shifted to the left, as far as all out.
const fn shifted(id: u64, bits: usize) -> u64 {
    if bits < 64 { id << bits } else { 0 }
}

fn decode_characters(wildcards: &[[u8; 1]], id: &[u8]) -> Option<Vec<u8>> {
    if let Ok(octets) = <[u8; LONGEST]>::try_from(id)
        && octets[0] & PACKED_MARK != 0
    {
        return unpacked(wildcards, octets);
    }
    let mut name = id.to_vec();
    let mut end = id.iter().rposition(|&octet| octet != 0).map_or(0, |last| last + 1);
    let mut last = None;
    for [field] in wildcards {
        let character = if field & ALL != 0 { b'*' } else { b'$' };
        let place = usize::from(field & 0x3f);
        let index = id.len().checked_sub(1 + place / 8);
        match index.and_then(|index| name.get_mut(index)) {
            Some(octet @ 0) if field & RECURSIVE == 0 && place % 8 == 7 => {
                *octet = character;
                end = end.max(id.len() - place / 8);
            }
            _ if last.is_none() => last = Some(character),
            _ => return None,
        }
    }
    name.truncate(end);
    name.extend(last);
    (!name.is_empty() && name.iter().all(|&octet| crate::text::scan::is_safe(octet))).then_some(name)
}

const fn wildcard_kind(character: u8) -> Option<u8> {
    match character {
        b'*' => Some(ALL),
        b'$' => Some(0),
        _ => None,
    }
}

/// The most characters that are packed.
const PACKED: usize = 11;
/// The first bit of the 8 octets of a packed name: characters have it not.
const PACKED_MARK: u8 = 0x80;
/// The characters that can be packed: their places are digits of a number, 0 is none. 52 to the power of 11 is below 2 to
/// the power of 63.
const ALPHABET: &[u8; 51] = b"abcdefghijklmnopqrstuvwxyz0123456789_/-.*$@+&!?'~%|";

/// Packs a name of 9 to 11 characters into 8 octets: the first bit is 1, the others are the digits of the characters as a
/// number. A field for each wildcard has the place of its character from the front.
fn packed(name: &[u8]) -> Option<(Vec<[u8; 1]>, Id)> {
    if name.len() <= LONGEST || name.len() > PACKED {
        return None;
    }
    let mut number = 0_u64;
    let mut wildcards = Vec::new();
    for index in 0..PACKED {
        let digit = match name.get(index) {
            Some(character) => 1 + ALPHABET.iter().position(|known| known == character)?,
            None => 0,
        };
        number = number * (ALPHABET.len() as u64 + 1) + digit as u64;
        if let Some(kind) = name.get(index).and_then(|&character| wildcard_kind(character)) {
            let recursive = if index + 1 == name.len() { RECURSIVE } else { 0 };
            wildcards.push([kind | recursive | (62 - index) as u8]);
        }
    }
    let mut octets = number.to_be_bytes();
    octets[0] |= PACKED_MARK;
    Some((wildcards, Id { octets, length: LONGEST }))
}

fn unpacked(wildcards: &[[u8; 1]], mut octets: [u8; LONGEST]) -> Option<Vec<u8>> {
    let id = octets;
    octets[0] &= !PACKED_MARK;
    let mut number = u64::from_be_bytes(octets);
    let mut name = Vec::with_capacity(PACKED);
    for _ in 0..PACKED {
        let digit = (number % (ALPHABET.len() as u64 + 1)) as usize;
        number /= ALPHABET.len() as u64 + 1;
        match digit.checked_sub(1) {
            Some(place) => name.push(ALPHABET[place]),
            None if name.is_empty() => {}
            None => return None,
        }
    }
    name.reverse();
    // What is written from the name has to be what was read.
    packed(&name).filter(|(fields, again)| fields == wildcards && again.octets == id)?;
    Some(name)
}
