//! What helps while a text is written: hints, proposals that the text in front requires, markers, names of arcs.

use tercet_ide::{HintKind, Snapshot};
use tercet_schema::{Rules, Schema};
use tercet_syntax::Span;

/// The text with hints of some kinds written into it.
fn hinted(text: &str, kinds: &[HintKind], per: Option<Rules>) -> String {
    let snapshot = Snapshot::new([("a.asn", text)]);
    let file = snapshot.file("a.asn").unwrap();
    let mut shown = text.to_owned();
    for hint in snapshot.hints_of(file, Span::new(0, text.len() as u32), kinds, per).iter().rev() {
        shown.insert_str(hint.at as usize, &format!("«{}»", hint.text.trim_start()));
    }
    shown
}

#[test]
fn widths_are_those_of_per() {
    let text = "A DEFINITIONS AUTOMATIC TAGS ::= BEGIN
        T ::= SEQUENCE { a INTEGER (0..63), b BOOLEAN OPTIONAL, c Name DEFAULT \"x\", d INTEGER, e E, f Inner }
        Name ::= IA5String (SIZE (1..3))
        E ::= ENUMERATED { one, two, three, ... }
        Inner ::= SEQUENCE OF INTEGER (0..1)
        END";
    let shown = hinted(text, &[HintKind::Width], Some(Rules::Uper));
    // X.691 §11.5: 0..63 has six bits. §14: an extension bit, two bits for three items. §30: two bits of length for 1..3,
    // seven for each character.
    assert!(
        shown.contains("a INTEGER (0..63)«6 bits», b BOOLEAN«1 bit» OPTIONAL, c Name«9 to 23 bits»"),
        "{shown}"
    );
    assert!(shown.contains("d INTEGER, e E«3 bits», f Inner }"), "{shown}");
    assert!(
        shown.contains("(SIZE (1..3))«9 to 23 bits»") && shown.contains("OF INTEGER (0..1)«1 bit»"),
        "{shown}"
    );
    assert_eq!(hinted(text, &[HintKind::Width], None), text);
    assert_eq!(hinted(text, &[], Some(Rules::Uper)), text);
}

#[test]
fn bits_in_front_are_counted() {
    let kinds = [HintKind::Presence];
    let shown = hinted(
        "A DEFINITIONS AUTOMATIC TAGS ::= BEGIN
        T ::= SEQUENCE { a NULL OPTIONAL, b NULL DEFAULT NULL, ..., c NULL OPTIONAL }
        U ::= [5] SEQUENCE { a NULL }
        C ::= CHOICE { a NULL, b NULL, c NULL, ..., d NULL }
        D ::= CHOICE { only NULL }
        END",
        &kinds,
        Some(Rules::Uper),
    );
    assert!(shown.contains("T ::= SEQUENCE {«extension bit, 2 presence bits» a"), "{shown}");
    assert!(shown.contains("U ::= [5] SEQUENCE { a"), "{shown}");
    // X.691 §23.6: three alternatives of the root, 0..2.
    assert!(shown.contains("C ::= CHOICE {«extension bit, 2 index bits» a"), "{shown}");
    assert!(shown.contains("D ::= CHOICE { only"), "{shown}");
}

#[test]
fn headers_without_a_default_of_tags_have_one() {
    let kinds = [HintKind::TagDefault];
    let check = |text: &str, expected: &str| assert_eq!(hinted(text, &kinds, None), expected);
    check("A DEFINITIONS ::= BEGIN END", "A DEFINITIONS«EXPLICIT TAGS» ::= BEGIN END");
    check("A DEFINITIONS IMPLICIT TAGS ::= BEGIN END", "A DEFINITIONS IMPLICIT TAGS ::= BEGIN END");
    check(
        "A {1 2} DEFINITIONS XER INSTRUCTIONS ::= BEGIN END",
        "A {1 2} DEFINITIONS XER INSTRUCTIONS«EXPLICIT TAGS» ::= BEGIN END",
    );
}

#[test]
fn instances_that_differ_have_no_hint() {
    let text = "A DEFINITIONS ::= BEGIN
        P{INTEGER: n} ::= SEQUENCE { x INTEGER (0..n), y BOOLEAN }
        T ::= P{7} U ::= P{255} END";
    let shown = hinted(text, &[HintKind::Width], Some(Rules::Uper));
    assert!(shown.contains("(0..n), y BOOLEAN«1 bit»"), "{shown}");
}

const ARCS: &str = "A { joint-iso-itu-t asn1(1) 5 } DEFINITIONS ::= BEGIN
    ds OBJECT IDENTIFIER ::= { joint-iso-itu-t ds(5) }
    id-at OBJECT IDENTIFIER ::= { ds attributeType(4) }
    name OBJECT IDENTIFIER ::= { id-at 3 }
    END";

fn hover(piece: &str) -> String {
    let snapshot = Snapshot::new([("a.asn", ARCS)]);
    let at = ARCS.find(piece).unwrap() + piece.len() - 1;
    snapshot.hover(snapshot.position("a.asn", at).unwrap()).expect(piece).markdown
}

#[test]
fn arcs_have_names() {
    let shown = hover("   name");
    let arcs = "Object identifier `2.5.4.3`: `joint-iso-itu-t(2) ds(5) attributeType(4) 3`";
    assert!(shown.contains(arcs) && shown.contains("Names: `id-at-commonName`, `name`"), "{shown}");
}

#[test]
fn components_in_braces_are_arcs_up_to_there() {
    assert!(
        hover("{ joint-iso-itu-t asn1").starts_with("Object identifier `2.1`: `joint-iso-itu-t(2) asn1(1)`")
    );
    assert!(hover("asn1(1) 5").starts_with("Object identifier `2.1.5`: "));
    assert!(hover("{ joint-iso").starts_with("Object identifier `2`: `joint-iso-itu-t(2)`"));
    // A name that is defined keeps its definition.
    assert!(hover("{ id-at").contains("id-at OBJECT IDENTIFIER ::="));
}

/// The text after the action at a piece of it.
fn marked(body: &str, piece: &str) -> Option<String> {
    let text = format!("A DEFINITIONS AUTOMATIC TAGS ::= BEGIN\n{body}\nEND\n");
    let snapshot = Snapshot::new([("a.asn", text.as_str())]);
    let fix = snapshot.extension_marker(text.find(piece).expect(piece) as u32)?;
    let mut new = text;
    for edit in fix.edits.iter().rev() {
        new.replace_range(edit.span.lo as usize..edit.span.hi as usize, &edit.text);
    }
    assert!(!Schema::from_text("a.asn", &new).has_errors(), "{new}");
    // There is one now.
    let again = Snapshot::new([("a.asn", new.as_str())]);
    assert_eq!(again.extension_marker(new.find(piece).unwrap() as u32), None, "{new}");
    Some(new.lines().skip(1).take(new.lines().count() - 2).collect::<Vec<_>>().join("\n"))
}

#[test]
fn markers_stand_behind_the_last_item() {
    let check = |body: &str, piece: &str, expected: &str| {
        assert_eq!(marked(body, piece).as_deref(), Some(expected), "{body}");
    };
    check("T ::= SEQUENCE { a NULL }", "SEQ", "T ::= SEQUENCE { a NULL, ... }");
    check("T ::= SEQUENCE {}", "SEQ", "T ::= SEQUENCE { ... }");
    check("T ::= ENUMERATED { a, b(5) }", "b(", "T ::= ENUMERATED { a, b(5), ... }");
    check(
        "T ::= SEQUENCE {\n    a NULL,\n    b CHOICE { c NULL } OPTIONAL\n} (WITH COMPONENTS { a })",
        "a NULL",
        "T ::= SEQUENCE {\n    a NULL,\n    b CHOICE { c NULL } OPTIONAL,\n    ...\n} (WITH COMPONENTS { a })",
    );
    check(
        "T ::= SEQUENCE {\n    a NULL,\n    b [5] CHOICE { c NULL }\n}",
        "c NULL",
        "T ::= SEQUENCE {\n    a NULL,\n    b [5] CHOICE { c NULL, ... }\n}",
    );
    check("T ::= SET {\n  a NULL -- the last\n}", "SET", "T ::= SET {\n  a NULL, -- the last\n  ...\n}");
    check("T ::= SEQUENCE OF SEQUENCE { a NULL }", "{ a", "T ::= SEQUENCE OF SEQUENCE { a NULL, ... }");
}

#[test]
fn types_with_a_marker_keep_it() {
    assert_eq!(marked("T ::= SEQUENCE { a NULL, ... }", "SEQ"), None);
    assert_eq!(marked("T ::= ENUMERATED { a, ..., b }", "ENUM"), None);
    assert_eq!(marked("T ::= INTEGER (0..5)", "INT"), None);
}

const SHIPS: &str = "A DEFINITIONS AUTOMATIC TAGS ::= BEGIN
    OP ::= CLASS { &code INTEGER UNIQUE, &Arg OPTIONAL, &Res OPTIONAL, &crit Crit DEFAULT low }
      WITH SYNTAX { CODE &code [TAKES &Arg [GIVES &Res]] [AT &crit] LEVEL &crit }
    Crit ::= ENUMERATED { low, high }
    Ship ::= SEQUENCE { name UTF8String, state Crit, crews SEQUENCE OF Crew, load Load }
    Crew ::= SEQUENCE { head INTEGER, kind Crit, is-old BOOLEAN }
    Load ::= CHOICE { none NULL, some Crew }
    ";

/// The labels that are proposed at the end of an unfinished assignment.
fn labels(last: &str) -> Vec<String> {
    let text = format!("{SHIPS}{last}");
    let snapshot = Snapshot::new([("a.asn", text.as_str())]);
    let at = snapshot.position("a.asn", text.len()).unwrap();
    let (_, found) = snapshot.completions(snapshot.file("a.asn").unwrap(), at);
    found.into_iter().map(|it| it.label).collect()
}

#[test]
fn objects_have_the_words_of_their_class() {
    assert_eq!(labels("op OP ::= { "), ["CODE"]);
    // A value stands behind CODE.
    assert!(labels("op OP ::= { CODE ").len() > 3);
    assert_eq!(labels("op OP ::= { CODE 5 "), ["AT", "LEVEL", "TAKES"]);
    assert_eq!(labels("op OP ::= { CODE 5 TAKES NULL "), ["AT", "GIVES", "LEVEL"]);
    assert_eq!(labels("op OP ::= { CODE 5 TAKES SEQUENCE { a NULL } GI"), ["AT", "GIVES", "LEVEL"]);
    assert_eq!(labels("op OP ::= { CODE 5 AT high "), ["LEVEL"]);
    assert_eq!(labels("Ops OP ::= { { CODE 5 LEVEL low } | { "), ["CODE"]);
    assert!(labels("Ops OP ::= { ").len() > 3);
}

#[test]
fn values_have_the_components_of_their_type() {
    assert_eq!(labels("ship Ship ::= { "), ["crews", "load", "name", "state"]);
    assert_eq!(labels("ship Ship ::= { name \"x\", "), ["crews", "load", "state"]);
    assert_eq!(labels("ship Ship ::= { crews { { "), ["head", "is-old", "kind"]);
    assert_eq!(labels("ship Ship ::= { crews { { head 5 }, { head 5, "), ["is-old", "kind"]);
    assert_eq!(labels("ship Ship ::= { load some : { "), ["head", "is-old", "kind"]);
    assert_eq!(labels("load Load ::= some : { "), ["head", "is-old", "kind"]);
    let has = |last: &str, expected: &[&str]| {
        let found = labels(last);
        assert!(expected.iter().all(|it| found.iter().any(|label| label == it)), "{last}: {found:?}");
        assert!(!found.iter().any(|label| label == "head" || label == "Ship"), "{last}: {found:?}");
    };
    has("x Crit ::= ", &["low", "high"]);
    has("ship Ship ::= { state ", &["low", "high"]);
    has("ship Ship ::= { crews { { is-old ", &["TRUE", "FALSE"]);
    has("ship Ship ::= { load ", &["none", "some"]);
    has("T ::= SEQUENCE { a Crit DEFAULT ", &["low", "high"]);
}

#[test]
fn with_components_names_those_of_the_type() {
    assert_eq!(labels("S ::= Ship (WITH COMPONENTS { "), ["crews", "load", "name", "state"]);
    assert_eq!(labels("S ::= Ship (WITH COMPONENTS { ..., name, "), ["crews", "load", "state"]);
    assert_eq!(labels("S ::= Ship (WITH COMPONENTS { name "), ["ABSENT", "OPTIONAL", "PRESENT"]);
    let inner = "S ::= Ship (WITH COMPONENTS { load (WITH COMPONENTS { ";
    assert_eq!(labels(inner), ["none", "some"]);
}
