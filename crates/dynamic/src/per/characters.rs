//! Known-multiplier character strings (X.691 §30.5): characters of a fixed number of bits.

use tercet_plan::per::{Alphabet, NOT_PERMITTED};
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
    if alphabet.octets == 1 && (1..=8).contains(&width) {
        return read_octets(reader, alphabet, count, made);
    }
    for _ in 0..count {
        let start = *reader;
        let code = reader.bits(width)? as u32;
        let Some(character) = alphabet.character(code) else {
            return Err(start.error(ErrorKind::CharacterInvalid));
        };
        match alphabet.octets {
            1 => made.push(character as u8),
            2 => made.extend_from_slice(&(character as u16).to_be_bytes()),
            _ => made.extend_from_slice(&character.to_be_bytes()),
        }
    }
    Ok(())
}

/// Characters of one octet, appended.
fn read_octets(
    reader: &mut BitReader<'_>,
    alphabet: &Alphabet,
    count: usize,
    made: &mut Vec<u8>,
) -> Result<(), Error> {
    let from = made.len();
    made.resize(from + count, 0);
    fill(reader, alphabet, &mut made[from..])
}

/// Characters of one octet: eight at once as far as that goes, told by one table whether they are permitted.
pub(super) fn fill(reader: &mut BitReader<'_>, alphabet: &Alphabet, out: &mut [u8]) -> Result<(), Error> {
    let width = u32::from(alphabet.bits);
    for part in out.chunks_mut(8) {
        let bits = part.len() as u32 * width;
        let mut word = reader.bits(bits)? << (64 - bits);
        let mut all = 0;
        for octet in part {
            let code = word >> (64 - width);
            word <<= width;
            let character = alphabet.table.get(code as usize).copied().unwrap_or(NOT_PERMITTED);
            all |= character;
            *octet = character as u8;
        }
        if all & NOT_PERMITTED != 0 {
            return Err(invalid(reader, bits));
        }
    }
    Ok(())
}

#[cold]
#[inline(never)]
fn invalid(reader: &BitReader<'_>, bits: u32) -> Error {
    Error::at_bit(ErrorKind::CharacterInvalid, reader.position() as u64 - u64::from(bits))
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
    let (mut word, mut used) = (0_u64, 0);
    for character in characters {
        let code = u64::from(alphabet.code(character)?);
        if used + width > 64 {
            writer.bits(word, used);
            (word, used) = (0, 0);
        }
        word = word << width | code;
        used += width;
    }
    writer.bits(word, used);
    Some(())
}
