//! One hostile input in a process of its own.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tercet::dynamic::{ErrorKind, Options, Tape, json, validate};
use tercet::runtime::ber;
use tercet::{CodecError, Rules, Schema, SchemaOptions, TapeCodec};
use tercet_megaco::codec::{Codec as _, Encoding, decode_any};
use tercet_megaco::tpkt::take_frame;

use crate::corpora;

/// Stack of whatever reads an input (promise 6).
const STACK: usize = 256 << 10;
/// What the report of a case begins with.
const MARK: &str = "case: ";

/// Reads `RULE PDU FILE SCHEMA` and tells the verdict with the processor time and the memory of this process.
pub fn case(arguments: &[String]) -> String {
    let [rule, pdu, file, schema] = arguments else { return "usage: --case RULE PDU FILE SCHEMA\n".into() };
    let octets = match std::fs::read(file) {
        Ok(octets) => octets,
        Err(error) => return format!("{file}: {error}\n"),
    };
    let verdict = match rule.as_str() {
        "compile" => compile(Path::new(file)),
        "h248" => confined(|| message(&octets)),
        "tpkt" => confined(|| frames(&octets)),
        _ if pdu == "LDAPMessage" => confined(|| ldap(&octets)),
        _ if pdu == "ANY" => confined(|| walk(rule, &octets)),
        _ => decode(rule, pdu, Path::new(schema), &octets),
    };
    let (time, peak) = used("self").unwrap_or_default();
    let (word, text) = match verdict {
        Ok(()) => ("accept", String::new()),
        Err(text) => ("reject", text),
    };
    format!("{MARK}{word} {} {peak} {text}\n", time.as_nanos())
}

/// Verdict, what was used, and the reason, from what [`case`] has printed.
pub(super) fn report(text: &str) -> Option<(bool, (Duration, u64), &str)> {
    let mut words = text.strip_prefix(MARK)?.splitn(4, ' ');
    let accepted = words.next()? == "accept";
    let time = Duration::from_nanos(words.next()?.parse().ok()?);
    let peak = words.next()?.parse().ok()?;
    Some((accepted, (time, peak), words.next()?.trim_end()))
}

/// Processor time and peak memory in KiB of a process, as the kernel tells them.
pub(super) fn used(process: &str) -> Option<(Duration, u64)> {
    let time = std::fs::read_to_string(format!("/proc/{process}/schedstat")).ok()?;
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let peak = peak.trim().trim_end_matches(" kB").parse().ok()?;
    Some((Duration::from_nanos(time.split(' ').next()?.parse().ok()?), peak))
}

fn confined<T: Send>(work: impl FnOnce() -> Result<T, String> + Send) -> Result<T, String> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
        match thread.map(|thread| thread.join()) {
            Ok(Ok(outcome)) => outcome,
            // The message of a panic stands on the error stream, and there is no report.
            _ => std::process::exit(101),
        }
    })
}

/// A specification under the strict reading: without errors it has plans for all rules, and source text.
fn compile(file: &Path) -> Result<(), String> {
    let options = SchemaOptions { strict: true, allow_missing: true, ..SchemaOptions::default() };
    let schema = Schema::load(&[file.to_owned()], &options).map_err(|e| e.to_string())?;
    if schema.has_errors() {
        return Err(schema.render(false).chars().take(400).collect());
    }
    let rules = [Rules::Ber, Rules::Aper, Rules::Uper, Rules::Oer];
    schema.plans(&rules, &[]).map_err(|e| e.to_string())?;
    schema.rust(&rules[..3], &[], &tercet::RustOptions::default()).map_err(|e| e.to_string())?;
    Ok(())
}

/// Elements without a type; by DER and CER the strict forms of identifier and length.
fn walk(rule: &str, octets: &[u8]) -> Result<(), String> {
    let rules = match rule {
        "der" => ber::Rules::Der,
        "cer" => ber::Rules::Cer,
        _ => ber::Rules::Ber,
    };
    let mut reader = ber::Reader::new(octets, rules);
    while let Some(header) = reader.next_header().map_err(|e| e.to_string())? {
        reader.skip_checked(&header).map_err(|e| e.to_string())?;
    }
    Ok(())
}

/// A message of H.248, and a complete one: a transaction without an id can be read, so that an error can be sent back,
/// and has no valid text (H.248.1 B.2). Once there is one, it is written in every encoding that can say it, and read again.
fn message(octets: &[u8]) -> Result<(), String> {
    let message = decode_any(octets).map_err(|e| e.to_string())?;
    Encoding::Compact.encode(&message, &mut Vec::new()).map_err(|e| e.to_string())?;
    for (name, encoding) in Encoding::ALL {
        let mut out = Vec::new();
        if encoding.encode(&message, &mut out).is_err() {
            continue;
        }
        match encoding.decode(&out) {
            Ok(again) if again == message => {}
            Ok(_) => misread(name, "another value"),
            Err(error) => misread(name, &error.to_string()),
        }
    }
    Ok(())
}

/// Messages of H.248 in a stream of TCP.
fn frames(mut octets: &[u8]) -> Result<(), String> {
    while !octets.is_empty() {
        let (frame, length) = take_frame(octets).map_err(|e| e.to_string())?.ok_or("a frame is cut off")?;
        message(frame)?;
        octets = &octets[length..];
    }
    Ok(())
}

/// Ends the process: what we wrote ourselves is not what we read.
fn misread(syntax: &str, what: &str) -> ! {
    let _ = writeln!(std::io::stderr(), "what was written by {syntax} is not read: {what}");
    std::process::exit(102);
}

/// A message of a client or server, in the subset of BER that RFC 4511 5.1 allows.
fn ldap(octets: &[u8]) -> Result<(), String> {
    use tercet_ldap::proto::{Entry, Framer, Limits, Reply, decode};
    let limits = Limits::default();
    let mut buffer = bytes::BytesMut::from(octets);
    let incoming = Framer::new(limits).next(&mut buffer).map_err(|e| e.to_string())?;
    let incoming = incoming.ok_or("the message is not complete")?;
    if !buffer.is_empty() {
        return Err(format!("octets follow at {}", octets.len() - buffer.len()));
    }
    decode(&incoming.octets, &limits).map_err(|e| e.to_string())?;
    match incoming.operation {
        0x64 => Entry::new(incoming.octets).map(drop).map_err(|e| e.to_string()),
        // What servers send has more to it: result codes, URLs.
        0x61 | 0x65 | 0x67 | 0x69 | 0x6B | 0x6D | 0x6F | 0x73 | 0x78 | 0x79 => {
            Reply::read(&incoming, &limits).map(drop).map_err(|e| e.to_string())
        }
        _ => Ok(()),
    }
}

/// A value, complete and within its constraints; once there is one, it is written in all ways, and read again.
fn decode(rule: &str, pdu: &str, schema: &Path, octets: &[u8]) -> Result<(), String> {
    let syntax: Rules = rule.parse().map_err(|e: tercet::UnknownRules| e.to_string())?;
    let schema = schema_of(pdu, schema)?;
    let all = [syntax.plan_rules(), Rules::Der, Rules::Uper, Rules::Oer];
    let plans = schema.plans(&all, &[pdu]).map_err(|e| e.to_string())?;
    let root = plans[0].root(pdu).ok_or("no such root")?;
    confined(|| {
        let (mut tape, options) = (Tape::new(), Options::strict(syntax.plan_rules()));
        let mut codec = TapeCodec::new(syntax, &plans[0]);
        let length = codec.read(root, octets, &mut tape, &options).map_err(|e| e.to_string())?;
        if length < octets.len() {
            return Err(format!("octets follow at {length}"));
        }
        let shape = &plans[0].shape;
        if let Some(violation) = validate::check(shape, root, tape.view(octets)).first() {
            return Err(violation.to_string());
        }
        let (mut text, mut out, mut again) = (Vec::new(), Vec::new(), Tape::new());
        json::write(shape, tape.view(octets), &mut text, &json::Options::default());
        for (plan, syntax) in plans.iter().zip([syntax, Rules::Der, Rules::Uper, Rules::Oer]) {
            out.clear();
            let mut codec = TapeCodec::new(syntax, plan);
            // A value may have no encoding elsewhere (unknown additions).
            if codec.write(tape.view(octets), &mut out).is_err() {
                continue;
            }
            match codec.read(root, &out, &mut again, &Options::strict(syntax.plan_rules())) {
                Ok(_) => {}
                // Elements without octets have a budget.
                Err(CodecError::Octets(error)) if error.kind() == ErrorKind::LimitExceeded => {}
                Err(error) => misread(&syntax.to_string(), &error.to_string()),
            }
        }
        Ok(())
    })
}

/// The manifest's own schema, or the one of ours that has the type.
fn schema_of(pdu: &str, beside: &Path) -> Result<Schema, String> {
    let load = |path: PathBuf| Schema::load(&[path], &SchemaOptions::default()).map_err(|e| e.to_string());
    let schema = load(beside.to_owned())?;
    if schema.plan(Rules::Ber, &[pdu]).is_ok() {
        Ok(schema)
    } else {
        load(corpora::repository().join("schemas"))
    }
}
