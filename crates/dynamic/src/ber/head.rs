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

/// The header at `pos` if it has one of the forms that nearly all have: a tag of up to three octets, a length of one,
/// contents inside `end`. Nothing else is decided here: `None` is for the slower paths.
#[inline(always)]
pub(super) fn head(input: &[u8], pos: usize, end: usize) -> Option<Head> {
    // The window may reach behind `end`, the element may not.
    let &[first, second, third, fourth] = input.get(pos..)?.first_chunk::<4>()?;
    let class = u32::from(first & 0xC0) << 24;
    let constructed = first & 0x20 != 0;
    let (number, size, length) = if first & 0x1F != 0x1F {
        (u32::from(first & 0x1F), 2, second)
    } else if (31..0x80).contains(&second) {
        (u32::from(second), 3, third)
    } else if second > 0x80 && third < 0x80 {
        (u32::from(second & 0x7F) << 7 | u32::from(third), 4, fourth)
    } else {
        return None;
    };
    let length = usize::from(length);
    if length < 0x80 && pos + size + length <= end && first != 0 {
        return Some(Head { tag: class | number, constructed, indefinite: false, size, length });
    }
    None
}

/// The header at `pos` if it has a tag of up to four octets, a definite length of up to four and contents inside `end`,
/// or an indefinite length; as BER has it. `None` is for the slow path, which knows what is wrong.
#[inline(never)]
pub(super) fn long_head(input: &[u8], pos: usize, end: usize) -> Option<Head> {
    let rest = input.get(pos..end)?;
    let (&first, mut tail) = rest.split_first()?;
    if first == 0 {
        return None;
    }
    let mut number = u32::from(first & 0x1F);
    if number == 0x1F {
        number = 0;
        for index in 0.. {
            let (&octet, after) = tail.split_first()?;
            tail = after;
            number = number << 7 | u32::from(octet & 0x7F);
            if index > 2 || number == 0 {
                return None;
            }
            if octet < 0x80 {
                break;
            }
        }
        if number < 31 {
            return None;
        }
    }
    let (&octet, mut tail) = tail.split_first()?;
    let constructed = first & 0x20 != 0;
    let mut length = usize::from(octet);
    if octet > 0x80 {
        let (octets, after) = tail.split_at_checked(length & 0x7F)?;
        if octets.len() > 4 {
            return None;
        }
        tail = after;
        length = octets.iter().fold(0, |length, octet| length << 8 | usize::from(*octet));
    }
    let indefinite = octet == 0x80;
    if indefinite {
        length = 0;
    }
    if length > tail.len() || (indefinite && !constructed) {
        return None;
    }
    let class = u32::from(first & 0xC0) << 24;
    Some(Head { tag: class | number, constructed, indefinite, size: rest.len() - tail.len(), length })
}

/// The same for a header that is as CER has it (X.690 9.1): a primitive one that is short, or a constructed one without a
/// length (a SEQUENCE OF NULL: 490 instructions an element without it, 134 with it).
#[inline(always)]
pub(super) fn canonical_head(input: &[u8], pos: usize, end: usize) -> Option<Head> {
    match head(input, pos, end) {
        Some(head) => (!head.constructed).then_some(head),
        None => long_head(input, pos, end).filter(|head| head.indefinite),
    }
}
