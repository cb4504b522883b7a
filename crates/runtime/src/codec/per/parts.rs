//! What values are put together of: lists, open types, extension additions, CONTAINING.

use super::writer::Orders;
use super::{OpenMark, Reader, Size, Writer};
use crate::codec::{Contained, Path, UnknownAlternative};
use crate::per::Length;
use crate::types::{BitString, Octets};
use crate::{Error, ErrorKind, Result};
use alloc::boxed::Box;
use alloc::vec::Vec;

/// Octets of memory that a list sets aside at once at most.
const ROOM: usize = 64 * 1024;

/// An open type that has been entered (§11.2): where reading ends inside it and goes on behind it.
#[derive(Clone, Copy, Debug)]
#[must_use = "the open type has to be left again"]
pub struct Open {
    behind: usize,
    outer: usize,
}

/// The bitmap of extension additions (§19.7, §19.8).
#[derive(Clone, Copy, Debug)]
pub struct Additions {
    at: usize,
    left: usize,
    count: usize,
}

impl Additions {
    /// Whether none are left.
    #[inline]
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.left == 0
    }

    /// How many it tells of.
    #[inline]
    pub(in crate::codec) const fn count(&self) -> usize {
        self.count
    }
}

/// The item of an ENUMERATED that is an addition with this number.
#[must_use]
pub fn addition<T: Copy>(items: &[T], number: u32) -> Option<T> {
    items.get(number as usize).copied()
}

/// That an encoding is the canonical one of its value, which was written again: there is only one.
///
/// # Errors
/// [`ErrorKind::NotCanonical`] at the first bit that differs.
pub fn same(taken: &[u8], canonical: &[u8]) -> Result<()> {
    if taken == canonical {
        return Ok(());
    }
    let differ =
        |(at, (a, b)): (usize, (&u8, &u8))| (a != b).then(|| at * 8 + (a ^ b).leading_zeros() as usize);
    let bit = taken.iter().zip(canonical).enumerate().find_map(differ);
    let bit = bit.unwrap_or_else(|| taken.len().min(canonical.len()) * 8);
    Err(Error::at_bit(ErrorKind::NotCanonical, bit as u64))
}

impl<'a, const ALIGNED: bool> Reader<'a, ALIGNED> {
    /// SEQUENCE OF, SET OF (§20).
    ///
    /// # Errors
    /// As [`Reader::size`] and what `read` says; [`ErrorKind::LimitExceeded`] for too many elements of no bits.
    #[inline]
    pub fn list<T>(&mut self, size: Size, mut read: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        let mut length = self.size(size)?;
        let room = self.bits.left().min(ROOM / size_of::<T>().max(1) + 1);
        let mut list = Vec::with_capacity(length.count.min(room));
        loop {
            let start = self.position();
            for _ in 0..length.count {
                match read(self) {
                    Ok(value) => list.push(value),
                    Err(error) => {
                        self.path.element(list.len());
                        return Err(error);
                    }
                }
            }
            self.end_list(start, length.count)?;
            if !length.more {
                return Ok(list);
            }
            length = self.next_fragment()?;
        }
    }

    /// The same, each element read where it stands in the list.
    ///
    /// # Errors
    /// As [`Reader::list`].
    #[inline]
    pub fn list_filled<T>(
        &mut self,
        size: Size,
        empty: impl Fn() -> T,
        mut fill: impl FnMut(&mut T, &mut Self) -> Result<()>,
    ) -> Result<Vec<T>> {
        let mut length = self.size(size)?;
        let room = self.bits.left().min(ROOM / size_of::<T>().max(1) + 1);
        let mut list = Vec::with_capacity(length.count.min(room));
        loop {
            let start = self.position();
            let mut left = length.count;
            while left > 0 {
                // As many at once as there is room for; unlike `push`, without a copy on the way.
                let now = left.min(room.max(1));
                let begun = list.len();
                list.resize_with(begun + now, &empty);
                for at in begun..begun + now {
                    if let Some(element) = list.get_mut(at)
                        && let Err(error) = fill(element, self)
                    {
                        self.path.element(at);
                        return Err(error);
                    }
                }
                left -= now;
            }
            self.end_list(start, length.count)?;
            if !length.more {
                return Ok(list);
            }
            length = self.next_fragment()?;
        }
    }

    #[cold]
    #[inline(never)]
    fn next_fragment(&mut self) -> Result<Length> {
        self.length()
    }

    /// The end of a list of `count` elements that began at `start`: those without bits are counted.
    ///
    /// # Errors
    /// [`ErrorKind::LimitExceeded`].
    #[inline]
    pub(super) fn end_list(&mut self, start: usize, count: usize) -> Result<()> {
        let taken = self.bits.position() - start;
        if count > taken {
            let empty = count - taken;
            self.empty = self.empty.checked_sub(empty).ok_or_else(|| self.error(ErrorKind::LimitExceeded))?;
        }
        Ok(())
    }

    // Open types and extensions

    /// Enters an open type (§11.2).
    ///
    /// # Errors
    /// [`ErrorKind::Incomplete`]; [`ErrorKind::Unsupported`] for an open type in fragments.
    pub fn open(&mut self) -> Result<Open> {
        match self.open_type()? {
            Ok(open) => Ok(open),
            Err(_) => Err(self.error(ErrorKind::Unsupported)),
        }
    }

    /// The same for one that need not be resolved: its octets if it stands in fragments.
    ///
    /// # Errors
    /// [`ErrorKind::Incomplete`].
    #[inline(always)]
    pub fn open_type(&mut self) -> Result<core::result::Result<Open, Octets<'a>>> {
        match self.short_open() {
            Some(open) => Ok(Ok(open)),
            None => self.any_open_type(),
        }
    }

    /// One of up to 127 octets that are there.
    #[inline]
    fn short_open(&mut self) -> Option<Open> {
        let mut inside = self.bits;
        #[allow(clippy::cast_possible_truncation)] // seven bits
        let octets = inside.number(8, if ALIGNED { 7 } else { 0 }, 0x7F)? as usize;
        let open = Open { behind: inside.position() + octets * 8, outer: inside.end() };
        if open.behind > open.outer {
            return None;
        }
        inside.set_end(open.behind);
        self.bits = inside;
        Some(open)
    }

    #[inline(never)]
    fn any_open_type(&mut self) -> Result<core::result::Result<Open, Octets<'a>>> {
        let length = self.length()?;
        if length.more {
            return self.octets_of(length).map(Err);
        }
        let mut inside = self.bits;
        inside.skip(length.count.saturating_mul(8))?;
        let open = Open { behind: inside.position(), outer: self.bits.end() };
        self.bits.set_end(open.behind);
        Ok(Ok(open))
    }

    /// The octets that are left in an open type, as [`Reader::any`] says them.
    ///
    /// # Errors
    /// None; as other reads.
    pub fn rest(&mut self) -> Result<Octets<'a>> {
        let octets = self.take(self.bits.left() / 8)?;
        Ok(if octets.is_empty() { Octets::borrowed(&[0]) } else { octets })
    }

    /// Goes on behind an open type, whatever is left in it.
    #[inline]
    pub fn close(&mut self, open: Open) {
        self.bits.set_end(open.outer);
        self.bits.seek(open.behind);
    }

    /// Enters what a string contains: `size` in units of `unit` bits.
    ///
    /// # Errors
    /// As [`Reader::size`].
    pub fn open_string(&mut self, size: Size, unit: usize) -> Result<Option<Open>> {
        let start = self.bits;
        let length = self.size(size)?;
        if length.more {
            self.bits = start;
            return Ok(None);
        }
        let short = size.is_short(length.count, if unit == 1 { 16 } else { 2 });
        if ALIGNED && length.count > 0 && !short {
            self.bits.align();
        }
        let mut inside = self.bits;
        inside.skip(length.count.saturating_mul(unit))?;
        let open = Open { behind: inside.position(), outer: self.bits.end() };
        self.bits.set_end(open.behind);
        Ok(Some(open))
    }

    /// A string with CONTAINING: the value inside, or its octets where they do not decode.
    ///
    /// # Errors
    /// A fault in the string itself.
    pub fn contained<T>(
        &mut self,
        size: Size,
        unit: usize,
        read: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<Contained<'a, T>> {
        let start = self.bits;
        let depth = self.depth;
        if let Some(open) = self.open_string(size, unit)? {
            let from = self.bits.position();
            // A complete encoding is whole octets, and bits in it are aligned from its begin on.
            let whole = (open.behind - from).is_multiple_of(8) && (!ALIGNED || from.is_multiple_of(8));
            if whole {
                // The string with a value inside is a level itself.
                match self.enter().and_then(|()| read(self)) {
                    Ok(value) if self.fills(from, open.behind) => {
                        self.close(open);
                        self.leave();
                        return Ok(Contained::Value(value));
                    }
                    Err(error) if error.kind() == ErrorKind::DepthLimit => return Err(error),
                    _ => {}
                }
            }
            // What the attempt has spent stays spent.
            *self = Self { bits: start, depth, path: Path::NONE, ..*self };
        }
        if unit == 8 {
            self.octet_string(size).map(Contained::Octets)
        } else {
            self.bit_string(size).map(Contained::from)
        }
    }

    /// Whether a value that began at a bit has come to the end. A value of no bits takes one octet (§11.1.3).
    const fn fills(&self, from: usize, end: usize) -> bool {
        let left = end - self.bits.position();
        left < 8 || left == 8 && self.bits.position() == from
    }

    /// More presence bits than a word has.
    ///
    /// # Errors
    /// [`ErrorKind::Incomplete`].
    pub fn presence<const N: usize>(&mut self) -> Result<[bool; N]> {
        let mut all = [false; N];
        for bit in &mut all {
            *bit = self.bit()?;
        }
        Ok(all)
    }

    /// The bitmap of additions.
    ///
    /// # Errors
    /// As [`crate::per::BitReader::small_length`].
    pub fn additions(&mut self) -> Result<Additions> {
        let count = self.bits.small_length(ALIGNED)?;
        let at = self.bits.position();
        self.bits.skip(count)?;
        Ok(Additions { at, left: count, count })
    }

    /// Enters the next addition if it is there.
    ///
    /// # Errors
    /// As [`Reader::open`].
    pub fn addition(&mut self, additions: &mut Additions) -> Result<Option<Open>> {
        if self.is_next(additions) { self.open().map(Some) } else { Ok(None) }
    }

    pub(in crate::codec) fn is_next(&self, additions: &mut Additions) -> bool {
        if additions.left == 0 {
            return false;
        }
        additions.left -= 1;
        let at = additions.at;
        additions.at += 1;
        self.bits.input().get(at >> 3).is_some_and(|octet| octet << (at & 7) & 0x80 != 0)
    }

    /// Steps over the additions that the type does not know.
    ///
    /// # Errors
    /// As [`Reader::contents`].
    pub fn skip_additions(&mut self, mut additions: Additions) -> Result<()> {
        while additions.left > 0 {
            if self.is_next(&mut additions) {
                self.contents()?;
            }
        }
        Ok(())
    }

    /// Steps over all additions.
    ///
    /// # Errors
    /// As [`Reader::additions`] and [`Reader::contents`].
    pub fn skip_all_additions(&mut self) -> Result<()> {
        let additions = self.additions()?;
        self.skip_additions(additions)
    }

    /// An alternative of a later version, by its number among the additions.
    ///
    /// # Errors
    /// As [`Reader::contents`].
    pub fn unknown_alternative(&mut self, number: u32) -> Result<Box<UnknownAlternative<'a>>> {
        let octets = self.any()?;
        Ok(Box::new(UnknownAlternative { addition: Some(number), octets }))
    }
}

impl<const ALIGNED: bool> Writer<ALIGNED> {
    /// SEQUENCE OF (§20).
    ///
    /// # Errors
    /// [`ErrorKind::ConstraintViolated`] for a size outside of a root that is not extensible; what `write` says.
    #[inline]
    pub fn list<T>(
        &mut self,
        size: Size,
        list: &[T],
        write: impl Fn(&mut Self, &T) -> Result<()>,
    ) -> Result<()> {
        let mut length = self.size(size, list.len())?;
        let mut rest = list;
        loop {
            let (now, behind) = rest.split_at_checked(length.count).unwrap_or((rest, &[]));
            for (at, element) in now.iter().enumerate() {
                if let Err(error) = write(self, element) {
                    self.path.element(list.len() - rest.len() + at);
                    return Err(error);
                }
            }
            rest = behind;
            if !length.more {
                return Ok(());
            }
            length = self.length(rest.len());
        }
    }

    /// SET OF (§22): under the canonical rules in the order of the elements' encodings as octet strings.
    ///
    /// # Errors
    /// As [`Writer::list`].
    pub fn set_of<T>(
        &mut self,
        size: Size,
        list: &[T],
        write: impl Fn(&mut Self, &T) -> Result<()>,
    ) -> Result<()> {
        if !self.is_canonical() {
            return self.list(size, list, write);
        }
        let write = |w: &mut Self, at: usize| list.get(at).map_or(Ok(()), |element| write(w, element));
        self.ordered(list.len(), write, |w, order| w.list(size, order, |w, at| write(w, *at)))
    }

    /// The elements of a SET OF under the canonical rules: `write` writes one of them, `list` all in an order.
    pub(super) fn ordered(
        &mut self,
        count: usize,
        write: impl Fn(&mut Self, usize) -> Result<()>,
        list: impl FnOnce(&mut Self, &[usize]) -> Result<()>,
    ) -> Result<()> {
        if let Some(next) = self.orders.next {
            let order = self.orders.known.get(next).cloned().unwrap_or_default();
            self.orders.next = Some(next + 1);
            return list(self, &order);
        }
        let around = core::mem::take(&mut self.orders.known);
        let mut all = Vec::with_capacity(count);
        for at in 0..count {
            let octets = self.apart(|w| write(w, at)).inspect_err(|_| self.path.element(at))?;
            all.push((octets, at, core::mem::take(&mut self.orders.known)));
        }
        all.sort_by(|a, b| (&a.0, a.1).cmp(&(&b.0, b.1)));
        let order: Vec<usize> = all.iter().map(|(_, at, _)| *at).collect();
        self.orders.known = all.into_iter().flat_map(|(_, _, inside)| inside).collect();
        self.orders.next = Some(0);
        let written = list(self, &order);
        let inside = core::mem::replace(&mut self.orders, Orders { known: around, next: None }).known;
        self.orders.known.push(order);
        self.orders.known.extend(inside);
        written
    }

    /// A string with CONTAINING: `write` writes the value inside.
    ///
    /// # Errors
    /// What `write` says; as [`Writer::octet_string`].
    pub fn contained<T>(
        &mut self,
        size: Size,
        is_bits: bool,
        value: &Contained<'_, T>,
        write: impl FnOnce(&mut Self, &T) -> Result<()>,
    ) -> Result<()> {
        let Contained::Value(value) = value else {
            return match is_bits {
                true => self.bit_string(size, &BitString::from(value.bits()), false),
                false => self.octet_string(size, value.octets()),
            };
        };
        if size == Size::ANY && !is_bits {
            // As an open type: a length and whole octets.
            self.begin_value()?;
            let open = self.open();
            write(self, value)?;
            self.close(open);
            self.end_value();
            return Ok(());
        }
        self.begin_value()?;
        let inside = self.apart(|w| write(w, value))?;
        self.end_value();
        match is_bits {
            true => self.bit_string(size, &BitString::new(inside, 0).unwrap_or_default(), false),
            false => self.octet_string(size, &inside),
        }
    }

    /// The complete encoding of a value that `write` writes. Whatever comes of it, this writer is as before.
    pub(super) fn apart(&mut self, write: impl FnOnce(&mut Self) -> Result<()>) -> Result<Vec<u8>> {
        let mut inside = Self::onto(Vec::new(), self.is_canonical());
        (inside.values, inside.orders) = (self.values, core::mem::take(&mut self.orders));
        let outer = core::mem::replace(self, inside);
        let written = write(self);
        let mut inside = core::mem::replace(self, outer);
        self.orders = core::mem::take(&mut inside.orders);
        core::mem::swap(&mut self.path, &mut inside.path);
        written.map(|()| inside.finish(true))
    }

    /// Begins an alternative that is an addition: its number and the open type around it (§23.8).
    pub fn added_alternative(&mut self, number: u32) -> OpenMark {
        self.bit(true);
        self.small_number(number);
        self.open()
    }

    /// An alternative of a later version.
    ///
    /// # Errors
    /// [`ErrorKind::ValueMismatch`] for one that has come without its number.
    pub fn unknown_alternative(&mut self, value: &UnknownAlternative<'_>) -> Result<()> {
        let number = value.addition.ok_or_else(|| Error::new(ErrorKind::ValueMismatch, 0))?;
        self.bit(true);
        self.small_number(number);
        self.any(&value.octets);
        Ok(())
    }

    /// An item of an ENUMERATED that is an addition (§14.3).
    ///
    /// # Errors
    /// None: a result, so that it is the end of a function.
    pub fn added_item(&mut self, number: u32) -> Result<()> {
        self.bit(true);
        self.small_number(number);
        Ok(())
    }

    /// Bits that tell what is there.
    #[inline]
    pub fn flags<const N: usize>(&mut self, flags: [bool; N]) {
        if N <= 56 {
            let number = flags.iter().fold(0, |number, flag| number << 1 | u64::from(*flag));
            self.bits(number, N.to_be_bytes()[size_of::<usize>() - 1].into());
        } else {
            for flag in flags {
                self.bit(flag);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Reader, Size, Writer};
    use crate::codec::Contained;
    use alloc::vec::Vec;

    /// What is written of a value comes back, wherever the string begins.
    fn check<const ALIGNED: bool>(bits_before: u32, unit: usize, value: Option<bool>) {
        let mut writer = Writer::<ALIGNED>::onto(Vec::new(), true);
        for _ in 0..bits_before {
            writer.bit(true);
        }
        let contained = Contained::Value(value);
        let written = writer.contained(Size::ANY, unit == 1, &contained, |w, value| {
            if let Some(value) = value {
                w.bit(*value);
            }
            Ok(())
        });
        written.unwrap();
        let octets = writer.finish(true);
        let mut reader = Reader::<ALIGNED>::new(&octets);
        for _ in 0..bits_before {
            assert!(reader.bit().unwrap());
        }
        let read = reader.contained(Size::ANY, unit, |r| value.map(|_| r.bit()).transpose());
        assert_eq!(read.unwrap(), Contained::Value(value), "{bits_before} {unit} {octets:02x?}");
    }

    #[test]
    fn values_inside_of_strings_also_those_of_no_bits() {
        for bits_before in 0..9 {
            for unit in [1, 8] {
                for value in [None, Some(false), Some(true)] {
                    check::<true>(bits_before, unit, value);
                    check::<false>(bits_before, unit, value);
                }
            }
        }
    }

    #[test]
    fn what_is_no_complete_encoding_stays_as_it_is() {
        // One bit, and an octet behind the one that the value takes.
        for (octets, unit) in [(&[0x01, 0x80][..], 1), (&[0x02, 0x80, 0x00], 8)] {
            let mut reader = Reader::<true>::new(octets);
            let read = reader.contained(Size::ANY, unit, |r| r.bit()).unwrap();
            assert!(!matches!(read, Contained::Value(_)), "{read:?}");
        }
        // A string of two octets is not aligned, and what is in it would be: it is read where it begins.
        let two = Size::new(false, 2, 2, Some(super::super::Whole::Nothing));
        let mut reader = Reader::<true>::new(&[0b1100_0001, 0b0101_0101, 0]);
        assert!(reader.bit().unwrap());
        let read = reader.contained(two, 8, |r| Ok((r.bit()?, r.bit()?))).unwrap();
        assert!(
            matches!(&read, Contained::Octets(octets) if octets.as_ref() == [0b1000_0010, 0b1010_1010]),
            "{read:?}"
        );
    }
}
