//! Literate vectors: any markdown file can be a test suite.
//!
//! A heading begins a case. Its fenced blocks are, in order:
//!
//! - `asn1`: assignments, or a whole module. The first type assigned is the one meant. It stays for the cases that
//!   follow, until the next `asn1` block.
//! - `value`, or `value TypeName`: a JSON text (X.697). What follows encodes it, until the next `value`.
//! - `ber`: encodings that decode to the value, one a line. A line that begins with a space continues the one above.
//! - `der`, `cer`: one encoding, which also is what the value encodes to under these rules.
//! - `aper`, `uper`: encodings that decode to the value; the first is what the value encodes to, under the canonical
//!   rules too. With `basic` behind the word, the canonical encoding is another: `caper`, `cuper`. `per` and `cper` are
//!   for both variants at once.
//! - `oer`: encodings that decode to the value; the first is what the value encodes to, under the canonical rules too.
//!   `coer` has what only those make of it.
//! - `jer`: JSON texts of the value, one a line; the first is what is written, character by character.
//! - `xer`, `cxer`, `exer`, `gser`: one text that reads as the value, and that the value is written as; with `read` behind the
//!   word, the first alone. White space between the elements of `xer` does not count.
//! - `error RULE` or `error RULE TypeName`: octets that are refused under these rules, one a line. A `;` and the name
//!   of an error kind at the end of a line say as what. Under rules of text, texts, one a line; ` ;; ` and
//!   a part of the message may stand behind one.
//! - `text`: an example.
//!
//! `#` begins a comment in blocks of octets, digits may be grouped with spaces, `00*9` is an octet repeated, and
//! `'1 010 0000'B` are bits in groups, as many as fill octets; in a JSON text `${AB*9}` is a text repeated.

pub mod generated;
pub mod inputs;

use serde_json::Value;
use tercet_plan::Rules;

use crate::engine::{Specification, Type};
use crate::{hex, same, text};

/// A markdown file as cases.
#[derive(Debug, Default)]
pub struct Document {
    /// The steps of all cases in order.
    pub steps: Vec<Step>,
}

/// One block.
#[derive(Clone, Debug)]
pub struct Step {
    /// The heading above it.
    pub heading: String,
    /// The line of its fence.
    pub line: usize,
    /// The words behind the fence.
    pub info: Vec<String>,
    /// Its text.
    pub text: String,
}

impl Document {
    /// Reads markdown.
    pub fn parse(text: &str) -> Self {
        let mut document = Self::default();
        let mut heading = String::new();
        let mut open: Option<Step> = None;
        for (i, line) in text.lines().enumerate() {
            match &mut open {
                Some(_) if line.trim_end() == "```" => document.steps.extend(open.take()),
                Some(step) => {
                    step.text.push_str(line);
                    step.text.push('\n');
                }
                None => {
                    if let Some(title) = line.strip_prefix('#') {
                        heading = title.trim_start_matches('#').trim().to_owned();
                    } else if let Some(info) = line.strip_prefix("```") {
                        let info = info.split_whitespace().map(str::to_owned).collect();
                        open =
                            Some(Step { heading: heading.clone(), line: i + 1, info, text: String::new() });
                    }
                }
            }
        }
        document
    }

    /// Runs all cases; the message of each failure begins with the line and the heading. Returns how many checks
    /// passed.
    pub fn run(&self) -> (usize, Vec<String>) {
        let mut state = State::default();
        let mut failures = Vec::new();
        for step in &self.steps {
            if let Err(messages) = state.step(step) {
                failures.extend(messages.iter().map(|m| format!("{}: {}: {m}", step.line, step.heading)));
            }
        }
        (state.passed, failures)
    }
}

#[derive(Default)]
struct State {
    specification: Option<Specification>,
    first_type: String,
    value: Option<(String, Value)>,
    passed: usize,
}

impl State {
    fn step(&mut self, step: &Step) -> Result<(), Vec<String>> {
        let mut messages = Vec::new();
        let mut check = |outcome: Result<(), String>| match outcome {
            Ok(()) => self.passed += 1,
            Err(message) => messages.push(message),
        };
        match step.info.first().map(String::as_str) {
            Some("asn1") => {
                self.value = None;
                self.specification = None;
                self.first_type = first_type(&step.text).unwrap_or_default();
                match Specification::from_text("spec.asn", &module(&step.text)) {
                    Ok(specification) => self.specification = Some(specification),
                    Err(message) => return Err(vec![format!("cannot compile: {message}")]),
                }
            }
            Some("value") => {
                let name = step.info.get(1).cloned().unwrap_or_else(|| self.first_type.clone());
                let value = serde_json::from_str(&repeated(&step.text))
                    .map_err(|e| vec![format!("not JSON: {e}")])?;
                self.value = Some((name, value));
            }
            // Blocks of JER have a text on each line, as those of octets.
            Some(rule) if text_rules(rule).is_some_and(|rules| rules != Rules::Jer) => {
                let (Some((name, value)), Some(specification)) = (&self.value, &self.specification) else {
                    return Err(vec!["no value or no type above".into()]);
                };
                let rules = text_rules(rule).unwrap_or_default();
                let mut of = specification.root(name).map_err(|e| vec![e])?;
                let written = repeated(&step.text);
                let written = written.trim_end_matches('\n');
                check(text::reads(&mut of, rules, written, value));
                if step.info.get(1).is_none_or(|word| word != "read") {
                    check(text::writes(&mut of, rules, value, written));
                }
            }
            Some("error") => {
                let rule = step.info.get(1).map_or("ber", String::as_str);
                let name = step.info.get(2).unwrap_or(&self.first_type);
                let Some(specification) = &self.specification else {
                    return Err(vec!["no type above".into()]);
                };
                let mut of = specification.root(name).map_err(|e| vec![e])?;
                if let Some(rules) = text_rules(rule) {
                    for line in texts(&step.text) {
                        check(text::refused(&mut of, rules, &line));
                    }
                    return if messages.is_empty() { Ok(()) } else { Err(messages) };
                }
                let claims = claims(rule, false, true).ok_or_else(|| vec![format!("no rules `{rule}`")])?;
                for (octets, kind) in lines(&step.text).map_err(|e| vec![e])? {
                    for claim in claims.iter().filter(|claim| claim.named) {
                        check(refused(&mut of, claim.rules, &octets, kind.as_deref()));
                    }
                }
            }
            Some("text") | None => {}
            Some(word) => {
                let (Some((name, value)), Some(specification)) = (&self.value, &self.specification) else {
                    return Err(vec!["no value or no type above".into()]);
                };
                let mut of = specification.root(name).map_err(|e| vec![e])?;
                if word == "jer" {
                    for (number, text) in texts(&step.text).iter().enumerate() {
                        check(json_text(&mut of, text, value, number == 0));
                    }
                    return if messages.is_empty() { Ok(()) } else { Err(messages) };
                }
                let basic = step.info.get(1).is_some_and(|word| word == "basic");
                for (number, (octets, _)) in lines(&step.text).map_err(|e| vec![e])?.iter().enumerate() {
                    let claims =
                        claims(word, basic, number == 0).ok_or_else(|| vec![format!("no rules `{word}`")])?;
                    for claim in claims {
                        check(encoding(&mut of, claim, octets, value));
                    }
                }
            }
        }
        if messages.is_empty() { Ok(()) } else { Err(messages) }
    }
}

/// What a line of octets says about one set of rules.
#[derive(Clone, Copy)]
struct Claim {
    rules: Rules,
    /// The value encodes to the octets; otherwise they decode to the value.
    encodes: bool,
    /// The block is called after these rules, not after stricter ones within them.
    named: bool,
}

/// The claims of a line below the name of rules, by whether it is the first of the block and has the word `basic`.
fn claims(word: &str, basic: bool, first: bool) -> Option<Vec<Claim>> {
    let one = |rules, encodes, named| Claim { rules, encodes, named };
    let packed = |plain: Rules, canonical: Rules, strict: bool| {
        let encodes = !strict && first;
        let plain = one(plain, encodes, !strict);
        if strict || encodes && !basic { vec![plain, one(canonical, true, strict)] } else { vec![plain] }
    };
    Some(match word {
        "ber" => vec![one(Rules::Ber, false, true)],
        "der" => vec![one(Rules::Ber, false, false), one(Rules::Der, true, true)],
        "cer" => vec![one(Rules::Ber, false, false), one(Rules::Cer, true, true)],
        "aper" | "caper" => packed(Rules::Aper, Rules::CanonicalAper, word == "caper"),
        "uper" | "cuper" => packed(Rules::Uper, Rules::CanonicalUper, word == "cuper"),
        "oer" | "coer" => packed(Rules::Oer, Rules::Coer, word == "coer"),
        "per" => [claims("aper", basic, first)?, claims("uper", basic, first)?].concat(),
        "cper" => [claims("caper", basic, first)?, claims("cuper", basic, first)?].concat(),
        _ => return None,
    })
}

fn encoding(of: &mut Type, claim: Claim, octets: &[u8], value: &Value) -> Result<(), String> {
    let rules = claim.rules;
    let got = of.decode(rules, octets).map_err(|e| format!("{rules:?} {}: {e}", hex::brief(octets)))?;
    same::compare(of.shape(), of.node(), value, &got)
        .map_err(|d| format!("{rules:?} {}: {d}", hex::brief(octets)))?;
    // What the engine makes of the value says the same, whatever options it takes.
    let made = of.encode(rules, value).map_err(|e| format!("{rules:?} encode: {e}"))?;
    if claim.encodes && made != octets {
        return Err(format!("{rules:?}: expected {}, got {}", hex::brief(octets), hex::brief(&made)));
    }
    let again = of.decode(rules, &made).map_err(|e| format!("own {rules:?} {}: {e}", hex::brief(&made)))?;
    same::compare(of.shape(), of.node(), value, &again)
        .map_err(|d| format!("own {rules:?} {}: {d}", hex::brief(&made)))
}

/// The rules of text with a name.
fn text_rules(name: &str) -> Option<Rules> {
    name.parse().ok().filter(|rules: &Rules| rules.is_text())
}

fn refused(of: &mut Type, rules: Rules, octets: &[u8], kind: Option<&str>) -> Result<(), String> {
    match of.decode_kind(rules, octets) {
        Ok(value) => Err(format!("{rules:?} {} is accepted: {}", hex::brief(octets), same::brief(&value))),
        Err((got, text)) => match kind {
            Some(kind) if kind != got => {
                Err(format!("{rules:?} {}: expected error {kind}, got {got}: {text}", hex::brief(octets)))
            }
            _ => Ok(()),
        },
    }
}

/// JSON has no one encoding of a value to compare; its DER does.
fn json_text(of: &mut Type, text: &str, value: &Value, written: bool) -> Result<(), String> {
    let want = of.encode(Rules::Der, value).map_err(|e| format!("der encode: {e}"))?;
    let got = of.encode_text(Rules::Der, text).map_err(|e| format!("{text}: {e}"))?;
    if got != want {
        return Err(format!("{text}: means {}, not {}", hex::brief(&got), hex::brief(&want)));
    }
    let made = of.decode_text(Rules::Der, &want)?;
    if written && made != text { Err(format!("expected {text}, got {made}")) } else { Ok(()) }
}

/// The lines of a block of JSON texts.
fn texts(text: &str) -> Vec<String> {
    text.lines().filter(|line| !line.trim().is_empty()).map(repeated).collect()
}

/// Octets and the error kind behind them.
type Line = (Vec<u8>, Option<String>);

/// The octets of each line with what stands behind `;`.
fn lines(text: &str) -> Result<Vec<Line>, String> {
    let mut joined: Vec<String> = Vec::new();
    for line in text.lines() {
        let plain = line.split('#').next().unwrap_or_default();
        if plain.trim().is_empty() {
            continue;
        }
        match joined.last_mut() {
            Some(last) if line.starts_with(' ') => last.push_str(plain),
            _ => joined.push(plain.to_owned()),
        }
    }
    joined
        .iter()
        .map(|line| {
            let (digits, kind) = line.split_once(';').map_or((line.as_str(), None), |(d, k)| (d, Some(k)));
            Ok((expand(digits)?, kind.map(|k| k.trim().to_owned())))
        })
        .collect()
}

/// Octets in hexadecimal, in which `00*999` stands for an octet repeated and `'1 010 0000'B` for bits.
fn expand(text: &str) -> Result<Vec<u8>, String> {
    let mut octets = Vec::new();
    for (number, part) in text.split('\'').enumerate() {
        if number % 2 == 1 {
            octets.extend(bits(part)?);
            continue;
        }
        let part = if number == 0 { Some(part) } else { part.strip_prefix('B') };
        for word in part.ok_or("bits end with 'B")?.split_whitespace() {
            match word.split_once('*') {
                Some((octet, times)) => {
                    let times: usize = times.parse().map_err(|e| format!("{word}: {e}"))?;
                    octets.extend(hex::parse(octet)?.repeat(times));
                }
                None => octets.extend(hex::parse(word)?),
            }
        }
    }
    Ok(octets)
}

fn bits(text: &str) -> Result<Vec<u8>, String> {
    let digits: String = text.split_whitespace().collect();
    if !digits.len().is_multiple_of(8) || digits.bytes().any(|digit| !matches!(digit, b'0' | b'1')) {
        return Err(format!("{} binary digits do not fill octets: {text}", digits.len()));
    }
    let octet = |at: usize| u8::from_str_radix(&digits[at..at + 8], 2).map_err(|e| e.to_string());
    (0..digits.len()).step_by(8).map(octet).collect()
}

/// A text in which `${AB*3}` stands for `ABABAB`.
fn repeated(text: &str) -> String {
    let mut parts = text.split("${");
    let mut whole = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let times = part.split_once('}').and_then(|(what, rest)| {
            let (what, times) = what.split_once('*')?;
            Some((what, times.parse().ok()?, rest))
        });
        match times {
            Some((what, times, rest)) => whole.extend([what.repeat(times).as_str(), rest]),
            None => whole.extend(["${", part]),
        }
    }
    whole
}

fn module(text: &str) -> String {
    if text.contains("DEFINITIONS") {
        text.to_owned()
    } else {
        format!("Spec DEFINITIONS ::= BEGIN\n{text}\nEND\n")
    }
}

fn first_type(text: &str) -> Option<String> {
    text.lines().find_map(|line| {
        let (name, _) = line.split_once("::=")?;
        let name = name.trim();
        let reference = name.starts_with(|c: char| c.is_ascii_uppercase())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
        reference.then(|| name.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_belong_to_their_heading() {
        let document = Document::parse("# A\n```asn1\nT ::= NULL\n```\ntext\n## B\n```ber\n05 00\n```\n");
        let headings: Vec<_> = document.steps.iter().map(|s| (s.heading.as_str(), s.line)).collect();
        assert_eq!(headings, [("A", 2), ("B", 7)]);
        assert_eq!(first_type(&document.steps[0].text).as_deref(), Some("T"));
    }

    #[test]
    fn lines_of_octets() {
        let text = "04 02 # comment\n   AABB\n0500 ; null-not-empty\n'1 01 00001'B 00*3 '0000 1111'B\n";
        let expected = vec![
            (vec![4, 2, 0xAA, 0xBB], None),
            (vec![5, 0], Some("null-not-empty".to_owned())),
            (vec![0xA1, 0, 0, 0, 15], None),
        ];
        assert_eq!(lines(text), Ok(expected));
        assert!(lines("'1010'B\n").is_err());
    }
}
