//! The octets of an encode, from their end to their start.
//!
//! What is written often stands in the input just so: the components of a record that was decoded and is written again.
//! Such octets are not copied one element at a time. The front of the output is a *run*, a range of the input that grows
//! towards its start as long as the next octets to be written are those before it, and is copied when it ends.

/// A buffer that grows at its start.
#[derive(Debug)]
pub(super) struct Output<'a> {
    /// The octets are at the end; those before `start` are free.
    buf: Vec<u8>,
    start: usize,
    input: &'a [u8],
    /// The run: octets of the input that stand before those in `buf`.
    low: usize,
    high: usize,
}

impl<'a> Output<'a> {
    /// Writes into the room of a buffer.
    pub(super) fn new(buf: Vec<u8>, input: &'a [u8]) -> Self {
        Self { start: buf.len(), buf, input, low: 0, high: 0 }
    }

    /// Gives the room back.
    pub(super) fn into_room(self) -> Vec<u8> {
        self.buf
    }

    /// Octets written.
    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        self.buf.len() - self.start + (self.high - self.low)
    }

    /// What was written since the output had a length.
    pub(super) fn since(&mut self, from: usize) -> &[u8] {
        self.flush();
        let length = self.len() - from;
        self.buf.get(self.start..self.start + length).unwrap_or_default()
    }

    /// Forgets what was written since the output had a length.
    pub(super) fn rewind(&mut self, from: usize) {
        self.flush();
        self.start = self.buf.len() - from.min(self.len());
    }

    /// Puts octets before what is written.
    #[inline]
    pub(super) fn push(&mut self, octets: &[u8]) {
        self.flush();
        self.put(octets);
    }

    /// Puts a range of the input before what is written; one that is outside the input is empty.
    #[inline(always)]
    pub(super) fn push_input(&mut self, at: usize, length: usize) {
        if at + length != self.low || self.low == self.high {
            self.begin_run(at, length);
        } else {
            self.low = at;
        }
    }

    fn begin_run(&mut self, at: usize, length: usize) {
        self.flush();
        if at + length <= self.input.len() {
            (self.low, self.high) = (at, at + length);
        }
    }

    /// Ends the run.
    #[inline(always)]
    fn flush(&mut self) {
        if self.low != self.high {
            self.end_run();
        }
    }

    #[inline(never)]
    fn end_run(&mut self) {
        let octets = self.input.get(self.low..self.high).unwrap_or_default();
        (self.low, self.high) = (0, 0);
        self.put(octets);
    }

    #[inline(always)]
    fn put(&mut self, octets: &[u8]) {
        if self.start < octets.len() {
            self.grow(octets.len());
        }
        let start = self.start.saturating_sub(octets.len());
        if let Some(room) = self.buf.get_mut(start..self.start) {
            room.copy_from_slice(octets);
            self.start = start;
        }
    }

    /// Makes room for `octets` more at least.
    #[cold]
    #[inline(never)]
    fn grow(&mut self, octets: usize) {
        let used = self.buf.len() - self.start;
        let room = used.max(octets).max(256);
        let mut grown = Vec::with_capacity(used + room);
        grown.resize(room, 0);
        grown.extend_from_slice(self.buf.get(self.start..).unwrap_or_default());
        self.buf = grown;
        self.start = room;
    }

    /// Puts the last `size` octets of a word before what is written.
    #[inline(always)]
    fn push_word(&mut self, word: u64, size: usize) {
        if self.low != self.high {
            if self.stands_before(word, size) {
                self.low -= size;
                return;
            }
            self.end_run();
        }
        if self.start < 8 {
            self.grow(8);
        }
        if let Some(room) = self.buf.get_mut(self.start - 8..self.start) {
            room.copy_from_slice(&word.to_be_bytes());
            self.start -= size;
        }
    }

    /// Whether the octets before the run are the last `size` of a word, which has no others; `size` is 1 to 8.
    #[inline(always)]
    fn stands_before(&self, word: u64, size: usize) -> bool {
        let before = self.input.get(..self.low).unwrap_or_default();
        match before.last_chunk::<8>() {
            Some(octets) => u64::from_be_bytes(*octets) & (u64::MAX >> (64 - 8 * size)) == word,
            None => word.to_be_bytes().get(8 - size..).is_some_and(|octets| before.ends_with(octets)),
        }
    }

    /// Puts a header before what is written: identifier octets as [`identifier`](tercet_plan::ber::identifier) makes them, and the definite length in
    /// the fewest octets (X.690 10.1).
    #[inline(always)]
    pub(super) fn push_header(&mut self, identifier: u64, length: usize) {
        let size = octets(identifier);
        if length < 0x80 && size < 8 {
            self.push_word(identifier << 8 | length as u64, size + 1);
        } else {
            self.push_long_header(identifier, length);
        }
    }

    #[inline(never)]
    fn push_long_header(&mut self, identifier: u64, length: usize) {
        let count = octets(length as u64);
        if length < 0x80 {
            self.push_word(length as u64, 1);
        } else {
            self.push_word(length as u64, count);
            self.push_word(0x80 | count as u64, 1);
        }
        self.push_identifier(identifier);
    }

    /// Puts identifier octets before what is written.
    pub(super) fn push_identifier(&mut self, identifier: u64) {
        self.push_word(identifier, octets(identifier));
    }

    /// Puts a number before what is written, in the fewest octets of two's complement (8.3.2).
    pub(super) fn push_integer(&mut self, number: i64) {
        let bits = 65 - if number < 0 { (!number).leading_zeros() } else { number.leading_zeros() };
        let size = bits.div_ceil(8) as usize;
        self.push_word(number.cast_unsigned() & (u64::MAX >> (64 - 8 * size)), size);
    }
}

/// The number of octets of a word without zeros at its front; at least one.
#[inline(always)]
fn octets(word: u64) -> usize {
    8 - ((word | 1).leading_zeros() / 8) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use tercet_plan::ber::identifier;

    #[test]
    fn identifiers_and_lengths() {
        let mut out = Output::new(Vec::new(), &[]);
        out.push_header(identifier(2 << 30 | 31, false), 0x1234);
        out.push_header(identifier(1 << 30 | 0x1FFF_FFFF, true), 0x80);
        out.push_header(identifier(16, true), 0x7F);
        let expect =
            [0x30, 0x7F, 0x7F, 0x81, 0xFF, 0xFF, 0xFF, 0x7F, 0x81, 0x80, 0x9F, 0x1F, 0x82, 0x12, 0x34];
        assert_eq!(out.since(0), expect);
    }

    #[test]
    fn integers() {
        for (number, expect) in [
            (0, &[0][..]),
            (127, &[0x7F]),
            (128, &[0, 0x80]),
            (-128, &[0x80]),
            (-129, &[0xFF, 0x7F]),
            (i64::MAX, &[0x7F, 255, 255, 255, 255, 255, 255, 255]),
            (i64::MIN, &[0x80, 0, 0, 0, 0, 0, 0, 0]),
        ] {
            let mut out = Output::new(Vec::new(), &[]);
            out.push_integer(number);
            assert_eq!(out.since(0), expect);
        }
    }

    #[test]
    fn runs_are_what_would_have_been_written() {
        let input = [0x30, 0x05, 0x02, 0x01, 0x07, 0x81, 0x00, 0x04, 0x00];
        let mut out = Output::new(vec![1; 300], &input);
        out.push_input(7, 0);
        out.push_header(0x04, 0);
        out.push_input(4, 1);
        out.push_header(0x02, 1);
        assert_eq!(out.len(), 5);
        out.push_header(0x30, 5);
        assert_eq!(out.since(0), [0x30, 5, 2, 1, 7, 4, 0]);
        out.rewind(2);
        out.push_input(4, 1);
        out.push_header(0x02, 1);
        out.push_header(0x30, 5);
        assert_eq!(out.since(2), [0x30, 5, 2, 1, 7]);
        out.push_input(8, 5);
        assert_eq!(out.len(), 7);
    }
}
