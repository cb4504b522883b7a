//! `docs/clauses.md`: which vectors of `tests/spec` stand for which clause.
//!
//! The clauses are in `tests/spec/clauses.toml`. A heading names those that its vectors are about: `§8.19.2`, several
//! after one another, `§13.2.1–13.2.4`; the standard is that of the file's name, or the one before the sign:
//! `X.680 §25.5`. A vector for a clause is one for the clauses above it too.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;

use crate::corpora::{self, repository};
use crate::literate::Document;

/// A clause as a heading or the list names it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Clause {
    standard: String,
    number: String,
}

impl Clause {
    /// Whether this is the other or below it.
    fn is_within(&self, other: &Self) -> bool {
        self.standard == other.standard
            && self
                .number
                .strip_prefix(&other.number)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    }
}

/// A heading with vectors.
#[derive(Debug)]
struct Case {
    file: String,
    title: String,
    clauses: Vec<Clause>,
}

/// What `clauses.toml` says.
#[derive(Debug, Default)]
struct List {
    complete: Vec<String>,
    clauses: Vec<(Clause, String)>,
}

/// Writes the page; with `check`, says instead whether it is current.
///
/// # Errors
/// A file cannot be read or written, the page is not current, or a clause that must have a vector has none.
pub fn run(check: bool) -> Result<(), String> {
    let (list, cases) = (list()?, cases()?);
    let path = repository().join("docs/clauses.md");
    let page = page(&list, &cases);
    if !fs::read_to_string(&path).is_ok_and(|text| text == page) {
        if check {
            return Err("docs/clauses.md is not current: run `cargo xtask clauses`".into());
        }
        fs::write(&path, page).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    let bare: Vec<String> = list
        .clauses
        .iter()
        .filter(|(clause, _)| list.complete.contains(&clause.standard) && vectors(clause, &cases).is_empty())
        .map(|(clause, title)| format!("{} {} {title}", clause.standard, clause.number))
        .collect();
    if bare.is_empty() { Ok(()) } else { Err(format!("without a vector: {}", bare.join("; "))) }
}

fn vectors<'a>(clause: &Clause, cases: &'a [Case]) -> Vec<&'a Case> {
    cases.iter().filter(|case| case.clauses.iter().any(|named| named.is_within(clause))).collect()
}

fn page(list: &List, cases: &[Case]) -> String {
    let mut page = String::from(
        "# Clauses and their vectors\n\n<!-- Made by `cargo xtask clauses`; do not edit. -->\n\n\
         Every clause that decides an encoding, and the headings of `tests/spec` with vectors for it. Editions of 02/2021.\n",
    );
    let mut standard = "";
    for (clause, title) in &list.clauses {
        if clause.standard != standard {
            standard = &clause.standard;
            let of = list.clauses.iter().filter(|(other, _)| other.standard == standard);
            let count = of.clone().count();
            let held = of.filter(|(other, _)| !vectors(other, cases).is_empty()).count();
            let _ = writeln!(
                page,
                "\n## {standard}\n\n{held} of {count} clauses have vectors.\n\n| clause | what it decides | vectors |\n|---|---|---|"
            );
        }
        let mut shown = Vec::new();
        let mut file = "";
        for case in vectors(clause, cases) {
            if case.file != file {
                file = &case.file;
                shown.push(format!(
                    "[{}](../tests/spec/{file}): {}",
                    file.trim_end_matches(".md"),
                    case.title
                ));
            } else {
                shown.push(case.title.clone());
            }
        }
        let shown = shown.join("; ").replace('|', "\\|");
        let _ = writeln!(page, "| {} | {title} | {shown} |", clause.number);
    }
    page
}

/// The headings of all files that have vectors, in the order of the files.
fn cases() -> Result<Vec<Case>, String> {
    let folder = repository().join("tests/spec");
    let entries = fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut names: Vec<String> =
        entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.retain(|name| name.ends_with(".md") && standard_of(name).is_some());
    names.sort();
    let mut cases: Vec<Case> = Vec::new();
    for file in names {
        let standard = standard_of(&file).unwrap_or_default();
        let text = corpora::read_text(&folder.join(&file))?;
        let mut seen = BTreeSet::new();
        for step in Document::parse(&text).steps {
            let says_something =
                !matches!(step.info.first().map(String::as_str), Some("asn1" | "text") | None);
            if says_something && seen.insert(step.heading.clone()) {
                let clauses = named(&standard, &step.heading);
                cases.push(Case { file: file.clone(), title: step.heading, clauses });
            }
        }
    }
    Ok(cases)
}

/// `690-8.1-framing.md` is of X.690, `3641-text.md` of RFC 3641.
fn standard_of(file: &str) -> Option<String> {
    let number = file.split('-').next()?;
    match number.len() {
        3 if number.starts_with('6') => Some(format!("X.{number}")),
        4 if number.bytes().all(|digit| digit.is_ascii_digit()) => Some(format!("RFC {number}")),
        _ => None,
    }
}

/// The clauses in a heading: behind each `§`, and at the begin of what stands between commas.
fn named(standard: &str, heading: &str) -> Vec<Clause> {
    let mut clauses = Vec::new();
    for part in heading.split(", ") {
        let words = part.split(' ').take(3).take_while(|word| !word.starts_with('§'));
        let of: Vec<&str> = match words.collect::<Vec<_>>()[..] {
            [name, ..] if name.starts_with("X.6") => vec![name],
            ["RFC", number, ..] => vec!["RFC", number],
            _ => Vec::new(),
        };
        let behind = part.split(' ').nth(of.len()).unwrap_or_default();
        let of = of.join(" ");
        let of = if of.is_empty() { standard } else { &of };
        let mut numbers: Vec<&str> = part.split('§').skip(1).filter(|text| !text.is_empty()).collect();
        if numbers.is_empty() && behind.starts_with(|c: char| c.is_ascii_digit()) {
            numbers.push(behind);
        }
        for text in numbers {
            let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '.' && c != '–');
            let text = &text[..end.unwrap_or(text.len())];
            let (first, last) = text.split_once('–').unwrap_or((text, ""));
            let numbers = range(first.trim_end_matches('.'), last).into_iter();
            clauses.extend(numbers.map(|number| Clause { standard: of.to_owned(), number }));
        }
    }
    clauses
}

/// `13.2.1` to `13.2.4`, or one.
fn range(first: &str, last: &str) -> Vec<String> {
    let split = |number: &str| {
        number
            .rsplit_once('.')
            .map_or_else(|| (String::new(), number.to_owned()), |(a, b)| (format!("{a}."), b.to_owned()))
    };
    let ((stem, from), (_, to)) = (split(first), split(last));
    match (from.parse::<u32>(), to.parse::<u32>()) {
        (Ok(from), Ok(to)) if from <= to => (from..=to).map(|number| format!("{stem}{number}")).collect(),
        _ => vec![first.to_owned()],
    }
}

/// Reads `complete = ["…"]`, `["standard"]` and `"clause" = "title"`, the only TOML there is in that file.
fn list() -> Result<List, String> {
    let path = repository().join("tests/spec/clauses.toml");
    let text = corpora::read_text(&path)?;
    let mut list = List::default();
    let mut standard = String::new();
    for (number, line) in (1..).zip(text.lines().map(str::trim)) {
        let quoted: Vec<String> = line.split('"').skip(1).step_by(2).map(str::to_owned).collect();
        if line.is_empty() || line.starts_with('#') {
            continue;
        } else if line.starts_with("complete") {
            list.complete = quoted;
        } else if let ('[', [name]) = (line.chars().next().unwrap_or_default(), quoted.as_slice()) {
            standard.clone_from(name);
        } else if let [clause, title] = quoted.as_slice() {
            let clause = Clause { standard: standard.clone(), number: clause.clone() };
            list.clauses.push((clause, title.clone()));
        } else {
            return Err(format!("{}:{number}: not a line of this file: {line}", path.display()));
        }
    }
    Ok(list)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_name_clauses() {
        let shown = |heading: &str| -> Vec<String> {
            named("X.691", heading).iter().map(|c| format!("{} {}", c.standard, c.number)).collect()
        };
        assert_eq!(shown("§16.2, X.682 §11: named bits"), ["X.691 16.2", "X.682 11"]);
        assert_eq!(shown("§§13.2.1–13.2.3 bounds"), ["X.691 13.2.1", "X.691 13.2.2", "X.691 13.2.3"]);
        assert_eq!(shown("§13.2.6 a) and §A.1"), ["X.691 13.2.6", "X.691 A.1"]);
        assert_eq!(shown("20 ATTRIBUTE, X.680 28 NAME"), ["X.691 20", "X.680 28"]);
        assert_eq!(shown("RFC 3641 §3.2 strings, RFC 3641 3.3"), ["RFC 3641 3.2", "RFC 3641 3.3"]);
        assert_eq!(shown("octets after the value"), Vec::<String>::new());
    }

    #[test]
    fn vectors_stand_for_the_clauses_above() {
        let clause = |number: &str| Clause { standard: "X.690".into(), number: number.into() };
        assert!(clause("8.1.2").is_within(&clause("8.1")));
        assert!(clause("8.1").is_within(&clause("8.1")));
        assert!(!clause("8.10").is_within(&clause("8.1")));
    }
}
