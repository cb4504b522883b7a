//! OER where it goes wrong: errors with offset and path, truncations, flipped bits, later versions, limits.

use crate::common::{hex, plans_of};
use tercet_dynamic::{
    Decoder, Encoder, Error, ErrorKind, FieldId, Leaf, NodeId, Options, Plan, Rules, Sink, Tape, Unknown,
};

const DER: usize = 0;
const OER: usize = 1;
const COER: usize = 2;
const ALL: [Rules; 4] = [Rules::Der, Rules::Oer, Rules::Coer, Rules::Uper];

/// Plans for [`ALL`] over one shape.
fn plans(text: &str) -> Vec<Plan> {
    plans_of(&ALL, text)
}

fn body(text: &str) -> Vec<Plan> {
    plans(&format!("M DEFINITIONS AUTOMATIC TAGS ::= BEGIN {text} END"))
}

fn to_hex(octets: &[u8]) -> String {
    octets.iter().map(|octet| format!("{octet:02x}")).collect()
}

fn options(rules: usize) -> Options {
    let mut options = Options::default();
    options.rules = ALL[rules];
    options
}

fn transcode(from: usize, to: usize, plans: &[Plan], root: &str, input: &[u8]) -> Result<Vec<u8>, Error> {
    transcode_with(&options(from), (from, to), plans, root, input)
}

fn transcode_with(
    options: &Options,
    (from, to): (usize, usize),
    plans: &[Plan],
    root: &str,
    input: &[u8],
) -> Result<Vec<u8>, Error> {
    let mut tape = Tape::new();
    let node = plans[from].root(root).unwrap();
    let taken = Decoder::new().decode(&plans[from], node, input, &mut tape, options)?;
    assert_eq!(taken, input.len(), "{root} {:?} {}", ALL[from], to_hex(input));
    let mut out = Vec::new();
    Encoder::new().encode(&plans[to], ALL[to], tape.view(input), &mut out)?;
    Ok(out)
}

fn error(plans: &[Plan], rules: usize, root: &str, input: &str) -> Error {
    transcode(rules, rules, plans, root, &hex(input)).expect_err(input)
}

const CALL: &str = "
    Call ::= SEQUENCE { parties SEQUENCE OF Party, answered BOOLEAN OPTIONAL, ..., cause INTEGER, [[ note UTF8String ]] }
    Party ::= CHOICE { number NumericString (SIZE (3)), cell OCTET STRING (SIZE (2)), ..., name UTF8String }";

/// Two parties, the second an addition; answered; both additions.
const VALUE: &str = "c0 0102 80 343731 82 03 02 6869 ff 02 06 c0 02 01 05 03 02 6f6b";

#[test]
fn offsets_and_paths() {
    let plans = body(CALL);
    assert_eq!(to_hex(&transcode(OER, OER, &plans, "Call", &hex(VALUE)).unwrap()), to_hex(&hex(VALUE)));
    for (input, kind, offset, path) in [
        ("c0", ErrorKind::Incomplete, 1, "Call.parties"),
        ("40 0101 80 34", ErrorKind::Incomplete, 5, "Call.parties[0].number"),
        ("40 0102 80343731 80 3437", ErrorKind::Incomplete, 10, "Call.parties[1].number"),
        ("40 0101 80 347831", ErrorKind::CharacterInvalid, 5, "Call.parties[0].number"),
        ("40 0101 82 04 02 6869", ErrorKind::Incomplete, 8, "Call.parties[0].name"),
        ("40 0101 82 02 02 6869", ErrorKind::BeyondParent, 6, "Call.parties[0].name"),
        ("40 0101 82 04 02 686900", ErrorKind::TrailingData, 8, "Call.parties[0].name"),
        ("80 0100 02 06 80 02 01", ErrorKind::Incomplete, 8, "Call.cause"),
        ("80 0100 02 06 80 02 02 05", ErrorKind::BeyondParent, 8, "Call.cause"),
        ("80 0100 02 06 40 03 02 6fff", ErrorKind::Utf8Invalid, 9, "Call.note"),
        ("80 0100 02 09 40", ErrorKind::BitStringUnused, 4, "Call"),
        ("40 0101 80343731", ErrorKind::Incomplete, 7, "Call.answered"),
    ] {
        let error = error(&plans, OER, "Call", input);
        assert_eq!((error.kind(), error.offset(), error.path()), (kind, offset, path), "{input}: {error}");
        assert_eq!(error.bit(), None);
    }
    let missing = error(&plans, OER, "Call", "40 0101 80 34");
    assert_eq!(missing.missing(), Some(2));
    let mut later = options(OER);
    later.base_offset = 1000;
    let late = transcode_with(&later, (OER, OER), &plans, "Call", &hex("40 0101 83")).unwrap_err();
    assert_eq!((late.offset(), late.path()), (1004, "Call.parties[0]"));
}

/// X.696 31: each place says what is not canonical.
#[test]
fn canonical() {
    let plans = body(
        "D ::= SEQUENCE { a SEQUENCE OF INTEGER DEFAULT {1}, b BOOLEAN, ..., c INTEGER (0..255) DEFAULT 3 }
         N ::= SEQUENCE { s SET OF SET OF OCTET STRING } G ::= SEQUENCE { ..., [[ a NULL OPTIONAL ]] }
         E ::= SEQUENCE { a BOOLEAN, ..., b BOOLEAN, c BOOLEAN OPTIONAL }",
    );
    assert_eq!(to_hex(&transcode(OER, OER, &plans, "D", &hex("40 0101 0101 ff")).unwrap()), "4001010101ff");
    assert_eq!(to_hex(&transcode(OER, COER, &plans, "D", &hex("40 0101 0101 ff")).unwrap()), "00ff");
    for (root, input, offset, path, detail) in [
        ("D", "40 0101 0101 ff", 1, "D.a", "a component that equals its DEFAULT is present (X.696 31.9)"),
        (
            "D",
            "80 ff 02 07 80 01 03",
            6,
            "D.c",
            "a component that equals its DEFAULT is present (X.696 31.9)",
        ),
        ("D", "00 01", 1, "D.b", "a TRUE is not FF (X.696 31.3)"),
        ("D", "40 8101 00 ff", 1, "D.a", "a quantity has not the fewest octets (X.696 31.4)"),
        ("D", "20 ff", 0, "D", "a bit that only fills up is not zero (X.696 13.2, 16.2.4)"),
        ("N", "0101 0102 01ff 0100", 6, "N.s[0][1]", "the elements of a SET OF do not ascend (X.696 31.8)"),
        ("G", "80 02 07 80 01 00", 5, "G", "a version bracket without components is present (X.696 16.5)"),
    ] {
        let error = error(&plans, COER, root, input);
        assert_eq!(error.kind(), ErrorKind::NotCanonical, "{input}");
        assert_eq!((error.offset(), error.path(), error.detail()), (offset, path, detail), "{input}");
        assert!(transcode(OER, OER, &plans, root, &hex(input)).is_ok(), "{input}");
    }
    let nested = hex("0102 0102 01ff 0100 0100");
    assert_eq!(
        to_hex(&transcode(OER, COER, &plans, "N", &nested).unwrap()),
        "0102010001020100 01ff".replace(' ', "")
    );
    assert!(transcode(COER, COER, &plans, "D", &hex("80 ff 02 07 80 01 04")).is_ok());
    // A sender whose type has fewer additions is canonical all the same, and is written again as it was.
    let earlier = hex("80 ff 02 07 80 01 ff");
    for rules in [OER, COER] {
        assert_eq!(transcode(rules, rules, &plans, "E", &earlier).unwrap(), earlier, "{:?}", ALL[rules]);
    }
}

/// Values of a later version are kept and written again as they were.
#[test]
fn later_versions() {
    let old = body(
        "S ::= SEQUENCE { a BOOLEAN, ..., b BOOLEAN } C ::= CHOICE { a NULL, ... } E ::= ENUMERATED { a, ... }
         U ::= CHOICE { a C, b [7] NULL }",
    );
    let new = body(
        "S ::= SEQUENCE { a BOOLEAN, ..., b BOOLEAN, c OCTET STRING, [[ d NULL, e INTEGER OPTIONAL ]], f NULL OPTIONAL }
         C ::= CHOICE { a NULL, ..., b BOOLEAN, c OCTET STRING } E ::= ENUMERATED { a, ..., b, c }",
    );
    for rules in [OER, COER] {
        for (root, der) in [
            ("S", "300f8001ff8101ff820201028300840107"),
            ("S", "30068001ff8101ff"),
            ("S", "300a8001ff8101ff82020102"),
            ("S", "30088001ff8101ff8500"),
            ("C", "8101ff"),
            ("C", "82020102"),
            ("E", "0a0102"),
        ] {
            let encoded = transcode(DER, rules, &new, root, &hex(der)).unwrap();
            let again = transcode(rules, rules, &old, root, &encoded).unwrap();
            assert_eq!(to_hex(&again), to_hex(&encoded), "{root} {:?} {der}", ALL[rules]);
            let mut closed = options(rules);
            closed.unknown = Unknown::Error;
            let refused = transcode_with(&closed, (rules, rules), &old, root, &encoded);
            assert_eq!(
                refused.is_err(),
                !matches!((root, der), ("E", _) | ("S", "30068001ff8101ff")),
                "{root} {der}"
            );
        }
    }
    // Nobody knows what is in them: other rules cannot have them.
    let unknown = hex("80 ff 02 06 40 01 00");
    let error = transcode(OER, DER, &old, "S", &unknown).unwrap_err();
    assert_eq!((error.kind(), error.path()), (ErrorKind::Unsupported, "S"));
    let error = transcode(OER, DER, &old, "C", &hex("81 01 ff")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    // In an untagged CHOICE inside, and a tag that nobody has where there are no later versions.
    let untagged = plans(
        "M DEFINITIONS IMPLICIT TAGS ::= BEGIN U ::= CHOICE { a C, b [7] NULL } C ::= CHOICE { x [1] NULL, ... }
         V ::= CHOICE { x [1] NULL } END",
    );
    assert_eq!(to_hex(&transcode(OER, OER, &untagged, "U", &hex("85 02 0102")).unwrap()), "85020102");
    assert_eq!(error_kind(&untagged, "V", "85 02 0102"), ErrorKind::UnknownAlternative);
}

/// DURATION and other times as numbers (X.696 clause 29), and numbers at the ends of their octets.
#[test]
fn times_and_numbers_come_back() {
    let plans = body(
        "P ::= DURATION D ::= DATE B ::= DATE-TIME U ::= INTEGER (0..18446744073709551615)
         S ::= INTEGER (-9223372036854775808..9223372036854775807)",
    );
    let time = |tag: u8, text: &str| format!("1f{tag:02x}{:02x}{}", text.len(), to_hex(text.as_bytes()));
    for (root, der, oer) in [
        ("P", time(34, "3W"), "200103"),
        ("P", time(34, "T64M"), "040140"),
        ("P", time(34, "5.0Y"), "81010501010100"),
        ("P", time(34, "1Y2M3DT4H5M6S"), "de010101020103010401050106"),
        ("D", time(31, "20100615"), "0207da060f"),
        ("B", time(33, "20100615063000"), "0207da060f061e00"),
        ("U", "020109".to_owned(), "0000000000000009"),
        ("U", "02087fffffffffffffff".to_owned(), "7fffffffffffffff"),
        ("U", "0209008000000000000000".to_owned(), "8000000000000000"),
        ("U", "020900ffffffffffffffff".to_owned(), "ffffffffffffffff"),
        ("S", "0201ff".to_owned(), "ffffffffffffffff"),
        ("S", "02088000000000000000".to_owned(), "8000000000000000"),
        ("S", "02020080".to_owned(), "0000000000000080"),
    ] {
        for rules in [OER, COER] {
            let encoded = transcode(DER, rules, &plans, root, &hex(&der)).unwrap();
            assert_eq!(to_hex(&encoded), oer, "{root} {der}");
            assert_eq!(to_hex(&transcode(rules, DER, &plans, root, &encoded).unwrap()), der, "{root} {oer}");
        }
    }
}

/// DEFAULTs of components and of additions are told when that is asked for, in a value of an older version too.
#[test]
fn defaults_are_told_on_request() {
    struct Told<'p>(&'p Plan, Vec<String>);
    impl Sink for Told<'_> {
        fn leaf(&mut self, _: FieldId, _: NodeId, _: Leaf<'_>) {}
        fn open(&mut self, _: FieldId, _: NodeId) {}
        fn close(&mut self, _: FieldId, _: NodeId) {}
        fn unknown(&mut self, _: u32, _: Leaf<'_>) {}
        fn absent(&mut self, field: FieldId, _: NodeId, constant: u32) {
            let shape = &self.0.shape;
            self.1.push(format!(
                "{}={:?}",
                shape.name(shape.field(field).name),
                shape.defaults[constant as usize]
            ));
        }
    }
    let plans = body(
        "T ::= SEQUENCE { a BOOLEAN DEFAULT TRUE, ..., b INTEGER DEFAULT 5, c NULL OPTIONAL, d INTEGER DEFAULT 6 }",
    );
    for rules in 0..ALL.len() {
        for (der, told) in
            [("3000", &["a=Boolean(true)", "b=Int(5)", "d=Int(6)"][..]), ("3006800100810107", &["d=Int(6)"])]
        {
            let input = transcode(DER, rules, &plans, "T", &hex(der)).unwrap();
            for fill in [true, false] {
                let mut options = options(rules);
                options.fill_defaults = fill;
                let mut sink = Told(&plans[rules], Vec::new());
                Decoder::new()
                    .decode(&plans[rules], plans[rules].root("T").unwrap(), &input, &mut sink, &options)
                    .unwrap();
                assert_eq!(sink.1, if fill { told } else { &[] }, "{:?} {der}", ALL[rules]);
            }
        }
    }
}

fn error_kind(plans: &[Plan], root: &str, input: &str) -> ErrorKind {
    error(plans, OER, root, input).kind()
}

/// What an encoder refuses, with the path.
#[test]
fn values_that_do_not_fit() {
    let plans = body(
        "I ::= SEQUENCE { i INTEGER (0..255) } J ::= SEQUENCE OF INTEGER (-1..1) O ::= SEQUENCE { o OCTET STRING (SIZE (2)) }
         K ::= INTEGER (0..MAX) B ::= BIT STRING (SIZE (4)) G ::= INTEGER (0..18446744073709551615)
         M ::= SEQUENCE { a BOOLEAN, b BOOLEAN }",
    );
    for (root, der, kind, path) in [
        ("I", "300480020100", ErrorKind::ConstraintViolated, "I.i"),
        ("J", "3007020100 02020080", ErrorKind::ConstraintViolated, "J[1]"),
        ("O", "30038001aa", ErrorKind::ConstraintViolated, "O.o"),
        ("K", "0201ff", ErrorKind::ConstraintViolated, "K"),
        ("B", "030205e0", ErrorKind::ConstraintViolated, "B"),
        ("G", "0209010000000000000000", ErrorKind::ConstraintViolated, "G"),
    ] {
        let error = transcode(DER, OER, &plans, root, &hex(der)).unwrap_err();
        assert_eq!((error.kind(), error.path()), (kind, path), "{root} {der}");
    }
    let mut tape = Tape::new();
    let (node, plan) = (plans[OER].root("M").unwrap(), &plans[OER]);
    let (field, part) = plan.shape.fields_of(node).next().unwrap();
    use tercet_dynamic::{FieldId, Leaf, Sink};
    tape.open(FieldId::ROOT, node);
    tape.leaf(field, part.node, Leaf::Int(1));
    tape.close(FieldId::ROOT, node);
    let error = Encoder::new().encode(plan, Rules::Oer, tape.view(&[]), &mut Vec::new()).unwrap_err();
    assert_eq!((error.kind(), error.path(), error.detail()), (ErrorKind::MissingComponent, "M.b", "`b`"));
}

/// Tables and CONTAINING, through DER and back.
#[test]
fn contents() {
    let plans = body(
        "C ::= CLASS { &id OBJECT IDENTIFIER UNIQUE, &Type }
         S C ::= { { &id {1 2}, &Type SEQUENCE OF BOOLEAN } | { &id {1 3}, &Type INTEGER (0..255) }, ... }
         T ::= SEQUENCE { id C.&id ({S}), value C.&Type ({S}{@id}) }
         O ::= SEQUENCE { o OCTET STRING (CONTAINING T), b BIT STRING (CONTAINING BOOLEAN), d BOOLEAN }
         F ::= OCTET STRING (CONTAINING INTEGER (0..65535)) (SIZE (2))",
    );
    for (root, der, oer) in [
        ("T", "300a 80012a a1053003 0101ff", "012a 03 0101ff"),
        ("T", "300a 80012b a105 0203 00ffff", ""),
        ("T", "3008 80012b a103 020105", "012b 01 05"),
        ("O", "3017 800c 300a80012aa10530030101ff 8104000101ff 8201ff", "06 012a 030101ff 02 00ff ff"),
        ("F", "0404 02020102", "0102"),
    ] {
        if oer.is_empty() {
            assert!(transcode(DER, OER, &plans, root, &hex(der)).is_err());
            continue;
        }
        let made = transcode(DER, OER, &plans, root, &hex(der)).unwrap_or_else(|e| panic!("{root}: {e}"));
        assert_eq!(to_hex(&made), to_hex(&hex(oer)), "{root}");
        assert_eq!(to_hex(&transcode(OER, DER, &plans, root, &made).unwrap()), to_hex(&hex(der)), "{root}");
    }
    // The keys of a value come back behind one of the same type inside of it; a key may be a CHOICE in a CHOICE.
    let nested = body(
        "C ::= CLASS { &id INTEGER (0..255) UNIQUE, &Type } S C ::= { { &id 1, &Type BOOLEAN } | { &id 2, &Type NULL } }
         R ::= SEQUENCE { id C.&id ({S}), r R OPTIONAL, value C.&Type ({S}{@id}) }
         K ::= CHOICE { a CHOICE { x INTEGER, y INTEGER } }
         D ::= CLASS { &key K UNIQUE, &Type } E D ::= { { &key a:x:1, &Type BOOLEAN } | { &key a:y:1, &Type NULL } }
         Q ::= SEQUENCE { key D.&key ({E}), value D.&Type ({E}{@key}) }",
    );
    for (root, oer) in [("R", "80 01 00 02 00 01 ff"), ("Q", "80 80 01 01 01 ff"), ("Q", "80 81 01 01 00")] {
        let made = transcode(OER, DER, &nested, root, &hex(oer)).unwrap_or_else(|e| panic!("{root}: {e}"));
        let again = transcode(DER, OER, &nested, root, &made).unwrap_or_else(|e| panic!("{root}: {e}"));
        assert_eq!(to_hex(&again), to_hex(&hex(oer)), "{root} by way of {}", to_hex(&made));
    }
    // A key that the table does not have, and content that does not decode, stay octets.
    let unknown = hex("012c 02 aabb");
    assert_eq!(transcode(OER, OER, &plans, "T", &unknown).unwrap(), unknown);
    let other = hex("03 aabbcc 03 04 aabb f0");
    assert_eq!(to_hex(&transcode(OER, OER, &plans, "O", &other).unwrap()), "03aabbcc0304aab0ff");
}

/// Every prefix and every flipped bit is a value or an error inside of the input, on a small stack.
#[test]
fn damage() {
    let work = || {
        let plans = body(CALL);
        let input = hex(VALUE);
        for rules in [OER, COER] {
            for length in 0..input.len() {
                probe(&plans, rules, &input[..length], true);
            }
            for bit in 0..input.len() * 8 {
                let mut input = input.clone();
                input[bit / 8] ^= 0x80 >> (bit % 8);
                probe(&plans, rules, &input, false);
                // A second one, so that lengths and what they tell change together.
                for other in 0..input.len() * 8 {
                    let mut input = input.clone();
                    input[other / 8] ^= 0x80 >> (other % 8);
                    probe(&plans, rules, &input, false);
                }
            }
        }
    };
    std::thread::Builder::new().stack_size(256 << 10).spawn(work).unwrap().join().unwrap();
}

fn probe(plans: &[Plan], rules: usize, input: &[u8], short: bool) {
    let mut tape = Tape::new();
    let node = plans[rules].root("Call").unwrap();
    match Decoder::new().decode(&plans[rules], node, input, &mut tape, &options(rules)) {
        Ok(taken) => {
            assert!(taken <= input.len());
            let mut out = Vec::new();
            Encoder::new().encode(&plans[rules], ALL[rules], tape.view(input), &mut out).unwrap();
            // What is canonical is written again as it was.
            assert!(rules == OER || out.len() >= taken || out == input[..taken], "{}", to_hex(input));
        }
        Err(error) => {
            assert!(error.offset() <= input.len() as u64, "{error}");
            assert!(!error.path().is_empty(), "{error}");
            assert!(!short || error.missing().is_some(), "{error}");
        }
    }
}

#[test]
fn limits() {
    let plans = body(
        "R ::= SEQUENCE { r R OPTIONAL } Z ::= SEQUENCE OF NULL Q ::= SEQUENCE OF SEQUENCE { a NULL, b NULL }
         T ::= SEQUENCE OF INTEGER (0..255) O ::= OCTET STRING",
    );
    let deep = vec![0x80; 10_000];
    assert_eq!(transcode(OER, OER, &plans, "R", &deep).unwrap_err().kind(), ErrorKind::DepthLimit);
    for root in ["Z", "Q"] {
        // Elements that cost nothing are counted; the number announced is not believed.
        for many in ["04 7fffffff", "03 020000"] {
            assert_eq!(error_kind(&plans, root, many), ErrorKind::LimitExceeded);
        }
        assert!(transcode(OER, OER, &plans, root, &hex("02 4000")).is_ok());
    }
    // What no address reaches is refused before it is looked for.
    let far = if usize::BITS < 64 { ErrorKind::LimitExceeded } else { ErrorKind::Incomplete };
    for (input, kind) in [
        ("08 7fffffffffffffff 07", far),
        ("09 010000000000000000", ErrorKind::LimitExceeded),
        ("ff 0000", ErrorKind::Incomplete),
    ] {
        assert_eq!(error_kind(&plans, "T", input), kind, "{input}");
    }
    let far = if usize::BITS < 64 { ErrorKind::LengthTooLarge } else { ErrorKind::Incomplete };
    assert_eq!(error_kind(&plans, "O", "88 7fffffffffffffff"), far);
    let many: Vec<u8> = [&[3, 1, 0x11, 0x70][..], &vec![7; 70_000]].concat();
    assert!(transcode(OER, OER, &plans, "T", &many).unwrap() == many);
    let mut limited = options(OER);
    limited.limits.elements = 1000;
    let refused = transcode_with(&limited, (OER, OER), &plans, "T", &many).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::LimitExceeded);
    limited.limits.size = 2;
    let refused = transcode_with(&limited, (OER, OER), &plans, "O", &hex("03 010203")).unwrap_err();
    assert_eq!((refused.kind(), refused.offset()), (ErrorKind::LengthLimit, 0));
}

/// A version bracket has no name: in a type that contains itself, that of the component around it is not repeated.
#[test]
fn version_brackets_have_no_step_in_a_path() {
    let plans = body("T ::= SEQUENCE { a BOOLEAN, ..., [[ b BOOLEAN ]], d T OPTIONAL }");
    let error = transcode(OER, DER, &plans, "T", &hex("80FF 020640 08 80FF 020680 02 FF00")).unwrap_err();
    assert_eq!((error.kind(), error.offset(), error.path()), (ErrorKind::TrailingData, 13, "T.d"));
}
