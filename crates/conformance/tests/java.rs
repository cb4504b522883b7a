//! Generated Java reads and writes what the engine does, and finds the same faults.

use std::collections::BTreeSet;
use std::path::PathBuf;

use tercet::runtime::ErrorKind;
use tercet_conformance::equal::{self, Arguments, Language};
use tercet_conformance::literate::generated;
use tercet_testing::{programs, repository};

fn compare(paths: &[&str], count: usize, types: usize) {
    if programs("jdk", ["javac", "java"]).is_none() {
        return;
    }
    let arguments = Arguments {
        language: Language::Java,
        count,
        damaged: 4,
        rules: Vec::new(),
        types,
        roots: Vec::new(),
        seed: 1,
        build_only: false,
        jer: false,
        small: false,
        paths: paths.iter().map(|path| repository().join(path)).collect::<Vec<PathBuf>>(),
    };
    let mut out = Vec::new();
    let tally = equal::run(&arguments, &mut out).unwrap();
    let said = String::from_utf8_lossy(&out);
    assert!(tally.failed == 0 && tally.skipped == 0 && tally.passed > count, "{said}");
    // The columns of kinds, places and paths, whose differences are listed and not counted as failed.
    let tallies = said.split_whitespace().filter_map(|word| word.split_once('/'));
    let differing = tallies.filter(|(equal, all)| equal.parse::<usize>().is_ok() && equal != all).count();
    assert_eq!(differing, 0, "{said}");
}

#[test]
fn values_of_every_type_are_those_of_the_engine() {
    compare(&["crates/conformance/tests/generated/leaves.asn"], 4, 40);
}

#[test]
fn structures_and_tables_are_those_of_the_engine() {
    let folder = "crates/conformance/tests/generated";
    compare(&[&format!("{folder}/zoo.asn"), &format!("{folder}/depths.asn"), "schemas/demo"], 12, 20);
}

#[test]
fn hard_names_and_long_types_are_those_of_the_engine() {
    compare(&["crates/conformance/tests/generated/names.asn"], 12, 20);
}

#[test]
fn hard_texts_and_tables_are_those_of_the_engine() {
    compare(&["crates/conformance/tests/generated/texts.asn"], 6, 40);
}

#[test]
fn enumerations_of_thousands_of_items_are_those_of_the_engine() {
    let items = |name: &str, count: usize| {
        (0..count).map(|number| format!("{name}-{number}")).collect::<Vec<_>>().join(", ")
    };
    let text = format!(
        "Many DEFINITIONS AUTOMATIC TAGS ::= BEGIN Items ::= ENUMERATED {{ {}, ..., {} }} END",
        items("item", 2000),
        items("later", 300)
    );
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("many.asn");
    std::fs::write(&path, text).unwrap();
    compare(&[path.to_str().unwrap()], 40, 1);
}

#[test]
fn vectors_by_clause_hold() {
    if programs("jdk", ["javac", "java"]).is_none() {
        return;
    }
    // Some clauses of each rule; `cargo conformance spec --language java` runs all.
    let files = ["690-8.9-constructed.md", "691-11-procedures.md", "696-20-choice.md", "697-20-values.md"];
    let arguments = generated::Arguments {
        language: Some(Language::Java),
        files: files.iter().map(|file| repository().join("tests/spec").join(file)).collect(),
    };
    let mut out = Vec::new();
    let tally = generated::run(&arguments, &mut out).unwrap();
    assert!(tally.failed == 0 && tally.passed > 500, "{tally} {}", String::from_utf8_lossy(&out));
    // What Java says that it cannot do; a new gap is a fault.
    assert!(tally.skipped <= 24, "{tally} {}", String::from_utf8_lossy(&out));
}

#[test]
fn the_faults_are_those_of_the_runtime() {
    let path = "bindings/java/tercet-runtime/src/main/java/io/tercet/runtime/ErrorKind.java";
    let text = std::fs::read_to_string(repository().join(path)).unwrap();
    let said: BTreeSet<String> = text
        .lines()
        .filter(|line| line.starts_with("    ") && line.contains("(") && line.contains("\", "))
        .map(|line| line.trim().trim_end_matches([',', ';']).to_owned())
        .collect();
    let kind = |kind: &ErrorKind| {
        let name = kind.name().to_uppercase().replace('-', "_");
        let clause = kind.clause().map_or_else(|| "null".to_owned(), |clause| format!("{clause:?}"));
        format!("{name}({}, {:?}, {clause}, {:?})", kind.code(), kind.name(), kind.message())
    };
    let mut expected: BTreeSet<String> = ErrorKind::ALL.iter().map(kind).collect();
    // What is wrong with a text is a message.
    expected.insert("TEXT(0, \"text\", null, \"the text is not a value of the type\")".into());
    assert_eq!(said, expected);
}
