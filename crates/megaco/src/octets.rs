//! Names and strings of messages: octets, borrowed from the input where it has them in one piece.

use std::borrow::Cow;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;

/// A string whose octets count as they are: a value, a quoted string, a line of a session description.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Str<'a>(pub Cow<'a, [u8]>);

/// A name, for which upper and lower case are the same (H.248.1 B.2): of a package and what is in it, of a termination, a
/// digit map, a device. It is kept as it was written, and written in lower case.
#[derive(Clone, Default)]
pub struct Name<'a>(pub Cow<'a, [u8]>);

impl<'a> Str<'a> {
    /// The same without a borrow.
    #[must_use]
    pub fn into_owned(self) -> Str<'static> {
        Str(Cow::Owned(self.0.into_owned()))
    }

    /// Borrows octets.
    pub const fn borrowed(octets: &'a [u8]) -> Self {
        Self(Cow::Borrowed(octets))
    }
}

impl<'a> Name<'a> {
    /// Borrows octets.
    pub const fn borrowed(octets: &'a [u8]) -> Self {
        Self(Cow::Borrowed(octets))
    }

    /// The octets in lower case.
    pub fn lower(&self) -> impl Iterator<Item = u8> + '_ {
        self.0.iter().map(u8::to_ascii_lowercase)
    }
}

impl PartialEq for Name<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.0.eq_ignore_ascii_case(&other.0)
    }
}

impl Eq for Name<'_> {}

impl Hash for Name<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        for octet in self.lower() {
            state.write_u8(octet);
        }
    }
}

impl PartialEq<str> for Name<'_> {
    fn eq(&self, other: &str) -> bool {
        self.0.eq_ignore_ascii_case(other.as_bytes())
    }
}

impl PartialEq<&str> for Name<'_> {
    fn eq(&self, other: &&str) -> bool {
        *self == **other
    }
}

impl PartialEq<&str> for Str<'_> {
    fn eq(&self, other: &&str) -> bool {
        *self.0 == *other.as_bytes()
    }
}

macro_rules! common {
    ($name:ident) => {
        impl Deref for $name<'_> {
            type Target = [u8];

            fn deref(&self) -> &[u8] {
                &self.0
            }
        }

        impl fmt::Debug for $name<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "\"{}\"", self.0.escape_ascii())
            }
        }

        impl fmt::Display for $name<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&String::from_utf8_lossy(&self.0))
            }
        }

        impl<'a> From<&'a str> for $name<'a> {
            fn from(text: &'a str) -> Self {
                Self::borrowed(text.as_bytes())
            }
        }

        impl<'a> From<&'a [u8]> for $name<'a> {
            fn from(octets: &'a [u8]) -> Self {
                Self::borrowed(octets)
            }
        }

        impl From<Vec<u8>> for $name<'_> {
            fn from(octets: Vec<u8>) -> Self {
                Self(Cow::Owned(octets))
            }
        }
    };
}

common!(Str);
common!(Name);
