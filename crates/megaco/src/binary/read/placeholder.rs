//! Values with which reading goes on where the model does not have what was read. No message that is returned has one.

use tercet_runtime::types::Octets;

use super::leaves::Arcs;
use crate::list::{List, Token, TokenSet};
use crate::model::{EventSpecParameter, Lenient, LocalRemoteDescriptor, TerminationId};
use crate::octets::{Name, Str};

/// A type of which a value can be made from nothing.
pub(crate) trait Placeholder: Sized {
    /// Returns some value, without allocation where the type allows it.
    fn placeholder() -> Self;
}

/// Types whose placeholder is their default value.
macro_rules! by_default {
    ($($ty:ty)*) => {$(
        impl Placeholder for $ty {
            fn placeholder() -> Self {
                Self::default()
            }
        }
    )*};
}

by_default! { () bool u8 u16 u32 [u8; 1] [u8; 4] [u8; 8] [u8; 16] Name<'_> Str<'_> TerminationId<'_> Arcs }

impl Placeholder for Octets<'_> {
    fn placeholder() -> Self {
        Self::borrowed(&[])
    }
}

impl<T> Placeholder for Option<T> {
    fn placeholder() -> Self {
        None
    }
}

impl<T> Placeholder for Lenient<T> {
    fn placeholder() -> Self {
        Self(None)
    }
}

impl<T> Placeholder for Vec<T> {
    fn placeholder() -> Self {
        Self::new()
    }
}

impl<T> Placeholder for List<T> {
    fn placeholder() -> Self {
        Self::new()
    }
}

impl<T: Placeholder> Placeholder for Box<T> {
    fn placeholder() -> Self {
        Self::new(T::placeholder())
    }
}

impl<T: Token> Placeholder for TokenSet<T> {
    fn placeholder() -> Self {
        Self::new()
    }
}

impl Placeholder for LocalRemoteDescriptor<'_> {
    fn placeholder() -> Self {
        Self::Groups(Vec::new())
    }
}

impl Placeholder for EventSpecParameter<'_> {
    fn placeholder() -> Self {
        Self::Stream(0)
    }
}

/// A SEQUENCE: a placeholder for each component.
macro_rules! placeholder_record {
    ($name:ident [$($life:lifetime)?] { $([$f1:ident: $ty1:ty, $w1:tt])* } { $([$f2:ident: $ty2:ty, $w2:tt])* }) => {
        impl $(<$life>)? $crate::binary::read::Placeholder for $name $(<$life>)? {
            fn placeholder() -> Self {
                use $crate::binary::read::Placeholder;
                Self {
                    $($f1: <$ty1 as Placeholder>::placeholder(),)*
                    $($f2: <$ty2 as Placeholder>::placeholder(),)*
                }
            }
        }
    };
}

/// A CHOICE: its first alternative.
macro_rules! placeholder_choice {
    ($name:ident [$($life:lifetime)?] { [$first:ident: $ty:ty, $w1:tt] $($others:tt)* }) => {
        impl $(<$life>)? $crate::binary::read::Placeholder for $name $(<$life>)? {
            fn placeholder() -> Self {
                Self::$first(<$ty as $crate::binary::read::Placeholder>::placeholder())
            }
        }
    };
}

/// An ENUMERATED: its first value.
macro_rules! placeholder_atom {
    ($name:ident { $first:ident $($others:ident)* }) => {
        impl $crate::binary::read::Placeholder for $name {
            fn placeholder() -> Self {
                Self::$first
            }
        }
    };
}

pub(crate) use {placeholder_atom, placeholder_choice, placeholder_record};
