//! BER, DER and CER: what generated code calls beside [`Reader`] and [`Writer`].
//!
//! What reads an element is told its tag. The common form, a primitive element with a length of one octet, is a few
//! comparisons with literals; all others are read by calls.

pub use crate::ber::{Frame, Header, Mark, Reader, Rules, StringForm, Writer};

#[cfg(feature = "arena")]
mod arena;
mod fill;
mod lists;
mod slices;

pub use super::contents;
use super::{Contained, UnknownAlternative};
use crate::text::{StringKind, latin1, to_utf8, to_utf8_lossy};
use crate::types::{
    BitString, ExactReal, FixedBits, Integer, MarkedText, ObjectIdentifier, Octets, RelativeObjectIdentifier,
    Text, TimeType,
};
use crate::{Class, Error, ErrorKind, Result, Tag};
use alloc::borrow::Cow;
#[cfg(feature = "arena")]
pub use arena::{
    arena_list, arena_set_of, empty_in_arena, filled_arena_list, filled_arena_set_of, in_arena,
    named_bits_slice, time_slice,
};
pub use fill::{fill, fill_any, fill_any_option, fill_option};
pub(crate) use lists::in_set_of;
pub use lists::{filled_list, filled_set_of, inline_list, inline_set_of, list, set_of};
pub use slices::{
    big_integer_slice, bits_slice, generalized_time_slice, octets_slice, oid_slice, relative_oid_slice,
    text_slice, utc_time_slice, write_generalized_time_slice, write_named_bits_slice, write_text_slice,
    write_utc_time_slice,
};

/// Octets of memory that a list sets aside at once at most.
const ROOM: usize = 64 * 1024;

/// The header of a component that has to be there.
#[inline(never)]
fn header(r: &mut Reader<'_>, tag: Tag) -> Result<Header> {
    let at = r.offset();
    match r.next_header() {
        Ok(Some(header)) if header.tag == tag => Ok(header),
        Ok(Some(_)) => Err(Error::new(ErrorKind::TagMismatch, at)),
        Ok(None) => Err(missing(r)),
        Err(error) => Err(in_header(r, error)),
    }
}

/// Tells that a fault is in the header at the cursor.
#[cold]
#[inline(never)]
fn in_header(r: &mut Reader<'_>, error: Error) -> Error {
    r.path.header();
    error
}

/// What is said where an element has to be and none is: at the end of the input, more may come.
#[cold]
#[inline(never)]
fn missing(r: &Reader<'_>) -> Error {
    match r.clone().read_header() {
        Err(error) if error.kind() == ErrorKind::Incomplete => error,
        _ => r.error(ErrorKind::MissingComponent),
    }
}

/// An element: the short form by the one function, if that can, all others by the other.
#[inline(always)]
fn element<'a, T>(
    r: &mut Reader<'a>,
    tag: Tag,
    short: impl FnOnce(&'a [u8]) -> Option<T>,
    long: fn(&mut Reader<'a>, &Header) -> Result<T>,
) -> Result<T> {
    match r.short_primitive(tag, short) {
        Some(value) => Ok(value),
        None => any_element(r, tag, long),
    }
}

#[inline(never)]
fn any_element<'a, T>(
    r: &mut Reader<'a>,
    tag: Tag,
    read: fn(&mut Reader<'a>, &Header) -> Result<T>,
) -> Result<T> {
    let header = header(r, tag)?;
    read(r, &header)
}

/// Where the element begins whose header was just read.
fn begin(r: &Reader<'_>, header: &Header) -> u64 {
    r.offset().saturating_sub(u64::from(header.size))
}

/// That the next element has the tag of its type.
///
/// # Errors
/// [`ErrorKind::TagMismatch`], and any fault in its header.
#[inline]
pub fn expect(r: &Reader<'_>, tag: Tag) -> Result<()> {
    if r.is_next(tag) { Ok(()) } else { r.clone().read_expected(tag).map(|_| ()) }
}

/// The tag of an element that has to be there.
///
/// # Errors
/// [`ErrorKind::MissingComponent`] at the end of the level.
#[inline(always)]
pub fn tag(r: &mut Reader<'_>) -> Result<Tag> {
    match r.short_tag() {
        Some(tag) => Ok(tag),
        None => any_tag(r),
    }
}

#[inline(never)]
fn any_tag(r: &mut Reader<'_>) -> Result<Tag> {
    match r.peek_tag() {
        Ok(Some(tag)) => Ok(tag),
        Ok(None) => Err(missing(r)),
        Err(error) => Err(in_header(r, error)),
    }
}

/// What is wrong with an element that is none of the alternatives of a CHOICE: its header, or that it is there.
#[cold]
#[inline(never)]
pub fn no_alternative(r: &mut Reader<'_>) -> Error {
    match r.peek_header() {
        Ok(_) => r.error(ErrorKind::UnknownAlternative),
        Err(error) => in_header(r, error),
    }
}

/// What is wrong with an element that no component begins with: its header, or that it is there.
#[cold]
#[inline(never)]
pub fn unexpected(r: &mut Reader<'_>) -> Error {
    r.peek_header().err().unwrap_or_else(|| r.error(ErrorKind::UnexpectedElement))
}

/// Enters a constructed element.
///
/// # Errors
/// [`ErrorKind::MissingComponent`], else as [`Reader::enter`].
#[inline]
pub fn enter(r: &mut Reader<'_>, tag: Tag) -> Result<Frame> {
    match r.short_constructed(tag) {
        Some(level) => Ok(level),
        None => enter_any(r, tag),
    }
}

#[inline(never)]
fn enter_any(r: &mut Reader<'_>, tag: Tag) -> Result<Frame> {
    let header = header(r, tag)?;
    r.enter(&header)
}

/// Leaves a constructed element of a SEQUENCE whose components have been read in order.
///
/// # Errors
/// As [`Reader::leave`].
#[inline]
pub fn leave(r: &mut Reader<'_>, level: Frame, place: Place) -> Result<()> {
    r.leave(level).map_err(|error| left_over(r, error, place))
}

/// What is left may be a component that comes late or twice.
#[cold]
#[inline(never)]
fn left_over(r: &mut Reader<'_>, error: Error, place: Place) -> Error {
    if error.kind() == ErrorKind::UnexpectedElement
        && let Some((_, name)) = r.identifier().and_then(|tag| place(tag, 0))
    {
        r.inside(name);
    }
    error
}

/// Leaves a constructed element of an extensible type, over what the type does not know.
///
/// # Errors
/// As [`Reader::leave`] and [`pass_unknown`].
#[inline]
pub fn leave_extensible(r: &mut Reader<'_>, level: Frame, place: Place) -> Result<()> {
    if !r.is_at_end() {
        pass_over(r, place)?;
    }
    r.leave(level)
}

/// Passes over what is left on a level.
#[inline(never)]
fn pass_over(r: &mut Reader<'_>, place: Place) -> Result<()> {
    while r.has_more()? {
        pass_unknown(r, place)?;
    }
    Ok(())
}

/// Passes over an element that a SEQUENCE does not know.
///
/// # Errors
/// As [`not_late`] and [`any`].
#[cold]
pub fn pass_unknown(r: &mut Reader<'_>, place: Place) -> Result<()> {
    not_late(r, place)?;
    any(r).map(drop)
}

/// That the next element is no component that comes late or twice. Later versions may add elements with universal tags.
///
/// # Errors
/// [`ErrorKind::UnexpectedElement`], and a fault in its header.
#[cold]
#[inline(never)]
pub(super) fn not_late(r: &mut Reader<'_>, place: Place) -> Result<()> {
    let tag = r.identifier().filter(|tag| tag.class() != Class::Universal);
    if let Some((_, name)) = tag.and_then(|tag| place(tag, 0)) {
        r.peek_header()?;
        r.inside(name);
        return Err(r.error(ErrorKind::UnexpectedElement));
    }
    Ok(())
}

/// A component of a SEQUENCE by its tag: the first that it can be from one on, and its name.
pub type Place = fn(Tag, usize) -> Option<(usize, &'static str)>;

/// None of them.
#[must_use]
pub fn no_place(_: Tag, _: usize) -> Option<(usize, &'static str)> {
    None
}

/// Where a component that has to be there is another element, what is wrong is told by that: a component further on tells
/// that this one is missing, all others are not expected here (unless `extensible`, where they may be of a later version).
/// A faulty header is in the component that its tag tells.
#[cold]
#[inline(never)]
pub fn misplaced(
    r: &mut Reader<'_>,
    error: Error,
    component: &'static str,
    number: usize,
    extensible: bool,
    place: Place,
) -> Error {
    if r.path.is_header() {
        let found = r.identifier().and_then(|tag| place(tag, number));
        r.inside(found.map_or("", |(_, name)| name));
        return error;
    }
    let is_other = matches!(error.kind(), ErrorKind::TagMismatch | ErrorKind::UnknownAlternative);
    if !is_other || !r.path.is_empty() {
        r.inside(component);
        return error;
    }
    r.rewind_to(error.at());
    let tag = r.peek_tag().ok().flatten();
    // Later versions may add elements with universal tags of components that have passed.
    let is_late = !extensible || tag.is_none_or(|tag| tag.class() != Class::Universal);
    match tag.and_then(|tag| place(tag, number).or_else(|| place(tag, 0))) {
        Some((found, name)) if found < number && is_late => {
            r.inside(name);
            Error::new(ErrorKind::UnexpectedElement, error.at())
        }
        None if !extensible => Error::new(ErrorKind::UnexpectedElement, error.at()),
        _ => {
            r.inside(component);
            Error::new(ErrorKind::MissingComponent, error.at())
        }
    }
}

/// BOOLEAN (8.2).
///
/// # Errors
/// As [`Reader::boolean`].
#[inline]
pub fn boolean(r: &mut Reader<'_>, tag: Tag) -> Result<bool> {
    element(r, tag, contents::boolean, Reader::boolean)
}

/// NULL (8.8).
///
/// # Errors
/// As [`Reader::null`].
#[inline]
pub fn null(r: &mut Reader<'_>, tag: Tag) -> Result<()> {
    element(r, tag, contents::null, Reader::null)
}

/// INTEGER or ENUMERATED in 64 bits (8.3, 8.4).
///
/// # Errors
/// As [`Reader::integer`].
#[inline]
pub fn integer(r: &mut Reader<'_>, tag: Tag) -> Result<i64> {
    element(r, tag, contents::integer, |r, header| {
        let at = begin(r, header);
        r.integer(header).map_err(|error| at_element(error, at))
    })
}

/// A non-negative INTEGER in 64 bits (8.3).
///
/// # Errors
/// As [`Reader::unsigned`].
#[inline]
pub fn unsigned(r: &mut Reader<'_>, tag: Tag) -> Result<u64> {
    element(r, tag, contents::unsigned, |r, header| {
        let at = begin(r, header);
        r.unsigned(header).map_err(|error| at_element(error, at))
    })
}

/// INTEGER in a type that it may be too large for.
///
/// # Errors
/// [`ErrorKind::IntegerRange`], else as [`Reader::integer`].
#[inline]
pub fn narrow<T: TryFrom<i64>>(r: &mut Reader<'_>, tag: Tag) -> Result<T> {
    element(r, tag, contents::narrow, |r, header| {
        let at = begin(r, header);
        let number = r.integer(header).map_err(|error| at_element(error, at))?;
        T::try_from(number).map_err(|_| Error::new(ErrorKind::IntegerRange, at))
    })
}

/// What is too large for its type is so as a whole.
fn at_element(error: Error, at: u64) -> Error {
    if error.kind() == ErrorKind::IntegerRange { Error::new(error.kind(), at) } else { error }
}

/// ENUMERATED: the item that `item` gives for the number.
///
/// # Errors
/// [`ErrorKind::UnknownEnumeration`], else as [`Reader::integer`].
#[inline]
pub fn enumerated<T>(r: &mut Reader<'_>, tag: Tag, item: impl Fn(i64) -> Option<T>) -> Result<T> {
    match r.short_primitive(tag, |contents| contents::enumerated(contents, &item)) {
        Some(value) => Ok(value),
        None => any_enumerated(r, tag, item),
    }
}

#[inline(never)]
fn any_enumerated<T>(r: &mut Reader<'_>, tag: Tag, item: impl Fn(i64) -> Option<T>) -> Result<T> {
    let start = r.position();
    match integer(r, tag) {
        Ok(number) => item(number).ok_or_else(|| {
            r.rewind(start);
            r.error(ErrorKind::UnknownEnumeration)
        }),
        // What takes other numbers has no place for such a large one.
        Err(error) if error.kind() == ErrorKind::IntegerRange && item(i64::MIN).is_none() => {
            Err(Error::new(ErrorKind::UnknownEnumeration, error.at()))
        }
        Err(error) => Err(error),
    }
}

/// INTEGER of any size (8.3).
///
/// # Errors
/// As [`Reader::big_integer`].
#[inline]
pub fn big_integer<'a>(r: &mut Reader<'a>, tag: Tag) -> Result<Integer<'a>> {
    element(r, tag, contents::big_integer, |r, header| r.big_integer(header).map(Integer::from_octets))
}

/// OCTET STRING (8.7).
///
/// # Errors
/// As [`Reader::octet_string`].
#[inline]
pub fn octets<'a>(r: &mut Reader<'a>, tag: Tag) -> Result<Octets<'a>> {
    element(r, tag, contents::octets, any_octets)
}

fn any_octets<'a>(r: &mut Reader<'a>, header: &Header) -> Result<Octets<'a>> {
    if header.constructed || r.rules() == Rules::Cer {
        return r.octet_string(header).map(Octets::from);
    }
    r.contents(header).map(Octets::borrowed)
}

/// OCTET STRING of a fixed size.
///
/// # Errors
/// [`ErrorKind::ConstraintViolated`] for another size.
#[inline]
pub fn fixed_octets<const N: usize>(r: &mut Reader<'_>, tag: Tag) -> Result<[u8; N]> {
    element(r, tag, contents::fixed_octets, |r, header| {
        let at = begin(r, header);
        let octets = any_octets(r, header)?;
        octets.as_slice().try_into().map_err(|_| Error::new(ErrorKind::ConstraintViolated, at))
    })
}

/// BIT STRING (8.6).
///
/// # Errors
/// As [`Reader::bit_string`].
#[inline]
pub fn bits<'a>(r: &mut Reader<'a>, tag: Tag) -> Result<BitString<'a>> {
    element(r, tag, contents::bits, Reader::bit_string)
}

/// BIT STRING with named bits: in DER and CER without trailing zero bits (11.2.2). The value has the size that is asked
/// for, by zero bits that are added or removed (11.2.2 NOTE 1).
///
/// # Errors
/// [`ErrorKind::BitStringTrailingZero`], else as [`Reader::bit_string`].
pub fn named_bits<'a>(r: &mut Reader<'a>, tag: Tag, least: usize, most: usize) -> Result<BitString<'a>> {
    let header = header(r, tag)?;
    let at = r.offset();
    let bits = r.bit_string(&header)?;
    if r.rules() != Rules::Ber {
        crate::ber::check_named_bits(bits.as_bits(), 0, at)?;
    }
    Ok(bits.resized(least, most))
}

/// BIT STRING with named bits of a fixed size, of which zero bits at the end may be missing.
///
/// # Errors
/// As [`named_bits`]; [`ErrorKind::ConstraintViolated`] for a one bit behind the size.
pub fn fixed_named_bits<const N: u32>(r: &mut Reader<'_>, tag: Tag) -> Result<FixedBits<N>> {
    let at = r.offset();
    let bits = named_bits(r, tag, N as usize, N as usize)?;
    super::per::fixed_of_bits(bits).ok_or_else(|| Error::new(ErrorKind::ConstraintViolated, at))
}

/// BIT STRING of a fixed size.
///
/// # Errors
/// [`ErrorKind::ConstraintViolated`] for another size.
pub fn fixed_bits<const N: u32>(r: &mut Reader<'_>, tag: Tag) -> Result<FixedBits<N>> {
    any_element(r, tag, |r, header| {
        let at = begin(r, header);
        let bits = r.bit_string(header)?;
        super::per::fixed_of_bits(bits).ok_or_else(|| Error::new(ErrorKind::ConstraintViolated, at))
    })
}

/// OBJECT IDENTIFIER (8.19).
///
/// # Errors
/// As [`Reader::oid`].
#[inline]
pub fn oid<'a>(r: &mut Reader<'a>, tag: Tag) -> Result<ObjectIdentifier<'a>> {
    element(r, tag, contents::oid, |r, header| r.oid(header).map(ObjectIdentifier::from))
}

/// RELATIVE-OID (8.20).
///
/// # Errors
/// As [`Reader::relative_oid`].
pub fn relative_oid<'a>(r: &mut Reader<'a>, tag: Tag) -> Result<RelativeObjectIdentifier<'a>> {
    any_element(r, tag, |r, header| r.relative_oid(header).map(Into::into))
}

/// A character string (8.23).
///
/// # Errors
/// As [`Reader::text`].
#[inline]
pub fn text<'a>(r: &mut Reader<'a>, tag: Tag, kind: StringKind) -> Result<Text<'a>> {
    match r.short_primitive(tag, |octets| contents::text(octets, kind)) {
        Some(text) => Ok(text),
        None => any_text(r, tag, kind),
    }
}

#[inline(never)]
fn any_text<'a>(r: &mut Reader<'a>, tag: Tag, kind: StringKind) -> Result<Text<'a>> {
    let header = header(r, tag)?;
    let at = r.offset();
    let octets = if kind.may_be_segmented() {
        r.string(&header, StringForm::Text(kind.tag()))?
    } else {
        Cow::Borrowed(r.contents(&header)?)
    };
    match octets {
        Cow::Borrowed(octets) => match to_utf8(kind, octets, at) {
            Ok(text) => Ok(text.into()),
            Err(fault) => keep(r, kind.tag(), octets, fault, &to_utf8_lossy(kind, octets)),
        },
        Cow::Owned(octets) => match to_utf8(kind, &octets, at) {
            Ok(text) => Ok(text.into_owned().into()),
            Err(fault) => keep(r, kind.tag(), &octets, fault, &to_utf8_lossy(kind, &octets)),
        },
    }
}

/// Keeps octets that break the rules of the type with this universal tag, if BER is read and not strictly.
///
/// # Errors
/// The fault, if not.
#[cold]
#[inline(never)]
fn keep(r: &mut Reader<'_>, tag: Tag, octets: &[u8], fault: Error, shown: &str) -> Result<Text<'static>> {
    if r.rules() != Rules::Ber || r.has_strict_values() {
        return Err(fault);
    }
    r.add_marked(1);
    Ok(Text::kept(tag, fault.kind(), octets, shown))
}

/// What is in an OCTET STRING, or a BIT STRING, with CONTAINING (X.682 §11): its octets if it does not decode.
///
/// # Errors
/// A fault in the string itself.
pub fn contained<'a, T>(
    r: &mut Reader<'a>,
    tag: Tag,
    is_bits: bool,
    read: impl FnOnce(&mut Reader<'a>) -> Result<T>,
) -> Result<Contained<'a, T>> {
    let header = header(r, tag)?;
    let string = if is_bits {
        Contained::from(r.bit_string(&header)?)
    } else {
        Contained::Octets(any_octets(r, &header)?)
    };
    if let Contained::Octets(octets) = &string
        && let Some(inside) = octets.as_borrowed()
    {
        let base = r.offset().saturating_sub(inside.len() as u64);
        let limits = crate::Limits::DEFAULT.with_depth(r.depth_left());
        let (strict, values) = (r.has_strict_values(), r.values_left());
        let mut inner = Reader::with_limits(inside, base, r.rules(), &limits)
            .with_strict_values(strict)
            .counting_values(values);
        #[cfg(feature = "arena")]
        {
            inner = inner.with_arena(r.arena());
        }
        // The string with a value inside is a level itself.
        match inner.begin_value().and_then(|()| read(&mut inner)) {
            Ok(value) if inner.finish().is_ok() => {
                r.add_marked(inner.marked());
                return Ok(Contained::Value(value));
            }
            Err(error) if error.kind() == ErrorKind::DepthLimit => {
                r.path = inner.path;
                return Err(error);
            }
            _ => {}
        }
    }
    Ok(string)
}

/// UTCTime (8.25) as its text.
///
/// # Errors
/// As [`Reader::utc_time`].
#[inline]
pub fn utc_time<'a>(r: &mut Reader<'a>, tag: Tag) -> Result<Text<'a>> {
    element(r, tag, contents::utc_time, |r, header| {
        let at = r.offset();
        let octets = r.string(header, StringForm::Text(Tag::UTC_TIME))?;
        let checked = crate::ber::decode_utc_time(&octets, at, r.rules()).map(drop);
        time_text(r, Tag::UTC_TIME, octets, checked)
    })
}

/// GeneralizedTime (8.25) as its text.
///
/// # Errors
/// As [`Reader::generalized_time`].
#[inline]
pub fn generalized_time<'a>(r: &mut Reader<'a>, tag: Tag) -> Result<Text<'a>> {
    element(r, tag, contents::generalized_time, |r, header| {
        let at = r.offset();
        let octets = r.string(header, StringForm::Text(Tag::GENERALIZED_TIME))?;
        let checked = crate::ber::decode_generalized_time(&octets, at, r.rules()).map(drop);
        time_text(r, Tag::GENERALIZED_TIME, octets, checked)
    })
}

/// The text of a time: its octets, which are digits and signs if it was checked without a fault.
fn time_text<'a>(
    r: &mut Reader<'a>,
    tag: Tag,
    octets: Cow<'a, [u8]>,
    checked: Result<()>,
) -> Result<Text<'a>> {
    match (checked, &octets) {
        (Ok(()), Cow::Borrowed(octets)) => Ok(Text::ascii(octets)),
        (Ok(()), Cow::Owned(octets)) => Ok(Text::copied(&latin1(octets))),
        (Err(fault), _) => keep(r, tag, &octets, fault, &latin1(&octets)),
    }
}

/// TIME or a useful time type (8.26) as the text of its value notation.
///
/// # Errors
/// As [`Reader::time`].
pub fn time<'a>(r: &mut Reader<'a>, tag: Tag, kind: TimeType) -> Result<Text<'a>> {
    let header = header(r, tag)?;
    let at = r.offset();
    let contents = r.contents(&header)?;
    match crate::ber::decode_time(kind, contents, at, r.rules()) {
        Ok(text) => Ok(text.into()),
        Err(fault) => keep(r, kind.tag(), contents, fault, &latin1(contents)),
    }
}

/// REAL (8.5).
///
/// # Errors
/// As [`Reader::real`].
pub fn real<'a>(r: &mut Reader<'a>, tag: Tag) -> Result<ExactReal<'a>> {
    any_element(r, tag, |r, header| {
        let at = r.offset();
        ExactReal::new(r.contents(header)?, at, r.rules())
    })
}

/// REAL (8.5) as the nearest `f64`.
///
/// # Errors
/// As [`Reader::real`].
pub fn float(r: &mut Reader<'_>, tag: Tag) -> Result<f64> {
    any_element(r, tag, |r, header| r.real(header).map(|real| real.to_f64()))
}

/// A complete element: an open type that nothing is known of, or one that an extensible type does not know.
///
/// # Errors
/// [`ErrorKind::MissingComponent`] at the end of the level, else as [`Reader::element`].
#[inline]
pub fn any<'a>(r: &mut Reader<'a>) -> Result<Octets<'a>> {
    any_slice(r).map(Octets::borrowed)
}

/// The same as a slice.
///
/// # Errors
/// As [`any`].
#[inline]
pub fn any_slice<'a>(r: &mut Reader<'a>) -> Result<&'a [u8]> {
    match r.short_element() {
        Some(element) => Ok(element),
        None => any_long(r),
    }
}

#[inline(never)]
fn any_long<'a>(r: &mut Reader<'a>) -> Result<&'a [u8]> {
    let Some(header) = r.next_header()? else { return Err(missing(r)) };
    r.skip_checked(&header)
}

/// An alternative of a later version.
///
/// # Errors
/// As [`any`].
pub fn unknown_alternative<'a>(r: &mut Reader<'a>) -> Result<UnknownAlternative<'a>> {
    Ok(UnknownAlternative { addition: None, octets: any(r)? })
}

/// The components of a SEQUENCE that have to be there, by their positions from 1 on.
pub type Required<'r> = &'r [(u32, &'static str)];

/// That elements come in the order of a SEQUENCE: each position only once, none behind a later one, and none before `least`,
/// the last of those before it that have to be there.
///
/// # Errors
/// [`ErrorKind::UnexpectedElement`], [`ErrorKind::MissingComponent`], and a fault in the element's header.
#[inline]
pub fn in_order(
    last: &mut u32,
    (position, component): (u32, &'static str),
    least: u32,
    required: Required<'_>,
    r: &mut Reader<'_>,
) -> Result<()> {
    if position <= *last || *last < least {
        return Err(out_of_order(*last, (position, component), required, r));
    }
    *last = at_position(position);
    Ok(())
}

/// A position that the compiler takes for an unknown number. With link-time optimisation it would keep, for each arm of
/// the loop over the elements, a flag of how the last position compares with that arm's: a hundred stores an element in a
/// SET of a hundred components.
#[inline(always)]
#[must_use]
pub fn at_position(position: u32) -> u32 {
    core::hint::black_box(position)
}

#[cold]
#[inline(never)]
fn out_of_order(
    last: u32,
    (position, component): (u32, &'static str),
    required: Required<'_>,
    r: &mut Reader<'_>,
) -> Error {
    let fault = r.peek_header().err();
    let absent = required.iter().find(|(number, _)| *number > last && *number < position);
    let (component, kind) = match absent {
        _ if fault.is_some() => (if position > last { component } else { "" }, ErrorKind::UnexpectedElement),
        Some((_, absent)) => (*absent, ErrorKind::MissingComponent),
        None => (component, ErrorKind::UnexpectedElement),
    };
    r.inside(component);
    fault.unwrap_or_else(|| r.error(kind))
}

/// That an element which a SEQUENCE does not know stands where its additions do, behind the component at the position
/// `additions`: nothing that is before that comes behind it.
///
/// # Errors
/// [`ErrorKind::MissingComponent`], [`ErrorKind::UnexpectedElement`], and a fault in the element's header.
#[cold]
#[inline(never)]
pub fn in_additions(
    last: &mut u32,
    additions: u32,
    required: Required<'_>,
    r: &mut Reader<'_>,
) -> Result<()> {
    r.peek_header()?;
    let is_late = *last > additions;
    let absent = required.iter().find(|(number, _)| *number > *last && (is_late || *number <= additions));
    if let Some((_, absent)) = absent {
        r.inside(absent);
        return Err(r.error(ErrorKind::MissingComponent));
    }
    if is_late {
        return Err(r.error(ErrorKind::UnexpectedElement));
    }
    *last = additions;
    Ok(())
}

/// The tag by which an untagged CHOICE stands in a SET: the least of its alternatives in CER (9.3), in DER that of the
/// chosen one (10.3).
#[inline]
#[must_use]
pub fn set_key(tag: Tag, least: Tag, r: &Reader<'_>) -> Tag {
    if r.rules() == Rules::Cer { least } else { tag }
}

/// That an element of a SET comes once, and in DER and CER in the order of the tags.
///
/// # Errors
/// [`ErrorKind::DuplicateComponent`], [`ErrorKind::SetOrder`], and a fault in the element's header.
#[inline]
pub fn in_set(
    present: bool,
    last: &mut u32,
    tag: Tag,
    component: &'static str,
    r: &mut Reader<'_>,
) -> Result<()> {
    if present || (r.rules() != Rules::Ber && is_before(last, tag)) {
        return Err(not_in_set(present, component, r));
    }
    Ok(())
}

/// Whether a tag is below the last one, which it becomes. It is a call, so that BER keeps no last tag: see [`at_position`].
#[inline(never)]
fn is_before(last: &mut u32, tag: Tag) -> bool {
    let before = tag.bits() < *last;
    *last = tag.bits();
    before
}

#[cold]
#[inline(never)]
fn not_in_set(present: bool, component: &'static str, r: &mut Reader<'_>) -> Error {
    r.inside(component);
    let kind = if present { ErrorKind::DuplicateComponent } else { ErrorKind::SetOrder };
    r.peek_header().err().unwrap_or_else(|| r.error(kind))
}

/// A component, which begins at `start`, must be left out in DER and CER if it equals its DEFAULT (11.5).
///
/// # Errors
/// [`ErrorKind::DefaultEncoded`].
#[inline]
pub fn not_default(equal: bool, start: usize, r: &mut Reader<'_>) -> Result<()> {
    if equal && r.rules() != Rules::Ber { Err(default_encoded(start, r)) } else { Ok(()) }
}

#[cold]
#[inline(never)]
fn default_encoded(start: usize, r: &mut Reader<'_>) -> Error {
    r.rewind(start);
    r.error(ErrorKind::DefaultEncoded)
}

/// A character string with its header.
///
/// # Errors
/// As [`Writer::text`].
#[inline]
pub fn write_text(w: &mut Writer, tag: Tag, kind: StringKind, text: &Text<'_>) -> Result<()> {
    let octets = text.as_bytes();
    if kind.is_plain(octets) {
        w.octet_string(tag, octets);
        return Ok(());
    }
    match text.marked() {
        Some(marked) => write_marked(w, tag, kind.tag(), marked),
        None => w.text(tag, kind, text),
    }
}

/// Writes contents octets that break the rules of their type as they came, if BER is written and the type is the same.
#[cold]
#[inline(never)]
fn write_marked(w: &mut Writer, tag: Tag, own: Tag, marked: &MarkedText) -> Result<()> {
    if w.rules() != Rules::Ber || marked.tag() != own {
        return Err(Error::new(marked.kind(), 0));
    }
    w.octet_string(tag, marked.octets());
    Ok(())
}

/// BIT STRING of a fixed size with its header.
pub fn write_fixed_bits<const N: u32>(w: &mut Writer, tag: Tag, bits: FixedBits<N>) {
    let (octets, used) = bits.to_octets();
    let end = w.mark();
    w.push(octets.get(..used).unwrap_or_default());
    w.push_octet((8 - (N % 8)).to_be_bytes()[3] % 8);
    w.primitive(tag, end);
}

/// BIT STRING with named bits: without trailing zero bits in DER and CER (11.2.2).
pub fn write_named_bits(w: &mut Writer, tag: Tag, bits: &BitString<'_>) {
    write_named_bits_slice(w, tag, bits.as_bits());
}

/// BIT STRING with named bits of a fixed size; see [`write_named_bits`].
pub fn write_fixed_named_bits<const N: u32>(w: &mut Writer, tag: Tag, bits: FixedBits<N>) {
    write_named_bits(w, tag, &super::per::bits_of_fixed(bits));
}

/// REAL (8.5) as it came, in DER and CER in the normal form (11.3).
pub fn write_real(w: &mut Writer, tag: Tag, value: &ExactReal<'_>) {
    if w.rules() == Rules::Ber {
        w.raw(tag, value.as_bytes());
    } else {
        w.raw(tag, &value.normal());
    }
}

/// UTCTime (8.25) from its text.
///
/// # Errors
/// As [`Writer::utc_time`].
pub fn write_utc_time(w: &mut Writer, tag: Tag, text: &Text<'_>) -> Result<()> {
    if let Some(marked) = text.marked() {
        return write_marked(w, tag, Tag::UTC_TIME, marked);
    }
    crate::ber::decode_utc_time(text.as_bytes(), 0, w.rules())?;
    w.octet_string(tag, text.as_bytes());
    Ok(())
}

/// GeneralizedTime (8.25) from its text.
///
/// # Errors
/// As [`Writer::generalized_time`].
pub fn write_generalized_time(w: &mut Writer, tag: Tag, text: &Text<'_>) -> Result<()> {
    match text.marked() {
        Some(marked) => write_marked(w, tag, Tag::GENERALIZED_TIME, marked),
        None => w.generalized_time(tag, text),
    }
}

/// TIME or a useful time type (8.26) from the text of its value notation.
///
/// # Errors
/// As [`Writer::time`].
pub fn write_time(w: &mut Writer, tag: Tag, kind: TimeType, text: &Text<'_>) -> Result<()> {
    match text.marked() {
        Some(marked) => write_marked(w, tag, kind.tag(), marked),
        None => w.time(tag, kind, text),
    }
}

/// A complete element that stands for an open type.
///
/// # Errors
/// [`ErrorKind::ValueMismatch`] for no octets.
pub fn write_any(w: &mut Writer, octets: &[u8]) -> Result<()> {
    if octets.is_empty() {
        return Err(Error::new(ErrorKind::ValueMismatch, 0));
    }
    w.push(octets);
    Ok(())
}
