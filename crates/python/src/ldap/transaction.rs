//! `tercet.ldap.Transaction`: several changes, of which all are made or none, with and without asyncio.

use super::answers::VALUES;
use super::arguments::{self, Name};
use super::awaitable::Ready;
use super::drafts::Draft;
use super::error;
use super::runtime::Mode;
use crate::error::ours;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyList;
use std::path::PathBuf;
use std::sync::{Arc, Mutex as StdMutex, PoisonError};
use std::time::Duration;
use tercet_ldap::ldif::{Change, Record};
use tercet_ldap::transaction::{self, Aborted, Engine, Options, Recovered, Transaction as Inner};
use tercet_ldap::{Client, Error, ErrorKind};
use tokio::sync::Mutex;

/// How far a transaction has come.
enum State {
    New(Client, Box<Options>),
    Begun(Box<Inner>),
    Over,
}

impl State {
    /// Returns the transaction; begins it if it has not begun.
    async fn begun(&mut self) -> tercet_ldap::Result<&mut Inner> {
        if let Self::New(client, options) = self {
            let begun = Inner::begin(client, (**options).clone()).await?;
            *self = Self::Begun(Box::new(begun));
        }
        match self {
            Self::Begun(inner) => Ok(inner),
            _ => Err(Error::new(ErrorKind::Usage, "the transaction is over")),
        }
    }
}

/// What both kinds of transactions do.
#[pyclass(subclass, frozen, module = "tercet.ldap")]
pub(crate) struct Work {
    state: Arc<Mutex<State>>,
    mode: Mode,
    /// The changes until now.
    records: StdMutex<Vec<Record>>,
}

/// Several changes, of which all are made or none: `with connection.transaction(...) as transaction`.
///
/// At the end of the block the changes are made; after an exception none of them is.
#[pyclass(extends = Work, frozen, module = "tercet.ldap")]
pub(crate) struct Transaction;

/// Several changes, of which all are made or none: `async with connection.transaction(...) as transaction`.
///
/// At the end of the block the changes are made; after an exception none of them is. `read`, `commit` and
/// `rollback` are awaited.
#[pyclass(extends = Work, frozen, module = "tercet.ldap")]
pub(crate) struct AsyncTransaction;

/// What a transaction is made by.
pub(super) struct Arguments<'a> {
    pub(super) locks: Option<Name>,
    pub(super) journal: Option<PathBuf>,
    pub(super) engine: &'a str,
    pub(super) lock_wait: f64,
    pub(super) lease: f64,
    pub(super) allow_irreversible: bool,
}

/// The transactions that have a journal in a folder: interrupted ones, and those that go on at this moment.
///
/// `Connection.recover` finishes them.
///
/// Raises ParseError, NetworkError if a file cannot be read.
#[pyfunction]
pub(crate) fn pending(py: Python<'_>, journal: PathBuf) -> PyResult<Bound<'_, PyList>> {
    static PENDING: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let all = py.detach(|| transaction::pending(&journal)).map_err(|fault| error::raise(py, &fault))?;
    let class = PENDING.import(py, VALUES, "Pending")?;
    let all = all.iter().map(|one| {
        let file = one.journal.display().to_string();
        class.call1((&one.transaction, one.state.word(), one.operations, &one.uris, &one.bind_dn, file))
    });
    PyList::new(py, all.collect::<PyResult<Vec<_>>>()?)
}

/// Finishes interrupted transactions: those of a folder, or that of one file.
pub(super) fn recover<'py>(
    py: Python<'py>,
    client: Client,
    mode: &Mode,
    journal: PathBuf,
    lock_wait: f64,
) -> PyResult<Bound<'py, PyAny>> {
    let lock_wait = seconds(py, "lock_wait", lock_wait)?;
    let recovered = async move {
        let files = if journal.is_file() {
            vec![journal]
        } else {
            transaction::pending(&journal)?.into_iter().map(|one| one.journal).collect()
        };
        let mut all = Vec::new();
        for file in files {
            let name = file.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            all.push((name, transaction::recover(&client, &file, lock_wait).await?));
        }
        Ok(all)
    };
    mode.run(py, recovered, |py, all| {
        static RECOVERED: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        let class = RECOVERED.import(py, VALUES, "Recovered")?;
        let all = all.into_iter().map(|(name, recovered)| {
            let (outcome, conflicts) = match recovered {
                Recovered::Finished { undone: true } => ("undone", Vec::new()),
                Recovered::Finished { undone: false } => ("finished", Vec::new()),
                Recovered::Conflicts(all) => ("conflicts", all.iter().map(ToString::to_string).collect()),
                _ => ("running", Vec::<String>::new()),
            };
            class.call1((name, outcome, conflicts))
        });
        Ok(PyList::new(py, all.collect::<PyResult<Vec<_>>>()?)?.into_any())
    })
}

fn seconds(py: Python<'_>, name: &str, seconds: f64) -> PyResult<Duration> {
    let duration = Duration::try_from_secs_f64(seconds).ok();
    duration.ok_or_else(|| error::usage(py, &format!("{name}: seconds expected")))
}

impl Work {
    pub(super) fn object<'py>(
        py: Python<'py>,
        client: Client,
        mode: Mode,
        arguments: Arguments<'_>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let Arguments { locks, journal, engine, lock_wait, lease, allow_irreversible } = arguments;
        let engine = match engine {
            "auto" => Engine::Auto,
            "server" => Engine::Server,
            "advisory" => Engine::Advisory,
            _ => {
                return Err(error::usage(
                    py,
                    &format!("engine `{engine}`: auto, server or advisory expected"),
                ));
            }
        };
        let mut options = Options::new()
            .engine(engine)
            .lock_wait(seconds(py, "lock_wait", lock_wait)?)
            .lease(seconds(py, "lease", lease)?)
            .allow_irreversible(allow_irreversible);
        if let Some(Name(locks)) = locks {
            options = options.locks(locks);
        }
        if let Some(journal) = journal {
            options = options.journal(journal);
        }
        let state = Arc::new(Mutex::new(State::New(client, Box::new(options))));
        let is_awaited = matches!(mode, Mode::Awaited);
        let base = PyClassInitializer::from(Self { state, mode, records: StdMutex::default() });
        if is_awaited {
            return Ok(Bound::new(py, base.add_subclass(AsyncTransaction))?.into_any());
        }
        Ok(Bound::new(py, base.add_subclass(Transaction))?.into_any())
    }

    fn push(&self, record: Record) {
        self.records.lock().unwrap_or_else(PoisonError::into_inner).push(record);
    }

    fn change(&self, dn: Name, change: Change) {
        self.push(Record { dn: dn.0, controls: Vec::new(), change, is_change: true });
    }

    fn begin<'py>(&self, py: Python<'py>, this: Py<PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let state = Arc::clone(&self.state);
        let begun = async move { state.lock().await.begun().await.map(drop) };
        self.mode.run(py, begun, move |py, ()| Ok(this.into_bound(py)))
    }

    /// Makes the changes.
    fn made<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let state = Arc::clone(&self.state);
        let records = std::mem::take(&mut *self.records.lock().unwrap_or_else(PoisonError::into_inner));
        let committed = async move {
            let mut state = state.lock().await;
            state.begun().await?;
            let State::Begun(mut inner) = std::mem::replace(&mut *state, State::Over) else {
                return Ok(Ok(()));
            };
            records.into_iter().for_each(|record| inner.apply(record));
            Ok(inner.commit().await)
        };
        self.mode.run(py, committed, |py, done: Result<(), Aborted>| match done {
            Ok(()) => Ok(py.None().into_bound(py)),
            Err(aborted) => Err(error::aborted(py, &aborted)),
        })
    }

    fn given_up<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let state = Arc::clone(&self.state);
        self.records.lock().unwrap_or_else(PoisonError::into_inner).clear();
        let rolled_back = async move {
            match std::mem::replace(&mut *state.lock().await, State::Over) {
                State::Begun(inner) => inner.rollback().await,
                _ => Ok(()),
            }
        };
        self.mode.run(py, rolled_back, |py, ()| Ok(py.None().into_bound(py)))
    }
}

#[pymethods]
impl Work {
    /// Locks an entry and returns it as a draft. With the server's transactions it is not locked: `commit` fails
    /// if values that change have changed meanwhile.
    ///
    /// Raises Timeout if somebody else has the lock, NoSuchObject.
    fn read<'py>(&self, py: Python<'py>, dn: Name) -> PyResult<Bound<'py, PyAny>> {
        let state = Arc::clone(&self.state);
        let draft = async move { state.lock().await.begun().await?.read(&dn.0).await };
        self.mode.run(py, draft, |py, draft| Ok(Bound::new(py, Draft::of(draft))?.into_any()))
    }

    /// Changes an entry to its draft.
    fn update(&self, draft: PyRef<'_, Draft>) {
        if let Some(record) = draft.get_ref().record() {
            self.push(record);
        }
    }

    /// Adds an entry.
    fn add(&self, dn: Name, attributes: &Bound<'_, PyAny>) -> PyResult<()> {
        self.change(dn, Change::Add(ours(arguments::attributes(attributes))?));
        Ok(())
    }

    /// Changes an entry by modifications, as `Connection.modify` takes them.
    fn modify(&self, dn: Name, modifications: &Bound<'_, PyAny>) -> PyResult<()> {
        self.change(dn, Change::Modify(ours(arguments::modifications(modifications))?));
        Ok(())
    }

    /// Deletes an entry. A deletion cannot be undone completely, and requires `allow_irreversible`.
    fn delete(&self, dn: Name) {
        self.change(dn, Change::Delete);
    }

    /// Gives an entry another name, and with `superior` another place.
    #[pyo3(signature = (dn, new_rdn, *, superior = None, delete_old = true))]
    fn rename(&self, dn: Name, new_rdn: Name, superior: Option<Name>, delete_old: bool) {
        let new_superior = superior.map(|name| name.0);
        self.change(dn, Change::ModifyDn { new_rdn: new_rdn.0, delete_old_rdn: delete_old, new_superior });
    }

    /// Makes the change of a record of LDIF.
    fn apply(&self, record: &Bound<'_, PyAny>) -> PyResult<()> {
        self.push(ours(arguments::record(record))?);
        Ok(())
    }

    /// Makes all changes, or none.
    ///
    /// Raises TransactionAborted.
    fn commit<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.made(py)
    }

    /// Drops the changes and releases the locks.
    fn rollback<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.given_up(py)
    }
}

#[pymethods]
impl Transaction {
    fn __enter__<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        this.as_super().get().begin(this.py(), this.clone().into_any().unbind())
    }

    fn __exit__<'py>(
        this: &Bound<'py, Self>,
        kind: &Bound<'py, PyAny>,
        _value: &Bound<'py, PyAny>,
        _trace: &Bound<'py, PyAny>,
    ) -> PyResult<()> {
        this.as_super().get().end(this.py(), kind.is_none()).map(drop)
    }
}

#[pymethods]
impl AsyncTransaction {
    fn __aenter__<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        this.as_super().get().begin(this.py(), this.clone().into_any().unbind())
    }

    fn __aexit__<'py>(
        this: &Bound<'py, Self>,
        kind: &Bound<'py, PyAny>,
        _value: &Bound<'py, PyAny>,
        _trace: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        this.as_super().get().end(this.py(), kind.is_none())
    }
}

impl Work {
    /// Ends a block: makes the changes, or drops them after an exception. One that is over already stays so.
    fn end<'py>(&self, py: Python<'py>, is_good: bool) -> PyResult<Bound<'py, PyAny>> {
        let is_over = self.state.try_lock().is_ok_and(|state| matches!(*state, State::Over));
        match (is_over, is_good) {
            (true, _) if matches!(self.mode, Mode::Awaited) => {
                Ok(Bound::new(py, Ready::new(py.None()))?.into_any())
            }
            (true, _) => Ok(py.None().into_bound(py)),
            (false, true) => self.made(py),
            (false, false) => self.given_up(py),
        }
    }
}
