//! The part of a stream that is in memory.

use std::io::{self, Read};

/// Octets that a read asks for at least and at most: what a length field announces is never allocated in advance.
const LEAST: usize = 16 << 10;
const MOST: usize = 256 << 10;

/// A window over a stream: octets from the current position on.
#[derive(Debug)]
pub(super) struct Window<R> {
    input: R,
    buffer: Vec<u8>,
    begin: usize,
    end: usize,
    /// Offset of `begin` in the stream.
    offset: u64,
}

impl<R: Read> Window<R> {
    pub(super) fn new(input: R) -> Self {
        Self { input, buffer: Vec::new(), begin: 0, end: 0, offset: 0 }
    }

    /// Returns the offset of the current position in the stream.
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns the octets in memory.
    pub(super) fn octets(&self) -> &[u8] {
        &self.buffer[self.begin..self.end]
    }

    /// Reads until the window has so many octets; returns whether the stream has them.
    pub(super) fn fill(&mut self, count: usize) -> io::Result<bool> {
        while self.end - self.begin < count {
            if self.begin > 0 {
                self.buffer.copy_within(self.begin..self.end, 0);
                self.end -= self.begin;
                self.begin = 0;
            }
            // Each reading doubles the room, up to the step that is worth a call of the system.
            if self.buffer.len() < self.end + LEAST || self.buffer.len() < MOST {
                self.buffer.resize(self.end + self.buffer.len().clamp(LEAST, MOST), 0);
            }
            match self.input.read(&mut self.buffer[self.end..]) {
                Ok(0) => return Ok(false),
                Ok(read) => self.end += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    /// Moves the current position over octets in memory.
    pub(super) fn consume(&mut self, count: usize) {
        self.begin += count;
        self.offset += count as u64;
    }

    /// Moves the current position over octets that need not be in memory; returns how many the stream had.
    pub(super) fn skip(&mut self, count: u64) -> io::Result<u64> {
        let mut skipped = 0;
        while skipped < count && (self.begin < self.end || self.fill(1)?) {
            let step = (count - skipped).min((self.end - self.begin) as u64);
            self.consume(step as usize);
            skipped += step;
        }
        Ok(skipped)
    }
}
