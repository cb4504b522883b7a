//! The commands that `tercet doctor` prints run as they are printed and decode what it says.
#![cfg(unix)]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

const TERCET: &str = env!("CARGO_BIN_EXE_tercet");

/// Runs a line of a shell in a folder where `tercet` is the one under test.
fn shell(folder: &Path, line: &str) -> Output {
    let path =
        format!("{}:{}", Path::new(TERCET).parent().unwrap().display(), std::env::var("PATH").unwrap());
    Command::new("sh").current_dir(folder).env("PATH", path).args(["-c", line]).output().unwrap()
}

fn text(octets: &[u8]) -> String {
    String::from_utf8_lossy(octets).into_owned()
}

/// What doctor prints, and the commands in it.
fn doctor(folder: &Path, arguments: &str) -> (String, Option<i32>, Vec<String>) {
    let output = shell(folder, &format!("tercet doctor {arguments}"));
    let said = text(&output.stdout);
    let commands = said.lines().filter(|line| line.starts_with("tercet ")).map(str::to_owned).collect();
    (said + &text(&output.stderr), output.status.code(), commands)
}

const MODULE: &str = "Doctor DEFINITIONS IMPLICIT TAGS ::= BEGIN
  Rec ::= CHOICE { call [0] Call, data [1] Call }
  Call ::= SEQUENCE { number [0] INTEGER, text [1] IA5String OPTIONAL }
  Batch ::= [APPLICATION 1] SEQUENCE { sender [0] IA5String, events [1] SEQUENCE OF Event, total [2] INTEGER }
  Event ::= CHOICE { call [5] Call, message [6] IA5String }
  Anything ::= [5] SEQUENCE { ... }
END
";

fn element(identifier: u8, contents: &[u8]) -> Vec<u8> {
    [&[identifier, 0x82][..], &(contents.len() as u16).to_be_bytes(), contents].concat()
}

fn record(number: u8) -> Vec<u8> {
    element(0xA0, &[&element(0x80, &[number])[..], &element(0x81, b"text")].concat())
}

fn records(count: u8) -> Vec<u8> {
    (0..count).flat_map(record).collect()
}

fn extended(count: u8) -> Vec<u8> {
    let one = |number: u8| element(0xA0, &[&element(0x80, &[number])[..], &[0x9E, 1, 1]].concat());
    (0..count).flat_map(one).collect()
}

fn batch(count: u8) -> Vec<u8> {
    let event = |number: u8| element(0xA5, &element(0x80, &[number]));
    let events: Vec<u8> = (0..count).flat_map(event).collect();
    element(0x61, &[&element(0x80, b"ABC")[..], &element(0xA1, &events), &[0x82, 1, count]].concat())
}

#[test]
fn printed_commands_run_as_printed() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path();
    fs::write(folder.join("it's a spec.asn"), MODULE).unwrap();
    let prefixed: Vec<u8> =
        (0..9).flat_map(|number| [&19_u16.to_be_bytes()[..], &record(number)].concat()).collect();
    assert_eq!(record(0).len(), 17);
    let prefixed = prefixed.chunks(19).flat_map(|one| [&[0, 17], &one[2..]].concat()).collect::<Vec<_>>();
    for (name, octets, word, rows) in [
        ("plain records.ber", records(7), "framing", 7),
        ("-o.ber", records(3), "-t", 3),
        ("$(touch x).ber", prefixed, "u16be", 9),
        ("extended.ber", extended(8), "--unknown keep", 8),
        ("batch.ber", batch(20), "--records events", 20),
    ] {
        fs::write(folder.join(name), octets).unwrap();
        let (said, code, commands) = doctor(folder, &format!("-s 'it'\\''s a spec.asn' ./'{name}'"));
        assert_eq!((code, commands.len()), (Some(0), 1), "{name}: {said}");
        assert!(said.contains(word), "{name}: {said}");
        let output = shell(folder, &commands[0]);
        assert_eq!(output.status.code(), Some(0), "{}: {}", commands[0], text(&output.stderr));
        assert_eq!(text(&output.stdout).lines().count(), rows, "{}", commands[0]);
        assert!(!folder.join("x").exists());
    }
}

#[test]
fn files_of_several_kinds_get_a_line_each_and_a_command_for_each_kind() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path();
    fs::write(folder.join("a.asn"), MODULE).unwrap();
    fs::create_dir(folder.join("in")).unwrap();
    for (name, octets) in [
        ("one.ber", records(5)),
        ("two.ber", records(6)),
        ("batch.ber", batch(30)),
        ("new.ber", extended(4)),
        ("trace.pcap", vec![0xD4, 0xC3, 0xB2, 0xA1, 2, 0, 4, 0]),
    ] {
        fs::write(folder.join("in").join(name), octets).unwrap();
    }
    let (said, code, commands) = doctor(folder, "-s a.asn in");
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("in/trace.pcap: a packet capture (pcap), not a record file\n"), "{said}");
    assert!(said.contains("2 files: type Doctor.Rec, framing plain\n"), "{said}");
    assert_eq!(commands.len(), 3, "{said}");
    let rows: Vec<usize> = commands
        .iter()
        .map(|command| {
            let output = shell(folder, command);
            assert_eq!(output.status.code(), Some(0), "{command}: {}", text(&output.stderr));
            text(&output.stdout).lines().count()
        })
        .collect();
    assert_eq!(rows.iter().sum::<usize>(), 5 + 6 + 30 + 4, "{said}");
}

#[test]
fn without_a_specification_files_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path();
    fs::write(folder.join("records.ber"), records(9)).unwrap();
    let sender =
        element(0x64, &[0x5F, 0x81, 0x44, 2, b'A', b'B', 0x5F, 0x81, 0x49, 1, 3, 0x5F, 0x81, 0x3D, 1, 12]);
    fs::write(folder.join("batch.tap"), element(0x61, &sender)).unwrap();
    let (said, code, commands) = doctor(folder, "records.ber batch.tap");
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("records.ber: BER; 9 elements"), "{said}");
    assert!(said.contains("batch.tap: TAP 3.12 batch (TD.57)"), "{said}");
    for command in commands {
        assert_eq!(shell(folder, &command).status.code(), Some(0), "{command}");
    }
    fs::write(folder.join("trace.pcapng"), [0x0A, 0x0D, 0x0D, 0x0A, 0, 0, 0, 28]).unwrap();
    let (said, code, _) = doctor(folder, "trace.pcapng");
    assert_eq!(code, Some(4), "{said}");
    assert!(said.contains("a packet capture of 0 packets: no messages of known protocols"), "{said}");
}

#[test]
fn a_type_that_accepts_anything_is_not_preferred() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path();
    let module = MODULE.replace("END\n", "Open ::= [0] SEQUENCE { a [50] NULL OPTIONAL, ... }\nEND\n");
    fs::write(folder.join("a.asn"), module).unwrap();
    // One record is damaged: the type that accepts anything fits more of them.
    let mut file = records(9);
    file.extend(element(0xA0, &element(0x81, b"no number")));
    fs::write(folder.join("records.ber"), file).unwrap();
    let output = shell(folder, "tercet convert -s a.asn records.ber -f jsonl");
    let said = text(&output.stderr);
    assert!(said.contains("type `Doctor.Rec`: fits 9 of the first 10 records"), "{said}");
    let (said, _, commands) = doctor(folder, "-s a.asn records.ber");
    assert!(commands[0].contains("-t Doctor.Rec "), "{said}");
}

#[test]
fn rejects_for_private_extensions_name_the_option() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path();
    fs::write(folder.join("a.asn"), MODULE).unwrap();
    fs::write(folder.join("new.ber"), [records(2), extended(2)].concat()).unwrap();
    let output = shell(folder, "tercet convert -s a.asn -t Rec new.ber -o out.jsonl");
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("--unknown keep"), "{}", text(&output.stderr));
    let rejects = fs::read_to_string(folder.join("out.jsonl.rejects.jsonl")).unwrap();
    assert!(rejects.lines().all(|line| line.contains("--unknown keep")), "{rejects}");
    let output = shell(folder, "tercet convert -s a.asn -t Rec --unknown keep new.ber");
    assert_eq!(text(&output.stdout).lines().count(), 4);
    assert!(!text(&output.stderr).contains("--unknown"), "{}", text(&output.stderr));
}

#[test]
fn a_record_above_the_limit_is_rejected_whole_and_named() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path();
    fs::write(folder.join("a.asn"), MODULE).unwrap();
    let large = element(0xA0, &[&element(0x80, &[1])[..], &element(0x81, &[b'x'; 5000])].concat());
    fs::write(folder.join("a.ber"), [records(4), large.clone(), records(4)].concat()).unwrap();
    let output = shell(folder, "tercet convert -s a.asn -t Rec --record-limit 1000 a.ber -o out.jsonl");
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(
        said.contains("an element is longer than the limit") && !said.contains("framing found"),
        "{said}"
    );
    assert_eq!(fs::read_to_string(folder.join("out.jsonl")).unwrap().lines().count(), 8);
    assert_eq!(fs::read(folder.join("out.jsonl.rejects")).unwrap(), large);
}

#[test]
fn records_larger_than_the_sample_are_found_and_fit() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path();
    fs::write(folder.join("a.asn"), MODULE).unwrap();
    let long = |identifier: u8, contents: &[u8]| {
        [&[identifier, 0x84][..], &(contents.len() as u32).to_be_bytes(), contents].concat()
    };
    let events =
        element(0xA5, &[&element(0x80, &[1])[..], &element(0x81, &[b'x'; 1000])].concat()).repeat(3000);
    let sender = element(0x80, b"ABC");
    let batch = long(0x61, &[&sender[..], &long(0xA1, &events), &[0x82, 1, 9]].concat());
    fs::write(folder.join("batch.ber"), &batch).unwrap();
    let (said, code, commands) = doctor(folder, "-s a.asn batch.ber");
    assert_eq!(code, Some(0), "{said}");
    assert!(commands[0].contains("-t Doctor.Batch --records events"), "{said}");
    assert_eq!(text(&shell(folder, &commands[0]).stdout).lines().count(), 3000);
    // Tags are found by trial, whatever the size of the one value.
    fs::write(folder.join("explicit.asn"), MODULE.replace("IMPLICIT", "EXPLICIT")).unwrap();
    let output = shell(folder, "tercet convert -s explicit.asn -t Batch batch.ber -f jsonl -o out.jsonl");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("--tags implicit"), "{}", text(&output.stderr));
}
