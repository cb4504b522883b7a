//! Every link of our Markdown leads to something, and every page of the docs is in the table of contents.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

/// Folders with pages for readers, and whether their own folders have some too.
const FOLDERS: [(&str, bool); 9] = [
    ("", false),
    (".github", true),
    ("bench", true),
    ("crates", true),
    ("docs", true),
    ("examples", true),
    ("fuzz", false),
    ("peers", false),
    ("tests/spec", false),
];

fn repository() -> PathBuf {
    fs::canonicalize(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")).unwrap()
}

/// Returns the Markdown files below a folder, by their paths in the repository.
fn pages() -> Vec<PathBuf> {
    let root = repository();
    let mut folders: Vec<(PathBuf, bool)> =
        FOLDERS.iter().map(|(name, deep)| (root.join(name), *deep)).collect();
    let mut found = Vec::new();
    while let Some((folder, deep)) = folders.pop() {
        // What is built or fetched stands in `target` and in folders with a dot.
        for entry in fs::read_dir(&folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() {
                if deep && name != "target" && !name.starts_with('.') {
                    folders.push((path, true));
                }
            } else if name.ends_with(".md") {
                found.push(path.strip_prefix(&root).unwrap().to_owned());
            }
        }
    }
    found.sort();
    found
}

/// Returns the lines outside of blocks of code.
fn prose(text: &str) -> String {
    let mut out = String::new();
    let mut fence: Option<&str> = None;
    for line in text.lines() {
        let ticks = &line[..line.len() - line.trim_start_matches('`').len()];
        if ticks.len() >= 3 {
            fence = match fence {
                None => Some(ticks),
                Some(open) if open == ticks => None,
                open => open,
            };
            continue;
        }
        if fence.is_none() {
            out += line;
            out.push('\n');
        }
    }
    out
}

/// Returns a text without what stands in code.
fn without_code(text: &str) -> String {
    text.split('`').step_by(2).collect::<Vec<_>>().join("``")
}

/// Returns the targets of links.
fn links(text: &str) -> Vec<String> {
    let text = without_code(&prose(text));
    let ends = text.match_indices("](").map(|(at, _)| &text[at + 2..]);
    ends.filter_map(|rest| Some(rest[..rest.find(')')?].to_owned())).collect()
}

/// Returns the anchors of a page, as GitHub and mdBook make them of headings.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut found = BTreeSet::new();
    for line in prose(text).lines() {
        let title = line.trim_start_matches('#');
        if title.len() == line.len() || !title.starts_with(' ') {
            continue;
        }
        let kept = title.trim().chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        let name = kept.collect::<String>().to_lowercase().replace(' ', "-");
        let count = counts.entry(name.clone()).or_default();
        found.insert(if *count == 0 { name } else { format!("{name}-{count}") });
        *count += 1;
    }
    found
}

/// Returns a path without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => _ = out.pop(),
            Component::CurDir => {}
            other => out.push(other),
        }
    }
    out
}

/// Returns what is wrong with the links of a page.
fn broken(page: &Path, text: &str, root: &Path) -> Vec<String> {
    let mut wrong = Vec::new();
    for link in links(text) {
        if link.contains("://") || link.starts_with("mailto:") {
            continue;
        }
        let (path, anchor) = link.split_once('#').unwrap_or((&link, ""));
        let target = match path {
            "" => page.to_owned(),
            path => plain(&page.parent().unwrap().join(path)),
        };
        let there = root.join(&target);
        let has_anchor = || match path {
            "" => anchors(text).contains(anchor),
            _ => there.is_file() && anchors(&fs::read_to_string(&there).unwrap()).contains(anchor),
        };
        if !there.exists() || !anchor.is_empty() && !has_anchor() {
            wrong.push(format!("{}: {link}", page.display()));
        }
    }
    wrong
}

#[test]
fn links_lead_to_something() {
    let root = repository();
    let pages = pages();
    assert!(pages.len() > 30, "{pages:?}");
    let text = |page: &PathBuf| fs::read_to_string(root.join(page)).unwrap();
    let wrong: Vec<String> = pages.iter().flat_map(|page| broken(page, &text(page), &root)).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn links_that_lead_nowhere_are_found() {
    let root = repository();
    let page = Path::new("docs/guide-check.md");
    let wrong = |text: &str| broken(page, text, &root).len();
    assert_eq!(wrong("[a](guide-compile.md#choices) [b](../README.md#install) [c](#here)\n\n# Here"), 0);
    assert_eq!(wrong("[a](missing.md)"), 1);
    assert_eq!(wrong("[a](guide-compile.md#missing)"), 1);
    assert_eq!(wrong("[a](#there)\n\n```text\n# There\n```"), 1);
    assert_eq!(wrong("`[a](missing.md)`\n\n```text\n[a](missing.md)\n```\n"), 0);
    assert_eq!(wrong("# Twice\n\n# Twice\n\n[a](#twice) [b](#twice-1)"), 0);
    assert_eq!(wrong("[a](https://example.net/missing)"), 0);
}

/// Without a fence a block of code has no language, and mdBook takes it for Rust.
#[test]
fn blocks_of_code_have_fences() {
    let root = repository();
    for page in pages().iter().filter(|page| page.starts_with("docs")) {
        let text = prose(&fs::read_to_string(root.join(page)).unwrap());
        let lines: Vec<&str> = text.lines().collect();
        let is_code = |pair: &&[&str]| pair[0].is_empty() && pair[1].starts_with("    ");
        let found: Vec<_> = lines.windows(2).filter(is_code).map(|pair| pair[1]).collect();
        assert!(found.is_empty(), "{}: put these between fences: {found:#?}", page.display());
    }
}

#[test]
fn the_table_of_contents_has_every_page_once() {
    let summary = fs::read_to_string(repository().join("docs/SUMMARY.md")).unwrap();
    let mut listed = links(&summary);
    listed.sort();
    let docs = pages().into_iter().filter_map(|page| page.strip_prefix("docs").ok().map(Path::to_owned));
    let there: Vec<String> = docs
        .filter(|page| page != Path::new("SUMMARY.md"))
        .map(|page| page.to_string_lossy().into_owned())
        .collect();
    assert_eq!(listed, there, "docs/SUMMARY.md lists other pages than there are");
}
