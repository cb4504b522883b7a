//! Hexadecimal digits, alone or in arrays and strings of programming languages.

use super::spelled::Out;

/// Digits; `0x`, `\x`, and what stands between the digits in many notations, are passed over.
#[derive(Debug, Default)]
pub(super) struct Hex {
    by_line: bool,
    high: Option<u8>,
    /// Whether the number under way begins with `0x`, so that one digit is an octet.
    prefixed: bool,
    digits: u32,
    escape: bool,
}

impl Hex {
    /// Digits whose lines are values, or all of them are one.
    pub(super) fn new(by_line: bool) -> Self {
        Self { by_line, ..Self::default() }
    }

    pub(super) fn feed(&mut self, text: &[u8], out: &mut Out) -> Result<(), String> {
        for &octet in text {
            let escape = std::mem::take(&mut self.escape);
            if let Some(digit) = char::from(octet).to_digit(16) {
                let digit = digit as u8;
                if self.high.is_none() && out.octets.len() == out.begin {
                    out.begin();
                }
                self.digits += 1;
                match self.high.take() {
                    None => self.high = Some(digit),
                    Some(high) => out.octets.push(high << 4 | digit),
                }
                continue;
            }
            match octet {
                b'x' | b'X' if self.high == Some(0) && self.digits == 1 => {
                    (self.high, self.digits, self.prefixed) = (None, 0, true);
                }
                b'x' if escape => {}
                b'\\' => self.escape = true,
                b' ' | b'\t' | b'\r' | b'\n' | b':' | b',' | b';' | b'\'' | b'"' | b'-' | b'H' | b'h' => {
                    self.number_end(out);
                    if octet == b'\n' && self.by_line {
                        self.line_end(out)?;
                    }
                }
                0xEF | 0xBB | 0xBF if out.octets.is_empty() => {}
                _ => {
                    return Err(format!(
                        "`{}` is not a hexadecimal digit",
                        char::from(octet).escape_default()
                    ));
                }
            }
        }
        Ok(())
    }

    fn number_end(&mut self, out: &mut Out) {
        if self.prefixed && self.digits == 1 {
            out.octets.extend(self.high.take());
        }
        (self.prefixed, self.digits) = (false, 0);
    }

    fn line_end(&mut self, out: &mut Out) -> Result<(), String> {
        if self.high.is_some() {
            return Err("a hexadecimal digit is missing at the end".to_owned());
        }
        out.end();
        Ok(())
    }

    pub(super) fn finish(&mut self, out: &mut Out) -> Result<(), String> {
        self.number_end(out);
        self.line_end(out)
    }
}

/// Arrays in braces or brackets, and strings with `\x`; what stands around them is not looked at.
#[derive(Debug, Default)]
pub(super) struct Array {
    place: Place,
    /// The word under way inside of an array.
    word: String,
    /// The octets of the array under way.
    octets: Vec<u8>,
    /// Whether it has a number with `0x`: others, such as `[60]`, are sizes.
    hexadecimal: bool,
    before: u8,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Place {
    #[default]
    Outside,
    Inside,
    /// A comment `/* … */`, with the place around it.
    Comment {
        inside: bool,
    },
    /// A comment to the end of the line.
    LineComment {
        inside: bool,
    },
    /// A string with so many digits of the escape under way, and their value.
    Text {
        escape: Option<(u8, u8)>,
    },
}

impl Array {
    pub(super) fn feed(&mut self, text: &[u8], out: &mut Out) -> Result<(), String> {
        for &octet in text {
            let before = std::mem::replace(&mut self.before, octet);
            let inside = match self.place {
                Place::Outside => false,
                Place::Inside => true,
                Place::Comment { inside } | Place::LineComment { inside } => {
                    let ends = match self.place {
                        Place::Comment { .. } => before == b'*' && octet == b'/',
                        _ => octet == b'\n',
                    };
                    if ends {
                        self.place = if inside { Place::Inside } else { Place::Outside };
                        self.before = b' ';
                    }
                    continue;
                }
                Place::Text { escape } => {
                    self.text(octet, before, escape)?;
                    continue;
                }
            };
            match octet {
                b'*' | b'/' if before == b'/' => {
                    self.word.pop();
                    let comment = |inside| match octet {
                        b'*' => Place::Comment { inside },
                        _ => Place::LineComment { inside },
                    };
                    (self.place, self.before) = (comment(inside), b' ');
                }
                b'"' => {
                    if self.octets.is_empty() {
                        out.begin();
                    }
                    self.place = Place::Text { escape: None };
                }
                b'{' | b'[' => {
                    self.array_end(out);
                    out.begin();
                    self.place = Place::Inside;
                }
                b'}' | b']' => {
                    self.word_end()?;
                    self.array_end(out);
                    self.place = Place::Outside;
                }
                // Strings that follow on each other are one.
                _ if !inside && octet != b'\\' && !octet.is_ascii_whitespace() => self.array_end(out),
                b',' if inside => self.word_end()?,
                _ if inside && octet.is_ascii_whitespace() => self.word_end()?,
                _ if inside && self.word.len() < 64 => self.word.push(char::from(octet)),
                _ => {}
            }
        }
        Ok(())
    }

    /// An octet of a string, of which only those with `\x` count.
    fn text(&mut self, octet: u8, before: u8, escape: Option<(u8, u8)>) -> Result<(), String> {
        let digit = char::from(octet).to_digit(16).map(|digit| digit as u8);
        let mut next = None;
        match (escape, digit) {
            (Some((0, _)), Some(digit)) => next = Some((1, digit)),
            (Some((_, high)), Some(digit)) => {
                self.octets.push(high << 4 | digit);
                self.hexadecimal = true;
            }
            (Some(_), None) => return Err("`\\x` without two hexadecimal digits".to_owned()),
            (None, _) if before == b'\\' && octet == b'x' => next = Some((0, 0)),
            (None, _) if before == b'\\' => {
                self.octets.push(match octet {
                    b'n' => b'\n',
                    b't' => b'\t',
                    b'r' => b'\r',
                    b'0' => 0,
                    other => other,
                });
                self.before = b' ';
            }
            (None, _) if octet == b'"' => {
                self.place = Place::Outside;
                // Strings without octets are for people.
                if !self.hexadecimal {
                    self.octets.clear();
                }
                return Ok(());
            }
            (None, _) if octet == b'\\' => {}
            (None, _) => self.octets.push(octet),
        }
        self.place = Place::Text { escape: next };
        Ok(())
    }

    fn word_end(&mut self) -> Result<(), String> {
        let word = std::mem::take(&mut self.word);
        // `(byte)0x82` and the like.
        let number = word.rsplit(')').next().unwrap_or_default();
        if number.is_empty() {
            return Ok(());
        }
        let (digits, radix) = match number.strip_prefix("0x").or_else(|| number.strip_prefix("0X")) {
            Some(digits) => (digits, 16),
            None => (number, 10),
        };
        let digits = digits.trim_end_matches(['u', 'U', 'y', 'L', 'l']).trim_end_matches("_u8");
        match u8::from_str_radix(digits, radix) {
            Ok(octet) => {
                self.octets.push(octet);
                self.hexadecimal |= radix == 16;
                Ok(())
            }
            // `[LENGTH]`, `[u8; 60]`: no array of octets, unless some of it was one.
            Err(_) if !self.hexadecimal && radix == 10 => Ok(()),
            Err(_) => Err(format!("`{number}` is not a byte")),
        }
    }

    /// Ends an array: gives its octets if they are some.
    fn array_end(&mut self, out: &mut Out) {
        if self.hexadecimal {
            out.octets.append(&mut self.octets);
            out.end();
        }
        self.octets.clear();
        self.word.clear();
        self.hexadecimal = false;
    }

    pub(super) fn finish(&mut self, out: &mut Out) -> Result<(), String> {
        match self.place {
            Place::Inside if self.hexadecimal => Err("the array has no end".to_owned()),
            Place::Text { .. } if self.hexadecimal => Err("the string has no end".to_owned()),
            _ => {
                self.array_end(out);
                Ok(())
            }
        }
    }
}
