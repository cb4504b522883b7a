//! The cells of a row, in the order of their columns.

use crate::words::Short;

/// The cells of the row that is being made; kept for its memory.
///
/// The row begins as delimiters alone. As long as cells come in the order of their columns, each is put into it at the place
/// that its column and the octets before it give. Cells may come in any order, as the members of a SET do: then those that
/// there are and those that follow are collected, and put in order when the row ends.
#[derive(Debug, Default)]
pub(super) struct Cells {
    /// Delimiters, as many as a short cell may have octets.
    delimiters: [u8; SHORT],
    /// Where the row begins.
    start: usize,
    /// Octets of the cells that are in the row.
    length: usize,
    /// The first column whose cell can still be put into the row; [`COLLECTED`] if cells are collected.
    next: u32,
    /// The column and the octets of each cell that is in the row, and memory for those of all columns.
    in_row: Vec<(u32, u32)>,
    /// Number of cells in the row.
    count: usize,
    /// The octets of the cell that is being made, after those of all others if cells are collected.
    text: Vec<u8>,
    /// Where the collected cell of each column begins and ends in `text`.
    places: Vec<(u32, u32)>,
    /// Which columns have a collected cell, a bit each.
    filled: Vec<u64>,
}

/// A cell of up to so many octets is copied in one move.
const SHORT: usize = 16;

/// Octets that a row has room for, beside its delimiters, before it grows.
const ROOM: usize = 512;

/// No column has this number.
const COLLECTED: u32 = u32::MAX;

impl Cells {
    /// Returns the cells of rows with so many columns.
    pub(super) fn new(columns: usize, delimiter: u8) -> Self {
        Self {
            delimiters: [delimiter; SHORT],
            in_row: vec![(0, 0); columns],
            places: vec![(0, 0); columns],
            filled: vec![0; columns.div_ceil(64)],
            ..Self::default()
        }
    }

    /// Begins a row at the end of `out`.
    pub(super) fn begin(&mut self, out: &mut Vec<u8>) {
        self.text.clear();
        (self.start, self.length, self.next, self.count) = (out.len(), 0, 0, 0);
        out.resize(self.start + self.places.len() + ROOM, self.delimiters[0]);
    }

    /// Returns the memory to append a cell to, which [`Cells::end_cell`] ends.
    pub(super) fn text(&mut self) -> &mut Vec<u8> {
        &mut self.text
    }

    /// Adds a short cell: two moves whose lengths are known, the cell and delimiters behind it, not one under a mask.
    ///
    /// A function that takes words, so that these stay in registers.
    #[inline(never)]
    pub(super) fn put(&mut self, out: &mut Vec<u8>, column: u32, words: [u64; 2], octets: usize) {
        let at = self.start + column as usize + self.length;
        if column >= self.next
            && octets <= SHORT
            && let Some(place) = out.get_mut(at..at + 2 * SHORT)
        {
            let [first, second] = words.map(u64::to_le_bytes);
            place[..8].copy_from_slice(&first);
            place[8..SHORT].copy_from_slice(&second);
            place[octets..octets + SHORT].copy_from_slice(&self.delimiters);
            return self.keep(column, octets);
        }
        self.append(out, column, Short::new(words, octets));
    }

    #[cold]
    fn append(&mut self, out: &mut Vec<u8>, column: u32, cell: Short) {
        let begin = self.text.len();
        cell.push(&mut self.text);
        self.end_cell(out, column, begin);
    }

    /// Ends the cell that has begun where there were so many octets in [`Cells::text`].
    pub(super) fn end_cell(&mut self, out: &mut Vec<u8>, column: u32, begin: usize) {
        let octets = self.text.len() - begin;
        if column >= self.next {
            let at = self.start + column as usize + self.length;
            if out.len() < at + octets + 2 * SHORT {
                out.resize(at + octets + self.places.len() + ROOM, self.delimiters[0]);
            }
            out[at..at + octets].copy_from_slice(&self.text);
            self.text.clear();
            return self.keep(column, octets);
        }
        if self.next != COLLECTED {
            self.collect(out);
        }
        self.place(column, begin, begin + octets);
    }

    /// Notes a cell that has been put into the row.
    #[inline]
    fn keep(&mut self, column: u32, octets: usize) {
        if let Some(cell) = self.in_row.get_mut(self.count) {
            *cell = (column, octets as u32);
        }
        self.count += 1;
        self.length += octets;
        self.next = column + 1;
    }

    /// Notes a collected cell.
    fn place(&mut self, column: u32, begin: usize, end: usize) {
        if let (Some(place), Some(filled)) =
            (self.places.get_mut(column as usize), self.filled.get_mut(column as usize / 64))
        {
            *place = (begin as u32, end as u32);
            *filled |= 1 << (column % 64);
        }
    }

    /// Takes the cells that have been put into the row out again.
    #[cold]
    fn collect(&mut self, out: &mut Vec<u8>) {
        self.filled.fill(0);
        let mut at = self.start;
        for cell in 0..self.count {
            let Some(&(column, octets)) = self.in_row.get(cell) else { break };
            let (from, begin) = (at + column as usize, self.text.len());
            self.text.extend_from_slice(&out[from..from + octets as usize]);
            self.place(column, begin, self.text.len());
            at += octets as usize;
        }
        self.next = COLLECTED;
        out.truncate(self.start);
    }

    /// Ends the row.
    pub(super) fn end(&mut self, out: &mut Vec<u8>) {
        if self.next == COLLECTED {
            self.put_in_order(out);
        }
        out.truncate(self.start + self.places.len().saturating_sub(1) + self.length);
    }

    /// Appends the collected cells, by their columns, with delimiters between them.
    ///
    /// A short cell is copied with what is behind it among the cells, then delimiters are put there again: 1,108 instructions
    /// a row of 21 cells and 1,080 columns instead of 1,604.
    fn put_in_order(&mut self, out: &mut Vec<u8>) {
        let delimiters = self.delimiters;
        out.resize(self.start + self.places.len() + self.text.len() + 2 * SHORT, delimiters[0]);
        self.text.extend_from_slice(&delimiters);
        let row = out.get_mut(self.start..).unwrap_or_default();
        let mut length = 0;
        for (word, bits) in self.filled.iter().enumerate() {
            let mut bits = *bits;
            while bits != 0 {
                let column = word * 64 + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                let Some(&(begin, end)) = self.places.get(column) else { break };
                let octets = (end - begin) as usize;
                let cell = self.text.get(begin as usize..).unwrap_or_default();
                let place = row.get_mut(column + length..).unwrap_or_default();
                length += octets;
                match (cell.first_chunk::<SHORT>(), place.first_chunk_mut::<{ 2 * SHORT }>()) {
                    (Some(cell), Some(place)) if octets <= SHORT => {
                        place[..SHORT].copy_from_slice(cell);
                        place[octets..octets + SHORT].copy_from_slice(&delimiters);
                    }
                    _ => place[..octets].copy_from_slice(&cell[..octets]),
                }
            }
        }
        self.length = length;
    }
}

#[cfg(test)]
mod tests {
    use super::{Cells, SHORT};
    use crate::words::short;

    fn row(cells: &mut Cells, given: &[(u32, &str)]) -> String {
        let mut out = b"before,".to_vec();
        cells.begin(&mut out);
        for &(column, text) in given {
            if let Some(text) = short(text.as_bytes()) {
                cells.put(&mut out, column, text.words(), text.length);
                continue;
            }
            let begin = cells.text().len();
            cells.text().extend_from_slice(text.as_bytes());
            cells.end_cell(&mut out, column, begin);
        }
        cells.end(&mut out);
        String::from_utf8(out).unwrap_or_default()
    }

    #[test]
    fn cells_come_in_any_order() {
        let mut cells = Cells::new(5, b',');
        let long = "l".repeat(2000);
        let more = "m".repeat(SHORT + 1);
        assert_eq!(row(&mut cells, &[]), "before,,,,,");
        assert_eq!(row(&mut cells, &[(0, "a"), (3, "bcd")]), "before,a,,,bcd,");
        assert_eq!(row(&mut cells, &[(3, "bcd"), (0, "a")]), "before,a,,,bcd,");
        assert_eq!(row(&mut cells, &[(1, &long), (2, "x"), (4, &more)]), format!("before,,{long},x,,{more}"));
        assert_eq!(
            row(&mut cells, &[(1, "y"), (4, &long), (2, &more), (0, "z")]),
            format!("before,z,y,{more},,{long}")
        );
        // The last of two is kept.
        assert_eq!(row(&mut cells, &[(1, "first"), (1, "second"), (2, "")]), "before,,second,,,");
        assert_eq!(row(&mut Cells::new(1, b','), &[(0, "only")]), "before,only");
        assert_eq!(row(&mut Cells::new(0, b','), &[]), "before,");
    }
}
