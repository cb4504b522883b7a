//! Specifications whose generated code answers in one program.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use tercet::codegen::{Codecs, JavaFile, Serde};
use tercet::{Rules, RustOptions, Schema};
use tercet_dynamic::Plan;

use super::cases::{Origin, cases};
use super::compare::compare;
use super::dialogue::Dialogue;
use super::{
    Arguments, FOREIGN, HAS_ERRORS, Language, Outcome, PRINTED, RULES, Report, codecs_for, java, program,
};
use crate::corpora::with_gaps;
use crate::hex;

/// Samples of each type that are run at once.
const BATCH: usize = 100;

/// A specification, its generated code and its plans.
pub(super) struct Specification {
    name: String,
    roots: Vec<String>,
    plans: Vec<Plan>,
    code: Code,
    pub(super) lines: usize,
}

enum Code {
    Rust(String),
    Java(Vec<JavaFile>),
}

impl Specification {
    pub(super) fn load(path: &Path, settings: &Arguments) -> Result<Self, String> {
        let schema = Schema::load(&[path.to_path_buf()], &with_gaps()).map_err(|error| error.to_string())?;
        if schema.has_errors() {
            return Err(HAS_ERRORS.to_owned());
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
        let printed = printed(settings);
        let told = |error: tercet::RustError| error.to_string();
        let name = super::name_of(path);
        let (code, lines) = match settings.language {
            Language::Rust => {
                let text = schema.rust(&printed, &names, &options).map_err(told)?;
                let lines = text.lines().count();
                (Code::Rust(text), lines)
            }
            Language::Java => {
                let files = schema.java(&printed, &names, Some(&package(&name)), &options).map_err(told)?;
                let lines = files.iter().map(|file| file.text.lines().count()).sum();
                (Code::Java(files), lines)
            }
        };
        let plans = match settings.build_only {
            true => Vec::new(),
            false => schema
                .plans(&RULES.map(|(syntax, _)| syntax.plan_rules()), &names)
                .map_err(|error| error.to_string())?,
        };
        Ok(Self { name, roots, plans, code, lines })
    }

    /// Asks a program in which the roots of this specification are numbered from `first`.
    fn outcome(
        &self,
        first: usize,
        settings: &Arguments,
        program: Option<&mut Dialogue>,
    ) -> Result<Outcome, String> {
        let mut outcome = Outcome { lines: self.lines, ..Outcome::default() };
        let Some(program) = program else { return Ok(outcome) };
        // All cases of a batch are in memory.
        let mut batch = settings.clone();
        for begun in (0..settings.count).step_by(BATCH) {
            batch.count = BATCH.min(settings.count - begun);
            batch.seed = settings.seed.wrapping_add(begun as u64);
            self.run_batch(first, &batch, program, &mut outcome)?;
        }
        Ok(outcome)
    }

    fn run_batch(
        &self,
        first: usize,
        settings: &Arguments,
        program: &mut Dialogue,
        outcome: &mut Outcome,
    ) -> Result<(), String> {
        let cases = cases(&self.plans, &self.roots, settings, outcome);
        let text = cases.iter().fold(String::new(), |mut text, case| {
            let rules = if case.origin == Origin::Foreign { FOREIGN + case.rules } else { case.rules };
            _ = writeln!(text, "{} {rules} {}", first + case.root, hex::show(&case.octets));
            text
        });
        let answers = program.ask(&text)?;
        for (case, answer) in cases.iter().zip(&answers) {
            compare(&self.plans, &self.roots, case, answer, outcome);
        }
        if answers.len() < cases.len() {
            outcome.values.failed += cases.len() - answers.len();
            let case = &cases[answers.len()];
            let (root, syntax) = (&self.roots[case.root], RULES[case.rules].0);
            outcome.fault("the program ended", || format!("{root} {syntax} {}", hex::show(&case.octets)));
        }
        Ok(())
    }
}

/// The rules that codecs are printed for: in Rust all; values in BER are written by all.
fn printed(settings: &Arguments) -> Vec<Rules> {
    let is_needed = |rules: Rules| {
        settings.language == Language::Rust
            || rules == Rules::Ber
            || RULES.iter().any(|(known, _)| settings.compares(*known) && codecs_for(*known) == rules)
    };
    PRINTED.into_iter().filter(|rules| settings.language.prints(*rules) && is_needed(*rules)).collect()
}

/// The package of a specification, so that those of one program do not meet.
fn package(name: &str) -> String {
    let word: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    format!("generated.of_{}", word.to_lowercase())
}

/// Builds one program of the specifications and prints what comes of each; those that have none together get one each.
pub(super) fn run(
    group: &[Specification],
    settings: &Arguments,
    report: &mut Report<'_>,
) -> Result<(), String> {
    let Some(specification) = group.first() else { return Ok(()) };
    let mut program = match build(group, settings) {
        Ok(command) => (!settings.build_only).then(|| Dialogue::new(command)),
        Err(error) if group.len() == 1 => return report.without_outcome(&specification.name, &error),
        Err(_) => {
            return group.chunks(1).try_for_each(|alone| run(alone, settings, report));
        }
    };
    let mut first = 0;
    for specification in group {
        match specification.outcome(first, settings, program.as_mut()) {
            Ok(outcome) => report.outcome(&specification.name, outcome)?,
            Err(error) => report.without_outcome(&specification.name, &error)?,
        }
        first += specification.roots.len();
    }
    Ok(())
}

fn build(group: &[Specification], settings: &Arguments) -> Result<Command, String> {
    let mut units = Vec::new();
    for Specification { name, roots, code, .. } in group {
        match code {
            Code::Rust(text) => return program::build(name, text, roots, settings.jer).map(Command::new),
            Code::Java(files) => units.push(java::Unit { files: files.clone(), roots: roots.clone() }),
        }
    }
    java::build(&group[0].name, &units)
}
