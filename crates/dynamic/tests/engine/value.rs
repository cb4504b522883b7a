//! Values as trees: notation, change, comparison, and the way back to octets.

use crate::common::{hex, plan, to_hex};
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use tercet_dynamic::value::{Bits, Value};
use tercet_dynamic::{Plan, Rules, Tape, Unknown, decode, encode};

fn value_of(plan: &Plan, input: &[u8]) -> Value {
    let mut options = tercet_dynamic::Options::default();
    options.unknown = Unknown::Keep;
    let mut tape = Tape::new();
    decode(plan, plan.root("T").expect("T"), input, &mut tape, &options).expect("decodes");
    Value::from_view(&plan.shape, tape.view(input)).expect("a value")
}

fn octets_of(plan: &Plan, value: &Value) -> Result<String, String> {
    let mut tape = Tape::new();
    let mut out = Vec::new();
    value.to_tape(&plan.shape, plan.root("T").expect("T"), &mut tape).map_err(|error| error.to_string())?;
    encode(plan, Rules::Ber, tape.view(&[]), &mut out).map_err(|error| error.to_string())?;
    Ok(to_hex(&out))
}

/// Each case: BER and the value notation; the value gives the same BER again.
fn check(body: &str, cases: &[(&str, &str)]) {
    let plan = plan(body);
    for (octets, notation) in cases {
        let input = hex(octets);
        let value = value_of(&plan, &input);
        assert_eq!(value.to_string(), *notation, "{octets}");
        assert_eq!(octets_of(&plan, &value), Ok(to_hex(&input)), "{notation}");
        assert_eq!(value, value.clone());
    }
}

#[test]
fn notation_and_octets_of_every_type() {
    check("T ::= BOOLEAN", &[("01 01 FF", "TRUE"), ("01 01 00", "FALSE")]);
    check(
        "T ::= INTEGER",
        &[("02 01 80", "-128"), ("02 09 00 FF FF FF FF FF FF FF FF", "18446744073709551615")],
    );
    check("T ::= ENUMERATED { a, b(5), ... }", &[("0A 01 05", "b"), ("0A 01 07", "7")]);
    check(
        "T ::= REAL",
        &[
            ("09 00", "0"),
            ("09 01 43", "-0"),
            ("09 01 40", "PLUS-INFINITY"),
            ("09 01 42", "NOT-A-NUMBER"),
            ("09 03 80 01 05", "10.0"),
            ("09 06 03 31 35 2E 45 31", "150.0"),
            (
                "09 0A 80 C4 10 00 00 00 00 00 00 01",
                "1000000000000000000867361737988403547205962240695953369140625e-60",
            ),
            ("09 05 82 01 00 00 03", "{mantissa 3, base 2, exponent 65536}"),
        ],
    );
    check(
        "T ::= BIT STRING",
        &[("03 01 00", "''B"), ("03 03 04 AB C0", "'ABC'H"), ("03 02 05 A0", "'101'B")],
    );
    check("T ::= OCTET STRING", &[("04 02 00 AB", "'00AB'H")]);
    check("T ::= NULL", &[("05 00", "NULL")]);
    check("T ::= OBJECT IDENTIFIER", &[("06 03 88 37 03", "{2 999 3}")]);
    check("T ::= RELATIVE-OID", &[("0D 02 87 67", "{999}")]);
    check("T ::= BMPString", &[("1E 04 00 E9 00 22", "\"é\"\"\"")]);
    check("T ::= UTCTime", &[("17 0B 32 31 30 32 32 38 31 32 30 30 5A", "\"2102281200Z\"")]);
    check("T ::= DATE", &[("1F 1F 08 32 30 32 31 30 32 32 38", "\"2021-02-28\"")]);
    check(
        "T ::= SEQUENCE { a INTEGER OPTIONAL, l SEQUENCE OF CHOICE { x NULL, y INTEGER }, ... }",
        &[
            ("30 02 A1 00", "{l {}}"),
            (
                "30 0E 80 01 05 A1 05 80 00 81 01 03 89 02 AB CD",
                "{a 5, l {x : NULL, y : 3}, /* unknown */ '8902ABCD'H}",
            ),
        ],
    );
    check(
        "T ::= OCTET STRING (CONTAINING SEQUENCE OF BOOLEAN)",
        &[("04 05 30 03 01 01 FF", "CONTAINING {TRUE}"), ("04 01 30", "'30'H")],
    );
}

#[test]
fn spread_over_lines() {
    let plan = plan("T ::= SEQUENCE { a INTEGER, l SEQUENCE OF INTEGER, e SEQUENCE OF NULL }");
    let value = value_of(&plan, &hex("30 0D 80 01 05 A1 06 02 01 01 02 01 02 A2 00"));
    assert_eq!(format!("{value:#}"), "{\n  a 5,\n  l {\n    1,\n    2\n  },\n  e {}\n}");
}

#[test]
fn values_are_changed_and_encoded_in_the_order_of_the_type() {
    let plan = plan("T ::= SEQUENCE { a INTEGER, b BOOLEAN OPTIONAL, c INTEGER DEFAULT 3 }");
    let made = |members: &[(&str, Value)]| {
        let members = members.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        octets_of(&plan, &Value::Sequence(members))
    };
    assert_eq!(
        made(&[("b", Value::Boolean(true)), ("a", Value::Integer(1))]).as_deref(),
        Ok("30068001018101FF")
    );
    let wrong = |members: &[(&str, Value)]| made(members).expect_err("an error");
    assert!(
        wrong(&[("a", Value::Null)])
            .starts_with("a: the value to encode is not one of the type: INTEGER expected")
    );
    assert!(wrong(&[("x", Value::Null)]).contains("no component `x`"));
    assert!(
        wrong(&[("a", Value::Integer(1)), ("a", Value::Integer(1))]).contains("a component is present twice")
    );
    assert!(wrong(&[]).contains("a component is missing"));
    let mut value = value_of(&plan, &hex("30 03 80 01 01"));
    *value.get_mut("a").expect("a") = Value::Integer(300);
    assert_eq!(octets_of(&plan, &value).as_deref(), Ok("30048002012C"));
}

#[test]
fn equality_is_that_of_abstract_values() {
    let set = |numbers: &[i64]| {
        Value::SetOf(numbers.iter().map(|n| Value::SetOf(vec![Value::Integer(*n)])).collect())
    };
    assert_eq!(set(&[1, 2, 2]), set(&[2, 1, 2]));
    assert_ne!(set(&[1, 2, 2]), set(&[1, 1, 2]));
    assert_ne!(
        Value::SequenceOf(vec![Value::Null, Value::Boolean(true)]),
        Value::SequenceOf(vec![Value::Boolean(true), Value::Null])
    );
    let members = |order: &[&str]| {
        Value::Set(order.iter().map(|n| ((*n).to_owned(), Value::Text((*n).to_owned()))).collect())
    };
    assert_eq!(members(&["a", "b"]), members(&["b", "a"]));
    assert_eq!(Value::Real(f64::NAN), Value::Real(-f64::NAN));
    assert_ne!(Value::Real(0.0), Value::Real(-0.0));
    assert_eq!(Value::BitString(Bits::new([0xFF], 3)), Value::BitString(Bits::new([0xE0], 3)));
    let hash = |value: &Value| {
        let mut hasher = DefaultHasher::new();
        value.hash(&mut hasher);
        hasher.finish()
    };
    assert_eq!(hash(&set(&[1, 2])), hash(&set(&[2, 1])));
    // Each level of a SET OF is put in order once.
    let deep = |flip: bool| {
        (0..200).fold(Value::Null, |inner, n| {
            let mut elements = vec![inner, Value::Integer(n)];
            if flip {
                elements.reverse();
            }
            Value::SetOf(elements)
        })
    };
    assert_eq!(deep(true), deep(false));
}
