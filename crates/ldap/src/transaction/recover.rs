//! The end of transactions that were not made: what was sent of them is undone, at once or after a crash.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::journal::{self, Journal, State, Step};
use super::lock::{Held, Locks};
use super::undo::{self, Known, Undone};
use super::{Aborted, Conflict};
use crate::client::Client;
use crate::error::{Error, Result};

/// Undoes what was sent, after something went wrong.
pub(super) async fn finish(
    client: &Client,
    mut journal: Journal,
    steps: &[Step],
    relaxes: bool,
    cause: Error,
) -> Aborted {
    match undo_all(client, &mut journal, steps, relaxes).await {
        Ok(conflicts) if conflicts.is_empty() => {
            let path = journal.path().to_owned();
            let removed = journal.remove();
            Aborted { dn: None, cause, rolled_back: true, conflicts, journal: removed.err().map(|_| path) }
        }
        Ok(conflicts) => {
            let journal = Some(journal.path().to_owned());
            Aborted { dn: None, cause, rolled_back: false, conflicts, journal }
        }
        Err(_) => {
            let journal = Some(journal.path().to_owned());
            Aborted { dn: None, cause, rolled_back: false, conflicts: Vec::new(), journal }
        }
    }
}

/// Undoes operations, the last first, and gives what could not be undone.
async fn undo_all(
    client: &Client,
    journal: &mut Journal,
    steps: &[Step],
    relaxes: bool,
) -> Result<Vec<Conflict>> {
    journal.write(&journal::mark("undo"))?;
    let mut conflicts = Vec::new();
    let mut known = Known::new(steps);
    for (index, step) in steps.iter().enumerate().rev().filter(|(_, step)| !step.undone) {
        let number = index + 1;
        match undo::undo(client, step, &known, relaxes).await? {
            Undone::Yes => {
                let now = undo::image(client, &step.record.dn).await?;
                let marks = now.map(|image| image.marks).unwrap_or_default();
                journal.write(&journal::undone(number, &marks))?;
                known.set(&step.record.dn, marks);
            }
            Undone::Conflict(reason) => {
                let dn = step.record.dn.clone();
                journal.write(&journal::conflict(number, &dn, &reason))?;
                conflicts.push(Conflict { number, dn, reason });
            }
        }
    }
    if conflicts.is_empty() {
        journal.write(&journal::mark("rolled-back"))?;
    }
    Ok(conflicts)
}

/// A transaction that has a journal.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Pending {
    /// The identifier, a UUID.
    pub transaction: String,
    /// How far it has come.
    pub state: State,
    /// Number of operations that were sent, or were about to be.
    pub operations: usize,
    /// The servers.
    pub uris: Vec<String>,
    /// The name that its client was bound as.
    pub bind_dn: String,
    /// The file.
    pub journal: PathBuf,
}

/// Lists the transactions that have a journal in a folder: interrupted ones, and those that go on at this moment.
///
/// # Errors
/// A file cannot be read, or is not a journal.
pub fn pending(folder: &Path) -> Result<Vec<Pending>> {
    let mut all = Vec::new();
    for path in journal::paths(folder)? {
        let contents = journal::look(&path)?;
        let state = contents.state();
        let name = path.file_stem().map(|name| name.to_string_lossy().into_owned());
        all.push(Pending {
            transaction: name.unwrap_or_default(),
            state,
            operations: contents.steps.len(),
            uris: contents.uris,
            bind_dn: contents.bind_dn,
            journal: path,
        });
    }
    Ok(all)
}

/// What was done about an interrupted transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Recovered {
    /// Everything is as before the transaction, or as after it; the journal is gone.
    Finished {
        /// Whether operations were undone; if not, nothing was left to do but to remove the journal.
        undone: bool,
    },
    /// Operations could not be undone; the journal stays.
    Conflicts(Vec<Conflict>),
    /// The transaction goes on in another process.
    Running,
}

/// Finishes an interrupted transaction: undoes what was sent of it, unless all of it was made.
///
/// The locks of the transaction are taken over at once, as its process does not hold the journal any more.
///
/// # Errors
/// The journal cannot be read or written; somebody else has a lock; the connection fails. The journal stays then.
pub async fn recover(client: &Client, journal: &Path, lock_wait: Duration) -> Result<Recovered> {
    let Some((mut journal, contents)) = Journal::open(journal)? else {
        return Ok(Recovered::Running);
    };
    let lease = Duration::from_secs(contents.lease.max(1));
    let locks = match contents.locks.as_str() {
        "" => None,
        base => Some(Locks::of(client, base, lease, contents.transaction.clone()).await?),
    };
    let mut held = Held::default();
    if let Some(locks) = &locks {
        held.take(locks, &contents.names, lock_wait).await?;
    }
    let undone = !contents.is_over && contents.steps.iter().any(|step| !step.undone);
    let done = if undone {
        let relaxes = client.root_dse(&["supportedControl"]).await?.lists("supportedControl", &undo::relax());
        undo_all(client, &mut journal, &contents.steps, relaxes).await
    } else {
        Ok(Vec::new())
    };
    let released = match &locks {
        Some(locks) => held.release(locks).await,
        None => Ok(()),
    };
    let conflicts = done?;
    released?;
    if !conflicts.is_empty() {
        return Ok(Recovered::Conflicts(conflicts));
    }
    journal.remove()?;
    Ok(Recovered::Finished { undone })
}
