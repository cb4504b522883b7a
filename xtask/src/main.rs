//! Tasks of this repository: `cargo xtask <task>`.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command talks to people")]

use std::process::ExitCode;

use peak_alloc::PeakAlloc;

/// Counts the octets of heap, for `linear`.
#[global_allocator]
static HEAP: PeakAlloc = PeakAlloc;

const USAGE: &str = "\
usage: cargo xtask <task>

  vectors [--damage] --specs DIR FILE.jsonl…
        run test vectors: decode, compare, encode; or damage them in every place and look at the errors
  detect [--each N] [--misses] --specs DIR FILE.jsonl…
  detect [--misses] --schema PATH… FILE…
        how often rules and type are found without being told: of vectors, or of files named sample-TYPE-N.RULES
  hostile --manifest FILE.jsonl [--only PREFIX]
        hostile inputs with the verdict that each needs, every one in a process of its own with bounds
  truth --schema PATH… --type T [--records PATH] FILE[.zst] TRUTH.jsonl[.zst]
        compare a record file with what it is known to contain
  compile PATH…
        time and memory of each stage for each path, and how they grow with copies of the first
  samples [--count N] [--types N] [--seed N] [--large] PATH…
        make up values of types of each specification, write them by all rules and read them again
  equal [--count N] [--types N] [--root MODULE.TYPE…] [--seed N] [--build-only] [--jer] [--small] PATH…
        generated code against the engine: print, build and run a program for each specification, compare what both make
        of the same octets, whole and damaged
  fuzz [--runs N] [--seed N] [--sweep] [--exhaust BITS] [--seeds DIR] [--input FILE] [TARGET…]
        what holds for every input of a public entry, over seeds and random damage; or over each truncation, flipped bit
        and border octet of the seeds, or over all inputs of so many bits; or write the seeds for fuzz/
  linear [FAMILY…]
        that reading costs no more than in proportion, by instruction counts and octets of heap, for families of inputs
        of one size and of eight times that; needs valgrind
  verdicts [--check | --list FILE.csv]
        write docs/verdicts.md, what is said of the certificates and messages that others collected, or say whether it is
        current; or write a list with one line for each
  codegen [--check]
        write the generated code that is committed, or say whether it is current
  clauses [--check]
        write docs/clauses.md, which vectors stand for which clause, or say whether it is current
  dist [--out DIR] [--target TRIPLE] [archive | deb | rpm | python | oci | sbom]…
        build what a release consists of into dist/: all parts whose tools are installed, or the named ones
  bench [--check]
        count the instructions of fixed kernels and keep them, or say whether one has grown; needs valgrind";

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let task = arguments.next();
    let rest: Vec<String> = arguments.collect();
    let outcome = match task.as_deref() {
        Some("vectors") => xtask::vectors::run(&rest, &mut std::io::stdout().lock()),
        Some("detect") => xtask::detect::run(&rest, &mut std::io::stdout().lock()),
        Some("hostile") if rest.first().is_some_and(|argument| argument == "--case") => {
            print!("{}", xtask::hostile::case(&rest[1..]));
            return ExitCode::SUCCESS;
        }
        Some("hostile") => xtask::hostile::run(&rest, &mut std::io::stdout().lock()),
        Some("linear") if rest.first().is_some_and(|argument| argument == "--case") => {
            print!("{}", xtask::linear::case(&rest[1..]));
            return ExitCode::SUCCESS;
        }
        Some("linear") => xtask::linear::run(&rest, &mut std::io::stdout().lock()),
        Some("truth") => xtask::truth::run(&rest, &mut std::io::stdout().lock()),
        Some("compile") => match xtask::compile::run(&rest, &mut std::io::stdout().lock()) {
            Ok(()) => return ExitCode::SUCCESS,
            Err(message) => Err(message),
        },
        Some("equal") => xtask::equal::run(&rest, &mut std::io::stdout().lock()),
        Some("samples") => xtask::samples::run(&rest, &mut std::io::stdout().lock()),
        Some("verdicts") => xtask::verdicts::run(&rest, &mut std::io::stdout().lock()),
        Some("fuzz") => xtask::fuzz::run(&rest, &mut std::io::stdout()),
        Some("codegen") => match xtask::generated::run(rest.iter().any(|argument| argument == "--check")) {
            Ok(()) => return ExitCode::SUCCESS,
            Err(message) => Err(message),
        },
        Some("dist") => match xtask::dist::run(&rest, &mut std::io::stdout().lock()) {
            Ok(()) => return ExitCode::SUCCESS,
            Err(message) => Err(message),
        },
        Some("bench") => {
            let check = rest.iter().any(|argument| argument == "--check");
            match xtask::bench::run(check, &mut std::io::stdout().lock()) {
                Ok(()) => return ExitCode::SUCCESS,
                Err(message) => Err(message),
            }
        }
        Some("clauses") => match xtask::clauses::run(rest.iter().any(|argument| argument == "--check")) {
            Ok(()) => return ExitCode::SUCCESS,
            Err(message) => Err(message),
        },
        Some("help" | "--help" | "-h") => {
            println!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        _ => Err(USAGE.to_owned()),
    };
    match outcome {
        Ok(tally) => {
            println!("{tally}");
            if tally.failed == 0 && tally.passed > 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(message) => {
            eprintln!("{message}");
            ExitCode::from(2)
        }
    }
}
