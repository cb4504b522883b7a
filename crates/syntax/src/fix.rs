//! Fixes: changes of a text that a diagnostic proposes, and the texts that they give.
//!
//! The table of this module has those of the leniencies ([`crate::CODES`]): each writes down what lenient reading assumes, so
//! that the meaning stays as it is.

use crate::diagnostic::Diagnostic;
use crate::source::{FileId, SourceMap, Span};
use std::collections::BTreeMap;

/// A replacement of a piece of text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The text that goes; empty for an insertion.
    pub span: Span,
    /// The text that comes.
    pub text: String,
}

/// A way to mend what a diagnostic is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// A few words that begin with a verb, such as ``insert `,` ``.
    pub title: String,
    /// The changes, which belong together.
    pub edits: Vec<Edit>,
    /// Whether the fixed text means what is assumed without the fix. Other fixes are guesses, and wait for a person.
    pub is_certain: bool,
}

impl Fix {
    /// Replaces a text.
    pub fn replace(span: Span, text: impl Into<String>) -> Self {
        let text = text.into();
        let title = match (span.lo == span.hi, text.trim()) {
            (true, shown) => format!("insert `{shown}`"),
            (false, "") => "remove it".to_owned(),
            (false, shown) => format!("replace it by `{shown}`"),
        };
        Self { title, edits: vec![Edit { span, text }], is_certain: false }
    }

    /// Marks the fix as certain.
    #[must_use]
    pub fn certain(mut self) -> Self {
        self.is_certain = true;
        self
    }
}

/// What writes a leniency as the standard has it.
enum Change {
    Replace(String),
    /// Behind the word in front of the place.
    InsertBefore(&'static str),
    /// Behind the place.
    InsertAfter(&'static str),
}

/// Returns the fix of a leniency at a place: what is found there, and where the word in front of it ends.
pub(crate) fn of_leniency(code: &str, span: Span, found: &str, previous_end: u32) -> Option<Fix> {
    let (edit, text) = match change(code, found)? {
        Change::Replace(text) => (span, text),
        Change::InsertBefore(text) => (Span::new(previous_end, previous_end), text.to_owned()),
        Change::InsertAfter(text) => (Span::new(span.hi, span.hi), text.to_owned()),
    };
    Some(Fix::replace(edit, text).certain())
}

fn change(code: &str, found: &str) -> Option<Change> {
    use Change::{InsertAfter, InsertBefore, Replace};
    let replaced = |text: &str| Some(Replace(text.to_owned()));
    let inner = |before: char, after: char| found.strip_prefix(before)?.strip_suffix(after);
    match code {
        // A dash that begins a comment is that of L0112.
        "L0102" if found.chars().all(|c| !c.is_alphanumeric()) && found.chars().count() == 1 => replaced("-"),
        "L0105" => replaced("::="),
        "L0107" => found
            .strip_prefix("//")
            .filter(|rest| !rest.contains("--"))
            .map(|rest| Replace(format!("--{rest}"))),
        "L0108" if found.starts_with("''") => Some(Replace(found.replace("''", "'"))),
        "L0108" => {
            let (digits, letter) = found.split_at(found.len().checked_sub(1)?);
            Some(Replace(format!("{digits}{}", letter.to_ascii_uppercase())))
        }
        "L0109" => replaced(" "),
        "L0110" => replaced("..."),
        "L0111" => {
            let text = inner('\u{201c}', '\u{201d}').or_else(|| inner('\u{201d}', '\u{201d}'))?;
            (!text.contains('"')).then(|| Replace(format!("\"{text}\"")))
        }
        "L0112" => replaced("--"),
        "L0201" => Some(InsertBefore(",")),
        "L0202" | "L0203" | "L0209" | "L0308" => replaced(""),
        "L0204" if found == "TAG" => replaced("TAGS"),
        "L0204" => Some(Replace(found.to_ascii_uppercase())),
        "L0212" => replaced(" |"),
        "L0213" => replaced(".."),
        "L0215" => Some(InsertAfter(" :")),
        "L0216" => replaced(if found == "(" { "{" } else { "}" }),
        "L0302" => Some(InsertBefore("\n\nEND")),
        "L0305" if found == "END" => replaced(""),
        "L0307" => Some(InsertBefore(if found == "BEGIN" { " ::=" } else { " BEGIN" })),
        "L0309" => Some(InsertBefore(";")),
        "L0310" => Some(InsertAfter(" ::=")),
        _ => None,
    }
}

/// Applies the certain fixes of some diagnostics, and returns the texts that change, with the number of fixes in each. Of
/// fixes that overlap the first one is taken: the others come when the new text is read.
pub fn fixed(map: &SourceMap, diagnostics: &[Diagnostic]) -> Vec<(FileId, String, usize)> {
    let mut by_file: BTreeMap<FileId, Vec<&Fix>> = BTreeMap::new();
    for fix in diagnostics.iter().flat_map(|diagnostic| &diagnostic.fixes).filter(|fix| fix.is_certain) {
        if let Some(edit) = fix.edits.first() {
            by_file.entry(map.file_of(edit.span.lo)).or_default().push(fix);
        }
    }
    by_file
        .into_iter()
        .map(|(file, fixes)| apply(map, file, fixes))
        .filter(|(_, _, count)| *count > 0)
        .collect()
}

fn apply(map: &SourceMap, file: FileId, mut fixes: Vec<&Fix>) -> (FileId, String, usize) {
    fixes.sort_by_key(|fix| fix.edits.iter().map(|edit| edit.span).min());
    fixes.dedup();
    let (start, mut text) = (map.file(file).start, map.file(file).text.clone());
    let mut taken: Vec<&Edit> = Vec::new();
    let mut count = 0;
    for fix in fixes {
        let is_free = |edit: &Edit| {
            let touches = |other: &&Edit| edit.span.lo <= other.span.hi && other.span.lo <= edit.span.hi;
            map.file_of(edit.span.lo) == file && !taken.iter().rev().take(64).any(touches)
        };
        if fix.edits.iter().all(is_free) {
            taken.extend(&fix.edits);
            count += 1;
        }
    }
    taken.sort_by_key(|edit| edit.span);
    // From the end, so that the places in front keep their numbers.
    for edit in taken.into_iter().rev() {
        let range = (edit.span.lo - start) as usize..(edit.span.hi - start) as usize;
        if text.get(range.clone()).is_some() {
            text.replace_range(range, &edit.text);
        }
    }
    (file, text, count)
}

#[cfg(test)]
mod tests {
    use super::fixed;
    use crate::{Diagnostic, ParseOptions, SourceMap, parse};

    fn diagnose(text: &str) -> (SourceMap, Vec<Diagnostic>) {
        let mut map = SourceMap::new();
        let file = map.add("a.asn", text);
        let (_, diagnostics) = parse(&map, file, &ParseOptions::default());
        (map, diagnostics)
    }

    /// Each leniency of which there is a fix: with the fix the text is read without a word, and without lenience.
    #[test]
    fn a_fixed_text_is_good() {
        let module = |body: &str| format!("M DEFINITIONS ::= BEGIN {body} END");
        for (slip, good) in [
            (module("A := NULL"), module("A ::= NULL")),
            (module("A :: = NULL"), module("A ::= NULL")),
            (module("A ::= NULL // note\n"), module("A ::= NULL -- note\n")),
            (module("a OCTET STRING ::= '0F'h"), module("a OCTET STRING ::= '0F'H")),
            (module("a BIT STRING ::= '01'b"), module("a BIT STRING ::= '01'B")),
            (module("a OCTET STRING ::= ''0F''H"), module("a OCTET STRING ::= '0F'H")),
            (module("A ::=\u{a0}NULL"), module("A ::= NULL")),
            (module("A ::= SEQUENCE { a NULL, \u{2026} }"), module("A ::= SEQUENCE { a NULL, ... }")),
            (module("a IA5String ::= \u{201c}x\u{201d}"), module("a IA5String ::= \"x\"")),
            (module("A ::= NULL \u{2013} note\n"), module("A ::= NULL -- note\n")),
            (module("a INTEGER ::= \u{2212}5"), module("a INTEGER ::= -5")),
            (
                module("A ::= SEQUENCE { a NULL -- x\n b NULL }"),
                module("A ::= SEQUENCE { a NULL, -- x\n b NULL }"),
            ),
            (module("A ::= SEQUENCE { a NULL,, b NULL }"), module("A ::= SEQUENCE { a NULL, b NULL }")),
            (module("A ::= SEQUENCE { a NULL, }"), module("A ::= SEQUENCE { a NULL }")),
            (module("A ::= Sequence { a NULL optional }"), module("A ::= SEQUENCE { a NULL OPTIONAL }")),
            (
                module("A ::= SEQUENCE { a NULL OPTIONAL OPTIONAL }"),
                module("A ::= SEQUENCE { a NULL OPTIONAL  }"),
            ),
            (module("A ::= INTEGER (1, 2)"), module("A ::= INTEGER (1 | 2)")),
            (module("A ::= INTEGER (1...2)"), module("A ::= INTEGER (1..2)")),
            (module("A ::= ENUMERATED (a, b)"), module("A ::= ENUMERATED {a, b}")),
            (module("A ::= NULL; B ::= NULL"), module("A ::= NULL B ::= NULL")),
            ("M DEFINITIONS ::= BEGIN A ::= NULL".into(), "M DEFINITIONS ::= BEGIN A ::= NULL\n\nEND".into()),
            ("M DEFINITIONS BEGIN A ::= NULL END".into(), module("A ::= NULL")),
            ("M DEFINITIONS ::= A ::= NULL END".into(), module("A ::= NULL")),
            (
                "M DEFINITIONS AUTOMATIC TAG ::= BEGIN END".into(),
                "M DEFINITIONS AUTOMATIC TAGS ::= BEGIN END".into(),
            ),
            (module("IMPORTS A FROM B C ::= NULL"), module("IMPORTS A FROM B; C ::= NULL")),
        ] {
            let (map, found) = diagnose(&slip);
            assert!(
                found.iter().any(|finding| finding.fixes.iter().any(|fix| fix.is_certain)),
                "{slip}: {found:?}"
            );
            let texts = fixed(&map, &found);
            let [(_, text, count)] = &texts[..] else { panic!("{slip}: {texts:?}") };
            assert_eq!(*text, good, "{slip}");
            assert!(*count > 0);
            let mut map = SourceMap::new();
            let file = map.add("b.asn", text.as_str());
            let strict = ParseOptions { lenient: false, ..ParseOptions::default() };
            assert_eq!(parse(&map, file, &strict).1, [], "{text}");
        }
    }

    #[test]
    fn of_fixes_that_touch_one_is_taken() {
        let (map, found) = diagnose("M DEFINITIONS ::= BEGIN A ::= SEQUENCE { , , a NULL,,,} END");
        let mut text = fixed(&map, &found).remove(0).1;
        for _ in 0..4 {
            let (map, found) = diagnose(&text);
            match fixed(&map, &found).pop() {
                Some((_, better, _)) => text = better,
                None => break,
            }
        }
        assert_eq!(diagnose(&text).1, [], "{text}");
    }
}
