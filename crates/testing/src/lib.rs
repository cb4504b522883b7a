//! What the tests of all crates share: the corpora, programs of the machine, and skips that are counted.
//!
//! A test that cannot run calls [`skip`] and returns. The call names what is missing by one word of [`needs`]. The word and
//! the test are printed, and appended to the file that `TERCET_SKIPS` names; `scripts/skips` counts that file. If
//! `TERCET_REQUIRE` lists the word, the test fails instead.
#![expect(clippy::print_stderr, reason = "a skipped test prints why")]

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Each word for what tests may need, and the command that installs it. `scripts/skips` and the tests of the Python
/// package read the same file.
pub fn needs() -> impl Iterator<Item = (&'static str, &'static str)> {
    include_str!("../needs.tsv").lines().filter_map(|line| line.split_once('\t'))
}

/// Reports that the running test is skipped.
///
/// # Panics
/// `TERCET_REQUIRE` lists the need, or contains an unknown word.
pub fn skip(need: &str, reason: &str) {
    report(need, reason);
}

/// Reports that a part of the running test is skipped.
///
/// # Panics
/// As [`skip`].
pub fn skip_in_part(need: &str, reason: &str) {
    report(need, &format!("{IN_PART}{reason}"));
}

/// The prefix of the reason where only a part of a test is skipped.
const IN_PART: &str = "in part: ";

fn report(need: &str, reason: &str) {
    let Some((_, install)) = needs().find(|(word, _)| *word == need) else {
        panic!("unknown need `{need}`; known: {}", known());
    };
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("unnamed thread");
    match is_required(&std::env::var("TERCET_REQUIRE").unwrap_or_default(), need) {
        Ok(false) => {}
        Ok(true) => panic!("{test} requires {need}: {reason}; to install it: {install}"),
        Err(message) => panic!("{message}"),
    }
    eprintln!("skipped: {test} requires {need}: {reason}");
    if let Some(path) = std::env::var_os("TERCET_SKIPS") {
        let line = format!("{need}\t{}\t{test}\t{}\n", binary(), reason.replace(['\t', '\n'], " "));
        // One call writes the whole line: test binaries and their threads append to one file.
        let file = OpenOptions::new().create(true).append(true).open(&path);
        if let Err(error) = file.and_then(|mut file| file.write_all(line.as_bytes())) {
            panic!("TERCET_SKIPS={}: {error}", path.display());
        }
    }
}

/// Returns whether the value of `TERCET_REQUIRE` lists a need.
///
/// # Errors
/// The value contains an unknown word; the message lists the known words.
pub fn is_required(setting: &str, need: &str) -> Result<bool, String> {
    let words = || setting.split(',').map(str::trim).filter(|word| !word.is_empty());
    match words().find(|&word| word != "all" && !needs().any(|(known, _)| known == word)) {
        Some(word) => Err(format!("TERCET_REQUIRE: unknown word `{word}`; known: all, {}", known())),
        None => Ok(words().any(|word| word == "all" || word == need)),
    }
}

fn known() -> String {
    needs().map(|(word, _)| word).collect::<Vec<_>>().join(", ")
}

/// The name of the test binary without the hash that Cargo appends, after the package: several have tests `corpora`.
fn binary() -> String {
    let path = std::env::current_exe().unwrap_or_default();
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let name = stem.rsplit_once('-').filter(|(_, hash)| hash.len() == 16).map_or(&*stem, |(name, _)| name);
    std::env::var("CARGO_PKG_NAME").map_or_else(|_| name.to_owned(), |package| format!("{package}/{name}"))
}

/// The root of the repository.
pub fn repository() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_path_buf()
}

/// The folder of the small corpora in this repository. Its layout is that of the large corpora.
pub fn own_corpora() -> PathBuf {
    repository().join("tests/corpora")
}

/// The folder of the large corpora, if it exists: `$TERCET_CORPORA`, or `../shared/corpora` beside the repository.
pub fn find_corpora() -> Option<PathBuf> {
    let folder = std::env::var_os("TERCET_CORPORA")
        .map_or_else(|| repository().join("../shared/corpora"), PathBuf::from);
    folder.is_dir().then_some(folder)
}

/// A file or folder of the large corpora; reports a skip if it does not exist. An empty path is the whole folder.
pub fn corpora(path: &str) -> Option<PathBuf> {
    let found = find_corpora().map(|folder| folder.join(path)).filter(|found| found.exists());
    if found.is_none() {
        skip("corpora", &format!("no folder with the corpora{}", named(path)));
    }
    found
}

/// The small corpora of this repository, then the large ones; reports a skip in part if the large ones do not exist.
pub fn all_corpora(path: &str) -> Vec<PathBuf> {
    let large = find_corpora().map(|folder| folder.join(path)).filter(|found| found.exists());
    if large.is_none() {
        skip_in_part("corpora", &format!("no folder with the corpora{}", named(path)));
    }
    [own_corpora().join(path)].into_iter().chain(large).collect()
}

fn named(path: &str) -> String {
    if path.is_empty() { String::new() } else { format!(" that contains {path}") }
}

/// A program of the machine: in `PATH`, or in a folder of programs for administrators.
pub fn find_program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let more = ["/usr/sbin", "/usr/local/sbin"].map(PathBuf::from);
    std::env::split_paths(&path).chain(more).map(|folder| folder.join(name)).find(|program| program.is_file())
}

/// Programs of the machine; reports a skip, with the need that they belong to, if one of them does not exist.
pub fn programs<const N: usize>(need: &str, names: [&str; N]) -> Option<[PathBuf; N]> {
    if let Some(missing) = names.iter().find(|name| find_program(name).is_none()) {
        skip(need, &format!("no program `{missing}`"));
        return None;
    }
    Some(names.map(|name| find_program(name).unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_are_required() {
        for (setting, need, expected) in [
            ("", "slapd", Ok(false)),
            ("corpora", "slapd", Ok(false)),
            ("corpora,slapd", "slapd", Ok(true)),
            (" corpora , slapd ,", "slapd", Ok(true)),
            ("all", "strace", Ok(true)),
        ] {
            assert_eq!(is_required(setting, need), expected, "{setting}");
        }
        let message = is_required("corpora,slpad", "corpora").unwrap_err();
        assert!(message.contains("unknown word `slpad`; known: all, corpora, slapd,"), "{message}");
    }

    #[test]
    fn programs_and_folders() {
        assert!(find_program("sh").is_some() || cfg!(windows));
        assert_eq!(find_program("no-such-program"), None);
        assert!(own_corpora().is_dir() && repository().join("Cargo.toml").is_file());
    }
}
