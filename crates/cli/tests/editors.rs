//! The files of `editors/`: the grammar for colours has the reserved words of the lexer, and colours specifications as the lexer
//! reads them.

use serde_json::{Value, json};
use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use tercet::syntax::{Keyword, ParseOptions, SourceMap, TokenKind, lex};

fn editors() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../editors")
}

/// Words for types, which themes colour apart.
const TYPES: [&str; 27] = [
    "BIT",
    "BMPString",
    "BOOLEAN",
    "CHARACTER",
    "CHOICE",
    "DATE",
    "DATE-TIME",
    "DURATION",
    "EMBEDDED",
    "ENUMERATED",
    "EXTERNAL",
    "GeneralizedTime",
    "INTEGER",
    "NULL",
    "OBJECT",
    "OCTET",
    "OID-IRI",
    "PDV",
    "REAL",
    "RELATIVE-OID",
    "RELATIVE-OID-IRI",
    "SEQUENCE",
    "SET",
    "STRING",
    "TIME",
    "TIME-OF-DAY",
    "UTCTime",
];
/// Words for values.
const VALUES: [&str; 8] =
    ["TRUE", "FALSE", "MIN", "MAX", "PLUS-INFINITY", "MINUS-INFINITY", "NOT-A-NUMBER", "ABSENT"];

fn is_type(word: &str) -> bool {
    TYPES.contains(&word) || word.ends_with("String")
}

/// A pattern for whole words; a hyphen is a letter of a word.
fn words(list: &[&str]) -> String {
    let mut list = list.to_vec();
    // The longest first: `DATE-TIME` is not `DATE`.
    list.sort_by_key(|word| (std::cmp::Reverse(word.len()), *word));
    format!("(?<![A-Za-z0-9&-])(?:{})(?![A-Za-z0-9]|-[A-Za-z0-9])", list.join("|"))
}

fn grammar() -> Value {
    let all: Vec<&str> = Keyword::ALL.iter().map(|word| word.text()).collect();
    let of = |test: &dyn Fn(&str) -> bool| all.iter().copied().filter(|word| test(word)).collect::<Vec<_>>();
    let rule = |name: &str, pattern: &str| json!({ "name": format!("{name}.asn1"), "match": pattern });
    json!({
        "$schema": "https://raw.githubusercontent.com/martinring/tmlanguage/master/tmlanguage.json",
        "name": "ASN.1",
        "scopeName": "source.asn1",
        "fileTypes": ["asn", "asn1"],
        "patterns": [
            { "name": "comment.block.asn1", "begin": r"/\*", "end": r"\*/", "patterns": [{ "include": "#block" }] },
            rule("comment.line.double-dash", r"--(?:(?!--).)*(?:--|$)"),
            { "name": "string.quoted.double.asn1", "begin": "\"", "end": "\"(?!\")", "patterns": [rule("constant.character.escape", "\"\"")] },
            rule("constant.numeric.binary-or-hexadecimal", "'[0-9A-Fa-f\\s]*'[BH]"),
            rule("support.type", &words(&of(&is_type))),
            rule("constant.language", &words(&of(&|word| VALUES.contains(&word)))),
            rule("keyword.other", &words(&of(&|word| !is_type(word) && !VALUES.contains(&word)))),
            rule("keyword.operator", r"::=|\.\.\.|\.\.|\[\[|\]\]|\||\^|@"),
            rule("variable.other.member", "&[A-Za-z][A-Za-z0-9]*(?:-[A-Za-z0-9]+)*"),
            rule("entity.name.type", "(?<![A-Za-z0-9-])[A-Z][A-Za-z0-9]*(?:-[A-Za-z0-9]+)*"),
            rule("variable.other", "(?<![A-Za-z0-9-])[a-z][A-Za-z0-9]*(?:-[A-Za-z0-9]+)*"),
            rule("constant.numeric", r"-?\b[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"),
        ],
        "repository": {
            "block": { "name": "comment.block.asn1", "begin": r"/\*", "end": r"\*/", "patterns": [{ "include": "#block" }] },
        },
    })
}

#[test]
fn the_grammar_has_the_words_of_the_lexer() {
    let path = editors().join("vscode/syntaxes/asn1.tmLanguage.json");
    let text = serde_json::to_string_pretty(&grammar()).unwrap() + "\n";
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, &text).unwrap();
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), text, "BLESS=1 writes the grammar again");
    for word in TYPES.iter().chain(&VALUES) {
        assert!(Keyword::ALL.iter().any(|known| known.text() == *word), "{word}");
    }
}

/// The scopes of reserved words by the patterns of the grammar: the first pattern that matches at a place counts.
fn scope_of(word: &str) -> &'static str {
    if is_type(word) {
        "support.type"
    } else if VALUES.contains(&word) {
        "constant.language"
    } else {
        "keyword.other"
    }
}

/// Specifications are coloured by an engine of TextMate grammars where Node has one (`scripts/editors test`); here the words alone
/// are compared, for no word may be in two patterns or in none.
#[test]
fn each_reserved_word_is_in_one_pattern() {
    let grammar = grammar();
    let mut seen = HashSet::new();
    for rule in grammar["patterns"].as_array().unwrap() {
        let name = rule["name"].as_str().unwrap_or_default();
        let Some(list) = rule["match"].as_str().and_then(|text| text.strip_prefix("(?<![A-Za-z0-9&-])(?:"))
        else {
            continue;
        };
        for word in list.split(')').next().unwrap().split('|') {
            assert!(seen.insert(word.to_owned()), "{word}");
            assert_eq!(format!("{}.asn1", scope_of(word)), name, "{word}");
        }
    }
    assert_eq!(seen.len(), Keyword::ALL.len());
    // The lexer agrees that they are words.
    let mut map = SourceMap::new();
    let text = seen.iter().cloned().collect::<Vec<_>>().join(" ");
    let id = map.add("a.asn", text);
    let lexed = lex(&map, id, &ParseOptions::default());
    assert!(lexed.tokens.iter().all(|token| matches!(token.kind, TokenKind::Word(_))));
}

#[test]
fn the_extension_has_the_version_of_the_command() {
    let read = |name: &str| -> Value {
        serde_json::from_str(&fs::read_to_string(editors().join("vscode").join(name)).unwrap()).unwrap()
    };
    let package = read("package.json");
    assert_eq!(package["version"], env!("CARGO_PKG_VERSION"));
    let languages = &package["contributes"]["languages"][0];
    assert_eq!(languages["extensions"], json!([".asn", ".asn1"]));
    for path in
        [&languages["configuration"], &package["contributes"]["grammars"][0]["path"], &package["main"]]
    {
        assert!(editors().join("vscode").join(path.as_str().unwrap()).exists(), "{path}");
    }
    read("language-configuration.json");
    assert_eq!(package["contributes"]["grammars"][0]["scopeName"], grammar()["scopeName"]);
}
