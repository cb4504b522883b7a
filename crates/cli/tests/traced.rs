//! What records and inputs are known by, how octets are written, and rejects of which nothing is kept.
#![cfg(unix)]

use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use arrow_array::cast::AsArray;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Converts `input` of a folder to a file there.
fn convert(folder: &Path, input: &str, output: &str, options: &[&str]) -> Output {
    let schema = root().join("schemas/demo");
    Command::new(env!("CARGO_BIN_EXE_tercet"))
        .current_dir(folder)
        .args(["convert", "-s", schema.to_str().unwrap(), "-t", "CallRecord", input, "-o", output])
        .args(options)
        .output()
        .unwrap()
}

fn examples() -> (tempfile::TempDir, Vec<u8>) {
    let folder = tempfile::tempdir().unwrap();
    let octets = fs::read(root().join("examples/calls.ber")).unwrap();
    fs::write(folder.path().join("calls.ber"), &octets).unwrap();
    (folder, octets)
}

fn hex(octets: &[u8]) -> String {
    octets.iter().map(|octet| format!("{octet:02x}")).collect()
}

#[test]
fn records_are_known_by_their_octets() {
    let (folder, octets) = examples();
    let trace = ["--provenance", "--record-hash", "--quiet"];
    let run = |output: &str, more: &[&str]| {
        let done = convert(folder.path(), "calls.ber", output, &[&trace[..], more].concat());
        assert_eq!(done.status.code(), Some(0), "{}", String::from_utf8_lossy(&done.stderr));
        fs::read(folder.path().join(output)).unwrap()
    };
    let rows = String::from_utf8(run("calls.jsonl", &[])).unwrap();
    let rows: Vec<Value> = rows.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let known: Vec<_> = rows
        .iter()
        .map(|row| {
            let at = row["_offset"].as_u64().unwrap() as usize;
            Sha256::digest(&octets[at..at + row["_length"].as_u64().unwrap() as usize])
        })
        .collect();
    assert_eq!(known.len(), 24);
    for (row, known) in rows.iter().zip(&known) {
        assert_eq!(row["_sha256"], hex(known));
    }
    let csv = String::from_utf8(run("calls.csv", &["--columns", "choice"])).unwrap();
    assert!(csv.starts_with("_file,_record,_offset,_length,_sha256,choice\n"), "{csv}");
    for (row, known) in csv.lines().skip(1).zip(&known) {
        assert_eq!(row.split(',').nth(4), Some(&*hex(known)));
    }
    for (options, is_text) in [(&["--jobs", "1"][..], false), (&["--octets", "hex"], true)] {
        let parquet = bytes::Bytes::from(run("calls.parquet", options));
        let mut reader = ParquetRecordBatchReaderBuilder::try_new(parquet).unwrap().build().unwrap();
        let batch = reader.next().unwrap().unwrap();
        let column = batch.column_by_name("_sha256").unwrap();
        for (row, known) in known.iter().enumerate() {
            if is_text {
                assert_eq!(column.as_string::<i32>().value(row), hex(known));
            } else {
                assert_eq!(column.as_binary::<i32>().value(row), &known[..]);
            }
        }
    }
    let refused = convert(folder.path(), "calls.ber", "calls.csv", &["--record-hash"]);
    assert_eq!(refused.status.code(), Some(1));
}

#[test]
fn inputs_are_known_by_their_octets() {
    let (folder, octets) = examples();
    let known = hex(&Sha256::digest(&octets));
    let summary = folder.path().join("summary");
    let run = |output: &str, more: &[&str]| {
        let options = [&["--summary", summary.to_str().unwrap(), "--quiet"], more].concat();
        let done = convert(folder.path(), "calls.ber", output, &options);
        assert_eq!(done.status.code(), Some(0), "{}", String::from_utf8_lossy(&done.stderr));
        serde_json::from_slice::<Value>(&fs::read(&summary).unwrap()).unwrap()
    };
    assert_eq!(run("calls.csv", &[])["inputs"][0].get("sha256"), None);
    assert_eq!(run("calls.csv", &["--hash-inputs"])["inputs"][0]["sha256"], *known);
    run("out/", &["--hash-inputs", "--resume", "-f", "csv"]);
    let line: Value =
        serde_json::from_slice(&fs::read(folder.path().join("out/tercet-run.jsonl")).unwrap()).unwrap();
    assert_eq!(line["sha256"], *known);
    // The outputs do not depend on it.
    assert_eq!(run("out/", &["--resume", "-f", "csv"])["resumed"], 1);
}

#[test]
fn rejects_may_be_counted_only() {
    let (folder, mut octets) = examples();
    octets[48] = 0x9E;
    fs::write(folder.path().join("damaged.ber"), &octets).unwrap();
    let run = |more: &[&str]| {
        let options = [&["--unknown", "error", "--summary", "summary"], more].concat();
        let done = convert(folder.path(), "damaged.ber", "out.csv", &options);
        assert_eq!(done.status.code(), Some(2));
        let summary: Value =
            serde_json::from_slice(&fs::read(folder.path().join("summary")).unwrap()).unwrap();
        let counted = (&summary["rejects"], &summary["octets"]["rejected"], &summary["records"]);
        assert_eq!(counted, (&1.into(), &59.into(), &23.into()));
        let files =
            ["out.csv.rejects", "out.csv.rejects.jsonl"].map(|name| folder.path().join(name).exists());
        (String::from_utf8(done.stderr).unwrap(), files, fs::read(folder.path().join("out.csv")).unwrap())
    };
    let (said, files, rows) = run(&[]);
    assert!(said.contains("rejected bytes are in out.csv.rejects") && files == [true; 2]);
    // Those of the run before are no longer true.
    let (said, files, same) = run(&["--skip-rejects"]);
    assert!(said.contains("59 octets rejected at 46") && !said.contains("rejected bytes are in"), "{said}");
    assert_eq!((files, same), ([false; 2], rows));
    let refused = convert(folder.path(), "damaged.ber", "out.csv", &["--skip-rejects", "--rejects", "r"]);
    assert_eq!(refused.status.code(), Some(1));
}

#[test]
fn octets_are_written_as_told() {
    let (folder, _) = examples();
    let run = |output: &str, more: &[&str]| {
        let options = [&["--where", "choice=sms", "--quiet"], more].concat();
        let done = convert(folder.path(), "calls.ber", output, &options);
        assert_eq!(done.status.code(), Some(0), "{}", String::from_utf8_lossy(&done.stderr));
        fs::read(folder.path().join(output)).unwrap()
    };
    // 99790000206572F6 and its halves by `base64`, and by a calculation of the number.
    for (options, expected) in [
        (&["--render", "none"][..], "99790000206572F6"),
        (&["--render", "none", "--octets", "hex"], "99790000206572f6"),
        (&["--render", "none", "--octets", "base64"], "mXkAACBlcvY="),
        (&["--render", "none", "--render", "servedIMSI=base64"], "mXkAACBlcvY="),
    ] {
        let row = run("a.jsonl", options);
        let row: Value = serde_json::from_slice(row.split(|o| *o == b'\n').next().unwrap()).unwrap();
        assert_eq!(row["sms"]["servedIMSI"], expected, "{options:?}");
        let csv =
            String::from_utf8(run("a.csv", &[options, &["--columns", "sms.servedIMSI"]].concat())).unwrap();
        assert_eq!(csv.lines().nth(1), Some(expected), "{options:?}");
    }
    let options = ["--render", "none", "--octets", "base64", "--columns", "sms.servedIMSI"];
    let parquet = bytes::Bytes::from(run("a.parquet", &options));
    let mut reader = ParquetRecordBatchReaderBuilder::try_new(parquet).unwrap().build().unwrap();
    let batch = reader.next().unwrap().unwrap();
    let sms = batch.column_by_name("sms").unwrap().as_struct();
    assert_eq!(sms.column(0).as_string::<i32>().value(0), "mXkAACBlcvY=");
}
