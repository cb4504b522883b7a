//! Grammar cases: `tests/data/*.txt` hold ASN.1, a line of hyphens, and what the parser must make of it.

use std::fmt::Write;
use std::path::Path;
use tercet_syntax::{ParseOptions, SourceMap, dump_ast_bare, parse};

#[test]
fn types() {
    check_file("types");
}

#[test]
fn constraints() {
    check_file("constraints");
}

#[test]
fn values() {
    check_file("values");
}

#[test]
fn lenient() {
    check_file("lenient");
}

#[test]
fn modules() {
    check_file("modules");
}

/// Runs every case of a file; with `BLESS=1` writes what came out as what is expected.
fn check_file(name: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(format!("{name}.txt"));
    let text = std::fs::read_to_string(&path).expect("a file of cases");
    let mut cases = text.split("==== ");
    let mut blessed = cases.next().unwrap_or_default().to_owned();
    let mut wrong = Vec::new();
    for case in cases {
        let (title, rest) = case.split_once('\n').expect("a title");
        let (source, expected) = rest.split_once("\n----\n").unwrap_or((rest, ""));
        let source = source.trim_end();
        let actual = run(title, source);
        if actual.trim_end() != expected.trim_end() {
            wrong.push(format!("{name}: {title}\n{actual}"));
        }
        write!(blessed, "==== {title}\n{source}\n----\n{}\n\n", actual.trim_end()).expect("memory");
    }
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, blessed.trim_end().to_owned() + "\n").expect("a writable file");
    } else {
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}

/// Findings, one a line, then the tree of each assignment without places. Titles that begin with `file:` are whole
/// files, the others bodies of a module.
fn run(title: &str, source: &str) -> String {
    let whole = title.starts_with("file:");
    let text = if whole { source.to_owned() } else { format!("M DEFINITIONS ::= BEGIN\n{source}\nEND\n") };
    let mut out = String::new();
    let mut map = SourceMap::new();
    let id = map.add("some/vendor_file-1.asn", text);
    let (modules, diagnostics) = parse(&map, id, &ParseOptions::default());
    let skipped = if whole { 0 } else { 1 };
    for finding in &diagnostics {
        let at = map.line_column(finding.primary.span.lo);
        let line = at.line - skipped;
        writeln!(out, "{line}:{} {} {} ({})", at.column, finding.code, finding.message, finding.primary.text)
            .expect("memory");
    }
    let tree = dump_ast_bare(&modules);
    let assignments = tree.lines().skip_while(|line| !whole && !line.starts_with("  Assignment"));
    for line in assignments {
        writeln!(out, "{}", line.trim_end()).expect("memory");
    }
    // A text that is right must be right for the strict reader too.
    let (_, strict) = parse(&map, id, &ParseOptions { lenient: false, ..ParseOptions::default() });
    if diagnostics.is_empty() {
        assert!(strict.is_empty(), "{title}: {strict:?}");
    } else {
        assert!(
            strict.iter().any(|d| d.is_error()) || diagnostics.iter().all(|d| d.code.starts_with('W')),
            "{title}"
        );
    }
    out
}
