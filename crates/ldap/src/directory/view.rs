//! Sorted lists (RFC 2891), parts of them (draft-ietf-ldapext-ldapv3-vlv-09), and the cookies of pages (RFC 2696).

use std::cmp::Ordering;
use std::sync::Arc;

use super::access::Permissions;
use super::acl::Right;
use super::controls;
use super::entry::Stored;
use super::store::{Done, fail};
use crate::controls::{SortKey, VirtualListView, VlvTarget};
use crate::matching::Rule;
use crate::proto::{Control, LdapResult, ResultCode};

/// What an entry is sorted by: the normalized value, if it has one.
type Key = Option<Vec<u8>>;

/// Entries that are to be sorted, with what they are sorted by.
#[derive(Debug)]
pub(super) struct Sorted {
    keys: Vec<(String, Rule, bool)>,
    entries: Vec<(Vec<Key>, Arc<Stored>)>,
    access: Arc<Permissions>,
}

impl Sorted {
    /// # Errors
    /// A part of the list is asked for that is sorted by what cannot be read.
    pub(super) fn new(keys: &[SortKey], has_view: bool, access: Arc<Permissions>) -> Done<Self> {
        let is_hidden = |key: &&SortKey| !access.may_read_of_any(&key.attribute);
        if has_view && keys.first().is_some_and(|key| is_hidden(&key)) {
            return fail(ResultCode::INSUFFICIENT_ACCESS_RIGHTS, "");
        }
        // The order would show what cannot be read.
        let keys = keys.iter().filter(|key| !is_hidden(key));
        let keys = keys.map(|key| (key.attribute.clone(), rule(key, &access), key.reverse)).collect();
        Ok(Self { keys, entries: Vec::new(), access })
    }

    pub(super) fn push(&mut self, stored: &Arc<Stored>) {
        let access = &self.access;
        let keys = self.keys.iter().map(|(name, rule, _)| value(stored, name, *rule, access)).collect();
        self.entries.push((keys, Arc::clone(stored)));
    }

    /// What cannot be sorted by, of the keys that are asked for (RFC 2891 1.2): a rule that is not known, or an attribute that neither
    /// the schema nor an entry has.
    pub(super) fn fault<'k>(&self, keys: &'k [SortKey]) -> Option<(ResultCode, &'k str)> {
        keys.iter().find_map(|key| {
            let name = key.attribute.as_str();
            if key.rule.as_deref().is_some_and(|rule| Rule::named(rule).is_none()) {
                return Some((ResultCode::INAPPROPRIATE_MATCHING, name));
            }
            let bare = name.split(';').next().unwrap_or_default();
            let is_known = self.access.schema().is_none_or(|schema| schema.attribute_type(bare).is_some());
            let place = self.keys.iter().position(|(known, ..)| known == name)?;
            let mut values = self.entries.iter().filter_map(|(keys, _)| keys.get(place)?.as_ref());
            (!is_known && values.next().is_none()).then_some((ResultCode::NO_SUCH_ATTRIBUTE, name))
        })
    }

    /// The entries in their order; those that are equal as they were found.
    pub(super) fn finish(self) -> Vec<Arc<Stored>> {
        let mut entries = self.entries;
        entries.sort_by(|(a, _), (b, _)| {
            let all = self.keys.iter().zip(a.iter().zip(b));
            all.fold(Ordering::Equal, |order, ((_, rule, reverse), (a, b))| {
                order.then_with(|| {
                    // Entries without the attribute come last (RFC 2891 2.2).
                    let order = match (a, b) {
                        (Some(a), Some(b)) => rule.compare_normalized(a, b),
                        (a, b) => b.is_some().cmp(&a.is_some()),
                    };
                    if *reverse { order.reverse() } else { order }
                })
            })
        });
        entries.into_iter().map(|(_, stored)| stored).collect()
    }
}

/// The rule that a key sorts by.
fn rule(key: &SortKey, access: &Permissions) -> Rule {
    let named = key.rule.as_deref().and_then(Rule::named);
    let usual = || Rule::of_attribute(&key.attribute);
    named.unwrap_or_else(|| access.schema().map_or_else(usual, |schema| schema.matching(&key.attribute)))
}

/// What an entry is sorted by.
fn value(stored: &Stored, name: &str, rule: Rule, access: &Permissions) -> Option<Vec<u8>> {
    if !access.is_open() && !access.has(stored, Right::Read, name) {
        return None;
    }
    if let Some(value) = stored.values(name).next() {
        return Some(rule.normalize(value));
    }
    stored.operational(name).map(|value| rule.normalize(&value))
}

/// The part of a sorted list that is asked for, and the control that says where it stands.
pub(super) fn part(
    mut list: Vec<Arc<Stored>>,
    wanted: &VirtualListView,
    keys: &[SortKey],
    access: &Permissions,
) -> Done<(Vec<Arc<Stored>>, Control)> {
    let Some(key) = keys.first() else {
        return Err(refused(ResultCode::SORT_CONTROL_MISSING, list.len()));
    };
    if list.is_empty() {
        return Ok((Vec::new(), controls::viewed(ResultCode::SUCCESS, 0, 0)));
    }
    let total = list.len();
    let position = match &wanted.target {
        VlvTarget::Offset { offset, count } => by_offset(*offset, *count, total)?,
        VlvTarget::Value(wanted) => by_value(&list, wanted, key, access),
    };
    let begin = (position - 1).saturating_sub(wanted.before as usize).min(total);
    let end = position.saturating_add(wanted.after as usize).min(total);
    list.truncate(end);
    let part = if begin < list.len() { list.split_off(begin) } else { Vec::new() };
    Ok((part, controls::viewed(ResultCode::SUCCESS, position, total)))
}

/// The position that an offset means (6.1): that of the client's list, which may be longer or shorter than ours.
fn by_offset(offset: u32, count: u32, length: usize) -> Done<usize> {
    let (offset, count) = (offset as usize, count as usize);
    let position = match (offset, count) {
        (0, _) => return Err(refused(ResultCode::OFFSET_RANGE_ERROR, length)),
        (1, _) => 1,
        (offset, count) if offset == count => length,
        (offset, 0) => offset,
        (offset, count) if offset > count => length,
        // Both are below 2^31.
        (offset, count) => usize::try_from(length as u64 * offset as u64 / count as u64).unwrap_or(length),
    };
    Ok(position.clamp(1, length))
}

/// The position of the first entry that is not less than a value, or behind the last one.
fn by_value(list: &[Arc<Stored>], wanted: &[u8], key: &SortKey, access: &Permissions) -> usize {
    let rule = rule(key, access);
    let wanted = rule.normalize(wanted);
    let is_less = |stored: &Arc<Stored>| {
        // Entries without a value stand as if theirs was the greatest.
        value(stored, &key.attribute, rule, access).map_or(key.reverse, |value| {
            let order = rule.compare_normalized(&value, &wanted);
            if key.reverse { order.is_gt() } else { order.is_lt() }
        })
    };
    list.partition_point(is_less) + 1
}

fn refused(code: ResultCode, length: usize) -> LdapResult {
    let controls = vec![controls::viewed(code, 0, length)];
    LdapResult { controls, ..LdapResult::new(ResultCode::VLV_ERROR) }
}

/// First octet of a cookie that has a place, and of one that has a position.
const PLACE: u8 = b'k';
const POSITION: u8 = b'n';

fn not_ours<T>() -> Done<T> {
    fail(ResultCode::UNWILLING_TO_PERFORM, "not our cookie")
}

/// The cookie of a page that ends with an entry.
pub(super) fn place_cookie(place: &[u8]) -> Vec<u8> {
    [&[PLACE], place].concat()
}

/// The place of the last entry of the page before; nothing for the first page.
pub(super) fn read_place(cookie: &[u8]) -> Done<Vec<u8>> {
    match cookie.split_first() {
        None => Ok(Vec::new()),
        Some((&PLACE, place)) if !place.is_empty() => Ok(place.to_vec()),
        Some(_) => not_ours(),
    }
}

/// The cookie of a page that ends before a position.
pub(super) fn position_cookie(position: usize) -> Vec<u8> {
    [&[POSITION][..], &(position as u64).to_be_bytes()].concat()
}

/// The position at which a page begins.
pub(super) fn read_position(cookie: &[u8]) -> Done<usize> {
    match cookie.split_first() {
        None => Ok(0),
        Some((&POSITION, octets)) => match <[u8; 8]>::try_from(octets) {
            Ok(octets) => Ok(usize::try_from(u64::from_be_bytes(octets)).unwrap_or(usize::MAX)),
            Err(_) => not_ours(),
        },
        Some(_) => not_ours(),
    }
}
