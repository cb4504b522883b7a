//! The record files of the corpora, every value of them, against what they are known to contain; and the vectors.

use std::path::Path;

use xtask::{corpora, fragmentation, truth, vectors};

/// Specification, type, path to the records, file without `.zst`, truth without `.jsonl.zst`, lines of truth.
const FILES: &[(&str, &str, &str, &str, &str, usize)] = &[
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
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
fn record_files_are_what_they_are_known_to_be() {
    let Some(folder) = corpora::folder() else {
        eprintln!("SKIPPED: no corpora; record files are not compared with their truth");
        return;
    };
    let folder = folder.join("cdr");
    let path = |path: &Path| path.to_string_lossy().into_owned();
    for &(schema, name, records, file, known, lines) in FILES {
        let mut arguments = vec!["--schema".to_owned(), path(&folder.join("specs").join(schema))];
        arguments.extend(["--type".to_owned(), name.to_owned()]);
        if !records.is_empty() {
            arguments.extend(["--records".to_owned(), records.to_owned()]);
        }
        arguments.push(path(&folder.join("synth").join(format!("{file}.zst"))));
        arguments.push(path(&folder.join("synth").join(format!("{known}.jsonl.zst"))));
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
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
fn vectors_agree() {
    let Some(folder) = corpora::folder() else {
        eprintln!("SKIPPED: no corpora; vectors are not run");
        return;
    };
    let folder = folder.join("asn1");
    let mut arguments = vec!["--specs".to_owned(), folder.to_string_lossy().into_owned()];
    let mut files: Vec<_> = std::fs::read_dir(folder.join("vectors"))
        .expect("a folder of vectors")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|suffix| suffix == "jsonl"))
        .collect();
    files.push(folder.join("traps/traps.jsonl"));
    files.sort();
    arguments.extend(files.iter().map(|path| path.to_string_lossy().into_owned()));
    let mut out = Vec::new();
    let tally = vectors::run(&arguments, &mut out).expect("a run");
    let said = String::from_utf8_lossy(&out);
    let said: String = said.lines().filter(|line| line.starts_with("FAIL")).take(5).collect();
    assert!(tally.failed == 0 && tally.passed > 100_000, "{tally}\n{said}");
}

#[test]
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
fn long_values_are_fragmented() {
    let Some(folder) = corpora::folder() else {
        eprintln!("SKIPPED: no corpora; fragmentation is not run");
        return;
    };
    let (tally, failures) =
        fragmentation::run(&folder.join("asn1/traps/fragmentation.jsonl")).expect("a run");
    assert!(tally.failed == 0 && tally.passed >= 32, "{tally}\n{}", failures.join("\n"));
}
