//! An entry as the directory keeps it: the octets that answers are made of, and what the directory itself knows of it.

use std::borrow::{Borrow, Cow};
use std::cmp::Ordering;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::SystemTime;

use crate::dn::{Dn, short_type};
use crate::entry::apply::add_values;
use crate::filter::condition::{Budget, Ended, Subject, price};
use crate::matching::Rule;
use crate::proto::element::{Elements, tag};

/// An attribute with its values.
pub(super) type Attribute = (String, Vec<Vec<u8>>);

/// An entry. It does not change: a modification makes another one.
#[derive(Debug)]
pub(super) struct Stored {
    /// The place of the entry, then the contents of its SearchResultEntry: `objectName` and `attributes`.
    octets: Box<[u8]>,
    place: u32,
    /// Number of the entry in the store.
    pub(super) id: u32,
    /// Number that the entry keeps when it is renamed, for its `entryUUID`.
    pub(super) serial: u64,
    /// Number of the change of the directory that made the entry what it is.
    pub(super) changed: u64,
    created: u64,
    modified: u64,
    is_referral: bool,
    has_password: bool,
    /// Whether attributes are there that are shown only if they are asked for.
    has_hidden: bool,
}

/// What the directory knows of an entry besides its attributes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Origin {
    pub(super) id: u32,
    pub(super) serial: u64,
    pub(super) changed: u64,
    /// Microseconds since 1970.
    pub(super) created: u64,
    pub(super) modified: u64,
}

/// Octets before those of an entry on disk: five numbers.
#[cfg(feature = "store")]
const KEPT_HEAD: usize = 40;

/// Names of the attributes that the directory keeps itself.
pub(super) const OPERATIONAL: [&str; 6] =
    ["entryDN", "entryUUID", "createTimestamp", "modifyTimestamp", "subschemaSubentry", "entryCSN"];

/// Names of attributes that servers keep themselves and this one has not: they may be loaded, and are shown as those of the directory are.
pub(super) const OF_SERVERS: [&str; 5] =
    ["creatorsName", "modifiersName", "structuralObjectClass", "governingStructureRule", "hasSubordinates"];

/// Whether an attribute is shown only if it, or all of the directory, is asked for.
pub(super) fn is_hidden(name: &str) -> bool {
    super::policy::is_state(name)
        || OPERATIONAL.into_iter().chain(OF_SERVERS).any(|known| known.eq_ignore_ascii_case(name))
}

/// The attribute that is hidden from all users but the root user.
pub(super) const PASSWORD: &str = "userPassword";

/// Checks whether an attribute description is that of [`PASSWORD`], by name or object identifier, with any options.
pub(super) fn is_password(description: &str) -> bool {
    let name = description.split(';').next().unwrap_or_default();
    name.eq_ignore_ascii_case(PASSWORD) || name == "2.5.4.35"
}

/// Checks whether an attribute is what a description asks for: the same, or the same with options.
pub(super) fn is_described(name: &str, description: &str) -> bool {
    let Some(head) = name.as_bytes().get(..description.len()) else { return false };
    head.eq_ignore_ascii_case(description.as_bytes())
        && match name.as_bytes().get(description.len()) {
            None => true,
            Some(b';') => !description.contains(';'),
            Some(_) => false,
        }
}

/// Returns where an entry stands: the normalized RDNs from the root on, each with a zero behind it, so that a subtree is a range.
/// Normalized RDNs contain no zero.
pub(super) fn place(dn: &Dn) -> Vec<u8> {
    let mut place = Vec::with_capacity(64);
    for rdn in dn.rdns().iter().rev() {
        place.extend_from_slice(rdn.normalized().as_bytes());
        place.push(0);
    }
    place
}

/// Number of RDNs of a place.
pub(super) fn depth(place: &[u8]) -> usize {
    memchr::memchr_iter(0, place).count()
}

/// Microseconds since 1970.
pub(super) fn now() -> u64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_micros()).unwrap_or(u64::MAX)
}

/// The `entryUUID` of an entry.
pub(super) fn uuid(serial: u64) -> [u8; 16] {
    (0x0000_0000_0000_4000_8000_0000_0000_0000_u128 | u128::from(serial & 0xFFFF_FFFF_FFFF)).to_be_bytes()
}

impl Stored {
    pub(super) fn new(name: &str, place: &[u8], attributes: &[Attribute], origin: Origin) -> Self {
        let values_size = |values: &[Vec<u8>]| values.iter().map(|value| element_size(value.len())).sum();
        let sizes: Vec<(usize, usize)> = attributes
            .iter()
            .map(|(name, values)| {
                let set: usize = values_size(values);
                (element_size(name.len()) + element_size(set), set)
            })
            .collect();
        let list: usize = sizes.iter().map(|(attribute, _)| element_size(*attribute)).sum();
        let mut octets = Vec::with_capacity(place.len() + element_size(name.len()) + element_size(list));
        octets.extend_from_slice(place);
        element(&mut octets, tag::OCTET_STRING, name.as_bytes());
        head(&mut octets, tag::SEQUENCE, list);
        for ((name, values), (attribute, set)) in attributes.iter().zip(sizes) {
            head(&mut octets, tag::SEQUENCE, attribute);
            element(&mut octets, tag::OCTET_STRING, name.as_bytes());
            head(&mut octets, tag::SET, set);
            for value in values {
                element(&mut octets, tag::OCTET_STRING, value);
            }
        }
        let has_class = |class: &[u8]| {
            let classes = attributes.iter().filter(|(name, _)| is_described(name, "objectClass"));
            classes.flat_map(|(_, values)| values).any(|value| value.eq_ignore_ascii_case(class))
        };
        let Origin { id, serial, changed, created, modified } = origin;
        Self {
            octets: octets.into_boxed_slice(),
            // A DN is a part of a message of at most 16 MiB, or of a line of LDIF of at most 64 MiB.
            place: u32::try_from(place.len()).unwrap_or_default(),
            id,
            serial,
            changed,
            created,
            modified,
            is_referral: has_class(b"referral"),
            has_password: attributes.iter().any(|(name, _)| is_password(name)),
            has_hidden: attributes.iter().any(|(name, _)| is_hidden(name)),
        }
    }

    /// The octets by which the entry is kept on disk; its number is kept beside them.
    #[cfg(feature = "store")]
    pub(super) fn to_kept(&self) -> Vec<u8> {
        let mut kept = Vec::with_capacity(KEPT_HEAD + self.octets.len());
        for number in [self.serial, self.changed, self.created, self.modified, u64::from(self.place)] {
            kept.extend_from_slice(&number.to_le_bytes());
        }
        kept.extend_from_slice(&self.octets);
        kept
    }

    /// Reads an entry from disk; nothing if it is damaged.
    #[cfg(feature = "store")]
    pub(super) fn of_kept(id: u32, kept: &[u8]) -> Option<Self> {
        let number = |at: usize| kept.get(at * 8..at * 8 + 8)?.try_into().ok().map(u64::from_le_bytes);
        let octets = kept.get(KEPT_HEAD..)?;
        let place_size = usize::try_from(number(4)?).ok()?;
        let (place_octets, contents) = octets.split_at_checked(place_size)?;
        let mut parts = Elements::new(contents, 0);
        let name = std::str::from_utf8(parts.expect(tag::OCTET_STRING, "objectName").ok()?).ok()?;
        let mut list = Elements::new(parts.expect(tag::SEQUENCE, "attributes").ok()?, 0);
        let mut attributes: Vec<Attribute> = Vec::new();
        while let Some((identifier, attribute)) = list.next().ok()? {
            let mut parts = Elements::new(attribute, 0);
            let description = std::str::from_utf8(parts.expect(tag::OCTET_STRING, "type").ok()?).ok()?;
            let mut set = Elements::new(parts.expect(tag::SET, "vals").ok()?, 0);
            let mut values = Vec::new();
            while let Some((identifier, value)) = set.next().ok()? {
                if identifier != tag::OCTET_STRING {
                    return None;
                }
                values.push(value.to_vec());
            }
            if identifier != tag::SEQUENCE || values.is_empty() {
                return None;
            }
            attributes.push((description.to_owned(), values));
        }
        if place(&name.parse().ok()?) != place_octets {
            return None;
        }
        let origin =
            Origin { id, serial: number(0)?, changed: number(1)?, created: number(2)?, modified: number(3)? };
        Some(Self::new(name, place_octets, &attributes, origin))
    }

    pub(super) const fn origin(&self) -> Origin {
        let Self { id, serial, changed, created, modified, .. } = *self;
        Origin { id, serial, changed, created, modified }
    }

    /// Where the entry stands.
    pub(super) fn place(&self) -> &[u8] {
        self.octets.get(..self.place as usize).unwrap_or_default()
    }

    /// The contents of the SearchResultEntry with all attributes of users.
    pub(super) fn contents(&self) -> &[u8] {
        self.octets.get(self.place as usize..).unwrap_or_default()
    }

    /// The name as it was given.
    pub(super) fn name(&self) -> &str {
        let name = Elements::new(self.contents(), 0).expect(tag::OCTET_STRING, "objectName");
        std::str::from_utf8(name.unwrap_or_default()).unwrap_or_default()
    }

    pub(super) fn dn(&self) -> Dn {
        self.name().parse().unwrap_or_default()
    }

    /// The attributes of users.
    pub(super) fn attributes(&self) -> Attributes<'_> {
        let mut parts = Elements::new(self.contents(), 0);
        _ = parts.expect(tag::OCTET_STRING, "objectName");
        Attributes(Elements::new(parts.expect(tag::SEQUENCE, "attributes").unwrap_or_default(), 0))
    }

    /// The values of attributes of users that a description asks for.
    pub(super) fn values<'s>(&'s self, description: &str) -> impl Iterator<Item = &'s [u8]> {
        self.attributes()
            .filter(move |attribute| is_described(attribute.name, description))
            .flat_map(|attribute| attribute.values())
    }

    /// The attributes of users, to be changed.
    pub(super) fn to_attributes(&self) -> Vec<Attribute> {
        let owned = |attribute: AttributeRef<'_>| {
            (attribute.name.to_owned(), attribute.values().map(<[u8]>::to_vec).collect())
        };
        self.attributes().map(owned).collect()
    }

    /// The value of an attribute that the directory keeps itself.
    pub(super) fn operational(&self, name: &str) -> Option<Cow<'_, [u8]>> {
        let owned = |text: String| Some(Cow::Owned(text.into_bytes()));
        match OPERATIONAL.iter().position(|known| known.eq_ignore_ascii_case(name))? {
            0 => Some(Cow::Borrowed(self.name().as_bytes())),
            1 => owned(format!("00000000-0000-4000-8000-{:012x}", self.serial & 0xFFFF_FFFF_FFFF)),
            2 => owned(timestamp(self.created, false)),
            3 => owned(timestamp(self.modified, false)),
            4 => Some(Cow::Borrowed(super::subschema::NAME.as_bytes())),
            _ => {
                let mut text = timestamp(self.modified, true);
                _ = write!(text, "#{:06x}#000#000000", self.changed & 0xFF_FFFF);
                owned(text)
            }
        }
    }

    pub(super) const fn is_referral(&self) -> bool {
        self.is_referral
    }

    pub(super) const fn has_hidden(&self) -> bool {
        self.has_hidden
    }

    pub(super) const fn has_password(&self) -> bool {
        self.has_password
    }
}

/// A time as GeneralizedTime in UTC, with microseconds or without fraction.
pub(super) fn timestamp(micros: u64, with_fraction: bool) -> String {
    let (seconds, fraction) = (micros / 1_000_000, micros % 1_000_000);
    let (days, of_day) = (seconds / 86_400, seconds % 86_400);
    // Days to a date, by eras of 400 years that begin in March (as in Howard Hinnant's `civil_from_days`).
    let shifted = days + 719_468;
    let (era, of_era) = (shifted / 146_097, shifted % 146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let (month, carry) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    let year = year + era * 400 + carry;
    let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    let mut text = format!("{year:04}{month:02}{day:02}{hour:02}{minute:02}{second:02}");
    if with_fraction {
        _ = write!(text, ".{fraction:06}");
    }
    text.push('Z');
    text
}

/// Entries by their place.
#[derive(Clone, Debug)]
pub(super) struct ByPlace(pub(super) Arc<Stored>);

impl Borrow<[u8]> for ByPlace {
    fn borrow(&self) -> &[u8] {
        self.0.place()
    }
}

impl Ord for ByPlace {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.place().cmp(other.0.place())
    }
}

impl PartialOrd for ByPlace {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for ByPlace {
    fn eq(&self, other: &Self) -> bool {
        self.0.place() == other.0.place()
    }
}

impl Eq for ByPlace {}

/// An attribute in the octets of an entry.
#[derive(Clone, Copy, Debug)]
pub(super) struct AttributeRef<'s> {
    pub(super) name: &'s str,
    values: &'s [u8],
    /// The whole PartialAttribute.
    pub(super) octets: &'s [u8],
}

impl<'s> AttributeRef<'s> {
    pub(super) fn values(&self) -> impl Iterator<Item = &'s [u8]> + use<'s> {
        let mut values = Elements::new(self.values, 0);
        std::iter::from_fn(move || values.next().ok().flatten().map(|(_, value)| value))
    }
}

/// A walk over the attributes of an entry. The octets are our own, so that no fault can be met.
pub(super) struct Attributes<'s>(Elements<'s>);

impl<'s> Iterator for Attributes<'s> {
    type Item = AttributeRef<'s>;

    fn next(&mut self) -> Option<AttributeRef<'s>> {
        let before = self.0.rest();
        let attribute = self.0.expect(tag::SEQUENCE, "PartialAttribute").ok()?;
        let octets = before.get(..before.len() - self.0.rest().len())?;
        let mut parts = Elements::new(attribute, 0);
        let name = std::str::from_utf8(parts.expect(tag::OCTET_STRING, "type").ok()?).ok()?;
        Some(AttributeRef { name, values: parts.expect(tag::SET, "vals").ok()?, octets })
    }
}

/// Octets of the header of an element whose contents have this length.
const fn head_size(length: usize) -> usize {
    match length {
        0..0x80 => 2,
        0x80..0x100 => 3,
        0x100..0x1_0000 => 4,
        0x1_0000..0x100_0000 => 5,
        _ => 6,
    }
}

/// Octets of an element whose contents have this length.
pub(super) const fn element_size(length: usize) -> usize {
    head_size(length) + length
}

/// Writes the header of an element.
pub(super) fn head(out: &mut Vec<u8>, identifier: u8, length: usize) {
    let octets = u32::try_from(length).unwrap_or(u32::MAX).to_be_bytes();
    let count = head_size(length) - 2;
    out.push(identifier);
    if count == 0 {
        out.push(octets[3]);
    } else {
        out.push(0x80 | count as u8);
        out.extend_from_slice(octets.get(4 - count..).unwrap_or_default());
    }
}

/// Writes an element.
pub(super) fn element(out: &mut Vec<u8>, identifier: u8, contents: &[u8]) {
    head(out, identifier, contents.len());
    out.extend_from_slice(contents);
}

/// Adds the values of the name of an entry to its attributes.
pub(super) fn add_rdn_values(dn: &Dn, attributes: &mut Vec<Attribute>) {
    for ava in dn.rdns().first().into_iter().flat_map(|rdn| rdn.avas()) {
        let attribute = short_type(ava.attribute());
        // It is mostly there, and as it is in the name.
        let named = attributes.iter().find(|(name, _)| name.eq_ignore_ascii_case(attribute));
        if named.is_some_and(|(_, values)| values.iter().any(|value| value == ava.value())) {
            continue;
        }
        let rule = Rule::of_attribute(attribute);
        _ = add_values(attributes, attribute, vec![ava.value().to_vec()], rule);
    }
}

/// Removes the values of the name of an entry from its attributes.
pub(super) fn remove_rdn_values(dn: &Dn, attributes: &mut Vec<Attribute>) {
    for ava in dn.rdns().first().into_iter().flat_map(|rdn| rdn.avas()) {
        let attribute = short_type(ava.attribute());
        let rule = Rule::of_attribute(attribute);
        let key = rule.normalize(ava.value());
        for (_, values) in attributes.iter_mut().filter(|(name, _)| name.eq_ignore_ascii_case(attribute)) {
            values.retain(|value| rule.normalize(value) != key);
        }
    }
    attributes.retain(|(_, values)| !values.is_empty());
}

impl Subject for Stored {
    fn any(
        &self,
        description: &str,
        budget: &mut Budget,
        test: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Result<bool, Ended> {
        for attribute in self.attributes() {
            budget.spend(1)?;
            if !is_described(attribute.name, description) {
                continue;
            }
            for value in attribute.values() {
                budget.spend(price(value))?;
                if test(value) {
                    return Ok(true);
                }
            }
        }
        let Some(value) = self.operational(description) else { return Ok(false) };
        budget.spend(price(&value))?;
        Ok(test(&value))
    }

    fn dn(&self) -> Option<Cow<'_, Dn>> {
        Some(Cow::Owned(self.dn()))
    }
}

/// One value of an attribute, for filters on values (RFC 3876).
pub(super) struct Value<'v> {
    pub(super) name: &'v str,
    pub(super) octets: &'v [u8],
}

impl Subject for Value<'_> {
    fn any(
        &self,
        description: &str,
        budget: &mut Budget,
        test: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Result<bool, Ended> {
        budget.spend(price(self.octets))?;
        Ok(self.name.eq_ignore_ascii_case(description) && test(self.octets))
    }

    fn dn(&self) -> Option<Cow<'_, Dn>> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        for (seconds, text) in [
            (0, "19700101000000Z"),
            (951_782_400, "20000229000000Z"),
            (1_709_164_799, "20240228235959Z"),
            (4_102_444_800, "21000101000000Z"),
        ] {
            assert_eq!(timestamp(seconds * 1_000_000, false), text);
        }
        assert_eq!(timestamp(1_000_001, true), "19700101000001.000001Z");
    }

    #[test]
    fn attributes_come_back() {
        let attributes: Vec<Attribute> = vec![
            ("cn;lang-de".to_owned(), vec![vec![b'x'; 300], Vec::new()]),
            ("userPassword".to_owned(), vec![b"x".to_vec(); 5000]),
            ("objectClass".to_owned(), vec![b"REFERRAL".to_vec()]),
        ];
        let origin = Origin { id: 7, serial: 8, changed: 9, created: 0, modified: 0 };
        let dn: Dn = "CN=a\\00b,O=Test".parse().unwrap();
        let stored = Stored::new("CN=a\\00b,O=Test", &place(&dn), &attributes, origin);
        assert_eq!(stored.to_attributes(), attributes);
        assert_eq!((stored.name(), stored.dn()), ("CN=a\\00b,O=Test", dn));
        assert_eq!(stored.place(), b"o=test\0cn=a\\00b\0");
        assert_eq!(depth(stored.place()), 2);
        assert!(stored.is_referral() && stored.has_password());
        assert_eq!(stored.values("CN").count(), 2);
        assert_eq!(stored.values("cn;lang-en").count(), 0);
        let entry = [
            &[tag::SEARCH_ENTRY][..],
            &[0x82],
            &u16::try_from(stored.contents().len()).unwrap().to_be_bytes(),
            stored.contents(),
        ]
        .concat();
        crate::proto::element::check_subset(&entry, 10).unwrap();
    }
}
