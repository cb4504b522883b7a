//! Values of every type, as their notation printed again.

use crate::{Options, resolve};
use tercet_syntax::{ParseOptions, SourceMap, parse};

/// The value of `v` in a module, or what is said about it.
fn read(body: &str) -> String {
    let mut map = SourceMap::new();
    let id = map.add("m", format!("M DEFINITIONS AUTOMATIC TAGS ::= BEGIN {body} END"));
    let (modules, mut found) = parse(&map, id, &ParseOptions { lenient: false, ..ParseOptions::default() });
    let (model, more) = resolve(&map, &modules, &Options::default());
    found.extend(more);
    if !found.is_empty() {
        return found.iter().map(|d| format!("{} {}", d.code, d.message)).collect::<Vec<_>>().join("; ");
    }
    let (_, _, value) = model.modules[0].values.iter().find(|(name, ..)| name == "v").expect("a value v");
    model.notation(value).to_string()
}

fn check(cases: &[(&str, &str)]) {
    for (body, expected) in cases {
        assert_eq!(read(body), *expected, "{body}");
    }
}

#[test]
fn simple_values() {
    check(&[
        ("v BOOLEAN ::= TRUE", "TRUE"),
        ("v NULL ::= NULL", "NULL"),
        ("v INTEGER ::= -5", "-5"),
        ("v I ::= b I ::= INTEGER { a(1), b(2) } b INTEGER ::= 7", "2"),
        ("v INTEGER ::= w w INTEGER ::= 7", "7"),
        ("v E ::= b E ::= ENUMERATED { a, b }", "b"),
        ("v M.E ::= M.w E ::= ENUMERATED { a, b } w E ::= a", "a"),
        ("v REAL ::= 1.50", "15.0E-1"),
        ("v REAL ::= -0", "-0"),
        ("v REAL ::= 1200", "12.0E2"),
        ("v REAL ::= {mantissa 3, base 2, exponent -4}", "{mantissa 3, base 2, exponent -4}"),
        ("v REAL ::= MINUS-INFINITY", "MINUS-INFINITY"),
        ("v REAL ::= NOT-A-NUMBER", "NOT-A-NUMBER"),
        ("v BIT STRING ::= '101'B", "'101'B"),
        ("v BIT STRING ::= 'A5F'H", "'101001011111'B"),
        ("v BIT STRING { a(0), c(2) } ::= {a, c}", "'101'B"),
        ("v BIT STRING { a(0) } ::= {}", "''H"),
        ("v OCTET STRING ::= 'ABC'H", "'ABC0'H"),
        ("v OCTET STRING ::= '1'B", "'80'H"),
        ("v OCTET STRING (CONTAINING INTEGER) ::= CONTAINING 5", "CONTAINING 5"),
    ]);
}

#[test]
fn object_identifiers() {
    check(&[
        ("v OBJECT IDENTIFIER ::= {iso standard 8571}", "{1 0 8571}"),
        ("v OBJECT IDENTIFIER ::= {itu-t recommendation q 5}", "{0 0 17 5}"),
        ("v OBJECT IDENTIFIER ::= {w 5 six(6)} w OBJECT IDENTIFIER ::= {1 3}", "{1 3 5 6}"),
        ("v OBJECT IDENTIFIER ::= {1 3 n x(n)} n INTEGER ::= 9", "{1 3 9 9}"),
        (
            "v OBJECT IDENTIFIER ::= {2 999 340282366920938463463374607431768211455}",
            "{2 999 340282366920938463463374607431768211455}",
        ),
        ("v RELATIVE-OID ::= {4 r} r RELATIVE-OID ::= {5 6}", "{4 5 6}"),
        ("v OBJECT IDENTIFIER ::= {1 3 foo}", "E0307 the number of `foo` is not known"),
        ("v OBJECT IDENTIFIER ::= {1 40}", "E0307 no OBJECT IDENTIFIER begins with these numbers"),
        ("v OID-IRI ::= \"/ISO/Registration\"", "\"/ISO/Registration\""),
    ]);
}

#[test]
fn strings() {
    check(&[
        ("v IA5String ::= \"a\"\"b\"", "\"a\"\"b\""),
        ("v IA5String ::= {\"ab\", {0, 10}, nul}", "{\"ab\", {0, 0, 0, 10}, {0, 0, 0, 0}}"),
        ("v BMPString ::= {0, 0, 32, 172}", "\"€\""),
        ("v UTF8String ::= {w, \"x\"} w UTF8String ::= \"é\"", "\"éx\""),
        ("v NumericString ::= \"1a\"", "E0305 NumericString has no character 'a'"),
        ("v GeneralizedTime ::= \"20260101000000Z\"", "\"20260101000000Z\""),
        ("v DATE ::= \"2026-01-01\"", "\"2026-01-01\""),
    ]);
}

#[test]
fn structured_values() {
    check(&[
        (
            "v S ::= {a 1, b {c TRUE}} S ::= SEQUENCE { a INTEGER, b SEQUENCE { c BOOLEAN }, d NULL OPTIONAL }",
            "{a 1, b {c TRUE}}",
        ),
        ("v SEQUENCE OF INTEGER ::= {1, 2, w} w INTEGER ::= 3", "{1, 2, 3}"),
        ("v SEQUENCE OF n INTEGER ::= {n 1, n 2}", "{1, 2}"),
        ("v SEQUENCE OF INTEGER ::= {}", "{}"),
        ("v C ::= a : b : 5 C ::= CHOICE { a CHOICE { b INTEGER } }", "a : b : 5"),
        ("v S ::= {} S ::= SEQUENCE { a INTEGER }", "E0304 component `a` is missing"),
        ("v S ::= {z 1} S ::= SEQUENCE { a INTEGER OPTIONAL }", "E0304 this SEQUENCE has no component `z`"),
        ("v C ::= z : 1 C ::= CHOICE { a INTEGER }", "E0304 this CHOICE has no alternative `z`"),
        ("v C.&T ::= INTEGER : 5 C ::= CLASS { &T }", "INTEGER : 5"),
        ("v INTEGER ::= TRUE", "E0301 a truth value is not a value of INTEGER"),
        ("v INTEGER ::= w w BOOLEAN ::= TRUE", "E0301 `w` is a BOOLEAN, not a value of INTEGER"),
        ("v INTEGER ::= p {4} p {INTEGER:n} INTEGER ::= n", "4"),
        ("v INTEGER ::= o.&id o C ::= {&id 5} C ::= CLASS { &id INTEGER }", "5"),
        (
            "v EXTERNAL ::= {direct-reference {1 2}, encoding octet-aligned : 'AB'H}",
            "{direct-reference {1 2}, encoding octet-aligned : 'AB'H}",
        ),
    ]);
}

#[test]
fn no_work_by_the_size_of_a_value() {
    let digits = "9".repeat(100_000);
    assert_eq!(read(&format!("v INTEGER ::= {digits}")), "E0302 this number has 100000 digits");
    assert_eq!(
        read("v BIT STRING { far(2147483648) } ::= {far}"),
        "E0302 bit `far` is too far out for a value"
    );
    assert_eq!(read("v REAL ::= 1E99999999999999999999"), "E0302 the exponent of this number is beyond 2^63");
    let hex = "AB".repeat(500_000);
    assert_eq!(read(&format!("v OCTET STRING ::= '{hex}'H")).len(), hex.len() + 3);
}

#[test]
fn xml_values() {
    check(&[
        ("v INTEGER ::= <INTEGER>5</INTEGER>", "5"),
        ("v BOOLEAN ::= <BOOLEAN><true/></BOOLEAN>", "TRUE"),
        (
            "v S ::= <S><a>7</a><b><c/></b><d>x&lt;y</d></S> S ::= SEQUENCE { a INTEGER, b ENUMERATED { c }, d UTF8String }",
            "{a 7, b c, d \"x<y\"}",
        ),
        ("v L ::= <L><e/><f/></L> L ::= SEQUENCE OF ENUMERATED { e, f }", "{e, f}"),
        ("v C ::= <C><a>0A FF</a></C> C ::= CHOICE { a OCTET STRING }", "a : '0AFF'H"),
        ("v O ::= <O>1.2.840</O> O ::= OBJECT IDENTIFIER", "{1 2 840}"),
    ]);
}
