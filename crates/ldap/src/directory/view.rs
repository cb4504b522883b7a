//! Parts of sorted lists (draft-ietf-ldapext-ldapv3-vlv-09).

use super::controls;
use super::store::{Done, Stored};
use crate::controls::{SortKey, VirtualListView, VlvTarget};
use crate::matching::Rule;
use crate::proto::{Control, LdapResult, ResultCode};

/// The rule that a key sorts by.
pub(super) fn rule(key: &SortKey) -> Rule {
    let named = key.rule.as_deref().and_then(Rule::named);
    named.unwrap_or_else(|| Rule::of_attribute(&key.attribute))
}

/// What an entry is sorted by.
pub(super) fn value(stored: &Stored, key: &SortKey, rule: Rule) -> Option<Vec<u8>> {
    stored.values(&key.attribute)?.first().map(|value| rule.normalize(value))
}

/// The part of a sorted list that is asked for, and the control that says where it stands.
pub(super) fn part<'s>(
    list: &[&'s Stored],
    wanted: &VirtualListView,
    keys: &[SortKey],
) -> Done<(Vec<&'s Stored>, Control)> {
    let Some(key) = keys.first() else {
        return Err(refused(ResultCode::SORT_CONTROL_MISSING, list.len()));
    };
    if list.is_empty() {
        return Ok((Vec::new(), controls::viewed(ResultCode::SUCCESS, 0, 0)));
    }
    let position = match &wanted.target {
        VlvTarget::Offset { offset, count } => by_offset(*offset, *count, list.len())?,
        VlvTarget::Value(wanted) => by_value(list, wanted, key),
    };
    let begin = (position - 1).saturating_sub(wanted.before as usize);
    let end = position.saturating_add(wanted.after as usize).min(list.len());
    let part = list.get(begin..end).unwrap_or_default().to_vec();
    Ok((part, controls::viewed(ResultCode::SUCCESS, position, list.len())))
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
fn by_value(list: &[&Stored], wanted: &[u8], key: &SortKey) -> usize {
    let rule = rule(key);
    let wanted = rule.normalize(wanted);
    let is_less = |stored: &&Stored| {
        // Entries without a value stand as if theirs was the greatest.
        value(stored, key, rule).map_or(key.reverse, |value| {
            let order = rule.compare(&value, &wanted);
            if key.reverse { order.is_gt() } else { order.is_lt() }
        })
    };
    list.partition_point(is_less) + 1
}

fn refused(code: ResultCode, length: usize) -> LdapResult {
    let controls = vec![controls::viewed(code, 0, length)];
    LdapResult { controls, ..LdapResult::new(ResultCode::VLV_ERROR) }
}
