//! OER (X.696): octets in and out. What is read and how wide it is, is decided in the plan.

mod reader;
mod writer;

pub use reader::{Around, Reader};
pub use writer::{Mark, Writer};

#[cfg(test)]
mod tests;
