//! Octets of telephony as numbers, times and places: against the references of the corpora, and against octets of our own.
#![cfg(unix)]

use serde_json::Value;
use std::io::Read;
use std::path::Path;
use std::process::Command;

const TERCET: &str = env!("CARGO_BIN_EXE_tercet");

fn convert(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new(TERCET)
        .current_dir(folder)
        .args(["convert", "--quiet"])
        .args(arguments)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The value at a path such as `a.b[0].c`.
fn at<'v>(value: &'v Value, path: &str) -> &'v Value {
    path.split('.').fold(value, |value, step| {
        let (name, indices) = step.split_once('[').unwrap_or((step, ""));
        let indices = indices.split('[').filter_map(|index| index.trim_end_matches(']').parse().ok());
        indices.fold(&value[name], |value, index: usize| &value[index])
    })
}

/// How many values of a file are as the reference has them; all have to be.
fn check(arguments: &[&str], data: &str) -> usize {
    tercet_testing::corpora("cdr").map_or(usize::MAX, |corpus| compare(&corpus, arguments, data))
}

fn compare(corpus: &Path, arguments: &[&str], data: &str) -> usize {
    let input = format!("synth/{data}.ber.zst");
    let mut all = vec!["--json-style", "plain", &input];
    all.extend(arguments);
    let rows = lines(&convert(corpus, &all));
    let mut known = String::new();
    let file = std::fs::File::open(corpus.join(format!("synth/{data}.rendered.jsonl.zst"))).unwrap();
    zstd::Decoder::new(file).unwrap().read_to_string(&mut known).unwrap();
    let mut compared = 0;
    for line in lines(&known) {
        let Some(index) = line["i"].as_u64() else { continue };
        for (path, known) in line["rendered"].as_object().unwrap() {
            let shown = at(&rows[index as usize], path);
            // The specification says that these are characters; the reference takes the octets for BCD all the same.
            if path.ends_with(".dialledDigits") && shown != known {
                let octets = shown.as_str().unwrap().bytes().map(|octet| format!("{octet:02x}"));
                assert_eq!(octets.collect::<String>(), *known, "record {index}");
                continue;
            }
            assert_eq!(shown, known, "record {index}, {path}:\n{}", rows[index as usize]);
            compared += 1;
        }
    }
    compared
}

#[test]
fn our_records_are_shown_as_the_reference_has_them() {
    let demo = ["-s", "../../../schemas/demo", "-t", "CallRecord"];
    let compared = compare(&tercet_testing::own_corpora().join("cdr"), &demo, "demo/calls_800");
    assert!(compared > 3_000, "{compared}");
}

#[test]
fn msc_records_are_shown_as_the_reference_has_them() {
    let msc = ["-s", "specs/synthetic/SYN-MSC-R12.asn", "-t", "CallDataRecord"];
    assert!(check(&msc, "msc/msc_r12_20k") > 10_000);
}

#[test]
fn scp_records_are_shown_as_the_reference_has_them() {
    let scp = ["-s", "specs/synthetic/SYN-IN-SCP.asn", "-t", "SCPRecord"];
    assert!(check(&scp, "scp/in_scp_12k") > 10_000);
}

#[test]
fn tap_records_are_shown_as_the_reference_has_them() {
    let tap = ["-s", "specs/gsma-sigscale/TAP-0312.asn1", "-t", "DataInterChange"];
    let tap = [&tap[..], &["-r", "TransferBatch.callEventDetails"]].concat();
    assert!(check(&tap, "tap/tap0312_10k") > 1_000);
}

#[test]
fn packet_and_circuit_switched_records_are_shown_as_the_reference_has_them() {
    let schema = ["-s", "specs/3gpp-32298-pycrate", "--allow-errors", "-t"];
    assert!(check(&[&schema[..], &["GPRSRecord"]].concat(), "ps_cs/ps_r16_4k") > 5_000);
    assert!(check(&[&schema[..], &["CSRecord"]].concat(), "ps_cs/cs_r16_6k") > 5_000);
}

/// A folder with a specification and records of it, made of hexadecimal lines.
fn folder(specification: &str, records: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.asn"), specification).unwrap();
    let digits: String = records.chars().filter(char::is_ascii_hexdigit).collect();
    let octets: Vec<u8> =
        (0..digits.len() / 2).map(|i| u8::from_str_radix(&digits[2 * i..2 * i + 2], 16).unwrap()).collect();
    std::fs::write(folder.path().join("a.ber"), octets).unwrap();
    folder
}

const SPECIFICATION: &str = "A DEFINITIONS IMPLICIT TAGS ::= BEGIN
Record ::= SEQUENCE {
    imsi [0] IMSI, number [1] AddressString, begin [2] TimeStamp, zone [3] MSTimeZone OPTIONAL,
    plmns [4] SEQUENCE OF PLMN-Id OPTIONAL, where [5] OCTET STRING OPTIONAL, raw [6] OCTET STRING OPTIONAL,
    other CHOICE { name [7] OCTET STRING, imei [8] IMEI, party [9] AddressString } OPTIONAL,
    date [10] Date OPTIONAL, time [11] TimeOfCall OPTIONAL }
IMSI ::= TBCD-STRING
IMEI ::= TBCD-STRING
TBCD-STRING ::= OCTET STRING
AddressString ::= OCTET STRING
TimeStamp ::= OCTET STRING (SIZE (9))
MSTimeZone ::= OCTET STRING (SIZE (2))
PLMN-Id ::= OCTET STRING (SIZE (3))
Date ::= OCTET STRING
TimeOfCall ::= OCTET STRING
END";

// The second record has what is none of these kinds: letters of no digit, a month 13, an empty number.
const RECORDS: &str = "
30 3e 80 03 62 f2 10 81 04 91 94 71 f1 82 09 26 11 01 08 00 17 2b 01 30 83 02 40 01 a4 0a 04 03 62 f2 10 04 03 13 00 14 85 07 62 f2 10 12 34 56 78 86 02 41 42 89 04 91 94 71 f1 8a 03 1a 0b 01
30 16 80 02 f1 23 81 00 82 09 26 13 01 08 00 17 2b 01 00 8b 03 08 00 11";

#[test]
fn every_output_shows_the_same() {
    let folder = folder(SPECIFICATION, RECORDS);
    let common = ["-s", "a.asn", "-t", "Record", "a.ber", "--framing", "plain"];
    let rules =
        ["--render", "where=cell", "--render", "raw=text", "--render", "date=date", "--render", "time=time"];
    let all = [&common[..], &rules].concat();
    let rows = lines(&convert(folder.path(), &all));
    let known = serde_json::json!([
        {"imsi": "62F210", "number": {"ext": 1, "ton": 1, "npi": 1, "digits": "49171"},
         "begin": "2026-11-01T08:00:17+01:30", "zone": "+01:00", "plmns": ["262-01", "310-410"],
         "where": {"plmn": "262-01", "lac": 0x1234, "ci": 0x5678}, "raw": "AB",
         "other": {"party": {"ext": 1, "ton": 1, "npi": 1, "digits": "49171"}}, "date": "2026-11-01"},
        {"imsi": "F123", "number": {"raw": ""}, "begin": "2613010800172B0100", "time": "08:00:17"},
    ]);
    // F inside of a number is no digit: the octets are shown.
    assert_eq!(Value::from(rows), known);
    let csv = convert(
        folder.path(),
        &[&all[..], &["-f", "csv", "--columns", "number.digits,begin,plmns,where"]].concat(),
    );
    assert_eq!(
        csv,
        "number.digits,begin,plmns,where.plmn,where.lac,where.ci,where.raw\n\
         49171,2026-11-01T08:00:17+01:30,\"[\"\"262-01\"\",\"\"310-410\"\"]\",262-01,4660,22136,\n\
         ,2613010800172B0100,,,,,\n"
    );
    let xml = convert(folder.path(), &[&all[..], &["-f", "xml"]].concat());
    assert!(xml.contains("<digits>49171</digits>") && xml.contains("<date>2026-11-01</date>"), "{xml}");
    let none = lines(&convert(folder.path(), &[&common[..], &["--render", "none"]].concat()));
    assert_eq!(none[0]["number"], "919471F1");
    let one = [&common[..], &["--render", "none", "--render", "other.party=digits"]].concat();
    let one = lines(&convert(folder.path(), &one));
    assert_eq!((&one[0]["number"], &one[0]["other"]["party"]), (&"919471F1".into(), &"49171".into()));
}

#[test]
fn a_profile_of_ones_own_says_what_types_and_components_are() {
    let folder =
        folder(SPECIFICATION, "30 17 80 01 41 81 02 91 f4 82 09 26 11 01 08 00 17 2b 01 30 86 01 42 87 00");
    let profile = "name = \"own\"\n[types]\nIMSI = \"text\"\n[components]\n\"Record.raw\" = \"number\"\nnumber = \"bcd\"\n";
    std::fs::write(folder.path().join("own.toml"), profile).unwrap();
    let common = ["-s", "a.asn", "-t", "Record", "a.ber", "--framing", "plain", "--profile"];
    let rows = lines(&convert(folder.path(), &[&common[..], &["own.toml"]].concat()));
    let known = serde_json::json!({"imsi": "A", "number": "91", "begin": "2611010800172B0130", "raw": 66, "other": {"name": ""}});
    assert_eq!(rows[0], known);
    for (arguments, message) in [
        (["own.tom", "--quiet"], "no profile `own.tom`"),
        (["own.toml", "--render=nothing=tbcd"], "no bytes at `nothing`"),
        (["own.toml", "--render=none"], "takes no profile"),
        (["own.toml", "--render=imsi=roman"], "unknown rendering `roman`"),
    ] {
        let output = Command::new(TERCET)
            .current_dir(folder.path())
            .arg("convert")
            .args(common)
            .args(arguments)
            .output()
            .unwrap();
        assert_ne!(output.status.code(), Some(0));
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains(message), "{said}");
    }
}

const BATCH: &str = "A DEFINITIONS IMPLICIT TAGS ::= BEGIN
Batch ::= [APPLICATION 1] SEQUENCE {
    places [0] INTEGER, zones [1] SEQUENCE OF Zone, rates [2] SEQUENCE OF Rate, calls [3] SEQUENCE OF Call, total [4] Amount }
Zone ::= SEQUENCE { zone INTEGER, offset IA5String }
Rate ::= SEQUENCE { rateCode RateCode, rate [0] INTEGER, ratePlaces [1] INTEGER }
Call ::= SEQUENCE {
    begin [0] Moment, charge [1] Amount, rateCode [2] RateCode OPTIONAL, others [3] SEQUENCE OF RateCode OPTIONAL }
Moment ::= SEQUENCE { local Local, zone INTEGER OPTIONAL }
Local ::= OCTET STRING
Amount ::= INTEGER
RateCode ::= INTEGER
END";

const TABLES: &str = "name = \"own\"
[types]
Local = \"text\"
Amount = \"amount\"
[tables]
places = \"places\"
zone = { list = \"zones\", value = \"offset\", time = \"local\" }
rateCode = { list = \"rates\", value = \"rate\", places = \"ratePlaces\" }
[control_totals.totals]
total = [\"charge\"]
";

#[test]
fn codes_and_amounts_are_what_the_header_says() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("a.asn", BATCH);
    write("own.toml", TABLES);
    let local = |text: &str| text.bytes().map(|octet| format!("{octet:02X}")).collect::<String>();
    let mut octets = Vec::new();
    // Another batch has other tables.
    for (places, offset) in [(2, "+0200"), (0, "-0330")] {
        let batch = serde_json::json!({
            "places": places, "zones": [{"zone": 1, "offset": offset}],
            "rates": [{"rateCode": 0, "rate": 15, "ratePlaces": 1}],
            "calls": [
                {"begin": {"local": local("20240601000008"), "zone": 1}, "charge": 1234, "rateCode": 0},
                {"begin": {"local": local("20240601000009"), "zone": 2}, "charge": -5, "others": [0, 7]},
                {"begin": {"local": local("20240601")}, "charge": 0},
            ],
            "total": 1229,
        });
        write("a.json", &batch.to_string());
        let mut encode = Command::new(TERCET);
        let encode =
            encode.current_dir(folder.path()).args(["encode", "-s", "a.asn", "-t", "Batch", "a.json"]);
        octets.extend(encode.output().unwrap().stdout);
    }
    std::fs::write(folder.path().join("a.ber"), octets).unwrap();
    let common = ["-s", "a.asn", "-t", "Batch", "-r", "calls", "a.ber", "--profile", "own.toml"];
    let known = serde_json::json!([
        {"begin": {"local": "20240601000008", "timestamp": "2024-06-01T00:00:08+02:00"}, "charge": "12.34", "rate": "1.5"},
        {"begin": {"local": "20240601000009", "timestamp": "2024-06-01T00:00:09"}, "charge": "-0.05", "others": ["1.5", "7"]},
        {"begin": {"local": "20240601"}, "charge": "0.00"},
        {"begin": {"local": "20240601000008", "timestamp": "2024-06-01T00:00:08-03:30"}, "charge": "1234", "rate": "1.5"},
        {"begin": {"local": "20240601000009", "timestamp": "2024-06-01T00:00:09"}, "charge": "-5", "others": ["1.5", "7"]},
        {"begin": {"local": "20240601"}, "charge": "0"},
    ]);
    assert_eq!(Value::from(lines(&convert(folder.path(), &common))), known);
    // What is not asked for is decoded where it is needed.
    let columns = ["-f", "csv", "--columns", "begin.timestamp,charge"];
    let csv = convert(folder.path(), &[&common[..], &columns].concat());
    assert!(csv.starts_with("begin.timestamp,charge\n2024-06-01T00:00:08+02:00,12.34\n"), "{csv}");
}

const NAMES: &str = "A DEFINITIONS IMPLICIT TAGS ::= BEGIN
Record ::= SEQUENCE {
    cause [0] Cause, state [1] ENUMERATED { idle(0), busy(4), ... }, marks [2] BIT STRING { roaming(0), prepaid(2) },
    at [3] GeneralizedTime, plain [4] INTEGER }
Cause ::= INTEGER { normalRelease(0), abnormalRelease(4) }
END";

#[test]
fn numbers_bits_and_times_are_shown_as_what_they_are_called() {
    let time = |text: &str| text.bytes().map(|octet| format!("{octet:02X}")).collect::<String>();
    let records = format!(
        "301E80 0100 810104 82020420 830F {} 840100 301D80 0105 810105 82020600 830E {} 840100",
        time("20261101080017Z"),
        time("20261101080017")
    );
    let folder = folder(NAMES, &records);
    let kinds = ["cause=name", "state=both", "marks=flags", "at=timestamp"];
    let render = |kinds: &[&str]| {
        kinds.iter().flat_map(|kind| ["--render".to_owned(), (*kind).to_owned()]).collect::<Vec<_>>()
    };
    let run = |kinds: &[&str], more: &[&str]| {
        let arguments: Vec<String> = render(kinds);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).chain(more.iter().copied()).collect();
        convert(folder.path(), &[&["-s", "a.asn", "-t", "Record", "a.ber"][..], &arguments].concat())
    };
    let rows = lines(&run(&kinds, &[]));
    let expected = [
        serde_json::json!({"cause": "normalRelease", "state": {"number": 4, "name": "busy"}, "marks": "prepaid",
            "at": "2026-11-01T08:00:17+00:00", "plain": 0}),
        serde_json::json!({"cause": "5", "state": {"number": 5}, "marks": "", "at": "20261101080017", "plain": 0}),
    ];
    assert_eq!(rows, expected);
    let csv = run(
        &kinds,
        &["-f", "csv", "--columns", "cause,state.number,marks", "--where", "cause = normalRelease"],
    );
    assert_eq!(csv, "cause,state.number,marks\nnormalRelease,4,prepaid\n");
    let rows = lines(&run(&["state=number"], &[]));
    assert_eq!(rows[1]["state"], 5);
    let profile = "name = \"own\"\n[types]\nCause = \"both\"\n";
    std::fs::write(folder.path().join("own.toml"), profile).unwrap();
    let rows = lines(&run(&[], &["--profile", "own.toml"]));
    assert_eq!(rows[0]["cause"], serde_json::json!({"number": 0, "name": "normalRelease"}));
    for (kind, said) in
        [("plain=name", "no number with names at `plain`"), ("cause=flags", "no bits with names at `cause`")]
    {
        let output = Command::new(env!("CARGO_BIN_EXE_tercet"))
            .current_dir(folder.path())
            .args(["convert", "-s", "a.asn", "-t", "Record", "a.ber", "--render", kind])
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(1));
        assert!(String::from_utf8_lossy(&output.stderr).contains(said));
    }
}
