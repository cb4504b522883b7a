//! Reading.

use super::{Size, Whole};
use crate::codec::Path;
use crate::per::{BitReader, Length, Taken};
use crate::types::{INLINE, Integer, Octets};
use crate::{Error, ErrorKind, Limits, Result};
use alloc::vec::Vec;

/// Elements of no bits in one value: they cost nothing to announce, so they are counted.
const EMPTY_ELEMENTS: usize = 65_536;

/// Octets in a number of more than 64 bits, or in fragments that are joined; longer ones are refused.
const LONGEST: usize = 1 << 28;

/// A cursor over bits, aligned or not, with the depth that is left.
#[derive(Clone, Debug)]
pub struct Reader<'a, const ALIGNED: bool> {
    pub(super) bits: BitReader<'a>,
    pub(super) depth: u16,
    pub(super) empty: usize,
    /// Whether there is one encoding of a value only.
    pub(in crate::codec) canonical: bool,
    /// Where a fault is, as far as it has been told.
    pub(in crate::codec) path: Path,
}

impl<'a, const ALIGNED: bool> Reader<'a, ALIGNED> {
    /// A reader at the begin of an input with the default limits.
    #[inline]
    #[must_use]
    pub const fn new(input: &'a [u8]) -> Self {
        Self {
            bits: BitReader::new(input),
            depth: Limits::DEFAULT.depth,
            empty: EMPTY_ELEMENTS,
            canonical: false,
            path: Path::NONE,
        }
    }

    /// The octets that a whole value took, at least one (§11.1).
    ///
    /// # Errors
    /// [`ErrorKind::Incomplete`] for a value of no bits in an empty input.
    pub fn finish(&self) -> Result<usize> {
        if self.bits.input().is_empty() {
            return Err(Error::incomplete_at_bit(0, 1));
        }
        Ok(self.bits.position().div_ceil(8).max(1))
    }

    /// A fault of this kind at the cursor.
    #[cold]
    #[inline(never)]
    #[must_use]
    pub const fn error(&self, kind: ErrorKind) -> Error {
        self.bits.error(kind)
    }

    /// The fault that a call has told is in this component.
    #[cold]
    #[inline(never)]
    pub fn inside(&mut self, component: &'static str) {
        self.path.component(component);
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

    // Numbers

    /// The next bit.
    ///
    /// # Errors
    /// [`ErrorKind::Incomplete`].
    #[inline]
    pub fn bit(&mut self) -> Result<bool> {
        self.bits.bit()
    }

    /// The next bits, at most 64, as a number.
    ///
    /// # Errors
    /// [`ErrorKind::Incomplete`].
    #[inline]
    pub fn bits(&mut self, count: u32) -> Result<u64> {
        self.whole(Whole::Bits(count.to_be_bytes()[3]), u64::MAX)
    }

    /// A constrained whole number (§11.5) less its least value, at most `span`.
    ///
    /// # Errors
    /// [`ErrorKind::ConstraintViolated`] above it.
    #[inline(always)]
    pub fn whole(&mut self, whole: Whole, span: u64) -> Result<u64> {
        match self.short(whole, span) {
            Some(number) => Ok(number),
            // Nothing comes back from there but an error, so that generated code does not have to look.
            None if whole.is_short() => Err(self.wrong(whole, span)),
            None => match whole {
                Whole::Octets(width, most) => match self.in_octets(width, most, span) {
                    Some(number) => Ok(number),
                    None => self.wide(whole, span),
                },
                _ => self.wide(whole, span),
            },
        }
    }

    /// A number of octets behind how many they are, if there are up to seven of them; nothing, and no step, otherwise.
    #[inline(never)]
    fn in_octets(&mut self, width: u8, most: u8, span: u64) -> Option<u64> {
        let start = self.bits.position();
        let number = self.few_octets(u32::from(width), most, span);
        if number.is_none() {
            self.bits.seek(start);
        }
        number
    }

    /// What is wrong with a number of up to 56 bits.
    #[cold]
    #[inline(never)]
    fn wrong(&mut self, whole: Whole, span: u64) -> Error {
        match self.wide(whole, span) {
            Ok(_) => self.error(ErrorKind::ConstraintViolated),
            Err(error) => error,
        }
    }

    /// A number of up to 56 bits that is there and within its bounds.
    #[inline(always)]
    fn short(&mut self, whole: Whole, span: u64) -> Option<u64> {
        let (width, pad) = match whole {
            Whole::Nothing => (0, 0),
            Whole::Bits(width) if width <= 56 => (u32::from(width), 0),
            Whole::Octet => (8, 7),
            Whole::TwoOctets => (16, 7),
            _ => return None,
        };
        self.bits.number(width, pad, span)
    }

    /// Any other number, and what is wrong with one.
    #[inline(never)]
    fn wide(&mut self, whole: Whole, span: u64) -> Result<u64> {
        let start = self.bits;
        let number = match whole {
            Whole::Nothing => 0,
            Whole::Bits(width) => self.bits.bits(u32::from(width))?,
            Whole::Octet => {
                self.bits.align();
                self.bits.bits(8)?
            }
            Whole::TwoOctets => {
                self.bits.align();
                self.bits.bits(16)?
            }
            Whole::Octets(width, most) => {
                let octets = self.bits.bits(u32::from(width))? + 1;
                if octets > u64::from(most) {
                    return Err(self.error(ErrorKind::ConstraintViolated));
                }
                self.bits.align();
                self.bits.bits(octets.to_be_bytes()[7] as u32 * 8)?
            }
        };
        if number > span { Err(start.error(ErrorKind::ConstraintViolated)) } else { Ok(number) }
    }

    /// A number in up to seven octets behind their number, if it is there and within its bounds.
    #[inline(always)]
    fn few_octets(&mut self, width: u32, most: u8, span: u64) -> Option<u64> {
        let above = self.bits.number(width, 0, u64::from(most.min(7).checked_sub(1)?))?;
        #[allow(clippy::cast_possible_truncation)] // below seven
        self.bits.number((above as u32 + 1) * 8, 7, span)
    }

    /// The number of an alternative of `count` (§23.4).
    ///
    /// # Errors
    /// [`ErrorKind::UnknownAlternative`] above the last.
    #[inline]
    pub fn alternative(&mut self, whole: Whole, count: u32) -> Result<u32> {
        self.numbered(whole, count, ErrorKind::UnknownAlternative)
    }

    /// One of so many.
    #[inline(always)]
    pub(super) fn numbered(&mut self, whole: Whole, count: u32, kind: ErrorKind) -> Result<u32> {
        match self.short(whole, u64::from(count.saturating_sub(1))) {
            #[allow(clippy::cast_possible_truncation)] // below `count`
            Some(number) => Ok(number as u32),
            None if whole.is_short() => Err(self.no_such(whole, count, kind)),
            None => self.index(whole, count, kind),
        }
    }

    /// What is wrong with the number of an alternative or item.
    #[cold]
    #[inline(never)]
    fn no_such(&mut self, whole: Whole, count: u32, kind: ErrorKind) -> Error {
        match self.index(whole, count, kind) {
            Ok(_) => self.error(kind),
            Err(error) => error,
        }
    }

    /// The same behind an extension bit, which belongs to the value.
    ///
    /// # Errors
    /// As [`Reader::alternative`], at the extension bit.
    #[inline]
    pub fn root_alternative(&mut self, whole: Whole, count: u32) -> Result<u32> {
        let start = self.position();
        self.alternative(whole, count).map_err(|error| with_extension_bit(error, start))
    }

    /// One of the items of an ENUMERATED by its number (§14.2).
    ///
    /// # Errors
    /// [`ErrorKind::UnknownEnumeration`] above the last.
    #[inline]
    pub fn item<T: Copy>(&mut self, whole: Whole, items: &[T]) -> Result<T> {
        let count = u32::try_from(items.len()).unwrap_or(u32::MAX);
        let number = self.numbered(whole, count, ErrorKind::UnknownEnumeration)? as usize;
        items.get(number).copied().ok_or_else(|| self.error(ErrorKind::UnknownEnumeration))
    }

    /// The same behind an extension bit, which belongs to the value.
    ///
    /// # Errors
    /// As [`Reader::item`], at the extension bit.
    #[inline]
    pub fn root_item<T: Copy>(&mut self, whole: Whole, items: &[T]) -> Result<T> {
        let start = self.position();
        self.item(whole, items).map_err(|error| with_extension_bit(error, start))
    }

    #[inline(never)]
    fn index(&mut self, whole: Whole, count: u32, kind: ErrorKind) -> Result<u32> {
        let start = self.bits;
        let number = self.wide(whole, u64::MAX)?;
        match u32::try_from(number) {
            Ok(number) if number < count => Ok(number),
            _ => Err(start.error(kind)),
        }
    }

    /// A normally small non-negative whole number (§11.6).
    ///
    /// # Errors
    /// As [`BitReader::small_number`].
    #[inline]
    pub fn small_number(&mut self) -> Result<u32> {
        let start = self.bits;
        let number = self.bits.small_number(ALIGNED)?;
        u32::try_from(number).map_err(|_| start.error(ErrorKind::LimitExceeded))
    }

    /// An INTEGER without a lower bound (§11.8).
    ///
    /// # Errors
    /// [`ErrorKind::IntegerEmpty`].
    pub fn unconstrained(&mut self) -> Result<Integer<'a>> {
        let start = self.bits;
        let octets = self.contents()?;
        if octets.is_empty() {
            return Err(start.error(ErrorKind::IntegerEmpty));
        }
        Ok(Integer::copied(&octets))
    }

    /// An INTEGER with a lower bound alone (§11.7).
    ///
    /// # Errors
    /// [`ErrorKind::IntegerEmpty`].
    pub fn semi_constrained(&mut self, lo: i64) -> Result<Integer<'a>> {
        let start = self.bits;
        let octets = self.contents()?;
        if octets.is_empty() {
            return Err(start.error(ErrorKind::IntegerEmpty));
        }
        let mut sum: Vec<u8> = Vec::with_capacity(octets.len() + 2);
        sum.push(0);
        sum.extend_from_slice(&octets);
        add(&mut sum, lo);
        Ok(Integer::copied(&sum))
    }

    /// An INTEGER with bounds of more than 64 bits (§11.5): `lo` in two's complement, `span` without a sign.
    ///
    /// # Errors
    /// [`ErrorKind::ConstraintViolated`].
    pub fn large(&mut self, lo: &[u8], span: &[u8]) -> Result<Integer<'a>> {
        let start = self.bits;
        let mut number: Vec<u8> = Vec::new();
        number.push(0);
        if ALIGNED {
            let most = span.len() as u64;
            let width = u64::BITS - most.saturating_sub(1).leading_zeros();
            let count = self.bits.bits(width)? + 1;
            self.bits.align();
            self.append(usize::try_from(count).unwrap_or(usize::MAX), &mut number)?;
        } else {
            let high = span.first().map_or(8, |octet| octet.leading_zeros());
            number.push(u8::try_from(self.bits.bits(8 - high)?).unwrap_or(0));
            self.append(span.len().saturating_sub(1), &mut number)?;
        }
        let significant = |octets: &[u8]| octets.iter().position(|octet| *octet != 0).unwrap_or(octets.len());
        let (a, b) = (
            number.get(significant(&number)..).unwrap_or_default(),
            span.get(significant(span)..).unwrap_or_default(),
        );
        if a.len().cmp(&b.len()).then_with(|| a.cmp(b)).is_gt() {
            return Err(start.error(ErrorKind::ConstraintViolated));
        }
        Ok(Integer::copied(&sum(&number, lo)))
    }

    /// A number in a type that it may be too large for.
    ///
    /// # Errors
    /// [`ErrorKind::IntegerRange`].
    #[inline]
    pub fn narrow<T: for<'i> TryFrom<&'i Integer<'a>>>(&self, number: &Integer<'a>) -> Result<T> {
        T::try_from(number).map_err(|_| self.error(ErrorKind::IntegerRange))
    }

    // Lengths

    /// A general length determinant (§11.9.3.5 to §11.9.3.8).
    ///
    /// # Errors
    /// As [`BitReader::length`].
    #[inline]
    pub fn length(&mut self) -> Result<Length> {
        match self.bits.number(8, if ALIGNED { 7 } else { 0 }, 0x7F) {
            #[allow(clippy::cast_possible_truncation)] // eight bits
            Some(number) => Ok(Length { count: number as usize, more: false }),
            None => self.long_length(),
        }
    }

    #[inline(never)]
    fn long_length(&mut self) -> Result<Length> {
        self.bits.length(ALIGNED)
    }

    /// A size (§11.9.4), and whether it is a fragment.
    ///
    /// # Errors
    /// [`ErrorKind::ConstraintViolated`].
    #[inline(always)]
    pub fn size(&mut self, size: Size) -> Result<Length> {
        if size.is_fixed() && !size.extensible {
            return Ok(Length { count: size.lo as usize, more: false });
        }
        let whole = match (size.whole, size.extensible) {
            (Some(whole), false) => Some(whole),
            (None, false) => return self.length(),
            // A size of the root behind an extension bit that is zero is the same number.
            (Some(Whole::Nothing), true) => Some(Whole::Bits(1)),
            (Some(Whole::Bits(width)), true) => Some(Whole::Bits(width + 1)),
            _ => None,
        };
        let short = whole.and_then(|whole| self.short(whole, u64::from(size.hi - size.lo)));
        match short {
            #[allow(clippy::cast_possible_truncation)] // 32 bits
            Some(above) => Ok(Length { count: size.lo as usize + above as usize, more: false }),
            None => self.any_size(size.packed()),
        }
    }

    #[inline(never)]
    fn any_size(&mut self, packed: (u64, u64)) -> Result<Length> {
        let size = Size::of_packed(packed);
        let outside = size.extensible && self.bit()?;
        match size.whole {
            Some(whole) if !outside => {
                let count = self.whole(whole, u64::from(size.hi - size.lo))?;
                Ok(Length { count: size.lo as usize + usize::try_from(count).unwrap_or(0), more: false })
            }
            _ => self.length(),
        }
    }

    /// The position in bits.
    #[inline]
    #[must_use]
    pub const fn position(&self) -> usize {
        self.bits.position()
    }

    /// The octets behind a general length determinant.
    ///
    /// # Errors
    /// [`ErrorKind::Incomplete`].
    pub fn contents(&mut self) -> Result<Octets<'a>> {
        let length = self.length()?;
        self.octets_of(length)
    }

    /// An unresolved open type: its complete encoding. One without octets, which §11.1.3 does not allow and some encoders
    /// write for NULL, is read as the value of no bits that they mean.
    ///
    /// # Errors
    /// As [`Reader::contents`].
    pub fn any(&mut self) -> Result<Octets<'a>> {
        let octets = self.contents()?;
        Ok(if octets.is_empty() { Octets::borrowed(&[0]) } else { octets })
    }

    pub(super) fn octets_of(&mut self, length: Length) -> Result<Octets<'a>> {
        if !length.more {
            return self.take(length.count);
        }
        let start = self.bits;
        let mut joined = Vec::new();
        let mut length = length;
        loop {
            self.append(length.count, &mut joined)?;
            if joined.len() > LONGEST {
                return Err(start.error(ErrorKind::LimitExceeded));
            }
            if !length.more {
                return Ok(joined.into());
            }
            length = self.length()?;
        }
    }

    /// Octets, borrowed where they stand on a boundary.
    #[inline]
    pub(super) fn take(&mut self, count: usize) -> Result<Octets<'a>> {
        match self.bits.octets(count)? {
            Taken::Aligned(_, octets) => Ok(Octets::borrowed(octets)),
            Taken::Shifted(at) => Ok(self.shifted(at, count * 8)),
        }
    }

    /// So many bits from a bit on, which are known to be there; the last octet is filled with zero bits.
    #[inline(never)]
    pub(super) fn shifted(&self, at: usize, count: usize) -> Octets<'a> {
        if count <= INLINE * 8 {
            let mut kept = [0; INLINE];
            let mut left = count;
            if let (1..=56, Some(places)) = (count, kept.first_chunk_mut()) {
                *places = (self.bits.word_at(at) & !(u64::MAX >> count)).to_be_bytes();
                return Octets::inline(count.div_ceil(8), kept);
            }
            for (i, places) in kept.chunks_mut(4).enumerate() {
                let word = self.bits.word_at(at + i * 32);
                let known = if left < 32 { word & !(u64::MAX >> left) } else { word };
                places.copy_from_slice(known.to_be_bytes().get(..places.len()).unwrap_or_default());
                if left <= 32 {
                    break;
                }
                left -= 32;
            }
            return Octets::inline(count.div_ceil(8), kept);
        }
        let mut out = Vec::new();
        self.bits.copy_bits(at, count, &mut out);
        out.into()
    }

    pub(super) fn append(&mut self, count: usize, out: &mut Vec<u8>) -> Result<()> {
        match self.bits.octets(count)? {
            Taken::Aligned(_, octets) => out.extend_from_slice(octets),
            Taken::Shifted(at) => self.bits.copy_bits(at, count * 8, out),
        }
        Ok(())
    }

    /// An INTEGER with a lower bound of more than 64 bits alone.
    ///
    /// # Errors
    /// As [`Reader::semi_constrained`].
    pub fn semi_constrained_large(&mut self, lo: &[u8]) -> Result<Integer<'a>> {
        let start = self.bits;
        let octets = self.contents()?;
        if octets.is_empty() {
            return Err(start.error(ErrorKind::IntegerEmpty));
        }
        let mut number: Vec<u8> = Vec::with_capacity(octets.len() + 1);
        number.push(0);
        number.extend_from_slice(&octets);
        Ok(Integer::copied(&sum(&number, lo)))
    }
}

/// Adds a number to two's complement octets, which have room for the sum.
fn add(octets: &mut [u8], number: i64) {
    let mut rest = i128::from(number);
    for octet in octets.iter_mut().rev() {
        rest += i128::from(*octet);
        *octet = rest.to_be_bytes()[15];
        rest >>= 8;
    }
}

/// The sum of an unsigned number with a zero octet in front and one in two's complement.
fn sum(number: &[u8], lo: &[u8]) -> Vec<u8> {
    let length = number.len().max(lo.len()) + 1;
    let sign = if lo.first().is_some_and(|octet| octet & 0x80 != 0) { 0xFF } else { 0 };
    let mut out = alloc::vec![0; length];
    let mut carry = 0_u16;
    for (i, octet) in out.iter_mut().rev().enumerate() {
        let digit = |octets: &[u8], fill: u8| {
            octets.len().checked_sub(i + 1).and_then(|at| octets.get(at)).copied().unwrap_or(fill)
        };
        carry += u16::from(digit(number, 0)) + u16::from(digit(lo, sign));
        *octet = carry.to_be_bytes()[1];
        carry >>= 8;
    }
    out
}

/// What is not known behind an extension bit at the position before `start` is told there.
#[cold]
#[inline(never)]
pub(super) fn with_extension_bit(error: Error, start: usize) -> Error {
    match error.kind() {
        ErrorKind::UnknownEnumeration | ErrorKind::UnknownAlternative => {
            Error::at_bit(error.kind(), start.saturating_sub(1) as u64)
        }
        _ => error,
    }
}
