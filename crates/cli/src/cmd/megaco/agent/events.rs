//! What happens, as JSON lines.

use crate::exit::{Failure, Outcome};
use serde_json::{Map, Value, json};
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use tercet_megaco::binary::Binary;
use tercet_megaco::codec::{Codec, Encoding};
use tercet_megaco::model::{ActionReply, Transaction, TransactionResult};
use tercet_megaco::parts::{Form, Part, write};
use tercet_megaco::text::Layout;
use tercet_megaco_engine::{AckStatus, Outcome as Ending, Reply, Time, Unexpected};

use super::crew::Totals;

/// Where events go. Jobs of a command have one output, and write whole lines there.
pub(in crate::cmd::megaco) struct Events {
    lines: Vec<u8>,
    out: Arc<Mutex<Box<dyn Write + Send>>>,
    name: String,
}

/// Bytes of lines that are kept before they are written.
const LINES: usize = 1 << 16;

impl Events {
    /// Opens the file of events.
    pub(in crate::cmd::megaco) fn open(path: &Path) -> Outcome<Self> {
        let name = path.display().to_string();
        let out: Box<dyn Write + Send> = if name == "-" {
            Box::new(io::stdout())
        } else {
            Box::new(File::create(path).map_err(|error| Failure::io(&name, &error))?)
        };
        Ok(Self { lines: Vec::new(), out: Arc::new(Mutex::new(out)), name })
    }

    /// Events of another job, which go to the same output.
    pub(super) fn beside(&self) -> Self {
        Self { lines: Vec::new(), out: Arc::clone(&self.out), name: self.name.clone() }
    }

    /// Writes an event; the members of `more` follow its time and name.
    pub(in crate::cmd::megaco) fn write(&mut self, now: Time, event: &str, more: Value) -> Outcome<()> {
        let mut line = Map::new();
        line.insert("t".to_owned(), json!(now.as_secs_f64()));
        line.insert("event".to_owned(), json!(event));
        if let Value::Object(more) = more {
            line.extend(more);
        }
        self.line(format_args!("{}", Value::Object(line)))
    }

    /// Writes that a request was given to this side: the one event that a busy side writes for each.
    pub(super) fn execute(
        &mut self,
        now: Time,
        remote_mid: &str,
        transaction: u32,
        actions: usize,
    ) -> Outcome<()> {
        let (at, remote_mid) = (json!(now.as_secs_f64()), json!(remote_mid));
        let line = format_args!(
            r#"{{"t":{at},"event":"execute","remote_mid":{remote_mid},"trans":{transaction},"actions":{actions}}}"#
        );
        self.line(line)
    }

    fn line(&mut self, line: std::fmt::Arguments<'_>) -> Outcome<()> {
        // Writing to memory does not fail.
        _ = writeln!(self.lines, "{line}");
        if self.lines.len() >= LINES { self.flush() } else { Ok(()) }
    }

    pub(in crate::cmd::megaco) fn flush(&mut self) -> Outcome<()> {
        if self.lines.is_empty() {
            return Ok(());
        }
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        let written = out.write_all(&self.lines).and_then(|()| out.flush());
        self.lines.clear();
        written.map_err(|error| Failure::io(&self.name, &error))
    }
}

impl Drop for Events {
    /// Writes what there is before a failure is reported.
    fn drop(&mut self) {
        _ = self.flush();
    }
}

/// Every counter and gauge.
pub(super) fn stats(totals: &Totals) -> Value {
    let mut all: Map<String, Value> =
        totals.counters.iter().map(|(name, value)| (name.to_owned(), json!(value))).collect();
    all.extend(totals.gauges.iter().map(|(name, _, value)| (name.to_owned(), json!(value))));
    // The names of the Megaco MIB, by which others know them.
    for (name, value) in totals.counters.of_mib() {
        all.insert(format!("medGwyGateway{name}"), json!(value));
    }
    let mut latencies = Map::new();
    for (limit, count) in totals.latencies.buckets() {
        let limit = limit.map_or_else(|| "inf".to_owned(), |limit| limit.as_millis().to_string());
        latencies.insert(limit, json!(count));
    }
    all.insert("reply_ms".to_owned(), Value::Object(latencies));
    Value::Object(all)
}

/// The end of a request.
pub(super) fn result(transaction: u32, outcome: &Ending) -> Value {
    let (error, code, replies): (Option<&str>, Option<u16>, &[Reply]) = match outcome {
        Ending::Reply(replies) => (None, None, replies),
        Ending::Further(_, reply) => (None, None, std::slice::from_ref(reply)),
        Ending::Error { code, .. } => (Some("error_descriptor"), Some(*code), &[]),
        Ending::Timeout => (Some("timeout"), None, &[]),
        Ending::PendingLimit => (Some("pending_limit"), None, &[]),
        Ending::SegmentTimeout { received, .. } => (Some("segment_timeout"), None, received),
        Ending::SegmentLimit => (Some("segment_limit"), None, &[]),
        Ending::Cancelled => (Some("cancelled"), None, &[]),
        Ending::SendFailed(_) | Ending::SendCancelled(_) => (Some("send_failed"), None, &[]),
        Ending::WrongMid(_) => (Some("wrong_mid"), None, &[]),
        _ => (Some("unknown"), None, &[]),
    };
    let segments = replies.iter().filter(|reply| reply.segment.is_some()).count();
    let texts: Vec<String> = replies.iter().flat_map(texts_of).collect();
    let mut all = ending(transaction, error, code, &texts, segments);
    match outcome {
        Ending::Error { text: Some(text), .. } | Ending::SendFailed(text) | Ending::SendCancelled(text) => {
            all["text"] = json!(text);
        }
        Ending::SegmentTimeout { missing, .. } => all["missing"] = json!(missing),
        Ending::Further(number, _) => all["number"] = json!(number),
        _ => {}
    }
    all
}

/// The end of a request by a reply in one piece.
pub(super) fn replied(transaction: u32, texts: &[String]) -> Value {
    ending(transaction, None, None, texts, 0)
}

fn ending(
    transaction: u32,
    error: Option<&str>,
    code: Option<u16>,
    texts: &[String],
    segments: usize,
) -> Value {
    let mut all = json!({
        "trans": transaction,
        "ok": error.is_none(),
        "error": error,
        "code": code,
        "replies": texts.len(),
        "segments": segments,
    });
    if error.is_none() {
        all["text"] = json!(texts.join(","));
    }
    all
}

/// The action replies of a segment, or of a reply that was not taken while it was decoded, as compact text.
fn texts_of(reply: &Reply) -> Vec<String> {
    let transactions = reply.message.transactions();
    let Some(Transaction::TransactionReply(reply)) = transactions.get(reply.index) else { return Vec::new() };
    let TransactionResult::ActionReplies(actions) = &reply.transaction_result else { return Vec::new() };
    action_texts(actions)
}

/// Action replies as compact text.
pub(super) fn action_texts(actions: &[ActionReply<'_>]) -> Vec<String> {
    let text = |action| {
        let mut text = Vec::new();
        match write(Part::ActionReply(action), Form::Text(Layout::Compact), 3, &mut text) {
            Ok(()) => String::from_utf8_lossy(&text).into_owned(),
            Err(error) => format!("not text: {}", error.what),
        }
    };
    actions.iter().map(text).collect()
}

/// A message as text: as it is, or as compact text if it is binary.
pub(in crate::cmd::megaco) fn message_text(binary: &Binary, octets: &[u8]) -> String {
    let encoding = Encoding::detect(octets);
    match encoding {
        Encoding::Pretty | Encoding::Compact | Encoding::Json => String::from_utf8_lossy(octets).into_owned(),
        _ => {
            let mut text = Vec::new();
            let message = encoding.decode_with(binary, octets);
            let written = message.and_then(|message| Encoding::Compact.encode(&message, &mut text));
            match written {
                Ok(()) => String::from_utf8_lossy(&text).into_owned(),
                Err(_) => octets.escape_ascii().to_string(),
            }
        }
    }
}

pub(super) const fn ack_status(status: &AckStatus) -> &'static str {
    match status {
        AckStatus::Acknowledged => "ok",
        AckStatus::Timeout => "timeout",
        AckStatus::Cancelled => "cancelled",
        AckStatus::SendFailed(_) => "send_failed",
    }
}

pub(super) const fn kind(kind: Unexpected) -> &'static str {
    match kind {
        Unexpected::Reply => "reply",
        Unexpected::Pending => "pending",
        Unexpected::Ack => "ack",
        Unexpected::Segment => "segment",
    }
}
