//! Compressed inputs and archives, by their first octets; streams of several members, and what follows on the last one.

use super::compress::{self, Decompressor};
use std::io::{self, BufRead, BufReader, Read};

/// Octets that are looked at to tell a packing.
const LOOKED_AT: usize = 512;
/// KiB that unpacking xz may take: what `xz -9` makes takes 65 MiB, and a header may announce 4 GiB.
const XZ_MEMORY: u32 = 256 << 10;
/// Octets that tell whether another member follows.
const HEAD: usize = 6;

/// How an input is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Packing {
    Zstd,
    Gzip,
    Bzip2,
    Xz,
    Compress,
    Tar,
    Zip,
    /// A kind that is not supported, by its name.
    Other(&'static str),
}

impl Packing {
    /// By the first octets.
    pub(super) fn of(begin: &[u8]) -> Option<Self> {
        match begin {
            [0x28, 0xB5, 0x2F, 0xFD, ..] => Some(Self::Zstd),
            [0x1F, 0x8B, 0x08, ..] => Some(Self::Gzip),
            // The level, and the first octets of a block or of an empty stream: three letters alone are no proof.
            [b'B', b'Z', b'h', b'1'..=b'9', 0x31 | 0x17, 0x41 | 0x72, ..] => Some(Self::Bzip2),
            [0xFD, b'7', b'z', b'X', b'Z', 0, ..] => Some(Self::Xz),
            [0x1F, 0x9D, flags, ..] if flags & 0x60 == 0 && (9..=16).contains(&(flags & 0x1F)) => {
                Some(Self::Compress)
            }
            [b'P', b'K', 3, 4, ..] => Some(Self::Zip),
            // An archive without members, and the first part of one that is split.
            [b'P', b'K', 5, 6, 0, 0, 0, 0, ..] => Some(Self::Zip),
            [b'P', b'K', 7, 8, b'P', b'K', ..] => Some(Self::Other("a part of a split zip archive")),
            [b'7', b'z', 0xBC, 0xAF, 0x27, 0x1C, ..] => Some(Self::Other("a 7-Zip archive")),
            [b'R', b'a', b'r', b'!', 0x1A, 0x07, ..] => Some(Self::Other("a RAR archive")),
            [b'L', b'Z', b'I', b'P', 1, ..] => Some(Self::Other("a file of `lzip`")),
            [0x89, b'L', b'Z', b'O', 0, 0x0D, 0x0A, ..] => Some(Self::Other("a file of `lzop`")),
            // Flags of version 1 and a block size that exists: the magic number alone may begin an OCTET STRING.
            [0x04, 0x22, 0x4D, 0x18, flags, 0x40 | 0x50 | 0x60 | 0x70, ..] if flags & 0xC2 == 0x40 => {
                Some(Self::Other("a file of `lz4`"))
            }
            [b'0', b'7', b'0', b'7', b'0', b'1' | b'2', digits @ ..]
                if digits.len() >= 104 && digits[..104].iter().all(u8::is_ascii_hexdigit) =>
            {
                Some(Self::Other("a cpio archive"))
            }
            [0x1F, 0x1E, ..] if begin.len() > 2 && is_pack(begin) => Some(Self::Other("a file of `pack`")),
            _ if begin.get(257..262) == Some(b"ustar") || is_old_tar(begin) => Some(Self::Tar),
            _ => None,
        }
    }

    /// Its name in messages.
    fn name(self) -> &'static str {
        match self {
            Self::Zstd => "zstd",
            Self::Gzip => "gzip",
            Self::Bzip2 => "bzip2",
            Self::Xz => "xz",
            Self::Compress => "compress",
            Self::Tar => "tar",
            Self::Zip => "zip",
            Self::Other(name) => name,
        }
    }

    /// Whether it packs one stream.
    fn is_stream(self) -> bool {
        matches!(self, Self::Zstd | Self::Gzip | Self::Bzip2 | Self::Xz | Self::Compress)
    }
}

/// The length of the unpacked file, in a size that makes sense, and a depth of the tree.
fn is_pack(begin: &[u8]) -> bool {
    matches!(begin, [_, _, a, b, c, d, depth, ..]
        if u32::from_be_bytes([*a, *b, *c, *d]) < 1 << 28 && (1..=24).contains(depth))
}

/// Whether a header of 512 octets has the sum of an archive that was made before POSIX gave them a magic number.
fn is_old_tar(begin: &[u8]) -> bool {
    let Some(header) = begin.get(..LOOKED_AT) else { return false };
    let sum = header[148..156].trim_ascii();
    let digits = sum.strip_suffix(b"\0").unwrap_or(sum).trim_ascii();
    let Ok(digits) = str::from_utf8(digits) else { return false };
    let Ok(expected) = u32::from_str_radix(digits, 8) else { return false };
    let blanked = |(at, octet): (usize, &u8)| if (148..156).contains(&at) { 32 } else { u32::from(*octet) };
    header[0] != 0 && header.iter().enumerate().map(blanked).sum::<u32>() == expected
}

/// A reader that shows its first octets before they are read.
pub(super) struct Ahead<R> {
    head: Vec<u8>,
    at: usize,
    stream: R,
}

impl<R: BufRead> Ahead<R> {
    pub(super) fn new(stream: R) -> Self {
        Self { head: Vec::new(), at: 0, stream }
    }

    /// The next octets; fewer than asked for at the end.
    pub(super) fn peek(&mut self, count: usize) -> io::Result<&[u8]> {
        self.head.drain(..self.at);
        self.at = 0;
        let missing = count.saturating_sub(self.head.len());
        self.stream.by_ref().take(missing as u64).read_to_end(&mut self.head)?;
        Ok(&self.head)
    }
}

impl<R: BufRead> BufRead for Ahead<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.at < self.head.len() { Ok(&self.head[self.at..]) } else { self.stream.fill_buf() }
    }

    fn consume(&mut self, count: usize) {
        if self.at < self.head.len() { self.at += count } else { self.stream.consume(count) }
    }
}

impl<R: BufRead> Read for Ahead<R> {
    fn read(&mut self, octets: &mut [u8]) -> io::Result<usize> {
        let available = self.fill_buf()?;
        let count = available.len().min(octets.len());
        octets[..count].copy_from_slice(&available[..count]);
        self.consume(count);
        Ok(count)
    }
}

/// A stream of any kind.
pub(super) type Stream<'r> = Ahead<BufReader<Box<dyn Read + 'r>>>;

/// How a stream is packed.
pub(super) fn packing(stream: &mut Stream<'_>) -> io::Result<Option<Packing>> {
    Ok(Packing::of(stream.peek(LOOKED_AT)?))
}

/// The kind of archive that a stream is, if it is one.
pub(super) fn archive(stream: &mut Stream<'_>) -> io::Result<Option<&'static str>> {
    let packing = packing(stream)?;
    Ok(packing.filter(|packing| matches!(packing, Packing::Tar | Packing::Zip)).map(Packing::name))
}

/// Makes a stream of a reader.
pub(super) fn stream<'r>(raw: Box<dyn Read + 'r>) -> Stream<'r> {
    Ahead::new(BufReader::with_capacity(1 << 16, raw))
}

/// Unpacks a stream if it is compressed; archives stay as they are.
pub(super) fn unpacked<'r>(mut stream: Stream<'r>) -> io::Result<Box<dyn Read + 'r>> {
    match packing(&mut stream)? {
        Some(Packing::Compress) => Ok(Box::new(Decompressor::new(stream)?)),
        Some(packing) if packing.is_stream() => {
            let state = State::begin(packing, stream)?;
            Ok(Box::new(Members { packing, state }))
        }
        Some(Packing::Other(name)) => Err(io::Error::new(
            io::ErrorKind::Unsupported,
            format!("this is {name}, which is not supported\nhelp: unpack it first"),
        )),
        _ => Ok(Box::new(stream)),
    }
}

/// Whether an input is compressed or an archive.
pub(super) fn is_packed(begin: &[u8]) -> bool {
    Packing::of(begin).is_some() || begin.starts_with(&compress::MAGIC)
}

/// The unpacked contents of one member after the other.
///
/// Zeros may follow on the last one: tapes and copies by blocks fill their last block up. Anything else is an error.
struct Members<'r> {
    packing: Packing,
    state: State<Stream<'r>>,
}

/// Where the reader of members is.
enum State<R: BufRead> {
    Gzip(Box<flate2::bufread::GzDecoder<R>>),
    Zstd(zstd::Decoder<'static, R>),
    Bzip2(bzip2::bufread::BzDecoder<R>),
    Xz(Box<lzma_rust2::XzReader<R>>),
    /// The last member has ended.
    End,
}

impl<R: BufRead> State<R> {
    fn begin(packing: Packing, stream: R) -> io::Result<Self> {
        Ok(match packing {
            Packing::Gzip => Self::Gzip(Box::new(flate2::bufread::GzDecoder::new(stream))),
            Packing::Zstd => Self::Zstd(zstd::Decoder::with_buffer(stream)?.single_frame()),
            Packing::Bzip2 => Self::Bzip2(bzip2::bufread::BzDecoder::new(stream)),
            Packing::Xz => Self::Xz(Box::new(lzma_rust2::XzReader::new_mem_limit(stream, false, XZ_MEMORY))),
            _ => Self::End,
        })
    }

    fn read(&mut self, octets: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Gzip(member) => member.read(octets),
            Self::Zstd(member) => member.read(octets),
            Self::Bzip2(member) => member.read(octets),
            Self::Xz(member) => member.read(octets),
            Self::End => Ok(0),
        }
    }

    /// What follows on the member, which has been read to its end.
    fn rest(self) -> io::Result<Option<R>> {
        Ok(Some(match self {
            Self::Gzip(member) => member.into_inner(),
            Self::Zstd(mut member) => {
                member.finish_frame()?;
                member.into_inner()
            }
            Self::Bzip2(member) => member.into_inner(),
            Self::Xz(member) => member.into_inner(),
            Self::End => return Ok(None),
        }))
    }
}

impl Members<'_> {
    /// Goes to the next member; whether there is one.
    fn next(&mut self) -> io::Result<bool> {
        let Some(mut stream) = std::mem::replace(&mut self.state, State::End).rest()? else {
            return Ok(false);
        };
        let (mut zeros, name) = (0u64, self.packing.name());
        loop {
            let available = stream.fill_buf()?;
            let count = available.iter().take_while(|octet| **octet == 0).count();
            let ends = count < available.len() || available.is_empty();
            stream.consume(count);
            zeros += count as u64;
            if ends {
                break;
            }
        }
        let head = stream.peek(HEAD)?;
        if head.is_empty() {
            return Ok(false);
        }
        // Frames that decoders skip belong to the stream.
        let skipped = self.packing == Packing::Zstd && matches!(head, [0x50..=0x5F, 0x2A, 0x4D, 0x18, ..]);
        if !skipped && Packing::of(head) != Some(self.packing) {
            let zeros = if zeros == 0 { String::new() } else { format!(", after {zeros} zeros") };
            let first: String = head.iter().map(|octet| format!("{octet:02X}")).collect();
            let text = format!(
                "data that is not {name} follows on the end of the {name} stream{zeros}: {first}…\n\
                 help: what comes before it is whole; cut the file there, or repeat its transfer"
            );
            return Err(io::Error::new(io::ErrorKind::InvalidData, text));
        }
        self.state = State::begin(self.packing, stream)?;
        Ok(true)
    }
}

impl Read for Members<'_> {
    fn read(&mut self, octets: &mut [u8]) -> io::Result<usize> {
        if octets.is_empty() {
            return Ok(0);
        }
        loop {
            let named = |error: io::Error| {
                io::Error::new(error.kind(), format!("damaged {} stream: {error}", self.packing.name()))
            };
            let count = self.state.read(octets).map_err(named)?;
            if count > 0 {
                return Ok(count);
            }
            if !self.next()? {
                return Ok(0);
            }
        }
    }
}
