//! Outputs of earlier runs among files that are found in a directory: they are no inputs.
//!
//! They are known by what stands beside them, so that a record file is not taken for one because of its name alone.

use crate::formats::Format;
use crate::reject::{has_lines, lines_path};
use std::collections::HashSet;
use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The manifest of a run into a directory.
pub const MANIFEST: &str = "tercet-run.jsonl";

/// Takes the outputs of earlier runs out of files that were found together, and gives them:
///
/// - `NAME.SUFFIX` beside `NAME`, SUFFIX being that of a format, and its child tables `NAME.TABLE.SUFFIX`;
/// - `NAME` and `NAME.jsonl` where the latter holds lines about rejects; lines that end in `.rejects.jsonl` alone, too;
/// - `NAME.SUFFIX.header` beside `NAME.SUFFIX`;
/// - the manifest of a run.
pub(crate) fn take_outputs(files: &mut Vec<PathBuf>) -> Vec<PathBuf> {
    let all: HashSet<PathBuf> = files.iter().cloned().collect();
    let mut outputs = HashSet::new();
    for path in files.iter() {
        if path.file_name().is_some_and(|name| name == MANIFEST) {
            outputs.insert(path.clone());
        }
        let Some(suffix) = path.extension().and_then(|suffix| suffix.to_str()) else { continue };
        let around = path.with_extension("");
        if suffix == "jsonl" {
            let octets = all.contains(&around);
            if (octets || around.extension().is_some_and(|suffix| suffix == "rejects")) && has_lines(path) {
                outputs.insert(path.clone());
                outputs.extend(octets.then(|| around.clone()));
                continue;
            }
        }
        let is_header = suffix == "header" && is_format(&around) && all.contains(&around);
        if is_header || is_format(path) && (all.contains(&around) || is_child(&around, suffix, &all)) {
            outputs.insert(path.clone());
        }
    }
    if outputs.is_empty() {
        return Vec::new();
    }
    files.retain(|path| !outputs.contains(path));
    let mut outputs: Vec<PathBuf> = outputs.into_iter().collect();
    outputs.sort();
    outputs
}

/// Whether a file looks like an output: by the suffix of a format, or by what it begins with.
pub(crate) fn is_output(path: &Path) -> bool {
    let is_header =
        path.extension().is_some_and(|suffix| suffix == "header") && is_format(&path.with_extension(""));
    if is_format(path) || is_header || has_lines(path) || has_lines(&lines_path(path)) {
        return true;
    }
    let mut begin = Vec::new();
    // What is no plain file is neither, and might be waited for.
    let is_file = std::fs::metadata(path).is_ok_and(|found| found.is_file());
    let mut read = || std::fs::File::open(path)?.take(LONGEST as u64).read_to_end(&mut begin);
    is_file && read().is_ok() && BEGINS.iter().any(|known| begin.starts_with(known))
}

/// What metrics, stores of keys and summaries begin with.
const BEGINS: [&[u8]; 3] = [b"# HELP tercet_", b"tercet dedupe ", b"{\n  \"records\": "];
/// The longest of these.
const LONGEST: usize = 16;

fn is_format(path: &Path) -> bool {
    let suffix = path.extension().and_then(|suffix| suffix.to_str());
    suffix.is_some_and(Format::is_suffix)
}

/// Whether a name without its suffix is that of an input and a list in its records, and the table of the records is there.
fn is_child(name: &Path, suffix: &str, all: &HashSet<PathBuf>) -> bool {
    let mut name = name.to_owned();
    while name.extension().is_some() {
        name = name.with_extension("");
        let mut output = OsString::from(&name);
        output.push(".");
        output.push(suffix);
        if all.contains(&name) && all.contains(Path::new(&output)) {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn outputs_are_known_by_what_stands_beside_them() {
        let folder = tempfile::tempdir().unwrap();
        let line = r#"{"input":"a","offset":0,"length":1,"reason":"","rejectOffset":0}"#;
        for (name, text) in [
            ("a.ber", ""),
            ("a.ber.csv", ""),
            ("a.ber.data.volumes.csv", ""),
            ("a.ber.csv.header", ""),
            ("a.ber.csv.rejects", ""),
            ("a.ber.csv.rejects.jsonl", line),
            ("bad.bin", ""),
            ("bad.bin.jsonl", line),
            ("gone.csv.rejects.jsonl", line),
            ("tercet-run.jsonl", ""),
            // None of ours: nothing is beside them.
            ("b.csv", ""),
            ("b.rejects", ""),
            ("b.header", ""),
            ("c.rejects", ""),
            ("c.rejects.jsonl", "{}"),
            ("d.part.csv", ""),
        ] {
            fs::write(folder.path().join(name), text).unwrap();
        }
        let mut files: Vec<PathBuf> =
            fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        let outputs = take_outputs(&mut files);
        let names = |files: &[PathBuf]| -> Vec<String> {
            files.iter().map(|path| path.file_name().unwrap().to_string_lossy().into_owned()).collect()
        };
        let kept = ["a.ber", "b.csv", "b.header", "b.rejects", "c.rejects", "d.part.csv"];
        assert_eq!(names(&files), kept);
        assert_eq!(outputs.len(), 10);
    }
}
