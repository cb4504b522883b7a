//! The entries, what changes them, and what has changed.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::hash::{BuildHasher as _, Hasher as _, RandomState};

use crate::dn::{Dn, Rdn};
use crate::ldif::{ModificationKind, RecordModification};
use crate::matching::Rule;
use crate::proto::{LdapResult, ResultCode};

/// An attribute with its values.
pub(super) type Attribute = (String, Vec<Vec<u8>>);

#[derive(Clone, Debug)]
pub(super) struct Stored {
    pub(super) dn: Dn,
    pub(super) name: String,
    pub(super) attributes: Vec<Attribute>,
    /// Attributes that the directory itself keeps.
    pub(super) operational: Vec<Attribute>,
    /// What stays when it is renamed.
    pub(super) serial: u64,
    /// The change of the directory that has made it what it is.
    pub(super) changed: u64,
}

/// Where an entry stands: the normalized RDNs from the root on, so that a subtree is a range.
type Place = Vec<String>;

/// Entries by their place.
#[derive(Debug)]
pub(super) struct Store {
    entries: BTreeMap<Place, Stored>,
    serial: u64,
    /// Number of changes until now.
    changes: u64,
    /// The last ones of them.
    log: VecDeque<Change>,
    /// Which directory this is: cookies of another are none of ours.
    pub(super) instance: u64,
}

/// Changes that are remembered. Who was away for more has to compare all entries.
const LOG: usize = 1024;

/// What a change did with one entry.
#[derive(Debug)]
struct Change {
    serial: u64,
    before: Option<Stored>,
    place: Option<Place>,
}

/// What several changes did with one entry.
#[derive(Clone, Copy, Debug)]
pub(super) struct Changed<'s> {
    pub(super) before: Option<&'s Stored>,
    pub(super) now: Option<&'s Stored>,
}

impl Default for Store {
    fn default() -> Self {
        let instance = RandomState::new().build_hasher().finish();
        Self { entries: BTreeMap::new(), serial: 0, changes: 0, log: VecDeque::new(), instance }
    }
}

pub(super) type Done<T = ()> = Result<T, LdapResult>;

fn fail<T>(code: ResultCode, message: impl Into<String>) -> Done<T> {
    Err(LdapResult::new(code).with_message(message))
}

pub(super) fn parse(dn: &str) -> Done<Dn> {
    dn.parse().map_err(|error: crate::Error| {
        LdapResult::new(ResultCode::INVALID_DN_SYNTAX).with_message(error.to_string())
    })
}

/// The `entryUUID` of an entry.
pub(super) fn uuid(serial: u64) -> [u8; 16] {
    (0x0000_0000_0000_4000_8000_0000_0000_0000_u128 | u128::from(serial & 0xFFFF_FFFF_FFFF)).to_be_bytes()
}

fn place(dn: &Dn) -> Place {
    dn.rdns().iter().rev().map(normalized).collect()
}

fn normalized(rdn: &Rdn) -> String {
    Dn::default().child(rdn.clone()).normalized()
}

impl Stored {
    /// The values of an attribute, of the directory's own as well.
    pub(super) fn values(&self, description: &str) -> Option<Vec<&[u8]>> {
        let all = self.attributes.iter().chain(&self.operational);
        let mut found = all.filter(|(name, _)| is_described(name, description)).peekable();
        found.peek()?;
        Some(found.flat_map(|(_, values)| values.iter().map(Vec::as_slice)).collect())
    }

    pub(super) fn is_referral(&self) -> bool {
        let classes = self.values("objectClass").unwrap_or_default();
        classes.iter().any(|class| class.eq_ignore_ascii_case(b"referral"))
    }

    fn add_value(&mut self, name: &str, value: Vec<u8>) -> bool {
        let rule = Rule::of_attribute(name);
        match self.attributes.iter_mut().find(|(known, _)| known.eq_ignore_ascii_case(name)) {
            None => self.attributes.push((name.to_owned(), vec![value])),
            Some((_, values)) => {
                let key = rule.normalize(&value);
                if values.iter().any(|known| rule.normalize(known) == key) {
                    return false;
                }
                values.push(value);
            }
        }
        true
    }
}

/// Whether an attribute is what a description asks for: the same, or the same with options.
fn is_described(name: &str, description: &str) -> bool {
    name.eq_ignore_ascii_case(description)
        || (!description.contains(';')
            && name.split_once(';').is_some_and(|(base, _)| base.eq_ignore_ascii_case(description)))
}

impl Store {
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn get(&self, dn: &Dn) -> Option<&Stored> {
        self.entries.get(&place(dn))
    }

    /// Number of changes until now.
    pub(super) const fn changes(&self) -> u64 {
        self.changes
    }

    /// What has changed since there were so many changes; nothing if that is too long ago.
    pub(super) fn changed_since(&self, changes: u64) -> Option<Vec<Changed<'_>>> {
        let missed = usize::try_from(self.changes.checked_sub(changes)?).ok()?;
        let from = self.log.len().checked_sub(missed)?;
        let mut all: Vec<Changed<'_>> = Vec::new();
        let mut known = HashMap::new();
        for change in self.log.range(from..) {
            let now = change.place.as_ref().and_then(|place| self.entries.get(place));
            let now = now.filter(|stored| stored.serial == change.serial);
            let index = *known.entry(change.serial).or_insert(all.len());
            match all.get_mut(index) {
                Some(known) => known.now = now,
                None => all.push(Changed { before: change.before.as_ref(), now }),
            }
        }
        Some(all)
    }

    /// Puts an entry at its place, as what has become of `before`.
    fn put(&mut self, mut stored: Stored, before: Option<Stored>) {
        let place = place(&stored.dn);
        self.changes += 1;
        stored.changed = self.changes;
        self.remember(Change { serial: stored.serial, before, place: Some(place.clone()) });
        self.entries.insert(place, stored);
    }

    /// Takes an entry away.
    fn remove(&mut self, place: &Place) -> Option<Stored> {
        let removed = self.entries.remove(place)?;
        self.changes += 1;
        self.remember(Change { serial: removed.serial, before: Some(removed.clone()), place: None });
        Some(removed)
    }

    fn remember(&mut self, change: Change) {
        if self.log.len() == LOG {
            self.log.pop_front();
        }
        self.log.push_back(change);
    }

    /// The names of entries that have none above them.
    pub(super) fn roots(&self) -> impl Iterator<Item = &Stored> {
        self.entries
            .iter()
            .filter(|(place, _)| {
                let above = place.split_last().map(|(_, above)| above).unwrap_or_default();
                !(1..=above.len())
                    .any(|length| above.get(..length).is_some_and(|above| self.entries.contains_key(above)))
            })
            .map(|(_, stored)| stored)
    }

    /// An entry and all below it, from the top.
    pub(super) fn subtree<'s>(&'s self, dn: &Dn) -> impl Iterator<Item = &'s Stored> + use<'s> {
        let base = place(dn);
        let range = self.entries.range(base.clone()..);
        range.take_while(move |(place, _)| place.starts_with(&base)).map(|(_, stored)| stored)
    }

    /// The entry, or `noSuchObject` with the name of the nearest one above.
    pub(super) fn find(&self, dn: &Dn) -> Done<&Stored> {
        self.get(dn).ok_or_else(|| self.missing(dn))
    }

    fn missing(&self, dn: &Dn) -> LdapResult {
        let mut above = dn.parent();
        while let Some(name) = above {
            if let Some(stored) = self.get(&name) {
                let matched_dn = stored.name.clone();
                return LdapResult { matched_dn, ..LdapResult::new(ResultCode::NO_SUCH_OBJECT) };
            }
            above = name.parent();
        }
        LdapResult::new(ResultCode::NO_SUCH_OBJECT)
    }

    pub(super) fn add(&mut self, name: &str, attributes: Vec<Attribute>, is_root: bool) -> Done {
        let dn = parse(name)?;
        if dn.is_root() {
            return fail(ResultCode::UNWILLING_TO_PERFORM, "the root has no entry");
        }
        if self.get(&dn).is_some() {
            return fail(ResultCode::ENTRY_ALREADY_EXISTS, "");
        }
        let has_parent = dn.parent().is_some_and(|parent| self.get(&parent).is_some());
        if !has_parent && !is_root && !self.entries.is_empty() {
            return Err(self.missing(&dn));
        }
        self.serial += 1;
        let operational = vec![
            ("entryDN".to_owned(), vec![name.as_bytes().to_vec()]),
            (
                "entryUUID".to_owned(),
                vec![format!("00000000-0000-4000-8000-{:012x}", self.serial).into_bytes()],
            ),
        ];
        let serial = self.serial;
        let name = name.to_owned();
        let mut stored = Stored { name, attributes: Vec::new(), operational, dn, serial, changed: 0 };
        for (name, values) in attributes {
            if values.is_empty() {
                return fail(ResultCode::PROTOCOL_ERROR, format!("{name}: no values"));
            }
            for value in values {
                if !stored.add_value(&name, value) {
                    return fail(ResultCode::ATTRIBUTE_OR_VALUE_EXISTS, format!("{name}: a value twice"));
                }
            }
        }
        add_rdn_values(&mut stored);
        self.put(stored, None);
        Ok(())
    }

    /// Deletes an entry, with `recursive` all below it; gives what was there.
    pub(super) fn delete(&mut self, name: &str, recursive: bool) -> Done<Stored> {
        let dn = parse(name)?;
        self.find(&dn)?;
        let below: Vec<Place> = self.subtree(&dn).map(|stored| place(&stored.dn)).collect();
        if below.len() > 1 && !recursive {
            return fail(ResultCode::NOT_ALLOWED_ON_NON_LEAF, "subordinate objects must be deleted first");
        }
        // From the leaves to the top, so that no entry is without the one above it at any time.
        let mut removed = None;
        for place in below.iter().rev() {
            removed = self.remove(place);
        }
        removed.ok_or_else(|| LdapResult::new(ResultCode::NO_SUCH_OBJECT))
    }

    pub(super) fn modify(&mut self, name: &str, modifications: &[RecordModification]) -> Done {
        let dn = parse(name)?;
        // All changes are made, or none (RFC 4511 4.6).
        let before = self.find(&dn)?.clone();
        let mut changed = before.clone();
        for modification in modifications {
            apply(&mut changed, modification)?;
        }
        let missing = changed.dn.rdns().first().into_iter().flat_map(|rdn| rdn.avas()).any(|ava| {
            let rule = Rule::of_attribute(ava.attribute());
            let values = changed.values(ava.attribute()).unwrap_or_default();
            !values.iter().any(|value| rule.normalize(value) == rule.normalize(ava.value()))
        });
        if missing {
            return fail(ResultCode::NOT_ALLOWED_ON_RDN, "a value of the name has to stay");
        }
        self.put(changed, Some(before));
        Ok(())
    }

    /// Renames an entry with all below it; gives its new name.
    pub(super) fn modify_dn(
        &mut self,
        name: &str,
        rdn: &str,
        delete_old: bool,
        superior: Option<&str>,
    ) -> Done<Dn> {
        let dn = parse(name)?;
        self.find(&dn)?;
        let rdn: Rdn = rdn.parse().map_err(|error: crate::Error| {
            LdapResult::new(ResultCode::INVALID_DN_SYNTAX).with_message(error.to_string())
        })?;
        let parent = match superior {
            None => dn.parent().unwrap_or_default(),
            Some(superior) => {
                let superior = parse(superior)?;
                self.find(&superior)?;
                if superior.is_within(&dn) {
                    return fail(ResultCode::UNWILLING_TO_PERFORM, "an entry cannot be below itself");
                }
                superior
            }
        };
        let target = parent.child(rdn);
        if target != dn && self.get(&target).is_some() {
            return fail(ResultCode::ENTRY_ALREADY_EXISTS, "");
        }
        let moved: Vec<Place> = self.subtree(&dn).map(|stored| place(&stored.dn)).collect();
        let depth = dn.rdns().len();
        for key in moved {
            let Some(before) = self.entries.remove(&key) else { continue };
            let mut stored = before.clone();
            let below = stored.dn.rdns().len() - depth;
            if below == 0 {
                if delete_old {
                    remove_rdn_values(&mut stored);
                }
                stored.dn = target.clone();
                add_rdn_values(&mut stored);
            } else {
                let kept: Vec<Rdn> = stored.dn.rdns().iter().take(below).cloned().collect();
                stored.dn = kept.into_iter().rev().fold(target.clone(), |dn, rdn| dn.child(rdn));
            }
            stored.name = stored.dn.to_string();
            if let Some((_, values)) = stored.operational.first_mut() {
                *values = vec![stored.name.as_bytes().to_vec()];
            }
            self.put(stored, Some(before));
        }
        Ok(target)
    }
}

fn apply(entry: &mut Stored, modification: &RecordModification) -> Done {
    let name = &modification.attribute;
    let rule = Rule::of_attribute(name);
    let index = entry.attributes.iter().position(|(known, _)| known.eq_ignore_ascii_case(name));
    let missing = || LdapResult::new(ResultCode::NO_SUCH_ATTRIBUTE).with_message(name.clone());
    match modification.kind {
        ModificationKind::Add => {
            if modification.values.is_empty() {
                return fail(ResultCode::PROTOCOL_ERROR, format!("{name}: no values"));
            }
            for value in &modification.values {
                if !entry.add_value(name, value.clone()) {
                    return fail(ResultCode::ATTRIBUTE_OR_VALUE_EXISTS, format!("{name}: value exists"));
                }
            }
        }
        ModificationKind::Delete => {
            let index = index.ok_or_else(missing)?;
            if let Some((_, values)) = entry.attributes.get_mut(index) {
                for value in &modification.values {
                    let key = rule.normalize(value);
                    let found =
                        values.iter().position(|known| rule.normalize(known) == key).ok_or_else(missing)?;
                    values.remove(found);
                }
                if values.is_empty() || modification.values.is_empty() {
                    entry.attributes.remove(index);
                }
            }
        }
        ModificationKind::Replace => {
            if let Some(index) = index {
                entry.attributes.remove(index);
            }
            for value in &modification.values {
                if !entry.add_value(name, value.clone()) {
                    return fail(ResultCode::ATTRIBUTE_OR_VALUE_EXISTS, format!("{name}: a value twice"));
                }
            }
        }
        ModificationKind::Increment => {
            let number = |octets: &[u8]| std::str::from_utf8(octets).ok()?.trim().parse::<i64>().ok();
            let by = modification.values.first().and_then(|value| number(value));
            let (_, values) = index.and_then(|index| entry.attributes.get_mut(index)).ok_or_else(missing)?;
            for value in values {
                let sum = number(value).zip(by).and_then(|(value, by)| value.checked_add(by));
                match sum {
                    Some(sum) => *value = sum.to_string().into_bytes(),
                    None => return fail(ResultCode::CONSTRAINT_VIOLATION, format!("{name}: no integers")),
                }
            }
        }
    }
    Ok(())
}

fn add_rdn_values(entry: &mut Stored) {
    let avas: Vec<_> = entry.dn.rdns().first().map(|rdn| rdn.avas().to_vec()).unwrap_or_default();
    for ava in avas {
        entry.add_value(ava.attribute(), ava.value().to_vec());
    }
}

fn remove_rdn_values(entry: &mut Stored) {
    let avas: Vec<_> = entry.dn.rdns().first().map(|rdn| rdn.avas().to_vec()).unwrap_or_default();
    for ava in avas {
        let rule = Rule::of_attribute(ava.attribute());
        let key = rule.normalize(ava.value());
        for (_, values) in
            entry.attributes.iter_mut().filter(|(name, _)| name.eq_ignore_ascii_case(ava.attribute()))
        {
            values.retain(|value| rule.normalize(value) != key);
        }
    }
    entry.attributes.retain(|(_, values)| !values.is_empty());
}
