//! Codecs of five inputs of the benches, written by hand: what a codec for one specification costs at least in safe Rust.
//!
//! They read the bytes that generated code reads, into the same values, and write them again. They check tags, lengths,
//! order, duplicates and primitive contents, and **do less than the product**: no places of errors, no limits, no
//! indefinite lengths, no components that the inputs do not have, no extensions, no order of SET OF. So a figure of theirs
//! is a lower bound. Bytes that they do not know are refused.

#![forbid(unsafe_code)]

mod ber;
mod bits;
pub mod msc;
pub mod ngap;
pub mod personnel;
pub mod tap;
pub mod x509;

pub use ber::Back;

/// A value of an input, with what reads and writes it.
pub trait Record: Default {
    /// The buffer that values are written into.
    type Out: Default;

    /// Reads a record into this value, whose memory is used again. Returns `None` for what is not such a record.
    fn read(&mut self, octets: &'static [u8]) -> Option<()>;

    /// Checks a record and keeps nothing, or returns `None`: no such codec, or no such record.
    fn check(octets: &'static [u8]) -> Option<()> {
        _ = octets;
        None
    }

    /// Appends the encoding to `out`, by way of a buffer that is used again.
    fn write(&self, by: &mut Self::Out, out: &mut Vec<u8>);
}
