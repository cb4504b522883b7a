//! Length determinants and the small numbers of X.691 §11.6 to §11.9.

use super::{BitReader, BitWriter};
use crate::{Error, ErrorKind, Result};

/// A general length determinant (X.691 §11.9.3.5 to §11.9.3.8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Length {
    /// How many units follow.
    pub count: usize,
    /// Whether it is a fragment, so that another length determinant stands behind the units.
    pub more: bool,
}

/// Units in one step of fragmentation (§11.9.3.8).
pub const FRAGMENT: usize = 16 * 1024;

/// Where the units of a string stand, in one row or in fragments with lengths between them.
#[derive(Clone, Copy, Debug)]
pub struct Units<'a> {
    /// A reader at the first of them.
    pub first: BitReader<'a>,
    /// How many stand there.
    pub length: Length,
    /// The octets of each in the contents that are made of them.
    pub octets: usize,
    /// Its bits.
    pub bits: usize,
}

impl<'a> Units<'a> {
    /// Octets.
    #[inline]
    #[must_use]
    pub const fn octets(first: BitReader<'a>, length: Length) -> Self {
        Self { first, length, octets: 1, bits: 8 }
    }

    /// A fault at an octet of the contents, where that is in the input.
    #[cold]
    #[inline(never)]
    #[must_use]
    pub fn fault(self, aligned: bool, fault: &Error) -> Error {
        let Self { first: mut reader, mut length, octets, bits } = self;
        let mut unit = usize::try_from(fault.at()).unwrap_or(usize::MAX) / octets.max(1);
        while length.more && unit >= length.count {
            let behind = reader.skip(length.count * bits).and_then(|()| reader.length(aligned));
            let Ok(behind) = behind else { break };
            unit -= length.count;
            length = behind;
        }
        Error::at_bit(fault.kind(), (reader.position() + unit * bits) as u64)
    }
}

impl BitReader<'_> {
    /// Reads a general length determinant: one octet below 128, two below 16K, else a number of 16K blocks.
    ///
    /// # Errors
    /// [`ErrorKind::Incomplete`]; [`ErrorKind::FragmentCount`] for a block count that is not 1 to 4.
    pub fn length(&mut self, aligned: bool) -> Result<Length> {
        if aligned {
            self.align();
        }
        let first = self.peek_bits(8)?;
        #[allow(clippy::cast_possible_truncation)] // at most 16 bits
        if first < 0x80 {
            self.skip(8)?;
            Ok(Length { count: first as usize, more: false })
        } else if first < 0xc0 {
            Ok(Length { count: (self.bits(16)? & 0x3fff) as usize, more: false })
        } else if matches!(first & 0x3f, 1..=4) {
            self.skip(8)?;
            Ok(Length { count: (first & 0x3f) as usize * FRAGMENT, more: true })
        } else {
            Err(self.error(ErrorKind::FragmentCount))
        }
    }

    /// Reads a normally small non-negative whole number (§11.6).
    ///
    /// # Errors
    /// [`ErrorKind::Incomplete`]; [`ErrorKind::LimitExceeded`] beyond 64 bits.
    pub fn small_number(&mut self, aligned: bool) -> Result<u64> {
        if !self.bit()? {
            return self.bits(6);
        }
        let length = self.length(aligned)?;
        if length.more || length.count > 8 {
            return Err(self.error(ErrorKind::LimitExceeded));
        }
        #[allow(clippy::cast_possible_truncation)] // at most 64
        self.bits(length.count as u32 * 8)
    }

    /// Reads a normally small length (§11.9.3.4): 1 to 64 in seven bits, else general.
    ///
    /// # Errors
    /// As [`BitReader::length`]; [`ErrorKind::FragmentCount`] when it is fragmented.
    pub fn small_length(&mut self, aligned: bool) -> Result<usize> {
        if !self.bit()? {
            #[allow(clippy::cast_possible_truncation)] // six bits
            return Ok(self.bits(6)? as usize + 1);
        }
        let length = self.length(aligned)?;
        if length.more { Err(self.error(ErrorKind::FragmentCount)) } else { Ok(length.count) }
    }
}

impl BitWriter {
    /// Writes a general length determinant for up to `count` units and says how many of them it covers: all below 16K,
    /// else 1 to 4 blocks of 16K. After a fragment, even one that covers all, another determinant has to follow.
    pub fn length(&mut self, count: usize, aligned: bool) -> Length {
        if aligned {
            self.align();
        }
        match count {
            0..=0x7f => {
                self.bits(count as u64, 8);
                Length { count, more: false }
            }
            0x80..FRAGMENT => {
                self.bits(0x8000 | count as u64, 16);
                Length { count, more: false }
            }
            _ => {
                let blocks = (count / FRAGMENT).min(4);
                self.bits(0xc0 | blocks as u64, 8);
                Length { count: blocks * FRAGMENT, more: true }
            }
        }
    }

    /// Writes a normally small non-negative whole number (§11.6).
    pub fn small_number(&mut self, number: u64, aligned: bool) {
        if number < 64 {
            self.bits(number, 7);
        } else {
            self.bit(true);
            let octets = (u64::BITS - number.leading_zeros()).div_ceil(8);
            self.length(octets as usize, aligned);
            self.bits(number, octets * 8);
        }
    }

    /// Writes a normally small length (§11.9.3.4), from 1 to below 16K.
    pub fn small_length(&mut self, count: usize, aligned: bool) {
        if (1..=64).contains(&count) {
            self.bits(count as u64 - 1, 7);
        } else {
            self.bit(true);
            self.length(count, aligned);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_at_their_boundaries() {
        for (count, octets, more) in [
            (0, &[0u8][..], false),
            (127, &[0x7f], false),
            (128, &[0x80, 0x80], false),
            (16383, &[0xbf, 0xff], false),
            (16384, &[0xc1], true),
            (65535, &[0xc3], true),
            (65536, &[0xc4], true),
            (1 << 20, &[0xc4], true),
        ] {
            let mut writer = BitWriter::new();
            let written = writer.length(count, true);
            assert_eq!((writer.as_slice(), written.more), (octets, more));
            let read = BitReader::new(octets).length(true).unwrap();
            assert_eq!(read, written);
        }
        for octet in [0xc0, 0xc5, 0xff] {
            assert_eq!(
                BitReader::new(&[octet, 0]).length(true).unwrap_err().kind(),
                ErrorKind::FragmentCount
            );
        }
    }

    #[test]
    fn a_fault_behind_fragments_is_where_its_octet_stands() {
        for (aligned, octet, bit) in [
            // Two fragments, of 16K and 32K octets, and 5 octets; each behind a length of one octet.
            (true, 0, 8),
            (true, 16_383, 16_384 * 8),
            (true, 16_384, 16_386 * 8),
            (false, 16_385, 16_387 * 8),
            (true, 49_151, 49_153 * 8),
            (false, 49_152, 49_155 * 8),
            (false, 49_156, 49_159 * 8),
        ] {
            let mut input = alloc::vec![0xC1];
            input.resize(1 + 16_384, 0x41);
            input.push(0xC2);
            input.resize(input.len() + 32_768, 0x41);
            input.push(5);
            input.resize(input.len() + 5, 0x41);
            let mut reader = BitReader::new(&input);
            let length = reader.length(aligned).unwrap();
            let fault = Error::new(ErrorKind::OidEmpty, octet);
            let place = Units::octets(reader, length).fault(aligned, &fault);
            assert_eq!((place.kind(), place.at()), (ErrorKind::OidEmpty, bit / 8), "octet {octet}");
        }
    }

    #[test]
    fn small_numbers_and_lengths() {
        for aligned in [false, true] {
            for number in [0, 1, 63, 64, 255, 256, u64::MAX] {
                let mut writer = BitWriter::new();
                writer.small_number(number, aligned);
                assert_eq!(BitReader::new(writer.as_slice()).small_number(aligned).unwrap(), number);
            }
            for count in [1, 64, 65, 200] {
                let mut writer = BitWriter::new();
                writer.small_length(count, aligned);
                assert_eq!(BitReader::new(writer.as_slice()).small_length(aligned).unwrap(), count);
            }
        }
    }
}
