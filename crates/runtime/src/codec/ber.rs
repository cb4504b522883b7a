//! BER, DER and CER: what generated code calls beside [`Reader`] and [`Writer`].

pub use crate::ber::{Frame, Header, Mark, Reader, Rules, StringForm, Writer};

use super::Contained;
use crate::text::StringKind;
use crate::types::{BitString, FixedBits, Integer, ObjectIdentifier, Octets, Text, TimeType};
use crate::{Error, ErrorKind, Result, Tag};

/// The header of a component that has to be there.
///
/// # Errors
/// [`ErrorKind::MissingComponent`] at the cursor.
#[inline]
pub fn required(next: Option<Header>, tag: Tag, r: &Reader<'_>) -> Result<Header> {
    match next {
        Some(header) if header.tag == tag => Ok(header),
        other => Err(missing(other, r)),
    }
}

/// That a component is not there where it has to be: `next` is the header just read, if there is one.
#[cold]
#[inline(never)]
pub fn missing(next: Option<Header>, r: &Reader<'_>) -> Error {
    Error::new(ErrorKind::MissingComponent, before(next, r))
}

/// That no component or alternative has the tag of the header just read.
#[cold]
#[inline(never)]
pub fn unexpected(header: &Header, kind: ErrorKind, r: &Reader<'_>) -> Error {
    Error::new(kind, before(Some(*header), r))
}

fn before(next: Option<Header>, r: &Reader<'_>) -> u64 {
    r.offset().saturating_sub(next.map_or(0, |header| u64::from(header.size)))
}

/// The header if it has this tag.
#[inline]
pub fn optional(next: Option<Header>, tag: Tag) -> Option<Header> {
    next.filter(|header| header.tag == tag)
}

/// The last components of a SEQUENCE that is not extensible have been read.
///
/// # Errors
/// [`ErrorKind::UnexpectedElement`].
#[inline]
pub fn end(next: Option<Header>, r: &Reader<'_>) -> Result<()> {
    match next {
        None => Ok(()),
        Some(header) => Err(unexpected(&header, ErrorKind::UnexpectedElement, r)),
    }
}

/// A number in a type that it may be too large for.
///
/// # Errors
/// [`ErrorKind::IntegerRange`].
#[inline]
pub fn narrow<W: Copy, T: TryFrom<W>>(number: W, r: &Reader<'_>) -> Result<T> {
    T::try_from(number).map_err(|_| r.error(ErrorKind::IntegerRange))
}

/// INTEGER of any size (8.3).
///
/// # Errors
/// As [`Reader::big_integer`].
#[inline]
pub fn integer<'a>(r: &mut Reader<'a>, h: &Header) -> Result<Integer<'a>> {
    r.big_integer(h).map(Integer::from_octets)
}

/// OCTET STRING (8.7).
///
/// # Errors
/// As [`Reader::octet_string`].
#[inline]
pub fn octets<'a>(r: &mut Reader<'a>, h: &Header) -> Result<Octets<'a>> {
    if !h.constructed {
        return r.contents(h).map(Octets::borrowed);
    }
    r.octet_string(h).map(Octets::from)
}

/// OCTET STRING of a fixed size.
///
/// # Errors
/// [`ErrorKind::ConstraintViolated`] for another size.
#[inline]
pub fn fixed_octets<const N: usize>(r: &mut Reader<'_>, h: &Header) -> Result<[u8; N]> {
    let octets = octets(r, h)?;
    octets.as_slice().try_into().map_err(|_| r.error(ErrorKind::ConstraintViolated))
}

/// BIT STRING (8.6).
///
/// # Errors
/// As [`Reader::bit_string`].
#[inline]
pub fn bits<'a>(r: &mut Reader<'a>, h: &Header) -> Result<BitString<'a>> {
    r.bit_string(h)
}

/// BIT STRING with named bits: in DER and CER without trailing zero bits, but of `least` bits (11.2.2).
///
/// # Errors
/// [`ErrorKind::BitStringTrailingZero`], else as [`Reader::bit_string`].
pub fn named_bits<'a>(r: &mut Reader<'a>, h: &Header, least: usize) -> Result<BitString<'a>> {
    let at = r.offset();
    let bits = r.bit_string(h)?;
    if r.rules() != Rules::Ber {
        crate::ber::check_named_bits(bits.as_bits(), least, at)?;
    }
    Ok(bits)
}

/// BIT STRING of a fixed size.
///
/// # Errors
/// [`ErrorKind::ConstraintViolated`] for another size.
pub fn fixed_bits<const N: u32>(r: &mut Reader<'_>, h: &Header) -> Result<FixedBits<N>> {
    let bits = r.bit_string(h)?;
    super::per::fixed_of_bits(bits).ok_or_else(|| r.error(ErrorKind::ConstraintViolated))
}

/// OBJECT IDENTIFIER (8.19).
///
/// # Errors
/// As [`Reader::oid`].
#[inline]
pub fn oid<'a>(r: &mut Reader<'a>, h: &Header) -> Result<ObjectIdentifier<'a>> {
    r.oid(h).map(ObjectIdentifier::from)
}

/// RELATIVE-OID (8.20).
///
/// # Errors
/// As [`Reader::relative_oid`].
#[inline]
pub fn relative_oid<'a>(
    r: &mut Reader<'a>,
    h: &Header,
) -> Result<crate::types::RelativeObjectIdentifier<'a>> {
    r.relative_oid(h).map(Into::into)
}

/// A character string (8.23).
///
/// # Errors
/// As [`Reader::text`].
#[inline]
pub fn text<'a>(r: &mut Reader<'a>, h: &Header, kind: StringKind) -> Result<Text<'a>> {
    r.text(h, kind).map(Text::from)
}

/// That an element has the tag of its type.
///
/// # Errors
/// [`ErrorKind::TagMismatch`].
#[inline]
pub fn expect(header: &Header, tag: Tag, r: &Reader<'_>) -> Result<()> {
    if header.tag == tag { Ok(()) } else { Err(unexpected(header, ErrorKind::TagMismatch, r)) }
}

/// What is in an OCTET STRING, or a BIT STRING, with CONTAINING (X.682 §11): its octets if it does not decode.
///
/// # Errors
/// A fault in the string itself.
pub fn contained<'a, T>(
    r: &mut Reader<'a>,
    h: &Header,
    is_bits: bool,
    read: impl FnOnce(&mut Reader<'a>) -> Result<T>,
) -> Result<Contained<'a, T>> {
    let octets: Octets<'a> = if is_bits { r.bit_string(h)?.into_bytes().into() } else { octets(r, h)? };
    if let Some(inside) = octets.as_borrowed() {
        let limits = crate::Limits::DEFAULT.with_depth(r.depth_left());
        let base = r.offset().saturating_sub(inside.len() as u64);
        let mut r = Reader::with_limits(inside, base, r.rules(), &limits);
        if let Ok(value) = read(&mut r)
            && r.finish().is_ok()
        {
            return Ok(Contained::Value(value));
        }
    }
    Ok(Contained::Octets(octets))
}

/// That the elements of a SET OF come in order in DER (11.6): `previous` is the element before.
///
/// # Errors
/// [`ErrorKind::SetOfOrder`].
#[inline]
pub fn set_of_order<'a>(previous: &mut &'a [u8], start: usize, r: &Reader<'a>) -> Result<()> {
    if r.rules() == Rules::Ber {
        return Ok(());
    }
    let element = r.input().get(start..r.position()).unwrap_or_default();
    let before = core::mem::replace(previous, element);
    crate::ber::check_set_of_order(before, element, r.offset().saturating_sub(element.len() as u64))
}

/// UTCTime (8.25) as its text.
///
/// # Errors
/// As [`Reader::utc_time`].
pub fn utc_time<'a>(r: &mut Reader<'a>, h: &Header) -> Result<Text<'a>> {
    let at = r.offset();
    let octets = r.string(h, StringForm::Text(Tag::UTC_TIME))?;
    crate::ber::decode_utc_time(&octets, at, r.rules())?;
    ascii(octets, Error::new(ErrorKind::UtcTimeSyntax, at))
}

/// GeneralizedTime (8.25) as its text.
///
/// # Errors
/// As [`Reader::generalized_time`].
pub fn generalized_time<'a>(r: &mut Reader<'a>, h: &Header) -> Result<Text<'a>> {
    r.generalized_time(h).map(Text::from)
}

fn ascii(octets: alloc::borrow::Cow<'_, [u8]>, fault: Error) -> Result<Text<'_>> {
    match octets {
        alloc::borrow::Cow::Borrowed(octets) => {
            core::str::from_utf8(octets).map(Text::borrowed).map_err(|_| fault)
        }
        alloc::borrow::Cow::Owned(octets) => {
            alloc::string::String::from_utf8(octets).map(Text::from).map_err(|_| fault)
        }
    }
}

/// TIME or a useful time type (8.26) as the text of its value notation.
///
/// # Errors
/// As [`Reader::time`].
pub fn time<'a>(r: &mut Reader<'a>, h: &Header, kind: TimeType) -> Result<Text<'a>> {
    r.time(h, kind).map(Text::from)
}

/// ObjectDescriptor, OID-IRI and the like, whose characters are taken as they are.
///
/// # Errors
/// As [`Reader::string`].
pub fn plain_text<'a>(r: &mut Reader<'a>, h: &Header, tag: Tag) -> Result<Text<'a>> {
    let at = r.offset();
    let octets = r.string(h, StringForm::Text(tag))?;
    ascii(octets, Error::new(ErrorKind::CharacterInvalid, at))
}

/// REAL (8.5) as the nearest `f64`.
///
/// # Errors
/// As [`Reader::real`].
pub fn real(r: &mut Reader<'_>, h: &Header) -> Result<f64> {
    r.real(h).map(|real| real.to_f64())
}

/// The complete element whose header was just read: an open type that nothing is known of.
///
/// # Errors
/// As [`Reader::element`].
#[inline]
pub fn any<'a>(r: &mut Reader<'a>, h: &Header) -> Result<Octets<'a>> {
    let octets = if r.rules() == Rules::Ber { r.element(h)? } else { r.skip_checked(h)? };
    Ok(Octets::borrowed(octets))
}

/// Steps over an element that an extensible type does not know.
///
/// # Errors
/// As [`Reader::skip`].
pub fn skip_unknown(r: &mut Reader<'_>, h: &Header) -> Result<()> {
    any(r, h).map(|_| ())
}

/// That elements come in the order of a SEQUENCE: each position only once, and none behind a later one.
///
/// # Errors
/// [`ErrorKind::UnexpectedElement`].
#[inline]
pub fn in_order(last: &mut u32, position: u32, h: &Header, r: &Reader<'_>) -> Result<()> {
    if position <= *last {
        return Err(unexpected(h, ErrorKind::UnexpectedElement, r));
    }
    *last = position;
    Ok(())
}

/// That an element of a SET comes once, and in DER in the order of the tags.
///
/// # Errors
/// [`ErrorKind::DuplicateComponent`], [`ErrorKind::SetOrder`].
#[inline]
pub fn in_set(present: bool, last: &mut u32, h: &Header, r: &Reader<'_>) -> Result<()> {
    if present {
        return Err(unexpected(h, ErrorKind::DuplicateComponent, r));
    }
    if r.rules() == Rules::Der && h.tag.bits() < *last {
        return Err(unexpected(h, ErrorKind::SetOrder, r));
    }
    *last = h.tag.bits();
    Ok(())
}

/// A component that equals its DEFAULT must be left out in DER and CER (11.5).
///
/// # Errors
/// [`ErrorKind::DefaultEncoded`].
#[inline]
pub fn not_default(equal: bool, r: &Reader<'_>) -> Result<()> {
    if equal && r.rules() != Rules::Ber { Err(r.error(ErrorKind::DefaultEncoded)) } else { Ok(()) }
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
pub fn write_named_bits(w: &mut Writer, tag: Tag, bits: &BitString<'_>, least: usize) {
    let bits = bits.as_bits();
    w.bit_string(tag, if w.rules() == Rules::Ber { bits } else { bits.trimmed(least) });
}

/// UTCTime (8.25) from its text.
///
/// # Errors
/// As [`Writer::utc_time`].
pub fn write_utc_time(w: &mut Writer, tag: Tag, text: &str) -> Result<()> {
    crate::ber::decode_utc_time(text.as_bytes(), 0, w.rules())?;
    w.octet_string(tag, text.as_bytes());
    Ok(())
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
