//! Which rows there are: conditions, elements of lists, where rows came from, and totals that are checked.
#![cfg(unix)]

mod joined;

use joined::Tables;
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Command, Output};

const TERCET: &str = env!("CARGO_BIN_EXE_tercet");
const DEMO: [&str; 5] = ["-s", "schemas/demo", "-t", "CallRecord", "examples/calls.ber"];

fn run(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(TERCET).current_dir(folder).arg("convert").args(arguments).output().unwrap()
}

fn convert(folder: &Path, arguments: &[&str]) -> String {
    let output = run(folder, &[arguments, &["--quiet"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn demo(arguments: &[&str]) -> String {
    convert(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."), &[&DEMO, arguments].concat())
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn records_that_have_been_there_are_left_out() {
    let all = lines(&demo(&[]));
    let twice: [&[&str]; 3] =
        [&["-j", "1"], &["-j", "4"], &["-j", "4", "-f", "jsonl", "--where", "duration >= 0"]];
    for arguments in twice {
        let once = lines(&demo(arguments));
        let again = [&["examples/calls.ber", "--dedupe"], arguments].concat();
        assert_eq!(lines(&demo(&again)), once, "{arguments:?}");
    }
    // The first record of each value; those without the component are like no other.
    let mut seen = Vec::new();
    let is_first = |record: &&Value| {
        let Some(originating) = record["sms"].get("originating") else { return true };
        let first = !seen.contains(originating);
        seen.push(originating.clone());
        first
    };
    let first: Vec<&Value> = all.iter().filter(is_first).collect();
    assert!(first.len() < all.len());
    let rows = lines(&demo(&["--dedupe=sms.originating"]));
    assert_eq!(rows.iter().collect::<Vec<_>>(), first);
    // A component that is in no column is decoded all the same.
    let names = demo(&["--dedupe=sms.originating", "-f", "csv", "--columns", "choice"]);
    assert_eq!(names.lines().count() - 1, first.len());
}

#[test]
fn records_are_left_out() {
    let all = lines(&demo(&[]));
    let inner = |record: &Value| record.as_object().unwrap().values().next().unwrap().clone();
    type Meets = fn(&Value, &Value) -> bool;
    let conditions: [(&[&str], Meets); 9] = [
        (&["choice=mtCall"], |record, _| record.get("mtCall").is_some()),
        (&["choice != mtCall"], |record, _| record.get("mtCall").is_none()),
        (&["choice in (sms, data)"], |record, _| ["sms", "data"].iter().any(|it| record.get(it).is_some())),
        (&["recordNumber<5"], |_, call| call["recordNumber"].as_i64() < Some(5)),
        (&["mtCall.duration >= 540"], |record, _| record["mtCall"]["duration"].as_i64() >= Some(540)),
        (&["originating=false"], |_, call| call["originating"] == false),
        (&["choice=moCall", "duration > 100"], |record, call| {
            record.get("moCall").is_some() && call["duration"].as_i64() > Some(100)
        }),
        (&["eventTime < 2026-11-01T02:00:00+01:00"], |_, call| {
            call["eventTime"].as_str().is_some_and(|time| time < "2026-11-01T02:00:00+01:00")
        }),
        (&["moCall.callingNumber.ton=1"], |record, _| record["moCall"]["callingNumber"]["ton"] == 1),
    ];
    for (conditions, meets) in conditions {
        let known: Vec<&Value> = all.iter().filter(|record| meets(record, &inner(record))).collect();
        assert!(!known.is_empty() && known.len() < all.len(), "{conditions:?}");
        let arguments: Vec<&str> = conditions.iter().flat_map(|condition| ["--where", condition]).collect();
        assert_eq!(lines(&demo(&arguments)).iter().collect::<Vec<_>>(), known, "{conditions:?}");
        let rows = demo(&[&arguments[..], &["-f", "csv", "--columns", "sms.originating"]].concat());
        assert_eq!(rows.lines().count() - 1, known.len(), "{conditions:?}");
    }
}

#[test]
fn where_is_an_expression() {
    let all = lines(&demo(&[]));
    let inner = |record: &Value| record.as_object().unwrap().values().next().unwrap().clone();
    type Meets = fn(&Value, &Value) -> bool;
    let conditions: [(&str, Meets); 14] = [
        ("choice == mtCall", |record, _| record.get("mtCall").is_some()),
        ("choice = mtCall and duration > 100", |record, call| {
            record.get("mtCall").is_some() && call["duration"].as_i64() > Some(100)
        }),
        ("choice = sms or duration > 500", |record, call| {
            record.get("sms").is_some() || call["duration"].as_i64() > Some(500)
        }),
        ("not (choice = sms or choice = data)", |record, _| {
            record.get("moCall").is_some() || record.get("mtCall").is_some()
        }),
        ("choice not in (sms, data) AND recordNumber < 20", |record, call| {
            record.get("sms").is_none()
                && record.get("data").is_none()
                && call["recordNumber"].as_i64() < Some(20)
        }),
        ("data.accessPoint like 'internet%'", |_, call| {
            call["accessPoint"].as_str().is_some_and(|text| text.starts_with("internet"))
        }),
        ("choice like 'm_Call'", |record, _| {
            record.get("moCall").is_some() || record.get("mtCall").is_some()
        }),
        ("answerTime is null", |_, call| call.get("answerTime").is_none()),
        ("servedIMEI is not null", |_, call| call.get("servedIMEI").is_some()),
        ("moCall.supplementary is not null", |record, _| record["moCall"].get("supplementary").is_some()),
        ("moCall is null and mtCall is null", |record, _| {
            record.get("moCall").is_none() && record.get("mtCall").is_none()
        }),
        // An absent component never matches, whatever is around the comparison.
        ("not duration >= 0", |_, _| false),
        ("not (duration >= 0) or choice = sms", |record, _| record.get("sms").is_some()),
        ("duration > 99.5 and duration <= 1e2", |_, call| call["duration"] == 100),
    ];
    for (condition, meets) in conditions {
        let known: Vec<&Value> = all.iter().filter(|record| meets(record, &inner(record))).collect();
        let kept = lines(&demo(&["--where", condition]));
        assert_eq!(kept.iter().collect::<Vec<_>>(), known, "{condition}");
        // Columns that are not asked for are decoded for conditions all the same.
        let rows = demo(&["--where", condition, "-f", "csv", "--columns", "sms.originating"]);
        assert_eq!(rows.lines().count() - 1, known.len(), "{condition}");
    }
}

#[test]
fn where_refuses_what_no_record_can_meet() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for (condition, message, carets) in [
        ("mtCall.nothing=1", "no component `nothing` in `mtCall`", "^^^^^^^^^^^^^^"),
        ("duratoin=1", "no component `duratoin`; did you mean `duration`?", "^^^^^^^^"),
        ("mtCall.location=1", "`mtCall.location` is not a single value but a SEQUENCE", "^^^^^^^^^^^^^^^"),
        (
            "choice=mtcall",
            "unknown alternative `mtcall` of `choice`; did you mean `mtCall`?",
            "       ^^^^^^",
        ),
        ("choice > sms", "the alternatives of a CHOICE have no order", "       ^"),
        ("mtCall", "no comparison after `mtCall`", "      ^"),
        ("duration > abc", "`abc` is not a number: `duration` is an INTEGER", "           ^^^"),
        ("duration = = 5", "value expected", "           ^"),
        ("duration like '1%'", "`like` compares text: `duration` is an INTEGER", "              ^^^^"),
        (
            "cause = normalReleese",
            "unknown name `normalReleese` of `cause`; did you mean `normalRelease`?",
            "        ^^^^^^^^^^^^^",
        ),
        (
            "originating = maybe",
            "`maybe` is not `true` or `false`: `originating` is a BOOLEAN",
            "              ^^^^^",
        ),
        (
            "accessPoint > 5",
            "number `5` compared with a text: `accessPoint` is an IA5String",
            "              ^",
        ),
        ("data.volumes[x].uplink > 5", "`[x]` is not the number of an element", "^^^^^^^^^^^^^^^^^^^^^^"),
        (
            "data.volumes[0..3].uplink > 5",
            "`[0..3]` is not the number of an element",
            "^^^^^^^^^^^^^^^^^^^^^^^^^",
        ),
        ("data[0].recordNumber > 5", "element number in `data`, which is not a list", "^^^^^^^^^^^^^^^^^^^^"),
        ("uplink[0] > 5", "element number without the path of its list", "^^^^^^^^^"),
        ("duration > 5 and and", "no comparison after `and`", "                    ^"),
        ("duration > 5 duration < 9", "`and` or `or` expected", "                      ^"),
    ] {
        let output = run(&folder, &[&DEMO[..], &["--where", condition]].concat());
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        let shown = format!("{message}\n  {condition}\n  {carets}\n");
        assert!(said.contains(&shown), "{condition}: {said}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn where_asks_for_one_element_of_a_list_or_any() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("lists.asn"), LISTS).unwrap();
    let bills = r#"
        {"name":"a","groups":[{"code":1,"items":[{"type":"x","charge":1,"marks":[7,8]}]},{"code":2}]}
        {"name":"b","groups":[{"code":2,"items":[{"type":"y","charge":5},{"type":"x","charge":6,"marks":[8]}]}]}
        {"name":"c","groups":[]}"#;
    std::fs::write(folder.path().join("bills.json"), bills).unwrap();
    let encode = "encode -s lists.asn -t Bill bills.json -o bills.ber".split(' ');
    let output = Command::new(TERCET).current_dir(folder.path()).args(encode).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for (condition, known) in [
        ("groups.code = 2", "ab"),
        ("groups[0].code = 2", "b"),
        ("groups[1].code = 2", "a"),
        ("groups[9].code = 2", ""),
        ("groups.items.charge > 4", "b"),
        ("groups[0].items[1].charge = 6", "b"),
        ("groups.items[0].charge = 6", ""),
        ("groups[].items[1].charge = 6", "b"),
        ("groups[1].items.charge > 0", ""),
        ("groups.items.marks[0] = 8", "b"),
        ("groups.items.marks[1] = 8", "a"),
        ("groups[0].items[0].marks[1] = 8", "a"),
        ("groups[0].items[1] is not null", "b"),
        ("groups[0] is null", "c"),
        ("groups[1].items is null", "abc"),
        ("not groups[0].code = 2", "a"),
    ] {
        let mut words: Vec<_> =
            "-q -s lists.asn -t Bill bills.ber -f csv --columns name".split(' ').collect();
        words.extend(["--where", condition]);
        let output = run(folder.path(), &words);
        assert!(output.status.success(), "{condition}: {}", String::from_utf8_lossy(&output.stderr));
        let names: String = String::from_utf8_lossy(&output.stdout).lines().skip(1).collect();
        assert_eq!(names, known, "{condition}");
    }
}

#[test]
fn lists_are_decoded_for_conditions_and_totals_whatever_the_columns() {
    let folder = tempfile::tempdir().unwrap();
    let specification = "L DEFINITIONS AUTOMATIC TAGS ::= BEGIN
        L ::= SEQUENCE { name IA5String, marks SEQUENCE OF INTEGER, tables SEQUENCE OF SEQUENCE OF INTEGER, parties SEQUENCE OF Party, kind Party }
        Party ::= CHOICE { number INTEGER, text UTF8String }
        END";
    std::fs::write(folder.path().join("l.asn"), specification).unwrap();
    let values = r#"
        {"name":"a","marks":[1,2],"tables":[[3],[4,5]],"parties":[{"number":6}],"kind":{"text":"y"}}
        {"name":"b","marks":[1],"tables":[[3]],"parties":[{"text":"x"}],"kind":{"number":1}}"#;
    std::fs::write(folder.path().join("l.json"), values).unwrap();
    let encode = "encode -s l.asn -t L l.json -o l.ber".split(' ');
    let output = Command::new(TERCET).current_dir(folder.path()).args(encode).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let names = |options: &[&str]| {
        let words = "-s l.asn -t L l.ber --columns name -f csv".split(' ').collect::<Vec<_>>();
        let output = run(folder.path(), &[&words[..], options].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let names: String = String::from_utf8_lossy(&output.stdout).lines().skip(1).collect();
        (names, String::from_utf8_lossy(&output.stderr).into_owned())
    };
    for (condition, known) in [
        ("marks = 2", "a"),
        ("marks = 1", "ab"),
        ("tables = 5", "a"),
        ("tables[1] = 5", "a"),
        ("tables[1][0] = 5", ""),
        ("tables[][1] = 5", "a"),
        ("parties.choice = text", "b"),
        ("parties.number = 6", "a"),
        ("kind.choice = number", "b"),
        ("kind = text", "a"),
        ("kind.choice is not null", "ab"),
        ("parties[0].choice = number", "a"),
        ("marks[1] is null", "b"),
    ] {
        assert_eq!(names(&["--where", condition]).0, known, "{condition}");
    }
    let (_, said) = names(&["--total", "marks"]);
    assert!(said.contains("marks") && said.contains('4'), "{said}");
    assert_eq!(names(&["--dedupe=marks"]).0, "ab");
}

#[test]
fn rows_say_where_they_came_from() {
    let plain = demo(&[]);
    let rows = demo(&["--provenance"]);
    let mut end = 0;
    for (index, (row, plain)) in lines(&rows).iter_mut().zip(lines(&plain)).enumerate() {
        let members = row.as_object_mut().unwrap();
        assert_eq!(members.remove("_file"), Some("examples/calls.ber".into()));
        assert_eq!(members.remove("_record"), Some(index.into()));
        assert_eq!(members.remove("_offset"), Some(end.into()));
        end += members.remove("_length").unwrap().as_u64().unwrap();
        assert_eq!(*row, plain);
    }
    assert_eq!(end, 1838);
    let rows = demo(&["--provenance", "-f", "csv", "--columns", "choice"]);
    assert!(
        rows.starts_with("_file,_record,_offset,_length,choice\nexamples/calls.ber,0,0,46,sms\n"),
        "{rows}"
    );
    let indented = demo(&["--provenance", "-f", "json"]);
    assert!(indented.starts_with("{\n  \"_file\": \"examples/calls.ber\",\n"), "{indented}");
}

const LISTS: &str = "Lists DEFINITIONS IMPLICIT TAGS ::= BEGIN
Bill ::= SEQUENCE { name IA5String, groups SEQUENCE OF Group, other Group OPTIONAL }
Group ::= SEQUENCE { code INTEGER, items SEQUENCE OF Item OPTIONAL }
Item ::= SEQUENCE { type IA5String, charge INTEGER, marks [0] SEQUENCE OF INTEGER OPTIONAL }
Batch ::= [APPLICATION 1] SEQUENCE { bills [0] SEQUENCE OF Bill, audit [1] Audit }
Audit ::= SEQUENCE { count [0] INTEGER, total [1] INTEGER, all [2] INTEGER }
END";

fn item(kind: &str, charge: i64) -> Value {
    json!({"type": kind, "charge": charge})
}

/// A folder with a specification and a value of it.
fn folder(type_name: &str, values: &[Value]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.asn"), LISTS).unwrap();
    let mut octets = Vec::new();
    for value in values {
        std::fs::write(folder.path().join("a.json"), value.to_string()).unwrap();
        let output = Command::new(TERCET)
            .current_dir(folder.path())
            .args(["encode", "-s", "a.asn", "-t", type_name, "a.json"])
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        octets.extend(output.stdout);
    }
    std::fs::write(folder.path().join("a.ber"), octets).unwrap();
    folder
}

fn bills() -> [Value; 3] {
    let group = |code: i64, items: &[Value]| json!({"code": code, "items": items});
    [
        json!({"name": "a", "groups": [group(1, &[item("00", 5), item("01", 6)]), group(2, &[]), {"code": 3}],
               "other": group(9, &[item("00", 1)])}),
        json!({"name": "b", "groups": []}),
        json!({"name": "c", "groups": [group(4, &[item("00", 7)])]}),
    ]
}

#[test]
fn lists_become_rows() {
    let folder = folder("Bill", &bills());
    let common = ["-s", "a.asn", "-t", "Bill", "a.ber", "--framing", "plain"];
    let rows = |arguments: &[&str]| convert(folder.path(), &[&common[..], arguments].concat());
    assert_eq!(
        rows(&["--explode", "groups", "-f", "csv"]),
        "_groups,name,groups.code,groups.items,other.code,other.items\n\
         0,a,1,\"[{\"\"type\"\":\"\"00\"\",\"\"charge\"\":5},{\"\"type\"\":\"\"01\"\",\"\"charge\"\":6}]\",9,\"[{\"\"type\"\":\"\"00\"\",\"\"charge\"\":1}]\"\n\
         1,a,2,[],9,\"[{\"\"type\"\":\"\"00\"\",\"\"charge\"\":1}]\"\n\
         2,a,3,,9,\"[{\"\"type\"\":\"\"00\"\",\"\"charge\"\":1}]\"\n\
         ,b,,,,\n\
         0,c,4,\"[{\"\"type\"\":\"\"00\"\",\"\"charge\"\":7}]\",,\n"
    );
    let columns = ["-f", "csv", "--columns", "name,groups.code,groups.items.charge"];
    let known = "_groups,_items,name,groups.code,groups.items.charge\n\
                 0,0,a,1,5\n0,1,a,1,6\n1,,a,2,\n2,,a,3,\n,,b,,\n0,0,c,4,7\n";
    assert_eq!(rows(&[&["--explode", "groups[].items[]"], &columns[..]].concat()), known);
    let json = lines(&rows(&["--explode", "other.items", "--provenance"]));
    assert_eq!(json.len(), 3);
    assert_eq!(json[0]["other"], json!({"code": 9, "items": item("00", 1)}));
    // The same type elsewhere keeps its list.
    assert_eq!(json[0]["groups"][0]["items"][1], item("01", 6));
    assert_eq!(
        (&json[0]["_items"], json[1].get("_items"), &json[2]["_record"]),
        (&0.into(), None, &2.into())
    );
    for (path, message) in
        [("groups.code", "is not a SEQUENCE OF"), ("grupps", "no component `grupps`; did you mean `groups`?")]
    {
        let output = run(folder.path(), &[&common[..], &["--explode", path]].concat());
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(1) && said.contains(message), "{said}");
    }
}

#[test]
fn exploded_columns_hold_the_same() {
    use arrow_array::{Array, cast::AsArray, types::Int64Type};
    let folder = folder("Bill", &bills());
    let arguments = [
        "-s",
        "a.asn",
        "-t",
        "Bill",
        "a.ber",
        "--framing",
        "plain",
        "--explode",
        "groups.items",
        "--integers",
        "int64",
        "-o",
        "a.parquet",
    ];
    convert(folder.path(), &arguments);
    let octets = std::fs::read(folder.path().join("a.parquet")).unwrap();
    let reader =
        parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder::try_new(bytes::Bytes::from(octets));
    let batch = reader.unwrap().build().unwrap().next().unwrap().unwrap();
    let numbers =
        |column: &dyn Array| -> Vec<Option<i64>> { column.as_primitive::<Int64Type>().iter().collect() };
    let column = |name: &str| batch.column_by_name(name).unwrap();
    assert_eq!(numbers(column("_groups")), [Some(0), Some(0), Some(1), Some(2), None, Some(0)]);
    assert_eq!(numbers(column("_items")), [Some(0), Some(1), None, None, None, Some(0)]);
    let groups = column("groups").as_struct();
    assert_eq!(
        numbers(groups.column_by_name("code").unwrap()),
        [Some(1), Some(1), Some(2), Some(3), None, Some(4)]
    );
    let items = groups.column_by_name("items").unwrap().as_struct();
    let charges = numbers(items.column_by_name("charge").unwrap());
    assert_eq!(charges, [Some(5), Some(6), None, None, None, Some(7)]);
}

/// Bills whose lists are absent, empty and inside one another.
fn bills_with_marks() -> Vec<Value> {
    let marked = |marks: Value| json!({"type": "02", "charge": 8, "marks": marks});
    let mut bills = bills().to_vec();
    bills.push(json!({"name": "d", "groups": [
        {"code": 5, "items": [marked(json!([7, -1])), marked(json!([])), item("00", 2)]},
        {"code": 6},
        {"code": 7, "items": [marked(json!([3]))]},
    ], "other": {"code": 8}}));
    bills
}

#[test]
fn child_tables_hold_all_that_records_hold() {
    let bills = bills_with_marks();
    let folder = folder("Bill", &bills);
    let common = ["-s", "a.asn", "-t", "Bill", "a.ber", "--framing", "plain"];
    for (options, names) in [
        (&["--children"][..], &["", "groups", "other.items"][..]),
        (&["--child", "groups"], &["", "groups"]),
        (
            &["--child", "groups[].items[].marks,other.items", "--child", "other.items.marks"],
            &["", "groups", "groups.items", "groups.items.marks", "other.items", "other.items.marks"],
        ),
        // Components that are no lists have tables of a row for each record; their order is of no matter.
        (&["--child", "other"], &["", "other"]),
        (&["--child", "other.items,other", "--children"], &["", "groups", "other", "other.items"]),
    ] {
        for jobs in ["1", "2"] {
            let output = tempfile::tempdir().unwrap();
            let path = output.path().join("rows.jsonl").display().to_string();
            convert(folder.path(), &[&common[..], options, &["-o", &path, "-j", jobs]].concat());
            let tables = Tables::read(output.path(), "rows");
            assert_eq!(tables.paths(), names);
            assert_eq!(tables.joined(), bills, "{options:?}");
        }
    }
}

#[test]
fn child_tables_have_columns_of_their_own() {
    let folder = folder("Bill", &bills_with_marks());
    let common = ["-s", "a.asn", "-t", "Bill", "a.ber", "--framing", "plain", "-o", "rows.csv"];
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    convert(folder.path(), &[&common[..], &["--child", "groups.items.marks"]].concat());
    assert_eq!(
        read("rows.csv").lines().take(3).collect::<Vec<_>>(),
        [
            "_file,_record,name,groups,other.code,other.items",
            "a.ber,0,a,3,9,\"[{\"\"type\"\":\"\"00\"\",\"\"charge\"\":1}]\"",
            "a.ber,1,b,0,,"
        ]
    );
    assert_eq!(
        read("rows.groups.csv"),
        "_file,_record,_groups,code,items\na.ber,0,0,1,2\na.ber,0,1,2,0\na.ber,0,2,3,\na.ber,2,0,4,1\n\
         a.ber,3,0,5,3\na.ber,3,1,6,\na.ber,3,2,7,1\n"
    );
    assert_eq!(
        read("rows.groups.items.marks.csv"),
        "_file,_record,_groups,_items,_marks,value\na.ber,3,0,0,0,7\na.ber,3,0,0,1,-1\na.ber,3,2,0,0,3\n"
    );
    // Columns are those of the table that their paths go into; a table that none goes into has all of its own.
    let columns = ["--child", "groups,other.items", "--columns", "groups.code,other", "--provenance"];
    convert(folder.path(), &[&common[..], &columns].concat());
    let header = |name: &str| read(name).lines().next().unwrap_or_default().to_owned();
    assert_eq!(header("rows.csv"), "_file,_record,_offset,_length,other.code,other.items");
    assert_eq!(header("rows.groups.csv"), "_file,_record,_groups,code");
    assert_eq!(header("rows.other.items.csv"), "_file,_record,_items,type,charge,marks");
    assert_eq!(read("rows.other.items.csv").lines().nth(1), Some("a.ber,0,0,00,1,"));
    assert_eq!(read("rows.groups.csv").lines().count(), 8);
}

#[test]
fn columns_are_named_by_patterns() {
    let header = |arguments: &[&str]| {
        let rows = demo(&[&["-f", "csv"], arguments].concat());
        rows.lines().next().unwrap_or_default().to_owned()
    };
    for (patterns, columns) in [
        ("mtCall.record*", "mtCall.recordNumber"),
        ("*.recordNumber", "moCall.recordNumber,mtCall.recordNumber,sms.recordNumber,data.recordNumber"),
        ("choice,sms.*Party.digits", "choice,sms.otherParty.digits"),
        ("c*,**.exchange", "choice,moCall.location.exchange,mtCall.location.exchange"),
        ("data.*Time,data.accessPoint", "data.accessPoint,data.openingTime"),
        // Lists are passed, as parts of them may be named where they are no text.
        ("data.volumes", "data.volumes"),
    ] {
        assert_eq!(header(&["--columns", patterns]), columns, "{patterns}");
    }
    assert_eq!(header(&["--columns", "**"]), header(&[]));
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let tables = tempfile::tempdir().unwrap();
    let output = tables.path().join("a.csv").display().to_string();
    let options = ["--columns", "**.*link,data.recordNumber", "--child", "data.volumes", "-o", &output];
    convert(&folder, &[&DEMO[..], &options].concat());
    let child = std::fs::read_to_string(tables.path().join("a.data.volumes.csv")).unwrap();
    assert!(child.starts_with("_file,_record,_volumes,uplink,downlink\n"), "{child}");
    for (pattern, message) in [("*.nothing", "unknown column `*.nothing`"), ("s*x", "unknown column `s*x`")] {
        let output = run(&folder, &[&DEMO[..], &["-f", "csv", "--columns", pattern]].concat());
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(1) && said.contains(message), "{said}");
    }
}

#[test]
fn rows_of_a_rejected_record_are_in_no_table() {
    use arrow_array::{cast::AsArray, types::Int64Type};
    let large = json!({"type": "00", "charge": u64::MAX});
    let mut bills = bills_with_marks();
    bills.insert(1, json!({"name": "x", "groups": [{"code": 1, "items": [item("00", 1), large]}]}));
    let folder = folder("Bill", &bills);
    let options =
        ["-s", "a.asn", "-t", "Bill", "a.ber", "--framing", "plain", "--child", "groups.items.marks"];
    let output = run(
        folder.path(),
        &[&options[..], &["-o", "r.parquet", "--summary", "s.json", "--integers", "int64"]].concat(),
    );
    assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stderr));
    let summary: Value =
        serde_json::from_slice(&std::fs::read(folder.path().join("s.json")).unwrap()).unwrap();
    let known = json!({"groups": 7, "groups.items": 7, "groups.items.marks": 3});
    assert_eq!(summary["inputs"][0]["children"], known);
    assert_eq!((&summary["inputs"][0]["rows"], &summary["rejects"]), (&json!(4), &json!(1)));
    for (name, count) in known.as_object().unwrap() {
        let octets = std::fs::read(folder.path().join(format!("r.{name}.parquet"))).unwrap();
        let reader = parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder::try_new(
            bytes::Bytes::from(octets),
        );
        let batch = reader.unwrap().build().unwrap().next().unwrap().unwrap();
        assert_eq!(batch.num_rows() as i64, count.as_i64().unwrap(), "{name}");
        let records = batch.column_by_name("_record").unwrap().as_primitive::<Int64Type>();
        assert_eq!(records.iter().max(), Some(Some(3)), "{name}");
    }
}

#[test]
fn child_tables_that_cannot_be_are_refused() {
    let folder = folder("Bill", &bills());
    let common = ["-s", "a.asn", "-t", "Bill", "a.ber", "--framing", "plain"];
    for (options, message) in [
        (&["--child", "groups"][..], "child tables are separate files: use `-o FILE`"),
        (
            &["--child", "groups.code", "-o", "a.csv"],
            "`groups.code` is neither a list, nor has it components",
        ),
        (
            &["--child", "groups.cod", "-o", "a.csv"],
            "no component `cod` in `groups.cod`; did you mean `code`?",
        ),
        (&["--child", "groups", "-o", "a.xml"], "`--child` does not apply to the format `xml`"),
        (&["--by-type", "-o", "a.csv"], "the records are of one type"),
        (&["--child", "groups", "--explode", "groups", "-o", "a.csv"], "cannot be used with"),
        (&["--child", "groups", "--columns", "groups.x", "-o", "a.parquet"], "unknown column `x`"),
    ] {
        let output = run(folder.path(), &[&common[..], options].concat());
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(1) && said.contains(message), "{said}");
    }
}

const PROFILE: &str = "name = \"own\"
[audit]
count = \"audit.count\"
[audit.totals]
\"audit.total\" = [\"charge[type=00]\", \"charge\"]
\"audit.all\" = [\"charge\"]
";

#[test]
fn totals_are_checked() {
    let batch = |count: i64, total: i64, all: i64| json!({"bills": bills(), "audit": {"count": count, "total": total, "all": all}});
    let values = [batch(3, 13, 19), batch(3, 19, 19), batch(4, 13, 18)];
    for (value, code, said) in [
        (&values[..1], 0, &["totals that agree: count 3, total 13, all 19"][..]),
        (&values[1..2], 0, &["total is the sum of charge, not the usual one"]),
        (
            &values[2..],
            2,
            &[
                "`audit.count` is 4, the number of records comes to 3",
                "`audit.all` is 18, charge comes to 19",
            ],
        ),
        (&values[..], 2, &["`audit.count` is 4"]),
    ] {
        let folder = folder("Batch", value);
        std::fs::write(folder.path().join("own.toml"), PROFILE).unwrap();
        let common = ["-s", "a.asn", "-t", "Batch", "-r", "bills", "a.ber", "--profile", "own.toml"];
        // Neither columns nor conditions change what is summed.
        for more in [&[][..], &["--columns", "name", "-f", "csv"], &["--where", "name=b"]] {
            let output = run(folder.path(), &[&common[..], more, &["--summary", "s.json"]].concat());
            let errors = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(code), "{errors}");
            assert!(said.iter().all(|said| errors.contains(said)), "{errors}");
            let summary = std::fs::read_to_string(folder.path().join("s.json")).unwrap();
            let summary: Value = serde_json::from_str(&summary).unwrap();
            let checks = summary["inputs"][0]["control_totals"].as_array().unwrap();
            assert_eq!(checks.len(), 3 * value.len());
            assert_eq!(checks.iter().all(|check| check["agrees"] == true), code == 0);
        }
    }
}

#[test]
fn members_of_a_set_go_to_their_columns_in_any_order() {
    let folder = tempfile::tempdir().unwrap();
    let module = "M DEFINITIONS IMPLICIT TAGS ::= BEGIN R ::= SET { a [0] INTEGER, b [1] UTF8String, \
                  c [2] SEQUENCE { d INTEGER, e OCTET STRING OPTIONAL, f BOOLEAN }, \
                  g CHOICE { h [3] UTF8String, i [4] NULL } OPTIONAL, j [5] SEQUENCE OF INTEGER OPTIONAL, \
                  k [6] INTEGER OPTIONAL, l [7] UTF8String OPTIONAL } END";
    std::fs::write(folder.path().join("m.asn"), module).unwrap();
    let members: [&[u8]; 6] = [
        &[0x80, 1, 7],
        &[0x81, 3, b'x', b',', b'y'],
        &[0xA2, 6, 2, 1, 9, 1, 1, 0xFF],
        &[0x83, 5, b't', b'e', b'x', b't', b's'],
        &[0xA5, 6, 2, 1, 1, 2, 1, 2],
        b"\x87\x1A01234567890123456789abcdef",
    ];
    // Each member comes first once, and last once, in either direction.
    let mut file = Vec::new();
    for turn in 0..members.len() {
        let mut order: Vec<&[u8]> = members.to_vec();
        order.rotate_left(turn);
        for _ in 0..2 {
            let contents = order.concat();
            file.extend([0x31, u8::try_from(contents.len()).unwrap()]);
            file.extend(contents);
            order.reverse();
        }
    }
    std::fs::write(folder.path().join("r.ber"), file).unwrap();
    let rows = convert(folder.path(), &["-s", "m.asn", "-t", "R", "-f", "csv", "r.ber"]);
    let (header, rows) = rows.split_once('\n').unwrap();
    assert_eq!(header, "a,b,c.d,c.e,c.f,g,g.h,g.i,j,k,l");
    let row = "7,\"x,y\",9,,true,h,texts,,\"[1,2]\",,01234567890123456789abcdef\n";
    assert_eq!(rows, row.repeat(12));
}
