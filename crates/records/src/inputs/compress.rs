//! Files of the Unix command `compress` (`.Z`): LZW with codes of 9 to 16 bits.
//!
//! Memory is fixed: two tables of 65,536 entries and the longest string that they can hold.

use std::io::{self, BufRead, Read};

/// The first octets of a file.
pub(super) const MAGIC: [u8; 2] = [0x1F, 0x9D];
/// The code that empties the table, in block mode.
const CLEAR: u16 = 256;
/// Bits of the first codes.
const FIRST_BITS: u32 = 9;
/// Bits of the longest codes.
const MOST_BITS: u32 = 16;
/// Codes are written in groups of eight; a change of their width fills the group up.
const GROUP: u32 = 8;

/// A reader of what `compress` has packed.
pub(super) struct Decompressor<R> {
    stream: R,
    most_bits: u32,
    block_mode: bool,
    /// Bits of the next code.
    bits: u32,
    /// Codes read since their width changed last.
    codes: u32,
    /// Bits read and not used yet, the next one lowest.
    buffer: u32,
    buffered: u32,
    prefixes: Vec<u16>,
    suffixes: Vec<u8>,
    /// The number of the next entry.
    next: u32,
    previous: Option<u16>,
    /// The first octet of the string before.
    first: u8,
    /// Octets of the string under way, the next one last.
    pending: Vec<u8>,
}

impl<R: BufRead> Decompressor<R> {
    /// Reads the header.
    pub(super) fn new(mut stream: R) -> io::Result<Self> {
        let mut header = [0; 3];
        stream.read_exact(&mut header)?;
        let most_bits = u32::from(header[2] & 0x1F);
        if header[..2] != MAGIC || header[2] & 0x60 != 0 || !(FIRST_BITS..=MOST_BITS).contains(&most_bits) {
            return Err(invalid("unknown header"));
        }
        let block_mode = header[2] & 0x80 != 0;
        Ok(Self {
            stream,
            most_bits,
            block_mode,
            bits: FIRST_BITS,
            codes: 0,
            buffer: 0,
            buffered: 0,
            prefixes: vec![0; 1 << MOST_BITS],
            suffixes: vec![0; 1 << MOST_BITS],
            next: if block_mode { 257 } else { 256 },
            previous: None,
            first: 0,
            pending: Vec::new(),
        })
    }

    /// Reads so many bits; nothing at the end, where fewer fill the last octet.
    fn take(&mut self, bits: u32) -> io::Result<Option<u32>> {
        while self.buffered < bits {
            let Some(&octet) = self.stream.fill_buf()?.first() else { return Ok(None) };
            self.stream.consume(1);
            self.buffer |= u32::from(octet) << self.buffered;
            self.buffered += 8;
        }
        let code = self.buffer & ((1 << bits) - 1);
        self.buffer >>= bits;
        self.buffered -= bits;
        Ok(Some(code))
    }

    /// Skips what fills the group of codes up, then reads codes of another width.
    fn widen(&mut self, bits: u32) -> io::Result<()> {
        while !self.codes.is_multiple_of(GROUP) {
            self.codes += 1;
            if self.take(self.bits)?.is_none() {
                break;
            }
        }
        (self.bits, self.codes) = (bits, 0);
        Ok(())
    }

    /// Reads a code and puts its string into `pending`; whether there was one.
    fn string(&mut self) -> io::Result<bool> {
        loop {
            if self.next > (1 << self.bits) - 1 && self.bits < self.most_bits {
                self.widen(self.bits + 1)?;
            }
            let Some(code) = self.take(self.bits)? else { return Ok(false) };
            self.codes += 1;
            // Codes have 16 bits at most.
            let code = code as u16;
            let Some(previous) = self.previous else {
                let Ok(octet) = u8::try_from(code) else {
                    return Err(invalid("the first code is not a byte"));
                };
                (self.previous, self.first) = (Some(code), octet);
                self.pending.push(octet);
                return Ok(true);
            };
            if code == CLEAR && self.block_mode {
                // As the original does it: the next code makes an entry that nothing refers to.
                self.next = u32::from(CLEAR);
                self.widen(FIRST_BITS)?;
                continue;
            }
            let mut at = code;
            if u32::from(code) >= self.next {
                if u32::from(code) > self.next {
                    return Err(invalid("a code refers to an entry that does not exist"));
                }
                self.pending.push(self.first);
                at = previous;
            }
            // Entries refer to earlier ones alone, so that this ends.
            while at >= 256 {
                self.pending.push(self.suffixes[usize::from(at)]);
                at = self.prefixes[usize::from(at)];
            }
            self.first = at as u8;
            self.pending.push(self.first);
            if self.next < 1 << self.most_bits {
                self.prefixes[self.next as usize] = previous;
                self.suffixes[self.next as usize] = self.first;
                self.next += 1;
            }
            self.previous = Some(code);
            return Ok(true);
        }
    }
}

impl<R: BufRead> Read for Decompressor<R> {
    fn read(&mut self, octets: &mut [u8]) -> io::Result<usize> {
        let mut count = 0;
        while count < octets.len() {
            match self.pending.pop() {
                Some(octet) => {
                    octets[count] = octet;
                    count += 1;
                }
                None if !self.string()? => break,
                None => {}
            }
        }
        Ok(count)
    }
}

fn invalid(reason: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("damaged file of `compress` (.Z): {reason}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    /// What `compress -b BITS` writes; it empties the table once, when it is full and `clear` is set.
    fn compress(plain: &[u8], most_bits: u32, clear: bool) -> Vec<u8> {
        let mut out = vec![0x1F, 0x9D, 0x80 | most_bits as u8];
        let (mut bits, mut buffer, mut buffered, mut codes) = (FIRST_BITS, 0u64, 0u32, 0u32);
        let mut table: HashMap<(u16, u8), u16> = HashMap::new();
        let mut next = 257u32;
        let mut put = |out: &mut Vec<u8>, code: u16, bits: u32, fill: bool| {
            let mut write = |code: u64| {
                buffer |= code << buffered;
                buffered += bits;
                while buffered >= 8 {
                    out.push(buffer as u8);
                    buffer >>= 8;
                    buffered -= 8;
                }
            };
            write(u64::from(code));
            codes += 1;
            while fill && !codes.is_multiple_of(GROUP) {
                write(0);
                codes += 1;
            }
            codes %= GROUP;
        };
        let Some((&octet, rest)) = plain.split_first() else { return out };
        let mut string = u16::from(octet);
        let mut cleared = !clear;
        for &octet in rest {
            if let Some(&longer) = table.get(&(string, octet)) {
                string = longer;
                continue;
            }
            // The reader is one entry behind, so that it widens one code later.
            let widens = next > (1 << bits) - 1 && bits < most_bits;
            put(&mut out, string, bits, widens);
            if widens {
                bits += 1;
            }
            if next < 1 << most_bits {
                table.insert((string, octet), next as u16);
                next += 1;
            } else if !cleared {
                cleared = true;
                put(&mut out, CLEAR, bits, true);
                (bits, next) = (FIRST_BITS, 257);
                table.clear();
            }
            string = u16::from(octet);
        }
        put(&mut out, string, bits, false);
        // Zeros fill the last octet.
        put(&mut out, 0, 7, false);
        out
    }

    fn read(packed: &[u8]) -> io::Result<Vec<u8>> {
        let mut plain = Vec::new();
        Decompressor::new(packed)?.read_to_end(&mut plain)?;
        Ok(plain)
    }

    #[test]
    fn compressed_files_of_all_widths_are_read() {
        let mut seed = 1u32;
        let mut noise = || {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 24) as u8 & 0x1F
        };
        let noise: Vec<u8> = (0..300_000).map(|_| noise()).collect();
        for plain in [&b""[..], b"a", b"tercettercettercet", &[0; 5000], &noise[..700], &noise] {
            for bits in FIRST_BITS..=MOST_BITS {
                for clear in [false, true] {
                    let packed = compress(plain, bits, clear);
                    assert_eq!(read(&packed).unwrap(), plain, "{bits} bits, {} octets", plain.len());
                }
            }
        }
    }

    #[test]
    fn damaged_files_are_errors_that_name_compress() {
        let unknown = [0x1F, 0x9D, 0x90, 0x41, 0xFE, 0xFF, 0xFF];
        for packed in
            [&[0x1F, 0x9D, 0x88][..], &[0x1F, 0x9D, 0x91], &[0x1F, 0x9D, 0x90, 0xFF, 0xFF], &unknown]
        {
            let error = read(packed).unwrap_err();
            assert!(error.to_string().contains("compress"), "{error}");
        }
        // Whatever stands in it: an answer, and no more than the table can spell.
        for seed in 0..2000u32 {
            let octets =
                (0..64u32).map(|i| (seed.wrapping_mul(2_654_435_761).wrapping_add(i * i * 77) >> 7) as u8);
            let packed: Vec<u8> = [0x1F, 0x9D, 0x90].into_iter().chain(octets).collect();
            if let Ok(plain) = read(&packed) {
                assert!(plain.len() < 64 * 64);
            }
        }
    }
}
