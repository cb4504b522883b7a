//! The codecs written by hand read what ours read, into values that are written as ours are.

use std::path::PathBuf;

use tercet::dynamic::{Options, Tape};
use tercet::{Rules, Schema, SchemaOptions, TapeCodec};
use tercet_floor::{Record, msc, ngap, personnel, tap, x509};

/// An input of the benches.
struct Input {
    records: PathBuf,
    schema: Vec<PathBuf>,
    root: &'static str,
    rules: Rules,
}

/// The input if there are corpora.
fn input(file: &str, specification: &str, root: &'static str, rules: Rules) -> Option<Input> {
    let records = tercet_testing::corpora(&format!("asn1/bench/{file}"))?;
    let folder = records.parent()?.join("specs").join(specification);
    let mut schema: Vec<PathBuf> = std::fs::read_dir(folder).ok()?.flatten().map(|f| f.path()).collect();
    schema.retain(|path| !path.ends_with("RAP-0105.asn"));
    schema.sort();
    Some(Input { records, schema, root, rules })
}

fn records(input: &Input) -> &'static [&'static [u8]] {
    let mut rest: &'static [u8] = std::fs::read(&input.records).expect("the file is there").leak();
    let mut records = Vec::new();
    while let Some((length, behind)) = rest.split_first_chunk::<4>() {
        let (record, behind) = behind.split_at(u32::from_be_bytes(*length) as usize);
        records.push(record);
        rest = behind;
    }
    records.leak()
}

/// Records, a thousand at most from the whole input, are read by ours and by the prototype, into new memory and into used
/// memory, and written as ours writes them.
fn same<T: Record>(input: Option<Input>, checks: bool) {
    let Some(input) = input else { return };
    let schema = Schema::load(&input.schema, &SchemaOptions::default()).expect("it loads");
    let plan = schema.plan(input.rules.plan_rules(), &[input.root]).expect("it has a plan");
    let root = plan.root(input.root).expect("the root is there");
    let options = Options::default();
    let mut codec = TapeCodec::new(input.rules, &plan);
    let (mut tape, mut used, mut by) = (Tape::new(), T::default(), T::Out::default());
    let records = records(&input);
    assert!(records.len() > 100);
    for record in records.iter().step_by(records.len().div_ceil(1000)) {
        let length = codec.read(root, record, &mut tape, &options).expect("ours reads it");
        assert_eq!(length, record.len());
        let mut ours = Vec::new();
        codec.write(tape.view(record), &mut ours).expect("ours writes it");
        let mut new = T::default();
        assert!(new.read(record).is_some() && used.read(record).is_some(), "{record:02x?}");
        assert_eq!(T::check(record).is_some(), checks);
        for value in [&new, &used] {
            let mut theirs = b"before".to_vec();
            value.write(&mut by, &mut theirs);
            assert_eq!(theirs.strip_prefix(b"before"), Some(&ours[..]), "{record:02x?}");
        }
    }
    refuses::<T>(records);
}

/// Records that are cut short, or have an octet too many, are refused, and no bytes are a panic.
fn refuses<T: Record>(records: &'static [&'static [u8]]) {
    let mut value = T::default();
    for record in records.iter().take(5) {
        for end in 0..record.len() {
            assert!(value.read(&record[..end]).is_none(), "{end} of {record:02x?}");
        }
        let longer = [record, &[0_u8][..]].concat().leak();
        assert!(value.read(longer).is_none());
        let mut by = T::Out::default();
        for at in 0..record.len() {
            for bit in [0x01, 0x20, 0x80] {
                let mut octets = record.to_vec();
                octets[at] ^= bit;
                if value.read(octets.leak()).is_some() {
                    value.write(&mut by, &mut Vec::new());
                }
            }
        }
    }
}

#[test]
fn call_records() {
    same::<msc::Record>(input("msccdr.lp", "msccdr", "MSC-CDR.CallDataRecord", Rules::Ber), true);
}

#[test]
fn batches() {
    same::<tap::Record>(input("tap3.lp", "tap3", "TAP-0312.DataInterChange", Rules::Ber), true);
}

#[test]
fn certificates() {
    let certificates = input("x509_cabundle.lp", "x509", "PKIX1Explicit88.Certificate", Rules::Der);
    same::<x509::Certificate>(certificates, false);
}

#[test]
fn personnel_records() {
    let records = input("personnelA1_var.uper.lp", "personnelA1", "PersonnelA1.PersonnelRecord", Rules::Uper);
    same::<personnel::Record>(records, false);
}

#[test]
fn context_setups() {
    let messages = input("ngap_ics_var.per.lp", "ngap", "NGAP-PDU-Descriptions.NGAP-PDU", Rules::Aper);
    same::<ngap::Message>(messages, false);
}
