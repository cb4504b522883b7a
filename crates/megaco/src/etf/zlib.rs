//! Terms that are compressed by zlib, as `term_to_binary` with the option `compressed` makes them.
//!
//! To set up a compressor costs many times what a message costs; each thread does it once, and keeps it.

use std::borrow::Cow;
use std::cell::RefCell;

use libdeflater::{CompressionLvl, Compressor, Decompressor, adler32};

use super::VERSION;
use crate::{Error, Result};

/// Tag of a term that is compressed by zlib.
pub(super) const COMPRESSED: u8 = 80;
/// More than any message, and little enough for any machine.
const LARGEST: usize = 1 << 28;
/// One octet of the deflate format stands for at most so many (RFC 1951: 258 for two bits).
const FACTOR: usize = 1032;

thread_local! {
    /// Level 1: messages become 2 to 4 % larger than by level 6, for 0.7 of its instructions.
    static DEFLATE: RefCell<Compressor> =
        RefCell::new(Compressor::new(CompressionLvl::new(1).unwrap_or_default()));
    static INFLATE: RefCell<Decompressor> = RefCell::new(Decompressor::new());
}

/// Compresses a term by zlib, unless that makes it longer (as `term_to_binary` with the option `compressed` does).
pub fn deflate(term: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(term.len());
    deflate_into(term, &mut out);
    out
}

/// The same behind what is in a buffer.
pub(crate) fn deflate_into(term: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    if let Some((&VERSION, plain)) = term.split_first() {
        out.extend_from_slice(&[VERSION, COMPRESSED]);
        out.extend_from_slice(&u32::try_from(plain.len()).unwrap_or(u32::MAX).to_be_bytes());
        let head = out.len();
        // Room for what is shorter than the term.
        out.resize(start + term.len().saturating_sub(1).max(head - start), 0);
        let written = DEFLATE.with_borrow_mut(|deflate| deflate.zlib_compress(plain, &mut out[head..]));
        if let Ok(written) = written {
            return out.truncate(head + written);
        }
        out.truncate(start);
    }
    out.extend_from_slice(term);
}

/// The plain form of a term; the term itself if it is not compressed by zlib.
///
/// # Errors
/// What is compressed is damaged, or not as long as the term says.
pub fn inflate(term: &[u8]) -> Result<Cow<'_, [u8]>> {
    let Some([VERSION, COMPRESSED, a, b, c, d]) = term.first_chunk::<6>() else {
        return Ok(Cow::Borrowed(term));
    };
    let (length, small) = (u32::from_be_bytes([*a, *b, *c, *d]) as usize, &term[6..]);
    if length > LARGEST {
        return Err(Error::new(2, "a term of less than 256 MiB"));
    }
    let fault = || Error::new(6, "compressed bytes of the length that the term announces");
    if length > small.len().saturating_mul(FACTOR) {
        return Err(fault());
    }
    // Octets behind the stream would not end with the sum of what is in it (RFC 1950).
    let Some((_, sum)) = small.split_last_chunk() else { return Err(fault()) };
    let mut plain = vec![0; length + 1];
    plain[0] = VERSION;
    let got = INFLATE.with_borrow_mut(|inflate| inflate.zlib_decompress(small, &mut plain[1..]));
    let is_whole = got == Ok(length) && adler32(&plain[1..]) == u32::from_be_bytes(*sum);
    is_whole.then_some(Cow::Owned(plain)).ok_or_else(fault)
}

/// The first octets of the plain form of a compressed term; whether it is damaged is found when it is read.
pub(crate) fn begin(term: &[u8]) -> [u8; 4] {
    let plain = inflate(term);
    plain.ok().and_then(|plain| plain.first_chunk().copied()).unwrap_or([VERSION, 0, 0, 0])
}
