//! `bench/instructions.csv`: how many instructions fixed kernels take for a record. Unlike times, the numbers are the
//! same on a busy machine, so that a change that makes one grow is seen before it is recorded.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tercet::dynamic::{Tape, sample};
use tercet::{Rules, Schema, SchemaOptions, TapeCodec};

use tercet_testing::repository;

/// Growth in per cent that is taken for noise: of the hash seeds of a process, of where its memory lies.
const TOLERANCE: f64 = 3.0;

/// Records of each kernel, made up with one seed.
const RECORDS: usize = 200;

/// Passes over the records that are counted; one before them fills the buffers.
const PASSES: usize = 10;

/// A type with the rules and works that are counted: every module is one that we ship.
struct Subject {
    name: &'static str,
    schema: &'static str,
    module: &'static str,
    root: &'static str,
    works: &'static [(Rules, &'static [&'static str])],
}

const BOTH: &[&str] = &["tape", "encode"];

const SUBJECTS: &[Subject] = &[
    Subject {
        name: "call",
        schema: "demo/Demo-CDR.asn",
        module: "Demo-CDR",
        root: "CallRecord",
        works: &[
            (Rules::Ber, &["walk", "validate", "tape", "json", "csv", "encode"]),
            (Rules::Der, BOTH),
            (Rules::Aper, BOTH),
            (Rules::Uper, BOTH),
        ],
    },
    Subject {
        name: "personnel",
        schema: "personnel/PersonnelRecord.asn",
        module: "Personnel",
        root: "PersonnelRecord",
        works: &[(Rules::Ber, BOTH), (Rules::Aper, BOTH), (Rules::Uper, BOTH)],
    },
    Subject {
        name: "ldap",
        schema: "ldap/LDAP.asn",
        module: "LDAP",
        root: "LDAPMessage",
        works: &[(Rules::Ber, &["walk", "validate", "tape", "json", "encode"])],
    },
    Subject {
        name: "megaco",
        schema: "h248/MEDIA-GATEWAY-CONTROL-v3.asn",
        module: "MEDIA-GATEWAY-CONTROL-v3",
        root: "MegacoMessage",
        works: &[
            (Rules::Ber, &["validate", "tape", "json", "encode"]),
            (Rules::Aper, &["validate", "tape", "json", "encode"]),
        ],
    },
];

/// Instructions a record, by kernel.
type Counts = BTreeMap<String, f64>;

/// Counts, and keeps the counts; with `check`, says instead whether one has grown. Without valgrind, or where the counts
/// that are kept are of another compiler, it says so and checks nothing.
///
/// # Errors
/// A kernel does not run, the file cannot be read or written, a count has grown, or the build is incremental.
pub fn run(check: bool, out: &mut dyn std::io::Write) -> Result<(), String> {
    let mut say = |text: &str| writeln!(out, "{text}").map_err(|error| error.to_string());
    if Command::new("valgrind").arg("--version").output().is_err() {
        return say("bench: skipped, as valgrind is not installed");
    }
    // Such a build is optimised differently: encoders take up to 5 % more instructions.
    if std::env::var("CARGO_INCREMENTAL").is_ok_and(|set| set != "0") {
        return Err("bench: CARGO_INCREMENTAL is set, so the counts are not comparable: unset it".to_owned());
    }
    let path = repository().join("bench/instructions.csv");
    let kept = fs::read_to_string(&path).unwrap_or_default();
    let compiler = compiler()?;
    if check && !kept.is_empty() && !kept.starts_with(&heading(&compiler)) {
        let theirs = kept.lines().next().unwrap_or_default().trim_start_matches("# ");
        return say(&format!(
            "bench: skipped, as the counts are of another compiler: {theirs}, here {compiler}"
        ));
    }
    let counts = measure()?;
    let judged = judge(&parse(&kept), &counts);
    say(&judged.table)?;
    if check {
        return if judged.faults.is_empty() { Ok(()) } else { Err(judged.faults.join("\n")) };
    }
    let mut text = heading(&compiler);
    text.push_str("kernel,instructions\n");
    for (kernel, count) in &counts {
        _ = writeln!(text, "{kernel},{count:.0}");
    }
    fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))
}

/// What `cargo xtask bench --check` says.
struct Judged {
    table: String,
    faults: Vec<String>,
}

fn judge(kept: &Counts, counts: &Counts) -> Judged {
    let mut judged = Judged {
        table: format!("{:<28} {:>10} {:>10} {:>8}", "kernel", "kept", "now", "growth"),
        faults: Vec::new(),
    };
    for (kernel, &now) in counts {
        let Some(&before) = kept.get(kernel) else {
            _ = write!(judged.table, "\n{kernel:<28} {:>10} {now:>10.0} {:>8}", "–", "new");
            judged.faults.push(format!("{kernel} has no count yet: run `cargo xtask bench`"));
            continue;
        };
        let growth = now / before - 1.0;
        _ = write!(judged.table, "\n{kernel:<28} {before:>10.0} {now:>10.0} {:>7.1}%", growth * 100.0);
        if now * 100.0 > before * (100.0 + TOLERANCE) {
            judged.faults.push(format!(
                "{kernel} takes {:.1} % more instructions than before: make it fast again, or keep the new count with \
                 `cargo xtask bench` and say why",
                growth * 100.0
            ));
        }
    }
    let gone = kept.keys().filter(|kernel| !counts.contains_key(*kernel));
    judged
        .faults
        .extend(gone.map(|kernel| format!("{kernel} is no kernel any more: run `cargo xtask bench`")));
    judged
}

fn parse(text: &str) -> Counts {
    let line = |line: &str| {
        let (kernel, count) = line.split_once(',')?;
        Some((kernel.to_owned(), count.parse().ok()?))
    };
    text.lines().filter_map(line).collect()
}

fn heading(compiler: &str) -> String {
    format!("# {compiler}\n")
}

/// The compiler and the machine that it compiles for: instructions are comparable within one of them.
fn compiler() -> Result<String, String> {
    let said = Command::new("rustc").arg("-vV").output().map_err(|error| format!("rustc: {error}"))?;
    let text = String::from_utf8_lossy(&said.stdout).into_owned();
    let value = |key: &str| text.lines().find_map(|line| line.strip_prefix(key)).unwrap_or_default();
    Ok(format!("rustc {} for {}", value("release: "), value("host: ")))
}

fn measure() -> Result<Counts, String> {
    let build = repository().join("bench/.build");
    let folder = build.join("kernels");
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let target = build.join("tercet");
    let built = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["build", "--quiet", "--release", "--bin", "tercet-bench", "--manifest-path"])
        .arg(repository().join("bench/engines/tercet/Cargo.toml"))
        .arg("--target-dir")
        .arg(&target)
        .status();
    if !built.is_ok_and(|status| status.success()) {
        return Err("bench/engines/tercet does not build".into());
    }
    let runner = target.join("release/tercet-bench");
    let mut counts = Counts::new();
    for subject in SUBJECTS {
        for (syntax, works) in subject.works {
            let records = folder.join(format!("{}-{syntax}.lp", subject.name));
            make(subject, *syntax, &records)?;
            for work in *works {
                let kernel = format!("{}-{syntax}-{work}", subject.name);
                let count = |passes| {
                    instructions(&runner, subject, *syntax, work, &records, passes)
                        .map_err(|error| format!("{kernel}: {error}"))
                };
                // The difference of two runs is that of the passes: what comes before is in both.
                let (few, many) = (count(1)?, count(1 + PASSES)?);
                counts.insert(kernel, many.saturating_sub(few) as f64 / (PASSES * RECORDS) as f64);
            }
        }
    }
    Ok(counts)
}

/// Writes records of a subject, each after its length.
fn make(subject: &Subject, syntax: Rules, path: &Path) -> Result<(), String> {
    let schema =
        Schema::load(&[schema(subject)], &SchemaOptions::default()).map_err(|error| error.to_string())?;
    let plan = schema.plan(syntax.plan_rules(), &[subject.root]).map_err(|error| error.to_string())?;
    let root = plan.root(subject.root).ok_or_else(|| format!("no type {}", subject.root))?;
    let mut sampler = sample::Sampler::new(&plan.shape, sample::Options::default());
    let mut codec = TapeCodec::new(syntax, &plan);
    let (mut tape, mut octets, mut file) = (Tape::new(), Vec::new(), Vec::new());
    for _ in 0..RECORDS {
        sampler.sample(root, &mut tape).map_err(|error| error.to_string())?;
        octets.clear();
        codec.write(tape.view(&[]), &mut octets).map_err(|error| error.to_string())?;
        let length = u32::try_from(octets.len()).map_err(|error| error.to_string())?;
        file.extend_from_slice(&length.to_be_bytes());
        file.extend_from_slice(&octets);
    }
    fs::write(path, file).map_err(|error| format!("{}: {error}", path.display()))
}

fn schema(subject: &Subject) -> PathBuf {
    repository().join("schemas").join(subject.schema)
}

/// Instructions of one run of the runner of the benches (its protocol is told in `bench/engines/python_runner.py`).
fn instructions(
    runner: &Path,
    subject: &Subject,
    syntax: Rules,
    work: &str,
    records: &Path,
    passes: usize,
) -> Result<u64, String> {
    let mut child = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(runner)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| error.to_string())?;
    let input = format!(
        "op {work}\nschema {}\nmodule {}\ntype {}\nrules {syntax}\nrecords {}\ngo\npasses {passes}\n",
        schema(subject).display(),
        subject.module,
        subject.root,
        records.display()
    );
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(input.as_bytes()).map_err(|error| error.to_string())?;
    }
    let said = child.wait_with_output().map_err(|error| error.to_string())?;
    let (answer, errors) = (String::from_utf8_lossy(&said.stdout), String::from_utf8_lossy(&said.stderr));
    // One line says that it is ready, or why not, and one that the passes are done.
    if answer.lines().count() < 2 {
        return Err(answer.lines().next().unwrap_or("the runner says nothing").to_owned());
    }
    let collected =
        errors.lines().find_map(|line| line.split_once("Collected :")).map(|(_, count)| count.trim());
    collected.and_then(|count| count.parse().ok()).ok_or_else(|| "valgrind gives no count".to_owned())
}

#[cfg(test)]
mod tests {
    use super::{judge, parse};

    #[test]
    fn growth_beyond_the_tolerance_is_a_fault() {
        let kept = parse("# rustc 1\nkernel,instructions\nfast,1000\nslow,1000\n");
        let faults = |text: &str| judge(&kept, &parse(text)).faults;
        assert!(faults("fast,1030\nslow,500\n").is_empty());
        let grown = faults("fast,1031\nslow,1000\n");
        assert!(matches!(grown.as_slice(), [one] if one.starts_with("fast takes 3.1 % more")), "{grown:?}");
    }

    #[test]
    fn the_kernels_must_be_those_that_are_kept() {
        let kept = parse("kernel,instructions\nold,10\n");
        let faults = judge(&kept, &parse("new,10\n")).faults;
        assert_eq!(
            faults,
            [
                "new has no count yet: run `cargo xtask bench`",
                "old is no kernel any more: run `cargo xtask bench`"
            ]
        );
    }
}
