//! Terms as trees, for what has to look at them as a whole.

use std::borrow::Cow;

use super::VERSION;
use super::write;
use crate::{Error, Result};

/// Deeper than any record of a message.
pub(super) const DEEPEST: usize = 64;

/// An Erlang term.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Term<'a> {
    /// An atom.
    Atom(Cow<'a, [u8]>),
    /// A number.
    Integer(i64),
    /// A number beyond 64 bits: sign, and magnitude with the lowest octet first.
    Big(bool, Cow<'a, [u8]>),
    /// A list of octets.
    String(Cow<'a, [u8]>),
    /// A binary.
    Binary(Cow<'a, [u8]>),
    /// A tuple.
    Tuple(Vec<Self>),
    /// A list.
    List(Vec<Self>),
}

impl<'a> Term<'a> {
    /// Reads a term, and nothing behind it.
    ///
    /// # Errors
    /// The octets are no term of these kinds, or one deeper than 64 levels.
    pub fn read(octets: &'a [u8]) -> Result<Self> {
        if octets.first() != Some(&VERSION) {
            return Err(Error::new(0, "a term: the byte 131"));
        }
        let mut at = 1;
        let term = read(octets, &mut at, 0)?;
        if at == octets.len() { Ok(term) } else { Err(Error::new(at, "the end of the term")) }
    }

    /// Writes the term as OTP 25 does.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.push(VERSION);
        self.write_inner(out);
    }

    fn write_inner(&self, out: &mut Vec<u8>) {
        match self {
            Self::Atom(atom) => write::atom(out, atom),
            Self::Integer(number) => write::integer(out, *number),
            Self::Big(sign, magnitude) => {
                out.extend_from_slice(&[110, magnitude.len() as u8, u8::from(*sign)]);
                out.extend_from_slice(magnitude);
            }
            Self::String(octets) => write::string(out, octets),
            Self::Binary(octets) => {
                out.push(109);
                out.extend_from_slice(&(octets.len() as u32).to_be_bytes());
                out.extend_from_slice(octets);
            }
            Self::Tuple(elements) => {
                write::tuple(out, elements.len());
                for element in elements {
                    element.write_inner(out);
                }
            }
            Self::List(elements) => {
                if !elements.is_empty() {
                    write::list(out, elements.len());
                    for element in elements {
                        element.write_inner(out);
                    }
                }
                out.push(106);
            }
        }
    }
}

fn read<'a>(term: &'a [u8], at: &mut usize, depth: usize) -> Result<Term<'a>> {
    if depth > DEEPEST {
        return Err(Error::new(*at, "a term of at most 64 levels"));
    }
    let start = *at;
    let take = |at: &mut usize, length: usize| {
        let octets = term.get(*at..).and_then(|rest| rest.get(..length));
        let octets = octets.ok_or_else(|| Error::new(*at, "more bytes of a term"))?;
        *at += length;
        Ok(octets)
    };
    let length = |at: &mut usize, octets: usize| {
        Ok(take(at, octets)?.iter().fold(0usize, |length, &octet| length << 8 | usize::from(octet)))
    };
    let elements = |at: &mut usize, count: usize| {
        let mut elements = Vec::new();
        for _ in 0..count {
            elements.push(read(term, at, depth + 1)?);
        }
        Ok(elements)
    };
    Ok(match take(at, 1)?[0] {
        tag @ (100 | 118 | 115 | 119) => {
            let length = length(at, if matches!(tag, 100 | 118) { 2 } else { 1 })?;
            Term::Atom(Cow::Borrowed(take(at, length)?))
        }
        97 => Term::Integer(i64::from(take(at, 1)?[0])),
        98 => Term::Integer(i64::from(length(at, 4)? as u32 as i32)),
        110 => {
            let length = length(at, 1)?;
            let sign = take(at, 1)?[0] != 0;
            let magnitude = take(at, length)?;
            let number = magnitude.iter().rev().try_fold(0i64, |number, &octet| {
                number.checked_mul(256).map(|number| number | i64::from(octet))
            });
            match number {
                Some(number) => Term::Integer(if sign { -number } else { number }),
                None => Term::Big(sign, Cow::Borrowed(magnitude)),
            }
        }
        106 => Term::List(Vec::new()),
        107 => {
            let length = length(at, 2)?;
            Term::String(Cow::Borrowed(take(at, length)?))
        }
        109 => {
            let length = length(at, 4)?;
            Term::Binary(Cow::Borrowed(take(at, length)?))
        }
        104 => {
            let count = length(at, 1)?;
            Term::Tuple(elements(at, count)?)
        }
        105 => {
            let count = length(at, 4)?;
            Term::Tuple(elements(at, count)?)
        }
        108 => {
            let count = length(at, 4)?;
            let list = elements(at, count)?;
            if take(at, 1)?[0] != 106 {
                return Err(Error::new(*at - 1, "the end of a list"));
            }
            Term::List(list)
        }
        _ => return Err(Error::new(start, "an atom, a number, a string, a tuple or a list")),
    })
}
