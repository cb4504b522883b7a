//! Requests of a capture with what answers them.

use super::label;
use crate::exit::{Failure, Outcome};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use tercet_capture::{Endpoint, Pdu};
use tercet_megaco::model::{
    CommandReply, ServiceChangeResult, Transaction, TransactionReply, TransactionResult,
};
use tercet_megaco::parts::{Form, Part, write};
use tercet_megaco::text::Layout;
use tercet_megaco_engine::registration;

/// The most requests that are remembered at a time.
const LIMIT: usize = 1 << 20;
/// How long an id is remembered after its reply (LONG-TIMER), in microseconds.
const LONG_TIMER: u64 = 30_000_000;
/// Messages after which answered requests are forgotten.
const SWEEP: u32 = 1 << 16;

/// Who asked, and the transaction id.
type Key = (Endpoint, u32);

/// A request that was seen.
#[derive(Debug)]
struct Exchange {
    mid: String,
    began: u64,
    frame: u64,
    resends: u64,
    pendings: u64,
    registers: bool,
    /// Numbers of the segments that were seen, and that of the last one.
    segments: BTreeSet<u16>,
    last_segment: Option<u16>,
    texts: Vec<String>,
    answered: Option<u64>,
    is_acknowledged: bool,
}

/// Sums.
#[derive(Debug, Default)]
pub(super) struct Totals {
    requests: u64,
    ok: u64,
    failed: u64,
    unanswered: u64,
    resends: u64,
    replies_resent: u64,
    pendings: u64,
    acks: u64,
    segments: u64,
    unexpected: u64,
    /// Reply times in microseconds with three digits, and how often each is there.
    times: BTreeMap<u64, u64>,
}

/// Something that a transaction says, with what is known of its request.
#[derive(Debug)]
pub(super) enum Seen {
    Request {
        id: u32,
        resends: u64,
        actions: usize,
        commands: Vec<&'static str>,
        frame: u64,
    },
    Pending {
        id: u32,
    },
    Result {
        id: u32,
        result: Box<Ending>,
    },
    /// A reply that was there before, or a segment of which others are missing.
    Part {
        id: u32,
        is_resend: bool,
    },
    Ack {
        first: u32,
        last: u32,
        ids: Vec<u32>,
    },
    Segment {
        id: u32,
        number: u16,
        is_last: bool,
    },
    Unexpected {
        kind: &'static str,
        id: u32,
    },
}

/// The end of a request.
#[derive(Debug)]
pub(super) struct Ending {
    error: Option<&'static str>,
    code: Option<u16>,
    text: Option<String>,
    replies: usize,
    segments: usize,
    resends: u64,
    pendings: u64,
    micros: Option<u64>,
    request_frame: u64,
    /// The version of a registration.
    registered: Option<u8>,
}

/// The requests that wait, and those that were answered a short time ago.
#[derive(Debug, Default)]
pub(super) struct Exchanges {
    known: HashMap<Key, Exchange>,
    names: HashMap<Endpoint, String>,
    totals: Totals,
    since_sweep: u32,
}

impl Exchanges {
    /// Notes the message identifier that an address uses.
    pub(super) fn name(&mut self, endpoint: Endpoint, mid: &str) {
        if self.names.get(&endpoint).is_none_or(|name| name != mid) && self.names.len() < LIMIT {
            self.names.insert(endpoint, mid.to_owned());
        }
    }

    /// Returns the message identifier that an address has used, or the address.
    pub(super) fn name_of(&self, endpoint: Endpoint) -> String {
        self.known_name(endpoint).unwrap_or_else(|| endpoint.to_string())
    }

    /// Returns the message identifier that an address has used.
    pub(super) fn known_name(&self, endpoint: Endpoint) -> Option<String> {
        self.names.get(&endpoint).cloned()
    }

    pub(super) const fn totals(&self) -> &Totals {
        &self.totals
    }

    /// Takes a transaction of a message that was sent at a time.
    pub(super) fn transaction(
        &mut self,
        pdu: &Pdu<'_>,
        version: u8,
        transaction: &Transaction<'_>,
        now: u64,
    ) -> Outcome<Vec<Seen>> {
        self.sweep(now)?;
        Ok(match transaction {
            Transaction::TransactionRequest(request) => {
                let id = request.transaction_id.unwrap_or(0);
                let key = (pdu.source, id);
                let commands = request.actions.iter().flat_map(label::commands).collect();
                let actions = request.actions.len();
                let is_over =
                    |it: &Exchange| it.answered.is_some_and(|at| now.saturating_sub(at) > LONG_TIMER);
                if self.known.get(&key).is_some_and(is_over) {
                    self.known.remove(&key);
                }
                if let Some(known) = self.known.get_mut(&key) {
                    known.resends += 1;
                    self.totals.resends += 1;
                    return Ok(vec![Seen::Request {
                        id,
                        resends: known.resends,
                        actions,
                        commands,
                        frame: pdu.frame,
                    }]);
                }
                self.totals.requests += 1;
                let exchange = Exchange {
                    mid: self.name_of(pdu.source),
                    began: now,
                    frame: pdu.frame,
                    resends: 0,
                    pendings: 0,
                    registers: registration(&request.actions).is_some(),
                    segments: BTreeSet::new(),
                    last_segment: None,
                    texts: Vec::new(),
                    answered: None,
                    is_acknowledged: false,
                };
                self.known.insert(key, exchange);
                vec![Seen::Request { id, resends: 0, actions, commands, frame: pdu.frame }]
            }
            Transaction::TransactionPending(pending) => {
                let id = pending.transaction_id;
                self.totals.pendings += 1;
                match self.known.get_mut(&(pdu.destination, id)) {
                    Some(known) => {
                        known.pendings += 1;
                        vec![Seen::Pending { id }]
                    }
                    None => vec![self.unexpected("pending", id)],
                }
            }
            Transaction::TransactionReply(reply) => vec![self.reply(pdu, version, reply, now)],
            Transaction::TransactionResponseAck(acks) => {
                let mut all = Vec::new();
                for ack in acks {
                    self.totals.acks += 1;
                    let (first, last) = (ack.first_ack, ack.last_ack.unwrap_or(ack.first_ack));
                    let ids = self.acknowledged(pdu.source, first, last);
                    all.push(if ids.is_empty() {
                        self.unexpected("ack", first)
                    } else {
                        Seen::Ack { first, last, ids }
                    });
                }
                all
            }
            Transaction::SegmentReply(segment) => {
                let (id, number) = (segment.transaction_id, segment.segment_number);
                let is_known =
                    self.known.get(&(pdu.source, id)).is_some_and(|known| known.segments.contains(&number));
                let is_last = segment.segmentation_complete.is_some();
                vec![if is_known {
                    Seen::Segment { id, number, is_last }
                } else {
                    self.unexpected("segment", id)
                }]
            }
        })
    }

    fn unexpected(&mut self, kind: &'static str, id: u32) -> Seen {
        self.totals.unexpected += 1;
        Seen::Unexpected { kind, id }
    }

    fn reply(&mut self, pdu: &Pdu<'_>, version: u8, reply: &TransactionReply<'_>, now: u64) -> Seen {
        let id = reply.transaction_id.unwrap_or(0);
        let Some(known) = self.known.get_mut(&(pdu.destination, id)) else {
            return self.unexpected("reply", id);
        };
        let is_repeated = known.answered.is_some()
            || reply.segment_number.is_some_and(|number| known.segments.contains(&number));
        if is_repeated {
            self.totals.replies_resent += 1;
            return Seen::Part { id, is_resend: true };
        }
        let mut ending = Ending {
            error: None,
            code: None,
            text: None,
            replies: 0,
            segments: 0,
            resends: known.resends,
            pendings: known.pendings,
            micros: Some(now.saturating_sub(known.began)),
            request_frame: known.frame,
            registered: None,
        };
        match &reply.transaction_result {
            TransactionResult::TransactionError(error) => {
                ending.error = Some("error_descriptor");
                ending.code = Some(error.error_code);
                ending.text = error.error_text.as_ref().map(|text| text.to_string());
            }
            TransactionResult::ActionReplies(replies) => {
                for reply in replies {
                    let mut text = Vec::new();
                    let form = Form::Text(Layout::Compact);
                    let written = write(Part::ActionReply(reply), form, version, &mut text);
                    known.texts.push(match written {
                        Ok(()) => String::from_utf8_lossy(&text).into_owned(),
                        Err(error) => format!("not text: {}", error.what),
                    });
                    ending.registered = ending.registered.or_else(|| {
                        let mut changes = reply.command_reply.iter().filter_map(|reply| match reply {
                            CommandReply::ServiceChangeReply(change) => Some(&change.service_change_result),
                            _ => None,
                        });
                        match changes.next().filter(|_| known.registers)? {
                            ServiceChangeResult::ServiceChangeResParms(parms) => {
                                Some(parms.service_change_version.unwrap_or(version))
                            }
                            ServiceChangeResult::ErrorDescriptor(_) => None,
                        }
                    });
                }
            }
        }
        if let Some(number) = reply.segment_number {
            self.totals.segments += 1;
            known.segments.insert(number);
            if reply.segmentation_complete.is_some() {
                known.last_segment = Some(number);
            }
            // Segments have numbers from 1.
            if known.last_segment.is_none_or(|last| known.segments.len() < usize::from(last)) {
                return Seen::Part { id, is_resend: false };
            }
        }
        known.answered = Some(now);
        ending.segments = known.segments.len();
        ending.replies = known.texts.len();
        if ending.error.is_none() {
            ending.text = Some(std::mem::take(&mut known.texts).join(","));
        }
        self.totals.ended(&ending);
        Seen::Result { id, result: Box::new(ending) }
    }

    /// Returns the requests of a range whose replies are acknowledged.
    fn acknowledged(&mut self, source: Endpoint, first: u32, last: u32) -> Vec<u32> {
        let mut ids = Vec::new();
        // A range may be as wide as all ids.
        if u64::from(last.saturating_sub(first)) < self.known.len() as u64 {
            for id in first..=last {
                if let Some(known) = self.known.get_mut(&(source, id)).filter(|it| it.answered.is_some()) {
                    known.is_acknowledged = true;
                    ids.push(id);
                }
            }
            return ids;
        }
        for ((endpoint, id), known) in &mut self.known {
            if *endpoint == source && (first..=last).contains(id) && known.answered.is_some() {
                known.is_acknowledged = true;
                ids.push(*id);
            }
        }
        ids.sort_unstable();
        ids
    }

    /// Forgets requests that were answered long ago.
    fn sweep(&mut self, now: u64) -> Outcome<()> {
        self.since_sweep += 1;
        if self.since_sweep >= SWEEP {
            self.since_sweep = 0;
            let is_recent = |it: &Exchange| it.answered.is_none_or(|at| now.saturating_sub(at) <= LONG_TIMER);
            self.known.retain(|_, exchange| is_recent(exchange));
        }
        if self.known.len() >= LIMIT {
            return Err(Failure::usage(format_args!(
                "more than {LIMIT} requests to remember\nhelp: split the capture, for example with `editcap -i`"
            )));
        }
        Ok(())
    }

    /// Returns the requests without a reply, with who sent them, in the order of their frames.
    pub(super) fn end(&mut self) -> Vec<(String, Seen)> {
        let mut waiting: Vec<_> = self.known.drain().filter(|(_, it)| it.answered.is_none()).collect();
        waiting.sort_by_key(|((_, id), exchange)| (exchange.frame, *id));
        let mut all = Vec::with_capacity(waiting.len());
        for ((_, id), exchange) in waiting {
            let ending = Ending {
                error: Some("unanswered"),
                code: None,
                text: None,
                replies: exchange.texts.len(),
                segments: exchange.segments.len(),
                resends: exchange.resends,
                pendings: exchange.pendings,
                micros: None,
                request_frame: exchange.frame,
                registered: None,
            };
            self.totals.ended(&ending);
            all.push((exchange.mid, Seen::Result { id, result: Box::new(ending) }));
        }
        all
    }
}

impl Seen {
    /// Returns whether this is about a transaction.
    pub(super) fn covers(&self, wanted: u32) -> bool {
        match self {
            Self::Request { id, .. }
            | Self::Pending { id }
            | Self::Result { id, .. }
            | Self::Part { id, .. }
            | Self::Segment { id, .. }
            | Self::Unexpected { id, .. } => *id == wanted,
            Self::Ack { first, last, .. } => (*first..=*last).contains(&wanted),
        }
    }

    /// Returns whether it was sent before.
    pub(super) const fn is_resend(&self) -> bool {
        matches!(self, Self::Request { resends: 1.., .. } | Self::Part { is_resend: true, .. })
    }

    /// Returns whether it answers a request.
    pub(super) const fn is_answer(&self) -> bool {
        !matches!(self, Self::Request { .. })
    }

    /// Returns the label of its arrow in a chart.
    pub(super) fn note(&self) -> Option<String> {
        match self {
            Self::Request { resends: times @ 1.., .. } => Some(format!("repeated {times}")),
            Self::Part { is_resend: true, .. } => Some("repeated".to_owned()),
            Self::Unexpected { .. } => Some("unexpected".to_owned()),
            Self::Result { result, .. } => result.micros.map(|micros| format!("{:.3} ms", millis(micros))),
            _ => None,
        }
    }

    /// Returns its events. The sender and the receiver of the message are given by their message identifiers.
    pub(super) fn events(&self, sender: &str, receiver: &str) -> Vec<(&'static str, Value)> {
        match self {
            Self::Request { id, resends: 0, actions, commands, frame } => vec![(
                "request",
                json!({"mid": sender, "remote_mid": receiver, "trans": id, "actions": actions, "commands": commands, "frame": frame}),
            )],
            Self::Request { .. } | Self::Part { .. } => Vec::new(),
            Self::Pending { id } => vec![("pending", json!({"mid": receiver, "trans": id}))],
            Self::Result { id, result } => {
                let mut all = vec![("result", result.value(*id, receiver))];
                if let Some(version) = result.registered {
                    let registered = json!({"mid": receiver, "remote_mid": sender, "version": version});
                    all.push(("registered", registered));
                }
                all
            }
            Self::Ack { ids, .. } => {
                ids.iter().map(|id| ("ack", json!({"mid": sender, "trans": id, "status": "ok"}))).collect()
            }
            Self::Segment { id, number, is_last } => {
                vec![("segment", json!({"mid": sender, "trans": id, "segment": number, "complete": is_last}))]
            }
            Self::Unexpected { kind, id } => {
                vec![("unexpected", json!({"mid": sender, "kind": kind, "trans": id}))]
            }
        }
    }
}

impl Ending {
    fn value(&self, id: u32, mid: &str) -> Value {
        let mut value = json!({
            "mid": mid,
            "trans": id,
            "ok": self.error.is_none(),
            "error": self.error,
            "code": self.code,
            "replies": self.replies,
            "segments": self.segments,
            "ms": self.micros.map(millis),
            "resends": self.resends,
            "pendings": self.pendings,
            "request_frame": self.request_frame,
        });
        if let Some(text) = &self.text {
            value["text"] = json!(text);
        }
        value
    }
}

fn millis(micros: u64) -> f64 {
    micros as f64 / 1000.0
}

/// Returns a number with three digits, and zeros.
const fn rounded(number: u64) -> u64 {
    let mut unit = 1;
    while number / unit >= 1000 {
        unit *= 10;
    }
    number / unit * unit
}

impl Totals {
    fn ended(&mut self, ending: &Ending) {
        match ending.error {
            None => self.ok += 1,
            Some("unanswered") => self.unanswered += 1,
            Some(_) => self.failed += 1,
        }
        if let Some(micros) = ending.micros {
            *self.times.entry(rounded(micros)).or_default() += 1;
        }
    }

    /// The reply time that so many in a thousand do not exceed, in microseconds.
    fn quantile(&self, permille: u64) -> Option<u64> {
        let count: u64 = self.times.values().sum();
        let mut rest = (count * permille).div_ceil(1000);
        for (time, times) in &self.times {
            if rest <= *times {
                return Some(*time);
            }
            rest -= times;
        }
        None
    }

    /// Adds the sums to the event of counters.
    pub(super) fn write(&self, stats: &mut Value) {
        let mut all = Map::new();
        for (name, value) in [
            ("requests", self.requests),
            ("results_ok", self.ok),
            ("results_failed", self.failed),
            ("unanswered", self.unanswered),
            ("resends", self.resends),
            ("replies_resent", self.replies_resent),
            ("pendings", self.pendings),
            ("acks", self.acks),
            ("segments", self.segments),
            ("unexpected", self.unexpected),
        ] {
            all.insert(name.to_owned(), json!(value));
        }
        for (name, permille) in [("p50_ms", 500), ("p99_ms", 990), ("max_ms", 1000)] {
            all.insert(name.to_owned(), json!(self.quantile(permille).map(millis)));
        }
        if let Value::Object(stats) = stats {
            stats.extend(all);
        }
    }

    /// Returns the sums as lines for people.
    pub(super) fn lines(&self, messages: u64, undecoded: u64) -> Vec<String> {
        let Self { requests, ok, failed, unanswered, resends, replies_resent, pendings, unexpected, .. } =
            self;
        let mut lines = vec![
            format!("messages: {messages}, {undecoded} not decoded"),
            format!(
                "requests: {requests}, {ok} answered, {failed} answered with an error, {unanswered} without a reply"
            ),
            format!(
                "repeated: {resends} requests, {replies_resent} replies; {pendings} Pendings; {unexpected} unexpected"
            ),
        ];
        if let (Some(p50), Some(p99), Some(max)) =
            (self.quantile(500), self.quantile(990), self.quantile(1000))
        {
            lines.push(format!(
                "reply times: half within {} ms, 99 % within {} ms, longest {} ms",
                millis(p50),
                millis(p99),
                millis(max)
            ));
        }
        lines
    }
}
