//! Identifier and length octets, the common forms inline.

use tercet_runtime::ber::Header;

/// Identifier and length octets of one element.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head {
    /// Class in the top two bits, number in the low 29.
    pub(super) tag: u32,
    pub(super) constructed: bool,
    pub(super) indefinite: bool,
    /// Octets of the header.
    pub(super) size: usize,
    /// Octets of the contents; 0 if indefinite.
    pub(super) length: usize,
}

impl From<Header> for Head {
    fn from(header: Header) -> Self {
        Self {
            tag: header.tag.bits(),
            constructed: header.constructed,
            indefinite: header.indefinite,
            size: usize::from(header.size),
            length: header.length,
        }
    }
}

/// The header at `pos` if it has one of the forms that nearly all have: a tag of one or two octets, a length of one,
/// contents inside `end`. Nothing else is decided here: `None` is for the slow path.
#[inline(always)]
pub(super) fn head(input: &[u8], pos: usize, end: usize) -> Option<Head> {
    let rest = input.get(pos..end)?;
    let (&[first, second], tail) = rest.split_first_chunk::<2>()?;
    let class = u32::from(first & 0xC0) << 24;
    let constructed = first & 0x20 != 0;
    if first & 0x1F != 0x1F {
        let length = usize::from(second);
        if second < 0x80 && length <= tail.len() && first != 0 {
            return Some(Head { tag: class | u32::from(first & 0x1F), constructed, indefinite: false, size: 2, length });
        }
        return None;
    }
    if (31..0x80).contains(&second)
        && let Some((&octet, tail)) = tail.split_first()
        && octet < 0x80
        && usize::from(octet) <= tail.len()
    {
        let length = usize::from(octet);
        return Some(Head { tag: class | u32::from(second), constructed, indefinite: false, size: 3, length });
    }
    None
}
