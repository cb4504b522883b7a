//! Where a handler sends entries.

use std::pin::pin;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::BytesMut;
use tercet_runtime::types::Octets;
use tokio::sync::Notify;

use super::Answer;
use crate::entry::Draft;
use crate::generated::{self as asn1, ProtocolOp};
use crate::proto::element::{Elements, tag};
use crate::proto::{self, Control, Entry, ResultCode};

/// Bytes that may wait for a client before handlers wait too.
const FULL: usize = 64 << 10;

/// What waits for a client.
#[derive(Debug, Default)]
pub(super) struct Sink {
    octets: Mutex<BytesMut>,
    /// What sees the messages.
    watched: Option<Watched>,
    /// Something waits.
    pub(super) filled: Notify,
    /// What waited is on its way.
    drained: Notify,
}

/// What sees the messages of a connection.
#[derive(Debug)]
pub(super) struct Watched {
    pub(super) watcher: super::Watcher,
    pub(super) cx: super::Context,
}

impl Sink {
    pub(super) fn new(watched: Option<Watched>) -> Self {
        Self { watched, ..Self::default() }
    }

    fn locked(&self) -> MutexGuard<'_, BytesMut> {
        self.octets.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds whole messages.
    pub(super) fn put(&self, octets: &[u8]) {
        let mut waiting = self.locked();
        if let Some(Watched { watcher, cx }) = &self.watched {
            let (mut messages, mut begin) = (Elements::new(octets, 0), 0);
            while let Ok(Some(_)) = messages.next() {
                let end = octets.len() - messages.rest().len();
                // With the lock, so that messages are seen in the order in which they go out.
                watcher.0.sent(cx, octets.get(begin..end).unwrap_or_default());
                begin = end;
            }
        }
        waiting.extend_from_slice(octets);
        drop(waiting);
        self.filled.notify_one();
    }

    /// Takes what waits.
    pub(super) fn take(&self) -> BytesMut {
        let octets = std::mem::take(&mut *self.locked());
        self.drained.notify_waiters();
        octets
    }

    /// Waits until there is room.
    async fn room(&self) {
        loop {
            let mut drained = pin!(self.drained.notified());
            drained.as_mut().enable();
            if self.locked().len() < FULL {
                return;
            }
            drained.await;
        }
    }
}

/// How far an operation is. Its answer is written once, and nothing after it.
#[derive(Debug, Default)]
pub(super) struct Progress(AtomicU8);

impl Progress {
    pub(super) fn is_running(&self) -> bool {
        self.0.load(Ordering::Acquire) == 0
    }

    /// Ends the operation; returns whether it was running.
    pub(super) fn end(&self) -> bool {
        self.0.compare_exchange(0, 1, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }
}

/// No more entries are sent: the size limit is reached, or the operation has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stopped;

impl std::fmt::Display for Stopped {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("no more entries are sent")
    }
}

impl std::error::Error for Stopped {}

/// A function that changes entries on their way, or holds them back.
pub(super) type Change = Arc<dyn Fn(Draft) -> Option<Draft> + Send + Sync>;

/// The way of entries to the client. Waiting is backpressure: while a client does not read, handlers do not go on.
///
/// If the client abandons or cancels the search, or its time is over, the future of the handler is dropped where it waits.
pub struct Entries {
    sink: Arc<Sink>,
    progress: Arc<Progress>,
    id: u32,
    attributes: Vec<String>,
    types_only: bool,
    size_limit: u32,
    sent: u32,
    is_exceeded: bool,
    pub(super) changes: Vec<Change>,
}

impl std::fmt::Debug for Entries {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Entries").field("id", &self.id).field("sent", &self.sent).finish_non_exhaustive()
    }
}

impl Entries {
    pub(super) const fn new(sink: Arc<Sink>, progress: Arc<Progress>, id: u32) -> Self {
        Self {
            sink,
            progress,
            id,
            attributes: Vec::new(),
            types_only: false,
            size_limit: 0,
            sent: 0,
            is_exceeded: false,
            changes: Vec::new(),
        }
    }

    /// Keeps the attributes and limits of a search.
    pub(super) fn limit(&mut self, search: &super::Search<'_>) {
        self.attributes = search.attributes.iter().map(|name| (*name).to_owned()).collect();
        self.types_only = search.types_only;
        self.size_limit = search.size_limit;
    }

    /// Returns the number of entries that were sent.
    #[must_use]
    pub const fn sent(&self) -> u32 {
        self.sent
    }

    /// Returns the result that counts: `sizeLimitExceeded` if that stopped the search.
    #[must_use]
    pub fn judged(&self, answer: Answer) -> Answer {
        if self.is_exceeded && answer.code() == ResultCode::SUCCESS {
            Answer {
                result: proto::LdapResult { code: ResultCode::SIZE_LIMIT_EXCEEDED, ..answer.result },
                ..answer
            }
        } else {
            answer
        }
    }

    /// Sends an entry, with the attributes that the client asks for (RFC 4511 4.5.1.8).
    ///
    /// # Errors
    /// [`Stopped`] if no more entries are sent.
    pub async fn entry(&mut self, entry: &Draft) -> Result<(), Stopped> {
        self.entry_with(entry, &[]).await
    }

    /// Sends an entry with controls.
    ///
    /// # Errors
    /// [`Stopped`] if no more entries are sent.
    pub async fn entry_with(&mut self, entry: &Draft, controls: &[Control]) -> Result<(), Stopped> {
        let changed;
        let entry = if self.changes.is_empty() {
            entry
        } else {
            // The change that was added last is the nearest to the handler.
            let Some(other) =
                self.changes.iter().rev().try_fold(entry.clone(), |entry, change| change(entry))
            else {
                return Ok(());
            };
            changed = other;
            &changed
        };
        self.count()?;
        let mut attributes = Vec::new();
        for (name, values) in entry.attributes().filter(|(name, _)| self.selects(name)) {
            let values: &[Vec<u8>] = if self.types_only { &[] } else { values };
            attributes.push(asn1::PartialAttribute {
                r#type: Octets::borrowed(name.as_bytes()),
                vals: values.iter().map(|value| Octets::borrowed(value)).collect(),
            });
        }
        let operation = ProtocolOp::SearchResEntry(asn1::SearchResultEntry {
            object_name: Octets::borrowed(entry.dn().as_bytes()),
            attributes,
        });
        self.message(operation, controls).await
    }

    /// Sends an entry of another server as it came, without decoding its values. The attributes are those that the other server was
    /// asked for.
    ///
    /// # Errors
    /// [`Stopped`] if no more entries are sent.
    pub async fn forward(&mut self, entry: &Entry) -> Result<(), Stopped> {
        let controls = entry.controls().unwrap_or_default();
        if !self.changes.is_empty() {
            return self.entry_with(&Draft::from(entry), &controls).await;
        }
        self.count()?;
        let mut message = Elements::new(entry.octets(), 0);
        let contents = message.next().ok().flatten().map(|(_, contents)| contents).unwrap_or_default();
        let mut parts = Elements::new(contents, 0);
        _ = parts.next();
        let operation = parts.next().ok().flatten().map(|(_, operation)| operation).unwrap_or_default();
        let mut octets = Vec::with_capacity(entry.octets().len() + 8);
        crate::directory::write_message(&mut octets, self.id, tag::SEARCH_ENTRY, &[operation], &controls);
        self.send(&octets).await
    }

    /// Sends a reference to other servers (RFC 4511 4.5.3).
    ///
    /// # Errors
    /// [`Stopped`] if nothing more is sent.
    pub async fn reference(&mut self, urls: &[String]) -> Result<(), Stopped> {
        let urls = urls.iter().map(|url| Octets::borrowed(url.as_bytes())).collect();
        self.message(ProtocolOp::SearchResRef(urls), &[]).await
    }

    /// Sends an intermediate response (RFC 4511 4.13).
    ///
    /// # Errors
    /// [`Stopped`] if nothing more is sent.
    pub async fn intermediate(&mut self, name: Option<&str>, value: Option<&[u8]>) -> Result<(), Stopped> {
        let response = asn1::IntermediateResponse {
            response_name: name.map(|name| Octets::borrowed(name.as_bytes())),
            response_value: value.map(Octets::borrowed),
        };
        self.message(ProtocolOp::IntermediateResponse(response), &[]).await
    }

    /// Counts an entry.
    fn count(&mut self) -> Result<(), Stopped> {
        if self.size_limit > 0 && self.sent >= self.size_limit {
            self.is_exceeded = true;
            return Err(Stopped);
        }
        self.sent = self.sent.saturating_add(1);
        Ok(())
    }

    async fn message(&self, operation: ProtocolOp<'_>, controls: &[Control]) -> Result<(), Stopped> {
        let mut octets = Vec::new();
        proto::encode(self.id, operation, controls, &mut octets).map_err(|_| Stopped)?;
        self.send(&octets).await
    }

    /// Sends whole messages of this operation, and waits for room.
    pub(crate) async fn send(&self, messages: &[u8]) -> Result<(), Stopped> {
        self.sink.room().await;
        if !self.progress.is_running() {
            return Err(Stopped);
        }
        self.sink.put(messages);
        Ok(())
    }

    /// Counts entries that [`Entries::send`] sends.
    pub(crate) const fn add_sent(&mut self, count: u32) {
        self.sent = self.sent.saturating_add(count);
    }

    /// Returns whether entries are changed on their way.
    pub(crate) const fn is_changing(&self) -> bool {
        !self.changes.is_empty()
    }

    fn selects(&self, name: &str) -> bool {
        let base = name.split(';').next().unwrap_or(name);
        let is_operational = crate::directory::is_operational(base);
        if self.attributes.is_empty() {
            return !is_operational;
        }
        self.attributes.iter().any(|asked| match asked.as_str() {
            "*" => !is_operational,
            "+" => is_operational || tells_of_server(base),
            asked => asked.eq_ignore_ascii_case(name) || asked.eq_ignore_ascii_case(base),
        })
    }
}

/// Checks whether an attribute is one of the root DSE (RFC 4512 5.1, RFC 3045): operational, and shown without being asked for.
fn tells_of_server(name: &str) -> bool {
    const KNOWN: [&str; 9] = [
        "altServer",
        "namingContexts",
        "supportedControl",
        "supportedExtension",
        "supportedFeatures",
        "supportedLDAPVersion",
        "supportedSASLMechanisms",
        "vendorName",
        "vendorVersion",
    ];
    KNOWN.iter().any(|known| known.eq_ignore_ascii_case(name))
}
