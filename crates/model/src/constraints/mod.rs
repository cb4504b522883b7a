//! Constraints (X.680 §49–51, X.682): their resolving, and what they come to.

mod check;
mod display;
mod effective;
mod evaluate;
mod predefined;
mod resolve;
mod sets;
#[cfg(test)]
mod tests;

pub(crate) use check::check;
pub use effective::{Contents, Effective, IntegerRange, RealRange, SizeRange, Visibility, alphabet_of};
pub use sets::{CharSet, Edge, IntegerSet, RangeSet, SizeSet, Step};
