//! The entries, what changes them, and what has changed.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::ops::Bound;
use std::sync::Arc;

use super::constraints::Constraints;
use super::entry::{
    Attribute, ByPlace, Origin, Stored, add_rdn_values, depth, is_described, now, place, remove_rdn_values,
};
use super::index::{Index, IndexSpec};
use crate::dn::{Dn, Rdn};
use crate::entry::apply::{add_values, apply};
use crate::filter::condition::Condition;
use crate::generated::SearchRequestScope as Scope;
use crate::ldif::RecordModification;
use crate::matching::Rule;
use crate::proto::{LdapResult, ResultCode};
use crate::schema::Schema;

/// Entries, by their place and by their number.
#[derive(Debug)]
pub(super) struct Store {
    tree: BTreeSet<ByPlace>,
    /// Entries by their number.
    slots: Vec<Option<Arc<Stored>>>,
    free: Vec<u32>,
    index: Index,
    serial: u64,
    /// Number of changes until now.
    changes: u64,
    /// The last ones of them.
    log: VecDeque<Change>,
    /// Octets of the entries that only the log has.
    logged: usize,
    /// Which directory this is: cookies of another are none of ours.
    pub(super) instance: u64,
    /// What names mean, if it is more than the standards say.
    pub(super) schema: Option<Arc<Schema>>,
    /// What holds between entries.
    pub(super) constraints: Constraints,
    /// What has to be written to disk, if the directory is kept there.
    #[cfg(feature = "store")]
    unsaved: Option<Vec<(u32, Option<Arc<Stored>>)>>,
}

/// Changes that are remembered, and octets of what they changed. Who was away for more has to compare all entries.
const LOG: usize = 1024;
const LOGGED: usize = 16 << 20;

/// What a change did with one entry.
#[derive(Debug)]
struct Change {
    serial: u64,
    id: u32,
    before: Option<Arc<Stored>>,
}

/// What has to be written to disk.
#[cfg(feature = "store")]
#[derive(Debug)]
pub(super) struct Unsaved {
    /// Entries by their numbers; nothing where one is gone.
    pub(super) entries: Vec<(u32, Option<Arc<Stored>>)>,
    pub(super) serial: u64,
    pub(super) changes: u64,
}

/// What several changes did with one entry.
#[derive(Clone, Debug)]
pub(super) struct Changed {
    pub(super) before: Option<Arc<Stored>>,
    pub(super) now: Option<Arc<Stored>>,
}

impl Default for Store {
    fn default() -> Self {
        Self {
            tree: BTreeSet::new(),
            slots: Vec::new(),
            free: Vec::new(),
            index: Index::default(),
            serial: 0,
            changes: 0,
            log: VecDeque::new(),
            logged: 0,
            instance: RandomState::new().build_hasher().finish(),
            schema: None,
            constraints: Constraints::default(),
            #[cfg(feature = "store")]
            unsaved: None,
        }
    }
}

pub(super) type Done<T = ()> = Result<T, LdapResult>;

pub(super) fn fail<T>(code: ResultCode, message: impl Into<String>) -> Done<T> {
    Err(LdapResult::new(code).with_message(message))
}

pub(super) fn parse(dn: &str) -> Done<Dn> {
    dn.parse().map_err(|error: crate::Error| {
        LdapResult::new(ResultCode::INVALID_DN_SYNTAX).with_message(error.to_string())
    })
}

/// Where a walk over the entries of a scope stands. The walk goes on where it stood, also when entries have come and gone
/// meanwhile.
#[derive(Debug)]
pub(super) enum Cursor {
    /// The entries of a subtree behind a place; the base itself is included at the begin.
    Tree { base: Vec<u8>, scope: Scope, after: Option<Vec<u8>> },
    /// Candidates of an index.
    List(VecDeque<Arc<Stored>>),
}

impl Cursor {
    /// Puts candidates into the order of their places. The store need not be locked for that.
    pub(super) fn arrange(&mut self) {
        if let Self::List(list) = self {
            list.make_contiguous().sort_unstable_by(|a, b| a.place().cmp(b.place()));
        }
    }
}

/// Entries that a walk takes at a time.
pub(super) const CHUNK: usize = 256;

impl Store {
    pub(super) fn len(&self) -> usize {
        self.tree.len()
    }

    /// Adds indexes, and fills them.
    pub(super) fn declare(&mut self, specs: &[IndexSpec]) {
        let schema = self.schema();
        for spec in specs {
            let mut spec = spec.clone();
            spec.attribute = schema.usual(&spec.attribute).to_ascii_lowercase();
            self.index.declare(&spec);
        }
        self.index.set_rules(&schema);
        self.fill_indexes();
    }

    /// Takes a schema, and puts values into indexes as it compares them.
    pub(super) fn set_schema(&mut self, schema: Arc<Schema>) {
        self.index.set_rules(&schema);
        self.schema = Some(schema);
        self.fill_indexes();
    }

    fn fill_indexes(&mut self) {
        self.index.fill(self.slots.iter().flatten().map(Arc::as_ref));
    }

    /// Makes many changes. Where nothing is asked meanwhile, indexes are filled behind them.
    pub(super) fn in_bulk<T>(&mut self, changes: impl FnOnce(&mut Self) -> T) -> T {
        let later = self.tree.is_empty() && self.constraints.is_empty();
        if later {
            self.index.suspend();
        }
        let done = changes(self);
        if later {
            self.fill_indexes();
        }
        done
    }

    pub(super) fn get(&self, dn: &Dn) -> Option<&Arc<Stored>> {
        self.at(&place(dn))
    }

    pub(super) fn at(&self, place: &[u8]) -> Option<&Arc<Stored>> {
        self.tree.get(place).map(|ByPlace(stored)| stored)
    }

    /// Takes what has to be written to disk, with the numbers that go with it; nothing if nothing has changed.
    #[cfg(feature = "store")]
    pub(super) fn take_unsaved(&mut self) -> Option<Unsaved> {
        let entries = self.unsaved.as_mut().map(std::mem::take).filter(|entries| !entries.is_empty())?;
        Some(Unsaved { entries, serial: self.serial, changes: self.changes })
    }

    /// Fills the store with what was on disk, and keeps changes from now on.
    #[cfg(feature = "store")]
    pub(super) fn restore(&mut self, entries: Vec<Stored>, instance: u64, serial: u64, changes: u64) {
        for stored in entries {
            let at = stored.id as usize;
            if self.slots.len() <= at {
                self.slots.resize(at + 1, None);
            }
            let stored = Arc::new(stored);
            self.serial = self.serial.max(stored.serial);
            self.changes = self.changes.max(stored.changed);
            if let Some(slot) = self.slots.get_mut(at) {
                *slot = Some(Arc::clone(&stored));
            }
            self.tree.replace(ByPlace(stored));
        }
        self.fill_indexes();
        let free = self.slots.iter().enumerate().filter(|(_, slot)| slot.is_none());
        self.free = free.filter_map(|(id, _)| u32::try_from(id).ok()).collect();
        self.instance = instance;
        self.serial = self.serial.max(serial);
        self.changes = self.changes.max(changes);
        self.unsaved = Some(Vec::new());
    }

    /// All entries, each after those above it.
    pub(super) fn entries(&self) -> impl Iterator<Item = &Arc<Stored>> {
        self.tree.iter().map(|ByPlace(stored)| stored)
    }

    fn slot(&self, id: u32) -> Option<&Arc<Stored>> {
        self.slots.get(id as usize)?.as_ref()
    }

    /// Number of changes until now.
    pub(super) const fn changes(&self) -> u64 {
        self.changes
    }

    /// What has changed since there were so many changes; nothing if that is too long ago.
    pub(super) fn changed_since(&self, changes: u64) -> Option<Vec<Changed>> {
        let missed = usize::try_from(self.changes.checked_sub(changes)?).ok()?;
        let from = self.log.len().checked_sub(missed)?;
        let mut all: Vec<Changed> = Vec::new();
        let mut known = HashMap::new();
        for change in self.log.range(from..) {
            known.entry(change.serial).or_insert_with(|| {
                let now = self.slot(change.id).filter(|stored| stored.serial == change.serial).cloned();
                all.push(Changed { before: change.before.clone(), now });
            });
        }
        Some(all)
    }

    /// Puts an entry at its place, as what has become of `before`, of which the attributes in `touched` were changed; all if the
    /// entry is new or has another name.
    fn put(&mut self, stored: Stored, before: Option<Arc<Stored>>, touched: Option<&[&str]>) {
        let stored = Arc::new(stored);
        match (&before, touched) {
            (Some(before), Some(touched)) => self.index.update(before, &stored, touched),
            (Some(before), None) => {
                self.index.remove(before);
                self.index.insert(&stored);
            }
            (None, _) => self.index.insert(&stored),
        }
        if let Some(before) = &before
            && before.place() != stored.place()
        {
            self.tree.remove(before.place());
        }
        self.remember(Change { serial: stored.serial, id: stored.id, before });
        #[cfg(feature = "store")]
        if let Some(unsaved) = &mut self.unsaved {
            unsaved.push((stored.id, Some(Arc::clone(&stored))));
        }
        if let Some(slot) = self.slots.get_mut(stored.id as usize) {
            *slot = Some(Arc::clone(&stored));
        }
        self.tree.replace(ByPlace(stored));
    }

    /// Takes an entry away.
    fn remove(&mut self, place: &[u8]) -> Option<Arc<Stored>> {
        let ByPlace(removed) = self.tree.take(place)?;
        self.changes += 1;
        self.index.remove(&removed);
        #[cfg(feature = "store")]
        if let Some(unsaved) = &mut self.unsaved {
            unsaved.push((removed.id, None));
        }
        if let Some(slot) = self.slots.get_mut(removed.id as usize) {
            *slot = None;
            self.free.push(removed.id);
        }
        self.remember(Change { serial: removed.serial, id: removed.id, before: Some(Arc::clone(&removed)) });
        Some(removed)
    }

    fn remember(&mut self, change: Change) {
        let size = |change: &Change| change.before.as_ref().map_or(0, |stored| stored.contents().len());
        self.logged += size(&change);
        self.log.push_back(change);
        while self.log.len() > LOG || (self.logged > LOGGED && self.log.len() > 1) {
            self.logged -= self.log.pop_front().as_ref().map_or(0, size);
        }
    }

    /// What a new or changed entry is known by.
    fn origin(&mut self, before: Option<&Stored>) -> Done<Origin> {
        self.changes += 1;
        let modified = now();
        if let Some(before) = before {
            return Ok(Origin { changed: self.changes, modified, ..before.origin() });
        }
        let id = match self.free.pop() {
            Some(id) => id,
            None => {
                let id = u32::try_from(self.slots.len())
                    .map_err(|_| LdapResult::new(ResultCode::ADMIN_LIMIT_EXCEEDED))?;
                self.slots.push(None);
                id
            }
        };
        self.serial += 1;
        Ok(Origin { id, serial: self.serial, changed: self.changes, created: modified, modified })
    }

    /// The entries that have none above them.
    pub(super) fn roots(&self) -> Vec<Arc<Stored>> {
        let mut roots = Vec::new();
        let mut from: Vec<u8> = Vec::new();
        while let Some(ByPlace(root)) =
            self.tree.range::<[u8], _>((Bound::Included(&*from), Bound::Unbounded)).next()
        {
            roots.push(Arc::clone(root));
            from = behind(root.place());
        }
        roots
    }

    /// The places of an entry and of all below it, from the top.
    pub(super) fn subtree(&self, base: &[u8]) -> impl Iterator<Item = &Arc<Stored>> {
        let range = self.tree.range::<[u8], _>((Bound::Included(base), Bound::Unbounded));
        range.map(|ByPlace(stored)| stored).take_while(move |stored| stored.place().starts_with(base))
    }

    /// Begins a walk: over candidates of the indexes if these are few, else over the entries of the scope.
    /// Referrals are found whatever the condition says, unless it is to decide on them too.
    pub(super) fn walk(
        &self,
        base: &[u8],
        scope: Scope,
        condition: &Condition,
        with_referrals: bool,
    ) -> Cursor {
        let tree = Cursor::Tree { base: base.to_vec(), scope, after: None };
        let is_worth = |count: usize| count < 8 || count < self.len() / 4;
        if scope == Scope::BaseObject || !self.index.estimate(condition).is_some_and(is_worth) {
            return tree;
        }
        let mut ids = Vec::new();
        if !self.index.collect(condition, &mut ids) {
            return tree;
        }
        if with_referrals {
            let (name, rule) = ("objectClass".to_owned(), Rule::CaseIgnore);
            let referrals = Condition::Equal { name, rule, key: b"referral".to_vec() };
            self.index.collect(&referrals, &mut ids);
        }
        ids.sort_unstable();
        ids.dedup();
        let found = ids
            .into_iter()
            .filter_map(|id| self.slot(id))
            .filter(|stored| is_in(base, scope, stored.place()));
        Cursor::List(found.cloned().collect())
    }

    /// The next entries of a walk; none at its end.
    pub(super) fn advance(&self, cursor: &mut Cursor) -> Vec<Arc<Stored>> {
        let (base, scope, after) = match cursor {
            Cursor::List(list) => return list.drain(..list.len().min(CHUNK)).collect(),
            Cursor::Tree { base, scope, after } => (base, *scope, after),
        };
        let mut found: Vec<Arc<Stored>> = Vec::new();
        match scope {
            Scope::BaseObject if after.is_none() => found.extend(self.at(base).cloned()),
            Scope::BaseObject => {}
            Scope::SingleLevel => self.children(base, after.as_deref(), &mut found),
            _ => {
                let from = match after.as_deref() {
                    Some(after) => Bound::Excluded(after),
                    None if scope == Scope::SubordinateSubtree => Bound::Excluded(base.as_slice()),
                    None => Bound::Included(base.as_slice()),
                };
                let range = self.tree.range::<[u8], _>((from, Bound::Unbounded));
                let range = range.map(|ByPlace(stored)| stored);
                found
                    .extend(range.take_while(|stored| stored.place().starts_with(base)).take(CHUNK).cloned());
            }
        }
        if let Some(last) = found.last() {
            *after = Some(last.place().to_vec());
        }
        found
    }

    /// The entries one level below a place. What stands below them is stepped over.
    fn children(&self, base: &[u8], after: Option<&[u8]>, found: &mut Vec<Arc<Stored>>) {
        let mut from = after.map_or_else(|| base.to_vec(), behind);
        let level = depth(base) + 1;
        while found.len() < CHUNK {
            let mut range = self.tree.range::<[u8], _>((Bound::Included(&*from), Bound::Unbounded));
            let Some(ByPlace(stored)) = range.find(|ByPlace(stored)| stored.place() != base) else { return };
            let place = stored.place();
            if !place.starts_with(base) {
                return;
            }
            // An entry that has none above it may stand deeper.
            let end = memchr::memchr(0, place.get(base.len()..).unwrap_or_default());
            let child = place.get(..base.len() + end.map_or(0, |end| end + 1)).unwrap_or_default();
            if depth(place) == level {
                found.push(Arc::clone(stored));
            }
            from = behind(child);
        }
    }

    /// The entry, or `noSuchObject` with the name of the nearest one above.
    pub(super) fn find(&self, dn: &Dn) -> Done<&Arc<Stored>> {
        self.get(dn).ok_or_else(|| self.missing(&place(dn)))
    }

    pub(super) fn missing(&self, place: &[u8]) -> LdapResult {
        let mut above = place;
        while let Some(end) = above.split_last().and_then(|(_, above)| memchr::memrchr(0, above)) {
            above = above.get(..=end).unwrap_or_default();
            if let Some(stored) = self.at(above) {
                let matched_dn = stored.name().to_owned();
                return LdapResult { matched_dn, ..LdapResult::new(ResultCode::NO_SUCH_OBJECT) };
            }
        }
        LdapResult::new(ResultCode::NO_SUCH_OBJECT)
    }

    /// Returns the entry whose `uid` is a user.
    pub(super) fn of_user(&self, user: &str) -> Option<Arc<Stored>> {
        let (name, rule) = ("uid".to_owned(), Rule::CaseIgnore);
        let key = rule.normalize(user.as_bytes());
        let mut ids = Vec::new();
        self.index.collect(&Condition::Equal { name, rule, key: key.clone() }, &mut ids);
        let mut all = ids.into_iter().filter_map(|id| self.slot(id));
        all.find(|stored| stored.values("uid").any(|uid| rule.normalize(uid) == key)).cloned()
    }

    pub(super) fn add(&mut self, name: &str, attributes: Vec<Attribute>, is_root: bool) -> Done<Arc<Stored>> {
        let dn = parse(name)?;
        if dn.is_root() {
            return fail(ResultCode::UNWILLING_TO_PERFORM, "the root has no entry");
        }
        let place = place(&dn);
        if self.at(&place).is_some() {
            return fail(ResultCode::ENTRY_ALREADY_EXISTS, "");
        }
        if !is_root && !self.tree.is_empty() {
            let parent = place.split_last().and_then(|(_, above)| memchr::memrchr(0, above));
            let has_parent =
                parent.and_then(|end| place.get(..=end)).is_some_and(|above| self.at(above).is_some());
            if !has_parent {
                return Err(self.missing(&place));
            }
        }
        let mut own: Vec<Attribute> = Vec::with_capacity(attributes.len() + 1);
        let schema = self.schema();
        for (name, values) in attributes {
            if values.is_empty() {
                return fail(ResultCode::PROTOCOL_ERROR, format!("{name}: no values"));
            }
            let name = schema.usual(&name);
            add_values(&mut own, &name, values, schema.matching(&name))?;
        }
        add_rdn_values(&dn, &mut own);
        self.check_entry(name, &own, None)?;
        let origin = self.origin(None)?;
        let id = origin.id;
        self.put(Stored::new(name, &place, &own, origin), None, None);
        self.changed(id, None)
    }

    /// What names of attributes and classes mean.
    pub(super) fn schema(&self) -> Arc<Schema> {
        self.schema.as_ref().map_or_else(super::subschema::standard, Arc::clone)
    }

    /// Deletes an entry, with `recursive` all below it; gives what was there.
    pub(super) fn delete(&mut self, name: &str, recursive: bool) -> Done<Arc<Stored>> {
        let dn = parse(name)?;
        let place = self.find(&dn)?.place().to_vec();
        if !recursive && self.subtree(&place).nth(1).is_some() {
            return fail(ResultCode::NOT_ALLOWED_ON_NON_LEAF, "subordinate objects must be deleted first");
        }
        let below: Vec<Arc<Stored>> = self.subtree(&place).cloned().collect();
        // From the leaves to the top, so that no entry is without the one above it at any time.
        let mut removed = None;
        for stored in below.iter().rev() {
            removed = self.remove(stored.place());
        }
        let steps: Vec<_> = below.into_iter().map(|stored| (Some(stored), None)).collect();
        self.follow(&steps)?;
        removed.ok_or_else(|| LdapResult::new(ResultCode::NO_SUCH_OBJECT))
    }

    pub(super) fn modify(&mut self, name: &str, modifications: &[RecordModification]) -> Done<Arc<Stored>> {
        let dn = parse(name)?;
        // All changes are made, or none (RFC 4511 4.6).
        let before = Arc::clone(self.find(&dn)?);
        let mut changed = before.to_attributes();
        let schema = self.schema();
        let usual = |one: &RecordModification| RecordModification {
            attribute: schema.usual(&one.attribute).into_owned(),
            ..one.clone()
        };
        let modifications: Vec<RecordModification> = modifications.iter().map(usual).collect();
        for modification in &modifications {
            apply(&mut changed, modification, schema.matching(&modification.attribute))?;
        }
        let touched: Vec<&str> = modifications.iter().map(|one| one.attribute.as_str()).collect();
        let missing = dn.rdns().first().into_iter().flat_map(|rdn| rdn.avas()).any(|ava| {
            let attribute = schema.usual(ava.attribute());
            let rule = schema.matching(&attribute);
            touched.iter().any(|name| is_described(name, &attribute)) && {
                let values = changed.iter().filter(|(name, _)| is_described(name, &attribute));
                let key = rule.normalize(ava.value());
                !values.flat_map(|(_, values)| values).any(|value| rule.normalize(value) == key)
            }
        });
        if missing {
            return fail(ResultCode::NOT_ALLOWED_ON_RDN, "a value of the name has to stay");
        }
        self.check_entry(name, &changed, Some(&before))?;
        let now = self.rewrite(&before, &changed, &touched)?;
        let id = now.id;
        self.changed(id, Some(before))
    }

    /// Puts other attributes into an entry, of which those in `touched` were changed.
    pub(super) fn rewrite(
        &mut self,
        before: &Arc<Stored>,
        attributes: &[Attribute],
        touched: &[&str],
    ) -> Done<Arc<Stored>> {
        let origin = self.origin(Some(before))?;
        let id = origin.id;
        let stored = Stored::new(before.name(), before.place(), attributes, origin);
        self.put(stored, Some(Arc::clone(before)), Some(touched));
        self.slot(id).cloned().ok_or_else(|| LdapResult::new(ResultCode::OTHER))
    }

    /// Changes what follows from a change, and returns the entry as it is then.
    fn changed(&mut self, id: u32, before: Option<Arc<Stored>>) -> Done<Arc<Stored>> {
        let now = self.slot(id).cloned();
        self.follow(&[(before, now)])?;
        self.slot(id).cloned().ok_or_else(|| LdapResult::new(ResultCode::OTHER))
    }

    /// Renames an entry, and all below it with it.
    pub(super) fn modify_dn(
        &mut self,
        name: &str,
        rdn: &str,
        delete_old: bool,
        superior: Option<&str>,
    ) -> Done<Arc<Stored>> {
        let dn = parse(name)?;
        let from = self.find(&dn)?.place().to_vec();
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
        let to = place(&target);
        if to != from && self.at(&to).is_some() {
            return fail(ResultCode::ENTRY_ALREADY_EXISTS, "");
        }
        let moved: Vec<Arc<Stored>> = self.subtree(&from).cloned().collect();
        let mut top = None;
        let mut steps = Vec::new();
        for before in moved {
            let old = before.dn();
            let below = old.rdns().len().saturating_sub(dn.rdns().len());
            let mut attributes = before.to_attributes();
            let new = if below == 0 {
                if delete_old {
                    remove_rdn_values(&old, &mut attributes);
                }
                add_rdn_values(&target, &mut attributes);
                self.check_entry(before.name(), &attributes, Some(&before))?;
                target.clone()
            } else {
                let kept: Vec<Rdn> = old.rdns().iter().take(below).cloned().collect();
                kept.into_iter().rev().fold(target.clone(), |dn, rdn| dn.child(rdn))
            };
            let place = [&to, before.place().get(from.len()..).unwrap_or_default()].concat();
            let origin = self.origin(Some(&before))?;
            top = top.or(Some(origin.id));
            let stored = Stored::new(&new.to_string(), &place, &attributes, origin);
            let id = stored.id;
            self.put(stored, Some(Arc::clone(&before)), None);
            steps.push((Some(before), self.slot(id).cloned()));
        }
        self.follow(&steps)?;
        let top = top.and_then(|id| self.slot(id)).cloned();
        top.ok_or_else(|| LdapResult::new(ResultCode::NO_SUCH_OBJECT))
    }
}

/// The first place behind all those of a subtree.
fn behind(base: &[u8]) -> Vec<u8> {
    let mut place = base.to_vec();
    match place.last_mut() {
        // No place has an octet 1.
        Some(last) => *last = 1,
        None => place.push(u8::MAX),
    }
    place
}

/// Whether a place is in a scope.
pub(super) fn is_in(base: &[u8], scope: Scope, place: &[u8]) -> bool {
    let Some(rest) = place.strip_prefix(base) else { return false };
    match scope {
        Scope::BaseObject => rest.is_empty(),
        Scope::SingleLevel => depth(rest) == 1,
        Scope::SubordinateSubtree => !rest.is_empty(),
        _ => true,
    }
}
