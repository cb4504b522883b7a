//! Members of zip archives that tell their sizes behind their contents: in data descriptors, as those have that were written
//! to a pipe (APPNOTE 4.3.9, bit 3 of the general purpose flags). Their compressed octets tell where they end.

use flate2::CrcReader;
use flate2::bufread::DeflateDecoder;
use std::io::{self, BufRead, Read};

/// What the header of a member begins with.
const HEADER: [u8; 4] = [b'P', b'K', 3, 4];
/// What a data descriptor may begin with (APPNOTE 4.3.9.3).
const DESCRIPTOR: [u8; 4] = [b'P', b'K', 7, 8];
/// The member is encrypted.
const ENCRYPTED: u16 = 1;
/// A data descriptor follows.
const DESCRIBED: u16 = 8;
const STORED: u16 = 0;
const DEFLATED: u16 = 8;

/// The octets of a header from its begin to its flags.
pub(crate) const BEGIN: usize = 8;

/// Whether a header that begins so is that of a member with a data descriptor.
pub(crate) fn is_described(begin: &[u8]) -> bool {
    matches!(begin, &[a, b, c, d, _, _, low, high, ..]
        if [a, b, c, d] == HEADER && u16::from_le_bytes([low, high]) & DESCRIBED != 0)
}

/// A member with a data descriptor.
pub(crate) struct Member<R> {
    pub(crate) name: String,
    contents: CrcReader<DeflateDecoder<R>>,
}

impl<R: BufRead> Member<R> {
    /// The member whose header begins with these octets, of which the rest follows in a stream.
    pub(crate) fn begin(begin: [u8; BEGIN], mut stream: R) -> io::Result<Self> {
        let mut rest = [0; 22];
        stream.read_exact(&mut rest)?;
        let flags = u16::from_le_bytes([begin[6], begin[7]]);
        let at = |index: usize| u16::from_le_bytes([rest[index], rest[index + 1]]);
        let (method, name, extra) = (at(0), at(18), at(20));
        let mut names = vec![0; usize::from(name) + usize::from(extra)];
        stream.read_exact(&mut names)?;
        let name = String::from_utf8_lossy(&names[..usize::from(name)]).into_owned();
        let unsupported = |what: &str| {
            let text = format!("{name}: {what}, which cannot be read from a stream");
            Err(io::Error::new(io::ErrorKind::Unsupported, text))
        };
        match method {
            _ if flags & ENCRYPTED != 0 => unsupported("the member is encrypted"),
            DEFLATED => Ok(Self { contents: CrcReader::new(DeflateDecoder::new(stream)), name }),
            STORED => unsupported("the member is stored, with its size after its contents"),
            _ => unsupported("the member is compressed by another method than deflate"),
        }
    }

    /// Reads what has not been read, and compares with the descriptor.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        io::copy(&mut self.contents, &mut io::sink())?;
        let sum = self.contents.crc().sum();
        let contents = self.contents.into_inner();
        let sizes = [contents.total_in(), contents.total_out()];
        let mut stream = contents.into_inner();
        let mut word = [0; 4];
        stream.read_exact(&mut word)?;
        if word == DESCRIPTOR {
            stream.read_exact(&mut word)?;
        }
        let mut told = [0; 8];
        stream.read_exact(&mut told)?;
        let [a, b, c, d, e, f, g, h] = told;
        let short = [[a, b, c, d], [e, f, g, h]].map(|size| u64::from(u32::from_le_bytes(size)));
        // Sizes have eight octets each if the member is large, or may have been (APPNOTE 4.3.9.2): what they are tells which.
        let agrees = short == sizes || {
            let compressed = u64::from_le_bytes(told);
            compressed == sizes[0] && {
                stream.read_exact(&mut told)?;
                u64::from_le_bytes(told) == sizes[1]
            }
        };
        if agrees && u32::from_le_bytes(word) == sum {
            return Ok(());
        }
        let text = format!("{}: the contents do not match the data descriptor", self.name);
        Err(io::Error::new(io::ErrorKind::InvalidData, text))
    }
}

impl<R: BufRead> Read for Member<R> {
    fn read(&mut self, octets: &mut [u8]) -> io::Result<usize> {
        self.contents.read(octets)
    }
}
