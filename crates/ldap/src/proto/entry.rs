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

/// Where name, attributes and controls stand; all of the entry is looked at once.
#[inline]
fn parts(octets: &[u8]) -> Result<(Part, Part, Part, bool)> {
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
#[inline]
fn check_attributes(list: Elements<'_>) -> Result<bool> {
    match are_ranged(list.rest()) {
        Some(is_ranged) => Ok(is_ranged),
        None => find_fault(list),
    }
}

/// Returns whether one of the attributes has the option `range`; `None` if one is malformed.
#[inline]
fn are_ranged(mut list: &[u8]) -> Option<bool> {
    let mut is_ranged = false;
    while !list.is_empty() {
        let mut attribute = element::take(&mut list, tag::SEQUENCE)?;
        let description = element::take(&mut attribute, tag::OCTET_STRING)?;
        // One comparison for nearly all descriptions: a range ends with a digit or an asterisk.
        if matches!(description.last(), Some(b'0'..=b'9' | b'*')) {
            is_ranged |= has_range(description);
        }
        let mut values = element::take(&mut attribute, tag::SET)?;
        while !values.is_empty() {
            element::take(&mut values, tag::OCTET_STRING)?;
        }
    }
    Some(is_ranged)
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
