//! Reads values from terms of `megaco_compressed`: the rules put what the tags stand for between the parts.

use super::nodes::{Kind, Node, Nodes};
use super::rules::{ABSENT, Mode, RULES, Step};
use super::term::DEEPEST;
use crate::model::Head;
use crate::value::Value;
use crate::{Error, Result};

/// Reads a value that borrows from the term.
pub(super) fn read<'a, T: Value<'a>>(term: &'a [u8]) -> Result<T> {
    Nodes::borrowing(&Parser::nodes(term)?).whole()
}

/// The same where the term goes away.
pub(super) fn copy<T: Value<'static>>(term: &[u8]) -> Result<T> {
    Nodes::copying(&Parser::nodes(term)?).whole()
}

/// Reads what a message begins with, whatever is behind it.
pub(super) fn begin(term: &[u8]) -> Result<Head<'_>> {
    Nodes::borrowing(&Parser::nodes(term)?).begin()
}

/// The same where the term goes away.
pub(super) fn copy_begin(term: &[u8]) -> Result<Head<'static>> {
    Nodes::copying(&Parser::nodes(term)?).begin()
}

/// Reads octets into nodes. The depth of the calls is that of the term, which is limited.
struct Parser<'t> {
    octets: &'t [u8],
    at: usize,
    nodes: Vec<Node<'t>>,
}

impl<'t> Parser<'t> {
    fn nodes(octets: &'t [u8]) -> Result<Vec<Node<'t>>> {
        if octets.first() != Some(&super::VERSION) || u32::try_from(octets.len()).is_err() {
            return Err(Error::new(0, "a term: the byte 131"));
        }
        // Messages have a node in three octets.
        let mut parser = Self { octets, at: 1, nodes: Vec::with_capacity(octets.len() / 3 + 8) };
        parser.deep(0)?;
        if parser.at == octets.len() { Ok(parser.nodes) } else { Err(parser.error("the end of the term")) }
    }

    #[cold]
    const fn error(&self, what: &'static str) -> Error {
        Error::new(self.at, what)
    }

    fn rest(&self) -> &'t [u8] {
        self.octets.get(self.at..).unwrap_or_default()
    }

    #[inline]
    fn push(&mut self, kind: Kind, text: &'t [u8], count: usize, at: usize) {
        self.nodes.push(Node { kind, text, count: count as u32, at: at as u32 });
    }

    /// A term in which tags stand for shapes.
    fn deep(&mut self, depth: usize) -> Result<()> {
        let (count, tag, head) = match *self.rest() {
            // Nearly every second term.
            [104, 1, 97, ABSENT, ..] => {
                self.push(Kind::Atom, b"asn1_NOVALUE", 0, self.at);
                self.at += 4;
                return Ok(());
            }
            [104, count, 97, tag, ..] => (count, usize::from(tag), 4),
            [104, count, 98, 0, 0, high, low, ..] => (count, usize::from(u16::from_be_bytes([high, low])), 7),
            _ => return self.plain(depth),
        };
        let rule = RULES.of_tag(tag, usize::from(count).wrapping_sub(1));
        let rule = rule.ok_or_else(|| self.error("a tag of megaco_compressed with its parts"))?;
        if depth > DEEPEST {
            return Err(self.error("a term of at most 64 levels"));
        }
        let start = self.at;
        self.at += head;
        let (mut parts, mut count) = (&rule.parts[..], 0);
        for step in &rule.steps {
            match step {
                Step::Atom(name) => self.push(Kind::Atom, name.text.as_bytes(), 0, start),
                Step::Record(name, arity) => {
                    self.push(Kind::Tuple, &[], arity + 1, start);
                    self.push(Kind::Atom, name.text.as_bytes(), 0, start);
                }
                Step::Number(number) => self.push(Kind::Number, &[], usize::from(*number), start),
                Step::Empty => self.push(Kind::List, &[], 0, start),
                Step::String(text) => self.push(Kind::String, text.as_bytes(), 0, start),
                Step::Single => self.push(Kind::List, &[], 1, start),
                Step::Is(number) => {
                    // Some rules say the number again behind the tag.
                    if parts.first().is_some_and(|part| part.1 == count) {
                        let length = self.nodes.len();
                        self.next_part(&mut parts, depth)?;
                        self.nodes.truncate(length);
                    }
                    self.push(Kind::Number, &[], usize::from(*number), start);
                    count += 1;
                }
                Step::Part => {
                    self.next_part(&mut parts, depth)?;
                    count += 1;
                }
            }
        }
        Ok(())
    }

    /// The next part behind the tag. One that is there twice counts as it is the second time.
    fn next_part(&mut self, parts: &mut &[(Mode, usize)], depth: usize) -> Result<()> {
        let length = self.nodes.len();
        while let [(mode, part), rest @ ..] = *parts {
            *parts = rest;
            self.part(*mode, depth + 1)?;
            if !rest.iter().any(|later| later.1 == *part) {
                break;
            }
            self.nodes.truncate(length);
        }
        Ok(())
    }

    fn part(&mut self, mode: Mode, depth: usize) -> Result<()> {
        let inner = match mode {
            Mode::Plain => return self.plain(depth),
            Mode::Deep => return self.deep(depth),
            Mode::List => Mode::Deep,
            Mode::Lists => Mode::List,
        };
        let [108, a, b, c, d, ..] = *self.rest() else { return self.plain(depth) };
        let count = u32::from_be_bytes([a, b, c, d]);
        self.push(Kind::List, &[], count as usize, self.at);
        self.at += 5;
        for _ in 0..count {
            self.part(inner, depth + 1)?;
        }
        self.end_of_list()
    }

    fn end_of_list(&mut self) -> Result<()> {
        match self.rest() {
            [106, ..] => {
                self.at += 1;
                Ok(())
            }
            _ => Err(self.error("the end of a list")),
        }
    }

    #[inline]
    fn number(&mut self, octets: usize) -> Result<usize> {
        let Some(number) = self.rest().get(..octets) else {
            return Err(self.error("more bytes of a term"));
        };
        self.at += octets;
        Ok(number.iter().fold(0, |number, &octet| number << 8 | usize::from(octet)))
    }

    #[inline]
    fn text(&mut self, kind: Kind, start: usize, length: usize) -> Result<()> {
        let Some(text) = self.rest().get(..length) else { return Err(self.error("more bytes of a term")) };
        self.at += length;
        self.push(kind, text, 0, start);
        Ok(())
    }

    /// A term as it is.
    fn plain(&mut self, depth: usize) -> Result<()> {
        if depth > DEEPEST {
            return Err(self.error("a term of at most 64 levels"));
        }
        let start = self.at;
        match self.number(1)? {
            tag @ (100 | 118 | 115 | 119) => {
                let length = self.number(if matches!(tag, 100 | 118) { 2 } else { 1 })?;
                self.text(Kind::Atom, start, length)
            }
            97 => {
                let number = self.number(1)?;
                self.push(Kind::Number, &[], number, start);
                Ok(())
            }
            98 => {
                let number = self.number(4)?;
                let kind = if number >> 31 == 0 { Kind::Number } else { Kind::Other };
                self.push(kind, &[], number, start);
                Ok(())
            }
            110 => {
                let length = self.number(1)?;
                let is_negative = self.number(1)? != 0;
                self.text(Kind::Other, start, length)?;
                let Some(node) = self.nodes.last_mut().filter(|_| !is_negative) else { return Ok(()) };
                let number = node.text.iter().rev().try_fold(0u32, |number, &octet| {
                    number.checked_mul(256).map(|number| number | u32::from(octet))
                });
                if let Some(number) = number {
                    (node.kind, node.count) = (Kind::Number, number);
                }
                Ok(())
            }
            106 => {
                self.push(Kind::List, &[], 0, start);
                Ok(())
            }
            107 => {
                let length = self.number(2)?;
                self.text(Kind::String, start, length)
            }
            109 => {
                let length = self.number(4)?;
                self.text(Kind::String, start, length)
            }
            tag @ (104 | 105 | 108) => {
                let count = self.number(if tag == 104 { 1 } else { 4 })?;
                self.push(if tag == 108 { Kind::List } else { Kind::Tuple }, &[], count, start);
                for _ in 0..count {
                    self.plain(depth + 1)?;
                }
                if tag == 108 { self.end_of_list() } else { Ok(()) }
            }
            _ => Err(Error::new(start, "an atom, a number, a string, a tuple or a list")),
        }
    }
}
