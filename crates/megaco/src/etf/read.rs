//! Reads values from terms.

use std::borrow::Cow;

use super::VERSION;
use crate::model::Head;
use crate::value::{Source, Value, Word};
use crate::{Error, Result};

/// More than the lists in lists of a message.
pub(super) const DEEPEST: usize = 24;
const ABSENT: &[u8] = b"d\x00\x0casn1_NOVALUE";

/// Reads a term from its begin to its end. The model decides how deep it goes.
pub(super) struct Reader<'t, 'a> {
    term: &'t [u8],
    at: usize,
    version: u8,
    /// How strings are kept: borrowed, or copied if the term goes away.
    keep: fn(&'t [u8]) -> Cow<'a, [u8]>,
    /// Lists that are open: how many elements are left, and whether they are the bytes of a string. The model decides
    /// how many there can be.
    lists: [(usize, bool); DEEPEST],
    open: usize,
}

impl<'t> Reader<'t, 't> {
    /// A reader whose values borrow from the term.
    pub(super) fn borrowing(term: &'t [u8]) -> Result<Self> {
        Self::new(term, Cow::Borrowed)
    }
}

impl<'t> Reader<'t, 'static> {
    /// A reader whose values are copies.
    pub(super) fn copying(term: &'t [u8]) -> Result<Self> {
        Self::new(term, |octets| Cow::Owned(octets.to_vec()))
    }
}

impl<'t, 'a> Reader<'t, 'a> {
    fn new(term: &'t [u8], keep: fn(&'t [u8]) -> Cow<'a, [u8]>) -> Result<Self> {
        match term.first() {
            Some(&VERSION) => {
                Ok(Self { term, at: 1, version: 1, keep, lists: [(0, false); DEEPEST], open: 0 })
            }
            _ => Err(Error::new(0, "a term: the byte 131")),
        }
    }

    /// A value, and nothing behind it.
    pub(super) fn whole<T: Value<'a>>(mut self) -> Result<T> {
        let value = T::read(&mut self)?;
        if self.at == self.term.len() { Ok(value) } else { Err(self.error("the end of the term")) }
    }

    /// What a message begins with, whatever is behind it.
    pub(super) fn begin(mut self) -> Result<Head<'a>> {
        Head::read(&mut self)
    }

    fn take(&mut self, length: usize, what: &'static str) -> Result<&'t [u8]> {
        let octets =
            self.term.get(self.at..).and_then(|rest| rest.get(..length)).ok_or_else(|| self.error(what))?;
        self.at += length;
        Ok(octets)
    }

    fn octet(&mut self, what: &'static str) -> Result<u8> {
        let octet = *self.term.get(self.at).ok_or_else(|| self.error(what))?;
        self.at += 1;
        Ok(octet)
    }

    fn length16(&mut self, what: &'static str) -> Result<usize> {
        let octets = self.take(2, what)?;
        Ok(usize::from(octets[0]) << 8 | usize::from(octets[1]))
    }

    fn length32(&mut self, what: &'static str) -> Result<usize> {
        let octets = self.take(4, what)?;
        Ok(octets.iter().fold(0, |length, &octet| length << 8 | usize::from(octet)))
    }

    /// An atom in its old or its UTF-8 form.
    #[inline(always)]
    fn atom_octets(&mut self, what: &'static str) -> Result<&'t [u8]> {
        let length = match self.octet(what)? {
            100 | 118 => self.length16(what)?,
            115 | 119 => usize::from(self.octet(what)?),
            _ => {
                self.at -= 1;
                return Err(self.error(what));
            }
        };
        self.take(length, what)
    }

    /// A record with other tags than OTP 25 gives them.
    #[inline(never)]
    fn other_record(&mut self, name: &'static str, arity: usize) -> Result<()> {
        let start = self.at;
        if self.tuple(name)? != arity + 1 || self.atom_octets(name)? != name.as_bytes() {
            return Err(Error::new(start, name));
        }
        Ok(())
    }

    #[inline(never)]
    fn other_absent(&mut self) -> Result<bool> {
        let start = self.at;
        let absent = matches!(self.atom_octets("an atom")?, b"asn1_NOVALUE" | b"undefined");
        if !absent {
            self.at = start;
        }
        Ok(absent)
    }

    #[inline(always)]
    fn tuple(&mut self, what: &'static str) -> Result<usize> {
        match self.octet(what)? {
            104 => Ok(usize::from(self.octet(what)?)),
            105 => self.length32(what),
            _ => {
                self.at -= 1;
                Err(self.error(what))
            }
        }
    }

    /// A list of octets, a binary, or nothing.
    #[inline]
    fn octets(&mut self) -> Result<Cow<'a, [u8]>> {
        if let [107, high, low, rest @ ..] = self.term.get(self.at..).unwrap_or_default()
            && let Some(octets) = rest.get(..usize::from(*high) << 8 | usize::from(*low))
        {
            self.at += 3 + octets.len();
            return Ok((self.keep)(octets));
        }
        self.other_octets()
    }

    #[inline(never)]
    fn other_octets(&mut self) -> Result<Cow<'a, [u8]>> {
        const WHAT: &str = "a string";
        match self.octet(WHAT)? {
            106 => Ok(Cow::Borrowed(&[])),
            109 => {
                let length = self.length32(WHAT)?;
                self.take(length, WHAT).map(self.keep)
            }
            108 => {
                let length = self.length32(WHAT)?;
                let mut octets = Vec::new();
                for _ in 0..length {
                    let octet = self.take(2, WHAT)?;
                    if octet[0] != 97 {
                        return Err(self.error("the bytes of a string"));
                    }
                    octets.push(octet[1]);
                }
                if self.octet(WHAT)? != 106 {
                    return Err(self.error("the end of a string"));
                }
                Ok(Cow::Owned(octets))
            }
            _ => {
                self.at -= 1;
                Err(self.error(WHAT))
            }
        }
    }
}

impl<'t, 'a> Source<'a> for Reader<'t, 'a> {
    type Word = &'t [u8];

    fn version(&self) -> u8 {
        self.version
    }

    fn set_version(&mut self, version: u8) {
        self.version = version;
    }

    #[cold]
    fn error(&self, what: &'static str) -> Error {
        Error::new(self.at, what)
    }

    // The name is known where this is called: inlined, it is a comparison of a few words.
    #[inline(always)]
    fn record(&mut self, name: &'static Word, arity: usize) -> Result<()> {
        let name = name.text;
        let head = [104, arity as u8 + 1, 100, 0, name.len() as u8];
        let rest = self.term.get(self.at..).and_then(|rest| rest.strip_prefix(&head));
        if rest.is_some_and(|rest| rest.starts_with(name.as_bytes())) {
            self.at += head.len() + name.len();
            return Ok(());
        }
        self.other_record(name, arity)
    }

    fn field(&mut self, _: &'static str) -> Result<()> {
        Ok(())
    }

    fn end_record(&mut self) -> Result<()> {
        Ok(())
    }

    #[inline]
    fn absent(&mut self) -> Result<bool> {
        let rest = self.term.get(self.at..).unwrap_or_default();
        match rest {
            [100, ..] if rest.starts_with(ABSENT) => {
                self.at += ABSENT.len();
                Ok(true)
            }
            [100 | 115 | 118 | 119, ..] => self.other_absent(),
            _ => Ok(false),
        }
    }

    #[inline(never)]
    fn atom(&mut self) -> Result<&'t [u8]> {
        self.atom_octets("an atom")
    }

    fn number(&mut self) -> Result<u32> {
        const WHAT: &str = "a number of 32 bits";
        if self.open > 0 && self.lists[self.open - 1].1 {
            return self.octet(WHAT).map(u32::from);
        }
        let start = self.at;
        match self.octet(WHAT)? {
            97 => return self.octet(WHAT).map(u32::from),
            98 => {
                let number = self.length32(WHAT)? as u32;
                if number >> 31 == 0 {
                    return Ok(number);
                }
            }
            110 => {
                let [length, sign] = <[u8; 2]>::try_from(self.take(2, WHAT)?).unwrap_or_default();
                let magnitude = self.take(usize::from(length), WHAT)?;
                let number = magnitude.iter().rev().try_fold(0u32, |number, &octet| {
                    number.checked_mul(256).map(|number| number | u32::from(octet))
                });
                if let (0, Some(number)) = (sign, number) {
                    return Ok(number);
                }
            }
            _ => {}
        }
        self.at = start;
        Err(self.error(WHAT))
    }

    fn string(&mut self) -> Result<Cow<'a, [u8]>> {
        self.octets()
    }

    fn termination(&mut self) -> Result<Cow<'a, [u8]>> {
        let term = self.term.get(self.at..).unwrap_or_default();
        match plain_levels(term).and_then(three_levels) {
            Some((name, behind)) => {
                self.at = self.term.len() - behind.len();
                Ok(Cow::Owned(name))
            }
            None => termination(self),
        }
    }

    fn list(&mut self) -> Result<()> {
        let (length, is_string, size) = match *self.term.get(self.at..).unwrap_or_default() {
            [106, ..] => (0, true, 1),
            [107, a, b, ..] => (u32::from_be_bytes([0, 0, a, b]), true, 3),
            [108, a, b, c, d, ..] => (u32::from_be_bytes([a, b, c, d]), false, 5),
            _ if self.absent()? => (0, true, 0),
            _ => return Err(self.error("a list")),
        };
        let place =
            self.lists.get_mut(self.open).ok_or_else(|| Error::new(self.at, "fewer lists in lists"))?;
        *place = (length as usize, is_string);
        self.at += size;
        self.open += 1;
        Ok(())
    }

    fn room(&self) -> usize {
        // More than most lists have; what is announced is not believed.
        self.open.checked_sub(1).and_then(|last| self.lists.get(last)).map_or(0, |list| list.0.min(8))
    }

    fn element(&mut self) -> Result<bool> {
        let Some(list) = self.open.checked_sub(1).and_then(|last| self.lists.get_mut(last)) else {
            return Ok(false);
        };
        if list.0 > 0 {
            list.0 -= 1;
            return Ok(true);
        }
        let is_string = list.1;
        self.open -= 1;
        if !is_string && self.octet("the end of a list")? != 106 {
            return Err(self.error("the end of a list"));
        }
        Ok(false)
    }

    #[inline(never)]
    fn choice(&mut self) -> Result<&'t [u8]> {
        let start = self.at;
        if self.tuple("an alternative: its tag and its value")? != 2 {
            return Err(Error::new(start, "an alternative: its tag and its value"));
        }
        self.atom_octets("an atom")
    }

    fn end_choice(&mut self) -> Result<()> {
        Ok(())
    }
}

/// The name of a termination, whose levels are a list.
pub(super) fn termination<'a>(source: &mut impl Source<'a>) -> Result<Cow<'a, [u8]>> {
    source.record(const { &Word::new("megaco_term_id") }, 2)?;
    source.atom()?;
    source.list()?;
    let mut name: Option<Cow<'a, [u8]>> = None;
    while source.element()? {
        let level = source.string()?;
        match &mut name {
            None => name = Some(level),
            Some(Cow::Borrowed(first)) => {
                // Names mostly have three levels of one length.
                let mut joined = Vec::with_capacity(first.len() + 2 * (level.len() + 1));
                joined.extend_from_slice(first);
                joined.push(b'/');
                joined.extend_from_slice(&level);
                name = Some(Cow::Owned(joined));
            }
            Some(Cow::Owned(name)) => {
                name.push(b'/');
                name.extend_from_slice(&level);
            }
        }
    }
    name.ok_or_else(|| source.error("a level of a termination's name"))
}

/// The length of the head of an atom in its old or its UTF-8 form, and the atom.
pub(super) fn raw_atom(term: &[u8]) -> Option<(usize, &[u8])> {
    let (head, length) = match *term {
        [100 | 118, high, low, ..] => (3, usize::from(high) << 8 | usize::from(low)),
        [115 | 119, length, ..] => (2, usize::from(length)),
        _ => return None,
    };
    Some((head, term.get(head..)?.get(..length)?))
}

/// The levels of the name of a termination, and what is behind it.
fn plain_levels(term: &[u8]) -> Option<&[u8]> {
    match term.strip_prefix(b"\x68\x03\x64\x00\x0emegaco_term_id")? {
        [100, 0, length @ 4..=5, wildcards @ ..] => wildcards.get(usize::from(*length)..),
        _ => None,
    }
}

/// The name that three levels are, the form of most, and what is behind them.
fn three_levels(levels: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let mut rest = levels.strip_prefix(&[108, 0, 0, 0, 3])?;
    let mut levels: [&[u8]; 3] = [&[]; 3];
    for level in &mut levels {
        let [107, 0, length, behind @ ..] = rest else { return None };
        (*level, rest) = behind.split_at_checked(usize::from(*length))?;
    }
    let rest = rest.strip_prefix(&[106])?;
    let [first, second, third] = levels;
    let mut name = Vec::with_capacity(first.len() + second.len() + third.len() + 2);
    name.extend_from_slice(first);
    name.push(b'/');
    name.extend_from_slice(second);
    name.push(b'/');
    name.extend_from_slice(third);
    Some((name, rest))
}
