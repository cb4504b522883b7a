//! Writing, from the end to the start, so that every length is known when it is written.

use alloc::vec::Vec;
use core::cmp::Ordering;

use super::short::Head;
use super::{Reader, Rules};
use crate::codec::Path;
use crate::limits::Nesting;
use crate::types::{BitStr, Octets, Real};
use crate::{Class, Error, ErrorKind, Limits, Result, Tag};

/// The end of an element, in octets from the end of the buffer; made by [`Writer::mark`] and
/// [`Writer::open`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mark(pub(super) usize);

/// A buffer that grows at its start.
///
/// Contents are pushed first, the last component before the first; then [`Writer::primitive`] or
/// [`Writer::close`] puts length and identifier octets before them.
///
/// ```
/// use tercet_runtime::ber::{Rules, Writer};
/// use tercet_runtime::Tag;
/// // SEQUENCE { INTEGER 5, BOOLEAN TRUE }
/// let mut writer = Writer::new(Rules::Der);
/// let sequence = writer.open();
/// let end = writer.mark();
/// writer.push_boolean(true);
/// writer.primitive(Tag::BOOLEAN, end);
/// let end = writer.mark();
/// writer.push_i64(5);
/// writer.primitive(Tag::INTEGER, end);
/// writer.close(Tag::SEQUENCE, sequence);
/// assert_eq!(writer.finish(), [0x30, 0x06, 0x02, 0x01, 0x05, 0x01, 0x01, 0xFF]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Writer {
    /// What is written stands at the end; what is between `base` and `start` is free.
    pub(super) buf: Vec<u8>,
    pub(super) start: usize,
    /// The end of `buf`; where octets are only counted there is no `buf`, and this is the count.
    end: usize,
    /// Octets in front that are not ours.
    pub(super) base: usize,
    rules: Rules,
    counting: bool,
    /// Values with parts that have begun, as far as they count.
    values: Nesting,
    /// The way to a fault, as far as callers have told it.
    pub(crate) path: Path,
}

/// Octets of room that a writer makes at least.
const LEAST: usize = 256;

impl Writer {
    /// An empty buffer that writes by these rules.
    #[must_use]
    pub const fn new(rules: Rules) -> Self {
        Self {
            buf: Vec::new(),
            start: 0,
            end: 0,
            base: 0,
            rules,
            counting: false,
            values: Nesting::NONE,
            path: Path::NONE,
        }
    }

    /// Returns the writer with another limit of values inside one another, for a reader that allows as many.
    #[must_use]
    pub const fn with_depth(mut self, depth: u16) -> Self {
        self.values = Nesting::of(depth);
        self
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

    /// An empty buffer with room for `octets`.
    #[must_use]
    pub fn with_capacity(rules: Rules, octets: usize) -> Self {
        Self { buf: alloc::vec![0; octets], start: octets, end: octets, ..Self::new(rules) }
    }

    /// A buffer that writes behind octets, whose memory it uses.
    #[inline]
    #[must_use]
    pub fn onto(out: Vec<u8>, rules: Rules) -> Self {
        let (base, mut buf) = (out.len(), out);
        // Room for a record, so that its first element takes the short way too.
        buf.resize(base + LEAST, 0);
        let end = buf.len();
        Self { buf, start: end, end, base, rules, counting: false, values: Nesting::NONE, path: Path::NONE }
    }

    /// A writer that keeps nothing, but knows how much was written ([`Writer::len`]): a length is that of its value in
    /// whatever order the elements of a SET OF come.
    pub(crate) const fn counting(rules: Rules) -> Self {
        Self {
            buf: Vec::new(),
            start: 0,
            end: 0,
            base: 0,
            rules,
            counting: true,
            values: Nesting::NONE,
            path: Path::NONE,
        }
    }

    pub(crate) const fn is_counting(&self) -> bool {
        self.counting
    }

    /// The rules.
    #[inline]
    #[must_use]
    pub const fn rules(&self) -> Rules {
        self.rules
    }

    /// The fault that a call has told is in this component.
    #[cold]
    #[inline(never)]
    pub fn inside(&mut self, component: &'static str) {
        self.path.component(component);
    }

    /// The fault that a call has told is in the element with this number.
    #[cold]
    #[inline(never)]
    pub fn element(&mut self, number: usize) {
        self.path.element(number);
    }

    /// Forgets what was written and keeps the room.
    pub fn clear(&mut self) {
        self.rewind(Mark(0));
    }

    /// The number of octets written.
    #[inline]
    #[must_use]
    pub const fn len(&self) -> usize {
        self.end - self.start
    }

    /// Whether nothing is written.
    #[inline]
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The encoding.
    #[inline]
    #[must_use]
    pub fn finish(&self) -> &[u8] {
        self.buf.get(self.start..).unwrap_or_default()
    }

    /// The encoding in a vector of its own.
    #[must_use]
    pub fn into_vec(mut self) -> Vec<u8> {
        let end = self.base + self.len();
        if self.start > self.base {
            self.buf.copy_within(self.start.., self.base);
        }
        self.buf.truncate(end);
        self.buf
    }

    /// What was there before, without what was written.
    #[cold]
    pub(crate) fn into_base(mut self) -> Vec<u8> {
        self.buf.truncate(self.base);
        self.buf
    }

    /// Where the writer stands, to be given to [`Writer::primitive`] after the contents are pushed.
    #[inline]
    #[must_use]
    pub const fn mark(&self) -> Mark {
        Mark(self.len())
    }

    /// Octets written since `mark`.
    #[inline]
    #[must_use]
    pub const fn since(&self, mark: Mark) -> usize {
        self.len().saturating_sub(mark.0)
    }

    /// Forgets what was written since `mark`.
    pub fn rewind(&mut self, mark: Mark) {
        let since = self.since(mark);
        if self.counting {
            self.end -= since;
        } else {
            self.start += since;
        }
    }

    // Octets

    /// Puts octets before what is written.
    #[inline]
    pub fn push(&mut self, octets: &[u8]) {
        if self.start - self.base < octets.len() && !self.grow(octets.len()) {
            return;
        }
        let start = self.start.saturating_sub(octets.len());
        if let Some(room) = self.buf.get_mut(start..self.start) {
            room.copy_from_slice(octets);
            self.start = start;
        }
    }

    /// Puts one octet before what is written.
    #[inline]
    pub fn push_octet(&mut self, octet: u8) {
        if self.start == self.base && !self.grow(1) {
            return;
        }
        let start = self.start.saturating_sub(1);
        if let Some(room) = self.buf.get_mut(start) {
            *room = octet;
            self.start = start;
        }
    }

    /// Makes room for `octets` more at least, unless they are only counted.
    #[cold]
    #[inline(never)]
    fn grow(&mut self, octets: usize) -> bool {
        if self.counting {
            self.end += octets;
            return false;
        }
        let room = self.len().max(octets).max(LEAST);
        self.buf.resize(self.end + room, 0);
        self.buf.copy_within(self.start..self.end, self.start + room);
        self.start += room;
        self.end += room;
        true
    }

    // Headers

    /// Starts the contents of a constructed element: in CER with end-of-contents octets (9.1).
    #[inline]
    #[must_use]
    pub fn open(&mut self) -> Mark {
        if self.rules == Rules::Cer {
            self.push(&[0, 0]);
        }
        self.mark()
    }

    /// Puts the header of a constructed element before what was written since [`Writer::open`].
    #[inline(always)]
    pub fn close(&mut self, tag: Tag, mark: Mark) {
        match Head::of(tag, 0x20) {
            Some(head) => self.close_of(head, tag, mark),
            None => self.long_close(tag, mark),
        }
    }

    #[inline(never)]
    fn close_of(&mut self, head: Head, tag: Tag, mark: Mark) {
        if !self.short_close(head, mark) {
            self.long_close(tag, mark);
        }
    }

    #[inline(never)]
    fn long_close(&mut self, tag: Tag, mark: Mark) {
        if self.rules == Rules::Cer {
            self.push_octet(0x80);
        } else {
            self.push_length(self.since(mark));
        }
        self.push_tag(tag, true);
    }

    /// Puts the header of a primitive element before what was written since [`Writer::mark`].
    #[inline]
    pub fn primitive(&mut self, tag: Tag, mark: Mark) {
        self.push_length(self.since(mark));
        self.push_tag(tag, false);
    }

    /// Identifier octets (8.1.2).
    #[inline]
    pub fn push_tag(&mut self, tag: Tag, constructed: bool) {
        let class = match tag.class() {
            Class::Universal => 0x00,
            Class::Application => 0x40,
            Class::Context => 0x80,
            Class::Private => 0xC0,
        };
        let first = class | if constructed { 0x20 } else { 0 };
        let [.., low] = tag.number().to_be_bytes();
        if tag.number() < 31 {
            return self.push_octet(first | low);
        }
        self.push_octet(low & 0x7F);
        let mut rest = tag.number() >> 7;
        while rest > 0 {
            let [.., low] = rest.to_be_bytes();
            self.push_octet(low | 0x80);
            rest >>= 7;
        }
        self.push_octet(first | 0x1F);
    }

    /// Length octets in the definite form, the fewest (8.1.3, 10.1).
    #[inline]
    pub fn push_length(&mut self, length: usize) {
        let octets = length.to_be_bytes();
        let [.., low] = octets;
        if length < 0x80 {
            return self.push_octet(low);
        }
        let zeros = octets.iter().take_while(|octet| **octet == 0).count();
        self.push(octets.get(zeros..).unwrap_or_default());
        let [.., count] = (octets.len() - zeros).to_be_bytes();
        self.push_octet(0x80 | count);
    }

    // Contents of the primitive types

    /// BOOLEAN: `FF` for true in all rules.
    #[inline]
    pub fn push_boolean(&mut self, value: bool) {
        self.push_octet(if value { 0xFF } else { 0x00 });
    }

    /// INTEGER or ENUMERATED, the fewest octets (8.3.2).
    #[inline]
    pub fn push_i64(&mut self, value: i64) {
        self.push_integer(&value.to_be_bytes());
    }

    /// A non-negative INTEGER.
    #[inline]
    pub fn push_u64(&mut self, value: u64) {
        self.push_i128(i128::from(value));
    }

    /// An INTEGER of up to 128 bits.
    #[inline]
    pub fn push_i128(&mut self, value: i128) {
        self.push_integer(&value.to_be_bytes());
    }

    /// A non-negative INTEGER of up to 128 bits.
    pub fn push_u128(&mut self, value: u128) {
        let octets = value.to_be_bytes();
        if octets[0] < 0x80 {
            return self.push_integer(&octets);
        }
        self.push(&octets);
        self.push_octet(0);
    }

    /// An INTEGER of any size from its two's complement, most significant octet first; superfluous octets are
    /// left out, no octets are zero.
    pub fn push_integer(&mut self, octets: &[u8]) {
        self.push(fewest(octets));
    }

    /// BIT STRING in the primitive form, unused bits zero (8.6.2, 11.2.1).
    pub fn push_bits(&mut self, bits: BitStr<'_>) {
        if let Some((last, front)) = bits.bytes().split_last() {
            self.push_octet(last >> bits.unused() << bits.unused());
            self.push(front);
        }
        self.push_octet(bits.unused());
    }

    /// REAL from an `f64`, in the normal form of 11.3.1.
    ///
    /// ```
    /// use tercet_runtime::ber::{Rules, Writer};
    /// let mut writer = Writer::new(Rules::Der);
    /// writer.push_f64(10.0);
    /// assert_eq!(writer.finish(), [0x80, 0x01, 0x05]);
    /// ```
    pub fn push_f64(&mut self, value: f64) {
        if value == 0.0 {
            if value.is_sign_negative() {
                self.push_octet(0x43);
            }
        } else if value.is_nan() {
            self.push_octet(0x42);
        } else if value.is_infinite() {
            self.push_octet(if value < 0.0 { 0x41 } else { 0x40 });
        } else {
            let bits = value.to_bits();
            let fraction = bits & ((1 << 52) - 1);
            let biased = i128::from(bits >> 52 & 0x7FF);
            let (mantissa, exponent) =
                if biased == 0 { (fraction, -1074) } else { (fraction | 1 << 52, biased - 1075) };
            self.push_binary(value < 0.0, &mantissa.to_be_bytes(), exponent);
        }
    }

    /// REAL from an exact value, in the normal form of 11.3.
    ///
    /// A binary value is written with base 2, whatever its base was; a decimal one as NR3.
    pub fn push_real(&mut self, value: &Real<'_>) {
        match value {
            Real::Zero => {}
            Real::PlusInfinity => self.push_octet(0x40),
            Real::MinusInfinity => self.push_octet(0x41),
            Real::NotANumber => self.push_octet(0x42),
            Real::MinusZero => self.push_octet(0x43),
            Real::Binary(binary) => self.push_binary(binary.negative, binary.mantissa, binary.exponent2()),
            Real::Decimal(decimal) => {
                let (negative, whole, fraction, exponent) = decimal.parts();
                self.push_decimal(negative, whole, fraction, exponent.parse().unwrap_or(0));
            }
        }
    }

    /// A decimal REAL from its number's text, `-3.14e5` or any other of ISO 6093, in the normal form of
    /// 11.3.2: `-314.E3`.
    ///
    /// # Errors
    /// [`ErrorKind::RealDecimal`] for other text; [`ErrorKind::LimitExceeded`] for an exponent beyond 2^60.
    pub fn push_decimal_text(&mut self, text: &str) -> Result<()> {
        let decimal = crate::types::Decimal { form: 3, text };
        let (negative, whole, fraction, exponent) = decimal.parts();
        let digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
        let bare = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        if !digits(whole)
            || !digits(fraction)
            || whole.len() + fraction.len() == 0
            || !digits(bare)
            || (text.contains(['E', 'e']) && bare.is_empty())
        {
            return Err(Error::new(ErrorKind::RealDecimal, 0));
        }
        let exponent = match exponent {
            "" => 0,
            text => {
                let exponent = text.parse::<i64>().ok().filter(|exponent| exponent.unsigned_abs() <= 1 << 60);
                exponent.ok_or_else(|| Error::new(ErrorKind::LimitExceeded, 0))?
            }
        };
        if whole.bytes().chain(fraction.bytes()).all(|b| b == b'0') {
            if negative {
                self.push_octet(0x43);
            }
            return Ok(());
        }
        self.push_decimal(negative, whole, fraction, i128::from(exponent));
        Ok(())
    }

    /// `digits.Eexponent` without zeros at either end of the digits, which are not all zero.
    fn push_decimal(&mut self, negative: bool, whole: &str, fraction: &str, exponent: i128) {
        let digits: Vec<u8> = whole.bytes().chain(fraction.bytes()).collect();
        let lead = digits.iter().take_while(|b| **b == b'0').count();
        let tail = digits.iter().rev().take_while(|b| **b == b'0').count();
        let kept = digits.get(lead..digits.len().saturating_sub(tail)).unwrap_or_default();
        let exponent = exponent - fraction.len() as i128 + tail as i128;
        let text = alloc::format!("{}{exponent}", if exponent == 0 { "+" } else { "" });
        self.push(text.as_bytes());
        self.push(b".E");
        self.push(kept);
        if negative {
            self.push_octet(b'-');
        }
        self.push_octet(0x03);
    }

    /// ± mantissa × 2^exponent with an odd mantissa in the fewest octets.
    fn push_binary(&mut self, negative: bool, mantissa: &[u8], exponent: i128) {
        let first = mantissa.iter().take_while(|octet| **octet == 0).count();
        let mantissa = mantissa.get(first..).unwrap_or_default();
        let zeros = mantissa.iter().rev().take_while(|octet| **octet == 0).count();
        let kept = mantissa.get(..mantissa.len() - zeros).unwrap_or_default();
        let Some(last) = kept.last() else { return };
        let shift = last.trailing_zeros();
        let exponent = exponent + 8 * zeros as i128 + i128::from(shift);
        let mut below = kept.iter().rev().peekable();
        while let Some(octet) = below.next() {
            let above = below.peek().map(|octet| u16::from(**octet));
            let [_, shifted] = ((above.unwrap_or(0) << 8 | u16::from(*octet)) >> shift).to_be_bytes();
            // The shift may leave nothing of the first octet.
            if above.is_some() || shifted != 0 {
                self.push_octet(shifted);
            }
        }
        let end = self.mark();
        self.push_integer(&exponent.to_be_bytes());
        let length = self.since(end);
        let form = match length {
            1 => 0,
            2 => 1,
            3 => 2,
            _ => {
                let [.., length] = length.to_be_bytes();
                self.push_octet(length);
                3
            }
        };
        self.push_octet(0x80 | if negative { 0x40 } else { 0 } | form);
    }

    // Whole strings, which CER splits

    /// OCTET STRING of a fixed size (8.7).
    #[inline(always)]
    pub fn fixed_octets<const N: usize>(&mut self, tag: Tag, octets: &[u8; N]) {
        if !Head::of(tag, 0).is_some_and(|head| self.short_fixed(head, octets)) {
            self.octet_string(tag, octets);
        }
    }

    /// An OCTET STRING, character string or time with its header; in CER above 1000 octets in segments (9.2).
    #[inline(always)]
    pub fn octet_string(&mut self, tag: Tag, octets: &[u8]) {
        match Head::of(tag, 0) {
            Some(head) => self.octet_string_of(head, tag, octets),
            None => self.long_octet_string(tag, octets),
        }
    }

    /// The same from octets that borrow or not.
    #[inline(always)]
    pub fn octets(&mut self, tag: Tag, octets: &Octets<'_>) {
        match Head::of(tag, 0) {
            Some(head) => self.octets_of(head, tag, octets),
            None => self.long_octet_string(tag, octets.as_slice()),
        }
    }

    // One call for each element, so that what writes a hundred components stays small; what is rare is a call at the end, for
    // which no register has to be saved.

    #[inline(never)]
    fn octets_of(&mut self, head: Head, tag: Tag, octets: &Octets<'_>) {
        let octets = octets.as_slice();
        if !self.short_octets(head, octets) {
            self.any_octet_string(head, tag, octets);
        }
    }

    #[inline(never)]
    fn octet_string_of(&mut self, head: Head, tag: Tag, octets: &[u8]) {
        if !self.short_octets(head, octets) {
            self.any_octet_string(head, tag, octets);
        }
    }

    #[inline(never)]
    fn any_octet_string(&mut self, head: Head, tag: Tag, octets: &[u8]) {
        if !self.middle_octets(head, octets) {
            self.long_octet_string(tag, octets);
        }
    }

    #[inline(never)]
    fn long_octet_string(&mut self, tag: Tag, octets: &[u8]) {
        if self.rules == Rules::Cer && octets.len() > 1000 {
            let mark = self.open();
            for piece in octets.chunks(1000).rev() {
                let end = self.mark();
                self.push(piece);
                self.primitive(Tag::OCTET_STRING, end);
            }
            return self.close(tag, mark);
        }
        self.long_primitive(tag, octets);
    }

    /// A primitive element with these contents.
    #[inline(always)]
    pub(crate) fn primitive_of(&mut self, tag: Tag, contents: &[u8]) {
        match Head::of(tag, 0) {
            Some(head) => self.primitive_with(head, tag, contents),
            None => self.long_primitive(tag, contents),
        }
    }

    #[inline(never)]
    fn primitive_with(&mut self, head: Head, tag: Tag, contents: &[u8]) {
        if !self.short_octets(head, contents) {
            self.any_primitive(head, tag, contents);
        }
    }

    #[inline(never)]
    fn any_primitive(&mut self, head: Head, tag: Tag, contents: &[u8]) {
        if !self.middle_octets(head, contents) {
            self.long_primitive(tag, contents);
        }
    }

    #[inline(never)]
    fn long_primitive(&mut self, tag: Tag, contents: &[u8]) {
        let end = self.mark();
        self.push(contents);
        self.primitive(tag, end);
    }

    /// INTEGER or ENUMERATED with its header (8.3, 8.4).
    #[inline(always)]
    pub fn integer(&mut self, tag: Tag, value: i64) {
        match Head::of(tag, 0) {
            Some(head) => self.integer_of(head, tag, value),
            None => self.long_integer(tag, value),
        }
    }

    #[inline(never)]
    fn integer_of(&mut self, head: Head, tag: Tag, value: i64) {
        if !self.short_integer(head, value) {
            self.long_integer(tag, value);
        }
    }

    #[inline(never)]
    fn long_integer(&mut self, tag: Tag, value: i64) {
        self.long_primitive(tag, &value.to_be_bytes()[8 - significant(value)..]);
    }

    /// A non-negative INTEGER with its header (8.3).
    pub fn unsigned(&mut self, tag: Tag, value: u64) {
        match i64::try_from(value) {
            Ok(value) => self.integer(tag, value),
            Err(_) => {
                let mut octets = [0; 9];
                octets[1..].copy_from_slice(&value.to_be_bytes());
                self.primitive_of(tag, &octets);
            }
        }
    }

    /// A BIT STRING with its header; in CER above 1000 contents octets in segments (9.2).
    pub fn bit_string(&mut self, tag: Tag, bits: BitStr<'_>) {
        if self.rules == Rules::Cer && bits.bytes().len() > 999 {
            let mark = self.open();
            for (i, piece) in bits.bytes().chunks(999).rev().enumerate() {
                let end = self.mark();
                self.push_bits(
                    BitStr::new(piece, if i == 0 { bits.unused() } else { 0 }).unwrap_or_default(),
                );
                self.primitive(Tag::BIT_STRING, end);
            }
            return self.close(tag, mark);
        }
        let end = self.mark();
        self.push_bits(bits);
        self.primitive(tag, end);
    }

    // Order

    /// Sorts the elements written since `mark` as DER and CER want those of a SET OF (11.6): as octet
    /// strings, the shorter padded with zeros.  Under BER nothing is done.
    ///
    /// # Errors
    /// A fault in a header, when what was written since `mark` are not whole elements.
    pub fn sort_set_of(&mut self, mark: Mark) -> Result<()> {
        // One encoding is never the start of another, so that padding does not matter to the order.
        self.sort_by(mark, |a, b| a.cmp(b))
    }

    /// Sorts the elements written since `mark` by their tags, as DER wants those of a SET (10.3).
    ///
    /// CER orders an untagged CHOICE by its smallest tag (9.3), which the encoding does not show; its caller
    /// writes the components in that order.  Under BER nothing is done.
    ///
    /// # Errors
    /// As [`Writer::sort_set_of`].
    pub fn sort_set(&mut self, mark: Mark) -> Result<()> {
        self.sort_by(mark, |a, b| tag_key(a).cmp(&tag_key(b)))
    }

    fn sort_by(&mut self, mark: Mark, order: impl Fn(&[u8], &[u8]) -> Ordering) -> Result<()> {
        if self.rules == Rules::Ber || self.counting {
            return Ok(());
        }
        let length = self.since(mark);
        let written = self.finish().get(..length).unwrap_or_default();
        let limits = Limits { depth: u16::MAX, ..Limits::DEFAULT };
        let mut reader = Reader::with_limits(written, 0, self.rules, &limits);
        let mut elements = Vec::new();
        while let Some(header) = reader.next_header()? {
            elements.push(reader.element(&header)?);
        }
        if elements.is_sorted_by(|a, b| order(a, b).is_le()) {
            return Ok(());
        }
        elements.sort_by(|a, b| order(a, b));
        let sorted = elements.concat();
        if let Some(room) = self.buf.get_mut(self.start..self.start + length) {
            room.copy_from_slice(&sorted);
        }
        Ok(())
    }
}

/// Two's complement without superfluous octets in front; no octets are zero.
#[inline]
pub(super) fn fewest(octets: &[u8]) -> &[u8] {
    let mut rest = octets;
    while let [0x00, 0x00..=0x7F, ..] | [0xFF, 0x80..=0xFF, ..] = rest {
        rest = rest.get(1..).unwrap_or_default();
    }
    if rest.is_empty() { &[0] } else { rest }
}

/// How many octets an INTEGER has: leading bits that are all the sign but one are left out, in whole octets.
pub(super) const fn significant(value: i64) -> usize {
    8 - ((value ^ (value >> 63)).leading_zeros() as usize - 1) / 8
}

/// The tag of an element that was just written, as a number in canonical order.
fn tag_key(element: &[u8]) -> u32 {
    let limits = Limits { depth: u16::MAX, ..Limits::DEFAULT };
    let header = Reader::with_limits(element, 0, Rules::Ber, &limits).read_header();
    header.map_or(0, |header| header.tag.bits())
}

/// Checks that `next` may follow `previous` in a SET OF in DER and CER (11.6).
///
/// # Errors
/// [`ErrorKind::SetOfOrder`] at the offset `at` of `next`.
pub fn check_set_of_order(previous: &[u8], next: &[u8], at: u64) -> Result<()> {
    if previous > next { Err(Error::new(ErrorKind::SetOfOrder, at)) } else { Ok(()) }
}
