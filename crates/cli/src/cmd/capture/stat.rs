//! `tercet capture stat`.

use super::reading::{FileTotals, Message, Reader, ReadingArgs};
use crate::exit::Outcome;
use crate::term;
use clap::Args;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, HashMap};
use std::io::{BufWriter, Write};
use tercet::records::Format;
use tercet_capture::Unread;

/// The most pairs of addresses that are counted.
const TALKER_LIMIT: usize = 1 << 12;
/// Pairs of addresses, and reasons, that are shown.
const SHOWN: usize = 10;

/// Count what is in captures
#[derive(Args, Debug)]
#[command(after_help = "\
Packets that are not looked into are counted by the reason, with the rule for `--decode-as` that would read them.

Examples:
  tercet capture stat attach.pcap
  tercet capture stat --json -s specifications/ *.pcapng.gz")]
pub(super) struct Stat {
    #[command(flatten)]
    reading: ReadingArgs,

    /// Print a JSON object for each file
    #[arg(long)]
    json: bool,
}

impl Stat {
    pub(super) fn run(&self) -> Outcome {
        let quotes = if self.json { term::quotes(Format::JSONL) } else { term::Quotes::Ignored };
        let mut counts = Counts {
            json: self.json,
            out: BufWriter::new(term::stdout(quotes)),
            protocols: BTreeMap::new(),
            talkers: HashMap::new(),
        };
        let exit = self.reading.read(false, &mut counts)?;
        counts.out.flush()?;
        Ok(exit)
    }
}

/// Counts of a protocol.
#[derive(Default)]
struct OfProtocol {
    pdus: u64,
    decoded: u64,
    failed: u64,
    deviating: u64,
    octets: u64,
    least: usize,
    most: usize,
    messages: BTreeMap<String, u64>,
}

/// Counts of a file.
struct Counts<W: Write> {
    json: bool,
    out: W,
    protocols: BTreeMap<&'static str, OfProtocol>,
    talkers: HashMap<(String, String), u64>,
}

impl<W: Write> Reader for Counts<W> {
    fn message(&mut self, message: Message<'_>) -> Outcome<()> {
        let Message { pdu, decoded, .. } = message;
        let length = pdu.octets.len();
        let counts = self
            .protocols
            .entry(&pdu.protocol.name)
            .or_insert_with(|| OfProtocol { least: length, ..OfProtocol::default() });
        counts.pdus += 1;
        counts.octets += length as u64;
        counts.least = counts.least.min(length);
        counts.most = counts.most.max(length);
        if let Some(decoded) = decoded {
            match decoded.fault {
                None => counts.decoded += 1,
                Some(_) => counts.failed += 1,
            }
            counts.deviating += u64::from(!decoded.warnings.is_empty());
            if let Some(name) = &decoded.message {
                *counts.messages.entry(name.clone()).or_default() += 1;
            }
        }
        let pair = (pdu.source.to_string(), pdu.destination.to_string());
        if self.talkers.len() < TALKER_LIMIT || self.talkers.contains_key(&pair) {
            *self.talkers.entry(pair).or_default() += 1;
        }
        Ok(())
    }

    fn end(&mut self, totals: &FileTotals<'_>) -> Outcome<()> {
        let protocols = std::mem::take(&mut self.protocols);
        let mut talkers: Vec<_> = std::mem::take(&mut self.talkers).into_iter().collect();
        talkers.sort_by(|(one, count), (other, others)| others.cmp(count).then_with(|| one.cmp(other)));
        talkers.truncate(SHOWN);
        let mut unread: Vec<_> = totals.balance.unread_reasons.iter().collect();
        unread.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        if self.json {
            let object = of_file(totals, &protocols, &talkers, &unread);
            serde_json::to_writer(&mut self.out, &object).map_err(std::io::Error::from)?;
            writeln!(self.out)?;
            return Ok(());
        }
        self.print(totals, &protocols, &talkers, &unread)
    }
}

type Talkers = [((String, String), u64)];

impl<W: Write> Counts<W> {
    fn print(
        &mut self,
        totals: &FileTotals<'_>,
        protocols: &BTreeMap<&'static str, OfProtocol>,
        talkers: &Talkers,
        unread: &[(&Unread, &u64)],
    ) -> Outcome<()> {
        let FileTotals { name, balance, .. } = totals;
        let out = &mut self.out;
        writeln!(out, "{}", tercet_printable::printable(name))?;
        let time =
            |time: Option<tercet_capture::Time>| time.map_or_else(|| "-".to_owned(), |it| it.to_string());
        writeln!(
            out,
            "  packets {}, bytes {}, from {} to {}",
            balance.packets,
            balance.octets,
            time(balance.first),
            time(balance.last)
        )?;
        writeln!(
            out,
            "  with messages {}, bad {}, with fragments {}, not looked into {}, without messages {}",
            balance.with_pdus, balance.bad, balance.waiting, balance.unread, balance.nothing
        )?;
        let types: Vec<_> =
            balance.link_types.iter().map(|(number, count)| format!("{number} ({count})")).collect();
        writeln!(out, "  link types {}", types.join(", "))?;
        writeln!(
            out,
            "  reassembled {}, incomplete {}, given up {}, retransmitted {}, overlapping {}",
            balance.reassembled,
            balance.incomplete,
            balance.given_up,
            balance.retransmitted,
            balance.overlapping
        )?;
        for (protocol, counts) in protocols {
            writeln!(
                out,
                "  {protocol}: {}, decoded {}{}, not decoded {}; bytes {} to {}, mean {}",
                term::count(counts.pdus, "message"),
                counts.decoded,
                if counts.deviating > 0 {
                    format!(" ({} with warnings)", counts.deviating)
                } else {
                    String::new()
                },
                counts.failed,
                counts.least,
                counts.most,
                counts.octets / counts.pdus.max(1)
            )?;
            let mut messages: Vec<_> = counts.messages.iter().collect();
            messages.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
            for (message, count) in messages {
                writeln!(out, "    {count:>8}  {message}")?;
            }
        }
        for (reason, count) in unread.iter().take(SHOWN) {
            let rule =
                reason.rule().map(|rule| format!("  (--decode-as {rule}=PROTOCOL)")).unwrap_or_default();
            writeln!(out, "  not looked into: {count:>8}  {reason}{rule}")?;
        }
        for ((source, destination), count) in talkers {
            writeln!(out, "  {count:>8}  {source} -> {destination}")?;
        }
        Ok(())
    }
}

/// Returns the object of a file.
fn of_file(
    totals: &FileTotals<'_>,
    protocols: &BTreeMap<&'static str, OfProtocol>,
    talkers: &Talkers,
    unread: &[(&Unread, &u64)],
) -> Value {
    let balance = totals.balance;
    let protocols: Map<String, Value> = protocols
        .iter()
        .map(|(protocol, counts)| {
            let octets = json!({"min": counts.least, "mean": counts.octets / counts.pdus.max(1), "max": counts.most});
            let object = json!({"pdus": counts.pdus, "decoded": counts.decoded, "failed": counts.failed, "warnings": counts.deviating,
                "octets": octets,
                "messages": counts.messages});
            ((*protocol).to_owned(), object)
        })
        .collect();
    let unread: Vec<_> = unread
        .iter()
        .map(|(reason, count)| json!({"reason": reason.to_string(), "packets": count, "decode_as": reason.rule()}))
        .collect();
    let talkers: Vec<_> = talkers
        .iter()
        .map(|((source, destination), count)| json!({"src": source, "dst": destination, "pdus": count}))
        .collect();
    let types: Map<String, Value> =
        balance.link_types.iter().map(|(number, count)| (number.to_string(), (*count).into())).collect();
    json!({
        "file": totals.name,
        "packets": balance.packets,
        "octets": balance.octets,
        "first": balance.first.map(|it| it.to_string()),
        "last": balance.last.map(|it| it.to_string()),
        "link_types": types,
        "balance": {"with_pdus": balance.with_pdus, "bad": balance.bad, "waiting": balance.waiting,
            "unread": balance.unread, "nothing": balance.nothing},
        "pdus": balance.pdus,
        "faults": balance.faults,
        "undecoded": totals.undecoded,
        "reassembly": {"complete": balance.reassembled, "incomplete": balance.incomplete, "evicted": balance.given_up,
            "retransmitted": balance.retransmitted, "overlapping": balance.overlapping},
        "protocols": protocols,
        "unread": unread,
        "talkers": talkers,
    })
}
