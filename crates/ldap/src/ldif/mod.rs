//! LDIF (RFC 2849): content and changes, read and written as streams.

mod diff;
mod read;
mod record;
mod write;

pub use diff::difference;
pub use read::{Reader, ReaderOptions};
pub use record::{Change, ModificationKind, Record, RecordModification};
pub use write::Style;

#[cfg(test)]
mod tests;
