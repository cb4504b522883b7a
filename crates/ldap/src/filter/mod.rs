//! Search filters: their text (RFC 4515) and their evaluation (RFC 4511 4.5.1.7).
//!
//! The filter itself is the generated type [`Filter`](crate::Filter), so that what was parsed is what is sent.

pub(crate) mod condition;
mod evaluate;
mod parse;
mod print;

pub use evaluate::Evaluation;
pub(crate) use parse::hex;
pub use print::escape;

/// How deep filters may be nested: less than what a message may be.
pub(crate) const DEPTH: usize = 80;

#[cfg(test)]
mod tests;
