//! Reads terms of `megaco_compressed` into nodes: the rules put what the tags stand for between the parts.

use std::cell::RefCell;

use super::nodes::{Kind, Node, Nodes};
use super::read::raw_atom;
use super::rules::{ABSENT, Mode, Op, RULES, Rules};
use super::term::DEEPEST;
use crate::model::Head;
use crate::value::Value;
use crate::{Error, Result};

/// The nodes of a message of some ten thousand octets: as much as each thread keeps.
const KEPT: usize = 1 << 12;

thread_local! {
    /// To make room for nodes and to give it back takes as long as to read a tenth of a message.
    static NODES: RefCell<Vec<Node>> = const { RefCell::new(Vec::new()) };
}

/// Reads a value that borrows from the term.
pub(super) fn read<'a, T: Value<'a>>(term: &'a [u8]) -> Result<T> {
    with_nodes(term, |nodes| Nodes::borrowing(nodes, term).whole())
}

/// Reads a value from a term that goes away.
pub(super) fn copy<T: Value<'static>>(term: &[u8]) -> Result<T> {
    with_nodes(term, |nodes| Nodes::copying(nodes, term).whole())
}

/// Reads what a message begins with, whatever follows it.
pub(super) fn begin(term: &[u8]) -> Result<Head<'_>> {
    with_nodes(term, |nodes| Nodes::borrowing(nodes, term).begin())
}

/// Reads what a message begins with from a term that goes away.
pub(super) fn copy_begin(term: &[u8]) -> Result<Head<'static>> {
    with_nodes(term, |nodes| Nodes::copying(nodes, term).begin())
}

fn with_nodes<T>(term: &[u8], read: impl FnOnce(&[Node]) -> Result<T>) -> Result<T> {
    NODES.with_borrow_mut(|nodes| {
        nodes.clear();
        let value = Parser::parse(term, nodes).and_then(|()| read(nodes));
        if nodes.capacity() > KEPT {
            *nodes = Vec::new();
        }
        value
    })
}

/// Reads octets into nodes. The depth of the calls is that of the term, which is limited.
struct Parser<'t, 'n> {
    octets: &'t [u8],
    at: usize,
    nodes: &'n mut Vec<Node>,
    rules: &'static Rules,
    /// Why nothing is returned.
    fault: Error,
}

impl<'t, 'n> Parser<'t, 'n> {
    fn parse(octets: &'t [u8], nodes: &'n mut Vec<Node>) -> Result<()> {
        let fault = Error::new(0, "a term: the byte 131");
        if octets.first() != Some(&super::VERSION) || u32::try_from(octets.len()).is_err() {
            return Err(fault);
        }
        let mut parser = Self { octets, at: 1, nodes, rules: &RULES, fault };
        let is_term = parser.deep(0).is_some();
        if is_term && parser.at < octets.len() {
            parser.refuse("the end of the term");
        }
        if is_term && parser.at == octets.len() { Ok(()) } else { Err(parser.fault) }
    }

    #[cold]
    fn refuse(&mut self, what: &'static str) -> Option<()> {
        self.fault = Error::new(self.at, what);
        None
    }

    #[inline(always)]
    fn rest(&self) -> &'t [u8] {
        self.octets.get(self.at..).unwrap_or_default()
    }

    /// Adds a node for the next `length` octets.
    #[inline(always)]
    fn push(&mut self, kind: Kind, value: u64, length: usize) -> Option<()> {
        self.nodes.push(Node::new(kind, 0, value).at(self.at as u32));
        self.at += length;
        Some(())
    }

    /// A term in which tags stand for shapes.
    fn deep(&mut self, depth: usize) -> Option<()> {
        let (count, tag, head) = match *self.rest() {
            // Nearly every second term.
            [104, 1, 97, ABSENT, ..] => return self.push(Kind::Absent, 0, 4),
            [104, count, 97, tag, ..] => (count, usize::from(tag), 4),
            [104, count, 98, 0, 0, high, low, ..] => (count, usize::from(high) << 8 | usize::from(low), 7),
            _ => return self.plain(depth),
        };
        let Some(ops) = self.rules.of_tag(tag, count) else {
            return self.refuse("a tag of megaco_compressed with its parts");
        };
        if depth > DEEPEST {
            return self.refuse("a term of at most 64 levels");
        }
        let start = self.at as u32;
        self.at += head;
        for op in ops {
            match *op {
                Op::Node(node) => self.nodes.push(node.at(start)),
                Op::Part(Mode::Deep) => self.deep(depth + 1)?,
                Op::Part(Mode::Plain) => self.plain(depth + 1)?,
                Op::Part(Mode::List) => self.list(Mode::Deep, depth + 1)?,
                Op::Part(Mode::Lists) => self.list(Mode::List, depth + 1)?,
                Op::Skip(mode) => {
                    let length = self.nodes.len();
                    match mode {
                        Mode::Plain => self.plain(depth + 1)?,
                        Mode::Deep => self.deep(depth + 1)?,
                        Mode::List => self.list(Mode::Deep, depth + 1)?,
                        Mode::Lists => self.list(Mode::List, depth + 1)?,
                    }
                    self.nodes.truncate(length);
                }
            }
        }
        Some(())
    }

    /// A list whose elements are written so.
    fn list(&mut self, inner: Mode, depth: usize) -> Option<()> {
        let [108, a, b, c, d, ..] = *self.rest() else { return self.plain(depth) };
        let count = u32::from_be_bytes([a, b, c, d]);
        self.push(Kind::List, u64::from(count), 5)?;
        for _ in 0..count {
            match inner {
                Mode::List => self.list(Mode::Deep, depth + 1)?,
                _ => self.deep(depth + 1)?,
            }
        }
        self.end_of_list()
    }

    #[inline(always)]
    fn end_of_list(&mut self) -> Option<()> {
        if self.octets.get(self.at) != Some(&106) {
            return self.refuse("the end of a list");
        }
        self.at += 1;
        Some(())
    }

    /// A term as it is.
    fn plain(&mut self, depth: usize) -> Option<()> {
        if depth > DEEPEST {
            return self.refuse("a term of at most 64 levels");
        }
        match *self.rest() {
            [107, high, low, ref rest @ ..] => {
                let length = usize::from(high) << 8 | usize::from(low);
                if length <= rest.len() {
                    return self.push(Kind::String, (self.at as u64 + 3) << 32 | length as u64, 3 + length);
                }
            }
            [97, number, ..] => return self.push(Kind::Number, u64::from(number), 2),
            [98, a @ 0..0x80, b, c, d, ..] => {
                return self.push(Kind::Number, u64::from(u32::from_be_bytes([a, b, c, d])), 5);
            }
            [106, ..] => return self.push(Kind::List, 0, 1),
            [108, a, b, c, d, ..] => {
                let count = u32::from_be_bytes([a, b, c, d]);
                self.push(Kind::List, u64::from(count), 5)?;
                for _ in 0..count {
                    self.plain(depth + 1)?;
                }
                return self.end_of_list();
            }
            _ => {}
        }
        self.other(depth)
    }

    fn number(&mut self, octets: usize) -> Option<usize> {
        let Some(number) = self.rest().get(..octets) else {
            self.refuse("more bytes of a term")?;
            return None;
        };
        self.at += octets;
        Some(number.iter().fold(0, |number, &octet| number << 8 | usize::from(octet)))
    }

    fn text(&mut self, length: usize) -> Option<&'t [u8]> {
        let Some(text) = self.rest().get(..length) else {
            self.refuse("more bytes of a term")?;
            return None;
        };
        self.at += length;
        Some(text)
    }

    /// A term as it is, of a kind that is rare, or one that is wrong.
    #[inline(never)]
    fn other(&mut self, depth: usize) -> Option<()> {
        let start = self.at;
        let node = |kind, value| Node::new(kind, 0, value).at(start as u32);
        let node = match self.number(1)? {
            tag @ (100 | 118 | 115 | 119) => {
                let length = self.number(if matches!(tag, 100 | 118) { 2 } else { 1 })?;
                match self.text(length)? {
                    b"asn1_NOVALUE" | b"undefined" => node(Kind::Absent, 0),
                    _ => node(Kind::OtherAtom, 0),
                }
            }
            // Negative, or cut short.
            tag @ (97 | 98) => {
                self.number(if tag == 97 { 1 } else { 4 })?;
                node(Kind::Other, 0)
            }
            110 => {
                let length = self.number(1)?;
                let is_negative = self.number(1)? != 0;
                let number = self.text(length)?.iter().rev().try_fold(0u32, |number, &octet| {
                    number.checked_mul(256).map(|number| number | u32::from(octet))
                });
                match number {
                    Some(number) if !is_negative => node(Kind::Number, u64::from(number)),
                    _ => node(Kind::Other, 0),
                }
            }
            tag @ (107 | 109) => {
                let length = self.number(if tag == 107 { 2 } else { 4 })?;
                let text = self.at as u64;
                self.text(length)?;
                node(Kind::String, text << 32 | length as u64)
            }
            tag @ (104 | 105) => return self.tuple(if tag == 104 { 1 } else { 4 }, start as u32, depth),
            108 => {
                self.number(4)?;
                return None;
            }
            _ => {
                self.at = start;
                return self.refuse("an atom, a number, a string, a tuple or a list");
            }
        };
        self.nodes.push(node);
        Some(())
    }

    /// A tuple behind its tag, as it is.
    fn tuple(&mut self, octets: usize, start: u32, depth: usize) -> Option<()> {
        let count = self.number(octets)?;
        let is_record = raw_atom(self.rest()).is_some();
        let node = match u8::try_from(count.wrapping_sub(1)) {
            Ok(arity) if is_record => Node::new(Kind::OtherRecord, arity, 0),
            _ => Node::new(Kind::Other, 0, 0),
        };
        self.nodes.push(node.at(start));
        let length = self.nodes.len();
        for index in 0..count {
            self.plain(depth + 1)?;
            if index == 0 && is_record {
                self.nodes.truncate(length);
            }
        }
        Some(())
    }
}
