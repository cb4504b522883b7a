//! Writing, forwards: the length of an open type is filled in when it is known.

use super::{Size, Whole};
use crate::codec::Path;
use crate::limits::Nesting;
use crate::per::{FRAGMENT, Length};
use crate::types::{ExactReal, Integer};
use crate::{Error, ErrorKind, Result};
use alloc::vec::Vec;

/// Appends bits to octets, aligned or not.
#[derive(Clone, Debug, Default)]
pub struct Writer<const ALIGNED: bool> {
    pub(super) out: Vec<u8>,
    /// Bits behind those, the first the highest; zero behind the last.
    pub(super) word: u64,
    /// How many there are, below 64.
    pub(super) used: u32,
    /// Where the value begins.
    pub(super) start: usize,
    pub(super) canonical: bool,
    /// Values with parts that have begun, as far as they count.
    pub(super) values: Nesting,
    /// How SET OFs are ordered under the canonical rules.
    pub(super) orders: Orders,
    /// The way to a fault, as far as callers have told it.
    pub(in crate::codec) path: Path,
}

/// The orders of the elements of SET OFs, outer ones before inner ones: what has been found out is not asked for again, or
/// the time would double with every SET OF around another.
#[derive(Clone, Debug, Default)]
pub(super) struct Orders {
    pub(super) known: Vec<Vec<usize>>,
    /// Which one comes next, where all are known.
    pub(super) next: Option<usize>,
}

impl Orders {
    const NONE: Self = Self { known: Vec::new(), next: None };
}

/// The begin of an open type.
#[derive(Clone, Copy, Debug)]
#[must_use = "the open type has to be closed"]
pub struct OpenMark(usize);

/// Up to eight octets as a number.
#[inline(always)]
pub(super) fn few(octets: &[u8]) -> u64 {
    // The first and the last of them, which may be the same ones.
    if let (Some(first), Some(last)) = (octets.first_chunk(), octets.last_chunk()) {
        let [first, last] = [first, last].map(|four| u64::from(u32::from_be_bytes(*four)));
        return first << (8 * (octets.len() - 4) % 64) | last;
    }
    match *octets {
        [a] => a.into(),
        [a, b] => u16::from_be_bytes([a, b]).into(),
        [a, b, c] => u32::from_be_bytes([0, a, b, c]).into(),
        _ => 0,
    }
}

impl<const ALIGNED: bool> Writer<ALIGNED> {
    /// A writer that appends to octets.
    #[must_use]
    pub const fn onto(out: Vec<u8>, canonical: bool) -> Self {
        let start = out.len();
        Self {
            out,
            word: 0,
            used: 0,
            start,
            canonical,
            values: Nesting::NONE,
            orders: Orders::NONE,
            path: Path::NONE,
        }
    }

    /// Begins a value with parts.
    ///
    /// # Errors
    /// [`ErrorKind::DepthLimit`]: a decoder would refuse it.
    #[inline]
    pub fn begin_value(&mut self) -> Result<()> {
        self.values.begin()
    }

    /// Ends it.
    #[inline]
    pub const fn end_value(&mut self) {
        self.values.end();
    }

    /// The fault that a call has told is in this component.
    #[cold]
    #[inline(never)]
    pub fn inside(&mut self, component: &'static str) {
        self.path.component(component);
    }

    /// Whether the encoding is to be the canonical one.
    #[inline]
    #[must_use]
    pub const fn is_canonical(&self) -> bool {
        self.canonical
    }

    /// The octets: at least one for a value (§11.1), those from before if it was not written.
    #[must_use]
    pub fn finish(mut self, written: bool) -> Vec<u8> {
        self.flush();
        if !written {
            self.out.truncate(self.start);
        } else if self.out.len() == self.start {
            self.out.push(0);
        }
        self.out
    }

    /// Number of bits written.
    #[inline]
    #[must_use]
    pub const fn position(&self) -> usize {
        (self.out.len() - self.start) * 8 + self.used as usize
    }

    // Numbers

    /// Appends one bit.
    #[inline]
    pub fn bit(&mut self, bit: bool) {
        self.bits(u64::from(bit), 1);
    }

    /// Appends the `count` lowest bits of a number, at most 64; higher bits of the number must be zero.
    #[inline]
    pub fn bits(&mut self, number: u64, count: u32) {
        debug_assert!(count == 64 || count < 64 && number >> count == 0);
        let used = self.used + count;
        if used < 64 {
            // In two shifts, since there may be no bits.
            self.word |= number << (63 - used) << 1;
            self.used = used;
        } else {
            self.spill(number, used - 64);
        }
    }

    /// The word is full; so many bits are left for the next one.
    #[inline(never)]
    fn spill(&mut self, number: u64, left: u32) {
        let word = self.word | number >> left;
        self.out.extend_from_slice(&word.to_be_bytes());
        self.word = if left == 0 { 0 } else { number << (64 - left) };
        self.used = left;
    }

    /// The same at the end of a function.
    #[inline(never)]
    pub(super) fn spilled(&mut self, number: u64, left: u32) -> Result<()> {
        self.spill(number, left);
        Ok(())
    }

    /// All octets of the word, the last one filled with zero bits.
    fn flush(&mut self) {
        let octets = self.word.to_be_bytes();
        self.out.extend_from_slice(octets.get(..self.used.div_ceil(8) as usize).unwrap_or_default());
        (self.word, self.used) = (0, 0);
    }

    /// Fills up to the next octet boundary with zero bits.
    #[inline]
    pub fn align(&mut self) {
        self.bits(0, self.used.wrapping_neg() & 7);
    }

    /// Appends the `count` lowest bits of a number, at most 56, at the next octet boundary. What is above the number are the
    /// zero bits in front of it.
    #[inline]
    fn aligned(&mut self, number: u64, count: u32) {
        self.bits(number, count + (self.used.wrapping_neg() & 7));
    }

    /// Appends octets.
    #[inline(never)]
    pub fn octets(&mut self, octets: &[u8]) {
        match octets.len() {
            count @ 1..=8 => {
                self.bits(few(octets), u32::from(count.to_be_bytes()[size_of::<usize>() - 1]) * 8)
            }
            0 => {}
            _ => self.more_octets(octets),
        }
    }

    #[inline(never)]
    fn more_octets(&mut self, octets: &[u8]) {
        if octets.len() > 16 && self.used.is_multiple_of(8) {
            self.flush();
            return self.out.extend_from_slice(octets);
        }
        let (words, rest) = octets.as_chunks::<8>();
        for word in words {
            self.spill_word(u64::from_be_bytes(*word));
        }
        if !rest.is_empty() {
            self.bits(few(rest), u32::from(rest.len().to_be_bytes()[size_of::<usize>() - 1]) * 8);
        }
    }

    /// 64 bits, after which as many are used as before.
    #[inline]
    fn spill_word(&mut self, number: u64) {
        self.spill(number, self.used);
    }

    /// A constrained whole number (§11.5) less its least value.
    #[inline(always)]
    pub fn whole(&mut self, whole: Whole, number: u64) {
        match whole {
            Whole::Nothing => {}
            Whole::Bits(width) => self.bits(number, u32::from(width)),
            Whole::Octet => self.aligned(number, 8),
            Whole::TwoOctets => self.aligned(number, 16),
            Whole::Octets(width, _) => self.in_octets(width.into(), number),
        }
    }

    /// How many octets, and these.
    #[inline(never)]
    fn in_octets(&mut self, width: u32, number: u64) {
        let octets = (u64::BITS - number.leading_zeros()).div_ceil(8).max(1);
        self.bits(u64::from(octets) - 1, width);
        if octets < 8 {
            self.aligned(number, octets * 8);
        } else {
            self.align();
            self.bits(number, 64);
        }
    }

    /// A constrained whole number (§11.5): `lo` is the least, `span` what it may be above that.
    ///
    /// # Errors
    /// [`ErrorKind::ConstraintViolated`] for any other.
    #[inline]
    pub fn integer(&mut self, whole: Whole, number: i64, lo: i64, span: u64) -> Result<()> {
        let above = number.wrapping_sub(lo).cast_unsigned();
        if above > span {
            return Err(outside());
        }
        self.whole(whole, above);
        Ok(())
    }

    /// The same for numbers without a sign.
    ///
    /// # Errors
    /// As [`Writer::integer`].
    #[inline]
    pub fn unsigned(&mut self, whole: Whole, number: u64, lo: i64, span: u64) -> Result<()> {
        match u64::try_from(i128::from(number) - i128::from(lo)) {
            Ok(above) if above <= span => {
                self.whole(whole, above);
                Ok(())
            }
            _ => Err(outside()),
        }
    }

    /// The same for numbers of any size.
    ///
    /// # Errors
    /// As [`Writer::integer`].
    pub fn constrained(&mut self, whole: Whole, number: &Integer<'_>, lo: i64, span: u64) -> Result<()> {
        let above = i128::try_from(number).ok().and_then(|number| number.checked_sub(i128::from(lo)));
        match above.and_then(|above| u64::try_from(above).ok()) {
            Some(above) if above <= span => {
                self.whole(whole, above);
                Ok(())
            }
            _ => Err(outside()),
        }
    }

    /// The same with an extension marker: any other number is one of the extension (§13.1).
    ///
    /// # Errors
    /// None: a result as that of [`Writer::integer`].
    #[inline]
    pub fn extensible_integer(&mut self, whole: Whole, number: i64, lo: i64, span: u64) -> Result<()> {
        let above = number.wrapping_sub(lo).cast_unsigned();
        if above > span {
            self.outside_of_root(number);
        } else if let Whole::Bits(width @ ..63) = whole {
            // With the extension bit in front, which is zero.
            self.bits(above, u32::from(width) + 1);
        } else {
            self.bit(false);
            self.whole(whole, above);
        }
        Ok(())
    }

    /// A number of the extension.
    #[cold]
    #[inline(never)]
    fn outside_of_root(&mut self, number: i64) {
        self.bit(true);
        self.unconstrained(&Integer::from(number));
    }

    /// A normally small non-negative whole number (§11.6).
    pub fn small_number(&mut self, number: u32) {
        if number < 64 {
            self.bits(u64::from(number), 7);
        } else {
            self.bit(true);
            let octets = (u32::BITS - number.leading_zeros()).div_ceil(8);
            self.length(octets as usize);
            self.bits(u64::from(number), octets * 8);
        }
    }

    /// An INTEGER without a lower bound (§11.8).
    pub fn unconstrained(&mut self, number: &Integer<'_>) {
        self.contents(number.as_octets());
    }

    /// An INTEGER with a lower bound alone (§11.7).
    ///
    /// # Errors
    /// [`ErrorKind::ConstraintViolated`] below it.
    pub fn semi_constrained(&mut self, number: &Integer<'_>, lo: i64) -> Result<()> {
        let Ok(wide) = i128::try_from(number) else {
            return self.semi_constrained_large(number, &lo.to_be_bytes());
        };
        let difference = wide.checked_sub(i128::from(lo)).and_then(|d| u128::try_from(d).ok());
        let difference = difference.ok_or_else(outside)?;
        let octets = difference.to_be_bytes();
        let first = octets.iter().position(|octet| *octet != 0).unwrap_or(15);
        self.contents(octets.get(first..).unwrap_or_default());
        Ok(())
    }

    /// An INTEGER with a lower bound of more than 64 bits alone.
    ///
    /// # Errors
    /// [`ErrorKind::ConstraintViolated`] below it.
    pub fn semi_constrained_large(&mut self, number: &Integer<'_>, lo: &[u8]) -> Result<()> {
        let difference = difference(number.as_octets(), lo).ok_or_else(outside)?;
        let first = difference.iter().position(|octet| *octet != 0).unwrap_or(difference.len() - 1);
        self.contents(difference.get(first..).unwrap_or_default());
        Ok(())
    }

    /// An INTEGER with bounds of more than 64 bits (§11.5): `lo` in two's complement, `span` without a sign.
    ///
    /// # Errors
    /// [`ErrorKind::ConstraintViolated`] outside of them.
    pub fn large(&mut self, number: &Integer<'_>, lo: &[u8], span: &[u8]) -> Result<()> {
        let difference = difference(number.as_octets(), lo).ok_or_else(outside)?;
        let first = difference.iter().position(|octet| *octet != 0).unwrap_or(difference.len() - 1);
        let digits = difference.get(first..).unwrap_or_default();
        if digits.len().cmp(&span.len()).then_with(|| digits.cmp(span)).is_gt() {
            return Err(outside());
        }
        if ALIGNED {
            let width = u64::BITS - (span.len() as u64).saturating_sub(1).leading_zeros();
            self.bits(digits.len() as u64 - 1, width);
            self.align();
            self.octets(digits);
        } else {
            let high = 8 - span.first().map_or(8, |octet| octet.leading_zeros());
            let mut width = high;
            for i in 0..span.len() {
                let at = (i + digits.len()).checked_sub(span.len());
                let octet = at.and_then(|at| digits.get(at)).copied().unwrap_or(0);
                self.bits(u64::from(octet), width);
                width = 8;
            }
        }
        Ok(())
    }

    // Lengths

    /// A general length determinant for up to `count` units; see [`crate::per::BitWriter::length`].
    #[inline]
    pub fn length(&mut self, count: usize) -> Length {
        let (number, width, length) = match count {
            0..=0x7F => (count, 8, Length { count, more: false }),
            0x80..FRAGMENT => (0x8000 | count, 16, Length { count, more: false }),
            _ => {
                let blocks = (count / FRAGMENT).min(4);
                (0xC0 | blocks, 8, Length { count: blocks * FRAGMENT, more: true })
            }
        };
        if ALIGNED {
            self.aligned(number as u64, width);
        } else {
            self.bits(number as u64, width);
        }
        length
    }

    /// A size (§11.9.4).
    ///
    /// # Errors
    /// [`ErrorKind::ConstraintViolated`] outside of a root that is not extensible.
    #[inline(always)]
    pub fn size(&mut self, size: Size, count: usize) -> Result<Length> {
        let inside = size.holds(count);
        if size.extensible {
            self.bit(!inside);
        } else if !inside {
            return Err(outside());
        }
        match size.whole {
            Some(whole) if inside => {
                self.whole(whole, count as u64 - u64::from(size.lo));
                Ok(Length { count, more: false })
            }
            _ => Ok(self.length(count)),
        }
    }

    /// Octets behind a general length determinant.
    pub fn contents(&mut self, octets: &[u8]) {
        let length = self.length(octets.len());
        self.fragments(length, octets);
    }

    /// Octets behind their first length.
    #[inline(never)]
    pub(super) fn fragments(&mut self, mut length: Length, octets: &[u8]) {
        let mut rest = octets;
        loop {
            let (now, behind) = rest.split_at_checked(length.count).unwrap_or((rest, &[]));
            self.octets(now);
            rest = behind;
            if !length.more {
                return;
            }
            length = self.length(rest.len());
        }
    }

    /// An unresolved open type: its complete encoding, at least one octet.
    pub fn any(&mut self, octets: &[u8]) {
        self.contents(if octets.is_empty() { &[0] } else { octets });
    }

    // Open types and extensions

    /// Begins an open type (§11.2).
    #[inline]
    pub fn open(&mut self) -> OpenMark {
        if ALIGNED {
            self.align();
        }
        self.bits(0, 8);
        OpenMark(self.position())
    }

    /// Ends it: fills the last octet and writes the length in front.
    #[inline(never)]
    pub fn close(&mut self, mark: OpenMark) {
        let written = self.position() - mark.0;
        let pad = if written == 0 { 8 } else { written.wrapping_neg() & 7 };
        if pad > 0 {
            self.bits(0, u32::from(pad.to_le_bytes()[0]));
        }
        let octets = (written + pad) / 8;
        if octets < 0x80 {
            self.patch(mark.0 - 8, octets.to_le_bytes()[0]);
        } else {
            self.close_long(mark, octets);
        }
    }

    /// Fills in eight bits that were written as zeros.
    #[inline]
    fn patch(&mut self, at: usize, octet: u8) {
        let first = self.start + at / 8;
        let [high, low] = (u16::from(octet) << (8 - at % 8)).to_be_bytes();
        self.or(first, high);
        if low != 0 {
            self.or(first + 1, low);
        }
    }

    /// Sets bits of an octet that was written, if only into the word.
    #[inline]
    fn or(&mut self, at: usize, bits: u8) {
        match self.out.get_mut(at) {
            Some(place) => *place |= bits,
            None => self.word |= u64::from(bits) << 56 >> ((at - self.out.len()) * 8),
        }
    }

    /// A length of more than one octet: the contents are written again behind it.
    #[cold]
    fn close_long(&mut self, mark: OpenMark, octets: usize) {
        self.flush();
        let mut contents = Vec::with_capacity(octets);
        let from = self.start * 8 + mark.0;
        crate::per::BitReader::new(&self.out).copy_bits(from, octets * 8, &mut contents);
        let end = from - 8;
        let used = (end % 8).to_be_bytes()[size_of::<usize>() - 1];
        let last = self.out.get(end / 8).copied().unwrap_or(0);
        self.out.truncate(end / 8);
        if used > 0 {
            self.bits(u64::from(last >> (8 - used)), u32::from(used));
        }
        self.contents(&contents);
    }

    /// The bitmap of additions, the first the highest of `count` bits, from the first to the last that is there
    /// (§19.8: all that the type has).
    pub fn additions(&mut self, there: &[bool]) {
        if there.len() <= 64 {
            self.bits(there.len() as u64 - 1, 7);
        } else {
            self.bit(true);
            self.length(there.len());
        }
        for bit in there {
            self.bit(*bit);
        }
    }

    /// REAL in the normal form (§15).
    pub fn real(&mut self, value: &ExactReal<'_>) {
        self.contents(&value.normal());
    }

    /// REAL from an `f64`.
    pub fn float(&mut self, value: f64) {
        self.real(&value.into());
    }
}

#[cold]
pub(super) fn outside() -> Error {
    Error::new(ErrorKind::ConstraintViolated, 0)
}

/// `a - b` of two's complement numbers as an unsigned number, if it is not negative.
fn difference(a: &[u8], b: &[u8]) -> Option<Vec<u8>> {
    let length = a.len().max(b.len()) + 1;
    let fill = |octets: &[u8]| if octets.first().is_some_and(|octet| octet & 0x80 != 0) { 0xFF } else { 0 };
    let digit = |octets: &[u8], i: usize| {
        octets.len().checked_sub(i + 1).and_then(|at| octets.get(at)).copied().unwrap_or_else(|| fill(octets))
    };
    let mut out = alloc::vec![0; length];
    let mut borrow = 0_i16;
    for (i, octet) in out.iter_mut().rev().enumerate() {
        borrow += i16::from(digit(a, i)) - i16::from(digit(b, i));
        *octet = borrow.to_be_bytes()[1];
        borrow >>= 8;
    }
    (out.first().is_some_and(|octet| octet & 0x80 == 0)).then_some(out)
}
