//! Plan files: what is written is read back the same, for all specifications that we ship and all rules.

use std::path::PathBuf;
use tercet::plan::bytes::{self, ErrorKind};
use tercet::plan::per::{self, IntegerForm, Whole};
use tercet::plan::{Code, FieldId, Kind, NodeId, Plan, Rules};
use tercet::{Schema, SchemaOptions};
use tercet_conformance::corpora::repository;
use tercet_conformance::fuzz::target;

const RULES: [Rules; 9] = Rules::BINARY;

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

/// Plans with a changed octet and a sum that fits are refused, or can be followed in all syntaxes: the sum is no protection
/// against those who make it. `cargo conformance fuzz --sweep plan` changes every bit.
#[test]
fn forged_plans_are_refused_or_can_be_followed() {
    let target = target("plan").expect("a target");
    let (mut tried, mut read) = (0, 0);
    for seed in (target.seeds)() {
        for at in HEADER..seed.len() {
            for octet in [seed[at] ^ 1 << (at % 8), [0, 1, 0x7F, 0xFF][at % 4]] {
                let mut octets = seed.clone();
                octets[at] = octet;
                bytes::seal(&mut octets);
                tried += 1;
                if bytes::read(&octets).is_ok() {
                    read += 1;
                    (target.run)(&octets);
                }
            }
        }
    }
    assert!(tried > 10_000 && read > 1_000, "{read} of {tried} plans were read");
}

/// Octets before what the sum is made of.
const HEADER: usize = 18;

/// Numbers that others follow from: each was refused by nobody once, and led to a panic or to gigabytes.
#[test]
fn forged_numbers_are_refused() {
    let text = "M DEFINITIONS AUTOMATIC TAGS ::= BEGIN
        T ::= SEQUENCE { a INTEGER (0..1000) OPTIONAL, b BIT STRING { x(0) } (SIZE (4000)), c INTEGER (1..9) DEFAULT 3 } END";
    let schema = Schema::from_text("m.asn", text);
    let forged = |rules: Rules, forge: &dyn Fn(&mut Plan)| {
        let mut plan = schema.plan(rules, &["T"]).expect("a plan");
        assert!(bytes::read(&bytes::write(std::slice::from_ref(&plan)).expect("bytes")).is_ok());
        forge(&mut plan);
        bytes::read(&bytes::write(&[plan]).expect("bytes")).map_err(|error| error.kind)
    };
    let refused = |table| Err(ErrorKind::Index(table));
    let per = |forge: &dyn Fn(&mut per::Program)| {
        forged(Rules::Uper, &|plan| match &mut plan.code {
            Code::Per(program) => forge(program),
            _ => panic!("not a plan for PER"),
        })
    };
    // A field too narrow for its numbers, too few presence bits, a step that says something else than its node.
    let narrow = |program: &mut per::Program| {
        for code in &mut program.nodes {
            if let per::Code::Integer(per::Integer { form: IntegerForm::Constrained { whole, .. }, .. }) =
                code
            {
                *whole = Whole::Bits(1);
            }
        }
    };
    assert_eq!(per(&narrow), refused("codes"));
    assert_eq!(per(&|program| program.sequences[0].optional = 0), refused("codes"));
    assert_eq!(per(&|program| program.steps[0].field = u32::MAX), refused("steps"));
    assert_eq!(per(&|program| program.values[0].op = per::Op::Leaf), refused("steps"));
    let large = |program: &mut per::Program| {
        for code in &mut program.nodes {
            if let per::Code::BitString(size, _) = code {
                *size = per::Size::new(u64::from(u32::MAX - 1), Some(u64::from(u32::MAX - 1)), false, false);
            }
        }
    };
    assert_eq!(per(&large), refused("codes"));
    let oer = |forge: &dyn Fn(&mut tercet::plan::oer::Program)| {
        forged(Rules::Oer, &|plan| match &mut plan.code {
            Code::Oer(program) => forge(program),
            _ => panic!("not a plan for OER"),
        })
    };
    assert_eq!(oer(&|program| program.sequences[0].optional = 0), refused("codes"));
    let large = |program: &mut tercet::plan::oer::Program| {
        for code in &mut program.nodes {
            if let tercet::plan::oer::Code::BitString(size, _) = code {
                *size = u32::MAX - 1;
            }
        }
    };
    assert_eq!(oer(&large), refused("codes"));
    // A number with the components of a SEQUENCE.
    let parts = |plan: &mut Plan| {
        let shape = std::sync::Arc::make_mut(&mut plan.shape);
        let number = shape.nodes.iter_mut().find(|node| node.kind == Kind::Integer);
        number.expect("an INTEGER").count = 1;
    };
    assert_eq!(forged(Rules::Ber, &parts), refused("nodes"));
    // A slot of a field that says that it has none.
    let bare = |plan: &mut Plan| match &mut plan.code {
        Code::Ber(program) => program.slots[0].field = FieldId::ROOT,
        _ => panic!("not a plan for BER"),
    };
    assert_eq!(forged(Rules::Ber, &bare), refused("slots"));
    // An open type that holds itself.
    let text = "M DEFINITIONS AUTOMATIC TAGS ::= BEGIN C ::= CLASS { &id INTEGER UNIQUE, &Type } WITH SYNTAX { &id IS &Type }
        S C ::= { { 1 IS NULL } } T ::= SEQUENCE { id C.&id ({S}), value C.&Type ({S}{@id}) } END";
    let mut plan = Schema::from_text("m.asn", text).plan(Rules::Ber, &["T"]).expect("a plan");
    let shape = std::sync::Arc::make_mut(&mut plan.shape);
    let open = shape.nodes.iter().position(|node| node.kind == Kind::Open).expect("an open type");
    shape.tables[0].rows[0].node = NodeId(open as u32);
    let read = bytes::read(&bytes::write(&[plan]).expect("bytes")).map_err(|error| error.kind);
    assert_eq!(read, refused("tables"));
}
