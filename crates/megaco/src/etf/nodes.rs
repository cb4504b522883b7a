//! Reads values from the nodes of a term.

use std::borrow::Cow;

use super::read::{DEEPEST, termination};
use crate::model::Head;
use crate::value::{Source, Value};
use crate::{Error, Result};

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Atom,
    /// A number of 32 bits that is not negative.
    Number,
    /// Any other number.
    Other,
    /// A list of octets that is written as such, or a binary.
    String,
    Tuple,
    List,
}

/// A term, followed by those that are in it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node<'t> {
    pub(super) kind: Kind,
    /// The octets of an atom or a string.
    pub(super) text: &'t [u8],
    /// A number itself, or how many elements there are.
    pub(super) count: u32,
    /// Where it is in the input.
    pub(super) at: u32,
}

/// Nodes from the first to the last. The model decides how deep it goes.
pub(super) struct Nodes<'n, 't, 'a> {
    nodes: &'n [Node<'t>],
    at: usize,
    version: u8,
    /// How strings are kept: borrowed, or copied if the term goes away.
    keep: fn(&'t [u8]) -> Cow<'a, [u8]>,
    lists: [List<'t>; DEEPEST],
    open: usize,
}

/// A list that is open.
#[derive(Clone, Copy)]
enum List<'t> {
    /// How many elements are left.
    Left(u32),
    /// The octets of a string that are left.
    Octets(&'t [u8]),
}

impl<'n, 't> Nodes<'n, 't, 't> {
    /// Nodes whose values borrow from the term.
    pub(super) fn borrowing(nodes: &'n [Node<'t>]) -> Self {
        Self::new(nodes, Cow::Borrowed)
    }
}

impl<'n, 't> Nodes<'n, 't, 'static> {
    /// Nodes whose values are copies.
    pub(super) fn copying(nodes: &'n [Node<'t>]) -> Self {
        Self::new(nodes, |octets| Cow::Owned(octets.to_vec()))
    }
}

impl<'n, 't, 'a> Nodes<'n, 't, 'a> {
    fn new(nodes: &'n [Node<'t>], keep: fn(&'t [u8]) -> Cow<'a, [u8]>) -> Self {
        Self { nodes, at: 0, version: 1, keep, lists: [List::Left(0); DEEPEST], open: 0 }
    }

    /// A value, and nothing behind it.
    pub(super) fn whole<T: Value<'a>>(mut self) -> Result<T> {
        let value = T::read(&mut self)?;
        if self.at == self.nodes.len() { Ok(value) } else { Err(self.error("the end of the term")) }
    }

    /// What a message begins with, whatever is behind it.
    pub(super) fn begin(mut self) -> Result<Head<'a>> {
        Head::read(&mut self)
    }

    /// The next node if it is of a kind.
    #[inline]
    fn take(&mut self, kind: Kind, what: &'static str) -> Result<&'n Node<'t>> {
        match self.nodes.get(self.at) {
            Some(node) if node.kind == kind => {
                self.at += 1;
                Ok(node)
            }
            _ => Err(self.error(what)),
        }
    }
}

impl<'t, 'a> Source<'a> for Nodes<'_, 't, 'a> {
    type Word = &'t [u8];

    fn version(&self) -> u8 {
        self.version
    }

    fn set_version(&mut self, version: u8) {
        self.version = version;
    }

    #[cold]
    fn error(&self, what: &'static str) -> Error {
        let node = self.nodes.get(self.at).or_else(|| self.nodes.last());
        Error::new(node.map_or(0, |node| node.at as usize), what)
    }

    // The name is known where this is called: inlined, it is a comparison of a few words.
    #[inline(always)]
    fn record(&mut self, name: &'static str, arity: usize) -> Result<()> {
        match self.nodes.get(self.at..) {
            Some([tuple, first, ..])
                if tuple.kind == Kind::Tuple
                    && tuple.count as usize == arity + 1
                    && first.kind == Kind::Atom
                    && first.text == name.as_bytes() =>
            {
                self.at += 2;
                Ok(())
            }
            _ => Err(self.error(name)),
        }
    }

    fn field(&mut self, _: &'static str) -> Result<()> {
        Ok(())
    }

    fn end_record(&mut self) -> Result<()> {
        Ok(())
    }

    #[inline]
    fn absent(&mut self) -> Result<bool> {
        let absent = matches!(self.nodes.get(self.at), Some(node) if node.kind == Kind::Atom
            && matches!(node.text, b"asn1_NOVALUE" | b"undefined"));
        self.at += usize::from(absent);
        Ok(absent)
    }

    fn atom(&mut self) -> Result<&'t [u8]> {
        self.take(Kind::Atom, "an atom").map(|node| node.text)
    }

    fn number(&mut self) -> Result<u32> {
        if let Some(List::Octets(octets)) = self.open.checked_sub(1).map(|last| self.lists[last]) {
            // `element` has seen that there is one.
            let Some((&octet, rest)) = octets.split_first() else { return Err(self.error("a number")) };
            self.lists[self.open - 1] = List::Octets(rest);
            return Ok(u32::from(octet));
        }
        self.take(Kind::Number, "a number of 32 bits").map(|node| node.count)
    }

    fn string(&mut self) -> Result<Cow<'a, [u8]>> {
        const WHAT: &str = "a string";
        let Some(node) = self.nodes.get(self.at) else { return Err(self.error(WHAT)) };
        match node.kind {
            Kind::String => {
                self.at += 1;
                Ok((self.keep)(node.text))
            }
            Kind::List => {
                let elements = self.nodes.get(self.at + 1..).unwrap_or_default();
                let elements = elements.get(..node.count as usize).unwrap_or_default();
                let octet = |node: &Node<'_>| match node.kind {
                    Kind::Number => u8::try_from(node.count).ok(),
                    _ => None,
                };
                let octets: Option<Vec<u8>> = elements.iter().map(octet).collect();
                let octets = octets.ok_or_else(|| self.error(WHAT))?;
                self.at += 1 + octets.len();
                Ok(Cow::Owned(octets))
            }
            _ => Err(self.error(WHAT)),
        }
    }

    fn termination(&mut self) -> Result<Cow<'a, [u8]>> {
        termination(self)
    }

    fn list(&mut self) -> Result<()> {
        let list = if self.absent()? {
            List::Octets(&[])
        } else {
            let list = match self.nodes.get(self.at) {
                Some(node) if node.kind == Kind::List => List::Left(node.count),
                Some(node) if node.kind == Kind::String => List::Octets(node.text),
                _ => return Err(self.error("a list")),
            };
            self.at += 1;
            list
        };
        let Some(place) = self.lists.get_mut(self.open) else {
            return Err(self.error("fewer lists in lists"));
        };
        *place = list;
        self.open += 1;
        Ok(())
    }

    fn element(&mut self) -> Result<bool> {
        let Some(list) = self.open.checked_sub(1).and_then(|last| self.lists.get_mut(last)) else {
            return Ok(false);
        };
        let more = match list {
            List::Left(left @ 1..) => {
                *left -= 1;
                true
            }
            List::Left(_) => false,
            List::Octets(octets) => !octets.is_empty(),
        };
        self.open -= usize::from(!more);
        Ok(more)
    }

    fn choice(&mut self) -> Result<&'t [u8]> {
        const WHAT: &str = "an alternative: its tag and its value";
        match self.nodes.get(self.at..) {
            Some([tuple, tag, ..])
                if tuple.kind == Kind::Tuple && tuple.count == 2 && tag.kind == Kind::Atom =>
            {
                self.at += 2;
                Ok(tag.text)
            }
            _ => Err(self.error(WHAT)),
        }
    }

    fn end_choice(&mut self) -> Result<()> {
        Ok(())
    }
}
