//! Character string types (X.680 clause 41) and their conversion to and from UTF-8.
//!
//! Every string type converts without loss.  TeletexString, VideotexString, GraphicString and GeneralString
//! switch their character sets with escape sequences that hardly any sender means; they are taken octet for
//! octet as ISO 8859-1, as most tools do, so that what was read is written again.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;

use crate::{Error, ErrorKind, Result, Tag};

/// A character string type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum StringKind {
    /// UTF8String.
    Utf8 = 12,
    /// NumericString: digits and space.
    Numeric = 18,
    /// PrintableString: letters, digits, space and `'()+,-./:=?`.
    Printable = 19,
    /// TeletexString (T61String), as ISO 8859-1.
    Teletex = 20,
    /// VideotexString, as ISO 8859-1.
    Videotex = 21,
    /// IA5String: ASCII.
    Ia5 = 22,
    /// GraphicString and ObjectDescriptor, as ISO 8859-1.
    Graphic = 25,
    /// VisibleString (ISO646String): printing ASCII.
    Visible = 26,
    /// GeneralString, as ISO 8859-1.
    General = 27,
    /// UniversalString: four octets a character.
    Universal = 28,
    /// BMPString: two octets a character; pairs of surrogates are read as the character they stand for.
    Bmp = 30,
    /// OID-IRI: UTF-8 with arcs after slashes (X.680 34).
    OidIri = 35,
    /// RELATIVE-OID-IRI: as OID-IRI without the first slash (X.680 35).
    RelativeOidIri = 36,
}

impl StringKind {
    /// All kinds.
    pub const ALL: &[Self] = &[
        Self::Utf8,
        Self::Numeric,
        Self::Printable,
        Self::Teletex,
        Self::Videotex,
        Self::Ia5,
        Self::Graphic,
        Self::Visible,
        Self::General,
        Self::Universal,
        Self::Bmp,
        Self::OidIri,
        Self::RelativeOidIri,
    ];

    /// The universal tag of the type.
    #[must_use]
    pub const fn tag(self) -> Tag {
        Tag::universal(self as u32)
    }

    /// The kind of the type with this universal tag; ObjectDescriptor is a GraphicString.
    #[must_use]
    pub fn from_tag(tag: Tag) -> Option<Self> {
        if tag == Tag::OBJECT_DESCRIPTOR {
            return Some(Self::Graphic);
        }
        Self::ALL.iter().copied().find(|kind| kind.tag() == tag)
    }

    /// Whether an encoding in BER may be constructed (X.690 8.23): not that of OID-IRI and RELATIVE-OID-IRI (8.21, 8.22).
    #[must_use]
    pub const fn may_be_segmented(self) -> bool {
        !matches!(self, Self::OidIri | Self::RelativeOidIri)
    }

    /// Whether the contents octets are the characters in UTF-8.
    #[must_use]
    pub const fn is_utf8(self) -> bool {
        matches!(self, Self::Utf8 | Self::Numeric | Self::Printable | Self::Ia5 | Self::Visible)
    }

    /// Whether octets are characters of the type that are all below 128; `false` if that takes longer to say.
    #[inline]
    pub(crate) fn is_plain(self, octets: &[u8]) -> bool {
        match self {
            Self::Utf8 => octets.is_ascii(),
            Self::Ia5 => octets.is_ascii(),
            Self::Numeric | Self::Printable | Self::Visible => {
                octets.iter().fold(true, |plain, octet| plain & self.allows(*octet))
            }
            _ => false,
        }
    }

    /// Whether an octet is one of the characters, for the types with one octet a character.
    #[inline]
    #[must_use]
    pub const fn allows(self, octet: u8) -> bool {
        match self {
            Self::Numeric => matches!(octet, b'0'..=b'9' | b' '),
            Self::Printable => matches!(octet,
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b' ' | b'\'' | b'(' | b')' | b'+'..=b'/' | b':' | b'='
                | b'?'),
            Self::Ia5 => octet < 0x80,
            Self::Visible => matches!(octet, 0x20..=0x7E),
            _ => true,
        }
    }
}

/// Checks octets without converting them.
///
/// # Errors
/// As [`to_utf8`].
pub fn check(kind: StringKind, octets: &[u8], at: u64) -> Result<()> {
    let fault = |error, index: usize| Err(Error::new(error, at.saturating_add(index as u64)));
    match kind {
        StringKind::Utf8 | StringKind::OidIri | StringKind::RelativeOidIri => {
            let text = utf8(octets, at)?;
            match kind {
                StringKind::OidIri => check_iri(text, true, at),
                StringKind::RelativeOidIri => check_iri(text, false, at),
                _ => Ok(()),
            }
        }
        StringKind::Bmp => {
            let units = octets.chunks_exact(2);
            if !units.remainder().is_empty() {
                return fault(ErrorKind::CharacterTruncated, octets.len());
            }
            let mut pos = 0;
            for unit in char::decode_utf16(units.map(unit)) {
                match unit {
                    Ok(c) => pos += 2 * c.len_utf16(),
                    Err(_) => return fault(ErrorKind::CharacterInvalid, pos),
                }
            }
            Ok(())
        }
        StringKind::Universal => {
            let units = octets.chunks_exact(4);
            if !units.remainder().is_empty() {
                return fault(ErrorKind::CharacterTruncated, octets.len());
            }
            match units.map(scalar).position(|c| c.is_none()) {
                Some(index) => fault(ErrorKind::CharacterInvalid, 4 * index),
                None => Ok(()),
            }
        }
        _ => match octets.iter().position(|octet| !kind.allows(*octet)) {
            Some(index) => fault(ErrorKind::CharacterInvalid, index),
            None => Ok(()),
        },
    }
}

/// The text of a string type's contents octets, borrowed where they are UTF-8 as they stand.
///
/// # Errors
/// [`ErrorKind::CharacterInvalid`] at the first octet of a character that is not the type's,
/// [`ErrorKind::CharacterTruncated`], [`ErrorKind::Utf8Invalid`], [`ErrorKind::OidIriSyntax`].
///
/// ```
/// use tercet_runtime::text::{to_utf8, StringKind};
/// assert_eq!(to_utf8(StringKind::Bmp, &[0x00, 0xE9], 0)?, "é");
/// assert_eq!(to_utf8(StringKind::Teletex, &[0xE9], 0)?, "é");
/// assert!(to_utf8(StringKind::Numeric, b"1-2", 0).is_err());
/// # Ok::<(), tercet_runtime::Error>(())
/// ```
pub fn to_utf8(kind: StringKind, octets: &[u8], at: u64) -> Result<Cow<'_, str>> {
    check(kind, octets, at)?;
    Ok(match kind {
        StringKind::Bmp => {
            let units = octets.chunks_exact(2).map(unit);
            Cow::Owned(char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect())
        }
        StringKind::Universal => Cow::Owned(octets.chunks_exact(4).filter_map(scalar).collect()),
        StringKind::Teletex | StringKind::Videotex | StringKind::Graphic | StringKind::General => {
            latin1(octets)
        }
        _ => Cow::Borrowed(utf8(octets, at)?),
    })
}

/// Shows contents octets that may break the rules of their string type, as far as they have characters.
///
/// Octets that are of the type give the text of [`to_utf8`]. Else each octet of a type with one octet a character is the
/// character of that number, and what is no character of the other types is U+FFFD.
///
/// ```
/// use tercet_runtime::text::{to_utf8_lossy, StringKind};
/// assert_eq!(to_utf8_lossy(StringKind::Printable, b"a*@"), "a*@");
/// assert_eq!(to_utf8_lossy(StringKind::Ia5, b"Caf\xE9"), "Café");
/// assert_eq!(to_utf8_lossy(StringKind::Utf8, b"Caf\xE9"), "Caf\u{FFFD}");
/// assert_eq!(to_utf8_lossy(StringKind::Bmp, b"\x00C\x00"), "C\u{FFFD}");
/// ```
#[must_use]
pub fn to_utf8_lossy(kind: StringKind, octets: &[u8]) -> Cow<'_, str> {
    let replaced = char::REPLACEMENT_CHARACTER;
    match kind {
        StringKind::Utf8 | StringKind::OidIri | StringKind::RelativeOidIri => String::from_utf8_lossy(octets),
        StringKind::Bmp => {
            let units = octets.chunks_exact(2);
            let cut = (!units.remainder().is_empty()).then_some(replaced);
            let characters = char::decode_utf16(units.map(unit)).map(|c| c.unwrap_or(replaced));
            Cow::Owned(characters.chain(cut).collect())
        }
        // A cut character has no scalar value either.
        StringKind::Universal => {
            Cow::Owned(octets.chunks(4).map(|octets| scalar(octets).unwrap_or(replaced)).collect())
        }
        _ => latin1(octets),
    }
}

/// Shows each octet as the character of that number, as ISO 8859-1 does.
#[must_use]
pub fn latin1(octets: &[u8]) -> Cow<'_, str> {
    match core::str::from_utf8(octets) {
        Ok(text) if text.is_ascii() => Cow::Borrowed(text),
        _ => Cow::Owned(octets.iter().map(|octet| char::from(*octet)).collect()),
    }
}

/// The contents octets of a string type for a text: the way back from [`to_utf8`].
///
/// # Errors
/// [`ErrorKind::CharacterInvalid`] with the octet offset in `text` of a character that the type does not have;
/// [`ErrorKind::OidIriSyntax`].
pub fn from_utf8(kind: StringKind, text: &str) -> Result<Cow<'_, [u8]>> {
    let fault = |index: usize| Error::new(ErrorKind::CharacterInvalid, index as u64);
    match kind {
        StringKind::Bmp => Ok(Cow::Owned(text.encode_utf16().flat_map(u16::to_be_bytes).collect())),
        StringKind::Universal => {
            Ok(Cow::Owned(text.chars().flat_map(|c| u32::from(c).to_be_bytes()).collect()))
        }
        StringKind::Teletex | StringKind::Videotex | StringKind::Graphic | StringKind::General
            if !text.is_ascii() =>
        {
            let octet = |(i, c): (usize, char)| u8::try_from(u32::from(c)).map_err(|_| fault(i));
            text.char_indices().map(octet).collect::<Result<Vec<u8>>>().map(Cow::Owned)
        }
        _ => {
            check(kind, text.as_bytes(), 0)?;
            Ok(Cow::Borrowed(text.as_bytes()))
        }
    }
}

fn utf8(octets: &[u8], at: u64) -> Result<&str> {
    core::str::from_utf8(octets)
        .map_err(|e| Error::new(ErrorKind::Utf8Invalid, at.saturating_add(e.valid_up_to() as u64)))
}

fn unit(octets: &[u8]) -> u16 {
    octets.first_chunk().map_or(0, |unit| u16::from_be_bytes(*unit))
}

fn scalar(octets: &[u8]) -> Option<char> {
    octets.first_chunk().and_then(|unit| char::from_u32(u32::from_be_bytes(*unit)))
}

/// Arcs between slashes: integers without leading zeros, or labels of unreserved characters (X.660 7.5).
fn check_iri(text: &str, absolute: bool, at: u64) -> Result<()> {
    let fault = |index: usize| Err(Error::new(ErrorKind::OidIriSyntax, at.saturating_add(index as u64)));
    let mut pos = 0;
    let mut rest = text;
    if absolute {
        let Some(arcs) = text.strip_prefix('/') else { return fault(0) };
        rest = arcs;
        pos = 1;
    }
    for arc in rest.split('/') {
        let number = arc.bytes().all(|b| b.is_ascii_digit());
        let label =
            |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_' | '~') || c >= '\u{A0}';
        let bad = arc.is_empty()
            || (number && arc.len() > 1 && arc.starts_with('0'))
            || arc.starts_with('-')
            || arc.ends_with('-')
            || !arc.chars().all(label);
        if bad {
            return fault(pos);
        }
        pos += arc.len() + 1;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn converts_both_ways() {
        for (kind, octets, text) in [
            (StringKind::Utf8, "é\u{0}😀".as_bytes(), "é\u{0}😀"),
            (StringKind::Numeric, b"0 9", "0 9"),
            (StringKind::Printable, b"Az09 '()+,-./:=?", "Az09 '()+,-./:=?"),
            (StringKind::Ia5, b"\x00\x7F", "\u{0}\u{7F}"),
            (StringKind::Visible, b" ~", " ~"),
            (StringKind::Teletex, b"\xE9\x1B(", "é\u{1B}("),
            (StringKind::General, b"\xFF", "ÿ"),
            (StringKind::Graphic, b"a", "a"),
            (StringKind::Bmp, &[0x20, 0xAC, 0xD8, 0x3D, 0xDE, 0x00], "€😀"),
            (StringKind::Universal, &[0x00, 0x01, 0xF6, 0x00], "😀"),
            (
                StringKind::OidIri,
                b"/ISO/Registration-Authority/19785.CBEFF",
                "/ISO/Registration-Authority/19785.CBEFF",
            ),
            (StringKind::RelativeOidIri, b"2/10", "2/10"),
        ] {
            assert_eq!(to_utf8(kind, octets, 0).unwrap(), text, "{kind:?}");
            assert_eq!(*from_utf8(kind, text).unwrap(), *octets, "{kind:?}");
            assert_eq!(StringKind::from_tag(kind.tag()), Some(kind));
        }
    }

    #[test]
    fn what_breaks_its_type_is_shown_as_far_as_it_has_characters() {
        for (kind, octets, text) in [
            (StringKind::Numeric, &b"12#"[..], "12#"),
            (StringKind::Visible, b"a\x00\xFF", "a\u{0}ÿ"),
            (StringKind::Utf8, b"a\xFFb", "a\u{FFFD}b"),
            (StringKind::Utf8, "é".as_bytes(), "é"),
            (StringKind::Bmp, b"\x00a\xD8\x00\x00b", "a\u{FFFD}b"),
            (StringKind::Bmp, b"\x00a\x00", "a\u{FFFD}"),
            (StringKind::Universal, b"\x00\x00\x00a\x00\x00\xD8\x00\x00", "a\u{FFFD}\u{FFFD}"),
            (StringKind::OidIri, b"ISO", "ISO"),
        ] {
            assert_eq!(to_utf8_lossy(kind, octets), text, "{kind:?} {octets:02x?}");
        }
        for kind in StringKind::ALL {
            for octets in [&b"/1"[..], b"12", b"\x00\x00\x00a", "é".as_bytes()] {
                if let Ok(text) = to_utf8(*kind, octets, 0) {
                    assert_eq!(to_utf8_lossy(*kind, octets), text, "{kind:?} {octets:02x?}");
                }
            }
        }
    }

    #[test]
    fn refuses() {
        use ErrorKind::*;
        for (kind, octets, error, at) in [
            (StringKind::Numeric, &b"1-2"[..], CharacterInvalid, 1),
            (StringKind::Printable, b"a@b", CharacterInvalid, 1),
            (StringKind::Printable, b"a*b", CharacterInvalid, 1),
            (StringKind::Ia5, b"\x80", CharacterInvalid, 0),
            (StringKind::Visible, b"a\x7F", CharacterInvalid, 1),
            (StringKind::Visible, b"\x1F", CharacterInvalid, 0),
            (StringKind::Utf8, b"a\xC0\x80", Utf8Invalid, 1),
            (StringKind::Utf8, b"\xED\xA0\x80", Utf8Invalid, 0),
            (StringKind::Utf8, b"\xF4\x90\x80\x80", Utf8Invalid, 0),
            (StringKind::Utf8, b"ab\xC3", Utf8Invalid, 2),
            (StringKind::Bmp, b"\x00a\x00", CharacterTruncated, 3),
            (StringKind::Bmp, b"\x00a\xD8\x00", CharacterInvalid, 2),
            (StringKind::Universal, b"\x00\x00\x00", CharacterTruncated, 3),
            (StringKind::Universal, b"\x00\x00\xD8\x00", CharacterInvalid, 0),
            (StringKind::Universal, b"\x00\x00\x00a\x00\x11\x00\x00", CharacterInvalid, 4),
            (StringKind::OidIri, b"ISO", OidIriSyntax, 0),
            (StringKind::OidIri, b"/ISO//x", OidIriSyntax, 5),
            (StringKind::OidIri, b"/ISO/01", OidIriSyntax, 5),
            (StringKind::RelativeOidIri, b"", OidIriSyntax, 0),
        ] {
            let e = to_utf8(kind, octets, 10).unwrap_err();
            assert_eq!((e.kind(), e.at()), (error, 10 + at), "{kind:?} {octets:02x?}");
        }
        assert_eq!(from_utf8(StringKind::Teletex, "é€").unwrap_err().at(), 2);
        assert!(from_utf8(StringKind::Numeric, "x").is_err());
    }
}
