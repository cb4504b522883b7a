//! Files of records are read in Java as the command reads them, and written as the same CSV and XML; the plugin for Maven
//! generates classes once; Kotlin knows which components may be absent, and all alternatives.
#![cfg(unix)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tercet_testing::{programs, repository};

const TERCET: &str = env!("CARGO_BIN_EXE_tercet");

/// Reads each file with its framing, prints what it finds, and writes the records as CSV and XML beside the file.
const PROGRAM: &str = r#"
import com.example.cdr.CallRecord;
import io.tercet.records.CsvWriter;
import io.tercet.records.FileRecord;
import io.tercet.records.RecordReader;
import io.tercet.records.XmlWriter;
import java.nio.file.Files;
import java.nio.file.Path;

final class Framed {
    private Framed() {}

    public static void main(String[] arguments) throws Exception {
        for (int i = 0; i < arguments.length; i += 2) {
            String name = arguments[i + 1];
            System.out.println("file " + Path.of(name).getFileName());
            try (RecordReader<CallRecord> records = RecordReader.of(CallRecord.TYPE)
                            .framing(arguments[i].split(" "))
                            .rejects(reject -> System.out.println("rejected " + reject.offset() + " " + reject.octets().length()))
                            .open(Path.of(name));
                    CsvWriter<CallRecord> csv = new CsvWriter<>(CallRecord.TYPE, Files.newOutputStream(Path.of(name + ".java.csv")));
                    XmlWriter<CallRecord> xml = new XmlWriter<>(CallRecord.TYPE, Files.newOutputStream(Path.of(name + ".java.xml")))) {
                for (FileRecord<CallRecord> record : records) {
                    csv.write(record.value());
                    xml.write(record.value());
                }
                System.out.println(records.balance());
            }
        }
    }
}
"#;

#[test]
fn framed_files_are_read_as_by_the_command() {
    if programs("jdk", ["javac", "java"]).is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let files = framed_files();
    let mut arguments = Vec::new();
    for (name, framing, octets) in &files {
        let path = folder.path().join(name);
        fs::write(&path, octets).unwrap();
        arguments.extend([(*framing).to_owned(), path.display().to_string()]);
    }
    let found = run(folder.path(), &arguments);
    for (name, framing, _) in &files {
        let path = folder.path().join(name);
        let mut expected = Vec::new();
        for format in ["csv", "xml"] {
            let output = folder.path().join(format!("{name}.{format}"));
            let rejects = folder.path().join(format!("{name}.{format}.rejects.jsonl"));
            let report = convert(&path, framing, &output);
            let same = fs::read(&output).unwrap()
                == fs::read(folder.path().join(format!("{name}.java.{format}"))).unwrap();
            assert!(same, "{name}: another {format}");
            let balance = report.lines().find(|line| line.contains("bytes read =")).map(str::trim);
            expected = rejected(&rejects);
            expected.extend(balance.map(str::to_owned));
        }
        assert_eq!(found[*name], expected, "{name} ({framing})");
    }
}

/// Compiles the libraries, the classes of the demo and the program, and runs it; what it prints of each file.
fn run(folder: &Path, arguments: &[String]) -> BTreeMap<String, Vec<String>> {
    let mut compile = Command::new(TERCET);
    compile.args(["compile", "--language", "java", "--roots", "CallRecord", "--rules", "ber,jer"]);
    compile.args(["--package", "com.example.cdr", "-s"]).arg(repository().join("schemas/demo"));
    assert!(compile.arg("-o").arg(folder.join("src")).status().unwrap().success());
    fs::write(folder.join("src/Framed.java"), PROGRAM).unwrap();
    let mut paths = Vec::new();
    for sources in ["tercet-runtime", "tercet-records"] {
        java_files(&repository().join("bindings/java").join(sources).join("src/main/java/io"), &mut paths);
    }
    java_files(&folder.join("src"), &mut paths);
    let classes = folder.join("classes");
    let mut javac = Command::new("javac");
    javac.args(["-Xlint:all", "-Werror", "--release", "17", "-encoding", "UTF-8", "-d"]).arg(&classes);
    assert!(javac.args(&paths).status().unwrap().success());
    let done = Command::new("java").arg("-cp").arg(&classes).arg("Framed").args(arguments).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let mut found = BTreeMap::new();
    let mut name = String::new();
    for line in String::from_utf8(done.stdout).unwrap().lines() {
        match line.strip_prefix("file ") {
            Some(file) => {
                name = file.to_owned();
                found.insert(name.clone(), Vec::new());
            }
            None => found.get_mut(&name).unwrap().push(line.to_owned()),
        }
    }
    found
}

fn java_files(folder: &Path, paths: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            java_files(&path, paths);
        } else if path.extension().is_some_and(|extension| extension == "java") {
            paths.push(path);
        }
    }
}

fn convert(path: &Path, framing: &str, output: &Path) -> String {
    let mut command = Command::new(TERCET);
    command.args(["convert", "-t", "CallRecord", "--render", "none", "--max-rejects", "none"]);
    command.args(["--framing", framing, "-s"]).arg(repository().join("schemas/demo"));
    let done = command.arg("-o").arg(output).arg(path).output().unwrap();
    String::from_utf8(done.stderr).unwrap()
}

/// The rejects that the command reports.
fn rejected(file: &Path) -> Vec<String> {
    let text = fs::read_to_string(file).unwrap_or_default();
    let reject = |line: &str| {
        let reject: Value = serde_json::from_str(line).unwrap();
        format!("rejected {} {}", reject["offset"], reject["length"])
    };
    text.lines().map(reject).collect()
}

/// The calls of the demo in each framing, and damaged.
fn framed_files() -> Vec<(&'static str, &'static str, Vec<u8>)> {
    let calls = fs::read(repository().join("examples/calls.ber")).unwrap();
    let records = records(&calls);
    let each = |before: &dyn Fn(&[u8]) -> Vec<u8>| -> Vec<u8> {
        records.iter().flat_map(|record| [before(record), record.to_vec()].concat()).collect()
    };
    let half = |length: usize| u16::try_from(length).unwrap().to_be_bytes().to_vec();
    let u16be = each(&|record| half(record.len()));
    let rdw = |group: &[&[u8]]| -> Vec<u8> {
        group.iter().flat_map(|record| [&half(record.len() + 4)[..], &[0, 0], record].concat()).collect()
    };
    let bdw = records.chunks(5).flat_map(|group| {
        let group = rdw(group);
        [half(group.len() + 4), vec![0, 0], group].concat()
    });
    let mut blocks = Vec::new();
    for record in &records {
        let room = 512 - blocks.len() % 512;
        if record.len() > room {
            blocks.resize(blocks.len() + room, 0);
        }
        blocks.extend_from_slice(record);
    }
    let used = calls.chunks(252).flat_map(|chunk| {
        let mut block = [half(chunk.len()), vec![0, 0], chunk.to_vec()].concat();
        block.resize(256, b'A');
        block
    });
    let around = |inside: &[u8]| [b"\x61\x80\x80\x03abc\xA1\x80", inside, b"\0\0\x82\x01\x03\0\0"].concat();
    let told = each(&|record| [half(record.len()), vec![0x80, 0x25]].concat());
    let mut header = vec![0; 52];
    header[..4].copy_from_slice(&u32::try_from(52 + told.len()).unwrap().to_be_bytes());
    header[7] = 52;
    header[21] = u8::try_from(records.len()).unwrap();
    let damage = |octets: &[u8], at: usize| [&octets[..at], b"damage", &octets[at + 6..]].concat();
    let skipped = [vec![b'h'; 59], each(&|_| b"RRRRR".to_vec()), vec![b'T'; 7]].concat();
    vec![
        ("plain", "plain", calls.clone()),
        ("filled", "plain", [vec![0; 300], records.join(&[0, 0xFF][..]), vec![0xFF; 2]].concat()),
        ("u16be", "u16be", u16be.clone()),
        ("u16be-incl", "u16be-incl", each(&|record| half(record.len() + 2))),
        ("u16le", "u16le", each(&|record| half(record.len()).into_iter().rev().collect())),
        ("u32be", "u32be", each(&|record| [vec![0, 0], half(record.len())].concat())),
        ("u32le", "u32le", each(&|record| [record.len() as u8, 0, 0, 0].to_vec())),
        ("rdw", "rdw", rdw(&records)),
        ("bdw", "bdw", bdw.collect()),
        ("block", "block:512", blocks),
        ("used", "block:256:4:used", used.collect()),
        ("skip", "skip:59:5:7", skipped),
        ("inside", "inside:61,A1", around(&calls)),
        ("ts32297", "ts32297", [header, told].concat()),
        ("damaged", "plain", damage(&calls, 300)),
        ("cut", "plain", calls[..calls.len() - 7].to_vec()),
        ("front", "plain", [b"\x55garbage", &calls[..]].concat()),
        ("between", "plain", [&calls[..46], b"\x05\x01\x02", &calls[46..]].concat()),
        ("damaged-u16be", "u16be", damage(&u16be, 300)),
        ("damaged-inside", "inside:61,A1", damage(&around(&calls), 500)),
        ("cut-inside", "inside:61,A1", around(&calls)[..900].to_vec()),
    ]
}

/// The records of the demo, whose lengths have one or two bytes.
fn records(mut octets: &[u8]) -> Vec<&[u8]> {
    let mut records = Vec::new();
    while let [first, rest @ ..] = octets {
        assert_ne!(first & 0x1F, 0x1F);
        let length = match rest {
            [0x81, length, ..] => 3 + usize::from(*length),
            [length, ..] => 2 + usize::from(*length),
            [] => 1,
        };
        let (record, more) = octets.split_at(length);
        records.push(record);
        octets = more;
    }
    records
}

#[test]
fn maven_generates_classes_once() {
    if programs("jdk", ["mvn", "javac"]).is_none() {
        return;
    }
    let project = Project::of(&["../../bindings/java", "../../examples/java-cdr"]);
    let (is_built, text) = project.build(&["package"]);
    if !is_built && text.contains("offline mode") {
        return tercet_testing::skip("jdk", "the plugins of Maven are not in its local repository");
    }
    assert!(is_built, "{text}");
    let classes = repository().join("examples/java-cdr/target/classes");
    assert!(
        classes.join("Calls.class").is_file() && classes.join("com/example/cdr/CallRecord.class").is_file()
    );
    let (is_built, text) = project.build(&["package"]);
    assert!(is_built && text.contains("nothing changed"), "{text}");
}

#[test]
fn kotlin_knows_absence_and_alternatives() {
    if programs("jdk", ["mvn", "javac", "java"]).is_none() {
        return;
    }
    let project = Project::of(&["../../bindings/java", "../../bindings/java/kotlin-test"]);
    let (is_built, text) = project.build(&["package"]);
    if !is_built && text.contains("offline mode") {
        return tercet_testing::skip(
            "kotlin",
            "the compiler of Kotlin is not in the local repository of Maven",
        );
    }
    assert!(is_built, "{text}");
    let bindings = repository().join("bindings/java");
    let classes =
        ["kotlin-test/target/classes", "tercet-runtime/target/classes"].map(|path| bindings.join(path));
    let library = kotlin_library(&bindings.join("kotlin-test"));
    let path = std::env::join_paths(classes.iter().chain([&library])).unwrap();
    let mut java = Command::new("java");
    java.arg("-cp").arg(path).arg("CallsKt").arg(repository().join("examples/calls.ber"));
    let done = java.output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let said = String::from_utf8(done.stdout).unwrap();
    let calls = said.lines().filter(|line| line.starts_with("call ")).count();
    assert_eq!((said.lines().count(), calls), (24, 18), "{said}");

    let (is_built, text) = project.build(&["package", "-Dsources=faulty"]);
    let errors: Vec<&str> = text.lines().filter(|line| line.contains("Absent.kt:")).collect();
    assert!(!is_built && errors.len() == 2, "{text}");
    assert!(errors[0].contains("nullable receiver") && errors[1].contains("'when' expression"), "{text}");
}

/// A project of Maven with modules by relative paths, which is how Maven takes them.
struct Project(tempfile::TempDir);

impl Project {
    fn of(modules: &[&str]) -> Self {
        let folder = tempfile::tempdir_in(repository().join("target")).unwrap();
        let modules: String = modules.iter().map(|path| format!("<module>{path}</module>")).collect();
        let project = format!(
            "<project><modelVersion>4.0.0</modelVersion><groupId>test</groupId><artifactId>all</artifactId>\
             <version>1</version><packaging>pom</packaging><modules>{modules}</modules></project>"
        );
        fs::write(folder.path().join("pom.xml"), project).unwrap();
        Self(folder)
    }

    /// Whether Maven succeeds with what it has, and what it prints.
    fn build(&self, goals: &[&str]) -> (bool, String) {
        let mut command = Command::new("mvn");
        command.args(["-B", "-o", "-DskipTests"]).arg(format!("-Dtercet.command={TERCET}")).args(goals);
        let done = command.current_dir(self.0.path()).output().unwrap();
        (done.status.success(), String::from_utf8_lossy(&done.stdout).into_owned())
    }
}

/// The library of Kotlin in the local repository of Maven, in the version that the project has.
fn kotlin_library(project: &Path) -> PathBuf {
    let text = fs::read_to_string(project.join("pom.xml")).unwrap();
    let (_, version) = text.split_once("<kotlin.version>").unwrap();
    let (version, _) = version.split_once('<').unwrap();
    let home = PathBuf::from(std::env::var_os("HOME").unwrap());
    let folder = home.join(".m2/repository/org/jetbrains/kotlin/kotlin-stdlib").join(version);
    folder.join(format!("kotlin-stdlib-{version}.jar"))
}
