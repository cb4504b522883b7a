//! `tercet ldap follow`.

use super::connection::Connection;
use super::rows::json_value;
use super::{codes, failure};
use crate::exit::{Exit, Failure, Outcome};
use crate::interrupt::{OnInterrupt, listen};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use clap::Args;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, HashSet};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tercet::records::Output;
use tercet_ldap::controls::{
    DirSync, EntryChange, PersistentSearch, Sync, SyncChange, SyncDone, SyncInfo, SyncState,
};
use tercet_ldap::ldif::{Change, Record, Style};
use tercet_ldap::proto::ResponseControl;
use tercet_ldap::{Client, Entry, Item, ResultCode, Scope, Search};

/// Print changes of entries as they happen, and go on where an earlier run has stopped
#[derive(Args, Debug)]
#[command(after_help = "\
Each change is a JSON object in a line: `change` (add, modify, rename or delete), `dn`, and the attributes of the entry.

Example:
  tercet ldap follow -H ldap://localhost -b o=test --cookie state '(objectClass=person)' cn mail")]
pub struct Follow {
    #[command(flatten)]
    connection: Connection,

    /// Where the search begins
    #[arg(short = 'b', value_name = "BASE", default_value = "")]
    base: String,

    /// base, one, sub or children
    #[arg(short = 's', value_name = "SCOPE", default_value = "sub", value_parser = |text: &str| text.parse::<Scope>())]
    scope: Scope,

    /// Content synchronization (RFC 4533). Without --sync, --persistent, --dirsync and --poll, the first of them that the server has
    #[arg(long, group = "way")]
    sync: bool,

    /// The persistent search of 389 Directory Server and others; it reports no changes between two runs
    #[arg(long, group = "way")]
    persistent: bool,

    /// DirSync of Active Directory, asked for again after --interval seconds
    #[arg(long, group = "way")]
    dirsync: bool,

    /// Search again and again, with so many seconds between, and compare: for every server
    #[arg(long, group = "way", value_name = "SECONDS")]
    poll: Option<u64>,

    /// Seconds between two requests of --dirsync
    #[arg(long, value_name = "SECONDS", default_value_t = 5)]
    interval: u64,

    /// The file that keeps the state between runs
    #[arg(long, value_name = "FILE")]
    cookie: Option<PathBuf>,

    /// End when all changes until now have been printed
    #[arg(long)]
    once: bool,

    /// Print LDIF: entries as they are now after a comment with the change, and deletions
    #[arg(long)]
    ldif: bool,

    /// The filter
    #[arg(default_value = "(objectClass=*)")]
    filter: String,

    /// The attributes; all of users if not given
    attributes: Vec<String>,
}

/// What is known between two requests.
#[derive(Debug, Default)]
struct State {
    cookie: Option<Vec<u8>>,
    /// Names by entryUUID; with --poll, hashes of entries by name.
    known: BTreeMap<String, String>,
    is_changed: bool,
}

/// Time between two searches where a server has nothing better.
const POLL: Duration = Duration::from_secs(10);
/// Time between two writes of the state.
const PAUSE: Duration = Duration::from_secs(1);

impl State {
    fn read(path: &Path) -> Outcome<Self> {
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(Failure::io(path.display(), &error)),
        };
        let fault =
            || Failure::usage(format_args!("--cookie {}: not the state of an earlier run", path.display()));
        let object: Value = serde_json::from_str(&text).map_err(|_| fault())?;
        let cookie = match object.get("cookie").ok_or_else(fault)? {
            Value::String(text) => Some(STANDARD.decode(text).map_err(|_| fault())?),
            _ => None,
        };
        let known = object.get("known").and_then(Value::as_object).ok_or_else(fault)?;
        let known = known.iter().filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned())));
        Ok(Self { cookie, known: known.collect(), is_changed: false })
    }

    fn write(&mut self, path: &Path) -> Outcome<()> {
        if !std::mem::take(&mut self.is_changed) {
            return Ok(());
        }
        let cookie = self.cookie.as_ref().map(|cookie| STANDARD.encode(cookie));
        let mut file = Output::create(path)?;
        writeln!(file, "{}", json!({ "cookie": cookie, "known": self.known }))?;
        Ok(file.commit()?)
    }

    fn keep(&mut self, cookie: Option<Vec<u8>>) {
        if let Some(cookie) = cookie {
            self.is_changed |= self.cookie.as_ref() != Some(&cookie);
            self.cookie = Some(cookie);
        }
    }
}

/// What happens while changes are followed.
struct Run<'f> {
    options: &'f Follow,
    client: Client,
    state: State,
    stop: Arc<AtomicBool>,
    written: Instant,
}

impl Follow {
    pub async fn run(&self) -> Outcome {
        let state = self.cookie.as_deref().map(State::read).transpose()?.unwrap_or_default();
        let client = self.connection.open().await?;
        let stop = listen(OnInterrupt::Finish)?;
        let mut run = Run { options: self, client, state, stop, written: Instant::now() };
        let done = if let Some(seconds) = self.poll {
            run.poll(Duration::from_secs(seconds)).await
        } else if self.dirsync {
            run.dir_sync().await
        } else if self.persistent {
            run.persistent().await
        } else if self.sync {
            run.sync().await
        } else {
            run.by_root().await
        };
        // What has been printed is not printed again, whatever ended the run.
        run.save(true)?;
        done?;
        Ok(Exit::Good)
    }

    fn search(&self) -> Outcome<Search> {
        let search = Search::new(&self.base).filter(&self.filter).map_err(|error| failure("", &error))?;
        Ok(search.scope(self.scope).attributes(&self.attributes))
    }
}

fn fault(error: &tercet_ldap::Error) -> Failure {
    failure("", error)
}

/// The control of an entry.
fn control<C: ResponseControl>(entry: &Entry) -> Outcome<Option<C>> {
    let controls = entry.controls().map_err(|error| fault(&error))?;
    let found = controls.iter().find(|control| control.oid == C::OID);
    let read = found.map(|control| C::read(control.value.as_deref().unwrap_or_default()));
    read.transpose().map_err(|error| fault(&error))
}

impl Run<'_> {
    /// Writes the state, not more often than it has to be.
    fn save(&mut self, now: bool) -> Outcome<()> {
        if let Some(path) = &self.options.cookie
            && (now || self.written.elapsed() >= PAUSE)
        {
            self.written = Instant::now();
            self.state.write(path)?;
        }
        Ok(())
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Waits, and looks for signals meanwhile.
    async fn wait(&self, time: Duration) {
        let end = Instant::now() + time;
        while !self.is_stopped() && Instant::now() < end {
            let left = end.saturating_duration_since(Instant::now());
            tokio::time::sleep(left.min(Duration::from_millis(100))).await;
        }
    }

    /// Prints a change.
    fn print(&self, change: &str, dn: &str, entry: Option<&Entry>, more: &[(&str, &str)]) -> Outcome<()> {
        let mut out = Vec::new();
        if self.options.ldif {
            match entry {
                Some(entry) => {
                    Style::default().comment(&mut out, change.as_bytes());
                    Style::default().entry(&mut out, entry);
                }
                None => {
                    let dn = dn.to_owned();
                    let record = Record { dn, controls: Vec::new(), change: Change::Delete, is_change: true };
                    Style::default().record(&mut out, &record);
                }
            }
        } else {
            let mut object = Map::new();
            object.insert("change".to_owned(), Value::from(change));
            object.insert("dn".to_owned(), Value::from(dn));
            for (name, value) in more {
                object.insert((*name).to_owned(), Value::from(*value));
            }
            if let Some(entry) = entry {
                let attributes = entry.attributes();
                let listed =
                    attributes.map(|one| (one.name().into_owned(), one.values().map(json_value).collect()));
                object.insert("attributes".to_owned(), Value::Object(listed.collect()));
            }
            writeln!(out, "{}", Value::Object(object))?;
        }
        let mut stdout = crate::term::stdout(crate::term::Quotes::HoldText);
        stdout.write_all(&out)?;
        Ok(stdout.flush()?)
    }

    /// The next item of a search; nothing at its end, or after a signal.
    async fn next(&mut self, entries: &mut tercet_ldap::Entries) -> Outcome<Option<Item>> {
        loop {
            tokio::select! {
                item = entries.next_item() => return item.map_err(|error| fault(&error)),
                () = tokio::time::sleep(Duration::from_millis(100)) => {
                    self.save(false)?;
                    if self.is_stopped() {
                        return Ok(None);
                    }
                }
            }
        }
    }

    /// Follows by the first way that the root DSE lists.
    async fn by_root(&mut self) -> Outcome<()> {
        let search = Search::new("").scope(Scope::Base).attributes(&["supportedControl", "namingContexts"]);
        let root = self.client.search_all(search).await.map_err(|error| fault(&error))?.0;
        let has = |attribute: &str, text: &str| {
            let mut values = root.iter().flat_map(|root| root.values(attribute));
            values.any(|value| value.eq_ignore_ascii_case(text.as_bytes()))
        };
        let knows = |oid| has("supportedControl", oid);
        // The root DSE may not be readable: the server decides then.
        if root.is_empty()
            || !root.iter().any(|root| root.values("supportedControl").next().is_some())
            || knows(Sync::OID)
        {
            self.sync().await
        } else if knows(PersistentSearch::OID) {
            self.persistent().await
        } else if knows(DirSync::OID) && has("namingContexts", &self.options.base) {
            self.dir_sync().await
        } else {
            self.poll(POLL).await
        }
    }

    async fn sync(&mut self) -> Outcome<()> {
        loop {
            let cookie = self.state.cookie.clone();
            let sync = Sync { persist: !self.options.once, cookie, reload_hint: false };
            let search = self.options.search()?.control(&sync);
            let done = match self.client.search(search).await {
                Ok(entries) => self.sync_search(entries).await,
                Err(error) => Err(fault(&error)),
            };
            match done {
                // The server does not know the cookie any more: all entries are compared.
                Err(failed)
                    if failed.ldap == Some(codes::of(ResultCode::SYNC_REFRESH_REQUIRED))
                        && self.state.cookie.is_some() =>
                {
                    self.state.cookie = None;
                }
                done => return done,
            }
        }
    }

    async fn sync_search(&mut self, mut entries: tercet_ldap::Entries) -> Outcome<()> {
        let mut present: HashSet<String> = HashSet::new();
        let mut is_refreshing = true;
        while let Some(item) = self.next(&mut entries).await? {
            match item {
                Item::Entry(entry) => {
                    let state: SyncState = control(&entry)?.ok_or_else(|| {
                        Failure::input("the server does not synchronize: an entry has no state")
                    })?;
                    let uuid = uuid(&state.uuid);
                    match state.state {
                        SyncChange::Delete => self.gone(&uuid, Some(entry.dn()))?,
                        SyncChange::Present => _ = present.insert(uuid),
                        SyncChange::Add | SyncChange::Modify => {
                            let before = self.state.known.insert(uuid.clone(), entry.dn().to_owned());
                            let change = match &before {
                                None => "add",
                                Some(dn) if dn != entry.dn() => "rename",
                                Some(_) => "modify",
                            };
                            let mut more = vec![("uuid", uuid.as_str())];
                            if let Some(old) = before.as_deref().filter(|_| change == "rename") {
                                more.push(("oldDn", old));
                            }
                            self.print(change, entry.dn(), Some(&entry), &more)?;
                            self.state.is_changed = true;
                            present.insert(uuid.clone());
                        }
                    }
                    self.state.keep(state.cookie);
                }
                Item::Intermediate(response) if response.name.as_deref() == Some(SyncInfo::OID) => {
                    let info = SyncInfo::read(response.value.as_deref().unwrap_or_default());
                    match info.map_err(|error| fault(&error))? {
                        SyncInfo::NewCookie(cookie) => self.state.keep(Some(cookie)),
                        SyncInfo::RefreshDelete(cookie, done) => {
                            is_refreshing &= !done;
                            self.state.keep(cookie);
                        }
                        SyncInfo::RefreshPresent(cookie, done) => {
                            if is_refreshing {
                                self.absent(&present)?;
                            }
                            is_refreshing &= !done;
                            self.state.keep(cookie);
                        }
                        SyncInfo::IdSet(cookie, deletes, ids) => {
                            for id in ids {
                                if deletes {
                                    self.gone(&uuid(&id), None)?;
                                } else {
                                    present.insert(uuid(&id));
                                }
                            }
                            self.state.keep(cookie);
                        }
                    }
                }
                _ => {}
            }
            self.save(false)?;
        }
        if let Some(result) = entries.result() {
            let done = result.controls.iter().find(|control| control.oid == SyncDone::OID);
            let done = done.map(|control| SyncDone::read(control.value.as_deref().unwrap_or_default()));
            if let Some(done) = done.transpose().map_err(|error| fault(&error))? {
                if is_refreshing && !done.refresh_deletes {
                    self.absent(&present)?;
                }
                self.state.keep(done.cookie);
            }
        }
        Ok(())
    }

    /// Reports an entry that is gone, if it was known.
    fn gone(&mut self, uuid: &str, dn: Option<&str>) -> Outcome<()> {
        let known = self.state.known.remove(uuid);
        if let Some(dn) = known.as_deref().or(dn) {
            self.print("delete", dn, None, &[("uuid", uuid)])?;
        }
        self.state.is_changed = true;
        Ok(())
    }

    /// Reports the known entries of which the refresh has not told.
    fn absent(&mut self, present: &HashSet<String>) -> Outcome<()> {
        let gone: Vec<String> =
            self.state.known.keys().filter(|uuid| !present.contains(*uuid)).cloned().collect();
        gone.iter().try_for_each(|uuid| self.gone(uuid, None))
    }

    async fn persistent(&mut self) -> Outcome<()> {
        if self.options.once {
            return Err(Failure::usage("--once: a persistent search has no end"));
        }
        let control_of = PersistentSearch { change_types: 15, changes_only: true, return_changes: true };
        let search = self.options.search()?.control(&control_of);
        let mut entries = self.client.search(search).await.map_err(|error| fault(&error))?;
        while let Some(item) = self.next(&mut entries).await? {
            let Item::Entry(entry) = item else { continue };
            let change: Option<EntryChange> = control(&entry)?;
            let word = match change.as_ref().map(|change| change.change_type) {
                Some(1) => "add",
                Some(2) => "delete",
                Some(8) => "rename",
                _ => "modify",
            };
            let old = change.and_then(|change| change.previous_dn);
            let more: Vec<(&str, &str)> = old.iter().map(|old| ("oldDn", old.as_str())).collect();
            self.print(word, entry.dn(), Some(&entry).filter(|_| word != "delete"), &more)?;
        }
        Ok(())
    }

    async fn dir_sync(&mut self) -> Outcome<()> {
        while !self.is_stopped() {
            let cookie = self.state.cookie.clone().unwrap_or_default();
            let request = DirSync { flags: 0, max_bytes: 1 << 20, cookie };
            let search = self.options.search()?.control(&request);
            let mut entries = self.client.search(search).await.map_err(|error| fault(&error))?;
            while let Some(entry) = entries.next().await.map_err(|error| fault(&error))? {
                let is_gone = entry.text("isDeleted").is_some_and(|value| value.eq_ignore_ascii_case("TRUE"));
                let uuid =
                    entry.values("objectGUID").next().map(uuid).unwrap_or_else(|| entry.dn().to_owned());
                if is_gone {
                    self.gone(&uuid, Some(entry.dn()))?;
                } else {
                    let before = self.state.known.insert(uuid.clone(), entry.dn().to_owned());
                    let change = match before {
                        None => "add",
                        Some(dn) if dn != entry.dn() => "rename",
                        Some(_) => "modify",
                    };
                    self.print(change, entry.dn(), Some(&entry), &[("uuid", &uuid)])?;
                }
            }
            let answer: Option<DirSync> = entries
                .result()
                .map(tercet_ldap::LdapResult::control)
                .transpose()
                .map_err(|error| fault(&error))?
                .flatten();
            let answer = answer.ok_or_else(|| Failure::input("the server does not know DirSync"))?;
            self.state.keep(Some(answer.cookie));
            self.save(true)?;
            if answer.flags == 0 {
                if self.options.once {
                    break;
                }
                self.wait(Duration::from_secs(self.options.interval)).await;
            }
        }
        Ok(())
    }

    async fn poll(&mut self, time: Duration) -> Outcome<()> {
        while !self.is_stopped() {
            let search = self.options.search()?.page_size(500);
            let mut entries = self.client.search(search).await.map_err(|error| fault(&error))?;
            let mut seen = BTreeMap::new();
            while let Some(entry) = entries.next().await.map_err(|error| fault(&error))? {
                let hash = hash(&entry);
                let change = match self.state.known.get(entry.dn()) {
                    None => Some("add"),
                    Some(known) if *known != hash => Some("modify"),
                    Some(_) => None,
                };
                if let Some(change) = change {
                    self.print(change, entry.dn(), Some(&entry), &[])?;
                }
                seen.insert(entry.dn().to_owned(), hash);
            }
            for dn in self.state.known.keys().filter(|dn| !seen.contains_key(*dn)) {
                self.print("delete", dn, None, &[])?;
            }
            self.state.is_changed |= self.state.known != seen;
            self.state.known = seen;
            self.save(true)?;
            if self.options.once {
                break;
            }
            self.wait(time).await;
        }
        Ok(())
    }
}

/// A hash of the attributes of an entry, whatever their order: FNV-1a of each value, added up.
fn hash(entry: &Entry) -> String {
    let mut sum = 0_u64;
    for attribute in entry.attributes() {
        let name = attribute.name().to_ascii_lowercase();
        for value in attribute.values() {
            let octets = name.bytes().chain([0]).chain(value.iter().copied());
            let hash = octets.fold(0xCBF2_9CE4_8422_2325_u64, |hash, octet| {
                (hash ^ u64::from(octet)).wrapping_mul(0x0100_0000_01B3)
            });
            sum = sum.wrapping_add(hash);
        }
    }
    format!("{sum:016x}")
}

fn uuid(octets: &[u8]) -> String {
    super::ldif::uuid(octets)
}
