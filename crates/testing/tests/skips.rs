//! Skips as they are printed, counted and forbidden: this binary runs itself with other environments.

use std::process::{Command, Output};

/// What the other tests run.
#[test]
#[ignore = "the other tests run it with an environment"]
fn skipping() {
    tercet_testing::skip("strace", "no program `strace`");
    tercet_testing::skip_in_part("network", "no address\tat all");
    assert_eq!(tercet_testing::corpora(""), None);
}

fn run(environment: &[(&str, &str)]) -> (Output, String) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "skipping", "--ignored", "--nocapture"]);
    command.env_remove("TERCET_SKIPS").env_remove("TERCET_REQUIRE").env("TERCET_CORPORA", "/nonexistent");
    let output = command.envs(environment.iter().copied()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    let text = text.into_owned();
    (output, text)
}

#[test]
fn skips_are_printed_and_counted() {
    let file = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("skips");
    _ = std::fs::remove_file(&file);
    let (output, text) = run(&[("TERCET_SKIPS", file.to_str().unwrap()), ("TERCET_REQUIRE", "erlang")]);
    assert!(output.status.success(), "{text}");
    assert!(text.contains("skipped: skipping requires strace: no program `strace`"), "{text}");
    assert_eq!(
        std::fs::read_to_string(&file).unwrap(),
        "strace\ttercet-testing/skips\tskipping\tno program `strace`\n\
         network\ttercet-testing/skips\tskipping\tin part: no address at all\n\
         corpora\ttercet-testing/skips\tskipping\tno folder with the corpora\n"
    );
    let mut table = Command::new("sh");
    let script = tercet_testing::repository().join("scripts/skips");
    let table = table.arg(script).arg(&file).output().unwrap();
    let table = String::from_utf8(table.stdout).unwrap();
    assert!(table.contains("strace           1        0  apt-get install strace"), "{table}");
    assert!(table.contains("network          0        1  "), "{table}");
}

#[test]
fn skips_fail_where_the_need_is_required() {
    let (output, text) = run(&[("TERCET_REQUIRE", "corpora")]);
    assert!(!output.status.success());
    assert!(
        text.contains("skipping requires corpora: no folder with the corpora; to install it: "),
        "{text}"
    );
    let (output, text) = run(&[("TERCET_REQUIRE", "all")]);
    assert!(!output.status.success() && text.contains("to install it: apt-get install strace"), "{text}");
    let (output, text) = run(&[("TERCET_REQUIRE", "everything")]);
    assert!(
        !output.status.success() && text.contains("unknown word `everything`; known: all, corpora"),
        "{text}"
    );
}
