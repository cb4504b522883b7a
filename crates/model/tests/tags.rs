//! Tags in front of a value, and the questions about types that other crates ask.

use tercet_model::{Model, Options, TagSet, resolve};
use tercet_syntax::ast::TagClass::{Application, Context, Universal};
use tercet_syntax::{ParseOptions, SourceMap, parse};

fn model(body: &str) -> Model {
    let mut map = SourceMap::new();
    let file = map.add("m", format!("M DEFINITIONS IMPLICIT TAGS ::= BEGIN\n{body}\nEND"));
    let (modules, found) = parse(&map, file, &ParseOptions::default());
    let (model, more) = resolve(&map, &modules, &Options::default());
    assert!(found.is_empty() && more.is_empty(), "{found:?} {more:?}");
    model
}

#[test]
fn implicit_tags_replace_and_explicit_ones_wrap() {
    let model = model(
        "A ::= [APPLICATION 1] INTEGER
         B ::= [2] A
         C ::= [3] EXPLICIT B
         D ::= [4] [5] EXPLICIT BOOLEAN
         E ::= CHOICE { a NULL, b [0] NULL, c F }
         F ::= CHOICE { d [1] NULL, e BOOLEAN }
         G ::= [6] E
         H ::= ANY
         I ::= SEQUENCE OF H",
    );
    let tags = |name: &str| model.tags(model.find_type(name).unwrap());
    assert_eq!(tags("A"), [(Application, 1)]);
    assert_eq!(tags("B"), [(Context, 2)]);
    assert_eq!(tags("C"), [(Context, 3), (Context, 2)]);
    assert_eq!(tags("D"), [(Context, 4), (Universal, 1)]);
    assert_eq!(tags("E"), []);
    assert_eq!(tags("G"), [(Context, 6)]);
    assert_eq!(tags("I"), [(Universal, 16)]);
    let outer = |name: &str| model.outer_tags(model.find_type(name).unwrap());
    let four = vec![(Universal, 5), (Context, 0), (Context, 1), (Universal, 1)];
    assert_eq!(outer("E"), TagSet::Of(four));
    assert_eq!(outer("G"), TagSet::Of(vec![(Context, 6)]));
    assert_eq!(outer("H"), TagSet::Any);
}

#[test]
fn types_are_found_and_named() {
    let model = model(
        "A ::= B
         B ::= C (0..5)
         C ::= INTEGER
         P{T} ::= SEQUENCE { a T }
         Q ::= P{A}",
    );
    let a = model.find_type("M.A").unwrap();
    let names: Vec<_> = model.alias_chain(a).map(|id| model.type_name(id)).collect();
    assert_eq!(names, ["A", "B", "C"]);
    assert_eq!(model.base(a), model.find_type("C").unwrap());
    assert_eq!(model.find_type("N.A"), None);
    let q = model.find_type("Q").unwrap();
    assert_eq!(model.show_type(q), "Q ::= P {A}");
    assert_eq!(model.show_type(model.base(q)), "P {A} ::= SEQUENCE {\n  a A\n}");
}
