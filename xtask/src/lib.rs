//! Test and benchmark harnesses of this repository, shared by `cargo xtask` and the tests below `xtask/tests`.

pub mod bench;
pub mod clauses;
pub mod compile;
pub mod corpora;
pub mod detect;
pub mod dist;
pub mod engine;
pub mod equal;
mod exceptions;
pub mod fragmentation;
pub mod fuzz;
pub mod generate;
pub mod generated;
pub mod hex;
pub mod hostile;
pub mod linear;
pub mod literate;
pub mod same;
pub mod samples;
mod tally;
pub mod text;
pub mod truth;
pub mod vectors;
pub mod verdicts;

pub use tally::Tally;
