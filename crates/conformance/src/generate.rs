//! Random specifications and random values of their types, the same for the same seed.
//!
//! A module has a few named types that use all of X.680 that changes an encoding: nested CHOICEs, tags of all classes
//! and sizes in the three tagging environments, OPTIONAL, DEFAULT, extension additions, SET, SEQUENCE OF, recursion by
//! reference to earlier types. Tags are chosen so that the module is legal.

mod random;
mod types;
mod values;

pub use random::Random;
pub use types::{Component, Generated, Type, module};
pub use values::value;
