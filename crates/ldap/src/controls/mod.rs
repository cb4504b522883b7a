//! Controls that have an RFC or a draft of their own. Others implement [`RequestControl`] and [`ResponseControl`].

mod dereference;
mod session;

pub use dereference::{Dereference, Dereferenced, Referent};
pub use session::{SessionFormat, SessionTracking};
use tercet_runtime::types::Octets;

use crate::error::{Error, ErrorKind, Result};
use crate::generated as asn1;
use crate::generated::Filter;
use crate::proto::control::{decoded, encoded};
use crate::proto::{Control, Entry, RequestControl, ResponseControl, ResultCode};

/// Controls that are an object identifier alone.
macro_rules! plain {
    ($($(#[$doc:meta])* $name:ident, $oid:literal, $critical:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct $name;

        impl $name {
            /// Its object identifier.
            pub const OID: &'static str = $oid;
        }

        impl RequestControl for $name {
            fn control(&self) -> Control {
                Control::new($oid).with_criticality($critical)
            }
        }
    )*};
}

plain! {
    /// Referral objects are taken as the entries that they are (RFC 3296).
    ManageDsaIt, "2.16.840.1.113730.3.4.2", true;
    /// An entry is deleted with all below it (draft-armijo-ldap-treedelete).
    TreeDelete, "1.2.840.113556.1.4.805", true;
    /// Schema and other rules are relaxed (draft-zeilenga-ldap-relax).
    Relax, "1.3.6.1.4.1.4203.666.5.12", true;
    /// Active Directory does not refer to other domains.
    DomainScope, "1.2.840.113556.1.4.1339", false;
    /// The server does not answer from a copy (RFC 6171).
    DontUseCopy, "1.3.6.1.1.22", true;
    /// Asks for [`PasswordPolicy`] in the answer.
    PasswordPolicyRequest, "1.3.6.1.4.1.42.2.27.8.5.1", false;
    /// Asks for [`AuthorizedAs`] in the answer to a bind (RFC 3829).
    AuthorizationIdentity, "2.16.840.1.113730.3.4.16", false;
    /// The request is checked and not done (draft-zeilenga-ldap-noop).
    NoOp, "1.3.6.1.4.1.4203.666.5.2", true;
}

/// Who the server takes the user for after a bind (RFC 3829): `dn:…`, `u:…`, or nothing for anonymous.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuthorizedAs(pub String);

impl ResponseControl for AuthorizedAs {
    const OID: &'static str = "2.16.840.1.113730.3.4.15";

    fn read(value: &[u8]) -> Result<Self> {
        let identity = std::str::from_utf8(value);
        let identity =
            identity.map_err(|_| Error::new(ErrorKind::Protocol, "an identity that is no UTF-8"))?;
        Ok(Self(identity.to_owned()))
    }
}

/// A page of a search (RFC 2696): as a request its size, as an answer an estimate; an empty cookie ends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PagedResults {
    /// Entries of a page, or an estimate of all.
    pub size: u32,
    /// What the last page came with.
    pub cookie: Vec<u8>,
    /// Whether the search has to fail where pages are not known.
    pub critical: bool,
}

impl RequestControl for PagedResults {
    fn control(&self) -> Control {
        let value = asn1::PagedResults { size: self.size, cookie: Octets::borrowed(&self.cookie) };
        Control::new(Self::OID).with_criticality(self.critical).with_value(encoded(&value))
    }
}

impl ResponseControl for PagedResults {
    const OID: &'static str = "1.2.840.113556.1.4.319";

    fn read(value: &[u8]) -> Result<Self> {
        let value: asn1::PagedResults<'_> = decoded(value, "paged results")?;
        Ok(Self { size: value.size, cookie: value.cookie.to_vec(), critical: false })
    }
}

/// A key to sort by (RFC 2891).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SortKey {
    /// The attribute.
    pub attribute: String,
    /// The matching rule, if not the attribute's own.
    pub rule: Option<String>,
    /// From the last to the first.
    pub reverse: bool,
}

impl std::str::FromStr for SortKey {
    type Err = Error;

    /// `[-]attribute[:rule]`, as ldapsearch takes it.
    fn from_str(text: &str) -> Result<Self> {
        let (reverse, text) = text.strip_prefix('-').map_or((false, text), |text| (true, text));
        let (attribute, rule) =
            text.split_once(':').map_or((text, None), |(name, rule)| (name, Some(rule.to_owned())));
        if attribute.is_empty() {
            return Err(Error::new(ErrorKind::Syntax, "a sort key needs an attribute"));
        }
        Ok(Self { attribute: attribute.to_owned(), rule, reverse })
    }
}

/// Sorting by the server (RFC 2891).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sort {
    /// The keys, the most significant first.
    pub keys: Vec<SortKey>,
    /// Whether the search has to fail where entries cannot be sorted.
    pub critical: bool,
}

impl Sort {
    /// The object identifier of the request.
    pub const OID: &'static str = "1.2.840.113556.1.4.473";
}

impl RequestControl for Sort {
    fn control(&self) -> Control {
        let keys = self.keys.iter().map(|key| asn1::SortKey {
            attribute_type: Octets::borrowed(key.attribute.as_bytes()),
            ordering_rule: key.rule.as_ref().map(|rule| Octets::borrowed(rule.as_bytes())),
            reverse_order: key.reverse,
        });
        let value = asn1::SortKeyList(keys.collect());
        Control::new(Self::OID).with_criticality(self.critical).with_value(encoded(&value))
    }
}

/// What became of sorting (RFC 2891).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SortResult {
    /// `success`, or why not.
    pub code: ResultCode,
    /// The attribute at fault.
    pub attribute: Option<String>,
}

impl ResponseControl for SortResult {
    const OID: &'static str = "1.2.840.113556.1.4.474";

    fn read(value: &[u8]) -> Result<Self> {
        let value: asn1::SortResult<'_> = decoded(value, "sort result")?;
        let attribute = value.attribute_type.map(|name| String::from_utf8_lossy(&name).into_owned());
        Ok(Self { code: code(value.sort_result.number()), attribute })
    }
}

fn code(number: i64) -> ResultCode {
    ResultCode(u32::try_from(number).unwrap_or(u32::MAX))
}

/// A part of a sorted list (draft-ietf-ldapext-ldapv3-vlv-09).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VirtualListView {
    /// Entries before the target.
    pub before: u32,
    /// Entries behind it.
    pub after: u32,
    /// The entry in the middle.
    pub target: VlvTarget,
    /// What the last answer came with.
    pub context: Option<Vec<u8>>,
}

/// The entry that a list view is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VlvTarget {
    /// By its position, from 1, in a list of about so many.
    Offset {
        /// The position.
        offset: u32,
        /// How many there are, as far as the client knows; 0 for unknown.
        count: u32,
    },
    /// The first that is not less than a value.
    Value(Vec<u8>),
}

impl VirtualListView {
    /// The object identifier of the request.
    pub const OID: &'static str = "2.16.840.1.113730.3.4.9";

    /// Reads the value of a request.
    ///
    /// # Errors
    /// It is malformed.
    pub fn read(value: &[u8]) -> Result<Self> {
        let value: asn1::VirtualListViewRequest<'_> = decoded(value, "list view")?;
        let target = match value.target {
            asn1::Target::ByOffset(place) => {
                VlvTarget::Offset { offset: place.offset, count: place.content_count }
            }
            asn1::Target::GreaterThanOrEqual(value) => VlvTarget::Value(value.to_vec()),
            asn1::Target::Unknown(_) => {
                return Err(Error::new(ErrorKind::Protocol, "list view with an unknown kind of target"));
            }
        };
        let context = value.context_id.map(|octets| octets.to_vec());
        Ok(Self { before: value.before_count, after: value.after_count, target, context })
    }
}

impl RequestControl for VirtualListView {
    fn control(&self) -> Control {
        let target = match &self.target {
            VlvTarget::Offset { offset, count } => {
                asn1::Target::ByOffset(asn1::TargetByOffset { offset: *offset, content_count: *count })
            }
            VlvTarget::Value(value) => asn1::Target::GreaterThanOrEqual(Octets::borrowed(value)),
        };
        let value = asn1::VirtualListViewRequest {
            before_count: self.before,
            after_count: self.after,
            target,
            context_id: self.context.as_deref().map(Octets::borrowed),
        };
        Control::new(Self::OID).with_criticality(true).with_value(encoded(&value))
    }
}

/// Where a list view stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VlvResult {
    /// Position of the target.
    pub position: u32,
    /// Entries of the whole list.
    pub count: u32,
    /// `success`, or why not.
    pub code: ResultCode,
    /// To be given to the next request.
    pub context: Option<Vec<u8>>,
}

impl ResponseControl for VlvResult {
    const OID: &'static str = "2.16.840.1.113730.3.4.10";

    fn read(value: &[u8]) -> Result<Self> {
        let value: asn1::VirtualListViewResponse<'_> = decoded(value, "list view")?;
        Ok(Self {
            position: value.target_position,
            count: value.content_count,
            code: code(value.virtual_list_view_result.number()),
            context: value.context_id.map(|octets| octets.to_vec()),
        })
    }
}

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

/// Only values that one of these filters selects are returned (RFC 3876).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatchedValues(pub Vec<Filter<'static>>);

impl MatchedValues {
    /// Its object identifier.
    pub const OID: &'static str = "1.2.826.0.1.3344810.2.3";
}

impl RequestControl for MatchedValues {
    fn control(&self) -> Control {
        let value = asn1::ValuesReturnFilter(self.0.clone());
        Control::new(Self::OID).with_criticality(true).with_value(encoded(&value))
    }
}

/// The operation is done only if the filter selects its entry (RFC 4528).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assertion(pub Filter<'static>);

impl Assertion {
    /// Its object identifier.
    pub const OID: &'static str = "1.3.6.1.1.12";
}

impl RequestControl for Assertion {
    fn control(&self) -> Control {
        Control::new(Self::OID).with_criticality(true).with_value(encoded(&self.0))
    }
}

/// The operation is done as somebody else (RFC 4370): `dn:…`, `u:…`, or empty for anonymous.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProxiedAuthorization(pub String);

impl ProxiedAuthorization {
    /// Its object identifier.
    pub const OID: &'static str = "2.16.840.1.113730.3.4.18";
}

impl RequestControl for ProxiedAuthorization {
    fn control(&self) -> Control {
        Control::new(Self::OID).with_criticality(true).with_value(self.0.as_bytes())
    }
}

/// Only subentries, or only others, are returned (RFC 3672).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Subentries(pub bool);

impl RequestControl for Subentries {
    fn control(&self) -> Control {
        let value = [0x01, 0x01, if self.0 { 0xFF } else { 0 }];
        Control::new("1.3.6.1.4.1.4203.1.10.1").with_criticality(true).with_value(value)
    }
}

/// The entry before the change (RFC 4527), as far as these attributes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PreRead(pub Vec<String>);

/// The entry after the change (RFC 4527), as far as these attributes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PostRead(pub Vec<String>);

/// An entry in the value of a control: its name and attributes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadEntry {
    /// The name.
    pub dn: String,
    /// The attributes with their values.
    pub attributes: Vec<(String, Vec<Vec<u8>>)>,
}

impl ReadEntry {
    fn read(value: &[u8]) -> Result<Self> {
        let entry: asn1::SearchResultEntry<'_> = decoded(value, "entry")?;
        let text = |octets: &Octets<'_>| String::from_utf8_lossy(octets).into_owned();
        let attributes = entry.attributes.iter().map(|attribute| {
            (text(&attribute.r#type), attribute.vals.iter().map(|value| value.to_vec()).collect())
        });
        Ok(Self { dn: text(&entry.object_name), attributes: attributes.collect() })
    }
}

macro_rules! read_entry {
    ($($request:ident $answer:ident $oid:literal $doc:literal;)*) => {$(
        impl $request {
            /// Its object identifier.
            pub const OID: &'static str = $oid;
        }

        impl RequestControl for $request {
            fn control(&self) -> Control {
                let names = self.0.iter().map(|name| Octets::borrowed(name.as_bytes())).collect();
                let mut writer = tercet_runtime::ber::Writer::new(tercet_runtime::ber::Rules::Der);
                let list = writer.open();
                let names: Vec<Octets<'_>> = names;
                names.iter().rev().for_each(|name| writer.octet_string(tercet_runtime::Tag::OCTET_STRING, name));
                writer.close(tercet_runtime::Tag::SEQUENCE, list);
                Control::new($oid).with_criticality(true).with_value(writer.into_vec())
            }
        }

        #[doc = $doc]
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct $answer(pub ReadEntry);

        impl ResponseControl for $answer {
            const OID: &'static str = $oid;

            fn read(value: &[u8]) -> Result<Self> {
                ReadEntry::read(value).map(Self)
            }
        }
    )*};
}

read_entry! {
    PreRead PreReadEntry "1.3.6.1.1.13.1" "The entry as it was before the change.";
    PostRead PostReadEntry "1.3.6.1.1.13.2" "The entry as it is after the change.";
}

/// What the server says of a password (draft-behera-ldap-password-policy-10).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PasswordPolicy {
    /// Seconds until the password expires.
    pub expires_in: Option<u32>,
    /// Binds that are left with an expired password.
    pub grace_logins: Option<u32>,
    /// What is wrong.
    pub error: Option<u8>,
}

impl PasswordPolicy {
    /// The error in words.
    #[must_use]
    pub const fn error_text(&self) -> Option<&'static str> {
        Some(match self.error {
            None => return None,
            Some(0) => "Password expired",
            Some(1) => "Account locked",
            Some(2) => "Password must be changed",
            Some(3) => "Policy prevents password modification",
            Some(4) => "Policy requires old password in order to change password",
            Some(5) => "Password fails quality checks",
            Some(6) => "Password is too short for policy",
            Some(7) => "Password has been changed too recently",
            Some(8) => "New password is in list of old passwords",
            Some(_) => "Unknown error code",
        })
    }
}

impl ResponseControl for PasswordPolicy {
    const OID: &'static str = PasswordPolicyRequest::OID;

    fn read(value: &[u8]) -> Result<Self> {
        let value: asn1::PasswordPolicy<'_> = decoded(value, "password policy")?;
        let mut policy = Self { error: value.error, ..Self::default() };
        match value.warning {
            Some(asn1::PasswordPolicyWarning::TimeBeforeExpiration(seconds)) => {
                policy.expires_in = Some(seconds)
            }
            Some(asn1::PasswordPolicyWarning::GraceAuthNsRemaining(count)) => {
                policy.grace_logins = Some(count)
            }
            Some(asn1::PasswordPolicyWarning::Unknown(_)) | None => {}
        }
        Ok(policy)
    }
}

/// The search goes on and tells of changes (draft-ietf-ldapext-psearch-03).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PersistentSearch {
    /// Kinds of changes: 1 add, 2 delete, 4 modify, 8 modify DN.
    pub change_types: u8,
    /// Whether only changes are told, and not what is there.
    pub changes_only: bool,
    /// Whether entries come with [`EntryChange`].
    pub return_changes: bool,
}

impl RequestControl for PersistentSearch {
    fn control(&self) -> Control {
        let Self { change_types, changes_only, return_changes: return_e_cs } = *self;
        let value = asn1::PersistentSearch { change_types: change_types & 15, changes_only, return_e_cs };
        Control::new("2.16.840.1.113730.3.4.3").with_criticality(true).with_value(encoded(&value))
    }
}

/// What happened to an entry of a persistent search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryChange {
    /// 1 add, 2 delete, 4 modify, 8 modify DN.
    pub change_type: i64,
    /// The name before.
    pub previous_dn: Option<String>,
}

impl ResponseControl for EntryChange {
    const OID: &'static str = "2.16.840.1.113730.3.4.7";

    fn read(value: &[u8]) -> Result<Self> {
        let value: asn1::EntryChange<'_> = decoded(value, "entry change")?;
        let previous_dn = value.previous_dn.map(|dn| String::from_utf8_lossy(&dn).into_owned());
        Ok(Self { change_type: value.change_type.number(), previous_dn })
    }
}

/// Changes of Active Directory since a cookie, as request and answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DirSync {
    /// Flags; of an answer, not 0 if there is more.
    pub flags: i64,
    /// Octets of an answer at most.
    pub max_bytes: u32,
    /// What the last answer came with.
    pub cookie: Vec<u8>,
}

impl RequestControl for DirSync {
    fn control(&self) -> Control {
        let cookie = Octets::borrowed(&self.cookie);
        let value = asn1::DirSync { flags: self.flags.into(), max_bytes: self.max_bytes, cookie };
        Control::new(Self::OID).with_criticality(true).with_value(encoded(&value))
    }
}

impl ResponseControl for DirSync {
    const OID: &'static str = "1.2.840.113556.1.4.841";

    fn read(value: &[u8]) -> Result<Self> {
        let value: asn1::DirSync<'_> = decoded(value, "DirSync")?;
        let flags = i64::try_from(&value.flags).unwrap_or_default();
        Ok(Self { flags, max_bytes: value.max_bytes, cookie: value.cookie.to_vec() })
    }
}

/// An operation is part of a transaction (RFC 5805).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Transaction(pub Vec<u8>);

impl RequestControl for Transaction {
    fn control(&self) -> Control {
        Control::new("1.3.6.1.1.21.2").with_criticality(true).with_value(self.0.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values as a peer writes them: from ldapsearch and slapd of OpenLDAP 2.5, and by hand from the RFCs.
    #[test]
    fn values() {
        let value = |control: &dyn RequestControl| control.control().value.unwrap();
        let paged = PagedResults { size: 500, ..PagedResults::default() };
        assert_eq!(value(&paged), [0x30, 6, 2, 2, 1, 0xF4, 4, 0]);
        assert_eq!(PagedResults::read(&value(&paged)).unwrap(), paged);
        let sort = Sort {
            keys: vec!["-cn:caseExactMatch".parse().unwrap(), "sn".parse().unwrap()],
            critical: false,
        };
        assert_eq!(&value(&sort)[..8], [0x30, 31, 0x30, 23, 4, 2, b'c', b'n']);
        assert_eq!(SortResult::read(&[0x30, 3, 0x0A, 1, 0]).unwrap(), SortResult::default());
        let vlv = VlvResult::read(&[0x30, 0x0C, 2, 1, 1, 2, 1, 2, 0x0A, 1, 0, 4, 1, 7]).unwrap();
        assert_eq!(
            vlv,
            VlvResult { position: 1, count: 2, code: ResultCode::SUCCESS, context: Some(vec![7]) }
        );
        assert_eq!(value(&Sync { persist: true, ..Sync::default() }), [0x30, 3, 0x0A, 1, 3]);
        assert_eq!(value(&Assertion("(cn=a)".parse().unwrap())), [0xA3, 7, 4, 2, b'c', b'n', 4, 1, b'a']);
        assert_eq!(
            value(&PreRead(vec!["cn".to_owned(), "sn".to_owned()])),
            [0x30, 8, 4, 2, b'c', b'n', 4, 2, b's', b'n']
        );
        let policy = PasswordPolicy::read(&[0x30, 8, 0xA0, 3, 0x81, 1, 5, 0x81, 1, 2]).unwrap();
        assert_eq!((policy.grace_logins, policy.error_text()), (Some(5), Some("Password must be changed")));
        assert_eq!(AuthorizedAs::read(b"dn:o=x").unwrap(), AuthorizedAs("dn:o=x".to_owned()));
        assert!(AuthorizedAs::read(&[0xFF]).is_err());
        assert_eq!(SyncInfo::read(&[0xA1, 3, 1, 1, 0]).unwrap(), SyncInfo::RefreshDelete(None, false));
    }

    #[test]
    fn malformed_values() {
        for value in [&[][..], &[0x30], &[0x30, 2, 4, 5], &[0x30, 0x80], &[4, 0], &[0x30, 0, 0]] {
            assert!(PagedResults::read(value).is_err(), "{value:02x?}");
            assert!(SyncState::read(value).is_err(), "{value:02x?}");
            assert!(VlvResult::read(value).is_err(), "{value:02x?}");
        }
    }
}
