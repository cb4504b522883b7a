//! Records that have been there before are left out: on any number of threads, over runs, and over runs that are killed.
#![cfg(unix)]

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

const TERCET: &str = env!("CARGO_BIN_EXE_tercet");
const MODULE: &str = "M DEFINITIONS ::= BEGIN R ::= SEQUENCE { n INTEGER, s OCTET STRING } END";

/// Numbers that look random: the same each time.
fn numbers(mut state: u64) -> impl FnMut(u64) -> u64 {
    move |below| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % below
    }
}

fn record(number: u32) -> Vec<u8> {
    let size = (number % 20) as u8;
    let mut octets = vec![0x30, 8 + size, 2, 4];
    octets.extend(number.to_be_bytes());
    octets.extend([4, size]);
    octets.resize(10 + usize::from(size), 0x5A);
    octets
}

fn file(numbers: &[u32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| record(*number)).collect()
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.asn"), MODULE).unwrap();
    folder
}

fn convert(folder: &Path, arguments: &str) -> Command {
    let mut command = Command::new(TERCET);
    command.current_dir(folder).args(["convert", "-s", "a.asn", "-t", "R", "-q", "--framing", "plain"]);
    command.args(["-f", "csv", "--columns", "n"]).args(arguments.split(' '));
    command
}

fn run(folder: &Path, arguments: &str) -> Output {
    convert(folder, arguments).output().unwrap()
}

fn rows(octets: &[u8]) -> Vec<u32> {
    str::from_utf8(octets).unwrap().lines().skip(1).map(|line| line.parse().unwrap()).collect()
}

fn converted(folder: &Path, arguments: &str) -> Vec<u32> {
    let output = run(folder, arguments);
    assert_eq!(output.status.code(), Some(0), "{arguments}: {}", String::from_utf8_lossy(&output.stderr));
    rows(&output.stdout)
}

#[test]
fn the_first_one_stays_on_any_number_of_threads() {
    let folder = folder();
    let mut random = numbers(3);
    let all: Vec<u32> = (0..100_000).map(|_| random(80_000) as u32).collect();
    for damaged in [0, 12] {
        let broken: HashSet<usize> = (0..damaged).map(|_| random(100_000) as usize).collect();
        let mut octets = Vec::new();
        for (index, number) in all.iter().enumerate() {
            let begin = octets.len();
            octets.extend(record(*number));
            if broken.contains(&index) {
                octets[begin + 2] = 5;
            }
        }
        fs::write(folder.path().join("a.ber"), octets).unwrap();
        for (more, most) in
            [("--dedupe", u32::MAX), ("--dedupe=n", u32::MAX), ("--dedupe --where n<60000", 60_000)]
        {
            // What is no record, or left out for another reason, has not been there.
            let mut seen = HashSet::new();
            let records = all.iter().enumerate().filter(|(index, _)| !broken.contains(index));
            let wanted = records.map(|(_, number)| *number).filter(|number| *number < most);
            let expected: Vec<u32> = wanted.filter(|number| seen.insert(*number)).collect();
            for jobs in ["1", "2", "5"] {
                let output = run(folder.path(), &format!("{more} -j {jobs} a.ber"));
                assert_eq!(output.status.code(), Some(if damaged > 0 { 2 } else { 0 }));
                assert!(rows(&output.stdout) == expected, "{more} with {jobs} threads, {damaged} damaged");
            }
        }
    }
}

#[test]
fn files_tell_later_runs() {
    let folder = folder();
    let write = |name: &str, numbers: &[u32]| fs::write(folder.path().join(name), file(numbers)).unwrap();
    write("a.ber", &[1, 2, 3, 2]);
    write("b.ber", &[3, 4, 5]);
    write("c.ber", &[1, 5, 6]);
    let with = |inputs: &str| converted(folder.path(), &format!("--dedupe --dedupe-file seen {inputs}"));
    assert_eq!(with("a.ber"), [1, 2, 3]);
    assert_eq!(with("b.ber"), [4, 5]);
    // The same run once more gives the same; other inputs have all been there.
    assert_eq!(with("a.ber"), [1, 2, 3]);
    assert_eq!(with("b.ber"), [4, 5]);
    assert_eq!(with("a.ber c.ber"), [6]);
    assert!(with("a.ber b.ber").is_empty());
    // What comes from a pipe comes once.
    for expected in [&[7][..], &[]] {
        let mut command = convert(folder.path(), "--dedupe --dedupe-file seen -");
        let pipe = format!("printf '\\060\\010\\002\\004\\000\\000\\000\\007\\004\\000' | {TERCET}");
        let words: Vec<String> = command.get_args().map(|word| format!("'{}'", word.display())).collect();
        let shell = ["-c", &format!("{pipe} {}", words.join(" "))].map(str::to_owned);
        command = Command::new("sh");
        let output = command.current_dir(folder.path()).args(shell).output().unwrap();
        assert_eq!(rows(&output.stdout), expected, "{}", String::from_utf8_lossy(&output.stderr));
    }
    // A run that fails adds nothing.
    write("d.ber", &[8, 9]);
    let failed = run(folder.path(), "--dedupe --dedupe-file seen -o nowhere/out.csv d.ber");
    assert_eq!(failed.status.code(), Some(4));
    assert_eq!(with("d.ber a.ber"), [8, 9]);
    fs::write(folder.path().join("notes"), "This is something else.\n").unwrap();
    for (arguments, said) in [
        (
            "--dedupe=n --dedupe-file seen a.ber",
            "seen: the records in this file are known by other components",
        ),
        ("--dedupe --dedupe-file notes a.ber", "notes: not a file that `--dedupe-file` has written"),
        ("--dedupe --resume -o out/ a.ber", "`--dedupe` requires a file"),
        ("--dedupe-file seen a.ber", "--dedupe"),
    ] {
        let output = run(folder.path(), arguments);
        assert_ne!(output.status.code(), Some(0));
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(errors.contains(said), "{errors}");
    }
}

/// The rows of each output of a folder.
fn outputs(folder: &Path) -> BTreeMap<String, Vec<u32>> {
    let Ok(entries) = fs::read_dir(folder) else { return BTreeMap::new() };
    let paths = entries.map(|entry| entry.unwrap().path()).filter(|path| path.extension().unwrap() == "csv");
    let named = |path: std::path::PathBuf| {
        (path.file_name().unwrap().to_string_lossy().into_owned(), rows(&fs::read(&path).unwrap()))
    };
    paths.map(named).collect()
}

#[test]
fn a_run_that_is_killed_goes_on_without_loss_or_doubles() {
    let folder = folder();
    let mut random = numbers(11);
    fs::create_dir(folder.path().join("inputs")).unwrap();
    let (mut seen, mut expected) = (HashSet::new(), BTreeMap::new());
    for index in 0..20 {
        let numbers: Vec<u32> = (0..6_000).map(|_| random(60_000) as u32).collect();
        let name = format!("{index:02}.ber");
        fs::write(folder.path().join("inputs").join(&name), file(&numbers)).unwrap();
        let fresh: Vec<u32> = numbers.into_iter().filter(|number| seen.insert(*number)).collect();
        expected.insert(format!("{name}.csv"), fresh);
    }
    let (output, arguments) = (folder.path().join("out"), "--dedupe --dedupe-file seen -o out/ inputs");
    let done = run(folder.path(), &format!("{arguments} --skip-existing"));
    assert_eq!(done.status.code(), Some(0), "{}", String::from_utf8_lossy(&done.stderr));
    assert!(outputs(&output) == expected);
    // How often a run is killed; more by hand.
    let kills = std::env::var("TERCET_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(10);
    for kill in 0..kills {
        if kill % 3 == 0 {
            fs::remove_dir_all(&output).unwrap();
            fs::remove_file(folder.path().join("seen")).unwrap();
        }
        let arguments = format!("{arguments} {}", if kill % 2 == 0 { "--resume" } else { "--skip-existing" });
        let mut child = convert(folder.path(), &arguments).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_micros(random(150_000)));
        child.kill().unwrap();
        child.wait().unwrap();
        for (name, rows) in outputs(&output) {
            assert!(expected[&name] == rows, "{name} after {kill} kills");
        }
        if kill % 3 == 2 {
            assert_eq!(run(folder.path(), &arguments).status.code(), Some(0));
            assert!(outputs(&output) == expected, "after {kill} kills");
        }
    }
}
