//! `tercet megaco capture`: the transactions in packet captures.

mod chart;
mod exchange;
mod label;

use super::agent::events::{Events, message_text};
use super::agent::record::Record;
use crate::args::writes_stdout;
use crate::exit::{Exit, Failure, Outcome};
use crate::inputs::{Input, InputArgs};
use crate::term;
use chart::{Arrow, Chart, Form};
use clap::Args;
use exchange::{Exchanges, Seen};
use serde_json::{Value, json};
use std::path::PathBuf;
use tercet::records::Guard;
use tercet_capture::{Capture as Packets, DecodeAs, Endpoint, Event, Options, Pdu, Stream};
use tercet_megaco::binary::Binary;
use tercet_megaco::codec::{Codec, Encoding};
use tercet_megaco::model::{MegacoMessage, MessageBody};
use tercet_megaco_engine::driver::Url;
use tercet_megaco_engine::{Packet, Time, Transport};

/// Match requests and replies in packet captures, with reply times, repeated messages and a sequence chart
#[derive(Args, Debug)]
#[command(after_help = "\
Reads the messages of ports 2944 and 2945 of UDP, TCP and SCTP, those of UDP on other ports if they
are text, and those of --port.

By default it draws a chart. `--events -` prints JSON instead, one event a line: message, request,
pending, result (with the reply time in milliseconds `ms`, and `resends`), registered, ack, segment,
unexpected, message_error, syntax_error, and at the end stats. A request without a reply has the
error `unanswered`.

Examples:
  tercet megaco capture call.pcap
  tercet megaco capture --chart mermaid --trans 17 call.pcap
  tercet megaco capture --events - call.pcap
  tercet megaco capture --hep udp://homer.example:9060 --write megaco.pcap trunk.pcapng")]
pub(super) struct Capture {
    #[command(flatten)]
    input: InputArgs,

    /// Further ports of UDP and TCP with messages of H.248
    #[arg(long, value_name = "PORT", value_delimiter = ',')]
    port: Vec<u16>,

    /// Form of the chart; none by default with `--events -`
    #[arg(long, value_enum, value_name = "FORM")]
    chart: Option<Form>,

    /// Chart and report only the messages from and to this message identifier
    #[arg(long, value_name = "TEXT")]
    mid: Option<String>,

    /// Chart and report only this transaction
    #[arg(long, value_name = "ID")]
    trans: Option<u32>,

    /// File for events, `-` for standard output
    #[arg(long, value_name = "FILE")]
    events: Option<PathBuf>,

    /// Add the text to events `message`
    #[arg(long, requires = "events")]
    trace: bool,

    /// Write the messages to another capture file (pcap), each in one packet
    #[arg(long, value_name = "FILE")]
    write: Option<PathBuf>,

    /// Send a copy of each message to Homer (HEP version 3): udp://HOST:PORT
    #[arg(long, value_name = "URL")]
    hep: Option<Url>,
}

/// Ports of tunnels and of messages inside of which others are looked for; other ports of UDP may have text of H.248.
const OTHER_PORTS: &str = "udp.port==1-2151,2153-4728,4730-4788,4790-65535=h248";
/// The ports of H.248.
const PORTS: [u16; 2] = [2944, 2945];

impl Capture {
    pub(super) fn run(&self) -> Outcome {
        let mut guard = Guard::default();
        writes_stdout(&mut guard)?;
        for (option, path) in [("`--write`", &self.write), ("`--events`", &self.events)] {
            if let Some(path) = path.as_deref().filter(|path| path.as_os_str() != "-") {
                guard.writes(option, path)?;
            }
        }
        let inputs = self.input.expand_beside(&mut guard, false)?;
        let prints_events = self.events.as_deref().is_some_and(|path| path.as_os_str() == "-");
        let form = self.chart.unwrap_or(if prints_events { Form::None } else { Form::Text });
        if prints_events && form != Form::None {
            return Err(Failure::usage(
                "two outputs to standard output: the chart and the events\nhelp: `--events FILE` or `--chart none`",
            ));
        }
        let mut follower = Follower {
            capture: self,
            events: self.events.as_deref().map(Events::open).transpose()?,
            chart: Chart::new(form),
            record: Record::open(self.write.as_deref(), self.hep.as_ref())?,
            exchanges: Exchanges::default(),
            begin: None,
            micros: 0,
            stats: Stats::default(),
        };
        let mut faults = 0;
        for input in &inputs {
            faults += follower.read(input)?;
        }
        follower.end()?;
        Ok(if faults > 0 || follower.stats.syntax_errors > 0 { Exit::Rejected } else { Exit::Good })
    }

    fn options(&self) -> Outcome<Options> {
        let mut options = Options::default();
        let rule = |text: &str| {
            text.parse::<DecodeAs>().map_err(|error| Failure::usage(format_args!("`{text}`: {error}")))
        };
        options.decode_as.push(rule(OTHER_PORTS)?);
        for port in &self.port {
            for field in ["udp.port", "tcp.port"] {
                options.decode_as.push(rule(&format!("{field}=={port}=h248"))?);
            }
        }
        Ok(options)
    }
}

/// What the captures have, counted.
#[derive(Debug, Default)]
struct Stats {
    messages: u64,
    octets: u64,
    syntax_errors: u64,
    message_errors: u64,
}

/// Follows the messages of captures.
struct Follower<'c> {
    capture: &'c Capture,
    events: Option<Events>,
    chart: Chart,
    record: Record,
    exchanges: Exchanges,
    /// Microseconds of the first message since 1970.
    begin: Option<u64>,
    /// Microseconds of the last message since 1970.
    micros: u64,
    stats: Stats,
}

impl Follower<'_> {
    /// Reads a capture, and returns how many parts of it cannot be read.
    fn read(&mut self, input: &Input) -> Outcome<u64> {
        let named = |error: std::io::Error| Failure::io(input.name(), &error);
        let mut packets = Packets::new(input.open()?, self.capture.options()?);
        let mut taken = Ok(());
        let mut sink = |event: Event<'_>| match event {
            Event::Pdu(pdu) if taken.is_ok() && matches!(&*pdu.protocol.name, "h248" | "h248-text") => {
                taken = self.message(&pdu);
            }
            Event::Fault(fault) => term::warning(format_args!("{}: {fault}", input.shown())),
            _ => {}
        };
        while packets.read_packet(&mut sink).map_err(named)? {}
        taken?;
        Ok(packets.balance().faults)
    }

    /// Returns whether a datagram has to be a message, because of its ports or its first bytes.
    fn is_ours(&self, pdu: &Pdu<'_>) -> bool {
        let port = |endpoint| match endpoint {
            Endpoint::Ip(address) => Some(address.port()),
            _ => None,
        };
        let ports = [port(pdu.source), port(pdu.destination)];
        let is_known = |port: &u16| PORTS.contains(port) || self.capture.port.contains(port);
        let begin = pdu.octets.trim_ascii_start();
        !matches!(pdu.stream, Some(Stream::Udp(_)))
            || ports.iter().flatten().any(is_known)
            || begin.starts_with(b"!/")
            || begin.get(..7).is_some_and(|name| name.eq_ignore_ascii_case(b"MEGACO/"))
    }

    fn message(&mut self, pdu: &Pdu<'_>) -> Outcome<()> {
        if pdu.octets.is_empty() || !self.is_ours(pdu) {
            return Ok(());
        }
        if let Some(time) = pdu.time {
            let seconds = u64::try_from(time.seconds).unwrap_or(0);
            self.micros =
                seconds.saturating_mul(1_000_000).saturating_add(u64::from(time.nanoseconds / 1000));
        }
        self.begin.get_or_insert(self.micros);
        self.stats.messages += 1;
        self.stats.octets += pdu.octets.len() as u64;
        self.copy(pdu)?;
        let encoding = match Encoding::detect(pdu.octets) {
            Encoding::Json => Encoding::Pretty,
            encoding => encoding,
        };
        match encoding.decode(pdu.octets) {
            Ok(message) => self.decoded(pdu, encoding, &message),
            Err(error) => {
                self.stats.syntax_errors += 1;
                if self.capture.mid.is_some() || self.capture.trans.is_some() {
                    return Ok(());
                }
                let text = format!("expected {} at byte {}", error.what, error.at);
                let address = pdu.source.to_string();
                let event = json!({"frame": pdu.frame, "code": 400, "text": text, "address": address});
                self.event("syntax_error", event)?;
                let label = format!("not a message: {text}");
                self.draw(self.exchanges.name_of(pdu.source), pdu.destination, label, false)
            }
        }
    }

    fn decoded(&mut self, pdu: &Pdu<'_>, encoding: Encoding, message: &MegacoMessage<'_>) -> Outcome<()> {
        let mess = &message.mess;
        let mid = label::mid(&mess.m_id);
        self.exchanges.name(pdu.source, &mid);
        let peer = self.exchanges.name_of(pdu.destination);
        let mut wanted = self
            .capture
            .mid
            .as_deref()
            .is_none_or(|wanted| [&mid, &peer].iter().any(|name| name.eq_ignore_ascii_case(wanted)));
        let mut seen = Vec::new();
        let mut labels = Vec::new();
        let mut error = None;
        match &mess.message_body {
            MessageBody::MessageError(fault) => {
                self.stats.message_errors += 1;
                wanted &= self.capture.trans.is_none();
                let text = fault.error_text.as_ref().map(|text| text.to_string());
                labels.push(format!("error {}{}", fault.error_code, label::quoted(text.as_deref())));
                error = Some(json!({"code": fault.error_code, "text": text, "remote_mid": mid}));
            }
            MessageBody::Transactions(transactions) => {
                let only = self.capture.trans;
                let is_wanted = |it: &Seen| only.is_none_or(|id| it.covers(id));
                for transaction in transactions {
                    let found = self.exchanges.transaction(pdu, mess.version, transaction, self.micros)?;
                    if found.iter().any(is_wanted) {
                        labels.push(label::transaction(transaction, &found));
                        seen.extend(found.into_iter().filter(is_wanted));
                    }
                }
            }
        }
        if !wanted || labels.is_empty() {
            return Ok(());
        }
        let resend = seen.iter().any(Seen::is_resend);
        let mut event = json!({
            "frame": pdu.frame,
            "mid": mid,
            "from": pdu.source.to_string(),
            "to": pdu.destination.to_string(),
            "version": mess.version,
            "encoding": encoding.name(),
            "octets": pdu.octets.len(),
            "resend": resend,
        });
        if self.capture.trace {
            event["text"] = json!(message_text(Binary::standard(), pdu.octets));
        }
        self.event("message", event)?;
        if let Some(error) = error {
            self.event("message_error", error)?;
        }
        let is_reply = !seen.is_empty() && seen.iter().all(Seen::is_answer);
        for one in &seen {
            for (name, value) in one.events(&mid, &peer) {
                self.event(name, value)?;
            }
        }
        self.draw(mid, pdu.destination, labels.join("; "), is_reply)
    }

    /// Copies a message to other tools.
    fn copy(&mut self, pdu: &Pdu<'_>) -> Outcome<()> {
        let (Endpoint::Ip(source), Endpoint::Ip(destination)) = (pdu.source, pdu.destination) else {
            return Ok(());
        };
        let (transport, link) = match pdu.stream {
            Some(Stream::Tcp(number)) => (Transport::Tcp, number as u32),
            Some(Stream::Sctp { association, .. }) => (Transport::Sctp, association as u32),
            _ => (Transport::Udp, 0),
        };
        let micros = self.micros;
        self.record.packet(&Packet { micros, transport, link, source, destination, octets: pdu.octets })
    }

    /// The time since the first message.
    fn now(&self) -> Time {
        Time::from_micros(self.micros.saturating_sub(self.begin.unwrap_or(self.micros)))
    }

    fn event(&mut self, name: &str, value: Value) -> Outcome<()> {
        let now = self.now();
        match &mut self.events {
            Some(events) => events.write(now, name, value),
            None => Ok(()),
        }
    }

    fn draw(&mut self, from: String, to: Endpoint, label: String, is_reply: bool) -> Outcome<()> {
        let arrow = Arrow { seconds: self.now().as_secs_f64(), from, to, label, is_reply };
        self.chart.draw(arrow, &|endpoint| self.exchanges.known_name(endpoint))
    }

    /// Reports what has no reply, and the sums.
    fn end(&mut self) -> Outcome<()> {
        let only = self.capture.trans;
        let unanswered = self.exchanges.end();
        if self.capture.mid.is_none() {
            for (mid, seen) in unanswered.iter().filter(|(_, it)| only.is_none_or(|id| it.covers(id))) {
                for (name, value) in seen.events("", mid) {
                    self.event(name, value)?;
                }
            }
        }
        let Stats { messages, octets, syntax_errors, message_errors } = self.stats;
        let mut stats = json!({"in_messages": messages, "in_octets": octets, "errors": syntax_errors, "message_errors_received": message_errors});
        self.exchanges.totals().write(&mut stats);
        self.event("stats", stats)?;
        if let Some(events) = &mut self.events {
            events.flush()?;
        }
        self.record.flush()?;
        let lines = self.exchanges.totals().lines(messages, syntax_errors);
        self.chart.end(&lines, &|endpoint| self.exchanges.known_name(endpoint))
    }
}
