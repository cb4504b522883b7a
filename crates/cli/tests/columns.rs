//! Parquet and Arrow files, read again by the library of Apache Arrow, hold what the JSON lines of the same records say.
#![cfg(unix)]

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Decimal128Type, Float64Type, Int16Type, Int64Type, Time64MicrosecondType,
    TimestampMicrosecondType,
};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{DataType, Fields};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;

const TERCET: &str = env!("CARGO_BIN_EXE_tercet");

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn convert(folder: &Path, arguments: &[&str]) -> Vec<u8> {
    let output = Command::new(TERCET).current_dir(folder).arg("convert").args(arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

fn batches(octets: Vec<u8>) -> Vec<RecordBatch> {
    let reader = ParquetRecordBatchReaderBuilder::try_new(bytes::Bytes::from(octets)).unwrap();
    reader.build().unwrap().map(Result::unwrap).collect()
}

/// A value of a column as JSON; nothing where it is absent.
fn value(array: &dyn Array, at: usize) -> Option<Value> {
    if array.is_null(at) {
        return None;
    }
    use arrow_schema::DataType as T;
    Some(match array.data_type() {
        T::Boolean => json!(array.as_boolean().value(at)),
        T::Int64 => json!(array.as_primitive::<Int64Type>().value(at)),
        T::Decimal128(_, 0) => json!(array.as_primitive::<Decimal128Type>().value(at).to_string()),
        T::Decimal128(_, 6) => {
            json!({"millionths": array.as_primitive::<Decimal128Type>().value(at).to_string()})
        }
        T::Float64 => json!(array.as_primitive::<Float64Type>().value(at)),
        T::Utf8 => json!(array.as_string::<i32>().value(at)),
        T::Binary => {
            let hex = array.as_binary::<i32>().value(at).iter().map(|octet| format!("{octet:02x}"));
            json!(hex.collect::<String>())
        }
        T::Struct(fields) => members(fields, array.as_struct().columns(), at),
        // Days and microseconds as text.
        T::Date32 => json!(date(array.as_primitive::<Date32Type>().value(at).into())),
        // An instant, told without the offset that the text has.
        T::Timestamp(..) => json!({"instant": array.as_primitive::<TimestampMicrosecondType>().value(at)}),
        T::Time64(_) => json!(time(array.as_primitive::<Time64MicrosecondType>().value(at))),
        T::List(_) => {
            let elements = array.as_list::<i32>().value(at);
            (0..elements.len()).map(|i| value(&elements, i).unwrap_or(Value::Null)).collect()
        }
        other => panic!("{other} is no type of ours"),
    })
}

/// The values of columns beside one another; a timestamp and its offset are one text.
fn members(fields: &Fields, columns: &[ArrayRef], row: usize) -> Value {
    let mut members = Map::new();
    let mut columns = fields.iter().zip(columns).peekable();
    while let Some((field, column)) = columns.next() {
        if let DataType::Timestamp(..) = field.data_type() {
            let offset = columns.next_if(|(next, _)| *next.name() == format!("{}_offset", field.name()));
            if column.is_null(row) {
                assert!(offset.is_none_or(|(_, offset)| offset.is_null(row)));
                continue;
            }
            let minutes = offset.map_or(0, |(_, offset)| offset.as_primitive::<Int16Type>().value(row));
            let micros = column.as_primitive::<TimestampMicrosecondType>().value(row);
            members.insert(field.name().clone(), json!(timestamp(micros, minutes)));
        } else if let Some(value) = value(column, row) {
            members.insert(field.name().clone(), value);
        }
    }
    object(members)
}

fn timestamp(micros: i64, minutes: i16) -> String {
    let local = micros + i64::from(minutes) * 60_000_000;
    let (days, rest) = (local.div_euclid(86_400_000_000), local.rem_euclid(86_400_000_000));
    let sign = if minutes < 0 { '-' } else { '+' };
    let zone = format!("{sign}{:02}:{:02}", minutes.abs() / 60, minutes.abs() % 60);
    format!("{}T{}{zone}", date(days), time(rest))
}

fn date(days: i64) -> String {
    let (mut year, mut days) = (1970, days);
    let length = |year: i64| 365 + i64::from(year % 4 == 0 && (year % 100 != 0 || year % 400 == 0));
    while days >= length(year) {
        days -= length(year);
        year += 1;
    }
    let february = length(year) - 337;
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    format!("{year:04}-{month:02}-{:02}", days + 1)
}

fn time(micros: i64) -> String {
    let seconds = micros / 1_000_000;
    let tenths = micros % 1_000_000 / 100_000;
    let text = format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    if tenths > 0 { format!("{text}.{tenths}") } else { text }
}

/// A CHOICE has the alternative that its discriminator names, and no other.
fn object(mut members: Map<String, Value>) -> Value {
    if let Some(name) = members.remove("choice") {
        let name = name.as_str().unwrap().to_owned();
        assert_eq!(members.keys().collect::<Vec<_>>(), [&name]);
    }
    Value::Object(members)
}

fn same(value: &Value, known: &Value) -> bool {
    match (value, known) {
        (Value::Object(a), Value::String(text)) if a.contains_key("instant") => {
            let zone = |at: std::ops::Range<usize>| text[at].parse::<i16>().unwrap();
            let minutes = zone(20..22) * 60 + zone(23..25);
            let minutes = if text.as_bytes()[19] == b'-' { -minutes } else { minutes };
            timestamp(a["instant"].as_i64().unwrap(), minutes) == *text
        }
        (Value::Object(a), Value::String(text)) if a.contains_key("millionths") => {
            let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
            let known: i128 = format!("{whole}{fraction:0<6}").parse().unwrap();
            a["millionths"] == known.to_string()
        }
        (Value::Object(a), Value::Object(b)) => {
            // A time without its offset is no instant.
            let local = |b: &Value| b.as_str().is_some_and(|text| text.len() < 20);
            b.iter().all(|(name, b)| a.contains_key(name) || name == "timestamp" && local(b))
                && a.iter().all(|(name, a)| b.get(name).is_some_and(|b| same(a, b)))
        }
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
        // An INTEGER without bounds is text.
        (Value::String(digits), Value::Number(known)) => *digits == known.to_string(),
        // NULL is there or not; BIT STRINGs are digits here, octets and a length there.
        (Value::Bool(true), Value::Null) => true,
        (Value::String(bits), Value::Object(known)) if known.contains_key("bits") => {
            let digit = |octet: u8| (octet as char).to_digit(16).unwrap();
            let digits = known["bits"].as_str().unwrap().bytes();
            let known_bits = digits.map(|octet| format!("{:04b}", digit(octet))).collect::<String>();
            *bits == known_bits[..known["len"].as_u64().unwrap() as usize]
        }
        (Value::String(text), Value::Object(_) | Value::Array(_)) => {
            serde_json::from_str::<Value>(text).is_ok_and(|value| same(&value, known))
        }
        // An empty SEQUENCE is there or not.
        (Value::Bool(true), Value::Object(known)) => known.is_empty(),
        _ => value == known,
    }
}

fn check(folder: &Path, arguments: &[&str]) -> usize {
    let mut text = arguments.to_vec();
    text.extend(["-f", "jsonl", "--json-style", "plain", "--quiet"]);
    let text = convert(folder, &text);
    let known: Vec<Value> = text
        .split(|octet| *octet == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect();
    let mut rows = arguments.to_vec();
    rows.extend(["-f", "parquet", "--quiet"]);
    let mut index = 0;
    for batch in batches(convert(folder, &rows)) {
        for row in 0..batch.num_rows() {
            let value = members(batch.schema().fields(), batch.columns(), row);
            assert!(same(&value, &known[index]), "record {index}:\n{value}\n{}", known[index]);
            index += 1;
        }
    }
    assert_eq!(index, known.len());
    index
}

#[test]
fn parquet_holds_what_json_lines_say() {
    assert_eq!(check(&root(), &["-s", "schemas/demo", "-t", "CallRecord", "examples/calls.ber"]), 24);
}

/// The record files of the large corpora; reports a skip in part without them.
fn large_corpora() -> Option<PathBuf> {
    tercet_testing::all_corpora("cdr").into_iter().nth(1)
}

#[test]
fn parquet_of_the_corpora_holds_what_json_lines_say() {
    let ours = ["-s", "../../../schemas/demo", "-t", "CallRecord", "synth/demo/calls_800.ber.zst"];
    assert_eq!(check(&tercet_testing::own_corpora().join("cdr"), &ours), 800);
    let Some(folder) = large_corpora() else { return };
    let msc =
        ["-s", "specs/synthetic/SYN-MSC-R12.asn", "-t", "CallDataRecord", "synth/msc/msc_r12_20k.ber.zst"];
    assert_eq!(check(&folder, &msc), 20_000);
    let scp = ["-s", "specs/synthetic/SYN-IN-SCP.asn", "-t", "SCPRecord", "synth/scp/in_scp_12k.ber.zst"];
    assert_eq!(check(&folder, &scp), 12_000);
    let list = ["-t", "DataInterChange", "-r", "TransferBatch.callEventDetails"];
    let mut tap = vec!["-s", "specs/gsma-sigscale/TAP-0312.asn1", "synth/tap/tap0312_typical_4k.ber.zst"];
    tap.extend(list);
    assert_eq!(check(&folder, &tap), 4_000);
}

#[test]
fn columns_that_are_asked_for_and_where_rows_came_from() {
    let arguments = [
        "-s",
        "schemas/demo",
        "-t",
        "CallRecord",
        "examples/calls.ber",
        "-f",
        "parquet",
        "--quiet",
        "--provenance",
        "--columns",
        "choice,mtCall.location,data.volumes.uplink",
    ];
    let batches = batches(convert(&root(), &arguments));
    let names: Vec<_> = batches[0].schema().fields().iter().map(|field| field.name().clone()).collect();
    assert_eq!(names, ["_file", "_record", "_offset", "_length", "choice", "mtCall", "data"]);
    let column = |name: &str| batches[0].column_by_name(name).unwrap();
    let ends: Vec<i64> = (0..24)
        .map(|row| {
            column("_offset").as_primitive::<Int64Type>().value(row)
                + column("_length").as_primitive::<Int64Type>().value(row)
        })
        .collect();
    assert_eq!(ends[22], column("_offset").as_primitive::<Int64Type>().value(23));
    assert_eq!(ends[23], 1838);
    assert_eq!(column("_file").as_string::<i32>().value(7), "examples/calls.ber");
    let call = (0..24).find_map(|row| value(column("mtCall"), row)).unwrap();
    assert_eq!(call.as_object().unwrap().keys().collect::<Vec<_>>(), ["location"]);
    let data = (0..24).find_map(|row| value(column("data"), row)).unwrap();
    assert!(
        data["volumes"][0]["uplink"].is_string() && data["volumes"][0].as_object().unwrap().len() == 1,
        "{data}"
    );
}

#[test]
fn a_record_that_fails_in_one_of_its_rows_has_none() {
    let folder = tempfile::tempdir().unwrap();
    let module = "M DEFINITIONS IMPLICIT TAGS ::= BEGIN R ::= SEQUENCE { id INTEGER, \
                  list SEQUENCE OF SEQUENCE { n INTEGER } } END";
    std::fs::write(folder.path().join("m.asn"), module).unwrap();
    let sequence = |contents: Vec<u8>| [vec![0x30, u8::try_from(contents.len()).unwrap()], contents].concat();
    let integer = |octets: &[u8]| [&[2, u8::try_from(octets.len()).unwrap()], octets].concat();
    let record = |id: u8, elements: &[&[u8]]| {
        let list = elements.iter().flat_map(|element| sequence(integer(element))).collect();
        sequence([integer(&[id]), sequence(list)].concat())
    };
    // Nine octets are more than an int64 has.
    let file = [record(1, &[&[1], &[2]]), record(2, &[&[3], &[1; 9], &[4]]), record(3, &[&[5]])].concat();
    std::fs::write(folder.path().join("r.ber"), file).unwrap();
    let status = Command::new(TERCET)
        .current_dir(folder.path())
        .args(["convert", "-q", "--framing", "plain", "-s", "m.asn", "-t", "R", "--explode", "list"])
        .args(["r.ber", "-o", "r.parquet", "--integers", "int64"])
        .output()
        .unwrap()
        .status;
    assert_eq!(status.code(), Some(2));
    let batches = batches(std::fs::read(folder.path().join("r.parquet")).unwrap());
    let ids = batches
        .iter()
        .flat_map(|batch| batch.column_by_name("id").unwrap().as_primitive::<Int64Type>().values().to_vec());
    assert_eq!(ids.collect::<Vec<_>>(), [1, 1, 3]);
}

#[test]
fn flat_columns_are_those_of_csv() {
    let demo = ["-s", "schemas/demo", "-t", "CallRecord", "examples/calls.ber", "--quiet"];
    for more in [
        &[][..],
        &["--columns", "choice,moCall.location,data.volumes", "--rename", "moCall.location=place"],
        &["--render", "none"],
        &["--where", "choice = data", "--explode", "data.volumes"],
    ] {
        let csv = convert(&root(), &[&demo[..], more, &["-f", "csv"]].concat());
        let csv = String::from_utf8(csv).unwrap();
        let names: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
        let flat = [&demo[..], more, &["-f", "parquet", "--flat", "--hex-octets"]].concat();
        let batches = batches(convert(&root(), &flat));
        let schema = batches[0].schema();
        // A time has a second column with its offset, which is in its text in CSV.
        let columns: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
        let own: Vec<&str> = columns.iter().copied().filter(|name| !name.ends_with("_offset")).collect();
        assert_eq!(own, names, "{more:?}");
        assert!(
            !schema
                .fields()
                .iter()
                .any(|it| matches!(it.data_type(), DataType::Struct(_) | DataType::List(_)))
        );
        let rows = batches.iter().map(RecordBatch::num_rows).sum::<usize>();
        assert_eq!(rows, csv.lines().count() - 1, "{more:?}");
        // A cell is empty where the column is null, and holds the same number otherwise.
        let at = |name: &str| names.iter().position(|it| *it == name);
        let Some(number) = at("data.volumes.uplink").or_else(|| at("choice")) else { continue };
        for (row, line) in csv.lines().skip(1).enumerate() {
            let cell = line.split(',').nth(number).unwrap();
            let column = batches[0].column_by_name(names[number]).unwrap();
            assert_eq!(
                value(column, row).map(|it| it.as_str().unwrap().to_owned()).unwrap_or_default(),
                cell
            );
        }
    }
}

#[test]
fn integers_without_bounds_reject_no_record() {
    let folder = tempfile::tempdir().unwrap();
    let module = "M DEFINITIONS IMPLICIT TAGS ::= BEGIN R ::= SEQUENCE { serialNumber INTEGER, n INTEGER (0..MAX) } END";
    std::fs::write(folder.path().join("m.asn"), module).unwrap();
    let record = |serial: &[u8]| {
        let contents = [&[2, serial.len() as u8], serial, &[2, 1, 5]].concat();
        [&[0x30, contents.len() as u8], &contents[..]].concat()
    };
    let serials = [vec![1], vec![0x7F; 20], vec![0x80; 9], vec![0xFF]];
    std::fs::write(folder.path().join("r.ber"), serials.map(|serial| record(&serial)).concat()).unwrap();
    let arguments = ["-q", "--framing", "plain", "-s", "m.asn", "-t", "R", "r.ber", "-f", "parquet"];
    let batches = batches(convert(folder.path(), &arguments));
    let column = batches[0].column_by_name("serialNumber").unwrap().as_string::<i32>();
    let texts: Vec<&str> = column.iter().flatten().collect();
    // (2^160 - 1) * 127 / 255, and -(2^72 - 1) * 127 / 255 - 1.
    let long = "727885129180488904360266563744972327436484050815";
    assert_eq!(texts, ["1", long, "-2351923699311548792704", "-1"]);
    let output = Command::new(TERCET)
        .current_dir(folder.path())
        .args(["convert", "--integers", "int64"])
        .args(&arguments[..])
        .args(["-o", "r.parquet"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    let rejects = std::fs::read_to_string(folder.path().join("r.parquet.rejects.jsonl")).unwrap_or_default();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(rejects.contains("R.serialNumber") || said.contains("R.serialNumber"), "{said}{rejects}");
}
