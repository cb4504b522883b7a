//! Just enough of BER (X.690 §8.1) to find where messages in a stream end.

/// An identifier and a definite length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    /// The first identifier octet; tags of several octets are not read.
    pub(crate) tag: u8,
    /// Octets of identifier and length.
    pub(crate) length: usize,
    /// Octets of the contents.
    pub(crate) contents: usize,
}

impl Header {
    /// Returns the octets of the whole element.
    pub(crate) fn total(self) -> usize {
        self.length.saturating_add(self.contents)
    }
}

/// Reads a header with a tag of one octet and a definite length of at most four octets; `None` if it is another one, or cut.
pub(crate) fn header(octets: &[u8]) -> Option<Header> {
    let (&tag, &first) = (octets.first()?, octets.get(1)?);
    if tag & 0x1F == 0x1F {
        return None;
    }
    if first < 0x80 {
        return Some(Header { tag, length: 2, contents: first.into() });
    }
    let count = usize::from(first & 0x7F);
    if !(1..=4).contains(&count) {
        return None;
    }
    let digits = octets.get(2..2 + count)?;
    let contents = digits.iter().fold(0usize, |number, &digit| number << 8 | usize::from(digit));
    Some(Header { tag, length: 2 + count, contents })
}

/// Splits the first element off: its header, its contents, and what follows it.
pub(crate) fn element(octets: &[u8]) -> Option<(Header, &[u8], &[u8])> {
    let header = header(octets)?;
    let contents = octets.get(header.length..header.total())?;
    Some((header, contents, &octets[header.total()..]))
}

/// Returns the contents of the first element of a tag.
pub(crate) fn find(mut octets: &[u8], tag: u8) -> Option<&[u8]> {
    while let Some((header, contents, rest)) = element(octets) {
        if header.tag == tag {
            return Some(contents);
        }
        octets = rest;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_have_short_and_long_lengths() {
        let read = |octets: &[u8]| header(octets).map(|it| (it.length, it.contents));
        assert_eq!(read(&[0x30, 5]), Some((2, 5)));
        assert_eq!(read(&[0x30, 0x82, 1, 0]), Some((4, 256)));
        assert_eq!(read(&[0x30, 0x84, 0x7F, 0xFF, 0xFF, 0xFF]), Some((6, 0x7FFF_FFFF)));
        assert_eq!(read(&[0x30, 0x80]), None);
        assert_eq!(read(&[0x30, 0x82, 1]), None);
        assert_eq!(read(&[0x7F, 0x20, 1]), None);
        assert_eq!(find(&[2, 1, 0, 4, 1, 7], 4), Some(&[7][..]));
    }
}
