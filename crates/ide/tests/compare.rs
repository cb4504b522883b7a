//! The verdicts of `compare` are what decoders do: over generated edits of specifications, values of one version are encoded and
//! read by the other, and all are read as the same value if and only if the verdict says so.
#![expect(clippy::print_stderr, reason = "a test talks to people")]

mod edits;

use edits::{Random, Spec};
use tercet_ide::compare::{Comparison, Options, Status, Verdict, compare};
use tercet_schema::dynamic::sample::{self, Sampler};
use tercet_schema::dynamic::{self, Tape, Value, say_constant};
use tercet_schema::plan::shape::Presence;
use tercet_schema::plan::{FieldId, Kind, NodeId, Plan, Shape};
use tercet_schema::{Rules, Schema, TapeCodec, check_trailing};

/// Samples that are read by the other version.
const SAMPLES: usize = 60;
/// Edited specifications.
const EDITS: u64 = 160;

fn rules() -> Vec<Rules> {
    Rules::ALL.into_iter().filter(|rules| *rules != Rules::Exer).collect()
}

fn schema(text: &str) -> Schema {
    let schema = Schema::from_text("m.asn", text);
    assert!(!schema.has_errors(), "{text}\n{}", schema.render(false));
    schema
}

fn compared(old: &Schema, new: &Schema) -> Comparison {
    compare(old, new, &Options { rules: rules(), ..Options::default() }).unwrap()
}

/// The value that an absent component with a DEFAULT has.
fn default_of(shape: &Shape, id: FieldId) -> Option<Value> {
    let field = shape.field(id);
    let Presence::Default(index) = field.presence else { return None };
    let mut tape = Tape::new();
    say_constant(shape, id, field.node, index, &mut tape);
    Value::from_view(shape, tape.view(&[]))
}

fn has_item(shape: &Shape, node: NodeId, name: &str) -> bool {
    shape.items_of(node).iter().any(|item| shape.name(item.name) == name)
}

fn has_field(shape: &Shape, node: NodeId, name: &str) -> bool {
    shape.fields_of(node).any(|(_, field)| shape.name(field.name) == name)
}

/// Whether two values are the same as far as both types know their parts.
fn agree((a, from): (&Shape, NodeId), (b, to): (&Shape, NodeId), one: &Value, other: &Value) -> bool {
    let named = |names: (&str, &str), has: &dyn Fn(&Shape, NodeId, &str) -> bool| {
        names.0 == names.1 || !has(b, to, names.0) && !has(a, from, names.1)
    };
    match (one, other) {
        (Value::Sequence(x) | Value::Set(x), Value::Sequence(y) | Value::Set(y)) => {
            a.fields_of(from).all(|(id, field)| {
                let name = a.name(field.name);
                let Some((other_id, other_field)) = b.fields_of(to).find(|(_, it)| b.name(it.name) == name)
                else {
                    return true;
                };
                let find = |list: &[(String, Value)]| {
                    list.iter().find(|(it, _)| it == name).map(|(_, it)| it.clone())
                };
                match (find(x).or_else(|| default_of(a, id)), find(y).or_else(|| default_of(b, other_id))) {
                    (Some(x), Some(y)) => agree((a, field.node), (b, other_field.node), &x, &y),
                    (x, y) => x.is_none() && y.is_none(),
                }
            })
        }
        (Value::SequenceOf(x) | Value::SetOf(x), Value::SequenceOf(y) | Value::SetOf(y)) => {
            let element = |shape: &Shape, node| shape.fields_of(node).next().unwrap().1.node;
            let agree = |x: &Value, y: &Value| agree((a, element(a, from)), (b, element(b, to)), x, y);
            if let (Value::SequenceOf(_), Value::SequenceOf(_)) = (one, other) {
                return x.len() == y.len() && x.iter().zip(y).all(|(x, y)| agree(x, y));
            }
            // Elements of a SET OF are in no order.
            let mut rest: Vec<&Value> = y.iter().collect();
            x.len() == y.len()
                && x.iter().all(|x| {
                    let at = rest.iter().position(|y| agree(x, y));
                    at.map(|at| rest.remove(at)).is_some()
                })
        }
        (Value::Choice(name, x), Value::Choice(read, y)) => {
            if !named((name, read), &has_field) {
                return false;
            }
            if matches!(**y, Value::Unknown { .. }) {
                return !has_field(b, to, name);
            }
            let node = |shape: &Shape, node, name: &str| {
                shape.fields_of(node).find(|(_, it)| shape.name(it.name) == name).map(|(_, it)| it.node)
            };
            match (node(a, from, name), node(b, to, read)) {
                (Some(from), Some(to)) => agree((a, from), (b, to), x, y),
                _ => true,
            }
        }
        (Value::Enumerated(_, Some(name)), Value::Enumerated(_, Some(read))) => {
            named((name, read), &has_item)
        }
        (Value::Enumerated(_, Some(name)), Value::Enumerated(_, None) | Value::Addition(_)) => {
            !has_item(b, to, name)
        }
        (Value::Open(_), Value::Encoding(_)) => true,
        // Zero bits at the end of named bits mean nothing.
        (Value::BitString(x), Value::BitString(y)) if has_names(a, from) || has_names(b, to) => {
            let ones = |bits: &dynamic::value::Bits| {
                (0..bits.len()).filter(|at| bits.get(*at) == Some(true)).collect::<Vec<_>>()
            };
            ones(x) == ones(y)
        }
        _ => one == other,
    }
}

fn has_names(shape: &Shape, node: NodeId) -> bool {
    shape.node(node).kind == Kind::BitString && !shape.items_of(node).is_empty()
}

/// Writes samples by one plan and reads them by another. Returns the first that is not read as the same value.
fn first_misread(rules: Rules, writer: &Plan, reader: &Plan) -> Option<String> {
    let (from, to) = (writer.root("W").unwrap(), reader.root("W").unwrap());
    let mut sampler = Sampler::new(&writer.shape, sample::Options::default());
    let (mut tape, mut octets, mut read) = (Tape::new(), Vec::new(), Tape::new());
    let mut options = dynamic::Options::strict(rules);
    options.check_constraints = false;
    let (mut write, mut other) = (TapeCodec::new(rules, writer), TapeCodec::new(rules, reader));
    for _ in 0..SAMPLES {
        if sampler.sample(from, &mut tape).is_err() {
            continue;
        }
        octets.clear();
        let value = Value::from_view(&writer.shape, tape.view(&[]))?;
        write.write(tape.view(&[]), &mut octets).unwrap_or_else(|error| panic!("{rules}: {value}: {error}"));
        let shown = || {
            format!(
                "{value} as {}",
                String::from_utf8(octets.clone()).unwrap_or_else(|_| format!("{octets:02x?}"))
            )
        };
        let length = match other.read(to, &octets, &mut read, &options) {
            Ok(length) => length,
            Err(error) => return Some(format!("{}: {error}", shown())),
        };
        if let Err(error) = check_trailing(reader, to, &octets[length..], length as u64, options.trailing) {
            return Some(format!("{}: {error}", shown()));
        }
        let found = Value::from_view(&reader.shape, read.view(&octets)).unwrap();
        if !agree((&writer.shape, from), (&reader.shape, to), &value, &found) {
            return Some(format!("{} is read as {found}", shown()));
        }
    }
    None
}

/// Compares the verdicts for a pair of versions with what decoders do; the number of verdicts by their kind.
fn check(old_text: &str, new_text: &str, counts: &mut [usize; 4]) -> Vec<String> {
    let (old, new) = (schema(old_text), schema(new_text));
    let found = compared(&old, &new);
    let mut wrong = Vec::new();
    for rules in rules() {
        let report = found.types.iter().find(|report| report.name == "M.W");
        let report = report.and_then(|report| report.verdicts.iter().find(|it| it.rules == rules));
        let verdict = report.map_or(Verdict::WireCompatible, |report| report.verdict);
        counts[verdict as usize] += 1;
        let plan = |schema: &Schema| schema.plan(rules.plan_rules(), &["W"]).unwrap();
        let (old, new) = (plan(&old), plan(&new));
        for (label, is_read, writer, reader) in [
            ("new reads old", verdict.new_reads_old(), &old, &new),
            ("old reads new", verdict.old_reads_new(), &new, &old),
        ] {
            let misread = first_misread(rules, writer, reader);
            // Padding of aligned PER may hide that a field has another width, where a value stands by chance.
            let is_hidden = misread.is_none() && matches!(rules.basic(), Rules::Aper);
            if misread.is_none() != is_read && (is_read || !is_hidden) {
                let reasons = report.map(|report| format!("{:?}", report.reasons)).unwrap_or_default();
                wrong.push(format!("{rules}: {label}: {is_read}, but {misread:?}; {reasons}"));
            }
        }
    }
    wrong
}

#[test]
fn verdicts_are_what_decoders_do() {
    let mut counts = [0; 4];
    let mut failed = 0;
    let edits = std::env::var("EDITS").map_or(EDITS, |text| text.parse().unwrap());
    let (from, to) = match std::env::var("EDIT").map(|text| text.parse::<u64>().unwrap()) {
        Ok(seed) => (seed, seed + 1),
        Err(_) => (0, edits),
    };
    for seed in from..to {
        let mut random = Random::new(seed);
        let old = Spec::new(&mut random);
        let mut new = old.clone();
        new.edit(&mut random);
        let (old, new) = (old.to_string(), new.to_string());
        let wrong = check(&old, &new, &mut counts);
        if !wrong.is_empty() {
            failed += 1;
            eprintln!("EDIT={seed}\n{old}\n{new}\n{}\n", wrong.join("\n"));
        }
    }
    assert_eq!(failed, 0, "of {}", to - from);
    if to - from == EDITS {
        assert!(counts.iter().all(|count| *count > 20), "{counts:?}");
    }
}

/// What is around `T`: bits that are read from another place have other values then.
const WRAPPER: &str = "W ::= SEQUENCE { before [0] BOOLEAN, t [1] T, behind [2] INTEGER (0..16777215) }";

/// Pairs that stand for what users ask about.
#[test]
fn known_edits() {
    let module = |tags: &str, body: &str| {
        format!("M DEFINITIONS {tags} TAGS ::= BEGIN\nT ::= {body}\n{WRAPPER}\nEND\n")
    };
    let mut failed = Vec::new();
    for (old, new) in [
        ("SEQUENCE { a BOOLEAN, ... }", "SEQUENCE { a BOOLEAN, ..., b INTEGER }"),
        ("SEQUENCE { a BOOLEAN }", "SEQUENCE { a BOOLEAN, ... }"),
        ("SEQUENCE { a BOOLEAN }", "SEQUENCE { a BOOLEAN, b INTEGER OPTIONAL }"),
        ("SEQUENCE { a BOOLEAN, b INTEGER }", "SEQUENCE { b INTEGER, a BOOLEAN }"),
        ("SEQUENCE { a BOOLEAN, b INTEGER }", "SEQUENCE { a BOOLEAN, c INTEGER }"),
        ("SEQUENCE { a BOOLEAN, b BOOLEAN }", "SEQUENCE { x NULL, a BOOLEAN, b BOOLEAN }"),
        ("SEQUENCE { a INTEGER DEFAULT 1 }", "SEQUENCE { a INTEGER DEFAULT 2 }"),
        ("SEQUENCE { a INTEGER OPTIONAL }", "SEQUENCE { a INTEGER DEFAULT 2 }"),
        (
            "SEQUENCE { a INTEGER, ..., [[ b BOOLEAN ]] }",
            "SEQUENCE { a INTEGER, ..., [[ b BOOLEAN, c NULL OPTIONAL ]] }",
        ),
        (
            "SEQUENCE { a INTEGER, ..., b BOOLEAN, ..., z NULL }",
            "SEQUENCE { a INTEGER, ..., b BOOLEAN, c BOOLEAN, ..., z NULL }",
        ),
        ("INTEGER (0..10)", "INTEGER (0..12)"),
        ("INTEGER (0..10)", "INTEGER (0..100)"),
        ("INTEGER (0..10)", "INTEGER (0..10, ...)"),
        ("INTEGER (0..255)", "INTEGER (0..65535)"),
        ("ENUMERATED { a, b, ... }", "ENUMERATED { a, b, ..., c }"),
        ("ENUMERATED { a, b }", "ENUMERATED { a, b, c }"),
        ("ENUMERATED { a(0), b(1) }", "ENUMERATED { a(0), b(5) }"),
        ("ENUMERATED { a, b }", "ENUMERATED { b, a }"),
        ("CHOICE { a BOOLEAN, b INTEGER }", "CHOICE { b INTEGER, a BOOLEAN }"),
        ("CHOICE { a BOOLEAN, ... }", "CHOICE { a BOOLEAN, ..., b INTEGER }"),
        ("SEQUENCE OF BOOLEAN", "SET OF BOOLEAN"),
        ("SEQUENCE (SIZE (0..3)) OF BOOLEAN", "SEQUENCE (SIZE (0..4)) OF BOOLEAN"),
        ("OCTET STRING (SIZE (4))", "OCTET STRING (SIZE (4..8))"),
        ("OCTET STRING", "OCTET STRING (SIZE (0..70000))"),
        ("OCTET STRING (CONTAINING BOOLEAN)", "OCTET STRING (CONTAINING INTEGER (0..1))"),
        ("BIT STRING { x(0) }", "BIT STRING { x(0), y(1) }"),
        ("IA5String (SIZE (1..5))", "IA5String (SIZE (1..5)) (FROM (\"0\"..\"9\"))"),
        ("NumericString", "PrintableString"),
        ("SEQUENCE { a IA5String }", "SEQUENCE { a UTF8String }"),
        ("SEQUENCE { v INTEGER (0..7), next T OPTIONAL }", "SEQUENCE { v INTEGER (0..3), next T OPTIONAL }"),
        ("REAL", "REAL (WITH COMPONENTS { ..., base (2) })"),
        ("SET { a BOOLEAN, b INTEGER }", "SET { b INTEGER, a BOOLEAN }"),
    ] {
        for tags in ["AUTOMATIC", "EXPLICIT"] {
            let wrong = check(&module(tags, old), &module(tags, new), &mut [0; 4]);
            if !wrong.is_empty() {
                failed.push(format!("{tags}: {old} -> {new}\n  {}", wrong.join("\n  ")));
            }
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn open_types_are_decided_by_their_tables() {
    let text = |objects: &str, types: &str| {
        format!(
            "M DEFINITIONS AUTOMATIC TAGS ::= BEGIN
            IE ::= CLASS {{ &id INTEGER (0..255) UNIQUE, &Value }} WITH SYNTAX {{ ID &id TYPE &Value }}
            Set IE ::= {{ {objects} }}
            {types}
            {WRAPPER}
            T ::= SEQUENCE {{ id IE.&id ({{Set}}), value IE.&Value ({{Set}}{{@id}}) }}
            END"
        )
    };
    let types = "A ::= INTEGER (0..7) B ::= BOOLEAN";
    let (one, two) = (text("{ID 1 TYPE A} , ...", types), text("{ID 1 TYPE A} | {ID 2 TYPE B} , ...", types));
    assert_eq!(check(&one, &two, &mut [0; 4]), [""; 0]);
    let found = compared(&schema(&one), &schema(&two));
    assert!(
        rules().into_iter().all(|it| (found.verdict(it) == Some(Verdict::WireCompatible)) != it.is_text())
    );
    let report = found.types.iter().find(|report| report.name == "M.T").unwrap();
    assert_eq!((report.status, report.changes[0].path.as_str()), (Status::Changed, "value(2)"));

    let other = text("{ID 1 TYPE A} , ...", "A ::= INTEGER (0..15) B ::= BOOLEAN");
    let found = compared(&schema(&one), &schema(&other));
    let report = found.types.iter().find(|report| report.name == "M.T").unwrap();
    assert_eq!(report.status, Status::Affected);
    let uper = report.verdicts.iter().find(|it| it.rules == Rules::Uper).unwrap();
    assert_eq!((uper.verdict, uper.reasons[0].path.as_str()), (Verdict::NotCompatible, "value(1)"));
}

#[test]
fn names_of_versions_may_differ() {
    let old = schema("A-1 DEFINITIONS AUTOMATIC TAGS ::= BEGIN T ::= SEQUENCE { u U } U ::= BOOLEAN END");
    let new = schema("A-2 DEFINITIONS AUTOMATIC TAGS ::= BEGIN T ::= SEQUENCE { u V } V ::= BOOLEAN END");
    let found = compared(&old, &new);
    let names: Vec<_> = found.types.iter().map(|it| (it.name.as_str(), it.status)).collect();
    assert!(
        names.contains(&("A-1.U", Status::Removed)) && names.contains(&("A-2.V", Status::Added)),
        "{names:?}"
    );
    let renamed = vec![("A-1.U".to_owned(), "A-2.V".to_owned())];
    let found = compare(&old, &new, &Options { rules: rules(), renamed, source: true, ..Options::default() })
        .unwrap();
    assert_eq!(found.compared, 2);
    assert!(found.types.iter().all(|it| it.status == Status::Changed));
    // Names count in XML alone.
    assert_eq!(found.verdict(Rules::Ber), Some(Verdict::WireCompatible));
    assert_eq!(found.verdict(Rules::Xer), Some(Verdict::NotCompatible));
}
