//! Runs the literate vectors of `tests/spec/*.md`.

use tercet_conformance::corpora;
use tercet_conformance::literate::Document;

#[test]
fn vectors_by_clause() {
    let folder = corpora::repository().join("tests/spec");
    let mut files: Vec<_> =
        std::fs::read_dir(&folder).expect("tests/spec").flatten().map(|e| e.path()).collect();
    files.retain(|path| path.extension().is_some_and(|e| e == "md"));
    files.sort();
    let only = std::env::var("SPEC").unwrap_or_default();
    let (mut passed, mut failures) = (0, Vec::new());
    for path in files {
        let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        if !name.contains(&only) {
            continue;
        }
        let text = corpora::read_text(&path).expect("a file of tests/spec");
        let (good, bad) = Document::parse(&text).run();
        passed += good;
        failures.extend(bad.into_iter().map(|message| format!("tests/spec/{name}:{message}")));
    }
    assert!(failures.is_empty(), "{passed} passed, {} failed\n{}", failures.len(), failures.join("\n"));
    assert!(passed > 0 || !only.is_empty(), "no vectors were run");
}
