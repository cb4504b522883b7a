//! Record files of the corpora against what they are known to contain.

mod joined;

use joined::Tables;
use serde_json::Value;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Output};

const TERCET: &str = env!("CARGO_BIN_EXE_tercet");
const TAP: [&str; 6] = [
    "-s",
    "specs/gsma-sigscale/TAP-0312.asn1",
    "-t",
    "DataInterChange",
    "-r",
    "TransferBatch.callEventDetails",
];
const MSC: [&str; 4] = ["-s", "specs/synthetic/SYN-MSC-R12.asn", "-t", "CallDataRecord"];
const DEMO: [&str; 4] = ["-s", "../../../schemas/demo", "-t", "CallRecord"];
const SCP: [&str; 5] = ["--defaults", "-s", "specs/synthetic/SYN-IN-SCP.asn", "-t", "SCPRecord"];

fn read(path: &Path) -> Vec<u8> {
    let octets = std::fs::read(path).unwrap();
    if path.extension().is_none_or(|suffix| suffix != "zst") {
        return octets;
    }
    let mut plain = Vec::new();
    zstd::Decoder::new(&octets[..]).unwrap().read_to_end(&mut plain).unwrap();
    plain
}

fn lines(text: &[u8]) -> Vec<Value> {
    text.split(|&octet| octet == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect()
}

#[test]
fn child_tables_of_real_files_hold_all_that_records_hold() {
    let own = tercet_testing::own_corpora().join("cdr");
    children_hold_all(&own, &[&DEMO[..], &["synth/demo/calls_800.ber.zst"]].concat(), &["--children"]);
    let Some(corpus) = tercet_testing::all_corpora("cdr").into_iter().nth(1) else { return };
    let tap = [&TAP[..], &["synth/tap/tap0312_typical_4k.ber.zst"]].concat();
    let msc = [&MSC[..], &["synth/msc/msc_r12_20k.ber.zst"]].concat();
    let scp = [&SCP[..], &["synth/scp/in_scp_12k.ber.zst"]].concat();
    let charges = "gprsCall.gprsServiceUsed.chargeInformationList.chargeDetailList";
    for (common, options) in [
        (&tap, &["--children", "--by-type"][..]),
        (&tap, &["--child", charges]),
        (&msc, &["--children"]),
        (&scp, &["--children"]),
    ] {
        children_hold_all(&corpus, common, options);
    }
}

fn children_hold_all(corpus: &Path, common: &[&str], options: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let output = |name: &str, more: &[&str]| {
        let path = folder.path().join(name).display().to_string();
        let status = convert(corpus, &[common, more, &["-q", "-o", &path]].concat()).status;
        assert_eq!(status.code(), Some(0), "{options:?}");
    };
    output("plain.jsonl", &[]);
    output("rows.jsonl", options);
    let tables = Tables::read(folder.path(), "rows");
    assert!(tables.paths().len() > 2);
    let records = lines(&std::fs::read(folder.path().join("plain.jsonl")).unwrap());
    assert!(tables.joined() == records, "{options:?}");
}

fn convert(corpus: &Path, arguments: &[&str]) -> Output {
    Command::new(TERCET)
        .current_dir(corpus)
        .args(["convert", "--format", "jsonl", "--json-style", "plain", "--render", "none"])
        .args(arguments)
        .output()
        .unwrap()
}

/// Whether a value is the one known, members in any order. The truth files come from two tools: one writes NULL as 0,
/// BIT STRINGs as number and length, times with their parts set off.
fn same(value: &Value, known: &Value) -> bool {
    match (value, known) {
        (Value::Object(value), Value::Array(known)) if value.contains_key("bits") => {
            let octets = u64::from_str_radix(value["bits"].as_str().unwrap_or_default(), 16).ok();
            let bits = value["len"]
                .as_u64()
                .zip(octets)
                .map(|(len, octets)| octets >> (len.next_multiple_of(8) - len));
            known[..] == [Value::from(bits), value["len"].clone()]
        }
        (Value::Object(value), Value::Object(known)) => {
            value.len() == known.len()
                && value.iter().all(|(name, value)| known.get(name).is_some_and(|known| same(value, known)))
        }
        (Value::Array(value), Value::Array(known)) => {
            value.len() == known.len() && value.iter().zip(known).all(|(value, known)| same(value, known))
        }
        (Value::Number(value), Value::Number(known)) => value == known || value.as_f64() == known.as_f64(),
        (Value::Null, Value::Number(known)) => known.as_u64() == Some(0),
        (Value::String(value), Value::String(known)) => {
            // Seconds may be left out.
            let digits = || known.replace(['-', 'T', ':'], "");
            value == known
                || value.len() >= 10 && digits().trim_end_matches("00") == value.trim_end_matches("00")
        }
        _ => value == known,
    }
}

/// Compares a file of the large corpora.
fn check(arguments: &[&str], data: &str, truth: &str) {
    let Some(corpus) = tercet_testing::corpora("cdr") else { return };
    let compared = compare(&corpus, arguments, data, truth);
    assert!(compared > 500, "{compared} records compared");
}

fn compare(corpus: &Path, arguments: &[&str], data: &str, truth: &str) -> usize {
    let mut all = arguments.to_vec();
    all.push(data);
    let output = convert(corpus, &all);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    let rows = lines(&output.stdout);
    let mut compared = 0;
    for truth in lines(&read(&corpus.join(truth))) {
        let Some(index) = truth["i"].as_u64() else { continue };
        let row = &rows[index as usize];
        assert!(same(row, &truth["value"]), "record {index}:\n{row}\n{}", truth["value"]);
        compared += 1;
    }
    compared
}

#[test]
fn our_records_are_as_known() {
    let corpus = tercet_testing::own_corpora().join("cdr");
    for (name, count) in [("calls_800", 800), ("calls_indefinite_200", 200)] {
        let name = format!("synth/demo/{name}");
        let compared =
            compare(&corpus, &DEMO, &format!("{name}.ber.zst"), &format!("{name}.truth.jsonl.zst"));
        assert_eq!(compared, count, "{name}");
    }
}

#[test]
fn msc_records_are_as_known() {
    check(&MSC, "synth/msc/msc_r12_20k.ber.zst", "synth/msc/msc_r12_20k.truth.jsonl.zst");
}

#[test]
fn scp_records_are_as_known() {
    check(&SCP, "synth/scp/in_scp_12k.ber.zst", "synth/scp/in_scp_12k.truth.jsonl.zst");
}

#[test]
fn tap_records_are_as_known() {
    check(&TAP, "synth/tap/tap0312_10k.ber.zst", "synth/tap/tap0312_10k.truth.jsonl.zst");
    check(&TAP, "synth/tap/tap0312_typical_4k.ber.zst", "synth/tap/tap0312_typical_4k.truth.jsonl.zst");
}

#[test]
fn packet_and_circuit_switched_records_are_as_known() {
    for (kind, name) in [("GPRSRecord", "ps_r16_4k"), ("CSRecord", "cs_r16_6k")] {
        let schema = ["-s", "specs/3gpp-32298-pycrate", "-t", kind, "--allow-errors"];
        check(
            &schema,
            &format!("synth/ps_cs/{name}.ber.zst"),
            &format!("synth/ps_cs/{name}.ber.truth.jsonl.zst"),
        );
    }
}

/// A file of `synth/framing.tar.zst`: an archive of plain files, each with a header of 512 octets.
fn framing(corpus: &Path, name: &str) -> Vec<u8> {
    let archive = read(&corpus.join("synth/framing.tar.zst"));
    let mut at = 0;
    while let Some(header) = archive.get(at..at + 512).filter(|header| header[0] != 0) {
        let text = |range: std::ops::Range<usize>| {
            String::from_utf8_lossy(&header[range]).trim_end_matches(['\0', ' ']).to_owned()
        };
        let size = usize::from_str_radix(&text(124..136), 8).unwrap();
        at += 512;
        if text(0..100).ends_with(name) {
            return archive[at..at + size].to_vec();
        }
        at += size.next_multiple_of(512);
    }
    panic!("no {name} in the archive");
}

#[test]
fn framings_give_the_same_records() {
    let Some(corpus) = tercet_testing::corpora("cdr") else { return };
    let dir = tempfile::tempdir().unwrap();
    let mut first = None;
    for name in ["msc_raw.ber", "msc_block2048_pad00.dat", "msc_block2048_padFF.dat", "msc_filler_mixed.dat"]
    {
        let path = dir.path().join(name);
        std::fs::write(&path, framing(&corpus, name)).unwrap();
        let mut arguments = MSC.to_vec();
        arguments.push(path.to_str().unwrap());
        let output = convert(&corpus, &arguments);
        assert_eq!(output.status.code(), Some(0), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(lines(&output.stdout).len(), 2000, "{name}");
        assert!(*first.get_or_insert_with(|| output.stdout.clone()) == output.stdout, "{name}");
    }
    let mut first = None;
    for kind in ["definite", "all_indefinite", "outer_indefinite", "trailing_00"] {
        let name = format!("tap0312_400_{kind}.ber");
        let path = dir.path().join(&name);
        std::fs::write(&path, framing(&corpus, &name)).unwrap();
        let mut arguments = TAP.to_vec();
        arguments.push(path.to_str().unwrap());
        let output = convert(&corpus, &arguments);
        assert_eq!(output.status.code(), Some(0), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(lines(&output.stdout).len(), 400, "{name}");
        assert!(*first.get_or_insert_with(|| output.stdout.clone()) == output.stdout, "{name}");
    }
}

#[test]
fn damage_costs_the_damaged_records_alone() {
    let Some(corpus) = tercet_testing::corpora("cdr") else { return };
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("damaged.dat");
    let octets = framing(&corpus, "msc_damaged.dat");
    std::fs::write(&path, &octets).unwrap();
    let (rejects, summary) = (dir.path().join("rejects"), dir.path().join("summary.json"));
    let mut arguments = MSC.to_vec();
    arguments.extend(["--rejects", rejects.to_str().unwrap(), "--summary", summary.to_str().unwrap()]);
    arguments.push(path.to_str().unwrap());
    let output = convert(&corpus, &arguments);
    assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stderr));

    // Seven faults, one of them a record that is there twice: no fault to see.
    let good: Vec<(u64, u64)> =
        serde_json::from_slice(&framing(&corpus, "msc_damaged.good_offsets.json")).unwrap();
    assert!(lines(&output.stdout).len() >= good.len());
    let log = lines(&std::fs::read(dir.path().join("rejects.jsonl")).unwrap());
    let mut raw = Vec::new();
    for reject in &log {
        let (offset, length) = (reject["offset"].as_u64().unwrap(), reject["length"].as_u64().unwrap());
        assert!(!good.iter().any(|&(_, at)| (offset..offset + length).contains(&at)), "{reject}");
        raw.extend_from_slice(&octets[offset as usize..(offset + length) as usize]);
    }
    assert_eq!(std::fs::read(&rejects).unwrap(), raw);
    let summary: Value = serde_json::from_slice(&std::fs::read(&summary).unwrap()).unwrap();
    let part = |name: &str| summary["octets"][name].as_u64().unwrap();
    assert_eq!(part("read"), octets.len() as u64);
    assert_eq!(part("read"), part("records") + part("filler") + part("headers") + part("rejected"));
    assert_eq!(part("rejected"), raw.len() as u64);
}
