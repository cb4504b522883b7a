//! A directory on disk: its entries in one file, which transactions change. Searches are answered from memory.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use redb::{Database, ReadableDatabase as _, ReadableTable as _, TableDefinition};
use tokio::sync::oneshot;

use super::entry::Stored;
use super::index::IndexSpec;
use super::store::{Store, Unsaved};
use super::{Directory, Shared};
use crate::error::{Error, ErrorKind, Result};
use crate::ldif::{Change, Record, Style};
use crate::proto::{LdapResult, ResultCode};

/// When changes are answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// When they are on disk; those that wait at the same time get there by one sync.
    #[default]
    Group,
    /// When they are on disk, each by a sync of its own.
    Each,
    /// At once. They get to the disk when the directory is closed, or by later changes: a crash loses them.
    None,
}

impl FromStr for Durability {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "group" => Ok(Self::Group),
            "each" => Ok(Self::Each),
            "none" => Ok(Self::None),
            _ => Err(Error::new(
                ErrorKind::Usage,
                format!("durability `{text:.100}`: group, each or none expected"),
            )),
        }
    }
}

/// Entries by their numbers.
const ENTRIES: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("entries");
/// Numbers of the directory.
const META: TableDefinition<'_, &str, u64> = TableDefinition::new("meta");
/// Indexes that are declared besides those of every directory.
const INDEXES: TableDefinition<'_, &str, ()> = TableDefinition::new("indexes");

/// The form of the file.
const VERSION: u64 = 1;

/// The file in the folder of a directory.
const FILE: &str = "entries.redb";

/// Changes that are written by one transaction.
const GROUP: usize = 64;

/// What writes changes to disk.
#[derive(Debug)]
pub(super) struct Keeper {
    sender: Option<mpsc::Sender<Batch>>,
    writer: Option<JoinHandle<()>>,
    has_failed: Arc<AtomicBool>,
    commits: Arc<Commits>,
}

/// Transactions that were written, and the nanoseconds that they took.
#[derive(Debug, Default)]
struct Commits {
    count: AtomicU64,
    nanos: AtomicU64,
}

/// The changes of one request.
#[derive(Debug)]
struct Batch {
    unsaved: Unsaved,
    written: oneshot::Sender<std::result::Result<(), String>>,
}

/// What tells that a change is on disk.
#[derive(Debug)]
pub(super) struct Written(oneshot::Receiver<std::result::Result<(), String>>);

impl Written {
    pub(super) async fn wait(self) -> std::result::Result<(), LdapResult> {
        let fault = |message: String| Err(LdapResult::new(ResultCode::UNAVAILABLE).with_message(message));
        match self.0.await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(message)) => fault(message),
            Err(_) => fault("the store is closed".to_owned()),
        }
    }
}

impl Keeper {
    fn begin(database: Database, durability: Durability) -> Result<Self> {
        let (sender, receiver) = mpsc::channel::<Batch>();
        let has_failed = Arc::new(AtomicBool::new(false));
        let failed = Arc::clone(&has_failed);
        let commits = Arc::new(Commits::default());
        let counted = Arc::clone(&commits);
        let writer = std::thread::Builder::new().name("store".to_owned()).spawn(move || {
            write_all(&database, &receiver, durability, &failed, &counted);
        })?;
        Ok(Self { sender: Some(sender), writer: Some(writer), has_failed, commits })
    }

    /// The number of transactions that were written, and the seconds that they took.
    pub(super) fn commits(&self) -> (u64, f64) {
        let nanos = Duration::from_nanos(self.commits.nanos.load(Ordering::Relaxed));
        (self.commits.count.load(Ordering::Relaxed), nanos.as_secs_f64())
    }

    /// Whether a change could not be written: what is in memory is not what is on disk.
    pub(super) fn has_failed(&self) -> bool {
        self.has_failed.load(Ordering::SeqCst)
    }

    /// Writes changes after those of earlier calls.
    pub(super) fn write(&self, unsaved: Unsaved) -> Written {
        let (written, receiver) = oneshot::channel();
        if let Some(sender) = &self.sender {
            // If the writer has ended, the receiver hears of it.
            _ = sender.send(Batch { unsaved, written });
        }
        Written(receiver)
    }
}

impl Drop for Keeper {
    /// Waits until all is written.
    fn drop(&mut self) {
        self.sender = None;
        if let Some(writer) = self.writer.take() {
            _ = writer.join();
        }
    }
}

fn write_all(
    database: &Database,
    receiver: &mpsc::Receiver<Batch>,
    durability: Durability,
    has_failed: &AtomicBool,
    commits: &Commits,
) {
    while let Ok(first) = receiver.recv() {
        let mut batches = vec![first];
        if durability != Durability::Each {
            // While one transaction is written, the next ones wait here.
            batches.extend(std::iter::from_fn(|| receiver.try_recv().ok()).take(GROUP - 1));
        }
        let begin = Instant::now();
        // What follows on a change that is not there must not be there either.
        let written = if has_failed.load(Ordering::SeqCst) {
            Err("an earlier change could not be written".to_owned())
        } else {
            let synced = durability != Durability::None;
            write(database, batches.iter().map(|batch| &batch.unsaved), synced)
                .map_err(|error| error.to_string())
        };
        has_failed.fetch_or(written.is_err(), Ordering::SeqCst);
        commits.count.fetch_add(1, Ordering::Relaxed);
        let nanos = u64::try_from(begin.elapsed().as_nanos()).unwrap_or(u64::MAX);
        commits.nanos.fetch_add(nanos, Ordering::Relaxed);
        for batch in batches {
            _ = batch.written.send(written.clone());
        }
    }
    if durability == Durability::None {
        // An empty transaction that is synced brings those before it to disk.
        _ = write(database, std::iter::empty(), true);
    }
}

/// Writes changes by one transaction.
fn write<'u>(
    database: &Database,
    all: impl Iterator<Item = &'u Unsaved>,
    synced: bool,
) -> std::result::Result<(), redb::Error> {
    let mut transaction = database.begin_write()?;
    if !synced {
        transaction.set_durability(redb::Durability::None)?;
    }
    {
        let mut entries = transaction.open_table(ENTRIES)?;
        let mut meta = transaction.open_table(META)?;
        for Unsaved { entries: changed, serial, changes } in all {
            for (id, stored) in changed {
                match stored {
                    Some(stored) => drop(entries.insert(u64::from(*id), stored.to_kept().as_slice())?),
                    None => drop(entries.remove(u64::from(*id))?),
                }
            }
            meta.insert("serial", *serial)?;
            meta.insert("changes", *changes)?;
        }
    }
    transaction.commit()?;
    Ok(())
}

#[cold]
fn fault(path: &Path, error: &impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::Io, format!("{}: {error}", path.display()))
}

/// Opens the file of a directory; makes one if there is none.
fn open(folder: &Path) -> Result<(Database, PathBuf)> {
    std::fs::create_dir_all(folder).map_err(|error| fault(folder, &error))?;
    let path = folder.join(FILE);
    let database = Database::create(&path).map_err(|error| match error {
        redb::DatabaseError::DatabaseAlreadyOpen => fault(&path, &"another process uses the directory"),
        error => fault(&path, &error),
    })?;
    let instance = Store::default().instance;
    let prepared = || -> std::result::Result<u64, redb::Error> {
        let transaction = database.begin_write()?;
        let version = {
            transaction.open_table(ENTRIES)?;
            transaction.open_table(INDEXES)?;
            let mut meta = transaction.open_table(META)?;
            let known = meta.get("version")?.map(|version| version.value());
            if known.is_none() {
                meta.insert("version", VERSION)?;
                meta.insert("instance", instance)?;
            }
            known.unwrap_or(VERSION)
        };
        transaction.commit()?;
        Ok(version)
    };
    match prepared().map_err(|error| fault(&path, &error))? {
        VERSION => Ok((database, path)),
        other => {
            Err(fault(&path, &format_args!("version {other} of the file; this program knows {VERSION}")))
        }
    }
}

/// Reads what is in the file into a store.
fn read(database: &Database, path: &Path, store: &mut Store) -> Result<()> {
    let (entries, [instance, serial, changes], specs) =
        contents(database).map_err(|error| fault(path, &error))?;
    let mut all = Vec::with_capacity(entries.len());
    for (id, octets) in entries {
        let stored = u32::try_from(id).ok().and_then(|id| Stored::of_kept(id, &octets));
        let damaged =
            || fault(path, &format_args!("entry {id} is damaged; run `tercet ldap store --data DIR check`"));
        all.push(stored.ok_or_else(damaged)?);
    }
    let specs: Vec<IndexSpec> = specs.iter().filter_map(|spec| spec.parse().ok()).collect();
    if !specs.is_empty() {
        store.declare(&specs);
    }
    store.restore(all, instance, serial, changes);
    Ok(())
}

/// Entries by number, the numbers of the directory, and indexes.
type Contents = (Vec<(u64, Vec<u8>)>, [u64; 3], Vec<String>);

fn contents(database: &Database) -> std::result::Result<Contents, redb::Error> {
    let transaction = database.begin_read()?;
    let mut entries = Vec::new();
    for entry in transaction.open_table(ENTRIES)?.iter()? {
        let (id, octets) = entry?;
        entries.push((id.value(), octets.value().to_vec()));
    }
    let meta = transaction.open_table(META)?;
    let mut numbers = [0; 3];
    for (number, name) in numbers.iter_mut().zip(["instance", "serial", "changes"]) {
        *number = meta.get(name)?.map_or(0, |value| value.value());
    }
    let mut specs = Vec::new();
    for spec in transaction.open_table(INDEXES)?.iter()? {
        specs.push(spec?.0.value().to_owned());
    }
    Ok((entries, numbers, specs))
}

/// What a check of a directory on disk has found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Checked {
    /// The number of entries.
    pub entries: u64,
    /// What is wrong.
    pub faults: Vec<String>,
}

impl Directory {
    /// Opens a directory on disk, in a folder; an empty one is made if there is none. Changes are answered when they are on disk.
    ///
    /// # Errors
    /// The folder cannot be read, another process uses it, or an entry is damaged.
    pub fn open(folder: &Path, durability: Durability) -> Result<Self> {
        let (database, path) = open(folder)?;
        let mut store = Store::default();
        read(&database, &path, &mut store)?;
        let keeper = Some(Keeper::begin(database, durability)?);
        let shared = Shared { store: store.into(), keeper, ..Shared::default() };
        Ok(Self { shared: Arc::new(shared), ..Self::default() })
    }

    /// Takes in LDIF, all of it or nothing; returns the number of records when they are on disk.
    ///
    /// # Errors
    /// The LDIF is malformed, a change in it cannot be made, or the disk cannot be written.
    pub async fn import(&self, input: impl std::io::BufRead) -> Result<u64> {
        let (loaded, kept) = {
            let mut store = self.write();
            let loaded = store.in_bulk(|store| super::load(store, input));
            if loaded.is_err() {
                // What has been made of it is not written.
                drop(store.take_unsaved());
            }
            let kept = store.keep();
            (loaded, kept)
        };
        let count = loaded?;
        kept.wait().await.map_err(Error::from_result)?;
        Ok(count)
    }

    /// Checks a directory on disk: the file, each entry, and that the entries above are there.
    ///
    /// # Errors
    /// The file cannot be read, or another process uses it.
    pub fn check_store(folder: &Path) -> Result<Checked> {
        let (mut database, path) = open(folder)?;
        let mut checked = Checked::default();
        if !database.check_integrity().map_err(|error| fault(&path, &error))? {
            checked.faults.push("the file was not closed in good order; it has been repaired".to_owned());
        }
        let (entries, [_, serial, changes], _) = contents(&database).map_err(|error| fault(&path, &error))?;
        let mut places = std::collections::BTreeMap::new();
        for (id, octets) in &entries {
            checked.entries += 1;
            let Some(stored) = u32::try_from(*id).ok().and_then(|id| Stored::of_kept(id, octets)) else {
                checked.faults.push(format!("entry {id} is damaged"));
                continue;
            };
            if stored.serial > serial || stored.changed > changes {
                checked.faults.push(format!("{}: newer than the directory", stored.name()));
            }
            let name = stored.name().to_owned();
            if let Some(other) = places.insert(stored.place().to_vec(), name) {
                checked.faults.push(format!("{other}: two entries have this name"));
            }
        }
        // Without the one above it, an entry is the first of its tree: that holds if nothing else of the tree is above.
        for (place, name) in &places {
            let above = place.split_last().and_then(|(_, above)| memchr::memrchr(0, above));
            let parent = above.and_then(|end| place.get(..=end));
            let has_ancestor = |parent: &[u8]| {
                (0..parent.len()).any(|end| parent.get(..end).is_some_and(|above| places.contains_key(above)))
            };
            if let Some(parent) = parent
                && !places.contains_key(parent)
                && has_ancestor(parent)
            {
                checked.faults.push(format!("{name}: the entry above it is missing"));
            }
        }
        Ok(checked)
    }

    /// Makes the file of a directory on disk as small as it can be; returns whether that changed it.
    ///
    /// # Errors
    /// The file cannot be written, or another process uses it.
    pub fn compact_store(folder: &Path) -> Result<bool> {
        let (mut database, path) = open(folder)?;
        database.compact().map_err(|error| fault(&path, &error))
    }

    /// Declares indexes of a directory on disk, for all that open it from now on.
    ///
    /// # Errors
    /// The text is not one of an index, the file cannot be written, or another process uses it.
    pub fn index_store(folder: &Path, specs: &[&str]) -> Result<()> {
        for spec in specs {
            spec.parse::<IndexSpec>()?;
        }
        let (database, path) = open(folder)?;
        let declared = || -> std::result::Result<(), redb::Error> {
            let transaction = database.begin_write()?;
            {
                let mut table = transaction.open_table(INDEXES)?;
                for spec in specs {
                    table.insert(*spec, ())?;
                }
            }
            transaction.commit()?;
            Ok(())
        };
        declared().map_err(|error| fault(&path, &error))
    }

    /// Writes all entries as LDIF, each after those above it.
    ///
    /// # Errors
    /// Those of the output.
    pub fn export(&self, out: &mut impl std::io::Write) -> Result<()> {
        let mut text = Vec::new();
        for stored in self.read().entries() {
            let change = Change::Add(stored.to_attributes());
            let dn = stored.name().to_owned();
            Style::default()
                .record(&mut text, &Record { dn, controls: Vec::new(), change, is_change: false });
            if text.len() > 1 << 16 {
                out.write_all(&text)?;
                text.clear();
            }
        }
        out.write_all(&text)?;
        Ok(())
    }
}
