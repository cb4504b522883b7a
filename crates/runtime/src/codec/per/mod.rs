//! PER (X.691): a reader and a writer whose methods are the types of the standard, with their constraints as literals.

mod forms;
mod lanes;
mod parts;
mod reader;
mod strings;
mod tables;
mod time;
mod writer;

pub use crate::types::TimeUnit;
pub use forms::{Alphabet, Letters, Range, Size, Whole};
pub use parts::{Additions, Open, addition, same};
pub use reader::Reader;
pub use strings::{bits_of_fixed, fixed_of_bits};
pub use tables::{
    Addition, Bounds, Characters, Choice, Enumerated, Form, Leaf, List, Member, Sequence, Tables, Time,
};
pub use time::{TimeForm, TimeNumber, TimePart, TimeStep};
pub use writer::{OpenMark, Writer};
