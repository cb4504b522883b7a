//! The Erlang external term format of the records, as OTP's `megaco_erl_dist_encoder` exchanges them: plain, shortened by
//! `megaco_compressed`, compressed by zlib, or both.

mod expand;
mod nodes;
mod read;
mod rules;
mod shorten;
mod term;
mod write;

use std::borrow::Cow;
use std::fmt;
use std::io::Read as _;

pub use term::Term;

use crate::model::MegacoMessage;
use crate::value::Value;
use crate::{Error, Result};

/// Octet that a term begins with.
const VERSION: u8 = 131;
/// Tag of a term that is compressed by zlib.
const COMPRESSED: u8 = 80;
/// More than any message, and little enough for any machine.
const LARGEST: usize = 1 << 28;

/// Shortens the terms of messages. OTP lets users bring their own; so do we. Terms are their octets, from 131 on;
/// [`Term`] has them as trees.
pub trait Compressor: fmt::Debug + Sync {
    /// Writes the shortened form of a term.
    ///
    /// # Errors
    /// The octets are no term.
    fn compress(&self, term: &[u8], out: &mut Vec<u8>) -> Result<()>;

    /// Writes a term as it was before it was shortened.
    ///
    /// # Errors
    /// The octets are no term that comes from this compressor.
    fn decompress(&self, term: &[u8], out: &mut Vec<u8>) -> Result<()>;
}

/// Reads a message from a term, compressed by zlib or not.
///
/// # Errors
/// The octets are no term, or the term is no message.
pub fn read_message(octets: &[u8]) -> Result<MegacoMessage<'_>> {
    match octets {
        [VERSION, COMPRESSED, ..] => {
            // The value cannot borrow from what lives only here.
            let plain = inflate(octets)?;
            read::Reader::copying(&plain)?.whole()
        }
        _ => read::Reader::borrowing(octets)?.whole(),
    }
}

/// Reads a message from a term that `megaco_compressed` has shortened, and zlib perhaps after it.
///
/// # Errors
/// The octets are no such term, or the term is no message.
pub fn read_short_message(octets: &[u8]) -> Result<MegacoMessage<'_>> {
    match inflate(octets)? {
        Cow::Borrowed(octets) => expand::read(octets),
        Cow::Owned(plain) => expand::copy(&plain),
    }
}

/// Reads a message from a term that a compressor has shortened, and zlib perhaps after it.
///
/// # Errors
/// The octets are no term of the compressor, or the term is no message.
pub fn read_compressed_message(octets: &[u8], compressor: &dyn Compressor) -> Result<MegacoMessage<'static>> {
    let short = inflate(octets)?;
    let mut plain = Vec::with_capacity(short.len() * 3);
    compressor.decompress(&short, &mut plain)?;
    read::Reader::copying(&plain)?.whole()
}

/// Writes a message as a term.
///
/// # Errors
/// The records of the message's version cannot say it.
pub fn write_message(message: &MegacoMessage<'_>, out: &mut Vec<u8>) -> Result<()> {
    let start = out.len();
    let mut writer = write::Writer::new(out);
    message.write(&mut writer);
    writer.finish().inspect_err(|_| out.truncate(start))
}

/// Writes a message as a term that `megaco_compressed` has shortened.
///
/// # Errors
/// The records of the message's version cannot say it.
pub fn write_short_message(message: &MegacoMessage<'_>, out: &mut Vec<u8>) -> Result<()> {
    shorten::write(message, message.mess.version, out)
}

/// Writes a message as a term that a compressor has shortened.
///
/// # Errors
/// The records of the message's version cannot say it.
pub fn write_compressed_message(
    message: &MegacoMessage<'_>,
    compressor: &dyn Compressor,
    out: &mut Vec<u8>,
) -> Result<()> {
    // As much as most messages have.
    let mut plain = Vec::with_capacity(1 << 10);
    write_message(message, &mut plain)?;
    let start = out.len();
    compressor.compress(&plain, out).inspect_err(|_| out.truncate(start))
}

/// Compresses a term by zlib, unless that makes it longer (as `term_to_binary` with the option `compressed` does).
pub fn deflate(term: &[u8]) -> Vec<u8> {
    let Some((&VERSION, plain)) = term.split_first() else { return term.to_vec() };
    let mut out = vec![VERSION, COMPRESSED];
    out.extend_from_slice(&u32::try_from(plain.len()).unwrap_or(u32::MAX).to_be_bytes());
    let mut encoder = flate2::bufread::ZlibEncoder::new(plain, flate2::Compression::new(6));
    // Reading from memory into memory cannot fail.
    if encoder.read_to_end(&mut out).is_err() || out.len() >= term.len() {
        return term.to_vec();
    }
    out
}

/// The plain form of a term; the term itself if it is not compressed by zlib.
///
/// # Errors
/// What is compressed is damaged, or not as long as the term says.
pub fn inflate(term: &[u8]) -> Result<Cow<'_, [u8]>> {
    let Some([VERSION, COMPRESSED, a, b, c, d]) = term.first_chunk::<6>() else {
        return Ok(Cow::Borrowed(term));
    };
    let length = u32::from_be_bytes([*a, *b, *c, *d]) as usize;
    if length > LARGEST {
        return Err(Error::new(2, "a term of less than 256 MiB"));
    }
    let mut plain = vec![VERSION];
    let mut decoder = flate2::bufread::ZlibDecoder::new(&term[6..]).take(length as u64 + 1);
    match decoder.read_to_end(&mut plain) {
        Ok(read) if read == length => Ok(Cow::Owned(plain)),
        _ => Err(Error::new(6, "compressed octets of the length that the term says")),
    }
}
