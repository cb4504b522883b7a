//! Decoding and encoding as users call them.

use super::{Fault, oer, per};
#[cfg(feature = "arena")]
use crate::Arena;
use crate::ber::{self, Rules};
use crate::{Error, Result, Tag};
use alloc::vec::Vec;

macro_rules! rules {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        pub struct $name;
    )*};
}

rules! {
    /// Basic encoding rules (X.690 clause 8). Character strings and times that break the rules of their type are kept
    /// ([`Text::marked`]).
    ///
    /// [`Text::marked`]: crate::types::Text::marked
    Ber;
    /// Basic encoding rules for decoding that refuses character strings and times which break the rules of their type.
    StrictBer;
    /// Distinguished encoding rules (X.690 clause 10).
    Der;
    /// Canonical encoding rules (X.690 clause 9).
    Cer;
    /// BASIC-PER, ALIGNED variant (X.691).
    Aper;
    /// BASIC-PER, UNALIGNED variant.
    Uper;
    /// CANONICAL-PER, ALIGNED variant.
    CanonicalAper;
    /// CANONICAL-PER, UNALIGNED variant.
    CanonicalUper;
    /// BASIC-OER (X.696).
    Oer;
    /// CANONICAL-OER.
    Coer;
}

/// A type that can be read by some rules.
pub trait Decode<'a, R>: Sized {
    /// Reads one value from the front of the input and gives what is behind it.
    ///
    /// # Errors
    /// The first fault, with its offset and path; [`Fault::needed`] tells how much is missing of an input that ends early.
    fn decode(input: &'a [u8]) -> core::result::Result<(Self, &'a [u8]), Fault>;
}

/// A type that can be read by some rules, where what is not in place has an arena: with `memory = "arena"`.
///
/// Types that own their memory can be read so too, and make no use of the arena.
#[cfg(feature = "arena")]
pub trait DecodeIn<'a, R>: Sized {
    /// Reads one value from the front of the input and gives what is behind it; both live as long as the arena.
    ///
    /// # Errors
    /// As [`Decode::decode`].
    fn decode_in(arena: &'a Arena, input: &'a [u8]) -> core::result::Result<(Self, &'a [u8]), Fault>;
}

/// A type that can be written by some rules.
pub trait Encode<R> {
    /// Appends the encoding.
    ///
    /// # Errors
    /// The value does not meet a constraint that the encoding rests on, with the path to what breaks it; `out` is then as
    /// before.
    fn encode_into(&self, out: &mut Vec<u8>) -> core::result::Result<(), Fault>;

    /// The encoding.
    ///
    /// # Errors
    /// As [`Encode::encode_into`].
    fn encode(&self) -> core::result::Result<Vec<u8>, Fault> {
        let mut out = Vec::new();
        self.encode_into(&mut out)?;
        Ok(out)
    }

    /// Number of octets of the encoding. BER and OER count without writing and without memory; in PER, where a length
    /// moves all that is behind it, the value is encoded for it.
    ///
    /// # Errors
    /// As [`Encode::encode_into`], but in DER and CER octets in a SET or SET OF that are no elements are counted as they
    /// are.
    fn encoded_len(&self) -> core::result::Result<usize, Fault> {
        self.encode().map(|octets| octets.len())
    }
}

/// What the generator prints for BER, DER and CER: whole elements, tags included.
pub trait BerType<'a>: Sized {
    /// The name of the type in its specification.
    const NAME: &'static str;

    /// Reads an element.
    ///
    /// # Errors
    /// The first fault.
    fn read_element(r: &mut ber::Reader<'a>) -> Result<Self>;

    /// Writes an element.
    ///
    /// # Errors
    /// The value is not one of the type.
    fn write_element(&self, w: &mut ber::Writer) -> Result<()>;

    /// The tag of the outermost element, unless the type is an untagged CHOICE or open type.
    const TAG: Option<Tag>;

    /// Whether values are read into an arena, so that [`Decode`] has none for them: such a call does not compile.
    const IN_ARENA: bool = false;
}

/// Reads a value by a reader that is made for it.
#[inline]
fn ber_decode<'a, T: BerType<'a>>(
    r: ber::Reader<'a>,
    strict: bool,
) -> core::result::Result<(T, &'a [u8]), Fault> {
    let mut r = r.with_strict_values(strict).counting_values(crate::Limits::DEFAULT.depth);
    match T::read_element(&mut r) {
        Ok(value) => Ok((value, r.input().get(r.position()..).unwrap_or_default())),
        Err(error) => Err(r.path.of(T::NAME, error)),
    }
}

macro_rules! ber_decode {
    ($name:ident: $rules:ident $strict:literal) => {
        impl<'a, T: BerType<'a>> Decode<'a, $name> for T {
            #[inline]
            fn decode(input: &'a [u8]) -> core::result::Result<(Self, &'a [u8]), Fault> {
                const {
                    assert!(
                        !T::IN_ARENA,
                        "values of this type are read into an arena: call `DecodeIn::decode_in`"
                    )
                };
                ber_decode(ber::Reader::new(input, Rules::$rules), $strict)
            }
        }

        #[cfg(feature = "arena")]
        impl<'a, T: BerType<'a>> DecodeIn<'a, $name> for T {
            #[inline]
            fn decode_in(arena: &'a Arena, input: &'a [u8]) -> core::result::Result<(Self, &'a [u8]), Fault> {
                ber_decode(ber::Reader::new(input, Rules::$rules).with_arena(Some(arena)), $strict)
            }
        }
    };
}

macro_rules! ber {
    ($($name:ident)*) => {$(
        ber_decode!($name: $name false);

        impl<'a, T: BerType<'a>> Encode<$name> for T {
            fn encode_into(&self, out: &mut Vec<u8>) -> core::result::Result<(), Fault> {
                let mut w = ber::Writer::onto(core::mem::take(out), Rules::$name);
                match self.write_element(&mut w) {
                    Ok(()) => {
                        *out = w.into_vec();
                        Ok(())
                    }
                    Err(error) => {
                        let fault = core::mem::take(&mut w.path).of(T::NAME, error);
                        *out = w.into_base();
                        Err(fault)
                    }
                }
            }

            fn encoded_len(&self) -> core::result::Result<usize, Fault> {
                let mut w = ber::Writer::counting(Rules::$name);
                match self.write_element(&mut w) {
                    Ok(()) => Ok(w.len()),
                    Err(error) => Err(w.path.of(T::NAME, error)),
                }
            }
        }
    )*};
}

ber!(Ber Der Cer);
ber_decode!(StrictBer: Ber true);

macro_rules! per {
    ($(#[$doc:meta])* $name:ident $aligned:literal: $($rules:ident $canonical:literal)*) => {
        $(#[$doc])*
        pub trait $name<'a>: Sized {
            /// The name of the type in its specification.
            const NAME: &'static str;

            /// Reads a value.
            ///
            /// # Errors
            /// The first fault.
            fn read(r: &mut per::Reader<'a, $aligned>) -> Result<Self>;

            /// Writes a value.
            ///
            /// # Errors
            /// The value does not meet a constraint that the encoding rests on.
            fn write(&self, w: &mut per::Writer<$aligned>) -> Result<()>;
        }

        $(
            impl<'a, T: $name<'a>> Decode<'a, $rules> for T {
                #[inline]
                fn decode(input: &'a [u8]) -> core::result::Result<(Self, &'a [u8]), Fault> {
                    let mut r = per::Reader::new(input);
                    r.canonical = $canonical;
                    let read = |r: &mut per::Reader<'a, $aligned>| {
                        let value = T::read(r)?;
                        let (taken, rest) = input.split_at_checked(r.finish()?).unwrap_or((input, &[]));
                        if $canonical {
                            // There is only one encoding of a value.
                            let again = Encode::<$rules>::encode(&value);
                            per::same(taken, &again.map_err(Error::from)?)?;
                        }
                        Ok((value, rest))
                    };
                    read(&mut r).map_err(|error| r.path.of(T::NAME, error))
                }
            }

            impl<'a, T: $name<'a>> Encode<$rules> for T {
                fn encode_into(&self, out: &mut Vec<u8>) -> core::result::Result<(), Fault> {
                    let mut w = per::Writer::onto(core::mem::take(out), $canonical);
                    let written = self.write(&mut w);
                    let path = core::mem::take(&mut w.path);
                    *out = w.finish(written.is_ok());
                    written.map_err(|error| path.of(T::NAME, error))
                }
            }
        )*
    };
}

per! {
    /// What the generator prints for aligned PER.
    AperType true: Aper false CanonicalAper true
}
per! {
    /// What the generator prints for unaligned PER.
    UperType false: Uper false CanonicalUper true
}

/// What the generator prints for OER.
pub trait OerType<'a>: Sized {
    /// The name of the type in its specification.
    const NAME: &'static str;

    /// Reads a value.
    ///
    /// # Errors
    /// The first fault.
    fn read(r: &mut oer::Reader<'a>) -> Result<Self>;

    /// Writes a value.
    ///
    /// # Errors
    /// The value does not meet a constraint that the encoding rests on.
    fn write(&self, w: &mut oer::Writer) -> Result<()>;
}

macro_rules! oer {
    ($($name:ident $canonical:literal)*) => {$(
        impl<'a, T: OerType<'a>> Decode<'a, $name> for T {
            #[inline]
            fn decode(input: &'a [u8]) -> core::result::Result<(Self, &'a [u8]), Fault> {
                let mut r = oer::Reader::new(input, $canonical);
                match T::read(&mut r) {
                    Ok(value) => Ok((value, input.get(r.position()..).unwrap_or_default())),
                    Err(error) => Err(r.path.of(T::NAME, error)),
                }
            }
        }

        impl<'a, T: OerType<'a>> Encode<$name> for T {
            fn encode_into(&self, out: &mut Vec<u8>) -> core::result::Result<(), Fault> {
                let mut w = oer::Writer::new($canonical);
                match self.write(&mut w) {
                    Ok(()) => {
                        out.extend_from_slice(w.finish());
                        Ok(())
                    }
                    Err(error) => Err(w.path.of(T::NAME, error)),
                }
            }

            fn encoded_len(&self) -> core::result::Result<usize, Fault> {
                let mut w = oer::Writer::counting($canonical);
                let end = w.mark();
                match self.write(&mut w) {
                    Ok(()) => Ok(w.since(end)),
                    Err(error) => Err(w.path.of(T::NAME, error)),
                }
            }
        }
    )*};
}

oer!(Oer false Coer true);
