//! Hexdumps: lines with an offset, octets in hexadecimal, and a column of text that is passed over.

use super::spelled::Out;

/// Digits of an offset at least.
const OFFSET: usize = 4;
/// Octets that a line `*` may stand for.
const REPEATED: u64 = 64 << 20;

/// The bases that offsets may be in: `od` counts in octal, some programs in decimal.
const BASES: [u32; 3] = [16, 8, 10];

/// Reads a dump line by line. An offset of zero begins another packet.
#[derive(Debug, Default)]
pub(super) struct Dump {
    /// Octets of the packet so far.
    count: u64,
    /// The place of the base of offsets in [`BASES`].
    base: usize,
    /// The octets of the line before, for `*`.
    before: Vec<u8>,
    repeats: bool,
}

/// A line of a dump.
struct Line<'t> {
    offset: &'t str,
    octets: Vec<u8>,
}

impl Dump {
    /// Whether a text has lines of a dump: the first one at offset zero, and the next ones where they have to be.
    pub(super) fn fits(text: &str, whole: bool) -> bool {
        let mut lines = text.lines().peekable();
        let mut dump = Self::default();
        let (mut out, mut count, mut alone) = (Out::default(), 0, 0);
        while let Some(line) = lines.next() {
            // The last line may be cut.
            if !whole && lines.peek().is_none() {
                break;
            }
            let found = parse(line);
            match &found {
                Ok(Some(line)) if count == 0 && line.offset.trim_start_matches('0').is_empty() => {
                    // Digits in columns are told from an offset and octets by what is between.
                    let (_, rest) = line_parts(line.offset, text);
                    let told = rest.starts_with([':', '\t']) || rest.starts_with("  ");
                    if !told && line.offset.len() < 6 || line.octets.is_empty() {
                        return false;
                    }
                    // `od` has one blank: then one line alone could be digits.
                    alone = usize::from(!told);
                    count = 1;
                }
                Ok(Some(_)) if count == 0 => return false,
                // The words of `hexdump` and `od`, which are told to be such when they are read.
                Err(("0000000", _)) if count == 0 && is_digits(line) => return true,
                Ok(Some(_)) => count += 1,
                // Digits alone in front of the first line are another form.
                Ok(None) if count == 0 && !line.trim().is_empty() && is_digits(line) => return false,
                _ => {}
            }
            if count > 0 && dump.line(line, &mut out).is_err() {
                // A dump has begun: the fault is told when it is read.
                return alone == 0 || count > 3;
            }
            out.clear();
        }
        count > alone
    }

    pub(super) fn line(&mut self, text: &str, out: &mut Out) -> Result<(), String> {
        if text.trim() == "*" {
            self.repeats = !self.before.is_empty();
            return Ok(());
        }
        let line = match parse(text) {
            Ok(Some(line)) => line,
            Ok(None) => return Ok(()),
            // Prose may begin with digits; a line at the next offset is one of the dump.
            Err((offset, message)) => {
                let next = number(offset, BASES[self.base]) == Some(self.count);
                return if next { Err(message) } else { Ok(()) };
            }
        };
        if line.offset.trim_start_matches('0').is_empty() {
            out.end();
            out.begin();
            (self.count, self.repeats) = (0, false);
        } else {
            self.reach(line.offset, out)?;
        }
        self.count += line.octets.len() as u64;
        out.octets.extend_from_slice(&line.octets);
        if !line.octets.is_empty() {
            self.before = line.octets;
        }
        Ok(())
    }

    /// Checks that an offset is where the packet has come to, or repeats the line before up to it.
    fn reach(&mut self, offset: &str, out: &mut Out) -> Result<(), String> {
        if self.repeats {
            self.repeats = false;
            let Some(missing) = number(offset, BASES[self.base]).and_then(|end| end.checked_sub(self.count))
            else {
                return Err(format!("offset {offset} after {} bytes", self.count));
            };
            let width = self.before.len() as u64;
            if missing > REPEATED || missing % width != 0 {
                return Err(format!("`*` that replaces {missing} bytes, in lines of {width}"));
            }
            for _ in 0..missing / width {
                out.octets.extend_from_slice(&self.before);
            }
            self.count += missing;
            return Ok(());
        }
        let fits = |base: u32| number(offset, base) == Some(self.count);
        if fits(BASES[self.base]) {
            return Ok(());
        }
        // The first offset beyond zero tells the base.
        match BASES.iter().position(|base| fits(*base)) {
            // `od` alone has other bases, and prints seven digits then.
            Some(base) if self.count == self.before.len() as u64 && offset.len() == 7 => {
                self.base = base;
                Ok(())
            }
            _ => Err(format!(
                "offset {offset} after {} bytes: lines are missing or not in hexadecimal",
                self.count
            )),
        }
    }
}

fn number(digits: &str, base: u32) -> Option<u64> {
    u64::from_str_radix(digits, base).ok()
}

/// Whether a line has hexadecimal digits and blanks alone.
fn is_digits(line: &str) -> bool {
    line.bytes().all(|octet| octet.is_ascii_hexdigit() || octet.is_ascii_whitespace())
}

/// The text before and after the first place of an offset.
fn line_parts<'t>(offset: &str, text: &'t str) -> (&'t str, &'t str) {
    let at = text.find(offset).unwrap_or(0);
    (&text[..at], text.get(at + offset.len()..).unwrap_or_default())
}

/// Reads a line; nothing if it does not begin with an offset. An error has the offset and the fault.
fn parse(text: &str) -> Result<Option<Line<'_>>, (&str, String)> {
    let text = text.trim_end();
    let begin = text.trim_start();
    let begin = begin.strip_prefix("0x").unwrap_or(begin);
    let digits = begin.bytes().take_while(u8::is_ascii_hexdigit).count();
    let (offset, rest) = begin.split_at(digits);
    if !(OFFSET..=16).contains(&digits) {
        return Ok(None);
    }
    let (colon, mut rest) = match rest.strip_prefix(':') {
        Some(rest) => (true, rest),
        None => (false, rest),
    };
    if !rest.is_empty() && !rest.starts_with([' ', '\t']) {
        return Ok(None);
    }
    let mut octets = Vec::new();
    loop {
        let blanks = rest.bytes().take_while(|octet| matches!(octet, b' ' | b'\t')).count();
        let word = rest[blanks..].split([' ', '\t']).next().unwrap_or_default();
        if word.is_empty() || word.starts_with(['|', '>', '<']) {
            break;
        }
        // Two blanks lead to the text, but in the middle of sixteen octets.
        let middle = !colon && octets.len() == 8 && blanks == 2 && word.len() == 2;
        if blanks >= 2 && !octets.is_empty() && !middle {
            break;
        }
        let is_hex = word.bytes().all(|octet| octet.is_ascii_hexdigit());
        let fits = if colon { word.len().is_multiple_of(2) } else { word.len() == 2 };
        if !is_hex || !fits {
            if middle {
                break;
            }
            let hint = match is_hex && word.len() > 2 && !colon {
                true => {
                    "\nhelp: `hexdump` and `od` print words by default: use `hexdump -C`, `od -t x1` or `xxd`"
                }
                false => "",
            };
            return Err((offset, format!("`{}` is not a byte in hexadecimal{hint}", word.escape_debug())));
        }
        for pair in word.as_bytes().chunks_exact(2) {
            let digit = |octet: u8| char::from(octet).to_digit(16).unwrap_or_default() as u8;
            octets.push(digit(pair[0]) << 4 | digit(pair[1]));
        }
        rest = &rest[blanks + word.len()..];
    }
    // An offset alone ends a dump; anything else with a colon is prose.
    if octets.is_empty() && colon { Ok(None) } else { Ok(Some(Line { offset, octets })) }
}
