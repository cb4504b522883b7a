//! Where an element ends, found in steps: what has been looked at is not looked at again when more octets arrive.
//!
//! The reader of `tercet-runtime` wants definite contents to be there; a wrapper of 20 GB is never there, so that
//! identifier and length octets are read here.

use tercet_runtime::ErrorKind;

/// Identifier and length octets of one element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head {
    /// Their number.
    pub(super) size: usize,
    /// Octets of the contents, nothing for an indefinite length.
    pub(super) length: Option<u64>,
    pub(super) constructed: bool,
}

/// Why there is no head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// The octets end inside of it.
    Short,
    /// It is against X.690.
    Fault(ErrorKind),
}

/// Reads identifier and length octets (X.690 8.1.2, 8.1.3).
#[inline]
pub(super) fn head(octets: &[u8]) -> Result<Head, Stop> {
    match octets {
        [identifier, length @ 0..=0x7F, ..] if identifier & 0x1F != 0x1F => {
            Ok(Head { size: 2, length: Some(u64::from(*length)), constructed: identifier & 0x20 != 0 })
        }
        _ => long_head(octets),
    }
}

#[cold]
fn long_head(octets: &[u8]) -> Result<Head, Stop> {
    let identifier = *octets.first().ok_or(Stop::Short)?;
    let constructed = identifier & 0x20 != 0;
    let mut size = 1;
    if identifier & 0x1F == 0x1F {
        let mut bits = 0_u32;
        loop {
            let octet = *octets.get(size).ok_or(Stop::Short)?;
            if size == 1 && octet == 0x80 {
                return Err(Stop::Fault(ErrorKind::TagLeadingZero));
            }
            bits += 7;
            size += 1;
            if octet < 0x80 {
                break;
            }
            if bits >= 28 {
                return Err(Stop::Fault(ErrorKind::TagTooLarge));
            }
        }
    }
    let first = *octets.get(size).ok_or(Stop::Short)?;
    size += 1;
    let length = match first {
        0x80 if constructed => None,
        0x80 => return Err(Stop::Fault(ErrorKind::IndefinitePrimitive)),
        0xFF => return Err(Stop::Fault(ErrorKind::LengthReserved)),
        0..=0x7F => Some(u64::from(first)),
        _ => {
            let mut length = 0_u64;
            for _ in 0..first & 0x7F {
                if length >> 48 != 0 {
                    return Err(Stop::Fault(ErrorKind::LengthTooLarge));
                }
                length = length << 8 | u64::from(*octets.get(size).ok_or(Stop::Short)?);
                size += 1;
            }
            Some(length)
        }
    };
    Ok(Head { size, length, constructed })
}

/// The number of identifier octets that an element begins with, as far as they are there.
pub(super) fn identifier(octets: &[u8]) -> usize {
    match octets {
        [first, rest @ ..] if first & 0x1F == 0x1F => {
            let more = rest.iter().take_while(|octet| **octet & 0x80 != 0).count();
            (2 + more).min(octets.len())
        }
        _ => octets.len().min(1),
    }
}

/// Whether octets are complete elements, one behind the other, and nothing else.
pub(crate) fn are_elements(octets: &[u8]) -> bool {
    elements(octets).0
}

/// Whether octets are one constructed element with elements inside, down to the primitive ones.
pub(crate) fn are_nested(octets: &[u8]) -> bool {
    let mut open: Vec<Option<usize>> = Vec::new();
    let mut at = 0;
    loop {
        while open.last().is_some_and(|end| *end == Some(at)) {
            open.pop();
        }
        if at > 0 && open.is_empty() {
            return at == octets.len();
        }
        let Ok(head) = head(octets.get(at..).unwrap_or_default()) else { return false };
        let begin = at + head.size;
        let length = head.length.map(|length| usize::try_from(length).unwrap_or(usize::MAX));
        let end = length.map(|length| begin.saturating_add(length));
        let around = open.iter().rev().find_map(|end| *end).unwrap_or(octets.len());
        if end.is_some_and(|end| end > around) || open.len() > usize::from(Extent::DEPTH) {
            return false;
        }
        if octets[at] == 0 {
            if length != Some(0) || !matches!(open.pop(), Some(None)) {
                return false;
            }
            at = begin;
        } else if head.constructed {
            open.push(end);
            at = begin;
        } else if at == 0 {
            return false;
        } else {
            at = end.unwrap_or(octets.len());
        }
    }
}

/// The same with the heads that have been read.
pub(super) fn elements(octets: &[u8]) -> (bool, u32) {
    let (mut at, mut heads) = (0, 0_u32);
    while at < octets.len() {
        let mut extent = Extent::default();
        let step = extent.advance(&octets[at..], usize::MAX);
        heads = heads.saturating_add(extent.heads);
        match step {
            Step::Complete(length) => at += length,
            _ => return (false, heads),
        }
    }
    (at > 0, heads)
}

/// What is known of an element's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// It has this many octets, and they are there.
    Complete(usize),
    /// It has at least this many octets.
    Need(usize),
    /// It is none.
    Fault(ErrorKind),
}

/// The search for the end of one element.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Extent {
    at: usize,
    open: u16,
    /// Heads read so far: what the search has cost.
    pub(super) heads: u32,
}

impl Extent {
    /// Indefinite lengths inside one another.
    const DEPTH: u16 = 64;

    /// Goes on with the search in the octets of the element that are there; `limit` bounds its length.
    #[inline]
    pub(super) fn advance(&mut self, octets: &[u8], limit: usize) -> Step {
        loop {
            if self.at > octets.len() {
                return Step::Need(self.at);
            }
            if self.heads > 0 && self.open == 0 {
                return Step::Complete(self.at);
            }
            let rest = &octets[self.at..];
            let head = match head(rest) {
                Ok(head) => head,
                Err(Stop::Short) => return Step::Need(octets.len() + 1),
                Err(Stop::Fault(kind)) => return Step::Fault(kind),
            };
            match head.length {
                None if self.open == Self::DEPTH => return Step::Fault(ErrorKind::DepthLimit),
                None => self.open += 1,
                Some(0) if rest[0] == 0 => match self.open.checked_sub(1) {
                    Some(open) => self.open = open,
                    None => return Step::Fault(ErrorKind::EndOfContentsUnexpected),
                },
                Some(_) if rest[0] == 0 => return Step::Fault(ErrorKind::EndOfContentsMalformed),
                Some(_) => {}
            }
            self.heads += 1;
            let end = head.length.unwrap_or(0).saturating_add((self.at + head.size) as u64);
            match usize::try_from(end) {
                Ok(end) if end <= limit => self.at = end,
                _ => return Step::Fault(ErrorKind::LengthLimit),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_found_in_any_steps() {
        let nested = [0x30, 0x80, 0x04, 0x02, 0, 0, 0x31, 0x80, 0x05, 0, 0, 0, 0, 0, 0x99];
        for (octets, end) in [
            (&nested[..], 14),
            (&[0x04, 0x03, 1, 2, 3, 9], 5),
            (&[0x7F, 0x8A, 0x39, 0x81, 0x01, 7, 9], 6),
            (&[0x30, 0x84, 0, 0, 0, 1, 7], 7),
        ] {
            let mut extent = Extent::default();
            for n in 0..=octets.len() {
                match extent.advance(&octets[..n], 1 << 20) {
                    Step::Need(more) => assert!(more > n && n < end, "{octets:x?} {n} {more}"),
                    step => assert_eq!((step, n >= end), (Step::Complete(end), true)),
                }
            }
        }
    }

    #[test]
    fn faults_are_named() {
        for (octets, kind) in [
            (&[0x04, 0x80][..], ErrorKind::IndefinitePrimitive),
            (&[0x04, 0xFF], ErrorKind::LengthReserved),
            (&[0x1F, 0x80, 0x01], ErrorKind::TagLeadingZero),
            (&[0x1F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], ErrorKind::TagTooLarge),
            (&[0x30, 0x89, 1, 0, 0, 0, 0, 0, 0, 0, 0], ErrorKind::LengthTooLarge),
            (&[0x30, 0x84, 0x7F, 0xFF, 0xFF, 0xFF], ErrorKind::LengthLimit),
            (&[0x30, 0x80, 0x00, 0x01], ErrorKind::EndOfContentsMalformed),
            (&[0x30, 0x80].repeat(65), ErrorKind::DepthLimit),
        ] {
            assert_eq!(Extent::default().advance(octets, 1 << 20), Step::Fault(kind), "{octets:x?}");
        }
    }
}
