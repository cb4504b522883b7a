//! The forms that everything in a plan file is made of.

use super::{DEPTH, Error, ErrorKind};
use crate::constraint::RestrictionId;
use crate::{FieldId, NameId, NodeId};

/// A value with a form in plan files. Each has one octet at least.
pub(super) trait Stored: Sized {
    /// Appends the value.
    fn write(&self, out: &mut Vec<u8>);
    /// Reads a value.
    fn read(reader: &mut Reader<'_>) -> Result<Self, Error>;
}

/// The numbers of entries that ids are checked against.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) names: u32,
    pub(super) nodes: u32,
    pub(super) fields: u32,
    pub(super) registers: u16,
    pub(super) defaults: u32,
    pub(super) restrictions: u32,
}

/// A place in a plan file.
pub(super) struct Reader<'a> {
    octets: &'a [u8],
    at: usize,
    depth: u32,
    pub(super) counts: Counts,
}

impl<'a> Reader<'a> {
    pub(super) const fn new(octets: &'a [u8], at: usize) -> Self {
        let counts = Counts { names: 0, nodes: 0, fields: 0, registers: 0, defaults: 0, restrictions: 0 };
        Self { octets, at, depth: 0, counts }
    }

    pub(super) const fn at(&self) -> usize {
        self.at
    }

    const fn fault(&self, at: usize, kind: ErrorKind) -> Error {
        _ = self;
        Error { offset: at as u64, kind }
    }

    /// Reports an alternative that there is not, in the octet before.
    pub(super) const fn unknown_alternative(&self) -> Error {
        self.fault(self.at - 1, ErrorKind::Choice)
    }

    pub(super) fn take(&mut self, count: usize) -> Result<&'a [u8], Error> {
        let rest = self.octets.get(self.at..).unwrap_or_default();
        let Some(taken) = rest.get(..count) else {
            return Err(self.fault(self.octets.len(), ErrorKind::End));
        };
        self.at += count;
        Ok(taken)
    }

    pub(super) fn octet(&mut self) -> Result<u8, Error> {
        self.take(1).map(|octets| octets[0])
    }

    /// Reads a number of entries. Each has one octet at least, so that no more are announced than octets are left.
    fn count(&mut self) -> Result<usize, Error> {
        let count = u32::read(self)? as usize;
        if count > self.octets.len() - self.at {
            return Err(self.fault(self.octets.len(), ErrorKind::End));
        }
        Ok(count)
    }

    /// Reads a part of a value that may have such parts itself.
    pub(super) fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, Error>) -> Result<T, Error> {
        if self.depth == DEPTH {
            return Err(self.fault(self.at, ErrorKind::Depth));
        }
        self.depth += 1;
        let value = read(self);
        self.depth -= 1;
        value
    }

    /// Reads an index into a table of so many entries.
    fn index(&mut self, entries: u32, table: &'static str) -> Result<u32, Error> {
        let at = self.at;
        let index = u32::read(self)?;
        if index < entries { Ok(index) } else { Err(self.fault(at, ErrorKind::Index(table))) }
    }
}

macro_rules! unsigned {
    ($($type:ty)*) => { $(
        impl Stored for $type {
            fn write(&self, out: &mut Vec<u8>) {
                let mut rest = *self;
                while u128::from(rest) > 0x7F {
                    out.push(rest as u8 | 0x80);
                    rest = rest.checked_shr(7).unwrap_or_default();
                }
                out.push(rest as u8);
            }

            fn read(reader: &mut Reader<'_>) -> Result<Self, Error> {
                let (begin, mut value, mut shift) = (reader.at, 0 as $type, 0);
                loop {
                    let octet = reader.octet()?;
                    let group = <$type>::from(octet & 0x7F);
                    let placed = group.checked_shl(shift).filter(|placed| placed >> shift == group);
                    // A last group of zeros is one more than needed.
                    let Some(placed) = placed.filter(|_| octet != 0 || shift == 0) else {
                        return Err(reader.fault(begin, ErrorKind::Number));
                    };
                    value |= placed;
                    if octet < 0x80 {
                        return Ok(value);
                    }
                    shift += 7;
                }
            }
        }
    )* };
}

unsigned!(u16 u32 u64 u128);

macro_rules! signed {
    ($($type:ty as $unsigned:ty)*) => { $(
        impl Stored for $type {
            fn write(&self, out: &mut Vec<u8>) {
                (self.wrapping_shl(1) ^ (self >> (<$type>::BITS - 1))).cast_unsigned().write(out);
            }

            fn read(reader: &mut Reader<'_>) -> Result<Self, Error> {
                let folded = <$unsigned>::read(reader)?;
                Ok((folded >> 1).cast_signed() ^ (folded & 1).cast_signed().wrapping_neg())
            }
        }
    )* };
}

signed!(i32 as u32 i64 as u64 i128 as u128);

impl Stored for u8 {
    fn write(&self, out: &mut Vec<u8>) {
        out.push(*self);
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, Error> {
        reader.octet()
    }
}

impl Stored for bool {
    fn write(&self, out: &mut Vec<u8>) {
        out.push(u8::from(*self));
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, Error> {
        match reader.octet()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(reader.unknown_alternative()),
        }
    }
}

impl<T: Stored> Stored for Option<T> {
    fn write(&self, out: &mut Vec<u8>) {
        self.is_some().write(out);
        if let Some(value) = self {
            value.write(out);
        }
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, Error> {
        if bool::read(reader)? { T::read(reader).map(Some) } else { Ok(None) }
    }
}

fn write_all<T: Stored>(list: &[T], out: &mut Vec<u8>) {
    (list.len() as u32).write(out);
    list.iter().for_each(|value| value.write(out));
}

impl<T: Stored> Stored for Vec<T> {
    fn write(&self, out: &mut Vec<u8>) {
        write_all(self, out);
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, Error> {
        let count = reader.count()?;
        // Entries are larger in memory than their least form: what is announced is allocated as it comes.
        let mut list = Self::with_capacity(count.min(64));
        for _ in 0..count {
            list.push(T::read(reader)?);
        }
        Ok(list)
    }
}

impl<T: Stored> Stored for Box<[T]> {
    fn write(&self, out: &mut Vec<u8>) {
        write_all(self, out);
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, Error> {
        Vec::read(reader).map(Vec::into_boxed_slice)
    }
}

impl<T: Stored> Stored for Box<T> {
    fn write(&self, out: &mut Vec<u8>) {
        (**self).write(out);
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, Error> {
        T::read(reader).map(Self::new)
    }
}

impl Stored for Box<str> {
    fn write(&self, out: &mut Vec<u8>) {
        (self.len() as u32).write(out);
        out.extend(self.as_bytes());
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, Error> {
        let count = reader.count()?;
        let at = reader.at;
        let octets = reader.take(count)?;
        std::str::from_utf8(octets).map(Self::from).map_err(|_| reader.fault(at, ErrorKind::Text))
    }
}

impl Stored for [u8; 256] {
    fn write(&self, out: &mut Vec<u8>) {
        out.extend(self);
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, Error> {
        let at = reader.at;
        reader.take(256)?.try_into().map_err(|_| reader.fault(at, ErrorKind::End))
    }
}

impl<T: Stored> Stored for [T; 4] {
    fn write(&self, out: &mut Vec<u8>) {
        self.iter().for_each(|value| value.write(out));
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, Error> {
        Ok([T::read(reader)?, T::read(reader)?, T::read(reader)?, T::read(reader)?])
    }
}

macro_rules! tuple {
    ($($member:ident $type:ident),*) => {
        impl<$($type: Stored),*> Stored for ($($type,)*) {
            fn write(&self, out: &mut Vec<u8>) {
                let ($($member,)*) = self;
                $($member.write(out);)*
            }

            fn read(reader: &mut Reader<'_>) -> Result<Self, Error> {
                Ok(($($type::read(reader)?,)*))
            }
        }
    };
}

tuple!(a A, b B);

macro_rules! id {
    ($($type:ident $count:ident $table:literal)*) => { $(
        impl Stored for $type {
            fn write(&self, out: &mut Vec<u8>) {
                self.0.write(out);
            }

            fn read(reader: &mut Reader<'_>) -> Result<Self, Error> {
                let entries = reader.counts.$count;
                reader.index(entries, $table).map(Self)
            }
        }
    )* };
}

id!(NameId names "names" NodeId nodes "nodes" RestrictionId restrictions "restrictions");

impl Stored for FieldId {
    /// Appends the number of the field, from 1: 0 is the outermost value.
    fn write(&self, out: &mut Vec<u8>) {
        self.0.wrapping_add(1).write(out);
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, Error> {
        let entries = reader.counts.fields.saturating_add(1);
        reader.index(entries, "fields").map(|number| Self(number.wrapping_sub(1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Debug;

    fn check<T: Stored + PartialEq + Debug>(value: T, octets: &[u8]) {
        let mut out = Vec::new();
        value.write(&mut out);
        assert_eq!(out, octets, "{value:?}");
        let mut reader = Reader::new(octets, 0);
        assert_eq!(T::read(&mut reader), Ok(value));
        assert_eq!(reader.at(), octets.len());
    }

    #[test]
    fn numbers_are_groups_of_seven_bits() {
        check(0_u32, &[0]);
        check(127_u32, &[0x7F]);
        check(128_u32, &[0x80, 1]);
        check(u16::MAX, &[0xFF, 0xFF, 3]);
        check(u32::MAX, &[0xFF, 0xFF, 0xFF, 0xFF, 0x0F]);
        check(u64::MAX, &[0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1]);
        check(-1_i32, &[1]);
        check(63_i64, &[0x7E]);
        check(-64_i64, &[0x7F]);
        check(i64::MIN, &[0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1]);
        check(i128::from(i64::MAX), &[0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1]);
        check(Some(true), &[1, 1]);
        check(vec![(1_u32, false)], &[1, 1, 0]);
        check(Box::<str>::from("é"), &[2, 0xC3, 0xA9]);
    }

    fn refused<T: Stored + Debug>(octets: &[u8]) -> (u64, ErrorKind) {
        let error = T::read(&mut Reader::new(octets, 0)).unwrap_err();
        (error.offset, error.kind)
    }

    #[test]
    fn other_forms_are_refused_with_their_place() {
        assert_eq!(refused::<u16>(&[0xFF, 0xFF, 4]), (0, ErrorKind::Number));
        assert_eq!(refused::<u32>(&[0x80, 0]), (0, ErrorKind::Number));
        assert_eq!(refused::<u64>(&[0x80; 11]), (0, ErrorKind::Number));
        assert_eq!(refused::<u32>(&[0x80]), (1, ErrorKind::End));
        assert_eq!(refused::<bool>(&[2]), (0, ErrorKind::Choice));
        assert_eq!(refused::<Vec<u8>>(&[3, 1, 2]), (3, ErrorKind::End));
        assert_eq!(refused::<Box<str>>(&[1, 0xFF]), (1, ErrorKind::Text));
        assert_eq!(refused::<NameId>(&[0]), (0, ErrorKind::Index("names")));
        assert_eq!(refused::<FieldId>(&[1]), (0, ErrorKind::Index("fields")));
    }
}
