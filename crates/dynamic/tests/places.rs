//! Places of parts of encodings: each bit of a value is one part.

mod common;

use common::{hex, plan};
use tercet_dynamic::trace::Trace;
use tercet_dynamic::{Decoder, Options, Plan, Rules};

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
        let (at, octets) = (step.place.at / 8, step.place.bits / 8);
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
