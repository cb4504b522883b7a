//! Texts and times that break the rules of their type: kept and marked in BER, errors where that is asked for.

use crate::common::{hex, plan, to_hex};
use tercet_dynamic::{
    Decoder, Discard, Encoder, Error, ErrorKind, FieldId, Leaf, Marked, NodeId, Options, Plan, Rules, Sink,
    Tape, decode, encode, json,
};

const LEAVES: &str = "T ::= CHOICE {
    printable PrintableString, numeric NumericString, ia5 IA5String, visible VisibleString, utf8 UTF8String,
    bmp BMPString, universal UniversalString, utc UTCTime, generalized GeneralizedTime, date DATE, iri OID-IRI,
    teletex TeletexString }";

fn with(rules: Rules, change: impl FnOnce(&mut Options)) -> Options {
    let mut options = Options::default();
    options.rules = rules;
    change(&mut options);
    options
}

fn json(plan: &Plan, tape: &Tape, input: &[u8]) -> String {
    let mut out = Vec::new();
    json::write(&plan.shape, tape.view(input), &mut out, &json::Options::default());
    String::from_utf8(out).unwrap()
}

/// An octet string in BER, what is shown of it, and what is wrong with it.
const CASES: &[(&str, &str, ErrorKind, u64)] = &[
    ("80 03 61 2A 40", r#"{"printable":"a*@"}"#, ErrorKind::CharacterInvalid, 3),
    ("81 03 31 32 23", r#"{"numeric":"12#"}"#, ErrorKind::CharacterInvalid, 4),
    ("82 04 43 61 66 E9", r#"{"ia5":"Café"}"#, ErrorKind::CharacterInvalid, 5),
    ("83 03 61 00 7F", "{\"visible\":\"a\\u0000\u{7F}\"}", ErrorKind::CharacterInvalid, 3),
    ("84 04 61 FC 62 63", "{\"utf8\":\"a\u{FFFD}bc\"}", ErrorKind::Utf8Invalid, 3),
    ("85 03 00 41 00", "{\"bmp\":\"A\u{FFFD}\"}", ErrorKind::CharacterTruncated, 5),
    ("85 04 D8 00 00 41", "{\"bmp\":\"\u{FFFD}A\"}", ErrorKind::CharacterInvalid, 2),
    ("86 05 00 00 00 41 00", "{\"universal\":\"A\u{FFFD}\"}", ErrorKind::CharacterTruncated, 7),
    ("87 0B 30 30 30 30 30 30 30 30 30 30 5A", r#"{"utc":"0000000000Z"}"#, ErrorKind::UtcTimeSyntax, 4),
    ("87 00", r#"{"utc":""}"#, ErrorKind::UtcTimeSyntax, 2),
    ("88 04 6E 6F 6F E9", r#"{"generalized":"nooé"}"#, ErrorKind::GeneralizedTimeSyntax, 2),
    ("89 0A 32 30 32 36 2D 31 31 2D 32 35", r#"{"date":"2026-11-25"}"#, ErrorKind::TimeSyntax, 10),
    ("8A 03 49 53 4F", r#"{"iri":"ISO"}"#, ErrorKind::OidIriSyntax, 2),
    // In segments.
    ("A0 09 04 01 61 13 04 2A 62 2F 2F", r#"{"printable":"a*b//"}"#, ErrorKind::CharacterInvalid, 1),
];

#[test]
fn one_imperfect_leaf_does_not_cost_the_value() {
    let plan = plan(LEAVES);
    let root = plan.root("T").unwrap();
    for (text, shown, kind, at) in CASES {
        let input = hex(text);
        let (mut tape, mut decoder) = (Tape::new(), Decoder::new());
        let length = decoder.decode(&plan, root, &input, &mut tape, &Options::default()).unwrap();
        assert_eq!((length, decoder.marked()), (input.len(), 1), "{text}");
        let view = tape.view(&input);
        assert_eq!((view.marks(), view.marked(0), view.marked(1)), (1, None, Some(*kind)), "{text}");
        assert_eq!(json(&plan, &tape, &input), *shown, "{text}");
        // BER writes what came, the others nothing.
        let mut out = Vec::new();
        encode(&plan, Rules::Ber, view, &mut out).unwrap();
        let mut again = Tape::new();
        decode(&plan, root, &out, &mut again, &Options::default()).unwrap();
        assert_eq!(again.view(&out).marked(1), Some(*kind), "{text}");
        if input[0] & 0x20 == 0 {
            assert_eq!(to_hex(&out), to_hex(&input), "{text}");
        }
        for rules in [Rules::Der, Rules::Cer] {
            let error = encode(&plan, rules, view, &mut out).unwrap_err();
            assert_eq!((error.kind(), rules), (*kind, rules), "{text}");
        }
        let strict = [
            with(Rules::Ber, |options| options.strict_values = true),
            with(Rules::Ber, |options| options.check_constraints = true),
            Options::strict(Rules::Ber),
        ];
        for options in strict {
            let error = decode(&plan, root, &input, &mut Discard, &options).unwrap_err();
            assert_eq!((error.kind(), error.offset()), (*kind, *at), "{text}");
        }
        for rules in [Rules::Der, Rules::Cer] {
            let error = decode(&plan, root, &input, &mut Discard, &with(rules, |_| ())).unwrap_err();
            assert!(error.kind() == *kind || input[0] & 0x20 != 0, "{text} {rules:?} {error}");
        }
    }
}

#[test]
fn what_is_of_its_type_has_no_mark() {
    let plan = plan(LEAVES);
    let root = plan.root("T").unwrap();
    for text in
        ["80 02 61 2E", "84 02 C3 A9", "8B 02 FF 1B", "85 02 00 41", "87 0B 39 39 31 32 33 31 32 33 35 39 5A"]
    {
        let (input, mut decoder, mut tape) = (hex(text), Decoder::new(), Tape::new());
        decoder.decode(&plan, root, &input, &mut tape, &Options::default()).unwrap();
        assert_eq!((decoder.marked(), tape.view(&input).marks()), (0, 0), "{text}");
    }
}

#[test]
fn faults_of_structure_stay_errors() {
    let plan = plan(
        "T ::= SEQUENCE { i INTEGER OPTIONAL, b BOOLEAN OPTIONAL, s IA5String OPTIONAL, r REAL OPTIONAL }",
    );
    let root = plan.root("T").unwrap();
    for (text, kind) in [
        ("30 02 80 00", ErrorKind::IntegerEmpty),
        ("30 04 81 02 00 00", ErrorKind::BooleanLength),
        ("30 03 82 02 41", ErrorKind::BeyondParent),
        ("30 05 A2 03 02 01 41", ErrorKind::SegmentTag),
        ("30 03 83 01 C0", ErrorKind::RealEncoding),
    ] {
        let error = decode(&plan, root, &hex(text), &mut Discard, &Options::default()).unwrap_err();
        assert_eq!(error.kind(), kind, "{text}");
    }
}

/// What a sink is told of marked values.
#[derive(Default)]
struct Told(Vec<String>);

impl Sink for Told {
    fn leaf(&mut self, _: FieldId, _: NodeId, _: Leaf<'_>) {}
    fn marked(&mut self, _: FieldId, _: NodeId, leaf: Leaf<'_>, marked: &Marked) {
        let Marked { error, offset } = marked;
        let octets = to_hex(leaf.contents().unwrap_or_default());
        self.0.push(format!("{} {} @{offset} {octets}", error.path(), error.kind().name()));
    }
    fn open(&mut self, _: FieldId, _: NodeId) {}
    fn close(&mut self, _: FieldId, _: NodeId) {}
    fn absent(&mut self, _: FieldId, _: NodeId, _: u32) {}
    fn unknown(&mut self, _: u32, _: Leaf<'_>) {}
}

fn told(plan: &Plan, input: &[u8]) -> Result<Vec<String>, Error> {
    let mut told = Told::default();
    let options = with(Rules::Ber, |options| options.base_offset = 100);
    decode(plan, plan.root("T").unwrap(), input, &mut told, &options)?;
    Ok(told.0)
}

#[test]
fn marks_have_paths_and_offsets() {
    let plan = plan(
        "T ::= SEQUENCE {
             l [0] SEQUENCE OF N, c [1] OCTET STRING (CONTAINING N) OPTIONAL, e [5] EXPLICIT IA5String OPTIONAL }
         N ::= SEQUENCE { n NumericString, m NumericString OPTIONAL }",
    );
    for (text, expected) in [
        (
            "30 12 A0 10 30 03 80 01 31 30 03 80 01 23 30 04 80 02 31 3A",
            &["T.l[1].n character-invalid @113 23", "T.l[2].n character-invalid @118 313A"][..],
        ),
        // Content of a string, whole and in segments.
        ("30 0B A0 00 81 07 30 05 80 00 81 01 23", &["T.c.m character-invalid @112 23"]),
        ("30 0F A0 00 A1 0B 04 03 30 05 80 04 04 00 81 01 23", &["T.c.m character-invalid @106 23"]),
        ("30 07 A0 00 A5 03 16 01 80", &["T.e character-invalid @108 80"]),
    ] {
        assert_eq!(told(&plan, &hex(text)).unwrap(), expected, "{text}");
    }
    assert!(told(&plan, &hex("30 07 A0 05 30 03 80 02 31")).is_err());
}

#[test]
fn a_tape_says_its_marks_again() {
    let plan = plan("T ::= SEQUENCE OF IA5String");
    let root = plan.root("T").unwrap();
    let input = hex("30 0C 16 01 80 16 01 41 16 01 42 16 01 FF");
    let mut tape = Tape::new();
    decode(&plan, root, &input, &mut tape, &Options::default()).unwrap();
    let (mut copy, mut part) = (Tape::new(), Tape::new());
    tape.view(&input).replay(&mut copy);
    tape.view(&input).replay_part(4, &mut part);
    let marks = |tape: &Tape| {
        let view = tape.view(&input);
        (0..view.len()).filter(|at| view.marked(*at).is_some()).collect::<Vec<_>>()
    };
    assert_eq!((marks(&tape), marks(&copy), marks(&part)), (vec![1, 4], vec![1, 4], vec![0]));
    // A value made without the input is written too.
    let mut made = Tape::new();
    let text = plan.shape.fields[0].node;
    made.open(FieldId::ROOT, root);
    let error = Error::new(ErrorKind::CharacterInvalid, 0);
    made.marked(FieldId(0), text, Leaf::Made(b"\xFF"), &Marked { error, offset: 0 });
    made.close(FieldId::ROOT, root);
    let mut out = Vec::new();
    Encoder::new().encode(&plan, Rules::Ber, made.view(&[]), &mut out).unwrap();
    assert_eq!(to_hex(&out), "30031601FF");
    made.clear();
    assert_eq!(made.view(&[]).marks(), 0);
}
