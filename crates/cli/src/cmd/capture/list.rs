//! `tercet capture list`.

use super::decoder::{Decoded, Decoder};
use super::identifiers::hexadecimal;
use super::specifications::SpecificationArgs;
use crate::exit::{Exit, Failure, Outcome};
use crate::inputs::{Input, InputArgs};
use crate::term;
use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};
use std::io::{self, BufWriter, Write};
use tercet::records::Format;
use tercet_capture::{Balance, DecodeAs, Endpoint, Event, Options, Pdu, SccpAddress, protocol, protocols};

/// List the messages of captures, a line each
#[derive(Args, Debug)]
#[command(after_help = "\
Frames are numbered as in Wireshark; a message of several fragments has the frame of the last
missing one. Packets that cannot be read are reported on standard error. Without a specification a
message is listed, but not decoded.

Examples:
  tercet capture list -s specifications/ attach.pcap
  tercet capture list --json --protocol s1ap,ngap attach.pcap
  tercet capture list --no-decode --decode-as sctp.port==5000=s1ap attach.pcap")]
pub(super) struct List {
    #[command(flatten)]
    input: InputArgs,

    #[command(flatten)]
    specifications: SpecificationArgs,

    /// Print a JSON object for each message, with its bytes
    #[arg(long)]
    json: bool,

    /// List messages of these protocols only
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = known)]
    protocol: Vec<&'static str>,

    /// Rule for messages that the table of protocols does not find: FIELD==VALUE[,VALUE|A-B]=PROTOCOL[.TYPE][:RULES], or
    /// tshark's FIELD==VALUE,PROTOCOL; fields: sctp.ppid, sctp.port, tcp.port, udp.port, ethertype, dlt, sccp.ssn, m3ua.si,
    /// btp.port, gsmtap.type, gtpp.format. The last one that fits wins
    #[arg(long, value_name = "RULE")]
    decode_as: Vec<DecodeAs>,

    /// List messages without decoding them
    #[arg(long)]
    no_decode: bool,

    /// Messages of which the capture has only the begin
    #[arg(long, value_enum, default_value_t = Partial::Keep, value_name = "ACTION")]
    partial: Partial,

    /// Memory for fragments that wait for others, in bytes; K, M and G multiply by 1024, its square and its cube
    #[arg(long, value_name = "SIZE", default_value = "256M", value_parser = size)]
    limit_memory: usize,
}

/// What is done with messages that are cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Partial {
    /// List them, marked as partial
    Keep,
    /// Skip them
    Drop,
}

/// Returns the name of a protocol.
fn known(name: &str) -> Result<&'static str, String> {
    let names = || protocols().iter().map(|it| &*it.name);
    protocol(name).map(|it| &*it.name).ok_or_else(|| tercet::suggest::unknown("protocol", name, names()))
}

/// Reads a number of bytes: `64M`.
fn size(text: &str) -> Result<usize, String> {
    let (digits, shift) = match text.as_bytes().last() {
        Some(b'K') => (&text[..text.len() - 1], 10),
        Some(b'M') => (&text[..text.len() - 1], 20),
        Some(b'G') => (&text[..text.len() - 1], 30),
        _ => (text, 0),
    };
    let number = digits.parse::<usize>().ok().and_then(|number| number.checked_mul(1 << shift));
    number.ok_or_else(|| format!("`{text}` is not a size such as `64M`"))
}

impl List {
    pub(super) fn run(&self) -> Outcome {
        let mut decoder = match self.no_decode {
            true => None,
            false => Some(Decoder::new(self.specifications.find()?)),
        };
        let inputs = self.input.expand()?;
        let quotes = if self.json { term::quotes(Format::JSONL) } else { term::Quotes::Ignored };
        let mut out = BufWriter::new(term::stdout(quotes));
        if !self.json {
            let [frame, time, source, destination, protocol, message] =
                ["frame", "time", "src", "dst", "protocol", "message"];
            writeln!(
                out,
                "{frame:>6}  {time:<30}  {source:<21}  {destination:<21}  {protocol:<9}  {message:<32}  ids"
            )?;
        }
        let mut exit = Exit::Good;
        for input in &inputs {
            exit = exit.max(self.list(input, inputs.len() > 1, decoder.as_mut(), &mut out)?);
        }
        out.flush()?;
        Ok(exit)
    }

    /// Lists the messages of a capture.
    fn list(
        &self,
        input: &Input,
        several: bool,
        mut decoder: Option<&mut Decoder>,
        out: &mut impl Write,
    ) -> Outcome {
        let name = input.name();
        let mut options = Options::default();
        options.decode_as.clone_from(&self.decode_as);
        options.memory_limit = self.limit_memory;
        let mut capture = tercet_capture::Capture::new(input.open()?, options);
        let (mut written, mut undecoded) = (Ok(()), 0u64);
        let mut sink = |event: Event<'_>| match event {
            Event::Pdu(pdu) => {
                let is_listed = self.protocol.is_empty() || self.protocol.contains(&&*pdu.protocol.name);
                if !is_listed || pdu.partial && self.partial == Partial::Drop || written.is_err() {
                    return;
                }
                let decoded = decoder.as_mut().map(|decoder| decoder.decode(&pdu));
                let is_bad = |it: &Decoded| it.fault.as_ref().is_some_and(|fault| fault.stage == "decode");
                undecoded += u64::from(decoded.as_ref().is_some_and(is_bad));
                let file = several.then_some(&*name);
                written = if self.json {
                    line(&pdu, decoded, file, out)
                } else {
                    row(&pdu, decoded.unwrap_or_default(), out)
                };
            }
            Event::Fault(fault) => term::warning(format_args!("{name}: {fault}")),
            _ => {}
        };
        while capture.read_packet(&mut sink).map_err(|error| Failure::io(&name, &error))? {}
        written?;
        let balance = capture.balance();
        if balance.faults == 0 && undecoded == 0 {
            return Ok(Exit::Good);
        }
        // Without a packet there is nothing that was a capture.
        if balance.packets == 0 && balance.faults > 0 {
            return Ok(Exit::Io);
        }
        term::say(format_args!("{name}: {}", summary(balance, undecoded)));
        Ok(Exit::Rejected)
    }
}

/// Where the packets went, for people.
fn summary(balance: &Balance, undecoded: u64) -> String {
    format!(
        "{}: {} with messages, {} bad, {} with fragments, {} not looked into, {} without messages; {}, {undecoded} not decoded",
        term::count(balance.packets, "packet"),
        balance.with_pdus,
        balance.bad,
        balance.waiting,
        balance.unread,
        balance.nothing,
        term::count(balance.pdus, "message"),
    )
}

/// Writes a line of JSON.
fn line(pdu: &Pdu<'_>, decoded: Option<Decoded>, file: Option<&str>, out: &mut impl Write) -> io::Result<()> {
    let mut object = Map::new();
    let mut put = |key: &str, value: Value| object.insert(key.to_owned(), value);
    put("frame", pdu.frame.into());
    put("protocol", pdu.protocol.name.as_str().into());
    let (message, identifiers, used, fault) = match decoded {
        Some(Decoded { used, message, identifiers, fault }) => (message, identifiers, used, fault),
        None => (None, Vec::new(), None, None),
    };
    put("message", message.into());
    put("octets", hexadecimal(pdu.octets).into());
    put("time", pdu.time.map(|time| time.to_string()).into());
    let address = |it: Endpoint| (it != Endpoint::Unknown).then(|| it.to_string());
    put("src", address(pdu.source).into());
    put("dst", address(pdu.destination).into());
    if let Some(stream) = pdu.stream {
        put("stream", stream.to_string().into());
    }
    let identifiers: Map<_, _> =
        identifiers.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    put("ids", identifiers.into());
    if let Some([module, type_name, rules]) = used {
        put("schema", module.into());
        put("type", type_name.into());
        put("rules", rules.into());
    }
    if pdu.frames().len() > 1 {
        put("frames", pdu.frames().into());
    }
    if pdu.partial {
        put("partial", true.into());
    }
    if pdu.possible_duplicate {
        put("possible_duplicate", true.into());
    }
    if let Some(sccp) = &pdu.sccp {
        put("sccp", json!({"calling": party(&sccp.calling), "called": party(&sccp.called)}));
    }
    if let Some(fault) = fault {
        put(
            "error",
            json!({
                "stage": fault.stage,
                "offset": fault.offset,
                "bit": fault.bit,
                "path": fault.path,
                "message": fault.message,
            }),
        );
    }
    if let Some(file) = file {
        put("file", file.into());
    }
    if pdu.interface > 0 {
        put("interface", pdu.interface.into());
    }
    serde_json::to_writer(&mut *out, &object)?;
    out.write_all(b"\n")
}

/// Returns the parts that an address of SCCP has.
fn party(address: &SccpAddress) -> Value {
    let mut object = Map::new();
    let mut put = |key: &str, value: Option<Value>| value.map(|value| object.insert(key.to_owned(), value));
    put("point_code", address.point_code.map(Value::from));
    put("ssn", address.ssn.map(Value::from));
    put("global_title", address.global_title.clone().map(Value::from));
    object.into()
}

/// Writes a row of the table.
fn row(pdu: &Pdu<'_>, decoded: Decoded, out: &mut impl Write) -> io::Result<()> {
    let time = pdu.time.map_or_else(|| "-".to_owned(), |time| time.to_string());
    let message = decoded.message.unwrap_or_else(|| "-".to_owned());
    let plain = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let ids = decoded.identifiers.iter().map(|(key, value)| format!("{key}={}", plain(value)));
    let marks = pdu.partial.then(|| "partial".to_owned()).into_iter();
    // A missing specification is reported once, on standard error.
    let fault = decoded.fault.filter(|fault| fault.stage == "decode");
    let fault = fault.map(|fault| format!("error: {} at byte {}", fault.message, fault.offset.unwrap_or(0)));
    let rest = ids.chain(marks).chain(fault).collect::<Vec<_>>().join(" ");
    let (source, destination) = (pdu.source.to_string(), pdu.destination.to_string());
    let (frame, protocol) = (pdu.frame, &pdu.protocol.name);
    let text = format!(
        "{frame:>6}  {time:<30}  {source:<21}  {destination:<21}  {protocol:<9}  {message:<32}  {rest}"
    );
    writeln!(out, "{}", text.trim_end())
}
