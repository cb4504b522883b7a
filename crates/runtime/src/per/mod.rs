//! PER (X.691): bits in and out. What is read and how wide it is, is decided in the plan.

mod length;
mod reader;
mod time;
mod writer;

pub use length::{FRAGMENT, Length, Units};
pub use reader::{BitReader, Taken};
pub use time::{TimePart, TimeReader, TimeStep, TimeWriter, read_time, write_time};
pub use writer::BitWriter;
