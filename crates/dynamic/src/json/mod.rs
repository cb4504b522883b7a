//! JSON text: the JSON encoding rules (X.697, 02/2021) with their encoding instructions, and the liberties that data
//! pipelines want.

mod index;
mod instructed;
mod options;
mod read;
mod write;

pub use options::{BitStrings, GeneralStrings, OpenTypes, Options};
pub use read::{Reader, read, read_value};
pub use write::{JsonWriter, write};
