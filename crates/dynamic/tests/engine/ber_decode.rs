//! Decoding by X.690: type, octets, events.

use crate::common::{events, hex, plan, plan_of};
use tercet_dynamic::{ErrorKind, Limits, Options, Rules, Unknown};

/// Each line: hex, then the events or the name of the error with its offset and path.
fn check_with(plan: &tercet_dynamic::Plan, options: &Options, cases: &[(&str, &str)]) {
    for (input, expect) in cases {
        let input_octets = hex(input);
        let got = match events(plan, "T", &input_octets, options) {
            Ok((text, used)) if used == input_octets.len() => text,
            Ok((text, used)) => format!("{text} + {}", input_octets.len() - used),
            Err(error) => format!("{} @{} {}", error.kind().name(), error.offset(), error.path()),
        };
        assert_eq!(got, *expect, "input {input}");
    }
}

fn check(body: &str, cases: &[(&str, &str)]) {
    check_with(&plan(body), &Options::default(), cases);
}

#[test]
fn a_sequence_takes_its_components_in_order() {
    check(
        "T ::= SEQUENCE { a INTEGER, b BOOLEAN OPTIONAL, c NULL }",
        &[
            ("30 08 80 01 05 81 01 FF 82 00", "{a=05 b=FF c=}"),
            ("30 05 80 01 05 82 00", "{a=05 c=}"),
            // 8.1.3.6, and long forms of the length
            ("30 80 80 01 05 82 00 00 00", "{a=05 c=}"),
            ("30 81 05 80 01 05 82 00", "{a=05 c=}"),
            ("30 83 00 00 06 80 81 01 05 82 00", "{a=05 c=}"),
            ("30 84 00 00 00 05 80 01 05 82 00 FF", "{a=05 c=} + 1"),
            ("30 03 80 01 05", "missing-component @5 T.c"),
            ("30 02 82 00", "missing-component @2 T.a"),
            ("30 07 82 00 80 01 05 82 00", "missing-component @2 T.a"),
            ("30 07 80 01 05 82 00 82 00", "unexpected-element @7 T.c"),
            ("30 07 80 01 05 82 00 83 00", "unexpected-element @7 T"),
            ("31 05 80 01 05 82 00", "tag-mismatch @0 T"),
            ("30 05 80 02 05 82 00", "beyond-parent @7 T"),
            ("30 05 80 04 05 82 00 00", "beyond-parent @7 T.a"),
            ("30 05 A0 03 02 01 05", "primitive-expected @2 T.a"),
            ("10 05 80 01 05 82 00", "constructed-expected @0 T"),
            ("30 05 80 01 05 82", "incomplete @6 T"),
            ("30 80 80 01 05 82 00", "incomplete @7 T"),
            ("30 80 80 01 05 82 00 00 01", "end-of-contents-malformed @7 T"),
            ("", "incomplete @0 T"),
        ],
    );
}

#[test]
fn integers_in_more_octets_than_needed() {
    let plan =
        plan("T ::= SEQUENCE { a [0] IMPLICIT INTEGER, e [1] EXPLICIT ENUMERATED { x(1), ... } OPTIONAL }");
    let padded = [("30 04 80 02 00 05", "{a=0005}"), ("30 09 80 01 05 A1 04 0A 02 00 01", "{a=05 e=0001}")];
    check_with(&plan, &Options::default(), &padded);
    let mut options = Options::default();
    options.strict_integers = true;
    let refused = [
        ("30 04 80 02 00 05", "integer-not-minimal @4 T.a"),
        ("30 04 80 02 FF 80", "integer-not-minimal @4 T.a"),
        ("30 09 80 01 05 A1 04 0A 02 00 01", "integer-not-minimal @9 T.e"),
        ("30 04 80 02 00 80", "{a=0080}"),
    ];
    check_with(&plan, &options, &refused);
    assert!(Options::strict(Rules::Ber).strict_integers);
}

#[test]
fn a_set_takes_its_components_in_any_order() {
    check(
        "T ::= SET { a INTEGER, b BOOLEAN OPTIONAL, c NULL }",
        &[
            ("31 08 82 00 81 01 FF 80 01 05", "{c= b=FF a=05}"),
            ("31 05 80 01 05 82 00", "{a=05 c=}"),
            ("31 02 82 00", "missing-component @4 T.a"),
            ("31 07 82 00 80 01 05 82 00", "duplicate-component @7 T.c"),
            ("31 07 82 00 80 01 05 83 00", "unexpected-element @7 T"),
        ],
    );
}

#[test]
fn a_set_of_many_components() {
    let parts: Vec<String> =
        (0..200).map(|n| format!("c{n} NULL{}", if n == 150 { "" } else { " OPTIONAL" })).collect();
    check(
        &format!("T ::= SET {{ {} }}", parts.join(", ")),
        &[
            ("31 0B 9F 81 16 00 9F 81 47 00 9F 42 00", "{c150= c199= c66=}"),
            ("31 03 9F 42 00", "missing-component @5 T.c150"),
            ("31 08 9F 81 16 00 9F 81 16 00", "duplicate-component @6 T.c150"),
        ],
    );
}

#[test]
fn explicit_tags_and_choices_nest() {
    let plan = plan_of(
        "M DEFINITIONS EXPLICIT TAGS ::= BEGIN
         T ::= SEQUENCE { a [0] [APPLICATION 300] INTEGER, b C OPTIONAL, d [5] C OPTIONAL }
         C ::= CHOICE { x [1] BOOLEAN, y CHOICE { z NULL, w [2] IMPLICIT SEQUENCE OF C } }
         END",
    );
    check_with(
        &plan,
        &Options::default(),
        &[
            ("30 0A A0 08 7F 82 2C 04 02 02 00 80", "{a=0080}"),
            ("30 0F A0 80 7F 82 2C 80 02 01 01 00 00 00 00 05 00", "{a=01 b{y{z=}}}"),
            (
                "30 18 A0 07 7F 82 2C 03 02 01 01 A2 05 A1 03 01 01 FF A5 06 A2 04 05 00 05 00",
                "{a=01 b{y{w{{x=FF}}}} d{y{w{{y{z=}} {y{z=}}}}}}",
            ),
            ("30 09 A0 07 7F 82 2C 03 04 01 01", "tag-mismatch @8 T.a"),
            ("30 09 A0 07 7F 82 2B 03 02 01 01", "tag-mismatch @4 T.a"),
            ("30 0B A0 09 7F 82 2C 03 02 01 01 05 00", "unexpected-element @11 T.a"),
            ("30 0B A0 09 7F 82 2C 05 02 01 01 05 00", "unexpected-element @11 T.a"),
            ("30 0D A0 07 7F 82 2C 03 02 01 01 A5 02 04 00", "unknown-alternative @13 T.d"),
        ],
    );
    let plan = plan_of("M DEFINITIONS EXPLICIT TAGS ::= BEGIN T ::= SEQUENCE { a [1] INTEGER } END");
    check_with(
        &plan,
        &Options::default(),
        &[("30 05 A1 03 02 01 05", "{a=05}"), ("30 05 81 03 02 01 05", "constructed-expected @2 T.a")],
    );
}

#[test]
fn tags_have_numbers_of_any_size() {
    check(
        "T ::= SEQUENCE { a [127] NULL, b [128] NULL, c [16383] NULL, d [16384] NULL, e [2097151] NULL }",
        &[
            ("30 15 9F 7F 00 9F 81 00 00 9F FF 7F 00 9F 81 80 00 00 9F FF FF 7F 00", "{a= b= c= d= e=}"),
            (
                "30 15 9F 7F 00 9F 81 00 00 9F FF 7F 00 9F 81 80 01 00 9F FF FF 7F 00",
                "unexpected-element @13 T",
            ),
        ],
    );
}

#[test]
fn lists_give_indexes_in_paths() {
    check(
        "T ::= SEQUENCE OF SEQUENCE { a SET OF INTEGER }",
        &[
            ("30 00", "{}"),
            ("30 0C 30 0A A0 08 02 01 01 02 00 02 01 02", "integer-empty @11 T[0].a[1]"),
            ("30 0A 30 02 A0 00 30 04 A0 02 01 00", "tag-mismatch @10 T[1].a[0]"),
        ],
    );
}

#[test]
fn strings_in_segments_are_joined() {
    check(
        "T ::= CHOICE { o OCTET STRING, b BIT STRING, i IA5String, t UTCTime, n INTEGER }",
        &[
            ("80 02 AB CD", "{o=ABCD}"),
            ("A0 08 04 02 AB CD 04 02 EF 01", "{o=+ABCDEF01}"),
            ("A0 80 24 80 04 01 AB 00 00 24 03 04 01 CD 00 00", "{o=+ABCD}"),
            ("A0 00", "{o=+}"),
            ("A1 09 03 02 00 AB 03 03 04 CD E0", "{b=+04ABCDE0}"),
            ("A1 08 03 02 01 AA 03 02 00 FF", "bit-string-segment @8 T.b"),
            ("81 02 08 00", "bit-string-unused @2 T.b"),
            ("82 01 80", "{i=80}"),
            ("A2 04 0C 02 41 42", "segment-tag @2 T.i"),
            ("A3 0F 04 0D 39 31 30 35 30 36 32 33 34 35 34 30 5A", "{t=+3931303530363233343534305A}"),
            ("A4 03 02 01 05", "primitive-expected @0 T.n"),
        ],
    );
}

#[test]
fn unknown_elements_are_kept_where_the_type_has_dots() {
    let body =
        "T ::= SEQUENCE { a INTEGER, ..., b BOOLEAN, [[ c NULL, d NULL OPTIONAL ]], ..., z NULL OPTIONAL }
                U ::= SEQUENCE { c CHOICE { a NULL, ... }, s SET { a NULL, ... } }";
    check(
        body,
        &[
            ("30 03 80 01 05", "{a=05}"),
            ("30 0A 80 01 05 82 01 FF 83 00 81 00", "{a=05 b=FF c= z=}"),
            ("30 0B 80 01 05 99 02 01 02 85 02 07 07", "{a=05 ?99020102 ?85020707}"),
            ("30 0B 80 01 05 B9 80 02 00 00 00 81 00", "{a=05 ?B98002000000 z=}"),
            ("30 05 81 00 80 01 05", "missing-component @2 T.a"),
            // Behind additions that are known, and before the second part of the root alone.
            ("30 0C 80 01 05 99 02 01 02 82 01 FF 83 00", "unexpected-element @9 T.b"),
            ("30 09 80 01 05 81 00 99 02 01 02", "unexpected-element @7 T"),
            ("30 07 99 02 01 02 80 01 05", "missing-component @2 T.a"),
        ],
    );
    check(
        "T ::= SEQUENCE { a INTEGER OPTIONAL, b INTEGER OPTIONAL, ..., ..., z INTEGER OPTIONAL }
         U ::= SET { a INTEGER OPTIONAL, ... }",
        &[
            ("30 0A 80 01 05 99 02 01 02 82 01 07", "{a=05 ?99020102 z=07}"),
            ("30 0A 80 01 05 99 02 01 02 81 01 07", "unexpected-element @9 T.b"),
        ],
    );
    let plan = plan(body);
    let get = |input| events(&plan, "U", &hex(input), &Options::default()).unwrap().0;
    assert_eq!(get("30 0B A0 03 99 01 07 A1 04 85 00 80 00"), "{c{?990107} s{?8500 a=}}");
    let mut options = Options::default();
    options.unknown = Unknown::Error;
    check_with(&plan, &options, &[("30 07 80 01 05 99 02 01 02", "unexpected-element @5 T")]);
    options.unknown = Unknown::Keep;
    let closed = crate::common::plan("T ::= SEQUENCE { a INTEGER }");
    check_with(&closed, &options, &[("30 07 80 01 05 99 02 01 02", "{a=05 ?99020102}")]);
    check_with(&closed, &options, &[("30 07 99 02 01 02 80 01 05", "{?99020102 a=05}")]);
}

#[test]
fn a_faulty_header_is_in_the_component_that_its_tag_tells() {
    check(
        "T ::= SEQUENCE { a [0] INTEGER, b C OPTIONAL, c [3] EXPLICIT C OPTIONAL, d [4] SEQUENCE OF INTEGER OPTIONAL }
         C ::= CHOICE { x [1] INTEGER, y [2] CHOICE { z [5] NULL } }",
        &[
            ("30 03 80 05 00", "beyond-parent @5 T.a"),
            ("30 06 80 01 05 A1 03 81", "beyond-parent @8 T.b.x"),
            ("30 80 80 01 05", "incomplete @5 T"),
            ("30 06 80 01 05 A2 01 A2", "beyond-parent @8 T.b.y"),
            ("30 03 87 05 00", "beyond-parent @5 T"),
        ],
    );
}

#[test]
fn defaults_are_told_on_request() {
    let plan =
        plan("T ::= SEQUENCE { a INTEGER DEFAULT 5, b SET { c BOOLEAN DEFAULT TRUE, d NULL } OPTIONAL }");
    let mut options = Options::default();
    options.fill_defaults = true;
    check_with(
        &plan,
        &options,
        &[("30 00", "{a=Int(5)}"), ("30 04 A1 02 81 00", "{a=Int(5) b{d= c=Boolean(true)}}")],
    );
}

#[test]
fn open_types_follow_their_keys() {
    let plan = plan_of(
        "M DEFINITIONS AUTOMATIC TAGS ::= BEGIN
         K ::= CLASS { &id INTEGER UNIQUE, &Type } WITH SYNTAX { &Type ID &id }
         Set K ::= { {INTEGER ID 1} | {S ID 2} | {BOOLEAN ID 300}, ... }
         S ::= SEQUENCE { x NULL }
         T ::= SEQUENCE OF SEQUENCE { id K.&id({Set}), value K.&Type({Set}{@.id}) }
         END",
    );
    check_with(
        &plan,
        &Options::default(),
        &[
            ("30 0A 30 08 80 01 01 A1 03 02 01 07", "{{id=01 value{=07}}}"),
            ("30 0B 30 09 80 01 02 A1 04 30 02 80 00", "{{id=02 value{{x=}}}}"),
            ("30 0B 30 09 80 02 01 2C A1 03 01 01 FF", "{{id=012C value{=FF}}}"),
            ("30 0A 30 08 80 01 09 A1 03 02 01 07", "{{id=09 value=020107}}"),
            ("30 0A 30 08 80 01 01 A1 03 04 01 07", "tag-mismatch @9 T[0].value"),
            ("30 0B 30 09 80 01 02 A1 04 30 02 81 00", "unexpected-element @11 T[0].value"),
        ],
    );
}

#[test]
fn keys_hold_for_the_value_that_they_are_in() {
    let plan = plan_of(
        "M DEFINITIONS AUTOMATIC TAGS ::= BEGIN
         K ::= CLASS { &id INTEGER UNIQUE, &Type } WITH SYNTAX { &Type ID &id }
         Set K ::= { {INTEGER ID 1} | {T ID 2} | {BOOLEAN ID 3}, ... }
         T ::= SEQUENCE { id K.&id({Set}), value K.&Type({Set}{@id}), again K.&Type({Set}{@id}) OPTIONAL }
         END",
    );
    check_with(
        &plan,
        &Options::default(),
        &[(
            "30 1B 80 01 02 A1 0A 30 08 80 01 01 A1 03 02 01 07 A2 0A 30 08 80 01 03 A1 03 01 01 FF",
            "{id=02 value{{id=01 value{=07}}} again{{id=03 value{=FF}}}}",
        )],
    );
}

#[test]
fn keys_in_a_component_hold_for_the_value_around_it() {
    let plan = plan_of(
        "M DEFINITIONS AUTOMATIC TAGS ::= BEGIN
         K ::= CLASS { &id INTEGER UNIQUE, &Type } WITH SYNTAX { &Type ID &id }
         Set K ::= { {INTEGER ID 1} | {BOOLEAN ID 3}, ... }
         T ::= SEQUENCE { head SEQUENCE { id K.&id({Set}) }, t T OPTIONAL, value K.&Type({Set}{@head.id}) }
         END",
    );
    check_with(
        &plan,
        &Options::default(),
        &[
            ("30 0A A0 03 80 01 01 A2 03 02 01 07", "{head{id=01} value{=07}}"),
            (
                "30 16 A0 03 80 01 01 A1 0A A0 03 80 01 03 A2 03 01 01 FF A2 03 02 01 07",
                "{head{id=01} t{head{id=03} value{=FF}} value{=07}}",
            ),
        ],
    );
}

#[test]
fn a_key_may_be_a_choice_in_a_choice() {
    let plan = plan_of(
        "M DEFINITIONS AUTOMATIC TAGS ::= BEGIN
         K ::= CLASS { &code Code UNIQUE, &Type } WITH SYNTAX { &Type CODE &code }
         Code ::= CHOICE { local INTEGER, other CHOICE { a INTEGER, b OBJECT IDENTIFIER } }
         Set K ::= { {INTEGER CODE local:1} | {BOOLEAN CODE other:a:1} | {NULL CODE other:b:{1 2}}, ... }
         T ::= SEQUENCE { code K.&code({Set}), value K.&Type({Set}{@code}) }
         END",
    );
    check_with(
        &plan,
        &Options::default(),
        &[
            ("30 0A A0 03 80 01 01 A1 03 02 01 07", "{code{local=01} value{=07}}"),
            ("30 0C A0 05 A1 03 80 01 01 A1 03 01 01 FF", "{code{other{a=01}} value{=FF}}"),
            ("30 0B A0 05 A1 03 81 01 2A A1 02 05 00", "{code{other{b=2A}} value{=}}"),
            ("30 0C A0 05 A1 03 80 01 02 A1 03 01 01 FF", "{code{other{a=02}} value=0101FF}"),
        ],
    );
}

#[test]
fn containing_is_decoded_if_it_decodes() {
    check(
        "T ::= SEQUENCE { o OCTET STRING (CONTAINING SEQUENCE { a NULL }), b BIT STRING (CONTAINING INTEGER) OPTIONAL }",
        &[
            ("30 06 80 04 30 02 80 00", "{o{{a=}}}"),
            ("30 06 80 04 30 02 81 00", "{o=30028100}"),
            ("30 07 80 05 30 02 80 00 00", "{o=3002800000}"),
            ("30 0C 80 04 30 02 80 00 81 04 00 02 01 07", "{o{{a=}} b{=07}}"),
        ],
    );
    // In segments too, and what is in those.
    check(
        "T ::= OCTET STRING (CONTAINING U) U ::= OCTET STRING (CONTAINING INTEGER)",
        &[
            ("24 0D 04 04 24 07 04 01 04 05 02 04 02 01 05", "{{=+05}}"),
            ("24 0D 04 04 24 07 04 01 04 05 02 04 02 02 05", "{=+020205}"),
            ("04 05 04 03 02 01 05", "{{=05}}"),
        ],
    );
}

#[test]
fn a_contents_constraint_is_one() {
    let plan = plan(
        "C ::= CLASS { &id INTEGER UNIQUE, &T } WITH SYNTAX { &id &T }
         S C ::= { { 1 BOOLEAN } | { 2 SEQUENCE { a NULL } }, ... }
         T ::= SEQUENCE { o OCTET STRING (CONTAINING INTEGER) OPTIONAL, i C.&id ({S}) OPTIONAL,
                          t OCTET STRING (CONTAINING C.&T ({S}{@i})) OPTIONAL,
                          b BIT STRING (CONTAINING C.&T ({S}{@i})) OPTIONAL }",
    );
    // What is inside is what the key beside the string says, as far as it is known.
    let good = [
        ("30 05 80 03 02 01 05", "{o{=05}}"),
        ("30 08 81 01 01 82 03 01 01 FF", "{i=01 t{{=FF}}}"),
        ("30 09 81 01 02 82 04 30 02 80 00", "{i=02 t{{{a=}}}}"),
        ("30 0A 81 01 02 83 05 00 30 02 80 00", "{i=02 b{{{a=}}}}"),
        ("30 08 81 01 03 82 03 02 01 05", "{i=03 t{=020105}}"),
        ("30 06 81 01 03 82 01 05", "{i=03 t=05}"),
        ("30 05 82 03 02 01 05", "{t{=020105}}"),
    ];
    check_with(&plan, &Options::default(), &good);
    check_with(&plan, &Options::strict(Rules::Ber), &good);
    let broken =
        ["30 05 80 03 01 01 05", "30 08 81 01 01 82 03 02 01 05", "30 0B 81 01 02 83 06 00 30 02 80 00 00"];
    let left = ["{o=010105}", "{i=01 t=020105}", "{i=02 b=003002800000}"];
    let told = ["@2 T.o", "@5 T.t", "@5 T.b"].map(|place| format!("constraint-violated {place}"));
    for ((input, left), told) in broken.into_iter().zip(left).zip(&told) {
        check_with(&plan, &Options::default(), &[(input, left)]);
        check_with(&plan, &Options::strict(Rules::Ber), &[(input, told)]);
    }
}

#[test]
fn der_names_the_clause() {
    let plan = plan(
        "T ::= SEQUENCE { a BOOLEAN DEFAULT FALSE, s SET OF INTEGER OPTIONAL, u SET { x NULL, y NULL } OPTIONAL,
                          n BIT STRING { one(0) } OPTIONAL, d SEQUENCE { e INTEGER } DEFAULT { e 5 } }",
    );
    check_with(
        &plan,
        &Options::strict(Rules::Der),
        &[
            ("30 03 80 01 FF", "{a=FF}"),
            ("30 03 80 01 01", "boolean-not-canonical @4 T.a"),
            ("30 03 80 01 00", "default-encoded @2 T.a"),
            ("30 80 80 01 FF 00 00", "indefinite-forbidden @1 T"),
            ("30 81 03 80 01 FF", "length-not-minimal @1 T"),
            ("30 08 A1 06 02 01 01 02 01 02", "{s{=01 =02}}"),
            ("30 08 A1 06 02 01 02 02 01 01", "set-of-order @7 T.s[1]"),
            ("30 06 A2 04 80 00 81 00", "{u{x= y=}}"),
            ("30 06 A2 04 81 00 80 00", "set-order @6 T.u.x"),
            ("30 04 83 02 06 80", "bit-string-trailing-zero @4 T.n"),
            ("30 05 A4 03 80 01 06", "{d{e=06}}"),
            ("30 05 A4 03 80 01 05", "default-encoded @2 T.d"),
        ],
    );
}

#[test]
fn constraints_are_checked_on_request() {
    let plan = plan(
        "T ::= CHOICE { i INTEGER (0..255), o OCTET STRING (SIZE(2)), l SEQUENCE SIZE(0..1) OF NULL,
                        s IA5String (FROM(\"ab\")), b BIT STRING (SIZE(3..4, ...)) }",
    );
    check_with(
        &plan,
        &Options::strict(Rules::Ber),
        &[
            ("80 02 00 FF", "{i=00FF}"),
            ("80 02 01 00", "constraint-violated @0 T.i"),
            ("80 01 FF", "constraint-violated @0 T.i"),
            ("81 02 00 00", "{o=0000}"),
            ("81 01 00", "constraint-violated @0 T.o"),
            ("A2 02 05 00", "{l{=}}"),
            ("A2 04 05 00 05 00", "constraint-violated @6 T.l"),
            ("83 02 61 62", "{s=6162}"),
            ("83 02 61 63", "constraint-violated @0 T.s"),
            ("84 01 00", "{b=00}"),
        ],
    );
}

#[test]
fn numbers_beyond_128_bits_are_within_a_bound_on_their_side() {
    let plan = plan("T ::= SEQUENCE { a INTEGER (MIN..5) OPTIONAL, b INTEGER (5..MAX) OPTIONAL }");
    let (least, most) = (" 80".to_owned() + &" 00".repeat(16), " 7F".to_owned() + &" FF".repeat(16));
    for (tag, octets, good) in
        [("80", &least, true), ("80", &most, false), ("81", &least, false), ("81", &most, true)]
    {
        let input = format!("30 13 {tag} 11{octets}");
        let got = events(&plan, "T", &hex(&input), &Options::strict(Rules::Ber));
        assert_eq!(
            got.map_err(|error| error.kind().name()).err(),
            (!good).then_some("constraint-violated"),
            "{input}"
        );
    }
}

#[test]
fn limits_hold() {
    let plan = plan("T ::= CHOICE { t T, l SEQUENCE OF NULL }");
    let mut options = Options::default();
    let nested = |depth: usize, indefinite: bool| {
        let mut out = Vec::new();
        for level in 0..depth {
            let inside = 6 * (depth - level - 1);
            let length = (inside as u32).to_be_bytes();
            let definite = [0xA0, 0x84, length[0], length[1], length[2], length[3]];
            out.extend_from_slice(if indefinite { &[0xA0, 0x80] } else { &definite });
        }
        out
    };
    for indefinite in [false, true] {
        let input = nested(100_000, indefinite);
        let error = std::thread::scope(|scope| {
            let small = std::thread::Builder::new().stack_size(256 << 10);
            let run = || events(&plan, "T", &input, &options).unwrap_err();
            small.spawn_scoped(scope, run).unwrap().join().unwrap()
        });
        assert_eq!(error.kind(), ErrorKind::DepthLimit);
        assert!(error.path().len() < 512, "{}", error.path());
    }
    options.limits = Limits { elements: 10, ..Limits::default() };
    let list = [vec![0xA1, 0x20], [5, 0].repeat(16)].concat();
    assert_eq!(events(&plan, "T", &list, &options).unwrap_err().kind(), ErrorKind::LimitExceeded);
    options.limits = Limits { size: 10, ..Limits::default() };
    assert_eq!(events(&plan, "T", &list, &options).unwrap_err().kind(), ErrorKind::LengthLimit);
    let bomb = hex("A1 88 7F FF FF FF FF FF FF FF 05 00");
    let error = events(&plan, "T", &bomb, &Options::default()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::LengthTooLarge | ErrorKind::Incomplete), "{error}");
}

#[test]
fn errors_say_how_much_is_missing_and_where() {
    let plan = plan("T ::= SEQUENCE { a OCTET STRING }");
    let mut options = Options::default();
    options.base_offset = 1 << 40;
    let error = events(&plan, "T", &hex("30 0C 80 0A 01 02"), &options).unwrap_err();
    assert_eq!((error.missing(), error.offset()), (Some(8), (1 << 40) + 6));
    assert_eq!(error.path(), "T");
    let error = events(&plan, "T", &hex("30"), &options).unwrap_err();
    assert_eq!(error.missing(), Some(1));
}
