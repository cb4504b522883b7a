//! Reading LDIF (RFC 2849), record by record.

use std::io::BufRead;
use std::path::PathBuf;

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
    /// The line that was read ahead, with its line break removed.
    ahead: Vec<u8>,
    at_end: bool,
    number: u64,
    started: bool,
}

/// A line as it means: name, and value.
type Line = (String, Vec<u8>);

impl<R: BufRead> Reader<R> {
    /// A reader with the usual options.
    pub fn new(input: R) -> Self {
        Self::with_options(input, ReaderOptions::default())
    }

    /// A reader.
    pub const fn with_options(input: R, options: ReaderOptions) -> Self {
        Self { input, options, ahead: Vec::new(), at_end: false, number: 0, started: false }
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

    fn next_record(&mut self) -> Result<Option<Record>> {
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
            controls.push(control(&String::from_utf8_lossy(value))?);
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
        let mut line = if first.is_some() { first } else { self.line()? };
        while let Some((name, value)) = line {
            // Values of an attribute stand together nearly always.
            let place = attributes.iter().rposition(|(known, _)| known.eq_ignore_ascii_case(&name));
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
        loop {
            match self.raw()? {
                None => return Ok(None),
                Some(raw) if raw.is_empty() => {}
                Some(raw) => return self.parse(&raw).map(Some),
            }
        }
    }

    /// The next line of this record; nothing at its end.
    fn line(&mut self) -> Result<Option<Line>> {
        match self.raw()? {
            None => Ok(None),
            Some(raw) if raw.is_empty() => Ok(None),
            Some(raw) => self.parse(&raw).map(Some),
        }
    }

    fn parse(&self, raw: &[u8]) -> Result<Line> {
        if raw == b"-" {
            return Ok(("-".to_owned(), Vec::new()));
        }
        let Some(colon) = memchr::memchr(b':', raw) else {
            return Err(syntax("`:` expected"));
        };
        let (name, rest) = raw.split_at(colon);
        let name = std::str::from_utf8(name).ok().filter(|name| !name.is_empty() && !name.contains(' '));
        let name = name.ok_or_else(|| syntax("an attribute description expected"))?.to_owned();
        let value = match rest {
            [b':', b':', text @ ..] => {
                let text = text.trim_ascii();
                STANDARD.decode(text).map_err(|error| syntax(&format!("base64: {error}")))?
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

    /// The next line with its continuations, without comments; nothing at the end.
    fn raw(&mut self) -> Result<Option<Vec<u8>>> {
        loop {
            let mut line = std::mem::take(&mut self.ahead);
            if line.is_empty() && (self.at_end || !self.physical(&mut line)?) {
                return Ok(None);
            }
            if line == b"\n" {
                return Ok(Some(Vec::new()));
            }
            strip_break(&mut line);
            loop {
                let mut next = Vec::new();
                if !self.physical(&mut next)? {
                    break;
                }
                if next.first() != Some(&b' ') {
                    self.ahead = next;
                    break;
                }
                strip_break(&mut next);
                line.extend_from_slice(next.get(1..).unwrap_or_default());
                if line.len() > self.options.line {
                    return Err(Error::new(ErrorKind::Limit, "a line is too long"));
                }
            }
            if line.first() != Some(&b'#') {
                return Ok(Some(line));
            }
        }
    }

    /// Reads a line as it stands, its break as `\n` alone.
    fn physical(&mut self, line: &mut Vec<u8>) -> Result<bool> {
        loop {
            let available = self.input.fill_buf().map_err(Error::from)?;
            if available.is_empty() {
                self.at_end = true;
                break;
            }
            let end = memchr::memchr(b'\n', available).map(|at| at + 1);
            let taken = end.unwrap_or(available.len());
            line.extend_from_slice(available.get(..taken).unwrap_or_default());
            self.input.consume(taken);
            if end.is_some() {
                break;
            }
            if line.len() > self.options.line {
                return Err(Error::new(ErrorKind::Limit, "a line is too long"));
            }
        }
        if line.is_empty() {
            return Ok(false);
        }
        self.number += 1;
        if line == b"\r\n" {
            line.remove(0);
        }
        Ok(true)
    }
}

impl<R: BufRead> Iterator for Reader<R> {
    type Item = Result<Record>;

    fn next(&mut self) -> Option<Self::Item> {
        let record = self.record();
        if record.is_err() {
            self.at_end = true;
            self.ahead.clear();
        }
        record.transpose()
    }
}

fn strip_break(line: &mut Vec<u8>) {
    if line.last() == Some(&b'\n') {
        line.pop();
        if line.last() == Some(&b'\r') {
            line.pop();
        }
    }
}

/// `OID [true|false] [: value | :: base64]`
fn control(text: &str) -> Result<Control> {
    let (head, value) = match text.find(':') {
        None => (text, None),
        Some(colon) => {
            let (head, rest) = text.split_at(colon);
            let value = match rest.strip_prefix("::") {
                Some(text) => {
                    STANDARD.decode(text.trim()).map_err(|error| syntax(&format!("base64: {error}")))?
                }
                None => rest.trim_start_matches(':').trim_start().as_bytes().to_vec(),
            };
            (head, Some(value))
        }
    };
    let mut words = head.split_whitespace();
    let oid = words.next().filter(|oid| oid.bytes().all(|octet| octet.is_ascii_digit() || octet == b'.'));
    let oid = oid.ok_or_else(|| syntax("control: an object identifier expected"))?;
    let critical = match words.next() {
        None | Some("false") => false,
        Some("true") => true,
        Some(_) => return Err(syntax("control: `true` or `false` expected")),
    };
    Ok(Control { oid: oid.to_owned(), critical, value })
}

fn utf8(octets: Vec<u8>) -> Result<String> {
    String::from_utf8(octets).map_err(|_| syntax("no UTF-8"))
}

#[cold]
fn syntax(message: &str) -> Error {
    Error::new(ErrorKind::Syntax, message)
}
