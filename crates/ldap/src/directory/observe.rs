//! What is reported of requests: the access log, and the figures of `/metrics`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Map, Value};

use super::entry::{is_password, now};
use crate::generated::{LdapMessage, ProtocolOp};
use crate::proto::element::{self, Elements, tag};
use crate::url::Scope;

/// Bounds of the histogram of times, in seconds.
const BOUNDS: [f64; 12] = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 1.0, 10.0];

/// Who is told of requests.
#[derive(Default)]
pub(crate) struct Observer {
    /// Whether operations are reported.
    is_on: AtomicBool,
    log: Mutex<Option<Box<dyn Write + Send>>>,
    operations: Mutex<BTreeMap<(&'static str, u32), u64>>,
    times: Mutex<BTreeMap<&'static str, Times>>,
    connections: AtomicI64,
    accepted: AtomicU64,
    bytes_in: AtomicU64,
    bytes_out: AtomicU64,
    entries_sent: AtomicU64,
}

impl std::fmt::Debug for Observer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Observer")
    }
}

#[derive(Clone, Debug, Default)]
struct Times {
    counts: [u64; BOUNDS.len()],
    count: u64,
    seconds: f64,
}

/// An operation that has been answered.
#[derive(Debug)]
pub(crate) struct Access<'a> {
    pub(crate) connection: u64,
    pub(crate) peer: &'a str,
    /// Who was bound when the request came.
    pub(crate) user: &'a str,
    pub(crate) time: Duration,
    pub(crate) request: &'a [u8],
    /// The result code; nothing for requests without an answer.
    pub(crate) code: Option<u32>,
    pub(crate) entries: u64,
    /// Entries that were looked at without an index.
    pub(crate) scanned: u64,
    pub(crate) bytes: u64,
}

/// Entries that a search may look at without being called unindexed.
const SCANNED: u64 = 1000;

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A connection that is counted while it lasts.
#[derive(Debug)]
pub(super) struct Connected(Arc<Observer>);

impl Drop for Connected {
    fn drop(&mut self) {
        self.0.connections.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Observer {
    /// Writes a line for each operation from now on.
    pub(crate) fn log_to(&self, log: Box<dyn Write + Send>) {
        *locked(&self.log) = Some(log);
        self.switch_on();
    }

    /// Counts operations from now on.
    pub(super) fn switch_on(&self) {
        self.is_on.store(true, Ordering::Relaxed);
    }

    /// Whether operations are reported.
    pub(super) fn is_on(&self) -> bool {
        self.is_on.load(Ordering::Relaxed)
    }

    /// Counts a connection until what is returned is dropped; with its number.
    pub(super) fn connected(self: &Arc<Self>) -> (Connected, u64) {
        self.connections.fetch_add(1, Ordering::Relaxed);
        (Connected(Arc::clone(self)), self.accepted.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// The connections that there are.
    pub(super) fn connections(&self) -> usize {
        usize::try_from(self.connections.load(Ordering::Relaxed)).unwrap_or_default()
    }

    /// Reports an operation.
    pub(crate) fn operation(&self, access: &Access<'_>) {
        let limits = crate::proto::Limits { message: usize::MAX, ..crate::proto::Limits::default() };
        // What cannot be read has been answered by a notice of disconnection.
        let Ok(message) = crate::proto::decode(access.request, &limits) else { return };
        let op = name(&message.protocol_op);
        *locked(&self.operations).entry((op, access.code.unwrap_or_default())).or_default() += 1;
        let seconds = access.time.as_secs_f64();
        {
            let mut all = locked(&self.times);
            let times = all.entry(op).or_default();
            times.count += 1;
            times.seconds += seconds;
            for (count, bound) in times.counts.iter_mut().zip(BOUNDS) {
                *count += u64::from(seconds <= bound);
            }
        }
        self.bytes_in.fetch_add(access.request.len() as u64, Ordering::Relaxed);
        self.bytes_out.fetch_add(access.bytes, Ordering::Relaxed);
        self.entries_sent.fetch_add(access.entries, Ordering::Relaxed);
        if let Some(log) = &mut *locked(&self.log) {
            let mut line = line(access, &message, op).to_string();
            line.push('\n');
            // A log that cannot be written does not end the server.
            _ = log.write_all(line.as_bytes());
            _ = log.flush();
        }
    }

    /// Returns the figures of requests in the text format of Prometheus.
    pub(crate) fn requests(&self) -> String {
        let mut out = String::new();
        head(&mut out, "operations_total", "counter", "Operations by type and result code.");
        for ((op, code), count) in &*locked(&self.operations) {
            _ = writeln!(out, "tercet_ldap_operations_total{{op=\"{op}\",code=\"{code}\"}} {count}");
        }
        head(&mut out, "operation_seconds", "histogram", "Time from a request to its answer.");
        for (op, times) in &*locked(&self.times) {
            for (bound, count) in BOUNDS.iter().zip(times.counts) {
                _ = writeln!(
                    out,
                    "tercet_ldap_operation_seconds_bucket{{op=\"{op}\",le=\"{bound}\"}} {count}"
                );
            }
            let Times { count, seconds, .. } = times;
            _ = writeln!(out, "tercet_ldap_operation_seconds_bucket{{op=\"{op}\",le=\"+Inf\"}} {count}");
            _ = writeln!(out, "tercet_ldap_operation_seconds_sum{{op=\"{op}\"}} {seconds}");
            _ = writeln!(out, "tercet_ldap_operation_seconds_count{{op=\"{op}\"}} {count}");
        }
        out
    }

    /// The figures in the text format of Prometheus.
    pub(super) fn metrics(&self, entries: usize, commits: Option<(u64, f64)>) -> String {
        let mut out = self.requests();
        let loaded = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        for (name, kind, help, value) in [
            ("connections", "gauge", "Connections that are open.", self.connections() as u64),
            ("connections_total", "counter", "Connections that were accepted.", loaded(&self.accepted)),
            ("entries", "gauge", "Entries of the directory.", entries as u64),
            ("entries_sent_total", "counter", "Entries that searches returned.", loaded(&self.entries_sent)),
            ("received_bytes_total", "counter", "Bytes of requests.", loaded(&self.bytes_in)),
            ("sent_bytes_total", "counter", "Bytes of answers.", loaded(&self.bytes_out)),
        ] {
            head(&mut out, name, kind, help);
            _ = writeln!(out, "tercet_ldap_{name} {value}");
        }
        if let Some((count, seconds)) = commits {
            head(&mut out, "store_commits_total", "counter", "Transactions that were written to disk.");
            _ = writeln!(out, "tercet_ldap_store_commits_total {count}");
            head(&mut out, "store_commit_seconds_total", "counter", "Time that they took, with their syncs.");
            _ = writeln!(out, "tercet_ldap_store_commit_seconds_total {seconds}");
        }
        out
    }
}

/// Writes the head of a figure.
fn head(out: &mut String, name: &str, kind: &str, help: &str) {
    _ = write!(out, "# HELP tercet_ldap_{name} {help}\n# TYPE tercet_ldap_{name} {kind}\n");
}

/// The name of an operation in the log.
const fn name(operation: &ProtocolOp<'_>) -> &'static str {
    match operation {
        ProtocolOp::BindRequest(_) => "bind",
        ProtocolOp::UnbindRequest(()) => "unbind",
        ProtocolOp::SearchRequest(_) => "search",
        ProtocolOp::ModifyRequest(_) => "modify",
        ProtocolOp::AddRequest(_) => "add",
        ProtocolOp::DelRequest(_) => "delete",
        ProtocolOp::ModDnRequest(_) => "rename",
        ProtocolOp::CompareRequest(_) => "compare",
        ProtocolOp::AbandonRequest(_) => "abandon",
        ProtocolOp::ExtendedReq(_) => "extended",
        _ => "unknown",
    }
}

/// The line of the log. Values are not in it: they may be secret.
fn line(access: &Access<'_>, message: &LdapMessage<'_>, op: &str) -> Value {
    let mut line = Map::new();
    let mut put = |name: &str, value: Value| _ = line.insert(name.to_owned(), value);
    let text = |octets: &[u8]| Value::from(String::from_utf8_lossy(octets));
    put("t", Value::from(time(now())));
    put("conn", Value::from(access.connection));
    put("msg", Value::from(message.message_id));
    put("op", Value::from(op));
    match &message.protocol_op {
        ProtocolOp::BindRequest(bind) => {
            put("name", text(&bind.name));
            let method = match &bind.authentication {
                crate::generated::AuthenticationChoice::Sasl(sasl) => text(&sasl.mechanism),
                _ => Value::from("simple"),
            };
            put("method", method);
        }
        ProtocolOp::SearchRequest(search) => {
            put("base", text(&search.base_object));
            let scopes = [Scope::Base, Scope::One, Scope::Sub, Scope::Children];
            let scope = usize::try_from(search.scope.number()).ok().and_then(|number| scopes.get(number));
            put("scope", Value::from(scope.map_or("unknown", |scope| scope.word())));
            put("filter", Value::from(filter(&search.filter)));
            put("attrs", search.attributes.iter().map(|name| text(name)).collect());
        }
        ProtocolOp::ModifyRequest(modify) => {
            put("target", text(&modify.object));
            put("attrs", modify.changes.iter().map(|change| text(&change.modification.r#type)).collect());
        }
        ProtocolOp::AddRequest(add) => put("target", text(&add.entry)),
        ProtocolOp::DelRequest(dn) => put("target", text(dn)),
        ProtocolOp::ModDnRequest(rename) => {
            put("target", text(&rename.entry));
            put("newRdn", text(&rename.newrdn));
        }
        ProtocolOp::CompareRequest(compare) => {
            put("target", text(&compare.entry));
            put("attrs", Value::from(vec![text(&compare.ava.attribute_desc)]));
        }
        ProtocolOp::ExtendedReq(request) => put("oid", text(&request.request_name)),
        ProtocolOp::AbandonRequest(id) => put("abandoned", Value::from(*id)),
        _ => {}
    }
    if let Some(code) = access.code {
        put("code", Value::from(code));
    }
    if matches!(message.protocol_op, ProtocolOp::SearchRequest(_)) {
        put("entries", Value::from(access.entries));
    }
    put("us", Value::from(u64::try_from(access.time.as_micros()).unwrap_or(u64::MAX)));
    put("dn", Value::from(access.user));
    put("peer", Value::from(access.peer));
    if access.scanned > SCANNED {
        put("unindexed", Value::from(true));
    }
    Value::Object(line)
}

/// A filter without what it asks of passwords.
fn filter(filter: &crate::Filter<'_>) -> String {
    let text = filter.to_string();
    let has_password = text.split(['(', ')', '=', '<', '>', '~', ':']).any(is_password);
    if has_password { "(userPassword=***)".to_owned() } else { text }
}

/// A time by RFC 3339.
fn time(micros: u64) -> String {
    let text = super::entry::timestamp(micros, true);
    let part = |range: std::ops::Range<usize>| text.get(range).unwrap_or_default();
    format!(
        "{}-{}-{}T{}:{}:{}",
        part(0..4),
        part(4..6),
        part(6..8),
        part(8..10),
        part(10..12),
        text.get(12..).unwrap_or_default()
    )
}

/// Counts entries, and finds the result code, in the messages of an answer.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) entries: u64,
    pub(super) code: Option<u32>,
    pub(super) bytes: u64,
}

impl Seen {
    /// Looks at whole messages.
    pub(super) fn look(&mut self, octets: &[u8]) {
        self.bytes += octets.len() as u64;
        let mut messages = Elements::new(octets, 0);
        while let Ok(Some((_, message))) = messages.next() {
            let mut parts = Elements::new(message, 0);
            _ = parts.next();
            let Ok(Some((operation, contents))) = parts.next() else { continue };
            match operation {
                tag::SEARCH_ENTRY => self.entries += 1,
                tag::SEARCH_REFERENCE => {}
                _ => {
                    let code = Elements::new(contents, 0).expect(ENUMERATED, "resultCode");
                    let code = code.and_then(|code| element::small_integer(code, 0));
                    self.code = code.ok().or(self.code);
                }
            }
        }
    }
}

const ENUMERATED: u8 = 0x0A;
