//! No record is lost by the trial of framings: files are built from good and damaged records whose borders are known, in
//! every framing. The trial has to find exactly the good ones, and everything else has to be where it was put.
//!
//! `PROPTEST_CASES=100000` tries that many files.

#![cfg(feature = "records")]

use proptest::collection::vec;
use proptest::prelude::*;
use std::io;
use std::ops::ControlFlow;
use std::sync::{Arc, LazyLock};
use tercet_schema::dynamic::{Error, Options, View};
use tercet_schema::model::Tagging;
use tercet_schema::records::{
    Check, Converter, Decodes, FileFraming, Framing, Origin, Part, RecordReader, RejectFile, RowWriter,
    Settings, Targets, detect,
};
use tercet_schema::{Doctor, GivenFraming, RecordPlan, Schema};

const MODULE: &str = "Trial DEFINITIONS IMPLICIT TAGS ::= BEGIN
    Rec ::= CHOICE { call [0] Call, data [1] Data, other [40] Other }
    Call ::= SEQUENCE {
        imsi [0] OCTET STRING (SIZE (3..8)), node [1] IA5String OPTIONAL, start [2] OCTET STRING (SIZE (9)) OPTIONAL,
        duration [3] INTEGER OPTIONAL, answered [5] BOOLEAN OPTIONAL, parts [6] SEQUENCE OF Part OPTIONAL }
    Part ::= SEQUENCE { number INTEGER, text [1] UTF8String OPTIONAL }
    Data ::= SET { imsi [0] OCTET STRING, volume [1] INTEGER OPTIONAL }
    Other ::= SEQUENCE { id [0] INTEGER, payload [1] OCTET STRING, ... }
    Batch ::= [APPLICATION 1] SEQUENCE {
        sender [APPLICATION 2] OCTET STRING OPTIONAL, list [APPLICATION 3] SEQUENCE OF Rec, count [APPLICATION 4] INTEGER OPTIONAL }
END";

/// Plans for records, and for records in the list of a type.
static PLANS: LazyLock<(RecordPlan, RecordPlan)> = LazyLock::new(|| {
    let schema = Schema::from_text("trial.asn", MODULE);
    assert!(!schema.has_errors(), "{}", schema.render(false));
    let schema = Arc::new(schema);
    let plan = |name, path| RecordPlan::new(&schema, name, path).unwrap();
    (plan("Rec", None), plan("Batch", Some("list")))
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

/// An element of definite or indefinite length.
fn any_length(identifier: &[u8], contents: &[u8], indefinite: bool) -> Vec<u8> {
    if indefinite { [identifier, &[0x80], contents, &[0, 0]].concat() } else { element(identifier, contents) }
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
            any_length(&[0xA0], &contents, making.indefinite)
        }
        1 => element(&[0xA1], &[element(&[0x80], &imsi), element(&[0x81], &number)].concat()),
        _ => element(&[0xBF, 40], &[element(&[0x80], &number), element(&[0x81], octets)].concat()),
    }
}

fn made(making: &Making) -> Vec<u8> {
    let record = good(making);
    let any_length = |identifier: &[u8], contents: &[u8]| any_length(identifier, contents, making.indefinite);
    match making.damage {
        None => record,
        Some(Damage::Around) => any_length(&[0xA9], &record.repeat(1 + making.parts % 5)),
        Some(Damage::Alternative) => {
            any_length(&[0xBF, 50], &[element(&[0x84], &making.octets), element(&[0x30], &[])].concat())
        }
        Some(Damage::Missing) => any_length(&[0xA0], &element(&[0x81], b"MSC1")),
        Some(Damage::Component) => {
            any_length(&[0xA1], &[element(&[0x80], &[1]), element(&[0x9E], &making.octets)].concat())
        }
        Some(Damage::Value) => {
            any_length(&[0xA0], &[element(&[0x80], &[1, 2, 3]), element(&[0x85], &[1, 2])].concat())
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

/// What stands around records.
#[derive(Clone, Debug)]
struct Layout {
    /// Elements around the list, inside one another.
    levels: usize,
    /// For each of these elements whether its length is indefinite.
    indefinite: u8,
    /// Elements in front of each list and behind it.
    headers: usize,
    trailers: usize,
    /// Values around lists, and lists in each.
    batches: usize,
    lists: usize,
    /// Whether the elements around look like records of a kind that is not known.
    alike: bool,
    /// Octets of headers of records and of control records.
    noise: Vec<u8>,
    /// Octets of the header of a record.
    gap: usize,
}

fn layouts() -> impl Strategy<Value = Layout> {
    let counts = (1_usize..=4, 0_usize..4, 0_usize..3, 1_usize..=3, 1_usize..=3, 1_usize..=12);
    (counts, any::<u8>(), any::<bool>(), vec(any::<u8>(), 12..40)).prop_map(
        |((levels, headers, trailers, batches, lists, gap), indefinite, alike, noise)| Layout {
            levels,
            indefinite,
            headers,
            trailers,
            batches,
            lists,
            alike,
            noise,
            gap,
        },
    )
}

/// A file in the making.
#[derive(Default)]
struct Writing {
    octets: Vec<u8>,
    places: Vec<usize>,
}

impl Writing {
    fn record(&mut self, record: &[u8]) {
        self.places.push(self.octets.len());
        self.octets.extend(record);
    }

    /// Adds what another one has around what it writes: an element.
    fn inside(&mut self, identifier: &[u8], indefinite: bool, inner: Self) {
        let whole = any_length(identifier, &inner.octets, indefinite);
        let behind = if indefinite { 2 } else { 0 };
        let begin = self.octets.len() + whole.len() - behind - inner.octets.len();
        self.places.extend(inner.places.iter().map(|place| begin + place));
        self.octets.extend(whole);
    }
}

/// Cuts records into at most so many parts of three records or more: an element with one record looks like a record.
fn parts(records: &[Vec<u8>], count: usize) -> Vec<&[Vec<u8>]> {
    let count = count.min(records.len() / 3).max(1);
    (0..count)
        .map(|part| &records[part * records.len() / count..(part + 1) * records.len() / count])
        .collect()
}

/// Records in lists inside of values.
fn inside(records: &[Vec<u8>], layout: &Layout, around: &[&[u8]], beside: &[u8]) -> File {
    let mut all = Writing::default();
    for records in parts(records, layout.batches) {
        value(&mut all, records, layout, (around, 0), beside);
    }
    (all.octets, all.places)
}

fn value(all: &mut Writing, records: &[Vec<u8>], layout: &Layout, around: (&[&[u8]], usize), beside: &[u8]) {
    let (around, level) = around;
    let Some((identifier, rest)) = around.split_first() else {
        return records.iter().for_each(|record| all.record(record));
    };
    let indefinite = layout.indefinite >> level & 1 != 0;
    let mut inner = Writing::default();
    let members = |count: usize| {
        let counts = 0..if rest.is_empty() { 0 } else { count };
        counts.flat_map(|number| element(beside, &layout.noise[..number])).collect::<Vec<_>>()
    };
    inner.octets.extend(members(layout.headers));
    // The innermost lists stand one behind the other.
    let count = if rest.len() == 1 { layout.lists } else { 1 };
    for records in parts(records, count) {
        value(&mut inner, records, layout, (rest, level + 1), beside);
    }
    inner.octets.extend(members(layout.trailers));
    all.inside(identifier, indefinite, inner);
}

/// Records between control records.
fn controls(records: &[Vec<u8>], layout: &Layout) -> File {
    let mut all = Writing::default();
    let text: Vec<u8> = layout
        .noise
        .iter()
        .map(|octet| b" 0123456789ABCDEFGHIJKLMNOPQRSTU"[usize::from(octet % 32)])
        .collect();
    let control = |all: &mut Writing, signature: &[u8]| all.octets.extend([signature, &text].concat());
    control(&mut all, b"FD");
    for records in parts(records, layout.batches) {
        control(&mut all, b"LD");
        records.iter().for_each(|record| all.record(record));
        control(&mut all, b"LT");
    }
    control(&mut all, b"FT");
    (all.octets, all.places)
}

/// Records in blocks with headers, which they cross.
fn crossing(records: &[Vec<u8>]) -> File {
    let (size, header) = (512, 4);
    let mut all = Writing::default();
    let total: usize = records.iter().map(Vec::len).sum();
    let mut left = total;
    for record in records {
        for (index, octet) in record.iter().enumerate() {
            if all.octets.len() % size == 0 {
                let (used, number) = (left.min(size - header) as u16, (all.octets.len() / size) as u16);
                all.octets.extend([used.to_be_bytes(), number.to_be_bytes()].concat());
            }
            if index == 0 {
                all.places.push(all.octets.len());
            }
            all.octets.push(*octet);
            left -= 1;
        }
    }
    let end = all.octets.len().next_multiple_of(size);
    all.octets.resize(end, 0);
    (all.octets, all.places)
}

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

const FRAMINGS: [&str; 19] = [
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
    "inside",
    "list",
    "controls",
    "crossing",
    "record-headers",
];

fn file(framing: &str, records: &[Vec<u8>], layout: &Layout) -> File {
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
        "inside" => {
            let kinds: [[&[u8]; 4]; 2] = [
                [&[0x61], &[0x7F, 0x81, 0x09], &[0x30], &[0x63]],
                [&[0xB0], &[0x30], &[0xBF, 0x60], &[0xB3]],
            ];
            let kinds = &kinds[usize::from(layout.alike)][..layout.levels];
            inside(records, layout, kinds, &[0x5F, 0x81, 0x44])
        }
        "list" => inside(
            records,
            &Layout {
                lists: 1,
                headers: layout.headers.min(1),
                trailers: layout.trailers.min(1),
                ..layout.clone()
            },
            &[&[0x61], &[0x63]],
            &[0x42],
        ),
        "controls" => controls(records, layout),
        "crossing" => crossing(records),
        "record-headers" => with(records, |index, record| {
            // Octets that no record begins with.
            let mut header: Vec<u8> = layout.noise[..layout.gap].iter().map(|octet| octet & 0x7F).collect();
            // No element begins so.
            header[..2.min(layout.gap)].copy_from_slice(&[0x11, 0xFF][..2.min(layout.gap)]);
            if let [.., length, number] = &mut header[2.min(layout.gap)..] {
                (*length, *number) = (record.len() as u8 & 0x7F, index as u8 & 0x7F);
            }
            header
        }),
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

/// Whether nothing in the file confirms what its headers are.
fn is_unconfirmed(framing: &str) -> bool {
    matches!(framing, "header" | "blocks-headers" | "record-headers" | "crossing")
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, max_shrink_iters: 600, max_global_rejects: 10_000_000, ..ProptestConfig::default() })]

    #[test]
    fn no_record_is_lost_by_the_framing_trial(mut makings in makings(), layout in layouts(), framing in proptest::sample::select(&FRAMINGS[..])) {
        if !has_lengths(framing) {
            makings.retain(|making| !matches!(making.damage, Some(Damage::Length)));
        }
        let good = makings.iter().filter(|making| making.damage.is_none()).count();
        // Without any record that decodes there is nothing to tell framings by.
        prop_assume!(good > 0);
        // Headers that nothing confirms are told from records by records that decode: four, and half of the octets.
        let octets = |damaged: bool| -> usize {
            makings.iter().filter(|making| making.damage.is_some() == damaged).map(|making| made(making).len()).sum()
        };
        prop_assume!(!is_unconfirmed(framing) || good > 3 && octets(false) >= octets(true));
        check(framing, &makings, &layout)?;
    }
}

fn check(framing: &str, makings: &[Making], layout: &Layout) -> Result<(), TestCaseError> {
    let records: Vec<Vec<u8>> = makings.iter().map(made).collect();
    let (octets, places) = file(framing, &records, layout);
    let plan = if framing == "list" { &PLANS.1 } else { &PLANS.0 };
    let options = Options::default();
    let mut check = Check::new(&plan.plan, Some(&plan.others), plan.record, &options);
    let found = detect(&plan.framing, &octets, true, &mut check)
        .map_or_else(|| plan.framing.clone(), |found| found.framing);
    let spelt = found.spelt();
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
    let told = told(framing, &spelt, makings, &records, &places, &pieces);
    prop_assert!(of(Kind::Record).eq(known.iter().copied()), "records: {}", told);
    // Where the octets of a piece stand: headers of blocks are between them.
    let next = |at: usize| match found.file {
        FileFraming::Blocks { size, header, .. } if at.is_multiple_of(size as usize) => {
            at + usize::from(header)
        }
        _ => at,
    };
    let places_of = |place: usize, octets: &[u8]| {
        let mut at = place;
        let each = octets.iter().map(|_| {
            let here = next(at);
            at = here + 1;
            here
        });
        each.collect::<Vec<_>>()
    };
    if is_unconfirmed(framing) {
        // A header that nothing confirms is rejected, with damaged records behind it.
        let mut rejected = vec![false; octets.len()];
        for (place, octets) in of(Kind::Rejected) {
            places_of(place, octets).into_iter().for_each(|at| rejected[at] = true);
        }
        for (place, octets) in &rejects {
            let all = places_of(*place, octets).into_iter().all(|at| rejected[at]);
            prop_assert!(all, "{} is not rejected: {}", place, told);
        }
    } else {
        prop_assert!(of(Kind::Rejected).eq(rejects.iter().copied()), "rejects: {}", told);
    }
    // All of it is somewhere, once.
    let mut again = vec![None; octets.len()];
    for (_, offset, octets) in &pieces {
        for (at, octet) in places_of(*offset, octets).into_iter().zip(octets) {
            prop_assert_eq!(again[at].replace(*octet), None);
        }
    }
    for (at, octet) in again.iter().enumerate() {
        // What lengths and blocks say is taken out before elements are read.
        let carved = octet.is_none() && found.file != FileFraming::Plain;
        prop_assert!(carved || *octet == Some(octets[at]), "octet {}", at);
    }
    converted(&octets, plan, &pieces)
}

/// What a file has, and what has been found in it: places and lengths.
fn told(
    framing: &str,
    spelt: &str,
    makings: &[Making],
    records: &[Vec<u8>],
    places: &[usize],
    pieces: &[(Kind, usize, Vec<u8>)],
) -> String {
    let mut told = format!("{framing} read as {spelt}\n");
    for ((making, record), place) in makings.iter().zip(records).zip(places) {
        let damage = making.damage.map_or_else(|| "good".to_owned(), |damage| format!("{damage:?}"));
        let indefinite = if record[record.len() - 2..] == [0, 0] { " indefinite" } else { "" };
        told += &format!("  {place} {} {damage} {:02X}{indefinite}\n", record.len(), record[0]);
    }
    for (kind, place, octets) in pieces {
        let begin = &octets[..octets.len().min(6)];
        told += &format!("    found {place} {} {kind:?} {begin:02X?}\n", octets.len());
    }
    told
}

/// Keeps the records that it gets, with their places.
#[derive(Default)]
struct Keep(Vec<(usize, Vec<u8>)>);

impl RowWriter for Keep {
    fn record(&mut self, _: View<'_>, origin: &Origin<'_>, _: &mut Vec<u8>) -> Result<(), Error> {
        self.0.push((origin.offset as usize, origin.octets.to_vec()));
        Ok(())
    }
}

/// A conversion gives the records, its reject file the rejects, and its balance counts the rest.
fn converted(
    octets: &[u8],
    plan: &RecordPlan,
    pieces: &[(Kind, usize, Vec<u8>)],
) -> Result<(), TestCaseError> {
    let settings = Settings {
        outer: plan.outer,
        give_up_after: u64::MAX,
        detect: true,
        ..Settings::new(plan.framing.clone(), plan.record)
    };
    let mut render = Keep::default();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rejects");
    // Files take longer.
    let is_file = octets.len().is_multiple_of(8);
    let mut rejects = if is_file { RejectFile::new(&path).unwrap() } else { RejectFile::in_memory() };
    let mut targets = Targets {
        render: &mut render,
        out: &mut io::sink(),
        header: None,
        rejects: Some(&mut rejects),
        marks: None,
    };
    let mut converter = Converter::builder(&plan.plan, settings).other_rules(&plan.others).build();
    let summary = converter.run("input", octets, &mut targets, &mut |_| ControlFlow::Continue(())).unwrap();
    let of = |wanted: Kind| {
        pieces.iter().filter(move |piece| piece.0 == wanted).map(|piece| (piece.1, piece.2.clone()))
    };
    prop_assert_eq!(&render.0, &of(Kind::Record).collect::<Vec<_>>());
    let rejected: Vec<(usize, Vec<u8>)> = if is_file {
        rejects.commit().unwrap();
        let all = std::fs::read(&path).unwrap_or_default();
        let lines = std::fs::read_to_string(path.with_extension("jsonl")).unwrap_or_default();
        let reject = |line: &str| {
            let line: serde_json::Value = serde_json::from_str(line).unwrap();
            let number = |name: &str| line[name].as_u64().unwrap() as usize;
            let begin = number("rejectOffset");
            (number("offset"), all[begin..begin + number("length")].to_vec())
        };
        lines.lines().map(reject).collect()
    } else {
        let kept = rejects.take_kept();
        kept.into_iter().map(|(reject, octets)| (reject.offset as usize, octets)).collect()
    };
    prop_assert_eq!(rejected, of(Kind::Rejected).collect::<Vec<_>>());
    let total = |wanted: Kind| of(wanted).map(|(_, octets)| octets.len() as u64).sum::<u64>();
    let balance = summary.balance;
    prop_assert!(balance.adds_up(), "{}", balance);
    prop_assert_eq!(balance.read, octets.len() as u64);
    prop_assert_eq!((balance.records, balance.rejected), (total(Kind::Record), total(Kind::Rejected)));
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

#[test]
fn records_with_marked_values_rank_lower() {
    let schema = Arc::new(Schema::from_text(
        "marked.asn",
        "Marked DEFINITIONS IMPLICIT TAGS ::= BEGIN
            A ::= [1] SEQUENCE { name [0] PrintableString, number [1] INTEGER }
            B ::= [1] SEQUENCE { name [0] UTF8String, number [1] INTEGER }
            C ::= [1] SEQUENCE { name [0] NumericString, number [1] INTEGER }
        END",
    ));
    let record = |name: &[u8]| element(&[0xA1], &[element(&[0x80], name), element(&[0x81], &[5])].concat());
    let ways = |name: &[u8]| {
        let doctor = Doctor {
            schemas: vec![(Tagging::AsWritten, Arc::clone(&schema))],
            type_name: None,
            records: None,
            given: GivenFraming::default(),
            options: Options::default(),
            most: 5,
        };
        let ways = doctor.ways(&record(name).repeat(20), true).unwrap();
        ways.into_iter().map(|way| (way.type_name, way.fit.records, way.fit.marked)).collect::<Vec<_>>()
    };
    let way = |name: &str, marked| (format!("Marked.{name}"), 20, marked);
    assert_eq!(ways(b"a*b"), [way("B", 0), way("A", 20), way("C", 20)]);
    assert_eq!(ways(b"a b"), [way("A", 0), way("B", 0), way("C", 20)]);
    assert_eq!(ways(b"12 3"), [way("A", 0), way("B", 0), way("C", 0)]);
}
