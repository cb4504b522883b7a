//! Runs the commands in Markdown files and compares what they say with what the file says.
//!
//! A block ```` ```console ```` holds commands (`$ …`, run by `sh`) and their output, standard output and error as they
//! come; `[exit 2]` stands below if the exit code is not 0. Times and rates are shown as `…`. A block
//! ```` ```asn1 file=a.asn ```` writes a file. Each Markdown file has a directory of its own in which `schemas`,
//! `examples` and `bindings` are those of the repository. `BLESS=1` writes down what the commands say now.
#![cfg(unix)]
#![expect(clippy::print_stderr, reason = "a test talks to people")]

mod docs;

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use tercet::dynamic::{FieldId, Leaf, Tape, Token};
use tercet::{Rules, Schema, SchemaOptions, TapeCodec};

const MANIFEST: &str = env!("CARGO_MANIFEST_DIR");
const TERCET: &str = env!("CARGO_BIN_EXE_tercet");

/// The guide whose commands require a JDK.
const JAVA: &str = "guide-java.md";

#[test]
fn commands_say_what_the_files_say() {
    check_all(&Path::new(MANIFEST).join("tests/cli"), "");
}

#[test]
fn guides_say_what_is_true() {
    check_all(&Path::new(MANIFEST).join("../../docs"), "guide-");
}

#[test]
fn the_guide_to_java_says_what_is_true() {
    if tercet_testing::programs("jdk", ["javac", "java"]).is_some() {
        let page = Path::new(MANIFEST).join("../../docs").join(JAVA);
        assert!(check(&page), "differs (BLESS=1 writes what is said now)");
    }
}

#[test]
fn tutorials_say_what_is_true() {
    check_all(&Path::new(MANIFEST).join("../../docs"), "tutorial-");
}

#[test]
fn the_first_pages_say_what_is_true() {
    let root = Path::new(MANIFEST).join("../..");
    for page in ["README.md", "ARCHITECTURE.md", "docs/install.md"] {
        assert!(check(&root.join(page)), "{page} differs (BLESS=1 writes what is said now)");
    }
}

fn check_all(dir: &Path, prefix: &str) {
    let mut files: Vec<PathBuf> = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| {
        let name = path.file_name().unwrap().to_string_lossy();
        name.starts_with(prefix) && name.ends_with(".md") && name != JAVA
    });
    files.sort();
    assert!(!files.is_empty(), "no case in {}", dir.display());
    let failed: Vec<_> = files.iter().filter(|path| !check(path)).collect();
    assert!(failed.is_empty(), "differs (BLESS=1 writes what is said now): {failed:#?}");
}

fn check(path: &Path) -> bool {
    let text = fs::read_to_string(path).unwrap();
    let now = run(&text);
    if now == text {
        return true;
    }
    if std::env::var_os("BLESS").is_some() {
        fs::write(path, now).unwrap();
        return true;
    }
    eprintln!("--- {}", path.display());
    let (old, new): (Vec<_>, Vec<_>) = (text.lines().collect(), now.lines().collect());
    let same = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let tail = old[same..].iter().rev().zip(new[same..].iter().rev()).take_while(|(a, b)| a == b).count();
    for line in &old[same..old.len() - tail] {
        eprintln!("-{line}");
    }
    for line in &new[same..new.len() - tail] {
        eprintln!("+{line}");
    }
    false
}

/// The file with the output that its commands give now.
fn run(text: &str) -> String {
    let dir = tempfile::tempdir().unwrap();
    for name in ["schemas", "examples", "bindings"] {
        symlink(Path::new(MANIFEST).join("../..").join(name), dir.path().join(name)).unwrap();
    }
    let mut out = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        _ = writeln!(out, "{line}");
        let Some(info) = line.strip_prefix("```") else { continue };
        let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        if let Some((_, name)) = info.split_once("file=") {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, block.join("\n") + "\n").unwrap();
        }
        if info == "console" {
            let commands = block.iter().filter_map(|line| line.strip_prefix("$ "));
            commands.for_each(|command| console(command, dir.path(), &mut out));
        } else if let Some(words) = info.strip_prefix("text tape ") {
            tape(words, dir.path(), &mut out);
        } else {
            block.iter().for_each(|line| _ = writeln!(out, "{line}"));
        }
        out.push_str("```\n");
    }
    out
}

fn console(command: &str, dir: &Path, out: &mut String) {
    _ = writeln!(out, "$ {command}");
    let bin = Path::new(TERCET).parent().unwrap();
    let path = std::env::join_paths(
        std::iter::once(bin.to_path_buf()).chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
    );
    let ran = Command::new("sh")
        .args(["-c", &format!("exec 2>&1\n{command}")])
        .current_dir(dir)
        .env("PATH", path.unwrap())
        .env("NO_COLOR", "1")
        .env("COLUMNS", "100")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ran.stdout);
    for line in said.lines() {
        _ = writeln!(out, "{}", without_times(line));
    }
    match ran.status.code() {
        Some(0) => {}
        Some(code) => _ = writeln!(out, "[exit {code}]"),
        None => out.push_str("[killed]\n"),
    }
}

/// The tape of a value in BER: `words` are a file with its module, its type and its encoding in hexadecimal.
fn tape(words: &str, dir: &Path, out: &mut String) {
    let [file, name, hex] = words.split(' ').collect::<Vec<_>>()[..] else { panic!("{words}") };
    let octet = |at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
    let octets: Vec<u8> = (0..hex.len()).step_by(2).map(octet).collect();
    let schema = Schema::load(&[dir.join(file)], &SchemaOptions::default()).unwrap();
    let plan = schema.plan(Rules::Ber, &[name]).unwrap();
    let mut tape = Tape::new();
    TapeCodec::new(Rules::Ber, &plan)
        .read(plan.root(name).unwrap(), &octets, &mut tape, &Default::default())
        .unwrap();
    for (index, token) in tape.view(&octets).tokens().enumerate() {
        let field = |field: FieldId| match field {
            FieldId::ROOT => name.to_owned(),
            field => plan.shape.name(plan.shape.field(field).name).to_owned(),
        };
        _ = match token {
            Token::Open { field: of, close, .. } => {
                writeln!(out, "{index} Open {}: closes at {close}", field(of))
            }
            Token::Close { field: of, open, .. } => {
                writeln!(out, "{index} Close {}: opens at {open}", field(of))
            }
            Token::Leaf { field: of, leaf: Leaf::Input { at, contents }, .. } => {
                writeln!(out, "{index} Leaf {}: at {at}, {contents:02X?}", field(of))
            }
            other => writeln!(out, "{index} {other:?}"),
        };
    }
}

/// `… in 0.02 s (38 MB/s)` and `"seconds": 0.02` without the numbers.
fn without_times(line: &str) -> String {
    if let Some((begin, _)) = line.split_once("\"seconds\": ") {
        return format!("{begin}\"seconds\": …");
    }
    let Some((begin, rest)) = line.split_once(" in ") else { return line.to_owned() };
    match rest.split_once(" MB/s)") {
        Some((_, rest)) => format!("{begin} in … s (… MB/s){rest}"),
        None => line.to_owned(),
    }
}
