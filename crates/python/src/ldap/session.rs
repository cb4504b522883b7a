//! `tercet.ldap.Connection`, with and without asyncio: the operations are written once.

use super::arguments::{self, Name};
use super::awaitable::Ready;
use super::entries::{AsyncEntries, Entries, Stream};
use super::entry::Entry;
use super::ldif::{self, Sink};
use super::runtime::{self, Engine, Mode};
use super::transaction::{Arguments, Work};
use super::{answers, error};
use crate::error::ours;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString, PyTuple};
use std::sync::Arc;
use tercet_ldap::extended::PasswordModify;
use tercet_ldap::ldif::{Change, Record, Style};
use tercet_ldap::proto::RequestControl;
use tercet_ldap::sasl::{DigestMd5, External, Hash, Mechanism, OauthBearer, Plain, Scram};
use tercet_ldap::{Cldap, Client, Config, Error, ErrorKind, Scope};
use tokio::sync::Mutex;

/// What both kinds of connections do.
#[pyclass(subclass, frozen, module = "tercet.ldap")]
pub(crate) struct Session {
    // Dropped before what it runs on.
    client: Client,
    mode: Mode,
}

/// A connection to a server. It may be used by many threads; their calls take turns.
#[pyclass(extends = Session, frozen, module = "tercet.ldap")]
pub(crate) struct Connection;

/// A connection to a server, whose operations are awaited. Several may be on their way at once.
#[pyclass(extends = Session, frozen, module = "tercet.ldap")]
pub(crate) struct AsyncConnection;

/// Connects to the first of these servers that can be reached: `ldap://`, `ldaps://`, `ldapi://`, and
/// `ldap:///dc=…` for those of a domain.
///
/// Raises NetworkError, TlsError, Timeout; of several servers, for the last one.
#[pyfunction]
#[pyo3(signature = (*urls, **options))]
pub(crate) fn connect<'py>(
    urls: &Bound<'py, PyTuple>,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = urls.py();
    let config = ours(arguments::config(urls, options))?;
    let engine = Engine::new()?;
    let client = engine.wait(py, connected(config))?;
    let client = client.map_err(|fault| error::raise(py, &fault))?;
    Session { client, mode: Mode::Waiting(Arc::new(engine)) }.into_object(py)
}

/// The same, to be awaited.
#[pyfunction]
#[pyo3(signature = (*urls, **options))]
pub(crate) fn connect_async<'py>(
    urls: &Bound<'py, PyTuple>,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let config = ours(arguments::config(urls, options))?;
    Mode::Awaited.run(urls.py(), connected(config), |py, client| {
        Session { client, mode: Mode::Awaited }.into_object(py)
    })
}

/// Searches by datagrams (LDAP over UDP), as domain controllers of Active Directory answer them: `cldap://` and the
/// host, or several with spaces between, which are asked in turn. The scope is `base` by default; `timeout` is the
/// time that a server has, 6 seconds by default. Nothing is bound or encrypted: who sees the request can answer.
///
/// Raises Timeout, NetworkError, LimitError, UsageError, and ResultError as any search.
#[pyfunction]
#[pyo3(
    signature = (url, base = Name(String::new()), filter = None, **options),
    text_signature = "(url, base='', filter=None, **options)"
)]
pub(crate) fn search_cldap<'py>(
    url: &Bound<'py, PyAny>,
    base: Name,
    filter: Option<Bound<'py, PyAny>>,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    by_datagrams(&Mode::Waiting(Arc::new(Engine::new()?)), url, &base, filter, options)
}

/// The same, to be awaited.
#[pyfunction]
#[pyo3(
    signature = (url, base = Name(String::new()), filter = None, **options),
    text_signature = "(url, base='', filter=None, **options)"
)]
pub(crate) fn search_cldap_async<'py>(
    url: &Bound<'py, PyAny>,
    base: Name,
    filter: Option<Bound<'py, PyAny>>,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    by_datagrams(&Mode::Awaited, url, &base, filter, options)
}

fn by_datagrams<'py>(
    mode: &Mode,
    url: &Bound<'py, PyAny>,
    base: &Name,
    filter: Option<Bound<'py, PyAny>>,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = url.py();
    let servers = Cldap::new(&url.str()?.to_cow()?).map_err(|fault| error::raise(py, &fault))?;
    let (mut search, _) = search(py, base, filter, options)?;
    let has_scope = options.map(|options| options.contains("scope")).transpose()?;
    if has_scope != Some(true) {
        search = search.scope(Scope::Base);
    }
    let found = async move {
        let answer = servers.search(&search).await?;
        answer.result.success()?;
        Ok(answer.entries)
    };
    mode.run(py, found, |py, entries| Ok(PyList::new(py, entries.into_iter().map(Entry))?.into_any()))
}

/// A connection to the first server that can be reached, of domains too.
async fn connected(config: Config) -> tercet_ldap::Result<Client> {
    Client::connect_with(&config.located().await?).await
}

impl Session {
    /// The connection, and how it answers.
    pub(super) fn parts(&self) -> (Client, Mode) {
        (self.client.clone(), self.mode.clone())
    }

    fn into_object(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        let is_awaited = matches!(self.mode, Mode::Awaited);
        let base = PyClassInitializer::from(self);
        if is_awaited {
            return Ok(Bound::new(py, base.add_subclass(AsyncConnection))?.into_any());
        }
        Ok(Bound::new(py, base.add_subclass(Connection))?.into_any())
    }

    fn with(&self, controls: Option<&Bound<'_, PyAny>>) -> PyResult<Client> {
        let controls = ours(arguments::controls(controls))?;
        let all: Vec<&dyn RequestControl> = controls.iter().map(|it| it as &dyn RequestControl).collect();
        Ok(self.client.with(&all))
    }

    fn change<'py>(
        &self,
        py: Python<'py>,
        dn: Name,
        change: Change,
        controls: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let client = self.with(controls)?;
        let record = Record { dn: dn.0, controls: Vec::new(), change, is_change: true };
        self.mode.run(py, async move { client.apply(&record).await }, answers::done)
    }
}

#[pymethods]
impl Session {
    /// Binds with a name and a password; without either, anonymously.
    ///
    /// Raises UsageError for a password on a connection without encryption to another host, InvalidCredentials.
    #[pyo3(
        signature = (dn = Name(String::new()), password = "", *, controls = None),
        text_signature = "($self, dn='', password='', *, controls=None)"
    )]
    fn bind<'py>(
        &self,
        py: Python<'py>,
        dn: Name,
        password: &str,
        controls: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let client = self.with(controls)?;
        let password = password.to_owned();
        self.mode.run(py, async move { client.bind(&dn.0, &password).await }, answers::done)
    }

    /// Binds by a SASL mechanism. EXTERNAL takes the user of the TLS certificate or of the socket; names that end in
    /// `-PLUS` bind the exchange to the TLS channel. GSSAPI is Kerberos, with the tickets of `kinit`, or of the
    /// principal `user` if given. NTLM takes a user as `DOMAIN\user` or `user@domain`, and is called GSS-SPNEGO
    /// with Active Directory. Both are there where this package was built with them.
    #[pyo3(signature = (mechanism, user = "", password = "", *, authorization = "", controls = None))]
    fn bind_sasl<'py>(
        &self,
        py: Python<'py>,
        mechanism: &str,
        user: &str,
        password: &str,
        authorization: &str,
        controls: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let client = self.with(controls)?;
        let mechanism = self::mechanism(mechanism, user, password, authorization);
        let mechanism = mechanism.map_err(|fault| error::raise(py, &fault))?;
        self.mode.run(py, async move { client.bind_sasl(mechanism).await }, answers::done)
    }

    /// Encrypts a connection that is open until now, with the certificates that it was made with. While other
    /// operations are on their way it is a UsageError; if it fails otherwise, the connection ends.
    fn start_tls<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let client = self.client.clone();
        self.mode.run(py, async move { client.start_tls().await }, answers::done)
    }

    /// Starts a search at a base, for all entries without a filter. With `everything`, references and
    /// intermediate responses come too.
    ///
    /// Raises ParseError for the filter; the iterator raises ResultError.
    #[pyo3(signature = (base, filter = None, **options))]
    fn search<'py>(
        &self,
        py: Python<'py>,
        base: Name,
        filter: Option<Bound<'py, PyAny>>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (search, everything) = search(py, &base, filter, options)?;
        let fault = |fault: Error| error::raise(py, &fault);
        match &self.mode {
            Mode::Waiting(engine) => {
                let entries = engine.wait(py, self.client.search(search))?.map_err(fault)?;
                let stream = Stream::new(entries, everything);
                Ok(Bound::new(py, Entries { stream, engine: Arc::clone(engine) })?.into_any())
            }
            Mode::Awaited => {
                // It does not wait: the request is put where the connection takes it from.
                let entries = runtime::background()?.block_on(self.client.search(search)).map_err(fault)?;
                let stream = Arc::new(Mutex::new(Stream::new(entries, everything)));
                Ok(Bound::new(py, AsyncEntries { stream })?.into_any())
            }
        }
    }

    /// Writes what a search finds as LDIF to a path or a binary file, without making Python objects; gives the
    /// number of entries. A path is written whole or not at all; a file has the entries that came before a fault.
    #[pyo3(
        signature = (file, base, filter = None, *, wrap = Some(78), **options),
        text_signature = "($self, file, base, filter=None, *, wrap=78, **options)"
    )]
    fn search_ldif<'py>(
        &self,
        py: Python<'py>,
        file: &Bound<'py, PyAny>,
        base: Name,
        filter: Option<Bound<'py, PyAny>>,
        wrap: Option<usize>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (search, _) = search(py, &base, filter, options)?;
        let (client, sink) = (self.client.clone(), Sink::new(file)?);
        let written = async move {
            let stream = Stream::new(client.search(search).await?, false);
            ldif::copy(stream, sink, Style { wrap }).await
        };
        self.mode.run(py, written, |py, count| Ok(count?.into_pyobject(py)?.into_any()))
    }

    /// Applies a record of LDIF, with its controls; an entry is added.
    #[pyo3(signature = (record, *, controls = None))]
    fn apply<'py>(
        &self,
        record: &Bound<'py, PyAny>,
        controls: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let client = self.with(controls)?;
        let change = ours(arguments::record(record))?;
        self.mode.run(record.py(), async move { client.apply(&change).await }, answers::done)
    }

    /// Adds an entry.
    #[pyo3(signature = (dn, attributes, *, controls = None))]
    fn add<'py>(
        &self,
        py: Python<'py>,
        dn: Name,
        attributes: &Bound<'py, PyAny>,
        controls: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.change(py, dn, Change::Add(ours(arguments::attributes(attributes))?), controls)
    }

    /// Changes an entry: `[("replace", "sn", "King"), ("delete", "title"), ("increment", "uidNumber", 1)]`.
    #[pyo3(signature = (dn, modifications, *, controls = None))]
    fn modify<'py>(
        &self,
        py: Python<'py>,
        dn: Name,
        modifications: &Bound<'py, PyAny>,
        controls: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.change(py, dn, Change::Modify(ours(arguments::modifications(modifications))?), controls)
    }

    /// Deletes an entry.
    #[pyo3(signature = (dn, *, controls = None))]
    fn delete<'py>(
        &self,
        py: Python<'py>,
        dn: Name,
        controls: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.change(py, dn, Change::Delete, controls)
    }

    /// Gives an entry another name, and with `superior` another place.
    #[pyo3(signature = (dn, new_rdn, *, superior = None, delete_old = true, controls = None))]
    fn rename<'py>(
        &self,
        py: Python<'py>,
        dn: Name,
        new_rdn: Name,
        superior: Option<Name>,
        delete_old: bool,
        controls: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let new_superior = superior.map(|name| name.0);
        let change = Change::ModifyDn { new_rdn: new_rdn.0, delete_old_rdn: delete_old, new_superior };
        self.change(py, dn, change, controls)
    }

    /// Reports whether an entry has a value.
    #[pyo3(signature = (dn, attribute, value, *, controls = None))]
    fn compare<'py>(
        &self,
        py: Python<'py>,
        dn: Name,
        attribute: &str,
        value: &Bound<'py, PyAny>,
        controls: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let client = self.with(controls)?;
        let (attribute, value) = (attribute.to_owned(), ours(arguments::value(value))?);
        self.mode.run(py, async move { client.compare(&dn.0, &attribute, &value).await }, |py, is_there| {
            Ok(pyo3::types::PyBool::new(py, is_there).to_owned().into_any())
        })
    }

    /// Changes a password (RFC 3062), the own one by default; gives the one that the server made up, if `new`
    /// is not given.
    #[pyo3(signature = (user = None, *, old = None, new = None, controls = None))]
    fn modify_password<'py>(
        &self,
        py: Python<'py>,
        user: Option<Name>,
        old: Option<&Bound<'py, PyAny>>,
        new: Option<&Bound<'py, PyAny>>,
        controls: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let client = self.with(controls)?;
        let request = PasswordModify {
            user: user.map(|name| name.0),
            old: old.map(arguments::value).transpose()?,
            new: new.map(arguments::value).transpose()?,
        };
        self.mode.run(py, async move { client.modify_password(&request).await }, |py, made_up| {
            Ok(answers::octets(py, made_up.as_deref()).into_pyobject(py)?)
        })
    }

    /// Returns the authorization identity of the connection (RFC 4532): `dn:…`, `u:…`, or an empty text for
    /// anonymous.
    #[pyo3(signature = (*, controls = None))]
    fn who_am_i<'py>(
        &self,
        py: Python<'py>,
        controls: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let client = self.with(controls)?;
        self.mode.run(py, async move { client.who_am_i().await }, |py, identity| {
            Ok(PyString::new(py, &identity).into_any())
        })
    }

    /// Sends an extended operation; returns the answer with any result code.
    #[pyo3(signature = (name, value = None, *, controls = None))]
    fn extended<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        value: Option<&Bound<'py, PyAny>>,
        controls: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let client = self.with(controls)?;
        let (name, value) = (name.to_owned(), value.map(arguments::value).transpose()?);
        self.mode.run(py, async move { client.extended(&name, value.as_deref()).await }, answers::extended)
    }

    /// Begins a transaction (RFC 5805). Returns its identifier, for the control `transaction`.
    fn start_transaction<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let client = self.client.clone();
        self.mode.run(py, async move { client.start_transaction().await }, |py, identifier| {
            Ok(PyBytes::new(py, &identifier).into_any())
        })
    }

    /// Ends a transaction.
    #[pyo3(signature = (identifier, *, commit = true))]
    fn end_transaction<'py>(
        &self,
        py: Python<'py>,
        identifier: &Bound<'py, PyAny>,
        commit: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (client, identifier) = (self.client.clone(), ours(arguments::value(identifier))?);
        self.mode.run(py, async move { client.end_transaction(&identifier, commit).await }, answers::done)
    }

    /// Several changes, of which all are made or none: by transactions of the server (RFC 5805), or by locks, which
    /// are entries below `locks`, and a `journal`, a folder from which `tercet ldap recover` finishes interrupted
    /// ones. `engine` is `auto`, `server` or `advisory`; `lock_wait` and `lease` are seconds.
    #[pyo3(
        signature = (*, locks = None, journal = None, engine = "auto", lock_wait = 30.0, lease = 30.0, allow_irreversible = false),
        text_signature = "($self, *, locks=None, journal=None, engine='auto', lock_wait=30.0, lease=30.0, allow_irreversible=False)"
    )]
    #[expect(clippy::too_many_arguments, reason = "keywords")]
    fn transaction<'py>(
        &self,
        py: Python<'py>,
        locks: Option<Name>,
        journal: Option<std::path::PathBuf>,
        engine: &str,
        lock_wait: f64,
        lease: f64,
        allow_irreversible: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let arguments = Arguments { locks, journal, engine, lock_wait, lease, allow_irreversible };
        Work::object(py, self.client.clone(), self.mode.clone(), arguments)
    }

    /// Finishes interrupted transactions of a journal: a folder, or one of its files. Their operations are undone,
    /// unless all were made. `lock_wait` is the time in seconds for locks that others have taken over.
    ///
    /// Raises Timeout, ParseError, NetworkError; the journal stays then.
    #[pyo3(signature = (journal, *, lock_wait = 30.0))]
    fn recover<'py>(
        &self,
        py: Python<'py>,
        journal: std::path::PathBuf,
        lock_wait: f64,
    ) -> PyResult<Bound<'py, PyAny>> {
        super::transaction::recover(py, self.client.clone(), &self.mode, journal, lock_wait)
    }

    /// Returns the same connection with another time limit for answers.
    fn with_timeout<'py>(&self, py: Python<'py>, timeout: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let client = self.client.with_timeout(ours(arguments::seconds(timeout))?);
        Self { client, mode: self.mode.clone() }.into_object(py)
    }

    /// True after the connection has ended.
    #[getter]
    fn closed(&self) -> bool {
        self.client.is_closed()
    }

    /// Ends the connection; operations in progress fail.
    fn close(&self) {
        self.client.close();
        if let Mode::Waiting(engine) = &self.mode {
            engine.linger();
        }
    }
}

#[pymethods]
impl Connection {
    fn __enter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __exit__(
        this: PyRef<'_, Self>,
        _kind: &Bound<'_, PyAny>,
        _value: &Bound<'_, PyAny>,
        _trace: &Bound<'_, PyAny>,
    ) {
        this.as_super().close();
    }
}

#[pymethods]
impl AsyncConnection {
    fn __aenter__<'py>(this: Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        Ok(Bound::new(this.py(), Ready::new(this.clone().into_any().unbind()))?.into_any())
    }

    fn __aexit__<'py>(
        this: PyRef<'py, Self>,
        _kind: &Bound<'py, PyAny>,
        _value: &Bound<'py, PyAny>,
        _trace: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        this.as_super().close();
        let py = this.py();
        Ok(Bound::new(py, Ready::new(py.None()))?.into_any())
    }
}

/// What is looked for, and whether it is more than entries.
fn search<'py>(
    py: Python<'py>,
    base: &Name,
    filter: Option<Bound<'py, PyAny>>,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<(tercet_ldap::Search, bool)> {
    let filter = filter.unwrap_or_else(|| PyString::intern(py, "(objectClass=*)").into_any());
    ours(arguments::search(&base.0, &filter, options))
}

fn mechanism(
    name: &str,
    user: &str,
    password: &str,
    authorization: &str,
) -> tercet_ldap::Result<Box<dyn Mechanism>> {
    let scram = |hash| Scram::new(hash, authorization, user, password);
    Ok(match name.to_ascii_uppercase().as_str() {
        "GSSAPI" => gssapi(user, authorization)?,
        known @ ("NTLM" | "GSS-SPNEGO") if authorization.is_empty() => ntlm(known, user, password)?,
        "EXTERNAL" => Box::new(External::new(authorization)),
        "PLAIN" => Box::new(Plain::new(authorization, user, password)),
        "DIGEST-MD5" => Box::new(DigestMd5::new(authorization, user, password)),
        "OAUTHBEARER" => Box::new(OauthBearer::new(authorization, password)),
        "SCRAM-SHA-1" => Box::new(scram(Hash::Sha1)),
        "SCRAM-SHA-1-PLUS" => Box::new(scram(Hash::Sha1).bound()),
        "SCRAM-SHA-256" => Box::new(scram(Hash::Sha256)),
        "SCRAM-SHA-256-PLUS" => Box::new(scram(Hash::Sha256).bound()),
        _ => {
            return Err(Error::new(
                ErrorKind::Usage,
                "EXTERNAL, PLAIN, DIGEST-MD5, GSSAPI, OAUTHBEARER, SCRAM-SHA-1, SCRAM-SHA-256, one of the latter with -PLUS, or \
                 NTLM or GSS-SPNEGO without another identity than the user's expected",
            ));
        }
    })
}

#[cfg(feature = "gssapi")]
fn gssapi(user: &str, authorization: &str) -> tercet_ldap::Result<Box<dyn Mechanism>> {
    use tercet_ldap::sasl::{Gssapi, Kerberos};
    let kerberos = if user.is_empty() { Kerberos::new() } else { Kerberos::new().user(user) };
    Ok(Box::new(Gssapi::new(kerberos, authorization)))
}

#[cfg(not(feature = "gssapi"))]
fn gssapi(_: &str, _: &str) -> tercet_ldap::Result<Box<dyn Mechanism>> {
    let message = "GSSAPI: this package was built without it; maturin has it as feature `gssapi`";
    Err(Error::new(ErrorKind::Usage, message))
}

#[cfg(feature = "ntlm")]
fn ntlm(name: &str, user: &str, password: &str) -> tercet_ldap::Result<Box<dyn Mechanism>> {
    let ntlm = tercet_ldap::sasl::Ntlm::new(user, password);
    Ok(Box::new(if name == "NTLM" { ntlm } else { ntlm.in_spnego() }))
}

#[cfg(not(feature = "ntlm"))]
fn ntlm(name: &str, _: &str, _: &str) -> tercet_ldap::Result<Box<dyn Mechanism>> {
    let message = format!("{name}: this package was built without it; maturin has it as feature `ntlm`");
    Err(Error::new(ErrorKind::Usage, message))
}
