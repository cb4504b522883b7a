//! Content synchronization (RFC 4533).

use tercet_runtime::types::Octets;

use super::search::{Message, Query};
use super::store::{Changed, Done, Store, Stored, uuid};
use crate::controls as known;
use crate::controls::{SyncChange, SyncInfo};
use crate::generated::{self as asn1, ProtocolOp};
use crate::proto::control::encoded;
use crate::proto::{Control, LdapResult, ResponseControl as _, ResultCode};

/// A search that goes on, and the number of changes that it has told of.
#[derive(Debug)]
pub(super) struct Listener {
    pub(super) id: u32,
    query: Query,
    told: u64,
}

/// What the first stage of a synchronization brings, the refresh.
pub(super) struct Refresh {
    pub(super) messages: Vec<Message>,
    /// The end of a search that does not go on.
    pub(super) result: LdapResult,
}

/// Identifiers of one message.
const SET: usize = 1000;

/// Tells a client what it does not know yet.
pub(super) fn refresh(store: &Store, query: &Query, sync: &known::Sync) -> Done<Refresh> {
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
    let (mut messages, deletes) = match since.map(|since| (since, store.changed_since(since))) {
        None => (query.found(store).map(|stored| told(query, stored, SyncChange::Add)).collect(), false),
        Some((_, Some(changed))) => (changes(query, &changed, None), true),
        Some((since, None)) => (present(store, query, since), false),
    };
    let cookie = cookie(store);
    let mut result = LdapResult::default();
    if sync.persist {
        let cookie = Some(cookie);
        let end = if deletes {
            SyncInfo::RefreshDelete(cookie, true)
        } else {
            SyncInfo::RefreshPresent(cookie, true)
        };
        messages.push(info(&end));
    } else {
        let cookie = Some(Octets::borrowed(&cookie));
        let value = encoded(&asn1::SyncDone { cookie, refresh_deletes: deletes });
        result.controls.push(Control::new(known::SyncDone::OID).with_value(value));
    }
    Ok(Refresh { messages, result })
}

impl Listener {
    /// A search that has told of all until now.
    pub(super) const fn new(id: u32, query: Query, store: &Store) -> Self {
        Self { id, query, told: store.changes() }
    }

    /// What has changed meanwhile. The search ends if that is more than the directory remembers.
    pub(super) fn news(&mut self, store: &Store) -> Done<Vec<Message>> {
        let changed = store.changed_since(self.told);
        let changed = changed.ok_or_else(|| LdapResult::new(ResultCode::SYNC_REFRESH_REQUIRED))?;
        self.told = store.changes();
        Ok(changes(&self.query, &changed, Some(&cookie(store))))
    }
}

/// What several changes mean for what a search finds; the cookie goes with the last.
fn changes(query: &Query, changed: &[Changed<'_>], cookie: Option<&[u8]>) -> Vec<Message> {
    let mut news: Vec<(&Stored, SyncChange)> = Vec::new();
    for Changed { before, now } in changed {
        let before = before.filter(|stored| query.has(stored));
        let now = now.filter(|stored| query.has(stored));
        match (before, now) {
            (None, None) => {}
            (None, Some(stored)) => news.push((stored, SyncChange::Add)),
            (Some(_), Some(stored)) => news.push((stored, SyncChange::Modify)),
            (Some(stored), None) => news.push((stored, SyncChange::Delete)),
        }
    }
    let last = news.len();
    let messages = news.into_iter().enumerate().map(|(index, (stored, change))| {
        let cookie = cookie.filter(|_| index + 1 == last);
        told_with(query, stored, change, cookie)
    });
    messages.collect()
}

/// What has changed since then, and the identifiers of all else that is still there.
fn present(store: &Store, query: &Query, since: u64) -> Vec<Message> {
    let (same, changed): (Vec<_>, Vec<_>) = query.found(store).partition(|stored| stored.changed <= since);
    let sets = same.chunks(SET).map(|some| {
        let ids = some.iter().map(|stored| uuid(stored.serial).to_vec()).collect();
        info(&SyncInfo::IdSet(None, false, ids))
    });
    sets.chain(changed.into_iter().map(|stored| told(query, stored, SyncChange::Add))).collect()
}

fn told(query: &Query, stored: &Stored, change: SyncChange) -> Message {
    told_with(query, stored, change, None)
}

/// An entry with its state; one that is gone is a name without attributes.
fn told_with(query: &Query, stored: &Stored, change: SyncChange, cookie: Option<&[u8]>) -> Message {
    let mut message = query.message(stored);
    if change == SyncChange::Delete
        && let ProtocolOp::SearchResEntry(entry) = &mut message.operation
    {
        entry.attributes.clear();
    }
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
    message.controls.push(Control::new(known::SyncState::OID).with_value(encoded(&value)));
    message
}

fn info(info: &SyncInfo) -> Message {
    let operation = ProtocolOp::IntermediateResponse(asn1::IntermediateResponse {
        response_name: Some(Octets::copied(SyncInfo::OID.as_bytes())),
        response_value: Some(Octets::copied(&info.value())),
    });
    Message { operation, controls: Vec::new() }
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
