//! Reading: preambles, open types, lists and numbers.

use crate::ber::Rules;
use crate::codec::{Family, Path, UnknownAdditions};
use crate::oer::{Around, Reader as Cursor};
use crate::types::{ExactReal, Integer, Octets};
use crate::{Error, ErrorKind, Limits, Result, Tag};
use alloc::vec::Vec;
use core::cmp::Ordering;

/// Elements of no octets in one value: they cost nothing to announce, so they are counted.
const EMPTY_ELEMENTS: usize = 65_536;

/// Octets in a number; longer ones are refused.
const LONGEST: usize = 1 << 20;

/// A cursor over octets, with the depth that is left, and whether the encoding has to be canonical (§31).
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    pub(super) cursor: Cursor<'a>,
    depth: u16,
    empty: usize,
    canonical: bool,
    /// Where a fault is, as far as it has been told.
    pub(in crate::codec) path: Path,
}

/// An open type that has been entered (§30): where reading ends around it.
#[derive(Clone, Copy, Debug)]
#[must_use = "the open type has to be left again"]
pub struct Open(Around);

/// The bits that tell which extension additions are there (§16.4).
#[derive(Clone, Copy, Debug)]
pub struct Bitmap<'a> {
    octets: &'a [u8],
    at: usize,
    count: usize,
}

impl<'a> Reader<'a> {
    /// A reader at the begin of an input with the default limits.
    #[must_use]
    pub const fn new(input: &'a [u8], canonical: bool) -> Self {
        Self {
            cursor: Cursor::new(input),
            depth: Limits::DEFAULT.depth,
            empty: EMPTY_ELEMENTS,
            canonical,
            path: Path::NONE,
        }
    }

    /// Where the reader is.
    #[inline]
    #[must_use]
    pub const fn cursor(&self) -> Cursor<'a> {
        self.cursor
    }

    /// Goes back to where the reader was.
    #[inline]
    pub const fn back_to(&mut self, cursor: Cursor<'a>) {
        self.cursor = cursor;
    }

    /// The position in octets.
    #[inline]
    #[must_use]
    pub const fn position(&self) -> usize {
        self.cursor.position()
    }

    /// A fault of this kind at the cursor.
    #[cold]
    #[inline(never)]
    #[must_use]
    pub const fn error(&self, kind: ErrorKind) -> Error {
        self.cursor.error(kind)
    }

    /// The fault that a call has told is in this component.
    #[cold]
    #[inline(never)]
    pub fn inside(&mut self, component: &'static str) {
        self.path.component(component);
    }

    /// Whether CANONICAL-OER is read.
    #[inline]
    #[must_use]
    pub const fn is_canonical(&self) -> bool {
        self.canonical
    }

    /// The rules that contents octets of X.690 follow.
    pub(super) const fn contents_rules(&self) -> Rules {
        if self.canonical { Rules::Der } else { Rules::Ber }
    }

    /// That something is so in CANONICAL-OER: `start` is where it was read.
    #[inline]
    pub(super) fn canonical(&self, good: bool, start: &Cursor<'_>) -> Result<()> {
        if self.canonical && !good { Err(start.error(ErrorKind::NotCanonical)) } else { Ok(()) }
    }

    /// Begins a value with parts.
    ///
    /// # Errors
    /// [`ErrorKind::DepthLimit`].
    #[inline]
    pub fn enter(&mut self) -> Result<()> {
        match self.depth.checked_sub(1) {
            Some(depth) => {
                self.depth = depth;
                Ok(())
            }
            None => Err(self.error(ErrorKind::DepthLimit)),
        }
    }

    /// Ends it.
    #[inline]
    pub const fn leave(&mut self) {
        self.depth += 1;
    }

    /// Takes over what a look into octets has spent.
    pub(super) const fn spent(&mut self, inside: &Self) {
        self.empty = inside.empty;
    }

    // Lengths and octets

    /// A length determinant (§8.6), in the fewest octets under §31.2.
    ///
    /// # Errors
    /// As [`Cursor::length`]; [`ErrorKind::NotCanonical`].
    #[inline]
    pub fn length(&mut self) -> Result<usize> {
        let start = self.cursor;
        let length = self.cursor.length()?;
        if self.canonical {
            let fewest = if length < 0x80 { 1 } else { 1 + octets_of(length) };
            self.canonical(self.position() - start.position() <= fewest, &start)?;
        }
        Ok(length)
    }

    /// Octets of a size.
    ///
    /// # Errors
    /// As [`Reader::length`].
    #[inline]
    pub fn take(&mut self, size: usize) -> Result<&'a [u8]> {
        let length = if size == super::VARIABLE { self.length()? } else { size };
        self.cursor.take(length)
    }

    /// An unresolved open type: its complete encoding (§30).
    ///
    /// # Errors
    /// As [`Reader::length`].
    #[inline]
    pub fn any(&mut self) -> Result<Octets<'a>> {
        self.take(super::VARIABLE).map(Octets::borrowed)
    }

    // Preambles, open types, extensions (§16, §30)

    /// The bits of a preamble, at most 64, the last the lowest; the rest of its octets only fills up.
    ///
    /// # Errors
    /// [`ErrorKind::Incomplete`]; [`ErrorKind::NotCanonical`].
    #[inline]
    pub fn preamble(&mut self, bits: u32) -> Result<u64> {
        let start = self.cursor;
        let octets = bits.div_ceil(8);
        let number = self.cursor.unsigned(octets.to_be_bytes()[3])?;
        let pad = octets * 8 - bits;
        self.canonical(number & ((1 << pad) - 1) == 0, &start)?;
        Ok(number >> pad)
    }

    /// The bits of a longer preamble.
    ///
    /// # Errors
    /// As [`Reader::preamble`].
    pub fn presence<const N: usize>(&mut self) -> Result<[bool; N]> {
        let start = self.cursor;
        let octets = self.cursor.take(N.div_ceil(8))?;
        let pad = octets.len() * 8 - N;
        self.canonical(octets.last().is_none_or(|last| u16::from(*last) & ((1 << pad) - 1) == 0), &start)?;
        Ok(core::array::from_fn(|at| bit(octets, at)))
    }

    /// Begins an open type (§30), or the bytes of a string that hold a value.
    ///
    /// # Errors
    /// As [`Reader::length`].
    #[inline]
    pub fn open(&mut self, size: usize) -> Result<Open> {
        let length = if size == super::VARIABLE { self.length()? } else { size };
        self.cursor.enter(length).map(Open)
    }

    /// Ends it: the value has to fill its octets.
    ///
    /// # Errors
    /// [`ErrorKind::TrailingData`].
    #[inline]
    pub fn close(&mut self, open: Open) -> Result<()> {
        if self.cursor.left() > 0 {
            return Err(self.error(ErrorKind::TrailingData));
        }
        self.cursor.leave(open.0);
        Ok(())
    }

    /// The bitmap of extension additions (§16.4); one of them is there under §31.
    ///
    /// # Errors
    /// [`ErrorKind::BitStringUnused`] and others of a BIT STRING.
    pub fn bitmap(&mut self) -> Result<Bitmap<'a>> {
        let length = self.length()?;
        let start = self.cursor;
        let octets = self.cursor.take(length)?;
        let bits = crate::ber::decode_bit_string(octets, start.position() as u64, self.contents_rules())?;
        self.canonical(bits.iter().any(|bit| bit), &start)?;
        Ok(Bitmap { octets: octets.get(1..).unwrap_or_default(), at: 0, count: bits.len() })
    }

    /// The additions that the type does not know.
    ///
    /// # Errors
    /// As [`Reader::length`].
    pub fn unknown_additions(&mut self, mut bitmap: Bitmap<'_>) -> Result<UnknownAdditions> {
        let mut kept = UnknownAdditions::NONE;
        if self.canonical && bitmap.at > bitmap.count {
            // What a sender of an earlier version writes is written again so.
            kept.reach(Family::Oer, u32::try_from(bitmap.count).unwrap_or(u32::MAX));
        }
        while bitmap.at < bitmap.count {
            let number = u32::try_from(bitmap.at).map_err(|_| self.error(ErrorKind::LimitExceeded))?;
            if bitmap.next_addition() {
                kept.push(Family::Oer, number, &self.any()?);
            } else if bitmap.at == bitmap.count {
                kept.reach(Family::Oer, number.saturating_add(1));
            }
        }
        Ok(kept)
    }

    /// Steps over them.
    ///
    /// # Errors
    /// As [`Reader::length`].
    pub fn skip_additions(&mut self, bitmap: Bitmap<'_>) -> Result<()> {
        self.unknown_additions(bitmap).map(drop)
    }

    /// A component that equals its DEFAULT is not there under §31.9: `start` is where it begins.
    ///
    /// # Errors
    /// [`ErrorKind::NotCanonical`].
    #[inline]
    pub fn not_default(&self, equal: bool, start: usize) -> Result<()> {
        if equal && self.canonical { Err(Error::new(ErrorKind::NotCanonical, start as u64)) } else { Ok(()) }
    }

    /// Checks that a version bracket has one of its components (§16.5), behind its preamble of so many octets.
    ///
    /// # Errors
    /// [`ErrorKind::NotCanonical`] where the bracket begins.
    #[inline]
    pub fn bracket(&self, there: bool, preamble: usize) -> Result<()> {
        if self.canonical && !there { Err(self.empty_bracket(preamble)) } else { Ok(()) }
    }

    #[cold]
    #[inline(never)]
    const fn empty_bracket(&self, preamble: usize) -> Error {
        Error::new(ErrorKind::NotCanonical, self.position().saturating_sub(preamble) as u64)
    }

    /// SEQUENCE OF, SET OF (§17, §19): `ordered` is a SET OF, whose elements ascend under §31.8.
    ///
    /// # Errors
    /// What `read` says.
    pub fn list<T>(&mut self, ordered: bool, mut read: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        let start = self.cursor;
        let count = self.cursor.quantity()?;
        self.canonical(self.position() - start.position() <= 1 + octets_of(count), &start)?;
        let mut list = Vec::with_capacity(count.min(self.cursor.left()).min(1024));
        let mut before: &[u8] = &[];
        for number in 0..count {
            let begun = self.position();
            match read(self) {
                Ok(value) => list.push(value),
                Err(error) => {
                    self.path.element(list.len());
                    return Err(error);
                }
            }
            let element = self.cursor.octets(begun, self.position());
            if element.is_empty() {
                self.empty = self.empty.checked_sub(1).ok_or_else(|| self.error(ErrorKind::LimitExceeded))?;
            }
            if ordered && self.canonical {
                if number > 0 && order(before, element) == Ordering::Greater {
                    self.path.element(number);
                    return Err(Error::new(ErrorKind::NotCanonical, begun as u64));
                }
                before = element;
            }
        }
        Ok(list)
    }

    /// The tag of a CHOICE (§20.1).
    ///
    /// # Errors
    /// As [`Cursor::tag`].
    #[inline]
    pub fn tag(&mut self) -> Result<Tag> {
        self.cursor.tag()
    }

    /// The complete encoding of an alternative that is not known, whose tag began at `start` (§20.2).
    ///
    /// # Errors
    /// As [`Reader::length`].
    pub fn unknown_alternative(&mut self, start: usize) -> Result<Octets<'a>> {
        self.take(super::VARIABLE)?;
        Ok(Octets::borrowed(self.cursor.octets(start, self.position())))
    }

    // Numbers (§9 to §12)

    /// BOOLEAN (§9): anything but zero is true, under §31.3 only FF.
    ///
    /// # Errors
    /// [`ErrorKind::NotCanonical`].
    #[inline]
    pub fn boolean(&mut self) -> Result<bool> {
        let start = self.cursor;
        let octet = self.cursor.octet()?;
        self.canonical(matches!(octet, 0 | 0xFF), &start)?;
        Ok(octet != 0)
    }

    /// A number without a sign in so many octets (§10.3).
    ///
    /// # Errors
    /// [`ErrorKind::Incomplete`].
    #[inline]
    pub fn unsigned(&mut self, octets: u8) -> Result<u64> {
        self.cursor.unsigned(octets)
    }

    /// A number with a sign in so many octets (§10.4).
    ///
    /// # Errors
    /// [`ErrorKind::Incomplete`].
    #[inline]
    pub fn signed(&mut self, octets: u8) -> Result<i64> {
        self.cursor.signed(octets)
    }

    /// A number behind a length determinant (§10.3 e, §10.4 e).
    ///
    /// # Errors
    /// [`ErrorKind::IntegerEmpty`], [`ErrorKind::LimitExceeded`], [`ErrorKind::NotCanonical`].
    pub fn variable(&mut self, signed: bool) -> Result<Integer<'a>> {
        let start = self.cursor;
        let length = self.length()?;
        if length == 0 {
            return Err(start.error(ErrorKind::IntegerEmpty));
        }
        let octets = self.cursor.take(length)?;
        if length > LONGEST {
            return Err(start.error(ErrorKind::LimitExceeded));
        }
        let fewest = strip(octets, signed);
        self.canonical(fewest.len() == octets.len(), &start)?;
        if signed || fewest.first().is_some_and(|first| *first < 0x80) {
            return Ok(Integer::from_octets(fewest));
        }
        let mut positive = Vec::with_capacity(fewest.len() + 1);
        positive.push(0);
        positive.extend_from_slice(fewest);
        Ok(Integer::copied(&positive))
    }

    /// A number in a type that it may be too large for.
    ///
    /// # Errors
    /// [`ErrorKind::IntegerRange`].
    #[inline]
    pub fn narrow<W, T: TryFrom<W>>(&self, number: W) -> Result<T> {
        T::try_from(number).map_err(|_| self.error(ErrorKind::IntegerRange))
    }

    /// The number of an ENUMERATED (§11).
    ///
    /// # Errors
    /// [`ErrorKind::LengthEmpty`], [`ErrorKind::LimitExceeded`], [`ErrorKind::NotCanonical`].
    #[inline]
    fn enumerated(&mut self) -> Result<i64> {
        let start = self.cursor;
        let first = self.cursor.octet()?;
        if first < 0x80 { Ok(i64::from(first)) } else { self.long_enumerated(first & 0x7F, &start) }
    }

    /// ENUMERATED: the item that `item` gives for the number.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownEnumeration`], else as for any number.
    #[inline]
    pub fn item<T>(&mut self, item: impl FnOnce(i64) -> Option<T>) -> Result<T> {
        let start = self.cursor;
        let number = self.enumerated()?;
        item(number).ok_or_else(|| start.error(ErrorKind::UnknownEnumeration))
    }

    #[inline(never)]
    fn long_enumerated(&mut self, length: u8, start: &Cursor<'_>) -> Result<i64> {
        if length == 0 {
            return Err(start.error(ErrorKind::LengthEmpty));
        }
        let octets = self.cursor.take(usize::from(length))?;
        let fewest = strip(octets, true);
        self.canonical(fewest.len() == octets.len() && !matches!(fewest, [0..0x80]), start)?;
        if fewest.len() > 8 {
            return Err(start.error(ErrorKind::LimitExceeded));
        }
        let sign = if fewest.first().is_some_and(|first| *first >= 0x80) { -1 } else { 0 };
        Ok(fewest.iter().fold(sign, |number, octet| number << 8 | i64::from(*octet)))
    }

    /// REAL as binary32 (§12.2).
    ///
    /// # Errors
    /// [`ErrorKind::Incomplete`].
    pub fn float32(&mut self) -> Result<f64> {
        let bits = self.cursor.unsigned(4)?;
        Ok(f64::from(f32::from_bits(u32::try_from(bits).unwrap_or(0))))
    }

    /// REAL as binary64 (§12.3).
    ///
    /// # Errors
    /// [`ErrorKind::Incomplete`].
    pub fn float64(&mut self) -> Result<f64> {
        self.cursor.unsigned(8).map(f64::from_bits)
    }

    /// REAL as contents octets of X.690 (§12.4), as the nearest `f64`.
    ///
    /// # Errors
    /// Those of the contents.
    pub fn float(&mut self) -> Result<f64> {
        self.real().map(|real| real.to_f64())
    }

    /// REAL as binary32 (§12.2), exactly.
    ///
    /// # Errors
    /// [`ErrorKind::Incomplete`].
    pub fn real32(&mut self) -> Result<ExactReal<'a>> {
        self.float32().map(ExactReal::from)
    }

    /// REAL as binary64 (§12.3), exactly.
    ///
    /// # Errors
    /// [`ErrorKind::Incomplete`].
    pub fn real64(&mut self) -> Result<ExactReal<'a>> {
        self.float64().map(ExactReal::from)
    }

    /// REAL as contents octets of X.690 (§12.4).
    ///
    /// # Errors
    /// Those of the contents.
    pub fn real(&mut self) -> Result<ExactReal<'a>> {
        let contents = self.take(super::VARIABLE)?;
        let at = (self.position() - contents.len()) as u64;
        ExactReal::new(contents, at, self.contents_rules())
    }
}

impl Bitmap<'_> {
    /// Whether the next addition is there.
    #[inline]
    pub fn next_addition(&mut self) -> bool {
        let at = self.at;
        self.at += 1;
        at < self.count && bit(self.octets, at)
    }
}

fn bit(octets: &[u8], at: usize) -> bool {
    octets.get(at >> 3).is_some_and(|octet| octet << (at & 7) & 0x80 != 0)
}

/// Octets that a number without a sign needs, at least one.
const fn octets_of(number: usize) -> usize {
    (usize::BITS - number.leading_zeros()).div_ceil(8) as usize + (number == 0) as usize
}

/// A number without superfluous octets at its front; one stays.
fn strip(octets: &[u8], signed: bool) -> &[u8] {
    if signed {
        return crate::ber::decode_integer(octets, 0, Rules::Ber).unwrap_or(octets);
    }
    let zeros = octets.iter().take(octets.len().saturating_sub(1)).take_while(|octet| **octet == 0).count();
    octets.get(zeros..).unwrap_or(octets)
}

/// The order of two elements of a SET OF: the shorter one as if zeros followed (§31.8).
pub(super) fn order(a: &[u8], b: &[u8]) -> Ordering {
    let common = a.len().min(b.len());
    let is_more = |octets: &[u8]| octets.iter().skip(common).any(|octet| *octet != 0);
    a.iter().take(common).cmp(b.iter().take(common)).then_with(|| is_more(a).cmp(&is_more(b)))
}

#[cfg(test)]
mod tests {
    use super::super::VARIABLE;
    use super::Reader;
    use crate::{Error, ErrorKind};

    fn place(error: &Error) -> (ErrorKind, u64) {
        (error.kind(), error.at())
    }

    #[test]
    fn a_string_of_another_size_is_a_fault_where_it_begins() {
        let mut r = Reader::new(&[0xFF, 3, 1, 2, 3], false);
        assert!(r.boolean().unwrap());
        let fault = r.fixed_octets::<2>(VARIABLE).unwrap_err();
        assert_eq!(place(&fault), (ErrorKind::ConstraintViolated, 1));

        let mut r = Reader::new(&[0xFF, 2, 4, 0xA0], false);
        assert!(r.boolean().unwrap());
        let fault = r.fixed_bits::<5>(VARIABLE).unwrap_err();
        assert_eq!(place(&fault), (ErrorKind::ConstraintViolated, 1));
    }

    #[test]
    fn an_empty_version_bracket_is_a_fault_where_it_begins() {
        for (canonical, bits, octets) in [(true, 3, 1), (true, 12, 2), (false, 12, 2)] {
            let mut r = Reader::new(&[0xFF, 0, 0, 0], canonical);
            assert!(r.boolean().unwrap());
            let there = r.preamble(bits).unwrap() != 0;
            let found = r.bracket(there, octets).map_err(|fault| place(&fault));
            assert_eq!(found, if canonical { Err((ErrorKind::NotCanonical, 1)) } else { Ok(()) });
        }
    }
}
