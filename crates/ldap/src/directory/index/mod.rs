//! Indexes: which entries may have a value. They give candidates; the filter itself decides.

mod ids;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::hash::{BuildHasher, BuildHasherDefault, Hash, Hasher, RandomState};
use std::ops::Bound;
use std::str::FromStr;

use super::entry::{Stored, is_described};
use crate::error::{Error, ErrorKind, Result};
use crate::filter::condition::Condition;
use crate::matching::{Parts, Rule};
use crate::schema::Schema;
pub(super) use ids::Ids;

/// An attribute with the kinds of its indexes, as `uid:eq` or `cn:eq,sub,pres,ord`.
///
/// Without a kind it is `eq`. Options of an attribute share the index of the attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexSpec {
    pub(super) attribute: String,
    equality: bool,
    substrings: bool,
    presence: bool,
    ordering: bool,
}

impl FromStr for IndexSpec {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let fault = |message: String| Error::new(ErrorKind::Usage, message);
        let (attribute, kinds) = text.split_once(':').unwrap_or((text, "eq"));
        let is_name = |octet: u8| octet.is_ascii_alphanumeric() || matches!(octet, b'-' | b'.' | b'_');
        if attribute.is_empty() || !attribute.bytes().all(is_name) {
            return Err(fault(format!("index `{text}`: an attribute without options expected")));
        }
        let attribute = attribute.to_ascii_lowercase();
        let mut spec =
            Self { attribute, equality: false, substrings: false, presence: false, ordering: false };
        for kind in kinds.split(',') {
            match kind {
                "eq" => spec.equality = true,
                "sub" => spec.substrings = true,
                "pres" => spec.presence = true,
                "ord" => spec.ordering = true,
                _ => return Err(fault(format!("unknown kind of index `{kind}`; known: eq, sub, pres, ord"))),
            }
        }
        Ok(spec)
    }
}

/// The indexes of every directory.
const DEFAULT: [&str; 12] = [
    "objectClass:eq",
    "entryUUID:eq",
    "uid:eq,pres",
    "mail:eq,pres",
    "member:eq,pres",
    "uniqueMember:eq,pres",
    "memberOf:eq,pres",
    "uidNumber:eq,ord",
    "gidNumber:eq,ord",
    "sAMAccountName:eq",
    "cn:eq,sub",
    "sn:eq,sub",
];

/// All indexes of a directory.
#[derive(Debug)]
pub(super) struct Index {
    attributes: Vec<Indexed>,
    /// Keyed, so that nobody can prepare values that share a hash.
    hasher: RandomState,
    buffer: Vec<u8>,
    /// Whether changes are left out, as all entries are inserted behind them.
    suspended: bool,
}

/// The indexes of an attribute.
#[derive(Debug)]
struct Indexed {
    /// In lower case.
    name: String,
    rule: Rule,
    /// By the hash of the normalized value.
    equality: Option<HashMap<u64, Ids, BuildHasherDefault<Hashed>>>,
    /// By three octets of a normalized value, which has a zero before and behind it.
    grams: Option<HashMap<u32, Ids, BuildHasherDefault<Hashed>>>,
    presence: Option<Option<Ids>>,
    ordering: Option<BTreeMap<Box<[u8]>, Ids>>,
}

/// Takes numbers that are hashes already, and grams.
#[derive(Default)]
struct Hashed(u64);

impl Hasher for Hashed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {}

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }

    fn write_u32(&mut self, gram: u32) {
        // Fibonacci hashing: the map takes its buckets from either end of the number.
        self.0 = u64::from(gram).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.0 ^= self.0 >> 32;
    }
}

impl Default for Index {
    fn default() -> Self {
        let mut index =
            Self { attributes: Vec::new(), hasher: RandomState::new(), buffer: Vec::new(), suspended: false };
        // The list is our own, and a test reads it.
        DEFAULT.iter().filter_map(|text| text.parse().ok()).for_each(|spec| index.declare(&spec));
        index
    }
}

impl Index {
    /// Adds indexes; entries that are there have to be inserted again.
    pub(super) fn declare(&mut self, spec: &IndexSpec) {
        let index = self.attributes.iter().position(|known| known.name == spec.attribute);
        let index = index.unwrap_or_else(|| {
            let (name, rule) = (spec.attribute.clone(), Rule::of_attribute(&spec.attribute));
            self.attributes.push(Indexed {
                name,
                rule,
                equality: None,
                grams: None,
                presence: None,
                ordering: None,
            });
            self.attributes.len() - 1
        });
        let Some(indexed) = self.attributes.get_mut(index) else { return };
        if spec.equality {
            indexed.equality.get_or_insert_default();
        }
        if spec.substrings {
            indexed.grams.get_or_insert_default();
        }
        if spec.presence {
            indexed.presence.get_or_insert_default();
        }
        if spec.ordering {
            indexed.ordering.get_or_insert_default();
        }
    }

    /// Compares values as a schema says; where that is another way than before, all entries have to be inserted again.
    pub(super) fn set_rules(&mut self, schema: &Schema) {
        for indexed in &mut self.attributes {
            let rule = schema.matching(&indexed.name);
            if rule != indexed.rule {
                indexed.rule = rule;
                indexed.clear();
            }
        }
    }

    /// Takes all entries out.
    pub(super) fn clear(&mut self) {
        self.attributes.iter_mut().for_each(Indexed::clear);
    }

    /// Follows no change until all entries are inserted by [`Self::fill`].
    pub(super) const fn suspend(&mut self) {
        self.suspended = true;
    }

    /// Inserts many entries into indexes that are empty or follow no change: keys are sorted, so that each set is made at once.
    pub(super) fn fill<'s>(&mut self, entries: impl Iterator<Item = &'s Stored>) {
        self.suspended = false;
        self.clear();
        let Self { attributes, hasher, buffer, .. } = self;
        let mut waiting: Vec<Waiting> = attributes.iter().map(|_| Waiting::default()).collect();
        let mut count = 0_usize;
        for stored in entries {
            each_value(attributes, stored, |at, indexed, value| {
                let Some(waiting) = waiting.get_mut(at) else { return };
                indexed.rule.normalize_into(value, buffer);
                if indexed.equality.is_some() {
                    waiting.equality.push((hasher.hash_one(buffer.as_slice()), stored.id));
                }
                if indexed.grams.is_some() {
                    each_gram(buffer, |gram| waiting.grams.push((gram, stored.id)));
                }
                indexed.insert_rare(stored.id, buffer);
            });
            count += 1;
            if count.is_multiple_of(BULK) {
                settle(attributes, &mut waiting);
            }
        }
        settle(attributes, &mut waiting);
    }

    pub(super) fn insert(&mut self, stored: &Stored) {
        if self.suspended {
            return;
        }
        let Self { attributes, hasher, buffer, .. } = self;
        each_value(attributes, stored, |_, indexed, value| indexed.insert(stored.id, value, hasher, buffer));
    }

    pub(super) fn remove(&mut self, stored: &Stored) {
        if self.suspended {
            return;
        }
        let Self { attributes, hasher, buffer, .. } = self;
        each_value(attributes, stored, |_, indexed, value| indexed.remove(stored.id, value, hasher, buffer));
    }

    /// Follows a change of an entry, of which attributes with these names may differ.
    pub(super) fn update(&mut self, before: &Stored, now: &Stored, touched: &[&str]) {
        if self.suspended {
            return;
        }
        let Self { attributes, hasher, buffer, .. } = self;
        let is_touched =
            |indexed: &&mut Indexed| touched.iter().any(|name| is_described(name, &indexed.name));
        for indexed in attributes.iter_mut().filter(is_touched) {
            let (old, new) = (indexed.octets_of(before), indexed.octets_of(now));
            // A value that goes takes the number of the entry with it, also where another value needs it. That cannot be where
            // values of one attribute are whole keys: they differ. For others, all that stay are inserted again.
            let has_options = now
                .attributes()
                .any(|attribute| attribute.name.contains(';') && is_described(attribute.name, &indexed.name));
            let again = indexed.grams.is_some() || has_options;
            old.difference(&new).for_each(|value| indexed.remove(before.id, value, hasher, buffer));
            let added = new.iter().filter(|value| again || !old.contains(*value));
            added.for_each(|value| indexed.insert(now.id, value, hasher, buffer));
            if let (Some(presence), false) = (&mut indexed.presence, new.is_empty()) {
                presence.get_or_insert(Ids::One(now.id)).insert(now.id);
            }
        }
    }

    fn indexed(&self, description: &str) -> Option<&Indexed> {
        let name = description.split(';').next().unwrap_or_default();
        self.attributes.iter().find(|indexed| indexed.name.eq_ignore_ascii_case(name))
    }

    /// The most entries that a condition can select; nothing if no index tells.
    pub(super) fn estimate(&self, condition: &Condition) -> Option<usize> {
        match condition {
            Condition::And(list) => list.iter().filter_map(|part| self.estimate(part)).min(),
            Condition::Or(list) => {
                list.iter().try_fold(0_usize, |sum, part| Some(sum.saturating_add(self.estimate(part)?)))
            }
            Condition::Equal { name, key, .. } => {
                Some(self.indexed(name)?.equal(key, &self.hasher)?.map_or(0, Ids::len))
            }
            Condition::Present { name } => {
                Some(self.indexed(name)?.presence.as_ref()?.as_ref().map_or(0, Ids::len))
            }
            Condition::Substrings { name, parts, .. } => {
                let grams = self.indexed(name)?.sets_of(parts)?;
                Some(grams.map_or(0, |sets| sets.first().map_or(0, |ids| ids.len())))
            }
            Condition::AtLeast { name, key, .. } | Condition::AtMost { name, key, .. } => {
                let at_least = matches!(condition, Condition::AtLeast { .. });
                let sets = self.indexed(name)?.range(key, at_least)?;
                Some(sets.map(Ids::len).sum())
            }
            Condition::Not(_) | Condition::Extensible(_) | Condition::Undefined => None,
            Condition::Never => Some(0),
        }
    }

    /// Collects numbers of entries, among them all that a condition selects; false if no index tells.
    pub(super) fn collect(&self, condition: &Condition, out: &mut Vec<u32>) -> bool {
        match condition {
            Condition::And(list) => {
                let best = list.iter().filter_map(|part| Some((self.estimate(part)?, part)));
                best.min_by_key(|(count, _)| *count).is_some_and(|(_, part)| self.collect(part, out))
            }
            Condition::Or(list) => list.iter().all(|part| self.collect(part, out)),
            Condition::Equal { name, key, .. } => {
                let found = self.indexed(name).and_then(|indexed| indexed.equal(key, &self.hasher));
                found.map(|ids| out.extend(ids.into_iter().flat_map(Ids::iter))).is_some()
            }
            Condition::Present { name } => {
                let found = self.indexed(name).and_then(|indexed| indexed.presence.as_ref());
                found.map(|ids| out.extend(ids.iter().flat_map(Ids::iter))).is_some()
            }
            Condition::Substrings { name, parts, .. } => {
                let Some(found) = self.indexed(name).and_then(|indexed| indexed.sets_of(parts)) else {
                    return false;
                };
                if let Some((smallest, others)) = found.as_deref().and_then(<[_]>::split_first) {
                    // Two more grams leave few that the text does not have.
                    let others = others.get(..others.len().min(2)).unwrap_or_default();
                    out.extend(smallest.iter().filter(|id| others.iter().all(|set| set.contains(*id))));
                }
                true
            }
            Condition::AtLeast { name, key, .. } | Condition::AtMost { name, key, .. } => {
                let at_least = matches!(condition, Condition::AtLeast { .. });
                let found = self.indexed(name).and_then(|indexed| indexed.range(key, at_least));
                found.map(|sets| out.extend(sets.flat_map(Ids::iter))).is_some()
            }
            Condition::Not(_) | Condition::Extensible(_) | Condition::Undefined => false,
            Condition::Never => true,
        }
    }
}

/// Keys of values that are not in their sets yet, each with the number of an entry.
#[derive(Debug, Default)]
struct Waiting {
    equality: Vec<(u64, u32)>,
    grams: Vec<(u32, u32)>,
}

/// Entries whose keys wait at a time. Tests have few.
const BULK: usize = if cfg!(test) { 100 } else { 1 << 16 };

/// Puts keys that wait into their sets.
fn settle(attributes: &mut [Indexed], waiting: &mut [Waiting]) {
    for (indexed, waiting) in attributes.iter_mut().zip(waiting) {
        indexed.equality.iter_mut().for_each(|map| merge(map, &mut waiting.equality));
        indexed.grams.iter_mut().for_each(|map| merge(map, &mut waiting.grams));
    }
}

fn merge<K: Ord + Copy + Hash>(
    map: &mut HashMap<K, Ids, BuildHasherDefault<Hashed>>,
    waiting: &mut Vec<(K, u32)>,
) {
    waiting.sort_unstable();
    waiting.dedup();
    for group in waiting.chunk_by(|(one, _), (other, _)| one == other) {
        let Some(((key, first), others)) = group.split_first() else { continue };
        let ids = map.entry(*key).or_insert(Ids::One(*first));
        ids.insert(*first);
        ids.reserve(others.len());
        others.iter().for_each(|(_, id)| ids.insert(*id));
    }
    waiting.clear();
}

/// Calls a function with each value of an entry that is in an index, and with the place of the index.
fn each_value(attributes: &mut [Indexed], stored: &Stored, mut each: impl FnMut(usize, &mut Indexed, &[u8])) {
    for attribute in stored.attributes() {
        let found = attributes.iter().position(|indexed| is_described(attribute.name, &indexed.name));
        let Some((at, indexed)) = found.and_then(|at| Some((at, attributes.get_mut(at)?))) else { continue };
        attribute.values().for_each(|value| each(at, indexed, value));
    }
    let uuid = attributes.iter().position(|indexed| indexed.name == "entryuuid");
    if let Some((at, indexed)) = uuid.and_then(|at| Some((at, attributes.get_mut(at)?)))
        && let Some(uuid) = stored.operational("entryUUID")
    {
        each(at, indexed, &uuid);
    }
}

impl Indexed {
    fn clear(&mut self) {
        self.equality.iter_mut().for_each(HashMap::clear);
        self.grams.iter_mut().for_each(HashMap::clear);
        self.ordering.iter_mut().for_each(BTreeMap::clear);
        self.presence.iter_mut().for_each(|ids| *ids = None);
    }

    fn octets_of<'s>(&self, stored: &'s Stored) -> HashSet<&'s [u8]> {
        let attributes = stored.attributes().filter(|attribute| is_described(attribute.name, &self.name));
        attributes.flat_map(|attribute| attribute.values()).collect()
    }

    fn insert(&mut self, id: u32, value: &[u8], hasher: &RandomState, buffer: &mut Vec<u8>) {
        self.rule.normalize_into(value, buffer);
        if let Some(map) = &mut self.equality {
            map.entry(hasher.hash_one(buffer.as_slice())).or_insert(Ids::One(id)).insert(id);
        }
        if let Some(map) = &mut self.grams {
            each_gram(buffer, |gram| map.entry(gram).or_insert(Ids::One(id)).insert(id));
        }
        self.insert_rare(id, buffer);
    }

    /// Inserts a normalized value into the indexes that few attributes have.
    fn insert_rare(&mut self, id: u32, value: &[u8]) {
        if let Some(map) = &mut self.ordering {
            map.entry(sortable(self.rule, value)).or_insert(Ids::One(id)).insert(id);
        }
        if let Some(presence) = &mut self.presence {
            presence.get_or_insert(Ids::One(id)).insert(id);
        }
    }

    fn remove(&mut self, id: u32, value: &[u8], hasher: &RandomState, buffer: &mut Vec<u8>) {
        self.rule.normalize_into(value, buffer);
        if let Some(map) = &mut self.equality {
            let hash = hasher.hash_one(buffer.as_slice());
            if map.get_mut(&hash).is_some_and(|ids| ids.remove(id)) {
                map.remove(&hash);
            }
        }
        if let Some(map) = &mut self.grams {
            each_gram(buffer, |gram| {
                if map.get_mut(&gram).is_some_and(|ids| ids.remove(id)) {
                    map.remove(&gram);
                }
            });
        }
        if let Some(map) = &mut self.ordering {
            let key = sortable(self.rule, buffer);
            if map.get_mut(&key).is_some_and(|ids| ids.remove(id)) {
                map.remove(&key);
            }
        }
        // The values that stay are inserted again after that.
        if let Some(presence) = &mut self.presence
            && presence.as_mut().is_some_and(|ids| ids.remove(id))
        {
            *presence = None;
        }
    }

    /// The entries that may have a value; `None` if there is no such index.
    fn equal(&self, key: &[u8], hasher: &RandomState) -> Option<Option<&Ids>> {
        Some(self.equality.as_ref()?.get(&hasher.hash_one(key)))
    }

    /// The sets of entries of each gram of some substrings, the smallest first; the inner `None` if a gram has no entry, the outer
    /// one if there is no such index, or no gram.
    fn sets_of(&self, parts: &Parts) -> Option<Option<Vec<&Ids>>> {
        let map = self.grams.as_ref()?;
        let mut grams = Vec::new();
        let mut text = Vec::new();
        let mut all = |before: bool, part: &[u8], behind: bool| {
            text.clear();
            text.extend(before.then_some(0));
            text.extend_from_slice(part);
            text.extend(behind.then_some(0));
            grams.extend(text.windows(3).map(gram));
        };
        parts.initial.iter().for_each(|part| all(true, part, false));
        parts.any.iter().for_each(|part| all(false, part, false));
        parts.last.iter().for_each(|part| all(false, part, true));
        if grams.is_empty() {
            return None;
        }
        grams.sort_unstable();
        grams.dedup();
        let mut sets = Vec::with_capacity(grams.len());
        for gram in grams {
            match map.get(&gram) {
                Some(ids) => sets.push(ids),
                None => return Some(None),
            }
        }
        sets.sort_by_key(|ids| ids.len());
        Some(Some(sets))
    }

    fn range(&self, key: &[u8], at_least: bool) -> Option<impl Iterator<Item = &Ids>> {
        let key = sortable(self.rule, key);
        let bounds = if at_least {
            (Bound::Included(key), Bound::Unbounded)
        } else {
            (Bound::Unbounded, Bound::Included(key))
        };
        Some(self.ordering.as_ref()?.range(bounds).map(|(_, ids)| ids))
    }
}

fn gram(octets: &[u8]) -> u32 {
    octets.iter().fold(0, |gram, octet| gram << 8 | u32::from(*octet))
}

/// Grams of a text of at most so many octets are kept; those of a longer one would fill the memory.
const TEXT: usize = 4096;

/// Calls a function with each gram of a normalized value, which gets a zero at either end.
fn each_gram(value: &[u8], mut each: impl FnMut(u32)) {
    let Some(next) = value.first() else { return };
    let shift = |gram: u32, octet: &u8| (gram << 8 | u32::from(*octet)) & 0xFF_FFFF;
    let mut last = u32::from(*next);
    let rest = value.iter().skip(1).chain(&[0]);
    let grams = rest.map(|octet| {
        last = shift(last, octet);
        last
    });
    if value.len() + 2 > TEXT {
        let grams: BTreeSet<u32> = grams.collect();
        grams.into_iter().for_each(each);
    } else {
        grams.for_each(&mut each);
    }
}

/// A normalized value as octets whose order is that of the rule.
fn sortable(rule: Rule, value: &[u8]) -> Box<[u8]> {
    if rule != Rule::Integer {
        return value.into();
    }
    let (negative, digits) = match value.split_first() {
        Some((b'-', digits)) => (true, digits),
        _ => (false, value),
    };
    let length = u32::try_from(digits.len()).unwrap_or(u32::MAX).to_be_bytes();
    let mut key = vec![if negative { 0 } else { 1 }];
    let octets = length.iter().chain(digits);
    if negative {
        key.extend(octets.map(|octet| !octet));
    } else {
        key.extend(octets);
    }
    key.into_boxed_slice()
}

#[cfg(test)]
mod tests {
    use super::super::entry::Origin;
    use super::*;
    use crate::Filter;

    #[test]
    fn specifications() {
        for text in DEFAULT {
            text.parse::<IndexSpec>().unwrap();
        }
        let spec: IndexSpec = "CN:eq,sub,pres,ord".parse().unwrap();
        assert!(spec.attribute == "cn" && spec.equality && spec.substrings && spec.presence && spec.ordering);
        assert_eq!("cn".parse::<IndexSpec>().unwrap(), "cn:eq".parse().unwrap());
        for wrong in ["", ":eq", "cn:", "cn:foo", "cn;lang-de:eq", "c n:eq"] {
            assert!(wrong.parse::<IndexSpec>().is_err(), "{wrong}");
        }
    }

    /// Entries whose values are alike: most words and grams are in several of them, in any order.
    fn entries(count: u32) -> Vec<Stored> {
        let words = ["ada", "Bob  Ada", "abracadabra", "ö", "x", "", "dab"];
        let word = |id: u32| words[(id * 7 % 11 % 7) as usize].as_bytes().to_vec();
        let entry = |id: u32| {
            let name = format!("uid=u{},o=test", id % 40);
            let attributes = vec![
                ("objectClass".to_owned(), vec![b"person".to_vec()]),
                ("uid".to_owned(), vec![format!("u{}", id % 40).into_bytes()]),
                ("cn".to_owned(), vec![word(id), word(id + 1)]),
                ("cn;lang-en".to_owned(), vec![word(id + 3)]),
                ("uidNumber".to_owned(), vec![(id % 50).to_string().into_bytes()]),
                ("description".to_owned(), vec![word(id)]),
            ];
            let origin = Origin { id, serial: u64::from(id), changed: 1, created: 0, modified: 0 };
            Stored::new(&name, format!("o=test\0u{id}\0").as_bytes(), &attributes, origin)
        };
        (0..count).map(entry).collect()
    }

    #[test]
    fn filled_at_once_as_one_by_one() {
        let entries = entries(950);
        let (mut filled, mut inserted) = (Index::default(), Index::default());
        filled.suspend();
        entries.iter().for_each(|stored| filled.insert(stored));
        filled.fill(entries.iter());
        entries.iter().for_each(|stored| inserted.insert(stored));
        let mut found = 0;
        for text in [
            "(objectClass=person)",
            "(uid=u7)",
            "(uid=*)",
            "(cn=ada)",
            "(cn=bob ada)",
            "(cn=*dab*)",
            "(cn=ab*ra)",
            "(cn=abr*)",
            "(uidNumber>=12)",
            "(uidNumber<=7)",
            "(cn=nobody)",
            "(entryUUID=00000000-0000-4000-8000-000000000007)",
        ] {
            let filter: Filter<'_> = text.parse().unwrap();
            let condition = Condition::new(&filter, None, &|_| true);
            let ids = |index: &Index| {
                let mut ids = Vec::new();
                assert!(index.collect(&condition, &mut ids), "{text}");
                ids.sort_unstable();
                ids
            };
            assert_eq!(ids(&filled), ids(&inserted), "{text}");
            assert_eq!(filled.estimate(&condition), inserted.estimate(&condition), "{text}");
            found += ids(&filled).len();
        }
        assert!(found > 2_000, "{found}");
    }

    #[test]
    fn integers_sort_as_numbers() {
        let numbers =
            ["-100", "-99", "-10", "-9", "-1", "0", "1", "9", "10", "99", "100", "12345678901234567890"];
        let keys: Vec<_> = numbers.iter().map(|number| sortable(Rule::Integer, number.as_bytes())).collect();
        assert!(keys.is_sorted());
    }
}
