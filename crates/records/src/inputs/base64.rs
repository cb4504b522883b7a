//! Base64 (RFC 4648), alone or in blocks of PEM (RFC 7468).

use super::spelled::{Out, pem_label};

/// Blocks of PEM; what stands around them is for people.
#[derive(Debug, Default)]
pub(super) struct Pem {
    /// The label of the block under way.
    label: Option<String>,
    /// Whether lines may be headers still (RFC 1421).
    headers: bool,
    line: usize,
    base64: Base64,
}

impl Pem {
    pub(super) fn line(&mut self, line: &str, out: &mut Out) -> Result<(), String> {
        let Some(label) = &self.label else {
            if let Some(label) = pem_label(line, "BEGIN") {
                (self.label, self.headers, self.line) = (Some(label.to_owned()), true, out.line);
                out.begin();
            }
            return Ok(());
        };
        if let Some(end) = pem_label(line, "END") {
            if end != label {
                return Err(format!("the block of `{label}` ends with `END {end}`"));
            }
            self.label = None;
            self.base64.finish(out)?;
            self.base64 = Base64::default();
            out.end();
            return Ok(());
        }
        if pem_label(line, "BEGIN").is_some() {
            return Err(format!("the block of `{label}` in line {} has no line `END {label}`", self.line));
        }
        if self.headers && line.contains("ENCRYPTED") {
            return Err(format!(
                "the block of `{label}` is encrypted\nhelp: decrypt it first, as with `openssl pkey`"
            ));
        }
        if self.headers && (line.contains(':') || line.starts_with([' ', '\t']) || line.is_empty()) {
            return Ok(());
        }
        self.headers = false;
        // The sum of OpenPGP.
        if line.starts_with('=') && line.len() == 5 {
            return Ok(());
        }
        self.base64.feed(line.as_bytes(), out)
    }

    pub(super) fn finish(&self) -> Result<(), String> {
        match &self.label {
            None => Ok(()),
            Some(label) => {
                Err(format!("the block of `{label}` in line {} has no line `END {label}`", self.line))
            }
        }
    }
}

/// Groups of four letters.
#[derive(Debug, Default)]
pub(super) struct Base64 {
    bits: u32,
    letters: u32,
    padding: u32,
    /// Whether lines tell where values end: padding, or a line that is shorter than the one before.
    whole_lines: bool,
    /// Whether padding has to be there.
    pub(super) padded: bool,
    width: usize,
    column: usize,
}

impl Base64 {
    /// Base64 whose lines may be values.
    pub(super) fn by_line() -> Self {
        Self { whole_lines: true, ..Self::default() }
    }

    pub(super) fn feed(&mut self, text: &[u8], out: &mut Out) -> Result<(), String> {
        for &octet in text {
            let value = match octet {
                b'A'..=b'Z' => octet - b'A',
                b'a'..=b'z' => octet - b'a' + 26,
                b'0'..=b'9' => octet - b'0' + 52,
                b'+' | b'-' => 62,
                b'/' | b'_' => 63,
                b'=' => {
                    self.padding += 1;
                    self.column += 1;
                    if self.letters < 2 || self.letters + self.padding > 4 {
                        return Err("`=` where no base64 letter may be missing".to_owned());
                    }
                    if self.letters + self.padding == 4 {
                        self.flush(out)?;
                        if self.whole_lines {
                            out.end();
                        }
                    }
                    continue;
                }
                b'\n' if self.whole_lines => {
                    self.line_end(out)?;
                    continue;
                }
                octet if octet.is_ascii_whitespace() => continue,
                // The mark of UTF-8.
                0xEF | 0xBB | 0xBF if out.octets.is_empty() => continue,
                _ => return Err(format!("`{}` is not a base64 letter", char::from(octet).escape_default())),
            };
            if self.padding > 0 {
                return Err("a base64 letter after `=`".to_owned());
            }
            if self.column == 0 && self.whole_lines && out.octets.len() == out.begin && self.letters == 0 {
                out.begin();
            }
            self.column += 1;
            self.bits = self.bits << 6 | u32::from(value);
            self.letters += 1;
            if self.letters == 4 {
                self.flush(out)?;
            }
        }
        Ok(())
    }

    /// Ends a line: one that is shorter than the first of its value, or short altogether, ends the value.
    fn line_end(&mut self, out: &mut Out) -> Result<(), String> {
        let wrapped = self.column >= 48 && (self.width == 0 || self.column == self.width);
        if self.column > 0 && self.padding == 0 && !wrapped {
            self.flush(out)?;
            out.end();
        }
        self.width = if wrapped { self.column } else { 0 };
        self.column = 0;
        Ok(())
    }

    /// Gives the octets of the letters that there are.
    fn flush(&mut self, out: &mut Out) -> Result<(), String> {
        let octets = (self.bits << (6 * (4 - self.letters.min(4)))).to_be_bytes();
        let count = match self.letters {
            0 => 0,
            1 => return Err("a base64 letter is missing at the end".to_owned()),
            letters if self.padded && letters + self.padding < 4 => {
                return Err("`=` is missing at the end".to_owned());
            }
            letters => letters as usize - 1,
        };
        out.octets.extend_from_slice(&octets[1..=count]);
        (self.bits, self.letters, self.padding) = (0, 0, 0);
        Ok(())
    }

    pub(super) fn finish(&mut self, out: &mut Out) -> Result<(), String> {
        if self.padding > 0 { Err("`=` is missing at the end".to_owned()) } else { self.flush(out) }
    }
}
