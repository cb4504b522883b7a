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
        return read_octets(reader, alphabet, width, count, made);
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

/// Characters of one octet: eight at once as far as that goes, told by one table whether they are permitted.
fn read_octets(
    reader: &mut BitReader<'_>,
    alphabet: &Alphabet,
    width: u32,
    count: usize,
    made: &mut Vec<u8>,
) -> Result<(), Error> {
    made.reserve(count);
    let table = &*alphabet.table;
    let mask = (1 << width) - 1;
    let mut left = count;
    while left > 0 {
        let now = left.min(8);
        let start = *reader;
        // As if eight had been read, the missing ones behind.
        let word = reader.bits(now as u32 * width)? << ((8 - now as u32) * width);
        let (mut octets, mut all) = ([0; 8], 0);
        for (place, octet) in octets.iter_mut().take(now).enumerate() {
            let code = word >> ((7 - place as u32) * width) & mask;
            let character = table.get(code as usize).copied().unwrap_or(NOT_PERMITTED);
            all |= character;
            *octet = character as u8;
        }
        if all & NOT_PERMITTED != 0 {
            return Err(start.error(ErrorKind::CharacterInvalid));
        }
        made.extend_from_slice(&octets[..now]);
        left -= now;
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
