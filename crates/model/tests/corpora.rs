//! Every specification resolves without errors in lenient mode: those of this repository, and those of the large corpora
//! where they exist.

use std::path::{Path, PathBuf};
use tercet_model::{Options, resolve};
use tercet_syntax::{Diagnostic, ParseOptions, SourceMap, parse};

/// Folders that need modules of other folders.
const TOGETHER: &[(&str, &[&str])] = &[];

/// Folders with errors of their own, and why.
const EXCEPTIONS: &[(&str, &str)] = &[
    ("asn1/specs/erlang-public_key", "an object identifier's definition is commented out"),
    ("asn1/specs/itu-db/m3650", "a comma in the middle of a value set"),
    ("asn1/specs/itu-db/x680", "alphabets of lone surrogates, which are no characters"),
    ("asn1/specs/wireshark/ansi_tcap", "an object set in round parentheses, a field the class does not have"),
    ("asn1/specs/wireshark/camel", "values changed for a dissector: numbers and octets for CHOICE types"),
    ("asn1/specs/wireshark/gsm_map", "values changed for a dissector, semicolons between an object's fields"),
    ("asn1/specs/wireshark/pkixqualified", "an object identifier's definition is commented out"),
];

#[test]
fn specifications_resolve() {
    tercet_testing::all_corpora("").iter().for_each(|root| all_resolve(root));
}

fn all_resolve(root: &Path) {
    let only = std::env::var("ONLY").unwrap_or_default();
    let mut folders = Vec::new();
    for top in ["asn1/specs", "cdr/specs", "asn1/bench/specs", "asn1/traps"] {
        collect_folders(&root.join(top), &mut folders);
    }
    assert!(folders.len() > 3, "{} folders in {}", folders.len(), root.display());
    let mut failed = Vec::new();
    for folder in &folders {
        let name = folder.strip_prefix(root).unwrap_or(folder).to_string_lossy().into_owned();
        if !name.contains(&only) {
            continue;
        }
        let mut files = sources(folder);
        for (spec, others) in TOGETHER {
            if name == *spec {
                files.extend(others.iter().flat_map(|o| sources(&root.join(o))));
            }
        }
        let alone = name.starts_with("asn1/traps");
        for files in groups(files, alone) {
            let errors = errors(&files);
            if !errors.is_empty() && !EXCEPTIONS.iter().any(|(path, _)| *path == name) {
                failed.push((name.clone(), errors));
            }
        }
    }
    let mut text = String::new();
    for (name, errors) in &failed {
        text.push_str(&format!("{name}: {} errors\n", errors.len()));
        for error in errors.iter().take(8) {
            text.push_str(&format!("    {error}\n"));
        }
    }
    assert!(failed.is_empty(), "{} of {} folders fail\n{text}", failed.len(), folders.len());
}

/// The errors of the files together.
fn errors(files: &[PathBuf]) -> Vec<String> {
    let mut map = SourceMap::new();
    let mut modules = Vec::new();
    let parsing = ParseOptions { lenient: true, ..ParseOptions::default() };
    for path in files {
        let Ok(bytes) = std::fs::read(path) else { continue };
        map.add_bytes(path.file_name().unwrap_or_default().to_string_lossy(), bytes);
    }
    let ids: Vec<_> = map.files().map(|(id, _)| id).collect();
    for id in ids {
        modules.extend(parse(&map, id, &parsing).0);
    }
    let options = Options { lenient: true, occurrences: true, ..Options::default() };
    let (model, diagnostics) = resolve(&map, &modules, &options);
    let named: Vec<_> = modules.iter().map(|module| module.name.span).collect();
    for it in &model.occurrences {
        // An import may name a module by its object identifier.
        let is_same = map.text(it.at) == map.text(it.definition) || named.contains(&it.definition);
        assert!(
            is_same,
            "{} is {} at {it:?}, {}",
            map.text(it.at),
            map.text(it.definition),
            files[0].display()
        );
    }
    let _ = model.show();
    // What the parser could not read is the parser's own test to judge.
    diagnostics.iter().filter(|d| d.is_error()).map(|d| line(&map, d)).collect()
}

fn line(map: &SourceMap, d: &Diagnostic) -> String {
    let file = map.file(map.file_of(d.primary.span.lo));
    let at = map.line_column(d.primary.span.lo);
    format!("{}:{}:{} {} {} ({})", file.name, at.line, at.column, d.code, d.message, d.primary.text)
}

/// Hostile sources: an answer in time, in any stack that a test thread has, and no panic.
#[test]
fn hostile_sources_get_an_answer() {
    tercet_testing::all_corpora("").iter().for_each(|root| all_get_an_answer(root));
}

fn all_get_an_answer(root: &Path) {
    let folder = root.join("hostile/gen/asn1src");
    let mut folders = Vec::new();
    collect_folders(&folder, &mut folders);
    let manifest = std::fs::read_to_string(root.join("hostile/gen/manifest.jsonl")).unwrap_or_default();
    assert!(!folders.is_empty() && !manifest.is_empty(), "{}", root.display());
    let mut wrong = Vec::new();
    for path in folders.iter().flat_map(|f| sources(f)) {
        let name =
            path.strip_prefix(root.join("hostile/gen")).unwrap_or(&path).to_string_lossy().into_owned();
        let line = manifest.lines().find(|l| l.contains(&name)).unwrap_or_default().to_owned();
        let errors = strict_errors(&path);
        if line.contains("\"accept\"") && !errors.is_empty() {
            wrong.push(format!("{name}: refused, {}", errors[0]));
        }
        if line.contains("\"reject\"") && errors.is_empty() {
            wrong.push(format!("{name}: accepted"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn strict_errors(path: &Path) -> Vec<String> {
    let mut map = SourceMap::new();
    let Ok(bytes) = std::fs::read(path) else { return Vec::new() };
    let (id, _) = map.add_bytes(path.to_string_lossy(), bytes);
    let (modules, mut found) = parse(&map, id, &ParseOptions { lenient: false, ..ParseOptions::default() });
    let (model, more) = resolve(&map, &modules, &Options::default());
    let _ = model.show();
    found.extend(more);
    found.iter().filter(|d| d.is_error()).map(|d| line(&map, d)).collect()
}

/// A long, wide and twisted text takes time in proportion to its size.
#[test]
fn large_sources_take_linear_time() {
    let mut text = String::from("M DEFINITIONS AUTOMATIC TAGS ::= BEGIN\n");
    for n in 0..20_000 {
        text.push_str(&format!(
            "T{n} ::= SEQUENCE {{ a T{}, b INTEGER (0..v{n}) OPTIONAL }}\n",
            (n + 1) % 20_000
        ));
        text.push_str(&format!("v{n} INTEGER ::= {n}\nA{n} ::= A{}\n", n + 1));
    }
    text.push_str("A20000 ::= NULL\nE ::= ENUMERATED {");
    text.extend((0..100_000).map(|n| format!("e{n}, ")));
    text.push_str("last }\nEND\n");
    let mut map = SourceMap::new();
    let id = map.add("large", text);
    let (modules, _) = parse(&map, id, &ParseOptions::default());
    let (_, found) = resolve(&map, &modules, &Options::default());
    assert!(!found.iter().any(|d| d.code == "E0222"), "{:?}", found.first());
}

fn collect_folders(at: &Path, out: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(at) else { return };
    let mut entries: Vec<PathBuf> = entries.filter_map(|e| e.ok().map(|e| e.path())).collect();
    entries.sort();
    if entries.iter().any(|e| is_source(e)) {
        out.push(at.to_path_buf());
    }
    for entry in entries.iter().filter(|e| e.is_dir()) {
        collect_folders(entry, out);
    }
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut files: Vec<PathBuf> =
        entries.filter_map(|e| e.ok().map(|e| e.path())).filter(|p| is_source(p)).collect();
    files.sort();
    files
}

fn is_source(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    !name.contains(".set.")
        && path.extension().is_some_and(|e| matches!(e.to_str(), Some("asn" | "asn1" | "ASN" | "ASN1")))
}

/// The files of a folder that go together: all, unless several define the same module; then each stands alone.
fn groups(files: Vec<PathBuf>, alone: bool) -> Vec<Vec<PathBuf>> {
    if alone {
        return files.into_iter().map(|f| vec![f]).collect();
    }
    let mut map = SourceMap::new();
    let mut names = std::collections::HashSet::new();
    for path in &files {
        let Ok(bytes) = std::fs::read(path) else { continue };
        let (id, _) = map.add_bytes(path.to_string_lossy(), bytes);
        let (modules, _) = parse(&map, id, &ParseOptions::default());
        if modules.iter().any(|m| !names.insert(m.name.text.clone())) {
            return files.into_iter().map(|f| vec![f]).collect();
        }
    }
    vec![files]
}
