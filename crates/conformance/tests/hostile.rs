//! Broken input: every prefix and every flipped bit of valid records, bombs of nesting and of length. Each gives a
//! value or an error, within 256 KiB of stack and within memory that the input pays for.

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use peak_alloc::PeakAlloc;
use tercet_conformance::corpora;
use tercet_conformance::engine::{Specification, Type};
use tercet_conformance::generate::{Random, module, value};
use tercet_dynamic::Tape;
use tercet_plan::Rules;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Memory is counted for the whole process: one test at a time.
static ALONE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

const STACK: usize = 256 * 1024;

/// Runs with a small stack and answers how much memory was held beyond what was held before.
fn confined(work: impl FnOnce() + Send) -> usize {
    let before = MEMORY.current_usage();
    MEMORY.reset_peak_usage();
    let outcome = std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
        thread.map(|thread| thread.join())
    });
    assert!(matches!(outcome, Ok(Ok(()))), "a panic, or no thread");
    MEMORY.peak_usage().saturating_sub(before)
}

/// A decode whose outcome does not matter, as long as there is one; the offset of an error lies in the input.
fn survive(of: &mut Type, tape: &mut Tape, octets: &[u8]) {
    for rules in [Rules::Ber, Rules::Der, Rules::Cer, Rules::Oer, Rules::Coer] {
        tape.clear();
        let node = of.node();
        match of.decode_into(node, rules, octets, tape) {
            Ok(length) => assert!(length <= octets.len(), "more read than there is"),
            Err(error) => {
                assert!(error.offset() <= octets.len() as u64, "{error} in {} octets", octets.len());
                assert!(error.to_string().len() <= 512, "{} octets of message", error.to_string().len());
            }
        }
    }
}

/// Every prefix and every single flipped bit.
fn damage(of: &mut Type, records: &[Vec<u8>]) -> usize {
    let longest = records.iter().map(Vec::len).max().unwrap_or_default();
    let peak = confined(|| {
        let mut tape = Tape::new();
        for record in records {
            for end in 0..record.len() {
                survive(of, &mut tape, &record[..end]);
            }
            let mut damaged = record.clone();
            for bit in 0..record.len() * 8 {
                damaged[bit / 8] ^= 0x80 >> (bit % 8);
                survive(of, &mut tape, &damaged);
                damaged[bit / 8] ^= 0x80 >> (bit % 8);
            }
        }
    });
    let allowed = 64 * 1024 + 64 * longest;
    assert!(peak <= allowed, "{peak} octets of memory for records of up to {longest}");
    records.len()
}

fn random_records(want: usize, at_most: usize) -> Vec<(Type, Vec<u8>)> {
    let mut found = Vec::new();
    for seed in 1000.. {
        let mut random = Random::new(seed);
        let module = module(&mut random);
        let last = module.types.len() - 1;
        let Ok(specification) = Specification::from_text("random.asn", &module.text) else { continue };
        let Ok(mut of) = specification.root(&format!("T{last}")) else { continue };
        let value = value(&mut random, &module.types, &module.types[last]);
        let rules = *random.pick(&[Rules::Ber, Rules::Der, Rules::Cer, Rules::Oer, Rules::Coer]);
        match of.encode(rules, &value) {
            Ok(octets) if (8..=at_most).contains(&octets.len()) => found.push((of, octets)),
            _ => {}
        }
        if found.len() >= want || seed > 1000 + 20 * want as u64 {
            break;
        }
    }
    found
}

#[test]
fn damaged_records_of_random_types() {
    let _alone = alone();
    let records = random_records(200, 400);
    assert!(records.len() >= 200, "only {} records", records.len());
    for (mut of, record) in records {
        damage(&mut of, &[record]);
    }
}

#[test]
fn damaged_call_records() {
    let _alone = alone();
    let own = tercet_testing::own_corpora().join("cdr");
    damaged_records(&own, "../../../schemas/demo/Demo-CDR.asn", "CallRecord", "synth/demo/calls_800.ber.zst");
    let Some(folder) = tercet_testing::all_corpora("cdr").into_iter().nth(1) else { return };
    let schema = "specs/synthetic/SYN-MSC-R12.asn";
    damaged_records(&folder, schema, "CallDataRecord", "synth/msc/msc_r12_20k.ber.zst");
}

/// The first 200 records of a file of the corpora, damaged.
fn damaged_records(folder: &Path, schema: &str, root: &str, file: &str) {
    let file = corpora::read(&folder.join(file)).expect("the records");
    let schema = folder.join(schema);
    let mut of = Specification::load(&[schema]).and_then(|s| s.root(root)).expect("the schema");
    let mut records = Vec::new();
    let mut at = 0;
    while records.len() < 200 {
        // Short definite lengths only, in this file.
        let header = if file[at + 1] < 0x80 { 2 } else { 2 + usize::from(file[at + 1] & 0x7F) };
        let length = if header == 2 {
            usize::from(file[at + 1])
        } else {
            file[at + 2..at + header].iter().fold(0, |n, &octet| n << 8 | usize::from(octet))
        };
        records.push(file[at..at + header + length].to_vec());
        at += header + length;
    }
    assert_eq!(damage(&mut of, &records), 200);
}

fn of(text: &str) -> Type {
    let text = format!("Hostile DEFINITIONS ::= BEGIN {text} END");
    Specification::from_text("hostile.asn", &text).and_then(|s| s.root("T")).expect("the type")
}

fn nested(begin: &[u8], levels: usize, end: &[u8]) -> Vec<u8> {
    let mut octets = begin.repeat(levels);
    octets.extend(end.repeat(levels));
    octets
}

/// Definite lengths around `levels` levels, from the inside out.
fn nested_definite(identifier: u8, levels: usize) -> Vec<u8> {
    let mut reversed = Vec::new();
    for _ in 0..levels {
        let length = reversed.len();
        if length < 0x80 {
            reversed.push(length as u8);
        } else {
            let octets: Vec<u8> = length.to_le_bytes().into_iter().rev().skip_while(|&o| o == 0).collect();
            reversed.extend(octets.iter().rev());
            reversed.push(0x80 | octets.len() as u8);
        }
        reversed.push(identifier);
    }
    reversed.reverse();
    reversed
}

#[test]
fn nesting_bombs() {
    let _alone = alone();
    const LEVELS: usize = 100_000;
    let inputs = [
        nested(&[0x30, 0x80], LEVELS, &[0, 0]),
        nested(&[0x30, 0x80], LEVELS, &[]),
        nested_definite(0x30, LEVELS),
        nested(&[0x24, 0x80], LEVELS, &[0, 0]),
        nested_definite(0x24, LEVELS),
        nested(&[0xA0, 0x80], LEVELS, &[0, 0]),
        nested(&[0x31, 0x80], LEVELS, &[0, 0]),
    ];
    let types = [
        "T ::= SEQUENCE OF T",
        "T ::= SEQUENCE { t T OPTIONAL }",
        "T ::= SET { t T OPTIONAL, ... }",
        "T ::= SEQUENCE { ... }",
        "T ::= CHOICE { a [0] T, b NULL }",
        "T ::= OCTET STRING",
        "T ::= SEQUENCE { a ANY OPTIONAL }",
        "T ::= SEQUENCE { a NULL OPTIONAL, ... }",
    ];
    for text in types {
        let mut of = of(text);
        for octets in &inputs {
            let peak = confined(|| survive(&mut of, &mut Tape::new(), octets));
            assert!(peak <= 64 * 1024 + 2 * octets.len(), "{text}: {peak} octets of memory");
        }
    }
}

#[test]
fn length_bombs() {
    let _alone = alone();
    let lengths: [&[u8]; 6] = [
        &[0x84, 0x7F, 0xFF, 0xFF, 0xFF],
        &[0x84, 0xFF, 0xFF, 0xFF, 0xFF],
        &[0x88, 0x80, 0, 0, 0, 0, 0, 0, 0],
        &[0x88, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
        &[0x88, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
        &[0xFE; 127],
    ];
    let types = [
        ("T ::= OCTET STRING", vec![0x04, 0x24]),
        ("T ::= BIT STRING", vec![0x03, 0x23]),
        ("T ::= INTEGER", vec![0x02]),
        ("T ::= OBJECT IDENTIFIER", vec![0x06]),
        ("T ::= REAL", vec![0x09]),
        ("T ::= UTF8String", vec![0x0C, 0x2C]),
        ("T ::= SEQUENCE OF BOOLEAN", vec![0x30]),
        ("T ::= SET { a BOOLEAN OPTIONAL, ... }", vec![0x31]),
    ];
    for (text, identifiers) in types {
        let mut of = of(text);
        for identifier in identifiers {
            for length in lengths {
                let octets = [&[identifier], length, &[0x01; 40]].concat();
                let peak = confined(|| survive(&mut of, &mut Tape::new(), &octets));
                assert!(peak <= 64 * 1024, "{text}: {peak} octets of memory for {}", octets.len());
            }
        }
    }
}

/// An element of a megabyte of contents.
fn giant(identifier: u8, contents: &[u8]) -> Vec<u8> {
    let length = (contents.len() as u32).to_be_bytes();
    [&[identifier, 0x84], &length[..], contents].concat()
}

#[test]
fn giants_give_a_value_or_an_error() {
    let _alone = alone();
    const MEGABYTE: usize = 1 << 20;
    let inputs = [
        ("T ::= INTEGER", giant(0x02, &vec![0x7F; MEGABYTE])),
        ("T ::= INTEGER", giant(0x02, &vec![0x00; MEGABYTE])),
        ("T ::= ENUMERATED { a, ... }", giant(0x0A, &vec![0x55; MEGABYTE])),
        ("T ::= OBJECT IDENTIFIER", giant(0x06, &vec![0x01; MEGABYTE])),
        ("T ::= OBJECT IDENTIFIER", giant(0x06, &[&vec![0xFF; MEGABYTE][..], &[0x7F]].concat())),
        ("T ::= RELATIVE-OID", giant(0x0D, &vec![0xFF; MEGABYTE])),
        ("T ::= REAL", giant(0x09, &vec![0x80; MEGABYTE])),
        ("T ::= REAL", giant(0x09, &[&[0x03][..], &vec![b'9'; MEGABYTE], b".E9"].concat())),
        ("T ::= REAL", giant(0x09, &[&[0x83, 0xFF][..], &vec![0x7F; MEGABYTE]].concat())),
        ("T ::= UTCTime", giant(0x17, &vec![b'9'; MEGABYTE])),
        (
            "T ::= GeneralizedTime",
            giant(0x18, &[b"19851106210627."[..].to_vec(), vec![b'1'; MEGABYTE]].concat()),
        ),
        ("T ::= SEQUENCE OF NULL", giant(0x30, &[0x05, 0x00].repeat(MEGABYTE / 2))),
        ("T ::= SET OF NULL", giant(0x31, &[0x05, 0x00].repeat(MEGABYTE / 2))),
        ("T ::= OCTET STRING", giant(0x24, &[0x04, 0x00].repeat(MEGABYTE / 2))),
        ("T ::= OCTET STRING", giant(0x24, &[0x04, 0x01, 0xAA].repeat(MEGABYTE / 3))),
        ("T ::= BIT STRING", giant(0x23, &[0x03, 0x02, 0x00, 0xAA].repeat(MEGABYTE / 4))),
        ("T ::= UTF8String", giant(0x2C, &[0x04, 0x01, b'a'].repeat(MEGABYTE / 3))),
    ];
    for (text, octets) in inputs {
        let mut of = of(text);
        let peak = confined(|| survive(&mut of, &mut Tape::new(), &octets));
        // An element of two octets is an entry of sixteen on the tape, which doubles as it grows.
        assert!(peak <= 64 * 1024 + 32 * octets.len(), "{text}: {peak} octets of memory");
        // And written as JSON or as DER, where it was accepted.
        confined(|| {
            let _ = of.decode(Rules::Ber, &octets);
            let _ = of.transcode(Rules::Ber, &octets, Rules::Der);
        });
    }
}
