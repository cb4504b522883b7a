//! BER, CER and DER (X.690 02/2021).
//!
//! Reading is in two layers.  A [`Reader`] steps over identifier and length octets, enters and leaves
//! constructed elements, and hands out contents octets.  The `decode_*` functions take contents octets and
//! the absolute offset at which they start, so that an implicit tag costs nothing.
//!
//! Writing runs backwards: contents, then length, then identifier, so that no length is computed twice.
//! See [`Writer`].

mod header;
mod primitives;
mod reader;
mod short;
mod strings;
#[cfg(test)]
mod tests;
mod typed;
mod walk;
mod writer;

pub use header::{Header, Rules, find_end};
pub use primitives::*;
pub use reader::{Frame, Reader};
pub use strings::{Segments, StringForm};
pub use walk::{Walk, walk};
pub use writer::{Mark, Writer, check_set_of_order};
