//! The model from BER and aligned PER, with nothing in between. A message is wrong where the generated types of its module
//! find it wrong.

mod by_hand;
mod leaves;
mod lists;
mod names;
mod placeholder;
mod records;

use tercet_runtime::codec::per::Whole;
use tercet_runtime::codec::{ber, per};
use tercet_runtime::{Result, Tag};

use super::Binary;
use crate::packages::Item;

pub(crate) use placeholder::{Placeholder, placeholder_atom, placeholder_choice, placeholder_record};
pub(crate) use records::{Preamble, by_tags, in_order, read_atoms, read_choice, read_record};

pub(crate) type BerReader<'a> = ber::Reader<'a>;
pub(crate) type PerReader<'a> = per::Reader<'a, true>;

/// What reading needs to know beside the octets.
pub(crate) struct Context<'a> {
    binary: &'a Binary,
    /// Whether PER is that of the module of version 1. BER is the same in all of them.
    pub(crate) is_first: bool,
    /// The event or signal whose parameters come.
    pub(crate) item: Option<(Item, u16, u16)>,
    /// The first value that is right by the module and that the model does not have.
    refused: Option<&'static str>,
}

impl<'a> Context<'a> {
    pub(super) const fn new(binary: &'a Binary, is_first: bool) -> Self {
        Self { binary, is_first, item: None, refused: None }
    }

    /// Notes a value that is right by the module and that the model does not have. Reading goes on with another one, as
    /// what follows may be wrong by the module, which is reported first.
    #[cold]
    pub(crate) fn refuse<T: Placeholder>(&mut self, what: &'static str) -> T {
        self.refused.get_or_insert(what);
        T::placeholder()
    }

    /// Returns what the first refused value should have been.
    pub(super) const fn refused(&self) -> Option<&'static str> {
        self.refused
    }
}

/// A type that can be read where it has the marker with the number `M`.
pub(crate) trait Read<'a, const M: u8>: Sized {
    /// The tag of an element of a list.
    const TAG: Tag = Tag::SEQUENCE;

    /// Reads an element with this tag, which for a CHOICE is around it.
    fn ber(r: &mut BerReader<'a>, tag: Tag, cx: &mut Context<'a>) -> Result<Self>;

    /// Reads an element of a list.
    #[inline(always)]
    fn ber_element(r: &mut BerReader<'a>, cx: &mut Context<'a>) -> Result<Self> {
        Self::ber(r, Self::TAG, cx)
    }

    /// Reads a value.
    fn per(r: &mut PerReader<'a>, cx: &mut Context<'a>) -> Result<Self>;
}

/// A type of the module with a name: it is the same wherever it stands.
pub(crate) trait Named<'a>: Sized {
    /// Reads an element with this tag; of a CHOICE, one of its alternatives.
    fn ber(r: &mut BerReader<'a>, tag: Tag, cx: &mut Context<'a>) -> Result<Self>;

    /// Reads a value.
    fn per(r: &mut PerReader<'a>, cx: &mut Context<'a>) -> Result<Self>;
}

/// How a type with a name is read in any place.
macro_rules! read_named {
    ($ty:ty, $tag:expr) => {
        impl<'a, const M: u8> $crate::binary::read::Read<'a, M> for $ty {
            const TAG: tercet_runtime::Tag = $tag;

            #[inline(always)]
            fn ber(
                r: &mut $crate::binary::read::BerReader<'a>,
                tag: tercet_runtime::Tag,
                cx: &mut $crate::binary::read::Context<'a>,
            ) -> tercet_runtime::Result<Self> {
                <Self as $crate::binary::read::Named<'a>>::ber(r, tag, cx)
            }

            #[inline(always)]
            fn per(
                r: &mut $crate::binary::read::PerReader<'a>,
                cx: &mut $crate::binary::read::Context<'a>,
            ) -> tercet_runtime::Result<Self> {
                <Self as $crate::binary::read::Named<'a>>::per(r, cx)
            }
        }
    };
}

/// The same for a CHOICE.
macro_rules! read_named_choice {
    ($ty:ty) => {
        impl<'a, const M: u8> $crate::binary::read::Read<'a, M> for $ty {
            #[inline(always)]
            fn ber(
                r: &mut $crate::binary::read::BerReader<'a>,
                tag: tercet_runtime::Tag,
                cx: &mut $crate::binary::read::Context<'a>,
            ) -> tercet_runtime::Result<Self> {
                $crate::binary::read::tagged_choice(r, tag, cx)
            }

            #[inline(always)]
            fn ber_element(
                r: &mut $crate::binary::read::BerReader<'a>,
                cx: &mut $crate::binary::read::Context<'a>,
            ) -> tercet_runtime::Result<Self> {
                <Self as $crate::binary::read::Named<'a>>::ber(r, tercet_runtime::Tag::SEQUENCE, cx)
            }

            #[inline(always)]
            fn per(
                r: &mut $crate::binary::read::PerReader<'a>,
                cx: &mut $crate::binary::read::Context<'a>,
            ) -> tercet_runtime::Result<Self> {
                <Self as $crate::binary::read::Named<'a>>::per(r, cx)
            }
        }
    };
}

pub(crate) use {read_named, read_named_choice};

/// A CHOICE that automatic tagging has put a tag around (X.680 31.2.7).
#[inline(always)]
pub(crate) fn tagged_choice<'a, T: Named<'a>>(
    r: &mut BerReader<'a>,
    tag: Tag,
    cx: &mut Context<'a>,
) -> Result<T> {
    let level = ber::enter(r, tag)?;
    let value = told(T::ber(r, tag, cx), r)?;
    told(r.leave(level), r)?;
    Ok(value)
}

/// A fault further in: it is told as it is, and not as one of the element around it.
#[inline(always)]
pub(crate) fn told<T>(read: Result<T>, r: &mut BerReader<'_>) -> Result<T> {
    if read.is_err() {
        r.inside("");
    }
    read
}

/// A component of a SEQUENCE: an `Option` is OPTIONAL.
pub(crate) trait Component<'a, const M: u8>: Sized {
    /// Whether it may be missing.
    const IS_OPTIONAL: bool;

    /// Reads it from BER as the component with this number of `COUNT`.
    fn ber<const COUNT: usize, const EXTENSIBLE: bool>(
        r: &mut BerReader<'a>,
        number: u32,
        cx: &mut Context<'a>,
    ) -> Result<Self>;

    /// Reads it from BER where its tag has been seen.
    fn ber_found(r: &mut BerReader<'a>, number: u32, cx: &mut Context<'a>) -> Result<Self>;

    /// Reads it from PER, where it is there.
    fn per(r: &mut PerReader<'a>, cx: &mut Context<'a>) -> Result<Self>;

    /// What stands for it if it is not there.
    fn absent() -> Option<Self>;
}

impl<'a, const M: u8, T: Read<'a, M>> Component<'a, M> for T {
    const IS_OPTIONAL: bool = false;

    #[inline(always)]
    fn ber<const COUNT: usize, const EXTENSIBLE: bool>(
        r: &mut BerReader<'a>,
        number: u32,
        cx: &mut Context<'a>,
    ) -> Result<Self> {
        T::ber(r, Tag::context(number), cx)
            .map_err(|error| ber::misplaced(r, error, "", number as usize, EXTENSIBLE, place::<COUNT>))
    }

    #[inline(always)]
    fn ber_found(r: &mut BerReader<'a>, number: u32, cx: &mut Context<'a>) -> Result<Self> {
        T::ber(r, Tag::context(number), cx)
    }

    #[inline(always)]
    fn per(r: &mut PerReader<'a>, cx: &mut Context<'a>) -> Result<Self> {
        T::per(r, cx)
    }

    #[inline(always)]
    fn absent() -> Option<Self> {
        None
    }
}

impl<'a, const M: u8, T: Read<'a, M>> Component<'a, M> for Option<T> {
    const IS_OPTIONAL: bool = true;

    #[inline(always)]
    fn ber<const COUNT: usize, const EXTENSIBLE: bool>(
        r: &mut BerReader<'a>,
        number: u32,
        cx: &mut Context<'a>,
    ) -> Result<Self> {
        if !r.is_next(Tag::context(number)) {
            return Ok(None);
        }
        let value = T::ber(r, Tag::context(number), cx);
        told(value, r).map(Some)
    }

    #[inline(always)]
    fn ber_found(r: &mut BerReader<'a>, number: u32, cx: &mut Context<'a>) -> Result<Self> {
        T::ber(r, Tag::context(number), cx).map(Some)
    }

    #[inline(always)]
    fn per(r: &mut PerReader<'a>, cx: &mut Context<'a>) -> Result<Self> {
        T::per(r, cx).map(Some)
    }

    #[inline(always)]
    fn absent() -> Option<Self> {
        Some(None)
    }
}

/// An alternative of a CHOICE.
pub(crate) trait Alternative<'a, const M: u8>: Sized {
    /// Reads it from BER.
    fn ber(r: &mut BerReader<'a>, tag: Tag, cx: &mut Context<'a>) -> Result<Self>;

    /// Reads it from PER.
    fn per(r: &mut PerReader<'a>, cx: &mut Context<'a>) -> Result<Self>;
}

impl<'a, const M: u8, T: Read<'a, M>> Alternative<'a, M> for T {
    #[inline(always)]
    fn ber(r: &mut BerReader<'a>, tag: Tag, cx: &mut Context<'a>) -> Result<Self> {
        T::ber(r, tag, cx)
    }

    #[inline(always)]
    fn per(r: &mut PerReader<'a>, cx: &mut Context<'a>) -> Result<Self> {
        T::per(r, cx)
    }
}

/// How one of so many is numbered in PER.
pub(crate) const fn whole(count: u32) -> Whole {
    Whole::Bits(super::width(count) as u8)
}

/// The component of a SEQUENCE of so many that has a tag, from one on.
pub(crate) fn place<const COUNT: usize>(tag: Tag, from: usize) -> Option<(usize, &'static str)> {
    let number = tag.number() as usize;
    (tag == Tag::context(tag.number()) && number >= from && number < COUNT).then_some((number, ""))
}
