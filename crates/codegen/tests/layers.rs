//! What the parts of the crate may know of one another.

use std::fs;
use std::path::{Path, PathBuf};

/// Returns the files of a folder and those inside of it.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { folders.push(path) } else { found.push(path) }
        }
    }
    found
}

#[test]
fn steps_are_in_no_language() {
    let code = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/code");
    let files = files(&code);
    assert!(files.len() > 2, "{files:?}");
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        // A tree has no text in it, and knows no printer.
        for word in ["crate::rust", "format!", "push_str", "is_boxed", "lifetime", "is_lazy"] {
            assert!(!text.contains(word), "`{word}` in {}", file.display());
        }
    }
}
