//! Text of others that a terminal shows and does not obey.
//!
//! Names of files and members of archives, specifications and decoded strings may hold characters that move the cursor, change
//! the title or the order of what is read. Lines for people show them as escapes: `\n`, `\x1b`, `\u{202e}`. All crates do that here.
//!
//! ```
//! assert_eq!(tercet_printable::printable("calls\u{1b}[2J.ber"), "calls\\x1b[2J.ber");
//! assert_eq!(tercet_printable::printable("plain.ber"), "plain.ber");
//! ```

use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::io;
use std::path::Path;

/// Whether a terminal or a reader is misled by a character: control characters, those that change the direction of text, and
/// those that end lines or are not seen at all.
pub fn misleads(c: char) -> bool {
    match c {
        ' '..='~' => false,
        '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' => true,
        // Marks, embeddings, overrides and isolates of the bidirectional algorithm.
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{206f}' => true,
        // Ends of lines and paragraphs, the mark of byte order, annotations, tags.
        '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}' => true,
        _ => false,
    }
}

/// Writes a character as an escape.
fn escape(c: char, out: &mut impl fmt::Write) -> fmt::Result {
    match c {
        '\n' => out.write_str("\\n"),
        '\r' => out.write_str("\\r"),
        '\t' => out.write_str("\\t"),
        c if u32::from(c) < 0x100 => write!(out, "\\x{:02x}", u32::from(c)),
        c => write!(out, "\\u{{{:x}}}", u32::from(c)),
    }
}

/// A text on one line: what would mislead is shown as escapes, ends of lines and tabs too.
pub fn printable(text: &str) -> Cow<'_, str> {
    escaped(text, &[])
}

/// A text of several lines: ends of lines and tabs stay what they are.
pub fn printable_lines(text: &str) -> Cow<'_, str> {
    escaped(text, &['\n', '\t'])
}

fn escaped<'t>(text: &'t str, kept: &[char]) -> Cow<'t, str> {
    let is_shown = |c: char| !misleads(c) || kept.contains(&c);
    if text.chars().all(is_shown) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        // Writing to memory does not fail.
        _ = if is_shown(c) { out.write_char(c) } else { escape(c, &mut out) };
    }
    Cow::Owned(out)
}

/// A path on one line; octets that are no UTF-8 are shown as U+FFFD.
pub fn path(path: &Path) -> String {
    printable(&path.to_string_lossy()).into_owned()
}

/// Something that is shown on one line, as [`printable`] does.
#[derive(Clone, Copy, Debug)]
pub struct Printable<T>(pub T);

impl<T: fmt::Display> fmt::Display for Printable<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(Escaped(f), "{}", self.0)
    }
}

struct Escaped<'f, 'a>(&'f mut fmt::Formatter<'a>);

impl fmt::Write for Escaped<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.write_str(&printable(text))
    }
}

/// What stands inside of quotes in a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quotes {
    /// Nothing is known of quotes: all ends of lines are the stream's.
    Ignored,
    /// Between `"` and `"` stands the text of others, as in CSV and the value notation of ASN.1: ends of lines there are shown
    /// as escapes.
    HoldText,
}

/// A stream that goes to a terminal: text whose ends of lines and tabs stay, and all else that would mislead is shown as escapes.
/// Octets that are no UTF-8 are shown as `\xff`.
#[derive(Debug)]
pub struct Escaping<W: io::Write> {
    out: W,
    quotes: Quotes,
    is_inside: bool,
    /// The begin of a character whose end has not come yet.
    begun: Vec<u8>,
    text: String,
}

impl<W: io::Write> Escaping<W> {
    /// Writes to `out`.
    pub fn new(out: W, quotes: Quotes) -> Self {
        Self { out, quotes, is_inside: false, begun: Vec::new(), text: String::new() }
    }

    fn push(&mut self, text: &str) {
        for c in text.chars() {
            if c == '"' && self.quotes == Quotes::HoldText {
                self.is_inside = !self.is_inside;
            }
            let is_end = c == '\n' || c == '\t';
            // Writing to memory does not fail.
            _ = if !misleads(c) || is_end && !self.is_inside {
                self.text.write_char(c)
            } else {
                escape(c, &mut self.text)
            };
        }
    }

    fn push_octets(&mut self, octets: &[u8]) {
        for octet in octets {
            _ = write!(self.text, "\\x{octet:02x}");
        }
    }
}

impl<W: io::Write> io::Write for Escaping<W> {
    fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
        let begun = std::mem::take(&mut self.begun);
        let joined =
            if begun.is_empty() { Cow::Borrowed(octets) } else { Cow::Owned([&begun, octets].concat()) };
        let mut rest = &*joined;
        self.text.clear();
        loop {
            match str::from_utf8(rest) {
                Ok(text) => {
                    self.push(text);
                    break;
                }
                Err(error) => {
                    let (good, bad) = rest.split_at(error.valid_up_to());
                    self.push(str::from_utf8(good).unwrap_or_default());
                    let Some(length) = error.error_len() else {
                        self.begun = bad.to_vec();
                        break;
                    };
                    self.push_octets(&bad[..length]);
                    rest = &bad[length..];
                }
            }
        }
        self.out.write_all(self.text.as_bytes())?;
        Ok(octets.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl<W: io::Write> Drop for Escaping<W> {
    fn drop(&mut self) {
        // A character that was cut at the end of the stream.
        let begun = std::mem::take(&mut self.begun);
        self.text.clear();
        self.push_octets(&begun);
        _ = self.out.write_all(self.text.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    #[test]
    fn what_would_mislead_is_shown_as_escapes() {
        for (text, expected) in [
            ("plain ä 日本 👍 a\u{200d}b", "plain ä 日本 👍 a\u{200d}b"),
            ("\u{1b}]0;title\u{7}", "\\x1b]0;title\\x07"),
            ("a\r\nb\tc", "a\\r\\nb\\tc"),
            ("\u{9b}31m\u{7f}", "\\x9b31m\\x7f"),
            ("user\u{202e}gpj.exe", "user\\u{202e}gpj.exe"),
            ("\u{2066}a\u{2069}\u{200f}\u{61c}\u{2028}", "\\u{2066}a\\u{2069}\\u{200f}\\u{61c}\\u{2028}"),
            ("\u{feff}a\u{e0041}", "\\u{feff}a\\u{e0041}"),
        ] {
            assert_eq!(printable(text), expected);
            assert_eq!(Printable(text).to_string(), expected);
        }
        assert_eq!(printable_lines("a\n\tb\u{1b}\r\n"), "a\n\tb\\x1b\\r\n");
        assert_eq!(path(Path::new("a\nb")), "a\\nb");
    }

    #[test]
    fn streams_are_escaped_wherever_they_are_cut() {
        // The last octet begins a character.
        let octets =
            b"name,note\n1,\"a\nb \"\"c\nd\"\"\"\n2,\xC3\xA4\x1B[1m\xE2\x80\xAE\xFF\xC3(\xC2\x9B\n\xE2";
        for (quotes, expected) in [
            (
                Quotes::HoldText,
                "name,note\n1,\"a\\nb \"\"c\\nd\"\"\"\n2,ä\\x1b[1m\\u{202e}\\xff\\xc3(\\x9b\n\\xe2",
            ),
            (
                Quotes::Ignored,
                "name,note\n1,\"a\nb \"\"c\nd\"\"\"\n2,ä\\x1b[1m\\u{202e}\\xff\\xc3(\\x9b\n\\xe2",
            ),
        ] {
            for at in 0..octets.len() {
                let mut out = Vec::new();
                let mut escaping = Escaping::new(&mut out, quotes);
                escaping.write_all(&octets[..at]).unwrap();
                escaping.write_all(&octets[at..]).unwrap();
                drop(escaping);
                assert_eq!(str::from_utf8(&out), Ok(expected), "{at}");
            }
        }
    }
}
