//! Content synchronization (RFC 4533).

use tercet_runtime::types::Octets;

use crate::error::{Error, ErrorKind, Result};
use crate::generated as asn1;
use crate::proto::control::{decoded, encoded};
use crate::proto::{Control, Entry, RequestControl, ResponseControl};

/// Content synchronization (RFC 4533).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sync {
    /// Whether the search goes on after the refresh, and tells every change.
    pub persist: bool,
    /// The state that the client has.
    pub cookie: Option<Vec<u8>>,
    /// Whether the client would rather have all again than fail.
    pub reload_hint: bool,
}

impl Sync {
    /// The object identifier of the request.
    pub const OID: &'static str = "1.3.6.1.4.1.4203.1.9.1.1";

    /// Reads the value of a request.
    ///
    /// # Errors
    /// It is malformed, or of an unknown mode.
    pub fn read(value: &[u8]) -> Result<Self> {
        let value: asn1::SyncRequest<'_> = decoded(value, "sync request")?;
        let persist = match value.mode {
            asn1::SyncRequestMode::RefreshOnly => false,
            asn1::SyncRequestMode::RefreshAndPersist => true,
            _ => return Err(Error::new(ErrorKind::Protocol, "sync request of an unknown mode")),
        };
        let cookie = value.cookie.map(|octets| octets.to_vec());
        Ok(Self { persist, cookie, reload_hint: value.reload_hint })
    }
}

impl RequestControl for Sync {
    fn control(&self) -> Control {
        let mode = if self.persist {
            asn1::SyncRequestMode::RefreshAndPersist
        } else {
            asn1::SyncRequestMode::RefreshOnly
        };
        let cookie = self.cookie.as_deref().map(Octets::borrowed);
        let value = asn1::SyncRequest { mode, cookie, reload_hint: self.reload_hint };
        Control::new(Self::OID).with_criticality(true).with_value(encoded(&value))
    }
}

/// What happened to an entry (RFC 4533 2.3); it comes with the entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyncState {
    /// What happened.
    pub state: SyncChange,
    /// `entryUUID`
    pub uuid: Vec<u8>,
    /// The state after it.
    pub cookie: Option<Vec<u8>>,
}

/// What happened to an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyncChange {
    /// Nothing: it is still there.
    Present,
    /// It came.
    Add,
    /// It changed.
    Modify,
    /// It went.
    Delete,
}

impl ResponseControl for SyncState {
    const OID: &'static str = "1.3.6.1.4.1.4203.1.9.1.2";

    fn read(value: &[u8]) -> Result<Self> {
        let value: asn1::SyncState<'_> = decoded(value, "sync state")?;
        let state = match value.state.number() {
            0 => SyncChange::Present,
            1 => SyncChange::Add,
            2 => SyncChange::Modify,
            3 => SyncChange::Delete,
            other => {
                return Err(Error::new(ErrorKind::Protocol, format!("sync state: {other} is not known")));
            }
        };
        Ok(Self {
            state,
            uuid: value.entry_uuid.to_vec(),
            cookie: value.cookie.map(|octets| octets.to_vec()),
        })
    }
}

impl SyncState {
    /// The state of an entry, if the server tells it.
    ///
    /// # Errors
    /// The control is malformed.
    pub fn of(entry: &Entry) -> Result<Option<Self>> {
        crate::proto::control::find(&entry.controls()?)
    }
}

/// The end of a refresh (RFC 4533 2.4).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SyncDone {
    /// The state after it.
    pub cookie: Option<Vec<u8>>,
    /// Whether the server has told which entries are gone; otherwise all are that it has not told of.
    pub refresh_deletes: bool,
}

impl ResponseControl for SyncDone {
    const OID: &'static str = "1.3.6.1.4.1.4203.1.9.1.3";

    fn read(value: &[u8]) -> Result<Self> {
        let value: asn1::SyncDone<'_> = decoded(value, "sync done")?;
        Ok(Self {
            cookie: value.cookie.map(|octets| octets.to_vec()),
            refresh_deletes: value.refresh_deletes,
        })
    }
}

/// An intermediate response of content synchronization (RFC 4533 2.5).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SyncInfo {
    /// A new state.
    NewCookie(Vec<u8>),
    /// The phase of deletions ends; with `true`, the whole refresh.
    RefreshDelete(Option<Vec<u8>>, bool),
    /// The phase of presence ends; with `true`, the whole refresh.
    RefreshPresent(Option<Vec<u8>>, bool),
    /// Entries that are present, or with `true` gone.
    IdSet(Option<Vec<u8>>, bool, Vec<Vec<u8>>),
}

impl SyncInfo {
    /// Its `responseName`.
    pub const OID: &'static str = "1.3.6.1.4.1.4203.1.9.1.4";

    /// The value of the intermediate response.
    #[must_use]
    pub fn value(&self) -> Vec<u8> {
        let copied = |cookie: &Option<Vec<u8>>| cookie.as_deref().map(Octets::copied);
        encoded(&match self {
            Self::NewCookie(cookie) => asn1::SyncInfo::Newcookie(Octets::borrowed(cookie)),
            Self::RefreshDelete(cookie, done) => asn1::SyncInfo::RefreshDelete(asn1::SyncInfoRefreshDelete {
                cookie: copied(cookie),
                refresh_done: *done,
            }),
            Self::RefreshPresent(cookie, done) => {
                asn1::SyncInfo::RefreshPresent(asn1::SyncInfoRefreshPresent {
                    cookie: copied(cookie),
                    refresh_done: *done,
                })
            }
            Self::IdSet(cookie, deletes, ids) => asn1::SyncInfo::SyncIdSet(asn1::SyncInfoSyncIdSet {
                cookie: copied(cookie),
                refresh_deletes: *deletes,
                sync_uui_ds: ids.iter().map(|id| Octets::borrowed(id)).collect(),
            }),
        })
    }

    /// Reads the value of an intermediate response.
    ///
    /// # Errors
    /// It is malformed.
    pub fn read(value: &[u8]) -> Result<Self> {
        let owned = |cookie: Option<Octets<'_>>| cookie.map(|octets| octets.to_vec());
        Ok(match decoded(value, "sync info")? {
            asn1::SyncInfo::Newcookie(cookie) => Self::NewCookie(cookie.to_vec()),
            asn1::SyncInfo::RefreshDelete(part) => Self::RefreshDelete(owned(part.cookie), part.refresh_done),
            asn1::SyncInfo::RefreshPresent(part) => {
                Self::RefreshPresent(owned(part.cookie), part.refresh_done)
            }
            asn1::SyncInfo::SyncIdSet(set) => {
                let ids = set.sync_uui_ds.iter().map(|id| id.to_vec()).collect();
                Self::IdSet(owned(set.cookie), set.refresh_deletes, ids)
            }
            asn1::SyncInfo::Unknown(_) => {
                return Err(Error::new(ErrorKind::Protocol, "sync info of an unknown kind"));
            }
        })
    }
}
