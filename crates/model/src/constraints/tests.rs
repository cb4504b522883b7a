//! Small types and what their constraints come to.

use super::{Effective, Visibility};
use crate::{Model, Options, resolve};
use tercet_syntax::{ParseOptions, SourceMap, parse};

fn model(body: &str) -> (Model, String) {
    let mut map = SourceMap::new();
    let text = format!("M DEFINITIONS AUTOMATIC TAGS ::= BEGIN {body} END");
    let id = map.add("m", text);
    let (modules, mut found) = parse(&map, id, &ParseOptions { lenient: false, ..ParseOptions::default() });
    let (model, more) = resolve(&map, &modules, &Options::default());
    found.extend(more);
    let found: Vec<_> = found.iter().map(|d| format!("{} {}", d.code, d.message)).collect();
    (model, found.join("; "))
}

fn effective(body: &str, visibility: Visibility) -> Effective {
    let (model, found) = model(body);
    assert_eq!(found, "", "{body}");
    let (_, ty) = model.modules[0].types.iter().find(|(name, _)| name == "T").expect("a type T");
    model.effective(*ty, visibility)
}

fn check(visibility: Visibility, cases: &[(&str, &str)]) {
    for (body, expected) in cases {
        let found = effective(body, visibility).to_string();
        assert_eq!(found, *expected, "{visibility:?} {body}");
    }
}

#[test]
fn per_visible_integers() {
    check(
        Visibility::Per,
        &[
            ("T ::= INTEGER", ""),
            ("T ::= INTEGER (3..6)", "3..6"),
            ("T ::= INTEGER (3..6, ...)", "3..6,ext"),
            ("T ::= INTEGER (3..6, ..., 8)", "3..6,ext"),
            ("T ::= INTEGER (5)", "5"),
            ("T ::= INTEGER (MIN..5)", "MIN..5"),
            ("T ::= INTEGER (0..MAX)", "0..MAX"),
            ("T ::= INTEGER (MIN..MAX)", "MIN..MAX"),
            ("T ::= INTEGER (3<..<12)", "4..11"),
            ("T ::= INTEGER (0..10|20..30)", "0..30"),
            ("T ::= INTEGER (0..20 EXCEPT 10)", "0..20"),
            ("T ::= INTEGER (0..20 EXCEPT 20)", "0..20"),
            ("T ::= INTEGER (0..20 ^ 10..40)", "10..20"),
            ("T ::= INTEGER (0..10, ...) (2..5)", "2..5"),
            ("T ::= INTEGER (0..10) (2..5, ...)", "2..5,ext"),
            ("T ::= INTEGER (0..10) (2..MAX)", "2..10"),
            ("T ::= INTEGER (0..10) (MIN..4)", "0..4"),
            ("T ::= A (2..5) A ::= INTEGER (0..10, ...)", "2..5"),
            ("T ::= A A ::= INTEGER (0..10, ...)", "0..10,ext"),
            ("T ::= INTEGER (A) A ::= INTEGER (1..4, ...)", "1..4"),
            ("T ::= INTEGER (A | 9) A ::= INTEGER (1..4)", "1..9"),
            ("T ::= INTEGER (INCLUDES S) S INTEGER ::= { 1 | 2 | 5 }", "1..5"),
            ("T ::= INTEGER (lo..hi) hi INTEGER ::= 7 lo INTEGER ::= 2", "2..7"),
            ("T ::= INTEGER { low(2), high(9) } (low..high)", "2..9"),
            ("T ::= INTEGER (1|2|3|4|5|6|7|8|9|12)", "1..12"),
            ("T ::= P {3} P {INTEGER:max} ::= INTEGER (0..max)", "0..3"),
            ("T ::= INTEGER (CONSTRAINED BY {})", ""),
            ("T ::= INTEGER (0..4, ...) (CONSTRAINED BY {})", "0..4,ext"),
            ("T ::= INTEGER (ALL EXCEPT 5)", ""),
            ("T ::= INTEGER (0..18446744073709551616)", "0..18446744073709551616"),
            ("T ::= a < C C ::= CHOICE { a INTEGER (0..7), b NULL }", "0..7"),
        ],
    );
}

#[test]
fn per_visible_sizes() {
    check(
        Visibility::Per,
        &[
            ("T ::= OCTET STRING (SIZE (4))", "SIZE 4"),
            ("T ::= OCTET STRING (SIZE (1..2|5..6))", "SIZE 1..6"),
            ("T ::= OCTET STRING (SIZE (1..4, ...))", "SIZE 1..4,ext"),
            ("T ::= OCTET STRING (SIZE (1..4), ...)", "SIZE 1..4,ext"),
            ("T ::= OCTET STRING (SIZE (0..MAX))", "SIZE 0..MAX"),
            ("T ::= SEQUENCE SIZE (1..4) OF INTEGER", "SIZE 1..4"),
            ("T ::= L (SIZE (2)) L ::= SEQUENCE (SIZE (1..4)) OF INTEGER", "SIZE 2"),
            ("T ::= BIT STRING (SIZE (1..8)) (SIZE (4..MAX))", "SIZE 4..8"),
            ("T ::= OCTET STRING (SIZE (1..4, ...)) (CONTAINING NULL)", "SIZE 1..4,ext"),
            ("T ::= OCTET STRING (SIZE (A)) A ::= INTEGER (2..6)", "SIZE 2..6"),
            ("T ::= IA5String (SIZE (1..4) | FROM (\"ab\"))", ""),
            ("T ::= IA5String (SIZE (1..4) | \"abc\")", ""),
            ("T ::= IA5String (SIZE (1..4) ^ FROM (\"ab\"))", "SIZE 1..4 FROM \"a\"..\"b\""),
            ("T ::= IA5String (\"abc\")", ""),
            ("T ::= UTF8String (SIZE (1..4))", ""),
            ("T ::= GeneralString (SIZE (1..4))", ""),
            ("T ::= L (WITH COMPONENT (1..3)) L ::= SEQUENCE OF INTEGER", ""),
        ],
    );
}

#[test]
fn per_visible_alphabets() {
    check(
        Visibility::Per,
        &[
            ("T ::= IA5String (FROM (\"a\"..\"z\"))", "FROM \"a\"..\"z\""),
            ("T ::= IA5String (FROM (\"az\" | \"0\"..\"9\"))", "FROM \"0\"..\"9\"|\"a\"|\"z\""),
            ("T ::= IA5String (FROM (\"ab\", ...))", ""),
            ("T ::= IA5String (FROM (\"ab\", ...)) (SIZE (2))", "SIZE 2 FROM \"a\"..\"b\""),
            ("T ::= IA5String (FROM (\"abc\")) (FROM (\"bcd\"))", "FROM \"b\"..\"c\""),
            ("T ::= IA5String (FROM (A)) A ::= IA5String (FROM (\"xy\"))", "FROM \"x\"..\"y\""),
            ("T ::= VisibleString (FROM (\"0\"..\"9\")) (SIZE (4))", "SIZE 4 FROM \"0\"..\"9\""),
            ("T ::= UTF8String (FROM (\"ab\"))", ""),
            ("T ::= IA5String (PATTERN \"a*\")", ""),
        ],
    );
}

#[test]
fn oer_visible() {
    check(
        Visibility::Oer,
        &[
            ("T ::= INTEGER (0..255, ...)", ""),
            ("T ::= INTEGER (0..65535) (0..10)", "0..10"),
            ("T ::= INTEGER (0..255, ...) (0..10)", "0..10"),
            ("T ::= OCTET STRING (SIZE (4, ...))", ""),
            ("T ::= IA5String (SIZE (2)) (FROM (\"ab\"))", "SIZE 2"),
            (
                "T ::= REAL (WITH COMPONENTS { mantissa (-16777215..16777215), base (2), exponent (-149..104) })",
                "REAL mantissa -16777215..16777215 base 2 exponent -149..104",
            ),
        ],
    );
}

#[test]
fn everything_for_validation() {
    let exact = effective("T ::= INTEGER (0..20 EXCEPT (5..7 | 20))", Visibility::All);
    assert_eq!(exact.to_string(), "0..19");
    let set = exact.integers.expect("integers");
    assert!(set.contains(&4.into()) && !set.contains(&6.into()) && set.contains(&8.into()));
    let text = effective("T ::= UTF8String (FROM (ALL EXCEPT \"x\")) (SIZE (1..3))", Visibility::All);
    let alphabet = text.alphabet.expect("an alphabet");
    assert!(!alphabet.contains(&u32::from('x')) && alphabet.contains(&u32::from('y')));
    check(
        Visibility::All,
        &[
            ("T ::= INTEGER (0..4, ..., 7)", "0..7,ext"),
            ("T ::= INTEGER (0..4, ..., 7) (1..9)", "1..4"),
            ("T ::= INTEGER (A) A ::= INTEGER (0..10, ..., 12)", "0..10"),
            ("T ::= INTEGER (A, ...) A ::= INTEGER (0..10, ..., 12)", "0..10,ext"),
            ("T ::= OCTET STRING (SIZE (1..4, ..., 6))", "SIZE 1..6,ext"),
        ],
    );
}

#[test]
fn contents_and_tables() {
    let (model, found) = model(
        "T ::= OCTET STRING (CONTAINING U) U ::= INTEGER C ::= CLASS { &id INTEGER UNIQUE, &Type } \
         S C ::= { {&id 1, &Type NULL}, ... } \
         V ::= SEQUENCE { id C.&id ({S}), value C.&Type ({S}{@id}) }",
    );
    assert_eq!(found, "");
    let types = &model.modules[0].types;
    let find = |name: &str| types.iter().find(|(known, _)| known == name).expect(name).1;
    assert_eq!(model.contents_constraint(find("T")).and_then(|c| c.containing), Some(find("U")));
    let crate::ir::TypeKind::Sequence(components) = &model.types[find("V").index()].kind else {
        panic!("a SEQUENCE")
    };
    let (_, relations) = model.table_constraint(components.list[1].ty).expect("a table constraint");
    assert_eq!((relations[0].level, relations[0].path[0].as_str()), (0, "id"));
}

#[test]
fn nonsense() {
    for (body, expected) in [
        ("T ::= INTEGER (5..3)", "E0401 the range from 5 to 3 is empty"),
        ("T ::= INTEGER (SIZE (3))", "E0402 SIZE does not apply to INTEGER"),
        ("T ::= OCTET STRING (FROM (\"a\"))", "E0402 FROM does not apply to OCTET STRING"),
        ("T ::= INTEGER (1..3) (7..9)", "E0405 no value satisfies this constraint and those before it"),
        ("T ::= OCTET STRING (SIZE (-1..3))", "E0408 a size is not negative"),
        ("T ::= SEQUENCE { a INTEGER (0..5) DEFAULT 9 }", "E0406 the DEFAULT is not a value of its type"),
        ("T ::= INTEGER (A) A ::= BOOLEAN", "E0403 BOOLEAN is not a subtype of INTEGER"),
        ("T ::= INTEGER (1..n)", "E0201 unknown value `n`"),
    ] {
        assert_eq!(model(body).1, expected, "{body}");
    }
}

/// The corpora of traps: what their clauses demand of effective constraints.
#[test]
fn traps() {
    let cases = [
        ("per-int-fixed0", "5"),
        ("per-int-semi-neg", "-1..MAX"),
        ("per-int-ub-only", "MIN..255"),
        ("per-int-ext-root", "0..7,ext"),
        ("per-int-serial-ext", "2..5"),
        ("per-int-union", "1..9"),
        ("per-int-hull2", "0..30"),
        ("per-int-except", "0..20"),
        ("per-int-intersect", "10..20"),
        ("per-int-openrange", "4..11"),
        ("per-size-ext", "SIZE 1..2,ext"),
        ("per-size-union", "SIZE 1..6"),
        ("per-size-on-ref", "SIZE 2"),
        ("per-alpha-1", "SIZE 0..3 FROM \"A\""),
        ("per-alpha-binary", "SIZE 4 FROM \"A\"..\"B\""),
        ("per-utf8-size", ""),
        ("per-str-ext-alpha", "SIZE 1,ext"),
    ];
    let roots = tercet_testing::all_corpora("asn1/traps");
    for (name, expected) in roots.iter().flat_map(|root| cases.map(|(name, form)| (root.join(name), form))) {
        let path = name.with_extension("asn1");
        let text =
            std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let name = name.display().to_string();
        let mut map = SourceMap::new();
        let id = map.add(name.clone(), text);
        let (modules, _) = parse(&map, id, &ParseOptions::default());
        let (model, found) = resolve(&map, &modules, &Options::default());
        assert!(found.is_empty(), "{name}: {found:?}");
        // Helpers are named like the type in question with a letter behind.
        let (_, ty) = model.modules[0].types.iter().min_by_key(|(name, _)| name.len()).expect("a type");
        let ty = *ty;
        assert_eq!(model.effective(ty, Visibility::Per).to_string(), expected, "{name}");
    }
}
