//! Random edits of specifications, as an editor sends them: no request stays without an answer, and a server that has seen
//! all edits knows what one knows that has seen the texts only.

#![cfg(feature = "lsp")]

#[path = "common/editor.rs"]
mod editor;

use editor::Editor;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;

/// Edits of a run; `TERCET_EDITS` sets another number.
const EDITS: usize = 400;
/// Edits after which a new server has to say the same.
const CHECKED: usize = 50;
/// Edits after which a text is that of its file again: many edits leave nothing to understand.
const RESTORED: usize = 120;
/// Requests without an answer.
const OPEN: usize = 8;
/// The specifications, from the root of the repository.
const FILES: [&str; 6] = [
    "schemas/demo",
    "schemas/personnel",
    "schemas/signalling",
    "schemas/ldap",
    "schemas/certificate",
    "tests/corpora/asn1/traps",
];
/// What edits put into texts.
const PIECES: [&str; 24] = [
    "x",
    "𝄞",
    "ü",
    "\r\n",
    "\n",
    "\r",
    "{",
    "}",
    ",",
    "--",
    " ",
    "INTEGER",
    "SEQUENCE OF ",
    "\"",
    "(0..",
    "...",
    "END",
    "IMPORTS A FROM B;",
    "::=",
    "[1] ",
    "/*",
    "*/",
    ".&id",
    "@",
];

/// A row of numbers that is the same everywhere (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, count: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize % count.max(1)
    }
}

/// A text that the editor holds.
struct Text {
    name: String,
    original: String,
    text: String,
    version: i64,
    is_utf8: bool,
}

impl Text {
    /// The line and the column of an offset: lines end with LF, CR LF or CR.
    fn position(&self, offset: usize) -> Value {
        let (mut line, mut begin) = (0, 0);
        let octets = self.text.as_bytes();
        for at in 0..offset {
            if octets[at] == b'\n' || octets[at] == b'\r' && octets.get(at + 1) != Some(&b'\n') {
                (line, begin) = (line + 1, at + 1);
            }
        }
        let last = &self.text[begin..offset];
        let column = if self.is_utf8 { last.len() } else { last.encode_utf16().count() };
        json!({ "line": line, "character": column })
    }

    /// A place between characters, not inside of CR LF.
    fn place(&self, random: &mut Random, most: usize) -> usize {
        let mut at = most.min(random.below(self.text.len() + 1));
        while !self.text.is_char_boundary(at)
            || at > 0 && self.text[..at].ends_with('\r') && self.text[at..].starts_with('\n')
        {
            at -= 1;
        }
        at
    }

    /// Makes a random edit; returns the change.
    fn edit(&mut self, random: &mut Random, other: &str) -> Value {
        let start = self.place(random, usize::MAX);
        let length = [0, 0, 1, 2, 9, 60][random.below(6)];
        let mut end = (start + length).min(self.text.len());
        while !self.text.is_char_boundary(end)
            || self.text[..end].ends_with('\r') && self.text[end..].starts_with('\n')
        {
            end += 1;
        }
        let new = match random.below(5) {
            // A piece of another text.
            0 => {
                let begin = random.below(other.len() + 1);
                let piece: String =
                    other.bytes().skip(begin).take(random.below(200)).map(char::from).collect();
                piece
            }
            1 => String::new(),
            _ => PIECES[random.below(PIECES.len())].to_owned(),
        };
        let range = json!({ "start": self.position(start), "end": self.position(end) });
        self.text.replace_range(start..end, &new);
        json!({ "range": range, "text": new })
    }
}

fn specifications() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let roots: Vec<_> = FILES.iter().map(|path| root.join(path)).filter(|path| path.exists()).collect();
    let paths = tercet::files::specifications(&roots).unwrap();
    let read = |path: &std::path::PathBuf| {
        let name = path.file_name()?.to_str()?.to_owned();
        Some((name, std::fs::read_to_string(path).ok()?))
    };
    paths.iter().filter_map(read).collect()
}

fn server(texts: &[(String, String)], encoding: &str) -> Editor {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in texts {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let capabilities = json!({
        "general": { "positionEncodings": [encoding] },
        "textDocument": { "diagnostic": {} },
    });
    Editor::in_folder(&capabilities, folder)
}

/// A random request about a place.
fn request(text: &Text, uri: &str, random: &mut Random) -> (&'static str, Value) {
    const ABOUT_PLACES: [&str; 10] = [
        "hover",
        "definition",
        "typeDefinition",
        "references",
        "documentHighlight",
        "prepareRename",
        "rename",
        "signatureHelp",
        "completion",
        "selectionRange",
    ];
    const ABOUT_TEXTS: [&str; 10] = [
        "documentSymbol",
        "foldingRange",
        "formatting",
        "rangeFormatting",
        "inlayHint",
        "codeLens",
        "codeAction",
        "semanticTokens/full",
        "semanticTokens/range",
        "diagnostic",
    ];
    let at = text.place(random, usize::MAX);
    let is_boundary = |at: &usize| text.text.is_char_boundary(*at);
    let end = (at..text.text.len()).take(200).rfind(is_boundary).unwrap_or(at);
    let end = text.position(end);
    let position = text.position(at);
    let range = json!({ "start": position, "end": end });
    let mut params = json!({
        "textDocument": { "uri": uri }, "position": position, "positions": [position], "newName": "Renamed",
        "context": { "includeDeclaration": true, "diagnostics": [] }, "options": {},
    });
    let kind = random.below(ABOUT_PLACES.len() + ABOUT_TEXTS.len());
    if ["rangeFormatting", "inlayHint", "codeAction", "semanticTokens/range"]
        .contains(&ABOUT_TEXTS[kind % 10])
    {
        params["range"] = range;
    }
    (if kind < 10 { ABOUT_PLACES[kind] } else { ABOUT_TEXTS[kind - 10] }, params)
}

/// What a server says about a text, without the folder that it is in.
fn known(editor: &mut Editor, text: &Text, places: &[usize]) -> Vec<String> {
    let uri = editor.uri(&text.name);
    let whole = json!({ "start": text.position(0), "end": text.position(text.text.len()) });
    let about = json!({ "textDocument": { "uri": uri }, "range": whole });
    let mut asked = Vec::new();
    for method in ["diagnostic", "documentSymbol", "semanticTokens/full", "foldingRange", "inlayHint"] {
        asked.push((method, about.clone()));
    }
    for place in places {
        let at = json!({ "textDocument": { "uri": uri }, "position": text.position(*place),
            "context": { "includeDeclaration": true } });
        asked.extend(["hover", "references", "completion"].map(|method| (method, at.clone())));
    }
    let folder = editor.uri("");
    asked
        .into_iter()
        .map(|(method, params)| {
            let answer = editor.ask(&format!("textDocument/{method}"), params);
            format!("{method}: {}", answer.to_string().replace(&folder, ""))
        })
        .collect()
}

fn run(seed: u64, encoding: &str, edits: usize) {
    let specifications = specifications();
    assert!(specifications.len() > 10, "{}", specifications.len());
    let mut random = Random(seed);
    let mut editor = server(&specifications, encoding);
    assert_eq!(editor.capabilities["positionEncoding"], encoding);
    let mut texts: Vec<Text> = Vec::new();
    for _ in 0..4 {
        let (name, text) = specifications[random.below(specifications.len())].clone();
        if texts.iter().any(|known| known.name == name) {
            continue;
        }
        editor.open(&name, &text);
        texts.push(Text { name, original: text.clone(), text, version: 1, is_utf8: encoding == "utf-8" });
    }
    let mut open = BTreeSet::new();
    for edit in 1..=edits {
        let which = random.below(texts.len());
        let other = specifications[random.below(specifications.len())].1.clone();
        let text = &mut texts[which];
        let change = match edit % RESTORED {
            0 => {
                text.text = text.original.clone();
                json!({ "text": text.text })
            }
            _ => text.edit(&mut random, &other),
        };
        text.version += 1;
        let document = json!({ "uri": editor.uri(&text.name), "version": text.version });
        editor
            .tell("textDocument/didChange", json!({ "textDocument": document, "contentChanges": [change] }));
        // Answers are not waited for, until there are many.
        let (method, params) = request(text, &editor.uri(&text.name), &mut random);
        let id = editor.begin(&format!("textDocument/{method}"), params);
        open.insert(id);
        if random.below(4) == 0 {
            editor.tell("$/cancelRequest", json!({ "id": id }));
        }
        while open.len() > OPEN || !open.is_empty() && edit % CHECKED == 0 {
            let answer = editor.receive();
            let Some(id) = answer["id"].as_i64().filter(|_| answer.get("method").is_none()) else { continue };
            assert!(open.remove(&id), "an answer to nothing: {answer}");
            if let Some(code) = answer["error"]["code"].as_i64() {
                // The request failed, or was cancelled.
                assert!([-32803, -32800].contains(&code), "{answer}");
            }
        }
        if edit % CHECKED == 0 {
            let places: Vec<usize> = (0..3).map(|_| texts[which].place(&mut random, usize::MAX)).collect();
            let here = known(&mut editor, &texts[which], &places);
            let mut fresh = server(&specifications, encoding);
            for text in &texts {
                fresh.open(&text.name, &text.text);
            }
            let there = known(&mut fresh, &texts[which], &places);
            for (here, there) in here.iter().zip(&there) {
                assert_eq!(
                    here, there,
                    "seed {seed}, {encoding}, after {edit} edits of {}",
                    texts[which].name
                );
            }
            fresh.end();
        }
    }
    editor.end();
}

#[test]
fn edits_leave_what_the_texts_mean() {
    let edits = std::env::var("TERCET_EDITS").ok().and_then(|count| count.parse().ok()).unwrap_or(EDITS);
    let half = std::thread::spawn(move || run(0x5EED, "utf-16", edits / 2));
    run(0xFEED, "utf-8", edits - edits / 2);
    half.join().unwrap();
}

/// A request that is cancelled while another one is answered gets an answer all the same, and at most one.
#[test]
fn cancelled_requests_are_answered_once() {
    let specifications = specifications();
    let mut editor = server(&specifications, "utf-8");
    let (name, text) = specifications.iter().max_by_key(|(_, text)| text.len()).unwrap();
    editor.open(name, text);
    let uri = editor.uri(name);
    let about = json!({ "textDocument": { "uri": uri } });
    let mut cancelled = 0;
    for round in 0..20 {
        // An edit, so that the first answer takes its time.
        let change = json!([{ "text": format!("{text}\n-- {round}") }]);
        let document = json!({ "uri": uri, "version": round + 2 });
        editor.tell("textDocument/didChange", json!({ "textDocument": document, "contentChanges": change }));
        let ids: Vec<i64> =
            (0..4).map(|_| editor.begin("textDocument/documentSymbol", about.clone())).collect();
        for id in &ids[1..3] {
            editor.tell("$/cancelRequest", json!({ "id": id }));
        }
        let mut answers = Vec::new();
        while answers.len() < ids.len() {
            let answer = editor.receive();
            answers.extend(answer["id"].as_i64().map(|id| (id, answer["error"]["code"].as_i64())));
        }
        answers.sort_unstable();
        assert_eq!(answers.iter().map(|(id, _)| *id).collect::<Vec<_>>(), ids);
        assert_eq!((answers[0].1, answers[3].1), (None, None));
        cancelled += answers.iter().filter(|(_, code)| *code == Some(-32800)).count();
    }
    assert!(cancelled > 0, "no request was cancelled in time");
    editor.end();
}
