//! Reading LDIF (RFC 2849), record by record.

use std::collections::HashMap;
use std::io::BufRead;
use std::path::PathBuf;

use base64::DecodeError;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::record::{Change, ModificationKind, Record, RecordModification};
use crate::error::{Error, ErrorKind, Result};
use crate::proto::Control;

/// What a reader accepts.
#[derive(Clone, Debug)]
pub struct ReaderOptions {
    /// Octets of a line with its continuations; 64 MiB unless told.
    pub line: usize,
    /// Whether `attribute:< file:///…` reads that file; not unless told.
    pub read_files: bool,
}

impl Default for ReaderOptions {
    fn default() -> Self {
        Self { line: 64 << 20, read_files: false }
    }
}

/// A stream of records. It stops at the first fault.
#[derive(Debug)]
pub struct Reader<R> {
    input: R,
    options: ReaderOptions,
    /// The line that was read last, with its continuations and without line breaks.
    raw: Vec<u8>,
    at_end: bool,
    number: u64,
    started: bool,
    /// Where the lines of the file begin that `raw` is made of: their number, and the length of `raw` before them.
    folds: Vec<(u64, usize)>,
    /// The lines of the record, if somebody asks for them: the name, the number, and where the value begins.
    lines: Option<Vec<RecordLine>>,
}

/// A line of a record: the name before the colon, the number of the line, and the columns before the value.
pub(super) type RecordLine = (String, u64, usize);

/// So many attributes are looked through for the one of a line.
const FEW: usize = 16;

/// A line as it means: name, and value.
type Line = (String, Vec<u8>);

impl<R: BufRead> Reader<R> {
    /// A reader with the usual options.
    pub fn new(input: R) -> Self {
        Self::with_options(input, ReaderOptions::default())
    }

    /// A reader.
    pub const fn with_options(input: R, options: ReaderOptions) -> Self {
        Self {
            input,
            options,
            raw: Vec::new(),
            at_end: false,
            number: 0,
            started: false,
            folds: Vec::new(),
            lines: None,
        }
    }

    /// The number of the line that was read last, from 1.
    #[must_use]
    pub const fn line_number(&self) -> u64 {
        self.number
    }

    /// The next record.
    ///
    /// # Errors
    /// What stands there is no LDIF; reading fails. The message has the number of the line.
    pub fn record(&mut self) -> Result<Option<Record>> {
        self.next_record().map_err(|error| {
            Error::new(error.kind(), format!("line {}: {}", self.number.max(1), error.message()))
        })
    }

    /// Keeps the places of the lines of each record.
    pub(super) fn keep_lines(&mut self) {
        self.lines = Some(Vec::new());
    }

    /// The lines of the record that was read last.
    pub(super) fn lines(&self) -> &[RecordLine] {
        self.lines.as_deref().unwrap_or_default()
    }

    /// The line and the column, from 1, of an octet of the line that was read last.
    pub(super) fn place(&self, at: usize) -> (u64, u64) {
        let after = self.folds.partition_point(|(_, begin)| *begin <= at).max(1) - 1;
        match self.folds.get(after) {
            // A continuation begins with a space, which is not part of the line.
            Some((number, begin)) => (*number, (at - begin + 1 + usize::from(after > 0)) as u64),
            None => (self.number.max(1), 1),
        }
    }

    /// Skips the rest of a record after an error.
    pub(super) fn skip_record(&mut self) -> Result<()> {
        while !self.raw.is_empty() && self.next_raw()? {}
        Ok(())
    }

    pub(super) fn next_record(&mut self) -> Result<Option<Record>> {
        if let Some(lines) = &mut self.lines {
            lines.clear();
        }
        let Some(mut first) = self.first_line()? else {
            return Ok(None);
        };
        if first.0.eq_ignore_ascii_case("version") && !self.started {
            if first.1 != b"1" {
                return Err(syntax("only version 1 is known"));
            }
            self.started = true;
            // The record may follow at once or after empty lines.
            let Some(next) = self.first_line()? else {
                return Ok(None);
            };
            first = next;
        }
        self.started = true;
        if !first.0.eq_ignore_ascii_case("dn") {
            return Err(syntax("`dn:` expected"));
        }
        let dn = utf8(first.1)?;
        let mut controls = Vec::new();
        let mut line = self.line()?;
        while let Some((name, value)) = &line
            && name.eq_ignore_ascii_case("control")
        {
            controls.push(self.control(&String::from_utf8_lossy(value))?);
            line = self.line()?;
        }
        let Some((name, value)) = line else {
            return Ok(Some(Record { dn, controls, change: Change::Add(Vec::new()), is_change: false }));
        };
        if !name.eq_ignore_ascii_case("changetype") {
            let change = self.attributes(Some((name, value)))?;
            return Ok(Some(Record { dn, controls, change, is_change: false }));
        }
        let change = match utf8(value)?.to_ascii_lowercase().as_str() {
            "add" => self.attributes(None)?,
            "delete" => match self.line()? {
                None => Change::Delete,
                Some(_) => return Err(syntax("nothing may follow `changetype: delete`")),
            },
            "modify" => self.modifications()?,
            "modrdn" | "moddn" => self.modify_dn()?,
            _ => return Err(syntax("changetype: add, delete, modify, modrdn or moddn expected")),
        };
        Ok(Some(Record { dn, controls, change, is_change: true }))
    }

    fn attributes(&mut self, first: Option<Line>) -> Result<Change> {
        let mut attributes: Vec<(String, Vec<Vec<u8>>)> = Vec::new();
        let mut places = HashMap::new();
        let mut line = if first.is_some() { first } else { self.line()? };
        while let Some((name, value)) = line {
            // Values of an attribute stand together nearly always; where they do not, all names are looked through as
            // long as they are few.
            let place = if attributes.len() < FEW {
                attributes.iter().rposition(|(known, _)| known.eq_ignore_ascii_case(&name))
            } else if attributes.last().is_some_and(|(known, _)| known.eq_ignore_ascii_case(&name)) {
                Some(attributes.len() - 1)
            } else {
                for (place, (known, _)) in attributes.iter().enumerate().skip(places.len()) {
                    places.insert(known.to_ascii_lowercase(), place);
                }
                places.get(&name.to_ascii_lowercase()).copied()
            };
            match place.and_then(|place| attributes.get_mut(place)) {
                Some((_, values)) => values.push(value),
                None => attributes.push((name, vec![value])),
            }
            line = self.line()?;
        }
        Ok(Change::Add(attributes))
    }

    fn modifications(&mut self) -> Result<Change> {
        let mut modifications = Vec::new();
        while let Some((word, attribute)) = self.line()? {
            if word == "-" {
                continue;
            }
            let kind = ModificationKind::from_word(&word)
                .ok_or_else(|| syntax("`add:`, `delete:`, `replace:` or `increment:` expected"))?;
            let attribute = utf8(attribute)?;
            let mut values = Vec::new();
            let at_end = loop {
                match self.line()? {
                    Some((name, _)) if name == "-" => break false,
                    Some((name, value)) if name.eq_ignore_ascii_case(&attribute) => values.push(value),
                    Some(_) => return Err(syntax(&format!("`{attribute:.100}:` or `-` expected"))),
                    // The `-` behind the last may be missing.
                    None => break true,
                }
            };
            modifications.push(RecordModification { kind, attribute, values });
            if at_end {
                break;
            }
        }
        Ok(Change::Modify(modifications))
    }

    fn modify_dn(&mut self) -> Result<Change> {
        let mut expect = |name: &str| match self.line()? {
            Some((found, value)) if found.eq_ignore_ascii_case(name) => utf8(value),
            _ => Err(syntax(&format!("`{name}:` expected"))),
        };
        let new_rdn = expect("newrdn")?;
        let delete_old_rdn = match expect("deleteoldrdn")?.as_str() {
            "0" => false,
            "1" => true,
            _ => return Err(syntax("deleteoldrdn: 0 or 1 expected")),
        };
        let new_superior = match self.line()? {
            None => None,
            Some((name, value)) if name.eq_ignore_ascii_case("newsuperior") => Some(utf8(value)?),
            Some(_) => return Err(syntax("`newsuperior:` expected")),
        };
        if new_superior.is_some() && self.line()?.is_some() {
            return Err(syntax("nothing may follow `newsuperior:`"));
        }
        Ok(Change::ModifyDn { new_rdn, delete_old_rdn, new_superior })
    }

    /// The first line behind any empty ones.
    fn first_line(&mut self) -> Result<Option<Line>> {
        while self.next_raw()? {
            if !self.raw.is_empty() {
                return self.parsed().map(Some);
            }
        }
        Ok(None)
    }

    /// The next line of this record; nothing at its end.
    fn line(&mut self) -> Result<Option<Line>> {
        let ends = !self.next_raw()? || self.raw.is_empty();
        if ends { Ok(None) } else { self.parsed().map(Some) }
    }

    fn parsed(&mut self) -> Result<Line> {
        let line = self.parse(&self.raw)?;
        if let (Some(lines), Some((number, _))) = (&mut self.lines, self.folds.first()) {
            let value = self.raw.iter().skip(line.0.len() + 1).take_while(|octet| **octet == b' ').count();
            lines.push((line.0.clone(), *number, line.0.len() + 1 + value));
        }
        Ok(line)
    }

    fn parse(&self, raw: &[u8]) -> Result<Line> {
        if raw == b"-" {
            return Ok(("-".to_owned(), Vec::new()));
        }
        let Some(colon) = memchr::memchr(b':', raw) else {
            return Err(Error::at(ErrorKind::Syntax, "`:` expected", raw.len() as u64));
        };
        let (name, rest) = raw.split_at(colon);
        let name = std::str::from_utf8(name).ok().filter(|name| !name.is_empty() && !name.contains(' '));
        let name = name.ok_or_else(|| syntax("an attribute description expected"))?.to_owned();
        let value = match rest {
            [b':', b':', text @ ..] => {
                let begin = colon + 2 + text.iter().take_while(|octet| octet.is_ascii_whitespace()).count();
                STANDARD.decode(text.trim_ascii()).map_err(|error| {
                    let at = match error {
                        DecodeError::InvalidByte(at, _)
                        | DecodeError::InvalidLastSymbol { offset: at, .. } => at,
                        _ => 0,
                    };
                    Error::at(ErrorKind::Syntax, format!("base64: {error}"), (begin + at) as u64)
                })?
            }
            [b':', b'<', url @ ..] => self.url(&String::from_utf8_lossy(url.trim_ascii()))?,
            [_, text @ ..] => {
                let spaces = text.iter().take_while(|octet| **octet == b' ').count();
                text.get(spaces..).unwrap_or_default().to_vec()
            }
            [] => Vec::new(),
        };
        Ok((name, value))
    }

    fn url(&self, url: &str) -> Result<Vec<u8>> {
        let path = url.strip_prefix("file://").ok_or_else(|| syntax("only file:// URLs can be read"))?;
        if !self.options.read_files {
            return Err(syntax(&format!("`{url:.200}` is not read unless files are allowed")));
        }
        std::fs::read(PathBuf::from(path)).map_err(|error| syntax(&format!("{path}: {error}")))
    }

    /// Reads the value of a line `control:` (RFC 2849): `OID [true|false] [: value | :: base64 | :< URL]`.
    fn control(&self, text: &str) -> Result<Control> {
        let (head, value) = match text.find(':') {
            None => (text, None),
            Some(colon) => {
                let (head, rest) = text.split_at(colon);
                let value = match rest.as_bytes().get(1) {
                    Some(b':') => STANDARD
                        .decode(rest.get(2..).unwrap_or_default().trim())
                        .map_err(|error| syntax(&format!("base64: {error}")))?,
                    Some(b'<') => self.url(rest.get(2..).unwrap_or_default().trim())?,
                    _ => rest.get(1..).unwrap_or_default().trim_start().as_bytes().to_vec(),
                };
                (head, Some(value))
            }
        };
        let mut words = head.split_whitespace();
        let is_oid = |oid: &&str| oid.bytes().all(|octet| octet.is_ascii_digit() || octet == b'.');
        let oid = words.next().filter(is_oid);
        let oid = oid.ok_or_else(|| syntax("control: an object identifier expected"))?;
        let critical = match words.next() {
            None | Some("false") => false,
            Some("true") => true,
            Some(_) => return Err(syntax("control: `true` or `false` expected")),
        };
        Ok(Control { oid: oid.to_owned(), critical, value })
    }

    /// Reads the next line with its continuations that is no comment; `false` at the end.
    fn next_raw(&mut self) -> Result<bool> {
        loop {
            self.raw.clear();
            self.folds.clear();
            if self.at_end || !self.physical()? {
                self.at_end = true;
                return Ok(false);
            }
            while !self.raw.is_empty() && self.input.fill_buf()?.first() == Some(&b' ') {
                self.input.consume(1);
                self.physical()?;
            }
            if self.raw.first() != Some(&b'#') {
                return Ok(true);
            }
        }
    }

    /// Appends what stands up to the next line break; `false` if there is nothing any more.
    fn physical(&mut self) -> Result<bool> {
        let begin = self.raw.len();
        let mut is_there = false;
        loop {
            let available = self.input.fill_buf()?;
            if available.is_empty() {
                break;
            }
            is_there = true;
            let end = memchr::memchr(b'\n', available);
            self.raw.extend_from_slice(available.get(..end.unwrap_or(available.len())).unwrap_or_default());
            let taken = end.map_or(available.len(), |at| at + 1);
            self.input.consume(taken);
            if self.raw.len() > self.options.line {
                return Err(Error::new(ErrorKind::Limit, "a line is too long"));
            }
            if end.is_some() {
                if self.raw.len() > begin {
                    self.raw.pop_if(|last| *last == b'\r');
                }
                break;
            }
        }
        self.number += u64::from(is_there);
        if is_there {
            self.folds.push((self.number, begin));
        }
        Ok(is_there)
    }
}

impl<R: BufRead> Iterator for Reader<R> {
    type Item = Result<Record>;

    fn next(&mut self) -> Option<Self::Item> {
        let record = self.record();
        if record.is_err() {
            self.at_end = true;
        }
        record.transpose()
    }
}

fn utf8(octets: Vec<u8>) -> Result<String> {
    String::from_utf8(octets).map_err(|_| syntax("no UTF-8"))
}

#[cold]
fn syntax(message: &str) -> Error {
    Error::new(ErrorKind::Syntax, message)
}
