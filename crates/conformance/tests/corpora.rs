//! The record files of the corpora, every value of them, against what they are known to contain; and the vectors.

use std::path::Path;

use tercet_conformance::{fragmentation, truth, vectors};

/// Specification, type, path to the records, file without `.zst`, truth without `.jsonl.zst`, lines of truth.
type File = (&'static str, &'static str, &'static str, &'static str, &'static str, usize);

/// The files of this repository.
const OWN: &[File] = &[
    ("../../../../schemas/demo", "CallRecord", "", "demo/calls_800.ber", "demo/calls_800.truth", 800),
    (
        "../../../../schemas/demo",
        "CallRecord",
        "",
        "demo/calls_indefinite_200.ber",
        "demo/calls_indefinite_200.truth",
        200,
    ),
];

/// The files of the large corpora.
const FILES: &[File] = &[
    (
        "synthetic/SYN-MSC-R12.asn",
        "CallDataRecord",
        "",
        "msc/msc_r12_20k.ber",
        "msc/msc_r12_20k.truth",
        20_000,
    ),
    ("synthetic/SYN-IN-SCP.asn", "SCPRecord", "", "scp/in_scp_12k.ber", "scp/in_scp_12k.truth", 12_000),
    (
        "gsma-sigscale/TAP-0312.asn1",
        "DataInterChange",
        "transferBatch.callEventDetails",
        "tap/tap0312_typical_4k.ber",
        "tap/tap0312_typical_4k.truth",
        1_077,
    ),
    (
        "gsma-sigscale/TAP-0312.asn1",
        "DataInterChange",
        "transferBatch.callEventDetails",
        "tap/tap0312_10k.ber",
        "tap/tap0312_10k.truth",
        518,
    ),
    ("3gpp-32298-pycrate", "GPRSRecord", "", "ps_cs/ps_r16_4k.ber", "ps_cs/ps_r16_4k.ber.truth", 4_000),
    ("3gpp-32298-pycrate", "CSRecord", "", "ps_cs/cs_r16_6k.ber", "ps_cs/cs_r16_6k.ber.truth", 6_000),
];

#[test]
fn record_files_are_what_they_are_known_to_be() {
    are_as_known(&tercet_testing::own_corpora().join("cdr"), OWN);
    if let Some(folder) = tercet_testing::all_corpora("cdr").get(1) {
        are_as_known(folder, FILES);
    }
}

fn are_as_known(folder: &Path, files: &[File]) {
    for &(schema, name, records, file, known, lines) in files {
        let arguments = truth::Arguments {
            schema: vec![folder.join("specs").join(schema)],
            of_type: name.to_owned(),
            records: Some(records.to_owned()).filter(|path| !path.is_empty()),
            file: folder.join("synth").join(format!("{file}.zst")),
            truth: folder.join("synth").join(format!("{known}.jsonl.zst")),
        };
        let mut out = Vec::new();
        let tally = truth::run(&arguments, &mut out).unwrap_or_else(|e| panic!("{file}: {e}"));
        let said = String::from_utf8_lossy(&out);
        let said: String = said.lines().take(5).collect::<Vec<_>>().join("\n");
        assert_eq!((tally.passed, tally.failed), (lines, 0), "{file}: {tally}\n{said}");
    }
}

/// Vectors of BER, DER, CER, PER, OER and JER; those that the standard proves wrong are listed in
/// `tests/vector-exceptions.toml`.
#[test]
fn vectors_agree() {
    for folder in tercet_testing::all_corpora("asn1") {
        let is_own = folder.starts_with(tercet_testing::own_corpora());
        all_agree(&folder, if is_own { 300 } else { 100_000 });
    }
}

fn all_agree(folder: &Path, at_least: usize) {
    let mut files: Vec<_> = std::fs::read_dir(folder.join("vectors"))
        .expect("a folder of vectors")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|suffix| suffix == "jsonl"))
        .collect();
    files.extend(Some(folder.join("traps/traps.jsonl")).filter(|file| file.exists()));
    files.sort();
    let arguments = vectors::Arguments { damage: false, specs: vec![folder.to_owned()], files };
    let mut out = Vec::new();
    let tally = vectors::run(&arguments, &mut out).expect("a run");
    let said = String::from_utf8_lossy(&out);
    let said: String = said.lines().filter(|line| line.starts_with("FAIL")).take(5).collect();
    assert!(tally.failed == 0 && tally.passed > at_least, "{tally}\n{said}");
}

#[test]
fn long_values_are_fragmented() {
    let Some(file) = tercet_testing::corpora("asn1/traps/fragmentation.jsonl") else { return };
    let (tally, failures) = fragmentation::run(&file).expect("a run");
    assert!(tally.failed == 0 && tally.passed >= 32, "{tally}\n{}", failures.join("\n"));
}
