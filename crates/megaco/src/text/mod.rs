//! The text encoding (H.248.1 annex B): one reader for long and short tokens in any mix, two printers.

mod print;
mod read;
pub(crate) mod scan;
mod token;

pub use print::{Layout, write_message, write_mid};
pub(crate) use print::{join_parts, write_part};
pub use read::{read_message, read_mid, read_opening, read_version_and_mid};
pub use token::token_names;
