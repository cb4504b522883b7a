//! Disks that fail: a clear error, no half file under its name, and the same result from the next run.
//!
//! `strace` makes system calls fail; where it does not exist or is not allowed to, these tests are skipped.
#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

const TERCET: &str = env!("CARGO_BIN_EXE_tercet");
const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// System calls of each kind that are made to fail, one in each run.
const MOST: usize = 12;

fn convert(inputs: &Path, output: &Path, before: &[&str]) -> Output {
    let (program, words) = match before.split_first() {
        Some((program, words)) => (*program, [words, &[TERCET]].concat()),
        None => (TERCET, Vec::new()),
    };
    let mut command = Command::new(program);
    command.current_dir(REPOSITORY).args(words);
    command.args([
        "convert",
        "-s",
        "schemas/demo",
        "-t",
        "CallRecord",
        "--framing",
        "plain",
        "-f",
        "csv",
        "-q",
        "-j",
        "1",
    ]);
    command.args(["--resume", "-o"]).arg(format!("{}/", output.display())).arg(inputs);
    command.output().unwrap()
}

/// The outputs by name, without the manifest.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let Ok(entries) = fs::read_dir(folder) else { return BTreeMap::new() };
    let paths = entries.map(|entry| entry.unwrap().path());
    let named = |path: std::path::PathBuf| {
        (path.file_name().unwrap().to_string_lossy().into_owned(), fs::read(&path).unwrap())
    };
    paths.map(named).filter(|(name, _)| name != "tercet-run.jsonl").collect()
}

/// A folder of inputs, one of them damaged; nothing if calls cannot be made to fail here.
fn inputs(folder: &Path) -> Option<std::path::PathBuf> {
    let probe = Command::new("strace").args(["-qq", "-e", "inject=fsync:error=EIO", "true"]).output();
    if !probe.is_ok_and(|output| output.status.success()) {
        tercet_testing::skip("strace", "no strace that may inject faults");
        return None;
    }
    let inputs = folder.join("inputs");
    fs::create_dir(&inputs).unwrap();
    let calls = fs::read(Path::new(REPOSITORY).join("examples/calls.ber")).unwrap();
    fs::write(inputs.join("a.ber"), &calls).unwrap();
    let mut damaged = calls.repeat(20);
    damaged[0] ^= 0x1F;
    fs::write(inputs.join("b.ber"), damaged).unwrap();
    Some(inputs)
}

/// Runs with one call failing, the first, the second and so on, each followed by a run without; `check` judges the first.
fn with_faults(call: &str, fault: &str, mut check: impl FnMut(&Output)) {
    let folder = tempfile::tempdir().unwrap();
    let Some(inputs) = inputs(folder.path()) else { return };
    let whole = folder.path().join("whole");
    assert_eq!(convert(&inputs, &whole, &[]).status.code(), Some(2));
    let expected = files(&whole);
    assert_eq!(expected.len(), 4);

    let output = folder.path().join("output");
    let mut hits = 0;
    let log = folder.path().join("log");
    let trace = format!("trace={call}");
    let traced = ["strace", "-f", "-qq", "-y", "-o", log.to_str().unwrap(), "-e", &trace];
    // Parts have names that nobody knows before: which calls are about the outputs is seen in a run without faults.
    convert(&inputs, &output, &traced);
    let numbers = calls_about(&output, &fs::read_to_string(&log).unwrap());
    fs::remove_dir_all(&output).unwrap();
    for number in numbers.into_iter().take(MOST) {
        let name = format!("{call} number {number}: {fault}");
        let inject = format!("inject={call}:{fault}:when={number}");
        let strace = [&traced[..], &["-e", &inject]].concat();
        let failed = convert(&inputs, &output, &strace);
        let traced = fs::read_to_string(&log).unwrap();
        let hit = traced.contains("(INJECTED)") || traced.contains("+++ killed by");
        hits += usize::from(hit);
        for (file, octets) in files(&output) {
            if !file.ends_with(".part") {
                assert!(expected.get(&file) == Some(&octets), "{name}: {file} is not what it should be");
            } else if !fault.starts_with("signal") {
                panic!("{name}: {file} is left");
            }
        }
        if hit {
            check(&failed);
        }
        let again = convert(&inputs, &output, &[]);
        assert_eq!(again.status.code(), Some(2), "{name}: {}", String::from_utf8_lossy(&again.stderr));
        assert!(files(&output) == expected, "{name}: the next run leaves something else");
        fs::remove_dir_all(&output).unwrap();
    }
    assert!(hits > 0, "no {call} was hit");
}

/// The numbers of the calls of the main thread that are about a folder, in what `strace` has logged of a run; the first call has 1.
fn calls_about(folder: &Path, log: &str) -> Vec<usize> {
    let folder = folder.display().to_string();
    let calls = || log.lines().filter_map(|line| line.split_once(' '));
    let main = calls().next().map_or("", |(thread, _)| thread);
    let calls = calls().filter(|(thread, _)| *thread == main).zip(1..);
    // Files that are read are no matter of the disk that outputs go to.
    let is_written = |call: &str| call.contains(&folder) && !call.contains("O_RDONLY");
    calls.filter(|((_, call), _)| is_written(call)).map(|(_, number)| number).collect()
}

/// The command says what has failed and where, and gives the exit code of faults of the system.
fn is_told(words: &'static str) -> impl FnMut(&Output) {
    move |output| {
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(4), "{said}");
        assert!(said.contains(words), "{said}");
        assert!(said.contains(".csv") || said.contains("tercet-run.jsonl"), "no file is named: {said}");
    }
}

#[test]
fn a_full_disk_is_told() {
    with_faults("write", "error=ENOSPC", is_told("No space left on device"));
    with_faults("openat", "error=ENOSPC", is_told("No space left on device"));
}

#[test]
fn a_broken_disk_is_told() {
    with_faults("write", "error=EIO", is_told("Input/output error"));
    with_faults("fsync", "error=EIO", is_told("Input/output error"));
    with_faults("rename", "error=EIO", is_told("Input/output error"));
}

#[test]
fn calls_that_are_interrupted_are_made_again() {
    let good = |output: &Output| {
        assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stderr));
    };
    for call in ["write", "openat", "fsync"] {
        with_faults(call, "error=EINTR", good);
    }
}

#[test]
fn a_run_that_is_killed_at_any_call_is_resumed() {
    for call in ["write", "fsync", "rename"] {
        with_faults(call, "signal=KILL", |output| assert_ne!(output.status.code(), Some(0)));
    }
}
