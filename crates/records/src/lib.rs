//! Record files: framing, rejects, streaming conversion.
//!
//! [`RecordReader`] cuts a stream into records without holding more than one of them. [`Balance`] counts every octet.

mod balance;
mod framing;

pub use balance::Balance;
pub use framing::{DEFAULT_RECORD_LIMIT, Framing, Identifiers, Item, Part, Reason, RecordReader};
