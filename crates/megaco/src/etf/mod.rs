//! The Erlang external term format of the records, as OTP's `megaco_erl_dist_encoder` exchanges them: plain, shortened by
//! `megaco_compressed`, compressed by zlib, or both.

mod compressed;
mod read;
mod term;
mod write;

use std::borrow::Cow;
use std::io::Read as _;

pub use compressed::{Compressor, MegacoCompressed};
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

/// Reads a message from a term that a compressor has shortened.
///
/// # Errors
/// The octets are no term, or the term is no message.
pub fn read_compressed_message(octets: &[u8], compressor: &dyn Compressor) -> Result<MegacoMessage<'static>> {
    let plain = inflate(octets)?;
    let term = Term::read(&plain)?;
    let term =
        compressor.decompress(&term).ok_or_else(|| Error::new(0, "a term that the compressor knows"))?;
    let mut full = Vec::with_capacity(plain.len() * 3);
    term.write(&mut full);
    read::Reader::copying(&full)?.whole()
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

/// Writes a message as a term that a compressor has shortened.
///
/// # Errors
/// The records of the message's version cannot say it.
pub fn write_compressed_message(
    message: &MegacoMessage<'_>,
    compressor: &dyn Compressor,
    out: &mut Vec<u8>,
) -> Result<()> {
    let mut plain = Vec::new();
    write_message(message, &mut plain)?;
    let term = Term::read(&plain)?;
    compressor.compress(&term).write(out);
    Ok(())
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
