//! `cargo conformance detect`: how often rules and type of an encoding are found by trial.
//!
//! An encoding is one of a vector (as for `vectors`), or a file `sample-TYPE-N.RULES`. It is tried twice: with its type
//! given, where its rules have to come first, and with all types that no other refers to, where the type has to come
//! first too. Rules that give the same octets of a value are all right.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tercet::{Candidate, Detector, Rules, Schema, SchemaOptions};

use crate::{Tally, corpora, hex, vectors};

/// Encodings with fewer octets fit too much.
const FEW: usize = 6;

/// What is looked at, and how.
#[derive(clap::Args, Clone, Debug)]
pub struct Arguments {
    /// Vectors of each specification that are tried
    #[arg(long, value_name = "COUNT", default_value_t = 20)]
    each: usize,
    /// Print what was found wrongly
    #[arg(long)]
    misses: bool,
    /// Folder with the specifications that vectors name
    #[arg(long, value_name = "DIR", required_unless_present = "schema", conflicts_with = "schema")]
    specs: Vec<PathBuf>,
    /// Specification of files whose names are `sample-TYPE-N.RULES`
    #[arg(long, value_name = "PATH")]
    schema: Vec<PathBuf>,
    /// Files of vectors, or encodings
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
}

/// Runs the task: a line for each of the rules.
///
/// # Errors
/// A file cannot be read.
pub fn run(options: &Arguments, out: &mut impl Write) -> Result<Tally, String> {
    let Arguments { each, misses, specs, schema: schemas, files } = options;
    let (each, misses) = (*each, *misses);
    let mut runner = Runner { misses, out, detectors: HashMap::new(), rows: BTreeMap::new() };
    for file in files {
        if schemas.is_empty() {
            runner.vectors(specs, file, each)?;
        } else {
            runner.sample(schemas, file)?;
        }
    }
    let mut tally = Tally::default();
    let _ = writeln!(runner.out, "rules    encodings  rules given the type  rules of all  type of all  tied");
    for (rules, row) in &runner.rows {
        let _ = writeln!(runner.out, "{rules:<8} {row}");
        tally.passed += row.types;
        tally.failed += row.all - row.types;
        tally.skipped += row.alone - row.all;
    }
    Ok(tally)
}

/// What was found of encodings by some rules.
#[derive(Debug, Default)]
struct Row {
    /// Encodings tried with their type.
    alone: usize,
    /// Their rules came first.
    rules_alone: usize,
    /// Encodings tried with all types: those of types that no other refers to.
    all: usize,
    /// Their rules came first.
    rules: usize,
    /// Rules and type came first.
    types: usize,
    /// Another came first that is just as good.
    tied: usize,
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { alone, rules_alone, all, rules, types, tied } = self;
        write!(
            f,
            "{alone:>9} {rules_alone:>21} {:>13} {:>12} {tied:>5}",
            format!("{rules}/{all}"),
            format!("{types}/{all}")
        )
    }
}

/// Schema, then detectors: of all types, under the empty name, and of one.
type Detectors = HashMap<(Vec<PathBuf>, String), Result<Detector, String>>;

struct Runner<'a, W> {
    misses: bool,
    out: &'a mut W,
    detectors: Detectors,
    rows: BTreeMap<String, Row>,
}

impl<W: Write> Runner<'_, W> {
    fn vectors(&mut self, specs: &[PathBuf], path: &Path, each: usize) -> Result<(), String> {
        let manifest = corpora::read_text(&path.with_file_name("MANIFEST.json")).unwrap_or_default();
        let manifest: Value = serde_json::from_str(&manifest).unwrap_or_default();
        let text = corpora::read_text(path)?;
        let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        let step = lines.len().div_ceil(each.max(1)).max(1);
        for line in lines.into_iter().step_by(step) {
            let record: Value = serde_json::from_str(line).map_err(|e| format!("{}: {e}", path.display()))?;
            let of = |key: &str| record[key].as_str().unwrap_or_default().to_owned();
            let files = vectors::locate(specs, path, &manifest, &record)?;
            let name = format!("{}.{}", of("module"), of("type"));
            let encodings = octets(&record["enc"]);
            for (rules, octets) in &encodings {
                let right: Vec<_> = encodings
                    .iter()
                    .filter(|(_, it)| it == octets)
                    .flat_map(|(rules, _)| syntaxes(rules))
                    .collect();
                self.one(&files, &name, rules, &right, octets, &of("id"));
            }
        }
        self.detectors.clear();
        Ok(())
    }

    fn sample(&mut self, schemas: &[PathBuf], path: &Path) -> Result<(), String> {
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        let parts = file.strip_prefix("sample-").and_then(|rest| rest.rsplit_once('.'));
        let (name, rules) = parts.ok_or_else(|| format!("{file}: not named sample-TYPE-N.RULES"))?;
        let name = name.trim_end_matches("-nopad").trim_end_matches(|c: char| c.is_ascii_digit());
        let octets = corpora::read(path)?;
        // Nothing but the octets tells which variant was meant.
        let right = match rules {
            "ber" | "per" => {
                [syntaxes(rules), syntaxes(if rules == "ber" { "der" } else { "uper" })].concat()
            }
            _ => syntaxes(rules),
        };
        self.one(schemas, name.trim_end_matches('-'), rules, &right, &octets, &path.display().to_string());
        Ok(())
    }

    /// Tries one encoding.
    fn one(&mut self, files: &[PathBuf], name: &str, rules: &str, right: &[Rules], octets: &[u8], id: &str) {
        if octets.len() < FEW || right.is_empty() {
            return;
        }
        let row = self.rows.entry(rules.to_owned()).or_default();
        for types in [&[name][..], &[]] {
            let key = (files.to_vec(), types.concat());
            let detector = self.detectors.entry(key).or_insert_with(|| {
                let schema = Schema::load(files, &SchemaOptions::default()).map_err(|e| e.to_string())?;
                Detector::new(&schema, types, None).map_err(|e| e.to_string())
            });
            let detector = match detector {
                Ok(detector) => detector,
                Err(message) => {
                    let _ = writeln!(self.out, "{id}: {message}");
                    return;
                }
            };
            let is_name =
                |full: &str| full == name || full.rsplit_once('.').is_some_and(|(_, it)| it == name);
            if !detector.types().iter().any(|full| is_name(full)) {
                continue;
            }
            let found = detector.run(octets);
            let Some(best) = found.first() else { continue };
            let good = best.fits() && right.contains(&best.syntax);
            let named = good && is_name(&best.type_name);
            if types.is_empty() {
                row.all += 1;
                row.rules += usize::from(good);
                row.types += usize::from(named);
                let own = |it: &&Candidate| is_name(&it.type_name) && right.contains(&it.syntax);
                row.tied +=
                    usize::from(!named && found.iter().find(own).is_some_and(|own| own.is_as_good_as(best)));
            } else {
                row.alone += 1;
                row.rules_alone += usize::from(good);
            }
            if self.misses && !named {
                let own = found.iter().position(|it| is_name(&it.type_name) && right.contains(&it.syntax));
                let _ = writeln!(self.out, "{id} {rules} {name}: {}", told(best));
                if let Some(at) = own {
                    let _ = writeln!(self.out, "    at {}: {}", at + 1, told(&found[at]));
                }
            }
        }
    }
}

/// The encodings of a vector.
fn octets(encodings: &Value) -> Vec<(String, Vec<u8>)> {
    let all = encodings.as_object().into_iter().flatten();
    let known = all.filter_map(|(rules, it)| {
        let octets = match it["text"].as_str() {
            Some(text) => text.as_bytes().to_vec(),
            None => hex::parse(it["hex"].as_str()?).ok()?,
        };
        Some((rules.clone(), octets))
    });
    known.collect()
}

/// What the names that vectors and files have for rules mean to the library. Rules with no octets of their own in most
/// values stand for the basic ones.
fn syntaxes(rules: &str) -> Vec<Rules> {
    match rules {
        "coer" => vec![Rules::Oer],
        _ => rules.parse().into_iter().collect(),
    }
}

fn told(it: &Candidate) -> String {
    let Candidate {
        syntax, type_name, error, octets, again, violations, unknown, elements, firmness, ..
    } = it;
    let error = error.as_deref().unwrap_or("fits");
    format!(
        "{syntax} {type_name}: {octets} octets, again {again}, {violations} violations, {unknown} unknown, {firmness} firm, {elements} elements, {error}"
    )
}
