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
        made.resize(from + count.next_multiple_of(8), 0);
        let filled = fill(reader, table, alphabet.bits, count, &mut made[from..]);
        made.truncate(from + count);
        return filled;
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

/// Characters of one octet and `width` bits: eight at once, told by one look whether all are permitted. There is room for
/// eight more times as there are begun eights of them.
#[inline]
pub(super) fn fill(
    reader: &mut BitReader<'_>,
    table: &[u8; 256],
    width: u8,
    count: usize,
    out: &mut [u8],
) -> Result<(), Error> {
    let width = u32::from(width);
    let lanes = Lanes::new(width);
    let mut left = count as u32;
    for eight in out.as_chunks_mut::<8>().0 {
        let these = left.min(8);
        if these == 0 {
            break;
        }
        left -= these;
        let word = reader.bits(these * width)? << ((8 - these) * width);
        let codes = lanes.spread(word).to_be_bytes();
        for (octet, code) in eight.iter_mut().zip(codes) {
            *octet = table[usize::from(code)];
        }
        // What is behind the last is not looked at.
        let bad = u64::from_be_bytes(*eight) & u64::from_be_bytes([NOT_PERMITTED; 8]);
        if bad >> (64 - these * 8) != 0 {
            return Err(invalid(reader, these * width));
        }
    }
    Ok(())
}

/// Eight fields of up to eight bits each, the first the highest, to an octet each: halves, quarters, eighths.
struct Lanes {
    width: u32,
    half: u64,
    quarters: u64,
    eighths: u64,
}

impl Lanes {
    const fn new(width: u32) -> Self {
        Self {
            width,
            half: (1 << (4 * width)) - 1,
            quarters: ((1 << (2 * width)) - 1) * 0x0000_0001_0000_0001,
            eighths: ((1 << width) - 1) * 0x0001_0001_0001_0001,
        }
    }

    #[inline(always)]
    const fn spread(&self, word: u64) -> u64 {
        let word = word & self.half | (word >> (4 * self.width)) << 32;
        let word = word & self.quarters | (word >> (2 * self.width) & self.quarters) << 16;
        word & self.eighths | (word >> self.width & self.eighths) << 8
    }
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

#[cfg(test)]
mod tests {
    use super::Lanes;

    #[test]
    fn fields_are_spread_over_octets() {
        for width in 1..=8 {
            let codes = [0xff, 1, 0, 0x55, 0xaa, 0x80, 7, 0xfe].map(|code: u8| code >> (8 - width));
            let word = codes.iter().fold(0_u64, |word, code| word << width | u64::from(*code));
            assert_eq!(Lanes::new(width).spread(word).to_be_bytes(), codes);
        }
    }
}
