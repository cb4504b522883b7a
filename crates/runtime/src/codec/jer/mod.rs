//! `Serialize` and `Deserialize` of generated types (feature `serde`), in the shapes of the JSON encoding rules (X.697).
//!
//! With `serde_json` the text is that of JER without encoding instructions: identifiers as in the specification, octets in
//! hexadecimal, a CHOICE as an object with one member, absent components left out, those that are their DEFAULT too. Any
//! other self-describing format has the same shapes.
//!
//! Reading makes a [`Tree`] first, since members come in any order and one may tell the type of another.

mod leaves;
mod objects;
mod reals;
mod strings;
mod tree;

pub use crate::__jer_serde as serde;
pub use objects::{
    Item, Keys, Levels, Members, Object, addition, alternative, chosen, content, item, object, unknown,
};
pub use reals::Base10;
pub use serde_core::{Deserialize, Deserializer, Serialize, Serializer, de::Error as DeError};
pub use strings::*;
pub use tree::{Mismatch, Tree};

use super::SequenceOf;
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::marker::PhantomData;
use serde_core::ser::{Error as _, SerializeSeq};

/// What writing gives.
pub type Said<S> = Result<<S as Serializer>::Ok, <S as Serializer>::Error>;

/// What reading gives.
pub type Read<T> = Result<T, Mismatch>;

/// A type that tells by itself what its values look like.
pub trait Jer: Sized {
    /// Writes a value.
    ///
    /// # Errors
    /// Those of the serializer, or the value has no form.
    fn write_jer<S: Serializer>(&self, s: S, levels: Levels) -> Said<S>;

    /// Reads a value.
    ///
    /// # Errors
    /// The first part that is none of the type.
    fn read_jer(tree: &Tree<'_>, keys: &Keys<'_>) -> Read<Self>;
}

/// What values of a type look like in a place: the same `BitString` is an object or a string by its constraint.
pub trait Form<T> {
    /// Writes a value.
    ///
    /// # Errors
    /// As [`Jer::write_jer`].
    fn write<S: Serializer>(value: &T, s: S, levels: Levels) -> Said<S>;

    /// Reads a value.
    ///
    /// # Errors
    /// As [`Jer::read_jer`].
    fn read(tree: &Tree<'_>, keys: &Keys<'_>) -> Read<T>;
}

/// As the type tells.
#[derive(Clone, Copy, Debug)]
pub struct Plain;

impl<T: Jer> Form<T> for Plain {
    fn write<S: Serializer>(value: &T, s: S, levels: Levels) -> Said<S> {
        value.write_jer(s, levels)
    }

    fn read(tree: &Tree<'_>, keys: &Keys<'_>) -> Read<T> {
        T::read_jer(tree, keys)
    }
}

/// A value in a box.
#[derive(Clone, Copy, Debug)]
pub struct Boxed<F>(PhantomData<F>);

impl<T, F: Form<T>> Form<Box<T>> for Boxed<F> {
    fn write<S: Serializer>(value: &Box<T>, s: S, levels: Levels) -> Said<S> {
        F::write(value, s, levels)
    }

    fn read(tree: &Tree<'_>, keys: &Keys<'_>) -> Read<Box<T>> {
        F::read(tree, keys).map(Box::new)
    }
}

impl<T: Jer> Jer for Box<T> {
    fn write_jer<S: Serializer>(&self, s: S, levels: Levels) -> Said<S> {
        (**self).write_jer(s, levels)
    }

    fn read_jer(tree: &Tree<'_>, keys: &Keys<'_>) -> Read<Self> {
        T::read_jer(tree, keys).map(Self::new)
    }
}

/// SEQUENCE OF, SET OF (X.697 clauses 28 and 30): an array.
#[derive(Clone, Copy, Debug)]
pub struct List<F>(PhantomData<F>);

impl<T, F: Form<T>> Form<Vec<T>> for List<F> {
    fn write<S: Serializer>(value: &Vec<T>, s: S, levels: Levels) -> Said<S> {
        let levels = levels.inside()?;
        let mut seq = s.serialize_seq(Some(value.len()))?;
        value.iter().try_for_each(|element| seq.serialize_element(&As::<T, F>::new(element, levels)))?;
        seq.end()
    }

    fn read(tree: &Tree<'_>, keys: &Keys<'_>) -> Read<Vec<T>> {
        let Tree::List(elements) = tree else { return Err(Mismatch::new("an array expected")) };
        let keys = &keys.inside()?;
        let read = |(number, element)| F::read(element, keys).map_err(|error: Mismatch| error.at(number));
        elements.iter().enumerate().map(read).collect()
    }
}

/// An element that is no value is an error of writing.
impl<'a, T: Clone, F: Form<T>> Form<SequenceOf<'a, T>> for List<F> {
    fn write<S: Serializer>(value: &SequenceOf<'a, T>, s: S, levels: Levels) -> Said<S> {
        let levels = levels.inside()?;
        let mut seq = s.serialize_seq(Some(value.len()))?;
        for element in value {
            seq.serialize_element(&As::<T, F>::new(&element.map_err(S::Error::custom)?, levels))?;
        }
        seq.end()
    }

    fn read(tree: &Tree<'_>, keys: &Keys<'_>) -> Read<SequenceOf<'a, T>> {
        <Self as Form<Vec<T>>>::read(tree, keys).map(SequenceOf::from)
    }
}

impl<T: Jer> Jer for Vec<T> {
    fn write_jer<S: Serializer>(&self, s: S, levels: Levels) -> Said<S> {
        List::<Plain>::write(self, s, levels)
    }

    fn read_jer(tree: &Tree<'_>, keys: &Keys<'_>) -> Read<Self> {
        List::<Plain>::read(tree, keys)
    }
}

impl<T: Jer + Clone> Jer for SequenceOf<'_, T> {
    fn write_jer<S: Serializer>(&self, s: S, levels: Levels) -> Said<S> {
        List::<Plain>::write(self, s, levels)
    }

    fn read_jer(tree: &Tree<'_>, keys: &Keys<'_>) -> Read<Self> {
        List::<Plain>::read(tree, keys)
    }
}

/// A value in a form, as serializers take it.
struct As<'v, T, F>(&'v T, Levels, PhantomData<F>);

impl<'v, T, F> As<'v, T, F> {
    const fn new(value: &'v T, levels: Levels) -> Self {
        Self(value, levels, PhantomData)
    }
}

impl<T, F: Form<T>> Serialize for As<'_, T, F> {
    fn serialize<S: Serializer>(&self, s: S) -> Said<S> {
        F::write(self.0, s, self.1)
    }
}

/// `Serialize` and `Deserialize` of types that are [`Jer`].
#[doc(hidden)]
#[macro_export]
macro_rules! __jer_serde {
    ($($ty:ty),* $(,)?) => {$(
        impl $crate::codec::jer::Serialize for $ty {
            fn serialize<S: $crate::codec::jer::Serializer>(&self, s: S) -> $crate::codec::jer::Said<S> {
                $crate::codec::jer::Jer::write_jer(self, s, $crate::codec::jer::Levels::ALL)
            }
        }

        impl<'de> $crate::codec::jer::Deserialize<'de> for $ty {
            fn deserialize<D: $crate::codec::jer::Deserializer<'de>>(d: D) -> ::core::result::Result<Self, D::Error> {
                let tree = <$crate::codec::jer::Tree<'de> as $crate::codec::jer::Deserialize<'de>>::deserialize(d)?;
                $crate::codec::jer::Jer::read_jer(&tree, &$crate::codec::jer::Keys::NONE)
                    .map_err($crate::codec::jer::DeError::custom)
            }
        }
    )*};
}
