//! Content synchronization (RFC 4533).

use std::sync::Arc;

use tercet_runtime::types::Octets;

use super::entry::{Stored, element, uuid};
use super::output::message;
use super::search::{Query, Task};
use super::store::{Changed, Done, Store};
use crate::controls as known;
use crate::controls::{SyncChange, SyncInfo};
use crate::filter::condition::{Budget, Steps};
use crate::generated as asn1;
use crate::proto::control::encoded;
use crate::proto::element::tag;
use crate::proto::{Control, LdapResult, ResponseControl as _, ResultCode};

/// A search that goes on, and the number of changes that it has reported.
#[derive(Debug)]
pub(super) struct Listener {
    pub(super) id: u32,
    query: Arc<Query>,
    reported: u64,
}

/// The first stage of a synchronization, the refresh.
#[derive(Debug)]
pub(super) struct Refresh {
    /// What has changed, if the directory remembers it all.
    pub(super) changed: Option<Vec<Changed>>,
    /// Else, the number of changes that the client knows, if it knows any.
    pub(super) since: Option<u64>,
    /// The state to which the refresh leads at least.
    cookie: Vec<u8>,
    reported: u64,
}

/// Identifiers of one message.
pub(super) const SET: usize = 1000;

/// Steps that finding out what a change means for a search may take: about 50 ms.
const STEPS: Steps = 5_000_000;

/// Begins a refresh: finds out what the client does not know yet.
pub(super) fn begin(store: &Store, query: &Query, sync: &known::Sync) -> Done<Refresh> {
    query.check(store)?;
    if query.is_arranged() {
        let message = "synchronization knows no order and no pages";
        return Err(LdapResult::new(ResultCode::UNWILLING_TO_PERFORM).with_message(message));
    }
    let since = match &sync.cookie {
        None => None,
        Some(cookie) => match read_cookie(store, cookie) {
            None if !sync.reload_hint => {
                let message = "a cookie of another directory";
                return Err(LdapResult::new(ResultCode::SYNC_REFRESH_REQUIRED).with_message(message));
            }
            since => since,
        },
    };
    let changed = since.and_then(|since| store.changed_since(since));
    Ok(Refresh { changed, since, cookie: cookie(store), reported: store.changes() })
}

impl Refresh {
    /// Ends the refresh: the result of a search that ends with it, or the search that goes on.
    pub(super) fn end(
        self,
        id: u32,
        query: &Arc<Query>,
        persists: bool,
        out: &mut Vec<u8>,
    ) -> Result<LdapResult, Listener> {
        let (deletes, cookie) = (self.changed.is_some(), self.cookie);
        if persists {
            let end = if deletes {
                SyncInfo::RefreshDelete(Some(cookie), true)
            } else {
                SyncInfo::RefreshPresent(Some(cookie), true)
            };
            put_info(out, id, &end);
            return Err(Listener { id, query: Arc::clone(query), reported: self.reported });
        }
        let cookie = Some(Octets::borrowed(&cookie));
        let value = encoded(&asn1::SyncDone { cookie, refresh_deletes: deletes });
        let mut result = LdapResult::default();
        result.controls.push(Control::new(known::SyncDone::OID).with_value(value));
        Ok(result)
    }

    /// The search for what is to be reported if the directory does not remember what has changed.
    pub(super) fn task(&self, id: u32, query: &Arc<Query>) -> Task {
        Task::refresh(id, Arc::clone(query), self.since)
    }
}

impl Listener {
    /// What has changed meanwhile, and the cookie that goes with it. The search ends if that is more than the directory remembers.
    pub(super) fn news(&mut self, store: &Store) -> Done<(Vec<Changed>, Vec<u8>)> {
        let changed = store.changed_since(self.reported);
        let changed = changed.ok_or_else(|| LdapResult::new(ResultCode::SYNC_REFRESH_REQUIRED))?;
        self.reported = store.changes();
        Ok((changed, cookie(store)))
    }

    /// Writes what has changed.
    ///
    /// # Errors
    /// As [`put_changes`].
    pub(super) fn report(&self, changed: &[Changed], cookie: &[u8], out: &mut Vec<u8>) -> Done {
        put_changes(&self.query, self.id, changed, Some(cookie), out)
    }
}

/// Writes what several changes mean for what a search finds; the cookie goes with the last.
///
/// # Errors
/// It takes too long to find out.
pub(super) fn put_changes(
    query: &Query,
    id: u32,
    changed: &[Changed],
    cookie: Option<&[u8]>,
    out: &mut Vec<u8>,
) -> Done {
    let budget = &mut Budget::turn(STEPS);
    let over = |_| {
        let message = "the filter takes too long for the changes";
        LdapResult::new(ResultCode::ADMIN_LIMIT_EXCEEDED).with_message(message)
    };
    let mut news: Vec<(&Stored, SyncChange)> = Vec::new();
    for Changed { before, now } in changed {
        let mut found = |stored: &Option<Arc<Stored>>| match stored {
            Some(stored) => query.has(stored, budget),
            None => Ok(false),
        };
        let (was_found, is_found) = (found(before).map_err(over)?, found(now).map_err(over)?);
        match (before, now) {
            (_, Some(now)) if is_found && !was_found => news.push((now, SyncChange::Add)),
            (_, Some(now)) if is_found => news.push((now, SyncChange::Modify)),
            (Some(before), _) if was_found => news.push((before, SyncChange::Delete)),
            _ => {}
        }
    }
    let last = news.len();
    for (index, (stored, change)) in news.into_iter().enumerate() {
        let control = state(stored, change, cookie.filter(|_| index + 1 == last));
        if change == SyncChange::Delete {
            // An entry that has gone is a name without attributes.
            query.put_name(out, id, stored, &[control]);
        } else {
            let budget = &mut Budget::turn(STEPS);
            query.put(out, id, stored, &[control], budget).map_err(over)?;
        }
    }
    Ok(())
}

/// The control that tells what has become of an entry.
pub(super) fn state(stored: &Stored, change: SyncChange, cookie: Option<&[u8]>) -> Control {
    let value = asn1::SyncState {
        state: match change {
            SyncChange::Present => asn1::SyncStateState::Present,
            SyncChange::Add => asn1::SyncStateState::Add,
            SyncChange::Modify => asn1::SyncStateState::Modify,
            SyncChange::Delete => asn1::SyncStateState::Delete,
        },
        entry_uuid: Octets::copied(&uuid(stored.serial)),
        cookie: cookie.map(Octets::borrowed),
    };
    Control::new(known::SyncState::OID).with_value(encoded(&value))
}

/// Writes the identifiers of entries that have not changed.
pub(super) fn put_same(out: &mut Vec<u8>, id: u32, same: Vec<[u8; 16]>) {
    let ids = same.into_iter().map(|uuid| uuid.to_vec()).collect();
    put_info(out, id, &SyncInfo::IdSet(None, false, ids));
}

fn put_info(out: &mut Vec<u8>, id: u32, info: &SyncInfo) {
    let mut contents = Vec::new();
    // IntermediateResponse ::= [APPLICATION 25] SEQUENCE { responseName [0], responseValue [1] }
    element(&mut contents, 0x80, SyncInfo::OID.as_bytes());
    element(&mut contents, 0x81, &info.value());
    message(out, id, tag::INTERMEDIATE, &[&contents], &[]);
}

/// Which directory, and how many changes it has had. It is text, as tools take it from command lines.
fn cookie(store: &Store) -> Vec<u8> {
    format!("{:016x}-{}", store.instance, store.changes()).into_bytes()
}

/// The number of changes in a cookie of this directory.
fn read_cookie(store: &Store, cookie: &[u8]) -> Option<u64> {
    let (instance, changes) = std::str::from_utf8(cookie).ok()?.split_once('-')?;
    let changes: u64 = changes.parse().ok()?;
    (u64::from_str_radix(instance, 16).ok()? == store.instance && changes <= store.changes())
        .then_some(changes)
}
