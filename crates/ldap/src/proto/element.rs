//! Elements of LDAP's subset of BER (RFC 4511 5.1), walked in place.
//!
//! The subset has definite lengths only, and all tags fit one octet. So a header is parsed in a few instructions, and
//! nothing has to be kept while one walks. Lengths in more octets than needed are accepted: Active Directory sends them.

use crate::error::{Error, ErrorKind, Result};

/// The identifier octets that occur in messages.
pub mod tag {
    /// SEQUENCE
    pub const SEQUENCE: u8 = 0x30;
    /// SET
    pub const SET: u8 = 0x31;
    /// INTEGER
    pub const INTEGER: u8 = 0x02;
    /// OCTET STRING, always primitive
    pub const OCTET_STRING: u8 = 0x04;
    /// `controls` of LDAPMessage
    pub const CONTROLS: u8 = 0xA0;
    /// SearchResultEntry
    pub const SEARCH_ENTRY: u8 = 0x64;
    /// SearchResultDone
    pub const SEARCH_DONE: u8 = 0x65;
    /// SearchResultReference
    pub const SEARCH_REFERENCE: u8 = 0x73;
    /// ExtendedResponse
    pub const EXTENDED_RESPONSE: u8 = 0x78;
    /// IntermediateResponse
    pub const INTERMEDIATE: u8 = 0x79;
    /// BindResponse
    pub const BIND_RESPONSE: u8 = 0x61;
}

/// The header of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The identifier octet.
    pub identifier: u8,
    /// Octets of the header itself.
    pub size: usize,
    /// Octets of the contents, as announced.
    pub length: usize,
}

/// Reads a header, whose contents need not be there; nothing if the octets end inside it.
///
/// # Errors
/// An identifier of several octets, an indefinite length, or one that does not fit four octets.
#[inline]
pub fn header(octets: &[u8], at: u64) -> Result<Option<Header>> {
    match *octets {
        [identifier, length @ 0..0x80, ..] if identifier & 0x1F != 0x1F => {
            Ok(Some(Header { identifier, size: 2, length: usize::from(length) }))
        }
        [identifier, ..] if identifier & 0x1F == 0x1F => {
            Err(fault("a tag above 30 does not occur in LDAP", at))
        }
        [_] | [] => Ok(None),
        [_, 0x80, ..] => Err(fault("an indefinite length is not allowed in LDAP", at + 1)),
        [_, 0xFF, ..] => Err(fault("a length cannot begin with FF", at + 1)),
        [identifier, count, ref rest @ ..] => long(identifier, usize::from(count & 0x7F), rest, at),
    }
}

/// Reads a length in several octets: up to four by one load, if as many octets follow.
#[inline]
fn long(identifier: u8, count: usize, rest: &[u8], at: u64) -> Result<Option<Header>> {
    match rest.first_chunk() {
        Some(&first) if count <= 4 => {
            let length = (u64::from(u32::from_be_bytes(first)) << (8 * count) >> 32) as usize;
            Ok(Some(Header { identifier, size: 2 + count, length }))
        }
        _ => longer(identifier, count, rest, at),
    }
}

fn longer(identifier: u8, count: usize, rest: &[u8], at: u64) -> Result<Option<Header>> {
    // Leading zeros are as good as none, but more than eight octets are nobody's length.
    if count > 8 {
        return Err(fault("a length has more than eight bytes", at + 1));
    }
    let Some(octets) = rest.get(..count) else {
        return Ok(None);
    };
    let length = octets.iter().fold(0_u64, |length, octet| length << 8 | u64::from(*octet));
    match usize::try_from(length) {
        Ok(length) if length <= u32::MAX as usize => Ok(Some(Header { identifier, size: 2 + count, length })),
        _ => Err(fault("a length of 4 GiB or more", at + 1)),
    }
}

#[cold]
pub(crate) fn fault(message: &str, at: u64) -> Error {
    Error::at(ErrorKind::Protocol, message, at)
}

/// A cursor over the elements that stand one after another in some octets.
#[derive(Clone, Debug)]
pub struct Elements<'a> {
    rest: &'a [u8],
    at: u64,
}

impl<'a> Elements<'a> {
    /// A cursor at the begin of octets whose first has the offset `at`.
    #[inline]
    #[must_use]
    pub const fn new(octets: &'a [u8], at: u64) -> Self {
        Self { rest: octets, at }
    }

    /// Where the cursor stands.
    #[inline]
    #[must_use]
    pub const fn offset(&self) -> u64 {
        self.at
    }

    /// What is left.
    #[inline]
    #[must_use]
    pub const fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// The next element: its identifier and its contents.
    ///
    /// # Errors
    /// As [`header`], and an element that reaches beyond the octets.
    #[expect(
        clippy::should_implement_trait,
        reason = "a fault ends the walk, which `?` says better than an iterator"
    )]
    #[inline]
    pub fn next(&mut self) -> Result<Option<(u8, &'a [u8])>> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        // Nine elements of ten take this path.
        if let [identifier, length @ 0..0x80, rest @ ..] = self.rest
            && identifier & 0x1F != 0x1F
            && let Some((contents, rest)) = rest.split_at_checked(usize::from(*length))
        {
            self.at += 2 + u64::from(*length);
            self.rest = rest;
            return Ok(Some((*identifier, contents)));
        }
        self.next_long().map(Some)
    }

    #[inline(never)]
    fn next_long(&mut self) -> Result<(u8, &'a [u8])> {
        let Some(header) = header(self.rest, self.at)? else {
            return Err(fault("an element ends inside its header", self.at));
        };
        let end = header.size + header.length;
        let (Some(contents), Some(rest)) = (self.rest.get(header.size..end), self.rest.get(end..)) else {
            return Err(fault("an element reaches beyond the one around it", self.at));
        };
        self.at += end as u64;
        self.rest = rest;
        Ok((header.identifier, contents))
    }

    /// The contents of the next element, which has to be there and to have this identifier.
    ///
    /// # Errors
    /// As [`Elements::next`]; another element, or none: `what` is what was expected.
    #[inline]
    pub fn expect(&mut self, identifier: u8, what: &str) -> Result<&'a [u8]> {
        let at = self.at;
        match self.next()? {
            Some((found, contents)) if found == identifier => Ok(contents),
            Some((found, _)) => Err(unexpected(what, Some(found), at)),
            None => Err(unexpected(what, None, at)),
        }
    }

    /// Offset of the first octet of contents that [`Elements::next`] just gave.
    #[inline]
    pub(crate) const fn begin(&self, contents: &[u8]) -> u64 {
        self.at.saturating_sub(contents.len() as u64)
    }
}

/// Takes the contents of the next element, which has to have this identifier; `None` if [`Elements::expect`] has a fault to
/// report there. A few instructions, where a fault is looked for later.
#[inline(always)]
pub(crate) fn take<'a>(octets: &mut &'a [u8], identifier: u8) -> Option<&'a [u8]> {
    let (contents, rest) = match *octets {
        [found, length @ 0..0x80, rest @ ..] if *found == identifier => {
            rest.split_at_checked(usize::from(*length))?
        }
        // Most messages and entries.
        [found, 0x82, high, low, rest @ ..] if *found == identifier => {
            rest.split_at_checked(usize::from(u16::from_be_bytes([*high, *low])))?
        }
        [found, ..] if *found == identifier => take_long(octets)?,
        _ => return None,
    };
    *octets = rest;
    Some(contents)
}

#[inline(never)]
fn take_long(octets: &[u8]) -> Option<(&[u8], &[u8])> {
    let header = header(octets, 0).ok()??;
    octets.get(header.size..)?.split_at_checked(header.length)
}

#[cold]
fn unexpected(what: &str, found: Option<u8>, at: u64) -> Error {
    match found {
        Some(found) => {
            Error::at(ErrorKind::Protocol, format!("{what} expected, found an element {found:02X}"), at)
        }
        None => Error::at(ErrorKind::Protocol, format!("{what} is missing"), at),
    }
}

/// An INTEGER of one to four octets that is not negative, as a message ID.
///
/// # Errors
/// Any other one.
#[inline]
pub fn small_integer(contents: &[u8], at: u64) -> Result<u32> {
    // Leading zeros of longer forms are accepted, as BER has no shortest form for others than ours.
    let zeros = contents.iter().take_while(|octet| **octet == 0).count();
    let significant = contents.get(zeros..).unwrap_or_default();
    let value = significant.iter().fold(0_u64, |value, octet| value << 8 | u64::from(*octet));
    let negative = contents.first().is_some_and(|octet| octet & 0x80 != 0);
    if contents.is_empty() || contents.len() > 8 || negative || value > i32::MAX as u64 {
        return Err(fault("a message ID is not between 0 and 2147483647", at));
    }
    Ok(u32::try_from(value).unwrap_or_default())
}

/// Checks that a whole element and all constructed ones inside follow the subset, without recursion.
///
/// # Errors
/// Any fault in a header, an element beyond its parent, nesting deeper than `depth`.
pub fn check_subset(octets: &[u8], depth: u16) -> Result<()> {
    let mut ends: Vec<usize> = Vec::new();
    let mut position = 0;
    let mut end = octets.len();
    loop {
        while position == end {
            match ends.pop() {
                Some(outer) => end = outer,
                None => return Ok(()),
            }
        }
        let at = position as u64;
        let rest = octets.get(position..end).unwrap_or_default();
        let header = header(rest, at)?.ok_or_else(|| fault("an element ends inside its header", at))?;
        if header.size + header.length > rest.len() {
            return Err(fault("an element reaches beyond the one around it", at));
        }
        // OCTET STRINGs are primitive (5.1 (2)); of context-specific tags only the type knows.
        if header.identifier == tag::OCTET_STRING | 0x20 {
            return Err(fault("an OCTET STRING is constructed", at));
        }
        position += header.size;
        if header.identifier & 0x20 == 0 {
            position += header.length;
        } else {
            if ends.len() >= usize::from(depth) {
                return Err(Error::at(
                    ErrorKind::Limit,
                    format!("elements are nested deeper than {depth}"),
                    at,
                ));
            }
            ends.push(end);
            end = position + header.length;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers() {
        let good: &[(&[u8], usize, usize)] = &[
            (&[0x30, 0x05], 2, 5),
            (&[0x30, 0x81, 0x05], 3, 5),
            (&[0x30, 0x84, 0, 0, 1, 0], 6, 256),
            (&[0x30, 0x88, 0, 0, 0, 0, 0, 0, 1, 0], 10, 256),
        ];
        for (octets, size, length) in good {
            assert_eq!(
                header(octets, 0).unwrap(),
                Some(Header { identifier: 0x30, size: *size, length: *length })
            );
            for cut in 0..octets.len() {
                assert_eq!(header(&octets[..cut], 0).unwrap(), None, "{octets:02x?}");
            }
        }
        for bad in
            [&[0x30, 0x80][..], &[0x30, 0xFF], &[0x1F, 0x00], &[0x30, 0x89], &[0x30, 0x85, 1, 0, 0, 0, 0]]
        {
            assert_eq!(header(bad, 7).unwrap_err().kind(), ErrorKind::Protocol, "{bad:02x?}");
        }
    }

    #[test]
    fn integers() {
        for (contents, value) in [
            (&[0][..], 0),
            (&[0, 0x80], 128),
            (&[0, 0, 0, 1], 1),
            (&[0x7F, 0xFF, 0xFF, 0xFF], i32::MAX as u32),
        ] {
            assert_eq!(small_integer(contents, 0).unwrap(), value);
        }
        for bad in [&[][..], &[0x80], &[0xFF], &[0, 0x80, 0, 0, 0], &[1; 9]] {
            assert!(small_integer(bad, 0).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn nesting_needs_no_stack() {
        let mut octets = Vec::new();
        for length in (0..100_000_u32).rev() {
            octets.push(0x30);
            octets.push(0x84);
            octets.extend_from_slice(&(length * 6).to_be_bytes());
        }
        assert_eq!(check_subset(&octets, 50).unwrap_err().kind(), ErrorKind::Limit);
        check_subset(&octets[octets.len() - 60..], 50).unwrap();
    }
}
