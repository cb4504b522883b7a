//! What generated types are taken apart to, for codecs that follow tables rather than being printed for each type
//! (`codecs = "small"` of an overlay).
//!
//! A table tells how the components of a type are encoded; the type itself gives places to write them to ([`Part`]) and
//! to read them from ([`Seen`]) by their numbers. Neither knows encoding rules.

mod whole;

pub(super) use whole::all;
pub use whole::{clone, debug, equal, owned};

use super::{Contained, Notation, UnknownAdditions, UnknownAlternative, per};
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

/// A type whose values are read into a place, and taken apart.
pub trait Value<'a>: Sized {
    /// What a value is before it is read: optional components are absent, others have their DEFAULT or anything.
    fn empty() -> Self;

    /// The place to read into. An optional component is there from then on.
    fn part(&mut self) -> Part<'_, 'a>;

    /// What is to be written.
    fn seen(&self) -> Seen<'_, 'a>;
}

/// The components of a SEQUENCE or SET, by their numbers in their declaration; behind the last, unknown additions.
pub trait Members<'a> {
    /// The place of one.
    fn member(&mut self, number: usize) -> Part<'_, 'a>;

    /// The value of one; [`Seen::Absent`] also where there is none of the number.
    fn see(&self, number: usize, defaults: Defaults) -> Seen<'_, 'a>;

    /// The names of all, with a space between them.
    fn names(&self) -> &'static str;
}

/// What is said of a component that has the value of its DEFAULT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Defaults {
    /// It is absent, as in what is encoded.
    Omitted,
    /// It has this value.
    Told,
}

/// The alternatives of a CHOICE, by their numbers in its declaration.
pub trait Alternatives<'a> {
    /// Chooses one of a value that has not been read, and gives its place; [`UNKNOWN`] is one of a later version. What
    /// was there is not freed where such a value has no memory.
    fn choose(&mut self, number: usize) -> Part<'_, 'a>;

    /// The one that is chosen, and the names of all, with a space between them.
    fn chosen(&self) -> (usize, Seen<'_, 'a>, &'static str);
}

/// The number of an alternative of a later version.
pub const UNKNOWN: usize = usize::MAX;

/// The name of a component.
#[cold]
pub(super) fn member_name(value: &dyn Members<'_>, number: u16) -> &'static str {
    name(value.names(), number.into())
}

/// The name of an alternative.
#[cold]
pub(super) fn alternative_name(value: &dyn Alternatives<'_>, number: u16) -> &'static str {
    name(value.chosen().2, number.into())
}

/// The name with a number.
pub(super) fn name(names: &'static str, number: usize) -> &'static str {
    names.split(' ').nth(number).unwrap_or_default()
}

/// An ENUMERATED.
pub trait Items {
    /// The item that it is, and the names of all, with a space between them.
    fn item(&self) -> (Item, &'static str);

    /// Takes an item.
    fn set(&mut self, item: Item);
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
    pub fn of<T: Copy>(self, items: &[T]) -> Option<T> {
        match self {
            Self::Known(number) => items.get(number).copied(),
            Self::Addition(_) | Self::Unknown(_) => None,
        }
    }
}

/// The elements of a list.
pub trait Elements<'a> {
    /// So many will come, if it is true.
    fn expect(&mut self, count: usize);

    /// The place of one more.
    fn push(&mut self) -> Part<'_, 'a>;

    /// How many there are.
    fn count(&self) -> usize;

    /// One of them.
    fn element(&self, number: usize) -> Seen<'_, 'a>;
}

/// A string with CONTAINING.
pub trait Content<'a> {
    /// The place of the value inside.
    fn value(&mut self) -> Part<'_, 'a>;

    /// Takes the octets of an OCTET STRING instead.
    fn set_octets(&mut self, octets: Octets<'a>);

    /// Takes the bits of a BIT STRING instead.
    fn set_bits(&mut self, bits: BitString<'a>);

    /// The value inside, or the octets or bits that are there instead.
    fn content(&self) -> core::result::Result<Seen<'_, 'a>, Seen<'_, 'a>>;
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

macro_rules! parts {
    ($($name:ident $ty:ty, $(#[$doc:meta])*;)*) => {
        /// A place to read a value into.
        #[allow(missing_debug_implementations)] // types that are taken apart show themselves
        pub enum Part<'v, 'a> {
            /// NULL, or nothing at all.
            Null,
            $($(#[$doc])* $name(&'v mut $ty),)*
            /// A BIT STRING of a fixed size: the bits as the lowest of a word, and how many they are.
            FixedBits(&'v mut u64, u32),
        }

        /// A value to write.
        #[allow(missing_debug_implementations)]
        pub enum Seen<'v, 'a> {
            /// A component that is not there, or has its DEFAULT.
            Absent,
            /// NULL.
            Null,
            $($(#[$doc])* $name(&'v $ty),)*
            /// A BIT STRING of a fixed size: the bits as the lowest of a word, and how many they are.
            FixedBits(u64, u32),
        }
    };
}

parts! {
    Bool bool, /** BOOLEAN. */;
    U8 u8, /** INTEGER. */;
    U16 u16, /** INTEGER. */;
    U32 u32, /** INTEGER. */;
    U64 u64, /** INTEGER. */;
    I8 i8, /** INTEGER. */;
    I16 i16, /** INTEGER. */;
    I32 i32, /** INTEGER. */;
    I64 i64, /** INTEGER. */;
    Big Integer<'a>, /** INTEGER of any size. */;
    Real ExactReal<'a>, /** REAL. */;
    Float f64, /** REAL as the nearest `f64`. */;
    Bits BitString<'a>, /** BIT STRING. */;
    Octets Octets<'a>, /** OCTET STRING, or an open type that nothing is known of. */;
    FixedOctets [u8], /** OCTET STRING of a fixed size. */;
    Oid ObjectIdentifier<'a>, /** OBJECT IDENTIFIER. */;
    RelativeOid RelativeObjectIdentifier<'a>, /** RELATIVE-OID. */;
    Text Text<'a>, /** Character strings and times. */;
    Members dyn Members<'a> + 'v, /** SEQUENCE, SET. */;
    Additions UnknownAdditions, /** Extension additions of later versions. */;
    Alternatives dyn Alternatives<'a> + 'v, /** CHOICE. */;
    Unknown UnknownAlternative<'a>, /** An alternative of a later version. */;
    Items dyn Items + 'v, /** ENUMERATED. */;
    Elements dyn Elements<'a> + 'v, /** SEQUENCE OF, SET OF. */;
    Content dyn Content<'a> + 'v, /** A string with CONTAINING. */;
    Straight dyn Straight<'a> + 'v, /** A type with codecs of its own. */;
}

macro_rules! leaves {
    ($($name:ident $ty:ty: $empty:expr;)*) => {$(
        impl<'a> Value<'a> for $ty {
            #[inline]
            fn empty() -> Self {
                $empty
            }

            #[inline]
            fn part(&mut self) -> Part<'_, 'a> {
                Part::$name(self)
            }

            #[inline]
            fn seen(&self) -> Seen<'_, 'a> {
                Seen::$name(self)
            }
        }
    )*};
}

leaves! {
    Bool bool: false;
    U8 u8: 0;
    U16 u16: 0;
    U32 u32: 0;
    U64 u64: 0;
    I8 i8: 0;
    I16 i16: 0;
    I32 i32: 0;
    I64 i64: 0;
    Big Integer<'a>: Integer::ZERO;
    Real ExactReal<'a>: ExactReal::ZERO;
    Float f64: 0.0;
    Bits BitString<'a>: BitString::EMPTY;
    Octets Octets<'a>: Octets::default();
    Oid ObjectIdentifier<'a>: ObjectIdentifier::constant(&[0]);
    RelativeOid RelativeObjectIdentifier<'a>: RelativeObjectIdentifier::constant(&[0]);
    Text Text<'a>: Text::default();
    Additions UnknownAdditions: Self::NONE;
}

impl<'a> Value<'a> for () {
    #[inline]
    fn empty() -> Self {}

    #[inline]
    fn part(&mut self) -> Part<'_, 'a> {
        Part::Null
    }

    #[inline]
    fn seen(&self) -> Seen<'_, 'a> {
        Seen::Null
    }
}

impl<'a, const N: usize> Value<'a> for [u8; N] {
    #[inline]
    fn empty() -> Self {
        [0; N]
    }

    #[inline]
    fn part(&mut self) -> Part<'_, 'a> {
        Part::FixedOctets(self)
    }

    #[inline]
    fn seen(&self) -> Seen<'_, 'a> {
        Seen::FixedOctets(self)
    }
}

impl<'a, const N: u32> Value<'a> for FixedBits<N> {
    #[inline]
    fn empty() -> Self {
        Self::default()
    }

    #[inline]
    fn part(&mut self) -> Part<'_, 'a> {
        Part::FixedBits(self.word(), N)
    }

    #[inline]
    fn seen(&self) -> Seen<'_, 'a> {
        Seen::FixedBits(self.get(), N)
    }
}

impl<'a, T: Value<'a>> Value<'a> for Option<T> {
    #[inline]
    fn empty() -> Self {
        None
    }

    #[inline]
    fn part(&mut self) -> Part<'_, 'a> {
        if self.is_none() {
            put(self, Some(T::empty()));
        }
        // Without closures, each of which would be a function to compile.
        match self {
            Some(value) => value.part(),
            None => Part::Null,
        }
    }

    #[inline]
    fn seen(&self) -> Seen<'_, 'a> {
        match self {
            Some(value) => value.seen(),
            None => Seen::Absent,
        }
    }
}

impl<'a, T: Value<'a>> Value<'a> for Box<T> {
    #[inline]
    fn empty() -> Self {
        Self::new(T::empty())
    }

    #[inline]
    fn part(&mut self) -> Part<'_, 'a> {
        (**self).part()
    }

    #[inline]
    fn seen(&self) -> Seen<'_, 'a> {
        (**self).seen()
    }
}

impl<'a, T: Value<'a>> Value<'a> for Vec<T> {
    #[inline]
    fn empty() -> Self {
        Self::new()
    }

    #[inline]
    fn part(&mut self) -> Part<'_, 'a> {
        Part::Elements(self)
    }

    #[inline]
    fn seen(&self) -> Seen<'_, 'a> {
        Seen::Elements(self)
    }
}

impl<'a, T: Value<'a>> Elements<'a> for Vec<T> {
    #[inline]
    fn expect(&mut self, count: usize) {
        self.reserve_exact(count.min(ROOM / size_of::<T>().max(1) + 1));
    }

    #[inline]
    fn push(&mut self) -> Part<'_, 'a> {
        Self::push(self, T::empty());
        match self.last_mut() {
            Some(value) => value.part(),
            None => Part::Null,
        }
    }

    #[inline]
    fn count(&self) -> usize {
        self.len()
    }

    #[inline]
    fn element(&self, number: usize) -> Seen<'_, 'a> {
        match self.get(number) {
            Some(value) => value.seen(),
            None => Seen::Absent,
        }
    }
}

impl<'a, T: Value<'a>> Value<'a> for Contained<'a, T> {
    #[inline]
    fn empty() -> Self {
        Self::Octets(Octets::default())
    }

    #[inline]
    fn part(&mut self) -> Part<'_, 'a> {
        Part::Content(self)
    }

    #[inline]
    fn seen(&self) -> Seen<'_, 'a> {
        Seen::Content(self)
    }
}

impl<'a, T: Value<'a>> Content<'a> for Contained<'a, T> {
    #[inline]
    fn value(&mut self) -> Part<'_, 'a> {
        put(self, Self::Value(T::empty()));
        match self {
            Self::Value(value) => value.part(),
            Self::Octets(_) | Self::Bits(_) => Part::Null,
        }
    }

    #[inline]
    fn set_octets(&mut self, octets: Octets<'a>) {
        *self = Self::Octets(octets);
    }

    #[inline]
    fn set_bits(&mut self, bits: BitString<'a>) {
        *self = Self::from(bits);
    }

    #[inline]
    fn content(&self) -> core::result::Result<Seen<'_, 'a>, Seen<'_, 'a>> {
        match self {
            Self::Value(value) => Ok(value.seen()),
            Self::Octets(octets) => Err(Seen::Octets(octets)),
            Self::Bits(bits) => Err(Seen::Bits(bits)),
        }
    }
}

impl Part<'_, '_> {
    /// Whether an INTEGER was taken: it is one, and has room for the number.
    pub(super) fn set_integer(self, number: i128) -> bool {
        fn set<T: TryFrom<i128>>(place: &mut T, number: i128) -> bool {
            T::try_from(number).map(|number| *place = number).is_ok()
        }
        match self {
            Part::U8(place) => set(place, number),
            Part::U16(place) => set(place, number),
            Part::U32(place) => set(place, number),
            Part::U64(place) => set(place, number),
            Part::I8(place) => set(place, number),
            Part::I16(place) => set(place, number),
            Part::I32(place) => set(place, number),
            Part::I64(place) => set(place, number),
            Part::Big(place) => {
                *place = Integer::from(number);
                true
            }
            _ => false,
        }
    }
}

impl Seen<'_, '_> {
    /// Whether there is something to be written.
    pub(super) const fn is_there(&self) -> bool {
        !matches!(self, Self::Absent)
    }

    /// The number of an INTEGER of up to 64 bits.
    pub(super) fn integer(&self) -> Option<i128> {
        Some(match *self {
            Self::U8(number) => (*number).into(),
            Self::U16(number) => (*number).into(),
            Self::U32(number) => (*number).into(),
            Self::U64(number) => (*number).into(),
            Self::I8(number) => (*number).into(),
            Self::I16(number) => (*number).into(),
            Self::I32(number) => (*number).into(),
            Self::I64(number) => (*number).into(),
            _ => return None,
        })
    }
}
