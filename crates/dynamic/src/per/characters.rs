//! Known-multiplier character strings (X.691 §30.5): characters of a fixed number of bits.

use tercet_plan::per::Alphabet;
use tercet_runtime::per::{BitReader, BitWriter};
use tercet_runtime::{Error, ErrorKind};

/// Appends `count` characters as X.690 contents octets.
pub(super) fn read(
    reader: &mut BitReader<'_>,
    alphabet: &Alphabet,
    count: usize,
    made: &mut Vec<u8>,
) -> Result<(), Error> {
    let width = u32::from(alphabet.bits);
    if width > 0 && count > reader.left() / width as usize {
        // The announced number is not believed before the bits are there.
        reader.skip(count.saturating_mul(width as usize))?;
    }
    for _ in 0..count {
        let start = *reader;
        let code = reader.bits(width)? as u32;
        let Some(character) = alphabet.character(code) else { return Err(start.error(ErrorKind::CharacterInvalid)) };
        match alphabet.octets {
            1 => made.push(character as u8),
            2 => made.extend_from_slice(&(character as u16).to_be_bytes()),
            _ => made.extend_from_slice(&character.to_be_bytes()),
        }
    }
    Ok(())
}

/// The characters in X.690 contents octets; an incomplete last one is left out.
pub(super) fn characters(octets: u8, contents: &[u8]) -> impl Iterator<Item = u32> {
    let size = usize::from(octets);
    contents.chunks_exact(size).map(|chunk| chunk.iter().fold(0, |c, octet| c << 8 | u32::from(*octet)))
}

/// Writes characters. `None` when one is not permitted.
pub(super) fn write(
    writer: &mut BitWriter,
    alphabet: &Alphabet,
    characters: impl Iterator<Item = u32>,
) -> Option<()> {
    let width = u32::from(alphabet.bits);
    for character in characters {
        writer.bits(u64::from(alphabet.code(character)?), width);
    }
    Some(())
}
