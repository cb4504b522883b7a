//! OBJECT IDENTIFIER and RELATIVE-OID as components of generated types.

use super::{Octets, Oid, OidRef, RelativeOid, RelativeOidRef};
use crate::{Error, Result};
use core::fmt;
use core::str::FromStr;

macro_rules! identifiers {
    ($($(#[$doc:meta])* $name:ident: $view:ident, $owned:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name<'a>(Octets<'a>);

        impl<'a> $name<'a> {
            /// Checks contents octets that start at the absolute offset `at`.
            ///
            /// # Errors
            #[doc = concat!("As [`", stringify!($view), "::new`].")]
            #[inline]
            pub fn new(contents: impl Into<Octets<'a>>, at: u64) -> Result<Self> {
                let contents = contents.into();
                $view::new(&contents, at)?;
                Ok(Self(contents))
            }

            /// Contents octets that are known: one that is made when the program is compiled.
            ///
            /// # Panics
            /// They are no contents octets (X.690 8.19.2); in a constant, it does not compile.
            #[must_use]
            pub const fn constant(contents: &'a [u8]) -> Self {
                Self(Octets::borrowed($view::constant(contents).as_bytes()))
            }

            /// From its arcs.
            ///
            /// # Errors
            #[doc = concat!("As [`", stringify!($owned), "::from_arcs`].")]
            pub fn from_arcs(arcs: impl IntoIterator<Item = u128>) -> Result<Self> {
                Ok(Self(Octets::copied($owned::from_arcs(arcs)?.as_bytes())))
            }

            /// The contents octets (X.690 8.19, 8.20).
            #[inline]
            #[must_use]
            pub fn as_bytes(&self) -> &[u8] {
                self.0.as_slice()
            }

            /// The same value without a borrow.
            #[must_use]
            pub fn into_owned(self) -> $name<'static> {
                $name(self.0.into_owned())
            }
        }

        impl<'a> From<$view<'a>> for $name<'a> {
            #[inline]
            fn from(view: $view<'a>) -> Self {
                Self(Octets::borrowed(view.as_bytes()))
            }
        }

        /// Reads dotted decimal text.
        impl FromStr for $name<'_> {
            type Err = Error;

            fn from_str(text: &str) -> Result<Self> {
                Ok(Self(Octets::copied(text.parse::<$owned>()?.as_bytes())))
            }
        }

        /// Dotted decimal numbers.
        impl fmt::Display for $name<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match $view::new(&self.0, 0) {
                    Ok(view) => fmt::Display::fmt(&view, f),
                    Err(_) => fmt::Display::fmt(&self.0, f),
                }
            }
        }

        impl fmt::Debug for $name<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }
    )*};
}

identifiers! {
    /// An OBJECT IDENTIFIER (X.680 clause 32) that borrows its contents octets or keeps them in place.
    ///
    /// ```
    /// use tercet_runtime::types::ObjectIdentifier;
    /// let oid: ObjectIdentifier<'_> = "2.5.4.3".parse()?;
    /// assert_eq!(oid.as_bytes(), [0x55, 4, 3]);
    /// assert_eq!(oid.to_string(), "2.5.4.3");
    /// # Ok::<(), tercet_runtime::Error>(())
    /// ```
    ObjectIdentifier: OidRef, Oid;
    /// A RELATIVE-OID (X.680 clause 33), as [`ObjectIdentifier`].
    RelativeObjectIdentifier: RelativeOidRef, RelativeOid;
}
