//! The formatter and the renderer by example.

use tercet_syntax::{
    Diagnostic, ParseOptions, SourceMap, Span, dump_tokens, format, lex, parse, render, render_json,
};

fn check(source: &str, expect: &str) {
    let mut map = SourceMap::new();
    let id = map.add("a.asn", source);
    let text = format(&map, id).expect("a text without errors");
    assert_eq!(text, expect);
    let id = map.add("b.asn", text);
    assert_eq!(format(&map, id).expect("formatted text"), expect);
}

#[test]
fn layout() {
    check(
        "-- head\nM {iso(1) 2}DEFINITIONS::=BEGIN IMPORTS A,b FROM N {1 2} C FROM O;
A::=SEQUENCE{a INTEGER(0..5),-- first\n  b  ENUMERATED{x,y}OPTIONAL,...,[[c NULL]] ,
  ...,/* own\n line */\n  d Foo{Bar}}
v INTEGER::=-5 w INTEGER ::= 6\nEND",
        "\
-- head
M { iso(1) 2 } DEFINITIONS ::=
BEGIN

IMPORTS
    A, b
        FROM N { 1 2 }
    C
        FROM O;

A ::= SEQUENCE {
    a INTEGER (0..5),  -- first
    b ENUMERATED { x, y } OPTIONAL,
    ...,
    [[ c NULL ]],
    ...,  /* own
 line */
    d Foo{Bar}
}

v INTEGER ::= -5
w INTEGER ::= 6

END
",
    );
}

#[test]
fn macros_keep_their_lines() {
    let text = "\
M DEFINITIONS ::=
BEGIN

x OBJECT-TYPE
    SYNTAX INTEGER { one(1) }
    ACCESS read-only
    ::= { y 1 }

END
";
    check(text, text);
}

#[test]
fn long_lists_are_broken() {
    let names: Vec<_> = (0..12).map(|n| format!("some-item-{n}")).collect();
    let source = format!("M DEFINITIONS ::= BEGIN A ::= ENUMERATED {{{}}} END", names.join(","));
    let body: Vec<_> = names.iter().map(|n| format!("    {n}")).collect();
    check(
        &source,
        &format!("M DEFINITIONS ::=\nBEGIN\n\nA ::= ENUMERATED {{\n{}\n}}\n\nEND\n", body.join(",\n")),
    );
}

#[test]
fn errors_are_not_formatted() {
    let mut map = SourceMap::new();
    let id = map.add("a.asn", "M DEFINITIONS ::= BEGIN A ::= SEQUENCE { END");
    assert!(!format(&map, id).expect_err("errors").is_empty());
}

#[test]
fn rendering() {
    let mut map = SourceMap::new();
    map.add("lib.asn", "Lib DEFINITIONS ::= BEGIN\nOther ::= NULL\nEND\n");
    let id = map.add("dir/my.asn", "My DEFINITIONS ::= BEGIN\nA ::= SEQUENCE { a INTEGER ( }\nEND\n");
    let (_, diagnostics) = parse(&map, id, &ParseOptions::default());
    let start = map.file(id).start;
    let error = diagnostics[0]
        .clone()
        .also(Span::new(start + 25, start + 26), "in this type")
        .also(Span::new(26, 31), "another file")
        .help("write a value")
        .note("X.680 §51.2");
    assert_eq!(
        render(&map, &error, false),
        "\
error[E0101]: expected a value, found `}`
 --> dir/my.asn:2:30
  |
2 | A ::= SEQUENCE { a INTEGER ( }
  | - in this type               ^ expected a value
  |
 ::: lib.asn:2:1
  |
2 | Other ::= NULL
  | ----- another file
  |
  = help: write a value
  = note: X.680 §51.2"
    );
    assert!(render(&map, &error, true).contains("\u{1b}["));
    assert_eq!(
        render_json(&map, &error),
        concat!(
            r#"{"code":"E0101","severity":"error","message":"expected a value, found `}`","file":"dir/my.asn","line":2,"#,
            r#""column":30,"end_line":2,"end_column":31,"label":"expected a value","labels":[{"file":"dir/my.asn","#,
            r#""line":2,"column":1,"end_line":2,"end_column":2,"text":"in this type"},{"file":"lib.asn","line":2,"#,
            r#""column":1,"end_line":2,"end_column":6,"text":"another file"}],"help":"write a value","note":"X.680 §51.2","fixes":[]}"#
        )
    );
    let nowhere = SourceMap::new();
    assert_eq!(
        render(&nowhere, &Diagnostic::warning("W0001", Span::default(), "no text"), false),
        "warning[W0001]: no text"
    );
}

#[test]
fn tokens() {
    let mut map = SourceMap::new();
    let id = map.add("a.asn", "A ::= -- x\n'0F'H");
    let text = dump_tokens(&map, &lex(&map, id, &ParseOptions::default()));
    assert_eq!(
        text,
        "     1:1 Upper        A\n     1:3 Assign       ::=\n     1:7 Comment      -- x\n     2:1 HString      '0F'H\n"
    );
}
