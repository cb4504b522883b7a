//! Extension additions of later versions: kept as they came, and written again by the same rules.

use super::ber;
use super::notation::{self, Notation};
use super::per;
use crate::types::Octets;
use crate::{Error, ErrorKind, Result};
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;
use core::hash::{Hash, Hasher};

/// The rules that unknown additions are encoded in; those of BER read one another's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Family {
    /// BER, DER, CER.
    Ber,
    /// Aligned PER.
    Aper,
    /// Unaligned PER.
    Uper,
    /// OER.
    Oer,
}

/// An extension addition that the type does not know.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct UnknownAddition {
    /// Its number among the additions, from 0; in BER, which does not number them, that of the unknown ones before it.
    pub number: u32,
    /// Its complete encoding: in BER an element, in PER and OER what is in the open type.
    pub octets: Octets<'static>,
}

/// The extension additions of a SEQUENCE or SET that its type does not know (X.680 clause 25.4): one word of memory.
///
/// Where there are none, all are equal, whatever the encoding tells of how many there may be.
#[derive(Clone, Default)]
pub struct UnknownAdditions(Option<Box<Kept>>);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Kept {
    family: Family,
    list: Vec<UnknownAddition>,
    /// How many additions a later version has, as far as its bitmap tells; 0 where the last one of them is there. In the
    /// canonical forms of PER also how many an earlier version has.
    count: u32,
}

impl PartialEq for UnknownAdditions {
    fn eq(&self, other: &Self) -> bool {
        self.some() == other.some()
    }
}

impl Eq for UnknownAdditions {}

impl Hash for UnknownAdditions {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.some().hash(state);
    }
}

/// There are hardly ever any: what frees them is not part of the drop of every type (NR RRC, small: 6 % of its text).
impl Drop for UnknownAdditions {
    #[inline]
    fn drop(&mut self) {
        if let Some(kept) = self.0.take() {
            free(kept);
        }
    }
}

#[cold]
#[inline(never)]
fn free(kept: Box<Kept>) {
    drop(kept);
}

impl UnknownAdditions {
    /// None of them.
    pub const NONE: Self = Self(None);

    /// Whether there are none.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.as_ref().is_none_or(|kept| kept.list.is_empty())
    }

    /// What is kept, if there are any.
    fn some(&self) -> Option<&Kept> {
        self.0.as_deref().filter(|kept| !kept.list.is_empty())
    }

    /// All of them, in order.
    pub fn iter(&self) -> core::slice::Iter<'_, UnknownAddition> {
        self.0.as_ref().map_or(&[][..], |kept| &kept.list).iter()
    }

    /// The rules that they are encoded in.
    #[must_use]
    pub fn family(&self) -> Option<Family> {
        self.0.as_ref().map(|kept| kept.family)
    }

    #[cold]
    #[inline(never)]
    pub(super) fn push(&mut self, family: Family, number: u32, octets: &[u8]) {
        self.kept(family).list.push(UnknownAddition { number, octets: Octets::copied(octets) });
    }

    /// The bitmap has so many bits, the last of which is 0, or fewer than the type has additions: they are written again.
    #[cold]
    pub(super) fn reach(&mut self, family: Family, count: u32) {
        self.kept(family).count = count;
    }

    fn kept(&mut self, family: Family) -> &mut Kept {
        self.0.get_or_insert_with(|| Box::new(Kept { family, list: Vec::new(), count: 0 }))
    }

    /// Those to be written by some rules.
    pub(super) fn of(&self, family: Family) -> Result<&[UnknownAddition]> {
        match self.some() {
            None => Ok(&[]),
            Some(kept) if kept.family == family => Ok(&kept.list),
            // What one rule wrote cannot be told in another without its type.
            Some(_) => Err(Error::new(ErrorKind::ValueMismatch, 0)),
        }
    }

    /// The bits that tell which additions there are: those that the type knows, and these.
    pub(super) fn bitmap(&self, family: Family, known: &[bool]) -> Result<Vec<bool>> {
        let mut all = Vec::from(known);
        for addition in self.of(family)? {
            let number = addition.number as usize;
            if number < all.len() || number - all.len() > MOST {
                return Err(Error::new(ErrorKind::ValueMismatch, 0));
            }
            all.resize(number, false);
            all.push(true);
        }
        let count =
            self.0.as_ref().filter(|kept| kept.family == family).map_or(0, |kept| kept.count as usize);
        if count > all.len() || count > 0 && all.iter().skip(count).all(|there| !there) {
            all.resize(count, false);
        }
        Ok(all)
    }

    /// Takes all elements that are left of this level; `place` finds components, which come late or twice here.
    ///
    /// # Errors
    /// As [`UnknownAdditions::read_ber`].
    #[inline]
    pub fn rest_ber(r: &mut ber::Reader<'_>, place: ber::Place) -> Result<Self> {
        if r.peek_tag()?.is_none() { Ok(Self::NONE) } else { Self::NONE.and_rest_ber(r, place) }
    }

    #[cold]
    #[inline(never)]
    fn and_rest_ber(mut self, r: &mut ber::Reader<'_>, place: ber::Place) -> Result<Self> {
        while r.peek_tag()?.is_some() {
            self.read_ber(r, place)?;
        }
        Ok(self)
    }

    /// Takes the next element.
    ///
    /// # Errors
    /// [`ErrorKind::UnexpectedElement`] for a component that is known, else as [`ber::any`].
    #[cold]
    #[inline(never)]
    pub fn read_ber(&mut self, r: &mut ber::Reader<'_>, place: ber::Place) -> Result<()> {
        ber::not_late(r, place)?;
        let octets = ber::any(r)?;
        let number = u32::try_from(self.iter().len()).unwrap_or(u32::MAX);
        self.push(Family::Ber, number, &octets);
        Ok(())
    }

    /// Writes them.
    ///
    /// # Errors
    /// [`ErrorKind::ValueMismatch`] for those of other rules.
    #[inline(always)]
    pub fn write_ber(&self, w: &mut ber::Writer) -> Result<()> {
        if self.0.is_none() { Ok(()) } else { self.write_kept(w) }
    }

    #[cold]
    #[inline(never)]
    fn write_kept(&self, w: &mut ber::Writer) -> Result<()> {
        if !self.is_empty() {
            self.of(Family::Ber)?.iter().rev().for_each(|addition| w.push(&addition.octets));
        }
        Ok(())
    }
}

impl<const ALIGNED: bool> per::Reader<'_, ALIGNED> {
    /// Takes the additions from the one with the number `known` on.
    ///
    /// # Errors
    /// As [`per::Reader::open`].
    #[inline(never)]
    pub fn unknown_additions(&mut self, known: u32, additions: per::Additions) -> Result<UnknownAdditions> {
        let mut kept = UnknownAdditions::NONE;
        if !additions.is_empty() {
            self.keep(known, additions, &mut kept)?;
        } else if self.canonical && additions.count() < known as usize {
            // What a sender of an earlier version writes is compared with what it would be.
            kept.reach(family(ALIGNED), u32::try_from(additions.count()).unwrap_or(u32::MAX));
        }
        Ok(kept)
    }

    /// Takes all additions of a type that knows none.
    ///
    /// # Errors
    /// As [`per::Reader::additions`].
    #[cold]
    #[inline(never)]
    pub fn all_unknown_additions(&mut self) -> Result<UnknownAdditions> {
        let additions = self.additions()?;
        self.unknown_additions(0, additions)
    }

    #[cold]
    #[inline(never)]
    fn keep(&mut self, known: u32, mut additions: per::Additions, kept: &mut UnknownAdditions) -> Result<()> {
        let mut number = known;
        while !additions.is_empty() {
            if self.is_next(&mut additions) {
                let octets = self.any()?;
                kept.push(family(ALIGNED), number, &octets);
            } else if additions.is_empty() {
                kept.reach(family(ALIGNED), number.saturating_add(1));
            }
            number = number.saturating_add(1);
        }
        Ok(())
    }
}

impl<const ALIGNED: bool> per::Writer<ALIGNED> {
    /// The bitmap of additions: those that the type knows, and others behind.
    ///
    /// # Errors
    /// [`ErrorKind::ValueMismatch`] for additions of other rules, or that the type knows.
    pub fn all_additions(&mut self, there: &[bool], unknown: &UnknownAdditions) -> Result<()> {
        if unknown.0.is_none() {
            self.additions(there);
            return Ok(());
        }
        let all = unknown.bitmap(family(ALIGNED), there)?;
        self.additions(&all);
        Ok(())
    }

    /// The additions themselves that the type does not know.
    ///
    /// # Errors
    /// As [`per::Writer::all_additions`].
    #[inline(never)]
    pub fn unknown_additions(&mut self, unknown: &UnknownAdditions) -> Result<()> {
        if !unknown.is_empty() {
            unknown.of(family(ALIGNED))?.iter().for_each(|addition| self.contents(&addition.octets));
        }
        Ok(())
    }
}

/// The longest row of absent additions that is written.
const MOST: usize = 1 << 16;

const fn family(aligned: bool) -> Family {
    if aligned { Family::Aper } else { Family::Uper }
}

impl fmt::Debug for UnknownAdditions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() { f.write_str("{}") } else { notation::debug(self as &dyn Notation, f) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ber::Rules;

    #[test]
    fn what_no_addition_is_there_of_is_written_by_all_rules() {
        // Room for three additions, none of which is there.
        let mut r = per::Reader::<false>::new(&[0b0000_0100, 0b0000_0000]);
        let additions = r.all_unknown_additions().unwrap();
        assert!(additions.is_empty() && additions.0.is_some());
        let mut w = ber::Writer::new(Rules::Ber);
        assert_eq!(additions.write_ber(&mut w), Ok(()));
        assert!(w.is_empty());
        // Octets of PER are no element of BER.
        let mut r = per::Reader::<false>::new(&[0b0000_0001, 0b0000_0001, 0b0000_0000]);
        let additions = r.all_unknown_additions().unwrap();
        assert_eq!(additions.iter().len(), 1);
        assert_eq!(additions.write_ber(&mut w).unwrap_err().kind(), ErrorKind::ValueMismatch);
    }
}
