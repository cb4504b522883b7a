//! Locks as entries of a directory: taken by adding, and kept, handed on and released by compare and swap.
//!
//! No clocks are compared. A waiter takes a lock over when it has seen the same value for the time of a lease and a fifth more, by
//! its own clock; the owner changes the value in each third of a lease.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

use ring::digest::{SHA256, digest};
use ring::rand::{SecureRandom as _, SystemRandom};
use serde_json::{Value, json};

use crate::client::root::RootDse;
use crate::client::{Client, Search};
use crate::controls::Assertion;
use crate::dn::{Dn, Rdn};
use crate::error::{Error, ErrorKind, Result};
use crate::generated::{AttributeValueAssertion, Filter};
use crate::ldif::{ModificationKind, RecordModification};
use crate::proto::ResultCode;
use crate::url::Scope;

/// How often a waiter looks at a lock that is held.
const LOOK: Duration = Duration::from_millis(200);

/// Where locks are, and who takes them.
#[derive(Clone, Debug)]
pub struct Locks {
    client: Client,
    base: String,
    owner: String,
    transaction: String,
    lease: Duration,
    /// The class of the entries.
    class: &'static str,
    /// Whether the server can delete an entry on a condition (RFC 4528).
    has_assertion: bool,
}

/// A lock that is held.
#[derive(Clone, Debug)]
pub struct Lock {
    /// What is locked: a normalized DN, or a name.
    pub name: String,
    /// Grows each time that a lock is taken over.
    pub fence: u64,
    dn: String,
    value: String,
    beat: u64,
    renewed: Instant,
}

/// What an entry of a lock says.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LockState {
    /// What is locked.
    pub name: String,
    /// The owner, a UUID; empty if there is none.
    pub owner: String,
    /// The transaction, a UUID.
    pub transaction: String,
    /// The host of the owner.
    pub host: String,
    /// The process of the owner.
    pub pid: u64,
    /// Seconds of the lease.
    pub lease: u64,
    /// How often the lock was taken over.
    pub fence: u64,
    /// How often it was renewed.
    pub beat: u64,
    value: String,
}

impl LockState {
    /// Reads the value of `description`; nothing if it is not one of a lock.
    fn read(value: &str) -> Option<Self> {
        let object: Value = serde_json::from_str(value).ok()?;
        if object.get("v")?.as_u64()? != 1 {
            return None;
        }
        let text = |name: &str| object.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let number = |name: &str| object.get(name).and_then(Value::as_u64).unwrap_or_default();
        Some(Self {
            name: text("for"),
            owner: text("owner"),
            transaction: text("txn"),
            host: text("host"),
            pid: number("pid"),
            lease: number("lease"),
            fence: number("fence"),
            beat: number("beat"),
            value: value.to_owned(),
        })
    }

    /// The state as one line of JSON, as the entry has it.
    #[must_use]
    pub fn json(&self) -> &str {
        &self.value
    }
}

/// A random UUID (RFC 9562, version 4).
pub(super) fn uuid() -> Result<String> {
    let mut octets = [0; 16];
    let fault = |_| Error::new(ErrorKind::Auth, "the system has no random bytes");
    SystemRandom::new().fill(&mut octets).map_err(fault)?;
    octets[6] = octets[6] & 0x0F | 0x40;
    octets[8] = octets[8] & 0x3F | 0x80;
    let mut text = String::with_capacity(36);
    for (index, octet) in octets.iter().enumerate() {
        if matches!(index, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        _ = write!(text, "{octet:02x}");
    }
    Ok(text)
}

/// The host of this process, for people who look for the owner of a lock.
fn host() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").or_else(|_| std::env::var("HOSTNAME"));
    name.map_or_else(|_| "unknown".to_owned(), |name| name.trim().to_owned())
}

fn code(error: &Error) -> Option<ResultCode> {
    error.result().map(|result| result.code)
}

/// What a lock for a DN or a name is called: the normalized DN, or the name itself.
#[must_use]
pub fn normalized(name: &str) -> String {
    name.parse::<Dn>().map_or_else(|_| name.to_owned(), |dn| dn.normalized())
}

impl Locks {
    /// The locks below an entry, for an owner of this process.
    ///
    /// # Errors
    /// The DN of the entry is malformed; the system has no random bytes.
    pub async fn new(client: &Client, base: &str, lease: Duration) -> Result<Self> {
        Self::of(client, base, lease, uuid()?).await
    }

    pub(super) async fn of(
        client: &Client,
        base: &str,
        lease: Duration,
        transaction: String,
    ) -> Result<Self> {
        base.parse::<Dn>()?;
        // A root DSE that cannot be read lists nothing.
        let root = client.root_dse(&["supportedControl"]).await.unwrap_or(RootDse::nothing());
        Ok(Self {
            client: client.clone(),
            base: base.to_owned(),
            owner: uuid()?,
            transaction,
            lease: lease.max(Duration::from_secs(1)),
            class: if root.is_active_directory() { "container" } else { "device" },
            has_assertion: root.lists("supportedControl", Assertion::OID),
        })
    }

    /// The transaction for which locks are taken.
    #[must_use]
    pub fn transaction(&self) -> &str {
        &self.transaction
    }

    /// The lease.
    #[must_use]
    pub const fn lease(&self) -> Duration {
        self.lease
    }

    /// The DN of the entry for what is to be locked.
    fn dn(&self, name: &str) -> Result<String> {
        let digest = digest(&SHA256, name.as_bytes());
        let mut cn = String::from("tercet-");
        digest.as_ref().iter().take(16).for_each(|octet| _ = write!(cn, "{octet:02x}"));
        Ok(self.base.parse::<Dn>()?.child(Rdn::new("cn", cn)).to_string())
    }

    fn value(&self, name: &str, owner: &str, fence: u64, beat: u64) -> String {
        let (txn, host, pid, lease) = (&self.transaction, host(), std::process::id(), self.lease.as_secs());
        json!({
            "v": 1, "for": name, "owner": owner, "txn": txn, "host": host, "pid": pid, "lease": lease,
            "fence": fence, "beat": beat,
        })
        .to_string()
    }

    /// Takes a lock, waiting this long for it at most.
    ///
    /// # Errors
    /// [`ErrorKind::Timeout`] if somebody else has it until then: the message names the owner; the server refuses.
    pub async fn take(&self, name: &str, wait: Duration) -> Result<Lock> {
        let name = normalized(name);
        let dn = self.dn(&name)?;
        let begin = Instant::now();
        let mut seen: Option<(String, Instant)> = None;
        let mut is_hidden = false;
        loop {
            if let Some(lock) = self.add(&name, &dn).await? {
                return Ok(lock);
            }
            let Some(state) = self.state(&dn).await? else {
                // It was released between the two; again and again, it cannot be read by this user.
                if std::mem::replace(&mut is_hidden, true) {
                    if begin.elapsed() >= wait {
                        let message = format!("{dn}: the entry of the lock is there, but cannot be read");
                        return Err(Error::new(ErrorKind::Timeout, message));
                    }
                    tokio::time::sleep(LOOK).await;
                }
                continue;
            };
            is_hidden = false;
            let now = Instant::now();
            let since = match &seen {
                Some((value, since)) if *value == state.value => *since,
                _ => {
                    seen = Some((state.value.clone(), now));
                    now
                }
            };
            let lease = Duration::from_secs(state.lease.max(1));
            let is_stale = now.duration_since(since) >= lease + lease / 5;
            // The same transaction: who recovers it is its owner now.
            let is_own = state.transaction == self.transaction;
            if (state.owner.is_empty() || is_stale || is_own)
                && let Some(lock) = self.take_over(&name, &dn, &state).await?
            {
                return Ok(lock);
            }
            if begin.elapsed() >= wait {
                let LockState { owner, host, pid, .. } = state;
                let message = format!("the lock for {name} is held by {owner}, process {pid} on {host}");
                return Err(Error::new(ErrorKind::Timeout, message));
            }
            tokio::time::sleep(LOOK.min(wait.saturating_sub(begin.elapsed()))).await;
        }
    }

    /// Adds the entry of a lock; nothing if it is there.
    async fn add(&self, name: &str, dn: &str) -> Result<Option<Lock>> {
        let value = self.value(name, &self.owner, 1, 0);
        let sent = Instant::now();
        let attributes: &[(&str, &[&str])] =
            &[("objectClass", &["top", self.class]), ("description", &[&value])];
        match self.client.add(dn, attributes).await {
            Ok(_) => {
                let (name, dn) = (name.to_owned(), dn.to_owned());
                Ok(Some(Lock { name, fence: 1, dn, value, beat: 0, renewed: sent }))
            }
            Err(error) if code(&error) == Some(ResultCode::ENTRY_ALREADY_EXISTS) => Ok(None),
            Err(error) => Err(about(&error, "lock", dn)),
        }
    }

    async fn take_over(&self, name: &str, dn: &str, state: &LockState) -> Result<Option<Lock>> {
        let fence = state.fence.saturating_add(1);
        let value = self.value(name, &self.owner, fence, 0);
        let sent = Instant::now();
        if !self.swap(dn, &state.value, &value).await? {
            return Ok(None);
        }
        Ok(Some(Lock { name: name.to_owned(), fence, dn: dn.to_owned(), value, beat: 0, renewed: sent }))
    }

    /// Replaces the value of a lock if it is still the one that is expected; returns whether it was.
    async fn swap(&self, dn: &str, from: &str, to: &str) -> Result<bool> {
        let change = |kind, value: &str| RecordModification {
            kind,
            attribute: "description".to_owned(),
            values: vec![value.as_bytes().to_vec()],
        };
        let changes = [change(ModificationKind::Delete, from), change(ModificationKind::Add, to)];
        match self.client.modify(dn, &changes).await {
            Ok(_) => Ok(true),
            Err(error) => match code(&error) {
                Some(ResultCode::NO_SUCH_ATTRIBUTE | ResultCode::NO_SUCH_OBJECT) => Ok(false),
                _ => Err(about(&error, "lock", dn)),
            },
        }
    }

    async fn state(&self, dn: &str) -> Result<Option<LockState>> {
        let search = Search::new(dn).scope(Scope::Base).attributes(&["description"]);
        let found = match self.client.search_all(search).await {
            Ok((found, _)) => found,
            Err(error) if code(&error) == Some(ResultCode::NO_SUCH_OBJECT) => return Ok(None),
            Err(error) => return Err(error),
        };
        let Some(entry) = found.first() else { return Ok(None) };
        let values: Vec<&str> =
            entry.values("description").filter_map(|value| std::str::from_utf8(value).ok()).collect();
        match values.iter().find_map(|value| LockState::read(value)) {
            Some(state) => Ok(Some(state)),
            None => Err(Error::new(ErrorKind::Protocol, format!("{dn}: not an entry of a lock"))),
        }
    }

    /// Renews a lock, so that nobody takes it over for another lease.
    ///
    /// # Errors
    /// [`ErrorKind::Timeout`] if somebody has taken it over; the server refuses.
    pub async fn renew(&self, lock: &mut Lock) -> Result<()> {
        let beat = lock.beat + 1;
        let value = self.value(&lock.name, &self.owner, lock.fence, beat);
        let sent = Instant::now();
        if !self.swap(&lock.dn, &lock.value, &value).await? {
            let message = format!("the lock for {} was taken over by somebody else", lock.name);
            return Err(Error::new(ErrorKind::Timeout, message));
        }
        *lock = Lock { beat, value, renewed: sent, ..lock.clone() };
        Ok(())
    }

    /// Renews a lock if a third of its lease has passed.
    ///
    /// # Errors
    /// As [`Locks::renew`].
    pub async fn keep(&self, lock: &mut Lock) -> Result<()> {
        if lock.renewed.elapsed() >= self.lease / 3 { self.renew(lock).await } else { Ok(()) }
    }

    /// Releases a lock. One that somebody else has taken over is left alone.
    ///
    /// # Errors
    /// The server refuses.
    pub async fn release(&self, lock: Lock) -> Result<()> {
        let free = self.value(&lock.name, "", lock.fence, lock.beat);
        if self.swap(&lock.dn, &lock.value, &free).await? {
            self.delete_free(&lock.dn, &free).await?;
        }
        Ok(())
    }

    /// Deletes the entry of a lock without owner, unless somebody has taken it meanwhile. A server that cannot check that keeps the
    /// entry, which the next owner takes over.
    async fn delete_free(&self, dn: &str, free: &str) -> Result<()> {
        if !self.has_assertion {
            return Ok(());
        }
        let filter = Filter::EqualityMatch(AttributeValueAssertion {
            attribute_desc: b"description".to_vec().into(),
            assertion_value: free.as_bytes().to_vec().into(),
        });
        let asserting = self.client.with(&[&Assertion(filter)]);
        match asserting.delete(dn).await {
            Ok(_) => Ok(()),
            Err(error) => match code(&error) {
                Some(ResultCode::ASSERTION_FAILED | ResultCode::NO_SUCH_OBJECT) => Ok(()),
                _ => Err(about(&error, "lock", dn)),
            },
        }
    }

    /// The locks that are held, and those without owner.
    ///
    /// # Errors
    /// The search fails.
    pub async fn list(&self) -> Result<Vec<LockState>> {
        let search =
            Search::new(&self.base).scope(Scope::One).filter("(cn=tercet-*)")?.attributes(&["description"]);
        let (entries, _) = self.client.search_all(search).await?;
        let values = entries.iter().flat_map(|entry| entry.values("description"));
        let mut states: Vec<LockState> =
            values.filter_map(|value| LockState::read(std::str::from_utf8(value).ok()?)).collect();
        states.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(states)
    }

    /// Takes a lock away from its owner, and returns who that was; nothing if there is no such lock. The owner notices it before its
    /// next write.
    ///
    /// # Errors
    /// The server refuses.
    pub async fn break_lock(&self, name: &str) -> Result<Option<LockState>> {
        let name = normalized(name);
        let dn = self.dn(&name)?;
        loop {
            let Some(state) = self.state(&dn).await? else { return Ok(None) };
            let free = self.value(&name, "", state.fence, state.beat);
            if self.swap(&dn, &state.value, &free).await? {
                self.delete_free(&dn, &free).await?;
                return Ok(Some(state));
            }
        }
    }
}

fn about(error: &Error, what: &str, dn: &str) -> Error {
    error.about(format_args!("{what} {dn}"))
}

/// Locks that are held together, by name.
#[derive(Debug, Default)]
pub(super) struct Held(HashMap<String, Lock>);

impl Held {
    pub(super) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// The names and fences, by name.
    pub(super) fn fences(&self) -> Vec<(&str, u64)> {
        let mut all: Vec<(&str, u64)> =
            self.0.values().map(|lock| (lock.name.as_str(), lock.fence)).collect();
        all.sort_unstable();
        all
    }

    /// Takes locks that are not held yet. Locks are taken in the order of their names, so that nobody waits in a circle: where that
    /// would be broken and a lock is not free, all are released and taken again. Returns whether that was so: what was read under
    /// them has to be read again.
    pub(super) async fn take(&mut self, locks: &Locks, names: &[String], wait: Duration) -> Result<bool> {
        let mut new: Vec<String> = names.iter().filter(|name| !self.has(name)).cloned().collect();
        new.sort_unstable();
        new.dedup();
        let begin = Instant::now();
        let last = self.0.keys().max().cloned();
        let mut again = false;
        for name in &new {
            let is_in_order = last.as_ref().is_none_or(|last| last < name);
            let time = if is_in_order { wait.saturating_sub(begin.elapsed()) } else { Duration::ZERO };
            match locks.take(name, time).await {
                Ok(lock) => _ = self.0.insert(name.clone(), lock),
                Err(error) if error.kind() == ErrorKind::Timeout && !is_in_order => {
                    again = true;
                    break;
                }
                Err(error) => return Err(error),
            }
        }
        if !again {
            return Ok(false);
        }
        let mut all: Vec<String> = self.0.keys().chain(&new).cloned().collect();
        all.sort_unstable();
        all.dedup();
        self.release(locks).await?;
        for name in all {
            let lock = locks.take(&name, wait.saturating_sub(begin.elapsed())).await?;
            self.0.insert(name, lock);
        }
        Ok(true)
    }

    /// Renews the locks for which it is time.
    pub(super) async fn keep(&mut self, locks: &Locks) -> Result<()> {
        for lock in self.0.values_mut() {
            locks.keep(lock).await?;
        }
        Ok(())
    }

    /// Releases all; the last first.
    pub(super) async fn release(&mut self, locks: &Locks) -> Result<()> {
        let mut all: Vec<Lock> = self.0.drain().map(|(_, lock)| lock).collect();
        all.sort_by(|a, b| b.name.cmp(&a.name));
        let mut done = Ok(());
        for lock in all {
            if let Err(error) = locks.release(lock).await {
                done = Err(error);
            }
        }
        done
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers() {
        let (one, other) = (uuid().unwrap(), uuid().unwrap());
        assert_ne!(one, other);
        assert_eq!((one.len(), &one[14..15]), (36, "4"));
        assert_eq!(normalized("CN=A , O=Test"), "cn=a,o=test");
        assert_eq!(normalized("nightly job"), "nightly job");
    }

    #[test]
    fn values() {
        let value =
            r#"{"v":1,"for":"o=x","owner":"u","txn":"t","host":"h","pid":7,"lease":30,"fence":2,"beat":3}"#;
        let state = LockState::read(value).unwrap();
        assert_eq!((state.name.as_str(), state.pid, state.fence, state.beat), ("o=x", 7, 2, 3));
        assert_eq!(state.json(), value);
        for wrong in ["", "{}", "x", r#"{"v":2}"#, "[1]"] {
            assert_eq!(LockState::read(wrong), None, "{wrong}");
        }
    }
}
