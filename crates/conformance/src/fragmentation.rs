//! Vectors that tell a long value by its pattern and its encoding by length, digest and both ends.
//!
//! A record has `module` and `type` (a file of the module's name in the folder `mods` beside it), `length`,
//! `value_pattern`, and `enc` with `octets`, `sha256`, and perhaps `head` and `tail` in hexadecimal for each rule.

use std::path::Path;

use serde_json::Value;
use sha2::{Digest, Sha256};
use tercet_plan::Rules;

use crate::engine::{Specification, Type};
use crate::{Tally, corpora, hex};

/// The one pattern there is: octet i is i modulo 251.
const PATTERN: &str = "octet i = i mod 251";

/// Runs a file of such vectors; the messages tell what failed.
///
/// # Errors
/// The file cannot be read or is not understood.
pub fn run(path: &Path) -> Result<(Tally, Vec<String>), String> {
    let mut tally = Tally::default();
    let mut failures = Vec::new();
    for line in corpora::read_text(path)?.lines().filter(|line| !line.trim().is_empty()) {
        let record: Value = serde_json::from_str(line).map_err(|e| format!("{}: {e}", path.display()))?;
        let id = record["id"].as_str().unwrap_or("(no id)");
        let module = record["module"].as_str().unwrap_or_default();
        if record["value_pattern"] != PATTERN {
            return Err(format!("{id}: unknown pattern {}", record["value_pattern"]));
        }
        let file = path.with_file_name("mods").join(format!("{module}.asn1"));
        let specification = Specification::load(&[file])?;
        let mut of = specification.root(record["type"].as_str().unwrap_or_default())?;
        let length = record["length"].as_u64().ok_or_else(|| format!("{id}: no length"))?;
        let octets: Vec<u8> = (0..length).map(|i| (i % 251) as u8).collect();
        for (rule, expected) in record["enc"].as_object().into_iter().flatten() {
            match check(&mut of, rule, &octets, expected) {
                Ok(()) => tally.passed += 1,
                Err(message) => {
                    tally.failed += 1;
                    failures.push(format!("{id} {rule}: {message}"));
                }
            }
        }
    }
    Ok((tally, failures))
}

/// The value encodes to what is told, and that decodes to the value.
fn check(of: &mut Type, rule: &str, octets: &[u8], expected: &Value) -> Result<(), String> {
    let rules = match rule {
        "ber" => Rules::Ber,
        "der" => Rules::Der,
        "cer" => Rules::Cer,
        "per" => Rules::Aper,
        "uper" => Rules::Uper,
        _ => return Err("no engine for the rule".into()),
    };
    let value = Value::String(hex::show(octets).to_uppercase());
    let made = of.encode(rules, &value)?;
    if expected["octets"] != made.len() {
        return Err(format!("{} octets made, {} expected", made.len(), expected["octets"]));
    }
    let end = |key: &str| hex::parse(expected[key].as_str().unwrap_or_default());
    if !made.starts_with(&end("head")?) || !made.ends_with(&end("tail")?) {
        return Err("an end differs".into());
    }
    let digest = hex::show(&Sha256::digest(&made));
    if expected["sha256"] != digest.as_str() {
        return Err(format!("digest {digest}"));
    }
    if of.decode(rules, &made)? == value { Ok(()) } else { Err("decodes to something else".into()) }
}
