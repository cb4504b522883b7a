//! Several threads write what one writes, octet for octet, damaged files included.
#![cfg(unix)]

use std::fs;
use std::path::Path;
use std::process::Command;

const TERCET: &str = env!("CARGO_BIN_EXE_tercet");

/// Octets that two threads share out several times over.
const SIZE: usize = 6 << 20;

/// Numbers that look random: the same each time.
fn numbers(mut state: u64) -> impl FnMut(usize) -> usize {
    move |below| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below as u64) as usize
    }
}

/// Concatenated records of the demo schema, made up; and where each begins.
fn records(folder: &Path) -> (Vec<u8>, Vec<usize>) {
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas/demo");
    let made = Command::new(TERCET)
        .args(["sample", "CallRecord", "-n", "500", "--rules", "ber", "-o"])
        .arg(folder.join("samples"))
        .arg("-s")
        .arg(&schema)
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let samples = fs::read(folder.join("samples")).unwrap();
    let mut sizes = Vec::new();
    let mut rest = &samples[..];
    while !rest.is_empty() {
        sizes.push(size(rest));
        rest = &rest[size(rest)..];
    }
    let (mut file, mut begins) = (Vec::new(), Vec::new());
    let mut number = numbers(7);
    let offsets: Vec<usize> =
        sizes.iter().scan(0, |at, size| Some(std::mem::replace(at, *at + size))).collect();
    while file.len() < SIZE {
        let which = number(sizes.len());
        begins.push(file.len());
        file.extend_from_slice(&samples[offsets[which]..][..sizes[which]]);
        if number(50) == 0 {
            file.extend([0xFF; 40].iter().take(number(40)));
        }
    }
    (file, begins)
}

/// The octets of the record that begins some.
fn size(octets: &[u8]) -> usize {
    match octets[1] {
        0x81 => 3 + usize::from(octets[2]),
        0x82 => 4 + usize::from(u16::from_be_bytes([octets[2], octets[3]])),
        0x83 => 5 + (usize::from(octets[2]) << 16 | usize::from(u16::from_be_bytes([octets[3], octets[4]]))),
        length => 2 + usize::from(length),
    }
}

/// What a conversion leaves in a folder, by the names of files, and its exit code. Behind the format, options may stand.
fn converted(input: &Path, jobs: &str, format: &str, framing: &str) -> (Option<i32>, Vec<(String, Vec<u8>)>) {
    let folder = tempfile::tempdir().unwrap();
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas/demo");
    // CSV and XML have no other form of numbers, and refuse the option.
    let is_text = format.starts_with("csv") || format.starts_with("xml");
    let integers: &[&str] = if is_text { &[] } else { &["--integers", "text"] };
    let status = Command::new(TERCET)
        .args(["convert", "-t", "CallRecord", "-q", "--framing", framing, "-j", jobs, "-f"])
        .args(format.split(' '))
        .args(integers)
        .arg("-s")
        .arg(&schema)
        .arg("-o")
        .arg(folder.path().join("rows"))
        .arg("--summary")
        .arg(folder.path().join("summary"))
        .arg(input)
        .output()
        .unwrap()
        .status;
    let entries = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = entries
        .map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), fs::read(&path).unwrap()))
        .collect();
    files.sort();
    for (name, octets) in &mut files {
        if name == "summary" {
            let mut summary: serde_json::Value = serde_json::from_slice(octets).unwrap();
            summary["seconds"].take();
            for input in summary["inputs"].as_array_mut().unwrap() {
                input["seconds"].take();
            }
            *octets = summary.to_string().into_bytes();
        }
    }
    (status.code(), files)
}

fn same(name: &str, file: &[u8], format: &str, exit: i32) {
    same_framed(name, file, format, "plain", exit);
}

fn same_framed(name: &str, file: &[u8], format: &str, framing: &str, exit: i32) {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("calls.ber");
    fs::write(&input, file).unwrap();
    let one = converted(&input, "1", format, framing);
    assert_eq!(one.0, Some(exit), "{name}");
    for jobs in ["2", "5"] {
        let several = converted(&input, jobs, format, framing);
        assert_eq!(one.0, several.0, "{name} with {jobs} threads");
        for (a, b) in one.1.iter().zip(&several.1) {
            assert!(a == b, "{name} with {jobs} threads: {} and {} differ", a.0, b.0);
        }
        assert_eq!(one.1.len(), several.1.len(), "{name} with {jobs} threads");
    }
}

#[test]
fn rows_do_not_depend_on_the_number_of_threads() {
    let folder = tempfile::tempdir().unwrap();
    let (file, begins) = records(folder.path());
    let figures = "csv --total duration,servedIMSI --sequence recordNumber";
    for format in ["jsonl", "csv", "xml", "csv --children", figures] {
        same(format, &file, format, 0);
    }
    // The last record is cut; octets of records are lost, turned, put in; records are of another type.
    same("cut", &file[..file.len() - 3], "jsonl", 2);
    for seed in 1..=6 {
        let mut number = numbers(seed * 7919);
        let mut damaged = file.clone();
        for _ in 0..1 + number(6) {
            let begin = begins[number(begins.len())];
            match number(4) {
                0 => damaged[begin + 2] ^= 0x5A,
                1 => damaged[begin] = 0x31,
                2 => drop(damaged.splice(begin..begin + 1 + number(30), [])),
                _ => drop(damaged.splice(begin..begin, (0..1 + number(90)).map(|octet| octet as u8))),
            }
        }
        let format = if seed % 2 == 0 { "jsonl" } else { "jsonl --child data.volumes" };
        same(&format!("damage {seed}"), &damaged, format, 2);
    }
}

#[test]
fn nor_do_they_where_headers_stand_between_records() {
    let folder = tempfile::tempdir().unwrap();
    let (file, begins) = records(folder.path());
    let records: Vec<&[u8]> =
        begins.iter().map(|begin| &file[*begin..*begin + size(&file[*begin..])]).collect();
    let framed = |header: &dyn Fn(&[u8]) -> Vec<u8>| -> Vec<u8> {
        records.iter().flat_map(|record| [header(record), record.to_vec()].concat()).collect()
    };
    let prefixed = framed(&|record| u32::try_from(record.len()).unwrap().to_be_bytes().to_vec());
    let headed = [&[7; 59][..], &framed(&|_| vec![9; 5])].concat();
    let blocks: Vec<u8> = file.chunks(2044).flat_map(|part| [&[0, 0, 7, 7][..], part].concat()).collect();
    for (name, octets, framing) in [
        ("prefixes", &prefixed, "u32be"),
        ("headers", &headed, "skip:59:5:0"),
        ("blocks", &blocks, "block:2048:4"),
    ] {
        same_framed(name, octets, "jsonl", framing, 0);
        // Offsets of rejects are those of the file.
        let mut damaged = octets.clone();
        let mut number = numbers(31);
        for _ in 0..3 {
            let at = octets.len() / 2 + number(octets.len() / 3);
            damaged[at] ^= 0x5A;
        }
        let (exit, _) = converted_octets(&damaged, framing);
        same_framed(&format!("damaged {name}"), &damaged, "jsonl", framing, exit);
    }
}

/// What one thread makes of octets.
fn converted_octets(octets: &[u8], framing: &str) -> (i32, Vec<(String, Vec<u8>)>) {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("calls.ber");
    fs::write(&input, octets).unwrap();
    let (exit, files) = converted(&input, "1", "jsonl", framing);
    (exit.unwrap(), files)
}

#[test]
fn nor_on_which_thread_took_which_of_many_files() {
    let folder = tempfile::tempdir().unwrap();
    let inputs = inputs(folder.path(), 300);
    let (large, _) = records(folder.path());
    fs::write(inputs.join("calls123-large.ber"), &large[..1 << 20]).unwrap();
    let figures = "csv --total duration,answerTime --sequence recordNumber";
    for (format, tables) in [("csv", 1), ("jsonl", 1), ("csv --children", 3), (figures, 1)] {
        let one = converted(&inputs, "1", format, "plain");
        assert_eq!(one.0, Some(2));
        assert_eq!(one.1.len(), tables + 3, "rows, rejects, their reasons, the summary");
        for jobs in ["2", "5"] {
            let several = converted(&inputs, jobs, format, "plain");
            assert_eq!(one.0, several.0);
            for (a, b) in one.1.iter().zip(&several.1) {
                assert!(a == b, "{format} with {jobs} threads: {} and {} differ", a.0, b.0);
            }
        }
    }
    let rows = |jobs| {
        let (_, files) = converted(&inputs, jobs, "parquet", "plain");
        rows_of(files.into_iter().find(|file| file.0 == "rows").unwrap().1).0
    };
    assert!(rows("1") == rows("3"));
}

/// The rows of a Parquet file, as Arrow shows them, and its number of row groups.
fn rows_of(octets: Vec<u8>) -> (Vec<arrow_array::RecordBatch>, usize) {
    let reader =
        parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder::try_new(bytes::Bytes::from(octets));
    let reader = reader.unwrap();
    let groups = reader.metadata().num_row_groups();
    // Batches of one size, whatever the row groups are.
    (reader.with_batch_size(5000).build().unwrap().map(Result::unwrap).collect(), groups)
}

#[test]
fn columns_do_not_depend_on_the_number_of_threads() {
    let folder = tempfile::tempdir().unwrap();
    let (mut file, begins) = records(folder.path());
    file.extend_from_within(..);
    // Damage in the midst of it.
    file[begins[begins.len() / 2] + 2] ^= 0x5A;
    let input = folder.path().join("calls.ber");
    fs::write(&input, &file).unwrap();
    let parquet = |jobs| {
        let (exit, files) = converted(&input, jobs, "parquet --child data.volumes", "plain");
        assert_eq!(exit, Some(2));
        files
    };
    let (one, several) = (parquet("1"), parquet("3"));
    for (a, b) in one.iter().zip(&several).filter(|(a, _)| a.0.contains("rejects")) {
        assert!(a == b, "{} and {} differ", a.0, b.0);
    }
    for table in ["rows", "rows.data.volumes"] {
        let of = |files: &[(String, Vec<u8>)]| files.iter().find(|file| file.0 == table).unwrap().1.clone();
        let ((one, _), (several, groups)) = (rows_of(of(&one)), rows_of(of(&several)));
        assert!(one == several && !one.is_empty(), "{table}");
        assert!(groups > 2, "threads make row groups: {groups}");
    }
}

/// A conversion of all files of a folder into another.
fn convert(inputs: &Path, output: &Path, more: &[&str]) -> Command {
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas/demo");
    let mut command = Command::new(TERCET);
    command.args(["convert", "-t", "CallRecord", "--framing", "plain", "-f", "csv", "-s"]).arg(schema);
    command.args(more).arg("-o").arg(format!("{}/", output.display())).arg(inputs);
    command
}

/// The files of a folder by name, without the manifest.
fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = entries
        .map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), fs::read(&path).unwrap()))
        .filter(|(name, _)| name != "tercet-run.jsonl")
        .collect();
    files.sort();
    files
}

/// A folder of inputs, some of them damaged.
fn inputs(folder: &Path, count: usize) -> std::path::PathBuf {
    let (file, begins) = records(folder);
    let inputs = folder.join("inputs");
    fs::create_dir(&inputs).unwrap();
    let mut number = numbers(99);
    for index in 0..count {
        let (begin, end) = (begins[index * 40], begins[index * 40 + 30 + number(1000)]);
        let mut octets = file[begin..end].to_vec();
        if index % 7 == 3 {
            octets[2] ^= 0x5A;
        }
        fs::write(inputs.join(format!("calls{index:03}.ber")), octets).unwrap();
    }
    inputs
}

#[test]
fn a_killed_run_is_resumed_without_loss_or_doubles() {
    let folder = tempfile::tempdir().unwrap();
    let inputs = inputs(folder.path(), 40);
    let whole = folder.path().join("whole");
    let done = convert(&inputs, &whole, &["-q", "-j", "1", "--children"]).output().unwrap();
    assert_eq!(done.status.code(), Some(2));
    let expected = files(&whole);
    assert!(expected.len() > 40, "there are rejects");

    let resume = ["-q", "--resume", "--children"];
    // How often a run is killed; more by hand.
    let kills = std::env::var("TERCET_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(12);
    let mut number = numbers(5);
    let output = folder.path().join("output");
    let (mut killed, mut runs) = (0, 0);
    while killed < kills {
        let quiet = std::process::Stdio::null;
        let mut child = convert(&inputs, &output, &resume).stderr(quiet()).spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_micros(number(120_000) as u64));
        // What is there under its name is whole at any moment.
        child.kill().unwrap();
        let status = child.wait().unwrap();
        killed += usize::from(status.code().is_none());
        runs += 1;
        let partial = if output.exists() { files(&output) } else { Vec::new() };
        for file in partial.iter().filter(|(name, _)| !name.ends_with(".part")) {
            assert!(expected.contains(file), "{} after {runs} runs", file.0);
            // Where the records are, their lists are.
            let child = file.0.strip_suffix(".ber.csv").map(|name| format!("{name}.ber.data.volumes.csv"));
            assert!(child.is_none_or(|child| partial.iter().any(|(name, _)| *name == child)), "{}", file.0);
        }
        if status.code().is_some() || number(4) == 0 {
            // To its end, and anew.
            let status = convert(&inputs, &output, &resume).output().unwrap().status;
            assert_eq!(status.code(), Some(2));
            assert!(expected == files(&output), "after {killed} kills");
            fs::remove_dir_all(&output).unwrap();
        }
    }
    let status = convert(&inputs, &output, &resume).output().unwrap().status;
    assert_eq!(status.code(), Some(2), "what an earlier run rejected is told again");
    assert!(expected == files(&output));
}

#[test]
fn a_run_over_the_same_inputs_does_nothing_and_a_change_is_seen() {
    let folder = tempfile::tempdir().unwrap();
    let inputs = inputs(folder.path(), 9);
    let output = folder.path().join("output");
    let summary = folder.path().join("summary");
    let run = |more: &[&str]| {
        let options: Vec<&str> =
            more.iter().copied().chain(["--summary", summary.to_str().unwrap()]).collect();
        let done = convert(&inputs, &output, &options).output().unwrap();
        let summary: serde_json::Value = serde_json::from_slice(&fs::read(&summary).unwrap()).unwrap();
        let count = |key: &str| summary[key].as_u64().unwrap();
        (done.status.code(), summary["inputs"].as_array().unwrap().len(), count("resumed"), count("skipped"))
    };
    assert_eq!(run(&["--resume"]), (Some(2), 9, 0, 0));
    assert_eq!(run(&["--resume"]), (Some(2), 0, 9, 0));
    // Another option, another result: all is done anew, once.
    assert_eq!(run(&["--resume", "--defaults"]), (Some(2), 9, 0, 0));
    assert_eq!(run(&["--resume", "--defaults", "-j", "3"]), (Some(2), 0, 9, 0));
    // A line that was cut while it was written.
    let manifest = output.join("tercet-run.jsonl");
    let lines = fs::read(&manifest).unwrap();
    fs::write(&manifest, &lines[..lines.len() - 20]).unwrap();
    assert_eq!(run(&["--resume", "--defaults"]), (Some(2), 1, 8, 0));
    // An input that has grown, an output that is gone.
    let mut octets = fs::read(inputs.join("calls001.ber")).unwrap();
    octets.extend_from_within(..);
    fs::write(inputs.join("calls001.ber"), octets).unwrap();
    fs::remove_file(output.join("calls002.ber.csv")).unwrap();
    assert_eq!(run(&["--resume", "--defaults"]), (Some(2), 2, 7, 0));
    fs::remove_file(output.join("calls005.ber.csv")).unwrap();
    assert_eq!(run(&["--skip-existing"]), (Some(0), 1, 0, 8));
}
