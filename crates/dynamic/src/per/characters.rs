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
    if let Some(table) = alphabet.table.as_deref()
        && width > 0
    {
        let from = made.len();
        made.resize(from + count, 0);
        return fill(reader, table, alphabet.bits, &mut made[from..]);
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

/// As many characters of one octet and `width` bits as there is room for; one look at eight of them tells whether all are
/// permitted. (PersonnelRecord A2, 17 strings of five characters: 193 instructions each where the bits of eight were
/// spread over octets at once.)
#[inline]
pub(super) fn fill(
    reader: &mut BitReader<'_>,
    table: &[u8; 256],
    width: u8,
    out: &mut [u8],
) -> Result<(), Error> {
    let width = u32::from(width);
    let mask = (1_u32 << width).wrapping_sub(1) as u8;
    if out.len() * width as usize > reader.left() {
        reader.skip(out.len() * width as usize)?;
    }
    for eight in out.chunks_mut(8) {
        let bits = eight.len() as u32 * width;
        let (mut word, mut all) = (reader.bits(bits)?.rotate_right(bits), 0);
        for octet in eight.iter_mut() {
            word = word.rotate_left(width);
            *octet = table[usize::from(word as u8 & mask)];
            all |= *octet;
        }
        if all & NOT_PERMITTED != 0 {
            return Err(invalid(reader, eight, width));
        }
    }
    Ok(())
}

/// How many characters of a width are read at once.
const IN_56_BITS: [u8; 16] = [1, 56, 28, 18, 14, 11, 9, 8, 7, 1, 1, 1, 1, 1, 1, 1];

/// As many characters as [`fill`], from the next octet on if `pad` is seven; whether there are so many, and one at least,
/// all of them permitted.
#[inline(always)]
pub(super) fn fill_at(
    reader: &mut BitReader<'_>,
    table: &[u8; 256],
    width: u8,
    pad: u8,
    out: &mut [u8],
) -> bool {
    let width = u32::from(width);
    let mask = (1_u32 << width).wrapping_sub(1) as u8;
    let (mut pad, mut all) = (u32::from(pad), 0);
    for row in out.chunks_mut(usize::from(IN_56_BITS[width as usize & 15])) {
        let bits = row.len() as u32 * width;
        let Some(word) = reader.number(bits, pad, u64::MAX) else { return false };
        let mut word = word.rotate_right(bits);
        for octet in row {
            word = word.rotate_left(width);
            *octet = table[usize::from(word as u8 & mask)];
            all |= *octet;
        }
        pad = 0;
    }
    !out.is_empty() && all & NOT_PERMITTED == 0
}

/// The fault at the first of some characters, read just now, that is not permitted.
#[cold]
#[inline(never)]
fn invalid(reader: &BitReader<'_>, characters: &[u8], width: u32) -> Error {
    let wrong = characters.iter().position(|octet| octet & NOT_PERMITTED != 0).unwrap_or(0);
    let behind = (characters.len() - wrong) * width as usize;
    Error::at_bit(ErrorKind::CharacterInvalid, reader.position().saturating_sub(behind) as u64)
}

/// The characters in X.690 contents octets; an incomplete last one is left out.
pub(super) fn characters(octets: u8, contents: &[u8]) -> impl Iterator<Item = u32> {
    let size = usize::from(octets);
    contents.chunks_exact(size).map(|chunk| chunk.iter().fold(0, |c, octet| c << 8 | u32::from(*octet)))
}

/// Writes characters of one octet, eight at once. `None` when one is not permitted.
#[inline]
pub(super) fn put(writer: &mut BitWriter, codes: &[u8; 256], width: u8, contents: &[u8]) -> Option<()> {
    for eight in contents.chunks(8) {
        let (mut word, mut all) = (0_u64, 0);
        for octet in eight {
            let code = codes[usize::from(*octet)];
            all |= code;
            word = word << width | u64::from(code);
        }
        if all & NOT_PERMITTED != 0 {
            return None;
        }
        writer.bits(word, u32::from(width) * eight.len() as u32);
    }
    Some(())
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
