//! Lines and columns as editors have them.

use std::ops::Range;

/// What columns count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Columns {
    /// Units of UTF-16, as the Language Server Protocol has them by default.
    #[default]
    Utf16,
    /// Bytes of UTF-8.
    Utf8,
}

impl Columns {
    /// Returns the number of columns that a text takes.
    pub fn count(self, text: &str) -> usize {
        match self {
            Self::Utf16 => text.encode_utf16().count(),
            Self::Utf8 => text.len(),
        }
    }
}

/// Where the lines of a text begin. Lines end with LF, CR LF or CR, as the Language Server Protocol says.
#[derive(Clone, Debug)]
pub struct Lines {
    starts: Vec<usize>,
    columns: Columns,
}

impl Lines {
    /// Finds the lines of a text, with columns of UTF-16.
    pub fn new(text: &str) -> Self {
        Self::with_columns(text, Columns::Utf16)
    }

    /// Finds the lines of a text.
    pub fn with_columns(text: &str, columns: Columns) -> Self {
        // Most texts have no CR; one character is found faster than two.
        let mut starts = vec![0];
        if text.contains('\r') {
            let octets = text.as_bytes();
            let is_end = |at: &usize| {
                octets[*at] == b'\n' || octets[*at] == b'\r' && octets.get(at + 1) != Some(&b'\n')
            };
            starts.extend((0..octets.len()).filter(is_end).map(|at| at + 1));
        } else {
            starts.extend(text.match_indices('\n').map(|(at, _)| at + 1));
        }
        Self { starts, columns }
    }

    /// Returns the line and the column of an offset, both from 0.
    pub fn line_column(&self, text: &str, offset: usize) -> (u32, u32) {
        let offset = offset.min(text.len());
        let line = self.starts.partition_point(|start| *start <= offset).saturating_sub(1);
        let before = text.get(self.starts[line]..offset).unwrap_or_default();
        (line as u32, self.columns.count(before) as u32)
    }

    /// Returns the offset of a line and a column, both from 0; at the end of the line or the text if it has no such.
    pub fn offset(&self, text: &str, line: u32, column: u32) -> usize {
        let Some(&start) = self.starts.get(line as usize) else { return text.len() };
        let end = self.starts.get(line as usize + 1).copied().unwrap_or(text.len());
        let line = text.get(start..end).unwrap_or_default();
        let line = line.strip_suffix('\n').unwrap_or(line);
        let line = line.strip_suffix('\r').unwrap_or(line);
        let mut units = 0;
        for (at, character) in line.char_indices() {
            if units >= column {
                return start + at;
            }
            units += match self.columns {
                Columns::Utf16 => character.len_utf16(),
                Columns::Utf8 => character.len_utf8(),
            } as u32;
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

    #[test]
    fn lines_end_with_cr_too() {
        let text = "a\rb\r\n\rc\n\r";
        let lines = Lines::new(text);
        let places: Vec<_> = [0, 2, 5, 6, 8, 9].map(|offset| lines.line_column(text, offset)).into();
        assert_eq!(places, [(0, 0), (1, 0), (2, 0), (3, 0), (4, 0), (5, 0)]);
        assert_eq!(lines.offset(text, 0, 9), 1);
        assert_eq!(lines.offset(text, 1, 9), 3);
        assert_eq!(lines.offset(text, 2, 9), 5);
    }

    #[test]
    fn columns_count_utf_8() {
        let text = "a𝄞b\r\nü c\n";
        let lines = Lines::with_columns(text, Columns::Utf8);
        assert_eq!(lines.line_column(text, text.find('b').unwrap()), (0, 5));
        assert_eq!(lines.line_column(text, text.find('c').unwrap()), (1, 3));
        assert_eq!(lines.offset(text, 0, 5), text.find('b').unwrap());
        // A column inside of a character is that behind it.
        assert_eq!(lines.offset(text, 0, 2), text.find('b').unwrap());
        assert_eq!(lines.offset(text, 0, 99), text.find('\r').unwrap());
    }
}
