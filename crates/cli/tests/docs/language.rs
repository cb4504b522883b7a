//! The words of all that users read: pages, help, diagnostics, and messages in transcripts and sources.

use std::fs;
use std::path::{Path, PathBuf};

/// Phrases that slow a reader down, each with plain words for it.
const PHRASES: [(&str, &str); 27] = [
    ("is no", "is not a"),
    ("are no", "are not"),
    ("wants", "requires"),
    ("wanted", "requested, selected"),
    ("behind", "after"),
    ("nobody", "unknown"),
    ("tell", "report, determine, distinguish"),
    ("tells", "reports, determines, distinguishes"),
    ("told", "given, reported"),
    ("says", "reports, names, sets"),
    ("said", "reported, given"),
    ("say it", "name it"),
    ("say so", "report it"),
    ("say with", "use"),
    ("say which", "choose"),
    ("in place of", "instead of"),
    ("mended", "fixed"),
    ("leave out", "skip"),
    ("leaves out", "skips"),
    ("left out", "skipped, ignored"),
    ("stand in", "is in"),
    ("stands", "is"),
    ("stood", "was"),
    ("has it so", "does so"),
    ("of its own", "separate"),
    ("of their own", "separate"),
    ("of one's own", "custom"),
];

/// Openings of sentences that hide their noun. A question may begin so, and `What to do`.
const OPENINGS: [&str; 5] = ["The same", "That", "What", "How far", "Whether"];

/// Words before or after `octets` in the terms of standards, and in the line on a reject, which scripts look for.
const TERMS: [&str; 12] = [
    "rejected",
    "identifier",
    "contents",
    "length",
    "fewest",
    "initial",
    "zero",
    "first",
    "string",
    "strings",
    "encoding",
    "end-of-contents",
];

/// Files whose texts may have `octets`, and why.
const OCTETS: [(&str, &str); 4] = [
    ("crates/runtime/src/error.rs", "faults of encodings are in the words of the clauses that they cite"),
    ("docs/clauses.md", "titles are those of clauses"),
    ("crates/cli/src/manifest.rs", "the text is kept in files and compared"),
    ("crates/codegen/src/rust", "names in the code that is generated"),
];

/// Crates whose strings become messages.
const CRATES: [&str; 16] = [
    "capture",
    "cli",
    "codegen",
    "columns",
    "dynamic",
    "ldap",
    "lower",
    "megaco",
    "megaco-engine",
    "model",
    "plan",
    "python",
    "records",
    "runtime",
    "schema",
    "syntax",
];

fn root() -> PathBuf {
    Path::new(crate::MANIFEST).join("../..")
}

/// Returns the files below a folder that end so, by their paths in the repository.
fn files(folder: &str, end: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(root().join(folder)).unwrap() {
        let entry = entry.unwrap();
        let path = format!("{folder}/{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            found.extend(files(&path, end));
        } else if path.ends_with(end) {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// A text as a reader sees it: a paragraph, an item, a line of output, a message.
struct Text {
    line: usize,
    text: String,
    /// Whether it is in sentences, with names between backticks.
    prose: bool,
}

/// Returns the texts of a page: its prose, and what its examples print. Transcripts of tests have no readers but for
/// what they print.
fn of_page(page: &str, prose: bool) -> Vec<Text> {
    let mut texts: Vec<Text> = Vec::new();
    let mut fence: Option<(usize, String)> = None;
    let mut joins = false;
    for (number, line) in page.lines().enumerate() {
        let (trimmed, line_number) = (line.trim_start(), number + 1);
        let ticks = trimmed.len() - trimmed.trim_start_matches('`').len();
        if ticks >= 3 {
            fence = match fence {
                None => Some((ticks, trimmed[ticks..].to_owned())),
                Some((open, _)) if open == ticks => None,
                open => open,
            };
            joins = false;
        } else if let Some((_, kind)) = &fence {
            let printed = kind == "console" || kind == "text";
            if printed && !trimmed.starts_with("$ ") && !trimmed.starts_with("> ") {
                texts.push(Text { line: line_number, text: trimmed.to_owned(), prose: kind == "text" });
            }
        } else if trimmed.is_empty() {
            joins = false;
        } else if prose {
            let begins = ["- ", "* ", "#", "|", "1. "].iter().any(|sign| trimmed.starts_with(sign));
            match texts.last_mut().filter(|_| joins && !begins) {
                Some(last) => last.text += &format!(" {trimmed}"),
                None => texts.push(Text { line: line_number, text: trimmed.to_owned(), prose: true }),
            }
            joins = true;
        }
    }
    texts
}

/// Returns the strings of a source, without its tests, comments and the reasons of its lints.
fn of_source(source: &str) -> Vec<Text> {
    let source = source.split("\n#[cfg(test)]\nmod ").next().unwrap_or_default();
    let mut texts = Vec::new();
    let (mut rest, mut line) = (source, 1);
    let step = |rest: &mut &'_ str, line: &mut usize, length: usize| {
        *line += rest[..length].matches('\n').count();
        *rest = &rest[length..];
    };
    while let Some(at) = rest.find(['"', '/', '\'']) {
        let reason = rest[..at].ends_with("reason = ");
        step(&mut rest, &mut line, at);
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if let Some(character) = rest.strip_prefix('\'') {
            // A character such as `'"'`, or the begin of a lifetime.
            let escape = usize::from(character.starts_with('\\'));
            let length = character.chars().take(1 + escape).map(char::len_utf8).sum::<usize>();
            if character[length..].starts_with('\'') { length + 2 } else { 1 }
        } else if let Some(inner) = rest.strip_prefix('"') {
            let mut escaped = false;
            let end = inner.find(|c| {
                let ends = c == '"' && !escaped;
                escaped = c == '\\' && !escaped;
                ends
            });
            let text = &inner[..end.unwrap_or(inner.len())];
            if !reason && text.contains(' ') {
                let text = without_places(text).replace("\\n", " ").replace('\\', " ");
                let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
                texts.push(Text { line, text, prose: true });
            }
            end.map_or(rest.len(), |end| end + 2)
        } else {
            1
        };
        step(&mut rest, &mut line, length);
    }
    texts
}

/// Returns a format without the names between its braces.
fn without_places(text: &str) -> String {
    let mut out = String::new();
    let mut parts = text.split('{');
    out += parts.next().unwrap_or_default();
    for part in parts {
        out.push('…');
        out += part.split_once('}').map_or("", |(_, rest)| rest);
    }
    out
}

/// Returns the words of a text in small letters, those in capitals alone left as they are. Paths of names are one word:
/// `Pdu.Octet`, `jer::Said`.
fn words(text: &str) -> Vec<String> {
    let mut last = ' ';
    let text: String = text
        .replace("::", "_")
        .chars()
        .zip(text.replace("::", "_").chars().skip(1).chain([' ']))
        .map(|(c, next)| {
            let joins = c == '.' && last.is_alphanumeric() && next.is_alphanumeric();
            last = c;
            if joins { '_' } else { c }
        })
        .collect();
    let in_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '\'' | '’');
    let words = text.split(|c| !in_word(c)).filter(|word| !word.is_empty());
    let capitals = |word: &str| word.len() > 1 && !word.contains(char::is_lowercase);
    words.map(|word| if capitals(word) { word.to_owned() } else { word.to_lowercase() }).collect()
}

/// Returns what is wrong with the words of a text.
fn faults(text: &Text, octets: bool) -> Vec<String> {
    let mut found = Vec::new();
    // Text in code is a name.
    let shown = text.text.split('`').step_by(2).collect::<Vec<_>>().join("`");
    let all = words(if text.prose { &shown } else { &text.text });
    for (phrase, plain) in PHRASES {
        let phrase_words: Vec<&str> = phrase.split(' ').collect();
        for (at, window) in all.windows(phrase_words.len()).enumerate() {
            let next = all.get(at + phrase_words.len()).map_or("", String::as_str);
            let good = phrase.ends_with(" no")
                && (matches!(next, "longer" | "more") || at > 0 && all[at - 1] == "there");
            if window == phrase_words.as_slice() && !good {
                found.push(format!("`{phrase}`: {plain}"));
            }
        }
    }
    let cites = ["X.6", "§"].iter().any(|sign| text.text.contains(sign));
    let names = ["\"octets\"", "octets:", "octets=", "octets '"];
    let shown_words = words(&names.iter().fold(shown, |text, name| text.replace(name, "")));
    for (at, word) in shown_words.iter().enumerate() {
        let beside =
            [at.checked_sub(1), Some(at + 1)].into_iter().flatten().filter_map(|at| shown_words.get(at));
        let term = beside.into_iter().any(|word| TERMS.contains(&word.as_str()));
        if matches!(word.as_str(), "octet" | "octets") && !octets && !term && !cites {
            found.push("`octets`: bytes".to_owned());
        }
    }
    if text.prose {
        for sentence in sentences(&text.text) {
            let opening = OPENINGS.iter().find(|opening| {
                sentence.strip_prefix(**opening).is_some_and(|rest| {
                    rest.starts_with(' ') && rest.trim_start().starts_with(char::is_lowercase)
                })
            });
            if let Some(opening) = opening
                && !sentence.ends_with('?')
                && !sentence.starts_with("What to ")
            {
                found.push(format!("a sentence that opens with `{opening}`: its noun"));
            }
        }
    }
    found
}

/// Returns the sentences of a text, those in the cells of tables too.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let cells = text.split(" | ").map(|cell| cell.trim_start_matches(['|', '-', '*', '#', ' ', '>']));
    cells.flat_map(|cell| cell.split_inclusive(['.', '?', '!', ':']).map(str::trim))
}

#[test]
fn users_read_plain_words() {
    let mut texts: Vec<(String, Text)> = Vec::new();
    let read = |path: &str| fs::read_to_string(root().join(path)).unwrap();
    let single = ["README.md", "CHANGELOG.md", "SECURITY.md", "CONTRIBUTING.md"].map(str::to_owned);
    for path in single.into_iter().chain(files("docs", ".md")) {
        texts.extend(of_page(&read(&path), true).into_iter().map(|text| (path.clone(), text)));
    }
    for path in files("crates/cli/tests/cli", ".md") {
        let printed = of_page(&read(&path), false).into_iter().map(|text| Text { prose: false, ..text });
        texts.extend(printed.map(|text| (path.clone(), text)));
    }
    for path in CRATES.iter().flat_map(|name| files(&format!("crates/{name}/src"), ".rs")) {
        if !path.contains("/tests/") && !path.ends_with("tests.rs") {
            texts.extend(of_source(&read(&path)).into_iter().map(|text| (path.clone(), text)));
        }
    }
    assert!(texts.len() > 5_000, "{} texts", texts.len());
    let mut wrong = Vec::new();
    for (path, text) in &texts {
        let octets = OCTETS.iter().any(|(of, _)| path.starts_with(of));
        wrong.extend(faults(text, octets).into_iter().map(|fault| format!("{path}:{}: {fault}", text.line)));
    }
    assert!(
        wrong.is_empty(),
        "{} texts with other words than users need:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn phrases_are_found() {
    let check = |text: &str, expected: usize| {
        let found: Vec<String> = of_page(text, true).iter().flat_map(|text| faults(text, false)).collect();
        assert_eq!(found.len(), expected, "{text}: {found:?}");
    };
    check("This format is no text.", 1);
    check("There is no type, and it is no longer there.", 0);
    check("A table that\nstands behind the\nother one.", 2);
    check("WANTED `told`", 0);
    check("It reads 3 octets.", 1);
    check("It reads `octets`, identifier octets, and 3 octets (X.690 8.1.3).", 0);
    check("| a | What is in it |", 1);
    check("What is in it? What to do with it.", 0);
    check("It works. The same holds for lists.", 1);
    check("```console\n$ echo told\nit is told\n```", 1);
    check("```rust\nlet told = octets;\n```", 0);
    let strings = of_source(
        "// is \"told\"\nlet c = '\"'; f(\"it is {told} \\\"here\\\"\"); #[e(reason = \"it says\")]",
    );
    assert_eq!(strings.iter().map(|text| text.text.as_str()).collect::<Vec<_>>(), ["it is … \"here \""]);
}
