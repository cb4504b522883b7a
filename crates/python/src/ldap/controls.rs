//! `tercet.ldap.controls`: controls for requests, and what those of answers say.

use super::answers::{self, octets};
use super::arguments;
use super::error;
use crate::error::ours;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyMapping, PyTuple};
use tercet_ldap::controls as known;
use tercet_ldap::proto::{RequestControl, ResponseControl};
use tercet_ldap::{Control, Filter};

type Made<'py> = PyResult<Bound<'py, PyAny>>;

fn made<'py>(py: Python<'py>, control: &dyn RequestControl) -> Made<'py> {
    answers::control(py, &control.control())
}

fn filter(text: &Bound<'_, PyAny>) -> PyResult<Filter<'static>> {
    let parsed = text.str()?.to_cow()?.parse();
    parsed.map_err(|fault| error::raise(text.py(), &fault))
}

/// Controls that are an object identifier alone.
macro_rules! plain {
    ($($(#[$doc:meta])* $function:ident $control:ident;)*) => {$(
        $(#[$doc])*
        #[pyfunction]
        pub(crate) fn $function(py: Python<'_>) -> Made<'_> {
            made(py, &known::$control)
        }
    )*};
}

plain! {
    /// Referral objects are taken as the entries that they are (RFC 3296).
    manage_dsa_it ManageDsaIt;
    /// An entry is deleted with all below it (draft-armijo-ldap-treedelete).
    tree_delete TreeDelete;
    /// Schema and other rules are relaxed (draft-zeilenga-ldap-relax).
    relax Relax;
    /// Active Directory does not refer to other domains.
    domain_scope DomainScope;
    /// The server does not answer from a copy (RFC 6171).
    dont_use_copy DontUseCopy;
    /// Asks for `PasswordPolicy` in the answer.
    password_policy PasswordPolicyRequest;
    /// Asks for the authorization identity in the answer to a bind (RFC 3829).
    authorization_identity AuthorizationIdentity;
    /// The request is checked and not done (draft-zeilenga-ldap-noop).
    no_op NoOp;
}

/// A page of a search (RFC 2696); `page_size` of a search does all of them.
#[pyfunction]
#[pyo3(signature = (size, cookie = None, *, critical = false))]
pub(crate) fn paged_results<'py>(
    py: Python<'py>,
    size: u32,
    cookie: Option<&Bound<'py, PyAny>>,
    critical: bool,
) -> Made<'py> {
    let cookie = cookie.map(arguments::value).transpose()?.unwrap_or_default();
    made(py, &known::PagedResults { size, cookie, critical })
}

/// Sorting by the server (RFC 2891), by keys in the form `[-]attribute[:rule]`.
#[pyfunction]
#[pyo3(signature = (*keys, critical = false))]
pub(crate) fn sort<'py>(keys: &Bound<'py, PyTuple>, critical: bool) -> Made<'py> {
    let py = keys.py();
    let key =
        |key: Bound<'py, PyAny>| key.extract::<String>()?.parse().map_err(|fault| error::raise(py, &fault));
    let keys = keys.iter().map(key).collect::<PyResult<_>>()?;
    made(py, &known::Sort { keys, critical })
}

/// A part of a sorted list, around the entry at an offset or with a value (draft-ietf-ldapext-ldapv3-vlv).
#[pyfunction]
#[pyo3(signature = (before, after, *, offset = None, count = 0, value = None, context = None))]
pub(crate) fn virtual_list_view<'py>(
    py: Python<'py>,
    before: u32,
    after: u32,
    offset: Option<u32>,
    count: u32,
    value: Option<&Bound<'py, PyAny>>,
    context: Option<&Bound<'py, PyAny>>,
) -> Made<'py> {
    let target = match (offset, value) {
        (Some(offset), None) => known::VlvTarget::Offset { offset, count },
        (None, Some(value)) => known::VlvTarget::Value(ours(arguments::value(value))?),
        _ => return Err(crate::error::argument("a list view has an offset or a value")),
    };
    let context = context.map(arguments::value).transpose()?;
    made(py, &known::VirtualListView { before, after, target, context })
}

/// Content synchronization (RFC 4533); with `persist`, the search goes on and reports changes.
#[pyfunction]
#[pyo3(signature = (*, persist = false, cookie = None, reload_hint = false))]
pub(crate) fn sync<'py>(
    py: Python<'py>,
    persist: bool,
    cookie: Option<&Bound<'py, PyAny>>,
    reload_hint: bool,
) -> Made<'py> {
    let cookie = cookie.map(arguments::value).transpose()?;
    made(py, &known::Sync { persist, cookie, reload_hint })
}

/// Only values that one of these filters selects are returned (RFC 3876).
#[pyfunction]
#[pyo3(signature = (*filters))]
pub(crate) fn matched_values<'py>(filters: &Bound<'py, PyTuple>) -> Made<'py> {
    let all = filters.iter().map(|text| filter(&text)).collect::<PyResult<_>>()?;
    made(filters.py(), &known::MatchedValues(all))
}

/// The operation is done only if the filter selects its entry (RFC 4528).
#[pyfunction]
pub(crate) fn assertion<'py>(filter: &Bound<'py, PyAny>) -> Made<'py> {
    made(filter.py(), &known::Assertion(self::filter(filter)?))
}

/// The operation is done as somebody else (RFC 4370): `dn:…`, `u:…`, or empty for anonymous.
#[pyfunction]
pub(crate) fn proxied_authorization(py: Python<'_>, identity: String) -> Made<'_> {
    made(py, &known::ProxiedAuthorization(identity))
}

/// Only subentries, or only others, are returned (RFC 3672).
#[pyfunction]
#[pyo3(signature = (visible = true))]
pub(crate) fn subentries(py: Python<'_>, visible: bool) -> Made<'_> {
    made(py, &known::Subentries(visible))
}

/// The entry before the change, as far as these attributes (RFC 4527).
#[pyfunction]
#[pyo3(signature = (*attributes))]
pub(crate) fn pre_read(py: Python<'_>, attributes: Vec<String>) -> Made<'_> {
    made(py, &known::PreRead(attributes))
}

/// The entry after the change, as far as these attributes (RFC 4527).
#[pyfunction]
#[pyo3(signature = (*attributes))]
pub(crate) fn post_read(py: Python<'_>, attributes: Vec<String>) -> Made<'_> {
    made(py, &known::PostRead(attributes))
}

/// The search goes on and reports changes (draft-ietf-ldapext-psearch): 1 add, 2 delete, 4 modify, 8 modify DN.
#[pyfunction]
#[pyo3(signature = (change_types = 15, *, changes_only = true, return_changes = true))]
pub(crate) fn persistent_search(
    py: Python<'_>,
    change_types: u8,
    changes_only: bool,
    return_changes: bool,
) -> Made<'_> {
    made(py, &known::PersistentSearch { change_types, changes_only, return_changes })
}

/// Changes of Active Directory since a cookie.
#[pyfunction]
#[pyo3(signature = (cookie = None, *, flags = 0, max_bytes = 0))]
pub(crate) fn dir_sync<'py>(
    py: Python<'py>,
    cookie: Option<&Bound<'py, PyAny>>,
    flags: i64,
    max_bytes: u32,
) -> Made<'py> {
    let cookie = cookie.map(arguments::value).transpose()?.unwrap_or_default();
    made(py, &known::DirSync { flags, max_bytes, cookie })
}

/// The operation is part of a transaction (RFC 5805).
#[pyfunction]
pub(crate) fn transaction<'py>(identifier: &Bound<'py, PyAny>) -> Made<'py> {
    made(identifier.py(), &known::Transaction(ours(arguments::value(identifier))?))
}

/// Adds the entries that found ones name, with their `wanted` attributes (draft-masarati-ldap-deref).
#[pyfunction]
pub(crate) fn dereference<'py>(wanted: &Bound<'py, PyMapping>) -> Made<'py> {
    let mut all = known::Dereference::default();
    for pair in wanted.items()?.iter() {
        all.0.push(pair.extract()?);
    }
    made(wanted.py(), &all)
}

/// Names to the server, for its log, the user of the client (draft-wahl-ldap-session).
#[pyfunction]
#[pyo3(
    signature = (identifier, *, address = String::new(), host = String::new(), format = "username"),
    text_signature = "(identifier, *, address='', host='', format='username')"
)]
pub(crate) fn session_tracking<'py>(
    py: Python<'py>,
    identifier: String,
    address: String,
    host: String,
    format: &str,
) -> Made<'py> {
    let format = match format {
        "username" => known::SessionFormat::Username,
        "radius-session" => known::SessionFormat::RadiusSession,
        "radius-multi-session" => known::SessionFormat::RadiusMultiSession,
        _ => return Err(crate::error::argument("username, radius-session or radius-multi-session expected")),
    };
    made(py, &known::SessionTracking { address, host, format, identifier })
}

/// Returns the parsed control of an answer; None for an unknown one.
#[pyfunction]
pub(crate) fn read_control<'py>(control: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = control.py();
    let control = ours(arguments::control(control))?;
    let told = read(py, &control)?;
    let class = |name: &str| py.import("tercet.ldap.controls")?.getattr(name);
    told.map(|(name, fields)| class(name)?.call1(fields)).transpose()
}

type Told<'py> = Option<(&'static str, Bound<'py, PyTuple>)>;

fn read<'py>(py: Python<'py>, control: &Control) -> PyResult<Told<'py>> {
    let value = control.value.as_deref().unwrap_or_default();
    fn parsed<C: ResponseControl>(py: Python<'_>, value: &[u8]) -> PyResult<C> {
        C::read(value).map_err(|fault| error::raise(py, &fault))
    }
    let bytes = |octets: &[u8]| PyBytes::new(py, octets);
    Ok(Some(match control.oid.as_str() {
        known::PagedResults::OID => {
            let it: known::PagedResults = parsed(py, value)?;
            ("PagedResults", (it.size, bytes(&it.cookie)).into_pyobject(py)?)
        }
        known::SortResult::OID => {
            let it: known::SortResult = parsed(py, value)?;
            ("SortResult", (it.code.0, it.attribute).into_pyobject(py)?)
        }
        known::VlvResult::OID => {
            let it: known::VlvResult = parsed(py, value)?;
            let context = octets(py, it.context.as_deref());
            ("ListView", (it.position, it.count, it.code.0, context).into_pyobject(py)?)
        }
        known::SyncState::OID => {
            let it: known::SyncState = parsed(py, value)?;
            let state = match it.state {
                known::SyncChange::Present => "present",
                known::SyncChange::Add => "add",
                known::SyncChange::Modify => "modify",
                known::SyncChange::Delete => "delete",
            };
            ("SyncState", (state, bytes(&it.uuid), octets(py, it.cookie.as_deref())).into_pyobject(py)?)
        }
        known::SyncDone::OID => {
            let it: known::SyncDone = parsed(py, value)?;
            ("SyncDone", (octets(py, it.cookie.as_deref()), it.refresh_deletes).into_pyobject(py)?)
        }
        known::PreReadEntry::OID => ("PreRead", entry(py, &parsed::<known::PreReadEntry>(py, value)?.0)?),
        known::PostReadEntry::OID => ("PostRead", entry(py, &parsed::<known::PostReadEntry>(py, value)?.0)?),
        known::PasswordPolicy::OID => {
            let it: known::PasswordPolicy = parsed(py, value)?;
            let fields = (it.expires_in, it.grace_logins, it.error, it.error_text());
            ("PasswordPolicy", fields.into_pyobject(py)?)
        }
        known::EntryChange::OID => {
            let it: known::EntryChange = parsed(py, value)?;
            ("EntryChange", (it.change_type, it.previous_dn).into_pyobject(py)?)
        }
        known::DirSync::OID => {
            let it: known::DirSync = parsed(py, value)?;
            ("DirSync", (it.flags, it.max_bytes, bytes(&it.cookie)).into_pyobject(py)?)
        }
        known::Dereferenced::OID => {
            let it: known::Dereferenced = parsed(py, value)?;
            let class = py.import("tercet.ldap.controls")?.getattr("Referent")?;
            let referent = |one: &known::Referent| {
                class.call1((&one.attribute, &one.dn, attributes(py, &one.attributes)?))
            };
            let all = it.0.iter().map(referent).collect::<PyResult<Vec<_>>>()?;
            ("Dereferenced", (all,).into_pyobject(py)?)
        }
        _ => return Ok(None),
    }))
}

fn attributes<'py>(py: Python<'py>, all: &[(String, Vec<Vec<u8>>)]) -> PyResult<Bound<'py, PyDict>> {
    let found = PyDict::new(py);
    for (name, values) in all {
        found.set_item(name, answers::values(py, values)?)?;
    }
    Ok(found)
}

fn entry<'py>(py: Python<'py>, entry: &known::ReadEntry) -> PyResult<Bound<'py, PyTuple>> {
    (&entry.dn, attributes(py, &entry.attributes)?).into_pyobject(py)
}

/// Returns the state in an intermediate response of content synchronization; None for another kind.
#[pyfunction]
pub(crate) fn read_sync_info<'py>(
    py: Python<'py>,
    name: Option<&str>,
    value: Option<&Bound<'py, PyAny>>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    if name != Some(known::SyncInfo::OID) {
        return Ok(None);
    }
    let value = value.map(arguments::value).transpose()?.unwrap_or_default();
    let info = known::SyncInfo::read(&value).map_err(|fault| error::raise(py, &fault))?;
    let (kind, cookie, done, ids) = match info {
        known::SyncInfo::NewCookie(cookie) => ("new-cookie", Some(cookie), false, Vec::new()),
        known::SyncInfo::RefreshDelete(cookie, done) => ("refresh-delete", cookie, done, Vec::new()),
        known::SyncInfo::RefreshPresent(cookie, done) => ("refresh-present", cookie, done, Vec::new()),
        known::SyncInfo::IdSet(cookie, true, ids) => ("deleted", cookie, false, ids),
        known::SyncInfo::IdSet(cookie, false, ids) => ("present", cookie, false, ids),
    };
    let ids: Bound<'py, PyList> = answers::values(py, &ids)?;
    let class = py.import("tercet.ldap.controls")?.getattr("SyncInfo")?;
    Ok(Some(class.call1((kind, octets(py, cookie.as_deref()), done, ids))?))
}
