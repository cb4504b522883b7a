//! Directories that are watched: files are converted as they become complete, once, also over a restart.
#![cfg(unix)]

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const TERCET: &str = env!("CARGO_BIN_EXE_tercet");
const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

fn watch(inputs: &Path, output: &Path, more: &[&str]) -> Child {
    let mut command = Command::new(TERCET);
    command.current_dir(REPOSITORY).args([
        "convert",
        "-s",
        "schemas/demo",
        "-t",
        "CallRecord",
        "--framing",
        "plain",
        "-f",
        "csv",
    ]);
    command.args(["--watch", "--interval", "0.1"]).args(more);
    command.arg("-o").arg(format!("{}/", output.display())).arg(inputs);
    command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Waits until something is so; half a minute is far more than it takes.
fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < Duration::from_secs(30), "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Says to stop; what the command has said, and its exit code.
fn stop(child: Child, signal: &str) -> (String, Option<i32>) {
    let id = child.id().to_string();
    assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    (String::from_utf8(output.stderr).unwrap(), output.status.code())
}

fn manifest_lines(output: &Path) -> usize {
    fs::read_to_string(output.join("tercet-run.jsonl")).map_or(0, |text| text.lines().count())
}

#[test]
fn files_are_converted_as_they_come() {
    let folder = tempfile::tempdir().unwrap();
    let (inputs, output) = (folder.path().join("inputs"), folder.path().join("output"));
    let metrics = folder.path().join("tercet.prom");
    fs::create_dir(&inputs).unwrap();
    let calls = fs::read(Path::new(REPOSITORY).join("examples/calls.ber")).unwrap();
    let prometheus = ["--prometheus", metrics.to_str().unwrap()];

    let child = watch(&inputs, &output, &prometheus);
    // One is renamed into its place, one is damaged.
    fs::write(inputs.join("a.part"), &calls).unwrap();
    fs::rename(inputs.join("a.part"), inputs.join("a.ber")).unwrap();
    until("a.ber is converted", || output.join("a.ber.csv").exists());
    let mut damaged = calls.clone();
    damaged[0] ^= 0x1F;
    fs::write(inputs.join("b.ber"), damaged).unwrap();
    until("b.ber is converted", || manifest_lines(&output) == 2);
    until("there are metrics", || {
        let text = fs::read_to_string(&metrics).unwrap_or_default();
        text.contains("\ntercet_inputs_total{result=\"good\"} 1\n")
            && text.contains("\ntercet_inputs_total{result=\"rejects\"} 1\n")
            && text.contains("\ntercet_last_success_timestamp_seconds ")
    });
    let (said, exit) = stop(child, "-TERM");
    assert_eq!(exit, Some(2), "{said}");
    assert!(output.join("b.ber.csv.rejects").exists());

    // After a restart only what is new is done.
    let a = fs::metadata(output.join("a.ber.csv")).unwrap().modified().unwrap();
    let child = watch(&inputs, &output, &["-q"]);
    fs::write(inputs.join("c.ber"), &calls).unwrap();
    until("c.ber is converted", || manifest_lines(&output) == 3);
    // What has been mended is done again, and its rejects are gone.
    fs::write(inputs.join("b.ber"), &calls).unwrap();
    until("b.ber is converted again", || manifest_lines(&output) == 4);
    let (said, exit) = stop(child, "-INT");
    assert_eq!(exit, Some(2), "{said}");
    assert_eq!(fs::metadata(output.join("a.ber.csv")).unwrap().modified().unwrap(), a);
    let rows = fs::read(output.join("a.ber.csv")).unwrap();
    assert!(rows == fs::read(output.join("b.ber.csv")).unwrap());
    assert!(rows == fs::read(output.join("c.ber.csv")).unwrap());
    let names = fs::read_dir(&output).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names, ["a.ber.csv", "b.ber.csv", "c.ber.csv", "tercet-run.jsonl"]);
}

#[test]
fn one_that_waits_stops_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let (inputs, output) = (folder.path().join("inputs"), folder.path().join("output"));
    fs::create_dir(&inputs).unwrap();
    for signal in ["-INT", "-TERM"] {
        let child = watch(&inputs, &output, &[]);
        until("the output directory is made", || output.exists());
        std::thread::sleep(Duration::from_millis(200));
        let (said, exit) = stop(child, signal);
        assert_eq!((said.as_str(), exit), ("", Some(0)));
        fs::remove_dir_all(&output).unwrap();
    }
}

#[test]
fn what_is_watched_is_a_directory_of_inputs() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.ber");
    fs::write(&file, "").unwrap();
    for (inputs, output, message) in [
        (&*file, "output", "is not a directory, which `--watch` requires"),
        (folder.path(), ".", "the outputs require another directory"),
    ] {
        let output = watch(inputs, &folder.path().join(output), &[]).wait_with_output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(1) && said.contains(message), "{said}");
    }
}

#[test]
fn what_has_been_there_is_left_out_over_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let (inputs, output) = (folder.path().join("inputs"), folder.path().join("output"));
    let seen = folder.path().join("seen");
    fs::create_dir(&inputs).unwrap();
    let calls = fs::read(Path::new(REPOSITORY).join("examples/calls.ber")).unwrap();
    let dedupe = ["--dedupe", "--dedupe-file", seen.to_str().unwrap(), "-q"];
    for (name, rows) in [("a", 24), ("b", 0)] {
        let child = watch(&inputs, &output, &dedupe);
        fs::write(inputs.join(format!("{name}.ber")), &calls).unwrap();
        let made = output.join(format!("{name}.ber.csv"));
        until("the file is converted", || made.exists());
        let (said, exit) = stop(child, "-TERM");
        assert_eq!(exit, Some(0), "{said}");
        assert_eq!(fs::read_to_string(made).unwrap().lines().count() - 1, rows, "{name}");
    }
}

#[test]
fn a_file_that_ends_inside_a_record_is_still_being_written() {
    let folder = tempfile::tempdir().unwrap();
    let (inputs, output) = (folder.path().join("inputs"), folder.path().join("output"));
    fs::create_dir(&inputs).unwrap();
    let calls = fs::read(Path::new(REPOSITORY).join("examples/calls.ber")).unwrap();
    let (path, made) = (inputs.join("a.ber"), output.join("a.ber.csv"));
    let child = watch(&inputs, &output, &[]);
    // The sender takes a breath inside of the last record: longer than between two looks.
    fs::write(&path, &calls[..calls.len() - 9]).unwrap();
    std::thread::sleep(Duration::from_millis(1200));
    assert!(!made.exists(), "a file that is not complete is published");
    fs::write(&path, &calls).unwrap();
    until("the whole file is converted", || made.exists());
    assert_eq!(fs::read_to_string(&made).unwrap().lines().count(), 25);
    // One that is never finished is not held back for ever.
    fs::write(inputs.join("b.ber"), &calls[..calls.len() - 9]).unwrap();
    until("the rest has not come", || output.join("b.ber.csv.rejects").exists());
    let (said, exit) = stop(child, "-TERM");
    assert_eq!(exit, Some(2), "{said}");
    assert!(said.contains("a.ber: ends inside a record; waiting for the rest"), "{said}");
}
