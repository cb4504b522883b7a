//! Long values, damaged and deep ones: faults have their place.

use super::annex_a::{
    PERSON_1, PERSON_1_ALIGNED, PERSON_1_UNALIGNED, PERSON_2, PERSON_2_ALIGNED, PERSON_2_UNALIGNED, PERSON_3,
    PERSON_3_ALIGNED, PERSON_3_UNALIGNED,
};
use super::{ALL, body, hex, options, plans, transcode};
use tercet_dynamic::{Decoder, Encoder, ErrorKind, Options, Plan, Tape};

/// X.691 11.9.3.8: the octets of a length in fragments.
fn in_fragments(octets: &[u8], unit: usize) -> Vec<u8> {
    let (mut out, mut rest) = (Vec::new(), octets);
    loop {
        let count = rest.len() / unit;
        let now = match count {
            0..128 => {
                out.push(count as u8);
                count
            }
            128..16384 => {
                out.extend([0x80 | (count >> 8) as u8, count as u8]);
                count
            }
            _ => {
                let blocks = (count / 16384).min(4);
                out.push(0xc0 | blocks as u8);
                blocks * 16384
            }
        };
        let (fragment, behind) = rest.split_at(now * unit);
        out.extend(fragment);
        rest = behind;
        if count < 16384 {
            return out;
        }
    }
}

/// An open type that is longer than the input is no value, whatever is in what there is of it.
#[test]
fn open_types_that_go_beyond_the_input_are_not_complete() {
    let plans = body("S ::= SEQUENCE { ..., o INTEGER (0..255) }");
    for (rules, whole, cut) in [(1, "8080 01 07", "8080 05 07"), (2, "80 80 83 80", "80 82 83 80")] {
        assert_eq!(transcode(rules, rules, &plans, "S", &hex(whole)).unwrap(), hex(whole));
        let error = transcode(rules, rules, &plans, "S", &hex(cut)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Incomplete, "{cut}");
    }
}

/// Characters that stand as they are, octets in the input, have to be those of their alphabet all the same.
#[test]
fn characters_that_are_not_permitted_are_refused_where_they_stand() {
    let plans = body(
        "T ::= SEQUENCE { s IA5String (FROM (\"a\"..\"z\")) (SIZE (0..20)), n INTEGER (0..255) }
         V ::= SEQUENCE { s VisibleString (SIZE (0..20)), n INTEGER (0..255) }",
    );
    for (root, text, at) in
        [("T", "6142", 2), ("T", "4162", 1), ("T", "617b", 2), ("V", "617f", 2), ("V", "1f62", 1)]
    {
        let input = hex(&format!("10 {text} 07"));
        let error = transcode(1, 1, &plans, root, &input).unwrap_err();
        assert_eq!((error.kind(), error.offset()), (ErrorKind::CharacterInvalid, at), "{root} {text}");
    }
    assert_eq!(transcode(1, 1, &plans, "T", &hex("10 617a 07")).unwrap(), hex("10 617a 07"));
}

#[test]
fn fragments() {
    let plans = body(
        "O ::= OCTET STRING I ::= IA5String L ::= SEQUENCE OF INTEGER (0..255) N ::= INTEGER B ::= BMPString
         S ::= SEQUENCE { ..., o OCTET STRING }",
    );
    for count in [0, 1, 127, 128, 16383, 16384, 16385, 32768, 49152, 65535, 65536, 65537, 81920, 147_461] {
        let octets: Vec<u8> = (0..count).map(|i| (i % 121) as u8 + 1).collect();
        let der = |tag: u8, contents: &[u8]| {
            let length = contents.len() as u32;
            [&[tag, 0x84][..], &length.to_be_bytes(), contents].concat()
        };
        let items: Vec<u8> = octets.iter().flat_map(|octet| [2, 1, *octet]).collect();
        let pairs: Vec<u8> = octets.iter().flat_map(|octet| [0, *octet]).collect();
        let inner = in_fragments(&octets, 1);
        let outer = [&[0x80, 0x80][..], &in_fragments(&inner, 1)].concat();
        for (root, ber, expected) in [
            ("O", der(4, &octets), in_fragments(&octets, 1)),
            ("I", der(22, &octets), in_fragments(&octets, 1)),
            ("L", der(48, &items), in_fragments(&octets, 1)),
            ("B", der(30, &pairs), in_fragments(&pairs, 2)),
            (
                "N",
                der(2, if count == 0 { &[1] } else { &octets }),
                in_fragments(if count == 0 { &[1] } else { &octets }, 1),
            ),
            ("S", der(48, &der(0x80, &octets)), outer),
        ] {
            let mut tape = Tape::new();
            let node = plans[0].root(root).unwrap();
            Decoder::new().decode(&plans[0], node, &ber, &mut tape, &Options::default()).unwrap();
            for rules in 1..5 {
                let mut out = Vec::new();
                Encoder::new().encode(&plans[rules], ALL[rules], tape.view(&ber), &mut out).unwrap();
                if rules == 1 || root == "O" {
                    assert!(out == expected, "{root} {count} {:?}", ALL[rules]);
                }
                let again = transcode(rules, rules, &plans, root, &out).unwrap();
                assert!(again == out, "{root} {count} {:?}", ALL[rules]);
            }
        }
    }
}

/// The place of a fault in an open type of 16K octets or more is that in the input, whatever stands between its fragments,
/// and the path goes into it.
#[test]
fn faults_in_fragments() {
    let plans = body(
        "T ::= SEQUENCE { ..., a SEQUENCE { o OCTET STRING (SIZE (40000)), t UTF8String, n INTEGER (0..9) } }
         U ::= SEQUENCE { b BOOLEAN, t UTF8String }
         L ::= SEQUENCE { b BOOLEAN, t UTF8String (SIZE (20000)) }",
    );
    let der = |tag: u8, contents: &[u8]| {
        [&[tag, 0x84][..], &(contents.len() as u32).to_be_bytes(), contents].concat()
    };
    let long = [&[b'-'; 19_995][..], b"verse"].concat();
    let members = [der(0x80, &[7; 40000]), der(0x81, b"verse"), der(0x82, &[5])].concat();
    for (root, ber, path) in [
        ("T", der(48, &der(0xa0, &members)), "T.a"),
        ("U", der(48, &[der(0x80, &[0xff]), der(0x81, b"verse")].concat()), "U"),
        ("L", der(48, &[der(0x80, &[0xff]), der(0x81, &long)].concat()), "L"),
    ] {
        for rules in [1, 2] {
            let node = plans[0].root(root).unwrap();
            let (mut tape, mut octets) = (Tape::new(), Vec::new());
            Decoder::new().decode(&plans[0], node, &ber, &mut tape, &Options::default()).unwrap();
            Encoder::new().encode(&plans[rules], ALL[rules], tape.view(&ber), &mut octets).unwrap();
            let verse = find_bits(&octets, b"verse");
            let fault = |bit: usize, mask: u8| {
                let mut octets = octets.clone();
                octets[bit / 8] ^= mask >> (bit % 8);
                if let Some(next) = octets.get_mut(bit / 8 + 1) {
                    *next ^= (u16::from(mask) << (8 - bit % 8)) as u8;
                }
                let node = plans[rules].root(root).unwrap();
                let read = Decoder::new().decode(
                    &plans[rules],
                    node,
                    &octets,
                    &mut tape.clone(),
                    &options(ALL[rules]),
                );
                let error = read.unwrap_err();
                let place = error.offset() as usize * 8 + usize::from(error.bit().unwrap());
                (place, error.path().to_owned())
            };
            // No UTF-8 from the third letter on.
            assert_eq!(fault(verse + 16, 0x80), (verse + 16, format!("{path}.t")), "{root} {:?}", ALL[rules]);
            if root == "T" {
                assert_eq!(fault(verse + 40, 0xa0), (verse + 40, format!("{path}.n")), "{:?}", ALL[rules]);
            }
        }
    }
}

/// The bit at which these octets stand.
fn find_bits(octets: &[u8], wanted: &[u8]) -> usize {
    let octet = |at: usize| u16::from(octets.get(at).copied().unwrap_or(0));
    let at = |bit: usize| ((octet(bit / 8) << 8 | octet(bit / 8 + 1)) << (bit % 8) >> 8) as u8;
    let mut bits = 0..=octets.len() * 8 - 8 * wanted.len();
    bits.find(|bit| wanted.iter().enumerate().all(|(index, octet)| at(bit + 8 * index) == *octet)).unwrap()
}

/// Every prefix and every flipped bit is a value or an error inside of the input, on a small stack.
#[test]
fn damage() {
    let work = || {
        for (text, aligned, unaligned) in [
            (PERSON_1, PERSON_1_ALIGNED, PERSON_1_UNALIGNED),
            (PERSON_2, PERSON_2_ALIGNED, PERSON_2_UNALIGNED),
            (PERSON_3, PERSON_3_ALIGNED, PERSON_3_UNALIGNED),
        ] {
            let plans = plans(text);
            for (rules, input) in [(1, aligned), (2, unaligned), (3, aligned), (4, unaligned)] {
                probe_damaged(&plans, rules, "PersonnelRecord", &hex(input));
            }
        }
    };
    std::thread::Builder::new().stack_size(256 << 10).spawn(work).unwrap().join().unwrap();
}

/// Every prefix and every flipped bit of an encoding: a value that can be written, or a fault with its place.
pub(super) fn probe_damaged(plans: &[Plan], rules: usize, root: &str, input: &[u8]) {
    for length in 0..input.len() {
        probe(plans, rules, root, &input[..length], true);
    }
    for bit in 0..input.len() * 8 {
        let mut input = input.to_vec();
        input[bit / 8] ^= 0x80 >> (bit % 8);
        probe(plans, rules, root, &input, false);
    }
}

fn probe(plans: &[Plan], rules: usize, root: &str, input: &[u8], short: bool) {
    let mut tape = Tape::new();
    let node = plans[rules].root(root).unwrap();
    match Decoder::new().decode(&plans[rules], node, input, &mut tape, &options(ALL[rules])) {
        Ok(_) => {
            let mut out = Vec::new();
            let _ = Encoder::new().encode(&plans[rules], ALL[rules], tape.view(input), &mut out);
        }
        Err(error) => {
            assert!(error.offset() <= input.len() as u64, "{error}");
            assert!(!error.path().is_empty(), "{error}");
            assert!(!short || error.missing().is_some() && error.bit().is_some(), "{error}");
        }
    }
}

#[test]
fn limits() {
    let plans = body(
        "R ::= SEQUENCE { r R OPTIONAL } Z ::= SEQUENCE OF NULL Q ::= SEQUENCE OF SEQUENCE { a NULL, b NULL }
         T ::= SEQUENCE OF SEQUENCE { a INTEGER (0..255) }",
    );
    for rules in [1, 2] {
        // Two bits for each level would be cheap.
        let deep = vec![0xff; 10_000];
        let error = transcode(rules, rules, &plans, "R", &deep).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::DepthLimit);
        for root in ["Z", "Q"] {
            let error = transcode(rules, rules, &plans, root, &[0xc4; 10_000]).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::LimitExceeded);
        }
        let many = in_fragments(&vec![7; 70_000], 1);
        assert!(transcode(rules, rules, &plans, "T", &many).unwrap() == many);
    }
}

/// X.691 §32: the numbers of a time, the year in four ranges.
/// Values deeper than there are calls inside one another are read and written with frames, on a small stack.
#[test]
fn deep_values() {
    let text = "T ::= SEQUENCE { n INTEGER (0..255), next CHOICE { one T, many SEQUENCE (SIZE (1..4)) OF T, end NULL } }";
    let plans = body(text);
    let value = |levels: usize| {
        let mut bits = String::new();
        for level in 0..levels {
            bits += &format!("{:08b}", level % 256);
            bits += if level + 1 == levels { "10" } else { ["00", "0100"][level % 2] };
        }
        bits += &"0".repeat(bits.len().wrapping_neg() % 8);
        let octets = bits.as_bytes().chunks(8);
        octets.map(|octet| octet.iter().fold(0_u8, |all, bit| all << 1 | (bit - b'0'))).collect::<Vec<u8>>()
    };
    let work = move || {
        for levels in [1, 2, 20, 26, 27, 32, 40, 120, 390] {
            for rules in [2, 4] {
                let mut options = options(ALL[rules]);
                options.limits.depth = 1000;
                let (plan, input) = (&plans[rules], value(levels));
                let node = plan.root("T").unwrap();
                let mut tape = Tape::new();
                let taken = Decoder::new().decode(plan, node, &input, &mut tape, &options).unwrap();
                assert_eq!(taken, input.len());
                let mut out = Vec::new();
                Encoder::new().encode(plan, ALL[rules], tape.view(&input), &mut out).unwrap();
                assert_eq!(out, input);
                // The path leads through calls and frames alike.
                let cut = &input[..input.len() - 1];
                let error = Decoder::new().decode(plan, node, cut, &mut Tape::new(), &options).unwrap_err();
                let steps = |level: usize| [".next.one", ".next.many[0]"][level % 2];
                let path = "T".to_owned() + &(0..levels - 1).map(steps).collect::<String>();
                // The first steps and the last are told, and where in the last value it is.
                let (begun, _) = error.path().rsplit_once('.').unwrap();
                let told = begun.split_once('…').map_or(path == begun, |(front, back)| {
                    path.starts_with(front) && path.ends_with(back) && levels > 8
                });
                assert!(told, "{levels}: {error}");
            }
        }
    };
    std::thread::Builder::new().stack_size(256 * 1024).spawn(work).unwrap().join().unwrap();
}

/// An alternative of a later version has no name: in a type that contains itself, that of the alternative around it is not
/// repeated.
#[test]
fn unknown_alternatives_have_no_step_in_a_path() {
    let plans = body("T ::= CHOICE { leaf BOOLEAN, next T, ... }");
    for (rules, octets) in [(1, "608005"), (2, "60 01 40")] {
        let node = plans[rules].root("T").unwrap();
        let octets = hex(&octets.replace(' ', ""));
        let read =
            Decoder::new().decode(&plans[rules], node, &octets, &mut Tape::new(), &options(ALL[rules]));
        let error = read.unwrap_err();
        assert_eq!((error.kind(), error.path()), (ErrorKind::Incomplete, "T.next"), "{:?}", ALL[rules]);
    }
}
