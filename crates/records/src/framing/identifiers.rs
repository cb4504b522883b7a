//! The identifier octets that elements may begin with.

use tercet_runtime::Tag;

/// A set of identifier octets, matched in full: a root tag of several octets is not taken by its first octet alone.
#[derive(Clone, Debug)]
pub struct Identifiers {
    first: Box<[First; 256]>,
    longer: Vec<Vec<u8>>,
    /// For each class and form whether an identifier has it.
    forms: [bool; 8],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum First {
    No,
    Yes,
    Longer,
}

impl Identifiers {
    /// No identifier matches.
    pub fn none() -> Self {
        Self { first: Box::new([First::No; 256]), longer: Vec::new(), forms: [false; 8] }
    }

    /// Every identifier matches but the filler octets 00 and FF.
    pub fn any() -> Self {
        let mut first = Box::new([First::Yes; 256]);
        first[0] = First::No;
        first[255] = First::No;
        Self { first, longer: Vec::new(), forms: [true; 8] }
    }

    /// Adds a tag in its constructed or primitive form.
    pub fn add(&mut self, tag: Tag, constructed: bool) {
        let mut octets = [0; 6];
        let len = write_identifier(tag, constructed, &mut octets);
        self.add_octets(&octets[..len]);
    }

    /// Adds a tag in both forms.
    pub fn add_both(&mut self, tag: Tag) {
        self.add(tag, false);
        self.add(tag, true);
    }

    /// Adds an identifier by its octets.
    pub fn add_octets(&mut self, octets: &[u8]) {
        if let [first, ..] = octets {
            self.forms[usize::from(first >> 5)] = true;
        }
        match octets {
            [] => {}
            [first] => self.first[usize::from(*first)] = First::Yes,
            [first, ..] => {
                self.first[usize::from(*first)] = First::Longer;
                self.longer.push(octets.to_vec());
            }
        }
    }

    /// All identifiers, in digits, if each is of one octet or known in full.
    pub(super) fn octets(&self) -> impl Iterator<Item = Vec<u8>> {
        let short = (0..=255_u8)
            .filter(|octet| self.first[usize::from(*octet)] == First::Yes)
            .map(|octet| vec![octet]);
        short.chain(self.longer.iter().cloned())
    }

    /// Whether the octets begin with one of the identifiers.
    #[inline]
    pub fn matches(&self, octets: &[u8]) -> bool {
        match octets.first().map(|&octet| self.first[usize::from(octet)]) {
            None | Some(First::No) => false,
            Some(First::Yes) => true,
            Some(First::Longer) => self.longer.iter().any(|longer| octets.starts_with(longer)),
        }
    }

    /// Whether the octet differs from the first of an identifier by the number of the tag alone.
    pub(super) fn is_kin(&self, octet: u8) -> bool {
        octet != 0 && self.forms[usize::from(octet >> 5)]
    }

    /// Whether the octet may be the first of an identifier.
    #[inline]
    pub(super) fn begins(&self, octet: u8) -> bool {
        self.first[usize::from(octet)] != First::No
    }
}

fn write_identifier(tag: Tag, constructed: bool, octets: &mut [u8; 6]) -> usize {
    let leading = (tag.class() as u8) << 6 | u8::from(constructed) << 5;
    let number = tag.number();
    if number < 31 {
        octets[0] = leading | number as u8;
        return 1;
    }
    octets[0] = leading | 0x1F;
    let septets = (1..5).rev().find(|n| number >> (7 * n) != 0).unwrap_or(0) + 1;
    for i in 0..septets {
        let septet = (number >> (7 * (septets - 1 - i))) as u8 & 0x7F;
        octets[1 + i] = septet | if i + 1 < septets { 0x80 } else { 0 };
    }
    1 + septets
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_identifiers_match_in_full() {
        let mut ids = Identifiers::none();
        ids.add(Tag::application(6050), true);
        ids.add(Tag::context(3), true);
        assert!(ids.matches(&[0x7F, 0xAF, 0x22, 0x00]));
        assert!(!ids.matches(&[0x7F, 0xAF, 0x23, 0x00]));
        assert!(!ids.matches(&[0x7F, 0xAF]));
        assert!(ids.matches(&[0xA3]) && !ids.matches(&[0x83]) && !ids.matches(&[]));
    }
}
