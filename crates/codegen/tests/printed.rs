//! Text that is printed for what is rare in specifications, and did not compile or had warnings.

use tercet_codegen::{Config, Overlay, rust};
use tercet_lower::{all_roots, lower};
use tercet_model::{Options, resolve};
use tercet_plan::Rules;
use tercet_syntax::{ParseOptions, SourceMap, parse};

/// What is printed for the types of a module that no other refers to.
fn printed(rules: &[Rules], body: &str) -> String {
    let mut map = SourceMap::new();
    let text = format!("M DEFINITIONS AUTOMATIC TAGS ::= BEGIN {body} END");
    let file = map.add("m.asn", text);
    let (modules, _) = parse(&map, file, &ParseOptions { lenient: true, ..ParseOptions::default() });
    let (model, _) = resolve(&map, &modules, &Options { lenient: true, ..Options::default() });
    let lowering = lower(&model, rules, &all_roots(&model));
    let config = Config { rules, notation: &|_| None, header: "", hash: false, overlay: &Overlay::default() };
    rust(&model, &lowering, &config).unwrap()
}

#[test]
fn names_for_types_of_missing_modules_are_declared() {
    let text = printed(
        &[Rules::Ber],
        "IMPORTS Elsewhere FROM Nowhere; Whatever ::= Elsewhere Whoever ::= Elsewhere",
    );
    for line in ["pub struct Whatever<'a>(pub Octets<'a>);", "pub type Whoever<'a> = Whatever<'a>;"] {
        assert!(text.contains(line), "{text}");
    }
    assert!(!text.contains("Associated"), "{text}");
}

#[test]
fn the_only_alternative_is_read_where_it_stands_without_a_question() {
    let alternative = "one SEQUENCE { a INTEGER, b INTEGER, c IA5String }";
    let only = printed(&[Rules::Uper], &format!("Only ::= CHOICE {{ {alternative} }}"));
    assert!(only.contains(" let Self::One(v) = value;"), "{only}");
    let of_two = printed(&[Rules::Uper], &format!("First ::= CHOICE {{ {alternative}, two NULL }}"));
    assert!(of_two.contains("if let Self::One(v) = value {"), "{of_two}");
    let extensible = printed(&[Rules::Uper], &format!("Grows ::= CHOICE {{ {alternative}, ... }}"));
    assert!(extensible.contains("if let Self::One(v) = value {"), "{extensible}");
}

#[test]
fn text_of_the_specification_is_no_name_of_an_import() {
    // The printer writes names that the text imports as such characters.
    let text = printed(&[Rules::Ber], "T ::= SEQUENCE { a UTF8String DEFAULT \"\u{e001}\" }");
    assert!(text.contains(r#"Text::borrowed("\u{e001}")"#), "{text}");
    assert!(!text.contains("Box"), "{text}");
}

#[test]
fn names_of_types_in_names_and_texts_are_not_imported() {
    let body = "T ::= CHOICE { octets BOOLEAN, text INTEGER (0..5), error ENUMERATED { error, key, text } }";
    let text = printed(&[Rules::Uper], body);
    let uses: Vec<&str> = text.lines().filter(|line| line.starts_with("use ")).collect();
    let expected = [
        "use core::fmt;",
        "use tercet_runtime::codec::{Notation, at, per};",
        "use tercet_runtime::{Result, codec};",
    ];
    assert_eq!(uses, expected, "{text}");
}
