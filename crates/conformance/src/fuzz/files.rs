//! Elements, record files, and source text.

use tercet::plan::Rules;
use tercet::records::{Framing, Identifiers, RecordFormat, RecordReader, detect};
use tercet::runtime::dump;
use tercet::{RustOptions, Schema};

use super::{told, values};
use crate::corpora;

/// A walk over elements ends, and goes forward only.
pub(super) fn dump(input: &[u8]) {
    let mut last = 0;
    for line in dump::dump(input) {
        match line {
            Ok(line) => {
                assert!(
                    line.offset >= last && line.offset <= input.len() as u64,
                    "a line at {}",
                    line.offset
                );
                last = line.offset;
                line.guesses().for_each(|guess| drop(format!("{guess:?}")));
            }
            Err(error) => {
                assert!(error.at() <= input.len() as u64, "{error} in {} octets", input.len());
                return told(&error);
            }
        }
    }
}

/// A specification has a model and, without errors, plans and source text, the same ones each time.
pub(super) fn asn1(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let schema = Schema::from_text("fuzz.asn", text);
    let rendered = schema.render(false);
    assert!(schema.has_errors() != rendered.is_empty() || !schema.has_errors(), "an error without a word");
    if schema.has_errors() {
        return;
    }
    let rules = [Rules::Ber, Rules::Aper, Rules::Uper, Rules::Oer];
    let Ok(_) = schema.plans(&rules, &[]) else { return };
    let print = || schema.rust(&rules[..1], &[], &RustOptions::default());
    if let (Ok(first), Ok(second)) = (print(), print()) {
        assert!(first == second, "the same text gives the same code");
    }
}

/// The schemas that we ship, their modules apart, and pieces of them.
pub(super) fn asn1_seeds() -> Vec<Vec<u8>> {
    let files = [
        "crates/conformance/tests/generated/zoo.asn",
        "crates/conformance/src/fuzz/rest.asn",
        "schemas/personnel/PersonnelRecord.asn",
        "schemas/demo/Demo-CDR.asn",
        "schemas/ldap/LDAP.asn",
    ];
    let read = |file: &str| std::fs::read_to_string(corpora::repository().join(file)).expect(file);
    let mut seeds = Vec::new();
    for text in files.into_iter().map(read) {
        for assignment in text.split("\n\n").filter(|part| part.contains("::=") && part.len() < 1500) {
            let module = format!("M DEFINITIONS AUTOMATIC TAGS ::= BEGIN\n{assignment}\nEND\n");
            seeds.push(if assignment.contains("BEGIN") { assignment.into() } else { module.into_bytes() });
        }
    }
    seeds
}

/// The octets of a file are in records, filler, wrappers, or rejects: none twice, none nowhere.
pub(super) fn records(input: &[u8]) {
    let Some((&first, input)) = input.split_first() else { return };
    let plain = Framing::concatenated(Identifiers::any());
    let framing = match first % 8 {
        0 => plain,
        1 => detect(&plain, input, true, &mut |_: RecordFormat, _: &[u8]| true)
            .map_or(plain, |found| found.framing),
        kind => {
            let words = ["block:64", "block:32:4:used", "u16be", "u32le-incl", "bdw", "ts32297"];
            plain.with(words[usize::from(kind) - 2]).expect("words of our own")
        }
    };
    let mut reader = RecordReader::new(input, framing);
    let mut end = 0;
    loop {
        match reader.next(&mut |octets| first & 0x80 == 0 || octets.len() % 3 != 0) {
            Ok(Some(item)) => {
                assert!(item.offset >= end, "octets twice: {} before {end}", item.offset);
                end = item.offset + item.octets.len() as u64;
                assert!(end <= input.len() as u64, "octets that are not there: {end}");
            }
            Ok(None) => break,
            Err(error) => return told(&error),
        }
    }
}

pub(super) fn record_seeds() -> Vec<Vec<u8>> {
    let records: Vec<_> = values::ber_seeds().into_iter().filter(|seed| seed.len() < 200).collect();
    let mut seeds = Vec::new();
    for (i, some) in records.chunks(3).enumerate() {
        let plain: Vec<u8> = some.iter().flat_map(|seed| seed[1..].iter().copied()).collect();
        let counted = some.iter().flat_map(|seed| {
            let length = (seed.len() as u16 - 1).to_be_bytes();
            length.into_iter().chain(seed[1..].iter().copied())
        });
        let (kind, octets) = if i % 2 == 0 { (i as u8 % 8, plain) } else { (4, counted.collect()) };
        seeds.push(std::iter::once(kind).chain(octets).collect());
    }
    seeds
}
