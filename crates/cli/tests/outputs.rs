//! No command overwrites what it reads, nor what another run of something else has written.
#![cfg(unix)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::{FileTypeExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const TERCET: &str = env!("CARGO_BIN_EXE_tercet");
const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// A folder with a specification, record files, values as JSON, and a message of Megaco.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let repository = Path::new(REPOSITORY);
    let specification =
        fs::read_dir(repository.join("schemas/demo")).unwrap().next().unwrap().unwrap().path();
    fs::copy(specification, at("demo.asn")).unwrap();
    fs::copy(repository.join("examples/calls.ber"), at("in.ber")).unwrap();
    fs::write(at("small.asn"), "Small DEFINITIONS AUTOMATIC TAGS ::= BEGIN\nA ::= INTEGER (0..255)\nEND\n")
        .unwrap();
    fs::write(at("in.json"), "5").unwrap();
    fs::write(at("in.hex"), "02 01 05").unwrap();
    fs::write(at("overlay.toml"), "").unwrap();
    fs::write(at("in.ldif"), "dn: o=a\no: a\n").unwrap();
    fs::write(at("change.ldif"), "dn: o=b\nchangetype: delete\n").unwrap();
    fs::write(at("registry.toml"), "").unwrap();
    fs::write(at("profile.toml"), "").unwrap();
    fs::create_dir(at("messages")).unwrap();
    fs::write(at("messages/m.txt"), "MEGACO/1 [1.2.3.4]:55555 Transaction=1{Context=-{ServiceChange=ROOT{Services{Method=Restart,Reason=\"901\"}}}}").unwrap();
    folder
}

fn run(folder: &Path, words: &str) -> Output {
    let mut command = Command::new(TERCET);
    command.current_dir(folder).args(words.split_whitespace()).stdin(std::process::Stdio::null());
    command.output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// All files below a folder.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.extend(files(&path));
        } else if !fs::symlink_metadata(&path).unwrap().file_type().is_fifo() {
            all.insert(path.clone(), fs::read(&path).unwrap());
        }
    }
    all
}

const CONVERT: &str = "convert -q -s demo.asn -t CallRecord in.ber --profile profile.toml";

/// Command lines that read files, with what each of them reads, and the options that name an output.
const OUTPUTS: [(&str, &[&str], &[&str]); 17] = [
    ("decode -s small.asn -t A --hex in.hex", &["in.hex", "small.asn"], &["--marks"]),
    ("cat -s demo.asn -t CallRecord in.ber", &["in.ber", "demo.asn"], &["--marks"]),
    ("head -s demo.asn -t CallRecord in.ber", &["in.ber", "demo.asn"], &["--marks"]),
    ("stat -s demo.asn -t CallRecord in.ber", &["in.ber", "demo.asn"], &["--marks"]),
    (CONVERT, &["in.ber", "demo.asn", "profile.toml"], &["-f csv -o", "-f csv --output"]),
    (
        "convert -q -s demo.asn -t CallRecord in.ber --profile profile.toml -o o.csv",
        &["in.ber", "demo.asn", "profile.toml"],
        &["--rejects", "--summary", "--prometheus", "--marks", "--dedupe --dedupe-file"],
    ),
    (
        "convert -q -s demo.asn -t CallRecord --records CallRecord in.ber -o o.csv",
        &["in.ber", "demo.asn"],
        &["--header"],
    ),
    ("encode -s small.asn -t A in.json", &["in.json", "small.asn"], &["-o", "--output"]),
    ("transcode -s small.asn -t A --from ber --to der --hex in.hex", &["in.hex", "small.asn"], &["-o"]),
    ("set -s demo.asn -t CallRecord -n 5 moCall.duration=60 in.ber", &["demo.asn"], &["-o", "--output"]),
    ("sample -s small.asn A", &["small.asn"], &["-o"]),
    ("compile -s small.asn --overlay overlay.toml", &["small.asn", "overlay.toml"], &["-o"]),
    ("export json-schema -s small.asn -t A", &["small.asn"], &["-o", "--output"]),
    ("megaco transcode --to compact messages/m.txt", &["messages/m.txt"], &["-o DIR"]),
    ("megaco encode --to compact messages/m.txt", &["messages/m.txt"], &["-o DIR"]),
    ("megaco capture in.ber", &["in.ber"], &["--write", "--events"]),
    ("ldap ldif apply change.ldif in.ldif", &["change.ldif", "in.ldif"], &["-o", "--output", "--rejects"]),
];

#[test]
fn no_command_overwrites_its_inputs() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    let mut tried = 0;
    for (words, reads, options) in OUTPUTS {
        for name in reads {
            symlink(name, at("link")).unwrap();
            symlink("link", at("link of a link")).unwrap();
            symlink("link of a link", at("link2")).unwrap();
            fs::hard_link(at(name), at("hard")).unwrap();
            let before = files(folder.path());
            for option in options {
                let names = match option.strip_suffix("DIR") {
                    Some(_) => vec!["messages".to_owned(), "./messages/../messages/".to_owned()],
                    None => vec![
                        (*name).to_owned(),
                        format!("./{name}"),
                        format!("messages/../{name}"),
                        at(name).display().to_string(),
                        "link".to_owned(),
                        "link2".to_owned(),
                        "hard".to_owned(),
                    ],
                };
                for output in names {
                    let words = format!("{words} {} {output}", option.trim_end_matches("DIR"));
                    let done = run(folder.path(), &words);
                    assert_eq!(done.status.code(), Some(1), "{words}: {}", said(&done));
                    let said = said(&done);
                    assert!(said.contains("refusing to overwrite"), "{words}: {said}");
                    assert!(files(folder.path()) == before, "{words}: files have changed");
                    tried += 1;
                }
            }
            for link in ["link", "link of a link", "link2", "hard"] {
                fs::remove_file(at(link)).unwrap();
            }
        }
    }
    assert!(tried > 200, "{tried}");
}

/// Options whose value is the name of a file, in `--help` of a command.
fn file_options(command: &str) -> BTreeSet<String> {
    let help = run(Path::new("."), &format!("{command} --help"));
    let help = String::from_utf8(help.stdout).unwrap();
    let words = help.lines().filter(|line| line.trim_start().starts_with('-'));
    let named = words.filter_map(|line| {
        let (options, value) = line.split_once('<')?;
        let value = value.split_once('>')?.0;
        let is_file = ["FILE", "DIR", "PATH"].iter().any(|word| value.contains(word)) && !value.contains('=');
        is_file.then(|| {
            options.split_whitespace().last().map(|option| option.trim_end_matches(['=', '[']).to_owned())
        })?
    });
    named.collect()
}

/// Which options name outputs is decided here for each: one that is new has to be tried above.
#[test]
fn every_option_that_names_a_file_is_known() {
    let reads = [
        "--schema",
        "--profile",
        "--config",
        "--plan",
        "--overlay",
        "--registry",
        "--ldif",
        "--acl",
        "--answer",
        "--password-policy",
        "--match",
        "--values",
        "--ca",
        "--certificate",
        "--key",
        "--tls-cert",
        "--tls-key",
        "--tls-ca",
        // Paths of components.
        "--records",
        "--columns",
        "--where",
        "--total",
        "--explode",
        "--child",
        "--sequence",
        "--dedupe",
        "--rename",
        "--remove",
    ];
    let writes = [
        ("convert", "--output"),
        ("convert", "--header"),
        ("convert", "--rejects"),
        ("convert", "--summary"),
        ("convert", "--prometheus"),
        ("convert", "--marks"),
        ("decode", "--marks"),
        ("cat", "--marks"),
        ("head", "--marks"),
        ("stat", "--marks"),
        ("convert", "--dedupe-file"),
        ("encode", "--output"),
        ("transcode", "--output"),
        ("set", "--output"),
        ("sample", "--output"),
        ("compile", "--output"),
        ("compile", "--plan"),
        ("export", "--output"),
        // A folder of pages; tests/site.rs tries it with a specification that has the name of a page.
        ("doc", "--output"),
        ("megaco transcode", "--output"),
        ("megaco encode", "--output"),
        // They read nothing that is not named by the user for TLS.
        ("megaco mgc", "--events"),
        ("megaco mg", "--events"),
        ("megaco load", "--events"),
        ("megaco mgc", "--write-pcap"),
        ("megaco mg", "--write-pcap"),
        ("megaco load", "--write-pcap"),
        ("megaco capture", "--events"),
        ("megaco capture", "--write"),
        // A folder of their own.
        ("ldap add", "--journal"),
        ("ldap modify", "--journal"),
        ("ldap recover", "--journal"),
        ("ldap add", "--rejects"),
        ("ldap modify", "--rejects"),
        ("ldap add", "--resume"),
        ("ldap modify", "--resume"),
        // A state of its own.
        ("ldap follow", "--cookie"),
        ("ldap ldif apply", "--output"),
        ("ldap ldif apply", "--rejects"),
        // Folders of their own.
        ("ldap serve", "--data"),
        // Lines are added to it.
        ("ldap serve", "--access-log"),
        ("ldap proxy", "--log"),
        ("ldap store", "--data"),
        // It reads nothing.
        ("man", "--dir"),
        // A socket, and what other tools of LDAP name so.
        ("ldap serve", "--socket"),
    ];
    let commands = |words: &str| -> Vec<String> {
        let help = String::from_utf8(run(Path::new("."), &format!("{words} --help")).stdout).unwrap();
        let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1);
        let lines = lines.take_while(|line| line.starts_with("  "));
        let names =
            lines.filter(|line| !line.starts_with("   ")).filter_map(|line| line.split_whitespace().next());
        names.filter(|name| *name != "help").map(|name| format!("{words} {name}").trim().to_owned()).collect()
    };
    let mut unknown = Vec::new();
    let mut seen = 0;
    for command in commands("")
        .into_iter()
        .chain(commands("megaco"))
        .chain(commands("ldap"))
        .chain(commands("ldap ldif"))
    {
        for option in file_options(&command) {
            seen += 1;
            // The tools of LDAP have short options, of which none names an output.
            let is_short = command.starts_with("ldap") && !option.starts_with("--");
            if !is_short && !reads.contains(&&*option) && !writes.contains(&(&*command, &*option)) {
                unknown.push(format!("{command} {option}"));
            }
        }
    }
    assert!(unknown.is_empty(), "does it name an output? {unknown:?}");
    assert!(seen > 30, "{seen}");
}

#[test]
fn outputs_of_one_run_are_different_files() {
    let folder = folder();
    let base = "convert -q -s demo.asn -t CallRecord in.ber";
    fs::write(folder.path().join("there.csv"), "1").unwrap();
    fs::hard_link(folder.path().join("there.csv"), folder.path().join("there")).unwrap();
    let before = files(folder.path());
    for words in [
        "-o o.csv --rejects o.csv",
        "-o o.csv --summary ./o.csv",
        "-o o.csv --rejects r --summary r.jsonl",
        "-o o.csv --summary o.csv.rejects",
        "-o o.csv --summary o.csv.rejects.jsonl",
        "-o there.csv --summary there",
        "-o o.csv --children --summary o.data.volumes.csv",
        "-f csv -o out/ --resume --summary out/tercet-run.jsonl",
        "-o o.csv --dedupe --dedupe-file d --summary d.sorted",
        "-o messages/",
        "-o o.csv --rejects messages",
    ] {
        let words = format!("{base} {words}");
        let done = run(folder.path(), &words);
        if words.ends_with("-o messages/") {
            assert_eq!(done.status.code(), Some(0), "{}", said(&done));
            fs::remove_file(folder.path().join("messages/in.ber.jsonl")).unwrap();
            continue;
        }
        assert_eq!(done.status.code(), Some(1), "{words}: {}", said(&done));
        assert!(files(folder.path()) == before, "{words}: files have changed");
    }
    // One reject file for many outputs would hold those of the last.
    let done = run(folder.path(), &format!("{base} in.json -f csv -o out/ --rejects r"));
    assert!(said(&done).contains("each output in a directory has its own"), "{}", said(&done));
    // Devices are no files.
    let done = run(folder.path(), &format!("{base} -f csv -o /dev/null --summary /dev/null"));
    assert_eq!(done.status.code(), Some(0), "{}", said(&done));
}

#[test]
fn reject_files_of_others_are_left_alone() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    let base = "convert -q -s demo.asn -t CallRecord";
    let mut octets = fs::read(at("in.ber")).unwrap();
    octets[48] = 0x9E;
    fs::write(at("damaged.ber"), octets).unwrap();
    fs::write(at("notes.txt"), "notes").unwrap();
    fs::write(at("table.jsonl"), "{\"a\":1}\n").unwrap();
    fs::write(at("o.csv.rejects"), "notes").unwrap();
    for input in ["in.ber", "damaged.ber"] {
        for words in ["-o p.csv --rejects notes.txt", "-o p.csv --rejects table", "-o o.csv"] {
            let before = files(folder.path());
            let done = run(folder.path(), &format!("{base} {input} --unknown error {words}"));
            assert_eq!(done.status.code(), Some(1), "{words}: {}", said(&done));
            assert!(said(&done).contains("not a reject file of an earlier run"), "{}", said(&done));
            assert!(files(folder.path()) == before);
        }
    }
    // Without a reject file, nothing is in the way.
    assert_eq!(run(folder.path(), &format!("{base} in.ber -o o.csv --skip-rejects")).status.code(), Some(0));
    assert_eq!(fs::read(at("o.csv.rejects")).unwrap(), b"notes");
    // Those of an earlier run are replaced, and removed once there are none.
    for (input, exit) in [("damaged.ber", 2), ("damaged.ber", 2), ("in.ber", 0)] {
        let done = run(folder.path(), &format!("{base} {input} --unknown error -o p.csv --rejects bad"));
        assert_eq!(done.status.code(), Some(exit), "{}", said(&done));
        assert_eq!((at("bad").exists(), at("bad.jsonl").exists()), (exit == 2, exit == 2));
    }
    // Metrics are not written over something else.
    let done = run(folder.path(), &format!("{base} in.ber -o p.csv --prometheus notes.txt"));
    assert!(said(&done).contains("not metrics of an earlier run"), "{}", said(&done));
    assert_eq!(fs::read(at("notes.txt")).unwrap(), b"notes");
}

#[test]
fn links_and_pipes_of_the_names_of_parts_do_nothing() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("victim"), "precious").unwrap();
    for name in
        ["o.csv.part", "out/in.ber.csv.part", "out/in.ber.csv", "out/in.ber.csv.header", "o.csv.header"]
    {
        fs::create_dir_all(at(name).parent().unwrap()).unwrap();
        symlink(at("victim"), at(name)).unwrap();
    }
    assert!(Command::new("mkfifo").arg(at("p.csv.part")).status().unwrap().success());
    let base = "convert -q -s demo.asn -t CallRecord in.ber";
    for words in ["-o o.csv", "-f csv -o out/", "-o p.csv"] {
        let done = run(folder.path(), &format!("{base} {words}"));
        assert_eq!(done.status.code(), Some(0), "{words}: {}", said(&done));
        assert_eq!(fs::read(at("victim")).unwrap(), b"precious", "{words}");
    }
    assert!(!at("out/in.ber.csv").is_symlink());
    // The manifest is neither.
    symlink(at("victim"), at("out/tercet-run.jsonl")).unwrap();
    let done = run(folder.path(), &format!("{base} -f csv -o out/ --resume"));
    assert_eq!(done.status.code(), Some(4), "{}", said(&done));
    fs::remove_file(at("out/tercet-run.jsonl")).unwrap();
    assert!(Command::new("mkfifo").arg(at("out/tercet-run.jsonl")).status().unwrap().success());
    let done = run(folder.path(), &format!("{base} -f csv -o out/ --resume"));
    assert_eq!(done.status.code(), Some(4), "{}", said(&done));
    assert_eq!(fs::read(at("victim")).unwrap(), b"precious");
}

#[test]
fn an_output_whose_name_tells_no_format_is_an_error() {
    let folder = folder();
    let base = "convert -q -s demo.asn -t CallRecord in.ber";
    let before = files(folder.path());
    for name in ["o.cvs", "o", "o.csv.gz", "o.txt"] {
        let done = run(folder.path(), &format!("{base} -o {name}"));
        assert_eq!(done.status.code(), Some(1), "{}", said(&done));
        assert!(said(&done).contains("`csv`") && said(&done).contains("--format"), "{}", said(&done));
        assert!(files(folder.path()) == before);
    }
    for words in ["-o o.CSV", "-o o -f csv", "-o /dev/null", "-o o.ndjson"] {
        assert_eq!(run(folder.path(), &format!("{base} {words}")).status.code(), Some(0), "{words}");
    }
}

#[test]
fn no_inputs_are_an_error() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir_all(at("empty/sub")).unwrap();
    fs::write(at("o.csv"), "of yesterday").unwrap();
    let schema = "-s demo.asn -t CallRecord";
    for input in ["empty", "empty/", "empty/*.ber", "in.ber empty"] {
        let before = files(folder.path());
        for command in
            ["convert -o o.csv", "convert -f csv -o out/", "cat", "head", "stat", "decode", "validate"]
        {
            let done = run(folder.path(), &format!("{command} {schema} {input}"));
            assert_eq!(done.status.code(), Some(1), "{command} {input}: {}", said(&done));
            assert!(files(folder.path()) == before && !at("out").exists());
        }
    }
    let done = run(folder.path(), &format!("convert -o o.csv {schema} empty --allow-empty"));
    assert_eq!(done.status.code(), Some(0), "{}", said(&done));
    assert!(said(&done).contains("no input files in `empty`"));
    assert_eq!(
        fs::read_to_string(at("o.csv")).unwrap().lines().count(),
        1,
        "the head of a table without rows"
    );
    assert_eq!(run(folder.path(), "megaco check empty").status.code(), Some(1));
}

#[test]
fn a_second_run_over_a_directory_does_not_read_its_outputs() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("d")).unwrap();
    let octets = fs::read(at("in.ber")).unwrap();
    let mut damaged = octets.clone();
    damaged[48] = 0x9E;
    fs::write(at("d/a.ber"), &damaged).unwrap();
    fs::write(at("d/b.ber"), &octets).unwrap();
    let base = "convert -s demo.asn -t CallRecord --unknown error --framing plain d";
    // Files beside their inputs, tables, a list of records with what is around it, one output, standard output.
    for (words, others) in [
        ("-f csv -o d/", 2),
        ("-f csv -o d/ --resume --children --summary d/summary --prometheus d/metrics", 2),
        ("-f csv -o d/ --dedupe --dedupe-file d/seen", 2),
        ("-o d/out.csv", 2),
        ("-o d/out.csv --children --rejects d/bad.bin --summary d/s.json", 2),
        ("-f jsonl -o ./d/../d", 2),
    ] {
        let first = run(folder.path(), &format!("{base} {words}"));
        let before = files(folder.path());
        let again = run(folder.path(), &format!("{base} {words}"));
        assert_eq!(first.status.code(), again.status.code(), "{words}: {}", said(&again));
        let text = said(&again);
        assert!(text.contains("skipping ") && text.contains(" output file"), "{words}: {text}");
        // Times and counters apart, all is as it was.
        let is_same = |(path, octets): (&PathBuf, &Vec<u8>)| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            before.get(path) == Some(octets) || ["summary", "metrics", "s.json", "seen"].contains(&&*name)
        };
        let after = files(folder.path());
        assert!(after.iter().all(is_same), "{words}: {text}");
        // Another format, another output: what is in the directory is no input of it.
        let other = run(folder.path(), &format!("{base} -f jsonl -o elsewhere/"));
        let made = fs::read_dir(at("elsewhere"))
            .unwrap()
            .filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().ends_with(".ber.jsonl"));
        assert_eq!(made.count(), others, "{words}: {}", said(&other));
        fs::remove_dir_all(at("elsewhere")).unwrap();
        for path in after.keys().filter(|path| path.starts_with(at("d"))) {
            if path.extension().is_none_or(|suffix| suffix != "ber") {
                fs::remove_file(path).unwrap();
            }
        }
    }
    // A reject file that is named is an input.
    run(folder.path(), &format!("{base} -o d/out.csv"));
    let done =
        run(folder.path(), "convert -q -s demo.asn -t CallRecord --framing plain d/out.csv.rejects -o r.csv");
    assert_ne!(done.status.code(), Some(1), "{}", said(&done));
    let done =
        run(folder.path(), "convert -q -s demo.asn -t CallRecord --framing plain d/*.rejects -o r.csv");
    assert_ne!(done.status.code(), Some(1), "{}", said(&done));
}

/// What has been found in a directory is an input, unless an earlier run has written it.
#[test]
fn outputs_do_not_replace_what_is_found_among_inputs() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("d")).unwrap();
    for name in ["monday.ber", "tuesday.ber"] {
        fs::copy(at("in.ber"), at("d").join(name)).unwrap();
    }
    fs::create_dir(at("j")).unwrap();
    for name in ["a.json", "b.json"] {
        fs::write(at("j").join(name), "5").unwrap();
    }
    let before = files(folder.path());
    for words in [
        "convert -q -s demo.asn -t CallRecord d -f csv -o d/monday.ber",
        "convert -q -s demo.asn -t CallRecord d/* -f csv -o d/monday.ber",
        "convert -q -s demo.asn -t CallRecord d -o o.csv --summary d/monday.ber",
        "convert -q -s demo.asn -t CallRecord d -o o.csv --dedupe --dedupe-file d/monday.ber",
        "convert -q -s demo.asn -t CallRecord d -f csv -o out/ --watch --rejects r",
        "encode -s small.asn -t A j -o j/a.json",
        "transcode -s small.asn -t A --from jer --to jer j -o j/a.json",
        "megaco transcode --to compact messages -o messages/",
    ] {
        let done = run(folder.path(), words);
        assert_eq!(done.status.code(), Some(1), "{words}: {}", said(&done));
        assert!(files(folder.path()) == before, "{words}: files have changed");
    }
}

/// Lines of people never hold what a terminal obeys, wherever it comes from.
#[test]
fn control_characters_of_others_are_shown_as_escapes() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    let bad = "a\u{1b}]0;t\u{7}\r\n\u{9b}1m\u{202e}b";
    let shown = "a\\x1b]0;t\\x07\\r\\n\\x9b1m\\u{202e}b";
    let mut damaged = fs::read(at("in.ber")).unwrap();
    damaged[48] = 0x9E;
    let name = format!("{bad}.ber");
    fs::create_dir(at("d")).unwrap();
    fs::write(at("d").join(&name), &damaged).unwrap();
    fs::write(at("d").join(format!("{bad}.tmp")), "").unwrap();
    let mut archive = tar::Builder::new(fs::File::create(at("d/x.tar")).unwrap());
    let mut header = tar::Header::new_gnu();
    header.set_size(damaged.len() as u64);
    header.set_mode(0o644);
    archive.append_data(&mut header, &name, &damaged[..]).unwrap();
    archive.finish().unwrap();
    fs::write(at("note.asn"), "Note DEFINITIONS AUTOMATIC TAGS ::= BEGIN\nN ::= UTF8String\nEND\n").unwrap();
    fs::write(at("note.json"), serde_json::to_string(bad).unwrap()).unwrap();
    fs::write(at("other.json"), "\"x\"").unwrap();
    let encoded = Command::new(TERCET)
        .current_dir(folder.path())
        .args(["encode", "-s", "note.asn", "-t", "N", "note.json", "-o", "note.ber"])
        .output()
        .unwrap();
    assert_eq!(encoded.status.code(), Some(0), "{}", said(&encoded));
    fs::write(at(&format!("{bad}.asn")), format!("M DEFINITIONS ::= BEGIN\nA ::= {bad}\nEND\n")).unwrap();
    let input = format!("d/{name}");
    let specification = format!("{bad}.asn");
    let is_quiet = |octets: &[u8]| {
        let text = String::from_utf8_lossy(octets).into_owned();
        let bad = |c: char| c.is_control() && c != '\n' || ('\u{202a}'..='\u{202e}').contains(&c);
        assert!(!text.contains(bad), "{text:?}");
        text
    };
    // Messages and reports; the name of the file or of the member stands in them.
    for (words, is_told) in [
        (vec!["convert", "-s", "demo.asn", "-t", "CallRecord", "d", "-o", "o.csv"], true),
        (
            vec![
                "convert",
                "-s",
                "demo.asn",
                "-t",
                "CallRecord",
                &input,
                "-f",
                "csv",
                "-o",
                "out/",
                "--unknown",
                "error",
            ],
            true,
        ),
        (vec!["convert", "-s", "demo.asn", "-t", "CallRecord", &input, "-o", &input], true),
        (vec!["convert", "-s", "demo.asn", "-t", "CallRecord", "d", "-o", bad], true),
        (vec!["head", "-s", "demo.asn", "-t", "CallRecord", "d", "--unknown", "error"], true),
        (vec!["stat", "-s", "demo.asn", "-t", "CallRecord", "d", "--unknown", "error"], true),
        (vec!["doctor", "-s", "demo.asn", "d"], true),
        (
            vec!["decode", "-s", "demo.asn", "-t", "CallRecord", "--unknown", "error", "-f", "json", &input],
            true,
        ),
        (vec!["validate", "-s", "demo.asn", "-t", "CallRecord", &input], true),
        (vec!["check", &specification], true),
        (vec!["compile", "-s", &specification], true),
        (vec!["decode", "-s", &specification, "-t", "A", &input], true),
        (vec!["dump", bad], true),
        (vec!["megaco", "check", &input], true),
        (vec!["dump", "d", "--width", "100"], true),
        (vec!["dump", "note.ber", "--width", "100"], false),
        (vec!["diff", "-s", "note.asn", "-t", "N", "note.ber", "other.json", "--rules-b", "json"], true),
        (vec!["head", "-s", "note.asn", "-t", "N", "note.ber"], true),
        (vec!["fmt", &specification], false),
        (vec!["decode", &format!("--{bad}")], true),
    ] {
        let mut command = Command::new(TERCET);
        let done =
            command.current_dir(folder.path()).args(&words).stdin(std::process::Stdio::null()).output();
        let done = done.unwrap();
        // What others have written goes to pipes as it is; messages and reports do not.
        let is_data = matches!(words[0], "decode" | "fmt");
        let out = if is_data { String::new() } else { is_quiet(&done.stdout) };
        let text = out + &is_quiet(&done.stderr);
        // Source excerpts show pictures of control characters.
        assert!(
            !is_told
                || text.contains(shown)
                || text.contains("\\x1b]0;t")
                || text.contains("\\x9b1m")
                || text.contains('␛'),
            "{words:?}: {text}"
        );
    }
    // Data stays what it is in pipes.
    let done = run(folder.path(), "decode -s note.asn -t N -f value note.ber");
    assert!(String::from_utf8(done.stdout).unwrap().contains(bad));
}

/// On a terminal, data is shown with escapes too: `script` has one.
#[test]
fn data_on_a_terminal_is_shown_with_escapes() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    let bad = "a\u{1b}]0;t\u{7}\r\n\u{202e}b";
    fs::write(at("note.asn"), "Note DEFINITIONS AUTOMATIC TAGS ::= BEGIN\nN ::= UTF8String\nEND\n").unwrap();
    fs::write(at("note.json"), serde_json::to_string(bad).unwrap()).unwrap();
    assert_eq!(run(folder.path(), "encode -s note.asn -t N note.json -o note.ber").status.code(), Some(0));
    for words in [
        "decode -s note.asn -t N -f value note.ber",
        "decode -s note.asn -t N -f csv note.ber",
        "cat -s note.asn -t N note.ber",
        "convert -q -s note.asn -t N -f csv note.ber",
        "transcode -s note.asn -t N --from ber --to gser note.ber",
    ] {
        let mut command = Command::new("script");
        command.current_dir(folder.path()).args(["-qec", &format!("{TERCET} {words}"), "/dev/null"]);
        let Ok(done) = command.stdin(std::process::Stdio::null()).output() else { return };
        let text = String::from_utf8_lossy(&done.stdout).into_owned();
        assert!(text.contains("a\\x1b]0;t\\x07\\r\\n\\u{202e}b"), "{words}: {text:?}");
        assert!(!text.contains(['\u{7}', '\u{202e}']), "{words}: {text:?}");
    }
}

#[test]
fn csv_is_safe_for_spreadsheets_if_asked() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    let specification = "F DEFINITIONS AUTOMATIC TAGS ::= BEGIN\n\
        R ::= SEQUENCE { t UTF8String, i INTEGER, o OCTET STRING, r REAL OPTIONAL }\nEND\n";
    fs::write(at("f.asn"), specification).unwrap();
    let mut json = String::new();
    for text in ["=1+1", "+1", "-1", "@a", "\\t=1", "\\r=1", "\\n=1", "plain", "1-1"] {
        json += &format!("{{\"t\":\"{text}\",\"i\":-5,\"o\":\"FB\",\"r\":-0.5}}\n");
    }
    fs::write(at("f.json"), json).unwrap();
    assert_eq!(run(folder.path(), "encode -s f.asn -t R f.json -o =f.ber").status.code(), Some(0));
    let base = "convert -q -s f.asn -t R =f.ber -f csv --octets base64 --provenance";
    let plain = String::from_utf8(run(folder.path(), base).stdout).unwrap();
    assert!(plain.contains("=f.ber,0,") && plain.contains(",=1+1,-5,+w==,-0.5\n"), "{plain}");
    let guarded = String::from_utf8(run(folder.path(), &format!("{base} --guard-formulas")).stdout).unwrap();
    for cells in [
        ",'=1+1,-5,'+w==,-0.5\n",
        ",'+1,-5,",
        ",'-1,-5,",
        ",'@a,",
        ",'\t=1,",
        "\"'\r=1\"",
        "\"'\n=1\"",
        ",plain,",
        ",1-1,",
    ] {
        assert!(guarded.contains(cells), "{cells:?}: {guarded:?}");
    }
    assert_eq!(guarded.matches("'=f.ber,").count(), 9);
}
