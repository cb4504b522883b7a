//! `tercet capture follow`.

use super::conversations::Conversations;
use super::line;
use super::reading::{Message, Reader, ReadingArgs};
use crate::exit::{Exit, Failure, Outcome};
use crate::term;
use clap::Args;
use serde_json::{Map, Value};
use std::collections::{HashMap, HashSet};
use std::io::{BufWriter, Write};
use tercet::records::Format;

/// The most lines that are kept until it is known which conversation they belong to.
const LINE_LIMIT: usize = 1 << 20;

/// Follow a user, a transaction, a call or a stream through a capture
#[derive(Args, Debug)]
#[command(after_help = "\
The first message of a user has the identifier of one side alone: it is shown with the others as soon as the pair appears.
Without a key all messages are shown, those of a conversation with its number. `--pairs` adds `answer_frame` and
`answer_after` (seconds) to requests.

Examples:
  tercet capture follow -s specifications/ --ue 17 attach.pcap
  tercet capture follow -s specifications/ --tid 00001000 --ladder map.pcap
  tercet capture follow --json --pairs --stream tcp:3 directory.pcap")]
pub(super) struct Follow {
    #[command(flatten)]
    reading: ReadingArgs,

    /// The identifier of a user: of either side of S1AP, NGAP, X2AP, XnAP, F1AP or E1AP
    #[arg(long, value_name = "ID")]
    ue: Option<u64>,

    /// The identifier of a transaction: of TCAP in hexadecimal; of H.248, LDAP, SNMP or MMS as a number
    #[arg(long, value_name = "ID", conflicts_with = "ue")]
    tid: Option<String>,

    /// The identifier of a call of H.225.0, in hexadecimal, or its call reference
    #[arg(long, value_name = "ID", conflicts_with_all = ["ue", "tid"])]
    call: Option<String>,

    /// A stream: sctp:0, sctp:0/3, tcp:7, udp:2
    #[arg(long, value_name = "STREAM", conflicts_with_all = ["ue", "tid", "call"])]
    stream: Option<String>,

    /// Print a JSON object for each message
    #[arg(long)]
    json: bool,

    /// Draw an arrow for each message
    #[arg(long, conflicts_with = "json")]
    ladder: bool,

    /// Add the answer to each request
    #[arg(long)]
    pairs: bool,
}

impl Follow {
    pub(super) fn run(&self) -> Outcome {
        let mut followed = Followed {
            follow: self,
            conversations: Conversations::default(),
            lines: Vec::new(),
            undecided: HashMap::new(),
            wanted: HashSet::new(),
            kept: 0,
        };
        let exit = self.reading.read(false, &mut followed)?;
        let Followed { mut lines, .. } = followed;
        lines.sort_by_key(|(order, ..)| *order);
        let mut lines: Vec<_> = lines.into_iter().map(|(_, line, key)| (line, key)).collect();
        if self.pairs {
            pair(&mut lines);
        }
        let quotes = if self.json { term::quotes(Format::JSONL) } else { term::Quotes::Ignored };
        let mut out = BufWriter::new(term::stdout(quotes));
        if !self.json && !self.ladder {
            line::head(&mut out)?;
        }
        for (line, _) in &lines {
            if self.json {
                tercet::captures::write(line, &mut out)?;
            } else if self.ladder {
                writeln!(out, "{}", arrow(line))?;
            } else {
                writeln!(out, "{}", row(line))?;
            }
        }
        out.flush()?;
        if lines.is_empty() && exit == Exit::Good {
            return Err(Failure::usage(
                "no message of this conversation\nhelp: `tercet capture list` shows identifiers and streams",
            ));
        }
        Ok(exit)
    }

    /// Returns whether one conversation is asked for.
    fn has_key(&self) -> bool {
        self.ue.is_some() || self.tid.is_some() || self.call.is_some()
    }

    /// Returns whether a message has the key that is asked for.
    fn is_key(&self, line: &Map<String, Value>) -> bool {
        let ids = &line["ids"];
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_lowercase);
        let has = |keys: &[&str], wanted: &str| {
            keys.iter().filter_map(|key| ids.get(*key)).any(|value| match value {
                Value::Array(values) => values.iter().any(|value| text(value) == wanted),
                value => text(value) == wanted,
            })
        };
        const USERS: [&str; 10] =
            ["mme", "enb", "amf", "ran", "ue_x2ap", "ue_xnap", "cu", "du", "cu_cp", "cu_up"];
        const TRANSACTIONS: [&str; 8] =
            ["otid", "dtid", "transactions", "transaction", "message_id", "request_id", "invoke_id", "nonce"];
        match (&self.ue, &self.tid, &self.call) {
            (Some(number), ..) => has(&USERS, &number.to_string()),
            (_, Some(id), _) => has(&TRANSACTIONS, &id.to_lowercase()),
            (.., Some(id)) => has(&["call", "call_reference", "conference", "iu"], &id.to_lowercase()),
            _ => true,
        }
    }
}

/// The place of a line among all, the line, and its conversation.
type Line = (u64, Map<String, Value>, Option<u64>);

/// Collects the lines of conversations.
struct Followed<'f> {
    follow: &'f Follow,
    conversations: Conversations,
    lines: Vec<Line>,
    /// Lines of conversations that have not shown the key yet.
    undecided: HashMap<u64, Vec<Line>>,
    wanted: HashSet<u64>,
    kept: usize,
}

impl Reader for Followed<'_> {
    fn message(&mut self, message: Message<'_>) -> Outcome<()> {
        let Message { pdu, decoded, file, .. } = message;
        let mut object = tercet::captures::object(pdu, decoded, file);
        if let Some(stream) = &self.follow.stream {
            let of_line = object.get("stream").and_then(Value::as_str).unwrap_or_default();
            if of_line != stream && of_line.split('/').next() != Some(stream) {
                return Ok(());
            }
        }
        let (conversation, ended) = self.conversations.of(pdu, &object);
        if let Some(number) = conversation {
            object.insert("conversation".to_owned(), number.into());
        }
        let order = self.kept as u64;
        self.kept += 1;
        if self.lines.len() + self.undecided.values().map(Vec::len).sum::<usize>() >= LINE_LIMIT {
            return Err(Failure::usage(format_args!(
                "more than {LINE_LIMIT} messages to keep\nhelp: `--protocol`, `--frames` and `--where` choose among them"
            )));
        }
        let is_key = self.follow.is_key(&object);
        let line = (order, object, conversation);
        if !self.follow.has_key() {
            self.lines.push(line);
            return Ok(());
        }
        let Some(number) = conversation else {
            if is_key {
                self.lines.push(line);
            }
            return Ok(());
        };
        if is_key && self.wanted.insert(number) {
            self.lines.extend(self.undecided.remove(&number).unwrap_or_default());
        }
        if self.wanted.contains(&number) {
            self.lines.push(line);
        } else if ended {
            self.undecided.remove(&number);
        } else {
            self.undecided.entry(number).or_default().push(line);
        }
        Ok(())
    }
}

/// Adds to each request the frame of its answer: the next message of the same exchange the other way.
fn pair(lines: &mut [(Map<String, Value>, Option<u64>)]) {
    let mut open: HashMap<String, usize> = HashMap::new();
    for at in 0..lines.len() {
        let line = &lines[at].0;
        let ids = &line["ids"];
        let of_line = ["message_id", "request_id", "invoke_id", "transactions", "transaction"]
            .iter()
            .find_map(|key| ids.get(*key));
        let exchange = match (of_line, lines[at].1) {
            (Some(id), _) => id.to_string(),
            (None, Some(conversation)) => format!("conversation {conversation}"),
            (None, None) => continue,
        };
        let key =
            |from: &str, to: &str| format!("{} {exchange} {} {}", line["protocol"], line[from], line[to]);
        let (there, back) = (key("src", "dst"), key("dst", "src"));
        if let Some(request) = open.remove(&back) {
            let frame = line["frame"].clone();
            let seconds =
                seconds(&lines[at].0).zip(seconds(&lines[request].0)).map(|(answer, asked)| answer - asked);
            let request = &mut lines[request].0;
            request.insert("answer_frame".to_owned(), frame);
            if let Some(seconds) = seconds {
                // Times have nine digits of a second.
                request.insert("answer_after".to_owned(), ((seconds * 1e9).round() / 1e9).into());
            }
        } else {
            open.insert(there, at);
        }
    }
}

/// Returns the time of a line in seconds of its day and the days before.
fn seconds(line: &Map<String, Value>) -> Option<f64> {
    let time: tercet_capture::Time = line.get("time")?.as_str()?.parse().ok()?;
    Some(time.seconds as f64 + f64::from(time.nanoseconds) / 1e9)
}

fn text<'l>(line: &'l Map<String, Value>, key: &str) -> &'l str {
    line.get(key).and_then(Value::as_str).unwrap_or("-")
}

/// Returns a row of the table.
fn row(line: &Map<String, Value>) -> String {
    let ids: Vec<_> = line["ids"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(key, value)| {
            format!("{key}={}", value.as_str().map_or_else(|| value.to_string(), str::to_owned))
        })
        .collect();
    let number = line.get("conversation").map(|number| format!(" conversation={number}")).unwrap_or_default();
    let answer = line.get("answer_frame").map(|frame| {
        let after = line.get("answer_after").map(|seconds| format!(" after {seconds} s")).unwrap_or_default();
        format!(" answer: frame {frame}{after}")
    });
    let text = format!(
        "{:>6}  {:<30}  {:<21}  {:<21}  {:<9}  {:<32}  {}{number}{}",
        line["frame"].to_string(),
        text(line, "time"),
        text(line, "src"),
        text(line, "dst"),
        text(line, "protocol"),
        text(line, "message"),
        ids.join(" "),
        answer.unwrap_or_default()
    );
    text.trim_end().to_owned()
}

/// Returns an arrow from the sender to the receiver.
fn arrow(line: &Map<String, Value>) -> String {
    let (source, destination) = (text(line, "src"), text(line, "dst"));
    let name = format!(" {} {} ", text(line, "protocol"), text(line, "message"));
    // The lower address is always left, so that arrows of both ways differ.
    let is_right = source <= destination;
    let (left, right) = if is_right { (source, destination) } else { (destination, source) };
    let (begin, end) = if is_right { ("--", "->") } else { ("<-", "--") };
    format!("{:>6}  {left:<21} {begin}{name:-^46}{end} {right}", line["frame"].to_string())
}
