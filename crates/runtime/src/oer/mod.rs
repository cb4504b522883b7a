//! OER (X.696): octets in and out. What is read and how wide it is, is decided in the plan.

mod reader;
mod time;
mod writer;

pub use reader::{Around, Reader};
pub use time::{TimeNumber, TimeReader, TimeStep, read_duration, read_point, write_duration, write_point};
pub use writer::{Mark, Writer};

#[cfg(test)]
mod tests;
