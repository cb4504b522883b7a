//! A snapshot of some texts gives the same answers as one of all texts.

use std::collections::{BTreeMap, BTreeSet};
use tercet_ide::{Reach, Snapshot};
use tercet_schema::SchemaOptions;
use tercet_schema::syntax::Diagnostic;

const TEXTS: [(&str, &str); 5] = [
    ("a", "A DEFINITIONS ::= BEGIN IMPORTS Port FROM B; Ship ::= SEQUENCE { home Port, load Cargo } END"),
    ("b", "B DEFINITIONS ::= BEGIN IMPORTS Pier FROM C; Port ::= SEQUENCE OF Pier END"),
    ("c", "C DEFINITIONS ::= BEGIN Pier ::= INTEGER END"),
    ("d", "D DEFINITIONS ::= BEGIN Cargo ::= IA5String Sail ::= NULL END"),
    ("e", "E DEFINITIONS ::= BEGIN IMPORTS Ship FROM A; Fleet ::= SEQUENCE OF Ship END"),
];

/// What is said about a text.
fn said(snapshot: &Snapshot, name: &str) -> Vec<String> {
    let file = snapshot.file(name).expect("the text is there");
    let start = snapshot.sources().file(file).start;
    let of = |it: &Diagnostic| format!("{} {} {:?}", it.primary.span.lo - start, it.message, it.help);
    snapshot.diagnostics(file).map(of).collect()
}

#[test]
fn some_texts_say_the_same_as_all() {
    let mut texts: BTreeMap<&str, &str> = TEXTS.into_iter().collect();
    let (mut reach, options) = (Reach::default(), SchemaOptions::default());
    let check = |reach: &mut Reach, texts: &BTreeMap<&str, &str>, start: &str, files: usize| {
        let near = reach.near(texts, &[start], &options);
        let all = Snapshot::with_options(texts.iter().map(|(name, text)| (*name, *text)), &options);
        assert_eq!(near.snapshot.sources().files().len(), files, "{start}");
        assert_eq!(said(&near.snapshot, start), said(&all, start));
    };
    check(&mut reach, &texts, "c", 1);
    check(&mut reach, &texts, "b", 2);
    // The name that is not imported is in D.
    check(&mut reach, &texts, "a", 4);
    // An edit that imports another module.
    texts.insert("c", "C DEFINITIONS ::= BEGIN IMPORTS Fleet FROM E; Pier ::= Fleet END");
    check(&mut Reach::default(), &texts, "c", 5);
    let mut reach = Reach::default();
    reach.near(&TEXTS.into_iter().collect(), &["c"], &options);
    check(&mut reach, &texts, "c", 5);
    // A module in two texts; one that is named by its object identifier only.
    texts.insert("f", "C DEFINITIONS ::= BEGIN END");
    check(&mut Reach::default(), &texts, "f", 6);
    texts.remove("f");
    texts.insert("b", "B DEFINITIONS ::= BEGIN IMPORTS Pier FROM X {1 2 3}; Port ::= D.Cargo END");
    check(&mut Reach::default(), &texts, "b", 5);
    texts.insert("b", "B DEFINITIONS ::= BEGIN Port ::= D . Cargo END");
    check(&mut Reach::default(), &texts, "b", 2);
}

#[test]
fn other_modules_are_proposed() {
    let texts: BTreeMap<&str, &str> = TEXTS.into_iter().collect();
    let (mut reach, options) = (Reach::default(), SchemaOptions::default());
    let near = reach.near(&texts, &["b"], &options);
    let outside: Vec<&str> = reach.outside(&near.snapshot).map(|it| it.name).collect();
    assert_eq!(outside, ["Ship", "Cargo", "Sail", "Fleet"]);
    let edited = BTreeSet::from(["c".to_owned()]);
    assert!(reach.depends("e", &edited, &options) && !reach.depends("d", &edited, &options));
}
