//! `cargo conformance decode-captures`: the messages of packet captures, decoded by specifications and encoded again.
//!
//! At least 99 of 100 messages that are whole and have a specification have to decode, and in PER and DER, whose values have
//! one encoding, at least 99 of 100 of these have to give the same octets again.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use tercet::captures::{Decoded, Decoder, DecoderOptions, ReadValue, Specifications};
use tercet::{PlanCache, Rules, SchemaOptions, TapeCodec};
use tercet_capture::{Capture, Event, Options, Pdu};

use crate::Tally;
use crate::captures::{open_file, rule_in_name};

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
    options.folders.iter().try_for_each(|folder| find(folder, &mut paths))?;
    paths.sort();
    let schema_options = SchemaOptions { cache: PlanCache::of_user(), ..SchemaOptions::default() };
    let specifications =
        Specifications::find(&options.schema, schema_options).map_err(|error| error.to_string())?;
    let mut decoder = Decoder::new(specifications, DecoderOptions::default());
    let mut protocols: BTreeMap<&str, Counts> = BTreeMap::new();
    let mut octets = Vec::new();
    for path in &paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut reading = Options::default();
        reading.decode_as.extend(rule_in_name(&name));
        let mut capture = Capture::new(open_file(path)?, reading);
        let mut sink = |event: Event<'_>| {
            let Event::Pdu(pdu) = event else { return };
            let is_wanted = options.protocol.is_empty() || options.protocol.contains(&pdu.protocol.name);
            if pdu.partial || !is_wanted {
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

/// Returns whether octets are those of a message, which the radio interface pads to the size of its blocks.
fn is_same(pdu: &Pdu<'_>, octets: &[u8]) -> bool {
    match pdu.octets.strip_prefix(octets) {
        Some([]) => true,
        Some(_) => pdu.protocol.name.ends_with("-rrc"),
        None => false,
    }
}

/// Collects the captures in all folders below one.
fn find(folder: &Path, paths: &mut Vec<PathBuf>) -> Result<(), String> {
    let named = |error: std::io::Error| format!("{}: {error}", folder.display());
    for entry in std::fs::read_dir(folder).map_err(named)? {
        let entry = entry.map_err(named)?;
        if entry.file_type().map_err(named)?.is_dir() {
            find(&entry.path(), paths)?;
            continue;
        }
        let name = entry.file_name().to_string_lossy().into_owned();
        let plain = name.trim_end_matches(".gz").trim_end_matches(".zst");
        if [".pcap", ".pcapng", ".cap", ".ntar"].iter().any(|suffix| plain.ends_with(suffix)) {
            paths.push(entry.path());
        }
    }
    Ok(())
}
