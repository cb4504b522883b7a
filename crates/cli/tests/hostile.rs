//! Inputs that are made to hurt: memory stays bounded, the words are clear, the exit code is right.
#![cfg(unix)]

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output};

const TERCET: &str = env!("CARGO_BIN_EXE_tercet");
const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Octets that inputs come to once they are unpacked.
const SIZE: usize = 512 << 20;
/// Address space of a run in KiB: less than the input comes to, as much as threads and their stacks take.
const SPACE: &str = "400000";

/// Bytes that a run may leave behind: what is said of 65,536 rejects, and of the batch that ends with the last of them.
const WRITTEN: u64 = 96 << 20;

/// Octets over and over, compressed.
fn packed(octets: &[u8], size: usize) -> Vec<u8> {
    let block = octets.repeat((1 << 20) / octets.len());
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    for _ in 0..size / block.len() {
        encoder.write_all(&block).unwrap();
    }
    encoder.finish().unwrap()
}

/// Converts an input with little memory.
fn convert(folder: &Path, input: &[u8], more: &str) -> (Output, String) {
    let path = folder.join("input");
    std::fs::write(&path, input).unwrap();
    let script = format!(
        "ulimit -v {SPACE}; exec {TERCET} convert -s schemas/demo -t CallRecord -f csv -j 2 {more} -o {} {}",
        folder.join("out.csv").display(),
        path.display()
    );
    let output = Command::new("sh").current_dir(REPOSITORY).args(["-c", &script]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    (output, said)
}

fn check(name: &str, input: &[u8], more: &str, exit: i32, words: &str) {
    let folder = tempfile::tempdir().unwrap();
    let (output, said) = convert(folder.path(), input, more);
    assert_eq!(output.status.code(), Some(exit), "{name}: {said}");
    assert!(said.contains(words), "{name}: {said}");
    let written = |entry: std::io::Result<std::fs::DirEntry>| entry.unwrap().metadata().unwrap().len();
    let written: u64 = std::fs::read_dir(folder.path()).unwrap().map(written).sum();
    assert!(written < WRITTEN, "{name}: {written} bytes");
}

#[test]
fn what_unpacks_to_very_much_takes_little_memory() {
    check("zeros", &packed(&[0], SIZE), "", 3, "nothing but filler");
    check("ones", &packed(&[0xFF], SIZE), "", 3, "nothing but filler");
    check("letters", &packed(b"no record", SIZE), "", 3, "nothing in the first");
    check("records", &packed(&[0xA2, 0x02, 0x80, 0x00], SIZE), "", 3, "nothing in the first");
    // One record that would be as large as all that follows.
    let mut claim = vec![0xA2, 0x84, 0x7F, 0xFF, 0xFF, 0xF0];
    claim.extend([0x5A; 1000]);
    check("a claim", &packed(&claim, SIZE), "", 3, "nothing in the first");
    // Compressed twice: both are unpacked.
    check("twice", &packed(&packed(&[0], 64 << 20), 1 << 20), "", 3, "nothing but filler");
}

#[test]
fn elements_inside_one_another_are_no_records() {
    for begin in [[0x30, 0x80], [0xA2, 0x80], [0xA0, 0x80]] {
        check("nested", &begin.repeat(500_000), "", 3, "no records found in");
    }
}

#[test]
fn records_of_another_type_are_told() {
    let calls = std::fs::read(Path::new(REPOSITORY).join("examples/calls.ber")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let module = folder.path().join("other.asn");
    std::fs::write(&module, "M DEFINITIONS ::= BEGIN R ::= SEQUENCE { n INTEGER, s OCTET STRING } END")
        .unwrap();
    let path = folder.path().join("input");
    std::fs::write(&path, calls.repeat(10)).unwrap();
    let output = Command::new(TERCET)
        .args(["convert", "-t", "R", "-f", "csv", "-o"])
        .arg(folder.path().join("out.csv"))
        .arg("-s")
        .arg(&module)
        .arg(&path)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("no records found in"), "{said}");
}
