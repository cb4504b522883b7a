//! What stands in braces, read once its governor is known.

use tercet_syntax::ast::{AssignmentKind, Braced, ElementKind, Module, TypeKind, ValueKind};
use tercet_syntax::{Cursor, ParseOptions, SourceMap, TokenKind, dump_ast_bare, parse};

/// Parses `v T ::= { … }` and hands the cursor between the braces to `read`.
fn with(source: &str, read: impl FnOnce(Cursor<'_>) -> String) -> String {
    let mut map = SourceMap::new();
    // A second file before it proves that positions cross files.
    map.add("first", "X DEFINITIONS ::= BEGIN END");
    let id = map
        .add("second", format!("A DEFINITIONS ::= BEGIN END M DEFINITIONS ::= BEGIN v T ::= {source} END"));
    let (modules, diagnostics) = parse(&map, id, &ParseOptions::default());
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    let module = &modules[1];
    read(Cursor::new(&map, &module.tokens, braced(module)).inner())
}

fn braced(module: &Module) -> Braced {
    match &module.assignments[0].kind {
        AssignmentKind::Value { value, .. } => match value.kind {
            ValueKind::Braced(braced) => braced,
            _ => panic!("{value:?}"),
        },
        other => panic!("{other:?}"),
    }
}

#[test]
fn oid_components() {
    let text = with("{iso member-body(2) 840 base Mod.other x(y)}", |mut cursor| {
        let list = cursor.oid_components().expect("an OID");
        assert!(cursor.is_end());
        list.iter()
            .map(|c| {
                let module = c.name.as_ref().and_then(|n| n.module.as_ref()).map_or("", |m| m.text.as_str());
                let name = c.name.as_ref().map_or("-", |n| n.name.text.as_str());
                let number = match c.number.as_ref().map(|v| &v.kind) {
                    Some(ValueKind::Integer(digits)) => digits.to_string(),
                    Some(ValueKind::Reference(reference)) => reference.name.text.to_string(),
                    _ => "-".into(),
                };
                format!("{module}.{name}/{number}")
            })
            .collect::<Vec<_>>()
            .join(" ")
    });
    assert_eq!(text, ".iso/- .member-body/2 .-/840 .base/- Mod.other/- .x/y");
}

#[test]
fn sequences_and_lists() {
    with("{a 5, b {1, 2}, c x: TRUE}", |mut cursor| {
        let values = cursor.named_values().expect("named values");
        let names: Vec<_> = values.iter().map(|(name, _)| name.text.as_str()).collect();
        assert_eq!(names, ["a", "b", "c"]);
        let ValueKind::Braced(inner) = values[1].1.kind else { panic!("{values:?}") };
        let list = cursor.at(inner).inner().list_values().expect("a list");
        assert_eq!(list.len(), 2);
        String::new()
    });
    with("{one, two}", |mut cursor| {
        assert_eq!(cursor.named_bits().expect("bits").len(), 2);
        String::new()
    });
    with("{mantissa -5, base 2, exponent 3}", |mut cursor| {
        let list = cursor.number_list().expect("numbers");
        assert!(list.iter().all(|(name, _)| name.is_some()) && list.len() == 3);
        String::new()
    });
    with("{0, 0, 0, 1}", |mut cursor| {
        assert_eq!(cursor.number_list().expect("numbers").len(), 4);
        String::new()
    });
    with("{\"a\", ref, {0, 0, 0, 1}}", |mut cursor| {
        assert_eq!(cursor.char_strings().expect("strings").len(), 3);
        String::new()
    });
    with("{}", |mut cursor| {
        assert!(cursor.is_end() && cursor.list_values().expect("nothing").is_empty());
        String::new()
    });
}

#[test]
fn objects() {
    with("{&id 5, &Type SEQUENCE {a NULL, b NULL}, &Set {1 | 2}, &U {1} | {2}}", |mut cursor| {
        let settings = cursor.field_settings().expect("settings");
        let names: Vec<_> = settings.iter().map(|s| s.name.text.as_str()).collect();
        assert_eq!(names, ["&id", "&Type", "&Set", "&U"]);
        let set =
            cursor.at(settings[3].setting).inner().element_set().expect("a set without braces of its own");
        assert!(matches!(set.root.map(|r| r.kind), Some(ElementKind::Union(_))));
        let ty = cursor.at(settings[1].setting).ty().expect("a type");
        assert!(matches!(ty.kind, TypeKind::Sequence(_)));
        let set = cursor.at(settings[2].setting).object_set_braced().expect("a set");
        assert!(matches!(set.root.map(|r| r.kind), Some(ElementKind::Union(_))));
        String::new()
    });
    with("{ARGUMENT Foo RESULT {a | b} CODE local: 5, X}", |mut cursor| {
        assert!(!cursor.eat_word("ARG") && cursor.eat_word("ARGUMENT"));
        assert_eq!((cursor.text(), cursor.peek_kind()), ("Foo", TokenKind::Upper));
        cursor.ty().expect("a type");
        assert!(cursor.eat_word("RESULT"));
        let braced = cursor.braced().expect("braces");
        assert!(cursor.at(braced).inner().element_set().is_ok());
        assert!(cursor.eat_word("CODE"));
        cursor.value().expect("a value");
        assert!(cursor.eat_comma());
        assert!(cursor.finish().is_err());
        assert_eq!(cursor.reference().expect("a reference").name.text, "X");
        assert!(cursor.finish().is_ok() && cursor.ty().is_err());
        String::new()
    });
}

#[test]
fn at_notations() {
    with("{@a.b, @.c, @..d}", |mut cursor| {
        let list = cursor.at_notations().expect("relations");
        let told: Vec<_> = list.iter().map(|n| (n.level, n.path.len())).collect();
        assert_eq!(told, [(0, 2), (1, 1), (2, 1)]);
        String::new()
    });
}

#[test]
fn errors_have_places() {
    with("{a 5 6}", |mut cursor| {
        let error = cursor.named_values().expect_err("a missing comma");
        assert_eq!(error.code, "E0101");
        assert!(error.primary.span.hi > error.primary.span.lo);
        String::new()
    });
    // Bare dumps are for comparing two texts; an empty list has none.
    assert_eq!(dump_ast_bare(&[]), "");
}
