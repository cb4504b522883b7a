//! The first octets of an element whose rest is not there, as an element that can be decoded.

use super::extent::{self, Extent, Step, Stop};

/// Elements inside one another that are followed.
const DEPTH: usize = 512;

/// An element that has been closed where its octets end.
#[derive(Debug)]
pub(crate) struct Closed {
    /// It with what was open in it closed.
    pub(crate) octets: Vec<u8>,
    /// Where what was made up begins.
    pub(crate) end: u64,
}

/// Closes the element that begins `octets` and all elements inside of it that are open at their end: these get
/// indefinite lengths, and a primitive one that is not complete is left out. Gives nothing if the octets are no begin of a
/// constructed element.
pub(crate) fn closed(octets: &[u8]) -> Option<Closed> {
    let (mut made, mut at, mut open) = (Vec::with_capacity(octets.len() + 64), 0, 0);
    loop {
        let rest = &octets[at..];
        let head = match extent::head(rest) {
            Ok(head) => head,
            Err(Stop::Short) => break,
            Err(Stop::Fault(_)) => return None,
        };
        // Only elements whose end is not there are open: no end-of-contents octets belong to them.
        if rest[0] == 0 {
            return None;
        }
        match Extent::default().advance(rest, usize::MAX) {
            Step::Complete(length) if open > 0 => {
                made.extend_from_slice(&rest[..length]);
                at += length;
            }
            Step::Need(_) if head.constructed && open < DEPTH => {
                made.extend_from_slice(&rest[..extent::identifier(rest)]);
                made.push(0x80);
                open += 1;
                at += head.size;
            }
            Step::Need(_) if open > 0 => break,
            _ => return None,
        }
    }
    let end = made.len() as u64;
    made.resize(made.len() + 2 * open, 0);
    (open > 0).then_some(Closed { octets: made, end })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_elements_are_closed_where_the_octets_end() {
        // A SEQUENCE with an INTEGER, a SEQUENCE with an INTEGER, and an OCTET STRING.
        let whole = [0x30, 0x0E, 0x02, 0x01, 5, 0x30, 0x09, 0x02, 0x01, 6, 0x04, 0x04, 1, 2, 3, 4];
        for (count, expected) in [
            (2, &[0x30, 0x80, 0, 0][..]),
            (4, &[0x30, 0x80, 0, 0]),
            (5, &[0x30, 0x80, 0x02, 0x01, 5, 0, 0]),
            (7, &[0x30, 0x80, 0x02, 0x01, 5, 0x30, 0x80, 0, 0, 0, 0]),
            (15, &[0x30, 0x80, 0x02, 0x01, 5, 0x30, 0x80, 0x02, 0x01, 6, 0, 0, 0, 0]),
        ] {
            assert_eq!(closed(&whole[..count]).unwrap().octets, expected, "{count}");
        }
        for octets in [&whole[..], &whole[10..12], &[0x30], &[0x00, 0x00], &[]] {
            assert!(closed(octets).is_none(), "{octets:x?}");
        }
        let indefinite = [0x30, 0x80, 0x30, 0x80, 0x02, 0x01, 5, 0, 0, 0x30, 0x80];
        assert_eq!(closed(&indefinite).unwrap().octets, [&indefinite[..], &[0, 0, 0, 0]].concat());
    }
}
