//! Places of parts of encodings: each bit of a value is one part.

use crate::common::{hex, plan, plan_for, to_hex};
use tercet_dynamic::trace::Trace;
use tercet_dynamic::{Decoder, Encoder, Options, Plan, Rules, Tape, json};

/// The parts of an input: `offset+length part path` and the value of contents; with the error after them.
fn parts(plan: &Plan, input: &[u8], options: &Options) -> Vec<String> {
    let (mut parts, mut end) = (Vec::new(), options.base_offset * 8);
    let root = plan.root("T").unwrap();
    let mut padded = vec![0; options.base_offset as usize];
    padded.extend_from_slice(input);
    let mut trace = Trace::new(&plan.shape, &padded, |step| {
        assert_eq!(step.place.at, end, "after {parts:?}");
        end = step.place.end();
        let value = step.value.map_or_else(String::new, |value| format!("={value}"));
        let meaning = if step.meaning.is_empty() { "" } else { " " };
        let unit = if matches!(options.rules.basic(), Rules::Aper | Rules::Uper) { 1 } else { 8 };
        let (at, octets) = (step.place.at / unit, step.place.bits / unit);
        parts.push(format!(
            "{at}+{octets} {}{meaning}{} {}{value}",
            step.place.part.name(),
            step.meaning,
            step.path
        ));
    });
    let read = Decoder::new().decode(plan, root, input, &mut trace, options);
    trace.finish();
    match read {
        Ok(length) => assert_eq!(end, 8 * (options.base_offset + length as u64), "{parts:?}"),
        Err(error) => parts.push(error.to_string()),
    }
    parts
}

fn check(body: &str, input: &str, options: &Options, expected: &[&str]) {
    assert_eq!(parts(&plan(body), &hex(input), options), expected);
}

#[test]
fn headers_contents_and_ends_have_places() {
    check(
        "T ::= SEQUENCE { a INTEGER, l SEQUENCE OF BOOLEAN }",
        "30 80 80 01 05 A1 06 01 01 FF 01 01 00 00 00",
        &Options::default(),
        &[
            "0+1 identifier [UNIVERSAL 16] T",
            "1+1 length indefinite T",
            "2+1 identifier [0] T.a",
            "3+1 length 1 T.a",
            "4+1 contents T.a=5",
            "5+1 identifier [1] T.l",
            "6+1 length 6 T.l",
            "7+1 identifier [UNIVERSAL 1] T.l[0]",
            "8+1 length 1 T.l[0]",
            "9+1 contents T.l[0]=true",
            "10+1 identifier [UNIVERSAL 1] T.l[1]",
            "11+1 length 1 T.l[1]",
            "12+1 contents T.l[1]=false",
            "13+2 end-of-contents T",
        ],
    );
}

#[test]
fn offsets_are_absolute() {
    let mut options = Options::default();
    options.base_offset = 100;
    check(
        "T ::= CHOICE { a [1] EXPLICIT INTEGER }",
        "A1 80 02 01 05 00 00",
        &options,
        &[
            "100+1 identifier [1] T.a",
            "101+1 length indefinite T.a",
            "102+1 identifier [UNIVERSAL 2] T.a",
            "103+1 length 1 T.a",
            "104+1 contents T.a=5",
            "105+2 end-of-contents T.a",
        ],
    );
}

#[test]
fn strings_in_segments_have_several_places() {
    check(
        "T ::= OCTET STRING",
        "24 80 04 02 01 02 24 05 04 03 03 04 05 00 00",
        &Options::default(),
        &[
            "0+1 identifier [UNIVERSAL 4] T",
            "1+1 length indefinite T",
            "2+1 identifier [UNIVERSAL 4] T",
            "3+1 length 2 T",
            "4+2 contents T",
            "6+1 identifier [UNIVERSAL 4] T",
            "7+1 length 5 T",
            "8+1 identifier [UNIVERSAL 4] T",
            "9+1 length 3 T",
            "10+3 contents T",
            "13+2 end-of-contents T=\"0102030405\"",
        ],
    );
}

#[test]
fn content_and_unknown_elements_have_places() {
    check(
        "T ::= SEQUENCE { s OCTET STRING (CONTAINING INTEGER), ... }",
        "30 80 80 03 02 01 05 BF 87 68 80 04 01 07 00 00 00 00",
        &Options::default(),
        &[
            "0+1 identifier [UNIVERSAL 16] T",
            "1+1 length indefinite T",
            "2+1 identifier [0] T.s",
            "3+1 length 3 T.s",
            "4+0 contents T.s",
            "4+1 identifier [UNIVERSAL 2] T.s",
            "5+1 length 1 T.s",
            "6+1 contents T.s=5",
            "7+3 identifier [1000] T",
            "10+1 length indefinite T",
            "11+3 contents T",
            "14+2 end-of-contents T",
            "16+2 end-of-contents T",
        ],
    );
}

#[test]
fn parts_before_a_fault_have_places() {
    check(
        "T ::= SEQUENCE { a INTEGER, b BOOLEAN }",
        "30 07 80 01 05 81 02 00 00",
        &Options::default(),
        &[
            "0+1 identifier [UNIVERSAL 16] T",
            "1+1 length 7 T",
            "2+1 identifier [0] T.a",
            "3+1 length 1 T.a",
            "4+1 contents T.a=5",
            "T.b: a BOOLEAN has other than one octet (X.690 8.2.1) (at offset 0x7)",
        ],
    );
    let mut options = Options::default();
    options.rules = Rules::Der;
    let found = parts(&plan("T ::= BOOLEAN"), &hex("01 01 01"), &options);
    assert_eq!(found, ["T: a TRUE is not FF (X.690 11.1) (at offset 0x2)"]);
}

/// The parts of a value, given in JSON, in other rules; offsets and lengths are those of bits for PER.
fn check_value(rules: Rules, body: &str, json: &str, expected: &[&str]) {
    let plan = plan_for(rules, body);
    let (mut tape, mut octets) = (Tape::new(), Vec::new());
    let root = plan.root("T").unwrap();
    json::read(&plan.shape, root, json.as_bytes(), &mut tape, &json::Options::default()).unwrap();
    Encoder::new().encode(&plan, rules, tape.view(&[]), &mut octets).unwrap();
    let mut options = Options::default();
    options.rules = rules;
    let found = parts(&plan, &octets, &options);
    assert_eq!(found, expected, "{rules} {}", to_hex(&octets));
}

/// Digits of bits, filled up to whole octets.
fn bits(text: &str) -> Vec<u8> {
    let digits: Vec<u32> = text.chars().filter_map(|digit| digit.to_digit(2)).collect();
    let octet = |bits: &[u32]| bits.iter().fold(0, |octet, bit| octet << 1 | *bit) << (8 - bits.len());
    digits.chunks(8).map(|bits| octet(bits) as u8).collect()
}

/// Components of every form of a number, a string, a list and a choice, additions and a version bracket.
const FORMS: &str = "T ::= SEQUENCE {
    small INTEGER (0..7), large INTEGER (0..70000, ...), any INTEGER OPTIONAL, null NULL,
    item ENUMERATED { one, two, ..., three } DEFAULT one, text PrintableString (SIZE (1..4)),
    list SEQUENCE (SIZE (0..3, ...)) OF BOOLEAN, choice CHOICE { a BOOLEAN, b INTEGER (5), ..., c BOOLEAN }, ...,
    added BOOLEAN, [[ first BOOLEAN OPTIONAL, second INTEGER (0..3) ]], ..., last OCTET STRING }";

const VALUE: &str = r#"{ "small": 5, "large": 70000, "any": -300, "null": null, "item": "three", "text": "Ab",
    "list": [true, false, true, true], "choice": { "c": true }, "added": true, "second": 2, "last": "0102" }"#;

#[test]
fn parts_of_unaligned_per_are_bits() {
    check_value(
        Rules::Uper,
        FORMS,
        VALUE,
        &[
            "0+1 extension-bit T",
            "1+2 preamble T",
            "3+3 contents T.small=5",
            "6+1 extension-bit T.large",
            "7+17 contents T.large=70000",
            "24+8 length 2 T.any",
            "32+16 contents T.any=-300",
            "48+0 contents T.null=null",
            "48+1 extension-bit T.item",
            "49+7 contents T.item=\"three\"",
            "56+2 length 2 T.text",
            "58+14 contents T.text=\"Ab\"",
            "72+1 extension-bit T.list",
            "73+8 length 4 T.list",
            "81+1 contents T.list[0]=true",
            "82+1 contents T.list[1]=false",
            "83+1 contents T.list[2]=true",
            "84+1 contents T.list[3]=true",
            "85+1 extension-bit T.choice",
            "86+7 index 0 T.choice",
            "93+8 length 1 T.choice.c",
            "101+1 contents T.choice.c=true",
            "102+7 end-padding T.choice.c",
            "109+8 length 2 T.last",
            "117+16 contents T.last=\"0102\"",
            "133+7 length 2 T",
            "140+2 bitmap T",
            "142+8 length 1 T.added",
            "150+1 contents T.added=true",
            "151+7 end-padding T.added",
            "158+8 length 1 T",
            "166+1 preamble T",
            "167+2 contents T.second=2",
            "169+5 end-padding T",
            "174+2 end-padding T",
        ],
    );
}

#[test]
fn parts_of_aligned_per_have_padding() {
    check_value(
        Rules::Aper,
        FORMS,
        VALUE,
        &[
            "0+1 extension-bit T",
            "1+2 preamble T",
            "3+3 contents T.small=5",
            "6+1 extension-bit T.large",
            "7+2 length 3 T.large",
            "9+7 padding T.large",
            "16+24 contents T.large=70000",
            "40+8 length 2 T.any",
            "48+16 contents T.any=-300",
            "64+0 contents T.null=null",
            "64+1 extension-bit T.item",
            "65+7 contents T.item=\"three\"",
            "72+2 length 2 T.text",
            "74+6 padding T.text",
            "80+16 contents T.text=\"Ab\"",
            "96+1 extension-bit T.list",
            "97+7 padding T.list",
            "104+8 length 4 T.list",
            "112+1 contents T.list[0]=true",
            "113+1 contents T.list[1]=false",
            "114+1 contents T.list[2]=true",
            "115+1 contents T.list[3]=true",
            "116+1 extension-bit T.choice",
            "117+7 index 0 T.choice",
            "124+4 padding T.choice.c",
            "128+8 length 1 T.choice.c",
            "136+1 contents T.choice.c=true",
            "137+7 end-padding T.choice.c",
            "144+8 length 2 T.last",
            "152+16 contents T.last=\"0102\"",
            "168+7 length 2 T",
            "175+2 bitmap T",
            "177+7 padding T.added",
            "184+8 length 1 T.added",
            "192+1 contents T.added=true",
            "193+7 end-padding T.added",
            "200+8 length 1 T",
            "208+1 preamble T",
            "209+2 contents T.second=2",
            "211+5 end-padding T",
        ],
    );
}

#[test]
fn parts_of_oer_are_octets() {
    check_value(
        Rules::Oer,
        FORMS,
        VALUE,
        &[
            "0+1 preamble T",
            "1+1 contents T.small=5",
            "2+1 length 3 T.large",
            "3+3 contents T.large=70000",
            "6+1 length 2 T.any",
            "7+2 contents T.any=-300",
            "9+0 contents T.null=null",
            "9+1 contents T.item=\"three\"",
            "10+1 length 2 T.text",
            "11+2 contents T.text=\"Ab\"",
            "13+2 quantity 4 T.list",
            "15+1 contents T.list[0]=true",
            "16+1 contents T.list[1]=false",
            "17+1 contents T.list[2]=true",
            "18+1 contents T.list[3]=true",
            "19+1 tag [2] T.choice",
            "20+1 length 1 T.choice.c",
            "21+1 contents T.choice.c=true",
            "22+1 length 2 T.last",
            "23+2 contents T.last=\"0102\"",
            "25+1 length 2 T",
            "26+2 bitmap T",
            "28+1 length 1 T.added",
            "29+1 contents T.added=true",
            "30+1 length 2 T",
            "31+1 preamble T",
            "32+1 contents T.second=2",
        ],
    );
}

#[test]
fn parts_of_canonical_rules_are_those_of_basic_rules() {
    let body = "T ::= SEQUENCE { a INTEGER (0..7) DEFAULT 3, b BOOLEAN }";
    let expected = ["0+1 preamble T", "1+3 contents T.a=5", "4+1 contents T.b=true", "5+3 end-padding T"];
    for rules in [Rules::Uper, Rules::CanonicalUper, Rules::Aper, Rules::CanonicalAper] {
        check_value(rules, body, r#"{ "a": 5, "b": true }"#, &expected);
    }
    // A component that equals its DEFAULT is found once the value has been read.
    let mut options = Options::default();
    options.rules = Rules::CanonicalUper;
    let found = parts(&plan_for(options.rules, body), &hex("B8"), &options);
    assert_eq!(
        found[..4],
        ["0+1 preamble T", "1+3 contents T.a=3", "4+1 contents T.b=true", "5+3 end-padding T"]
    );
    assert_eq!(found[4], "T: the encoding is not the canonical one of its value (at offset 0x0, bit 0)");
}

#[test]
fn fragments_have_lengths_between_them() {
    let body = "T ::= SEQUENCE { b BOOLEAN, s OCTET STRING, l SEQUENCE OF NULL }";
    let text =
        format!(r#"{{ "b": true, "s": "{}", "l": [{}] }}"#, "41".repeat(16_385), "null,".repeat(3) + "null");
    let plan = plan_for(Rules::Aper, body);
    let (mut tape, mut octets) = (Tape::new(), Vec::new());
    let root = plan.root("T").unwrap();
    json::read(&plan.shape, root, text.as_bytes(), &mut tape, &json::Options::default()).unwrap();
    Encoder::new().encode(&plan, Rules::Aper, tape.view(&[]), &mut octets).unwrap();
    let mut options = Options::default();
    options.rules = Rules::Aper;
    let found: Vec<String> =
        parts(&plan, &octets, &options).into_iter().map(|part| part.chars().take(40).collect()).collect();
    assert_eq!(
        found,
        [
            "0+1 contents T.b=true",
            "1+7 padding T.s",
            "8+8 length 16384 T.s",
            "16+131072 contents T.s",
            "131088+8 length 1 T.s",
            "131096+8 contents T.s=\"41414141414141414",
            "131104+8 length 4 T.l",
            "131112+0 contents T.l[0]=null",
            "131112+0 contents T.l[1]=null",
            "131112+0 contents T.l[2]=null",
            "131112+0 contents T.l[3]=null",
        ]
    );
}

#[test]
fn open_types_and_unknown_additions_of_per_have_places() {
    let body = "C ::= CLASS { &id INTEGER UNIQUE, &T } WITH SYNTAX { &id &T }
        S C ::= { {1 BOOLEAN} | {2 INTEGER (0..3)} }
        T ::= SEQUENCE { id C.&id ({S}), value C.&T ({S}{@id}), s OCTET STRING (CONTAINING INTEGER (0..15)), ... }";
    let mut options = Options::default();
    options.rules = Rules::Uper;
    let plan = plan_for(Rules::Uper, body);
    // An extension bit, a key, an open type, a string with a value inside, an addition of two octets.
    let input = "1 00000001 00000001 00000001 10000000 00000001 11110000 0000000 1 00000010 1111111110000000";
    let found = parts(&plan, &bits(input), &options);
    assert_eq!(
        found,
        [
            "0+1 extension-bit T",
            "1+8 length 1 T.id",
            "9+8 contents T.id=1",
            "17+8 length 1 T.value",
            "25+1 contents T.value=true",
            "26+7 end-padding T.value",
            "33+8 length 1 T.s",
            "41+4 contents T.s=15",
            "45+4 end-padding T.s",
            "49+7 length 1 T",
            "56+1 bitmap T",
            "57+8 length 2 T",
            "65+16 contents T",
            "81+7 end-padding T",
        ]
    );
    // The key 9 is of no row.
    let input = "0 00000001 00001001 00000001 11000000 00000001 11110001";
    let found = parts(&plan, &bits(input), &options);
    assert_eq!(
        found,
        [
            "0+1 extension-bit T",
            "1+8 length 1 T.id",
            "9+8 contents T.id=9",
            "17+8 length 1 T.value",
            "25+8 contents T.value=\"C0\"",
            "33+8 length 1 T.s",
            "41+4 contents T.s=15",
            "45+4 end-padding T.s",
            "49+7 end-padding T",
        ]
    );
}

#[test]
fn parts_of_per_before_a_fault_have_places() {
    let body = "T ::= SEQUENCE { a INTEGER (0..7), s SEQUENCE OF INTEGER (0..3), t PrintableString }";
    let mut options = Options::default();
    options.rules = Rules::Uper;
    options.base_offset = 2;
    let found = parts(&plan_for(Rules::Uper, body), &hex("A0 58 2A"), &options);
    assert_eq!(
        found,
        [
            "16+3 contents T.a=5",
            "19+8 length 2 T.s",
            "27+2 contents T.s[0]=3",
            "29+2 contents T.s[1]=0",
            "31+8 length 21 T.t",
            "T.t: the input ends inside an element, 19 bytes are missing (at offset 0x5, bit 0)",
        ]
    );
}

#[test]
fn strings_in_strings_have_places_on_a_small_stack() {
    const LEVELS: usize = 90;
    let body = "T ::= SEQUENCE { t OCTET STRING (CONTAINING T) OPTIONAL }";
    for rules in [Rules::Uper, Rules::CanonicalAper, Rules::Oer] {
        let plan = plan_for(rules, body);
        let mut octets = vec![0];
        for _ in 1..LEVELS {
            let (digits, length) = (octets.iter().map(|octet| format!("{octet:08b}")), octets.len());
            let digits: String = digits.collect();
            octets = match (rules, length) {
                (Rules::Uper, 0..128) => bits(&format!("1{length:08b}{digits}")),
                (Rules::Uper, _) => bits(&format!("110{length:014b}{digits}")),
                (Rules::Oer, 128..) => bits(&format!("1000000010000001{length:08b}{digits}")),
                (_, 0..128) => bits(&format!("10000000{length:08b}{digits}")),
                _ => bits(&format!("1000000010{length:014b}{digits}")),
            };
        }
        let mut options = Options::default();
        options.rules = rules;
        options.limits.depth = 1000;
        let thread = std::thread::Builder::new().stack_size(256 << 10);
        let found = thread.spawn(move || parts(&plan, &octets, &options)).unwrap().join().unwrap();
        assert!(found.len() > LEVELS, "{rules}: {found:?}");
        assert!(found.iter().all(|part| part.contains('+')), "{rules}: {:?}", found.last());
    }
}
