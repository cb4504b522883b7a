//! Encoded sizes of types: exact for small ones, and no sample of any specification is outside of them.

use tercet_schema::dynamic::sample::{Options, Sampler};
use tercet_schema::dynamic::sizes::{Sizes, sizes, typical};
use tercet_schema::dynamic::{Encoder, Rules, Tape};
use tercet_schema::{Schema, SchemaOptions};

const RULES: [Rules; 9] = Rules::BINARY;

fn schema(path: impl Into<std::path::PathBuf>) -> Schema {
    Schema::load(&[path.into()], &SchemaOptions::default()).unwrap()
}

fn schema_of(body: &str) -> Schema {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("m.asn");
    std::fs::write(&file, format!("M DEFINITIONS AUTOMATIC TAGS ::= BEGIN {body} END")).unwrap();
    schema(file)
}

/// Checks `least..most`, in bits, `*` without a bound.
fn check(body: &str, rules: Rules, expected: &str) {
    let schema = schema_of(&format!("T ::= {body}"));
    let plan = schema.plan(rules, &["T"]).unwrap();
    let Sizes { least, most } = sizes(&plan, rules, plan.root("T").unwrap()).unwrap();
    let most = most.map_or_else(|| "*".to_owned(), |most| most.to_string());
    assert_eq!(format!("{least}..{most}"), expected, "{body} {rules:?}");
}

#[test]
fn sizes_of_small_types_are_exact() {
    for (body, uper, aper, ber, oer) in [
        ("BOOLEAN", "1..1", "1..1", "24..24", "8..8"),
        ("INTEGER (0..7)", "3..3", "3..3", "24..24", "8..8"),
        ("INTEGER (0..7, ...)", "4..4", "4..4", "24..24", "16..16"),
        ("INTEGER (0..65536)", "17..17", "16..32", "24..40", "32..32"),
        ("INTEGER (MIN..-1000)", "16..*", "16..*", "32..*", "24..*"),
        ("ENUMERATED { a, b, c }", "2..2", "2..2", "24..24", "8..8"),
        ("ENUMERATED { a, ..., b, c(1000) }", "1..8", "1..8", "24..32", "8..24"),
        ("OCTET STRING (SIZE (3))", "24..24", "24..24", "40..40", "24..24"),
        ("OCTET STRING (SIZE (0..3))", "2..26", "2..32", "16..40", "8..32"),
        ("OCTET STRING (SIZE (120..200))", "967..1607", "968..1608", "976..1624", "968..1616"),
        ("BIT STRING (SIZE (20))", "20..20", "20..20", "48..48", "24..24"),
        ("IA5String (SIZE (2..5))", "16..37", "24..48", "32..56", "24..48"),
        ("UTF8String (SIZE (1..2))", "16..72", "16..72", "24..80", "16..72"),
        (
            "SEQUENCE { a INTEGER (0..7), b OCTET STRING (SIZE (3)) OPTIONAL }",
            "4..28",
            "4..32",
            "40..80",
            "16..40",
        ),
        ("SEQUENCE { a NULL, ..., b BOOLEAN }", "1..25", "1..32", "32..56", "8..48"),
        ("SEQUENCE (SIZE (1..4)) OF INTEGER (0..7)", "5..14", "5..14", "40..112", "24..48"),
        ("CHOICE { a NULL, b INTEGER (0..255) }", "1..9", "1..16", "16..32", "8..16"),
        ("SEQUENCE OF NULL", "8..*", "8..*", "16..*", "16..*"),
        ("SEQUENCE { a T OPTIONAL }", "1..*", "1..*", "16..*", "8..*"),
    ] {
        check(body, Rules::Uper, uper);
        check(body, Rules::Aper, aper);
        check(body, Rules::Ber, ber);
        check(body, Rules::Oer, oer);
    }
    // An indefinite length; segments of 1000 octets.
    check("SEQUENCE { a NULL }", Rules::Cer, "48..48");
    check("OCTET STRING (SIZE (2500))", Rules::Cer, &format!("{0}..{0}", (2 + 2 * 1004 + 504 + 2) * 8));
    check("SEQUENCE { a UTCTime }", Rules::Der, "136..136");
}

#[test]
fn a_type_without_finite_values_has_no_size() {
    let schema = schema_of("T ::= SEQUENCE { a T }");
    for rules in RULES {
        let plan = schema.plan(rules, &["T"]).unwrap();
        assert_eq!(sizes(&plan, rules, plan.root("T").unwrap()), None);
    }
}

/// Samples of every type of the schemas that are shipped and of the test specifications.
#[test]
fn no_sample_is_outside_of_the_sizes() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut checked = 0;
    for folder in [
        "schemas/demo",
        "schemas/personnel",
        "schemas/signalling",
        "schemas/ldap",
        "tests/corpora/asn1/traps",
    ] {
        let schema = schema(root.join(folder));
        let names = schema.outermost();
        for rules in RULES {
            for (name, _) in &names {
                let Ok(plan) = schema.plan(rules, &[name]) else { continue };
                let Some(node) = plan.root(name) else { continue };
                // Samples go beyond extensible constraints.
                if plan.shape.constraints.iter().any(|constraint| constraint.extensible) {
                    continue;
                }
                let sizes = sizes(&plan, rules, node);
                let mut sampler = Sampler::new(&plan.shape, Options::default());
                let (mut tape, mut encoder) = (Tape::new(), Encoder::new());
                for _ in 0..40 {
                    let mut octets = Vec::new();
                    let sampled = sampler.sample(node, &mut tape);
                    if sampled.is_err() || encoder.encode(&plan, rules, tape.view(&[]), &mut octets).is_err()
                    {
                        continue;
                    }
                    let sizes = sizes.unwrap_or_else(|| panic!("{name} {rules:?} has values"));
                    // Padding up to an octet, and at least one octet.
                    let least = sizes.least.max(1).next_multiple_of(8);
                    let most = sizes.most.map_or(u64::MAX, |most| most.max(1).next_multiple_of(8));
                    let bits = octets.len() as u64 * 8;
                    assert!(least <= bits && bits <= most, "{name} {rules:?} {sizes:?}: {bits} bits");
                    checked += 1;
                }
                if let (Some(sizes), Some(typical)) = (sizes, typical(&plan, rules, node)) {
                    assert!(sizes.least <= typical as u64 * 8, "{name} {rules:?} {sizes:?}: {typical}");
                }
            }
        }
    }
    assert!(checked > 10_000, "{checked}");
}

/// Each type holds the one before, so that nodes have their parts in front of them; a round for each would take minutes.
#[test]
fn a_long_chain_of_types_is_measured() {
    const LENGTH: u64 = 4_000;
    let types: String =
        (1..=LENGTH).map(|n| format!("T{n} ::= SEQUENCE {{ a T{} OPTIONAL }} ", n - 1)).collect();
    let schema = schema_of(&format!("T0 ::= BOOLEAN {types}"));
    let names: Vec<String> = (0..=LENGTH).map(|n| format!("T{n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    for rules in [Rules::Uper, Rules::Aper] {
        let plan = schema.plan(rules, &names).unwrap();
        let root = plan.root(&format!("T{LENGTH}")).unwrap();
        assert_eq!(sizes(&plan, rules, root), Some(Sizes { least: 1, most: Some(LENGTH + 1) }));
    }
}
