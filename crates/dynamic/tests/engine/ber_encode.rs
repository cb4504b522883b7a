//! Encoding by X.690: what was read is written again, and the canonical forms.

use crate::common::{again, events, hex, plan, plan_of, to_hex};
use tercet_dynamic::{ErrorKind, Leaf, Options, Plan, Rules, Sink, Tape};

fn check(plan: &Plan, rules: Rules, cases: &[(&str, &str)]) {
    for (input, expect) in cases {
        let got = match again(plan, "T", &hex(input), rules) {
            Ok(octets) => to_hex(&octets),
            Err(error) => error.to_string(),
        };
        assert_eq!(got, expect.replace(' ', ""), "input {input}");
    }
}

const TYPE: &str = "T ::= SEQUENCE { a BOOLEAN DEFAULT FALSE, s SET OF INTEGER OPTIONAL, u SET { x NULL, y NULL, ... } OPTIONAL,
    n BIT STRING { one(0) } OPTIONAL, r REAL OPTIONAL, c CHOICE { p NULL, q OCTET STRING (CONTAINING U) } OPTIONAL, ... }
    U ::= SEQUENCE { i INTEGER }";

#[test]
fn definite_minimal_ber_comes_back_as_it_was() {
    let plan = plan(TYPE);
    let cases = [
        "30 00",
        "30 03 80 01 00",
        "30 03 80 01 01",
        "30 08 A1 06 02 01 02 02 01 01",
        "30 08 A2 06 81 00 80 00 9E 00",
        "30 04 83 02 06 40",
        "30 09 A5 07 81 05 30 03 80 01 05",
        "30 08 A5 06 81 04 30 03 80 01",
        "30 0B 80 01 FF 99 02 01 02 9F 82 00 00",
    ];
    check(&plan, Rules::Ber, &cases.map(|case| (case, case)));
    check(
        &plan,
        Rules::Ber,
        &[
            ("30 80 A1 80 02 81 01 02 00 00 00 00", "30 05 A1 03 02 01 02"),
            ("30 81 03 80 01 00", "30 03 80 01 00"),
        ],
    );
}

#[test]
fn canonical_forms() {
    let plan = plan(TYPE);
    check(
        &plan,
        Rules::Der,
        &[
            ("30 03 80 01 00", "30 00"),
            ("30 03 80 01 01", "30 03 80 01 FF"),
            ("30 08 A1 06 02 01 02 02 01 01", "30 08 A1 06 02 01 01 02 01 02"),
            ("30 06 A2 04 81 00 80 00", "30 06 A2 04 80 00 81 00"),
            ("30 04 83 02 06 00", "30 03 83 01 00"),
            ("30 04 83 02 06 80", "30 04 83 02 07 80"),
            ("30 05 84 03 80 00 02", "30 05 84 03 80 01 01"),
        ],
    );
    check(
        &plan,
        Rules::Cer,
        &[("30 08 A1 06 02 01 02 02 01 01", "30 80 A1 80 02 01 01 02 01 02 00 00 00 00")],
    );
}

#[test]
fn cer_leaves_out_a_default_of_indefinite_length() {
    let plan = plan_of(
        "M DEFINITIONS EXPLICIT TAGS ::= BEGIN
         T ::= SEQUENCE { a [0] BOOLEAN DEFAULT FALSE, b [1] SEQUENCE OF INTEGER DEFAULT {}, c [2] U DEFAULT {i 5} }
         U ::= SEQUENCE { i INTEGER }
         END",
    );
    let cases = [
        ("30 05 A0 03 01 01 00", "30 80 00 00"),
        ("30 04 A1 02 30 00", "30 80 00 00"),
        ("30 07 A2 05 30 03 02 01 05", "30 80 00 00"),
        ("30 07 A2 05 30 03 02 01 06", "30 80 A2 80 30 80 02 01 06 00 00 00 00 00 00"),
    ];
    check(&plan, Rules::Cer, &cases);
}

#[test]
fn cer_orders_an_untagged_choice_by_its_least_tag() {
    let plan = plan_of(
        "M DEFINITIONS IMPLICIT TAGS ::= BEGIN
         T ::= SET { b [2] NULL, c CHOICE { p [5] NULL, r CHOICE { q [0] NULL, s [7] NULL } }, d [1] NULL OPTIONAL, ... }
         END",
    );
    let cases = [
        ("31 06 82 00 81 00 85 00", "31 80 85 00 81 00 82 00 00 00"),
        ("31 06 82 00 81 00 80 00", "31 80 80 00 81 00 82 00 00 00"),
        ("31 04 82 00 87 00", "31 80 87 00 82 00 00 00"),
        ("31 06 82 00 9E 00 85 00", "31 80 85 00 82 00 9E 00 00 00"),
    ];
    check(&plan, Rules::Cer, &cases);
    let mut options = Options::strict(Rules::Cer);
    for (_, cer) in cases {
        assert!(events(&plan, "T", &hex(cer), &options).is_ok(), "{cer}");
    }
    let chosen_last = hex("31 80 82 00 85 00 00 00");
    assert_eq!(events(&plan, "T", &chosen_last, &options).unwrap_err().kind(), ErrorKind::SetOrder);
    options.rules = Rules::Der;
    check(&plan, Rules::Der, &[("31 06 85 00 82 00 81 00", "31 06 81 00 82 00 85 00")]);
    assert!(events(&plan, "T", &hex("31 06 81 00 82 00 85 00"), &options).is_ok());
    assert!(events(&plan, "T", &hex("31 06 85 00 81 00 82 00"), &options).is_err());
}

#[test]
fn tags_are_written_from_the_inside_out() {
    let plan = plan_of(
        "M DEFINITIONS EXPLICIT TAGS ::= BEGIN
         T ::= SEQUENCE { a [0] [APPLICATION 300] INTEGER, b C OPTIONAL, d [5] C OPTIONAL, e [6] ANY OPTIONAL }
         C ::= CHOICE { x [1] BOOLEAN, y CHOICE { z NULL, w [2] IMPLICIT SEQUENCE OF C } }
         END",
    );
    let cases = [
        "30 0A A0 08 7F 82 2C 04 02 02 00 80",
        "30 18 A0 07 7F 82 2C 03 02 01 01 A2 05 A1 03 01 01 FF A5 06 A2 04 05 00 05 00",
        "30 0D A0 07 7F 82 2C 03 02 01 01 A6 02 05 00",
    ];
    check(&plan, Rules::Ber, &cases.map(|case| (case, case)));
    check(&plan, Rules::Der, &cases.map(|case| (case, case)));
}

#[test]
fn made_values_are_ordered_and_checked() {
    let plan = plan(
        "T ::= SEQUENCE { a INTEGER DEFAULT 5, b BOOLEAN, l SEQUENCE OF SEQUENCE { c IA5String } OPTIONAL }",
    );
    let root = plan.root("T").unwrap();
    let fields: Vec<_> = plan.shape.fields_of(root).map(|(id, field)| (id, field.node)).collect();
    let [(a, int), (b, boolean), (l, list)] = fields[..] else { panic!() };
    let build = |f: &dyn Fn(&mut Tape)| {
        let mut tape = Tape::new();
        tape.open(tercet_dynamic::FieldId::ROOT, root);
        f(&mut tape);
        tape.close(tercet_dynamic::FieldId::ROOT, root);
        let mut out = Vec::new();
        tercet_dynamic::encode(&plan, Rules::Ber, tape.view(&[]), &mut out).map(|()| to_hex(&out))
    };
    let got = build(&|tape| {
        tape.leaf(b, boolean, Leaf::Int(1));
        tape.leaf(a, int, Leaf::Int(-129));
    });
    assert_eq!(got.unwrap(), "30078002FF7F8101FF");
    let got = build(&|tape| {
        tape.leaf(a, int, Leaf::Int(5));
        tape.leaf(b, boolean, Leaf::Int(0));
    });
    assert_eq!(got.unwrap(), "3003810100");
    let error = build(&|tape| tape.leaf(a, int, Leaf::Int(5))).unwrap_err();
    assert_eq!((error.kind(), error.path()), (ErrorKind::MissingComponent, "T.b"));
    let (element, item) = plan.shape.fields_of(list).map(|(id, field)| (id, field.node)).next().unwrap();
    let (c, text) = plan.shape.fields_of(item).map(|(id, field)| (id, field.node)).next().unwrap();
    let error = build(&|tape| {
        tape.leaf(b, boolean, Leaf::Int(0));
        tape.open(l, list);
        for text_octets in [&b"ok"[..], b"\x80", b"ok"] {
            tape.open(element, item);
            tape.leaf(c, text, Leaf::Made(text_octets));
            tape.close(element, item);
        }
        tape.close(l, list);
    })
    .unwrap_err();
    assert_eq!((error.kind(), error.path()), (ErrorKind::CharacterInvalid, "T.l[1].c"));
}

#[test]
fn a_fault_names_the_component_that_is_missing() {
    let many: Vec<String> = (0..70).map(|number| format!("c{number} BOOLEAN")).collect();
    let many = format!("T ::= SEQUENCE {{ {} }}", many.join(", "));
    for (text, left_out) in [
        ("T ::= SEQUENCE { a BOOLEAN, b BOOLEAN, c BOOLEAN }", vec![0, 1, 2]),
        (&many, vec![0, 1, 63, 64, 69]),
    ] {
        let plan = plan(text);
        let root = plan.root("T").unwrap();
        let fields: Vec<_> = plan.shape.fields_of(root).collect();
        for absent in left_out {
            let mut tape = Tape::new();
            tape.open(tercet_dynamic::FieldId::ROOT, root);
            for (number, (id, field)) in fields.iter().enumerate() {
                if number != absent {
                    tape.leaf(*id, field.node, Leaf::Int(0));
                }
            }
            tape.close(tercet_dynamic::FieldId::ROOT, root);
            let error =
                tercet_dynamic::encode(&plan, Rules::Der, tape.view(&[]), &mut Vec::new()).unwrap_err();
            let path = format!("T.{}", plan.shape.name(fields[absent].1.name));
            assert_eq!((error.kind(), error.path()), (ErrorKind::MissingComponent, path.as_str()));
        }
    }
}

/// Every prefix, every flipped bit and every octet set to a nasty one: a value or an error, and what is a value can be
/// encoded and decodes to the same again.
#[test]
fn damaged_input_gives_a_value_or_an_error() {
    let plan = plan(TYPE);
    let inputs = [
        "30 08 A1 06 02 01 02 02 01 01",
        "30 80 A2 80 81 00 80 00 9E 00 00 00 83 02 06 40 00 00",
        "30 19 80 01 FF A3 06 03 01 00 03 01 00 84 03 80 00 02 A5 07 81 05 30 03 80 01 05",
    ];
    let options = [Options::default(), Options::strict(Rules::Der), Options::strict(Rules::Cer)];
    let mut tried = 0;
    let mut attempt = |input: &[u8]| {
        for options in &options {
            tried += 1;
            match events(&plan, "T", input, options) {
                Err(error) => assert!(error.offset() <= input.len() as u64 && !error.to_string().is_empty()),
                Ok((first, used)) => {
                    let Ok(encoded) = again(&plan, "T", &input[..used], Rules::Ber) else { continue };
                    let second = events(&plan, "T", &encoded, &Options::default()).unwrap().0;
                    assert_eq!(first.replace('+', ""), second, "{}", to_hex(input));
                }
            }
        }
    };
    for input in inputs {
        let input = hex(input);
        for end in 0..input.len() {
            attempt(&input[..end]);
        }
        for at in 0..input.len() {
            for bit in 0..8 {
                let mut damaged = input.clone();
                damaged[at] ^= 1 << bit;
                attempt(&damaged);
            }
            for octet in [0x00, 0x7F, 0x80, 0xFF] {
                let mut damaged = input.clone();
                damaged[at] = octet;
                attempt(&damaged);
            }
        }
    }
    assert!(tried > 2000);
}
