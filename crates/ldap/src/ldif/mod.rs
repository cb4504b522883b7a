//! LDIF (RFC 2849): content and changes, read and written as streams; what is done to whole files.

mod check;
mod content;
mod diff;
mod read;
mod record;
mod sort;
mod transform;
mod write;

pub use check::{Checker, Problem};
pub use content::Content;
pub use diff::{Differences, difference};
pub use read::{Reader, ReaderOptions};
pub use record::{Change, ModificationKind, Record, RecordModification};
pub use sort::{Part, sorted, split};
pub use transform::{Transform, Transformation};
pub use write::Style;

#[cfg(test)]
mod tests;
