//! Records in other rules than BER, as headers of 3GPP TS 32.297 or `--rules` say: the same records in all rules, alone and
//! mixed, give the same rows.
#![cfg(unix)]

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;
use tercet::dynamic::Tape;
use tercet::{Rules, Schema, SchemaOptions, TapeCodec};

/// In the order of their numbers in TS 32.297, which begin with 1.
const SYNTAXES: [Rules; 4] = [Rules::Ber, Rules::Uper, Rules::Aper, Rules::Xer];
const BER: usize = 0;
const UPER: usize = 1;
const APER: usize = 2;
const XER: usize = 3;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The records of the example, each in all four rules.
fn records() -> Vec<[Vec<u8>; 4]> {
    let schema = Schema::load(&[root().join("schemas/demo")], &SchemaOptions::default()).unwrap();
    let plans = schema.plans_for(&SYNTAXES, &["CallRecord"]).unwrap();
    let node = plans[0].root("CallRecord").unwrap();
    let octets = fs::read(root().join("examples/calls.ber")).unwrap();
    let mut rest = &octets[..];
    let (mut records, mut tape) = (Vec::new(), Tape::new());
    while !rest.is_empty() {
        let mut codec = TapeCodec::new(Rules::Ber, &plans[0]);
        let length = codec.read(node, rest, &mut tape, &Default::default()).unwrap();
        records.push(std::array::from_fn(|i| {
            let mut out = Vec::new();
            TapeCodec::new(SYNTAXES[i], &plans[i]).write(tape.view(rest), &mut out).unwrap();
            out
        }));
        rest = &rest[length..];
    }
    records
}

/// A file of TS 32.297 with records in rules by their place in [`SYNTAXES`], and where each of them begins.
fn ts32297(records: &[(usize, Vec<u8>)]) -> (Vec<u8>, Vec<usize>) {
    let size: usize = records.iter().map(|(_, record)| 5 + record.len()).sum();
    let mut file = ((54 + size) as u32).to_be_bytes().to_vec();
    file.extend(54_u32.to_be_bytes());
    file.extend([7 << 5 | 2; 2]);
    file.extend([0x21; 8]);
    file.extend((records.len() as u32).to_be_bytes());
    file.extend([0, 0, 0, 1, 3]);
    file.extend([0; 27]);
    assert_eq!(file.len(), 54);
    let mut places = Vec::new();
    for (rules, record) in records {
        file.extend((record.len() as u16).to_be_bytes());
        file.extend([7 << 5 | 2, (*rules as u8 + 1) << 5 | 7, 6]);
        places.push(file.len());
        file.extend(record);
    }
    (file, places)
}

fn tercet(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tercet")).current_dir(root()).args(args).output().unwrap()
}

/// An input, and what `tercet convert` makes of it.
struct Case {
    dir: TempDir,
    output: Output,
    /// The rows, nothing if there is no output.
    rows: String,
    summary: Value,
}

impl Case {
    fn new(input: &[u8], options: &[&str]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
        fs::write(path("input"), input).unwrap();
        let (input, out, summary) = (path("input"), path("out.csv"), path("summary"));
        let mut args = vec!["convert", "-s", "schemas/demo", "-t", "CallRecord", "-o", &out, &input];
        args.extend(["--summary", &summary]);
        args.extend(options);
        let output = tercet(&args);
        let rows = fs::read_to_string(&out).unwrap_or_default();
        let summary = fs::read(&summary).map_or(Value::Null, |text| serde_json::from_slice(&text).unwrap());
        let case = Self { dir, output, rows, summary };
        let part = |name: &str| case.summary["octets"][name].as_u64().unwrap_or_default();
        let sum = part("records") + part("filler") + part("headers") + part("rejected");
        assert_eq!(part("read"), sum, "{}", case.said());
        case
    }

    fn exit(&self) -> Option<i32> {
        self.output.status.code()
    }

    fn said(&self) -> String {
        String::from_utf8_lossy(&self.output.stderr).into_owned()
    }

    /// The rejects: where, how many octets, why; and their octets.
    fn rejects(&self) -> (Vec<(u64, u64, String)>, Vec<u8>) {
        let file = |name: &str| self.dir.path().join(name);
        let lines = fs::read_to_string(file("out.csv.rejects.jsonl")).unwrap_or_default();
        let line = |line: &str| {
            let line: Value = serde_json::from_str(line).unwrap();
            let number = |name: &str| line[name].as_u64().unwrap();
            (number("offset"), number("length"), line["reason"].as_str().unwrap().to_owned())
        };
        (lines.lines().map(line).collect(), fs::read(file("out.csv.rejects")).unwrap_or_default())
    }
}

/// Some copies of the example, in rules by the number of the record.
fn file_of(copies: usize, rules: impl Fn(usize) -> usize) -> Vec<(usize, Vec<u8>)> {
    let records = records();
    let all = (0..copies).flat_map(|_| &records).enumerate();
    all.map(|(i, record)| (rules(i), record[rules(i)].clone())).collect()
}

#[test]
fn headers_tell_the_rules_of_each_record() {
    let known = Case::new(&ts32297(&file_of(1, |_| BER)).0, &[]);
    assert_eq!(known.exit(), Some(0), "{}", known.said());
    assert_eq!(known.rows.lines().count(), 25);
    for (rules, told) in [
        (&[UPER][..], "24 UPER"),
        (&[APER], "24 APER"),
        (&[XER], "24 XER"),
        (&[BER, UPER, APER, XER], "6 BER, 6 UPER, 6 APER, 6 XER"),
        (&[UPER, BER, BER], "16 BER, 8 UPER"),
    ] {
        let (file, _) = ts32297(&file_of(1, |i| rules[i % rules.len()]));
        let case = Case::new(&file, &[]);
        assert_eq!(case.exit(), Some(0), "{told}: {}", case.said());
        assert_eq!(case.rows, known.rows, "{told}");
        assert!(case.said().contains(&format!("  encoding rules of records: {told}\n")), "{}", case.said());
        assert_eq!(case.summary["octets"]["read"].as_u64(), Some(file.len() as u64));
        let input = &case.summary["inputs"][0];
        assert_eq!((&input["framing"], &input["announced"]), (&"ts32297".into(), &24.into()));
        assert_eq!(input["rules"]["UPER"].as_u64().is_some(), rules.contains(&UPER), "{input}");
        // The same where it is not found by trial, and for those who look at a file only.
        let case = Case::new(&file, &["--framing", "ts32297"]);
        assert_eq!((case.exit(), &case.rows), (Some(0), &known.rows), "{}", case.said());
        let path = case.dir.path().join("input");
        let shown = tercet(&["cat", "-s", "schemas/demo", "-n", "23", "-f", "jsonl", path.to_str().unwrap()]);
        let whole = tercet(&[
            "cat",
            "-s",
            "schemas/demo",
            "-t",
            "CallRecord",
            "-n",
            "23",
            "-f",
            "csv",
            "examples/calls.ber",
        ]);
        assert!(
            shown.status.success() && whole.status.success(),
            "{}",
            String::from_utf8_lossy(&shown.stderr)
        );
        assert_eq!(known.rows.lines().last(), String::from_utf8_lossy(&whole.stdout).lines().last());
        let row: Value = serde_json::from_slice(&shown.stdout).unwrap();
        assert!(known.rows.lines().last().unwrap().contains(row["moCall"]["servedIMSI"].as_str().unwrap()));
    }
}

#[test]
fn threads_make_no_difference() {
    for (rules, copies) in [(&[UPER][..], 700), (&[XER], 60), (&[BER, BER, BER, UPER, APER, XER], 300)] {
        let (file, _) = ts32297(&file_of(copies, |i| rules[i / 7 % rules.len()]));
        let (one, four) = (Case::new(&file, &["--jobs", "1"]), Case::new(&file, &["--jobs", "4"]));
        assert_eq!((one.exit(), four.exit()), (Some(0), Some(0)), "{}", four.said());
        assert!(one.rows == four.rows, "{rules:?}");
        assert_eq!(one.rows.lines().count(), 24 * copies + 1);
        // All copies but the first are left out, whichever rules they are in.
        let key = "--dedupe=recordNumber,servedIMSI";
        for jobs in ["1", "4"] {
            let once = Case::new(&file, &["--jobs", jobs, key]);
            assert_eq!(once.exit(), Some(0), "{}", once.said());
            assert_eq!(once.rows.lines().count(), 25, "{}", once.said());
        }
    }
}

#[test]
fn rows_are_chosen_as_those_of_ber_are() {
    let plain = ts32297(&file_of(1, |_| BER)).0;
    for options in [
        &["--columns", "*.recordNumber,*.duration", "--provenance"][..],
        &["--where", "moCall.duration >= 100"],
        &["--explode", "data.volumes"],
        &["--render", "none", "--total", "duration"],
    ] {
        let known = Case::new(&plain, options);
        assert_eq!(known.exit(), Some(0), "{}", known.said());
        for rules in [UPER, APER, XER] {
            let case = Case::new(&ts32297(&file_of(1, |_| rules)).0, options);
            assert_eq!(case.exit(), Some(0), "{}", case.said());
            if options.contains(&"--provenance") {
                // Places and lengths are those of the file at hand.
                let components = |rows: &str| -> Vec<String> {
                    rows.lines().map(|row| row.splitn(5, ',').last().unwrap_or_default().to_owned()).collect()
                };
                assert_eq!(components(&case.rows), components(&known.rows));
            } else {
                assert_eq!(case.rows, known.rows, "{options:?} {}", SYNTAXES[rules]);
            }
            assert_eq!(case.summary["figures"], known.summary["figures"]);
        }
    }
}

#[test]
fn damage_costs_the_record_and_nothing_else() {
    let mut records = file_of(1, |i| [UPER, BER, XER, APER][i % 4]);
    // The first has an alternative that is none, the second a tag that is none, the third no end, the fourth a remainder.
    records[4].1 = vec![0x7F; 9];
    records[9].1[2] = 0x9E;
    let end = records[14].1.len() - 9;
    records[14].1.truncate(end);
    records[19].1.extend([0, 1]);
    let (file, places) = ts32297(&records);
    for jobs in ["1", "4"] {
        let case = Case::new(&file, &["--jobs", jobs, "--unknown", "error"]);
        assert_eq!(case.exit(), Some(2), "{}", case.said());
        let (rejects, octets) = case.rejects();
        let damaged = [4, 9, 14, 19];
        let found: Vec<_> = rejects.iter().map(|(offset, length, _)| (*offset, *length)).collect();
        let expected: Vec<_> =
            damaged.iter().map(|&i| (places[i] as u64, records[i].1.len() as u64)).collect();
        assert_eq!(found, expected, "{rejects:?}");
        assert_eq!(octets, damaged.iter().flat_map(|&i| records[i].1.clone()).collect::<Vec<_>>());
        assert!(rejects[2].2.starts_with("the XML text is not a value of the type: "), "{rejects:?}");
        assert_eq!(rejects[3].2, "bytes follow after the end of the value");
        let known = Case::new(&ts32297(&file_of(1, |_| BER)).0, &[]);
        let kept = known.rows.lines().enumerate().filter(|(i, _)| *i == 0 || !damaged.contains(&(i - 1)));
        assert_eq!(case.rows.lines().collect::<Vec<_>>(), kept.map(|(_, row)| row).collect::<Vec<_>>());
        let rejected = case.summary["octets"]["rejected"].as_u64();
        assert_eq!(rejected, Some(octets.len() as u64));
    }
}

#[test]
fn an_element_does_not_reach_into_the_next_record() {
    let mut records = file_of(1, |i| if i == 3 { BER } else { UPER });
    // One that would go on behind its end.
    assert!(records[3].1[1] < 0x80);
    records[3].1[1] += 6;
    let (file, places) = ts32297(&records);
    let case = Case::new(&file, &[]);
    let length = records[3].1.len() as u64;
    let (rejects, octets) = case.rejects();
    assert_eq!(
        rejects,
        [(
            places[3] as u64,
            length,
            "the element ends after the record that its header announces".to_owned()
        )]
    );
    assert_eq!((octets, case.rows.lines().count()), (records[3].1.clone(), 24));
}

#[test]
fn a_file_may_end_early() {
    let (file, places) = ts32297(&file_of(1, |i| [UPER, XER][i % 2]));
    for (end, lost) in [(places[23] + 40, 23), (places[22] + 3, 22), (places[20] + 1, 20)] {
        let case = Case::new(&file[..end], &[]);
        assert_eq!(case.exit(), Some(2), "{}", case.said());
        let text = "the input ends inside a record".to_owned();
        assert_eq!(case.rejects().0, [(places[lost] as u64, (end - places[lost]) as u64, text)]);
        assert_eq!(case.rows.lines().count(), lost + 1);
    }
}

#[test]
fn the_command_line_overrides_headers() {
    let known = Case::new(&ts32297(&file_of(1, |_| BER)).0, &[]);
    let records = records();
    for (rules, name) in [(BER, "ber"), (UPER, "uper"), (APER, "aper"), (XER, "xer")] {
        // Headers that say something else.
        let other = (rules + 1) % 4;
        let wrong: Vec<_> = records.iter().map(|record| (other, record[rules].clone())).collect();
        let case = Case::new(&ts32297(&wrong).0, &["--rules", name]);
        assert_eq!((case.exit(), &case.rows), (Some(0), &known.rows), "{}", case.said());
        // No headers but lengths.
        let prefixed = |record: &[Vec<u8>; 4]| {
            [&(record[rules].len() as u32).to_le_bytes()[..], &record[rules]].concat()
        };
        let file: Vec<u8> = records.iter().flat_map(prefixed).collect();
        for framing in ["auto", "u32le"] {
            let case = Case::new(&file, &["--rules", name, "--framing", framing]);
            assert_eq!((case.exit(), &case.rows), (Some(0), &known.rows), "{name} {}", case.said());
        }
    }
}

#[test]
fn rules_that_tell_no_end_want_lengths() {
    let plain: Vec<u8> = records().iter().flat_map(|record| record[UPER].clone()).collect();
    let case = Case::new(&plain, &["--rules", "uper", "--framing", "plain"]);
    assert_eq!(case.exit(), Some(1));
    let text = "records in UPER with the framing `plain`: records in these rules have no end mark";
    assert!(case.said().contains(text), "{}", case.said());
    let case = Case::new(&plain, &["--rules", "uper"]);
    assert_eq!(case.exit(), Some(3), "{}", case.said());
    let text = "records in these rules have no end mark".to_owned();
    assert_eq!(case.rejects(), (vec![(0, plain.len() as u64, text)], plain));
}
