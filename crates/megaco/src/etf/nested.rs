//! Terms in binaries: OTP encodes the transactions of some messages before it encodes the message, so that they are in it as
//! binaries with a term each.

use super::VERSION;
use super::term::DEEPEST;
use super::zlib::{COMPRESSED, inflate};

const BINARY: u8 = 109;
/// More than any message that comes in one piece.
const LARGEST: usize = 1 << 24;

/// Returns a term with the terms of its binaries in their places; `None` if there are none, or if it is damaged.
pub(super) fn flatten(term: &[u8]) -> Option<Vec<u8>> {
    let mut flattener = Flattener { out: Vec::with_capacity(term.len()), found: false };
    flattener.out.push(VERSION);
    let rest = flattener.terms(term.strip_prefix(&[VERSION])?, 0)?;
    (flattener.found && rest.is_empty()).then_some(flattener.out)
}

struct Flattener {
    out: Vec<u8>,
    found: bool,
}

impl Flattener {
    /// Copies a term, and returns what follows it.
    fn terms<'t>(&mut self, term: &'t [u8], depth: usize) -> Option<&'t [u8]> {
        // Terms to come at each level; a term has no length, so that its parts are counted.
        let mut rest = term;
        let mut remaining = vec![(1_usize, false)];
        while let Some((count, is_list)) = remaining.last_mut() {
            if *count == 0 {
                if *is_list {
                    rest = self.copy(rest, 1)?;
                }
                remaining.pop();
                continue;
            }
            *count -= 1;
            let number = |from: usize, octets: usize| {
                let octets = rest.get(from..from + octets)?;
                Some(octets.iter().fold(0_usize, |number, &octet| number << 8 | usize::from(octet)))
            };
            let (head, elements, is_list) = match *rest.first()? {
                100 | 107 | 118 => (3 + number(1, 2)?, 0, false),
                115 | 119 => (2 + number(1, 1)?, 0, false),
                97 => (2, 0, false),
                98 => (5, 0, false),
                110 => (3 + number(1, 1)?, 0, false),
                106 => (1, 0, false),
                104 => (2, number(1, 1)?, false),
                105 => (5, number(1, 4)?, false),
                108 => (5, number(1, 4)?, true),
                BINARY => {
                    let octets = rest.get(5..)?.get(..number(1, 4)?)?;
                    rest = &rest[5 + octets.len()..];
                    self.binary(octets, depth)?;
                    continue;
                }
                _ => return None,
            };
            rest = self.copy(rest, head)?;
            if elements > 0 || is_list {
                if remaining.len() > DEEPEST {
                    return None;
                }
                remaining.push((elements, is_list));
            }
        }
        Some(rest)
    }

    fn copy<'t>(&mut self, rest: &'t [u8], length: usize) -> Option<&'t [u8]> {
        let (octets, rest) = rest.split_at_checked(length)?;
        self.out.extend_from_slice(octets);
        (self.out.len() <= LARGEST).then_some(rest)
    }

    /// Copies the term of a binary, or the binary if it has none: records are tuples or lists of them, text is neither.
    fn binary(&mut self, octets: &[u8], depth: usize) -> Option<()> {
        // Transactions, and actions in them.
        if depth < 2 && matches!(octets, [VERSION, 104 | 105 | 108 | COMPRESSED, ..]) {
            let length = self.out.len();
            let plain = inflate(octets).ok().filter(|plain| length + plain.len() <= LARGEST)?;
            if self.terms(&plain[1..], depth + 1).is_some_and(<[u8]>::is_empty) {
                self.found = true;
                return Some(());
            }
            self.out.truncate(length);
        }
        self.out.push(BINARY);
        self.out.extend_from_slice(&u32::try_from(octets.len()).ok()?.to_be_bytes());
        self.copy(octets, octets.len()).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_in_binaries() {
        let inner = [VERSION, 104, 2, 97, 1, 107, 0, 1, b'x'];
        let term = |middle: &[u8]| [&[VERSION, 108, 0, 0, 0, 2, 97, 7], middle, &[106]].concat();
        let binary = |octets: &[u8]| [&[BINARY, 0, 0, 0, octets.len() as u8], octets].concat();
        assert_eq!(flatten(&term(&binary(&inner))), Some(term(&inner[1..])));
        // Actions of a request that is in a binary itself.
        let twice = [&[VERSION, 104, 1][..], &binary(&inner)].concat();
        assert_eq!(flatten(&term(&binary(&twice))), Some(term(&[&[104, 1], &inner[1..]].concat())));
        let text = binary(b"v=0");
        assert_eq!(flatten(&term(&text)), None);
        assert_eq!(flatten(&term(&[binary(&inner), vec![0]].concat())), None);
        for end in 0..term(&binary(&inner)).len() {
            assert_eq!(flatten(&term(&binary(&inner))[..end]), None, "{end}");
        }
    }
}
