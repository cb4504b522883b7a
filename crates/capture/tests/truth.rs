//! Captures of the corpora against what is known to be in them.

mod common;

use std::fs;
use std::io::Read;
use std::path::Path;
use tercet_capture::protocols;

/// Opens a file, whatever it is packed with.
fn open(path: &Path) -> Box<dyn Read> {
    let file = fs::File::open(path).unwrap();
    match path.extension().and_then(|it| it.to_str()) {
        Some("gz") => Box::new(flate2::read::MultiGzDecoder::new(file)),
        Some("zst") => Box::new(zstd::Decoder::new(file).unwrap()),
        _ => Box::new(file),
    }
}

/// The messages of the protocols that are read here: frame, protocol, octets, and whether they are cut.
fn truth(path: &Path, others: &mut usize) -> Vec<String> {
    let text = fs::read_to_string(format!("{}.truth.jsonl", path.display())).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let lines = lines.filter_map(|line| {
        let protocol = line["protocol"].as_str().unwrap();
        if !protocols().iter().any(|it| it.name == protocol) {
            *others += 1;
            return None;
        }
        let partial = if line["partial"] == true { " partial" } else { "" };
        Some(format!("{} {protocol} {}{partial}", line["frame"], line["octets"].as_str().unwrap()))
    });
    lines.collect()
}

/// Captures whose messages are in TCP.
const TCP: [&str; 1] = ["tcp-h248-text-tpkt.pcap"];

/// Compares all captures of a folder; returns how many messages there were.
fn compare(folder: &str) -> Option<usize> {
    let folder = tercet_testing::corpora(&format!("captures/{folder}"))?;
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.with_file_name(format!("{}.truth.jsonl", name(path))).exists());
    paths.sort();
    assert!(!paths.is_empty());
    let (mut count, mut others) = (0, 0);
    for path in &paths {
        if TCP.contains(&&*name(path)) {
            continue;
        }
        let expected = truth(path, &mut others);
        let (pdus, faults, balance) = common::read(open(path));
        assert_eq!(pdus, expected, "{}: {faults:?} {balance:?}", path.display());
        count += pdus.len();
    }
    Some(count)
}

fn name(path: &Path) -> String {
    path.file_name().unwrap().to_string_lossy().into_owned()
}

#[test]
fn made_captures_give_what_was_put_into_them() {
    let Some(count) = compare("made") else { return };
    assert!(count >= 300, "{count}");
}

#[test]
fn real_captures_of_s1ap_and_ngap_give_what_wireshark_finds() {
    let Some(count) = compare("nas-ran") else { return };
    assert!(count >= 1400, "{count}");
}

#[test]
fn other_real_captures_give_no_messages_that_are_not_there() {
    for folder in
        ["layers", "negative", "sctp-frag", "exported", "gsmtap", "krb-snmp", "mms-goose", "h323-h248-gtpp"]
    {
        compare(folder);
    }
}

#[test]
fn floods_of_fragments_stay_within_the_limit() {
    for name in ["flood-ip-fragments.pcap", "flood-sctp-first-fragments.pcap"] {
        let Some(path) = tercet_testing::corpora(&format!("captures/made/{name}")) else { return };
        let mut options = tercet_capture::Options::default();
        options.memory_limit = 100 << 10;
        let (pdus, _, balance) = common::read_with(open(&path), options);
        assert_eq!(pdus.len(), 1, "{name}");
        assert!(balance.given_up > 2000, "{name}: {balance:?}");
        assert!(balance.incomplete > 0, "{name}: {balance:?}");
    }
}
