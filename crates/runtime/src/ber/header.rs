//! Identifier and length octets (X.690 8.1.2, 8.1.3).

use crate::{Class, Error, ErrorKind, Result, Tag};

/// Which of the three sets of rules of X.690 an encoding has to follow.
///
/// A run-time value rather than a type: a header of two octets, the common case, is legal in all of
/// them, so that the choice costs nothing there and code exists once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[repr(u8)]
pub enum Rules {
    /// Basic encoding rules (clause 8).
    #[default]
    Ber,
    /// Distinguished encoding rules (clauses 8, 10 and 11).
    Der,
    /// Canonical encoding rules (clauses 8, 9 and 11).
    Cer,
}

impl Rules {
    /// Whether the restrictions of clause 11 apply.
    #[inline]
    #[must_use]
    pub const fn is_canonical(self) -> bool {
        !matches!(self, Self::Ber)
    }
}

/// Identifier and length octets of one element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Header {
    /// Class and number.
    pub tag: Tag,
    /// Octets of identifier and length together: 2 in most cases.
    pub size: u8,
    /// Whether the contents are elements.
    pub constructed: bool,
    /// Whether end-of-contents octets mark the end; `length` is zero then.
    pub indefinite: bool,
    /// Octets of the contents, known to be inside the parent.
    pub length: usize,
}

impl Header {
    /// Whether these are the end-of-contents octets (8.1.5).
    #[inline]
    #[must_use]
    pub const fn is_end_of_contents(&self) -> bool {
        self.tag.bits() == 0 && !self.constructed && self.length == 0
    }

    /// Whether this is a primitive element with this tag.
    #[inline]
    #[must_use]
    pub fn is_primitive(&self, tag: Tag) -> bool {
        self.tag == tag && !self.constructed
    }
}

/// The extent in which a header is read: whether more octets may still come.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extent {
    /// Absolute offset of the first octet of the slice.
    pub(crate) at: u64,
    /// Whether a definite length around gives the end of the slice.
    pub(crate) bounded: bool,
    /// Largest contents length accepted.
    pub(crate) limit: u64,
}

impl Extent {
    #[cold]
    #[inline(never)]
    pub(crate) fn short(self, have: usize, needed: u64) -> Error {
        let at = self.at.saturating_add(have as u64);
        if self.bounded { Error::new(ErrorKind::BeyondParent, at) } else { Error::incomplete(at, needed) }
    }

    #[cold]
    #[inline(never)]
    fn fault(self, kind: ErrorKind, index: usize) -> Error {
        Error::new(kind, self.at.saturating_add(index as u64))
    }
}

/// Reads the header at the start of `input` and checks that definite contents are inside it.
///
/// End-of-contents octets are a header like any other here; `00 xx` is an error.
#[inline]
pub(crate) fn parse(input: &[u8], extent: Extent, rules: Rules) -> Result<Header> {
    // Context tags above 30 are common in charging records, lengths above 127 at the start of them.
    if let Some(&[identifier, number @ 31..=0x7F, length]) = input.first_chunk::<3>()
        && identifier & 0x1F == 0x1F
        && length < 0x80
        && input.len() - 3 >= usize::from(length)
        && (identifier & 0x20 == 0 || !matches!(rules, Rules::Cer))
        && u64::from(length) <= extent.limit
    {
        return Ok(Header {
            tag: Tag::literal(Class::from_identifier(identifier), u32::from(number)),
            size: 3,
            constructed: identifier & 0x20 != 0,
            indefinite: false,
            length: usize::from(length),
        });
    }
    parse_any(input, extent, rules)
}

#[inline(never)]
fn parse_any(input: &[u8], extent: Extent, rules: Rules) -> Result<Header> {
    let mut octets = input.iter().copied();
    let mut size = 1_u8;
    let Some(identifier) = octets.next() else { return Err(extent.short(0, 2)) };
    let constructed = identifier & 0x20 != 0;
    let mut tag = Tag::from_octet(identifier);
    if identifier & 0x1F == 0x1F {
        let mut number = 0_u32;
        loop {
            let Some(octet) = octets.next() else { return Err(extent.short(input.len(), 2)) };
            if size == 1 && octet == 0x80 {
                return Err(extent.fault(ErrorKind::TagLeadingZero, 1));
            }
            if number > Tag::MAX_NUMBER >> 7 {
                return Err(extent.fault(ErrorKind::TagTooLarge, 0));
            }
            number = number << 7 | u32::from(octet & 0x7F);
            size += 1;
            if octet < 0x80 {
                break;
            }
        }
        if number < 31 {
            return Err(extent.fault(ErrorKind::TagLongForm, 0));
        }
        tag = Tag::literal(Class::from_identifier(identifier), number);
    }

    let length_at = usize::from(size);
    let Some(first) = octets.next() else { return Err(extent.short(input.len(), 1)) };
    size += 1;
    let mut length = 0_u64;
    match first {
        0x00..=0x7F => length = u64::from(first),
        0x80 => {
            if identifier == 0 {
                return Err(extent.fault(ErrorKind::EndOfContentsMalformed, 0));
            }
            if !constructed {
                return Err(extent.fault(ErrorKind::IndefinitePrimitive, length_at));
            }
            if rules == Rules::Der {
                return Err(extent.fault(ErrorKind::IndefiniteForbidden, length_at));
            }
            return Ok(Header { tag, size, constructed, indefinite: true, length: 0 });
        }
        0xFF => return Err(extent.fault(ErrorKind::LengthReserved, length_at)),
        0x81..=0xFE => {
            for i in 0..first & 0x7F {
                let Some(octet) = octets.next() else {
                    return Err(extent.short(input.len(), u64::from((first & 0x7F) - i)));
                };
                if i == 0 && octet == 0 && rules.is_canonical() {
                    return Err(extent.fault(ErrorKind::LengthNotMinimal, length_at));
                }
                // The next shift would lose bits: more than any input can hold.
                if length >= 1 << 55 {
                    return Err(extent.fault(ErrorKind::LengthTooLarge, length_at));
                }
                length = length << 8 | u64::from(octet);
                size += 1;
            }
            if length < 0x80 && rules.is_canonical() {
                return Err(extent.fault(ErrorKind::LengthNotMinimal, length_at));
            }
        }
    }
    if tag == Tag::END_OF_CONTENTS && (constructed || first != 0) {
        return Err(extent.fault(ErrorKind::EndOfContentsMalformed, 0));
    }
    if constructed && rules == Rules::Cer {
        return Err(extent.fault(ErrorKind::DefiniteForbidden, length_at));
    }
    if length > extent.limit {
        return Err(extent.fault(ErrorKind::LengthLimit, length_at));
    }
    let have = input.len().saturating_sub(usize::from(size));
    match usize::try_from(length) {
        Ok(length) if length <= have => Ok(Header { tag, size, constructed, indefinite: false, length }),
        _ => Err(extent.short(input.len(), length - have as u64)),
    }
}

/// The tag at the start of `input` if the identifier octets can be read, whatever is wrong with the length; none of the
/// end-of-contents octets.
pub(crate) fn identifier(input: &[u8]) -> Option<Tag> {
    let (&first, rest) = input.split_first()?;
    if first & 0x1F != 0x1F {
        return (first & 0xDF != 0).then(|| Tag::from_octet(first));
    }
    let mut number = 0_u32;
    for (at, octet) in rest.iter().enumerate() {
        if at == 0 && *octet == 0x80 || number > Tag::MAX_NUMBER >> 7 {
            return None;
        }
        number = number << 7 | u32::from(octet & 0x7F);
        if *octet < 0x80 {
            return (number >= 31).then(|| Tag::literal(Class::from_identifier(first), number));
        }
    }
    None
}

/// Finds the end of an element of indefinite length.
///
/// `contents` starts right after the length octet `80`; the answer is the number of octets up to and with
/// the end-of-contents octets.  Elements inside are counted, not recursed into, and definite ones are
/// stepped over, so that the time is linear in the octets up to the end.  `depth` is the number of further
/// indefinite levels allowed inside.
///
/// # Errors
/// [`ErrorKind::Incomplete`] when `contents` ends first, [`ErrorKind::DepthLimit`], and any fault in a
/// header.  Offsets start at `at`.
///
/// ```
/// use tercet_runtime::ber::{find_end, Rules};
/// let contents = [0x30, 0x80, 0x05, 0x00, 0x00, 0x00, 0x00, 0x00, 0xFF];
/// assert_eq!(find_end(&contents, 0, Rules::Ber, 64)?, 8);
/// # Ok::<(), tercet_runtime::Error>(())
/// ```
pub fn find_end(contents: &[u8], at: u64, rules: Rules, depth: u16) -> Result<usize> {
    end_of(contents, Extent { at, bounded: false, limit: u64::MAX }, rules, depth)
}

pub(crate) fn end_of(contents: &[u8], extent: Extent, rules: Rules, depth: u16) -> Result<usize> {
    let mut open = 0_u16;
    let mut pos = 0;
    loop {
        let rest = contents.get(pos..).unwrap_or_default();
        let here = Extent { at: extent.at.saturating_add(pos as u64), ..extent };
        let header = match parse(rest, here, rules) {
            Err(e) if rest.is_empty() && extent.bounded => {
                return Err(Error::new(ErrorKind::EndOfContentsMissing, e.at()));
            }
            other => other?,
        };
        pos += usize::from(header.size) + header.length;
        if header.indefinite {
            if open >= depth {
                return Err(Error::new(ErrorKind::DepthLimit, here.at));
            }
            open += 1;
        } else if header.is_end_of_contents() {
            let Some(outer) = open.checked_sub(1) else { return Ok(pos) };
            open = outer;
        }
    }
}
