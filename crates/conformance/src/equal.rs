//! Generated code against the plan engine: for each specification a program is printed, built and run; the same octets
//! have to give the same values, the same octets and the same errors.

mod cases;
mod class_file;
pub(crate) mod java;
mod program;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tercet::codegen::{Codecs, Serde};
use tercet::{CodecError, Rules, RustOptions, Schema, TapeCodec};
use tercet_dynamic::{Encoder, ErrorKind, NodeId, Options, Plan, Tape, Value, json};

use cases::{Case, Origin, cases};

use crate::corpora::{repository, with_gaps};
use crate::hex;
use crate::tally::Tally;

/// The rules that are compared, with the types that stand for them.
pub(crate) const RULES: [(Rules, &str); 10] = [
    (Rules::Ber, "Ber"),
    (Rules::Der, "Der"),
    (Rules::Cer, "Cer"),
    (Rules::Aper, "Aper"),
    (Rules::Uper, "Uper"),
    (Rules::CanonicalAper, "CanonicalAper"),
    (Rules::CanonicalUper, "CanonicalUper"),
    (Rules::Oer, "Oer"),
    (Rules::Coer, "Coer"),
    (Rules::Jer, "Jer"),
];

/// Samples of each type that are run at once.
const BATCH: usize = 100;

/// What the program is told of values in BER that it is to write by other rules: the number of those, and this.
const FOREIGN: usize = 100;

/// The rules that codecs are printed for.
const PRINTED: [Rules; 5] = [Rules::Ber, Rules::Aper, Rules::Uper, Rules::Oer, Rules::Jer];

/// The rules that stand for some when codecs are printed.
pub(crate) fn codecs_for(rules: Rules) -> Rules {
    match rules {
        Rules::Der | Rules::Cer => Rules::Ber,
        Rules::CanonicalAper => Rules::Aper,
        Rules::CanonicalUper => Rules::Uper,
        Rules::Coer => Rules::Oer,
        other => other,
    }
}

/// A language of generated code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Language {
    /// Rust.
    #[default]
    Rust,
    /// Java, of which the classes have no method that the virtual machine would not compile.
    Java,
}

impl Arguments {
    /// Whether encodings of rules are compared.
    fn compares(&self, rules: Rules) -> bool {
        self.language.prints(rules) && (self.rules.is_empty() || self.rules.contains(&rules))
    }
}

impl Language {
    /// Whether there are codecs for rules.
    fn prints(self, rules: Rules) -> bool {
        match self {
            Self::Rust => !rules.is_text(),
            Self::Java => tercet::codegen::JAVA_RULES.contains(&rules),
        }
    }
}

/// What is compared.
#[derive(clap::Args, Clone, Debug)]
pub struct Arguments {
    /// The language of the code
    #[arg(long, value_enum, default_value_t = Language::Rust)]
    pub language: Language,
    /// Samples of each type
    #[arg(long, default_value_t = 20)]
    pub count: usize,
    /// The rules that are compared; all unless specified
    #[arg(long, value_name = "RULES", value_delimiter = ',')]
    pub rules: Vec<Rules>,
    /// Types of each specification
    #[arg(long, default_value_t = 8)]
    pub types: usize,
    /// The types, by name
    #[arg(long = "root", value_name = "MODULE.TYPE")]
    pub roots: Vec<String>,
    /// Number that the choices follow from
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Print and build only
    #[arg(long)]
    pub build_only: bool,
    /// Compare JSON by serde with JER
    #[arg(long)]
    pub jer: bool,
    /// Let codecs of PER follow tables
    #[arg(long)]
    pub small: bool,
    /// Specifications, or folders of them; those of the tests, of the benches and the traps unless specified
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
}

/// What came of a specification.
#[derive(Clone, Debug, Default)]
struct Outcome {
    lines: usize,
    /// Values that came back as the same.
    values: Tally,
    /// Damaged encodings: the same verdict; of those that both refuse, the same kind, the same place and the same path.
    verdicts: Tally,
    kinds: Tally,
    places: Tally,
    paths: Tally,
    /// Values read in BER, most of which break a constraint, that are written by other rules as the same octets, or
    /// refused by both; of those, for the same reason on the same path.
    written: Tally,
    refused: Tally,
    /// Texts that are those of JER, and are read again as the same value.
    texts: Tally,
    /// What differs: how often, and the first of its kind.
    faults: BTreeMap<String, (usize, String)>,
}

/// Prints a row for each path.
///
/// # Errors
/// The arguments.
pub fn run(options: &Arguments, out: &mut dyn std::io::Write) -> Result<Tally, String> {
    let mut all = Tally::default();
    let mut say = |text: String| out.write_all(text.as_bytes()).map_err(|error| error.to_string());
    let columns = ["lines", "values", "verdicts", "kinds", "places", "paths", "written", "refused", "texts"];
    say(format!("{:<28} {}\n", "specification", columns.map(|name| format!("{name:>11}")).join(" ")))?;
    let paths = if options.paths.is_empty() { every_path() } else { options.paths.clone() };
    for path in &paths {
        let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        match of_path(path, &name, options) {
            Ok(outcome) => {
                let part = |tally: Tally| format!("{}/{}", tally.passed, tally.passed + tally.failed);
                let Outcome {
                    lines,
                    values,
                    verdicts,
                    kinds,
                    places,
                    paths,
                    written,
                    refused,
                    texts,
                    faults,
                } = outcome;
                let row = [values, verdicts, kinds, places, paths, written, refused, texts].map(part);
                let row = row.map(|text| format!("{text:>11}")).join(" ");
                say(format!("{name:<28.28} {lines:>11} {row}\n"))?;
                for (kind, (count, first)) in faults {
                    say(format!("    {count:>5} {kind}\n          {first:.1600}\n"))?;
                }
                for tally in [values, verdicts, written, refused, texts] {
                    all.passed += tally.passed;
                    all.failed += tally.failed;
                }
                all.passed += 1;
            }
            Err(error) if error == "has errors" => {
                all.skipped += 1;
                say(format!("{name:<28.28} {error}\n"))?;
            }
            Err(error) => {
                all.failed += 1;
                say(format!("{name:<28.28} {error:.2000}\n"))?;
            }
        }
    }
    Ok(all)
}

/// The specifications of the tests and, with the corpora, of the benches, and the traps.
fn every_path() -> Vec<PathBuf> {
    let tests = repository().join("crates/conformance/tests/generated");
    let mut paths: Vec<PathBuf> =
        ["zoo.asn", "leaves.asn", "depths.asn", "names.asn"].map(|name| tests.join(name)).into();
    paths.push(repository().join("schemas/demo"));
    for folder in ["asn1/bench/specs", "asn1/traps"] {
        let corpora = tercet_testing::find_corpora().unwrap_or_default();
        let entries = std::fs::read_dir(corpora.join(folder)).into_iter().flatten().flatten();
        let mut found: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        found.retain(|path| match path.extension() {
            Some(extension) => extension == "asn1",
            None => folder.ends_with("specs") && path.is_dir(),
        });
        found.sort();
        paths.append(&mut found);
    }
    paths
}

fn of_path(path: &Path, name: &str, settings: &Arguments) -> Result<Outcome, String> {
    let schema = Schema::load(&[path.to_path_buf()], &with_gaps()).map_err(|error| error.to_string())?;
    if schema.has_errors() {
        return Err("has errors".to_owned());
    }
    let mut roots: Vec<String> = schema.outermost().into_iter().map(|(name, _)| name).collect();
    let step = roots.len().div_ceil(settings.types.max(1)).max(1);
    roots = match settings.roots.is_empty() {
        true => roots.into_iter().step_by(step).collect(),
        false => settings.roots.clone(),
    };
    let names: Vec<&str> = roots.iter().map(String::as_str).collect();
    let mut options = RustOptions::default();
    if settings.jer {
        options.overlay.serde = Serde::Always;
    }
    if settings.small {
        options.overlay.codecs = Codecs::Small;
    }
    // The program in Rust has codecs for all rules; values in BER are written by all.
    let is_needed = |rules: Rules| {
        settings.language == Language::Rust
            || rules == Rules::Ber
            || RULES.iter().any(|(known, _)| settings.compares(*known) && codecs_for(*known) == rules)
    };
    let printed: Vec<Rules> =
        PRINTED.into_iter().filter(|rules| settings.language.prints(*rules) && is_needed(*rules)).collect();
    let told = |error: tercet::RustError| error.to_string();
    let (program, lines) = match settings.language {
        Language::Rust => {
            let text = schema.rust(&printed, &names, &options).map_err(told)?;
            let program = program::build(name, &text, &roots, settings.jer)?;
            (Command::new(program), text.lines().count())
        }
        Language::Java => {
            let files = schema.java(&printed, &names, Some("generated"), &options).map_err(told)?;
            let lines = files.iter().map(|file| file.text.lines().count()).sum();
            (java::build(name, &[java::Unit { files, roots: roots.clone() }])?, lines)
        }
    };
    let mut outcome = Outcome { lines, ..Outcome::default() };
    if settings.build_only {
        return Ok(outcome);
    }
    let plans = schema.plans(&RULES.map(|(syntax, _)| syntax.plan_rules()), &names);
    let plans = plans.map_err(|error| error.to_string())?;
    // All cases of a batch are in memory.
    let mut batch = settings.clone();
    let mut program = program;
    for begun in (0..settings.count).step_by(BATCH) {
        batch.count = BATCH.min(settings.count - begun);
        batch.seed = settings.seed.wrapping_add(begun as u64);
        run_batch(&plans, &roots, &batch, &mut program, &mut outcome)?;
    }
    Ok(outcome)
}

fn run_batch(
    plans: &[Plan],
    roots: &[String],
    settings: &Arguments,
    program: &mut Command,
    outcome: &mut Outcome,
) -> Result<(), String> {
    let cases = cases(plans, roots, settings, outcome);
    let text = cases.iter().fold(String::new(), |mut text, case| {
        let rules = if case.origin == Origin::Foreign { FOREIGN + case.rules } else { case.rules };
        _ = writeln!(text, "{} {rules} {}", case.root, hex::show(&case.octets));
        text
    });
    let answers = answers(program, text)?;
    for (case, answer) in cases.iter().zip(&answers) {
        compare(plans, roots, case, answer, outcome);
    }
    if answers.len() < cases.len() {
        outcome.values.failed += cases.len() - answers.len();
        let case = &cases[answers.len()];
        let (root, syntax) = (&roots[case.root], RULES[case.rules].0);
        outcome.fault("the program ended", || format!("{root} {syntax} {}", hex::show(&case.octets)));
    }
    Ok(())
}

/// The line that the program answers to each line of a text.
pub(crate) fn answers(command: &mut Command, text: String) -> Result<Vec<String>, String> {
    let told = |error: std::io::Error| error.to_string();
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(told)?;
    let mut input = child.stdin.take().ok_or("no input")?;
    let writer = std::thread::spawn(move || input.write_all(text.as_bytes()));
    let said = child.wait_with_output().map_err(told)?;
    // A program that has ended early is told by what it did not answer.
    _ = writer.join();
    Ok(String::from_utf8_lossy(&said.stdout).lines().map(str::to_owned).collect())
}

fn compare(plans: &[Plan], roots: &[String], case: &Case, answer: &str, outcome: &mut Outcome) {
    let (syntax, plan) = (RULES[case.rules].0, &plans[case.rules]);
    let Some(root) = plan.root(&roots[case.root]) else { return };
    if case.origin == Origin::Foreign {
        return compare_written(plans, &roots[case.root], root, case, answer, outcome);
    }
    // A path in a text may have spaces; behind it stands what is wrong.
    let (answer, detail) = answer.split_once('\t').unwrap_or((answer, ""));
    let mut words: Vec<&str> = answer.splitn(5, ' ').collect();
    let mut engine = read(plan, syntax, root, &case.octets, false);
    let path = words.get(4).copied().unwrap_or_default();
    // A type in Rust may be too narrow for what breaks a constraint: then the engine has to see that it is broken.
    if matches!(words[..], ["read", "integer-range" | "constraint-violated" | "unknown-enumeration", ..])
        && let Err(fault) = read(plan, syntax, root, &case.octets, true)
    {
        if syntax.is_text() && (engine.is_err() || fault.kind != "text" && fault.path == path) {
            // Where a constraint is broken in a text is known to the generated code alone.
            return outcome.verdicts.count(true);
        }
        if fault.kind == "constraint-violated" {
            words[1] = fault.kind;
        }
        engine = Err(fault);
    }
    let engine = engine;
    let shown = || format!("{} {syntax} {}", roots[case.root], hex::show(&case.octets));
    let damaged = case.origin == Origin::Damaged;
    let tally = if damaged { &mut outcome.verdicts } else { &mut outcome.values };
    match (&engine, words[0]) {
        (Ok((value, length)), "ok") => {
            let again = hex::parse(words.get(2).copied().unwrap_or_default()).unwrap_or_default();
            let canonical = matches!(
                syntax,
                Rules::Der | Rules::Cer | Rules::CanonicalAper | Rules::CanonicalUper | Rules::Coer
            ) && !damaged;
            let same = words[1] == length.to_string()
                && if canonical {
                    again == case.octets
                } else {
                    read(plan, syntax, root, &again, false).is_ok_and(|(other, _)| other == *value)
                        || rewritten(plan, syntax, root, &case.octets).is_some_and(|octets| octets == again)
                };
            tally.count(same);
            if let Some(text) = words.get(3).filter(|_| !damaged) {
                let text = hex::parse(text).unwrap_or_default();
                let expected = jer(plan, root, &case.octets);
                outcome.texts.count(text == expected);
                if text != expected {
                    outcome.fault("jer: another text", || {
                        let [text, expected] = [&text, &expected].map(|text| String::from_utf8_lossy(text));
                        format!(
                            "{} {}: {text:.600}, the engine {expected:.600}",
                            roots[case.root],
                            hex::show(&case.octets)
                        )
                    });
                }
            }
            if !same {
                let kind = format!("{syntax}: another value");
                outcome.fault(&kind, || format!("{}: written as {}", shown(), hex::show(&again)));
            }
        }
        (Err(Fault { kind, at, bit, path: expected, detail: told }), "read") => {
            tally.count(true);
            if told != detail {
                outcome.kinds.count(false);
                outcome.fault(&format!("{syntax}: another message"), || {
                    format!("{}: {told}, generated {detail}", shown())
                });
            }
            // The engine checks constraints when all is read: of two faults it meets the one of the encoding first. Then what
            // it has read until there has to break the constraint.
            let is_range = matches!(words[1], "integer-range" | "constraint-violated");
            if is_range && *kind != words[1] && breaks(plan, syntax, root, &case.octets, path) {
                outcome.kinds.count(true);
                return;
            }
            let place = words[2] == at.to_string() && words[3] == bit.to_string();
            outcome.kinds.count(*kind == words[1]);
            outcome.places.count(place);
            if *kind != words[1] || !place {
                let other = if place { "" } else { ", at another place" };
                outcome.fault(&format!("{syntax}: {kind}, generated {}{other}", words[1]), || {
                    format!("{}: at {at}.{bit}, generated {}.{}", shown(), words[2], words[3])
                });
            }
            // Of two faults each has a path of its own.
            if *kind == words[1] && place {
                outcome.paths.count(expected == path);
                if expected != path {
                    outcome.fault(&format!("{syntax}: {kind} on another path"), || {
                        format!("{}: {expected}, generated {path}", shown())
                    });
                }
            }
        }
        // What was read and breaks a constraint that the encoding rests on is written by none of them.
        (Ok(_), "write") if rewritten(plan, syntax, root, &case.octets).is_none() => tally.count(true),
        (engine, _) => {
            tally.count(false);
            let engine = match engine {
                Ok(_) => "a value".to_owned(),
                Err(Fault { kind, at, bit, .. }) => format!("{kind} at {at}.{bit}"),
            };
            let kind = engine.split(" at ").next().unwrap_or_default();
            let generated =
                words.get(..2).map_or(answer, |_| if words[0] == "ok" { "a value" } else { words[1] });
            outcome.fault(&format!("{syntax}: {kind}, generated {generated}"), || {
                format!("{}: {engine}, generated {answer}", shown())
            });
        }
    }
}

/// A value that was read in BER and is to be written by other rules.
fn compare_written(
    plans: &[Plan],
    name: &str,
    root: NodeId,
    case: &Case,
    answer: &str,
    outcome: &mut Outcome,
) {
    let (syntax, plan) = (RULES[case.rules].0, &plans[case.rules]);
    let words: Vec<&str> = answer.split(' ').collect();
    let mut tape = Tape::new();
    let mut options = Options::default();
    options.strict_enumerations = true;
    let decoded = tercet_dynamic::decode(&plans[0], root, &case.octets, &mut tape, &options);
    // A type in Rust may be too narrow for what breaks a constraint.
    if decoded.is_err() || words[0] == "read" {
        return;
    }
    let mut octets = Vec::new();
    let mut encoder = Encoder::new().with_foreign_octets(true);
    let engine = if syntax.is_text() {
        let written = TapeCodec::new(syntax, plan).write(tape.view(&case.octets), &mut octets);
        written.map_err(|error| match error {
            CodecError::Octets(error) => error,
            CodecError::Text(_) => tercet_dynamic::Error::new(ErrorKind::ValueMismatch, 0),
        })
    } else {
        encoder.encode(plan, syntax.plan_rules(), tape.view(&case.octets), &mut octets)
    };
    let shown = || format!("{name} ber {}", hex::show(&case.octets));
    match (engine, words[0]) {
        (Ok(()), "ok") => {
            let again = words.get(2).copied().unwrap_or_default();
            // The engine leaves it to the sender whether a DEFAULT is written, where the rules do.
            let value = |octets: &[u8]| read(plan, syntax, root, octets, false).ok().map(|(value, _)| value);
            let same = again == hex::show(&octets)
                || value(&hex::parse(again).unwrap_or_default()) == value(&octets)
                // A string whose content is too large for its type in Java stays bits.
                || syntax.is_text()
                    && !tercet_dynamic::validate::check(&plan.shape, root, tape.view(&case.octets)).is_empty();
            outcome.written.count(same);
            if !same {
                outcome.fault(&format!("{syntax}: written from BER as another value"), || {
                    format!("{}: {again}, the engine {}", shown(), hex::show(&octets))
                });
            }
        }
        (Err(error), "write") => {
            outcome.written.count(true);
            let is_same_kind = words.get(1) == Some(&error.kind().name());
            // Of several constraints that are not met, each writer meets the first one on its way through the value.
            let is_violated = |path: &str| {
                let violations = tercet_dynamic::validate::check(&plan.shape, root, tape.view(&case.octets));
                violations.iter().any(|violation| violation.path == path)
            };
            let same =
                is_same_kind && words.get(4).is_some_and(|path| *path == error.path() || is_violated(path));
            outcome.refused.count(same);
            if !same {
                outcome
                    .fault(&format!("{syntax}: not written for another reason or on another path"), || {
                        format!("{}: {} {}, generated {answer}", shown(), error.kind().name(), error.path())
                    });
            }
        }
        (engine, _) => {
            outcome.written.count(false);
            outcome.fault(&format!("{syntax}: another verdict on what is to be written"), || {
                format!("{}: {engine:?}, generated {answer}", shown())
            });
        }
    }
}

impl Outcome {
    fn fault(&mut self, kind: &str, first: impl FnOnce() -> String) {
        self.faults.entry(kind.to_owned()).or_insert_with(|| (0, first())).0 += 1;
    }
}

/// What the engine makes of an encoding when it writes its value again.
fn rewritten(plan: &Plan, syntax: Rules, root: NodeId, octets: &[u8]) -> Option<Vec<u8>> {
    let mut tape = Tape::new();
    let mut options = Options::default();
    options.rules = syntax.plan_rules();
    TapeCodec::new(syntax, plan).read(root, octets, &mut tape, &options).ok()?;
    let mut out = Vec::new();
    TapeCodec::new(syntax, plan).write(tape.view(octets), &mut out).ok()?;
    Some(out)
}

/// The JSON that the engine writes of a value in DER: with the components of a SET as they are declared, which is how its
/// own reader gives them.
fn jer(plan: &Plan, root: NodeId, octets: &[u8]) -> Vec<u8> {
    let (mut tape, mut again) = (Tape::new(), Tape::new());
    let mut options = json::Options::default();
    options.instructions = false;
    let mut decoding = Options::default();
    decoding.rules = Rules::Der;
    let (mut text, mut out) = (Vec::new(), Vec::new());
    if tercet_dynamic::decode(plan, root, octets, &mut tape, &decoding).is_ok() {
        json::write(&plan.shape, tape.view(octets), &mut text, &options);
        if json::read(&plan.shape, root, &text, &mut again, &options).is_ok() {
            json::write(&plan.shape, again.view(&[]), &mut out, &options);
        }
    }
    out
}

/// Why the engine does not read an encoding.
struct Fault {
    kind: &'static str,
    at: u64,
    bit: u8,
    path: String,
    /// What is wrong with a text.
    detail: String,
}

/// Whether what can be read of an encoding in front of its fault breaks a constraint at a path.
fn breaks(plan: &Plan, syntax: Rules, root: NodeId, octets: &[u8], path: &str) -> bool {
    let mut options = Options::default();
    options.strict_enumerations = true;
    options.rules = syntax.plan_rules();
    let (mut tape, mut codec) = (Tape::new(), TapeCodec::new(syntax, plan));
    let Err(fault) = codec.read(root, octets, &mut tape, &options) else { return false };
    codec.finish_partial(root, octets, &mut tape, &options, &fault)
        && tercet_dynamic::validate::check(&plan.shape, root, tape.view(octets))
            .iter()
            .any(|violation| violation.path == path)
}

fn read(
    plan: &Plan,
    syntax: Rules,
    root: NodeId,
    octets: &[u8],
    constrained: bool,
) -> Result<(Value, usize), Fault> {
    let mut options = Options::default();
    options.check_constraints = constrained;
    options.fill_defaults = true;
    // An enumeration in Rust has no place for other numbers, unless it is extensible.
    options.strict_enumerations = true;
    let mut tape = Tape::new();
    let rules = syntax.plan_rules();
    options.rules = rules;
    if syntax.is_text() {
        return read_text(plan, syntax, root, octets, &options);
    }
    let length = tercet_dynamic::decode(plan, root, octets, &mut tape, &options).map_err(|error| Fault {
        kind: error.kind().name(),
        at: error.offset(),
        bit: error.bit().unwrap_or(0),
        path: error.path().to_owned(),
        detail: String::new(),
    })?;
    let value = Value::from_view(&plan.shape, tape.view(octets));
    value.map(|value| (value, length)).ok_or_else(no_value)
}

fn no_value() -> Fault {
    Fault { kind: "no-value", at: 0, bit: 0, path: String::new(), detail: String::new() }
}

/// Constraints are checked on the value in BER.
fn read_text(
    plan: &Plan,
    syntax: Rules,
    root: NodeId,
    text: &[u8],
    options: &Options,
) -> Result<(Value, usize), Fault> {
    let (mut tape, mut octets) = (Tape::new(), Vec::new());
    let mut codec = TapeCodec::new(syntax, plan);
    codec.read(root, text, &mut tape, options).map_err(|error| {
        let detail = match &error {
            CodecError::Text(error) => error.message().to_owned(),
            CodecError::Octets(error) => error.to_string(),
        };
        let kind = if detail == ErrorKind::DepthLimit.message() { "depth-limit" } else { "text" };
        Fault { kind, at: error.offset(), bit: 0, path: error.path(), detail }
    })?;
    if options.check_constraints
        && TapeCodec::new(Rules::Ber, plan).write(tape.view(&[]), &mut octets).is_ok()
    {
        read(plan, Rules::Ber, root, &octets, true)?;
    }
    let value = Value::from_view(&plan.shape, tape.view(&[]));
    value.map(|value| (value, text.len())).ok_or_else(no_value)
}
