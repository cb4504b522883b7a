//! No text may make the front end panic or hang: real cases are cut, doubled and mixed at random.

use tercet_syntax::{
    ParseOptions, SourceMap, dump_ast, dump_tokens, format, lex, parse, render, render_json,
};

const SEEDS: [&str; 5] = [
    include_str!("data/types.txt"),
    include_str!("data/constraints.txt"),
    include_str!("data/values.txt"),
    include_str!("data/modules.txt"),
    include_str!("data/lenient.txt"),
];

const PIECES: [&str; 32] = [
    "{", "}", "(", ")", "[", "]", "[[", "]]", "::=", "..", "...", ",", "|", "@", "&a", "&", "\"", "'",
    "'0'B", "--", "/*", "*/", "END", "BEGIN", "SEQUENCE", "OF", "x", "X", "5", "\u{ad}", "“", "\u{0}",
];

#[test]
fn mutated_texts_are_survived() {
    let mut random = 0x9e37_79b9_7f4a_7c15u64;
    let mut next = move |below: usize| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        (random % below.max(1) as u64) as usize
    };
    let cases: Vec<String> = SEEDS
        .iter()
        .flat_map(|text| text.split("==== ").skip(1))
        .filter_map(|case| case.split_once('\n')?.1.split("\n----").next())
        .map(|body| format!("M DEFINITIONS ::= BEGIN\n{body}\nEND"))
        .collect();
    for round in 0..6000 {
        let mut text: Vec<char> = cases[round % cases.len()].chars().collect();
        for _ in 0..=next(4) {
            let at = next(text.len());
            match next(4) {
                0 => drop(text.drain(at..(at + next(12)).min(text.len()))),
                1 => {
                    let piece: Vec<char> = PIECES[next(PIECES.len())].chars().collect();
                    text.splice(at..at, piece);
                }
                2 => {
                    let copy = text[at..(at + next(40)).min(text.len())].to_vec();
                    let to = next(text.len());
                    text.splice(to..to, copy);
                }
                _ => text.truncate(at.max(1)),
            }
        }
        survive(&text.into_iter().collect::<String>());
    }
}

#[test]
fn odd_texts_are_survived() {
    for text in [
        "",
        " ",
        "-",
        "--",
        "\"",
        "'",
        "&",
        "::=",
        "::= <",
        "::=<a",
        "::=<a></b>",
        "A ::=",
        "{",
        "}",
        "\u{feff}",
        "é",
    ] {
        survive(text);
        survive(&format!("M DEFINITIONS ::= BEGIN A ::= {text}"));
        survive(&format!("M DEFINITIONS ::= BEGIN a B ::= {text} END"));
    }
    for piece in PIECES {
        survive(&format!("M DEFINITIONS ::= BEGIN A ::= {}", piece.repeat(3000)));
        survive(&format!("M DEFINITIONS ::= BEGIN A ::= {}", format!("{piece} ").repeat(3000)));
    }
    for piece in [
        "SEQUENCE { a ",
        "SEQUENCE OF ",
        "A {",
        "(",
        "(SIZE ",
        "[0] ",
        "a: ",
        "INTEGER: ",
        "a < ",
        "{",
        "CHOICE { a [1] ",
    ] {
        survive(&format!("M DEFINITIONS ::= BEGIN A ::= {}", piece.repeat(20_000)));
        survive(&format!("M DEFINITIONS ::= BEGIN a A ::= {}", piece.repeat(20_000)));
        survive(&format!("M DEFINITIONS ::= BEGIN A ::= A ({}", piece.repeat(20_000)));
    }
}

/// Texts made to be read again and again: each must take time in proportion to its size.
#[test]
fn reading_is_linear() {
    let pieces = [
        "a B ::= {\n",
        "a B ::= <a\n",
        "A ::= B {\n",
        "----",
        "-- -- ",
        "-----\n",
        "-",
        "“",
        "'",
        "A\n",
        "A A\n",
        "a A\n",
        "A ::= OPERATION x\n",
        "A {B {",
        "A { a B {\n",
        "{ } ",
        "a::=",
        "A ::= SEQUENCE { a\n",
        "M DEFINITIONS ::= BEGIN ",
        "M {1} DEFINITIONS ",
        "\"\" ",
        "/* */",
        "/*",
        "IMPORTS A FROM B ",
        "A MACRO ::= BEGIN ",
        "a OBJECT-TYPE SYNTAX {\n",
        "ENCODING-CONTROL X ",
        "é",
        "a ( ",
        "ENUMERATED {a(",
        "A ::= INTEGER (1 | ",
        ", ",
        "A ::= CLASS {&a B, ",
    ];
    for piece in pieces {
        for head in ["", "M DEFINITIONS ::= BEGIN\n", "M DEFINITIONS ::= BEGIN A ::= "] {
            let mut map = SourceMap::new();
            let id = map.add("a", format!("{head}{}", piece.repeat(600_000 / piece.len())));
            parse(&map, id, &ParseOptions::default());
        }
    }
}

fn survive(text: &str) {
    let mut map = SourceMap::new();
    let id = map.add("a", text);
    let mut clean = false;
    for lenient in [true, false] {
        let options = ParseOptions { lenient, ..ParseOptions::default() };
        let (modules, diagnostics) = parse(&map, id, &options);
        clean = diagnostics.is_empty();
        for diagnostic in diagnostics.iter().take(3) {
            render(&map, diagnostic, false);
            render_json(&map, diagnostic);
        }
        if text.len() < 2000 {
            dump_ast(&map, &modules);
            dump_tokens(&map, &lex(&map, id, &options));
        }
    }
    let formatted = format(&map, id);
    if let (true, Ok(formatted)) = (clean, formatted) {
        let again = map.add("b", formatted.clone());
        match format(&map, again) {
            Ok(twice) => assert_eq!(formatted, twice, "formatting {text:?}"),
            Err(errors) => panic!("{errors:?} in {formatted}"),
        }
    }
}
