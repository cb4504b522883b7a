//! Writing, the last part first.

use super::reader::order;
use crate::ber::Rules;
use crate::codec::{Family, Path, UnknownAdditions};
use crate::limits::Nesting;
use crate::oer::{Mark, Writer as Buffer};
use crate::types::{ExactReal, Integer, Real};
use crate::{Error, ErrorKind, Result, Tag};
use alloc::vec::Vec;

/// A buffer that grows at its start, and whether the encoding is to be canonical (§31).
#[derive(Clone, Debug, Default)]
pub struct Writer {
    pub(super) buffer: Buffer,
    canonical: bool,
    /// Values with parts that have begun, as far as they count.
    values: Nesting,
    /// The way to a fault, as far as callers have told it.
    pub(in crate::codec) path: Path,
}

fn outside() -> Error {
    Error::new(ErrorKind::ConstraintViolated, 0)
}

/// The nearest `f64`, if the value is not beyond all of them.
fn near(value: &ExactReal<'_>) -> Result<f64> {
    let number = value.to_f64();
    let infinite = matches!(value.as_real(), Real::PlusInfinity | Real::MinusInfinity);
    if number.is_infinite() && !infinite { Err(outside()) } else { Ok(number) }
}

impl Writer {
    /// An empty buffer.
    #[must_use]
    pub const fn new(canonical: bool) -> Self {
        Self { buffer: Buffer::new(), canonical, values: Nesting::NONE, path: Path::NONE }
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

    /// A writer that keeps nothing, but knows how much was written.
    pub(crate) const fn counting(canonical: bool) -> Self {
        Self { buffer: Buffer::counting(), canonical, values: Nesting::NONE, path: Path::NONE }
    }

    /// The fault that a call has told is in this component.
    #[cold]
    #[inline(never)]
    pub fn inside(&mut self, component: &'static str) {
        self.path.component(component);
    }

    /// What was written.
    #[must_use]
    pub fn finish(&self) -> &[u8] {
        self.buffer.finish()
    }

    pub(super) const fn contents_rules(&self) -> Rules {
        if self.canonical { Rules::Der } else { Rules::Ber }
    }

    /// Where the front is now.
    #[inline]
    #[must_use]
    pub const fn mark(&self) -> Mark {
        self.buffer.mark()
    }

    /// The number of octets written since a mark.
    #[inline]
    #[must_use]
    pub const fn since(&self, mark: Mark) -> usize {
        self.buffer.since(mark)
    }

    #[inline]
    pub(super) fn push(&mut self, octets: &[u8]) {
        self.buffer.push(octets);
    }

    #[inline]
    pub(super) fn push_octet(&mut self, octet: u8) {
        self.buffer.push_octet(octet);
    }

    #[inline]
    pub(super) fn push_length(&mut self, length: usize) {
        self.buffer.push_length(length);
    }

    /// An unresolved open type, or contents octets: behind their length.
    #[inline]
    pub fn any(&mut self, octets: &[u8]) {
        self.buffer.push_sized(octets);
    }

    /// Octets as they are: an alternative that is not known.
    ///
    /// # Errors
    /// [`ErrorKind::ValueMismatch`] if they are no tag, length and as many octets (§20.2).
    pub fn unknown_alternative(&mut self, octets: &[u8]) -> Result<()> {
        let mut reader = crate::oer::Reader::new(octets);
        if !reader.tag().and_then(|_| reader.length()).is_ok_and(|length| length == reader.left()) {
            return Err(Error::new(ErrorKind::ValueMismatch, 0));
        }
        self.push(octets);
        Ok(())
    }

    /// Ends an open type (§30) that was begun with a mark.
    #[inline]
    pub fn close(&mut self, end: Mark) {
        self.push_length(self.since(end));
    }

    /// The bits of a preamble, filled up to whole octets (§16.2).
    pub fn preamble(&mut self, bits: &[bool]) {
        for octet in bits.chunks(8).rev() {
            let bits = octet.iter().enumerate().map(|(at, bit)| u8::from(*bit) << (7 - at));
            self.push_octet(bits.fold(0, |octet, bit| octet | bit));
        }
    }

    /// The bitmap of additions (§16.4): those that the type knows, and others behind.
    ///
    /// # Errors
    /// [`ErrorKind::ValueMismatch`] for additions of other rules, or that the type knows.
    pub fn bitmap(&mut self, there: &[bool], unknown: &UnknownAdditions) -> Result<()> {
        let all = unknown.bitmap(Family::Oer, there)?;
        let end = self.mark();
        self.preamble(&all);
        self.push_octet(u8::try_from((8 - all.len() % 8) % 8).unwrap_or(0));
        self.close(end);
        Ok(())
    }

    /// The additions themselves that the type does not know.
    ///
    /// # Errors
    /// [`ErrorKind::ValueMismatch`] for those of other rules.
    pub fn unknown_additions(&mut self, unknown: &UnknownAdditions) -> Result<()> {
        unknown.of(Family::Oer)?.iter().rev().for_each(|addition| self.any(&addition.octets));
        Ok(())
    }

    /// SEQUENCE OF, SET OF (§17, §19): `ordered` is a SET OF, whose elements ascend under §31.8.
    ///
    /// # Errors
    /// What `write` says.
    pub fn list<T>(
        &mut self,
        ordered: bool,
        list: &[T],
        mut write: impl FnMut(&T, &mut Self) -> Result<()>,
    ) -> Result<()> {
        let begin = self.mark();
        let sorted = ordered && self.canonical && !self.buffer.is_counting();
        let mut ends = Vec::new();
        let mut left = list.iter();
        while let Some(element) = left.next_back() {
            if let Err(error) = write(element, self) {
                self.path.element(left.len());
                return Err(error);
            }
            if sorted {
                ends.push(self.since(begin));
            }
        }
        if sorted {
            self.sort(begin, &ends);
        }
        self.buffer.push_unsigned(list.len() as u128);
        Ok(())
    }

    fn sort(&mut self, begin: Mark, ends: &[usize]) {
        let octets = self.buffer.finish().get(..self.since(begin)).unwrap_or_default();
        let mut elements: Vec<&[u8]> = Vec::with_capacity(ends.len());
        let mut begun = 0;
        for end in ends {
            elements.push(octets.get(octets.len() - end..octets.len() - begun).unwrap_or_default());
            begun = *end;
        }
        elements.sort_by(|a, b| order(a, b));
        let sorted = elements.concat();
        self.buffer.rewind(begin);
        self.push(&sorted);
    }

    /// The tag of a CHOICE (§20.1).
    #[inline]
    pub fn tag(&mut self, tag: Tag) {
        self.buffer.push_tag(tag);
    }

    /// BOOLEAN (§9).
    #[inline]
    pub fn boolean(&mut self, value: bool) {
        self.push_octet(if value { 0xFF } else { 0 });
    }

    /// A number without a sign in so many octets (§10.3).
    ///
    /// # Errors
    /// [`ErrorKind::ConstraintViolated`] for one that does not fit.
    #[inline]
    pub fn unsigned(&mut self, number: impl TryInto<u64>, octets: u8) -> Result<()> {
        let number = number.try_into().map_err(|_| outside())?;
        if octets < 8 && number >> (u32::from(octets) * 8) != 0 {
            return Err(outside());
        }
        self.buffer.push_fixed(number, octets);
        Ok(())
    }

    /// A number with a sign in so many octets (§10.4).
    ///
    /// # Errors
    /// [`ErrorKind::ConstraintViolated`] for one that does not fit.
    #[inline]
    pub fn signed(&mut self, number: impl TryInto<i64>, octets: u8) -> Result<()> {
        let number = number.try_into().map_err(|_| outside())?;
        if !matches!(number >> (u32::from(octets) * 8 - 1), 0 | -1) {
            return Err(outside());
        }
        self.buffer.push_fixed(number.cast_unsigned(), octets);
        Ok(())
    }

    /// A number behind a length determinant (§10.3 e, §10.4 e).
    ///
    /// # Errors
    /// [`ErrorKind::ConstraintViolated`] for a negative one where none can be.
    pub fn variable(&mut self, number: &Integer<'_>, signed: bool) -> Result<()> {
        match (signed, number.as_octets()) {
            (true, octets) => self.any(octets),
            (false, [0, rest @ ..]) if !rest.is_empty() => self.any(rest),
            (false, octets @ [0..0x80, ..]) => self.any(octets),
            _ => return Err(outside()),
        }
        Ok(())
    }

    /// The number of an ENUMERATED (§11).
    pub fn enumerated(&mut self, number: i64) {
        self.buffer.push_enumerated(number);
    }

    /// REAL as binary32 (§12.2): the nearest that there is.
    ///
    /// # Errors
    /// [`ErrorKind::ConstraintViolated`] beyond all of them.
    #[allow(clippy::cast_possible_truncation)] // to the nearest
    pub fn float32(&mut self, value: f64) -> Result<()> {
        let near = if value.is_nan() { f32::NAN } else { value as f32 };
        if near.is_infinite() && !value.is_infinite() {
            return Err(outside());
        }
        self.buffer.push_fixed(u64::from(near.to_bits()), 4);
        Ok(())
    }

    /// REAL as binary64 (§12.3).
    pub fn float64(&mut self, value: f64) {
        let value = if value.is_nan() { f64::NAN } else { value };
        self.buffer.push_fixed(value.to_bits(), 8);
    }

    /// REAL as contents octets of X.690 (§12.4) from an `f64`.
    pub fn float(&mut self, value: f64) {
        self.real(&value.into());
    }

    /// REAL as binary32 (§12.2): the nearest that there is.
    ///
    /// # Errors
    /// [`ErrorKind::ConstraintViolated`] beyond all of them.
    pub fn real32(&mut self, value: &ExactReal<'_>) -> Result<()> {
        self.float32(near(value)?)
    }

    /// REAL as binary64 (§12.3): the nearest that there is.
    ///
    /// # Errors
    /// As [`Writer::real32`].
    pub fn real64(&mut self, value: &ExactReal<'_>) -> Result<()> {
        self.float64(near(value)?);
        Ok(())
    }

    /// REAL as contents octets of X.690 (§12.4).
    pub fn real(&mut self, value: &ExactReal<'_>) {
        self.any(&value.normal());
    }
}
