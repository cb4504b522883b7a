//! `cargo conformance vectors`: test vectors of others, one JSON record a line.
//!
//! A record has a specification (`files`, or `spec` to be looked up in `MANIFEST.json`), `module`, `type`, `value` in
//! the form of X.697, `enc` with one encoding for each rule, and perhaps `ber_variants`: other valid BER encodings of
//! the same value. For each rule that this build has an engine for: the encoding decodes to the value, and the value
//! encodes to the encoding; with DER beside it, the encoding becomes the DER. Each variant decodes to the value, and what it decoded to encodes to the DER octets.
//!
//! With `--damage`, every prefix, every flipped bit and every border octet of each encoding gives a value, or an error with
//! a place in the input, a path, and a short text (promises 4 and 13).

use std::collections::{BTreeMap, HashMap};
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use serde_json::Value;
use tercet_dynamic::Tape;
use tercet_plan::Rules;

use crate::engine::{Specification, Type};
use crate::exceptions::Exceptions;
use crate::fuzz::each_damage;
use crate::{Tally, corpora, hex, same, text};

/// What is run, and against which specifications.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct Arguments {
    /// Damage each encoding in every place and look at the errors
    #[arg(long)]
    pub damage: bool,
    /// Folder with the specifications that vectors name
    #[arg(long, value_name = "DIR")]
    pub specs: Vec<PathBuf>,
    /// Files of vectors, one JSON record a line
    #[arg(required = true, value_name = "FILE.jsonl")]
    pub files: Vec<PathBuf>,
}

/// Runs the vectors; each failure is one line of `out`.
///
/// # Errors
/// A file cannot be read.
pub fn run(options: &Arguments, out: &mut impl Write) -> Result<Tally, String> {
    let exceptions = Exceptions::load(&corpora::repository().join("tests/vector-exceptions.toml"))?;
    let mut runner = Runner {
        specs: options.specs.clone(),
        damage: options.damage,
        inputs: 0,
        exceptions,
        loaded: HashMap::new(),
        skipped: BTreeMap::new(),
        out,
        tally: Tally::default(),
    };
    for file in &options.files {
        runner.file(file)?;
    }
    for (what, count) in &runner.skipped {
        let _ = writeln!(runner.out, "skipped: {what}: {count}");
    }
    if runner.inputs > 0 {
        let _ = writeln!(runner.out, "damaged inputs: {}", runner.inputs);
    }
    Ok(runner.tally)
}

/// Octets of the longest encoding that is damaged.
const DAMAGED: usize = 2048;
/// Octets that the text of an error may have.
const MESSAGE: usize = 512;

struct Runner<'a, W> {
    specs: Vec<PathBuf>,
    damage: bool,
    /// How many inputs damage has made.
    inputs: u64,
    exceptions: Exceptions,
    loaded: HashMap<Vec<PathBuf>, Result<Loaded, String>>,
    skipped: BTreeMap<String, usize>,
    out: &'a mut W,
    tally: Tally,
}

struct Loaded {
    specification: Specification,
    types: HashMap<String, Result<Type, String>>,
}

impl<W: Write> Runner<'_, W> {
    fn file(&mut self, path: &Path) -> Result<(), String> {
        let manifest = path.with_file_name("MANIFEST.json");
        let manifest: Value = match corpora::read_text(&manifest) {
            Ok(text) => serde_json::from_str(&text).map_err(|e| format!("{}: {e}", manifest.display()))?,
            Err(_) => Value::Null,
        };
        for (i, line) in corpora::read_text(path)?.lines().enumerate() {
            if line.trim().is_empty() {
                continue;
            }
            let record: Value =
                serde_json::from_str(line).map_err(|e| format!("{}:{}: {e}", path.display(), i + 1))?;
            self.record(path, &manifest, &record);
        }
        Ok(())
    }

    fn record(&mut self, path: &Path, manifest: &Value, record: &Value) {
        let id = record["id"].as_str().unwrap_or("(no id)").to_owned();
        let encodings = record["enc"].as_object().cloned().unwrap_or_default();
        let variants = record["ber_variants"].as_array().cloned().unwrap_or_default();
        for rule in encodings.keys().filter(|rule| !is_known(rule)) {
            self.skip(&format!("{rule}: no engine"));
        }
        if record.get("value").is_none() {
            return self.skip("fragmentation pattern");
        }
        let known: Vec<&String> = encodings.keys().filter(|rule| is_known(rule)).collect();
        if known.is_empty() && variants.is_empty() {
            return;
        }
        let files = match locate(&self.specs, path, manifest, record) {
            Ok(files) => files,
            Err(message) => return self.fail(&id, "files", &message),
        };
        let name = format!(
            "{}.{}",
            record["module"].as_str().unwrap_or_default(),
            record["type"].as_str().unwrap_or_default()
        );
        let loaded = self.loaded.entry(files.clone()).or_insert_with(|| {
            let specification = Specification::load(&files)?;
            Ok(Loaded { specification, types: HashMap::new() })
        });
        let (loaded, mut of_type) = match loaded {
            Err(message) => {
                let message = format!("cannot compile: {message}");
                return self.fail(&id, "schema", &message);
            }
            Ok(loaded) => {
                let found = loaded.types.remove(&name);
                let found = found.unwrap_or_else(|| loaded.specification.root(&name));
                (files, found)
            }
        };
        match &mut of_type {
            Err(message) => {
                let message = format!("{name}: {message}");
                self.fail(&id, "type", &message);
            }
            Ok(of_type) => self.checks(&id, of_type, &record["value"], &encodings, &variants),
        }
        if let Some(Ok(loaded)) = self.loaded.get_mut(&loaded) {
            loaded.types.insert(name, of_type);
        }
    }

    fn checks(
        &mut self,
        id: &str,
        of: &mut Type,
        value: &Value,
        encodings: &serde_json::Map<String, Value>,
        variants: &[Value],
    ) {
        let octets = |encoding: &Value| encoding["hex"].as_str().map(hex::parse);
        let der = encodings.get("der").and_then(octets).and_then(Result::ok);
        for (rule, encoding) in encodings {
            let rules = match rule.as_str() {
                "ber" => Rules::Ber,
                "der" => Rules::Der,
                "cer" => Rules::Cer,
                "per" => Rules::Aper,
                "uper" => Rules::Uper,
                "oer" => Rules::Oer,
                "coer" => Rules::Coer,
                "jer" => {
                    self.json(id, of, value, encoding, der.as_deref());
                    continue;
                }
                "xer" => {
                    let text = encoding["text"].as_str().unwrap_or_default();
                    for (what, outcome) in text::vector(of, Rules::Xer, text, value, der.as_deref()) {
                        self.check(id, &format!("{rule} {what}"), outcome);
                    }
                    continue;
                }
                _ => continue,
            };
            match octets(encoding) {
                Some(Ok(octets)) => {
                    if self.damage && octets.len() <= DAMAGED {
                        let outcome = self.damaged(of, rules, &octets);
                        self.check(id, &format!("{rule} damage"), outcome);
                        continue;
                    }
                    let outcome = decodes(of, rules, &octets, value);
                    self.check(id, &format!("{rule} decode"), outcome);
                    self.check(id, &format!("{rule} places"), of.places(rules, &octets));
                    if rule != "ber" {
                        let outcome = encodes(of, rules, value, &octets);
                        self.check(id, &format!("{rule} encode"), outcome);
                    }
                    if let Some(der) = &der {
                        let outcome =
                            of.transcode(rules, &octets, Rules::Der).and_then(|made| equal(der, &made));
                        self.check(id, &format!("{rule} to der"), outcome);
                        if rules == Rules::Oer {
                            self.check(id, "oer to coer to der", through_coer(of, &octets, der));
                        }
                    }
                }
                _ => self.fail(id, rule, "the vector has no hexadecimal octets"),
            }
        }
        for variant in variants {
            let name = format!("ber {}", variant["variant"].as_str().unwrap_or("variant"));
            let Some(Ok(octets)) = octets(variant) else { continue };
            let outcome = decodes(of, Rules::Ber, &octets, value);
            self.check(id, &format!("{name} decode"), outcome);
            if let Some(der) = &der {
                let outcome =
                    of.transcode(Rules::Ber, &octets, Rules::Der).and_then(|made| equal(der, &made));
                self.check(id, &format!("{name} to der"), outcome);
            }
        }
    }

    /// Each damage of an encoding gives a value or a good error.
    fn damaged(&mut self, of: &mut Type, rules: Rules, octets: &[u8]) -> Result<(), String> {
        let (node, mut tape, mut first) = (of.node(), Tape::new(), Ok(()));
        each_damage(octets, &mut |damaged| {
            self.inputs += 1;
            tape.clear();
            let outcome = catch_unwind(AssertUnwindSafe(|| of.decode_into(node, rules, damaged, &mut tape)));
            let fault = match outcome {
                Ok(Ok(length)) => (length > damaged.len()).then(|| "more is read than there is".to_owned()),
                Ok(Err(error)) => {
                    let good = error.offset() <= damaged.len() as u64
                        && !error.path().is_empty()
                        && error.to_string().len() <= MESSAGE;
                    (!good).then(|| error.to_string())
                }
                Err(_) => Some("a panic".to_owned()),
            };
            if let Some(fault) = fault
                && first.is_ok()
            {
                first = Err(format!("{}: {fault}", hex::brief(damaged)));
            }
        });
        first
    }

    /// JSON text stands beside an encoding: both have to be the same value.
    fn json(&mut self, id: &str, of: &mut Type, value: &Value, encoding: &Value, der: Option<&[u8]>) {
        let text = encoding["text"].as_str().map(str::to_owned).or_else(|| {
            let octets = hex::parse(encoding["hex"].as_str()?).ok()?;
            String::from_utf8(octets).ok()
        });
        let Some(text) = text else { return self.fail(id, "jer", "the vector has no text") };
        let parsed: Value = match serde_json::from_str(&text) {
            Ok(parsed) => parsed,
            Err(error) => return self.fail(id, "jer", &format!("the vector's text is no JSON: {error}")),
        };
        match der {
            Some(der) => {
                let outcome = decodes(of, Rules::Der, der, &parsed);
                self.check(id, "jer write", outcome);
                let outcome = encodes(of, Rules::Der, &parsed, der);
                self.check(id, "jer read", outcome);
            }
            None => {
                // Without octets of a witness: the text and the value say the same in every rule.
                let outcome = of.encode(Rules::Der, value).and_then(|octets| {
                    decodes(of, Rules::Der, &octets, &parsed)?;
                    encodes(of, Rules::Der, &parsed, &octets)
                });
                self.check(id, "jer", outcome);
            }
        }
    }

    fn check(&mut self, id: &str, rule: &str, outcome: Result<(), String>) {
        match outcome {
            Ok(()) => self.tally.passed += 1,
            Err(message) => self.fail(id, rule, &message),
        }
    }

    fn fail(&mut self, id: &str, rule: &str, message: &str) {
        if let Some(why) = self.exceptions.find(id, rule) {
            let what = format!("{id} {rule}: {why}");
            return self.skip(&what);
        }
        self.tally.failed += 1;
        let message = message.replace(['\n', '\r'], " ");
        let _ = writeln!(self.out, "FAIL {id} {rule}: {message}");
    }

    fn skip(&mut self, what: &str) {
        self.tally.skipped += 1;
        *self.skipped.entry(what.to_owned()).or_default() += 1;
    }
}

/// The files of a record, wherever the folder given with `--specs` stands relative to their names.
pub(crate) fn locate(
    specs: &[PathBuf],
    path: &Path,
    manifest: &Value,
    record: &Value,
) -> Result<Vec<PathBuf>, String> {
    let spec = record["spec"].as_str().unwrap_or_default();
    let names = record["files"]
        .as_array()
        .or_else(|| manifest[spec]["files"].as_array())
        .ok_or_else(|| format!("no files, and {spec:?} is not in MANIFEST.json"))?;
    let beside = path.parent().unwrap_or_else(|| Path::new("."));
    let mut bases: Vec<PathBuf> = Vec::new();
    for folder in specs.iter().map(PathBuf::as_path).chain([beside]) {
        bases.extend([folder.to_path_buf(), folder.join(".."), folder.join("../..")]);
    }
    names
        .iter()
        .map(|name| {
            let name = name.as_str().unwrap_or_default();
            let short = name.strip_prefix("specs/").unwrap_or(name);
            let mut tried = bases.iter().flat_map(|base| [base.join(name), base.join(short)]);
            tried.find(|path| path.is_file()).ok_or_else(|| format!("cannot find {name}"))
        })
        .collect()
}
/// Whether there is an engine for encodings of this name.
fn is_known(rule: &str) -> bool {
    matches!(rule, "ber" | "der" | "cer" | "jer" | "per" | "uper" | "oer" | "coer" | "xer")
}

fn decodes(of: &mut Type, rules: Rules, octets: &[u8], value: &Value) -> Result<(), String> {
    let got =
        of.decode(rules, octets).map_err(|e| format!("expected {}, got error: {e}", same::brief(value)))?;
    same::compare(of.shape(), of.node(), value, &got).map_err(|d| d.to_string())
}

fn encodes(of: &mut Type, rules: Rules, value: &Value, octets: &[u8]) -> Result<(), String> {
    let made =
        of.encode(rules, value).map_err(|e| format!("expected {}, got error: {e}", hex::brief(octets)))?;
    equal(octets, &made)
}

/// Nobody's vectors are in CANONICAL-OER: what becomes of those in OER has to be canonical to the decoder, and the same
/// value.
fn through_coer(of: &mut Type, oer: &[u8], der: &[u8]) -> Result<(), String> {
    let canonical = of.transcode(Rules::Oer, oer, Rules::Coer)?;
    let made = of.transcode(Rules::Coer, &canonical, Rules::Der)?;
    equal(der, &made)
}

fn equal(want: &[u8], got: &[u8]) -> Result<(), String> {
    if want == got {
        return Ok(());
    }
    let at = want.iter().zip(got).take_while(|(a, b)| a == b).count();
    Err(format!("expected {}, got {}, other from octet {at} on", hex::brief(want), hex::brief(got)))
}
