//! Checksums, and numbers that peers cannot guess.

/// CRC32c of packets (RFC 9260 6.8, appendix A), one table for each octet of a word.
const TABLES: [[u32; 256]; 8] = tables();

const fn tables() -> [[u32; 256]; 8] {
    let mut tables = [[0; 256]; 8];
    let mut octet = 0;
    while octet < 256 {
        let mut crc = octet as u32;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ 0x82f6_3b78 } else { crc >> 1 };
            bit += 1;
        }
        tables[0][octet] = crc;
        octet += 1;
    }
    let mut table = 1;
    while table < 8 {
        let mut octet = 0;
        while octet < 256 {
            let before = tables[table - 1][octet];
            tables[table][octet] = before >> 8 ^ tables[0][(before & 0xff) as usize];
            octet += 1;
        }
        table += 1;
    }
    tables
}

/// Adds octets to a CRC32c that began with `u32::MAX` and is inverted at the end.
fn crc32c_of(mut crc: u32, octets: &[u8]) -> u32 {
    let mut words = octets.chunks_exact(8);
    for word in words.by_ref() {
        let low = crc ^ u32::from_le_bytes([word[0], word[1], word[2], word[3]]);
        crc = TABLES[7][(low & 0xff) as usize]
            ^ TABLES[6][(low >> 8 & 0xff) as usize]
            ^ TABLES[5][(low >> 16 & 0xff) as usize]
            ^ TABLES[4][(low >> 24) as usize]
            ^ TABLES[3][usize::from(word[4])]
            ^ TABLES[2][usize::from(word[5])]
            ^ TABLES[1][usize::from(word[6])]
            ^ TABLES[0][usize::from(word[7])];
    }
    for &octet in words.remainder() {
        crc = crc >> 8 ^ TABLES[0][(crc as u8 ^ octet) as usize];
    }
    crc
}

/// Returns the checksum of a packet, whose own field counts as zero.
pub(super) fn checksum(packet: &[u8]) -> u32 {
    let (header, rest) = packet.split_at(packet.len().min(8));
    let crc = crc32c_of(u32::MAX, header);
    let crc = crc32c_of(crc, &[0; 4]);
    !crc32c_of(crc, rest.get(4..).unwrap_or_default())
}

/// A secret: keyed hashes sign cookies, and give tags and sequence numbers (SipHash-2-4).
#[derive(Clone, Debug)]
pub(super) struct Secret {
    key: [u64; 2],
    numbers: u64,
}

impl Secret {
    pub(super) const fn new(key: [u64; 2]) -> Self {
        Self { key, numbers: 0 }
    }

    /// The next number. Whoever knows all earlier ones cannot guess it.
    pub(super) fn number(&mut self) -> u32 {
        self.numbers += 1;
        self.hash(&[&self.numbers.to_le_bytes()[..], b"number"].concat()) as u32
    }

    /// The next number but zero.
    pub(super) fn tag(&mut self) -> u32 {
        loop {
            let number = self.number();
            if number != 0 {
                return number;
            }
        }
    }

    /// Signs octets.
    pub(super) fn hash(&self, octets: &[u8]) -> u64 {
        let [low, high] = self.key;
        let mut state = [
            low ^ 0x736f_6d65_7073_6575,
            high ^ 0x646f_7261_6e64_6f6d,
            low ^ 0x6c79_6765_6e65_7261,
            high ^ 0x7465_6462_7974_6573,
        ];
        let mut words = octets.chunks_exact(8);
        let word = |octets: &[u8]| octets.iter().rev().fold(0, |word, &octet| word << 8 | u64::from(octet));
        let mut add = |word: u64| {
            state[3] ^= word;
            round(&mut state);
            round(&mut state);
            state[0] ^= word;
        };
        for octets in words.by_ref() {
            add(word(octets));
        }
        add(word(words.remainder()) | (octets.len() as u64) << 56);
        state[2] ^= 0xff;
        for _ in 0..4 {
            round(&mut state);
        }
        state.iter().fold(0, |hash, word| hash ^ word)
    }
}

fn round(state: &mut [u64; 4]) {
    let [v0, v1, v2, v3] = state;
    *v0 = v0.wrapping_add(*v1);
    *v1 = v1.rotate_left(13) ^ *v0;
    *v0 = v0.rotate_left(32);
    *v2 = v2.wrapping_add(*v3);
    *v3 = v3.rotate_left(16) ^ *v2;
    *v0 = v0.wrapping_add(*v3);
    *v3 = v3.rotate_left(21) ^ *v0;
    *v2 = v2.wrapping_add(*v1);
    *v1 = v1.rotate_left(17) ^ *v2;
    *v2 = v2.rotate_left(32);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 3720 B.4.
    #[test]
    fn checksums_of_the_standard() {
        let ascending: Vec<u8> = (0..32).collect();
        for (octets, expected) in
            [(&[0; 32][..], 0x8a91_36aa), (&[0xff; 32], 0x62a8_ab43), (&ascending, 0x46dd_794e)]
        {
            assert_eq!(!crc32c_of(u32::MAX, octets), expected);
        }
        assert_eq!(!crc32c_of(u32::MAX, b"123456789"), 0xe306_9283);
    }

    #[test]
    fn a_packet_with_its_checksum_has_the_same_checksum() {
        let mut packet: Vec<u8> = (0..61).collect();
        let expected = checksum(&packet);
        packet[8..12].copy_from_slice(&expected.to_le_bytes());
        assert_eq!(checksum(&packet), expected);
        packet[60] ^= 1;
        assert_ne!(checksum(&packet), expected);
        // Too short for a packet.
        _ = checksum(&packet[..9]);
    }

    /// The vectors of the authors of SipHash: the key is 00 01 … 0f, the input 00 01 ….
    #[test]
    fn hashes_of_the_authors() {
        let secret = Secret::new([0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908]);
        let input: Vec<u8> = (0..15).collect();
        assert_eq!(secret.hash(&[]), 0x726f_db47_dd0e_0e31);
        assert_eq!(secret.hash(&input[..8]), 0x93f5_f579_9a93_2462);
        assert_eq!(secret.hash(&input), 0xa129_ca61_49be_45e5);
    }
}
