//! Reads values from the nodes of a term.

use std::borrow::Cow;

use super::read::{DEEPEST, raw_atom, termination};
use super::rules::{NOVALUE, RULES};
use crate::model::Head;
use crate::value::{Source, Spelled, Value, Word};
use crate::{Error, Result};

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// `asn1_NOVALUE` or `undefined`.
    Absent,
    /// An atom of the rules.
    Atom,
    /// An atom of the term.
    OtherAtom,
    /// A number of 32 bits that is not negative.
    Number,
    /// A list of octets that is written as such, or a binary, of the term.
    String,
    /// A string of the rules.
    Text,
    /// A tuple that begins with an atom of the rules.
    Record,
    /// A tuple that begins with an atom of the term.
    OtherRecord,
    List,
    /// A number or a tuple of another kind.
    Other,
}

/// A term, followed by those that are in it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    /// The number of an atom of the rules; a number; where the octets of a string are, and how many; the place of a string in
    /// the rules; how many elements a list has.
    value: u64,
    /// Its kind, how many elements of a tuple follow its atom, and where it is in the input, in 16, 16 and 32 bits.
    head: u64,
}

impl Node {
    pub(super) const fn new(kind: Kind, arity: u8, value: u64) -> Self {
        Self { value, head: (kind as u64) << 48 | (arity as u64) << 32 }
    }

    /// The node at a place of the input.
    #[inline(always)]
    pub(super) const fn at(self, at: u32) -> Self {
        Self { head: self.head | at as u64, ..self }
    }

    /// Whether it is of a kind; of a tuple, with so many elements behind its atom.
    #[inline(always)]
    pub(super) const fn is(&self, kind: Kind, arity: u8) -> bool {
        self.head >> 32 == (kind as u64) << 16 | arity as u64
    }
}

/// Nodes from the first to the last. The model decides how deep it goes.
pub(super) struct Nodes<'n, 't, 'a> {
    /// Those that remain.
    nodes: &'n [Node],
    /// Where the last one is.
    last: u32,
    octets: &'t [u8],
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

/// An atom: its number in the rules, or its octets in the term.
pub(super) enum Atom<'t> {
    Known(u64),
    Other(&'t [u8]),
}

impl Spelled for Atom<'_> {
    // No two words of the rules and the model have one number.
    #[inline]
    fn is(&self, word: &'static Word) -> bool {
        match self {
            Self::Known(id) => *id == word.id,
            Self::Other(octets) => *octets == word.text.as_bytes(),
        }
    }
}

impl<'n, 't> Nodes<'n, 't, 't> {
    /// Nodes whose values borrow from the term.
    pub(super) fn borrowing(nodes: &'n [Node], octets: &'t [u8]) -> Self {
        Self::new(nodes, octets, Cow::Borrowed)
    }
}

impl<'n, 't> Nodes<'n, 't, 'static> {
    /// Nodes whose values are copies.
    pub(super) fn copying(nodes: &'n [Node], octets: &'t [u8]) -> Self {
        Self::new(nodes, octets, |octets| Cow::Owned(octets.to_vec()))
    }
}

impl<'n, 't, 'a> Nodes<'n, 't, 'a> {
    fn new(nodes: &'n [Node], octets: &'t [u8], keep: fn(&'t [u8]) -> Cow<'a, [u8]>) -> Self {
        let last = nodes.last().map_or(0, |node| node.head as u32);
        Self { nodes, last, octets, version: 1, keep, lists: [List::Left(0); DEEPEST], open: 0 }
    }

    /// A value, and nothing behind it.
    pub(super) fn whole<T: Value<'a>>(mut self) -> Result<T> {
        let value = T::read(&mut self)?;
        if self.nodes.is_empty() { Ok(value) } else { Err(self.error("the end of the term")) }
    }

    /// What a message begins with, whatever is behind it.
    pub(super) fn begin(mut self) -> Result<Head<'a>> {
        Head::read(&mut self)
    }

    /// The octets of a string that comes next.
    #[inline(always)]
    fn next_string(&mut self) -> Option<&'t [u8]> {
        let (node, rest) = self.nodes.split_first()?;
        let octets = if node.is(Kind::String, 0) {
            let from = (node.value >> 32) as usize;
            self.octets.get(from..).and_then(|octets| octets.get(..node.value as u32 as usize))?
        } else if node.is(Kind::Text, 0) {
            RULES.text(node.value)
        } else {
            return None;
        };
        self.nodes = rest;
        Some(octets)
    }

    /// The atom of the term that a node begins with.
    #[inline(never)]
    fn other_atom(&self, node: &Node) -> &'t [u8] {
        let octets = self.octets.get(node.head as u32 as usize..).unwrap_or_default();
        let atom = match *octets {
            [104, _, ref rest @ ..] | [105, _, _, _, _, ref rest @ ..] => rest,
            _ => octets,
        };
        raw_atom(atom).map_or(&[], |atom| atom.1)
    }

    /// A string that is a list of numbers.
    #[cold]
    fn numbers(&mut self) -> Result<Cow<'a, [u8]>> {
        let list = self.nodes.split_first().filter(|(node, _)| node.is(Kind::List, 0));
        let octets = list.and_then(|(node, rest)| {
            let elements = rest.get(..usize::try_from(node.value).ok()?).unwrap_or_default();
            let octet = |node: &Node| match node.is(Kind::Number, 0) {
                true => u8::try_from(node.value).ok(),
                false => None,
            };
            elements.iter().map(octet).collect::<Option<Vec<u8>>>()
        });
        let octets = octets.ok_or_else(|| self.error("a string"))?;
        self.nodes = self.nodes.get(1 + octets.len()..).unwrap_or_default();
        Ok(Cow::Owned(octets))
    }

    #[inline(never)]
    fn other_record(&mut self, name: &'static Word, arity: usize) -> Result<()> {
        match self.nodes {
            [node, rest @ ..]
                if node.is(Kind::OtherRecord, arity as u8)
                    && self.other_atom(node) == name.text.as_bytes() =>
            {
                self.nodes = rest;
                Ok(())
            }
            _ => Err(self.error(name.text)),
        }
    }

    /// The name of a termination without wildcards, whose levels are strings of the term.
    #[inline]
    fn name(&mut self) -> Option<Vec<u8>> {
        let [record, flag, list, rest @ ..] = self.nodes else { return None };
        let is_name = record.is(Kind::Record, 2)
            && record.value == const { Word::new("megaco_term_id").id }
            && flag.is(Kind::Atom, 0)
            && list.is(Kind::List, 0);
        let (levels, rest) = rest.split_at_checked(if is_name { list.value as usize } else { 0 })?;
        // With the slashes between them.
        let length: u64 = levels.iter().map(|level| u64::from(level.value as u32) + 1).sum();
        if levels.len() < 2 || length > self.octets.len() as u64 {
            return None;
        }
        let mut name = Vec::with_capacity(length as usize);
        for level in levels {
            if !level.is(Kind::String, 0) {
                return None;
            }
            let octets = self.octets.get((level.value >> 32) as usize..)?;
            name.extend_from_slice(octets.get(..level.value as u32 as usize)?);
            name.push(b'/');
        }
        name.pop();
        self.nodes = rest;
        Some(name)
    }
}

impl<'t, 'a> Source<'a> for Nodes<'_, 't, 'a> {
    type Word = Atom<'t>;

    fn version(&self) -> u8 {
        self.version
    }

    fn set_version(&mut self, version: u8) {
        self.version = version;
    }

    #[cold]
    fn error(&self, what: &'static str) -> Error {
        Error::new(self.nodes.first().map_or(self.last, |node| node.head as u32) as usize, what)
    }

    // The name is known where this is called: inlined, it is two comparisons.
    #[inline(always)]
    fn record(&mut self, name: &'static Word, arity: usize) -> Result<()> {
        match self.nodes {
            [node, rest @ ..] if node.value == name.id && node.is(Kind::Record, arity as u8) => {
                self.nodes = rest;
                Ok(())
            }
            _ => self.other_record(name, arity),
        }
    }

    fn field(&mut self, _: &'static str) -> Result<()> {
        Ok(())
    }

    fn end_record(&mut self) -> Result<()> {
        Ok(())
    }

    #[inline(always)]
    fn absent(&mut self) -> Result<bool> {
        match self.nodes {
            [node, rest @ ..] if node.is(Kind::Absent, 0) => {
                self.nodes = rest;
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    #[inline]
    fn atom(&mut self) -> Result<Atom<'t>> {
        let Some((node, rest)) = self.nodes.split_first() else { return Err(self.error("an atom")) };
        let atom = if node.is(Kind::Atom, 0) {
            Atom::Known(node.value)
        } else if node.is(Kind::OtherAtom, 0) {
            Atom::Other(self.other_atom(node))
        } else if node.is(Kind::Absent, 0) {
            // No value of the model.
            Atom::Known(NOVALUE.id)
        } else {
            return Err(self.error("an atom"));
        };
        self.nodes = rest;
        Ok(atom)
    }

    #[inline]
    fn number(&mut self) -> Result<u32> {
        if let Some(List::Octets(octets)) = self.open.checked_sub(1).map(|last| self.lists[last]) {
            // `element` has seen that there is one.
            let Some((&octet, rest)) = octets.split_first() else { return Err(self.error("a number")) };
            self.lists[self.open - 1] = List::Octets(rest);
            return Ok(u32::from(octet));
        }
        match self.nodes {
            [node, rest @ ..] if node.is(Kind::Number, 0) => {
                self.nodes = rest;
                Ok(node.value as u32)
            }
            _ => Err(self.error("a number of 32 bits")),
        }
    }

    #[inline]
    fn string(&mut self) -> Result<Cow<'a, [u8]>> {
        match self.next_string() {
            Some(octets) => Ok((self.keep)(octets)),
            None => self.numbers(),
        }
    }

    fn termination(&mut self) -> Result<Cow<'a, [u8]>> {
        match self.name() {
            Some(name) => Ok(Cow::Owned(name)),
            None => termination(self),
        }
    }

    #[inline(never)]
    fn list(&mut self) -> Result<()> {
        let list = match self.nodes {
            [node, rest @ ..] if node.is(Kind::List, 0) || node.is(Kind::Absent, 0) => {
                self.nodes = rest;
                List::Left(node.value as u32)
            }
            _ => List::Octets(self.next_string().ok_or_else(|| self.error("a list"))?),
        };
        let Some(place) = self.lists.get_mut(self.open) else {
            return Err(self.error("fewer lists in lists"));
        };
        *place = list;
        self.open += 1;
        Ok(())
    }

    #[inline]
    fn room(&self) -> usize {
        // More than most lists have; what is announced is not believed.
        match self.open.checked_sub(1).and_then(|last| self.lists.get(last)) {
            Some(List::Left(left)) => (*left).min(8) as usize,
            _ => 0,
        }
    }

    #[inline]
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

    #[inline(always)]
    fn choice(&mut self) -> Result<Atom<'t>> {
        match self.nodes {
            [node, rest @ ..] if node.is(Kind::Record, 1) => {
                self.nodes = rest;
                Ok(Atom::Known(node.value))
            }
            [node, rest @ ..] if node.is(Kind::OtherRecord, 1) => {
                self.nodes = rest;
                Ok(Atom::Other(self.other_atom(node)))
            }
            _ => Err(self.error("an alternative: its tag and its value")),
        }
    }

    fn end_choice(&mut self) -> Result<()> {
        Ok(())
    }
}
