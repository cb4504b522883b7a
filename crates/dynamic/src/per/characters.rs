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

/// Characters of one octet, as many at once as fit into 56 bits.
fn read_octets(
    reader: &mut BitReader<'_>,
    alphabet: &Alphabet,
    width: u32,
    count: usize,
    made: &mut Vec<u8>,
) -> Result<(), Error> {
    made.reserve(count);
    let mut left = count;
    while left > 0 {
        let start = *reader;
        let now = (56 / width).min(u32::try_from(left).unwrap_or(u32::MAX));
        let word = reader.bits(now * width)?;
        for place in (0..now).rev() {
            let code = (word >> (place * width)) as u32 & ((1 << width) - 1);
            let Some(character) = alphabet.character(code) else {
                return Err(start.error(ErrorKind::CharacterInvalid));
            };
            made.push(character as u8);
        }
        left -= now as usize;
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
