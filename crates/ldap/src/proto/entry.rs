//! SearchResultEntry as a view of the octets that were received.

use bytes::Bytes;

use super::control::{self, Control};
use super::element::{self, Elements, tag};
use super::frame::Incoming;
use crate::error::{Error, ErrorKind, Result};

/// An entry of a search: a view of the receive buffer, a few words and no allocation.
///
/// Its octets are checked once when it is made, so that walking it cannot fail. The buffer lives as long as a view of it;
/// to keep few entries of many, [`Entry::compact`] them.
#[derive(Clone, Debug)]
pub struct Entry {
    octets: Bytes,
    dn: (u32, u32),
    attributes: (u32, u32),
    controls: (u32, u32),
    is_ranged: bool,
}

impl Entry {
    /// The view of a whole message.
    ///
    /// # Errors
    /// The message is no SearchResultEntry.
    #[inline]
    pub fn new(octets: Bytes) -> Result<Self> {
        let parts = parts(&octets)?;
        Ok(Self { octets, dn: parts.0, attributes: parts.1, controls: parts.2, is_ranged: parts.3 })
    }

    /// The message.
    #[must_use]
    pub const fn octets(&self) -> &Bytes {
        &self.octets
    }

    #[inline]
    fn part(&self, (begin, end): (u32, u32)) -> &[u8] {
        self.octets.get(begin as usize..end as usize).unwrap_or_default()
    }

    /// The name of the entry.
    #[must_use]
    pub fn dn(&self) -> &str {
        // It was checked when the view was made.
        std::str::from_utf8(self.dn_octets()).unwrap_or_default()
    }

    /// The name of the entry as it came.
    #[inline]
    #[must_use]
    pub fn dn_octets(&self) -> &[u8] {
        self.part(self.dn)
    }

    /// The attributes, as they came.
    #[inline]
    #[must_use]
    pub fn attributes(&self) -> Attributes<'_> {
        Attributes(Elements::new(self.part(self.attributes), 0))
    }

    /// The values of an attribute, whose description is compared without case; options are part of it.
    #[must_use]
    pub fn values(&self, description: &str) -> Values<'_> {
        let mut all = self.attributes();
        let found =
            all.find(|attribute| attribute.description().eq_ignore_ascii_case(description.as_bytes()));
        found.map_or_else(Values::default, |attribute| attribute.values())
    }

    /// The first value of an attribute, if it is UTF-8.
    #[must_use]
    pub fn text(&self, description: &str) -> Option<&str> {
        std::str::from_utf8(self.values(description).next()?).ok()
    }

    /// Checks whether an attribute came with a range of its values only: `member;range=0-1499`, as Active Directory does.
    #[inline]
    #[must_use]
    pub const fn is_ranged(&self) -> bool {
        self.is_ranged
    }

    /// Whether controls came with the entry.
    #[inline]
    #[must_use]
    pub const fn has_controls(&self) -> bool {
        self.controls.0 < self.controls.1
    }

    /// The controls that came with the entry.
    ///
    /// # Errors
    /// They are malformed.
    pub fn controls(&self) -> Result<Vec<Control>> {
        control::read(self.part(self.controls))
    }

    /// The same entry in memory of its own, so that the receive buffer can go.
    #[must_use]
    pub fn compact(&self) -> Self {
        Self { octets: Bytes::copy_from_slice(&self.octets), ..*self }
    }
}

/// A run of entries that is taken apart one by one.
#[derive(Clone, Debug, Default)]
pub struct Entries {
    octets: Bytes,
}

impl Entries {
    /// The entries of a run.
    #[must_use]
    pub fn new(incoming: Incoming) -> Self {
        Self { octets: incoming.octets }
    }

    /// Octets left.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.octets.len()
    }

    /// Whether none is left.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.octets.is_empty()
    }
}

impl Iterator for Entries {
    type Item = Result<Entry>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.octets.is_empty() {
            return None;
        }
        let header = match element::header(&self.octets, 0) {
            Ok(header) => header?,
            Err(error) => {
                self.octets.clear();
                return Some(Err(error));
            }
        };
        let size = (header.size + header.length).min(self.octets.len());
        Some(Entry::new(self.octets.split_to(size)))
    }
}

/// The attributes of an entry.
#[derive(Clone, Debug)]
pub struct Attributes<'a>(Elements<'a>);

impl<'a> Iterator for Attributes<'a> {
    type Item = Attribute<'a>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let (_, attribute) = self.0.next().ok()??;
        let mut parts = Elements::new(attribute, 0);
        let (_, description) = parts.next().ok()??;
        let (_, values) = parts.next().ok()??;
        Some(Attribute { description, values })
    }
}

/// An attribute: its description and its values.
#[derive(Clone, Copy, Debug)]
pub struct Attribute<'a> {
    description: &'a [u8],
    values: &'a [u8],
}

impl<'a> Attribute<'a> {
    /// The attribute description, with options.
    #[inline]
    #[must_use]
    pub const fn description(&self) -> &'a [u8] {
        self.description
    }

    /// The attribute description as text; what is not UTF-8 is replaced.
    #[must_use]
    pub fn name(&self) -> std::borrow::Cow<'a, str> {
        String::from_utf8_lossy(self.description)
    }

    /// The values.
    #[inline]
    #[must_use]
    pub const fn values(&self) -> Values<'a> {
        Values(Elements::new(self.values, 0))
    }
}

/// The values of an attribute.
#[derive(Clone, Debug)]
pub struct Values<'a>(Elements<'a>);

impl Default for Values<'_> {
    fn default() -> Self {
        Self(Elements::new(&[], 0))
    }
}

impl<'a> Iterator for Values<'a> {
    type Item = &'a [u8];

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().ok()?.map(|(_, value)| value)
    }
}

type Part = (u32, u32);

/// Where name, attributes and controls stand, and whether a range of values is among the attributes.
type Parts = (Part, Part, Part, bool);

/// Where the parts of an entry stand; all of it is looked at once.
#[inline]
fn parts(octets: &[u8]) -> Result<Parts> {
    match plain_parts(octets) {
        Some(parts) => Ok(parts),
        None => any_parts(octets),
    }
}

/// The parts of an entry without controls, in few instructions; `None` if [`any_parts`] has to look.
#[inline]
fn plain_parts(octets: &[u8]) -> Option<Parts> {
    let mut behind = octets;
    let mut message = element::take(&mut behind, tag::SEQUENCE)?;
    element::take(&mut message, tag::INTEGER)?;
    let mut entry = element::take(&mut message, tag::SEARCH_ENTRY)?;
    if !message.is_empty() {
        return None;
    }
    let end = octets.len() - behind.len();
    let dn = element::take(&mut entry, tag::OCTET_STRING)?;
    let dn_end = end - entry.len();
    let list = element::take(&mut entry, tag::SEQUENCE)?;
    let list_end = end - entry.len();
    let part =
        |contents: &[u8], end: usize| Some(((end - contents.len()).try_into().ok()?, end.try_into().ok()?));
    let is_ascii = dn.iter().fold(true, |is_ascii, octet| is_ascii & matches!(octet, 1..0x80));
    if !is_ascii && check_name(dn, 0).is_err() {
        return None;
    }
    Some((part(dn, dn_end)?, part(list, list_end)?, (0, 0), are_ranged(list)?))
}

/// The parts of any entry, or the place of its fault.
#[inline(never)]
fn any_parts(octets: &[u8]) -> Result<Parts> {
    let mut outer = Elements::new(octets, 0);
    let message = outer.expect(tag::SEQUENCE, "LDAPMessage")?;
    let mut message = Elements::new(message, outer.begin(message));
    message.expect(tag::INTEGER, "messageID")?;
    let entry = message.expect(tag::SEARCH_ENTRY, "SearchResultEntry")?;
    let mut entry = Elements::new(entry, message.begin(entry));
    let dn = entry.expect(tag::OCTET_STRING, "objectName")?;
    let dn_part = part(&entry, dn);
    check_name(dn, entry.begin(dn))?;
    let list = entry.expect(tag::SEQUENCE, "attributes")?;
    let list_part = part(&entry, list);
    let is_ranged = check_attributes(Elements::new(list, entry.begin(list)))?;
    let mut controls = (0, 0);
    // Elements that nobody knows may follow (4).
    while let Some((identifier, contents)) = message.next()? {
        if identifier == tag::CONTROLS {
            controls = part(&message, contents);
        }
    }
    Ok((dn_part, list_part, controls, is_ranged))
}

/// That a name is UTF-8 (RFC 4511 4.1.2) without NUL, which a name has to escape (RFC 4514 2.4).
#[inline]
fn check_name(name: &[u8], begin: u64) -> Result<()> {
    let fault = |message: &str, at: usize| Error::at(ErrorKind::Protocol, message, begin + at as u64);
    std::str::from_utf8(name).map_err(|error| fault("a name that is not UTF-8", error.valid_up_to()))?;
    memchr::memchr(0, name).map_or(Ok(()), |at| Err(fault("NUL in a name", at)))
}

/// Checks the attributes of an entry and returns whether one of them has the option `range`.
fn check_attributes(list: Elements<'_>) -> Result<bool> {
    match are_ranged(list.rest()) {
        Some(is_ranged) => Ok(is_ranged),
        None => find_fault(list),
    }
}

/// Returns whether one of the attributes has the option `range`; `None` if one is malformed.
#[inline(never)]
fn are_ranged(mut list: &[u8]) -> Option<bool> {
    let mut is_ranged = false;
    while !list.is_empty() {
        let description = match single(list) {
            Some((description, rest)) => {
                list = rest;
                description
            }
            None => {
                let mut attribute = element::take(&mut list, tag::SEQUENCE)?;
                let description = element::take(&mut attribute, tag::OCTET_STRING)?;
                let mut values = element::take(&mut attribute, tag::SET)?;
                while !values.is_empty() {
                    element::take(&mut values, tag::OCTET_STRING)?;
                }
                description
            }
        };
        // One comparison for nearly all descriptions: a range ends with a digit or an asterisk.
        if matches!(description.last(), Some(b'0'..=b'9' | b'*')) {
            is_ranged |= has_range(description);
        }
    }
    Some(is_ranged)
}

/// Takes an attribute with one value and lengths of one octet, as most are: gives its description and what is behind it.
/// Two headers are looked at by one comparison.
#[inline(always)]
fn single(list: &[u8]) -> Option<(&[u8], &[u8])> {
    const SHORT: u32 = u32::from_be_bytes([0xFF, 0x80, 0xFF, 0x80]);
    const BEGIN: u32 = u32::from_be_bytes([tag::SEQUENCE, 0, tag::OCTET_STRING, 0]);
    const VALUES: u32 = u32::from_be_bytes([tag::SET, 0, tag::OCTET_STRING, 0]);
    let begin: [u8; 4] = *list.first_chunk()?;
    let (attribute, rest) = list.split_at_checked(2 + usize::from(begin[1]))?;
    let (description, values) = attribute.get(4..)?.split_at_checked(begin[3].into())?;
    let (&values, value) = values.split_first_chunk()?;
    let fits = u32::from_be_bytes(begin) & SHORT == BEGIN
        && u32::from_be_bytes(values) == VALUES | (value.len() as u32 + 2) << 16 | value.len() as u32
        && value.len() < 0x80 - 2;
    fits.then_some((description, rest))
}

/// The walk of [`are_ranged`] with the place of the fault.
#[cold]
fn find_fault(mut list: Elements<'_>) -> Result<bool> {
    let mut is_ranged = false;
    while !list.rest().is_empty() {
        let attribute = list.expect(tag::SEQUENCE, "PartialAttribute")?;
        let mut attribute = Elements::new(attribute, list.begin(attribute));
        let description = attribute.expect(tag::OCTET_STRING, "type of an attribute")?;
        is_ranged |= has_range(description);
        let values = attribute.expect(tag::SET, "vals of an attribute")?;
        let mut values = Elements::new(values, attribute.begin(values));
        while !values.rest().is_empty() {
            values.expect(tag::OCTET_STRING, "a value")?;
        }
    }
    Ok(is_ranged)
}

#[cold]
fn has_range(description: &[u8]) -> bool {
    let option = description.rsplit(|octet| *octet == b';').next().unwrap_or_default();
    option.len() < description.len()
        && option.get(..6).is_some_and(|word| word.eq_ignore_ascii_case(b"range="))
}

#[inline]
fn part(elements: &Elements<'_>, contents: &[u8]) -> Part {
    // A message is shorter than 4 GiB: its length was read from four octets.
    let end = u32::try_from(elements.offset()).unwrap_or(u32::MAX);
    (end.saturating_sub(u32::try_from(contents.len()).unwrap_or(u32::MAX)), end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn element(identifier: u8, contents: &[&[u8]], long: bool) -> Vec<u8> {
        let contents = contents.concat();
        let length = u32::try_from(contents.len()).unwrap();
        let mut octets = vec![identifier];
        match length {
            0..0x80 if !long => octets.push(u8::try_from(length).unwrap()),
            0x80..0x1_0000 if !long => octets.extend([&[0x82], &length.to_be_bytes()[2..]].concat()),
            _ => octets.extend([&[0x84], &length.to_be_bytes()[..]].concat()),
        }
        octets.extend(contents);
        octets
    }

    fn entry(name: &str, attributes: &[(&str, &[&str])], long: bool) -> Vec<u8> {
        let text = |text: &str| element(tag::OCTET_STRING, &[text.as_bytes()], long);
        let list: Vec<Vec<u8>> = attributes
            .iter()
            .map(|(description, values)| {
                let values: Vec<u8> = values.iter().flat_map(|value| text(value)).collect();
                element(tag::SEQUENCE, &[&text(description), &element(tag::SET, &[&values], long)], long)
            })
            .collect();
        let list = element(tag::SEQUENCE, &[&list.concat()], long);
        let entry = element(tag::SEARCH_ENTRY, &[&text(name), &list], long);
        element(tag::SEQUENCE, &[&[tag::INTEGER, 1, 7], &entry], long)
    }

    /// What the quick look takes is what the other takes, whatever octet of an entry is another one.
    #[test]
    fn both_looks_agree() {
        let text = "long ".repeat(40);
        let attributes: &[(&str, &[&str])] =
            &[("cn", &["Chloë"]), ("mail", &["a@example", "b@example"]), ("o", &[]), ("info", &[&text])];
        for name in ["cn=Chloë,o=test", "cn=a,o=test", ""] {
            for long in [false, true] {
                let good = entry(name, attributes, long);
                assert!(plain_parts(&good).is_some(), "{name} {long}");
                for at in 0..good.len() {
                    let mut octets = good.clone();
                    for change in [0, 1, 2, 0x04, 0x30, 0x31, 0x7F, 0x80, 0x81, 0x82, 0xFF, good[at] ^ 1] {
                        octets[at] = change;
                        if let Some(parts) = plain_parts(&octets) {
                            assert_eq!(any_parts(&octets).unwrap(), parts, "{octets:02x?}");
                        }
                    }
                    assert!(plain_parts(&good[..at]).is_none() && any_parts(&good[..at]).is_err());
                }
            }
        }
    }

    #[test]
    fn parts_of_an_entry() {
        for long in [false, true] {
            let values: &[(&str, &[&str])] = &[("cn", &["a"]), ("member;range=0-1", &["x", "y"])];
            let entry = Entry::new(entry("o=test", values, long).into()).unwrap();
            assert_eq!(entry.dn(), "o=test");
            assert!(entry.is_ranged() && !entry.has_controls());
            assert_eq!(entry.values("member;range=0-1").collect::<Vec<_>>(), [b"x", b"y"]);
            assert_eq!(entry.attributes().count(), 2);
        }
        assert!(!Entry::new(entry("o=test", &[("x-2", &["a"])], false).into()).unwrap().is_ranged());
    }
}
