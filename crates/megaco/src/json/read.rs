//! Reads values from JSON.

use std::borrow::Cow;

use crate::value::{Source, Word};
use crate::{Error, Result};

/// Deeper than any message.
const DEEPEST: usize = 64;

/// A JSON value and where it stands.
#[derive(Debug)]
pub(super) struct Json {
    at: usize,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Null,
    Word(&'static str),
    Number(u32),
    Text(Vec<u8>),
    List(Vec<Json>),
    Object(Vec<(Vec<u8>, Json)>),
}

/// Parses a text that is one value.
pub(super) fn parse(text: &[u8]) -> Result<Json> {
    let mut parser = Parser { text, at: 0, is_whole: true, fault: None };
    let json = parser.value(0)?;
    parser.skip();
    if parser.at == text.len() { Ok(json) } else { Err(Error::new(parser.at, "the end of the JSON text")) }
}

/// Parses what a text has before the first place where it is no JSON, and says where that is.
pub(super) fn parse_begin(text: &[u8]) -> Result<(Json, Option<Error>)> {
    let mut parser = Parser { text, at: 0, is_whole: false, fault: None };
    let json = parser.value(0)?;
    Ok((json, parser.fault))
}

struct Parser<'t> {
    text: &'t [u8],
    at: usize,
    /// Whether all of the text has to be JSON.
    is_whole: bool,
    /// Where it was none, if it need not be.
    fault: Option<Error>,
}

impl Parser<'_> {
    fn skip(&mut self) {
        while matches!(self.text.get(self.at), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    fn accept(&mut self, octet: u8) -> bool {
        self.skip();
        let here = self.text.get(self.at) == Some(&octet);
        self.at += usize::from(here);
        here
    }

    fn expect(&mut self, octet: u8, what: &'static str) -> Result<()> {
        if self.accept(octet) { Ok(()) } else { Err(Error::new(self.at, what)) }
    }

    fn value(&mut self, depth: usize) -> Result<Json> {
        const WHAT: &str =
            "a JSON value: null, true, false, a number of 32 bits, a string, a list or an object";
        if depth > DEEPEST {
            return Err(Error::new(self.at, "JSON of at most 64 levels"));
        }
        self.skip();
        let at = self.at;
        let rest = &self.text[at..];
        let kind = match rest.first() {
            Some(b'{') => {
                self.at += 1;
                let mut members = Vec::new();
                let read = self.members(depth, &mut members);
                self.forgive(read)?;
                Kind::Object(members)
            }
            Some(b'[') => {
                self.at += 1;
                let mut elements = Vec::new();
                let read = self.elements(depth, &mut elements);
                self.forgive(read)?;
                Kind::List(elements)
            }
            Some(b'"') => Kind::Text(self.string()?),
            Some(b'0'..=b'9') => {
                let length = rest.iter().position(|octet| !octet.is_ascii_digit()).unwrap_or(rest.len());
                self.at += length;
                let digits = std::str::from_utf8(&rest[..length]).unwrap_or_default();
                Kind::Number(digits.parse().map_err(|_| Error::new(at, WHAT))?)
            }
            _ => {
                let word =
                    [("null", Kind::Null), ("true", Kind::Word("true")), ("false", Kind::Word("false"))];
                let found = word.into_iter().find(|(word, _)| rest.starts_with(word.as_bytes()));
                let (word, kind) = found.ok_or_else(|| Error::new(at, WHAT))?;
                self.at += word.len();
                kind
            }
        };
        Ok(Json { at, kind })
    }

    /// The members of an object behind its brace.
    fn members(&mut self, depth: usize, members: &mut Vec<(Vec<u8>, Json)>) -> Result<()> {
        if self.accept(b'}') {
            return Ok(());
        }
        loop {
            self.skip();
            let name = self.string()?;
            self.expect(b':', "`:`")?;
            let value = self.value(depth + 1)?;
            // Only the message itself is of use if it is not whole.
            if self.fault.is_none() || depth == 0 {
                members.push((name, value));
            }
            self.fault.map_or(Ok(()), Err)?;
            if !self.accept(b',') {
                return self.expect(b'}', "`,` or `}`");
            }
        }
    }

    /// The elements of a list behind its bracket.
    fn elements(&mut self, depth: usize, elements: &mut Vec<Json>) -> Result<()> {
        if self.accept(b']') {
            return Ok(());
        }
        loop {
            elements.push(self.value(depth + 1)?);
            self.fault.map_or(Ok(()), Err)?;
            if !self.accept(b',') {
                return self.expect(b']', "`,` or `]`");
            }
        }
    }

    /// Notes where the text is no JSON, if all of it need not be.
    fn forgive(&mut self, read: Result<()>) -> Result<()> {
        if self.is_whole {
            return read;
        }
        self.fault = read.err().or(self.fault);
        Ok(())
    }

    /// A string, whose characters are octets.
    fn string(&mut self) -> Result<Vec<u8>> {
        const WHAT: &str = "a string of the characters U+0000 to U+00FF";
        let start = self.at;
        self.expect(b'"', "a string")?;
        let mut octets = Vec::new();
        loop {
            let error = Error::new(start, WHAT);
            let &octet = self.text.get(self.at).ok_or(error)?;
            self.at += 1;
            match octet {
                b'"' => return Ok(octets),
                b'\\' => {
                    let &escape = self.text.get(self.at).ok_or(error)?;
                    self.at += 1;
                    octets.push(match escape {
                        b'"' | b'\\' | b'/' => escape,
                        b'n' => b'\n',
                        b'r' => b'\r',
                        b't' => b'\t',
                        b'b' => 8,
                        b'f' => 12,
                        b'u' => {
                            let digits = self
                                .text
                                .get(self.at..self.at + 4)
                                .and_then(|digits| std::str::from_utf8(digits).ok());
                            let number = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
                            self.at += 4;
                            number.ok_or(error)?
                        }
                        _ => return Err(error),
                    });
                }
                0..=31 => return Err(error),
                0xc2 | 0xc3 => {
                    let &next = self.text.get(self.at).filter(|next| **next & 0xc0 == 0x80).ok_or(error)?;
                    self.at += 1;
                    octets.push(octet << 6 | next & 0x3f);
                }
                128.. => return Err(error),
                _ => octets.push(octet),
            }
        }
    }
}

/// What a reader stands before.
#[derive(Clone, Copy)]
enum Here<'t> {
    Value(&'t Json),
    Absent,
}

pub(super) struct Reader<'t> {
    version: u8,
    /// The value that comes next.
    here: Here<'t>,
    at: usize,
    records: Vec<&'t [(Vec<u8>, Json)]>,
    lists: Vec<std::slice::Iter<'t, Json>>,
}

impl<'t> Reader<'t> {
    pub(super) const fn new(json: &'t Json) -> Self {
        Self { version: 1, here: Here::Value(json), at: json.at, records: Vec::new(), lists: Vec::new() }
    }

    fn kind(&mut self, what: &'static str) -> Result<&'t Kind> {
        match self.here {
            Here::Value(json) => {
                self.at = json.at;
                Ok(&json.kind)
            }
            Here::Absent => Err(Error::new(self.at, what)),
        }
    }
}

impl Source<'static> for Reader<'_> {
    type Word = Cow<'static, [u8]>;

    fn version(&self) -> u8 {
        self.version
    }

    fn set_version(&mut self, version: u8) {
        self.version = version;
    }

    fn error(&self, what: &'static str) -> Error {
        Error::new(self.at, what)
    }

    fn record(&mut self, name: &'static Word, _: usize) -> Result<()> {
        let name = name.text;
        match self.kind(name)? {
            Kind::Object(members) => {
                self.records.push(members);
                Ok(())
            }
            _ => Err(self.error(name)),
        }
    }

    fn field(&mut self, name: &'static str) -> Result<()> {
        let members = self.records.last().copied().unwrap_or_default();
        let member = members.iter().find(|member| member.0 == name.as_bytes());
        self.here = member.map_or(Here::Absent, |member| Here::Value(&member.1));
        if self.records.len() > DEEPEST { Err(self.error(name)) } else { Ok(()) }
    }

    fn end_record(&mut self) -> Result<()> {
        self.records.pop();
        Ok(())
    }

    fn absent(&mut self) -> Result<bool> {
        Ok(matches!(self.here, Here::Absent | Here::Value(Json { kind: Kind::Null, .. })))
    }

    fn atom(&mut self) -> Result<Self::Word> {
        match self.kind("a string")? {
            Kind::Word(word) => Ok(Cow::Borrowed(word.as_bytes())),
            Kind::Text(text) => Ok(Cow::Owned(text.clone())),
            _ => Err(self.error("a string, true or false")),
        }
    }

    fn number(&mut self) -> Result<u32> {
        match self.kind("a number")? {
            Kind::Number(number) => Ok(*number),
            _ => Err(self.error("a number")),
        }
    }

    fn string(&mut self) -> Result<Cow<'static, [u8]>> {
        match self.kind("a string")? {
            Kind::Text(text) => Ok(Cow::Owned(text.clone())),
            _ => Err(self.error("a string")),
        }
    }

    fn octets(&mut self) -> Result<Cow<'static, [u8]>> {
        let text = self.string()?;
        let pairs = text.chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok());
        pairs.collect::<Option<Vec<u8>>>().map(Cow::Owned).ok_or_else(|| self.error("hexadecimal digits"))
    }

    fn termination(&mut self) -> Result<Cow<'static, [u8]>> {
        self.string()
    }

    fn list(&mut self) -> Result<()> {
        if self.absent()? {
            self.lists.push([].iter());
            return Ok(());
        }
        match self.kind("a list")? {
            Kind::List(elements) => {
                self.lists.push(elements.iter());
                Ok(())
            }
            _ => Err(self.error("a list")),
        }
    }

    fn element(&mut self) -> Result<bool> {
        let next = self.lists.last_mut().and_then(Iterator::next);
        match next {
            Some(element) => self.here = Here::Value(element),
            None => _ = self.lists.pop(),
        }
        Ok(next.is_some())
    }

    fn choice(&mut self) -> Result<Self::Word> {
        const WHAT: &str = "an object with one member: the alternative";
        match self.kind(WHAT)? {
            Kind::Object(members) => match &members[..] {
                [(tag, value)] => {
                    self.here = Here::Value(value);
                    Ok(Cow::Owned(tag.clone()))
                }
                _ => Err(self.error(WHAT)),
            },
            _ => Err(self.error(WHAT)),
        }
    }

    fn end_choice(&mut self) -> Result<()> {
        Ok(())
    }
}
