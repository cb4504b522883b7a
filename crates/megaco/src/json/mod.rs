//! Messages as JSON: a record is an object with the members that are there, a choice an object with one member, a value of
//! an enumeration a string. Octets of strings are the characters U+0000 to U+00FF; those of addresses are hexadecimal.

mod read;
mod write;

use crate::Result;
use crate::model::{Head, MId, MegacoMessage};
use crate::value::Value;

/// Writes a message as JSON, in one line.
///
/// # Errors
/// The message has more than its version allows.
pub fn write_message(message: &MegacoMessage<'_>, out: &mut Vec<u8>) -> Result<()> {
    let start = out.len();
    let mut writer = write::Writer::new(out);
    message.write(&mut writer);
    writer.finish().inspect_err(|_| out.truncate(start))
}

/// Reads a message from JSON.
///
/// # Errors
/// The text is no JSON, or no message.
pub fn read_message(text: &[u8]) -> Result<MegacoMessage<'static>> {
    let json = read::parse(text)?;
    MegacoMessage::read(&mut read::Reader::new(&json))
}

/// Reads version and sender of a message whose rest may be wrong or missing, so that an error can be sent back. They have
/// to be before what is no JSON.
///
/// # Errors
/// These are wrong themselves.
pub fn read_version_and_mid(text: &[u8]) -> Result<(u8, MId<'static>)> {
    let (json, fault) = read::parse_begin(text)?;
    // What is missing is so because of what is no JSON.
    let head = Head::read(&mut read::Reader::new(&json)).map_err(|error| fault.unwrap_or(error))?;
    Ok((head.0, head.1))
}
