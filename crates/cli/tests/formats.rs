//! No option is ignored in silence: each is honoured in a format, or refused with the formats that it is for. And an output has
//! the format that its suffix tells.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

const FORMATS: [&str; 8] = ["json", "jsonl", "xml", "value", "csv", "parquet", "arrow", "arrow-stream"];

/// Options that not every format has a place for, with those that have.
const OF_FORMATS: [(&str, &[&str]); 16] = [
    ("--json-style plain", &["json", "jsonl", "csv"]),
    ("--octets base64", &["json", "jsonl", "csv", "parquet", "arrow", "arrow-stream"]),
    ("--columns number,list", &["json", "jsonl", "xml", "csv", "parquet", "arrow", "arrow-stream"]),
    ("--rename number=n", &["csv", "parquet", "arrow", "arrow-stream"]),
    ("--guard-formulas", &["csv"]),
    ("--integers text", &["json", "jsonl", "parquet", "arrow", "arrow-stream"]),
    ("--integers decimal", &["parquet", "arrow", "arrow-stream"]),
    ("--reals text", &["parquet", "arrow", "arrow-stream"]),
    ("--provenance", &["json", "jsonl", "csv", "parquet", "arrow", "arrow-stream"]),
    ("--provenance --record-hash", &["json", "jsonl", "csv", "parquet", "arrow", "arrow-stream"]),
    ("--flat", &["parquet", "arrow", "arrow-stream"]),
    ("--hex-octets", &["parquet", "arrow", "arrow-stream"]),
    ("--compression none", &["parquet"]),
    ("--child list", &["json", "jsonl", "csv", "parquet", "arrow", "arrow-stream"]),
    ("--children", &["json", "jsonl", "csv", "parquet", "arrow", "arrow-stream"]),
    ("--by-type", &["json", "jsonl", "csv", "parquet", "arrow", "arrow-stream"]),
];

/// Options that make other rows or values, in every format.
const OF_ROWS: [&str; 8] = [
    "--explode list",
    "--where number=5",
    "--render octets=bcd",
    "--profile profile.toml",
    "--defaults",
    "--dedupe=number",
    "--limit 1",
    "--records Rs",
];

/// Options that have nothing to do with the format: about inputs, how they are read, and what else is written.
const OF_NO_FORMAT: [&str; 48] = [
    "--alias",
    "--allow-empty",
    "--allow-errors",
    "--allow-missing",
    "--decode-as",
    "--dedupe-file",
    "--config",
    "--file-sequence",
    "--filler",
    "--format",
    "--framing",
    "--hash-inputs",
    "--header",
    "--help",
    "--ies",
    "--interval",
    "--jobs",
    "--marks",
    "--max-depth",
    "--max-reject-ratio",
    "--max-rejects",
    "--no-cache",
    "--on-interrupt",
    "--output",
    "--plan",
    "--print-config",
    "--prometheus",
    "--protocol",
    "--quiet",
    "--record-limit",
    "--rejects",
    "--resume",
    "--rules",
    "--schema",
    "--sequence",
    "--skip-existing",
    "--skip-rejects",
    "--strict",
    "--summary",
    "--tags",
    "--total",
    "--type",
    "--unknown",
    "--values",
    "--watch",
    "--version",
    "--binary",
    "--hex",
];

const SPECIFICATION: &str = "A DEFINITIONS AUTOMATIC TAGS ::= BEGIN
Rs ::= SEQUENCE OF R
R ::= SEQUENCE { number INTEGER (0..9), big INTEGER, real REAL, octets OCTET STRING, bits BIT STRING, formula UTF8String,
  list SEQUENCE OF INTEGER (0..99), usual INTEGER (0..9) DEFAULT 3, kind CHOICE { a NULL, b NULL } }
C ::= CHOICE { r R, s R }
END";

fn record(number: u8) -> String {
    format!(
        r#"{{"number":{number},"big":36028797018963969,"real":0.5,"octets":"AB12","bits":{{"value":"A0","length":3}},"formula":"=1+1","list":[7,8],"kind":{{"a":null}}}}"#
    )
}

fn run(folder: &Path, words: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tercet"));
    command.current_dir(folder).args(words.split(' ')).stdin(std::process::Stdio::null()).output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A folder with records: five, of two numbers.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("a.asn"), SPECIFICATION).unwrap();
    fs::write(at("profile.toml"), "[components]\noctets = \"bcd\"\n").unwrap();
    let records: Vec<_> = [5, 6, 5].map(record).into();
    fs::write(at("r.jsonl"), records.join("\n")).unwrap();
    fs::write(at("rs.json"), format!("[{}]", records.join(","))).unwrap();
    fs::write(at("c.jsonl"), format!("{{\"r\":{}}}", record(5))).unwrap();
    for words in [
        "encode -s a.asn -t R r.jsonl -o r.ber",
        "encode -s a.asn -t Rs rs.json -o rs.ber",
        "encode -s a.asn -t C c.jsonl -o c.ber",
    ] {
        let output = run(folder.path(), words);
        assert!(output.status.success(), "{words}: {}", said(&output));
    }
    fs::write(at("many.ber"), fs::read(at("r.ber")).unwrap().repeat(1000)).unwrap();
    folder
}

/// The output of a conversion of its own folder, or what is said of it.
fn converted(folder: &Path, (source, format, words): (&str, &str, &str)) -> Result<Vec<u8>, String> {
    let output = folder.join("o");
    _ = fs::remove_file(&output);
    let words = if words.is_empty() { String::new() } else { format!(" {words}") };
    let done = run(folder, &format!("convert -q -s a.asn {source} -f {format} -o o{words}"));
    match done.status.code() {
        Some(0) => Ok(fs::read(&output).unwrap()),
        Some(1) => Err(said(&done)),
        _ => panic!("{format}{words}: {}", said(&done)),
    }
}

/// The long names of the options that `--help` of a command lists.
fn options(command: &str) -> BTreeSet<String> {
    let help = run(Path::new("."), &format!("{command} --help"));
    let text = String::from_utf8(help.stdout).unwrap();
    let named = text.lines().filter(|line| line.starts_with("  ") && line.trim_start().starts_with('-'));
    let names = named.filter_map(|line| line.split_whitespace().find(|word| word.starts_with("--")));
    names.map(|name| name.split(['=', '[']).next().unwrap().to_owned()).collect()
}

#[test]
fn every_option_of_convert_is_of_formats_rows_or_neither() {
    let first =
        |words: &&str| words.split([' ', '=']).find(|word| word.starts_with("--")).unwrap().to_owned();
    let mut known: BTreeSet<String> = OF_FORMATS.iter().map(|(words, _)| first(words)).collect();
    known.insert("--record-hash".to_owned());
    known.extend(OF_ROWS.iter().map(first));
    known.extend(OF_NO_FORMAT.iter().map(first));
    let all = options("convert");
    assert!(all.len() > 50, "{all:?}");
    let unknown: Vec<_> = all.difference(&known).collect();
    assert!(unknown.is_empty(), "put these into a table, with the formats that honour them: {unknown:?}");
}

#[test]
fn an_option_is_honoured_or_refused_with_the_formats_that_it_is_for() {
    let folder = folder();
    for format in FORMATS {
        let plain = |source| converted(folder.path(), (source, format, "")).unwrap();
        let of_records = plain("-t R r.ber");
        for (words, formats) in OF_FORMATS {
            let source = match words {
                "--by-type" => "-t C c.ber",
                // A few octets are not compressed.
                "--compression none" => "-t R many.ber",
                _ => "-t R r.ber",
            };
            let done = converted(folder.path(), (source, format, words));
            if formats.contains(&format) {
                // What the words say may be the default.
                let before = match words {
                    "--integers text" => converted(folder.path(), (source, format, "--integers int64"))
                        .unwrap_or_else(|_| of_records.clone()),
                    "--by-type" | "--compression none" => plain(source),
                    _ => of_records.clone(),
                };
                let done = done.unwrap_or_else(|text| panic!("{words} is refused in {format}: {text}"));
                assert!(done != before, "{words} changes nothing in {format}");
                continue;
            }
            let text = done.expect_err(&format!("{words} is ignored in {format}"));
            let option = words.split(' ').next().unwrap();
            assert!(text.contains(&format!("`{option}` does not apply to the format `{format}`")), "{text}");
            assert!(text.contains(&format!("help: it is for {}\n", formats.join(", "))), "{words}: {text}");
        }
        for words in OF_ROWS {
            let (source, before) = match words {
                "--records Rs" => ("rs.ber", plain("-t Rs rs.ber")),
                _ => ("-t R r.ber", of_records.clone()),
            };
            let done = converted(folder.path(), (source, format, words));
            let done = done.unwrap_or_else(|text| panic!("{words} is refused in {format}: {text}"));
            assert!(done != before, "{words} changes nothing in {format}");
        }
    }
}

#[test]
fn other_commands_refuse_what_their_format_has_no_place_for() {
    let folder = folder();
    for (words, format) in [
        ("decode -s a.asn -t R r.ber -f value --columns number", "the format `value`"),
        ("decode -s a.asn -t R r.ber -f xml --octets base64", "the format `xml`"),
        ("cat -s a.asn -t R r.ber --columns number", "the format `value`"),
        ("cat -s a.asn -t R r.ber -f jsonl --guard-formulas", "the format `jsonl`"),
        ("head -s a.asn -t R r.ber --integers text", "the format `csv`"),
        ("sample -s a.asn R -f xml --provenance", "the format `xml`"),
        ("sample -s a.asn R --rules ber --hex --columns number", "encoded values"),
    ] {
        let output = run(folder.path(), words);
        assert_eq!(output.status.code(), Some(1), "{words}");
        let text = said(&output);
        assert!(text.contains(&format!("does not apply to {format}\nhelp: it is for ")), "{words}: {text}");
    }
}

#[test]
fn json_and_xml_show_the_components_of_columns() {
    let folder = folder();
    let shown = |words: &str| {
        let output = run(folder.path(), &format!("convert -q -s a.asn -n 1 {words}"));
        assert!(output.status.success(), "{words}: {}", said(&output));
        String::from_utf8(output.stdout).unwrap()
    };
    // In the order of the record.
    assert_eq!(shown("-t R r.ber --columns list,number"), "{\"number\":5,\"list\":[7,8]}\n");
    assert_eq!(shown("-t R r.ber --columns kind.choice"), "{\"kind\":{\"a\":null}}\n");
    assert_eq!(shown("-t R r.ber --columns usual --defaults"), "{\"usual\":3}\n");
    assert_eq!(shown("-t C c.ber --columns r.number"), "{\"r\":{\"number\":5}}\n");
    assert_eq!(shown("-t C c.ber --columns s.number"), "{}\n");
    assert_eq!(shown("-t C c.ber --columns choice"), "{\"r\":{}}\n");
    assert_eq!(shown("-t C c.ber --columns r.n*"), "{\"r\":{\"number\":5}}\n");
    assert_eq!(shown("-t R r.ber --columns number --where octets=AB12"), "{\"number\":5}\n");
    assert_eq!(
        shown("-t R r.ber --columns number,list -f xml"),
        "<records>\n<R><number>5</number><list><INTEGER>7</INTEGER><INTEGER>8</INTEGER></list></R>\n</records>\n"
    );
    let output = run(folder.path(), "convert -q -s a.asn -t R r.ber --columns nunber");
    assert_eq!(output.status.code(), Some(1));
    assert!(said(&output).contains("unknown column `nunber`; did you mean `number`?"), "{}", said(&output));
}

#[test]
fn an_output_has_the_format_of_its_suffix() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    for (words, begin) in [
        ("sample -s a.asn R -o s.xml", &b"<R>"[..]),
        ("sample -s a.asn R -o s.jsonl", b"{\"number\":"),
        ("sample -s a.asn R -o s.csv", b"number,big,real,"),
        ("sample -s a.asn R -o s.parquet", b"PAR1"),
        ("sample -s a.asn R -o s.der", b"\x30"),
        ("encode -s a.asn -t R r.jsonl -o e.xml", b"<R>"),
        ("encode -s a.asn -t R r.jsonl -o e.json", b"{\"number\":"),
        ("encode -s a.asn -t R r.jsonl -o e.dat", b"\x30"),
        ("encode -s a.asn -t R r.jsonl --rules der -o e.ber", b"\x30"),
        ("transcode -s a.asn -t R r.ber --from ber --to jsonl -o t.json", b"{\"number\":"),
        ("convert -q -s a.asn -t R r.ber -f jsonl -o c.json", b"{\"number\":"),
    ] {
        let output = run(folder.path(), words);
        assert!(output.status.success(), "{words}: {}", said(&output));
        let written = fs::read(at(words.rsplit(' ').next().unwrap())).unwrap();
        assert!(written.starts_with(begin), "{words}: {:?}", String::from_utf8_lossy(&written));
    }
    for (words, message) in [
        ("sample -s a.asn R -o n.dat", "unknown suffix `dat` of the output `n.dat`"),
        ("sample -s a.asn R -o n", "the output `n` has no suffix to choose a format by"),
        (
            "sample -s a.asn R -f xml -o n.json",
            "suffix `json` of the output `n.json` contradicts `--format xml`",
        ),
        (
            "sample -s a.asn R --rules uper -o n.ber",
            "suffix `ber` of the output `n.ber` contradicts `--rules uper`",
        ),
        (
            "encode -s a.asn -t R r.jsonl -o n.csv",
            "suffix `csv` of the output `n.csv` contradicts `--rules ber`",
        ),
        (
            "encode -s a.asn -t R r.jsonl --rules ber -o n.der",
            "suffix `der` of the output `n.der` contradicts `--rules ber`",
        ),
        (
            "encode -s a.asn -t R r.jsonl --rules ber -o n.xml",
            "suffix `xml` of the output `n.xml` contradicts `--rules ber`",
        ),
        ("transcode -s a.asn -t R r.ber --from ber --to xml -o n.json", "contradicts `--to xml`"),
        ("convert -q -s a.asn -t R r.ber -f csv -o n.parquet", "contradicts `--format csv`"),
        ("convert -q -s a.asn -t R r.ber -o n.dat", "unknown suffix `dat`"),
    ] {
        let output = run(folder.path(), words);
        assert_eq!(output.status.code(), Some(1), "{words}");
        assert!(said(&output).contains(message), "{words}: {}", said(&output));
        assert!(!at(words.rsplit(' ').next().unwrap()).exists(), "{words}");
    }
}

#[cfg(unix)]
#[test]
fn a_profile_may_have_a_name_that_is_not_utf_8() {
    use std::os::unix::ffi::OsStrExt;
    let folder = folder();
    let name = std::ffi::OsStr::from_bytes(b"profil\xE9.toml");
    fs::rename(folder.path().join("profile.toml"), folder.path().join(name)).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_tercet"));
    let words = "convert -q -s a.asn -t R r.ber -n 1 -f csv --columns octets --profile";
    let output = command.current_dir(folder.path()).args(words.split(' ')).arg(name).output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "octets\nAB12\n".replace("AB12", "ab12"));
}
