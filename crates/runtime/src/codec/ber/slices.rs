//! Strings that stay where they are: what generated code calls for types that keep slices of the input.
//!
//! What cannot be a slice is copied where the reader has an arena, and is an error else: a string in segments, which stands in
//! several pieces. So are characters that are not of the type, which other types keep as marked text.

use super::{any_element, begin, contents, element};
use crate::ber::{Header, Reader, Rules, StringForm, Writer};
use crate::text::{StringKind, to_utf8};
use crate::types::{BitStr, IntegerRef, OidRef, RelativeOidRef, TextRef};
use crate::{Error, ErrorKind, Result, Tag};
use alloc::borrow::Cow;

/// The octets of a string if they stand in one piece; `header` was just read.
fn piece<'a>(r: &mut Reader<'a>, header: &Header, form: StringForm) -> Result<&'a [u8]> {
    let at = begin(r, header);
    match r.string(header, form)? {
        Cow::Borrowed(octets) => Ok(octets),
        Cow::Owned(octets) => r.copied(&octets).ok_or_else(|| Error::new(ErrorKind::SegmentedString, at)),
    }
}

/// OCTET STRING (8.7).
///
/// # Errors
/// [`ErrorKind::SegmentedString`], else as [`Reader::octet_string`].
#[inline]
pub fn octets_slice<'a>(r: &mut Reader<'a>, tag: Tag) -> Result<&'a [u8]> {
    element(r, tag, contents::octets_slice, |r, header| piece(r, header, StringForm::Octets))
}

/// BIT STRING (8.6).
///
/// # Errors
/// [`ErrorKind::SegmentedString`], else as [`Reader::bit_string`].
#[inline]
pub fn bits_slice<'a>(r: &mut Reader<'a>, tag: Tag) -> Result<BitStr<'a>> {
    element(r, tag, contents::bits_slice, |r, header| {
        let at = begin(r, header);
        let bits = r.bit_string(header)?;
        let unused = bits.as_bits().unused();
        let octets = bits.into_bytes();
        octets
            .as_borrowed()
            .or_else(|| r.copied(&octets))
            .and_then(|octets| BitStr::new(octets, unused))
            .ok_or_else(|| Error::new(ErrorKind::SegmentedString, at))
    })
}

/// INTEGER of any size (8.3).
///
/// # Errors
/// As [`Reader::big_integer`].
#[inline]
pub fn big_integer_slice<'a>(r: &mut Reader<'a>, tag: Tag) -> Result<IntegerRef<'a>> {
    element(r, tag, contents::big_integer_slice, |r, header| {
        r.big_integer(header).map(IntegerRef::from_octets)
    })
}

/// OBJECT IDENTIFIER (8.19).
///
/// # Errors
/// As [`Reader::oid`].
#[inline]
pub fn oid_slice<'a>(r: &mut Reader<'a>, tag: Tag) -> Result<OidRef<'a>> {
    element(r, tag, contents::oid_slice, Reader::oid)
}

/// RELATIVE-OID (8.20).
///
/// # Errors
/// As [`Reader::relative_oid`].
pub fn relative_oid_slice<'a>(r: &mut Reader<'a>, tag: Tag) -> Result<RelativeOidRef<'a>> {
    any_element(r, tag, Reader::relative_oid)
}

/// A character string (8.23) that is the same in UTF-8.
///
/// # Errors
/// [`ErrorKind::SegmentedString`], else as [`Reader::text`].
#[inline]
pub fn text_slice<'a>(r: &mut Reader<'a>, tag: Tag, kind: StringKind) -> Result<TextRef<'a>> {
    match r.short_primitive(tag, |octets| contents::text_slice(octets, kind)) {
        Some(text) => Ok(text),
        None => any_text_slice(r, tag, kind),
    }
}

#[inline(never)]
fn any_text_slice<'a>(r: &mut Reader<'a>, tag: Tag, kind: StringKind) -> Result<TextRef<'a>> {
    let header = super::header(r, tag)?;
    let (start, at) = (begin(r, &header), r.offset());
    let octets = if kind.may_be_segmented() {
        piece(r, &header, StringForm::Text(kind.tag()))?
    } else {
        r.contents(&header)?
    };
    match to_utf8(kind, octets, at)? {
        Cow::Borrowed(text) => Ok(TextRef::new(text)),
        Cow::Owned(text) => {
            let text = r.copied_text(&text).ok_or_else(|| Error::new(ErrorKind::Unsupported, start))?;
            Ok(TextRef::new(text))
        }
    }
}

/// UTCTime (8.25) as its text.
///
/// # Errors
/// [`ErrorKind::SegmentedString`], else as [`Reader::utc_time`].
#[inline]
pub fn utc_time_slice<'a>(r: &mut Reader<'a>, tag: Tag) -> Result<TextRef<'a>> {
    element(r, tag, contents::utc_time_slice, |r, header| {
        let at = r.offset();
        let octets = piece(r, header, StringForm::Text(Tag::UTC_TIME))?;
        crate::ber::decode_utc_time(octets, at, r.rules())?;
        Ok(TextRef::ascii(octets))
    })
}

/// GeneralizedTime (8.25) as its text.
///
/// # Errors
/// [`ErrorKind::SegmentedString`], else as [`Reader::generalized_time`].
#[inline]
pub fn generalized_time_slice<'a>(r: &mut Reader<'a>, tag: Tag) -> Result<TextRef<'a>> {
    element(r, tag, contents::generalized_time_slice, |r, header| {
        let at = r.offset();
        let octets = piece(r, header, StringForm::Text(Tag::GENERALIZED_TIME))?;
        crate::ber::decode_generalized_time(octets, at, r.rules())?;
        Ok(TextRef::ascii(octets))
    })
}

/// A character string with its header.
///
/// # Errors
/// As [`Writer::text`].
#[inline]
pub fn write_text_slice(w: &mut Writer, tag: Tag, kind: StringKind, text: &TextRef<'_>) -> Result<()> {
    if kind.is_plain(text.as_bytes()) {
        w.octet_string(tag, text.as_bytes());
        return Ok(());
    }
    w.text(tag, kind, text)
}

/// UTCTime (8.25) from its text.
///
/// # Errors
/// As [`Writer::utc_time`].
pub fn write_utc_time_slice(w: &mut Writer, tag: Tag, text: &TextRef<'_>) -> Result<()> {
    crate::ber::decode_utc_time(text.as_bytes(), 0, w.rules())?;
    w.octet_string(tag, text.as_bytes());
    Ok(())
}

/// GeneralizedTime (8.25) from its text.
///
/// # Errors
/// As [`Writer::generalized_time`].
pub fn write_generalized_time_slice(w: &mut Writer, tag: Tag, text: &TextRef<'_>) -> Result<()> {
    w.generalized_time(tag, text)
}

/// BIT STRING with named bits: without trailing zero bits in DER and CER (11.2.2).
pub fn write_named_bits_slice(w: &mut Writer, tag: Tag, bits: BitStr<'_>) {
    w.bit_string(tag, if w.rules() == Rules::Ber { bits } else { bits.trimmed(0) });
}
