//! `cargo conformance decode-captures`: the messages of packet captures, decoded by specifications and encoded again.
//!
//! At least 99 of 100 messages that are whole and have a specification have to decode, and in PER and DER, whose values have
//! one encoding, at least 99 of 100 of these have to give the same octets again. Not counted are messages that
//! `FILE.truth.jsonl` beside a capture marks as `malformed`, `optional`, `sasl` (buffers of a security layer) or `after_gap`,
//! and those of captures called `bad-…` and `flood-…`.

use std::collections::{BTreeMap, HashSet};
use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tercet::captures::{Decoded, Decoder, DecoderOptions, ReadValue, Specifications};
use tercet::{PlanCache, Rules, SchemaOptions, TapeCodec};
use tercet_capture::{Capture, Event, Options, Pdu};

use crate::captures::{find, open_file, rule_in_name};
use crate::{Tally, corpora, hex};

/// Which captures are decoded, and by which specifications.
#[derive(clap::Args, Clone, Debug)]
pub struct Arguments {
    /// Folders with captures
    #[arg(required = true, value_name = "DIR")]
    pub folders: Vec<PathBuf>,
    /// Specification file, or a directory of them for any number of protocols; may be given several times
    #[arg(short, long, required = true, value_name = "PATH")]
    pub schema: Vec<PathBuf>,
    /// Decode messages of these protocols only
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub protocol: Vec<String>,
}

/// Counts of the messages of a protocol.
#[derive(Default)]
struct Counts {
    messages: usize,
    decoded: usize,
    encoded: usize,
    same: usize,
}

/// Runs the task.
///
/// # Errors
/// A folder or a file cannot be read.
pub fn run(options: &Arguments, out: &mut impl Write) -> Result<Tally, String> {
    let mut paths = Vec::new();
    options.folders.iter().try_for_each(|folder| find(folder, &capture, &mut paths))?;
    paths.sort();
    let schema_options = SchemaOptions { cache: PlanCache::of_user(), ..SchemaOptions::default() };
    let specifications =
        Specifications::find(&options.schema, schema_options).map_err(|error| error.to_string())?;
    let mut decoder = Decoder::new(specifications, DecoderOptions::default());
    let mut protocols: BTreeMap<&str, Counts> = BTreeMap::new();
    let mut octets = Vec::new();
    for path in &paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.starts_with("bad-") || name.starts_with("flood-") {
            continue;
        }
        let marked = marked(path)?;
        let mut reading = Options::default();
        reading.decode_as.extend(rule_in_name(&name));
        let mut capture = Capture::new(open_file(path)?, reading);
        let mut sink = |event: Event<'_>| {
            let Event::Pdu(pdu) = event else { return };
            let is_wanted = options.protocol.is_empty() || options.protocol.contains(&pdu.protocol.name);
            if pdu.partial || !is_wanted || marked.contains(&hex::show(pdu.octets)) {
                return;
            }
            let counts = protocols.entry(&pdu.protocol.name).or_default();
            let mut count = |decoded: &Decoded, value: Option<ReadValue<'_>>| {
                let stage = decoded.fault.as_ref().map(|fault| fault.stage);
                if stage == Some("schema") {
                    return;
                }
                counts.messages += 1;
                if let Some(fault) = &decoded.fault {
                    let _ = writeln!(
                        out,
                        "not decoded {name} {}: frame {}: {}: {}",
                        pdu.protocol.name, pdu.frame, fault.path, fault.message
                    );
                    return;
                }
                counts.decoded += 1;
                let Some((specification, view)) = value else { return };
                // Values in BER have many encodings.
                if specification.rules == Rules::Ber {
                    return;
                }
                counts.encoded += 1;
                octets.clear();
                let written =
                    TapeCodec::new(specification.rules, &specification.plan).write(view, &mut octets);
                let same = written.is_ok() && is_same(&pdu, &octets);
                counts.same += usize::from(same);
                if !same {
                    let why = written.err().map_or_else(String::new, |error| format!(": {error}"));
                    let protocol = &pdu.protocol.name;
                    let _ = writeln!(out, "other octets {name} {protocol}: frame {}{why}", pdu.frame);
                }
            };
            decoder.decode_with(&pdu, &mut count);
        };
        let read = |error| format!("{}: {error}", path.display());
        while capture.read_packet(&mut sink).map_err(read)? {}
    }
    let mut sum = Counts::default();
    for (protocol, counts) in protocols.iter().filter(|(_, counts)| counts.messages > 0) {
        let Counts { messages, decoded, encoded, same } = counts;
        let _ = writeln!(
            out,
            "{protocol}: {decoded} of {messages} decoded, {same} of {encoded} with the same octets"
        );
        sum.messages += messages;
        sum.decoded += decoded;
        sum.encoded += encoded;
        sum.same += same;
    }
    let Counts { messages, decoded, encoded, same } = sum;
    let _ = writeln!(out, "all: {decoded} of {messages} decoded, {same} of {encoded} with the same octets");
    let mut tally = Tally::default();
    tally.count(messages > 0 && decoded * 100 >= messages * 99);
    tally.count(encoded > 0 && same * 100 >= encoded * 99);
    Ok(tally)
}

/// Returns the octets of the messages that the truth of a capture marks, if there is one.
fn marked(path: &Path) -> Result<HashSet<String>, String> {
    let truth = PathBuf::from(format!("{}.truth.jsonl", path.display()));
    let mut marked = HashSet::new();
    if !truth.exists() {
        return Ok(marked);
    }
    for line in corpora::read_text(&truth)?.lines() {
        let line: Value =
            serde_json::from_str(line).map_err(|error| format!("{}: {error}", truth.display()))?;
        let is_marked = ["malformed", "optional", "sasl", "after_gap"].iter().any(|mark| line[*mark] == true);
        marked.extend(line["octets"].as_str().filter(|_| is_marked).map(str::to_owned));
    }
    Ok(marked)
}

/// Returns whether octets are those of a message. The radio interface pads messages to the size of its blocks, from the bit
/// after the last one of the value.
fn is_same(pdu: &Pdu<'_>, octets: &[u8]) -> bool {
    if pdu.octets == octets || !pdu.protocol.name.ends_with("-rrc") {
        return pdu.octets == octets;
    }
    let Some((last, begin)) = octets.split_last() else { return false };
    let Some((padded, _)) = pdu.octets.strip_prefix(begin).and_then(<[u8]>::split_first) else {
        return false;
    };
    // The bits after the last one that is set may be padding, which is 0 in ours.
    let padding = (1_u16 << last.trailing_zeros().min(7)) - 1;
    u16::from(last ^ padded) & !padding == 0
}

/// Returns the path of a file whose name is that of a capture.
fn capture(folder: &Path, name: &str) -> Option<PathBuf> {
    let plain = name.trim_end_matches(".gz").trim_end_matches(".zst");
    [".pcap", ".pcapng", ".cap", ".ntar"]
        .iter()
        .any(|suffix| plain.ends_with(suffix))
        .then(|| folder.join(name))
}
