//! `tercet capture` on real captures, by the real specifications.

use arrow_array::cast::AsArray as _;
use arrow_array::{Array as _, StructArray};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::fs;
use std::process::Command;

/// Plans of the specifications, for all runs of these tests.
const CACHE: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/captures-cache");

/// Runs `tercet capture list --json`; the lines and the exit code.
fn list(arguments: &[&str], schemas: &str) -> (Vec<Value>, Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tercet"));
    command.args(["capture", "list", "--json"]).args(arguments);
    command.env("TERCET_SCHEMAS", schemas).env("TERCET_CACHE", CACHE);
    let output = command.output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    (lines, output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// The identifiers of the truth: a number as text, or several where a message has it more than once.
fn identifier(line: &Value, key: &str) -> Option<String> {
    let found = &line["ids"][key];
    let found = found.as_array().map_or(found, |all| &all[0]);
    found.as_str().map(str::to_owned)
}

#[test]
fn real_captures_give_the_names_and_identifiers_that_wireshark_finds() {
    let Some(captures) = tercet_testing::corpora("captures/nas-ran") else { return };
    let Some(specifications) = tercet_testing::corpora("asn1/specs/3gpp") else { return };
    let folders = ["3GPP_EUTRAN_S1AP_36413", "3GPP_NR_NGAP_38413"].map(|folder| specifications.join(folder));
    let schemas = std::env::join_paths(folders).unwrap().into_string().unwrap();
    let mut faults: HashMap<String, usize> = HashMap::new();
    let (mut count, mut names) = (0, 0);
    for entry in fs::read_dir(captures).unwrap() {
        let path = entry.unwrap().path();
        let Ok(truth) = fs::read_to_string(format!("{}.truth.jsonl", path.display())) else { continue };
        let truth: Vec<Value> = truth.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let truth: Vec<_> =
            truth.iter().filter(|line| line["protocol"] == "s1ap" || line["protocol"] == "ngap").collect();
        let (lines, _, stderr) = list(&["--protocol", "s1ap,ngap", path.to_str().unwrap()], &schemas);
        assert_eq!(lines.len(), truth.len(), "{}: {stderr}", path.display());
        for (line, truth) in lines.iter().zip(truth) {
            let place = format!("{}: {line}\n{truth}", path.display());
            assert_eq!((&line["frame"], &line["octets"]), (&truth["frame"], &truth["octets"]), "{place}");
            count += 1;
            if !line["error"].is_null() {
                *faults.entry(line["error"]["message"].to_string()).or_default() += 1;
            }
            if let Some(message) = truth["message"].as_str() {
                assert_eq!(line["message"], message, "{place}");
                names += 1;
            }
            for (ours, key) in [
                ("mme", "MME_UE_S1AP_ID"),
                ("enb", "ENB_UE_S1AP_ID"),
                ("amf", "AMF_UE_NGAP_ID"),
                ("ran", "RAN_UE_NGAP_ID"),
            ] {
                if let Some(number) = identifier(truth, key) {
                    assert_eq!(line["ids"][ours].to_string(), number, "{place}");
                }
            }
        }
    }
    assert!(count >= 1400 && names >= 1400, "{count} {names}");
    assert!(faults.values().sum::<usize>() * 100 <= count, "{faults:?}");
}

#[test]
fn messages_of_other_protocols_have_the_names_that_wireshark_gives_them() {
    let Some(specifications) = tercet_testing::corpora("asn1/specs") else { return };
    let folders = [
        "ietf/IETF_LDAP_RFC4511",
        "ietf/IETF_Kerberos_RFC4120",
        "wireshark/snmp",
        "wireshark/mms",
        "3gpp/3GPP_EUTRAN_RRC_36331",
        "3gpp/3GPP_NR_RRC_38331",
    ];
    let schemas = std::env::join_paths(folders.map(|folder| specifications.join(folder))).unwrap();
    let schemas = schemas.into_string().unwrap();
    // Names of dissectors that are none of the specification.
    let others = ["msgGlobalData"];
    for (folder, protocol, least) in [
        ("ldap", "ldap", 200),
        ("krb-snmp", "snmp", 480),
        ("krb-snmp", "kerberos", 40),
        ("mms-goose", "mms", 200),
        ("gsmtap", "lte-rrc", 100),
    ] {
        let Some(captures) = tercet_testing::corpora(&format!("captures/{folder}")) else { return };
        let mut names = 0;
        for entry in fs::read_dir(captures).unwrap() {
            let path = entry.unwrap().path();
            let Ok(truth) = fs::read_to_string(format!("{}.truth.jsonl", path.display())) else { continue };
            let (lines, ..) = list(&["--protocol", protocol, path.to_str().unwrap()], &schemas);
            for truth in truth.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()) {
                let is_it =
                    |line: &&Value| line["frame"] == truth["frame"] && line["octets"] == truth["octets"];
                let (Some(line), Some(message)) = (lines.iter().find(is_it), truth["message"].as_str())
                else {
                    continue;
                };
                // Some are damaged, or deeper than the limit.
                if line["error"].is_null() && !others.contains(&message) && !line["message"].is_null() {
                    assert_eq!(line["message"], message, "{}: {line}", path.display());
                    names += 1;
                }
            }
        }
        assert!(names >= least, "{protocol}: {names}");
    }
}

/// Runs `tercet capture` with specifications; standard output, the exit code.
fn run(arguments: &[&str], schemas: &str) -> (String, Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tercet"));
    command.args(arguments).env("TERCET_SCHEMAS", schemas).env("TERCET_CACHE", CACHE);
    let output = command.output().unwrap();
    let text = |octets: &[u8]| String::from_utf8_lossy(octets).into_owned();
    (text(&output.stdout), output.status.code(), text(&output.stderr))
}

/// The folder of a specification of 3GPP.
fn of_3gpp(name: &str) -> Option<String> {
    Some(tercet_testing::corpora("asn1/specs/3gpp")?.join(name).to_str().unwrap().to_owned())
}

#[test]
fn every_message_about_a_user_belongs_to_a_conversation() {
    let Some(captures) = tercet_testing::corpora("captures/nas-ran") else { return };
    let Some(schemas) = of_3gpp("3GPP_NR_NGAP_38413") else { return };
    let capture = captures.join("open5gs-testregistration.pcapng");
    let capture = capture.to_str().unwrap();
    let arguments = ["capture", "follow", "--json", "--pairs", "--protocol", "ngap", capture];
    let (out, code, stderr) = run(&arguments, &schemas);
    assert_eq!(code, Some(0), "{stderr}");
    let lines: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut users: HashMap<String, (Value, Value)> = HashMap::new();
    let (mut of_users, mut answered, mut wrong) = (0, 0, 0);
    for line in &lines {
        answered += usize::from(line["answer_frame"].is_u64());
        if line["ids"].as_object().is_none_or(serde_json::Map::is_empty) {
            continue;
        }
        of_users += 1;
        let number = line["conversation"].to_string();
        assert_ne!(number, "null", "{line}");
        // Both identifiers of a user stay the same.
        let (amf, ran) = users.entry(number).or_insert_with(|| (Value::Null, Value::Null));
        for (known, found) in [(amf, &line["ids"]["amf"]), (ran, &line["ids"]["ran"])] {
            if known.is_null() {
                *known = found.clone();
            }
            wrong += usize::from(!found.is_null() && known != found);
        }
    }
    // A message with the identifiers of two users, which is answered by an error.
    assert!(wrong <= 2, "{wrong}");
    assert!(of_users > 1200 && users.len() >= 30 && answered > 300, "{of_users} {} {answered}", users.len());
    let (out, code, _) =
        run(&["capture", "follow", "--ladder", "--ue", "1", "--frames", "57-150", capture], &schemas);
    assert_eq!(code, Some(0));
    assert!(out.lines().next().unwrap().contains("-- ngap InitialUEMessage --"), "{out}");
    assert!(out.lines().nth(1).unwrap().contains("<--"), "{out}");
    let (_, code, stderr) = run(&["capture", "follow", "--ue", "987654", capture], &schemas);
    assert!(code == Some(1) && stderr.contains("no message of this conversation"), "{stderr}");
}

#[test]
fn messages_are_shown_with_the_names_of_the_specification() {
    let Some(captures) = tercet_testing::corpora("captures/nas-ran") else { return };
    let Some(schemas) = of_3gpp("3GPP_NR_NGAP_38413") else { return };
    let capture = captures.join("open5gs-testregistration.pcapng");
    let show = |more: &[&str]| {
        let arguments = [&["capture", "show", "--frame", "59", capture.to_str().unwrap()], more].concat();
        let (out, code, stderr) = run(&arguments, &schemas);
        assert_eq!(code, Some(0), "{stderr}");
        let (head, value) = out.split_at(out.find("\n{").unwrap());
        (head.to_owned(), serde_json::from_str::<Value>(value).unwrap())
    };
    let (head, value) = show(&[]);
    assert!(head.starts_with("frame 59  ngap  InitialUEMessage\n"), "{head}");
    assert!(head.contains("linux cooked / ipv4 / sctp / ngap"), "{head}");
    assert_eq!(value["procedureCode"], "id-InitialUEMessage");
    assert_eq!(value["IEs"]["RAN-UE-NGAP-ID"], 1);
    let (_, value) = show(&["--ies", "list"]);
    let elements = &value["initiatingMessage"]["value"]["protocolIEs"];
    assert_eq!(elements[0]["id"], "id-RAN-UE-NGAP-ID");
    let (_, value) = show(&["--ies", "list", "--numbers"]);
    assert_eq!(value["initiatingMessage"]["value"]["protocolIEs"][0]["id"], 85);
    let condition = "value.IEs.RRCEstablishmentCause = 'mo-Signalling' and ids.ran = 1 and src = '127.0.0.1'";
    let (out, code, _) = run(&["capture", "list", "--where", condition, capture.to_str().unwrap()], &schemas);
    assert_eq!(code, Some(0));
    assert!(out.lines().nth(1).unwrap().contains("InitialUEMessage"), "{out}");
}

#[test]
fn messages_are_counted_and_extracted() {
    let Some(folder) = tercet_testing::corpora("captures/made") else { return };
    let path = folder.join("udp-h248-text-and-ber.pcap");
    let capture = path.to_str().unwrap();
    let (out, code, _) = run(&["capture", "stat", "--json", capture], "");
    let counts: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &counts["packets"], &counts["pdus"]), (Some(0), &60.into(), &60.into()));
    assert_eq!(counts["protocols"]["h248"]["decoded"], 30);
    let balance = counts["balance"].as_object().unwrap().values().filter_map(Value::as_u64).sum::<u64>();
    assert_eq!(balance, 60);
    let output = tempfile::tempdir().unwrap();
    let records = output.path().join("records");
    let arguments = ["capture", "extract", "--protocol", "h248", capture, "-o", records.to_str().unwrap()];
    assert_eq!(run(&arguments, "").1, Some(0));
    let octets = fs::read(&records).unwrap();
    let manifest = fs::read_to_string(output.path().join("records.jsonl")).unwrap();
    assert_eq!(manifest.lines().count(), 30);
    for line in manifest.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()) {
        let (offset, length) =
            (line["offset"].as_u64().unwrap() as usize, line["length"].as_u64().unwrap() as usize);
        let hex: String =
            octets[offset..offset + length].iter().map(|octet| format!("{octet:02x}")).collect();
        assert_eq!(line["octets"], hex);
        assert_eq!(octets[offset - 4..offset], (length as u32).to_be_bytes());
    }
    let each = output.path().join("each");
    let arguments =
        ["capture", "extract", "--protocol", "h248-text", capture, "-o", &format!("{}/", each.display())];
    assert_eq!(run(&arguments, "").1, Some(0));
    assert_eq!(fs::read_dir(&each).unwrap().count(), 31);
    let (out, code, _) = run(&["megaco", "check", "-q", capture], "");
    assert_eq!(code, Some(0));
    assert!(out.lines().count() == 60 && out.lines().all(|line| line.starts_with("frame ")), "{out}");
}

#[test]
fn messages_become_rows_that_are_equal_in_all_formats() {
    let Some(captures) = tercet_testing::corpora("captures/nas-ran") else { return };
    let Some(schemas) = of_3gpp("3GPP_NR_NGAP_38413") else { return };
    let capture = captures.join("open5gs-testregistration.pcapng");
    let capture = capture.to_str().unwrap();
    let converted = |more: &[&str]| {
        let arguments = [&["convert", "-q", "-s", &schemas, "--protocol", "ngap", capture], more].concat();
        let (out, code, stderr) = run(&arguments, "");
        assert_eq!(code, Some(0), "{stderr}");
        out
    };
    let (lines, ..) = list(&["--protocol", "ngap", capture], &schemas);
    let rows: Vec<Value> =
        converted(&["-f", "jsonl"]).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(rows.len(), lines.len());
    for (row, line) in rows.iter().zip(&lines) {
        for key in ["frame", "time", "protocol", "src", "dst", "stream", "message", "ids"] {
            assert_eq!(row[key], line[key], "{key}: {row}");
        }
        assert!(row["value"].is_object(), "{row}");
    }
    columns_are_named(&rows, &lines, capture, &schemas);
    let columns = "frame,time,src,dst,stream,message,ids.amf,ids.ran";
    let csv = converted(&["-f", "csv", "--columns", columns]);
    assert_eq!(csv.lines().next(), Some(columns));
    for (line, text) in lines.iter().zip(csv.lines().skip(1)) {
        let plain = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let keys = ["frame", "time", "src", "dst", "stream", "message"].map(|key| plain(&line[key]));
        let ids = ["amf", "ran"].map(|key| line["ids"].get(key).map(plain).unwrap_or_default());
        assert_eq!(text, [&keys[..], &ids[..]].concat().join(","));
    }
    let some = converted(&["-f", "jsonl", "--where", "message like 'Initial%' and ids.ran = 1"]);
    assert!(
        some.lines().count() > 1 && some.lines().all(|line| line.contains("\"message\":\"Initial")),
        "{some}"
    );
    let output = tempfile::tempdir().unwrap();
    let directory = format!("{}/", output.path().display());
    converted(&[
        "--protocol",
        "s1ap",
        "-f",
        "parquet",
        "-o",
        &directory,
        "-s",
        &of_3gpp("3GPP_EUTRAN_S1AP_36413").unwrap(),
    ]);
    let parquet = fs::read(output.path().join("ngap.parquet")).unwrap();
    assert!(parquet.starts_with(b"PAR1") && parquet.ends_with(b"PAR1"));
    let (found, code, stderr) = run(&["convert", "-q", "-s", &schemas, capture], "");
    assert!(code == Some(0) && found == converted(&["-f", "jsonl"]), "{stderr}");
    // Nothing is ignored silently.
    for option in [
        &["--explode", "value"][..],
        &["--dedupe"],
        &["--skip-rejects"],
        &["--summary", "s.json"],
        &["--filler", "AA"],
    ] {
        let words = [&["convert", "-s", &schemas, "--protocol", "ngap"], option, &[capture]].concat();
        let (_, code, stderr) = run(&words, "");
        let expected = format!("`{}` does not apply to packet captures", option[0]);
        assert!(code == Some(1) && stderr.contains(&expected), "{option:?}: {stderr}");
    }
    for words in [
        &["decode", "--trace"][..],
        &["decode", "--rules", "aper"],
        &["head", "--filler", "AA"],
        &["validate", "--strict-rules"],
    ] {
        let (_, code, stderr) = run(&[words, &["-s", &schemas, capture]].concat(), "");
        let expected = format!("`{}` does not apply to packet captures", words[1]);
        assert!(code == Some(1) && stderr.contains(&expected), "{words:?}: {stderr}");
    }
}

/// Checks that rows have information elements by their names, and constants by theirs, as `show` and all formats have them.
fn columns_are_named(rows: &[Value], lines: &[Value], capture: &str, schemas: &str) {
    let (shown, code, _) = run(&["capture", "show", "--protocol", "ngap", capture], schemas);
    assert_eq!(code, Some(0));
    let value = |block: &str| serde_json::from_str(&block[block.find("\n{").unwrap()..]).unwrap();
    let shown: Vec<Value> = shown.split("\n\n").map(value).collect();
    assert_eq!(shown.len(), rows.len());
    let (mut elements, mut leaves) = (0, 0);
    for (row, shown) in rows.iter().zip(&shown) {
        let value = &row["value"];
        for key in ["kind", "procedureCode", "criticality"] {
            assert_eq!(value[key], shown[key], "{key}: {row}");
        }
        assert!(value["procedureCode"].as_str().is_some_and(|name| name.starts_with("id-")), "{row}");
        let of_row = value["IEs"].as_object().unwrap();
        for (name, element) in shown["IEs"].as_object().unwrap() {
            elements += 1;
            // Lists of elements inside of elements stay lists in rows.
            if !element.is_object() && !element.is_array() {
                assert_eq!(of_row[name], *element, "{name}: {row}");
                leaves += 1;
            } else {
                assert!(of_row.contains_key(name), "{name}: {row}");
            }
        }
    }
    assert!(elements > 3000 && leaves > 2000, "{elements} {leaves}");
    // The same values in CSV and Parquet.
    let columns =
        ["frame", "value.kind", "value.procedureCode", "value.IEs.NAS-PDU", "value.IEs.RAN-UE-NGAP-ID"];
    let list = columns.join(",");
    let convert = ["convert", "-q", "-s", schemas, "--protocol", "ngap", capture, "--columns", &list];
    let (csv, code, stderr) = run(&[&convert[..], &["-f", "csv"]].concat(), "");
    assert_eq!(code, Some(0), "{stderr}");
    let output = tempfile::tempdir().unwrap();
    let path = output.path().join("ngap.parquet");
    let (_, code, stderr) =
        run(&[&convert[..], &["-o", path.to_str().unwrap(), "--hex-octets"]].concat(), "");
    assert_eq!(code, Some(0), "{stderr}");
    let octets = bytes::Bytes::from(fs::read(&path).unwrap());
    let mut of_file = Vec::new();
    for batch in ParquetRecordBatchReaderBuilder::try_new(octets).unwrap().build().unwrap() {
        let batch = batch.unwrap();
        let value = batch["value"].as_struct();
        let elements = value["IEs"].as_struct();
        let text = |of: &StructArray, name: &str, at: usize| {
            let texts = of[name].as_string::<i32>();
            if texts.is_null(at) { String::new() } else { texts.value(at).to_owned() }
        };
        for at in 0..batch.num_rows() {
            let ids = elements["RAN-UE-NGAP-ID"].as_primitive::<arrow_array::types::Int64Type>();
            let id = if ids.is_null(at) { String::new() } else { ids.value(at).to_string() };
            let frame = batch["frame"].as_primitive::<arrow_array::types::Int64Type>().value(at);
            let [kind, code] = ["kind", "procedureCode"].map(|name| text(value, name, at));
            of_file.push(format!("{frame},{kind},{code},{},{id}", text(elements, "NAS-PDU", at)));
        }
    }
    assert_eq!(csv.lines().skip(1).collect::<Vec<_>>(), of_file);
    for ((text, row), line) in of_file.iter().zip(rows).zip(lines) {
        let plain = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let of_elements = |name: &str| row["value"]["IEs"].get(name).map(plain).unwrap_or_default();
        let cells = [
            plain(&line["frame"]),
            plain(&row["value"]["kind"]),
            plain(&row["value"]["procedureCode"]),
            of_elements("NAS-PDU"),
            of_elements("RAN-UE-NGAP-ID"),
        ];
        assert_eq!(*text, cells.join(","));
    }
}

#[test]
fn captures_are_a_framing_of_all_commands() {
    let Some(captures) = tercet_testing::corpora("captures/nas-ran") else { return };
    let Some(schemas) = of_3gpp("3GPP_NR_NGAP_38413") else { return };
    let capture = captures.join("open5gs-testregistration.pcapng");
    let capture = capture.to_str().unwrap();
    let with = |command: &str, more: &[&str]| {
        let (out, code, stderr) = run(&[&[command, "-s", &schemas, capture], more].concat(), "");
        (out, code, stderr)
    };
    let (lines, ..) = list(&["--protocol", "ngap", capture], &schemas);
    // The values of all messages, in order.
    let (out, code, stderr) = with("decode", &["-f", "jsonl"]);
    assert_eq!(code, Some(0), "{stderr}");
    assert_eq!(out.lines().count(), lines.len());
    let (rows, ..) = with("convert", &["-q", "-f", "jsonl"]);
    let (raw, ..) = with("convert", &["-q", "-f", "jsonl", "--ies", "list"]);
    assert_eq!((raw.lines().count(), rows.lines().count()), (lines.len(), lines.len()));
    for (value, row) in out.lines().zip(raw.lines()) {
        let row: Value = serde_json::from_str(row).unwrap();
        assert_eq!(serde_json::from_str::<Value>(value).unwrap(), row["value"]);
    }
    // Types and protocols choose; one that is not there is reported.
    for more in [&["-t", "NGAP-PDU"][..], &["--protocol", "ngap"], &["--framing", "capture"]] {
        assert_eq!(with("decode", &[more, &["-f", "jsonl", "-n", "3"]].concat()).0.lines().count(), 3);
    }
    let (_, code, stderr) = with("decode", &["-t", "Other"]);
    assert!(code == Some(1) && stderr.contains("there are messages of ngap"), "{stderr}");
    let (out, code, _) = with("head", &["-n", "2", "--width", "60"]);
    assert!(code == Some(0) && out.starts_with("frame  time") && out.contains("NGSetupRequest"), "{out}");
    let (out, code, _) = with("cat", &["-n", "1", "-f", "jsonl"]);
    assert!(code == Some(0) && out.lines().count() == 1 && out.contains("NGSetupResponse"), "{out}");
    let (out, code, stderr) = with("stat", &[]);
    assert_eq!(code, Some(0), "{stderr}");
    assert!(out.starts_with("ngap: 1,306 messages\n") && out.contains("RAN-UE-NGAP-ID"), "{out}");
    let (out, code, stderr) = with("validate", &[]);
    assert!(code == Some(2) && stderr.contains("1,306 values, 59 not valid"), "{stderr}");
    assert!(out.contains("frame 3994: NGAP-PDU.initiatingMessage.criticality: reject is not"), "{out}");
    let (out, code, _) = with("doctor", &[]);
    assert!(code == Some(0) && out.contains("a packet capture of 4,104 packets: ngap (1306)"), "{out}");
    assert!(out.contains("tercet convert -s ") && out.contains(" --protocol ngap "), "{out}");
    // Standard input is not looked at before.
    let mut command = Command::new(env!("CARGO_BIN_EXE_tercet"));
    command.args([
        "convert",
        "-q",
        "-s",
        &schemas,
        "-f",
        "jsonl",
        "--framing",
        "capture",
        "--protocol",
        "ngap",
    ]);
    command.env("TERCET_CACHE", CACHE).stdin(fs::File::open(capture).unwrap());
    assert_eq!(String::from_utf8(command.output().unwrap().stdout).unwrap(), rows);
    // Files of other kinds are not read as captures.
    let other = tempfile::NamedTempFile::new().unwrap();
    fs::write(other.path(), "0").unwrap();
    let (_, code, stderr) = with("head", &[other.path().to_str().unwrap()]);
    assert!(code == Some(1) && stderr.contains("is a packet capture"), "{stderr}");
}

#[test]
fn threads_do_not_change_what_is_written() {
    let Some(captures) = tercet_testing::corpora("captures/nas-ran") else { return };
    let Some(schemas) = of_3gpp("3GPP_NR_NGAP_38413") else { return };
    let capture = captures.join("open5gs-testregistration.pcapng");
    let capture = capture.to_str().unwrap();
    // Several times the messages of a batch; the fourth one is cut.
    let output = tempfile::tempdir().unwrap();
    let cut = output.path().join("cut.pcapng");
    let whole = fs::read(capture).unwrap();
    fs::write(&cut, &whole[..whole.len() / 2]).unwrap();
    let files = [capture, capture, capture, cut.to_str().unwrap()];
    let with = |jobs: &str, words: &[&str]| {
        let (out, code, stderr) = run(&[words, &files, &["--jobs", jobs]].concat(), &schemas);
        assert_eq!(code, Some(2), "{stderr}");
        (out, stderr)
    };
    let condition = ["--where", "value.IEs.RAN-UE-NGAP-ID < 5"];
    let list = ["capture", "list", "--json", "--protocol", "ngap", "--one-capture"];
    for words in [
        list.to_vec(),
        [&list[..], &condition].concat(),
        [&list[..2], &list[3..5]].concat(),
        vec!["convert", "-s", &schemas, "--protocol", "ngap", "-f", "jsonl"],
        vec!["convert", "-s", &schemas, "--protocol", "ngap", "-f", "csv"],
    ] {
        let (out, stderr) = with("1", &words);
        assert!(out.lines().count() > 100, "{words:?}");
        assert_eq!(with("3", &words), (out, stderr), "{words:?}");
    }
    let convert = ["convert", "-s", &schemas, "--protocol", "ngap", "-o"];
    let [one, three] = ["1", "3"].map(|jobs| {
        let path = output.path().join(format!("{jobs}.parquet"));
        with(jobs, &[&convert[..], &[path.to_str().unwrap()]].concat());
        fs::read(&path).unwrap()
    });
    assert!(one == three);
}

#[test]
fn captures_that_cannot_be_read_to_their_end_give_no_output() {
    let Some(folder) = tercet_testing::corpora("captures/made") else { return };
    let Some(schemas) = of_3gpp("3GPP_EUTRAN_S1AP_36413") else { return };
    let octets = fs::read(folder.join("pcap-gz.pcap.gz")).unwrap();
    let output = tempfile::tempdir().unwrap();
    let at = |name: &str| output.path().join(name).to_str().unwrap().to_owned();
    fs::write(at("cut.pcap.gz"), &octets[..octets.len() / 2]).unwrap();
    let convert = ["convert", "-s", &schemas, "--protocol", "s1ap", &at("cut.pcap.gz"), "-o", &at("out.csv")];
    let (_, code, stderr) = run(&convert, "");
    assert!(code == Some(4) && stderr.contains("no output, for the capture cannot be read"), "{stderr}");
    // Neither the output nor a part of it under another name.
    let names: Vec<_> =
        fs::read_dir(output.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["cut.pcap.gz"]);
    // What came before the damage is listed.
    let (lines, code, _) = list(&[&at("cut.pcap.gz")], &schemas);
    assert_eq!(code, Some(4));
    assert!(!lines.is_empty() && lines.len() < 12, "{}", lines.len());
    // A file that ends within a packet is damaged, and all other packets are converted.
    let whole = fs::read(folder.join("pcap-le-us.pcap")).unwrap();
    fs::write(at("short.pcap"), &whole[..whole.len() - 5]).unwrap();
    let convert = ["convert", "-s", &schemas, "--protocol", "s1ap", &at("short.pcap"), "-o", &at("out.csv")];
    let (_, code, stderr) = run(&convert, "");
    assert_eq!(code, Some(2), "{stderr}");
    assert_eq!(fs::read_to_string(at("out.csv")).unwrap().lines().count(), 12);
}

#[test]
fn what_equipment_sends_is_decoded_with_warnings() {
    let Some(captures) = tercet_testing::corpora("captures/nas-ran") else { return };
    let Some(schemas) = of_3gpp("3GPP_EUTRAN_S1AP_36413") else { return };
    let (mut deviating, mut strict_faults) = (0, 0);
    for entry in fs::read_dir(captures).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|it| it != "pcap" && it != "pcapng") {
            continue;
        }
        let path = path.to_str().unwrap();
        let (lines, code, stderr) = list(&["--protocol", "s1ap", path], &schemas);
        assert!(code == Some(0) && lines.iter().all(|line| line["error"].is_null()), "{path}: {stderr}");
        let codes = |line: &Value| line["warnings"].as_array().cloned().unwrap_or_default();
        // A backslash in the name of an eNB.
        let of_name = |line: &&Value| codes(line).iter().any(|it| it["code"] == "character-invalid");
        deviating += lines.iter().filter(of_name).count();
        let (strict, ..) = list(&["--strict", "--protocol", "s1ap", path], &schemas);
        for (line, strict) in lines.iter().zip(&strict) {
            assert_eq!(codes(line).is_empty(), strict["error"].is_null(), "{line}\n{strict}");
            strict_faults += usize::from(!strict["error"].is_null());
        }
    }
    assert!(deviating == 6 && strict_faults > deviating, "{deviating} {strict_faults}");
}

#[test]
fn files_of_a_ring_are_one_capture() {
    let Some(folder) = tercet_testing::corpora("captures/made") else { return };
    // A fragment of a message in each of two files; the second one is given first.
    let whole = fs::read(folder.join("sctp-fragments.pcap")).unwrap();
    let mut bounds = vec![24];
    while let Some(length) = whole.get(bounds[bounds.len() - 1] + 8..).and_then(|rest| rest.first_chunk()) {
        bounds.push(bounds[bounds.len() - 1] + 16 + u32::from_le_bytes(*length) as usize);
    }
    let output = tempfile::tempdir().unwrap();
    let cut = bounds[3];
    let paths = [output.path().join("b.pcap"), output.path().join("a.pcap")];
    fs::write(&paths[0], &whole[..cut]).unwrap();
    fs::write(&paths[1], [&whole[..24], &whole[cut..]].concat()).unwrap();
    let expected = list(&["--no-decode", folder.join("sctp-fragments.pcap").to_str().unwrap()], "").0;
    let arguments = ["--no-decode", "--one-capture", paths[1].to_str().unwrap(), paths[0].to_str().unwrap()];
    let (lines, code, stderr) = list(&arguments, "");
    assert_eq!((&lines, code), (&expected, Some(0)), "{stderr}");
}

#[test]
fn h248_is_read_without_a_specification() {
    let Some(folder) = tercet_testing::corpora("captures/made") else { return };
    for name in ["tcp-h248-text-tpkt.pcap", "udp-h248-text-and-ber.pcap", "sctp-h248-ber.pcap"] {
        let (lines, code, stderr) = list(&[folder.join(name).to_str().unwrap()], "");
        assert_eq!(code, Some(0), "{name}: {stderr}");
        assert!(lines.len() >= 20 && lines.iter().all(|line| line["message"].is_string()), "{name}");
        let has_ids = lines.iter().filter(|line| line["ids"]["transactions"].is_array()).count();
        assert!(has_ids >= 15, "{name}: {has_ids}");
    }
}

#[test]
fn a_missing_specification_is_named_and_messages_are_listed() {
    let Some(capture) = tercet_testing::corpora("captures/made/pcap-le-us.pcap") else { return };
    let (lines, code, stderr) = list(&[capture.to_str().unwrap()], "");
    assert_eq!((lines.len(), code), (12, Some(0)), "{stderr}");
    assert_eq!(lines[0]["error"]["stage"], "schema");
    assert!(stderr.contains("S1AP-PDU-Descriptions of 3GPP TS 36.413"), "{stderr}");
    assert_eq!(stderr.lines().count(), 2, "{stderr}");
    let (lines, code, stderr) = list(&["--no-decode", capture.to_str().unwrap()], "");
    assert_eq!((lines.len(), code, &*stderr), (12, Some(0), ""));
    assert!(lines[0].get("error").is_none() && lines[0].get("schema").is_none());
}

#[test]
fn captures_are_compressed_cut_and_not_captures() {
    let Some(folder) = tercet_testing::corpora("captures/made") else { return };
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    for name in ["pcap-gz.pcap.gz", "pcap-zst.pcap.zst"] {
        let (lines, code, stderr) = list(&["--no-decode", &path(name)], "");
        assert_eq!((lines.len(), code), (12, Some(0)), "{name}: {stderr}");
    }
    let (lines, code, stderr) = list(&["--no-decode", &path("bad-packets.pcap")], "");
    assert_eq!((lines.len(), code), (2, Some(2)), "{stderr}");
    let (lines, code, _) = list(&["--no-decode", "--partial", "drop", &path("snaplen-200.pcap")], "");
    assert_eq!((lines.len(), code), (3, Some(0)));
    let (lines, code, stderr) = list(&["--no-decode", &path("pcap-le-us.pcap.truth.jsonl")], "");
    assert_eq!((lines.len(), code), (0, Some(4)), "{stderr}");
    assert!(stderr.contains("not a capture file"), "{stderr}");
    let flood = path("flood-ip-fragments.pcap");
    let (lines, code, stderr) = list(&["--no-decode", "--limit-memory", "64K", &flood], "");
    assert_eq!((lines.len(), code), (1, Some(0)), "{stderr}");
    let (_, code, stderr) = list(&["--limit-memory", "x", &flood], "");
    assert!(code == Some(1) && stderr.contains("`x` is not a size such as `64M`"), "{stderr}");
}

#[test]
fn operations_of_tcap_have_the_names_of_the_specification() {
    let Some(captures) = tercet_testing::corpora("captures/made") else { return };
    let Some(specifications) = tercet_testing::corpora("asn1/specs") else { return };
    let folders = ["itu-t/ITUT_Q773_1997-06", "3gpp/3GPP_MAP_29002"];
    let schemas = std::env::join_paths(folders.map(|folder| specifications.join(folder))).unwrap();
    let capture = captures.join("sigtran-m3ua-map.pcap");
    let (lines, code, stderr) = list(&[capture.to_str().unwrap()], schemas.to_str().unwrap());
    assert_eq!(code, Some(0), "{stderr}");
    let operations: Vec<_> =
        lines.iter().filter_map(|line| line["ids"]["operations"].as_array()).flatten().collect();
    let is_name =
        |it: &&&Value| it.as_str().is_some_and(|it| it.starts_with(|it: char| it.is_ascii_lowercase()));
    assert!(
        !operations.is_empty() && operations.iter().filter(is_name).count() == operations.len(),
        "{operations:?}"
    );
    assert!(
        operations.iter().any(|it| **it == "updateLocation" || **it == "sendAuthenticationInfo"),
        "{operations:?}"
    );
}

/// A capture of raw IP: a packet with a message in SCTP.
fn packet(ppid: u8, port: u16, message: &[u8]) -> Vec<u8> {
    let mut chunk = vec![0, 3];
    chunk.extend((16 + message.len() as u16).to_be_bytes());
    chunk.extend([0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, ppid]);
    chunk.extend(message);
    chunk.resize(chunk.len().next_multiple_of(4), 0);
    let ports = [port.to_be_bytes(), port.to_be_bytes()].concat();
    let sctp = [&ports[..], &[0, 0, 0, 7, 0, 0, 0, 0], &chunk].concat();
    let length = (20 + sctp.len() as u16).to_be_bytes();
    let header = [&[0x45, 0][..], &length, &[0, 1, 0, 0, 64, 132, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]].concat();
    let mut file = vec![0xD4, 0xC3, 0xB2, 0xA1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 101, 0, 0, 0];
    let captured = (header.len() as u32 + sctp.len() as u32).to_le_bytes();
    file.extend([&[0; 8][..], &captured, &captured, &header, &sctp].concat());
    file
}

#[test]
fn containers_of_handovers_are_opened_by_the_real_specifications() {
    let Some(specifications) = tercet_testing::corpora("asn1/specs/3gpp") else { return };
    let at = |name: &str| specifications.join(name).to_str().unwrap().to_owned();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("value").to_str().unwrap().to_owned();
    let encoded = |schema: &str, of_type: &str, value: &Value| {
        fs::write(&path, value.to_string()).unwrap();
        let words = ["encode", "-s", schema, "-t", of_type, "--rules", "aper", "--hex", &path];
        let (out, code, stderr) = run(&words, "");
        assert_eq!(code, Some(0), "{of_type}: {stderr}");
        out.trim().to_owned()
    };
    let element = |id: u8, value: Value| json!({"id": id, "criticality": "reject", "value": value});
    for (
        ppid,
        port,
        of_rrc,
        of_network,
        pdu,
        container,
        component,
        inner,
        protocols,
        [procedure, kind, id],
        name,
    ) in [
        (
            18,
            36412,
            "3GPP_EUTRAN_RRC_36331",
            "3GPP_EUTRAN_S1AP_36413",
            "S1AP-PDU",
            "SourceeNB-ToTargeteNB-TransparentContainer",
            "rRC-Container",
            "EUTRA-InterNodeDefinitions.HandoverPreparationInformation",
            ["s1ap", "lte-rrc"],
            [0, 1, 104],
            "intralte",
        ),
        (
            60,
            38412,
            "3GPP_NR_RRC_38331",
            "3GPP_NR_NGAP_38413",
            "NGAP-PDU",
            "SourceNGRANNode-ToTargetNGRANNode-TransparentContainer",
            "rRCContainer",
            "NR-InterNodeDefinitions.HandoverPreparationInformation",
            ["ngap", "nr-rrc"],
            [12, 29, 101],
            "intra5gs",
        ),
    ] {
        let (rrc, network) = (at(of_rrc), at(of_network));
        let words = ["sample", "-s", &rrc, "-t", inner, "--rules", "uper", "--hex", "--max-depth", "4"];
        let (message, code, stderr) = run(&words, "");
        assert_eq!(code, Some(0), "{inner}: {stderr}");
        let message = message.trim();
        let words = ["sample", "-s", &network, "-t", container, "--format", "jsonl", "--max-depth", "4"];
        let (around, code, stderr) = run(&words, "");
        assert_eq!(code, Some(0), "{container}: {stderr}");
        let mut around: Value = serde_json::from_str(&around).unwrap();
        around[component] = message.into();
        let around = encoded(&network, container, &around);
        let elements = [element(kind, name.into()), element(id, around.clone().into())];
        let pdu = encoded(
            &network,
            pdu,
            &json!({"initiatingMessage": {"procedureCode": procedure, "criticality": "reject",
                "value": {"protocolIEs": elements}}}),
        );
        let octets: Vec<u8> =
            (0..pdu.len()).step_by(2).map(|at| u8::from_str_radix(&pdu[at..at + 2], 16).unwrap()).collect();
        fs::write(&path, packet(ppid, port, &octets)).unwrap();
        let schemas = std::env::join_paths([&rrc, &network]).unwrap();
        let (lines, code, stderr) = list(&[&path], schemas.to_str().unwrap());
        assert_eq!((code, lines.len()), (Some(0), 1), "{stderr} {lines:?}");
        let outer = &lines[0]["inner"][0];
        assert_eq!(
            (&lines[0]["message"], &outer["protocol"]),
            (&"HandoverRequired".into(), &protocols[0].into())
        );
        assert_eq!((&outer["message"], &outer["octets"]), (&container.into(), &around.to_lowercase().into()));
        let inside = &outer["inner"][0];
        assert_eq!(inside["protocol"], protocols[1], "{outer}");
        assert_eq!(inside["message"], "HandoverPreparationInformation");
        assert_eq!((&inside["octets"], &inside["error"]), (&message.to_lowercase().into(), &Value::Null));
    }
}

#[test]
fn messages_inside_of_others_are_decoded() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    fs::create_dir(at("specifications")).unwrap();
    let of_ngap = "NGAP-PDU-Descriptions DEFINITIONS AUTOMATIC TAGS ::= BEGIN
        NGAP-PDU ::= CHOICE { initiatingMessage SEQUENCE { nrppa NRPPa-PDU, rest OCTET STRING } }
        NRPPa-PDU ::= OCTET STRING END";
    let of_nrppa = "NRPPA-PDU-Descriptions DEFINITIONS AUTOMATIC TAGS ::= BEGIN
        P ::= CLASS { &code INTEGER (0..255) UNIQUE, &Type } WITH SYNTAX { &code &Type }
        Ps P ::= { { 2 OTDOAInformationRequest }, ... }
        NRPPA-PDU ::= SEQUENCE { code P.&code ({Ps}), value P.&Type ({Ps}{@code}) }
        OTDOAInformationRequest ::= SEQUENCE { cell INTEGER (0..255) } END";
    fs::write(at("specifications/ngap.asn"), of_ngap).unwrap();
    // NRPPa in aligned PER: the code, the open type of one byte. Then NGAP: two octet strings after their lengths.
    let inner = [2, 1, 7];
    let message = [&[3][..], &inner, &[1, 0xAB]].concat();
    let file = packet(60, 38412, &message);
    fs::write(at("one.pcap"), file).unwrap();
    // Without a specification of what is inside, it stays bytes.
    let (lines, code, stderr) = list(&["-s", &at("specifications"), &at("one.pcap")], "");
    assert!(code == Some(0) && lines.len() == 1 && lines[0].get("inner").is_none(), "{lines:?} {stderr}");
    fs::write(at("specifications/nrppa.asn"), of_nrppa).unwrap();
    let (lines, code, stderr) = list(&["-s", &at("specifications"), &at("one.pcap")], "");
    assert!(code == Some(0) && stderr.is_empty(), "{stderr}");
    let found = &lines[0]["inner"][0];
    assert_eq!((&found["protocol"], &found["octets"]), (&"nrppa".into(), &"020107".into()), "{lines:?}");
    assert_eq!((&found["message"], &found["rules"]), (&"OTDOAInformationRequest".into(), &"aper".into()));
    let (flat, ..) = list(&["--flat", "-s", &at("specifications"), &at("one.pcap")], "");
    assert_eq!(flat.len(), 2);
    assert!(flat[0]["protocol"] == "ngap" && flat[0].get("inner").is_none());
    assert_eq!((&flat[1]["frame"], &flat[1]["src"]), (&lines[0]["frame"], &lines[0]["src"]));
    assert_eq!((&flat[1]["protocol"], &flat[1]["type"]), (&"nrppa".into(), &"NRPPA-PDU".into()));
}
