//! The commands themselves: what passes, what fails, and how it is said.

use std::path::{Path, PathBuf};

use tercet_conformance::{Tally, captures, hex, hostile, truth, vectors};

const SCHEMA: &str = "Sample DEFINITIONS ::= BEGIN
Record ::= SEQUENCE { a INTEGER, b [0] IMPLICIT OCTET STRING DEFAULT 'AB'H, c BIT STRING OPTIONAL }
File ::= [APPLICATION 1] IMPLICIT SEQUENCE { head INTEGER, list [1] EXPLICIT SEQUENCE OF Record }
END
";

/// A folder of this test with a specification below `specs/`.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(folder.join("specs")).expect("a folder");
    std::fs::write(folder.join("specs/sample.asn"), SCHEMA).expect("the specification");
    folder
}

/// The totals of a run, and what it has printed.
fn run(task: impl FnOnce(&mut Vec<u8>) -> Result<Tally, String>) -> (String, String) {
    let mut out = Vec::new();
    let tally = task(&mut out).expect("a run");
    (tally.to_string(), String::from_utf8_lossy(&out).into_owned())
}

fn run_vectors(name: &str, lines: &[&str]) -> (String, String) {
    let folder = folder(name);
    let file = folder.join("vectors.jsonl");
    std::fs::write(&file, lines.join("\n")).expect("the vectors");
    let arguments = vectors::Arguments { damage: false, specs: vec![folder], files: vec![file] };
    run(|out| vectors::run(&arguments, out))
}

#[test]
fn a_good_vector() {
    let line = r#"{"id":"good","files":["specs/sample.asn"],"module":"Sample","type":"Record",
        "value":{"a":5,"b":"ab"},"enc":{"der":{"hex":"3003020105","by":[]},"ecn":{"hex":"00"}},
        "ber_variants":[{"variant":"given","hex":"30800201058001AB0000"}]}"#
        .replace('\n', "");
    let (tally, out) = run_vectors("good", &[&line]);
    // DER: decode, encode, fixed point, places; the variant: decode and to DER; ECN is not there.
    assert_eq!(
        (tally.as_str(), out.as_str()),
        ("6 passed, 0 failed, 1 skipped", "skipped: ecn: no engine: 1\n")
    );
}

#[test]
fn wrong_vectors_are_told_apart() {
    let vector = |id: &str, value: &str, hex: &str| {
        format!(
            r#"{{"id":"{id}","files":["specs/sample.asn"],"module":"Sample","type":"Record","value":{value},"enc":{{"der":{{"hex":"{hex}"}}}}}}"#
        )
    };
    let lines = [
        vector("value", r#"{"a":6}"#, "3003020105"),
        vector("octets", r#"{"a":5}"#, "30030201"),
        vector("strict", r#"{"a":5}"#, "30060201058001AB"),
        vector("absent", r#"{"a":5,"c":{"value":"80","length":1}}"#, "3003020105"),
    ];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let (tally, out) = run_vectors("wrong", &lines);
    // Only the fixed points of the first and the last are right, and all places.
    assert_eq!(tally, "6 passed, 10 failed", "{out}");
    assert!(out.contains("FAIL value der decode: expected 6 at a, got 5"), "{out}");
    assert!(out.contains("FAIL value der encode: expected 3003020105, got 3003020106"), "{out}");
    assert_eq!(out.lines().count(), 10, "{out}");
}

#[test]
fn truth_of_records_in_a_file() {
    let folder = folder("truth");
    // 61 { 02 01 07, A1 { 30 { two records } } }; the second record is not of the fewest length octets.
    let file = hex::parse("61 13 020107 A1 0E 30 0C 3003020105 308104 02020100").expect("hex");
    let path = folder.join("file.ber");
    std::fs::write(&path, file).expect("the file");
    let write = |name: &str, lines: &[&str]| {
        let path = folder.join(name);
        std::fs::write(&path, lines.join("\n")).expect("truth");
        path
    };
    let good = write(
        "good.jsonl",
        &[
            r#"{"header":{"head":7}}"#,
            r#"{"i":0,"offset":9,"length":5,"value":{"a":5,"b":"AB"}}"#,
            r#"{"i":1,"offset":14,"length":7,"value":{"a":256}}"#,
        ],
    );
    let bad = write(
        "bad.jsonl",
        &[
            r#"{"i":0,"offset":8,"length":5,"value":{"a":5}}"#,
            r#"{"i":1,"offset":14,"length":7,"value":{"a":255}}"#,
            r#"{"i":2,"offset":21,"length":7,"value":{"a":255}}"#,
        ],
    );
    let schema = folder.join("specs/sample.asn");
    let check = |truth: &Path| {
        let arguments = truth::Arguments {
            schema: vec![schema.clone()],
            of_type: "File".to_owned(),
            records: Some("list".to_owned()),
            file: path.clone(),
            truth: truth.to_owned(),
        };
        run(|out| truth::run(&arguments, out))
    };
    assert_eq!(check(&good), ("3 passed, 0 failed".into(), String::new()));
    let (tally, out) = check(&bad);
    assert_eq!(tally, "0 passed, 3 failed", "{out}");
    assert!(out.contains("FAIL record 2: there is no such record"), "{out}");
}

#[test]
fn hostile_inputs_have_verdicts() {
    let folder = folder("hostile");
    std::fs::copy(folder.join("specs/sample.asn"), folder.join("adv.asn")).expect("the specification");
    std::fs::write(folder.join("good"), [0x30, 3, 2, 1, 5]).expect("an input");
    std::fs::write(folder.join("cut"), [0x30, 0x84, 0xFF, 0xFF, 0xFF, 0xFF, 2]).expect("an input");
    std::fs::write(folder.join("message"), "!/1 a T=1{C=1{S=t}}").expect("an input");
    std::fs::write(folder.join("nameless"), "!/1 a T={C=1{S=t}}").expect("an input");
    std::fs::write(folder.join("stream"), b"\x03\0\0\x10!/1 a PN=1{}").expect("an input");
    let row = |id: &str, codec: &str, pdu: &str, expect: &str| {
        format!(r#"{{"id":"{id}","file":"{id}","codec":"{codec}","pdu":"{pdu}","expect":{expect}}}"#)
    };
    let rows = [
        row("good", "ber/der", "Record", r#"{"ber":"accept","der":"reject","cer":"free"}"#),
        row("cut", "ber", "Record", r#"{"ber":"reject"}"#),
        row("cut", "ber", "ANY", r#"{"ber":"reject"}"#),
        row("specs/sample.asn", "asn1-source", "-", r#"{"compile":"accept"}"#),
        row("good", "asn1-source", "-", r#"{"compile":"reject"}"#),
        row("message", "h248-text", "message", r#"{"h248":"accept"}"#),
        row("nameless", "h248-text", "message", r#"{"h248":"reject"}"#),
        row("stream", "tpkt-stream", "frames", r#"{"tpkt":"accept"}"#),
        row("message", "tpkt-stream", "frames", r#"{"tpkt":"reject"}"#),
    ];
    let manifest = folder.join("manifest.jsonl");
    std::fs::write(&manifest, rows.join("\n")).expect("the manifest");
    let program = Path::new(env!("CARGO_BIN_EXE_conformance"));
    let arguments = hostile::Arguments { manifest, only: String::new() };
    let (tally, out) = run(|out| hostile::run_with(program, &arguments, out));
    assert_eq!(tally, "10 passed, 1 failed", "{out}");
    assert!(out.starts_with("good der: expected reject; it was accepted;"), "{out}");
}

#[test]
fn captures_are_compared_with_their_truth() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("captures");
    std::fs::create_dir_all(folder.join("below")).expect("a folder");
    // A packet of IP (link type 101) with a message of S1AP in SCTP.
    let packet = hex::parse(
        "4500003400000000408400000A0000010A000002 8E3C8E3C0000000700000000 0003001400000001000100000000001201020304",
    );
    let packet = packet.expect("hex");
    let mut file = hex::parse("D4C3B2A1 02000400 00000000 00000000 00000400 65000000").expect("hex");
    file.extend([[0; 4], [0; 4], [52, 0, 0, 0], [52, 0, 0, 0]].concat());
    file.extend(packet);
    std::fs::write(folder.join("below/a.pcap"), file).expect("the capture");
    let check = |truth: &[&str]| {
        std::fs::write(folder.join("below/a.pcap.truth.jsonl"), truth.join("\n")).expect("truth");
        let arguments =
            captures::Arguments { folders: vec![folder.clone()], protocol: vec![], decode_as: vec![] };
        run(|out| captures::run(&arguments, out))
    };
    let good = r#"{"frame":1,"protocol":"s1ap","octets":"01020304"}"#;
    assert_eq!(check(&[good]), ("3 passed, 0 failed".into(), String::new()));
    let optional = r#"{"protocol":"ldap","octets":"30","optional":true}"#;
    let sasl = r#"{"frame":1,"protocol":"ldap","octets":"00","sasl":true}"#;
    assert_eq!(check(&[good, optional, sasl]).0, "3 passed, 0 failed");
    let (tally, out) = check(&[r#"{"frame":2,"protocol":"s1ap","octets":"01020304"}"#]);
    assert_eq!(tally, "2 passed, 2 failed", "{out}");
    assert!(out.contains("frame 2: not found: 01020304"), "{out}");
    assert!(out.contains("frame 1: not in the truth: 01020304"), "{out}");
    let (tally, out) = check(&[good, r#"{"frame":1,"protocol":"s1ap","octets":"02","after_gap":true}"#]);
    assert_eq!((&*tally, &*out), ("3 passed, 1 failed", "after gaps: 0 of 1 found\n"));
}
