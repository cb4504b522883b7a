//! What generated types are read and written by, part by part, for codecs that follow tables rather than being printed for
//! each type (`codecs = "small"` of an overlay).
//!
//! A table tells how the components of a type are encoded. The type itself hands its components to a [`Source`] that fills
//! them, or to a [`Sink`] that takes them, by their numbers. Types know no encoding rules.
//!
//! References to types are what has the traits of objects ([`Places`], [`Parts`]), not the types themselves: what frees a
//! value would be part of the table of each type, and is most of what there is to compile.

mod whole;

pub use whole::{clone, debug, equal, owned};

use super::per;
use super::{Contained, Notation, UnknownAdditions, UnknownAlternative};
use crate::types::{
    BitString, ExactReal, FixedBits, Integer, ObjectIdentifier, Octets, RelativeObjectIdentifier, Text,
};
use crate::{Error, ErrorKind, Result};
use alloc::boxed::Box;
use alloc::vec::Vec;

/// Octets of memory that a list sets aside at once at most.
const ROOM: usize = 64 * 1024;

/// Sets a place that holds a value before it is read. That one has no memory to free, so that there is no code for it.
#[inline]
pub fn put<T>(place: &mut T, value: T) {
    core::mem::forget(core::mem::replace(place, value));
}

/// A value that is read into where it stands.
///
/// # Errors
/// What `fill` says.
#[inline(always)]
pub fn filled<T>(mut value: T, fill: impl FnOnce(&mut T) -> Result<()>) -> Result<T> {
    fill(&mut value)?;
    Ok(value)
}

/// Makes a box. Unlike [`Box::new`] there is no value to be freed if there is no memory, so that there is no code for it.
#[inline]
pub fn boxed<T>(value: impl FnOnce() -> T) -> Box<T> {
    Box::write(Box::new_uninit(), value())
}

/// Reads a component that may be absent and is there. Unlike [`Value::read`] of an option, which is one function for all
/// components of a type, it is part of the code around it: for types with parts, which are mostly used once.
#[inline(always)]
pub fn read_some<'a, T: Value<'a>>(place: &mut Option<T>, r: &mut dyn Source<'a>) {
    put(place, Some(T::empty()));
    if let Some(value) = place {
        value.read(r);
    }
}

/// Hands a component that may be absent to a sink, as [`read_some`] reads it.
#[inline(always)]
pub fn write_some<'v, 'a: 'v, T: Value<'a>>(value: &'v Option<T>, w: &mut dyn Sink<'v, 'a>) {
    if let Some(value) = value {
        value.write(w);
    }
}

/// Hands an item of an ENUMERATED to a sink, by its number in the declaration.
pub fn write_item<'v, 'a: 'v>(number: usize, names: &'static str, w: &mut dyn Sink<'v, 'a>) {
    w.item(Item::Known(number), names);
}

/// A type whose values are read and written part by part. Those of SEQUENCE and SET types need [`Value::read_part`] and
/// [`Value::write_part`] alone.
pub trait Value<'a>: Sized {
    /// The names of components or alternatives, with a space between them.
    const NAMES: &'static str = "";

    /// What a value is before it is read: optional components are absent, others have their DEFAULT or anything.
    fn empty() -> Self;

    /// Reads into a value that has not been read. What is there is not freed.
    #[inline]
    fn read(&mut self, r: &mut dyn Source<'a>) {
        let mut place = self;
        r.parts(&mut place, Self::NAMES);
    }

    /// Hands the value to a sink.
    #[inline]
    fn write<'v>(&'v self, w: &mut dyn Sink<'v, 'a>)
    where
        'a: 'v,
    {
        w.members(&self, Self::NAMES);
    }

    /// Reads one of the parts of a value: see [`Source::parts`].
    fn read_part(&mut self, _number: usize, _: &mut dyn Source<'a>) {}

    /// Hands one of the parts of a value to a sink; nothing where there is none with that number.
    fn write_part<'v>(&'v self, _number: usize, _: &mut dyn Sink<'v, 'a>)
    where
        'a: 'v,
    {
    }
}

/// The parts of a value as places to read into.
pub trait Places<'a> {
    /// As [`Value::read_part`].
    fn read_part(&mut self, number: usize, r: &mut dyn Source<'a>);
}

/// The parts of a value as they are.
pub trait Parts<'v, 'a> {
    /// As [`Value::write_part`].
    fn write_part(&self, number: usize, w: &mut dyn Sink<'v, 'a>);
}

impl<'a, T: Value<'a>> Places<'a> for &mut T {
    fn read_part(&mut self, number: usize, r: &mut dyn Source<'a>) {
        T::read_part(self, number, r);
    }
}

impl<'v, 'a: 'v, T: Value<'a>> Parts<'v, 'a> for &'v T {
    fn write_part(&self, number: usize, w: &mut dyn Sink<'v, 'a>) {
        T::write_part(self, number, w);
    }
}

/// Where values are read from. It knows how the value that is next is encoded. A fault is kept there: nothing is read after it.
pub trait Source<'a> {
    /// Reads a value without parts.
    fn leaf(&mut self, place: LeafMut<'_, 'a>);

    /// Reads which item an ENUMERATED is; nothing after a fault.
    fn item(&mut self) -> Option<Item>;

    /// Reads a value with parts:
    /// - SEQUENCE, SET: those of the components that are there, numbered as declared; behind the last, unknown additions.
    /// - CHOICE: the one that is chosen, or [`UNKNOWN`].
    /// - SEQUENCE OF, SET OF: the next element; the number is how many are expected, this one included.
    ///
    /// `names` are those of components or alternatives, with a space between them.
    fn parts(&mut self, value: &mut dyn Places<'a>, names: &'static str);

    /// Reads a string with CONTAINING: `value` has the value inside as its only part. What is there instead is answered;
    /// nothing after a fault.
    fn content(&mut self, value: &mut dyn Places<'a>) -> Option<Contained<'a, ()>>;
}

/// What values are written to. It knows how the value that is next is to be encoded. A fault is kept there: nothing is written
/// after it.
pub trait Sink<'v, 'a> {
    /// Takes a value without parts.
    fn leaf(&mut self, value: LeafRef<'v, 'a>);

    /// Takes which item an ENUMERATED is.
    fn item(&mut self, item: Item, names: &'static str);

    /// SEQUENCE, SET: the components, numbered as declared; behind the last, unknown additions.
    fn members(&mut self, value: &dyn Parts<'v, 'a>, names: &'static str);

    /// CHOICE: the number of the alternative that is chosen, and itself, whatever the number.
    fn alternative(&mut self, number: usize, value: &dyn Parts<'v, 'a>, names: &'static str);

    /// SEQUENCE OF, SET OF: how many elements, and these.
    fn elements(&mut self, count: usize, value: &dyn Parts<'v, 'a>);

    /// A string with CONTAINING that has a value inside, which is its only part.
    fn content(&mut self, value: &dyn Parts<'v, 'a>);

    /// Whether a component that has the value of its DEFAULT is absent, as in what is encoded.
    fn omits_defaults(&self) -> bool {
        false
    }
}

/// The number of an alternative of a later version.
pub const UNKNOWN: usize = usize::MAX;

/// The name with a number.
#[cold]
#[inline(never)]
pub(super) fn name(names: &'static str, number: usize) -> &'static str {
    names.split(' ').nth(number).unwrap_or_default()
}

/// An item of an ENUMERATED.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item {
    /// By its number in the declaration.
    Known(usize),
    /// One of a later version, by its number among the additions.
    Addition(u32),
    /// One of a later version that has come without that number: its value.
    Unknown(i64),
}

impl Item {
    /// The item of these, if it is one.
    #[must_use]
    #[inline]
    pub fn of<T: Copy>(self, items: &[T]) -> Option<T> {
        match self {
            Self::Known(number) => items.get(number).copied(),
            Self::Addition(_) | Self::Unknown(_) => None,
        }
    }
}

/// Reads an ENUMERATED without extension, all of whose items are in `all`.
#[inline(always)]
pub fn read_item<'a, T: Copy>(place: &mut T, all: &[T], r: &mut dyn Source<'a>) {
    if let Some(item) = all.get(item_number(r)) {
        *place = *item;
    }
}

/// The same of one that may be absent and is there.
#[inline(always)]
pub fn read_some_item<'a, T: Copy>(place: &mut Option<T>, all: &[T], r: &mut dyn Source<'a>) {
    if let Some(item) = all.get(item_number(r)) {
        *place = Some(*item);
    }
}

/// The number of an item that is read, or one of none.
#[inline(never)]
fn item_number(r: &mut dyn Source<'_>) -> usize {
    match r.item() {
        Some(Item::Known(number)) => number,
        _ => usize::MAX,
    }
}

/// A type that has codecs of its own: open types with tables, and what they need around them.
pub trait Straight<'a>: Notation {
    /// Reads it in aligned PER.
    ///
    /// # Errors
    /// The first fault.
    fn read_aper(&mut self, _: &mut per::Reader<'a, true>) -> Result<()> {
        Err(Error::new(ErrorKind::Unsupported, 0))
    }

    /// Reads it in unaligned PER.
    ///
    /// # Errors
    /// The first fault.
    fn read_uper(&mut self, _: &mut per::Reader<'a, false>) -> Result<()> {
        Err(Error::new(ErrorKind::Unsupported, 0))
    }

    /// Writes it in aligned PER.
    ///
    /// # Errors
    /// The value does not meet a constraint that the encoding rests on.
    fn write_aper(&self, _: &mut per::Writer<true>) -> Result<()> {
        Err(Error::new(ErrorKind::Unsupported, 0))
    }

    /// Writes it in unaligned PER.
    ///
    /// # Errors
    /// As [`Straight::write_aper`].
    fn write_uper(&self, _: &mut per::Writer<false>) -> Result<()> {
        Err(Error::new(ErrorKind::Unsupported, 0))
    }
}

macro_rules! leaves {
    ($($name:ident $ty:ty, $(#[$doc:meta])*;)*) => {
        /// A place to read a value without parts into.
        #[allow(missing_debug_implementations)] // values show themselves
        pub enum LeafMut<'v, 'a> {
            /// NULL.
            Null,
            /// INTEGER.
            U8(&'v mut u8),
            /// INTEGER.
            U16(&'v mut u16),
            /// INTEGER.
            U32(&'v mut u32),
            /// INTEGER.
            U64(&'v mut u64),
            /// INTEGER.
            I8(&'v mut i8),
            /// INTEGER.
            I16(&'v mut i16),
            /// INTEGER.
            I32(&'v mut i32),
            /// INTEGER.
            I64(&'v mut i64),
            $($(#[$doc])* $name(&'v mut $ty),)*
            /// A BIT STRING of a fixed size: the bits as the lowest of a word, and how many they are.
            FixedBits(&'v mut u64, u32),
        }

        /// A value without parts.
        #[allow(missing_debug_implementations)]
        #[derive(Clone, Copy)]
        pub enum LeafRef<'v, 'a> {
            /// NULL.
            Null,
            /// INTEGER of up to 64 bits with its sign.
            Number(i64),
            /// INTEGER of 64 bits without a sign, above those.
            Large(u64),
            $($(#[$doc])* $name(&'v $ty),)*
            /// A BIT STRING of a fixed size: the bits as the lowest of a word, and how many they are.
            FixedBits(u64, u32),
        }
    };
}

leaves! {
    Bool bool, /** BOOLEAN. */;
    Big Integer<'a>, /** INTEGER of any size. */;
    Real ExactReal<'a>, /** REAL. */;
    Float f64, /** REAL as the nearest `f64`. */;
    Bits BitString<'a>, /** BIT STRING. */;
    Octets Octets<'a>, /** OCTET STRING, or an open type that nothing is known of. */;
    FixedOctets [u8], /** OCTET STRING of a fixed size. */;
    Oid ObjectIdentifier<'a>, /** OBJECT IDENTIFIER. */;
    RelativeOid RelativeObjectIdentifier<'a>, /** RELATIVE-OID. */;
    Text Text<'a>, /** Character strings and times. */;
    Additions UnknownAdditions, /** Extension additions of later versions. */;
    Unknown UnknownAlternative<'a>, /** An alternative of a later version. */;
    Straight dyn Straight<'a> + 'v, /** A type with codecs of its own. */;
}

macro_rules! values {
    ($($name:ident $ty:ty: $empty:expr;)*) => {$(
        impl<'a> Value<'a> for $ty {
            #[inline]
            fn empty() -> Self {
                $empty
            }

            fn read(&mut self, r: &mut dyn Source<'a>) {
                r.leaf(LeafMut::$name(self))
            }

            fn write<'v>(&'v self, w: &mut dyn Sink<'v, 'a>)
            where
                'a: 'v,
            {
                w.leaf(LeafRef::$name(self))
            }
        }
    )*};
}

values! {
    Bool bool: false;
    Big Integer<'a>: Integer::ZERO;
    Real ExactReal<'a>: ExactReal::ZERO;
    Float f64: 0.0;
    Bits BitString<'a>: BitString::EMPTY;
    Octets Octets<'a>: Octets::default();
    Oid ObjectIdentifier<'a>: ObjectIdentifier::constant(&[0]);
    RelativeOid RelativeObjectIdentifier<'a>: RelativeObjectIdentifier::constant(&[0]);
    Text Text<'a>: Text::default();
    Additions UnknownAdditions: Self::NONE;
    Unknown UnknownAlternative<'a>: Self::default();
}

/// What a type without generics of its own does for [`Value`]; the others have their own.
macro_rules! plain {
    ([$($generics:tt)*] $ty:ty: $empty:expr, |$read:ident| $place:expr, |$write:ident| $leaf:expr) => {
        impl<'a, $($generics)*> Value<'a> for $ty {
            #[inline]
            fn empty() -> Self {
                $empty
            }

            fn read(&mut self, r: &mut dyn Source<'a>) {
                let $read = self;
                r.leaf($place)
            }

            fn write<'v>(&'v self, w: &mut dyn Sink<'v, 'a>)
            where
                'a: 'v,
            {
                let $write = self;
                w.leaf($leaf)
            }
        }
    };
}

plain!([] u8: 0, |v| LeafMut::U8(v), |v| LeafRef::Number((*v).into()));
plain!([] u16: 0, |v| LeafMut::U16(v), |v| LeafRef::Number((*v).into()));
plain!([] u32: 0, |v| LeafMut::U32(v), |v| LeafRef::Number((*v).into()));
plain!([] i8: 0, |v| LeafMut::I8(v), |v| LeafRef::Number((*v).into()));
plain!([] i16: 0, |v| LeafMut::I16(v), |v| LeafRef::Number((*v).into()));
plain!([] i32: 0, |v| LeafMut::I32(v), |v| LeafRef::Number((*v).into()));
plain!([] i64: 0, |v| LeafMut::I64(v), |v| LeafRef::Number(*v));
plain!([] u64: 0, |v| LeafMut::U64(v), |v| match i64::try_from(*v) {
    Ok(number) => LeafRef::Number(number),
    Err(_) => LeafRef::Large(*v),
});
plain!([] (): (), |_v| LeafMut::Null, |_v| LeafRef::Null);
plain!([const N: usize] [u8; N]: [0; N], |v| LeafMut::FixedOctets(v), |v| LeafRef::FixedOctets(v));
plain!([const N: u32] FixedBits<N>: Self::default(), |v| LeafMut::FixedBits(v.word(), N), |v| LeafRef::FixedBits(v.get(), N));

impl<'a, T: Value<'a>> Value<'a> for Option<T> {
    #[inline]
    fn empty() -> Self {
        None
    }

    #[inline(never)]
    fn read(&mut self, r: &mut dyn Source<'a>) {
        read_some(self, r);
    }

    #[inline(never)]
    fn write<'v>(&'v self, w: &mut dyn Sink<'v, 'a>)
    where
        'a: 'v,
    {
        write_some(self, w);
    }
}

impl<'a, T: Value<'a>> Value<'a> for Box<T> {
    #[inline]
    fn empty() -> Self {
        boxed(T::empty)
    }

    #[inline]
    fn read(&mut self, r: &mut dyn Source<'a>) {
        (**self).read(r)
    }

    #[inline]
    fn write<'v>(&'v self, w: &mut dyn Sink<'v, 'a>)
    where
        'a: 'v,
    {
        (**self).write(w)
    }
}

impl<'a, T: Value<'a>> Value<'a> for Vec<T> {
    #[inline]
    fn empty() -> Self {
        Self::new()
    }

    #[inline]
    fn write<'v>(&'v self, w: &mut dyn Sink<'v, 'a>)
    where
        'a: 'v,
    {
        w.elements(self.len(), &self);
    }

    // Not to be inlined elsewhere: next to what frees a list, which needs what frees its elements, too.
    fn read_part(&mut self, number: usize, r: &mut dyn Source<'a>) {
        if self.capacity() == 0 {
            self.reserve_exact(number.min(const { ROOM / (size_of::<T>() + 1) + 1 }));
        }
        self.push(T::empty());
        if let Some(value) = self.last_mut() {
            value.read(r);
        }
    }

    fn write_part<'v>(&'v self, number: usize, w: &mut dyn Sink<'v, 'a>)
    where
        'a: 'v,
    {
        if let Some(value) = self.get(number) {
            value.write(w);
        }
    }
}

impl<'a, T: Value<'a>> Value<'a> for Contained<'a, T> {
    #[inline]
    fn empty() -> Self {
        Self::Octets(Octets::default())
    }

    fn read(&mut self, r: &mut dyn Source<'a>) {
        // In a list, by whose code a value that turns out to be none is freed.
        let mut inside: Vec<T> = Vec::new();
        match r.content(&mut &mut inside) {
            Some(Contained::Octets(octets)) => put(self, Self::Octets(octets)),
            Some(Contained::Bits(bits)) => put(self, Self::Bits(bits)),
            Some(Contained::Value(())) => {
                if let Some(value) = inside.pop() {
                    put(self, Self::Value(value));
                }
            }
            None => {}
        }
    }

    fn write<'v>(&'v self, w: &mut dyn Sink<'v, 'a>)
    where
        'a: 'v,
    {
        match self {
            Self::Value(_) => w.content(&self),
            Self::Octets(octets) => w.leaf(LeafRef::Octets(octets)),
            Self::Bits(bits) => w.leaf(LeafRef::Bits(bits)),
        }
    }

    fn write_part<'v>(&'v self, _: usize, w: &mut dyn Sink<'v, 'a>)
    where
        'a: 'v,
    {
        if let Self::Value(value) = self {
            value.write(w);
        }
    }
}

impl LeafMut<'_, '_> {
    /// As [`LeafMut::set_integer`], for a number of up to 64 bits.
    #[inline]
    pub(super) fn set_short(self, number: i64) -> bool {
        fn set<T: TryFrom<i64>>(place: &mut T, number: i64) -> bool {
            T::try_from(number).map(|number| *place = number).is_ok()
        }
        match self {
            LeafMut::U8(place) => set(place, number),
            LeafMut::U16(place) => set(place, number),
            LeafMut::U32(place) => set(place, number),
            LeafMut::U64(place) => set(place, number),
            LeafMut::I8(place) => set(place, number),
            LeafMut::I16(place) => set(place, number),
            LeafMut::I32(place) => set(place, number),
            LeafMut::I64(place) => set(place, number),
            other => other.set_integer(number.into()),
        }
    }

    /// Whether an INTEGER was taken: it is one, and has room for the number.
    pub(super) fn set_integer(self, number: i128) -> bool {
        fn set<T: TryFrom<i128>>(place: &mut T, number: i128) -> bool {
            T::try_from(number).map(|number| *place = number).is_ok()
        }
        match self {
            LeafMut::U8(place) => set(place, number),
            LeafMut::U16(place) => set(place, number),
            LeafMut::U32(place) => set(place, number),
            LeafMut::U64(place) => set(place, number),
            LeafMut::I8(place) => set(place, number),
            LeafMut::I16(place) => set(place, number),
            LeafMut::I32(place) => set(place, number),
            LeafMut::I64(place) => set(place, number),
            LeafMut::Big(place) => {
                *place = Integer::from(number);
                true
            }
            _ => false,
        }
    }
}

impl LeafRef<'_, '_> {
    /// The number of an INTEGER of up to 64 bits with its sign.
    #[inline]
    pub(super) const fn short(&self) -> Option<i64> {
        match *self {
            Self::Number(number) => Some(number),
            _ => None,
        }
    }

    /// The number of an INTEGER of up to 64 bits.
    pub(super) fn integer(&self) -> Option<i128> {
        match *self {
            Self::Number(number) => Some(number.into()),
            Self::Large(number) => Some(number.into()),
            _ => None,
        }
    }
}
