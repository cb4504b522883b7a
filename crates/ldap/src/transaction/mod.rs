//! Transactions on any server: several changes, of which all are made or none.
//!
//! Where the server has transactions (RFC 5805), they are used. Elsewhere there are locks, which are entries of the directory, and a
//! journal of what has to be undone: an interrupted transaction is finished by [`recover`]. All clients that change these entries
//! have to use the same locks. Those that only read may see changes before all of them are made.
//!
//! ```no_run
//! # async fn example(client: tercet_ldap::Client) -> Result<(), Box<dyn std::error::Error>> {
//! use tercet_ldap::transaction::{Options, Transaction};
//!
//! let options = Options::new().locks("ou=locks,o=test").journal("journal");
//! let mut transaction = Transaction::begin(&client, options).await?;
//! let mut ada = transaction.read("uid=ada,o=test").await?;
//! ada.set("mail", ["ada@example.net"]);
//! transaction.update(&ada);
//! transaction.delete("uid=bob,o=test");
//! transaction.commit().await?;
//! # Ok(())
//! # }
//! ```

mod journal;
mod lock;
mod recover;
mod undo;

use std::collections::HashMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use crate::client::Client;
use crate::controls;
use crate::entry::Draft;
use crate::error::{Error, ErrorKind, Result};
use crate::extended;
use crate::ldif::{Change, Record};
use crate::proto::ResultCode;
pub use journal::State;
use journal::{Contents, Image, Journal, Marks, Step};
use lock::Held;
pub use lock::{Lock, LockState, Locks, normalized};
use recover::finish;
pub use recover::{Pending, Recovered, pending, recover};

/// By what a transaction is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Engine {
    /// The server's transactions if it has them, else locks and a journal.
    #[default]
    Auto,
    /// The server's transactions (RFC 5805).
    Server,
    /// Locks and a journal.
    Advisory,
}

/// How a transaction is made.
#[derive(Clone, Debug)]
pub struct Options {
    engine: Engine,
    locks: Option<String>,
    journal: Option<PathBuf>,
    lock_wait: Duration,
    lease: Duration,
    allow_irreversible: bool,
    bind_dn: String,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            engine: Engine::Auto,
            locks: None,
            journal: None,
            lock_wait: Duration::from_secs(30),
            lease: Duration::from_secs(30),
            allow_irreversible: false,
            bind_dn: String::new(),
        }
    }
}

impl Options {
    /// The defaults: [`Engine::Auto`], 30 seconds of lease and of waiting for locks.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// By what the transaction is made.
    #[must_use]
    pub const fn engine(mut self, engine: Engine) -> Self {
        self.engine = engine;
        self
    }

    /// The entry below which locks are.
    #[must_use]
    pub fn locks(mut self, dn: impl Into<String>) -> Self {
        self.locks = Some(dn.into());
        self
    }

    /// The folder of journals.
    #[must_use]
    pub fn journal(mut self, folder: impl Into<PathBuf>) -> Self {
        self.journal = Some(folder.into());
        self
    }

    /// How long to wait for locks.
    #[must_use]
    pub const fn lock_wait(mut self, wait: Duration) -> Self {
        self.lock_wait = wait;
        self
    }

    /// How long a lock stays with an owner that is not heard of any more; a second at least.
    #[must_use]
    pub const fn lease(mut self, lease: Duration) -> Self {
        self.lease = lease;
        self
    }

    /// Makes also what cannot be undone completely, as a deletion.
    #[must_use]
    pub const fn allow_irreversible(mut self, allow: bool) -> Self {
        self.allow_irreversible = allow;
        self
    }

    /// The name that the client is bound as, for the journal.
    #[must_use]
    pub fn bind_dn(mut self, dn: impl Into<String>) -> Self {
        self.bind_dn = dn.into();
        self
    }
}

/// An operation that was not undone, because somebody else has changed its entry.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Conflict {
    /// The number of the operation, from 1.
    pub number: usize,
    /// The entry.
    pub dn: String,
    /// What was found.
    pub reason: String,
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "operation {}, {}: {}", self.number, self.dn, self.reason)
    }
}

/// Why a transaction was not made.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Aborted {
    /// The name of the entry whose change failed; nothing if that was not one change.
    pub dn: Option<String>,
    /// What went wrong.
    pub cause: Error,
    /// Whether everything is as before. If not, there are conflicts, or the connection has ended and [`recover`] has to finish it.
    pub rolled_back: bool,
    /// What was not undone.
    pub conflicts: Vec<Conflict>,
    /// The journal, if it is still there.
    pub journal: Option<PathBuf>,
}

impl fmt::Display for Aborted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match (self.rolled_back, self.conflicts.is_empty()) {
            (true, _) => "everything was undone",
            (false, true) => "not undone yet: recover the journal",
            (false, false) => "not everything was undone",
        };
        write!(f, "{} ({state})", self.cause)
    }
}

impl std::error::Error for Aborted {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.cause)
    }
}

/// Several changes, of which all are made or none. They are collected, and sent by [`Transaction::commit`]; a transaction that is
/// dropped before changes nothing.
#[derive(Debug)]
pub struct Transaction {
    client: Client,
    options: Options,
    /// Nothing if the server's transactions are used.
    locks: Option<Locks>,
    held: Held,
    /// Entries that were read, by their normalized names.
    read: HashMap<String, Draft>,
    records: Vec<Record>,
    relaxes: bool,
}

fn usage(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Usage, message)
}

impl Transaction {
    /// Begins a transaction.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`] if the server has no transactions and there are no locks or no journal, or if those of the server are
    /// asked for and it has none; the connection fails.
    pub async fn begin(client: &Client, options: Options) -> Result<Self> {
        let root = client.root_dse(&["supportedExtension", "supportedControl"]).await?;
        let has_transactions = root.lists("supportedExtension", extended::START_TRANSACTION);
        let is_of_server = match options.engine {
            Engine::Auto => has_transactions,
            Engine::Server if !has_transactions => {
                return Err(usage(
                    "the server has no transactions (RFC 5805): its root DSE does not list them",
                ));
            }
            Engine::Server => true,
            Engine::Advisory => false,
        };
        let locks = match (&options.locks, &options.journal) {
            _ if is_of_server => None,
            (Some(base), Some(_)) => Some(Locks::new(client, base, options.lease).await?),
            _ => {
                let message = "a transaction without those of the server (RFC 5805) requires an entry for locks and a folder \
                               for its journal";
                return Err(usage(message));
            }
        };
        let relaxes = root.lists("supportedControl", &undo::relax());
        let (held, read, records) = (Held::default(), HashMap::new(), Vec::new());
        Ok(Self { client: client.clone(), options, locks, held, read, records, relaxes })
    }

    /// Whether the server's transactions are used.
    #[must_use]
    pub const fn is_of_server(&self) -> bool {
        self.locks.is_none()
    }

    /// Locks an entry and reads it. With the server's transactions it is not locked: [`Transaction::commit`] fails if values that
    /// change have changed meanwhile.
    ///
    /// # Errors
    /// [`ErrorKind::Timeout`] if somebody else has the lock; there is no such entry. An entry that was read before has changed
    /// because its lock had to be released for this one: begin again then.
    pub async fn read(&mut self, dn: &str) -> Result<Draft> {
        let name = normalized(dn);
        self.lock(std::slice::from_ref(&name)).await?;
        let image = undo::image(&self.client, dn).await?;
        let image = image.ok_or_else(|| {
            Error::from_result(crate::LdapResult::new(ResultCode::NO_SUCH_OBJECT).with_message(dn))
        })?;
        let draft = Draft::new(dn, image.attributes);
        self.read.insert(name, draft.clone());
        Ok(draft)
    }

    /// Locks entries. If the order of locks made it necessary to release some, what was read under them is read again.
    async fn lock(&mut self, names: &[String]) -> Result<()> {
        let Some(locks) = &self.locks else { return Ok(()) };
        self.held.keep(locks).await?;
        if !self.held.take(locks, names, self.options.lock_wait).await? {
            return Ok(());
        }
        for (name, draft) in &self.read {
            let now = undo::image(&self.client, draft.dn()).await?;
            let known = Draft::new(draft.dn(), now.map(|image| image.attributes).unwrap_or_default());
            if *draft != known {
                let message = format!("{name}: changed while locks were taken in their order; begin again");
                return Err(Error::new(ErrorKind::Timeout, message));
            }
        }
        Ok(())
    }

    /// Changes an entry to what its draft is to be; nothing if it has not changed.
    pub fn update(&mut self, draft: &Draft) {
        self.records.extend(draft.record());
    }

    /// Adds an entry.
    pub fn add<V: AsRef<[u8]>>(&mut self, dn: impl Into<String>, attributes: &[(&str, &[V])]) {
        let owned = |values: &[V]| values.iter().map(|value| value.as_ref().to_vec()).collect();
        let attributes =
            attributes.iter().map(|(name, values)| ((*name).to_owned(), owned(values))).collect();
        self.push(dn.into(), Change::Add(attributes));
    }

    /// Deletes an entry.
    pub fn delete(&mut self, dn: impl Into<String>) {
        self.push(dn.into(), Change::Delete);
    }

    /// Renames an entry, and with `superior` moves it.
    pub fn rename(&mut self, dn: impl Into<String>, new_rdn: &str, delete_old: bool, superior: Option<&str>) {
        let (new_rdn, new_superior) = (new_rdn.to_owned(), superior.map(str::to_owned));
        self.push(dn.into(), Change::ModifyDn { new_rdn, delete_old_rdn: delete_old, new_superior });
    }

    /// Makes the change of a record of LDIF.
    pub fn apply(&mut self, record: Record) {
        self.records.push(record);
    }

    fn push(&mut self, dn: String, change: Change) {
        self.records.push(Record { dn, controls: Vec::new(), change, is_change: true });
    }

    /// Gives up what was collected, and releases the locks.
    ///
    /// # Errors
    /// A lock cannot be released; it is free after its lease then.
    pub async fn rollback(mut self) -> Result<()> {
        self.records.clear();
        let Some(locks) = self.locks.take() else { return Ok(()) };
        self.held.release(&locks).await
    }

    /// Makes all changes, or none.
    ///
    /// # Errors
    /// What went wrong, and whether everything is as before.
    pub async fn commit(mut self) -> Result<(), Aborted> {
        let records = std::mem::take(&mut self.records);
        let Some(locks) = self.locks.take() else {
            return self.commit_by_server(&records).await;
        };
        let done = self.commit_by_journal(&locks, records).await;
        // After a crash of the connection they are free after their lease.
        let released = self.held.release(&locks).await;
        match (done, released) {
            (Ok(()), Err(error)) if error.result().is_some() => Err(untouched(error)),
            (done, _) => done,
        }
    }

    async fn commit_by_server(&self, records: &[Record]) -> Result<(), Aborted> {
        let identifier = self.client.start_transaction().await.map_err(untouched)?;
        let client = self.client.with(&[&controls::Transaction(identifier.clone())]);
        for (index, record) in records.iter().enumerate() {
            if let Err(error) = client.apply(record).await {
                let cause = error.about(format_args!("operation {}, {}", index + 1, record.dn));
                // A connection that has ended takes its transaction with it (RFC 5805 2.2).
                _ = self.client.end_transaction(&identifier, false).await;
                return Err(Aborted { dn: Some(record.dn.clone()), ..untouched(cause) });
            }
        }
        // slapd 2.5 uses an operation after its answer, and fails if the transaction ends at once: a round more.
        _ = self.client.who_am_i().await;
        match self.client.end_transaction(&identifier, true).await {
            Ok(_) => Ok(()),
            Err(cause) => {
                // Without an answer nobody knows.
                let rolled_back = cause.result().is_some();
                Err(Aborted { dn: None, cause, rolled_back, conflicts: Vec::new(), journal: None })
            }
        }
    }

    async fn commit_by_journal(&mut self, locks: &Locks, records: Vec<Record>) -> Result<(), Aborted> {
        if records.is_empty() {
            return Ok(());
        }
        self.locks = Some(locks.clone());
        let prepared = self.prepare(records).await;
        self.locks = None;
        let mut steps = prepared.map_err(untouched)?;
        let contents = Contents {
            transaction: locks.transaction().to_owned(),
            uris: self.client.config().urls.iter().map(ToString::to_string).collect(),
            bind_dn: self.options.bind_dn.clone(),
            locks: self.options.locks.clone().unwrap_or_default(),
            lease: locks.lease().as_secs(),
            ..Contents::default()
        };
        let folder = self.options.journal.clone().unwrap_or_default();
        let mut journal = Journal::create(&folder, &contents.transaction).map_err(untouched)?;
        journal.write(&journal::begin(&contents, &self.held.fences())).map_err(untouched)?;
        for index in 0..steps.len() {
            let sent = self.send(locks, &mut journal, &mut steps, index).await;
            let Err(cause) = sent else { continue };
            let cause = match steps.get(index) {
                Some(step) => cause.about(format_args!("operation {}, {}", index + 1, step.record.dn)),
                None => cause,
            };
            steps.truncate(index + 1);
            let dn = steps.get(index).map(|step| step.record.dn.clone());
            let aborted = finish(&self.client, journal, &steps, self.relaxes, cause).await;
            return Err(Aborted { dn, ..aborted });
        }
        match journal.write(&journal::mark("commit")) {
            Ok(()) => journal.remove().or(Ok(())),
            Err(cause) => Err(finish(&self.client, journal, &steps, self.relaxes, cause).await),
        }
    }

    /// Locks what the changes touch, and finds out what cannot be undone, before anything is sent.
    async fn prepare(&mut self, records: Vec<Record>) -> Result<Vec<Step>> {
        let mut names = Vec::new();
        for record in &records {
            names.extend(undo::touched(record)?);
        }
        self.lock(&names).await?;
        let mut steps = Vec::new();
        let mut irreversible = Vec::new();
        for record in records {
            let before = undo::image(&self.client, &record.dn).await?;
            let step = Step {
                record,
                before,
                code: None,
                after: Marks::default(),
                undone: false,
                after_undo: Marks::default(),
            };
            irreversible.extend(undo::irreversible(&step, self.relaxes));
            steps.push(step);
        }
        if !irreversible.is_empty() && !self.options.allow_irreversible {
            return Err(usage(format!("irreversible: {}", irreversible.join("; "))));
        }
        Ok(steps)
    }

    /// Sends one change, between its lines of the journal.
    async fn send(
        &mut self,
        locks: &Locks,
        journal: &mut Journal,
        steps: &mut [Step],
        index: usize,
    ) -> Result<()> {
        let Some(step) = steps.get_mut(index) else { return Ok(()) };
        // An earlier change of the transaction may have made the entry what it is now.
        step.before = undo::image(&self.client, &step.record.dn).await?;
        self.held.keep(locks).await?;
        journal.write(&journal::intent(index + 1, step))?;
        let answer = self.client.apply(&step.record).await;
        let code = match &answer {
            Ok(result) => result.code.0,
            Err(error) => error.result().map(|result| result.code.0).ok_or_else(|| error.clone())?,
        };
        step.code = Some(code);
        if code == 0 {
            let now = match undo::target(&step.record)? {
                Some(dn) => undo::image(&self.client, &dn).await?,
                None => None,
            };
            step.after = now.map(|Image { marks, .. }| marks).unwrap_or_default();
        }
        journal.write(&journal::result(index + 1, code, &step.after))?;
        answer.map(drop)
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        // Locks of a transaction that was given up are released when the runtime comes to it, else free after their lease.
        let (Some(locks), mut held) = (self.locks.take(), std::mem::take(&mut self.held)) else { return };
        if let (false, Ok(runtime)) = (held.fences().is_empty(), tokio::runtime::Handle::try_current()) {
            drop(runtime.spawn(async move { _ = held.release(&locks).await }));
        }
    }
}

/// Nothing was sent, or the server has undone it.
const fn untouched(cause: Error) -> Aborted {
    Aborted { dn: None, cause, rolled_back: true, conflicts: Vec::new(), journal: None }
}
