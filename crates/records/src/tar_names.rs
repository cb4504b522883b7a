//! Long names in tar archives: the crate that reads archives holds them in memory, so that their size is bounded here.
//!
//! A name that has no room in a header stands in a member of its own before the file: of type `L` or `K` (GNU), or `x` (POSIX.1-2001,
//! pax), whose header announces any size.

use std::io::{self, Read};
use tar::{EntryType, GnuExtSparseHeader, Header, PaxExtensions};

/// Octets of a block: a header, and the unit that contents are padded to.
const BLOCK: usize = 512;
/// Octets that the names of one member may have.
const LIMIT: u64 = 1 << 16;
/// Blocks that the map of a sparse file may have: 1 MiB of them, some 43,000 pieces.
const SPARSE: u32 = 1 << 11;

/// A tar archive whose reading fails at a header that announces too long a name. It takes headers as that crate does, so that both
/// mean the same places.
#[derive(Debug)]
pub(crate) struct BoundedNames<R> {
    archive: R,
    state: State,
    /// The block that is being read.
    block: Vec<u8>,
    /// The pax records of the next member.
    records: Vec<u8>,
    /// Its size, if they tell it.
    size: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// A header comes.
    Header,
    /// A header that goes on comes: the map of a sparse file (GNU); then contents of so many octets; and how many there
    /// have been.
    SparseHeader(u64, u32),
    /// Contents and padding come, of so many octets; if they are pax records, the octets of these.
    Contents(u64, Option<usize>),
    /// Nothing is known of what comes: the archive has ended, or is damaged and will be refused.
    Unknown,
}

impl<R: Read> BoundedNames<R> {
    pub(crate) fn new(archive: R) -> Self {
        Self {
            archive,
            state: State::Header,
            block: Vec::with_capacity(BLOCK),
            records: Vec::new(),
            size: None,
        }
    }

    /// Follows the archive.
    fn follow(&mut self, mut octets: &[u8]) -> io::Result<()> {
        while !octets.is_empty() {
            match self.state {
                State::Unknown => return Ok(()),
                State::Header | State::SparseHeader(..) => {
                    let (now, later) = octets.split_at(octets.len().min(BLOCK - self.block.len()));
                    self.block.extend_from_slice(now);
                    octets = later;
                    if self.block.len() == BLOCK {
                        self.state = self.header()?;
                        self.block.clear();
                    }
                }
                State::Contents(remaining, records) => {
                    let count = usize::try_from(remaining).unwrap_or(usize::MAX).min(octets.len());
                    let (now, later) = octets.split_at(count);
                    octets = later;
                    if records.is_some() {
                        self.records.extend_from_slice(now);
                    }
                    let remaining = remaining - count as u64;
                    self.state = State::Contents(remaining, records);
                    if remaining == 0 {
                        if let Some(length) = records {
                            self.records.truncate(length);
                            self.size = size_of(&self.records);
                            self.records.clear();
                        }
                        self.state = State::Header;
                    }
                }
            }
        }
        Ok(())
    }

    /// What follows on the header that has been read.
    fn header(&mut self) -> io::Result<State> {
        if let State::SparseHeader(contents, count) = self.state {
            let mut map = GnuExtSparseHeader::new();
            map.as_mut_bytes().copy_from_slice(&self.block);
            return match map.is_extended() {
                true if count == SPARSE => Err(refused(&format!("its map has more than {SPARSE} blocks"))),
                true => Ok(State::SparseHeader(contents, count + 1)),
                false => Ok(contents_of(contents, false)),
            };
        }
        if self.block.iter().all(|octet| *octet == 0) {
            return Ok(State::Unknown);
        }
        let header = Header::from_byte_slice(&self.block);
        let (kind, Ok(size)) = (header.entry_type(), header.entry_size()) else { return Ok(State::Unknown) };
        if matches!(kind, EntryType::GNULongName | EntryType::GNULongLink | EntryType::XHeader) {
            if size > LIMIT {
                return Err(refused(&format!("its name has {size} bytes; at most {LIMIT} are read")));
            }
            return Ok(contents_of(size, kind == EntryType::XHeader));
        }
        let told = self.size.take().filter(|_| kind != EntryType::XGlobalHeader);
        let size = told.unwrap_or(size);
        let goes_on = kind.is_gnu_sparse() && header.as_gnu().is_some_and(tar::GnuHeader::is_extended);
        Ok(if goes_on { State::SparseHeader(size, 1) } else { contents_of(size, false) })
    }
}

fn refused(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("a member of the archive is refused: {why}"))
}

impl<R: Read> Read for BoundedNames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.archive.read(buffer)?;
        self.follow(&buffer[..count])?;
        Ok(count)
    }
}

/// Contents of so many octets, with padding.
fn contents_of(size: u64, are_records: bool) -> State {
    match size.checked_next_multiple_of(BLOCK as u64) {
        Some(0) => State::Header,
        Some(padded) => State::Contents(padded, are_records.then_some(size as usize)),
        None => State::Unknown,
    }
}

/// The size that pax records tell.
fn size_of(records: &[u8]) -> Option<u64> {
    for record in PaxExtensions::new(records) {
        let record = record.ok()?;
        if record.key() == Ok("size") {
            return record.value().ok()?.parse().ok();
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(kind: u8, size: &[u8]) -> Vec<u8> {
        let mut block = vec![0; BLOCK];
        block[0] = b'a';
        block[124..124 + size.len()].copy_from_slice(size);
        block[156] = kind;
        block[257..263].copy_from_slice(b"ustar\0");
        block
    }

    fn padded(contents: &[u8]) -> Vec<u8> {
        let mut block = contents.to_vec();
        block.resize(contents.len().next_multiple_of(BLOCK), 0);
        block
    }

    fn read(archive: &[u8], step: usize) -> io::Result<usize> {
        let mut bounded = BoundedNames::new(archive);
        let (mut buffer, mut sum) = (vec![0; step], 0);
        loop {
            match bounded.read(&mut buffer)? {
                0 => return Ok(sum),
                count => sum += count,
            }
        }
    }

    #[test]
    fn long_names_are_bounded_and_contents_are_not_taken_for_headers() {
        let bomb = header(b'L', b"00000200001\0");
        let file = |size: &[u8]| header(b'0', size);
        let pax = |text: &str| {
            [header(b'x', format!("{:011o}", text.len()).as_bytes()), padded(text.as_bytes())].concat()
        };
        let mut sparse = header(b'S', b"00000001000\0");
        sparse[482] = 1;
        sparse[257..265].copy_from_slice(b"ustar  \0");
        let end = vec![0; BLOCK];
        for (archive, is_refused) in [
            (bomb.clone(), true),
            (header(b'K', b"\x80\0\0\x01\0\0\0\0\x40\0\0\0"), true),
            (header(b'x', b"00000200001\0"), true),
            (header(b'L', b"00000200000\0"), false),
            ([file(b"00000000000\0"), bomb.clone()].concat(), true),
            // What is in a file is no header, wherever that ends.
            ([file(b"00000001000\0"), bomb.clone(), file(b"0")].concat(), false),
            ([file(b"00000001001\0"), bomb.clone(), bomb.clone(), file(b"0")].concat(), false),
            ([file(b"00000001000\0"), bomb.clone(), bomb.clone()].concat(), true),
            ([pax("12 size=512\n"), file(b"0"), bomb.clone()].concat(), false),
            ([pax("10 path=a\n12 size=512\n"), file(b"0"), bomb.clone(), bomb.clone()].concat(), true),
            ([sparse.clone(), end.clone(), bomb.clone(), file(b"0")].concat(), false),
            ([sparse, end.clone(), bomb.clone(), bomb.clone()].concat(), true),
            ([pax("12 size=512"), file(b"0"), bomb.clone()].concat(), false),
            // A global header takes the size that was for a file.
            ([pax("12 size=512\n"), header(b'g', b"0"), file(b"0"), bomb.clone()].concat(), true),
            // Behind the end there is nothing.
            ([file(b"0"), end, bomb].concat(), false),
        ] {
            for step in [1, 511, 512, 513, 1 << 16] {
                assert_eq!(read(&archive, step).is_err(), is_refused);
            }
        }
    }
}
