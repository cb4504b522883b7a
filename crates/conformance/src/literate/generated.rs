//! Literate vectors in generated code: the classes of all specifications are compiled into one program, which reads each
//! encoding and writes its value in DER and by the same rules.

use std::fmt::Write as _;
use std::path::PathBuf;

use serde_json::Value;
use tercet::RustOptions;
use tercet_dynamic::Options;
use tercet_plan::Rules;
use tercet_plan::shape::Key;

use super::{Claim, Document, Step, claims, first_type, lines, module, repeated, text_rules, texts};
use crate::corpora::{read_text, repository};
use crate::engine::{Specification, Type};
use crate::equal::java::{self, Unit};
use crate::equal::{Dialogue, Language, RULES, codecs_for};
use crate::hex;
use crate::tally::Tally;

/// The vectors that are run, and where.
#[derive(clap::Args, Clone, Debug)]
pub struct Arguments {
    /// The language of generated code; the engine unless specified
    #[arg(long, value_enum)]
    pub language: Option<Language>,
    /// Files of Markdown; those of tests/spec unless specified
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
}

/// Runs vectors and prints those that fail.
///
/// # Errors
/// A file cannot be read, the generated code does not compile, or there is no program for the language.
pub fn run(options: &Arguments, out: &mut dyn std::io::Write) -> Result<Tally, String> {
    let mut files = options.files.clone();
    if files.is_empty() {
        let folder = repository().join("tests/spec");
        let entries = std::fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        files = entries.flatten().map(|entry| entry.path()).collect();
        files.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
        files.sort();
    }
    let mut say = |line: String| writeln!(out, "{line}").map_err(|error| error.to_string());
    let mut tally = Tally::default();
    let mut vectors = Vectors::default();
    for path in files {
        let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        let document = Document::parse(&read_text(&path)?);
        match options.language {
            None => {
                let (passed, failures) = document.run();
                tally.passed += passed;
                tally.failed += failures.len();
                failures.into_iter().try_for_each(|message| say(format!("{name}:{message}")))?;
            }
            Some(Language::Java) => vectors.add(&name, &document),
            Some(Language::Rust) => return Err("vectors run in the engine and in Java".into()),
        }
    }
    if options.language.is_none() {
        return Ok(tally);
    }
    let (units, failures) = vectors.units();
    failures.into_iter().try_for_each(|message| {
        tally.failed += 1;
        say(message)
    })?;
    let text = vectors.checks.iter().fold(String::new(), |mut text, check| {
        _ = writeln!(text, "{} {} {} {}", check.root, check.read, hex::show(&check.octets), check.written);
        text
    });
    let answers = Dialogue::new(java::build("spec", &units)?).ask(&text)?;
    for (number, check) in vectors.checks.iter().enumerate() {
        let answer = answers.get(number).map_or("the program ended", String::as_str);
        let verdict = check.expected.verdict(answer, check.octets.len());
        match verdict {
            Some(good) => tally.count(good),
            None => tally.skipped += 1,
        }
        if verdict == Some(false) {
            let [read, written] = [check.read, check.written].map(|rules| RULES[rules].0);
            let octets = hex::brief(&check.octets);
            say(format!(
                "{}: {read} {octets} to {written}: {answer:.400}; {:.400}",
                check.place,
                check.expected.shown()
            ))?;
        }
    }
    tally.skipped += vectors.skipped;
    Ok(tally)
}

/// What the generated code is asked.
struct Check {
    place: String,
    /// The number of the type among the roots of all specifications.
    root: usize,
    /// The numbers of the rules.
    read: usize,
    written: usize,
    octets: Vec<u8>,
    expected: Expected,
}

enum Expected {
    /// The value is written as these octets.
    Octets(Vec<u8>),
    /// It is refused as one of these kinds; as any without them.
    Refused(Vec<String>),
    /// A text is refused with this in the message.
    Text(String),
    /// A text that is written: members of a SET come in any order.
    Json(String),
    /// The engine accepts what is refused when constraints are checked, which decoders of generated code do in part.
    Either,
}

impl Expected {
    fn verdict(&self, answer: &str, length: usize) -> Option<bool> {
        let words: Vec<&str> = answer.splitn(5, ' ').collect();
        let kind = match words[..] {
            ["read", kind, ..] => Some(kind),
            ["ok", read, ..] if read.parse() != Ok(length) => Some("trailing-data"),
            _ => None,
        };
        // The limits of generated code, which docs/guide-java.md has.
        if matches!(words[..], ["read" | "write", "unsupported", ..]) {
            return None;
        }
        Some(match self {
            Self::Json(text) => {
                let made = words.get(2).and_then(|made| String::from_utf8(hex::parse(made).ok()?).ok());
                let value = |text: &str| serde_json::from_str::<Value>(text).ok();
                made.is_some_and(|made| {
                    made == *text || made.len() == text.len() && value(&made) == value(text)
                })
            }
            Self::Octets(octets) => {
                words.first() == Some(&"ok") && words.get(2).is_some_and(|made| *made == hex::show(octets))
            }
            Self::Refused(kinds) => {
                let is_it = |kind: &str| {
                    let is_range =
                        kind == "integer-range" && kinds.iter().any(|one| one == "constraint-violated");
                    kinds.is_empty() || is_range || kinds.iter().any(|one| one == kind)
                };
                kind.is_some_and(is_it)
            }
            Self::Text(message) => {
                let (answer, detail) = answer.split_once('\t').unwrap_or((answer, ""));
                let path = answer.splitn(5, ' ').nth(4).unwrap_or_default();
                kind.is_some() && format!("{path}: {detail}").contains(message.trim())
            }
            Self::Either => return None,
        })
    }

    fn shown(&self) -> String {
        match self {
            Self::Octets(octets) => format!("expected {}", hex::show(octets)),
            Self::Refused(kinds) => format!("expected error {}", kinds.join(" or ")),
            Self::Text(message) | Self::Json(message) => format!("expected {message}"),
            Self::Either => String::new(),
        }
    }
}

/// A specification with the types and rules that its vectors need.
struct Needs {
    place: String,
    specification: Specification,
    first_type: String,
    roots: Vec<String>,
    rules: Vec<Rules>,
}

#[derive(Default)]
struct Vectors {
    needs: Vec<Needs>,
    /// The type of each check is its place among the roots of the specification with this number, until all are known.
    checks: Vec<Check>,
    specifications: Vec<usize>,
    failures: Vec<String>,
    skipped: usize,
}

impl Vectors {
    fn add(&mut self, file: &str, document: &Document) {
        let mut value: Option<(String, Value)> = None;
        let begun = self.needs.len();
        for step in &document.steps {
            let place = format!("{file}:{}: {}", step.line, step.heading);
            if step.info.first().is_some_and(|word| word == "asn1") {
                value = None;
                match Specification::from_text("spec.asn", &module(&step.text)) {
                    Ok(specification) => self.needs.push(Needs {
                        place,
                        specification,
                        first_type: first_type(&step.text).unwrap_or_default(),
                        roots: Vec::new(),
                        rules: vec![Rules::Ber],
                    }),
                    Err(message) => self.failures.push(format!("{place}: {message}")),
                }
            } else if self.needs.len() > begun
                && let Err(message) = self.step(step, &place, &mut value)
            {
                self.failures.push(format!("{place}: {message}"));
            }
        }
    }

    fn step(&mut self, step: &Step, place: &str, value: &mut Option<(String, Value)>) -> Result<(), String> {
        let Some(needs) = self.needs.last() else { return Ok(()) };
        let word = step.info.first().map_or("text", String::as_str);
        match word {
            "text" => Ok(()),
            "value" => {
                let name = step.info.get(1).unwrap_or(&needs.first_type).clone();
                *value =
                    Some((name, serde_json::from_str(&repeated(&step.text)).map_err(|e| e.to_string())?));
                Ok(())
            }
            "error" => {
                let rule = step.info.get(1).map_or("ber", String::as_str);
                let name = step.info.get(2).unwrap_or(&needs.first_type).clone();
                let mut of = needs.specification.root(&name)?;
                match text_rules(rule) {
                    Some(Rules::Jer) => self.refused_texts(place, &name, step),
                    Some(_) => {}
                    None => self.refused(place, &name, &mut of, step, rule)?,
                }
                Ok(())
            }
            _ => {
                let Some((name, value)) = value.as_ref() else { return Err("no value above".into()) };
                let mut of = needs.specification.root(name)?;
                match text_rules(word) {
                    Some(Rules::Jer) => {
                        let der = of.encode(Rules::Der, value)?;
                        for (number, text) in texts(&step.text).into_iter().enumerate() {
                            self.check(
                                place,
                                name,
                                (Rules::Jer, Rules::Der),
                                text.as_bytes(),
                                Expected::Octets(der.clone()),
                            );
                            if number == 0 {
                                self.check(place, name, (Rules::Der, Rules::Jer), &der, Expected::Json(text));
                            }
                        }
                    }
                    Some(_) => {}
                    None => self.encodings(place, (name, value), &mut of, step, word)?,
                }
                Ok(())
            }
        }
    }

    fn encodings(
        &mut self,
        place: &str,
        (name, value): (&str, &Value),
        of: &mut Type,
        step: &Step,
        word: &str,
    ) -> Result<(), String> {
        let basic = step.info.get(1).is_some_and(|word| word == "basic");
        for (number, (octets, _)) in lines(&step.text)?.iter().enumerate() {
            let claims = claims(word, basic, number == 0).ok_or_else(|| format!("no rules `{word}`"))?;
            for Claim { rules, encodes, .. } in claims {
                // Keys that are a CHOICE select no row in generated code, so that what they select stays octets.
                let keys = of.shape().tables.iter().flat_map(|table| &table.rows).flat_map(|row| &row.keys);
                let has_choice_keys = keys.into_iter().any(|key| matches!(key, Key::Alternative(..)));
                if has_choice_keys && !matches!(rules, Rules::Ber | Rules::Der | Rules::Cer) {
                    self.skipped += 1;
                    continue;
                }
                // Additions of later versions are written by the rules that they came in.
                match of.transcode(rules, octets, Rules::Der) {
                    Ok(der) => self.check(place, name, (rules, Rules::Der), octets, Expected::Octets(der)),
                    Err(_) => self.skipped += 1,
                }
                if encodes {
                    self.check(place, name, (rules, rules), octets, Expected::Octets(octets.clone()));
                    // DER sorts a SET OF, so that the octets may be others.
                    let der = of.encode(Rules::Der, value);
                    match der.and_then(|der| Ok((of.transcode(Rules::Der, &der, rules)?, der))) {
                        Ok((made, der)) => {
                            self.check(place, name, (Rules::Der, rules), &der, Expected::Octets(made))
                        }
                        Err(_) => self.skipped += 1,
                    }
                }
            }
        }
        Ok(())
    }

    fn refused(
        &mut self,
        place: &str,
        name: &str,
        of: &mut Type,
        step: &Step,
        rule: &str,
    ) -> Result<(), String> {
        let claims = claims(rule, false, true).ok_or_else(|| format!("no rules `{rule}`"))?;
        for (octets, kind) in lines(&step.text)? {
            for claim in claims.iter().filter(|claim| claim.named) {
                let mut options = Options::default();
                options.rules = claim.rules;
                options.strict_enumerations = true;
                let expected = match of.decode_kind_by(claim.rules, &octets, &options) {
                    Ok(_) => Expected::Either,
                    Err((_, _)) if kind.is_none() => Expected::Refused(Vec::new()),
                    Err((known, _)) => {
                        Expected::Refused(kind.iter().cloned().chain([known.to_owned()]).collect())
                    }
                };
                self.check(place, name, (claim.rules, claim.rules), &octets, expected);
            }
        }
        Ok(())
    }

    fn refused_texts(&mut self, place: &str, name: &str, step: &Step) {
        for line in texts(&step.text) {
            let (text, message) = line.split_once(" ;; ").unwrap_or((&line, ""));
            let expected = Expected::Text(message.to_owned());
            self.check(place, name, (Rules::Jer, Rules::Jer), text.as_bytes(), expected);
        }
    }

    fn check(
        &mut self,
        place: &str,
        name: &str,
        (read, written): (Rules, Rules),
        octets: &[u8],
        expected: Expected,
    ) {
        let number = |rules: Rules| RULES.iter().position(|(known, _)| *known == rules).unwrap_or_default();
        let Some(needs) = self.needs.last_mut() else { return };
        for rules in [read, written] {
            let printed = codecs_for(rules);
            if !needs.rules.contains(&printed) {
                needs.rules.push(printed);
            }
        }
        if !needs.roots.iter().any(|root| root == name) {
            needs.roots.push(name.to_owned());
        }
        let root = needs.roots.iter().position(|root| root == name).unwrap_or_default();
        self.specifications.push(self.needs.len() - 1);
        self.checks.push(Check {
            place: place.to_owned(),
            root,
            read: number(read),
            written: number(written),
            octets: octets.to_vec(),
            expected,
        });
    }

    /// The classes of all specifications, each in a package of its own, and what is wrong with the others. From here on the
    /// types of checks have the numbers that they have in the program.
    fn units(&mut self) -> (Vec<Unit>, Vec<String>) {
        let mut units = Vec::new();
        let mut failures = std::mem::take(&mut self.failures);
        // The number of the first root, and whether there are codecs for JER, of each specification with classes.
        let mut known: Vec<Option<(usize, bool)>> = Vec::new();
        let mut count = 0;
        for (number, needs) in self.needs.iter().enumerate() {
            let names: Vec<&str> = needs.roots.iter().map(String::as_str).collect();
            if names.is_empty() {
                known.push(None);
                continue;
            }
            let package = format!("spec{number}");
            let schema = needs.specification.schema();
            let print = |rules: &[Rules]| schema.java(rules, &names, Some(&package), &RustOptions::default());
            let mut has_jer = true;
            let files = print(&needs.rules).or_else(|error| {
                // Instructions for JER have no codecs.
                has_jer = false;
                let others: Vec<Rules> =
                    needs.rules.iter().copied().filter(|rules| !rules.is_text()).collect();
                if others.len() < needs.rules.len() { print(&others) } else { Err(error) }
            });
            match files {
                Ok(files) => {
                    known.push(Some((count, has_jer)));
                    count += needs.roots.len();
                    units.push(Unit { files, roots: needs.roots.clone() });
                }
                Err(error) => {
                    known.push(None);
                    failures.push(format!("{}: {error}", needs.place));
                }
            }
        }
        let mut kept = Vec::new();
        for (mut check, specification) in
            std::mem::take(&mut self.checks).into_iter().zip(&self.specifications)
        {
            let is_text = [check.read, check.written].iter().any(|rules| RULES[*rules].0.is_text());
            match known[*specification] {
                Some((first, has_jer)) if has_jer || !is_text => {
                    check.root += first;
                    kept.push(check);
                }
                _ => self.skipped += 1,
            }
        }
        self.checks = kept;
        (units, failures)
    }
}
