//! Places of parts of text: together they are the text, each byte once, for samples of every specification.

use std::path::Path;
use tercet_schema::dynamic::sample::{Options, Sampler};
use tercet_schema::dynamic::trace::Step;
use tercet_schema::dynamic::{self, Part, Plan, Rules, Tape};
use tercet_schema::{Schema, SchemaOptions, TapeCodec};

/// Samples of each type.
const SAMPLES: u64 = 5;

/// Values of each sample at most.
const VALUES: usize = 200;

/// The parts of a text: `part path`, its characters, and the value of contents. Panics unless they are all of the text.
fn parts(plan: &Plan, rules: Rules, root: &str, text: &str) -> Vec<String> {
    let (mut end, mut found) = (0, Vec::new());
    let each = |step: &Step<'_>| {
        assert_eq!(step.place.at, end, "{text}\n{step:?}\n{found:?}");
        end = step.place.end();
        let characters = &text[step.place.at as usize / 8..end as usize / 8];
        let value = step.value.map_or_else(String::new, |value| format!(" = {value}"));
        found.push(format!("{} {} {characters}{value}", step.place.part.name(), step.path));
    };
    let read = TapeCodec::new(rules, plan).trace(
        plan.root(root).unwrap(),
        text.as_bytes(),
        &dynamic::Options::default(),
        each,
    );
    if let Err(error) = read {
        found.push(error.to_string());
    } else {
        assert_eq!(end, text.len() as u64 * 8);
    }
    found
}

#[test]
fn parts_are_the_text() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let (mut count, mut values) = (0, 0);
    for path in [
        "schemas/demo",
        "schemas/personnel",
        "schemas/signalling",
        "schemas/certificate",
        "schemas/ldap",
        "tests/corpora/asn1/traps",
        "crates/conformance/tests/generated/zoo.asn",
        "crates/conformance/tests/generated/leaves.asn",
    ] {
        let schema = Schema::load(&[root.join(path)], &SchemaOptions::default()).unwrap();
        let plan = schema.plan(Rules::Ber, &[]).unwrap();
        let mut tape = Tape::new();
        for (rules, seed) in [Rules::Jer, Rules::Xer, Rules::Cxer, Rules::Gser]
            .into_iter()
            .flat_map(|it| (0..SAMPLES).map(move |seed| (it, seed)))
        {
            let mut options = Options::default();
            (options.seed, options.elements) = (seed, VALUES);
            let mut sampler = Sampler::new(&plan.shape, options);
            let mut codec = TapeCodec::new(rules, &plan);
            for root in &plan.shape.roots {
                let mut text = Vec::new();
                if sampler.sample(root.node, &mut tape).is_err()
                    || codec.write(tape.view(&[]), &mut text).is_err()
                {
                    continue;
                }
                // White space around the value belong to it.
                if rules != Rules::Cxer {
                    text.splice(0..0, *b" \n");
                    text.extend_from_slice(b"\t\n");
                }
                let name = plan.shape.name(root.name);
                let mut end = 0;
                let read = codec.trace(root.node, &text, &dynamic::Options::default(), |step| {
                    assert_eq!(step.place.at, end, "{path} {name} {rules:?}: {step:?}");
                    end = step.place.end();
                    assert!(step.place.bits > 0, "{path} {name} {rules:?}: {step:?}");
                    if let Some(value) = step.value
                        && rules == Rules::Jer
                        && step.place.part == Part::Contents
                    {
                        // What stands there is the value.
                        let characters = &text[step.place.at as usize / 8..end as usize / 8];
                        assert_eq!(value.as_bytes(), characters, "{path} {name}: {step:?}");
                        values += 1;
                    }
                });
                // What cannot be read again is a matter of other tests.
                if read.is_err() {
                    continue;
                }
                assert_eq!(end, 8 * text.len() as u64, "{path} {name} {rules:?}");
                count += 1;
            }
        }
    }
    assert!(count > 1000 && values > 1000, "{count} texts, {values} values");
}

const BODY: &str = "M DEFINITIONS AUTOMATIC TAGS ::= BEGIN
    OP ::= CLASS { &code INTEGER UNIQUE, &Arg } WITH SYNTAX { &code &Arg }
    Ops OP ::= { {1 BOOLEAN} | {2 INTEGER} }
    T ::= SEQUENCE {
        a INTEGER, b C, l SEQUENCE OF BOOLEAN, n NULL, o OP.&code({Ops}), v OP.&Arg({Ops}{@o}),
        d INTEGER DEFAULT 3, ...
    }
    C ::= CHOICE { x IA5String, y C }
    END";

fn plan() -> Plan {
    Schema::from_text("m.asn", BODY).plan_for(Rules::Jer, &["T"]).unwrap()
}

#[test]
fn members_in_any_order_keep_their_parts() {
    let text = r#"{"l":[true, false], "b":{"y":{"x":"\"}"}},"a":5 ,"z":[{"a":1}],"o":2,"v":7,"n":null}"#;
    assert_eq!(
        parts(&plan(), Rules::Jer, "T", text),
        [
            "delimiter T {",
            "name T.l \"l\"",
            "delimiter T.l :[",
            "contents T.l[0] true = true",
            "delimiter T.l , ",
            "contents T.l[1] false = false",
            "delimiter T.l ]",
            "delimiter T , ",
            "name T.b \"b\"",
            "delimiter T.b :{",
            "name T.b.y \"y\"",
            "delimiter T.b.y :{",
            "name T.b.y.x \"x\"",
            "delimiter T.b.y.x :",
            r#"contents T.b.y.x "\"}" = "\"}""#,
            "delimiter T.b.y }",
            "delimiter T.b }",
            "delimiter T ,",
            "name T.a \"a\"",
            "delimiter T.a :",
            "contents T.a 5 = 5",
            "delimiter T  ,",
            // Nobody knows this member.
            "name T \"z\"",
            "delimiter T :[{",
            "name T \"a\"",
            "delimiter T :",
            "contents T 1",
            "delimiter T }],",
            "name T.o \"o\"",
            "delimiter T.o :",
            "contents T.o 2 = 2",
            "delimiter T ,",
            "name T.v \"v\"",
            "delimiter T.v :",
            "contents T.v 7 = 7",
            "delimiter T ,",
            "name T.n \"n\"",
            "delimiter T.n :",
            "contents T.n null = null",
            "delimiter T }",
        ]
    );
}

#[test]
fn elements_of_xml_have_tags() {
    let text = "\u{FEFF}<?xml version='1.0'?><T><a>5</a><b ><y><x>&lt;<!-- > --></x></y></b><l><true/><BOOLEAN><false/></BOOLEAN></l>\n\
        <n/><o>2</o><v><INTEGER>7</INTEGER></v></T>";
    assert_eq!(
        parts(&plan(), Rules::Xer, "T", text),
        [
            // A byte order mark is not one of the characters between tags.
            "contents T \u{FEFF}",
            "delimiter T <?xml version='1.0'?>",
            "start-tag T <T>",
            "start-tag T.a <a>",
            "contents T.a 5 = 5",
            "end-tag T.a </a>",
            "start-tag T.b <b >",
            "start-tag T.b.y <y>",
            "start-tag T.b.y.x <x>",
            "contents T.b.y.x &lt;<!-- > --> = \"<\"",
            "end-tag T.b.y.x </x>",
            "end-tag T.b.y </y>",
            "end-tag T.b </b>",
            "start-tag T.l <l>",
            "contents T.l[0] <true/> = true",
            "start-tag T.l[1] <BOOLEAN>",
            "contents T.l[1] <false/> = false",
            "end-tag T.l[1] </BOOLEAN>",
            "end-tag T.l </l>",
            "delimiter T \n",
            "start-tag T.n <n/> = null",
            "start-tag T.o <o>",
            "contents T.o 2 = 2",
            "end-tag T.o </o>",
            "start-tag T.v <v>",
            "start-tag T.v <INTEGER>",
            "contents T.v 7 = 7",
            "end-tag T.v </INTEGER>",
            "end-tag T.v </v>",
            "end-tag T </T>",
        ]
    );
}

#[test]
fn gser_has_identifiers() {
    let text = "{ a 5, b y:x:\"\"\"}\", l { TRUE }, n NULL, o 2, v 7 }";
    assert_eq!(
        parts(&plan(), Rules::Gser, "T", text),
        [
            "delimiter T { ",
            "name T.a a",
            "delimiter T.a  ",
            "contents T.a 5 = 5",
            "delimiter T , ",
            "name T.b b",
            "delimiter T.b  ",
            "name T.b.y y",
            "delimiter T.b.y :",
            "name T.b.y.x x",
            "delimiter T.b.y.x :",
            r#"contents T.b.y.x """}" = "\"}""#,
            "delimiter T , ",
            "name T.l l",
            "delimiter T.l  { ",
            "contents T.l[0] TRUE = true",
            "delimiter T.l  }",
            "delimiter T , ",
            "name T.n n",
            "delimiter T.n  ",
            "contents T.n NULL = null",
            "delimiter T , ",
            "name T.o o",
            "delimiter T.o  ",
            "contents T.o 2 = 2",
            "delimiter T , ",
            "name T.v v",
            "delimiter T.v  ",
            "contents T.v 7 = 7",
            "delimiter T  }",
        ]
    );
}

#[test]
fn parts_before_a_fault_are_there() {
    let found =
        parts(&plan(), Rules::Jer, "T", r#"{"a":5,"b":{"x":"q"},"l":[true,7],"n":null,"o":1,"v":true}"#);
    assert_eq!(found.last().unwrap(), "T.l[1]: true or false expected (line 1, column 32)");
    assert_eq!(found[found.len() - 2..][0], "delimiter T.l ,");
    // A text that is not well-formed was not looked into.
    assert_eq!(parts(&plan(), Rules::Jer, "T", "{\"a\":5").len(), 1);
}

/// Instructions move names and brackets: the parts are still all of the text.
#[test]
fn instructed_json_has_parts() {
    let text = "M DEFINITIONS AUTOMATIC TAGS ::= BEGIN
        T ::= SEQUENCE { a [JER:ARRAY] SEQUENCE { x INTEGER, y INTEGER OPTIONAL }, u [JER:UNWRAPPED] C, p [JER:OBJECT] SEQUENCE OF P }
        C ::= CHOICE { i INTEGER, s UTF8String }
        P ::= SEQUENCE { key UTF8String, value INTEGER }
        END";
    let schema = Schema::from_text("m.asn", text);
    let plan = schema.plan_for(Rules::Jer, &["T"]).unwrap();
    let found = parts(&plan, Rules::Jer, "T", r#"{"a":[1,null],"u":"w","p":{"k":5, "m":6}}"#);
    assert_eq!(
        found,
        [
            "delimiter T {",
            "name T.a \"a\"",
            "delimiter T.a :[",
            "contents T.a.x 1 = 1",
            "delimiter T.a ,",
            "contents T.a null",
            "delimiter T.a ]",
            "delimiter T ,",
            "name T.u \"u\"",
            "delimiter T.u :",
            "contents T.u.s \"w\" = \"w\"",
            "delimiter T ,",
            "name T.p \"p\"",
            "delimiter T.p :{",
            "contents T.p[0].key \"k\" = \"k\"",
            "delimiter T.p[0].value :",
            "contents T.p[0].value 5 = 5",
            "delimiter T.p , ",
            "contents T.p[1].key \"m\" = \"m\"",
            "delimiter T.p[1].value :",
            "contents T.p[1].value 6 = 6",
            "delimiter T.p }",
            "delimiter T }",
        ]
    );
}
