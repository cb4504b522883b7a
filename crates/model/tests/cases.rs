//! Small modules and what becomes of them: data in `tests/cases/*.txt`.
//!
//! A case is `=== title`, optionally with `(strict)`, `(tagging …)` or `(findings)` in it, the source, `---`, the dump of the model
//! and the diagnostics. `BLESS=1` writes what comes out, to be reviewed as a diff.

use std::fmt::Write as _;
use std::path::Path;
use tercet_model::{Options, Tagging, resolve};
use tercet_syntax::{Diagnostic, ParseOptions, SourceMap, parse};

#[test]
fn cases() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    paths.sort();
    let bless = std::env::var_os("BLESS").is_some();
    let mut failed = String::new();
    for path in paths {
        let text = std::fs::read_to_string(&path).unwrap();
        let mut out = String::new();
        for case in text.split("=== ").skip(1) {
            let (title, rest) = case.split_once('\n').unwrap_or((case, ""));
            let (source, expected) = rest.split_once("---\n").unwrap_or((rest, ""));
            let found = run(title, source);
            if found.trim() != expected.trim() {
                let _ = write!(failed, "\n=== {title}\n{source}--- expected\n{expected}--- found\n{found}");
            }
            let _ = write!(out, "=== {title}\n{source}---\n{found}\n");
        }
        if bless {
            std::fs::write(&path, format!("{}\n", out.trim_end())).unwrap();
        }
    }
    assert!(bless || failed.is_empty(), "{failed}");
}

fn run(title: &str, source: &str) -> String {
    let mut map = SourceMap::new();
    let file = map.add("case", source);
    let strict = title.contains("(strict)");
    let parsing = ParseOptions { lenient: !strict, ..ParseOptions::default() };
    let (modules, mut found) = parse(&map, file, &parsing);
    let tagging = match title {
        t if t.contains("(tagging explicit)") => Tagging::Explicit,
        t if t.contains("(tagging implicit)") => Tagging::ImplicitExceptChoice,
        _ => Tagging::AsWritten,
    };
    let options = Options {
        lenient: !strict,
        tagging,
        aliases: vec![("Old-XX".into(), "New-12".into())],
        ..Options::default()
    };
    let (model, more) = resolve(&map, &modules, &options);
    found.extend(more);
    let mut out = if title.contains("(findings)") { String::new() } else { model.show() };
    for d in &found {
        let _ = writeln!(out, "{}", line(&map, d));
    }
    out
}

fn line(map: &SourceMap, d: &Diagnostic) -> String {
    let at = map.line_column(d.primary.span.lo);
    let mut out = format!("{} {}:{} {}", d.code, at.line, at.column, d.message);
    if !d.primary.text.is_empty() {
        let _ = write!(out, " ({})", d.primary.text);
    }
    for label in &d.secondary {
        let at = map.line_column(label.span.lo);
        let _ = write!(out, " [{}:{} {}]", at.line, at.column, label.text);
    }
    if let Some(help) = &d.help {
        let _ = write!(out, " help: {help}");
    }
    out
}

#[test]
fn every_code_is_explained() {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            for quoted in text.split('"') {
                let is_code = quoted.len() == 5
                    && quoted.starts_with(['E', 'W'])
                    && quoted[1..].bytes().all(|b| b.is_ascii_digit());
                let known = tercet_model::CODES.iter().any(|(code, ..)| *code == quoted);
                assert!(!is_code || known, "{quoted} in {} has no explanation", path.display());
            }
        }
    }
}
