//! What `tercet export` writes is what it describes: values that the command decodes are valid by the JSON Schema, tables have the
//! columns of the SQL text, and Python types hold for decoded values.
#![cfg(unix)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const TERCET: &str = env!("CARGO_BIN_EXE_tercet");

/// Types of every kind, each in its own file.
const ZOO: &str = r#"Zoo DEFINITIONS AUTOMATIC TAGS ::= BEGIN
Animal ::= SEQUENCE {
    name         UTF8String (SIZE (1..20)),
    class        ENUMERATED { mammal, bird, fish },
    colour       ENUMERATED { red, green, ... } OPTIONAL,
    legs         INTEGER (0..8) DEFAULT 4,
    weight       REAL OPTIONAL,
    chip         OCTET STRING (SIZE (4)) OPTIONAL,
    flags        BIT STRING { tame(0), loud(1) } OPTIONAL,
    mask         BIT STRING (SIZE (12)) OPTIONAL,
    bits         BIT STRING (SIZE (3..9)) OPTIONAL,
    code         PrintableString (FROM ("A".."Z" | "-" | "]")) OPTIONAL,
    count        INTEGER,
    born         GeneralizedTime OPTIONAL,
    bought       DATE OPTIONAL,
    nothing      NULL,
    oid          OBJECT IDENTIFIER OPTIONAL,
    rel          RELATIVE-OID OPTIONAL,
    old          TeletexString OPTIONAL,
    home         Home,
    young        SEQUENCE (SIZE (0..2)) OF Animal,
    tags         SET OF IA5String,
    is-loud      BOOLEAN,
    class-of     Home OPTIONAL,
    letter       OCTET STRING (CONTAINING Home) OPTIONAL,
    event        Event,
    ...,
    late         INTEGER (0..MAX) OPTIONAL
}
Home ::= CHOICE { cage INTEGER (1..100), pond NULL, wild SEQUENCE { lat INTEGER, lon INTEGER, ... }, ... }
EVENT ::= CLASS { &id INTEGER UNIQUE, &Type } WITH SYNTAX { ID &id TYPE &Type }
Events EVENT ::= { { ID 1 TYPE BOOLEAN } | { ID 2 TYPE Home } }
Event ::= SEQUENCE { id EVENT.&id ({Events}), value EVENT.&Type ({Events}{@id}) }
END
"#;

fn tercet(words: &str, dir: &Path) -> Output {
    Command::new(TERCET).args(words.split_whitespace()).current_dir(dir).output().unwrap()
}

fn good(words: &str, dir: &Path) -> String {
    let output = tercet(words, dir);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{words}: {said}");
    String::from_utf8(output.stdout).unwrap()
}

/// A Python that has a module: that of the environment of the package, else that of the system.
fn python(modules: &str, dir: &Path) -> Option<PathBuf> {
    let target = Path::new(TERCET).parent().and_then(Path::parent).unwrap();
    let found = [target.join("python/bin/python"), PathBuf::from("python3")].into_iter().find(|python| {
        let run = Command::new(python).args(["-c", &format!("import {modules}")]).current_dir(dir).output();
        run.is_ok_and(|output| output.status.success())
    });
    if found.is_none() {
        tercet_testing::skip_in_part("python", &format!("no Python with {modules}"));
    }
    found
}

fn run(python: &Path, script: &str, dir: &Path) {
    let output = Command::new(python).args(["-c", script]).current_dir(dir).output().unwrap();
    let said =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
}

/// Specifications, a type of each, and encodings of samples.
fn cases(dir: &Path) -> Vec<(PathBuf, &'static str)> {
    fs::write(dir.join("zoo.asn"), ZOO).unwrap();
    let schemas = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas");
    vec![
        (dir.join("zoo.asn"), "Animal"),
        (schemas.join("demo"), "CallRecord"),
        (schemas.join("personnel"), "PersonnelRecord"),
        (schemas.join("certificate"), "Certificate"),
        (schemas.join("signalling/Demo-Signalling.asn"), "Message"),
        (schemas.join("h248/MEDIA-GATEWAY-CONTROL-v3.asn"), "MegacoMessage"),
        (schemas.join("ldap"), "LDAPMessage"),
    ]
}

#[test]
fn decoded_values_are_valid_by_the_json_schema() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let Some(python) = python("jsonschema", dir) else { return };
    for (schema, name) in cases(dir) {
        let shown = schema.display();
        fs::write(dir.join("schema.json"), good(&format!("export json-schema -s {shown} -t {name}"), dir))
            .unwrap();
        let samples = good(&format!("sample -s {shown} -t {name} --count 40 --rules jer"), dir);
        fs::write(dir.join("values.jsonl"), &samples).unwrap();
        assert!(samples.lines().count() >= 20, "{name}: {}", samples.lines().count());
        run(
            &python,
            r#"
import json, jsonschema
schema = json.load(open("schema.json"))
jsonschema.Draft202012Validator.check_schema(schema)
validator = jsonschema.Draft202012Validator(schema)
decoder, text, at, count = json.JSONDecoder(), open("values.jsonl").read(), 0, 0
while text[at:].strip():
    at += len(text[at:]) - len(text[at:].lstrip())
    value, at = decoder.raw_decode(text, at)
    validator.validate(value)
    count += 1
    # Every mandatory member is required.
    for key in schema["$defs"].get(schema.get("title"), {}).get("required", []):
        assert not validator.is_valid({k: v for k, v in value.items() if k != key}), key
    assert not validator.is_valid([value]) and not validator.is_valid("x")
assert count >= 20, count
"#,
            dir,
        );
    }
}

#[test]
fn tables_have_the_columns_of_the_sql_text() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/calls.ber");
    let demo = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas/demo");
    let sql = good(&format!("export sql -s {} -t CallRecord", demo.display()), dir);
    good(&format!("convert -s {} -f csv -o calls.csv {}", demo.display(), examples.display()), dir);
    let csv = fs::read_to_string(dir.join("calls.csv")).unwrap();
    let header: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
    let columns: Vec<&str> =
        sql.lines().filter_map(|line| line.trim().strip_prefix('"')?.split('"').next()).collect();
    // Minutes ahead of UTC have a column where times are no text.
    let columns: Vec<&str> = columns.into_iter().filter(|name| !name.ends_with("_offset")).collect();
    assert_eq!(columns, header, "{sql}");
    if let Some(python) = python("duckdb", dir) {
        fs::write(dir.join("calls.sql"), &sql).unwrap();
        good(
            &format!(
                "convert -s {} -f parquet --flat -o calls.parquet {}",
                demo.display(),
                examples.display()
            ),
            dir,
        );
        run(
            &python,
            r#"
import duckdb
db = duckdb.connect()
db.execute(open("calls.sql").read())
db.execute("""insert into "CallRecord" select * from 'calls.parquet'""")
assert db.execute("""select count(*) from "CallRecord" """).fetchone()[0] > 0
made = [row[:2] for row in db.execute("""describe "CallRecord" """).fetchall()]
read = [row[:2] for row in db.execute("describe select * from 'calls.parquet'").fetchall()]
assert made == read, (made, read)
"#,
            dir,
        );
    }
}

#[test]
fn python_types_are_valid_and_hold() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let stubs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../python/python");
    for (schema, name) in cases(dir) {
        let text = good(&format!("export python -s {} -t {name}", schema.display()), dir);
        fs::write(dir.join(format!("types_{}.py", name.to_lowercase())), text).unwrap();
    }
    if let Some(python) = python("mypy", dir) {
        fs::write(
            dir.join("use.py"),
            "from typing import cast\nimport types_animal as t\n\n\
             def legs(animal: t.Animal) -> int:\n    \
                 if animal['home'][0] == 'cage':\n        cage: int = animal['home'][1]\n        return cage\n    \
                 reveal: str = animal['name']\n    \
                 return animal.get('legs', 4) + len(animal['young'][0]['young']) + len(reveal)\n",
        )
        .unwrap();
        fs::write(
            dir.join("wrong.py"),
            "import types_animal as t\n\ndef f(animal: t.Animal) -> int:\n    return animal['name']\n",
        )
        .unwrap();
        let mypy = |files: &[&str]| {
            let mut command = Command::new(&python);
            command.args(["-m", "mypy", "--strict", "--no-incremental", "--cache-dir=/dev/null"]).args(files);
            let output = command.env("MYPYPATH", &stubs).current_dir(dir).output().unwrap();
            (output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned())
        };
        let files = [
            "types_animal.py",
            "types_callrecord.py",
            "types_certificate.py",
            "types_megacomessage.py",
            "use.py",
        ];
        let (is_good, said) = mypy(&files);
        assert!(is_good, "{said}");
        let (is_good, said) = mypy(&["wrong.py"]);
        assert!(!is_good && said.contains("return-value"), "{said}");
    }
    if let Some(python) = python("tercet", dir) {
        good("sample -s zoo.asn -t Animal --count 30 --rules jer -o values.jsonl", dir);
        run(
            &python,
            r#"
import sys, typing, decimal, tercet
sys.path.insert(0, ".")
import types_animal as t
schema = tercet.Schema.load("zoo.asn")

def fits(value, kind):
    if isinstance(kind, (str, typing.ForwardRef)):
        kind = eval(getattr(kind, "__forward_arg__", kind), vars(t))
    if isinstance(kind, str):
        return fits(value, kind)
    origin, args = typing.get_origin(kind), typing.get_args(kind)
    if kind is typing.Any:
        return True
    if kind is None:
        return value is None
    if origin is typing.Union:
        return any(fits(value, arg) for arg in args)
    if origin is typing.Literal:
        return value in args
    if origin is tuple:
        return isinstance(value, tuple) and len(value) == len(args) and all(map(fits, value, args))
    if origin is list:
        return isinstance(value, list) and all(fits(item, args[0]) for item in value)
    if origin is typing.NotRequired:
        return fits(value, args[0])
    if typing.is_typeddict(kind):
        known = kind.__annotations__
        optional = {key for key, it in known.items() if "NotRequired" in str(it)}
        return (isinstance(value, dict) and set(value) <= set(known) and set(known) - optional <= set(value)
                and all(fits(item, known[key]) for key, item in value.items()))
    return isinstance(value, kind)

count = 0
for line in open("values.jsonl"):
    value = schema.decode("Animal", "jer", line.encode())
    assert fits(value, t.Animal), value
    count += 1
assert count >= 20 and not fits({}, t.Animal)
"#,
            dir,
        );
    }
}

#[test]
fn other_formats_name_all_columns() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    fs::write(dir.join("zoo.asn"), ZOO).unwrap();
    let json = |format| -> serde_json::Value {
        serde_json::from_str(&good(&format!("export {format} -s zoo.asn -t Animal"), dir)).unwrap()
    };
    let (avro, arrow) = (json("avro"), json("arrow"));
    assert_eq!(
        (&avro["type"], &avro["name"], &avro["namespace"]),
        (&"record".into(), &"Animal".into(), &"Zoo".into())
    );
    let names = |list: &serde_json::Value| -> Vec<String> {
        list.as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap().to_owned()).collect()
    };
    let arrow_names = names(&arrow["schema"]["fields"]);
    assert!(arrow_names.contains(&"is-loud".to_owned()), "{arrow_names:?}");
    assert_eq!(
        names(&avro["fields"]),
        arrow_names.iter().map(|name| name.replace('-', "_")).collect::<Vec<_>>()
    );
    // Names of records occur once.
    let mut seen = std::collections::HashSet::new();
    let mut waiting = vec![&avro];
    while let Some(value) = waiting.pop() {
        if value["type"] == "record" {
            assert!(seen.insert(value["name"].as_str().unwrap()), "{}", value["name"]);
        }
        waiting.extend(value.as_object().into_iter().flat_map(|it| it.values()));
        waiting.extend(value.as_array().into_iter().flatten());
    }
    assert!(seen.len() > 1);
    let unknown = tercet("export json-schema -s zoo.asn -t Anmial", dir);
    assert_eq!(unknown.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&unknown.stderr).contains("Animal"));
}
