//! What Python gives: values, controls, changes, what to look for, and what to connect with.

use super::answers::VALUES;
use super::drafts::Draft;
use super::entry::Entry;
use super::error;
use super::names::Dn;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyInt, PyList, PyString, PyTuple};
use std::io;
use std::path::PathBuf;
use std::time::Duration;
use tercet_ldap::ldif::{Change, ModificationKind, Record, RecordModification};
use tercet_ldap::{Config, Control, Deref, KeepAlive, Referrals, Scope, Search, StartTls, TrustedRoots, Url};

use crate::octets;

/// Attributes with their values.
pub(super) type Attributes = Vec<(String, Vec<Vec<u8>>)>;

/// One value: text in UTF-8, octets, a number in digits, `TRUE` or `FALSE` (RFC 4517).
pub(super) fn value(object: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    if let Ok(text) = object.cast::<PyString>() {
        return Ok(text.to_cow()?.into_owned().into_bytes());
    }
    if let Ok(truth) = object.cast::<PyBool>() {
        return Ok(if truth.is_true() { b"TRUE".to_vec() } else { b"FALSE".to_vec() });
    }
    if object.is_instance_of::<PyInt>() {
        return Ok(object.str()?.to_cow()?.into_owned().into_bytes());
    }
    Ok(octets::of(object)?.into_owned())
}

/// One value, or a list, tuple or another iterable of them; None stands for no value.
pub(super) fn values(object: &Bound<'_, PyAny>) -> PyResult<Vec<Vec<u8>>> {
    if object.is_none() {
        return Ok(Vec::new());
    }
    let is_many = object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>();
    if !is_many && (object.is_instance_of::<PyBytes>() || object.is_instance_of::<PyString>()) {
        return Ok(vec![value(object)?]);
    }
    // What is bytes-like can be iterated too, and means one value all the same.
    if !is_many && let Ok(one) = value(object) {
        return Ok(vec![one]);
    }
    object.try_iter()?.map(|one| value(&one?)).collect()
}

/// A mapping from attribute descriptions to values.
pub(super) fn attributes(object: &Bound<'_, PyAny>) -> PyResult<Attributes> {
    let items = object
        .getattr("items")
        .map_err(|_| PyTypeError::new_err("a mapping from attribute descriptions to values expected"))?
        .call0()?;
    let pairs = items.try_iter()?.map(|item| {
        let (name, all): (String, Bound<'_, PyAny>) = item?.extract()?;
        Ok((name, values(&all)?))
    });
    pairs.collect()
}

/// `(kind, attribute, values)`, one for each change.
pub(super) fn modifications(object: &Bound<'_, PyAny>) -> PyResult<Vec<RecordModification>> {
    let all = object.try_iter()?.map(|one| {
        let one = one?;
        let parts = one.cast::<PyTuple>().map_err(|_| crate::error::argument(MODIFICATION))?;
        let (Ok(kind), Ok(attribute)) = (parts.get_item(0), parts.get_item(1)) else {
            return Err(crate::error::argument(MODIFICATION));
        };
        let kind = ModificationKind::from_word(&kind.extract::<String>()?)
            .ok_or_else(|| crate::error::argument("`add`, `delete`, `replace` or `increment` expected"))?;
        let values = match parts.get_item(2) {
            Ok(given) => values(&given)?,
            Err(_) => Vec::new(),
        };
        Ok(RecordModification { kind, attribute: attribute.extract()?, values })
    });
    all.collect()
}

const MODIFICATION: &str = "a modification is a tuple of its kind, an attribute and values";

/// `Control`s, or any triples of object identifier, criticality and value.
pub(super) fn controls(object: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<Control>> {
    let Some(object) = object else { return Ok(Vec::new()) };
    object.try_iter()?.map(|one| control(&one?)).collect()
}

/// One of them.
pub(super) fn control(object: &Bound<'_, PyAny>) -> PyResult<Control> {
    let (oid, critical, given): (String, bool, Option<Bound<'_, PyAny>>) = object.extract()?;
    let value = given.map(|given| octets::of(&given).map(std::borrow::Cow::into_owned)).transpose()?;
    Ok(Control { oid, critical, value })
}

/// What an entry contains: one of a search, a draft, or a record of content.
pub(super) fn content(object: &Bound<'_, PyAny>) -> PyResult<(String, Attributes)> {
    let record = record(object)?;
    match record.change {
        Change::Add(attributes) => Ok((record.dn, attributes)),
        _ => Err(crate::error::argument("an entry is expected, and no change")),
    }
}

/// A `Record` of LDIF, or an entry of a search or a draft as one.
pub(super) fn record(object: &Bound<'_, PyAny>) -> PyResult<Record> {
    if let Ok(draft) = object.cast::<Draft>() {
        let draft = draft.try_borrow()?;
        let draft = draft.get_ref();
        let attributes =
            draft.attributes().map(|(name, values)| (name.to_owned(), values.to_vec())).collect();
        let change = Change::Add(attributes);
        return Ok(Record { dn: draft.dn().to_owned(), controls: Vec::new(), change, is_change: false });
    }
    if let Ok(entry) = object.cast::<Entry>() {
        let entry = &entry.get().0;
        let attributes = entry.attributes().map(|attribute| {
            (attribute.name().into_owned(), attribute.values().map(<[u8]>::to_vec).collect())
        });
        let change = Change::Add(attributes.collect());
        return Ok(Record { dn: entry.dn().to_owned(), controls: Vec::new(), change, is_change: false });
    }
    let class = object.py().import(VALUES)?.getattr("Record")?;
    if !object.is_instance(&class)? {
        return Err(crate::error::argument("an entry or a record of LDIF is expected"));
    }
    let kind: Option<String> = object.getattr("change")?.extract()?;
    let change = match kind.as_deref() {
        None | Some("add") => Change::Add(attributes(&object.getattr("attributes")?)?),
        Some("delete") => Change::Delete,
        Some("modify") => Change::Modify(modifications(&object.getattr("modifications")?)?),
        Some("rename") => Change::ModifyDn {
            new_rdn: object.getattr("new_rdn")?.extract()?,
            delete_old_rdn: object.getattr("delete_old")?.extract()?,
            new_superior: object.getattr("superior")?.extract()?,
        },
        Some(_) => return Err(crate::error::argument("`add`, `delete`, `modify` or `rename` expected")),
    };
    let dn = object.getattr("dn")?.extract::<Name>()?.0;
    let controls = controls(Some(&object.getattr("controls")?))?;
    Ok(Record { dn, controls, change, is_change: kind.is_some() })
}

/// Seconds, or None for no end.
pub(super) fn seconds(object: &Bound<'_, PyAny>) -> PyResult<Option<Duration>> {
    let given: Option<f64> = object.extract()?;
    let fits = |seconds: f64| {
        // What is beyond a hundred years is cut: clocks have an end.
        Duration::try_from_secs_f64(seconds.clamp(-1.0, 3e9))
            .map_err(|_| crate::error::argument("a number of seconds expected"))
    };
    given.map(fits).transpose()
}

/// What is looked for: `filter` is text.
pub(super) fn search(
    base: &str,
    filter: &Bound<'_, PyAny>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<(Search, bool)> {
    let fault = |fault: tercet_ldap::Error| error::raise(filter.py(), &fault);
    let mut search = Search::new(base).filter(&filter.str()?.to_cow()?).map_err(fault)?;
    let mut everything = false;
    for (name, given) in options.into_iter().flatten() {
        search = match &*name.extract::<String>()? {
            "attributes" => search.attributes(&names(&given)?),
            "scope" => search.scope(given.extract::<String>()?.parse::<Scope>().map_err(fault)?),
            "deref" => search.deref(deref(&given.extract::<String>()?)?),
            "size_limit" => search.size_limit(given.extract()?),
            "time_limit" => search.time_limit(given.extract()?),
            "types_only" => search.types_only(given.extract()?),
            "page_size" => match given.extract()? {
                None => search,
                // A page without entries would never come to an end (RFC 2696: 0..maxInt).
                Some(entries @ 1..=0x7FFF_FFFF) => search.page_size(entries),
                Some(_) => return Err(crate::error::argument("page_size: 1 to 2,147,483,647 expected")),
            },
            "timeout" => search.timeout(seconds(&given)?),
            "controls" => {
                controls(Some(&given))?.iter().fold(search, |search, control| search.control(control))
            }
            "everything" => {
                everything = given.extract()?;
                search
            }
            other => return Err(crate::error::argument(format!("a search has no option `{other}`"))),
        };
    }
    Ok((search, everything))
}

/// Names of attributes; one may stand alone.
fn names(object: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    match object.cast::<PyString>() {
        Ok(one) => Ok(vec![one.to_cow()?.into_owned()]),
        Err(_) => object.try_iter()?.map(|one| one?.extract()).collect(),
    }
}

fn deref(word: &str) -> PyResult<Deref> {
    Ok(match word {
        "never" => Deref::Never,
        "search" => Deref::Search,
        "find" => Deref::Find,
        "always" => Deref::Always,
        _ => return Err(crate::error::argument("deref: `never`, `search`, `find` or `always` expected")),
    })
}

/// Servers, and how to talk to them.
pub(super) fn config(urls: &Bound<'_, PyTuple>, options: Option<&Bound<'_, PyDict>>) -> PyResult<Config> {
    let fault = |fault: tercet_ldap::Error| error::raise(urls.py(), &fault);
    let parsed = urls.iter().map(|url| url.str()?.to_cow()?.parse::<Url>().map_err(fault));
    let mut config = Config::for_urls(parsed.collect::<PyResult<_>>()?);
    let (mut certificate, mut key, mut verify) = (None, None, true);
    for (name, given) in options.into_iter().flatten() {
        match &*name.extract::<String>()? {
            "start_tls" if given.extract()? => config.start_tls = StartTls::Required,
            "start_tls" => {}
            "ca" => {
                if let Some(text) = pem(&given)? {
                    config.tls.roots = TrustedRoots::Pem(text);
                }
            }
            "certificate" => certificate = pem(&given)?,
            "key" => key = pem(&given)?,
            "verify" => verify = given.extract()?,
            "server_name" => config.tls.server_name = given.extract()?,
            "connect_timeout" => {
                let seconds = seconds(&given)?;
                config.connect_timeout =
                    seconds.ok_or_else(|| crate::error::argument("connect_timeout: a number"))?;
            }
            "timeout" => config.operation_timeout = seconds(&given)?,
            "keep_alive" => config.keep_alive = seconds(&given)?.map(KeepAlive::after),
            "allow_plain_passwords" => config.allow_plain_passwords = given.extract()?,
            "referrals" => config.referrals = referrals(&given)?,
            "max_message" => config.limits.message = given.extract()?,
            "scram_iterations" => config.scram_iterations = given.extract()?,
            other => return Err(crate::error::argument(format!("a connection has no option `{other}`"))),
        }
    }
    if !verify {
        if matches!(config.tls.roots, TrustedRoots::Pem(_)) {
            return Err(error::usage(urls.py(), "`ca` and `verify=False` exclude each other"));
        }
        config.tls.roots = TrustedRoots::AnyCertificate;
    }
    config.tls.client = match (certificate, key) {
        (Some(certificate), Some(key)) => Some((certificate, key)),
        (None, None) => None,
        _ => {
            return Err(error::usage(
                urls.py(),
                "a certificate of the client needs its key, and a key its certificate",
            ));
        }
    };
    Ok(config)
}

/// PEM: `bytes` are it, a path is that of a file with it.
pub(super) fn pem(object: &Bound<'_, PyAny>) -> PyResult<Option<Vec<u8>>> {
    if object.is_none() {
        return Ok(None);
    }
    if let Ok(bytes) = object.cast::<PyBytes>() {
        return Ok(Some(bytes.as_bytes().to_vec()));
    }
    let path: PathBuf = object.extract()?;
    let named = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
    Ok(Some(std::fs::read(&path).map_err(named)?))
}

/// `True` for the usual limits, or `Referrals`.
fn referrals(object: &Bound<'_, PyAny>) -> PyResult<Option<Referrals>> {
    if let Ok(truth) = object.cast::<PyBool>() {
        return Ok(truth.is_true().then(Referrals::default));
    }
    let (hops, total, hosts) = object.extract()?;
    Ok(Some(Referrals { hops, total, hosts }))
}

/// A name: text, or a `Dn`.
pub(super) struct Name(pub(super) String);

impl<'py> FromPyObject<'_, 'py> for Name {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(text) = object.cast::<PyString>() {
            return Ok(Self(text.to_cow()?.into_owned()));
        }
        if let Ok(name) = object.cast::<Dn>() {
            return Ok(Self(name.get().0.to_string()));
        }
        Err(crate::error::argument("a name is a `str` or a `Dn`"))
    }
}
