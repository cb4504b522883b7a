//! Lines and columns as editors have them.

use std::ops::Range;

/// Where the lines of a text begin. Lines end with LF or CR LF, as `\n` is what editors count; columns are in UTF-16 units, as
/// the Language Server Protocol has them.
#[derive(Clone, Debug)]
pub struct Lines {
    starts: Vec<usize>,
}

impl Lines {
    /// Finds the lines of a text.
    pub fn new(text: &str) -> Self {
        let starts = text.match_indices('\n').map(|(at, _)| at + 1);
        Self { starts: std::iter::once(0).chain(starts).collect() }
    }

    /// Returns the line and the column of an offset, both from 0.
    pub fn line_column(&self, text: &str, offset: usize) -> (u32, u32) {
        let offset = offset.min(text.len());
        let line = self.starts.partition_point(|start| *start <= offset).saturating_sub(1);
        let before = text.get(self.starts[line]..offset).unwrap_or_default();
        (line as u32, before.encode_utf16().count() as u32)
    }

    /// Returns the offset of a line and a column, both from 0; at the end of the line or the text if it has no such.
    pub fn offset(&self, text: &str, line: u32, column: u32) -> usize {
        let Some(&start) = self.starts.get(line as usize) else { return text.len() };
        let end = self.starts.get(line as usize + 1).map_or(text.len(), |next| next - 1);
        let line = text.get(start..end).unwrap_or_default();
        let line = line.strip_suffix('\r').unwrap_or(line);
        let mut units = 0;
        for (at, character) in line.char_indices() {
            if units >= column {
                return start + at;
            }
            units += character.len_utf16() as u32;
        }
        start + line.len()
    }

    /// Returns the offsets of a range of lines and columns.
    pub fn range(&self, text: &str, from: (u32, u32), to: (u32, u32)) -> Range<usize> {
        let start = self.offset(text, from.0, from.1);
        start..self.offset(text, to.0, to.1).max(start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_utf_16() {
        let text = "a𝄞b\r\nü c\n";
        let lines = Lines::new(text);
        assert_eq!(lines.line_column(text, text.find('b').unwrap()), (0, 3));
        assert_eq!(lines.line_column(text, text.find('c').unwrap()), (1, 2));
        assert_eq!(lines.offset(text, 0, 3), text.find('b').unwrap());
        assert_eq!(lines.offset(text, 0, 99), text.find('\r').unwrap());
        assert_eq!(lines.offset(text, 1, 2), text.find('c').unwrap());
        assert_eq!(lines.offset(text, 9, 0), text.len());
        for offset in text.char_indices().map(|(at, _)| at).filter(|at| !text[..*at].ends_with('\r')) {
            let (line, column) = lines.line_column(text, offset);
            assert_eq!(lines.offset(text, line, column), offset);
        }
    }
}
