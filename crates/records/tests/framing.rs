//! Framing by small cases: what a stream is cut into, and what becomes of damaged places.

use std::io::{Read, Result};
use tercet_records::{Balance, Framing, Identifiers, Part, RecordReader};
use tercet_runtime::Tag;

/// Gives one to three octets a read.
struct Drip<'a>(&'a [u8], usize);

impl Read for Drip<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        self.1 = self.1 % 3 + 1;
        let n = self.1.min(self.0.len()).min(buffer.len());
        buffer[..n].copy_from_slice(&self.0[..n]);
        self.0 = &self.0[n..];
        Ok(n)
    }
}

/// Octets from hexadecimal digits and spaces.
fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(|b| !b.is_ascii_whitespace()).collect();
    digits.chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

fn tags(tags: &[Tag]) -> Identifiers {
    let mut ids = Identifiers::none();
    for &tag in tags {
        ids.add(tag, true);
    }
    ids
}

/// A record is an element `A1` that holds one INTEGER of one octet and maybe more, in this test.
fn is_record(octets: &[u8]) -> bool {
    matches!(octets, [0xA1, _, 0x02, 0x01, ..])
}

fn cut(framing: Framing, input: impl Read) -> (String, Balance) {
    let mut reader = RecordReader::new(input, framing);
    let (mut text, mut balance) = (String::new(), Balance::default());
    while let Some(item) = reader.next(&mut is_record).unwrap() {
        let (part, length, offset) = (item.part, item.octets.len(), item.offset);
        if part == Part::Record && !is_record(item.octets) {
            reader.reject();
            continue;
        }
        balance.add(part, length);
        let name = match part {
            Part::Record => "record".to_owned(),
            Part::RecordIn(format) => format.to_string(),
            Part::Filler => "filler".to_owned(),
            Part::Opaque => "opaque".to_owned(),
            Part::Wrapper => "wrapper".to_owned(),
            Part::Header => "header".to_owned(),
            Part::Trailer => "trailer".to_owned(),
            Part::Rejected { reason, continued } => {
                format!("rejected{} ({reason})", if continued { "…" } else { "" })
            }
        };
        text += &format!("{offset} {length} {name}\n");
    }
    (text, balance)
}

fn check(framing: &Framing, input: &str, expect: &str) {
    let input = hex(input);
    let expect: String =
        expect.lines().map(str::trim).filter(|l| !l.is_empty()).fold(String::new(), |s, l| s + l + "\n");
    let (text, balance) = cut(framing.clone(), &input[..]);
    assert_eq!(text, expect, "{input:02x?}");
    assert!(balance.adds_up() && balance.read == input.len() as u64, "{balance}");
    if !expect.contains("filler") {
        assert_eq!(cut(framing.clone(), Drip(&input, 0)).0, expect);
    }
}

fn plain() -> Framing {
    Framing::concatenated(tags(&[Tag::context(1)]))
}

fn wrapped() -> Framing {
    let wrappers = vec![tags(&[Tag::application(1)]), tags(&[Tag::application(3)])];
    Framing { wrappers, ..plain() }
}

#[test]
fn concatenated_with_filler() {
    check(&plain(), "", "");
    check(&plain(), "A103 020105 A103020106", "0 5 record\n5 5 record");
    check(
        &plain(),
        "A103020105 0000FF A180 0201 00 0000 00 A103020106 00",
        "0 5 record\n5 3 filler\n8 7 record\n15 1 filler\n16 5 record\n21 1 filler",
    );
}

#[test]
fn a_damaged_record_is_rejected_alone() {
    // Wrong inside, length right.
    check(
        &plain(),
        "A103020105 A103030105 A103020106 A103020107 A103020108",
        "0 5 record\n5 5 rejected (the record does not decode)\n10 5 record\n15 5 record\n20 5 record",
    );
    // Length wrong: it swallows the next.
    check(
        &plain(),
        "A103020105 A109030105 A103020106 A103020107 A103020108 A103020109",
        "0 5 record\n5 5 rejected (the record does not decode)\n10 5 record\n15 5 record\n20 5 record\n25 5 record",
    );
    // Garbage between.
    check(
        &plain(),
        "A103020105 DEADBEEF A103020107 A103020108 A103020109",
        "0 5 record\n5 4 rejected (no record begins with these bytes)\n9 5 record\n14 5 record\n19 5 record",
    );
    // Cut short, and the last one too.
    check(
        &plain(),
        "A103 A103020107 A103020108 A103020109 A10302",
        "0 2 rejected (the record does not decode)\n2 5 record\n7 5 record\n12 5 record\n17 3 rejected (the input ends inside a record)",
    );
    // A record of another kind.
    check(&plain(), "A2020500 A103020107", "0 4 rejected (no record begins with these bytes)\n4 5 record");
}

#[test]
fn an_inner_element_is_no_record() {
    // The damaged record holds an element that looks like a record and ends where it ends.
    check(
        &plain(),
        "A108 0301FF A103020105 A103020107 A103020108 A103020109",
        "0 10 rejected (the record does not decode)\n10 5 record\n15 5 record\n20 5 record",
    );
}

#[test]
fn record_lists_in_wrappers() {
    check(
        &wrapped(),
        "6111 8401AA 630A A103020105A103020106 8500 8600 0000",
        "0 2 wrapper\n2 3 header\n5 2 wrapper\n7 5 record\n12 5 record\n17 2 trailer\n19 2 trailer\n21 2 filler",
    );
    check(
        &wrapped(),
        "6180 8401AA 6380 A103020105 A18002010600000000 8500 0000 0000",
        "0 2 wrapper\n2 3 header\n5 2 wrapper\n7 5 record\n12 7 record\n19 2 wrapper\n21 2 trailer\n23 2 wrapper\n25 2 filler",
    );
    // The wrapper promises more than comes; a record reaches past the list.
    check(
        &wrapped(),
        "6184FFFFFFFF 6305 A103020105",
        "0 6 wrapper\n6 2 wrapper\n8 5 record\n13 0 rejected (the input ends before the list around the records does)",
    );
    check(
        &wrapped(),
        "6109 6305 A104020105 8500",
        "0 2 wrapper\n2 2 wrapper\n4 5 rejected (the element ends after the list around it)\n9 2 trailer",
    );
}

#[test]
fn any_octets_are_balanced() {
    let mut state = 0x2545_F491_4F6C_DD1D_u64;
    for round in 0..200 {
        let mut input = Vec::new();
        for _ in 0..2000 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let octets = [0xA1, 0x03, 0x02, 0x01, 0x05, 0x00, 0x61, 0x63, 0x80, (state >> 40) as u8];
            input.push(octets[(state >> 20) as usize % octets.len()]);
        }
        let framing = if round % 2 == 0 { plain() } else { wrapped() };
        let (_, balance) = cut(framing, &input[..]);
        assert!(balance.adds_up() && balance.read == input.len() as u64, "{balance}");
    }
}

#[test]
fn adverse_input_takes_linear_time() {
    for unit in ["A1800402", "A180", "A1800500", "A17F", "A1820400"] {
        // More than is looked at from one place, so that the search goes on from piece to piece.
        let input = hex(unit).repeat((3 << 20) / (unit.len() / 2));
        let (mut reader, mut read, mut asked) = (RecordReader::new(&input[..], plain()), 0, 0);
        loop {
            let mut ask = |octets: &[u8]| {
                asked += octets.len();
                is_record(octets)
            };
            let Some(item) = reader.next(&mut ask).unwrap() else { break };
            read += item.octets.len();
            if item.part == Part::Record && !is_record(item.octets) {
                read -= item.octets.len();
                reader.reject();
            }
        }
        assert_eq!(read, input.len());
        // What the search may ask for: 128 times what it has passed, and 16 MiB to begin with.
        assert!(asked <= 128 * input.len() + (16 << 20), "{unit}: {asked} octets");
    }
}
