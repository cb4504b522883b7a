//! No record is lost by the trial of framings: files are built from good and damaged records whose borders are known, in
//! every framing. The trial has to find exactly the good ones, and everything else has to be where it was put.
//!
//! `PROPTEST_CASES=100000` tries that many files.

#![cfg(feature = "records")]

use proptest::collection::vec;
use proptest::prelude::*;
use std::sync::{Arc, LazyLock};
use tercet_schema::dynamic::Options;
use tercet_schema::records::{Check, Decodes, Framing, Part, RecordReader, detect};
use tercet_schema::{RecordPlan, Schema};

const MODULE: &str = "Trial DEFINITIONS IMPLICIT TAGS ::= BEGIN
    Rec ::= CHOICE { call [0] Call, data [1] Data, other [40] Other }
    Call ::= SEQUENCE {
        imsi [0] OCTET STRING (SIZE (3..8)), node [1] IA5String OPTIONAL, start [2] OCTET STRING (SIZE (9)) OPTIONAL,
        duration [3] INTEGER OPTIONAL, answered [5] BOOLEAN OPTIONAL, parts [6] SEQUENCE OF Part OPTIONAL }
    Part ::= SEQUENCE { number INTEGER, text [1] UTF8String OPTIONAL }
    Data ::= SET { imsi [0] OCTET STRING, volume [1] INTEGER OPTIONAL }
    Other ::= SEQUENCE { id [0] INTEGER, payload [1] OCTET STRING, ... }
END";

static PLAN: LazyLock<RecordPlan> = LazyLock::new(|| {
    let schema = Schema::from_text("trial.asn", MODULE);
    assert!(!schema.has_errors(), "{}", schema.render(false));
    RecordPlan::new(&Arc::new(schema), "Rec", None).unwrap()
});

/// What a record is made of.
#[derive(Clone, Debug)]
struct Making {
    damage: Option<Damage>,
    kind: u8,
    octets: Vec<u8>,
    number: u32,
    parts: usize,
    indefinite: bool,
}

#[derive(Clone, Copy, Debug)]
enum Damage {
    /// An alternative of another release, around a record that would decode.
    Around,
    /// An alternative of another release.
    Alternative,
    /// The first component is not there.
    Missing,
    /// A component that the type does not have.
    Component,
    /// A BOOLEAN of two octets.
    Value,
    /// An element inside reaches beyond the record.
    Beyond,
    /// The length of the record is too large; only lengths in front of records tell where it ends.
    Length,
}

fn element(identifier: &[u8], contents: &[u8]) -> Vec<u8> {
    let length = match contents.len() {
        short @ 0..=127 => vec![short as u8],
        short @ 128..=255 => vec![0x81, short as u8],
        long => [&[0x82][..], &(long as u16).to_be_bytes()].concat(),
    };
    [identifier, &length, contents].concat()
}

fn good(making: &Making) -> Vec<u8> {
    let Making { octets, number, parts, .. } = making;
    let imsi: Vec<u8> = octets.iter().chain(&[0x99, 0x79, 0x00]).copied().take(8).collect();
    let number = number.to_be_bytes();
    let number = [&[0][..], &number].concat();
    match making.kind % 3 {
        0 => {
            let part = element(&[0x30], &[element(&[0x02], &[7]), element(&[0x81], b"part")].concat());
            let mut contents = [element(&[0x80], &imsi), element(&[0x81], b"MSC1")].concat();
            contents.extend(element(&[0x82], &[0x26, 1, 1, 8, 0x30, 0, 0x2B, 1, 0]));
            contents.extend(element(&[0x83], &number));
            contents.extend(element(&[0xA6], &part.repeat(*parts)));
            if making.indefinite {
                return [&[0xA0, 0x80][..], &contents, &[0, 0]].concat();
            }
            element(&[0xA0], &contents)
        }
        1 => element(&[0xA1], &[element(&[0x80], &imsi), element(&[0x81], &number)].concat()),
        _ => element(&[0xBF, 40], &[element(&[0x80], &number), element(&[0x81], octets)].concat()),
    }
}

fn made(making: &Making) -> Vec<u8> {
    let record = good(making);
    match making.damage {
        None => record,
        Some(Damage::Around) => element(&[0xA9], &record.repeat(1 + making.parts % 5)),
        Some(Damage::Alternative) => {
            element(&[0xBF, 50], &[element(&[0x84], &making.octets), element(&[0x30], &[])].concat())
        }
        Some(Damage::Missing) => element(&[0xA0], &element(&[0x81], b"MSC1")),
        Some(Damage::Component) => {
            element(&[0xA1], &[element(&[0x80], &[1]), element(&[0x9E], &making.octets)].concat())
        }
        Some(Damage::Value) => {
            element(&[0xA0], &[element(&[0x80], &[1, 2, 3]), element(&[0x85], &[1, 2])].concat())
        }
        Some(Damage::Beyond) => {
            element(&[0xA0], &[&element(&[0x80], &[1, 2, 3])[..], &[0x81, 0x20, 0x41]].concat())
        }
        Some(Damage::Length) => {
            let mut octets = element(&[0xA1], &element(&[0x80], &[1, 2, 3]));
            octets[1] += 3;
            octets
        }
    }
}

/// A file: its octets, and where the records stand in it.
type File = (Vec<u8>, Vec<usize>);

/// Records with something in front of each.
fn with(records: &[Vec<u8>], before: impl Fn(usize, &[u8]) -> Vec<u8>) -> File {
    let (mut file, mut places) = (Vec::new(), Vec::new());
    for (index, record) in records.iter().enumerate() {
        file.extend(before(index, record));
        places.push(file.len());
        file.extend(record);
    }
    (file, places)
}

/// Records in blocks that they do not cross.
fn blocks(records: &[Vec<u8>], header: usize, pad: u8) -> File {
    let longest = records.iter().map(Vec::len).max().unwrap_or(0);
    let size = (longest + header).next_multiple_of(512).max(1024);
    let (mut file, mut places) = (Vec::new(), Vec::new());
    let mut block: Vec<&Vec<u8>> = Vec::new();
    let mut end = |block: &mut Vec<&Vec<u8>>| {
        let begin = file.len();
        let used: usize = block.iter().map(|record| record.len()).sum();
        let number = (begin / size) as u16;
        file.extend(&[&(used as u16).to_be_bytes()[..], &number.to_be_bytes()].concat()[..header]);
        for record in block.drain(..) {
            places.push(file.len());
            file.extend(record);
        }
        file.resize(begin + size, pad);
    };
    for record in records {
        if header + block.iter().map(|record| record.len()).sum::<usize>() + record.len() > size {
            end(&mut block);
        }
        block.push(record);
    }
    end(&mut block);
    (file, places)
}

/// A file of 3GPP TS 32.297.
fn ts32297(records: &[Vec<u8>]) -> File {
    let (body, places) = with(records, |_, record| {
        [&(record.len() as u16).to_be_bytes()[..], &[7 << 5 | 2, 1 << 5 | 7, 6]].concat()
    });
    let mut file = vec![0; 54];
    file[..4].copy_from_slice(&(54 + body.len() as u32).to_be_bytes());
    file[4..8].copy_from_slice(&54_u32.to_be_bytes());
    file[8..10].fill(7 << 5 | 2);
    file[18..22].copy_from_slice(&(records.len() as u32).to_be_bytes());
    file[52..54].fill(6);
    file.extend(body);
    (file, places.into_iter().map(|place| 54 + place).collect())
}

const FRAMINGS: [&str; 14] = [
    "plain",
    "filler",
    "blocks",
    "blocks-ff",
    "blocks-headers",
    "u16be",
    "u16le",
    "u16be-incl",
    "u32be",
    "u32le",
    "rdw",
    "ts32297",
    "header",
    "end-filler",
];

fn file(framing: &str, records: &[Vec<u8>]) -> File {
    let lengths = |size: fn(usize) -> Vec<u8>| with(records, |_, record| size(record.len()));
    match framing {
        "plain" => with(records, |_, _| Vec::new()),
        "filler" => {
            with(records, |index, record| vec![if record.len() % 2 == 0 { 0 } else { 0xFF }; index % 5])
        }
        "end-filler" => {
            let (mut file, places) = with(records, |_, _| Vec::new());
            file.extend([0; 700]);
            (file, places)
        }
        "blocks" => blocks(records, 0, 0),
        "blocks-ff" => blocks(records, 0, 0xFF),
        "blocks-headers" => blocks(records, 4, 0),
        "u16be" => lengths(|size| (size as u16).to_be_bytes().to_vec()),
        "u16le" => lengths(|size| (size as u16).to_le_bytes().to_vec()),
        "u16be-incl" => lengths(|size| (size as u16 + 2).to_be_bytes().to_vec()),
        "u32be" => lengths(|size| (size as u32).to_be_bytes().to_vec()),
        "u32le" => lengths(|size| (size as u32).to_le_bytes().to_vec()),
        "rdw" => lengths(|size| [&(size as u16 + 4).to_be_bytes()[..], &[0, 0]].concat()),
        "ts32297" => ts32297(records),
        // A header that is no element, in front of plain records.
        _ => {
            with(records, |index, _| if index == 0 { b"\x01file of records\0".to_vec() } else { Vec::new() })
        }
    }
}

fn makings() -> impl Strategy<Value = Vec<Making>> {
    let damage = prop_oneof![
        Just(Damage::Around),
        Just(Damage::Alternative),
        Just(Damage::Missing),
        Just(Damage::Component),
        Just(Damage::Value),
        Just(Damage::Beyond),
        Just(Damage::Length),
    ];
    (1_u8..=9).prop_flat_map(move |share| {
        let damage = proptest::option::weighted(f64::from(share) / 12.0, damage.clone());
        let parts = (
            damage,
            any::<u8>(),
            vec(any::<u8>(), 3..40),
            any::<u32>(),
            0_usize..12,
            proptest::bool::weighted(0.1),
        );
        vec(
            parts.prop_map(|(damage, kind, octets, number, parts, indefinite)| Making {
                damage,
                kind,
                octets,
                number,
                parts,
                indefinite,
            }),
            1..80,
        )
    })
}

fn has_lengths(framing: &str) -> bool {
    framing.starts_with('u') || matches!(framing, "rdw" | "ts32297")
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, max_shrink_iters: 600, max_global_rejects: 10_000_000, ..ProptestConfig::default() })]

    #[test]
    fn no_record_is_lost_by_the_framing_trial(mut makings in makings(), framing in proptest::sample::select(&FRAMINGS[..])) {
        if !has_lengths(framing) {
            makings.retain(|making| !matches!(making.damage, Some(Damage::Length)));
        }
        // Octets that nothing confirms to be a header are told from records by the records around them.
        let good = makings.iter().filter(|making| making.damage.is_none()).count();
        let unconfirmed = matches!(framing, "header" | "blocks-headers");
        prop_assume!(!unconfirmed || 3 * good >= 2 * makings.len());
        // Without any record that decodes there is nothing to tell framings by.
        prop_assume!(good > 0);
        check(framing, &makings)?;
    }
}

fn check(framing: &str, makings: &[Making]) -> Result<(), TestCaseError> {
    let records: Vec<Vec<u8>> = makings.iter().map(made).collect();
    let (octets, places) = file(framing, &records);
    let plan = &*PLAN;
    let options = Options::default();
    let mut check = Check::new(&plan.plan, Some(&plan.others), plan.record, &options);
    let found = detect(&plan.framing, &octets, true, &mut check)
        .map_or_else(|| plan.framing.clone(), |found| found.framing);
    let mut known: Vec<(usize, &[u8])> = Vec::new();
    let mut rejects: Vec<(usize, &[u8])> = Vec::new();
    for ((making, record), place) in makings.iter().zip(&records).zip(&places) {
        let kind = if making.damage.is_none() { &mut known } else { &mut rejects };
        kind.push((*place, &record[..]));
    }
    let pieces = pieces(&octets, &found, &mut check);
    let of = |wanted: Kind| {
        pieces.iter().filter(move |piece| piece.0 == wanted).map(|piece| (piece.1, &piece.2[..]))
    };
    prop_assert_eq!(of(Kind::Record).collect::<Vec<_>>(), known, "{} read as {}", framing, found.spelt());
    if matches!(framing, "header" | "blocks-headers") {
        // A header that nothing confirms is rejected, with damaged records behind it.
        let mut rejected = vec![false; octets.len()];
        of(Kind::Rejected).for_each(|(place, octets)| rejected[place..place + octets.len()].fill(true));
        for (place, octets) in rejects {
            let all = rejected[place..place + octets.len()].iter().all(|rejected| *rejected);
            prop_assert!(all, "{} read as {}: {}", framing, found.spelt(), place);
        }
    } else {
        prop_assert_eq!(
            of(Kind::Rejected).collect::<Vec<_>>(),
            rejects,
            "{} read as {}",
            framing,
            found.spelt()
        );
    }
    // All of it is somewhere, once.
    let mut again = vec![None; octets.len()];
    for (_, offset, octets) in &pieces {
        for (at, octet) in octets.iter().enumerate() {
            prop_assert_eq!(again[offset + at].replace(*octet), None);
        }
    }
    for (at, octet) in again.iter().enumerate() {
        // What lengths and blocks say is taken out before elements are read.
        let carved = octet.is_none() && found.file != tercet_schema::records::FileFraming::Plain;
        prop_assert!(carved || *octet == Some(octets[at]), "octet {}", at);
    }
    Ok(())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Record,
    Rejected,
    Beside,
}

/// What a file is cut into: kind, offset, octets.
fn pieces(octets: &[u8], framing: &Framing, check: &mut Check<'_>) -> Vec<(Kind, usize, Vec<u8>)> {
    let mut reader = RecordReader::new(octets, framing.clone());
    let mut pieces: Vec<(Kind, usize, Vec<u8>)> = Vec::new();
    loop {
        let mut is_record = |octets: &[u8]| check.decodes(Default::default(), octets);
        let Some(item) = reader.next(&mut is_record).unwrap() else { break };
        let (offset, octets) = (item.offset as usize, item.octets.to_vec());
        let (kind, continued) = match item.part {
            Part::Record => (Kind::Record, false),
            Part::Rejected { continued, .. } => (Kind::Rejected, continued),
            _ => (Kind::Beside, false),
        };
        if kind == Kind::Record && !check.decodes(Default::default(), &octets) {
            reader.reject();
        } else if continued && let Some(last) = pieces.last_mut() {
            last.2.extend(octets);
        } else if !octets.is_empty() {
            pieces.push((kind, offset, octets));
        }
    }
    pieces
}
