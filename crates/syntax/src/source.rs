//! Source texts and positions in them.
//!
//! All files of a run share one address space of octets, so that a [`Span`] is eight bytes and needs no file:
//! file *n* begins where file *n − 1* ended, plus one.

use std::ops::Range;
use std::sync::OnceLock;

/// A file of a [`SourceMap`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId(pub u32);

/// A half-open range of octets in the address space of a [`SourceMap`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// First octet.
    pub lo: u32,
    /// One past the last octet.
    pub hi: u32,
}

impl Span {
    /// A span from `lo` up to `hi`.
    pub const fn new(lo: u32, hi: u32) -> Self {
        Self { lo, hi }
    }

    /// The smallest span that covers both.
    pub fn to(self, end: Self) -> Self {
        Self { lo: self.lo.min(end.lo), hi: self.hi.max(end.hi) }
    }
}

/// One text with its name and where it begins in the shared address space.
#[derive(Debug)]
pub struct SourceFile {
    /// The name to show, usually the path as the user gave it.
    pub name: String,
    /// The text, valid UTF-8; see [`SourceMap::add_bytes`] for what happens to other octets.
    pub text: String,
    /// Address of its first octet.
    pub start: u32,
    /// Where lines begin: found when a position is first asked for.
    lines: OnceLock<Vec<u32>>,
}

impl SourceFile {
    fn lines(&self) -> &[u32] {
        self.lines.get_or_init(|| {
            let ends = memchr::memchr_iter(b'\n', self.text.as_bytes());
            std::iter::once(0).chain(ends.map(|at| at as u32 + 1)).collect()
        })
    }
}

/// A line and a column, both from 1; the column counts characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineColumn {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

/// The texts of one run.
#[derive(Debug, Default)]
pub struct SourceMap {
    files: Vec<SourceFile>,
}

impl SourceMap {
    /// An empty map.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a text under a name.
    ///
    /// # Panics
    /// When the texts of one run exceed 4 GiB.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) -> FileId {
        let text = text.into();
        let start = self.files.last().map_or(0, |f| f.start as usize + f.text.len() + 1);
        let start = u32::try_from(start).expect("source texts below 4 GiB");
        u32::try_from(text.len()).ok().and_then(|n| start.checked_add(n)).expect("source texts below 4 GiB");
        self.files.push(SourceFile { name: name.into(), text, start, lines: OnceLock::new() });
        FileId(self.files.len() as u32 - 1)
    }

    /// Adds the bytes of a file: UTF-16 with a byte order mark, UTF-8 (a byte order mark is dropped), else Windows-1252.
    /// The second value is `true` for Windows-1252.
    pub fn add_bytes(&mut self, name: impl Into<String>, bytes: Vec<u8>) -> (FileId, bool) {
        if let Some(text) = utf_16(&bytes) {
            return (self.add(name, text), false);
        }
        match String::from_utf8(bytes) {
            Ok(text) => {
                let text = text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text);
                (self.add(name, text), false)
            }
            Err(error) => {
                let text: String = error.as_bytes().iter().map(|&b| windows_1252(b)).collect();
                (self.add(name, text), true)
            }
        }
    }

    /// A file by its id.
    pub fn file(&self, id: FileId) -> &SourceFile {
        &self.files[id.0 as usize]
    }

    /// All files in the order added.
    pub fn files(&self) -> impl ExactSizeIterator<Item = (FileId, &SourceFile)> {
        self.files.iter().enumerate().map(|(i, f)| (FileId(i as u32), f))
    }

    /// The file that holds a position.
    pub fn file_of(&self, at: u32) -> FileId {
        FileId(self.files.partition_point(|f| f.start <= at).saturating_sub(1) as u32)
    }

    /// The text of a span.
    pub fn text(&self, span: Span) -> &str {
        let file = self.file(self.file_of(span.lo));
        file.text.get(self.range(span)).unwrap_or_default()
    }

    /// A span as a range of octets of its own file.
    pub fn range(&self, span: Span) -> Range<usize> {
        let file = self.file(self.file_of(span.lo));
        let end = file.text.len();
        let lo = ((span.lo - file.start) as usize).min(end);
        lo..((span.hi.saturating_sub(file.start)) as usize).clamp(lo, end)
    }

    /// Line and column of a position in its file.
    pub fn line_column(&self, at: u32) -> LineColumn {
        let file = self.file(self.file_of(at));
        let local = at - file.start;
        let lines = file.lines();
        let line = lines.partition_point(|&start| start <= local);
        let start = lines[line - 1] as usize;
        let end = (local as usize).min(file.text.len());
        let column = file.text.get(start..end).map_or(end - start, |s| s.chars().count()) + 1;
        LineColumn { line, column }
    }
}

/// The text of UTF-16: with a byte order mark, or without one where every second byte of the beginning is zero. Half a
/// surrogate pair becomes U+FFFD. `None` for anything else.
pub fn utf_16(bytes: &[u8]) -> Option<String> {
    let (is_little, body) = match bytes {
        [0xff, 0xfe, body @ ..] => (true, body),
        [0xfe, 0xff, body @ ..] => (false, body),
        // No specification begins with NUL, and none has letters that are NUL every other byte.
        [a, 0, b, 0, c, 0, ..] if [a, b, c].iter().all(|byte| **byte != 0) => (true, bytes),
        [0, a, 0, b, 0, c, ..] if [a, b, c].iter().all(|byte| **byte != 0) => (false, bytes),
        _ => return None,
    };
    let unit = if is_little { u16::from_le_bytes } else { u16::from_be_bytes };
    let units = body.chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
    Some(char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect())
}

/// The character of a Windows-1252 octet; the five unassigned octets stand for themselves.
fn windows_1252(octet: u8) -> char {
    const HIGH: [char; 32] = [
        '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}',
        '\u{90}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
    ];
    match octet {
        0x80..=0x9f => HIGH[(octet - 0x80) as usize],
        other => char::from(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_cross_files() {
        let mut map = SourceMap::new();
        let a = map.add("a", "one\ntwo");
        let b = map.add("b", "drei\nvier");
        assert_eq!((map.file_of(6), map.file_of(8)), (a, b));
        assert_eq!(map.text(Span::new(13, 17)), "vier");
        assert_eq!(map.line_column(13), LineColumn { line: 2, column: 1 });
        assert_eq!(map.line_column(6), LineColumn { line: 2, column: 3 });
    }

    #[test]
    fn utf_16_is_read_in_both_orders() {
        let text = "A ::= INTEGER -- größer, 𝄞\r\n";
        let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        let with = |mark: [u8; 2], body: &[u8]| [&mark, body].concat();
        for bytes in [with([0xff, 0xfe], &little), with([0xfe, 0xff], &big), little, big] {
            let mut map = SourceMap::new();
            let (id, changed) = map.add_bytes("a.asn", bytes);
            assert_eq!((map.file(id).text.as_str(), changed), (text, false));
        }
        // An odd byte at the end is dropped, half a pair replaced.
        assert_eq!(utf_16(&[0xff, 0xfe, b'A', 0, 0, 0xd8, 1]).as_deref(), Some("A\u{fffd}"));
        assert_eq!(utf_16(b"A ::= B"), None);
        assert_eq!(utf_16(b"A"), None);
    }

    #[test]
    fn octets_that_are_not_utf8_are_windows_1252() {
        let mut map = SourceMap::new();
        let (id, replaced) = map.add_bytes("a", b"caf\xe9 \x93x\x94".to_vec());
        assert!(replaced);
        assert_eq!(map.file(id).text, "café “x”");
    }
}
