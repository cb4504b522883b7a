//! Names without a definition, and modules given twice: refused where bits would be misread, else reported once.

use std::sync::{Arc, Mutex};
use tercet_schema::syntax::SourceMap;
use tercet_schema::{Listener, PlanError, Rules, RustOptions, Schema, SchemaOptions};

const ONE: &str = "One DEFINITIONS AUTOMATIC TAGS ::= BEGIN
    IMPORTS B, TOP, max FROM Two;
    A ::= SEQUENCE { a INTEGER (0..7), b B }
    Alias ::= SEQUENCE OF A
    Fine ::= SEQUENCE { a INTEGER (0..7), open OCTET STRING }
    Sized ::= OCTET STRING (SIZE (0..limit))
    limit INTEGER ::= max
    Given {T} ::= SEQUENCE { t T }
    Instance ::= Given {B}
    Bare ::= SEQUENCE { g Given }
    Parts ::= SEQUENCE { COMPONENTS OF A }
    Field ::= TOP.&id
    Misspelt ::= SEQUENCE { a Fin }
    END";
const TWO: &str = "Two DEFINITIONS AUTOMATIC TAGS ::= BEGIN
    B ::= BOOLEAN max INTEGER ::= 3 TOP ::= CLASS { &id INTEGER (0..7) } END";
const TWO_LATER: &str = "Two DEFINITIONS AUTOMATIC TAGS ::= BEGIN
    B ::= INTEGER (0..7) max INTEGER ::= 3 TOP ::= CLASS { &id INTEGER (0..7) } END";

fn schema(texts: &[&str], allow_missing: bool) -> (Schema, Arc<Mutex<Vec<String>>>) {
    let mut sources = SourceMap::new();
    for (number, text) in texts.iter().enumerate() {
        sources.add(format!("{number}.asn"), *text);
    }
    let heard = Arc::new(Mutex::new(Vec::new()));
    let list = Arc::clone(&heard);
    let listener = Listener::new(move |text| list.lock().unwrap().push(text.to_owned()));
    let options = SchemaOptions { allow_missing, listener, ..SchemaOptions::default() };
    (Schema::from_sources(sources, &options), heard)
}

fn refused(schema: &Schema, rules: Rules, name: &str) -> String {
    match schema.plan(rules, &[name]) {
        Err(PlanError::Gaps(text)) => text,
        other => panic!("{name}: {other:?}"),
    }
}

#[test]
fn packed_rules_refuse_names_without_a_definition() {
    let (schema, heard) = schema(&[ONE], false);
    assert!(!schema.has_errors(), "{}", schema.render(false));
    for (name, expected) in [
        ("A", "`B` (module `Two` is not given)"),
        ("Alias", "`B` (module `Two` is not given)"),
        ("Sized", "`limit` (module `Two` is not given)"),
        ("Instance", "`B` (module `Two` is not given)"),
        ("Bare", "`Given` (without parameters, 0.asn:10)"),
        ("Parts", "`B` (module `Two` is not given)"),
        ("Field", "`TOP` (module `Two` is not given)"),
        ("Misspelt", "`Fin` (0.asn:13)"),
        ("Given {A}", "`B` (module `Two` is not given)"),
    ] {
        for rules in [Rules::Uper, Rules::Aper, Rules::CanonicalAper, Rules::Oer, Rules::Coer] {
            let text = refused(&schema, rules, name);
            assert!(text.contains(expected) && text.contains("--allow-missing"), "{name}: {text}");
        }
        // Generated code is refused too.
        let error = schema.rust(&[Rules::Der, Rules::Uper], &[name], &RustOptions::default()).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    }
    schema.plan(Rules::Uper, &["Fine"]).unwrap();
    assert!(heard.lock().unwrap().is_empty());
}

#[test]
fn other_rules_warn_once() {
    let (schema, heard) = schema(&[ONE], false);
    for _ in 0..2 {
        schema.plan(Rules::Ber, &["A"]).unwrap();
        schema.plan_for(Rules::Jer, &["Alias"]).unwrap();
    }
    let heard = heard.lock().unwrap();
    assert_eq!(heard.len(), 1, "{heard:?}");
    assert!(heard[0].starts_with("names without a definition: `B` (module `Two` is not given)\nhelp: "));
}

#[test]
fn allow_missing_takes_it_back() {
    let (schema, heard) = schema(&[ONE], true);
    schema.plan(Rules::Uper, &["A"]).unwrap();
    schema.plan(Rules::Ber, &["A"]).unwrap();
    assert!(heard.lock().unwrap().is_empty());
    let (whole, heard) = self::schema(&[ONE, TWO], false);
    whole.plan(Rules::Uper, &["A"]).unwrap();
    assert!(whole.gaps(&["A", "Sized", "Field"]).unwrap().is_none() && heard.lock().unwrap().is_empty());
}

#[test]
fn modules_given_twice_are_reported() {
    let (schema, heard) = schema(&[TWO, TWO_LATER, ONE], false);
    let text = refused(&schema, Rules::Uper, "A");
    assert!(text.starts_with("module `Two` is given twice: 1.asn:1 is used, 0.asn:1 is not\n"), "{text}");
    schema.plan(Rules::Uper, &["Fine"]).unwrap();
    schema.plan(Rules::Ber, &["A"]).unwrap();
    assert_eq!(heard.lock().unwrap().len(), 1);
    // White space and comments make no difference.
    let copy = format!("-- A copy.\n{}", TWO.replace(' ', "\n "));
    let (schema, _) = self::schema(&[TWO, &copy, ONE], false);
    schema.plan(Rules::Uper, &["A"]).unwrap();
}

#[test]
fn trials_pass_over_types_with_gaps_in_packed_rules() {
    let (schema, heard) = schema(&[ONE], false);
    let found = tercet_schema::detect(&schema, &[0x01, 0x01, 0x00], &[], None).unwrap();
    let packed = [Rules::Uper, Rules::Aper, Rules::Oer];
    assert!(found.iter().any(|it| packed.contains(&it.syntax)));
    let has_gap = |it: &&tercet_schema::Candidate| schema.gaps(&[&it.type_name]).unwrap().is_some();
    assert!(found.iter().filter(has_gap).all(|it| !packed.contains(&it.syntax)));
    assert!(heard.lock().unwrap().is_empty());
}
