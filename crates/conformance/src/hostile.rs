//! `cargo conformance hostile`: inputs made to hurt, each with the verdict that it needs.
//!
//! A manifest has one JSON record a line: `id`, `file` (below the manifest's folder), `codec` (what kind of input it
//! is), `pdu` (a type of `adv.asn` beside the manifest, or of a module that we ship), and `expect` with a verdict for
//! each rule: `accept`, `reject`, or `free`, where either will do. Every check runs in a process of its own with little
//! stack, an address space of 4 GB and a time limit; what ends otherwise than with a verdict has failed, and so has one
//! that took too much time or memory.

use std::io::{Read as _, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::exceptions::Exceptions;
use crate::{Tally, corpora};

mod case;

pub use case::case;

/// Wall time after which a process is ended.
const PATIENCE: Duration = Duration::from_secs(30);
/// Processor time that a check may take.
const TIME: Duration = Duration::from_secs(2);
/// Peak memory that a check may have, in KiB, beyond what its input pays for.
const MEMORY: u64 = 64 << 10;
/// Peak memory that a specification may need, in KiB (promise 12).
const COMPILER_MEMORY: u64 = 512 << 10;
/// Octets of memory for one octet of input.
const FACTOR: u64 = 32;
/// Octets that the text of an error may have.
const MESSAGE: usize = 512;

/// Which inputs are looked at.
#[derive(clap::Args, Clone, Debug)]
pub struct Arguments {
    /// List of inputs with the verdict that each needs
    #[arg(long, value_name = "FILE.jsonl")]
    pub manifest: PathBuf,
    /// Only inputs whose ids begin so
    #[arg(long, value_name = "PREFIX", default_value = "")]
    pub only: String,
}

/// Looks at hostile inputs, each in a process of this program of its own; each failure is one line of `out`.
///
/// # Errors
/// The manifest cannot be read.
pub fn run(options: &Arguments, out: &mut impl Write) -> Result<Tally, String> {
    run_with(&std::env::current_exe().map_err(|e| e.to_string())?, options, out)
}

/// The same with another program that has the task `hostile-case`.
///
/// # Errors
/// As [`run`].
pub fn run_with(program: &Path, options: &Arguments, out: &mut impl Write) -> Result<Tally, String> {
    let Arguments { manifest, only } = options;
    let folder = manifest.parent().unwrap_or_else(|| Path::new("."));
    let exceptions = Exceptions::load(&corpora::repository().join("tests/hostile-exceptions.toml"))?;
    let mut tally = Tally::default();
    for (i, line) in corpora::read_text(manifest)?.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let row: Value =
            serde_json::from_str(line).map_err(|e| format!("{}:{}: {e}", manifest.display(), i + 1))?;
        let text = |key: &str| row[key].as_str().unwrap_or_default();
        if !text("id").starts_with(only.as_str()) {
            continue;
        }
        for (rule, expected) in row["expect"].as_object().into_iter().flatten() {
            let expected = expected.as_str().unwrap_or_default();
            let check =
                Check { codec: text("codec"), rule, pdu: text("pdu"), file: folder.join(text("file")) };
            let outcome = observe(check.command(program, folder)?);
            let Err(why) = outcome.judge(&check, expected) else {
                tally.passed += 1;
                continue;
            };
            let line = format!("{} {rule}: expected {expected}; {why}; {outcome}", text("id"));
            if let Some(reason) = exceptions.find(text("id"), rule) {
                let _ = writeln!(out, "exception: {line}: {reason}");
                tally.skipped += 1;
            } else {
                let _ = writeln!(out, "{line}");
                tally.failed += 1;
            }
        }
    }
    Ok(tally)
}

/// One input under one rule.
struct Check<'a> {
    codec: &'a str,
    rule: &'a str,
    pdu: &'a str,
    file: PathBuf,
}

impl Check<'_> {
    /// What to run.
    fn command(&self, program: &Path, folder: &Path) -> Result<Vec<String>, String> {
        let file = self.file.to_string_lossy().into_owned();
        let words = match self.codec {
            "cdr-file" => {
                let tercet = program.with_file_name("tercet");
                if !tercet.exists() {
                    return Err("the command is not there: cargo build --release -p tercet".to_owned());
                }
                let schema = folder.join("adv.asn");
                let words = ["convert", "--schema", &schema.to_string_lossy(), "--type", self.pdu, &file];
                [&tercet.to_string_lossy()]
                    .into_iter()
                    .map(ToString::to_string)
                    .chain(words.map(str::to_owned))
                    .collect()
            }
            _ => {
                let schema = folder.join("adv.asn");
                let words = ["hostile-case", self.rule, self.pdu, &file, &schema.to_string_lossy()];
                std::iter::once(program.to_string_lossy().into_owned())
                    .chain(words.map(str::to_owned))
                    .collect()
            }
        };
        Ok(words)
    }

    fn is_compiler(&self) -> bool {
        self.rule == "compile"
    }
}

/// What came of a process.
struct Outcome {
    verdict: Option<bool>,
    /// The reason of a rejection, or how it ended.
    text: String,
    time: Duration,
    /// KiB.
    peak: u64,
}

impl std::fmt::Display for Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let verdict = match self.verdict {
            Some(true) => "accepted",
            Some(false) => "rejected",
            None => "no verdict",
        };
        let text: String = self.text.chars().take(200).collect();
        write!(
            f,
            "{verdict}, {:.2} s, {} KiB: {}",
            self.time.as_secs_f64(),
            self.peak,
            text.replace('\n', " / ")
        )
    }
}

impl Outcome {
    fn judge(&self, check: &Check<'_>, expected: &str) -> Result<(), String> {
        let size = std::fs::metadata(&check.file).map_or(0, |data| data.len());
        let most = if check.is_compiler() { COMPILER_MEMORY } else { MEMORY + FACTOR * size / 1024 };
        let wrong = match (self.verdict, expected) {
            (None, _) => Some("it ended without a verdict"),
            (Some(false), "accept") => Some("it was rejected"),
            (Some(true), "reject") => Some("it was accepted"),
            (_, "accept" | "reject" | "free") => None,
            _ => Some("there is no such verdict"),
        };
        if let Some(wrong) = wrong {
            return Err(wrong.to_owned());
        }
        if self.time > TIME {
            return Err("it took too long".into());
        }
        if self.peak > most {
            return Err(format!("it took more than {most} KiB"));
        }
        let told = self.verdict == Some(false) && !check.is_compiler() && check.codec != "cdr-file";
        if told && (self.text.is_empty() || self.text.len() > MESSAGE) {
            return Err(format!("its message has {} octets", self.text.len()));
        }
        Ok(())
    }
}

/// Runs a command within bounds. Its processor time and its peak are those that the kernel counts for it, sampled while it
/// runs; a case of ours tells them itself at its end.
fn observe(words: Vec<String>) -> Outcome {
    let mut outcome = Outcome { verdict: None, text: String::new(), time: Duration::ZERO, peak: 0 };
    let mut shell = Command::new("sh");
    shell.args(["-c", "ulimit -v 4194304; ulimit -s 8192; exec \"$0\" \"$@\" 2>&1"]).args(words);
    let child = shell.stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
    let Ok(mut child) = child else {
        "it could not be started".clone_into(&mut outcome.text);
        return outcome;
    };
    let pipe = child.stdout.take();
    let reader = std::thread::spawn(move || {
        let mut text = Vec::new();
        let _ = pipe.map(|pipe| pipe.take(1 << 20).read_to_end(&mut text));
        String::from_utf8_lossy(&text).into_owned()
    });
    let began = Instant::now();
    let status = loop {
        if let Some(used) = case::used(&child.id().to_string()) {
            (outcome.time, outcome.peak) = used;
        }
        match child.try_wait() {
            Ok(Some(status)) => break Some(status),
            Ok(None) if began.elapsed() < PATIENCE => std::thread::sleep(Duration::from_millis(2)),
            _ => {
                let _ = child.kill();
                let _ = child.wait();
                break None;
            }
        }
    };
    let text = reader.join().unwrap_or_default();
    if let Some((verdict, used, said)) = case::report(&text) {
        outcome.verdict = Some(verdict);
        (outcome.time, outcome.peak) = used;
        outcome.text = said.to_owned();
        return outcome;
    }
    // Exit codes of the command: 0 good, 1 unfit specification, 2 and 3 rejected, 4 broken input.
    outcome.verdict = match status.and_then(|status| status.code()) {
        Some(0) => Some(true),
        Some(1..=4) if !text.contains("panicked") => Some(false),
        _ => None,
    };
    outcome.text = match status {
        None => format!("ended after {} s", PATIENCE.as_secs()),
        Some(status) => format!("{status}: {text}"),
    };
    outcome
}
