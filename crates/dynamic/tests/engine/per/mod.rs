//! PER by the worked examples of X.691 Annex A, and what the clauses say about single points.

#![allow(clippy::needless_range_loop, reason = "the number of the rules tells more than the plan")]

mod annex_a;
mod faults;
mod open_types;
mod times;

use crate::common::{hex, plans_of};
use tercet_dynamic::{Decoder, Encoder, Error, ErrorKind, Options, Plan, Rules, Tape};

const ALL: [Rules; 5] = [Rules::Der, Rules::Aper, Rules::Uper, Rules::CanonicalAper, Rules::CanonicalUper];

/// Plans for DER and the four variants of PER over one shape.
fn plans(text: &str) -> Vec<Plan> {
    plans_of(&ALL, text)
}

fn body(text: &str) -> Vec<Plan> {
    plans(&format!("M DEFINITIONS AUTOMATIC TAGS ::= BEGIN {text} END"))
}

fn to_hex(octets: &[u8]) -> String {
    octets.iter().map(|octet| format!("{octet:02x}")).collect()
}

fn transcode(from: usize, to: usize, plans: &[Plan], root: &str, input: &[u8]) -> Result<Vec<u8>, Error> {
    let mut tape = Tape::new();
    let node = plans[from].root(root).unwrap();
    let taken = Decoder::new().decode(&plans[from], node, input, &mut tape, &options(ALL[from]))?;
    assert_eq!(taken, input.len(), "{root} {:?} {}", ALL[from], to_hex(input));
    let mut out = Vec::new();
    Encoder::new().encode(&plans[to], ALL[to], tape.view(input), &mut out)?;
    Ok(out)
}

fn options(rules: Rules) -> Options {
    let mut options = Options::default();
    options.rules = rules;
    options
}

/// One value in DER and in both variants: each becomes each.
fn check(plans: &[Plan], root: &str, der: &str, aper: &str, uper: &str) {
    let forms = [hex(der), hex(aper), hex(uper), hex(aper), hex(uper)];
    for (from, input) in forms.iter().enumerate() {
        for (to, expected) in forms.iter().enumerate() {
            let got = transcode(from, to, plans, root, input);
            let got = got.unwrap_or_else(|e| panic!("{root} {:?} to {:?}: {e}", ALL[from], ALL[to]));
            assert_eq!(to_hex(&got), to_hex(expected), "{root} {:?} to {:?}", ALL[from], ALL[to]);
        }
    }
}

fn error(plans: &[Plan], rules: usize, root: &str, input: &str) -> Error {
    transcode(rules, rules, plans, root, &hex(input)).expect_err(input)
}

#[test]
fn whole_numbers() {
    let plans = body(
        "A ::= INTEGER (3..6) B ::= SEQUENCE { b BOOLEAN, v INTEGER (0..255) } C ::= INTEGER (0..65536)
         D ::= INTEGER (5..MAX) E ::= INTEGER (MIN..5) F ::= INTEGER (0..7, ...) G ::= INTEGER (0..18446744073709551615)
         H ::= INTEGER (-170141183460469231731687303715884105728..170141183460469231731687303715884105727)",
    );
    check(&plans, "A", "020105", "80", "80");
    check(&plans, "B", "30068001ff810101", "8001", "8080");
    check(&plans, "C", "020300ffff", "40ffff", "7fff80");
    check(&plans, "C", "0203010000", "80010000", "800000");
    check(&plans, "D", "02020084", "017f", "017f");
    check(&plans, "E", "0201ff", "01ff", "01ff");
    check(&plans, "F", "020107", "70", "70");
    check(&plans, "F", "020108", "800108", "808400");
    check(&plans, "G", "020900ffffffffffffffff", "e0ffffffffffffffff", "ffffffffffffffff");
    let zeros = "00".repeat(15);
    check(&plans, "H", "020100", &format!("f080{zeros}"), &format!("80{zeros}"));
    let outside = transcode(0, 1, &plans, "A", &hex("020107")).unwrap_err();
    assert_eq!((outside.path(), outside.kind()), ("A", ErrorKind::ConstraintViolated));
}

/// X.691 23.2 and 21.1: by tag, whatever the text says.
#[test]
fn order_of_tags() {
    let plans = plans(
        "M DEFINITIONS IMPLICIT TAGS ::= BEGIN
         C ::= CHOICE { c [2] NULL, a [0] NULL, b [1] NULL, p [PRIVATE 0] NULL, q [APPLICATION 5] NULL, u NULL }
         U ::= CHOICE { x V, y [0] NULL } V ::= CHOICE { p [5] NULL, q [APPLICATION 1] NULL }
         S ::= SET { c [2] BOOLEAN, a [0] BOOLEAN OPTIONAL, b BOOLEAN DEFAULT FALSE }
         END",
    );
    check(&plans, "C", "0500", "00", "00");
    check(&plans, "C", "4500", "20", "20");
    check(&plans, "C", "8000", "40", "40");
    check(&plans, "C", "c000", "a0", "a0");
    check(&plans, "U", "4100", "00", "00");
    check(&plans, "U", "8000", "80", "80");
    // The presence bits are those of the sorted components: b, a.
    check(&plans, "S", "31068001ff8201ff", "70", "70");
    check(&plans, "S", "31060101ff820100", "a0", "a0");
}

/// X.691 30.5: indices where the characters do not fit, alignment from 16 bits on.
#[test]
fn alphabets() {
    let plans = body(
        r#"N ::= NumericString (SIZE(2)) (FROM("0".."9")) L ::= IA5String (SIZE(0..3)) (FROM("a".."p"))
           B ::= SEQUENCE { f BOOLEAN, v BMPString (SIZE(2)) (FROM("a".."z")) } X ::= NumericString (SIZE(1..255))"#,
    );
    check(&plans, "N", "12023237", "27", "27");
    // 10, then a = 0 and c = 2 in four bits each.
    check(&plans, "L", "16026163", "8080", "8080");
    check(&plans, "X", "120131", "0020", "0020");
    check(&plans, "B", "30098001ff8104006100 7a", "b0bd00", "8320");
}

/// X.691 16.11, 17.8: nothing is aligned where nothing follows.
#[test]
fn empty_strings() {
    let plans = body(
        "O ::= SEQUENCE { b BOOLEAN, o OCTET STRING (SIZE(0..2)), c BOOLEAN }
        N ::= BIT STRING { a(0), b(1), c(9) } M ::= BIT STRING { a(0) } (SIZE(4..8))",
    );
    check(&plans, "O", "30088001ff81008201ff", "90", "90");
    check(&plans, "O", "30098001ff8101aa8201ff", "a0aa80", "b550");
    // Trailing zero bits mean nothing; a size asks for as many as it needs, but not in DER (X.690 11.2.2).
    check(&plans, "N", "03020640", "0240", "0240");
    check(&plans, "M", "03020780", "0080", "10");
}

/// Values of a later version are kept and written again as they were.
#[test]
fn later_versions() {
    let old = body(
        "S ::= SEQUENCE { a BOOLEAN, ..., b BOOLEAN } C ::= CHOICE { a NULL, ... } E ::= ENUMERATED { a, ... }",
    );
    let new = body(
        "S ::= SEQUENCE { a BOOLEAN, ..., b BOOLEAN, c OCTET STRING, [[ d NULL, e INTEGER OPTIONAL ]], f NULL OPTIONAL }
         C ::= CHOICE { a NULL, ..., b BOOLEAN, c OCTET STRING } E ::= ENUMERATED { a, ..., b, c }",
    );
    for rules in 1..5 {
        for (root, der) in [
            ("S", "300f8001ff8101ff820201028300840107"),
            ("S", "30068001ff8101ff"),
            ("S", "300a8001ff8101ff82020102"),
            ("C", "8101ff"),
            ("C", "82020102"),
            ("E", "0a0102"),
        ] {
            let encoded = transcode(0, rules, &new, root, &hex(der)).unwrap();
            let again = transcode(rules, rules, &old, root, &encoded).unwrap();
            assert_eq!(to_hex(&again), to_hex(&encoded), "{root} {:?} {der}", ALL[rules]);
        }
    }
}

/// A sender of an earlier version is canonical too; its values are written again as they were.
#[test]
fn earlier_versions() {
    let versions = [
        "S ::= SEQUENCE { a BOOLEAN, ..., b BOOLEAN }",
        "S ::= SEQUENCE { a BOOLEAN, ..., b BOOLEAN, c INTEGER (0..7) OPTIONAL }",
        "S ::= SEQUENCE { a BOOLEAN, ..., b BOOLEAN, c INTEGER (0..7) OPTIONAL,
           [[ d SET OF SEQUENCE { x S OPTIONAL, ..., y NULL, z NULL } OPTIONAL ]], e BOOLEAN DEFAULT TRUE }",
    ]
    .map(|text| body(&format!("{text} L ::= SET OF S O ::= OCTET STRING (CONTAINING S)")));
    // The first version that has the components, and the value.
    for (first, root, der) in [
        (0, "S", "3003800100"),
        (0, "S", "30068001ff8101ff"),
        (1, "S", "30098001ff8101ff820103"),
        (2, "S", "30148001ff8101ffa30c300aa0068001008101008100"),
        (0, "L", "31103006800100810100 30068001ff8101ff"),
        (1, "L", "31133006800100810100 30098001ff8101ff820103"),
        (0, "O", "040830068001ff810100"),
    ] {
        for (rules, from) in (1..5).flat_map(|rules| (first..3).map(move |from| (rules, from))) {
            let encoded = transcode(0, rules, &versions[from], root, &hex(der)).unwrap();
            for (to, plans) in versions.iter().enumerate() {
                let what = format!("{root} {der} {:?} {from} to {to}", ALL[rules]);
                let again = transcode(rules, rules, plans, root, &encoded);
                let again = again.unwrap_or_else(|error| panic!("{what}: {error}"));
                assert_eq!(to_hex(&again), to_hex(&encoded), "{what}");
            }
        }
    }
    // The extension bit tells that an addition is there (19.1).
    assert_eq!(error(&versions[1], 4, "S", "c000").kind(), ErrorKind::NotCanonical);
    assert_eq!(to_hex(&transcode(2, 2, &versions[1], "S", &hex("c000")).unwrap()), "40");
}

/// A plan for other rules is told, and not used: it would write another form.
#[test]
fn plans_serve_their_own_rules() {
    let plans = body("B ::= BOOLEAN");
    let input = hex("0101ff");
    let mut tape = Tape::new();
    Decoder::new()
        .decode(&plans[0], plans[0].root("B").unwrap(), &input, &mut tape, &options(ALL[0]))
        .unwrap();
    let encode = |plan: &Plan, rules| Encoder::new().encode(plan, rules, tape.view(&input), &mut Vec::new());
    for (plan, own) in plans.iter().zip(ALL) {
        for rules in ALL {
            let error = encode(plan, rules).err().map(|error| error.kind());
            assert_eq!(error, (rules != own).then_some(ErrorKind::Unsupported), "{own:?} {rules:?}");
        }
    }
    for rules in [Rules::Ber, Rules::Cer] {
        assert_eq!(encode(&plans[0], rules), Ok(()), "{rules:?}");
    }
}

/// There is one canonical encoding.
#[test]
fn canonical() {
    let plans = body(
        "D ::= SEQUENCE { a SEQUENCE OF INTEGER DEFAULT {1}, b BOOLEAN } S ::= SET OF INTEGER (0..255) P ::= BOOLEAN
         N ::= SET OF SET OF OCTET STRING",
    );
    assert_eq!(to_hex(&transcode(2, 4, &plans, "D", &hex("808080c0")).unwrap()), "40");
    assert_eq!(to_hex(&transcode(2, 2, &plans, "D", &hex("808080c0")).unwrap()), "808080c0");
    assert_eq!(error(&plans, 4, "D", "808080c0").kind(), ErrorKind::NotCanonical);
    assert_eq!(to_hex(&transcode(2, 4, &plans, "S", &hex("03050203")).unwrap()), "03020305");
    assert_eq!(error(&plans, 3, "S", "03050203").kind(), ErrorKind::NotCanonical);
    let padded = error(&plans, 4, "P", "c0");
    assert_eq!((padded.kind(), padded.offset(), padded.bit()), (ErrorKind::NotCanonical, 0, Some(1)));
    let nested = hex("02 02 01ff 0100 01 00");
    assert_eq!(to_hex(&transcode(1, 3, &plans, "N", &nested).unwrap()), "02010002010001ff");
}

/// Strings of every length about the borders between what is read in their place and what is not.
#[test]
fn strings_of_each_length() {
    let plans = body(
        "O ::= SEQUENCE { a BOOLEAN, s OCTET STRING (SIZE(0..300)) }
         P ::= SEQUENCE { a BOOLEAN, s OCTET STRING }
         Q ::= SEQUENCE { a BOOLEAN, s OCTET STRING (SIZE(1..4, ...)) }
         B ::= SEQUENCE { a BOOLEAN, s BIT STRING (SIZE(0..300)) }
         C ::= SEQUENCE { a BOOLEAN, s BIT STRING }
         D ::= SEQUENCE { a BOOLEAN, s BIT STRING (SIZE(1..4, ...)) }",
    );
    let octets: Vec<u8> = (0..300u16).map(|at| (at * 37 + 11) as u8).collect();
    for count in (0..=20_usize).chain([55, 56, 57, 63, 64, 65, 126, 127, 128, 129, 255, 256, 300]) {
        for (root, bits) in [("O", 0), ("P", 0), ("Q", 0), ("B", 1), ("C", 1), ("D", 1)] {
            let mut contents = octets[..if bits == 1 { count.div_ceil(8) } else { count }].to_vec();
            if bits == 1 {
                let unused = count.wrapping_neg() % 8;
                if let Some(last) = contents.last_mut() {
                    *last &= 0xff << unused;
                }
                contents.insert(0, unused as u8);
            }
            let long = |length: usize| match length {
                0..128 => vec![length as u8],
                128..256 => vec![0x81, length as u8],
                _ => [&[0x82], &(length as u16).to_be_bytes()[..]].concat(),
            };
            let parts = [&[0x80, 1, 0xff, 0x81], &long(contents.len())[..], &contents].concat();
            let der = [&[0x30], &long(parts.len())[..], &parts].concat();
            for to in 1..ALL.len() {
                let per = transcode(0, to, &plans, root, &der).unwrap();
                let back = transcode(to, 0, &plans, root, &per).unwrap();
                assert_eq!(to_hex(&back), to_hex(&der), "{root} {count} {:?}", ALL[to]);
                for short in per.len().saturating_sub(10)..per.len() {
                    let cut = transcode(to, 0, &plans, root, &per[..short]).unwrap_err();
                    assert_eq!(cut.kind(), ErrorKind::Incomplete, "{root} {count} {short}");
                }
            }
        }
    }
}
