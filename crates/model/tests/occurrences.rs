//! Uses of names are kept with their definitions, for editors.

use std::collections::BTreeSet;
use tercet_model::{Model, Options, resolve};
use tercet_syntax::{FileId, ParseOptions, SourceMap, TokenKind, lex, parse};

const TEXT: &str = "
M DEFINITIONS AUTOMATIC TAGS ::= BEGIN
EXPORTS Call, limit;
IMPORTS Octets, ANY-KIND FROM N kinds, Pair{} FROM N;

Call ::= SEQUENCE {
  number Octets (SIZE (1..limit)),
  state  State DEFAULT idle,
  flags  Flags DEFAULT {loud},
  key    ANY-KIND.&id ({Known}),
  about  SEQUENCE { value ANY-KIND.&Value ({Known}{@key}), other ANY-KIND.&Value ({Known}{@head.id}) OPTIONAL,
    mark ANY-KIND.&id ({Known}), last ANY-KIND.&Value ({Known}{@.mark}) },
  head   Head,
  way    Way,
  pair   Pair{Octets, limit} }

Head ::= SEQUENCE { id ANY-KIND.&id ({Known}) }
State ::= ENUMERATED { idle, busy (line), ..., gone }
Flags ::= BIT STRING { loud (0) }
Way ::= CHOICE { by-air NULL, by-sea Ship }
Air ::= by-air < Way
Ship ::= N.Ship (WITH COMPONENTS { ..., name PRESENT })
Grade ::= INTEGER { best (line) }
limit INTEGER ::= 20
line INTEGER ::= 1
grade Grade ::= best
ship Ship ::= { name \"Argo\", crew 5 }
way Way ::= by-sea : ship
ids OBJECT IDENTIFIER ::= { root line }
root OBJECT IDENTIFIER ::= { 2 999 }
first ANY-KIND ::= { OF Ship NUMBER 1 }
second KIND ::= { &id 2, &Value Grade }
KIND ::= ANY-KIND
Known ANY-KIND ::= { first | Few, ... }
Few KIND ::= { second }
END

N DEFINITIONS AUTOMATIC TAGS ::= BEGIN
kinds OBJECT IDENTIFIER ::= { 2 999 1 }
Octets ::= OCTET STRING
Ship ::= SEQUENCE { name UTF8String OPTIONAL, crew INTEGER }
ANY-KIND ::= CLASS { &id INTEGER UNIQUE, &Value, &preset &Value OPTIONAL }
  WITH SYNTAX { OF &Value NUMBER &id [SET &preset] }
Pair{First, INTEGER:most} ::= SEQUENCE { a First, b SEQUENCE (SIZE (0..most)) OF First }
END
";

fn read(occurrences: bool) -> (SourceMap, FileId, Model) {
    let mut map = SourceMap::new();
    let file = map.add("m", TEXT.to_owned());
    let (modules, found) = parse(&map, file, &ParseOptions::default());
    let (model, more) = resolve(&map, &modules, &Options { occurrences, ..Options::default() });
    assert!(found.is_empty() && more.is_empty(), "{found:?} {more:?}");
    (map, file, model)
}

#[test]
fn every_name_in_a_text_occurs_or_is_a_definition() {
    let (map, file, model) = read(true);
    let places: BTreeSet<_> = model.occurrences.iter().flat_map(|it| [it.at, it.definition]).collect();
    let tokens = lex(&map, file, &ParseOptions::default()).tokens;
    let is_name = |kind| {
        matches!(kind, TokenKind::Upper | TokenKind::Lower | TokenKind::UpperField | TokenKind::LowerField)
    };
    let names = tokens.iter().filter(|token| is_name(token.kind)).map(|token| token.span);
    let left: Vec<&str> = names.filter(|span| !places.contains(span)).map(|span| map.text(span)).collect();
    // Definitions that nothing uses, and a word of WITH SYNTAX.
    let unused = [
        "M", "number", "state", "flags", "about", "value", "other", "last", "way", "pair", "busy", "gone",
        "Air", "grade", "way", "ids", "NUMBER", "NUMBER", "a", "b",
    ];
    assert_eq!(left, unused);
}

#[test]
fn uses_have_the_name_of_their_definition() {
    let (map, _, model) = read(true);
    for occurrence in &model.occurrences {
        assert_eq!(map.text(occurrence.at), map.text(occurrence.definition));
        assert!(occurrence.at != occurrence.definition);
    }
    assert!(model.occurrences.is_sorted());
    assert!(size_of_val(&model.occurrences[0]) <= 16);
}

#[test]
fn nothing_is_kept_unless_asked_for() {
    assert_eq!(read(false).2.occurrences, []);
}
