//! Inputs: files that are read by ranges, and bytes in memory.

use crate::captured::Messages;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::Arc;
use tercet_schema::records::inputs::{Block, Contents, contents, is_packed, unpack};

/// Bytes that a compressed input may have when it is unpacked: 16 GiB.
pub const MOST_UNPACKED: u64 = 16 << 30;

/// The note of an input whose bytes are not those of the file.
pub(crate) const UNPACKED: &str = "unpacked";

/// An input whose bytes are read by ranges.
#[derive(Debug)]
pub struct Source {
    name: String,
    data: Data,
    length: u64,
    note: &'static str,
    /// The messages, of a packet capture.
    captured: Option<Messages>,
}

#[derive(Debug)]
enum Data {
    File(File),
    Octets(Vec<u8>),
}

impl Source {
    /// Opens a file. What is compressed is unpacked to a temporary file; text that spells bytes (hexadecimal, base64, PEM, a
    /// hexdump, an array in C) becomes an input for each of its blocks, or for each line of digits unless they are `joined`.
    ///
    /// # Errors
    /// Those of the file, with its name; archives.
    pub fn open(path: &Path, hex: bool, binary: bool, joined: bool) -> io::Result<Vec<Arc<Self>>> {
        let name = path.display().to_string();
        Self::opened(path, &name, hex, binary, joined)
            .map_err(|error| io::Error::new(error.kind(), format!("{name}: {error}")))
    }

    fn opened(path: &Path, name: &str, hex: bool, binary: bool, joined: bool) -> io::Result<Vec<Arc<Self>>> {
        let mut file = File::open(path)?;
        let metadata = file.metadata()?;
        if metadata.is_dir() {
            return Err(io::Error::new(io::ErrorKind::IsADirectory, "is a directory"));
        }
        if metadata.is_file() && !hex && (binary || !is_packed(&mut file)?) {
            return Ok(vec![Arc::new(Self::of_file(name, file, "")?)]);
        }
        file.rewind().or_else(|error| if metadata.is_file() { Err(error) } else { Ok(()) })?;
        if binary {
            return Ok(vec![Arc::new(Self::unpacked(name, &mut unpack(file)?, UNPACKED)?)]);
        }
        Self::read(name, file, hex, joined)
    }

    /// Reads a stream, such as standard input, as [`Source::open`] reads a file.
    ///
    /// # Errors
    /// Those of the stream.
    pub fn read(name: &str, stream: impl Read, hex: bool, joined: bool) -> io::Result<Vec<Arc<Self>>> {
        match contents(unpack(stream)?, hex, joined)? {
            Contents::Octets(mut octets) => Ok(vec![Arc::new(Self::unpacked(name, &mut octets, UNPACKED)?)]),
            Contents::Spelled(form, blocks) => {
                let alone = blocks.len() == 1;
                let of_block = |block: Block| {
                    let name = if alone { name.to_owned() } else { format!("{name}:{}", block.line) };
                    Arc::new(Self::of_octets(name, block.octets, form.name()))
                };
                Ok(blocks.into_iter().map(of_block).collect())
            }
        }
    }

    /// Returns an input of bytes in memory; `note` says where they come from.
    pub fn of_octets(name: String, octets: Vec<u8>, note: &'static str) -> Self {
        Self { name, length: octets.len() as u64, data: Data::Octets(octets), note, captured: None }
    }

    fn of_file(name: &str, file: File, note: &'static str) -> io::Result<Self> {
        let length = file.metadata()?.len();
        Ok(Self { name: name.to_owned(), data: Data::File(file), length, note, captured: None })
    }

    /// Returns an input of the messages of a capture, whose bytes a file has one after the other.
    pub(crate) fn of_messages(name: &str, file: File, messages: Messages) -> io::Result<Self> {
        Ok(Self { captured: Some(messages), ..Self::of_file(name, file, "capture")? })
    }

    /// Returns the messages, of a packet capture.
    pub(crate) fn captured(&self) -> Option<&Messages> {
        self.captured.as_ref()
    }

    /// Copies a stream to a temporary file without a name.
    fn unpacked(name: &str, stream: &mut dyn Read, note: &'static str) -> io::Result<Self> {
        let mut file = tempfile::tempfile()?;
        let count = io::copy(&mut stream.take(MOST_UNPACKED + 1), &mut file)?;
        if count > MOST_UNPACKED {
            let text = format!("more than {MOST_UNPACKED} bytes when unpacked");
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, text));
        }
        file.flush()?;
        Self::of_file(name, file, note)
    }

    /// Returns the name for people.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the form that the bytes were read from; empty if they are those of the file.
    pub fn note(&self) -> &'static str {
        self.note
    }

    /// Returns the number of bytes when the input was opened.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Reads the bytes of a range as far as they are there.
    ///
    /// # Errors
    /// Those of the file.
    pub fn read_at(&self, at: u64, length: usize) -> io::Result<Vec<u8>> {
        let left = self.length.saturating_sub(at);
        let mut octets = vec![0; length.min(usize::try_from(left).unwrap_or(usize::MAX))];
        let mut filled = 0;
        while filled < octets.len() {
            match self.read_some(at + filled as u64, &mut octets[filled..]) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        octets.truncate(filled);
        Ok(octets)
    }

    /// Reads all bytes of a range.
    ///
    /// # Errors
    /// Those of the file; [`io::ErrorKind::UnexpectedEof`] if it has become shorter.
    pub fn read_exact_at(&self, at: u64, length: usize) -> io::Result<Vec<u8>> {
        let octets = self.read_at(at, length)?;
        if octets.len() < length {
            let text = format!(
                "the file has changed: {length} bytes expected at offset {at:#x}, {} found",
                octets.len()
            );
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, text));
        }
        Ok(octets)
    }

    fn read_some(&self, at: u64, buffer: &mut [u8]) -> io::Result<usize> {
        match &self.data {
            Data::Octets(octets) => {
                let from = usize::try_from(at).unwrap_or(usize::MAX).min(octets.len());
                let count = buffer.len().min(octets.len() - from);
                buffer[..count].copy_from_slice(&octets[from..from + count]);
                Ok(count)
            }
            #[cfg(unix)]
            Data::File(file) => std::os::unix::fs::FileExt::read_at(file, buffer, at),
            #[cfg(windows)]
            Data::File(file) => std::os::windows::fs::FileExt::seek_read(file, buffer, at),
        }
    }

    /// Returns a reader over all bytes, with a position of its own.
    pub(crate) fn reader(self: &Arc<Self>) -> Reader {
        Reader { source: Arc::clone(self), at: 0 }
    }
}

/// A reader over the bytes of an input.
#[derive(Debug)]
pub(crate) struct Reader {
    source: Arc<Source>,
    at: u64,
}

impl Read for Reader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.source.length.saturating_sub(self.at);
        let most = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        let count = self.source.read_some(self.at, &mut buffer[..most])?;
        self.at += count as u64;
        Ok(count)
    }
}

impl Seek for Reader {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => self.source.length.checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        self.at =
            at.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "a place before the input"))?;
        Ok(self.at)
    }
}
