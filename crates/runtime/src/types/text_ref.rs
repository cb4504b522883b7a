//! Character strings and times that stand in other memory.

use super::Text;
use core::fmt;
use core::ops::Deref;

/// A borrowed character string (X.680 clause 41) or time in UTF-8: 16 octets of memory.
///
/// ```
/// use tercet_runtime::types::TextRef;
/// let name = TextRef::from("John");
/// assert_eq!(name, "John");
/// assert_eq!(name.as_str().len(), 4);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TextRef<'a>(
    /// Known to be UTF-8; looked at again when the text is asked for.
    &'a [u8],
);

impl<'a> TextRef<'a> {
    /// Borrows text.
    #[inline]
    #[must_use]
    pub const fn new(text: &'a str) -> Self {
        Self(text.as_bytes())
    }

    /// Borrows octets that are known to be characters below 128.
    #[inline]
    pub(crate) const fn ascii(octets: &'a [u8]) -> Self {
        Self(octets)
    }

    /// The text.
    #[inline]
    #[must_use]
    pub fn as_str(self) -> &'a str {
        core::str::from_utf8(self.0).unwrap_or_default()
    }

    /// The octets of the text in UTF-8.
    #[inline]
    #[must_use]
    pub const fn as_bytes(self) -> &'a [u8] {
        self.0
    }
}

impl Default for TextRef<'_> {
    fn default() -> Self {
        Self::new("")
    }
}

impl Deref for TextRef<'_> {
    type Target = str;
    #[inline]
    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl AsRef<str> for TextRef<'_> {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

impl<'a> From<&'a str> for TextRef<'a> {
    #[inline]
    fn from(text: &'a str) -> Self {
        Self::new(text)
    }
}

impl<'a> From<TextRef<'a>> for Text<'a> {
    fn from(text: TextRef<'a>) -> Self {
        Self::borrowed(text.as_str())
    }
}

impl PartialEq<str> for TextRef<'_> {
    fn eq(&self, other: &str) -> bool {
        self.0 == other.as_bytes()
    }
}

impl PartialEq<&str> for TextRef<'_> {
    fn eq(&self, other: &&str) -> bool {
        self.0 == other.as_bytes()
    }
}

impl fmt::Display for TextRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self.as_str(), f)
    }
}

impl fmt::Debug for TextRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}
