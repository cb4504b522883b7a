//! Octets and text that borrow from the input where they can and are kept in place where they are short.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::cmp::Ordering;
use core::fmt;
use core::hash::{Hash, Hasher};
use core::ops::Deref;

use crate::{Error, ErrorKind, Result, Tag};

/// The most octets that are kept in place.
pub(crate) const INLINE: usize = 22;

/// An OCTET STRING (X.680 clause 23), or octets that nothing more is known of: 24 octets of memory.
///
/// ```
/// use tercet_runtime::types::Octets;
/// let borrowed = Octets::from(&[1, 2, 3]);
/// assert_eq!(borrowed, Octets::copied(&[1, 2, 3]));
/// assert_eq!(borrowed.len(), 3);
/// assert_eq!(borrowed.to_string(), "'010203'H");
/// ```
#[derive(Clone)]
pub struct Octets<'a>(Kept<'a>);

#[derive(Clone)]
enum Kept<'a> {
    Borrowed(&'a [u8]),
    Inline(u8, [u8; INLINE]),
    Owned(Box<[u8]>),
}

const _: () = assert!(size_of::<Octets<'_>>() == 24);

impl<'a> Octets<'a> {
    /// Borrows octets.
    #[inline]
    #[must_use]
    pub const fn borrowed(octets: &'a [u8]) -> Self {
        Self(Kept::Borrowed(octets))
    }

    /// Copies octets: up to 22 in place, more into memory of their own.
    #[must_use]
    pub fn copied(octets: &[u8]) -> Octets<'static> {
        let mut kept = [0; INLINE];
        match (kept.get_mut(..octets.len()), u8::try_from(octets.len())) {
            (Some(room), Ok(length)) => {
                room.copy_from_slice(octets);
                Octets(Kept::Inline(length, kept))
            }
            _ => Octets(Kept::Owned(octets.into())),
        }
    }

    /// So many octets of these.
    #[inline]
    pub(crate) fn inline(length: usize, kept: [u8; INLINE]) -> Self {
        Self(Kept::Inline(length.min(INLINE).to_be_bytes()[size_of::<usize>() - 1], kept))
    }

    /// The octets.
    #[inline]
    #[must_use]
    pub fn as_slice(&self) -> &[u8] {
        match &self.0 {
            Kept::Borrowed(octets) => octets,
            Kept::Inline(length, kept) => kept.get(..usize::from(*length)).unwrap_or_default(),
            Kept::Owned(octets) => octets,
        }
    }

    /// The octets for as long as the input lives, if they are borrowed from it.
    #[inline]
    #[must_use]
    pub const fn as_borrowed(&self) -> Option<&'a [u8]> {
        match self.0 {
            Kept::Borrowed(octets) => Some(octets),
            _ => None,
        }
    }

    /// The same value without a borrow.
    #[must_use]
    pub fn into_owned(self) -> Octets<'static> {
        match self.0 {
            Kept::Borrowed(octets) => Octets::copied(octets),
            Kept::Inline(length, kept) => Octets(Kept::Inline(length, kept)),
            Kept::Owned(octets) => Octets(Kept::Owned(octets)),
        }
    }
}

impl Default for Octets<'_> {
    fn default() -> Self {
        Self::borrowed(&[])
    }
}

impl Deref for Octets<'_> {
    type Target = [u8];
    #[inline]
    fn deref(&self) -> &[u8] {
        self.as_slice()
    }
}

impl AsRef<[u8]> for Octets<'_> {
    fn as_ref(&self) -> &[u8] {
        self.as_slice()
    }
}

impl<'a> From<&'a [u8]> for Octets<'a> {
    fn from(octets: &'a [u8]) -> Self {
        Self::borrowed(octets)
    }
}

impl<'a, const N: usize> From<&'a [u8; N]> for Octets<'a> {
    fn from(octets: &'a [u8; N]) -> Self {
        Self::borrowed(octets)
    }
}

impl From<Vec<u8>> for Octets<'_> {
    fn from(octets: Vec<u8>) -> Self {
        if octets.len() <= INLINE { Octets::copied(&octets) } else { Self(Kept::Owned(octets.into())) }
    }
}

impl<'a> From<alloc::borrow::Cow<'a, [u8]>> for Octets<'a> {
    #[inline]
    fn from(octets: alloc::borrow::Cow<'a, [u8]>) -> Self {
        match octets {
            alloc::borrow::Cow::Borrowed(octets) => Self::borrowed(octets),
            alloc::borrow::Cow::Owned(octets) => octets.into(),
        }
    }
}

impl PartialEq for Octets<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.as_slice() == other.as_slice()
    }
}

impl Eq for Octets<'_> {}

impl PartialOrd for Octets<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Octets<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_slice().cmp(other.as_slice())
    }
}

impl Hash for Octets<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_slice().hash(state);
    }
}

impl fmt::Display for Octets<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("'")?;
        for octet in self.as_slice() {
            write!(f, "{octet:02X}")?;
        }
        f.write_str("'H")
    }
}

impl fmt::Debug for Octets<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A character string (X.680 clause 41) or time as UTF-8: 24 octets of memory.
///
/// BER keeps contents octets that break the rules of their type ([`Text::marked`]): the text is then what can be shown.
///
/// ```
/// use tercet_runtime::types::Text;
/// let name = Text::from("John");
/// assert_eq!(&*name, "John");
/// assert_eq!(name.into_owned(), Text::copied("John"));
/// ```
#[derive(Clone)]
pub struct Text<'a>(Said<'a>);

#[derive(Clone)]
enum Said<'a> {
    /// Known to be UTF-8; looked at again when the text is asked for, which costs less than twice for all that is read.
    Borrowed(&'a [u8]),
    Inline(u8, [u8; INLINE]),
    Owned(Box<str>),
    Marked(Box<MarkedText>),
}

const _: () = assert!(size_of::<Text<'_>>() == 24);

/// Contents octets of a character string or time that break the rules of their type, and what is shown of them.
///
/// In BER they are read unless the reader is strict, and written again as they came. All other rules refuse them.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct MarkedText {
    /// The universal tag of the type.
    tag: Tag,
    kind: ErrorKind,
    octets: Box<[u8]>,
    shown: Box<str>,
}

impl MarkedText {
    /// The contents octets as they came.
    #[must_use]
    pub fn octets(&self) -> &[u8] {
        &self.octets
    }

    /// What is wrong with them.
    #[must_use]
    pub const fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The universal tag of their type.
    pub(crate) const fn tag(&self) -> Tag {
        self.tag
    }
}

impl fmt::Debug for MarkedText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MarkedText").field("kind", &self.kind).field("octets", &self.octets).finish()
    }
}

impl<'a> Text<'a> {
    /// No characters.
    pub(crate) const EMPTY: Self = Self::borrowed("");

    /// Borrows text.
    #[inline]
    #[must_use]
    pub const fn borrowed(text: &'a str) -> Self {
        Self(Said::Borrowed(text.as_bytes()))
    }

    /// Borrows octets that are known to be characters below 128.
    #[inline]
    pub(crate) const fn ascii(octets: &'a [u8]) -> Self {
        Self(Said::Borrowed(octets))
    }

    /// Borrows octets if all of them are characters below 128.
    ///
    /// ```
    /// use tercet_runtime::types::Text;
    /// assert_eq!(Text::from_ascii(b"John"), Some(Text::from("John")));
    /// assert_eq!(Text::from_ascii("é".as_bytes()), None);
    /// ```
    #[inline]
    #[must_use]
    pub fn from_ascii(octets: &'a [u8]) -> Option<Self> {
        octets.is_ascii().then(|| Self::ascii(octets))
    }

    /// So many octets of these, known to be characters below 128.
    #[inline]
    pub(crate) fn inline(length: usize, kept: [u8; INLINE]) -> Self {
        Self(Said::Inline(length.min(INLINE).to_be_bytes()[size_of::<usize>() - 1], kept))
    }

    /// Up to sixteen characters below 128, the first the highest octet.
    #[inline(always)]
    pub(crate) fn few(length: usize, first: u64, last: u64) -> Self {
        let mut kept = [0; INLINE];
        if let Some(places) = kept.first_chunk_mut() {
            *places = (u128::from(first) << 64 | u128::from(last)).to_be_bytes();
        }
        Self::inline(length, kept)
    }

    /// Keeps contents octets that break the rules of the type with this universal tag.
    #[cold]
    pub(crate) fn kept(tag: Tag, kind: ErrorKind, octets: &[u8], shown: &str) -> Self {
        Self(Said::Marked(Box::new(MarkedText { tag, kind, octets: octets.into(), shown: shown.into() })))
    }

    /// The contents octets, if they break the rules of their type.
    ///
    /// ```
    /// use tercet_runtime::ErrorKind;
    /// use tercet_runtime::Tag;
    /// use tercet_runtime::codec::ber::{self, Reader, Rules};
    /// use tercet_runtime::text::StringKind;
    /// let mut reader = Reader::new(b"\x13\x03a*@", Rules::Ber);
    /// let text = ber::text(&mut reader, Tag::PRINTABLE_STRING, StringKind::Printable)?;
    /// assert_eq!(text, "a*@");
    /// let marked = text.marked().expect("`*` is not a character of the type");
    /// assert_eq!((marked.octets(), marked.kind()), (&b"a*@"[..], ErrorKind::CharacterInvalid));
    /// # Ok::<(), tercet_runtime::Error>(())
    /// ```
    #[inline]
    #[must_use]
    pub fn marked(&self) -> Option<&MarkedText> {
        match &self.0 {
            Said::Marked(marked) => Some(marked),
            _ => None,
        }
    }

    /// The text of a value for rules that have no place for octets that break their type.
    ///
    /// # Errors
    /// What is wrong with the octets.
    pub(crate) fn unmarked(&self) -> Result<&str> {
        match &self.0 {
            Said::Marked(marked) => Err(Error::new(marked.kind, 0)),
            _ => Ok(self.as_str()),
        }
    }

    /// Copies text: up to 22 octets in place, more into memory of its own.
    #[must_use]
    pub fn copied(text: &str) -> Text<'static> {
        let mut kept = [0; INLINE];
        match (kept.get_mut(..text.len()), u8::try_from(text.len())) {
            (Some(room), Ok(length)) => {
                room.copy_from_slice(text.as_bytes());
                Text(Said::Inline(length, kept))
            }
            _ => Text(Said::Owned(text.into())),
        }
    }

    /// The text.
    #[inline]
    #[must_use]
    pub fn as_str(&self) -> &str {
        match &self.0 {
            Said::Owned(text) => text,
            Said::Marked(marked) => &marked.shown,
            _ => core::str::from_utf8(self.as_bytes()).unwrap_or_default(),
        }
    }

    /// The octets of the text in UTF-8.
    #[inline]
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        match &self.0 {
            Said::Borrowed(octets) => octets,
            Said::Inline(length, kept) => kept.get(..usize::from(*length)).unwrap_or_default(),
            _ => self.out_of_line().as_bytes(),
        }
    }

    /// The text of the kinds with memory of their own: apart, so that the common ones take two comparisons.
    #[cold]
    #[inline(never)]
    fn out_of_line(&self) -> &str {
        match &self.0 {
            Said::Owned(text) => text,
            Said::Marked(marked) => &marked.shown,
            Said::Borrowed(_) | Said::Inline(..) => "",
        }
    }

    /// The octets of the text in UTF-8 for as long as the input lives, if they are borrowed from it.
    #[inline]
    #[must_use]
    pub const fn as_borrowed(&self) -> Option<&'a [u8]> {
        match self.0 {
            Said::Borrowed(octets) => Some(octets),
            _ => None,
        }
    }

    /// The same value without a borrow.
    #[must_use]
    pub fn into_owned(self) -> Text<'static> {
        match self.0 {
            Said::Borrowed(_) => Text::copied(self.as_str()),
            Said::Inline(length, kept) => Text(Said::Inline(length, kept)),
            Said::Owned(text) => Text(Said::Owned(text)),
            Said::Marked(marked) => Text(Said::Marked(marked)),
        }
    }
}

impl Default for Text<'_> {
    fn default() -> Self {
        Self::borrowed("")
    }
}

impl Deref for Text<'_> {
    type Target = str;
    #[inline]
    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl AsRef<str> for Text<'_> {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

impl<'a> From<&'a str> for Text<'a> {
    fn from(text: &'a str) -> Self {
        Self::borrowed(text)
    }
}

impl From<String> for Text<'_> {
    fn from(text: String) -> Self {
        if text.len() <= INLINE { Text::copied(&text) } else { Self(Said::Owned(text.into())) }
    }
}

impl<'a> From<alloc::borrow::Cow<'a, str>> for Text<'a> {
    #[inline]
    fn from(text: alloc::borrow::Cow<'a, str>) -> Self {
        match text {
            alloc::borrow::Cow::Borrowed(text) => Self::borrowed(text),
            alloc::borrow::Cow::Owned(text) => text.into(),
        }
    }
}

impl PartialEq for Text<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.as_bytes() == other.as_bytes() && self.marked() == other.marked()
    }
}

impl PartialEq<str> for Text<'_> {
    fn eq(&self, other: &str) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl PartialEq<&str> for Text<'_> {
    fn eq(&self, other: &&str) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl Eq for Text<'_> {}

impl PartialOrd for Text<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Text<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_bytes().cmp(other.as_bytes()).then_with(|| self.marked().cmp(&other.marked()))
    }
}

impl Hash for Text<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_bytes().hash(state);
    }
}

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_ways_to_keep_are_the_same_value() {
        for length in [0, 1, 21, 22, 23, 100] {
            let octets: Vec<u8> = (0..length).collect();
            let borrowed = Octets::borrowed(&octets);
            assert_eq!(borrowed, Octets::copied(&octets));
            assert_eq!(borrowed, Octets::from(octets.clone()));
            assert_eq!(borrowed.clone().into_owned(), borrowed);
            assert_eq!(borrowed.as_slice(), octets);
            let text: String = octets.iter().map(|octet| char::from(b'a' + octet % 26)).collect();
            assert_eq!(Text::borrowed(&text), Text::copied(&text));
            assert_eq!(Text::from(text.clone()).into_owned().as_str(), text);
        }
    }
}
