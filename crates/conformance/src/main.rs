//! Runs a task of conformance: `cargo conformance TASK`.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command talks to people")]

use std::process::ExitCode;

use clap::Parser;
use peak_alloc::PeakAlloc;
use tercet_conformance::{
    Tally, captures, compile, decoded_captures, detect, equal, fuzz, hostile, linear, literate, samples,
    truth, vectors, verdicts,
};

/// Counts the octets of heap, for `linear`.
#[global_allocator]
static HEAP: PeakAlloc = PeakAlloc;

/// Check that codecs do what standards and corpora say
#[derive(Parser)]
#[command(bin_name = "cargo conformance")]
enum Task {
    /// Run test vectors: decode, compare, encode
    Vectors(vectors::Arguments),
    /// Count how often rules and type are found without being told
    Detect(detect::Arguments),
    /// Look at hostile inputs with the verdict that each needs, every one in a process of its own with bounds
    Hostile(hostile::Arguments),
    /// Compare a record file with what it is known to contain
    Truth(truth::Arguments),
    /// Compare packet captures with the messages that they are known to contain
    TruthCaptures(captures::Arguments),
    /// Decode the messages of packet captures by specifications, and encode them again
    DecodeCaptures(decoded_captures::Arguments),
    /// Measure time and memory of each stage of the compiler, and how they grow with copies of the first specification
    Compile(compile::Arguments),
    /// Make up values of types, write them by all rules and read them again
    Samples(samples::Arguments),
    /// Print, build and run generated code, and compare what it makes of octets, whole and damaged, with the engine
    Equal(equal::Arguments),
    /// Run the vectors by clause of tests/spec, in the engine or in generated code
    Spec(literate::generated::Arguments),
    /// Check what holds for every input of a public entry, over seeds and random damage
    Fuzz(fuzz::Arguments),
    /// Check that reading costs no more than in proportion, by instructions and octets of heap; needs valgrind
    Linear(linear::Arguments),
    /// Write docs/verdicts.md: what is said of the certificates and messages that others collected
    Verdicts(verdicts::Arguments),
    /// Read one hostile input and print the verdict
    #[command(hide = true)]
    HostileCase { words: Vec<String> },
    /// Read one input of a family and print what it takes
    #[command(hide = true)]
    LinearCase { words: Vec<String> },
}

fn main() -> ExitCode {
    match run(&Task::parse()) {
        Ok(None) => ExitCode::SUCCESS,
        Ok(Some(tally)) => {
            println!("{tally}");
            if tally.failed == 0 && tally.passed > 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(message) => {
            eprintln!("{message}");
            ExitCode::from(2)
        }
    }
}

fn run(task: &Task) -> Result<Option<Tally>, String> {
    let mut out = std::io::stdout();
    match task {
        Task::Vectors(options) => vectors::run(options, &mut out.lock()),
        Task::Detect(options) => detect::run(options, &mut out.lock()),
        Task::Hostile(options) => hostile::run(options, &mut out.lock()),
        Task::Truth(options) => truth::run(options, &mut out.lock()),
        Task::TruthCaptures(options) => captures::run(options, &mut out.lock()),
        Task::DecodeCaptures(options) => decoded_captures::run(options, &mut out.lock()),
        Task::Compile(options) => return compile::run(options, &mut out.lock()).map(|()| None),
        Task::Samples(options) => samples::run(options, &mut out.lock()),
        Task::Equal(options) => equal::run(options, &mut out.lock()),
        Task::Spec(options) => literate::generated::run(options, &mut out.lock()),
        Task::Fuzz(options) => fuzz::run(options, &mut out),
        Task::Linear(options) => linear::run(options, &mut out.lock()),
        Task::Verdicts(options) => verdicts::run(options, &mut out.lock()),
        Task::HostileCase { words } => {
            print!("{}", hostile::case(words));
            return Ok(None);
        }
        Task::LinearCase { words } => {
            print!("{}", linear::case(words));
            return Ok(None);
        }
    }
    .map(Some)
}
