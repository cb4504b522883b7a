//! Text that spells octets: PEM, base64, hexadecimal digits, hexdumps, arrays of C and other languages.
//!
//! A text is told from octets by what is in it, and only if it cannot be a value itself: octets that are elements of BER to
//! the last one are never taken for text. A [`Reader`] gives the octets of a stream as they come; [`blocks`] gives those of a
//! text in the parts that it has: the blocks of PEM, the packets of a dump, the arrays, the lines of digits.

use super::base64::{Base64, Pem};
use super::digits::{Array, Hex};
use super::hexdump::Dump;
use crate::SettingError;
use std::fmt;
use std::io::{self, BufRead, Read};

/// Octets of a text that are looked at.
pub(super) const LOOKED_AT: usize = 1 << 16;
/// Octets of a line of PEM or of a dump at most.
const LINE: usize = 1 << 16;
/// Digits or letters below which hexadecimal and base64 text could be anything.
const LEAST: usize = 16;
/// Elements inside of each other that are looked at.
const DEPTH: usize = 32;

/// How a text spells octets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spelling {
    /// Blocks of `-----BEGIN …-----` (RFC 7468).
    Pem,
    /// Base64 without such lines (RFC 4648), also with the letters for URLs.
    Base64,
    /// Hexadecimal digits.
    Hex,
    /// Lines with an offset and hexadecimal digits: `xxd`, `hexdump -C`, `od -t x1`, Wireshark, tcpdump.
    Dump,
    /// `{0x30, 0x03, …}` or `"\x30\x03…"`, as in C.
    Array,
}

impl Spelling {
    /// The name of the form.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pem => "PEM",
            Self::Base64 => "base64",
            Self::Hex => "hexadecimal text",
            Self::Dump => "a hexdump",
            Self::Array => "an array of bytes",
        }
    }

    /// The form of a text that begins so, or is so as a `whole`; nothing if it may be octets.
    pub fn of(begin: &[u8], whole: bool) -> Option<Self> {
        let text = text_of(begin, whole)?;
        if text.trim().is_empty() {
            return None;
        }
        if is_elements(begin, whole) {
            // Digits may be elements by chance; what they spell is no chance, too.
            let spelled = blocks(begin, Self::Hex, true).ok().filter(|_| whole)?;
            return spelled
                .first()
                .is_some_and(|block| is_elements(&block.octets, true))
                .then_some(Self::Hex);
        }
        if text.lines().any(|line| pem_label(line, "BEGIN").is_some()) {
            return Some(Self::Pem);
        }
        let digits = text.bytes().filter(u8::is_ascii_hexdigit).count();
        if Dump::fits(text, whole) {
            return Some(Self::Dump);
        }
        if has_array(text) {
            return Some(Self::Array);
        }
        if digits >= LEAST && feed(Self::Hex, text, whole) {
            return Some(Self::Hex);
        }
        let letters = text.bytes().filter(|octet| !octet.is_ascii_whitespace()).count();
        let one_word = text.lines().all(|line| !line.trim().contains([' ', '\t']));
        // Words have letters alone, and most of one case.
        let all_kinds = [u8::is_ascii_uppercase, u8::is_ascii_lowercase, is_no_letter]
            .iter()
            .all(|kind| text.as_bytes().iter().any(kind));
        let fits = letters >= LEAST && one_word && all_kinds && feed(Self::Base64, text, whole);
        fits.then_some(Self::Base64)
    }

    /// The form of a text that is said to be hexadecimal.
    pub fn of_hex(text: &[u8]) -> Self {
        let begin = &text[..text.len().min(LOOKED_AT)];
        let whole = begin.len() == text.len();
        match text_of(begin, whole) {
            Some(text) if text.lines().any(|line| pem_label(line, "BEGIN").is_some()) => Self::Pem,
            Some(text) if Dump::fits(text, whole) => Self::Dump,
            Some(text) if has_array(text) => Self::Array,
            _ => Self::Hex,
        }
    }
}

fn is_no_letter(octet: &u8) -> bool {
    octet.is_ascii_digit() || matches!(octet, b'+' | b'/' | b'-' | b'_' | b'=')
}

/// Whether a text is read without a fault in a form.
fn feed(spelling: Spelling, text: &str, whole: bool) -> bool {
    let mut decoder = Decoder::new(spelling, false);
    if let Form::Base64(base64) = &mut decoder.form {
        base64.padded = true;
    }
    decoder.feed(text.as_bytes()).is_ok() && (!whole || decoder.finish().is_ok())
}

/// The octets as text without control characters; at the end of what is looked at, a character may be cut.
fn text_of(begin: &[u8], whole: bool) -> Option<&str> {
    let text = match str::from_utf8(begin) {
        Ok(text) => text,
        Err(error) if !whole && error.error_len().is_none() => {
            str::from_utf8(&begin[..error.valid_up_to()]).ok()?
        }
        Err(_) => return None,
    };
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
    let control = |c: char| c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\x0C');
    (!text.contains(control)).then_some(text)
}

/// Whether octets are complete elements of BER up to the last one, or to the end of what is looked at.
///
/// Strings in pieces do not count, as digits begin so; nor do indefinite lengths, which no text has.
fn is_elements(octets: &[u8], whole: bool) -> bool {
    let mut ends = vec![octets.len()];
    let mut at = 0;
    while let Some(&end) = ends.last() {
        if at == end {
            if ends.len() == 1 {
                return true;
            }
            ends.pop();
            continue;
        }
        let Some((tag, begin, length)) = header(&octets[at..end]) else { return !whole && ends.len() == 1 };
        let pieces = tag & 0xE0 == 0x20 && !matches!(tag, 0x28 | 0x2B | 0x30 | 0x31);
        if tag == 0 || pieces || ends.len() > DEPTH {
            return false;
        }
        let begin = at + begin;
        let Some(inner_end) = begin.checked_add(length).filter(|inner_end| *inner_end <= end) else {
            return !whole && ends.len() == 1;
        };
        at = begin;
        if tag & 0x20 == 0 {
            at = inner_end;
        } else {
            ends.push(inner_end);
        }
    }
    true
}

/// The first identifier octet of an element, the octets of its header, and those of its contents.
fn header(octets: &[u8]) -> Option<(u8, usize, usize)> {
    let (&tag, mut rest) = octets.split_first()?;
    if tag & 0x1F == 0x1F {
        let number = rest.iter().take_while(|octet| **octet >= 0x80).count() + 1;
        rest = rest.get(number..)?;
    }
    let (&length, mut rest) = rest.split_first()?;
    let mut contents = usize::from(length);
    if length >= 0x80 {
        let count = usize::from(length & 0x7F);
        let digits = rest.get(..count).filter(|digits| (1..=4).contains(&digits.len()))?;
        contents = digits
            .iter()
            .try_fold(0usize, |sum, digit| sum.checked_mul(256)?.checked_add(usize::from(*digit)))?;
        rest = &rest[count..];
    }
    Some((tag, octets.len() - rest.len(), contents))
}

/// The label of a line that begins or ends a block of PEM.
pub(super) fn pem_label<'t>(line: &'t str, word: &str) -> Option<&'t str> {
    let line = line.trim().strip_prefix("-----")?.strip_prefix(word)?.strip_suffix("-----")?;
    line.strip_prefix(' ').map(str::trim)
}

/// Whether a text has an array with `0x` in it, or a string with `\x`.
fn has_array(text: &str) -> bool {
    let opened = |(at, _): (usize, &str)| {
        let inside = text[at + 1..].trim_start();
        inside.strip_prefix("0x").or_else(|| inside.strip_prefix("0X")).is_some_and(|digits| {
            digits
                .trim_start_matches(|c: char| c.is_ascii_hexdigit())
                .trim_start()
                .starts_with([',', '}', ']'])
        })
    };
    text.match_indices(['{', '[']).any(opened) || text.contains("\"\\x")
}

/// A fault in a text, with its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpellingError {
    /// The line, from 1.
    pub line: usize,
    /// The fault.
    pub message: String,
}

impl fmt::Display for SpellingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for SpellingError {}

impl From<SpellingError> for io::Error {
    fn from(error: SpellingError) -> Self {
        Self::new(io::ErrorKind::InvalidData, error)
    }
}

/// The octets of one part of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Block {
    /// The line where it begins, from 1.
    pub line: usize,
    /// The octets.
    pub octets: Vec<u8>,
}

/// The octets of a text in its parts; hexadecimal digits in one part for each line, or `joined` in one for all.
///
/// # Errors
/// The first fault.
pub fn blocks(text: &[u8], spelling: Spelling, joined: bool) -> Result<Vec<Block>, SpellingError> {
    let mut decoder = Decoder::new(spelling, !joined);
    decoder.feed(text)?;
    decoder.finish()?;
    let (mut blocks, mut begin) = (Vec::new(), 0);
    for &(line, end) in &decoder.out.ends {
        blocks.push(Block { line, octets: decoder.out.octets[begin..end].to_vec() });
        begin = end;
    }
    if joined && spelling == Spelling::Hex && blocks.len() > 1 {
        let line = blocks[0].line;
        blocks = vec![Block { line, octets: decoder.out.octets }];
    }
    Ok(blocks)
}

/// Octets from hexadecimal digits in any of the forms of [`Spelling`], all parts together.
///
/// # Errors
/// The first fault.
pub fn from_hex(text: &str) -> Result<Vec<u8>, SettingError> {
    let parts = blocks(text.as_bytes(), Spelling::of_hex(text.as_bytes()), true);
    match parts {
        Ok(parts) => Ok(parts.into_iter().flat_map(|block| block.octets).collect()),
        Err(error) if text.trim_end().contains('\n') => Err(error.to_string().into()),
        Err(error) => Err(error.message.into()),
    }
}

/// The octets of a stream, which may be text that spells them: then `tell` is called with its form.
///
/// # Errors
/// Those of the stream.
pub fn spelled<'r>(
    stream: impl BufRead + 'r,
    tell: &mut dyn FnMut(Spelling),
) -> io::Result<Box<dyn Read + 'r>> {
    let mut stream = super::packing::Ahead::new(stream);
    match told(&mut stream)? {
        Some(spelling) => {
            tell(spelling);
            Ok(Box::new(Reader { stream, decoder: Decoder::new(spelling, false), at: 0, ended: false }))
        }
        None => Ok(Box::new(stream)),
    }
}

/// What is in a stream.
pub enum Contents<'r> {
    /// Octets.
    Octets(Box<dyn Read + 'r>),
    /// Text that spells octets, in its parts.
    Spelled(Spelling, Vec<Block>),
}

impl fmt::Debug for Contents<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Octets(_) => f.write_str("Octets"),
            Self::Spelled(spelling, blocks) => {
                f.debug_tuple("Spelled").field(spelling).field(blocks).finish()
            }
        }
    }
}

/// The octets of a stream, or the parts of a text that spells them, as [`blocks`] has them; text is read as a whole.
///
/// What is said to be `hex` is hexadecimal text in any case.
///
/// # Errors
/// Those of the stream; [`io::ErrorKind::InvalidData`] with a [`SpellingError`]; [`io::ErrorKind::Unsupported`] for archives, which
/// [`super::each`] reads.
pub fn contents<'r>(stream: impl Read + 'r, hex: bool, joined: bool) -> io::Result<Contents<'r>> {
    let mut stream = super::packing::stream(Box::new(stream));
    if let Some(archive) = super::packing::archive(&mut stream)? {
        let text = format!(
            "this is a {archive} archive\nhelp: `convert`, `head`, `cat` and `stat` read the files in archives; for one value, unpack it"
        );
        return Err(io::Error::new(io::ErrorKind::Unsupported, text));
    }
    let told = if hex { None } else { told(&mut stream)? };
    if !hex && told.is_none() {
        return Ok(Contents::Octets(Box::new(stream)));
    }
    let mut text = Vec::new();
    stream.read_to_end(&mut text)?;
    let spelling = told.unwrap_or_else(|| Spelling::of_hex(&text));
    Ok(Contents::Spelled(spelling, blocks(&text, spelling, joined)?))
}

/// The form of a stream, if it is text.
fn told<R: BufRead>(stream: &mut super::packing::Ahead<R>) -> io::Result<Option<Spelling>> {
    // Most inputs are told by their first octets: no more is waited for than is needed.
    let few = stream.peek(64)?;
    if text_of(few, few.len() < 64).is_none() {
        return Ok(None);
    }
    let begin = stream.peek(LOOKED_AT)?;
    Ok(Spelling::of(begin, begin.len() < LOOKED_AT))
}

/// Gives the octets that a stream of text spells.
#[derive(Debug)]
struct Reader<R> {
    stream: R,
    decoder: Decoder,
    /// Octets that have been given.
    at: usize,
    ended: bool,
}

impl<R: BufRead> Read for Reader<R> {
    fn read(&mut self, octets: &mut [u8]) -> io::Result<usize> {
        loop {
            let ready = &self.decoder.out.octets[self.at..];
            if !ready.is_empty() || self.ended {
                let count = ready.len().min(octets.len());
                octets[..count].copy_from_slice(&ready[..count]);
                self.at += count;
                return Ok(count);
            }
            self.decoder.out.clear();
            self.at = 0;
            let text = self.stream.fill_buf()?;
            if text.is_empty() {
                self.ended = true;
                self.decoder.finish()?;
                continue;
            }
            let count = text.len();
            self.decoder.feed(text)?;
            self.stream.consume(count);
        }
    }
}

/// Octets that have been read, and where parts end, with the lines where they begin.
#[derive(Debug, Default)]
pub(super) struct Out {
    pub(super) octets: Vec<u8>,
    ends: Vec<(usize, usize)>,
    pub(super) begin: usize,
    /// The line under way, from 1.
    pub(super) line: usize,
    first_line: usize,
}

impl Out {
    /// Ends a part, if it has octets.
    pub(super) fn end(&mut self) {
        if self.octets.len() > self.begin {
            self.ends.push((self.first_line, self.octets.len()));
        }
        self.begin = self.octets.len();
    }

    /// Forgets the octets that have been given.
    pub(super) fn clear(&mut self) {
        self.octets.clear();
        self.ends.clear();
        self.begin = 0;
    }

    /// Begins a part on this line.
    pub(super) fn begin(&mut self) {
        self.first_line = self.line;
    }

    fn error(&self, message: impl Into<String>) -> SpellingError {
        SpellingError { line: self.line, message: message.into() }
    }
}

/// Reads text in pieces of any size.
#[derive(Debug)]
struct Decoder {
    out: Out,
    /// What a line has so far, in forms that are read by lines.
    text: Vec<u8>,
    form: Form,
}

#[derive(Debug)]
enum Form {
    Pem(Pem),
    Base64(Base64),
    Hex(Hex),
    Dump(Dump),
    Array(Array),
}

impl Decoder {
    fn new(spelling: Spelling, by_line: bool) -> Self {
        let form = match spelling {
            Spelling::Pem => Form::Pem(Pem::default()),
            Spelling::Base64 => Form::Base64(Base64::by_line()),
            Spelling::Hex => Form::Hex(Hex::new(by_line)),
            Spelling::Dump => Form::Dump(Dump::default()),
            Spelling::Array => Form::Array(Array::default()),
        };
        Self { out: Out { line: 1, ..Out::default() }, text: Vec::new(), form }
    }

    fn feed(&mut self, text: &[u8]) -> Result<(), SpellingError> {
        for piece in text.split_inclusive(|octet| *octet == b'\n') {
            let ends = piece.ends_with(b"\n");
            let result = match &mut self.form {
                Form::Base64(base64) => base64.feed(piece, &mut self.out),
                Form::Hex(hex) => hex.feed(piece, &mut self.out),
                Form::Array(array) => array.feed(piece, &mut self.out),
                Form::Pem(_) | Form::Dump(_) if self.text.len() + piece.len() > LINE => {
                    Err(format!("a line of more than {LINE} bytes"))
                }
                Form::Pem(_) | Form::Dump(_) => {
                    self.text.extend_from_slice(piece);
                    if ends { self.line() } else { Ok(()) }
                }
            };
            result.map_err(|message| self.out.error(message))?;
            self.out.line += usize::from(ends);
        }
        Ok(())
    }

    fn line(&mut self) -> Result<(), String> {
        let text = String::from_utf8_lossy(&self.text);
        let line = text.trim_start_matches('\u{FEFF}').trim_end();
        let result = match &mut self.form {
            Form::Pem(pem) => pem.line(line, &mut self.out),
            Form::Dump(dump) => dump.line(line, &mut self.out),
            _ => Ok(()),
        };
        self.text.clear();
        result
    }

    fn finish(&mut self) -> Result<(), SpellingError> {
        let mut result = if self.text.is_empty() { Ok(()) } else { self.line() };
        if result.is_ok() {
            result = match &mut self.form {
                Form::Pem(pem) => pem.finish(),
                Form::Base64(base64) => base64.finish(&mut self.out),
                Form::Hex(hex) => hex.finish(&mut self.out),
                Form::Array(array) => array.finish(&mut self.out),
                Form::Dump(_) => Ok(()),
            };
        }
        self.out.end();
        result.map_err(|message| self.out.error(message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OCTETS: [u8; 20] =
        [0x30, 0x12, 4, 0x10, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0x41, 0x42, 0x43, 0x0A, 0x0D, 0xFF];

    /// The octets as one part each, in forms of many programs.
    const TEXTS: [(Spelling, &str); 16] = [
        (Spelling::Pem, "-----BEGIN X-----\nMBIEEAABAgMEBQYHCAlBQkMKDf8=\n-----END X-----\n"),
        (
            Spelling::Pem,
            "Bag Attributes\n    friendlyName: x\r\n-----BEGIN X-----\r\nKind: a: b\r\n\r\nMBIEEAABAgME\r\n\
             BQYHCAlBQkMKDf8=\r\n-----END X-----\r\n",
        ),
        (Spelling::Base64, "MBIEEAABAgMEBQYHCAlBQkMKDf8="),
        (Spelling::Base64, "MBIEEAABAgMEBQYHCAlBQkMKDf8=\r\n"),
        (Spelling::Hex, "3012041000010203040506070809414243 0A0DFF"),
        (Spelling::Hex, "30:12:04:10:00:01:02:03:04:05:06:07:08:09:41:42:43:0a:0d:ff\n"),
        (Spelling::Hex, "'301204100001020304050607080941 42430A0DFF'H"),
        (
            Spelling::Hex,
            "0x30, 0x12, 0x4, 0x10, 0x0, 0x1, 0x2, 0x3, 0x04,0x05,0x06,0x07,0x08,0x09,0x41,0x42,0x43,0xA,0xD,0xFF",
        ),
        (Spelling::Hex, r"\x30\x12\x04\x10\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x41\x42\x43\x0a\x0d\xff"),
        (
            Spelling::Dump,
            "00000000: 3012 0410 0001 0203 0405 0607 0809 4142  0.............AB\n\
             00000010: 430a 0dff                                C...\n",
        ),
        (
            Spelling::Dump,
            "00000000  30 12 04 10 00 01 02 03  04 05 06 07 08 09 41 42  |0.............AB|\n\
             00000010  43 0a 0d ff                                       |C...|\n00000014\n",
        ),
        (
            Spelling::Dump,
            "Frame 1: 20 bytes\n\n0000  30 12 04 10 00 01 02 03 04 05 06 07 08 09 41 42   0.............AB\n\
             0010  43 0a 0d ff                                       C...\n\n",
        ),
        (
            Spelling::Dump,
            "0000000 30 12 04 10 00 01 02 03 04 05 06 07 08 09 41 42\n0000020 43 0a 0d ff\n0000024\n",
        ),
        (
            Spelling::Array,
            "unsigned char a_ber[] = {\n  0x30, 0x12, 0x04, 0x10, 0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07,\n  \
             0x08, 0x09, 0x41, 0x42, 0x43, 0x0a, 0x0d, 0xff\n};\nunsigned int a_ber_len = 20;\n",
        ),
        (
            Spelling::Array,
            "/* Frame (20 bytes) */\nstatic const uint8_t pkt1[20] = {\n0x30, 0x12, 0x04, 0x10, 0x00, 0x01, 0x02, 0x03, \
             /* 0....... */\n0x04, 0x05, 0x06, 0x07, 0x08, 0x09, (byte)0x41, 66, 0x43u, 0x0a, 0x0d, 0xff // {0x1}\n};",
        ),
        (
            Spelling::Array,
            "\"\\x30\\x12\\x04\\x10\\x00\\x01\\x02\\x03\\x04\\x05\" \\\n\"\\x06\\x07\\x08\\tABC\\n\\r\\xff\"",
        ),
    ];

    fn octets(text: &str, spelling: Spelling) -> Result<Vec<Vec<u8>>, SpellingError> {
        Ok(blocks(text.as_bytes(), spelling, false)?.into_iter().map(|block| block.octets).collect())
    }

    #[test]
    fn texts_of_many_programs_are_told_and_read() {
        for (spelling, text) in TEXTS {
            assert_eq!(Spelling::of(text.as_bytes(), true), Some(spelling), "{text}");
            assert_eq!(octets(text, spelling).unwrap(), [OCTETS], "{text}");
            let of_hex = Spelling::of_hex(text.as_bytes());
            assert_eq!(of_hex, if spelling == Spelling::Base64 { Spelling::Hex } else { spelling });
            // However a stream is cut.
            for size in [1, 3, 64] {
                let pieces = io::BufReader::with_capacity(size, text.as_bytes());
                let (mut read, mut told) = (Vec::new(), None);
                let mut reader = spelled(pieces, &mut |spelling| told = Some(spelling)).unwrap();
                reader.read_to_end(&mut read).unwrap();
                assert_eq!((&read[..], told), (&OCTETS[..], Some(spelling)), "{text}");
            }
        }
    }

    #[test]
    fn several_blocks_packets_arrays_and_lines_are_several_values() {
        let pem = TEXTS[0].1.repeat(3);
        assert_eq!(octets(&pem, Spelling::Pem).unwrap(), [OCTETS; 3]);
        let lines: Vec<usize> =
            blocks(pem.as_bytes(), Spelling::Pem, true).unwrap().iter().map(|block| block.line).collect();
        assert_eq!(lines, [1, 4, 7]);
        for at in [9, 11] {
            assert_eq!(octets(&TEXTS[at].1.repeat(2), Spelling::Dump).unwrap(), [OCTETS; 2]);
        }
        assert_eq!(octets(&TEXTS[13].1.repeat(2), Spelling::Array).unwrap(), [OCTETS; 2]);
        assert_eq!(octets("30 03\n\n02 01\n", Spelling::Hex).unwrap(), [[0x30, 3], [2, 1]]);
        assert_eq!(blocks(b"30 03\n02 0\n1", Spelling::Hex, true).unwrap()[0].octets, [0x30, 3, 2, 1]);
        assert_eq!(octets("MAMCAQU=\nMAMCAQY=\nMAMC\n", Spelling::Base64).unwrap().len(), 3);
        let long = "A".repeat(64);
        assert_eq!(octets(&format!("{long}\n{long}\nAAAA\n"), Spelling::Base64).unwrap().len(), 1);
        // A line of `*` stands for lines like the one before.
        let zeros = "00000000  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00  |................|\n*\n\
                     00000040  01                                                |.|\n00000041\n";
        let read = octets(zeros, Spelling::Dump).unwrap();
        assert_eq!((read[0].len(), read[0][0x40]), (0x41, 1));
    }

    #[test]
    fn any_text_is_read_or_refused_with_its_line() {
        const WORDS: [&str; 24] = [
            "-----BEGIN X-----\n",
            "-----END X-----\n",
            "00000000: ",
            "00000010  ",
            "0000  ",
            "*\n",
            "30 82",
            "0x30, ",
            "{",
            "}",
            "\\x3",
            "\"",
            "/*",
            "*/",
            "//",
            "MAMC",
            "=",
            "==",
            "\n",
            " ",
            "'30'H",
            "|..|",
            "[60]",
            "\u{FEFF}",
        ];
        let mut seed = 7u32;
        for _ in 0..4000 {
            let mut text = String::new();
            for _ in 0..seed >> 28 {
                seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                text += WORDS[(seed >> 16) as usize % WORDS.len()];
            }
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let told = Spelling::of(text.as_bytes(), true);
            for spelling in [Spelling::Pem, Spelling::Base64, Spelling::Hex, Spelling::Dump, Spelling::Array]
            {
                let whole = blocks(text.as_bytes(), spelling, true);
                if let Err(error) = &whole {
                    assert!(error.line > 0 && error.line <= text.lines().count() + 1, "{text:?}: {error}");
                }
                // A stream gives the same octets, however it is cut.
                if told == Some(spelling) {
                    let (mut read, pieces) = (Vec::new(), io::BufReader::with_capacity(1, text.as_bytes()));
                    let result = spelled(pieces, &mut |_| {}).unwrap().read_to_end(&mut read);
                    assert_eq!(result.is_ok(), whole.is_ok(), "{text:?}");
                    if let Ok(blocks) = whole {
                        let octets: Vec<u8> = blocks.into_iter().flat_map(|block| block.octets).collect();
                        assert_eq!(read, octets, "{text:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn octets_are_no_text() {
        let digits = |header: &[u8], count: usize| [header, &b"0123456789".repeat(9)[..count]].concat();
        for octets in [
            &b""[..],
            b"\n",
            b"hello, world",
            b"thisisawordthatislongenough",
            b"{\"a\": 1}",
            b"<a>00</a>",
            b"30",
            &[0x30, 3, 2, 1, 5],
            &[0x30, 0x82, 1, 1],
            b"IMSI;MSISDN;2024",
            // `[APPLICATION 1]` with 49 digits.
            &digits(b"A1", 49),
            b"00000000: not a dump",
        ] {
            assert_eq!(Spelling::of(octets, true), None, "{}", String::from_utf8_lossy(octets));
        }
        // Digits that are elements by chance, and spell elements.
        let text = format!("A017{}", "0415".to_owned() + &"41".repeat(21));
        assert_eq!(text.len(), 50);
        assert_eq!(Spelling::of(text.as_bytes(), true), Some(Spelling::Hex));
    }

    #[test]
    fn faults_say_their_line() {
        let cut = &TEXTS[0].1[..40];
        let xxd = TEXTS[9].1;
        for (text, spelling, message) in [
            (cut, Spelling::Pem, "line 2: the block of `X` in line 1 has no line `END X`"),
            (
                &TEXTS[0].1.replace("END X", "END Y"),
                Spelling::Pem,
                "line 3: the block of `X` ends with `END Y`",
            ),
            (&TEXTS[0].1.replace("AABA", "A*BA"), Spelling::Pem, "line 2: `*` is not a base64 letter"),
            (
                "-----BEGIN X-----\nProc-Type: 4,ENCRYPTED\n",
                Spelling::Pem,
                "line 2: the block of `X` is encrypted",
            ),
            ("30\n3g", Spelling::Hex, "line 2: `g` is not a hexadecimal digit"),
            ("30\n3", Spelling::Hex, "line 2: a hexadecimal digit is missing at the end"),
            (&xxd.replace("00000010", "00000020"), Spelling::Dump, "line 2: offset 00000020 after 16 bytes"),
            (&xxd.replace("430a", "430"), Spelling::Dump, "line 2: `430` is not a byte in hexadecimal"),
            ("0000000 8230 6f01\n0000004\n", Spelling::Dump, "line 1: `8230` is not a byte in hexadecimal"),
            ("{0x30,\n0x100}", Spelling::Array, "line 2: `0x100` is not a byte"),
            ("{0x30,\n0x10", Spelling::Array, "line 2: the array has no end"),
            ("00000000  00\n*\nFFFFFFFFFFFF\n", Spelling::Dump, "line 3: `*` that replaces"),
        ] {
            assert_eq!(Spelling::of_hex(text.as_bytes()), spelling, "{text}");
            let error = octets(text, spelling).expect_err(text).to_string();
            assert!(error.starts_with(message), "{error}");
        }
    }
}
