//! Messages as JSON: a record is an object with the members that are there, a choice an object with one member, a value of
//! an enumeration a string. Octets of strings are the characters U+0000 to U+00FF; those of addresses are hexadecimal.

mod read;
mod write;

use crate::Result;
use crate::model::MegacoMessage;
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
