//! Offsets in bytes as offsets in units of UTF-16.

/// Counts the units of UTF-16 in front of offsets of a text.
#[derive(Debug)]
pub(crate) struct Units<'t> {
    text: &'t str,
    /// In ASCII each byte is a unit.
    is_ascii: bool,
    /// The offset that was asked for last, in bytes and in units: questions come in order mostly.
    last: (usize, usize),
}

impl<'t> Units<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Self { text, is_ascii: text.is_ascii(), last: (0, 0) }
    }

    /// Returns the units in front of an offset; one inside of a character counts as its start.
    pub(crate) fn before(&mut self, offset: usize) -> usize {
        let offset = offset.min(self.text.len());
        if self.is_ascii {
            return offset;
        }
        let offset = (0..=offset).rev().find(|at| self.text.is_char_boundary(*at)).unwrap_or(0);
        let (from, units) = if self.last.0 <= offset { self.last } else { (0, 0) };
        self.last = (offset, units + self.text[from..offset].encode_utf16().count());
        self.last.1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_have_one_or_two_units() {
        let mut units = Units::new("aü𝄞b");
        let offsets = [0, 1, 2, 3, 7, 8, 99, 1, 5];
        assert_eq!(offsets.map(|offset| units.before(offset)), [0, 1, 1, 2, 4, 5, 5, 1, 2]);
        assert_eq!(Units::new("abc").before(99), 3);
    }
}
