//! PER (X.691): bits in and out. What is read and how wide it is, is decided in the plan.

mod length;
mod reader;
mod writer;

pub use length::{FRAGMENT, Length, Units};
pub use reader::{BitReader, Taken};
pub use writer::BitWriter;
