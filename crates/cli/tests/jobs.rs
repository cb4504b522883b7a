//! Several threads write what one writes, octet for octet, damaged files included.
#![cfg(unix)]

use std::fs;
use std::path::Path;
use std::process::Command;

const TERCET: &str = env!("CARGO_BIN_EXE_tercet");

/// Octets that two threads share out several times over.
const SIZE: usize = 6 << 20;

/// Numbers that look random: the same each time.
fn numbers(mut state: u64) -> impl FnMut(usize) -> usize {
    move |below| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below as u64) as usize
    }
}

/// Concatenated records of the demo schema, made up; and where each begins.
fn records(folder: &Path) -> (Vec<u8>, Vec<usize>) {
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas/demo");
    let made = Command::new(TERCET)
        .args(["sample", "CallRecord", "-n", "500", "--rules", "ber", "-o"])
        .arg(folder.join("samples"))
        .arg("-s")
        .arg(&schema)
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let samples = fs::read(folder.join("samples")).unwrap();
    let mut sizes = Vec::new();
    let mut rest = &samples[..];
    while let [_, length, ..] = rest {
        let size = match *length {
            0x81 => 3 + usize::from(rest[2]),
            0x82 => 4 + usize::from(u16::from_be_bytes([rest[2], rest[3]])),
            0x83 => 5 + (usize::from(rest[2]) << 16 | usize::from(u16::from_be_bytes([rest[3], rest[4]]))),
            length => 2 + usize::from(length),
        };
        sizes.push(size);
        rest = &rest[size..];
    }
    let (mut file, mut begins) = (Vec::new(), Vec::new());
    let mut number = numbers(7);
    let offsets: Vec<usize> =
        sizes.iter().scan(0, |at, size| Some(std::mem::replace(at, *at + size))).collect();
    while file.len() < SIZE {
        let which = number(sizes.len());
        begins.push(file.len());
        file.extend_from_slice(&samples[offsets[which]..][..sizes[which]]);
        if number(50) == 0 {
            file.extend([0xFF; 40].iter().take(number(40)));
        }
    }
    (file, begins)
}

/// What a conversion leaves in a folder, by the names of files, and its exit code.
fn converted(input: &Path, jobs: &str, format: &str) -> (Option<i32>, Vec<(String, Vec<u8>)>) {
    let folder = tempfile::tempdir().unwrap();
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas/demo");
    let status = Command::new(TERCET)
        .args(["convert", "-t", "CallRecord", "-q", "--framing", "plain", "-j", jobs, "-f", format])
        .arg("-s")
        .arg(&schema)
        .arg("-o")
        .arg(folder.path().join("rows"))
        .arg("--summary")
        .arg(folder.path().join("summary"))
        .arg(input)
        .output()
        .unwrap()
        .status;
    let entries = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = entries
        .map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), fs::read(&path).unwrap()))
        .collect();
    files.sort();
    for (name, octets) in &mut files {
        if name == "summary" {
            let mut summary: serde_json::Value = serde_json::from_slice(octets).unwrap();
            summary["seconds"].take();
            summary["inputs"][0]["seconds"].take();
            *octets = summary.to_string().into_bytes();
        }
    }
    (status.code(), files)
}

fn same(name: &str, file: &[u8], format: &str, exit: i32) {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("calls.ber");
    fs::write(&input, file).unwrap();
    let one = converted(&input, "1", format);
    assert_eq!(one.0, Some(exit), "{name}");
    for jobs in ["2", "5"] {
        let several = converted(&input, jobs, format);
        assert_eq!(one.0, several.0, "{name} with {jobs} threads");
        for (a, b) in one.1.iter().zip(&several.1) {
            assert!(a == b, "{name} with {jobs} threads: {} and {} differ", a.0, b.0);
        }
        assert_eq!(one.1.len(), several.1.len(), "{name} with {jobs} threads");
    }
}

#[test]
fn rows_do_not_depend_on_the_number_of_threads() {
    let folder = tempfile::tempdir().unwrap();
    let (file, begins) = records(folder.path());
    for format in ["jsonl", "csv", "xml"] {
        same(format, &file, format, 0);
    }
    // The last record is cut; octets of records are lost, turned, put in; records are of another type.
    same("cut", &file[..file.len() - 3], "jsonl", 2);
    for seed in 1..=6 {
        let mut number = numbers(seed * 7919);
        let mut damaged = file.clone();
        for _ in 0..1 + number(6) {
            let begin = begins[number(begins.len())];
            match number(4) {
                0 => damaged[begin + 2] ^= 0x5A,
                1 => damaged[begin] = 0x31,
                2 => drop(damaged.splice(begin..begin + 1 + number(30), [])),
                _ => drop(damaged.splice(begin..begin, (0..1 + number(90)).map(|octet| octet as u8))),
            }
        }
        same(&format!("damage {seed}"), &damaged, "jsonl", 2);
    }
}
