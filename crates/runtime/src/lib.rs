//! Primitives of the ASN.1 encoding rules: what generated code and the plan engine both call.
//!
//! The crate is `no_std` with `alloc`, has no `unsafe` and, without its features, no dependencies.  Values borrow from the
//! input, nothing is allocated that the input does not pay for, and every descent is counted.
//! Clause numbers are those of the 02/2021 editions of X.680, X.690, X.691 and X.696.
//!
//! * [`ber`]: BER, CER and DER (X.690): a [`ber::Reader`] that walks headers, `decode_*` functions for
//!   contents octets, a [`ber::Writer`] that runs backwards.
//! * [`per`]: the bits of PER (X.691): [`per::BitReader`], [`per::BitWriter`], length determinants.
//! * [`oer`]: the octets of OER (X.696): an [`oer::Reader`] and an [`oer::Writer`] that runs backwards.
//! * [`codec`]: what generated code is made of: traits for users, values with their constraints for the codecs.
//! * [`types`]: the values that need more than a Rust primitive: [`types::Oid`], [`types::BitStr`],
//!   [`types::Real`], the time types.
//! * [`text`]: the character string types and their conversion to and from UTF-8.
//! * [`dump`]: a walk over encodings without a schema.
//!
//! The feature `serde` gives generated types `Serialize` and `Deserialize` if they were printed with them (`codec::jer`);
//! `arena` is memory that decoded values share ([`Arena`]), for those printed with `memory = "arena"`;
//! `decimal` is INTEGERs of any size as digits (`types::decimal`).
//!
//! ```
//! use tercet_runtime::ber::{decode_i64, Reader, Rules};
//! let mut reader = Reader::new(&[0x02, 0x01, 0x05], Rules::Der);
//! let header = reader.read_header()?;
//! let at = reader.offset();
//! assert_eq!(decode_i64(reader.contents(&header)?, at, Rules::Der)?, 5);
//! # Ok::<(), tercet_runtime::Error>(())
//! ```
#![no_std]
#![warn(clippy::cast_possible_truncation)]

extern crate alloc;
#[cfg(test)]
extern crate std;

#[cfg(feature = "arena")]
mod arena;
pub mod ber;
pub mod codec;
pub mod dump;
mod error;
mod limits;
pub mod oer;
pub mod per;
mod tag;
pub mod text;
pub mod types;

#[cfg(feature = "arena")]
pub use arena::Arena;
pub use error::{Error, ErrorKind, Result};
pub use limits::Limits;
pub use tag::{Class, Tag};
