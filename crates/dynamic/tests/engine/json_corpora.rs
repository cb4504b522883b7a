//! JSON and value trees against the vectors of several tools, and hostile texts with the verdict that each must get.

#![allow(clippy::print_stderr, reason = "a differing vector is named")]

use crate::common::{compile, hex, lines, to_hex};
use serde_json::Value as Json;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use tercet_dynamic::json::{self, OpenTypes};
use tercet_dynamic::{NodeId, Options, Plan, Rules, Tape, Value, decode, encode};

fn encoded(plan: &Plan, tape: &Tape, input: &[u8]) -> Result<String, String> {
    let mut out = Vec::new();
    encode(plan, Rules::Der, tape.view(input), &mut out).map_err(|error| error.to_string())?;
    Ok(to_hex(&out))
}

/// What does not hold of a vector.
fn vector(plan: &Plan, record: &Json) -> Vec<String> {
    let (module, name) = (record["module"].as_str().unwrap_or(""), record["type"].as_str().unwrap_or(""));
    let Some(root) = plan.root(&format!("{module}.{name}")) else { return vec!["no such root".to_owned()] };
    let Some(der) = record["enc"]["der"]["hex"].as_str().map(hex) else { return Vec::new() };
    let mut wrong = Vec::new();
    let mut tape = Tape::new();
    if let Err(error) = decode(plan, root, &der, &mut tape, &Options::default()) {
        return vec![format!("der: {error}")];
    }
    // Where the engine itself does not give the octets back, JSON cannot.
    let Ok(again) = encoded(plan, &tape, &der) else { return Vec::new() };
    let mut plain = Vec::new();
    json::write(&plan.shape, tape.view(&der), &mut plain, &json::Options::default());
    let parsed: Option<Json> = serde_json::from_slice(&plain).ok();
    if parsed.is_none() {
        wrong.push("the text is no JSON".to_owned());
    }
    let peers = record["enc"]["jer"]["text"].as_str();
    if let Some(text) = peers
        && serde_json::from_str(text).ok() != parsed
    {
        wrong.push(format!("{} written for {text}", String::from_utf8_lossy(&plain)));
    }
    let mut options = json::Options::default();
    options.open_types = OpenTypes::Tagged;
    let mut tagged = Vec::new();
    json::write(&plan.shape, tape.view(&der), &mut tagged, &options);
    options.indent = Some(1);
    let mut pretty = Vec::new();
    json::write(&plan.shape, tape.view(&der), &mut pretty, &options);
    let tree = Value::from_view(&plan.shape, tape.view(&der)).expect("a value");
    let put = tree.to_tape(&plan.shape, root, &mut tape).map_err(|error| error.to_string());
    match put.and_then(|()| encoded(plan, &tape, &[])) {
        Ok(octets) if octets == again => {}
        other => wrong.push(format!("tree: {other:?} for {again}")),
    }
    if Value::from_view(&plan.shape, tape.view(&[])).as_ref() != Some(&tree) {
        wrong.push(format!("tree: {tree} is another"));
    }
    wrong.extend(reading(plan, root, "plain", &plain, &options, &again, &mut tape));
    let mut twice = Vec::new();
    json::write(&plan.shape, tape.view(&[]), &mut twice, &json::Options::default());
    if twice != plain {
        wrong.push(format!(
            "{} reads back as {}",
            String::from_utf8_lossy(&plain),
            String::from_utf8_lossy(&twice)
        ));
    }
    wrong.extend(reading(plan, root, "tagged", &tagged, &options, &again, &mut tape));
    wrong.extend(reading(plan, root, "pretty", &pretty, &options, &again, &mut tape));
    if let Some(text) = peers {
        wrong.extend(reading(plan, root, "peers", text.as_bytes(), &options, &again, &mut tape));
    }
    options.general_strings = json::GeneralStrings::Characters;
    wrong.extend(reading(
        plan,
        root,
        "value",
        record["value"].to_string().as_bytes(),
        &options,
        &again,
        &mut tape,
    ));
    wrong
}

/// What is wrong with a text that should give these octets.
fn reading(
    plan: &Plan,
    root: NodeId,
    what: &str,
    text: &[u8],
    options: &json::Options,
    expect: &str,
    tape: &mut Tape,
) -> Option<String> {
    if let Err(error) = json::read(&plan.shape, root, text, tape, options) {
        return Some(format!("{what}: {error}"));
    }
    match encoded(plan, tape, &[]) {
        Ok(octets) if octets == expect => None,
        Ok(octets) => Some(format!("{what}: {octets} for {expect}")),
        Err(error) => Some(format!("{what}: {error}")),
    }
}

/// The files of a record's specification: those it names, or all of the folder with the specification's name.
fn schema(asn1: &Path, record: &Json) -> Vec<PathBuf> {
    let named = record["files"].as_array().into_iter().flatten().filter_map(Json::as_str);
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

#[test]
fn vectors_agree() {
    for asn1 in tercet_testing::all_corpora("asn1") {
        let is_own = asn1.starts_with(tercet_testing::own_corpora());
        all_agree(&asn1, if is_own { 30 } else { 10_000 });
    }
}

fn all_agree(asn1: &Path, at_least: usize) {
    let mut by_schema: BTreeMap<Vec<PathBuf>, Vec<Json>> = BTreeMap::new();
    let vectors = std::fs::read_dir(asn1.join("vectors")).expect("vectors").flatten();
    for path in
        vectors.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|e| e == "jsonl"))
    {
        for record in lines(&path) {
            by_schema.entry(schema(asn1, &record)).or_default().push(record);
        }
    }
    // Proved wrong by the standard, with the clauses; their ids stand in quotes, several in one pair. Of those with a wrong
    // text alone, all else holds.
    let listed =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vector-exceptions.toml"))
            .expect("the list of exceptions");
    let mut wrong_text = HashMap::new();
    let mut ids = "";
    for line in listed.lines() {
        if let Some(line) = line.strip_prefix("id = ") {
            ids = line.trim_matches('"');
        } else if let Some(rule) = line.strip_prefix("rule = ") {
            wrong_text.extend(ids.split_whitespace().map(|id| (id, rule == "\"jer\"")));
        }
    }
    let (mut total, mut bad) = (0, 0);
    for (files, records) in by_schema {
        let Some(plan) = compile(&files) else { continue };
        for mut record in records {
            match record["id"].as_str().and_then(|id| wrong_text.get(id)) {
                Some(true) => record["enc"]["jer"] = Json::Null,
                Some(false) => continue,
                None => {}
            }
            total += 1;
            let wrong = vector(&plan, &record);
            if !wrong.is_empty() {
                bad += 1;
                eprintln!("{}: {}", record["id"], wrong.join("; ").chars().take(400).collect::<String>());
            }
        }
    }
    assert!(total > at_least && bad == 0, "{total} vectors, {bad} differ");
}

#[test]
fn hostile_texts_get_their_verdict() {
    for folder in tercet_testing::all_corpora("hostile/gen") {
        let is_own = folder.starts_with(tercet_testing::own_corpora());
        get_their_verdict(folder, if is_own { 10 } else { 20 });
    }
}

fn get_their_verdict(folder: PathBuf, at_least: usize) {
    let plan = compile(&[folder.join("adv.asn")]).expect("adv.asn");
    let run = move || {
        let (mut total, mut bad) = (0, 0);
        for record in lines(&folder.join("manifest.jsonl")) {
            let (Some("jer"), Some(expect)) = (record["codec"].as_str(), record["expect"]["jer"].as_str())
            else {
                continue;
            };
            let root = plan.root(record["pdu"].as_str().unwrap_or("")).expect("a root");
            let text = std::fs::read(folder.join(record["file"].as_str().unwrap_or(""))).expect("a file");
            total += 1;
            let got = json::read(&plan.shape, root, &text, &mut Tape::new(), &json::Options::default());
            let verdict = if got.is_ok() { "accept" } else { "reject" };
            let long = got.as_ref().is_err_and(|error| error.to_string().len() > 512);
            if (expect != "free" && expect != verdict) || long {
                bad += 1;
                eprintln!("{}: expected {expect}: {got:?}", record["id"]);
            }
        }
        eprintln!("{total} verdicts, {bad} differ");
        assert!(total > at_least && bad == 0);
    };
    // Reading must do with a small stack; the manifest needs some more.
    std::thread::Builder::new().stack_size(512 << 10).spawn(run).expect("thread").join().expect("no panic");
}
