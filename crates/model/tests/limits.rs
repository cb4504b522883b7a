//! Small texts that multiply: each ends quickly, with a finding where a limit is passed.

use std::fmt::Write;
use std::time::{Duration, Instant};
use tercet_model::constraints::Visibility;
use tercet_model::{Model, Options, resolve};
use tercet_syntax::{ParseOptions, SourceMap, parse};

/// The codes of errors in a body of a module.
fn resolved(body: &str) -> (Model, Vec<&'static str>) {
    let begin = Instant::now();
    let mut map = SourceMap::new();
    let file = map.add("a.asn", format!("M DEFINITIONS AUTOMATIC TAGS ::= BEGIN\n{body}\nEND"));
    let (modules, findings) = parse(&map, file, &ParseOptions::default());
    assert!(findings.is_empty(), "{findings:?}");
    let options = Options { lenient: true, ..Options::default() };
    let (model, findings) = resolve(&map, &modules, &options);
    // Without limits each of these takes hours or all memory; unoptimised builds get by with this.
    assert!(begin.elapsed() < Duration::from_secs(60), "{:?}", begin.elapsed());
    let mut codes: Vec<_> = findings.iter().filter(|it| it.is_error()).map(|it| it.code).collect();
    codes.dedup();
    (model, codes)
}

/// Lines for the numbers from 1 on.
fn lines(count: usize, line: impl Fn(usize, usize) -> String) -> String {
    (1..count).fold(String::new(), |mut text, n| {
        let _ = writeln!(text, "{}", line(n, n - 1));
        text
    })
}

fn check(body: &str, expected: &[&str]) {
    let (_, codes) = resolved(body);
    assert_eq!(codes, expected, "{}", &body[..body.len().min(200)]);
}

#[test]
fn values_that_double_have_a_budget() {
    let list = "L ::= SEQUENCE OF L\nv0 L ::= {}\n";
    check(&(list.to_owned() + &lines(40, |n, m| format!("v{n} L ::= {{v{m}, v{m}}}"))), &["E0237"]);
    let text = "v0 IA5String ::= \"abcdefgh\"\n";
    check(&(text.to_owned() + &lines(60, |n, m| format!("v{n} IA5String ::= {{v{m}, v{m}}}"))), &["E0237"]);
    let pair = "S ::= SEQUENCE { a S OPTIONAL, b S OPTIONAL }\nv0 S ::= {}\n";
    check(&(pair.to_owned() + &lines(40, |n, m| format!("v{n} S ::= {{a v{m}, b v{m}}}"))), &["E0237"]);
    // A field's default is copied into each object.
    let class = "C ::= CLASS { &id INTEGER, &v L DEFAULT v13 }\n";
    let body = list.to_owned() + &lines(14, |n, m| format!("v{n} L ::= {{v{m}, v{m}}}")) + class;
    check(&(body + &lines(5_000, |n, _| format!("o{n} C ::= {{&id {n}}}"))), &["E0237"]);
    // Ten octets of text name a bit far out.
    let bits = "B ::= BIT STRING { far (1048575) }\n";
    check(&(bits.to_owned() + &lines(5_000, |n, _| format!("v{n} B ::= {{far}}"))), &["E0237"]);
}

#[test]
fn types_that_double_have_a_budget() {
    let wide: String = (0..100).map(|n| format!("c{n} T, ")).collect();
    let body = format!("P0 {{T}} ::= SEQUENCE {{ {wide} last T }}\n");
    let step = |n, m| {
        format!("P{n} {{T}} ::= SEQUENCE {{ a P{m} {{SEQUENCE {{x T}}}}, b P{m} {{SEQUENCE {{y T}}}} }}")
    };
    check(&(body + &lines(40, step) + "S ::= P39 {NULL}"), &["E0237", "E0235"]);
    let twice = |n, m| format!("T{n} ::= SEQUENCE {{ COMPONENTS OF T{m}, COMPONENTS OF T{m} }}");
    check(&("T0 ::= SEQUENCE { a NULL }\n".to_owned() + &lines(40, twice)), &["E0262"]);
}

#[test]
fn constraints_that_double_are_worked_out_once() {
    for (first, step) in [
        ("INTEGER (0..7)", "INTEGER (T# | T#)"),
        ("INTEGER (0..7)", "T# (T# ^ T#)"),
        ("IA5String (FROM (\"a\"..\"c\"))", "IA5String (FROM (T# | T#))"),
    ] {
        let body = format!("T0 ::= {first}\n")
            + &lines(60, |n, m| format!("T{n} ::= {}", step.replace('#', &m.to_string())));
        let (model, codes) = resolved(&body);
        assert!(codes.is_empty(), "{codes:?}");
        let (_, last) = model.modules[0].types.last().expect("types");
        let effective = model.effective(*last, Visibility::All);
        assert!(effective.integers.is_some() || effective.alphabet.is_some(), "{body}");
    }
}

#[test]
fn long_chains_are_read() {
    let count = 4_000;
    check(&("T0 ::= NULL\n".to_owned() + &lines(count, |n, m| format!("T{n} ::= T{m}"))), &[]);
    check(&("v0 INTEGER ::= 1\n".to_owned() + &lines(count, |n, m| format!("v{n} INTEGER ::= v{m}"))), &[]);
    let texts = |n, m| format!("v{n} IA5String ::= {{v{m}, \"a\"}}");
    check(&("v0 IA5String ::= \"a\"\n".to_owned() + &lines(count, texts)), &[]);
    let oids = |n, m| format!("v{n} OBJECT IDENTIFIER ::= {{v{m} {n}}}");
    check(&("v0 OBJECT IDENTIFIER ::= {1 3}\n".to_owned() + &lines(count * 2, oids)), &[]);
    // What nests deeper than anything that could be encoded is left out.
    let lists = |n, m| format!("v{n} L ::= {{v{m}}}");
    check(&("L ::= SEQUENCE OF L\nv0 L ::= {}\n".to_owned() + &lines(count, lists)), &["E0299"]);
}

#[test]
fn sets_of_many_objects_are_read_in_linear_time() {
    let class = "C ::= CLASS { &id INTEGER UNIQUE, &T } WITH SYNTAX { &id &T }\nS0 C ::= {{0 NULL}}\n";
    let doubled = lines(60, |n, m| format!("S{n} C ::= {{S{m} | S{m}}}"));
    check(&(class.to_owned() + &doubled), &[]);
    let objects: Vec<String> = (1..10_000).map(|n| format!("{{{n} INTEGER (0..{n})}}")).collect();
    check(&format!("{class}All C ::= {{{}, ...}}", objects.join(" | ")), &[]);
}
