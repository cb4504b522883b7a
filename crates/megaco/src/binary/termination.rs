//! Names of terminations in binary (H.248.1 A.1): levels of bits, with octets that say where wildcards begin.

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
    pub(super) fn encode(&self, name: &Name<'_>) -> Option<(Vec<[u8; 1]>, Vec<u8>)> {
        if *name == "root" {
            return Some((Vec::new(), ROOT.to_vec()));
        }
        self.encode_bits(name).or_else(|| self.encode_characters(name))
    }

    fn encode_bits(&self, name: &Name<'_>) -> Option<(Vec<[u8; 1]>, Vec<u8>)> {
        let mut id = vec![0; self.bits().div_ceil(8)];
        let mut wildcards = Vec::new();
        let mut below = self.bits();
        let mut place = 0;
        let mut sizes = self.0.iter();
        let mut levels = name.split(|&octet| octet == b'/').peekable();
        while let Some(level) = levels.next() {
            let size = usize::from(*sizes.next()?);
            below -= size;
            let mut left = size;
            for &character in level {
                let bit = match character {
                    b'0' => 0,
                    b'1' => 1,
                    b'*' | b'$' if left > 0 => {
                        let recursive = if levels.peek().is_none() && below > 0 { RECURSIVE } else { 0 };
                        let kind = if character == b'*' { ALL } else { 0 };
                        let position =
                            u8::try_from(left - 1 + below).ok().filter(|position| *position < 64)?;
                        wildcards.push([kind | recursive | position]);
                        left = usize::MAX;
                        continue;
                    }
                    _ => return None,
                };
                if left == 0 || left == usize::MAX {
                    return None;
                }
                let at = place + size - left;
                id[at / 8] |= bit << (7 - at % 8);
                left -= 1;
            }
            // A level is complete, or ends with its wildcard.
            if left != 0 && left != usize::MAX {
                return None;
            }
            place += size;
        }
        let is_open = wildcards.last().is_some_and(|wildcard| wildcard[0] & RECURSIVE != 0);
        (below == 0 || is_open).then_some((wildcards, id))
    }

    fn encode_characters(&self, name: &Name<'_>) -> Option<(Vec<[u8; 1]>, Vec<u8>)> {
        let mut id: Vec<u8> = name.lower().collect();
        let mut wildcards = Vec::new();
        if let Some(kind @ (b'*' | b'$')) = id.last().copied() {
            *id.last_mut()? = 0;
            wildcards.push([if kind == b'*' { ALL } else { 0 } | RECURSIVE | 7]);
        } else if id.len() == self.bits().div_ceil(8) {
            // An octet more tells it from a name of bits.
            id.push(0);
        }
        let is_plain = !id.iter().any(|octet| matches!(octet, b'*' | b'$'));
        (is_plain && (1..=LONGEST).contains(&id.len())).then_some((wildcards, id))
    }

    /// The name of wildcards and an id.
    pub(super) fn decode(&self, wildcards: &[[u8; 1]], id: &[u8]) -> Option<Vec<u8>> {
        if wildcards.is_empty() && id == ROOT {
            return Some(b"root".to_vec());
        }
        if id.len() != self.bits().div_ceil(8) {
            return decode_characters(wildcards, id);
        }
        let mut wildcards: Vec<u8> = wildcards.iter().map(|wildcard| wildcard[0]).collect();
        wildcards.sort_by_key(|wildcard| std::cmp::Reverse(wildcard & 0x3f));
        let mut wildcards = wildcards.into_iter().peekable();
        let mut name = Vec::new();
        let mut place = 0;
        for (index, &size) in self.0.iter().enumerate() {
            if index > 0 {
                name.push(b'/');
            }
            let end = place + usize::from(size);
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

fn decode_characters(wildcards: &[[u8; 1]], id: &[u8]) -> Option<Vec<u8>> {
    let length = id.iter().rposition(|&octet| octet != 0).map_or(0, |last| last + 1);
    let mut name = id[..length].to_vec();
    if let [wildcard, ..] = wildcards {
        name.push(if wildcard[0] & ALL != 0 { b'*' } else { b'$' });
    }
    (!name.is_empty() && name.iter().all(|&octet| crate::text::scan::is_safe(octet))).then_some(name)
}
