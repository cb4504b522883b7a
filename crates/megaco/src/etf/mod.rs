//! The Erlang external term format of the records, as OTP's `megaco_erl_dist_encoder` exchanges them: plain, shortened by
//! `megaco_compressed`, compressed by zlib, or both.

mod expand;
mod nested;
mod nodes;
mod read;
mod rules;
mod shorten;
mod term;
mod write;
mod zlib;

use std::borrow::Cow;
use std::fmt;

pub use term::Term;
pub(crate) use zlib::{begin, deflate_into};
pub use zlib::{deflate, inflate};

use crate::model::{Head, MId, MegacoMessage};
use crate::value::Value;
use crate::{Error, Result};

/// Octet that a term begins with.
const VERSION: u8 = 131;

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
    match inflate(octets)? {
        Cow::Borrowed(octets) => {
            let message = read::Reader::borrowing(octets)?.whole();
            message.or_else(|error| read_nested(octets, error))
        }
        // The value cannot borrow from what lives only here.
        Cow::Owned(plain) => {
            let message = read::Reader::copying(&plain)?.whole();
            message.or_else(|error| read_nested(&plain, error))
        }
    }
}

/// Reads a message whose transactions are terms in binaries, as OTP writes its replies.
#[cold]
fn read_nested(term: &[u8], error: Error) -> Result<MegacoMessage<'static>> {
    match nested::flatten(term) {
        Some(flat) => read::Reader::copying(&flat)?.whole(),
        None => Err(error),
    }
}

/// Reads a message of `megaco_compressed` whose transactions are terms in binaries.
#[cold]
fn read_short_nested(term: &[u8], error: Error) -> Result<MegacoMessage<'static>> {
    match nested::flatten(term) {
        Some(flat) => expand::copy(&flat),
        None => Err(error),
    }
}

/// Reads a message from a term that `megaco_compressed` has shortened, and zlib perhaps after it.
///
/// # Errors
/// The octets are no such term, or the term is no message.
pub fn read_short_message(octets: &[u8]) -> Result<MegacoMessage<'_>> {
    match inflate(octets)? {
        Cow::Borrowed(octets) => expand::read(octets).or_else(|error| read_short_nested(octets, error)),
        Cow::Owned(plain) => expand::copy(&plain).or_else(|error| read_short_nested(&plain, error)),
    }
}

/// Reads version and sender of a message whose rest may be wrong, from a plain term or one of `megaco_compressed`,
/// compressed by zlib or not. The term itself has to be whole if it is shortened or compressed.
///
/// # Errors
/// These are wrong themselves, or the octets are no term.
pub fn read_version_and_mid(octets: &[u8], is_short: bool) -> Result<(u8, MId<'_>)> {
    let head: Head<'_> = match (inflate(octets)?, is_short) {
        (Cow::Borrowed(octets), false) => read::Reader::borrowing(octets)?.begin()?,
        (Cow::Owned(plain), false) => read::Reader::copying(&plain)?.begin()?,
        (Cow::Borrowed(octets), true) => expand::begin(octets)?,
        (Cow::Owned(plain), true) => expand::copy_begin(&plain)?,
    };
    Ok((head.0, head.1))
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
