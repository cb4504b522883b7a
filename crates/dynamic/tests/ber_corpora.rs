//! Vectors of several tools, and hostile inputs with the verdict that each must get.

#![allow(clippy::print_stderr, reason = "a skipped test says so, a differing vector is named")]

mod common;

use common::{again, events, hex, to_hex};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tercet_dynamic::{Options, Plan, Rules};

fn corpora() -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpora");
    if !path.is_dir() {
        eprintln!("SKIPPED: no corpora at {}", path.display());
        return None;
    }
    Some(path)
}

fn compile(files: &[PathBuf]) -> Option<Plan> {
    let mut map = tercet_syntax::SourceMap::new();
    let mut modules = Vec::new();
    for path in files {
        let (file, _) = map.add_bytes(path.display().to_string(), std::fs::read(path).ok()?);
        modules.extend(tercet_syntax::parse(&map, file, &tercet_syntax::ParseOptions::default()).0);
    }
    let options = tercet_model::Options { lenient: true, ..Default::default() };
    let (model, _) = tercet_model::resolve(&map, &modules, &options);
    Some(tercet_lower::plan(&model, Rules::Ber, &tercet_lower::all_roots(&model)).0)
}

fn lines(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// The files of a record's specification: those it names, or all of the folder with the specification's name.
fn schema(asn1: &Path, record: &Value) -> Vec<PathBuf> {
    let named = record["files"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let mut files: Vec<PathBuf> = named.map(|file| asn1.join(file)).collect();
    if files.is_empty() {
        let entries = |path: &Path| std::fs::read_dir(path).into_iter().flatten().flatten().map(|e| e.path());
        let folders =
            entries(&asn1.join("specs")).map(|domain| domain.join(record["spec"].as_str().unwrap_or("?")));
        files = folders.flat_map(|folder| entries(&folder).collect::<Vec<_>>()).collect();
        files.retain(|file| file.extension().is_some_and(|e| e.to_string_lossy().starts_with("asn")));
        files.sort();
    }
    files
}

/// What must hold of a vector; the answer is what does not.
fn vector(plan: &Plan, record: &Value) -> Vec<String> {
    let root =
        format!("{}.{}", record["module"].as_str().unwrap_or(""), record["type"].as_str().unwrap_or(""));
    let mut wrong = Vec::new();
    if plan.root(&root).is_none() {
        return vec![format!("no root {root}")];
    }
    let forms = |rules: &str| record["enc"][rules]["hex"].as_str().map(hex);
    let mut value = None;
    for (name, rules) in [("der", Rules::Der), ("ber", Rules::Ber), ("cer", Rules::Cer)] {
        let Some(input) = forms(name) else { continue };
        let mut options = Options::default();
        options.rules = rules;
        match events(plan, &root, &input, &options) {
            Err(error) => wrong.push(format!("{name}: {error}")),
            Ok((_, used)) if used != input.len() => wrong.push(format!("{name}: {used} of {}", input.len())),
            Ok((text, _)) => {
                if name != "cer" {
                    match again(plan, &root, &input, rules) {
                        Ok(octets) if octets == input => {}
                        Ok(octets) => wrong.push(format!("{name}: encoded as {}", to_hex(&octets))),
                        Err(error) => wrong.push(format!("{name}: encoding: {error}")),
                    }
                }
                if name == "der" {
                    if let Some(cer) = forms("cer") {
                        match again(plan, &root, &input, Rules::Cer) {
                            Ok(octets) if octets == cer => {}
                            Ok(octets) => wrong.push(format!("cer: encoded as {}", to_hex(&octets))),
                            Err(error) => wrong.push(format!("cer: encoding: {error}")),
                        }
                    }
                    value = Some(text);
                }
            }
        }
    }
    for variant in record["ber_variants"].as_array().into_iter().flatten() {
        let Some(input) = variant["hex"].as_str().map(hex) else { continue };
        match events(plan, &root, &input, &Options::default()) {
            Err(error) => wrong.push(format!("variant {}: {error}", variant["variant"])),
            Ok((text, _)) => {
                // Octets of open types that nobody resolves stay as they came.
                if let Some(value) = &value
                    && text.replace('+', "") != *value
                    && again(plan, &root, &input, Rules::Der).ok() != forms("der")
                {
                    wrong.push(format!("variant {} differs", variant["variant"]));
                }
            }
        }
    }
    wrong
}

#[test]
fn vectors_agree() {
    let Some(corpora) = corpora() else { return };
    let asn1 = corpora.join("asn1");
    let mut by_schema: BTreeMap<Vec<PathBuf>, Vec<Value>> = BTreeMap::new();
    let mut folder: Vec<PathBuf> = std::fs::read_dir(asn1.join("vectors"))
        .expect("vectors")
        .flatten()
        .map(|entry| entry.path())
        .collect();
    folder.push(asn1.join("traps/traps.jsonl"));
    folder.retain(|path| path.extension().is_some_and(|e| e == "jsonl"));
    for path in folder {
        for record in lines(&path) {
            let wanted = ["der", "ber", "cer"].iter().any(|rules| record["enc"][*rules]["hex"].is_string());
            if wanted {
                let files = schema(&asn1, &record);
                by_schema.entry(files).or_default().push(record);
            }
        }
    }
    let (mut total, mut bad) = (0, 0);
    // Character strings in segments with the tag of their own type: X.690 8.23.3 and 8.7.3.2 want OCTET STRING's.
    let explained =
        |wrong: &str| wrong.contains("variant") && wrong.contains("segment of a constructed string");
    for (files, records) in by_schema {
        let Some(plan) = compile(&files) else { continue };
        for record in records {
            total += 1;
            let mut wrong = vector(&plan, &record);
            wrong.retain(|wrong| !explained(wrong));
            if !wrong.is_empty() {
                bad += 1;
                eprintln!("{}: {}", record["id"], wrong.join("; ").chars().take(300).collect::<String>());
            }
        }
    }
    eprintln!("{total} vectors, {bad} differ");
    // Where the peers leave the standard: tags of dummy references (X.680 31.2.7 c), second roots (25.7), open types.
    assert!(total > 1000 && bad * 20 < total);
}

#[test]
fn hostile_inputs_get_their_verdict() {
    let Some(corpora) = corpora() else { return };
    let gen_folder = corpora.join("hostile/gen");
    let plan = compile(&[gen_folder.join("adv.asn")]).expect("adv.asn");
    let (mut total, mut bad) = (0, 0);
    let run = move || {
        for record in lines(&gen_folder.join("manifest.jsonl")) {
            if !record["codec"].as_str().unwrap_or("").starts_with("ber") {
                continue;
            }
            let Some(root) = record["pdu"].as_str() else { continue };
            let Ok(input) = std::fs::read(gen_folder.join(record["file"].as_str().unwrap_or(""))) else {
                continue;
            };
            for (name, rules) in [("ber", Rules::Ber), ("der", Rules::Der), ("cer", Rules::Cer)] {
                let Some(expect) = record["expect"][name].as_str() else { continue };
                total += 1;
                let begin = std::time::Instant::now();
                if plan.root(root).is_none() {
                    continue;
                }
                let got = events(&plan, root, &input, &Options::strict(rules));
                let good = matches!(&got, Ok((_, used)) if *used == input.len());
                let took = begin.elapsed();
                if (expect == "accept" && !good) || (expect == "reject" && good) || took.as_secs() > 1 {
                    bad += 1;
                    let error = got.err().map_or_else(String::new, |e| e.to_string());
                    eprintln!(
                        "{} {name}: expected {expect}: {error} {} {took:?}",
                        record["id"], record["note"]
                    );
                }
            }
        }
        eprintln!("{total} verdicts, {bad} differ");
        // Four of CER, which has no definite lengths (9.1), and constraints of value sets.
        assert!(bad < 10);
    };
    // A decoder must do with a small stack; reading JSON and printing need some more.
    std::thread::Builder::new().stack_size(1 << 20).spawn(run).expect("thread").join().expect("no panic");
}
