//! The model to BER and aligned PER, with nothing in between.

mod by_hand;
mod leaves;
mod lists;
mod names;
mod records;

use tercet_runtime::codec::{ber, per};
use tercet_runtime::{Error, ErrorKind, Result, Tag};

use super::{Binary, Rules, fault};
use crate::packages::Item;

pub(crate) use records::{backwards, write_atoms, write_choice, write_record};

pub(crate) type BerWriter = ber::Writer;
pub(crate) type PerWriter = per::Writer<true>;

/// Where nothing else is said of names and strings.
pub(crate) const PLAIN: u8 = super::Marker::Plain as u8;

/// What writing needs to know beside the value.
pub(crate) struct Context<'b> {
    binary: &'b Binary,
    version: u8,
    /// Whether PER is that of the module of version 1. BER is the same in all of them.
    pub(crate) is_first: bool,
    /// The event or signal whose parameters come.
    pub(crate) item: Option<(Item, u16, u16)>,
    /// What the module or the version has no words for: this is why writing has ended.
    refused: Option<&'static str>,
    /// Whether only that is looked for.
    is_search: bool,
}

/// Writes a value of a version as an element, or in PER as a whole.
pub(super) fn write<T: Write<PLAIN>>(
    value: &T,
    binary: &Binary,
    version: u8,
    rules: Rules,
    out: &mut Vec<u8>,
) -> crate::Result<()> {
    let is_first = rules == Rules::Per && version == 1;
    let mut cx = Context { binary, version, is_first, item: None, refused: None, is_search: false };
    let start = out.len();
    let written = match rules {
        Rules::Ber => {
            let mut w = BerWriter::onto(std::mem::take(out), ber::Rules::Ber);
            let written = value.ber_element(&mut w, &mut cx);
            *out = w.into_vec();
            written
        }
        Rules::Per => {
            let mut w = PerWriter::onto(std::mem::take(out), false);
            let written = value.per(&mut w, &mut cx);
            *out = w.finish(written.is_ok());
            written
        }
    };
    written.map_err(|error| {
        out.truncate(start);
        first_refused(value, cx).unwrap_or_else(|| fault(error))
    })
}

/// What there are no words for comes before what is out of bounds; of the former, what comes first in the value.
#[cold]
fn first_refused<T: Write<PLAIN>>(value: &T, cx: Context<'_>) -> Option<crate::Error> {
    let mut cx = Context { item: None, refused: None, is_search: true, ..cx };
    value.per(&mut PerWriter::onto(Vec::new(), false), &mut cx).err()?;
    cx.refused.map(|what| crate::Error::new(0, what))
}

impl Context<'_> {
    /// Ends writing: there are no words for this.
    #[cold]
    pub(crate) const fn refuse(&mut self, what: &'static str) -> Error {
        self.refused = Some(what);
        Error::new(ErrorKind::ValueMismatch, 0)
    }

    /// What a writer says, which does not count where something else is looked for.
    #[inline(always)]
    fn bounded(&self, written: Result<()>) -> Result<()> {
        if self.is_search { Ok(()) } else { written }
    }

    /// Refuses what is of a later version than the message.
    #[inline]
    pub(crate) fn no_more(&mut self, since: u8, is_there: bool) -> Result<()> {
        if is_there && self.version < since { Err(self.too_late(since)) } else { Ok(()) }
    }

    #[cold]
    fn too_late(&mut self, since: u8) -> Error {
        self.refuse(match since {
            2 => "what version 1 has: a component is of version 2",
            _ => "what the version of the message has: a component is of version 3",
        })
    }

    /// Refuses an alternative of a later version than the message.
    #[inline]
    pub(crate) fn no_alternative(&mut self, since: u8) -> Result<()> {
        if self.is_first {
            return Err(self.refuse("what version 1 has: an alternative is of a later one"));
        }
        self.no_more(since, true)
    }
}

/// A type that can be written where it has the marker with the number `M`.
pub(crate) trait Write<const M: u8> {
    /// The tag of an element of a list.
    const TAG: Tag = Tag::SEQUENCE;

    /// Writes an element with this tag, which for a CHOICE is around it.
    fn ber(&self, w: &mut BerWriter, tag: Tag, cx: &mut Context<'_>) -> Result<()>;

    /// Writes an element of a list.
    #[inline(always)]
    fn ber_element(&self, w: &mut BerWriter, cx: &mut Context<'_>) -> Result<()> {
        self.ber(w, Self::TAG, cx)
    }

    /// Writes a value.
    fn per(&self, w: &mut PerWriter, cx: &mut Context<'_>) -> Result<()>;

    /// Looks the item up that a name stands for, since parameters are written before it in BER.
    #[inline(always)]
    fn begin(&self, _: &mut Context<'_>) -> Result<()> {
        Ok(())
    }
}

/// A type of the module with a name: it is the same wherever it stands.
pub(crate) trait Named {
    /// Writes an element with this tag; of a CHOICE, one of its alternatives.
    fn ber(&self, w: &mut BerWriter, tag: Tag, cx: &mut Context<'_>) -> Result<()>;

    /// Writes a value.
    fn per(&self, w: &mut PerWriter, cx: &mut Context<'_>) -> Result<()>;
}

/// How a type with a name is written in any place.
macro_rules! write_named {
    ([$($life:lifetime)?] $ty:ty, $tag:expr) => {
        impl<$($life,)? const M: u8> $crate::binary::write::Write<M> for $ty {
            const TAG: tercet_runtime::Tag = $tag;

            #[inline(always)]
            fn ber(
                &self,
                w: &mut $crate::binary::write::BerWriter,
                tag: tercet_runtime::Tag,
                cx: &mut $crate::binary::write::Context<'_>,
            ) -> tercet_runtime::Result<()> {
                $crate::binary::write::Named::ber(self, w, tag, cx)
            }

            #[inline(always)]
            fn per(
                &self,
                w: &mut $crate::binary::write::PerWriter,
                cx: &mut $crate::binary::write::Context<'_>,
            ) -> tercet_runtime::Result<()> {
                $crate::binary::write::Named::per(self, w, cx)
            }
        }
    };
}

/// The same for a CHOICE, which has a tag around it where automatic tagging wants one (X.680 31.2.7).
macro_rules! write_named_choice {
    ([$($life:lifetime)?] $ty:ty) => {
        impl<$($life,)? const M: u8> $crate::binary::write::Write<M> for $ty {
            #[inline(always)]
            fn ber(
                &self,
                w: &mut $crate::binary::write::BerWriter,
                tag: tercet_runtime::Tag,
                cx: &mut $crate::binary::write::Context<'_>,
            ) -> tercet_runtime::Result<()> {
                let end = w.open();
                $crate::binary::write::Named::ber(self, w, tag, cx)?;
                w.close(tag, end);
                Ok(())
            }

            #[inline(always)]
            fn ber_element(
                &self,
                w: &mut $crate::binary::write::BerWriter,
                cx: &mut $crate::binary::write::Context<'_>,
            ) -> tercet_runtime::Result<()> {
                $crate::binary::write::Named::ber(self, w, tercet_runtime::Tag::SEQUENCE, cx)
            }

            #[inline(always)]
            fn per(
                &self,
                w: &mut $crate::binary::write::PerWriter,
                cx: &mut $crate::binary::write::Context<'_>,
            ) -> tercet_runtime::Result<()> {
                $crate::binary::write::Named::per(self, w, cx)
            }
        }
    };
}

pub(crate) use {write_named, write_named_choice};

/// A component of a SEQUENCE: an `Option` is OPTIONAL.
pub(crate) trait Component<const M: u8> {
    /// Whether it may be missing.
    const IS_OPTIONAL: bool;

    /// Whether it is there.
    fn is_there(&self) -> bool;

    /// Writes it as the component with this number, if it is there.
    fn ber(&self, w: &mut BerWriter, number: u32, cx: &mut Context<'_>) -> Result<()>;

    /// Writes it if it is there.
    fn per(&self, w: &mut PerWriter, cx: &mut Context<'_>) -> Result<()>;

    /// As [`Write::begin`].
    #[inline(always)]
    fn begin(&self, _: &mut Context<'_>) -> Result<()> {
        Ok(())
    }
}

impl<const M: u8, T: Write<M>> Component<M> for T {
    const IS_OPTIONAL: bool = false;

    #[inline(always)]
    fn is_there(&self) -> bool {
        true
    }

    #[inline(always)]
    fn ber(&self, w: &mut BerWriter, number: u32, cx: &mut Context<'_>) -> Result<()> {
        self.ber(w, Tag::context(number), cx)
    }

    #[inline(always)]
    fn per(&self, w: &mut PerWriter, cx: &mut Context<'_>) -> Result<()> {
        self.per(w, cx)
    }

    #[inline(always)]
    fn begin(&self, cx: &mut Context<'_>) -> Result<()> {
        self.begin(cx)
    }
}

impl<const M: u8, T: Write<M>> Component<M> for Option<T> {
    const IS_OPTIONAL: bool = true;

    #[inline(always)]
    fn is_there(&self) -> bool {
        self.is_some()
    }

    #[inline(always)]
    fn ber(&self, w: &mut BerWriter, number: u32, cx: &mut Context<'_>) -> Result<()> {
        match self {
            Some(value) => value.ber(w, Tag::context(number), cx),
            None => Ok(()),
        }
    }

    #[inline(always)]
    fn per(&self, w: &mut PerWriter, cx: &mut Context<'_>) -> Result<()> {
        match self {
            Some(value) => value.per(w, cx),
            None => Ok(()),
        }
    }
}

/// An alternative of a CHOICE.
pub(crate) trait Alternative<const M: u8> {
    /// Writes it to BER.
    fn ber(&self, w: &mut BerWriter, tag: Tag, cx: &mut Context<'_>) -> Result<()>;

    /// Writes it to PER.
    fn per(&self, w: &mut PerWriter, cx: &mut Context<'_>) -> Result<()>;
}

impl<const M: u8, T: Write<M>> Alternative<M> for T {
    #[inline(always)]
    fn ber(&self, w: &mut BerWriter, tag: Tag, cx: &mut Context<'_>) -> Result<()> {
        self.ber(w, tag, cx)
    }

    #[inline(always)]
    fn per(&self, w: &mut PerWriter, cx: &mut Context<'_>) -> Result<()> {
        self.per(w, cx)
    }
}
