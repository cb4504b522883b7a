//! Conformance: harnesses over vectors, corpora, made values and damaged inputs, for `cargo conformance` and the tests
//! below `tests/`; and the code that is generated for both.

pub mod captures;
pub mod clauses;
pub mod compile;
pub mod corpora;
pub mod decoded_captures;
pub mod detect;
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
pub mod places;
pub mod same;
pub mod samples;
mod tally;
pub mod text;
pub mod truth;
pub mod vectors;
pub mod verdicts;

pub use tally::Tally;
