//! Classes, objects and sets as specifications write them.

use crate::ir::{Model, ObjectSetId, Setting};
use crate::{Options, resolve};
use tercet_syntax::{ParseOptions, SourceMap, parse};

fn model(body: &str) -> (Model, String) {
    let mut map = SourceMap::new();
    let id = map.add("m", format!("M DEFINITIONS AUTOMATIC TAGS ::= BEGIN {body} END"));
    let (modules, mut found) = parse(&map, id, &ParseOptions { lenient: false, ..ParseOptions::default() });
    let (model, more) = resolve(&map, &modules, &Options::default());
    found.extend(more);
    let found: Vec<_> = found.iter().map(|d| format!("{} {}", d.code, d.message)).collect();
    (model, found.join("; "))
}

/// The objects of set `S` by their `&id`, `...` behind them where the set is open.
fn ids(body: &str) -> String {
    let (model, found) = model(body);
    if !found.is_empty() {
        return found;
    }
    let sets = &model.modules[0].object_sets;
    let (_, set) = sets.iter().find(|(name, _)| name == "S").expect("a set S");
    show(&model, *set)
}

fn show(model: &Model, set: ObjectSetId) -> String {
    let set = &model.object_sets[set.index()];
    let mut out: Vec<String> = set
        .objects
        .iter()
        .map(|id| match model.objects[id.index()].settings.get("&id") {
            Some(Setting::Value(_, value)) => model.notation(value).to_string(),
            _ => "?".into(),
        })
        .collect();
    if set.extensible {
        out.push("...".into());
    }
    out.join(" ")
}

const CLASS: &str = "C ::= CLASS { &id INTEGER UNIQUE, &Type OPTIONAL } WITH SYNTAX { ID &id [TYPE &Type] } \
                     a C ::= {ID 1} b C ::= {ID 2 TYPE NULL} c C ::= {ID 3} ";

#[test]
fn set_arithmetic() {
    for (set, expected) in [
        ("S C ::= {a | b}", "1 2"),
        ("S C ::= {a, ...}", "1 ..."),
        ("S C ::= {...}", "..."),
        ("S C ::= {a, ..., c}", "1 3 ..."),
        ("S C ::= {{ID 9} | a | a}", "9 1"),
        ("S C ::= {T | c} T C ::= {a | b, ...}", "1 2 3 ..."),
        ("S C ::= {T EXCEPT a} T C ::= {a | b}", "2"),
        ("S C ::= {(T ^ U) | c} T C ::= {a | b} U C ::= {b | c}", "2 3"),
        ("S C ::= {p{4}} p {INTEGER:n} C ::= {ID n}", "4"),
        ("S C ::= {P{4}} P {INTEGER:n} C ::= {{ID n} | a}", "4 1"),
        ("S C ::= {Q{T}} Q {C:X} C ::= {X | c, ...} T C ::= {a}", "1 3 ..."),
        ("S C ::= {d} d C ::= b", "2"),
        ("S C ::= {a | {ID 1}}", "E0507 two objects of a set have `&id` 1"),
        ("S C ::= {T} T C ::= {S}", "E0221 an object set contains itself"),
        ("S C ::= {a | nosuch}", "E0201 unknown value `nosuch`"),
    ] {
        assert_eq!(ids(&format!("{CLASS}{set}")), expected, "{set}");
    }
}

#[test]
fn defined_syntax() {
    let class = "E ::= CLASS { &id INTEGER UNIQUE, &text UTF8String DEFAULT \"none\", &Type OPTIONAL, &Errors E OPTIONAL, \
                 &linked E OPTIONAL, &Ids INTEGER OPTIONAL } WITH SYNTAX { [ARGUMENT &Type [OPTIONAL &text]] \
                 [ERRORS &Errors] [LINKED &linked] [VALUES &Ids] CODE &id } ";
    for (object, expected) in [
        ("{ CODE 5 }", ""),
        ("{ ARGUMENT INTEGER CODE 5 }", ""),
        ("{ ARGUMENT SEQUENCE { a INTEGER } OPTIONAL \"t\" ERRORS { {CODE 1} | o } CODE 5 }", ""),
        ("{ LINKED {CODE 3} VALUES {1 | 2..4} CODE 5 }", ""),
        ("{ CODE }", "E0505 expected `&id`, found the end of the object"),
        ("{ ARGUMENTS INTEGER CODE 5 }", "E0505 expected `CODE`, found `ARGUMENTS`"),
        ("{ CODE 5 ERRORS {o} }", "E0505 unexpected `ERRORS` in an object"),
    ] {
        let (_, found) = model(&format!("{class} o E ::= {{CODE 77}} x E ::= {object}"));
        assert_eq!(found, expected, "{object}");
    }
}

#[test]
fn default_syntax_and_defaults() {
    let (model, found) = model(
        "C ::= CLASS { &id INTEGER UNIQUE, &Type, &value &Type, &set INTEGER DEFAULT 4 } \
         o C ::= { &id 5, &Type BOOLEAN, &value TRUE } S C ::= {o, ...} i INTEGER ::= o.&set T ::= o.&Type",
    );
    assert_eq!(found, "");
    let (_, set) = model.modules[0].object_sets[0];
    let rows = model.rows(set, "&id", "&value");
    assert_eq!(rows.len(), 1);
    assert_eq!(model.notation(&rows[0].0).to_string(), "5");
    assert!(matches!(&rows[0].1, Setting::Value(_, crate::ir::Value::Boolean(true))));
    assert_eq!(model.notation(&model.modules[0].values[0].2).to_string(), "4");
}

#[test]
fn missing_and_unknown_fields() {
    let class = "C ::= CLASS { &id INTEGER, &Type } ";
    for (object, expected) in [
        ("{ &id 1 }", "E0504 field `&Type` is not set"),
        ("{ &id 1, &Nope NULL }", "E0502 the class has no field `&Nope`"),
        ("5", "E0503 this is not an object"),
    ] {
        assert_eq!(model(&format!("{class} x C ::= {object}")).1, expected, "{object}");
    }
}

/// The containers of NGAP, S1AP, RANAP and their kin.
#[test]
fn protocol_containers() {
    let (model, found) = model(
        "PROTOCOL-IES ::= CLASS { &id ProtocolIE-ID UNIQUE, &criticality Criticality, &Value, &presence Presence } \
           WITH SYNTAX { ID &id CRITICALITY &criticality TYPE &Value PRESENCE &presence } \
         ProtocolIE-ID ::= INTEGER (0..65535) Criticality ::= ENUMERATED { reject, ignore } \
         Presence ::= ENUMERATED { optional, mandatory } \
         ProtocolIE-Container {PROTOCOL-IES : IEsSetParam} ::= SEQUENCE (SIZE (0..9)) OF ProtocolIE-Field {{IEsSetParam}} \
         ProtocolIE-Field {PROTOCOL-IES : IEsSetParam} ::= SEQUENCE { id PROTOCOL-IES.&id ({IEsSetParam}), \
           criticality PROTOCOL-IES.&criticality ({IEsSetParam}{@id}), value PROTOCOL-IES.&Value ({IEsSetParam}{@id}) } \
         id-a ProtocolIE-ID ::= 10 \
         Msg ::= SEQUENCE { ies ProtocolIE-Container {{MsgIEs}}, ... } \
         MsgIEs PROTOCOL-IES ::= { { ID id-a CRITICALITY reject TYPE NULL PRESENCE mandatory } | \
           { ID 11 CRITICALITY ignore TYPE OCTET STRING (SIZE (2)) PRESENCE optional }, ... }",
    );
    assert_eq!(found, "");
    let (_, set) = model.modules[0].object_sets.iter().find(|(name, _)| name == "MsgIEs").expect("the set");
    assert_eq!(show(&model, *set), "10 11 ...");
    let of_field = model.types.iter().enumerate().filter_map(|(index, ty)| match &ty.kind {
        crate::ir::TypeKind::Open(Some(_)) => model.table_constraint(crate::ir::TypeId(index as u32)),
        _ => None,
    });
    let tables: Vec<_> = of_field.map(|(set, relations)| (show(&model, set), relations.len())).collect();
    assert_eq!(tables, [("10 11 ...".to_owned(), 1)]);
}
