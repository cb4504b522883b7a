//! OER (X.696): a reader and a writer whose methods are the types of the standard, with their widths as literals.

mod reader;
mod strings;
mod time;
mod writer;

pub use crate::oer::{Mark, TimeNumber, TimeStep};
pub use crate::types::TimeUnit;
pub use reader::{Bitmap, Open, Reader};
pub use writer::Writer;

/// The size of a string is told in front of it; any other number is the only size that there can be.
pub const VARIABLE: usize = usize::MAX;
