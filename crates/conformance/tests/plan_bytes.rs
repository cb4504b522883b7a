//! Plan files: what is written is read back the same, for all specifications that we ship and all rules.

use std::path::PathBuf;
use tercet::plan::{Rules, bytes};
use tercet::{Schema, SchemaOptions};
use tercet_conformance::corpora::repository;

const RULES: [Rules; 9] = [
    Rules::Ber,
    Rules::Der,
    Rules::Cer,
    Rules::Aper,
    Rules::Uper,
    Rules::CanonicalAper,
    Rules::CanonicalUper,
    Rules::Oer,
    Rules::CanonicalOer,
];

fn check(name: &str, paths: &[PathBuf]) {
    let schema = Schema::load(paths, &SchemaOptions::default()).expect(name);
    let Ok(plans) = schema.trial_plans(&RULES, &[]) else { return };
    let octets = bytes::write(&plans).expect("plans of one shape");
    let read = bytes::read(&octets).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert!(read == plans, "{name}: other plans");
    assert!(bytes::write(&read).as_ref() == Some(&octets), "{name}: another form");
    let [first, second, ..] = &read[..] else { panic!("{name}: {} plans", read.len()) };
    assert!(std::sync::Arc::ptr_eq(&first.shape, &second.shape), "{name}: two shapes");
}

#[test]
fn plans_are_read_back_as_they_are_written() {
    let folders = std::fs::read_dir(repository().join("schemas")).expect("our schemas");
    let mut count = 0;
    for folder in folders.map(|entry| entry.expect("an entry").path()).filter(|path| path.is_dir()) {
        check(&folder.display().to_string(), std::slice::from_ref(&folder));
        count += 1;
    }
    assert!(count > 3, "{count} folders");
    check("zoo", &[repository().join("crates/conformance/tests/generated/zoo.asn")]);
}

/// The specifications of the corpora, where they are.
#[test]
fn plans_of_large_specifications_are_read_back() {
    let Some(corpora) = tercet_testing::corpora("") else { return };
    let mut folders = vec![corpora];
    while let Some(folder) = folders.pop() {
        let inside =
            std::fs::read_dir(&folder).expect("a folder").map(|entry| entry.expect("an entry").path());
        let (more, files): (Vec<_>, Vec<_>) = inside.partition(|path| path.is_dir());
        let is_text = |path: &PathBuf| path.extension().is_some_and(|it| it == "asn" || it == "asn1");
        if files.iter().any(is_text) {
            check(&folder.display().to_string(), std::slice::from_ref(&folder));
        } else {
            folders.extend(more);
        }
    }
}
