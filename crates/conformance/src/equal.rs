//! Generated code against the plan engine: for each specification a program is printed, built and run; the same octets
//! have to give the same values, the same octets and the same errors.

mod cases;
mod class_file;
mod compare;
mod dialogue;
pub(crate) mod java;
mod program;
mod specification;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use tercet::Rules;

pub(crate) use dialogue::Dialogue;
use specification::Specification;

use crate::corpora::repository;
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

/// What is said of a specification that the compiler does not accept.
const HAS_ERRORS: &str = "has errors";

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
    /// Lines of generated code for which no more specifications are put into the same program.
    fn lines_of_program(self) -> usize {
        match self {
            Self::Rust => 0,
            // Starting the compiler and the virtual machine costs more than a small specification does.
            Self::Java => 60_000,
        }
    }

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
    /// Damaged encodings of each sample by each of the rules
    #[arg(long, default_value_t = 4)]
    pub damaged: usize,
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
    let mut report = Report { out, all: Tally::default() };
    let columns = ["lines", "values", "verdicts", "kinds", "places", "paths", "written", "refused", "texts"];
    report.say(&format!(
        "{:<28} {}",
        "specification",
        columns.map(|name| format!("{name:>11}")).join(" ")
    ))?;
    let paths = if options.paths.is_empty() { every_path() } else { options.paths.clone() };
    let mut group: Vec<Specification> = Vec::new();
    for path in &paths {
        match Specification::load(path, options) {
            Ok(specification) => group.push(specification),
            Err(error) => report.without_outcome(&name_of(path), &error)?,
        }
        let lines: usize = group.iter().map(|specification| specification.lines).sum();
        if lines >= options.language.lines_of_program() {
            specification::run(&std::mem::take(&mut group), options, &mut report)?;
        }
    }
    specification::run(&group, options, &mut report)?;
    Ok(report.all)
}

fn name_of(path: &Path) -> String {
    path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

/// The table that is printed, and its sum.
struct Report<'o> {
    out: &'o mut dyn std::io::Write,
    all: Tally,
}

impl Report<'_> {
    fn say(&mut self, line: &str) -> Result<(), String> {
        writeln!(self.out, "{line}").map_err(|error| error.to_string())
    }

    fn without_outcome(&mut self, name: &str, error: &str) -> Result<(), String> {
        if error == HAS_ERRORS {
            self.all.skipped += 1;
        } else {
            self.all.failed += 1;
        }
        self.say(&format!("{name:<28.28} {error:.2000}"))
    }

    fn outcome(&mut self, name: &str, outcome: Outcome) -> Result<(), String> {
        let Outcome { lines, values, verdicts, kinds, places, paths, written, refused, texts, faults } =
            outcome;
        let part = |tally: Tally| format!("{}/{}", tally.passed, tally.passed + tally.failed);
        let row = [values, verdicts, kinds, places, paths, written, refused, texts].map(part);
        let row = row.map(|text| format!("{text:>11}")).join(" ");
        self.say(&format!("{name:<28.28} {lines:>11} {row}"))?;
        for (kind, (count, first)) in faults {
            self.say(&format!("    {count:>5} {kind}\n          {first:.1600}"))?;
        }
        for tally in [values, verdicts, written, refused, texts] {
            self.all.passed += tally.passed;
            self.all.failed += tally.failed;
        }
        self.all.passed += 1;
        Ok(())
    }
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

impl Outcome {
    fn fault(&mut self, kind: &str, first: impl FnOnce() -> String) {
        self.faults.entry(kind.to_owned()).or_insert_with(|| (0, first())).0 += 1;
    }
}
