//! Record framing: cuts a stream of octets into records, filler, headers and what cannot be read.
//!
//! Recognised are plain concatenated elements with filler octets between them, and a record list inside wrappers
//! (`TransferBatch.callEventDetails`) of definite or indefinite length. A [`RecordReader`] holds one record and a few
//! MiB around it, whatever the length of the stream, and allocates nothing from an announced length. Every octet that
//! it reads belongs to exactly one [`Item`].

mod carve;
mod detect;
mod extent;
mod format;
mod given;
mod identifiers;
pub(crate) mod partial;
mod reader;
mod replace;
mod resync;
mod spell;
mod ts32297;
mod window;

pub use carve::{Carvings, FileFraming, Prefix, Used};
pub(crate) use detect::detect_in;
pub use detect::{Decodes, Detected, Score, detect, score};
pub(crate) use extent::{are_elements, are_nested};
pub use format::RecordFormat;
pub use given::GivenFraming;
pub use identifiers::Identifiers;
pub(crate) use reader::Mark;
pub use reader::{DEFAULT_RECORD_LIMIT, Framing, RecordReader};
pub use replace::{Replacement, replace_records};
pub(crate) use spell::CAPTURE;
pub use spell::FRAMINGS;
pub use ts32297::FileHeader;

use std::fmt;
use tercet_runtime::ErrorKind;

/// What a stretch of octets is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// A complete element that has the identifier of a record.
    Record,
    /// The octets that a header or the caller says to be a record in other rules than BER.
    RecordIn(RecordFormat),
    /// Filler octets between records.
    Filler,
    /// Identifier and length octets, or end-of-contents octets, of an element around the records.
    Wrapper,
    /// Octets of the framing itself that are no elements: headers that are passed over, control records.
    Opaque,
    /// A complete element beside the record list and before it.
    Header,
    /// A complete element beside the record list and behind it.
    Trailer,
    /// Octets that are no record.
    Rejected {
        /// Why.
        reason: Reason,
        /// Whether these octets follow on those of the item before: one damaged place in several pieces.
        continued: bool,
    },
}

impl Part {
    /// The encoding rules, if it is a record.
    #[inline]
    pub fn record(self) -> Option<RecordFormat> {
        match self {
            Self::Record => Some(RecordFormat::Ber),
            Self::RecordIn(format) => Some(format),
            _ => None,
        }
    }
}

/// A stretch of octets; the next call of [`RecordReader::next`] gives what follows on it.
#[derive(Clone, Copy, Debug)]
pub struct Item<'a> {
    /// What it is.
    pub part: Part,
    /// Absolute offset of its first octet.
    pub offset: u64,
    /// Number of wrappers around it.
    pub depth: usize,
    /// The octets.
    pub octets: &'a [u8],
}

/// Why octets are not a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The identifier octets are not those of a record.
    Identifier,
    /// The identifier or length octets are against X.690.
    Malformed(ErrorKind),
    /// The element ends behind the element around it.
    BeyondParent,
    /// The input ends inside the element.
    Truncated,
    /// The input ends before the elements around the records do; no octets belong to this.
    WrapperOpen,
    /// The caller could not decode it.
    Undecodable,
    /// The element ends behind the record that a header tells, and another one in other rules follows.
    BeyondRecord,
    /// A record is said to be in rules that do not tell where it ends, and nothing else does.
    NoLength,
    /// A record in other rules than BER stands where a list with records inside is looked for.
    NoList,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Identifier => "no record begins with these bytes",
            Self::Malformed(kind) => kind.message(),
            Self::BeyondParent => "the element ends after the list around it",
            Self::Truncated => "the input ends inside a record",
            Self::WrapperOpen => "the input ends before the list around the records does",
            Self::Undecodable => "the record does not decode",
            Self::BeyondRecord => "the element ends after the record that its header announces",
            Self::NoLength => "records in these rules have no end mark",
            Self::NoList => "lists of records are read in BER only",
        })
    }
}
