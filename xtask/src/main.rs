//! Runs a task of this repository: `cargo xtask TASK`.
#![expect(clippy::print_stderr, reason = "a command talks to people")]

use std::process::ExitCode;

use clap::{Args, Parser};
use tercet_conformance::{clauses, generated};
use xtask::{bench, dist};

/// Keep what is generated and measured current, and build releases
#[derive(Parser)]
#[command(bin_name = "cargo xtask")]
enum Task {
    /// Write the generated code that is committed
    Codegen(Check),
    /// Write docs/clauses.md: which vectors stand for which clause
    Clauses(Check),
    /// Count the instructions of fixed kernels and keep them; needs valgrind
    Bench(Check),
    /// Build what a release consists of
    Dist(dist::Options),
}

#[derive(Args)]
struct Check {
    /// Write nothing: say whether what is kept is current
    #[arg(long)]
    check: bool,
}

fn main() -> ExitCode {
    let mut out = std::io::stdout().lock();
    let outcome = match Task::parse() {
        Task::Codegen(Check { check }) => generated::run(check),
        Task::Clauses(Check { check }) => clauses::run(check),
        Task::Bench(Check { check }) => bench::run(check, &mut out),
        Task::Dist(options) => dist::run(options, &mut out),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::from(2)
        }
    }
}
