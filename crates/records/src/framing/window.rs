//! A window that slides over an input: some octets from the position on, more when asked for.

use std::io::{ErrorKind, Read, Result};

/// Room that a window begins with. Framings that are tried on the first octets of an input need no more.
const FIRST: usize = 1 << 16;
/// Room that it has once so much has come, little enough to stay in a cache; more only for what is longer.
const USUAL: usize = 1 << 18;

#[derive(Debug)]
pub(super) struct Window<R> {
    input: R,
    octets: Vec<u8>,
    start: usize,
    end: usize,
    /// Absolute offset of `octets[start]`.
    offset: u64,
    ended: bool,
}

impl<R: Read> Window<R> {
    pub(super) fn new(input: R) -> Self {
        Self { input, octets: Vec::new(), start: 0, end: 0, offset: 0, ended: false }
    }

    /// Absolute offset of the position.
    #[inline]
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    /// Says where the input begins.
    pub(super) fn begins_at(&mut self, offset: u64) {
        self.offset = offset;
    }

    /// What is there from the position on.
    #[inline]
    pub(super) fn octets(&self) -> &[u8] {
        &self.octets[self.start..self.end]
    }

    /// Whether nothing follows on [`Window::octets`].
    pub(super) fn ended(&self) -> bool {
        self.ended
    }

    /// The input.
    pub(super) fn input(&self) -> &R {
        &self.input
    }

    /// The input.
    pub(super) fn input_mut(&mut self) -> &mut R {
        &mut self.input
    }

    /// Octets of memory held.
    pub(super) fn memory(&self) -> usize {
        self.octets.capacity()
    }

    /// Moves the position.
    #[inline]
    pub(super) fn consume(&mut self, count: usize) {
        debug_assert!(count <= self.end - self.start);
        self.start += count;
        self.offset += count as u64;
    }

    /// Puts back octets that were consumed last.
    pub(super) fn prepend(&mut self, octets: &[u8]) {
        match self.start.checked_sub(octets.len()) {
            Some(start) => self.start = start,
            None => {
                let mut all = octets.to_vec();
                all.extend_from_slice(self.octets());
                (self.start, self.end) = (0, all.len());
                self.octets = all;
            }
        }
        self.offset -= octets.len() as u64;
    }

    /// Reads until `count` octets are there; tells whether they are.
    #[inline]
    pub(super) fn ensure(&mut self, count: usize) -> Result<bool> {
        if self.end - self.start >= count { Ok(true) } else { self.fill(count) }
    }

    #[cold]
    fn fill(&mut self, count: usize) -> Result<bool> {
        while self.end - self.start < count {
            if self.ended {
                return Ok(false);
            }
            self.make_room();
            match self.input.read(&mut self.octets[self.end..]) {
                Ok(0) => self.ended = true,
                Ok(n) => self.end += n,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    /// Makes room for a quarter of the memory, which at most doubles, and only once it is half full of octets that came
    /// or was still smaller than usual.
    fn make_room(&mut self) {
        let size = self.octets.len();
        if size - self.end > size / 4 {
            return;
        }
        let live = self.end - self.start;
        self.octets.copy_within(self.start..self.end, 0);
        (self.start, self.end) = (0, live);
        let wanted = (2 * size).clamp(FIRST, USUAL.max(2 * live));
        if size > 4 * wanted {
            self.octets.truncate(wanted);
            self.octets.shrink_to_fit();
        } else if size < wanted {
            self.octets.resize(wanted, 0);
        }
    }
}
