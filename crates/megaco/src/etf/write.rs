//! Writes values as terms.

use super::VERSION;
use crate::octets::Name;
use crate::value::{Sink, Value as _, Word};
use crate::{Error, Result};

/// Writes terms as OTP 25 does: atoms in their old form.
pub(super) struct Writer<'o> {
    out: &'o mut Vec<u8>,
    version: u8,
    fault: Option<Error>,
}

impl<'o> Writer<'o> {
    pub(super) fn new(out: &'o mut Vec<u8>) -> Self {
        out.push(VERSION);
        Self { out, version: 1, fault: None }
    }

    pub(super) fn finish(self) -> Result<()> {
        self.fault.map_or(Ok(()), Err)
    }
}

/// `ATOM_EXT`.
pub(super) fn atom(out: &mut Vec<u8>, atom: &[u8]) {
    out.push(100);
    out.extend_from_slice(&(atom.len() as u16).to_be_bytes());
    out.extend_from_slice(atom);
}

/// `SMALL_INTEGER_EXT`, `INTEGER_EXT` or `SMALL_BIG_EXT`.
pub(super) fn integer(out: &mut Vec<u8>, number: i64) {
    if let Ok(small) = u8::try_from(number) {
        out.extend_from_slice(&[97, small]);
    } else if let Ok(number) = i32::try_from(number) {
        let [a, b, c, d] = number.to_be_bytes();
        out.extend_from_slice(&[98, a, b, c, d]);
    } else {
        let magnitude = number.unsigned_abs().to_le_bytes();
        let length = magnitude.iter().rposition(|&octet| octet != 0).map_or(0, |last| last + 1);
        out.extend_from_slice(&[110, length as u8, u8::from(number < 0)]);
        out.extend_from_slice(&magnitude[..length]);
    }
}

/// `SMALL_TUPLE_EXT` or `LARGE_TUPLE_EXT`.
pub(super) fn tuple(out: &mut Vec<u8>, arity: usize) {
    match u8::try_from(arity) {
        Ok(arity) => out.extend_from_slice(&[104, arity]),
        Err(_) => {
            out.push(105);
            out.extend_from_slice(&(arity as u32).to_be_bytes());
        }
    }
}

/// `STRING_EXT`, `NIL_EXT` if it is empty, `LIST_EXT` if it is longer than 65,535 octets.
pub(super) fn string(out: &mut Vec<u8>, octets: &[u8]) {
    match (octets.len(), u16::try_from(octets.len())) {
        (0, _) => out.push(106),
        (_, Ok(length)) => {
            let [high, low] = length.to_be_bytes();
            out.extend_from_slice(&[107, high, low]);
            out.extend_from_slice(octets);
        }
        (length, Err(_)) => {
            list(out, length);
            for &octet in octets {
                out.extend_from_slice(&[97, octet]);
            }
            out.push(106);
        }
    }
}

/// A string in lower case.
pub(super) fn lower_string(out: &mut Vec<u8>, octets: &[u8]) {
    // A level of a termination mostly has eight octets.
    if let Ok(octets) = <[u8; 8]>::try_from(octets) {
        let [a, b, c, d, e, f, g, h] = lower(octets);
        return out.extend_from_slice(&[107, 0, 8, a, b, c, d, e, f, g, h]);
    }
    match u16::try_from(octets.len()) {
        Ok(length @ 1..) => {
            let [high, low] = length.to_be_bytes();
            out.extend_from_slice(&[107, high, low]);
            let (words, rest) = octets.as_chunks::<8>();
            words.iter().for_each(|word| out.extend_from_slice(&lower(*word)));
            out.extend(rest.iter().map(u8::to_ascii_lowercase));
        }
        _ => string(out, &octets.to_ascii_lowercase()),
    }
}

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x80 * ONES;

/// Eight octets in lower case.
fn lower(octets: [u8; 8]) -> [u8; 8] {
    let word = u64::from_le_bytes(octets);
    // The sums tell by their highest bits which octets of seven bits are above a limit.
    let sevens = word & !HIGH;
    let from_a = sevens + (0x80 - b'A' as u64) * ONES;
    let above_z = sevens + (0x7f - b'Z' as u64) * ONES;
    (word | (from_a & !above_z & !word & HIGH) >> 2).to_le_bytes()
}

/// The highest bits of those octets that are this one.
const fn places(word: u64, octet: u8) -> u64 {
    let differ = word ^ (octet as u64 * ONES);
    !(((differ & !HIGH) + !HIGH) | differ) & HIGH
}

/// Where the first level of a name ends. Most have eight octets.
fn level_end(name: &[u8]) -> usize {
    let slash_or_end = |name: &[u8]| name.iter().position(|&octet| octet == b'/').unwrap_or(name.len());
    match name.split_first_chunk::<8>() {
        Some((first, behind)) => match places(u64::from_le_bytes(*first), b'/') {
            0 => 8 + slash_or_end(behind),
            places => places.trailing_zeros() as usize / 8,
        },
        None => slash_or_end(name),
    }
}

/// How many levels a name has, and whether there are wildcards.
#[inline(always)]
pub(super) fn levels(name: &[u8]) -> (usize, bool) {
    let (words, rest) = name.as_chunks::<8>();
    let (mut slashes, mut wildcards) = (0, 0);
    let words = words.iter().map(|word| u64::from_le_bytes(*word));
    // Zeros are neither.
    let rest = rest.iter().fold(0, |word, octet| word << 8 | u64::from(*octet));
    for word in words.chain([rest]) {
        // The sum of the octets, all 0 or 1, is in the highest; to count bits takes longer.
        slashes += (places(word, b'/') >> 7).wrapping_mul(ONES) >> 56;
        wildcards |= places(word, b'*') | places(word, b'$');
    }
    (slashes as usize + 1, wildcards != 0)
}

/// The name of a termination: its levels are a list.
pub(super) fn termination(sink: &mut impl Sink, name: &Name<'_>) {
    let (levels, has_wildcards) = levels(name);
    sink.record(const { &Word::new("megaco_term_id") }, 2);
    has_wildcards.write(sink);
    sink.list(levels);
    for_levels(name, |level| {
        sink.element();
        sink.name(&Name::borrowed(level));
    });
    sink.end_list(levels);
    sink.end_record();
}

/// Hands each level of a name to a function.
#[inline(always)]
pub(super) fn for_levels(name: &[u8], mut write: impl FnMut(&[u8])) {
    let mut rest = Some(name);
    while let Some(name) = rest {
        let (level, behind) = name.split_at(level_end(name));
        write(level);
        rest = behind.get(1..);
    }
}

/// The begin of a `LIST_EXT`.
pub(super) fn list(out: &mut Vec<u8>, length: usize) {
    let [a, b, c, d] = (length as u32).to_be_bytes();
    out.extend_from_slice(&[108, a, b, c, d]);
}

impl Sink for Writer<'_> {
    fn version(&self) -> u8 {
        self.version
    }

    fn set_version(&mut self, version: u8) {
        self.version = version;
    }

    #[cold]
    fn refuse(&mut self, what: &'static str) {
        self.fault.get_or_insert_with(|| Error::new(self.out.len(), what));
    }

    // The name is known where this is called: inlined, it is a few stores.
    #[inline(always)]
    fn record(&mut self, name: &'static Word, arity: usize) {
        let name = name.text.as_bytes();
        self.out.extend_from_slice(&[104, arity as u8 + 1, 100, 0, name.len() as u8]);
        self.out.extend_from_slice(name);
    }

    fn field(&mut self, _: &'static str) {}

    fn end_record(&mut self) {}

    #[inline]
    fn absent(&mut self) {
        self.out.extend_from_slice(b"\x64\x00\x0casn1_NOVALUE");
    }

    #[inline(always)]
    fn atom(&mut self, name: &'static Word) {
        let name = name.text.as_bytes();
        self.out.extend_from_slice(&[100, 0, name.len() as u8]);
        self.out.extend_from_slice(name);
    }

    fn number(&mut self, number: u32) {
        integer(self.out, i64::from(number));
    }

    fn string(&mut self, octets: &[u8]) {
        string(self.out, octets);
    }

    fn name(&mut self, name: &Name<'_>) {
        lower_string(self.out, name);
    }

    fn termination(&mut self, name: &Name<'_>) {
        termination(self, name);
    }

    fn list(&mut self, length: usize) {
        if length > 0 {
            list(self.out, length);
        }
    }

    fn element(&mut self) {}

    fn end_list(&mut self, _: usize) {
        self.out.push(106);
    }

    #[inline(always)]
    fn choice(&mut self, tag: &'static Word) {
        let tag = tag.text.as_bytes();
        self.out.extend_from_slice(&[104, 2, 100, 0, tag.len() as u8]);
        self.out.extend_from_slice(tag);
    }

    fn end_choice(&mut self) {}
}

#[cfg(test)]
mod tests {
    use super::{level_end, levels, lower, lower_string};

    #[test]
    fn octets_in_lower_case() {
        for octet in 0..=u8::MAX {
            for place in 0..8 {
                let mut octets = *b"aZ@[`{\xff0";
                octets[place] = octet;
                assert_eq!(lower(octets), octets.map(|octet| octet.to_ascii_lowercase()), "{octets:?}");
            }
        }
        let mut out = Vec::new();
        lower_string(&mut out, b"Tonegen/PT-ABC");
        assert_eq!(out, b"\x6b\x00\x0etonegen/pt-abc");
        out.clear();
        lower_string(&mut out, b"ABCD0123");
        assert_eq!(out, b"\x6b\x00\x08abcd0123");
    }

    #[test]
    fn wildcards_are_seen_wherever_they_stand() {
        for length in 1..20 {
            for place in 0..length {
                let mut name = vec![b'1'; length];
                assert_eq!(levels(&name), (1, false));
                for wildcard in *b"*$" {
                    name[place] = wildcard;
                    assert_eq!(levels(&name), (1, true), "{place} of {length}");
                }
            }
        }
    }

    #[test]
    fn levels_end_at_slashes() {
        for name in [
            "",
            "a",
            "/",
            "a/b",
            "1234567",
            "1234567/",
            "12345678",
            "12345678/9",
            "123456789",
            "1234567890123/4/5",
        ] {
            let end = name.find('/').unwrap_or(name.len());
            assert_eq!(level_end(name.as_bytes()), end, "{name}");
            assert_eq!(levels(name.as_bytes()), (name.split('/').count(), false), "{name}");
        }
    }
}
