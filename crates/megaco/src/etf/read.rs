//! Reads values from terms.

use std::borrow::Cow;

use super::VERSION;
use crate::value::{Source, Value};
use crate::{Error, Result};

/// Reads a term from its begin to its end. The model decides how deep it goes.
pub(super) struct Reader<'t, 'a> {
    term: &'t [u8],
    at: usize,
    version: u8,
    /// How strings are kept: borrowed, or copied if the term goes away.
    keep: fn(&'t [u8]) -> Cow<'a, [u8]>,
    /// Lists that are open: how many elements are left, and whether they are the octets of a string.
    lists: Vec<(usize, bool)>,
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
            Some(&VERSION) => Ok(Self { term, at: 1, version: 1, keep, lists: Vec::with_capacity(16) }),
            _ => Err(Error::new(0, "a term: the octet 131")),
        }
    }

    /// A value, and nothing behind it.
    pub(super) fn whole<T: Value<'a>>(mut self) -> Result<T> {
        let value = T::read(&mut self)?;
        if self.at == self.term.len() { Ok(value) } else { Err(self.error("the end of the term")) }
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

    fn peek(&self) -> u8 {
        self.term.get(self.at).copied().unwrap_or(0)
    }

    /// An atom in its old or its UTF-8 form.
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
    fn octets(&mut self) -> Result<Cow<'a, [u8]>> {
        const WHAT: &str = "a string";
        match self.octet(WHAT)? {
            106 => Ok(Cow::Borrowed(&[])),
            107 => {
                let length = self.length16(WHAT)?;
                self.take(length, WHAT).map(self.keep)
            }
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
                        return Err(self.error("the octets of a string"));
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

impl<'a> Source<'a> for Reader<'_, 'a> {
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

    fn record(&mut self, name: &'static str, arity: usize) -> Result<()> {
        let start = self.at;
        if self.tuple(name)? != arity + 1 || self.atom_octets(name)? != name.as_bytes() {
            return Err(Error::new(start, name));
        }
        Ok(())
    }

    fn field(&mut self, _: &'static str) -> Result<()> {
        Ok(())
    }

    fn end_record(&mut self) -> Result<()> {
        Ok(())
    }

    fn absent(&mut self) -> Result<bool> {
        let start = self.at;
        if !matches!(self.peek(), 100 | 115 | 118 | 119) {
            return Ok(false);
        }
        let absent = matches!(self.atom_octets("an atom")?, b"asn1_NOVALUE" | b"undefined");
        if !absent {
            self.at = start;
        }
        Ok(absent)
    }

    fn atom(&mut self) -> Result<Cow<'a, [u8]>> {
        self.atom_octets("an atom").map(self.keep)
    }

    fn number(&mut self) -> Result<u32> {
        const WHAT: &str = "a number of 32 bits";
        if let Some((_, true)) = self.lists.last() {
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
        self.record("megaco_term_id", 2)?;
        self.atom_octets("whether there are wildcards")?;
        let mut name: Option<Cow<'a, [u8]>> = None;
        self.list()?;
        while self.element()? {
            let level = self.octets()?;
            match &mut name {
                None => name = Some(level),
                Some(name) => {
                    let name = name.to_mut();
                    name.push(b'/');
                    name.extend_from_slice(&level);
                }
            }
        }
        name.ok_or_else(|| self.error("a level of a termination's name"))
    }

    fn list(&mut self) -> Result<()> {
        const WHAT: &str = "a list";
        if self.absent()? {
            self.lists.push((0, true));
            return Ok(());
        }
        match self.octet(WHAT)? {
            106 => self.lists.push((0, true)),
            107 => {
                let length = self.length16(WHAT)?;
                self.lists.push((length, true));
            }
            108 => {
                let length = self.length32(WHAT)?;
                self.lists.push((length, false));
            }
            _ => {
                self.at -= 1;
                return Err(self.error(WHAT));
            }
        }
        Ok(())
    }

    fn element(&mut self) -> Result<bool> {
        match self.lists.last_mut() {
            Some((0, is_string)) => {
                let is_string = *is_string;
                self.lists.pop();
                if !is_string && self.octet("the end of a list")? != 106 {
                    return Err(self.error("the end of a list"));
                }
                Ok(false)
            }
            Some((left, _)) => {
                *left -= 1;
                Ok(true)
            }
            None => Ok(false),
        }
    }

    fn choice(&mut self) -> Result<Cow<'a, [u8]>> {
        let start = self.at;
        if self.tuple("an alternative: its tag and its value")? != 2 {
            return Err(Error::new(start, "an alternative: its tag and its value"));
        }
        self.atom()
    }

    fn end_choice(&mut self) -> Result<()> {
        Ok(())
    }
}
